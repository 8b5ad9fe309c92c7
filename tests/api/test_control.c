/* Loops and choices of arrays, against the interpreter, bit for bit: states of every kind, what comes from outside,
 * extents that change, within each other, and failures. What is computed how often: test_control_rounds.c;
 * how calls with them go: test_control_calls.c. */
#include "both.h"
#include "counts.h"

#include <stdlib.h>
#include <string.h>

#define LENGTHS 0, 1, 2, 16, 33, 1000, 5000

/* --- elements --- */

static sn_scalar twice(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_scalar next_up(sn_scalar x)
{
    return sn_add(x, sn_i32(1));
}

static sn_scalar below_thousand(sn_scalar x)
{
    return sn_land(sn_lt(x, 1000), sn_gt(x, -1000));
}

static sn_scalar is_even(sn_scalar x)
{
    return sn_eq(sn_bit_and(x, 1), 0);
}

static sn_scalar halved(sn_scalar x)
{
    return sn_shr(x, 1);
}

static sn_acc doubled(sn_acc a)
{
    return sn_map(twice, a);
}

static sn_acc one_up(sn_acc a)
{
    return sn_map(next_up, a);
}

/* --- plain loops --- */

static sn_acc all_small(sn_acc a)
{
    return sn_all(sn_map(below_thousand, sn_map(sn_to_i64, a)));
}

static sn_acc double_up_plus(sn_acc a)
{
    return sn_map(next_up, sn_map(twice, a));
}

static sn_acc until_large(sn_acc a)
{
    return sn_awhile(all_small, double_up_plus, one_up(a));
}

static sn_scalar below_fifty(sn_scalar n)
{
    return sn_lt(n, 50);
}

static sn_acc counted_condition(sn_acc n, sn_acc a)
{
    (void)a;
    return sn_map(below_fifty, n);
}

static sn_acc counted_step(sn_acc n, sn_acc a)
{
    return sn_results(one_up(n), sn_zip_with(sn_add, a, sn_reverse(a)));
}

static sn_acc fifty_times(sn_acc a)
{
    return sn_result(sn_awhile(counted_condition, counted_step, sn_results(sn_unit(sn_i32(0)), a)), 1);
}

static sn_acc five_times(sn_acc a)
{
    return sn_aiterate(5, doubled, a);
}

static sn_acc never(sn_acc a)
{
    return sn_results(sn_aiterate(0, doubled, a), sn_aiterate(-3, doubled, doubled(a)));
}

static sn_acc one_of(sn_acc n, sn_acc a)
{
    return sn_aiterate(sn_the(n), doubled, a);
}

static sn_scalar fused(sn_scalar x)
{
    return sn_fma(x, sn_f32(2), sn_f32(-1.5f));
}

static sn_acc fused_step(sn_acc a)
{
    return sn_map(fused, a);
}

static sn_acc three_fused(sn_acc a)
{
    return sn_aiterate(3, fused_step, a);
}

static sn_scalar scalar_outside;

static sn_scalar plus_outside(sn_scalar x)
{
    return sn_add(x, scalar_outside);
}

static sn_acc outside_step(sn_acc a)
{
    return sn_map(plus_outside, a);
}

static sn_acc three_from_outside(sn_acc k, sn_acc a)
{
    scalar_outside = sn_fma(sn_the(k), sn_f32(2), sn_f32(-1.5f));
    return sn_aiterate(3, outside_step, a);
}

/* What a round computes, and what it takes from outside, is what was written, operand for operand. */
static void operands_stay_in_their_places(void **state)
{
    (void)state;
    sn_program *p = sn_compile(both_cpu(), "[n]f32 -> [n]f32", three_fused);
    const float x[3] = {1, 5, -0.25f};
    float y[3];
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_into(y, 3)), SN_OK);
    for (int i = 0; i < 3; i++)
        assert_true(y[i] == 8 * x[i] - 10.5f);
    sn_drop(p);
    const float k = 4;
    p = sn_compile(both_cpu(), "f32, [n]f32 -> [n]f32", three_from_outside);
    assert_int_equal(sn_call(p, sn_value(&k), sn_in(x, 3), sn_into(y, 3)), SN_OK);
    for (int i = 0; i < 3; i++)
        assert_true(y[i] == x[i] + 3 * 6.5f);
    sn_drop(p);
}

