/* Simplification against ir_op_apply, rule by rule: every operator on every type, with edge values as constants and as
 * the variable; pairs of operators; conversions of conversions. A value keeps its bits (a NaN stays some NaN), what
 * fails still fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "ir/evaluate.h"

static arena memory;
static ir_program *p;

static int open_program(void **state)
{
    (void)state;
    arena_init(&memory, NULL);
    p = ir_program_new(&memory);
    return 0;
}

static int close_program(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

/* --- edge values --- */

enum { EDGES = 13 };

static ir_bits edge(ir_type t, unsigned i)
{
    static const double real[EDGES] = {0.0, -0.0, 1, -1, 0.5, 2, -3.75, INFINITY, -INFINITY, NAN, 1e30, 255, 0x1p-140};
    static const int64_t whole[EDGES] = {0, 1, -1, 2, 7, -5, 31, 64, 100, INT64_MIN, INT64_MAX, 1 << 20, -128};
    if (t == T_F32)
        return ir_bits_f32((float)real[i]);
    if (t == T_F64)
        return ir_bits_f64(real[i]);
    if (t == T_BOOL)
        return i & 1;
    if (ir_type_signed(t) && whole[i] == INT64_MIN)
        return ir_bits_i64(t, INT64_MIN >> (64 - ir_type_bits(t)));
    if (whole[i] == INT64_MAX)
        return ir_bits_i64(t, (int64_t)(UINT64_MAX >> (64 - ir_type_bits(t) + ir_type_signed(t))));
    return ir_bits_i64(t, whole[i]);
}

static bool same_bits(ir_type t, ir_bits a, ir_bits b)
{
    if (t == T_F32 && isnan(ir_f32_bits(a)) && isnan(ir_f32_bits(b)))
        return true;
    if (t == T_F64 && isnan(ir_f64_bits(a)) && isnan(ir_f64_bits(b)))
        return true;
    return a == b;
}

/* --- a term, and what it should be --- */

typedef struct expected {
    bool good;
    ir_bits bits;
} expected;

static expected apply(ir_op op, ir_type from, ir_type to, expected a, expected b)
{
    ir_bits in[2] = {a.bits, b.bits};
    expected out = {.good = a.good && b.good};
    out.good = out.good && ir_op_apply(op, from, to, in, &out.bits);
    return out;
}

static bool no_dim(void *env, uint32_t number, int64_t *out)
{
    (void)env, (void)number, (void)out;
    return false;
}

static bool no_read(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *f)
{
    (void)env, (void)read, (void)index, (void)out, (void)f;
    return false;
}

/* The term for x at every edge value. */
typedef expected (*meaning)(const void *env, expected x);

static void check_term(ir_id term, ir_id x, meaning wanted, const void *env, const char *what)
{
    static const scalar_world world = {.dim = no_dim, .read = no_read};
    ir_type t = (ir_type)ir_at(p, x)->type, to = (ir_type)ir_at(p, term)->type;
    evaluator *e = evaluator_new(p, &memory, 1, &term);
    for (unsigned i = 0; i < EDGES; i++) {
        expected in = {true, edge(t, i)}, out = wanted(env, in);
        scalar_failure failure = {0};
        ir_bits got = 0;
        evaluator_restart(e);
        evaluator_set(e, evaluator_slot(e, x), in.bits);
        bool good = evaluator_run(e, &world, &got, &failure);
        if (good != out.good || (good && !same_bits(to, got, out.bits))) {
            text written;
            text_init(&written, &memory);
            ir_print_scalar(p, term, &written);
            fail_msg("%s on %s, x = %llx: %s is %s%llx, should be %s%llx", what, ir_type_name(t),
                     (unsigned long long)in.bits, written.at, good ? "" : "failure ", (unsigned long long)got,
                     out.good ? "" : "failure ", (unsigned long long)out.bits);
        }
    }
}

/* --- one operator --- */

typedef struct one_op {
    ir_op op;
    ir_type type, to;
    unsigned place; /* of x: 0, 1, or both (2) */
    ir_bits constant;
} one_op;

static expected means_one(const void *env, expected x)
{
    const one_op *o = env;
    expected c = {true, o->constant};
    return apply(o->op, o->type, o->to, o->place == 1 ? c : x, o->place == 0 ? c : x);
}

static ir_id build(ir_op op, ir_id a, ir_id b)
{
    return ir_ops[op].arity == 1 ? ir_op1(p, 0, op, a) : ir_op2(p, 0, op, a, b);
}

