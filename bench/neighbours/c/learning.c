#include "learning.h"

/* --- layers --- */

C(le_dense_relu)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    IN(f32, bias, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), l = E(1), m = E(2);
    PRODUCT(n, l, m, x, l, 1, w, z[i * m + j] = MAX(v + bias[j], 0))
}

static inline f32 gelu(f32 x)
{
    return 0.5f * x * (1 + tanhf(0.7978846f * (x + 0.044715f * x * x * x)));
}

C(le_weight_gradients)
{
    IN(f32, x, 0);
    IN(f32, g, 1);
    OUT(f32, z, 0);
    OUT(f32, bias, 1);
    int64_t n = E(0), l = E(1), m = E(2);
    memset(bias, 0, (size_t)m * sizeof *bias);
    PRODUCT(l, n, m, x, 1, l, g, z[i * m + j] = v)
    FOR (i, n)
        FOR (j, m)
            bias[j] += g[i * m + j];
}

C(le_batch_norm_columns)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    IN(f32, b, 2);
    OUT(f32, z, 0);
    OUT(f32, mean, 1);
    OUT(f32, variance, 2);
    int64_t n = E(0), m = E(1);
    memset(mean, 0, (size_t)m * sizeof *mean);
    memset(variance, 0, (size_t)m * sizeof *variance);
    PARALLEL
    {
        f32 *restrict own = zeros(3 * m), *restrict from = own + m, *restrict by = from + m;
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] += x[i * m + j];
        ADD_UP(own, mean, m)
        FOR (j, m) {
            from[j] = mean[j] / (f32)n;
            own[j] = 0;
        }
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                own[j] += (x[i * m + j] - from[j]) * (x[i * m + j] - from[j]);
        ADD_UP(own, variance, m)
        FOR (j, m)
            by[j] = w[j] / sqrtf(variance[j] / (f32)n + 1e-5f);
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                z[i * m + j] = (x[i * m + j] - from[j]) * by[j] + b[j];
        free(own);
    }
    FOR (j, m) {
        mean[j] /= (f32)n;
        variance[j] /= (f32)n;
    }
}

C(le_batch_norm_channels)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    IN(f32, b, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), c = E(1), m = E(2) * E(3);
    PARALLEL_FOR
    FOR (k, c) {
        f32 s = 0, q = 0;
        FOR (i, n) {
            const f32 *a = x + (i * c + k) * m;
            SIMD_SUMS(s, q)
            FOR (j, m) {
                s += a[j];
                q += a[j] * a[j];
            }
        }
        f32 mean = s / (f32)(n * m), by = w[k] / sqrtf(q / (f32)(n * m) - mean * mean + 1e-5f);
        f32 plus = b[k] - mean * by;
        FOR (i, n) {
            const f32 *a = x + (i * c + k) * m;
            f32 *restrict to = z + (i * c + k) * m;
            SIMD
            FOR (j, m)
                to[j] = a[j] * by + plus;
        }
    }
}

C(le_batch_norm_apply)
{
    IN(f32, x, 0);
    IN(f32, mean, 1);
    IN(f32, variance, 2);
    IN(f32, w, 3);
    IN(f32, b, 4);
    OUT(f32, z, 0);
    int64_t n = E(0), c = E(1), m = E(2) * E(3);
    PARALLEL_FOR
    FOR (i, n)
        FOR (k, c) {
            const f32 *a = x + (i * c + k) * m;
            f32 *restrict to = z + (i * c + k) * m;
            f32 by = w[k] / sqrtf(variance[k] + 1e-5f), from = mean[k], plus = b[k];
            SIMD
            FOR (j, m)
                to[j] = (a[j] - from) * by + plus;
        }
}

