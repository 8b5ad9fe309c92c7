/* Permutes, scatters, histograms, reduction by key: results have the bits of plain loops in C that combine in the
 * documented order, on the device and by the interpreter, for any number of workers. */
#include "counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t pick(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return n ? (uint32_t)((state >> 33) % n) : 0;
}

/* docs/determinism.md: how many elements a block of the source has, of so many at least a place. */
static int64_t block_of(int64_t n, int64_t places, int64_t a_place)
{
    int64_t least = a_place * places > 65536 ? a_place * places : 65536, blocks = (n + least - 1) / least;
    if (n <= 65536 || places > n / a_place)
        return n;
    blocks = blocks < 64 ? blocks : 64;
    return (n + blocks - 1) / blocks;
}

enum { WAYS = 4 };

static struct {
    sn_context *own[2];
    sn_context *way[WAYS]; /* the device; the interpreter; the device with one worker, with three */
} contexts;

static int open_contexts(void **env)
{
    static const int workers[] = {1, 3};
    if (both_open(env))
        return -1;
    contexts.way[0] = both_cpu();
    contexts.way[1] = both_interpreter();
    for (int i = 0; i < 2; i++) {
        sn_options o = {.size = sizeof o, .threads = workers[i], .contract = SN_OFF, .device = "cpu"};
        contexts.own[i] = contexts.way[2 + i] = sn_open(&o);
    }
    return 0;
}

static int close_contexts(void **env)
{
    for (int i = 0; i < 2; i++)
        sn_close(contexts.own[i]);
    return both_close(env);
}

static sn_program *program(sn_context *cx, const char *signature, sn_body body)
{
    sn_program *p = cx ? sn_compile_at(SN_HERE, cx, signature, body) : NULL;
    if (cx && !p)
        print_error("%s\n", sn_message(cx));
    assert_true(p || !cx);
    return p;
}

/* --- keys --- */

typedef enum { RANDOM, ALIKE, PERMUTED, DROPPED, SKEWED, KINDS } kind;

static int64_t *keys_of(kind k, int64_t n, int64_t places)
{
    int64_t *key = malloc((size_t)(n + 1) * sizeof *key);
    for (int64_t i = 0; i < n; i++) {
        uint32_t r = pick((uint32_t)places);
        key[i] = k == ALIKE      ? places / 2
                 : k == PERMUTED ? (i * 7919 + 13) % places
                 : k == DROPPED  ? (pick(3) ? (int64_t)r : INT64_MIN)
                 : k == SKEWED   ? (pick(4) ? 0 : (int64_t)r)
                                 : (int64_t)r;
    }
    return key;
}

static const struct {
    int64_t n, places;
} sizes[] = {{0, 5},       {1, 1},        {7, 3},        {100, 256},      {1000, 17},     {5000, 5000},
             {70001, 256}, {70001, 9000}, {300007, 256}, {300007, 70001}, {300007, 3000}, {1 << 20, 1}};

/* Whoever is slow takes small products of the two numbers, and not all kinds. */
static void each_size(void (*test)(sn_context *cx, kind k, int64_t n, int64_t places))
{
    bool sampled = getenv("SINTER_TEST_SAMPLE") != NULL;
    for (int w = 0; w < (sampled ? 2 : WAYS); w++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes && contexts.way[w]; i++) {
            if ((contexts.way[w] == both_interpreter() && sizes[i].n > 100000) ||
                (sampled && sizes[i].n * sizes[i].places > 30000000))
                continue;
            for (unsigned k = 0; k < KINDS; k += sampled && sizes[i].n > 1000 ? 3 : 1)
                test(contexts.way[w], (kind)k, sizes[i].n, sizes[i].places);
        }
}

static void same(const void *found, const void *wanted, int64_t n, size_t size)
{
    const char *x = found, *y = wanted;
    for (int64_t i = 0; i < n; i++)
        if (memcmp(x + (size_t)i * size, y + (size_t)i * size, size)) {
            print_error("element %ld of %ld differs\n", (long)i, (long)n);
            fail();
        }
}

/* --- histograms --- */

static sn_acc counted(sn_acc like, sn_acc keys)
{
    return sn_histogram(sn_extent(like, 0), keys);
}

