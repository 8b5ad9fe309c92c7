/* Strings of fixed lengths, patterns and encodings, of the group `text`. */
#include "parts.h"

/* --- strings of fixed lengths --- */

C(equal_to_pattern_u8)
{
    IN(u8, x, 0);
    IN(u8, pattern, 1);
    OUT(b8, z, 0);
    int64_t n = E(0);
    u64 p;
    memcpy(&p, pattern, 8);
    PARALLEL_FOR
    FOR (i, n) {
        u64 v;
        memcpy(&v, x + 8 * i, 8);
        z[i] = v == p;
    }
}
C(starts_with_u8)
{
    IN(u8, x, 0);
    IN(u8, pattern, 1);
    int64_t n = E(0), m = E(1), count = 0;
    u32 p;
    memcpy(&p, pattern, 4);
    PRAGMA(omp parallel for reduction(+ : count) schedule(static))
    FOR (i, n) {
        u32 v;
        memcpy(&v, x + i * m, 4);
        count += v == p;
    }
    RESULT(i64, 0) = count;
}
C(compare_with_u8)
{
    IN(u8, x, 0);
    IN(u8, pattern, 1);
    OUT(i8, z, 0);
    int64_t n = E(0);
    u64 p, q;
    memcpy(&p, pattern, 8);
    memcpy(&q, pattern + 8, 8);
    p = __builtin_bswap64(p);
    q = __builtin_bswap64(q);
    PARALLEL_FOR
    FOR (i, n) {
        u64 v, w;
        memcpy(&v, x + 16 * i, 8);
        memcpy(&w, x + 16 * i + 8, 8);
        v = __builtin_bswap64(v);
        w = __builtin_bswap64(w);
        i8 high = (i8)((v > p) - (v < p)), low = (i8)((w > q) - (w < q));
        z[i] = high ? high : low;
    }
}
C(neighbours_equal_u8)
{
    IN(u8, x, 0);
    int64_t n = E(0), count = 0;
    PRAGMA(omp parallel for reduction(+ : count) schedule(static))
    FOR (i, n - 1) {
        u64 v[4];
        memcpy(v, x + 16 * i, 32);
        count += ((v[0] ^ v[2]) | (v[1] ^ v[3])) == 0;
    }
    RESULT(i64, 0) = count;
}
C(palindromes_u8)
{
    IN(u8, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *row = x + i * m;
        int64_t j = 0;
        while (j < m / 2 && row[j] == row[m - 1 - j])
            j++;
        z[i] = j == m / 2;
    }
}
C(hamming_to_one_u8)
{
    IN(u8, x, 0);
    IN(u8, pattern, 1);
    OUT(i32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        int d = 0;
        FOR (j, 16)
            d += x[16 * i + j] != pattern[j];
        z[i] = d;
    }
}
C(hamming_rows_u8)
{
    IN(u8, x, 0);
    IN(u8, y, 1);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t sum = 0;
        for (int64_t first = 0; first < m; first += 32768) {
            u16 d = 0;
            int64_t end = MIN(first + 32768, m);
            for (int64_t j = first; j < end; j++)
                d = (u16)(d + (x[i * m + j] != y[i * m + j]));
            sum += d;
        }
        z[i] = sum;
    }
}
C(nearest_codes_u64)
{
    IN(u64, x, 0);
    IN(u64, y, 1);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i64 least = 64;
        FOR (j, m) {
            i64 d = __builtin_popcountll(x[i] ^ y[j]);
            least = MIN(least, d);
        }
        z[i] = (i32)least;
    }
}

/* --- DNA --- */

