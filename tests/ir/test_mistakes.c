/* Builders given what cannot be: each says so once, and what is made of a mistake is none and says nothing more. */
#include "ir/term_fixture.h"

enum { SITE = 0 };

static void expect_message(fixture *f, ir_id made, const char *message)
{
    assert_int_equal(made, 0);
    assert_string_equal(last_error(f), message);
}

static ir_fn *closed_over(fixture *f, uint32_t n, const ir_type *type, ir_type result)
{
    ir_fn *fn = ir_fn_new(f->p, n, type);
    ir_id r = result == T_I64 ? num(f, 1) : ir_const(f->p, result, 0);
    return ir_fn_close(f->p, fn, 1, &r);
}

static void nothing_is_made_of_a_mistake(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id n = ir_dim(p, "n"), a = vector(f, T_F32, n), loop = square_loop(f, f->x, num(f, 3), f->y), none = 0;
    ir_id any = op2(f, OP_LT, f->x, f->y), two[2] = {n, 0}, inputs[2] = {a, 0}, zero = real(f, 0);
    const ir_type i64 = T_I64, floats[3] = {T_F32, T_F32, T_F32};
    ir_fn *of_index = closed_over(f, 1, &i64, T_I64), *of_one = closed_over(f, 1, floats, T_F32),
          *of_two = closed_over(f, 2, floats, T_F32), *of_three = closed_over(f, 3, floats, T_F32), open = {0};
    ir_stencil clamp = {.extent = {3}, .boundary = IR_CLAMP}, constant = clamp, function = clamp, missing = clamp;
    constant.boundary = missing.boundary = IR_CONSTANT;
    constant.constant = &none;
    function.boundary = IR_FUNCTION;
    ir_fail(p, SITE, "the mistake");
    const ir_id made[] = {
        op1(f, OP_NEG, 0),
        op2(f, OP_ADD, 0, f->x),
        op2(f, OP_ADD, f->x, 0),
        ir_op3(p, SITE, OP_FMA, 0, f->x, f->y),
        ir_op3(p, SITE, OP_FMA, f->x, 0, f->y),
        ir_op3(p, SITE, OP_FMA, f->x, f->y, 0),
        ir_convert(p, SITE, OP_CONVERT, T_I64, 0),
        ir_cond(p, SITE, 0, f->x, f->y),
        ir_cond(p, SITE, any, 0, f->y),
        ir_cond(p, SITE, any, f->x, 0),
        ir_proj(p, 0, 0),
        square_loop(f, 0, num(f, 3), f->y),
        square_loop(f, f->x, 0, f->y),
        square_loop(f, f->x, num(f, 3), 0),
        ir_read(p, SITE, 0, 0, 0, 1, &f->i),
        ir_read(p, SITE, a, 0, 0, 1, &none),
        ir_input(p, 1, floats, 1, &none),
        ir_input(p, 1, floats, 2, two),
        ir_generate(p, SITE, 1, &none, of_index),
        ir_generate(p, SITE, 1, &n, NULL),
        ir_generate(p, SITE, 1, &n, &open),
        ir_map(p, SITE, 1, &none, of_one, 0),
        ir_map(p, SITE, 2, inputs, of_two, 0),
        ir_map(p, SITE, 2, (const ir_id[]){0, a}, of_two, 0),
        ir_map(p, SITE, 1, &a, NULL, 0),
        ir_map(p, SITE, 1, &a, &open, 0),
        ir_backpermute(p, SITE, 1, &n, of_index, 0, 0),
        ir_backpermute(p, SITE, 1, &none, of_index, a, 0),
        ir_backpermute(p, SITE, 1, &n, NULL, a, 0),
        ir_reshape(p, SITE, 1, &n, 0),
        ir_reshape(p, SITE, 1, &none, a),
        ir_fold(p, SITE, of_two, &zero, 0, 0),
        ir_fold(p, SITE, of_two, &none, a, 0),
        ir_fold(p, SITE, NULL, &zero, a, 0),
        ir_stencil_new(p, SITE, of_three, 1, &none, &clamp),
        ir_stencil_new(p, SITE, NULL, 1, &a, &clamp),
        ir_stencil_new(p, SITE, of_three, 1, &a, &constant),
        ir_stencil_new(p, SITE, of_three, 1, &a, &missing),
        ir_stencil_new(p, SITE, of_three, 1, &a, &function),
        ir_force(p, SITE, 0),
    };
    for (size_t i = 0; i < ARRAY_LENGTH(made); i++)
        if (made[i])
            fail_msg("call %zu made something of a mistake", i);
    assert_null(ir_fn_close(p, NULL, 1, &f->x));
    assert_null(ir_fn_close(p, ir_fn_new(p, 1, floats), 1, &none));
    assert_int_equal(p->error.n, 1);
    assert_string_equal(last_error(f), "the mistake");
    assert_int_not_equal(ir_proj(p, loop, 0), 0); /* what has nothing to do with it is made as ever */
    assert_int_not_equal(ir_stencil_new(p, SITE, of_three, 1, &a, &clamp), 0);
}

