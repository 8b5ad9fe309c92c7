/* The C sides of group "solvers": random numbers, bits, codes, whole numbers. */
#include "c.h"

#include <omp.h>

#define ROWS_SIMD PRAGMA(omp parallel for simd schedule(static))

void nb_make_solvers_words(const struct nb_call *call);

/* --- random numbers --- */

C(sv_pcg)
{
    IN(u64, x, 0);
    OUT(u32, z, 0);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        u64 state = x[i] * 6364136223846793005U + 1442695040888963407U;
        u32 mixed = (u32)((state >> 18 ^ state) >> 27), by = (u32)(state >> 59);
        z[i] = mixed >> by | mixed << (-by & 31);
    }
}

C(sv_splitmix_pi)
{
    int64_t n = SIZE, count = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : count))
    FOR (i, n) {
        u64 z = (u64)(i + 1) * 0x9e3779b97f4a7c15U;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        z ^= z >> 31;
        f64 x = (f64)(u32)z * 0x1p-32, y = (f64)(u32)(z >> 32) * 0x1p-32;
        count += x * x + y * y < 1;
    }
    RESULT(i64, 0) = count;
}

C(sv_walks)
{
    IN(u32, x, 0);
    OUT(i32, z, 0);
    enum { WIDE = 64 };
    int64_t n = SIZE, blocks = (n + WIDE - 1) / WIDE;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t first = MIN(block * WIDE, n - WIDE);
        u32 s[WIDE];
        i32 at[WIDE] = {0}, most[WIDE] = {0};
        FOR (l, WIDE)
            s[l] = x[first + l] | 1;
        FOR (step, 64)
            SIMD
        FOR (l, WIDE) {
            u32 v = s[l];
            v ^= v << 13;
            v ^= v >> 17;
            v ^= v << 5;
            s[l] = v;
            i32 p = at[l] + (i32)((v & 1) * 2) - 1, size = p < 0 ? -p : p;
            at[l] = p;
            most[l] = size > most[l] ? size : most[l];
        }
        memcpy(z + first, most, sizeof(most));
    }
}

/* Eight rows at once, so that none waits for its own last step. */
C(sv_walk_rows)
{
    IN(u32, x, 0);
    OUT(i32, z, 0);
    enum { WIDE = 8 };
    int64_t n = E(0), m = E(1), blocks = (n + WIDE - 1) / WIDE;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t first = MIN(block * WIDE, n - WIDE);
        i32 at[WIDE] = {0}, low[WIDE], high[WIDE];
        FOR (l, WIDE) {
            low[l] = INT32_MAX;
            high[l] = INT32_MIN;
        }
        FOR (j, m)
            UNROLL(WIDE)
        FOR (l, WIDE) {
            i32 p = at[l] + (i32)((x[(first + l) * m + j] & 1) * 2) - 1;
            at[l] = p;
            low[l] = MIN(low[l], p);
            high[l] = MAX(high[l], p);
        }
        FOR (l, WIDE)
            z[first + l] = MAX(high[l], -low[l]);
    }
}

/* --- cells in bits --- */

C(sv_rule_110)
{
    IN(u64, x, 0);
    OUT(u64, z, 0);
    int64_t n = SIZE;
#define RULE(i, l, r)                                                                                                  \
    {                                                                                                                  \
        u64 a = x[i], left = a << 1 | x[l] >> 63, right = a >> 1 | x[r] << 63;                                         \
        z[i] = (a | right) & ~(left & a & right);                                                                      \
    }
    ROWS_SIMD
    for (int64_t i = 1; i < n - 1; i++)
        RULE(i, i - 1, i + 1)
    RULE(0, n - 1, 1)
    RULE(n - 1, n - 2, 0)
}

