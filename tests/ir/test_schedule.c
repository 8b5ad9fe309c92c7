/* Where scalar terms are placed: sharing, guards, loops, groups of conditions, selects, and the time it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "block_runner.h"

typedef struct fixture {
    arena a;
    ir_program *p;
    ir_id x, y, n, m; /* parameters: f64, f64, i64, i64 */
    ir_id b, c;       /* bool */
} fixture;

static int set_up(void **state)
{
    static fixture f;
    arena_init(&f.a, NULL);
    f.p = ir_program_new(&f.a);
    f.x = ir_var(f.p, T_F64);
    f.y = ir_var(f.p, T_F64);
    f.n = ir_var(f.p, T_I64);
    f.m = ir_var(f.p, T_I64);
    f.b = ir_var(f.p, T_BOOL);
    f.c = ir_var(f.p, T_BOOL);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    arena_free(&((fixture *)*state)->a);
    return 0;
}

static ir_id op1(fixture *f, ir_op op, ir_id a)
{
    return ir_op1(f->p, 0, op, a);
}

static ir_id op2(fixture *f, ir_op op, ir_id a, ir_id b)
{
    return ir_op2(f->p, 0, op, a, b);
}

static ir_id cond(fixture *f, ir_id c, ir_id a, ir_id b)
{
    return ir_cond(f->p, 0, c, a, b);
}

static ir_id f64(fixture *f, double v)
{
    return ir_const(f->p, T_F64, ir_bits_f64(v));
}

static ir_block *schedule(fixture *f, uint32_t n, const ir_id *result)
{
    return ir_schedule(f->p, &f->a, arena_beside(&f->a), n, result);
}

/* Expensive enough to be worth a branch. */
static ir_id costly(fixture *f, ir_id v)
{
    return op1(f, OP_SIN, op1(f, OP_EXP, v));
}

static void shared_terms_are_computed_once(void **state)
{
    fixture *f = *state;
    ir_id s = op2(f, OP_MUL, f->x, f->y), t = op2(f, OP_ADD, s, f->x);
    ir_id r[2] = {op2(f, OP_SUB, t, s), op2(f, OP_MUL, t, t)};
    ir_block *code = schedule(f, 2, r);
    assert_int_equal(block_count_steps(code), 4);
    assert_non_null(block_find(code, s));
    assert_non_null(block_find(code, t));
}

static void leaves_need_no_steps(void **state)
{
    fixture *f = *state;
    ir_id r[3] = {f->x, f64(f, 1), ir_dim(f->p, "n")};
    assert_int_equal(schedule(f, 3, r)->step.n, 0);
}

static void a_cheap_condition_is_a_select(void **state)
{
    fixture *f = *state;
    ir_id r = cond(f, f->b, op2(f, OP_ADD, f->x, f->y), op2(f, OP_MUL, f->x, f->y));
    ir_block *code = schedule(f, 1, &r);
    const ir_step *s = block_find(code, r);
    assert_non_null(s);
    assert_null(s->then);
    assert_null(s->orelse);
    assert_null(s->cond);
    assert_int_equal(s->group, 1);
    assert_int_equal(code->step.n, 3);
}

/* What stands behind its operands in memory is another node's. */
static void a_select_uses_its_operands_only(void **state)
{
    fixture *f = *state;
    ir_id slow = op1(f, OP_EXP, f->x), branch = cond(f, f->c, op1(f, OP_SIN, slow), f->y);
    ir_id pick = cond(f, f->b, f->x, f->y); /* is placed before the branch */
    op1(f, OP_COS, slow);
    assert_int_equal(ir_args(f->p, pick)[3], slow);
    ir_id r[2] = {pick, branch};
    ir_block *code = schedule(f, 2, r);
    assert_null(block_find(code, pick)->then);
    assert_null(block_find(code, slow));
    assert_non_null(block_find(block_find(code, r[1])->then, slow));
}

