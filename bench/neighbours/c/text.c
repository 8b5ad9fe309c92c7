/* Bytes, strings and codes. */
#include "parts.h"

/* --- what is drawn: bytes below 200 become text, digits, bases --- */

#define MAKE(name)                                                                                                     \
    void nb_make_##name(const struct nb_call *call);                                                                   \
    void nb_make_##name(const struct nb_call *call)

static u8 text_of(u8 x)
{
    static const char all[] = "etaoinshrdlcumwfgypbvk  etaoinshrdlcu    ETAOINSHR,,,\".;0123456789";
    return x >= 195 ? '\n' : x >= 190 ? '\r' : (u8)all[x % (sizeof all - 1)];
}
MAKE(text)
{
    u8 *x = call->in[0];
    int64_t n = E(0);
    FOR (i, n)
        x[i] = text_of(x[i]);
    FOR (i, n - 1)
        if (x[i] == '\r')
            x[i + 1] = i % 4 ? '\n' : x[i + 1];
}
static int64_t rows_of(const struct nb_call *call)
{
    return E(0) * (E(1) ? E(1) : 1);
}
MAKE(digits)
{
    u8 *x = call->in[0];
    /* [n,8], [n,16] or [n,m] */
    int64_t n = E(1) ? rows_of(call) : E(0) * (E(0) == 62500 ? 16 : 8);
    FOR (i, n)
        x[i] = (u8)('0' + x[i] % 10);
}
MAKE(padded)
{
    u8 *x = call->in[0];
    int64_t n = E(0), m = E(1);
    FOR (i, n) {
        u8 *row = x + i * m;
        int64_t length = 2 + row[0] % (m - 1);
        FOR (j, m)
            row[j] = (u8)(j < m - length ? ' ' : '0' + row[j] % 10);
        if (i % 3 == 0)
            row[m - length] = '-';
        if (m == 10)
            row[0] = ' ';
    }
}
MAKE(hexadecimal)
{
    u8 *x = call->in[0];
    FOR (i, E(0) * 8)
        x[i] = (u8) "0123456789abcdef0123456789ABCDEF"[x[i] % 32];
}
MAKE(lines)
{
    u8 *x = call->in[0];
    int64_t n = E(0);
    FOR (i, n)
        x[i] = (u8)(i && x[i] < 35 ? '\n' : '0' + x[i] % 10);
    x[n - 1] = '\n';
}
MAKE(dates)
{
    u8 *x = call->in[0];
    FOR (i, E(0)) {
        u8 *d = x + 10 * i;
        int y = 1900 + d[0], m = 1 + d[1] % 12, day = 1 + d[2] % 28;
        d[0] = (u8)('0' + y / 1000);
        d[1] = (u8)('0' + y / 100 % 10);
        d[2] = (u8)('0' + y / 10 % 10);
        d[3] = (u8)('0' + y % 10);
        d[4] = d[7] = '-';
        d[5] = (u8)('0' + m / 10);
        d[6] = (u8)('0' + m % 10);
        d[8] = (u8)('0' + day / 10);
        d[9] = (u8)('0' + day % 10);
    }
}
MAKE(powers)
{
    u32 *power = call->in[0], p = 1;
    for (int k = 9; k >= 0; k--, p *= 10)
        power[k] = p;
}
MAKE(columns)
{
    u8 *x = call->in[0];
    int64_t n = E(0), m = E(1);
    FOR (i, n) {
        int64_t length = (x[i * m] * 200 + x[i * m + 1]) % (m + 1);
        FOR (j, m)
            x[i * m + j] = j < length ? text_of((u8)(x[i * m + j] % 100)) : ' ';
    }
}
MAKE(text_offsets)
{
    int64_t *offset = call->in[0], m = E(0), n = E(1);
    u8 *x = call->in[1];
    FOR (i, m)
        offset[i] = i == m - 1 ? n : i * (n / (m - 1)) + (i ? i * 7919 % 9 : 0);
    FOR (i, n)
        x[i] = text_of(x[i]);
}
static void bases(u8 *x, int64_t n)
{
    FOR (i, n)
        x[i] = (u8) "ACGT"[x[i] & 3];
}
MAKE(dna)
{
    int64_t m = E(1);
    bases(call->in[0], E(0) * (m && m < 1000 ? m : 1));
}
/* Two: strings, and patterns, which are found in them. */
MAKE(dna_two)
{
    u8 *x = call->in[0], *y = call->in[1];
    int64_t n = E(0), m = E(1);
    if (n == 140000 || n == 30000 || n == 1000) { /* rows of two arrays */
        bases(x, n * m);
        bases(y, n * m);
        return;
    }
    if (n == 125000 || n == 62500 || n == 30001) { /* rows and a pattern, which each fifth begins with */
        int64_t width = m ? m : n == 125000 ? 8 : 16, known = n == 125000 ? 8 : m ? 4 : 16;
        bases(x, n * width);
        FOR (j, known)
            y[j] = x[n / 2 * width + j];
        for (int64_t i = 0; i < n; i += 5)
            FOR (j, known)
                x[i * width + j] = y[j];
        return;
    }
    bases(x, n);
    int64_t length = m == 1000003 ? 5 : m ? m : 8;
    if (length == 8)
        x[n / 2 + 3] = 'N'; /* the only one */
    FOR (j, length)
        y[j] = x[n / 2 + j];
}
MAKE(rare)
{
    u8 *x = call->in[0];
    FOR (i, E(0) * 16)
        x[i] = (u8)(i >= 16 && i / 16 % 3 == 0 ? x[i - 16] : x[i] < 2);
}
MAKE(utf8)
{
    u8 *x = call->in[0];
    int64_t n = E(0);
    for (int64_t i = 0; i < n;) {
        int length = x[i] < 120 ? 1 : x[i] < 170 ? 2 : x[i] < 190 ? 3 : 4;
        if (i + length > n)
            length = 1;
        if (length == 1)
            x[i] &= 0x7f;
        else
            x[i] = (u8)(length == 2 ? 0xc2 + x[i] % 30 : length == 3 ? 0xe1 + x[i] % 12 : 0xf1 + x[i] % 3);
        for (int k = 1; k < length; k++)
            x[i + k] = (u8)(0x80 | (x[i + k] & 63));
        i += length;
    }
}
MAKE(varints)
{
    u8 *x = call->in[0];
    int64_t n = E(0), so_far = 0;
    FOR (i, n) {
        bool more = i < n - 1 && so_far < 3 && x[i] >= 110;
        x[i] = (u8)((x[i] & 127) | (more ? 128 : 0));
        so_far = more ? so_far + 1 : 0;
    }
}

