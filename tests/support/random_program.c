/* Random array programs: a few inputs with random values, operations over what there is, and some of them as results.
 */
#include "support/random_program.h"
#include "support/random_chain.h"
#include "support/random_scalar.h"

#include <stdlib.h>

enum { DIMS = 3, INPUTS = 3, SHRINK_TRIES = 3000, PATTERN_MAX = 25 };

random_options random_everything(void)
{
    return (random_options){
        .operations = 6, .types = (1u << T_COUNT) - 2, .kinds = UINT32_MAX, .rank = 3, .extent = 9, .terms = 8};
}

/* --- helpers --- */

static const ir_array *info_of(const random_maker *m, ir_id array)
{
    return ir_info(m->p, array);
}

static int64_t size_of(const random_maker *m, unsigned rank, const ir_id *shape)
{
    int64_t size = 1;
    for (unsigned d = 0; d < rank; d++) {
        int64_t extent = random_extent_value(m, shape[d]);
        if (extent < 0) /* only the run tells it */
            return -1;
        size *= extent;
    }
    return size;
}

/* Are there few enough elements to interpret? Of extents that only the run tells there is a guess. */
static bool is_small(const random_maker *m, ir_id array)
{
    enum { ELEMENTS_MAX = 4000 };
    const ir_array *a = info_of(m, array);
    int64_t size = 1;
    for (unsigned d = 0; d < a->rank; d++) {
        int64_t extent = random_extent_value(m, a->shape[d]);
        size *= extent < 0 ? m->options->extent : extent;
    }
    return size <= ELEMENTS_MAX;
}

static ir_fn *new_fn(random_maker *m, uint32_t indices, uint32_t components, const ir_type *component)
{
    ir_type *type = arena_alloc(m->arena, (indices + components + 1) * sizeof(ir_type));
    for (uint32_t k = 0; k < indices; k++)
        type[k] = T_I64;
    for (uint32_t k = 0; k < components; k++)
        type[indices + k] = component[k];
    return ir_fn_new(m->p, indices + components, type);
}

static ir_fn *close_fn(random_maker *m, ir_fn *fn, uint32_t results, const ir_type *type)
{
    ir_id result[IR_MAX_COMPONENTS];
    term_pool pool = random_body(m, fn);
    for (uint32_t k = 0; k < results; k++)
        result[k] = random_pick(m, &pool, type[k]);
    return ir_fn_close(m->p, fn, results, result);
}

/* With results of any types: mostly those of the terms made last. */
static ir_fn *close_random_fn(random_maker *m, ir_fn *fn)
{
    ir_id result[3];
    uint32_t n = 1 + choose(&m->c, 10) / 6;
    term_pool pool = random_body(m, fn);
    for (uint32_t k = 0; k < n; k++) {
        ir_id last = pool.term.n ? pool.term.at[pool.term.n - 1 - choose(&m->c, pool.term.n < 4 ? pool.term.n : 4)] : 0;
        ir_type t = last ? (ir_type)ir_at(m->p, last)->type : T_NONE;
        bool stored = t != T_NONE && (m->types >> t & 1);
        result[k] = stored ? last : random_pick(m, &pool, random_type(m));
    }
    return ir_fn_close(m->p, fn, n, result);
}

/* An array of a rank in a range; 0 if there is none. */
static ir_id pick_array(random_maker *m, unsigned least, unsigned most)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->array.n; k++)
        n += info_of(m, m->array.at[k])->rank >= least && info_of(m, m->array.at[k])->rank <= most;
    if (!n)
        return 0;
    uint32_t chosen = choose(&m->c, n);
    for (uint32_t k = 0; k < m->array.n; k++) {
        unsigned rank = info_of(m, m->array.at[k])->rank;
        if (rank >= least && rank <= most && chosen-- == 0)
            return m->array.at[k];
    }
    return 0;
}

/* Can extents be different when it runs, but not as far as is known now? */
static bool may_differ(const random_maker *m, ir_id a, ir_id b)
{
    int64_t x, y;
    return !ir_extent_constant(m->p, a, &x) || !ir_extent_constant(m->p, b, &y);
}

/* Another array of the same extents (or only the same rank, where failures are wanted); the array itself if none. */
static ir_id pick_like(random_maker *m, ir_id array)
{
    const ir_array *a = info_of(m, array);
    bool loose = m->options->failures && chance(&m->c, 10);
    for (unsigned k = 0; k < 4; k++) {
        ir_id other = m->array.at[choose(&m->c, m->array.n)];
        const ir_array *b = info_of(m, other);
        bool fits = a->rank == b->rank;
        for (unsigned d = 0; d < a->rank && fits; d++)
            fits = a->shape[d] == b->shape[d] || (loose && may_differ(m, a->shape[d], b->shape[d]));
        if (fits)
            return other;
    }
    return array;
}

/* A small extent that need not be that of an input. */
static ir_id pick_extent(random_maker *m)
{
    ir_program *p = m->p;
    ir_id dim = ir_dim(p, p->dim.at[choose(&m->c, p->dim.n)]);
    switch (choose(&m->c, 4)) {
    case 0:
        return dim;
    case 1:
        return ir_i64(p, choose(&m->c, 6));
    case 2:
        return ir_extent_add(p, dim, ir_i64(p, 1 + choose(&m->c, 3)));
    default:
        return ir_extent_mul(p, dim, ir_i64(p, 2));
    }
}

/* --- inputs --- */

/* The k'th value of an input: 1, 2, 3 ... for pattern 0, else mostly small ones, and some that are special. */
static ir_bits input_value(ir_type t, uint32_t pattern, int64_t k)
{
    static const int64_t special[] = {INT64_MAX, INT64_MIN, 0x7fffffff, 127, 128, -1, 0, 1000003};
    static const double special_real[] = {-0.0, 1e30, 1e-40, 0.0, -1e10, 16777217, 0.1, -1};
    uint64_t random = hash_mix(hash_mix(pattern, (uint64_t)k), 5) >> 16;
    int64_t small = pattern ? (int64_t)(random % 21) - 10 : k + 1;
    bool is_special = pattern && (random >> 20) % 8 == 0;
    if (ir_type_float(t)) {
        double v = is_special ? special_real[(random >> 24) % 8] : (double)small / (pattern ? 4 : 1);
        return t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v);
    }
    if (t == T_BOOL)
        return small % 2 ? 1 : 0;
    return ir_bits_i64(t, t == T_CHAR ? 'k' + small : is_special ? special[(random >> 24) % 8] : small);
}

