#include "c.h"

#include <omp.h>

void nb_make_power_of_two(const struct nb_call *call);
void nb_make_links(const struct nb_call *call);
void nb_make_dominant(const struct nb_call *call);

/* Extents are powers of two; there is nothing to change. */
void nb_make_power_of_two(const struct nb_call *call)
{
    (void)call;
}

/* Rows of a graph: offsets, and pages that link there; the ranks are small. */
void nb_make_links(const struct nb_call *call)
{
    int64_t *offset = call->in[0], rows = E(0) - 1;
    int32_t *from = call->in[1];
    float *rank = call->in[2];
    FOR (r, E(0))
        offset[r] = E(1) * r / rows;
    FOR (i, E(1))
        from[i] = (int32_t)(((uint64_t)i * UINT64_C(0x9E3779B97F4A7C15) >> 32) % (uint64_t)E(2));
    FOR (i, E(2))
        rank[i] = 0.35f;
}

/* Symmetric, and the diagonal greater than the rest of its row. */
void nb_make_dominant(const struct nb_call *call)
{
    float *a = call->in[0];
    int64_t n = E(0);
    FOR (i, n)
        FOR (j, i)
            a[i * n + j] = a[j * n + i];
    FOR (i, n)
        a[i * n + i] = (float)n;
}

/* --- learning --- */

C(layer_norm_f32)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    IN(f32, b, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 sum = 0, squares = 0;
        FOR (j, m)
            sum += x[i * m + j];
        f32 mean = sum / (f32)m;
        FOR (j, m)
            squares += (x[i * m + j] - mean) * (x[i * m + j] - mean);
        f32 scale = 1 / sqrtf(squares / (f32)m + 1e-5f);
        FOR (j, m)
            z[i * m + j] = (x[i * m + j] - mean) * scale * w[j] + b[j];
    }
}

C(cross_entropy_f32)
{
    IN(f32, x, 0);
    IN(i64, target, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 most = -INFINITY, sum = 0;
        FOR (j, m)
            most = MAX(most, x[i * m + j]);
        FOR (j, m)
            sum += expf(x[i * m + j] - most);
        z[i] = logf(sum) + most - x[i * m + target[i]];
    }
}

C(attention_f32)
{
    enum { ROWS = 4 };
    IN(f32, q, 0);
    IN(f32, k, 1);
    IN(f32, v, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), d = E(1);
    f32 *t = malloc((size_t)(n * d) * sizeof *t); /* k, turned */
    PARALLEL_FOR
    FOR (c, d)
        FOR (j, n)
            t[c * n + j] = k[j * d + c];
    PARALLEL
    {
        f32 *score = malloc((size_t)(ROWS * n) * sizeof *score);
        SPLIT_FOR
        for (int64_t i = 0; i < n; i += ROWS) {
            int64_t rows = MIN(ROWS, n - i);
            memset(score, 0, (size_t)(ROWS * n) * sizeof *score);
            if (rows == ROWS)
                FOR (c, d) {
                    f32 a = q[i * d + c], b = q[(i + 1) * d + c], e = q[(i + 2) * d + c], f = q[(i + 3) * d + c];
                    FOR (j, n) {
                        f32 y = t[c * n + j];
                        score[j] += a * y;
                        score[n + j] += b * y;
                        score[2 * n + j] += e * y;
                        score[3 * n + j] += f * y;
                    }
                }
            else
                FOR (r, rows)
                    FOR (c, d)
                        FOR (j, n)
                            score[r * n + j] += q[(i + r) * d + c] * t[c * n + j];
            FOR (r, rows) {
                f32 *s = score + r * n, most = -INFINITY, sum = 0;
                FOR (j, n)
                    most = MAX(most, s[j]);
                FOR (j, n)
                    sum += s[j] = expf((s[j] - most) * 0.125f);
                f32 *to = z + (i + r) * d;
                memset(to, 0, (size_t)d * sizeof *to);
                FOR (j, n)
                    FOR (c, d)
                        to[c] += s[j] * v[j * d + c];
                FOR (c, d)
                    to[c] /= sum;
            }
        }
        free(score);
    }
    free(t);
}

C(one_hot_f32)
{
    IN(i64, class, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), k = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, k)
            z[i * k + j] = class[i] == j;
}