static void a_costly_condition_is_a_branch(void **state)
{
    fixture *f = *state;
    ir_id slow = costly(f, f->x), r = cond(f, f->b, slow, f->y);
    ir_block *code = schedule(f, 1, &r);
    assert_int_equal(code->step.n, 1);
    const ir_step *s = block_find(code, r);
    assert_non_null(s->then);
    assert_int_equal(s->then->step.n, 2);
    assert_int_equal(s->orelse->step.n, 0);
    assert_non_null(block_find(s->then, slow));
}

static void what_is_needed_anyway_does_not_make_a_branch(void **state)
{
    fixture *f = *state;
    ir_id slow = costly(f, f->x), pick = cond(f, f->b, slow, f->y);
    ir_id r[2] = {pick, slow};
    ir_block *code = schedule(f, 2, r);
    assert_null(block_find(code, pick)->then);
    assert_int_equal(code->step.n, 3);
}

static void what_both_branches_need_does_not_make_a_branch(void **state)
{
    fixture *f = *state;
    ir_id slow = costly(f, f->x);
    ir_id one = cond(f, f->b, op2(f, OP_SUB, f->y, slow), slow);
    ir_id two = cond(f, f->b, op2(f, OP_ADD, f->y, slow), op2(f, OP_MUL, slow, slow));
    ir_block *code = schedule(f, 1, &one);
    assert_null(block_find(code, one)->then);
    assert_int_equal(code->step.n, 4);
    code = schedule(f, 1, &two);
    assert_null(block_find(code, two)->then);
    ir_id own = cond(f, f->b, op2(f, OP_ADD, costly(f, f->y), slow), slow); /* but what one of them needs does */
    code = schedule(f, 1, &own);
    assert_non_null(block_find(code, own)->then);
    assert_non_null(block_find(code, slow));
    assert_int_equal(block_find(code, own)->then->step.n, 3);
}

static void a_total_term_floats_above_its_guards(void **state)
{
    fixture *f = *state;
    ir_id s = op2(f, OP_MUL, f->x, f->x);
    ir_id r[2] = {cond(f, f->b, costly(f, s), f->x), cond(f, f->c, costly(f, op2(f, OP_ADD, s, f->y)), f->y)};
    ir_block *code = schedule(f, 2, r);
    assert_int_equal(block_count_term(code, s), 1);
    assert_non_null(block_find(code, s));
    assert_non_null(block_find(code, r[0])->then);
    assert_non_null(block_find(code, r[1])->then);
}

static void a_partial_term_stays_behind_each_guard(void **state)
{
    fixture *f = *state;
    ir_id q = op2(f, OP_QUOT, f->n, f->m);
    ir_id r[2] = {cond(f, f->b, q, f->n), cond(f, f->c, op2(f, OP_ADD, q, f->n), f->m)};
    ir_block *code = schedule(f, 2, r);
    assert_null(block_find(code, q));
    assert_int_equal(block_count_term(code, q), 2);
    assert_non_null(block_find(block_find(code, r[0])->then, q));
    assert_non_null(block_find(block_find(code, r[1])->then, q));
}

/* A division by a constant fails for 0, and for -1 of signed types; else it may go anywhere. */
static void division_by_a_constant_is_guarded_where_it_may_fail(void **state)
{
    static const struct {
        ir_type type;
        int64_t divisor;
        bool guarded;
    } rows[] = {{T_I64, 0, true}, {T_I64, -1, true},  {T_I64, 1, false},  {T_I64, -2, false},   {T_I64, 7, false},
                {T_I8, -1, true}, {T_I32, -1, true},  {T_I32, 0, true},   {T_U8, 255, false},   {T_U8, 0, true},
                {T_U64, 0, true}, {T_U32, -1, false}, {T_U64, -1, false}, {T_I16, -128, false}, {T_I8, -128, false}};
    static const ir_op ops[] = {OP_QUOT, OP_REM, OP_DIV, OP_MOD};
    fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        for (size_t o = 0; o < ARRAY_LENGTH(ops); o++) {
            ir_program *p = f->p;
            p->plain = true; /* divisions by constants are made something else of, elsewhere */
            ir_id v = ir_var(p, rows[i].type),
                  c = ir_const(p, rows[i].type, ir_bits_i64(rows[i].type, rows[i].divisor));
            ir_id q = op2(f, ops[o], v, c), more = op2(f, OP_ADD, q, v);
            ir_id r[2] = {cond(f, f->b, more, v), cond(f, f->c, op2(f, OP_MUL, more, v), v)};
            ir_block *code = schedule(f, 2, r);
            if ((block_find(code, q) == NULL) != rows[i].guarded)
                fail_msg("%s of %s by %lld", ir_ops[ops[o]].name, ir_type_name(rows[i].type),
                         (long long)rows[i].divisor);
        }
}

