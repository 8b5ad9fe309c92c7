/* Which operators visibly do not associate: linear ones by trying f(f(a, b), c) == f(a, f(b, c)) on numbers, one-sided
 * primitives by name, in either order and behind conversions; and that nothing else is called so. */
#include "ir/ops.h"
#include "ir/term_fixture.h"

typedef struct binary {
    fixture *f;
    ir_type type;
    ir_fn *fn;
    ir_id l, r;
} binary;

static binary begin(fixture *f, ir_type t)
{
    const ir_type both[2] = {t, t};
    ir_fn *fn = ir_fn_new(f->p, 2, both);
    return (binary){f, t, fn, fn->param[0], fn->param[1]};
}

static const char *said(binary *b, ir_id result)
{
    uint32_t component = 7;
    const char *why = ir_visibly_not_associative(b->f->p, ir_fn_close(b->f->p, b->fn, 1, &result), &component);
    if (why)
        assert_int_equal(component, 0);
    return why;
}

static void expect(binary *b, ir_id result, const char *why)
{
    const char *is = said(b, result);
    if (!is == !why && (!is || strcmp(is, why) == 0))
        return;
    text t;
    text_init(&t, &b->f->a);
    ir_print_scalar(b->f->p, result, &t);
    fail_msg("%s: %s, not %s", t.at, is ? is : "nothing", why ? why : "nothing");
}

static ir_id constant(binary *b, int64_t x)
{
    return ir_const(b->f->p, b->type,
                    b->type == T_F32   ? ir_bits_f32((float)x)
                    : b->type == T_F64 ? ir_bits_f64((double)x)
                                       : (ir_bits)x);
}

/* --- linear ones --- */

enum { FEW = 3 }; /* numbers from -3 to 3 tell linear functions of small factors apart */

static int64_t value(int64_t x, int64_t y, int64_t z, int64_t a, int64_t b)
{
    return x * a + y * b + z;
}

static bool associates(int64_t x, int64_t y, int64_t z)
{
    for (int64_t a = -FEW; a <= FEW; a++)
        for (int64_t b = -FEW; b <= FEW; b++)
            for (int64_t c = -FEW; c <= FEW; c++)
                if (value(x, y, z, value(x, y, z, a, b), c) != value(x, y, z, a, value(x, y, z, b, c)))
                    return false;
    return true;
}

/* factor * v, written in several ways */
static ir_id times(binary *b, ir_id v, int64_t factor, unsigned how)
{
    fixture *f = b->f;
    bool floats = ir_type_float(b->type);
    if (how == 1)
        return op2(f, OP_MUL, constant(b, factor), v);
    if (how == 2 && factor == -1)
        return op1(f, OP_NEG, v);
    if (how == 2 && factor == 4 && !floats)
        return op2(f, OP_SHL, v, constant(b, 2));
    if (how == 2 && floats) /* v / (1 / factor) */
        return factor
                   ? op2(f, OP_DIV, v,
                         ir_const(f->p, b->type,
                                  b->type == T_F32 ? ir_bits_f32(1 / (float)factor) : ir_bits_f64(1 / (double)factor)))
                   : op2(f, OP_MUL, v, constant(b, 0));
    return op2(f, OP_MUL, v, constant(b, factor));
}

static ir_id linear(binary *b, int64_t x, int64_t y, int64_t z, unsigned how)
{
    fixture *f = b->f;
    ir_id left = times(b, b->l, x, how), right = times(b, b->r, y, how), rest = constant(b, z);
    switch (how) {
    case 0:
        return op2(f, OP_ADD, op2(f, OP_ADD, left, right), rest);
    case 1:
        return op2(f, OP_SUB, op2(f, OP_ADD, rest, right), op1(f, OP_NEG, left));
    case 2:
        return op2(f, OP_SUB, left, op2(f, OP_SUB, constant(b, -z), right));
    default: /* a factor taken apart */
        return op2(f, OP_ADD, rest,
                   op2(f, OP_SUB, op2(f, OP_MUL, op2(f, OP_SUB, left, op1(f, OP_NEG, right)), constant(b, 2)),
                       op2(f, OP_ADD, right, left)));
    }
}

static void check_linear(fixture *f, ir_type t, bool plain)
{
    static const int64_t factors[] = {-2, -1, 0, 1, 4}, rests[] = {0, 7};
    f->p->plain = plain;
    for (size_t i = 0; i < ARRAY_LENGTH(factors); i++)
        for (size_t j = 0; j < ARRAY_LENGTH(factors); j++)
            for (size_t k = 0; k < ARRAY_LENGTH(rests); k++)
                for (unsigned how = 0; how < 4; how++) {
                    int64_t x = factors[i], y = factors[j], z = rests[k];
                    binary b = begin(f, t);
                    expect(&b, linear(&b, x, y, z, how),
                           associates(x, y, z) ? NULL
                           : !x || !y          ? "a function of one parameter"
                           : x == -y           ? "sub"
                                               : "a weighted sum");
                }
    f->p->plain = false;
}

static void linear_functions(void **state)
{
    for (int plain = 0; plain < 2; plain++) {
        check_linear(*state, T_I64, plain);
        check_linear(*state, T_F32, plain);
        check_linear(*state, T_F64, plain);
    }
}

