/* Stencils: the neighbours of a position as one value, read with sn_at, and what lies outside the array. */
#include "embed/value.h"

const sn_boundary sn_clamp = {.kind = IR_CLAMP};
const sn_boundary sn_mirror = {.kind = IR_MIRROR};
const sn_boundary sn_wrap = {.kind = IR_WRAP};

sn_boundary sn_constant_of(sn_scalar x)
{
    return (sn_boundary){.kind = IR_CONSTANT, .value = x};
}

sn_boundary sn_outside_of(sn_fn f)
{
    return (sn_boundary){.kind = IR_FUNCTION, .function = f};
}

/* One array of a stencil with its pattern and boundary, as the user gave them. */
typedef struct side {
    sn_acc array;
    sn_pattern pattern;
    sn_boundary boundary;
} side;

static uint32_t positions(const sn_pattern *pattern)
{
    uint32_t n = 1;
    for (int d = 0; d < pattern->rank; d++)
        n *= (uint32_t)pattern->extent[d];
    return n;
}

static bool check_pattern(const op *o, const sn_pattern *pattern, const value *a)
{
    unsigned rank = ir_info(o->p, a->array)->rank;
    if (rank < 1 || rank > 3)
        return op_fail(o,
                       "stencils are for arrays of rank 1 to 3, not %s; sn_slice takes dimensions away, sn_reshape "
                       "gives it others",
                       value_text(o, a));
    if (pattern->rank != (int)rank)
        return op_fail(o, "a pattern of rank %d for %s; sn_pattern takes an extent for each dimension", pattern->rank,
                       value_text(o, a));
    for (int d = 0; d < pattern->rank; d++)
        if (pattern->extent[d] < 1 || pattern->extent[d] > IR_MAX_PATTERN || pattern->extent[d] % 2 == 0)
            return op_fail(o, "extent %d of the pattern is %d; odd ones from 1 to %d are possible", d,
                           pattern->extent[d], IR_MAX_PATTERN);
    return true;
}

static bool set_boundary(const op *o, const sn_boundary *boundary, const value *a, ir_stencil *out)
{
    const ir_type *type = value_types(o, a);
    out->boundary = (ir_boundary)boundary->kind;
    if (boundary->kind == IR_FUNCTION) {
        lambda made;
        const tree *index = tree_flat(o->b, ir_info(o->p, a->array)->rank);
        if (!embed_lambda(o, boundary->function, 1, &index, embed_i64_types(), a->tree, type, &made))
            return false;
        out->function = made.fn;
        return true;
    }
    if (boundary->kind >= IR_CLAMP && boundary->kind <= IR_WRAP)
        return true;
    if (boundary->kind != IR_CONSTANT)
        return op_fail(o,
                       "there is no boundary of kind %d; sn_clamp, sn_mirror, sn_wrap, sn_constant(x) and "
                       "sn_outside(f) are boundaries",
                       boundary->kind);
    const value *v = op_take_scalar(o, boundary->value, "the boundary value");
    if (!v)
        return false;
    bool same = tree_equal(v->tree, a->tree);
    const ir_id *term = same ? embed_settle(o, v, type, "the boundary value") : NULL;
    if (same && !term)
        return false;
    for (uint32_t i = 0; same && i < a->tree->leaves; i++)
        same = ir_at(o->p, term[i])->type == (uint8_t)type[i];
    if (!same)
        return op_fail(o, "the boundary value must be %s like the elements, but is %s; convert it",
                       type_text(o, a->tree, type), value_text(o, v));
    out->constant = arena_copy(o->b->arena, term, a->tree->leaves * sizeof *term);
    return true;
}

/* The types of all neighbours of all arrays: the parameters of the function. */
static uint32_t add_neighbours(const op *o, const sn_pattern *pattern, const value *a, ir_type *type)
{
    uint32_t n = positions(pattern) * a->tree->leaves;
    const ir_type *element = value_types(o, a);
    for (uint32_t i = 0; type && i < n; i++)
        type[i] = element[i % a->tree->leaves];
    return n;
}

