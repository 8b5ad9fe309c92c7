/* Builds kernels: a cursor into statement lists, with folding of constants and of identities that are exact. */
#include "kernel/kernel.h"

kernel *k_new(arena *a, const char *name, uint16_t lanes)
{
    kernel *k = arena_new(a, *k);
    k->arena = a;
    k->name = arena_string(a, name);
    k->lanes = lanes;
    vec_push(a, &k->value, (k_value){0});
    vec_push(a, &k->stmt, (k_stmt){0});
    vec_push(a, &k->mem, (k_memory){0});
    return k;
}

void k_begin(k_builder *b, kernel *k)
{
    *b = (k_builder){.k = k};
}

/* --- memory and values --- */

static k_mem add_memory(k_builder *b, k_space space, ir_type t, int64_t count, bool written, const char *name)
{
    kernel *k = b->k;
    k_memory m = {.space = (uint8_t)space, .type = (uint8_t)t, .written = written, .count = count};
    m.name = name ? arena_string(k->arena, name) : NULL;
    vec_push(k->arena, &k->mem, m);
    return k->mem.n - 1;
}

k_mem k_global(k_builder *b, ir_type t, bool written, const char *name)
{
    return add_memory(b, K_GLOBAL, t, 0, written, name);
}

k_mem k_shared(k_builder *b, ir_type t, int64_t count, const char *name)
{
    return add_memory(b, K_SHARED, t, count, true, name);
}

k_mem k_private(k_builder *b, ir_type t, int64_t count, const char *name)
{
    return add_memory(b, K_PRIVATE, t, count, true, name);
}

static k_val add_value(kernel *k, k_value_kind kind, ir_type t, ir_bits bits, k_ref def)
{
    vec_push(k->arena, &k->value, ((k_value){.kind = (uint8_t)kind, .type = (uint8_t)t, .bits = bits, .def = def}));
    return k->value.n - 1;
}

k_val k_arg(k_builder *b, ir_type t, const char *name)
{
    kernel *k = b->k;
    k_val v = add_value(k, KV_ARG, t, k->arg_type.n, 0);
    vec_push(k->arena, &k->arg_type, (uint8_t)t);
    k_name(k, v, name);
    return v;
}

typedef struct {
    const kernel *k;
    k_value wanted;
} constant_search;

static bool same_constant(const void *env, uint32_t id)
{
    const constant_search *s = env;
    const k_value *v = &s->k->value.at[id];
    return v->kind == s->wanted.kind && v->type == s->wanted.type && v->bits == s->wanted.bits;
}

/* Literals and the number of the piece exist once in a kernel. */
static k_val intern(k_builder *b, k_value_kind kind, ir_type t, ir_bits bits)
{
    kernel *k = b->k;
    constant_search search = {k, {.kind = (uint8_t)kind, .type = (uint8_t)t, .bits = bits}};
    uint64_t hash = hash_mix(hash_mix(kind, t), bits);
    k_val v = intern_find(&k->literals, hash, same_constant, &search);
    if (v)
        return v;
    v = add_value(k, kind, t, bits, 0);
    intern_add(k->arena, &k->literals, hash, v);
    return v;
}

k_val k_piece(k_builder *b)
{
    return intern(b, KV_PIECE, T_I64, 0);
}

k_val k_literal(k_builder *b, ir_type t, ir_bits bits)
{
    return intern(b, KV_LITERAL, t, bits);
}

k_val k_i64(k_builder *b, int64_t v)
{
    return k_literal(b, T_I64, ir_bits_i64(T_I64, v));
}

const char *k_name(kernel *k, k_val v, const char *name)
{
    k_value *value = &k->value.at[v];
    if (name && value->kind != KV_LITERAL && value->kind != KV_PIECE)
        value->name = arena_string(k->arena, name);
    return value->name;
}

/* --- statement lists --- */

static k_ref *list_head(k_builder *b)
{
    kernel *k = b->k;
    if (!b->parent)
        return &k->body;
    k_stmt *parent = &k->stmt.at[b->parent];
    return b->branch ? &parent->orelse : &parent->body;
}

