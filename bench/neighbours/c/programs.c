/* Parts of larger programs. */
#include "parts.h"

enum { LANES = 64, MOST_THREADS = 256 };

/* --- k-means: points in lanes; sums in a table of each thread --- */

#define SQUARE(a) ((a) * (a))
#define APART_2 T d = SQUARE(x[i] - p[j]) + SQUARE(y[i] - q[j])
#define APART_3 T d = SQUARE(x[i] - p[j]) + SQUARE(y[i] - q[j]) + SQUARE(w[i] - r[j])
/* The nearest centres of points from `first` on: their numbers in `at`, distances in `least`. */
#define NEAREST(I, apart)                                                                                              \
    T least[LANES];                                                                                                    \
    I at[LANES];                                                                                                       \
    int64_t count = MIN(LANES, n - first);                                                                             \
    FOR (l, LANES) {                                                                                                   \
        least[l] = (T)3.4e38f;                                                                                         \
        at[l] = 0;                                                                                                     \
    }                                                                                                                  \
    for (I j = 0; j < m; j++)                                                                                          \
        SIMD                                                                                                           \
    FOR (l, count) {                                                                                                   \
        int64_t i = first + l;                                                                                         \
        apart;                                                                                                         \
        at[l] = d < least[l] ? j : at[l];                                                                              \
        least[l] = d < least[l] ? d : least[l];                                                                        \
    }

#define ROUND(T, I, D, apart)                                                                                          \
    int64_t n = E(0), m = E(1);                                                                                        \
    T *all = calloc((size_t)(m * 4), sizeof *all);                                                                     \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        T *sum = calloc((size_t)(m * 4), sizeof *sum);                                                                 \
        SPLIT_FOR                                                                                                      \
        for (int64_t first = 0; first < n; first += LANES) {                                                           \
            NEAREST(I, apart)                                                                                          \
            FOR (l, count) {                                                                                           \
                T *to = sum + 4 * (int64_t)at[l];                                                                      \
                to[0] += x[first + l];                                                                                 \
                to[1] += y[first + l];                                                                                 \
                to[2] += (D) == 3 ? w[first + l] : 0;                                                                  \
                to[3] += 1;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        CRITICAL                                                                                                       \
        FOR (k, 4 * m)                                                                                                 \
            all[k] += sum[k];                                                                                          \
        free(sum);                                                                                                     \
    }

#define T f32
C(kmeans_round_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, p, 2);
    IN(f32, q, 3);
    OUT(f32, zx, 0);
    OUT(f32, zy, 1);
    const f32 *w = x;
    ROUND(f32, i32, 2, APART_2)
    FOR (j, m) {
        zx[j] = all[4 * j] / all[4 * j + 3];
        zy[j] = all[4 * j + 1] / all[4 * j + 3];
    }
    free(all);
}

C(kmeans_round_3d_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, w, 2);
    IN(f32, p, 3);
    IN(f32, q, 4);
    IN(f32, r, 5);
    OUT(f32, zx, 0);
    OUT(f32, zy, 1);
    OUT(f32, zw, 2);
    ROUND(f32, i32, 3, APART_3)
    FOR (j, m) {
        zx[j] = all[4 * j] / all[4 * j + 3];
        zy[j] = all[4 * j + 1] / all[4 * j + 3];
        zw[j] = all[4 * j + 2] / all[4 * j + 3];
    }
    free(all);
}

C(kmeans_cost_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    IN(f32, p, 2);
    IN(f32, q, 3);
    int64_t n = E(0), m = E(1);
    f32 sum = 0;
    PRAGMA(omp parallel for reduction(+ : sum) schedule(static))
    for (int64_t first = 0; first < n; first += LANES) {
        f32 least[LANES];
        int64_t count = MIN(LANES, n - first);
        FOR (l, LANES)
            least[l] = 3.4e38f;
        FOR (j, m)
            SIMD
        FOR (l, count) {
            int64_t i = first + l;
            APART_2;
            least[l] = d < least[l] ? d : least[l];
        }
        FOR (l, count)
            sum += least[l];
    }
    RESULT(f32, 0) = sum;
}
#undef T

#define T f64
C(kmeans_round_f64)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    IN(f64, p, 2);
    IN(f64, q, 3);
    OUT(f64, zx, 0);
    OUT(f64, zy, 1);
    const f64 *w = x;
    ROUND(f64, i64, 2, APART_2)
    FOR (j, m) {
        zx[j] = all[4 * j] / all[4 * j + 3];
        zy[j] = all[4 * j + 1] / all[4 * j + 3];
    }
    free(all);
}
#undef T

/* --- hulls --- */

enum { BLOCK = 1024 };

/* Extremes of blocks; the index is looked up in those that are the furthest so far. */
C(extremes_f64)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    int64_t n = E(0), best[4] = {0};
    PARALLEL
    {
        int64_t own[4];
        f64 most[4] = {-1e300, -1e300, -1e300, -1e300};
        FOR (d, 4)
            own[d] = -1;
        SPLIT_FOR
        for (int64_t first = 0; first < n; first += BLOCK) {
            int64_t end = MIN(first + BLOCK, n);
            f64 west = 1e300, east = -1e300, low = 1e300, high = -1e300;
            PRAGMA(omp simd reduction(min : west, low) reduction(max : east, high))
            for (int64_t i = first; i < end; i++) {
                f64 s = x[i] + y[i];
                west = MIN(west, x[i]);
                east = MAX(east, x[i]);
                low = MIN(low, s);
                high = MAX(high, s);
            }
            f64 found[4] = {-west, east, -low, high};
            FOR (d, 4)
                if (found[d] > most[d]) {
                    most[d] = found[d];
                    for (int64_t i = end; i-- > first;) {
                        f64 key[4] = {-x[i], x[i], -(x[i] + y[i]), x[i] + y[i]};
                        own[d] = key[d] == most[d] ? i : own[d];
                    }
                }
        }
        CRITICAL
        FOR (d, 4) {
            int64_t b = best[d];
            f64 key[4] = {-x[b], x[b], -(x[b] + y[b]), x[b] + y[b]};
            if (own[d] >= 0 && (most[d] > key[d] || (most[d] == key[d] && own[d] < b)))
                best[d] = own[d];
        }
    }
    FOR (d, 4)
        RESULT(i64, d) = best[d];
}