static void store(void *data, ir_type t, int64_t at, ir_bits bits)
{
    size_t size = ir_type_size(t);
    uint8_t bytes[8];
    for (unsigned k = 0; k < 8; k++)
        bytes[k] = (uint8_t)(bits >> 8 * k);
    memcpy((uint8_t *)data + (size_t)at * size, bytes, size);
}

static void *input_data(random_maker *m, ir_type t, int64_t size)
{
    void *data = arena_alloc(m->arena, (size_t)size * 8 + 8);
    uint32_t pattern = choose(&m->c, 1000);
    for (int64_t k = 0; k < size; k++)
        store(data, t, k, input_value(t, pattern, k));
    return data;
}

static void add_input(random_maker *m, ir_value *v)
{
    ir_id shape[3];
    ir_type type[2];
    *v = (ir_value){.components = (uint8_t)(1 + choose(&m->c, 10) / 8)};
    v->rank = (uint8_t)choose(&m->c, m->options->rank + 1);
    int64_t size = 1;
    for (unsigned d = 0; d < v->rank; d++) {
        uint32_t name = choose(&m->c, m->dim.n);
        shape[d] = ir_dim(m->p, m->p->dim.at[name]);
        size *= v->extent[d] = m->dim.at[name];
    }
    for (uint32_t c = 0; c < v->components; c++) {
        type[c] = v->type[c] = random_type(m);
        v->data[c] = input_data(m, type[c], size);
    }
    vec_push(m->arena, &m->array, ir_input(m->p, v->components, type, v->rank, shape));
}

/* Names every extent; the first inputs, of rank 1, determine those that no other does. */
static ir_value *add_inputs(random_maker *m)
{
    static const char *const names[DIMS] = {"n", "m", "k"};
    uint32_t dims = m->options->rank ? 1 + choose(&m->c, DIMS) : 0, span;
    ir_value *value = arena_alloc(m->arena, (INPUTS + DIMS) * sizeof(ir_value));
    for (uint32_t k = 0; k < dims; k++) {
        int64_t extent = 1 + (int64_t)choose(&m->c, m->options->extent);
        vec_push(m->arena, &m->dim, chance(&m->c, 8) ? 0 : extent);
        ir_dim(m->p, names[k]);
    }
    for (uint32_t k = 0; k < INPUTS && choices_more(&m->c, 60, &span); k++) {
        add_input(m, &value[m->p->input.n]);
        choices_end(&m->c, span);
    }
    if (!dims && !m->array.n)
        add_input(m, &value[0]);
    for (uint32_t k = 0; k < dims; k++) {
        ir_type type = random_type(m);
        ir_value *v = &value[m->p->input.n];
        *v = (ir_value){.rank = 1, .components = 1, .type = {type}, .extent = {m->dim.at[k]}};
        v->data[0] = input_data(m, type, m->dim.at[k]);
        ir_id name = ir_dim(m->p, names[k]);
        vec_push(m->arena, &m->array, ir_input(m->p, 1, &type, 1, &name));
    }
    return value;
}

/* --- operations: each returns the new array, or 0 if it does not fit --- */

static ir_id make_generate(random_maker *m)
{
    ir_id shape[3];
    unsigned rank = m->dim.n ? choose(&m->c, m->options->rank + 1) : 0;
    for (unsigned d = 0; d < rank; d++)
        shape[d] = pick_extent(m);
    return ir_generate(m->p, 0, rank, shape, close_random_fn(m, new_fn(m, rank, 0, NULL)));
}

static ir_id make_map(random_maker *m)
{
    ir_id input[3] = {pick_array(m, 0, 3)};
    ir_type type[3 * IR_MAX_COMPONENTS];
    uint32_t inputs = 1 + choose(&m->c, 3), components = 0;
    unsigned flags = chance(&m->c, 25) ? IR_INDEXED : 0;
    for (uint32_t k = 0; k < inputs; k++) {
        input[k] = k ? pick_like(m, input[0]) : input[0];
        const ir_array *a = info_of(m, input[k]);
        memcpy(type + components, a->type, a->components * sizeof *type);
        components += a->components;
    }
    uint32_t indices = flags ? info_of(m, input[0])->rank : 0;
    return ir_map(m->p, 0, inputs, input, close_random_fn(m, new_fn(m, indices, components, type)), flags);
}

static ir_id transposed(random_maker *m, ir_id source)
{
    const ir_array *a = info_of(m, source);
    ir_id shape[3], result[3];
    ir_fn *fn = new_fn(m, a->rank, 0, NULL);
    unsigned turn = choose(&m->c, a->rank);
    for (unsigned d = 0; d < a->rank; d++) {
        unsigned from = (d + turn) % a->rank;
        shape[d] = a->shape[from];
        result[from] = fn->param[d];
    }
    return ir_backpermute(m->p, 0, a->rank, shape, ir_fn_close(m->p, fn, a->rank, result), source, IR_SAFE);
}

static ir_id replicated(random_maker *m, ir_id source)
{
    const ir_array *a = info_of(m, source);
    ir_id shape[4], result[3];
    unsigned rank = a->rank + 1u, at = choose(&m->c, rank);
    if (rank > m->options->rank)
        return 0;
    ir_fn *fn = new_fn(m, rank, 0, NULL);
    for (unsigned d = 0, from = 0; d < rank; d++) {
        shape[d] = d == at ? pick_extent(m) : a->shape[from];
        if (d != at)
            result[from++] = fn->param[d];
    }
    return ir_backpermute(m->p, 0, rank, shape, ir_fn_close(m->p, fn, a->rank, result), source, IR_SAFE);
}

