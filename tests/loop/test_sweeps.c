/* Loops over rows in several sweeps: what waits for which of them, what is read back, how many there may be. */
#include "clusters_text.h"

static const char waiting[] = "extents n, m\n"
                              "x = input [n, m]f32\n"
                              "low = fold commutes x {x: f32, y: f32 -> min(x, y)}\n"
                              "root = map low {x: f32 -> sqrt(sqrt(sqrt(x)))}\n"
                              "roots = replicate: backpermute safe [n, m] root {i: i64, j: i64 -> i}\n"
                              "e = map x {x: f32 -> exp(exp(x))}\n"
                              "q = map e, roots {x: f32, y: f32 -> x * y}\n"
                              "total = fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                              "output q, total, root\n";

static const char all_wait[] = "extents n, m\n"
                               "x = input [n, m]f32\n"
                               "low = fold commutes x {x: f32, y: f32 -> min(x, y)}\n"
                               "lows = replicate: backpermute safe [n, m] low {i: i64, j: i64 -> i}\n"
                               "e = map x {x: f32 -> exp(exp(x))}\n"
                               "f = map e {x: f32 -> exp(exp(x))}\n"
                               "q = map f, lows {x: f32, y: f32 -> x * y}\n"
                               "t1 = fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                               "t2 = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                               "t3 = fold commutes e {x: f32, y: f32 -> max(x, y)}\n"
                               "output q, t1, t2, t3\n";

static const char cumulative[] = "extents n, m\n"
                                 "x = input [n, m]f32\n"
                                 "s = scan x {x: f32, y: f32 -> x + y}\n"
                                 "t = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                 "ts = replicate: backpermute safe [n, m] t {i: i64, j: i64 -> i}\n"
                                 "r = map s, ts {x: f32, y: f32 -> x / y}\n"
                                 "output r\n";

static const char fold_of_scan[] = "extents n, m\n"
                                   "x = input [n, m]f32\n"
                                   "s = scan x {x: f32, y: f32 -> x + y}\n"
                                   "t = fold commutes s seed 0.0f32 {x: f32, y: f32 -> max(x, y)}\n"
                                   "ts = replicate: backpermute safe [n, m] t {i: i64, j: i64 -> i}\n"
                                   "r = map s, ts {x: f32, y: f32 -> x / y}\n"
                                   "output r\n";

static const char scans[] = "extents n, m\n"
                            "x = input [n, m]f32\n"
                            "a = scan x {x: f32, y: f32 -> x + y}\n"
                            "b = scan exclusive a seed 0.0f32 {x: f32, y: f32 -> max(x, y)}\n"
                            "c = map a, b {x: f32, y: f32 -> x - y}\n"
                            "d = fold commutes c seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                            "e = map indexed a {i: i64, j: i64, v: f32 -> a[i, m - 1] - v}\n"
                            "output c, d, e\n";

/* Elements and scans in the sweep that reads them, results of folds when their elements are there anyway. */
static void what_can_wait_is_computed_once(void **state)
{
    (void)state;
    expect(waiting, "cluster 0: row loop over [n, m], 2 sweeps\n"
                    "    a2 fold, fold in sweep 0\n"
                    "    a3 map, once a row before sweep 1, stored\n"
                    "    a5 map, element in sweep 1\n"
                    "    a6 map, element in sweep 1, stored\n"
                    "    a7 fold, fold in sweep 1, stored\n"
                    "    reads argument 1 ([n,m]f32)\n");
    expect(all_wait, "cluster 0: row loop over [n, m], 2 sweeps\n"
                     "    a2 fold, fold in sweep 0\n"
                     "    a4 map, element in sweep 1\n"
                     "    a5 map, element in sweep 1\n"
                     "    a6 map, element in sweep 1, stored\n"
                     "    a7 fold, fold in sweep 1, stored\n"
                     "    a8 fold, fold in sweep 1, stored\n"
                     "    a9 fold, fold in sweep 1, stored\n"
                     "    reads argument 1 ([n,m]f32)\n");
    expect(cumulative, "cluster 0: row loop over [n, m], 2 sweeps\n"
                       "    a3 fold, fold in sweep 0\n"
                       "    a2 scan, scan in sweep 1\n"
                       "    a5 map, element in sweep 1, stored\n"
                       "    reads argument 1 ([n,m]f32)\n");
}

