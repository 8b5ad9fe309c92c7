/* The operator table and what every primitive means: 8-bit integers exhaustively against wide arithmetic, edges of
 * every other type, floats with NaN, infinities, zeros and subnormals, conversions, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>

#include "ir/ops.h"

static const ir_type integers[] = {T_I8, T_I16, T_I32, T_I64, T_U8, T_U16, T_U32, T_U64};

static ir_bits apply1(ir_op op, ir_type t, ir_bits a)
{
    ir_bits out = 99;
    assert_true(ir_op_apply(op, t, T_NONE, &a, &out));
    return out;
}

static ir_bits apply2(ir_op op, ir_type t, ir_bits a, ir_bits b)
{
    ir_bits in[2] = {a, b}, out = 99;
    assert_true(ir_op_apply(op, t, T_NONE, in, &out));
    return out;
}

static bool fails(ir_op op, ir_type t, ir_bits a, ir_bits b)
{
    ir_bits in[2] = {a, b}, out = 99;
    bool good = ir_op_apply(op, t, T_NONE, in, &out);
    if (!good)
        assert_int_equal(out, 0);
    return !good;
}

static ir_bits convert(ir_type from, ir_type to, ir_bits a)
{
    ir_bits out = 99;
    assert_true(ir_op_apply(OP_CONVERT, from, to, &a, &out));
    return out;
}

static void names_are_found(void **state)
{
    (void)state;
    for (unsigned op = 1; op < OP_COUNT; op++) {
        const char *name = ir_ops[op].name;
        assert_int_equal(ir_op_named(name, strlen(name)), op);
        assert_true(ir_ops[op].arity >= 1 && ir_ops[op].arity <= 3);
        assert_true(strlen(ir_ops[op].doc) >= 3);
    }
    for (unsigned t = 1; t < T_COUNT; t++) {
        const char *name = ir_type_name((ir_type)t);
        assert_int_equal(ir_type_named(name, strlen(name)), t);
    }
    assert_int_equal(ir_op_named("ad", 2), OP_NONE);
    assert_int_equal(ir_type_named("f3", 2), T_NONE);
    assert_string_equal(ir_type_name(T_NONE), "?");
}

static void types_are_consistent(void **state)
{
    (void)state;
    for (unsigned t = 1; t < T_COUNT; t++) {
        unsigned bits = ir_type_bits((ir_type)t);
        assert_int_equal(ir_type_size((ir_type)t), t == T_BOOL ? 1 : bits / 8);
        assert_true(ir_type_class((ir_type)t) != 0);
    }
    assert_true(ir_type_signed(T_I8) && !ir_type_signed(T_U8) && !ir_type_signed(T_F32) && !ir_type_signed(T_CHAR));
}

/* An operator is defined on a type exactly where the table says so, and then apply has an answer. */
static void definedness_follows_the_table(void **state)
{
    (void)state;
    for (unsigned op = 1; op < OP_COUNT; op++)
        for (unsigned t = 1; t < T_COUNT; t++) {
            ir_bits in[3] = {1, 1, 1}, out;
            bool in_class = (ir_ops[op].classes & ir_type_class((ir_type)t)) != 0;
            ir_type wanted = ir_ops[op].signature == SIGNATURE_CONVERT ? (ir_type)t : T_NONE;
            ir_type result = ir_op_result((ir_op)op, (ir_type)t, wanted);
            if (!in_class)
                assert_int_equal(result, T_NONE);
            if (in_class && !(ir_ops[op].flags & OP_MATH))
                assert_int_not_equal(result, T_NONE);
            assert_int_equal(ir_op_apply((ir_op)op, (ir_type)t, wanted, in, &out), result != T_NONE);
        }
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return (int64_t)floor((double)a / (double)b);
}