static ir_id sliced(random_maker *m, ir_id source)
{
    const ir_array *a = info_of(m, source);
    ir_id shape[3], result[3];
    unsigned at = choose(&m->c, a->rank), rank = a->rank - 1u;
    int64_t extent = random_extent_value(m, a->shape[at]);
    if (extent <= 0)
        return 0;
    ir_fn *fn = new_fn(m, rank, 0, NULL);
    for (unsigned d = 0, to = 0; d < a->rank; d++) {
        result[d] = d == at ? ir_i64(m->p, choose(&m->c, (uint32_t)extent)) : fn->param[to];
        if (d != at)
            shape[to++] = a->shape[d];
    }
    fn = ir_fn_close(m->p, fn, a->rank, result);
    return ir_backpermute(m->p, random_site(m, "slice"), rank, shape, fn, source, 0);
}

static ir_id reversed(random_maker *m, ir_id source)
{
    const ir_array *a = info_of(m, source);
    ir_id result[3];
    ir_fn *fn = new_fn(m, a->rank, 0, NULL);
    for (unsigned d = 0; d < a->rank; d++) {
        ir_id last = ir_op2(m->p, 0, OP_SUB, a->shape[d], ir_i64(m->p, 1));
        result[d] = chance(&m->c, 60) ? ir_op2(m->p, 0, OP_SUB, last, fn->param[d]) : fn->param[d];
    }
    return ir_backpermute(m->p, 0, a->rank, a->shape, ir_fn_close(m->p, fn, a->rank, result), source, IR_SAFE);
}

/* Some of a dimension: its first elements, the last ones, or all of them turned. */
static ir_id partial(random_maker *m, ir_id source)
{
    ir_program *p = m->p;
    const ir_array *a = info_of(m, source);
    ir_id shape[3], result[3];
    unsigned at = choose(&m->c, a->rank), how = choose(&m->c, 3);
    ir_fn *fn = new_fn(m, a->rank, 0, NULL);
    for (unsigned d = 0; d < a->rank; d++) {
        shape[d] = a->shape[d];
        result[d] = fn->param[d];
    }
    ir_id extent = a->shape[at], n = ir_op2(p, 0, OP_MIN, pick_extent(m), extent),
          rest = ir_op2(p, 0, OP_SUB, extent, n);
    ir_id i = fn->param[at], low = ir_op2(p, 0, OP_LT, i, rest);
    if (how == 0)
        shape[at] = n;
    if (how == 1)
        shape[at] = rest;
    if (how == 1)
        result[at] = ir_op2(p, 0, OP_ADD, i, n);
    if (how == 2)
        result[at] = ir_cond(p, 0, low, ir_op2(p, 0, OP_ADD, i, n), ir_op2(p, 0, OP_SUB, i, rest));
    return ir_backpermute(p, 0, a->rank, shape, ir_fn_close(p, fn, a->rank, result), source, IR_SAFE);
}

/* Any index at all, brought inside by a remainder. */
static ir_id gathered(random_maker *m, ir_id source)
{
    const ir_array *a = info_of(m, source);
    ir_id shape[3], result[3];
    unsigned rank = choose(&m->c, m->options->rank + 1);
    bool stray = m->options->failures && chance(&m->c, 20);
    for (unsigned d = 0; d < rank; d++)
        shape[d] = pick_extent(m);
    if (size_of(m, a->rank, a->shape) <= 0)
        return 0;
    ir_fn *fn = new_fn(m, rank, 0, NULL);
    term_pool pool = random_body(m, fn);
    for (unsigned d = 0; d < a->rank; d++) {
        ir_id e = random_pick(m, &pool, T_I64);
        result[d] = stray ? e : ir_op2(m->p, 0, OP_MOD, e, a->shape[d]);
    }
    fn = ir_fn_close(m->p, fn, a->rank, result);
    return ir_backpermute(m->p, random_site(m, "backpermute"), rank, shape, fn, source, 0);
}

static ir_id make_backpermute(random_maker *m)
{
    uint32_t what = choose(&m->c, 6);
    ir_id source = pick_array(m, what == 1 || what == 4 ? 0 : 1, 3);
    if (!source || !m->dim.n)
        return 0;
    switch (what) {
    case 0:
        return transposed(m, source);
    case 1:
        return replicated(m, source);
    case 2:
        return sliced(m, source);
    case 3:
        return reversed(m, source);
    case 5:
        return partial(m, source);
    default:
        return gathered(m, source);
    }
}

static ir_id make_reshape(random_maker *m)
{
    ir_id source = pick_array(m, 0, 3);
    const ir_array *a = info_of(m, source);
    ir_id size = ir_size(m->p, source), shape[3] = {size, ir_i64(m->p, 1), ir_i64(m->p, 1)};
    if (m->options->rank == 0)
        return ir_reshape(m->p, 0, 0, NULL, source);
    int64_t n = size_of(m, a->rank, a->shape);
    unsigned rank = 1 + choose(&m->c, m->options->rank);
    for (int64_t k = 2; rank > 1 && k < n && chance(&m->c, 60); k++)
        if (n % k == 0) { /* extents that are only known to fit when it runs */
            shape[0] = ir_i64(m->p, k);
            shape[1] = ir_i64(m->p, n / k);
        }
    ir_id other = m->options->failures && m->dim.n && chance(&m->c, 5) ? pick_extent(m) : 0;
    if (other && rank == 1 && may_differ(m, other, size))
        shape[0] = other;
    return ir_reshape(m->p, 0, rank, shape, source);
}

/* The same value, written so that only simplification sees it. */
static ir_id roundabout(random_maker *m, ir_id x, ir_id other)
{
    ir_program *p = m->p;
    ir_type t = (ir_type)ir_at(p, x)->type;
    switch (chance(&m->c, 20) ? choose(&m->c, 3) : 3) {
    case 0:
        return ir_cond(p, 0, ir_op2(p, 0, OP_LT, ir_i64(p, 1), ir_i64(p, 2)), x, other);
    case 1:
        return ir_cond(p, 0, ir_bool(p, false), other, x);
    case 2:
        return ir_type_class(t) == CLASS_INT ? ir_op2(p, 0, OP_ADD, x, ir_const(p, t, 0)) : x;
    default:
        return x;
    }
}