/* With numbers that are not known here, and what is no number at all. */
static void unknown_factors(void **state)
{
    fixture *f = *state;
    ir_id n = ir_dim(f->p, "n");
    binary b = begin(f, T_I64);
    expect(&b, op2(f, OP_ADD, op2(f, OP_MUL, b.l, n), b.r), "a weighted sum");
    expect(&b, op2(f, OP_ADD, op2(f, OP_MUL, n, b.l), b.r), "a weighted sum");
    expect(&b, op2(f, OP_ADD, b.l, n), "a function of one parameter");
    expect(&b, op2(f, OP_ADD, n, b.r), "a function of one parameter");
    expect(&b, op2(f, OP_ADD, op2(f, OP_ADD, b.l, b.r), n), NULL);
    expect(&b, op2(f, OP_MUL, n, n), NULL);
    expect(&b, n, NULL);
    expect(&b, op2(f, OP_MUL, b.l, b.r), NULL); /* no linear function */
    expect(&b, op2(f, OP_ADD, op2(f, OP_MUL, b.l, b.r), num(f, 3)), NULL);
    expect(&b, op2(f, OP_SUB, num(f, 3), op2(f, OP_MUL, b.l, b.r)), NULL);
    expect(&b, op2(f, OP_SHL, num(f, 3), b.r), NULL);
    expect(&b, op2(f, OP_MIN, b.l, b.r), NULL);
    expect(&b, ir_cond(f->p, 0, op2(f, OP_LT, b.l, b.r), op2(f, OP_SUB, b.l, b.r), b.r), NULL);
    binary g = begin(f, T_F32);
    ir_id two = real(f, 2);
    expect(&g, ir_op3(f->p, 0, OP_FMA, g.l, two, g.r), "a weighted sum");
    expect(&g, ir_op3(f->p, 0, OP_FMA, two, g.l, g.r), "a weighted sum");
    expect(&g, ir_op3(f->p, 0, OP_FMA, g.l, real(f, 1), g.r), NULL);
    expect(&g, ir_op3(f->p, 0, OP_FMA, g.l, g.r, two), NULL);
    expect(&g, op2(f, OP_MUL, op2(f, OP_ADD, g.l, g.r), real(f, 0.5f)), "a weighted sum"); /* a mean */
    expect(&g, op2(f, OP_DIV, two, op2(f, OP_ADD, g.l, g.r)), NULL);
}

/* --- primitives --- */

static void one_sided_primitives(void **state)
{
    static const ir_op one_sided[] = {OP_DIV,  OP_MOD, OP_QUOT, OP_REM, OP_SHL, OP_SHR,   OP_ROTL,
                                      OP_ROTR, OP_LT,  OP_LE,   OP_GT,  OP_GE,  OP_ATAN2, OP_POW};
    fixture *f = *state;
    f->p->plain = true;
    for (ir_op op = OP_NONE + 1; op < OP_COUNT; op++) {
        if (ir_ops[op].arity != 2)
            continue;
        bool expected = false;
        for (size_t i = 0; i < ARRAY_LENGTH(one_sided); i++)
            expected |= one_sided[i] == op;
        for (ir_type t = T_NONE + 1; t < T_COUNT; t++) {
            if (!(ir_ops[op].classes & ir_type_class(t)) || op == OP_SUB)
                continue;
            binary b = begin(f, t);
            const char *why = expected ? ir_ops[op].name : NULL;
            expect(&b, op2(f, op, b.l, b.r), why);
            expect(&b, op2(f, op, b.r, b.l), why);
            ir_type result = (ir_type)ir_at(f->p, op2(f, op, b.l, b.r))->type;
            expect(&b, ir_convert(f->p, 0, OP_CONVERT, result == T_I64 ? T_I32 : T_I64, op2(f, op, b.l, b.r)), why);
        }
    }
    binary b = begin(f, T_F32);
    expect(&b, op2(f, OP_DIV, ir_convert(f->p, 0, OP_CONVERT, T_F64, b.l), ir_convert(f->p, 0, OP_CONVERT, T_F64, b.r)),
           "div");
    expect(&b, op2(f, OP_POW, b.l, b.l), NULL); /* not of both */
    expect(&b, op2(f, OP_POW, b.l, real(f, 2)), NULL);
    expect(&b, op2(f, OP_SUB, b.l, b.r), "sub");
    expect(&b, op2(f, OP_SUB, b.r, b.l), "sub");
}

/* The component that does not associate is said; one that depends on another component may be anything. */
static void components(void **state)
{
    fixture *f = *state;
    const ir_type four[4] = {T_I64, T_I64, T_I64, T_I64};
    ir_fn *fn = ir_fn_new(f->p, 4, four);
    const ir_id *v = fn->param; /* of the left: 0 and 1, of the right: 2 and 3 */
    ir_id sum = op2(f, OP_ADD, v[0], v[2]), rest = op2(f, OP_SUB, v[1], v[3]), mixed = op2(f, OP_SUB, v[0], v[3]);
    uint32_t component;
    ir_fn_close(f->p, fn, 2, (const ir_id[]){sum, rest});
    assert_string_equal(ir_visibly_not_associative(f->p, fn, &component), "sub");
    assert_int_equal(component, 1);
    ir_fn_close(f->p, fn, 2, (const ir_id[]){op2(f, OP_SUB, v[2], v[0]), rest});
    assert_string_equal(ir_visibly_not_associative(f->p, fn, &component), "sub");
    assert_int_equal(component, 0);
    ir_fn_close(f->p, fn, 2, (const ir_id[]){sum, mixed});
    assert_null(ir_visibly_not_associative(f->p, fn, &component));
    ir_fn_close(f->p, fn, 1, &rest); /* no operator at all */
    assert_null(ir_visibly_not_associative(f->p, fn, &component));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(linear_functions),
        TEST(unknown_factors),
        TEST(one_sided_primitives),
        TEST(components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
