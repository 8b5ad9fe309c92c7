/* Programs for small extents: they compute what the interpreter does, are made once for each combination, and fail with
 * the same words as the program that they are made of. */
#include "api/call.h"
#include "both.h"
#include "counts.h"
#include "sinter/sinter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int open_small(void **state)
{
    int failed = both_open(state);
    if (!failed && both_cpu())
        both_cpu()->small_from = 0;
    return failed;
}

static uint32_t made(const sn_program *p)
{
    const small_extents *s = atomic_load(&((sn_program *)(uintptr_t)p)->small);
    return s ? s->number : 0;
}

static bool cpu_is_there(void)
{
    return both_cpu() && !api_own_memory(both_cpu());
}

/* --- the same as the interpreter --- */

static sn_scalar product(sn_scalar x, sn_scalar y)
{
    return sn_mul(x, y);
}

static sn_scalar of_a(sn_scalar i, sn_scalar row, sn_scalar column, sn_scalar k)
{
    (void)column;
    return sn_tuple(i, row, k);
}

static sn_scalar of_b(sn_scalar i, sn_scalar row, sn_scalar column, sn_scalar k)
{
    (void)row;
    return sn_tuple(i, k, column);
}

/* A batch of products of matrices. */
static sn_acc products(sn_acc a, sn_acc b)
{
    sn_scalar shape = sn_shape(sn_extent(a, 0), sn_extent(a, 1), sn_extent(b, 2), sn_extent(a, 2));
    return sn_sum(sn_zip_with(product, sn_backpermute(shape, of_a, a), sn_backpermute(shape, of_b, b)));
}

/* What is done with rows; several operations have one function. */
static sn_acc rows(sn_acc a)
{
    sn_acc total, before = sn_scanl_x(sn_add, 1, a, &total);
    return sn_results(before, total, sn_sort(a), sn_transpose(a), sn_reverse(a), sn_sum(a), sn_sum(sn_transpose(a)),
                      sn_fold_all(sn_max, 0, a));
}

static sn_scalar around(sn_scalar s)
{
    return sn_add(sn_mul(sn_at(s, 0, 0), 2), sn_sub(sn_at(s, -1, 0), sn_at(s, 0, 1)));
}

static sn_acc neighbours(sn_acc a)
{
    return sn_results(sn_stencil(around, sn_pattern(3, 3), sn_mirror, a),
                      sn_stencil(around, sn_pattern(3, 3), sn_constant(5), a));
}

/* Data of the program's own, an index that extents decide, and what is kept of all. */
static sn_acc weights; /* while the program is built */

static sn_scalar weighted(sn_scalar i, sn_scalar k, sn_scalar x)
{
    return sn_add(sn_mul(x, sn_index(weights, sn_rem(k, 4))), sn_to_i32(i));
}

static sn_scalar is_odd(sn_scalar x)
{
    return sn_ne(sn_bit_and(x, 1), 0);
}

static sn_acc with_data(sn_acc a)
{
    static const int32_t of[4] = {3, 1, 4, 1};
    weights = sn_use(of, 4);
    sn_acc all = sn_imap(weighted, a);
    return sn_results(all, sn_filter(is_odd, all), sn_flatten(all));
}

/* A permute to few places, and a table of few elements. */
static sn_acc few_places(sn_acc keys, sn_acc values)
{
    return sn_results(sn_histogram(sn_extent(values, 0), keys), sn_gather(keys, values));
}

/* Loops and choices, whose programs know what the one around them knows; the inner extents change from round to round.
 */
static sn_scalar decayed(sn_scalar x, sn_scalar total)
{
    return sn_sub(sn_mul(x, 2), total);
}

static sn_acc one_round(sn_acc a)
{
    return sn_zip_with(decayed, a, sn_replicate(sn_sum(a), SN_ALL, sn_extent(a, 1)));
}

static sn_acc without_first(sn_acc a)
{
    return sn_tail(a);
}

static sn_acc has_columns(sn_acc a)
{
    return sn_unit(sn_gt(sn_extent(a, 1), 2));
}

static sn_acc shorter(sn_acc a)
{
    return sn_acond(sn_gt(sn_extent(a, 1), 5), without_first, without_first, sn_aiterate(2, one_round, a));
}

static sn_acc loops(sn_acc a)
{
    return sn_results(sn_aiterate(3, one_round, a), sn_awhile(has_columns, shorter, a));
}

#define SHAPES 100, 1, 100, 2, 90, 3, 64, 4, 50, 7, 33, 16, 20, 17, 0, 3, 3, 100, 1, 1, 16, 16

