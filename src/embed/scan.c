/* Scans: what folds of the first elements, or of the last, give. */
#include "embed/value.h"

/* f over the innermost dimension; flags as of ir_scan. */
static sn_acc scan(const op *o, sn_fn f, const sn_scalar *z, sn_acc a, unsigned flags)
{
    combination c;
    if (!embed_combination(o, f, z, a, "", &c))
        return op_bad_array(o);
    return op_give_array(o, c.v->tree, ir_scan(o->p, o->site, c.fn, c.seed, c.v->array, flags));
}

sn_acc sn_scanl1_at(sn_site at, sn_fn f, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanl1") ? scan(&o, f, NULL, a, 0) : op_bad_array(&o);
}

sn_acc sn_scanr1_at(sn_site at, sn_fn f, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanr1") ? scan(&o, f, NULL, a, IR_RIGHT) : op_bad_array(&o);
}

sn_acc sn_prescan_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "prescan") ? scan(&o, f, &z, a, IR_EXCLUSIVE) : op_bad_array(&o);
}

sn_acc sn_prescanr_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "prescanr") ? scan(&o, f, &z, a, IR_EXCLUSIVE | IR_RIGHT) : op_bad_array(&o);
}

sn_acc sn_postscan_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "postscan") ? scan(&o, f, &z, a, 0) : op_bad_array(&o);
}

sn_acc sn_postscanr_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "postscanr") ? scan(&o, f, &z, a, IR_RIGHT) : op_bad_array(&o);
}

/* --- n + 1 results --- */

/* The array with one more element a row, at the end that an exclusive scan comes to last, so that it takes part in
 * nothing. */
static ir_id lengthened(const op *o, const combination *c, bool right)
{
    ir_program *p = o->p;
    ir_id array = c->v->array, term[IR_MAX_COMPONENTS], index[IR_MAX_RANK], extent[IR_MAX_RANK], one = ir_i64(p, 1);
    unsigned rank = ir_info(p, array)->rank, last = rank - 1u;
    memcpy(extent, ir_info(p, array)->shape, rank * sizeof *extent);
    ir_fn *fn = embed_index_fn(o, rank);
    memcpy(index, fn->param, rank * sizeof *index);
    ir_id inside = right ? ir_op2(p, o->site, OP_GT, index[last], ir_i64(p, 0))
                         : ir_op2(p, o->site, OP_LT, index[last], extent[last]);
    if (right)
        index[last] = ir_op2(p, o->site, OP_SUB, index[last], one);
    for (uint32_t k = 0; k < c->v->tree->leaves; k++) {
        ir_id element = ir_read(p, o->site, array, k, IR_SAFE, rank, index);
        term[k] = ir_cond(p, o->site, inside, element, c->seed[k]);
    }
    extent[last] = ir_op2(p, o->site, OP_ADD, extent[last], one);
    fn = ir_fn_close(p, fn, c->v->tree->leaves, term);
    return fn ? ir_mark_step(p, ir_generate(p, o->site, rank, extent, fn)) : 0;
}

/* An array of rank 0 has no dimension to make longer. */
static bool has_rows(const op *o, const combination *c)
{
    return ir_info(o->p, c->v->array)->rank ||
           op_fail(o, "an array of rank 0 has no dimension to scan; it is a single value already");
}

static sn_acc whole_scan(const op *o, sn_fn f, sn_scalar z, sn_acc a, bool right)
{
    combination c;
    if (!embed_combination(o, f, &z, a, "", &c) || !has_rows(o, &c))
        return op_bad_array(o);
    ir_id from = lengthened(o, &c, right);
    unsigned flags = IR_EXCLUSIVE | (right ? IR_RIGHT : 0u);
    return op_give_array(o, c.v->tree, from ? ir_scan(o->p, o->site, c.fn, c.seed, from, flags) : 0);
}

sn_acc sn_scanl_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanl") ? whole_scan(&o, f, z, a, false) : op_bad_array(&o);
}

sn_acc sn_scanr_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanr") ? whole_scan(&o, f, z, a, true) : op_bad_array(&o);
}

/* --- n results, and the total --- */

static ir_id reversed(const op *o, ir_id array)
{
    const ir_array *from = ir_info(o->p, array);
    unsigned rank = from->rank;
    ir_fn *fn = embed_index_fn(o, rank);
    ir_id index[IR_MAX_RANK], extent[IR_MAX_RANK];
    memcpy(extent, from->shape, rank * sizeof *extent);
    memcpy(index, fn->param, rank * sizeof *index);
    ir_id last = ir_op2(o->p, o->site, OP_SUB, extent[rank - 1], ir_i64(o->p, 1));
    index[rank - 1] = ir_op2(o->p, o->site, OP_SUB, last, index[rank - 1]);
    fn = ir_fn_close(o->p, fn, rank, index);
    return fn ? ir_mark_step(o->p, ir_backpermute(o->p, o->site, rank, extent, fn, array, IR_SAFE)) : 0;
}

/* The operator with its operands exchanged. */
static ir_fn *exchanged(const op *o, const ir_fn *f)
{
    uint32_t n = f->results;
    ir_type type[2 * IR_MAX_COMPONENTS] = {T_NONE};
    ir_id operand[2 * IR_MAX_COMPONENTS], result[IR_MAX_COMPONENTS];
    for (uint32_t k = 0; k < 2 * n; k++)
        type[k] = (ir_type)ir_at(o->p, f->param[k])->type;
    ir_fn *fn = ir_fn_new(o->p, 2 * n, type);
    for (uint32_t k = 0; k < 2 * n; k++)
        operand[k] = fn->param[k < n ? n + k : k - n];
    ir_instantiate(o->p, f, operand, result);
    return ir_fn_close(o->p, fn, n, result);
}

/* A fold takes its initial value on the left: from the right end it is a fold of the reversed rows. */
static ir_id total_of(const op *o, const combination *c, bool right)
{
    bool commutes = c->commutes || ir_commutes(o->p, c->fn);
    unsigned flags = c->commutes ? IR_COMMUTES : 0;
    ir_id array = c->v->array;
    ir_fn *fn = c->fn;
    if (right && !commutes) {
        array = reversed(o, array);
        fn = exchanged(o, fn);
    }
    return array && fn ? ir_fold(o->p, o->site, fn, c->seed, array, flags) : 0;
}

static sn_acc scan_with_total(const op *o, sn_fn f, sn_scalar z, sn_acc a, sn_acc *total, bool right)
{
    combination c;
    if (!embed_combination(o, f, &z, a, "", &c) || !has_rows(o, &c))
        return op_bad_array(o);
    if (total)
        *total = op_give_array(o, c.v->tree, total_of(o, &c, right));
    unsigned flags = IR_EXCLUSIVE | (right ? IR_RIGHT : 0u);
    return op_give_array(o, c.v->tree, ir_scan(o->p, o->site, c.fn, c.seed, c.v->array, flags));
}

sn_acc sn_scanl_x_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a, sn_acc *total)
{
    op o;
    bool started = op_start_array(&o, at, "scanl_x");
    if (total)
        *total = op_bad_array(&o);
    return started ? scan_with_total(&o, f, z, a, total, false) : op_bad_array(&o);
}

sn_acc sn_scanr_x_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a, sn_acc *total)
{
    op o;
    bool started = op_start_array(&o, at, "scanr_x");
    if (total)
        *total = op_bad_array(&o);
    return started ? scan_with_total(&o, f, z, a, total, true) : op_bad_array(&o);
}