C(reverse_complement_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u8 b = x[n - 1 - i];
        z[i] = (u8)(b ^ (b & 2 ? 4 : 21));
    }
}
C(bases_packed_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v;
        memcpy(&v, x + 4 * i, 4);
        v = v >> 1 & 0x03030303;
        z[i] = (u8)(v | v >> 6 | v >> 12 | v >> 18);
    }
}
C(bases_unpacked_u8)
{
    IN(u8, table, 0);
    IN(u8, x, 1);
    OUT(u8, z, 0);
    int64_t n = E(0);
    u32 four[256];
    FOR (b, 256) {
        u8 letters[4];
        FOR (j, 4)
            letters[j] = table[b >> 2 * j & 3];
        memcpy(&four[b], letters, 4);
    }
    PARALLEL_FOR
    FOR (i, n)
        memcpy(z + 4 * i, &four[x[i]], 4);
}
static inline u32 base(u8 x)
{
    return x >> 1 & 3U;
}
C(kmers_8_u16)
{
    IN(u8, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u16 v = 0;
        FOR (k, 8)
            v = (u16)(v << 2 | (x[i + k] >> 1 & 3));
        z[i] = v;
    }
}
C(kmer_counts_u8)
{
    enum { CODES = 4096 };
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0) - 5;
    memset(z, 0, CODES * sizeof *z);
    PARALLEL
    {
        u32 own[CODES] = {0};
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / threads, end = n * (id + 1) / threads;
        u32 v = 0;
        FOR (k, 5)
            v = v << 2 | base(x[begin + k]);
        for (int64_t i = begin; i < end; i++) {
            v = (v << 2 | base(x[i + 5])) & (CODES - 1);
            own[v]++;
        }
        CRITICAL
        FOR (b, CODES)
            z[b] += own[b];
    }
}
/* Blocks whose hashes stay in the cache; the least of 10 from those of 2, 4 and 8. */
C(minimizers_u32)
{
    enum { BLOCK = 2048 };
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(1);
    PARALLEL_FOR
    for (int64_t first = 0; first < n; first += BLOCK) {
        u32 h[BLOCK + 16], a[BLOCK + 16];
        int64_t count = MIN(BLOCK, n - first);
        FOR (i, count + 9) {
            u32 v = 0;
            FOR (k, 8)
                v = v << 2 | base(x[first + i + k]);
            h[i] = v * 2654435761U ^ v >> 7;
        }
        FOR (i, count + 8)
            a[i] = MIN(h[i], h[i + 1]);
        FOR (i, count + 6)
            h[i] = MIN(a[i], a[i + 2]);
        FOR (i, count)
            z[first + i] = MIN(MIN(h[i], h[i + 4]), h[i + 6]);
    }
}
C(gc_of_reads_f32)
{
    IN(u8, x, 0);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u16 count = 0; /* reads are short */
        FOR (j, m)
            count = (u16)(count + ((x[i * m + j] == 'G') | (x[i * m + j] == 'C')));
        z[i] = (f32)count / (f32)m;
    }
}

/* --- patterns --- */

#define HOLDS(m)                                                                                                       \
    bool same = true;                                                                                                  \
    FOR (k, m)                                                                                                         \
        same &= x[i + k] == p[k];
#define COUNT(m)                                                                                                       \
    PRAGMA(omp parallel for reduction(+ : count) schedule(static))                                                     \
    for (int64_t first = 0; first < places; first += 16384) {                                                          \
        int64_t end = MIN(first + 16384, places);                                                                      \
        u16 found = 0;                                                                                                 \
        SIMD                                                                                                           \
        for (int64_t i = first; i < end; i++) {                                                                        \
            HOLDS(m)                                                                                                   \
            found = (u16)(found + same);                                                                               \
        }                                                                                                              \
        count += found;                                                                                                \
    }
C(count_pattern_u8)
{
    IN(u8, x, 0);
    IN(u8, p, 1);
    int64_t n = E(0), m = E(1), places = n - m + 1, count = 0;
    if (m == 4) {
        COUNT(4)
    } else if (m == 7) {
        COUNT(7)
    } else {
        COUNT(m)
    }
    RESULT(i64, 0) = count;
}
C(find_all_u8)
{
    IN(u8, x, 0);
    IN(u8, p, 1);
    OUT(i64, z, 0);
    int64_t places = E(0) - 4;
    KEEP(places,
         (x[at] == p[0]) & (x[at + 1] == p[1]) & (x[at + 2] == p[2]) & (x[at + 3] == p[3]) & (x[at + 4] == p[4]),
         z[k] = at)
}
C(last_of_pattern_u8)
{
    IN(u8, x, 0);
    IN(u8, p, 1);
    int64_t places = E(0) - 7, last = -1;
    u64 pattern;
    memcpy(&pattern, p, 8);
    PRAGMA(omp parallel for reduction(max : last) schedule(static))
    FOR (i, places) {
        u64 v;
        memcpy(&v, x + i, 8);
        last = v == pattern ? i : last;
    }
    RESULT(i64, 0) = last;
}

/* --- encodings --- */

