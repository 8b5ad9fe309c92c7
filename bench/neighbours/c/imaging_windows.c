/* Neighbourhoods, sums and histograms of images. */
#include "imaging.h"

#include <omp.h>

/* --- binomial weights --- */

/* Sums of five rows, and two numbers more at each side. */
static void sums_down(const u8 *x, int64_t n, int64_t m, int64_t i, u16 *restrict sum)
{
    const u8 *a = x + clamp(i - 2, n) * m, *b = x + clamp(i - 1, n) * m, *c = x + i * m;
    const u8 *d = x + clamp(i + 1, n) * m, *e = x + clamp(i + 2, n) * m;
    SIMD
    FOR (j, m)
        sum[j] = (u16)(a[j] + e[j] + 4 * (b[j] + d[j]) + 6 * c[j]);
    sum[-2] = sum[-1] = sum[0];
    sum[m] = sum[m + 1] = sum[m - 1];
}

#define BINOMIAL(s, j) ((s)[(j)-2] + (s)[(j) + 2] + 4u * ((s)[(j)-1] + (s)[(j) + 1]) + 6u * (s)[j] + 128u)

#define GAUSSIAN(name, ROWS, COLUMNS, row, column, value)                                                              \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(u8, x, 0);                                                                                                  \
        OUT(u8, z, 0);                                                                                                 \
        int64_t n = E(0), m = E(1), rows = ROWS, columns = COLUMNS;                                                    \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            u16 *memory = scratch(0, (m + 4) * (int64_t)sizeof(u16)), *restrict s = memory + 2;                        \
            SPLIT_FOR                                                                                                  \
            FOR (i, rows) {                                                                                            \
                sums_down(x, n, m, row, s);                                                                            \
                SIMD                                                                                                   \
                FOR (j, columns) {                                                                                     \
                    u8 blurred = (u8)(BINOMIAL(s, column) >> 8);                                                       \
                    z[i * columns + j] = value;                                                                        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
#define SHARPER(v, d) (d > 4 || d < -4 ? to_byte(v + (d * 3 >> 2)) : v)
GAUSSIAN(im_gaussian, n, m, i, j, blurred)
GAUSSIAN(im_unsharp, n, m, i, j, (u8)(SHARPER(x[i * m + j], (x[i * m + j] - blurred))))
GAUSSIAN(im_pyramid_down, (n + 1) / 2, (m + 1) / 2, 2 * i, 2 * j, blurred)

C(im_pyramid_up)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        u16 *memory = scratch(0, (m + 2) * (int64_t)sizeof(u16)), *restrict s = memory + 1;
        SPLIT_FOR
        FOR (i, 2 * n) {
            const u8 *a = x + clamp(i / 2 - 1, n) * m, *b = x + i / 2 * m, *c = x + clamp(i / 2 + 1, n) * m;
            if (i % 2)
                FOR (j, m)
                    s[j] = (u16)(4 * (b[j] + c[j]));
            else
                FOR (j, m)
                    s[j] = (u16)(a[j] + 6 * b[j] + c[j]);
            s[-1] = s[0];
            s[m] = s[m - 1];
            u8 *to = z + i * 2 * m;
            SIMD
            FOR (j, m) {
                to[2 * j] = (u8)((s[j - 1] + 6 * s[j] + s[j + 1] + 32) >> 6);
                to[2 * j + 1] = (u8)((4 * (s[j] + s[j + 1]) + 32) >> 6);
            }
        }
    }
}

/* --- windows of 5 x 5 --- */

#define FIVE_ROWS                                                                                                      \
    const u8 *row[] = {x + clamp(i - 2, n) * m, x + clamp(i - 1, n) * m, x + i * m, x + clamp(i + 1, n) * m,           \
                       x + clamp(i + 2, n) * m};
#define FIVE_OF(y) row[y][l2], row[y][l1], row[y][j], row[y][r1], row[y][r2]

