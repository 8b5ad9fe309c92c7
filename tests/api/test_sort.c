/* Sorts: against a reference of their own, for all types, directions, sizes and contents; stability; tuples;
 * comparisons that are no order; sorts within loops. The device's results beside the interpreter's. */
#include "both.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- programs --- */

static sn_acc ascending(sn_acc a)
{
    return sn_sort(a);
}

static sn_acc descending(sn_acc a)
{
    return sn_sort_descending(a);
}

static sn_acc by_key(sn_acc keys, sn_acc values)
{
    return sn_sort_by_key(keys, values);
}

static sn_acc by_key_descending(sn_acc keys, sn_acc values)
{
    return sn_sort_by_key_descending(keys, values);
}

static sn_scalar less(sn_scalar x, sn_scalar y)
{
    return sn_lt(x, y);
}

static sn_acc by_less(sn_acc a)
{
    return sn_sort_by(less, a);
}

static sn_scalar by_last_digit(sn_scalar x, sn_scalar y)
{
    return sn_lt(sn_bit_and(x, 7), sn_bit_and(y, 7));
}

static sn_acc by_digit(sn_acc a)
{
    return sn_sort_by(by_last_digit, a);
}

static sn_scalar thrice(sn_scalar x)
{
    return sn_mul(x, 3);
}

static sn_acc of_products(sn_acc a)
{
    return sn_sort(sn_map(thrice, a));
}

/* --- a reference: merging, with comparisons as C has them --- */

typedef enum { BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, CHAR, KINDS } kind;

static const char *const kind_name[KINDS] = {"bool", "i8",  "i16", "i32", "i64", "u8",
                                             "u16",  "u32", "u64", "f32", "f64", "char"};
static const size_t kind_size[KINDS] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 4};

/* Numbers before NaNs; -0 before 0. */
static int compare_floats(double x, double y, bool down)
{
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    int order = x != y ? (x > y) - (x < y) : (signbit(y) != 0) - (signbit(x) != 0);
    return down ? -order : order;
}

#define COMPARE(type)                                                                                                  \
    {                                                                                                                  \
        type a, b;                                                                                                     \
        memcpy(&a, x, sizeof(a));                                                                                      \
        memcpy(&b, y, sizeof(b));                                                                                      \
        return down ? (b > a) - (b < a) : (a > b) - (a < b);                                                           \
    }

static int compare(kind k, const void *x, const void *y, bool down)
{
    float f, g;
    double d, e;
    switch (k) {
    case I8:
        COMPARE(int8_t)
    case I16:
        COMPARE(int16_t)
    case I32:
        COMPARE(int32_t)
    case I64:
        COMPARE(int64_t)
    case BOOL:
    case U8:
        COMPARE(uint8_t)
    case U16:
        COMPARE(uint16_t)
    case CHAR:
    case U32:
        COMPARE(uint32_t)
    case U64:
        COMPARE(uint64_t)
    case F32:
        memcpy(&f, x, 4);
        memcpy(&g, y, 4);
        return compare_floats((double)f, (double)g, down);
    default:
        memcpy(&d, x, 8);
        memcpy(&e, y, 8);
        return compare_floats(d, e, down);
    }
}

/* The numbers of n elements in their order. */
static void reference(kind k, const char *x, int64_t n, bool down, int64_t *order)
{
    int64_t *other = malloc(((size_t)n + 1) * sizeof(*other));
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t base = 0; base < n; base += 2 * width) {
            int64_t middle = base + width < n ? base + width : n, end = base + 2 * width < n ? base + 2 * width : n;
            int64_t i = base, j = middle;
            for (int64_t at = base; at < end; at++) {
                bool right = i == middle || (j < end && compare(k, x + (size_t)order[j] * kind_size[k],
                                                                x + (size_t)order[i] * kind_size[k], down) < 0);
                other[at] = right ? order[j++] : order[i++];
            }
        }
        memcpy(order, other, (size_t)n * sizeof(*order));
    }
    free(other);
}

/* --- contents --- */

static uint64_t seed = 1;

