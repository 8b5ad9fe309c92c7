/* What is certain about indices by their text: sums, minima, remainders and choices of what is inside an extent; and
 * never what may wrap. */
#include "ir/evaluate.h"
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
    ir_id huge = op2(f, OP_MUL, n, num(f, INT64_MAX)), in_both = inside(f, &below, op2(f, OP_MIN, m, huge));
    ir_id c = f->b, zero = num(f, 0), one = num(f, 1), two = num(f, 2), last = op2(f, OP_SUB, n, one);
    ir_id sum = op2(f, OP_ADD, n, m), twice = op2(f, OP_MUL, n, two);
    ir_id wide = ir_convert(p, 0, OP_CONVERT, T_I64, ir_var(p, T_U8));
    ir_id eight = num(f, 8), seven = num(f, 7), sixty = num(f, 60),
          in_eighth = inside(f, &below, op2(f, OP_QUOT, n, eight)),
          in_up = inside(f, &below, op2(f, OP_QUOT, op2(f, OP_ADD, n, seven), eight)), in_8 = inside(f, &below, eight),
          in_60 = inside(f, &below, sixty), in_64 = inside(f, &below, num(f, 64));
    ir_id begin = op2(f, OP_MUL, in_eighth, eight);
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
        {in_both, huge, true}, /* no arithmetic is done with what may wrap */
        {in_both, m, true},
        {in_both, n, false},
        {in_both, one, false},
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
        {op2(f, OP_REM, in_60, num(f, 5)), num(f, 5), true},
        {op2(f, OP_REM, in_60, num(f, 6)), num(f, 5), false},
        /* quotients */
        {op2(f, OP_QUOT, i, eight), n, true},
        {op2(f, OP_QUOT, in_64, eight), eight, true},
        {op2(f, OP_DIV, in_64, eight), seven, false},
        {op2(f, OP_QUOT, in_60, eight), eight, true},
        {op2(f, OP_QUOT, in_60, seven), eight, false},
        {op2(f, OP_QUOT, any, eight), n, false},
        {begin, n, true},
        {op2(f, OP_ADD, begin, in_8), n, true},
        {op2(f, OP_ADD, begin, seven), n, true},
        {op2(f, OP_ADD, begin, eight), n, false},
        {op2(f, OP_ADD, begin, op2(f, OP_QUOT, in_64, eight)), n, true},
        {op2(f, OP_ADD, begin, op2(f, OP_REM, in_64, eight)), n, true},
        {op2(f, OP_ADD, begin, op2(f, OP_QUOT, in_64, seven)), n, false},
        {op2(f, OP_MUL, in_up, eight), n, true},
        {op2(f, OP_ADD, op2(f, OP_MUL, in_up, eight), one), n, false},
        {op2(f, OP_SUB, last, op2(f, OP_ADD, begin, in_8)), n, true},
        {op2(f, OP_MUL, in_eighth, num(f, 9)), n, false},
        /* what may wrap */
        {op2(f, OP_ADD, i, num(f, INT64_MAX)), op2(f, OP_ADD, n, num(f, INT64_MAX)), false},
        {op2(f, OP_ADD, wide, i), n, false},
    };
    for (size_t at = 0; at < ARRAY_LENGTH(cases); at++)
        if (ir_surely_inside(p, &below, cases[at].index, cases[at].extent) != cases[at].certain)
            fail_msg("case %zu: %s", at, cases[at].certain ? "not certain" : "certain");
    for (ir_type t = T_BOOL; t <= T_CHAR; t++) /* those that have no sign are not negative, but for what wraps in i64 */
        if (!ir_type_float(t)) {
            ir_id converted = ir_convert(p, 0, OP_CONVERT, T_I64, ir_var(p, t));
            bool certain = t == T_BOOL || t == T_CHAR || t == T_U8 || t == T_U16 || t == T_U32;
            if (ir_surely_inside(p, &below, op2(f, OP_MIN, converted, i), n) != certain)
                fail_msg("%s: %s", ir_type_name(t), certain ? "not certain" : "certain");
        }
}

/* --- what is said to be certain, for values of everything that the index is made of --- */

enum { VARIABLES = 4, DIMS = 2, ROUNDS = 6000, TRIES = 40 };

typedef struct guess {
    fixture *f;
    map64 below;
    uint64_t seed;
    ir_id var[VARIABLES], bound[VARIABLES]; /* 0: none */
    ir_id pool[24];
    uint32_t n;
    int64_t dim[DIMS];
} guess;

/* Choices in choices are followed so far, on either side, and no further. */
static void choices_in_choices(void **state)
{
    fixture *f = *state;
    map64 below = {0};
    ir_id n = ir_dim(f->p, "n"), i = inside(f, &below, n), j = inside(f, &below, n), deep[2] = {i, i};
    for (unsigned levels = 1; levels <= 9; levels++) {
        ir_id c = ir_var(f->p, T_BOOL);
        deep[0] = ir_cond(f->p, 0, c, deep[0], levels % 2 ? j : i);
        deep[1] = ir_cond(f->p, 0, c, levels % 2 ? j : i, deep[1]);
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(ir_surely_inside(f->p, &below, deep[k], n), levels < 4);
    }
}

static uint32_t below(guess *g, uint32_t n)
{
    g->seed = g->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g->seed >> 33) % n;
}

