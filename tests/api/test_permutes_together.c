/* Permutes that name the same places share a loop: what they give has the bits that each gives in a loop of its own,
 * and how many loops there are is what `explain` says. */
#include "counts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static uint32_t pick(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

/* --- reductions by key --- */

static sn_scalar better(sn_scalar x, sn_scalar y)
{
    sn_scalar same = sn_and(sn_eq(sn_fst(x), sn_fst(y)), sn_lt(sn_snd(x), sn_snd(y)));
    return sn_if(sn_or(sn_gt(sn_fst(x), sn_fst(y)), same), x, y);
}

static sn_scalar fading(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(y, 0.75), x);
}

static sn_scalar both_ways(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_get(x, 0), sn_get(y, 0)), sn_max(sn_get(x, 1), sn_get(y, 1)),
                    sn_sub(sn_get(y, 2), sn_get(x, 2)));
}

static sn_scalar three(sn_scalar x)
{
    return sn_tuple(x, sn_mul(x, 2.0f), sn_neg(x));
}

static sn_scalar remainder_by(void *env, sn_scalar key)
{
    return sn_rem(sn_to_i64(key), *(const sn_scalar *)env);
}

static sn_scalar dropped_by(void *env, sn_scalar key)
{
    return sn_if(sn_eq(sn_rem(key, 5), 3), sn_ignore(), remainder_by(env, key));
}

typedef struct arguments {
    sn_acc like, keys, x, y, z;
    sn_scalar places;
    bool drops;
} arguments;

/* The keys, as functions of their own each time. */
static sn_acc keys_of(arguments *a)
{
    return sn_map(a->drops ? sn_closure(dropped_by, &a->places) : sn_closure(remainder_by, &a->places), a->keys);
}

/* How an operation's elements are divided, which must be alike in a loop, but for what can be divided in any way. */
enum { BY_ANY, BY_FLOATS, BY_CHOICE, BY_LAST };

typedef enum { COUNT, SUM, GREATEST, LEAST, BEST, LATEST, PRODUCT, FADING, SEVERAL, BITS, WAYS_OF } operation;

static const struct {
    const char *result;
    int size[4], divided;
} of[WAYS_OF] = {
    [COUNT] = {"[m]i64", {8}, BY_ANY},
    [SUM] = {"[m]f32", {4}, BY_FLOATS},
    [GREATEST] = {"[m]f32", {4}, BY_CHOICE},
    [LEAST] = {"[m]i16", {2}, BY_ANY},
    [BEST] = {"[m](f32, i64)", {4, 8}, BY_CHOICE},
    [LATEST] = {"[m]i16", {2}, BY_LAST},
    [PRODUCT] = {"[m]u64", {8}, BY_ANY},
    [FADING] = {"[m]f64", {8}, BY_FLOATS},
    [SEVERAL] = {"[m](f32, f32, f32)", {4, 4, 4}, BY_FLOATS},
    [BITS] = {"[m]u64", {8}, BY_ANY},
};

static sn_acc reduced(operation op, arguments *a)
{
    sn_acc keys = keys_of(a);
    switch (op) {
    case COUNT:
        return sn_histogram(a->places, keys);
    case SUM:
        return sn_reduce_by_key(sn_add, sn_f32(1.5f), a->places, keys, a->x);
    case GREATEST:
        return sn_reduce_by_key(sn_max, sn_f32(-INFINITY), a->places, keys, a->x);
    case LEAST:
        return sn_reduce_by_key(sn_min, sn_i16(99), a->places, keys, a->y);
    case BEST:
        return sn_reduce_by_key(better, sn_tuple(sn_f32(-1e30f), sn_i64(INT64_MAX)), a->places, keys,
                                sn_zip(a->x, sn_iota(sn_size(a->x))));
    case LATEST:
        return sn_scatter(keys, sn_fill(a->places, sn_i16(-7)), a->y);
    case PRODUCT:
        return sn_reduce_by_key(sn_mul, sn_u64(1), a->places, keys, a->z);
    case FADING:
        return sn_reduce_by_key(sn_associative(fading), sn_f64(2), a->places, keys, sn_map(sn_to_f64, a->x));
    case SEVERAL:
        return sn_reduce_by_key(sn_associative(both_ways), sn_tuple(sn_f32(0), sn_f32(-9), sn_f32(1)), a->places, keys,
                                sn_map(three, a->x));
    default:
        return sn_reduce_by_key(sn_bit_xor, sn_u64(0), a->places, keys, a->z);
    }
}