static uint64_t number(void)
{
    seed += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = (seed ^ seed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

typedef enum {
    ANY,
    FEW,
    EQUAL,
    UPWARDS,
    DOWNWARDS,
    LOW_BITS,
    HIGH_BITS,
    SPECIAL,
    LATER_ONES,
    LATER_ZEROES,
    CONTENTS
} content;

static uint64_t bits_of(content what, int64_t i)
{
    static const uint64_t special[] = {0,
                                       1,
                                       UINT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_C(0x8000000080000000),
                                       UINT64_C(0x7F8000007F800000),
                                       UINT64_C(0xFF800000FF800000),
                                       UINT64_C(0x7FC000017FC00001),
                                       UINT64_C(0xFFC00000FFC00002),
                                       UINT64_C(0x7FF0000000000000),
                                       UINT64_C(0xFFF0000000000000),
                                       UINT64_C(0x7FF8000000000001),
                                       UINT64_C(0xFFF8000000000003),
                                       UINT64_C(0x3F8000003F800000),
                                       UINT64_C(0xBFF0000000000000)};
    switch (what) {
    case FEW:
        return number() % 5 * UINT64_C(0x0101010101010101);
    case EQUAL:
        return UINT64_C(0x4142434445464748);
    case UPWARDS:
        return (uint64_t)i;
    case DOWNWARDS:
        return (uint64_t)-i;
    case LOW_BITS:
        return number() & 0x3FF;
    case HIGH_BITS:
        return (number() & 7) * UINT64_C(0x2000200020002000);
    case SPECIAL:
        return special[number() % (sizeof(special) / sizeof(special[0]))];
    case LATER_ONES: /* only the first pieces say which bits differ */
        return i < 700 ? number() : UINT64_MAX;
    case LATER_ZEROES:
        return i < 700 ? number() : 0;
    default:
        return number();
    }
}

static void fill(kind k, content what, int64_t n, char *x)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = bits_of(what, i);
        if (k == BOOL)
            bits &= 1;
        memcpy(x + (size_t)i * kind_size[k], &bits, kind_size[k]);
    }
}

static sn_arg in_of(kind k, void *x, int rank, const int64_t *extent, bool written)
{
    static const sn_type type[KINDS] = {SN_BOOL, SN_I8,  SN_I16, SN_I32, SN_I64, SN_U8,
                                        SN_U16,  SN_U32, SN_U64, SN_F32, SN_F64, SN_CHAR};
    sn_arg arg = {.kind = written ? SN_ARG_INTO : SN_ARG_IN, .type = type[k], .rank = rank};
    memcpy(arg.extent, extent, (size_t)rank * sizeof(*extent));
    if (written)
        arg.u.to = x;
    else
        arg.u.from = x;
    return arg;
}

/* --- against the reference --- */

typedef struct sizes {
    int rank;
    int64_t extent[3];
} sizes;

static int64_t rows_of(const sizes *s)
{
    int64_t rows = 1;
    for (int d = 0; d + 1 < s->rank; d++)
        rows *= s->extent[d];
    return rows;
}

/* Keys of one type with their numbers, so that only one result is right. */
static void check(sn_program *p, kind k, content what, const sizes *s, bool down)
{
    int64_t n = s->extent[s->rank - 1], rows = rows_of(s), all = rows * n;
    size_t size = kind_size[k];
    char *x = calloc((size_t)all + 1, size), *y = calloc((size_t)all + 1, size);
    int64_t *id = calloc((size_t)all + 1, sizeof(*id)), *to = calloc((size_t)all + 1, sizeof(*to));
    int64_t *order = calloc((size_t)n + 1, sizeof(*order));
    fill(k, what, all, x);
    for (int64_t i = 0; i < all; i++)
        id[i] = i % n;
    sn_status status = sn_call(p, in_of(k, x, s->rank, s->extent, false), in_of(I64, id, s->rank, s->extent, false),
                               in_of(k, y, s->rank, s->extent, true), in_of(I64, to, s->rank, s->extent, true));
    if (status != SN_OK)
        fail_msg("%s: %s", kind_name[k], sn_message(both_cpu()));
    for (int64_t row = 0; row < rows; row++) {
        reference(k, x + (size_t)(row * n) * size, n, down, order);
        for (int64_t i = 0; i < n; i++) {
            int64_t at = row * n + i;
            if (to[at] != order[i] || memcmp(y + (size_t)at * size, x + (size_t)(row * n + order[i]) * size, size) != 0)
                fail_msg("%s, contents %d, %lld rows of %lld%s: element %lld of row %lld is number %lld, not %lld",
                         kind_name[k], (int)what, (long long)rows, (long long)n, down ? ", descending" : "",
                         (long long)i, (long long)row, (long long)to[at], (long long)order[i]);
        }
    }
    free(x);
    free(y);
    free(id);
    free(to);
    free(order);
}

