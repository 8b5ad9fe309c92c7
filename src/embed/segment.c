/* Segments: the innermost dimension of an array cut into pieces of any lengths. */
#include "embed/value.h"

/* --- descriptors --- */

/* The array of rank 1 of integers that a handle stands for, as i64; NULL, and reported, if it is something else. */
static const value *take_numbers(const op *o, sn_acc a, const char *what)
{
    const value *v = op_take_array(o, a);
    if (!v)
        return NULL;
    if (v->tree->leaf && ir_type_class(value_types(o, v)[0]) & CLASS_INT && ir_info(o->p, v->array)->rank == 1)
        return v;
    return op_fail(o, "%s are an array of rank 1 of integers, but this is %s", what, value_text(o, v));
}

/* One number more than there are segments: 0, and where each one ends. The length that is added behind the last one
 * takes part in nothing, as the scan is exclusive. */
static ir_id offsets_from_lengths(const op *o, ir_id lengths)
{
    ir_program *p = o->p;
    ir_type both[2] = {T_I64, T_I64};
    ir_id number = ir_extent(p, lengths, 0), zero = ir_i64(p, 0);
    ir_id extent = ir_op2(p, o->site, OP_ADD, number, ir_i64(p, 1));
    ir_fn *fn = embed_index_fn(o, 1);
    ir_id length = ir_read(p, o->site, lengths, 0, IR_SAFE, 1, fn->param);
    if (ir_info(p, lengths)->type[0] != T_I64)
        length = ir_convert(p, o->site, OP_CONVERT, T_I64, length);
    length = ir_cond(p, o->site, ir_op2(p, o->site, OP_LT, fn->param[0], number), length, zero);
    fn = ir_fn_close(p, fn, 1, &length);
    ir_id longer = fn ? ir_mark_step(p, ir_generate(p, o->site, 1, &extent, fn)) : 0;
    ir_fn *sum = ir_fn_new(p, 2, both);
    ir_id total = ir_op2(p, o->site, OP_ADD, sum->param[0], sum->param[1]);
    sum = ir_fn_close(p, sum, 1, &total);
    return longer && sum ? ir_mark_step(p, ir_scan(p, o->site, sum, &zero, longer, IR_EXCLUSIVE)) : 0;
}

/* Of u64, as i64? */
static bool is_from_wide(const ir_program *p, ir_id array)
{
    const ir_fn *fn = ir_at(p, array)->kind == IR_MAP ? ir_info(p, array)->fn : NULL;
    const ir_node *n = fn ? ir_at(p, fn->result[0]) : NULL;
    return n && n->kind == IR_OP && n->op == OP_CONVERT && ir_at(p, ir_args(p, fn->result[0])[0])->type == T_U64;
}

bool embed_take_segments(op *o, sn_acc lengths, segments *out)
{
    const value *v = take_numbers(o, lengths, "lengths of segments");
    if (!v)
        return false;
    out->offsets = (ir_id)map64_get(&o->b->offsets, v->array);
    if (!out->offsets)
        out->offsets = offsets_from_lengths(o, v->array);
    if (!out->offsets)
        return false;
    map64_put(o->b->arena, &o->b->offsets, v->array, out->offsets);
    out->number = ir_extent(o->p, v->array, 0);
    unsigned wide = value_types(o, v)[0] == T_U64      ? IR_WIDE_LENGTHS
                    : is_from_wide(o->p, out->offsets) ? IR_WIDE_OFFSETS
                                                       : 0;
    o->site = ir_site_wide(o->p, o->site, wide);
    return true;
}

sn_acc sn_segments_from_offsets_at(sn_site at, sn_acc offsets)
{
    op o;
    const value *v = op_start_array(&o, at, "segments_from_offsets") ? take_numbers(&o, offsets, "offsets") : NULL;
    ir_id from = v ? embed_converted(&o, v->array, T_I64) : 0;
    if (!from)
        return op_bad_array(&o);
    if (from != v->array)
        ir_fuse(o.p, from);
    ir_id number = ir_segments(o.p, from);
    ir_fn *fn = embed_index_fn(&o, 1);
    ir_id i = fn->param[0], next = ir_op2(o.p, o.site, OP_ADD, i, ir_i64(o.p, 1));
    ir_id length = ir_op2(o.p, o.site, OP_SUB, ir_read(o.p, o.site, from, 0, IR_SAFE, 1, &next),
                          ir_read(o.p, o.site, from, 0, IR_SAFE, 1, &i));
    fn = ir_fn_close(o.p, fn, 1, &length);
    ir_id lengths = fn ? ir_generate(o.p, o.site, 1, &number, fn) : 0;
    if (lengths)
        map64_put(o.b->arena, &o.b->offsets, lengths, from);
    return op_give_array(&o, tree_leaf(o.b), lengths);
}

