/* The reference interpreter against results worked out by hand: every kind of operation, and every run-time error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/interpret.h"

enum { DIVIDED_AT = 3 };

typedef struct fixture {
    arena a;
    ir_program *p;
    ir_failure failure;
    ir_value in[4], out[4];
    uint32_t inputs;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    memset(&f, 0, sizeof f);
    arena_init(&f.a, NULL);
    f.p = ir_program_new(&f.a);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    arena_free(&((fixture *)*state)->a);
    return 0;
}

/* --- programs --- */

static ir_id dim(fixture *f, const char *name)
{
    return ir_dim(f->p, name);
}

static ir_id num(fixture *f, int64_t v)
{
    return ir_i64(f->p, v);
}

static ir_id op2(fixture *f, ir_op op, ir_id a, ir_id b)
{
    return ir_op2(f->p, 0, op, a, b);
}

static uint32_t site(fixture *f, uint32_t line, const char *operation)
{
    return ir_site_at(f->p, "test.c", line, operation);
}

/* An i64 input and its value: the numbers given, row-major. */
static ir_id input_shape(fixture *f, unsigned rank, const ir_id *shape, const int64_t *extent, const int64_t *number)
{
    ir_type type = T_I64;
    ir_value *v = &f->in[f->inputs++];
    int64_t size = 1;
    *v = (ir_value){.rank = (uint8_t)rank, .components = 1, .type = {T_I64}};
    for (unsigned d = 0; d < rank; d++)
        size *= v->extent[d] = extent[d];
    v->data[0] = arena_alloc(&f->a, (size_t)size * 8 + 8);
    if (size)
        memcpy(v->data[0], number, (size_t)size * 8);
    return ir_input(f->p, 1, &type, rank, shape);
}

static ir_id vector(fixture *f, const char *name, int64_t n, const int64_t *number)
{
    ir_id shape = dim(f, name);
    return input_shape(f, 1, &shape, &n, number);
}

static ir_id matrix(fixture *f, int64_t n, int64_t m, const int64_t *number)
{
    return input_shape(f, 2, (ir_id[]){dim(f, "n"), dim(f, "m")}, (int64_t[]){n, m}, number);
}

static ir_fn *fn_new(fixture *f, uint32_t params)
{
    ir_type type[64] = {T_NONE};
    for (uint32_t k = 0; k < params; k++)
        type[k] = T_I64;
    return ir_fn_new(f->p, params, type);
}

static ir_fn *fn_op(fixture *f, ir_op op, uint32_t at)
{
    ir_fn *fn = fn_new(f, 2);
    ir_id r = ir_op2(f->p, at, op, fn->param[0], fn->param[1]);
    return ir_fn_close(f->p, fn, 1, &r);
}

/* x -> 10 * x + k */
static ir_fn *fn_affine(fixture *f, int64_t k)
{
    ir_fn *fn = fn_new(f, 1);
    ir_id r = op2(f, OP_ADD, op2(f, OP_MUL, fn->param[0], num(f, 10)), num(f, k));
    return ir_fn_close(f->p, fn, 1, &r);
}

static bool run(fixture *f, ir_id output)
{
    ir_output(f->p, output);
    assert_int_equal(f->p->error.n, 0);
    return ir_interpret(f->p, &f->a, f->in, f->out, &f->failure);
}

static void expect(fixture *f, ir_id output, unsigned rank, const int64_t *extent, const int64_t *number)
{
    assert_true(run(f, output));
    const ir_value *v = &f->out[f->p->output.n - 1];
    int64_t size = 1;
    assert_int_equal(v->rank, rank);
    for (unsigned d = 0; d < rank; d++) {
        assert_int_equal(v->extent[d], extent[d]);
        size *= extent[d];
    }
    for (int64_t k = 0; k < size; k++)
        assert_int_equal(((const int64_t *)v->data[0])[k], number[k]);
}