/* --- counts --- */

/* Four tables, so that equal bytes in a row do not wait for each other. */
static void count_bytes(const u8 *x, int64_t n, int64_t *count)
{
    memset(count, 0, 256 * sizeof *count);
    PARALLEL
    {
        u32 own[4][256] = {{0}};
        SPLIT_FOR
        FOR (i, n / 4)
            FOR (k, 4)
                own[k][x[4 * i + k]]++;
        CRITICAL
        FOR (b, 256)
            count[b] += own[0][b] + own[1][b] + own[2][b] + own[3][b];
    }
    for (int64_t i = n / 4 * 4; i < n; i++)
        count[x[i]]++;
}
C(letters_u8)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t count[256];
    count_bytes(x, E(0), count);
    FOR (b, 26)
        z[b] = count['A' + b] + count['a' + b];
}
C(byte_pairs_u8)
{
    enum { PAIRS = 65536, THREADS = 64 };
    static u32 own[THREADS][PAIRS];
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0) - 1;
    PRAGMA(omp parallel num_threads(MIN(THREADS, omp_get_max_threads())))
    {
        u32 *mine = own[omp_get_thread_num()];
        memset(mine, 0, sizeof own[0]);
        SPLIT_FOR
        FOR (i, n)
            mine[x[i] << 8 | x[i + 1]]++;
        int64_t count = omp_get_num_threads();
        SPLIT_FOR
        FOR (b, PAIRS) {
            int64_t sum = 0;
            FOR (t, count)
                sum += own[t][b];
            z[b] = sum;
        }
    }
}
C(entropy_u8)
{
    IN(u8, x, 0);
    int64_t count[256];
    count_bytes(x, E(0), count);
    f64 sum = 0;
    FOR (b, 256) {
        f64 p = (f64)count[b] / (f64)E(0);
        sum -= count[b] ? p * log2(p) : 0;
    }
    RESULT(f64, 0) = sum;
}
static inline u8 turned(u8 x, u8 by)
{
    u8 letter = (u8)((x | 32) - 'a'), k = (u8)(letter + by);
    k = (u8)(k >= 26 ? k - 26 : k);
    return letter < 26 ? (u8)((k + 'A') | (x & 32)) : x;
}
MAP1(rot_13_u8, u8, u8, turned(x[i], 13))
C(vigenere_u8)
{
    IN(u8, x, 0);
    IN(u8, key, 1);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    u8 keys[4096];
    int64_t block = 4096 / m * m;
    FOR (j, block)
        keys[j] = key[j % m];
    PARALLEL_FOR
    FOR (b, (n + block - 1) / block) {
        int64_t first = b * block, count = MIN(block, n - first);
        FOR (j, count)
            z[first + j] = turned(x[first + j], keys[j]);
    }
}

