/* Arrays that are joined and split: the elements of plain C, the interpreter's on the device for all types and awkward
 * extents, and what becomes of mistakes. */
#include "counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_scalar twice(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

/* --- elements --- */

static sn_acc append(sn_acc a, sn_acc b)
{
    return sn_append(sn_map(twice, a), b);
}

static sn_acc append_rows(sn_acc a, sn_acc b)
{
    return sn_append_along(0, a, b);
}

static sn_acc concat(sn_acc a, sn_acc b)
{
    return sn_concat(a, sn_map(twice, b), a, sn_reverse(b), a, b, sn_map(twice, a));
}

static sn_acc of_one(sn_acc a)
{
    return sn_results(sn_concat(a), sn_interleave(a), sn_concat_along(0, a));
}

static sn_acc interleave(sn_acc a, sn_acc b)
{
    return sn_interleave(a, sn_map(twice, b), a);
}

static sn_acc alternate(sn_acc a, sn_acc b)
{
    return sn_interleave(a, sn_map(twice, b));
}

static sn_acc nine_turns(sn_acc a, sn_acc b)
{
    return sn_interleave(a, b, a, b, a, b, a, b, sn_map(twice, b));
}

static sn_acc split_rows(sn_acc a)
{
    sn_acc last, first = sn_split_along(0, 3, a, &last), right, left = sn_split(sn_sub(sn_extent(a, 1), 2), a, &right);
    return sn_results(first, last, left, right, sn_append(left, right), sn_append_along(0, last, first));
}

static void elements_are_those_of_plain_c(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    enum { N = 5, M = 3, K = 4 };
    float a[N] = {1, 2, 3, 4, 5}, b[M] = {-1, -2, -3}, y[N + M], rows[2][N] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
    float turned[3 * N], all[3][N];
    sn_program *p = compiled_in(cx, "[n]f32, [m]f32 -> [k]f32", SN_BODY(append));
    assert_int_equal(sn_call(p, sn_in(a, N), sn_in(b, M), sn_into(y, N + M)), SN_OK);
    for (int i = 0; i < N + M; i++)
        assert_true(y[i] == (i < N ? 2 * a[i] : b[i - N]));
    sn_drop(p);
    p = compiled_in(cx, "[n,m]f32, [k,m]f32 -> [l,m]f32", SN_BODY(append_rows));
    assert_int_equal(sn_call(p, sn_in(&rows[0][0], 2, N), sn_in(a, 1, N), sn_into(&all[0][0], 3, N)), SN_OK);
    assert_memory_equal(all, rows, sizeof rows);
    assert_memory_equal(all[2], a, sizeof a);
    sn_drop(p);
    p = compiled_in(cx, "[n]f32, [n]f32 -> [k]f32", SN_BODY(interleave));
    assert_int_equal(sn_call(p, sn_in(a, N), sn_in(rows[1], N), sn_into(turned, 3 * N)), SN_OK);
    for (int i = 0; i < N; i++)
        assert_true(turned[3 * i] == a[i] && turned[3 * i + 1] == 2 * rows[1][i] && turned[3 * i + 2] == a[i]);
    sn_drop(p);
    const float in_turns[] = {1, -2, 2, -4, 3, -6, 4, 5}, other[] = {-1, 2, -2, 4, -3, 6, 8, 10};
    p = compiled_in(cx, "[n]f32, [m]f32 -> [k]f32", SN_BODY(alternate));
    assert_int_equal(sn_call(p, sn_in(a, N), sn_in(b, M), sn_into(y, N + M)), SN_OK);
    assert_memory_equal(y, in_turns, sizeof in_turns);
    assert_int_equal(sn_call(p, sn_in(b, M), sn_in(a, N), sn_into(y, N + M)), SN_OK);
    assert_memory_equal(y, other, sizeof other);
    sn_drop(p);
    sn_array *part[6];
    float whole[K][N], there[K][N];
    for (int i = 0; i < K * N; i++)
        (&whole[0][0])[i] = (float)i;
    p = compiled_in(cx, "[n,m]f32 -> [a,m]f32, [b,m]f32, [n,c]f32, [n,d]f32, [n,e]f32, [f,m]f32", SN_BODY(split_rows));
    assert_int_equal(sn_call(p, sn_in(&whole[0][0], K, N), sn_keep(&part[0]), sn_keep(&part[1]), sn_keep(&part[2]),
                             sn_keep(&part[3]), sn_keep(&part[4]), sn_keep(&part[5])),
                     SN_OK);
    const int64_t extent[6][2] = {{3, N}, {K - 3, N}, {K, N - 2}, {K, 2}, {K, N}, {K, N}};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(sn_array_extent(part[i], 0), extent[i][0]);
        assert_int_equal(sn_array_extent(part[i], 1), extent[i][1]);
    }
    assert_int_equal(sn_read(part[4], there, sizeof there), SN_OK);
    assert_memory_equal(there, whole, sizeof there);
    assert_int_equal(sn_read(part[5], there, sizeof there), SN_OK);
    assert_memory_equal(there[0], whole[3], sizeof there[0]);
    assert_memory_equal(there[1], whole[0], 3 * sizeof there[0]);
    for (int i = 0; i < 6; i++)
        sn_free(part[i]);
    sn_drop(p);
}

