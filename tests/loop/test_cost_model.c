/* What is computed again rather than kept, as docs/fusion.md and loop/costs.h have it: of an array that is used at two
 * places, elements that cost less than a byte written and read again is worth. */
#include "loop/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct work { /* of an element */
    unsigned products, divisions, roots, powers, choices, turns;
} work;

static void write_step(text *t, unsigned *terms, const char *format, ...)
{
    va_list args;
    text_printf(t, "\n    t%u = ", ++*terms);
    va_start(args, format);
    text_vprintf(t, format, args);
    va_end(args);
}

/* A body of so much work on x1; further parameters are added, for nothing but a product each. */
static void write_body(text *t, const char *type, unsigned params, work w)
{
    unsigned terms = 0;
    for (unsigned i = 1; i <= params; i++)
        text_printf(t, "%sx%u: %s", i > 1 ? ", " : "{", i, type);
    write_step(t, &terms, "x1 * x%u", params > 1 ? 2 : 1);
    w.products--;
    for (; w.products; w.products--)
        write_step(t, &terms, "t%u * t%u", terms, terms);
    for (; w.divisions; w.divisions--)
        write_step(t, &terms, "t%u / x1", terms);
    for (; w.roots; w.roots--)
        write_step(t, &terms, "sqrt(t%u)", terms);
    for (; w.powers; w.powers--)
        write_step(t, &terms, "exp(t%u)", terms);
    for (; w.choices; w.choices--) /* one operation, and what is compared */
        write_step(t, &terms, "if t%u < x1 then x1 else t%u", terms, terms);
    if (w.turns)
        text_printf(t, "\n    l1 = for (k1 < %u; y1 = t%u) {\n        next y1 * x1\n    }\n    -> l1.0}\n", w.turns,
                    terms);
    else
        text_printf(t, "\n    -> t%u}\n", terms);
}

typedef struct outcome {
    bool kept, sized; /* the array of such elements is in memory; that depends on whether arrays are large */
} outcome;

static outcome decided(const char *type, unsigned params, work w, bool twice, bool large)
{
    arena a;
    text t;
    const char *message = "", *why = "";
    arena_init(&a, NULL);
    text_init(&t, &a);
    text_printf(&t, "extents n\na1 = input [n]%s\na2 = input [n]%s\na3 = map a1%s ", type, type,
                params > 1 ? ", a2" : "");
    write_body(&t, type, params, w);
    text_add(&t, "a4 = backpermute safe [n] a3 {x1: i64 -> n - 1 - x1}\n");
    text_printf(&t, "a5 = map a4%s {x1: %s%s%s -> %s}\noutput a5\n", twice ? ", a3" : "", type, twice ? ", x2: " : "",
                twice ? type : "", twice ? "x1 * x2" : "x1");
    ir_program *p = ir_parse(&a, t.at, &message);
    if (!p || !ir_check_program(p, &a, &why))
        fail_msg("%s%s\n%s", message, why, t.at);
    ir_id map = 1;
    while (ir_at(p, map)->kind != IR_MAP)
        map++;
    l_program *l = l_clusters(p, &(l_options){.fuse = true, .cost_model = true, .large = large});
    outcome out = {l->cluster_of[map] != 0, l->sized};
    assert_int_equal(out.kept, l->manifest[map]);
    arena_free(&a);
    return out;
}

/* The most work that is done twice rather than kept: this much, and not a product more. */
static void expect_most(const char *type, unsigned params, work w, unsigned cached, unsigned streamed)
{
    for (unsigned more = 1; more <= streamed + 2; more++) {
        work now = w;
        now.products = more;
        outcome small = decided(type, params, now, true, false), large = decided(type, params, now, true, true);
        if (small.kept != (more > cached) || large.kept != (more > streamed))
            fail_msg("%u products of %s and what else there is: %s in the caches, %s beyond", more, type,
                     small.kept ? "kept" : "not kept", large.kept ? "kept" : "not kept");
        assert_int_equal(small.sized, small.kept != large.kept);
        assert_int_equal(large.sized, small.sized);
        assert_false(decided(type, params, now, false, false).kept); /* used once */
        assert_false(decided(type, params, now, false, true).kept);
    }
}

static void bytes_are_worth_operations(void **state)
{
    (void)state;
    expect_most("f32", 1, (work){0}, 8, 28);
    expect_most("i32", 1, (work){0}, 8, 28);
    expect_most("f64", 1, (work){0}, 8, 28); /* each counts twice, as half as many fit a register */
    expect_most("i64", 1, (work){0}, 8, 28);
    expect_most("i16", 1, (work){0}, 4, 14);
    expect_most("u8", 1, (work){0}, 2, 7);
}

static void operands_are_read_again(void **state)
{
    (void)state;
    expect_most("f32", 2, (work){0}, 4, 14); /* 4 bytes more than are kept */
    expect_most("f64", 2, (work){0}, 4, 14);
}

static void some_operations_cost_more(void **state)
{
    (void)state;
    expect_most("f32", 1, (work){.divisions = 1}, 2, 22);
    expect_most("f32", 1, (work){.roots = 1}, 2, 22);
    expect_most("f32", 1, (work){.divisions = 1, .roots = 2}, 0, 10);
    expect_most("f64", 1, (work){.divisions = 1}, 2, 22);
    expect_most("f32", 1, (work){.powers = 1}, 0, 16);
    expect_most("f32", 1, (work){.powers = 2}, 0, 4);
    expect_most("f32", 1, (work){.choices = 1}, 6, 26);
    expect_most("f32", 1, (work){.turns = 2}, 0, 0); /* nobody knows how long it takes */
}

/* Are logarithms kept that an operation of this name reads at these indices? */
static bool keeps(const char *name, const char *shape, const char *index)
{
    arena a;
    text t;
    const char *message = "", *why = "";
    arena_init(&a, NULL);
    text_init(&t, &a);
    text_add(&t, "extents n, m\nx = input [n]f32\ny = map x {x: f32 -> log(x)}\n");
    text_printf(&t, "z = %sbackpermute safe %s y {%s}\noutput z\n", name, shape, index);
    ir_program *p = ir_parse(&a, t.at, &message);
    if (!p || !ir_check_program(p, &a, &why))
        fail_msg("%s%s\n%s", message, why, t.at);
    ir_id map = 1;
    while (ir_at(p, map)->kind != IR_MAP)
        map++;
    bool kept = l_clusters(p, &(l_options){.fuse = true, .cost_model = true})->manifest[map];
    arena_free(&a);
    return kept;
}

/* It counts what indices a function ignores, not what its operation is called. */
static void elements_that_are_read_often_are_kept(void **state)
{
    (void)state;
    const char *const name[] = {"", "replicate: ", "rows: "};
    for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++) {
        assert_true(keeps(name[i], "[m, n]", "i: i64, j: i64 -> j"));
        assert_true(keeps(name[i], "[n, m]", "i: i64, j: i64 -> i"));
        assert_true(keeps(name[i], "[2, n]", "i: i64, j: i64 -> j"));
        assert_false(keeps(name[i], "[1, n]", "i: i64, j: i64 -> j")); /* an index that has one value */
        assert_false(keeps(name[i], "[n, 1]", "i: i64, j: i64 -> i"));
        assert_false(keeps(name[i], "[n]", "i: i64 -> i"));
        assert_false(keeps(name[i], "[n]", "i: i64 -> n - 1 - i"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_worth_operations),
        cmocka_unit_test(operands_are_read_again),
        cmocka_unit_test(some_operations_cost_more),
        cmocka_unit_test(elements_that_are_read_often_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