#define LIST(...) ((const int64_t[]){__VA_ARGS__})

static void expect_failure(fixture *f, ir_id output, uint32_t at, int64_t element, const char *message)
{
    assert_false(run(f, output));
    assert_int_equal(f->failure.site, at);
    assert_int_equal(f->failure.element, element);
    assert_string_equal(f->failure.message, message);
    assert_int_equal(f->failure.component, strstr(message, "in dimension 1 is outside") ? 2 : 0);
}

/* --- operations --- */

static void an_input_is_its_own_result(void **state)
{
    fixture *f = *state;
    expect(f, vector(f, "n", 3, LIST(4, 5, 6)), 1, LIST(3), LIST(4, 5, 6));
    assert_ptr_not_equal(f->out[0].data[0], f->in[0].data[0]);
}

static void generate_calls_its_function_with_every_index(void **state)
{
    fixture *f = *state;
    vector(f, "n", 2, LIST(0, 0));
    ir_fn *fn = fn_new(f, 2);
    ir_id r = op2(f, OP_ADD, op2(f, OP_MUL, fn->param[0], num(f, 10)), fn->param[1]);
    ir_fn_close(f->p, fn, 1, &r);
    ir_id g = ir_generate(f->p, 0, 2, (ir_id[]){dim(f, "n"), num(f, 3)}, fn);
    expect(f, g, 2, LIST(2, 3), LIST(0, 1, 2, 10, 11, 12));
}

static void generate_at_rank_0_gives_one_element(void **state)
{
    fixture *f = *state;
    ir_fn *fn = fn_new(f, 0);
    ir_id r = num(f, 42);
    ir_fn_close(f->p, fn, 1, &r);
    expect(f, ir_generate(f->p, 0, 0, NULL, fn), 0, NULL, LIST(42));
}

static void map_takes_several_inputs(void **state)
{
    fixture *f = *state;
    ir_id in[2] = {vector(f, "n", 3, LIST(1, 2, 3)), vector(f, "n", 3, LIST(10, 20, 30))};
    expect(f, ir_map(f->p, 0, 2, in, fn_op(f, OP_SUB, 0), 0), 1, LIST(3), LIST(-9, -18, -27));
}

static void an_indexed_map_sees_its_index(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 2, 2, LIST(5, 6, 7, 8));
    ir_fn *fn = fn_new(f, 3);
    ir_id r = op2(f, OP_ADD, fn->param[2], op2(f, OP_ADD, op2(f, OP_MUL, fn->param[0], num(f, 100)), fn->param[1]));
    ir_fn_close(f->p, fn, 1, &r);
    expect(f, ir_map(f->p, 0, 1, &in, fn, IR_INDEXED), 2, LIST(2, 2), LIST(5, 7, 107, 109));
}

static void a_map_may_have_several_components(void **state)
{
    fixture *f = *state;
    ir_id in = vector(f, "n", 2, LIST(-3, 4));
    ir_fn *fn = fn_new(f, 1);
    ir_id r[2] = {op2(f, OP_LT, fn->param[0], num(f, 0)), ir_convert(f->p, 0, OP_CONVERT, T_F32, fn->param[0])};
    ir_fn_close(f->p, fn, 2, r);
    assert_true(run(f, ir_map(f->p, 0, 1, &in, fn, 0)));
    assert_int_equal(f->out[0].components, 2);
    assert_int_equal(((uint8_t *)f->out[0].data[0])[0], 1);
    assert_int_equal(((uint8_t *)f->out[0].data[0])[1], 0);
    assert_true(((float *)f->out[0].data[1])[0] == -3.0f);
    assert_true(((float *)f->out[0].data[1])[1] == 4.0f);
}