/* --- mixes of them --- */

enum { MOST = 6 };

static struct {
    int n;
    operation op[MOST];
    bool drops;
} mix;

static sn_acc mixed(sn_acc like, sn_acc keys, sn_acc x, sn_acc y, sn_acc z)
{
    arguments a = {like, keys, x, y, z, sn_size(like), mix.drops};
    sn_acc result[MOST];
    for (int i = 0; i < mix.n; i++)
        result[i] = reduced(mix.op[i], &a);
    return sn_results_at(SN_HERE, mix.n, result);
}

static sn_program *mix_in(sn_context *cx)
{
    char signature[256] = "[m]u8, [n]u32, [n]f32, [n]i16, [n]u64 -> ";
    for (int i = 0; i < mix.n; i++) {
        strcat(signature, i ? ", " : "");
        strcat(signature, of[mix.op[i]].result);
    }
    return compiled_in(cx, signature, SN_BODY(mixed));
}

typedef struct inputs {
    int64_t n, places;
    uint8_t *like;
    uint32_t *key;
    float *x;
    int16_t *y;
    uint64_t *z;
} inputs;

static inputs draw(int64_t n, int64_t places)
{
    inputs in = {n,
                 places,
                 calloc((size_t)places, 1),
                 calloc((size_t)n + 1, 4),
                 calloc((size_t)n + 1, 4),
                 calloc((size_t)n + 1, 2),
                 calloc((size_t)n + 1, 8)};
    for (int64_t i = 0; i < n; i++) {
        in.key[i] = pick(1 << 30);
        in.x[i] = pick(50) ? (float)pick(1 << 20) / 1024 - 300 : pick(2) ? -0.0f : 0.0f;
        in.y[i] = (int16_t)pick(65536);
        in.z[i] = ((uint64_t)pick(1 << 30) << 33) ^ pick(1 << 30);
    }
    return in;
}

static void drop(inputs *in)
{
    free(in->like);
    free(in->key);
    free(in->x);
    free(in->y);
    free(in->z);
}

static size_t room_of(int64_t bytes)
{
    return ((size_t)bytes + 7) / 8 * 8;
}

/* All components of the mix's results, one behind the other. */
static char *call(sn_context *cx, sn_program *p, const inputs *in, size_t *bytes)
{
    sn_arg arg[5 + 3 * MOST] = {sn_in(in->like, in->places), sn_in(in->key, in->n), sn_in(in->x, in->n),
                                sn_in(in->y, in->n), sn_in(in->z, in->n)};
    static const sn_type types[9] = {[2] = SN_I16, [4] = SN_F32, [8] = SN_I64};
    int n = 5;
    *bytes = 0;
    for (int i = 0; i < mix.n; i++)
        for (int c = 0; c < 3; c++)
            *bytes += room_of(in->places * of[mix.op[i]].size[c]);
    char *all = calloc(*bytes + 1, 1), *to = all;
    for (int i = 0; i < mix.n; i++)
        for (int c = 0; c < 3 && of[mix.op[i]].size[c]; c++) {
            int size = of[mix.op[i]].size[c];
            sn_type type = types[size];
            if (mix.op[i] == PRODUCT || mix.op[i] == BITS)
                type = SN_U64;
            if (mix.op[i] == FADING)
                type = SN_F64;
            arg[n++] = (sn_arg){.kind = SN_ARG_INTO, .type = type, .rank = 1, .extent = {in->places}, .u.to = to};
            to += room_of(in->places * size);
        }
    int status = sn_call_at(SN_HERE, p, n, arg);
    if (status)
        print_error("%s\n", sn_message(cx));
    assert_int_equal(status, SN_OK);
    return all;
}

static const struct {
    int64_t n, places;
} sizes[] = {{0, 5}, {1, 1}, {100, 256}, {5000, 17}, {70001, 16}, {70001, 9000}, {140001, 256}};

enum { SIZES_OF = sizeof sizes / sizeof *sizes };

