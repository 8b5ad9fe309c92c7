/* Grids, lattices and tensors. */
#include "fields.h"

/* --- grids --- */

C(fd_spheres)
{
    IN(f32, cx, 0);
    IN(f32, cy, 1);
    IN(f32, cz, 2);
    IN(f32, radius, 3);
    OUT(f32, z, 0);
    int64_t s = E(0), a = E(1), b = E(2), c = E(3);
    PARALLEL_FOR_2
    FOR (i, a)
        FOR (j, b) {
            f32 *row = z + (i * b + j) * c;
            FOR (k, c)
                row[k] = 1e30f;
            FOR (l, s) {
                f32 dx = (f32)i * 0.0625f - cx[l], dy = (f32)j * 0.0625f - cy[l], base = dx * dx + dy * dy;
                f32 pz = cz[l], r = radius[l];
                SIMD
                FOR (k, c) {
                    f32 dz = (f32)(i32)k * 0.0625f - pz, d = sqrtf(base + dz * dz) - r;
                    row[k] = MIN(row[k], d);
                }
            }
        }
}

C(fd_marching)
{
    IN(f32, x, 0);
    OUT(u8, z, 0);
    int64_t m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k) {
        const f32 *p = x + i * m, *q = p + m;
        FOR (j, l)
            z[i * l + j] = (u8)((p[j] > 0) | (p[j + 1] > 0) << 1 | (q[j] > 0) << 2 | (q[j + 1] > 0) << 3);
    }
}

C(fd_marching_counts)
{
    IN(f32, x, 0);
    OUT(i64, counts, 0);
    int64_t n = E(0), m = E(1);
    memset(counts, 0, 16 * sizeof(*counts));
    PARALLEL
    {
        u32 own[4][16] = {{0}};
        u8 code[1024];
        SPLIT_FOR
        FOR (i, n - 1) {
            const f32 *p = x + i * m, *q = p + m;
            for (int64_t from = 0; from < m - 1; from += 1024) {
                int64_t some = MIN(1024, m - 1 - from);
                FOR (c, some) {
                    int64_t j = from + c;
                    code[c] = (u8)((p[j] > 0) | (p[j + 1] > 0) << 1 | (q[j] > 0) << 2 | (q[j + 1] > 0) << 3);
                }
                FOR (c, some)
                    own[c & 3][code[c]]++;
            }
        }
        CRITICAL
        FOR (k, 64)
            counts[k & 15] += own[k / 16][k & 15];
    }
}

C(fd_trilinear)
{
    IN(f32, x, 0);
    IN(f32, pa, 1);
    IN(f32, pb, 2);
    IN(f32, pc, 3);
    OUT(f32, z, 0);
    i32 d = (i32)E(0), h = (i32)E(1), w = (i32)E(2);
    int64_t n = E(3);
    PARALLEL_FOR
    FOR (i, n) {
        f32 a = pa[i] * (f32)(d - 1), b = pb[i] * (f32)(h - 1), c = pc[i] * (f32)(w - 1);
        i32 u = MIN((i32)a, d - 2), v = MIN((i32)b, h - 2), t = MIN((i32)c, w - 2);
        f32 r = a - (f32)u, s = b - (f32)v, q = c - (f32)t;
        i32 at = (u * h + v) * w + t, down = h * w;
        f32 p0 = x[at] + (x[at + 1] - x[at]) * q, p1 = x[at + w] + (x[at + w + 1] - x[at + w]) * q;
        at += down;
        f32 p2 = x[at] + (x[at + 1] - x[at]) * q, p3 = x[at + w] + (x[at + w + 1] - x[at + w]) * q;
        f32 e = p0 + (p1 - p0) * s, f = p2 + (p3 - p2) * s;
        z[i] = e + (f - e) * r;
    }
}