/* An associative operator on each component by itself. */
static ir_id combined(random_maker *m, ir_type t, ir_id a, ir_id b)
{
    static const ir_op whole[] = {OP_ADD, OP_MIN, OP_MAX, OP_MUL, OP_BIT_AND, OP_BIT_XOR};
    static const ir_op logical[] = {OP_AND, OP_OR, OP_EQ};
    static const ir_op real[] = {OP_MIN, OP_MAX, OP_ADD, OP_MUL};
    uint32_t what = choose(&m->c, 10);
    if (what >= 8)
        return what == 8 ? a : b;
    ir_op op = OP_MIN;
    if (ir_type_float(t))
        op = real[choose(&m->c, m->options->inexact_folds ? 4 : 2)];
    else if (t == T_BOOL)
        op = logical[choose(&m->c, ARRAY_LENGTH(logical))];
    else if (t != T_CHAR)
        op = whole[choose(&m->c, ARRAY_LENGTH(whole))];
    return roundabout(m, ir_op2(m->p, 0, op, roundabout(m, a, b), roundabout(m, b, a)), a);
}

/* Composition of the maps x -> a * x + b, and the larger of pairs with ties to the left: neither commutes. */
static bool combine_pairs(random_maker *m, const ir_array *a, const ir_id *param, ir_id *result)
{
    ir_program *p = m->p;
    bool whole = ir_type_class(a->type[0]) == CLASS_INT;
    if (a->components != 2 || !whole || chance(&m->c, 30))
        return false;
    if (a->type[0] == a->type[1] && chance(&m->c, 50)) {
        result[0] = ir_op2(p, 0, OP_MUL, param[0], param[2]);
        result[1] = ir_op2(p, 0, OP_ADD, ir_op2(p, 0, OP_MUL, param[2], param[1]), param[3]);
        return true;
    }
    ir_id left = ir_op2(p, 0, OP_GE, param[0], param[2]);
    result[0] = ir_cond(p, 0, left, param[0], param[2]);
    result[1] = ir_cond(p, 0, left, param[1], param[3]);
    return true;
}

/* An operator of elements of an array, and initial values. */
static ir_fn *make_operator(random_maker *m, const ir_array *a, ir_id *seed)
{
    ir_id result[IR_MAX_COMPONENTS];
    ir_type type[2 * IR_MAX_COMPONENTS];
    memcpy(type, a->type, a->components * sizeof *type);
    memcpy(type + a->components, a->type, a->components * sizeof *type);
    ir_fn *fn = new_fn(m, 0, 2u * a->components, type);
    if (!combine_pairs(m, a, fn->param, result))
        for (uint32_t c = 0; c < a->components; c++)
            result[c] = combined(m, a->type[c], fn->param[c], fn->param[a->components + c]);
    for (uint32_t c = 0; c < a->components; c++)
        seed[c] = random_constant(m, a->type[c]);
    return ir_fn_close(m->p, fn, a->components, result);
}

static ir_id make_fold(random_maker *m)
{
    ir_id source = pick_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    const ir_array *a = info_of(m, source);
    ir_fn *fn = make_operator(m, a, seed);
    bool seeded = chance(&m->c, 60), filled = random_extent_value(m, a->shape[a->rank - 1]) > 0;
    int64_t fixed;
    bool may_fail =
        m->options->failures && !ir_extent_constant(m->p, a->shape[a->rank - 1], &fixed) && chance(&m->c, 20);
    return ir_fold(m->p, 0, fn, seeded || (!filled && !may_fail) ? seed : NULL, source, 0);
}

static ir_id make_scan(random_maker *m)
{
    ir_id source = pick_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    ir_fn *fn = make_operator(m, info_of(m, source), seed);
    unsigned flags = (chance(&m->c, 40) ? IR_EXCLUSIVE : 0u) | (chance(&m->c, 40) ? IR_RIGHT : 0u);
    return ir_scan(m->p, 0, fn, flags & IR_EXCLUSIVE || chance(&m->c, 50) ? seed : NULL, source, flags);
}

/* Offsets of some segments of so many elements; now and then, where failures are wanted, of more or fewer. */
static ir_id make_offsets(random_maker *m, ir_id n)
{
    ir_program *p = m->p;
    uint32_t segments = 1 + choose(&m->c, 5);
    ir_fn *fn = new_fn(m, 1, 0, NULL);
    ir_id i = fn->param[0], last = ir_i64(p, segments), extent = ir_i64(p, segments + 1), begin;
    if (m->options->failures && chance(&m->c, 15))
        begin = ir_op2(p, 0, OP_MUL, i, ir_i64(p, (int64_t)choose(&m->c, 4) - 1));
    else if (chance(&m->c, 50))
        begin = ir_op2(p, 0, OP_QUOT, ir_op2(p, 0, OP_MUL, i, n), last);
    else
        begin = ir_cond(p, 0, ir_op2(p, 0, OP_EQ, i, last), n,
                        ir_op2(p, 0, OP_MIN, n, ir_op2(p, 0, OP_MUL, i, ir_i64(p, choose(&m->c, 4)))));
    return ir_generate(p, 0, 1, &extent, ir_fn_close(p, fn, 1, &begin));
}

static ir_id make_fold_seg(random_maker *m)
{
    ir_id source = pick_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    const ir_array *a = info_of(m, source);
    ir_fn *fn = make_operator(m, a, seed);
    ir_id offsets = make_offsets(m, a->shape[a->rank - 1]);
    bool seeded = !m->options->failures || chance(&m->c, 80);
    return offsets ? ir_fold_seg(m->p, 0, fn, seeded ? seed : NULL, source, offsets, 0) : 0;
}