static void backpermute_transposes(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 2, 3, LIST(1, 2, 3, 4, 5, 6));
    ir_fn *fn = fn_new(f, 2);
    ir_fn_close(f->p, fn, 2, (ir_id[]){fn->param[1], fn->param[0]});
    ir_id t = ir_backpermute(f->p, 0, 2, (ir_id[]){dim(f, "m"), dim(f, "n")}, fn, in, IR_SAFE);
    expect(f, t, 2, LIST(3, 2), LIST(1, 4, 2, 5, 3, 6));
}

static void reshape_keeps_the_order(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 2, 3, LIST(1, 2, 3, 4, 5, 6));
    ir_id size = ir_extent_mul(f->p, dim(f, "n"), dim(f, "m"));
    expect(f, ir_reshape(f->p, 0, 1, &size, in), 1, LIST(6), LIST(1, 2, 3, 4, 5, 6));
}

static void a_short_fold_goes_from_left_to_right(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 2, 3, LIST(1, 2, 3, 4, 5, 6)), seed = num(f, 100);
    expect(f, ir_fold(f->p, 0, fn_op(f, OP_SUB, 0), &seed, in, 0), 1, LIST(2),
           LIST(104, 107)); /* the seed comes last */
    expect(f, ir_fold(f->p, 0, fn_op(f, OP_SUB, 0), NULL, in, 0), 1, LIST(2), LIST(-4, -7));
}

static void an_empty_fold_gives_its_seed(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 2, 0, NULL), seed = op2(f, OP_ADD, dim(f, "n"), num(f, 5));
    expect(f, ir_fold(f->p, 0, fn_op(f, OP_ADD, 0), &seed, in, 0), 1, LIST(2), LIST(7, 7));
}

static void a_fold_of_no_rows_needs_no_elements(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 0, 0, NULL);
    expect(f, ir_fold(f->p, 0, fn_op(f, OP_ADD, 0), NULL, in, 0), 1, LIST(0), NULL);
}

static void force_changes_nothing(void **state)
{
    fixture *f = *state;
    expect(f, ir_force(f->p, 0, vector(f, "n", 2, LIST(8, 9))), 1, LIST(2), LIST(8, 9));
}

/* (left * 10000 + centre * 100 + right) of a 5-wide pattern's outermost and middle positions */
static ir_fn *fn_ends(fixture *f, uint32_t width)
{
    ir_fn *fn = fn_new(f, width);
    ir_id high = op2(f, OP_MUL, fn->param[0], num(f, 10000)), mid = op2(f, OP_MUL, fn->param[width / 2], num(f, 100));
    ir_id r = op2(f, OP_ADD, op2(f, OP_ADD, high, mid), fn->param[width - 1]);
    return ir_fn_close(f->p, fn, 1, &r);
}

static void check_boundary(void **state, ir_boundary boundary, int64_t n, const int64_t *expected)
{
    fixture *f = *state;
    ir_id in = vector(f, "n", n, LIST(1, 2, 3, 4)), constant = num(f, 77);
    ir_fn *function = fn_new(f, 1);
    ir_id r = op2(f, OP_ADD, function->param[0], num(f, 50));
    ir_fn_close(f->p, function, 1, &r);
    ir_stencil s = {.extent = {5}, .boundary = boundary, .constant = &constant, .function = function};
    expect(f, ir_stencil_new(f->p, 0, fn_ends(f, 5), 1, &in, &s), 1, &n, expected);
}

static void a_clamped_stencil_repeats_the_edge(void **state)
{
    check_boundary(state, IR_CLAMP, 4, LIST(10103, 10204, 10304, 20404));
}

static void a_mirrored_stencil_reflects_about_the_edge(void **state)
{
    check_boundary(state, IR_MIRROR, 4, LIST(30103, 20204, 10303, 20402));
}

static void a_mirror_smaller_than_the_pattern_reflects_on(void **state)
{
    check_boundary(state, IR_MIRROR, 2, LIST(10101, 20202));
}

static void a_mirror_of_one_element_is_that_element(void **state)
{
    check_boundary(state, IR_MIRROR, 1, LIST(10101));
}