/* A scan is not computed twice. */
static void scans_are_read_back(void **state)
{
    (void)state;
    expect(fold_of_scan, "cluster 0: row loop over [n, m], 2 sweeps\n"
                         "    a2 scan, scan in sweep 0, stored\n"
                         "    a3 fold, fold in sweep 0\n"
                         "    a5 map, element in sweep 1, stored\n"
                         "    reads argument 1 ([n,m]f32)\n");
    expect(scans, "cluster 0: row loop over [n, m], 1 sweep\n"
                  "    a2 scan, scan in sweep 0, stored\n"
                  "    a3 scan, scan in sweep 0\n"
                  "    a4 map, element in sweep 0, stored\n"
                  "    a5 fold, fold in sweep 0, stored\n"
                  "    reads argument 1 ([n,m]f32)\n"
                  "cluster 1: loop over [n, m]\n"
                  "    a6 map, stored\n"
                  "    reads a2 scan\n");
}

static const char long_rows[] = "extents n\n"
                                "x = input [n, 100000]f32\n"
                                "top = fold commutes x seed -inf_f32 {x: f32, y: f32 -> max(x, y)}\n"
                                "tops = replicate: backpermute safe [n, 100000] top {i: i64, j: i64 -> i}\n"
                                "e = map x, tops {x: f32, y: f32 -> exp(x - y)}\n"
                                "sum = fold commutes e seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                "sums = replicate: backpermute safe [n, 100000] sum {i: i64, j: i64 -> i}\n"
                                "r = map e, sums {x: f32, y: f32 -> x / y}\n"
                                "output r, e\n";

/* Computing again would read them once more. */
static void rows_beyond_the_caches_are_read_from_memory(void **state)
{
    (void)state;
    expect_with((l_options){.rows = true, .large = true}, long_rows,
                "cluster 0: row loop over [n, 100000], 3 sweeps\n"
                "    a2 fold, fold in sweep 0\n"
                "    a4 map, element in sweep 1, stored\n"
                "    a5 fold, fold in sweep 1\n"
                "    a7 map, element in sweep 2, stored\n"
                "    reads argument 1 ([n,100000]f32)\n");
}

static const char stencilled[] = "extents n, m\n"
                                 "x = input [n, m]f32\n"
                                 "y = stencil x pattern 1 x 3 clamp {a: f32, b: f32, c: f32 -> a + b + c}\n"
                                 "s = fold commutes y seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                 "ss = replicate: backpermute safe [n, m] s {i: i64, j: i64 -> i}\n"
                                 "r = map y, ss {x: f32, y: f32 -> x / y}\n"
                                 "w = map x, ss {x: f32, y: f32 -> x / y}\n"
                                 "output r, w\n";

static void what_waits_for_a_fold_leaves_the_stencils_loop(void **state)
{
    (void)state;
    expect(stencilled, "cluster 0: stencil loop over [n, m]\n"
                       "    a2 stencil, stored\n"
                       "    reads argument 1 ([n,m]f32)\n"
                       "cluster 1: row loop over [n, m], 2 sweeps\n"
                       "    a3 fold, fold in sweep 0\n"
                       "    a5 map, element in sweep 1, stored\n"
                       "    a6 map, element in sweep 1, stored\n"
                       "    reads a2 stencil\n"
                       "    reads argument 1 ([n,m]f32)\n");
}

static const char stencil_and_folds[] = "extents n, m\n"
                                        "x = input [n, m]f32\n"
                                        "y = stencil x pattern 1 x 3 clamp {a: f32, b: f32, c: f32 -> a + b + c}\n"
                                        "q = map y {x: f32 -> x * x}\n"
                                        "s = fold commutes q seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                        "t = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                        "ss = replicate: backpermute safe [n, m] s {i: i64, j: i64 -> i}\n"
                                        "r = map y, ss {x: f32, y: f32 -> x / y}\n"
                                        "output r, s, t\n";

static const char folded_stencils[] = "extents n\n"
                                      "x = input [n]f64\n"
                                      "z = stencil x pattern 3 clamp {a: f64, b: f64, c: f64 -> a + b + c}\n"
                                      "w = stencil x pattern 3 mirror {a: f64, b: f64, c: f64 -> a * b + c}\n"
                                      "v = map z, w {x: f64, y: f64 -> x * y}\n"
                                      "s = fold commutes v seed 0.0f64 {x: f64, y: f64 -> x + y}\n"
                                      "t = fold commutes z {x: f64, y: f64 -> max(x, y)}\n"
                                      "output s, t\n";

