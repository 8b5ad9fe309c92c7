/* What every primitive means: ir_op_apply, one function per group of types. Compiled without contraction, so that a * b
 * and then + c rounds twice. */
#include "ir/math/math_c.h"
#include "ir/math/primitives.h"
#include "ir/ops.h"
#include <math.h>

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)

/* --- integers, bool and char, as 64-bit words --- */

static uint64_t all_ones(ir_type t)
{
    return ir_bits_i64(t, -1);
}

/* Shift and rotate counts have the operand's type; one outside 0 .. width - 1 is told by the caller. */
static uint64_t shift(ir_op op, ir_type t, uint64_t a, uint64_t count)
{
    unsigned bits = ir_type_bits(t);
    bool beyond = count >= bits; /* a negative count too: its zero-extended bits are large */
    if (op == OP_SHL)
        return beyond ? 0 : ir_bits_i64(t, (int64_t)(a << count));
    if (!ir_type_signed(t))
        return beyond ? 0 : a >> count;
    int64_t s = ir_i64_bits(t, a);
    return ir_bits_i64(t, s < 0 ? ~(~s >> (beyond ? 63 : count)) : s >> (beyond ? 63 : count));
}

static uint64_t rotate_left(ir_type t, uint64_t a, uint64_t count)
{
    unsigned bits = ir_type_bits(t), n = (unsigned)(count & (bits - 1)); /* widths are powers of two */
    return n ? ir_bits_i64(t, (int64_t)(a << n | a >> (bits - n))) : a;
}

static unsigned bit_length(uint64_t v)
{
    unsigned n = 0;
    for (unsigned step = 32; step; step /= 2)
        if (v >> step) {
            v >>= step;
            n += step;
        }
    return n + (v != 0);
}

static unsigned population(uint64_t v)
{
    unsigned n = 0;
    for (; v; v &= v - 1)
        n++;
    return n;
}

static bool divide_unsigned(ir_op op, uint64_t a, uint64_t b, uint64_t *out)
{
    if (!b)
        return false;
    *out = op == OP_DIV || op == OP_QUOT ? a / b : a % b;
    return true;
}

static bool divide_signed(ir_op op, ir_type t, int64_t a, int64_t b, uint64_t *out)
{
    int64_t least = ir_i64_bits(t, (uint64_t)1 << (ir_type_bits(t) - 1));
    if (b == 0 || (a == least && b == -1))
        return false;
    int64_t q = a / b, r = a % b;
    if ((op == OP_DIV || op == OP_MOD) && r != 0 && (r < 0) != (b < 0)) {
        q--;
        r += b;
    }
    *out = ir_bits_i64(t, op == OP_DIV || op == OP_QUOT ? q : r);
    return true;
}

static bool compare(ir_op op, bool less, bool equal, bool greater)
{
    switch (op) {
    case OP_EQ:
        return equal;
    case OP_NE:
        return !equal;
    case OP_LT:
        return less;
    case OP_LE:
        return less || equal;
    case OP_GT:
        return greater;
    default:
        return greater || equal;
    }
}

static bool is_comparison(ir_op op)
{
    return op >= OP_EQ && op <= OP_GE;
}

static bool apply_word(ir_op op, ir_type t, const ir_bits *in, ir_bits *out)
{
    const bool is_i64 = t == T_I64; /* most are: indices */
    uint64_t a = in[0], b = ir_ops[op].arity > 1 ? in[1] : 0;
    int64_t sa = is_i64 ? (int64_t)a : ir_i64_bits(t, a), sb = is_i64 ? (int64_t)b : ir_i64_bits(t, b);
    bool is_signed = is_i64 || ir_type_signed(t);
    bool less = is_signed ? sa < sb : a < b;
    if (is_comparison(op)) {
        *out = compare(op, less, a == b, is_signed ? sa > sb : a > b);
        return true;
    }
    switch (op) {
    case OP_ADD:
        *out = is_i64 ? a + b : ir_bits_i64(t, (int64_t)(a + b));
        return true;
    case OP_SUB:
        *out = is_i64 ? a - b : ir_bits_i64(t, (int64_t)(a - b));
        return true;
    case OP_MUL:
        *out = is_i64 ? a * b : ir_bits_i64(t, (int64_t)(a * b));
        return true;
    case OP_DIV:
    case OP_MOD:
    case OP_QUOT:
    case OP_REM:
        return is_signed ? divide_signed(op, t, sa, sb, out) : divide_unsigned(op, a, b, out);
    case OP_NEG:
        *out = ir_bits_i64(t, (int64_t)(0 - a));
        return true;
    case OP_ABS:
        *out = is_signed && sa < 0 ? ir_bits_i64(t, (int64_t)(0 - a)) : a;
        return true;
    case OP_SIGNUM:
        *out = is_signed && sa < 0 ? all_ones(t) : a != 0;
        return true;
    case OP_MIN:
        *out = less ? a : b;
        return true;
    case OP_MAX:
        *out = less ? b : a;
        return true;
    case OP_BIT_AND:
    case OP_AND:
        *out = a & b;
        return true;
    case OP_BIT_OR:
    case OP_OR:
        *out = a | b;
        return true;
    case OP_BIT_XOR:
        *out = a ^ b;
        return true;
    case OP_BIT_NOT:
    case OP_NOT:
        *out = a ^ all_ones(t);
        return true;
    case OP_SHL:
    case OP_SHR:
        *out = shift(op, t, a, b);
        return true;
    case OP_ROTL:
        *out = rotate_left(t, a, b);
        return true;
    case OP_ROTR:
        *out = rotate_left(t, a, 0 - b);
        return true;
    case OP_POPCOUNT:
        *out = population(a);
        return true;
    case OP_CLZ:
        *out = ir_type_bits(t) - bit_length(a);
        return true;
    case OP_CTZ:
        *out = a ? bit_length(a & (0 - a)) - 1 : ir_type_bits(t);
        return true;
    default:
        return false;
    }
}