C(outside_diamond_f64)
{
    IN(f64, x, 0);
    IN(f64, y, 1);
    OUT(f64, zx, 0);
    OUT(f64, zy, 1);
    int64_t n = E(0);
    KEEP(n, fabs(x[at]) + fabs(y[at]) > 1.75, zx[k] = x[at]; zy[k] = y[at])
    KEPT(0) = KEPT(1) = total;
}

C(furthest_f64)
{
    IN(i64, offset, 0);
    IN(f64, x, 1);
    IN(f64, y, 2);
    OUT(f64, zx, 0);
    OUT(f64, zy, 1);
    int64_t segments = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + segments / 64))
    FOR (k, segments) {
        f64 most = x[offset[k]];
        int64_t best = offset[k];
        PRAGMA(omp simd reduction(max : most))
        for (int64_t i = offset[k]; i < offset[k + 1]; i++)
            most = MAX(most, x[i]);
        while (x[best] != most)
            best++;
        zx[k] = most;
        zy[k] = y[best];
    }
}

/* One pass that counts and packs in each thread's own part of the segments, and one that moves the parts together. */
C(above_f64)
{
    IN(i64, offset, 0);
    IN(f64, x, 1);
    IN(f64, limit, 2);
    OUT(f64, z, 0);
    OUT(i64, counts, 1);
    int64_t segments = E(0) - 1, n = E(1), kept_of[MOST_THREADS], total = 0;
    f64 *packed = malloc((size_t)n * sizeof *packed);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = segments * id / count, end = segments * (id + 1) / count, k = offset[begin];
        for (int64_t s = begin; s < end; s++) {
            int64_t before = k;
            for (int64_t i = offset[s]; i < offset[s + 1]; i++) {
                packed[k] = x[i];
                k += x[i] > limit[s];
            }
            counts[s] = k - before;
        }
        kept_of[id] = k - offset[begin];
        PRAGMA(omp barrier)
        int64_t to = 0;
        for (int64_t other = 0; other < id; other++)
            to += kept_of[other];
        memcpy(z + to, packed + offset[begin], (size_t)kept_of[id] * sizeof *z);
        if (id == count - 1)
            total = to + kept_of[id];
    }
    free(packed);
    KEPT(0) = total;
    KEPT(1) = segments;
}

/* --- sparse matrices --- */

#define CSR(name, V, first, step)                                                                                      \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(i32, begin, 0);                                                                                             \
        IN(i32, column, 1);                                                                                            \
        IN(V, value, 2);                                                                                               \
        IN(f32, x, 3);                                                                                                 \
        OUT(f32, z, 0);                                                                                                \
        int64_t n = E(3);                                                                                              \
        (void)value;                                                                                                   \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            f32 s = first;                                                                                             \
            for (i32 k = begin[i]; k < begin[i + 1]; k++)                                                              \
                step;                                                                                                  \
            z[i] = s;                                                                                                  \
        }                                                                                                              \
    }
CSR(csr_largest_f32, f32, -INFINITY, s = MAX(s, value[k] * x[column[k]]))
CSR(csr_of_ones_f32, u8, 0, s += x[column[k]])

/* --- texts --- */

void nb_make_words(const struct nb_call *call);

/* Words of some seven letters, each of which may be there twice or more, on lines of some twelve words. */
void nb_make_words(const struct nb_call *call)
{
    u8 *x = call->in[0];
    uint32_t seed = 1;
    FOR (i, E(0)) {
        seed = seed * 1664525U + 1013904223U;
        uint32_t drawn = seed >> 16;
        x[i] = (u8)(drawn % 96 == 0 ? '\n' : drawn % 8 == 0 ? ' ' : drawn % 3 == 0 && i ? x[i - 1] : 'a' + drawn % 26);
    }
}

C(words_u8)
{
    IN(u8, x, 0);
    int64_t n = E(0), lines = 0, words = n && x[0] > ' ';
    PRAGMA(omp parallel for reduction(+ : lines, words) schedule(static))
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t end = MIN(first + BLOCK, n);
        u16 newlines = 0, begins = 0;
        SIMD
        for (int64_t i = first; i < end; i++)
            newlines = (u16)(newlines + (x[i] == '\n'));
        SIMD
        for (int64_t i = MAX(first, 1); i < end; i++)
            begins = (u16)(begins + ((x[i] > ' ') & (x[i - 1] <= ' ')));
        lines += newlines;
        words += begins;
    }
    RESULT(i64, 0) = lines;
    RESULT(i64, 1) = words;
}

C(run_lengths_u8)
{
    IN(u8, x, 0);
    OUT(u8, own, 0);
    OUT(i64, length, 1);
    int64_t n = E(0), *first = malloc((size_t)(n + 1) * sizeof *first);
    KEEP(n, at == 0 || x[at] != x[at - 1], own[k] = x[at]; first[k] = at)
    first[total] = n;
    PARALLEL_FOR
    FOR (k, total)
        length[k] = first[k + 1] - first[k];
    free(first);
    KEPT(0) = KEPT(1) = total;
}
