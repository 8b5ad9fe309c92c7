/* Scans that begin anew in each segment: scans of pairs (does a segment begin, or end, here; element) whose operator
 * forgets what stands on the other side of such a place. */
#include "embed/value.h"

typedef struct scanned { /* a segmented scan under way */
    const op *o;
    combination c;
    segments s;
    const ir_array *from;
    unsigned rank, last;
    uint32_t n; /* components */
    bool right;
    ir_id edge; /* of rank 1, bool: here the segment's first element is, or, from the right, its last */
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

/* Where segments begin, or, from the right, where they end. */
static ir_id find_edges(const scanned *x)
{
    ir_program *p = x->o->p;
    ir_id of = embed_segment_of(x->o, x->from->shape[x->last], x->s.offsets);
    if (!of)
        return 0;
    ir_fn *fn = ir_fn_new(p, 2, embed_i64_types());
    ir_id segment = x->right ? binary(x, OP_ADD, fn->param[1], ir_i64(p, 1)) : fn->param[1];
    ir_id place = x->right ? binary(x, OP_ADD, fn->param[0], ir_i64(p, 1)) : fn->param[0];
    ir_id edge = binary(x, OP_EQ, place, ir_read(p, x->o->site, x->s.offsets, 0, 0, 1, &segment));
    fn = ir_fn_close(p, fn, 1, &edge);
    return fn ? ir_mark_step(p, ir_map(p, x->o->site, 1, &of, fn, IR_INDEXED)) : 0;
}

static bool begin(scanned *x, const op *o, sn_fn f, const sn_scalar *z, sn_acc lengths, sn_acc a, bool right)
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
    x->edge = find_edges(x);
    return x->edge != 0;
}

/* The elements, each behind whether it stands at an edge. */
static ir_id with_edges(const scanned *x)
{
    ir_program *p = x->o->p;
    ir_type type[IR_MAX_RANK + IR_MAX_COMPONENTS];
    ir_id term[1 + IR_MAX_COMPONENTS], inputs[2] = {x->edge, x->c.v->array};
    uint32_t lead = x->last ? x->rank : 1;
    memcpy(type, embed_i64_types(), IR_MAX_RANK * sizeof *type);
    if (!x->last)
        type[0] = T_BOOL;
    memcpy(type + lead, x->from->type, x->n * sizeof *type);
    ir_fn *fn = ir_fn_new(p, lead + x->n, type);
    term[0] = x->last ? ir_read(p, x->o->site, x->edge, 0, IR_SAFE, 1, &fn->param[x->last]) : fn->param[0];
    memcpy(term + 1, fn->param + lead, x->n * sizeof *term);
    if (x->n == IR_MAX_COMPONENTS)
        return op_fail(x->o, "elements of %u components; one less is possible", x->n), 0;
    fn = ir_fn_close(p, fn, x->n + 1, term);
    if (!fn)
        return 0;
    return ir_mark_step(p, x->last ? ir_map(p, x->o->site, 1, inputs + 1, fn, IR_INDEXED)
                                   : ir_map(p, x->o->site, 2, inputs, fn, 0));
}

static ir_fn *lifted(const scanned *x)
{
    ir_program *p = x->o->p;
    uint32_t n = x->n, all = n + 1;
    ir_type type[2 * (IR_MAX_COMPONENTS + 1)];
    ir_id operand[2 * IR_MAX_COMPONENTS], both[IR_MAX_COMPONENTS], result[IR_MAX_COMPONENTS + 1];
    for (uint32_t side = 0; side < 2; side++) {
        type[side * all] = T_BOOL;
        memcpy(type + side * all + 1, x->from->type, n * sizeof *type);
    }
    ir_fn *fn = ir_fn_new(p, 2 * all, type);
    for (uint32_t k = 0; k < 2 * n; k++)
        operand[k] = fn->param[k < n ? k + 1 : k + 2];
    ir_instantiate(p, x->c.fn, operand, both);
    ir_id edge = x->right ? fn->param[0] : fn->param[all];
    result[0] = binary(x, OP_OR, fn->param[0], fn->param[all]);
    for (uint32_t k = 0; k < n; k++)
        result[k + 1] = ir_cond(p, x->o->site, edge, x->right ? operand[k] : operand[n + k], both[k]);
    return ir_fn_close(p, fn, all, result);
}

/* The pairs' scan; its first component is of no use any more. */
static ir_id scan(const scanned *x, bool exclusive)
{
    ir_program *p = x->o->p;
    ir_id pairs = with_edges(x), seed[IR_MAX_COMPONENTS + 1];
    ir_fn *fn = pairs ? lifted(x) : NULL;
    if (!fn)
        return 0;
    seed[0] = ir_bool(p, true);
    if (exclusive)
        memcpy(seed + 1, x->c.seed, x->n * sizeof *seed);
    unsigned flags = (exclusive ? IR_EXCLUSIVE : 0u) | (x->right ? IR_RIGHT : 0u);
    return ir_mark_step(p, ir_scan(p, x->o->site, fn, exclusive ? seed : NULL, pairs, flags));
}

