/* Elements that go to places of their own: permute, and what is written with it: scatter, histograms, reduction by key.
 */
#include "embed/value.h"

/* --- targets --- */

/* A component of a target as i64. Numbers of u64 that i64 does not have are below 0 then, outside of any array; the smallest of
 * them would mean an element that is dropped, and takes the next one's place. */
static ir_id target_component(const op *o, ir_id term)
{
    ir_program *p = o->p;
    const ir_node *n = ir_at(p, term);
    ir_id from = n->kind == IR_OP && n->op == OP_CONVERT ? ir_args(p, term)[0] : 0;
    if (!from || ir_at(p, from)->type != T_U64)
        return term;
    ir_id taken = ir_op2(p, o->site, OP_EQ, from, ir_const(p, T_U64, (ir_bits)1 << 63));
    return ir_cond(p, o->site, taken, ir_i64(p, INT64_MIN + 1), term);
}

/* The array of the targets that an array's elements are; 0 after a mistake. *site: of the permute, which reports them. */
static ir_id targets_of(const op *o, const value *keys, unsigned rank, const char *what, uint32_t *site)
{
    ir_fn *fn = ir_fn_new(o->p, keys->tree->leaves, value_types(o, keys));
    value element = {.kind = VALUE_SCALAR, .tree = keys->tree, .term = fn->param};
    id_list index = {0};
    if (keys->tree->leaves != rank) {
        op_fail(o, "%s, %s, hold no indices of rank %u; an element is an integer for each dimension", what,
                value_text(o, keys), rank);
        return 0;
    }
    if (!op_index_leaves(o, &element, what, &index))
        return 0;
    *site = ir_site_of_indices(o->p, o->site, index.n, index.at);
    for (uint32_t d = 0; d < index.n; d++)
        index.at[d] = target_component(o, index.at[d]);
    fn = ir_fn_close(o->p, fn, rank, index.at);
    return fn ? ir_mark_step(o->p, ir_map(o->p, o->site, 1, &keys->array, fn, 0)) : 0;
}

/* The same of a function of the source's indices. */
static ir_id computed_targets(const op *o, sn_fn g, const ir_array *source, unsigned rank, uint32_t *site)
{
    ir_fn *fn = embed_index_lambda(o, g, source->rank, rank);
    if (!fn)
        return 0;
    *site = ir_site_of_indices(o->p, o->site, rank, fn->result);
    for (uint32_t d = 0; d < rank; d++)
        fn->result[d] = target_component(o, fn->result[d]);
    return ir_mark_step(o->p, ir_generate(o->p, o->site, source->rank, source->shape, fn));
}

/* --- permute --- */

static bool same_elements(const op *o, const value *defaults, const value *source)
{
    const ir_type *wanted = value_types(o, defaults), *given = value_types(o, source);
    bool same = tree_equal(defaults->tree, source->tree);
    for (uint32_t c = 0; same && c < defaults->tree->leaves; c++)
        same = wanted[c] == given[c];
    return same || op_fail(o, "the elements, %s, are not like the defaults, %s; convert one of them",
                           value_text(o, source), value_text(o, defaults));
}

/* f(new, old) as a function of the elements; NULL after a mistake. */
static ir_fn *combining(const op *o, sn_fn f, const tree *t, const ir_type *element)
{
    const tree *both[2] = {t, t};
    ir_type type[2 * IR_MAX_COMPONENTS];
    lambda made;
    memcpy(type, element, t->leaves * sizeof *type);
    memcpy(type + t->leaves, element, t->leaves * sizeof *type);
    if (!embed_lambda(o, f, 2, both, type, t, element, &made))
        return NULL;
    embed_expect_associative(o, f, made.fn, "");
    return made.fn;
}

sn_acc sn_permute_at(sn_site at, sn_fn f, sn_acc defaults, sn_fn g, sn_acc source)
{
    op o;
    uint32_t site = 0;
    if (!op_start_array(&o, at, "permute"))
        return op_bad_array(&o);
    const value *to = op_take_array(&o, defaults), *from = op_take_array(&o, source);
    if (!to || !from || !same_elements(&o, to, from))
        return op_bad_array(&o);
    ir_fn *fn = combining(&o, f, to->tree, value_types(&o, to));
    ir_id targets = fn ? computed_targets(&o, g, ir_info(o.p, from->array), ir_info(o.p, to->array)->rank, &site) : 0;
    return op_give_array(&o, to->tree, targets ? ir_permute(o.p, site, fn, to->array, targets, from->array) : 0);
}

