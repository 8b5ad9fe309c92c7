/* Which values are index arithmetic, and for which launches they fit in 32 bits: sizes are invented, on both sides of
 * the border. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "kernel/narrow.h"

enum { MARGIN = 1 << 16 };
static const int64_t most = INT32_MAX - MARGIN;

static kernel *parsed(arena *a, const char *source)
{
    const char *message = "", *why = "";
    kernel *k = k_parse(a, source, &message);
    if (!k)
        fail_msg("%s", message);
    if (!k_verify(k, a, &why))
        fail_msg("%s", why);
    return k;
}

static bool fits(const char *source, int64_t x, int64_t y, int64_t first, int64_t last)
{
    arena a;
    arena_init(&a, NULL);
    const ir_bits arg[2] = {(ir_bits)x, (ir_bits)y};
    bool result = k_indices_fit(parsed(&a, source), &a, arg, first, last);
    arena_free(&a);
    return result;
}

static unsigned statements(const kernel *k, ir_op op)
{
    unsigned n = 0;
    for (k_ref r = 1; r < k->stmt.n; r++)
        n += k->stmt.at[r].op == K_LET && k->stmt.at[r].sub == op;
    return n;
}

/* Index arithmetic is what comes from pieces, threads, loops and arguments; data are not. */
static void values_are_told_apart(void **state)
{
    static const char source[] =
        "kernel k lanes 8 narrow { global @1:i64 global @2:u8 global @3:f32 global @4:i64 written arg %1:i64 arg "
        "%2:f32 "
        "%10:i64 = mul piece, %1 for_all %11:i64 < 8 { %12:i64 = add %10, %11 %13:bool = lt %12, 5 "
        "%14:i64 = select %13, %12, 7 %15:u8 = load @2[%12] %16:i64 = convert %15 %17:i64 = bit_and %16, 15 "
        "for %18:i64 = %10 to %1 { %19:i64 = rem %18, 3 store @4[%19] = %18 } "
        "%20:i64 = load @1[%12] %21:i64 = add %20, %12 %22:i64 = var %12 %23:i64 = bitcast %22 "
        "%24:i64 = convert %2 %25:i64 = shl %12, 1 %26:i64 = add %12, 4000000000 store @4[%23] = %26 } }";
    static const bool index[] = {true, true,  true,  false, true, false /* u8 */, true,  true, true,
                                 true, false, false, true,  true, false,          false, false};
    (void)state;
    arena a;
    arena_init(&a, NULL);
    kernel *k = parsed(&a, source);
    assert_true(k->narrow);
    const bool *marked = k_find_indices(k, &a);
    unsigned n = 0;
    for (k_ref r = 1; r < k->stmt.n; r++)
        if (k->stmt.at[r].dst && k->value.at[k->stmt.at[r].dst].kind != KV_NONE && k->stmt.at[r].op != K_SET) {
            assert_true(n < ARRAY_LENGTH(index));
            if (marked[k->stmt.at[r].dst] != index[n])
                fail_msg("value %u of the text", n + 10);
            n++;
        }
    assert_int_equal(n, ARRAY_LENGTH(index));
    for (k_val v = 1; v < k->value.n; v++)
        if (k->value.at[v].kind == KV_ARG)
            assert_int_equal(marked[v], k->value.at[v].type == T_I64);
    arena_free(&a);
}

/* Variables are index arithmetic if they hold nothing but such numbers and what they have held before: not what adds
 * up, takes what memory has, or begins far out; and what holds what such a one holds is none either. */
