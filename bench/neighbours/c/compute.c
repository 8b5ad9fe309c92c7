#include "c.h"

void nb_make_axes_f32(const struct nb_call *call);
void nb_make_axes_f64(const struct nb_call *call);
void nb_make_directions(const struct nb_call *call);

#define MAKE_AXES(T)                                                                                                   \
    void nb_make_axes_##T(const struct nb_call *call)                                                                  \
    {                                                                                                                  \
        T *y = call->in[0], *x = call->in[1];                                                                          \
        FOR (i, E(0))                                                                                                  \
            y[i] = (T)i * (T)0.0078125 - (T)1.25;                                                                      \
        FOR (j, E(1))                                                                                                  \
            x[j] = (T)j * (T)0.00390625 - (T)2.5;                                                                      \
    }
MAKE_AXES(f32)
MAKE_AXES(f64)

void nb_make_directions(const struct nb_call *call)
{
    u8 *direction = call->in[1];
    FOR (i, SIZE)
        direction[i] %= 4;
}

/* --- options --- */

#define OPTIONS(T, exp_, log_, sqrt_)                                                                                  \
    static inline T normal_integral_##T(T d)                                                                           \
    {                                                                                                                  \
        T k = 1 / (d * 0 + (d < 0 ? -d : d) * (T)0.2316419f + 1), poly = k * (T)1.330274429f;                          \
        poly = (poly + (T)-1.821255978f) * k;                                                                          \
        poly = (poly + (T)1.781477937f) * k;                                                                           \
        poly = (poly + (T)-0.356563782f) * k;                                                                          \
        poly = (poly + (T)0.31938153f) * k;                                                                            \
        T tail = exp_(d * d * (T)-0.5) * (T)0.3989422804f * poly;                                                      \
        return d > 0 ? 1 - tail : tail;                                                                                \
    }                                                                                                                  \
    static inline void option_##T(T price, T strike, T years, T *call, T *put)                                         \
    {                                                                                                                  \
        T spread = sqrt_(years) * (T)0.3f, d1 = (log_(price / strike) + years * (T)0.065f) / spread;                   \
        T n1 = normal_integral_##T(d1), n2 = normal_integral_##T(d1 - spread);                                         \
        T discounted = strike * exp_(years * (T)-0.02f);                                                               \
        *call = price * n1 - discounted * n2;                                                                          \
        *put = discounted * (1 - n2) - price * (1 - n1);                                                               \
    }                                                                                                                  \
    C(call_and_put_##T)                                                                                                \
    {                                                                                                                  \
        IN(T, price, 0);                                                                                               \
        IN(T, strike, 1);                                                                                              \
        IN(T, years, 2);                                                                                               \
        OUT(T, calls, 0);                                                                                              \
        OUT(T, puts, 1);                                                                                               \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T c, p;                                                                                                    \
            option_##T(price[i], strike[i], years[i], &c, &p);                                                         \
            calls[i] = c;                                                                                              \
            puts[i] = p;                                                                                               \
        }                                                                                                              \
    }
OPTIONS(f32, expf, logf, sqrtf)
OPTIONS(f64, exp, log, sqrt)

C(call_only_f32)
{
    IN(f32, price, 0);
    IN(f32, strike, 1);
    IN(f32, years, 2);
    OUT(f32, calls, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        f32 c, p;
        option_f32(price[i], strike[i], years[i], &c, &p);
        calls[i] = c;
    }
}

C(call_sum_f32)
{
    IN(f32, price, 0);
    IN(f32, strike, 1);
    IN(f32, years, 2);
    int64_t n = SIZE;
    f32 s = 0;
    PRAGMA(omp parallel for simd reduction(+ : s) schedule(static))
    FOR (i, n) {
        f32 c, p;
        option_f32(price[i], strike[i], years[i], &c, &p);
        s += c;
    }
    RESULT(f32, 0) = s;
}

/* --- fractals: pixels in lanes, until none of them is inside --- */

enum { LANES = 16 };

