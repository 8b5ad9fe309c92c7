/* Order: sorts, and what is made of sorted arrays by comparing neighbours and by binary search. */
#include "embed/value.h"

/* --- elements side by side --- */

/* The elements of several arrays of one shape as one, all components one after the other. */
static ir_id beside(const op *o, uint32_t n, const value *const *v)
{
    ir_type type[2 * IR_MAX_COMPONENTS];
    ir_id array[2];
    uint32_t all = 0;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(type + all, value_types(o, v[i]), v[i]->tree->leaves * sizeof *type);
        all += v[i]->tree->leaves;
        array[i] = v[i]->array;
    }
    ir_fn *fn = ir_fn_new(o->p, all, type);
    fn = ir_fn_close(o->p, fn, all, fn->param);
    return fn ? ir_mark_step(o->p, ir_map(o->p, o->site, n, array, fn, 0)) : 0;
}

/* Components [first, first + n) of the elements of an array. */
static ir_id some_components(const op *o, ir_id array, uint32_t first, uint32_t n)
{
    const ir_array *info = ir_info(o->p, array);
    ir_fn *fn = ir_fn_new(o->p, info->components, info->type);
    fn = ir_fn_close(o->p, fn, n, fn->param + first);
    return fn ? ir_map(o->p, o->site, 1, &array, fn, 0) : 0;
}

/* --- sorts --- */

static sn_acc sort(const op *o, sn_acc a, unsigned flags)
{
    const value *v = op_take_array(o, a);
    return v ? op_give_array(o, v->tree, ir_sort(o->p, o->site, v->tree->leaves, NULL, v->array, flags))
             : op_bad_array(o);
}

sn_acc sn_sort_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "sort") ? sort(&o, a, 0) : op_bad_array(&o);
}

sn_acc sn_sort_descending_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "sort_descending") ? sort(&o, a, IR_DESCENDING) : op_bad_array(&o);
}

/* Keys and values as tuples, sorted by the keys; 0 after a mistake. */
static ir_id sorted_pairs(const op *o, const value *keys, const value *values, const tree **pair, unsigned flags)
{
    const tree *both[2] = {keys->tree, values->tree};
    *pair = tree_tuple(o, 2, both);
    ir_id pairs = *pair ? beside(o, 2, (const value *const[]){keys, values}) : 0;
    return pairs ? ir_sort(o->p, o->site, keys->tree->leaves, NULL, pairs, flags) : 0;
}

static sn_acc sort_by_key(const op *o, sn_acc keys, sn_acc values, unsigned flags)
{
    const value *k = op_take_array(o, keys), *v = op_take_array(o, values);
    const tree *both = NULL;
    ir_id sorted = k && v ? sorted_pairs(o, k, v, &both, flags) : 0;
    return sorted ? op_give_array(o, both, sorted) : op_bad_array(o);
}

sn_acc sn_sort_by_key_at(sn_site at, sn_acc keys, sn_acc values)
{
    op o;
    return op_start_array(&o, at, "sort_by_key") ? sort_by_key(&o, keys, values, 0) : op_bad_array(&o);
}

sn_acc sn_sort_by_key_descending_at(sn_site at, sn_acc keys, sn_acc values)
{
    op o;
    return op_start_array(&o, at, "sort_by_key_descending") ? sort_by_key(&o, keys, values, IR_DESCENDING)
                                                            : op_bad_array(&o);
}

/* A comparison of two elements like those of an array; NULL after a mistake. */
static ir_fn *take_comparison(op *o, sn_fn less, const value *v)
{
    const tree *both[2] = {v->tree, v->tree}, *one = tree_leaf(o->b);
    ir_type type[2 * IR_MAX_COMPONENTS];
    const ir_type holds = T_BOOL;
    memcpy(type, value_types(o, v), v->tree->leaves * sizeof *type);
    memcpy(type + v->tree->leaves, value_types(o, v), v->tree->leaves * sizeof *type);
    lambda made;
    return embed_lambda(o, less, 2, both, type, one, &holds, &made) ? made.fn : NULL;
}

sn_acc sn_sort_by_at(sn_site at, sn_fn less, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "sort_by") ? op_take_array(&o, a) : NULL;
    ir_fn *fn = v ? take_comparison(&o, less, v) : NULL;
    return fn ? op_give_array(&o, v->tree, ir_sort(o.p, o.site, 0, fn, v->array, 0)) : op_bad_array(&o);
}

