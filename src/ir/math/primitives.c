/* The meaning of the operators that only the elementary functions' texts use. */
#include "ir/math/primitives.h"

#include "ir/math/coefficients.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define COUNT_OF(array) (unsigned)(sizeof(array) / sizeof(array)[0])

/* An exponent beyond all that matter, on either side, in place of one that an int might not hold. */
static int whole(double b, double most)
{
    return (int)floor(b < -most ? -most : b > most ? most : b);
}

float sn_scale_f32(float a, float b)
{
    return isnan(b) ? b : ldexpf(a, whole((double)b, 1000));
}

double sn_scale_f64(double a, double b)
{
    return isnan(b) ? b : ldexp(a, whole(b, 10000));
}

float sn_significand_f32(float x)
{
    return (float)sn_significand_f64((double)x);
}

double sn_significand_f64(double x)
{
    int exponent;
    if (isnan(x) || x < 0)
        return (double)NAN;
    if (x == 0 || isinf(x))
        return copysign(1.0, x);
    double m = frexp(x, &exponent);
    return m < 0.75 ? m + m : m;
}

float sn_exponent_f32(float x)
{
    return (float)sn_exponent_f64((double)x);
}

double sn_exponent_f64(double x)
{
    int exponent;
    if (isnan(x) || x < 0)
        return (double)NAN;
    if (x == 0 || isinf(x))
        return x == 0 ? -(double)INFINITY : x;
    double m = frexp(x, &exponent);
    return m < 0.75 ? exponent - 1 : exponent;
}

/* --- tables --- */

static const float power_f32[] = {POWER_F32_TABLE};
static const double power_f64[] = {POWER_F64_TABLE};
static const float power_low_f32[] = {POWER_F32_LOW_TABLE};
static const double power_low_f64[] = {POWER_F64_LOW_TABLE};
static const float reciprocal_f32[] = {LOGS_F32_RECIPROCAL_TABLE};
static const double reciprocal_f64[] = {LOGS_F64_RECIPROCAL_TABLE};
static const float logarithm_f32[] = {LOGS_F32_TABLE};
static const double logarithm_f64[] = {LOGS_F64_TABLE};

#define SN_TABLE(ID, name)                                                                                             \
    const sn_table sn_table_##name = {COUNT_OF(name##_f32), COUNT_OF(name##_f64), name##_f32, name##_f64};             \
    float sn_look_##name##_f32(float x)                                                                                \
    {                                                                                                                  \
        uint32_t bits;                                                                                                 \
        memcpy(&bits, &x, sizeof bits);                                                                                \
        return name##_f32[bits % COUNT_OF(name##_f32)];                                                                \
    }                                                                                                                  \
    double sn_look_##name##_f64(double x)                                                                              \
    {                                                                                                                  \
        uint64_t bits;                                                                                                 \
        memcpy(&bits, &x, sizeof bits);                                                                                \
        return name##_f64[bits % COUNT_OF(name##_f64)];                                                                \
    }
SN_TABLES
#undef SN_TABLE