static ir_id build_one(const one_op *o, ir_id x)
{
    ir_id c = ir_const(p, o->type, o->constant);
    return build(o->op, o->place == 1 ? c : x, o->place == 0 ? c : x);
}

static bool takes(ir_op op, ir_type t, unsigned arity)
{
    const ir_op_row *row = &ir_ops[op];
    return row->arity == arity && row->signature != SIGNATURE_CONVERT && ir_op_result(op, t, T_NONE) != T_NONE;
}

static void one_operator_and_a_constant(void **state)
{
    (void)state;
    for (unsigned t = T_NONE + 1; t < T_COUNT; t++)
        for (unsigned op = OP_NONE + 1; op < OP_COUNT; op++) {
            one_op o = {.op = (ir_op)op, .type = (ir_type)t};
            if (!takes(o.op, o.type, 1) && !takes(o.op, o.type, 2))
                continue;
            o.to = ir_op_result(o.op, o.type, T_NONE);
            ir_id x = ir_var(p, o.type);
            for (o.place = 0; o.place < 3; o.place++)
                for (unsigned c = 0; c < EDGES; c++) {
                    o.constant = edge(o.type, c);
                    check_term(build_one(&o, x), x, means_one, &o, ir_ops[op].name);
                }
        }
}

/* Constants alone: the folder. */
static void operators_of_constants(void **state)
{
    (void)state;
    for (unsigned t = T_NONE + 1; t < T_COUNT; t++)
        for (unsigned op = OP_NONE + 1; op < OP_COUNT; op++)
            for (unsigned i = 0; i < EDGES * EDGES; i++) {
                if (!takes((ir_op)op, (ir_type)t, 1) && !takes((ir_op)op, (ir_type)t, 2))
                    continue;
                ir_type to = ir_op_result((ir_op)op, (ir_type)t, T_NONE);
                expected a = {true, edge((ir_type)t, i / EDGES)}, b = {true, edge((ir_type)t, i % EDGES)};
                expected wanted = apply((ir_op)op, (ir_type)t, to, a, b);
                const ir_node *n =
                    ir_at(p, build((ir_op)op, ir_const(p, (ir_type)t, a.bits), ir_const(p, (ir_type)t, b.bits)));
                bool folds = wanted.good && op != OP_TRACE; /* nothing would be seen of it */
                assert_int_equal(n->kind == IR_CONST, folds);
                assert_true(!folds || (n->type == to && same_bits(to, n->u.literal, wanted.bits)));
            }
}

/* --- two operators --- */

typedef struct two_ops {
    one_op inner, outer;
} two_ops;

static expected means_two(const void *env, expected x)
{
    const two_ops *o = env;
    return means_one(&o->outer, means_one(&o->inner, x));
}

/* Constants that meet, operators that undo or repeat each other. Elementary functions have no rules. */
static void an_operator_of_an_operator(void **state)
{
    (void)state;
    static const unsigned constant[] = {0, 1, 2, 5, 9, 10};
    for (unsigned t = T_NONE + 1; t < T_COUNT; t++)
        for (unsigned first = OP_NONE + 1; first < OP_COUNT; first++)
            for (unsigned second = OP_NONE + 1; second < OP_COUNT; second++) {
                two_ops o = {.inner = {.op = (ir_op)first, .type = (ir_type)t}, .outer = {.op = (ir_op)second}};
                bool math = (ir_ops[first].flags | ir_ops[second].flags) & OP_MATH;
                if (math || (!takes(o.inner.op, o.inner.type, 1) && !takes(o.inner.op, o.inner.type, 2)))
                    continue;
                o.inner.to = o.outer.type = ir_op_result(o.inner.op, o.inner.type, T_NONE);
                if (!takes(o.outer.op, o.outer.type, 1) && !takes(o.outer.op, o.outer.type, 2))
                    continue;
                o.outer.to = ir_op_result(o.outer.op, o.outer.type, T_NONE);
                ir_id x = ir_var(p, o.inner.type);
                for (unsigned k = 0; k < ARRAY_LENGTH(constant); k++) {
                    o.inner.place = k % 3 == 2;
                    o.outer.place = ir_ops[second].arity == 2 && k % 2;
                    o.inner.constant = edge(o.inner.type, constant[k]);
                    o.outer.constant = edge(o.outer.type, constant[(k * 5 + 1) % ARRAY_LENGTH(constant)]);
                    check_term(build_one(&o.outer, build_one(&o.inner, x)), x, means_two, &o, ir_ops[second].name);
                }
            }
}

