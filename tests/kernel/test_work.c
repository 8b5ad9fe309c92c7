/* What launches do, counted from kernels' texts, against numbers that can be counted by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/work.h"

static arena memory;

static int begin(void **state)
{
    (void)state;
    arena_init(&memory, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

static k_work counted(const char *source, const ir_bits *arg, int64_t pieces)
{
    const char *message = "", *why = "";
    k_work w;
    kernel *k = k_parse(&memory, source, &message);
    if (!k)
        fail_msg("%s", message);
    if (!k_verify(k, &memory, &why))
        fail_msg("%s", why);
    k_find_work(k, &memory, arg, pieces, k->lanes, &w);
    return w;
}

#define NEAR(x, y) assert_true((x) - (y) < 1e-6 * ((y) + 1) && (y) - (x) < 1e-6 * ((y) + 1))

/* pieces of %1 of %2 elements: out = a * in + in */
static const char flat[] = "kernel k lanes 8 { global @1:f32 written global @2:f32 arg %1:i64 arg %2:i64 arg %3:f32 "
                           "%4:i64 = mul piece, %1 %5:i64 = sub %2, %4 %6:i64 = min %1, %5 "
                           "for_all %7:i64 < %6 { %8:i64 = add %4, %7 %9:f32 = load @2[%8] %10:f32 = mul %9, %3 "
                           "%11:f32 = add %10, %9 store @1[%8] = %11 } }";

static void every_element_counts_once(void **state)
{
    (void)state;
    /* 3 pieces of 16, of 40 elements: the last one has 8 */
    k_work w = counted(flat, (ir_bits[]){16, 40, 0}, 3);
    NEAR(w.operations, 80);
    NEAR(w.memory[2].loads, 40);
    NEAR(w.memory[1].stores, 40);
    NEAR(w.memory[2].gathered, 0);
    NEAR(w.used, 160);
    NEAR(w.slots, 160);
    NEAR(w.alone + w.joining + w.wide, 0);
    assert_false(w.open_ended);
    assert_int_equal(w.memory[2].low, 0);
    assert_int_equal(w.memory[2].high, 39);
    /* 37: five of the last gang's lanes are on */
    w = counted(flat, (ir_bits[]){16, 37, 0}, 3);
    NEAR(w.used, 37 * 4);
    NEAR(w.slots, 40 * 4);
    /* a million pieces are not walked one by one, but the last one is */
    w = counted(flat, (ir_bits[]){16, 16000000 - 3, 0}, 1000000);
    NEAR(w.memory[2].loads, 16000000 - 3);
    assert_int_equal(w.memory[2].high, 16000000 - 4);
    NEAR(w.slots, 4.0 * 16000000);
}

static void operations_have_sizes(void **state)
{
    (void)state;
    static const char source[] = "kernel k lanes 4 { global @1:f64 written global @2:i64 for_all %1:i64 < 8 { "
                                 "%2:i64 = load @2[%1] %3:i64 = add %2, %1 %4:i64 = add %1, 1 %5:f64 = convert %3 "
                                 "%6:f64 = fma %5, %5, %5 store @1[%1] = %6 } }";
    k_work w = counted(source, NULL, 1);
    NEAR(w.operations, 8 * 3); /* the sum of data and the fma, which is two; not the sum of indices */
    NEAR(w.wide, 8 * 3);
}

/* What is left of a row, by the bits of its length. */
static void bits_decide(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written global @2:f32 arg %1:i64 %2:i64 = bit_and %1, 2 %3:i64 = bit_and %1, "
        "1 "
        "%4:i64 = shl %2, 3 %5:i64 = shr %4, 3 %6:bool = ne %2, 0 %7:bool = ne %3, 0 for_all %8:i64 < 8 { "
        "if %6 { %9:i64 = add %5, %8 %10:f32 = load @2[%9] store @1[%8] = %10 } "
        "if %7 { %11:f32 = load @2[%8] store @1[%8] = %11 } } }";
    NEAR(counted(source, (ir_bits[]){0}, 1).memory[2].loads, 0);
    NEAR(counted(source, (ir_bits[]){1}, 1).memory[2].loads, 8);
    NEAR(counted(source, (ir_bits[]){3}, 1).memory[2].loads, 16);
    assert_int_equal(counted(source, (ir_bits[]){2}, 1).memory[2].high, 9);
}

