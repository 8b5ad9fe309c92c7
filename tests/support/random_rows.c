/* What is kept of rows, and rows in order. */
#include "support/random_rows.h"
#include "support/random_arrays.h"

static bool is_mask(const random_maker *m, ir_id array)
{
    const ir_array *a = random_info(m, array);
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
    ir_id row = random_array(m, 1, 1);
    if (!row)
        return 0;
    const ir_array *a = random_info(m, row);
    row = ir_map(m->p, 0, 1, &row, random_close(m, random_fn(m, 0, a->components, a->type), 1, &type), 0);
    if (row)
        vec_push(m->arena, &m->array, row);
    return row;
}

ir_id random_pack(random_maker *m)
{
    ir_id keep = pick_mask(m);
    return keep ? ir_pack(m->p, 0, keep, random_like(m, keep)) : 0;
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

ir_id random_sort(random_maker *m)
{
    ir_id array = random_array(m, 1, 3);
    if (!array)
        return 0;
    const ir_array *a = random_info(m, array);
    uint32_t component = UINT32_MAX, n = a->components;
    if (chance(&m->c, 70) || !find_ordered(m, a, &component))
        return ir_sort(m->p, 0, 1 + choose(&m->c, n), NULL, array,
                       (chance(&m->c, 30) ? IR_DESCENDING : 0) | (chance(&m->c, 20) ? IR_RUNS : 0u));
    ir_type type[2 * IR_MAX_COMPONENTS];
    memcpy(type, a->type, n * sizeof *type);
    memcpy(type + n, a->type, n * sizeof *type);
    ir_fn *less = ir_fn_new(m->p, 2 * n, type);
    ir_id before =
        ir_op2(m->p, 0, chance(&m->c, 50) ? OP_LT : OP_GT, less->param[component], less->param[n + component]);
    return ir_sort(m->p, 0, 0, ir_fn_close(m->p, less, 1, &before), array, chance(&m->c, 20) ? IR_RUNS : 0);
}