/* Each of the mix by itself gives the same. */
static void as_alone(sn_context *cx, const inputs *in, const char *all)
{
    int n = mix.n;
    operation op[MOST];
    memcpy(op, mix.op, sizeof op);
    mix.n = 1;
    for (int i = 0; i < n; i++) {
        size_t bytes;
        mix.op[0] = op[i];
        sn_program *p = mix_in(cx);
        char *alone = call(cx, p, in, &bytes);
        if (memcmp(alone, all, bytes)) {
            print_error("operation %d of %d (%d), n %ld, places %ld\n", i, n, (int)op[i], (long)in->n,
                        (long)in->places);
            fail();
        }
        all += bytes;
        free(alone);
        sn_drop(p);
    }
    mix.n = n;
    memcpy(mix.op, op, sizeof op);
}

/* Loops that the mix has, where all have keys of their own that are the same: one for each way of dividing elements;
 * what can be divided in any way joins one of them. */
static unsigned loops_of_mix(void)
{
    unsigned ways = 0;
    for (int i = 0; i < mix.n; i++)
        ways |= 1u << of[mix.op[i]].divided;
    if (ways & (1u << BY_FLOATS | 1u << BY_CHOICE))
        ways &= ~(1u << BY_ANY);
    unsigned loops = 0;
    for (; ways; ways >>= 1)
        loops += ways & 1;
    return loops;
}

static unsigned permute_loops(sn_program *p)
{
    const char *clusters = sn_explain(p, "json");
    unsigned n = 0;
    assert_non_null(clusters);
    for (const char *at = clusters; (at = strstr(at, "permute loop")); at++)
        n++;
    return n;
}

static void random_mixes(void **env)
{
    (void)env;
    static const int workers[] = {1, 3};
    bool more = getenv("SINTER_TEST_LONG") != NULL, sampled = getenv("SINTER_TEST_SAMPLE") != NULL;
    sn_context *cx[4] = {both_cpu(), both_interpreter()};
    for (int i = 0; i < 2; i++) {
        sn_options o = {.size = sizeof o, .threads = workers[i], .device = "cpu", .contract = SN_OFF};
        cx[2 + i] = sn_open(&o);
    }
    state = 20261124;
    for (int round = 0; round < (more ? 200 : sampled ? 2 : 14); round++) {
        mix.n = 2 + (int)pick(MOST - 1);
        mix.drops = pick(3) == 0;
        for (int i = 0; i < mix.n; i++)
            mix.op[i] = (operation)pick(WAYS_OF);
        unsigned s = more ? pick(SIZES_OF) : (unsigned)(sampled ? 2 * round + 1 : round) % SIZES_OF;
        inputs in = draw(sizes[s].n, sizes[s].places);
        for (int w = 0; w < 4 && cx[w]; w++) {
            size_t bytes;
            if (cx[w] == both_interpreter() && in.n > 10000)
                continue;
            sn_program *p = mix_in(cx[w]);
            char *all = call(cx[w], p, &in, &bytes);
            as_alone(cx[w], &in, all);
            if (w >= 2 && on_cpu()) /* other devices have operations of their own for some */
                assert_int_equal(permute_loops(p), loops_of_mix());
            free(all);
            sn_drop(p);
        }
        drop(&in);
    }
    for (int i = 0; i < 2; i++)
        sn_close(cx[2 + i]);
}

/* --- which share a loop --- */

static sn_acc other_keys(sn_acc keys, sn_acc others, sn_acc x, sn_acc like)
{
    sn_scalar m = sn_size(like);
    return sn_results(sn_histogram_weighted(m, keys, x), sn_histogram_weighted(m, others, x));
}

static sn_acc other_places(sn_acc keys, sn_acc x, sn_acc like, sn_acc more)
{
    return sn_results(sn_histogram_weighted(sn_size(like), keys, x), sn_histogram_weighted(sn_size(more), keys, x));
}

static sn_acc with_totals(sn_acc keys, sn_acc x, sn_acc like)
{
    sn_scalar m = sn_size(like);
    sn_acc sums = sn_histogram_weighted(m, keys, x);
    return sn_results(sums, sn_histogram_weighted(m, keys, sn_zip_with(sn_mul, x, sn_gather(keys, sums))));
}