/* --- second operands that change nothing --- */

static void neutral_operands(void **state)
{
    static const struct {
        ir_op op;
        ir_type type;
        int64_t neutral;
    } cases[] = {{OP_ADD, T_I32, 0},  {OP_SUB, T_I32, 0},     {OP_MUL, T_I32, 1},     {OP_BIT_OR, T_I32, 0},
                 {OP_SHL, T_I32, 0},  {OP_BIT_XOR, T_I32, 0}, {OP_BIT_AND, T_U8, -1}, {OP_BIT_AND, T_I64, -1},
                 {OP_SHR, T_U64, 0},  {OP_ROTL, T_U16, 0},    {OP_ROTR, T_U16, 0},    {OP_OR, T_BOOL, 0},
                 {OP_AND, T_BOOL, 1}, {OP_NE, T_BOOL, 0},     {OP_EQ, T_BOOL, 1}};
    (void)state;
    for (unsigned i = 0; i < ARRAY_LENGTH(cases); i++) {
        ir_id x = ir_var(p, cases[i].type);
        ir_id same =
            ir_op2(p, 0, cases[i].op, x, ir_const(p, cases[i].type, ir_bits_i64(cases[i].type, cases[i].neutral)));
        if (same != x)
            fail_msg("%s with %d is not the other operand", ir_ops[cases[i].op].name, (int)cases[i].neutral);
    }
}

/* --- numbers win over NaNs --- */

/* x < y || (one of the two is a NaN && the other is not), bit by bit of `form`: x > y, in f64, which one it is, and the
 * order of operands. */
static ir_id contest(unsigned form, ir_id x, ir_id y)
{
    ir_id nan = form & 4 ? x : y, number = form & 4 ? y : x, better = ir_op2(p, 0, form & 1 ? OP_GT : OP_LT, x, y);
    ir_id is_nan = ir_op2(p, 0, OP_NE, nan, nan), is_number = ir_op2(p, 0, OP_EQ, number, number);
    ir_id rescue = form & 8 ? ir_op2(p, 0, OP_AND, is_number, is_nan) : ir_op2(p, 0, OP_AND, is_nan, is_number);
    return form & 8 ? ir_op2(p, 0, OP_OR, rescue, better) : ir_op2(p, 0, OP_OR, better, rescue);
}

static bool contest_of(unsigned form, double x, double y)
{
    double nan = form & 4 ? x : y, number = form & 4 ? y : x;
    return (form & 1 ? x > y : x < y) || (isnan(nan) && !isnan(number));
}

static unsigned operations(ir_id id, ir_op op)
{
    const ir_node *n = ir_at(p, id);
    unsigned count = n->kind == IR_OP && n->op == op;
    for (uint32_t k = 0; n->kind == IR_OP && k < n->n; k++)
        count += operations(ir_args(p, id)[k], op);
    return count;
}

/* Two comparisons in place of three. */
static void numbers_win_over_nans(void **state)
{
    static const scalar_world world = {.dim = no_dim, .read = no_read};
    (void)state;
    for (unsigned form = 0; form < 16; form++) {
        ir_type t = form & 2 ? T_F64 : T_F32;
        ir_id x = ir_var(p, t), y = ir_var(p, t), term = contest(form, x, y);
        assert_int_equal(operations(term, OP_OR), 0);
        assert_int_equal(operations(term, OP_NE), 0);
        evaluator *e = evaluator_new(p, &memory, 1, &term);
        for (unsigned i = 0; i < EDGES * EDGES; i++) {
            ir_bits in[2] = {edge(t, i % EDGES), edge(t, i / EDGES)}, got = 0;
            double of[2];
            for (unsigned k = 0; k < 2; k++)
                of[k] = t == T_F32 ? (double)ir_f32_bits(in[k]) : ir_f64_bits(in[k]);
            scalar_failure failure = {0};
            evaluator_restart(e);
            evaluator_set(e, evaluator_slot(e, x), in[0]);
            evaluator_set(e, evaluator_slot(e, y), in[1]);
            assert_true(evaluator_run(e, &world, &got, &failure));
            if ((got & 1) != contest_of(form, of[0], of[1]))
                fail_msg("form %u of %g and %g", form, of[0], of[1]);
        }
    }
}

/* --- conversions --- */

typedef struct path {
    ir_type type[4];
} path;