#define TWO_EXTENTS 0, 0, 0, 7, 7, 0, 1, 1, 33, 31, 64, 64, 100, 1000, 1000, 3, 4099, 5000, 70001, 1, 3, 70001
#define THREE_EXTENTS 0, 3, 4, 3, 0, 4, 3, 4, 0, 1, 1, 1, 2, 33, 31, 40, 3, 1000, 7, 64, 16, 3, 1000, 900, 200, 5, 3

/* Of a list of types the first where compilers are slow. */
static const char *of(const char *types)
{
    static char first[8];
    if (!getenv("SINTER_TEST_SAMPLE"))
        return types;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(types, " "), types);
    return first;
}

static void all_types_and_extents(void **state)
{
    (void)state;
    both("[n]T, [m]T -> [k]T", append, of("i8 i32 f64"), SMALL, TWO_EXTENTS);
    both("[r,n]T, [r,m]T -> [r,k]T", append, of("u16 f32"), SMALL, THREE_EXTENTS);
    both("[n,m]T -> [a,m]T, [b,m]T, [n,c]T, [n,d]T, [n,m]T, [n,m]T", split_rows, of("u8 f32"), MIXED, MATRICES);
    both("[n]T, [n]T -> [k]T", interleave, of("u8 i64 f32"), SMALL, SIZES);
    if (getenv("SINTER_TEST_SAMPLE"))
        return;
    both("[n,r]T, [m,r]T -> [k,r]T", append_rows, of("u8 f64"), MIXED, THREE_EXTENTS);
    both("[n](T, T), [m](T, T) -> [k](T, T)", append_rows, of("i16 bool"), MIXED, TWO_EXTENTS);
    both("[n]T, [m]T -> [k]T", concat, of("u8 f32"), SMALL, TWO_EXTENTS);
    both("[r,n]T, [r,m]T -> [r,k]T", concat, of("i64"), SMALL, THREE_EXTENTS);
    both("[n]T -> [n]T, [n]T, [n]T", of_one, of("char"), MIXED, SIZES);
    both("[n]T, [m]T -> [k]T", alternate, of("u8 f32"), SMALL, TWO_EXTENTS);
    both("[r,n]T, [r,m]T -> [r,k]T", alternate, of("i64 i16"), SMALL, THREE_EXTENTS);
    both("[r,n]T, [r,n]T -> [r,k]T", interleave, of("i16 f64"), SMALL, MATRICES);
    both("[n]T, [n]T -> [k]T", nine_turns, of("f32"), SMALL, SIZES);
}

/* --- what is delayed --- */

static sn_scalar second(sn_scalar a, sn_scalar b)
{
    (void)a;
    return b;
}

