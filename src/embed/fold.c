/* Reductions: folds with the user's operators, and the named ones. */
#include "embed/value.h"

bool embed_combination(const op *o, sn_fn f, const sn_scalar *z, sn_acc a, const char *in_order, combination *out)
{
    const value *v = op_take_array(o, a), *seed = z ? op_take_scalar(o, *z, "the initial value") : NULL;
    if (!v || (z && !seed))
        return false;
    const ir_type *element = value_types(o, v);
    if (seed && !tree_equal(seed->tree, v->tree))
        return op_fail(o, "the initial value must be %s like the elements, but is %s; convert it, or the elements",
                       type_text(o, v->tree, element), value_text(o, seed));
    *out = (combination){.v = v, .commutes = embed_declared_to_commute(f)};
    out->seed = seed ? embed_settle(o, seed, element, "the initial value") : NULL;
    if (seed && !out->seed)
        return false;
    const tree *both[2] = {v->tree, v->tree};
    uint32_t n = v->tree->leaves;
    ir_type type[2 * IR_MAX_COMPONENTS];
    memcpy(type, element, n * sizeof *type);
    memcpy(type + n, element, n * sizeof *type);
    lambda made;
    if (!embed_lambda(o, f, 2, both, type, v->tree, element, &made))
        return false;
    embed_expect_associative(o, f, made.fn, in_order);
    out->fn = made.fn;
    return true;
}

/* f over the innermost dimension of an array; seed NULL: none. */
static sn_acc fold(const op *o, sn_fn f, const sn_scalar *z, sn_acc a, bool all)
{
    combination c;
    if (!embed_combination(o, f, z, a, "sn_sfold keeps the order, ", &c))
        return op_bad_array(o);
    ir_id from = all ? embed_flatten(o, c.v->array) : c.v->array;
    if (from != c.v->array)
        ir_mark_step(o->p, from);
    unsigned flags = c.commutes ? IR_COMMUTES : 0;
    return op_give_array(o, c.v->tree, from ? ir_fold(o->p, o->site, c.fn, c.seed, from, flags) : 0);
}

sn_acc sn_fold_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "fold") ? fold(&o, f, &z, a, false) : op_bad_array(&o);
}

sn_acc sn_fold_all_at(sn_site at, sn_fn f, sn_scalar z, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "fold_all") ? fold(&o, f, &z, a, true) : op_bad_array(&o);
}

sn_acc sn_fold1_at(sn_site at, sn_fn f, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "fold1") ? fold(&o, f, NULL, a, false) : op_bad_array(&o);
}

sn_acc sn_fold1_all_at(sn_site at, sn_fn f, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "fold1_all") ? fold(&o, f, NULL, a, true) : op_bad_array(&o);
}

/* --- named reductions: of single values, with a primitive --- */

/* The array, if its elements are single values of one of these classes. */
static const value *take_plain(const op *o, sn_acc a, unsigned classes, const char *wanted)
{
    const value *v = op_take_array(o, a);
    if (!v)
        return NULL;
    if (!v->tree->leaf || !(ir_type_class(value_types(o, v)[0]) & classes))
        return op_fail(
            o, "reduces arrays of %s, but is given %s; convert its elements, or take one of their components (sn_get)",
            wanted, value_text(o, v));
    return v;
}

static ir_id fold_with(const op *o, ir_op which, ir_id array, const ir_id *seed, ir_id offsets)
{
    ir_type t = ir_info(o->p, array)->type[0], both[2] = {t, t};
    ir_fn *fn = ir_fn_new(o->p, 2, both);
    ir_id result = ir_op2(o->p, o->site, which, fn->param[0], fn->param[1]);
    fn = ir_fn_close(o->p, fn, 1, &result);
    if (!fn)
        return 0;
    return offsets ? ir_fold_seg(o->p, o->site, fn, seed, array, offsets, 0)
                   : ir_fold(o->p, o->site, fn, seed, array, 0);
}

ir_id embed_converted(const op *o, ir_id array, ir_type to)
{
    ir_type from = ir_info(o->p, array)->type[0];
    if (from == to)
        return array;
    ir_fn *fn = ir_fn_new(o->p, 1, &from);
    ir_id result = ir_convert(o->p, o->site, OP_CONVERT, to, fn->param[0]);
    fn = ir_fn_close(o->p, fn, 1, &result);
    return fn ? ir_mark_step(o->p, ir_map(o->p, o->site, 1, &array, fn, 0)) : 0;
}

/* The type that sums of this type are computed in (language, decision 12). */
static ir_type wide(ir_type t)
{
    switch (t) {
    case T_BOOL:
        return T_I64;
    case T_I8:
    case T_I16:
        return T_I32;
    case T_U8:
    case T_U16:
        return T_U32;
    default:
        return t;
    }
}

static const value *take_numbers(const op *o, sn_acc a)
{
    return take_plain(o, a, CLASS_NUM | CLASS_BOOL, "numbers or bool");
}

ir_id embed_summands(const op *o, sn_acc a)
{
    const value *v = take_numbers(o, a);
    return v ? embed_converted(o, v->array, wide(value_types(o, v)[0])) : 0;
}

sn_acc embed_accumulate(const op *o, ir_op which, int64_t neutral, sn_acc a, ir_id offsets)
{
    const value *v = take_numbers(o, a);
    if (!v)
        return op_bad_array(o);
    ir_type t = wide(value_types(o, v)[0]);
    ir_id array = embed_converted(o, v->array, t);
    ir_bits bits = t == T_F32   ? ir_bits_f32((float)neutral)
                   : t == T_F64 ? ir_bits_f64((double)neutral)
                                : ir_bits_i64(t, neutral);
    ir_id seed = ir_const(o->p, t, bits);
    return op_give_array(o, v->tree, array ? fold_with(o, which, array, &seed, offsets) : 0);
}

