/* What scalar code may ask of arrays: elements, extents, sizes. */
#include "embed/value.h"

static sn_scalar read_element(const op *o, const value *a, unsigned flags, const id_list *index)
{
    ir_id term[IR_MAX_COMPONENTS];
    for (uint32_t c = 0; c < a->tree->leaves; c++)
        term[c] = ir_read(o->p, o->site, a->array, c, flags, index->n, index->at);
    return op_give_scalar(o, a->tree, term, NULL);
}

sn_scalar sn_index_at(sn_site at, sn_acc a, int count, const sn_scalar *index)
{
    op o;
    id_list list = {0};
    if (!op_start(&o, at, "index") || !op_check_list(&o, count, index, "indices"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    if (!op_take_indices(&o, (uint32_t)count, index, "an index", &list) || !v)
        return op_bad_scalar(&o);
    unsigned rank = ir_info(o.p, v->array)->rank;
    if (list.n != rank) {
        op_fail(&o, "%u indices into %s, which has rank %u; write one for each dimension, outermost first", list.n,
                value_text(&o, v), rank);
        return op_bad_scalar(&o);
    }
    return read_element(&o, v, 0, &list);
}

sn_scalar sn_linear_index_at(sn_site at, sn_acc a, sn_scalar i)
{
    op o;
    id_list list = {0};
    if (!op_start(&o, at, "linear_index"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    ir_id index = op_take_i64(&o, i, "the index");
    if (!v || !index)
        return op_bad_scalar(&o);
    vec_push(o.b->arena, &list, index);
    return read_element(&o, v, IR_LINEAR, &list);
}

sn_scalar sn_the_at(sn_site at, sn_acc a)
{
    op o;
    id_list none = {0};
    if (!op_start(&o, at, "the"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    if (!v)
        return op_bad_scalar(&o);
    if (ir_info(o.p, v->array)->rank) {
        op_fail(&o, "%s has not rank 0; sn_index reads an element of it", value_text(&o, v));
        return op_bad_scalar(&o);
    }
    return read_element(&o, v, IR_SAFE, &none);
}

sn_scalar sn_shape_at(sn_site at, int rank, const sn_scalar *extent)
{
    op o;
    id_list list = {0};
    if (!op_start(&o, at, "shape") || !op_check_list(&o, rank, extent, "extents") ||
        !op_take_indices(&o, (uint32_t)rank, extent, "an extent", &list))
        return op_bad_scalar(&o);
    return op_give_scalar(&o, tree_flat(o.b, list.n), list.at, NULL);
}

sn_scalar sn_shape_of_at(sn_site at, sn_acc a)
{
    op o;
    if (!op_start(&o, at, "shape_of"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    if (!v)
        return op_bad_scalar(&o);
    const ir_array *info = ir_info(o.p, v->array);
    return op_give_scalar(&o, tree_flat(o.b, info->rank), info->shape, NULL);
}

sn_scalar sn_extent_at(sn_site at, sn_acc a, int dimension)
{
    op o;
    if (!op_start(&o, at, "extent"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    if (!v)
        return op_bad_scalar(&o);
    if (dimension < 0 || dimension >= ir_info(o.p, v->array)->rank) {
        op_fail(&o, "%s has no dimension %d; the outermost is 0", value_text(&o, v), dimension);
        return op_bad_scalar(&o);
    }
    ir_id extent = ir_extent(o.p, v->array, (unsigned)dimension);
    return op_give_scalar(&o, tree_leaf(o.b), &extent, NULL);
}

sn_scalar sn_size_at(sn_site at, sn_acc a)
{
    op o;
    if (!op_start(&o, at, "size"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    if (!v)
        return op_bad_scalar(&o);
    ir_id size = ir_size(o.p, v->array);
    return op_give_scalar(&o, tree_leaf(o.b), &size, NULL);
}

/* --- arithmetic of shapes and indices --- */

/* Two shapes, or a shape and an index, of one rank; their components as i64. */
static bool take_two(const op *o, sn_scalar x, const char *x_is, sn_scalar y, const char *y_is, id_list *a, id_list *b)
{
    if (!op_take_indices(o, 1, &x, x_is, a) || !op_take_indices(o, 1, &y, y_is, b))
        return false;
    if (a->n != b->n)
        return op_fail(o, "%s has rank %u, %s rank %u; they need the same", x_is, a->n, y_is, b->n);
    return true;
}

sn_scalar sn_intersect_at(sn_site at, sn_scalar x, sn_scalar y)
{
    op o;
    id_list a = {0}, b = {0};
    if (!op_start(&o, at, "intersect") || !take_two(&o, x, "the first shape", y, "the second", &a, &b))
        return op_bad_scalar(&o);
    for (uint32_t d = 0; d < a.n; d++)
        a.at[d] = ir_op2(o.p, o.site, OP_MIN, a.at[d], b.at[d]);
    return op_give_scalar(&o, tree_flat(o.b, a.n), a.at, NULL);
}

sn_scalar sn_to_index_at(sn_site at, sn_scalar shape, sn_scalar index)
{
    op o;
    id_list extent = {0}, i = {0};
    if (!op_start(&o, at, "to_index") || !take_two(&o, shape, "the shape", index, "the index", &extent, &i))
        return op_bad_scalar(&o);
    ir_id sum = ir_i64(o.p, 0);
    for (uint32_t d = 0; d < i.n; d++)
        sum = d ? ir_op2(o.p, o.site, OP_ADD, ir_op2(o.p, o.site, OP_MUL, sum, extent.at[d]), i.at[d]) : i.at[d];
    return op_give_scalar(&o, tree_leaf(o.b), &sum, NULL);
}

sn_scalar sn_from_index_at(sn_site at, sn_scalar shape, sn_scalar position)
{
    op o;
    id_list extent = {0};
    if (!op_start(&o, at, "from_index") || !op_take_indices(&o, 1, &shape, "the shape", &extent))
        return op_bad_scalar(&o);
    ir_id rest = op_take_i64(&o, position, "the position"), index[IR_MAX_COMPONENTS];
    if (!rest)
        return op_bad_scalar(&o);
    for (uint32_t d = extent.n; d-- > 1;) {
        index[d] = ir_op2(o.p, o.site, OP_MOD, rest, extent.at[d]);
        rest = ir_op2(o.p, o.site, OP_DIV, rest, extent.at[d]);
    }
    index[0] = rest;
    return op_give_scalar(&o, tree_flat(o.b, extent.n), index, NULL);
}