static void a_partial_term_of_both_branches_goes_above(void **state)
{
    fixture *f = *state;
    ir_id q = op2(f, OP_QUOT, f->n, f->m), one = ir_i64(f->p, 1);
    ir_id slow = ir_convert(f->p, 0, OP_CONVERT, T_I64, costly(f, f->x));
    ir_id r = cond(f, f->b, op2(f, OP_ADD, q, slow), op2(f, OP_ADD, q, one));
    ir_block *code = schedule(f, 1, &r);
    assert_non_null(block_find(code, q));
    assert_int_equal(block_count_term(code, q), 1);
}

static void both_branches_of_a_guarded_condition_stay_in_its_guard(void **state)
{
    fixture *f = *state;
    ir_id q = op2(f, OP_QUOT, f->n, f->m);
    ir_id slow = ir_convert(f->p, 0, OP_CONVERT, T_I64, costly(f, f->x));
    ir_id inner = cond(f, f->c, op2(f, OP_ADD, q, slow), op2(f, OP_SUB, slow, q)), r = cond(f, f->b, inner, f->n);
    ir_block *code = schedule(f, 1, &r);
    assert_null(block_find(code, q));
    assert_non_null(block_find(block_find(code, r)->then, q));
    assert_int_equal(block_count_term(code, q), 1);
}

static void a_certain_partial_term_frees_what_depends_on_it(void **state)
{
    fixture *f = *state;
    ir_id q = op2(f, OP_QUOT, f->n, f->m), t = op2(f, OP_MUL, q, f->n);
    ir_id slow = ir_convert(f->p, 0, OP_CONVERT, T_I64, costly(f, f->x));
    ir_id r[3] = {cond(f, f->b, op2(f, OP_ADD, t, slow), f->n), cond(f, f->c, op2(f, OP_SUB, t, slow), f->m), q};
    ir_block *code = schedule(f, 3, r);
    assert_non_null(block_find(code, q));
    assert_non_null(block_find(code, t));
    assert_int_equal(block_count_term(code, t), 1);
}

static void one_condition_of_several_values_is_one_branch(void **state)
{
    fixture *f = *state;
    ir_id shared = costly(f, f->x);
    ir_id r[3] = {cond(f, f->b, shared, f->y), cond(f, f->b, op2(f, OP_ADD, shared, f->y), f->x),
                  cond(f, f->b, op2(f, OP_MUL, shared, f->y), f64(f, 0))};
    ir_block *code = schedule(f, 3, r);
    assert_int_equal(code->step.n, 1);
    const ir_step *s = &code->step.at[0];
    assert_int_equal(s->group, 3);
    for (uint32_t k = 0; k < 3; k++)
        assert_int_equal(s->cond[k], r[k]);
    assert_non_null(block_find(s->then, shared));
}

static void dependent_conditions_are_not_merged(void **state)
{
    fixture *f = *state;
    ir_id first = cond(f, f->b, costly(f, f->x), f->y);
    ir_id middle = op2(f, OP_MUL, first, f->x);
    ir_id second = cond(f, f->b, f->x, costly(f, middle));
    ir_id r[2] = {second, op2(f, OP_ADD, middle, first)};
    ir_block *code = schedule(f, 2, r);
    assert_int_equal(block_find(code, first)->group, 1);
    assert_int_equal(block_find(code, second)->group, 1);
    assert_ptr_not_equal(block_find(code, first), block_find(code, second));
}

