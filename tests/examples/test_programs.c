/* The example programs on small inputs, against plain C. Contraction is off, so that what rounds once per operation
 * agrees bit for bit. */
#include "programs/blackscholes.h"
#include "programs/canny.h"
#include "programs/fluid.h"
#include "programs/graph.h"
#include "programs/mandelbrot.h"
#include "programs/nbody.h"
#include "programs/rowstats.h"
#include "programs/unsharp.h"

#include "common/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_context(void **state)
{
    sn_options options = {.size = sizeof(options), .contract = SN_OFF};
    *state = sn_open(&options);
    return *state ? 0 : -1;
}

static int close_context(void **state)
{
    sn_close(*state);
    return 0;
}

static void *get(size_t bytes)
{
    void *block = malloc(bytes ? bytes : 1);
    assert_non_null(block);
    return block;
}

static void expect_ok(sn_context *cx, sn_status status)
{
    if (status != SN_OK)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
}

static void expect_clusters(sn_program *program, unsigned wanted)
{
    const char *text = sn_explain(program, "json");
    unsigned found = 0;
    assert_non_null(text);
    for (const char *at = strstr(text, "\"kind\""); at; at = strstr(at + 1, "\"kind\""))
        found++;
    if (found != wanted)
        fail_msg("%u clusters, not %u:\n%s", found, wanted, sn_explain(program, "clusters"));
}

/* Stencils that read each other are one loop, but for devices whose blocks are many threads, which has its reason said.
 */
static void expect_stencils(sn_program *program, unsigned together, unsigned apart)
{
    const char *edges = sn_explain(program, "edges");
    assert_non_null(edges);
    expect_clusters(program, strstr(edges, "where a block is many threads") ? apart : together);
}

static double uniform(double low, double high)
{
    return low + (high - low) * rand() / RAND_MAX;
}

/* --- pictures: real ones, and noise of awkward sizes --- */

static picture noise(int64_t height, int64_t width)
{
    uint8_t *block = get((size_t)(height * width) * 3);
    for (int64_t i = 0; i < 3 * height * width; i++)
        block[i] = (uint8_t)(rand() >> 7);
    return (picture){height, width, {block, block + height * width, block + 2 * height * width}};
}

static const int awkward[][2] = {{1, 1}, {1, 7}, {5, 1}, {2, 2}, {3, 64}, {67, 131}, {40, 257}};
enum { AWKWARD = sizeof(awkward) / sizeof(*awkward) };

typedef void (*picture_test)(sn_context *cx, sn_program *program, const picture *p);

static void with_pictures(sn_context *cx, sn_program *program, picture_test test)
{
    char message[256];
    picture p;
    if (!program)
        fail_msg("%s", sn_message(cx));
    srand(2);
    for (int i = 0; i < AWKWARD; i++) {
        p = noise(awkward[i][0], awkward[i][1]);
        test(cx, program, &p);
        picture_free(&p);
    }
    if (!picture_read("data/coins.png", &p, message))
        fail_msg("%s", message);
    test(cx, program, &p);
    picture_free(&p);
}

static int64_t clamped(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* reflected at the edge element, as often as needed */
static int64_t mirrored(int64_t i, int64_t n)
{
    if (n == 1)
        return 0;
    i = (i % (2 * n - 2) + 2 * n - 2) % (2 * n - 2);
    return i < n ? i : 2 * n - 2 - i;
}

typedef int64_t (*boundary)(int64_t i, int64_t n);

/* 1 4 6 4 1 along columns (dy 0) or rows (dx 0), in the order of the programs */
static void blur(const float *in, float *out, int64_t h, int64_t w, int dy, int dx, boundary b)
{
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float v[5];
            for (int k = -2; k <= 2; k++)
                v[k + 2] = in[b(y + k * dy, h) * w + b(x + k * dx, w)];
            out[y * w + x] = (((v[0] + v[4]) + (v[1] + v[3]) * 4) + v[2] * 6) * (1.0f / 16);
        }
}

/* --- Canny --- */

static float at(const float *a, int64_t h, int64_t w, int64_t y, int64_t x)
{
    return a[clamped(y, h) * w + clamped(x, w)];
}

