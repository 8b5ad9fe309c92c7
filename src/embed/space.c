/* Array operations on index space: the elements stay, their places change. */
#include "embed/value.h"

sn_acc sn_backpermute_at(sn_site at, sn_scalar shape, sn_fn f, sn_acc a)
{
    op o;
    unsigned rank;
    ir_id extent[IR_MAX_RANK];
    if (!op_start_array(&o, at, "backpermute"))
        return op_bad_array(&o);
    const value *v = op_take_array(&o, a);
    if (!op_take_shape(&o, shape, &rank, extent) || !v)
        return op_bad_array(&o);
    ir_fn *fn = embed_index_lambda(&o, f, rank, ir_info(o.p, v->array)->rank);
    return op_give_array(&o, v->tree, fn ? ir_backpermute(o.p, o.site, rank, extent, fn, v->array, 0) : 0);
}

/* map over the indices, each reads an element of a */
sn_acc sn_gather_at(sn_site at, sn_acc index, sn_acc a)
{
    op o;
    if (!op_start_array(&o, at, "gather"))
        return op_bad_array(&o);
    const value *where = op_take_array(&o, index), *from = op_take_array(&o, a);
    if (!where || !from)
        return op_bad_array(&o);
    unsigned rank = ir_info(o.p, from->array)->rank;
    ir_fn *fn = ir_fn_new(o.p, where->tree->leaves, value_types(&o, where));
    value element = {.kind = VALUE_SCALAR, .tree = where->tree, .term = fn->param};
    id_list at_index = {0};
    if (element.tree->leaves != rank) {
        op_fail(&o, "%s holds no indices into %s, which has rank %u; its elements are an integer for each dimension",
                value_text(&o, where), value_text(&o, from), rank);
        return op_bad_array(&o);
    }
    if (!op_index_leaves(&o, &element, "an index", &at_index))
        return op_bad_array(&o);
    ir_id term[IR_MAX_COMPONENTS];
    for (uint32_t c = 0; c < from->tree->leaves; c++)
        term[c] = ir_read(o.p, o.site, from->array, c, 0, rank, at_index.at);
    fn = ir_fn_close(o.p, fn, from->tree->leaves, term);
    return op_give_array(&o, from->tree, fn ? ir_map(o.p, o.site, 1, &where->array, fn, 0) : 0);
}

/* --- replicate and slice: dimensions, some of them SN_ALL --- */

typedef struct dimensions {
    unsigned n, whole;     /* all; those that are SN_ALL */
    ir_id at[IR_MAX_RANK]; /* 0: SN_ALL */
} dimensions;

static bool take_dimensions(const op *o, int n, const sn_scalar *x, const char *what, dimensions *out)
{
    *out = (dimensions){0};
    if (!op_check_list(o, n, x, "dimensions"))
        return false;
    for (int i = 0; i < n; i++) {
        id_list one = {0};
        bool all = x[i].bits == UINT64_MAX;
        if (!all && !op_take_indices(o, 1, &x[i], what, &one))
            return false;
        for (uint32_t k = 0; k < (all ? 1 : one.n); k++) {
            if (out->n == IR_MAX_RANK)
                return op_fail(o, "more than %d dimensions; that many are possible", IR_MAX_RANK);
            out->at[out->n++] = all ? 0 : one.at[k];
            out->whole += all;
        }
    }
    return true;
}

sn_acc sn_replicate_at(sn_site at, sn_acc a, int rank, const sn_scalar *dimension)
{
    op o;
    dimensions d;
    ir_id extent[IR_MAX_RANK], source[IR_MAX_RANK];
    if (!op_start_array(&o, at, "replicate"))
        return op_bad_array(&o);
    const value *v = op_take_array(&o, a);
    if (!take_dimensions(&o, rank, dimension, "an extent", &d) || !v)
        return op_bad_array(&o);
    const ir_array *from = ir_info(o.p, v->array);
    if (d.whole != from->rank) {
        op_fail(&o, "SN_ALL stands for %u dimensions, but %s has %u; write it once for each", d.whole,
                value_text(&o, v), (unsigned)from->rank);
        return op_bad_array(&o);
    }
    ir_fn *fn = embed_index_fn(&o, d.n);
    for (unsigned i = 0, next = 0; i < d.n; i++) {
        extent[i] = d.at[i] ? d.at[i] : from->shape[next];
        if (!d.at[i])
            source[next++] = fn->param[i];
        else if (!op_check_extent(&o, d.at[i]))
            return op_bad_array(&o);
    }
    fn = ir_fn_close(o.p, fn, from->rank, source);
    return op_give_array(&o, v->tree, fn ? ir_backpermute(o.p, o.site, d.n, extent, fn, v->array, IR_SAFE) : 0);
}

/* Is this index known to be inside the extent? */
static bool surely_inside(const op *o, ir_id index, ir_id extent)
{
    int64_t i, n;
    return ir_extent_constant(o->p, index, &i) && ir_extent_constant(o->p, extent, &n) && i >= 0 && i < n;
}