static void variables_that_choose(void **state)
{
    static const char source[] =
        "kernel k lanes 8 narrow { global @1:i64 global @4:i64 written arg %1:i64 for_all %2:i64 < %1 { "
        "%11:i64 = var 0 %12:i64 = var 0 %13:i64 = var 0 %14:i64 = var 9223372036854775807 %15:i64 = var 0 "
        "%16:i64 = var %13 %3:i64 = load @1[%2] "
        "for %4:i64 = 0 to %1 { %5:bool = lt %3, %4 %21:i64 = bitcast %11 %22:i64 = select %5, %4, %21 set %11 = %22 "
        "%23:i64 = bitcast %12 %24:i64 = add %23, 2 set %12 = %24 set %13 = %3 set %14 = %4 "
        "%25:i64 = bitcast %12 %26:i64 = select %5, %25, %4 set %15 = %26 } "
        "%27:i64 = bitcast %11 %28:i64 = mul %27, 3 %29:i64 = bitcast %16 store @4[%28] = %29 } }";
    /* as they stand there, from %2 on */
    static const bool index[] = {true, true, false, false, false, false, false, false, true, false,
                                 true, true, false, false, false, false, true,  true,  false};
    (void)state;
    arena a;
    arena_init(&a, NULL);
    kernel *k = parsed(&a, source);
    const bool *marked = k_find_indices(k, &a);
    unsigned n = 0;
    for (k_ref r = 1; r < k->stmt.n; r++)
        if (k->stmt.at[r].dst && k->stmt.at[r].op != K_SET) {
            assert_true(n < ARRAY_LENGTH(index));
            if (marked[k->stmt.at[r].dst] != index[n])
                fail_msg("value %u of the text", n);
            n++;
        }
    assert_int_equal(n, ARRAY_LENGTH(index));
    arena_free(&a);
}

