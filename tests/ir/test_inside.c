/* What is certain about indices by their text: sums, minima, remainders and choices of what is inside an extent; and
 * never what may wrap. */
#include "ir/inside.h"
#include "ir/term_fixture.h"

enum { UNKNOWN = 40 };

/* A variable that is inside an extent. */
static ir_id inside(fixture *f, map64 *below, ir_id extent)
{
    ir_id v = ir_var(f->p, T_I64);
    map64_put(&f->a, below, v, extent);
    return v;
}

static void indices_are_inside(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    map64 below = {0};
    ir_id any = 0;
    for (int i = 0; i < UNKNOWN; i++) /* of these nothing is known */
        any = ir_var(p, T_I64);
    ir_id n = ir_dim(p, "n"), m = ir_dim(p, "m"), i = inside(f, &below, n), k = inside(f, &below, n),
          j = inside(f, &below, m);
    ir_id c = f->b, zero = num(f, 0), one = num(f, 1), two = num(f, 2), last = op2(f, OP_SUB, n, one);
    ir_id sum = op2(f, OP_ADD, n, m), twice = op2(f, OP_MUL, n, two);
    ir_id wide = ir_convert(p, 0, OP_CONVERT, T_I64, ir_var(p, T_U8));
    const struct {
        ir_id index, extent;
        bool certain;
    } cases[] = {
        {i, n, true},
        {i, m, false},
        {any, n, false},
        {zero, one, true},
        {one, one, false},
        {num(f, -1), one, false},
        {n, n, false},
        {op2(f, OP_SUB, last, i), n, true},
        {op2(f, OP_SUB, n, i), n, false},
        {op2(f, OP_ADD, i, j), sum, true},
        {op2(f, OP_ADD, i, m), sum, true},
        {op2(f, OP_ADD, n, m), sum, false},
        {op2(f, OP_ADD, i, one), n, false},
        {op2(f, OP_ADD, i, one), op2(f, OP_ADD, n, one), true},
        {op2(f, OP_ADD, op2(f, OP_MUL, i, two), one), twice, true},
        {op2(f, OP_ADD, op2(f, OP_MUL, i, two), two), twice, false},
        {op2(f, OP_ADD, i, any), sum, false},
        /* of two, whichever it is */
        {op2(f, OP_MIN, i, j), n, true},
        {op2(f, OP_MIN, i, j), m, true},
        {op2(f, OP_MIN, i, any), n, false},
        {op2(f, OP_MAX, i, k), n, true},
        {op2(f, OP_MAX, i, j), n, false},
        {op2(f, OP_MAX, i, any), n, false},
        {ir_cond(p, 0, c, i, k), n, true},
        {ir_cond(p, 0, c, k, i), n, true},
        {ir_cond(p, 0, c, i, j), n, false},
        {ir_cond(p, 0, c, j, i), n, false},
        {ir_cond(p, 0, c, i, j), sum, true},
        {ir_cond(p, 0, c, i, any), n, false},
        {ir_cond(p, 0, c, any, i), n, false},
        {op2(f, OP_ADD, ir_cond(p, 0, c, i, k), j), sum, false}, /* hard to see */
        /* remainders */
        {op2(f, OP_MOD, any, n), n, false}, /* hard to see, as n may be 0 */
        {op2(f, OP_MOD, any, m), n, false},
        {op2(f, OP_REM, any, n), n, false},
        {op2(f, OP_MOD, any, num(f, 5)), num(f, 5), true},
        {op2(f, OP_MOD, any, num(f, 6)), num(f, 5), false},
        /* what may wrap */
        {op2(f, OP_ADD, i, num(f, INT64_MAX)), op2(f, OP_ADD, n, num(f, INT64_MAX)), false},
        {op2(f, OP_ADD, wide, i), n, false},
    };
    for (size_t at = 0; at < ARRAY_LENGTH(cases); at++)
        if (ir_surely_inside(p, &below, cases[at].index, cases[at].extent) != cases[at].certain)
            fail_msg("case %zu: %s", at, cases[at].certain ? "not certain" : "certain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(indices_are_inside, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
