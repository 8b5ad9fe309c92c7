/* Lifting macros: their expansion grows linearly with nesting, literals take the type of what they meet, and the
 * generated header agrees with the operator table. */
#include "embed_test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- size of the expansion --- */

#pragma GCC diagnostic ignored "-Woverlength-strings" /* the expansions as strings */
#define TEXT_(...) #__VA_ARGS__
#define TEXT(...) TEXT_(__VA_ARGS__)
/* clang-format off */
#define NEST_1(x) sn_mul(x, 2)
#define NEST_2(x) sn_mul(sn_add(x, 1), 2)
#define NEST_16(x)                                                                                                     \
    sn_mul(sn_add(sn_mul(sn_add(sn_mul(sn_add(sn_mul(sn_add(sn_mul(sn_add(sn_mul(sn_add(sn_mul(sn_add(sn_mul(sn_add(x, \
        1), 2), 1), 2), 1), 2), 1), 2), 1), 2), 1), 2), 1), 2), 1), 2)
#define NEST_RIGHT_8(x)                                                                                                \
    sn_if(true, 1, sn_if(true, 1, sn_if(true, 1, sn_if(true, 1, sn_if(true, 1, sn_if(true, 1, sn_if(true, 1,           \
        sn_if(true, 1, x))))))))
#define NEST_TUPLES_4(x) sn_tuple(1, sn_tuple(1, sn_tuple(1, sn_tuple(1, x))))
#define NEST_GET_4(x) sn_fst(sn_fst(sn_fst(sn_fst(x))))
#define NEST_MAPS_1(x) sn_map(sn_neg, sn_zip_with(sn_add, x, x))
#define NEST_MAPS_4(x)                                                                                                 \
    sn_map(sn_neg, sn_zip_with(sn_add, x, sn_map(sn_neg, sn_zip_with(sn_add, x, sn_map(sn_neg, sn_zip_with(sn_add, x,  \
        sn_map(sn_neg, sn_zip_with(sn_add, x, x))))))))
/* clang-format on */

#line 31 "test_lift.c" /* the texts hold the name, and the sources may lie in folders of long names */
static void nesting_stays_small(void **state)
{
    (void)state;
    size_t one = sizeof TEXT(NEST_1(x)), sixteen = sizeof TEXT(NEST_16(x));
    assert_in_range(sixteen, 15 * one, 17 * one); /* no more than each call by itself */
    assert_in_range(sixteen, 0, 32768);
    assert_in_range(sizeof TEXT(NEST_RIGHT_8(x)), 0, 8 * 2048);
    assert_in_range(sizeof TEXT(NEST_TUPLES_4(x)), 0, 4 * 2048);
    assert_in_range(sizeof TEXT(NEST_GET_4(x)), 0, 4 * 1024);
    assert_in_range(sizeof TEXT(NEST_MAPS_4(x)), 0, 5 * sizeof TEXT(NEST_MAPS_1(x)));
    assert_in_range(sizeof TEXT(NEST_MAPS_1(x)), 0, 8 * 1024);
}

static sn_scalar sixteen_calls(sn_scalar x)
{
    return NEST_16(x);
}

static sn_acc map_sixteen(sn_acc a)
{
    return sn_map(sixteen_calls, a);
}

static void nested_calls_compute(void **state)
{
    (void)state;
    numbers in = {1, {2}, NUMBERS(0, 1)};
    expect_values(build("[n]f32 -> [n]f32", map_sixteen), &in, 2, NUMBERS(510, 766));
}

/* --- literals --- */

static sn_acc literals_that_fit(void)
{
    const float quarter = 0.25f;
    const int8_t small = -3;
    sn_scalar all[] = {
        sn_add(sn_f32(1), 2),
        sn_add(2, sn_f64(1)),
        sn_add(sn_f32(1), quarter),
        sn_add(sn_f64(1), quarter),
        sn_add(sn_i64(5), small),
        sn_add(sn_u8(1), 254),
        sn_add(sn_i32(1), 2.0),
        sn_add(sn_f32(1), 16777216),
        sn_add(sn_f64(0), 9007199254740992),
        sn_add(sn_u64(0), 9223372036854775808u),
        sn_to_f64(sn_and(true, 1)),
        sn_to_f32(0.1),
        sn_if(true, 1, sn_f64(2)),
        sn_sub(2.5f, 1),
        sn_min(3, 4LL),
        sn_bitcast(SN_U32, 1.0f),
    };
    sn_acc unit[16];
    for (int i = 0; i < 16; i++)
        unit[i] = sn_unit(all[i]);
    return sn_results_at(SN_HERE, 16, unit);
}

