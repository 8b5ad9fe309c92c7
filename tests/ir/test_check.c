/* The checker of programs: damage of every kind is found, and nothing else. */
#include "ir/broken_rules.h"

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

/* --- every rule, broken once --- */

/* A program with an operation of each kind, and the nodes that are to be damaged. */
typedef struct whole {
    ir_id in, pair, sum, read, cond, counted, checked, proj, map, fold, stencil, back, flat, made, n, wrong;
} whole;

static ir_fn *fn_of(fixture *f, uint32_t n, const ir_type *type)
{
    return ir_fn_new(f->p, n, type);
}

static whole build_whole(fixture *f)
{
    ir_program *p = f->p;
    const ir_type both[4] = {T_F32, T_I64, T_F32, T_I64}, real4[4] = {T_F32, T_F32, T_F32, T_F32};
    whole w = {.n = ir_dim(p, "n"), .wrong = ir_const(p, T_U8, 1)};
    w.in = ir_input(p, 1, real4, 1, &w.n);
    w.pair = ir_input(p, 2, both, 1, &w.n);

    ir_fn *fn = fn_of(f, 3, (ir_type[]){T_I64, T_F32, T_I64});
    w.read = ir_read(p, 0, w.in, 0, 0, 1, &fn->param[0]);
    w.sum = op2(f, OP_SUB, w.read, fn->param[1]);
    ir_id z = ir_var(p, T_F32), index = ir_var(p, T_I64), next = op2(f, OP_MUL, z, w.sum);
    w.counted = ir_loop_new(
        p, 0, &(ir_loop){.states = 1, .init = &w.sum, .var = &z, .next = &next, .count = fn->param[2], .index = index});
    ir_id y = ir_var(p, T_F32), after = op2(f, OP_MUL, y, w.read), until = op2(f, OP_LT, y, w.sum);
    w.checked = ir_loop_new(p, 0, &(ir_loop){.states = 1, .init = &w.sum, .var = &y, .next = &after, .cond = until});
    w.proj = ir_proj(p, w.counted, 0);
    w.cond = ir_cond(p, 0, op2(f, OP_LT, w.sum, w.read), w.proj, ir_proj(p, w.checked, 0));
    ir_fn_close(p, fn, 1, &w.cond);
    w.map = ir_map(p, 0, 1, &w.pair, fn, IR_INDEXED);

    fn = fn_of(f, 4, both);
    ir_id sums[2] = {op2(f, OP_ADD, fn->param[0], fn->param[2]), op2(f, OP_ADD, fn->param[1], fn->param[3])};
    ir_fn_close(p, fn, 2, sums);
    w.fold = ir_fold(p, 0, fn, (ir_id[]){real(f, 1), num(f, 2)}, w.pair, 0);

    fn = fn_of(f, 4, real4);
    ir_id edge = op2(f, OP_SUB, fn->param[0], fn->param[3]), zero = real(f, 0);
    ir_fn_close(p, fn, 1, &edge);
    ir_fn *outside = fn_of(f, 1, both + 1);
    ir_id converted = ir_convert(p, 0, OP_CONVERT, T_F32, outside->param[0]);
    ir_fn_close(p, outside, 1, &converted);
    ir_stencil pattern[2] = {{.extent = {3}, .boundary = IR_CONSTANT, .constant = &zero},
                             {.extent = {1}, .boundary = IR_FUNCTION, .function = outside}};
    w.stencil = ir_stencil_new(p, 0, fn, 2, (ir_id[]){w.in, w.in}, pattern);

    fn = fn_of(f, 1, both + 1);
    ir_id mirrored = op2(f, OP_SUB, w.n, fn->param[0]);
    ir_fn_close(p, fn, 1, &mirrored);
    w.back = ir_backpermute(p, 0, 1, &w.n, fn, w.pair, 0);
    w.made = ir_generate(p, 0, 1, &w.n, outside);
    w.flat = ir_reshape(p, 0, 2, (ir_id[]){w.n, num(f, 1)}, w.pair);
    const ir_id results[] = {w.map, w.fold, w.stencil, w.back, w.made, w.flat};
    for (size_t i = 0; i < ARRAY_LENGTH(results); i++)
        ir_output(p, results[i]);
    return w;
}