static expected means_path(const void *env, expected x)
{
    const path *c = env;
    for (unsigned i = 0; i < 3; i++)
        if (c->type[i] != c->type[i + 1])
            x = apply(OP_CONVERT, c->type[i], c->type[i + 1], x, x);
    return x;
}

static void conversions_of_conversions(void **state)
{
    (void)state;
    for (unsigned k = 0; k < T_COUNT * T_COUNT * T_COUNT * T_COUNT; k++) {
        path c = {
            {k % T_COUNT, k / T_COUNT % T_COUNT, k / T_COUNT / T_COUNT % T_COUNT, k / T_COUNT / T_COUNT / T_COUNT}};
        bool all = c.type[0] != T_NONE;
        for (unsigned i = 0; i < 3 && all; i++)
            all = c.type[i + 1] != T_NONE &&
                  (c.type[i] == c.type[i + 1] || ir_op_result(OP_CONVERT, c.type[i], c.type[i + 1]) != T_NONE);
        if (!all)
            continue;
        ir_id x = ir_var(p, c.type[0]), term = x;
        for (unsigned i = 1; i < 4; i++)
            term = ir_convert(p, 0, OP_CONVERT, c.type[i], term);
        check_term(term, x, means_path, &c, "convert");
    }
}

/* One conversion in place of two where the middle keeps every value, and where what it cuts off is cut off anyhow. */
static void conversions_are_passed_over(void **state)
{
    static const struct {
        ir_type from, middle, to;
        bool passed;
    } cases[] = {
        {T_U8, T_I32, T_I64, true},   {T_U8, T_I32, T_F32, true},    {T_I32, T_F64, T_F32, true},
        {T_I8, T_F32, T_I32, true},   {T_I8, T_F32, T_F64, true},    {T_I32, T_I64, T_U8, true},
        {T_U8, T_I16, T_BOOL, true},  {T_F32, T_F64, T_I32, true},   {T_I64, T_U8, T_U8, true},
        {T_I64, T_I32, T_I16, true},  {T_U64, T_I32, T_U8, true},    {T_I16, T_F32, T_BOOL, true},
        {T_BOOL, T_I32, T_F32, true}, {T_I16, T_F32, T_U8, false},   {T_I64, T_F32, T_F64, false},
        {T_I64, T_I32, T_I64, false}, {T_F64, T_F32, T_F64, false},  {T_F32, T_I32, T_F32, false},
        {T_I8, T_U16, T_I32, false},  {T_I64, T_BOOL, T_I64, false}, {T_F64, T_I32, T_I16, false},
        {T_I32, T_F64, T_U8, false},  {T_U16, T_F64, T_U32, true},   {T_U64, T_F64, T_U64, false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        ir_id x = ir_var(p, cases[i].from), once = ir_convert(p, 0, OP_CONVERT, cases[i].to, x);
        ir_id twice = ir_convert(p, 0, OP_CONVERT, cases[i].to, ir_convert(p, 0, OP_CONVERT, cases[i].middle, x));
        if ((once == twice) != cases[i].passed)
            fail_msg("case %zu", i);
    }
}

/* What is whole stays as it is, by whatever it is rounded again. */
static void rounding_twice_is_rounding_once(void **state)
{
    static const ir_op rounding[] = {OP_FLOOR, OP_CEIL, OP_TRUNC, OP_ROUND, OP_RINT};
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(rounding); i++)
        for (size_t k = 0; k < ARRAY_LENGTH(rounding); k++) {
            ir_id whole = ir_op1(p, 0, rounding[i], ir_var(p, i % 2 ? T_F32 : T_F64));
            if (ir_op1(p, 0, rounding[k], whole) != whole)
                fail_msg("%s of %s", ir_ops[rounding[k]].name, ir_ops[rounding[i]].name);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rounding_twice_is_rounding_once, open_program, close_program),
        cmocka_unit_test_setup_teardown(conversions_are_passed_over, open_program, close_program),
        cmocka_unit_test_setup_teardown(neutral_operands, open_program, close_program),
        cmocka_unit_test_setup_teardown(numbers_win_over_nans, open_program, close_program),
        cmocka_unit_test_setup_teardown(one_operator_and_a_constant, open_program, close_program),
        cmocka_unit_test_setup_teardown(operators_of_constants, open_program, close_program),
        cmocka_unit_test_setup_teardown(an_operator_of_an_operator, open_program, close_program),
        cmocka_unit_test_setup_teardown(conversions_of_conversions, open_program, close_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