C(im_bilateral)
{
    IN(u8, x, 0);
    IN(f32, table, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    static const f32 near[] = {0.4f, 0.8f, 1, 0.8f, 0.4f};
    PARALLEL_FOR
    FOR (i, n) {
        FIVE_ROWS
        ROW_OF_5(m, clamp, {
            f32 sum = 0, weights = 0;
            i32 here = row[2][j];
            UNROLL(5)
            for (int y = 0; y < 5; y++) {
                i32 v[] = {FIVE_OF(y)};
                UNROLL(5)
                for (int k = 0; k < 5; k++) {
                    f32 w = table[abs(v[k] - here)] * (near[y] * near[k]);
                    sum += w * (f32)v[k];
                    weights += w;
                }
            }
            z[i * m + j] = (u8)(i32)(sum / weights + 0.5f);
        })
    }
}

static inline u8 least(u8 a, u8 b)
{
    return MIN(a, b);
}
static inline u8 most(u8 a, u8 b)
{
    return MAX(a, b);
}
#define OF_5(f, y) f(f(f(row[y][l2], row[y][l1]), f(row[y][r1], row[y][r2])), row[y][j])
#define OF_3(f, y) f(f(row[y][l1], row[y][r1]), row[y][j])
#define OF_DISC(f) f(f(f(OF_5(f, 1), OF_5(f, 3)), OF_5(f, 2)), f(OF_3(f, 0), OF_3(f, 4)))

C(im_gradient_disc)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        FIVE_ROWS
        ROW_OF_5(m, clamp, { z[i * m + j] = (u8)(OF_DISC(most) - OF_DISC(least)); })
    }
}

C(im_census)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        u8 *restrict part = scratch(0, m * 3);
        SPLIT_FOR
        FOR (i, n) {
            FIVE_ROWS
            const u8 *a = row[0], *b = row[1], *c = row[2], *d = row[3], *e = row[4];
#define BITS(to, p0, p1, p2, p3, p4, p5, p6, p7)                                                                       \
    part[(to)*m + j] = (u8)((p0 < v) << 7 | (p1 < v) << 6 | (p2 < v) << 5 | (p3 < v) << 4 | (p4 < v) << 3 |            \
                            (p5 < v) << 2 | (p6 < v) << 1 | (p7 < v));
            ROW_OF_5(m, clamp, {
                u8 v = c[j];
                BITS(0, a[l2], a[l1], a[j], a[r1], a[r2], b[l2], b[l1], b[j])
                BITS(1, b[r1], b[r2], c[l2], c[l1], c[r1], c[r2], d[l2], d[l1])
                BITS(2, d[j], d[r1], d[r2], e[l2], e[l1], e[j], e[r1], e[r2])
            })
            SIMD
            FOR (j, m)
                z[i * m + j] = (u32)part[j] << 16 | (u32)part[m + j] << 8 | part[2 * m + j];
        }
    }
}

/* --- windows of 3 x 3 --- */

#define THREE_ROWS(x, k) *a = x + clamp(k - 1, n) * m, *b = x + (k)*m, *c = x + clamp((k) + 1, n) * m

/* Some rows of an image go through memory of their own, with `halo` rows more at each side; rows beside the image are
 * the nearest ones. */
enum { ROWS = 32 };
#define FIRST_IN_BLOCKS(halo, bytes)                                                                                   \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        char *memory = scratch(0, ((ROWS + 2 * (halo)) * m * (bytes)));                                                \
        PRAGMA(omp for schedule(dynamic, 1))                                                                           \
        for (int64_t begin = 0; begin < n; begin += ROWS) {                                                            \
            int64_t end = MIN(begin + ROWS, n), low = MAX(begin - (halo), 0), high = MIN(end + (halo), n);             \
            for (int64_t i = low; i < high; i++) {                                                                     \
                int64_t to = (i - low) * m;
#define THEN_IN_BLOCKS                                                                                                 \
    }                                                                                                                  \
    for (int64_t i = begin; i < end; i++) {                                                                            \
        int64_t at = -low;
#define END_OF_BLOCKS                                                                                                  \
    }                                                                                                                  \
    }                                                                                                                  \
    }

#define CROSS_OF(f) f(f(f(a[j], c[j]), f(b[left], b[right])), b[j])

C(im_open_cross)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    FIRST_IN_BLOCKS(1, 1)
    const u8 THREE_ROWS(x, i);
    u8 *restrict eroded = (u8 *)memory + to;
    ROW_OF_3(m, clamp, eroded[j] = CROSS_OF(least);)
    THEN_IN_BLOCKS
    const u8 *eroded = (const u8 *)memory + at * m, THREE_ROWS(eroded, i);
    ROW_OF_3(m, clamp, z[i * m + j] = CROSS_OF(most);)
    END_OF_BLOCKS
}