static void canny_gradient_reference(const float *in, int64_t h, int64_t w, float low, float *size, float *direction)
{
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            float n[3][3];
            for (int i = 0; i < 9; i++)
                n[i / 3][i % 3] = at(in, h, w, y + i / 3 - 1, x + i % 3 - 1);
            float dx = ((n[0][2] + n[2][2]) + n[1][2] * 2) - ((n[0][0] + n[2][0]) + n[1][0] * 2);
            float dy = ((n[0][0] + n[0][2]) + n[0][1] * 2) - ((n[2][0] + n[2][2]) + n[2][1] * 2);
            size[y * w + x] = sqrtf(dx * dx + dy * dy);
            int where = CANNY_FLAT; /* the direction of the gradient, as one of four */
            if (fabsf(dx) > low || fabsf(dy) > low) {
                if (fabsf(dy) < fabsf(dx) * 0.414213562f)
                    where = CANNY_ACROSS;
                else if (fabsf(dx) <= fabsf(dy) * 0.414213562f)
                    where = CANNY_DOWN;
                else
                    where = (dx < 0) == (dy < 0) ? CANNY_RISING : CANNY_FALLING;
            }
            direction[y * w + x] = (float)where;
        }
}

static float canny_pixel_reference(const float *size, const float *direction, int64_t h, int64_t w, int64_t y,
                                   int64_t x, float low, float high)
{
    static const int way[5][2] = {
        [CANNY_RISING] = {-1, 1}, [CANNY_DOWN] = {-1, 0}, [CANNY_FALLING] = {-1, -1}, [CANNY_ACROSS] = {0, -1}};
    int d = (int)direction[y * w + x];
    float here = size[y * w + x];
    bool edge = d != CANNY_FLAT && here >= low && here >= at(size, h, w, y + way[d][0], x + way[d][1]) &&
                here >= at(size, h, w, y - way[d][0], x - way[d][1]);
    return !edge ? 0 : here >= high ? 1 : 0.5f;
}

static void check_canny(sn_context *cx, sn_program *program, const picture *p)
{
    int64_t h = p->height, w = p->width, n = h * w;
    float low = 40, high = 80, *edge = get((size_t)n * 5 * sizeof(float)), *a = edge + n, *b = a + n, *c = b + n,
          *d = c + n;
    expect_ok(cx, sn_call(program, sn_in(p->plane[0], h, w), sn_in(p->plane[1], h, w), sn_in(p->plane[2], h, w),
                          sn_value(&low), sn_value(&high), sn_into(edge, h, w)));
    for (int64_t i = 0; i < n; i++)
        a[i] = ((float)p->plane[0][i] * 0.299f + (float)p->plane[1][i] * 0.587f) + (float)p->plane[2][i] * 0.114f;
    blur(a, b, h, w, 0, 1, clamped);
    blur(b, a, h, w, 1, 0, clamped);
    canny_gradient_reference(a, h, w, low, c, d);
    for (int64_t i = 0; i < n; i++) {
        float wanted = canny_pixel_reference(c, d, h, w, i / w, i % w, low, high);
        if (edge[i] != wanted)
            fail_msg("%lldx%lld: pixel (%lld, %lld) is %g, not %g", (long long)h, (long long)w, (long long)(i / w),
                     (long long)(i % w), (double)edge[i], (double)wanted);
    }
    free(edge);
}

static void test_canny(void **state)
{
    sn_program *program = sn_compile(*state, CANNY_SIGNATURE, canny);
    with_pictures(*state, program, check_canny);
    expect_stencils(program, 1, 4);
    sn_drop(program);
}

/* --- unsharp masking --- */

static void check_unsharp(sn_context *cx, sn_program *program, const picture *p)
{
    int64_t h = p->height, w = p->width, n = h * w;
    float amount = 1.25f, *a = get((size_t)n * 3 * sizeof(float)), *b = a + n, *c = b + n;
    uint8_t *out = get((size_t)n * 3);
    expect_ok(cx, sn_call(program, sn_in(p->plane[0], h, w), sn_in(p->plane[1], h, w), sn_in(p->plane[2], h, w),
                          sn_value(&amount), sn_into(out, h, w), sn_into(out + n, h, w), sn_into(out + 2 * n, h, w)));
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < n; i++)
            a[i] = (float)p->plane[k][i];
        blur(a, b, h, w, 0, 1, mirrored);
        blur(b, c, h, w, 1, 0, mirrored);
        for (int64_t i = 0; i < n; i++) {
            float x = a[i] + (a[i] - c[i]) * amount;
            int wanted = (int)roundf(x < 0 ? 0 : x > 255 ? 255 : x);
            if (out[k * n + i] != wanted)
                fail_msg("%lldx%lld: channel %d of pixel (%lld, %lld) is %d, not %d", (long long)h, (long long)w, k,
                         (long long)(i / w), (long long)(i % w), out[k * n + i], wanted);
        }
    }
    free(a);
    free(out);
}