static void histogram(sn_context *cx, kind k, int64_t n, int64_t places)
{
    sn_program *p = program(cx, "[m]u8, [n]i64 -> [m]i64", SN_BODY(counted));
    int64_t *key = keys_of(k, n, places), *found = malloc((size_t)places * 8), *wanted = calloc((size_t)places, 8);
    uint8_t *like = calloc((size_t)places, 1);
    for (int64_t i = 0; i < n; i++)
        if (key[i] >= 0)
            wanted[key[i]]++;
    assert_int_equal(sn_call(p, sn_in(like, places), sn_in(key, n), sn_into(found, places)), SN_OK);
    same(found, wanted, places, 8);
    free(key);
    free(found);
    free(wanted);
    free(like);
    sn_drop(p);
}

static void histograms(void **env)
{
    (void)env;
    each_size(histogram);
}

static sn_acc summed(sn_acc like, sn_acc keys, sn_acc weights)
{
    return sn_histogram_weighted(sn_extent(like, 0), keys, weights);
}

/* Bits of sums of floats tell the order. */
static void weighted(sn_context *cx, kind k, int64_t n, int64_t places)
{
    sn_program *p = program(cx, "[m]u8, [n]i64, [n]f32 -> [m]f32", SN_BODY(summed));
    int64_t *key = keys_of(k, n, places), length = block_of(n, places, 16);
    float *found = malloc((size_t)places * 4), *wanted = calloc((size_t)places, 4), *weight = malloc((size_t)n * 4 + 4);
    float *total = malloc((size_t)places * 4);
    uint8_t *like = calloc((size_t)places, 1), *has = malloc((size_t)places);
    for (int64_t i = 0; i < n; i++)
        weight[i] = (float)pick(1000000) / 7.0f;
    if (length >= n) {
        for (int64_t i = 0; i < n; i++)
            if (key[i] >= 0)
                wanted[key[i]] = weight[i] + wanted[key[i]];
    }
    for (int64_t from = 0; from < n && length < n; from += length) {
        memset(has, 0, (size_t)places);
        for (int64_t i = from; i < n && i < from + length; i++) {
            if (key[i] < 0)
                continue;
            total[key[i]] = has[key[i]] ? weight[i] + total[key[i]] : weight[i];
            has[key[i]] = 1;
        }
        for (int64_t j = 0; j < places; j++)
            wanted[j] = has[j] ? total[j] + wanted[j] : wanted[j];
    }
    assert_int_equal(sn_call(p, sn_in(like, places), sn_in(key, n), sn_in(weight, n), sn_into(found, places)), SN_OK);
    same(found, wanted, places, 4);
    free(key);
    free(found);
    free(wanted);
    free(weight);
    free(total);
    free(like);
    free(has);
    sn_drop(p);
}

static void weights(void **env)
{
    (void)env;
    each_size(weighted);
}

/* --- scatter --- */

static sn_acc scattered(sn_acc targets, sn_acc defaults, sn_acc source)
{
    return sn_scatter(targets, defaults, source);
}

static void scatter(sn_context *cx, kind k, int64_t n, int64_t places)
{
    sn_program *p = program(cx, "[n]i64, [m](i16, f64), [n](i16, f64) -> [m](i16, f64)", SN_BODY(scattered));
    int64_t *key = keys_of(k, n, places);
    int16_t *x = malloc((size_t)n * 2 + 2), *to = malloc((size_t)places * 2), *found = malloc((size_t)places * 2);
    double *y = malloc((size_t)n * 8 + 8), *at = malloc((size_t)places * 8), *there = malloc((size_t)places * 8);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (int16_t)pick(60000);
        y[i] = (double)i;
    }
    for (int64_t j = 0; j < places; j++) {
        to[j] = (int16_t)j;
        at[j] = -(double)j;
    }
    assert_int_equal(sn_call(p, sn_in(key, n), sn_in(to, places), sn_in(at, places), sn_in(x, n), sn_in(y, n),
                             sn_into(found, places), sn_into(there, places)),
                     SN_OK);
    for (int64_t i = 0; i < n; i++) {
        if (key[i] < 0)
            continue;
        to[key[i]] = x[i];
        at[key[i]] = y[i];
    }
    same(found, to, places, 2);
    same(there, at, places, 8);
    free(key);
    free(x);
    free(to);
    free(found);
    free(y);
    free(at);
    free(there);
    sn_drop(p);
}

static void scatters(void **env)
{
    (void)env;
    each_size(scatter);
}

/* --- tuples that are combined as one value: the best element of each key, the first one of several --- */

static sn_scalar better(sn_scalar x, sn_scalar y)
{
    sn_scalar wins =
        sn_or(sn_gt(sn_fst(x), sn_fst(y)), sn_and(sn_eq(sn_fst(x), sn_fst(y)), sn_lt(sn_snd(x), sn_snd(y))));
    return sn_if(wins, x, y);
}