ir_id embed_segment_of(const op *o, ir_id extent, ir_id offsets)
{
    uint64_t key = (uint64_t)extent << 32 | offsets;
    ir_id known = (ir_id)map64_get(&o->b->segment_of, key);
    if (known)
        return known;
    known = ir_mark_step(o->p, ir_segment_of(o->p, o->site, extent, offsets));
    if (known)
        map64_put(o->b->arena, &o->b->segment_of, key, known);
    return known;
}

/* --- folds --- */

static sn_acc fold(op *o, sn_fn f, const sn_scalar *z, sn_acc lengths, sn_acc a)
{
    combination c;
    segments s;
    bool good = embed_take_segments(o, lengths, &s);
    if (!embed_combination(o, f, z, a, "", &c) || !good)
        return op_bad_array(o);
    unsigned flags = c.commutes ? IR_COMMUTES : 0;
    return op_give_array(o, c.v->tree, ir_fold_seg(o->p, o->site, c.fn, c.seed, c.v->array, s.offsets, flags));
}

sn_acc sn_fold_seg_at(sn_site at, sn_fn f, sn_scalar z, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "fold_seg") ? fold(&o, f, &z, lengths, a) : op_bad_array(&o);
}

sn_acc sn_fold1_seg_at(sn_site at, sn_fn f, sn_acc lengths, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "fold1_seg") ? fold(&o, f, NULL, lengths, a) : op_bad_array(&o);
}

sn_acc sn_sum_seg_at(sn_site at, sn_acc lengths, sn_acc a)
{
    op o;
    segments s;
    bool good = op_start_array(&o, at, "sum_seg") && embed_take_segments(&o, lengths, &s);
    return good ? embed_accumulate(&o, OP_ADD, 0, a, s.offsets) : op_bad_array(&o);
}

sn_acc sn_count_seg_at(sn_site at, sn_acc lengths, sn_acc a)
{
    op o;
    segments s;
    bool good = op_start_array(&o, at, "count_seg") && embed_take_segments(&o, lengths, &s);
    return good ? embed_count(&o, a, s.offsets) : op_bad_array(&o);
}

sn_acc sn_minimum_seg_at(sn_site at, sn_acc lengths, sn_acc a)
{
    op o;
    segments s;
    bool good = op_start_array(&o, at, "minimum_seg") && embed_take_segments(&o, lengths, &s);
    return good ? embed_extreme(&o, OP_MIN, a, s.offsets) : op_bad_array(&o);
}

sn_acc sn_maximum_seg_at(sn_site at, sn_acc lengths, sn_acc a)
{
    op o;
    segments s;
    bool good = op_start_array(&o, at, "maximum_seg") && embed_take_segments(&o, lengths, &s);
    return good ? embed_extreme(&o, OP_MAX, a, s.offsets) : op_bad_array(&o);
}

/* --- arrays made from segments --- */

static ir_id take_extent(const op *o, sn_scalar n)
{
    ir_id extent = op_take_i64(o, n, "the number of elements");
    return extent && op_check_extent(o, extent) ? extent : 0;
}

/* Is there one element for each segment along the innermost dimension? */
static bool one_each(const op *o, const value *v, const segments *s)
{
    const ir_array *from = ir_info(o->p, v->array);
    uint32_t errors = o->p->error.n;
    if (!from->rank)
        return op_fail(o, "%s has no dimension for the segments; it has an element for each", value_text(o, v));
    ir_check_equal(o->p, o->site, from->shape[from->rank - 1], s->number,
                   arena_printf(o->b->arena, "%s: the numbers of elements and of segments differ", o->name));
    return o->p->error.n == errors;
}

sn_acc sn_replicate_seg_at(sn_site at, sn_scalar n, sn_acc lengths, sn_acc a)
{
    op o;
    segments s;
    ir_id term[IR_MAX_COMPONENTS], index[IR_MAX_RANK], shape[IR_MAX_RANK], of;
    if (!op_start_array(&o, at, "replicate_seg"))
        return op_bad_array(&o);
    ir_id extent = take_extent(&o, n);
    bool good = embed_take_segments(&o, lengths, &s);
    const value *v = op_take_array(&o, a);
    if (!extent || !good || !v || !one_each(&o, v, &s) || !(of = embed_segment_of(&o, extent, s.offsets)))
        return op_bad_array(&o);
    const ir_array *from = ir_info(o.p, v->array);
    unsigned last = from->rank - 1u;
    ir_fn *fn = last ? embed_index_fn(&o, from->rank) : ir_fn_new(o.p, 1, embed_i64_types());
    memcpy(index, fn->param, from->rank * sizeof *index);
    memcpy(shape, from->shape, from->rank * sizeof *shape);
    shape[last] = extent;
    if (last)
        index[last] = ir_read(o.p, o.site, of, 0, IR_SAFE, 1, &fn->param[last]);
    for (uint32_t k = 0; k < v->tree->leaves; k++)
        term[k] = ir_read(o.p, o.site, v->array, k, 0, from->rank, index);
    fn = ir_fn_close(o.p, fn, v->tree->leaves, term);
    if (!fn)
        return op_bad_array(&o);
    return op_give_array(&o, v->tree,
                         last ? ir_generate(o.p, o.site, from->rank, shape, fn) : ir_map(o.p, o.site, 1, &of, fn, 0));
}

