/* Floats to integers around every power of two, where types end: the CPU against the interpreter. */
#include "both.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESULTS "[n]i8, [n]i16, [n]i32, [n]i64, [n]u8, [n]u16, [n]u32, [n]u64, [n]char"
enum { MOST = 2048, TYPES = 9 };

static const sn_type type_of[TYPES] = {SN_I8, SN_I16, SN_I32, SN_I64, SN_U8, SN_U16, SN_U32, SN_U64, SN_CHAR};

static sn_scalar convert(void *type, sn_scalar x)
{
    return sn_to(*(const sn_type *)type, x);
}

static sn_acc converted(sn_acc x)
{
    sn_acc r[TYPES];
    for (int t = 0; t < TYPES; t++)
        r[t] = sn_map(sn_closure(convert, (void *)(uintptr_t)&type_of[t]), x);
    return sn_results(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]);
}

/* powers of two, their neighbours and their neighbours half a unit and a unit away, of both signs */
static int numbers(double *x, double (*next)(double, double))
{
    int n = 0;
    for (int k = -2; k <= 65; k++) {
        double p = ldexp(1, k), near[] = {p, next(p, 0), next(p, 2 * p), p - 0.5, p + 0.5, p - 1, p + 1};
        for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
            x[n++] = near[i];
            x[n++] = -near[i];
        }
    }
    double special[] = {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 5e-324, 1e308, -1e308};
    for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
        x[n++] = special[i];
    assert_true(n <= MOST);
    return n;
}

static double next_f32(double x, double to)
{
    return (double)nextafterf((float)x, (float)to);
}

static void call(sn_context *cx, const char *signature, sn_arg in, int64_t n, uint64_t (*out)[MOST])
{
    sn_arg a[1 + TYPES] = {in};
    sn_program *p = sn_compile(cx, signature, converted);
    assert_non_null(p);
    memset(out, 0, TYPES * sizeof(out[0]));
    for (int t = 0; t < TYPES; t++)
        a[1 + t] = (sn_arg){.kind = SN_ARG_INTO, .type = type_of[t], .rank = 1, .extent = {n}, .u.to = out[t]};
    assert_int_equal(sn_call_n(p, 1 + TYPES, a), SN_OK);
    sn_drop(p);
}

static void where_types_end(void **state)
{
    double x[MOST];
    float y[MOST];
    uint64_t(*cpu)[MOST] = malloc(TYPES * sizeof(*cpu)), (*wanted)[MOST] = malloc(TYPES * sizeof(*wanted));
    (void)state;
    assert_true(cpu && wanted);
    int n = numbers(x, nextafter);
    call(both_cpu(), "[n]f64 -> " RESULTS, sn_in(x, n), n, cpu);
    call(both_interpreter(), "[n]f64 -> " RESULTS, sn_in(x, n), n, wanted);
    assert_memory_equal(cpu, wanted, TYPES * sizeof(*cpu));
    n = numbers(x, next_f32);
    for (int i = 0; i < n; i++)
        y[i] = (float)x[i];
    call(both_cpu(), "[n]f32 -> " RESULTS, sn_in(y, n), n, cpu);
    call(both_interpreter(), "[n]f32 -> " RESULTS, sn_in(y, n), n, wanted);
    assert_memory_equal(cpu, wanted, TYPES * sizeof(*cpu));
    assert_int_equal(((const int8_t *)cpu[0])[n - 1], -128); /* of -1e308 */
    free(cpu);
    free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(where_types_end)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
