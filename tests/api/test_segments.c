/* Segmented operations: the values of each, against plain loops; segments of every length, from empty ones to those of
 * many pieces of work, in any mixture; descriptors that are wrong. On the device and by the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sinter/sinter.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_context *device, *interpreter;

/* --- the values of each operation --- */

static sn_acc of_folds(sn_acc lengths, sn_acc a, sn_acc b)
{
    return sn_results(sn_fold_seg(sn_max, 0, lengths, a), sn_sum_seg(lengths, a), sn_count_seg(lengths, b));
}

static sn_acc made(sn_acc lengths, sn_acc starts, sn_acc steps, sn_acc like)
{
    sn_scalar n = sn_extent(like, 0);
    return sn_results(sn_replicate_seg(n, lengths, starts), sn_iota_seg(n, lengths),
                      sn_enum_from_step_n_seg(n, lengths, starts, steps));
}

static sn_acc appended(sn_acc la, sn_acc a, sn_acc lb, sn_acc b)
{
    return sn_append_seg(la, a, lb, b);
}

static sn_acc from_left(sn_acc lengths, sn_acc a)
{
    sn_acc total, before = sn_scanl_x_seg(sn_add, 10, lengths, a, &total);
    return sn_results(sn_scanl_seg(sn_add, 10, lengths, a), sn_scanl1_seg(sn_add, lengths, a),
                      sn_prescan_seg(sn_add, 10, lengths, a), sn_postscan_seg(sn_add, 10, lengths, a), before, total);
}

static sn_acc from_right(sn_acc lengths, sn_acc a)
{
    sn_acc total, behind = sn_scanr_x_seg(sn_add, 10, lengths, a, &total);
    return sn_results(sn_scanr_seg(sn_add, 10, lengths, a), sn_scanr1_seg(sn_add, lengths, a),
                      sn_prescanr_seg(sn_add, 10, lengths, a), sn_postscanr_seg(sn_add, 10, lengths, a), behind, total);
}

#define EXPECT(found, ...)                                                                                             \
    do {                                                                                                               \
        const int32_t wanted_[] = {__VA_ARGS__};                                                                       \
        assert_memory_equal(found, wanted_, sizeof(wanted_));                                                          \
    } while (0)

static sn_program *compile(sn_context *cx, const char *signature, sn_body body)
{
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, body);
    if (!p)
        fail_msg("%s", sn_message(cx));
    return p;
}

#define CALL(cx, p, ...)                                                                                               \
    do {                                                                                                               \
        if (sn_call(p, __VA_ARGS__) != SN_OK)                                                                          \
            fail_msg("%s", sn_message(cx));                                                                            \
    } while (0)

static void examples_on(sn_context *cx)
{
    sn_program *p = compile(cx, "[s]i64, [n]i32, [n]bool -> [s]i32, [s]i32, [s]i64", SN_BODY(of_folds));
    int64_t lengths[] = {3, 1, 2}, counts[3];
    int32_t x[] = {1, 4, 2, 5, 6, 8}, most[3], sums[3];
    bool odd[] = {true, false, false, true, false, false};
    CALL(cx, p, sn_in(lengths, 3), sn_in(x, 6), sn_in(odd, 6), sn_into(most, 3), sn_into(sums, 3), sn_into(counts, 3));
    EXPECT(most, 4, 5, 8);
    EXPECT(sums, 7, 5, 14);
    assert_true(counts[0] == 1 && counts[1] == 1 && counts[2] == 0);
    sn_drop(p);

    p = compile(cx, "[s]i32, [s]i32, [s]i32, [n]bool -> [n]i32, [n]i64, [n]i32", SN_BODY(made));
    int32_t three[] = {2, 4, 3}, starts[] = {10, 40, 60}, steps[] = {1, 2, 3}, copies[9], counted[9];
    int64_t iota[9];
    bool like[9] = {0};
    CALL(cx, p, sn_in(three, 3), sn_in(starts, 3), sn_in(steps, 3), sn_in(like, 9), sn_into(copies, 9),
         sn_into(iota, 9), sn_into(counted, 9));
    EXPECT(copies, 10, 10, 40, 40, 40, 40, 60, 60, 60);
    EXPECT(counted, 10, 11, 40, 42, 44, 46, 60, 63, 66);
    for (int i = 0; i < 9; i++)
        assert_int_equal(iota[i], i < 2 ? i : i < 6 ? i - 2 : i - 6);
    sn_drop(p);

    p = compile(cx, "[s]i32, [n]i32, [s]i32, [m]i32 -> [k]i32", SN_BODY(appended));
    int32_t la[] = {2, 1, 1}, a[] = {10, 20, 30, 40}, lb[] = {1, 2, 2}, b[] = {50, 60, 70, 80, 90}, both[9];
    CALL(cx, p, sn_in(la, 3), sn_in(a, 4), sn_in(lb, 3), sn_in(b, 5), sn_into(both, 9));
    EXPECT(both, 10, 20, 50, 30, 60, 70, 40, 80, 90);
    sn_drop(p);
}