static const char folded_chain[] = "extents n\n"
                                   "x = input [n]f64\n"
                                   "y = map x {x: f64 -> exp(exp(x))}\n"
                                   "z = stencil y pattern 3 clamp {a: f64, b: f64, c: f64 -> a + b + c}\n"
                                   "s = fold commutes z seed 0.0f64 {x: f64, y: f64 -> x + y}\n"
                                   "output s\n";

static const char orders_of_folds[] = "extents n\n"
                                      "x = input [n]f64\n"
                                      "z = stencil x pattern 3 clamp {a: f64, b: f64, c: f64 -> a + b + c}\n"
                                      "s = fold commutes z seed 0.0f64 {x: f64, y: f64 -> x + y}\n"
                                      "t = fold z seed 0.0f64 {x: f64, y: f64 -> y}\n"
                                      "output s, t\n";

/* Folds of all elements compute stencils that nothing else needs; of rows, they do not, and where the stencil's own
 * loop computes what it reads, it stays there. */
static void folds_compute_stencils(void **state)
{
    (void)state;
    expect(folded_stencils, "cluster 0: fold loop over [n]\n"
                            "    a5 fold, stored\n"
                            "    a6 fold, stored\n"
                            "    reads argument 1 ([n]f64)\n");
    expect(folded_chain, "cluster 0: stencil loop over [n]\n"
                         "    a2 map, kept in rows\n"
                         "    a3 stencil, stored\n"
                         "    reads argument 1 ([n]f64)\n"
                         "cluster 1: fold loop over [n]\n"
                         "    a4 fold, stored\n"
                         "    reads a3 stencil\n");
    expect(orders_of_folds, "cluster 0: stencil loop over [n]\n"
                            "    a2 stencil, stored\n"
                            "    reads argument 1 ([n]f64)\n"
                            "cluster 1: fold loop over [n]\n"
                            "    a3 fold, stored\n"
                            "    reads a2 stencil\n"
                            "cluster 2: ordered fold loop over [n]\n"
                            "    a4 fold, stored\n"
                            "    reads a2 stencil\n");
    expect(stencil_and_folds, "cluster 0: stencil loop over [n, m]\n"
                              "    a2 stencil, stored\n"
                              "    reads argument 1 ([n,m]f32)\n"
                              "cluster 1: fold loop over [n, m]\n"
                              "    a5 fold, stored\n"
                              "    reads argument 1 ([n,m]f32)\n"
                              "cluster 2: row loop over [n, m], 2 sweeps\n"
                              "    a4 fold, fold in sweep 0, stored\n"
                              "    a7 map, element in sweep 1, stored\n"
                              "    reads a2 stencil\n");
}