C(convolve_channels_f32)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t channels = E(0), h = E(1), width = E(2), kernels = E(3), rows = E(4), columns = E(5);
    PARALLEL_FOR_2
    FOR (k, kernels)
        FOR (y, rows) {
            f32 *to = z + (k * rows + y) * columns;
            FOR (j, columns)
                to[j] = 0;
            FOR (c, channels)
                FOR (dy, 3) {
                    const f32 *from = x + (c * h + y + dy) * width, *a = w + ((k * channels + c) * 3 + dy) * 3;
                    FOR (j, columns)
                        to[j] += a[0] * from[j] + a[1] * from[j + 1] + a[2] * from[j + 2];
                }
        }
}

C(pooled_places_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    OUT(i64, place, 1);
    int64_t m = E(1), h = E(2), w = E(3);
    PARALLEL_FOR
    FOR (i, h)
        FOR (j, w) {
            const f32 *at = x + 2 * i * m + 2 * j;
            f32 best = at[0];
            int64_t which = 0;
            which = at[1] > best ? 1 : which;
            best = MAX(best, at[1]);
            which = at[m] > best ? 2 : which;
            best = MAX(best, at[m]);
            which = at[m + 1] > best ? 3 : which;
            best = MAX(best, at[m + 1]);
            z[i * w + j] = best;
            place[i * w + j] = which;
        }
}

/* --- numerics --- */

C(fft_f32)
{
    IN(f32, re, 0);
    IN(f32, im, 1);
    OUT(f32, zr, 0);
    OUT(f32, zi, 1);
    int64_t n = E(0);
    f32 *room = malloc((size_t)n * 2 * sizeof *room), *factor = malloc((size_t)n * sizeof *factor);
    int stages = 63 - __builtin_clzll((unsigned long long)n);
    f32 *to_r = stages % 2 ? zr : room, *to_i = stages % 2 ? zi : room + n;
    const f32 *from_r = re, *from_i = im;
    for (int64_t half = 1; half < n; half *= 2) {
        PARALLEL_FOR
        FOR (k, half) {
            factor[2 * k] = cosf((f32)-M_PI * (f32)k / (f32)half);
            factor[2 * k + 1] = sinf((f32)-M_PI * (f32)k / (f32)half);
        }
        int64_t blocks = n / (2 * half);
        if (half < 64) {
            PARALLEL_FOR
            FOR (b, blocks)
                FOR (k, half) {
                    f32 c = factor[2 * k], s = factor[2 * k + 1];
                    f32 yr = from_r[b * half + k + n / 2], yi = from_i[b * half + k + n / 2];
                    f32 tr = yr * c - yi * s, ti = yr * s + yi * c;
                    f32 xr = from_r[b * half + k], xi = from_i[b * half + k];
                    to_r[2 * b * half + k] = xr + tr;
                    to_i[2 * b * half + k] = xi + ti;
                    to_r[2 * b * half + half + k] = xr - tr;
                    to_i[2 * b * half + half + k] = xi - ti;
                }
        } else {
            FOR (b, blocks) {
                PARALLEL_FOR
                FOR (k, half) {
                    f32 c = factor[2 * k], s = factor[2 * k + 1];
                    f32 yr = from_r[b * half + k + n / 2], yi = from_i[b * half + k + n / 2];
                    f32 tr = yr * c - yi * s, ti = yr * s + yi * c;
                    f32 xr = from_r[b * half + k], xi = from_i[b * half + k];
                    to_r[2 * b * half + k] = xr + tr;
                    to_i[2 * b * half + k] = xi + ti;
                    to_r[2 * b * half + half + k] = xr - tr;
                    to_i[2 * b * half + half + k] = xi - ti;
                }
            }
        }
        from_r = to_r;
        from_i = to_i;
        to_r = to_r == zr ? room : zr;
        to_i = to_i == zi ? room + n : zi;
    }
    free(room);
    free(factor);
}

C(page_rank_f32)
{
    IN(i64, offset, 0);
    IN(i32, from, 1);
    IN(f32, first, 2);
    OUT(f32, z, 0);
    int64_t pages = E(2);
    f32 *room = malloc((size_t)pages * sizeof *room), *now = room, *next = z;
    FOR (i, pages)
        now[i] = first[i] * first[i];
    FOR (round, 10) {
        PARALLEL_FOR
        FOR (i, pages) {
            f32 sum = 0;
            for (int64_t k = offset[i]; k < offset[i + 1]; k++)
                sum += now[from[k]];
            next[i] = 0.15f + 0.85f * sum;
        }
        f32 *other = now;
        now = next;
        next = other;
    }
    if (now != z)
        memcpy(z, now, (size_t)pages * sizeof *z);
    free(room);
}

