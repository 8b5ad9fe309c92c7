#include "c.h"

#include <omp.h>

/* Memory that stays from call to call. */
static void *room(int number, size_t bytes)
{
    static void *at[4];
    static size_t size[4];
    if (size[number] < bytes) {
        free(at[number]);
        at[number] = malloc(bytes);
        size[number] = bytes;
    }
    return at[number];
}

/* Few elements are sorted by one thread: the others would take longer to wake up. */
static int threads_for(int64_t n)
{
    return n < 50000 ? 1 : omp_get_max_threads();
}

enum { DIGITS = 256, MOST_THREADS = 256, SMALL = 64 };

/* A number in place of each key, whose digits are sorted by from the least significant one on. A thread counts the
 * digits of its part, and moves its elements; digits that are all equal are left out. Small arrays are sorted by
 * insertion. */
#define AS_IS(U, x) (x)
#define SIGNED(U, x) ((U)(x) ^ (U)((U)1 << (sizeof(U) * 8 - 1)))
#define FLOAT32(U, x)                                                                                                  \
    (__extension__({                                                                                                   \
        uint32_t b;                                                                                                    \
        float f = (x);                                                                                                 \
        memcpy(&b, &f, 4);                                                                                             \
        b ^ (b >> 31 ? UINT32_MAX : (uint32_t)1 << 31);                                                                \
    }))
#define FLOAT64(U, x)                                                                                                  \
    (__extension__({                                                                                                   \
        uint64_t b;                                                                                                    \
        double f = (x);                                                                                                \
        memcpy(&b, &f, 8);                                                                                             \
        b ^ (b >> 63 ? UINT64_MAX : (uint64_t)1 << 63);                                                                \
    }))
#define FALLING32(U, x) (~FLOAT32(U, x))