/* All pairs of 8-bit values; the expected value is computed in wide arithmetic and wrapped at the end. */
static void check_pair(ir_type t, int64_t a, int64_t b)
{
    ir_bits x = ir_bits_i64(t, a), y = ir_bits_i64(t, b);
    uint8_t ua = (uint8_t)a, ub = (uint8_t)b;
    const struct {
        ir_op op;
        int64_t value;
    } wanted[] = {{OP_ADD, a + b},
                  {OP_SUB, a - b},
                  {OP_MUL, a * b},
                  {OP_MIN, a < b ? a : b},
                  {OP_MAX, a < b ? b : a},
                  {OP_BIT_AND, ua & ub},
                  {OP_BIT_OR, ua | ub},
                  {OP_BIT_XOR, ua ^ ub},
                  {OP_SHL, b < 0 || b > 7 ? 0 : (int64_t)ua << b},
                  {OP_SHR, b < 0 || b > 7 ? (a < 0 ? -1 : 0) : floor_div(a, (int64_t)1 << b)},
                  {OP_ROTL, ua << (b & 7) | ua >> ((8 - (b & 7)) & 7)},
                  {OP_ROTR, ua >> (b & 7) | ua << ((8 - (b & 7)) & 7)}};
    for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++)
        if (apply2(wanted[i].op, t, x, y) != ir_bits_i64(t, wanted[i].value))
            fail_msg("%s %s %d %d", ir_ops[wanted[i].op].name, ir_type_name(t), (int)a, (int)b);
    const struct {
        ir_op op;
        bool value;
    } tests[] = {{OP_EQ, a == b}, {OP_NE, a != b}, {OP_LT, a < b}, {OP_LE, a <= b}, {OP_GT, a > b}, {OP_GE, a >= b}};
    for (size_t i = 0; i < ARRAY_LENGTH(tests); i++)
        assert_int_equal(apply2(tests[i].op, t, x, y), tests[i].value);
    bool undefined = b == 0 || (t == T_I8 && a == -128 && b == -1);
    for (ir_op op = OP_DIV; op <= OP_REM; op++)
        assert_int_equal(fails(op, t, x, y), undefined);
    if (undefined)
        return;
    int64_t down = floor_div(a, b), zero = (int64_t)((double)a / (double)b);
    assert_int_equal(apply2(OP_DIV, t, x, y), ir_bits_i64(t, down));
    assert_int_equal(apply2(OP_MOD, t, x, y), ir_bits_i64(t, a - down * b));
    assert_int_equal(apply2(OP_QUOT, t, x, y), ir_bits_i64(t, zero));
    assert_int_equal(apply2(OP_REM, t, x, y), ir_bits_i64(t, a - zero * b));
}

static void bytes_exhaustively(void **state)
{
    (void)state;
    for (int64_t a = 0; a < 256; a++)
        for (int64_t b = 0; b < 256; b++) {
            check_pair(T_U8, a, b);
            check_pair(T_I8, a - 128, b - 128);
        }
}

static void bytes_one_operand(void **state)
{
    (void)state;
    for (int64_t v = -128; v < 128; v++) {
        ir_bits x = ir_bits_i64(T_I8, v);
        unsigned ones = 0, leading = 8, trailing = 8;
        for (unsigned k = 0; k < 8; k++)
            if (x >> k & 1) {
                ones++;
                leading = 7 - k;
                trailing = trailing == 8 ? k : trailing;
            }
        for (unsigned s = 0; s < 2; s++) {
            ir_type t = s ? T_I8 : T_U8;
            assert_int_equal(apply1(OP_POPCOUNT, t, x), ones);
            assert_int_equal(apply1(OP_CLZ, t, x), leading);
            assert_int_equal(apply1(OP_CTZ, t, x), trailing);
            assert_int_equal(apply1(OP_NEG, t, x), ir_bits_i64(t, -v));
            assert_int_equal(apply1(OP_BIT_NOT, t, x), ir_bits_i64(t, ~v));
        }
        assert_int_equal(apply1(OP_ABS, T_I8, x), ir_bits_i64(T_I8, v < 0 ? -v : v));
        assert_int_equal(apply1(OP_SIGNUM, T_I8, x), ir_bits_i64(T_I8, (v > 0) - (v < 0)));
        assert_int_equal(apply1(OP_ABS, T_U8, x), x);
        assert_int_equal(apply1(OP_SIGNUM, T_U8, x), x != 0);
    }
}