static void as_the_interpreter(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T, [n]T, [n,m]T, [m,n]T, [n,m]T, [n]T, [m]T, T", rows, "i32 f64", SMALL, SHAPES);
    both("[n,m,k]T, [n,k,m]T -> [n,m,m]T", products, "f32 i64", SMALL, 20, 4, 4, 20, 3, 5, 9, 8, 8, 7, 17, 2, 40, 1, 2);
    both("[n,m]T -> [n,m]T, [n,m]T", neighbours, "f32 i16", SMALL, SHAPES);
    both("[n,m]T -> [n,m]T, [n,k]T", loops, "i32", SMALL, 30, 4, 20, 7, 5, 16, 3, 17, 16, 2, 0, 3);
    both("[n,m]i32 -> [n,m]i32, [k]i32, [l]i32", with_data, NULL, SMALL, SHAPES);
    both("[n]i32, [m]T -> [m]i64, [n]T", few_places, "f32", INDICES, 3, 3, 5, 16, 9, 9, 1000, 1000, 11, 12);
}

/* --- one program for each combination --- */

static sn_acc turned(sn_acc a)
{
    return sn_transpose(a);
}

static void call_turned(sn_program *p, int n, int m)
{
    static int32_t x[60 * 60], y[60 * 60];
    for (int i = 0; i < n * m; i++)
        x[i] = i;
    assert_int_equal(sn_call(p, sn_in(x, n, m), sn_into(y, m, n)), SN_OK);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            assert_int_equal(y[k * n + i], x[i * m + k]);
}

static void one_for_each_combination(void **state)
{
    (void)state;
    if (!cpu_is_there())
        skip();
    sn_program *p = sn_compile(both_cpu(), "[n,m]i32 -> [m,n]i32", turned);
    assert_non_null(p);
    call_turned(p, 50, 40);
    call_turned(p, 17, 60);
    call_turned(p, 0, 20);
    assert_int_equal(made(p), 0);
    for (int turn = 0; turn < 2; turn++) {
        call_turned(p, 50, 4);
        assert_int_equal(made(p), turn ? 3 : 1);
        call_turned(p, 40, 4); /* that is none of them */
        call_turned(p, 50, 16);
        call_turned(p, 4, 4);
        assert_int_equal(made(p), 3);
    }
    says(p, "plan", "where n is 4 and m is 4:");
    says(p, "kernels", "; where m is 16:");
    for (int m = 1; m <= 16; m++)
        call_turned(p, 60, m); /* of too many, the others take the general program */
    assert_int_equal(made(p), 8);
    sn_drop(p);
}

/* Loops in scalar code have up to 32 rounds in programs of their own: of so many each lane does its own. */
typedef struct taps {
    sn_acc x, factors;
    sn_scalar i;
} taps;

static sn_scalar one_tap(void *env, sn_scalar k, sn_scalar sum)
{
    const taps *t = env;
    return sn_add(sum, sn_mul(sn_index(t->factors, k), sn_index(t->x, sn_add(sn_mul(t->i, 4), k))));
}

static sn_scalar all_taps(void *env, sn_scalar i)
{
    taps t = *(const taps *)env;
    t.i = i;
    return sn_loop(sn_size(t.factors), sn_closure(one_tap, &t), sn_f32(0));
}

static sn_acc decimated(sn_acc x, sn_acc factors)
{
    taps t = {.x = x, .factors = factors};
    sn_scalar n = sn_add(sn_quot(sn_sub(sn_size(x), sn_size(factors)), 4), 1);
    return sn_generate(sn_shape(n), sn_closure(all_taps, &t));
}

static void rounds_may_be_more(void **state)
{
    (void)state;
    both("[n]T, [m]T -> [k]T", decimated, "f32", SMALL, 400, 31, 300, 32, 300, 33, 200, 17, 50, 9);
    if (!cpu_is_there())
        skip();
    sn_program *p = sn_compile(both_cpu(), "[n]f32, [m]f32 -> [k]f32", decimated);
    assert_non_null(p);
    static float x[400], w[40], y[100];
    for (int m = 31; m <= 34; m++) {
        assert_int_equal(sn_call(p, sn_in(x, 400), sn_in(w, m), sn_into(y, (400 - m) / 4 + 1)), SN_OK);
        assert_int_equal(made(p), m > 31 ? 2 : 1);
    }
    says(p, "kernels", "; where m is 32:\n; cluster 0, kernel map_generate");
    sn_drop(p);
}

static void with_little_data_there_is_none(void **state)
{
    (void)state;
    if (!cpu_is_there())
        skip();
    sn_context *cx = sn_open(NULL);
    assert_non_null(cx);
    sn_program *p = sn_compile(cx, "[n,m]i32 -> [m,n]i32", turned);
    call_turned(p, 60, 4);
    assert_int_equal(made(p), 0);
    int32_t *x = calloc(4096 * 4, sizeof *x), *y = malloc(4096 * 4 * sizeof *y);
    assert_true(p && x && y);
    assert_int_equal(sn_call(p, sn_in(x, 4096, 4), sn_into(y, 4, 4096)), SN_OK);
    assert_int_equal(made(p), 1);
    free(x), free(y);
    sn_drop(p);
    sn_close(cx);
}