static void scans_on(sn_context *cx)
{
    const char *signature = "[s]i64, [n]i32 -> [m]i32, [n]i32, [n]i32, [n]i32, [n]i32, [s]i32";
    int64_t lengths[] = {0, 3, 0, 1, 2, 0};
    int32_t x[] = {1, 4, 2, 5, 6, 8}, whole[12], one[6], pre[6], post[6], before[6], total[6];
    sn_program *p = compile(cx, signature, SN_BODY(from_left));
    CALL(cx, p, sn_in(lengths, 6), sn_in(x, 6), sn_into(whole, 12), sn_into(one, 6), sn_into(pre, 6), sn_into(post, 6),
         sn_into(before, 6), sn_into(total, 6));
    EXPECT(whole, 10, 10, 11, 15, 17, 10, 10, 15, 10, 16, 24, 10);
    EXPECT(one, 1, 5, 7, 5, 6, 14);
    EXPECT(pre, 10, 11, 15, 10, 10, 16);
    EXPECT(post, 11, 15, 17, 15, 16, 24);
    EXPECT(before, 10, 11, 15, 10, 10, 16);
    EXPECT(total, 10, 17, 10, 15, 24, 10);
    sn_drop(p);
    p = compile(cx, signature, SN_BODY(from_right));
    CALL(cx, p, sn_in(lengths, 6), sn_in(x, 6), sn_into(whole, 12), sn_into(one, 6), sn_into(pre, 6), sn_into(post, 6),
         sn_into(before, 6), sn_into(total, 6));
    EXPECT(whole, 10, 17, 16, 12, 10, 10, 15, 10, 24, 18, 10, 10);
    EXPECT(one, 7, 6, 2, 5, 14, 8);
    EXPECT(pre, 16, 12, 10, 10, 18, 10);
    EXPECT(post, 17, 16, 12, 15, 24, 18);
    EXPECT(before, 16, 12, 10, 10, 18, 10);
    EXPECT(total, 10, 17, 10, 15, 24, 10);
    sn_drop(p);
}

static void examples(void **state)
{
    (void)state;
    examples_on(device);
    examples_on(interpreter);
}

static void scans(void **state)
{
    (void)state;
    scans_on(device);
    scans_on(interpreter);
}

/* --- lengths of every class --- */

/* x -> a x + b, the left one applied first, in wrapping integers: associative, and order matters. */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_scalar as_map(sn_scalar x)
{
    return sn_tuple(sn_bit_or(x, sn_u32(1)), sn_add(x, sn_u32(7)));
}

static sn_acc every_fold(sn_acc lengths, sn_acc x, sn_acc y)
{
    sn_acc maps = sn_fold_seg(compose, sn_tuple(sn_u32(3), sn_u32(5)), lengths, sn_map(as_map, x));
    return sn_results(sn_sum_seg(lengths, x), sn_fst(maps), sn_snd(maps), sn_sum_seg(lengths, y),
                      sn_fold_seg(sn_max, -1, lengths, y));
}

static sn_acc replicated(sn_acc lengths, sn_acc a, sn_acc x)
{
    return sn_zip_with(sn_add, sn_replicate_seg(sn_extent(x, 0), lengths, a), x);
}

static sn_acc fused(sn_acc lengths, sn_acc a, sn_acc x)
{
    return sn_sum_seg(lengths, sn_zip_with(sn_mul, sn_replicate_seg(sn_extent(x, 0), lengths, a), x));
}

static sn_acc running(sn_acc lengths, sn_acc x)
{
    return sn_scanl1_seg(sn_add, lengths, x);
}

static sn_scalar weigh(sn_scalar sum, sn_scalar weight)
{
    return sn_add(sn_mul(sum, sn_u32(5)), weight);
}

/* Each result of a fold goes on in its own segment: in what is made once of it, and in the elements. */
static sn_acc gone_on(sn_acc lengths, sn_acc weights, sn_acc x)
{
    sn_scalar n = sn_extent(x, 0);
    sn_acc first = sn_sum_seg(lengths, x), made = sn_zip_with(weigh, first, weights);
    sn_acc mixed = sn_zip_with(sn_bit_xor, x, sn_replicate_seg(n, lengths, made));
    sn_acc second = sn_sum_seg(lengths, mixed);
    sn_acc product = sn_zip_with(sn_mul, mixed, sn_replicate_seg(n, lengths, second));
    return sn_results(sn_zip_with(sn_add, product, sn_replicate_seg(n, lengths, first)), made, second);
}

/* Compiled once for each context. */
static sn_program *folds_of[2], *copies_of[2], *dots_of[2], *scan_of[2], *gone_on_of[2];

static void compile_all(void)
{
    for (int i = 0; i < 2; i++) {
        sn_context *cx = i ? interpreter : device;
        folds_of[i] =
            compile(cx, "[s]i64, [n]u32, [n]f64 -> [s]u32, [s]u32, [s]u32, [s]f64, [s]f64", SN_BODY(every_fold));
        copies_of[i] = compile(cx, "[s]i64, [s]u32, [n]u32 -> [n]u32", SN_BODY(replicated));
        dots_of[i] = compile(cx, "[s]i64, [s]u32, [n]u32 -> [s]u32", SN_BODY(fused));
        scan_of[i] = compile(cx, "[s]i64, [n]u32 -> [n]u32", SN_BODY(running));
        gone_on_of[i] = compile(cx, "[s]i64, [s]u32, [n]u32 -> [n]u32, [s]u32, [s]u32", SN_BODY(gone_on));
    }
}

static void drop_all(void)
{
    for (int i = 0; i < 2; i++) {
        sn_drop(folds_of[i]);
        sn_drop(copies_of[i]);
        sn_drop(dots_of[i]);
        sn_drop(scan_of[i]);
        sn_drop(gone_on_of[i]);
    }
}