static sn_acc best(sn_acc like, sn_acc keys, sn_acc values)
{
    sn_acc pairs = sn_zip(values, sn_iota(sn_extent(values, 0)));
    return sn_reduce_by_key(better, sn_tuple(sn_i32(-1), sn_i64(INT64_MAX)), sn_extent(like, 0), keys, pairs);
}

static void best_of(sn_context *cx, kind k, int64_t n, int64_t places)
{
    sn_program *p = program(cx, "[m]u8, [n]i64, [n]i32 -> [m](i32, i64)", SN_BODY(best));
    int64_t *key = keys_of(k, n, places), *at = malloc((size_t)places * 8), *first = malloc((size_t)places * 8);
    int32_t *x = malloc((size_t)n * 4 + 4), *found = malloc((size_t)places * 4), *wanted = malloc((size_t)places * 4);
    uint8_t *like = calloc((size_t)places, 1);
    for (int64_t j = 0; j < places; j++) {
        wanted[j] = -1;
        first[j] = INT64_MAX;
    }
    for (int64_t i = 0; i < n; i++) {
        x[i] = (int32_t)pick(1000);
        if (key[i] >= 0 && x[i] > wanted[key[i]]) {
            wanted[key[i]] = x[i];
            first[key[i]] = i;
        }
    }
    assert_int_equal(
        sn_call(p, sn_in(like, places), sn_in(key, n), sn_in(x, n), sn_into(found, places), sn_into(at, places)),
        SN_OK);
    same(found, wanted, places, 4);
    same(at, first, places, 8);
    free(key);
    free(at);
    free(first);
    free(x);
    free(found);
    free(wanted);
    free(like);
    sn_drop(p);
}

static void best_by_key(void **env)
{
    (void)env;
    each_size(best_of);
}

/* --- an operator that chooses, and whose NaNs tell how elements were combined --- */

static sn_scalar greater_new(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_gt(sn_fst(x), sn_fst(y)), x, y);
}

static sn_acc chosen(sn_acc like, sn_acc keys, sn_acc values)
{
    sn_acc pairs = sn_zip(values, sn_iota(sn_extent(values, 0)));
    return sn_reduce_by_key(greater_new, sn_tuple(sn_f32(-1), sn_i64(-1)), sn_extent(like, 0), keys, pairs);
}

static void chosen_of(sn_context *cx, kind k, int64_t n, int64_t places)
{
    struct best {
        float x;
        int64_t at;
    } *all = malloc((size_t)places * sizeof *all), *total = malloc((size_t)places * sizeof *total);
    sn_program *p = program(cx, "[m]u8, [n]i64, [n]f32 -> [m](f32, i64)", SN_BODY(chosen));
    int64_t *key = keys_of(k, n, places), *at = malloc((size_t)places * 8), length = block_of(n, places, 512);
    float *x = malloc((size_t)n * 4 + 4), *found = malloc((size_t)places * 4);
    uint8_t *like = calloc((size_t)places, 1);
    for (int64_t i = 0; i < n; i++)
        x[i] = pick(50) ? (float)pick(1000) : NAN;
    for (int64_t j = 0; j < places; j++)
        all[j] = (struct best){-1, -1};
    for (int64_t from = 0; from < n; from += length) {
        bool first = length >= n;
        for (int64_t j = 0; j < places; j++)
            total[j] = first ? all[j] : (struct best){0, -2};
        for (int64_t i = from; i < n && i < from + length; i++)
            if (key[i] >= 0 && (total[key[i]].at == -2 || x[i] > total[key[i]].x))
                total[key[i]] = (struct best){x[i], i};
        for (int64_t j = 0; j < places; j++)
            if (first || (total[j].at != -2 && total[j].x > all[j].x))
                all[j] = total[j];
    }
    assert_int_equal(
        sn_call(p, sn_in(like, places), sn_in(key, n), sn_in(x, n), sn_into(found, places), sn_into(at, places)),
        SN_OK);
    for (int64_t j = 0; j < places; j++) {
        assert_int_equal(at[j], all[j].at);
        assert_memory_equal(&found[j], &all[j].x, 4);
    }
    free(all);
    free(total);
    free(key);
    free(at);
    free(x);
    free(found);
    free(like);
    sn_drop(p);
}

static void chosen_by_key(void **env)
{
    (void)env;
    each_size(chosen_of);
}

/* --- records of components of several sizes --- */

static sn_scalar key_at(void *env, sn_scalar i)
{
    return sn_index(*(sn_acc *)env, i);
}

