/* The elementary functions over (nearly) all f32, with f64 functions of the C library as reference, and over many f64,
   with MPFR. Prints the largest error of each function.

   By default every 16th float is taken (about 10 s a function); SINTER_MATH_STEP=1 takes all 2^32, other numbers every
   n-th; SINTER_MATH_ONLY=name restricts to one function. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/math_reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool wanted(sn_math_id id)
{
    const char *only = getenv("SINTER_MATH_ONLY");
    return !only || strcmp(only, sn_math_lookup(id)->name) == 0;
}

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text && atoll(text) > 0 ? (uint64_t)atoll(text) : otherwise;
}

/* ---- f32 against the C library's f64 ---- */

/* Its functions are good to about 1 ulp of f64, which is 2^-29 ulp here. */
static double library(sn_math_id id, double x)
{
#define LIBRARY_1(name) name(x)
#define LIBRARY_2(name) (double)NAN
    switch (id) {
#define SN_MATH(ID, name, arity)                                                                                       \
    case SN_MATH_##ID:                                                                                                 \
        return LIBRARY_##arity(name);
#include "ir/math/functions.def"
#undef SN_MATH
    case SN_MATH_COUNT:
        break;
    }
    return (double)NAN;
}

/* In ulp of f32; 1e9 where one is a NaN and the other not, or a zero has the wrong sign. */
static double error_f32(float got, double want)
{
    if (isnan(want) || isnan(got)) {
        return isnan(want) && isnan(got) ? 0 : 1e9;
    }
    if (!signbit(got) != !signbit(want) && (got == 0 || want == 0)) {
        return 1e9;
    }
    if (fabs(want) >= 0x1p128) {
        double excess = fabs(want) > 0x1.00001p128 ? 1e9 : 0; /* an infinity is due, its neighbour nearly right */
        return isinf(got) && !signbit(got) == !signbit(want) ? 0
                                                             : excess + fabs(fabs((double)got) - 0x1p128) * 0x1p-104;
    }
    double value = isinf(got) ? copysign(0x1p128, (double)got) : (double)got;
    uint64_t bits;
    double size = fabs(want);
    memcpy(&bits, &size, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    exponent = exponent < -126 ? -126 : exponent;
    uint64_t scale_bits = (uint64_t)(1023 + 23 - exponent) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return fabs(value - want) * scale;
}

static double sweep_f32(sn_math_id id, uint64_t step, float *worst_at)
{
    float (*f)(float) = sn_math_lookup(id)->f32_1;
    double worst = 0;
    for (uint64_t i = 0; i < (uint64_t)1 << 32; i += step) {
        uint32_t bits = (uint32_t)i;
        float x;
        memcpy(&x, &bits, sizeof x);
        double error = error_f32(f(x), library(id, (double)x));
        if (error > worst) {
            worst = error;
            *worst_at = x;
        }
    }
    return worst;
}

static void test_all_f32(void **state)
{
    (void)state;
    int failed = 0;
    uint64_t step = number("SINTER_MATH_STEP", 16);
    for (int id = 0; id < SN_MATH_COUNT; id++) {
        if (sn_math_lookup((sn_math_id)id)->arity != 1 || !wanted((sn_math_id)id)) {
            continue;
        }
        float at = 0;
        /* neighbouring steps share their low bits, an odd step does not */
        double worst = sweep_f32((sn_math_id)id, step | (step > 1), &at);
        print_message("%-6s f32 %.3f ulp at %a\n", sn_math_lookup((sn_math_id)id)->name, worst, (double)at);
        failed += worst > 2;
    }
    assert_int_equal(failed, 0);
}

/* ---- f64, and f32 of two arguments, against MPFR ---- */

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 0x9E3779B97F4A7C15u;
}

static double uniform(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x2p-53 - 1;
}

static double sample(uint64_t *state, uint64_t kind, bool f32)
{
    uint64_t bits = random_bits(state);
    double u = uniform(state), any;
    uint32_t half = (uint32_t)bits;
    float any32;
    memcpy(&any, &bits, sizeof any);
    memcpy(&any32, &half, sizeof any32);
    switch (kind) {
    case 0:
        return f32 ? (double)any32 : any;
    case 1:
        return u;
    case 2:
        return u * 10;
    case 3:
        return u * (f32 ? 110 : 760);
    case 4:
        return ldexp(u, (int)(bits % 60) - 40);
    case 5:
        return 1 + ldexp(u, -(int)(bits % 50));
    case 6: /* the doubles next to a multiple of pi/2 */
        return nextafter(trunc(u * 0x1p31) * 1.5707963267948966, bits & 1 ? 1e300 : -1e300);
    default:
        return ldexp(u, f32 ? (int)(bits % 250) - 125 : (int)(bits % 2000) - 1000);
    }
}

static double exponent_for(uint64_t *state, double x, bool f32)
{
    return uniform(state) * (f32 ? 160 : 1100) / log2(fabs(x));
}

static double sampled(sn_math_id id, bool f32, uint64_t count, double at[2])
{
    const sn_math_function *f = sn_math_lookup(id);
    uint64_t state = 0x853c49e6748fea9bu + (uint64_t)id;
    double worst = 0;
    for (uint64_t i = 0; i < count; i++) {
        double x = sample(&state, i % 8, f32);
        double y = f->arity == 1 ? 0 : sample(&state, i / 8 % 8, f32);
        if (id == SN_MATH_POW && i / 64 % 4 > 0) {
            x = fabs(x);
            y = exponent_for(&state, f32 ? (double)(float)x : x, f32);
        } else if (f->arity == 2 && i / 64 % 4 > 0) {
            y = x * uniform(&state) * 3;
        }
        x = f32 ? (double)(float)x : x;
        y = f32 ? (double)(float)y : y;
        double got = f->arity == 1 ? (f32 ? (double)f->f32_1((float)x) : f->f64_1(x))
                                   : (f32 ? (double)f->f32_2((float)x, (float)y) : f->f64_2(x, y));
        double error = reference_error(id, f32 ? &reference_f32 : &reference_f64, x, y, got);
        if (error > worst) {
            worst = error;
            at[0] = x;
            at[1] = y;
        }
    }
    return worst;
}

static void test_many_f64(void **state)
{
    (void)state;
    int failed = 0;
    uint64_t count = number("SINTER_MATH_SAMPLES", 1000000);
    for (int f32 = 0; f32 < 2; f32++) {
        for (int id = 0; id < SN_MATH_COUNT; id++) {
            const sn_math_function *f = sn_math_lookup((sn_math_id)id);
            if ((f32 && f->arity == 1) || !wanted((sn_math_id)id)) {
                continue;
            }
            double at[2] = {0, 0};
            double worst = sampled((sn_math_id)id, f32, count, at);
            print_message("%-6s %s %.3f ulp at %a %a\n", f->name, f32 ? "f32" : "f64", worst, at[0], at[1]);
            failed += worst > 2;
        }
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_f32), cmocka_unit_test(test_many_f64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
