#include "c.h"

void nb_make_four(const struct nb_call *call);
void nb_make_four_third(const struct nb_call *call);
void nb_make_bits(const struct nb_call *call);
void nb_make_edges_of_chains(const struct nb_call *call);

void nb_make_four(const struct nb_call *call)
{
    *(int64_t *)call->in[1] = 4;
}

void nb_make_four_third(const struct nb_call *call)
{
    *(int64_t *)call->in[2] = 4;
}

/* Bytes 0 and 1. */
void nb_make_bits(const struct nb_call *call)
{
    u8 *x = call->in[0];
    FOR (i, SIZE)
        x[i] &= 1;
}

/* Edges of chains of 16 vertices, of which there are half as many; in any order. */
void nb_make_edges_of_chains(const struct nb_call *call)
{
    int64_t *a = call->in[0], *b = call->in[1], n = E(0), vertices = n / 2;
    FOR (i, n) {
        int64_t v = (int64_t)((uint64_t)i * 7919 % (uint64_t)vertices);
        a[i] = v;
        b[i] = v % 16 < 15 && v + 1 < vertices ? v + 1 : v;
    }
}

C(bit_reversal_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    int bits = 63 - __builtin_clzll((unsigned long long)n);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = (u32)i;
        v = (v & 0x55555555) << 1 | (v >> 1 & 0x55555555);
        v = (v & 0x33333333) << 2 | (v >> 2 & 0x33333333);
        v = (v & 0x0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f);
        z[i] = x[__builtin_bswap32(v) >> (32 - bits)];
    }
}

C(blocks_of_8_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (b, n / 8)
        FOR (c, m / 8)
            FOR (i, 8)
                FOR (j, 8)
                    z[b * 8 * m + c * 64 + i * 8 + j] = x[(b * 8 + i) * m + c * 8 + j];
}

C(circulant_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        memcpy(z + i * n, x + n - i, (size_t)i * sizeof *z);
        memcpy(z + i * n + i, x, (size_t)(n - i) * sizeof *z);
    }
}

C(roll_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), a = VALUE(int64_t, 1) % n, b = VALUE(int64_t, 2) % m;
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *from = x + (i + a) % n * m;
        memcpy(z + i * m, from + b, (size_t)(m - b) * sizeof *z);
        memcpy(z + i * m + m - b, from, (size_t)b * sizeof *z);
    }
}

C(block_means_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), h = E(2), w = E(3), f = VALUE(int64_t, 1);
    PARALLEL_FOR
    FOR (i, h)
        FOR (j, w) {
            f32 sum = 0;
            FOR (k, f)
                FOR (l, f)
                    sum += x[(i * f + k) * m + j * f + l];
            z[i * w + j] = sum / (f32)(f * f);
        }
}

C(checkerboard_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        FOR (j, m)
            z[i * m + j] = (i + j) % 2 ? y[i * m + j] : x[i * m + j];
}

C(strided_convolution_f32)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t m = E(1), h = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, h) {
        f32 *to = z + i * l;
        FOR (j, l)
            to[j] = 0;
        FOR (dy, 5) {
            const f32 *from = x + (2 * i + dy) * m, *a = w + dy * 5;
            FOR (j, l)
                to[j] += a[0] * from[2 * j] + a[1] * from[2 * j + 1] + a[2] * from[2 * j + 2] + a[3] * from[2 * j + 3] +
                         a[4] * from[2 * j + 4];
        }
    }
}

C(decimated_f32)
{
    IN(f32, x, 0);
    IN(f32, taps, 1);
    OUT(f32, z, 0);
    int64_t n = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        f32 sum = 0;
        for (int k = 0; k < 16; k++)
            sum += taps[k] * x[4 * i + k];
        z[i] = sum;
    }
}
C(dilated_convolution_f32)
{
    enum { BLOCK = 4096 };
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t k = E(1), m = E(2), by = VALUE(int64_t, 2);
    PARALLEL_FOR
    for (int64_t first = 0; first < m; first += BLOCK) {
        int64_t some = MIN(BLOCK, m - first);
        f32 *to = z + first;
        FOR (i, some)
            to[i] = 0;
        FOR (t, k)
            FOR (i, some)
                to[i] += w[t] * x[first + i + t * by];
    }
}

C(resample_f32)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t k = E(1), m = E(2), by = VALUE(int64_t, 2), taps = k / by;
    PARALLEL_FOR
    FOR (i, m / by)
        FOR (phase, by) {
            f32 sum = 0;
            FOR (t, taps)
                sum += w[t * by + phase] * x[i + t];
            z[i * by + phase] = sum;
        }
    for (int64_t i = m / by * by; i < m; i++) {
        z[i] = 0;
        FOR (t, taps)
            z[i] += w[t * by + i % by] * x[i / by + t];
    }
}

C(cosine_blocks_f32)
{
    IN(f32, x, 0);
    IN(f32, c, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (b, n / 8)
        FOR (i, 8) {
            f32 *to = z + (b * 8 + i) * m;
            const f32 *from = x + b * 8 * m, *a = c + i * 8;
            FOR (j, m)
                to[j] = a[0] * from[j] + a[1] * from[m + j] + a[2] * from[2 * m + j] + a[3] * from[3 * m + j] +
                        a[4] * from[4 * m + j] + a[5] * from[5 * m + j] + a[6] * from[6 * m + j] +
                        a[7] * from[7 * m + j];
        }
}

C(weights_of_rows_f32)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2), l = E(3);
    PARALLEL_FOR
    FOR (i, n) {
        f32 *to = z + i * l;
        FOR (j, l)
            to[j] = 0;
        FOR (t, k)
            FOR (j, l)
                to[j] += w[t] * x[i * m + j + t];
    }
}

