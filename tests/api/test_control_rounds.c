/* What loops of arrays compute how often: what is the same in all rounds once, before them, and rounds over stencils
 * several in one sweep. */
#include "both.h"
#include "counts.h"

#include <stdlib.h>
#include <string.h>

#define LENGTHS 0, 1, 2, 16, 33, 1000, 5000

static sn_scalar is_even(sn_scalar x)
{
    return sn_eq(sn_bit_and(x, 1), 0);
}

static sn_scalar root_of_abs(sn_scalar x)
{
    return sn_floor(sn_sqrt(sn_abs(x)));
}

static sn_scalar plus_scalar(void *env, sn_scalar x)
{
    return sn_add(x, *(sn_scalar *)env);
}

/* The sum is the same in all rounds. */
static sn_acc add_sum_of_roots(void *env, int count, const sn_acc *a)
{
    sn_scalar sum = sn_the(sn_sum(sn_map(root_of_abs, *(sn_acc *)env)));
    (void)count;
    return sn_map(sn_closure(plus_scalar, &sum), a[0]);
}

static sn_acc sum_in_rounds(sn_acc a, sn_acc w)
{
    return sn_aiterate(10, sn_body_of(add_sum_of_roots, &w, 1), a);
}

static sn_acc sums_within(void *env, int count, const sn_acc *a)
{
    (void)count;
    return sn_aiterate(3, sn_body_of(add_sum_of_roots, env, 1), a[0]);
}

static sn_acc sum_in_inner_rounds(sn_acc a, sn_acc w)
{
    return sn_aiterate(4, sn_body_of(sums_within, &w, 1), a);
}

static uint64_t launches_of(const char *signature, sn_body f)
{
    sn_context *cx = both_cpu();
    static float x[100], y[100];
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, f);
    assert_non_null(p);
    const uint64_t before = sn_counts(cx).launches;
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_in(x, 100), sn_into(y, 100)), SN_OK);
    const uint64_t after = sn_counts(cx).launches;
    sn_drop(p);
    return after - before;
}

/* So is what a filter keeps, and with it an extent, which other arrays of the round have, too. */
static sn_acc add_kept(void *env, int count, const sn_acc *a)
{
    sn_acc kept = sn_filter(is_even, *(sn_acc *)env), up = sn_fill(sn_size(kept), sn_the(a[0]));
    (void)count;
    return sn_zip_with(sn_add, sn_map(sn_to_i64, kept), sn_zip_min_with(sn_add, sn_take(sn_size(kept), a[1]), up));
}

static sn_acc kept_in_rounds(sn_acc a, sn_acc w)
{
    return sn_aloop(3, sn_body_of(add_kept, &w, 2), sn_append(sn_map(sn_to_i64, a), sn_iota(sn_size(w))));
}

static sn_acc keep_kept(void *env, int count, const sn_acc *a)
{
    (void)count, (void)a;
    return sn_filter(is_even, *(sn_acc *)env);
}

static sn_acc keeps_in_rounds(sn_acc n, sn_acc a, sn_acc w)
{
    return sn_aiterate(sn_the(n), sn_body_of(keep_kept, &w, 1), a);
}

static sn_acc scanned_in_rounds(void *env, int count, const sn_acc *a)
{
    sn_acc sums = sn_scanl1(sn_add, sn_filter(is_even, *(sn_acc *)env));
    (void)count;
    return sn_append(sn_take(5, a[0]), sn_aiterate(2, sn_body_of(keep_kept, &sums, 1), sums));
}

static sn_acc scans_in_rounds(sn_acc a, sn_acc w)
{
    return sn_aiterate(3, sn_body_of(scanned_in_rounds, &w, 1), a);
}

static void same_in_all_rounds(void **state)
{
    both("[n]i32, [m]i32 -> [k]i64", kept_in_rounds, NULL, SMALL, 0, 3, 3, 0, 1, 1, 2, 16, 33, 33, 1000, 5000);
    both("i32, [n]i32, [m]i32 -> [k]i32", keeps_in_rounds, NULL, SMALL, 0, 3, 3, 0, 1, 1, 2, 16, 33, 33, 1000, 5000);
    both("[n]i32, [m]i32 -> [k]i32", scans_in_rounds, NULL, SMALL, 0, 3, 3, 0, 1, 1, 2, 16, 33, 33, 1000, 5000);
    (void)state;
    both("[n]f32, [n]f32 -> [n]f32", sum_in_rounds, NULL, SMALL, LENGTHS);
    both("[n]f32, [n]f32 -> [n]f32", sum_in_inner_rounds, NULL, SMALL, LENGTHS);
    assert_int_equal(launches_of("[n]f32, [n]f32 -> [n]f32", SN_BODY(sum_in_rounds)), 11);
    assert_int_equal(launches_of("[n]f32, [n]f32 -> [n]f32", SN_BODY(sum_in_inner_rounds)), 13);
}