static void conditions_merge_across_others(void **state)
{
    fixture *f = *state; /* the second waits for a nested condition to be placed first */
    ir_id u = cond(f, f->b, costly(f, f->x), f->y), v = cond(f, f->b, costly(f, f->y), f->x);
    ir_id w = cond(f, f->c, costly(f, op2(f, OP_ADD, u, f->x)), f->x);
    ir_id r[3] = {w, u, v};
    ir_block *code = schedule(f, 3, r);
    assert_int_equal(block_find(code, u)->group, 2);
    assert_ptr_equal(block_find(code, u), block_find(code, v));
}

/* sum over i < n of body(i, state) */
static ir_id counted(fixture *f, ir_id count, ir_type type, ir_id init, ir_id (*body)(fixture *, ir_id i, ir_id s))
{
    ir_id i = ir_var(f->p, T_I64), s = ir_var(f->p, type), next = body(f, i, s);
    ir_loop loop = {.states = 1, .init = &init, .var = &s, .next = &next, .count = count, .index = i};
    return ir_proj(f->p, ir_loop_new(f->p, 0, &loop), 0);
}

static ir_id loop_of(fixture *f, ir_id proj)
{
    return ir_args(f->p, proj)[0];
}

static ir_id add_invariants(fixture *f, ir_id i, ir_id s)
{
    ir_id total = op2(f, OP_MUL, f->x, f->y), at = ir_convert(f->p, 0, OP_CONVERT, T_F64, i);
    return op2(f, OP_ADD, s, op2(f, OP_MUL, at, total));
}

static void invariants_leave_a_loop(void **state)
{
    fixture *f = *state;
    ir_id r = counted(f, f->n, T_F64, f->y, add_invariants), total = op2(f, OP_MUL, f->x, f->y);
    ir_block *code = schedule(f, 1, &r);
    assert_int_equal(code->step.n, 2);
    assert_non_null(block_find(code, total));
    const ir_step *loop = block_find(code, loop_of(f, r));
    assert_null(loop->test);
    assert_int_equal(loop->body->step.n, 3);
}

static ir_id add_quotient(fixture *f, ir_id i, ir_id s)
{
    return op2(f, OP_ADD, op2(f, OP_QUOT, f->n, f->m), op2(f, OP_BIT_XOR, s, i));
}

static void partial_invariants_leave_only_a_loop_that_runs(void **state)
{
    fixture *f = *state;
    ir_id q = op2(f, OP_QUOT, f->n, f->m);
    ir_id r = counted(f, f->n, T_I64, f->n, add_quotient);
    ir_block *code = schedule(f, 1, &r);
    assert_null(block_find(code, q));
    assert_non_null(block_find(block_find(code, loop_of(f, r))->body, q));
    ir_id s = counted(f, ir_i64(f->p, 7), T_I64, f->n, add_quotient);
    code = schedule(f, 1, &s);
    assert_non_null(block_find(code, q));
    assert_int_equal(block_count_term(code, q), 1);
}

/* while (s * s < n / m) s = s * s + 1 */
static ir_id square_up(fixture *f)
{
    ir_id s = ir_var(f->p, T_I64), square = op2(f, OP_MUL, s, s), next = op2(f, OP_ADD, square, ir_i64(f->p, 1));
    ir_loop loop = {.states = 1, .init = &f->n, .var = &s, .next = &next};
    loop.cond = op2(f, OP_LT, square, op2(f, OP_QUOT, f->n, f->m));
    return ir_proj(f->p, ir_loop_new(f->p, 0, &loop), 0);
}

static void the_body_of_a_while_loop_uses_its_test(void **state)
{
    fixture *f = *state;
    ir_id r = square_up(f), q = op2(f, OP_QUOT, f->n, f->m);
    ir_block *code = schedule(f, 1, &r);
    const ir_step *loop = block_find(code, loop_of(f, r));
    assert_non_null(block_find(code, q)); /* the test runs at least once */
    assert_int_equal(loop->test->step.n, 2);
    assert_int_equal(loop->body->step.n, 1);
}

