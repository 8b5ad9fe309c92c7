/* What is packed beside folds of segments: the device has the interpreter's bits, whatever lengths segments have, and
 * wrong offsets are mistakes, not wrong places. A sum has the same bits beside a fold of another tree as alone. */
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

enum { SEGMENTS = 1500, MOST = 60000, KINDS = 6 };

static sn_context *device, *interpreter;
static sn_program *kept[2], *only[2], *scans[2], *trees[2]; /* [1]: of the interpreter; of sums alone */
static sn_program *parts, *furthest[2], *furthest_of_two[2];
static float values[MOST], levels_of[SEGMENTS];
static int64_t shares_of[SEGMENTS];

static sn_scalar above(sn_scalar x, sn_scalar level)
{
    return sn_gt(x, level);
}

static sn_scalar scaled(sn_scalar x, sn_scalar level)
{
    return sn_tuple(sn_mul(x, 3), sn_add(x, level));
}

static sn_scalar last(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(b, -1000), b, a);
}

static sn_acc keep(sn_acc offsets, sn_acc x, sn_acc level)
{
    sn_acc segments = sn_segments_from_offsets(offsets), levels = sn_replicate_seg(sn_size(x), segments, level);
    sn_acc flags = sn_zip_with(above, x, levels), some = sn_pack(flags, sn_zip_with(scaled, x, levels));
    return sn_results(sn_count_seg(segments, flags),
                      sn_fold_seg(sn_max, sn_f32(-100), segments, sn_zip_with(sn_sub, x, levels)), sn_fst(some),
                      sn_snd(some));
}

static sn_acc of_both_trees(sn_acc offsets, sn_acc x)
{
    sn_acc segments = sn_segments_from_offsets(offsets);
    sn_acc sum = sn_sum_seg(segments, x), end = sn_fold_seg(last, sn_f32(-2000), segments, x);
    return sn_results(sum, sn_zip_with(sn_mul, sum, end));
}

static sn_acc alone(sn_acc offsets, sn_acc x)
{
    sn_acc sum = sn_sum_seg(sn_segments_from_offsets(offsets), x);
    return sn_results(sum, sn_map(sn_neg, sum));
}

/* Nothing is folded in their loop, or segments are scanned there. */
static sn_acc only_kept(sn_acc offsets, sn_acc x, sn_acc level)
{
    sn_acc segments = sn_segments_from_offsets(offsets), levels = sn_replicate_seg(sn_size(x), segments, level);
    sn_acc some = sn_pack(sn_zip_with(above, x, levels), sn_zip_with(scaled, x, levels));
    return sn_results(sn_fst(some), sn_snd(some));
}

static sn_acc scanned(sn_acc offsets, sn_acc x, sn_acc level)
{
    sn_acc segments = sn_segments_from_offsets(offsets), levels = sn_replicate_seg(sn_size(x), segments, level);
    sn_acc apart = sn_zip_with(sn_sub, x, levels);
    sn_acc some = sn_pack(sn_zip_with(above, x, levels), sn_zip_with(scaled, x, levels));
    return sn_results(sn_fst(some), sn_snd(some), sn_scanl1_seg(sn_max, segments, apart));
}

/* Elements that are not kept would fail: those that know their segment, and others. */
static sn_scalar is_shared(sn_scalar x, sn_scalar shares)
{
    return sn_and(sn_ne(shares, 0), sn_ne(x, 0));
}

static sn_scalar share(sn_scalar x, sn_scalar shares)
{
    return sn_tuple(sn_quot(sn_to_i64(x), shares), sn_quot(1000, sn_to_i64(x)));
}

static sn_acc shared(sn_acc offsets, sn_acc x, sn_acc shares)
{
    sn_acc segments = sn_segments_from_offsets(offsets), of = sn_replicate_seg(sn_size(x), segments, shares);
    sn_acc whole = sn_map(sn_trunc, x),
           some = sn_pack(sn_zip_with(is_shared, whole, of), sn_zip_with(share, whole, of));
    return sn_results(sn_fold_seg(sn_max, sn_f32(-100), segments, whole), sn_fst(some), sn_snd(some));
}

/* The value that is furthest above its segment's level, looked up by its number, beside what lies above. */
static sn_scalar further(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_snd(a), sn_snd(b)), a, b);
}

static sn_scalar is_high(sn_scalar distance)
{
    return sn_gt(distance, 0);
}

typedef struct lookup {
    sn_acc offsets, x;
} lookup;

static sn_scalar value_at(void *env, sn_scalar segment, sn_scalar place)
{
    const lookup *in = env;
    return sn_index(in->x, sn_add(sn_index(in->offsets, segment), place));
}

