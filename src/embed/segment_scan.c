/* Scans that begin anew in each segment. */
#include "embed/value.h"

typedef struct scanned { /* a segmented scan under way */
    const op *o;
    combination c;
    segments s;
    const ir_array *from;
    unsigned rank, last;
    uint32_t n; /* components */
    bool right;
} scanned;

static ir_id binary(const scanned *x, ir_op which, ir_id a, ir_id b)
{
    return ir_op2(x->o->p, x->o->site, which, a, b);
}

static ir_id read_at(const scanned *x, ir_id array, uint32_t component, ir_id last, const ir_id *index, unsigned flags)
{
    ir_id full[IR_MAX_RANK];
    unsigned rank = ir_info(x->o->p, array)->rank;
    memcpy(full, index, rank * sizeof *full);
    full[rank - 1] = last;
    return ir_read(x->o->p, x->o->site, array, component, flags, rank, full);
}

static bool begin(scanned *x, op *o, sn_fn f, const sn_scalar *z, sn_acc lengths, sn_acc a, bool right)
{
    *x = (scanned){.o = o, .right = right};
    bool good = embed_take_segments(o, lengths, &x->s);
    if (!embed_combination(o, f, z, a, "", &x->c) || !good)
        return false;
    x->from = ir_info(o->p, x->c.v->array);
    if (!x->from->rank)
        return op_fail(o, "an array of rank 0 has no dimension with segments; it is a single value already");
    x->rank = x->from->rank;
    x->last = x->rank - 1;
    x->n = x->c.v->tree->leaves;
    return true;
}

typedef enum { INCLUSIVE, BEHIND_SEED, EXCLUSIVE, WHOLE } form;

/* --- n + 1 results a segment --- */

/* Segment s of the result begins s places later. */
static ir_id longer_offsets(const scanned *x)
{
    ir_program *p = x->o->p;
    ir_id extent = ir_extent(p, x->s.offsets, 0);
    ir_fn *fn = embed_index_fn(x->o, 1);
    ir_id later = binary(x, OP_ADD, ir_read(p, x->o->site, x->s.offsets, 0, IR_SAFE, 1, fn->param), fn->param[0]);
    fn = ir_fn_close(p, fn, 1, &later);
    return fn ? ir_mark_step(p, ir_generate(p, x->o->site, 1, &extent, fn)) : 0;
}

/* The array with one more element a segment, at the end that an exclusive scan comes to last, so that it takes part in
 * nothing. */
static ir_id lengthened(const scanned *x, ir_id later)
{
    ir_program *p = x->o->p;
    ir_id shape[IR_MAX_RANK], element[IR_MAX_COMPONENTS];
    memcpy(shape, x->from->shape, x->rank * sizeof *shape);
    shape[x->last] = binary(x, OP_ADD, shape[x->last], x->s.number);
    ir_id of = embed_segment_of(x->o, shape[x->last], later);
    if (!of)
        return 0;
    ir_fn *fn = x->last ? embed_index_fn(x->o, x->rank) : ir_fn_new(p, 2, embed_i64_types());
    ir_id at = fn->param[x->last];
    ir_id segment = x->last ? ir_read(p, x->o->site, of, 0, IR_SAFE, 1, &at) : fn->param[1];
    ir_id next = binary(x, OP_ADD, segment, ir_i64(p, 1));
    ir_id end = x->right ? ir_read(p, x->o->site, later, 0, 0, 1, &segment)
                         : binary(x, OP_SUB, ir_read(p, x->o->site, later, 0, 0, 1, &next), ir_i64(p, 1));
    ir_id from = binary(x, OP_SUB, at, x->right ? next : segment), is_more = binary(x, OP_EQ, at, end);
    for (uint32_t k = 0; k < x->n; k++)
        element[k] = ir_cond(p, x->o->site, is_more, x->c.seed[k], read_at(x, x->c.v->array, k, from, fn->param, 0));
    fn = ir_fn_close(p, fn, x->n, element);
    if (!fn)
        return 0;
    return ir_mark_step(p, x->last ? ir_generate(p, x->o->site, x->rank, shape, fn)
                                   : ir_map(p, x->o->site, 1, &of, fn, IR_INDEXED));
}

static ir_id scan(const scanned *x, form what)
{
    ir_id from = x->c.v->array, offsets = x->s.offsets;
    unsigned flags = (what == EXCLUSIVE || what == WHOLE ? IR_EXCLUSIVE : 0u) | (x->right ? IR_RIGHT : 0u);
    if (what == WHOLE) {
        offsets = longer_offsets(x);
        from = offsets ? lengthened(x, offsets) : 0;
    }
    const ir_id *seed = what == INCLUSIVE ? NULL : x->c.seed;
    return from ? ir_scan_seg(x->o->p, x->o->site, x->c.fn, seed, from, offsets, flags) : 0;
}

