/* What is said to be inside an extent is: every claim about random index arithmetic is tried with all values of its
 * variables. And the usual forms of indices are seen to be inside, so that no checks are made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "ir/evaluate.h"
#include "skeleton/element/bounds.h"

enum { TERMS = 14, PROGRAMS = 4000 };

typedef struct world {
    arena arena;
    ir_program *p;
    sk_facts facts;
    ir_id n, m, i, j, narrow; /* extents; i inside n, j inside m; of u8 */
    int64_t dim[2];
} world;

static void open_world(world *w)
{
    arena_init(&w->arena, NULL);
    w->p = ir_program_new(&w->arena);
    w->facts = (sk_facts){0};
    w->n = ir_dim(w->p, "n");
    w->m = ir_dim(w->p, "m");
    w->i = ir_var(w->p, T_I64);
    w->j = ir_var(w->p, T_I64);
    w->narrow = ir_var(w->p, T_U8);
    sk_note_inside(w->p, &w->facts, &w->arena, w->i, w->n);
    sk_note_inside(w->p, &w->facts, &w->arena, w->j, w->m);
}

/* --- random terms --- */

static uint64_t state;

static uint32_t pick(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % n);
}

static ir_id random_term(world *w, const ir_id *made, uint32_t n)
{
    static const ir_op ops[] = {OP_ADD, OP_SUB, OP_MIN, OP_MAX, OP_MOD, OP_REM, OP_QUOT, OP_DIV, OP_BIT_AND, OP_MUL};
    ir_program *p = w->p;
    ir_id a = made[pick(n)], b = made[pick(n)];
    switch (pick(12)) {
    case 0:
        return ir_cond(p, 0, ir_op2(p, 0, OP_LT, a, b), made[pick(n)], made[pick(n)]);
    case 1:
        return ir_i64(p, (int64_t)pick(7) - 2);
    default:
        return ir_op2(p, 0, ops[pick(ARRAY_LENGTH(ops))], a, b);
    }
}

static bool dim_value(void *env, uint32_t number, int64_t *out)
{
    *out = ((const world *)env)->dim[number];
    return true;
}

static bool no_read(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *failure)
{
    (void)env, (void)read, (void)index, (void)out, (void)failure;
    return false;
}

static void try_claim(world *w, ir_id term, ir_id extent)
{
    static const uint8_t some[] = {0, 1, 2, 3, 5, 254, 255};
    const scalar_world values = {.dim = dim_value, .read = no_read, .env = w};
    evaluator *e = evaluator_new(w->p, &w->arena, 2, (ir_id[]){term, extent});
    for (w->dim[0] = 0; w->dim[0] < 5; w->dim[0]++)
        for (w->dim[1] = 0; w->dim[1] < 4; w->dim[1]++)
            for (int64_t i = 0; i < w->dim[0]; i++)
                for (int64_t j = 0; j < w->dim[1]; j++)
                    for (size_t k = 0; k < ARRAY_LENGTH(some); k++) {
                        ir_bits out[2];
                        scalar_failure f;
                        evaluator_restart(e);
                        evaluator_set(e, evaluator_slot(e, w->i), (ir_bits)i);
                        evaluator_set(e, evaluator_slot(e, w->j), (ir_bits)j);
                        evaluator_set(e, evaluator_slot(e, w->narrow), some[k]);
                        if (evaluator_run(e, &values, out, &f))
                            assert_in_range((int64_t)out[0], 0, (int64_t)out[1] - 1);
                    }
}

static void claims_hold(void **unused)
{
    (void)unused;
    uint32_t claims = 0;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        world w;
        open_world(&w);
        state = seed * 2654435761u + 1;
        ir_program *p = w.p;
        ir_id last = ir_op2(p, 0, OP_SUB, w.n, ir_i64(p, 1));
        ir_id made[TERMS] = {w.i, w.j, w.n, ir_i64(p, 0), last, ir_convert(p, 0, OP_CONVERT, T_I64, w.narrow)};
        uint32_t first = 6, n = first;
        while (n < TERMS) {
            made[n] = random_term(&w, made, n);
            n++;
        }
        const ir_id extent[] = {w.n, w.m, ir_i64(p, 4), ir_op2(p, 0, OP_ADD, w.n, ir_i64(p, 2))};
        for (uint32_t k = first; k < n; k++)
            for (size_t e = 0; e < ARRAY_LENGTH(extent); e++)
                if (sk_surely_inside(p, &w.facts, made[k], extent[e])) {
                    try_claim(&w, made[k], extent[e]);
                    claims++;
                }
        arena_free(&w.arena);
    }
    print_message("%u claims\n", claims);
    assert_true(claims > PROGRAMS / 2);
}

