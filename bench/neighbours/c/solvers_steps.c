/* The C sides of group "solvers": equations in time, iterations, tables, grids, particles, graphs. */
#include "c.h"

#include <omp.h>

#define ROWS_SIMD PRAGMA(omp parallel for simd schedule(static))

void nb_make_solvers_table(const struct nb_call *call);
void nb_make_solvers_cells(const struct nb_call *call);

/* --- ordinary equations, iterations --- */

/* Blocks of numbers that go through their steps together. */
#define BLOCKS(n, wide)                                                                                                \
    int64_t blocks = ((n) + (wide)-1) / (wide);                                                                        \
    PARALLEL_FOR                                                                                                       \
    FOR (block, blocks)

C(sv_lorenz)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    IN(f64, z, 2);
    OUT(f64, p, 0);
    OUT(f64, q, 1);
    OUT(f64, r, 2);
    int64_t n = SIZE;
    const f64 h = 1.0 / 128;
    enum { WIDE = 32 };
    BLOCKS(n, WIDE)
    {
        int64_t first = MIN(block * WIDE, n - WIDE);
        f64 a[WIDE], b[WIDE], c[WIDE];
        memcpy(a, x + first, sizeof(a));
        memcpy(b, y + first, sizeof(b));
        memcpy(c, z + first, sizeof(c));
#define LORENZ(k, a, b, c) f64 k##0 = 10 * ((b) - (a)), k##1 = (a) * (28 - (c)) - (b), k##2 = (a) * (b)-2.5 * (c);
        FOR (step, 10)
            SIMD
        FOR (l, WIDE) {
            f64 u = a[l], v = b[l], w = c[l];
            LORENZ(d, u, v, w)
            LORENZ(e, u + h / 2 * d0, v + h / 2 * d1, w + h / 2 * d2)
            LORENZ(f, u + h / 2 * e0, v + h / 2 * e1, w + h / 2 * e2)
            LORENZ(g, u + h * f0, v + h * f1, w + h * f2)
            a[l] = u + h / 6 * (d0 + g0 + 2 * (e0 + f0));
            b[l] = v + h / 6 * (d1 + g1 + 2 * (e1 + f1));
            c[l] = w + h / 6 * (d2 + g2 + 2 * (e2 + f2));
        }
        memcpy(p + first, a, sizeof(a));
        memcpy(q + first, b, sizeof(b));
        memcpy(r + first, c, sizeof(c));
    }
}

C(sv_lotka)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, p, 0);
    OUT(f32, q, 1);
    int64_t n = SIZE;
    const f32 h = 1.0f / 64;
    enum { WIDE = 64 };
    BLOCKS(n, WIDE)
    {
        int64_t first = MIN(block * WIDE, n - WIDE);
        f32 a[WIDE], b[WIDE];
        memcpy(a, x + first, sizeof(a));
        memcpy(b, y + first, sizeof(b));
#define LOTKA(k, a, b) f32 k##2 = (a) * (b), k##0 = (a)-k##2, k##1 = k##2 - (b);
        FOR (step, 20)
            SIMD
        FOR (l, WIDE) {
            f32 u = a[l], v = b[l];
            LOTKA(d, u, v)
            LOTKA(e, (u + h / 2 * d0), (v + h / 2 * d1))
            LOTKA(f, (u + h / 2 * e0), (v + h / 2 * e1))
            LOTKA(g, (u + h * f0), (v + h * f1))
            a[l] = u + h / 6 * (d0 + g0 + 2 * (e0 + f0));
            b[l] = v + h / 6 * (d1 + g1 + 2 * (e1 + f1));
        }
        memcpy(p + first, a, sizeof(a));
        memcpy(q + first, b, sizeof(b));
    }
}