static sn_scalar add_all(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_max(sn_get(x, 1), sn_get(y, 1)),
                    sn_add(sn_get(x, 2), sn_get(y, 2)), sn_add(sn_get(x, 3), sn_get(y, 3)));
}

static sn_scalar or_larger(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_max(sn_get(x, 1), sn_get(y, 1)),
                    sn_if(sn_lt(sn_get(x, 0), sn_get(y, 0)), sn_get(x, 2), sn_get(y, 2)),
                    sn_add(sn_get(x, 3), sn_get(y, 3)));
}

static sn_acc records(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(add_all, defaults, sn_closure(key_at, &keys), source);
}

static sn_acc records_without_identity(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(or_larger, defaults, sn_closure(key_at, &keys), source);
}

static void records_of_sizes(void **env)
{
    (void)env;
    both("[m](u8, f64, i16, f32), [n]u32, [n](u8, f64, i16, f32) -> [m](u8, f64, i16, f32)", records, NULL, INDICES, 1,
         0, 5, 100, 300, 4099, 33, 70001, 9, 140001);
    both("[m](i16, f32, f64, u8), [n]u32, [n](i16, f32, f64, u8) -> [m](i16, f32, f64, u8)", records_without_identity,
         NULL, INDICES, 1, 0, 5, 100, 300, 4099, 33, 70001, 9, 140001);
}

/* --- types and operators --- */

static sn_acc least(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_min, defaults, sn_closure(key_at, &keys), source);
}

static sn_acc greatest(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_max, defaults, sn_closure(key_at, &keys), source);
}

static sn_acc added(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_add, defaults, sn_closure(key_at, &keys), source);
}

static sn_acc multiplied(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_mul, defaults, sn_closure(key_at, &keys), source);
}

static sn_acc combined_bits(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_bit_xor, defaults, sn_closure(key_at, &keys), source);
}

/* keys: indices of the first array */
static void types(void **env)
{
    (void)env;
    both("[m]T, [n]i64, [n]T -> [m]T", least, ALL_TYPES, INDICES, 1, 0, 5, 100, 300, 4099, 33, 70001);
    both("[m]T, [n]u32, [n]T -> [m]T", greatest, ALL_TYPES, INDICES, 1, 0, 5, 100, 300, 4099, 33, 70001);
    both("[m]T, [n]i32, [n]T -> [m]T", added, INTEGERS, INDICES, 1, 0, 5, 100, 300, 4099, 33, 70001);
    both("[m]T, [n]u8, [n]T -> [m]T", multiplied, INTEGERS, INDICES, 1, 0, 5, 100, 200, 4099, 33, 70001);
    both("[m]T, [n]u64, [n]T -> [m]T", combined_bits, INTEGERS, INDICES, 1, 0, 5, 100, 300, 4099, 33, 70001);
    both("[m]T, [n]u16, [n]T -> [m]T", added, FLOATS, INDICES, 1, 0, 5, 100, 300, 4099);
}

/* --- ranks, delayed operands, indices that drop --- */

static sn_scalar transposed(sn_scalar i, sn_scalar j)
{
    return sn_tuple(j, i);
}

static sn_scalar doubled(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_scalar latter(sn_scalar x, sn_scalar y)
{
    (void)y;
    return x;
}

static sn_acc turned(sn_acc a)
{
    sn_acc zero = sn_fill(sn_tuple(sn_extent(a, 1), sn_extent(a, 0)), sn_f32(0));
    return sn_permute(sn_add, zero, transposed, sn_map(doubled, a));
}

static sn_scalar even_half(sn_scalar i)
{
    return sn_if(sn_eq(sn_bit_and(i, 1), 0), sn_quot(i, 2), sn_ignore());
}

static sn_acc evens(sn_acc a)
{
    return sn_permute(latter, sn_fill(sn_quot(sn_add(sn_extent(a, 0), 1), 2), sn_f32(-1)), even_half, a);
}

static sn_scalar upper(sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_if(sn_le(i, j), i, sn_ignore()), j);
}

static sn_acc upper_triangle(sn_acc a)
{
    return sn_permute(sn_max, sn_fill(sn_shape_of(a), sn_f32(0)), upper, a);
}

/* rows of elements that go to rows of places, some of them nowhere */
static sn_scalar row_of_key(void *env, sn_scalar i, sn_scalar j)
{
    sn_scalar key = sn_index(*(sn_acc *)env, i);
    return sn_tuple(sn_if(sn_eq(key, 3), sn_ignore(), sn_mod(key, sn_i64(7))), j);
}

static sn_scalar row_of_checked_key(void *env, sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_index(*(sn_acc *)env, i), j);
}