/* One state is the quotient itself; two others depend on it behind conditions. */
static void what_a_loop_computes_each_time_frees_what_depends_on_it(void **state)
{
    fixture *f = *state;
    ir_id s[3] = {ir_var(f->p, T_I64), ir_var(f->p, T_I64), ir_var(f->p, T_I64)}, i = ir_var(f->p, T_I64);
    ir_id q = op2(f, OP_QUOT, s[0], s[1]), t = op2(f, OP_MUL, q, s[0]);
    ir_id slow = ir_convert(f->p, 0, OP_CONVERT, T_I64, costly(f, ir_convert(f->p, 0, OP_CONVERT, T_F64, s[2])));
    ir_id next[3] = {q, cond(f, f->b, op2(f, OP_ADD, t, slow), s[2]), cond(f, f->c, op2(f, OP_SUB, t, slow), s[1])};
    ir_id init[3] = {f->n, f->m, f->n};
    ir_loop loop = {.states = 3, .init = init, .var = s, .next = next, .count = f->n, .index = i};
    ir_id r = ir_proj(f->p, ir_loop_new(f->p, 0, &loop), 2);
    ir_block *code = schedule(f, 1, &r);
    const ir_step *l = block_find(code, loop_of(f, r));
    assert_non_null(block_find(l->body, q));
    assert_non_null(block_find(l->body, t));
    assert_int_equal(block_count_term(code, t), 1);
}

static void loops_that_may_not_end_stay_guarded(void **state)
{
    fixture *f = *state;
    ir_id w = square_up(f);
    ir_id r[2] = {cond(f, f->b, w, f->n), cond(f, f->c, w, f->m)};
    ir_block *code = schedule(f, 2, r);
    assert_null(block_find(code, loop_of(f, w)));
    assert_int_equal(block_count_term(code, loop_of(f, w)), 2);
}

static void what_a_body_is_certain_of_is_not_certain_in_the_test(void **state)
{
    fixture *f = *state; /* the test runs once more than the body, perhaps with a state of 0 */
    ir_id s = ir_var(f->p, T_I64), q = op2(f, OP_QUOT, f->n, s), no = ir_bool(f->p, false);
    ir_id next = op2(f, OP_BIT_XOR, q, s), more = op2(f, OP_LT, q, f->m), less = op2(f, OP_GT, q, f->n);
    ir_loop loop = {.states = 1, .init = &f->n, .var = &s, .next = &next};
    loop.cond = cond(f, f->b, more, cond(f, f->c, less, no));
    ir_id r = ir_proj(f->p, ir_loop_new(f->p, 0, &loop), 0);
    ir_block *code = schedule(f, 1, &r);
    const ir_step *l = block_find(code, loop_of(f, r));
    assert_null(block_find(l->test, q));
    assert_non_null(block_find(l->body, q));
    assert_int_equal(block_count_term(code, q), 3);
}

static void nested_loops_keep_their_variables(void **state)
{
    fixture *f = *state; /* for i: s = for j: s + i * i + j */
    ir_id i = ir_var(f->p, T_I64), s = ir_var(f->p, T_I64);
    ir_id j = ir_var(f->p, T_I64), t = ir_var(f->p, T_I64);
    ir_id square = op2(f, OP_MUL, i, i), in_next = op2(f, OP_ADD, t, op2(f, OP_BIT_XOR, square, j));
    ir_loop inner = {.states = 1, .init = &s, .var = &t, .next = &in_next, .count = f->m, .index = j};
    ir_id inner_id = ir_loop_new(f->p, 0, &inner), out_next = ir_proj(f->p, inner_id, 0);
    ir_loop outer = {.states = 1, .init = &f->n, .var = &s, .next = &out_next, .count = f->n, .index = i};
    ir_id r = ir_proj(f->p, ir_loop_new(f->p, 0, &outer), 0);
    ir_block *code = schedule(f, 1, &r);
    const ir_step *o = block_find(code, loop_of(f, r)), *n = block_find(o->body, inner_id);
    assert_non_null(n);
    assert_non_null(block_find(o->body, square));
    assert_int_equal(n->body->step.n, 2);
}