C(sv_kepler)
{
    IN(f64, mean, 0);
    IN(f64, eccentricity, 1);
    OUT(f64, z, 0);
    int64_t n = SIZE;
    enum { WIDE = 16 };
    BLOCKS(n, WIDE)
    {
        int64_t first = MIN(block * WIDE, n - WIDE);
        f64 e[WIDE], s[WIDE], c[WIDE], most = 1;
        memcpy(e, mean + first, sizeof(e));
        for (int round = 0; round < 20 && most > 1e-12; round++) {
            most = 0;
            SIMD
            FOR (l, WIDE)
                s[l] = sin(e[l]);
            SIMD
            FOR (l, WIDE)
                c[l] = cos(e[l]);
            PRAGMA(omp simd reduction(max : most))
            FOR (l, WIDE) {
                f64 k = 0.75 * eccentricity[first + l];
                f64 by = (e[l] - k * s[l] - mean[first + l]) / (1 - k * c[l]);
                e[l] -= by;
                by = fabs(by);
                most = by > most ? by : most;
            }
        }
        memcpy(z + first, e, sizeof(e));
    }
}

C(sv_bisection)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        f32 low = -1, high = 1;
        UNROLL(24)
        for (int step = 0; step < 24; step++) {
            f32 middle = 0.5f * (low + high);
            bool below = middle * middle * middle + middle < x[i];
            low = below ? middle : low;
            high = below ? high : middle;
        }
        z[i] = low;
    }
}

/* --- tables --- */

C(sv_catmull_rom)
{
    IN(f32, knot, 0);
    IN(f32, u, 1);
    OUT(f32, z, 0);
    int32_t last = (int32_t)E(0) - 1;
    int64_t n = E(1);
    ROWS_SIMD
    FOR (i, n) {
        f32 place = u[i] * (f32)last;
        int32_t at = (int32_t)place;
        f32 t = place - (f32)at;
        f32 p = knot[MAX(at - 1, 0)], q = knot[at], r = knot[MIN(at + 1, last)], s = knot[MIN(at + 2, last)];
        f32 a = 3 * (q - r) - p + s, b = 2 * p - 5 * q + 4 * r - s;
        z[i] = 0.5f * (((a * t + b) * t + r - p) * t + 2 * q);
    }
}

void nb_make_solvers_table(const struct nb_call *call)
{
    f64 *begin = call->in[0];
    FOR (i, E(0))
        begin[i] = ((f64)i + (i % 3 == 1 ? 0.25 : 0)) / (f64)E(0);
}

/* A search of as many rounds for each, without branches. */
C(sv_cubic_table)
{
    IN(f64, begin, 0);
    IN(f64, c, 1);
    IN(f64, x, 2);
    OUT(f64, z, 0);
    int64_t m = E(0), n = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t at = 0;
        f64 v = x[i];
        for (int64_t length = m; length > 1; length -= length / 2)
            at += length / 2 * (begin[at + length / 2] <= v);
        const f64 *p = c + 4 * at;
        f64 t = v - begin[at];
        z[i] = ((p[3] * t + p[2]) * t + p[1]) * t + p[0];
    }
}

/* --- grids --- */

static inline f64 minmod(f64 a, f64 b)
{
    f64 least = fabs(a) < fabs(b) ? a : b;
    return a * b > 0 ? least : 0;
}

static inline f32 minmod_f32(f32 a, f32 b)
{
    f32 least = fabsf(a) < fabsf(b) ? a : b;
    return a * b > 0 ? least : 0;
}

C(sv_flux_minmod)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        f64 *flux = malloc((size_t)(m + 1) * sizeof(*flux));
        SPLIT_FOR
        FOR (i, n) {
            const f64 *row = x + i * m;
            flux[0] = flux[1] = row[0];
            flux[m] = row[m - 1];
            SIMD
            for (int64_t j = 1; j < m - 1; j++)
                flux[j + 1] = row[j] + 0.375 * minmod(row[j] - row[j - 1], row[j + 1] - row[j]);
            SIMD
            FOR (j, m)
                z[i * m + j] = row[j] - 0.25 * (flux[j + 1] - flux[j]);
        }
        free(flux);
    }
}

