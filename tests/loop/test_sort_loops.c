/* Sorts among loops: what is computed in their first passes, and that nothing else shares their loops. */
#include "clusters_text.h"

static const char of_map[] = "extents n\n"
                             "x = input [n]f32\n"
                             "y = map x {x: f32 -> x + 1.0f32}\n"
                             "s = sort keys 1 y\n"
                             "z = map s {x: f32 -> x * 2.0f32}\n"
                             "output z\n";

static const char of_dear_map[] = "extents n\n"
                                  "x = input [n]f32\n"
                                  "y = map x {x: f32 -> sin(exp(x))}\n"
                                  "s = sort keys 1 y\n"
                                  "output s\n";

static const char compared[] = "extents n\n"
                               "x = input [n]f32\n"
                               "y = map x {x: f32 -> sin(exp(x))}\n"
                               "s = sort y {a: f32, b: f32 -> a < b}\n"
                               "output s\n";

static const char two[] = "extents n\n"
                          "x = input [n]f32\n"
                          "s = sort keys 1 x\n"
                          "t = sort descending keys 1 x\n"
                          "m = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                          "output s, t, m\n";

static void producers_are_computed_in_the_first_pass(void **state)
{
    (void)state;
    expect(of_map, "cluster 0: sort over [n]\n"
                   "    a3 sort, stored\n"
                   "    reads argument 1 ([n]f32)\n"
                   "cluster 1: loop over [n]\n"
                   "    a4 map, stored\n"
                   "    reads a3 sort\n");
    expect(compared, "cluster 0: sort over [n]\n"
                     "    a3 sort, stored\n"
                     "    reads argument 1 ([n]f32)\n");
}

/* Digits are counted before elements move: keys are asked for twice. */
static void dear_producers_are_not(void **state)
{
    (void)state;
    expect(of_dear_map, "cluster 0: loop over [n]\n"
                        "    a2 map, stored\n"
                        "    reads argument 1 ([n]f32)\n"
                        "cluster 1: sort over [n]\n"
                        "    a3 sort, stored\n"
                        "    reads a2 map\n");
}

static void a_sort_is_alone(void **state)
{
    (void)state;
    expect(two, "cluster 0: sort over [n]\n"
                "    a2 sort, stored\n"
                "    reads argument 1 ([n]f32)\n"
                "    and 1 more like this one, the last is cluster 1\n"
                "cluster 2: fold loop over [n]\n"
                "    a4 fold, stored\n"
                "    reads argument 1 ([n]f32)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(producers_are_computed_in_the_first_pass, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(dear_producers_are_not, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(a_sort_is_alone, clusters_setup, clusters_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