#define ADVECT(T)                                                                                                      \
    C(fd_advect_##T)                                                                                                   \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(T, u, 1);                                                                                                   \
        IN(T, v, 2);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        i32 n = (i32)E(0), m = (i32)E(1);                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            const T *p = u + i * m, *q = v + i * m;                                                                    \
            for (i32 j = 0; j < m; j++) {                                                                              \
                T y = (T)(i32)i - q[j], w = (T)j - p[j];                                                               \
                y = MAX(MIN(y, (T)(n - 1)), 0);                                                                        \
                w = MAX(MIN(w, (T)(m - 1)), 0);                                                                        \
                i32 a = MIN((i32)y, n - 2), b = MIN((i32)w, m - 2), at = a * m + b;                                    \
                T s = y - (T)a, t = w - (T)b;                                                                          \
                T e = x[at] + (x[at + 1] - x[at]) * t, f = x[at + m] + (x[at + m + 1] - x[at + m]) * t;                \
                z[i * m + j] = e + (f - e) * s;                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }
ADVECT(f32)
ADVECT(f64)

C(fd_upwind)
{
    IN(f64, x, 0);
    IN(f64, speed, 1);
    OUT(f64, z, 0);
    int64_t n = E(0);
#define UPWIND(i, left, right) z[i] = x[i] - speed[i] * 0.25 * (speed[i] > 0 ? x[i] - x[left] : x[right] - x[i]);
    UPWIND(0, n - 1, 1)
    UPWIND(n - 1, n - 2, 0)
    PARALLEL_FOR
    for (int64_t i = 1; i < n - 1; i++)
        UPWIND(i, i - 1, i + 1)
}

C(fd_burgers)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
#define HALF(a, b) (0.5 * ((a) + (b)) - 0.125 * ((b) * (b) - (a) * (a)))
#define BURGERS(i, left, right)                                                                                        \
    {                                                                                                                  \
        f64 l = HALF(x[left], x[i]), r = HALF(x[i], x[right]);                                                         \
        z[i] = x[i] - 0.25 * (r * r - l * l);                                                                          \
    }
    BURGERS(0, n - 1, 1)
    BURGERS(n - 1, n - 2, 0)
    PARALLEL_FOR
    for (int64_t i = 1; i < n - 1; i++)
        BURGERS(i, i - 1, i + 1)
}

C(fd_shallow)
{
    IN(f32, h, 0);
    IN(f32, u, 1);
    IN(f32, v, 2);
    OUT(f32, oh, 0);
    OUT(f32, ou, 1);
    OUT(f32, ov, 2);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t up = MAX(i - 1, 0) * m, here = i * m, down = MIN(i + 1, n - 1) * m;
        ROW_OF(m, 0, m - 1, {
            f32 hl = h[here + left], ul = u[here + left], vl = v[here + left];
            f32 hr = h[here + right], ur = u[here + right], vr = v[here + right];
            f32 hu = h[up + j], uu = u[up + j], vu = v[up + j];
            f32 hd = h[down + j], ud = u[down + j], vd = v[down + j];
            f32 sl = ul / hl, sr = ur / hr, su = vu / hu, sd = vd / hd;
            oh[here + j] = 0.25f * (hl + hr + hu + hd) - 0.05f * (ur - ul + vd - vu);
            ou[here + j] = 0.25f * (ul + ur + uu + ud) -
                           0.05f * (ur * sr + 4.9f * hr * hr - ul * sl - 4.9f * hl * hl + ud * sd - uu * su);
            ov[here + j] = 0.25f * (vl + vr + vu + vd) -
                           0.05f * (vr * sr - vl * sl + vd * sd + 4.9f * hd * hd - vu * su - 4.9f * hu * hu);
        })
    }
}