static void loops(void **state)
{
    (void)state;
    both("[n]i32 -> [n]i32", until_large, NULL, SMALL, 1, 33, 1000);
    both("[n]i32 -> [n]i32", fifty_times, NULL, SMALL, LENGTHS);
    both("[n]T -> [n]T", five_times, "i8 i32 i64 u16 f32 f64", MIXED, LENGTHS);
    both("[n]T -> [n]T, [n]T", never, "i32 f64", MIXED, LENGTHS);
    both("i32, [n]f32 -> [n]f32", one_of, NULL, POSITIVE, LENGTHS);
}

/* --- the number of the round --- */

static sn_scalar plus_round(void *env, sn_scalar x)
{
    return sn_add(x, sn_mul(*(sn_scalar *)env, *(sn_scalar *)env));
}

static sn_acc add_square(sn_acc k, sn_acc a)
{
    sn_scalar round = sn_the(k);
    return sn_map(sn_closure(plus_round, &round), a);
}

static sn_acc sum_of_squares(sn_acc a)
{
    return sn_aloop(10, add_square, a);
}

/* a row and a column of the round: Floyd and Warshall's */
static sn_scalar shorter(void *env, int count, const sn_scalar *x)
{
    const sn_acc *d = env;
    (void)count;
    sn_scalar k = sn_the(d[1]), through = sn_add(sn_index(d[0], x[0], k), sn_index(d[0], k, x[1]));
    return sn_min(x[2], through);
}

static sn_acc relax(sn_acc k, sn_acc d)
{
    sn_acc env[2] = {d, k};
    return sn_imap(sn_closure_of(shorter, env, 3), d);
}

static sn_acc shortest(sn_acc d)
{
    return sn_aloop(sn_extent(d, 0), relax, d);
}

/* an extent that is made of the number */
static sn_acc sum_of_prefix(sn_acc k, sn_acc a, sn_acc sums)
{
    sn_acc prefix = sn_take(sn_the(k), a);
    return sn_results(a, sn_zip_with(sn_add, sums, sn_replicate(sn_sum(prefix), sn_extent(sums, 0))));
}

static sn_acc prefixes(sn_acc a)
{
    return sn_result(sn_aloop(sn_extent(a, 0), sum_of_prefix, sn_results(a, a)), 1);
}

static void rounds(void **state)
{
    (void)state;
    both("[n]i64 -> [n]i64", sum_of_squares, NULL, SMALL, LENGTHS);
    both("[n,n]T -> [n,n]T", shortest, "i32 f32", POSITIVE, 0, 1, 2, 7, 40);
    both("[n]i32 -> [n]i32", prefixes, NULL, SMALL, 0, 1, 2, 16, 33);
}

/* --- states that are passed on, exchanged and doubled --- */

static sn_acc exchanged(sn_acc a, sn_acc b)
{
    return sn_results(b, a);
}

static sn_acc exchange_often(sn_acc a, sn_acc b)
{
    return sn_aiterate(7, exchanged, sn_results(a, b));
}

static sn_acc first_twice(sn_acc a, sn_acc b)
{
    return sn_results(sn_zip_with(sn_add, a, b), a);
}

static sn_acc fibonacci(sn_acc a, sn_acc b)
{
    return sn_aiterate(11, first_twice, sn_results(a, b));
}

/* Neither is done with an element when it writes to that place. */
static sn_acc ends_first(sn_acc a, sn_acc b)
{
    return sn_results(sn_zip_with(sn_add, sn_reverse(a), sn_reverse(b)), a);
}

static sn_acc from_both_ends(sn_acc a, sn_acc b)
{
    return sn_aiterate(11, ends_first, sn_results(a, b));
}

static sn_acc both_same(sn_acc a, sn_acc b)
{
    sn_acc c = sn_zip_with(sn_sub, a, b);
    return sn_results(c, c);
}

static sn_acc same_often(sn_acc a, sn_acc b)
{
    return sn_aiterate(3, both_same, sn_results(a, b));
}

static sn_acc forgets(sn_acc a, sn_acc b)
{
    (void)a;
    return sn_results(b, b);
}

static sn_acc forget(sn_acc a, sn_acc b)
{
    return sn_aiterate(2, forgets, sn_results(a, b));
}

static sn_scalar swap_pair(sn_scalar p)
{
    return sn_tuple(sn_snd(p), sn_add(sn_fst(p), 1));
}

static sn_acc pairs_step(sn_acc a)
{
    return sn_map(swap_pair, a);
}

static sn_acc pairs(sn_acc a)
{
    sn_acc all = sn_aiterate(5, pairs_step, a);
    return sn_results(sn_get(all, 0), all);
}