static void every_integer_type_at_its_edges(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(integers); i++) {
        ir_type t = integers[i];
        unsigned bits = ir_type_bits(t);
        ir_bits ones = ir_bits_i64(t, -1), top = (ir_bits)1 << (bits - 1);
        assert_int_equal(apply2(OP_ADD, t, ones, 1), 0);
        assert_int_equal(apply2(OP_SUB, t, 0, 1), ones);
        assert_int_equal(apply2(OP_MUL, t, ones, ones), 1);
        assert_int_equal(apply2(OP_MUL, t, top, 2), 0);
        assert_int_equal(apply2(OP_LT, t, ones, 0), ir_type_signed(t));
        assert_int_equal(apply2(OP_MIN, t, ones, 1), ir_type_signed(t) ? ones : 1);
        assert_int_equal(apply2(OP_SHL, t, 1, bits - 1), top);
        assert_int_equal(apply2(OP_SHL, t, 1, bits), 0);
        assert_int_equal(apply2(OP_SHL, t, 1, ones), 0);
        assert_int_equal(apply2(OP_SHR, t, top, bits - 1), ir_type_signed(t) ? ones : 1);
        assert_int_equal(apply2(OP_SHR, t, top, bits), ir_type_signed(t) ? ones : 0);
        assert_int_equal(apply2(OP_SHR, t, top, ones), ir_type_signed(t) ? ones : 0);
        assert_int_equal(apply2(OP_ROTL, t, top, 1), 1);
        assert_int_equal(apply2(OP_ROTR, t, 1, 1), top);
        assert_int_equal(apply2(OP_ROTL, t, 5, bits), 5);
        assert_int_equal(apply1(OP_CLZ, t, 0), bits);
        assert_int_equal(apply1(OP_CTZ, t, 0), bits);
        assert_int_equal(apply1(OP_CTZ, t, top), bits - 1);
        assert_int_equal(apply1(OP_POPCOUNT, t, ones), bits);
        for (ir_op op = OP_DIV; op <= OP_REM; op++) {
            assert_true(fails(op, t, 7, 0));
            assert_int_equal(fails(op, t, top, ones), ir_type_signed(t));
            assert_true(ir_op_partial(op, t));
        }
        assert_false(ir_op_partial(OP_ADD, t));
    }
    assert_false(ir_op_partial(OP_DIV, T_F32));
}

static void logic(void **state)
{
    (void)state;
    for (ir_bits a = 0; a < 2; a++)
        for (ir_bits b = 0; b < 2; b++) {
            assert_int_equal(apply2(OP_AND, T_BOOL, a, b), a && b);
            assert_int_equal(apply2(OP_OR, T_BOOL, a, b), a || b);
            assert_int_equal(apply2(OP_LT, T_BOOL, a, b), a < b);
            assert_int_equal(apply2(OP_MAX, T_BOOL, a, b), a > b ? a : b);
        }
    assert_int_equal(apply1(OP_NOT, T_BOOL, 0), 1);
    assert_int_equal(apply1(OP_NOT, T_BOOL, 1), 0);
}

static const double reals[] = {0.0,  -0.0,  1.0,   -1.0, 0.5,  -0.5, 1.5,      -1.5,      2.5,        -2.5,
                               1e30, -1e30, 1e-40, 3.7,  -3.7, NAN,  INFINITY, -INFINITY, 16777217.0, 0.1};