static k_ref append(k_builder *b, k_stmt s)
{
    kernel *k = b->k;
    vec_push(k->arena, &k->stmt, s);
    k_ref id = k->stmt.n - 1;
    if (b->last)
        k->stmt.at[b->last].next = id;
    else
        *list_head(b) = id;
    b->last = id;
    return id;
}

/* Appends a statement that defines a value of type t. */
static k_val append_value(k_builder *b, k_stmt s, ir_type t)
{
    k_val v = add_value(b->k, s.op == K_DECL ? KV_VARIABLE : KV_RESULT, t, 0, 0);
    s.dst = v;
    b->k->value.at[v].def = append(b, s);
    return v;
}

/* Opens the body of the statement appended last. */
static void open_body(k_builder *b)
{
    vec_push(b->k->arena, &b->open, (uint64_t)b->parent << 1 | b->branch);
    b->parent = b->last;
    b->branch = 0;
    b->last = 0;
}

void k_end(k_builder *b)
{
    uint64_t outer = b->open.at[--b->open.n];
    b->last = b->parent;
    b->parent = (k_ref)(outer >> 1);
    b->branch = (uint8_t)(outer & 1);
}

void k_else(k_builder *b)
{
    b->branch = 1;
    b->last = 0;
}

/* --- expressions --- */

static const k_value *value_of(const k_builder *b, k_val v)
{
    return &b->k->value.at[v];
}

static bool is_literal(const k_builder *b, k_val v)
{
    return value_of(b, v)->kind == KV_LITERAL;
}

static bool is_integer(const k_builder *b, k_val v, int64_t wanted)
{
    const k_value *x = value_of(b, v);
    return x->kind == KV_LITERAL && ir_i64_bits((ir_type)x->type, x->bits) == wanted;
}

/* The operand that op(x, y) on integers or bool is equal to, or 0. */
static k_val identity(const k_builder *b, ir_op op, k_val x, k_val y)
{
    switch (op) {
    case OP_ADD:
    case OP_BIT_OR:
    case OP_BIT_XOR:
        return is_integer(b, y, 0) ? x : is_integer(b, x, 0) ? y : 0;
    case OP_SUB:
    case OP_SHL:
    case OP_SHR:
    case OP_ROTL:
    case OP_ROTR:
        return is_integer(b, y, 0) ? x : 0;
    case OP_MUL:
        if (is_integer(b, x, 0) || is_integer(b, y, 1))
            return x;
        return is_integer(b, y, 0) || is_integer(b, x, 1) ? y : 0;
    case OP_DIV:
    case OP_QUOT:
        return is_integer(b, y, 1) ? x : 0;
    case OP_BIT_AND:
        return is_integer(b, x, 0) ? x : is_integer(b, y, 0) ? y : 0;
    case OP_AND:
        if (is_integer(b, x, 0) || is_integer(b, y, 1))
            return x;
        return is_integer(b, y, 0) || is_integer(b, x, 1) ? y : 0;
    case OP_OR:
        if (is_integer(b, x, 1) || is_integer(b, y, 0))
            return x;
        return is_integer(b, y, 1) || is_integer(b, x, 0) ? y : 0;
    default:
        return 0;
    }
}

static k_val fold(k_builder *b, ir_op op, ir_type to, const k_val *in)
{
    ir_bits operand[3] = {0}, result;
    for (unsigned i = 0; i < ir_ops[op].arity; i++) {
        if (!is_literal(b, in[i]))
            return 0;
        operand[i] = value_of(b, in[i])->bits;
    }
    ir_type t = (ir_type)value_of(b, in[0])->type;
    return ir_op_apply(op, t, to, operand, &result) ? k_literal(b, to, result) : 0;
}

k_val k_get(k_builder *b, k_val v)
{
    const k_value *x = value_of(b, v);
    if (x->kind != KV_VARIABLE)
        return v;
    ir_type t = (ir_type)x->type;
    return append_value(b, (k_stmt){.op = K_LET, .sub = OP_BITCAST, .in = {v}}, t);
}