static sn_program *pairs_of(sn_context *cx, kind k, int rank, bool down)
{
    static const char *const shape[] = {"", "[n]", "[m,n]", "[l,m,n]"};
    char signature[128];
    snprintf(signature, sizeof(signature), "%s%s, %si64 -> %s(%s, i64)", shape[rank], kind_name[k], shape[rank],
             shape[rank], kind_name[k]);
    sn_program *p = down ? sn_compile(cx, signature, by_key_descending) : sn_compile(cx, signature, by_key);
    if (!p)
        fail_msg("%s: %s", signature, sn_message(cx));
    return p;
}

static void every_type(void **state)
{
    static const sizes all[] = {{1, {0}},       {1, {1}},      {1, {2}},       {1, {17}},       {1, {1021}},
                                {1, {1025}},    {1, {4099}},   {2, {0, 5}},    {2, {5, 0}},     {2, {7, 1}},
                                {2, {31, 13}},  {2, {5, 300}}, {2, {3, 2053}}, {3, {2, 3, 37}}, {2, {70, 2}},
                                {2, {200, 33}}, {2, {9, 128}}};
    (void)state;
    const bool sample = getenv("SINTER_TEST_SAMPLE") != NULL; /* drivers' compilers are slow */
    for (int k = sample ? F32 : 0; k < (sample ? F64 : KINDS); k++)
        for (int down = 0; down < 2; down++)
            for (int rank = 1; rank <= (sample ? 2 : 3); rank++) {
                if (sample && down != rank - 1)
                    continue;
                sn_program *p = pairs_of(both_cpu(), (kind)k, rank, down);
                for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
                    if (all[i].rank == rank)
                        check(p, (kind)k, (content)((i + (size_t)k) % CONTENTS), &all[i], down);
                if (rank == 1)
                    for (int what = 0; what < CONTENTS; what++)
                        check(p, (kind)k, (content)what, &(sizes){1, {1500}}, down);
                sn_drop(p);
            }
}

static void by_the_interpreter(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++)
        for (int down = 0; down < 2; down++) {
            sn_program *p = pairs_of(both_interpreter(), (kind)k, 2, down);
            for (int what = 0; what < CONTENTS; what++)
                check(p, (kind)k, (content)what, &(sizes){2, {3, 101}}, down);
            sn_drop(p);
        }
}

/* Many pieces, lines past the caches, and rounds that are left out. */
static void large(void **state)
{
    (void)state;
    const bool is_long = getenv("SINTER_TEST_LONG") != NULL;
    const int64_t n = is_long ? 20000003 : 300007;
    const kind some[] = {U32, F32, I64};
    for (size_t k = 0; k < (getenv("SINTER_TEST_SAMPLE") ? 1 : 3); k++) {
        sn_program *p = pairs_of(both_cpu(), some[k], 1, k == 1);
        check(p, some[k], ANY, &(sizes){1, {n}}, k == 1);
        check(p, some[k], HIGH_BITS, &(sizes){1, {n}}, k == 1);
        check(p, some[k], EQUAL, &(sizes){1, {n}}, k == 1);
        check(p, some[k], LOW_BITS, &(sizes){1, {n}}, k == 1);
        check(p, some[k], LATER_ONES, &(sizes){1, {n}}, k == 1);
        check(p, some[k], LATER_ZEROES, &(sizes){1, {n}}, k == 1);
        sn_drop(p);
    }
}

/* Keys of two components of which one, or both, have no bit or only some in which they differ: rounds are left out. */
static sn_acc by_two(sn_acc a, sn_acc b)
{
    return sn_snd(sn_sort_by_key(sn_zip(a, b), sn_map(sn_to_i32, sn_iota(sn_size(a)))));
}

