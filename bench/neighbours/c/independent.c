#include "c.h"

/* A thread takes whole arrays: what an array is worth is less than a wait of all for each other. */
C(in_sums_f32)
{
    PARALLEL_FOR
    FOR (k, 12) {
        IN(f32, x, k);
        const int64_t n = E(k);
        f32 s = 0;
        PRAGMA(omp simd reduction(+ : s))
        FOR (i, n)
            s += x[i];
        RESULT(f32, k) = s;
    }
}

C(in_moments_f64)
{
    PARALLEL_FOR
    FOR (k, 6) {
        IN(f64, x, k);
        const int64_t n = E(k);
        f64 s = 0, t = 0;
        PRAGMA(omp simd reduction(+ : s, t))
        FOR (i, n) {
            s += x[i];
            t += x[i] * x[i];
        }
        RESULT(f64, 2 * k) = s;
        RESULT(f64, 2 * k + 1) = t;
    }
}

C(in_running_sums_f64)
{
    PARALLEL_FOR
    FOR (k, 6) {
        IN(f64, x, k);
        OUT(f64, z, k);
        const int64_t n = E(k);
        f64 s = 0;
        FOR (i, n)
            z[i] = s += x[i];
    }
}