static void check_gone_on(sn_context *cx, int64_t s, const int64_t *lengths, int64_t n, const uint32_t *x)
{
    size_t room = (size_t)(n + 1) * 4, many = (size_t)(s + 1) * 4;
    uint32_t *weights = calloc(1, many), *all = malloc(room), *made = malloc(many), *sums = malloc(many);
    for (int64_t i = 0; i < s; i++)
        weights[i] = (uint32_t)i * 40503u;
    CALL(cx, gone_on_of[cx == interpreter], sn_in(lengths, s), sn_in(weights, s), sn_in(x, n), sn_into(all, n),
         sn_into(made, s), sn_into(sums, s));
    for (int64_t i = 0, at = 0; i < s; at += lengths[i++]) {
        uint32_t first = 0, second = 0;
        for (int64_t k = at; k < at + lengths[i]; k++)
            first += x[k];
        assert_int_equal(made[i], first * 5 + weights[i]);
        for (int64_t k = at; k < at + lengths[i]; k++)
            second += x[k] ^ made[i];
        assert_int_equal(sums[i], second);
        for (int64_t k = at; k < at + lengths[i]; k++)
            assert_int_equal(all[k], (x[k] ^ made[i]) * second + first);
    }
    free(weights), free(all), free(made), free(sums);
}

static void check_lengths(sn_context *cx, int64_t s, const int64_t *lengths)
{
    const int which = cx == interpreter;
    int64_t n = 0;
    for (int64_t i = 0; i < s; i++)
        n += lengths[i];
    size_t room = (size_t)n + 1, many = (size_t)s + 1;
    uint32_t *x = malloc(room * 4), *sum = malloc(many * 4), *first = malloc(many * 4), *second = malloc(many * 4);
    uint32_t *copies = malloc(room * 4), *dots = malloc(many * 4), *scan = malloc(room * 4);
    double *y = malloc(room * 8), *real = malloc(many * 8), *most = malloc(many * 8);
    for (int64_t i = 0; i < n; i++) {
        x[i] = (uint32_t)i * 2654435761u >> 3;
        y[i] = (double)(x[i] % 1000) - 400;
    }
    CALL(cx, folds_of[which], sn_in(lengths, s), sn_in(x, n), sn_in(y, n), sn_into(sum, s), sn_into(first, s),
         sn_into(second, s), sn_into(real, s), sn_into(most, s));
    CALL(cx, copies_of[which], sn_in(lengths, s), sn_in(sum, s), sn_in(x, n), sn_into(copies, n));
    CALL(cx, dots_of[which], sn_in(lengths, s), sn_in(first, s), sn_in(x, n), sn_into(dots, s));
    CALL(cx, scan_of[which], sn_in(lengths, s), sn_in(x, n), sn_into(scan, n));
    for (int64_t i = 0, at = 0; i < s; at += lengths[i++]) {
        uint32_t all = 0, a = 3, b = 5, product = 0;
        double total = 0, best = -1;
        for (int64_t k = at; k < at + lengths[i]; k++) {
            all += x[k];
            b = b * (x[k] | 1) + x[k] + 7;
            a *= x[k] | 1;
            total += y[k]; /* exact */
            best = y[k] > best ? y[k] : best;
            product += first[i] * x[k];
            assert_int_equal(copies[k], sum[i] + x[k]);
            assert_int_equal(scan[k], all);
        }
        if (sum[i] != all || first[i] != a || second[i] != b || real[i] != total || most[i] != best ||
            dots[i] != product)
            fail_msg("segment %lld of %lld elements: %u %u, %u %u, %u %u, %g %g, %g %g, %u %u", (long long)i,
                     (long long)lengths[i], sum[i], all, first[i], a, second[i], b, real[i], total, most[i], best,
                     dots[i], product);
    }
    check_gone_on(cx, s, lengths, n, x);
    free(x), free(sum), free(first), free(second), free(copies), free(dots), free(scan);
    free(y), free(real), free(most);
}

static void every_class(void **state)
{
    (void)state;
    static const int64_t all[] = {0,   1,   2,    31,   32,   33,   63,   64,   65,   127,   128,   129,
                                  255, 257, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 12289, 40000, 0};
    const size_t step = getenv("SINTER_TEST_SAMPLE") ? 7 : 1;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i += step) {
        check_lengths(device, 1, &all[i]);
        int64_t around[] = {0, all[i], 1, all[i], 0};
        check_lengths(device, 5, around);
    }
    check_lengths(device, sizeof(all) / sizeof(*all), all);
    check_lengths(device, 0, all);
    check_lengths(interpreter, 18, all);
}

/* One giant among short ones; many of one length; any mixture. */
static void uneven(void **state)
{
    (void)state;
    enum { MOST = 30000 };
    static int64_t lengths[MOST];
    const int rounds = getenv("SINTER_TEST_SAMPLE") ? 2 : 10;
    for (int giant = getenv("SINTER_TEST_SAMPLE") ? 2 : 0; giant < 3; giant++) {
        for (int64_t i = 0; i < MOST; i++)
            lengths[i] = i % 3;
        lengths[giant * (MOST / 2 - 1)] = 300001;
        check_lengths(device, MOST, lengths);
    }
    const int64_t most = getenv("SINTER_TEST_SAMPLE") ? 1 : 5;
    for (int64_t every = 0; every <= most; every++) {
        for (int64_t i = 0; i < MOST; i++)
            lengths[i] = every;
        check_lengths(device, MOST, lengths);
    }
    srand(7);
    for (int round = 0; round < rounds; round++) {
        int64_t s = rand() % 2000;
        for (int64_t i = 0; i < s; i++) {
            int kind = rand() % 20;
            lengths[i] = kind < 12                 ? rand() % 5
                         : kind < 18               ? rand() % 60
                         : kind < 19 || rand() % 5 ? rand() % 600
                                                   : rand() % 20000;
        }
        check_lengths(device, s, lengths);
    }
}