static void components_that_are_all_equal(void **state)
{
    enum { N = 70001 };
    static const uint64_t mask[] = {0, 7, 0x700, UINT64_C(7) << 61, UINT64_MAX};
    enum { MASKS = sizeof(mask) / sizeof(mask[0]) };
    (void)state;
    static uint64_t a[N], b[N];
    static int32_t order[N];
    const int n = getenv("SINTER_TEST_SAMPLE") ? 3001 : N;
    sn_program *p = sn_compile(both_cpu(), "[n]u64, [n]u64 -> [n]i32", by_two);
    if (!p)
        fail_msg("%s", sn_message(both_cpu()));
    for (int x = 0; x < MASKS; x++)
        for (int y = 0; y < MASKS; y++) {
            for (int i = 0; i < n; i++) {
                a[i] = number() & mask[x];
                b[i] = number() & mask[y];
            }
            assert_int_equal(sn_call(p, sn_in(a, n), sn_in(b, n), sn_into(order, n)), SN_OK);
            for (int i = 1; i < n; i++) {
                int32_t l = order[i - 1], r = order[i];
                bool in_order = a[l] < a[r] || (a[l] == a[r] && (b[l] < b[r] || (b[l] == b[r] && l < r)));
                if (!in_order)
                    fail_msg("masks %llx and %llx: elements %d and %d stand the wrong way round",
                             (unsigned long long)mask[x], (unsigned long long)mask[y], l, r);
            }
        }
    sn_drop(p);
}

/* --- the first few, of which only what may be among them is sorted --- */

static sn_acc few_of_both(sn_acc a, sn_acc b)
{
    return sn_results(sn_sort(a), sn_take(7, sn_sort(b)), sn_sort_descending(a), sn_take(7, sn_sort_descending(b)));
}

static sn_acc few_with_values(sn_acc a, sn_acc b)
{
    sn_scalar n = sn_size(a);
    return sn_results(sn_snd(sn_sort_by_key(a, sn_iota(n))), sn_snd(sn_take(7, sn_sort_by_key(b, sn_iota(n)))));
}

static void fill_first(float *x, int64_t n, unsigned how)
{
    static const float special[] = {NAN, 0.0f, -0.0f, INFINITY, -INFINITY, 1, -1, 3};
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)i * 2654435761U + 12345;
        x[i] = how == 0 ? (float)(bits >> 8) : how == 1 ? special[(bits >> 13) % 8] : how == 2 ? NAN : (float)-i;
        x[i] = how == 4 ? (i == n / 2 ? 5.0f : NAN) : x[i];
    }
}

static void firsts_are_those_of_all(void **state)
{
    static const int64_t lengths[] = {0, 1, 6, 7, 8, 255, 256, 1791, 1792, 1793, 4099, 70000};
    static float x[70000], up[70000], down[70000], few[7], great[7];
    static int64_t order[70000], first[7];
    (void)state;
    sn_context *cx = both_cpu();
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> [n]f32, [k]f32, [n]f32, [k]f32", few_of_both);
    sn_program *q = sn_compile(cx, "[n]f32, [n]f32 -> [n]i64, [k]i64", few_with_values);
    assert_non_null(strstr(sn_explain(p, "term"), "pack@"));
    for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++)
        for (unsigned how = 0; how < 5; how++) {
            const int64_t n = lengths[i], k = n < 7 ? n : 7;
            fill_first(x, n, how);
            assert_int_equal(sn_call(p, sn_in(x, n), sn_in(x, n), sn_into(up, n), sn_into(few, k), sn_into(down, n),
                                     sn_into(great, k)),
                             SN_OK);
            assert_memory_equal(few, up, (size_t)k * sizeof *up);
            assert_memory_equal(great, down, (size_t)k * sizeof *down);
            assert_int_equal(sn_call(q, sn_in(x, n), sn_in(x, n), sn_into(order, n), sn_into(first, k)), SN_OK);
            assert_memory_equal(first, order, (size_t)k * sizeof *order);
        }
    sn_drop(p);
    sn_drop(q);
}

