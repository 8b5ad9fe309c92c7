/* Folds along rows and what reads their results in the same rows: one loop of several sweeps. */
#include "clusters_text.h"

/* --- folds and the elements of the same rows --- */

static const char softmax[] = "extents n, m\n"
                              "x = input [n, m]f32\n"
                              "top = fold commutes x seed -inf_f32 {x: f32, y: f32 -> max(x, y)}\n"
                              "tops = replicate: backpermute safe [n, m] top {i: i64, j: i64 -> i}\n"
                              "e = map x, tops {x: f32, y: f32 -> exp(x - y)}\n"
                              "sum = fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                              "sums = replicate: backpermute safe [n, m] sum {i: i64, j: i64 -> i}\n"
                              "r = map e, sums {x: f32, y: f32 -> x / y}\n"
                              "output r\n";

/* The exponentials are kept where that is cheaper than computing them again. Few rows would not keep the workers busy.
 */
static void softmax_is_one_loop(void **state)
{
    (void)state;
    expect(softmax, "cluster 0: row loop over [n, m], 3 sweeps\n"
                    "    a2 fold, fold in sweep 0\n"
                    "    a4 map, element in sweep 1, kept in cache or computed again later\n"
                    "    a5 fold, fold in sweep 1\n"
                    "    a7 map, element in sweep 2, stored\n"
                    "    reads argument 1 ([n,m]f32)\n");
    expect_with((l_options){.rows = true, .large = true}, softmax,
                "cluster 0: row loop over [n, m], 3 sweeps\n"
                "    a2 fold, fold in sweep 0\n"
                "    a5 fold, fold in sweep 1\n"
                "    a7 map, element in sweep 2, stored\n"
                "    reads argument 1 ([n,m]f32)\n");
    expect_with((l_options){.rows = true, .one_sweep = true}, softmax,
                "cluster 0: fold loop over [n, m]\n"
                "    a2 fold, stored\n"
                "    reads argument 1 ([n,m]f32)\n"
                "cluster 1: fold loop over [n, m]\n"
                "    a4 map, stored\n"
                "    a5 fold, stored\n"
                "    reads argument 1 ([n,m]f32)\n"
                "    reads a2 fold\n"
                "cluster 2: loop over [n, m]\n"
                "    a7 map, stored\n"
                "    reads a4 map\n"
                "    reads a5 fold\n");
    expect_with((l_options){0}, softmax,
                "cluster 0: fold loop over [n, m]\n"
                "    a2 fold, stored\n"
                "    reads argument 1 ([n,m]f32)\n"
                "cluster 1: fold loop over [n, m]\n"
                "    a4 map, stored\n"
                "    a5 fold, stored\n"
                "    reads argument 1 ([n,m]f32)\n"
                "    reads a2 fold\n"
                "cluster 2: loop over [n, m]\n"
                "    a7 map, stored\n"
                "    reads a4 map\n"
                "    reads a5 fold\n");
    expect_edges(softmax, "argument 1 ([n,m]f32) -> a2 fold: read: an argument of the program\n"
                          "a2 fold -> a3 replicate: fused: one loop over rows, for a later sweep over the same row\n"
                          "    and 1 more like this one, the last is a5 fold -> a6 replicate\n"
                          "argument 1 ([n,m]f32) -> a4 map: read: an argument of the program\n"
                          "a3 replicate -> a4 map: fused: computed where it is used\n"
                          "    and 1 more like this one, the last is a6 replicate -> a7 map\n"
                          "a4 map -> a5 fold: fused: one loop, passed in a register\n"
                          "a4 map -> a7 map: fused: one loop over rows, for a later sweep over the same row\n");
}

static const char standardised[] = "extents n, m\n"
                                   "x = input [n, m]f32\n"
                                   "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                   "mean = map s {x: f32 -> x / f32(m)}\n"
                                   "means = replicate: backpermute safe [n, m] mean {i: i64, j: i64 -> i}\n"
                                   "d = map x, means {x: f32, y: f32 -> x - y}\n"
                                   "d2 = map d {x: f32 -> x * x}\n"
                                   "v = fold commutes d2 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                   "sd = map v {x: f32 -> sqrt(x / f32(m))}\n"
                                   "sds = replicate: backpermute safe [n, m] sd {i: i64, j: i64 -> i}\n"
                                   "r = map d, sds {x: f32, y: f32 -> x / y}\n"
                                   "output r, mean\n";

