/* Reads whose indices are a run of dimensions, moved along the first of them or not: they want the run's position. */
#include "skeleton/element/runs.h"

/* The dimension of the loop's space that a variable stands for, 1 + it; 0: it is none. */
static unsigned dimension_of(const sk_lower *lw, ir_id term)
{
    for (unsigned d = 0; d < lw->space.rank; d++)
        if (lw->space.var[d] == term)
            return d + 1;
    return 0;
}

/* Of the run that begins at dimension d: elements from one of its first indices to the next. */
static k_val elements_behind(sk_lower *lw, unsigned d)
{
    return sk_product(lw, lw->space.run[d] - 1u, lw->space.extent + d + 1);
}

/* Where the run that begins at dimension d is if its first index is this term: the dimension's variable, which a
 * constant or a closed term may be added to, or a choice of such. False: it is something else. */
static bool run_moved(sk_lower *lw, unsigned d, ir_id term, k_val *position)
{
    const ir_program *p = lw->l->ir;
    const ir_node *n = ir_at(p, term);
    k_val at[2];
    if (term == lw->space.var[d]) {
        *position = lw->space.position[d];
        return true;
    }
    k_val less;
    const ir_id other = sk_stands_for(lw, term, &less);
    if (other) {
        if (!run_moved(lw, d, other, position))
            return false;
        if (less)
            *position = sk_sub(lw, *position, sk_mul(lw, less, elements_behind(lw, d)));
        return true;
    }
    if (n->kind == IR_WITHIN)
        return run_moved(lw, d, ir_args(p, term)[0], position);
    if (n->kind == IR_COND && run_moved(lw, d, ir_args(p, term)[1], &at[0]) &&
        run_moved(lw, d, ir_args(p, term)[2], &at[1])) {
        *position = k_select(&lw->b, sk_value(lw, ir_args(p, term)[0]), at[0], at[1]);
        return true;
    }
    if (n->kind != IR_OP || n->type != T_I64 || (n->op != OP_ADD && n->op != OP_SUB) ||
        ir_at(p, ir_args(p, term)[1])->scope || !run_moved(lw, d, ir_args(p, term)[0], &at[0]))
        return false;
    k_val by = sk_mul(lw, sk_value(lw, ir_args(p, term)[1]), elements_behind(lw, d));
    *position = n->op == OP_ADD ? sk_add(lw, at[0], by) : sk_sub(lw, at[0], by);
    return true;
}

unsigned sk_run_at(sk_lower *lw, const ir_node *n, uint32_t k, k_val *position)
{
    const sk_space *space = &lw->space;
    const ir_id *index = lw->l->ir->arg.at + n->args, *shape = ir_info(lw->l->ir, n->array)->shape;
    unsigned d = k + 1 < n->n ? dimension_of(lw, index[k + 1]) : 0, run = d > 1 ? space->run[d - 2] : 0;
    if (run < 2 || k + run > n->n)
        return 1;
    for (unsigned i = 1; i < run; i++)
        if (index[k + i] != space->var[d - 2 + i] || shape[k + i] != space->extent[d - 2 + i])
            return 1;
    return run_moved(lw, d - 2, index[k], position) ? run : 1;
}

k_val sk_run_inside(sk_lower *lw, ir_id index, k_val extent)
{
    enum { FARTHEST = 1 << 20 };
    k_builder *b = &lw->b;
    const ir_program *p = lw->l->ir;
    const ir_node *n = ir_at(p, index);
    k_val position = 0;
    if (n->kind == IR_OP && n->n == 2) { /* of what is far away the position might wrap */
        const ir_node *by = ir_at(p, ir_args(p, index)[1]);
        const int64_t steps = by->kind == IR_CONST ? ir_i64_bits(T_I64, by->u.literal) : FARTHEST;
        if (steps <= -FARTHEST || steps >= FARTHEST || !dimension_of(lw, ir_args(p, index)[0]))
            return 0;
    } else if (!dimension_of(lw, index)) {
        return 0;
    }
    for (unsigned d = 0; d + 1 < lw->space.rank; d++) {
        if (lw->space.run[d] < 2 || !lw->space.position[d] || !run_moved(lw, d, index, &position))
            continue;
        k_val end = sk_mul(lw, sk_min(lw, extent, k_i64(b, INT64_C(1) << 44)),
                           elements_behind(lw, d)); /* which does not wrap */
        k_val first = k_let(b, OP_GE, position, k_i64(b, 0), 0);
        return k_let(b, OP_AND, first, k_let(b, OP_LT, position, end, 0), 0);
    }
    return 0;
}
