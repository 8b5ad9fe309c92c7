/* What the CPU's code generator makes of kernels, where results do not tell: which reads of rows go
 * through tiles, which gangs run without masks first, and which checks stand in front of loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "device/device.h"

typedef struct fixture {
    arena arena;
    device *device;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    const char *why = NULL;
    f = (fixture){0};
    arena_init(&f.arena, NULL);
    f.device = device_cpu_open(&(device_options){.threads = 1, .keep_text = true}, &f.arena, &why);
    if (!f.device)
        fail_msg("%s", why);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    f->device->close(f->device);
    arena_free(&f->arena);
    return 0;
}

static bool has(fixture *f, const char *source, const char *part)
{
    const char *why = NULL, *message = "";
    kernel *k = k_parse(&f->arena, source, &message);
    if (!k)
        fail_msg("%s\n%s", message, source);
    if (!k_verify(k, &f->arena, &why))
        fail_msg("%s\n%s", why, source);
    k_layout(k, 64);
    device_kernel *code = device_compile(f->device, k, &f->arena, &why);
    if (!code)
        fail_msg("%s", why);
    const char *said = f->device->kernel_text(f->device, code, "llvm");
    assert_non_null(said);
    bool found = strstr(said, part) != NULL;
    device_release_kernel(f->device, code);
    return found;
}

/* Each thread walks along a row of its own, reading at the index that `index` makes of %5, where the row begins, and
 * %6, the turn. */
static bool reads_rows_by(fixture *f, const char *index, const char *part)
{
    const char *source = arena_printf(
        &f->arena,
        "kernel k lanes 64 { global @1:f32 global @2:f32 written arg %%1:i64 arg %%2:i64 for_all %%3:i64 < %%1 { "
        "%%5:i64 = mul %%3, %%2 %%4:f32 = var 0.0:f32 for %%6:i64 = 0 to %%2 { %s %%8:f32 = load @1[%%7] "
        "%%9:f32 = sub %%8, %%4 set %%4 = %%9 } %%10:f32 = bitcast %%4 store @2[%%3] = %%10 } }",
        index);
    return has(f, source, part);
}

static bool reads_tiles(fixture *f, const char *index)
{
    return reads_rows_by(f, index, "@fill4_");
}

/* Adds up bytes, or products of bytes, in `lanes` sums whose lanes may be mixed. */
static bool adds_bytes_by(fixture *f, unsigned lanes, const char *type, bool products, const char *instruction)
{
    const char *source = arena_printf(
        &f->arena,
        "kernel k lanes %u { global @1:%s global @2:i32 written for_all %%1:i64 < %u { %%2:i32 = var 7:i32 "
        "for %%3:i64 = 0 to 100 { %%4:i64 = mul %%3, %u %%5:i64 = add %%4, %%1 %%6:%s = load @1[%%5] "
        "%%7:i32 = convert %%6 %%8:i32 = mul %%7, %%7 %%9:i32 = bitcast %%2 %%10:i32 = add %%9, %s mix %%2 = %%10 } "
        "%%11:i32 = bitcast %%2 store @2[%%1] = %%11 } }",
        lanes, type, lanes, lanes, type, products ? "%8" : "%7");
    return has(f, source, instruction);
}

/* A register of sums has lanes for half a register of bytes; other widths add up lane by lane. */
static void bytes_are_added_up_by_instructions(void **state)
{
    if (!__builtin_cpu_supports("avx512bw"))
        skip();
    assert_true(adds_bytes_by(*state, 32, "u8", false, "psad.bw.512"));
    assert_true(adds_bytes_by(*state, 32, "u8", true, "pmaddw.d.512"));
    assert_true(adds_bytes_by(*state, 32, "i8", true, "pmaddw.d.512"));
    assert_false(adds_bytes_by(*state, 32, "i8", false, "psad.bw.512"));
    assert_false(adds_bytes_by(*state, 64, "u8", false, "psad.bw.512"));
    assert_false(adds_bytes_by(*state, 16, "u8", true, "pmaddw.d.512"));
    assert_false(adds_bytes_by(*state, 32, "u16", true, "pmaddw.d.512"));
}