static sn_acc folded(sn_acc a, sn_acc b)
{
    sn_acc all = sn_append(sn_map(twice, a), b);
    return sn_results(sn_sum(all), sn_fold1(second, sn_concat(b, a)), sn_scanl1(sn_add, all),
                      sn_maximum(sn_concat(a, b, a)));
}

static sn_acc folded_rows(sn_acc a, sn_acc b)
{
    sn_acc all = sn_append(a, sn_map(twice, b)), turned = sn_append_along(0, sn_transpose(a), sn_transpose(b));
    return sn_results(sn_sum(all), sn_sum(turned), sn_fold1(second, all), sn_scanl1(sn_add, all));
}

/* Folds go along pieces of 4096 elements: those on one side of where arrays meet have code of their own. */
static void folds_of_what_is_joined(void **state)
{
    (void)state;
    both("[n]T, [m]T -> T, T, [k]T, T", folded, of("i32 f32 i64"), SMALL, 1, 1, 5, 0, 0, 5, 31, 33, 4096, 4096, 4095,
         9000, 4097, 1, 10000, 8192, 70001, 70001);
    if (getenv("SINTER_TEST_SAMPLE"))
        return;
    both("[r,n]T, [r,m]T -> [r]T, [k]T, [r]T, [r,l]T", folded_rows, of("i32 f64"), SMALL, 1, 4096, 4096, 3, 4095, 5000,
         2, 10000, 1, 5, 33, 31, 300, 7, 9, 4, 600, 600);
}

static void parts_are_computed_in_place(void **state)
{
    (void)state;
    sn_program *p = compiled_in(both_cpu(), "[n]f32, [m]f32 -> [k]f32", SN_BODY(concat));
    float a[3] = {1, 2, 3}, b[2] = {4, 5}, y[18];
    assert_int_equal(sn_call(p, sn_in(a, 3), sn_in(b, 2), sn_into(y, 18)), SN_OK);
    expect_counts(p, 1, 0, 1, 1);
    says(p, NULL, "map (");
    says(p, NULL, "fused: computed where it is used");
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32, [m]f32 -> f32, f32, [k]f32, f32", SN_BODY(folded));
    assert_null(strstr(sn_explain(p, NULL), "read at computed indices"));
    sn_drop(p);
}

/* Parts that are loops of their own: folds, scans, results of folds by others. */
static sn_acc loops_joined(sn_acc a, sn_acc b)
{
    return sn_append(sn_scanl1(sn_add, a), sn_scanl1(sn_add, b));
}

static sn_acc rows_joined(sn_acc a, sn_acc b)
{
    return sn_concat(sn_sum(a), sn_maximum(b), sn_sum(b));
}

static sn_acc planes_joined(sn_acc a, sn_acc b)
{
    return sn_append_along(0, sn_scanl1(sn_add, a), sn_force(sn_map(twice, b)));
}

static sn_acc pairs_joined(sn_acc a, sn_acc b)
{
    sn_acc x = sn_zip(sn_scanl1(sn_add, a), sn_scanl1(sn_max, a)),
           y = sn_zip(sn_scanl1(sn_min, b), sn_scanl1(sn_add, b));
    return sn_append(sn_force(x), sn_force(y));
}

/* One part is read besides, or is a result, or is there twice: these are copied. */
static sn_acc partly_joined(sn_acc a, sn_acc b)
{
    sn_acc x = sn_scanl1(sn_add, a), y = sn_scanl1(sn_add, b);
    return sn_results(sn_append(x, y), sn_sum(x), sn_append(x, x), y);
}

static sn_acc sum_of_joined(sn_acc a, sn_acc b)
{
    return sn_sum(sn_map(twice, sn_force(loops_joined(a, b))));
}