/* --- checksums --- */

#define FNV(name, T, m_, start, prime)                                                                                 \
    C(name)                                                                                                            \
    {                                                                                                                  \
        IN(u8, x, 0);                                                                                                  \
        OUT(T, z, 0);                                                                                                  \
        int64_t n = E(0);                                                                                              \
        PARALLEL_FOR                                                                                                   \
        FOR (i, n) {                                                                                                   \
            T hash = start;                                                                                            \
            FOR (j, m_)                                                                                                \
                hash = (hash ^ x[i * (m_) + j]) * prime;                                                               \
            z[i] = hash;                                                                                               \
        }                                                                                                              \
    }
FNV(fnv_of_8, u32, 8, 2166136261U, 16777619U)
FNV(fnv_of_16, u64, 16, 14695981039346656037U, 1099511628211U)

/* Eight rows at once, whose products overlap. */
#define EIGHT_ROWS(n, m, T, start, step, end)                                                                          \
    PARALLEL_FOR                                                                                                       \
    for (int64_t i = 0; i < (n) / 8 * 8; i += 8) {                                                                     \
        T s[8];                                                                                                        \
        FOR (r, 8)                                                                                                     \
            s[r] = start;                                                                                              \
        FOR (j, m)                                                                                                     \
            FOR (r, 8) {                                                                                               \
                u8 v = x[(i + r) * (m) + j];                                                                           \
                s[r] = step(s[r], v);                                                                                  \
            }                                                                                                          \
        FOR (r, 8)                                                                                                     \
            z[i + r] = end(s[r]);                                                                                      \
    }                                                                                                                  \
    for (int64_t i = (n) / 8 * 8; i < (n); i++) {                                                                      \
        T s = start;                                                                                                   \
        FOR (j, m)                                                                                                     \
            s = step(s, x[i * (m) + j]);                                                                               \
        z[i] = end(s);                                                                                                 \
    }