C(wave_f32)
{
    IN(f32, first, 0);
    IN(f32, old, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), width = m + 2;
    size_t bytes = (size_t)((n + 2) * width) * sizeof(f32);
    f32 *now = calloc(1, bytes), *before = calloc(1, bytes);
    FOR (i, n) {
        memcpy(now + (i + 1) * width + 1, first + i * m, (size_t)m * sizeof(f32));
        memcpy(before + (i + 1) * width + 1, old + i * m, (size_t)m * sizeof(f32));
    }
    FOR (round, 10) {
        PARALLEL_FOR
        FOR (i, n) {
            const f32 *x = now + (i + 1) * width + 1;
            f32 *y = before + (i + 1) * width + 1;
            FOR (j, m)
                y[j] = 2 * x[j] - y[j] + 0.2f * (x[j - width] + x[j + width] + x[j - 1] + x[j + 1] - 4 * x[j]);
        }
        f32 *other = now;
        now = before;
        before = other;
    }
    FOR (i, n)
        memcpy(z + i * m, now + (i + 1) * width + 1, (size_t)m * sizeof(f32));
    free(now);
    free(before);
}

C(heat_3d_f32)
{
    IN(f32, first, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), l = E(2);
    f32 *room = malloc((size_t)(n * m * l) * sizeof *room), *to = room;
    const f32 *x = first;
    FOR (round, 10) {
        to = round % 2 ? z : room;
        PARALLEL_FOR_2
        FOR (i, n)
            FOR (j, m) {
                const f32 *row = x + (i * m + j) * l, *up = x + (MAX(i - 1, 0) * m + j) * l;
                const f32 *down = x + (MIN(i + 1, n - 1) * m + j) * l, *left = x + (i * m + MAX(j - 1, 0)) * l;
                const f32 *right = x + (i * m + MIN(j + 1, m - 1)) * l;
                f32 *y = to + (i * m + j) * l;
#define AT(k, a, b) y[k] = 0.4f * row[k] + 0.1f * (up[k] + down[k] + left[k] + right[k] + row[a] + row[b])
                AT(0, 0, 1);
                for (int64_t k = 1; k < l - 1; k++)
                    AT(k, k - 1, k + 1);
                AT(l - 1, l - 2, l - 1);
#undef AT
            }
        x = to;
    }
    free(room);
}

C(monte_carlo_pi)
{
    IN(u32, seed, 0);
    int64_t n = E(0), hits = 0;
    PRAGMA(omp parallel for simd reduction(+ : hits))
    FOR (i, n) {
        u32 a = seed[i] * 1664525U + 1013904223U, b = a * 1664525U + 1013904223U;
        f32 x = (f32)(int32_t)(a >> 8) * 0x1p-24f, y = (f32)(int32_t)(b >> 8) * 0x1p-24f;
        hits += x * x + y * y < 1;
    }
    RESULT(int64_t, 0) = hits;
}

C(best_path_f32)
{
    IN(f32, emit, 0);
    IN(f32, move, 1);
    OUT(f32, z, 0);
    int64_t steps = E(0), m = E(1);
    f32 *room = malloc((size_t)m * sizeof *room), *now = room, *next = z;
    FOR (i, m)
        now[i] = 0;
    FOR (t, steps) {
        FOR (i, m) {
            f32 most = -INFINITY;
            FOR (j, m)
                most = MAX(most, now[j] + move[i * m + j]);
            next[i] = most + emit[t * m + i];
        }
        f32 *other = now;
        now = next;
        next = other;
    }
    if (now != z)
        memcpy(z, now, (size_t)m * sizeof *z);
    free(room);
}

