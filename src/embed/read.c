/* What scalar code may ask of arrays: elements, extents, sizes. */
#include "embed/value.h"

static sn_exp read_element(const op *o, const value *a, unsigned flags, const id_list *index)
{
    ir_id term[IR_MAX_COMPONENTS];
    for (uint32_t c = 0; c < a->tree->leaves; c++)
        term[c] = ir_read(o->p, o->site, a->array, c, flags, index->n, index->at);
    return op_give_scalar(o, a->tree, term, NULL);
}

sn_exp sn_index_at(sn_site at, sn_acc a, int count, const sn_exp *index)
{
    op o;
    id_list list = {0};
    if (!op_start(&o, at, "index"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    if (!op_take_indices(&o, (uint32_t)count, index, "an index", &list) || !v)
        return op_bad_scalar(&o);
    unsigned rank = ir_info(o.p, v->array)->rank;
    if (list.n != rank) {
        op_fail(&o, "%u indices into %s, which has rank %u", list.n, value_text(&o, v), rank);
        return op_bad_scalar(&o);
    }
    return read_element(&o, v, 0, &list);
}

sn_exp sn_linear_index_at(sn_site at, sn_acc a, sn_exp i)
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

sn_exp sn_the_at(sn_site at, sn_acc a)
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

sn_exp sn_shape_at(sn_site at, int rank, const sn_exp *extent)
{
    op o;
    id_list list = {0};
    if (!op_start(&o, at, "shape") || !op_take_indices(&o, (uint32_t)rank, extent, "an extent", &list))
        return op_bad_scalar(&o);
    return op_give_scalar(&o, tree_flat(o.b, list.n), list.at, NULL);
}

sn_exp sn_shape_of_at(sn_site at, sn_acc a)
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

sn_exp sn_extent_at(sn_site at, sn_acc a, int dimension)
{
    op o;
    if (!op_start(&o, at, "extent"))
        return op_bad_scalar(&o);
    const value *v = op_take_array(&o, a);
    if (!v)
        return op_bad_scalar(&o);
    if (dimension < 0 || dimension >= ir_info(o.p, v->array)->rank) {
        op_fail(&o, "%s has no dimension %d", value_text(&o, v), dimension);
        return op_bad_scalar(&o);
    }
    ir_id extent = ir_extent(o.p, v->array, (unsigned)dimension);
    return op_give_scalar(&o, tree_leaf(o.b), &extent, NULL);
}

sn_exp sn_size_at(sn_site at, sn_acc a)
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