static void what_is_made_of_fold_results_is_computed_once_a_row(void **state)
{
    (void)state;
    expect(standardised, "cluster 0: row loop over [n, m], 3 sweeps\n"
                         "    a2 fold, fold in sweep 0\n"
                         "    a3 map, once a row before sweep 1, stored\n"
                         "    a7 fold, fold in sweep 1\n"
                         "    a8 map, once a row before sweep 2\n"
                         "    a10 map, element in sweep 2, stored\n"
                         "    reads argument 1 ([n,m]f32)\n");
    expect_edges(standardised,
                 "argument 1 ([n,m]f32) -> a2 fold: read: an argument of the program\n"
                 "a2 fold -> a3 map: fused: one loop over rows, for a later sweep over the same row\n"
                 "    and 1 more like this one, the last is a7 fold -> a8 map\n"
                 "a3 map -> a4 replicate: fused: one loop over rows, for a later sweep over the same row\n"
                 "    and 1 more like this one, the last is a8 map -> a9 replicate\n"
                 "argument 1 ([n,m]f32) -> a5 map: read: an argument of the program\n"
                 "a4 replicate -> a5 map: fused: computed where it is used\n"
                 "    and 1 more like this one, the last is a9 replicate -> a10 map\n"
                 "a5 map -> a6 map: fused: computed where it is used\n"
                 "    and 1 more like this one, the last is a5 map -> a10 map\n"
                 "a6 map -> a7 fold: fused: computed where it is used\n");
}

static const char logarithm_of_sum[] = "extents n, m\n"
                                       "x = input [n, m]f32\n"
                                       "top = fold commutes x {x: f32, y: f32 -> max(x, y)}\n"
                                       "tops = replicate: backpermute safe [n, m] top {i: i64, j: i64 -> i}\n"
                                       "e = map x, tops {x: f32, y: f32 -> exp(x - y)}\n"
                                       "sum = fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                       "lse = map sum, top {x: f32, y: f32 -> log(x) + y}\n"
                                       "sums = replicate: backpermute safe [n, m] sum {i: i64, j: i64 -> i}\n"
                                       "r = map e, sums {x: f32, y: f32 -> x / y}\n"
                                       "output r, lse\n";

static const char logarithm_of_both[] = "extents n, m\n"
                                        "x = input [n, m]f32\n"
                                        "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                        "half = map s {x: f32 -> x * 0.5f32}\n"
                                        "ss = replicate: backpermute safe [n, m] s {i: i64, j: i64 -> i}\n"
                                        "e = map x, ss {x: f32, y: f32 -> exp(x - y)}\n"
                                        "t = fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                        "last = map t, half {x: f32, y: f32 -> x + y}\n"
                                        "all = fold commutes last seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                        "output last, all\n";

static void also_behind_the_last_sweep(void **state)
{
    (void)state;
    expect(logarithm_of_sum, "cluster 0: row loop over [n, m], 3 sweeps\n"
                             "    a2 fold, fold in sweep 0\n"
                             "    a4 map, element in sweep 1, kept in cache or computed again later\n"
                             "    a5 fold, fold in sweep 1\n"
                             "    a6 map, once a row before sweep 2, stored\n"
                             "    a8 map, element in sweep 2, stored\n"
                             "    reads argument 1 ([n,m]f32)\n");
    expect(logarithm_of_both, "cluster 0: row loop over [n, m], 2 sweeps\n"
                              "    a2 fold, fold in sweep 0\n"
                              "    a6 fold, fold in sweep 1\n"
                              "    a7 map, once a row before sweep 2, stored\n"
                              "    reads argument 1 ([n,m]f32)\n"
                              "cluster 1: fold loop over [n]\n"
                              "    a8 fold, stored\n"
                              "    reads a7 map\n");
}

static const char no_reader[] = "extents n, m\n"
                                "x = input [n, m]f32\n"
                                "b = input [n]f32\n"
                                "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                "half = map s, b {x: f32, y: f32 -> x * y}\n"
                                "output half\n";

static void rows_without_readers_are_plain_folds(void **state)
{
    (void)state;
    expect(no_reader, "cluster 0: fold loop over [n, m]\n"
                      "    a3 fold, stored\n"
                      "    reads argument 1 ([n,m]f32)\n"
                      "cluster 1: loop over [n]\n"
                      "    a4 map, stored\n"
                      "    reads a3 fold\n"
                      "    reads argument 2 ([n]f32)\n");
}

static const char argmax[] =
    "extents n, m\n"
    "x = input [n, m]f32\n"
    "i = map indexed x {r: i64, c: i64, v: f32 -> v, c}\n"
    "best = fold commutes i {a: f32, b: i64, c: f32, d: i64 -> if a >= c then a else c, if a >= c then b else d}\n"
    "r = map indexed x {r: i64, c: i64, v: f32 -> if c == best[r].1 then v else 0.0f32}\n"
    "output r\n";

static void scalar_code_reads_its_row(void **state)
{
    (void)state;
    expect(argmax, "cluster 0: row loop over [n, m], 2 sweeps\n"
                   "    a3 fold, fold in sweep 0\n"
                   "    a4 map, element in sweep 1, stored\n"
                   "    reads argument 1 ([n,m]f32)\n");
}

/* --- which reads are of the own row --- */