static void a_wrapped_stencil_goes_round(void **state)
{
    check_boundary(state, IR_WRAP, 4, LIST(30103, 40204, 10301, 20402));
}

static void a_wrap_may_go_round_more_than_once(void **state)
{
    check_boundary(state, IR_WRAP, 1, LIST(10101));
}

static void a_constant_lies_outside(void **state)
{
    check_boundary(state, IR_CONSTANT, 4, LIST(770103, 770204, 10377, 20477));
}

static void a_function_of_the_index_lies_outside(void **state)
{
    check_boundary(state, IR_FUNCTION, 4, LIST(480103, 490204, 10354, 20455));
}

static void a_stencil_sees_its_neighbours_in_row_major_order(void **state)
{
    fixture *f = *state;
    ir_id in[2] = {matrix(f, 3, 3, LIST(1, 2, 3, 4, 5, 6, 7, 8, 9)), matrix(f, 3, 3, LIST(0, 0, 0, 0, 9, 0, 0, 0, 0))};
    ir_id zero = num(f, 0);
    ir_fn *fn = fn_new(f, 9 + 3); /* above, then the second input's own element */
    ir_id r = op2(f, OP_ADD, op2(f, OP_MUL, fn->param[1], num(f, 10)), fn->param[9 + 1]);
    ir_fn_close(f->p, fn, 1, &r);
    ir_stencil s[2] = {{.extent = {3, 3}, .boundary = IR_CONSTANT, .constant = &zero},
                       {.extent = {1, 3}, .boundary = IR_WRAP}};
    ir_id result = ir_stencil_new(f->p, 0, fn, 2, in, s);
    expect(f, result, 2, LIST(3, 3), LIST(0, 0, 0, 10, 29, 30, 40, 50, 60));
}

static void reads_gather_from_arrays(void **state)
{
    fixture *f = *state;
    ir_id table = matrix(f, 2, 3, LIST(10, 11, 12, 20, 21, 22)), at = vector(f, "k", 3, LIST(0, 2, 1));
    ir_fn *fn = fn_new(f, 1);
    ir_id second[2] = {num(f, 1), fn->param[0]};
    ir_id r =
        op2(f, OP_SUB, ir_read(f->p, 0, table, 0, 0, 2, second), ir_read(f->p, 0, table, 0, IR_LINEAR, 1, fn->param));
    ir_fn_close(f->p, fn, 1, &r);
    expect(f, ir_map(f->p, 0, 1, &at, fn, 0), 1, LIST(3), LIST(10, 10, 10));
}

/* --- scalar code --- */

/* Calls make(f, x) for a function of one parameter, maps it over the numbers. */
static ir_id map_with(fixture *f, ir_id (*make)(fixture *, ir_id), int64_t n, const int64_t *number)
{
    ir_id in = vector(f, "n", n, number);
    ir_fn *fn = fn_new(f, 1);
    ir_id r = make(f, fn->param[0]);
    ir_fn_close(f->p, fn, 1, &r);
    return ir_map(f->p, site(f, 3, "map"), 1, &in, fn, 0);
}

static ir_id guarded_quotient(fixture *f, ir_id x)
{
    ir_id q = ir_op2(f->p, 0, OP_QUOT, num(f, 60), x);
    return ir_cond(f->p, 0, op2(f, OP_EQ, x, num(f, 0)), num(f, -1), q);
}

static void only_the_chosen_branch_is_evaluated(void **state)
{
    fixture *f = *state;
    expect(f, map_with(f, guarded_quotient, 4, LIST(1, 0, 7, -30)), 1, LIST(4), LIST(60, -1, 8, -2));
}