static sn_acc rows_by_key(sn_acc defaults, sn_acc keys, sn_acc a)
{
    return sn_permute(sn_add, defaults, sn_closure(row_of_key, &keys), a);
}

static sn_acc last_rows(sn_acc defaults, sn_acc keys, sn_acc a)
{
    return sn_permute(latter, defaults, sn_closure(row_of_key, &keys), a);
}

static sn_scalar with_place(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_add(sn_mul(x, 2), sn_add(i, sn_mul(j, 3)));
}

static sn_acc rows_with_places(sn_acc keys, sn_acc a)
{
    sn_acc zero = sn_fill(sn_tuple(sn_extent(keys, 0), sn_extent(a, 1)), sn_i64(1));
    return sn_permute(sn_max, zero, sn_closure(row_of_checked_key, &keys), sn_imap(with_place, a));
}

static sn_scalar row_of_places(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(j, sn_rem(sn_index(*(sn_acc *)env, i), 2), k);
}

static sn_acc rows_of_planes(sn_acc keys, sn_acc a)
{
    sn_acc zero = sn_fill(sn_tuple(sn_extent(a, 1), sn_i64(2), sn_extent(a, 2)), sn_f32(0));
    return sn_permute(sn_add, zero, sn_closure(row_of_places, &keys), a);
}

static void by_rows(void **unused)
{
    (void)unused;
    both("[7,d]T, [n]i64, [n,d]T -> [7,d]T", rows_by_key, "i32 f64 u8", SMALL, 4, 40, 5, 3, 16, 1, 8, 0, 33, 33, 1, 500,
         3, 500, 16, 9000, 9, 20000, 20001, 3, 17, 7000);
    both("[7,16]T, [n]i64, [n,16]T -> [7,16]T", rows_by_key, "f32 i64", SMALL, 1, 40, 300, 9001);
    both("[7,12]T, [n]i64, [n,12]T -> [7,12]T", last_rows, "f32", POSITIVE, 1, 40, 300, 20000);
    both("[n]i64, [n,d]i64 -> [n,d]i64", rows_with_places, NULL, INDICES, 40, 4, 300, 5, 1, 16, 500, 33);
    both("[n]i64, [n,d]i64 -> [n,d]i64", rows_with_places, NULL, SMALL, 40, 4, 300, 5); /* some are outside */
    both("[n]i64, [n,l,d]f32 -> [l,2,d]f32", rows_of_planes, NULL, SMALL, 40, 3, 4, 3, 5, 16, 0, 2, 8, 700, 20, 33);
}

static sn_scalar shifted(sn_scalar x)
{
    return sn_tuple(sn_quot(x, 7), sn_rem(x, 7));
}

/* a joint histogram of two dimensions of bins */
static sn_acc joint(sn_acc keys)
{
    return sn_histogram(sn_tuple(5, 7), sn_map(shifted, sn_map(doubled, keys)));
}

static void ranks(void **env)
{
    (void)env;
    both("[h, w]f32 -> [w, h]f32", turned, NULL, SMALL, 0, 5, 5, 0, 1, 1, 33, 17, 300, 301);
    both("[n]f32 -> [m]f32", evens, NULL, SMALL, 1, 1, 2, 1, 5, 3, 1000, 500, 70001, 35001);
    both("[h, w]f32 -> [h, w]f32", upper_triangle, NULL, POSITIVE, 1, 1, 33, 17, 300, 301);
    both("[n]u8 -> [5, 7]i64", joint, NULL, INDICES, 0, 1, 17, 17);
}

/* --- several permutes of one array; defaults that live on --- */

static sn_acc updated_twice(sn_acc d, sn_acc keys, sn_acc a)
{
    sn_acc doubles = sn_map(doubled, d);
    sn_acc one = sn_scatter(keys, doubles, a), two = sn_scatter(keys, doubles, sn_map(doubled, a));
    return sn_results(one, two, doubles);
}

static sn_acc chained(sn_acc d, sn_acc keys, sn_acc a)
{
    sn_acc one = sn_scatter(keys, sn_map(doubled, d), a);
    return sn_scatter(sn_reverse(keys), one, sn_map(doubled, a));
}

/* It reads what it updates: the elements before. */
static sn_acc itself(sn_acc d, sn_acc keys)
{
    sn_acc doubles = sn_force(sn_map(doubled, d));
    return sn_scatter(keys, doubles, sn_gather(sn_reverse(keys), doubles));
}