#define FNV_STEP(h, v) (((h) ^ (v)) * 16777619U)
#define SAME(s) (s)
C(fnv_u32)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0), m = E(1);
    EIGHT_ROWS(n, m, u32, 2166136261U, FNV_STEP, SAME)
}
C(adler_of_rows_u8)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *row = x + i * m;
        u32 a = 1, b = (u32)m, mm = (u32)m;
        for (u32 j = 0; j < mm; j++) {
            a += row[j];
            b += (mm - j) * row[j];
        }
        z[i] = b % 65521 << 16 | a % 65521;
    }
}
C(adler_u8)
{
    enum { BLOCK = 4096 };
    IN(u8, x, 0);
    int64_t n = E(0), a = 1, b = n;
    PRAGMA(omp parallel for reduction(+ : a, b) schedule(static))
    for (int64_t first = 0; first < n; first += BLOCK) {
        u32 count = (u32)MIN(BLOCK, n - first), s = 0, w = 0;
        for (u32 j = 0; j < count; j++) {
            s += x[first + j];
            w += j * x[first + j];
        }
        a += s;
        b += (n - first) * s - w;
    }
    RESULT(u32, 0) = (u32)(b % 65521) << 16 | (u32)(a % 65521);
}
#define CRC_STEP(c, v) ((c) >> 8 ^ table[((c) ^ (v)) & 255])
#define INVERTED(c) (~(c))
C(crc_of_rows_u8)
{
    IN(u32, table, 0);
    IN(u8, x, 1);
    OUT(u32, z, 0);
    int64_t n = E(0), m = E(1);
    EIGHT_ROWS(n, m, u32, 0xffffffffU, CRC_STEP, INVERTED)
}
/* Sums of at most 20 or so thousand bytes, a remainder at the end (a is below 2^23, b below 2^32 up to 5000). */
C(fletcher_u8)
{
    enum { BLOCK = 5000 };
    IN(u8, x, 0);
    OUT(u16, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u32 a = 0, b = 0;
        for (int64_t first = 0; first < m; first += BLOCK) {
            u32 count = (u32)MIN(BLOCK, m - first), s = 0, w = 0;
            const u8 *row = x + i * m + first;
            for (u32 j = 0; j < count; j++) {
                s += row[j];
                w += (count - j) * row[j];
            }
            b = (b + count * a + w % 255) % 255;
            a = (a + s) % 255;
        }
        z[i] = (u16)(b << 8 | a);
    }
}
C(luhn_u8)
{
    IN(u8, x, 0);
    OUT(b8, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u32 sum = 0;
        for (int j = 0; j < 16; j += 2) {
            u8 d = (u8)((x[16 * i + j] - '0') * 2);
            sum += (u8)(d > 9 ? d - 9 : d) + (u32)(x[16 * i + j + 1] - '0');
        }
        z[i] = sum % 10 == 0;
    }
}

/* --- numbers in digits --- */

C(digits_of_8)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u64 v;
        memcpy(&v, x + 8 * i, 8);
        v &= 0x0f0f0f0f0f0f0f0fU;
        v = v * 10 + (v >> 8);
        v = ((v & 0x000000ff000000ffU) * 0x000f424000000064U +
             ((v >> 16) & 0x000000ff000000ffU) * 0x0000271000000001U) >>
            32;
        z[i] = (u32)v;
    }
}
C(digits_by_weights_u32)
{
    IN(u8, x, 0);
    IN(u32, w, 1);
    OUT(u32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = 0;
        FOR (j, 8)
            v += (u32)(u8)(x[8 * i + j] - '0') * w[j];
        z[i] = v;
    }
}
C(digits_u64)
{
    IN(u8, x, 0);
    OUT(u64, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u64 v = 0;
        FOR (j, m)
            v = v * 10 + (u64)(x[i * m + j] - '0');
        z[i] = v;
    }
}
C(padded_to_number_i32)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = 0;
        bool negative = false;
        FOR (j, m) {
            u8 b = x[i * m + j], d = (u8)(b - '0');
            negative |= b == '-';
            v = d < 10 ? v * 10 + d : v;
        }
        z[i] = (i32)(negative ? -v : v);
    }
}
C(of_hexadecimal_u32)
{
    IN(u8, x, 0);
    OUT(u32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = 0;
        FOR (j, 8) {
            u8 b = x[8 * i + j];
            v = v << 4 | (u8)(b <= '9' ? b - '0' : (b | 32) - 'a' + 10);
        }
        z[i] = v;
    }
}