C(fd_curl)
{
    IN(f32, x, 0);
    OUT(f32, curl, 0);
    OUT(f32, divergence, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *up = x + MAX(i - 1, 0) * m * 2, *here = x + i * m * 2, *down = x + MIN(i + 1, n - 1) * m * 2;
        f32 *c = curl + i * m, *d = divergence + i * m;
        ROW_OF(m, 0, m - 1, {
            c[j] = 0.5f * (here[2 * right + 1] - here[2 * left + 1]) - 0.5f * (down[2 * j] - up[2 * j]);
            d[j] = 0.5f * (here[2 * right] - here[2 * left]) + 0.5f * (down[2 * j + 1] - up[2 * j + 1]);
        })
    }
}

C(fd_strain)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *up = x + MAX(i - 1, 0) * m * 2, *here = x + i * m * 2, *down = x + MIN(i + 1, n - 1) * m * 2;
        f32 *s = z + i * m * 3;
        ROW_OF(m, 0, m - 1, {
            s[3 * j] = 0.5f * (here[2 * right] - here[2 * left]);
            s[3 * j + 1] = 0.5f * (down[2 * j + 1] - up[2 * j + 1]);
            s[3 * j + 2] = 0.25f * (here[2 * right + 1] - here[2 * left + 1] + (down[2 * j] - up[2 * j]));
        })
    }
}

C(fd_gradient)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f64 *up = x + MAX(i - 1, 0) * m, *here = x + i * m, *down = x + MIN(i + 1, n - 1) * m;
        f64 *s = z + i * m * 2;
        ROW_OF(m, 0, m - 1, {
            s[2 * j] = 0.5 * (here[right] - here[left]);
            s[2 * j + 1] = 0.5 * (down[j] - up[j]);
        })
    }
}

C(fd_red_black)
{
    IN(f64, x, 0);
    IN(f64, rhs, 1);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f64 *here = x + i * m, *r = rhs + i * m;
        f64 *to = z + i * m;
        if (i == 0 || i == n - 1) {
            memcpy(to, here, (size_t)m * sizeof(*to));
            continue;
        }
        to[0] = here[0];
        to[m - 1] = here[m - 1];
        SIMD
        for (int64_t j = 1; j < m - 1; j++) {
            f64 next = 0.25 * (here[j - m] + here[j + m] + here[j - 1] + here[j + 1] + r[j]);
            to[j] = (i + j) & 1 ? here[j] : next;
        }
    }
}

C(fd_restrict)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    PARALLEL
    {
        f64 *sum = malloc((size_t)m * sizeof(*sum));
        SPLIT_FOR
        FOR (i, k) {
            const f64 *p = x + MAX(2 * i - 1, 0) * m, *q = x + 2 * i * m, *r = x + MIN(2 * i + 1, n - 1) * m;
            f64 *to = z + i * l;
            FOR (j, m)
                sum[j] = p[j] + 2 * q[j] + r[j];
            to[0] = 0.0625 * (3 * sum[0] + sum[1]);
            for (int64_t j = 1; j < l - 1; j++)
                to[j] = 0.0625 * (sum[2 * j - 1] + 2 * sum[2 * j] + sum[2 * j + 1]);
            int64_t j = l - 1;
            to[j] = 0.0625 * (sum[2 * j - 1] + 2 * sum[2 * j] + sum[MIN(2 * j + 1, m - 1)]);
        }
        free(sum);
    }
}

C(fd_prolong)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, k) {
        const f64 *p = x + i / 2 * m, *q = x + (i + 1) / 2 * m;
        f64 *to = z + i * l;
        FOR (j, m - 1) {
            f64 here = 0.5 * (p[j] + q[j]), next = 0.5 * (p[j + 1] + q[j + 1]);
            to[2 * j] = here;
            to[2 * j + 1] = 0.5 * (here + next);
        }
        to[l - 1] = 0.5 * (p[m - 1] + q[m - 1]);
    }
}

/* --- lattice Boltzmann --- */

