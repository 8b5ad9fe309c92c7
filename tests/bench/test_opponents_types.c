/* The opponents over f64 and bytes against plain scalar C, as in test_opponents.c. */
#include "c/opponents.h"
#include "c/vmath64.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 255, 257, 1000, 1024, 4096, 5003, 20000, 70001};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static double *random_doubles(int64_t n, uint32_t seed)
{
    double *x = malloc((size_t)(n + 16) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n + 16; i++)
        x[i] = ((double)next_random(&seed) + (double)next_random(&seed) * 0x1p-24) * 0x1p-24;
    return x;
}

static uint8_t *random_bytes(int64_t n, uint32_t most, uint32_t seed)
{
    uint8_t *x = malloc((size_t)(n + 16));
    assert_non_null(x);
    for (int64_t i = 0; i < n + 16; i++)
        x[i] = (uint8_t)(next_random(&seed) % (most + 1));
    return x;
}

/* Calls `body` for every team, size and offset of the arrays. */
static void each_size(void (*body)(struct team *team, int64_t n, int64_t offset))
{
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int64_t offset = 0; offset < 6; offset += 5)
                body(team, sizes[i], offset);
        team_free(team);
    }
}

static void check_f64(struct team *team, int64_t n, int64_t offset)
{
    double *x = random_doubles(n, 1), *y = random_doubles(n, 2), *z = random_doubles(n, 3);
    double after = z[n + offset], dot = 0, sum = 0, squares = 0;
    c_saxpy_f64(team, n, 2.5, x, y, z + offset);
    for (int64_t i = 0; i < n; i++) {
        double v = x[i + offset];
        dot += v * y[i];
        sum += v;
        squares += v * v;
        assert_true(fabs(z[i + offset] - fma(2.5, x[i], y[i])) <= 0x1p-51 * z[i + offset]);
    }
    assert_true(z[n + offset] == after);
    assert_true(fabs(c_dot_f64(team, n, x + offset, y) - dot) <= 1e-12 * dot);
    if (n > 0) {
        struct moments_f64 m = c_meanvar_f64(team, n, x + offset);
        double mean = sum / (double)n;
        assert_true(fabs(m.mean - mean) <= 1e-12 * mean);
        assert_true(fabs(m.variance - (squares / (double)n - mean * mean)) <= 1e-12);
    }
    free(x);
    free(y);
    free(z);
}

static void test_f64(void **state)
{
    (void)state;
    each_size(check_f64);
}

static void check_argmax(struct team *team, int64_t n, int64_t offset)
{
    if (n == 0)
        return;
    double *x = random_doubles(n, 6);
    uint32_t seed = 7;
    for (int round = 0; round < 8; round++) {
        int64_t best = 0;
        double most = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            if (x[i + offset] > most) {
                most = x[i + offset];
                best = i;
            }
        }
        struct peak_f64 peak = c_argmax_f64(team, n, x + offset);
        assert_int_equal(peak.index, best);
        assert_memory_equal(&peak.value, &x[offset + best], sizeof peak.value);
        /* the next round has ties at random places, then a NaN too */
        x[offset + next_random(&seed) % n] = 1.0 + round / 4;
        if (round == 5)
            x[offset + next_random(&seed) % n] = NAN;
    }
    for (int64_t i = 0; i < n; i++)
        x[offset + i] = -INFINITY;
    assert_int_equal(c_argmax_f64(team, n, x + offset).index, 0);
    free(x);
}

static void check_argmax_u8(struct team *team, int64_t n, int64_t offset)
{
    for (uint32_t most = 0; n > 0 && most < 256; most += 85) {
        uint8_t *x = random_bytes(n, most, 8 + most);
        int64_t best = 0;
        for (int64_t i = 1; i < n; i++)
            best = x[i + offset] > x[best + offset] ? i : best;
        struct peak_u8 peak = c_argmax_u8(team, n, x + offset);
        assert_int_equal(peak.value, x[best + offset]);
        assert_int_equal(peak.index, best);
        free(x);
    }
}

static void test_argmax(void **state)
{
    (void)state;
    each_size(check_argmax);
    each_size(check_argmax_u8);
}

static void check_dot_u8(struct team *team, int64_t n, int64_t offset)
{
    uint8_t *x = random_bytes(n, 255, 4), *y = random_bytes(n, 255, 5);
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (uint32_t)x[i + offset] * y[i];
    assert_int_equal((uint32_t)c_dot_u8(team, n, x + offset, y), sum);
    free(x);
    free(y);
}

static void test_dot_u8(void **state)
{
    (void)state;
    each_size(check_dot_u8);
}

static void check_rowsums(struct team *team, int64_t rows, int64_t columns)
{
    double *x = random_doubles(rows * columns, 13), *sums = random_doubles(rows, 14);
    uint8_t *bytes = random_bytes(rows * columns, 255, 15);
    int32_t *totals = calloc((size_t)rows + 1, sizeof *totals);
    assert_non_null(totals);
    sums[rows] = -7;
    totals[rows] = -7;
    c_rowsums_f64(team, rows, columns, x, sums);
    c_rowsums_u8(team, rows, columns, bytes, totals);
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        int32_t total = 0;
        for (int64_t c = 0; c < columns; c++) {
            sum += x[r * columns + c];
            total += bytes[r * columns + c];
        }
        assert_true(fabs(sums[r] - sum) <= 1e-12 * sum);
        assert_int_equal(totals[r], total);
    }
    assert_true(sums[rows] == -7 && totals[rows] == -7);
    free(x);
    free(sums);
    free(bytes);
    free(totals);
}

