/* Loops over segments: which operations share one, and which have other segments. */
#include "clusters_text.h"

#define TWO                                                                                                            \
    "extents n, s, t\n"                                                                                                \
    "x = input [n]u32\n"                                                                                               \
    "o = input [s]i64\n"                                                                                               \
    "q = input [t]i64\n"

static const char same[] = TWO "a = scan_seg x, o {a: u32, b: u32 -> a + b}\n"
                               "b = fold_seg commutes a, o seed 0u32 {a: u32, b: u32 -> max(a, b)}\n"
                               "output a, b";
static const char others[] = TWO "a = scan_seg x, o {a: u32, b: u32 -> a + b}\n"
                                 "b = fold_seg commutes a, q seed 0u32 {a: u32, b: u32 -> max(a, b)}\n"
                                 "output a, b";
static const char mixed[] = TWO "a = scan_seg x, o {a: u32, b: u32 -> a + b}\n"
                                "b = scan_seg x, q {a: u32, b: u32 -> max(a, b)}\n"
                                "c = map a, b {a: u32, b: u32 -> bit_xor(a, b)}\n"
                                "output c";
static const char results[] = TWO "a = fold_seg commutes x, o seed 0u32 {a: u32, b: u32 -> a + b}\n"
                                  "g = segment_of [n] q\n"
                                  "c = map g, x {g: i64, x: u32 -> x * a[g]}\n"
                                  "output a, c";

static const char kept[] = TWO "g = segment_of [n] o\n"
                               "e = map g, x {g: i64, x: u32 -> x - u32(o[g])}\n"
                               "k = map e {x: u32 -> x > 7u32}\n"
                               "a = fold_seg commutes e, o seed 0u32 {a: u32, b: u32 -> max(a, b)}\n"
                               "c = pack k, x\n"
                               "output a, c";
static const char kept_behind[] = TWO "g = segment_of [n] o\n"
                                      "e = map g, x {g: i64, x: u32 -> x - u32(o[g])}\n"
                                      "a = fold_seg commutes e, o seed 0u32 {a: u32, b: u32 -> max(a, b)}\n"
                                      "k = map g, e {g: i64, x: u32 -> x > a[g]}\n"
                                      "c = pack k, x\n"
                                      "output a, c";

static const char kept_beside_scans[] = TWO "g = segment_of [n] o\n"
                                            "e = map g, x {g: i64, x: u32 -> x - u32(o[g])}\n"
                                            "k = map e {x: u32 -> x > 7u32}\n"
                                            "c = pack k, x\n"
                                            "a = scan_seg e, o {a: u32, b: u32 -> a + b}\n"
                                            "output a, e, c";

static const char only_kept[] = TWO "g = segment_of [n] o\n"
                                    "k = map g, x {g: i64, x: u32 -> x > u32(o[g])}\n"
                                    "c = pack k, x\n"
                                    "d = pack k, x\n"
                                    "output k, c, d";
static const char counted[] = TWO "a = fold_seg x, o {a: u32, b: u32 -> if a >= b then a else b + 1u32}\n"
                                  "b = fold_seg commutes x, o seed 0u32 {a: u32, b: u32 -> a + b}\n"
                                  "output a, b";
static const char of_floats[] = "extents n, s\n"
                                "x = input [n]f32\n"
                                "o = input [s]i64\n"
                                "a = fold_seg x, o {a: f32, b: f32 -> if a >= b then a else b + 1.0f32}\n"
                                "b = fold_seg commutes x, o seed 0.0f32 {a: f32, b: f32 -> a + b}\n"
                                "output a, b";

/* What decides is in memory here, but it is computed where elements know their segment. */
static void what_is_kept_needs_no_fold(void **state)
{
    (void)state;
    expect(only_kept, "cluster 0: segment loop over [n]\n"
                      "    a5 map, stored\n"
                      "    a9 pack, stored\n"
                      "    a8 pack, stored\n"
                      "    a9 pack, stored\n"
                      "    reads argument 1 ([n]u32)\n"
                      "    reads argument 2 ([s]i64)\n");
}

