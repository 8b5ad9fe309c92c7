/* The checker of programs: damage of every kind is found, and nothing else. */
#include "ir/term_fixture.h"

typedef struct sample {
    ir_id in, sum, out;
    ir_fn *fn;
} sample;

static sample build_sample(fixture *f)
{
    ir_program *p = f->p;
    sample s = {.in = vector(f, T_F32, ir_dim(p, "n"))};
    ir_type t[2] = {T_I64, T_F32};
    s.fn = ir_fn_new(p, 2, t);
    ir_id cell = ir_read(p, 0, s.in, 0, 0, 1, &s.fn->param[0]);
    s.sum = op2(f, OP_ADD, cell, s.fn->param[1]);
    ir_id r = op2(f, OP_MUL, s.sum, ir_proj(p, nested_loop(f, s.sum, s.fn->param[0], s.fn->param[1]), 0));
    ir_fn_close(p, s.fn, 1, &r);
    s.out = ir_map(p, 0, 1, &s.in, s.fn, IR_INDEXED);
    ir_output(p, s.out);
    return s;
}

static void expect_wrong(fixture *f, const char *part)
{
    const char *why = NULL;
    if (ir_check_program(f->p, &f->a, &why))
        fail_msg("accepted, though %s", part);
    if (!why || !strstr(why, part))
        fail_msg("said `%s`, not `%s`", why ? why : "nothing", part);
}

static void checker_accepts_good_programs(void **state)
{
    fixture *f = *state;
    const char *why = "";
    build_sample(f);
    if (!ir_check_program(f->p, &f->a, &why))
        fail_msg("%s", why);
    assert_null(why);
}

static void checker_finds_damage(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    sample s = build_sample(f);
    ir_node *sum = &p->node.at[s.sum], *out = &p->node.at[s.out], saved = *sum, saved_out = *out;
    sum->type = T_F64;
    expect_wrong(f, "f32"); /* its user, or itself */
    *sum = saved;
    sum->op = OP_LT;
    expect_wrong(f, "lt of f32 gives no f32");
    *sum = saved;
    sum->scope = 1;
    expect_wrong(f, "scope 1");
    *sum = saved;
    sum->partial = false;
    expect_wrong(f, "said to be total");
    *sum = saved;
    ir_id *arg = &p->arg.at[sum->args], old = *arg;
    *arg = s.out;
    expect_wrong(f, "no scalar");
    *arg = f->x;
    sum->partial = false;
    expect_wrong(f, "outside of what binds it");
    *arg = old;
    *sum = saved;
    ir_array *info = out->u.info;
    ir_id shape = info->shape[0];
    info->shape[0] = num(f, 3);
    expect_wrong(f, "");
    info->shape[0] = shape;
    ir_type was = info->type[0];
    info->type[0] = T_I32;
    expect_wrong(f, "gives other types");
    info->type[0] = was;
    out->flags = 0;
    expect_wrong(f, "takes other operands");
    *out = saved_out;
    info->input[0] = s.out;
    expect_wrong(f, "no earlier array");
    info->input[0] = s.in;
    const char *why;
    assert_true(ir_check_program(p, &f->a, &why));
}

static void checker_finds_an_escaped_loop_variable(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_type t = T_F32;
    ir_fn *fn = ir_fn_new(p, 1, &t);
    ir_id z = ir_var(p, T_F32), k = ir_var(p, T_I64), next = op2(f, OP_MUL, z, fn->param[0]);
    ir_loop l = {.states = 1, .init = fn->param, .var = &z, .next = &next, .count = num(f, 3), .index = k};
    ir_id r = op2(f, OP_ADD, ir_proj(p, ir_loop_new(p, 0, &l), 0), z);
    ir_fn_close(p, fn, 1, &r);
    ir_id in = vector(f, T_F32, num(f, 5));
    ir_output(p, ir_map(p, 0, 1, &in, fn, 0));
    expect_wrong(f, "outside of what binds it");
}

static void inner_variables_are_younger(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id inner = ir_var(p, T_F32), k = ir_var(p, T_I64), outer = ir_var(p, T_F32), from = real(f, 1);
    ir_id next = op2(f, OP_MUL, inner, outer);
    ir_loop l = {.states = 1, .init = &outer, .var = &inner, .next = &next, .count = num(f, 3), .index = k};
    ir_id result = ir_proj(p, ir_loop_new(p, 0, &l), 0), test = op2(f, OP_LT, outer, from);
    ir_loop around = {.states = 1, .init = &from, .var = &outer, .next = &result, .cond = test};
    assert_int_equal(ir_loop_new(p, 0, &around), 0);
    assert_string_equal(last_error(f), "loop: its variables were made after those of a loop inside");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(checker_accepts_good_programs),
        TEST(checker_finds_damage),
        TEST(checker_finds_an_escaped_loop_variable),
        TEST(inner_variables_are_younger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
