/* Plans as text: what is evaluated, checked, allocated, launched and freed, in which order and how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_text.h"

static void rounds_of_sorts(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n](u32, f32)\n"
            "a2 = sort keys 1 a1\n"
            "output a2\n",
            &plan_vectors,
            "plan: 1 clusters, 0 buffers between them\n"
            "    alloc state s0\n"
            "    alloc spare a2.0 (sort): u32[n]\n"
            "    alloc spare a2.1 (sort): f32[n]\n"
            "    launch cluster 0 over [n]: pieces\n"
            "        reads parameter a1.0 (input)\n"
            "        reads parameter a1.1 (input)\n"
            "        writes result a2.0 (sort)\n"
            "        writes result a2.1 (sort)\n"
            "    rounds while not sorted\n"
            "        launch cluster 0 over [n]: count digits\n"
            "            updates state s0\n"
            "        launch cluster 0 over [n]: places of digits\n"
            "            updates state s0\n"
            "        launch cluster 0 over [n]: move to places\n"
            "            updates state s0\n"
            "            writes by turns result a2.0 (sort)\n"
            "            writes by turns result a2.1 (sort)\n"
            "        launch cluster 0 over [n]: sort what has one digit\n"
            "            updates state s0\n"
            "            writes result a2.0 (sort)\n"
            "            writes result a2.1 (sort)\n"
            "    free spare a2.0 (sort)\n"
            "    free spare a2.1 (sort)\n"
            "    free state s0\n");
    plan_is("extents n\n"
            "a1 = input [n]i32\n"
            "a2 = sort a1 {a: i32, b: i32 -> a > b}\n"
            "output a2\n",
            &plan_threads,
            "plan: 1 clusters, 0 buffers between them\n"
            "    alloc state s0\n"
            "    alloc spare a2 (sort): i32[n]\n"
            "    launch cluster 0 over [n]: pieces\n"
            "        reads parameter a1 (input)\n"
            "        writes result a2 (sort)\n"
            "    rounds while not sorted\n"
            "        launch cluster 0 over [n]: cut pairs of runs\n"
            "            updates state s0\n"
            "        launch cluster 0 over [n]: merge pairs of runs\n"
            "            updates state s0\n"
            "            writes by turns result a2 (sort)\n"
            "    free spare a2 (sort)\n"
            "    free state s0\n");
}

static void a_loop_of_elements_is_one_launch(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n]f32\n"
            "a2 = map a1 {x: f32 -> x * x}\n"
            "output a2\n",
            &plan_vectors,
            "plan: 1 clusters, 0 buffers between them\n"
            "    launch cluster 0 over [n]\n"
            "        reads parameter a1 (input)\n"
            "        writes result a2 (map)\n");
}

static void a_fold_is_launched_until_one_a_row_is_left(void **state)
{
    (void)state;
    plan_is("extents n, m\n"
            "a1 = input [n, m]f32\n"
            "a2 = fold commutes a1 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
            "output a2\n",
            &plan_vectors,
            "plan: 1 clusters, 0 buffers between them\n"
            "    alloc partials a2 (fold): f32[n, left]\n"
            "    launch cluster 0 over [n, m]: pieces\n"
            "        reads parameter a1 (input)\n"
            "        writes partials a2 (fold)\n"
            "        writes result a2 (fold)\n"
            "    rounds while left > 1\n"
            "        alloc next partials a2 (fold): f32[n, left]\n"
            "        launch cluster 0 over [n, left]: combine\n"
            "            reads partials a2 (fold)\n"
            "            writes next partials a2 (fold)\n"
            "            writes result a2 (fold)\n"
            "        swap partials a2 (fold), next partials a2 (fold)\n"
            "        free next partials a2 (fold)\n"
            "    free partials a2 (fold)\n");
}

/* An extent that a kernel computes is read when its loop is over; what has it waits so long. */
static void extents_from_data_wait_for_their_loop(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n]i64\n"
            "a2 = fold commutes a1 seed 0 {x: i64, y: i64 -> x + y}\n"
            "a3 = generate [a2[]] {i: i64 -> i * i}\n"
            "output a3\n",
            &plan_vectors,
            "plan: 2 clusters, 1 buffers between them\n"
            "    alloc buffer a2 (fold): i64[]\n"
            "    alloc partials a2 (fold): i64[left]\n"
            "    launch cluster 0 over [n]: pieces\n"
            "        reads parameter a1 (input)\n"
            "        writes partials a2 (fold)\n"
            "        writes buffer a2 (fold)\n"
            "    rounds while left > 1\n"
            "        alloc next partials a2 (fold): i64[left]\n"
            "        launch cluster 0 over [left]: combine\n"
            "            reads partials a2 (fold)\n"
            "            writes next partials a2 (fold)\n"
            "            writes buffer a2 (fold)\n"
            "        swap partials a2 (fold), next partials a2 (fold)\n"
            "        free next partials a2 (fold)\n"
            "    free partials a2 (fold)\n"
            "    h1 = a2.0[]\n"
            "    result 0 has the shape [h1]\n"
            "    launch cluster 1 over [h1]\n"
            "        reads buffer a2 (fold)\n"
            "        writes result a3 (generate)\n");
}