C(le_layer_norm_gradients)
{
    IN(f32, x, 0);
    IN(f32, g, 1);
    IN(f32, w, 2);
    IN(f32, scale, 3);
    OUT(f32, z, 0);
    OUT(f32, weight, 1);
    OUT(f32, bias, 2);
    int64_t n = E(0), m = E(1);
    memset(weight, 0, (size_t)m * sizeof *weight);
    memset(bias, 0, (size_t)m * sizeof *bias);
    PARALLEL
    {
        f32 *restrict s = zeros(2 * m), *restrict t = s + m;
        SPLIT_FOR
        FOR (i, n) {
            const f32 *xi = x + i * m, *gi = g + i * m;
            f32 *restrict to = z + i * m, p = 0, q = 0;
            SIMD_SUMS(p, q)
            FOR (j, m) {
                p += gi[j] * w[j];
                q += gi[j] * w[j] * xi[j];
            }
            p /= (f32)m;
            q /= (f32)m;
            SIMD
            FOR (j, m) {
                s[j] += gi[j];
                t[j] += gi[j] * xi[j];
                to[j] = scale[i] * (gi[j] * w[j] - p - xi[j] * q);
            }
        }
        ADD_UP(s, bias, m)
        ADD_UP(t, weight, m)
        free(s);
    }
}

C(le_group_norm)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    IN(f32, b, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), c = E(1), m = E(2) * E(3);
    PARALLEL_FOR
    FOR (g, n * c / 8) {
        const f32 *a = x + g * 8 * m;
        f32 s = 0, q = 0;
        SIMD_SUMS(s)
        FOR (j, 8 * m)
            s += a[j];
        f32 mean = s / (f32)(8 * m);
        SIMD_SUMS(q)
        FOR (j, 8 * m)
            q += (a[j] - mean) * (a[j] - mean);
        f32 by = 1 / sqrtf(q / (f32)(8 * m) + 1e-5f);
        FOR (k, 8) {
            f32 *restrict to = z + (g * 8 + k) * m, wk = w[(g * 8 + k) % c] * by, bk = b[(g * 8 + k) % c];
            SIMD
            FOR (j, m)
                to[j] = (a[k * m + j] - mean) * wk + bk;
        }
    }
}

C(le_entropy_gradient)
{
    IN(f32, x, 0);
    IN(u8, label, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    f32 loss = 0, share = 1 / (f32)n;
    SUMS(loss)
    FOR (i, n) {
        f32 *restrict to = z + i * m;
        softmax(x + i * m, to, m);
        loss -= logf(to[label[i]]);
        SIMD
        FOR (j, m)
            to[j] *= share;
        to[label[i]] -= share;
    }
    RESULT(f32, 1) = loss / (f32)n;
}

/* --- attention --- */

C(le_causal_attention)
{
    IN(f32, q, 0);
    IN(f32, k, 1);
    IN(f32, v, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), d = E(1);
    f32 *t = turned(k, n, d);
    PARALLEL
    {
        f32 *score = malloc((size_t)(4 * n) * sizeof *score);
        PRAGMA(omp for schedule(dynamic, 2))
        for (int64_t i = 0; i < n; i += 4) {
            int64_t rows = MIN(4, n - i), width = i + rows;
            for (int64_t first = 0; first < width; first += WIDTH) {
                f32 s[4][WIDTH];
                int64_t piece = MIN(WIDTH, width - first);
                four_rows(q + i * d, d, 1, rows, t + first, n, d, piece, s);
                FOR (r, rows)
                    FOR (j, piece)
                        score[r * n + first + j] = s[r][j] * 0.125f;
            }
            FOR (r, 4) {
                f32 *restrict of = score + r * n;
                if (r < rows)
                    softmax(of, of, i + r + 1);
                for (int64_t j = r < rows ? i + r + 1 : 0; j < width; j++)
                    of[j] = 0;
            }
            f32 s[4][WIDTH];
            four_rows(score, n, 1, rows, v, d, width, d, s);
            FOR (r, rows)
                memcpy(z + (i + r) * d, s[r], (size_t)d * sizeof *z);
        }
        free(score);
    }
    free(t);
}

C(le_attention_of_one)
{
    IN(f32, q, 0);
    IN(f32, k, 1);
    IN(f32, v, 2);
    OUT(f32, z, 0);
    int64_t h = E(0), d = E(1), t = E(2);
    f32 *score = malloc((size_t)(t * h) * sizeof *score);
    PARALLEL_FOR
    FOR (i, t)
        FOR (g, h) {
            f32 s = 0;
            SIMD_SUMS(s)
            FOR (j, d)
                s += q[g * d + j] * k[(i * h + g) * d + j];
            score[g * t + i] = s * 0.125f;
        }
    memset(z, 0, (size_t)(h * d) * sizeof *z);
    PARALLEL
    {
        SPLIT_FOR
        FOR (g, h)
            softmax(score + g * t, score + g * t, t);
        f32 *restrict own = zeros(h * d);
        SPLIT_FOR
        FOR (i, t)
            FOR (g, h) {
                f32 p = score[g * t + i];
                SIMD
                FOR (j, d)
                    own[g * d + j] += p * v[(i * h + g) * d + j];
            }
        ADD_UP(own, z, h * d)
        free(own);
    }
    free(score);
}

C(le_rotary_halves)
{
    IN(f32, x, 0);
    IN(f32, cosine, 1);
    IN(f32, sine, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), h = E(1), d = E(2), e = E(3);
    PARALLEL_FOR
    FOR (i, n)
        FOR (g, h) {
            const f32 *a = x + (i * h + g) * d, *c = cosine + i * e, *s = sine + i * e;
            f32 *restrict to = z + (i * h + g) * d;
            SIMD
            FOR (j, e) {
                to[j] = a[j] * c[j] - a[j + e] * s[j];
                to[j + e] = a[j + e] * c[j] + a[j] * s[j];
            }
        }
}

C(le_rotary_pairs)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), h = E(1), d = E(2), e = d / 2;
    PARALLEL
    {
        f32 *restrict c = malloc((size_t)d * sizeof *c), *restrict s = c + e;
        SPLIT_FOR
        FOR (i, n) {
            SIMD
            FOR (j, e) {
                f32 angle = (f32)i * exp2f((f32)j / (f32)e * -13.287712f);
                c[j] = cosf(angle);
                s[j] = sinf(angle);
            }
            FOR (g, h) {
                const f32 *a = x + (i * h + g) * d;
                f32 *restrict to = z + (i * h + g) * d;
                SIMD
                FOR (j, e) {
                    to[2 * j] = a[2 * j] * c[j] - a[2 * j + 1] * s[j];
                    to[2 * j + 1] = a[2 * j + 1] * c[j] + a[2 * j] * s[j];
                }
            }
        }
        free(c);
    }
}

