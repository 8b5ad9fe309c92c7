#include "c.h"

/* Each thread combines its part of the elements in a table of its own; tables are merged in turn. */
#define BY_KEY(name, K, V, T, R, empty, into, merge)                                                                   \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(K, key, 0);                                                                                                 \
        IN(V, x, 1);                                                                                                   \
        OUT(R, z, 0);                                                                                                  \
        int64_t n = E(0), m = E(1);                                                                                    \
        (void)x;                                                                                                       \
        FOR (b, m)                                                                                                     \
            z[b] = (R)(empty);                                                                                         \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            T *t = malloc((size_t)m * sizeof *t);                                                                      \
            FOR (b, m)                                                                                                 \
                t[b] = (T)(empty);                                                                                     \
            SPLIT_FOR                                                                                                  \
            FOR (i, n) {                                                                                               \
                T *at = t + key[i];                                                                                    \
                into;                                                                                                  \
            }                                                                                                          \
            CRITICAL                                                                                                   \
            FOR (b, m)                                                                                                 \
                merge;                                                                                                 \
            free(t);                                                                                                   \
        }                                                                                                              \
    }

BY_KEY(by_key_u8, u8, u8, i32, i64, 0, (*at)++, z[b] += t[b])
BY_KEY(by_key_i32, i32, u8, i32, i64, 0, (*at)++, z[b] += t[b])
BY_KEY(by_key_u32, u32, u8, i32, i64, 0, (*at)++, z[b] += t[b])
BY_KEY(by_key_i64, i64, u8, i32, i64, 0, (*at)++, z[b] += t[b])
BY_KEY(weights_f32, u32, f32, f32, f32, 0, *at += x[i], z[b] += t[b])
BY_KEY(weights_f64, u32, f64, f64, f64, 0, *at += x[i], z[b] += t[b])
BY_KEY(weights_u8, u32, u8, u32, u32, 0, *at += x[i], z[b] += t[b])
BY_KEY(greatest_f32, u32, f32, f32, f32, -INFINITY, *at = MAX(*at, x[i]), z[b] = MAX(z[b], t[b]))
BY_KEY(greatest_i16, u32, i16, i16, i16, INT16_MIN, *at = MAX(*at, x[i]), z[b] = MAX(z[b], t[b]))

BY_KEY(sums_i32, u32, i32, i32, i32, 0, *at += x[i], z[b] += t[b])
BY_KEY(sums_f64, u32, f64, f64, f64, 0, *at += x[i], z[b] += t[b])
BY_KEY(products_u64, u32, u64, u64, u64, 1, *at *= x[i], z[b] *= t[b])

C(range_f32)
{
    IN(u32, key, 0);
    IN(f32, x, 1);
    OUT(f32, least, 0);
    OUT(f32, most, 1);
    int64_t n = E(0), m = E(1);
    FOR (b, m) {
        least[b] = INFINITY;
        most[b] = -INFINITY;
    }
    PARALLEL
    {
        struct range {
            f32 least, most;
        } *t = malloc((size_t)m * sizeof *t);
        FOR (b, m)
            t[b] = (struct range){INFINITY, -INFINITY};
        SPLIT_FOR
        FOR (i, n) {
            struct range *r = t + key[i];
            r->least = x[i] < r->least ? x[i] : r->least;
            r->most = x[i] > r->most ? x[i] : r->most;
        }
        CRITICAL
        FOR (b, m) {
            least[b] = MIN(least[b], t[b].least);
            most[b] = MAX(most[b], t[b].most);
        }
        free(t);
    }
}

C(points_f32)
{
    IN(u32, key, 0);
    IN(f32, x, 1);
    IN(f32, y, 2);
    IN(f32, z, 3);
    OUT(f32, to_x, 0);
    OUT(f32, to_y, 1);
    OUT(f32, to_z, 2);
    int64_t n = E(0), m = E(1);
    FOR (b, m)
        to_x[b] = to_y[b] = to_z[b] = 0;
    PARALLEL
    {
        struct point {
            f32 x, y, z, none;
        } *t = calloc((size_t)m, sizeof *t);
        SPLIT_FOR
        FOR (i, n) {
            struct point *p = t + key[i];
            p->x += x[i];
            p->y += y[i];
            p->z += z[i];
        }
        CRITICAL
        FOR (b, m) {
            to_x[b] += t[b].x;
            to_y[b] += t[b].y;
            to_z[b] += t[b].z;
        }
        free(t);
    }
}

C(cells_f32)
{
    IN(i32, row, 0);
    IN(i32, column, 1);
    IN(f32, x, 2);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1), k = E(2);
    FOR (b, m * k)
        z[b] = 0;
    PARALLEL
    {
        f32 *t = calloc((size_t)(m * k), sizeof *t);
        SPLIT_FOR
        FOR (i, n)
            t[row[i] * k + column[i]] += x[i];
        CRITICAL
        FOR (b, m * k)
            z[b] += t[b];
        free(t);
    }
}

C(histogram_floats_f32)
{
    IN(f32, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    FOR (b, m)
        z[b] = 0;
    PARALLEL
    {
        i32 *t = calloc((size_t)m, sizeof *t);
        SPLIT_FOR
        FOR (i, n) {
            int64_t bin = (int64_t)(x[i] * (float)m);
            t[MAX(MIN(bin, m - 1), 0)]++;
        }
        CRITICAL
        FOR (b, m)
            z[b] += t[b];
        free(t);
    }
}

C(means_f32)
{
    IN(u32, key, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    struct mean {
        f32 sum;
        i32 count;
    } *all = calloc((size_t)m, sizeof *all);
    PARALLEL
    {
        struct mean *t = calloc((size_t)m, sizeof *t);
        SPLIT_FOR
        FOR (i, n) {
            t[key[i]].sum += x[i];
            t[key[i]].count++;
        }
        CRITICAL
        FOR (b, m) {
            all[b].sum += t[b].sum;
            all[b].count += t[b].count;
        }
        free(t);
    }
    FOR (b, m)
        z[b] = all[b].sum / (f32)all[b].count;
    free(all);
}

C(best_f32)
{
    IN(u32, key, 0);
    IN(f32, x, 1);
    OUT(f32, most, 0);
    OUT(i64, at, 1);
    int64_t n = E(0), m = E(1);
    FOR (b, m) {
        most[b] = -1e30f;
        at[b] = INT64_MAX;
    }
    PARALLEL
    {
        struct best {
            f32 x;
            i64 at;
        } *t = malloc((size_t)m * sizeof *t);
        FOR (b, m)
            t[b] = (struct best){-1e30f, INT64_MAX};
        SPLIT_FOR
        FOR (i, n)
            if (x[i] > t[key[i]].x)
                t[key[i]] = (struct best){x[i], i};
        CRITICAL
        FOR (b, m)
            if (t[b].x > most[b] || (t[b].x == most[b] && t[b].at < at[b])) {
                most[b] = t[b].x;
                at[b] = t[b].at;
            }
        free(t);
    }
}

/* The last one stays: one thread. */
C(scatter_f32)
{
    IN(u32, key, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    FOR (b, m)
        z[b] = 0;
    FOR (i, n)
        z[key[i]] = x[i];
}

/* No key twice. */
C(scatter_once_f32)
{
    IN(u32, key, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (b, m)
        z[b] = 0;
    PARALLEL_FOR
    FOR (i, n)
        z[key[i]] = x[i];
}

C(turned_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (j, m)
        FOR (i, n)
            z[j * n + i] = x[i * m + j];
}