C(gradients_f32)
{
    IN(f32, a, 0);
    IN(f32, b, 1);
    OUT(f32, x, 0);
    int64_t n = E(0);
    f32 *r = malloc((size_t)(3 * n) * sizeof *r), *p = r + n, *ap = r + 2 * n, rr = 0;
    FOR (i, n) {
        x[i] = 0;
        r[i] = p[i] = b[i];
        rr += b[i] * b[i];
    }
    FOR (round, 10) {
        PARALLEL_FOR
        FOR (i, n) {
            f32 sum = 0;
            FOR (j, n)
                sum += a[i * n + j] * p[j];
            ap[i] = sum;
        }
        f32 pap = 0, next = 0;
        FOR (i, n)
            pap += p[i] * ap[i];
        f32 alpha = rr / pap;
        FOR (i, n) {
            x[i] += alpha * p[i];
            r[i] -= alpha * ap[i];
            next += r[i] * r[i];
        }
        f32 beta = next / rr;
        FOR (i, n)
            p[i] = r[i] + beta * p[i];
        rr = next;
    }
    free(r);
}

C(kronecker_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), p = E(2), q = E(3);
    PARALLEL_FOR_2
    FOR (i, n)
        FOR (k, p)
            FOR (j, m)
                FOR (l, q)
                    z[(i * p + k) * m * q + j * q + l] = x[i * m + j] * y[k * q + l];
}

C(path_length_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = E(0);
    f32 sum = 0;
    PRAGMA(omp parallel for simd reduction(+ : sum))
    FOR (i, n - 1)
        sum += sqrtf((x[i + 1] - x[i]) * (x[i + 1] - x[i]) + (y[i + 1] - y[i]) * (y[i + 1] - y[i]));
    RESULT(f32, 0) = sum;
}

/* --- images --- */

C(turn_image_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m) {
            f32 y0 = (f32)i - (f32)n * 0.5f, x0 = (f32)j - (f32)m * 0.5f;
            f32 y = x0 * 0.5f + y0 * 0.8660254f + (f32)n * 0.5f, at = x0 * 0.8660254f - y0 * 0.5f + (f32)m * 0.5f;
            f32 fy = floorf(y), fx = floorf(at), wy = y - fy, wx = at - fx;
            int32_t k = (int32_t)fy, l = (int32_t)fx;
            f32 value = 0;
            if (k >= 0 && k < n - 1 && l >= 0 && l < m - 1) {
                const f32 *from = x + k * m + l;
                f32 above = from[0] * (1 - wx) + from[1] * wx, below = from[m] * (1 - wx) + from[m + 1] * wx;
                value = above * (1 - wy) + below * wy;
            }
            z[i * m + j] = value;
        }
}

/* --- statistics --- */

struct pair {
    u32 key, value;
};

/* Stable, by bytes; the room has space for as many. */
static void sort_pairs(struct pair *p, struct pair *room, int64_t n)
{
    for (int shift = 0; shift < 32; shift += 8) {
        int64_t at[256] = {0}, sum = 0;
        FOR (i, n)
            at[p[i].key >> shift & 255]++;
        FOR (b, 256) {
            int64_t many = at[b];
            at[b] = sum;
            sum += many;
        }
        FOR (i, n)
            room[at[p[i].key >> shift & 255]++] = p[i];
        struct pair *other = p;
        p = room;
        room = other;
    }
}

static u32 bits_of(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits ^ (bits >> 31 ? 0xffffffffU : 0x80000000U);
}

static f32 of_bits(u32 bits)
{
    f32 x;
    bits ^= bits >> 31 ? 0x80000000U : 0xffffffffU;
    memcpy(&x, &bits, sizeof x);
    return x;
}

struct entry {
    u32 key;
    f32 sum;
    bool used;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* A table with open addressing, which grows as it fills; then its keys are sorted. */
C(group_sums_f32)
{
    IN(u32, key, 0);
    IN(f32, value, 1);
    OUT(u32, own, 0);
    OUT(f32, z, 1);
    int64_t n = E(0), k = 0, room = 1024;
    struct entry *table = calloc((size_t)room, sizeof *table);
    FOR (i, n) {
        int64_t at = (int64_t)(key[i] * 2654435769U) & (room - 1);
        while (table[at].used && table[at].key != key[i])
            at = (at + 1) & (room - 1);
        if (!table[at].used) {
            table[at] = (struct entry){key[i], 0, true};
            if (2 * ++k > room) {
                struct entry *larger = calloc((size_t)room * 2, sizeof *larger);
                FOR (e, room)
                    if (table[e].used) {
                        int64_t to = (int64_t)(table[e].key * 2654435769U) & (2 * room - 1);
                        while (larger[to].used)
                            to = (to + 1) & (2 * room - 1);
                        larger[to] = table[e];
                    }
                free(table);
                table = larger;
                room *= 2;
                at = (int64_t)(key[i] * 2654435769U) & (room - 1);
                while (table[at].key != key[i] || !table[at].used)
                    at = (at + 1) & (room - 1);
            }
        }
        table[at].sum += value[i];
    }
    k = 0;
    FOR (e, room)
        if (table[e].used)
            table[k++] = table[e];
    qsort(table, (size_t)k, sizeof *table, compare_entries);
    FOR (e, k) {
        own[e] = table[e].key;
        z[e] = table[e].sum;
    }
    free(table);
    KEPT(0) = KEPT(1) = k;
}

C(ranks_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0);
    struct pair *p = malloc((size_t)n * 2 * sizeof *p);
    FOR (i, n)
        p[i] = (struct pair){bits_of(x[i]), (u32)i};
    sort_pairs(p, p + n, n);
    FOR (i, n)
        z[p[i].value] = i;
    free(p);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key ? 1 : -1) : x->value > y->value ? 1 : -1;
}