static sn_acc onto_each_other(sn_acc keys, sn_acc x, sn_acc begin)
{
    sn_acc once = sn_scatter(keys, begin, x);
    return sn_results(once, sn_scatter(keys, once, sn_map(sn_neg, x)));
}

static sn_acc from_the_same(sn_acc keys, sn_acc x, sn_acc begin)
{
    return sn_results(sn_scatter(keys, begin, x), sn_scatter(keys, begin, sn_map(sn_neg, x)));
}

static sn_acc from_one_computed(sn_acc keys, sn_acc x, sn_acc begin)
{
    sn_acc twice = sn_map(sn_neg, begin);
    return sn_results(sn_scatter(keys, twice, x), sn_scatter(keys, twice, sn_map(sn_neg, x)));
}

static sn_acc many(sn_acc keys, sn_acc x, sn_acc like)
{
    sn_acc sums[20];
    for (int i = 0; i < 20; i++)
        sums[i] = sn_histogram_weighted(sn_size(like), keys, sn_zip_with(sn_add, x, sn_fill(sn_size(x), (float)i)));
    return sn_results_at(SN_HERE, 20, sums);
}

static void loops(void **env)
{
    (void)env;
    const struct {
        const char *signature;
        sn_body body;
        unsigned loops;
    } programs[] = {
        {"[n]i32, [n]i32, [n]f32, [m]u8 -> [m]f32, [m]f32", SN_BODY(other_keys), 2},
        {"[n]i32, [n]f32, [m]u8, [k]u8 -> [m]f32, [k]f32", SN_BODY(other_places), 2},
        {"[n]i32, [n]f32, [m]u8 -> [m]f32, [m]f32", SN_BODY(with_totals), 2},
        {"[n]i32, [n]f32, [m]f32 -> [m]f32, [m]f32", SN_BODY(onto_each_other), 2},
        {"[n]i32, [n]f32, [m]f32 -> [m]f32, [m]f32", SN_BODY(from_the_same), 1},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        sn_program *p = compiled_in(both_cpu(), programs[i].signature, programs[i].body);
        if (permute_loops(p) != programs[i].loops)
            print_error("program %zu:\n%s\n", i, sn_explain(p, "clusters"));
        assert_int_equal(permute_loops(p), programs[i].loops);
        sn_drop(p);
    }
}

/* Results that begin with the same array do not see each other's elements; nor does the array change. */
static void begin_alike(void **env)
{
    (void)env;
    const sn_body body[] = {SN_BODY(from_the_same), SN_BODY(from_one_computed)};
    sn_context *cx[] = {both_cpu(), both_interpreter()};
    for (int w = 0; w < 2; w++)
        for (int b = 0; b < 2; b++) {
            sn_program *p = compiled_in(cx[w], "[n]i32, [n]f32, [m]f32 -> [m]f32, [m]f32", body[b]);
            const int32_t key[] = {1, 3, 1};
            const float x[] = {5, 6, 7}, begin[] = {10, 11, 12, 13}, sign = b ? -1 : 1;
            float one[4], other[4];
            assert_int_equal(
                sn_call(p, sn_in(key, 3), sn_in(x, 3), sn_in(begin, 4), sn_into(one, 4), sn_into(other, 4)), SN_OK);
            const float wanted[] = {10 * sign, 7, 12 * sign, 6}, negated[] = {10 * sign, -7, 12 * sign, -6};
            assert_memory_equal(one, wanted, sizeof one);
            assert_memory_equal(other, negated, sizeof other);
            sn_drop(p);
        }
}

/* More than find room beside each other are several loops. */
static void too_many(void **env)
{
    (void)env;
    char signature[200] = "[n]i32, [n]f32, [m]u8 -> ";
    for (int i = 0; i < 20; i++)
        strcat(signature, i ? ", [m]f32" : "[m]f32");
    sn_program *p = compiled_in(both_cpu(), signature, SN_BODY(many));
    assert_int_equal(permute_loops(p), 2);
    static const uint8_t like[3];
    const int32_t key[] = {2, 0, 2};
    const float x[] = {1, 2, 4};
    float sum[20][3];
    sn_arg arg[23] = {sn_in(key, 3), sn_in(x, 3), sn_in(like, 3)};
    for (int i = 0; i < 20; i++)
        arg[3 + i] = sn_into(sum[i], 3);
    assert_int_equal(sn_call_at(SN_HERE, p, 23, arg), SN_OK);
    for (int i = 0; i < 20; i++)
        assert_true(sum[i][0] == (float)(2 + i) && sum[i][1] == 0 && sum[i][2] == (float)(5 + 2 * i));
    sn_drop(p);
}

