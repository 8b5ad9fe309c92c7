/* The opponents bound by arithmetic against plain scalar C in f64, as in test_opponents.c. */
#include "c/opponents.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static float next_float(uint32_t *seed, float low, float high)
{
    *seed = *seed * 1664525U + 1013904223U;
    return low + (high - low) * (float)(*seed >> 8) * 0x1p-24F;
}

static float *random_floats(int64_t n, float low, float high, uint32_t seed)
{
    float *x = malloc((size_t)(n + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n + 1; i++)
        x[i] = next_float(&seed, low, high);
    return x;
}

/* --- 9 x 9 stencil --- */

static int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static void check_stencil9(struct team *team, int64_t h, int64_t w)
{
    float *x = random_floats(h * w, 0, 1, 1), *weight = random_floats(81, -1, 1, 2),
          *sums = random_floats(h * w, 9, 9, 3);
    c_stencil9(team, h, w, weight, x, sums);
    for (int64_t i = 0; i < h * w; i++) {
        double sum = 0;
        for (int k = 0; k < 81; k++)
            sum += (double)weight[k] * (double)x[clamp(i / w + k / 9 - 4, h) * w + clamp(i % w + k % 9 - 4, w)];
        assert_true(fabs((double)sums[i] - sum) <= 81 * 81 * 0x1p-24);
    }
    assert_true(sums[h * w] == 9);
    free(x);
    free(weight);
    free(sums);
}

static void test_stencil9(void **state)
{
    (void)state;
    static const int64_t heights[] = {1, 3, 4, 9, 32, 35, 70}, widths[] = {1, 8, 9, 55, 56, 57, 104, 130, 201};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
            for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
                check_stencil9(team, heights[i], widths[k]);
        c_stencil9(team, 0, 100, NULL, NULL, NULL);
        team_free(team);
    }
}

/* --- loops over arrays --- */

static void check_jacobi(struct team *team, int64_t h, int64_t w, int steps)
{
    float *x = random_floats(h * w, 0, 1, 5), *spare = random_floats(h * w, 9, 9, 6),
          *to = random_floats(h * w, 9, 9, 7), *from = random_floats(h * w, 0, 1, 5),
          *next = random_floats(h * w, 9, 9, 8);
    assert_int_equal(c_jacobi(team, h, w, steps, x, spare, to), 1);
    for (int t = 0; t < steps; t++) {
        for (int64_t i = 0; i < h * w; i++) {
            int64_t r = i / w, c = i % w;
            float sum = from[i] + from[clamp(r - 1, h) * w + c];
            sum = sum + from[clamp(r + 1, h) * w + c];
            sum = sum + from[r * w + clamp(c - 1, w)];
            next[i] = (sum + from[r * w + clamp(c + 1, w)]) * 0.2F;
        }
        float *swap = from;
        from = next;
        next = swap;
    }
    assert_memory_equal(to, from, (size_t)(h * w) * sizeof *to);
    assert_true(to[h * w] == 9 && spare[h * w] == 9);
    free(x);
    free(spare);
    free(to);
    free(from);
    free(next);
}

static void test_jacobi(void **state)
{
    (void)state;
    static const int64_t heights[] = {1, 2, 7, 40, 65}, widths[] = {1, 2, 17, 32, 48, 50};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof heights / sizeof *heights; i++)
            for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
                for (int steps = 1; steps <= 21; steps += 4)
                    check_jacobi(team, heights[i], widths[k], steps);
        team_free(team);
    }
}

static void check_floyd(struct team *team, int64_t n)
{
    int32_t *d = malloc((size_t)(n * n + 1) * sizeof *d), *plain = malloc((size_t)(n * n + 1) * sizeof *plain);
    uint32_t seed = 9;
    assert_true(d && plain);
    for (int64_t i = 0; i < n * n; i++) {
        seed = seed * 1664525 + 1013904223;
        d[i] = plain[i] = i / n == i % n ? 0 : seed >> 30 ? 100000 : (int32_t)(seed >> 16 & 1023) + 1;
    }
    d[n * n] = 77;
    c_floyd(team, n, d);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                if (plain[i * n + k] + plain[k * n + j] < plain[i * n + j])
                    plain[i * n + j] = plain[i * n + k] + plain[k * n + j];
    assert_memory_equal(d, plain, (size_t)(n * n) * sizeof *d);
    assert_int_equal(d[n * n], 77);
    free(d);
    free(plain);
}

