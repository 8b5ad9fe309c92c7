#include "support/random_joins.h"
#include "support/random_arrays.h"
#include "support/random_folds.h"

static ir_id binary(random_maker *m, ir_op op, ir_id a, ir_id b)
{
    return ir_op2(m->p, 0, op, a, b);
}

/* Another array of the same elements and rank, and of the same extents but along one dimension; itself if there is
 * none. */
static ir_id pick_beside(random_maker *m, ir_id array, unsigned along)
{
    const ir_array *a = random_info(m, array);
    for (uint32_t k = m->array.n; k-- > 0;) {
        const ir_array *b = random_info(m, m->array.at[k]);
        bool fits = m->array.at[k] != array && a->rank == b->rank && a->components == b->components &&
                    !memcmp(a->type, b->type, a->components * sizeof *a->type);
        for (unsigned d = 0; d < a->rank && fits; d++)
            fits = d == along || a->shape[d] == b->shape[d];
        if (fits && chance(&m->c, 60))
            return m->array.at[k];
    }
    return array;
}

/* The first, and behind it along a dimension the second. */
static ir_id appended(random_maker *m, ir_id first, ir_id second, unsigned along)
{
    const ir_array *a = random_info(m, first);
    ir_id shape[3], index[3], term[IR_MAX_COMPONENTS], count = a->shape[along];
    const unsigned rank = a->rank;
    const uint32_t components = a->components;
    memcpy(shape, a->shape, rank * sizeof *shape);
    shape[along] = binary(m, OP_ADD, count, ir_extent(m->p, second, along));
    ir_fn *fn = random_fn(m, rank, 0, NULL);
    memcpy(index, fn->param, rank * sizeof *index);
    index[along] = binary(m, OP_SUB, fn->param[along], count);
    ir_id inside = binary(m, OP_LT, fn->param[along], count);
    for (uint32_t k = 0; k < components; k++)
        term[k] = ir_cond(m->p, 0, inside, ir_read(m->p, 0, first, k, IR_SAFE, rank, fn->param),
                          ir_read(m->p, 0, second, k, IR_SAFE, rank, index));
    fn = ir_fn_close(m->p, fn, components, term);
    return fn ? ir_generate(m->p, 0, rank, shape, fn) : 0;
}

/* An element of each in turn, along the innermost dimension. */
static ir_id interleaved(random_maker *m, ir_id first, ir_id second)
{
    const ir_array *a = random_info(m, first);
    const unsigned rank = a->rank, last = rank - 1u;
    const uint32_t components = a->components;
    ir_id shape[3], index[3], term[IR_MAX_COMPONENTS], two = ir_i64(m->p, 2);
    memcpy(shape, a->shape, rank * sizeof *shape);
    shape[last] = binary(m, OP_MUL, shape[last], two);
    ir_fn *fn = random_fn(m, rank, 0, NULL);
    memcpy(index, fn->param, rank * sizeof *index);
    ir_id is_first = binary(m, OP_EQ, binary(m, OP_REM, fn->param[last], two), ir_i64(m->p, 0));
    index[last] = binary(m, OP_QUOT, fn->param[last], two);
    for (uint32_t k = 0; k < components; k++)
        term[k] = ir_cond(m->p, 0, is_first, ir_read(m->p, 0, first, k, IR_SAFE, rank, index),
                          ir_read(m->p, 0, second, k, IR_SAFE, rank, index));
    fn = ir_fn_close(m->p, fn, components, term);
    return fn ? ir_generate(m->p, 0, rank, shape, fn) : 0;
}

/* A row cut in two by a mask, and put together again by it; with `stray` by the mask turned round, for which there
 * mostly are too few of one. */
static ir_id combined(random_maker *m, ir_id row, bool stray)
{
    ir_program *p = m->p;
    const ir_array *a = random_info(m, row);
    const uint32_t components = a->components;
    const ir_type flag = T_BOOL, number[2] = {T_I64, T_I64}, type[3] = {T_I64, T_BOOL, T_I64};
    ir_id mask = ir_map(p, 0, 1, &row, random_close(m, random_fn(m, 0, components, a->type), 1, &flag), 0);
    ir_fn *turn = ir_fn_new(p, 1, &flag), *count = ir_fn_new(p, 1, &flag), *add = ir_fn_new(p, 2, number);
    ir_id other = ir_op1(p, 0, OP_NOT, turn->param[0]), none = ir_i64(p, 0);
    ir_id one = ir_convert(p, 0, OP_CONVERT, T_I64, count->param[0]);
    ir_id sum = binary(m, OP_ADD, add->param[0], add->param[1]);
    ir_id turned = ir_map(p, 0, 1, &mask, ir_fn_close(p, turn, 1, &other), 0);
    ir_id kept = ir_pack(p, 0, mask, row), rest = ir_pack(p, 0, turned, row);
    ir_id by = stray ? turned : mask;
    ir_id ones = ir_map(p, 0, 1, &by, ir_fn_close(p, count, 1, &one), 0);
    ir_id before = ir_scan(p, 0, ir_fn_close(p, add, 1, &sum), &none, ones, IR_EXCLUSIVE);
    ir_fn *fn = ir_fn_new(p, 3, type);
    ir_id behind = binary(m, OP_SUB, fn->param[0], fn->param[2]), term[IR_MAX_COMPONENTS];
    uint32_t site = random_site(m, "combine");
    for (uint32_t k = 0; k < components; k++)
        term[k] = ir_cond(p, 0, fn->param[1], ir_read(p, site, kept, k, 0, 1, &fn->param[2]),
                          ir_read(p, site, rest, k, 0, 1, &behind));
    ir_id both[2] = {by, before};
    return ir_map(p, 0, 2, both, ir_fn_close(p, fn, components, term), IR_INDEXED);
}

ir_id random_join(random_maker *m)
{
    ir_id first = random_array(m, 1, 3);
    if (!first)
        return 0;
    const ir_array *a = random_info(m, first);
    uint32_t how = choose(&m->c, 4);
    if (how == 3 && a->rank == 1)
        return combined(m, first, m->options->failures && chance(&m->c, 20));
    unsigned along = how == 2 ? IR_MAX_RANK : choose(&m->c, a->rank);
    ir_id second = pick_beside(m, first, along);
    return how == 2 ? interleaved(m, first, second) : appended(m, first, second, along);
}