C(le_softmax_channels)
{
    enum { BLOCK = 512 };
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), c = E(1), m = E(2) * E(3);
    PARALLEL_FOR_2
    FOR (i, n)
        for (int64_t b = 0; b < m; b += BLOCK) {
            const f32 *a = x + i * c * m + b;
            f32 *restrict to = z + i * c * m + b, most[BLOCK], sum[BLOCK];
            int64_t width = MIN(BLOCK, m - b);
            FOR (j, width) {
                most[j] = a[j];
                sum[j] = 0;
            }
            FOR (k, c)
                SIMD
            FOR (j, width)
                most[j] = MAX(most[j], a[k * m + j]);
            FOR (k, c)
                SIMD
            FOR (j, width) {
                f32 e = expf(a[k * m + j] - most[j]);
                to[k * m + j] = e;
                sum[j] += e;
            }
            SIMD
            FOR (j, width)
                sum[j] = 1 / sum[j];
            FOR (k, c)
                SIMD
            FOR (j, width)
                to[k * m + j] *= sum[j];
        }
}

C(le_position_bias)
{
    IN(f32, x, 0);
    IN(f32, bias, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), zero = E(1) / 2;
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *b = bias + zero - i;
        SIMD
        FOR (j, n)
            z[i * n + j] = x[i * n + j] + b[j];
    }
}

C(le_embedding)
{
    IN(f32, table, 0);
    IN(f32, place, 1);
    IN(i32, id, 2);
    OUT(f32, z, 0);
    int64_t d = E(1), t = E(2), b = E(3);
    PARALLEL_FOR
    FOR (i, b * t) {
        const f32 *a = table + id[i] * d, *p = place + i % t * d;
        SIMD
        FOR (j, d)
            z[i * d + j] = a[j] + p[j];
    }
}

/* Each thread has some of the columns. */
C(le_embedding_gradient)
{
    IN(f32, table, 0);
    IN(i32, id, 1);
    IN(f32, g, 2);
    OUT(f32, z, 0);
    int64_t v = E(0), d = E(1), n = E(2);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), at = omp_get_thread_num();
        int64_t begin = d * at / count, end = d * (at + 1) / count;
        SPLIT_FOR
        FOR (i, v * d)
            z[i] = table[i];
        FOR (i, n) {
            f32 *restrict to = z + id[i] * d;
            SIMD
            for (int64_t j = begin; j < end; j++)
                to[j] += g[i * d + j];
        }
    }
}

