/* The map of shared and private memory: sizes of halving reductions (Obsidian §5.1.2 and its memory vectors), loops,
 * alignment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "kernel/kernel.h"

/* A reduction of n u32: every stage halves into an array of its own. */
static uint32_t halving_reduction(int64_t n)
{
    arena a;
    k_builder b;
    arena_init(&a, NULL);
    kernel *k = k_new(&a, "halve", 32);
    k_begin(&b, k);
    k_mem from = k_global(&b, T_U32, false, "in"), out = k_global(&b, T_U32, true, "out");
    for (int64_t half = n / 2; half > 0; half /= 2) {
        k_mem to = half > 1 ? k_shared(&b, T_U32, half, "stage") : out;
        k_val i = k_for_all(&b, k_i64(&b, half));
        k_val x = k_load(&b, from, i), y = k_load(&b, from, k_let(&b, OP_ADD, i, k_i64(&b, half), 0));
        k_store(&b, to, i, k_let(&b, OP_ADD, x, y, 0));
        k_end(&b);
        from = to;
    }
    k_layout(k, 64);
    uint32_t scratch = k_shared_bytes(k);
    arena_free(&a);
    return scratch;
}

static void dead_arrays_make_room(void **state)
{
    (void)state;
    assert_int_equal(halving_reduction(8192), 24576);
    assert_int_equal(halving_reduction(16384), 49152);
    assert_int_equal(halving_reduction(32768), 98304);
}

typedef struct {
    arena a;
    kernel *k;
} laid_out;

static laid_out layout(const char *source, uint32_t align)
{
    laid_out l;
    const char *message = "", *why = "";
    arena_init(&l.a, NULL);
    l.k = k_parse(&l.a, source, &message);
    if (!l.k)
        fail_msg("%s", message);
    if (!k_verify(l.k, &l.a, &why))
        fail_msg("%s", why);
    k_layout(l.k, align);
    return l;
}

static uint32_t offset(const laid_out *l, k_mem m)
{
    return l->k->mem.at[m].offset;
}

static bool apart(const laid_out *l, k_mem x, k_mem y, uint32_t bytes)
{
    uint32_t ox = offset(l, x), oy = offset(l, y);
    return ox + bytes <= oy || oy + bytes <= ox;
}

/* Two arrays take turns: each round reads what the round before wrote. */
static void ping_pong_needs_both(void **state)
{
    (void)state;
    laid_out l = layout("kernel scan lanes 8 { shared @1:f32[4096] shared @2:f32[4096] shared @3:f32[4096]\n"
                        "for_all %1:i64 < 4096 { store @1[%1] = 0.0:f32 }\n"
                        "for_all %2:i64 < 4096 { %3:f32 = load @1[%2] store @2[%2] = %3 }\n"
                        "for_all %4:i64 < 4096 { %5:f32 = load @2[%4] store @3[%4] = %5 }\n"
                        "}",
                        64);
    assert_int_equal(l.k->scratch, 2 * 4 * 4096 + 64); /* and a line for vectors that end there */
    assert_int_equal(offset(&l, 3), offset(&l, 1));
    arena_free(&l.a);
}

/* @1 is read in the next round, after @2 was written: it must not be overwritten. */
static void loops_keep_what_they_carry(void **state)
{
    (void)state;
    laid_out l = layout("kernel carried lanes 8 { shared @1:f32[100] shared @2:f32[100] shared @3:f32[100]\n"
                        "for_all %1:i64 < 100 { store @1[%1] = 0.0:f32 }\n"
                        "for %2:i64 = 0 to 5 {\n"
                        "  for_all %3:i64 < 100 { %4:f32 = load @1[%3] store @2[%3] = %4 }\n"
                        "  for %5:i64 = 0 to 2 { for_all %6:i64 < 100 { %7:f32 = load @2[%6] store @3[%6] = %7 } }\n"
                        "}\n"
                        "}",
                        4);
    assert_true(apart(&l, 1, 2, 400));
    assert_true(apart(&l, 1, 3, 400));
    assert_true(apart(&l, 2, 3, 400));
    assert_int_equal(l.k->scratch, 1200);
    arena_free(&l.a);
}

/* Behind the loop its memory is free again. */
static void loops_give_memory_back(void **state)
{
    (void)state;
    laid_out l = layout("kernel after lanes 8 { shared @1:f32[100] shared @2:f32[100]\n"
                        "for %2:i64 = 0 to 5 { for_all %3:i64 < 100 { store @1[%3] = 0.0:f32 } }\n"
                        "for_all %6:i64 < 100 { store @2[%6] = 0.0:f32 }\n"
                        "}",
                        4);
    assert_int_equal(offset(&l, 2), 0);
    assert_int_equal(l.k->scratch, 400);
    arena_free(&l.a);
}