static void test_unsharp(void **state)
{
    sn_program *program = sn_compile(*state, UNSHARP_SIGNATURE, unsharp);
    with_pictures(*state, program, check_unsharp);
    expect_stencils(program, 3, 6); /* the channels share no input */
    sn_drop(program);
}

/* --- Mandelbrot --- */

static void test_mandelbrot(void **state)
{
    enum { H = 37, W = 61 };
    char signature[80];
    struct mandelbrot_pixel view = {.height = H, .width = W};
    int32_t *count = get(H * W * sizeof(int32_t)), limit = 300;
    float left = -2.1f, top = -1.2f, step = 0.05f;
    bool inside = false, outside = false;
    snprintf(signature, sizeof(signature), MANDELBROT_SIGNATURE, (long long)H, (long long)W);
    sn_program *program = sn_compile_env(*state, signature, mandelbrot, &view);
    expect_ok(*state, sn_call(program, sn_value(&left), sn_value(&top), sn_value(&step), sn_value(&limit),
                              sn_into(count, H, W)));
    for (int i = 0; i < H * W; i++) {
        float cr = (float)(i % W) * step + left, ci = (float)(i / W) * step + top, zr = 0, zi = 0;
        int32_t n = 0;
        for (; zr * zr + zi * zi < 4 && n < limit; n++) {
            float r = (zr * zr - zi * zi) + cr;
            zi = (zr + zr) * zi + ci;
            zr = r;
        }
        inside |= n == limit;
        outside |= n < limit;
        assert_int_equal(count[i], n);
    }
    assert_true(inside && outside);
    sn_drop(program);
    free(count);
}

/* --- Black-Scholes: with the integral from the C library's erfc, in double; the program's polynomial is good to 7.5e-8
 * --- */

static void test_blackscholes(void **state)
{
    enum { N = 1003 };
    static float price[N], strike[N], years[N], call[N], put[N];
    const double r = (double)BLACKSCHOLES_RATE, v = (double)BLACKSCHOLES_VOLATILITY;
    srand(3);
    for (int i = 0; i < N; i++) {
        price[i] = (float)uniform(5, 30);
        strike[i] = (float)uniform(1, 100);
        years[i] = (float)uniform(0.25, 10);
    }
    sn_program *program = sn_compile(*state, BLACKSCHOLES_SIGNATURE, blackscholes);
    expect_ok(*state,
              sn_call(program, sn_in(price, N), sn_in(strike, N), sn_in(years, N), sn_into(call, N), sn_into(put, N)));
    for (int i = 0; i < N; i++) {
        double s = (double)price[i], x = (double)strike[i], t = (double)years[i];
        double d1 = (log(s / x) + (r + v * v / 2) * t) / (v * sqrt(t)), d2 = d1 - v * sqrt(t);
        double n1 = erfc(-d1 / sqrt(2)) / 2, n2 = erfc(-d2 / sqrt(2)) / 2, discounted = x * exp(-r * t);
        double tolerance = 2e-6 * (s + x);
        assert_true(fabs((double)call[i] - (s * n1 - discounted * n2)) <= tolerance);
        assert_true(fabs((double)put[i] - (discounted * (1 - n2) - s * (1 - n1))) <= tolerance);
    }
    sn_drop(program);
}

/* --- n bodies --- */

enum { BODIES = 77 };
typedef struct cloud {
    double x[3][BODIES], v[3][BODIES], mass[BODIES];
} cloud;

static void call_nbody(sn_context *cx, sn_program *program, int64_t n, const cloud *from, cloud *to, double step)
{
    expect_ok(cx, sn_call(program, sn_in(from->x[0], n), sn_in(from->x[1], n), sn_in(from->x[2], n),
                          sn_in(from->v[0], n), sn_in(from->v[1], n), sn_in(from->v[2], n), sn_in(from->mass, n),
                          sn_value(&step), sn_into(to->x[0], n), sn_into(to->x[1], n), sn_into(to->x[2], n),
                          sn_into(to->v[0], n), sn_into(to->v[1], n), sn_into(to->v[2], n)));
}

