/* The texts f32.inc and f64.inc a second time, as an expansion: here a small builder records one operation per
   primitive, and an evaluator of its own runs the records. This is how a code generator uses the texts, and proves that
   they need nothing but the primitives: a value is a struct, to which no C operator applies. Results must be the bits
   of the C functions. Prints the number of operations per function; SINTER_MATH_PRINT=1 prints the records too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/math/math_c.h"
#include "ir/math/primitives.h"
#include "ir/ops.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- builder ---- */

#define OPS(X)                                                                                                         \
    X(argument)                                                                                                        \
    X(constant)                                                                                                        \
    X(add)                                                                                                             \
    X(sub)                                                                                                             \
    X(mul) X(div) X(sqrt) X(neg) X(abs) X(fma) X(trunc) X(lt) X(le) X(eq) X(ieq) X(ilt) X(ult) X(band) X(bor) X(bnot)  \
        X(select) X(iadd) X(isub) X(imul) X(and) X(or) X(xor) X(shl) X(shr) X(sar) X(shlv) X(shrv) X(bits) X(float)    \
            X(i32_to_f32) X(f32_to_f64) X(f64_to_f32) X(u32_to_i64) X(i64_to_i32) X(scale) X(exponent) X(significand)  \
                X(look_power) X(look_power_low) X(look_reciprocal) X(look_logarithm)

typedef enum {
#define X(name) op_##name,
    OPS(X)
#undef X
} op_code;

static const char *const op_names[] = {
#define X(name) #name,
    OPS(X)
#undef X
};

typedef enum { type_bool, type_i32, type_i64, type_f32, type_f64 } value_type;

typedef struct {
    op_code op;
    value_type type;
    uint32_t in[3];
    uint64_t bits; /* of a constant; count of a constant shift; number of an argument */
    bool rare;     /* first made inside a rare case */
} node;

enum { MAX_NODES = 1024 };

typedef struct {
    node nodes[MAX_NODES];
    uint32_t count;
    bool rare;
} builder;

typedef struct {
    uint32_t id;
} handle;

/* Equal operations are one, as in any builder that interns. */
static handle build_emit(builder *b, op_code op, value_type type, handle x, handle y, handle z, uint64_t bits)
{
    node n = {op, type, {x.id, y.id, z.id}, bits, b->rare};
    for (uint32_t i = 0; i < b->count; i++) {
        const node *m = &b->nodes[i];
        if (m->op == op && m->type == type && m->bits == bits && memcmp(m->in, n.in, sizeof n.in) == 0) {
            return (handle){i};
        }
    }
    assert_true(b->count < MAX_NODES);
    b->nodes[b->count] = n;
    return (handle){b->count++};
}

static const handle no_value = {UINT32_MAX};

static value_type type_of(const builder *b, handle x)
{
    return b->nodes[x.id].type;
}

static handle build_unary(builder *b, op_code op, value_type type, handle x)
{
    return build_emit(b, op, type, x, no_value, no_value, 0);
}

static handle build_binary(builder *b, op_code op, handle x, handle y)
{
    assert_int_equal(type_of(b, x), type_of(b, y));
    return build_emit(b, op, type_of(b, x), x, y, no_value, 0);
}

static handle build_compare(builder *b, op_code op, handle x, handle y)
{
    assert_int_equal(type_of(b, x), type_of(b, y));
    return build_emit(b, op, type_bool, x, y, no_value, 0);
}

static handle build_fused(builder *b, handle x, handle y, handle z)
{
    assert_int_equal(type_of(b, x), type_of(b, y));
    assert_int_equal(type_of(b, x), type_of(b, z));
    return build_emit(b, op_fma, type_of(b, x), x, y, z, 0);
}

static handle build_choose(builder *b, handle p, handle x, handle y)
{
    assert_int_equal(type_of(b, p), type_bool);
    assert_int_equal(type_of(b, x), type_of(b, y));
    return build_emit(b, op_select, type_of(b, x), p, x, y, 0);
}

static handle build_shift(builder *b, op_code op, handle x, unsigned count)
{
    return build_emit(b, op, type_of(b, x), x, no_value, no_value, count);
}

static handle build_constant_f32(builder *b, float c)
{
    uint32_t bits;
    memcpy(&bits, &c, sizeof bits);
    return build_emit(b, op_constant, type_f32, no_value, no_value, no_value, bits);
}