/* The place of a position in its segment. */
static ir_id place_in(const op *o, const segments *s, ir_id position, ir_id segment)
{
    return ir_op2(o->p, o->site, OP_SUB, position, ir_read(o->p, o->site, s->offsets, 0, IR_SAFE, 1, &segment));
}

sn_acc sn_iota_seg_at(sn_site at, sn_scalar n, sn_acc lengths)
{
    op o;
    segments s;
    if (!op_start_array(&o, at, "iota_seg"))
        return op_bad_array(&o);
    ir_id extent = take_extent(&o, n);
    ir_id of = embed_take_segments(&o, lengths, &s) && extent ? embed_segment_of(&o, extent, s.offsets) : 0;
    if (!of)
        return op_bad_array(&o);
    ir_fn *fn = ir_fn_new(o.p, 2, embed_i64_types());
    ir_id place = place_in(&o, &s, fn->param[0], fn->param[1]);
    fn = ir_fn_close(o.p, fn, 1, &place);
    return op_give_array(&o, tree_leaf(o.b), fn ? ir_map(o.p, o.site, 1, &of, fn, IR_INDEXED) : 0);
}

/* An array of rank 1 of numbers, one for each segment. */
static const value *take_starts(const op *o, sn_acc a, const segments *s, const char *what)
{
    const value *v = op_take_array(o, a);
    if (!v)
        return NULL;
    if (!v->tree->leaf || !(ir_type_class(value_types(o, v)[0]) & CLASS_NUM) || ir_info(o->p, v->array)->rank != 1)
        return op_fail(o, "%s are an array of rank 1 of numbers, but this is %s", what, value_text(o, v));
    return one_each(o, v, s) ? v : NULL;
}

sn_acc sn_enum_from_step_n_seg_at(sn_site at, sn_scalar n, sn_acc lengths, sn_acc x, sn_acc step)
{
    op o;
    segments s;
    if (!op_start_array(&o, at, "enum_from_step_n_seg"))
        return op_bad_array(&o);
    ir_id extent = take_extent(&o, n);
    bool good = embed_take_segments(&o, lengths, &s) && extent;
    const value *first = good ? take_starts(&o, x, &s, "the first elements") : NULL;
    const value *by = good ? take_starts(&o, step, &s, "the steps") : NULL;
    ir_id of = first && by ? embed_segment_of(&o, extent, s.offsets) : 0;
    if (!of)
        return op_bad_array(&o);
    ir_type t = value_types(&o, first)[0];
    if (t != value_types(&o, by)[0]) {
        op_fail(&o, "the first elements are %s, the steps %s; convert one of them", value_text(&o, first),
                value_text(&o, by));
        return op_bad_array(&o);
    }
    ir_fn *fn = ir_fn_new(o.p, 2, embed_i64_types());
    ir_id segment = fn->param[1], place = place_in(&o, &s, fn->param[0], segment);
    ir_id steps = ir_op2(o.p, o.site, OP_MUL, t == T_I64 ? place : ir_convert(o.p, o.site, OP_CONVERT, t, place),
                         ir_read(o.p, o.site, by->array, 0, 0, 1, &segment));
    ir_id element = ir_op2(o.p, o.site, OP_ADD, ir_read(o.p, o.site, first->array, 0, 0, 1, &segment), steps);
    fn = ir_fn_close(o.p, fn, 1, &element);
    return op_give_array(&o, first->tree, fn ? ir_map(o.p, o.site, 1, &of, fn, IR_INDEXED) : 0);
}

/* --- segments of two arrays in turn --- */

typedef struct half { /* of what is appended */
    segments s;
    const value *v;
    const ir_array *from;
} half;

static bool take_half(op *o, sn_acc lengths, sn_acc a, half *out)
{
    bool good = embed_take_segments(o, lengths, &out->s);
    out->v = op_take_array(o, a);
    if (!good || !out->v)
        return false;
    out->from = ir_info(o->p, out->v->array);
    return out->from->rank ||
           op_fail(o, "%s has no dimension with segments; an array of rank 1 or more has", value_text(o, out->v));
}