/* Sums of integers are the same in every tree, those of floats are not. */
static void integers_share_the_loop_of_what_keeps_order(void **state)
{
    (void)state;
    expect(counted, "cluster 0: ordered segment loop over [n]\n"
                    "    a4 fold_seg, stored\n"
                    "    a5 fold_seg, stored\n"
                    "    reads argument 1 ([n]u32)\n"
                    "    reads argument 2 ([s]i64)\n");
    expect(of_floats, "cluster 0: ordered segment loop over [n]\n"
                      "    a3 fold_seg, stored\n"
                      "    reads argument 1 ([n]f32)\n"
                      "    reads argument 2 ([s]i64)\n"
                      "cluster 1: segment loop over [n]\n"
                      "    a4 fold_seg, stored\n"
                      "    reads argument 1 ([n]f32)\n"
                      "    reads argument 2 ([s]i64)\n");
}

/* Scans go over segments twice, so what is packed is a loop apart, over rows unless it asks for the segment's number.
 */
static void what_is_kept_beside_scans_is_a_loop_over_rows(void **state)
{
    (void)state;
    expect(kept_beside_scans, "cluster 0: segment loop over [n]\n"
                              "    a5 map, stored\n"
                              "    a6 map, stored\n"
                              "    a10 scan_seg, stored\n"
                              "    reads argument 1 ([n]u32)\n"
                              "    reads argument 2 ([s]i64)\n"
                              "cluster 1: row loop over [n], 1 sweep\n"
                              "    a9 pack, fold in sweep 0, stored\n"
                              "    a9 pack, pack in sweep 0, stored\n"
                              "    reads a6 map\n"
                              "    reads argument 1 ([n]u32)\n");
}

static void what_is_kept_shares_the_loop_of_folds(void **state)
{
    (void)state;
    expect(kept, "cluster 0: segment loop over [n]\n"
                 "    a5 map\n"
                 "    a6 map\n"
                 "    a7 fold_seg, stored\n"
                 "    a10 pack, stored\n"
                 "    reads argument 1 ([n]u32)\n"
                 "    reads argument 2 ([s]i64)\n");
    expect(kept_behind, "cluster 0: segment loop over [n]\n"
                        "    a5 map\n"
                        "    a6 fold_seg, stored\n"
                        "    a7 map, stored\n"
                        "    reads argument 1 ([n]u32)\n"
                        "    reads argument 2 ([s]i64)\n"
                        "cluster 1: row loop over [n], 1 sweep\n"
                        "    a10 pack, fold in sweep 0, stored\n"
                        "    a10 pack, pack in sweep 0, stored\n"
                        "    reads a7 map\n"
                        "    reads argument 1 ([n]u32)\n");
}

static const char of_rows[] = "extents r, n, s\n"
                              "x = input [r,n]f32\n"
                              "o = input [s]i64\n"
                              "a = input [r,s]f32\n"
                              "g = segment_of [n] o\n"
                              "y = generate [r,n] {i: i64, j: i64 -> a[i, g[safe j]] + x[i, j]}\n"
                              "output y";
static const char of_another[] = "extents r, n, s\n"
                                 "o = input [s]i64\n"
                                 "a = input [r,s]f32\n"
                                 "g = segment_of [n] o\n"
                                 "y = generate [r,n] {i: i64, j: i64 -> a[i, g[safe 0]]}\n"
                                 "output y";

