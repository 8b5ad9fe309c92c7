/* The benchmark's hand-written opponents against plain scalar C, at small and ragged sizes, unaligned, with one to
 * three workers; and the exp and log they use against the C library. */
#include "c/opponents.h"
#include "c/vmath.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 20000 };

static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 63, 64, 65, 127, 255, 256, 257, 1000, 4096, 5003, 16384, 20000};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static float next_float(uint32_t *state, float low, float high)
{
    return low + (high - low) * (float)next_random(state) * 0x1p-24F;
}

static float *random_floats(int64_t n, float low, float high, uint32_t seed)
{
    float *x = malloc((size_t)(n + 16) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n + 16; i++)
        x[i] = next_float(&seed, low, high);
    return x;
}

static struct team *team_of(int workers)
{
    struct team *team = team_new(workers);
    assert_non_null(team);
    return team;
}

/* Calls `body` for every team, size and offset of the arrays. */
static void each_size(void (*body)(struct team *team, int64_t n, int64_t offset))
{
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_of(workers);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int64_t offset = 0; offset < 6; offset += 5)
                body(team, sizes[i], offset);
        team_free(team);
    }
}

static void check_saxpy(struct team *team, int64_t n, int64_t offset)
{
    float *x = random_floats(n, -1, 1, 1);
    float *y = random_floats(n, -1, 1, 2);
    float *z = random_floats(n, 7, 8, 3);
    float before = z[offset];
    float after = z[n + offset];
    c_saxpy(team, n, 2.5F, x, y, z + offset);
    for (int64_t i = 0; i < n; i++)
        assert_true(fabsf(z[i + offset] - fmaf(2.5F, x[i], y[i])) <= 0x1p-23F * (fabsf(2.5F * x[i]) + fabsf(y[i])));
    assert_true(z[n + offset] == after);
    assert_true(n > 0 || z[offset] == before);
    free(x);
    free(y);
    free(z);
}

static void test_saxpy(void **state)
{
    (void)state;
    each_size(check_saxpy);
}

static void check_sums(struct team *team, int64_t n, int64_t offset)
{
    float *x = random_floats(n, 0, 1, 4);
    float *y = random_floats(n, 0, 1, 5);
    double dot = 0;
    double sum = 0;
    double squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = (double)x[i + offset];
        dot += v * (double)y[i];
        sum += v;
        squares += v * v;
    }
    assert_true(fabs((double)c_dot(team, n, x + offset, y) - dot) <= 1e-6 * dot);
    if (n > 0) {
        struct moments m = c_meanvar(team, n, x + offset);
        double mean = sum / (double)n;
        assert_true(fabs((double)m.mean - mean) <= 1e-6 * mean);
        assert_true(fabs((double)m.variance - (squares / (double)n - mean * mean)) <= 1e-6);
    }
    free(x);
    free(y);
}

static void test_sums(void **state)
{
    (void)state;
    each_size(check_sums);
}

static int32_t first_greatest(const float *x, int64_t n)
{
    int64_t best = 0;
    float most = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] > most) {
            most = x[i];
            best = i;
        }
    }
    return (int32_t)best;
}

static void check_argmax(struct team *team, int64_t n, int64_t offset)
{
    if (n == 0)
        return;
    float *x = random_floats(n, 0, 1, 6);
    uint32_t seed = 7;
    for (int round = 0; round < 8; round++) {
        int32_t expected = first_greatest(x + offset, n);
        struct peak peak = c_argmax(team, n, x + offset);
        assert_int_equal(peak.index, expected);
        assert_memory_equal(&peak.value, &x[offset + expected], sizeof peak.value);
        /* the next round has ties at random places, then a NaN too */
        x[offset + next_random(&seed) % n] = 1.0F + (float)(round / 4);
        if (round == 5)
            x[offset + next_random(&seed) % n] = NAN;
    }
    for (int64_t i = 0; i < n; i++)
        x[offset + i] = -INFINITY;
    assert_int_equal(c_argmax(team, n, x + offset).index, 0);
    free(x);
}

static void test_argmax(void **state)
{
    (void)state;
    each_size(check_argmax);
}

