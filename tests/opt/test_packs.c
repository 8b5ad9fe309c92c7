/* What becomes of operations over what is kept: texts in, texts out; and random programs mean the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "opt/packs.h"
#include "support/program_text.h"
#include "support/random_program.h"

#define PACKED "extents n x = input [n]f32 k = input [n]bool y = pack k, x "
#define PACKED_M "extents n, m x = input [n]f32 k = input [n]bool y = pack k, x "
#define INPUTS                                                                                                         \
    "extents n\n"                                                                                                      \
    "a1 = input [n]f32\n"                                                                                              \
    "a2 = input [n]bool\n"
#define COUNT(a, b, of)                                                                                                \
    "a" #a " = map step a" #of " {x1: bool -> i64(x1)}\n"                                                              \
    "a" #b " = fold commutes step a" #a " seed 0 {x1: i64, x2: i64 -> x1 + x2}\n"

static const struct {
    const char *before, *after;
} moved[] = {
    /* what is cheap and cannot fail is computed for all */
    {PACKED "z = map y {a: f32 -> a * 2.0f32} output z",
     INPUTS COUNT(3, 4, 2) "a5 = map step a1 {x1: f32 -> x1 * 2.0f32}\n"
                           "a6 = map: pack [a4[safe]] a2, a5\n"
                           "output a6\n"},
    {PACKED "z = zip: map y, y {a: f32, b: f32 -> a, b} output z",
     INPUTS COUNT(3, 4, 2) "a5 = zip: map step a1, a1 {x1: f32, x2: f32 -> x1, x2}\n"
                           "a6 = zip: pack [a4[safe]] a2, a5\n"
                           "output a6\n"},
    /* what takes long, or may fail, is computed for what is kept */
    {PACKED "z = map y {a: f32 -> exp(a)} output z",
     INPUTS COUNT(3, 4, 2) "a5 = map step a2, a1 {x1: bool, x2: f32 -> if x1 then exp(x2) else 0.0f32}\n"
                           "a6 = map: pack [a4[safe]] a2, a5\n"
                           "output a6\n"},
    {PACKED "z = map y {a: f32 -> x[i64(a)]} output z",
     INPUTS COUNT(3, 4, 2) "a5 = map step a2, a1 {x1: bool, x2: f32 -> if x1 then a1[i64(x2)] else 0.0f32}\n"
                           "a6 = map: pack [a4[safe]] a2, a5\n"
                           "output a6\n"},
    /* folds: with an identity, and without one that we know */
    {PACKED "s = fold y seed 3.0f32 {a: f32, b: f32 -> a + b} output s",
     INPUTS "a3 = map step a2, a1 {x1: bool, x2: f32 -> if x1 then x2 else -0.0f32}\n"
            "a4 = fold commutes a3 seed 3.0f32 {x1: f32, x2: f32 -> x1 + x2}\n"
            "output a4\n"},
    {PACKED "s = fold y seed 3.0f32 {a: f32, b: f32 -> b} output s", INPUTS
     "a3 = map step a2, a1 {x1: bool, x2: f32 -> x1, x2}\n"
     "a4 = fold step a3 seed true, 3.0f32 {x1: bool, x2: f32, x3: bool, x4: f32 -> x1 || x3, if x1 && x3 then x4 "
     "else if x1 then x2 else x4}\n"
     "a5 = fold: map a4 {x1: bool, x2: f32 -> x2}\n"
     "output a5\n"},
    /* without an initial value it may be an error */
    {PACKED "s = fold y {a: f32, b: f32 -> a + b} output s",
     INPUTS COUNT(3, 4, 2) "a5 = pack [a4[safe]] a2, a1\n"
                           "a6 = fold commutes a5 {x1: f32, x2: f32 -> x1 + x2}\n"
                           "output a6\n"},
    /* scans */
    {PACKED "s = scan exclusive y seed 0.0f32 {a: f32, b: f32 -> max(a, b)} output s",
     INPUTS COUNT(3, 4, 2) "a5 = map step a2, a1 {x1: bool, x2: f32 -> if x1 then x2 else nan_f32(0x7fc00000)}\n"
                           "a6 = scan exclusive step a5 seed 0.0f32 {x1: f32, x2: f32 -> max(x1, x2)}\n"
                           "a7 = scan: pack [a4[safe]] a2, a6\n"
                           "output a7\n"},
    /* packs and counts of what is packed; what they have in common is made once */
    {PACKED "q = map y {a: f32 -> a > 0.0f32} z = pack q, y g = generate [1] {i: i64 -> i} w = pack q, q output z, w",
     INPUTS
     "a3 = map step a1 {x1: f32 -> x1 > 0.0f32}\n"
     "a4 = map step a2, a3 {x1: bool, x2: bool -> if x1 then x2 else false}\n" COUNT(5, 6, 4) "c1 = a6[safe]\n"
                                                                                              "a7 = pack [c1] a4, a1\n"
                                                                                              "a8 = pack [c1] a4, a3\n"
                                                                                              "output a7, a8\n"},
    {PACKED
     "c = map k {b: bool -> i64(b)} d = fold c seed 0 {a: i64, b: i64 -> a + b} "
     "m = map y {a: f32 -> a > 0.0f32} e = map m {b: bool -> i64(b)} f = fold e seed 0 {a: i64, b: i64 -> a + b} "
     "output f",
     INPUTS "a3 = map step a1 {x1: f32 -> x1 > 0.0f32}\n"
            "a4 = map step a2, a3 {x1: bool, x2: bool -> if x1 then x2 else false}\n" COUNT(5, 6, 4) "output a6\n"},
};

