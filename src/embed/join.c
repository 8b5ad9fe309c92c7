/* Arrays made of several, and several made of one: append, concat, interleave, split, combine. What is joined is an
 * array that chooses among its parts by its index, so it is computed where it is used, and its parts with it. */
#include "embed/value.h"

static ir_id binary(const op *o, ir_op which, ir_id a, ir_id b)
{
    return ir_op2(o->p, o->site, which, a, b);
}

/* A dimension of an array that the user gives, outermost first; `rank` itself after a mistake. */
static unsigned take_dimension(const op *o, int dimension, const value *v)
{
    unsigned rank = ir_info(o->p, v->array)->rank;
    if (dimension >= 0 && (unsigned)dimension < rank)
        return (unsigned)dimension;
    if (rank)
        op_fail(o, "there is no dimension %d of %s; its dimensions are 0 to %u, outermost first", dimension,
                value_text(o, v), rank - 1);
    else
        op_fail(o, "%s has no dimension to join or to split along; an array of rank 1 or more has", value_text(o, v));
    return rank;
}

static unsigned last_dimension(const op *o, const value *v)
{
    return take_dimension(o, (int)ir_info(o->p, v->array)->rank - 1, v);
}

/* Are both of one type and rank, and of the same extents but along `free`? These are compared by the call. */
static bool fit(const op *o, const value *a, const value *b, unsigned free)
{
    const ir_array *x = ir_info(o->p, a->array), *y = ir_info(o->p, b->array);
    uint32_t errors = o->p->error.n;
    if (!tree_equal(a->tree, b->tree) || memcmp(x->type, y->type, x->components * sizeof *x->type) != 0)
        return op_fail(o, "%s and %s have elements of different types; what is joined has one type, sn_to converts",
                       value_text(o, a), value_text(o, b));
    if (x->rank != y->rank)
        return op_fail(o, "the ranks of %s and %s differ; sn_replicate adds dimensions, sn_slice takes them away",
                       value_text(o, a), value_text(o, b));
    for (unsigned d = 0; d < x->rank; d++)
        if (d != free)
            ir_check_equal(
                o->p, o->site, x->shape[d], y->shape[d],
                arena_printf(o->b->arena, "%s: the extents of the arrays differ in dimension %u", o->name, d));
    return o->p->error.n == errors;
}

/* --- one behind the other --- */

/* `first`, and behind it along a dimension `second`. */
static ir_id appended(const op *o, ir_id first, ir_id second, unsigned along)
{
    ir_program *p = o->p;
    const ir_array *a = ir_info(p, first);
    ir_id shape[IR_MAX_RANK], index[IR_MAX_RANK], term[IR_MAX_COMPONENTS], count = a->shape[along];
    const unsigned rank = a->rank;
    const uint32_t components = a->components;
    memcpy(shape, a->shape, rank * sizeof *shape);
    shape[along] = binary(o, OP_ADD, count, ir_extent(p, second, along));
    ir_fn *fn = embed_index_fn(o, rank);
    memcpy(index, fn->param, rank * sizeof *index);
    index[along] = binary(o, OP_SUB, fn->param[along], count);
    ir_id inside = binary(o, OP_LT, fn->param[along], count);
    for (uint32_t k = 0; k < components; k++)
        term[k] = ir_cond(p, o->site, inside, ir_read(p, o->site, first, k, IR_SAFE, rank, fn->param),
                          ir_read(p, o->site, second, k, IR_SAFE, rank, index));
    fn = ir_fn_close(p, fn, components, term);
    return fn ? ir_generate(p, o->site, rank, shape, fn) : 0;
}

/* Several, two at a time: sums of extents are seen to be extents one after the other. */
static sn_acc concatenated(const op *o, int n, const sn_acc *a, const int *dimension)
{
    const value *first = NULL;
    ir_id all = 0;
    unsigned along = 0;
    bool good = op_check_list(o, n, a, "arrays");
    if (good && n == 0)
        good = op_fail(o, "no arrays; there is one at least, sn_empty(type) is an array of no elements");
    for (int i = 0; good && i < n; i++) {
        const value *v = op_take_array(o, a[i]);
        if (v && !first) {
            first = v;
            along = dimension ? take_dimension(o, *dimension, v) : last_dimension(o, v);
            all = along < ir_info(o->p, v->array)->rank ? v->array : 0;
            good = all != 0;
        } else if (v && all) {
            bool fits = fit(o, first, v, along);
            all = fits ? appended(o, all, v->array, along) : 0;
            all = i + 1 < n ? ir_mark_step(o->p, all) : all;
        }
        good &= v && all;
    }
    return good ? op_give_array(o, first->tree, all) : op_bad_array(o);
}

