/* Linear models, ranks, words and distances, of the group `learning`, and what is put into inputs. */
#include "learning.h"

/* --- inputs --- */

void nb_make_learning_labels(const struct nb_call *call);
void nb_make_learning_runs(const struct nb_call *call);
void nb_make_learning_lengths(const struct nb_call *call);
void nb_make_learning_offsets(const struct nb_call *call);
void nb_make_learning_documents(const struct nb_call *call);
void nb_make_learning_values(const struct nb_call *call);
void nb_make_learning_bins(const struct nb_call *call);
void nb_make_learning_tree(const struct nb_call *call);
void nb_make_learning_items(const struct nb_call *call);

static uint64_t mixed_bits(int64_t i)
{
    uint64_t h = (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15);
    return (h ^ h >> 29) * UINT64_C(0xBF58476D1CE4E5B9) >> 32;
}

#define BELOW(T, input, n, below)                                                                                      \
    FOR (i, n)                                                                                                         \
        ((T *)call->in[input])[i] = (T)(mixed_bits(i + 7 * (input)) % (uint64_t)(below));

/* Labels of n rows of m columns. */
void nb_make_learning_labels(const struct nb_call *call)
{
    BELOW(u8, 1, E(0), E(1))
}

/* Runs of some five equal labels, of which a third are blanks. */
void nb_make_learning_runs(const struct nb_call *call)
{
    u8 *x = call->in[0], last = 0;
    FOR (i, E(0)) {
        uint64_t h = mixed_bits(i);
        if (h % 5 == 0)
            last = h / 5 % 3 == 0 ? 0 : (u8)(1 + h / 15 % 40);
        x[i] = last;
    }
}

/* From 1 to the extent of rows. */
void nb_make_learning_lengths(const struct nb_call *call)
{
    i32 *length = call->in[1];
    FOR (i, E(0))
        length[i] = 1 + (i32)(mixed_bits(i) % (uint64_t)E(1));
}

/* Ascending, from 0 to n, at random; some parts are empty. */
static void put_offsets(i64 *offset, int64_t count, int64_t n)
{
    int64_t parts = count - 1;
    FOR (i, count) {
        int64_t at = n * i / parts + (int64_t)(mixed_bits(i) % (uint64_t)(n / parts)) - n / parts / 2;
        offset[i] = i == 0 ? 0 : i == parts ? n : MAX(at, offset[i - 1]);
    }
}

void nb_make_learning_offsets(const struct nb_call *call)
{
    put_offsets(call->in[0], E(0), E(1));
}

/* All words occur. */
void nb_make_learning_documents(const struct nb_call *call)
{
    put_offsets(call->in[1], E(1), E(2));
    FOR (i, E(0))
        ((u16 *)call->in[2])[i] = (u16)i;
}

void nb_make_learning_values(const struct nb_call *call)
{
    BELOW(u8, 0, E(0) * E(1), 16)
    BELOW(u8, 1, E(0), 10)
}

void nb_make_learning_bins(const struct nb_call *call)
{
    BELOW(u8, 0, E(0) * E(1), 64)
}

/* Features of the nodes of a tree, or of several. */
void nb_make_learning_tree(const struct nb_call *call)
{
    int64_t nodes = E(4) ? E(2) * E(3) : E(2);
    BELOW(i32, 1, nodes, E(1))
}

void nb_make_learning_items(const struct nb_call *call){BELOW(i32, 2, E(1), E(2))}

/* --- linear models --- */

C(le_descent)
{
    IN(f32, x, 0);
    IN(u8, truth, 1);
    OUT(f32, w, 0);
    int64_t n = E(0), m = E(1);
    f32 *slope = zeros(m);
    memset(w, 0, (size_t)m * sizeof *w);
    PARALLEL
    {
        f32 *restrict own = zeros(m);
        FOR (round, 20) {
            PRAGMA(omp for schedule(static) nowait)
            FOR (i, n) {
                const f32 *a = x + i * m;
                f32 s = 0;
                SIMD_SUMS(s)
                FOR (j, m)
                    s += a[j] * w[j];
                s = sigmoid(s) - (f32)truth[i];
                SIMD
                FOR (j, m)
                    own[j] += s * a[j];
            }
            ADD_UP(own, slope, m)
            PRAGMA(omp single)
            FOR (j, m) {
                w[j] -= 0.5f / (f32)n * slope[j];
                slope[j] = 0;
            }
            FOR (j, m)
                own[j] = 0;
        }
        free(own);
    }
    free(slope);
}