static void literals_take_the_type_they_meet(void **state)
{
    (void)state;
    built *b =
        build("-> f32, f64, f32, f64, i64, u8, i32, f32, f64, u64, f64, f32, f64, f32, i64, u32", literals_that_fit);
    expect_values(b, NULL, 16,
                  NUMBERS(3, 3, 1.25, 1.25, 2, 255, 3, 16777216, 9007199254740992.0, -9223372036854775808.0, 1,
                          (double)0.1f, 1, 1.5, 3, 0x3f800000));
}

#define REFUSED(name, ...)                                                                                             \
    static sn_acc name(void)                                                                                           \
    {                                                                                                                  \
        return sn_unit(__VA_ARGS__);                                                                                   \
    }
REFUSED(tenth, sn_add(sn_f32(1), 0.1))
REFUSED(large_f32, sn_mul(sn_f32(1), 16777217))
REFUSED(half, sn_add(sn_i32(1), 0.5))
REFUSED(large_u8, sn_add(sn_u8(1), 256))
REFUSED(negative, sn_add(sn_u32(1), -1))
REFUSED(no_bool, sn_or(sn_bool(true), 2))
REFUSED(minus_zero, sn_add(sn_i32(1), -0.0))
REFUSED(infinite, sn_add(sn_i32(1), INFINITY))
REFUSED(large_f64, sn_add(sn_f64(1), 18446744073709551615u))
REFUSED(branch, sn_if(true, sn_i8(1), 200))

static void refused(sn_acc (*f)(void), const char *operation, const char *literal, const char *type)
{
    built *b = build_at((sn_site){"lift.c", 1}, "-> f32", sn_body_0(f));
    char part[64];
    snprintf(part, sizeof part, ": %s: ", operation);
    if (!strstr(b->messages, "test_lift.c:") || !strstr(b->messages, part) || !strstr(b->messages, literal) ||
        !strstr(b->messages, type))
        fail_msg("%s", b->messages);
    built_free(b);
}

static void literals_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    refused(tenth, "add", "literal 0.1", "no f32 equals exactly; write 0.1f or sn_f32(0.1)");
    refused(large_f32, "mul", "literal 16777217", "no f32");
    refused(half, "add", "literal 0.5", "no i32");
    refused(large_u8, "add", "literal 256", "no u8");
    refused(negative, "add", "literal -1", "no u32");
    refused(no_bool, "or", "literal 2", "no bool");
    refused(minus_zero, "add", "literal -0", "no i32");
    refused(infinite, "add", "literal inf", "no i32");
    refused(large_f64, "add", "literal 18446744073709551615", "no f64");
    refused(branch, "if", "literal 200", "no i8");
}

static sn_scalar pair_up(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), 0);
}

static sn_acc seeds_and_results(sn_acc a)
{
    return sn_fold(pair_up, sn_tuple(0, 1), a);
}

static void literals_in_seeds_and_results(void **state)
{
    (void)state;
    numbers in = {1, {2}, NUMBERS(1.5, 1, 2.5, 1)};
    expect_values(build("[n](f64, u8) -> (f64, u8)", seeds_and_results), &in, 2, NUMBERS(4, 0));
}

/* --- literals a loop begins with --- */

static sn_scalar counts_below(void *env, sn_scalar i, sn_scalar sum)
{
    (void)sum;
    return sn_lt(i, *(const sn_scalar *)env);
}

static sn_scalar next_sum(sn_scalar i, sn_scalar sum)
{
    return sn_tuple(sn_add(i, 1), sn_add(sum, sn_f32(0.5f)));
}

static sn_scalar add_twice(sn_scalar i, sn_scalar sum)
{
    return sn_add(sum, sn_mul(sn_to_f64(i), 2));
}

static sn_scalar swap_states(sn_scalar i, sn_scalar a, sn_scalar b, sn_scalar x)
{
    (void)i, (void)a;
    return sn_tuple(b, x, sn_add(x, 1));
}

static sn_scalar doubled_f64(sn_scalar x)
{
    return sn_mul(x, sn_f64(2));
}

static sn_scalar inner_powers(sn_scalar i, sn_scalar sum)
{
    return sn_add(sum, sn_iterate(sn_add(i, 1), doubled_f64, 1));
}

static sn_scalar mean_of(sn_scalar sum, sn_scalar x)
{
    return sn_add(sum, sn_to_f64(x));
}