C(fd_stream)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t h = E(0), w = E(1);
    PARALLEL_FOR_2
    FOR (c, 9)
        FOR (i, h) {
            int64_t dy = c / 3 - 1, dx = c % 3 - 1, row = i - dy;
            row = row < 0 ? h - 1 : row == h ? 0 : row;
            const f32 *from = x + (c * h + row) * w;
            f32 *to = z + (c * h + i) * w;
            if (dx == 0) {
                memcpy(to, from, (size_t)w * sizeof(*to));
            } else if (dx > 0) {
                to[0] = from[w - 1];
                memcpy(to + 1, from, (size_t)(w - 1) * sizeof(*to));
            } else {
                memcpy(to, from + 1, (size_t)(w - 1) * sizeof(*to));
                to[w - 1] = from[0];
            }
        }
}

C(fd_stream_cells)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t h = E(0), w = E(1);
    PARALLEL_FOR
    FOR (i, h) {
        const f32 *from[3];
        FOR (d, 3)
            from[d] = x + (i + 1 - d + h) % h * w * 9;
        FOR (j, w) {
            int64_t left = 9 * (j > 0 ? j - 1 : w - 1), right = 9 * (j < w - 1 ? j + 1 : 0);
            f32 *to = z + (i * w + j) * 9;
            FOR (d, 3) {
                to[3 * d] = from[d][right + 3 * d];
                to[3 * d + 1] = from[d][9 * j + 3 * d + 1];
                to[3 * d + 2] = from[d][left + 3 * d + 2];
            }
        }
    }
}

static inline void collide(f32 *f)
{
    f32 density = 0, ux = 0, uy = 0;
    UNROLL(9)
    FOR (c, 9) {
        density += f[c];
        ux += f[c] * (f32)(c % 3 - 1);
        uy += f[c] * (f32)(c / 3 - 1);
    }
    ux /= density;
    uy /= density;
    f32 speed = 1 - 1.5f * (ux * ux + uy * uy);
    UNROLL(9)
    FOR (c, 9) {
        f32 along = 3 * ((f32)(c % 3 - 1) * ux + (f32)(c / 3 - 1) * uy);
        f32 weight = (c % 3 == 1 ? 2 / 3.0f : 1 / 6.0f) * (c / 3 == 1 ? 2 / 3.0f : 1 / 6.0f);
        f32 rest = weight * density * (speed + along + 0.5f * along * along);
        f[c] += 0.8f * (rest - f[c]);
    }
}

C(fd_collide)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    PRAGMA(omp parallel for simd schedule(static))
    FOR (i, n) {
        f32 f[9];
        UNROLL(9)
        FOR (c, 9)
            f[c] = x[c * n + i];
        collide(f);
        UNROLL(9)
        FOR (c, 9)
            z[c * n + i] = f[c];
    }
}

C(fd_collide_cells)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    PRAGMA(omp parallel for simd schedule(static))
    FOR (i, n) {
        f32 f[9];
        UNROLL(9)
        FOR (c, 9)
            f[c] = x[9 * i + c];
        collide(f);
        UNROLL(9)
        FOR (c, 9)
            z[9 * i + c] = f[c];
    }
}

/* --- more on grids --- */

static f64 *zeros(int64_t m)
{
    return calloc((size_t)m, sizeof(f64));
}

C(fd_damped_wave)
{
    IN(f64, x, 0);
    IN(f64, before, 1);
    IN(f64, mask, 2);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1);
    f64 *none = zeros(m);
    PARALLEL_FOR
    FOR (i, n) {
        const f64 *here = x + i * m, *up = i ? here - m : none, *down = i < n - 1 ? here + m : none;
        const f64 *b = before + i * m, *k = mask + i * m;
        f64 *to = z + i * m;
#define WAVE(l, r) to[j] = k[j] * (2 * here[j] - b[j] + 0.2 * (up[j] + down[j] + (l) + (r)-4 * here[j]));
        int64_t j = 0;
        WAVE(0, here[1])
        for (j = 1; j < m - 1; j++)
            WAVE(here[j - 1], here[j + 1])
        WAVE(here[m - 2], 0)
    }
    free(none);
}