C(order_of_rows_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        struct pair *p = malloc((size_t)m * 2 * sizeof *p);
        SPLIT_FOR
        FOR (i, n) {
            FOR (j, m)
                p[j] = (struct pair){bits_of(x[i * m + j]), (u32)j};
            if (m > 300)
                sort_pairs(p, p + m, m);
            else
                qsort(p, (size_t)m, sizeof *p, compare_pairs);
            FOR (j, m)
                z[i * m + j] = p[j].value;
        }
        free(p);
    }
}

static int compare_floats(const void *a, const void *b)
{
    f32 x = *(const f32 *)a, y = *(const f32 *)b;
    return (x > y) - (x < y);
}

C(sort_columns_f32)
{
    enum { COLUMNS = 16 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL
    {
        f32 *column = malloc((size_t)(n * COLUMNS) * sizeof *column);
        struct pair *p = malloc((size_t)n * 2 * sizeof *p);
        SPLIT_FOR
        for (int64_t j = 0; j < m; j += COLUMNS) {
            int64_t some = MIN(COLUMNS, m - j);
            FOR (i, n)
                FOR (c, some)
                    column[c * n + i] = x[i * m + j + c];
            FOR (c, some)
                if (n > 300) {
                    FOR (i, n)
                        p[i] = (struct pair){bits_of(column[c * n + i]), 0};
                    sort_pairs(p, p + n, n);
                    FOR (i, n)
                        column[c * n + i] = of_bits(p[i].key);
                } else {
                    qsort(column + c * n, (size_t)n, sizeof *column, compare_floats);
                }
            FOR (i, n)
                FOR (c, some)
                    z[i * m + j + c] = column[c * n + i];
        }
        free(column);
        free(p);
    }
}

C(histogram_of_rows_u8)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1), bins = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        i64 *to = z + i * bins;
        memset(to, 0, (size_t)bins * sizeof *to);
        FOR (j, m)
            to[x[i * m + j]]++;
    }
}

C(correlation_matrix_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 *d = malloc((size_t)(n * m + 2 * m) * sizeof *d), *mean = d + n * m, *norm = mean + m;
    FOR (j, m)
        mean[j] = norm[j] = 0;
    FOR (i, n)
        FOR (j, m)
            mean[j] += x[i * m + j];
    FOR (j, m)
        mean[j] /= (f32)n;
    FOR (i, n)
        FOR (j, m) {
            f32 e = x[i * m + j] - mean[j];
            d[i * m + j] = e;
            norm[j] += e * e;
        }
    FOR (j, m)
        norm[j] = sqrtf(norm[j]);
    FOR (i, m * m)
        z[i] = 0;
    PARALLEL
    {
        f32 *own = calloc((size_t)(m * m), sizeof *own);
        SPLIT_FOR
        for (int64_t i = 0; i < n; i += 4) {
            int64_t rows = MIN(4, n - i);
            if (rows == 4)
                FOR (j, m) {
                    f32 a = d[i * m + j], b = d[(i + 1) * m + j], e = d[(i + 2) * m + j], f = d[(i + 3) * m + j];
                    FOR (k, m)
                        own[j * m + k] +=
                            a * d[i * m + k] + b * d[(i + 1) * m + k] + e * d[(i + 2) * m + k] + f * d[(i + 3) * m + k];
                }
            else
                FOR (r, rows)
                    FOR (j, m)
                        FOR (k, m)
                            own[j * m + k] += d[(i + r) * m + j] * d[(i + r) * m + k];
        }
        CRITICAL
        FOR (i, m * m)
            z[i] += own[i];
        free(own);
    }
    FOR (j, m)
        FOR (k, m)
            z[j * m + k] /= norm[j] * norm[k];
    free(d);
}

