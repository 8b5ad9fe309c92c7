/* The elementary functions as C functions: the primitives of math_ops.h as C operations, then the texts. Must be
   compiled with -ffp-contract=off, which -std=c17 implies with gcc; fused operations are only those written FMA. */
#include "ir/math/math_c.h"
#include "ir/math/primitives.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef float F32;
typedef double F64;
typedef uint32_t I32;
typedef uint64_t I64;
typedef bool BOOL;

static inline I32 bits_f32(F32 x)
{
    I32 i;
    memcpy(&i, &x, sizeof i);
    return i;
}

static inline I64 bits_f64(F64 x)
{
    I64 i;
    memcpy(&i, &x, sizeof i);
    return i;
}

static inline F32 float_i32(I32 i)
{
    F32 x;
    memcpy(&x, &i, sizeof x);
    return x;
}

static inline F64 float_i64(I64 i)
{
    F64 x;
    memcpy(&x, &i, sizeof x);
    return x;
}

/* Arithmetic shifts without relying on what C leaves open for negative numbers. */
static inline I32 sar_i32(I32 a, unsigned n)
{
    return (a >> n) | ((a >> 31) ? ~(UINT32_MAX >> n) : 0);
}

static inline I64 sar_i64(I64 a, unsigned n)
{
    return (a >> n) | ((a >> 63) ? ~(UINT64_MAX >> n) : 0);
}

/* signed order is unsigned order with the sign bits flipped */
static inline BOOL lt_i32(I32 a, I32 b)
{
    return (a ^ 0x80000000u) < (b ^ 0x80000000u);
}

static inline BOOL lt_i64(I64 a, I64 b)
{
    return (a ^ 0x8000000000000000u) < (b ^ 0x8000000000000000u);
}

#define MATH_FN(T, name, ...) static inline T name(__VA_ARGS__)
#define CALL(name, ...) name(__VA_ARGS__)
#define CF32(c) ((F32)(c))
#define CF64(c) ((F64)(c))
#define CI32(c) ((I32)(c))
#define CI64(c) ((I64)(c))
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define SQRT(a) _Generic((a), F32 : sqrtf, F64 : sqrt)(a)
#define NEG(a) (-(a))
#define ABS(a) _Generic((a), F32 : fabsf, F64 : fabs)(a)
#define FMA(a, b, c) _Generic((c), F32 : fmaf, F64 : fma)(a, b, c)
#define TRUNC(a) _Generic((a), F32 : truncf, F64 : trunc)(a)
#define LT(a, b) ((a) < (b))
#define LE(a, b) ((a) <= (b))
#define EQ(a, b) ((a) == (b))
#define IEQ(a, b) ((a) == (b))
#define BAND(p, q) ((p) & (q))
#define BOR(p, q) ((p) | (q))
#define BNOT(p) (!(p))
#define SELECT(p, a, b) ((p) ? (a) : (b))
#define IADD(a, b) ((a) + (b))
#define ISUB(a, b) ((a) - (b))
#define IMUL(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define SHL(a, n) ((a) << (n))
#define SHR(a, n) ((a) >> (n))
#define SAR(a, n) _Generic((a), I32 : sar_i32, I64 : sar_i64)(a, n)
#define SHLV(a, v) ((a) << (v))
#define SHRV(a, v) ((a) >> (v))
#define ILT(a, b) _Generic((a), I32 : lt_i32, I64 : lt_i64)(a, b)
#define ULT(a, b) ((a) < (b))
#define BITS(a) _Generic((a), F32 : bits_f32, F64 : bits_f64)(a)
#define FLOAT(i) _Generic((i), I32 : float_i32, I64 : float_i64)(i)
#define I32_TO_F32(i) ((F32)(int32_t)(i))
#define F32_TO_F64(a) ((F64)(a))
#define F64_TO_F32(a) ((F32)(a))
#define U32_TO_I64(i) ((I64)(i))
#define I64_TO_I32(i) ((I32)(i))
#define SCALE(a, b) _Generic((a), F32 : sn_scale_f32, F64 : sn_scale_f64)(a, b)
#define EXPONENT(a) _Generic((a), F32 : sn_exponent_f32, F64 : sn_exponent_f64)(a)
#define SIGNIFICAND(a) _Generic((a), F32 : sn_significand_f32, F64 : sn_significand_f64)(a)
#define LOOK(ID, name, a) _Generic((a), F32 : sn_look_##name##_f32, F64 : sn_look_##name##_f64)(a)
#define MUT(T, name, value) T name = (value)
#define GET(name) (name)
#define SET(name, value) name = (value)
#define RARE_BEGIN(p) if (p) {
#define RARE_END }

#include "ir/math/math_ops.h"

#include "ir/math/f32.inc"
#include "ir/math/f64.inc"

#define SN_DEFINE_1(name)                                                                                              \
    float sn_math_##name##_f32(float x)                                                                                \
    {                                                                                                                  \
        return name##_f32(x);                                                                                          \
    }                                                                                                                  \
    double sn_math_##name##_f64(double x)                                                                              \
    {                                                                                                                  \
        return name##_f64(x);                                                                                          \
    }
#define SN_DEFINE_2(name)                                                                                              \
    float sn_math_##name##_f32(float x, float y)                                                                       \
    {                                                                                                                  \
        return name##_f32(x, y);                                                                                       \
    }                                                                                                                  \
    double sn_math_##name##_f64(double x, double y)                                                                    \
    {                                                                                                                  \
        return name##_f64(x, y);                                                                                       \
    }
#define SN_MATH(id, name, arity) SN_DEFINE_##arity(name)
#include "ir/math/functions.def"
#undef SN_MATH

#define SN_ROW_1(name) {#name, 1, sn_math_##name##_f32, NULL, sn_math_##name##_f64, NULL},
#define SN_ROW_2(name) {#name, 2, NULL, sn_math_##name##_f32, NULL, sn_math_##name##_f64},

const sn_math_function *sn_math_lookup(sn_math_id id)
{
    static const sn_math_function table[] = {
#define SN_MATH(id, name, arity) SN_ROW_##arity(name)
#include "ir/math/functions.def"
#undef SN_MATH
    };
    return &table[id];
}