C(fd_gray_scott)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t up = (i ? i - 1 : n - 1) * m, here = i * m, down = (i < n - 1 ? i + 1 : 0) * m;
        ROW_OF(m, m - 1, 0, {
            f32 u = x[here + j], v = y[here + j], uvv = u * v * v;
            f32 su = x[up + j] + x[down + j] + x[here + left] + x[here + right] - 4 * u;
            f32 sv = y[up + j] + y[down + j] + y[here + left] + y[here + right] - 4 * v;
            z[here + j] = u + 0.16f * su - uvv + 0.035f * (1 - u);
            w[here + j] = v + 0.08f * sv + uvv - 0.1f * v;
        })
    }
}

static void read_spins(i8 *to, const i8 *row, int64_t m)
{
    FOR (j, m)
        to[j] = row[j] < 0 ? -1 : 1;
    to[-1] = to[m - 1];
    to[m] = to[0];
}

/* Whole vectors of a copy with the wrapped ends, so that narrow rows are vectors too. */
C(fd_ising)
{
    IN(i8, x, 0);
    OUT(i8, z, 0);
    int64_t n = E(0), m = E(1), whole = (m + 15) / 16 * 16, stride = whole + 64;
    PARALLEL
    {
        i8 *memory = calloc((size_t)stride * 4, 1),
           *row[3] = {memory + 32, memory + stride + 32, memory + 2 * stride + 32};
        i8 *restrict next = memory + 3 * stride;
        int64_t done = -2;
        SPLIT_FOR
        FOR (i, n) {
            if (done != i - 1)
                for (int64_t d = -1; d < 1; d++)
                    read_spins(row[(i + d + 3) % 3], x + (i + d + n) % n * m, m);
            read_spins(row[(i + 1) % 3], x + (i + 1) % n * m, m);
            done = i;
            const i8 *up = row[(i + 2) % 3], *here = row[i % 3], *down = row[(i + 1) % 3];
            u32 base = (u32)(i * m), odd = (u32)i & 1;
            PRAGMA(omp simd simdlen(16))
            for (i32 j = 0; j < (i32)whole; j++) {
                i32 s = here[j], energy = s * (up[j] + down[j] + here[j - 1] + here[j + 1]);
                u32 r = base + (u32)j;
                r = (r ^ r >> 16) * 0x7feb352du;
                r = (r ^ r >> 15) * 0x846ca68bu;
                r ^= r >> 16;
                bool flips = (energy <= 0) | (r < (energy == 2 ? 0x22000000u : 0x04c00000u));
                next[j] = (i8)((((u32)j & 1) == odd) & flips ? -s : s);
            }
            memcpy(z + i * m, next, (size_t)m);
        }
        free(memory);
    }
}

C(fd_fastest)
{
    IN(f64, u, 0);
    IN(f64, v, 1);
    IN(f64, h, 2);
    int64_t n = SIZE;
    f64 most = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(max : most))
    FOR (i, n) {
        f64 a = fabs(u[i]), b = fabs(v[i]), s = (a > b ? a : b) + sqrt(9.81 * h[i]);
        most = s > most ? s : most;
    }
    RESULT(f64, 0) = most;
}

C(fd_residual)
{
    IN(f64, x, 0);
    IN(f64, rhs, 1);
    int64_t n = E(0), m = E(1);
    f64 *none = zeros(m), sum = 0, most = 0;
    PRAGMA(omp parallel for schedule(static) reduction(+ : sum) reduction(max : most))
    FOR (i, n) {
        const f64 *here = x + i * m, *up = i ? here - m : none, *down = i < n - 1 ? here + m : none, *b = rhs + i * m;
#define RESIDUAL(j, l, r)                                                                                              \
    {                                                                                                                  \
        f64 d = 4 * here[j] - up[j] - down[j] - (l) - (r)-b[j], a = fabs(d);                                           \
        sum += d * d;                                                                                                  \
        most = a > most ? a : most;                                                                                    \
    }
        RESIDUAL(0, 0, here[1])
        RESIDUAL(m - 1, here[m - 2], 0)
        PRAGMA(omp simd reduction(+ : sum) reduction(max : most))
        for (int64_t j = 1; j < m - 1; j++)
            RESIDUAL(j, here[j - 1], here[j + 1])
    }
    free(none);
    RESULT(f64, 0) = sum;
    RESULT(f64, 1) = most;
}

