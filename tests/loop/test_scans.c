/* Loops with scans and packs: what shares them, and what cannot. */
#include "clusters_text.h"

static const char filter[] = "extents n\n"
                             "x = input [n]f32\n"
                             "p = map x {x: f32 -> x > 0.0f32}\n"
                             "k = pack p, x\n"
                             "output k\n";

static const char filter_and_maximum[] = "extents n\n"
                                         "x = input [n]f32\n"
                                         "inc = map x {x: f32 -> x + 1.0f32}\n"
                                         "z = generate [n] {i: i64 -> 0.0f32}\n"
                                         "p = map inc, z {x: f32, y: f32 -> x > y}\n"
                                         "k = pack p, inc\n"
                                         "g = map p, inc {p: bool, x: f32 -> if p then x else -inf_f32}\n"
                                         "m = fold commutes g seed 0.0f32 {x: f32, y: f32 -> max(x, y)}\n"
                                         "output k, m\n";

static const char indices[] = "extents n\n"
                              "x = input [n]f32\n"
                              "g = generate [n] {i: i64 -> rem(i, 3) == 0}\n"
                              "v = generate [n] {i: i64 -> i * i}\n"
                              "k = pack g, v\n"
                              "output k\n";

static const char of_one_array[] =
    "extents n\n"
    "x = input [n]f32\n"
    "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
    "ones = map x {x: f32 -> if x > 0.0f32 then 1 else 0}\n"
    "c = fold commutes ones seed 0 {x: i64, y: i64 -> x + y}\n"
    "sc = scan x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
    "i = map indexed x {c: i64, v: f32 -> v, c}\n"
    "best = fold i {a: f32, b: i64, c: f32, d: i64 -> if a >= c then a else c, if a >= c then b else d}\n"
    "output s, c, sc, best\n";

static const char percentages[] = "extents n\n"
                                  "x = input [n]f32\n"
                                  "t = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                  "r = map x {x: f32 -> x * 100.0f32 / t[]}\n"
                                  "output r\n";

static const char columns[] = "extents n, m, k\n"
                              "x = input [n, m, k]i32\n"
                              "s = scan behind 1 x {x: i32, y: i32 -> x + y}\n"
                              "t = scan behind 2 x {x: i32, y: i32 -> x + y}\n"
                              "output s, t\n";

static void scans_along_other_dimensions(void **state)
{
    (void)state;
    expect(columns, "cluster 0: row loop over [n, m, k], along dimension 1, 1 sweep\n"
                    "    a2 scan, scan in sweep 0, stored\n"
                    "    reads argument 1 ([n,m,k]i32)\n"
                    "cluster 1: row loop over [n, m, k], along dimension 0, 1 sweep\n"
                    "    a3 scan, scan in sweep 0, stored\n"
                    "    reads argument 1 ([n,m,k]i32)\n");
}

/* With the number of elements that it keeps. */
static void a_filter_is_one_loop(void **state)
{
    (void)state;
    expect(filter, "cluster 0: row loop over [n], 1 sweep\n"
                   "    a2 map, element in sweep 0\n"
                   "    a5 pack, fold in sweep 0, stored\n"
                   "    a5 pack, pack in sweep 0, stored\n"
                   "    reads argument 1 ([n]f32)\n");
    expect(filter_and_maximum, "cluster 0: row loop over [n], 1 sweep\n"
                               "    a4 map, element in sweep 0\n"
                               "    a7 pack, fold in sweep 0, stored\n"
                               "    a7 pack, pack in sweep 0, stored\n"
                               "    a9 fold, fold in sweep 0, stored\n"
                               "    reads argument 1 ([n]f32)\n");
    expect(indices, "cluster 0: row loop over [n], 1 sweep\n"
                    "    a2 generate, element in sweep 0\n"
                    "    a6 pack, fold in sweep 0, stored\n"
                    "    a6 pack, pack in sweep 0, stored\n");
    expect_edges(filter, "argument 1 ([n]f32) -> a2 map: read: an argument of the program\n"
                         "a2 map -> a5 pack: fused: one loop, passed in a register\n"
                         "argument 1 ([n]f32) -> a5 pack: read: an argument of the program\n");
}

/* Whatever their trees. What needs the whole array first is another. */
static void folds_and_scans_of_one_array_are_one_loop(void **state)
{
    (void)state;
    expect(of_one_array, "cluster 0: row loop over [n], 1 sweep\n"
                         "    a2 fold, fold in sweep 0, stored\n"
                         "    a4 fold, fold in sweep 0, stored\n"
                         "    a5 scan, scan in sweep 0, stored\n"
                         "    a7 fold, fold in sweep 0, stored\n"
                         "    reads argument 1 ([n]f32)\n");
    expect(percentages, "cluster 0: fold loop over [n]\n"
                        "    a2 fold, stored\n"
                        "    reads argument 1 ([n]f32)\n"
                        "cluster 1: loop over [n]\n"
                        "    a3 map, stored\n"
                        "    reads argument 1 ([n]f32)\n"
                        "    reads a2 fold\n");
}