/* --- recurrent cells --- */

C(le_lstm_cell)
{
    IN(f32, x, 0);
    IN(f32, cell, 1);
    OUT(f32, z, 0);
    OUT(f32, state, 1);
    int64_t n = E(0), h = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *a = x + i * 4 * h, *f = a + h, *g = f + h, *o = g + h;
        SIMD
        FOR (j, h) {
            f32 next = sigmoid(f[j]) * cell[i * h + j] + sigmoid(a[j]) * tanhf(g[j]);
            state[i * h + j] = next;
            z[i * h + j] = sigmoid(o[j]) * tanhf(next);
        }
    }
}

/* Steps are too short for more threads where there are less than a million weights. */
C(le_recurrent)
{
    IN(f32, x, 0);
    IN(f32, w, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), d = E(1);
    f32 *state = zeros(2 * d);
    PRAGMA(omp parallel num_threads(d < 1000 ? 1 : omp_get_max_threads()))
    FOR (t, n) {
        const f32 *from = state + t % 2 * d;
        f32 *restrict to = state + (t + 1) % 2 * d;
        PRAGMA(omp for schedule(static))
        FOR (i, d) {
            f32 s = 0;
            SIMD_SUMS(s)
            FOR (j, d)
                s += w[i * d + j] * from[j];
            to[i] = tanhf(0.25f * s + x[t * d + i]);
        }
    }
    memcpy(z, state + n % 2 * d, (size_t)d * sizeof *z);
    free(state);
}

/* Each thread has some of the columns. */
C(le_state_space)
{
    IN(f32, step, 0);
    IN(f32, x, 1);
    IN(f32, rate, 2);
    IN(f32, in, 3);
    IN(f32, out, 4);
    OUT(f32, z, 0);
    int64_t n = E(0), d = E(1), m = E(2);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), at = omp_get_thread_num();
        int64_t begin = d * at / count, width = d * (at + 1) / count - begin;
        f32 *restrict h = zeros(m * width), *restrict r = zeros(m * width);
        FOR (s, m)
            FOR (j, width)
                r[s * width + j] = rate[(begin + j) * m + s];
        FOR (t, n) {
            const f32 *a = step + t * d + begin, *b = x + t * d + begin;
            f32 *restrict to = z + t * d + begin;
            FOR (j, width)
                to[j] = 0;
            FOR (s, m) {
                f32 i = in[t * m + s], o = out[t * m + s];
                SIMD
                FOR (j, width) {
                    f32 next = expf(-a[j] * r[s * width + j]) * h[s * width + j] + a[j] * i * b[j];
                    h[s * width + j] = next;
                    to[j] += o * next;
                }
            }
        }
        free(h);
        free(r);
    }
}

/* Each thread has some of the steps: it adds up the state of its own first, for those that come after it. */
C(le_linear_attention)
{
    IN(f32, q, 0);
    IN(f32, k, 1);
    IN(f32, v, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), d = E(1), m = E(2);
    f32 *all = zeros(d * m * omp_get_max_threads());
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        f32 *restrict s = zeros(d * m);
        if (id < count - 1) {
            for (int64_t t = begin; t < end; t++)
                FOR (i, d) {
                    f32 kt = k[t * d + i];
                    SIMD
                    FOR (j, m)
                        s[i * m + j] += kt * v[t * m + j];
                }
            memcpy(all + id * d * m, s, (size_t)(d * m) * sizeof *s);
            memset(s, 0, (size_t)(d * m) * sizeof *s);
        }
        PRAGMA(omp barrier)
        FOR (before, id)
            FOR (i, d * m)
                s[i] += all[before * d * m + i];
        for (int64_t t = begin; t < end; t++) {
            f32 *restrict to = z + t * m;
            FOR (j, m)
                to[j] = 0;
            FOR (i, d) {
                f32 kt = k[t * d + i], qt = q[t * d + i];
                SIMD
                FOR (j, m) {
                    f32 next = s[i * m + j] + kt * v[t * m + j];
                    s[i * m + j] = next;
                    to[j] += qt * next;
                }
            }
        }
        free(s);
    }
    free(all);
}
