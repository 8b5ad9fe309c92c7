/* Folds of windows of 33 to 128 elements: their values and bits on the device and by the interpreter, of every number
 * of elements and of windows around those that make a gang or a piece; and windows that are not all there. */
#include "both.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_scalar one_of_window(sn_scalar i, sn_scalar k)
{
    return sn_add(i, k);
}

static sn_acc windows(sn_acc a, sn_acc like, sn_acc weights)
{
    return sn_backpermute(sn_shape(sn_size(like), sn_size(weights)), one_of_window, a);
}

static sn_acc folds(sn_acc a, sn_acc like, sn_acc weights)
{
    sn_acc w = windows(a, like, weights);
    sn_acc products = sn_zip_with(sn_mul, w, sn_replicate(weights, sn_size(like), SN_ALL));
    return sn_results(sn_sum(w), sn_fold(sn_max, 3, w), sn_fold(sn_add, 5, products));
}

static void devices_agree(void **state)
{
    (void)state;
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "i32 f32 f64", SMALL, 400, 300, 33, 1000, 873, 128, 1000, 870,
         129);
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "f32", MIXED, 1200, 1063, 100, 300, 268, 32);
    /* the last windows are not there, or a window in between */
    both("[a]T, [n]u8, [m]T -> [n]T, [n]T, [n]T", folds, "i32", SMALL, 1100, 1063, 100, 20, 300, 40, 299, 300, 33);
}

enum { N = 3000, MOST = 128 };

static float tree(const float *x, int n)
{
    float acc[MOST];
    for (int l = 0; l < MOST; l++)
        acc[l] = l < n ? x[l] : -0.0f;
    for (int half = MOST / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            acc[l] += acc[l + half];
    return acc[0];
}

static sn_acc sums(sn_acc a, sn_acc like, sn_acc weights)
{
    return sn_sum(windows(a, like, weights));
}

static void bits(void **state)
{
    (void)state;
    static float x[N + MOST], found[N], weights[MOST];
    static uint8_t like[N];
    for (int i = 0; i < N + MOST; i++)
        x[i] = sinf((float)i) * 100;
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[a]f32, [n]u8, [m]f32 -> [n]f32", SN_BODY(sums));
    for (int m = 33; m <= MOST; m += m == 127 ? 1 : 47) {
        if (!p || sn_call(p, sn_in(x, N + MOST), sn_in(like, N), sn_in(weights, m), sn_into(found, N)) != SN_OK)
            fail_msg("%s", sn_message(both_cpu()));
        for (int i = 0; i < N; i++) {
            float wanted = tree(x + i, m);
            if (memcmp(&found[i], &wanted, sizeof(wanted)))
                fail_msg("window %d of %d: %.9g, not %.9g", i, m, (double)found[i], (double)wanted);
        }
    }
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_agree), cmocka_unit_test(bits)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