/* Segments of rows: an element knows its own segment without numbers in memory, and no other one. */
static void elements_of_rows_know_their_segment(void **state)
{
    (void)state;
    expect(of_rows, "cluster 0: segment loop over [r, n]\n"
                    "    a5 generate, stored\n"
                    "    reads argument 3 ([r,s]f32)\n"
                    "    reads argument 1 ([r,n]f32)\n"
                    "    reads argument 2 ([s]i64)\n");
    expect(of_another, "cluster 0: segment loop over [n]\n"
                       "    a3 segment_of, stored\n"
                       "    reads argument 1 ([s]i64)\n"
                       "cluster 1: loop over [r, n]\n"
                       "    a4 generate, stored\n"
                       "    reads a3 segment_of\n"
                       "    reads argument 2 ([r,s]f32)\n");
}

static const char scanned[] = "extents n, s\n"
                              "x = input [n]u32\n"
                              "o = input [s]i64\n"
                              "g = segment_of [n] o\n"
                              "e = map g, x {g: i64, x: u32 -> x - u32(o[g])}\n"
                              "y = scan e {a: u32, b: u32 -> a + b}\n"
                              "output y";

/* A scan of all elements has a loop that does not know segments. */
static void what_knows_its_segment_is_stored_for_scans(void **state)
{
    (void)state;
    expect(scanned, "cluster 0: segment loop over [n]\n"
                    "    a4 map, stored\n"
                    "    reads argument 1 ([n]u32)\n"
                    "    reads argument 2 ([s]i64)\n"
                    "cluster 1: row loop over [n], 1 sweep\n"
                    "    a5 scan, scan in sweep 0, stored\n"
                    "    reads a4 map\n");
}

static void the_same_segments_share_a_loop(void **state)
{
    (void)state;
    expect(same, "cluster 0: segment loop over [n]\n"
                 "    a4 scan_seg, stored\n"
                 "    a5 fold_seg, stored\n"
                 "    reads argument 1 ([n]u32)\n"
                 "    reads argument 2 ([s]i64)\n");
}

static void other_segments_have_a_loop_of_their_own(void **state)
{
    (void)state;
    expect(others, "cluster 0: segment loop over [n]\n"
                   "    a4 scan_seg, stored\n"
                   "    reads argument 1 ([n]u32)\n"
                   "    reads argument 2 ([s]i64)\n"
                   "cluster 1: segment loop over [n]\n"
                   "    a5 fold_seg, stored\n"
                   "    reads a4 scan_seg\n"
                   "    reads argument 3 ([t]i64)\n");
    expect(mixed, "cluster 0: segment loop over [n]\n"
                  "    a4 scan_seg, stored\n"
                  "    reads argument 1 ([n]u32)\n"
                  "    reads argument 2 ([s]i64)\n"
                  "cluster 1: segment loop over [n]\n"
                  "    a5 scan_seg, stored\n"
                  "    reads argument 1 ([n]u32)\n"
                  "    reads argument 3 ([t]i64)\n"
                  "cluster 2: loop over [n]\n"
                  "    a6 map, stored\n"
                  "    reads a4 scan_seg\n"
                  "    reads a5 scan_seg\n");
    expect(results, "cluster 0: segment loop over [n]\n"
                    "    a4 fold_seg, stored\n"
                    "    reads argument 1 ([n]u32)\n"
                    "    reads argument 2 ([s]i64)\n"
                    "cluster 1: segment loop over [n]\n"
                    "    a6 map, stored\n"
                    "    reads argument 1 ([n]u32)\n"
                    "    reads a4 fold_seg\n"
                    "    reads argument 3 ([t]i64)\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_segments_share_a_loop),
        cmocka_unit_test(what_is_kept_shares_the_loop_of_folds),
        cmocka_unit_test(what_is_kept_needs_no_fold),
        cmocka_unit_test(integers_share_the_loop_of_what_keeps_order),
        cmocka_unit_test(what_is_kept_beside_scans_is_a_loop_over_rows),
        cmocka_unit_test(elements_of_rows_know_their_segment),
        cmocka_unit_test(what_knows_its_segment_is_stored_for_scans),
        cmocka_unit_test(other_segments_have_a_loop_of_their_own),
    };
    return cmocka_run_group_tests(tests, clusters_setup, clusters_teardown);
}