/* --- rows of elements that go to rows of places --- */

static sn_scalar row_of(void *env, sn_scalar i, sn_scalar j)
{
    return sn_tuple(sn_index(*(sn_acc *)env, i), j);
}

static sn_acc rows(sn_acc keys, sn_acc x, sn_acc like)
{
    sn_acc sums = sn_permute(sn_add, sn_fill(sn_shape_of(like), 0.0f), sn_closure(row_of, &keys), x);
    sn_acc squares =
        sn_permute(sn_add, sn_fill(sn_shape_of(like), 0.0), sn_closure(row_of, &keys), sn_map(sn_to_f64, x));
    return sn_results(sums, squares);
}

static sn_acc rows_of_floats(sn_acc keys, sn_acc x, sn_acc like)
{
    return sn_permute(sn_add, sn_fill(sn_shape_of(like), 0.0f), sn_closure(row_of, &keys), x);
}

static sn_acc rows_of_doubles(sn_acc keys, sn_acc x, sn_acc like)
{
    return sn_permute(sn_add, sn_fill(sn_shape_of(like), 0.0), sn_closure(row_of, &keys), sn_map(sn_to_f64, x));
}

static void by_rows(void **env)
{
    (void)env;
    static const int64_t extents[][3] = {{30, 7, 3}, {9000, 33, 11}, {20000, 16, 8}};
    for (size_t s = 0; s < 3; s++) {
        int64_t n = extents[s][0], columns = extents[s][1], m = extents[s][2];
        int32_t *key = malloc((size_t)n * 4);
        float *x = malloc((size_t)(n * columns) * 4);
        uint8_t *like = calloc((size_t)(m * columns), 1);
        float *sum = malloc((size_t)(m * columns) * 4), *sum_alone = malloc((size_t)(m * columns) * 4);
        double *square = malloc((size_t)(m * columns) * 8), *square_alone = malloc((size_t)(m * columns) * 8);
        for (int64_t i = 0; i < n; i++)
            key[i] = (int32_t)pick((uint32_t)m);
        for (int64_t i = 0; i < n * columns; i++)
            x[i] = (float)pick(1 << 20) / 1024;
        sn_program *p = compiled_in(both_cpu(), "[n]i32, [n, k]f32, [m, k]u8 -> [m, k]f32, [m, k]f64", SN_BODY(rows));
        sn_program *floats =
            compiled_in(both_cpu(), "[n]i32, [n, k]f32, [m, k]u8 -> [m, k]f32", SN_BODY(rows_of_floats));
        sn_program *doubles =
            compiled_in(both_cpu(), "[n]i32, [n, k]f32, [m, k]u8 -> [m, k]f64", SN_BODY(rows_of_doubles));
        assert_int_equal(permute_loops(p), 1);
        assert_int_equal(sn_call(p, sn_in(key, n), sn_in(x, n, columns), sn_in(like, m, columns),
                                 sn_into(sum, m, columns), sn_into(square, m, columns)),
                         SN_OK);
        assert_int_equal(sn_call(floats, sn_in(key, n), sn_in(x, n, columns), sn_in(like, m, columns),
                                 sn_into(sum_alone, m, columns)),
                         SN_OK);
        assert_int_equal(sn_call(doubles, sn_in(key, n), sn_in(x, n, columns), sn_in(like, m, columns),
                                 sn_into(square_alone, m, columns)),
                         SN_OK);
        assert_memory_equal(sum, sum_alone, (size_t)(m * columns) * 4);
        assert_memory_equal(square, square_alone, (size_t)(m * columns) * 8);
        sn_drop(p);
        sn_drop(floats);
        sn_drop(doubles);
        free(key);
        free(x);
        free(like);
        free(sum);
        free(square);
        free(sum_alone);
        free(square_alone);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_mixes), cmocka_unit_test(loops),   cmocka_unit_test(begin_alike),
        cmocka_unit_test(too_many),     cmocka_unit_test(by_rows),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, both_open, both_close);
}
