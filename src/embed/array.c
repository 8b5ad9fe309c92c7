/* Array operations that make elements: generate and its like, map, zip_with, zip, projections, force, results. */
#include "embed/value.h"

/* Extents from a shape given by the user; false after a mistake. */
typedef struct extents {
    unsigned rank;
    ir_id at[IR_MAX_RANK];
} extents;

sn_acc sn_generate_at(sn_site at, sn_scalar shape, sn_fn f)
{
    op o;
    extents e;
    lambda made;
    if (!op_start_array(&o, at, "generate") || !op_take_shape(&o, shape, &e.rank, e.at))
        return op_bad_array(&o);
    const tree *index = tree_flat(o.b, e.rank);
    if (!embed_lambda(&o, f, 1, &index, embed_i64_types(), NULL, NULL, &made))
        return op_bad_array(&o);
    return op_give_array(&o, made.tree, ir_generate(o.p, o.site, e.rank, e.at, made.fn));
}

/* The same terms at every index. */
static sn_acc everywhere(const op *o, const extents *e, sn_scalar x)
{
    const value *v = op_take_scalar(o, x, "the element");
    if (!v)
        return op_bad_array(o);
    ir_fn *fn = ir_fn_close(o->p, embed_index_fn(o, e->rank), v->tree->leaves, v->term);
    return op_give_array(o, v->tree, fn ? ir_generate(o->p, o->site, e->rank, e->at, fn) : 0);
}

sn_acc sn_fill_at(sn_site at, sn_scalar shape, sn_scalar x)
{
    op o;
    extents e;
    if (!op_start_array(&o, at, "fill") || !op_take_shape(&o, shape, &e.rank, e.at))
        return op_bad_array(&o);
    return everywhere(&o, &e, x);
}

sn_acc sn_unit_at(sn_site at, sn_scalar x)
{
    op o;
    extents none = {0};
    return op_start_array(&o, at, "unit") ? everywhere(&o, &none, x) : op_bad_array(&o);
}

sn_acc sn_iota_at(sn_site at, sn_scalar n)
{
    op o;
    extents e;
    if (!op_start_array(&o, at, "iota") || !op_take_shape(&o, n, &e.rank, e.at))
        return op_bad_array(&o);
    if (e.rank != 1) {
        op_fail(&o, "expects one extent, but is given a shape of rank %u; sn_generate and sn_fill take any shape",
                e.rank);
        return op_bad_array(&o);
    }
    ir_fn *fn = embed_index_fn(&o, 1);
    return op_give_array(&o, tree_leaf(o.b), ir_generate(o.p, o.site, 1, e.at, ir_fn_close(o.p, fn, 1, fn->param)));
}

/* x + index * step at each index, a row-major position; step 0: 1. Both have one type of numbers. */
static sn_acc enumerate(const op *o, const extents *e, sn_scalar x, const sn_scalar *step)
{
    ir_id term[2];
    bool weak[2] = {false, false};
    for (unsigned i = 0; i < (step ? 2u : 1u); i++) {
        const value *v = op_take_scalar(o, i ? *step : x, i ? "the step" : "the first element");
        if (!v)
            return op_bad_array(o);
        if (!v->tree->leaf) {
            op_fail(o, "counts in numbers, but is given %s; begin with a number, as in sn_i32(0)", value_text(o, v));
            return op_bad_array(o);
        }
        term[i] = v->term[0];
        weak[i] = v->weak && v->weak[0];
    }
    if (step && !embed_unify(o, 2, term, weak))
        return op_bad_array(o);
    ir_type type = (ir_type)ir_at(o->p, term[0])->type;
    if (!(ir_type_class(type) & CLASS_NUM) || (step && ir_at(o->p, term[1])->type != type)) {
        op_fail(o, "counts in numbers of one type, but is given %s%s%s; convert to it", ir_type_name(type),
                step ? " and " : "", step ? ir_type_name((ir_type)ir_at(o->p, term[1])->type) : "");
        return op_bad_array(o);
    }
    ir_fn *fn = embed_index_fn(o, e->rank);
    ir_id at = ir_i64(o->p, 0);
    for (unsigned d = 0; d < e->rank; d++)
        at =
            d ? ir_op2(o->p, o->site, OP_ADD, ir_op2(o->p, o->site, OP_MUL, at, e->at[d]), fn->param[d]) : fn->param[d];
    if (type != T_I64)
        at = ir_convert(o->p, o->site, OP_CONVERT, type, at);
    if (step)
        at = ir_op2(o->p, o->site, OP_MUL, at, term[1]);
    ir_id element = ir_op2(o->p, o->site, OP_ADD, term[0], at);
    fn = ir_fn_close(o->p, fn, 1, &element);
    return op_give_array(o, tree_leaf(o->b), fn ? ir_generate(o->p, o->site, e->rank, e->at, fn) : 0);
}