/* z in front of a value, or, from the right, behind it. */
static void with_seed(const scanned *x, const ir_id *element, ir_id *out)
{
    ir_id operand[2 * IR_MAX_COMPONENTS];
    memcpy(operand, x->right ? element : x->c.seed, x->n * sizeof *operand);
    memcpy(operand + x->n, x->right ? x->c.seed : element, x->n * sizeof *operand);
    ir_instantiate(x->o->p, x->c.fn, operand, out);
}

/* What becomes of the elements of a scan of pairs. `seeded`: z is put before them; `exclusive`: those at an edge are z.
 */
static ir_id finished(const scanned *x, ir_id pairs, bool seeded, bool exclusive)
{
    ir_program *p = x->o->p;
    ir_type type[IR_MAX_RANK + IR_MAX_COMPONENTS + 1];
    ir_id out[IR_MAX_COMPONENTS], inputs[2] = {pairs, x->edge};
    if (!pairs)
        return 0;
    bool indexed = exclusive && x->last;
    uint32_t lead = indexed ? x->rank : 0, all = lead + x->n + 1 + (exclusive && !indexed);
    memcpy(type, embed_i64_types(), IR_MAX_RANK * sizeof *type);
    memcpy(type + lead, ir_info(p, pairs)->type, (x->n + 1) * sizeof *type);
    if (exclusive && !indexed)
        type[all - 1] = T_BOOL;
    ir_fn *fn = ir_fn_new(p, all, type);
    const ir_id *element = fn->param + lead + 1;
    memcpy(out, element, x->n * sizeof *out);
    if (seeded)
        with_seed(x, element, out);
    if (exclusive) {
        ir_id edge = indexed ? ir_read(p, x->o->site, x->edge, 0, IR_SAFE, 1, &fn->param[x->last]) : fn->param[all - 1];
        for (uint32_t k = 0; k < x->n; k++)
            out[k] = ir_cond(p, x->o->site, edge, x->c.seed[k], out[k]);
    }
    fn = ir_fn_close(p, fn, x->n, out);
    return fn ? ir_map(p, x->o->site, exclusive && !indexed ? 2 : 1, inputs, fn, indexed ? IR_INDEXED : 0) : 0;
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

static ir_id whole(const scanned *x)
{
    ir_program *p = x->o->p;
    ir_id scans = finished(x, scan(x, false), true, false), shape[IR_MAX_RANK], element[IR_MAX_COMPONENTS];
    ir_id later = scans ? longer_offsets(x) : 0;
    if (!later)
        return 0;
    ir_mark_step(p, scans);
    memcpy(shape, x->from->shape, x->rank * sizeof *shape);
    shape[x->last] = binary(x, OP_ADD, shape[x->last], x->s.number);
    ir_id of = embed_segment_of(x->o, shape[x->last], later);
    if (!of)
        return 0;
    ir_fn *fn = embed_index_fn(x->o, x->rank);
    ir_id at = fn->param[x->last], segment = ir_read(p, x->o->site, of, 0, IR_SAFE, 1, &at);
    ir_id next = binary(x, OP_ADD, segment, ir_i64(p, 1));
    ir_id end = x->right ? binary(x, OP_SUB, ir_read(p, x->o->site, later, 0, 0, 1, &next), ir_i64(p, 1))
                         : ir_read(p, x->o->site, later, 0, 0, 1, &segment);
    ir_id from = binary(x, OP_SUB, at, x->right ? segment : next), is_seed = binary(x, OP_EQ, at, end);
    for (uint32_t k = 0; k < x->n; k++)
        element[k] = ir_cond(p, x->o->site, is_seed, x->c.seed[k], read_at(x, scans, k, from, fn->param, 0));
    fn = ir_fn_close(p, fn, x->n, element);
    return fn ? ir_generate(p, x->o->site, x->rank, shape, fn) : 0;
}

static sn_acc scan_segments(const op *o, sn_fn f, const sn_scalar *z, sn_acc lengths, sn_acc a, form what, bool right)
{
    scanned x;
    if (!begin(&x, o, f, z, lengths, a, right))
        return op_bad_array(o);
    bool exclusive = what == EXCLUSIVE;
    return op_give_array(o, x.c.v->tree,
                         what == WHOLE ? whole(&x) : finished(&x, scan(&x, exclusive), what != INCLUSIVE, exclusive));
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

static sn_acc scan_with_total(const op *o, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a, sn_acc *total, bool right)
{
    scanned x;
    if (!begin(&x, o, f, &z, lengths, a, right))
        return op_bad_array(o);
    ir_id scans = finished(&x, scan(&x, true), true, true);
    unsigned flags = x.c.commutes ? IR_COMMUTES : 0;
    if (total && scans)
        *total = op_give_array(o, x.c.v->tree,
                               right ? total_from_right(&x, scans)
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