static inline u32 hashed(u32 h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

C(le_resampled_means)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), r = E(1);
    PARALLEL_FOR
    FOR (i, r) {
        f32 s = 0;
        u32 from = (u32)(i * n);
        SIMD_SUMS(s)
        for (u32 j = 0; j < (u32)n; j++)
            s += x[(i32)((u64)hashed(from + j) * (u64)n >> 32)];
        z[i] = s / (f32)n;
    }
}

C(le_signatures)
{
    IN(f32, x, 0);
    IN(f32, plane, 1);
    OUT(u32, z, 0);
    int64_t n = E(0), d = E(1);
    PARALLEL_FOR
    for (int64_t i = 0; i < n; i += 4) {
        f32 s[4][WIDTH];
        int64_t rows = MIN(4, n - i);
        four_rows(x + i * d, d, 1, rows, plane, 32, d, 32, s);
        FOR (q, rows) {
            u32 bits = 0;
            FOR (j, 32)
                bits |= (u32)(s[q][j] > 0) << j;
            z[i + q] = bits;
        }
    }
}

C(le_hashed_features)
{
    IN(u32, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i32 *to = z + i * 64;
        memset(to, 0, 64 * sizeof *to);
        FOR (j, m)
            to[hashed(x[i * m + j]) & 63]++;
    }
}

C(le_places_of_experts)
{
    IN(u8, expert, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    i32 of[256][8];
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        i32 own[8] = {0};
        for (int64_t i = begin; i < end; i++)
            own[expert[i] & 7]++;
        memcpy(of[id], own, sizeof own);
        PRAGMA(omp barrier)
        memset(own, 0, sizeof own);
        FOR (t, id)
            FOR (e, 8)
                own[e] += of[t][e];
        for (int64_t i = begin; i < end; i++)
            z[i] = own[expert[i] & 7]++;
    }
}

/* Blocks of rows are turned; half of the products are computed, in eight lanes. */
C(le_normal_equations)
{
    enum { BLOCK = 64, LANES = 8 };
    IN(f64, x, 0);
    IN(f64, y, 1);
    IN(f64, weight, 2);
    OUT(f64, z, 0);
    OUT(f64, right, 1);
    int64_t n = E(0), m = E(1), l = m + 1;
    memset(z, 0, (size_t)(m * m) * sizeof *z);
    memset(right, 0, (size_t)m * sizeof *right);
    PARALLEL
    {
        f64(*restrict c)[BLOCK] = calloc((size_t)l, sizeof *c);
        f64(*restrict s)[LANES] = calloc((size_t)(m * l), sizeof *s);
        SPLIT_FOR
        for (int64_t b = 0; b < n; b += BLOCK) {
            int64_t rows = MIN(BLOCK, n - b);
            f64 w[BLOCK] = {0};
            FOR (i, rows) {
                FOR (j, m)
                    c[j][i] = x[(b + i) * m + j];
                c[m][i] = y[b + i];
                w[i] = weight[b + i];
            }
            FOR (i, m) {
                f64 a[BLOCK];
                FOR (k, BLOCK)
                    a[k] = c[i][k] * w[k];
                for (int64_t j = i; j < l; j++) {
                    f64 t[LANES] = {0};
                    FOR (k, BLOCK / LANES)
                        FOR (q, LANES)
                            t[q] += a[k * LANES + q] * c[j][k * LANES + q];
                    FOR (q, LANES)
                        s[i * l + j][q] += t[q];
                }
            }
        }
        CRITICAL
        FOR (i, m)
            for (int64_t j = i; j < l; j++) {
                f64 t = 0;
                FOR (q, LANES)
                    t += s[i * l + j][q];
                if (j < m)
                    z[i * m + j] += t;
                else
                    right[i] += t;
            }
        free(c);
        free(s);
    }
    FOR (i, m) {
        FOR (j, i)
            z[i * m + j] = z[j * m + i];
        z[i * m + i] += 0.5;
    }
}