/* Loops inside a FOR_ALL are inside one statement of the piece: they extend nothing. */
static void loops_of_threads_do_not_count(void **state)
{
    (void)state;
    laid_out l = layout("kernel inner lanes 8 { shared @1:f32[100] shared @2:f32[100]\n"
                        "for_all %1:i64 < 100 { for %2:i64 = 0 to 3 { store @1[%1] = 0.0:f32 } }\n"
                        "for_all %3:i64 < 100 { store @2[%3] = 0.0:f32 }\n"
                        "}",
                        4);
    assert_int_equal(offset(&l, 2), 0);
    arena_free(&l.a);
}

static void private_memory_is_per_thread_and_behind(void **state)
{
    (void)state;
    laid_out l = layout("kernel own lanes 8 threads 40 { private @1:f64[3] shared @2:u8[5]\n"
                        "for_all %1:i64 < 40 { store @1[0] = 0.0:f64 store @2[0] = 1:u8 }\n"
                        "for_all %2:i64 < 40 { %3:f64 = load @1[0] %4:u8 = load @2[0] }\n"
                        "}",
                        64);
    assert_int_equal(offset(&l, 2), 0);
    assert_int_equal(offset(&l, 1), 64);
    assert_int_equal(l.k->scratch, 64 + 40 * 3 * 8);
    arena_free(&l.a);
}

/* A gap that a dead array left is used by the next one that fits, lowest first. */
static void the_first_gap_that_fits_is_used(void **state)
{
    (void)state;
    laid_out l = layout(
        "kernel gaps lanes 8 { shared @1:u8[64] shared @2:u8[256] shared @3:u8[64] shared @4:u8[128] shared @5:u8[64]\n"
        "store @1[0] = 1:u8 store @2[0] = 1:u8 store @3[0] = 1:u8\n"
        "%1:u8 = load @1[0] %2:u8 = load @2[0]\n"
        "store @4[0] = 1:u8 store @5[0] = 1:u8\n"
        "%3:u8 = load @3[0] %4:u8 = load @4[0] %5:u8 = load @5[0]\n"
        "}",
        64);
    assert_int_equal(offset(&l, 3), 320);
    assert_int_equal(offset(&l, 4), 0);
    assert_int_equal(offset(&l, 5), 128);
    assert_int_equal(l.k->scratch, 384);
    arena_free(&l.a);
}

static void untouched_memory_takes_no_room(void **state)
{
    (void)state;
    laid_out l = layout("kernel none lanes 8 { shared @1:f32[1000] }", 64);
    assert_int_equal(l.k->scratch, 0);
    arena_free(&l.a);
}

/* Who wants how much, and how much there is. */
static void what_does_not_fit_says_why(void **state)
{
    (void)state;
    const char *why = NULL;
    laid_out l = layout("kernel stage lanes 8 { shared @small.1:i32[10] shared @rows.2:f32[5000]\n"
                        "for_all %1:i64 < 10 { store @1[%1] = 1:i32 store @2[%1] = 0.0:f32 } }",
                        128);
    assert_int_equal(offset(&l, 1) % 128 + offset(&l, 2) % 128, 0);
    uint32_t wanted = k_shared_bytes(l.k);
    assert_true(wanted >= 20040 && wanted < 20040 + 128);
    assert_true(k_fits(l.k, wanted, &l.a, &why));
    assert_null(why);
    assert_false(k_fits(l.k, 16384, &l.a, &why));
    char expected[200];
    snprintf(expected, sizeof(expected),
             "kernel stage needs %u bytes of shared memory, and there are 16384; rows takes 20000", wanted);
    assert_string_equal(why, expected);
    arena_free(&l.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dead_arrays_make_room),           cmocka_unit_test(ping_pong_needs_both),
        cmocka_unit_test(loops_keep_what_they_carry),      cmocka_unit_test(loops_give_memory_back),
        cmocka_unit_test(loops_of_threads_do_not_count),   cmocka_unit_test(private_memory_is_per_thread_and_behind),
        cmocka_unit_test(the_first_gap_that_fits_is_used), cmocka_unit_test(untouched_memory_takes_no_room),
        cmocka_unit_test(what_does_not_fit_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