C(fd_slab_sums)
{
    IN(f32, x, 0);
    OUT(f32, a, 0);
    OUT(f32, b, 1);
    OUT(f32, c, 2);
    int64_t n = E(0), m = E(1), k = E(2), cut = n < 64 && m > n ? m : 1, block = (m + cut - 1) / cut;
    memset(a, 0, (size_t)n * sizeof(*a));
    memset(b, 0, (size_t)m * sizeof(*b));
    memset(c, 0, (size_t)k * sizeof(*c));
    PARALLEL
    {
        f32 *oa = calloc((size_t)(n + m + k), sizeof(*oa)), *ob = oa + n, *oc = ob + m;
        PRAGMA(omp for collapse(2) schedule(static))
        FOR (i, n)
            FOR (s, cut) {
                f32 plane = 0;
                for (int64_t j = s * block; j < MIN(m, (s + 1) * block); j++) {
                    const f32 *row = x + (i * m + j) * k;
                    f32 sum = 0;
                    PRAGMA(omp simd reduction(+ : sum))
                    FOR (l, k) {
                        sum += row[l];
                        oc[l] += row[l];
                    }
                    ob[j] += sum;
                    plane += sum;
                }
                oa[i] += plane;
            }
        CRITICAL
        {
            FOR (i, n)
                a[i] += oa[i];
            FOR (j, m)
                b[j] += ob[j];
            FOR (l, k)
                c[l] += oc[l];
        }
        free(oa);
    }
}

C(fd_set_edges)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *here = x + i * m;
        f32 *to = z + i * m;
        if (i == 0 || i == n - 1) {
            FOR (j, m)
                to[j] = i == 0;
        } else {
            memcpy(to, here, (size_t)m * sizeof(*to));
            to[0] = -here[1];
            to[m - 1] = here[m - 2];
        }
    }
}

/* --- tensors --- */

#define TENSOR(T)                                                                                                      \
    T a = x[6 * i], b = x[6 * i + 1], c = x[6 * i + 2], d = x[6 * i + 3], e = x[6 * i + 4], f = x[6 * i + 5];          \
    T trace = a + b + c, second = a * b + b * c + c * a - (d * d + e * e + f * f);                                     \
    T third = a * (b * c - e * e) + d * (e * f - d * c) + f * (d * e - b * f);

C(fd_invariants)
{
    IN(f32, x, 0);
    OUT(f32, u, 0);
    OUT(f32, v, 1);
    OUT(f32, w, 2);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        TENSOR(f32)
        u[i] = trace;
        v[i] = second;
        w[i] = third;
    }
}

C(fd_principal)
{
    IN(f64, x, 0);
    OUT(f64, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        TENSOR(f64)
        f64 mean = trace / 3, p = trace * trace / 9 - second / 3, radius = sqrt(p > 1e-9 ? p : 1e-9);
        f64 q = mean * mean * mean - 0.5 * mean * second + 0.5 * third, cosine = q / (radius * radius * radius);
        cosine = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
        f64 angle = acos(cosine) / 3, most = mean + 2 * radius * cos(angle);
        f64 middle = mean + 2 * radius * cos(angle - 2 * M_PI / 3);
        z[3 * i] = most;
        z[3 * i + 1] = middle;
        z[3 * i + 2] = trace - most - middle;
    }
}