static void both_ways(void **state)
{
    (void)state;
    both("[n]T -> [n]T", ascending, ALL_TYPES, MIXED, 0, 1, 2, 33, 1000, 4099);
    if (getenv("SINTER_TEST_SAMPLE")) {
        both("[n](T, i32) -> [n](T, i32)", ascending, ALL_TYPES, SMALL, 0, 1, 2, 33, 1000, 4099);
        return;
    }
    both("[m,n]T -> [m,n]T", descending, ALL_TYPES, MIXED, MATRICES);
    both("[n](T, i32) -> [n](T, i32)", ascending, ALL_TYPES, SMALL, 0, 1, 2, 33, 1000, 4099);
    both("[n](bool, u8, T) -> [n](bool, u8, T)", descending, FLOATS, SMALL, 0, 1, 2, 33, 1000, 4099);
    both("[n]T -> [n]T", by_less, INTEGERS, MIXED, 0, 1, 2, 33, 1000, 4099, 10007);
    both("[m,n]T -> [m,n]T", by_less, "i32 u8", MIXED, MATRICES);
    both("[n]T -> [n]T", by_digit, INTEGERS, MIXED, 0, 1, 2, 33, 1000, 4099, 10007);
    both("[n]T -> [n]T", of_products, "i32 f32 u64", MIXED, 0, 1, 2, 33, 1000, 4099);
}

/* --- comparisons --- */

static sn_scalar first_less(sn_scalar x, sn_scalar y)
{
    return sn_lt(sn_get(x, 0), sn_get(y, 0));
}

static sn_acc by_first(sn_acc a)
{
    return sn_sort_by(first_less, a);
}

static void stable_comparison(sn_context *cx)
{
    enum { N = 5003 };
    sn_program *p = sn_compile(cx, "[n](i32, i32) -> [n](i32, i32)", by_first);
    int32_t key[N], id[N], to_key[N], to_id[N];
    for (int i = 0; i < N; i++) {
        key[i] = (int32_t)(number() % 17);
        id[i] = i;
    }
    assert_int_equal(sn_call(p, sn_in(key, N), sn_in(id, N), sn_into(to_key, N), sn_into(to_id, N)), SN_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(to_key[i], key[to_id[i]]);
        if (i)
            assert_true(to_key[i - 1] < to_key[i] || (to_key[i - 1] == to_key[i] && to_id[i - 1] < to_id[i]));
    }
    sn_drop(p);
}

static void stability(void **state)
{
    (void)state;
    both_in_turn(stable_comparison);
}

static sn_scalar or_equal(sn_scalar x, sn_scalar y)
{
    return sn_le(x, y);
}

static sn_scalar always(sn_scalar x, sn_scalar y)
{
    (void)y;
    return sn_eq(x, x);
}

static sn_scalar at_random(sn_scalar x, sn_scalar y)
{
    sn_scalar mixed = sn_mul(sn_bit_xor(sn_mul(x, 0x9E3779B1u), y), 0x85EBCA77u);
    return sn_eq(sn_bit_and(sn_shr(mixed, 13), 1u), 0u);
}

static sn_scalar round_about(sn_scalar x, sn_scalar y)
{
    return sn_eq(sn_rem(sn_add(x, 1u), 3u), sn_rem(y, 3u)); /* 0 before 1 before 2 before 0 */
}

static sn_acc no_order_1(sn_acc a)
{
    return sn_sort_by(or_equal, a);
}

static sn_acc no_order_2(sn_acc a)
{
    return sn_sort_by(always, a);
}

static sn_acc no_order_3(sn_acc a)
{
    return sn_sort_by(at_random, a);
}

static sn_acc no_order_4(sn_acc a)
{
    return sn_sort_by(round_about, a);
}