/* Everything that keeps to its segment is one loop. */
static void one_loop(void **state)
{
    (void)state;
    const char *where = getenv("SINTER_DEVICE");
    if (where && strcmp(where, "cpu") != 0)
        skip(); /* such devices have loops of one sweep */
    const char *clusters = sn_explain(gone_on_of[0], "clusters"), *loop = strstr(clusters, "segment loop over");
    assert_non_null(loop);
    assert_null(strstr(loop + strlen("segment loop over"), "loop over"));
    const char *edges = sn_explain(gone_on_of[0], NULL);
    assert_non_null(strstr(edges, "fused: one loop over segments, for what the same segment makes of it"));
    assert_null(strstr(edges, "must be complete"));
}

/* --- rows that are cut alike --- */

static sn_acc of_rows(sn_acc lengths, sn_acc a)
{
    sn_acc sums = sn_sum_seg(lengths, a);
    return sn_results(sums, sn_prescan_seg(sn_add, 100, lengths, a), sn_scanr_seg(sn_add, 100, lengths, a),
                      sn_replicate_seg(sn_extent(a, 1), lengths, sums), sn_append_seg(lengths, a, lengths, a));
}

static void rows_on(sn_context *cx, int64_t rows, int64_t s, const int64_t *lengths)
{
    int64_t n = 0;
    for (int64_t i = 0; i < s; i++)
        n += lengths[i];
    int64_t long_n = n + s;
    size_t room = (size_t)(rows * (2 * n + s) + 1) * 4;
    int32_t *a = malloc(room), *sum = malloc(room), *pre = malloc(room), *scan = malloc(room), *same = malloc(room),
            *both = malloc(room);
    for (int64_t i = 0; i < rows * n; i++)
        a[i] = (int32_t)(i * 7919 % 1013);
    sn_program *p =
        compile(cx, "[s]i64, [r,n]i32 -> [r,s]i32, [r,n]i32, [r,k]i32, [r,n]i32, [r,m]i32", SN_BODY(of_rows));
    CALL(cx, p, sn_in(lengths, s), sn_in(a, rows, n), sn_into(sum, rows, s), sn_into(pre, rows, n),
         sn_into(scan, rows, long_n), sn_into(same, rows, n), sn_into(both, rows, 2 * n));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0, at = 0; i < s; at += lengths[i++]) {
            int32_t total = 0;
            for (int64_t k = at; k < at + lengths[i]; k++) {
                assert_int_equal(pre[r * n + k], 100 + total);
                total += a[r * n + k];
                assert_int_equal(both[r * 2 * n + at + k], a[r * n + k]);
                assert_int_equal(both[r * 2 * n + at + k + lengths[i]], a[r * n + k]);
            }
            assert_int_equal(sum[r * s + i], total);
            for (int64_t k = at; k <= at + lengths[i]; k++) {
                assert_int_equal(scan[r * long_n + i + k], 100 + total);
                total -= k < at + lengths[i] ? a[r * n + k] : 0;
            }
            for (int64_t k = at; k < at + lengths[i]; k++)
                assert_int_equal(same[r * n + k], sum[r * s + i]);
        }
    sn_drop(p);
    free(a), free(sum), free(pre), free(scan), free(same), free(both);
}

static void rows(void **state)
{
    (void)state;
    static const int64_t lengths[] = {0, 3, 40, 0, 1, 5000, 2, 9000, 0}, none[] = {0, 0, 0};
    rows_on(interpreter, 3, 5, lengths);
    rows_on(device, 3, 5, lengths);
    rows_on(device, 5, 9, lengths);
    rows_on(device, 4, 3, none);
    rows_on(device, 4, 0, none);
    rows_on(device, 0, 5, lengths);
}

/* --- offsets; a sparse matrix --- */

static sn_scalar times(void *env, sn_scalar column, sn_scalar value)
{
    return sn_mul(value, sn_index(*(const sn_acc *)env, column));
}

static sn_acc sparse(sn_acc offsets, sn_acc columns, sn_acc values, sn_acc x)
{
    return sn_sum_seg(sn_segments_from_offsets(offsets), sn_zip_with(sn_closure(times, &x), columns, values));
}

static void matrix_times_vector(void **state)
{
    (void)state;
    int32_t offsets[] = {0, 2, 2, 5}, columns[] = {0, 2, 1, 2, 3};
    double values[] = {1, 2, 3, 4, 5}, x[] = {1, 10, 100, 1000}, y[3];
    for (int i = 0; i < 2; i++) {
        sn_context *cx = i ? interpreter : device;
        sn_program *p = compile(cx, "[r]i32, [n]i32, [n]f64, [m]f64 -> [s]f64", SN_BODY(sparse));
        CALL(cx, p, sn_in(offsets, 4), sn_in(columns, 5), sn_in(values, 5), sn_in(x, 4), sn_into(y, 3));
        assert_true(y[0] == 201 && y[1] == 0 && y[2] == 5430);
        sn_drop(p);
    }
    sn_program *p = compile(device, "[r]i32, [n]i32, [n]f64, [m]f64 -> [s]f64", SN_BODY(sparse));
    const char *json = sn_explain(p, "clusters"), *second = strstr(json, "loop over");
    assert_non_null(strstr(json, "segment loop over"));
    assert_null(strstr(second + 1, "loop over")); /* one loop: nothing is stored on the way */
    int32_t wild[] = {0, 2, 1, 2, 4};
    assert_int_equal(sn_call(p, sn_in(offsets, 4), sn_in(wild, 5), sn_in(values, 5), sn_in(x, 4), sn_into(y, 3)),
                     SN_OUT_OF_RANGE);
    sn_drop(p);
}

/* --- the tree is that of a row --- */

static sn_acc real_sums(sn_acc lengths, sn_acc x)
{
    return sn_sum_seg(lengths, x);
}

static sn_acc row_sum(sn_acc x)
{
    return sn_sum(x);
}