static bool same_real(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static double wanted_min(double a, double b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    if (a == 0 && b == 0)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}

static double real2(ir_op op, ir_type t, double a, double b)
{
    if (t == T_F32)
        return (double)ir_f32_bits(apply2(op, t, ir_bits_f32((float)a), ir_bits_f32((float)b)));
    return ir_f64_bits(apply2(op, t, ir_bits_f64(a), ir_bits_f64(b)));
}

static double real1(ir_op op, ir_type t, double a)
{
    if (t == T_F32)
        return (double)ir_f32_bits(apply1(op, t, ir_bits_f32((float)a)));
    return ir_f64_bits(apply1(op, t, ir_bits_f64(a)));
}

static void check_reals(ir_type t, double a, double b)
{
    bool single = t == T_F32;
    if (single) {
        a = (double)(float)a;
        b = (double)(float)b;
    }
#define ROUNDED(e) (single ? (double)(float)(e) : (e)) /* one f64 operation on f32 values rounds to the f32 result */
    assert_true(same_real(real2(OP_ADD, t, a, b), ROUNDED(a + b)));
    assert_true(same_real(real2(OP_SUB, t, a, b), ROUNDED(a - b)));
    assert_true(same_real(real2(OP_MUL, t, a, b), ROUNDED(a * b)));
    assert_true(same_real(real2(OP_DIV, t, a, b), ROUNDED(a / b)));
    assert_true(same_real(real2(OP_MIN, t, a, b), wanted_min(a, b)));
    assert_true(same_real(real2(OP_MAX, t, a, b), -wanted_min(-a, -b)));
    assert_true(same_real(real2(OP_COPY_SIGN, t, a, b), signbit(b) ? -fabs(a) : fabs(a)) || isnan(a));
    const struct {
        ir_op op;
        bool value;
    } tests[] = {{OP_EQ, a == b}, {OP_NE, a != b}, {OP_LT, a < b}, {OP_LE, a <= b}, {OP_GT, a > b}, {OP_GE, a >= b}};
    for (size_t i = 0; i < ARRAY_LENGTH(tests); i++) {
        ir_bits x = single ? ir_bits_f32((float)a) : ir_bits_f64(a),
                y = single ? ir_bits_f32((float)b) : ir_bits_f64(b);
        assert_int_equal(apply2(tests[i].op, t, x, y), tests[i].value);
    }
}

static void floats_of_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(reals); i++)
        for (size_t j = 0; j < ARRAY_LENGTH(reals); j++) {
            check_reals(T_F32, reals[i], reals[j]);
            check_reals(T_F64, reals[i], reals[j]);
        }
}

static void check_real(ir_type t, double a)
{
    ir_bits x = t == T_F32 ? ir_bits_f32((float)a) : ir_bits_f64(a);
    if (t == T_F32)
        a = (double)(float)a;
    assert_true(same_real(real1(OP_NEG, t, a), -a));
    assert_true(same_real(real1(OP_ABS, t, a), fabs(a)));
    assert_true(same_real(real1(OP_SIGNUM, t, a), isnan(a) || a == 0 ? a : a < 0 ? -1 : 1));
    assert_true(same_real(real1(OP_FLOOR, t, a), floor(a)));
    assert_true(same_real(real1(OP_CEIL, t, a), ceil(a)));
    assert_true(same_real(real1(OP_TRUNC, t, a), trunc(a)));
    assert_true(same_real(real1(OP_ROUND, t, a), round(a)));
    assert_true(same_real(real1(OP_RINT, t, a), rint(a)));
    assert_int_equal(apply1(OP_IS_NAN, t, x), a != a);
    assert_int_equal(apply1(OP_IS_INF, t, x), fabs(a) == INFINITY);
    assert_int_equal(apply1(OP_IS_FINITE, t, x), fabs(a) < INFINITY);
    assert_int_equal(apply1(OP_SIGN_BIT, t, x), x >> (ir_type_bits(t) - 1));
}

static void floats_of_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(reals); i++) {
        check_real(T_F32, reals[i]);
        check_real(T_F64, reals[i]);
    }
    assert_true(real1(OP_ROUND, T_F64, 2.5) == 3 && real1(OP_RINT, T_F64, 2.5) == 2);
    assert_true(real1(OP_SQRT, T_F32, 2) == (double)1.41421356f && isnan(real1(OP_SQRT, T_F64, -1)));
}

static void fma_rounds_once(void **state)
{
    (void)state;
    double a = 1 + 0x1p-30, out;
    ir_bits in[3] = {ir_bits_f64(a), ir_bits_f64(a), ir_bits_f64(-1)}, bits;
    assert_true(ir_op_apply(OP_FMA, T_F64, T_NONE, in, &bits));
    out = ir_f64_bits(bits);
    assert_true(out == 0x1p-29 + 0x1p-60);
    assert_true(real2(OP_SUB, T_F64, real2(OP_MUL, T_F64, a, a), 1) == 0x1p-29); /* and a product rounds on its own */
    float s = 1 + 0x1p-15f;
    ir_bits in32[3] = {ir_bits_f32(s), ir_bits_f32(s), ir_bits_f32(-1)};
    assert_true(ir_op_apply(OP_FMA, T_F32, T_NONE, in32, &bits));
    assert_true(ir_f32_bits(bits) == 0x1p-14f + 0x1p-30f);
}

