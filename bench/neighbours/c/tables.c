/* Columns of tables. */
#include "c.h"

#include <omp.h>

enum { MOST_THREADS = 256 };

C(revenue_f64)
{
    IN(i32, day, 0);
    IN(i32, many, 1);
    IN(f64, price, 2);
    IN(f64, discount, 3);
    int64_t n = E(0);
    f64 sum = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : sum))
    FOR (i, n)
        sum += (day[i] >= 3) & (day[i] < 9) & (many[i] < 24) ? price[i] * discount[i] : 0;
    RESULT(f64, 0) = sum;
}

/* Sums of a few groups: a table a thread. */
C(by_status_f64)
{
    IN(u8, key, 0);
    IN(f64, price, 1);
    IN(f64, discount, 2);
    OUT(f64, all, 0);
    OUT(f64, net, 1);
    OUT(i64, count, 2);
    int64_t n = E(0);
    memset(all, 0, 64);
    memset(net, 0, 64);
    memset(count, 0, 64);
    PARALLEL
    {
        f64 a[2][8] = {0}, b[2][8] = {0};
        i64 c[2][8] = {0};
        SPLIT_FOR
        for (int64_t j = 0; j < n / 2; j++)
            FOR (h, 2) {
                int64_t i = 2 * j + h;
                a[h][key[i] & 7] += price[i];
                b[h][key[i] & 7] += price[i] * (1 - discount[i]);
                c[h][key[i] & 7]++;
            }
        CRITICAL
        FOR (k, 8) {
            all[k] += a[0][k] + a[1][k];
            net[k] += b[0][k] + b[1][k];
            count[k] += c[0][k] + c[1][k];
        }
    }
    for (int64_t i = n & ~(int64_t)1; i < n; i++) {
        all[key[i] & 7] += price[i];
        net[key[i] & 7] += price[i] * (1 - discount[i]);
        count[key[i] & 7]++;
    }
}

/* Each thread packs its part into memory of its own place, then all parts move together. Branches would be guessed. */
#define PACK_PARTS(n, holds, put)                                                                                      \
    int64_t kept_of[MOST_THREADS], total = 0;                                                                          \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();                                              \
        int64_t begin = (n)*id / count, end = (n) * (id + 1) / count, k = 0;                                           \
        for (int64_t i = begin; i < end; i++)                                                                          \
            k += (holds);                                                                                              \
        kept_of[id] = k;                                                                                               \
        PRAGMA(omp barrier)                                                                                            \
        k = 0;                                                                                                         \
        for (int64_t other = 0; other < id; other++)                                                                   \
            k += kept_of[other];                                                                                       \
        int64_t last = k + kept_of[id];                                                                                \
        for (int64_t i = begin; i < end && k < last; i++) {                                                            \
            put;                                                                                                       \
            k += (holds);                                                                                              \
        }                                                                                                              \
        if (id == count - 1)                                                                                           \
            total = last;                                                                                              \
    }                                                                                                                  \
    KEPT(0) = total;

C(selected_f32)
{
    IN(f32, x, 0);
    IN(i32, y, 1);
    IN(u8, z, 2);
    OUT(f32, p, 0);
    OUT(i32, q, 1);
    OUT(u8, r, 2);
    int64_t n = E(0);
    PACK_PARTS(n, (x[i] > 0) & (y[i] < 50), {
        p[k] = x[i];
        q[k] = y[i];
        r[k] = z[i];
    })
    KEPT(1) = KEPT(2) = total;
}

C(last_known_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, before = begin;
        while (before > 0 && !(x[before] > -1))
            before--;
        f32 last = x[before];
        for (int64_t i = begin; i < end; i++) {
            last = x[i] > -1 || i == 0 ? x[i] : last;
            z[i] = last;
        }
    }
}

C(mean_for_missing_f32)
{
    IN(f32, x, 0);
    IN(b8, there, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), count = 0;
    f32 sum = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : sum, count))
    FOR (i, n) {
        sum += there[i] ? x[i] : 0;
        count += there[i];
    }
    f32 mean = sum / (f32)count;
    PARALLEL_FOR
    FOR (i, n)
        z[i] = there[i] ? x[i] : mean;
}

C(sessions_i64)
{
    IN(i64, t, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    int64_t of[MOST_THREADS];
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, from = MAX(begin, 1);
        int32_t k = 0;
        for (int64_t i = from; i < end; i++)
            k += t[i] - t[i - 1] > 30;
        of[id] = k;
        PRAGMA(omp barrier)
        k = 0;
        for (int64_t other = 0; other < id; other++)
            k += (int32_t)of[other];
        if (!begin)
            z[0] = 0;
        for (int64_t i = from; i < end; i++) {
            k += t[i] - t[i - 1] > 30;
            z[i] = k;
        }
    }
}