static sn_scalar compose_floats(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_scalar as_float_map(sn_scalar x)
{
    return sn_tuple(sn_add(sn_f32(1), sn_mul(x, sn_f32(1e-3f))), x);
}

static sn_acc real_scans(sn_acc lengths, sn_acc x)
{
    sn_acc maps = sn_scanl1_seg(compose_floats, lengths, sn_map(as_float_map, x));
    return sn_results(sn_scanl1_seg(sn_add, lengths, x), sn_prescan_seg(sn_add, sn_f32(3), lengths, x),
                      sn_postscanr_seg(sn_add, sn_f32(3), lengths, x), sn_snd(maps));
}

static sn_acc row_scans(sn_acc x)
{
    sn_acc maps = sn_scanl1(compose_floats, sn_map(as_float_map, x));
    return sn_results(sn_scanl1(sn_add, x), sn_prescan(sn_add, sn_f32(3), x), sn_postscanr(sn_add, sn_f32(3), x),
                      sn_snd(maps));
}

static void scans_have_the_bits_of_rows(int64_t s, const int64_t *lengths, int64_t n, const float *x)
{
    enum { SCANS = 4 };
    float *mine = malloc((size_t)n * SCANS * 4), *rows = malloc((size_t)n * SCANS * 4);
    sn_program *segments = compile(device, "[s]i64, [n]f32 -> [n]f32, [n]f32, [n]f32, [n]f32", SN_BODY(real_scans)),
               *row = compile(device, "[n]f32 -> [n]f32, [n]f32, [n]f32, [n]f32", SN_BODY(row_scans));
    CALL(device, segments, sn_in(lengths, s), sn_in(x, n), sn_into(mine, n), sn_into(mine + n, n),
         sn_into(mine + 2 * n, n), sn_into(mine + 3 * n, n));
    sn_program *interpreted =
        compile(interpreter, "[s]i64, [n]f32 -> [n]f32, [n]f32, [n]f32, [n]f32", SN_BODY(real_scans));
    CALL(interpreter, interpreted, sn_in(lengths, s), sn_in(x, n), sn_into(rows, n), sn_into(rows + n, n),
         sn_into(rows + 2 * n, n), sn_into(rows + 3 * n, n));
    assert_memory_equal(rows, mine, (size_t)n * SCANS * 4);
    sn_drop(interpreted);
    for (int64_t i = 0, at = 0; i < s; at += lengths[i++]) {
        int64_t m = lengths[i];
        CALL(device, row, sn_in(x + at, m), sn_into(rows, m), sn_into(rows + n, m), sn_into(rows + 2 * n, m),
             sn_into(rows + 3 * n, m));
        for (int k = 0; k < SCANS; k++)
            if (memcmp(rows + k * n, mine + k * n + at, (size_t)m * 4) != 0)
                fail_msg("scan %d of a segment of %lld elements has other bits", k, (long long)m);
    }
    sn_drop(segments);
    sn_drop(row);
    free(mine), free(rows);
}

static void same_bits_as_rows(void **state)
{
    (void)state;
    static const int64_t lengths[] = {5, 32, 33, 100, 4096, 4097, 1, 50000, 700000, 3};
    enum { SEGMENTS = sizeof(lengths) / sizeof(*lengths) };
    int64_t n = 0;
    for (int i = 0; i < SEGMENTS; i++)
        n += lengths[i];
    float *x = malloc((size_t)n * 4), sums[SEGMENTS], sum;
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)sin((double)i * 12.9898) * (float)(1 + i % 97);
    sn_program *segments = compile(device, "[s]i64, [n]f32 -> [s]f32", SN_BODY(real_sums)),
               *row = compile(device, "[n]f32 -> f32", SN_BODY(row_sum));
    CALL(device, segments, sn_in(lengths, SEGMENTS), sn_in(x, n), sn_into(sums, SEGMENTS));
    for (int64_t i = 0, at = 0; i < SEGMENTS; at += lengths[i++]) {
        CALL(device, row, sn_in(x + at, lengths[i]), sn_value(&sum));
        assert_memory_equal(&sum, &sums[i], sizeof(sum));
    }
    sn_program *interpreted = compile(interpreter, "[s]i64, [n]f32 -> [s]f32", SN_BODY(real_sums));
    float same[SEGMENTS];
    CALL(interpreter, interpreted, sn_in(lengths, SEGMENTS), sn_in(x, n), sn_into(same, SEGMENTS));
    assert_memory_equal(same, sums, sizeof(sums));
    sn_drop(interpreted);
    scans_have_the_bits_of_rows(SEGMENTS, lengths, n, x);
    sn_drop(segments);
    sn_drop(row);
    free(x);
}

static sn_acc scaled_sums(sn_acc lengths, sn_acc factor, sn_acc x, sn_acc y)
{
    sn_acc each = sn_replicate_seg(sn_extent(x, 0), lengths, factor);
    return sn_results(sn_sum_seg(lengths, sn_zip_with(sn_mul, each, x)), sn_sum_seg(lengths, y));
}