static sn_acc chosen(sn_acc offsets, sn_acc x, sn_acc level)
{
    sn_scalar n = sn_size(x);
    sn_acc segments = sn_segments_from_offsets(offsets);
    sn_acc far = sn_zip_with(sn_sub, x, sn_replicate_seg(n, segments, level));
    sn_acc numbered = sn_zip(sn_iota_seg(n, segments), far);
    sn_acc best = sn_fst(sn_fold_seg(further, sn_tuple(sn_i64(0), sn_f32(-1000)), segments, numbered));
    sn_acc high = sn_map(is_high, far);
    lookup in = {offsets, x};
    return sn_results(sn_imap(sn_closure(value_at, &in), best), sn_pack(high, x), sn_count_seg(segments, high));
}

static int64_t length_of(int kind, int64_t s)
{
    switch (kind) {
    case 0:
        return 16;
    case 1:
        return 2;
    case 2:
        return s * 7919 % 31;
    case 3:
        return s % 500 == 7 ? 9000 : s % 3;
    case 4:
        return s % 300 == 0 ? 40 + s / 4 : s % 40 ? 0 : 300;
    default:
        return s == 3 ? 59000 : s % 2 && s < 900;
    }
}

#define equal(a, b, bytes) assert_memory_equal(a, b, (size_t)(bytes))

static void shares_are_right(const int64_t *offset, int64_t m, const int64_t *part, const int64_t *other, int64_t many)
{
    int64_t k = 0;
    for (int64_t s = 0; s < m; s++)
        for (int64_t i = offset[s]; i < offset[s + 1]; i++) {
            int64_t whole = (int64_t)values[i];
            if (!whole || !shares_of[s])
                continue;
            assert_true(k < many && part[k] == whole / shares_of[s] && other[k] == 1000 / whole);
            k++;
        }
    assert_true(k > 0 && k == many);
}

static void bits_are_the_same(void **state)
{
    static int64_t offset[SEGMENTS + 1], count[2][SEGMENTS], part[MOST], other[MOST];
    static float most[2][SEGMENTS], first[2][MOST], second[2][MOST], third[2][MOST], fourth[2][MOST], scan[2][MOST],
        sum[2][SEGMENTS], both[2][SEGMENTS], largest[SEGMENTS];
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t n = 0, m = 0, many[2] = {0}, shares = 0;
        for (; m < SEGMENTS && n + length_of(kind, m) <= MOST; m++)
            offset[m + 1] = n += length_of(kind, m);
        for (int i = 0; i < 2; i++) {
            sn_status s =
                sn_call(kept[i], sn_in(offset, m + 1), sn_in(values, n), sn_in(levels_of, m), sn_into(count[i], m),
                        sn_into(most[i], m), sn_upto(first[i], MOST, &many[i]), sn_upto(second[i], MOST, &many[i]));
            if (s != SN_OK)
                fail_msg("%s", sn_message(i ? interpreter : device));
            assert_int_equal(
                sn_call(trees[i], sn_in(offset, m + 1), sn_in(values, n), sn_into(sum[i], m), sn_into(both[i], m)),
                SN_OK);
        }
        equal(first[0], first[1], many[0] * 4);
        for (int i = 0; i < 2; i++)
            assert_int_equal(sn_call(only[i], sn_in(offset, m + 1), sn_in(values, n), sn_in(levels_of, m),
                                     sn_upto(third[i], MOST, &many[i]), sn_upto(fourth[i], MOST, &many[i])),
                             SN_OK);
        equal(third[0], first[1], many[0] * 4);
        equal(fourth[0], second[1], many[0] * 4);
        for (int i = 0; i < 2; i++)
            assert_int_equal(sn_call(scans[i], sn_in(offset, m + 1), sn_in(values, n), sn_in(levels_of, m),
                                     sn_upto(third[i], MOST, &many[i]), sn_upto(fourth[i], MOST, &many[i]),
                                     sn_into(scan[i], n)),
                             SN_OK);
        equal(third[0], first[1], many[0] * 4);
        equal(fourth[0], second[1], many[0] * 4);
        equal(scan[0], scan[1], n * 4);
        if (sn_call(parts, sn_in(offset, m + 1), sn_in(values, n), sn_in(shares_of, m), sn_into(largest, m),
                    sn_upto(part, MOST, &shares), sn_upto(other, MOST, &shares)) != SN_OK)
            fail_msg("%s", sn_message(device));
        shares_are_right(offset, m, part, other, shares);
        assert_true(many[0] > 0);
        assert_int_equal(many[0], many[1]);
        equal(count[0], count[1], m * 8);
        equal(most[0], most[1], m * 4);
        equal(first[0], first[1], many[0] * 4);
        equal(second[0], second[1], many[0] * 4);
        equal(sum[0], sum[1], m * 4);
    }
}

/* A few segments of uneven lengths, some of which end a few elements behind a piece: their number is in the signature,
 * or is a call's. */
