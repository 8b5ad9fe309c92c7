/* Greatest and least elements of floats: NaNs, infinities and zeros of both signs, against the interpreter. Most rows
 * hold two different values only, so that many of them have nothing but zeros, NaNs or the worst infinity. */
#include "both.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* rows of up to 32, of whole groups, ragged ones; few rows and many */
#define SHAPES 700, 1, 700, 3, 700, 16, 500, 31, 300, 33, 300, 64, 200, 100, 200, 256, 20, 511, 9, 4096, 0, 40
#define LONG_ROWS 12, 32769, 6, 65537

static sn_scalar pick(sn_scalar c, sn_scalar x, sn_scalar y)
{
    return sn_if(sn_gt(c, 0), x, y);
}

static sn_acc two_values(sn_acc choice, sn_acc a, sn_acc b)
{
    sn_scalar m = sn_extent(choice, 1);
    return sn_zip_with(pick, choice, sn_replicate(a, SN_ALL, m), sn_replicate(b, SN_ALL, m));
}

static sn_acc extremes(sn_acc choice, sn_acc a, sn_acc b)
{
    sn_acc x = two_values(choice, a, b);
    return sn_results(sn_maximum(x), sn_minimum(x));
}

static sn_acc least(sn_acc choice, sn_acc a, sn_acc b)
{
    return sn_minimum(two_values(choice, a, b));
}

static sn_acc greatest_from_seed(sn_acc choice, sn_acc a, sn_acc b)
{
    return sn_fold(sn_max, 0, two_values(choice, a, b));
}

static void rows_of_two_values(void **state)
{
    (void)state;
    both("[n,m]i8, [n]T, [n]T -> [n]T, [n]T", extremes, FLOATS, MIXED, SHAPES);
    both("[n,m]i8, [n]T, [n]T -> [n]T", least, FLOATS, MIXED, SHAPES, LONG_ROWS);
    both("[n,m]i8, [n]T, [n]T -> [n]T", greatest_from_seed, FLOATS, MIXED, SHAPES, 7, 0);
}

/* --- anything, several at once, elements that are stored as well --- */

static sn_acc several(sn_acc x)
{
    sn_acc y = sn_map(sn_neg, x);
    return sn_results(sn_maximum(x), sn_minimum(y), sn_sum(sn_map(sn_to_i32, sn_map(sn_is_nan, x))), y);
}

static sn_scalar both_ends(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_min(sn_fst(a), sn_fst(b)), sn_max(sn_snd(b), sn_snd(a)), sn_add(sn_get(a, 2), sn_get(b, 2)));
}

static sn_scalar thrice(sn_scalar x)
{
    return sn_tuple(x, x, 1);
}

static sn_acc range(sn_acc x)
{
    sn_acc part[3];
    sn_unzip(sn_fold1(both_ends, sn_map(thrice, x)), 3, part);
    return sn_results(part[0], part[1], part[2]);
}

static void anything(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T, [n]T, [n]i32, [n,m]T", several, FLOATS, MIXED, SHAPES);
    both("[n,m]T -> [n]T, [n]T, [n]i32", range, FLOATS, MIXED, SHAPES, LONG_ROWS);
}

/* --- one element among many that are worse --- */

static sn_acc greatest(sn_acc x)
{
    return sn_maximum(x);
}

static float greatest_with(sn_program *p, float *x, int64_t n, float most, int64_t at, float one)
{
    float got;
    for (int64_t i = 0; i < n; i++)
        x[i] = i % 5 ? most : NAN;
    x[at] = one;
    assert_int_equal(sn_call(p, sn_in(x, 1, n), sn_into(&got, 1)), SN_OK);
    return got;
}

static void one_among_many(void **state)
{
    enum { MOST = 70000, CASES = 6 };
    static const int64_t length[CASES] = {17, 32, 100, 512, 4097, MOST};
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n,m]f32 -> [n]f32", greatest);
    float *x = malloc(MOST * sizeof *x);
    assert_true(p && x);
    for (int c = 0; c < CASES; c++)
        for (int64_t at = 0; at < length[c]; at += 1 + length[c] / 13) {
            float zero = greatest_with(p, x, length[c], -0.0f, at, 0.0f);
            assert_true(zero == 0 && !signbit(zero));
            zero = greatest_with(p, x, length[c], -1.0f, at, -0.0f);
            assert_true(zero == 0 && signbit(zero));
            assert_true(greatest_with(p, x, length[c], NAN, at, -INFINITY) == -INFINITY);
            assert_true(isnan(greatest_with(p, x, length[c], NAN, at, NAN)));
            assert_true(greatest_with(p, x, length[c], -INFINITY, at, -3e38f) == -3e38f);
        }
    free(x);
    sn_drop(p);
}

