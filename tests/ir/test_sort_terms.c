/* Sorts as terms: texts in and out, what the builders and the checker refuse, the interpreter's results against those
 * worked out by hand, and the order of numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "ir/interpret.h"

static const char golden[] = "extents n, m\n"
                             "a1 = input [n, m](f32, i64)\n"
                             "a2 = sort keys 2 a1\n"
                             "a3 = sort descending keys 1 a1\n"
                             "a4 = sort_by: sort a1 {x1: f32, x2: i64, x3: f32, x4: i64 -> x2 < x4}\n"
                             "a5 = sort fused step keys 1 a1\n"
                             "output a2, a3, a4, a5\n";

static void a_text(void **state)
{
    (void)state;
    arena a;
    text t;
    arena_init(&a, NULL);
    text_init(&t, &a);
    const char *message = NULL, *why = NULL;
    ir_program *p = ir_parse(&a, golden, &message);
    if (!p)
        fail_msg("%s", message);
    assert_true(ir_check_program(p, &a, &why));
    ir_print(p, &t);
    assert_string_equal(t.at, golden);
    arena_free(&a);
}

static void refused(const char *source, const char *words)
{
    arena a;
    arena_init(&a, NULL);
    const char *message = NULL;
    ir_program *p = ir_parse(&a, source, &message);
    if (p)
        fail_msg("accepted: %s", source);
    if (!strstr(message, words))
        fail_msg("expected \"%s\" in: %s", words, message);
    arena_free(&a);
}

static void mistakes(void **state)
{
    (void)state;
    refused("x = input []f32 y = sort keys 1 x output y", "no dimension to sort");
    refused("extents n x = input [n]f32 y = sort keys 2 x output y", "2 keys, but elements of 1 components");
    refused("extents n x = input [n]f32 y = sort keys 0 x output y", "how many components are keys");
    refused("extents n x = input [n]f32 y = sort x {a: f32, b: f32 -> a - b} output y", "by a bool");
    refused("extents n x = input [n]f32 y = sort x output y", "");
    refused("extents n x = input [n]f32 y = sort x {a: f32 -> a < a} output y", "");
    refused("extents n x = input [n]f32 y = sort keys 1 x, x output y", "takes one array");
}

static void the_checker_sees(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const char *message = NULL, *why = NULL;
    ir_program *p = ir_parse(&a, "extents n x = input [n](i32, i32) y = sort keys 2 x output y", &message);
    ir_array *info = p->node.at[p->output.at[0]].u.info;
    assert_true(ir_check_program(p, &a, &why));
    info->keys = 3;
    assert_false(ir_check_program(p, &a, &why));
    info->keys = 0;
    assert_false(ir_check_program(p, &a, &why));
    arena_free(&a);
}

static void an_order(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const char *message = NULL;
    ir_program *p = ir_parse(&a,
                             "extents n, m x = input [n, m](i8, u16) y = sort keys 1 x z = sort descending keys 1 x "
                             "w = sort x {a: i8, b: u16, c: i8, d: u16 -> b < d} output y, z, w",
                             &message);
    int8_t key[] = {3, -1, 3, -128, 0, 0, 7, 0};
    uint16_t value[] = {1, 2, 3, 4, 8, 6, 7, 5};
    ir_value in = {.rank = 2, .components = 2, .extent = {2, 4}, .type = {T_I8, T_U16}, .data = {key, value}}, out[3];
    ir_failure failure = {0};
    assert_true(ir_interpret(p, &a, &in, out, &failure));
    const uint16_t up[] = {4, 2, 1, 3, 8, 6, 5, 7}, down[] = {1, 3, 2, 4, 7, 8, 6, 5}, by[] = {1, 2, 3, 4, 5, 6, 7, 8};
    assert_memory_equal(out[0].data[1], up, sizeof(up));
    assert_memory_equal(out[1].data[1], down, sizeof(down));
    assert_memory_equal(out[2].data[1], by, sizeof(by));
    arena_free(&a);
}

static void of_floats(void **state)
{
    static const float ascending[] = {-INFINITY, -2, -1e-40f, -0.0f, 0, 1e-40f, 1, INFINITY};
    (void)state;
    for (size_t i = 0; i + 1 < ARRAY_LENGTH(ascending); i++) {
        ir_bits x = ir_bits_f32(ascending[i]), y = ir_bits_f32(ascending[i + 1]);
        assert_true(ir_order_bits(T_F32, x, false) < ir_order_bits(T_F32, y, false));
        assert_true(ir_order_bits(T_F32, x, true) > ir_order_bits(T_F32, y, true));
    }
    for (unsigned down = 0; down < 2; down++) {
        assert_true(ir_order_bits(T_F32, 0x7FC00001, down) == UINT32_MAX);
        assert_true(ir_order_bits(T_F32, 0xFF800001, down) == UINT32_MAX);
        assert_true(ir_order_bits(T_F64, UINT64_C(0xFFF8000000000000), down) == UINT64_MAX);
        assert_true(ir_order_bits(T_F32, 0x7F800000, down) < UINT32_MAX &&
                    ir_order_bits(T_F32, 0xFF800000, down) < UINT32_MAX);
    }
    assert_true(ir_order_bits(T_BOOL, 0, false) < ir_order_bits(T_BOOL, 1, false));
    assert_true(ir_order_bits(T_BOOL, 1, true) < ir_order_bits(T_BOOL, 0, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text),   cmocka_unit_test(mistakes),  cmocka_unit_test(the_checker_sees),
        cmocka_unit_test(an_order), cmocka_unit_test(of_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