C(im_thin)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    u8 *none = cleared(0, m);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *a = i ? x + (i - 1) * m : none, *b = x + i * m, *c = i < n - 1 ? x + (i + 1) * m : none;
        /* Columns beside the image are multiplied away. */
#define THINNED(l, r, inside_l, inside_r)                                                                              \
    {                                                                                                                  \
        u8 p0 = a[j], p1 = a[r] & inside_r, p2 = b[r] & inside_r, p3 = c[r] & inside_r, p4 = c[j],                     \
           p5 = c[l] & inside_l, p6 = b[l] & inside_l, p7 = a[l] & inside_l;                                           \
        u8 count = p0 + p1 + p2 + p3 + p4 + p5 + p6 + p7;                                                              \
        u8 rises =                                                                                                     \
            (p1 & ~p0) + (p2 & ~p1) + (p3 & ~p2) + (p4 & ~p3) + (p5 & ~p4) + (p6 & ~p5) + (p7 & ~p6) + (p0 & ~p7);     \
        u8 some = count >= 2 && count <= 6 && rises == 1 ? 1 : 0;                                                      \
        z[i * m + j] = b[j] & (1 ^ (some & (1 ^ (p0 & p2 & p4)) & (1 ^ (p2 & p4 & p6))));                              \
    }
        for (int64_t j = 0; j < m; j += m - 1)
            THINNED(MAX(j - 1, 0), MIN(j + 1, m - 1), (j > 0), (j < m - 1))
        SIMD
        for (int64_t j = 1; j < m - 1; j++)
            THINNED(j - 1, j + 1, 1, 1)
    }
}

#define SLOPES                                                                                                         \
    i16 dx = (i16)(a[right] - a[left] + 2 * (b[right] - b[left]) + c[right] - c[left]);                                \
    i16 dy = (i16)(c[left] - a[left] + 2 * (c[j] - a[j]) + c[right] - a[right]);
#define EDGE(strength_at, way_at)                                                                                      \
    {                                                                                                                  \
        SLOPES                                                                                                         \
        i16 p = (i16)(dx < 0 ? -dx : dx), q = (i16)(dy < 0 ? -dy : dy);                                                \
        u8 slanted = (i16)(dx ^ dy) > -1 ? 1 : 3, or_down = (i16)(q * 2) > (i16)(p * 5) ? 2 : slanted;                 \
        strength_at = (i16)(p + q);                                                                                    \
        way_at = (i16)(q * 5) < (i16)(p * 2) ? 0 : or_down;                                                            \
    }

C(im_sobel)
{
    IN(u8, x, 0);
    OUT(i16, z, 0);
    OUT(u8, w, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 THREE_ROWS(x, i);
        ROW_OF_3(m, clamp, EDGE(z[i * m + j], w[i * m + j]))
    }
}

C(im_canny)
{
    IN(u8, x, 0);
    OUT(i16, z, 0);
    int64_t n = E(0), m = E(1), area = (ROWS + 2) * m;
    FIRST_IN_BLOCKS(1, 3)
    const u8 THREE_ROWS(x, i);
    i16 *restrict strength = (i16 *)memory + to;
    u8 *restrict way = (u8 *)((i16 *)memory + area) + to;
    ROW_OF_3(m, clamp, EDGE(strength[j], way[j]))
    THEN_IN_BLOCKS
    const i16 *strength = (const i16 *)memory + at * m, THREE_ROWS(strength, i);
    const u8 *way = (const u8 *)((const i16 *)memory + area) + (i + at) * m;
    ROW_OF_3(m, clamp, {
        i16 a0 = MAX(b[left], b[right]), a1 = MAX(a[left], c[right]), a2 = MAX(a[j], c[j]), a3 = MAX(a[right], c[left]);
        i16 w = way[j], beside = w == 0 ? a0 : w == 1 ? a1 : w == 2 ? a2 : a3;
        z[i * m + j] = b[j] >= beside ? b[j] : 0;
    })
    END_OF_BLOCKS
}

#define PATTERN                                                                                                        \
    (u8)((a[j] >= b[j]) | (a[right] >= b[j]) << 1 | (b[right] >= b[j]) << 2 | (c[right] >= b[j]) << 3 |                \
         (c[j] >= b[j]) << 4 | (c[left] >= b[j]) << 5 | (b[left] >= b[j]) << 6 | (a[left] >= b[j]) << 7)