C(changes_u8)
{
    IN(u8, x, 0);
    OUT(i64, at, 0);
    OUT(u8, z, 1);
    int64_t n = E(0);
    PACK_PARTS(n, i == 0 || x[i] != x[i - 1], {
        at[k] = i;
        z[k] = x[i];
    })
    KEPT(1) = total;
}

C(from_mean_of_key_f32)
{
    IN(u8, code, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    f32 sum[16] = {0};
    int64_t count[16] = {0};
    PARALLEL
    {
        f32 a[2][16] = {0};
        int64_t c[2][16] = {0};
        SPLIT_FOR
        for (int64_t j = 0; j < (n + 1) / 2; j++)
            for (int64_t i = 2 * j; i < MIN(n, 2 * j + 2); i++) {
                a[i & 1][code[i] & 15] += x[i];
                c[i & 1][code[i] & 15]++;
            }
        CRITICAL
        FOR (k, 16) {
            sum[k] += a[0][k] + a[1][k];
            count[k] += c[0][k] + c[1][k];
        }
    }
    f32 mean[16];
    FOR (k, 16)
        mean[k] = sum[k] / (f32)MAX(count[k], 1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = x[i] - mean[code[i] & 15];
}

C(crosstab_u8)
{
    IN(u8, a, 0);
    IN(u8, b, 1);
    OUT(i64, z, 0);
    int64_t n = E(0);
    memset(z, 0, 256 * sizeof *z);
    PARALLEL
    {
        uint32_t of[4][256] = {0};
        SPLIT_FOR
        for (int64_t j = 0; j < (n + 3) / 4; j++)
            for (int64_t i = 4 * j; i < MIN(n, 4 * j + 4); i++)
                of[i & 3][(a[i] & 15) * 16 + (b[i] & 15)]++;
        CRITICAL
        FOR (k, 256)
            z[k] += of[0][k] + of[1][k] + of[2][k] + of[3][k];
    }
}

C(buckets_f32)
{
    IN(f32, x, 0);
    IN(f32, limit, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    for (int64_t first = 0; first < n; first += 64) {
        int32_t count[64] = {0};
        int64_t some = MIN(64, n - first);
        FOR (k, m)
            SIMD
        FOR (l, some)
            count[l] += x[first + l] >= limit[k];
        FOR (l, some)
            z[first + l] = (u8)count[l];
    }
}

C(numbers_of_digits_u8)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = 0;
        FOR (k, 8)
            v = v * 10 + x[8 * i + k];
        z[i] = v;
    }
}

C(civil_dates_i32)
{
    IN(i32, day, 0);
    OUT(i32, year, 0);
    OUT(u8, month, 1);
    OUT(u8, date, 2);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        i32 z = day[i] + 719468, era = z / 146097, of_era = z - era * 146097;
        i32 y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
        i32 of_year = of_era - (365 * y + y / 4 - y / 100), mp = (5 * of_year + 2) / 153;
        i32 m = mp < 10 ? mp + 3 : mp - 9;
        year[i] = y + era * 400 + (m <= 2);
        month[i] = (u8)m;
        date[i] = (u8)(of_year - (153 * mp + 2) / 5 + 1);
    }
}

C(decoded_u8)
{
    IN(u8, code, 0);
    IN(f64, value, 1);
    OUT(f64, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = value[code[i]];
}

C(decoded_u16)
{
    IN(u16, code, 0);
    IN(f32, value, 1);
    OUT(f32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = value[code[i]];
}

C(deltas_added_i16)
{
    IN(i16, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    int32_t of[MOST_THREADS];
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        int32_t s = 0;
        for (int64_t i = begin; i < end; i++)
            s += x[i];
        of[id] = s;
        PRAGMA(omp barrier)
        s = 0;
        for (int64_t other = 0; other < id; other++)
            s += of[other];
        for (int64_t i = begin; i < end; i++)
            z[i] = s += x[i];
    }
}

C(deltas_taken_i32)
{
    IN(i32, x, 0);
    OUT(i16, z, 0);
    int64_t n = E(0);
    z[0] = (i16)x[0];
    PARALLEL_FOR
    for (int64_t i = 1; i < n; i++)
        z[i] = (i16)(x[i] - x[i - 1]);
}

C(range_where_f32)
{
    IN(f32, x, 0);
    IN(u8, code, 1);
    int64_t n = E(0), count = 0;
    f32 least = 1000, most = -1000;
    PRAGMA(omp parallel for simd schedule(static) reduction(min : least) reduction(max : most) reduction(+ : count))
    FOR (i, n) {
        int is = code[i] % 3 == 0;
        least = MIN(least, is ? x[i] : 1000);
        most = MAX(most, is ? x[i] : -1000);
        count += is;
    }
    RESULT(f32, 0) = least;
    RESULT(f32, 1) = most;
    RESULT(i64, 2) = count;
}

C(set_bits_u8)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    int64_t kept_of[MOST_THREADS], total = 0;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count, k = 0;
        for (int64_t i = begin; i < end; i++)
            k += __builtin_popcount(x[i]);
        kept_of[id] = k;
        PRAGMA(omp barrier)
        k = 0;
        for (int64_t other = 0; other < id; other++)
            k += kept_of[other];
        for (int64_t i = begin; i < end; i++)
            for (unsigned bits = x[i]; bits; bits &= bits - 1)
                z[k++] = (i32)(8 * i + __builtin_ctz(bits));
        if (id == count - 1)
            total = k;
    }
    KEPT(0) = total;
}