#define RADIX(name, T, V, U, ORDER, VALUES)                                                                            \
    static void name(int64_t n, const T *from, const V *beside, T *to, V *to_beside, T *other, V *other_beside,        \
                     int threads)                                                                                      \
    {                                                                                                                  \
        static int64_t count[MOST_THREADS][DIGITS];                                                                    \
        if (n <= SMALL) {                                                                                              \
            FOR (i, n) {                                                                                               \
                int64_t j = i;                                                                                         \
                T x = from[i];                                                                                         \
                V v = VALUES ? beside[i] : (V)0;                                                                       \
                for (; j > 0 && ORDER(U, x) < ORDER(U, to[j - 1]); j--) {                                              \
                    to[j] = to[j - 1];                                                                                 \
                    if (VALUES)                                                                                        \
                        to_beside[j] = to_beside[j - 1];                                                               \
                }                                                                                                      \
                to[j] = x;                                                                                             \
                if (VALUES)                                                                                            \
                    to_beside[j] = v;                                                                                  \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        const T *x = from;                                                                                             \
        const V *v = beside;                                                                                           \
        T *z = sizeof(U) % 2 ? to : other;                                                                             \
        V *w = sizeof(U) % 2 ? to_beside : other_beside;                                                               \
        for (unsigned shift = 0; shift < sizeof(U) * 8; shift += 8) {                                                  \
            PRAGMA(omp parallel num_threads(threads))                                                                  \
            {                                                                                                          \
                int64_t all = omp_get_num_threads(), id = omp_get_thread_num();                                        \
                int64_t begin = n * id / all, end = n * (id + 1) / all, *own = count[id];                              \
                memset(own, 0, sizeof count[0]);                                                                       \
                for (int64_t i = begin; i < end; i++)                                                                  \
                    own[(ORDER(U, x[i]) >> shift) % DIGITS]++;                                                         \
                PRAGMA(omp barrier)                                                                                    \
                PRAGMA(omp single)                                                                                     \
                {                                                                                                      \
                    int64_t sum = 0;                                                                                   \
                    FOR (d, DIGITS)                                                                                    \
                        FOR (k, all) {                                                                                 \
                            int64_t here = count[k][d];                                                                \
                            count[k][d] = sum;                                                                         \
                            sum += here;                                                                               \
                        }                                                                                              \
                }                                                                                                      \
                for (int64_t i = begin; i < end; i++) {                                                                \
                    int64_t at = own[(ORDER(U, x[i]) >> shift) % DIGITS]++;                                            \
                    z[at] = x[i];                                                                                      \
                    if (VALUES)                                                                                        \
                        w[at] = v[i];                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            x = z;                                                                                                     \
            v = w;                                                                                                     \
            z = z == to ? other : to;                                                                                  \
            w = z == to ? to_beside : other_beside;                                                                    \
        }                                                                                                              \
    }

#define SORT(name, T, U, ORDER)                                                                                        \
    RADIX(radix_##name, T, char, U, ORDER, 0)                                                                          \
    C(name)                                                                                                            \
    {                                                                                                                  \
        radix_##name(E(0), call->in[0], NULL, call->out[0], NULL, room(0, (size_t)E(0) * sizeof(T)), NULL,             \
                     threads_for(E(0)));                                                                               \
    }
SORT(sort_u32, u32, u32, AS_IS)
SORT(sort_i32, i32, u32, SIGNED)
SORT(sort_u64, u64, u64, AS_IS)
SORT(sort_u16, u16, u16, AS_IS)
SORT(sort_u8, u8, u8, AS_IS)
SORT(sort_f32, f32, u32, FLOAT32)
SORT(sort_f64, f64, u64, FLOAT64)
SORT(sort_descending_f32, f32, u32, FALLING32)

#define PAIRS(name, T, V)                                                                                              \
    RADIX(radix_##name, T, V, T, AS_IS, 1)                                                                             \
    C(name)                                                                                                            \
    {                                                                                                                  \
        radix_##name(E(0), call->in[0], call->in[1], call->out[0], call->out[1], room(0, (size_t)E(0) * sizeof(T)),    \
                     room(1, (size_t)E(0) * sizeof(V)), threads_for(E(0)));                                            \
    }
PAIRS(sort_pairs_u32, u32, i32)
PAIRS(sort_pairs_u64, u64, i64)

C(sort_of_indices_u32)
{
    u32 *x = room(2, (size_t)E(0) * sizeof(u32));
    PARALLEL_FOR
    FOR (i, E(0))
        x[i] = (u32)i;
    radix_sort_u32(E(0), x, NULL, call->out[0], NULL, room(0, (size_t)E(0) * sizeof(u32)), NULL, threads_for(E(0)));
}

C(sort_of_map_f32)
{
    IN(f32, from, 0);
    f32 *x = room(2, (size_t)E(0) * sizeof(f32));
    PARALLEL_FOR
    FOR (i, E(0))
        x[i] = 1 - from[i] * from[i];
    radix_sort_f32(E(0), x, NULL, call->out[0], NULL, room(0, (size_t)E(0) * sizeof(f32)), NULL, threads_for(E(0)));
}

/* Both components in one number. */
C(sort_two_u16)
{
    IN(u16, first, 0);
    IN(u16, second, 1);
    OUT(u16, to_first, 0);
    OUT(u16, to_second, 1);
    u32 *x = room(2, (size_t)E(0) * sizeof(u32)), *z = room(3, (size_t)E(0) * sizeof(u32));
    PARALLEL_FOR
    FOR (i, E(0))
        x[i] = (u32)first[i] << 16 | second[i];
    radix_sort_u32(E(0), x, NULL, z, NULL, room(0, (size_t)E(0) * sizeof(u32)), NULL, threads_for(E(0)));
    PARALLEL_FOR
    FOR (i, E(0)) {
        to_first[i] = (u16)(z[i] >> 16);
        to_second[i] = (u16)z[i];
    }
}

/* A thread sorts rows of its own. */
#define ROWS(name, T, U, ORDER)                                                                                        \
    static void name##_row(int64_t n, const T *from, T *to, T *other)                                                  \
    {                                                                                                                  \
        int64_t count[sizeof(U)][DIGITS] = {{0}};                                                                      \
        if (n <= SMALL) {                                                                                              \
            FOR (i, n) {                                                                                               \
                int64_t j = i;                                                                                         \
                T x = from[i];                                                                                         \
                for (; j > 0 && ORDER(U, x) < ORDER(U, to[j - 1]); j--)                                                \
                    to[j] = to[j - 1];                                                                                 \
                to[j] = x;                                                                                             \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        FOR (i, n) {                                                                                                   \
            U bits = ORDER(U, from[i]);                                                                                \
            for (unsigned k = 0; k < sizeof(U); k++)                                                                   \
                count[k][bits >> 8 * k & 255]++;                                                                       \
        }                                                                                                              \
        const T *x = from;                                                                                             \
        T *z = sizeof(U) % 2 ? to : other;                                                                             \
        for (unsigned k = 0; k < sizeof(U); k++) {                                                                     \
            int64_t sum = 0;                                                                                           \
            FOR (d, DIGITS) {                                                                                          \
                int64_t here = count[k][d];                                                                            \
                count[k][d] = sum;                                                                                     \
                sum += here;                                                                                           \
            }                                                                                                          \
            FOR (i, n)                                                                                                 \
                z[count[k][ORDER(U, x[i]) >> 8 * k & 255]++] = x[i];                                                   \
            x = z;                                                                                                     \
            z = z == to ? other : to;                                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    C(name)                                                                                                            \
    {                                                                                                                  \
        const T *from = call->in[0];                                                                                   \
        T *to = call->out[0], *other = room(0, (size_t)SIZE * sizeof(T));                                              \
        PRAGMA(omp parallel for schedule(dynamic, 16))                                                                 \
        FOR (row, E(0))                                                                                                \
            name##_row(E(1), from + row * E(1), to + row * E(1), other + row * E(1));                                  \
    }
ROWS(sort_rows_f32, f32, u32, FLOAT32)
ROWS(sort_rows_u32, u32, u32, AS_IS)

/* Chunks by insertion and merging, a thread each; then pairs of runs, while there are several. */
#define MERGE(name, T, LESS)                                                                                           \
    static void name##_pair(const T *x, int64_t begin, int64_t middle, int64_t end, T *z)                              \
    {                                                                                                                  \
        int64_t i = begin, j = middle;                                                                                 \
        for (int64_t k = begin; k < end; k++) {                                                                        \
            bool right = j < end && (i == middle || LESS(x[j], x[i]));                                                 \
            z[k] = right ? x[j] : x[i];                                                                                \
            i += !right;                                                                                               \
            j += right;                                                                                                \
        }                                                                                                              \
    }                                                                                                                  \
    C(name)                                                                                                            \
    {                                                                                                                  \
        enum { CHUNK = 32 };                                                                                           \
        int64_t n = E(0);                                                                                              \
        const T *from = call->in[0];                                                                                   \
        T *x = call->out[0], *z = room(0, (size_t)n * sizeof(T));                                                      \
        PRAGMA(omp parallel for schedule(static) num_threads(threads_for(n)))                                          \
        for (int64_t begin = 0; begin < n; begin += CHUNK)                                                             \
            for (int64_t i = begin; i < MIN(n, begin + CHUNK); i++) {                                                  \
                int64_t j = i;                                                                                         \
                T one = from[i];                                                                                       \
                for (; j > begin && LESS(one, x[j - 1]); j--)                                                          \
                    x[j] = x[j - 1];                                                                                   \
                x[j] = one;                                                                                            \
            }                                                                                                          \
        for (int64_t width = CHUNK; width < n; width *= 2) {                                                           \
            PRAGMA(omp parallel for schedule(static) num_threads(threads_for(n)))                                      \
            for (int64_t begin = 0; begin < n; begin += 2 * width)                                                     \
                name##_pair(x, begin, MIN(n, begin + width), MIN(n, begin + 2 * width), z);                            \
            T *done = z;                                                                                               \
            z = x;                                                                                                     \
            x = done;                                                                                                  \
        }                                                                                                              \
        if (x != call->out[0])                                                                                         \
            memcpy(call->out[0], x, (size_t)n * sizeof(T));                                                            \
    }
#define IS_LESS(a, b) ((a) < (b))
#define IS_SMALLER(a, b) (fabsf(a) < fabsf(b))
MERGE(merge_f32, f32, IS_LESS)
MERGE(merge_i64, i64, IS_LESS)
MERGE(merge_by_size_f32, f32, IS_SMALLER)

/* Neighbours that differ are looked for by each thread in its part, twice: how many there are, and then they are stored
 * where those of the parts before end. */
#define UNIQUE(T)                                                                                                      \
    C(sort_unique_##T)                                                                                                 \
    {                                                                                                                  \
        OUT(T, z, 0);                                                                                                  \
        static int64_t count[MOST_THREADS + 1];                                                                        \
        int64_t n = E(0), threads = threads_for(n);                                                                    \
        T *x = room(2, (size_t)n * sizeof(T));                                                                         \
        radix_sort_##T(n, call->in[0], NULL, x, NULL, room(0, (size_t)n * sizeof(T)), NULL, (int)threads);             \
        PRAGMA(omp parallel num_threads((int)threads))                                                                 \
        {                                                                                                              \
            int64_t all = omp_get_num_threads(), id = omp_get_thread_num(), k = 0;                                     \
            int64_t begin = MAX(1, n * id / all), end = n * (id + 1) / all;                                            \
            for (int64_t i = begin; i < end; i++)                                                                      \
                k += x[i] != x[i - 1];                                                                                 \
            count[id + 1] = k;                                                                                         \
            PRAGMA(omp barrier)                                                                                        \
            k = n > 0;                                                                                                 \
            for (int64_t t = 0; t < id; t++)                                                                           \
                k += count[t + 1];                                                                                     \
            if (id == 0 && n > 0)                                                                                      \
                z[0] = x[0];                                                                                           \
            for (int64_t i = begin; i < end; i++)                                                                      \
                if (x[i] != x[i - 1])                                                                                  \
                    z[k++] = x[i];                                                                                     \
            if (id == all - 1)                                                                                         \
                KEPT(0) = k;                                                                                           \
        }                                                                                                              \
    }
UNIQUE(u32)
UNIQUE(f32)
#undef UNIQUE

C(sort_group_u32)
{
    OUT(u32, own, 0);
    OUT(i64, length, 1);
    OUT(i32, grouped, 2);
    int64_t n = E(0), k = 0;
    u32 *x = room(2, (size_t)n * sizeof(u32));
    radix_sort_pairs_u32(n, call->in[0], call->in[1], x, grouped, room(0, (size_t)n * sizeof(u32)),
                         room(1, (size_t)n * sizeof(i32)), threads_for(n));
    for (int64_t i = 0, begin = 0; i < n; i++)
        if (i + 1 == n || x[i] != x[i + 1]) {
            own[k] = x[i];
            length[k++] = i + 1 - begin;
            begin = i + 1;
        }
    KEPT(0) = KEPT(1) = k;
}

/* Each thread finds where both rows are cut so that its part of the result is theirs, and merges them without a branch.
 */
#define MERGE_ROWS(T)                                                                                                  \
    static void merge_part_##T(int64_t m, int64_t n, const T *restrict a, const T *restrict b, int64_t first,          \
                               int64_t end, T *restrict to)                                                            \
    {                                                                                                                  \
        int64_t low = MAX(0, first - n), high = MIN(first, m);                                                         \
        while (low < high) {                                                                                           \
            int64_t middle = (low + high) / 2;                                                                         \
            if (b[first - 1 - middle] < a[middle])                                                                     \
                high = middle;                                                                                         \
            else                                                                                                       \
                low = middle + 1;                                                                                      \
        }                                                                                                              \
        int64_t i = low, j = first - low, k = first;                                                                   \
        for (; k < end && i < m && j < n; k++) {                                                                       \
            T x = a[i], y = b[j];                                                                                      \
            int other = y < x;                                                                                         \
            to[k] = other ? y : x;                                                                                     \
            j += other;                                                                                                \
            i += !other;                                                                                               \
        }                                                                                                              \
        for (; k < end && i < m; k++)                                                                                  \
            to[k] = a[i++];                                                                                            \
        for (; k < end; k++)                                                                                           \
            to[k] = b[j++];                                                                                            \
    }                                                                                                                  \
    C(merge_rows_##T)                                                                                                  \
    {                                                                                                                  \
        IN(T, a, 0);                                                                                                   \
        IN(T, b, 1);                                                                                                   \
        OUT(T, z, 0);                                                                                                  \
        int64_t all = E(0) + E(1), threads = threads_for(all), each = (all + threads - 1) / threads;                   \
        PRAGMA(omp parallel for num_threads(threads) schedule(static))                                                 \
        FOR (t, threads)                                                                                               \
            merge_part_##T(E(0), E(1), a, b, MIN(all, t *each), MIN(all, (t + 1) * each), z);                          \
    }
MERGE_ROWS(u32)
MERGE_ROWS(f32)
MERGE_ROWS(f64)
#undef MERGE_ROWS