C(sv_advect_minmod)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
#define ADVECTED(a, b, c, d)                                                                                           \
    (c) - 0.25f * ((c) + 0.375f * minmod_f32((c) - (b), (d) - (c)) - (b)-0.375f * minmod_f32((b) - (a), (c) - (b)))
    ROWS_SIMD
    for (int64_t i = 2; i < n - 1; i++)
        z[i] = ADVECTED(x[i - 2], x[i - 1], x[i], x[i + 1]);
    z[0] = ADVECTED(x[n - 2], x[n - 1], x[0], x[1]);
    z[1] = ADVECTED(x[n - 1], x[0], x[1], x[2]);
    z[n - 1] = ADVECTED(x[n - 3], x[n - 2], x[n - 1], x[0]);
}

C(sv_shallow_line)
{
    IN(f64, h, 0);
    IN(f64, u, 1);
    OUT(f64, p, 0);
    OUT(f64, q, 1);
    int64_t n = SIZE;
#define SHALLOW(i, l, r)                                                                                               \
    {                                                                                                                  \
        f64 left = u[l] * u[l] / h[l] + 4.905 * h[l] * h[l], right = u[r] * u[r] / h[r] + 4.905 * h[r] * h[r];         \
        p[i] = 0.5 * (h[l] + h[r]) - 0.05 * (u[r] - u[l]);                                                             \
        q[i] = 0.5 * (u[l] + u[r]) - 0.05 * (right - left);                                                            \
    }
    ROWS_SIMD
    for (int64_t i = 1; i < n - 1; i++)
        SHALLOW(i, i - 1, i + 1)
    SHALLOW(0, n - 1, 1)
    SHALLOW(n - 1, n - 2, 0)
}

C(sv_upwind_2d)
{
    IN(f32, x, 0);
    IN(f32, u, 1);
    IN(f32, v, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *here = x + i * m, *up = x + MAX(i - 1, 0) * m, *down = x + MIN(i + 1, n - 1) * m;
        const f32 *a = u + i * m, *b = v + i * m;
        f32 *to = z + i * m;
#define UPWIND(j, left, right)                                                                                         \
    {                                                                                                                  \
        f32 c = here[j], p = MAX(a[j], 0), q = MIN(a[j], 0), r = MAX(b[j], 0), s = MIN(b[j], 0);                       \
        to[j] = c - 0.1f * (p * (c - (left)) + q * ((right)-c) + r * (c - up[j]) + s * (down[j] - c));                 \
    }
        UPWIND(0, here[0], here[1])
        SIMD
        for (int64_t j = 1; j < m - 1; j++)
            UPWIND(j, here[j - 1], here[j + 1])
        UPWIND(m - 1, here[m - 2], here[m - 1])
    }
}

