/* Chains: one array after the other, awkward scalar code in each. */
#include "support/random_chain.h"

#include <math.h>

enum { ELEMENTS_MAX = 3000, WIDE = 3 };

typedef struct chain {
    random_maker *m;
    ir_program *p;
    ir_id now;      /* the array that the next operation reads */
    ir_id whatever; /* an input of rank 1 with any numbers, for indices and divisors */
    bool may_fail;  /* is this a program that may fail at run time? */
} chain;

static uint32_t pick(const chain *c, uint32_t n)
{
    return choose(&c->m->c, n);
}

static ir_type type_of(const chain *c, ir_id term)
{
    return (ir_type)ir_at(c->p, term)->type;
}

static ir_id converted(const chain *c, ir_id x, ir_type t)
{
    return type_of(c, x) == t ? x : ir_convert(c->p, 0, OP_CONVERT, t, x);
}

static ir_id whole(const chain *c, ir_type t, int64_t v)
{
    return ir_const(c->p, t, ir_bits_i64(t, v));
}

static ir_id op2(const chain *c, ir_op op, ir_id x, ir_id y)
{
    uint32_t site = ir_op_partial(op, type_of(c, x)) ? random_site(c->m, ir_ops[op].name) : 0;
    return ir_op2(c->p, site, op, x, y);
}

static ir_type integer_type(const chain *c)
{
    static const ir_type types[] = {T_I32, T_I8, T_U8, T_I16, T_U16, T_U32, T_I64, T_U64};
    return types[pick(c, ARRAY_LENGTH(types))];
}

static ir_type any_type(const chain *c)
{
    static const ir_type types[] = {T_F32, T_F64, T_BOOL};
    return chance(&c->m->c, 30) ? types[pick(c, ARRAY_LENGTH(types))] : integer_type(c);
}

/* --- scalar code: each makes a term of any type from one --- */

typedef struct place { /* of an element */
    ir_id x, y;        /* what was read: the element, and another number */
    unsigned rank;
    const ir_id *index;
} place;

/* By the width, more, or less than nothing. */
static ir_id shifted(const chain *c, const place *at)
{
    static const ir_op shifts[] = {OP_SHL, OP_SHR, OP_ROTL};
    ir_type t = integer_type(c);
    int64_t bits = ir_type_bits(t);
    const int64_t by[] = {1, 0, bits - 1, bits, bits + 1, -1, 3 * bits, bits / 2, INT64_MAX};
    ir_id amount = chance(&c->m->c, 40) ? converted(c, at->y, t) : whole(c, t, by[pick(c, ARRAY_LENGTH(by))]);
    return op2(c, shifts[pick(c, ARRAY_LENGTH(shifts))], converted(c, at->x, t), amount);
}

/* To a float that is huge, infinite or no number, and back to an integer. */
static ir_id overflowing(const chain *c, const place *at)
{
    ir_type t = chance(&c->m->c, 50) ? T_F64 : T_F32;
    const double factor[] = {1e10, 1e38, -1e300, INFINITY, NAN, 0.5, -0.0, 3e9, 1.9e19};
    double f = factor[pick(c, ARRAY_LENGTH(factor))];
    ir_id by = ir_const(c->p, t, t == T_F64 ? ir_bits_f64(f) : ir_bits_f32((float)f)), x = converted(c, at->x, t);
    ir_id y = chance(&c->m->c, 30) ? op2(c, OP_DIV, x, converted(c, at->y, t)) : op2(c, OP_MUL, x, by);
    return converted(c, y, any_type(c));
}

/* Behind a mask that rules out 0, and -1 or the least number; without it where programs may fail. */
static ir_id divided(const chain *c, const place *at)
{
    static const ir_op divisions[] = {OP_QUOT, OP_REM, OP_DIV, OP_MOD};
    ir_type t = integer_type(c);
    ir_id x = converted(c, at->x, t), d = converted(c, at->y, t);
    ir_id least = ir_const(c->p, t, ir_type_signed(t) ? ir_bits_i64(t, INT64_MIN >> (64 - ir_type_bits(t))) : 0);
    switch (pick(c, 4)) {
    case 1: /* the least number is divided by -1 wherever the mask is forgotten */
        d = whole(c, t, -1);
        x = chance(&c->m->c, 50) ? op2(c, OP_MUL, x, least) : x;
        break;
    case 2:
        d = op2(c, OP_BIT_AND, d, whole(c, t, 1));
        break;
    case 3:
        d = op2(c, OP_MIN, d, whole(c, t, 3));
        break;
    default:
        break;
    }
    ir_op op = divisions[pick(c, ARRAY_LENGTH(divisions))];
    ir_id q = op2(c, op, x, d), good = op2(c, OP_NE, d, whole(c, t, 0));
    if (c->may_fail && chance(&c->m->c, 25))
        return q;
    if (ir_type_signed(t)) {
        ir_id no_minus = op2(c, OP_NE, d, whole(c, t, -1)), not_least = op2(c, OP_NE, x, least);
        good = op2(c, OP_AND, good, op2(c, OP_OR, no_minus, not_least));
    }
    return ir_cond(c->p, 0, good, q, chance(&c->m->c, 50) ? x : whole(c, t, 7));
}