static void mistakes_in_scalars(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id a = vector(f, T_F32, ir_dim(p, "n")), loop = square_loop(f, f->x, num(f, 3), f->y), ij[2] = {f->i, f->j};
    ir_id any = op2(f, OP_LT, f->x, f->y), beyond = p->node.n + 7;
    expect_message(f, op1(f, OP_NEG, loop), "neg: expected a scalar, found a loop");
    expect_message(f, ir_op1(p, SITE, OP_COUNT, f->x), "unknown operator; ir/ops.def lists them");
    expect_message(f, ir_op1(p, SITE, OP_NONE, f->x), "unknown operator; ir/ops.def lists them");
    expect_message(f, ir_op1(p, SITE, OP_ADD, f->x), "add: takes 2 operands, not 1");
    expect_message(f, ir_op2(p, SITE, OP_NEG, f->x, f->y), "neg: takes 1 operands, not 2");
    expect_message(f, ir_convert(p, SITE, OP_NEG, T_I64, f->x), "neg is no conversion; convert and bitcast are");
    expect_message(f, ir_convert(p, SITE, OP_COUNT, T_I64, f->x), "? is no conversion; convert and bitcast are");
    expect_message(f, ir_cond(p, SITE, any, a, f->x), "if: expected a scalar, found an array");
    expect_message(f, ir_cond(p, SITE, any, f->x, beyond),
                   "if: an operand is no term of this program; terms belong to one program");
    expect_message(f, ir_read(p, SITE, f->x, 0, 0, 1, ij),
                   "index: something else than an array is indexed; only arrays have elements");
    expect_message(f, ir_read(p, SITE, beyond, 0, 0, 1, ij),
                   "index: something else than an array is indexed; only arrays have elements");
    expect_message(f, ir_read(p, SITE, a, 1, 0, 1, ij), "index: there is no component 1; the array has 1, from 0 on");
    expect_message(f, ir_read(p, SITE, a, 0, 0, 2, ij), "index: 2 indices, but the array is of rank 1");
    expect_message(f, ir_read(p, SITE, a, 0, 0, 0, ij), "index: 0 indices, but the array is of rank 1");
    expect_message(f, ir_read(p, SITE, a, 0, 0, 1, &a), "index: expected a scalar, found an array");
    expect_message(f, ir_const(p, T_NONE, 0), "a constant of no type; it needs one");
    uint32_t errors = p->error.n;
    assert_null(ir_fn_close(p, ir_fn_new(p, 0, NULL), 1, &a));
    assert_string_equal(last_error(f), "a function's result: expected a scalar, found an array");
    assert_int_equal(p->error.n, errors + 1);
}

static void a_function_without_a_result_is_a_mistake(void **state)
{
    fixture *f = *state;
    assert_null(ir_fn_close(f->p, ir_fn_new(f->p, 0, NULL), 1, &(ir_id){0}));
    assert_int_equal(f->p->error.n, 1); /* as nothing else was */
    assert_string_equal(last_error(f), "a function without result; it gives one or more");
}

