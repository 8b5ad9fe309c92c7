#include "c.h"

struct complex {
    f32 re, im;
};

C(complex_product_f32)
{
    IN(struct complex, x, 0);
    IN(struct complex, y, 1);
    OUT(struct complex, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        z[i].re = x[i].re * y[i].re - x[i].im * y[i].im;
        z[i].im = x[i].re * y[i].im + x[i].im * y[i].re;
    }
}

C(complex_product_tuples_f32)
{
    IN(f32, xr, 0);
    IN(f32, xi, 1);
    IN(f32, yr, 2);
    IN(f32, yi, 3);
    OUT(f32, zr, 0);
    OUT(f32, zi, 1);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        zr[i] = xr[i] * yr[i] - xi[i] * yi[i];
        zi[i] = xr[i] * yi[i] + xi[i] * yr[i];
    }
}

#define NORMALISE(T, root)                                                                                             \
    C(normalise_##T)                                                                                                   \
    {                                                                                                                  \
        struct point {                                                                                                 \
            T x, y, z;                                                                                                 \
        };                                                                                                             \
        IN(struct point, p, 0);                                                                                        \
        OUT(struct point, q, 0);                                                                                       \
        int64_t n = SIZE;                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T factor = 1 / root(p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z);                                  \
            q[i].x = p[i].x * factor;                                                                                  \
            q[i].y = p[i].y * factor;                                                                                  \
            q[i].z = p[i].z * factor;                                                                                  \
        }                                                                                                              \
    }
NORMALISE(f32, sqrtf)
NORMALISE(f64, sqrt)

C(grey_structs_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (x[3 * i] * 77 + x[3 * i + 1] * 150 + x[3 * i + 2] * 29) >> 8;
}

/* All bytes alike. */
C(brighten_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = 3 * SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = MIN(x[i] + 40, 255);
}

C(sum_of_field_f32)
{
    struct item {
        f32 x, y;
        i32 id;
    };
    IN(struct item, x, 0);
    int64_t n = SIZE;
    f32 s = 0;
    PRAGMA(omp parallel for simd reduction(+ : s) schedule(static))
    FOR (i, n)
        s += x[i].y;
    RESULT(f32, 0) = s;
}

C(argmax_of_field_f32)
{
    struct item {
        f32 x;
        i32 id;
    };
    enum { PARTS = 64 };
    IN(struct item, x, 0);
    int64_t n = SIZE;
    f32 most[PARTS];
    PARALLEL_FOR
    FOR (p, PARTS) {
        int64_t first = n * p / PARTS, last = n * (p + 1) / PARTS;
        f32 m = x[first].x;
        PRAGMA(omp simd reduction(max : m))
        for (int64_t i = first; i < last; i++)
            m = x[i].x > m ? x[i].x : m;
        most[p] = m;
    }
    int64_t best = 0;
    FOR (p, PARTS)
        best = most[p] > most[best] ? p : best;
    int64_t at = n * best / PARTS;
    while (x[at].x != most[best])
        at++;
    /* A result: not structs in an array, but one. */
    struct item *z = call->out[0];
    *z = x[at];
}

C(advance_f32)
{
    struct particle {
        f32 x, y, vx, vy;
    };
    IN(struct particle, p, 0);
    OUT(struct particle, q, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        f32 vy = p[i].vy - 0.25f;
        q[i].x = p[i].x + p[i].vx * 0.125f;
        q[i].y = p[i].y + vy * 0.125f;
        q[i].vx = p[i].vx;
        q[i].vy = vy;
    }
}

C(from_arrays_f32)
{
    struct point {
        f32 x, y;
    };
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(struct point, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        z[i].x = x[i] + y[i];
        z[i].y = x[i] - y[i];
    }
}

C(mixed_f64)
{
    struct item {
        f64 a;
        i32 b;
        u8 c;
    };
    IN(struct item, x, 0);
    OUT(f64, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i].a * x[i].b + x[i].c;
}
