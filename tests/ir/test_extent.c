/* Extents: equal polynomials are one node, different ones are not; overflow is an error; what is too large stays sound;
 * chains of 100,000 take linear time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <time.h>

#include "ir/intern.h"
#include "ir/term.h"

typedef struct fixture {
    arena a;
    ir_program *p;
    ir_id n, m, k;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    arena_init(&f.a, NULL);
    f.p = ir_program_new(&f.a);
    f.n = ir_dim(f.p, "n");
    f.m = ir_dim(f.p, "m");
    f.k = ir_dim(f.p, "k");
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    arena_free(&((fixture *)*state)->a);
    return 0;
}

static ir_id add(fixture *f, ir_id a, ir_id b)
{
    return ir_extent_add(f->p, a, b);
}

static ir_id mul(fixture *f, ir_id a, ir_id b)
{
    return ir_extent_mul(f->p, a, b);
}

static ir_id num(fixture *f, int64_t v)
{
    return ir_i64(f->p, v);
}

static ir_id sub(fixture *f, ir_id a, ir_id b)
{
    return add(f, a, mul(f, b, num(f, -1)));
}

static void identities(void **state)
{
    fixture *f = *state;
    assert_int_equal(add(f, f->n, f->m), add(f, f->m, f->n));
    assert_int_equal(mul(f, f->n, mul(f, f->m, f->k)), mul(f, mul(f, f->k, f->n), f->m));
    assert_int_equal(add(f, f->n, num(f, 0)), f->n);
    assert_int_equal(mul(f, f->n, num(f, 1)), f->n);
    assert_int_equal(mul(f, f->n, num(f, 0)), num(f, 0));
    assert_int_equal(add(f, f->n, f->n), mul(f, num(f, 2), f->n));
    assert_int_equal(sub(f, add(f, f->n, f->m), f->m), f->n);
    assert_int_equal(sub(f, f->n, f->n), num(f, 0));
    assert_int_equal(mul(f, add(f, f->n, f->m), sub(f, f->n, f->m)), sub(f, mul(f, f->n, f->n), mul(f, f->m, f->m)));
    assert_int_equal(add(f, add(f, f->n, num(f, 3)), num(f, -3)), f->n);
    assert_int_not_equal(add(f, f->n, f->m), add(f, f->n, f->k));
    assert_int_not_equal(mul(f, f->n, f->m), mul(f, f->n, f->n));
    assert_int_equal(f->p->error.n, 0);
}

/* Terms written with the scalar builders come to the same normal form when they are used as a shape. */
static void shapes_are_normalised(void **state)
{
    fixture *f = *state;
    ir_type t = T_F32;
    ir_id plain = ir_op2(f->p, 0, OP_MUL, ir_op2(f->p, 0, OP_SUB, f->n, num(f, 1)), num(f, 4));
    ir_id other = ir_op2(f->p, 0, OP_SUB, ir_op2(f->p, 0, OP_SHL, f->n, num(f, 0)), ir_op1(f->p, 0, OP_NEG, num(f, 0)));
    ir_id a = ir_input(f->p, 1, &t, 1, &plain), b = ir_input(f->p, 1, &t, 1, &other);
    assert_int_equal(ir_extent(f->p, a, 0), sub(f, mul(f, num(f, 4), f->n), num(f, 4)));
    assert_int_equal(ir_extent(f->p, b, 0), f->n);
    assert_int_equal(ir_extent(f->p, b, 1), 0);
    ir_id shape[3] = {f->n, f->m, num(f, 3)};
    ir_id c = ir_input(f->p, 1, &t, 3, shape);
    assert_int_equal(ir_size(f->p, c), mul(f, num(f, 3), mul(f, f->m, f->n)));
}

static void negated_terms_are_differences(void **state)
{
    fixture *f = *state;
    ir_id minus = ir_op1(f->p, 0, OP_NEG, f->n), product = ir_op1(f->p, 0, OP_NEG, ir_op2(f->p, 0, OP_MUL, f->n, f->m));
    assert_int_equal(ir_extent_normal(f->p, 0, ir_op2(f->p, 0, OP_SUB, f->m, minus)), add(f, f->m, f->n));
    assert_int_equal(ir_extent_normal(f->p, 0, ir_op2(f->p, 0, OP_ADD, f->m, minus)),
                     ir_extent_normal(f->p, 0, ir_op2(f->p, 0, OP_SUB, f->m, f->n)));
    assert_int_equal(ir_extent_normal(f->p, 0, ir_op2(f->p, 0, OP_ADD, minus, f->n)), num(f, 0));
    assert_int_equal(ir_extent_normal(f->p, 0, ir_op2(f->p, 0, OP_MUL, minus, minus)), mul(f, f->n, f->n));
    assert_int_equal(ir_extent_normal(f->p, 0, ir_op2(f->p, 0, OP_SUB, f->k, product)),
                     add(f, f->k, mul(f, f->n, f->m)));
}

static void constants(void **state)
{
    fixture *f = *state;
    int64_t v;
    assert_true(ir_extent_constant(f->p, mul(f, num(f, 6), num(f, 7)), &v));
    assert_int_equal(v, 42);
    assert_false(ir_extent_constant(f->p, f->n, &v));
    assert_int_equal(mul(f, num(f, INT64_MAX), num(f, 2)), 0);
    assert_int_equal(add(f, num(f, INT64_MAX), num(f, 1)), 0);
    assert_int_equal(f->p->error.n, 2);
    assert_string_equal(f->p->error.at[0].message, "shape: an extent exceeds 64 bits; make it smaller");
    assert_int_equal(add(f, 0, f->n), 0); /* silent: reported already */
    assert_int_equal(f->p->error.n, 2);
}

