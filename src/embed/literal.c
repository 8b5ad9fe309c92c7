/* C numbers among terms: a literal takes the type of what it meets where that type has exactly its value. */
#include "embed/value.h"
#include <math.h>
#include <stdio.h>

static sn_scalar lift(ir_type type, ir_bits bits)
{
    static const bool weak = true;
    op o;
    if (!op_start_here(&o, "literal"))
        return op_bad_scalar(&o);
    ir_id term = ir_const(o.p, type, bits);
    return op_give_scalar(&o, tree_leaf(o.b), &term, &weak);
}

sn_scalar sn_lift_scalar(sn_scalar x)
{
    return x;
}

sn_scalar sn_lift_bool(bool x)
{
    return lift(T_BOOL, x);
}

sn_scalar sn_lift_i32(int32_t x)
{
    return lift(T_I32, ir_bits_i64(T_I32, x));
}

sn_scalar sn_lift_u32(uint32_t x)
{
    return lift(T_U32, x);
}

sn_scalar sn_lift_i64(int64_t x)
{
    return lift(T_I64, (ir_bits)x);
}

sn_scalar sn_lift_u64(uint64_t x)
{
    return lift(T_U64, x);
}

sn_scalar sn_lift_f32(float x)
{
    return lift(T_F32, ir_bits_f32(x));
}

sn_scalar sn_lift_f64(double x)
{
    return lift(T_F64, ir_bits_f64(x));
}

/* --- conversion --- */

/* What a literal may be: an integer, with its sign apart, or a float. */
typedef struct number {
    bool is_float, is_single, negative;
    uint64_t magnitude;
    double real;
} number;

static number number_of(const op *o, ir_id literal)
{
    const ir_node *n = ir_at(o->p, literal);
    ir_type t = (ir_type)n->type;
    number v = {.is_float = ir_type_float(t), .is_single = t == T_F32};
    if (v.is_float) {
        v.real = t == T_F32 ? (double)ir_f32_bits(n->u.literal) : ir_f64_bits(n->u.literal);
        return v;
    }
    int64_t i = ir_i64_bits(t, n->u.literal);
    v.negative = ir_type_signed(t) && i < 0;
    v.magnitude = v.negative ? 0 - (uint64_t)i : n->u.literal;
    return v;
}

/* A float with a whole value below 2^64 as an integer. -0 is none: its sign would be lost. */
static bool make_whole(number *v)
{
    double size = fabs(v->real);
    if (!(size < 0x1p64) || trunc(size) != size || (size == 0 && signbit(v->real)))
        return false;
    v->negative = v->real < 0;
    v->magnitude = (uint64_t)size;
    return true;
}

static bool to_float(const number *v, ir_type type, ir_bits *out)
{
    double d = v->real;
    if (!v->is_float) {
        d = (double)v->magnitude; /* exact if it converts back; 2^64 would not fit back */
        if (d >= 0x1p64 || (uint64_t)d != v->magnitude)
            return false;
        d = v->negative ? -d : d;
    }
    float f = (float)d;
    *out = type == T_F32 ? ir_bits_f32(f) : ir_bits_f64(d);
    return type == T_F64 || isnan(d) || (double)f == d;
}

static bool to_whole(number v, ir_type type, ir_bits *out)
{
    if (v.is_float && !make_whole(&v))
        return false;
    unsigned bits = ir_type_bits(type);
    uint64_t most = type == T_CHAR ? 0x10ffff : UINT64_MAX >> (64 - bits);
    if (ir_type_signed(type))
        most = (most >> 1) + v.negative;
    else if (v.negative && v.magnitude)
        return false;
    if (v.magnitude > most)
        return false;
    *out = ir_bits_i64(type, (int64_t)(v.negative ? 0 - v.magnitude : v.magnitude));
    return true;
}

static const char *number_text(const op *o, ir_id literal)
{
    number v = number_of(o, literal);
    if (!v.is_float)
        return arena_printf(o->b->arena, "%s%llu", v.negative ? "-" : "", (unsigned long long)v.magnitude);
    text t;
    text_init(&t, o->b->arena);
    text_shortest(&t, v.real, v.is_single, 6);
    return t.at;
}

/* A state meets a type that its variable does not have: the function has to be run again with one that has. */
static ir_id state_as(const op *o, ir_id var, ir_type type)
{
    if (ir_at(o->p, var)->type == (uint8_t)type)
        return var;
    for (trial *t = o->b->trial; t; t = t->outer)
        for (uint32_t i = 0; i < t->n; i++)
            if (t->var[i] == var && t->type[i] == T_NONE) {
                t->type[i] = type;
                t->again = true;
            }
    return 0;
}

/* Has the type exactly the literal's value? */
static bool convert_number(const op *o, ir_id literal, ir_type type, ir_bits *out)
{
    number v = number_of(o, literal);
    return ir_type_float(type) ? to_float(&v, type, out) : to_whole(v, type, out);
}

bool embed_literal_fits(const op *o, ir_id literal, ir_type type)
{
    ir_bits bits;
    const ir_node *n = ir_at(o->p, literal);
    return n->type == (uint8_t)type || (n->kind == IR_CONST && convert_number(o, literal, type, &bits));
}

ir_id embed_literal_as(const op *o, ir_id literal, ir_type type, const char *what)
{
    ir_type own = (ir_type)ir_at(o->p, literal)->type;
    ir_bits bits;
    if (ir_at(o->p, literal)->kind == IR_VAR)
        return state_as(o, literal, type);
    if (own == type)
        return literal;
    if (convert_number(o, literal, type, &bits))
        return ir_const(o->p, type, bits);
    number v = number_of(o, literal);
    const char *n = number_text(o, literal), *t = ir_type_name(type);
    if (own == T_F64 && type == T_F32 && isfinite((float)v.real))
        op_fail(o, "%s is the literal %s, which no %s equals exactly; write %s%sf or sn_f32(%s) for the nearest one",
                what, n, t, n, strpbrk(n, ".e") ? "" : ".0", n);
    else
        op_fail(o, "%s is the literal %s, which no %s equals exactly; convert it, or the other operand", what, n, t);
    return 0;
}

const ir_id *embed_settle(const op *o, const value *v, const ir_type *type, const char *what)
{
    if (!v->weak)
        return v->term;
    ir_id *term = arena_copy(o->b->arena, v->term, v->tree->leaves * sizeof *term);
    for (uint32_t i = 0; i < v->tree->leaves; i++) {
        if (v->weak[i])
            term[i] = embed_literal_as(o, term[i], type[i], what);
        if (!term[i])
            return NULL;
    }
    return term;
}

ir_type embed_common_type(const op *o, uint32_t n, const ir_id *term, const bool *weak)
{
    static const uint8_t width[T_COUNT] = {
        [T_I32] = 1, [T_U32] = 2, [T_I64] = 3, [T_U64] = 4, [T_F32] = 5, [T_F64] = 6};
    ir_type widest = T_BOOL;
    for (uint32_t i = 0; i < n; i++) {
        ir_type t = (ir_type)ir_at(o->p, term[i])->type;
        if (!weak[i])
            return t;
        widest = width[t] > width[widest] ? t : widest;
    }
    return widest;
}

bool embed_unify(const op *o, uint32_t n, ir_id *term, const bool *weak)
{
    ir_type type = embed_common_type(o, n, term, weak);
    for (uint32_t i = 0; i < n; i++) {
        if (weak[i])
            term[i] = embed_literal_as(o, term[i], type, arena_printf(o->b->arena, "operand %u", i + 1));
        if (!term[i])
            return false;
    }
    return true;
}