static void defaults(void **env)
{
    (void)env;
    both("[m]f32, [n]i64, [n]f32 -> [m]f32, [m]f32, [m]f32", updated_twice, NULL, INDICES, 1, 0, 5, 100, 300, 4099);
    both("[m]f32, [n]i64, [n]f32 -> [m]f32", chained, NULL, INDICES, 1, 0, 5, 100, 300, 4099);
    both("[m]f32, [n]i64 -> [m]f32", itself, NULL, INDICES, 1, 0, 5, 100, 300, 4099);
}

static void plans(void **env)
{
    (void)env;
    sn_program *p = compiled_in(both_cpu(), "[m]f32, [n]i64, [n]f32 -> [m]f32", SN_BODY(chained));
    const char *said = sn_explain(p, "plan");
    assert_non_null(said);
    assert_null(strstr(said, "copy to")); /* in place, from the first on */
    sn_drop(p);
    p = compiled_in(both_cpu(), "[m]f32, [n]i64 -> [m]f32", SN_BODY(itself));
    says(p, "plan", "copy to result a");
    says(p, "fused", "not fused: what a permute combines elements into is in memory, and updated there or copied");
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]i64, [m]f32, [n]f32 -> [m]f32", SN_BODY(scattered));
    says(p, "plan", "copy to result a");
    says(p, "fused", "permute loop over [n]");
    sn_drop(p);
}

struct pair {
    float x;
    int32_t id;
};

static sn_acc scattered_pairs(sn_acc targets, sn_acc defaults, sn_acc source)
{
    return sn_scatter(targets, defaults, source);
}

static void in_structs(void **env)
{
    (void)env;
    for (int w = 0; w < 2; w++) {
        sn_program *p =
            program(contexts.way[w], "[n]i64, [m](f32, i32), [n](f32, i32) -> [m](f32, i32)", SN_BODY(scattered_pairs));
        struct pair d[] = {{1, 2}, {3, 4}, {5, 6}}, s[] = {{7, 8}, {9, 10}}, out[3];
        int64_t key[] = {2, 0};
        assert_int_equal(sn_call(p, sn_in(key, 2), sn_structs(d, 3), sn_structs(s, 2), sn_structs(out, 3)), SN_OK);
        assert_true(out[0].x == 9 && out[0].id == 10 && out[1].x == 3 && out[1].id == 4 && out[2].x == 7);
        sn_drop(p);
    }
}

/* --- mistakes --- */

enum { PLACES_LINE = __LINE__ + 3 };
static sn_acc at_places(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_add, defaults, sn_closure(key_at, &keys), source);
}

static void outside(void **env)
{
    (void)env;
    char place[100];
    snprintf(place, sizeof place, "test_permute.c:%d: permute: ", PLACES_LINE);
    for (int w = 0; w < WAYS && contexts.way[w]; w++) {
        sn_program *p = program(contexts.way[w], "[m]i32, [n]i64, [n]i32 -> [m]i32", SN_BODY(at_places));
        enum { N = 70001 };
        int64_t *key = calloc(N, 8);
        int32_t *x = calloc(N, 4), d[9] = {0}, out[9];
        key[69000] = -1;
        key[41234] = 9;
        assert_int_equal(sn_call(p, sn_in(d, 9), sn_in(key, N), sn_in(x, N), sn_into(out, 9)), SN_OUT_OF_RANGE);
        assert_non_null(strstr(sn_message(contexts.way[w]), place));
        assert_non_null(strstr(sn_message(contexts.way[w]), "index 9 is outside the extent 9, at element 41234"));
        key[41234] = INT64_MIN;
        assert_int_equal(sn_call(p, sn_in(d, 9), sn_in(key, N), sn_in(x, N), sn_into(out, 9)), SN_OUT_OF_RANGE);
        assert_non_null(strstr(sn_message(contexts.way[w]), "index -1 is outside the extent 9, at element 69000"));
        assert_int_equal(sn_call(p, sn_in(d, 0), sn_in(key, 1), sn_in(x, 1), sn_into(out, 0)), SN_OUT_OF_RANGE);
        assert_int_equal(sn_call(p, sn_in(d, 9), sn_in(key, 5), sn_in(x, 5), sn_into(out, 9)), SN_OK);
        free(key);
        free(x);
        sn_drop(p);
    }
}

static sn_acc wide_keys(sn_acc keys)
{
    return sn_histogram(3, keys);
}