static double normal(double d)
{
    static const double c[] = {0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429};
    double k = 1 / (1 + 0.2316419 * fabs(d));
    double poly = 0;
    for (int i = 4; i >= 0; i--)
        poly = k * (c[i] + poly);
    double tail = 0.39894228040143268 * exp(-0.5 * d * d) * poly;
    return d > 0 ? 1 - tail : tail;
}

static void check_blackscholes(struct team *team, int64_t n, int64_t offset)
{
    float *price = random_floats(n, 5, 30, 8);
    float *strike = random_floats(n, 1, 100, 9);
    float *years = random_floats(n, 0.25F, 10, 10);
    float *call = random_floats(n, -9, -8, 11);
    float *put = random_floats(n, -9, -8, 12);
    c_blackscholes(team, n, price, strike, years, call + offset, put + offset / 2);
    for (int64_t i = 0; i < n; i++) {
        double s = (double)price[i];
        double x = (double)strike[i];
        double t = (double)years[i];
        double d1 = (log(s / x) + (0.02 + 0.045) * t) / (0.30 * sqrt(t));
        double d2 = d1 - 0.30 * sqrt(t);
        double discounted = x * exp(-0.02 * t);
        double allowed = 1e-6 * (s + x);
        assert_true(fabs((double)call[i + offset] - (s * normal(d1) - discounted * normal(d2))) <= allowed);
        assert_true(fabs((double)put[i + offset / 2] - (discounted * (1 - normal(d2)) - s * (1 - normal(d1)))) <=
                    allowed);
    }
    assert_true(call[n + offset] < -7.9F && put[n + offset / 2] < -7.9F);
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

static int32_t escape_count(float cr, float ci, int32_t limit)
{
    float zr = 0;
    float zi = 0;
    int32_t steps = 0;
    for (; steps < limit; steps++) {
        float squared = zi * zi;
        if (!(fmaf(zr, zr, squared) < 4))
            break;
        zi = fmaf(zr + zr, zi, ci);
        zr = fmaf(zr, zr, cr - squared);
    }
    return steps;
}

static void check_mandelbrot(struct team *team, int64_t height, int64_t width, int32_t limit)
{
    struct view view = {-2.1F, -1.2F, 3.2F / (float)width};
    int32_t *count = malloc((size_t)(height * width + 1) * sizeof *count);
    assert_non_null(count);
    count[height * width] = -7;
    c_mandelbrot(team, height, width, view, limit, count);
    for (int64_t row = 0; row < height; row++) {
        for (int64_t column = 0; column < width; column++) {
            float cr = fmaf((float)column, view.step, view.left);
            float ci = fmaf((float)row, view.step, view.top);
            assert_int_equal(count[row * width + column], escape_count(cr, ci, limit));
        }
    }
    assert_int_equal(count[height * width], -7);
    free(count);
}

static void test_mandelbrot(void **state)
{
    (void)state;
    static const int64_t extents[][2] = {{0, 9}, {1, 1}, {3, 17}, {5, 16}, {11, 100}, {90, 120}, {64, 333}};
    static const int32_t limits[] = {0, 1, 3, 8, 50, 255};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_of(workers);
        for (size_t i = 0; i < sizeof extents / sizeof *extents; i++)
            for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
                check_mandelbrot(team, extents[i][0], extents[i][1], limits[l]);
        team_free(team);
    }
}

/* One array for each stage, index clamped at every access, the direction by atan2. */
struct picture {
    int64_t height;
    int64_t width;
};

static double at(const double *x, struct picture p, int64_t row, int64_t column)
{
    row = row < 0 ? 0 : row >= p.height ? p.height - 1 : row;
    column = column < 0 ? 0 : column >= p.width ? p.width - 1 : column;
    return x[row * p.width + column];
}

static void blurred(const double *x, double *out, struct picture p, int down, int across)
{
    for (int64_t r = 0; r < p.height; r++) {
        for (int64_t c = 0; c < p.width; c++) {
            double sum = at(x, p, r - 2 * down, c - 2 * across) + at(x, p, r + 2 * down, c + 2 * across);
            sum += 4 * (at(x, p, r - down, c - across) + at(x, p, r + down, c + across));
            out[r * p.width + c] = (sum + 6 * at(x, p, r, c)) / 16;
        }
    }
}

