/* Folds of all elements of what stencils compute: one loop does both. Against the interpreter, and with the same bits
 * as the fold of a result that is kept in memory. */
#include "counts.h"

#include <stdlib.h>
#include <string.h>

/* --- stencils --- */

static sn_scalar weigh(sn_scalar s)
{
    sn_scalar sum = sn_at(s, 0, 0);
    for (int i = 0; i < 9; i++)
        sum = sn_add(sum, sn_mul(sn_at(s, i / 3 - 1, i % 3 - 1), i * 7 % 5));
    return sum;
}

static sn_scalar wide(sn_scalar s)
{
    sn_scalar sum = sn_at(s, 0, 0);
    for (int i = 0; i < 15; i++)
        sum = sn_sub(sn_at(s, i / 5 - 1, i % 5 - 2), sum);
    return sum;
}

static sn_scalar along(sn_scalar s)
{
    return sn_sub(sn_add(sn_at(s, -2), sn_at(s, 1)), sn_mul(sn_at(s, 0), 2));
}

static sn_scalar around(sn_scalar s)
{
    sn_scalar sum = sn_sub(sn_at(s, -1, 0, 0), sn_at(s, 1, 0, 0));
    return sn_add(sn_add(sum, sn_mul(sn_at(s, 0, -1, 1), 3)), sn_sub(sn_at(s, 0, 1, -1), sn_at(s, 0, 0, 1)));
}

static sn_scalar outside(sn_scalar i, sn_scalar j)
{
    return sn_to_i32(sn_sub(sn_mul(i, 3), j));
}

static sn_acc plain(sn_acc a)
{
    return a;
}

/* What stands between a stencil and its fold: nothing, or memory. */
static sn_acc (*kept)(sn_acc a) = plain;

static sn_acc force(sn_acc a)
{
    return sn_force(a);
}

static sn_acc planes(sn_acc a, sn_boundary boundary)
{
    return kept(sn_stencil(weigh, sn_pattern(3, 3), boundary, a));
}

static sn_acc clamped(sn_acc a)
{
    return planes(a, sn_clamp);
}

/* --- folds --- */

static sn_acc sums(sn_acc a)
{
    sn_acc mirrored = sn_flatten(planes(a, sn_mirror));
    return sn_results(sn_sum(sn_flatten(clamped(a))), sn_sum(mirrored), sn_fold_all(sn_add, 3, planes(a, sn_wrap)));
}

static sn_acc sum_with_constant(sn_acc a)
{
    return sn_sum(sn_flatten(planes(a, sn_constant(7))));
}

static sn_acc sum_with_function(sn_acc a)
{
    return sn_sum(sn_flatten(planes(a, sn_outside(outside))));
}

static sn_acc sum_of_wide(sn_acc a)
{
    return sn_sum(sn_flatten(kept(sn_stencil(wide, sn_pattern(3, 5), sn_mirror, a))));
}

static sn_acc sums_along(sn_acc a)
{
    return sn_results(sn_sum(kept(sn_stencil(along, sn_pattern(5), sn_clamp, a))),
                      sn_sum(kept(sn_stencil(along, sn_pattern(5), sn_wrap, a))));
}

static sn_acc sums_around(sn_acc a)
{
    return sn_results(sn_sum(sn_flatten(kept(sn_stencil(around, sn_pattern(3, 3, 3), sn_clamp, a)))),
                      sn_sum(sn_flatten(kept(sn_stencil(around, sn_pattern(3, 3, 3), sn_mirror, a)))));
}

static sn_acc positions(sn_acc a)
{
    sn_acc s = sn_flatten(clamped(a));
    return sn_results(sn_argmax(s), sn_argmin(s));
}

static sn_acc position_along(sn_acc a)
{
    return sn_argmax(kept(sn_stencil(along, sn_pattern(5), sn_mirror, a)));
}

static sn_scalar positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc several(sn_acc a)
{
    sn_acc s = sn_flatten(clamped(a));
    return sn_results(sn_sum(s), sn_fold(sn_max, 1, s), sn_count(sn_map(positive, s)), sn_sum(sn_map(square, s)));
}

/* Two stencils of one array, and another array. */
static sn_scalar next(sn_scalar a, sn_scalar b)
{
    return sn_sub(sn_mul(a, 3), b);
}

static sn_acc of_two(sn_acc a, sn_acc b)
{
    sn_acc x = sn_stencil(weigh, sn_pattern(3, 3), sn_clamp, a);
    sn_acc y = sn_stencil(wide, sn_pattern(3, 5), sn_constant(1), a);
    return sn_sum(sn_flatten(kept(sn_zip_with(next, sn_zip_with(next, x, y), b))));
}

static sn_acc of_two_rows(sn_acc a, sn_acc b)
{
    return sn_sum(sn_zip_with(next, sn_flatten(clamped(a)), sn_flatten(clamped(sn_transpose(b)))));
}