C(hashes_u8)
{
    IN(u8, x, 0);
    OUT(u64, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    for (int64_t first = 0; first < n; first += 8) {
        u64 h[8];
        int64_t some = MIN(8, n - first);
        FOR (l, 8)
            h[l] = 14695981039346656037u;
        FOR (k, 16)
            FOR (l, some)
                h[l] = (h[l] ^ x[16 * (first + l) + k]) * 1099511628211u;
        FOR (l, some)
            z[first + l] = h[l];
    }
}

C(equal_names_u8)
{
    IN(u8, x, 0);
    IN(u8, name, 1);
    int64_t n = E(0), count = 0;
    u64 wanted;
    memcpy(&wanted, name, 8);
    PRAGMA(omp parallel for schedule(static) reduction(+ : count))
    FOR (i, n) {
        u64 own;
        memcpy(&own, x + 8 * i, 8);
        count += own == wanted;
    }
    RESULT(i64, 0) = count;
}

C(records_broken_f32)
{
    IN(f32, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0), all = 0;
    f32 most_of[MOST_THREADS];
    PRAGMA(omp parallel reduction(+ : all))
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        f32 most = -INFINITY;
        for (int64_t i = begin; i < end; i++)
            most = MAX(most, x[i]);
        most_of[id] = most;
        PRAGMA(omp barrier)
        most = -INFINITY;
        for (int64_t other = 0; other < id; other++)
            most = MAX(most, most_of[other]);
        for (int64_t i = begin; i < end; i++) {
            z[i] = x[i] > most || i == 0;
            all += z[i];
            most = MAX(most, x[i]);
        }
    }
    RESULT(i64, 1) = all;
}

#define GROUPS_FOR PRAGMA(omp parallel for schedule(dynamic, 1 + groups / 64))

C(steps_in_groups_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t groups = E(0) - 1;
    GROUPS_FOR
    FOR (s, groups) {
        if (offset[s] < offset[s + 1])
            z[offset[s]] = 0;
        for (int64_t i = offset[s] + 1; i < offset[s + 1]; i++)
            z[i] = x[i] - x[i - 1];
    }
}

C(sum_and_place_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, sums, 0);
    OUT(i64, places, 1);
    int64_t groups = E(0) - 1;
    GROUPS_FOR
    FOR (s, groups) {
        f32 sum = 0, most = -INFINITY;
        int64_t from = offset[s], to = offset[s + 1], best = from;
        PRAGMA(omp simd reduction(max : most) reduction(+ : sum))
        for (int64_t i = from; i < to; i++) {
            sum += x[i];
            most = MAX(most, x[i]);
        }
        while (x[best] != most)
            best++;
        sums[s] = sum;
        places[s] = best - from;
    }
}

C(mean_where_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    OUT(f32, z, 0);
    int64_t groups = E(0) - 1;
    GROUPS_FOR
    FOR (s, groups) {
        f32 sum = 0;
        int32_t count = 0;
        PRAGMA(omp simd reduction(+ : sum, count))
        for (int64_t i = offset[s]; i < offset[s + 1]; i++) {
            sum += x[i] > 0 ? x[i] : 0;
            count += x[i] > 0;
        }
        z[s] = sum / (f32)MAX(count, 1);
    }
}

C(above_level_f32)
{
    IN(i64, offset, 0);
    IN(f32, x, 1);
    IN(f32, level, 2);
    OUT(f32, z, 0);
    OUT(i64, at, 1);
    int64_t groups = E(0) - 1, n = E(1), kept_of[MOST_THREADS], total = 0;
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t first = groups * id / threads, last = groups * (id + 1) / threads, k = 0;
        if (groups < 8 * threads) /* a few long ones are cut */
            first = id ? groups : 0, last = groups;
        for (int64_t s = first; s < last; s++) {
            int32_t own = 0;
            SIMD
            for (int64_t i = offset[s]; i < offset[s + 1]; i++)
                own += x[i] > level[s];
            k += own;
        }
        kept_of[id] = k;
        PRAGMA(omp barrier)
        k = 0;
        for (int64_t other = 0; other < id; other++)
            k += kept_of[other];
        int64_t end = k + kept_of[id];
        for (int64_t s = first; s < last; s++)
            for (int64_t i = offset[s]; i < offset[s + 1] && k < end; i++) {
                z[k] = x[i];
                at[k] = i;
                k += x[i] > level[s];
            }
        if (id == threads - 1)
            total = end;
    }
    (void)n;
    KEPT(0) = KEPT(1) = total;
}