/* --- what must be seen --- */

static ir_id op2(world *w, ir_op op, ir_id a, ir_id b)
{
    return ir_op2(w->p, 0, op, a, b);
}

static void usual_indices_are_inside(void **unused)
{
    (void)unused;
    world w;
    open_world(&w);
    ir_program *p = w.p;
    ir_id any = ir_var(p, T_I64), zero = ir_i64(p, 0), last = op2(&w, OP_SUB, w.n, ir_i64(p, 1));
    ir_id more = op2(&w, OP_ADD, w.n, ir_i64(p, 3)), byte = ir_convert(p, 0, OP_CONVERT, T_I64, w.narrow);
    const struct {
        ir_id term, extent;
        bool inside;
    } cases[] = {
        {w.i, w.n, true},
        {w.i, w.m, false},
        {any, w.n, false},
        {op2(&w, OP_SUB, last, w.i), w.n, true},
        {op2(&w, OP_SUB, last, w.j), w.n, false},
        {op2(&w, OP_SUB, w.n, w.i), w.n, false},
        {op2(&w, OP_MAX, op2(&w, OP_MIN, any, last), zero), w.n, true},
        {op2(&w, OP_MIN, op2(&w, OP_MAX, any, zero), last), w.n, true},
        {op2(&w, OP_MAX, op2(&w, OP_MIN, any, w.n), zero), w.n, false},
        {op2(&w, OP_MAX, op2(&w, OP_SUB, w.i, ir_i64(p, 1)), zero), w.n, true}, /* the one before; the one behind */
        {op2(&w, OP_MIN, op2(&w, OP_ADD, w.i, ir_i64(p, 1)), last), w.n, true},
        {op2(&w, OP_MAX, op2(&w, OP_ADD, w.i, ir_i64(p, 1)), zero), w.n, false},
        {op2(&w, OP_MIN, op2(&w, OP_SUB, w.i, ir_i64(p, 1)), last), w.n, false},
        {op2(&w, OP_MAX, op2(&w, OP_SUB, w.j, ir_i64(p, 1)), zero), w.n, false},
        {op2(&w, OP_MIN, op2(&w, OP_ADD, any, ir_i64(p, 1)), last), w.n, false},
        {op2(&w, OP_MOD, any, w.n), w.n, true},
        {op2(&w, OP_REM, any, w.n), w.n, false},
        {op2(&w, OP_REM, w.j, w.n), w.n, true},
        {op2(&w, OP_MOD, any, ir_i64(p, 5)), ir_i64(p, 5), true},
        {op2(&w, OP_MOD, any, ir_i64(p, 6)), ir_i64(p, 5), false},
        {op2(&w, OP_QUOT, w.i, ir_i64(p, 2)), w.n, true},
        {ir_cond(p, 0, op2(&w, OP_LT, any, zero), w.i, zero), w.n, true},
        {ir_cond(p, 0, op2(&w, OP_LT, any, zero), w.i, any), w.n, false},
        {zero, w.n, true},
        {zero, ir_dim(p, "k"), false},
        {ir_i64(p, 3), ir_i64(p, 4), true},
        {ir_i64(p, 4), ir_i64(p, 4), false},
        {ir_i64(p, -1), ir_i64(p, 4), false},
        {w.n, more, true},
        {last, w.n, true},
        {op2(&w, OP_SUB, ir_dim(p, "k"), ir_i64(p, 1)), ir_dim(p, "k"), false},
        {op2(&w, OP_BIT_AND, any, ir_i64(p, 7)), ir_i64(p, 8), true},
        {op2(&w, OP_BIT_AND, any, ir_i64(p, 8)), ir_i64(p, 8), false},
        {byte, ir_i64(p, 256), true},
        {byte, ir_i64(p, 255), false},
    };
    for (size_t k = 0; k < ARRAY_LENGTH(cases); k++)
        if (sk_surely_inside(p, &w.facts, cases[k].term, cases[k].extent) != cases[k].inside)
            fail_msg("case %zu", k);
    arena_free(&w.arena);
}