static ir_id guarded_invariant(fixture *f, ir_id i, ir_id s)
{
    ir_id first = op2(f, OP_EQ, i, ir_i64(f->p, 0));
    return cond(f, first, op2(f, OP_ADD, s, op2(f, OP_QUOT, f->n, f->m)), op2(f, OP_ADD, s, i));
}

static void a_guard_inside_a_loop_holds_a_partial_invariant(void **state)
{
    fixture *f = *state;
    ir_id r = counted(f, ir_i64(f->p, 3), T_I64, f->n, guarded_invariant), q = op2(f, OP_QUOT, f->n, f->m);
    ir_block *code = schedule(f, 1, &r);
    const ir_step *loop = block_find(code, loop_of(f, r));
    assert_null(block_find(code, q));
    assert_null(block_find(loop->body, q));
    assert_int_equal(block_count_term(code, q), 1);
}

static ir_id input(fixture *f)
{
    ir_type type = T_I64;
    ir_id n = ir_dim(f->p, "n");
    return ir_input(f->p, 1, &type, 1, &n);
}

static void a_read_beside_its_condition_needs_no_branch(void **state)
{
    fixture *f = *state;
    ir_id array = input(f), read = ir_read(f->p, 0, array, 0, 0, 1, &f->n);
    ir_id r = cond(f, op2(f, OP_LT, read, f->m), read, f->m);
    ir_block *code = schedule(f, 1, &r);
    assert_null(block_find(code, r)->then);
    assert_int_equal(code->step.n, 3);
}

static void a_guarded_read_makes_a_branch(void **state)
{
    fixture *f = *state;
    ir_id array = input(f);
    for (unsigned flags = 0; flags <= IR_SAFE; flags += IR_SAFE) {
        ir_id read = ir_read(f->p, 0, array, 0, flags, 1, &f->n), r = cond(f, f->b, read, f->m);
        ir_block *code = schedule(f, 1, &r);
        assert_non_null(block_find(code, r)->then);
        assert_non_null(block_find(block_find(code, r)->then, read));
    }
}

static void a_read_that_is_always_inside_needs_no_branch(void **state)
{
    fixture *f = *state;
    ir_id array = input(f), read = ir_read(f->p, 0, array, 0, IR_SAFE | IR_ALWAYS, 1, &f->n);
    ir_id r = cond(f, f->b, read, f->m);
    assert_null(block_find(schedule(f, 1, &r), r)->then);
}

static void a_safe_read_leaves_loops_but_not_guards(void **state)
{
    fixture *f = *state;
    ir_id array = input(f), read = ir_read(f->p, 0, array, 0, IR_SAFE, 1, &f->n);
    ir_id i = ir_var(f->p, T_I64), s = ir_var(f->p, T_I64);
    ir_id next = op2(f, OP_ADD, op2(f, OP_MUL, read, i), s);
    ir_loop loop = {.states = 1, .init = &f->n, .var = &s, .next = &next, .count = f->m, .index = i};
    ir_id r = cond(f, f->b, ir_proj(f->p, ir_loop_new(f->p, 0, &loop), 0), f->n);
    ir_block *code = schedule(f, 1, &r);
    assert_null(block_find(code, read));
    assert_non_null(block_find(block_find(code, r)->then, read));
}

/* x0 = n, x(k+1) = k'th condition on both or one of earlier terms: deep, shared, nested. */
static ir_id long_chain(fixture *f, uint32_t length)
{
    ir_id v = f->n, w = f->m;
    for (uint32_t k = 0; k < length; k += 5) {
        ir_id step = op2(f, OP_MUL, op2(f, OP_ADD, v, ir_i64(f->p, k + 3)), w);
        ir_id test = op2(f, OP_LT, step, op2(f, OP_BIT_XOR, v, w));
        ir_id branch = cond(f, test, op2(f, OP_REM, step, w), v);
        w = v;
        v = branch;
    }
    return v;
}