static ir_id make_scan_seg(random_maker *m)
{
    ir_id source = pick_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    const ir_array *a = info_of(m, source);
    ir_fn *fn = make_operator(m, a, seed);
    ir_id offsets = make_offsets(m, a->shape[a->rank - 1]);
    unsigned flags = chance(&m->c, 50) ? IR_EXCLUSIVE : 0;
    flags |= chance(&m->c, 30) ? IR_RIGHT : 0;
    return ir_scan_seg(m->p, 0, fn, flags & IR_EXCLUSIVE || chance(&m->c, 50) ? seed : NULL, source, offsets, flags);
}

/* What a fold of segments gives, each for the elements of its own segment: with these it becomes elements again, which
 * may be scanned. Of one component, so that types are easy. */
static ir_id give_back(random_maker *m, ir_id of, ir_id folds, ir_id elements, ir_id offsets)
{
    ir_program *p = m->p;
    const ir_array *f = info_of(m, folds), *a = info_of(m, elements);
    ir_type type[1 + IR_MAX_COMPONENTS] = {T_I64};
    ir_id both[2] = {of, elements}, out[IR_MAX_COMPONENTS], seed[IR_MAX_COMPONENTS];
    memcpy(type + 1, a->type, a->components * sizeof *type);
    ir_fn *fn = ir_fn_new(p, 1 + a->components, type);
    for (uint32_t c = 0; c < a->components; c++) {
        ir_id own = fn->param[1 + c];
        ir_id theirs = ir_read(p, 0, folds, c < f->components ? c : 0, 0, 1, fn->param);
        bool same = ir_at(p, own)->type == ir_at(p, theirs)->type && ir_at(p, own)->type != T_BOOL;
        out[c] = same ? ir_cond(p, 0, ir_op2(p, 0, OP_LT, theirs, own), theirs, own) : own;
    }
    ir_id made = ir_map(p, 0, 2, both, ir_fn_close(p, fn, a->components, out), 0);
    if (!made || chance(&m->c, 50))
        return made;
    vec_push(m->arena, &m->array, made);
    fn = make_operator(m, info_of(m, made), seed);
    if (chance(&m->c, 50))
        return ir_fold_seg(p, 0, fn, seed, made, offsets, 0);
    return ir_scan_seg(p, 0, fn, seed, made, offsets, chance(&m->c, 30) ? IR_RIGHT : IR_EXCLUSIVE);
}

/* The segment of each element of a row; mostly something is made of it at once, and folded by segments. */
static ir_id make_segment_of(random_maker *m)
{
    ir_id row = pick_array(m, 1, 1), seed[IR_MAX_COMPONENTS], offsets, of;
    if (!row)
        return 0;
    offsets = make_offsets(m, info_of(m, row)->shape[0]);
    of = offsets ? ir_segment_of(m->p, 0, info_of(m, row)->shape[0], offsets) : 0;
    if (!of || chance(&m->c, 30))
        return of;
    const ir_array *a = info_of(m, row);
    ir_type type[1 + IR_MAX_COMPONENTS] = {T_I64};
    memcpy(type + 1, a->type, a->components * sizeof *type);
    ir_id both[2] = {of, row};
    ir_id made = ir_map(m->p, 0, 2, both, close_random_fn(m, new_fn(m, 0, a->components + 1u, type)), 0);
    if (!made || chance(&m->c, 40))
        return made;
    vec_push(m->arena, &m->array, made);
    ir_fn *fn = make_operator(m, info_of(m, made), seed);
    ir_id folds = ir_fold_seg(m->p, 0, fn, seed, made, offsets, 0);
    if (!folds || chance(&m->c, 40))
        return folds;
    vec_push(m->arena, &m->array, folds);
    return give_back(m, of, folds, made, offsets);
}

/* The last array with an element for each row of an array; 0 if there is none. */
static ir_id find_of_rows(const random_maker *m, const ir_array *rows)
{
    for (uint32_t k = m->array.n; k-- > 0;) {
        const ir_array *a = info_of(m, m->array.at[k]);
        if (a->rank + 1u == rows->rank && !memcmp(a->shape, rows->shape, a->rank * sizeof(ir_id)))
            return m->array.at[k];
    }
    return 0;
}

/* Elements of rows, and what belongs to their row: most often the result of a fold, or what is made of it. */
static ir_id make_row_reader(random_maker *m)
{
    ir_id array = pick_array(m, 2, 3), seed[IR_MAX_COMPONENTS], index[IR_MAX_RANK];
    if (!array)
        return 0;
    const ir_array *rows = info_of(m, array);
    ir_id of_rows = chance(&m->c, 30) ? find_of_rows(m, rows) : 0;
    if (!of_rows) {
        ir_fn *combine = make_operator(m, rows, seed);
        of_rows = ir_fold(m->p, 0, combine, seed, array, 0);
        vec_push(m->arena, &m->array, of_rows);
    }
    if (chance(&m->c, 40)) {
        const ir_array *a = info_of(m, of_rows);
        of_rows = ir_map(m->p, 0, 1, &of_rows, close_random_fn(m, new_fn(m, 0, a->components, a->type)), 0);
        vec_push(m->arena, &m->array, of_rows);
    }
    ir_fn *fn = new_fn(m, rows->rank, 0, NULL);
    memcpy(index, fn->param, sizeof(ir_id) * (rows->rank - 1u));
    ir_id both[2] = {array, ir_backpermute(m->p, 0, rows->rank, rows->shape,
                                           ir_fn_close(m->p, fn, rows->rank - 1u, index), of_rows, IR_SAFE)};
    ir_type type[2 * IR_MAX_COMPONENTS];
    const ir_array *a = info_of(m, of_rows);
    memcpy(type, rows->type, rows->components * sizeof *type);
    memcpy(type + rows->components, a->type, a->components * sizeof *type);
    return ir_map(m->p, 0, 2, both, close_random_fn(m, new_fn(m, 0, rows->components + a->components, type)), 0);
}