static void integers_convert(void **state)
{
    (void)state;
    assert_int_equal(convert(T_I32, T_I8, ir_bits_i64(T_I32, 300)), 44);
    assert_int_equal(convert(T_I8, T_I64, ir_bits_i64(T_I8, -3)), (ir_bits)-3);
    assert_int_equal(convert(T_I8, T_U32, ir_bits_i64(T_I8, -3)), 0xfffffffdu);
    assert_int_equal(convert(T_U8, T_I32, 0xfd), 253);
    assert_int_equal(convert(T_I64, T_BOOL, (ir_bits)1 << 40), 1);
    assert_int_equal(convert(T_I64, T_BOOL, 0), 0);
    assert_int_equal(convert(T_BOOL, T_U8, 1), 1);
    assert_int_equal(convert(T_CHAR, T_I32, 0x1f600), 0x1f600);
    assert_int_equal(convert(T_I8, T_CHAR, 0xff), 0xffffffffu);
    assert_true(ir_f64_bits(convert(T_U64, T_F64, UINT64_MAX)) == 0x1p64);
    assert_true(ir_f32_bits(convert(T_U64, T_F32, UINT64_MAX)) == 0x1p64f);
    assert_true(ir_f64_bits(convert(T_I64, T_F64, (ir_bits)INT64_MIN)) == -0x1p63);
    /* once rounded, not by way of f64: 2^54 + 2^30 + 1 lies just above the middle of two f32 values */
    assert_true(ir_f32_bits(convert(T_I64, T_F32, 0x40000040000001)) == 0x1.000002p54f);
}

static void floats_convert(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(integers); i++) {
        ir_type t = integers[i];
        unsigned bits = ir_type_bits(t);
        ir_bits least = ir_type_signed(t) ? (ir_bits)1 << (bits - 1) : 0;
        ir_bits most = ir_type_signed(t) ? least - 1 : ir_bits_i64(t, -1);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(NAN)), 0);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(INFINITY)), most);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(-INFINITY)), least);
        assert_int_equal(convert(T_F32, t, ir_bits_f32(1e30f)), most);
        assert_int_equal(convert(T_F32, t, ir_bits_f32(-1e30f)), least);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(-0.9)), 0);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(99.9)), 99);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(-99.9)), ir_type_signed(t) ? ir_bits_i64(t, -99) : 0);
        double top = ir_type_signed(t) ? ldexp(1, (int)bits - 1) : ldexp(1, (int)bits);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(nextafter(top, 0))),
                         bits == 64 ? (ir_bits)nextafter(top, 0) : most);
        assert_int_equal(convert(T_F64, t, ir_bits_f64(top)), most);
    }
    assert_int_equal(convert(T_F32, T_BOOL, ir_bits_f32(-0.0f)), 0);
    assert_int_equal(convert(T_F32, T_BOOL, ir_bits_f32(NAN)), 1);
    assert_true(ir_f32_bits(convert(T_F64, T_F32, ir_bits_f64(1e300))) == INFINITY);
    assert_true(ir_f32_bits(convert(T_F64, T_F32, ir_bits_f64(0.1))) == 0.1f);
}

static void bits_convert(void **state)
{
    (void)state;
    ir_bits in = ir_bits_f32(-1.5f), out;
    assert_true(ir_op_apply(OP_BITCAST, T_F32, T_U32, &in, &out));
    assert_int_equal(out, 0xbfc00000u);
    assert_int_equal(ir_op_result(OP_BITCAST, T_F32, T_I32), T_I32);
    assert_int_equal(ir_op_result(OP_BITCAST, T_F32, T_CHAR), T_CHAR);
    assert_int_equal(ir_op_result(OP_BITCAST, T_F32, T_I64), T_NONE);
    assert_int_equal(ir_op_result(OP_BITCAST, T_U8, T_BOOL), T_NONE);
    assert_int_equal(ir_op_result(OP_CONVERT, T_F32, T_NONE), T_NONE);
    assert_false(ir_op_apply(OP_BITCAST, T_F32, T_I64, &in, &out));
    assert_false(ir_op_apply(OP_SQRT, T_I32, T_NONE, &in, &out));
}