C(sv_wave_3d)
{
    IN(f32, x, 0);
    IN(f32, before, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    f32 *none = calloc((size_t)k, sizeof(*none));
    PARALLEL_FOR_2
    FOR (i, n)
        FOR (j, m) {
            const f32 *here = x + (i * m + j) * k, *a = i ? here - m * k : none, *b = i < n - 1 ? here + m * k : none;
            const f32 *c = j ? here - k : none, *d = j < m - 1 ? here + k : none, *old = before + (i * m + j) * k;
            f32 *to = z + (i * m + j) * k;
#define WAVE(l, left, right)                                                                                           \
    to[l] = 2 * here[l] - old[l] + 0.125f * (a[l] + b[l] + c[l] + d[l] + (left) + (right)-6 * here[l]);
            WAVE(0, 0, here[1])
            SIMD
            for (int64_t l = 1; l < k - 1; l++)
                WAVE(l, here[l - 1], here[l + 1]) WAVE(k - 1, here[k - 2], 0)
        }
    free(none);
}

/* One colour of a row; the others are written as they are. */
static inline void sweep_row(const f64 *up, const f64 *here, const f64 *down, const f64 *rhs, f64 *to, int64_t m,
                             int64_t odd, f64 omega)
{
    f64 before = here[0];
    to[0] = before;
    SIMD
    for (int64_t j = 1; j < m - 1; j++) {
        f64 next = 0.25 * (up[j] + down[j] + here[j - 1] + here[j + 1] + rhs[j]);
        to[j] = here[j] + ((j & 1) == odd ? omega * (next - here[j]) : 0);
    }
    to[m - 1] = here[m - 1];
}

static void sor_half(const f64 *x, const f64 *rhs, f64 *z, int64_t n, int64_t m, int64_t colour, f64 omega)
{
    SPLIT_FOR
    FOR (i, n)
        if (i == 0 || i == n - 1)
            memcpy(z + i * m, x + i * m, (size_t)m * sizeof(*z));
        else
            sweep_row(x + (i - 1) * m, x + i * m, x + (i + 1) * m, rhs + i * m, z + i * m, m, (colour + i) & 1, omega);
}

/* Each thread has a band of rows, goes over it in stripes that fit the cache: the second colour follows a row behind.
 */
C(sv_sor_sweep)
{
    IN(f64, x, 0);
    IN(f64, rhs, 1);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    f64 omega = VALUE(f64, 2);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, line = m + 8;
        f64 *ring = malloc((size_t)(3 * line) * sizeof(*ring));
#define RED(i) (ring + ((i) + 3) % 3 * line)
        for (int64_t i = begin - 1; i <= end; i++) {
            if (i >= 0 && i < n) {
                if (i == 0 || i == n - 1)
                    memcpy(RED(i), x + i * m, (size_t)m * sizeof(*ring));
                else
                    sweep_row(x + (i - 1) * m, x + i * m, x + (i + 1) * m, rhs + i * m, RED(i), m, i & 1, omega);
            }
            int64_t k = i - 1;
            if (k < begin || k >= end)
                continue;
            if (k == 0 || k == n - 1)
                memcpy(z + k * m, x + k * m, (size_t)m * sizeof(*z));
            else
                sweep_row(RED(k - 1), RED(k), RED(k + 1), rhs + k * m, z + k * m, m, (k + 1) & 1, omega);
        }
        free(ring);
    }
}

C(sv_sor_10)
{
    IN(f64, x, 0);
    IN(f64, rhs, 1);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    f64 omega = VALUE(f64, 2), *half = malloc((size_t)(n * m) * sizeof(*half));
    PARALLEL
    FOR (round, 10) {
        sor_half(round ? z : x, rhs, half, n, m, 0, omega);
        sor_half(half, rhs, z, n, m, 1, omega);
    }
    free(half);
}

C(sv_residual_restricted)
{
    IN(f64, x, 0);
    IN(f64, rhs, 1);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    f64 *none = calloc((size_t)m, sizeof(*none));
    PARALLEL
    {
        f64 *sum = malloc((size_t)m * sizeof(*sum));
        SPLIT_FOR
        FOR (i, k) {
            const f64 *a = x + 2 * i * m, *b = a + m, *up = i ? a - m : none, *down = 2 * i + 2 < n ? b + m : none;
            const f64 *p = rhs + 2 * i * m, *q = p + m;
#define RESIDUAL(j, left, right) p[j] + q[j] - (3 * (a[j] + b[j]) - up[j] - down[j] - (left) - (right));
            sum[0] = RESIDUAL(0, 0, a[1] + b[1]) SIMD
            for (int64_t j = 1; j < m - 1; j++)
                sum[j] = RESIDUAL(j, a[j - 1] + b[j - 1], a[j + 1] + b[j + 1]) sum[m - 1] =
                    RESIDUAL(m - 1, a[m - 2] + b[m - 2], 0) SIMD
            FOR (j, l)
                z[i * l + j] = 0.25 * (sum[2 * j] + sum[2 * j + 1]);
        }
        free(sum);
    }
    free(none);
}

/* --- particles --- */

C(sv_deposit)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    memset(z, 0, 64 * 64 * sizeof(*z));
    PARALLEL
    {
        f32 own[64 * 64] = {0};
        SPLIT_FOR
        FOR (i, n) {
            f32 u = x[i] * 63, v = y[i] * 63;
            int32_t a = (int32_t)u, b = (int32_t)v;
            f32 s = u - (f32)a, t = v - (f32)b, *p = own + 64 * a + b;
            p[0] += (1 - s) * (1 - t);
            p[1] += (1 - s) * t;
            p[64] += s * (1 - t);
            p[65] += s * t;
        }
        CRITICAL
        FOR (k, 64 * 64)
            z[k] += own[k];
    }
}

