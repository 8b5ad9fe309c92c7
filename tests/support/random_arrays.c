/* What all kinds of operations pick from: arrays there are, extents, functions that are filled at random. */
#include "support/random_arrays.h"

const ir_array *random_info(const random_maker *m, ir_id array)
{
    return ir_info(m->p, array);
}

int64_t random_size(const random_maker *m, unsigned rank, const ir_id *shape)
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

bool random_is_small(const random_maker *m, ir_id array)
{
    enum { ELEMENTS_MAX = 4000 };
    const ir_array *a = random_info(m, array);
    int64_t size = 1;
    for (unsigned d = 0; d < a->rank; d++) {
        int64_t extent = random_extent_value(m, a->shape[d]);
        size *= extent < 0 ? m->options->extent : extent;
    }
    return size <= ELEMENTS_MAX;
}

ir_fn *random_fn(random_maker *m, uint32_t indices, uint32_t components, const ir_type *component)
{
    ir_type *type = arena_array(m->arena, ir_type, indices + components + 1);
    for (uint32_t k = 0; k < indices; k++)
        type[k] = T_I64;
    for (uint32_t k = 0; k < components; k++)
        type[indices + k] = component[k];
    return ir_fn_new(m->p, indices + components, type);
}

ir_fn *random_close(random_maker *m, ir_fn *fn, uint32_t results, const ir_type *type)
{
    ir_id result[IR_MAX_COMPONENTS];
    term_pool pool = random_body(m, fn);
    for (uint32_t k = 0; k < results; k++)
        result[k] = random_pick(m, &pool, type[k]);
    return ir_fn_close(m->p, fn, results, result);
}

ir_fn *random_close_any(random_maker *m, ir_fn *fn)
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

ir_id random_array(random_maker *m, unsigned least, unsigned most)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->array.n; k++)
        n += random_info(m, m->array.at[k])->rank >= least && random_info(m, m->array.at[k])->rank <= most;
    if (!n)
        return 0;
    uint32_t chosen = choose(&m->c, n);
    for (uint32_t k = 0; k < m->array.n; k++) {
        unsigned rank = random_info(m, m->array.at[k])->rank;
        if (rank >= least && rank <= most && chosen-- == 0)
            return m->array.at[k];
    }
    return 0;
}

bool random_may_differ(const random_maker *m, ir_id a, ir_id b)
{
    int64_t x, y;
    return !ir_extent_constant(m->p, a, &x) || !ir_extent_constant(m->p, b, &y);
}

ir_id random_like(random_maker *m, ir_id array)
{
    const ir_array *a = random_info(m, array);
    bool loose = m->options->failures && chance(&m->c, 10);
    for (unsigned k = 0; k < 4; k++) {
        ir_id other = m->array.at[choose(&m->c, m->array.n)];
        const ir_array *b = random_info(m, other);
        bool fits = a->rank == b->rank;
        for (unsigned d = 0; d < a->rank && fits; d++)
            fits = a->shape[d] == b->shape[d] || (loose && random_may_differ(m, a->shape[d], b->shape[d]));
        if (fits)
            return other;
    }
    return array;
}

ir_id random_extent(random_maker *m)
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