static const char many[] = "extents n, m\n"
                           "x0 = input [n, m]f32\n"
                           "s0 = fold commutes x0 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r0 = replicate: backpermute safe [n, m] s0 {i: i64, j: i64 -> i}\n"
                           "x1 = map x0, r0 {x: f32, y: f32 -> x / y}\n"
                           "s1 = fold commutes x1 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r1 = replicate: backpermute safe [n, m] s1 {i: i64, j: i64 -> i}\n"
                           "x2 = map x1, r1 {x: f32, y: f32 -> x / y}\n"
                           "s2 = fold commutes x2 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r2 = replicate: backpermute safe [n, m] s2 {i: i64, j: i64 -> i}\n"
                           "x3 = map x2, r2 {x: f32, y: f32 -> x / y}\n"
                           "s3 = fold commutes x3 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r3 = replicate: backpermute safe [n, m] s3 {i: i64, j: i64 -> i}\n"
                           "x4 = map x3, r3 {x: f32, y: f32 -> x / y}\n"
                           "s4 = fold commutes x4 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r4 = replicate: backpermute safe [n, m] s4 {i: i64, j: i64 -> i}\n"
                           "x5 = map x4, r4 {x: f32, y: f32 -> x / y}\n"
                           "s5 = fold commutes x5 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r5 = replicate: backpermute safe [n, m] s5 {i: i64, j: i64 -> i}\n"
                           "x6 = map x5, r5 {x: f32, y: f32 -> x / y}\n"
                           "s6 = fold commutes x6 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r6 = replicate: backpermute safe [n, m] s6 {i: i64, j: i64 -> i}\n"
                           "x7 = map x6, r6 {x: f32, y: f32 -> x / y}\n"
                           "s7 = fold commutes x7 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r7 = replicate: backpermute safe [n, m] s7 {i: i64, j: i64 -> i}\n"
                           "x8 = map x7, r7 {x: f32, y: f32 -> x / y}\n"
                           "s8 = fold commutes x8 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r8 = replicate: backpermute safe [n, m] s8 {i: i64, j: i64 -> i}\n"
                           "x9 = map x8, r8 {x: f32, y: f32 -> x / y}\n"
                           "s9 = fold commutes x9 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r9 = replicate: backpermute safe [n, m] s9 {i: i64, j: i64 -> i}\n"
                           "x10 = map x9, r9 {x: f32, y: f32 -> x / y}\n"
                           "s10 = fold commutes x10 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r10 = replicate: backpermute safe [n, m] s10 {i: i64, j: i64 -> i}\n"
                           "x11 = map x10, r10 {x: f32, y: f32 -> x / y}\n"
                           "s11 = fold commutes x11 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r11 = replicate: backpermute safe [n, m] s11 {i: i64, j: i64 -> i}\n"
                           "x12 = map x11, r11 {x: f32, y: f32 -> x / y}\n"
                           "s12 = fold commutes x12 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r12 = replicate: backpermute safe [n, m] s12 {i: i64, j: i64 -> i}\n"
                           "x13 = map x12, r12 {x: f32, y: f32 -> x / y}\n"
                           "s13 = fold commutes x13 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r13 = replicate: backpermute safe [n, m] s13 {i: i64, j: i64 -> i}\n"
                           "x14 = map x13, r13 {x: f32, y: f32 -> x / y}\n"
                           "s14 = fold commutes x14 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r14 = replicate: backpermute safe [n, m] s14 {i: i64, j: i64 -> i}\n"
                           "x15 = map x14, r14 {x: f32, y: f32 -> x / y}\n"
                           "s15 = fold commutes x15 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r15 = replicate: backpermute safe [n, m] s15 {i: i64, j: i64 -> i}\n"
                           "x16 = map x15, r15 {x: f32, y: f32 -> x / y}\n"
                           "s16 = fold commutes x16 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r16 = replicate: backpermute safe [n, m] s16 {i: i64, j: i64 -> i}\n"
                           "x17 = map x16, r16 {x: f32, y: f32 -> x / y}\n"
                           "s17 = fold commutes x17 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r17 = replicate: backpermute safe [n, m] s17 {i: i64, j: i64 -> i}\n"
                           "x18 = map x17, r17 {x: f32, y: f32 -> x / y}\n"
                           "s18 = fold commutes x18 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r18 = replicate: backpermute safe [n, m] s18 {i: i64, j: i64 -> i}\n"
                           "x19 = map x18, r18 {x: f32, y: f32 -> x / y}\n"
                           "s19 = fold commutes x19 seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                           "r19 = replicate: backpermute safe [n, m] s19 {i: i64, j: i64 -> i}\n"
                           "x20 = map x19, r19 {x: f32, y: f32 -> x / y}\n"
                           "output x20\n";

static void sweeps_have_a_limit(void **state)
{
    (void)state;
    expect(many, "cluster 0: row loop over [n, m], 16 sweeps\n"
                 "    a2 fold, fold in sweep 0\n"
                 "    a5 fold, fold in sweep 1\n"
                 "    a7 map, element in sweep 2, kept in cache or computed again later\n"
                 "    a8 fold, fold in sweep 2\n"
                 "    a11 fold, fold in sweep 3\n"
                 "    a13 map, element in sweep 4, stored\n"
                 "    a14 fold, fold in sweep 4\n"
                 "    a17 fold, fold in sweep 5\n"
                 "    a19 map, element in sweep 6, stored\n"
                 "    a20 fold, fold in sweep 6\n"
                 "    a23 fold, fold in sweep 7\n"
                 "    a25 map, element in sweep 8, stored\n"
                 "    a26 fold, fold in sweep 8\n"
                 "    a29 fold, fold in sweep 9\n"
                 "    a31 map, element in sweep 10, stored\n"
                 "    a32 fold, fold in sweep 10\n"
                 "    a35 fold, fold in sweep 11\n"
                 "    a37 map, element in sweep 12, stored\n"
                 "    a38 fold, fold in sweep 12\n"
                 "    a41 fold, fold in sweep 13\n"
                 "    a43 map, element in sweep 14, stored\n"
                 "    a44 fold, fold in sweep 14, stored\n"
                 "    a47 fold, fold in sweep 15, stored\n"
                 "    reads argument 1 ([n,m]f32)\n"
                 "cluster 1: row loop over [n, m], 5 sweeps\n"
                 "    a49 map, element in sweep 0, kept in cache or computed again later\n"
                 "    a50 fold, fold in sweep 0\n"
                 "    a53 fold, fold in sweep 1\n"
                 "    a55 map, element in sweep 2, stored\n"
                 "    a56 fold, fold in sweep 2\n"
                 "    a59 fold, fold in sweep 3\n"
                 "    a61 map, element in sweep 4, stored\n"
                 "    reads a43 map\n"
                 "    reads a44 fold\n"
                 "    reads a47 fold\n");
}