/* --- neighbours --- */

/* Are these two the same to a sort: the same bits, or two NaNs? */
static ir_id is_same(const op *o, ir_id x, ir_id y)
{
    ir_program *p = o->p;
    ir_type t = (ir_type)ir_at(p, x)->type;
    if (!ir_type_float(t))
        return ir_op2(p, o->site, OP_EQ, x, y);
    ir_type u = t == T_F64 ? T_U64 : T_U32;
    ir_id bits =
        ir_op2(p, o->site, OP_EQ, ir_convert(p, o->site, OP_BITCAST, u, x), ir_convert(p, o->site, OP_BITCAST, u, y));
    ir_id nans = ir_op2(p, o->site, OP_AND, ir_op2(p, o->site, OP_NE, x, x), ir_op2(p, o->site, OP_NE, y, y));
    return ir_op2(p, o->site, OP_OR, bits, nans);
}

/* For each element of a row that is sorted by its first `keys` components: does it differ in them from the one before,
 * or is it the first? */
static ir_id begins(const op *o, ir_id row, uint32_t keys)
{
    ir_program *p = o->p;
    ir_id n = ir_extent(p, row, 0), yes = ir_bool(p, true), same = yes;
    ir_fn *fn = embed_index_fn(o, 1);
    ir_id i = fn->param[0], before = ir_op2(p, o->site, OP_SUB, i, ir_i64(p, 1));
    for (uint32_t c = 0; c < keys; c++) {
        ir_id x = ir_read(p, o->site, row, c, IR_SAFE, 1, &i), y = ir_read(p, o->site, row, c, IR_SAFE, 1, &before);
        same = ir_op2(p, o->site, OP_AND, same, is_same(o, x, y));
    }
    ir_id other = ir_op1(p, o->site, OP_NOT, same);
    ir_id result = ir_cond(p, o->site, ir_op2(p, o->site, OP_EQ, i, ir_i64(p, 0)), yes, other);
    fn = ir_fn_close(p, fn, 1, &result);
    return fn ? ir_mark_step(p, ir_generate(p, o->site, 1, &n, fn)) : 0;
}

/* Of rank 1? `what`: "the keys". */
static bool is_row(const op *o, const value *v, const char *what)
{
    unsigned rank = ir_info(o->p, v->array)->rank;
    return rank == 1 || op_fail(o, "%s must have rank 1, but %s has rank %u; sn_flatten makes one row of any array",
                                what, value_text(o, v), rank);
}

sn_acc sn_unique_at(sn_site at, sn_acc a)
{
    op o;
    const value *v = op_start_array(&o, at, "unique") ? op_take_array(&o, a) : NULL;
    if (!v || !is_row(&o, v, "the array"))
        return op_bad_array(&o);
    uint32_t keys = v->tree->leaves;
    ir_id sorted = ir_mark_step(o.p, ir_sort(o.p, o.site, keys, NULL, v->array, 0));
    ir_id first = sorted ? begins(&o, sorted, keys) : 0;
    return first ? op_give_array(&o, v->tree, ir_pack(o.p, o.site, first, sorted)) : op_bad_array(&o);
}

/* Where each group begins, and how far it is to the next one or to the end of the row. */
static ir_id lengths_of(const op *o, ir_id row, ir_id first)
{
    ir_program *p = o->p;
    ir_id n = ir_extent(p, row, 0);
    ir_fn *own = embed_index_fn(o, 1);
    own = ir_fn_close(p, own, 1, own->param);
    ir_id places = own ? ir_mark_step(p, ir_generate(p, o->site, 1, &n, own)) : 0;
    ir_id start = places ? ir_mark_step(p, ir_pack(p, o->site, first, places)) : 0;
    if (!start)
        return 0;
    ir_id groups = ir_extent(p, start, 0);
    ir_fn *fn = embed_index_fn(o, 1);
    ir_id i = fn->param[0], next = ir_op2(p, o->site, OP_ADD, i, ir_i64(p, 1));
    ir_id follows = ir_op2(p, o->site, OP_LT, next, groups);
    ir_id end = ir_cond(p, o->site, follows, ir_read(p, o->site, start, 0, IR_SAFE, 1, &next), n);
    ir_id length = ir_op2(p, o->site, OP_SUB, end, ir_read(p, o->site, start, 0, IR_SAFE, 1, &i));
    fn = ir_fn_close(p, fn, 1, &length);
    return fn ? ir_generate(p, o->site, 1, &groups, fn) : 0;
}