#define FRACTAL(name, T, I, start_r, start_i, constant_r, constant_i, next_r, next_i)                                  \
    static void name##_lanes(const T *restrict xs, T y, i32 *restrict to)                                              \
    {                                                                                                                  \
        T zr[LANES], zi[LANES], cr[LANES], ci[LANES];                                                                  \
        I count[LANES], in[LANES];                                                                                     \
        FOR (l, LANES) {                                                                                               \
            T x = xs[l];                                                                                               \
            zr[l] = start_r;                                                                                           \
            zi[l] = start_i;                                                                                           \
            cr[l] = constant_r;                                                                                        \
            ci[l] = constant_i;                                                                                        \
            count[l] = 0;                                                                                              \
            in[l] = 1;                                                                                                 \
        }                                                                                                              \
        for (int step = 0; step < 200; step++) {                                                                       \
            I any = 0;                                                                                                 \
            PRAGMA(omp simd reduction(| : any))                                                                        \
            FOR (l, LANES) {                                                                                           \
                T r = zr[l], i = zi[l], r2 = r * r, i2 = i * i, d = r2 - i2, m = (r + r) * i;                          \
                (void)d, (void)m;                                                                                      \
                in[l] &= r2 + i2 < 4;                                                                                  \
                count[l] += in[l];                                                                                     \
                any |= in[l];                                                                                          \
                zr[l] = (next_r) + cr[l];                                                                              \
                zi[l] = (next_i) + ci[l];                                                                              \
            }                                                                                                          \
            if (!any)                                                                                                  \
                break;                                                                                                 \
        }                                                                                                              \
        FOR (l, LANES)                                                                                                 \
            to[l] = (i32)count[l];                                                                                     \
    }                                                                                                                  \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, ys, 0);                                                                                                  \
        IN(T, xs, 1);                                                                                                  \
        OUT(i32, z, 0);                                                                                                \
        int64_t n = E(0), m = E(1);                                                                                    \
        PRAGMA(omp parallel for schedule(dynamic, 4))                                                                  \
        FOR (i, n) {                                                                                                   \
            int64_t j = 0;                                                                                             \
            for (; j + LANES <= m; j += LANES)                                                                         \
                name##_lanes(xs + j, ys[i], z + i * m + j);                                                            \
            if (j < m) /* the last ones once more */                                                                   \
                name##_lanes(xs + m - LANES, ys[i], z + i * m + m - LANES);                                            \
        }                                                                                                              \
    }
FRACTAL(mandelbrot_f32, f32, i32, 0, 0, x, y, d, m)
FRACTAL(mandelbrot_f64, f64, i64, 0, 0, x, y, d, m)
FRACTAL(julia_f32, f32, i32, x, y, -0.75f, 0.125f, d, m)
FRACTAL(cubic_f32, f32, i32, 0, 0, x, y, d *r - m * i, d *i + m * r)

/* --- all pairs --- */

C(nbody_f64)
{
    IN(f64, px, 0);
    IN(f64, py, 1);
    IN(f64, pz, 2);
    IN(f64, vx, 3);
    IN(f64, vy, 4);
    IN(f64, vz, 5);
    IN(f64, mass, 6);
    f64 step = VALUE(f64, 7);
    OUT(f64, qx, 0);
    OUT(f64, qy, 1);
    OUT(f64, qz, 2);
    OUT(f64, wx, 3);
    OUT(f64, wy, 4);
    OUT(f64, wz, 5);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f64 ax = 0, ay = 0, az = 0;
        PRAGMA(omp simd reduction(+ : ax, ay, az))
        FOR (j, n) {
            f64 dx = px[j] - px[i], dy = py[j] - py[i], dz = pz[j] - pz[i];
            f64 square = dx * dx + dy * dy + dz * dz;
            f64 strength = mass[j] / ((square > 0 ? square : 1) * sqrt(square > 0 ? square : 1));
            ax += dx * strength;
            ay += dy * strength;
            az += dz * strength;
        }
        wx[i] = vx[i] + ax * step;
        wy[i] = vy[i] + ay * step;
        wz[i] = vz[i] + az * step;
        qx[i] = px[i] + wx[i] * step;
        qy[i] = py[i] + wy[i] * step;
        qz[i] = pz[i] + wz[i] * step;
    }
}

C(forces_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, fx, 0);
    OUT(f32, fy, 1);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f32 ax = 0, ay = 0;
        PRAGMA(omp simd reduction(+ : ax, ay))
        FOR (j, n) {
            f32 dx = x[j] - x[i], dy = y[j] - y[i], square = dx * dx + dy * dy + 0.0625f;
            ax += dx / square;
            ay += dy / square;
        }
        fx[i] = ax;
        fy[i] = ay;
    }
}

static inline f32 potential_at(const f32 *restrict x, const f32 *restrict y, int64_t i, int64_t n)
{
    f32 s = 0;
    PRAGMA(omp simd reduction(+ : s))
    FOR (j, n) {
        f32 dx = x[j] - x[i], dy = y[j] - y[i];
        s += 1 / sqrtf(dx * dx + dy * dy + 0.0625f);
    }
    return s;
}

C(potential_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = E(0);
    f32 all = 0;
    PRAGMA(omp parallel for reduction(+ : all) schedule(static))
    FOR (i, n)
        all += potential_at(x, y, i, n);
    RESULT(f32, 0) = all;
}

C(potential_each_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = potential_at(x, y, i, n);
}

/* --- pictures: each thread a band of rows; what the next stage needs waits in rings of rows --- */

static inline int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static inline f32 weigh(f32 a, f32 b, f32 c, f32 d, f32 e)
{
    return (a + e + (b + d) * 4 + c * 6) * (1.0f / 16);
}