/* An index of any size: from data, or from where the element is. */
static ir_id wild_index(const chain *c, const place *at)
{
    static const int64_t factor[] = {1, 2, 3, -1, 7, 1000003};
    ir_id i = at->rank && chance(&c->m->c, 70) ? at->index[pick(c, at->rank)] : converted(c, at->y, T_I64);
    i = op2(c, OP_MUL, i, ir_i64(c->p, factor[pick(c, ARRAY_LENGTH(factor))]));
    return op2(c, OP_ADD, i, ir_i64(c->p, (int64_t)pick(c, 9) - 4));
}

/* Inside, if the condition holds: it is asked first. */
static ir_id guarded_read(const chain *c, const place *at, ir_id array)
{
    const ir_array *info = ir_info(c->p, array);
    ir_id index[2], good = ir_bool(c->p, true);
    bool periodic = chance(&c->m->c, 40);
    if (info->rank > 2)
        return at->x;
    for (unsigned d = 0; d < info->rank; d++) {
        ir_id i = wild_index(c, at), n = info->shape[d], filled = op2(c, OP_GT, n, ir_i64(c->p, 0));
        ir_id inside = op2(c, OP_AND, op2(c, OP_GE, i, ir_i64(c->p, 0)), op2(c, OP_LT, i, n));
        index[d] = periodic ? op2(c, OP_MOD, i, n) : i; /* of an extent 0, a division behind the condition */
        good = op2(c, OP_AND, good, periodic ? filled : inside);
    }
    ir_id read = ir_read(c->p, random_site(c->m, "index"), array, 0, 0, info->rank, index);
    if (c->may_fail && chance(&c->m->c, 25))
        return read;
    return ir_cond(c->p, 0, good, read, ir_const(c->p, info->type[0], 0));
}

static ir_id masked(const chain *c, const place *at)
{
    static const ir_op tests[] = {OP_LT, OP_EQ, OP_GE, OP_NE};
    ir_type t = type_of(c, at->x);
    ir_id test = op2(c, tests[pick(c, ARRAY_LENGTH(tests))], at->x, converted(c, at->y, t));
    return ir_cond(c->p, 0, test, at->x, converted(c, at->y, t));
}

static ir_id arithmetic(const chain *c, const place *at)
{
    static const ir_op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX, OP_BIT_XOR, OP_BIT_AND};
    ir_type t = integer_type(c);
    return op2(c, ops[pick(c, ARRAY_LENGTH(ops))], converted(c, at->x, t), converted(c, at->y, t));
}

static ir_id step(const chain *c, const place *at)
{
    switch (pick(c, 7)) {
    case 0:
        return arithmetic(c, at);
    case 1:
        return shifted(c, at);
    case 2:
        return overflowing(c, at);
    case 3:
        return divided(c, at);
    case 4:
        return guarded_read(c, at, c->now);
    case 5:
        return guarded_read(c, at, c->whatever);
    default:
        return masked(c, at);
    }
}

/* Some steps, each of them from what the last ones gave. */
static ir_id code(const chain *c, place at)
{
    uint32_t span;
    for (unsigned k = 0; k < 5 && choices_more(&c->m->c, 80, &span); k++) {
        ir_id made = step(c, &at);
        if (chance(&c->m->c, 50))
            at.y = at.x;
        at.x = made;
        choices_end(&c->m->c, span);
    }
    return at.x;
}

/* --- operations --- */

static unsigned rank_now(const chain *c)
{
    return ir_info(c->p, c->now)->rank;
}

static ir_type type_now(const chain *c)
{
    return ir_info(c->p, c->now)->type[0];
}

static ir_id mapped(const chain *c)
{
    unsigned rank = rank_now(c);
    ir_type type[3] = {T_I64, T_I64, T_NONE};
    type[rank] = type_now(c);
    ir_fn *fn = ir_fn_new(c->p, rank + 1, type);
    ir_id result = code(c, (place){fn->param[rank], fn->param[rank ? 0 : rank], rank, fn->param});
    return ir_map(c->p, 0, 1, &c->now, ir_fn_close(c->p, fn, 1, &result), IR_INDEXED);
}