static void values_pass_through_words(void **state)
{
    (void)state;
    assert_int_equal(ir_bits_i64(T_I8, -1), 0xff);
    assert_int_equal(ir_i64_bits(T_I8, 0xff), -1);
    assert_int_equal(ir_i64_bits(T_U8, 0xff), 255);
    assert_int_equal(ir_bits_i64(T_BOOL, -1), 1);
    assert_int_equal(ir_i64_bits(T_I64, ir_bits_i64(T_I64, INT64_MIN)), INT64_MIN);
    assert_int_equal(ir_bits_f32(-0.0f), 0x80000000u);
    assert_int_equal(ir_bits_f64(-0.0), (ir_bits)1 << 63);
}

/* --- operators of the elementary functions only --- */

static ir_bits f32_of(ir_op op, double x)
{
    return apply1(op, T_F32, ir_bits_f32((float)x));
}

static ir_bits f64_of(ir_op op, double x)
{
    return apply1(op, T_F64, ir_bits_f64(x));
}

static void check_parts(double x, double k, double m)
{
    assert_int_equal(f64_of(OP_EXPONENT, x), ir_bits_f64(k));
    assert_int_equal(f64_of(OP_SIGNIFICAND, x), ir_bits_f64(m));
    if ((double)(float)x != x)
        return;
    assert_int_equal(f32_of(OP_EXPONENT, x), ir_bits_f32((float)k));
    assert_int_equal(f32_of(OP_SIGNIFICAND, x), ir_bits_f32((float)m));
}

static void numbers_come_apart(void **state)
{
    (void)state;
    check_parts(1, 0, 1);
    check_parts(0.75, 0, 0.75);
    check_parts(0x1.7ffffep-1, -1, 0x1.7ffffep0);
    check_parts(0x1.7ffffep0, 0, 0x1.7ffffep0);
    check_parts(1.5, 1, 0.75);
    check_parts(0x1.fffffep127, 128, 0x1.fffffep-1);
    check_parts(0x1p-149, -149, 1);
    check_parts(0x1.8p-148, -147, 0.75);
    check_parts(0x1p-1074, -1074, 1);
    check_parts(0x1.fffffffffffffp1023, 1024, 0x1.fffffffffffffp-1);
    check_parts(0.0, -INFINITY, 1);
    check_parts(-0.0, -INFINITY, -1);
    check_parts(INFINITY, INFINITY, 1);
    static const double none[] = {NAN, -1, -INFINITY, -0x1p-149};
    for (size_t i = 0; i < ARRAY_LENGTH(none); i++)
        for (ir_op op = OP_EXPONENT; op <= OP_SIGNIFICAND; op++) {
            assert_true(isnan(ir_f32_bits(f32_of(op, none[i]))));
            assert_true(isnan(ir_f64_bits(f64_of(op, none[i]))));
        }
}

static void check_scale(double a, double b, double f32, double f64)
{
    assert_int_equal(apply2(OP_SCALE, T_F32, ir_bits_f32((float)a), ir_bits_f32((float)b)), ir_bits_f32((float)f32));
    assert_int_equal(apply2(OP_SCALE, T_F64, ir_bits_f64(a), ir_bits_f64(b)), ir_bits_f64(f64));
}

/* One rounding, to even, also where the result is subnormal: 1 + 2^-22 less half an ulp would become even in two. */
static void powers_of_two_go_in(void **state)
{
    (void)state;
    check_scale(1, 10, 1024, 1024);
    check_scale(1.5, -1.25, 0.375, 0.375); /* b is rounded down */
    check_scale(-1.5, 0.75, -1.5, -1.5);
    check_scale(1, 128, INFINITY, 0x1p128);
    check_scale(0x1.000002p0, -126, 0x1.000002p-126, 0x1.000002p-126);
    check_scale(0x1.000002p0, -127, 0x1p-127, 0x1.000002p-127);
    check_scale(0x1.000006p0, -127, 0x1.000008p-127, 0x1.000006p-127);
    check_scale(1, -150, 0, 0x1p-150);
    check_scale(0x1.000002p0, -150, 0x1p-149, 0x1.000002p-150);
    assert_int_equal(apply2(OP_SCALE, T_F64, ir_bits_f64(1.5), ir_bits_f64(-1075)), ir_bits_f64(0x1p-1074));
    assert_int_equal(apply2(OP_SCALE, T_F64, ir_bits_f64(1), ir_bits_f64(1024)), ir_bits_f64(INFINITY));
    assert_true(isnan(ir_f32_bits(apply2(OP_SCALE, T_F32, ir_bits_f32(NAN), ir_bits_f32(1)))));
    assert_true(isnan(ir_f64_bits(apply2(OP_SCALE, T_F64, ir_bits_f64(NAN), ir_bits_f64(NAN)))));
    ir_bits in[2] = {ir_bits_f32(1), ir_bits_f32(250)}, beyond[2] = {ir_bits_f32(1), ir_bits_f32(251)};
    assert_false(ir_op_open(OP_SCALE, T_F32, in));
    assert_true(ir_op_open(OP_SCALE, T_F32, beyond));
    assert_false(ir_op_open(OP_MUL, T_F32, beyond));
}