/* Each thread adds up its neighbours in shared memory, and the sum `more` times to itself. */
static bool shifts_rows(fixture *f, const char *third, unsigned more)
{
    const char *sums = "";
    for (unsigned i = 0; i < more; i++)
        sums = arena_printf(&f->arena, "%s %%%u:f32 = sub %%9, %%%u", sums, 10 + i, i ? 9 + i : 8);
    const char *source = arena_printf(
        &f->arena,
        "kernel k lanes 16 { global @1:f32 written shared @2:f32[1100] arg %%1:i64 for_all %%2:i64 < 1100 { store "
        "@2[%%2] = "
        "1.0:f32 } for_all %%3:i64 < 320 whole { %%4:i64 = add %%3, %%1 %%5:f32 = load @2[%%4] %%6:i64 = add %%4, 1 "
        "%%7:f32 = load @2[%%6] %%8:f32 = add %%5, %%7 %%50:i64 = add %%4, %s %%9:f32 = load @2[%%50] %s store @1[%%3] "
        "= %%%u } }",
        third, sums, more ? 9 + more : 9);
    return has(f, source, "valignd");
}

/* Where loads take longer than what is computed, and one vector and the next hold all of them. */
static void neighbours_are_shifted(void **state)
{
    if (!__builtin_cpu_supports("avx512vl"))
        skip();
    assert_true(shifts_rows(*state, "2", 1));
    assert_true(shifts_rows(*state, "2", 4));
    assert_false(shifts_rows(*state, "2", 5));
    assert_true(shifts_rows(*state, "15", 1));
    assert_false(shifts_rows(*state, "16", 1));
}