static sn_scalar cross(sn_scalar s)
{
    return sn_mul(sn_f32(0.25f),
                  sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1))));
}

static sn_acc jacobi_step(sn_acc a)
{
    return sn_stencil(cross, sn_pattern(3, 3), sn_clamp, a);
}

static sn_acc jacobi_so_often(sn_acc n, sn_acc a)
{
    return sn_aiterate(sn_the(n), jacobi_step, a);
}

static sn_acc jacobi_20(sn_acc a)
{
    return sn_aiterate(20, jacobi_step, a);
}

static sn_acc jacobi_1000(sn_acc a)
{
    return sn_aiterate(1000, jacobi_step, a);
}

/* Nodes of all programs within a program. */
static uint64_t inner_nodes(const sn_program *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->inside.n; i++)
        n += p->inside.at[i]->ir->node.n;
    return n;
}

static sn_acc jacobi_23(sn_acc a)
{
    return sn_aiterate(23, jacobi_step, a);
}

static sn_scalar cross_plus(void *env, sn_scalar s, sn_scalar t)
{
    return sn_add(cross(s), sn_mul(sn_at(t, 0, 0), *(sn_scalar *)env));
}

static sn_acc relaxed(void *env, int count, const sn_acc *a)
{
    sn_scalar k = sn_to_f32(sn_the(a[0]));
    (void)count;
    return sn_results(sn_stencil2(sn_closure(cross_plus, &k), sn_pattern(3, 3), sn_mirror, a[1], sn_pattern(1, 1),
                                  sn_clamp, *(sn_acc *)env),
                      a[1]);
}

static sn_acc relax_often(sn_acc a, sn_acc b)
{
    return sn_aloop(17, sn_body_of(relaxed, &b, 3), sn_results(a, b));
}

/* Several rounds over stencils are one sweep, and twenty are what a chain that is written out is. Where blocks are many
 * threads each round is a launch, as it is faster there. */
static void rounds_of_stencils(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    both("[n,m]f32 -> [n,m]f32", jacobi_20, NULL, SMALL, 1, 1, 3, 40, 33, 33, 70, 20, 20, 70);
    both("[n,m]f32 -> [n,m]f32", jacobi_23, NULL, SMALL, 5, 7, 33, 40, 33, 64);
    both("i32, [n,m]f32 -> [n,m]f32", jacobi_so_often, NULL, POSITIVE, 5, 7, 33, 40, 33, 64);
    both("[n,m]f32, [n,m]f32 -> [n,m]f32, [n,m]f32", relax_often, NULL, SMALL, 5, 7, 33, 40, 33, 64);
    static float x[40 * 70], y[40 * 70];
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", jacobi_20);
    const uint64_t before = sn_counts(cx).launches;
    assert_int_equal(sn_call(p, sn_in(x, 40, 70), sn_into(y, 40, 70)), SN_OK);
    assert_int_equal(sn_counts(cx).launches - before, on_cpu() ? 4 : 20); /* of five stencils, or of one */
    const uint64_t narrow = sn_counts(cx).launches;
    assert_int_equal(sn_call(p, sn_in(x, 40, 63), sn_into(y, 40, 63)), SN_OK);
    assert_int_equal(sn_counts(cx).launches - narrow,
                     20); /* rows are too short to be gone over several times at once */
    assert_non_null(strstr(sn_explain(p, "plan"), "repeat 20 times: plan 0.0, or 5 rounds at once: plan 0.1"));
    sn_drop(p);
    /* What is left over is done several rounds at once, too: of 23 rounds 5, of a number that the call tells 3 and 2.
     */
    p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", jacobi_23);
    assert_non_null(strstr(sn_explain(p, "plan"), "or 6 rounds at once: plan 0.1, or 5 rounds at once: plan 0.2"));
    sn_drop(p);
    p = sn_compile(cx, "i32, [n,m]f32 -> [n,m]f32", jacobi_so_often);
    const int32_t often[] = {23, 5, 1, 0, 6};
    const uint64_t sweeps[] = {3 + 2, 2, 1, 0, 1};
    for (size_t i = 0; i < ARRAY_LENGTH(often); i++) {
        const uint64_t first = sn_counts(cx).launches;
        assert_int_equal(sn_call(p, sn_value(&often[i]), sn_in(x, 40, 70), sn_into(y, 40, 70)), SN_OK);
        assert_int_equal(sn_counts(cx).launches - first, on_cpu() ? (int64_t)sweeps[i] : often[i]);
    }
    sn_drop(p);
    /* A thousand steps are made of what twenty are made of. */
    p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", jacobi_1000);
    sn_program *q = sn_compile(cx, "[n,m]f32 -> [n,m]f32", jacobi_20);
    assert_true(inner_nodes(p) < 2 * inner_nodes(q));
    sn_drop(p);
    sn_drop(q);
}
/* --- numbers that differ from round to round --- */