sn_acc sn_scatter_at(sn_site at, sn_acc targets, sn_acc defaults, sn_acc source)
{
    op o;
    uint32_t site = 0;
    if (!op_start_array(&o, at, "scatter"))
        return op_bad_array(&o);
    const value *where = op_take_array(&o, targets), *to = op_take_array(&o, defaults);
    const value *from = op_take_array(&o, source);
    if (!where || !to || !from || !same_elements(&o, to, from))
        return op_bad_array(&o);
    ir_id index = targets_of(&o, where, ir_info(o.p, to->array)->rank, "the targets", &site);
    return op_give_array(&o, to->tree, index ? ir_permute(o.p, site, NULL, to->array, index, from->array) : 0);
}

sn_scalar sn_ignore(void)
{
    op o;
    if (!op_start_here(&o, "ignore"))
        return op_bad_scalar(&o);
    ir_id dropped = ir_i64(o.p, IR_DROPPED);
    return op_give_scalar(&o, tree_leaf(o.b), &dropped, NULL);
}

/* --- into places that all begin alike --- */

typedef struct bins {
    unsigned rank;
    ir_id extent[IR_MAX_RANK];
} bins;

/* An array of these terms everywhere. */
static ir_id filled(const op *o, unsigned rank, const ir_id *extent, uint32_t n, const ir_id *term)
{
    ir_fn *fn = ir_fn_close(o->p, embed_index_fn(o, rank), n, term);
    return fn ? ir_mark_step(o->p, ir_generate(o->p, o->site, rank, extent, fn)) : 0;
}

sn_acc sn_reduce_by_key_at(sn_site at, sn_fn f, sn_scalar z, sn_scalar shape, sn_acc keys, sn_acc values)
{
    op o;
    bins b;
    uint32_t site = 0;
    if (!op_start_array(&o, at, "reduce_by_key") || !op_take_shape(&o, shape, &b.rank, b.extent))
        return op_bad_array(&o);
    const value *key = op_take_array(&o, keys), *from = op_take_array(&o, values);
    const value *seed = op_take_scalar(&o, z, "the initial value");
    if (!key || !from || !seed)
        return op_bad_array(&o);
    const ir_type *element = value_types(&o, from);
    if (!tree_equal(seed->tree, from->tree)) {
        op_fail(&o, "the initial value must be %s like the elements, but is %s; convert it, or the elements",
                type_text(&o, from->tree, element), value_text(&o, seed));
        return op_bad_array(&o);
    }
    const ir_id *term = embed_settle(&o, seed, element, "the initial value");
    ir_fn *fn = term ? combining(&o, f, from->tree, element) : NULL;
    ir_id index = fn ? targets_of(&o, key, b.rank, "the keys", &site) : 0;
    ir_id to = index ? filled(&o, b.rank, b.extent, from->tree->leaves, term) : 0;
    return op_give_array(&o, from->tree, to ? ir_permute(o.p, site, fn, to, index, from->array) : 0);
}

/* The sums of an array's elements, one for each bin. */
static sn_acc sums(const op *o, const bins *b, const value *keys, ir_id source)
{
    uint32_t site = 0;
    ir_type t = ir_info(o->p, source)->type[0], both[2] = {t, t};
    ir_id index = targets_of(o, keys, b->rank, "the keys", &site), zero = ir_const(o->p, t, 0);
    ir_id to = index ? filled(o, b->rank, b->extent, 1, &zero) : 0;
    ir_fn *fn = ir_fn_new(o->p, 2, both);
    ir_id sum = ir_op2(o->p, o->site, OP_ADD, fn->param[0], fn->param[1]);
    fn = ir_fn_close(o->p, fn, 1, &sum);
    return op_give_array(o, tree_leaf(o->b), to ? ir_permute(o->p, site, fn, to, index, source) : 0);
}

sn_acc sn_histogram_at(sn_site at, sn_scalar shape, sn_acc keys)
{
    op o;
    bins b;
    if (!op_start_array(&o, at, "histogram") || !op_take_shape(&o, shape, &b.rank, b.extent))
        return op_bad_array(&o);
    const value *key = op_take_array(&o, keys);
    if (!key)
        return op_bad_array(&o);
    const ir_array *info = ir_info(o.p, key->array);
    ir_id one = ir_i64(o.p, 1), source = filled(&o, info->rank, info->shape, 1, &one);
    return source ? sums(&o, &b, key, source) : op_bad_array(&o);
}

sn_acc sn_histogram_weighted_at(sn_site at, sn_scalar shape, sn_acc keys, sn_acc weights)
{
    op o;
    bins b;
    if (!op_start_array(&o, at, "histogram_weighted") || !op_take_shape(&o, shape, &b.rank, b.extent))
        return op_bad_array(&o);
    const value *key = op_take_array(&o, keys);
    ir_id source = key ? embed_summands(&o, weights) : 0;
    return source ? sums(&o, &b, key, source) : op_bad_array(&o);
}