static int direction_class(double dx, double dy, double low)
{
    const double pi = 3.14159265358979323846;
    if (fabs(dx) <= low && fabs(dy) <= low)
        return 0;
    double alpha = (atan2(dy, dx) - pi / 8) * 4 / pi;
    if (alpha <= 0)
        alpha += 8;
    int sector = 64 * (1 + (int)floor(alpha) % 4);
    return sector < 255 ? sector : 255;
}

static void reference_canny(struct picture p, const uint8_t *red, const uint8_t *green, const uint8_t *blue, double low,
                            double high, double *edges)
{
    size_t n = (size_t)(p.height * p.width);
    double *a = malloc(n * sizeof *a);
    double *b = malloc(n * sizeof *b);
    int *direction = malloc(n * sizeof *direction);
    assert_true(a && b && direction);
    for (size_t i = 0; i < n; i++)
        a[i] = 0.299 * red[i] + 0.587 * green[i] + 0.114 * blue[i];
    blurred(a, b, p, 0, 1);
    blurred(b, a, p, 1, 0);
    for (int64_t r = 0; r < p.height; r++) {
        for (int64_t c = 0; c < p.width; c++) {
            double dx = at(a, p, r - 1, c + 1) + 2 * at(a, p, r, c + 1) + at(a, p, r + 1, c + 1) -
                        at(a, p, r - 1, c - 1) - 2 * at(a, p, r, c - 1) - at(a, p, r + 1, c - 1);
            double dy = at(a, p, r - 1, c - 1) + 2 * at(a, p, r - 1, c) + at(a, p, r - 1, c + 1) -
                        at(a, p, r + 1, c - 1) - 2 * at(a, p, r + 1, c) - at(a, p, r + 1, c + 1);
            b[r * p.width + c] = sqrt(dx * dx + dy * dy);
            direction[r * p.width + c] = direction_class(dx, dy, low);
        }
    }
    for (int64_t r = 0; r < p.height; r++) {
        for (int64_t c = 0; c < p.width; c++) {
            int d = direction[r * p.width + c];
            int across = d > 128 ? -1 : d < 128 ? 1 : 0;
            int down = d < 255 ? -1 : 0;
            double here = at(b, p, r, c);
            int edge = d != 0 && here >= low && here >= at(b, p, r + down, c + across) &&
                       here >= at(b, p, r - down, c - across);
            edges[r * p.width + c] = !edge ? 0 : here >= high ? 1 : 0.5;
        }
    }
    free(a);
    free(b);
    free(direction);
}

/* Steps and noise, so that every direction and border occurs. */
static void paint(struct picture p, uint8_t *red, uint8_t *green, uint8_t *blue, uint32_t seed)
{
    for (int64_t r = 0; r < p.height; r++) {
        for (int64_t c = 0; c < p.width; c++) {
            uint32_t tone = 60 + (uint32_t)(((r / 7) ^ (c / 5) ^ ((r + c) / 9)) & 1) * 100;
            red[r * p.width + c] = (uint8_t)(tone + next_random(&seed) % 60);
            green[r * p.width + c] = (uint8_t)(tone + next_random(&seed) % 60);
            blue[r * p.width + c] = (uint8_t)(200 - tone + next_random(&seed) % 50);
        }
    }
}

static void check_canny(struct team *team, struct picture p)
{
    size_t n = (size_t)(p.height * p.width);
    uint8_t *planes = malloc(3 * n);
    float *edges = aligned_alloc(64, (n + 32) / 16 * 16 * sizeof *edges);
    double *expected = malloc(n * sizeof *expected);
    assert_true(planes && edges && expected);
    edges[n] = 9;
    paint(p, planes, planes + n, planes + 2 * n, (uint32_t)n);
    reference_canny(p, planes, planes + n, planes + 2 * n, 50, 100, expected);
    assert_int_equal(c_canny(team, p.height, p.width, planes, planes + n, planes + 2 * n, 50, 100, edges), 1);
    size_t differ = 0;
    for (size_t i = 0; i < n; i++)
        differ += (double)edges[i] != expected[i];
    /* rounding may turn a comparison of near equals, no more than once in ten thousand pixels */
    assert_true(differ <= n / 10000);
    assert_true(edges[n] == 9);
    free(planes);
    free(edges);
    free(expected);
}