static const char kept_later[] = "extents n\n"
                                 "x = input [n]f32\n"
                                 "t = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                 "r = map x {x: f32 -> x / t[]}\n"
                                 "p = map x {x: f32 -> x > 0.0f32}\n"
                                 "k = pack p, r\n"
                                 "k2 = pack p, x\n"
                                 "z = map k, k2 {x: f32, y: f32 -> x + y}\n"
                                 "zs = fold commutes z seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                 "output k, z, zs\n";

static void the_count_is_known_as_early_as_possible(void **state)
{
    (void)state;
    expect(kept_later, "cluster 0: row loop over [n], 1 sweep\n"
                       "    a2 fold, fold in sweep 0, stored\n"
                       "    a4 map, element in sweep 0, stored\n"
                       "    a8 pack, fold in sweep 0, stored\n"
                       "    a8 pack, pack in sweep 0, stored\n"
                       "    reads argument 1 ([n]f32)\n"
                       "cluster 1: row loop over [n], 1 sweep\n"
                       "    a7 pack, pack in sweep 0, stored\n"
                       "    reads a4 map\n"
                       "    reads argument 1 ([n]f32)\n"
                       "    reads a2 fold\n"
                       "cluster 2: fold loop over [a6[]]\n"
                       "    a9 map, stored\n"
                       "    a10 fold, stored\n"
                       "    reads a7 pack\n"
                       "    reads a8 pack\n"
                       "    reads a8 pack\n");
}

static const char both_ways[] = "extents n\n"
                                "x = input [n]f32\n"
                                "r = scan right x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                "l = scan x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                "d = map l, r {x: f32, y: f32 -> x - y}\n"
                                "m = map r {x: f32 -> x * 2.0f32}\n"
                                "output d, s, m\n";

static const char right_and_left[] = "extents n\n"
                                     "x = input [n]f32\n"
                                     "y = map x {x: f32 -> exp(exp(x))}\n"
                                     "r = scan right y seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                     "s = fold commutes y seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                     "l = scan exclusive y seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                     "r2 = scan exclusive right y seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                     "q = map r, l {x: f32, y: f32 -> x + y}\n"
                                     "t = fold commutes q seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                     "w = scan r {x: f32, y: f32 -> x * y}\n"
                                     "output s, r2, t, w\n";

static void scans_from_the_right_have_loops_of_their_own(void **state)
{
    (void)state;
    expect(both_ways, "cluster 0: row loop over [n], 1 sweep\n"
                      "    a3 scan, scan in sweep 0, stored\n"
                      "    a4 fold, fold in sweep 0, stored\n"
                      "    reads argument 1 ([n]f32)\n"
                      "cluster 1: row loop over [n], from the right, 1 sweep\n"
                      "    a2 scan, scan in sweep 0\n"
                      "    a5 map, element in sweep 0, stored\n"
                      "    a6 map, element in sweep 0, stored\n"
                      "    reads argument 1 ([n]f32)\n"
                      "    reads a3 scan\n");
    expect(right_and_left, "cluster 0: row loop over [n], from the right, 1 sweep\n"
                           "    a2 map, element in sweep 0, stored\n"
                           "    a3 scan, scan in sweep 0, stored\n"
                           "    a6 scan, scan in sweep 0, stored\n"
                           "    reads argument 1 ([n]f32)\n"
                           "cluster 1: row loop over [n], 1 sweep\n"
                           "    a4 fold, fold in sweep 0, stored\n"
                           "    a5 scan, scan in sweep 0\n"
                           "    a8 fold, fold in sweep 0, stored\n"
                           "    a9 scan, scan in sweep 0, stored\n"
                           "    reads a2 map\n"
                           "    reads a3 scan\n");
    expect_edges(both_ways,
                 "argument 1 ([n]f32) -> a2 scan: read: an argument of the program\n"
                 "    and 1 more like this one, the last is argument 1 ([n]f32) -> a3 scan\n"
                 "argument 1 ([n]f32) -> a4 fold: read: an argument of the program\n"
                 "a3 scan -> a5 map: not fused: the loops are of different kinds (combination tree, neighbourhood)\n"
                 "a2 scan -> a5 map: fused: one loop, passed in a register\n"
                 "    and 1 more like this one, the last is a2 scan -> a6 map\n");
}

static void large_loops_are_cut(void **state)
{
    (void)state;
    expect_with((l_options){.rows = true, .cap = 8}, of_one_array,
                "cluster 0: fold loop over [n]\n"
                "    a2 fold, stored\n"
                "    reads argument 1 ([n]f32)\n"
                "cluster 1: loop over [n]\n"
                "    a3 map, stored\n"
                "    reads argument 1 ([n]f32)\n"
                "cluster 2: row loop over [n], 1 sweep\n"
                "    a4 fold, fold in sweep 0, stored\n"
                "    a5 scan, scan in sweep 0, stored\n"
                "    reads a3 map\n"
                "    reads argument 1 ([n]f32)\n"
                "cluster 3: ordered fold loop over [n]\n"
                "    a7 fold, stored\n"
                "    reads argument 1 ([n]f32)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_filter_is_one_loop, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(scans_along_other_dimensions, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(folds_and_scans_of_one_array_are_one_loop, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(the_count_is_known_as_early_as_possible, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(scans_from_the_right_have_loops_of_their_own, clusters_setup,
                                        clusters_teardown),
        cmocka_unit_test_setup_teardown(large_loops_are_cut, clusters_setup, clusters_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
