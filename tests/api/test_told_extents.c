/* Extents that arrays of rank 0 say: parameters, or what the program has computed before. */
#include "both.h"

#include <string.h>

static sn_scalar square(sn_scalar i)
{
    return sn_mul(i, i);
}

static sn_scalar both_indices(sn_scalar i, sn_scalar j)
{
    return sn_add(sn_mul(i, 100), j);
}

static sn_scalar rest(sn_scalar x)
{
    return sn_mod(x, 7);
}

static sn_acc of_parameter(sn_acc n)
{
    return sn_generate(sn_the(n), square);
}

static sn_acc of_sum(sn_acc a)
{
    return sn_generate(sn_the(sn_sum(sn_map(rest, a))), square);
}

static sn_acc rows_and_columns(sn_acc a, sn_acc m)
{
    sn_acc both_ways = sn_generate(sn_shape(sn_the(sn_sum(sn_map(rest, a))), sn_add(sn_the(m), 1)), both_indices);
    return sn_results(both_ways, sn_sum(both_ways), sn_sum(sn_transpose(both_ways)));
}

static sn_acc segments(sn_acc a)
{
    sn_acc lengths = sn_map(rest, a);
    sn_scalar all = sn_the(sn_sum(lengths));
    return sn_results(sn_iota_seg(all, lengths), sn_replicate_seg(all, lengths, sn_iota(sn_size(lengths))));
}

static sn_acc cut(sn_acc a, sn_acc n)
{
    sn_acc front = sn_take(sn_the(n), a);
    return sn_results(front, sn_sum(front), sn_skip(sn_the(n), a), sn_scanl1(sn_add, sn_rotate(sn_the(n), front)));
}

/* Each round's extent is the sum of the round before. */
static sn_acc grown(sn_acc i, sn_acc a)
{
    (void)i;
    return sn_map(rest, sn_generate(sn_the(sn_sum(a)), square));
}

static sn_acc in_a_loop(sn_acc a)
{
    return sn_aloop(3, grown, sn_map(rest, a));
}

static void extents_are_told(void **state)
{
    (void)state;
    both("i64 -> [k]i64", of_parameter, NULL, POSITIVE, 0);
    both("[n]i64 -> [k]i64", of_sum, NULL, POSITIVE, SIZES);
    both("[n]i64, i64 -> [k,l]i64, [k]i64, [l]i64", rows_and_columns, NULL, POSITIVE, 0, 1, 2, 7, 33, 100);
    both("[n]i64 -> [k]i64, [k]i64", segments, NULL, POSITIVE, SIZES);
    both("[n]T, i64 -> [k]T, T, [l]T, [k]T", cut, "i32 f32 u64", SMALL, 0, 1, 2, 3, 31, 100, 1000);
    both("[n]i64 -> [k]i64", in_a_loop, NULL, POSITIVE, 0, 1, 5, 20);
}

static void values_are_counted(sn_context *cx)
{
    const int64_t lengths[] = {2, 0, 3, 1};
    int64_t which[6], place[6], n = -1, m = -1;
    sn_program *p = sn_compile(cx, "[n]i64 -> [k]i64, [k]i64", segments);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(lengths, 4), sn_upto(place, 6, &n), sn_upto(which, 6, &m)), SN_OK);
    assert_int_equal(n, 6);
    assert_int_equal(m, 6);
    assert_memory_equal(place, ((int64_t[]){0, 1, 0, 1, 2, 0}), sizeof place);
    assert_memory_equal(which, ((int64_t[]){0, 0, 2, 2, 2, 3}), sizeof which);
    assert_int_equal(sn_call(p, sn_in(lengths, 4), sn_upto(place, 5, &n), sn_upto(which, 6, &m)), SN_BAD_EXTENT);
    assert_int_equal(n, 6);
    sn_drop(p);
}

static sn_acc sum_of_many(sn_acc n)
{
    return sn_sum(sn_generate(sn_shape(sn_the(n), sn_the(n)), both_indices));
}

static void impossible_extents(sn_context *cx)
{
    const struct {
        int64_t n;
        sn_status status;
        const char *text;
    } cases[] = {{-2, SN_BAD_EXTENT, "has the extent -2"}, {(int64_t)1 << 40, SN_TOO_LARGE, "elements"}};
    sn_program *p = sn_compile(cx, "i64 -> [k]i64", sum_of_many);
    assert_non_null(p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_array *result = NULL;
        assert_int_equal(sn_call(p, sn_value(&cases[i].n), sn_keep(&result)), cases[i].status);
        assert_null(result);
        if (!strstr(sn_message(cx), cases[i].text) || !strstr(sn_message(cx), "generate"))
            fail_msg("%s", sn_message(cx));
    }
    sn_drop(p);
}

/* A text with such extents is a program again; that an index is inside is not believed where it is not seen. */
static void as_texts(sn_context *cx)
{
    const int64_t lengths[] = {2, 0, 3, 1};
    int64_t y[6], n = 0;
    sn_program *p = sn_compile(cx, "[n]i64 -> [k]i64", of_sum);
    assert_non_null(p);
    sn_program *again = sn_parse_program(cx, sn_explain(p, "term"));
    if (!again)
        fail_msg("%s", sn_message(cx));
    assert_int_equal(sn_call(again, sn_in(lengths, 4), sn_upto(y, 6, &n)), SN_OK);
    assert_int_equal(n, 6);
    assert_memory_equal(y, ((int64_t[]){0, 1, 4, 9, 16, 25}), sizeof y);
    sn_drop(again);
    sn_drop(p);
    p = sn_parse_program(cx, "extents n\na = input [n]i64\nm = input []i64\n"
                             "b = backpermute safe [m[]] a {i: i64 -> i}\noutput b");
    if (!p)
        fail_msg("%s", sn_message(cx));
    int64_t three = 3, five = 5;
    assert_int_equal(sn_call(p, sn_in(lengths, 4), sn_value(&three), sn_upto(y, 6, &n)), SN_OK);
    assert_memory_equal(y, lengths, 3 * sizeof *y);
    assert_int_equal(sn_call(p, sn_in(lengths, 4), sn_value(&five), sn_upto(y, 6, &n)), SN_OUT_OF_RANGE);
    sn_drop(p);
}

static void values_and_mistakes(void **state)
{
    (void)state;
    both_in_turn(values_are_counted);
    both_in_turn(impossible_extents);
    both_in_turn(as_texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(extents_are_told), cmocka_unit_test(values_and_mistakes)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