/* Does damage number `which`; what the checker is to say, NULL after the last one. */
static const char *damage(fixture *f, const whole *w, int which)
{
    ir_program *p = f->p;
    ir_node *at = p->node.at;
    ir_loop *counted = at[w->counted].u.loop, *checked = at[w->checked].u.loop;
    ir_array *fold = at[w->fold].u.info, *stencil = at[w->stencil].u.info, *map = at[w->map].u.info;
    ir_array *back = at[w->back].u.info, *flat = at[w->flat].u.info;
    ir_id *sum = &p->arg.at[at[w->sum].args], *cond = &p->arg.at[at[w->cond].args],
          *read = &p->arg.at[at[w->read].args];
    int n = 0;
#define DAMAGE(how, what)                                                                                              \
    if (which == n++) {                                                                                                \
        how;                                                                                                           \
        return what;                                                                                                   \
    }
    /* scalars */
    DAMAGE(at[w->sum].op = OP_NEG, "with 2 operands")
    DAMAGE(at[w->sum].op = OP_NONE, "operator 0")
    DAMAGE(at[w->sum].op = OP_COUNT, "with 2 operands")
    DAMAGE(sum[0] = num(f, 1), "is made later")
    DAMAGE(sum[0] = w->wrong, "is of type f32, not u8")
    DAMAGE(sum[1] = w->wrong, "scope")
    DAMAGE(sum[0] = 0, "an operand is missing")
    DAMAGE(sum[1] = p->node.n, "an operand is missing")
    DAMAGE(cond[0] = w->sum, "not bool")
    DAMAGE(cond[1] = cond[0], "scope")
    DAMAGE(cond[2] = cond[0], "is of type bool, not f32")
    DAMAGE(at[w->cond].n = 2, "with 2 operands")
    DAMAGE(at[w->read].u.literal = 1, "a component that is not there")
    DAMAGE(at[w->read].type = T_I32, "is of type i")
    DAMAGE(at[w->read].array = 0, "reads no array")
    DAMAGE(at[w->read].array = w->sum, "reads no array")
    DAMAGE(at[w->read].array = w->fold, "reads no array")
    DAMAGE(at[w->read].n = 0, "")
    DAMAGE(*read = w->wrong, "")
    DAMAGE((at[w->read].n = 0, at[w->read].scope = 0), "0 indices for rank 1")
    DAMAGE((*read = map->fn->param[1], at[w->read].scope = *read), "is of type f32, not i64")
    DAMAGE(at[w->cond].kind = IR_AFTER, "unknown kind") /* kernels alone have those */
    DAMAGE(at[w->cond].kind = IR_WITHIN, "unknown kind")
    DAMAGE(at[w->cond].partial = false, "said to be total")
    DAMAGE(at[w->n].u.literal = p->dim.n, "an extent without name")
    DAMAGE(at[w->n].type = T_I32, "")
    /* loops */
    DAMAGE(at[w->proj].u.literal = 1, "reads a state that is not there")
    DAMAGE(at[w->proj].type = T_I64, "")
    DAMAGE(p->arg.at[at[w->proj].args] = w->sum, "reads the state of no loop")
    DAMAGE(counted->count = 0, "either a condition or a count")
    DAMAGE(checked->cond = 0, "either a condition or a count")
    DAMAGE(counted->count = w->wrong, "is of type u8, not i64")
    DAMAGE(checked->cond = w->read, "is of type f32, not bool")
    DAMAGE(counted->index = w->wrong, "the index is no variable")
    DAMAGE(at[counted->index].type = T_I32, "is of type i32, not i64")
    DAMAGE(counted->var[0] = w->sum, "state 0 has no variable")
    DAMAGE(counted->init[0] = w->wrong, "is of type u8, not f32")
    DAMAGE(counted->next[0] = w->wrong, "is of type u8, not f32")
    DAMAGE(counted->init[0] = 0, "an operand is missing")
    DAMAGE(counted->next[0] = 0, "an operand is missing")
    DAMAGE(counted->var[0] = 0, "reads a state that is not there")
    DAMAGE(counted->init[0] = counted->next[0], "outside of what binds it")
    /* functions */
    DAMAGE(map->fn->param[0] = w->wrong, "")
    DAMAGE(map->fn->param[1] = map->fn->param[0], "")
    DAMAGE(map->fn->result[0] = 0, "")
    DAMAGE(map->fn->results = 0, "gives other types")
    DAMAGE(map->fn->params = 2, "")
    /* arrays */
    DAMAGE(map->components = 0, "rank 1 with 0 components")
    DAMAGE(map->rank = IR_MAX_RANK + 1, "with 1 components")
    DAMAGE(map->fn = NULL, "parts are missing or too many")
    DAMAGE(map->inputs = 0, "parts are missing or too many")
    DAMAGE(map->stencil = stencil->stencil, "parts are missing or too many")
    DAMAGE(map->input[0] = w->sum, "is no earlier array")
    DAMAGE(map->shape[0] = num(f, 7), "is made later")
    DAMAGE(stencil->shape[0] = num(f, 2), "does not follow from the operand's")
    DAMAGE(map->shape[0] = w->sum, "is of type f32, not i64")
    DAMAGE(map->shape[0] = map->fn->param[0], "is not closed")
    DAMAGE(fold->seed[0] = w->wrong, "is of type u8, not f32")
    DAMAGE(fold->seed[1] = w->wrong, "is of type u8, not i64")
    DAMAGE(fold->seed[1] = map->fn->param[0], "is not closed")
    DAMAGE(fold->seed[0] = map->fn->param[1], "is not closed")
    DAMAGE(fold->input[0] = w->in, "takes other operands")
    DAMAGE(fold->rank = 1, "")
    DAMAGE(stencil->stencil[0].extent[0] = 4, "a pattern of extent 4")
    DAMAGE(stencil->stencil[0].extent[0] = IR_MAX_PATTERN + 2, "a pattern of extent")
    DAMAGE(stencil->stencil[1].extent[0] = 3, "takes other operands")
    DAMAGE(stencil->stencil[0].boundary = IR_FUNCTION + 1, "a stencil of another rank")
    DAMAGE(stencil->stencil[0].constant[0] = w->wrong, "is of type u8, not f32")
    DAMAGE(stencil->stencil[1].function = back->fn, "gives other types")
    DAMAGE(stencil->stencil[1].function = stencil->fn, "takes other operands")
    DAMAGE(stencil->input[1] = w->flat, "")
    DAMAGE(back->fn = map->fn, "takes other operands")
    DAMAGE(back->type[1] = T_I32, "of other types than the operand's")
    DAMAGE(back->fn->result[0] = w->wrong, "gives other types")
    DAMAGE(flat->type[0] = T_I32, "of other types than the operand's")
    DAMAGE(flat->components = 1, "of other types than the operand's")
    DAMAGE(at[w->made].u.info->fn = back->fn, "")
    DAMAGE(at[w->in].args = 1, "an input without number")
    DAMAGE(at[w->in].args = 2, "an input without number")
    DAMAGE(at[w->flat].kind = IR_KIND_COUNT, "unknown kind")
    DAMAGE(at[w->flat].kind = IR_FORCE, "does not follow from the operand's")
    /* the program */
    DAMAGE(p->output.at[0] = w->sum, "an input or result that is no array")
    DAMAGE(p->output.at[1] = 0, "an input or result that is no array")
    DAMAGE(p->input.at[1] = p->node.n, "an input or result that is no array")
    DAMAGE(vec_push(p->arena, &p->check, ((ir_check){w->wrong, w->n, 0, ""})), "is of type u8, not i64")
    DAMAGE(vec_push(p->arena, &p->check, ((ir_check){w->n, w->wrong, 0, ""})), "is of type u8, not i64")
#undef DAMAGE
    return NULL;
}

static const char *broken(fixture *f, int which)
{
    whole w = build_whole(f);
    assert_string_equal(last_error(f), "no error");
    return which < 0 ? "" : damage(f, &w, which);
}

static void every_rule_is_kept(void **unused)
{
    (void)unused;
    every_rule_is_kept_by(broken);
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
    assert_string_equal(last_error(f), "loop: its variables were made after those of a loop inside; make the outer loop's first");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(checker_accepts_good_programs),  TEST(checker_finds_damage),
        cmocka_unit_test(every_rule_is_kept), TEST(checker_finds_an_escaped_loop_variable),
        TEST(inner_variables_are_younger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