#define NEWLINE(at) (x[at] == '\n')
C(lines_to_numbers_i32)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    ENDED(n, NEWLINE, x[at] == '\n', {
        u32 v = 0;
        for (; at < end; at++) {
            if (x[at] == '\n') {
                z[k++] = (i32)v;
                v = 0;
            } else {
                v = v * 10 + (u8)(x[at] - '0');
            }
        }
    })
}
C(dates_i32)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        const u8 *d = x + 10 * i;
        i32 y = d[0] * 1000 + d[1] * 100 + d[2] * 10 + d[3] - '0' * 1111, m = d[5] * 10 + d[6] - '0' * 11,
            day = d[8] * 10 + d[9] - '0' * 11;
        y -= m <= 2;
        i32 era = y / 400, year = y - era * 400;
        i32 of_year = (153 * ((m + 9) % 12) + 2) / 5 + day - 1;
        z[i] = era * 146097 + year * 365 + year / 4 - year / 100 + of_year - 719468;
    }
}
C(decimal_3_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u8 v = x[i];
        z[3 * i] = (u8)(v / 100 + '0');
        z[3 * i + 1] = (u8)(v / 10 % 10 + '0');
        z[3 * i + 2] = (u8)(v % 10 + '0');
    }
}
C(decimal_5_u16)
{
    IN(u16, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = x[i];
        z[5 * i] = (u8)(v < 10000 ? ' ' : v / 10000 + '0');
        z[5 * i + 1] = (u8)(v < 1000 ? ' ' : v / 1000 % 10 + '0');
        z[5 * i + 2] = (u8)(v < 100 ? ' ' : v / 100 % 10 + '0');
        z[5 * i + 3] = (u8)(v < 10 ? ' ' : v / 10 % 10 + '0');
        z[5 * i + 4] = (u8)(v % 10 + '0');
    }
}
C(decimal_10_u32)
{
    IN(u32, x, 1);
    OUT(u8, z, 0);
    int64_t n = E(0);
    PARALLEL_FOR
    FOR (i, n) {
        u32 v = x[i];
        for (int j = 9; j >= 0; j--) {
            z[10 * i + j] = (u8)(v % 10 + '0');
            v /= 10;
        }
    }
}

/* --- tokens and lines --- */

