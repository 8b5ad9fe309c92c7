/* Elements that are kept: filter, pack, partition. How many there are is an extent that the run tells. */
#include "embed/value.h"

/* Row by row, as all of these see their arrays. */
static ir_id flat(const op *o, ir_id array)
{
    ir_id row = embed_flatten(o, array);
    return row == array ? row : ir_mark_step(o->p, row);
}

/* Whether p holds for each element of the row that v became; 0 after a mistake. */
static ir_id tested(const op *o, sn_fn p, const value *v, ir_id row)
{
    const tree *one = tree_leaf(o->b);
    const ir_type type = T_BOOL;
    lambda made;
    if (!row || !embed_lambda(o, p, 1, &v->tree, value_types(o, v), one, &type, &made))
        return 0;
    return ir_mark_step(o->p, ir_map(o->p, o->site, 1, &row, made.fn, 0));
}

sn_acc sn_filter_at(sn_site at, sn_fn p, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "filter") ? op_take_array(&o, a) : NULL;
    ir_id row = v ? flat(&o, v->array) : 0, keep = v ? tested(&o, p, v, row) : 0;
    return keep ? op_give_array(&o, v->tree, ir_pack(o.p, o.site, keep, row)) : op_bad_array(&o);
}

static bool same_shape(const op *o, const value *tags, const value *v)
{
    const ir_array *a = ir_info(o->p, tags->array), *b = ir_info(o->p, v->array);
    uint32_t errors = o->p->error.n;
    if (!tags->tree->leaf || value_types(o, tags)[0] != T_BOOL)
        return op_fail(o, "what is kept is said by an array of bool, but this one is %s; sn_filter takes a function",
                       value_text(o, tags));
    if (a->rank != b->rank)
        return op_fail(o, "the tags, %s, and the array, %s, have different ranks; there is one tag for each element",
                       value_text(o, tags), value_text(o, v));
    for (unsigned d = 0; d < a->rank; d++)
        ir_check_equal(
            o->p, o->site, a->shape[d], b->shape[d],
            arena_printf(o->b->arena, "%s: the extents of tags and array differ in dimension %u", o->name, d));
    return o->p->error.n == errors;
}

sn_acc sn_pack_at(sn_site at, sn_acc tags, sn_acc a)
{
    op o;
    if (!op_start_array(&o, at, "pack"))
        return op_bad_array(&o);
    const value *t = op_take_array(&o, tags), *v = op_take_array(&o, a);
    if (!t || !v || !same_shape(&o, t, v))
        return op_bad_array(&o);
    return op_give_array(&o, v->tree, ir_pack(o.p, o.site, flat(&o, t->array), flat(&o, v->array)));
}

static ir_id negated(const op *o, ir_id keep)
{
    const ir_type type = T_BOOL;
    ir_fn *fn = ir_fn_new(o->p, 1, &type);
    ir_id not = ir_op1(o->p, o->site, OP_NOT, fn->param[0]);
    fn = ir_fn_close(o->p, fn, 1, &not );
    return fn ? ir_mark_step(o->p, ir_map(o->p, o->site, 1, &keep, fn, 0)) : 0;
}

/* The elements of one array, then those of the other: as many as `row` has. */
static ir_id joined(const op *o, ir_id row, ir_id first, ir_id second)
{
    ir_program *p = o->p;
    ir_id n = ir_extent(p, row, 0), count = ir_extent(p, first, 0), term[IR_MAX_COMPONENTS];
    uint32_t components = ir_info(p, row)->components;
    ir_fn *fn = embed_index_fn(o, 1);
    ir_id i = fn->param[0], behind = ir_op2(p, o->site, OP_SUB, i, count), inside = ir_op2(p, o->site, OP_LT, i, count);
    for (uint32_t k = 0; k < components; k++)
        term[k] = ir_cond(p, o->site, inside, ir_read(p, o->site, first, k, IR_SAFE, 1, &i),
                          ir_read(p, o->site, second, k, IR_SAFE, 1, &behind));
    fn = ir_fn_close(p, fn, components, term);
    return fn ? ir_generate(p, o->site, 1, &n, fn) : 0;
}

/* The array of rank 0 that a pack's extent reads. */
static sn_acc count_of(const op *o, ir_id pack)
{
    ir_id count = ir_at(o->p, ir_extent(o->p, pack, 0))->array;
    o->p->node.at[count].flags &= (uint8_t)~IR_STEP; /* it is shown to the user */
    return op_give_array(o, tree_leaf(o->b), count);
}

static sn_acc partition(const op *o, sn_fn p, const value *v, sn_acc *count)
{
    ir_id row = flat(o, v->array), keep = tested(o, p, v, row), others = keep ? negated(o, keep) : 0;
    ir_id first = ir_mark_step(o->p, ir_pack(o->p, o->site, keep, row));
    ir_id second = ir_mark_step(o->p, ir_pack(o->p, o->site, others, row));
    if (!first || !second)
        return op_bad_array(o);
    if (count)
        *count = count_of(o, first);
    return op_give_array(o, v->tree, joined(o, row, first, second));
}

sn_acc sn_partition_at(sn_site at, sn_fn p, sn_acc a, sn_acc *count)
{
    op o;
    bool started = op_start_array(&o, at, "partition");
    const value *v = started ? op_take_array(&o, a) : NULL;
    if (count)
        *count = op_bad_array(&o);
    return v ? partition(&o, p, v, count) : op_bad_array(&o);
}