static const char once_and_more[] = "extents n, m\n"
                                    "x = input [n, m]f32\n"
                                    "y = input [n, m]f32\n"
                                    "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                    "h = map s {x: f32 -> exp(exp(x))}\n"
                                    "hs = replicate: backpermute safe [n, m] h {i: i64, j: i64 -> i}\n"
                                    "z = map y, hs {x: f32, y: f32 -> x * y}\n"
                                    "g = map h {x: f32 -> x + 1.0f32}\n"
                                    "t = fold commutes g seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                                    "p = scan h {x: f32, y: f32 -> x + y}\n"
                                    "output z, t, p, g\n";

static void other_loops_read_what_is_computed_once_a_row(void **state)
{
    (void)state;
    expect(once_and_more, "cluster 0: row loop over [n, m], 2 sweeps\n"
                          "    a3 fold, fold in sweep 0\n"
                          "    a4 map, once a row before sweep 1, stored\n"
                          "    a7 map, once a row before sweep 1, stored\n"
                          "    a6 map, element in sweep 1, stored\n"
                          "    reads argument 1 ([n,m]f32)\n"
                          "    reads argument 2 ([n,m]f32)\n"
                          "cluster 1: fold loop over [n]\n"
                          "    a8 fold, stored\n"
                          "    reads a7 map\n"
                          "cluster 2: row loop over [n], 1 sweep\n"
                          "    a9 scan, scan in sweep 0, stored\n"
                          "    reads a4 map\n");
}

#define ROOT_OF_SUM(extent)                                                                                            \
    "extents n, m\n"                                                                                                   \
    "x = input [n, " extent "]f32\n"                                                                                   \
    "s = fold commutes x seed 0.0f32 {x: f32, y: f32 -> x + y}\n"                                                      \
    "r = map s {x: f32 -> sqrt(x)}\n"                                                                                  \
    "output r\n"

/* Of rows that are short for certain; else a fold's loop knows better how to go about it. */
static void what_is_made_of_short_rows_is_computed_with_them(void **state)
{
    (void)state;
    expect(ROOT_OF_SUM("16"), "cluster 0: row loop over [n, 16], 1 sweep\n"
                              "    a2 fold, fold in sweep 0\n"
                              "    a3 map, once a row before sweep 1, stored\n"
                              "    reads argument 1 ([n,16]f32)\n");
    expect(ROOT_OF_SUM("17"), "cluster 0: fold loop over [n, 17]\n"
                              "    a2 fold, stored\n"
                              "    reads argument 1 ([n,17]f32)\n"
                              "cluster 1: loop over [n]\n"
                              "    a3 map, stored\n"
                              "    reads a2 fold\n");
    expect(ROOT_OF_SUM("m"), "cluster 0: fold loop over [n, m]\n"
                             "    a2 fold, stored\n"
                             "    reads argument 1 ([n,m]f32)\n"
                             "cluster 1: loop over [n]\n"
                             "    a3 map, stored\n"
                             "    reads a2 fold\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_can_wait_is_computed_once, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(scans_are_read_back, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(rows_beyond_the_caches_are_read_from_memory, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(what_waits_for_a_fold_leaves_the_stencils_loop, clusters_setup,
                                        clusters_teardown),
        cmocka_unit_test_setup_teardown(folds_compute_stencils, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(what_is_made_of_short_rows_is_computed_with_them, clusters_setup,
                                        clusters_teardown),
        cmocka_unit_test_setup_teardown(sweeps_have_a_limit, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(other_loops_read_what_is_computed_once_a_row, clusters_setup,
                                        clusters_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