/* A row of the first blur; `t` has room for two more elements at each end. */
static void across(f32 *restrict t, f32 *restrict to, int64_t m)
{
    t[0] = t[1] = t[2];
    t[m + 2] = t[m + 3] = t[m + 1];
    FOR (j, m)
        to[j] = weigh(t[j], t[j + 1], t[j + 2], t[j + 3], t[j + 4]);
}

static void down(const f32 *const *r, f32 *restrict to, int64_t m)
{
    const f32 *restrict a = r[0], *restrict b = r[1], *restrict c = r[2], *restrict d = r[3], *restrict e = r[4];
    FOR (j, m)
        to[j] = weigh(a[j], b[j], c[j], d[j], e[j]);
}

#define SLOPE_AND_ROOT(left, j, right)                                                                                 \
    f32 dx = a[right] + c[right] + 2 * b[right] - (a[left] + c[left] + 2 * b[left]);                                   \
    f32 dy = c[left] + c[right] + 2 * c[j] - (a[left] + a[right] + 2 * a[j]);                                          \
    to[j] = sqrtf(dx * dx + dy * dy);

static void sobel(const f32 *restrict a, const f32 *restrict b, const f32 *restrict c, f32 *restrict to, int64_t m)
{
    for (int64_t j = 1; j < m - 1; j++) {
        SLOPE_AND_ROOT(j - 1, j, j + 1)
    }
    {SLOPE_AND_ROOT(0, 0, 1)} {
        SLOPE_AND_ROOT(m - 2, m - 1, m - 1)
    }
}

enum { BANDS = 32, RING = 8 };

/* Rows [first, last) of the blur of n rows, whose row i `make_row` puts into t + 2; each row to `use_row` at b. */
#define BLUR_BANDS(make_row, first_row, last_row, target)                                                              \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        f32 *ring = malloc((size_t)(RING * m) * sizeof *ring), *t = malloc((size_t)(m + 4) * sizeof *t);               \
        f32 *blurred = malloc((size_t)(RING * m) * sizeof *blurred);                                                   \
        SPLIT_FOR                                                                                                      \
        FOR (b, BANDS) {                                                                                               \
            int64_t first = n * b / BANDS, last = n * (b + 1) / BANDS, begin = clamp(first_row, n), i;                 \
            int64_t end = clamp((last_row)-1, n) + 1, made = clamp(begin - 2, n);                                      \
            for (i = begin; i < end; i++) {                                                                            \
                const f32 *row[5];                                                                                     \
                for (; made <= clamp(i + 2, n); made++) {                                                              \
                    FOR (j, m)                                                                                         \
                        t[j + 2] = make_row;                                                                           \
                    across(t, ring + made % RING * m, m);                                                              \
                }                                                                                                      \
                for (int d = 0; d < 5; d++)                                                                            \
                    row[d] = ring + clamp(i + d - 2, n) % RING * m;                                                    \
                target                                                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        free(ring);                                                                                                    \
        free(t);                                                                                                       \
        free(blurred);                                                                                                 \
    }

C(grey_blur_f32)
{
    IN(u8, r, 0);
    IN(u8, g, 1);
    IN(u8, b8_, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    BLUR_BANDS(r[made * m + j] * 0.299f + g[made * m + j] * 0.587f + b8_[made * m + j] * 0.114f, first, last,
               { down(row, z + i * m, m); })
}

C(blur_sobel_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    BLUR_BANDS(x[made * m + j], first - 1, last + 1, {
        down(row, blurred + i % RING * m, m);
        if (i > first || i == n - 1) {
            int64_t at = i - 1;
            if (at >= first && at < last)
                sobel(blurred + clamp(at - 1, n) % RING * m, blurred + at % RING * m, blurred + i % RING * m,
                      z + at * m, m);
        }
        if (i == n - 1)
            sobel(blurred + (i - 1) % RING * m, blurred + i % RING * m, blurred + i % RING * m, z + i * m, m);
    })
}

C(suppress_f32)
{
    IN(f32, x, 0);
    IN(u8, direction, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + clamp(i - 1, n) * m, *b = x + i * m, *c = x + clamp(i + 1, n) * m;
        const u8 *restrict way = direction + i * m;
        f32 *restrict to = z + i * m;
#define LARGEST(l, j, r)                                                                                               \
    f32 p0 = b[r], q0 = b[l], p1 = c[j], q1 = a[j], p2 = c[r], q2 = a[l], p3 = c[l], q3 = a[r], here = b[j];           \
    f32 p = way[j] == 0 ? p0 : way[j] == 1 ? p1 : way[j] == 2 ? p2 : p3;                                               \
    f32 q = way[j] == 0 ? q0 : way[j] == 1 ? q1 : way[j] == 2 ? q2 : q3;                                               \
    to[j] = (here >= p) & (here >= q) ? here : 0;
        SIMD
        for (int64_t j = 1; j < m - 1; j++) {
            LARGEST(j - 1, j, j + 1)
        }
        {LARGEST(0, 0, 1)} {
            LARGEST(m - 2, m - 1, m - 1)
        }
    }
}