sn_acc sn_enum_from_n_at(sn_site at, sn_scalar shape, sn_scalar x)
{
    op o;
    extents e;
    if (!op_start_array(&o, at, "enum_from_n") || !op_take_shape(&o, shape, &e.rank, e.at))
        return op_bad_array(&o);
    return enumerate(&o, &e, x, NULL);
}

sn_acc sn_enum_from_step_n_at(sn_site at, sn_scalar shape, sn_scalar x, sn_scalar step)
{
    op o;
    extents e;
    if (!op_start_array(&o, at, "enum_from_step_n") || !op_take_shape(&o, shape, &e.rank, e.at))
        return op_bad_array(&o);
    return enumerate(&o, &e, x, &step);
}

sn_acc sn_empty_at(sn_site at, sn_type type)
{
    op o;
    if (!op_start_array(&o, at, "empty"))
        return op_bad_array(&o);
    if ((int)type <= T_NONE || (int)type >= T_COUNT) {
        op_fail(&o, "%d is no type; SN_BOOL, SN_I8 to SN_I64, SN_U8 to SN_U64, SN_F32, SN_F64 and SN_CHAR are",
                (int)type);
        return op_bad_array(&o);
    }
    ir_id none = ir_i64(o.p, 0), zero = ir_const(o.p, (ir_type)type, 0);
    ir_fn *fn = ir_fn_close(o.p, embed_index_fn(&o, 1), 1, &zero);
    return op_give_array(&o, tree_leaf(o.b), ir_generate(o.p, o.site, 1, &none, fn));
}

/* --- elementwise --- */

/* Operands of an elementwise operation: their structures, and the types of all leaves. */
typedef struct operands {
    uint32_t n;
    ir_id array[10];
    const tree *tree[10]; /* the last is free for an index */
    VEC(ir_type) type;
} operands;

static void add_types(const op *o, operands *in, uint32_t n, const ir_type *type)
{
    for (uint32_t i = 0; i < n; i++)
        vec_push(o->b->arena, &in->type, type[i]);
}

static bool take_operands(const op *o, int n, const sn_acc *a, int most, operands *in)
{
    bool good = true;
    if (n > most)
        return op_fail(o, "%d arrays; at most %d are possible; zip some of them first", n, most);
    if (!op_check_list(o, n, a, "arrays"))
        return false;
    for (int i = 0; i < n; i++) {
        const value *v = op_take_array(o, a[i]);
        good &= v != NULL;
        if (!v)
            continue;
        in->array[in->n] = v->array;
        in->tree[in->n++] = v->tree;
        add_types(o, in, v->tree->leaves, value_types(o, v));
    }
    return good;
}

/* The first elements of an array in each dimension, as many as the extents say; itself if that is all. */
static ir_id corner(const op *o, ir_id array, const extents *e)
{
    const ir_array *from = ir_info(o->p, array);
    if (!memcmp(from->shape, e->at, e->rank * sizeof(ir_id)))
        return array;
    ir_fn *fn = embed_index_fn(o, e->rank);
    fn = ir_fn_close(o->p, fn, e->rank, fn->param);
    return fn ? ir_mark_step(o->p, ir_backpermute(o->p, o->site, e->rank, e->at, fn, array, IR_SAFE)) : 0;
}