C(weighted_mean_by_key_f32)
{
    IN(u16, code, 0);
    IN(f32, x, 1);
    IN(f32, w, 2);
    OUT(f32, z, 0);
    int64_t n = E(0);
    static f32 all[1024][2];
    memset(all, 0, sizeof all);
    PARALLEL
    {
        f32 of[1024][2] = {0};
        SPLIT_FOR
        for (int64_t i = 0; i < n; i++) {
            of[code[i] & 1023][0] += x[i] * w[i];
            of[code[i] & 1023][1] += w[i];
        }
        CRITICAL
        FOR (k, 1024) {
            all[k][0] += of[k][0];
            all[k][1] += of[k][1];
        }
    }
    FOR (k, 1024)
        z[k] = all[k][1] > 0 ? all[k][0] / all[k][1] : 0;
}

C(first_of_key_u16)
{
    IN(u16, code, 0);
    OUT(i64, z, 0);
    int64_t n = E(0);
    int64_t *of[MOST_THREADS], threads = 1;
    PARALLEL
    {
        int64_t id = omp_get_thread_num(), count = omp_get_num_threads();
        int64_t *own = of[id] = malloc(65536 * sizeof *own);
        threads = count;
        FOR (k, 65536)
            own[k] = INT64_MAX;
        for (int64_t i = n * (id + 1) / count - 1; i >= n * id / count; i--)
            own[code[i]] = i;
        PRAGMA(omp barrier)
        SPLIT_FOR
        for (int64_t k = 0; k < 65536; k++) {
            int64_t least = INT64_MAX;
            FOR (t, count)
                least = MIN(least, of[t][k]);
            z[k] = least;
        }
    }
    FOR (t, threads)
        free(of[t]);
}

C(latest_by_key_i32)
{
    IN(i32, key, 0);
    IN(i32, x, 1);
    OUT(i32, z, 0);
    int64_t n = E(0);
    /* Each thread takes the keys of its part of the table. */
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int32_t begin = (int32_t)(n * id / count), end = (int32_t)(n * (id + 1) / count);
        for (int64_t k = begin; k < end; k++)
            z[k] = INT32_MIN;
        FOR (i, n)
            if (key[i] >= begin && key[i] < end)
                z[key[i]] = MAX(z[key[i]], x[i]);
    }
}

C(dense_codes_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    u8 there[256] = {0}, number[256];
    PARALLEL
    {
        u8 own[256] = {0};
        SPLIT_FOR
        for (int64_t i = 0; i < n; i++)
            own[x[i]] = 1;
        CRITICAL
        FOR (k, 256)
            there[k] |= own[k];
    }
    i32 count = 0;
    FOR (k, 256) {
        number[k] = (u8)count;
        count += there[k];
    }
    PARALLEL_FOR
    FOR (i, n)
        z[i] = number[x[i]];
    RESULT(i32, 1) = count;
}

C(missing_of_columns_u8)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0);
    memset(z, 0, 12 * sizeof *z);
    PARALLEL
    {
        int64_t all[12] = {0};
        SPLIT_FOR
        for (int64_t first = 0; first < (n + 199) / 200; first++) {
            u8 count[12] = {0};
            for (int64_t i = 200 * first; i < MIN(n, 200 * first + 200); i++)
                FOR (k, 12)
                    count[k] = (u8)(count[k] + (x[12 * i + k] == 7));
            FOR (k, 12)
                all[k] += count[k];
        }
        CRITICAL
        FOR (k, 12)
            z[k] += all[k];
    }
}

C(discounts_f64)
{
    IN(f64, price, 0);
    IN(u8, many, 1);
    OUT(f64, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        f64 rate = many[i] >= 12 ? 0.8 : many[i] >= 6 ? 0.9 : many[i] >= 3 ? 0.95 : 1;
        z[i] = price[i] * many[i] * rate;
    }
}

C(pairs_of_codes_u8)
{
    IN(u8, a, 0);
    IN(u8, b, 1);
    OUT(u16, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (u16)(a[i] << 8 | b[i]);
}

C(share_above_mean_f64)
{
    IN(f64, x, 0);
    int64_t n = E(0);
    f64 sum = 0, above = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : sum))
    FOR (i, n)
        sum += x[i];
    f64 mean = sum / (f64)n;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : above))
    FOR (i, n)
        above += x[i] > mean ? x[i] : 0;
    RESULT(f64, 0) = sum;
    RESULT(f64, 1) = above;
}