sn_acc sn_append_at(sn_site at, sn_acc a, sn_acc b)
{
    op o;
    return op_start_array(&o, at, "append") ? concatenated(&o, 2, (sn_acc[]){a, b}, NULL) : op_bad_array(&o);
}

sn_acc sn_append_along_at(sn_site at, int dimension, sn_acc a, sn_acc b)
{
    op o;
    bool started = op_start_array(&o, at, "append_along");
    return started ? concatenated(&o, 2, (sn_acc[]){a, b}, &dimension) : op_bad_array(&o);
}

sn_acc sn_concat_at(sn_site at, int count, const sn_acc *a)
{
    op o;
    return op_start_array(&o, at, "concat") ? concatenated(&o, count, a, NULL) : op_bad_array(&o);
}

sn_acc sn_concat_along_at(sn_site at, int dimension, int count, const sn_acc *a)
{
    op o;
    return op_start_array(&o, at, "concat_along") ? concatenated(&o, count, a, &dimension) : op_bad_array(&o);
}

/* --- in turns --- */

/* Of n arrays of one shape: element i along the innermost dimension is element i / n of array i mod n. */
static sn_acc interleaved(const op *o, uint32_t n, const value *const *v)
{
    ir_program *p = o->p;
    const ir_array *a = ir_info(p, v[0]->array);
    const unsigned rank = a->rank, last = rank - 1u;
    const uint32_t components = a->components;
    ir_id shape[IR_MAX_RANK], index[IR_MAX_RANK], term[IR_MAX_COMPONENTS], each = a->shape[last];
    ir_id turns = ir_i64(p, n);
    memcpy(shape, a->shape, rank * sizeof *shape);
    shape[last] = binary(o, OP_MUL, each, turns);
    ir_check_equal(
        p, o->site, binary(o, OP_DIV, shape[last], turns), each,
        arena_printf(o->b->arena,
                     "%s: %u arrays have more elements than can be counted, as the result's extent, divided by %u, is "
                     "another than theirs",
                     o->name, n, n));
    ir_fn *fn = embed_index_fn(o, rank);
    memcpy(index, fn->param, rank * sizeof *index);
    ir_id which = binary(o, OP_REM, fn->param[last], turns);
    index[last] = binary(o, OP_QUOT, fn->param[last], turns);
    for (uint32_t k = 0; k < components; k++) {
        term[k] = ir_read(p, o->site, v[n - 1]->array, k, IR_SAFE, rank, index);
        for (uint32_t i = n - 1; i-- > 0;)
            term[k] = ir_cond(p, o->site, binary(o, OP_EQ, which, ir_i64(p, i)),
                              ir_read(p, o->site, v[i]->array, k, IR_SAFE, rank, index), term[k]);
    }
    fn = ir_fn_close(p, fn, components, term);
    return op_give_array(o, v[0]->tree, fn ? ir_generate(p, o->site, rank, shape, fn) : 0);
}