static handle build_constant_f64(builder *b, double c)
{
    uint64_t bits;
    memcpy(&bits, &c, sizeof bits);
    return build_emit(b, op_constant, type_f64, no_value, no_value, no_value, bits);
}

static handle build_reinterpret(builder *b, handle x)
{
    static const value_type other[] = {type_bool, type_f32, type_f64, type_i32, type_i64};
    value_type type = type_of(b, x);
    return build_unary(b, type == type_f32 || type == type_f64 ? op_bits : op_float, other[type], x);
}

/* ---- the primitives as calls of the builder ---- */

typedef handle F32, F64, I32, I64, BOOL;
#define MATH_FN(T, name, ...) static T name(builder *b, __VA_ARGS__)
#define CALL(name, ...) name(b, __VA_ARGS__)
#define CF32(c) build_constant_f32(b, c)
#define CF64(c) build_constant_f64(b, c)
#define CI32(c) build_emit(b, op_constant, type_i32, no_value, no_value, no_value, c)
#define CI64(c) build_emit(b, op_constant, type_i64, no_value, no_value, no_value, c)
#define ADD(x, y) build_binary(b, op_add, x, y)
#define SUB(x, y) build_binary(b, op_sub, x, y)
#define MUL(x, y) build_binary(b, op_mul, x, y)
#define DIV(x, y) build_binary(b, op_div, x, y)
#define SQRT(x) build_unary(b, op_sqrt, type_of(b, x), x)
#define NEG(a) build_negate(b, a)
#define ABS(a) build_absolute(b, a)
#define FMA(x, y, z) build_fused(b, x, y, z)
#define TRUNC(a) build_truncate(b, a)
#define LT(x, y) build_compare(b, op_lt, x, y)
#define LE(x, y) build_compare(b, op_le, x, y)
#define EQ(x, y) build_compare(b, op_eq, x, y)
#define IEQ(x, y) build_compare(b, op_ieq, x, y)
#define ILT(x, y) build_compare(b, op_ilt, x, y)
#define ULT(x, y) build_compare(b, op_ult, x, y)
#define BAND(p, q) build_binary(b, op_band, p, q)
#define BOR(p, q) build_binary(b, op_bor, p, q)
#define BNOT(p) build_unary(b, op_bnot, type_bool, p)
#define SELECT(p, x, y) build_choose(b, p, x, y)
#define IADD(x, y) build_binary(b, op_iadd, x, y)
#define ISUB(x, y) build_binary(b, op_isub, x, y)
#define IMUL(x, y) build_binary(b, op_imul, x, y)
#define AND(x, y) build_binary(b, op_and, x, y)
#define OR(x, y) build_binary(b, op_or, x, y)
#define XOR(x, y) build_binary(b, op_xor, x, y)
#define SHL(x, n) build_shift(b, op_shl, x, n)
#define SHR(x, n) build_shift(b, op_shr, x, n)
#define SAR(x, n) build_shift(b, op_sar, x, n)
#define SHLV(x, v) build_binary(b, op_shlv, x, v)
#define SHRV(x, v) build_binary(b, op_shrv, x, v)
#define BITS(x) build_reinterpret(b, x)
#define FLOAT(x) build_reinterpret(b, x)
#define I32_TO_F32(x) build_unary(b, op_i32_to_f32, type_f32, x)
#define F32_TO_F64(x) build_unary(b, op_f32_to_f64, type_f64, x)
#define F64_TO_F32(x) build_unary(b, op_f64_to_f32, type_f32, x)
#define U32_TO_I64(x) build_unary(b, op_u32_to_i64, type_i64, x)
#define I64_TO_I32(x) build_unary(b, op_i64_to_i32, type_i32, x)
#define SCALE(x, y) build_binary(b, op_scale, x, y)
#define EXPONENT(a) build_part(b, op_exponent, a)
#define SIGNIFICAND(a) build_part(b, op_significand, a)
#define LOOK(ID, name, a) build_part(b, op_look_##name, a)
/* no branch: a rare case is always computed and selected */
#define MUT(T, name, value) T name = value
#define GET(name) name
#define RARE_BEGIN(p)                                                                                                  \
    {                                                                                                                  \
        handle rare_case = p;                                                                                          \
        b->rare = true
#define SET(name, value) name = build_choose(b, rare_case, value, name)
#define RARE_END                                                                                                       \
    b->rare = false;                                                                                                   \
    }