static ir_id stencil(const chain *c)
{
    unsigned rank = rank_now(c);
    ir_stencil s = {.boundary = (ir_boundary)pick(c, IR_FUNCTION)};
    ir_type type[WIDE * WIDE * WIDE], t = type_now(c);
    uint32_t positions = 1;
    if (!rank)
        return 0;
    for (unsigned d = 0; d < rank; d++)
        positions *= s.extent[d] = (uint8_t)(d + 1 == rank || chance(&c->m->c, 60) ? (rank == 1 ? 5 : 3) : 1);
    for (uint32_t k = 0; k < positions; k++)
        type[k] = t;
    ir_id constant = ir_const(c->p, t, 0);
    s.constant = arena_copy(c->m->arena, &constant, sizeof(constant));
    ir_fn *fn = ir_fn_new(c->p, positions, type);
    ir_id one = fn->param[pick(c, positions)], two = fn->param[pick(c, positions)],
          three = fn->param[pick(c, positions)];
    place at = {one, two, 0, NULL};
    ir_id x = code(c, at);
    ir_id result = t == T_BOOL ? x : op2(c, OP_MAX, converted(c, x, t), three);
    return ir_stencil_new(c->p, 0, ir_fn_close(c->p, fn, 1, &result), 1, &c->now, &s);
}

static ir_id extent(const chain *c)
{
    static const int64_t small[] = {1, 0, 2, 3, 5, 7, 17, 31, 33};
    ir_id dim = ir_dim(c->p, c->p->dim.at[pick(c, c->p->dim.n)]);
    return chance(&c->m->c, 50) ? ir_i64(c->p, small[pick(c, ARRAY_LENGTH(small))]) : dim;
}

/* Elements from computed places: guarded where there is one to guard, or brought inside by a remainder. */
static ir_id gathered(const chain *c)
{
    unsigned from = rank_now(c), rank = 1 + pick(c, 2);
    ir_id shape[2], result[2];
    ir_type type[2] = {T_I64, T_I64};
    const ir_array *info = ir_info(c->p, c->now);
    for (unsigned d = 0; d < from; d++)
        if (random_extent_value(c->m, info->shape[d]) <= 0)
            return 0;
    for (unsigned d = 0; d < rank; d++)
        shape[d] = extent(c);
    ir_fn *fn = ir_fn_new(c->p, rank, type);
    bool stray = c->may_fail && chance(&c->m->c, 30);
    for (unsigned d = 0; d < from; d++) {
        place at = {fn->param[rank - 1], fn->param[0], rank, fn->param};
        ir_id i = chance(&c->m->c, 40) ? converted(c, guarded_read(c, &at, c->whatever), T_I64) : wild_index(c, &at);
        result[d] = stray ? i : op2(c, OP_MOD, i, info->shape[d]);
    }
    fn = ir_fn_close(c->p, fn, from, result);
    return ir_backpermute(c->p, random_site(c->m, "backpermute"), rank, shape, fn, c->now, 0);
}

static ir_id turned(const chain *c)
{
    unsigned rank = rank_now(c);
    const ir_array *info = ir_info(c->p, c->now);
    ir_id shape[2], result[2];
    ir_type type[2] = {T_I64, T_I64};
    bool transposes = rank == 2 && chance(&c->m->c, 50);
    if (!rank)
        return 0;
    ir_fn *fn = ir_fn_new(c->p, rank, type);
    for (unsigned d = 0; d < rank; d++) {
        unsigned to = transposes ? rank - 1 - d : d;
        shape[to] = info->shape[d];
        ir_id last = op2(c, OP_SUB, info->shape[d], ir_i64(c->p, 1));
        result[d] = chance(&c->m->c, 50) ? op2(c, OP_SUB, last, fn->param[to]) : fn->param[to];
    }
    return ir_backpermute(c->p, 0, rank, shape, ir_fn_close(c->p, fn, rank, result), c->now, IR_SAFE);
}

/* Rows are folded, and every element learns its row's result. */
static ir_id folded(const chain *c)
{
    static const ir_op ops[] = {OP_MAX, OP_MIN, OP_ADD, OP_BIT_XOR, OP_MUL};
    unsigned rank = rank_now(c);
    const ir_array *info = ir_info(c->p, c->now);
    ir_type t = info->type[0], pair[2] = {t, t};
    if (!rank)
        return 0;
    bool narrow = ir_type_class(t) == CLASS_INT;
    ir_fn *fn = ir_fn_new(c->p, 2, pair);
    ir_op op = t == T_BOOL ? OP_OR : ops[pick(c, narrow ? ARRAY_LENGTH(ops) : 2)];
    ir_id both = op2(c, op, fn->param[0], fn->param[1]), seed = ir_const(c->p, t, t == T_F32 ? ir_bits_f32(2) : 0);
    bool seeded = !c->may_fail || chance(&c->m->c, 70);
    if (!seeded && op != OP_OR && chance(&c->m->c, 40)) /* keeps order: the last one */
        both = fn->param[1];
    ir_id rows = ir_fold(c->p, 0, ir_fn_close(c->p, fn, 1, &both), seeded ? &seed : NULL, c->now, 0);
    if (chance(&c->m->c, 40))
        return rows;
    ir_type type[3] = {T_I64, T_I64, T_NONE};
    type[rank] = t;
    ir_fn *after = ir_fn_new(c->p, rank + 1, type);
    unsigned flags = rank > 1 ? IR_SAFE : 0;
    ir_id row = ir_read(c->p, random_site(c->m, "index"), rows, 0, flags, rank - 1, after->param);
    ir_id result = code(c, (place){after->param[rank], row, rank, after->param});
    return ir_map(c->p, 0, 1, &c->now, ir_fn_close(c->p, after, 1, &result), IR_INDEXED);
}