sn_acc sn_sum_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "sum") ? embed_accumulate(&o, OP_ADD, 0, a, 0) : op_bad_array(&o);
}

sn_acc sn_product_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "product") ? embed_accumulate(&o, OP_MUL, 1, a, 0) : op_bad_array(&o);
}

sn_acc embed_extreme(const op *o, ir_op which, sn_acc a, ir_id offsets)
{
    const value *v = take_plain(o, a, CLASS_ANY, "single values");
    return v ? op_give_array(o, v->tree, fold_with(o, which, v->array, NULL, offsets)) : op_bad_array(o);
}

sn_acc sn_minimum_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "minimum") ? embed_extreme(&o, OP_MIN, a, 0) : op_bad_array(&o);
}

sn_acc sn_maximum_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "maximum") ? embed_extreme(&o, OP_MAX, a, 0) : op_bad_array(&o);
}

static sn_acc of_bools(const op *o, ir_op which, bool neutral, sn_acc a)
{
    const value *v = take_plain(o, a, CLASS_BOOL, "bool");
    ir_id seed = v ? ir_bool(o->p, neutral) : 0;
    return v ? op_give_array(o, v->tree, fold_with(o, which, v->array, &seed, 0)) : op_bad_array(o);
}

sn_acc sn_all_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "all") ? of_bools(&o, OP_AND, true, a) : op_bad_array(&o);
}

sn_acc sn_any_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "any") ? of_bools(&o, OP_OR, false, a) : op_bad_array(&o);
}

sn_acc embed_count(const op *o, sn_acc a, ir_id offsets)
{
    const value *v = take_plain(o, a, CLASS_BOOL, "bool");
    ir_id wide_array = v ? embed_converted(o, v->array, T_I64) : 0, seed = ir_i64(o->p, 0);
    ir_id count = wide_array ? fold_with(o, OP_ADD, wide_array, &seed, offsets) : 0;
    return op_give_array(o, tree_leaf(o->b), count);
}

sn_acc sn_count_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "count") ? embed_count(&o, a, 0) : op_bad_array(&o);
}

/* --- argmin and argmax: a fold1 of (value, index) that keeps the left one unless the right one is better --- */

static ir_id with_index(const op *o, ir_id array)
{
    const ir_array *a = ir_info(o->p, array);
    ir_type type[IR_MAX_RANK + 1];
    memcpy(type, embed_i64_types(), a->rank * sizeof *type);
    type[a->rank] = a->type[0];
    ir_fn *fn = ir_fn_new(o->p, a->rank + 1u, type);
    ir_id pair[2] = {fn->param[a->rank], fn->param[a->rank - 1]};
    return ir_mark_step(o->p, ir_map(o->p, o->site, 1, &array, ir_fn_close(o->p, fn, 2, pair), IR_INDEXED));
}

/* right > left for `which` GT, and any number is better than a NaN: with NaNs below all numbers this is the leftmost
 * maximum of a total order, hence associative. */
static ir_fn *better_of(const op *o, ir_op which, ir_type t)
{
    ir_type type[4] = {t, T_I64, t, T_I64};
    ir_fn *fn = ir_fn_new(o->p, 4, type);
    ir_id left = fn->param[0], right = fn->param[2];
    ir_id better = ir_op2(o->p, o->site, which, right, left);
    if (ir_type_float(t)) {
        ir_id left_nan = ir_op2(o->p, o->site, OP_NE, left, left);
        ir_id right_number = ir_op2(o->p, o->site, OP_EQ, right, right);
        ir_id rescue = ir_op2(o->p, o->site, OP_AND, left_nan, right_number);
        better = ir_op2(o->p, o->site, OP_OR, better, rescue);
    }
    ir_id pair[2] = {ir_cond(o->p, o->site, better, right, left),
                     ir_cond(o->p, o->site, better, fn->param[3], fn->param[1])};
    return ir_fn_close(o->p, fn, 2, pair);
}

static sn_acc arg_extreme(const op *o, ir_op which, sn_acc a)
{
    const value *v = take_plain(o, a, CLASS_ANY, "single values");
    if (!v)
        return op_bad_array(o);
    if (ir_info(o->p, v->array)->rank == 0) {
        op_fail(o, "%s has no dimension to search; an array of rank 1 or more has", value_text(o, v));
        return op_bad_array(o);
    }
    ir_id pairs = with_index(o, v->array);
    ir_fn *fn = pairs ? better_of(o, which, ir_info(o->p, pairs)->type[0]) : NULL;
    ir_id best = fn ? ir_mark_step(o->p, ir_fold(o->p, o->site, fn, NULL, pairs, 0)) : 0;
    if (!best)
        return op_bad_array(o);
    ir_fn *second = ir_fn_new(o->p, 2, ir_info(o->p, best)->type);
    second = ir_fn_close(o->p, second, 1, second->param + 1);
    return op_give_array(o, tree_leaf(o->b), ir_map(o->p, o->site, 1, &best, second, 0));
}

sn_acc sn_argmin_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "argmin") ? arg_extreme(&o, OP_LT, a) : op_bad_array(&o);
}

sn_acc sn_argmax_at(sn_site at, sn_acc a)
{
    op o;
    return op_start_array(&o, at, "argmax") ? arg_extreme(&o, OP_GT, a) : op_bad_array(&o);
}