C(top_10_f32)
{
    enum { MOST = 10 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 best[MOST];
    FOR (k, MOST)
        best[k] = -INFINITY;
    PARALLEL
    {
        f32 own[MOST];
        FOR (k, MOST)
            own[k] = -INFINITY;
        SPLIT_FOR
        FOR (i, n)
            if (x[i] > own[MOST - 1]) {
                int k = MOST - 1;
                for (; k > 0 && own[k - 1] < x[i]; k--)
                    own[k] = own[k - 1];
                own[k] = x[i];
            }
        CRITICAL
        FOR (i, MOST) {
            int k = MOST;
            while (k > 0 && best[k - 1] < own[i])
                k--;
            for (int l = MOST - 1; l > k; l--)
                best[l] = best[l - 1];
            if (k < MOST)
                best[k] = own[i];
        }
    }
    FOR (k, MOST)
        z[k] = best[k];
}

C(quantiles_f32)
{
    IN(f32, x, 0);
    IN(f32, q, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), many = E(1);
    struct pair *p = malloc((size_t)n * 2 * sizeof *p);
    FOR (i, n)
        p[i] = (struct pair){bits_of(x[i]), 0};
    sort_pairs(p, p + n, n);
    FOR (k, many) {
        f32 at = q[k] * (f32)(n - 1), low = floorf(at), a = of_bits(p[(int64_t)low].key);
        f32 b = of_bits(p[MIN((int64_t)low + 1, n - 1)].key);
        z[k] = a + (at - low) * (b - a);
    }
    free(p);
}

C(moving_median_5_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        f32 a = MIN(x[i], x[i + 1]), b = MAX(x[i], x[i + 1]), c = MIN(x[i + 2], x[i + 3]), d = MAX(x[i + 2], x[i + 3]);
        f32 low = MAX(a, c), high = MIN(b, d), e = MIN(low, high), f = MAX(low, high);
        f = MIN(f, x[i + 4]);
        z[i] = MAX(e, f);
    }
}

C(weighted_columns_f32)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 all = 0;
    FOR (j, m)
        z[j] = 0;
    PARALLEL
    {
        f32 *own = calloc((size_t)m, sizeof *own), sum = 0;
        SPLIT_FOR
        FOR (i, n) {
            FOR (j, m)
                own[j] += w[i] * x[i * m + j];
            sum += w[i];
        }
        CRITICAL
        {
            FOR (j, m)
                z[j] += own[j];
            all += sum;
        }
        free(own);
    }
    FOR (j, m)
        z[j] /= all;
}

C(longest_run_f32)
{
    IN(f32, x, 0);
    int64_t n = E(0), run = 0, most = 0;
    FOR (i, n) { /* from left to right: a run goes on across any cut */
        run = x[i] > -0.9f ? run + 1 : 0;
        most = MAX(most, run);
    }
    RESULT(int64_t, 0) = most;
}

static void square_matrix(const f32 *x, f32 *z, int64_t n)
{
    PARALLEL_FOR
    for (int64_t i = 0; i < n; i += 4) {
        int64_t rows = MIN(4, n - i);
        memset(z + i * n, 0, (size_t)(rows * n) * sizeof *z);
        if (rows == 4)
            FOR (k, n) {
                f32 a = x[i * n + k], b = x[(i + 1) * n + k], c = x[(i + 2) * n + k], d = x[(i + 3) * n + k];
                f32 *to = z + i * n;
                FOR (j, n) {
                    f32 y = x[k * n + j];
                    to[j] += a * y;
                    to[n + j] += b * y;
                    to[2 * n + j] += c * y;
                    to[3 * n + j] += d * y;
                }
            }
        else
            FOR (r, rows)
                FOR (k, n)
                    FOR (j, n)
                        z[(i + r) * n + j] += x[(i + r) * n + k] * x[k * n + j];
    }
}

C(power_8_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 *room = malloc((size_t)(n * n) * sizeof *room);
    square_matrix(x, z, n);
    square_matrix(z, room, n);
    square_matrix(room, z, n);
    free(room);
}
