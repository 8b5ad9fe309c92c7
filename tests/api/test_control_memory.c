/* Whose memory a branch takes: a choice within a loop changes the state where it is, or hands it on as it came; against
 * the interpreter, bit for bit, and how much is copied. */
#include "both.h"
#include "counts.h"

#include <stdlib.h>
#include <string.h>

#define LENGTHS 1, 2, 3, 16, 33, 1000, 5000

/* --- parts --- */

typedef struct place_env {
    sn_scalar first, extent;
} place_env;

static sn_scalar place(void *env, sn_scalar i)
{
    const place_env *e = env;
    return sn_mod(sn_add(e->first, sn_mul(i, 7)), e->extent);
}

/* Some elements grow, where they are if that is possible. */
static sn_acc grown(sn_acc a, sn_scalar first, int by)
{
    place_env e = {first, sn_size(a)};
    return sn_permute(sn_add, a, sn_closure(place, &e), sn_fill(3, sn_i32(by)));
}

static sn_scalar divides(sn_scalar k, int n)
{
    return sn_eq(sn_mod(k, n), 0);
}

static sn_scalar plus_one(sn_scalar x)
{
    return sn_add(x, sn_i32(1));
}

static sn_acc same(sn_acc a)
{
    return a;
}

static sn_acc same_two(sn_acc a, sn_acc b)
{
    return sn_results(a, b);
}

static sn_acc other_way_round(sn_acc a, sn_acc b)
{
    return sn_results(b, a);
}

static sn_acc first_twice(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_results(a, a);
}

static sn_acc grow_by_3(void *env, int count, const sn_acc *a)
{
    (void)count;
    return grown(a[0], *(sn_scalar *)env, 3);
}

static sn_acc grow_first(void *env, int count, const sn_acc *a)
{
    (void)count;
    return sn_results(grown(a[0], *(sn_scalar *)env, 2), a[1]);
}

static sn_acc grow_second(void *env, int count, const sn_acc *a)
{
    (void)count;
    return sn_results(a[0], grown(a[1], *(sn_scalar *)env, -3));
}

static sn_acc map_first(sn_acc a, sn_acc b)
{
    return sn_results(sn_map(plus_one, a), b);
}

/* --- rounds --- */

static sn_acc by_number(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_acond(divides(n, 3), sn_body_of(grow_by_3, &n, 1), same, a);
}

static sn_acc by_element(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k), x = sn_index(a, sn_mod(n, sn_size(a)));
    return sn_acond(sn_gt(x, 0), sn_body_of(grow_by_3, &n, 1), same, a);
}

static sn_acc by_sum(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_acond(sn_eq(sn_bit_and(sn_the(sn_sum(a)), 1), 0), sn_body_of(grow_by_3, &n, 1), same, a);
}

static sn_acc two_states(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k);
    return sn_acond(divides(n, 2), sn_body_of(grow_first, &n, 2), sn_body_of(grow_second, &n, 2), sn_results(a, b));
}

static sn_acc swapped(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k);
    return sn_acond(divides(n, 3), other_way_round, sn_body_of(grow_second, &n, 2), sn_results(a, b));
}

static sn_acc doubled(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k);
    return sn_acond(divides(n, 4), first_twice, sn_body_of(grow_second, &n, 2), sn_results(a, b));
}

static sn_acc choose_within(void *env, int count, const sn_acc *a)
{
    sn_scalar n = *(sn_scalar *)env;
    (void)count;
    return sn_acond(divides(n, 4), sn_body_of(grow_second, &n, 2), map_first, sn_results(a[0], a[1]));
}

static sn_acc nested(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k);
    return sn_acond(divides(n, 2), sn_body_of(choose_within, &n, 2), same_two, sn_results(a, b));
}

static sn_acc rounds_within(void *env, int count, const sn_acc *a)
{
    (void)env, (void)count;
    return sn_aloop(3, by_number, a[0]);
}

static sn_acc loop_in_branch(sn_acc k, sn_acc a)
{
    return sn_acond(divides(sn_the(k), 2), sn_body_of(rounds_within, NULL, 1), same, a);
}

static sn_acc loop_in_round(sn_acc k, sn_acc a)
{
    (void)k;
    return sn_aloop(3, by_number, a);
}

/* The state is needed once more. */
static sn_acc read_behind(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k);
    sn_acc next = sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a);
    return sn_results(next, sn_zip_with(sn_sub, a, b));
}