static void test_rowsums(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{0, 4},  {1, 4},   {5, 0},    {3, 1},     {9, 63},
                                        {8, 64}, {33, 65}, {7, 1000}, {100, 257}, {2, 9999}};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            check_rowsums(team, shapes[i][0], shapes[i][1]);
        team_free(team);
    }
}

static int32_t escape_count(double cr, double ci, int32_t limit)
{
    double zr = 0, zi = 0;
    for (int32_t steps = 0; steps < limit; steps++) {
        double squared = zi * zi;
        if (!(fma(zr, zr, squared) < 4))
            return steps;
        zi = fma(zr + zr, zi, ci);
        zr = fma(zr, zr, cr - squared);
    }
    return limit;
}

static double normal(double d)
{
    double k = 1 / (1 + 0.2316419 * fabs(d));
    double poly = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    double tail = 0.39894228040143268 * exp(-0.5 * d * d) * poly;
    return d > 0 ? 1 - tail : tail;
}

static void check_blackscholes(struct team *team, int64_t n, int64_t offset)
{
    double *price = random_doubles(n, 8), *strike = random_doubles(n, 9), *years = random_doubles(n, 10);
    double *call = random_doubles(n, 11), *put = random_doubles(n, 12);
    for (int64_t i = 0; i < n; i++) {
        price[i] = 5 + 25 * price[i];
        strike[i] = 1 + 99 * strike[i];
        years[i] = 0.25 + 9.75 * years[i];
    }
    double after[] = {call[n + offset], put[n + offset / 2]};
    c_blackscholes_f64(team, n, price, strike, years, call + offset, put + offset / 2);
    for (int64_t i = 0; i < n; i++) {
        double s = price[i], x = strike[i], t = years[i];
        double d1 = (log(s / x) + (0.02 + 0.045) * t) / (0.30 * sqrt(t)), d2 = d1 - 0.30 * sqrt(t);
        double discounted = x * exp(-0.02 * t), allowed = 5e-15 * (s + x);
        assert_true(fabs(call[i + offset] - (s * normal(d1) - discounted * normal(d2))) <= allowed);
        assert_true(fabs(put[i + offset / 2] - (discounted * (1 - normal(d2)) - s * (1 - normal(d1)))) <= allowed);
    }
    assert_true(call[n + offset] == after[0] && put[n + offset / 2] == after[1]);
    free(price);
    free(strike);
    free(years);
    free(call);
    free(put);
}

static void test_blackscholes(void **state)
{
    (void)state;
    each_size(check_blackscholes);
}

static void check_mandelbrot(struct team *team, int64_t height, int64_t width, int32_t limit)
{
    struct view_f64 view = {-2.1, -1.2, 3.2 / (double)width};
    int32_t *count = malloc((size_t)(height * width + 1) * sizeof *count);
    assert_non_null(count);
    count[height * width] = -7;
    c_mandelbrot_f64(team, height, width, view, limit, count);
    for (int64_t row = 0; row < height; row++) {
        for (int64_t column = 0; column < width; column++) {
            double cr = fma((double)column, view.step, view.left), ci = fma((double)row, view.step, view.top);
            assert_int_equal(count[row * width + column], escape_count(cr, ci, limit));
        }
    }
    assert_int_equal(count[height * width], -7);
    free(count);
}

static void test_mandelbrot(void **state)
{
    (void)state;
    static const int64_t extents[][2] = {{0, 9}, {1, 1}, {3, 17}, {5, 8}, {11, 100}, {64, 333}};
    static const int32_t limits[] = {0, 1, 3, 50, 255};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
            for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
                check_mandelbrot(team, extents[i][0], extents[i][1], limits[l]);
        team_free(team);
    }
}

#if BENCH_AVX512

/* Distance in units of the last place of the true value. */
static double ulps(double x, long double truth)
{
    int exponent;
    (void)frexpl(truth, &exponent);
    return (double)(fabsl((long double)x - truth) / ldexpl(1, exponent - 53));
}

static void test_exp_and_log(void **state)
{
    (void)state;
    uint32_t seed = 15;
    for (int i = 0; i < 100000; i++) {
        double x[8], y[8];
        for (int k = 0; k < 8; k++)
            x[k] = 1400 * ((double)next_random(&seed) * 0x1p-24 + (double)next_random(&seed) * 0x1p-48) - 700;
        _mm512_storeu_pd(y, w_exp(w_load(x)));
        for (int k = 0; k < 8; k++)
            assert_true(ulps(y[k], expl(x[k])) <= 2);
        for (int k = 0; k < 8; k++) { /* every other time near 1, where the logarithm is small */
            double m = 1 + (double)next_random(&seed) * 0x1p-24 + (double)next_random(&seed) * 0x1p-48;
            x[k] = i % 2 ? ldexp(m, (int)(next_random(&seed) % 2000) - 1000) : 1 + (m - 1.5) * 0.4;
        }
        _mm512_storeu_pd(y, w_log(w_load(x)));
        for (int k = 0; k < 8; k++)
            assert_true(ulps(y[k], logl(x[k])) <= 2);
    }
    double special[8] = {0, INFINITY, -1, NAN, 1}, y[8];
    _mm512_storeu_pd(y, w_log(w_load(special)));
    assert_true(y[0] == -INFINITY && y[1] == INFINITY && isnan(y[2]) && isnan(y[3]) && y[4] == 0);
}

#else

static void test_exp_and_log(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f64),        cmocka_unit_test(test_argmax),       cmocka_unit_test(test_dot_u8),
        cmocka_unit_test(test_rowsums),    cmocka_unit_test(test_blackscholes), cmocka_unit_test(test_exp_and_log),
        cmocka_unit_test(test_mandelbrot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
