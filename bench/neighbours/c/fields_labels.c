/* Labels, images and sums that are told more exactly, of the group `fields`. */
#include "fields.h"

/* --- labels and images --- */

C(fd_label_edges)
{
    IN(i32, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const i32 *up = x + MAX(i - 1, 0) * m, *here = x + i * m, *down = x + MIN(i + 1, n - 1) * m;
        u8 *to = z + i * m;
        ROW_OF(m, 0, m - 1, {
            i32 v = here[j];
            to[j] = (u8)((up[j] != v) + (down[j] != v) + (here[left] != v) + (here[right] != v));
        })
    }
}

C(fd_label_boxes)
{
    IN(u8, x, 0);
    OUT(i32, top, 0);
    OUT(i32, left, 1);
    OUT(i32, bottom, 2);
    OUT(i32, right, 3);
    int64_t n = E(0), m = E(1);
    FOR (l, 16) {
        top[l] = left[l] = INT32_MAX;
        bottom[l] = right[l] = -1;
    }
    PARALLEL
    {
        i32 box[16][4];
        FOR (l, 16) {
            box[l][0] = box[l][1] = INT32_MAX;
            box[l][2] = box[l][3] = -1;
        }
        SPLIT_FOR
        FOR (i, n) {
            i32 first[16], last[16];
            FOR (l, 16) {
                first[l] = INT32_MAX;
                last[l] = -1;
            }
            FOR (j, m) {
                int l = x[i * m + j];
                last[l] = (i32)j;
                first[l] = MIN(first[l], (i32)j);
            }
            FOR (l, 16)
                if (last[l] >= 0) {
                    box[l][0] = MIN(box[l][0], (i32)i);
                    box[l][1] = MIN(box[l][1], first[l]);
                    box[l][2] = MAX(box[l][2], (i32)i);
                    box[l][3] = MAX(box[l][3], last[l]);
                }
        }
        CRITICAL
        FOR (l, 16) {
            top[l] = MIN(top[l], box[l][0]);
            left[l] = MIN(left[l], box[l][1]);
            bottom[l] = MAX(bottom[l], box[l][2]);
            right[l] = MAX(right[l], box[l][3]);
        }
    }
}

C(fd_distance_rows)
{
    IN(i8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const i8 *row = x + i * m;
        i32 *to = z + i * m, d = 100000, last = 200000;
        d--;
        FOR (j, m) {
            d = row[j] > 90 ? 0 : d + 1;
            to[j] = d;
        }
        for (int64_t j = m - 1; j >= 0; j--) {
            last = row[j] > 90 ? (i32)j : last;
            to[j] = MIN(to[j], last - (i32)j);
        }
    }
}

C(fd_box_15)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1), pad = m + 16;
    PARALLEL
    {
        i32 *column = calloc((size_t)pad, sizeof(*column)), *c = column + 7; /* the sums of 15 rows, zeros around */
        int64_t done = -1;
        SPLIT_FOR
        FOR (i, n) {
            if (done != i - 1 || i == 0) {
                memset(c, 0, (size_t)m * sizeof(*c));
                for (int64_t r = MAX(i - 7, 0); r <= MIN(i + 7, n - 1); r++)
                    FOR (j, m)
                        c[j] += x[r * m + j];
            } else {
                if (i + 7 < n)
                    FOR (j, m)
                        c[j] += x[(i + 7) * m + j];
                if (i - 8 >= 0)
                    FOR (j, m)
                        c[j] -= x[(i - 8) * m + j];
            }
            done = i;
            i32 *to = z + i * m;
            FOR (j, m) {
                i32 sum = 0;
                UNROLL(15)
                FOR (k, 15)
                    sum += c[j + k - 7];
                to[j] = sum;
            }
        }
        free(column);
    }
}

C(fd_hough)
{
    IN(u8, x, 0);
    IN(i32, cosine, 1);
    IN(i32, sine, 2);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1), angles = E(2), bins = angles * 512;
    memset(z, 0, (size_t)bins * sizeof(*z));
    PARALLEL
    {
        u32 *own = calloc((size_t)bins, sizeof(*own));
        SPLIT_FOR
        FOR (i, n)
            FOR (j, m)
                if (x[i * m + j] > 150)
                    FOR (a, angles)
                        own[a * 512 + (((i32)j * cosine[a] + (i32)i * sine[a]) >> 8) + 256]++;
        CRITICAL
        FOR (k, bins)
            z[k] += own[k];
        free(own);
    }
}