static sn_acc group(const op *o, const value *k, const value *v, sn_acc *lengths, sn_acc *grouped)
{
    const tree *both = NULL;
    uint32_t keys = k->tree->leaves;
    ir_id sorted = ir_mark_step(o->p, sorted_pairs(o, k, v, &both, 0)), first = sorted ? begins(o, sorted, keys) : 0;
    if (!first)
        return op_bad_array(o);
    ir_id own = ir_mark_step(o->p, some_components(o, sorted, 0, keys));
    if (lengths)
        *lengths = op_give_array(o, tree_leaf(o->b), lengths_of(o, sorted, first));
    if (grouped)
        *grouped = op_give_array(o, v->tree, some_components(o, sorted, keys, v->tree->leaves));
    return op_give_array(o, k->tree, own ? ir_pack(o->p, o->site, first, own) : 0);
}

sn_acc sn_group_at(sn_site at, sn_acc keys, sn_acc values, sn_acc *lengths, sn_acc *grouped)
{
    op o;
    bool started = op_start_array(&o, at, "group");
    if (lengths)
        *lengths = op_bad_array(&o);
    if (grouped)
        *grouped = op_bad_array(&o);
    const value *k = started ? op_take_array(&o, keys) : NULL, *v = started ? op_take_array(&o, values) : NULL;
    if (!k || !v || !is_row(&o, k, "the keys") || !is_row(&o, v, "the values"))
        return op_bad_array(&o);
    return group(&o, k, v, lengths, grouped);
}

/* --- merging --- */

/* The elements of one row, then those of another one of the same types. */
static ir_id behind(const op *o, ir_id first, ir_id second)
{
    ir_program *p = o->p;
    ir_id n = ir_extent(p, first, 0), all = ir_extent_add(p, n, ir_extent(p, second, 0)), term[IR_MAX_COMPONENTS];
    uint32_t components = ir_info(p, first)->components;
    ir_fn *fn = embed_index_fn(o, 1);
    ir_id i = fn->param[0], j = ir_op2(p, o->site, OP_SUB, i, n), inside = ir_op2(p, o->site, OP_LT, i, n);
    for (uint32_t k = 0; k < components; k++)
        term[k] = ir_cond(p, o->site, inside, ir_read(p, o->site, first, k, IR_SAFE, 1, &i),
                          ir_read(p, o->site, second, k, IR_SAFE, 1, &j));
    fn = ir_fn_close(p, fn, components, term);
    return fn ? ir_mark_step(p, ir_generate(p, o->site, 1, &all, fn)) : 0;
}

/* One behind the other; 0 after a mistake. */
static ir_id both_rows(op *o, const value *x, const value *y)
{
    if (!x || !y || !is_row(o, x, "the first array") || !is_row(o, y, "the second array"))
        return 0;
    const ir_type *type = value_types(o, x);
    if (!tree_equal(x->tree, y->tree) || memcmp(type, value_types(o, y), x->tree->leaves * sizeof *type) != 0)
        op_fail(o, "the arrays have elements of different types, %s and %s; convert one of them (sn_map)",
                value_text(o, x), value_text(o, y));
    else
        return behind(o, x->array, y->array);
    return 0;
}

/* A merge is a sort of both that looks first whether they are in order. */
sn_acc sn_merge_at(sn_site at, sn_acc a, sn_acc b)
{
    op o;
    bool started = op_start_array(&o, at, "merge");
    const value *x = started ? op_take_array(&o, a) : NULL, *y = started ? op_take_array(&o, b) : NULL;
    ir_id both = both_rows(&o, x, y);
    return both ? op_give_array(&o, x->tree, ir_sort(o.p, o.site, x->tree->leaves, NULL, both, IR_RUNS))
                : op_bad_array(&o);
}

sn_acc sn_merge_by_at(sn_site at, sn_fn less, sn_acc a, sn_acc b)
{
    op o;
    bool started = op_start_array(&o, at, "merge_by");
    const value *x = started ? op_take_array(&o, a) : NULL, *y = started ? op_take_array(&o, b) : NULL;
    ir_id both = both_rows(&o, x, y);
    ir_fn *fn = both ? take_comparison(&o, less, x) : NULL;
    return fn ? op_give_array(&o, x->tree, ir_sort(o.p, o.site, 0, fn, both, IR_RUNS)) : op_bad_array(&o);
}