/* No number of u64 is taken for another one. */
static void wide(void **env)
{
    (void)env;
    for (int w = 0; w < 2; w++) {
        sn_program *p = program(contexts.way[w], "[n]u64 -> [3]i64", SN_BODY(wide_keys));
        uint64_t key[] = {2, UINT64_C(1) << 63};
        int64_t out[3];
        assert_int_equal(sn_call(p, sn_in(key, 2), sn_into(out, 3)), SN_OUT_OF_RANGE);
        assert_non_null(strstr(sn_message(contexts.way[w]), "index above 9223372036854775807 is outside the extent 3"));
        key[1] = UINT64_MAX;
        assert_int_equal(sn_call(p, sn_in(key, 2), sn_into(out, 3)), SN_OUT_OF_RANGE);
        assert_non_null(strstr(sn_message(contexts.way[w]), "index 18446744073709551615 is outside the extent 3"));
        assert_int_equal(sn_call(p, sn_in(key, 1), sn_into(out, 3)), SN_OK);
        assert_true(out[0] == 0 && out[2] == 1);
        sn_drop(p);
    }
}

static sn_acc counted_of_any(sn_acc keys, sn_acc defaults)
{
    return sn_histogram(sn_size(defaults), keys);
}

/* Keys of all widths, in rows longer than what is looked at at once: one that is too large, or below 0, is found
 * wherever it is, and none is taken for another one. */
static void key_types(void **env)
{
    (void)env;
    enum { N = 1000 };
    static const struct {
        const char *name;
        sn_type type;
        int bytes;
        int64_t wrong;
    } of[] = {{"i8", SN_I8, 1, -1},          {"u8", SN_U8, 1, 200},
              {"i16", SN_I16, 2, -32768},    {"u16", SN_U16, 2, 65535},
              {"i32", SN_I32, 4, INT32_MIN}, {"u32", SN_U32, 4, 0xFFFFFFFF},
              {"i64", SN_I64, 8, -1},        {"i64", SN_I64, 8, INT64_C(1) << 32},
              {"i64", SN_I64, 8, INT64_MAX}, {"u64", SN_U64, 8, INT64_C(1) << 32}};
    for (int w = 0; w < WAYS && contexts.way[w]; w++)
        for (size_t t = 0; t < sizeof of / sizeof *of; t++) {
            char signature[64];
            unsigned char key[8 * N];
            int64_t out[100], d[100] = {0};
            const sn_arg keys = {.kind = SN_ARG_IN, .type = of[t].type, .rank = 1, .extent = {N}, .u.from = key};
            snprintf(signature, sizeof signature, "[n]%s, [m]i64 -> [m]i64", of[t].name);
            sn_program *p = program(contexts.way[w], signature, SN_BODY(counted_of_any));
            for (int64_t i = 0; i < N; i++) {
                int64_t k = i * 7 % 100;
                memcpy(key + i * of[t].bytes, &k, (size_t)of[t].bytes);
            }
            assert_int_equal(sn_call(p, keys, sn_in(d, 100), sn_into(out, 100)), SN_OK);
            for (int i = 0; i < 100; i++)
                assert_int_equal(out[i], 10);
            memcpy(key + 517 * of[t].bytes, &of[t].wrong, (size_t)of[t].bytes);
            assert_int_equal(sn_call(p, keys, sn_in(d, 100), sn_into(out, 100)), SN_OUT_OF_RANGE);
            assert_non_null(strstr(sn_message(contexts.way[w]), "at element 517"));
            sn_drop(p);
        }
}

static sn_scalar divided(void *env, sn_scalar i)
{
    sn_scalar k = sn_index(*(sn_acc *)env, i);
    return sn_rem(sn_quot(100, k), 9);
}

static sn_acc at_quotients(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_max, defaults, sn_closure(divided, &keys), source);
}

static sn_scalar divided_in_rows(void *env, sn_scalar i)
{
    return sn_tuple(divided(env, i), sn_rem(i, 2));
}

static sn_acc at_quotients_of_rows(sn_acc defaults, sn_acc keys, sn_acc source)
{
    return sn_permute(sn_max, defaults, sn_closure(divided_in_rows, &keys), source);
}

