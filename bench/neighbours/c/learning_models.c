/* Classes, losses, batches and models of statistics, of the group `learning`. */
#include "learning.h"

/* --- classes and losses --- */

C(le_top_4_mask)
{
    IN(f32, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + i * m;
        f32 most[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        FOR (j, m)
            if (a[j] > most[3]) {
                int k = 3;
                for (; k > 0 && a[j] > most[k - 1]; k--)
                    most[k] = most[k - 1];
                most[k] = a[j];
            }
        f32 least = most[3];
        SIMD
        FOR (j, m)
            z[i * m + j] = a[j] >= least;
    }
}

static inline i32 first_largest(const f32 *x, i32 m)
{
    f32 most = -INFINITY;
    i32 at = m;
    SIMD_MAX(most)
    FOR (j, m)
        most = MAX(most, x[j]);
    PRAGMA(omp simd reduction(min : at))
    for (i32 j = 0; j < m; j++)
        at = MIN(at, x[j] == most ? j : m);
    return at;
}

C(le_top_5_accuracy)
{
    IN(f32, x, 0);
    IN(u8, label, 1);
    int64_t n = E(0), m = E(1), hits = 0;
    SUMS(hits)
    FOR (i, n) {
        f32 own = x[i * m + label[i]];
        i32 above = 0;
        SIMD_SUMS(above)
        FOR (j, m)
            above += x[i * m + j] > own;
        hits += above < 5;
    }
    RESULT(i64, 0) = hits;
}

C(le_beam_best)
{
    enum { BLOCK = 1024 };
    IN(f32, score, 0);
    IN(f32, step, 1);
    int64_t n = E(0), m = E(1), where = 0;
    f32 best = -INFINITY;
    PARALLEL
    {
        f32 own = -INFINITY;
        int64_t at = 0;
        PRAGMA(omp for collapse(2) schedule(static) nowait)
        FOR (i, n)
            for (int64_t b = 0; b < m; b += BLOCK) {
                int64_t width = MIN(BLOCK, m - b), j = 0;
                const f32 *a = step + i * m + b;
                f32 most = -INFINITY, more = score[i];
                SIMD_MAX(most)
                FOR (k, width)
                    most = MAX(most, a[k] + more);
                if (most > own) {
                    while (a[j] + more != most)
                        j++;
                    own = most;
                    at = i * m + b + j;
                }
            }
        CRITICAL
        if (own > best || (own == best && at < where)) {
            best = own;
            where = at;
        }
    }
    RESULT(i64, 0) = where;
    RESULT(f32, 1) = best;
}

/* Blocks are put together in a buffer, without branches. */
C(le_collapsed_labels)
{
    enum { BLOCK = 1024 };
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), of[256];
#define SAYS_MORE(i) ((x[i] != 0) & (x[i] != x[(i)-1]))
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t begin = n * thread / count, end = n * (thread + 1) / count, own = 0, to = 0;
        bool first = begin == 0 && n > 0;
        begin += first;
        SIMD_SUMS(own)
        for (int64_t i = begin; i < end; i++)
            own += SAYS_MORE(i);
        of[thread] = own + (first && x[0] != 0);
        PRAGMA(omp barrier)
        FOR (t, thread)
            to += of[t];
        if (first && x[0] != 0)
            z[to++] = x[0];
        for (int64_t b = begin; b < end; b += BLOCK) {
            int64_t width = MIN(BLOCK, end - b), k = 0;
            u8 kept[BLOCK + 1];
            FOR (i, width) {
                kept[k] = x[b + i];
                k += SAYS_MORE(b + i);
            }
            memcpy(z + to, kept, (size_t)k);
            to += k;
        }
        if (thread == count - 1)
            KEPT(0) = to;
    }
#undef SAYS_MORE
}

/* --- batches --- */