static ir_id some(guess *g)
{
    return g->pool[below(g, g->n)];
}

static int64_t some_number(guess *g)
{
    static const int64_t large[] = {INT64_MAX,        INT64_MIN,        INT64_MAX / 3,
                                    (int64_t)1 << 47, (int64_t)1 << 60, -((int64_t)1 << 62)};
    return below(g, 12) ? (int64_t)below(g, 9) - 3 : large[below(g, ARRAY_LENGTH(large))];
}

static ir_id grown(guess *g)
{
    static const ir_op arithmetic[] = {OP_ADD, OP_ADD, OP_SUB, OP_SUB,  OP_MUL, OP_MIN,
                                       OP_MAX, OP_MOD, OP_REM, OP_QUOT, OP_DIV},
                       compare[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ};
    fixture *f = g->f;
    ir_id a = some(g), b = below(g, 3) ? some(g) : num(f, some_number(g));
    if (below(g, 5))
        return op2(f, arithmetic[below(g, ARRAY_LENGTH(arithmetic))], a, b);
    return ir_cond(f->p, 0, op2(f, compare[below(g, ARRAY_LENGTH(compare))], a, b), some(g), some(g));
}

static bool dim_of(void *env, uint32_t number, int64_t *out)
{
    *out = ((const guess *)env)->dim[number];
    return true;
}

/* Of a term under some values of variables; false: it has none. */
static bool value_of(guess *g, ir_id term, const int64_t *value, int64_t *out)
{
    scalar_world world = {.dim = dim_of, .env = g};
    scalar_failure failure;
    ir_bits bits;
    evaluator *e = evaluator_new(g->f->p, &g->f->a, 1, &term);
    for (int i = 0; i < VARIABLES; i++)
        evaluator_set(e, evaluator_slot(e, g->var[i]), (ir_bits)value[i]);
    if (!evaluator_value(e, 0, &world, &bits, &failure))
        return false;
    *out = (int64_t)bits;
    return true;
}

/* Values that keep what is known of the variables; false if there are none. */
static bool draw(guess *g, int64_t *value)
{
    static const int64_t extents[] = {0, 1, 2, 3, 5, 64, IR_LARGEST_EXTENT - 1, IR_LARGEST_EXTENT};
    for (int i = 0; i < DIMS; i++)
        g->dim[i] = extents[below(g, ARRAY_LENGTH(extents))];
    for (int i = 0; i < VARIABLES; i++) {
        int64_t extent;
        if (!g->bound[i]) {
            value[i] = some_number(g);
            continue;
        }
        if (!value_of(g, g->bound[i], value, &extent) || extent <= 0)
            return false;
        const int64_t likely[] = {0, extent - 1, extent / 2, extent > 1};
        value[i] = likely[below(g, ARRAY_LENGTH(likely))];
    }
    return true;
}

static uint32_t check_guess(guess *g, ir_id index, ir_id extent)
{
    if (!ir_surely_inside(g->f->p, &g->below, index, extent))
        return 0;
    for (int i = 0; i < TRIES; i++) {
        int64_t value[VARIABLES], at, of;
        if (draw(g, value) && value_of(g, index, value, &at) && value_of(g, extent, value, &of) && (at < 0 || at >= of))
            fail_msg("round with index %lld, extent %lld (n = %lld, m = %lld)", (long long)at, (long long)of,
                     (long long)g->dim[0], (long long)g->dim[1]);
    }
    return 1;
}

/* Random sums, products, minima, remainders and choices of variables: whatever is found certain holds, also where
 * numbers are as large as they may be. */
static void certain_indices_are_inside(void **state)
{
    guess g = {.seed = 17};
    uint32_t certain = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (round % 50 == 0) {
            tear_down(state);
            set_up(state);
            g.f = *state;
            g.below = (map64){0};
        }
        fixture *f = g.f;
        ir_id n = ir_dim(f->p, "n"), m = ir_dim(f->p, "m");
        const ir_id bounds[] = {n, m, op2(f, OP_MIN, n, m), num(f, 7), op2(f, OP_ADD, n, num(f, 1))};
        g.n = 0;
        for (int i = 0; i < VARIABLES; i++) {
            g.bound[i] = i < VARIABLES - 1 ? bounds[below(&g, ARRAY_LENGTH(bounds))] : 0;
            g.var[i] = g.bound[i] ? inside(f, &g.below, g.bound[i]) : ir_var(f->p, T_I64);
            g.pool[g.n++] = g.var[i];
        }
        g.pool[g.n++] = n;
        g.pool[g.n++] = m;
        g.pool[g.n++] = num(f, (int64_t)below(&g, 4));
        for (uint32_t grow = below(&g, 6) + 1; grow; grow--)
            g.pool[g.n++] = grown(&g);
        for (uint32_t k = 0; k < 8; k++) {
            ir_id index = some(&g), extent = some(&g);
            certain += check_guess(&g, index, extent);
            certain += check_guess(&g, index, op2(f, OP_ADD, extent, num(f, 1)));
            certain += check_guess(&g, op2(f, OP_SUB, op2(f, OP_SUB, extent, num(f, 1)), index), extent);
        }
    }
    print_message("%u certain\n", certain);
    assert_true(certain > ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(indices_are_inside, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(choices_in_choices, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(certain_indices_are_inside, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