static void permutes(sn_context *cx, sn_body body, int64_t n)
{
    sn_program *p = sn_compile_at(SN_HERE, cx, "[n]u32 -> [n]u32", body);
    uint32_t *x = calloc((size_t)n + 1, 4), *y = calloc((size_t)n + 1, 4), *z = calloc((size_t)n + 1, 4);
    unsigned char *seen = calloc((size_t)n + 1, 1);
    assert_non_null(p);
    for (int64_t i = 0; i < n; i++) /* all different */
        x[i] = (uint32_t)((uint64_t)i * 7919 % (uint64_t)n);
    assert_int_equal(sn_call(p, sn_in(x, n), sn_into(y, n)), SN_OK);
    for (int64_t i = 0; i < n; i++) {
        assert_true(y[i] < (uint64_t)n && !seen[y[i]]);
        seen[y[i]] = 1;
    }
    assert_int_equal(sn_call(p, sn_in(x, n), sn_into(z, n)), SN_OK); /* the same ones each time */
    assert_memory_equal(y, z, (size_t)n * 4);
    free(x);
    free(y);
    free(z);
    free(seen);
    sn_drop(p);
}

static void no_orders(sn_context *cx)
{
    static const int64_t n[] = {1, 2, 33, 1009, 4099, 20011};
    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++) {
        permutes(cx, SN_BODY(no_order_3), n[i]);
        if (getenv("SINTER_TEST_SAMPLE"))
            continue;
        permutes(cx, SN_BODY(no_order_1), n[i]);
        permutes(cx, SN_BODY(no_order_2), n[i]);
        permutes(cx, SN_BODY(no_order_4), n[i]);
    }
}

/* Rows that lanes sort: each one keeps its elements. */
static void no_orders_of_rows(sn_context *cx)
{
    enum { ROWS = 77, N = 40 };
    const sn_body body[] = {SN_BODY(no_order_1), SN_BODY(no_order_2), SN_BODY(no_order_3), SN_BODY(no_order_4)};
    static uint32_t x[ROWS * N], y[ROWS * N];
    for (int i = 0; i < ROWS * N; i++)
        x[i] = (uint32_t)(i / N * N + i % N * 7 % N);
    for (int k = 0; k < 4; k++) {
        sn_program *p = sn_compile_at(SN_HERE, cx, "[m,n]u32 -> [m,n]u32", body[k]);
        unsigned char seen[ROWS * N] = {0};
        assert_non_null(p);
        assert_int_equal(sn_call(p, sn_in(x, ROWS, N), sn_into(y, ROWS, N)), SN_OK);
        for (int i = 0; i < ROWS * N; i++) {
            assert_int_equal(y[i] / N, i / N);
            assert_false(seen[y[i]]);
            seen[y[i]] = 1;
        }
        sn_drop(p);
    }
}

static void comparisons_that_are_no_order(void **state)
{
    (void)state;
    both_in_turn(no_orders);
    both_in_turn(no_orders_of_rows);
}

static sn_scalar by_quotient(sn_scalar x, sn_scalar y)
{
    return sn_lt(sn_quot(100, x), sn_quot(100, y));
}

static sn_acc quotients(sn_acc a)
{
    return sn_sort_by(by_quotient, a);
}

static sn_scalar quotient(sn_scalar x)
{
    return sn_quot(100, x);
}

static sn_acc of_quotients(sn_acc a)
{
    return sn_sort(sn_map(quotient, a));
}

static void failing(sn_context *cx)
{
    enum { N = 3001 };
    sn_program *p = sn_compile(cx, "[n]i32 -> [n]i32", quotients),
               *q = sn_compile(cx, "[n]i32 -> [n]i32", of_quotients);
    int32_t x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = i + 1;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    assert_int_equal(sn_call(q, sn_in(x, N), sn_into(y, N)), SN_OK);
    x[1234] = 0;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_DIVISION);
    assert_int_equal(sn_call(q, sn_in(x, N), sn_into(y, N)), SN_DIVISION);
    assert_non_null(strstr(sn_message(cx), "element 1234"));
    sn_drop(p);
    sn_drop(q);
}

