/* Powers with constant exponents: accurate to 2 units in the last place and C's in every special case, whether they are
 * products and roots or the function; the same bits on the CPU and interpreted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "sinter/sinter.h"

enum { N = 1 << 16 };

static const double in_few_steps[] = {0.5, 1, 1.5, 2, 2.5, 3, 4, -0.5, -1, -2}; /* f32 and f64 */
static const double in_double[] = {5, 6, 7, 8, -3, -4, -8};                     /* f32 */
static const double by_function[] = {0, 3.5, 9, -9, -1.5, 0.375};
#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

static sn_scalar power(void *exponent, sn_scalar x)
{
    return sn_pow(x, *(double *)exponent);
}

static sn_acc powers(void *exponent, int n, const sn_acc *a)
{
    assert_int_equal(n, 1);
    return sn_map(sn_closure(power, exponent), a[0]);
}

static sn_program *compiled(sn_context *cx, const char *signature, double exponent)
{
    sn_program *p = sn_compile_env(cx, signature, powers, &exponent);
    if (!p)
        fail_msg("%s", sn_message(cx));
    return p;
}

static sn_context *opened(const char *device)
{
    sn_context *cx = sn_open(&(sn_options){.size = sizeof(sn_options), .device = device});
    assert_non_null(cx);
    return cx;
}

typedef struct format { /* as in float.h */
    int digits, least;
} format;

/* Is `got` at most 2 units in the last place off? `rounded`: `exact` as a value of the format. */
static bool is_near(format f, long double exact, double rounded, double got)
{
    if (isnan(rounded) || isnan(got))
        return isnan(rounded) && isnan(got);
    if (signbit(rounded) != signbit(got))
        return false;
    if (isinf(rounded) || isinf(got) || exact == 0)
        return got == rounded;
    int exponent;
    frexpl(exact, &exponent);
    if (exponent < f.least)
        exponent = f.least;
    return fabsl((long double)got - exact) <= 2 * ldexpl(1, exponent - f.digits);
}

static uint64_t drawn(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005 + 1442695040888963407;
    return *seed ^ *seed >> 29;
}

static const double special[] = {0,   -0.0,    1,        -1,      INFINITY, -INFINITY,
                                 NAN, FLT_MAX, -FLT_MAX, FLT_MIN, 0x1p-149, -0x1p-149};

/* Any bits, every second with an exponent near that of 1, where most powers are numbers. */
static void draw_f32(float *x)
{
    uint64_t seed = 1;
    for (int i = 0; i < N; i++) {
        uint32_t bits = (uint32_t)(drawn(&seed) >> 16);
        if (i % 2)
            bits = (bits & 0x87ffffff) | 0x38000000;
        memcpy(&x[i], &bits, sizeof(bits));
    }
    for (unsigned i = 0; i < LENGTH(special); i++)
        x[i] = (float)special[i];
}

static void draw_f64(double *x)
{
    static const double extreme[] = {DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, 0x1p-1074, -0x1p-1074};
    uint64_t seed = 2;
    for (int i = 0; i < N; i++) {
        uint64_t bits = drawn(&seed) ^ drawn(&seed) << 32;
        if (i % 2)
            bits = (bits & 0x80ffffffffffffff) | 0x3f00000000000000;
        memcpy(&x[i], &bits, sizeof(bits));
    }
    memcpy(x, special, sizeof(special));
    memcpy(x + LENGTH(special), extreme, sizeof(extreme));
}

static void check_f32(sn_context *cpu, sn_context *interpreter, double exponent)
{
    static float x[N], y[N], same[N];
    draw_f32(x);
    sn_program *p = compiled(cpu, "[n]f32 -> [n]f32", exponent);
    sn_program *q = compiled(interpreter, "[n]f32 -> [n]f32", exponent);
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    assert_int_equal(sn_call(q, sn_in(x, N), sn_into(same, N)), SN_OK);
    for (int i = 0; i < N; i++) {
        long double exact = powl(x[i], (float)exponent);
        if (!is_near((format){FLT_MANT_DIG, FLT_MIN_EXP}, exact, (double)(float)exact, (double)y[i]))
            fail_msg("%a to the %g is %a, not %La", (double)x[i], exponent, (double)y[i], exact);
        if (memcmp(&y[i], &same[i], sizeof(float)) != 0 && !(isnan(y[i]) && isnan(same[i])))
            fail_msg("%a to the %g is %a; interpreted, %a", (double)x[i], exponent, (double)y[i], (double)same[i]);
    }
    sn_drop(p);
    sn_drop(q);
}

static void check_f64(sn_context *cpu, sn_context *interpreter, double exponent)
{
    static double x[N], y[N], same[N];
    draw_f64(x);
    sn_program *p = compiled(cpu, "[n]f64 -> [n]f64", exponent);
    sn_program *q = compiled(interpreter, "[n]f64 -> [n]f64", exponent);
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    assert_int_equal(sn_call(q, sn_in(x, N), sn_into(same, N)), SN_OK);
    for (int i = 0; i < N; i++) {
        long double exact = powl(x[i], exponent);
        if (!is_near((format){DBL_MANT_DIG, DBL_MIN_EXP}, exact, (double)exact, y[i]))
            fail_msg("%a to the %g is %a, not %La", x[i], exponent, y[i], exact);
        if (memcmp(&y[i], &same[i], sizeof(double)) != 0 && !(isnan(y[i]) && isnan(same[i])))
            fail_msg("%a to the %g is %a; interpreted, %a", x[i], exponent, y[i], same[i]);
    }
    sn_drop(p);
    sn_drop(q);
}

static void are_accurate(void **state)
{
    (void)state;
    sn_context *cpu = opened(NULL), *interpreter = opened("interpreter");
    for (unsigned i = 0; i < LENGTH(in_few_steps); i++) {
        check_f32(cpu, interpreter, in_few_steps[i]);
        check_f64(cpu, interpreter, in_few_steps[i]);
    }
    for (unsigned i = 0; i < LENGTH(in_double); i++)
        check_f32(cpu, interpreter, in_double[i]);
    for (unsigned i = 0; i < LENGTH(by_function); i++) {
        check_f32(cpu, interpreter, by_function[i]);
        check_f64(cpu, interpreter, by_function[i]);
    }
    sn_close(cpu);
    sn_close(interpreter);
}

static void expect_function(sn_context *cx, const char *signature, unsigned n, const double *exponent, bool function)
{
    for (unsigned i = 0; i < n; i++) {
        sn_program *p = compiled(cx, signature, exponent[i]);
        const char *text = sn_explain(p, "term");
        if ((strstr(text, "pow(") != NULL) != function)
            fail_msg("%s to the %g:\n%s", signature, exponent[i], text);
        sn_drop(p);
    }
}

static void steps_instead_of_the_function(void **state)
{
    (void)state;
    static const char f32[] = "[n]f32 -> [n]f32", f64[] = "[n]f64 -> [n]f64";
    sn_context *cx = opened("interpreter");
    expect_function(cx, f32, LENGTH(in_few_steps), in_few_steps, false);
    expect_function(cx, f64, LENGTH(in_few_steps), in_few_steps, false);
    expect_function(cx, f32, LENGTH(in_double), in_double, false);
    expect_function(cx, f64, LENGTH(in_double), in_double, true);
    expect_function(cx, f32, LENGTH(by_function), by_function, true);
    expect_function(cx, f64, LENGTH(by_function), by_function, true);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_accurate), cmocka_unit_test(steps_instead_of_the_function)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