C(le_principal_direction)
{
    IN(f32, x, 0);
    IN(f32, v, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *mean = zeros(m), all = 0, length = 0;
    memset(z, 0, (size_t)m * sizeof *z);
    PARALLEL
    {
        f32 *restrict own = zeros(m), sum = 0, off = 0;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] += x[i * m + j];
        ADD_UP(own, mean, m)
        SIMD_SUMS(off)
        FOR (j, m) {
            off += mean[j] / (f32)n * v[j];
            own[j] = 0;
        }
        SPLIT_FOR
        FOR (i, n) {
            const f32 *a = x + i * m;
            f32 s = 0;
            SIMD_SUMS(s)
            FOR (j, m)
                s += a[j] * v[j];
            s -= off;
            sum += s;
            SIMD
            FOR (j, m)
                own[j] += s * a[j];
        }
        CRITICAL
        all += sum;
        ADD_UP(own, z, m)
        free(own);
    }
    FOR (j, m) {
        z[j] -= mean[j] / (f32)n * all;
        length += z[j] * z[j];
    }
    FOR (j, m)
        z[j] /= sqrtf(length);
    free(mean);
}

/* --- ranks --- */

/* Sorts by bits 1 to 33, eleven a turn. */
static void sort_keys(u64 *restrict x, u64 *restrict y, int64_t n)
{
    enum { BINS = 2048 };
    static int64_t count[256][BINS];
    u64 *restrict from = x, *restrict to = y;
    PRAGMA(omp parallel num_threads(n < 50000 ? 1 : omp_get_max_threads()))
    {
        int64_t all = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / all, end = n * (id + 1) / all, *own = count[id];
        const u64 *a = from;
        u64 *b = to;
        for (int shift = 1; shift < 33; shift += 11) {
            memset(own, 0, sizeof count[0]);
            for (int64_t i = begin; i < end; i++)
                own[a[i] >> shift & (BINS - 1)]++;
            PRAGMA(omp barrier)
            PRAGMA(omp single)
            {
                int64_t sum = 0;
                FOR (k, BINS)
                    FOR (t, all) {
                        int64_t here = count[t][k];
                        count[t][k] = sum;
                        sum += here;
                    }
            }
            for (int64_t i = begin; i < end; i++)
                b[own[a[i] >> shift & (BINS - 1)]++] = a[i];
            PRAGMA(omp barrier)
            u64 *other = (u64 *)a;
            a = b;
            b = other;
        }
    }
}

C(le_area_under_curve)
{
    IN(u32, score, 0);
    IN(u8, truth, 1);
    int64_t n = E(0), hits = 0;
    static u64 *x, *y;
    static int64_t size;
    if (size < n) {
        free(x);
        free(y);
        x = malloc((size_t)n * sizeof *x);
        y = malloc((size_t)n * sizeof *y);
        size = n;
    }
    PARALLEL_FOR
    FOR (i, n) {
        u32 bits = score[i], ascending = bits ^ (bits >> 31 ? UINT32_MAX : (u32)1 << 31);
        x[i] = (u64)(u32)~ascending << 1 | truth[i];
    }
    sort_keys(x, y, n);
    int64_t pairs = 0;
    FOR (i, n) {
        hits += (int64_t)(y[i] & 1);
        pairs += y[i] & 1 ? 0 : hits;
    }
    RESULT(f64, 0) = (f64)pairs / (f64)(hits * (n - hits));
}