static void failing_rows(sn_context *cx)
{
    enum { ROWS = 50, N = 33 };
    sn_program *p = sn_compile(cx, "[m,n]i32 -> [m,n]i32", quotients),
               *q = sn_compile(cx, "[m,n]i32 -> [m,n]i32", of_quotients);
    static int32_t x[ROWS * N], y[ROWS * N];
    for (int i = 0; i < ROWS * N; i++)
        x[i] = i % 90 + 1;
    assert_int_equal(sn_call(p, sn_in(x, ROWS, N), sn_into(y, ROWS, N)), SN_OK);
    assert_int_equal(sn_call(q, sn_in(x, ROWS, N), sn_into(y, ROWS, N)), SN_OK);
    for (int i = 0; i < ROWS * N; i++)
        assert_true(i % N == 0 || y[i - 1] <= y[i]);
    x[1234] = 0;
    assert_int_equal(sn_call(p, sn_in(x, ROWS, N), sn_into(y, ROWS, N)), SN_DIVISION);
    assert_int_equal(sn_call(q, sn_in(x, ROWS, N), sn_into(y, ROWS, N)), SN_DIVISION);
    assert_non_null(strstr(sn_message(cx), "element 1234"));
    sn_drop(p);
    sn_drop(q);
}

static void failures(void **state)
{
    (void)state;
    both_in_turn(failing);
    both_in_turn(failing_rows);
}

/* --- within loops of arrays --- */

static sn_scalar mixed(sn_scalar x)
{
    return sn_mul(x, 2654435761u);
}

static sn_acc shuffled_and_sorted(sn_acc a)
{
    return sn_sort(sn_map(mixed, a));
}

static sn_acc again_and_again(sn_acc a)
{
    return sn_aiterate(5, shuffled_and_sorted, a);
}

static int ascending_u32(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x > y) - (x < y);
}

static void rounds(sn_context *cx, int64_t n)
{
    sn_program *p = sn_compile(cx, "[n]u32 -> [n]u32", again_and_again);
    uint32_t *x = calloc((size_t)n + 1, 4), *y = calloc((size_t)n + 1, 4);
    if (!p)
        fail_msg("%s", sn_message(cx));
    for (int64_t i = 0; i < n; i++)
        x[i] = (uint32_t)i;
    assert_int_equal(sn_call(p, sn_in(x, n), sn_into(y, n)), SN_OK);
    for (int round = 0; round < 5; round++) {
        for (int64_t i = 0; i < n; i++)
            x[i] *= 2654435761u;
        qsort(x, (size_t)n, sizeof(*x), ascending_u32);
    }
    assert_memory_equal(x, y, (size_t)n * 4);
    free(x);
    free(y);
    sn_drop(p);
}

static void in_loops(sn_context *cx)
{
    rounds(cx, 0);
    rounds(cx, 50);
    rounds(cx, 1500);
    rounds(cx, 100003);
}

static void loops_of_arrays(void **state)
{
    (void)state;
    both_in_turn(in_loops);
}

/* --- mistakes --- */

static sn_acc of_single_value(sn_acc a)
{
    return sn_sort(sn_sum(a));
}

static sn_scalar difference(sn_scalar x, sn_scalar y)
{
    return sn_sub(x, y);
}

static sn_acc no_bool(sn_acc a)
{
    return sn_sort_by(difference, a);
}

static sn_acc unequal_shapes(sn_acc a, sn_acc b)
{
    return sn_sort_by_key(a, b);
}

static sn_acc distinct(sn_acc a)
{
    return sn_unique(a);
}

static void refused(sn_context *cx, const char *signature, sn_body body, const char *words)
{
    assert_null(sn_compile_at(SN_HERE, cx, signature, body));
    if (!strstr(sn_message(cx), words))
        fail_msg("expected \"%s\" in: %s", words, sn_message(cx));
}

static void mistakes(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    refused(cx, "[n]i32 -> i32", SN_BODY(of_single_value), "no dimension to sort");
    refused(cx, "[n]i32 -> [n]i32", SN_BODY(no_bool), "bool");
    refused(cx, "[m,n]i32 -> [k]i32", SN_BODY(distinct), "rank 1");
    refused(cx, "[3]i32, [4]i32 -> [3](i32, i32)", SN_BODY(unequal_shapes), "sort_by_key");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(firsts_are_those_of_all),
        cmocka_unit_test(every_type),
        cmocka_unit_test(by_the_interpreter),
        cmocka_unit_test(large),
        cmocka_unit_test(both_ways),
        cmocka_unit_test(components_that_are_all_equal),
        cmocka_unit_test(stability),
        cmocka_unit_test(comparisons_that_are_no_order),
        cmocka_unit_test(failures),
        cmocka_unit_test(loops_of_arrays),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