C(sv_boris)
{
    IN(f32, vx, 0);
    IN(f32, vy, 1);
    IN(f32, vz, 2);
    IN(f32, ex, 3);
    IN(f32, ey, 4);
    IN(f32, ez, 5);
    IN(f32, bx, 6);
    IN(f32, by, 7);
    IN(f32, bz, 8);
    OUT(f32, px, 0);
    OUT(f32, py, 1);
    OUT(f32, pz, 2);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        f32 a = 0.05f * ex[i], b = 0.05f * ey[i], c = 0.05f * ez[i];
        f32 u = vx[i] + a, v = vy[i] + b, w = vz[i] + c, r = 0.05f * bx[i], s = 0.05f * by[i], t = 0.05f * bz[i];
        f32 f = 2 / (1 + r * r + s * s + t * t), p = u + v * t - w * s, q = v + w * r - u * t, o = w + u * s - v * r;
        px[i] = u + f * (q * t - o * s) + a;
        py[i] = v + f * (o * r - p * t) + b;
        pz[i] = w + f * (p * s - q * r) + c;
    }
}

/* Particles in the order of their cells, 32 x 32 of them. */
void nb_make_solvers_cells(const struct nb_call *call)
{
    i64 *begin = call->in[0], cells = E(0) - 1, n = E(1);
    f32 *x = call->in[1], *y = call->in[2];
    FOR (c, cells)
        begin[c] = c ? c * n / cells - (i64)((u64)c * 2654435761u >> 8) % 7 : 0;
    begin[cells] = n;
    FOR (c, cells)
        for (int64_t k = begin[c]; k < begin[c + 1]; k++) {
            x[k] = ((f32)(c / 32) + 0.984375f * x[k]) / 32;
            y[k] = ((f32)(c % 32) + 0.984375f * y[k]) / 32;
        }
}

C(sv_lennard_jones)
{
    IN(i64, begin, 0);
    IN(f32, x, 1);
    IN(f32, y, 2);
    OUT(f32, fx, 0);
    OUT(f32, fy, 1);
    PRAGMA(omp parallel for schedule(dynamic, 32))
    FOR (c, 32 * 32)
        for (int64_t i = begin[c]; i < begin[c + 1]; i++) {
            f32 a = 0, b = 0, px = x[i], py = y[i];
            FOR (k, 9) {
                int64_t other = ((c / 32 + k / 3 - 1) & 31) * 32 + ((c % 32 + k % 3 - 1) & 31);
                int64_t from = begin[other], to = begin[other + 1];
                PRAGMA(omp simd reduction(+ : a, b))
                for (int64_t j = from; j < to; j++) {
                    f32 dx = px - x[j], dy = py - y[j], square = 1024 * (dx * dx + dy * dy);
                    f32 r = 1 / (square > 0.05f ? square : 0.05f), r3 = r * r * r, f = r * r3 * (r3 - 0.5f);
                    f = square < 1 ? f : 0; /* of itself: dx and dy are 0 */
                    a += f * dx;
                    b += f * dy;
                }
            }
            fx[i] = a;
            fy[i] = b;
        }
}

/* --- filters, dynamic programs, graphs --- */

#define KALMAN(z)                                                                                                      \
    {                                                                                                                  \
        f64 p = v + 0.01, gain = p / (p + 0.5);                                                                        \
        at += gain * ((z)-at);                                                                                         \
        v = (1 - gain) * p;                                                                                            \
    }

/* What gains are does not depend on the numbers. */
static f64 *gains(int64_t m)
{
    f64 *gain = malloc((size_t)m * sizeof(*gain)), v = 1;
    FOR (k, m) {
        f64 p = v + 0.01;
        gain[k] = p / (p + 0.5);
        v = (1 - gain[k]) * p;
    }
    return gain;
}