C(sv_life_packed)
{
    IN(u64, x, 0);
    OUT(u64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u64 *row[3] = {x + (i ? i - 1 : n - 1) * m, x + i * m, x + (i < n - 1 ? i + 1 : 0) * m};
        const u64 *a = row[0], *b = row[1], *c = row[2];
        u64 *to = z + i * m;
#define ADD_BITS(v)                                                                                                    \
    {                                                                                                                  \
        u64 bits = (v), carry = ones & bits;                                                                           \
        ones ^= bits;                                                                                                  \
        fours |= twos & carry;                                                                                         \
        twos ^= carry;                                                                                                 \
    }
#define LIFE(j, l, r)                                                                                                  \
    {                                                                                                                  \
        u64 ones = 0, twos = 0, fours = 0;                                                                             \
        ADD_BITS(a[j] << 1 | a[l] >> 63)                                                                               \
        ADD_BITS(a[j])                                                                                                 \
        ADD_BITS(a[j] >> 1 | a[r] << 63)                                                                               \
        ADD_BITS(b[j] << 1 | b[l] >> 63)                                                                               \
        ADD_BITS(b[j] >> 1 | b[r] << 63)                                                                               \
        ADD_BITS(c[j] << 1 | c[l] >> 63)                                                                               \
        ADD_BITS(c[j])                                                                                                 \
        ADD_BITS(c[j] >> 1 | c[r] << 63)                                                                               \
        to[j] = twos & ~fours & (ones | b[j]);                                                                         \
    }
        LIFE(0, m - 1, 1)
        SIMD
        for (int64_t j = 1; j < m - 1; j++)
            LIFE(j, j - 1, j + 1) LIFE(m - 1, m - 2, 0)
    }
}

/* --- bits --- */

C(sv_bit_transpose)
{
    const u64 *restrict x = call->in[0];
    u64 *restrict z = call->out[0];
    int64_t n = E(0);
    ROWS_SIMD
    FOR (i, n) {
        u64 v = x[i], t = (v ^ v >> 7) & 0x00aa00aa00aa00aaU;
        v ^= t ^ t << 7;
        t = (v ^ v >> 14) & 0x0000cccc0000ccccU;
        v ^= t ^ t << 14;
        t = (v ^ v >> 28) & 0x00000000f0f0f0f0U;
        z[i] = v ^ t ^ t << 28;
    }
}

C(sv_jaccard)
{
    IN(u64, x, 0);
    IN(u64, y, 1);
    OUT(f32, z, 0);
    int64_t n = E(0), m = E(1);
    if (m < 8) { /* eight short rows at once */
        int64_t blocks = (n + 7) / 8;
        PARALLEL_FOR
        FOR (block, blocks) {
            int64_t first = MIN(block * 8, n - 8), both[8] = {0}, any[8] = {0};
            FOR (j, m)
                SIMD
            FOR (l, 8) {
                both[l] += __builtin_popcountll(x[(first + l) * m + j] & y[j]);
                any[l] += __builtin_popcountll(x[(first + l) * m + j] | y[j]);
            }
            FOR (l, 8)
                z[first + l] = (f32)both[l] / (f32)any[l];
        }
        return;
    }
    PARALLEL_FOR
    FOR (i, n) {
        int64_t both = 0, any = 0;
        PRAGMA(omp simd reduction(+ : both, any))
        FOR (j, m) {
            both += __builtin_popcountll(x[i * m + j] & y[j]);
            any += __builtin_popcountll(x[i * m + j] | y[j]);
        }
        z[i] = (f32)both / (f32)any;
    }
}

static inline u32 hash(u32 x, u32 k)
{
    x = (x ^ k * 0x9e3779b9U) * 0x85ebca6bU;
    return x ^ x >> 15;
}

C(sv_bloom_set)
{
    IN(u32, x, 0);
    OUT(u32, z, 0);
    int64_t n = SIZE;
    memset(z, 0, 4096 * sizeof(*z));
    PARALLEL
    {
        u32 own[4096] = {0};
        SPLIT_FOR
        FOR (i, n)
            UNROLL(3)
        FOR (k, 3) {
            u32 h = hash(x[i], (u32)k);
            own[h >> 5 & 4095] |= 1U << (h & 31);
        }
        CRITICAL
        FOR (j, 4096)
            z[j] |= own[j];
    }
}

C(sv_bloom_test)
{
    IN(u32, word, 0);
    IN(u32, x, 1);
    OUT(b8, z, 0);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        u32 a = hash(x[i], 0), b = hash(x[i], 1), c = hash(x[i], 2);
        u32 bits = word[a >> 5 & 4095] >> (a & 31) & word[b >> 5 & 4095] >> (b & 31) & word[c >> 5 & 4095] >> (c & 31);
        z[i] = bits & 1;
    }
}