/* Cuts operands of one rank to the intersection of their shapes. */
static bool intersect(const op *o, operands *in)
{
    extents e = {.rank = ir_info(o->p, in->array[0])->rank};
    memcpy(e.at, ir_info(o->p, in->array[0])->shape, e.rank * sizeof(ir_id));
    for (uint32_t i = 1; i < in->n; i++) {
        const ir_array *a = ir_info(o->p, in->array[i]);
        if (a->rank != e.rank)
            return op_fail(
                o, "the operands' ranks differ: %u and %u; sn_replicate adds dimensions, sn_slice takes them away",
                e.rank, (unsigned)a->rank);
        for (unsigned d = 0; d < e.rank; d++)
            if (a->shape[d] != e.at[d])
                e.at[d] = ir_op2(o->p, o->site, OP_MIN, e.at[d], a->shape[d]);
    }
    for (uint32_t i = 0; i < in->n; i++) {
        in->array[i] = corner(o, in->array[i], &e);
        if (!in->array[i])
            return false;
    }
    return true;
}

static sn_acc elementwise(const op *o, sn_fn f, int n, const sn_acc *a, bool cut)
{
    operands in = {0};
    lambda made;
    if (!take_operands(o, n, a, 9, &in) || (cut && !intersect(o, &in)) ||
        !embed_lambda(o, f, in.n, in.tree, in.type.at, NULL, NULL, &made))
        return op_bad_array(o);
    return op_give_array(o, made.tree, ir_map(o->p, o->site, in.n, in.array, made.fn, 0));
}

sn_acc sn_map_at(sn_site at, sn_fn f, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "map") ? elementwise(&o, f, 1, &a, false) : op_bad_array(&o);
}

sn_acc sn_zip_with_at(sn_site at, sn_fn f, int count, const sn_acc *a)
{
    op o;
    return op_start_array(&o, at, "zip_with") ? elementwise(&o, f, count, a, false) : op_bad_array(&o);
}

sn_acc sn_zip_min_with_at(sn_site at, sn_fn f, int count, const sn_acc *a)
{
    op o;
    return op_start_array(&o, at, "zip_min_with") ? elementwise(&o, f, count, a, true) : op_bad_array(&o);
}

/* f(index, elements...) */
static sn_acc indexed(const op *o, sn_fn f, int n, const sn_acc *a)
{
    operands in = {0}, all = {0};
    lambda made;
    if (!take_operands(o, n, a, 9, &in))
        return op_bad_array(o);
    unsigned rank = ir_info(o->p, in.array[0])->rank;
    all.tree[0] = tree_flat(o->b, rank);
    memcpy(all.tree + 1, in.tree, in.n * sizeof *in.tree);
    add_types(o, &all, rank, embed_i64_types());
    add_types(o, &all, in.type.n, in.type.at);
    if (!embed_lambda(o, f, in.n + 1, all.tree, all.type.at, NULL, NULL, &made))
        return op_bad_array(o);
    return op_give_array(o, made.tree, ir_map(o->p, o->site, in.n, in.array, made.fn, IR_INDEXED));
}

sn_acc sn_imap_at(sn_site at, sn_fn f, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "imap") ? indexed(&o, f, 1, &a) : op_bad_array(&o);
}

sn_acc sn_izip_with_at(sn_site at, sn_fn f, int count, const sn_acc *a)
{
    op o;
    return op_start_array(&o, at, "izip_with") ? indexed(&o, f, count, a) : op_bad_array(&o);
}

static sn_acc zip(const op *o, int count, const sn_acc *a, bool cut)
{
    operands in = {0};
    if (!take_operands(o, count, a, 9, &in) || (cut && !intersect(o, &in)))
        return op_bad_array(o);
    const tree *t = tree_tuple(o, in.n, in.tree);
    if (!t)
        return op_bad_array(o);
    ir_fn *fn = ir_fn_new(o->p, in.type.n, in.type.at);
    fn = ir_fn_close(o->p, fn, in.type.n, fn->param);
    return op_give_array(o, t, ir_map(o->p, o->site, in.n, in.array, fn, 0));
}