/* What a permute combines into begins with the defaults. */
static void defaults_are_copied_first(void **state)
{
    (void)state;
    plan_is("extents n, m\n"
            "a1 = input [n]f32\n"
            "a2 = input [n]i64\n"
            "a3 = input [m]f32\n"
            "a4 = permute a3, a2, a1 {x: f32, y: f32 -> x + y}\n"
            "output a4\n",
            &plan_vectors,
            "plan: 1 clusters, 0 buffers between them\n"
            "    copy to result a4 (permute) from parameter a3 (input)\n"
            "    alloc state s0\n"
            "    launch cluster 0 over [n]: pieces\n"
            "        reads parameter a2 (input)\n"
            "        reads parameter a1 (input)\n"
            "        reads parameter a3 (input)\n"
            "        updates state s0\n"
            "        updates result a4 (permute)\n"
            "    launch cluster 0 over [n]: totals of blocks\n"
            "        updates state s0\n"
            "        updates result a4 (permute)\n"
            "    free state s0\n");
}

/* The extent of what a filter keeps is read at the end, if nothing needs it before. */
static void a_pack_has_room_for_all(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n]f32\n"
            "a2 = map a1 {x: f32 -> x > 0.0f32}\n"
            "a3 = pack a2, a1\n"
            "output a3\n",
            &plan_vectors,
            "plan: 1 clusters, 1 buffers between them\n"
            "    alloc buffer a4 (fold): i64[]\n"
            "    alloc result a5 (pack): at most f32[n]\n"
            "    alloc state s0\n"
            "    clear state s0\n"
            "    launch cluster 0 over [n]\n"
            "        reads parameter a1 (input)\n"
            "        updates state s0\n"
            "        writes buffer a4 (fold)\n"
            "        writes result a5 (pack)\n"
            "    free state s0\n"
            "    h1 = a4.0[]\n"
            "    result 0 has the shape [h1]\n");
}

/* The same without parameters: the count of what is kept comes first. */
static void a_pack_of_what_is_generated(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = generate [n] {i: i64 -> i}\n"
            "a2 = map a1 {x: i64 -> rem(x, 3) == 0}\n"
            "a3 = pack a2, a1\n"
            "output a3\n",
            &plan_vectors,
            "plan: 1 clusters, 1 buffers between them\n"
            "    alloc buffer a4 (fold): i64[]\n"
            "    alloc result a5 (pack): at most i64[n]\n"
            "    alloc state s0\n"
            "    clear state s0\n"
            "    launch cluster 0 over [n]\n"
            "        updates state s0\n"
            "        writes buffer a4 (fold)\n"
            "        writes result a5 (pack)\n"
            "    free state s0\n"
            "    h1 = a4.0[]\n"
            "    result 0 has the shape [h1]\n");
}