C(sv_hash_buckets)
{
    IN(u64, x, 0);
    OUT(i64, z, 0);
    int64_t n = SIZE;
    memset(z, 0, 1024 * sizeof(*z));
    PARALLEL
    {
        u32 own[1024] = {0};
        SPLIT_FOR
        FOR (i, n)
            own[x[i] * 0x9e3779b97f4a7c15U >> 54]++;
        CRITICAL
        FOR (j, 1024)
            z[j] += own[j];
    }
}

static inline u32 spread(u32 x)
{
    x = (x | x << 8) & 0x00ff00ffU;
    x = (x | x << 4) & 0x0f0f0f0fU;
    x = (x | x << 2) & 0x33333333U;
    return (x | x << 1) & 0x55555555U;
}

MAP2(sv_morton, u16, u16, u32, spread(x[i]) | spread(y[i]) << 1)

static inline u16 closed(u32 x)
{
    x &= 0x55555555U;
    x = (x | x >> 1) & 0x33333333U;
    x = (x | x >> 2) & 0x0f0f0f0fU;
    x = (x | x >> 4) & 0x00ff00ffU;
    return (u16)(x | x >> 8);
}

C(sv_morton_back)
{
    IN(u32, x, 0);
    OUT(u16, u, 0);
    OUT(u16, v, 1);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        u[i] = closed(x[i]);
        v[i] = closed(x[i] >> 1);
    }
}

C(sv_pack_5)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0) / 8;
    PARALLEL_FOR
    FOR (i, n) {
        u64 bits;
        memcpy(&bits, x + 8 * i, sizeof(bits));
        bits &= 0x1f1f1f1f1f1f1f1fU;
        bits = (bits & 0x001f001f001f001fU) | (bits & 0x1f001f001f001f00U) >> 3;
        bits = (bits & 0x000003ff000003ffU) | (bits & 0x03ff000003ff0000U) >> 6;
        bits = (bits & 0x00000000000fffffU) | (bits & 0x000fffff00000000U) >> 12;
        memcpy(z + 5 * i, &bits, 5);
    }
}

static inline void unpack(const u32 *restrict word, u32 *restrict z, int64_t words, int64_t n, u32 width)
{
    u64 mask = ((u64)1 << width) - 1;
    ROWS_SIMD
    FOR (i, n) {
        int64_t bit = i * width, at = bit >> 5;
        u64 both = word[at] | (u64)word[MIN(at + 1, words - 1)] << 32;
        z[i] = (u32)(both >> (bit & 31) & mask);
    }
}

C(sv_unpack_11)
{
    unpack(call->in[0], call->out[0], E(0), E(1), 11);
}

C(sv_unpack_any)
{
    unpack(call->in[0], call->out[0], E(0), E(1), (u32)VALUE(i32, 1));
}

/* Numbers of all lengths. */
void nb_make_solvers_words(const struct nb_call *call)
{
    u32 *x = call->in[0];
    FOR (i, E(0)) {
        u32 h = (u32)i * 2654435761U;
        x[i] = (h ^ h >> 13) >> (h >> 7) % 32;
    }
}

static inline u32 bytes_of(u32 x)
{
    return 1 + (x > 0x7f) + (x > 0x3fff) + (x > 0x1fffff) + (x > 0xfffffff);
}

C(sv_varint_lengths)
{
    IN(u32, x, 0);
    OUT(u8, z, 0);
    int64_t n = SIZE, sum = 0;
    PRAGMA(omp parallel for simd schedule(static) reduction(+ : sum))
    FOR (i, n) {
        u32 count = bytes_of(x[i]);
        z[i] = (u8)count;
        sum += count;
    }
    RESULT(i64, 1) = sum;
}

C(sv_varint_encode)
{
    IN(u32, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), before[257] = {0};
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num(), k = 0;
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        for (int64_t i = begin; i < end; i++)
            k += bytes_of(x[i]);
        before[id + 1] = k;
        PRAGMA(omp barrier)
        PRAGMA(omp single)
        FOR (t, count)
            before[t + 1] += before[t];
        u8 *to = z + before[id];
        for (int64_t i = begin; i < end; i++) {
            u32 v = x[i];
            for (; v > 127; v >>= 7)
                *to++ = (u8)(v | 128);
            *to++ = (u8)v;
        }
        if (id == count - 1)
            KEPT(0) = before[count];
    }
}