static void nbody_reference(int64_t n, const cloud *from, cloud *to, double step)
{
    for (int64_t i = 0; i < n; i++) {
        double a[3] = {0};
        for (int64_t k = 0; k < n; k++) {
            double d[3] = {from->x[0][k] - from->x[0][i], from->x[1][k] - from->x[1][i], from->x[2][k] - from->x[2][i]};
            double square = (d[0] * d[0] + d[1] * d[1]) + d[2] * d[2];
            double strength = square > 0 ? from->mass[k] / (square * sqrt(square)) : 0;
            for (int c = 0; c < 3; c++)
                a[c] += d[c] * strength;
        }
        for (int c = 0; c < 3; c++) {
            to->v[c][i] = from->v[c][i] + a[c] * step;
            to->x[c][i] = from->x[c][i] + to->v[c][i] * step;
        }
    }
}

static void test_nbody(void **state)
{
    static cloud from, loops, replicates, wanted;
    static const int64_t sizes[] = {1, 2, 6, 33, BODIES};
    sn_program *by_loops = sn_compile(*state, NBODY_F64, nbody_loops);
    sn_program *by_replicates = sn_compile(*state, NBODY_F64, nbody_replicates);
    srand(4);
    for (int i = 0; i < BODIES; i++) {
        from.mass[i] = uniform(0, 1);
        for (int c = 0; c < 3; c++) {
            from.x[c][i] = uniform(-1, 1);
            from.v[c][i] = uniform(-1, 1);
        }
    }
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        call_nbody(*state, by_loops, sizes[s], &from, &loops, 0.125);
        call_nbody(*state, by_replicates, sizes[s], &from, &replicates, 0.125);
        nbody_reference(sizes[s], &from, &wanted, 0.125);
        for (int c = 0; c < 3; c++)
            for (int64_t i = 0; i < sizes[s]; i++) {
                assert_true(loops.x[c][i] == wanted.x[c][i] && loops.v[c][i] == wanted.v[c][i]);
                /* a fold has another order of summation; the largest pulls here are some thousands */
                assert_true(fabs(replicates.x[c][i] - wanted.x[c][i]) <= 1e-10);
                assert_true(fabs(replicates.v[c][i] - wanted.v[c][i]) <= 1e-10);
            }
    }
    sn_drop(by_loops);
    sn_drop(by_replicates);
}

/* No array of n x n pairs: what is in memory between the kernels is one dimensional. */
static void test_nbody_is_fused(void **state)
{
    sn_program *program = sn_compile(*state, NBODY_F64, nbody_replicates);
    const char *clusters = sn_explain(program, "clusters");
    assert_non_null(clusters);
    assert_null(strstr(clusters, "replicate"));
    assert_non_null(strstr(clusters, "fold loop over [n, n]"));
    sn_drop(program);
    /* one loop; the four components of a body that its scalar code reads are one edge */
    program = sn_compile(*state, NBODY_F64, nbody_loops);
    expect_clusters(program, 1);
    const char *edge = strstr(sn_explain(program, "edges"), " zip ");
    for (int i = 0; i < 3; i++) { /* from position, from mass, to the map */
        assert_non_null(edge);
        edge = strstr(edge + 1, " zip ");
    }
    assert_null(edge);
    sn_drop(program);
}

/* --- row statistics of the shipped table --- */

static void test_rowstats(void **state)
{
    char signature[96];
    sn_array *table = sn_load_npy(*state, "data/table.npy");
    if (!table)
        fail_msg("%s", sn_message(*state));
    assert_int_equal(sn_array_type(table), SN_F64);
    assert_int_equal(sn_array_rank(table), 2);
    int64_t n = sn_array_extent(table, 0), m = sn_array_extent(table, 1), *where = get((size_t)n * 8);
    double *mean = get((size_t)n * 8), *least = get((size_t)n * 8), *most = get((size_t)n * 8);
    double *const data = get(sn_bytes(table)), *row = data;
    expect_ok(*state, sn_read(table, data, sn_bytes(table)));
    snprintf(signature, sizeof(signature), ROWSTATS_SIGNATURE, "f64", "f64", "f64");
    sn_program *program = sn_compile(*state, signature, rowstats);
    expect_ok(*state, sn_call(program, sn_held(table), sn_into(mean, n), sn_into(least, n), sn_into(most, n),
                              sn_into(where, n)));
    for (int64_t i = 0; i < n; i++, row += m) {
        double sum = 0, size = 0, low = row[0];
        int64_t best = 0;
        for (int64_t k = 0; k < m; k++) {
            sum += row[k];
            size += fabs(row[k]);
            low = row[k] < low ? row[k] : low;
            best = row[k] > row[best] ? k : best;
        }
        assert_true(fabs(mean[i] - sum / (double)m) <= 1e-15 * size);
        assert_true(least[i] == low && most[i] == row[best]);
        assert_int_equal(where[i], best);
    }
    sn_drop(program);
    sn_free(table);
    free(data);
    free(where);
    free(mean);
    free(least);
    free(most);
}

