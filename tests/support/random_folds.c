/* Folds and scans, and what reads them beside the rows they are of. */
#include "support/random_folds.h"
#include "support/random_arrays.h"

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

ir_fn *random_operator(random_maker *m, const ir_array *a, ir_id *seed)
{
    ir_id result[IR_MAX_COMPONENTS];
    ir_type type[2 * IR_MAX_COMPONENTS];
    memcpy(type, a->type, a->components * sizeof *type);
    memcpy(type + a->components, a->type, a->components * sizeof *type);
    ir_fn *fn = random_fn(m, 0, 2u * a->components, type);
    if (!combine_pairs(m, a, fn->param, result))
        for (uint32_t c = 0; c < a->components; c++)
            result[c] = combined(m, a->type[c], fn->param[c], fn->param[a->components + c]);
    for (uint32_t c = 0; c < a->components; c++)
        seed[c] = random_constant(m, a->type[c]);
    return ir_fn_close(m->p, fn, a->components, result);
}

ir_id random_fold(random_maker *m)
{
    ir_id source = random_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    const ir_array *a = random_info(m, source);
    ir_fn *fn = random_operator(m, a, seed);
    bool seeded = chance(&m->c, 60), filled = random_extent_value(m, a->shape[a->rank - 1]) > 0;
    int64_t fixed;
    bool may_fail =
        m->options->failures && !ir_extent_constant(m->p, a->shape[a->rank - 1], &fixed) && chance(&m->c, 20);
    return ir_fold(m->p, 0, fn, seeded || (!filled && !may_fail) ? seed : NULL, source, 0);
}

ir_id random_scan(random_maker *m)
{
    ir_id source = random_array(m, 1, 3), seed[IR_MAX_COMPONENTS];
    if (!source)
        return 0;
    ir_fn *fn = random_operator(m, random_info(m, source), seed);
    unsigned flags = (chance(&m->c, 40) ? IR_EXCLUSIVE : 0u) | (chance(&m->c, 40) ? IR_RIGHT : 0u);
    unsigned rank = random_info(m, source)->rank, behind = rank > 1 && chance(&m->c, 50) ? choose(&m->c, rank) : 0;
    return ir_scan_along(m->p, 0, fn, flags & IR_EXCLUSIVE || chance(&m->c, 50) ? seed : NULL, source, behind, flags);
}

/* The last array with an element for each row of an array; 0 if there is none. */
static ir_id find_of_rows(const random_maker *m, const ir_array *rows)
{
    for (uint32_t k = m->array.n; k-- > 0;) {
        const ir_array *a = random_info(m, m->array.at[k]);
        if (a->rank + 1u == rows->rank && !memcmp(a->shape, rows->shape, a->rank * sizeof(ir_id)))
            return m->array.at[k];
    }
    return 0;
}

ir_id random_row_reader(random_maker *m)
{
    ir_id array = random_array(m, 2, 3), seed[IR_MAX_COMPONENTS], index[IR_MAX_RANK];
    if (!array)
        return 0;
    const ir_array *rows = random_info(m, array);
    ir_id of_rows = chance(&m->c, 30) ? find_of_rows(m, rows) : 0;
    if (!of_rows) {
        ir_fn *combine = random_operator(m, rows, seed);
        of_rows = ir_fold(m->p, 0, combine, seed, array, 0);
        vec_push(m->arena, &m->array, of_rows);
    }
    if (chance(&m->c, 40)) {
        const ir_array *a = random_info(m, of_rows);
        of_rows = ir_map(m->p, 0, 1, &of_rows, random_close_any(m, random_fn(m, 0, a->components, a->type)), 0);
        vec_push(m->arena, &m->array, of_rows);
    }
    ir_fn *fn = random_fn(m, rows->rank, 0, NULL);
    memcpy(index, fn->param, sizeof(ir_id) * (rows->rank - 1u));
    ir_id both[2] = {array, ir_backpermute(m->p, 0, rows->rank, rows->shape,
                                           ir_fn_close(m->p, fn, rows->rank - 1u, index), of_rows, IR_SAFE)};
    ir_type type[2 * IR_MAX_COMPONENTS];
    const ir_array *a = random_info(m, of_rows);
    memcpy(type, rows->type, rows->components * sizeof *type);
    memcpy(type + rows->components, a->type, a->components * sizeof *type);
    return ir_map(m->p, 0, 2, both, random_close_any(m, random_fn(m, 0, rows->components + a->components, type)), 0);
}