static void test_floyd(void **state)
{
    (void)state;
    static const int64_t extents[] = {0, 1, 5, 63, 64, 65, 130, 192};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
            check_floyd(team, extents[i]);
        team_free(team);
    }
}

/* --- bodies --- */

static struct bodies random_bodies(int64_t n, uint32_t seed)
{
    struct bodies b;
    for (uint32_t c = 0; c < 3; c++) {
        b.position[c] = random_floats(n, -1, 1, seed + c);
        b.velocity[c] = random_floats(n, -1, 1, seed + 3 + c);
    }
    b.mass = random_floats(n, 0, 1, seed + 6);
    return b;
}

static void free_bodies(const struct bodies *b)
{
    for (int c = 0; c < 3; c++) {
        free(b->position[c]);
        free(b->velocity[c]);
    }
    free(b->mass);
}

/* What all others pull body i with along axis c; *size: the sum of the absolute values. */
static double pull_of(const struct bodies *b, int64_t n, int64_t i, int c, double *size)
{
    double sum = 0;
    *size = 0;
    for (int64_t j = 0; j < n; j++) {
        double square = 0;
        for (int d = 0; d < 3; d++)
            square += pow((double)b->position[d][j] - (double)b->position[d][i], 2);
        if (square > 0) {
            double away = (double)b->position[c][j] - (double)b->position[c][i];
            sum += away * (double)b->mass[j] / (square * sqrt(square));
            *size += fabs((double)b->mass[j] / square);
        }
    }
    return sum;
}

static void check_nbody(struct team *team, int64_t n)
{
    struct bodies in = random_bodies(n, 4), out = random_bodies(n, 40);
    float step = 0.01F;
    if (n > 2) /* two in one place */
        for (int c = 0; c < 3; c++)
            in.position[c][n - 1] = in.position[c][0];
    c_nbody(team, n, step, &in, &out);
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++) {
            double size, velocity = (double)in.velocity[c][i] + pull_of(&in, n, i, c, &size) * (double)step;
            double allowed = ((double)n + 20) * 0x1p-23 * (size * (double)step + 2);
            assert_true(fabs((double)out.velocity[c][i] - velocity) <= allowed);
            assert_true(fabs((double)out.position[c][i] - ((double)in.position[c][i] + velocity * (double)step)) <=
                        allowed);
        }
    }
    free_bodies(&in);
    free_bodies(&out);
}

static void test_nbody(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 31, 32, 33, 64, 100, 257};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check_nbody(team, sizes[i]);
        team_free(team);
    }
}

/* --- products of matrices --- */

static void check_sgemm(struct team *team, const int64_t *n, int by_hand)
{
    float *x = random_floats(n[0] * n[1], -1, 1, 1), *y = random_floats(n[1] * n[2], -1, 1, 2),
          *z = random_floats(n[0] * n[2], 9, 9, 3);
    (by_hand ? c_sgemm_by_hand : c_sgemm)(team, n[0], n[2], n[1], x, y, z);
    for (int64_t i = 0; i < n[0] * n[2]; i++) {
        double sum = 0;
        for (int64_t k = 0; k < n[1]; k++)
            sum += (double)x[i / n[2] * n[1] + k] * (double)y[k * n[2] + i % n[2]];
        assert_true(fabs((double)z[i] - sum) <= (double)(n[1] + 1) * (double)(n[1] + 1) * 0x1p-24);
    }
    assert_true(z[n[0] * n[2]] == 9);
    free(x);
    free(y);
    free(z);
}

static void test_sgemm(void **state)
{
    (void)state;
    static const int64_t extents[][3] = {{1, 1, 1}, {8, 5, 48}, {9, 300, 47}, {17, 256, 100}, {3, 0, 4}, {40, 513, 1}};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
            check_sgemm(team, extents[i], 1);
            if (extents[i][1])
                check_sgemm(team, extents[i], 0);
        }
        team_free(team);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stencil9), cmocka_unit_test(test_jacobi), cmocka_unit_test(test_floyd),
        cmocka_unit_test(test_nbody),    cmocka_unit_test(test_sgemm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