/* sum over i < x of sum over j < i of (i * j): loops in loops, the inner one depending on the outer */
static ir_id nested_sum(fixture *f, ir_id x)
{
    ir_program *p = f->p;
    ir_id i = ir_var(p, T_I64), s = ir_var(p, T_I64), j = ir_var(p, T_I64), t = ir_var(p, T_I64), zero = num(f, 0);
    ir_id in_next = op2(f, OP_ADD, t, op2(f, OP_MUL, i, j));
    ir_loop inner = {.states = 1, .init = &s, .var = &t, .next = &in_next, .count = i, .index = j};
    ir_id out_next = ir_proj(p, ir_loop_new(p, 0, &inner), 0);
    ir_loop outer = {.states = 1, .init = &zero, .var = &s, .next = &out_next, .count = x, .index = i};
    return ir_proj(p, ir_loop_new(p, 0, &outer), 0);
}

static void loops_nest(void **state)
{
    fixture *f = *state; /* x = 4: i = 2: 2*1, i = 3: 3*(1 + 2) */
    expect(f, map_with(f, nested_sum, 5, LIST(-1, 0, 1, 3, 4)), 1, LIST(5), LIST(0, 0, 0, 2, 11));
}

/* Euclid: while b != 0: (a, b) = (b, a rem b), from (x, 12) */
static ir_id gcd_with_12(fixture *f, ir_id x)
{
    ir_id var[2] = {ir_var(f->p, T_I64), ir_var(f->p, T_I64)}, init[2] = {x, num(f, 12)};
    ir_id next[2] = {var[1], op2(f, OP_REM, var[0], var[1])};
    ir_loop loop = {.states = 2, .init = init, .var = var, .next = next, .cond = op2(f, OP_NE, var[1], num(f, 0))};
    return ir_proj(f->p, ir_loop_new(f->p, 0, &loop), 0);
}

static void while_loops_change_all_states_at_once(void **state)
{
    fixture *f = *state;
    expect(f, map_with(f, gcd_with_12, 4, LIST(18, 5, 0, 36)), 1, LIST(4), LIST(6, 1, 12, 12));
}

static void closed_terms_are_evaluated(void **state)
{
    fixture *f = *state;
    ir_id n = dim(f, "n"), m = dim(f, "m"), term = op2(f, OP_QUOT, n, m);
    ir_bits out = 0;
    ir_host host = {.dims = (int64_t[]){17, 5}};
    assert_true(ir_evaluate(f->p, &f->a, term, &host, &out));
    assert_int_equal(out, 3);
    host.dims = (int64_t[]){17, 0};
    assert_false(ir_evaluate(f->p, &f->a, term, &host, &out));
}

static bool scalar_value(void *env, ir_id array, uint32_t component, ir_bits *out)
{
    assert_int_equal(component, 0);
    *out = ir_bits_i64(T_I64, 41);
    return array == *(ir_id *)env;
}

static void closed_terms_read_scalars_of_the_host(void **state)
{
    fixture *f = *state;
    ir_type type = T_I64;
    ir_id total = ir_input(f->p, 1, &type, 0, NULL);
    ir_id term = op2(f, OP_ADD, ir_read(f->p, 0, total, 0, 0, 0, NULL), num(f, 1));
    ir_bits out = 0;
    ir_host host = {.scalar = scalar_value, .env = &total};
    assert_true(ir_evaluate(f->p, &f->a, term, &host, &out));
    assert_int_equal(out, 42);
    host.scalar = NULL;
    assert_false(ir_evaluate(f->p, &f->a, term, &host, &out));
}

static void an_extent_may_be_computed(void **state)
{
    fixture *f = *state;
    ir_id in = vector(f, "n", 3, LIST(1, 1, 2)), seed = num(f, 0);
    ir_id sum = ir_fold(f->p, 0, fn_op(f, OP_ADD, 0), &seed, in, 0);
    ir_id extent = ir_read(f->p, 0, sum, 0, 0, 0, NULL);
    ir_fn *fn = fn_new(f, 1);
    ir_fn_close(f->p, fn, 1, fn->param);
    expect(f, ir_generate(f->p, 0, 1, &extent, fn), 1, LIST(4), LIST(0, 1, 2, 3));
}