k_val k_let(k_builder *b, ir_op op, k_val x, k_val y, k_val z)
{
    k_val in[3] = {x, y, z};
    ir_type t = (ir_type)value_of(b, x)->type;
    ir_type to = ir_op_result(op, t, T_NONE);
    k_val same = fold(b, op, to, in);
    if (same)
        return same;
    if (ir_ops[op].arity == 2 && ir_type_class(t) & (CLASS_INT | CLASS_BOOL))
        same = identity(b, op, x, y);
    if (same)
        return k_get(b, same);
    k_stmt s = {.op = K_LET, .sub = (uint8_t)op};
    memcpy(s.in, in, ir_ops[op].arity * sizeof(*in));
    return append_value(b, s, to);
}

k_val k_convert(k_builder *b, ir_op op, ir_type to, k_val x)
{
    if (value_of(b, x)->type == to)
        return k_get(b, x);
    k_val same = fold(b, op, to, &x);
    return same ? same : append_value(b, (k_stmt){.op = K_LET, .sub = (uint8_t)op, .in = {x}}, to);
}

k_val k_select(k_builder *b, k_val c, k_val x, k_val y)
{
    if (is_literal(b, c))
        return k_get(b, value_of(b, c)->bits ? x : y);
    if (x == y)
        return k_get(b, x);
    return append_value(b, (k_stmt){.op = K_SELECT, .in = {c, x, y}}, (ir_type)value_of(b, x)->type);
}

static bool same_code(const k_code *x, const k_code *y)
{
    return !strcmp(x->name, y->name) && !strcmp(x->source, y->source) && x->host == y->host &&
           x->results == y->results && x->part == y->part && !memcmp(x->type, y->type, sizeof(x->type));
}

k_val k_call(k_builder *b, const k_code *code, ir_type t, unsigned n, const k_val *in)
{
    kernel *k = b->k;
    uint32_t i = 0;
    while (i < k->code.n && !same_code(&k->code.at[i], code))
        i++;
    if (i == k->code.n)
        vec_push(k->arena, &k->code, *code);
    k_stmt s = {.op = K_CALL, .sub = (uint8_t)i};
    for (unsigned j = 0; j < n && j < ARRAY_LENGTH(s.in); j++)
        s.in[j] = in[j];
    return append_value(b, s, t);
}

k_val k_decl(k_builder *b, k_val initial, const char *name)
{
    k_val v = append_value(b, (k_stmt){.op = K_DECL, .in = {initial}}, (ir_type)value_of(b, initial)->type);
    k_name(b->k, v, name);
    return v;
}

void k_set(k_builder *b, k_val variable, k_val value)
{
    append(b, (k_stmt){.op = K_SET, .dst = variable, .in = {value}});
}

void k_relax(k_builder *b, k_val variable, k_val value)
{
    append(b, (k_stmt){.op = K_SET, .sub = K_RELAX, .dst = variable, .in = {value}});
}

void k_mix(k_builder *b, k_val variable, k_val value)
{
    const k_value *v = value_of(b, value);
    const k_stmt *last = b->last ? &b->k->stmt.at[b->last] : NULL;
    if (!last || v->kind != KV_RESULT || v->def != b->last || last->op != K_LET || last->sub != OP_ADD) {
        k_set(b, variable, value);
        return;
    }
    append(b, (k_stmt){.op = K_SET, .sub = K_MIX, .dst = variable, .in = {value}});
}

/* --- memory access and checks --- */

k_val k_load(k_builder *b, k_mem m, k_val index)
{
    return append_value(b, (k_stmt){.op = K_LOAD, .mem = m, .in = {index}}, (ir_type)b->k->mem.at[m].type);
}

k_val k_load_total(k_builder *b, k_mem m, k_val index)
{
    const k_stmt s = {.op = K_LOAD, .sub = K_TOTAL, .mem = m, .in = {index}};
    return append_value(b, s, (ir_type)b->k->mem.at[m].type);
}

k_val k_load_ahead(k_builder *b, k_mem m, k_val index)
{
    const k_stmt s = {.op = K_LOAD, .sub = K_AHEAD, .mem = m, .in = {index}};
    return append_value(b, s, (ir_type)b->k->mem.at[m].type);
}

k_val k_load_quiet(k_builder *b, k_mem m, k_val index)
{
    const k_stmt s = {.op = K_LOAD, .sub = K_QUIET, .mem = m, .in = {index}};
    return append_value(b, s, (ir_type)b->k->mem.at[m].type);
}

