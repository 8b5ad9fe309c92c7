/* Operators that give the same bits in every tree, and such that only seem to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opt/any_tree.h"

typedef struct example {
    const char *type;     /* of x; y is a bool, z an i32 */
    const char *operator; /* over x1, y1, z1 and x2, y2, z2 */
    bool any;
} example;

static const example examples[] = {
    /* primitives */
    {"i32", "x1 + x2, lor(y1, y2), z1 * z2", true},
    {"u8", "max(x2, x1), land(y2, y1), min(z1, z2)", true},
    {"f32", "max(x1, x2), y1, z1", false}, /* components that stay are not looked for */
    {"f32", "max(x1, x2), lor(y1, y2), z1 + z2", true},
    {"f32", "x1 + x2, lor(y1, y2), z1 + z2", false},
    {"i32", "x1 - x2, lor(y1, y2), z1 + z2", false},
    {"i32", "x1 + x1, lor(y1, y2), z1 + z2", false},
    /* a condition of one side */
    {"f32", "if is_nan(x2) then x1 else x2, if is_nan(x2) then y1 else y2, if is_nan(x2) then z1 else z2", true},
    {"f32", "if is_nan(x1) then x2 else x1, lor(y1, y2), z1 + z2", true},
    {"f64", "if x2 > 3.0f64 then x2 else x1, lor(y1, y2), if z1 == 0i32 then z2 else z1", true},
    {"f64", "if x2 > x1 then x2 else x1, lor(y1, y2), z1 + z2", false},   /* a NaN on the left stays */
    {"f64", "if z2 > 3i32 then x2 else x1, lor(y1, y2), z1 + z2", false}, /* of sums */
    {"f64", "if z2 > 3i32 then x2 else x1, lor(y1, y2), if z2 > 3i32 then z2 else z1", true},
    {"f64", "if z2 > 3i32 then x2 else x1, lor(y1, y2), if z2 > 3i32 then z1 else z2", false},
    {"f64", "if z2 > z1 then x2 else x1, lor(y1, y2), if z2 > 3i32 then z2 else z1", false},
    {"f64", "if z2 > 3i32 then x2 else x1 + x2, lor(y1, y2), if z2 > 3i32 then z2 else z1", false},
    /* flags */
    {"f32", "if y2 then x2 else x1, lor(y1, y2), z1 + z2", true},
    {"f32", "if y2 then x1 else x2, land(y1, y2), z1 + z2", true},
    {"f32", "if y1 then x1 else x2, lor(y1, y2), z1 + z2", true},
    {"f32", "if y2 then x2 else x1, land(y1, y2), z1 + z2", false},
    {"f32", "if y2 then x1 else x2, lor(y1, y2), z1 + z2", false},
    {"f32", "if y2 then x2 else x1 + x2, lor(y1, y2), z1 + z2", false},
    {"i32", "if y2 then x2 else x1 + x2, lor(y1, y2), z1 + z2", false}, /* it does, but is not looked for */
};

static void finds_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        arena a;
        arena_init(&a, NULL);
        const char *message = NULL;
        const char *source = arena_printf(&a,
                                          "extents n x = input [n]%s y = input [n]bool z = input [n]i32 "
                                          "t = zip: map x, y, z {x: %s, y: bool, z: i32 -> x, y, z} "
                                          "s = fold t {x1: %s, y1: bool, z1: i32, x2: %s, y2: bool, z2: i32 -> %s} "
                                          "output s",
                                          e->type, e->type, e->type, e->type, e->operator);
        ir_program *p = ir_parse(&a, source, &message);
        if (!p)
            fail_msg("%s\n%s", message, source);
        if (opt_any_tree(p, &a, ir_info(p, p->output.at[0])->fn) != e->any)
            fail_msg("%s: %s", e->operator, e->any ? "is not found" : "is found");
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