static ir_id flattened(const chain *c)
{
    ir_id size = ir_size(c->p, c->now);
    return ir_reshape(c->p, 0, 1, &size, c->now);
}

static ir_id operation(const chain *c)
{
    switch (pick(c, 8)) {
    case 0:
    case 1:
        return mapped(c);
    case 2:
        return stencil(c);
    case 3:
        return gathered(c);
    case 4:
        return turned(c);
    case 5:
        return folded(c);
    case 6:
        return ir_force(c->p, 0, c->now);
    default:
        return flattened(c);
    }
}

/* --- inputs --- */

static int64_t elements(const chain *c, ir_id array)
{
    const ir_array *info = ir_info(c->p, array);
    int64_t n = 1;
    for (unsigned d = 0; d < info->rank; d++)
        n *= random_extent_value(c->m, info->shape[d]);
    return n;
}

static ir_id add_input(const chain *c, ir_value *v, ir_type t, unsigned rank, const ir_id *shape)
{
    static const double real[] = {0, 1, -0.0, INFINITY, -INFINITY, NAN, 1e38, -1e-40, 2147483648.0, -0.5, 1e300};
    int64_t n = 1;
    *v = (ir_value){.rank = (uint8_t)rank, .components = 1, .type = {t}};
    for (unsigned d = 0; d < rank; d++)
        n *= v->extent[d] = random_extent_value(c->m, shape[d]);
    char *data = arena_alloc(c->m->arena, (size_t)n * 8 + 8);
    v->data[0] = data;
    uint32_t salt = pick(c, 1000);
    for (int64_t k = 0; k < n; k++) {
        uint64_t h = hash_mix(hash_mix(salt, (uint64_t)k), 9) >> 8;
        int64_t small = salt ? (int64_t)(h % 9) - 3 : k;
        int64_t number = h >> 16 & 3 ? small : h >> 18 & 1 ? INT64_MIN >> (64 - ir_type_bits(t)) : -1;
        double f = h >> 16 & 1 ? real[(h >> 20) % ARRAY_LENGTH(real)] : (double)small / 2;
        ir_bits bits = t == T_F64 ? ir_bits_f64(f) : t == T_F32 ? ir_bits_f32((float)f) : ir_bits_i64(t, number);
        bits = t == T_BOOL ? h & 1 : bits;
        memcpy(data + (size_t)k * ir_type_size(t), &bits, ir_type_size(t));
    }
    return ir_input(c->p, 1, &t, rank, shape);
}

ir_value *random_chain(random_maker *m)
{
    static const int64_t extents[] = {1, 0, 2, 3, 5, 7, 13, 16, 17, 31, 33, 37, 61, 67, 127, 131};
    static const char *const names[] = {"n", "m"};
    chain c = {.m = m, .p = m->p};
    ir_value *value = arena_array(m->arena, ir_value, 3);
    unsigned rank = 1 + choose(&m->c, 2);
    ir_id shape[2];
    uint32_t span;
    c.may_fail = m->options->failures && chance(&m->c, 25);
    for (unsigned d = 0; d < 2; d++) {
        uint32_t most = d || rank == 2 ? 10 : ARRAY_LENGTH(extents);
        vec_push(m->arena, &m->dim, extents[choose(&m->c, most)]);
        shape[d] = ir_dim(m->p, names[d]);
    }
    c.now = add_input(&c, &value[0], any_type(&c), rank, shape);
    c.whatever = add_input(&c, &value[1], integer_type(&c), 1, &shape[1]);
    ir_id other = rank == 1 ? c.whatever : c.now;
    for (uint32_t k = 0; k < m->options->operations && choices_more(&m->c, 94, &span); k++) {
        ir_id made = operation(&c);
        if (made && ir_info(m->p, made)->rank <= 2 && elements(&c, made) <= ELEMENTS_MAX) {
            other = chance(&m->c, 30) ? c.now : other;
            c.now = made;
        }
        choices_end(&m->c, span);
    }
    ir_output(m->p, c.now);
    if (chance(&m->c, 30))
        ir_output(m->p, other);
    return value;
}