static void parts_are_computed_where_they_belong(void **state)
{
    (void)state;
    both("[n]T, [m]T -> [k]T", loops_joined, of("i32 u8 f64"), SMALL, TWO_EXTENTS);
    both("[r,n]T, [r,m]T -> [k]T", rows_joined, of("i64 f32"), SMALL, 1, 1, 1, 2, 33, 31, 3, 1000, 7, 64, 16, 3, 1000,
         900, 200);
    if (!on_cpu()) /* there they are copied, as all else */
        return;
    both("[n,r]T, [m,r]T -> [k,r]T", planes_joined, of("i32 f64"), SMALL, THREE_EXTENTS);
    both("[n]T, [m]T -> [k](T, T)", pairs_joined, of("i32"), SMALL, TWO_EXTENTS);
    both("[n]T, [m]T -> [k]T, T, [l]T, [m]T", partly_joined, of("i32"), SMALL, TWO_EXTENTS);
    both("[n]T, [m]T -> T", sum_of_joined, of("i64"), SMALL, TWO_EXTENTS);
    static const int32_t a[5] = {1, 2, 3, 4, 5}, b[3] = {6, 7, 8};
    int32_t y[8];
    sn_program *p = compiled_in(both_cpu(), "[n]i32, [m]i32 -> [k]i32", SN_BODY(loops_joined));
    uint64_t launches = sn_counts(both_cpu()).launches;
    assert_int_equal(sn_call(p, sn_in(a, 5), sn_in(b, 3), sn_into(y, 8)), SN_OK);
    assert_true(sn_counts(both_cpu()).launches - launches == 2 && y[4] == 15 && y[7] == 21);
    launches = sn_counts(both_cpu()).launches;
    assert_int_equal(sn_call(p, sn_in(a, 5), sn_in(b, 0), sn_into(y, 5)), SN_OK);
    assert_int_equal(sn_counts(both_cpu()).launches - launches, 1);
    sn_drop(p);
}

/* --- extents that the run tells --- */

static sn_acc kept_twice(sn_acc a, sn_acc b)
{
    sn_acc all = sn_append(sn_filter(is_positive, a), sn_filter(is_positive, b));
    return sn_results(all, sn_sum(all), sn_append(sn_filter(is_positive, b), a));
}

static sn_acc sums_behind(sn_acc a, sn_acc b)
{
    sn_acc row = sn_sum(a);
    return sn_results(sn_append(row, b), sn_append(sn_scanl1(sn_add, b), sn_map(twice, row)));
}

static sn_acc apart_and_together(sn_acc a, sn_acc b)
{
    sn_acc flags = sn_map(is_positive, a), others = sn_map(sn_not, flags);
    return sn_combine(flags, sn_pack(flags, b), sn_pack(others, a));
}

static sn_scalar number(sn_scalar flag)
{
    return sn_to(SN_I64, flag);
}

static sn_scalar byte(sn_scalar flag)
{
    return sn_to(SN_U8, flag);
}

/* Several arrays by the same flags, and what else counts these or goes along with them. */
static sn_acc of_two(sn_acc a, sn_acc b)
{
    sn_acc flags = sn_map(is_positive, a), others = sn_map(sn_not, flags);
    sn_acc first = sn_combine(flags, sn_map(twice, sn_pack(flags, b)), sn_pack(others, a));
    return sn_results(sn_map(twice, first), sn_combine(flags, sn_pack(flags, a), sn_map(twice, sn_pack(others, b))));
}

static sn_acc counted(sn_acc a)
{
    sn_acc flags = sn_map(is_positive, a), ones = sn_map(number, flags), bytes = sn_map(byte, flags);
    return sn_results(sn_scanl1(sn_add, ones), sn_scanl(sn_add, sn_i64(3), ones), sn_scanl1(sn_add, bytes),
                      sn_scanr1(sn_add, ones), sn_scanl1(sn_add, a));
}

static sn_acc one_count(sn_acc a)
{
    return sn_scanl1(sn_add, sn_map(byte, sn_map(is_positive, a)));
}

static sn_acc count_from_right(sn_acc a)
{
    return sn_scanr1(sn_add, sn_map(number, sn_map(is_positive, a)));
}