static bool fit_together(const op *o, const half *a, const half *b)
{
    uint32_t errors = o->p->error.n;
    if (a->from->rank != b->from->rank || !tree_equal(a->v->tree, b->v->tree) ||
        memcmp(value_types(o, a->v), value_types(o, b->v), a->v->tree->leaves * sizeof(ir_type)))
        return op_fail(o, "the arrays are %s and %s; they need the same rank and elements", value_text(o, a->v),
                       value_text(o, b->v));
    for (unsigned d = 0; d + 1 < a->from->rank; d++)
        ir_check_equal(o->p, o->site, a->from->shape[d], b->from->shape[d],
                       arena_printf(o->b->arena, "%s: the operands' extents differ in dimension %u", o->name, d));
    ir_check_equal(o->p, o->site, a->s.number, b->s.number,
                   arena_printf(o->b->arena, "%s: the numbers of segments differ", o->name));
    return o->p->error.n == errors;
}

/* Where the segments begin that are made of one of each. */
static ir_id both_offsets(const op *o, const half *a, const half *b)
{
    ir_id extent = ir_extent(o->p, a->s.offsets, 0);
    ir_fn *fn = embed_index_fn(o, 1);
    ir_id sum = ir_op2(o->p, o->site, OP_ADD, ir_read(o->p, o->site, a->s.offsets, 0, IR_SAFE, 1, fn->param),
                       ir_read(o->p, o->site, b->s.offsets, 0, IR_SAFE, 1, fn->param));
    fn = ir_fn_close(o->p, fn, 1, &sum);
    ir_id both = fn ? ir_mark_step(o->p, ir_generate(o->p, o->site, 1, &extent, fn)) : 0;
    return both;
}

/* Elements of a segment from the array that has it first, then those of the other. */
static ir_id append(const op *o, const half *a, const half *b)
{
    ir_program *p = o->p;
    unsigned rank = a->from->rank, last = rank - 1;
    ir_id shape[IR_MAX_RANK], index[IR_MAX_RANK], other[IR_MAX_RANK], term[IR_MAX_COMPONENTS];
    memcpy(shape, a->from->shape, rank * sizeof *shape);
    shape[last] = ir_op2(p, o->site, OP_ADD, shape[last], b->from->shape[last]);
    ir_id offsets = both_offsets(o, a, b), of = offsets ? embed_segment_of(o, shape[last], offsets) : 0;
    if (!of)
        return 0;
    ir_fn *fn = embed_index_fn(o, rank);
    ir_id segment = ir_read(p, o->site, of, 0, IR_SAFE, 1, &fn->param[last]);
    ir_id next = ir_op2(p, o->site, OP_ADD, segment, ir_i64(p, 1));
    /* a's elements up to the segment's end stand before, and b's before it */
    ir_id in_b = ir_op2(p, o->site, OP_SUB, fn->param[last], ir_read(p, o->site, a->s.offsets, 0, IR_SAFE, 1, &next));
    ir_id in_a =
        ir_op2(p, o->site, OP_SUB, fn->param[last], ir_read(p, o->site, b->s.offsets, 0, IR_SAFE, 1, &segment));
    ir_id from_a = ir_op2(p, o->site, OP_LT, in_a, ir_read(p, o->site, a->s.offsets, 0, IR_SAFE, 1, &next));
    memcpy(index, fn->param, rank * sizeof *index);
    memcpy(other, fn->param, rank * sizeof *other);
    index[last] = in_a;
    other[last] = in_b;
    for (uint32_t k = 0; k < a->v->tree->leaves; k++)
        term[k] = ir_cond(p, o->site, from_a, ir_read(p, o->site, a->v->array, k, 0, rank, index),
                          ir_read(p, o->site, b->v->array, k, 0, rank, other));
    fn = ir_fn_close(p, fn, a->v->tree->leaves, term);
    return fn ? ir_generate(p, o->site, rank, shape, fn) : 0;
}

sn_acc sn_append_seg_at(sn_site at, sn_acc lengths_a, sn_acc a, sn_acc lengths_b, sn_acc b)
{
    op o;
    half first, second;
    if (!op_start_array(&o, at, "append_seg"))
        return op_bad_array(&o);
    bool good = take_half(&o, lengths_a, a, &first);
    good &= take_half(&o, lengths_b, b, &second);
    return good && fit_together(&o, &first, &second) ? op_give_array(&o, first.v->tree, append(&o, &first, &second))
                                                     : op_bad_array(&o);
}