static sn_scalar plus_scalar(void *env, sn_scalar x)
{
    return sn_add(x, *(sn_scalar *)env);
}

/* ... or an element of it. */
static sn_acc element_behind(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k), x = sn_index(a, sn_mod(sn_mul(n, 7), sn_size(a)));
    sn_acc next = sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a);
    return sn_results(next, sn_map(sn_closure(plus_scalar, &x), b));
}

/* ... for the condition of another choice. */
static sn_acc choice_behind(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k), x = sn_index(a, sn_mod(sn_mul(n, 7), sn_size(a)));
    sn_acc next = sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a);
    sn_scalar y = sn_the(sn_sum(next));
    return sn_results(next, sn_acond(sn_gt(sn_add(x, y), 0), sn_body_of(grow_by_3, &n, 1), same, b));
}

/* What the choice gives is read before the state, or with it. */
static sn_acc two_choices(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k);
    sn_acc one = sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a);
    sn_acc other = sn_acond(divides(n, 3), sn_body_of(grow_by_3, &n, 1), same, a);
    return sn_results(one, sn_zip_with(sn_add, other, b));
}

/* A permute whose loop's condition looked at the state. */
static sn_acc plain_behind_element(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k), x = sn_index(a, sn_mod(n, sn_size(a)));
    return sn_results(grown(a, n, 5), sn_acond(sn_gt(x, 0), sn_body_of(grow_by_3, &n, 1), same, b));
}

static sn_scalar is_even(sn_scalar x)
{
    return sn_eq(sn_bit_and(x, 1), 0);
}

static sn_acc without_odd(sn_acc a)
{
    return sn_append(sn_filter(is_even, a), sn_fill(1, sn_i32(2)));
}

static sn_acc other_extents(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_acond(divides(n, 2), without_odd, sn_body_of(grow_by_3, &n, 1), a);
}

static sn_acc grow_unless_empty(sn_acc a)
{
    return sn_permute(sn_add, a, sn_to_i64, sn_fill(sn_min(sn_size(a), 2), sn_i32(1)));
}

static sn_acc from_outside(void *env, int count, const sn_acc *a)
{
    (void)count;
    return sn_acond(divides(sn_the(a[0]), 2), grow_unless_empty, same, *(sn_acc *)env);
}

#define LOOP(name, round)                                                                                              \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        return sn_aloop(10, round, a);                                                                                 \
    }
#define LOOP2(name, round)                                                                                             \
    static sn_acc name(sn_acc a, sn_acc b)                                                                             \
    {                                                                                                                  \
        return sn_aloop(10, round, sn_results(a, b));                                                                  \
    }
LOOP(numbers, by_number)
LOOP(elements, by_element)
LOOP(sums, by_sum)
LOOP(loops_in_branches, loop_in_branch)
LOOP(loops_in_rounds, loop_in_round)
LOOP(extents, other_extents)
LOOP2(states, two_states)
LOOP2(swaps, swapped)
LOOP2(doubles, doubled)
LOOP2(nests, nested)
LOOP2(behind, read_behind)
LOOP2(elements_behind, element_behind)
LOOP2(choices_behind, choice_behind)
LOOP2(choices, two_choices)
LOOP2(plain, plain_behind_element)

static sn_acc outside(sn_acc a, sn_acc b)
{
    return sn_results(sn_aloop(5, sn_body_of(from_outside, &b, 2), a), b);
}

/* Rounds until the host sees that it is enough. */
static sn_acc below_ten(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_unit(sn_land(sn_lt(n, 10), sn_lt(sn_index(a, 0), sn_i32(20))));
}

static sn_acc count_and_choose(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_to_i64(sn_the(k));
    return sn_results(sn_unit(sn_add(sn_the(k), 1)), sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a));
}

static sn_acc while_below(sn_acc a)
{
    return sn_awhile(below_ten, count_and_choose, sn_results(sn_unit(sn_i64(0)), a));
}

static void against_interpreter(void **state)
{
    (void)state;
    both("[n]i32 -> [n]i32", numbers, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", elements, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", sums, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", loops_in_branches, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", loops_in_rounds, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [m]i32", extents, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", states, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", swaps, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", doubles, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", nests, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", behind, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", elements_behind, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", choices_behind, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", choices, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", plain, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", outside, NULL, SMALL, 0, LENGTHS);
    both("[n]i32 -> i64, [n]i32", while_below, NULL, SMALL, LENGTHS);
}

/* --- outside of loops --- */

static sn_acc chosen_parameter(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_sum(sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a));
}