static void test_canny(void **state)
{
    (void)state;
    static const struct picture pictures[] = {{1, 1},    {1, 40},     {2, 16},   {3, 17},   {5, 15},   {7, 31},
                                              {8, 32},   {40, 3},     {4, 33},   {60, 64},  {70, 100}, {33, 2048},
                                              {9, 8195}, {12, 12299}, {530, 70}, {1030, 40}};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_of(workers);
        for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
            check_canny(team, pictures[i]);
        team_free(team);
    }
}

static void check_rowsums(struct team *team, int64_t rows, int64_t columns, int64_t offset)
{
    float *x = random_floats(rows * columns, 0, 1, 13);
    float *sums = random_floats(rows, -2, -1, 14);
    c_rowsums(team, rows, columns, x, sums + offset);
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;
        for (int64_t c = 0; c < columns; c++)
            sum += (double)x[r * columns + c];
        assert_true(fabs((double)sums[r + offset] - sum) <= 1e-6 * sum);
    }
    assert_true(sums[rows + offset] < 0);
    free(x);
    free(sums);
}

/* Segments of `length` elements, or of mixed lengths where it is below 0, against plain sums; of a matrix, too. */
static void check_segments(struct team *team, int64_t length, int64_t offset)
{
    int64_t begin[MOST / 2 + 2] = {0}, segments = 0, n = 0;
    uint32_t seed = 5;
    while (n < MOST && segments < MOST / 2) {
        int64_t next = length >= 0                   ? length
                       : next_random(&seed) % 8 == 0 ? next_random(&seed) % 900
                                                     : next_random(&seed) % 20;
        n = next < MOST - n ? n + next : MOST;
        begin[++segments] = n;
    }
    float *x = random_floats(n, -1, 1, 1), *vector = random_floats(100, -1, 1, 2),
          *sums = random_floats(segments, 9, 9, 3);
    int32_t *column = malloc((size_t)(n + 1) * sizeof *column);
    for (int64_t i = 0; i < n; i++)
        column[i] = (int32_t)(next_random(&seed) % 100);
    for (int matrix = 0; matrix < 2; matrix++) {
        if (matrix)
            c_csr(team, segments, begin, column, x, vector, sums + offset);
        else
            c_segsum(team, segments, begin, x, sums + offset);
        for (int64_t s = 0; s < segments; s++) {
            double sum = 0;
            for (int64_t i = begin[s]; i < begin[s + 1]; i++)
                sum += (double)x[i] * (matrix ? (double)vector[column[i]] : 1);
            assert_true(fabs(sum - (double)sums[offset + s]) <= 1e-3);
        }
    }
    free(x), free(vector), free(sums), free(column);
}

/* FilterMax of segments of `length` points, or of mixed lengths where it is below 0, against a plain loop. */
static void check_filtermax(struct team *team, int64_t length)
{
    enum { POINTS = 70001 };
    int64_t *offsets = calloc(POINTS + 1, sizeof *offsets), segments = 0, n = 0, kept = 0;
    uint32_t seed = 9;
    while (n < POINTS) {
        int64_t next = length > 0                    ? length
                       : next_random(&seed) % 9 == 0 ? 1 + next_random(&seed) % 30000
                                                     : 1 + next_random(&seed) % 40;
        n = next < POINTS - n ? n + next : POINTS;
        offsets[++segments] = n;
    }
    struct filtermax f = {.segments = segments, .offsets = offsets};
    float *x = random_floats(n, -1, 1, 1), *y = random_floats(n, -1, 1, 2);
    for (int64_t i = 0; i < n; i++) { /* so that distances are exact, and some equal */
        x[i] = (float)(int)(x[i] * 16) / 16;
        y[i] = (float)(int)(y[i] * 16) / 16;
    }
    f.x = x;
    f.y = y;
    for (int k = 0; k < 4; k++) {
        float *l = random_floats(segments, -1, 1, 3 + (uint32_t)k);
        for (int64_t i = 0; i < segments; i++)
            l[i] = (float)(int)(l[i] * 16) / 16;
        f.line[k] = l;
    }
    for (int k = 0; k < 2; k++) {
        f.far[k] = malloc((size_t)segments * sizeof(float));
        f.above[k] = malloc((size_t)n * sizeof(float));
    }
    f.counts = malloc((size_t)segments * sizeof(int64_t));
    int64_t all = c_segfiltermax(team, &f);
    for (int64_t s = 0; s < segments; s++) {
        int64_t far = offsets[s], count = 0;
        float most = -999999;
        for (int64_t i = offsets[s]; i < offsets[s + 1]; i++) {
            float d = (f.line[0][s] - x[i]) * (f.line[3][s] - y[i]) - (f.line[1][s] - y[i]) * (f.line[2][s] - x[i]);
            far = d > most ? i : far;
            most = d > most ? d : most;
            if (d > 0) {
                assert_true(kept < all && f.above[0][kept] == x[i] && f.above[1][kept] == y[i]);
                kept++, count++;
            }
        }
        assert_true(f.far[0][s] == x[far] && f.far[1][s] == y[far] && f.counts[s] == count);
    }
    assert_int_equal(kept, all);
    for (int k = 0; k < 4; k++)
        free((void *)f.line[k]);
    free(f.far[0]), free(f.far[1]), free(f.above[0]), free(f.above[1]), free(f.counts), free(x), free(y), free(offsets);
}

