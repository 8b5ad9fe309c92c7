/* Plans as text: what is evaluated, checked, allocated, launched and freed, in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_text.h"

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
            "    launch cluster 0 over [n, m]\n"
            "        rounds: pieces, combine until one a row\n"
            "        reads parameter a1 (input)\n"
            "        writes result a2 (fold)\n");
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
            "    launch cluster 0 over [n]\n"
            "        rounds: pieces, combine until one a row\n"
            "        reads parameter a1 (input)\n"
            "        writes buffer a2 (fold)\n"
            "    h1 = a2.0[]\n"
            "    result 0 has the shape [h1]\n"
            "    launch cluster 1 over [h1]\n"
            "        reads buffer a2 (fold)\n"
            "        writes result a3 (generate)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_of_elements_is_one_launch),
        cmocka_unit_test(a_fold_is_launched_until_one_a_row_is_left),
        cmocka_unit_test(extents_from_data_wait_for_their_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