/* The four largest of 15 are kept in order, for many windows at once. */
C(le_moving_quantile)
{
    enum { BLOCK = 128 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    for (int64_t b = 0; b < n; b += BLOCK) {
        int64_t width = MIN(BLOCK, n - b);
        SIMD
        FOR (i, width) {
            f32 p = -INFINITY, q = p, r = p, s = p;
            FOR (k, 15) {
                f32 v = x[b + i + k], w;
                w = MIN(p, v), p = MAX(p, v), v = w;
                w = MIN(q, v), q = MAX(q, v), v = w;
                w = MIN(r, v), r = MAX(r, v), v = w;
                s = MAX(s, v);
            }
            z[b + i] = s;
        }
    }
}

/* --- keys and words --- */

struct group {
    f32 sum, count;
};

C(le_means_of_others)
{
    IN(u16, key, 1);
    IN(f32, y, 2);
    OUT(f32, z, 0);
    int64_t k = E(0), n = E(1);
    struct group *all = calloc((size_t)k, sizeof *all);
    PARALLEL
    {
        struct group *own = calloc((size_t)k, sizeof *own);
        SPLIT_FOR
        FOR (i, n) {
            own[key[i]].sum += y[i];
            own[key[i]].count++;
        }
        CRITICAL
        FOR (j, k) {
            all[j].sum += own[j].sum;
            all[j].count += own[j].count;
        }
        PRAGMA(omp barrier)
        SPLIT_FOR
        FOR (i, n)
            z[i] = (all[key[i]].sum - y[i]) / MAX(all[key[i]].count - 1, 1);
        free(own);
    }
    free(all);
}

C(le_bags_of_words)
{
    IN(i64, offset, 1);
    IN(u16, word, 2);
    OUT(i32, z, 0);
    int64_t v = E(0), g = E(3);
    PARALLEL_FOR
    FOR (i, g) {
        i32 *to = z + i * v;
        memset(to, 0, (size_t)v * sizeof *to);
        for (int64_t k = offset[i]; k < offset[i + 1]; k++)
            to[word[k]]++;
    }
}

C(le_weights_of_words)
{
    IN(i64, offset, 1);
    IN(u16, word, 2);
    IN(f32, count, 3);
    OUT(f32, z, 0);
    int64_t v = E(0), g = E(1) - 1, n = E(2);
    f32 *weight = zeros(v);
    PARALLEL
    {
        f32 *own = zeros(v);
        SPLIT_FOR
        FOR (i, n)
            own[word[i]]++;
        ADD_UP(own, weight, v)
        SPLIT_FOR
        FOR (j, v)
            weight[j] = logf((f32)g / weight[j]);
        SPLIT_FOR
        FOR (i, g) {
            f32 s = 0;
            SIMD_SUMS(s)
            for (int64_t k = offset[i]; k < offset[i + 1]; k++)
                s += count[k];
            s = 1 / s;
            SIMD
            for (int64_t k = offset[i]; k < offset[i + 1]; k++)
                z[k] = count[k] * s * weight[word[k]];
        }
        free(own);
    }
    free(weight);
}

/* --- distances --- */

C(le_votes_of_5)
{
    IN(f32, known, 0);
    IN(u8, label, 1);
    IN(f32, x, 2);
    OUT(i64, z, 0);
    int64_t l = E(0), n = E(1);
    f32 *t = turned(known, l, 3);
    PARALLEL_FOR
    FOR (i, n) {
        f32 d[l], best[5] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};
        u8 of[5] = {0};
        i32 votes[4] = {0};
        int64_t most = 0;
        SIMD
        FOR (k, l) {
            f32 p = x[3 * i] - t[k], q = x[3 * i + 1] - t[l + k], r = x[3 * i + 2] - t[2 * l + k];
            d[k] = p * p + q * q + r * r;
        }
        FOR (k, l)
            if (d[k] < best[4]) {
                int j = 4;
                for (; j > 0 && d[k] < best[j - 1]; j--) {
                    best[j] = best[j - 1];
                    of[j] = of[j - 1];
                }
                best[j] = d[k];
                of[j] = label[k] & 3;
            }
        FOR (k, 5)
            votes[of[k]]++;
        FOR (c, 4)
            most = votes[c] > votes[most] ? c : most;
        z[i] = most;
    }
    free(t);
}

C(le_factors_step)
{
    IN(i32, user, 1);
    IN(i32, item, 2);
    IN(f32, rating, 3);
    IN(f32, users, 4);
    IN(f32, items, 5);
    OUT(f32, error, 0);
    OUT(f32, z, 1);
    int64_t u = E(0), n = E(1);
    memcpy(z, users, (size_t)(8 * u) * sizeof *z);
    PARALLEL
    {
        f32 *restrict own = zeros(8 * u);
        SPLIT_FOR
        FOR (i, n) {
            const f32 *p = users + user[i] * 8, *q = items + item[i] * 8;
            f32 *restrict to = own + user[i] * 8, s = 0;
            SIMD_SUMS(s)
            FOR (c, 8)
                s += p[c] * q[c];
            error[i] = rating[i] - s;
            s = 0.125f * error[i];
            SIMD
            FOR (c, 8)
                to[c] += s * q[c];
        }
        ADD_UP(own, z, 8 * u)
        free(own);
    }
}