C(word_starts_u8)
{
    IN(u8, x, 0);
    OUT(i64, z, 0);
    int64_t n = E(0);
    KEEP(n, (x[at] > ' ') & (at == 0 || x[at - 1] <= ' '), z[k] = at)
}
C(line_numbers_u8)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    i32 lines_of[257] = {0};
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / threads, end = n * (id + 1) / threads;
        i32 lines = 0;
        for (int64_t at = begin; at < end; at++)
            lines += x[at] == '\n';
        lines_of[id] = lines;
        PRAGMA(omp barrier)
        lines = 1;
        for (int64_t other = 0; other < id; other++)
            lines += lines_of[other];
        for (int64_t at = begin; at < end; at++) {
            z[at] = lines;
            lines += x[at] == '\n';
        }
    }
}
C(column_numbers_u8)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / threads, end = n * (id + 1) / threads, from = begin;
        while (from > 0 && x[from - 1] != '\n')
            from--;
        i32 column = (i32)(begin - from);
        for (int64_t at = begin; at < end; at++) {
            z[at] = column;
            column = x[at] == '\n' ? 0 : column + 1;
        }
    }
}
/* Whether quotes are open where a part begins; then what is at its end; then the part. */
C(fields_quoted_u8)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0);
    u8 open_of[257] = {0};
    i32 field_of[257] = {0};
    bool line_of[257] = {0};
    PARALLEL
    {
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();
        int64_t begin = n * id / threads, end = n * (id + 1) / threads;
        u8 open = 0;
        for (int64_t at = begin; at < end; at++)
            open ^= x[at] == '"';
        open_of[id] = open;
        PRAGMA(omp barrier)
        u8 first = 0;
        for (int64_t other = 0; other < id; other++)
            first ^= open_of[other];
        i32 field = 0;
        bool line = false;
        if (threads > 1) {
            open = first;
            for (int64_t at = begin; at < end; at++) {
                u8 c = x[at];
                open ^= c == '"';
                field += (c == ',') & !open;
                bool begins = (c == '\n') & !open;
                field = begins ? 0 : field;
                line |= begins;
            }
        }
        field_of[id] = field;
        line_of[id] = line;
        PRAGMA(omp barrier)
        field = 0;
        for (int64_t other = 0; other < id; other++)
            field = field_of[other] + (line_of[other] ? 0 : field);
        open = first;
        for (int64_t at = begin; at < end; at++) {
            u8 c = x[at];
            open ^= c == '"';
            field += (c == ',') & !open;
            field = (c == '\n') & !open ? 0 : field;
            z[at] = field;
        }
    }
}
C(crlf_to_lf_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    KEEP(n, !((x[at] == '\r') & (at + 1 < n && x[at + 1] == '\n')), z[k] = x[at])
}
/* Bytes that become one or two: all of a part are counted, then written. */
#define WIDEN(n, two, ...)                                                                                             \
    int64_t kept_of[257] = {0}, total = 0;                                                                             \
    PARALLEL                                                                                                           \
    {                                                                                                                  \
        int64_t threads = omp_get_num_threads(), id = omp_get_thread_num();                                            \
        int64_t begin = (n)*id / threads, end = (n) * (id + 1) / threads, k = end - begin;                             \
        for (int64_t at = begin; at < end; at++)                                                                       \
            k += (two);                                                                                                \
        kept_of[id] = k;                                                                                               \
        PRAGMA(omp barrier)                                                                                            \
        k = 0;                                                                                                         \
        for (int64_t other = 0; other < id; other++)                                                                   \
            k += kept_of[other];                                                                                       \
        for (int64_t at = begin; at < end; at++)                                                                       \
            __VA_ARGS__;                                                                                               \
        if (id == threads - 1)                                                                                         \
            total = k;                                                                                                 \
    }                                                                                                                  \
    KEPT(0) = total;
C(lf_to_crlf_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    WIDEN(n, x[at] == '\n', {
        z[k] = '\r';
        k += x[at] == '\n';
        z[k++] = x[at];
    })
}
C(latin1_to_utf8_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    WIDEN(n, x[at] >> 7, {
        u8 b = x[at], two = b >> 7;
        z[k] = (u8)(b >> 6 | 0xc0);
        k += two;
        z[k++] = two ? (u8)((b & 63) | 0x80) : b;
    })
}
C(collapse_spaces_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0);
    KEEP(n, (x[at] != ' ') | (at == 0 || x[at - 1] != ' '), z[k] = x[at])
}
static int64_t trimmed(const u8 *row, int64_t m)
{
    while (m > 0 && row[m - 1] == ' ')
        m--;
    return m;
}
C(trimmed_lengths_u8)
{
    IN(u8, x, 0);
    OUT(i32, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n)
        z[i] = (i32)trimmed(x + i * m, m);
}
C(right_justified_u8)
{
    IN(u8, x, 0);
    OUT(u8, z, 0);
    int64_t n = E(0), m = E(1);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t length = trimmed(x + i * m, m);
        memset(z + i * m, ' ', (size_t)(m - length));
        memcpy(z + i * m + m - length, x + i * m, (size_t)length);
    }
}
C(to_columns_u8)
{
    IN(int64_t, offset, 0);
    IN(u8, x, 1);
    OUT(u8, z, 0);
    int64_t n = E(2);
    PARALLEL_FOR
    FOR (i, n) {
        int64_t length = MIN(12, offset[i + 1] - offset[i]);
        FOR (j, 12)
            z[12 * i + j] = j < length ? x[offset[i] + j] : ' ';
    }
}