static sn_acc all_at_once(sn_acc a, sn_acc b)
{
    sn_acc flags = sn_map(is_positive, a), others = sn_map(sn_not, flags);
    sn_acc all = sn_combine(flags, sn_pack(flags, b), sn_pack(others, a));
    return sn_results(all, sn_scanl1(sn_add, sn_map(byte, flags)), sn_scanl1(sn_add, a), sn_sum(all));
}

static void flags_share_a_loop(void **state)
{
    (void)state;
    both("[n]T, [n]T -> [n]T, [n]T", of_two, of("i8 i16 f32 f64"), SMALL, SIZES);
    both("[n]T, [n]T -> [n]T, [n]u8, [n]T, T", all_at_once, of("i32 f64"), SMALL, SIZES);
    both("[n]T -> [n]i64, [k]i64, [n]u8, [n]i64, [n]T", counted, of("i32 f32"), SMALL, SIZES);
    both("[n]T -> [n]u8", one_count, of("f32 i8"), SMALL, SIZES);
    both("[n]T -> [n]i64", count_from_right, of("f32"), SMALL, SIZES);
    if (!getenv("SINTER_TEST_SAMPLE"))
        both("[n,m]T -> [n,m]u8", one_count, of("i16"), SMALL, MATRICES);
}

static void what_the_run_tells(void **state)
{
    (void)state;
    both("[n]T, [m]T -> [k]T, T, [l]T", kept_twice, of("i32 f32"), SMALL, TWO_EXTENTS);
    both("[r,n]T, [m]T -> [k]T, [l]T", sums_behind, of("i64 f64"), SMALL, THREE_EXTENTS);
    both("[n]T, [n]T -> [n]T", apart_and_together, of("i8 i32 f32 f64"), SMALL, SIZES);
    both("[n,m]T, [n,m]T -> [n,m]T", apart_and_together, of("i16 f32"), SMALL, MATRICES);
}

/* --- mistakes --- */

static sn_acc combine(sn_acc flags, sn_acc a, sn_acc b)
{
    return sn_combine(flags, a, b);
}

static void flags_are_counted(void **state)
{
    (void)state;
    const bool flags[5] = {true, false, true, false, false};
    const float a[5] = {1, 2, 3, 4, 5}, b[5] = {-1, -2, -3, -4, -5};
    float y[5];
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    for (int i = 0; i < 2; i++) {
        sn_program *p = compiled_in(contexts[i], "[n]bool, [k]f32, [l]f32 -> [n]f32", SN_BODY(combine));
        assert_int_equal(sn_call(p, sn_in(flags, 5), sn_in(a, 2), sn_in(b, 3), sn_into(y, 5)), SN_OK);
        assert_true(y[0] == 1 && y[1] == -1 && y[2] == 2 && y[3] == -2 && y[4] == -3);
        assert_int_equal(sn_call(p, sn_in(flags, 5), sn_in(a, 2), sn_in(b, 2), sn_into(y, 5)), SN_SHAPE_MISMATCH);
        assert_non_null(strstr(sn_message(contexts[i]), "not as many elements as flags: 4 and 5"));
        assert_int_equal(sn_call(p, sn_in(flags, 5), sn_in(a, 3), sn_in(b, 2), sn_into(y, 5)), SN_OUT_OF_RANGE);
        assert_non_null(strstr(sn_message(contexts[i]), "combine"));
        assert_int_equal(sn_call(p, sn_in(flags, 5), sn_in(a, 1), sn_in(b, 4), sn_into(y, 5)), SN_OUT_OF_RANGE);
        assert_int_equal(sn_call(p, sn_in(flags, 5), sn_in(a, 5), sn_in(b, 0), sn_into(y, 5)), SN_OUT_OF_RANGE);
        sn_drop(p);
    }
}