C(le_softmax_of_lengths)
{
    IN(f32, x, 0);
    IN(i32, length, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    DYNAMIC_FOR
    FOR (i, n) {
        softmax(x + i * m, z + i * m, length[i]);
        memset(z + i * m + length[i], 0, (size_t)(m - length[i]) * sizeof *z);
    }
}

C(le_mean_of_lengths)
{
    IN(f32, x, 0);
    IN(i32, length, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), t = E(1), d = E(2);
    DYNAMIC_FOR
    FOR (i, n) {
        f32 s[d], by = 1 / (f32)length[i];
        FOR (j, d)
            s[j] = 0;
        FOR (k, length[i])
            FOR (j, d)
                s[j] += x[(i * t + k) * d + j];
        FOR (j, d)
            z[i * d + j] = s[j] * by;
    }
}

C(le_reversed_sequences)
{
    IN(i32, x, 0);
    IN(i32, length, 1);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const i32 *a = x + i * m + length[i] - 1;
        i32 *restrict to = z + i * m;
        SIMD
        FOR (j, length[i])
            to[j] = a[-j];
        memset(to + length[i], 0, (size_t)(m - length[i]) * sizeof *to);
    }
}

C(le_packed_sequences)
{
    IN(f32, x, 0);
    IN(i32, length, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), total = 0, of[257] = {0};
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num(), to = 0;
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        for (int64_t i = begin; i < end; i++)
            of[id] += length[i];
        PRAGMA(omp barrier)
        FOR (t, id)
            to += of[t];
        for (int64_t i = begin; i < end; i++) {
            f32 *restrict row = z + to;
            SIMD
            FOR (j, length[i])
                row[j] = x[i * m + j];
            to += length[i];
        }
        if (id == count - 1)
            total = to;
    }
    KEPT(0) = total;
}

C(le_ragged_means)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t d = E(2), g = E(3);
    DYNAMIC_FOR
    FOR (i, g) {
        f32 s[d];
        FOR (j, d)
            s[j] = 0;
        for (int64_t k = offset[i]; k < offset[i + 1]; k++)
            FOR (j, d)
                s[j] += x[k * d + j];
        f32 by = 1 / (f32)MAX(offset[i + 1] - offset[i], 1);
        FOR (j, d)
            z[i * d + j] = s[j] * by;
    }
}

/* Blocks are split in buffers, without branches. */
C(le_split_by_hash)
{
    enum { BLOCK = 1024 };
    IN(u32, id, 0);
    IN(f32, x, 1);
    OUT(f32, train, 0);
    OUT(f32, test, 1);
    int64_t n = E(0), of[256];
#define IN_TEST(i) (((id[i] * 2654435769u >> 16) & 255) < 51)
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t begin = n * thread / count, end = n * (thread + 1) / count, own = 0, to = 0;
        SIMD_SUMS(own)
        for (int64_t i = begin; i < end; i++)
            own += IN_TEST(i);
        of[thread] = own;
        PRAGMA(omp barrier)
        FOR (t, thread)
            to += of[t];
        int64_t other = begin - to;
        for (int64_t b = begin; b < end; b += BLOCK) {
            int64_t width = MIN(BLOCK, end - b), k = 0, l = 0;
            f32 yes[BLOCK + 1], no[BLOCK + 1];
            FOR (i, width) {
                bool hit = IN_TEST(b + i);
                yes[k] = no[l] = x[b + i];
                k += hit;
                l += !hit;
            }
            memcpy(test + to, yes, (size_t)k * sizeof *test);
            memcpy(train + other, no, (size_t)l * sizeof *train);
            to += k;
            other += l;
        }
        if (thread == count - 1) {
            KEPT(0) = other;
            KEPT(1) = to;
        }
    }
#undef IN_TEST
}

/* --- models --- */

C(le_responsibilities)
{
    enum { BLOCK = 64 };
    IN(f32, x, 0);
    IN(f32, mean, 1);
    IN(f32, precision, 2);
    IN(f32, weight, 3);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 base[m];
    FOR (k, m)
        base[k] =
            logf(weight[k]) + 0.5f * (logf(precision[3 * k]) + logf(precision[3 * k + 1]) + logf(precision[3 * k + 2]));
    PARALLEL_FOR
    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t width = MIN(BLOCK, n - b);
        f32 l[m][BLOCK], most[BLOCK], sum[BLOCK];
        FOR (i, width) {
            most[i] = -INFINITY;
            sum[i] = 0;
        }
        FOR (k, m)
            SIMD
        FOR (i, width) {
            const f32 *p = x + (b + i) * 3;
            f32 u = p[0] - mean[3 * k], v = p[1] - mean[3 * k + 1], w = p[2] - mean[3 * k + 2];
            f32 d = precision[3 * k] * u * u + precision[3 * k + 1] * v * v + precision[3 * k + 2] * w * w;
            l[k][i] = base[k] - 0.5f * d;
            most[i] = MAX(most[i], l[k][i]);
        }
        FOR (k, m)
            SIMD
        FOR (i, width) {
            l[k][i] = expf(l[k][i] - most[i]);
            sum[i] += l[k][i];
        }
        SIMD
        FOR (i, width)
            sum[i] = 1 / sum[i];
        FOR (i, width)
            FOR (k, m)
                z[(b + i) * m + k] = l[k][i] * sum[i];
    }
}