static bool is_mask(const random_maker *m, ir_id array)
{
    const ir_array *a = info_of(m, array);
    return a->rank == 1 && a->components == 1 && a->type[0] == T_BOOL;
}

/* A row of bools: one that there is, perhaps used by another pack, or a new one. */
static ir_id pick_mask(random_maker *m)
{
    const ir_type type = T_BOOL;
    if (chance(&m->c, 60))
        for (uint32_t k = m->array.n; k-- > 0;)
            if (is_mask(m, m->array.at[k]))
                return m->array.at[k];
    ir_id row = pick_array(m, 1, 1);
    if (!row)
        return 0;
    const ir_array *a = info_of(m, row);
    row = ir_map(m->p, 0, 1, &row, close_fn(m, new_fn(m, 0, a->components, a->type), 1, &type), 0);
    if (row)
        vec_push(m->arena, &m->array, row);
    return row;
}

static ir_id make_pack(random_maker *m)
{
    ir_id keep = pick_mask(m);
    return keep ? ir_pack(m->p, 0, keep, pick_like(m, keep)) : 0;
}

/* A component of an array that a comparison can order: NaNs are in no order. 0: there is none. */
static bool find_ordered(random_maker *m, const ir_array *a, uint32_t *component)
{
    for (uint32_t c = 0; c < a->components; c++)
        if (!ir_type_float(a->type[c]) && a->type[c] != T_BOOL) {
            *component = c;
            if (chance(&m->c, 50))
                return true;
        }
    return *component < a->components;
}

static ir_id make_sort(random_maker *m)
{
    ir_id array = pick_array(m, 1, 3);
    if (!array)
        return 0;
    const ir_array *a = info_of(m, array);
    uint32_t component = UINT32_MAX, n = a->components;
    if (chance(&m->c, 70) || !find_ordered(m, a, &component))
        return ir_sort(m->p, 0, 1 + choose(&m->c, n), NULL, array, (chance(&m->c, 30) ? IR_DESCENDING : 0) | (chance(&m->c, 20) ? IR_RUNS : 0u));
    ir_type type[2 * IR_MAX_COMPONENTS];
    memcpy(type, a->type, n * sizeof *type);
    memcpy(type + n, a->type, n * sizeof *type);
    ir_fn *less = ir_fn_new(m->p, 2 * n, type);
    ir_id before =
        ir_op2(m->p, 0, chance(&m->c, 50) ? OP_LT : OP_GT, less->param[component], less->param[n + component]);
    return ir_sort(m->p, 0, 0, ir_fn_close(m->p, less, 1, &before), array, chance(&m->c, 20) ? IR_RUNS : 0);
}

/* Any target at all, brought inside by a remainder, and here and there none. */
static ir_id make_targets(random_maker *m, const ir_array *source, unsigned rank, const ir_id *shape)
{
    ir_program *p = m->p;
    bool stray = m->options->failures && chance(&m->c, 10), drops = chance(&m->c, 40);
    ir_id result[3];
    ir_fn *fn = new_fn(m, source->rank, 0, NULL);
    term_pool pool = random_body(m, fn);
    for (unsigned d = 0; d < rank; d++) {
        ir_id e = random_pick(m, &pool, T_I64);
        result[d] = stray ? e : ir_op2(p, 0, OP_MOD, e, shape[d]);
        if (drops)
            result[d] = ir_cond(p, 0, random_pick(m, &pool, T_BOOL), result[d], ir_i64(p, IR_DROPPED));
    }
    return ir_generate(p, 0, source->rank, source->shape, ir_fn_close(p, fn, rank, result));
}

static ir_id make_permute(random_maker *m)
{
    ir_id source = pick_array(m, 0, 3), shape[3], seed[IR_MAX_COMPONENTS], defaults = 0;
    if (!source || !m->dim.n)
        return 0;
    const ir_array *from = info_of(m, source);
    for (uint32_t k = m->array.n; k-- > 0 && !defaults && chance(&m->c, 60);) {
        const ir_array *a = info_of(m, m->array.at[k]);
        if (a->rank && a->components == from->components &&
            !memcmp(a->type, from->type, a->components * sizeof *a->type))
            defaults = m->array.at[k];
    }
    if (!defaults) {
        unsigned rank = 1 + choose(&m->c, m->options->rank);
        for (unsigned d = 0; d < rank; d++)
            shape[d] = pick_extent(m);
        defaults =
            ir_generate(m->p, 0, rank, shape, close_fn(m, new_fn(m, rank, 0, NULL), from->components, from->type));
        vec_push(m->arena, &m->array, defaults);
    }
    const ir_array *to = info_of(m, defaults);
    if (size_of(m, to->rank, to->shape) <= 0)
        return 0;
    ir_id targets = make_targets(m, from, to->rank, to->shape);
    ir_fn *fn = chance(&m->c, 70) ? make_operator(m, from, seed) : NULL;
    return ir_permute(m->p, random_site(m, "permute"), fn, defaults, targets, source);
}

static ir_stencil random_stencil(random_maker *m, ir_id source)
{
    const ir_array *a = info_of(m, source);
    ir_stencil s = {.boundary = (ir_boundary)choose(&m->c, 5)};
    unsigned positions = 1;
    for (unsigned d = 0; d < a->rank; d++) {
        s.extent[d] = (uint8_t)(1 + 2 * choose(&m->c, 3));
        if (positions * s.extent[d] > PATTERN_MAX)
            s.extent[d] = 1;
        positions *= s.extent[d];
    }
    s.constant = arena_alloc(m->arena, a->components * sizeof(ir_id));
    for (uint32_t c = 0; c < a->components; c++)
        s.constant[c] = random_constant(m, a->type[c]);
    if (s.boundary == IR_FUNCTION)
        s.function = close_fn(m, new_fn(m, a->rank, 0, NULL), a->components, a->type);
    return s;
}