/* Runs of flags of all kinds, over many pieces, between arrays that end where they are read last. */
static void flags_of_all_kinds(void **state)
{
    (void)state;
    enum { N = 100003, KINDS = 6 };
    bool *flag = malloc(N);
    double *a = malloc((N + 1) * sizeof *a), *b = malloc((N + 1) * sizeof *b), *y = malloc(N * sizeof *y);
    sn_program *p = compiled_in(both_cpu(), "[n]bool, [k]f64, [l]f64 -> [n]f64", SN_BODY(combine));
    for (int i = 0; i <= N; i++)
        a[i] = i, b[i] = -i;
    uint64_t random = 88172645463325252u;
    for (int kind = 0; kind < KINDS; kind++) {
        int64_t hold = 0, other = 0;
        for (int i = 0; i < N; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const bool of_kind[KINDS] = {true, false, i < N / 2, i % 2 == 0, random >> 63, (random >> 40) % 100 == 0};
            flag[i] = of_kind[kind];
            hold += flag[i];
        }
        assert_int_equal(sn_call(p, sn_in(flag, N), sn_in(a, hold), sn_in(b, N - hold), sn_into(y, N)), SN_OK);
        for (int64_t i = 0, k = 0; i < N; k += flag[i++])
            other += y[i] != (flag[i] ? a[k] : b[i - k]);
        assert_int_equal(other, 0);
        if (hold > 0)
            assert_int_equal(sn_call(p, sn_in(flag, N), sn_in(a, hold - 1), sn_in(b, N - hold + 1), sn_into(y, N)),
                             SN_OUT_OF_RANGE);
        if (hold < N)
            assert_int_equal(sn_call(p, sn_in(flag, N), sn_in(a, hold + 1), sn_in(b, N - hold - 1), sn_into(y, N)),
                             SN_OUT_OF_RANGE);
    }
    sn_drop(p);
    free(flag);
    free(a);
    free(b);
    free(y);
}

static void other_extents_must_agree(void **state)
{
    (void)state;
    float a[6] = {0}, y[12];
    sn_program *p = compiled_in(both_cpu(), "[n,a]f32, [m,b]f32 -> [k,a]f32", SN_BODY(append_rows));
    assert_int_equal(sn_call(p, sn_in(a, 2, 3), sn_in(a, 3, 2), sn_into(y, 4, 3)), SN_SHAPE_MISMATCH);
    assert_non_null(
        strstr(sn_message(both_cpu()), "append_along: the extents of the arrays differ in dimension 1: 3 and 2"));
    sn_drop(p);
}

static sn_scalar other(sn_scalar i)
{
    return sn_mul(i, 3);
}

static sn_acc too_long(sn_acc n)
{
    sn_acc a = sn_generate(sn_i64(INT64_C(1) << 61), other);
    (void)n;
    return sn_take(3, sn_interleave(a, a, a, a, a, a, a, a));
}

static sn_acc too_long_together(sn_acc n)
{
    sn_acc a = sn_generate(sn_i64(INT64_MAX - 1), other);
    (void)n;
    return sn_take(3, sn_concat(a, a, a, a));
}

/* No sum or product of extents wraps unseen. */
static void lengths_that_cannot_be_counted(void **state)
{
    (void)state;
    int64_t y[3], n = 0;
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    sn_acc (*const body[2])(sn_acc) = {too_long, too_long_together};
    for (int i = 0; i < 4; i++) {
        sn_program *p = sn_compile_at(SN_HERE, contexts[i / 2], "i64 -> [k]i64", SN_BODY(body[i % 2]));
        if (p)
            assert_int_not_equal(sn_call(p, sn_value(&n), sn_into(y, 3)), SN_OK);
        if (i % 2 == 0) {
            const char *said = sn_message(contexts[i / 2]);
            assert_non_null(strstr(said, "interleave: 8 arrays have more elements than can be counted"));
            assert_non_null(strstr(said, "another than theirs: 0 and 2305843009213693952"));
        }
        sn_drop(p);
    }
}

static sn_acc rows_behind(sn_acc a, sn_acc b)
{
    return sn_append_along(0, a, b);
}

