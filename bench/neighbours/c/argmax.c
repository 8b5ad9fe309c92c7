#include "c.h"

enum { BLOCK = 4096 };

/* The greatest `value` of pieces of BLOCK elements, which vectorises; then the first place of it in the first piece
 * that has it. */
#define FIND(T, value)                                                                                                 \
    int64_t blocks = (n + BLOCK - 1) / BLOCK, best = 0;                                                                \
    T most = 0;                                                                                                        \
    bool any = false;                                                                                                  \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        T mine = 0;                                                                                                    \
        int64_t at = -1;                                                                                               \
        SPLIT_FOR                                                                                                      \
        FOR (b, blocks) {                                                                                              \
            int64_t first = b * BLOCK, last = MIN(n, first + BLOCK);                                                   \
            T m;                                                                                                       \
            {                                                                                                          \
                int64_t i = first;                                                                                     \
                m = (value);                                                                                           \
            }                                                                                                          \
            PRAGMA(omp simd reduction(max : m))                                                                        \
            for (int64_t i = first; i < last; i++) {                                                                   \
                T v = (value);                                                                                         \
                m = v > m ? v : m;                                                                                     \
            }                                                                                                          \
            if (at < 0 || m > mine) {                                                                                  \
                mine = m;                                                                                              \
                at = b;                                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        CRITICAL                                                                                                       \
        if (at >= 0 && (!any || mine > most || (mine == most && at < best))) {                                         \
            any = true;                                                                                                \
            most = mine;                                                                                               \
            best = at;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    int64_t place = best * BLOCK;                                                                                      \
    for (int64_t i = place;; i++)                                                                                      \
        if ((T)(value) == most) {                                                                                      \
            place = i;                                                                                                 \
            break;                                                                                                     \
        }

#define ARGMAX(T)                                                                                                      \
    C(argmax_##T)                                                                                                      \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        FIND(T, x[i])                                                                                                  \
        RESULT(T, 0) = most;                                                                                           \
        RESULT(i32, 1) = (i32)place;                                                                                   \
    }                                                                                                                  \
    C(argmax_index_##T)                                                                                                \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = SIZE;                                                                                              \
        FIND(T, x[i])                                                                                                  \
        RESULT(i64, 0) = place;                                                                                        \
    }
ARGMAX(f32)
ARGMAX(f64)
ARGMAX(i32)
ARGMAX(i64)
ARGMAX(i16)
ARGMAX(i8)
ARGMAX(u8)

C(argmax_wide_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    FIND(f32, x[i])
    RESULT(f32, 0) = most;
    RESULT(i64, 1) = place;
}

C(argmin_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    FIND(f32, -x[i])
    RESULT(f32, 0) = -most;
    RESULT(i32, 1) = (i32)place;
}

#define PAYLOAD(T)                                                                                                     \
    C(argmax_payload_##T)                                                                                              \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        IN(f32, y, 1);                                                                                                 \
        int64_t n = SIZE;                                                                                              \
        FIND(T, x[i])                                                                                                  \
        RESULT(T, 0) = most;                                                                                           \
        RESULT(f32, 1) = y[place];                                                                                     \
    }
PAYLOAD(f32)
PAYLOAD(u8)

C(argmax_payload_index_f32)
{
    IN(f32, x, 0);
    IN(i32, y, 1);
    int64_t n = SIZE;
    FIND(f32, x[i])
    RESULT(f32, 0) = most;
    RESULT(i32, 1) = (i32)place;
    RESULT(i32, 2) = y[place];
}

C(argmax_of_product_f32)
{
    IN(f32, x, 0);
    IN(f32, y, 1);
    int64_t n = SIZE;
    FIND(f32, x[i] * y[i])
    RESULT(f32, 0) = most;
    RESULT(i32, 1) = (i32)place;
}

C(argmax_of_absolute_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    FIND(f32, fabsf(x[i]))
    RESULT(f32, 0) = most;
    RESULT(i32, 1) = (i32)place;
}

/* What is stored is found there. */
#define FIND_STORED(value)                                                                                             \
    int64_t blocks = (n + BLOCK - 1) / BLOCK, best = 0;                                                                \
    f32 most = -INFINITY_OF_F32;                                                                                       \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        f32 mine = -INFINITY_OF_F32;                                                                                   \
        int64_t at = 0;                                                                                                \
        SPLIT_FOR                                                                                                      \
        FOR (b, blocks) {                                                                                              \
            int64_t first = b * BLOCK, last = MIN(n, first + BLOCK);                                                   \
            f32 m = -INFINITY_OF_F32;                                                                                  \
            PRAGMA(omp simd reduction(max : m))                                                                        \
            for (int64_t i = first; i < last; i++) {                                                                   \
                f32 v = (value);                                                                                       \
                z[i] = v;                                                                                              \
                m = v > m ? v : m;                                                                                     \
            }                                                                                                          \
            if (m > mine) {                                                                                            \
                mine = m;                                                                                              \
                at = b;                                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        CRITICAL                                                                                                       \
        if (mine > most || (mine == most && at < best)) {                                                              \
            most = mine;                                                                                               \
            best = at;                                                                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    int64_t place = best * BLOCK;                                                                                      \
    while (z[place] != most)                                                                                           \
        place++;
#define INFINITY_OF_F32 3.4e38f

C(argmax_of_stored_f32)
{
    IN(f32, x, 0);
    OUT(f32, z, 0);
    int64_t n = SIZE;
    FIND_STORED(((x[i] * -0.5f + 1) * x[i] + 0.25f) * x[i])
    RESULT(f32, 1) = most;
    RESULT(i32, 2) = (i32)place;
}

/* A block's values are kept, so that the place is looked up and not computed again in another way. */
C(argmax_of_long_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE, blocks = (n + BLOCK - 1) / BLOCK, place = 0;
    f32 most = -INFINITY_OF_F32;
    PARALLEL
    {
        f32 mine = -INFINITY_OF_F32, value[BLOCK];
        int64_t at = 0;
        SPLIT_FOR
        FOR (b, blocks) {
            int64_t first = b * BLOCK, count = MIN(n - first, BLOCK);
            f32 m = -INFINITY_OF_F32;
            PRAGMA(omp simd reduction(max : m))
            FOR (i, count) {
                f32 v = expf(x[first + i] * x[first + i]) * sinf(x[first + i]);
                value[i] = v;
                m = v > m ? v : m;
            }
            if (m > mine) {
                mine = m;
                for (at = first; value[at - first] != m; at++)
                    ;
            }
        }
        CRITICAL
        if (mine > most || (mine == most && at < place)) {
            most = mine;
            place = at;
        }
    }
    RESULT(f32, 0) = most;
    RESULT(i32, 1) = (i32)place;
}

C(argmin_argmax_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE, blocks = (n + BLOCK - 1) / BLOCK, low_at = 0, high_at = 0;
    f32 low = INFINITY_OF_F32, high = -INFINITY_OF_F32;
    PARALLEL
    {
        f32 my_low = INFINITY_OF_F32, my_high = -INFINITY_OF_F32;
        int64_t at_low = 0, at_high = 0;
        SPLIT_FOR
        FOR (b, blocks) {
            int64_t first = b * BLOCK, last = MIN(n, first + BLOCK);
            f32 l = x[first], h = x[first];
            PRAGMA(omp simd reduction(min : l) reduction(max : h))
            for (int64_t i = first; i < last; i++) {
                l = x[i] < l ? x[i] : l;
                h = x[i] > h ? x[i] : h;
            }
            if (l < my_low) {
                my_low = l;
                at_low = b;
            }
            if (h > my_high) {
                my_high = h;
                at_high = b;
            }
        }
        CRITICAL
        {
            if (my_low < low || (my_low == low && at_low < low_at)) {
                low = my_low;
                low_at = at_low;
            }
            if (my_high > high || (my_high == high && at_high < high_at)) {
                high = my_high;
                high_at = at_high;
            }
        }
    }
    low_at *= BLOCK;
    high_at *= BLOCK;
    while (x[low_at] != low)
        low_at++;
    while (x[high_at] != high)
        high_at++;
    RESULT(i64, 0) = low_at;
    RESULT(i64, 1) = high_at;
}

C(argmax_sum_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE, blocks = (n + BLOCK - 1) / BLOCK, best = 0;
    f32 most = -INFINITY_OF_F32, sum = 0;
    PARALLEL
    {
        f32 mine = -INFINITY_OF_F32, s = 0;
        int64_t at = 0;
        SPLIT_FOR
        FOR (b, blocks) {
            int64_t first = b * BLOCK, last = MIN(n, first + BLOCK);
            f32 m = x[first], part = 0;
            PRAGMA(omp simd reduction(max : m) reduction(+ : part))
            for (int64_t i = first; i < last; i++) {
                m = x[i] > m ? x[i] : m;
                part += x[i];
            }
            s += part;
            if (m > mine) {
                mine = m;
                at = b;
            }
        }
        CRITICAL
        {
            sum += s;
            if (mine > most || (mine == most && at < best)) {
                most = mine;
                best = at;
            }
        }
    }
    best *= BLOCK;
    while (x[best] != most)
        best++;
    RESULT(i64, 0) = best;
    RESULT(f32, 1) = sum;
}

enum { LANES = 64 };

C(largest_two_f32)
{
    IN(f32, x, 0);
    int64_t n = SIZE;
    f32 most = -1, second = -1;
    PARALLEL
    {
        f32 a[LANES], b[LANES];
        FOR (l, LANES)
            a[l] = b[l] = -1;
        SPLIT_FOR
        for (int64_t i = 0; i < n / LANES; i++) {
            SIMD
            FOR (l, LANES) {
                f32 v = x[i * LANES + l], low = v < a[l] ? v : a[l];
                a[l] = v > a[l] ? v : a[l];
                b[l] = low > b[l] ? low : b[l];
            }
        }
        CRITICAL
        FOR (l, LANES) {
            second = MAX(MIN(a[l], most), MAX(second, b[l]));
            most = MAX(most, a[l]);
        }
    }
    for (int64_t i = n / LANES * LANES; i < n; i++) {
        second = MAX(second, MIN(most, x[i]));
        most = MAX(most, x[i]);
    }
    RESULT(f32, 0) = most;
    RESULT(f32, 1) = second;
}

/* Rows: the greatest, then its place. Columns: rows one after the other against what each column has so far; few
 * columns each thread for itself, many in strips. */
#define ROWS(name, T, K, store)                                                                                        \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = E(0), m = E(1);                                                                                    \
        if (m < 16) { /* too short for vectors: one by one, without branches */                                        \
            PARALLEL_FOR                                                                                               \
            FOR (i, n) {                                                                                               \
                const T *restrict row = x + i * m;                                                                     \
                T most = row[0];                                                                                       \
                K at = 0;                                                                                              \
                for (K j = 1; j < (K)m; j++) {                                                                         \
                    T v = row[j];                                                                                      \
                    at = v > most ? j : at;                                                                            \
                    most = v > most ? v : most;                                                                        \
                }                                                                                                      \
                store                                                                                                  \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            const T *restrict row = x + i * m;                                                                         \
            T most = row[0];                                                                                           \
            PRAGMA(omp simd reduction(max : most))                                                                     \
            FOR (j, m)                                                                                                 \
                most = row[j] > most ? row[j] : most;                                                                  \
            int64_t at = 0;                                                                                            \
            while (row[at] != most)                                                                                    \
                at++;                                                                                                  \
            store                                                                                                      \
        }                                                                                                              \
    }
#define COLUMNS(name, T, K, store)                                                                                     \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(T, x, 0);                                                                                                   \
        int64_t n = E(0), m = E(1);                                                                                    \
        T all[m];                                                                                                      \
        K all_at[m];                                                                                                   \
        FOR (j, m)                                                                                                     \
            all_at[j] = -1;                                                                                            \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            T most[m];                                                                                                 \
            K at[m];                                                                                                   \
            FOR (j, m)                                                                                                 \
                at[j] = -1;                                                                                            \
            SPLIT_FOR                                                                                                  \
            FOR (i, n) {                                                                                               \
                const T *restrict row = x + i * m;                                                                     \
                if (at[0] < 0) {                                                                                       \
                    FOR (j, m) {                                                                                       \
                        most[j] = row[j];                                                                              \
                        at[j] = (K)i;                                                                                  \
                    }                                                                                                  \
                } else {                                                                                               \
                    SIMD                                                                                               \
                    FOR (j, m) {                                                                                       \
                        T v = row[j];                                                                                  \
                        at[j] = v > most[j] ? (K)i : at[j];                                                            \
                        most[j] = v > most[j] ? v : most[j];                                                           \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            CRITICAL                                                                                                   \
            FOR (j, m)                                                                                                 \
                if (at[j] >= 0 && (all_at[j] < 0 || most[j] > all[j] || (most[j] == all[j] && at[j] < all_at[j]))) {   \
                    all[j] = most[j];                                                                                  \
                    all_at[j] = at[j];                                                                                 \
                }                                                                                                      \
        }                                                                                                              \
        FOR (j, m) {                                                                                                   \
            store                                                                                                      \
        }                                                                                                              \
    }
#define BY_INDEX(T)                                                                                                    \
    ROWS(argmax_rows_##T, T, i64, ((i64 *)call->out[0])[i] = at;)                                                      \
    COLUMNS(argmax_columns_##T, T, i32, ((i64 *)call->out[0])[j] = all_at[j];)
BY_INDEX(f32)
BY_INDEX(u8)
ROWS(argmax_rows_f64, f64, i64, ((i64 *)call->out[0])[i] = at;)
ROWS(argmax_rows_pairs_f32, f32, i32, ((f32 *)call->out[0])[i] = most; ((i32 *)call->out[1])[i] = (i32)at;)
COLUMNS(argmax_columns_pairs_f32, f32, i32, ((f32 *)call->out[0])[j] = all[j]; ((i32 *)call->out[1])[j] = all_at[j];)