/* Of two arrays, of different extents perhaps: when one ends, the rest of the other follows. */
static sn_acc alternated(const op *o, const value *v, const value *w)
{
    ir_program *p = o->p;
    const ir_array *a = ir_info(p, v->array), *b = ir_info(p, w->array);
    const unsigned rank = a->rank, last = rank - 1u;
    ir_id shape[IR_MAX_RANK], own[IR_MAX_RANK], term[IR_MAX_COMPONENTS];
    memcpy(shape, a->shape, rank * sizeof *shape);
    shape[last] = binary(o, OP_ADD, a->shape[last], b->shape[last]);
    ir_fn *fn = embed_index_fn(o, rank);
    ir_id i = fn->param[last], two = ir_i64(p, 2);
    ir_id both = binary(o, OP_MIN, a->shape[last], b->shape[last]); /* so many turns have two elements */
    ir_id taken = binary(o, OP_MUL, both, two), rest = binary(o, OP_SUB, i, both);
    ir_id turns = binary(o, OP_LT, i, taken), half = binary(o, OP_QUOT, i, two);
    ir_id first = binary(o, OP_EQ, binary(o, OP_REM, i, two), ir_i64(p, 0));
    ir_id longer = binary(o, OP_GT, a->shape[last], b->shape[last]);
    memcpy(own, fn->param, rank * sizeof *own);
    own[last] = ir_cond(p, o->site, turns, half, rest);
    ir_id from_first = ir_cond(p, o->site, turns, first, longer);
    for (uint32_t k = 0; k < a->components; k++)
        term[k] = ir_cond(p, o->site, from_first, ir_read(p, o->site, v->array, k, IR_SAFE, rank, own),
                          ir_read(p, o->site, w->array, k, IR_SAFE, rank, own));
    fn = ir_fn_close(p, fn, a->components, term);
    return op_give_array(o, v->tree, fn ? ir_generate(p, o->site, rank, shape, fn) : 0);
}

sn_acc sn_interleave_at(sn_site at, int count, const sn_acc *a)
{
    enum { MOST = 16 };
    op o;
    const value *v[MOST] = {NULL};
    if (!op_start_array(&o, at, "interleave"))
        return op_bad_array(&o);
    bool good = op_check_list(&o, count, a, "arrays");
    if (good && (count < 1 || count > MOST))
        good = op_fail(&o, "%d arrays; 1 to %d are possible", count, MOST);
    unsigned last = 0;
    for (int i = 0; good && i < count; i++) {
        v[i] = op_take_array(&o, a[i]);
        if (v[i] && !i)
            last = last_dimension(&o, v[i]);
        good =
            v[i] && (i ? fit(&o, v[0], v[i], count == 2 ? last : IR_MAX_RANK) : last < ir_info(o.p, v[i]->array)->rank);
    }
    if (good && count == 2 && ir_extent(o.p, v[0]->array, last) != ir_extent(o.p, v[1]->array, last))
        return alternated(&o, v[0], v[1]);
    return good ? interleaved(&o, (uint32_t)count, v) : op_bad_array(&o);
}

/* --- apart --- */

/* The elements from `begin` on along a dimension, `count` of them. */
static sn_acc part_of(const op *o, const value *v, unsigned along, ir_id begin, ir_id count)
{
    const ir_array *a = ir_info(o->p, v->array);
    ir_id shape[IR_MAX_RANK], source[IR_MAX_RANK];
    ir_fn *fn = embed_index_fn(o, a->rank);
    memcpy(shape, a->shape, a->rank * sizeof *shape);
    memcpy(source, fn->param, a->rank * sizeof *source);
    shape[along] = count;
    source[along] = begin ? binary(o, OP_ADD, source[along], begin) : source[along];
    fn = ir_fn_close(o->p, fn, a->rank, source);
    return op_give_array(o, v->tree, fn ? ir_backpermute(o->p, o->site, a->rank, shape, fn, v->array, IR_SAFE) : 0);
}

static sn_acc split(const op *o, const value *v, unsigned along, sn_scalar n, sn_acc *rest)
{
    ir_id count = op_take_i64(o, n, "the number of elements"), extent = ir_info(o->p, v->array)->shape[along];
    if (!count || !op_check_extent(o, count))
        return op_bad_array(o);
    count = binary(o, OP_MIN, binary(o, OP_MAX, count, ir_i64(o->p, 0)), extent);
    if (rest)
        *rest = part_of(o, v, along, count, binary(o, OP_SUB, extent, count));
    return part_of(o, v, along, 0, count);
}

sn_acc sn_split_at(sn_site at, sn_scalar n, sn_acc a, sn_acc *rest)
{
    op o;
    const value *v = op_start_array(&o, at, "split") ? op_take_array(&o, a) : NULL;
    if (rest)
        *rest = op_bad_array(&o);
    unsigned along = v ? last_dimension(&o, v) : 0;
    return v && along < ir_info(o.p, v->array)->rank ? split(&o, v, along, n, rest) : op_bad_array(&o);
}