/* --- fluid --- */

static float fluid_at(const float *a, int64_t h, int64_t w, int64_t y, int64_t x)
{
    y = y < 0 ? 0 : y < h ? y : h - 1;
    x = x < 0 ? 0 : x < w ? x : w - 1;
    return a[y * w + x];
}

static void carry_reference(int64_t h, int64_t w, const float *of, const float *u, const float *v, float unit,
                            float *to)
{
    for (int64_t i = 0; i < h * w; i++) {
        float x = fminf(fmaxf((float)(i % w) - unit * u[i], 0), (float)w - 1),
              y = fminf(fmaxf((float)(i / w) - unit * v[i], 0), (float)h - 1);
        int64_t l = (int64_t)x, t = (int64_t)y;
        float dx = x - (float)l, dy = y - (float)t, a = fluid_at(of, h, w, t, l), b = fluid_at(of, h, w, t, l + 1),
              c = fluid_at(of, h, w, t + 1, l), d = fluid_at(of, h, w, t + 1, l + 1);
        float upper = a + dx * (b - a), lower = c + dx * (d - c);
        to[i] = upper + dy * (lower - upper);
    }
}

static void fluid_reference(int64_t h, int64_t w, const float *u, const float *v, const float *smoke, float unit,
                            float *u2, float *v2, float *smoke2)
{
    size_t bytes = (size_t)(h * w) * sizeof(float);
    float *x = get(bytes), *y = get(bytes), *source = get(bytes), *p = get(bytes), *q = get(bytes);
    carry_reference(h, w, u, u, v, unit, x);
    carry_reference(h, w, v, u, v, unit, y);
    for (int64_t i = 0; i < h * w; i++) {
        int64_t r = i / w, c = i % w;
        source[i] = -0.5f * ((fluid_at(x, h, w, r, c + 1) - fluid_at(x, h, w, r, c - 1)) +
                             (fluid_at(y, h, w, r + 1, c) - fluid_at(y, h, w, r - 1, c)));
        p[i] = 0;
    }
    for (int step = 0; step < FLUID_JACOBI; step++) {
        for (int64_t i = 0; i < h * w; i++) {
            int64_t r = i / w, c = i % w;
            float around = (fluid_at(p, h, w, r, c - 1) + fluid_at(p, h, w, r, c + 1)) +
                           (fluid_at(p, h, w, r - 1, c) + fluid_at(p, h, w, r + 1, c));
            q[i] = 0.25f * (source[i] + around);
        }
        float *swap = p;
        p = q;
        q = swap;
    }
    for (int64_t i = 0; i < h * w; i++) {
        int64_t r = i / w, c = i % w;
        u2[i] = x[i] - 0.5f * (fluid_at(p, h, w, r, c + 1) - fluid_at(p, h, w, r, c - 1));
        v2[i] = y[i] - 0.5f * (fluid_at(p, h, w, r + 1, c) - fluid_at(p, h, w, r - 1, c));
    }
    carry_reference(h, w, smoke, u2, v2, unit, smoke2);
    free(x);
    free(y);
    free(source);
    free(p);
    free(q);
}

static void test_fluid(void **state)
{
    sn_program *program = sn_compile(*state, FLUID_SIGNATURE, fluid_step);
    static const int sizes[][2] = {{1, 1}, {1, 5}, {17, 40}, {33, 64}};
    assert_non_null(program);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t h = sizes[s][0], w = sizes[s][1], n = h * w;
        float *a = get((size_t)n * 9 * sizeof *a), unit = 0.75f;
        for (int64_t i = 0; i < 3 * n; i++)
            a[i] = (float)uniform(-3, 3);
        expect_ok(*state, sn_call(program, sn_in(a, h, w), sn_in(a + n, h, w), sn_in(a + 2 * n, h, w), sn_value(&unit),
                                  sn_into(a + 3 * n, h, w), sn_into(a + 4 * n, h, w), sn_into(a + 5 * n, h, w)));
        fluid_reference(h, w, a, a + n, a + 2 * n, unit, a + 6 * n, a + 7 * n, a + 8 * n);
        for (int64_t i = 0; i < 3 * n; i++)
            if (a[3 * n + i] != a[6 * n + i])
                fail_msg("%lld x %lld: number %lld is %g, not %g", (long long)h, (long long)w, (long long)i,
                         (double)a[3 * n + i], (double)a[6 * n + i]);
        free(a);
    }
    sn_drop(program);
}