static sn_acc scan_segments(op *o, sn_fn f, const sn_scalar *z, sn_acc lengths, sn_acc a, form what, bool right)
{
    scanned x;
    return begin(&x, o, f, z, lengths, a, right) ? op_give_array(o, x.c.v->tree, scan(&x, what)) : op_bad_array(o);
}

sn_acc sn_scanl1_seg_at(sn_site at, sn_fn f, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanl1_seg") ? scan_segments(&o, f, NULL, lengths, a, INCLUSIVE, false)
                                                : op_bad_array(&o);
}

sn_acc sn_scanr1_seg_at(sn_site at, sn_fn f, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanr1_seg") ? scan_segments(&o, f, NULL, lengths, a, INCLUSIVE, true)
                                                : op_bad_array(&o);
}

sn_acc sn_postscan_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "postscan_seg") ? scan_segments(&o, f, &z, lengths, a, BEHIND_SEED, false)
                                                  : op_bad_array(&o);
}

sn_acc sn_postscanr_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "postscanr_seg") ? scan_segments(&o, f, &z, lengths, a, BEHIND_SEED, true)
                                                   : op_bad_array(&o);
}

sn_acc sn_prescan_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "prescan_seg") ? scan_segments(&o, f, &z, lengths, a, EXCLUSIVE, false)
                                                 : op_bad_array(&o);
}

sn_acc sn_prescanr_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "prescanr_seg") ? scan_segments(&o, f, &z, lengths, a, EXCLUSIVE, true)
                                                  : op_bad_array(&o);
}

sn_acc sn_scanl_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanl_seg") ? scan_segments(&o, f, &z, lengths, a, WHOLE, false) : op_bad_array(&o);
}

sn_acc sn_scanr_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "scanr_seg") ? scan_segments(&o, f, &z, lengths, a, WHOLE, true) : op_bad_array(&o);
}

/* --- n results, and the totals --- */

/* From the right a segment's total is its first element combined with what the scan has there: those behind it, and z.
 */
static ir_id total_from_right(const scanned *x, ir_id scans)
{
    ir_program *p = x->o->p;
    ir_id shape[IR_MAX_RANK], operand[2 * IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
    memcpy(shape, x->from->shape, x->rank * sizeof *shape);
    shape[x->last] = x->s.number;
    ir_fn *fn = embed_index_fn(x->o, x->rank);
    ir_id segment = fn->param[x->last], next = binary(x, OP_ADD, segment, ir_i64(p, 1));
    ir_id begin = ir_read(p, x->o->site, x->s.offsets, 0, IR_SAFE, 1, &segment);
    ir_id end = ir_read(p, x->o->site, x->s.offsets, 0, IR_SAFE, 1, &next);
    for (uint32_t k = 0; k < x->n; k++) {
        operand[k] = read_at(x, x->c.v->array, k, begin, fn->param, 0);
        operand[x->n + k] = read_at(x, scans, k, begin, fn->param, 0);
    }
    ir_instantiate(p, x->c.fn, operand, out);
    for (uint32_t k = 0; k < x->n; k++)
        out[k] = ir_cond(p, x->o->site, binary(x, OP_LT, begin, end), out[k], x->c.seed[k]);
    fn = ir_fn_close(p, fn, x->n, out);
    return fn ? ir_generate(p, x->o->site, x->rank, shape, fn) : 0;
}

static sn_acc scan_with_total(op *o, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a, sn_acc *total, bool right)
{
    scanned x;
    if (!begin(&x, o, f, &z, lengths, a, right))
        return op_bad_array(o);
    ir_id scans = scan(&x, EXCLUSIVE);
    unsigned flags = x.c.commutes ? IR_COMMUTES : 0;
    bool reversed = right && !x.c.commutes && !ir_commutes(o->p, x.c.fn);
    if (total && scans)
        *total =
            op_give_array(o, x.c.v->tree,
                          reversed ? total_from_right(&x, scans)
                                   : ir_fold_seg(o->p, o->site, x.c.fn, x.c.seed, x.c.v->array, x.s.offsets, flags));
    return op_give_array(o, x.c.v->tree, scans);
}

sn_acc sn_scanl_x_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a, sn_acc *total)
{
    op o;
    bool started = op_start_array(&o, at, "scanl_x_seg");
    if (total)
        *total = op_bad_array(&o);
    return started ? scan_with_total(&o, f, z, lengths, a, total, false) : op_bad_array(&o);
}

sn_acc sn_scanr_x_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a, sn_acc *total)
{
    op o;
    bool started = op_start_array(&o, at, "scanr_x_seg");
    if (total)
        *total = op_bad_array(&o);
    return started ? scan_with_total(&o, f, z, lengths, a, total, true) : op_bad_array(&o);
}