static ir_id make_stencil(random_maker *m)
{
    ir_id input[2] = {pick_array(m, 1, 3)};
    if (!input[0])
        return 0;
    uint32_t inputs = 1 + choose(&m->c, 10) / 7, n = 0;
    ir_stencil stencil[2];
    ir_type type[2 * PATTERN_MAX * IR_MAX_COMPONENTS];
    for (uint32_t k = 0; k < inputs; k++) {
        input[k] = k ? pick_like(m, input[0]) : input[0];
        stencil[k] = random_stencil(m, input[k]);
        const ir_array *a = info_of(m, input[k]);
        uint32_t positions = 1;
        for (unsigned d = 0; d < a->rank; d++)
            positions *= stencil[k].extent[d];
        for (uint32_t e = 0; e < positions * a->components; e++)
            type[n++] = a->type[e % a->components];
    }
    return ir_stencil_new(m->p, 0, close_random_fn(m, new_fn(m, 0, n, type)), inputs, input, stencil);
}

static ir_id make_operation(random_maker *m);

/* A region over arrays like `state`: a few operations, and, as its result, one of the same extents and types. The
 * values of the control from number `first` on are the state's extents. False if there can be none. */
static bool make_region(random_maker *m, ir_id state, ir_id other, uint32_t first, ir_region *r)
{
    const ir_array *a = info_of(m, state), *b = info_of(m, other);
    random_options *o = arena_copy(m->arena, m->options, sizeof *o);
    o->operations = m->options->operations / 2;
    o->controls = o->operations > 2;
    random_maker n = {.p = ir_program_new(m->arena), .arena = m->arena, .options = o, .c = m->c, .types = m->types};
    ir_id shape[3], result = 0;
    n.line = m->line;
    n.p->plain = m->p->plain;
    n.p->outer = m->p;
    ir_follow_sites(n.p);
    *r = (ir_region){.program = n.p, .values = a->rank ? a->rank : 1u, .rounds = 1};
    r->value = arena_alloc(m->arena, r->values * sizeof(uint32_t));
    r->dim = arena_alloc(m->arena, r->values * sizeof(uint32_t));
    for (uint32_t d = 0; d < r->values; d++) {
        int64_t extent = a->rank ? random_extent_value(m, a->shape[d]) : m->dim.at[0];
        if (extent < 0)
            return false;
        ir_id name = ir_dim(n.p, arena_printf(m->arena, "e%u", d));
        vec_push(m->arena, &n.dim, extent);
        r->value[d] = first + d;
        r->dim[d] = d;
        if (a->rank)
            shape[d] = name;
    }
    vec_push(m->arena, &n.array, ir_input(n.p, a->components, a->type, a->rank, shape));
    vec_push(m->arena, &n.array, ir_input(n.p, b->components, b->type, b->rank, shape));
    for (uint32_t k = 0; k < 3; k++) {
        ir_id made = make_operation(&n);
        if (made && is_small(&n, made))
            vec_push(m->arena, &n.array, made);
    }
    for (uint32_t k = n.array.n; k-- > 0 && !result;) {
        const ir_array *x = info_of(&n, n.array.at[k]), *s = info_of(&n, n.array.at[0]);
        if (x->rank == s->rank && x->components == s->components &&
            !memcmp(x->type, s->type, s->components * sizeof *s->type) &&
            !memcmp(x->shape, s->shape, s->rank * sizeof(ir_id)))
            result = n.array.at[k];
    }
    r->source = arena_alloc(m->arena, 2 * sizeof(uint32_t));
    r->source[1] = 1;
    r->result = arena_alloc(m->arena, sizeof(uint32_t));
    if (ir_at(n.p, result)->kind == IR_INPUT)
        r->result[0] = ir_at(n.p, result)->args | IR_PASSED;
    else
        ir_output(n.p, result);
    m->c = n.c;
    m->line = n.line;
    return true;
}

static ir_id make_control(random_maker *m)
{
    ir_id state = pick_array(m, 0, 3), input[2];
    if (!state || !m->dim.n)
        return 0;
    bool repeat = chance(&m->c, 60);
    const unsigned rank = info_of(m, state)->rank;
    ir_id value[1 + 3] = {repeat ? ir_i64(m->p, choose(&m->c, 4)) : ir_bool(m->p, chance(&m->c, 50))},
                    other = pick_like(m, state);
    for (unsigned d = 0; d < rank; d++)
        if (ir_extent(m->p, other, d) != ir_extent(m->p, state, d))
            other = state;
    ir_id extent = ir_dim(m->p, m->p->dim.at[0]);
    if (!repeat && chance(&m->c, 60))
        value[0] = ir_op2(m->p, 0, OP_LT, extent, ir_i64(m->p, choose(&m->c, 9)));
    for (unsigned d = 0; d < rank; d++)
        value[1 + d] = ir_extent(m->p, state, d);
    if (!rank)
        value[1] = extent;
    ir_region region[2];
    ir_control c = {.form = repeat ? IR_REPEAT : IR_CHOICE, .parts = 1, .states = repeat, .regions = repeat ? 1 : 2};
    for (uint32_t i = 0; i < c.regions; i++)
        if (!make_region(m, state, other, 1, &region[i]))
            return 0;
    c.region = region;
    c.values = 1 + (rank ? rank : 1);
    c.value = value;
    input[0] = state;
    input[1] = other;
    ir_id control = ir_control_new(m->p, 0, &c, 2, input), shape[3];
    for (unsigned d = 0; d < rank; d++)
        shape[d] = ir_extent(m->p, state, d);
    return ir_part(m->p, 0, control, 0, rank, shape, 0);
}