C(fd_diffuse)
{
    IN(f64, x, 0);
    IN(f64, kappa, 1);
    OUT(f64, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    PARALLEL_FOR_2
    FOR (i, n)
        FOR (l, m) {
            int64_t here = (i * m + l) * k, a = (MAX(i - 1, 0) * m + l) * k, b = (MIN(i + 1, n - 1) * m + l) * k;
            int64_t c = (i * m + MAX(l - 1, 0)) * k, d = (i * m + MIN(l + 1, m - 1)) * k;
            ROW_OF(k, 0, k - 1, {
                f64 u = x[here + j], q = kappa[here + j];
                f64 sum = (q + kappa[a + j]) * (x[a + j] - u) + (q + kappa[b + j]) * (x[b + j] - u) +
                          (q + kappa[c + j]) * (x[c + j] - u) + (q + kappa[d + j]) * (x[d + j] - u) +
                          (q + kappa[here + left]) * (x[here + left] - u) +
                          (q + kappa[here + right]) * (x[here + right] - u);
                z[here + j] = u + 0.0625 * sum;
            })
        }
}

/* Groups of lengths that differ, none empty. */
void nb_make_fields_groups(const struct nb_call *call);
void nb_make_fields_groups(const struct nb_call *call)
{
    i64 *offsets = call->in[0], groups = E(0) - 1, n = E(1), mean = n / groups;
    for (i64 g = 0; g < groups; g++)
        offsets[g] = g ? g * n / groups - (i64)((u64)g * 2654435761u >> 8) % (mean - 1) : 0;
    offsets[groups] = n;
}

C(fd_group_boxes)
{
    IN(i64, offsets, 0);
    IN(f32, x, 1);
    IN(f32, y, 2);
    IN(f32, z, 3);
    int64_t groups = E(0) - 1;
    PRAGMA(omp parallel for schedule(dynamic, 1 + groups / 1000))
    FOR (g, groups) {
        FOR (c, 3) {
            const f32 *p = c == 0 ? x : c == 1 ? y : z;
            f32 least = INFINITY, most = -INFINITY;
            PRAGMA(omp simd reduction(min : least) reduction(max : most))
            for (int64_t i = offsets[g]; i < offsets[g + 1]; i++) {
                least = p[i] < least ? p[i] : least;
                most = p[i] > most ? p[i] : most;
            }
            ((f32 *)call->out[c])[g] = least;
            ((f32 *)call->out[c + 3])[g] = most;
        }
    }
}

/* Several rows at a time, as each waits for itself. */
#define EXACT __attribute__((optimize("no-associative-math", "no-unsafe-math-optimizations", "no-fast-math")))

EXACT static void kahan_rows(const f32 *x, f32 *z, int64_t m, int64_t some)
{
    f32 sum[16] = {0}, rest[16] = {0};
    FOR (j, m)
        FOR (r, 16) {
            f32 y = x[MIN(r, some - 1) * m + j] - rest[r], next = sum[r] + y;
            rest[r] = (next - sum[r]) - y;
            sum[r] = next;
        }
    FOR (r, some)
        z[r] = sum[r];
}

C(fd_kahan)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (b, (n + 15) / 16)
        kahan_rows(x + b * 16 * m, z + b * 16, m, MIN(16, n - b * 16));
}

EXACT static void kahan_block(const f32 *x, f32 *z, int64_t n, int64_t m, int64_t some)
{
    f32 sum[64] = {0}, rest[64] = {0};
    FOR (i, n)
        FOR (j, some) {
            f32 y = x[i * m + j] - rest[j], next = sum[j] + y;
            rest[j] = (next - sum[j]) - y;
            sum[j] = next;
        }
    FOR (j, some)
        z[j] = sum[j];
}

C(fd_kahan_columns)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (b, (m + 63) / 64)
        kahan_block(x + b * 64, z + b * 64, n, m, MIN(64, m - b * 64));
}

C(fd_height_normals)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const f32 *up = x + MAX(i - 1, 0) * m, *here = x + i * m, *down = x + MIN(i + 1, n - 1) * m;
        f32 *to = z + i * m * 3;
        ROW_OF(m, 0, m - 1, {
            f32 a = here[left] - here[right], b = up[j] - down[j], one_over = 1 / sqrtf(a * a + b * b + 4);
            to[3 * j] = a * one_over;
            to[3 * j + 1] = b * one_over;
            to[3 * j + 2] = 2 * one_over;
        })
    }
}