static sn_acc chosen_result(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a);
}

static sn_acc chosen_computed(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_sum(sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, sn_map(plus_one, a)));
}

/* The parameter is read behind the loop that the choice gave its state. */
static sn_acc chosen_and_parameter(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    sn_acc chosen = sn_acond(divides(n, 2), sn_body_of(grow_by_3, &n, 1), same, a);
    sn_acc changed = sn_aloop(4, by_number, chosen);
    return sn_results(sn_zip_with(sn_sub, changed, chosen), sn_aloop(4, by_number, a), a);
}

static sn_acc chosen_pairs(sn_acc k, sn_acc a, sn_acc b)
{
    sn_scalar n = sn_the(k);
    sn_acc c =
        sn_acond(divides(n, 2), sn_body_of(grow_first, &n, 2), other_way_round, sn_results(a, sn_map(plus_one, b)));
    return sn_zip_with(sn_sub, sn_result(c, 0), sn_map(plus_one, sn_result(c, 1)));
}

static void outside_of_loops(void **state)
{
    (void)state;
    both("i64, [n]i32 -> i32", chosen_parameter, NULL, POSITIVE, LENGTHS);
    both("i64, [n]i32 -> [n]i32", chosen_result, NULL, POSITIVE, LENGTHS);
    both("i64, [n]i32 -> i32", chosen_computed, NULL, POSITIVE, LENGTHS);
    both("i64, [n]i32 -> [n]i32, [n]i32, [n]i32", chosen_and_parameter, NULL, POSITIVE, LENGTHS);
    both("i64, [n]i32, [n]i32 -> [n]i32", chosen_pairs, NULL, POSITIVE, LENGTHS);
}

/* --- how much is copied --- */

enum { N = 1000 };

/* Arrays of N elements that a call copies. */
static void expect_copies(const char *signature, sn_body body, int n, const sn_arg *arg, uint64_t copies)
{
    sn_context *cx = both_cpu();
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, body);
    assert_non_null(p);
    const uint64_t before = sn_counts(cx).copied_bytes;
    assert_int_equal(sn_call_n(p, n, arg), SN_OK);
    assert_int_equal(sn_counts(cx).copied_bytes - before, copies * N * sizeof(int32_t));
    sn_drop(p);
}

/* In loops the parameter is copied when it changes for the first time, and what the loop made of it when it is over. */
static void copies(void **state)
{
    (void)state;
    static int32_t x[2][N], y[2][N];
    for (int i = 0; i < N; i++)
        x[0][i] = x[1][i] = 1 + i % 3;
    if (!on_cpu()) /* others fetch and bring arrays besides */
        return;
    const char *name = "[n]i32 -> [n]i32";
    const sn_arg one[] = {sn_in(x[0], N), sn_into(y[0], N)};
    expect_copies(name, SN_BODY(numbers), 2, one, 2);
    expect_copies(name, SN_BODY(elements), 2, one, 2);
    expect_copies(name, SN_BODY(sums), 2, one, 2);
    expect_copies(name, SN_BODY(loops_in_branches), 2, one, 2);
    expect_copies(name, SN_BODY(loops_in_rounds), 2, one, 2);
    name = "[n]i32, [n]i32 -> [n]i32, [n]i32";
    const sn_arg two[] = {sn_in(x[0], N), sn_in(x[1], N), sn_into(y[0], N), sn_into(y[1], N)};
    expect_copies(name, SN_BODY(states), 4, two, 4);
    expect_copies(name, SN_BODY(swaps), 4, two, 4);
    expect_copies(name, SN_BODY(plain), 4, two, 4);
    expect_copies(name, SN_BODY(nests), 4, two, 4);
    for (int64_t k = 0; k < 2; k++) {
        int32_t sum;
        const sn_arg value[] = {sn_value(&k), sn_in(x[0], N), sn_value(&sum)};
        name = "i64, [n]i32 -> i32";
        expect_copies(name, SN_BODY(chosen_parameter), 3, value, k == 0); /* it stays as it is */
        expect_copies(name, SN_BODY(chosen_computed), 3, value, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_interpreter), cmocka_unit_test(outside_of_loops),
                                       cmocka_unit_test(copies)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