sn_acc sn_zip_at(sn_site at, int count, const sn_acc *a)
{
    op o;
    return op_start_array(&o, at, "zip") ? zip(&o, count, a, false) : op_bad_array(&o);
}

sn_acc sn_zip_min_at(sn_site at, int count, const sn_acc *a)
{
    op o;
    return op_start_array(&o, at, "zip_min") ? zip(&o, count, a, true) : op_bad_array(&o);
}

sn_acc embed_component(const op *o, const value *v, uint32_t i)
{
    ir_fn *fn = ir_fn_new(o->p, v->tree->leaves, value_types(o, v));
    fn = ir_fn_close(o->p, fn, v->tree->child[i]->leaves, fn->param + tree_offset(v->tree, i));
    return op_give_array(o, v->tree->child[i], ir_map(o->p, o->site, 1, &v->array, fn, 0));
}

sn_acc sn_component_at(sn_site at, sn_acc array_of_tuples, int i)
{
    op o;
    if (!op_start_array(&o, at, "get"))
        return op_bad_array(&o);
    const value *v = op_take_array(&o, array_of_tuples);
    if (!v)
        return op_bad_array(&o);
    if (v->tree->leaf || i < 0 || (uint32_t)i >= v->tree->n) {
        op_fail(&o, "the elements of %s have no component %d; they are counted from 0", value_text(&o, v), i);
        return op_bad_array(&o);
    }
    return embed_component(&o, v, (uint32_t)i);
}

void sn_unzip_at(sn_site at, sn_acc a, int count, sn_acc *part)
{
    op o;
    bool started = op_start_array(&o, at, "unzip");
    const value *v = started ? op_take_array(&o, a) : NULL;
    for (int i = 0; part && i < count; i++)
        part[i] = op_bad_array(&o);
    if (!started || !op_check_list(&o, count, part, "components") || !v)
        return;
    if (v->tree->leaf || (int64_t)v->tree->n != count) {
        op_fail(&o, "the elements of %s are no tuples of %d components; say as many as there are", value_text(&o, v),
                count);
        return;
    }
    for (uint32_t i = 0; i < v->tree->n; i++)
        part[i] = embed_component(&o, v, i);
}

/* --- control --- */

sn_acc sn_force_at(sn_site at, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "force") ? op_take_array(&o, a) : NULL;
    return v ? op_give_array(&o, v->tree, ir_force(o.p, o.site, v->array)) : op_bad_array(&o);
}

sn_acc sn_fuse_at(sn_site at, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "fuse") ? op_take_array(&o, a) : NULL;
    if (!v)
        return op_bad_array(&o);
    ir_fuse(o.p, v->array);
    return a;
}

sn_acc sn_results_at(sn_site at, int count, const sn_acc *result)
{
    op o;
    VEC(const value *) part = {0};
    bool good = true;
    if (!op_start_array(&o, at, "results") || !op_check_list(&o, count, result, "results"))
        return op_bad_array(&o);
    for (int i = 0; i < count; i++) {
        const value *v = op_take(&o, result[i].bits, arena_printf(o.b->arena, "result %d", i + 1));
        for (uint32_t k = 0; v && v->kind == VALUE_RESULTS && k < v->n; k++) /* a tuple of arrays inside another */
            vec_push(o.b->arena, &part, v->part[k]);
        if (v && v->kind == VALUE_RESULTS)
            continue;
        if (v && v->kind != VALUE_ARRAY)
            v = op_take_array(&o, result[i]); /* reports it */
        good &= v != NULL;
        vec_push(o.b->arena, &part, v);
    }
    return good ? op_give_results(&o, part.n, part.at) : op_bad_array(&o);
}