/* Folds that share a loop hand on what each has left; what the first launch stores is no business of the rounds. */
static void rounds_combine_all_folds_of_a_loop(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n]f32\n"
            "a2 = map a1 {x: f32 -> x * x}\n"
            "a3 = fold commutes a1 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
            "a4 = fold commutes a1 seed 1.0f32 {x: f32, y: f32 -> x * y}\n"
            "output a2, a3, a4\n",
            &plan_threads,
            "plan: 1 clusters, 0 buffers between them\n"
            "    alloc partials a3 (fold): f32[left]\n"
            "    alloc partials a4 (fold): f32[left]\n"
            "    launch cluster 0 over [n]: pieces\n"
            "        reads parameter a1 (input)\n"
            "        writes partials a3 (fold)\n"
            "        writes partials a4 (fold)\n"
            "        writes result a2 (map)\n"
            "        writes result a3 (fold)\n"
            "        writes result a4 (fold)\n"
            "    rounds while left > 1\n"
            "        alloc next partials a3 (fold): f32[left]\n"
            "        alloc next partials a4 (fold): f32[left]\n"
            "        launch cluster 0 over [left]: combine\n"
            "            reads partials a3 (fold)\n"
            "            reads partials a4 (fold)\n"
            "            writes next partials a3 (fold)\n"
            "            writes next partials a4 (fold)\n"
            "            writes result a3 (fold)\n"
            "            writes result a4 (fold)\n"
            "        swap partials a3 (fold), next partials a3 (fold)\n"
            "        swap partials a4 (fold), next partials a4 (fold)\n"
            "        free next partials a3 (fold)\n"
            "        free next partials a4 (fold)\n"
            "    free partials a3 (fold)\n"
            "    free partials a4 (fold)\n");
}

static void states_are_found_in_rounds_where_pieces_do_not_wait(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n]f32\n"
            "a2 = map a1 {x: f32 -> x > 0.0f32}\n"
            "a3 = pack a2, a1\n"
            "output a3\n",
            &plan_threads,
            "plan: 1 clusters, 1 buffers between them\n"
            "    alloc buffer a4 (fold): i64[]\n"
            "    alloc result a5 (pack): at most f32[n]\n"
            "    alloc state s0\n"
            "    clear state s0\n"
            "    launch cluster 0 over [n]: sums of pieces\n"
            "        reads parameter a1 (input)\n"
            "        updates state s0\n"
            "    launch cluster 0 over [n]: states before pieces\n"
            "        updates state s0\n"
            "    launch cluster 0 over [n]: pieces with states\n"
            "        reads parameter a1 (input)\n"
            "        updates state s0\n"
            "        writes buffer a4 (fold)\n"
            "        writes result a5 (pack)\n"
            "    free state s0\n"
            "    h1 = a4.0[]\n"
            "    result 0 has the shape [h1]\n");
}

/* A loop over what is kept is launched when it is known how much that is; another loop before it is not waited for. */
static void a_loop_over_what_is_kept_waits_for_the_count(void **state)
{
    (void)state;
    plan_is("extents n, m\n"
            "a1 = input [n]f32\n"
            "a2 = input [m]i32\n"
            "a3 = map a1 {x: f32 -> x > 0.0f32}\n"
            "a4 = pack a3, a1\n"
            "a5 = force a4\n"
            "a6 = map a2 {x: i32 -> x + 1i32}\n"
            "a7 = backpermute safe [m] a6 {i: i64 -> m - 1 - i}\n"
            "a8 = force a7\n"
            "output a5, a8\n",
            &plan_vectors,
            "plan: 3 clusters, 2 buffers between them\n"
            "    alloc buffer a5 (fold): i64[]\n"
            "    alloc buffer a6 (pack): at most f32[n]\n"
            "    alloc state s0\n"
            "    clear state s0\n"
            "    launch cluster 0 over [n]\n"
            "        reads parameter a1 (input)\n"
            "        updates state s0\n"
            "        writes buffer a5 (fold)\n"
            "        writes buffer a6 (pack)\n"
            "    free state s0\n"
            "    launch cluster 1 over [m]\n"
            "        reads parameter a2 (input)\n"
            "        writes result a10 (force)\n"
            "    h2 = a5.0[]\n"
            "    result 0 has the shape [h2]\n"
            "    launch cluster 2 over [h2]\n"
            "        reads buffer a6 (pack)\n"
            "        reads buffer a5 (fold)\n"
            "        writes result a7 (force)\n"
            "    free buffer a6 (pack)\n");
}

