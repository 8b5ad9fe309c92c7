/* Copies statements of a kernel that is split, with what stands for their operands by now. */
#include "kernel/split.h"

bool split_thread_value(const splitter *s, k_val v)
{
    const k_value *x = &s->from->value.at[v];
    return (x->kind == KV_RESULT || x->kind == KV_VARIABLE) && s->level[v];
}

k_val split_translate(splitter *s, k_val v)
{
    const k_value *x = &s->from->value.at[v];
    if (x->kind == KV_LITERAL)
        return k_literal(&s->b, (ir_type)x->type, x->bits);
    return x->kind == KV_PIECE ? k_piece(&s->b) : s->value[v];
}

void split_declarations(splitter *s)
{
    for (k_mem m = 1; m < s->from->mem.n; m++)
        vec_push(s->arena, &s->k->mem, s->from->mem.at[m]);
    for (uint32_t i = 0; i < s->from->code.n; i++)
        vec_push(s->arena, &s->k->code, s->from->code.at[i]);
    s->k->threads = s->from->threads;
    s->k->group = s->from->group;
    s->k->abreast = s->from->abreast;
    s->k->narrow = s->from->narrow;
    for (uint32_t i = 0; i < s->from->arg_type.n; i++)
        for (k_val v = 1; v < s->from->value.n; v++)
            if (s->from->value.at[v].kind == KV_ARG && s->from->value.at[v].bits == i) {
                s->value[v] = k_arg(&s->b, (ir_type)s->from->value.at[v].type, s->from->value.at[v].name);
                s->k->value.at[s->value[v]].natural = s->from->value.at[v].natural;
            }
}

void split_define(splitter *s, k_val old, k_val now)
{
    s->value[old] = now;
    k_name(s->k, now, s->from->value.at[old].name);
}

void split_keep(splitter *s, k_val v)
{
    k_store(&s->b, s->kept[v], k_i64(&s->b, 0), k_get(&s->b, s->value[v]));
}

void split_copy(splitter *s, const k_stmt *x)
{
    k_stmt copy = *x;
    if (x->op == K_LOAD && s->staged[x->mem] && x->in[0] == s->tiled) {
        k_val at = k_let(&s->b, OP_SUB, s->value[s->tiled], s->base, 0);
        split_define(s, x->dst, k_load(&s->b, s->staged[x->mem], at));
        return;
    }
    for (unsigned i = 0; i < k_operands(x); i++)
        copy.in[i] = split_translate(s, x->in[i]);
    if (x->op == K_SET)
        copy.dst = s->value[x->dst];
    k_val v = k_append(&s->b, &copy, x->dst ? (ir_type)s->from->value.at[x->dst].type : T_NONE);
    if (!v)
        return;
    split_define(s, x->dst, v);
    if (s->kept[x->dst] && x->op != K_DECL)
        split_keep(s, x->dst);
}

/* A FOR whose bounds the threads have computed, maybe from what has been in private memory: nothing shows any more that
 * they are the same in all lanes. */
static bool open_counted_loop(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    if (!s->split[s->w.for_all] || (!split_thread_value(s, x->in[0]) && !split_thread_value(s, x->in[1])))
        return false;
    k_val last = k_get(b, split_translate(s, x->in[1]));
    s->counter[id] = k_decl(b, split_translate(s, x->in[0]), "counter");
    k_loop(b);
    split_define(s, x->dst, k_get(b, s->counter[id]));
    k_break_if(b, k_let(b, OP_GE, s->value[x->dst], last, 0));
    return true;
}

void split_open(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    k_builder *b = &s->b;
    switch ((k_op)x->op) {
    case K_IF:
        k_if(b, split_translate(s, x->in[0]));
        return;
    case K_LOOP:
        k_loop(b);
        return;
    case K_FOR:
        if (!open_counted_loop(s, id)) {
            split_define(s, x->dst, k_for(b, split_translate(s, x->in[0]), split_translate(s, x->in[1]), x->sub != 0));
            s->k->stmt.at[s->k->value.at[s->value[x->dst]].def].sub = x->sub;
        }
        return;
    case K_FOR_ALL: {
        k_val count = split_translate(s, x->in[0]);
        split_define(s, x->dst,
                     x->sub == K_FEW     ? k_for_few(b, count)
                     : x->sub == K_WHOLE ? k_for_whole(b, count)
                                         : k_for_all(b, count));
        return;
    }
    default:
        break;
    }
    k_val aggregate[K_MOST_CARRIED], initial[K_MOST_CARRIED];
    for (unsigned j = 0; j < x->chain->arity; j++) {
        aggregate[j] = split_translate(s, x->chain->aggregate[j]);
        initial[j] = split_translate(s, x->chain->initial[j]);
    }
    k_chain *c = k_chain_begin(b, x->chain->arity, aggregate, initial, x->mem);
    for (unsigned j = 0; j < c->arity; j++) {
        s->value[x->chain->left[j]] = c->left[j];
        s->value[x->chain->right[j]] = c->right[j];
        s->value[x->chain->before[j]] = c->before[j];
    }
}

void split_close(splitter *s, k_ref id)
{
    const k_stmt *x = &s->from->stmt.at[id];
    if (s->counter[id])
        k_set(&s->b, s->counter[id], k_let(&s->b, OP_ADD, s->value[x->dst], k_i64(&s->b, 1), 0));
    if (x->op != K_CHAIN) {
        k_end(&s->b);
        return;
    }
    k_val result[K_MOST_CARRIED];
    k_val first = s->value[x->chain->left[0]];
    k_chain *c = NULL;
    for (k_ref other = s->k->stmt.n; other-- > 1 && !c;)
        if (s->k->stmt.at[other].op == K_CHAIN && s->k->stmt.at[other].chain->left[0] == first)
            c = s->k->stmt.at[other].chain;
    for (unsigned j = 0; j < x->chain->arity; j++)
        result[j] = split_translate(s, x->chain->result[j]);
    k_chain_end(&s->b, c, result);
}