static handle build_negate(builder *b, handle x)
{
    return build_unary(b, op_neg, type_of(b, x), x);
}

static handle build_absolute(builder *b, handle x)
{
    return build_unary(b, op_abs, type_of(b, x), x);
}

static handle build_part(builder *b, op_code op, handle x)
{
    return build_unary(b, op, type_of(b, x), x);
}

static handle build_truncate(builder *b, handle x)
{
    return build_unary(b, op_trunc, type_of(b, x), x);
}

#include "ir/math/math_ops.h"

#include "ir/math/f32.inc"
#include "ir/math/f64.inc"

/* ---- evaluator ---- */

static float as_f32(uint64_t bits)
{
    uint32_t half = (uint32_t)bits;
    float x;
    memcpy(&x, &half, sizeof x);
    return x;
}

static double as_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t float_op_f32(op_code op, float x, float y, float z)
{
    switch (op) {
    case op_add:
        return of_f32(x + y);
    case op_sub:
        return of_f32(x - y);
    case op_mul:
        return of_f32(x * y);
    case op_div:
        return of_f32(x / y);
    case op_sqrt:
        return of_f32(sqrtf(x));
    case op_neg:
        return of_f32(x) ^ 0x80000000u;
    case op_abs:
        return of_f32(x) & 0x7fffffffu;
    case op_fma:
        return of_f32(fmaf(x, y, z));
    case op_trunc:
        return of_f32(truncf(x));
    case op_lt:
        return x < y;
    case op_le:
        return x <= y;
    case op_eq:
        return x == y;
    case op_exponent:
        return of_f32(sn_exponent_f32(x));
    case op_significand:
        return of_f32(sn_significand_f32(x));
    case op_look_power:
        return of_f32(sn_look_power_f32(x));
    case op_look_power_low:
        return of_f32(sn_look_power_low_f32(x));
    case op_look_reciprocal:
        return of_f32(sn_look_reciprocal_f32(x));
    case op_look_logarithm:
        return of_f32(sn_look_logarithm_f32(x));
    case op_scale: /* within what devices promise */
        assert_false(ir_op_open(OP_SCALE, T_F32, (ir_bits[]){of_f32(x), of_f32(y)}));
        return of_f32(sn_scale_f32(x, y));
    default:
        fail_msg("%s is not an operation of f32", op_names[op]);
        return 0;
    }
}

static uint64_t float_op_f64(op_code op, double x, double y, double z)
{
    switch (op) {
    case op_add:
        return of_f64(x + y);
    case op_sub:
        return of_f64(x - y);
    case op_mul:
        return of_f64(x * y);
    case op_div:
        return of_f64(x / y);
    case op_sqrt:
        return of_f64(sqrt(x));
    case op_neg:
        return of_f64(x) ^ 0x8000000000000000u;
    case op_abs:
        return of_f64(x) & 0x7fffffffffffffffu;
    case op_fma:
        return of_f64(fma(x, y, z));
    case op_trunc:
        return of_f64(trunc(x));
    case op_lt:
        return x < y;
    case op_le:
        return x <= y;
    case op_eq:
        return x == y;
    case op_exponent:
        return of_f64(sn_exponent_f64(x));
    case op_significand:
        return of_f64(sn_significand_f64(x));
    case op_look_power:
        return of_f64(sn_look_power_f64(x));
    case op_look_power_low:
        return of_f64(sn_look_power_low_f64(x));
    case op_look_reciprocal:
        return of_f64(sn_look_reciprocal_f64(x));
    case op_look_logarithm:
        return of_f64(sn_look_logarithm_f64(x));
    case op_scale: /* within what devices promise */
        assert_false(ir_op_open(OP_SCALE, T_F64, (ir_bits[]){of_f64(x), of_f64(y)}));
        return of_f64(sn_scale_f64(x, y));
    default:
        fail_msg("%s is not an operation of f64", op_names[op]);
        return 0;
    }
}