static void one_thread_is_no_vector(void **state)
{
    (void)state;
    static const char source[] = "kernel k lanes 8 { global @1:f32 written arg %1:f32 %2:f32 = add %1, %1 "
                                 "for_all %3:i64 < 1 { %4:f32 = mul %2, %1 store @1[%3] = %4 } %7:f32 = mul %2, %2 "
                                 "for_all %5:i64 < 8 { %6:f32 = mul %7, %1 store @1[%5] = %6 } %8:f32 = mul %7, %7 "
                                 "for %9:i64 = 0 to 2 { %10:f32 = load @1[%9] store @1[%9] = %8 } }";
    k_work w = counted(source, (ir_bits[]){0}, 1);
    NEAR(w.operations, 12);
    NEAR(w.alone, 4);
    NEAR(w.used, 2 * 1 + 2 * 8); /* in the loops over threads, and there alone */
    NEAR(w.slots, 2 * 8 + 2 * 8);
}

static void gathers_are_told_apart(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written global @2:f32 global @3:i64 arg %1:i64 for_all %2:i64 < %1 { "
        "%3:i64 = load @3[%2] %4:f32 = load @2[%3] store @1[%2] = %4 } }";
    k_work w = counted(source, (ir_bits[]){100}, 1);
    NEAR(w.memory[2].gathered, 100);
    NEAR(w.memory[3].gathered, 0);
    assert_true(w.memory[2].anywhere);
    NEAR(k_elements_loaded(&w.memory[2], 1000), 100);
    NEAR(k_elements_loaded(&w.memory[2], 10), 10);
    NEAR(k_elements_loaded(&w.memory[3], 1000), 100);
}

/* What is read twice is in the caches; what lies outside of the indices is not read. */
static void elements_count_once(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written global @2:f32 arg %1:i64 for_all %2:i64 < %1 { "
        "%3:i64 = add %2, 7 %4:i64 = add %2, 5 %5:f32 = load @2[%3] %6:f32 = load @2[%4] %7:f32 = sub %5, %6 "
        "store @1[%2] = %7 } }";
    k_work w = counted(source, (ir_bits[]){100}, 1);
    NEAR(w.memory[2].loads, 200);
    assert_int_equal(w.memory[2].low, 5);
    assert_int_equal(w.memory[2].high, 106);
    NEAR(k_elements_loaded(&w.memory[2], 1000), 102);
    NEAR(k_elements_loaded(&w.memory[2], 50), 45);
    NEAR(k_elements_stored(&w.memory[1], 100), 100);
}

/* Rows: the first and the last are done by the branch for borders. */
static void borders_and_loops(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written global @2:f32 arg %1:i64 arg %2:i64 %3:i64 = sub %1, 1 "
        "for %4:i64 = 0 to %1 { %5:bool = gt %4, 0 %6:bool = lt %4, %3 %7:bool = land %5, %6 "
        "%8:i64 = mul %4, %2 if %7 { "
        "for_all %9:i64 < %2 { %10:i64 = add %8, %9 %11:f32 = load @2[%10] store @1[%10] = %11 } } else { "
        "for_all %12:i64 < %2 { %13:i64 = add %8, %12 store @1[%13] = 0.0:f32 } } } }";
    k_work w = counted(source, (ir_bits[]){1000, 16}, 1);
    NEAR(w.memory[2].loads, 998 * 16);
    NEAR(w.memory[1].stores, 1000 * 16);
    assert_int_equal(w.memory[2].low, 16);
    assert_int_equal(w.memory[2].high, 999 * 16 - 1);
    w = counted(source, (ir_bits[]){3, 10}, 1);
    NEAR(w.memory[2].loads, 10);
    NEAR(w.slots, 3 * 16 + 16);
}

/* Lanes beyond the end of a row, and those whose value nobody uses. */
static void rows_in_lanes(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written global @2:f32 arg %1:i64 for_all %2:i64 < 8 { "
        "%3:f32 = var 0.0:f32 %4:i64 = add %2, 8 "
        "%5:bool = lt %4, %1 if %5 { %6:f32 = load @2[%4] %7:f32 = bitcast %3 %8:f32 = add %7, %6 set %3 = %8 } "
        "%9:f32 = bitcast %3 %10:f32 = shuffle %9, 4 %11:f32 = add %9, %10 set %3 = %11 "
        "%12:bool = lt %2, 1 if %12 { %13:f32 = bitcast %3 store @1[%2] = %13 } } }";
    k_work w = counted(source, (ir_bits[]){10}, 1); /* two lanes are on */
    NEAR(w.memory[2].loads, 2);
    NEAR(w.used, 2 + 2);
    NEAR(w.slots, 8 + 8);
    NEAR(w.operations, 2 + 4);
    NEAR(w.joining, 8 + 8);
    NEAR(w.memory[1].stores, 1);
}

static void data_decide(void **state)
{
    (void)state;
    static const char source[] = "kernel k lanes 8 { global @1:f32 written global @2:f32 for_all %1:i64 < 8 { "
                                 "%2:f32 = load @2[%1] %3:f32 = var %2 loop { %4:f32 = bitcast %3 %5:bool = gt %4, "
                                 "1.0:f32 break_if %5 %6:f32 = add %4, %4 set %3 = %6 } store @1[%1] = %3 } }";
    k_work w = counted(source, NULL, 1);
    assert_true(w.open_ended);
    NEAR(w.operations, 16); /* one round: the comparison and the sum */
}

/* Functions are what they are computed by. */
static void functions_are_expanded(void **state)
{
    (void)state;
    static const char source[] = "kernel k lanes 8 { global @1:f32 written global @2:f32 for_all %1:i64 < 8 { "
                                 "%2:f32 = load @2[%1] %3:f32 = exp %2 store @1[%1] = %3 } }";
    assert_true(counted(source, NULL, 1).operations > 8 * 5);
}

/* Loops within loops are sampled at each level, and deeper ones as a whole. */
static void deep_loops(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written arg %1:i64 for %2:i64 = 0 to %1 { for %3:i64 = 0 to %1 { "
        "for %4:i64 = 0 to %1 { for %5:i64 = 0 to %1 { for %6:i64 = 0 to %1 { for_all %7:i64 < 8 { "
        "%8:i64 = add %6, %7 store @1[%8] = 0.0:f32 } } } } } } }";
    NEAR(counted(source, (ir_bits[]){20}, 1).memory[1].stores, 8.0 * 20 * 20 * 20 * 20 * 20);
    NEAR(counted(source, (ir_bits[]){0}, 1).memory[1].stores, 0);
}

/* Short loops are walked round by round, however deep they are: conditions on all their counters hold exactly. */
static void deep_short_loops(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 8 { global @1:f32 written arg %1:i64 for_all %2:i64 < 8 { "
        "for %3:i64 = 0 to 2 { for %4:i64 = 0 to 2 { for %5:i64 = 0 to 2 { for %6:i64 = 0 to 2 { "
        "for %7:i64 = 0 to 2 { for %8:i64 = 0 to 2 { %9:i64 = mul %3, 2 %10:i64 = add %9, %4 %11:i64 = mul %10, 2 "
        "%12:i64 = add %11, %5 %13:i64 = mul %12, 2 %14:i64 = add %13, %6 %15:i64 = mul %14, 2 %16:i64 = add %15, %7 "
        "%17:i64 = mul %16, 2 %18:i64 = add %17, %8 %19:bool = lt %18, %1 if %19 { "
        "store @1[%18] = 0.0:f32 } } } } } } } } }";
    for (ir_bits n = 1; n <= 64; n += 9)
        NEAR(counted(source, (ir_bits[]){n}, 1).memory[1].stores, 8.0 * (double)n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_element_counts_once, begin, end),
        cmocka_unit_test_setup_teardown(operations_have_sizes, begin, end),
        cmocka_unit_test_setup_teardown(one_thread_is_no_vector, begin, end),
        cmocka_unit_test_setup_teardown(bits_decide, begin, end),
        cmocka_unit_test_setup_teardown(gathers_are_told_apart, begin, end),
        cmocka_unit_test_setup_teardown(elements_count_once, begin, end),
        cmocka_unit_test_setup_teardown(borders_and_loops, begin, end),
        cmocka_unit_test_setup_teardown(rows_in_lanes, begin, end),
        cmocka_unit_test_setup_teardown(data_decide, begin, end),
        cmocka_unit_test_setup_teardown(functions_are_expanded, begin, end),
        cmocka_unit_test_setup_teardown(deep_loops, begin, end),
        cmocka_unit_test_setup_teardown(deep_short_loops, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