static void states(void **state)
{
    (void)state;
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", exchange_often, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", fibonacci, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", from_both_ends, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", same_often, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32, [n]i32", forget, NULL, SMALL, LENGTHS);
    both("[n](i32, i32) -> [n]i32, [n](i32, i32)", pairs, NULL, SMALL, LENGTHS);
}

/* --- extents that change --- */

static sn_acc some_left(sn_acc a)
{
    return sn_unit(sn_gt(sn_extent(a, 0), 0));
}

static sn_acc keep_even(sn_acc a)
{
    return sn_map(halved, sn_filter(is_even, sn_tail(a)));
}

static sn_acc filtered_away(sn_acc a)
{
    return sn_awhile(some_left, keep_even, a);
}

static sn_acc not_single(sn_acc a)
{
    return sn_unit(sn_gt(sn_extent(a, 0), 1));
}

static sn_scalar at_or_zero(void *env, sn_scalar i)
{
    sn_acc a = *(sn_acc *)env;
    return sn_if(sn_lt(i, sn_extent(a, 0)), sn_index(a, i), sn_i32(0));
}

static sn_acc resized(sn_scalar n, sn_acc a)
{
    return sn_generate(sn_shape(n), sn_closure(at_or_zero, &a));
}

static sn_acc halve(sn_acc a)
{
    sn_scalar half = sn_quot(sn_add(sn_extent(a, 0), 1), 2);
    return sn_zip_with(sn_add, sn_take(half, a), resized(half, sn_skip(half, a)));
}

static sn_acc sum_by_halves(sn_acc a)
{
    return sn_awhile(not_single, halve, a);
}

static sn_acc grow(sn_acc a, sn_acc b)
{
    sn_scalar n = sn_add(sn_extent(a, 0), 3);
    return sn_results(resized(n, sn_map(next_up, a)), resized(n, sn_zip_with(sn_add, a, b)));
}

static sn_acc grown(sn_acc a)
{
    return sn_aiterate(4, grow, sn_results(a, sn_reverse(a)));
}