static void not_extents(void **state)
{
    fixture *f = *state;
    ir_id real = ir_const(f->p, T_F32, 0), var = ir_var(f->p, T_I64);
    assert_int_equal(add(f, f->n, real), 0);
    assert_int_equal(add(f, f->n, var), 0);
    assert_string_equal(f->p->error.at[0].message, "shape: an extent is of type f32, not i64");
    assert_string_equal(
        f->p->error.at[1].message,
        "shape: an extent depends on a variable of a scalar function; it may depend on extents and arrays");
}

static void checks_are_recorded_once(void **state)
{
    fixture *f = *state;
    ir_check_equal(f->p, 0, f->n, f->n, "same");
    ir_check_equal(f->p, 0, f->n, f->m, "zip: differ");
    ir_check_equal(f->p, 0, f->m, f->n, "zip: differ");
    ir_check_equal(f->p, 0, num(f, 3), num(f, 3), "same");
    assert_int_equal(f->p->check.n, 1);
    assert_int_equal(f->p->error.n, 0);
    ir_check_equal(f->p, 0, num(f, 3), num(f, 4), "zip: differ");
    assert_string_equal(f->p->error.at[0].message, "zip: differ: 3 and 4; they have to be equal");
}

/* --- random polynomials: two ways of writing one meet in one node, and values agree --- */

static uint64_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

typedef struct pair {
    ir_id term;
    int64_t value; /* at n = 7, m = 11, k = 13 */
} pair;

static pair random_atom(fixture *f, uint64_t *s)
{
    switch (next_random(s) % 5) {
    case 0:
        return (pair){f->n, 7};
    case 1:
        return (pair){f->m, 11};
    case 2:
        return (pair){f->k, 13};
    default: {
        int64_t v = (int64_t)(next_random(s) % 7) - 3;
        return (pair){num(f, v), v};
    }
    }
}

static int64_t evaluate(const ir_program *p, ir_id id)
{
    static const int64_t dims[] = {7, 11, 13};
    const ir_node *n = ir_at(p, id);
    if (n->kind == IR_CONST)
        return (int64_t)n->u.literal;
    if (n->kind == IR_DIM)
        return dims[n->u.literal];
    int64_t a = evaluate(p, ir_args(p, id)[0]), b = evaluate(p, ir_args(p, id)[1]);
    return n->op == OP_ADD ? a + b : a * b;
}

static void random_polynomials(void **state)
{
    fixture *f = *state;
    uint64_t s = 1;
    for (int round = 0; round < 3000; round++) {
        pair x = random_atom(f, &s);
        for (uint64_t steps = next_random(&s) % 4; steps; steps--) { /* 20 monomials at most */
            pair y = random_atom(f, &s), z = random_atom(f, &s);
            /* x * (y + z) + y, once distributed, once not */
            ir_id left = add(f, mul(f, x.term, add(f, y.term, z.term)), y.term);
            ir_id right = add(f, y.term, add(f, mul(f, z.term, x.term), mul(f, y.term, x.term)));
            assert_int_equal(left, right);
            x = (pair){left, x.value * (y.value + z.value) + y.value};
            if (x.value > (int64_t)1 << 40 || x.value < -((int64_t)1 << 40))
                break;
        }
        assert_int_equal(evaluate(f->p, x.term), x.value);
    }
    assert_int_equal(f->p->error.n, 0);
}

/* --- size --- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* not of others that use the machine */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static ir_id chain(fixture *f, uint32_t length)
{
    ir_id e = f->n;
    for (uint32_t i = 0; i < length; i++)
        e = ir_op2(f->p, 0, i % 3 == 2 ? OP_SUB : OP_ADD, e, i % 2 ? f->m : f->k);
    return e;
}

static void long_sums_are_linear(void **state)
{
    fixture *f = *state;
    ir_type t = T_F32;
    double start = seconds();
    ir_id e = chain(f, 100000);
    ir_id a = ir_input(f->p, 1, &t, 1, &e);
    assert_true(a && seconds() - start < 10);
    assert_true(ir_extent(f->p, a, 0) != e);
    /* 16667 k, 16666 m ... whatever it is, another way to write it meets it */
    ir_id again = ir_op2(f->p, 0, OP_ADD, ir_op2(f->p, 0, OP_SUB, e, f->n), f->n);
    assert_int_equal(ir_extent(f->p, ir_input(f->p, 1, &t, 1, &again), 0), ir_extent(f->p, a, 0));
}

static void many_terms_stay_sound(void **state)
{
    fixture *f = *state;
    char name[16];
    ir_id sum = num(f, 0), product = num(f, 1);
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "d%u", i);
        ir_id d = ir_dim(f->p, name);
        sum = add(f, sum, d);
        product = mul(f, product, d);
    }
    assert_true(sum && product);
    assert_int_equal(add(f, sum, f->n), add(f, f->n, sum)); /* as an atom */
    assert_int_not_equal(add(f, sum, f->n), add(f, sum, f->m));
    assert_int_equal(mul(f, sum, num(f, 1)), sum);
    assert_int_equal(sub(f, mul(f, product, f->n), mul(f, f->n, product)), num(f, 0));
    assert_int_equal(f->p->error.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(identities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shapes_are_normalised, set_up, tear_down),
        cmocka_unit_test_setup_teardown(negated_terms_are_differences, set_up, tear_down),
        cmocka_unit_test_setup_teardown(constants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_extents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(checks_are_recorded_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_polynomials, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_sums_are_linear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_terms_stay_sound, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