static void choices_may_be_beside_packs(void **state)
{
    static const int64_t numbers[] = {2, 3, 6, 7, 41, 100};
    static float left[MOST], wanted[MOST];
    (void)state;
    for (size_t t = 0; t < sizeof numbers / sizeof *numbers; t++)
        for (int literal = 0; literal <= (numbers[t] == 2); literal++)
            for (int i = 0; i < 2; i++) {
                int64_t m = numbers[t], offset[101] = {0}, count[100], many = 0, k = 0, n = MOST - m;
                float best[100];
                for (int64_t s = 1; s <= m; s++)
                    offset[s] = s == m ? n : m == 3 ? s * (4096 + 57) : n * s / (m + 1) + s;
                sn_program *p = literal ? furthest_of_two[i] : furthest[i];
                if (sn_call(p, sn_in(offset, m + 1), sn_in(values, n), sn_in(levels_of, m), sn_into(best, m),
                            sn_upto(left, MOST, &many), sn_into(count, m)) != SN_OK)
                    fail_msg("%s", sn_message(i ? interpreter : device));
                for (int64_t s = 0; s < m; s++) {
                    int64_t before = k, far = offset[s];
                    for (int64_t j = offset[s]; j < offset[s + 1]; j++) {
                        float distance = values[j] - levels_of[s];
                        if (distance > values[far] - levels_of[s])
                            far = j;
                        if (distance > 0)
                            wanted[k++] = values[j];
                    }
                    assert_true(best[s] == values[far]);
                    assert_int_equal(count[s], k - before);
                }
                assert_int_equal(many, k);
                equal(left, wanted, k * 4);
            }
}

/* No element is written behind the memory of the result, whatever offsets say. */
static void wrong_offsets_are_mistakes(void **state)
{
    static int64_t offset[SEGMENTS + 1], count[SEGMENTS];
    static float most[SEGMENTS], first[MOST + 64], second[MOST + 64];
    int64_t n = 30000, m = 1000, many = 0;
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        for (int64_t s = 0; s <= m; s++)
            offset[s] = s * 30;
        if (kind == 0)
            offset[500] = 3;
        for (int64_t s = 1; s < m && kind == 1; s++) /* all overlap */
            offset[s] = s % 2 ? 0 : n;
        if (kind == 2)
            offset[m] = n - 1;
        for (int k = 0; k < 64; k++)
            first[n + k] = second[n + k] = 77;
        sn_status s = sn_call(kept[0], sn_in(offset, m + 1), sn_in(values, n), sn_in(levels_of, m), sn_into(count, m),
                              sn_into(most, m), sn_upto(first, n, &many), sn_upto(second, n, &many));
        assert_int_not_equal(s, SN_OK);
        for (int k = 0; k < 64; k++)
            assert_true(first[n + k] == 77 && second[n + k] == 77);
    }
}

int main(void)
{
    sn_options o = {.size = sizeof(o), .device = "interpreter"};
    device = sn_open(NULL);
    interpreter = sn_open(&o);
    if (!device || !interpreter)
        return fprintf(stderr, "no device\n"), 1;
    for (int i = 0; i < 2; i++) {
        sn_context *c = i ? interpreter : device;
        kept[i] = sn_compile(c, "[m]i64, [n]f32, [s]f32 -> [s]i64, [s]f32, [k]f32, [k]f32", keep);
        only[i] = sn_compile(c, "[m]i64, [n]f32, [s]f32 -> [k]f32, [k]f32", only_kept);
        scans[i] = sn_compile(c, "[m]i64, [n]f32, [s]f32 -> [k]f32, [k]f32, [n]f32", scanned);
        trees[i] = sn_compile_at(SN_HERE, device, "[m]i64, [n]f32 -> [s]f32, [s]f32",
                                 i ? SN_BODY(alone) : SN_BODY(of_both_trees));
        furthest[i] = sn_compile(c, "[m]i64, [n]f32, [s]f32 -> [s]f32, [k]f32, [s]i64", chosen);
        furthest_of_two[i] = sn_compile(c, "[3]i64, [n]f32, [2]f32 -> [2]f32, [k]f32, [2]i64", chosen);
        if (!kept[i] || !only[i] || !scans[i] || !trees[i] || !furthest[i] || !furthest_of_two[i])
            return fprintf(stderr, "%s\n", sn_message(c)), 1;
    }
    parts = sn_compile(device, "[m]i64, [n]f32, [s]i64 -> [s]f32, [k]i64, [k]i64", shared);
    if (!parts)
        return fprintf(stderr, "%s\n", sn_message(device)), 1;
    for (int64_t i = 0; i < MOST; i++)
        values[i] = (float)sin((double)i * 12.9898) * (float)(1 + i % 97);
    for (int64_t i = 0; i < SEGMENTS; i++) {
        levels_of[i] = (float)(i % 19) - 9.5F;
        shares_of[i] = i % 3;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_are_the_same),
                                       cmocka_unit_test(choices_may_be_beside_packs),
                                       cmocka_unit_test(wrong_offsets_are_mistakes)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        sn_drop(kept[i]);
        sn_drop(only[i]);
        sn_drop(scans[i]);
        sn_drop(trees[i]);
        sn_drop(furthest[i]);
        sn_drop(furthest_of_two[i]);
    }
    sn_drop(parts);
    sn_close(device);
    sn_close(interpreter);
    return failed;
}