sn_acc sn_split_along_at(sn_site at, int dimension, sn_scalar n, sn_acc a, sn_acc *rest)
{
    op o;
    const value *v = op_start_array(&o, at, "split_along") ? op_take_array(&o, a) : NULL;
    if (rest)
        *rest = op_bad_array(&o);
    unsigned along = v ? take_dimension(&o, dimension, v) : 0;
    return v && along < ir_info(o.p, v->array)->rank ? split(&o, v, along, n, rest) : op_bad_array(&o);
}

/* --- by flags --- */

/* For each flag of a row: how many before it are true. */
static ir_id positions(const op *o, ir_id flags)
{
    ir_program *p = o->p;
    const ir_type flag = T_BOOL, number[2] = {T_I64, T_I64};
    ir_fn *count = ir_fn_new(p, 1, &flag), *add = ir_fn_new(p, 2, number);
    ir_id one = ir_convert(p, o->site, OP_CONVERT, T_I64, count->param[0]), none = ir_i64(p, 0);
    ir_id sum = binary(o, OP_ADD, add->param[0], add->param[1]);
    count = ir_fn_close(p, count, 1, &one);
    add = ir_fn_close(p, add, 1, &sum);
    ir_id ones = count ? ir_mark_step(p, ir_map(p, o->site, 1, &flags, count, 0)) : 0;
    return ones && add ? ir_mark_step(p, ir_scan(p, o->site, add, &none, ones, IR_EXCLUSIVE)) : 0;
}

/* That there are as many elements as flags is known before the call runs; that there are as many of each kind as flags
 * say is checked where they are read: were there too many of one, there would be too few of the other. */
static sn_acc combined(const op *o, const value *flags, const value *v, const value *w)
{
    ir_program *p = o->p;
    ir_id row = embed_flatten(o, flags->array);
    row = row == flags->array ? row : ir_mark_step(p, row);
    ir_id before = row ? positions(o, row) : 0;
    if (!before)
        return op_bad_array(o);
    uint32_t errors = p->error.n;
    ir_check_equal(p, o->site, binary(o, OP_ADD, ir_extent(p, v->array, 0), ir_extent(p, w->array, 0)),
                   ir_extent(p, row, 0),
                   arena_printf(o->b->arena, "%s: there are not as many elements as flags", o->name));
    if (p->error.n != errors)
        return op_bad_array(o);
    const ir_type type[3] = {T_I64, T_BOOL, T_I64};
    const uint32_t components = ir_info(p, v->array)->components;
    ir_id term[IR_MAX_COMPONENTS];
    ir_fn *fn = ir_fn_new(p, 3, type); /* the position, its flag, and how many before it are true */
    ir_id other = binary(o, OP_SUB, fn->param[0], fn->param[2]);
    for (uint32_t k = 0; k < components; k++)
        term[k] = ir_cond(p, o->site, fn->param[1], ir_read(p, o->site, v->array, k, 0, 1, &fn->param[2]),
                          ir_read(p, o->site, w->array, k, 0, 1, &other));
    fn = ir_fn_close(p, fn, components, term);
    ir_id all = fn ? ir_map(p, o->site, 2, (ir_id[]){row, before}, fn, IR_INDEXED) : 0;
    const ir_array *shape = ir_info(p, flags->array);
    if (all && shape->rank != 1)
        all = ir_reshape(p, o->site, shape->rank, shape->shape, ir_mark_step(p, all));
    return op_give_array(o, v->tree, all);
}

sn_acc sn_combine_at(sn_site at, sn_acc flags, sn_acc a, sn_acc b)
{
    op o;
    if (!op_start_array(&o, at, "combine"))
        return op_bad_array(&o);
    const value *f = op_take_array(&o, flags), *v = op_take_array(&o, a), *w = op_take_array(&o, b);
    if (!f || !v || !w)
        return op_bad_array(&o);
    if (!f->tree->leaf || value_types(&o, f)[0] != T_BOOL) {
        op_fail(&o, "what comes from where is said by an array of bool, but this one is %s", value_text(&o, f));
        return op_bad_array(&o);
    }
    if (!fit(&o, v, w, 0))
        return op_bad_array(&o);
    if (ir_info(o.p, v->array)->rank != 1) {
        op_fail(&o, "%s has not rank 1; sn_flatten makes it so", value_text(&o, v));
        return op_bad_array(&o);
    }
    return combined(&o, f, v, w);
}