static void mistakes_in_loops(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id a = vector(f, T_F32, ir_dim(p, "n")), z = ir_var(p, T_F32), k = ir_var(p, T_I64), three = num(f, 3);
    ir_loop without_end = {.states = 1, .init = &f->x, .var = &z, .next = &z};
    expect_message(f, ir_loop_new(p, SITE, &without_end),
                   "while: a loop without condition and count; it needs one of them");
    ir_loop stateless = {.count = three, .index = k};
    expect_message(f, ir_loop_new(p, SITE, &stateless), "iterate: a loop without state; it needs some");
    ir_loop counted = {.states = 1, .init = &f->x, .var = &z, .next = &z, .count = a, .index = k};
    expect_message(f, ir_loop_new(p, SITE, &counted), "iterate: expected a scalar, found an array");
    counted.count = f->x;
    expect_message(f, ir_loop_new(p, SITE, &counted), "iterate: the count is of type f32, not i64");
    counted.count = three;
    counted.init = &a;
    expect_message(f, ir_loop_new(p, SITE, &counted), "iterate: expected a scalar, found an array");
    counted.init = &f->x;
    counted.next = &k;
    expect_message(f, ir_loop_new(p, SITE, &counted),
                   "iterate: state 0 is of type f32, but its next value of type i64");
}

static void mistakes_in_arrays(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    const ir_type indices[4] = {T_I64, T_I64, T_I64, T_I64}, floats[3] = {T_F32, T_F32, T_F32};
    ir_id n = ir_dim(p, "n"), shape[4] = {n, n, n, n}, a = vector(f, T_F32, n), beyond = p->node.n + 7;
    ir_id point = ir_input(p, 1, floats, 0, NULL), deep = ir_input(p, 1, floats, 4, shape);
    ir_id plane = ir_input(p, 1, floats, 2, shape), pair[2] = {a, plane};
    ir_fn *of_one = closed_over(f, 1, floats, T_F32), *of_two = closed_over(f, 2, floats, T_F32),
          *of_three = closed_over(f, 3, floats, T_F32), *whole = closed_over(f, 1, indices, T_I64);
    ir_stencil clamp = {.extent = {3, 1, 1}, .boundary = IR_CLAMP}, function = clamp;
    expect_message(f, ir_map(p, SITE, 0, NULL, of_one, 0), "map: there is no array; it needs one");
    expect_message(f, ir_map(p, SITE, 1, &beyond, of_one, 0), "map: expected an array, found a scalar");
    expect_message(f, ir_map(p, SITE, 2, pair, of_two, 0),
                   "map: the operands' ranks differ: 1 and 2; they need the same");
    expect_message(f, ir_force(p, SITE, f->x), "force: expected an array, found a scalar");
    expect_message(f, ir_stencil_new(p, SITE, of_one, 1, &point, &clamp),
                   "stencil: stencils are for ranks 1 to 3, not 0");
    expect_message(f, ir_stencil_new(p, SITE, of_three, 1, &deep, &clamp),
                   "stencil: stencils are for ranks 1 to 3, not 4");
    function.boundary = IR_FUNCTION;
    function.function = whole;
    expect_message(f, ir_stencil_new(p, SITE, of_three, 1, &a, &function),
                   "stencil: the boundary function gives i64, but the array has f32");
    function.function = closed_over(f, 1, indices, T_F32);
    assert_int_not_equal(ir_stencil_new(p, SITE, of_three, 1, &a, &function), 0);
    function.function = closed_over(f, 2, indices, T_F32);
    expect_message(f, ir_stencil_new(p, SITE, of_three, 1, &a, &function),
                   "stencil: the function takes i64, i64, but is given i64");
    expect_message(f, ir_backpermute(p, SITE, 1, &n, closed_over(f, 1, indices, T_F32), a, 0),
                   "backpermute: the function must give an index of 1 i64 into the source, but gives f32");
    expect_message(f, ir_backpermute(p, SITE, 1, &n, whole, plane, 0),
                   "backpermute: the function must give an index of 2 i64 into the source, but gives i64");
}

static void mistakes_in_packs_and_permutes(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    const ir_type floats[2] = {T_F32, T_F32}, flag = T_BOOL;
    ir_id n = ir_dim(p, "n"), a = vector(f, T_F32, n), keep = vector(f, flag, n), other = vector(f, flag, n);
    ir_id index = vector(f, T_I64, n), point = ir_input(p, 1, floats, 0, NULL), none = 0;
    ir_fn *of_two = closed_over(f, 2, floats, T_F32);
    ir_id counted = ir_read(p, SITE, ir_count(p, SITE, other), 0, 0, 0, &none);
    expect_message(f, ir_pack_counted(p, SITE, n, keep, a),
                   "pack: expected an extent that is read from the count of what is kept");
    expect_message(f, ir_pack_counted(p, SITE, counted, keep, a),
                   "pack: expected an extent that is read from the count of what is kept");
    assert_int_not_equal(ir_pack_counted(p, SITE, counted, other, a), 0);
    expect_message(f, ir_permute(p, SITE, of_two, point, index, a),
                   "permute: an array of rank 0 has one place only; sn_fold_all combines into it");
    assert_int_not_equal(ir_permute(p, SITE, of_two, a, index, a), 0);
}