/* The same where the first index of two has no value, and the other one always has. */
static void a_row_without_value(void **env)
{
    (void)env;
    for (int w = 0; w < 2; w++) {
        sn_program *p = program(contexts.way[w], "[m,l]i32, [n]i64, [n]i32 -> [m,l]i32", SN_BODY(at_quotients_of_rows));
        int64_t key[1000];
        int32_t x[1000], d[18] = {0}, out[18];
        for (int i = 0; i < 1000; i++) {
            key[i] = i % 500;
            x[i] = i;
        }
        for (int i = 0; i < 18; i++)
            out[i] = -1;
        assert_int_equal(sn_call(p, sn_in(d, 9, 2), sn_in(key, 1000), sn_in(x, 1000), sn_into(out, 9, 2)), SN_DIVISION);
        assert_non_null(strstr(sn_message(contexts.way[w]), "division by zero"));
        assert_non_null(strstr(sn_message(contexts.way[w]), "at element 0"));
        assert_int_equal(sn_call(p, sn_in(d, 9, 2), sn_in(key + 1, 499), sn_in(x, 499), sn_into(out, 9, 2)), SN_OK);
        for (int i = 0; i < 18; i++) {
            int32_t wanted = 0;
            for (int k = 0; k < 499; k++)
                wanted = 100 / (k + 1) % 9 == i / 2 && k % 2 == i % 2 && k > wanted ? k : wanted;
            assert_int_equal(out[i], wanted);
        }
        sn_drop(p);
    }
}

/* Where an index has no value, nothing is written anywhere. */
static void without_value(void **env)
{
    (void)env;
    for (int w = 0; w < 2; w++) {
        sn_program *p = program(contexts.way[w], "[m]i32, [n]i64, [n]i32 -> [m]i32", SN_BODY(at_quotients));
        int64_t key[100];
        int32_t x[100], d[9] = {0}, out[9];
        for (int i = 0; i < 100; i++) {
            key[i] = i % 50;
            x[i] = i;
        }
        assert_int_equal(sn_call(p, sn_in(d, 9), sn_in(key, 100), sn_in(x, 100), sn_into(out, 9)), SN_DIVISION);
        assert_non_null(strstr(sn_message(contexts.way[w]), "division by zero"));
        assert_non_null(strstr(sn_message(contexts.way[w]), "at element 0"));
        assert_int_equal(sn_call(p, sn_in(d, 9), sn_in(key + 1, 49), sn_in(x, 49), sn_into(out, 9)), SN_OK);
        sn_drop(p);
    }
}

static sn_acc of_rank_0(sn_acc keys, sn_acc a)
{
    return sn_scatter(keys, sn_unit(sn_f32(0)), a);
}

static sn_acc of_other_types(sn_acc keys, sn_acc d, sn_acc a)
{
    return sn_scatter(keys, d, a);
}

static sn_acc of_other_rank(sn_acc keys, sn_acc d, sn_acc a)
{
    return sn_scatter(keys, d, a);
}

static void refused(const char *signature, sn_body body, const char *why)
{
    assert_null(sn_compile_at(SN_HERE, both_cpu(), signature, body));
    if (!strstr(sn_message(both_cpu()), why))
        print_error("%s\n", sn_message(both_cpu()));
    assert_non_null(strstr(sn_message(both_cpu()), why));
}

static void mistakes(void **env)
{
    (void)env;
    refused("[n]i64, [n]f32 -> f32", SN_BODY(of_rank_0), "hold no indices of rank 0");
    refused("[n]i64, [m]f64, [n]f32 -> [m]f64", SN_BODY(of_other_types),
            "the elements, [n]f32, are not like the defaults, [m]f64; convert one of them");
    refused("[n]i64, [k, m]f32, [n]f32 -> [k, m]f32", SN_BODY(of_other_rank), "hold no indices of rank 2");
    refused("[n]f32, [m]f32, [n]f32 -> [m]f32", SN_BODY(of_other_rank), "");
    refused("[h, n]i64, [m]f32, [n]f32 -> [m]f32", SN_BODY(of_other_rank), "there is one target for each element");
    sn_program *p = program(both_cpu(), "[k]i64, [m]f32, [n]f32 -> [m]f32", SN_BODY(scattered));
    float x[3] = {0}, y[3];
    int64_t key[2] = {0};
    assert_int_equal(sn_call(p, sn_in(key, 2), sn_in(x, 3), sn_in(x, 3), sn_into(y, 3)), SN_SHAPE_MISMATCH);
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histograms),    cmocka_unit_test(weights),
        cmocka_unit_test(scatters),      cmocka_unit_test(best_by_key),
        cmocka_unit_test(chosen_by_key), cmocka_unit_test(records_of_sizes),
        cmocka_unit_test(types),         cmocka_unit_test(ranks),
        cmocka_unit_test(defaults),      cmocka_unit_test(plans),
        cmocka_unit_test(in_structs),    cmocka_unit_test(outside),
        cmocka_unit_test(wide),          cmocka_unit_test(key_types),
        cmocka_unit_test(without_value), cmocka_unit_test(a_row_without_value),
        cmocka_unit_test(mistakes),      cmocka_unit_test(by_rows),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