typedef struct number_env {
    sn_acc a;
    sn_scalar number;
} number_env;

static sn_scalar plus_number(void *env, sn_scalar i)
{
    const number_env *e = env;
    return sn_add(sn_index(e->a, i), sn_to_i32(e->number));
}

/* Before the element is added, so that each round is a launch. */
static sn_acc add_to_sums(sn_acc a, sn_scalar number)
{
    number_env e = {sn_scanl1(sn_add, a), number};
    return sn_generate(sn_size(a), sn_closure(plus_number, &e));
}

static sn_acc add_number(sn_acc k, sn_acc a)
{
    return add_to_sums(a, sn_mul(sn_the(k), 3));
}

static sn_acc add_quotient(sn_acc k, sn_acc a)
{
    return add_to_sums(a, sn_quot(1000, sn_sub(sn_the(k), 70)));
}

static sn_scalar far_away(void *env, sn_scalar i)
{
    const number_env *e = env;
    return sn_index(e->a, sn_rem(sn_mul(i, e->number), sn_size(e->a)));
}

/* Indices that fit in 32 bits in the first rounds, and do not later on. */
static sn_acc take_far(sn_acc k, sn_acc a)
{
    number_env e = {a, sn_mul(sn_the(k), INT64_C(1) << 22)};
    return sn_generate(sn_size(a), sn_closure(far_away, &e));
}

static sn_scalar beside(void *env, sn_scalar i)
{
    const number_env *e = env;
    return sn_index(e->a, sn_sub(sn_add(i, e->number), 70));
}

static sn_acc take_beside(sn_acc k, sn_acc a)
{
    number_env e = {a, sn_max(sn_the(k), 70)};
    return sn_generate(sn_size(a), sn_closure(beside, &e));
}

/* The number is an extent, too. */
static sn_acc add_to_first(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_min(sn_the(k), sn_size(a));
    return sn_append(add_to_sums(sn_take(n, a), sn_the(k)), sn_skip(n, a));
}

static sn_acc scaled_from_outside(void *env, int count, const sn_acc *a)
{
    (void)count;
    return add_to_sums(a[1], sn_mul(sn_the(a[0]), *(sn_scalar *)env));
}

static sn_acc number_from_outside(sn_acc k, sn_acc a)
{
    sn_scalar n = sn_the(k);
    return sn_aloop(3, sn_body_of(scaled_from_outside, &n, 2), a);
}

#define HUNDRED(name, round)                                                                                           \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        return sn_aloop(100, round, a);                                                                                \
    }
HUNDRED(numbers, add_number)
HUNDRED(quotients, add_quotient)
HUNDRED(far_elements, take_far)
HUNDRED(elements_beside, take_beside)
HUNDRED(first_elements, add_to_first)
HUNDRED(numbers_from_outside, number_from_outside)

/* Rounds find what the first ones have found out, but the values of arguments. */
static void numbers_of_rounds(void **state)
{
    (void)state;
    both("[n]i32 -> [n]i32", numbers, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", quotients, NULL, SMALL, 0, 1, 33); /* fails in round 70 */
    both("[n]i32 -> [n]i32", far_elements, NULL, SMALL, 1, 33, 5000);
    both("[n]i32 -> [n]i32", elements_beside, NULL, SMALL, 0, 1, 33); /* fails in round 71 */
    both("[n]i32 -> [n]i32", first_elements, NULL, SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", numbers_from_outside, NULL, SMALL, LENGTHS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_in_all_rounds), cmocka_unit_test(rounds_of_stencils),
                                       cmocka_unit_test(numbers_of_rounds)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