/* Every condition guards the next, and all of them one partial term. */
static ir_id deep_guards(fixture *f, uint32_t length)
{
    ir_id q = op2(f, OP_QUOT, f->n, f->m), v = q;
    for (uint32_t k = 0; k < length; k += 4) {
        ir_id step = op2(f, OP_ADD, op2(f, OP_MUL, v, ir_i64(f->p, k + 3)), q);
        v = cond(f, op2(f, OP_LT, f->m, ir_i64(f->p, k)), step, f->n);
    }
    return v;
}

static double seconds_for(ir_id (*make)(fixture *, uint32_t), uint32_t length)
{
    fixture f = {0};
    arena_init(&f.a, NULL);
    f.p = ir_program_new(&f.a);
    f.n = ir_var(f.p, T_I64);
    f.m = ir_var(f.p, T_I64);
    ir_id r = make(&f, length);
    clock_t start = clock();
    ir_block *code = schedule(&f, 1, &r);
    double took = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_non_null(code);
    assert_non_null(block_find(code, r));
    arena_free(&f.a);
    return took;
}

static void check_time(ir_id (*make)(fixture *, uint32_t))
{
    double small = seconds_for(make, 10000), large = seconds_for(make, 100000);
    print_message("10,000 nodes: %.2f ms, 100,000 nodes: %.2f ms\n", small * 1e3, large * 1e3);
    assert_true(large < 40 * small + 0.5);
    for (uint32_t length = 1000; length <= 64000; length += 3000) /* none has too few steps */
        seconds_for(make, length);
}

static void time_is_nearly_linear(void **state)
{
    (void)state;
    check_time(long_chain);
    check_time(deep_guards);
}

/* Each term is used under two guards: 2^60 copies of the innermost. */
static void guards_that_multiply_are_given_up(void **state)
{
    fixture *f = *state;
    ir_id v = op2(f, OP_QUOT, f->n, f->m);
    for (uint32_t k = 0; k < 60; k++) {
        ir_id a = op2(f, OP_EQ, f->m, ir_i64(f->p, 3 * k + 1)), b = op2(f, OP_EQ, f->m, ir_i64(f->p, 3 * k + 2));
        ir_id left = cond(f, a, v, f->n), right = cond(f, b, f->m, v);
        v = cond(f, op2(f, OP_EQ, f->m, ir_i64(f->p, 3 * k)), left, right);
    }
    assert_null(schedule(f, 1, &v));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(shared_terms_are_computed_once),
        TEST(leaves_need_no_steps),
        TEST(a_cheap_condition_is_a_select),
        TEST(a_select_uses_its_operands_only),
        TEST(a_costly_condition_is_a_branch),
        TEST(what_is_needed_anyway_does_not_make_a_branch),
        TEST(what_both_branches_need_does_not_make_a_branch),
        TEST(a_total_term_floats_above_its_guards),
        TEST(a_partial_term_stays_behind_each_guard),
        TEST(division_by_a_constant_is_guarded_where_it_may_fail),
        TEST(a_partial_term_of_both_branches_goes_above),
        TEST(both_branches_of_a_guarded_condition_stay_in_its_guard),
        TEST(a_certain_partial_term_frees_what_depends_on_it),
        TEST(one_condition_of_several_values_is_one_branch),
        TEST(dependent_conditions_are_not_merged),
        TEST(conditions_merge_across_others),
        TEST(invariants_leave_a_loop),
        TEST(partial_invariants_leave_only_a_loop_that_runs),
        TEST(the_body_of_a_while_loop_uses_its_test),
        TEST(what_a_loop_computes_each_time_frees_what_depends_on_it),
        TEST(loops_that_may_not_end_stay_guarded),
        TEST(what_a_body_is_certain_of_is_not_certain_in_the_test),
        TEST(nested_loops_keep_their_variables),
        TEST(a_guard_inside_a_loop_holds_a_partial_invariant),
        TEST(a_read_beside_its_condition_needs_no_branch),
        TEST(a_guarded_read_makes_a_branch),
        TEST(a_read_that_is_always_inside_needs_no_branch),
        TEST(a_safe_read_leaves_loops_but_not_guards),
        TEST(time_is_nearly_linear),
        TEST(guards_that_multiply_are_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