static void test_filtermax(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 4, 8, 16, 17, 100, 16384, 40000, 70001, -1};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_of(workers);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            check_filtermax(team, lengths[i]);
        team_free(team);
    }
}

static void test_segments(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 4, 5, 8, 16, 17, 64, 100, 1000, MOST, -1};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_of(workers);
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int64_t offset = 0; offset < 6; offset += 5)
                check_segments(team, lengths[i], offset);
        team_free(team);
    }
}

static void test_rowsums(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {
        {0, 4},   {1, 4},    {17, 4},    {1000, 4}, {4099, 4},          {5, 0},      {3, 1}, {9, 63}, {8, 64},
        {33, 65}, {7, 1000}, {100, 257}, {2, 9999}, {1, (1 << 20) + 5}, {3, 1 << 20}};
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_of(workers);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int64_t offset = 0; offset < 6; offset += 5)
                check_rowsums(team, shapes[i][0], shapes[i][1], offset);
        team_free(team);
    }
}

#if BENCH_AVX512

/* Distance of x from the true value, in units of the last place of the nearest float. */
static double ulps(float x, double truth)
{
    int exponent;
    frexp(truth, &exponent);
    return fabs((double)x - truth) / ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
}

static void test_exp_and_log(void **state)
{
    (void)state;
    uint32_t seed = 15;
    for (int i = 0; i < 200000; i++) {
        float x[16];
        float y[16];
        for (int k = 0; k < 16; k++)
            x[k] = next_float(&seed, -87, 88);
        _mm512_storeu_ps(y, v_exp(v_load(x)));
        for (int k = 0; k < 16; k++)
            assert_true(ulps(y[k], exp((double)x[k])) <= 2);
        for (int k = 0; k < 16; k++) {
            uint32_t bits = next_random(&seed) % 0x7F8000U << 8 | (next_random(&seed) & 0xFF);
            if (i % 2 == 0) /* near 1, where the logarithm is small */
                bits = 0x3F800000U - 1000000 + next_random(&seed) % 2000000;
            memcpy(&x[k], &bits, sizeof bits);
        }
        _mm512_storeu_ps(y, v_log(v_load(x)));
        for (int k = 0; k < 16; k++)
            assert_true(x[k] == 0 || ulps(y[k], log((double)x[k])) <= 2);
    }
    float special[16] = {0, INFINITY, -1, NAN, 1, 0x1p-149F};
    float y[16];
    _mm512_storeu_ps(y, v_log(v_load(special)));
    assert_true(y[0] == -INFINITY && y[1] == INFINITY && isnan(y[2]) && isnan(y[3]) && y[4] == 0);
    assert_true(ulps(y[5], log(0x1p-149)) <= 2);
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
        cmocka_unit_test(test_saxpy),        cmocka_unit_test(test_sums),       cmocka_unit_test(test_argmax),
        cmocka_unit_test(test_blackscholes), cmocka_unit_test(test_mandelbrot), cmocka_unit_test(test_canny),
        cmocka_unit_test(test_rowsums),      cmocka_unit_test(test_segments),   cmocka_unit_test(test_filtermax),
        cmocka_unit_test(test_exp_and_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