/* Integers of `width` bits; the caller cuts the result to it. Shift counts are checked against the contract. */
static uint64_t integer_op(op_code op, unsigned width, uint64_t x, uint64_t y, uint64_t count)
{
    uint64_t sign = (uint64_t)1 << (width - 1);
    if (op == op_shl || op == op_shr || op == op_sar) {
        assert_true(count > 0 && count < width);
    }
    if (op == op_shlv || op == op_shrv) {
        assert_true(y < width);
    }
    switch (op) {
    case op_ieq:
        return x == y;
    case op_ilt:
        return (x ^ sign) < (y ^ sign);
    case op_ult:
        return x < y;
    case op_band:
    case op_and:
        return x & y;
    case op_bor:
    case op_or:
        return x | y;
    case op_bnot:
        return !x;
    case op_xor:
        return x ^ y;
    case op_iadd:
        return x + y;
    case op_isub:
        return x - y;
    case op_imul:
        return x * y;
    case op_shl:
        return x << count;
    case op_shr:
        return x >> count;
    case op_sar:
        return x & sign ? ~(~(x | ~(sign | (sign - 1))) >> count) : x >> count;
    case op_shlv:
        return x << y;
    case op_shrv:
        return x >> y;
    default:
        fail_msg("%s is not an operation of integers", op_names[op]);
        return 0;
    }
}

static uint64_t run_node(const builder *b, const node *n, const uint64_t *values, const uint64_t *arguments)
{
    if (n->op == op_argument) {
        return arguments[n->bits];
    }
    if (n->op == op_constant) {
        return n->bits;
    }
    value_type from = b->nodes[n->in[0]].type;
    uint64_t in[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        in[i] = n->in[i] == UINT32_MAX ? 0 : values[n->in[i]];
    }
    switch (n->op) {
    case op_select:
        return in[0] ? in[1] : in[2];
    case op_bits:
    case op_float:
    case op_u32_to_i64:
        return in[0];
    case op_i64_to_i32:
        return (uint32_t)in[0];
    case op_i32_to_f32:
        return of_f32((float)((int64_t)(in[0] ^ 0x80000000u) - 0x80000000));
    case op_f32_to_f64:
        return of_f64((double)as_f32(in[0]));
    case op_f64_to_f32:
        return of_f32((float)as_f64(in[0]));
    default:
        break;
    }
    switch (from) {
    case type_f32:
        return float_op_f32(n->op, as_f32(in[0]), as_f32(in[1]), as_f32(in[2]));
    case type_f64:
        return float_op_f64(n->op, as_f64(in[0]), as_f64(in[1]), as_f64(in[2]));
    case type_i64:
        return integer_op(n->op, 64, in[0], in[1], n->bits);
    default: {
        uint64_t result = integer_op(n->op, from == type_i32 ? 32 : 1, in[0], in[1], n->bits);
        return n->type == type_bool ? result & 1 : (uint32_t)result;
    }
    }
}

static uint64_t run(const builder *b, handle result, const uint64_t *arguments)
{
    uint64_t values[MAX_NODES];
    for (uint32_t i = 0; i <= result.id; i++) {
        values[i] = run_node(b, &b->nodes[i], values, arguments);
    }
    return values[result.id];
}

/* ---- comparison ---- */

static handle argument(builder *b, value_type type, uint64_t which)
{
    return build_emit(b, op_argument, type, no_value, no_value, no_value, which);
}

static handle expand(builder *b, sn_math_id id, value_type type)
{
    b->count = 0;
    b->rare = false;
    handle x = argument(b, type, 0);
#define EXPAND_1(f) f(b, x)
#define EXPAND_2(f) f(b, x, argument(b, type, 1))
    switch (id) {
#define SN_MATH(ID, name, arity)                                                                                       \
    case SN_MATH_##ID:                                                                                                 \
        return type == type_f32 ? EXPAND_##arity(name##_f32) : EXPAND_##arity(name##_f64);
#include "ir/math/functions.def"
#undef SN_MATH
    case SN_MATH_COUNT:
        break;
    }
    return no_value;
}

/* Marks what the result needs and counts it by kind. */
typedef struct {
    int all, rare, divisions, selects, constants;
} tally;

static tally count_operations(const builder *b, handle result)
{
    bool needed[MAX_NODES] = {false};
    needed[result.id] = true;
    tally t = {0, 0, 0, 0, 0};
    for (uint32_t i = result.id + 1; i-- > 0;) {
        const node *n = &b->nodes[i];
        for (int k = 0; k < 3 && needed[i]; k++) {
            if (n->in[k] != UINT32_MAX) {
                needed[n->in[k]] = true;
            }
        }
        bool free_of_charge = n->op == op_constant || n->op == op_argument || n->op == op_bits || n->op == op_float;
        t.all += needed[i] && !free_of_charge;
        t.rare += needed[i] && !free_of_charge && n->rare;
        t.divisions += needed[i] && (n->op == op_div || n->op == op_sqrt);
        t.selects += needed[i] && n->op == op_select;
        t.constants += needed[i] && n->op == op_constant;
    }
    return t;
}