/* --- errors --- */

static ir_id unguarded_quotient(fixture *f, ir_id x)
{
    return ir_op2(f->p, site(f, DIVIDED_AT, "map"), OP_QUOT, num(f, 60), x);
}

static void division_by_zero_names_the_first_element(void **state)
{
    fixture *f = *state;
    ir_id m = map_with(f, unguarded_quotient, 4, LIST(1, 2, 0, 0));
    expect_failure(f, m, site(f, DIVIDED_AT, "map"), 2, "quot: division by zero; sn_if leaves it out");
}

static ir_id least_by(fixture *f, ir_id x)
{
    return ir_op2(f->p, site(f, 5, "map"), OP_QUOT, num(f, INT64_MIN), x);
}

static void an_overflowing_quotient_is_an_error(void **state)
{
    fixture *f = *state;
    expect_failure(f, map_with(f, least_by, 2, LIST(1, -1)), site(f, 5, "map"), 1,
                   "quot: the quotient of the smallest number by -1 is not representable; a wider type has it");
}

/* Two operations that fail: at the smaller site for a later element. */
static ir_id two_failures(fixture *f, ir_id x)
{
    uint32_t first = site(f, 1, "first"), second = site(f, 2, "second");
    ir_id a = ir_op2(f->p, first, OP_REM, num(f, 60), op2(f, OP_SUB, x, num(f, 9)));
    ir_id b = ir_op2(f->p, second, OP_QUOT, num(f, 60), x);
    return op2(f, OP_ADD, b, a);
}

static void the_smallest_site_is_reported(void **state)
{
    fixture *f = *state;
    ir_id m = map_with(f, two_failures, 4, LIST(1, 0, 9, 0));
    expect_failure(f, m, site(f, 1, "first"), 2, "rem: division by zero; sn_if leaves it out");
}

static void a_read_outside_names_index_and_extent(void **state)
{
    fixture *f = *state;
    ir_id table = vector(f, "k", 3, LIST(10, 11, 12)), at = vector(f, "n", 3, LIST(0, -1, 3));
    ir_fn *fn = fn_new(f, 1);
    ir_id r = ir_read(f->p, site(f, 9, "gather"), table, 0, 0, 1, fn->param);
    ir_fn_close(f->p, fn, 1, &r);
    expect_failure(f, ir_map(f->p, 0, 1, &at, fn, 0), site(f, 9, "gather"), 1,
                   "gather: index -1 is outside the extent 3");
    assert_int_equal(f->failure.value, -1);
    assert_int_equal(f->failure.bound, 3);
}

static void a_backpermute_outside_is_an_error(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 2, 2, LIST(1, 2, 3, 4));
    ir_fn *fn = fn_new(f, 1);
    ir_fn_close(f->p, fn, 2, (ir_id[]){num(f, 1), fn->param[0]});
    ir_id size = num(f, 3), at = site(f, 4, "backpermute");
    expect_failure(f, ir_backpermute(f->p, at, 1, &size, fn, in, 0), at, 2,
                   "backpermute: index 2 in dimension 1 is outside the extent 2");
}

static void an_empty_fold1_is_an_error(void **state)
{
    fixture *f = *state;
    ir_id in = matrix(f, 2, 0, NULL);
    uint32_t at = site(f, 6, "fold1");
    expect_failure(f, ir_fold(f->p, at, fn_op(f, OP_ADD, 0), NULL, in, 0), at, 0,
                   "fold1: no element to begin with: the innermost extent is 0; sn_fold takes an initial value");
}