static sn_scalar last_of(sn_scalar last, sn_scalar x)
{
    (void)last;
    return x;
}

static sn_acc loops_begun_with_numbers(sn_acc n, sn_acc u)
{
    sn_scalar limit = sn_the(n);
    sn_scalar sums = sn_while(sn_closure(counts_below, &limit), next_sum, sn_tuple(0, 0));
    return sn_results(sn_unit(sums), sn_unit(sn_loop(4, add_twice, 0)),
                      sn_unit(sn_get(sn_loop(2, swap_states, sn_tuple(1, 2, sn_u8(7))), 0)),
                      sn_unit(sn_loop(3, inner_powers, 0)), sn_unit(sn_sfold(mean_of, 0.5, u)),
                      sn_unit(sn_sfold(last_of, 0, u)), sn_unit(sn_iterate(3, sn_neg, 5)));
}

static void literals_that_loops_begin_with(void **state)
{
    (void)state;
    numbers in[] = {{0, {0}, NUMBERS(6)}, {1, {2}, NUMBERS(3, 4)}};
    expect_values(build("i64, [n]u8 -> (i64, f32), f64, u8, f64, f64, u8, i32", loops_begun_with_numbers), in, 8,
                  NUMBERS(6, 3, 12, 7, 14, 7.5, 4, -5));
}

/* --- the generated header --- */

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    char *content = calloc(1, 1 << 18);
    assert_non_null(content);
    size_t n = fread(content, 1, (1 << 18) - 1, f);
    fclose(f);
    assert_in_range(n, 1, (1 << 18) - 2);
    return content;
}

typedef sn_scalar function_1(sn_scalar), function_2(sn_scalar, sn_scalar), function_3(sn_scalar, sn_scalar, sn_scalar);

static void header_agrees_with_the_table(void **state)
{
    (void)state;
    static const char *const params[] = {"", "sn_scalar a", "sn_scalar a, sn_scalar b",
                                         "sn_scalar a, sn_scalar b, sn_scalar c"};
    static const char *const args[] = {"", "a", "a, b", "a, b, c"};
    char *header = read_file("include/sinter/ops.h"), wanted[512];
    assert_non_null(header);
    int rows = 0;
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        const ir_op_row *row = &ir_ops[op];
        if (row->signature == SIGNATURE_CONVERT || row->signature == SIGNATURE_OWN)
            continue;
        rows++;
        const char *name = row->name;
        snprintf(wanted, sizeof wanted, ": %s */\nSN_API sn_scalar sn_%s(%s);", row->doc, name, params[row->arity]);
        if (!strstr(header, wanted))
            fail_msg("include/sinter/ops.h lacks: %s (run tools/make-ops.sh)", wanted);
        snprintf(wanted, sizeof wanted, "#define sn_%s(%s) SN_CALL%d(sn_%s, %s)\n", name, args[row->arity], row->arity,
                 name, args[row->arity]);
        if (!strstr(header, wanted))
            fail_msg("include/sinter/ops.h lacks: %s (run tools/make-ops.sh)", wanted);
    }
    for (const char *at = header; (at = strstr(at, "\nSN_API ")); at++)
        rows--;
    assert_int_equal(rows, 0); /* and has no more than the table */
    free(header);
}

/* --- primitives are functions --- */

static sn_acc each_primitive(void *env, int n, const sn_acc *a)
{
    (void)env;
    (void)n;
    function_1 *const unary = sn_exp;
    function_2 *const binary = sn_hypot;
    function_3 *const ternary = sn_fma;
    return sn_map(unary, sn_zip_with(binary, a[0], sn_zip_with(ternary, a[0], a[0], a[0])));
}

static void primitives_can_be_stored(void **state)
{
    (void)state;
    numbers in = {1, {1}, NUMBERS(0)};
    built *b = build_at(SN_HERE, "[n]f64 -> [n]f64", sn_body_env(each_primitive, NULL));
    expect_values(b, &in, 1, NUMBERS(1));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(nesting_stays_small),
        cmocka_unit_test(nested_calls_compute),
        cmocka_unit_test(literals_take_the_type_they_meet),
        cmocka_unit_test(literals_that_do_not_fit_are_refused),
        cmocka_unit_test(literals_in_seeds_and_results),
        cmocka_unit_test(literals_that_loops_begin_with),
        cmocka_unit_test(header_agrees_with_the_table),
        cmocka_unit_test(primitives_can_be_stored),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
