#include "kernel/edit.h"

/* --- what loops change --- */

static uint64_t change_key(k_ref loop, bool memory, uint32_t what)
{
    return (uint64_t)loop << 33 | (uint64_t)memory << 32 | what;
}

bool k_changes_variable(const k_edit *e, k_ref loop, k_val variable)
{
    return map64_get(&e->changed, change_key(loop, false, variable));
}

bool k_changes_memory(const k_edit *e, k_ref loop, k_mem m)
{
    return map64_get(&e->changed, change_key(loop, true, m));
}

/* Every loop around the current statement changes this. */
static void note_change(k_edit *e, const k_walk *w, bool memory, uint32_t what)
{
    for (uint32_t i = w->open.n; i-- > 0;) {
        k_ref loop = k_walk_open(w, i);
        uint64_t key = change_key(loop, memory, what);
        if (!k_is_loop(&e->k->stmt.at[loop]))
            continue;
        if (map64_get(&e->changed, key))
            return;
        map64_put(e->arena, &e->changed, key, 1);
    }
}

/* The sum and the copy behind a K_MIX have their places just before it. */
static void fix_mix(k_edit *e, const k_stmt *set)
{
    k_ref sum = e->k->value.at[set->in[0]].def;
    e->fixed[sum] = true;
    for (unsigned i = 0; i < 2; i++) {
        const k_value *x = &e->k->value.at[e->k->stmt.at[sum].in[i]];
        if (x->kind == KV_RESULT && e->k->stmt.at[x->def].in[0] == set->dst)
            e->fixed[x->def] = true;
    }
}

static void note_statement(k_edit *e, const k_walk *w)
{
    const k_stmt *s = &e->k->stmt.at[w->at];
    if (s->op == K_SET)
        note_change(e, w, false, s->dst);
    if (s->op == K_SET && s->sub == K_MIX)
        fix_mix(e, s);
    if (s->op == K_STORE || s->op == K_ATOMIC || s->op == K_COMPACT)
        note_change(e, w, true, s->mem);
}

void k_edit_begin(k_edit *e, kernel *k, arena *a)
{
    *e = (k_edit){.k = k, .arena = a, .stmts = k->stmt.n, .fixed = arena_alloc(a, k->stmt.n)};
    vec_resize(a, &e->owner, k->stmt.n);
    vec_resize(a, &e->before, k->stmt.n);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.event != K_WALK_AT)
            continue;
        e->owner.at[w.at] = k_walk_parent(&w);
        if (k->stmt.at[w.at].next)
            e->before.at[k->stmt.at[w.at].next] = w.at;
        note_statement(e, &w);
    }
}

/* --- coming and going --- */

static void set_head(kernel *k, k_ref owner, k_ref old, k_ref now)
{
    k_stmt *s = &k->stmt.at[owner];
    if (!owner)
        k->body = now;
    else if (s->body == old)
        s->body = now;
    else
        s->orelse = now;
    if (owner && s->op == K_CHAIN)
        s->chain->body = s->body;
}

static k_ref add(k_edit *e, const k_stmt *s, k_ref owner, k_ref before, k_ref next)
{
    kernel *k = e->k;
    k_stmt made = *s;
    made.next = next;
    vec_push(k->arena, &k->stmt, made);
    vec_push(e->arena, &e->owner, owner);
    vec_push(e->arena, &e->before, before);
    k_ref r = k->stmt.n - 1;
    if (made.dst && made.op != K_SET)
        k->value.at[made.dst].def = r;
    if (before)
        k->stmt.at[before].next = r;
    else
        set_head(k, owner, next, r);
    if (next)
        e->before.at[next] = r;
    return r;
}

k_ref k_insert(k_edit *e, k_ref at, const k_stmt *s)
{
    return add(e, s, e->owner.at[at], e->before.at[at], at);
}

k_ref k_insert_last(k_edit *e, k_ref loop, const k_stmt *s)
{
    k_ref last = e->k->stmt.at[loop].body;
    while (last && e->k->stmt.at[last].next)
        last = e->k->stmt.at[last].next;
    return add(e, s, loop, last, 0);
}

void k_remove(kernel *k, k_ref r)
{
    k->stmt.at[r] = (k_stmt){.op = K_NOP, .next = k->stmt.at[r].next};
}

static k_ref skip(const kernel *k, k_ref r)
{
    while (r && k->stmt.at[r].op == K_NOP)
        r = k->stmt.at[r].next;
    return r;
}

void k_sweep(kernel *k)
{
    k->body = skip(k, k->body);
    for (k_ref r = 1; r < k->stmt.n; r++) {
        k_stmt *s = &k->stmt.at[r];
        if (s->op == K_NOP)
            continue;
        s->next = skip(k, s->next);
        s->body = skip(k, s->body);
        s->orelse = skip(k, s->orelse);
        if (s->op == K_CHAIN)
            s->chain->body = s->body;
    }
}

/* --- operands --- */

void k_each_operand(kernel *k, k_ref r, void (*f)(void *env, k_val *v), void *env)
{
    k_stmt *s = &k->stmt.at[r];
    for (unsigned i = 0; i < k_operands(s); i++)
        f(env, &s->in[i]);
    for (unsigned j = 0; s->op == K_CHAIN && j < s->chain->arity; j++) {
        f(env, &s->chain->aggregate[j]);
        f(env, &s->chain->initial[j]);
    }
}

bool k_partial(const kernel *k, const k_stmt *let)
{
    ir_type t = (ir_type)k->value.at[let->in[0]].type;
    if (!ir_op_guarded((ir_op)let->sub, t))
        return false;
    const k_value *by = &k->value.at[let->in[1]];
    if (!ir_op_partial((ir_op)let->sub, t) || by->kind != KV_LITERAL)
        return true;
    int64_t n = ir_i64_bits(t, by->bits);
    return n == 0 || (n == -1 && ir_type_signed(t));
}