/* Rounded sums of segments of all lengths up to `most`, some at the end of the array: the tree is the interpreter's. */
static void same_bits_as_interpreted(void **state)
{
    (void)state;
    enum { SEGMENTS = 2000 };
    static const int64_t most[] = {3, 17, 32, 40, 70, 128, 140};
    static int64_t lengths[SEGMENTS];
    static float factor[SEGMENTS], sums[2][SEGMENTS];
    static double more[2][SEGMENTS];
    sn_program *p[2];
    for (int i = 0; i < 2; i++)
        p[i] =
            compile(i ? interpreter : device, "[s]i64, [s]f32, [n]f32, [n]f64 -> [s]f32, [s]f64", SN_BODY(scaled_sums));
    srand(3);
    for (size_t m = 0; m < sizeof(most) / sizeof(*most); m++) {
        int64_t n = 0;
        for (int64_t s = 0; s < SEGMENTS; s++) {
            n += lengths[s] = rand() % (most[m] + 1);
            factor[s] = (float)(rand() % 1000); /* products are exact, so that it does not matter who rounds them */
        }
        float *x = malloc((size_t)n * sizeof *x);
        double *y = malloc((size_t)n * sizeof *y);
        for (int64_t i = 0; i < n; i++)
            x[i] = (float)(int)(4096 * sin((double)i * 12.9898)) / 64, y[i] = sin((double)i * 1.23);
        for (int i = 0; i < 2; i++)
            CALL(i ? interpreter : device, p[i], sn_in(lengths, SEGMENTS), sn_in(factor, SEGMENTS), sn_in(x, n),
                 sn_in(y, n), sn_into(sums[i], SEGMENTS), sn_into(more[i], SEGMENTS));
        assert_memory_equal(sums[0], sums[1], sizeof(sums[0]));
        assert_memory_equal(more[0], more[1], sizeof(more[0]));
        free(x), free(y);
    }
    sn_drop(p[0]);
    sn_drop(p[1]);
}

static sn_scalar root_of_difference(sn_scalar most, sn_scalar x)
{
    return sn_sqrt(sn_sub(most, x));
}

static sn_scalar further(sn_scalar a, sn_scalar b)
{
    return sn_max(sn_mul(a, a), sn_mul(b, b));
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

/* Three sweeps over a segment: roots are folded, stored and read again; an operator without an identity among others.
 */
static sn_acc several_sweeps(sn_acc lengths, sn_acc x)
{
    sn_scalar n = sn_extent(x, 0);
    sn_acc most = sn_fold1_seg(sn_max, lengths, x);
    sn_acc roots = sn_zip_with(root_of_difference, sn_replicate_seg(n, lengths, most), x);
    sn_acc sum = sn_sum_seg(lengths, roots);
    return sn_results(roots, sn_zip_with(sn_div, roots, sn_replicate_seg(n, lengths, sum)), most, sum,
                      sn_fold1_seg(further, lengths, roots), sn_sum_seg(lengths, sn_map(square, x)));
}

static void several_sweeps_have_the_bits_of_the_interpreter(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1,    32,   33,    63,    64,    65,    96,   100,   127,   128,   129,  191,
                                      192,  193,  250,   255,   256,   257,   1000, 4000,  4095,  4096,  4097, 4100,
                                      8191, 8193, 16384, 16385, 32768, 32769, 70,   40000, 65536, 65537, 80000};
    enum { SEGMENTS = sizeof(lengths) / sizeof(*lengths), RESULTS = 4 };
    int64_t n = 0;
    for (int i = 0; i < SEGMENTS; i++)
        n += lengths[i];
    float *x = malloc((size_t)n * 4), *each[2][2], of[2][RESULTS][SEGMENTS];
    /* Squares are exact, zeros have both signs, and a few segments have a NaN. */
    for (int64_t i = 0; i < n; i++)
        x[i] = i % 8191 == 7000 ? NAN : i % 3 ? (float)(i * 7919 % 61) / -4 : i % 2 ? -0.0F : -3;
    for (int i = 0; i < 2; i++) {
        sn_context *cx = i ? interpreter : device;
        sn_program *p =
            compile(cx, "[s]i64, [n]f32 -> [n]f32, [n]f32, [s]f32, [s]f32, [s]f32, [s]f32", SN_BODY(several_sweeps));
        each[i][0] = malloc((size_t)n * 4), each[i][1] = malloc((size_t)n * 4);
        CALL(cx, p, sn_in(lengths, SEGMENTS), sn_in(x, n), sn_into(each[i][0], n), sn_into(each[i][1], n),
             sn_into(of[i][0], SEGMENTS), sn_into(of[i][1], SEGMENTS), sn_into(of[i][2], SEGMENTS),
             sn_into(of[i][3], SEGMENTS));
        sn_drop(p);
    }
    for (int k = 0; k < RESULTS; k++)
        for (int i = 0; i < SEGMENTS; i++)
            if (memcmp(&of[0][k][i], &of[1][k][i], 4) != 0 && !(isnan(of[0][k][i]) && isnan(of[1][k][i])))
                fail_msg("result %d of a segment of %lld elements: %a, not %a", k, (long long)lengths[i],
                         (double)of[0][k][i], (double)of[1][k][i]);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < n; i++)
            if (memcmp(&each[0][k][i], &each[1][k][i], 4) != 0 && !(isnan(each[0][k][i]) && isnan(each[1][k][i])))
                fail_msg("element %lld of result %d: %a, not %a", (long long)i, k, (double)each[0][k][i],
                         (double)each[1][k][i]);
    for (int i = 0; i < 2; i++)
        free(each[i][0]), free(each[i][1]);
    free(x);
}