static const char columns[] = "extents n\n"
                              "x = input [n, n]f32\n"
                              "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                              "ss = replicate: backpermute safe [n, n] s {i: i64, j: i64 -> j}\n"
                              "r = map x, ss {x: f32, y: f32 -> x / y}\n"
                              "output r\n";

static const char other_row[] = "extents n, m\n"
                                "x = input [n, m]f32\n"
                                "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                "r = map indexed x {i: i64, j: i64, v: f32 -> v - s[i] - s[n - 1 - i]}\n"
                                "output r\n";

static const char rank3[] = "extents a, b, n\n"
                            "x = input [a, b, n]f32\n"
                            "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                            "t = fold commutes s seed 0.0f32 {x: f32, y: f32 -> max(x, y)}\n"
                            "ss = replicate: backpermute safe [a, b, n] s {i: i64, j: i64, k: i64 -> i, j}\n"
                            "ts = replicate: backpermute safe [a, b, n] t {i: i64, j: i64, k: i64 -> i}\n"
                            "r = map x, ss {x: f32, y: f32 -> x / y}\n"
                            "q = map x, ts {x: f32, y: f32 -> x / y}\n"
                            "output r, q\n";

static const char kept_dimension[] = "extents n, m\n"
                                     "x = input [n, m]f32\n"
                                     "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                     "k = reshape [n, 1] s\n"
                                     "ss = replicate: backpermute safe [n, m] k {i: i64, j: i64 -> i, 0}\n"
                                     "r = map x, ss {x: f32, y: f32 -> x / y}\n"
                                     "output r\n";

static const char twice_transposed[] = "extents n, m\n"
                                       "x = input [n, m]f32\n"
                                       "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                       "ss = replicate: backpermute safe [m, n] s {j: i64, i: i64 -> i}\n"
                                       "st = transpose: backpermute safe [n, m] ss {i: i64, j: i64 -> j, i}\n"
                                       "r = map x, st {x: f32, y: f32 -> x / y}\n"
                                       "output r\n";

static const char whole[] = "extents n\n"
                            "x = input [n]f32\n"
                            "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                            "r = map x {x: f32 -> x / s[]}\n"
                            "output r\n";

static void indices_must_be_the_rows_own(void **state)
{
    (void)state;
    expect(columns, "cluster 0: fold loop over [n, n]\n"
                    "    a2 fold, stored\n"
                    "    reads argument 1 ([n,n]f32)\n"
                    "cluster 1: loop over [n, n]\n"
                    "    a4 map, stored\n"
                    "    reads argument 1 ([n,n]f32)\n"
                    "    reads a2 fold\n");
    expect(other_row, "cluster 0: fold loop over [n, m]\n"
                      "    a2 fold, stored\n"
                      "    reads argument 1 ([n,m]f32)\n"
                      "cluster 1: loop over [n, m]\n"
                      "    a3 map, stored\n"
                      "    reads argument 1 ([n,m]f32)\n"
                      "    reads a2 fold\n");
    expect(rank3, "cluster 0: row loop over [a, b, n], 2 sweeps\n"
                  "    a2 fold, fold in sweep 0, stored\n"
                  "    a6 map, element in sweep 1, stored\n"
                  "    reads argument 1 ([a,b,n]f32)\n"
                  "cluster 1: fold loop over [a, b]\n"
                  "    a3 fold, stored\n"
                  "    reads a2 fold\n"
                  "cluster 2: loop over [a, b, n]\n"
                  "    a7 map, stored\n"
                  "    reads argument 1 ([a,b,n]f32)\n"
                  "    reads a3 fold\n");
    expect(kept_dimension, "cluster 0: row loop over [n, m], 2 sweeps\n"
                           "    a2 fold, fold in sweep 0\n"
                           "    a5 map, element in sweep 1, stored\n"
                           "    reads argument 1 ([n,m]f32)\n");
    expect(twice_transposed, "cluster 0: row loop over [n, m], 2 sweeps\n"
                             "    a2 fold, fold in sweep 0\n"
                             "    a5 map, element in sweep 1, stored\n"
                             "    reads argument 1 ([n,m]f32)\n");
    expect(whole, "cluster 0: fold loop over [n]\n"
                  "    a2 fold, stored\n"
                  "    reads argument 1 ([n]f32)\n"
                  "cluster 1: loop over [n]\n"
                  "    a3 map, stored\n"
                  "    reads argument 1 ([n]f32)\n"
                  "    reads a2 fold\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(softmax_is_one_loop, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(what_is_made_of_fold_results_is_computed_once_a_row, clusters_setup,
                                        clusters_teardown),
        cmocka_unit_test_setup_teardown(also_behind_the_last_sweep, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(rows_without_readers_are_plain_folds, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(scalar_code_reads_its_row, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(indices_must_be_the_rows_own, clusters_setup, clusters_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
