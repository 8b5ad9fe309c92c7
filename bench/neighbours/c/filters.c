#include "parts.h"

/* s: the sum of what the parts before keep. All have left theirs when all pass a second barrier. */
#define BEFORE_SUMS                                                                                                    \
    sum_of[id] = s;                                                                                                    \
    PRAGMA(omp barrier)                                                                                                \
    s = 0;                                                                                                             \
    for (int64_t other = 0; other < id; other++)                                                                       \
    s += sum_of[other]

#define FILTER(name, X, Z, holds, value)                                                                               \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        OUT(Z, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        KEEP(n, holds, z[k] = value)                                                                                   \
    }
FILTER(keep_positive_f32, f32, f32, x[at] > 0, x[at])
FILTER(keep_positive_f64, f64, f64, x[at] > 0, x[at])
FILTER(keep_positive_i32, i32, i32, x[at] > 0, x[at])
FILTER(keep_positive_i64, i64, i64, x[at] > 0, x[at])
FILTER(keep_positive_i16, i16, i16, x[at] > 0, x[at])
FILTER(keep_positive_i8, i8, i8, x[at] > 0, x[at])
FILTER(keep_few_f32, f32, f32, x[at] < 0.001f, x[at])
FILTER(keep_most_f32, f32, f32, x[at] >= 0.001f, x[at])
FILTER(keep_all_i32, i32, i32, x[at] < 1000, x[at])
FILTER(keep_indices_u8, u8, i64, x[at] == 10, at)
FILTER(keep_then_map_f32, f32, f32, x[at] > 0, x[at] * 3 + 1)

C(keep_matrix_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0) * E(1);
    KEEP(n, x[at] > 0, z[k] = x[at])
}

C(keep_by_tags_f32)
{
    IN(b8, tag, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    KEEP(n, tag[at], z[k] = x[at])
}

C(keep_pairs_f32)
{
    IN(f32, x, 0);
    IN(i32, y, 1);
    OUT(f32, z, 0);
    OUT(i32, w, 1);
    int64_t n = E(0);
    KEEP(n, x[at] > 0, {
        z[k] = x[at];
        w[k] = y[at];
    })
    KEPT(1) = KEPT(0);
}

C(keep_then_sum_f32)
{
    IN(f32, x, 0);
    f32 sum = 0;
    i64 count = 0;
    int64_t n = E(0);
    PRAGMA(omp parallel for simd reduction(+ : sum, count) schedule(static))
    FOR (i, n) {
        sum += x[i] > 0 ? x[i] : 0;
        count += x[i] > 0;
    }
    RESULT(f32, 0) = sum;
    RESULT(i64, 1) = count;
}

C(keep_then_scan_i32)
{
    IN(i32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    i32 sum_of[256];
    KEEP_BEGINNING(n, i32 s = 0, x[at] > 0, s += x[at] > 0 ? x[at] : 0, BEFORE_SUMS, z[k] = s += x[at])
}

C(keep_ratios_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 sum_of[256];
    KEEP_BEGINNING(n, f32 s = 0, x[at] > 0, s += x[at] > 0 ? x[at] : 0, BEFORE_SUMS, {
        z[k] = s / x[at];
        s += x[at];
    })
}

C(keep_and_maximum_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    f32 *most = &RESULT(f32, 1);
    int64_t n = E(0);
    KEEP(n, x[at] > 0, z[k] = x[at])
    f32 greatest = -INFINITY;
    PRAGMA(omp parallel for simd reduction(max : greatest) schedule(static))
    FOR (i, n)
        greatest = MAX(greatest, x[i]);
    *most = greatest;
}

C(keep_two_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = E(0);
    {
        KEEP(n, x[at] < 0, w[k] = x[at])
        KEPT(1) = KEPT(0);
    }
    {
        KEEP(n, x[at] > 0, z[k] = x[at])
    }
}

C(keep_of_running_sum_i32)
{
    IN(i32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    i32 *sum = malloc((size_t)n * sizeof *sum), s = 0; /* one thread adds up, all filter */
    FOR (i, n)
        sum[i] = s += x[i];
    KEEP(n, sum[at] > 0, z[k] = x[at])
    free(sum);
}