sn_acc sn_slice_at(sn_site at, sn_acc a, int rank, const sn_scalar *dimension)
{
    op o;
    dimensions d;
    ir_id extent[IR_MAX_RANK], source[IR_MAX_RANK];
    if (!op_start_array(&o, at, "slice"))
        return op_bad_array(&o);
    const value *v = op_take_array(&o, a);
    if (!take_dimensions(&o, rank, dimension, "an index", &d) || !v)
        return op_bad_array(&o);
    const ir_array *from = ir_info(o.p, v->array);
    if (d.n != from->rank) {
        op_fail(&o, "%u indices for %s, which has rank %u; write an index or SN_ALL for each dimension", d.n,
                value_text(&o, v), (unsigned)from->rank);
        return op_bad_array(&o);
    }
    ir_fn *fn = embed_index_fn(&o, d.whole);
    bool safe = true;
    for (unsigned i = 0, next = 0; i < d.n; i++) {
        if (d.at[i]) {
            source[i] = d.at[i];
            safe &= surely_inside(&o, d.at[i], from->shape[i]);
            continue;
        }
        extent[next] = from->shape[i];
        source[i] = fn->param[next++];
    }
    fn = ir_fn_close(o.p, fn, d.n, source);
    ir_id id = fn ? ir_backpermute(o.p, o.site, d.whole, extent, fn, v->array, safe ? IR_SAFE : 0) : 0;
    return op_give_array(&o, v->tree, id);
}

/* --- other shapes --- */

sn_acc sn_reshape_at(sn_site at, sn_scalar shape, sn_acc a)
{
    op o;
    unsigned rank;
    ir_id extent[IR_MAX_RANK];
    if (!op_start_array(&o, at, "reshape"))
        return op_bad_array(&o);
    const value *v = op_take_array(&o, a);
    if (!op_take_shape(&o, shape, &rank, extent) || !v)
        return op_bad_array(&o);
    return op_give_array(&o, v->tree, ir_reshape(o.p, o.site, rank, extent, v->array));
}

ir_id embed_flatten(const op *o, ir_id array)
{
    if (ir_info(o->p, array)->rank == 1)
        return array;
    ir_id size = ir_size(o->p, array);
    return size ? ir_reshape(o->p, o->site, 1, &size, array) : 0;
}

sn_acc sn_flatten_at(sn_site at, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "flatten") ? op_take_array(&o, a) : NULL;
    return v ? op_give_array(&o, v->tree, embed_flatten(&o, v->array)) : op_bad_array(&o);
}

static sn_acc same_elements(const op *o, const value *v, const ir_id *extent, ir_fn *fn, const ir_id *source)
{
    unsigned rank = ir_info(o->p, v->array)->rank;
    fn = ir_fn_close(o->p, fn, rank, source);
    return op_give_array(o, v->tree, fn ? ir_backpermute(o->p, o->site, rank, extent, fn, v->array, IR_SAFE) : 0);
}

sn_acc sn_transpose_at(sn_site at, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "transpose") ? op_take_array(&o, a) : NULL;
    if (!v)
        return op_bad_array(&o);
    const ir_array *from = ir_info(o.p, v->array);
    unsigned rank = from->rank;
    if (rank < 2) {
        op_fail(&o, "%s has not two dimensions to exchange; an array of rank 2 or more has", value_text(&o, v));
        return op_bad_array(&o);
    }
    ir_fn *fn = embed_index_fn(&o, rank);
    ir_id extent[IR_MAX_RANK], source[IR_MAX_RANK];
    for (unsigned d = 0; d < rank; d++) {
        unsigned other = d == rank - 1 ? d - 1 : d == rank - 2 ? d + 1 : d;
        extent[d] = from->shape[other];
        source[d] = fn->param[other];
    }
    return same_elements(&o, v, extent, fn, source);
}

sn_acc sn_reverse_at(sn_site at, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "reverse") ? op_take_array(&o, a) : NULL;
    if (!v)
        return op_bad_array(&o);
    const ir_array *from = ir_info(o.p, v->array);
    unsigned rank = from->rank;
    if (rank == 0) {
        op_fail(&o, "%s has no dimension to reverse; an array of rank 1 or more has", value_text(&o, v));
        return op_bad_array(&o);
    }
    ir_fn *fn = embed_index_fn(&o, rank);
    ir_id source[IR_MAX_RANK], extent[IR_MAX_RANK];
    for (unsigned d = 0; d < rank; d++) {
        source[d] = fn->param[d];
        extent[d] = from->shape[d];
    }
    ir_id last = ir_op2(o.p, o.site, OP_SUB, extent[rank - 1], ir_i64(o.p, 1));
    source[rank - 1] = ir_op2(o.p, o.site, OP_SUB, last, source[rank - 1]);
    return same_elements(&o, v, extent, fn, source);
}