C(im_patterns)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 THREE_ROWS(x, i);
        ROW_OF_3(m, clamp, z[i * m + j] = PATTERN;)
    }
}

static void count_bytes(const u8 *x, int64_t n, u32 (*own)[256])
{
    FOR (j, n)
        own[j & 3][x[j]]++;
}

C(im_pattern_histogram)
{
    IN(u8, x, 0);
    OUT(i64, counts, 0);
    int64_t n = E(0), m = E(1);
    memset(counts, 0, 256 * sizeof *counts);
    PARALLEL
    {
        u32 own[4][256] = {{0}};
        u8 *restrict code = scratch(0, m);
        SPLIT_FOR
        FOR (i, n) {
            const u8 THREE_ROWS(x, i);
            ROW_OF_3(m, clamp, code[j] = PATTERN;)
            count_bytes(code, m, own);
        }
        CRITICAL
        FOR (k, 1024)
            counts[k & 255] += own[k >> 8][k & 255];
    }
}

C(im_harris)
{
    IN(u8, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), area = (ROWS + 2) * m;
    FIRST_IN_BLOCKS(1, 12)
    const u8 THREE_ROWS(x, i);
    i32 *restrict xx = (i32 *)memory + to, *restrict xy = xx + area, *restrict yy = xy + area;
    ROW_OF_3(m, clamp, {
        SLOPES
        xx[j] = dx * dx;
        xy[j] = dx * dy;
        yy[j] = dy * dy;
    })
    THEN_IN_BLOCKS
    f32 *to = z + i * m;
    const i32 *of = (const i32 *)memory + at * m, *xx[3], *xy[3], *yy[3];
    FOR (k, 3) {
        xx[k] = of + clamp(i + k - 1, n) * m;
        xy[k] = xx[k] + area;
        yy[k] = xy[k] + area;
    }
#define OF_9(p)                                                                                                        \
    (f32)(p[0][left] + p[0][j] + p[0][right] + p[1][left] + p[1][j] + p[1][right] + p[2][left] + p[2][j] + p[2][right])
    ROW_OF_3(m, clamp, {
        f32 p = OF_9(xx) * 0x1p-10f, q = OF_9(xy) * 0x1p-10f, r = OF_9(yy) * 0x1p-10f, trace = p + r;
        to[j] = p * r - q * q - 0.04f * (trace * trace);
    })
    END_OF_BLOCKS
}

C(im_corners)
{
    IN(f32, x, 0);
    OUT(i32, row, 0);
    OUT(i32, column, 1);
    int64_t n = E(0), m = E(1), kept_of[257] = {0};
    f32 *none = cleared(0, m * (int64_t)sizeof(f32));
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num(), begin = n * id / count,
                end = n * (id + 1) / count, found = 0;
        i32 *place = scratch(1, ((end - begin) * m + 1) * (int64_t)sizeof(i32));
        u8 *restrict peak = scratch(2, m);
        for (int64_t i = begin; i < end; i++) {
            const f32 *a = i ? x + (i - 1) * m : none, *b = x + i * m, *c = i < n - 1 ? x + (i + 1) * m : none;
#define PEAK(l, r)                                                                                                     \
    (b[j] > a[j] && b[j] > c[j] && b[j] > (l ? a[j - 1] : 0) && b[j] > (l ? b[j - 1] : 0) &&                           \
     b[j] > (l ? c[j - 1] : 0) && b[j] > (r ? a[j + 1] : 0) && b[j] > (r ? b[j + 1] : 0) &&                            \
     b[j] > (r ? c[j + 1] : 0) && b[j] > 0.5f)
            for (int64_t j = 0; j < m; j += m - 1)
                peak[j] = PEAK((j > 0), (j < m - 1));
            SIMD
            for (int64_t j = 1; j < m - 1; j++) {
                f32 p = MAX(a[j - 1], a[j]), q = MAX(a[j + 1], b[j - 1]), r = MAX(b[j + 1], c[j - 1]),
                    s = MAX(c[j], c[j + 1]), pq = MAX(p, q), rs = MAX(r, s), all = MAX(pq, rs);
                peak[j] = (b[j] > all) & (b[j] > 0.5f);
            }
            FOR (j, m) {
                place[found] = (i32)(i * m + j);
                found += peak[j];
            }
        }
        kept_of[id + 1] = found;
        PRAGMA(omp barrier)
        int64_t k = 0;
        FOR (other, id + 1)
            k += kept_of[other];
        FOR (f, found) {
            row[k + f] = place[f] / (i32)m;
            column[k + f] = place[f] % (i32)m;
        }
        if (id == count - 1)
            KEPT(0) = KEPT(1) = k + found;
    }
}