static void one_name_is_one_extent(void **state)
{
    fixture *f = *state;
    ir_id in[2] = {vector(f, "n", 2, LIST(1, 2)), vector(f, "n", 3, LIST(1, 2, 3))};
    expect_failure(f, ir_map(f->p, 0, 2, in, fn_op(f, OP_ADD, 0), 0), 0, 0,
                   "extent n is 2 in input 0, but 3 in dimension 0 of input 1");
}

static void a_constant_extent_must_be_met(void **state)
{
    fixture *f = *state;
    ir_id four = num(f, 4);
    int64_t three = 3;
    expect_failure(f, input_shape(f, 1, &four, &three, LIST(1, 2, 3)), 0, 0,
                   "dimension 0 of input 0 has the extent 3, not 4");
}

static void inputs_are_what_the_program_says(void **state)
{
    fixture *f = *state;
    ir_output(f->p, matrix(f, 2, 2, LIST(1, 2, 3, 4)));
    const ir_value good = f->in[0];
    ir_value flat = good, paired = good, other = good, negative = good, large = good, empty = good;
    flat.rank = 1;
    paired.components = 2;
    other.type[0] = T_U64;
    negative.extent[1] = -1;
    large.extent[0] = large.extent[1] = (int64_t)1 << 40;
    empty.extent[0] = 0;
    const struct {
        ir_value in;
        const char *message; /* NULL: it is right */
    } cases[] = {
        {good, NULL},
        {empty, NULL},
        {flat, "input 0 has rank 1, not 2"},
        {paired, "the components of input 0 are not of the program's types"},
        {other, "the components of input 0 are not of the program's types"},
        {negative, "dimension 1 of input 0 has the extent -1"},
        {large, "input 0 has too many elements"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        f->in[0] = cases[i].in;
        bool right = ir_interpret(f->p, &f->a, f->in, f->out, &f->failure);
        assert_int_equal(right, !cases[i].message);
        if (right)
            continue;
        assert_int_equal(f->failure.mistake, IR_WRONG_EXTENT);
        assert_string_equal(f->failure.message, cases[i].message);
    }
}

static void a_named_number_is_an_extent(void **state)
{
    fixture *f = *state;
    ir_id five = ir_named_number(f->p, 5), in = vector(f, "n", 2, LIST(7, 8));
    ir_fn *fn = fn_new(f, 1);
    ir_id r = op2(f, OP_MUL, fn->param[0], five);
    ir_id made = ir_generate(f->p, 0, 1, &five, ir_fn_close(f->p, fn, 1, &r));
    expect(f, made, 1, LIST(5), LIST(0, 5, 10, 15, 20));
    expect(f, in, 1, LIST(2), LIST(7, 8));
}

static void shapes_are_checked_at_run_time(void **state)
{
    fixture *f = *state;
    ir_id in[2] = {vector(f, "n", 2, LIST(1, 2)), vector(f, "m", 3, LIST(1, 2, 3))};
    uint32_t at = site(f, 8, "zip_with");
    ir_id zipped = ir_map(f->p, at, 2, in, fn_op(f, OP_ADD, 0), 0);
    assert_false(run(f, zipped));
    assert_int_equal(f->failure.site, at);
    assert_int_equal(f->failure.value, 2);
    assert_int_equal(f->failure.bound, 3);
    assert_int_equal(f->failure.component, 0); /* it is no index */
    assert_non_null(strstr(f->failure.message, "2 and 3"));
}

static void a_reshape_must_keep_the_size(void **state)
{
    fixture *f = *state;
    ir_id in = vector(f, "n", 3, LIST(1, 2, 3)), m = dim(f, "m");
    vector(f, "m", 2, LIST(1, 2));
    uint32_t at = site(f, 2, "reshape");
    assert_false(run(f, ir_reshape(f->p, at, 1, &m, in)));
    assert_int_equal(f->failure.site, at);
    assert_int_equal(f->failure.component, 0);
}

static void an_extent_no_input_determines_is_an_error(void **state)
{
    fixture *f = *state;
    ir_id k = dim(f, "k");
    ir_fn *fn = fn_new(f, 1);
    ir_fn_close(f->p, fn, 1, fn->param);
    assert_false(run(f, ir_generate(f->p, 0, 1, &k, fn)));
    assert_string_equal(f->failure.message, "no input determines the extent k; one needs it as an extent of its own");
}

static void a_negative_extent_is_an_error(void **state)
{
    fixture *f = *state;
    vector(f, "n", 2, LIST(1, 2));
    ir_id extent = ir_extent_add(f->p, dim(f, "n"), num(f, -3));
    ir_fn *fn = fn_new(f, 1);
    ir_fn_close(f->p, fn, 1, fn->param);
    uint32_t at = site(f, 2, "generate");
    expect_failure(f, ir_generate(f->p, at, 1, &extent, fn), at, 0,
                   "generate: dimension 0 has the extent -1; an extent is 0 or more");
}

static void an_input_of_the_wrong_type_is_an_error(void **state)
{
    fixture *f = *state;
    ir_id in = vector(f, "n", 2, LIST(1, 2));
    f->in[0].type[0] = T_F64;
    expect_failure(f, in, 0, 0, "the components of input 0 are not of the program's types");
}

static void only_what_is_needed_is_computed(void **state)
{
    fixture *f = *state;
    map_with(f, unguarded_quotient, 1, LIST(0)); /* would fail */
    expect(f, ir_map(f->p, 0, 1, &f->p->input.at[0], fn_affine(f, 3), 0), 1, LIST(1), LIST(3));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_input_is_its_own_result),
        TEST(generate_calls_its_function_with_every_index),
        TEST(generate_at_rank_0_gives_one_element),
        TEST(map_takes_several_inputs),
        TEST(an_indexed_map_sees_its_index),
        TEST(a_map_may_have_several_components),
        TEST(backpermute_transposes),
        TEST(reshape_keeps_the_order),
        TEST(a_short_fold_goes_from_left_to_right),
        TEST(an_empty_fold_gives_its_seed),
        TEST(a_fold_of_no_rows_needs_no_elements),
        TEST(force_changes_nothing),
        TEST(a_clamped_stencil_repeats_the_edge),
        TEST(a_mirrored_stencil_reflects_about_the_edge),
        TEST(a_mirror_smaller_than_the_pattern_reflects_on),
        TEST(a_mirror_of_one_element_is_that_element),
        TEST(a_wrapped_stencil_goes_round),
        TEST(a_wrap_may_go_round_more_than_once),
        TEST(a_constant_lies_outside),
        TEST(a_function_of_the_index_lies_outside),
        TEST(a_stencil_sees_its_neighbours_in_row_major_order),
        TEST(reads_gather_from_arrays),
        TEST(only_the_chosen_branch_is_evaluated),
        TEST(loops_nest),
        TEST(while_loops_change_all_states_at_once),
        TEST(closed_terms_are_evaluated),
        TEST(closed_terms_read_scalars_of_the_host),
        TEST(an_extent_may_be_computed),
        TEST(division_by_zero_names_the_first_element),
        TEST(an_overflowing_quotient_is_an_error),
        TEST(the_smallest_site_is_reported),
        TEST(a_read_outside_names_index_and_extent),
        TEST(a_backpermute_outside_is_an_error),
        TEST(an_empty_fold1_is_an_error),
        TEST(one_name_is_one_extent),
        TEST(a_constant_extent_must_be_met),
        TEST(inputs_are_what_the_program_says),
        TEST(a_named_number_is_an_extent),
        TEST(shapes_are_checked_at_run_time),
        TEST(a_reshape_must_keep_the_size),
        TEST(an_extent_no_input_determines_is_an_error),
        TEST(a_negative_extent_is_an_error),
        TEST(an_input_of_the_wrong_type_is_an_error),
        TEST(only_what_is_needed_is_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