void k_fetch(k_builder *b, k_mem m, k_val index, k_val a_piece)
{
    append(b, (k_stmt){.op = K_FETCH, .mem = m, .in = {index, a_piece}});
}

void k_fetch_near(k_builder *b, k_mem m, k_val index)
{
    append(b, (k_stmt){.op = K_FETCH, .sub = K_NEAR, .mem = m, .in = {index, k_i64(b, 0)}});
}

void k_fetch_rows(k_builder *b, k_mem m, k_val index, k_val apart, unsigned rows)
{
    append(b, (k_stmt){.op = K_FETCH, .sub = (uint8_t)rows, .mem = m, .in = {index, apart}});
}

void k_store(k_builder *b, k_mem m, k_val index, k_val value)
{
    append(b, (k_stmt){.op = K_STORE, .mem = m, .in = {index, value}});
}

void k_check(k_builder *b, uint32_t site, k_val holds, k_val element, k_val value, k_val bound)
{
    if (is_integer(b, holds, 1))
        return;
    append(b, (k_stmt){.op = K_CHECK, .site = site, .in = {holds, element, value, bound}});
}

void k_note(k_builder *b, uint32_t site, k_val element, k_val value)
{
    ir_type t = (ir_type)b->k->value.at[value].type;
    k_val bits = t == T_F32   ? k_convert(b, OP_BITCAST, T_U32, value)
                 : t == T_F64 ? k_convert(b, OP_BITCAST, T_I64, value)
                              : value;
    if (b->k->value.at[bits].type != T_I64)
        bits = k_convert(b, OP_CONVERT, T_I64, bits);
    append(b, (k_stmt){.op = K_CHECK,
                       .sub = K_NOTE,
                       .site = site,
                       .in = {k_literal(b, T_BOOL, 0), element, bits, k_i64(b, (int64_t)t)}});
}

k_val k_atomic(k_builder *b, ir_op op, k_mem m, k_val index, k_val value)
{
    k_stmt s = {.op = K_ATOMIC, .sub = (uint8_t)op, .mem = m, .in = {index, value}};
    return append_value(b, s, (ir_type)b->k->mem.at[m].type);
}

/* --- copying --- */

k_val k_append(k_builder *b, const k_stmt *s, ir_type t)
{
    k_stmt copy = *s;
    copy.body = copy.orelse = copy.next = 0;
    if (s->dst && s->op != K_SET)
        return append_value(b, copy, t);
    append(b, copy);
    return 0;
}

/* --- control --- */

void k_if(k_builder *b, k_val cond)
{
    append(b, (k_stmt){.op = K_IF, .in = {cond}});
    open_body(b);
}

void k_if_either(k_builder *b, k_val cond)
{
    append(b, (k_stmt){.op = K_IF, .sub = K_EITHER, .in = {cond}});
    open_body(b);
}

void k_loop(k_builder *b)
{
    append(b, (k_stmt){.op = K_LOOP});
    open_body(b);
}

void k_break_if(k_builder *b, k_val cond)
{
    append(b, (k_stmt){.op = K_BREAK_IF, .in = {cond}});
}

k_val k_for(k_builder *b, k_val from, k_val to, bool unroll)
{
    k_val v = append_value(b, (k_stmt){.op = K_FOR, .sub = unroll, .in = {from, to}}, T_I64);
    open_body(b);
    return v;
}

/* Has the kernel memory per virtual thread? */
static bool has_private(const kernel *k)
{
    for (uint32_t i = 1; i < k->mem.n; i++)
        if (k->mem.at[i].space == K_PRIVATE)
            return true;
    return false;
}

k_val k_for_pack(k_builder *b)
{
    k_val v = k_for(b, k_i64(b, 0), k_i64(b, K_PACK_ROUNDS), true);
    b->k->stmt.at[b->k->value.at[v].def].sub = K_PACK;
    return v;
}

k_val k_for_all(k_builder *b, k_val count)
{
    kernel *k = b->k;
    const k_value *n = value_of(b, count);
    if (n->kind == KV_LITERAL && has_private(k) && n->bits > k->threads && n->bits <= UINT32_MAX)
        k->threads = (uint32_t)n->bits;
    k_val v = append_value(b, (k_stmt){.op = K_FOR_ALL, .in = {count}}, T_I64);
    open_body(b);
    return v;
}

