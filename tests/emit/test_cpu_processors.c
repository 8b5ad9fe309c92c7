/* What the CPU's code generator does on some processors only, by their names: asked of the code, for results are the
 * same, and any processor's code can be made on this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/cpu_codegen.h"
#include "device/kernel_cache.h"
#include "kernel/kernel.h"

#include <string.h>

#define AVX512 "+avx512f,+avx512bw,+avx512dq,+avx512vl,+fma"

static const emit_cpu_module *generator;
static arena memory;

static const char *code_for(const char *cpu, const char *source)
{
    const char *wrong = NULL;
    char *why = NULL;
    kernel *k = k_parse(&memory, source, &wrong);
    if (!k || !k_verify(k, &memory, &wrong))
        fail_msg("%s\n%s", wrong, source);
    emit_cpu_options options = {.cpu = cpu, .features = AVX512, .keep_asm = true};
    emit_cpu_code *made = generator->compile(kernel_prepare(&memory, k, NULL), &options, &why);
    if (!made)
        fail_msg("%s: %s", cpu, why);
    const char *code = arena_printf(&memory, "%s", generator->asm_text(made));
    generator->release(made);
    return code;
}

/* The generator makes code for the family of processors that it runs on. */
static void only_on_x86(void)
{
#ifndef __x86_64__
    skip();
#endif
}

static unsigned count_of(const char *code, const char *part)
{
    unsigned n = 0;
    for (const char *at = strstr(code, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

/* Four vectors one behind the other, added up in pairs of those that are furthest from each other. */
static const char reads_ahead[] =
    "kernel k lanes 16 { global @1:f32 global @2:f32 written for_all %1:i64 < 16 { %2:i64 = mul piece, 64 "
    "%3:i64 = add %2, %1 %4:f32 = load ahead @1[%3] %5:i64 = add %3, 16 %6:f32 = load ahead @1[%5] "
    "%7:i64 = add %3, 32 %8:f32 = load ahead @1[%7] %9:i64 = add %3, 48 %10:f32 = load ahead @1[%9] "
    "%11:f32 = add %4, %10 %12:f32 = add %6, %8 %13:f32 = mul %11, %12 %14:i64 = mul piece, 16 %15:i64 = add %14, %1 "
    "store @2[%15] = %13 } }";

static const char *read_at(const char *code, const char *displacement)
{
    const char *found = NULL;
    for (const char *at = strstr(code, displacement); at && !found; at = strstr(at + 1, displacement)) {
        const char *line = at;
        while (line > code && line[-1] != '\n')
            line--;
        found = strncmp(line, "\tv", 2) == 0 ? at : NULL;
    }
    if (!found)
        fail_msg("nothing is read at %s\n%s", displacement, code);
    return found;
}

static void what_comes_is_fetched_where_processors_do_not_look_on(void **state)
{
    (void)state;
    only_on_x86();
    static const char *const told[] = {"x86-64-v4", "sapphirerapids", "znver5"}, *const looks[] = {"znver3", "znver4"};
    for (size_t i = 0; i < ARRAY_LENGTH(told); i++)
        assert_int_equal(count_of(code_for(told[i], reads_ahead), "prefetch"), 4);
    for (size_t i = 0; i < ARRAY_LENGTH(looks); i++) {
        const char *code = code_for(looks[i], reads_ahead);
        assert_int_equal(count_of(code, "prefetch"), 0);
        assert_true(read_at(code, "\t64(") < read_at(code, "\t128("));
        assert_true(read_at(code, "\t128(") < read_at(code, "\t192("));
    }
}

/* Many elements over one number. */
static const char divides[] =
    "kernel k lanes 16 { global @1:f32 written global @2:f32 arg %1:f32 for_all %2:i64 < 1600 { %3:f32 = load @2[%2] "
    "%4:f32 = div %3, %1 store @1[%2] = %4 } }";

static void quotients_are_divisions_where_these_are_quick(void **state)
{
    (void)state;
    only_on_x86();
    assert_true(count_of(code_for("x86-64-v4", divides), "vfm") > 0);
    assert_int_equal(count_of(code_for("znver4", divides), "vfm"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_is_fetched_where_processors_do_not_look_on),
        cmocka_unit_test(quotients_are_divisions_where_these_are_quick),
    };
    const char *why = NULL;
    arena_init(&memory, NULL);
    generator = cpu_codegen_open(NULL, &memory, &why);
    if (!generator)
        print_message("%s\n", why);
    int failed = generator ? cmocka_run_group_tests_name("processors", tests, NULL, NULL) : 1;
    arena_free(&memory);
    return failed;
}