C(sv_kalman_rows)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    f64 *gain = gains(m);
    enum { WIDE = 8 };
    BLOCKS(n, WIDE)
    {
        int64_t first = MIN(block * WIDE, n - WIDE);
        f64 at[WIDE] = {0};
        FOR (k, m)
            UNROLL(WIDE)
        FOR (l, WIDE)
            at[l] += gain[k] * (x[(first + l) * m + k] - at[l]);
        memcpy(z + first, at, sizeof(at));
    }
    free(gain);
}

C(sv_kalman_columns)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t m = E(0), n = E(1);
    f64 *gain = gains(m);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        for (int64_t from = begin; from < end; from += 512) {
            int64_t to = MIN(from + 512, end);
            f64 at[512] = {0};
            FOR (k, m) {
                f64 g = gain[k];
                SIMD
                FOR (j, to - from)
                    at[j] += g * (x[k * n + from + j] - at[j]);
            }
            memcpy(z + from, at, (size_t)(to - from) * sizeof(*z));
        }
    }
    free(gain);
}

C(sv_viterbi_step)
{
    IN(f32, score, 0);
    IN(f32, move, 1);
    IN(f32, emit, 2);
    OUT(f32, z, 0);
    OUT(i64, way, 1);
    int64_t m = E(0), blocks = (m + 63) / 64;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t first = MIN(block * 64, m - 64);
        f32 best[64];
        i32 from[64] = {0};
        FOR (l, 64)
            best[l] = score[0] + move[first + l];
        for (int64_t k = 1; k < m; k++) {
            f32 s = score[k];
            SIMD
            FOR (l, 64) {
                f32 v = s + move[k * m + first + l];
                from[l] = v > best[l] ? (i32)k : from[l];
                best[l] = v > best[l] ? v : best[l];
            }
        }
        FOR (l, 64) {
            z[first + l] = best[l] + emit[first + l];
            way[first + l] = from[l];
        }
    }
}

C(sv_floyd_step)
{
    IN(i32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), k = VALUE(i32, 1);
    PARALLEL_FOR
    FOR (i, n) {
        i32 by = x[i * n + k];
        SIMD
        FOR (j, n) {
            i32 way = by + x[k * n + j];
            z[i * n + j] = way < x[i * n + j] ? way : x[i * n + j];
        }
    }
}

C(sv_label_step)
{
    IN(i32, label, 0);
    IN(i32, from, 1);
    IN(i32, to, 2);
    OUT(i32, z, 0);
    int64_t n = E(0), edges = E(1);
    PARALLEL
    {
        i32 *own = omp_get_thread_num() ? malloc((size_t)n * sizeof(*own)) : z;
        memcpy(own, label, (size_t)n * sizeof(*own));
        SPLIT_FOR
        FOR (e, edges) {
            i32 l = label[from[e]], *p = own + to[e];
            *p = l < *p ? l : *p;
        }
        if (own != z) {
            CRITICAL
            FOR (i, n)
                z[i] = MIN(z[i], own[i]);
            free(own);
        }
    }
}

/* What is written twice gets the same number, so that threads may meet. */
C(sv_frontier_step)
{
    IN(i32, level, 0);
    IN(i32, next, 1);
    OUT(i32, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = level[i];
    PARALLEL_FOR
    FOR (i, n)
        if (level[i] < -90)
            FOR (j, k) {
                int64_t to = next[i * k + j];
                if (level[to] > -90)
                    z[to] = -90;
            }
}

C(sv_triangles)
{
    IN(u64, bits, 0);
    int64_t n = E(0), w = E(1), total = 0;
    PRAGMA(omp parallel for schedule(static) reduction(+ : total))
    FOR (i, n) {
        const u64 *row = bits + i * w;
        FOR (k, w)
            for (u64 left = row[k]; left; left &= left - 1) {
                int64_t j = 64 * k + __builtin_ctzll(left);
                if (j >= n)
                    break;
                const u64 *other = bits + j * w;
                int64_t sum = 0;
                PRAGMA(omp simd reduction(+ : sum))
                FOR (l, w)
                    sum += __builtin_popcountll(row[l] & other[l]);
                total += sum;
            }
    }
    RESULT(i64, 0) = total;
}