/* Each thread has some of the features. */
C(le_bayes_counts)
{
    IN(u8, x, 0);
    IN(u8, label, 1);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = m * id / count, end = m * (id + 1) / count;
        FOR (c, 10)
            memset(z + (c * m + begin) * 16, 0, (size_t)(end - begin) * 16 * sizeof *z);
        FOR (i, n) {
            i64 *of = z + label[i] * m * 16;
            for (int64_t j = begin; j < end; j++)
                of[j * 16 + x[i * m + j]]++;
        }
    }
}

C(le_bayes_classes)
{
    IN(u8, x, 0);
    IN(f32, share, 1);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s[10] = {0};
        FOR (j, m) {
            const f32 *a = share + (j * 16 + x[i * m + j]) * 10;
            SIMD
            FOR (c, 10)
                s[c] += a[c];
        }
        z[i] = first_largest(s, 10);
    }
}

enum { ROWS = 64 };

static inline void leaves(const f32 *x, int64_t m, int64_t rows, const i32 *feature, const f32 *threshold, i32 *node)
{
    FOR (i, rows)
        node[i] = 0;
    FOR (level, 6)
        SIMD
    for (i32 i = 0; i < (i32)rows; i++)
        node[i] = 2 * node[i] + 1 + (x[i * (i32)m + feature[node[i]]] > threshold[node[i]]);
}

C(le_tree)
{
    IN(f32, x, 0);
    IN(i32, feature, 1);
    IN(f32, threshold, 2);
    IN(f32, leaf, 3);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), t = E(2);
    PARALLEL_FOR
    for (int64_t b = 0; b < n; b += ROWS) {
        int64_t rows = MIN(ROWS, n - b);
        i32 node[ROWS];
        leaves(x + b * m, m, rows, feature, threshold, node);
        FOR (i, rows)
            z[b + i] = leaf[node[i] - t];
    }
}

C(le_forest)
{
    IN(f32, x, 0);
    IN(i32, feature, 1);
    IN(f32, threshold, 2);
    IN(f32, leaf, 3);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), t = E(3), u = E(4);
    PARALLEL_FOR
    for (int64_t b = 0; b < n; b += ROWS) {
        int64_t rows = MIN(ROWS, n - b);
        f32 s[ROWS] = {0};
        FOR (l, k) {
            i32 node[ROWS];
            leaves(x + b * m, m, rows, feature + l * t, threshold + l * t, node);
            FOR (i, rows)
                s[i] += leaf[l * u + node[i] - t];
        }
        memcpy(z + b, s, (size_t)rows * sizeof *z);
    }
}

/* Each thread has some of the features. */
C(le_gradient_histograms)
{
    IN(u8, bin, 0);
    IN(f32, g, 1);
    IN(f32, h, 2);
    OUT(f32, z, 0);
    OUT(f32, w, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = m * id / count, end = m * (id + 1) / count;
        memset(z + begin * 64, 0, (size_t)(end - begin) * 64 * sizeof *z);
        memset(w + begin * 64, 0, (size_t)(end - begin) * 64 * sizeof *w);
        FOR (i, n)
            for (int64_t j = begin; j < end; j++) {
                z[j * 64 + bin[i * m + j]] += g[i];
                w[j * 64 + bin[i * m + j]] += h[i];
            }
    }
}

C(le_best_splits)
{
    IN(f32, g, 0);
    IN(f32, h, 1);
    OUT(i64, at, 0);
    OUT(f32, best, 1);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 s[m], t[m], p = 0, q = 0;
        FOR (j, m) {
            s[j] = p += g[i * m + j];
            t[j] = q += h[i * m + j];
        }
        f32 all = p * p / (q + 1);
        SIMD
        FOR (j, m) {
            f32 r = p - s[j];
            s[j] = s[j] * s[j] / (t[j] + 1) + r * r / (q - t[j] + 1) - all;
        }
        at[i] = first_largest(s, (i32)m);
        best[i] = s[at[i]];
    }
}