k_val k_for_few(k_builder *b, k_val count)
{
    k_val v = k_for_all(b, count);
    b->k->stmt.at[b->k->value.at[v].def].sub = K_FEW;
    return v;
}

int64_t k_whole_threads(const kernel *k, const k_stmt *for_all, int64_t count)
{
    bool few = k->value.at[for_all->in[0]].kind == KV_LITERAL && count < k->lanes;
    return count <= 0 ? 0 : few ? count : count - count % k->lanes;
}

k_val k_for_whole(k_builder *b, k_val count)
{
    k_val v = k_for_all(b, count);
    b->k->stmt.at[b->k->value.at[v].def].sub = K_WHOLE;
    return v;
}

void k_compact(k_builder *b, k_mem m, k_val base, k_val value, k_val keep)
{
    append(b, (k_stmt){.op = K_COMPACT, .mem = m, .in = {base, value, keep}});
}

void k_compact_over(k_builder *b, k_mem m, k_val base, k_val value, k_val keep)
{
    append(b, (k_stmt){.op = K_COMPACT, .sub = K_OVER, .mem = m, .in = {base, value, keep}});
}

k_val k_all(k_builder *b, k_val cond)
{
    return append_value(b, (k_stmt){.op = K_ALL, .in = {cond}}, T_BOOL);
}

static k_val take_from(k_builder *b, uint8_t how, k_val value, int64_t d)
{
    return append_value(b, (k_stmt){.op = K_SHUFFLE, .sub = how, .in = {value, k_i64(b, d)}},
                        (ir_type)value_of(b, value)->type);
}

k_val k_shuffle(k_builder *b, k_val value, int64_t distance)
{
    return take_from(b, K_ROTATE, value, distance);
}

k_val k_take_left(k_builder *b, k_val value, int64_t half)
{
    return take_from(b, K_LEFT, value, half);
}

k_val k_take_lane(k_builder *b, k_val value, int64_t lane)
{
    return take_from(b, K_LANE, value, lane);
}

k_val k_take_pair(k_builder *b, k_val value, int64_t which)
{
    return take_from(b, K_PAIR, value, which);
}

uint32_t k_shuffle_source(const kernel *k, const k_stmt *s, uint32_t lane)
{
    uint32_t d = (uint32_t)k->value.at[s->in[1]].bits;
    switch (s->sub) {
    case K_LEFT:
        return (lane & ~(2 * d - 1)) + d - 1;
    case K_LANE:
        return d;
    case K_PAIR:
        return (2 * lane + d) % k->lanes;
    default:
        return (lane + d) % k->lanes;
    }
}

k_val k_count(k_builder *b, k_val cond)
{
    return append_value(b, (k_stmt){.op = K_COUNT, .in = {cond}}, T_I64);
}

k_val k_rank(k_builder *b, k_val cond)
{
    return append_value(b, (k_stmt){.op = K_RANK, .in = {cond}}, T_I64);
}

k_chain *k_chain_begin(k_builder *b, uint8_t arity, const k_val *aggregate, const k_val *initial, k_mem state)
{
    kernel *k = b->k;
    k_chain *c = arena_new(k->arena, *c);
    c->arity = arity;
    c->state = state;
    k->chained = true;
    k_ref id = append(b, (k_stmt){.op = K_CHAIN, .mem = state, .chain = c});
    for (unsigned j = 0; j < arity; j++) {
        ir_type t = (ir_type)value_of(b, aggregate[j])->type;
        c->aggregate[j] = aggregate[j];
        c->initial[j] = initial[j];
        c->left[j] = add_value(k, KV_VARIABLE, t, 0, 0);
        c->right[j] = add_value(k, KV_VARIABLE, t, 0, 0);
        c->before[j] = add_value(k, KV_RESULT, t, 0, id);
        k_name(k, c->left[j], "left");
        k_name(k, c->right[j], "right");
        k_name(k, c->before[j], "before");
    }
    open_body(b);
    return c;
}

void k_chain_end(k_builder *b, k_chain *c, const k_val *result)
{
    memcpy(c->result, result, c->arity * sizeof(*result));
    c->body = b->k->stmt.at[b->parent].body;
    k_end(b);
}