static void calls_are_recorded(void **state)
{
    (void)state;
    if (!cpu_is_there())
        skip();
    sn_program *p = sn_compile(both_cpu(), "[n,m]i32 -> [m,n]i32", turned);
    assert_non_null(p);
    sn_profile(p, true);
    call_turned(p, 50, 4);
    call_turned(p, 50, 40);
    says(p, "profile", "calls: 2, ");
    sn_profile(p, true);
    call_turned(p, 50, 4);
    says(p, "profile", "calls: 1, ");
    sn_drop(p);
}

/* Products become parts of sums in it as they do in the general program. */
static sn_scalar product_and_sum(sn_scalar x, sn_scalar y, sn_scalar z)
{
    return sn_add(sn_mul(x, y), z);
}

static sn_acc products_and_sums(sn_acc x, sn_acc y, sn_acc z)
{
    return sn_zip_with(product_and_sum, x, y, z);
}

static void products_are_contracted_alike(void **state)
{
    enum { N = 4000 };
    static float x[N], y[N], z[N], small[N], large[N];
    (void)state;
    if (!cpu_is_there())
        skip();
    sn_context *cx = sn_open(NULL);
    assert_non_null(cx);
    cx->small_from = 0;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(i * 7919 % 1013) / 7;
        y[i] = (float)(i * 104729 % 997) / 11;
        z[i] = -x[i] * y[i];
    }
    sn_program *p = sn_compile(cx, "[n,m]f32, [n,m]f32, [n,m]f32 -> [n,m]f32", products_and_sums);
    assert_non_null(p);
    for (int k = 0; k < 2; k++) {
        const int m = k ? 40 : 4;
        assert_int_equal(sn_call(p, sn_in(x, N / m, m), sn_in(y, N / m, m), sn_in(z, N / m, m),
                                 sn_into(k ? large : small, N / m, m)),
                         SN_OK);
        assert_int_equal(made(p), 1);
    }
    assert_memory_equal(small, large, sizeof small);
    sn_drop(p);
    sn_close(cx);
}

/* --- what fails --- */

static sn_scalar beyond(sn_scalar i, sn_scalar k, sn_scalar x)
{
    (void)x;
    return sn_index(weights, i, sn_add(k, 1));
}

static sn_acc reads_beyond(sn_acc a)
{
    weights = a;
    return sn_imap(beyond, a);
}

/* The messages of two calls, of a program with small extents and of the same one without, but for numbers. */
static void same_failure(sn_program *p, const sn_arg *small, const sn_arg *large, int count, sn_status wanted)
{
    char first[500], second[500];
    assert_int_equal(sn_call_n(p, count, large), wanted);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(sn_message(both_cpu()), "0123456789"), sn_message(both_cpu()));
    assert_int_equal(sn_call_n(p, count, small), wanted);
    snprintf(second, sizeof second, "%.*s", (int)strcspn(sn_message(both_cpu()), "0123456789"), sn_message(both_cpu()));
    assert_string_equal(first, second);
}

static void failures_say_the_same(void **state)
{
    static int32_t x[60 * 60], y[60 * 60];
    (void)state;
    if (!cpu_is_there())
        skip();
    sn_program *p = sn_compile(both_cpu(), "[n,m]i32 -> [n,m]i32", reads_beyond);
    assert_non_null(p);
    same_failure(p, (sn_arg[]){sn_in(x, 50, 4), sn_into(y, 50, 4)}, (sn_arg[]){sn_in(x, 50, 40), sn_into(y, 50, 40)}, 2,
                 SN_OUT_OF_RANGE);
    assert_non_null(strstr(sn_message(both_cpu()), "test_small_extents.c:"));
    assert_int_equal(made(p), 1);
    /* a result of other extents, and parameters that differ in one */
    same_failure(p, (sn_arg[]){sn_in(x, 50, 4), sn_into(y, 50, 5)}, (sn_arg[]){sn_in(x, 50, 40), sn_into(y, 50, 41)}, 2,
                 SN_BAD_EXTENT);
    sn_drop(p);
    p = sn_compile(both_cpu(), "[n,m,k]i32, [n,k,m]i32 -> [n,m,m]i32", products);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(x, 5, 4, 3), sn_in(x, 5, 4, 3), sn_into(y, 5, 4, 4)), SN_BAD_EXTENT);
    assert_int_equal(made(p), 0);
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_interpreter),   cmocka_unit_test(one_for_each_combination),
        cmocka_unit_test(rounds_may_be_more),   cmocka_unit_test(with_little_data_there_is_none),
        cmocka_unit_test(calls_are_recorded),   cmocka_unit_test(products_are_contracted_alike),
        cmocka_unit_test(failures_say_the_same)};
    return cmocka_run_group_tests(tests, open_small, both_close);
}