/* Fewer factors than segments are an error, wherever the elements are. */
static void fewer_factors(void **state)
{
    (void)state;
    enum { SEGMENTS = 400, MOST = 70 };
    static int64_t lengths[SEGMENTS];
    static float factor[SEGMENTS], x[SEGMENTS * MOST], sums[2][SEGMENTS];
    static double y[SEGMENTS * MOST], more[2][SEGMENTS];
    sn_program *p[2];
    for (int i = 0; i < 2; i++)
        p[i] =
            compile(i ? interpreter : device, "[s]i64, [k]f32, [n]f32, [n]f64 -> [s]f32, [s]f64", SN_BODY(scaled_sums));
    for (int i = 0; i < SEGMENTS; i++)
        factor[i] = (float)i;
    for (int i = 0; i < SEGMENTS * MOST; i++)
        x[i] = (float)(i % 50), y[i] = 1;
    for (int64_t factors = 0; factors <= SEGMENTS; factors += 50)
        for (int empty = 0; empty < 2; empty++) {
            int64_t n = 0;
            for (int64_t s = 0; s < SEGMENTS; s++)
                n += lengths[s] = empty && s >= factors ? 0 : 1 + s * 31 % MOST;
            sn_status status[2];
            for (int i = 0; i < 2; i++) {
                status[i] = sn_call(p[i], sn_in(lengths, SEGMENTS), sn_in(factor, factors), sn_in(x, n), sn_in(y, n),
                                    sn_into(sums[i], SEGMENTS), sn_into(more[i], SEGMENTS));
                if (status[i] != SN_OK)
                    assert_non_null(
                        strstr(sn_message(i ? interpreter : device), "numbers of elements and of segments differ"));
            }
            assert_int_equal(status[0], status[1]);
            assert_int_equal(status[0] == SN_OK, factors == SEGMENTS);
            if (status[0] == SN_OK)
                assert_memory_equal(sums[0], sums[1], sizeof(sums[0]));
        }
    sn_drop(p[0]);
    sn_drop(p[1]);
}

/* --- NaNs, zeros of both signs, infinities --- */

static sn_acc extremes_of(sn_acc lengths, sn_acc x)
{
    return sn_results(sn_minimum_seg(lengths, x), sn_maximum_seg(lengths, x), sn_fold_seg(sn_max, -1, lengths, x));
}

static void extremes(void **state)
{
    (void)state;
    static const float odd[] = {0, -0.0f, NAN, INFINITY, -INFINITY, 1, -1, 3};
    enum { SEGMENTS = 3000, MOST = 300000 };
    static int64_t lengths[SEGMENTS];
    static float x[MOST], found[3][SEGMENTS], wanted[3][SEGMENTS];
    sn_program *p[2];
    for (int i = 0; i < 2; i++)
        p[i] = compile(i ? interpreter : device, "[s]i64, [n]f32 -> [s]f32, [s]f32, [s]f32", SN_BODY(extremes_of));
    srand(11);
    for (int round = 0; round < 6; round++) {
        int64_t n = 0, kinds = 1 + round;
        for (int64_t s = 0; s < SEGMENTS; s++) {
            lengths[s] = s == 77 ? 5000 : round % 2 ? 1 + rand() % (round == 3 ? 128 : 50) : 1 + round;
            n += lengths[s];
        }
        for (int64_t i = 0; i < n; i++)
            x[i] = odd[rand() % kinds];
        CALL(device, p[0], sn_in(lengths, SEGMENTS), sn_in(x, n), sn_into(found[0], SEGMENTS),
             sn_into(found[1], SEGMENTS), sn_into(found[2], SEGMENTS));
        CALL(interpreter, p[1], sn_in(lengths, SEGMENTS), sn_in(x, n), sn_into(wanted[0], SEGMENTS),
             sn_into(wanted[1], SEGMENTS), sn_into(wanted[2], SEGMENTS));
        for (int k = 0; k < 3; k++)
            for (int s = 0; s < SEGMENTS; s++)
                if (memcmp(&found[k][s], &wanted[k][s], 4) != 0 && !(isnan(found[k][s]) && isnan(wanted[k][s])))
                    fail_msg("segment %d of %lld: %g, not %g", s, (long long)lengths[s], (double)found[k][s],
                             (double)wanted[k][s]);
    }
    sn_drop(p[0]);
    sn_drop(p[1]);
}

/* --- wrong descriptors --- */

static sn_acc least(sn_acc lengths, sn_acc x)
{
    return sn_minimum_seg(lengths, x);
}

static sn_acc from_offsets(sn_acc offsets, sn_acc x)
{
    return sn_sum_seg(sn_segments_from_offsets(offsets), x);
}

static sn_acc positions(sn_acc lengths, sn_acc x)
{
    return sn_iota_seg(sn_extent(x, 0), lengths);
}

static void expect_wrong(sn_body body, const char *result, sn_status status, const char *words, int64_t s,
                         const int64_t *lengths, int64_t n)
{
    static int32_t x[20000];
    static int64_t out[20000];
    char signature[64];
    snprintf(signature, sizeof(signature), "[s]i64, [n]i32 -> %s", result);
    for (int i = 0; i < 2; i++) {
        sn_context *cx = i ? interpreter : device;
        sn_program *p = compile(cx, signature, body);
        int64_t room = 20000;
        assert_int_equal(sn_call(p, sn_in(lengths, s), sn_in(x, n), sn_upto(out, room / 2, &room)), status);
        if (!strstr(sn_message(cx), words))
            fail_msg("%s: %s", words, sn_message(cx));
        assert_non_null(strstr(sn_message(cx), "test_segments.c:"));
        sn_drop(p);
    }
}

static sn_acc wide_sums(sn_acc lengths, sn_acc x)
{
    return sn_sum_seg(lengths, sn_map(sn_to_i64, x));
}

static sn_acc wide_sums_from_offsets(sn_acc offsets, sn_acc x)
{
    return from_offsets(offsets, sn_map(sn_to_i64, x));
}

static sn_acc wide_least(sn_acc lengths, sn_acc x)
{
    return least(lengths, sn_map(sn_to_i64, x));
}