C(sv_hex_dump)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t rows = E(1);
    PARALLEL_FOR
    FOR (i, rows) {
        const u8 *from = x + 16 * i;
        u8 *to = z + 48 * i;
        SIMD
        FOR (j, 16) {
            u8 a = from[j] >> 4, b = from[j] & 15;
            to[3 * j] = (u8)(a + (a < 10 ? '0' : 'a' - 10));
            to[3 * j + 1] = (u8)(b + (b < 10 ? '0' : 'a' - 10));
            to[3 * j + 2] = ' ';
        }
        to[47] = '\n';
    }
}

/* --- whole numbers --- */

/* Each thread sieves parts of 32 KB by the primes up to the root. */
C(sv_sieve)
{
    OUT(b8, z, 0);
    int64_t n = SIZE, root = (int64_t)sqrt((f64)n), count = 0;
    i32 prime[1024];
    for (i32 p = 2; p <= root && count < 1024; p++) {
        bool good = true;
        for (int64_t k = 0; k < count && prime[k] * prime[k] <= p && good; k++)
            good = p % prime[k] != 0;
        if (good)
            prime[count++] = p;
    }
    int64_t blocks = (n + 32767) / 32768;
    PARALLEL_FOR
    FOR (block, blocks) {
        int64_t begin = block * 32768, end = MIN(begin + 32768, n);
        memset(z + begin, 1, (size_t)(end - begin));
        if (block == 0)
            z[0] = z[1] = false;
        FOR (k, count) {
            int64_t p = prime[k], from = MAX(p * p, (begin + p - 1) / p * p);
            for (int64_t i = from; i < end; i += p)
                z[i] = false;
        }
    }
}

C(sv_primes_trial)
{
    IN(u32, x, 0);
    OUT(b8, z, 0);
    int64_t n = SIZE;
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = (x[i] & 0xffff) | 1, d = 3;
        while (d * d <= v && v % d != 0)
            d += 2;
        z[i] = d * d > v;
    }
}

/* The remainder by way of the quotient in floats, so that it is done in lanes. */
static inline i64 reduced(i64 x)
{
    i64 r = x - (i64)((f64)x * (1.0 / 1000003)) * 1000003;
    r += r < 0 ? 1000003 : 0;
    return r >= 1000003 ? r - 1000003 : r;
}

C(sv_modular_powers)
{
    IN(u32, x, 0);
    IN(u64, y, 1);
    OUT(u32, z, 0);
    int64_t n = SIZE;
    ROWS_SIMD
    FOR (i, n) {
        i64 result = 1, base = reduced(x[i]), e = (i64)(y[i] & 0xffff);
        UNROLL(16)
        for (int k = 0; k < 16; k++) {
            i64 times = reduced(result * base);
            result = e & 1 ? times : result;
            base = reduced(base * base);
            e >>= 1;
        }
        z[i] = (u32)result;
    }
}

static inline u32 add_words(const u32 *x, const u32 *y, u32 *z, int64_t n, u32 carry)
{
    FOR (i, n) {
        u64 sum = (u64)x[i] + y[i] + carry;
        if (z)
            z[i] = (u32)sum;
        carry = (u32)(sum >> 32);
    }
    return carry;
}

/* A part's carry almost never goes far: add without it, then take it along as far as it goes. */
C(sv_big_add)
{
    IN(u32, x, 0);
    IN(u32, y, 1);
    OUT(u32, z, 0);
    int64_t n = SIZE;
    u32 carry[257] = {0};
    int64_t from[257] = {0};
    int64_t parts = 1;
    PARALLEL
    {
        int64_t count = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / count, end = n * (id + 1) / count;
        carry[id + 1] = add_words(x + begin, y + begin, z + begin, end - begin, 0);
        from[id + 1] = end;
        PRAGMA(omp single)
        parts = count;
    }
    for (int64_t p = 1; p < parts; p++) {
        if (!carry[p])
            continue;
        int64_t i = from[p];
        while (i < from[p + 1] && ++z[i] == 0)
            i++;
        carry[p + 1] |= i == from[p + 1];
    }
}

C(sv_big_add_rows)
{
    IN(u32, x, 0);
    IN(u32, y, 1);
    OUT(u32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        add_words(x + i * m, y + i * m, z + i * m, m, 0);
}