/* Arrays without elements may have any extents. What is said of a sum beyond all extents has no sign. */
static void extents_beyond_63_bits_are_said(void **state)
{
    (void)state;
    const int64_t most = INT64_MAX;
    float x = 0;
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    static const char *const signature[2] = {"[n,k]f32, [m,k]f32 -> [_,k]f32", "[n,k]f32, [n,k]f32 -> [_,k]f32"};
    for (int i = 0; i < 4; i++) {
        sn_array *r = NULL;
        sn_program *p = sn_compile_at(SN_HERE, contexts[i / 2], signature[i % 2], SN_BODY(rows_behind));
        assert_non_null(p);
        assert_int_equal(sn_call(p, sn_in(&x, most, 0), sn_in(&x, most, 0), sn_keep(&r)), SN_BAD_EXTENT);
        if (!strstr(sn_message(contexts[i / 2]),
                    "append_along: dimension 0 has the extent 18446744073709551614; no extent exceeds"))
            fail_msg("%s", sn_message(contexts[i / 2]));
        sn_drop(p);
    }
}

static sn_acc wrong_types(sn_acc a, sn_acc b)
{
    return sn_append(a, sn_map(sn_to_i32, b));
}

static sn_acc wrong_ranks(sn_acc a, sn_acc b)
{
    return sn_append(a, sn_sum(b));
}

static sn_acc no_dimension(sn_acc a, sn_acc b)
{
    return sn_append_along(2, a, b);
}

static sn_acc wrong_flags(sn_acc a, sn_acc b)
{
    return sn_combine(a, sn_flatten(a), sn_flatten(b));
}

static sn_acc wrong_rows(sn_acc a, sn_acc b)
{
    return sn_combine(sn_map(is_positive, a), a, b);
}

static sn_acc a_single_one(sn_acc a, sn_acc b)
{
    (void)b;
    sn_acc rest;
    return sn_split(1, sn_fold_all(sn_add, 0, a), &rest);
}

static sn_acc none(sn_acc a, sn_acc b)
{
    (void)a, (void)b;
    return sn_concat_at(SN_HERE, 0, NULL);
}

static void mistakes_are_explained(void **state)
{
    static const struct {
        sn_acc (*body)(sn_acc, sn_acc);
        const char *says;
    } cases[] = {
        {wrong_types, "append: [n,m]f32 and [n,m]i32 have elements of different types; what is joined has one type, "
                      "sn_to converts"},
        {wrong_ranks, "append: the ranks of [n,m]f32 and [n]f32 differ; sn_replicate adds dimensions"},
        {no_dimension, "append_along: there is no dimension 2 of [n,m]f32; its dimensions are 0 to 1, outermost first"},
        {wrong_flags, "combine: what comes from where is said by an array of bool, but this one is [n,m]f32"},
        {wrong_rows, "combine: [n,m]f32 has not rank 1; sn_flatten makes it so"},
        {a_single_one, "split: f32 has no dimension to join or to split along; an array of rank 1 or more has"},
        {none, "concat: no arrays; there is one at least"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sn_program *p =
            sn_compile_at(SN_HERE, both_interpreter(), "[n,m]f32, [n,m]f32 -> [n,m]f32", SN_BODY(cases[i].body));
        assert_null(p);
        if (!strstr(sn_message(both_interpreter()), cases[i].says))
            fail_msg("not \"%s\":\n%s", cases[i].says, sn_message(both_interpreter()));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_those_of_plain_c),
        cmocka_unit_test(all_types_and_extents),
        cmocka_unit_test(folds_of_what_is_joined),
        cmocka_unit_test(parts_are_computed_in_place),
        cmocka_unit_test(parts_are_computed_where_they_belong),
        cmocka_unit_test(what_the_run_tells),
        cmocka_unit_test(flags_share_a_loop),
        cmocka_unit_test(flags_of_all_kinds),
        cmocka_unit_test(flags_are_counted),
        cmocka_unit_test(other_extents_must_agree),
        cmocka_unit_test(lengths_that_cannot_be_counted),
        cmocka_unit_test(extents_beyond_63_bits_are_said),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