static const char *const unmoved[] = {
    /* the index among what is kept */
    PACKED "z = map indexed y {i: i64, a: f32 -> f32(i) + a} output z",
    PACKED "z = backpermute [n] y {i: i64 -> quot(i, 2)} output z",
    PACKED "z = generate [2] {i: i64 -> y[i]} output z",
    PACKED "z = force y w = map z {a: f32 -> a + 1.0f32} output w",
    /* packed by different masks */
    PACKED "j = input [n]bool z = pack j, x w = map y, z {a: f32, b: f32 -> a + b} output w",
    /* with what is not packed */
    PACKED_M "g = input [m]f32 w = map y, g {a: f32, b: f32 -> a + b} output w",
};

static void operations_move(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(moved); k++) {
        arena a;
        const char *why = NULL;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, moved[k].before);
        opt_move_packs(p);
        if (!ir_check_program(p, &a, &why))
            fail_msg("%s\n%s", why, print(&a, p));
        assert_string_equal(print(&a, p), moved[k].after);
        opt_move_packs(p); /* there is nothing left to do */
        assert_string_equal(print(&a, p), moved[k].after);
        arena_free(&a);
    }
}

static void some_do_not_move(void **state)
{
    (void)state;
    stay(opt_move_packs, ARRAY_LENGTH(unmoved), unmoved);
}

/* --- random programs --- */

static bool same(const ir_program *p, const ir_value *x, const ir_value *y)
{
    for (uint32_t k = 0; k < p->output.n; k++) {
        int64_t size = 1;
        if (x[k].rank != y[k].rank || memcmp(x[k].extent, y[k].extent, x[k].rank * sizeof(int64_t)))
            return false;
        for (unsigned d = 0; d < x[k].rank; d++)
            size *= x[k].extent[d];
        for (uint32_t c = 0; c < x[k].components; c++)
            if (size && memcmp(x[k].data[c], y[k].data[c], (size_t)size * ir_type_size(x[k].type[c])))
                return false;
    }
    return true;
}

static const char *complaint;

/* Does a program mean something else afterwards? Fewer elements may fail, and those that results need do. */
static bool differs(void *env, arena *a, const random_case *c)
{
    ir_program *p = c->program;
    ir_value *first = arena_array(a, ir_value, p->output.n + 1);
    ir_value *second = arena_array(a, ir_value, p->output.n + 1);
    ir_value *lazy = arena_array(a, ir_value, p->output.n + 1);
    ir_failure failure = {0};
    ir_faults before, after;
    const char *why = NULL;
    bool strict = ir_interpret(p, a, c->input, first, &failure);
    bool needed = !ir_interpret_lazily(p, a, c->input, lazy, &before);
    uint32_t *changed = env, nodes = p->node.n;
    opt_move_packs(p);
    *changed += p->node.n > nodes;
    if (!ir_check_program(p, a, &why))
        return complaint = arena_printf(a, "not well-formed: %s", why), true;
    const char *message = NULL;
    if (!ir_parse(a, print(a, p), &message))
        return complaint = arena_printf(a, "not read: %s", message), true;
    if (strict && !ir_interpret(p, a, c->input, second, &failure))
        return complaint = arena_printf(a, "fails: %s", failure.message), true;
    if (strict && !same(p, first, second))
        return complaint = "other results", true;
    bool fails = !ir_interpret_lazily(p, a, c->input, second, &after);
    if (fails != needed)
        return complaint = fails ? "fails lazily" : "does not fail lazily", true;
    if (!fails && !same(p, lazy, second))
        return complaint = "other results lazily", true;
    return false;
}

static void random_programs(void **state)
{
    (void)state;
    uint64_t n = getenv("SINTER_TEST_LONG") ? 20000 : 1500;
    uint32_t changed = 0;
    for (uint64_t seed = 0; seed < n; seed++) {
        random_options o = random_everything();
        arena a;
        arena_init(&a, NULL);
        o.rows = true;
        o.operations = 20 + seed % 8;
        o.failures = seed % 3 == 0;
        o.plain = seed % 5 == 0;
        if (seed % 5 != 1) /* more packs in their place */
            o.kinds &= ~(1u << IR_FOLD_SEG | 1u << IR_SCAN_SEG | 1u << IR_SEGMENT_OF | 1u << IR_STENCIL |
                         1u << IR_PERMUTE | 1u << IR_RESHAPE | 1u << IR_FORCE);
        random_case c = random_program(&a, &o, seed);
        if (differs(&changed, &a, &c)) {
            c = random_program(&a, &o, seed);
            random_case small = random_shrink(&a, &o, &c, differs, &changed);
            text t;
            text_init(&t, &a);
            random_print(&small, &t);
            random_case again = random_program_again(&a, &o, small.choices.made.n, small.choices.made.at);
            differs(&changed, &a, &again);
            print_message("seed %llu:\n%s\n%s\n%s\n", (unsigned long long)seed, t.at, complaint,
                          print(&a, again.program));
            fail();
        }
        arena_free(&a);
    }
    assert_true(changed > n / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations_move), cmocka_unit_test(some_do_not_move),
                                       cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
