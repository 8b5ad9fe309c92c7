/* Programs in which some names of extents are numbers, as texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/interpret.h"
#include "ir/specialise.h"

static ir_program *read_text(arena *a, const char *source)
{
    const char *message = NULL;
    ir_program *p = ir_parse(a, source, &message);
    if (!p)
        fail_msg("%s", message);
    return p;
}

static const char *print(const ir_program *p, arena *a)
{
    text t;
    text_init(&t, a);
    ir_print(p, &t);
    return t.at;
}

/* With that name as that number, the program is the other one; with none known it is itself, and it stays what it is. */
static void expect(const char *source, uint32_t dim, int64_t value, const char *wanted)
{
    arena a, other;
    arena_init(&a, NULL);
    arena_init(&other, NULL);
    ir_program *p = read_text(&a, source);
    const char *before = print(p, &a);
    ir_program *q = ir_specialise(p, &other, 1, &(ir_number){dim, value}), *same = ir_specialise(p, &other, 0, NULL);
    assert_true(q && same);
    assert_string_equal(print(q, &other), print(read_text(&a, wanted), &a));
    assert_string_equal(print(same, &other), before);
    assert_string_equal(print(p, &a), before);
    arena_free(&other);
    arena_free(&a);
}

static void numbers_are_folded(void **state)
{
    (void)state;
    expect("site 1 \"a.c\":3 \"generate\"\n"
           "extents n, m\n"
           "a1 = input [n, m]f32\n"
           "a2 = generate@1 [n * m] {x1: i64 -> rem(x1, m + 1), if m < 2 then x1 else 5}\n"
           "a3 = map a1 {x1: f32 -> x1 + f32(m)}\n"
           "check@1 n == m * 4 \"sizes\"\n"
           "output a2, a3\n",
           1, 3,
           "site 1 \"a.c\":3 \"generate\"\n"
           "extents n, m\n"
           "a1 = input [n, 3]f32\n"
           "a2 = generate@1 [n * 3] {x1: i64 -> rem(x1, 4), 5}\n"
           "a3 = map a1 {x1: f32 -> x1 + 3.0f32}\n"
           "check@1 n == 12 \"sizes\"\n"
           "output a2, a3\n");
}

static void so_they_are_in_regions(void **state)
{
    (void)state;
    expect("extents n, m\n"
           "a1 = input [n, m]f32\n"
           "a2 = aiterate: control repeat 1 (a1) values (10, n, m)\n"
           "    region rounds 1 index 0 inputs (0) values (1, 2) extents (0, 1) results (0) {\n"
           "extents n, m\n"
           "a1 = input [n, m]f32\n"
           "a2 = map a1 {x1: f32 -> x1 + f32(m * 2)}\n"
           "output a2\n"
           "    }\n"
           "a3 = aiterate: part 0 [n, m] a2\n"
           "output a3\n",
           1, 4,
           "extents n, m\n"
           "a1 = input [n, 4]f32\n"
           "a2 = aiterate: control repeat 1 (a1) values (10, n, 4)\n"
           "    region rounds 1 index 0 inputs (0) values (1, 2) extents (0, 1) results (0) {\n"
           "extents n, m\n"
           "a1 = input [n, 4]f32\n"
           "a2 = map a1 {x1: f32 -> x1 + 8.0f32}\n"
           "output a2\n"
           "    }\n"
           "a3 = aiterate: part 0 [n, 4] a2\n"
           "output a3\n");
}

/* A scan and the fold of the same row have one function, of the same variables. */
static void functions_may_be_shared(void **state)
{
    static const char source[] = "extents n, m\n"
                                 "a1 = input [n, m]i32\n"
                                 "a2 = scan a1 {x1: i32, x2: i32 -> x1 + x2}\n"
                                 "a3 = fold a1 {x1: i32, x2: i32 -> x1 + x2}\n"
                                 "output a2, a3\n";
    arena a;
    (void)state;
    arena_init(&a, NULL);
    ir_program *p = read_text(&a, source);
    ((ir_array *)(uintptr_t)ir_info(p, p->output.at[1]))->fn = ir_info(p, p->output.at[0])->fn;
    ir_program *q = ir_specialise(p, &a, 1, &(ir_number){1, 2});
    assert_non_null(q);
    for (int i = 0; i < 2; i++) {
        ir_fn *f = ir_info(q, q->output.at[i])->fn;
        assert_int_equal(ir_at(q, f->result[0])->kind, IR_OP);
        for (uint32_t k = 0; k < 2; k++)
            assert_int_equal(ir_args(q, f->result[0])[k], f->param[k]);
    }
    arena_free(&a);
}

static void what_never_holds_is_no_program(void **state)
{
    static const char source[] = "extents n, m\n"
                                 "a1 = input [n, m]f32\n"
                                 "check m == 4 \"sizes\"\n"
                                 "output a1\n";
    arena a;
    (void)state;
    arena_init(&a, NULL);
    ir_program *p = read_text(&a, source);
    assert_null(ir_specialise(p, &a, 1, &(ir_number){1, 3}));
    assert_non_null(ir_specialise(p, &a, 1, &(ir_number){1, 4}));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_folded), cmocka_unit_test(so_they_are_in_regions),
        cmocka_unit_test(functions_may_be_shared), cmocka_unit_test(what_never_holds_is_no_program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