static ir_id make_operation(random_maker *m)
{
    static const ir_kind kinds[] = {IR_MAP, IR_GENERATE, IR_BACKPERMUTE, IR_FOLD,  IR_MAP,
                                    IR_MAP, IR_STENCIL,  IR_RESHAPE,     IR_FORCE, IR_BACKPERMUTE};
    static const ir_kind rows[] = {IR_MAP,         IR_SCAN,       IR_PACK, IR_FOLD,     IR_SCAN,     IR_PACK,
                                   IR_MAP,         IR_PACK,       IR_MAP,  IR_GENERATE, IR_FOLD,     IR_RESHAPE,
                                   IR_BACKPERMUTE, IR_SCAN,       IR_SORT, IR_PERMUTE,  IR_FOLD_SEG, IR_SEGMENT_OF,
                                   IR_FOLD_SEG,    IR_SEGMENT_OF, IR_PACK, IR_PACK,     IR_SCAN_SEG, IR_SEGMENT_OF};
    ir_kind kind = m->options->rows && chance(&m->c, 70) ? rows[choose(&m->c, ARRAY_LENGTH(rows))]
                                                         : kinds[choose(&m->c, ARRAY_LENGTH(kinds))];
    if (kind == IR_SORT && chance(&m->c, 50))
        kind = IR_PACK;
    if (m->options->rows && chance(&m->c, 20))
        return make_row_reader(m);
    if (m->options->controls && chance(&m->c, 25))
        return make_control(m);
    if (!random_allows(m, kind))
        return 0;
    switch (kind) {
    case IR_MAP:
        return make_map(m);
    case IR_GENERATE:
        return make_generate(m);
    case IR_BACKPERMUTE:
        return make_backpermute(m);
    case IR_FOLD:
        return make_fold(m);
    case IR_FOLD_SEG:
        return make_fold_seg(m);
    case IR_SCAN_SEG:
        return make_scan_seg(m);
    case IR_SEGMENT_OF:
        return make_segment_of(m);
    case IR_SCAN:
        return make_scan(m);
    case IR_PACK:
        return make_pack(m);
    case IR_SORT:
        return make_sort(m);
    case IR_PERMUTE:
        return make_permute(m);
    case IR_STENCIL:
        return make_stencil(m);
    case IR_RESHAPE:
        return make_reshape(m);
    default:
        return ir_force(m->p, 0, pick_array(m, 0, 3));
    }
}

/* --- programs --- */

/* A few of the types allowed, so that terms meet others of their type. */
static void choose_types(random_maker *m)
{
    uint32_t n = 1 + choose(&m->c, 4), types = 0;
    m->types = m->options->types;
    for (uint32_t k = 0; k < n; k++)
        types |= 1u << random_type(m);
    m->types = types;
}

static random_case make_case(arena *a, random_maker *m)
{
    m->p->plain = m->options->plain;
    random_case made = {.program = m->p};
    if (m->options->chains) {
        made.input = random_chain(m);
        made.choices = m->c;
        return made;
    }
    choose_types(m);
    made.input = add_inputs(m);
    uint32_t first = m->array.n, span;
    for (uint32_t k = 0; k < m->options->operations && choices_more(&m->c, 85, &span); k++) {
        ir_id array = make_operation(m);
        if (array && is_small(m, array))
            vec_push(a, &m->array, array);
        if (array && chance(&m->c, 10))
            ir_fuse(m->p, array);
        choices_end(&m->c, span);
    }
    ir_output(m->p, m->array.at[m->array.n - 1]);
    for (uint32_t k = 0; k < 2 && choices_more(&m->c, 50, &span); k++) {
        uint32_t from = m->array.n > first ? first : 0;
        ir_output(m->p, m->array.at[from + choose(&m->c, m->array.n - from)]);
        choices_end(&m->c, span);
    }
    made.choices = m->c;
    return made;
}

random_case random_program(arena *a, const random_options *o, uint64_t seed)
{
    random_maker m = {.p = ir_program_new(a), .arena = a, .options = o};
    choices_random(&m.c, a, seed);
    return make_case(a, &m);
}

random_case random_program_again(arena *a, const random_options *o, uint32_t n, const uint32_t *made)
{
    random_maker m = {.p = ir_program_new(a), .arena = a, .options = o};
    choices_replay(&m.c, a, n, made);
    return make_case(a, &m);
}

typedef struct shrinking {
    const random_options *options;
    random_predicate fails;
    void *env;
} shrinking;

static bool still_fails(void *env, choices *c)
{
    const shrinking *s = env;
    arena a;
    arena_init(&a, NULL);
    random_maker m = {.p = ir_program_new(&a), .arena = &a, .options = s->options, .c = *c};
    random_case made = make_case(&a, &m);
    bool fails = made.program->error.n == 0 && s->fails(s->env, &a, &made);
    *c = m.c;
    arena_free(&a);
    return fails;
}

random_case random_shrink(arena *a, const random_options *o, const random_case *found, random_predicate fails,
                          void *env)
{
    shrinking s = {o, fails, env};
    uint32_t *smaller = NULL;
    uint32_t n =
        choices_shrink(a, found->choices.made.n, found->choices.made.at, still_fails, &s, SHRINK_TRIES, &smaller);
    return random_program_again(a, o, n, smaller);
}

static void print_element(const ir_value *v, uint32_t component, int64_t k, text *out)
{
    const char *at = (const char *)v->data[component] + (size_t)k * ir_type_size(v->type[component]);
    ir_bits bits = 0;
    for (size_t b = ir_type_size(v->type[component]); b-- > 0;)
        bits = bits << 8 | (uint8_t)at[b];
    if (v->type[component] == T_F32)
        text_f32(out, ir_f32_bits(bits));
    else if (v->type[component] == T_F64)
        text_f64(out, ir_f64_bits(bits));
    else
        text_printf(out, "%lld", (long long)ir_i64_bits(v->type[component], bits));
}

void random_print(const random_case *c, text *out)
{
    ir_print(c->program, out);
    for (uint32_t i = 0; i < c->program->input.n; i++) {
        const ir_value *v = &c->input[i];
        int64_t size = 1;
        text_printf(out, "input %u:", i);
        for (unsigned d = 0; d < v->rank; d++) {
            text_printf(out, " [%lld]", (long long)v->extent[d]);
            size *= v->extent[d];
        }
        for (uint32_t k = 0; k < v->components; k++) {
            text_add(out, k ? "\n   " : "");
            for (int64_t e = 0; e < size; e++) {
                text_add(out, " ");
                print_element(v, k, e, out);
            }
        }
        text_add(out, "\n");
    }
}
