/* Contraction by text: what becomes a fused multiply-add, and what does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "opt/contract.h"

/* The functions of the text's operations after contraction, as they are printed. */
static void becomes(const char *function, const char *wanted)
{
    arena a;
    text t;
    const char *message = "", *why = "";
    char source[512];
    arena_init(&a, NULL);
    snprintf(source, sizeof(source), "extents n\na1 = input [n]f32\na2 = map a1, a1, a1 {%s}\noutput a2\n", function);
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    opt_contract(p);
    if (!ir_check_program(p, &a, &why))
        fail_msg("%s\n%s", why, source);
    text_init(&t, &a);
    ir_print(p, &t);
    if (!strstr(t.at, wanted))
        fail_msg("\"%s\" is not in what became of \"%s\":\n%s", wanted, function, t.at);
    arena_free(&a);
}

#define F32 "x1: f32, x2: f32, x3: f32 -> "

static void products_used_once_are_fused(void **state)
{
    (void)state;
    becomes(F32 "x1 * x2 + x3", "{" F32 "fma(x1, x2, x3)}");
    becomes(F32 "x3 + x1 * x2", "{" F32 "fma(x1, x2, x3)}");
    becomes(F32 "x1 * x2 - x3", "{" F32 "fma(x1, x2, -x3)}");
    becomes(F32 "x3 - x1 * x2", "{" F32 "fma(-x1, x2, x3)}");
    becomes(F32 "sqrt(x1 * x2 + x3)", "{" F32 "sqrt(fma(x1, x2, x3))}");
}

/* The product is needed anyway: fused it would be computed twice, and be another number than the one that is returned.
 */
static void products_used_twice_are_not(void **state)
{
    (void)state;
    becomes(F32 "x1 * x2 + x3, x1 * x2", "x1 * x2");
    becomes(F32 "(x1 * x2 + x3) / (x1 * x2)", " + x3");
    becomes(F32 "(x1 * x2 + x3) * (x1 * x2 - x3)", " + x3");
    becomes(F32 "if x1 < 0.0f32 then x1 * x2 + x3 else x1 * x2", " + x3");
    becomes(F32 "x1 * x2 + x1 * x2", " + ");
}

/* Uses are counted function by function. */
static void other_functions_do_not_count(void **state)
{
    static const char source[] =
        "extents n\na1 = input [n]f32\na2 = map a1, a1, a1 {x1: f32, x2: f32, x3: f32 -> x1 * x2 + x3}\n"
        "a3 = map a1, a1, a1 {x1: f32, x2: f32, x3: f32 -> x1 * x2 + x3}\noutput a2, a3\n";
    arena a;
    text t;
    const char *message = "";
    (void)state;
    arena_init(&a, NULL);
    ir_program *p = ir_parse(&a, source, &message);
    assert_non_null(p);
    opt_contract(p);
    text_init(&t, &a);
    ir_print(p, &t);
    const char *first = strstr(t.at, "fma(");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "fma("));
    arena_free(&a);
}

static void integers_are_left_alone(void **state)
{
    (void)state;
    arena a;
    text t;
    const char *message = "";
    arena_init(&a, NULL);
    ir_program *p = ir_parse(
        &a, "extents n\na1 = input [n]i32\na2 = map a1, a1 {x1: i32, x2: i32 -> x1 * x2 + x1}\noutput a2\n", &message);
    assert_non_null(p);
    opt_contract(p);
    text_init(&t, &a);
    ir_print(p, &t);
    assert_null(strstr(t.at, "fma"));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_used_once_are_fused),
        cmocka_unit_test(products_used_twice_are_not),
        cmocka_unit_test(other_functions_do_not_count),
        cmocka_unit_test(integers_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