/* --- graphs --- */

static int32_t root_of(const int32_t *parent, int32_t v)
{
    while (parent[v] != v)
        v = parent[v];
    return v;
}

static void test_components(void **state)
{
    sn_program *program = sn_compile(*state, COMPONENTS_SIGNATURE, components);
    assert_non_null(program);
    for (int32_t n = 1; n <= 400; n += 57) {
        for (int32_t m = 0; m <= 2 * n; m += n / 2 + 1) {
            int32_t *start = get((size_t)(n + 1) * 4), *neighbour = get((size_t)(2 * m + 1) * 4),
                    *parent = get((size_t)n * 4), *label = get((size_t)n * 4), *edge = get((size_t)(2 * m + 1) * 4),
                    rounds = 0, at = 0;
            for (int32_t v = 0; v < n; v++)
                parent[v] = v;
            for (int32_t i = 0; i < m; i++) { /* union of sets, the smaller vertex being the root */
                edge[2 * i] = rand() % n;
                edge[2 * i + 1] = i % 3 ? rand() % n : (edge[2 * i] + 1) % n;
                int32_t a = root_of(parent, edge[2 * i]), b = root_of(parent, edge[2 * i + 1]);
                parent[a < b ? b : a] = a < b ? a : b;
            }
            for (int32_t v = 0; v < n; v++) {
                start[v] = at;
                for (int32_t i = 0; i < 2 * m; i++)
                    if (edge[i] == v)
                        neighbour[at++] = edge[i ^ 1];
            }
            start[n] = at;
            expect_ok(*state, sn_call(program, sn_in(start, n + 1), sn_in(neighbour, 2 * m), sn_into(label, n),
                                      sn_value(&rounds)));
            for (int32_t v = 0; v < n; v++)
                assert_int_equal(label[v], root_of(parent, v));
            assert_true(rounds >= 1 && rounds <= n + 1);
            free(start);
            free(neighbour);
            free(parent);
            free(label);
            free(edge);
        }
    }
    sn_drop(program);
}

/* Dijkstra's, from each vertex. */
static void paths_reference(int n, const float *length, float *path)
{
    bool *done = get((size_t)n);
    for (int from = 0; from < n; from++) {
        float *best = path + from * n;
        for (int v = 0; v < n; v++) {
            best[v] = v == from ? 0 : INFINITY;
            done[v] = false;
        }
        for (int round = 0; round < n; round++) {
            int next = -1;
            for (int v = 0; v < n; v++)
                if (!done[v] && (next < 0 || best[v] < best[next]))
                    next = v;
            done[next] = true;
            for (int v = 0; v < n; v++)
                best[v] = fminf(best[v], best[next] + length[next * n + v]);
        }
    }
    free(done);
}

static void test_paths(void **state)
{
    sn_program *program = sn_compile(*state, PATHS_SIGNATURE, paths);
    static const int sizes[] = {1, 2, 9, 70};
    assert_non_null(program);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s];
        float *a = get((size_t)(3 * n * n) * sizeof *a);
        for (int i = 0; i < n * n; i++) /* whole numbers: sums are exact */
            a[i] = i / n == i % n ? 0 : rand() % 4 ? INFINITY : (float)(1 + rand() % 50);
        expect_ok(*state, sn_call(program, sn_in(a, n, n), sn_into(a + n * n, n, n)));
        paths_reference(n, a, a + 2 * n * n);
        for (int i = 0; i < n * n; i++)
            assert_true(a[n * n + i] == a[2 * n * n + i]);
        free(a);
    }
    sn_drop(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_canny),        cmocka_unit_test(test_unsharp), cmocka_unit_test(test_mandelbrot),
        cmocka_unit_test(test_blackscholes), cmocka_unit_test(test_nbody),   cmocka_unit_test(test_nbody_is_fused),
        cmocka_unit_test(test_rowstats),     cmocka_unit_test(test_fluid),   cmocka_unit_test(test_components),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests_name("programs", tests, open_context, close_context);
}