static void a_pack_of_a_pack_has_room_for_what_is_kept_first(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n]f32\n"
            "a2 = map a1 {x: f32 -> x > 0.0f32}\n"
            "a3 = pack a2, a1\n"
            "a4 = force a3\n"
            "a5 = map a4 {x: f32 -> x < 1.0f32}\n"
            "a6 = pack a5, a4\n"
            "output a6\n",
            &plan_vectors,
            "plan: 3 clusters, 4 buffers between them\n"
            "    alloc buffer a4 (fold): i64[]\n"
            "    alloc buffer a5 (pack): at most f32[n]\n"
            "    alloc state s0\n"
            "    clear state s0\n"
            "    launch cluster 0 over [n]\n"
            "        reads parameter a1 (input)\n"
            "        updates state s0\n"
            "        writes buffer a4 (fold)\n"
            "        writes buffer a5 (pack)\n"
            "    free state s0\n"
            "    h1 = a4.0[]\n"
            "    alloc buffer a6 (force): f32[h1]\n"
            "    launch cluster 1 over [h1]\n"
            "        reads buffer a5 (pack)\n"
            "        reads buffer a4 (fold)\n"
            "        writes buffer a6 (force)\n"
            "    free buffer a5 (pack)\n"
            "    alloc buffer a9 (fold): i64[]\n"
            "    alloc result a10 (pack): at most f32[h1]\n"
            "    alloc state s2\n"
            "    clear state s2\n"
            "    launch cluster 2 over [h1]\n"
            "        reads buffer a6 (force)\n"
            "        reads buffer a4 (fold)\n"
            "        updates state s2\n"
            "        writes buffer a9 (fold)\n"
            "        writes result a10 (pack)\n"
            "    free state s2\n"
            "    free buffer a6 (force)\n"
            "    h2 = a9.0[]\n"
            "    result 0 has the shape [h2]\n");
}

static void loops_of_arrays(void **state)
{
    (void)state;
    plan_is("extents n, m\n"
            "a1 = input [n]f32\n"
            "a2 = input [n](f32, i32)\n"
            "a3 = input [m]f32\n"
            "a4 = aiterate: control repeat 2 (a1, a2, a3) values (n * 2, n)\n"
            "    region rounds 1 index 0 inputs (0, 1, 2) values (1) extents (0) results (0, 1) {\n"
            "extents n, m\n"
            "a1 = input [n]f32\n"
            "a2 = input [n](f32, i32)\n"
            "a3 = input [m]f32\n"
            "a4 = map a1, a2 {x: f32, y: f32, z: i32 -> x + y * f32(z)}\n"
            "a5 = map a2, a1 {y: f32, z: i32, x: f32 -> y * x, z + 1i32}\n"
            "output a4, a5\n"
            "    }\n"
            "a5 = aiterate: part 0 [n] a4\n"
            "a6 = aiterate: part 1 [n] a4\n"
            "output a5, a6\n",
            &plan_vectors,
            "plan: 1 clusters, 0 buffers between them\n"
            "    h3 = mul n, 2\n"
            "    repeat h3 times: plan 0.0\n"
            "        begins with parameter a1 (input)\n"
            "        begins with parameter a2.0 (input)\n"
            "        uses parameter a3 (input)\n"
            "        gives result a5 (aiterate)\n"
            "        gives result a6.0 (aiterate)\n");
}