/* Entries: as many lowest bits of the operand count as the table is long, and what belongs together agrees. */
static void tables_agree(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 64; i++) {
        double power = exp2((double)(i % 16) / 16), wide = exp2((double)(i % 8) / 8);
        assert_int_equal(apply1(OP_LOOK_POWER, T_F32, 0x49400000 + i), ir_bits_f32((float)power));
        assert_true(fabs(ir_f64_bits(apply1(OP_LOOK_POWER, T_F64, i)) / wide - 1) < 0x1p-52);
        double low = (double)ir_f32_bits(apply1(OP_LOOK_POWER_LOW, T_F32, i));
        assert_true(fabs((double)(float)power * (1 + low) / power - 1) < 0x1p-46);
        assert_true(fabs(ir_f64_bits(apply1(OP_LOOK_POWER_LOW, T_F64, i))) < 0x1p-53);
        double c = (double)ir_f32_bits(apply1(OP_LOOK_RECIPROCAL, T_F32, i));
        assert_true(fabs(log(c) + (double)ir_f32_bits(apply1(OP_LOOK_LOGARITHM, T_F32, i))) < 0x1p-30);
        c = ir_f64_bits(apply1(OP_LOOK_RECIPROCAL, T_F64, i));
        assert_true(fabs(log(c) + ir_f64_bits(apply1(OP_LOOK_LOGARITHM, T_F64, i))) < 0x1p-53);
    }
}

/* The table of costs: additions are the unit, elementary functions cost the most. */
static void costs(void **state)
{
    (void)state;
    assert_int_equal(ir_op_cost(OP_ADD), 1);
    assert_int_equal(ir_op_cost(OP_SQRT), 6);
    assert_int_equal(ir_op_cost(OP_REM), ir_op_cost(OP_DIV));
    assert_int_equal(ir_op_cost(OP_POW), 12);
    for (ir_op op = OP_NONE + 1; op < OP_COUNT; op++)
        assert_in_range(ir_op_cost(op), IR_COST_SIMPLE, IR_COST_MATH);
}

static void unsigned_types(void **state)
{
    (void)state;
    assert_int_equal(ir_type_unsigned(1), T_U8);
    assert_int_equal(ir_type_unsigned(2), T_U16);
    assert_int_equal(ir_type_unsigned(4), T_U32);
    assert_int_equal(ir_type_unsigned(8), T_U64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unsigned_types),
                                       cmocka_unit_test(names_are_found),
                                       cmocka_unit_test(types_are_consistent),
                                       cmocka_unit_test(definedness_follows_the_table),
                                       cmocka_unit_test(bytes_exhaustively),
                                       cmocka_unit_test(bytes_one_operand),
                                       cmocka_unit_test(every_integer_type_at_its_edges),
                                       cmocka_unit_test(logic),
                                       cmocka_unit_test(floats_of_two),
                                       cmocka_unit_test(floats_of_one),
                                       cmocka_unit_test(fma_rounds_once),
                                       cmocka_unit_test(integers_convert),
                                       cmocka_unit_test(floats_convert),
                                       cmocka_unit_test(bits_convert),
                                       cmocka_unit_test(values_pass_through_words),
                                       cmocka_unit_test(numbers_come_apart),
                                       cmocka_unit_test(powers_of_two_go_in),
                                       cmocka_unit_test(tables_agree),
                                       cmocka_unit_test(costs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