static sn_scalar at_place(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_if(sn_lt(i, j), sn_mul(x, 2), x);
}

static sn_acc of_places(sn_acc a)
{
    return sn_sum(sn_flatten(kept(sn_imap(at_place, sn_stencil(weigh, sn_pattern(3, 3), sn_clamp, a)))));
}

/* The second sum needs the first; the scan reads what the fold's stencil reads; one result is stored, too. */
static sn_acc dependent(sn_acc a)
{
    sn_acc s = sn_flatten(clamped(a));
    sn_scalar sum = sn_the(sn_sum(s));
    return sn_sum(sn_zip_with(next, s, sn_replicate(sn_unit(sum), sn_extent(s, 0))));
}

static sn_acc beside_scan(sn_acc a)
{
    return sn_results(sn_sum(kept(sn_stencil(along, sn_pattern(5), sn_clamp, a))), sn_postscan(sn_add, 0, a),
                      sn_sum(a));
}

static sn_acc stored_too(sn_acc a)
{
    sn_acc s = clamped(a);
    return sn_results(s, sn_sum(sn_flatten(s)), sn_sum(s));
}

static sn_acc chain(sn_acc a)
{
    return sn_sum(sn_flatten(clamped(clamped(a))));
}

static sn_scalar quotients(sn_scalar s)
{
    return sn_quot(sn_at(s, 0, 0), sn_sub(sn_at(s, -1, 1), sn_at(s, 1, 0)));
}

static sn_acc of_quotients(sn_acc a)
{
    return sn_sum(sn_flatten(sn_stencil(quotients, sn_pattern(3, 3), sn_clamp, a)));
}

/* Keeps order and changes with every element: the composition of x -> a x + b. */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc composition(sn_acc a, sn_acc b)
{
    sn_acc part[2];
    sn_unzip(sn_fold1(compose, sn_zip(sn_flatten(clamped(a)), sn_flatten(b))), 2, part);
    return sn_results(part[0], part[1]);
}

#define SHAPES                                                                                                         \
    0, 0, 0, 5, 5, 0, 1, 1, 1, 33, 33, 1, 2, 3, 7, 7, 3, 17, 31, 37, 33, 100, 1, 5000, 5000, 1, 700, 13, 67, 1031
#define LINES 0, 1, 2, 7, 33, 97, 4096, 4099, 70001
#define CUBES 0, 3, 3, 3, 0, 3, 3, 3, 0, 1, 1, 1, 1, 2, 37, 2, 1, 50, 3, 5, 7, 7, 11, 64, 13, 37, 41, 5, 4, 1000

static void boundaries(void **state)
{
    (void)state;
    both("[n,m]T -> T, T, T", sums, "i32 f32 f64 u64", SMALL, SHAPES);
    both("[n,m]T -> T", sum_with_constant, "i32 f32", SMALL, SHAPES);
    both("[n,m]i32 -> i32", sum_with_function, NULL, SMALL, SHAPES);
    both("[n,m]T -> T", sum_of_wide, "i64 f32", SMALL, SHAPES);
    both("[n,m]u8 -> u32", sum_of_wide, NULL, MIXED, SHAPES);
}

static void ranks(void **state)
{
    (void)state;
    both("[n]T -> T, T", sums_along, "i32 f32 f64", SMALL, LINES);
    both("[n,m,k]T -> T, T", sums_around, "i32 f32", SMALL, CUBES);
}

static void orders(void **state)
{
    (void)state;
    both("[n,m]T -> i64, i64", positions, "i32 f32 f64 u8", SMALL, 1, 1, 2, 3, 7, 7, 33, 100, 67, 1031, 300, 257);
    both("[n,m]f32 -> i64, i64", positions, NULL, MIXED, 1, 1, 7, 7, 33, 100, 67, 1031, 300, 257);
    both("[n]T -> i64", position_along, "i32 f32", SMALL, 1, 33, 4099, 70001);
    both("[n,m]T, [n,m]T -> T, T", composition, "i32 u64", MIXED, 1, 1, 7, 7, 33, 100, 67, 1031, 300, 257);
}

static void neighbouring_programs(void **state)
{
    (void)state;
    both("[n,m]T -> T, T, i64, T", several, "i32 f64", SMALL, SHAPES);
    both("[n,m]T, [n,m]T -> T", of_two, "i32 f64", SMALL, SHAPES);
    both("[n,m]T, [n,m]T -> T", of_two_rows, "i32", SMALL, 1, 1, 7, 7, 33, 33, 97, 97);
    both("[n,m]T -> T", of_places, "i32 f32", SMALL, SHAPES);
    both("[n,m]T -> T", dependent, "i32", SMALL, SHAPES);
    both("[n]T -> T, [n]T, T", beside_scan, "i32", SMALL, LINES);
    both("[n,m]T -> [n,m]T, T, [n]T", stored_too, "i32 f32", SMALL, SHAPES);
    both("[n,m]T -> T", chain, "i32 f32", SMALL, SHAPES);
}