C(base64_u8)
{
    IN(u8, table, 0);
    IN(u8, x, 1);
    OUT(u8, z, 0);
    int64_t n = E(0) / 3;
    PARALLEL_FOR
    FOR (i, n) {
        u32 w = (u32)x[3 * i] << 16 | (u32)x[3 * i + 1] << 8 | x[3 * i + 2];
        z[4 * i] = table[w >> 18];
        z[4 * i + 1] = table[w >> 12 & 63];
        z[4 * i + 2] = table[w >> 6 & 63];
        z[4 * i + 3] = table[w & 63];
    }
}
C(base64_back_u8)
{
    IN(u8, table, 0);
    IN(u8, x, 1);
    OUT(u8, z, 0);
    int64_t n = E(0) / 4;
    PARALLEL_FOR
    FOR (i, n) {
        u32 w = (u32)table[x[4 * i]] << 18 | (u32)table[x[4 * i + 1]] << 12 | (u32)table[x[4 * i + 2]] << 6 |
                table[x[4 * i + 3]];
        z[3 * i] = (u8)(w >> 16);
        z[3 * i + 1] = (u8)(w >> 8);
        z[3 * i + 2] = (u8)w;
    }
}
C(code_points_u8)
{
    enum { BLOCK = 16384 };
    IN(u8, x, 0);
    int64_t n = E(0), count = 0;
    PRAGMA(omp parallel for reduction(+ : count) schedule(static))
    for (int64_t first = 0; first < n; first += BLOCK) {
        int64_t end = MIN(first + BLOCK, n);
        u16 found = 0;
        SIMD
        for (int64_t i = first; i < end; i++)
            found = (u16)(found + ((x[i] & 0xc0) != 0x80));
        count += found;
    }
    RESULT(i64, 0) = count;
}
C(utf8_to_utf32_u32)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0);
    KEEP(n, (x[at] & 0xc0) != 0x80, {
        u32 c = x[at];
        if (c >= 0xf0)
            c = (c & 7) << 18 | (x[at + 1] & 63U) << 12 | (x[at + 2] & 63U) << 6 | (x[at + 3] & 63U);
        else if (c >= 0xe0)
            c = (c & 15) << 12 | (x[at + 1] & 63U) << 6 | (x[at + 2] & 63U);
        else if (c >= 0xc0)
            c = (c & 31) << 6 | (x[at + 1] & 63U);
        z[k] = c;
    })
}
#define LAST_BYTE(at) (x[at] < 128)
C(varints_u32)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0);
    ENDED(n, LAST_BYTE, x[at] < 128, {
        u32 v = 0;
        u32 shift = 0;
        for (; at < end; at++) {
            v |= (x[at] & 127U) << shift;
            shift += 7;
            if (x[at] < 128) {
                z[k++] = v;
                v = shift = 0;
            }
        }
    })
}
/* Each part's sum, then the part. */
#define RUNNING(name, X, value)                                                                                        \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(X, x, 0);                                                                                                   \
        OUT(i32, z, 0);                                                                                                \
        int64_t n = E(0);                                                                                              \
        u32 sum_of[257] = {0};                                                                                         \
        PARALLEL                                                                                                       \
        {                                                                                                              \
            int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();                                        \
            int64_t begin = n * id / threads, end = n * (id + 1) / threads;                                            \
            u32 sum = 0;                                                                                               \
            for (int64_t i = begin; i < end; i++)                                                                      \
                sum += (u32)(value);                                                                                   \
            sum_of[id] = sum;                                                                                          \
            PRAGMA(omp barrier)                                                                                        \
            sum = 0;                                                                                                   \
            for (int64_t other = 0; other < id; other++)                                                               \
                sum += sum_of[other];                                                                                  \
            for (int64_t i = begin; i < end; i++) {                                                                    \
                sum += (u32)(value);                                                                                   \
                z[i] = (i32)sum;                                                                                       \
            }                                                                                                          \
        }                                                                                                              \
    }
RUNNING(deltas_i8, i8, x[i])
RUNNING(zigzag_deltas_u32, u32, x[i] >> 1 ^ -(x[i] & 1))

static inline u8 reversed(u8 x)
{
    x = (u8)(x >> 4 | x << 4);
    x = (u8)((x >> 2 & 0x33) | (x & 0x33) << 2);
    return (u8)((x >> 1 & 0x55) | (x & 0x55) << 1);
}
MAP1(bits_reversed_u8, u8, u8, reversed(x[i]))
static inline u32 from_gray(u32 x)
{
    x ^= x >> 1;
    x ^= x >> 2;
    x ^= x >> 4;
    x ^= x >> 8;
    return x ^ x >> 16;
}
MAP1(gray_back_u32, u32, u32, from_gray(x[i]))
MAP1(bytes_swapped_u32, u32, u32, __builtin_bswap32(x[i]))
C(parity_of_rows_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u8 all = 0;
        FOR (j, m)
            all ^= x[i * m + j];
        z[i] = (u8)__builtin_parity(all);
    }
}
C(bits_of_rows_u64)
{
    IN(u64, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        i64 sum = 0;
        FOR (j, m)
            sum += __builtin_popcountll(x[i * m + j]);
        z[i] = sum;
    }
}