static void choices_of_arrays(void **state)
{
    (void)state;
    plan_is("extents n\n"
            "a1 = input [n]f32\n"
            "a2 = c: control choice 1 (a1) values (n > 5, n)\n"
            "    region rounds 1 index 0 inputs (0) values (1) extents (0) results (0) {\n"
            "extents n\n"
            "a1 = input [n]f32\n"
            "a2 = map a1 {x: f32 -> x * 2.0f32}\n"
            "output a2\n"
            "    }\n"
            "    region rounds 1 index 0 inputs (0) values (1) extents (0) results (0) {\n"
            "extents n\n"
            "a1 = input [n]f32\n"
            "a2 = map a1 {x: f32 -> x + 2.0f32}\n"
            "output a2\n"
            "    }\n"
            "a3 = c: part 0 [n] a2\n"
            "output a3\n",
            &plan_vectors,
            "plan: 1 clusters, 0 buffers between them\n"
            "    h2 = gt n, 5\n"
            "    if h2: plan 0.0, else plan 0.1\n"
            "        uses parameter a1 (input)\n"
            "        gives result a3 (c)\n");
}

/* Loops that may be launched at the same time. */
static void loops_apart(void **state)
{
    static const struct {
        const char *terms;
        bool apart, shares; /* shares: some loops read the same, as far from the parameters as each other */
    } cases[] = {
        {"extents n\na = input [n]f32\nb = map a {x: f32 -> x + 1.0f32}\nc = map b {x: f32 -> x * 2.0f32}\noutput c",
         false, false},
        {"extents n\na = input [n]f32\nb = map a {x: f32 -> x + 1.0f32}\nc = map b {x: f32 -> x * 2.0f32}\n"
         "d = map a, c {x: f32, y: f32 -> x * y}\noutput d",
         false, false},
        {"extents n, m\na = input [n]f32\nb = input [m]f32\nc = map a {x: f32 -> x + 1.0f32}\n"
         "d = map b {x: f32 -> x * 2.0f32}\noutput c\noutput d",
         true, false},
        {"extents n\na = input [n]f32\nb = map a {x: f32 -> x + 1.0f32}\nc = map a {x: f32 -> x * 2.0f32}\noutput "
         "b\noutput c",
         true, true},
        {"extents n\na = input [n]f32\nb = map a {x: f32 -> x + 1.0f32}\nc = map b {x: f32 -> x * 2.0f32}\n"
         "d = map b {x: f32 -> x - 1.0f32}\noutput c\noutput d",
         true, true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        arena a;
        arena_init(&a, NULL);
        const plan *p = plan_of(&a, cases[i].terms, &plan_vectors, true);
        bool shares = false;
        for (uint32_t k = 0; k < p->cluster.n; k++)
            shares |= p->cluster.at[k].shares;
        assert_int_equal(p->apart, cases[i].apart);
        assert_int_equal(shares, cases[i].shares);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_of_sorts),
        cmocka_unit_test(loops_of_arrays),
        cmocka_unit_test(choices_of_arrays),
        cmocka_unit_test(loops_apart),
        cmocka_unit_test(a_loop_of_elements_is_one_launch),
        cmocka_unit_test(a_fold_is_launched_until_one_a_row_is_left),
        cmocka_unit_test(extents_from_data_wait_for_their_loop),
        cmocka_unit_test(defaults_are_copied_first),
        cmocka_unit_test(a_pack_has_room_for_all),
        cmocka_unit_test(a_pack_of_what_is_generated),
        cmocka_unit_test(rounds_combine_all_folds_of_a_loop),
        cmocka_unit_test(states_are_found_in_rounds_where_pieces_do_not_wait),
        cmocka_unit_test(a_loop_over_what_is_kept_waits_for_the_count),
        cmocka_unit_test(a_pack_of_a_pack_has_room_for_what_is_kept_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