/* A loop as a text: its state is a vector of f32, and its round gives what `round` says. */
static const char *loop_with(fixture *f, const char *states, const char *inputs, const char *taken, const char *round)
{
    const char *message = NULL;
    const char *source = arena_printf(&f->a,
                                      "site 1 \"t.c\":1 \"aiterate\"\nextents n\na1 = input [n]f32\na2 = input []f32\n"
                                      "a3 = aiterate: control@1 repeat 1 (%s) values (3, n)\n"
                                      "    region rounds 1 index 0 inputs (%s) values (1) extents (0) results (0) {\n"
                                      "extents n\na1 = input %s\n%s    }\n"
                                      "a4 = aiterate: part@1 0 [n] a3\noutput a4\n",
                                      states, inputs, taken, round);
    return ir_parse(&f->a, source, &message) ? NULL : message;
}

static const char *wrong_loop(fixture *f, const char *states, const char *taken, const char *round)
{
    return loop_with(f, states, "0", taken, round);
}

static void says(const char *message, const char *part)
{
    if (!message || !strstr(message, part))
        fail_msg("the message is %s, without \"%s\"", message ? message : "none", part);
}

static void mistakes_in_controls(void **state)
{
    fixture *f = *state;
    const char *same = "a2 = map a1 {x: f32 -> x + 1.0f32}\noutput a2\n";
    const char *sum = "a2 = fold commutes a1 seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput a2\n";
    const char *whole = "a2 = map a1 {x: f32 -> i32(x)}\noutput a2\n";
    const char *two = "a2 = map a1 {x: f32 -> x, x}\noutput a2\n";
    assert_null(wrong_loop(f, "a1", "[n]f32", same));
    const char *of_round[] = {sum, whole, two};
    for (size_t i = 0; i < ARRAY_LENGTH(of_round); i++)
        says(wrong_loop(f, "a1", "[n]f32", of_round[i]),
             "result 0 of region 0 is not what it should be; types and ranks stay");
    const char *takes[] = {"[n,n]f32", "[n](f32, f32)", "[n]i32"}; /* not what the loop begins with */
    for (size_t i = 0; i < ARRAY_LENGTH(takes); i++)
        says(wrong_loop(f, "a1", takes[i], "output a1\n"),
             "input 0 of region 0 is not what it is given; types and ranks are the same");
    const char *sources[] = {"1", "2", "7"}; /* of another array than the state, or of none */
    for (size_t i = 0; i < ARRAY_LENGTH(sources); i++)
        says(loop_with(f, "a1", sources[i], "[n]f32", same), "input 0 of region 0 is not what it is given");
    says(loop_with(f, "a1, a1", "1", "[n]f32", same),
         "input 0 of region 0 is not what it is given"); /* alike, but not it */
    ir_code none = {0};
    expect_message(f, ir_call(f->p, SITE, &none, 0, NULL), "foreign: 0 operands; functions take 1 to 8");
    expect_message(f, ir_call(f->p, SITE, &none, 1, &f->x), "foreign: 0 operands; functions take 1 to 8");
    ir_region r = {.program = f->p, .rounds = 1};
    ir_id value = num(f, 3), scalar = f->x;
    ir_control c = {
        .form = IR_REPEAT, .regions = 1, .region = &r, .parts = 1, .states = 1, .values = 1, .value = &value};
    expect_message(f, ir_control_new(f->p, SITE, &c, 1, &scalar), "control: expected an array, found a scalar");
    ir_id array = vector(f, T_F32, ir_dim(f->p, "n")), numbers[] = {real(f, 3), f->i}; /* one is no i64, one is open */
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
        c.value = &numbers[i];
        expect_message(f, ir_control_new(f->p, SITE, &c, 1, &array), "control: value 0 is no closed i64; convert it");
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_made_of_a_mistake),
        TEST(mistakes_in_scalars),
        TEST(a_function_without_a_result_is_a_mistake),
        TEST(mistakes_in_loops),
        TEST(mistakes_in_arrays),
        TEST(mistakes_in_packs_and_permutes),
        TEST(mistakes_in_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
