/* The same elements elsewhere: backpermutes of all kinds, reshapes. */
#include "support/random_moves.h"
#include "support/random_arrays.h"

static ir_id transposed(random_maker *m, ir_id source)
{
    const ir_array *a = random_info(m, source);
    ir_id shape[3], result[3];
    ir_fn *fn = random_fn(m, a->rank, 0, NULL);
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
    const ir_array *a = random_info(m, source);
    ir_id shape[4], result[3];
    unsigned rank = a->rank + 1u, at = choose(&m->c, rank);
    if (rank > m->options->rank)
        return 0;
    ir_fn *fn = random_fn(m, rank, 0, NULL);
    for (unsigned d = 0, from = 0; d < rank; d++) {
        shape[d] = d == at ? random_extent(m) : a->shape[from];
        if (d != at)
            result[from++] = fn->param[d];
    }
    return ir_backpermute(m->p, 0, rank, shape, ir_fn_close(m->p, fn, a->rank, result), source, IR_SAFE);
}

static ir_id sliced(random_maker *m, ir_id source)
{
    const ir_array *a = random_info(m, source);
    ir_id shape[3], result[3];
    unsigned at = choose(&m->c, a->rank), rank = a->rank - 1u;
    int64_t extent = random_extent_value(m, a->shape[at]);
    if (extent <= 0)
        return 0;
    ir_fn *fn = random_fn(m, rank, 0, NULL);
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
    const ir_array *a = random_info(m, source);
    ir_id result[3];
    ir_fn *fn = random_fn(m, a->rank, 0, NULL);
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
    const ir_array *a = random_info(m, source);
    ir_id shape[3], result[3];
    unsigned at = choose(&m->c, a->rank), how = choose(&m->c, 3);
    ir_fn *fn = random_fn(m, a->rank, 0, NULL);
    for (unsigned d = 0; d < a->rank; d++) {
        shape[d] = a->shape[d];
        result[d] = fn->param[d];
    }
    ir_id extent = a->shape[at], n = ir_op2(p, 0, OP_MIN, random_extent(m), extent),
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
    const ir_array *a = random_info(m, source);
    ir_id shape[3], result[3];
    unsigned rank = choose(&m->c, m->options->rank + 1);
    bool stray = m->options->failures && chance(&m->c, 20);
    for (unsigned d = 0; d < rank; d++)
        shape[d] = random_extent(m);
    if (random_size(m, a->rank, a->shape) <= 0)
        return 0;
    ir_fn *fn = random_fn(m, rank, 0, NULL);
    term_pool pool = random_body(m, fn);
    for (unsigned d = 0; d < a->rank; d++) {
        ir_id e = random_pick(m, &pool, T_I64);
        result[d] = stray ? e : ir_op2(m->p, 0, OP_MOD, e, a->shape[d]);
    }
    fn = ir_fn_close(m->p, fn, a->rank, result);
    return ir_backpermute(m->p, random_site(m, "backpermute"), rank, shape, fn, source, 0);
}

ir_id random_backpermute(random_maker *m)
{
    uint32_t what = choose(&m->c, 6);
    ir_id source = random_array(m, what == 1 || what == 4 ? 0 : 1, 3);
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

ir_id random_reshape(random_maker *m)
{
    ir_id source = random_array(m, 0, 3);
    const ir_array *a = random_info(m, source);
    ir_id size = ir_size(m->p, source), shape[3] = {size, ir_i64(m->p, 1), ir_i64(m->p, 1)};
    if (m->options->rank == 0)
        return ir_reshape(m->p, 0, 0, NULL, source);
    int64_t n = random_size(m, a->rank, a->shape);
    unsigned rank = 1 + choose(&m->c, m->options->rank);
    for (int64_t k = 2; rank > 1 && k < n && chance(&m->c, 60); k++)
        if (n % k == 0) { /* extents that are only known to fit when it runs */
            shape[0] = ir_i64(m->p, k);
            shape[1] = ir_i64(m->p, n / k);
        }
    ir_id other = m->options->failures && m->dim.n && chance(&m->c, 5) ? random_extent(m) : 0;
    if (other && rank == 1 && random_may_differ(m, other, size))
        shape[0] = other;
    return ir_reshape(m->p, 0, rank, shape, source);
}