static void extents(void **state)
{
    (void)state;
    both("[n]i32 -> [m]i32", filtered_away, NULL, MIXED, LENGTHS);
    both("[n]i32 -> [m]i32", sum_by_halves, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [m]i32, [m]i32", grown, NULL, SMALL, LENGTHS);
}

/* --- choices --- */

static sn_acc tail_of(sn_acc a)
{
    return sn_tail(a);
}

static sn_acc same(sn_acc a)
{
    return a;
}

static sn_acc choose_length(sn_acc c, sn_acc a)
{
    return sn_acond(sn_the(c), doubled, tail_of, a);
}

static sn_acc choose_function(sn_acc c, sn_acc a)
{
    return sn_results(sn_acond(sn_the(c), doubled, same, a), sn_acond(sn_not(sn_the(c)), doubled, same, a));
}

/* only the chosen one is computed: the other one would fail */
static sn_scalar divided(void *env, sn_scalar x)
{
    return sn_quot(x, *(sn_scalar *)env);
}

static sn_acc all_divided(void *env, int count, const sn_acc *a)
{
    (void)count;
    return sn_map(sn_closure(divided, env), a[0]);
}

static sn_acc guarded(sn_acc d, sn_acc a)
{
    sn_scalar by = sn_the(d);
    return sn_acond(sn_ne(by, 0), sn_body_of(all_divided, &by, 1), same, a);
}

static void choices(void **state)
{
    (void)state;
    both("bool, [n]i32 -> [m]i32", choose_length, NULL, MIXED, LENGTHS);
    both("bool, [n]i32 -> [n]i32, [n]i32", choose_function, NULL, MIXED, LENGTHS);
    both("i32, [n]i32 -> [n]i32", guarded, NULL, SMALL, LENGTHS);
}

/* --- what comes from outside, within each other --- */

typedef struct outside {
    sn_acc weight, bias;
    sn_scalar factor;
} outside;

static sn_scalar scaled(void *env, sn_scalar x, sn_scalar w)
{
    return sn_add(sn_mul(x, w), *(sn_scalar *)env);
}

static sn_acc inner_step(void *env, int count, const sn_acc *a)
{
    outside *o = env;
    (void)count;
    return sn_zip_with(sn_closure(scaled, &o->factor), a[0], o->weight);
}

static sn_acc outer_step(void *env, int count, const sn_acc *a)
{
    outside *o = env;
    sn_scalar n = sn_the(a[0]);
    (void)count;
    sn_acc moved = sn_aiterate(n, sn_body_of(inner_step, env, 1), a[1]);
    return sn_acond(sn_gt(n, 2), sn_body_of(inner_step, env, 1), same, sn_zip_with(sn_add, moved, o->bias));
}

static sn_acc nested(sn_acc a, sn_acc weight)
{
    outside o = {weight, sn_map(twice, weight), sn_the(sn_sum(sn_map(twice, weight)))};
    return sn_aloop(4, sn_body_of(outer_step, &o, 2), a);
}

/* An array of an extent that is read of another one: used for its size, for its elements, or not at all. */
static sn_acc ignores_outside(void *env, int count, const sn_acc *a)
{
    sn_map(twice, *(sn_acc *)env);
    (void)count;
    return sn_reverse(a[0]);
}

static sn_acc uses_outside(void *env, int count, const sn_acc *a)
{
    sn_acc large = sn_map(twice, *(sn_acc *)env);
    (void)count;
    return sn_append(sn_take(sn_size(large), a[0]), sn_take(3, large));
}

static sn_acc told_outside(sn_acc n, sn_acc a)
{
    sn_acc told = sn_map(sn_to_i32, sn_iota(sn_add(sn_abs(sn_the(n)), 2)));
    sn_acc summed = sn_map(sn_to_i32, sn_iota(sn_the(sn_fold(sn_max, 1, sn_map(sn_to_i64, a)))));
    sn_acc ignored = sn_aiterate(2, sn_body_of(ignores_outside, &told, 1), a);
    sn_acc used = sn_aiterate(2, sn_body_of(uses_outside, &told, 1), sn_reverse(a));
    return sn_results(ignored, used, sn_aiterate(2, sn_body_of(ignores_outside, &summed, 1), a),
                      sn_aiterate(2, sn_body_of(uses_outside, &summed, 1), a));
}

static void from_outside(void **state)
{
    (void)state;
    both("i64, [n]i32 -> [n]i32, [k]i32, [n]i32, [l]i32", told_outside, NULL, SMALL, LENGTHS);
    both("[n]i32, [n]i32 -> [n]i32", nested, NULL, SMALL, LENGTHS);
}

/* --- updates of a few elements, in place where nobody sees the state as it was --- */

/* Places of this round, each another one, and what goes there. */
static sn_scalar place_of(void *env, sn_scalar j)
{
    const sn_scalar *round_and_extent = env;
    return sn_mod(sn_add(sn_mul(j, 7), sn_mul(round_and_extent[0], 3)), round_and_extent[1]);
}

static sn_scalar fresh(void *env, sn_scalar j)
{
    return sn_to_i32(sn_add(sn_mul(*(const sn_scalar *)env, 100), j));
}

static sn_acc places(sn_acc k, sn_acc a)
{
    sn_scalar env[2] = {sn_the(k), sn_max(sn_extent(a, 0), sn_i64(1))};
    return sn_generate(sn_min(sn_extent(a, 0), sn_i64(5)), sn_closure(place_of, env));
}

static sn_acc values_of(sn_acc k, sn_acc a)
{
    sn_scalar round = sn_the(k);
    return sn_generate(sn_min(sn_extent(a, 0), sn_i64(5)), sn_closure(fresh, &round));
}

static sn_acc write_some(sn_acc k, sn_acc a)
{
    return sn_scatter(places(k, a), a, values_of(k, a));
}

/* What is written is read from the state, as it was before the round. */
static sn_acc move_some(sn_acc k, sn_acc a)
{
    return sn_scatter(places(k, a), a, sn_gather(sn_reverse(places(k, a)), a));
}

/* The state as it was is needed behind the update. */
static sn_acc write_and_sum(sn_acc k, sn_acc a, sn_acc sum)
{
    sn_acc b = write_some(k, a);
    return sn_results(b, sn_zip_with(sn_add, sum, sn_zip_with(sn_sub, sn_sum(sn_map(twice, a)), sn_sum(b))));
}

/* It stays, as the other part of the next one. */
static sn_acc write_and_keep(sn_acc k, sn_acc a, sn_acc b)
{
    (void)b;
    return sn_results(write_some(k, a), a);
}

/* Two updates of one state, and two of one part. */
static sn_acc write_both(sn_acc k, sn_acc a, sn_acc b)
{
    return sn_results(write_some(k, b), sn_zip_with(sn_add, write_some(k, a), move_some(k, a)));
}

static sn_acc updates(sn_acc a)
{
    sn_acc kept = sn_aloop(4, write_and_keep, sn_results(a, a)), both_of = sn_aloop(5, write_both, sn_results(a, a));
    return sn_results(sn_aloop(9, write_some, a), sn_aloop(9, move_some, one_up(a)), sn_result(kept, 0),
                      sn_result(kept, 1), sn_result(both_of, 0), sn_result(both_of, 1));
}

static sn_acc updates_with_sums(sn_acc a)
{
    return sn_aloop(6, write_and_sum, sn_results(one_up(a), sn_sum(a)));
}

static sn_scalar next_hundred(sn_scalar x)
{
    return sn_add(x, 100);
}

static sn_scalar not_all(sn_scalar x)
{
    return sn_lt(x, 700);
}

static sn_acc until_all(sn_acc k, sn_acc a)
{
    (void)a;
    return sn_map(not_all, k);
}

static sn_acc write_on(sn_acc k, sn_acc a)
{
    return sn_results(sn_map(next_hundred, k), write_some(k, a));
}

static sn_acc updates_while(sn_acc a)
{
    return sn_result(sn_awhile(until_all, write_on, sn_results(sn_unit(sn_i64(0)), one_up(a))), 1);
}

static void updates_in_place(void **state)
{
    (void)state;
    both("[n]i32 -> [n]i32, [n]i32, [n]i32, [n]i32, [n]i32, [n]i32", updates, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32, i32", updates_with_sums, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", updates_while, NULL, SMALL, LENGTHS);
}

/* --- trees of loops and choices, made at random --- */

typedef struct grower {
    uint64_t seed;
    int depth;
} grower;

static uint32_t draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

static sn_acc small_count(sn_acc n, sn_acc a)
{
    (void)a;
    return sn_map(below_fifty, n);
}

static sn_acc several_up(sn_acc n)
{
    return sn_map(next_up, sn_map(next_up, sn_map(next_up, sn_map(twice, sn_map(next_up, n)))));
}

static sn_acc random_body(void *env, int count, const sn_acc *a);

static sn_acc random_counted(void *env, int count, const sn_acc *a)
{
    (void)count;
    return sn_results(several_up(a[0]), random_body(env, 1, a + 1));
}

static sn_acc random_indexed(void *env, int count, const sn_acc *a)
{
    sn_scalar round = sn_to_i32(sn_the(a[0]));
    sn_acc more = sn_map(sn_closure(plus_round, &round), a[1]);
    (void)count;
    return random_body(env, 1, &more);
}

static sn_scalar mixed(sn_scalar x, sn_scalar y)
{
    return sn_sub(sn_mul(x, 3), y);
}

static sn_scalar rare_quotient(sn_scalar x)
{
    return sn_quot(sn_i32(1000), sn_sub(x, sn_i32(12345)));
}

static sn_acc random_body(void *env, int count, const sn_acc *given)
{
    const grower *g = env;
    uint64_t seed = g->seed;
    sn_acc a = given[0];
    uint32_t steps = 1 + draw(&seed, 3);
    (void)count;
    for (uint32_t i = 0; i < steps; i++) {
        grower inside = {seed * 31 + i, g->depth + 1};
        sn_body f = sn_body_of(random_body, &inside, 1);
        switch (draw(&seed, g->depth < 3 ? 12 : 7)) {
        case 0:
            a = sn_map(next_up, a);
            break;
        case 1:
            a = sn_zip_with(mixed, a, sn_reverse(a));
            break;
        case 2:
            a = sn_filter(is_even, a);
            break;
        case 3:
            a = sn_postscan(sn_add, sn_i32(0), a);
            break;
        case 4:
            a = sn_zip_with(sn_add, a, sn_replicate(sn_sum(a), sn_extent(a, 0)));
            break;
        case 5:
            a = sn_map(draw(&seed, 4) ? halved : rare_quotient, a);
            break;
        case 6:
            a = sn_tail(a);
            break;
        case 7:
            a = sn_aiterate(draw(&seed, 4), f, a);
            break;
        case 8:
            a = sn_aloop(draw(&seed, 4), sn_body_of(random_indexed, &inside, 2), a);
            break;
        case 9: {
            grower other = {seed * 17 + i, g->depth + 1};
            a = sn_acond(sn_gt(sn_extent(a, 0), (int)draw(&seed, 40)), f, sn_body_of(random_body, &other, 1), a);
            break;
        }
        case 10:
            a = sn_acond(sn_gt(sn_the(sn_sum(a)), 0), f, same, a);
            break;
        default:
            a = sn_result(sn_awhile(small_count, sn_body_of(random_counted, &inside, 2),
                                    sn_results(sn_unit(sn_i32((int32_t)draw(&seed, 60))), a)),
                          1);
        }
    }
    return a;
}

static void random_trees(void **state)
{
    (void)state;
    const int trees = getenv("SINTER_TEST_LONG") ? 2000 : getenv("SINTER_TEST_SAMPLE") ? 6 : 40;
    for (int i = 0; i < trees; i++) {
        grower g = {(uint64_t)i * 77 + 5, 0};
        const int64_t lengths[] = {0, 1, 33, 70, -1};
        both_at(__FILE__, i + 1000000, "[n]i32 -> [m]i32", sn_body_of(random_body, &g, 1), NULL, SMALL, lengths);
    }
}

/* --- the text of terms --- */

static void texts(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    for (int i = 0; i < 6; i++) {
        grower g = {(uint64_t)i * 1234 + 7, 0};
        sn_program *p = sn_compile_at(SN_HERE, cx, "[n]i32 -> [m]i32", sn_body_of(random_body, &g, 1));
        assert_non_null(p);
        char *said = strdup(sn_explain(p, "term"));
        sn_program *q = sn_parse_program_at(SN_HERE, cx, said);
        if (!q)
            fail_msg("%s\n%s", sn_message(cx), said);
        int32_t x[20];
        sn_array *one = NULL, *other = NULL;
        for (int k = 0; k < 20; k++)
            x[k] = k * 7 - 30;
        sn_status s = sn_call(p, sn_in(x, 20), sn_keep(&one));
        assert_int_equal(s, sn_call(q, sn_in(x, 20), sn_keep(&other)));
        if (s == SN_OK) {
            int32_t a[200], b[200];
            assert_int_equal(sn_bytes(one), sn_bytes(other));
            assert_true(sn_bytes(one) <= sizeof a);
            sn_read(one, a, sn_bytes(one));
            sn_read(other, b, sn_bytes(one));
            assert_memory_equal(a, b, sn_bytes(one));
        }
        char *again = strdup(sn_explain(q, "term")); /* what is not seen to be safe is not believed to be */
        sn_program *last = sn_parse_program_at(SN_HERE, cx, again);
        assert_non_null(last);
        assert_string_equal(again, sn_explain(last, "term"));
        free(again);
        sn_drop(last);
        assert_non_null(sn_explain(p, "plan"));
        assert_non_null(sn_explain(p, "fused"));
        assert_non_null(sn_explain(p, "json"));
        assert_non_null(sn_explain(p, "dot"));
        sn_free(one);
        sn_free(other);
        free(said);
        sn_drop(q);
        sn_drop(p);
    }
}

/* --- failures --- */

static sn_scalar countdown_quotient(void *env, sn_scalar x)
{
    return sn_quot(x, sn_sub(sn_i64(7), *(sn_scalar *)env));
}

static sn_acc fails_in_round_seven(sn_acc k, sn_acc a)
{
    sn_scalar round = sn_the(k);
    return sn_map(sn_closure(countdown_quotient, &round), a); /* line of the failure */
}

static sn_acc eight_rounds(sn_acc a)
{
    return sn_aloop(8, fails_in_round_seven, a);
}

static sn_acc seven_rounds(sn_acc a)
{
    return sn_aloop(7, fails_in_round_seven, a);
}

static void failures(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    int64_t x[100] = {1}, y[100];
    sn_program *p = sn_compile(cx, "[n]i64 -> [n]i64", eight_rounds),
               *q = sn_compile(cx, "[n]i64 -> [n]i64", seven_rounds);
    assert_non_null(p);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(y, 100)), SN_DIVISION);
        assert_non_null(strstr(sn_message(cx), "test_control.c:"));
        assert_non_null(strstr(sn_message(cx), "quot"));
        assert_int_equal(sn_call(q, sn_in(x, 100), sn_into(y, 100)), SN_OK);
    }
    sn_drop(p);
    sn_drop(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops),
        cmocka_unit_test(operands_stay_in_their_places),
        cmocka_unit_test(rounds),
        cmocka_unit_test(states),
        cmocka_unit_test(extents),
        cmocka_unit_test(choices),
        cmocka_unit_test(updates_in_place),
        cmocka_unit_test(from_outside),
        cmocka_unit_test(random_trees),
        cmocka_unit_test(texts),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