static sn_acc stencil(const op *o, sn_fn f, uint32_t n, const side *in)
{
    const value *a[2];
    ir_stencil s[2] = {{.boundary = IR_CLAMP}, {.boundary = IR_CLAMP}};
    ir_id array[2];
    value argument[2];
    uint32_t leaves = 0;
    bool good = true;
    for (uint32_t i = 0; i < n; i++) {
        a[i] = op_take_array(o, in[i].array);
        bool fine = a[i] && check_pattern(o, &in[i].pattern, a[i]) && set_boundary(o, &in[i].boundary, a[i], &s[i]);
        good &= fine;
        if (!fine)
            continue;
        for (int d = 0; d < in[i].pattern.rank; d++)
            s[i].extent[d] = (uint8_t)in[i].pattern.extent[d];
        array[i] = a[i]->array;
        leaves += add_neighbours(o, &in[i].pattern, a[i], NULL);
    }
    if (!good)
        return op_bad_array(o);
    ir_type *type = arena_array(o->b->arena, *type, leaves);
    for (uint32_t i = 0, at = 0; i < n; i++)
        at += add_neighbours(o, &in[i].pattern, a[i], type + at);
    ir_fn *fn = ir_fn_new(o->p, leaves, type);
    for (uint32_t i = 0, at = 0; i < n; i++) {
        argument[i] = (value){.kind = VALUE_NEIGHBOURS, .tree = a[i]->tree, .pattern = in[i].pattern};
        argument[i].term = fn->param + at;
        at += add_neighbours(o, &in[i].pattern, a[i], NULL);
    }
    lambda made;
    const value *result = embed_call(o, f, n, argument, fn->param[0], fn->param[leaves - 1]);
    if (!embed_close_lambda(o, fn, result, NULL, NULL, &made))
        return op_bad_array(o);
    return op_give_array(o, made.tree, ir_stencil_new(o->p, o->site, made.fn, n, array, s));
}

sn_acc sn_stencil_at(sn_site at, sn_fn f, sn_pattern pattern, sn_boundary boundary, sn_acc a)
{
    op o;
    side one = {a, pattern, boundary};
    return op_start_array(&o, at, "stencil") ? stencil(&o, f, 1, &one) : op_bad_array(&o);
}

sn_acc sn_stencil2_at(sn_site at, sn_fn f, sn_pattern pattern1, sn_boundary boundary1, sn_acc a1, sn_pattern pattern2,
                      sn_boundary boundary2, sn_acc a2)
{
    op o;
    side two[2] = {{a1, pattern1, boundary1}, {a2, pattern2, boundary2}};
    return op_start_array(&o, at, "stencil2") ? stencil(&o, f, 2, two) : op_bad_array(&o);
}

sn_scalar sn_neighbour_at(sn_site at, sn_scalar neighbours, int rank, const int *offset)
{
    op o;
    if (!op_start(&o, at, "at"))
        return op_bad_scalar(&o);
    const value *v = op_take(&o, neighbours.bits, "the operand");
    if (!v)
        return op_bad_scalar(&o);
    if (v->kind != VALUE_NEIGHBOURS || v->pattern.rank != rank) {
        if (v->kind != VALUE_NEIGHBOURS)
            op_fail(&o, "the operand is not what a stencil's function is given; sn_at reads only that");
        else
            op_fail(&o, "%d offsets in a pattern of rank %d; write one for each dimension", rank, v->pattern.rank);
        return op_bad_scalar(&o);
    }
    if (!op_check_list(&o, rank, offset, "offsets"))
        return op_bad_scalar(&o);
    uint32_t position = 0;
    for (int d = 0; d < rank; d++) {
        int half = v->pattern.extent[d] / 2;
        if (offset[d] < -half || offset[d] > half) {
            op_fail(&o,
                    "offset %d in dimension %d lies outside the pattern, %d to %d; make the pattern as large as what "
                    "is read",
                    offset[d], d, -half, half);
            return op_bad_scalar(&o);
        }
        position = position * (uint32_t)v->pattern.extent[d] + (uint32_t)(offset[d] + half);
    }
    return op_give_scalar(&o, v->tree, v->term + position * v->tree->leaves, NULL);
}