/* --- floats: the same text for both types --- */

static float pick_f32(bool larger, float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b) /* the sign decides between zeros */
        return (signbit(a) != 0) == larger ? b : a;
    return (a > b) == larger ? a : b;
}

static double pick_f64(bool larger, double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    if (a == b)
        return (signbit(a) != 0) == larger ? b : a;
    return (a > b) == larger ? a : b;
}

/* Operators whose result is not a float; *out is 0 or 1. */
static bool test_float(ir_op op, double a, double b, ir_bits *out)
{
    if (is_comparison(op)) {
        *out = compare(op, a<b, a == b, a> b);
        return true;
    }
    bool holds;
    switch (op) {
    case OP_IS_NAN:
        holds = isnan(a);
        break;
    case OP_IS_INF:
        holds = isinf(a);
        break;
    case OP_IS_FINITE:
        holds = isfinite(a);
        break;
    case OP_SIGN_BIT:
        holds = signbit(a);
        break;
    default:
        return false;
    }
    *out = holds;
    return true;
}

/* F(name) is the C function of the type, REAL the type. */
#define FLOAT_CASES(REAL, F, PICK)                                                                                     \
    case OP_ADD:                                                                                                       \
        return a + b;                                                                                                  \
    case OP_SUB:                                                                                                       \
        return a - b;                                                                                                  \
    case OP_MUL:                                                                                                       \
        return a * b;                                                                                                  \
    case OP_DIV:                                                                                                       \
        return a / b;                                                                                                  \
    case OP_NEG:                                                                                                       \
        return -a;                                                                                                     \
    case OP_ABS:                                                                                                       \
        return F(fabs)(a);                                                                                             \
    case OP_SIGNUM:                                                                                                    \
        if (isnan(a) || a == 0)                                                                                        \
            return a;                                                                                                  \
        return F(copysign)((REAL)1, a);                                                                                \
    case OP_MIN:                                                                                                       \
        return PICK(false, a, b);                                                                                      \
    case OP_MAX:                                                                                                       \
        return PICK(true, a, b);                                                                                       \
    case OP_FMA:                                                                                                       \
        return F(fma)(a, b, c);                                                                                        \
    case OP_FLOOR:                                                                                                     \
        return F(floor)(a);                                                                                            \
    case OP_CEIL:                                                                                                      \
        return F(ceil)(a);                                                                                             \
    case OP_TRUNC:                                                                                                     \
        return F(trunc)(a);                                                                                            \
    case OP_ROUND:                                                                                                     \
        return F(round)(a);                                                                                            \
    case OP_RINT:                                                                                                      \
        return F(rint)(a);                                                                                             \
    case OP_COPY_SIGN:                                                                                                 \
        return F(copysign)(a, b);                                                                                      \
    case OP_SQRT:                                                                                                      \
        return F(sqrt)(a)

#define C_F32(name) CONCAT(name, f)
#define C_F64(name) name
#define MATH_1 (a)
#define MATH_2 (a, b)