/* Extents that the program checks to be equal count as one, those of no check do not. */
static void checked_extents_are_one(void **unused)
{
    (void)unused;
    world w;
    open_world(&w);
    ir_program *p = w.p;
    ir_id k = ir_dim(p, "k"), less = op2(&w, OP_SUB, k, ir_i64(p, 1));
    assert_false(sk_surely_inside(p, &w.facts, w.i, less));
    ir_check_equal(p, 0, w.n, less, "the extents differ");
    assert_true(sk_surely_inside(p, &w.facts, w.i, less));
    assert_false(sk_surely_inside(p, &w.facts, w.j, less));
    assert_false(sk_surely_inside(p, &w.facts, w.i, w.m));
    ir_check_equal(p, 0, less, w.m, "the extents differ");
    assert_true(sk_surely_inside(p, &w.facts, w.j, less));
    assert_false(sk_surely_inside(p, &w.facts, op2(&w, OP_ADD, w.j, ir_i64(p, 1)), less));
    arena_free(&w.arena);
}

/* A term of so many operators, one in the other, each of which keeps what is known of the innermost, an index. */
static ir_id nested(world *w, int kind, int levels)
{
    ir_program *p = w->p;
    ir_id term = w->i;
    for (int k = 0; k < levels; k++) {
        ir_id any = ir_var(p, T_I64), in_n = ir_var(p, T_I64), in_m = ir_var(p, T_I64);
        sk_note_inside(w->p, &w->facts, &w->arena, in_n, w->n);
        sk_note_inside(w->p, &w->facts, &w->arena, in_m, w->m);
        ir_id less = op2(w, OP_LT, any, in_n);
        const ir_id next[] = {
            op2(w, OP_MOD, any, term),   op2(w, OP_REM, term, any),           op2(w, OP_MAX, any, term),
            op2(w, OP_MAX, term, any),   op2(w, OP_BIT_AND, any, term),       op2(w, OP_DIV, in_n, term),
            op2(w, OP_QUOT, in_n, term), ir_cond(p, 0, less, in_n, term),     ir_cond(p, 0, less, term, in_n),
            op2(w, OP_MIN, in_m, term),  op2(w, OP_MAX, in_n, term),          op2(w, OP_DIV, term, ir_i64(p, 3)),
            op2(w, OP_MIN, term, in_m),  op2(w, OP_QUOT, term, ir_i64(p, 3)),
        };
        term = next[kind];
    }
    return term;
}

/* Proofs follow some operators and no more, whichever they are: their time is bounded by that. */
static void proofs_end_between_six_and_twenty_steps(void **unused)
{
    (void)unused;
    enum { DEEP = 6, TOO_DEEP = 20, SIGN_ONLY = 7, KINDS = 14 };
    for (int kind = 0; kind < KINDS; kind++)
        for (int levels = 1; levels <= TOO_DEEP + 4; levels++) {
            world w;
            open_world(&w);
            ir_id term = nested(&w, kind, levels), last = op2(&w, OP_SUB, w.n, ir_i64(w.p, 1));
            int all = levels;
            if (kind < SIGN_ONLY) { /* the first kinds say only that something is not negative */
                term = op2(&w, OP_MIN, term, last);
                all++;
            }
            const bool proved = sk_surely_inside(w.p, &w.facts, term, w.n);
            if ((all <= DEEP && !proved) || (all > TOO_DEEP && proved))
                fail_msg("%d operators of kind %d", levels, kind);
            arena_free(&w.arena);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(claims_hold), cmocka_unit_test(usual_indices_are_inside),
                                       cmocka_unit_test(checked_extents_are_one),
                                       cmocka_unit_test(proofs_end_between_six_and_twenty_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