/* What is made of a variable in a round may have been set in the round before. */
static void what_variables_hold(void **state)
{
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written arg %1:i64 arg %2:i64 %3:i64 = var 0 for %4:i64 = 0 to %1 { "
        "%5:i64 = bitcast %3 %6:i64 = mul %5, %2 store @1[%6] = 1.0:f32 set %3 = %4 } }";
    (void)state;
    assert_true(fits(source, 1001, 1000, 0, 1));
    assert_true(fits(source, 1001, most / 1000, 0, 1));
    assert_false(fits(source, 1001, most / 1000 + 1, 0, 1));
    assert_true(fits(source, 1, INT64_C(1) << 30, 0, 1));
}

static bool is_counter(const char *body)
{
    arena a;
    arena_init(&a, NULL);
    kernel *k =
        parsed(&a, arena_printf(&a,
                                "kernel k lanes 8 { global @1:i64 written global @2:bool arg %%1:i64 for_all %%2:i64 "
                                "< 8 { %%3:bool = load @2[%%2] %%4:i64 = var 0 %s store @1[%%2] = %%4 } }",
                                body));
    const bool *marked = k_find_indices(k, &a);
    bool found = false, result = false;
    for (k_ref r = 1; r < k->stmt.n; r++)
        if (k->stmt.at[r].op == K_DECL && !found) {
            result = marked[k->stmt.at[r].dst];
            found = true;
        }
    assert_true(found);
    arena_free(&a);
    return result;
}

/* What one statement makes one larger, or leaves as it is, in loops of known length. */
static void what_counts(void **state)
{
    (void)state;
    assert_true(is_counter("for %5:i64 = 0 to %1 { %6:i64 = add %4, 1 set %4 = %6 }"));
    assert_true(is_counter("for %5:i64 = 0 to %1 { if %3 { %6:i64 = bitcast %4 %7:i64 = add 1, %6 set %4 = %7 } }"));
    assert_true(is_counter("for %5:i64 = 0 to %1 { %6:i64 = convert %3 %7:i64 = add %6, %4 set %4 = %7 }"));
    assert_true(is_counter("for %5:i64 = 0 to %1 { %6:i64 = select %3, 0, 1 %7:i64 = add %4, %6 set %4 = %7 }"));
    assert_false(is_counter("for %5:i64 = 0 to %1 { %6:i64 = select %3, 0, 2 %7:i64 = add %4, %6 set %4 = %7 }"));
    assert_false(is_counter("for %5:i64 = 0 to %1 { %6:i64 = add %4, -1 set %4 = %6 }"));
    assert_false(is_counter("for %5:i64 = 0 to %1 { %6:i64 = sub %4, 1 set %4 = %6 }"));
    assert_false(is_counter("for %5:i64 = 0 to %1 { %6:i64 = add %4, %4 set %4 = %6 }"));
    assert_false(is_counter("for %5:i64 = 0 to %1 { %6:i64 = add %4, 1 set %4 = %6 %7:i64 = add %4, 1 set %4 = %7 }"));
    assert_false(is_counter("loop { %6:i64 = add %4, 1 set %4 = %6 break_if %3 }"));
    assert_false(is_counter("for %5:i64 = 0 to %1 { loop { %6:i64 = add %4, 1 set %4 = %6 break_if %3 } }"));
}

/* Rounds of loops within each other multiply, and come on top of what a counter begins with. */
static void how_far_counters_get(void **state)
{
    static const char nested[] =
        "kernel k lanes 8 { global @1:f32 written arg %1:i64 arg %2:i64 %3:i64 = mul %1, 1 for_all %4:i64 < 8 { %5:i64 "
        "= var 7 "
        "for %6:i64 = 2 to %3 { for %7:i64 = 0 to %2 { %8:i64 = add %5, 1 set %5 = %8 } } %9:i64 = bitcast %5 "
        "store @1[%9] = 1.0:f32 } }";
    static const char multiplied[] =
        "kernel k lanes 8 { global @1:f32 written arg %1:i64 arg %2:i64 for_all %4:i64 < 8 { %5:i64 = var %2 "
        "for %6:i64 = 0 to %1 { %8:i64 = add %5, 1 set %5 = %8 } %9:i64 = mul %5, 1000 store @1[%9] = 1.0:f32 } }";
    (void)state;
    assert_true(fits(nested, 1002, 1000, 0, 1));
    assert_true(fits(nested, 2 + (1 << 15), 1 << 15, 0, 1));
    assert_true(fits(nested, 3, most - 8, 0, 1));
    assert_false(fits(nested, 3, most - 7, 0, 1));
    assert_false(fits(nested, 2 + (1 << 16), 1 << 15, 0, 1));
    assert_false(fits(nested, most, most, 0, 1));
    assert_true(fits(nested, 0, most, 0, 1));
    assert_true(fits(multiplied, most / 1000 - 1, 0, 0, 1));
    assert_false(fits(multiplied, most / 1000, 1, 0, 1));
    assert_true(fits(multiplied, 0, most / 1000, 0, 1));
}

/* Variables and shared memory that choose from what others have are index arithmetic, and what was stored in any round
 * counts; not so memory that counts, has what other memory has, or is written by an atomic. */
static void what_waits_in_memory(void **state)
{
    static const struct {
        const char *stored;
        bool fits, index;
    } cases[] = {{"%10:i64 = select %8, %4, %7 store @2[%3] = %10", true, true},
                 {"%10:i64 = max %4, %7 store @2[%3] = %10", true, true},
                 {"%10:i64 = add %7, 1 store @2[%3] = %10", true, false},
                 {"%10:i64 = load @4[%3] store @2[%3] = %10", true, false},
                 {"store @2[%3] = %4 %10:i64 = atomic add @2[%3], 1", true, false}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *source = arena_printf(
            &a,
            "kernel k lanes 8 { global @1:f32 written shared @2:i64[8] global @4:i64 arg %%1:i64 arg "
            "%%2:i64 for_all %%3:i64 < 8 { store @2[%%3] = 0 %%11:i64 = var 0 for %%4:i64 = 0 to %%1 { "
            "%%5:i64 = bitcast %%11 %%7:i64 = load @2[%%3] %%8:bool = lt %%5, %%4 set %%11 = %%7 %%9:i64 = "
            "mul %%7, %%2 %%12:f32 = load @1[%%9] store @1[%%3] = %%12 %s } } }",
            cases[i].stored);
        kernel *k = parsed(&a, source);
        const bool *marked = k_find_indices(k, &a);
        for (k_ref r = 1; r < k->stmt.n; r++)
            if (k->stmt.at[r].op == K_LOAD && k->stmt.at[r].mem == 2 && marked[k->stmt.at[r].dst] != cases[i].index)
                fail_msg("case %zu: a load of what waits", i);
        if (fits(source, 1001, 1000, 0, 1) != cases[i].fits)
            fail_msg("case %zu: small numbers", i);
        if (fits(source, 1001, most, 0, 1) == cases[i].index)
            fail_msg("case %zu: large numbers", i);
        arena_free(&a);
    }
}

/* A map over n elements in pieces of 1024. */
static const char map[] = "kernel k lanes 8 { global @1:f32 written arg %1:i64 arg %2:i64 %3:i64 = mul piece, %1 "
                          "%4:i64 = sub %2, %3 %5:i64 = min %1, %4 for_all %6:i64 < %5 { %7:i64 = add %3, %6 "
                          "store @1[%7] = 1.0:f32 } }";

static void a_flat_map(void **state)
{
    const int64_t size = 1024;
    (void)state;
    assert_true(fits(map, size, 1, 0, 1));
    assert_true(fits(map, size, INT64_C(1) << 30, 0, (INT64_C(1) << 30) / size));
    assert_true(fits(map, size, most, 0, most / size));
    assert_false(fits(map, size, most + 1, 0, most / size));
    assert_false(fits(map, size, INT64_C(1) << 31, 0, (INT64_C(1) << 31) / size));
    assert_false(fits(map, size, INT64_C(1) << 40, 0, 1));
    assert_false(fits(map, size, size, 0, INT64_C(1) << 40));
    assert_false(fits(map, INT64_MIN, INT64_MAX, 0, 1));
    assert_true(fits(map, size, 0, 0, 1));
    /* the last pieces of a launch that is cut */
    assert_false(fits(map, size, most, most / size, most / size + 2));
}

/* The ends of a difference are those of its operands crosswise. */
static void differences(void **state)
{
    static const char up[] = "kernel k lanes 8 { global @1:f32 written arg %1:i64 arg %2:i64 for %3:i64 = 0 to %2 { "
                             "%4:i64 = sub %1, %3 store @1[%4] = 1.0:f32 } }";
    static const char down[] = "kernel k lanes 8 { global @1:f32 written arg %1:i64 arg %2:i64 for %3:i64 = %2 to 0 { "
                               "%4:i64 = sub %1, %3 store @1[%4] = 1.0:f32 } }";
    (void)state;
    assert_true(fits(up, -most + 10, 11, 0, 1)); /* -most + 10 - (0 ... 10) */
    assert_false(fits(up, -most + 10, 12, 0, 1));
    assert_true(fits(up, most, 1000, 0, 1));
    assert_true(fits(down, most - 10, -10, 0, 1)); /* most - 10 - (-10 ... -1) */
    assert_false(fits(down, most - 10, -11, 0, 1));
    assert_true(fits(down, -most, -1000, 0, 1));
}

/* Pieces are cut into row and column: the remainder is known to be one, so rows times columns may come near the border.
 */
static void rows_and_columns(void **state)
{
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written arg %1:i64 arg %2:i64 %3:i64 = quot piece, %1 %4:i64 = mul %3, %1 "
        "%5:i64 = sub piece, %4 %6:i64 = mul %5, 65536 %7:i64 = mul %3, %2 %8:i64 = add %7, %6 for_all %9:i64 < 9 { "
        "%10:i64 = add %8, %9 store @1[%10] = 1.0:f32 } }";
    (void)state;
    /* 16 pieces a row of 2^20 elements */
    assert_true(fits(source, 16, 1 << 20, 0, 16 * 2040));
    assert_false(fits(source, 16, 1 << 20, 0, 16 * 2048));
    assert_true(fits(source, 1, 1 << 15, 0, 65000));
    assert_false(fits(source, 1, 1 << 15, 0, 65536));
    /* a row of nothing divides nothing */
    assert_false(fits(source, 0, 1 << 15, 0, 65000));
}

static void other_operators(void **state)
{
    static const struct {
        const char *operation;
        int64_t x, y;
        bool fits;
    } cases[] = {
        {"mul %1, %2", 46000, 46000, true},
        {"mul %1, %2", 47000, 47000, false},
        {"mul %1, %2", -47000, 47000, false},
        {"max %1, %2", 5, 1 << 30, true},
        {"neg %1", -1, 0, true},
        {"rem %1, %2", -1000, 7, true},
        {"mod %1, %2", -1000, -7, true},
        {"div %1, %2", -1000, 0, true},
        {"quot %1, %2", 1000, -1, true},
        {"abs %1", -1000, 0, true},
        {"bit_and %1, 4095", INT32_MAX, 0, false},
        {"bit_and %1, 4095", 1 << 20, 0, true},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char source[400];
        snprintf(source, sizeof(source),
                 "kernel k lanes 8 { global @1:i64 written arg %%1:i64 arg %%2:i64 %%3:i64 = %s store @1[0] = %%3 }",
                 cases[i].operation);
        if (fits(source, cases[i].x, cases[i].y, 0, 1) != cases[i].fits)
            fail_msg("%s", cases[i].operation);
    }
}

/* Pieces that wait for each other have state whose positions are not pieces. */
/* An index that went through 32 bits is the one before, but what is no index stays cut off. */
static void indices_are_kept(void **state)
{
    static const struct {
        const char *body;
        bool kept;
    } cases[] = {
        {"for_all %2:i64 < 8 { %3:i64 = add %2, %1 %4:i32 = convert %3 %5:i64 = convert %4 store @1[%5] = 1 }", true},
        {"for_all %2:i64 < 8 { %4:i32 = convert %2 %5:i64 = convert %4 store @1[%5] = 1 }", true},
        {"for_all %2:i64 < 8 { %3:i64 = load @2[%2] %4:i32 = convert %3 %5:i64 = convert %4 store @1[%5] = 1 }", false},
        {"for_all %2:i64 < 8 { %3:u8 = convert %2 %4:i32 = convert %3 %5:i64 = convert %4 store @1[%5] = 1 }", false},
        {"for_all %2:i64 < 8 { %4:u32 = convert %2 %5:i64 = convert %4 store @1[%5] = 1 }", false},
        {"for_all %2:i64 < 8 { %4:i32 = bitcast 7:i32 %5:i64 = convert %4 store @1[%5] = 1 }", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        arena a;
        arena_init(&a, NULL);
        kernel *k = parsed(
            &a, arena_printf(&a, "kernel k lanes 8 narrow { global @1:i64 written global @2:i64 arg %%1:i64 %s }",
                             cases[i].body));
        const unsigned before = statements(k, OP_CONVERT);
        k_keep_indices(k, &a);
        if ((statements(k, OP_CONVERT) == before - 1) != cases[i].kept || statements(k, OP_CONVERT) > before)
            fail_msg("case %zu", i);
        arena_free(&a);
    }
}

static void chains_stay_wide(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    kernel *k = parsed(&a, map);
    k->chained = true;
    const bool *marked = k_find_indices(k, &a);
    for (k_val v = 1; v < k->value.n; v++)
        assert_false(marked[v]);
    arena_free(&a);
}

/* What fits at both ends of intervals of arguments, and what only fits at one. */
static void launches_are_looked_at_together(void **state)
{
    static const char source[] = "kernel k lanes 8 { global @1:i64 written arg %1:i64 arg %2:i64 %10:i64 = mul %1, %2 "
                                 "for_all %11:i64 < 8 { %12:i64 = add %10, %11 store @1[%11] = %12 } }";
    static const k_range some[][2] = {
        {{0, 1000}, {5, 1 << 20}}, {{0, 1 << 12}, {5, 1 << 20}}, {{-1000, 7}, {0, 1 << 20}}};
    (void)state;
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
        arena a;
        arena_init(&a, NULL);
        bool all = true;
        for (unsigned corner = 0; corner < 4; corner++)
            all &= fits(source, corner & 1 ? some[i][0].high : some[i][0].low,
                        corner & 2 ? some[i][1].high : some[i][1].low, 0, 1);
        assert_int_equal(k_indices_fit_between(parsed(&a, source), &a, some[i], 0, 1), all);
        assert_int_equal(all, i != 1);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_are_looked_at_together),
                                       cmocka_unit_test(values_are_told_apart),
                                       cmocka_unit_test(variables_that_choose),
                                       cmocka_unit_test(what_variables_hold),
                                       cmocka_unit_test(what_counts),
                                       cmocka_unit_test(how_far_counters_get),
                                       cmocka_unit_test(what_waits_in_memory),
                                       cmocka_unit_test(a_flat_map),
                                       cmocka_unit_test(differences),
                                       cmocka_unit_test(rows_and_columns),
                                       cmocka_unit_test(other_operators),
                                       cmocka_unit_test(chains_stay_wide),
                                       cmocka_unit_test(indices_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