static void failures(void **state)
{
    (void)state;
    both("[n,m]i32 -> i32", of_quotients, NULL, SMALL, SHAPES);
    both("[n,m]i32 -> i32", of_quotients, NULL, MIXED, SHAPES);
}

/* --- the same bits as of a result in memory --- */

enum { LARGEST = 300000 };

static uint64_t bits_of(sn_body body, const float *x, int64_t n, int64_t m)
{
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[n,m]f32 -> f32", body);
    float result = 0;
    uint32_t bits;
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(x, n, m), sn_value(&result)), SN_OK);
    sn_drop(p);
    memcpy(&bits, &result, sizeof bits);
    return bits;
}

static void bits(void **state)
{
    (void)state;
    static const int64_t shape[][2] = {{7, 7}, {33, 100}, {1, 70001}, {300, 257}, {4, 65537}, {1021, 257}, {37, 7919}};
    const sn_body body[] = {SN_BODY(sum_with_constant), SN_BODY(sum_of_wide), SN_BODY(of_places)};
    float *x = malloc(LARGEST * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < LARGEST; i++)
        x[i] = (float)(i % 9973 * 7919 % 100003) / 1000 - 50;
    for (size_t i = 0; i < ARRAY_LENGTH(shape); i++)
        for (size_t k = 0; k < ARRAY_LENGTH(body); k++) {
            kept = force;
            uint64_t in_memory = bits_of(body[k], x, shape[i][0], shape[i][1]);
            kept = plain;
            assert_int_equal(bits_of(body[k], x, shape[i][0], shape[i][1]), in_memory);
        }
    free(x);
}

/* --- one loop --- */

static void expect_one_loop(const char *signature, sn_body body)
{
    sn_program *p = compiled_in(both_cpu(), signature, body);
    says(p, "clusters", "fold loop over");
    if (strstr(sn_explain(p, "clusters"), "cluster 1"))
        fail_msg("%s", sn_explain(p, "clusters"));
    if (!strstr(sn_explain(p, NULL), "fused: computed where it is used") || strstr(sn_explain(p, NULL), "not fused"))
        fail_msg("%s", sn_explain(p, NULL));
    sn_drop(p);
}

static void one_loop_does_both(void **state)
{
    (void)state;
    expect_one_loop("[n,m]f32 -> f32", SN_BODY(sum_with_constant));
    expect_one_loop("[n,m]i32 -> i32, i32, i64, i32", SN_BODY(several));
    expect_one_loop("[n]f32 -> f32, f32", SN_BODY(sums_along));
    if (!on_cpu())
        return; /* a thread computes what it folds by itself: few neighbours, in the order of other threads */
    expect_one_loop("[n,m,k]f32 -> f32, f32", SN_BODY(sums_around));
    expect_one_loop("[n,m]f64, [n,m]f64 -> f64", SN_BODY(of_two));
    expect_one_loop("[n,m]f32 -> i64, i64", SN_BODY(positions));
}

static void nothing_is_stored_between(void **state)
{
    (void)state;
    if (!on_cpu())
        skip(); /* others cut folds in other ways */
    float x[33 * 100] = {1}, sum;
    sn_program *p = compiled_in(both_cpu(), "[n,m]f32 -> f32", SN_BODY(sum_with_constant));
    assert_int_equal(sn_call(p, sn_in(x, 33, 100), sn_value(&sum)), SN_OK);
    expect_counts(p, .clusters = 1, .buffers = 0, .kernels = 1, .launches = 1);
    sn_drop(p);
}

static void expect_answer(const char *signature, sn_body body, const char *answer)
{
    sn_program *p = compiled_in(both_cpu(), signature, body);
    says(p, "unfused", answer);
    sn_drop(p);
}

/* What else needs the result reads it from memory, and so does the fold. */
static void others_keep_the_result(void **state)
{
    (void)state;
    const char *kinds = "not fused: the loops are of different kinds";
    expect_answer("[n,m]f32 -> [n,m]f32, f32, [n]f32", SN_BODY(stored_too), kinds);
    expect_answer("[n,m]f32 -> f32", SN_BODY(chain), kinds);
    expect_answer("[n,m]i32 -> i32", SN_BODY(dependent), kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundaries),
        cmocka_unit_test(ranks),
        cmocka_unit_test(orders),
        cmocka_unit_test(neighbouring_programs),
        cmocka_unit_test(failures),
        cmocka_unit_test(bits),
        cmocka_unit_test(one_loop_does_both),
        cmocka_unit_test(nothing_is_stored_between),
        cmocka_unit_test(others_keep_the_result),
    };
    return cmocka_run_group_tests_name("stencil_folds", tests, both_open, both_close);
}