C(im_flow)
{
    IN(u8, x, 0);
    IN(u8, next, 1);
    OUT(f32, u, 0);
    OUT(f32, v, 1);
    int64_t n = E(0), m = E(1), area = (ROWS + 4) * m;
    PARALLEL
    {
        i32 *product = scratch(0, (5 * area) * (int64_t)sizeof(i32)),
            *sums = scratch(1, (5 * (m + 4)) * (int64_t)sizeof(i32));
        PRAGMA(omp for schedule(dynamic, 1))
        for (int64_t begin = 0; begin < n; begin += ROWS) {
            int64_t end = MIN(begin + ROWS, n), low = MAX(begin - 2, 0), high = MIN(end + 2, n);
            for (int64_t i = low; i < high; i++) {
                const u8 THREE_ROWS(x, i);
                i32 *restrict to = product + (i - low) * m;
                ROW_OF_3(m, clamp, {
                    i32 dx = b[right] - b[left], dy = c[j] - a[j], dz = next[i * m + j] - b[j];
                    to[j] = dx * dx;
                    to[area + j] = dx * dy;
                    to[2 * area + j] = dy * dy;
                    to[3 * area + j] = dx * dz;
                    to[4 * area + j] = dy * dz;
                })
            }
            for (int64_t i = begin; i < end; i++) {
                FOR (k, 5) {
                    const i32 *of = product + k * area - low * m;
                    const i32 *a = of + clamp(i - 2, n) * m, *b = of + clamp(i - 1, n) * m, *c = of + i * m,
                              *d = of + clamp(i + 1, n) * m, *e = of + clamp(i + 2, n) * m;
                    i32 *restrict s = sums + k * (m + 4) + 2;
                    FOR (j, m)
                        s[j] = a[j] + b[j] + c[j] + d[j] + e[j];
                    s[-2] = s[-1] = s[0];
                    s[m] = s[m + 1] = s[m - 1];
                }
                SIMD
                FOR (j, m) {
                    const i32 *s = sums + j;
                    int64_t w = m + 4;
#define SUM_5(k) (f32)(s[k * w] + s[k * w + 1] + s[k * w + 2] + s[k * w + 3] + s[k * w + 4])
                    f32 xx = SUM_5(0), xy = SUM_5(1), yy = SUM_5(2), xz = SUM_5(3), yz = SUM_5(4);
                    f32 det = xx * yy - xy * xy + 1;
                    u[i * m + j] = (xy * yz - yy * xz) / det;
                    v[i * m + j] = (xy * xz - xx * yz) / det;
                }
            }
        }
    }
}

C(im_range_of_15)
{
    IN(u16, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(0), m = E(1), l = m - 14;
    PARALLEL
    {
        /* least and greatest of 2, 4 and 8 */
        u16 *memory = scratch(0, m * 6 * (int64_t)sizeof(u16));
        u16 *restrict least2 = memory, *restrict most2 = least2 + m, *restrict least4 = most2 + m,
                      *restrict most4 = least4 + m, *restrict least8 = most4 + m, *restrict most8 = least8 + m;
        SPLIT_FOR
        FOR (i, n) {
            const u16 *p = x + i * m;
#define BOTH(a, b, of_a, of_b, w, count)                                                                               \
    SIMD                                                                                                               \
    FOR (j, count) {                                                                                                   \
        a[j] = MIN(of_a[j], of_a[j + w]);                                                                              \
        b[j] = MAX(of_b[j], of_b[j + w]);                                                                              \
    }
            BOTH(least2, most2, p, p, 1, m - 1)
            BOTH(least4, most4, least2, most2, 2, m - 3)
            BOTH(least8, most8, least4, most4, 4, m - 7)
            SIMD
            FOR (j, l)
                z[i * l + j] = MAX(most8[j], most8[j + 7]) - MIN(least8[j], least8[j + 7]);
        }
    }
}