static void wrong_descriptors(void **state)
{
    (void)state;
#define WRONG(body, result, status, words, n, ...)                                                                     \
    expect_wrong(SN_BODY(body), result, status, words, (int64_t)(sizeof((int64_t[]){__VA_ARGS__}) / 8),                \
                 (int64_t[]){__VA_ARGS__}, n)
    WRONG(wide_sums, "[k]i64", SN_BAD_SEGMENTS, "segment 1 has the length -1", 4, 3, -1, 2);
    WRONG(wide_sums, "[k]i64", SN_BAD_SEGMENTS, "up to number 2 have 6 elements, but there are 7", 7, 3, 1, 2);
    WRONG(wide_sums, "[k]i64", SN_BAD_SEGMENTS, "up to number 1 have 4 elements, but there are 3", 3, 3, 1, 2);
    WRONG(wide_sums, "[k]i64", SN_BAD_SEGMENTS, "9223372036854775807", 3, 2, INT64_MAX - 2, 9);
    WRONG(wide_sums, "[k]i64", SN_BAD_SEGMENTS, "up to number 0 have 9000 elements, but there are 0", 0, 9000);
    WRONG(wide_sums_from_offsets, "[k]i64", SN_BAD_SEGMENTS, "begins at element 1", 3, 1, 2, 3);
    WRONG(wide_sums_from_offsets, "[k]i64", SN_BAD_SEGMENTS, "segment 1 has the length -2", 4, 0, 3, 1, 4);
    WRONG(wide_sums_from_offsets, "[k]i64", SN_BAD_SEGMENTS, "there are no segments, but 4 elements", 4, 0);
    WRONG(wide_sums_from_offsets, "[k]i64", SN_BAD_SEGMENTS, "segment 2 ends far before it begins, at element 9500",
          10000, 0, 9000, 9500, INT64_MIN, 10000);
    WRONG(positions, "[k]i64", SN_BAD_SEGMENTS, "segment 1 has the length -1", 4, 3, -1, 2);
    WRONG(positions, "[k]i64", SN_BAD_SEGMENTS, "up to number 0 have 3 elements, but there are 4", 4, 3);
    WRONG(wide_least, "[k]i64", SN_EMPTY_FOLD, "segment 1 is empty", 5, 3, 0, 2);
#undef WRONG
}

static sn_acc from_lengths(sn_acc lengths, sn_acc x)
{
    return sn_sum_seg(lengths, x);
}

/* What is said of lengths and offsets of u64 beyond those of i64 has no sign; offsets may fall all the same. */
static void unsigned_descriptors(void **state)
{
    (void)state;
    static const struct {
        sn_acc (*body)(sn_acc, sn_acc);
        uint64_t number[3];
        const char *said;
    } cases[] = {
        {from_lengths, {1, UINT64_MAX, 2}, "segment 1 has the length 18446744073709551615;"},
        {from_lengths, {UINT64_C(1) << 63, 1, 2}, "segment 0 has the length 9223372036854775808;"},
        {from_offsets, {0, UINT64_MAX - 1, 3}, "segment 0 has the length 18446744073709551614;"},
        {from_offsets, {0, 3, 1}, "segment 1 has the length -2;"},
    };
    sn_context *contexts[2] = {device, interpreter};
    int32_t x[3] = {1, 2, 3};
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        sn_array *r = NULL;
        sn_context *cx = contexts[i % 2];
        sn_program *p = compile(cx, "[s]u64, [n]i32 -> [_]i32", SN_BODY(cases[i / 2].body));
        assert_int_equal(sn_call(p, sn_in(cases[i / 2].number, 3), sn_in(x, 3), sn_keep(&r)), SN_BAD_SEGMENTS);
        if (!strstr(sn_message(cx), cases[i / 2].said))
            fail_msg("%s: %s", cases[i / 2].said, sn_message(cx));
        sn_drop(p);
    }
}

/* Random numbers as offsets: an error, and nothing worse. */
static void wild_offsets(void **state)
{
    (void)state;
    enum { MOST = 3000 };
    static int64_t offsets[MOST + 1];
    static int32_t x[50000], out[MOST];
    sn_program *p = compile(device, "[s]i64, [n]i32 -> [k]i32", SN_BODY(from_offsets));
    srand(3);
    for (int round = 0; round < 30; round++) {
        int64_t n = 1 + rand() % 50000, s = 1 + rand() % MOST, k = -1;
        bool rising = true;
        for (int64_t i = 0; i <= s; i++)
            offsets[i] = i == 0 ? 0 : i == s ? n : i * n / s;
        for (int wrong = rand() % 4; wrong > 0; wrong--)
            offsets[rand() % (s + 1)] = rand() % 3 ? rand() % (2 * n) - n / 2 : (int64_t)((uint64_t)rand() << 33);
        for (int64_t i = 0; i < s; i++)
            rising &= offsets[i] <= offsets[i + 1];
        rising &= offsets[0] == 0 && offsets[s] == n;
        assert_int_equal(sn_call(p, sn_in(offsets, s + 1), sn_in(x, n), sn_upto(out, MOST, &k)),
                         rising ? SN_OK : SN_BAD_SEGMENTS);
    }
    sn_drop(p);
}

static int open_both(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "interpreter"};
    device = sn_open(NULL);
    interpreter = sn_open(&o);
    if (!device || !interpreter)
        return -1;
    compile_all();
    return 0;
}

static int close_both(void **state)
{
    (void)state;
    drop_all();
    sn_close(device);
    sn_close(interpreter);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(scans),
        cmocka_unit_test(every_class),
        cmocka_unit_test(uneven),
        cmocka_unit_test(one_loop),
        cmocka_unit_test(rows),
        cmocka_unit_test(matrix_times_vector),
        cmocka_unit_test(same_bits_as_rows),
        cmocka_unit_test(same_bits_as_interpreted),
        cmocka_unit_test(several_sweeps_have_the_bits_of_the_interpreter),
        cmocka_unit_test(fewer_factors),
        cmocka_unit_test(wrong_descriptors),
        cmocka_unit_test(unsigned_descriptors),
        cmocka_unit_test(wild_offsets),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