static void rows_are_read_in_tiles(void **state)
{
    static const struct {
        const char *index;
        bool tiled;
    } cases[] = {
        {"%7:i64 = add %5, %6", true},
        {"%7:i64 = add %6, %5", true},
        {"%20:i64 = add %6, 3 %7:i64 = add %5, %20", true},
        {"%20:i64 = sub %6, 3 %7:i64 = add %5, %20", true},
        {"%20:i64 = sub %5, 3 %7:i64 = add %20, %6", true},
        {"%20:i64 = sub 0, %5 %7:i64 = sub %6, %20", true},
        {"%20:i64 = bitcast %6 %7:i64 = add %5, %20", true},
        {"%20:i64 = mul %2, %2 %21:i64 = add %20, %5 %7:i64 = add %21, %6", true}, /* what is the same in all turns */
        {"%20:i64 = add %6, %6 %7:i64 = add %5, %20", false},
        {"%20:i64 = add %6, %6 %21:i64 = sub %20, %6 %7:i64 = add %5, %21", true},
        {"%7:i64 = sub %5, %6", true}, /* from the end to the beginning */
        {"%20:i64 = sub %6, %6 %7:i64 = add %5, %20", false},
        {"%20:i64 = mul %6, 2 %7:i64 = add %5, %20", false},
        {"%20:i64 = bit_xor %6, 1 %7:i64 = add %5, %20", false},
        {"%20:i64 = min %6, 9 %7:i64 = add %5, %20", false},
        {"%20:i64 = bit_xor %5, 1 %7:i64 = add %20, %6", true}, /* rows that are anywhere */
        {"%20:i64 = bit_xor %5, 1 %21:i64 = sub %6, 3 %7:i64 = sub %20, %21", false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        if (reads_tiles(*state, cases[i].index) != cases[i].tiled)
            fail_msg("%s: %s", cases[i].index, cases[i].tiled ? "no tile" : "a tile");
}

/* Whole gangs read rows that are anywhere a few turns at a time, and fetch rows one by one that lie far apart. */
static void rows_anywhere_are_read_in_registers(void **state)
{
    assert_true(reads_rows_by(*state, "%20:i64 = bit_xor %5, 1 %7:i64 = add %20, %6", "@ahead_of_64_apart"));
    assert_false(reads_rows_by(*state, "%7:i64 = add %5, %6", "_apart"));
    assert_false(reads_rows_by(*state, "%20:i64 = bit_xor %5, %6 %7:i64 = add %20, %6", "@ahead_of_64_apart"));
}

/* A gang with checks runs once without masks and again with them if a check fails: not if it changes what it reads. */
static void gangs_run_again_only_if_nothing_is_lost(void **state)
{
#define GANG(code)                                                                                                     \
    "kernel k lanes 16 { global @1:i64 global @2:i64 written arg %1:i64 for_all %2:i64 < %1 { " code " } }"
    static const struct {
        const char *source;
        bool again;
    } cases[] = {
        {GANG("%3:i64 = load @1[%2] %4:bool = lt %3, 5 check 1: %4, 0, 0, 0 store @2[%2] = %3"), true},
        {GANG("%3:i64 = load @1[%2] %5:i64 = load @1[%3] %4:bool = lt %3, 5 check 1: %4, 0, 0, 0 store @2[%2] = %5"),
         true},
        {GANG("%3:i64 = load @2[%2] %4:bool = lt %3, 5 check 1: %4, 0, 0, 0"), true},
        {GANG("%3:i64 = load @2[%2] %4:bool = lt %3, 5 check 1: %4, 0, 0, 0 store @2[%2] = 1"), false},
        {GANG("store @2[%2] = 1 %3:i64 = load @2[%2] %4:bool = lt %3, 5 check 1: %4, 0, 0, 0"), false},
    };
#undef GANG
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        if (has(*state, cases[i].source, "\nwhole:") != cases[i].again)
            fail_msg("%s: %s", cases[i].source, cases[i].again ? "runs once" : "may run again");
}

/* Each thread reads once a turn; is it asked before the loop whether all turns of all threads read inside? */
static bool asks_before(fixture *f, const char *index)
{
    const char *source = arena_printf(
        &f->arena,
        "kernel k lanes 16 { global @1:f32 global @2:f32 written arg %%1:i64 arg %%2:i64 for_all %%3:i64 < %%1 { "
        "%%4:f32 = var 0.0:f32 for %%6:i64 = 0 to %%2 { %s %%11:bool = ge %%7, 0 %%12:bool = lt %%7, %%1 %%13:bool = "
        "land %%11, %%12 check 1: %%13, %%3, %%7, %%1 %%8:f32 = load @1[%%7] %%14:f32 = bitcast %%4 "
        "%%9:f32 = sub %%8, %%14 set %%4 = %%9 } %%10:f32 = bitcast %%4 store @2[%%3] = %%10 } }",
        index);
    return has(f, source, "\nvouched:");
}

static void checks_in_loops_are_answered_before_them(void **state)
{
    static const struct {
        const char *index;
        bool before;
    } cases[] = {
        {"%7:i64 = add %3, %6", true},
        {"%7:i64 = sub %3, %6", true},
        {"%20:i64 = add %6, %2 %21:i64 = mul %3, 3 %7:i64 = add %21, %20", true},
        {"%20:i64 = add %3, %6 %21:i64 = mul %6, 3 %7:i64 = sub %20, %21",
         false},                                              /* the counter moves in both operands */
        {"%20:i64 = mul %6, %2 %7:i64 = add %3, %20", false}, /* by a number that may be negative */
        {"%20:i64 = rem %6, %2 %7:i64 = add %3, %20", false},
        {"%20:f32 = load @1[%3] %7:i64 = convert %20", false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        if (asks_before(*state, cases[i].index) != cases[i].before)
            fail_msg("%s: %s", cases[i].index, cases[i].before ? "asked in each turn" : "asked before the loop");
}

/* Of a thread alone the index is its own; of a gang it must be the same for all. */
static bool fetches_near(fixture *f, const char *threads, const char *index)
{
    const char *source = arena_printf(&f->arena,
                                      "kernel k lanes 16 { global @1:i32 global @2:i32 written for_all %%1:i64 < %s { "
                                      "for %%2:i64 = 0 to 100 { %%3:i64 = add %%2, %s fetch_near @1[%%3] step 0 "
                                      "%%4:i64 = add %%2, %%1 %%5:i32 = load @1[%%4] store @2[%%4] = %%5 } } }",
                                      threads, index);
    return has(f, source, "llvm.prefetch");
}

static void what_is_read_soon_is_fetched(void **state)
{
    assert_true(fetches_near(*state, "1 whole", "%1"));
    assert_true(fetches_near(*state, "160", "%2"));
    assert_false(fetches_near(*state, "160", "%1"));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(neighbours_are_shifted),
                                       TEST(bytes_are_added_up_by_instructions),
                                       TEST(rows_are_read_in_tiles),
                                       TEST(rows_anywhere_are_read_in_registers),
                                       TEST(gangs_run_again_only_if_nothing_is_lost),
                                       TEST(what_is_read_soon_is_fetched),
                                       TEST(checks_in_loops_are_answered_before_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