static void print_record(const builder *b)
{
    static const char *const types[] = {"bool", "i32", "i64", "f32", "f64"};
    for (uint32_t i = 0; i < b->count; i++) {
        const node *n = &b->nodes[i];
        printf("  %%%u = %s %s", i, types[n->type], op_names[n->op]);
        for (int k = 0; k < 3 && n->in[k] != UINT32_MAX; k++) {
            printf(" %%%u", n->in[k]);
        }
        printf(n->bits ? " 0x%llx\n" : "\n", (unsigned long long)n->bits);
    }
}

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x9E3779B97F4A7C15u;
}

/* Any bits, numbers of moderate size, and special values. */
static double pick(uint64_t *state, bool f32)
{
    static const double points[] = {0,           -0.0,     1,         -1,     0.5,    2,       INFINITY,  -INFINITY,
                                    (double)NAN, 0x1p-149, 0x1p-1074, 0x1p17, 0x1p30, 0x1p127, -0x1p1023, 3,
                                    709.78,      -745.1,   88.72,     -103.9, 1e22,   1e300,   -0.75,     0x1p24};
    uint64_t bits = random_bits(state);
    double u = ldexp((double)(int64_t)random_bits(state), -63);
    switch (bits % 4) {
    case 0:
        return f32 ? (double)as_f32(bits >> 32) : as_f64(bits);
    case 1:
        return u * 4;
    case 2:
        return u * (f32 ? 120 : 800);
    default:
        return points[(bits >> 8) % (sizeof points / sizeof points[0])];
    }
}

static bool same(uint64_t x, uint64_t y, bool f32)
{
    bool nan_x = f32 ? isnan(as_f32(x)) : isnan(as_f64(x));
    bool nan_y = f32 ? isnan(as_f32(y)) : isnan(as_f64(y));
    return (nan_x && nan_y) || x == y;
}

static uint64_t call_c(const sn_math_function *f, bool f32, double x, double y)
{
    if (f32) {
        return of_f32(f->arity == 1 ? f->f32_1((float)x) : f->f32_2((float)x, (float)y));
    }
    return of_f64(f->arity == 1 ? f->f64_1(x) : f->f64_2(x, y));
}

static void compare_all(bool f32)
{
    enum { SAMPLES = 4000 };
    static builder b;
    for (int id = 0; id < SN_MATH_COUNT; id++) {
        const sn_math_function *f = sn_math_lookup((sn_math_id)id);
        handle result = expand(&b, (sn_math_id)id, f32 ? type_f32 : type_f64);
        assert_int_equal(type_of(&b, result), f32 ? type_f32 : type_f64);
        tally t = count_operations(&b, result);
        print_message("%-6s %s %3d operations and %d for rare cases; of all %d div or sqrt, %d select; %d constants\n",
                      f->name, f32 ? "f32" : "f64", t.all - t.rare, t.rare, t.divisions, t.selects, t.constants);
        if (getenv("SINTER_MATH_PRINT")) {
            print_record(&b);
        }
        uint64_t state = 2463534242u + (uint64_t)id;
        for (int i = 0; i < SAMPLES; i++) {
            double x = pick(&state, f32);
            double y = f->arity == 2 ? pick(&state, f32) : 0;
            uint64_t arguments[2] = {f32 ? of_f32((float)x) : of_f64(x), f32 ? of_f32((float)y) : of_f64(y)};
            uint64_t want = call_c(f, f32, x, y);
            uint64_t got = run(&b, result, arguments);
            if (!same(want, got, f32)) {
                fail_msg("%s(%a, %a): C has bits %llx, the expansion %llx", f->name, x, y, (unsigned long long)want,
                         (unsigned long long)got);
            }
        }
    }
}

static void test_expansion_f32(void **state)
{
    (void)state;
    compare_all(true);
}

static void test_expansion_f64(void **state)
{
    (void)state;
    compare_all(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expansion_f32),
        cmocka_unit_test(test_expansion_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