C(sums_of_blocks_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t m = E(1), l = VALUE(int64_t, 1);
    PARALLEL_FOR
    FOR (i, m) {
        f32 sum = 0;
        FOR (j, l)
            sum += x[i * l + j];
        z[i] = sum;
    }
}

C(bitonic_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    memcpy(z, x, (size_t)n * sizeof *z);
    for (int64_t size = 2; size <= n; size *= 2)
        for (int64_t half = size / 2; half; half /= 2) {
            PARALLEL_FOR
            FOR (b, n / (2 * half)) {
                f32 *a = z + b * 2 * half, *c = a + half;
                bool up = (b * 2 * half & size) == 0;
                FOR (i, half) {
                    f32 low = MIN(a[i], c[i]), high = MAX(a[i], c[i]);
                    a[i] = up ? low : high;
                    c[i] = up ? high : low;
                }
            }
        }
}

C(rule_110_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    u8 *now = malloc((size_t)(n + 2)), *next = malloc((size_t)(n + 2));
    memcpy(now + 1, x, (size_t)n);
    FOR (round, 100) {
        now[0] = now[n];
        now[n + 1] = now[1];
        PARALLEL_FOR
        FOR (i, n) {
            u8 a = now[i], b = now[i + 1], c = now[i + 2];
            next[i + 1] = (u8)((b | c) & (1 ^ (a & b & c)));
        }
        u8 *other = now;
        now = next;
        next = other;
    }
    memcpy(z, now + 1, (size_t)n);
    free(now);
    free(next);
}

C(life_50_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1), w = m + 2;
    u8 *now = calloc((size_t)((n + 2) * w), 1), *next = calloc((size_t)((n + 2) * w), 1);
    FOR (i, n)
        memcpy(now + (i + 1) * w + 1, x + i * m, (size_t)m);
    FOR (round, 50) {
        PARALLEL_FOR
        FOR (i, n) {
            const u8 *a = now + (i + 1) * w + 1;
            u8 *to = next + (i + 1) * w + 1;
            FOR (j, m) {
                u8 sum = (u8)(a[j - w - 1] + a[j - w] + a[j - w + 1] + a[j - 1] + a[j + 1] + a[j + w - 1] + a[j + w] +
                              a[j + w + 1]);
                to[j] = (u8)((sum == 3) | ((sum == 2) & a[j]));
            }
        }
        u8 *other = now;
        now = next;
        next = other;
    }
    FOR (i, n)
        memcpy(z + i * m, now + (i + 1) * w + 1, (size_t)m);
    free(now);
    free(next);
}

C(edit_distance_u8)
{
    IN(u8, a, 0);
    IN(u8, b, 1);
    int64_t n = E(0);
    int32_t *row = malloc((size_t)(n + 1) * sizeof *row);
    FOR (j, n + 1)
        row[j] = (int32_t)j;
    FOR (i, n) {
        int32_t before = row[0], left = (int32_t)(i + 1);
        row[0] = left;
        FOR (j, n) {
            int32_t up = row[j + 1], kept = before + (a[i] != b[j]);
            int32_t moved = MIN(up, left) + 1;
            before = up;
            left = MIN(moved, kept);
            row[j + 1] = left;
        }
    }
    RESULT(int64_t, 0) = row[n];
    free(row);
}

C(lookup_twice_f32)
{
    IN(u8, x, 0);
    IN(u8, first, 1);
    IN(f32, second, 2);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = second[first[x[i]]];
}

/* Labels move along edges until none does. */
C(components_i64)
{
    IN(i64, a, 0);
    IN(i64, b, 1);
    OUT(i64, z, 0);
    int64_t edges = E(0), n = E(1), *next = malloc((size_t)n * sizeof *next);
    bool moves = true;
    FOR (i, n)
        z[i] = i;
    while (moves) {
        memcpy(next, z, (size_t)n * sizeof *next);
        FOR (e, edges) {
            next[b[e]] = MIN(next[b[e]], z[a[e]]);
            next[a[e]] = MIN(next[a[e]], z[b[e]]);
        }
        moves = memcmp(next, z, (size_t)n * sizeof *next) != 0;
        memcpy(z, next, (size_t)n * sizeof *next);
    }
    free(next);
}

C(variable_stencil_f32)
{
    IN(f32, x, 0);
    IN(f32, k, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *row = x + i * m, *up = x + MAX(i - 1, 0) * m, *down = x + MIN(i + 1, n - 1) * m, *c = k + i * m;
        f32 *to = z + i * m;
#define AT(j, l, r) to[j] = row[j] + c[j] * (up[j] + down[j] + row[l] + row[r] - 4 * row[j])
        AT(0, 0, 1);
        for (int64_t j = 1; j < m - 1; j++)
            AT(j, j - 1, j + 1);
        AT(m - 1, m - 2, m - 1);
#undef AT
    }
}