static float apply_f32(ir_op op, float a, float b, float c)
{
    switch (op) {
        FLOAT_CASES(float, C_F32, pick_f32);
#define SN_MATH(ID, name, arity)                                                                                       \
    case OP_##ID:                                                                                                      \
        return sn_math_##name##_f32 MATH_##arity;
#include "ir/math/functions.def"
#undef SN_MATH
    case OP_SCALE:
        return sn_scale_f32(a, b);
    case OP_EXPONENT:
        return sn_exponent_f32(a);
    case OP_SIGNIFICAND:
        return sn_significand_f32(a);
#define SN_TABLE(ID, name)                                                                                             \
    case OP_LOOK_##ID:                                                                                                 \
        return sn_look_##name##_f32(a);
        SN_TABLES
#undef SN_TABLE
    default:
        return 0;
    }
}

static double apply_f64(ir_op op, double a, double b, double c)
{
    switch (op) {
        FLOAT_CASES(double, C_F64, pick_f64);
#define SN_MATH(ID, name, arity)                                                                                       \
    case OP_##ID:                                                                                                      \
        return sn_math_##name##_f64 MATH_##arity;
#include "ir/math/functions.def"
#undef SN_MATH
    case OP_SCALE:
        return sn_scale_f64(a, b);
    case OP_EXPONENT:
        return sn_exponent_f64(a);
    case OP_SIGNIFICAND:
        return sn_significand_f64(a);
#define SN_TABLE(ID, name)                                                                                             \
    case OP_LOOK_##ID:                                                                                                 \
        return sn_look_##name##_f64(a);
        SN_TABLES
#undef SN_TABLE
    default:
        return 0;
    }
}

/* --- conversions --- */

static ir_bits float_to_integer(double v, ir_type to)
{
    unsigned bits = ir_type_bits(to);
    bool is_signed = ir_type_signed(to);
    if (isnan(v))
        return 0;
    double above = ldexp(1.0, (int)(is_signed ? bits - 1 : bits)); /* the first value that is too large */
    uint64_t top = is_signed ? all_ones(to) >> 1 : all_ones(to);
    if (v >= above)
        return top;
    if (is_signed)
        return v < -above ? top + 1 : ir_bits_i64(to, (int64_t)v);
    return v <= -1 ? 0 : (uint64_t)v;
}

static ir_bits convert_value(ir_type from, ir_type to, ir_bits a)
{
    if (from == to)
        return a;
    if (ir_type_float(from)) {
        double v = from == T_F32 ? (double)ir_f32_bits(a) : ir_f64_bits(a);
        if (to == T_F32)
            return ir_bits_f32((float)v);
        if (to == T_F64)
            return ir_bits_f64(v);
        return to == T_BOOL ? (ir_bits)(v != 0) : float_to_integer(v, to);
    }
    int64_t v = ir_i64_bits(from, a);
    if (to == T_F32)
        return ir_bits_f32(ir_type_signed(from) ? (float)v : (float)a);
    if (to == T_F64)
        return ir_bits_f64(ir_type_signed(from) ? (double)v : (double)a);
    return to == T_BOOL ? (ir_bits)(a != 0) : ir_bits_i64(to, v);
}

bool ir_op_apply(ir_op op, ir_type type, ir_type result, const ir_bits *in, ir_bits *out)
{
    *out = 0;
    if (ir_op_result(op, type, result) == T_NONE)
        return false;
    if (op == OP_BITCAST || op == OP_TRACE) {
        *out = in[0];
        return true;
    }
    if (op == OP_CONVERT) {
        *out = convert_value(type, result, in[0]);
        return true;
    }
    if (!ir_type_float(type))
        return apply_word(op, type, in, out);
    unsigned arity = ir_ops[op].arity;
    ir_bits second = arity > 1 ? in[1] : 0, third = arity > 2 ? in[2] : 0;
    if (type == T_F32) {
        float a = ir_f32_bits(in[0]), b = ir_f32_bits(second);
        if (!test_float(op, (double)a, (double)b, out))
            *out = ir_bits_f32(apply_f32(op, a, b, ir_f32_bits(third)));
        return true;
    }
    double a = ir_f64_bits(in[0]), b = ir_f64_bits(second);
    if (!test_float(op, a, b, out))
        *out = ir_bits_f64(apply_f64(op, a, b, ir_f64_bits(third)));
    return true;
}

bool ir_op_open(ir_op op, ir_type type, const ir_bits *in)
{
    if (op != OP_SCALE)
        return false;
    double a = type == T_F32 ? (double)ir_f32_bits(in[0]) : ir_f64_bits(in[0]);
    double b = type == T_F32 ? (double)ir_f32_bits(in[1]) : ir_f64_bits(in[1]);
    double most = type == T_F32 ? 250 : 2000;
    if (isnan(a))
        return isinf(b);
    return !(fabs(a) >= 0x1p-60 && fabs(a) <= 0x1p60 && fabs(b) <= most);
}
