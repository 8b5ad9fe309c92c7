/* Segments as terms: texts in and out, what the builders refuse, the interpreter's results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/interpret.h"

static ir_program *parse(arena *a, const char *source, const char *wrong)
{
    const char *message = NULL, *why = NULL;
    ir_program *p = ir_parse(a, source, &message);
    if (wrong) {
        assert_null(p);
        assert_non_null(strstr(message, wrong));
        return NULL;
    }
    if (!p)
        fail_msg("%s\n%s", message, source);
    if (!ir_check_program(p, a, &why))
        fail_msg("%s\n%s", why, source);
    return p;
}

static const char golden[] = "extents n, s\n"
                             "a1 = input [n]f32\n"
                             "a2 = input [s + 1]i64\n"
                             "a3 = sum_seg: fold_seg commutes a1, a2 seed 0.0f32 {x1: f32, x2: f32 -> x1 + x2}\n"
                             "a4 = fold_seg a1, a2 {x1: f32, x2: f32 -> x2}\n"
                             "a5 = segment_of step [n] a2\n"
                             "a6 = map a3, a4 {x1: f32, x2: f32 -> x1 * x2}\n"
                             "output a6, a5\n";

static void texts(void **state)
{
    (void)state;
    arena memory, *a = &memory;
    arena_init(a, NULL);
    ir_program *p = parse(a, golden, NULL);
    text t;
    text_init(&t, a);
    ir_print(p, &t);
    assert_string_equal(t.at, golden);
    arena_free(a);
}

static void refused(void **state)
{
    (void)state;
    arena memory, *a = &memory;
    arena_init(a, NULL);
    const char *inputs = "extents n, s\na1 = input [n]f32\na2 = input [s]i64\na3 = input [s]i32\na4 = input []f32\n";
#define REFUSED(line, words) parse(a, arena_printf(a, "%s%s\noutput a5\n", inputs, line), words)
    REFUSED("a5 = fold_seg a1 {x1: f32, x2: f32 -> x2}", "fold_seg takes an array and offsets");
    REFUSED("a5 = fold_seg a1, a3 {x1: f32, x2: f32 -> x2}", "offsets of segments are an array of rank 1 of i64");
    REFUSED("a5 = fold_seg a4, a2 {x1: f32, x2: f32 -> x2}", "has no dimension with segments");
    REFUSED("a5 = fold_seg a1, a2 {x1: f32 -> x1}", "");
    REFUSED("a5 = segment_of [n, s] a2", "of rank 1");
    REFUSED("a5 = segment_of [n] a1", "offsets of segments are an array of rank 1 of i64");
#undef REFUSED
    arena_free(a);
}

static void values(void **state)
{
    (void)state;
    arena memory, *a = &memory;
    arena_init(a, NULL);
    ir_program *p = parse(a, golden, NULL);
    float x[] = {1, 2, 3, 4, 5};
    int64_t offsets[] = {0, 2, 3, 5};
    ir_value in[2] = {{1, 1, {T_F32}, {5}, {x}}, {1, 1, {T_I64}, {4}, {offsets}}}, out[2];
    ir_failure failure = {0};
    /* an extent s + 1 determines no s: it comes from elsewhere */
    assert_false(ir_interpret(p, a, in, out, &failure));
    p = parse(a,
              "extents n, m\na1 = input [n]f32\na2 = input [m]i64\n"
              "a3 = fold_seg commutes a1, a2 seed 10.0f32 {x1: f32, x2: f32 -> x1 + x2}\n"
              "a4 = segment_of [n] a2\noutput a3, a4\n",
              NULL);
    assert_true(ir_interpret(p, a, in, out, &failure));
    const float sums[] = {13, 13, 19};
    const int64_t of[] = {0, 0, 1, 2, 2};
    assert_int_equal(out[0].extent[0], 3);
    assert_memory_equal(out[0].data[0], sums, sizeof(sums));
    assert_memory_equal(out[1].data[0], of, sizeof(of));
    offsets[1] = 4;
    assert_false(ir_interpret(p, a, in, out, &failure));
    assert_int_equal(failure.mistake, IR_WRONG_SEGMENTS);
    assert_int_equal(failure.element, 1);
    assert_non_null(strstr(failure.message, "segment 1 has the length -1"));
    ir_faults faults; /* lazily: the other segments have their results */
    assert_false(ir_interpret_lazily(p, a, in, out, &faults));
    assert_true(faults.needed && faults.all.n == 2);
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(refused),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