/* signalling NaNs are NaNs like others */
static void signalling_nans(void **state)
{
    enum { N = 1000 };
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n,m]f32 -> [n]f32", greatest);
    uint32_t bits[N];
    float x[N], got;
    assert_non_null(p);
    for (int i = 0; i < N; i++)
        bits[i] = i % 3 ? 0x7f800001u : 0xffa00000u;
    bits[77] = 0x3f800000u;
    memcpy(x, bits, sizeof x);
    assert_int_equal(sn_call(p, sn_in(x, 1, N), sn_into(&got, 1)), SN_OK);
    assert_true(got == 1);
    sn_drop(p);
}

/* --- zeros among what is not negative, and the other way round --- */

static sn_scalar clipped(sn_scalar x)
{
    return sn_max(x, 0);
}

static sn_acc clips(sn_acc x)
{
    sn_acc least = sn_map(clipped, x), most = sn_map(sn_neg, least);
    return sn_results(sn_minimum(least), sn_maximum(most), sn_minimum(sn_transpose(least)),
                      sn_maximum(sn_transpose(most)));
}

static void zeros_among_others(void **state)
{
    (void)state;
    both("[n,m]T -> [n]T, [n]T, [m]T, [m]T", clips, FLOATS, SMALL, SHAPES, LONG_ROWS, 9000, 3, 5000, 7, 300, 48);
    both("[n,m]T -> [n]T, [n]T, [m]T, [m]T", clips, FLOATS, SIGNALS, SHAPES, LONG_ROWS, 9000, 3, 300, 48);
}

/* --- windows: elements that may lie outside --- */

static sn_scalar next(sn_scalar i, sn_scalar k)
{
    return sn_add(i, k);
}

static sn_acc of_windows(sn_acc x, sn_acc rows, sn_acc width)
{
    sn_acc w = sn_backpermute(sn_shape(sn_size(rows), sn_size(width)), next, x);
    return sn_results(sn_maximum(w), sn_minimum(w));
}

/* Inside; one element too few for the last window; many too few; windows of one element, and of more than a register.
 */
static void windows(void **state)
{
    (void)state;
    both("[n]T, [m]u8, [k]u8 -> [m]T, [m]T", of_windows, FLOATS, MIXED, 1000, 981, 20, 1000, 982, 20, 300, 400, 7, 64,
         64, 1, 95, 64, 32, 94, 64, 32, 1031, 1000, 32, 3, 1, 3, 500, 470, 31, 5000, 4961, 40);
}

static sn_acc greatest_of_windows(sn_acc x, sn_acc rows, sn_acc width)
{
    return sn_maximum(sn_backpermute(sn_shape(sn_size(rows), sn_size(width)), next, x));
}

/* One comparison an element there, too, instead of all that a maximum asks; or a maximum, where an instruction or two
 * are one. */
static void windows_are_compared(void **state)
{
    (void)state;
    const char *wanted = getenv("SINTER_DEVICE");
    if (wanted && strcmp(wanted, "cpu") != 0)
        skip(); /* blocks of many threads fold windows as other rows */
    float x[64] = {0}, got[40];
    uint8_t rows[40] = {0}, width[20] = {0};
    sn_program *p = sn_compile(both_cpu(), "[n]f32, [m]u8, [k]u8 -> [m]f32", greatest_of_windows);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(x, 64), sn_in(rows, 40), sn_in(width, 20), sn_into(got, 40)), SN_OK);
    const char *said = sn_explain(p, "kernels");
    if (!strstr(said, "f32 = select") == !strstr(said, "f32 = max"))
        fail_msg("%s", said);
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_two_values),   cmocka_unit_test(anything),        cmocka_unit_test(one_among_many),
        cmocka_unit_test(zeros_among_others),   cmocka_unit_test(signalling_nans), cmocka_unit_test(windows),
        cmocka_unit_test(windows_are_compared),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
