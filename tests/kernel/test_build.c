/* The builder: what folds, what does not, and where statements end up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/kernel.h"

typedef struct {
    arena a;
    kernel *k;
    k_builder b;
} fixture;

static int setup(void **state)
{
    static fixture f;
    arena_init(&f.a, NULL);
    f.k = k_new(&f.a, "test", 8);
    k_begin(&f.b, f.k);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    arena_free(&f->a);
    return 0;
}

static k_val f32(k_builder *b, float v)
{
    return k_literal(b, T_F32, ir_bits_f32(v));
}

static void literals_exist_once(void **state)
{
    fixture *f = *state;
    assert_int_equal(k_i64(&f->b, 7), k_i64(&f->b, 7));
    assert_int_not_equal(k_i64(&f->b, 7), k_literal(&f->b, T_I32, 7));
    assert_int_equal(k_piece(&f->b), k_piece(&f->b));
    assert_int_not_equal(f32(&f->b, 0.0f), f32(&f->b, -0.0f));
}

static void constants_fold(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    assert_int_equal(k_let(b, OP_ADD, k_i64(b, 2), k_i64(b, 3), 0), k_i64(b, 5));
    assert_int_equal(k_let(b, OP_FMA, f32(b, 2), f32(b, 3), f32(b, 1)), f32(b, 7));
    assert_int_equal(k_let(b, OP_LT, k_i64(b, 2), k_i64(b, 3), 0), k_literal(b, T_BOOL, 1));
    assert_int_equal(k_convert(b, OP_CONVERT, T_I32, f32(b, -2.5f)), k_literal(b, T_I32, ir_bits_i64(T_I32, -2)));
    assert_int_equal(f->k->stmt.n, 1);
}

static void failing_operators_do_not_fold(void **state)
{
    fixture *f = *state;
    k_val v = k_let(&f->b, OP_DIV, k_i64(&f->b, 1), k_i64(&f->b, 0), 0);
    assert_int_equal(f->k->value.at[v].kind, KV_RESULT);
}

static void integer_identities_fold(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_val n = k_arg(b, T_I64, "n"), zero = k_i64(b, 0), one = k_i64(b, 1);
    assert_int_equal(k_let(b, OP_ADD, n, zero, 0), n);
    assert_int_equal(k_let(b, OP_ADD, zero, n, 0), n);
    assert_int_equal(k_let(b, OP_SUB, n, zero, 0), n);
    assert_int_equal(k_let(b, OP_MUL, one, n, 0), n);
    assert_int_equal(k_let(b, OP_MUL, n, zero, 0), zero);
    assert_int_equal(k_let(b, OP_DIV, n, one, 0), n);
    assert_int_equal(k_let(b, OP_BIT_AND, zero, n, 0), zero);
    assert_int_equal(k_convert(b, OP_CONVERT, T_I64, n), n);
    assert_int_equal(f->k->stmt.n, 1);
    k_let(b, OP_SUB, zero, n, 0);
    assert_int_equal(f->k->stmt.n, 2);
}

static void float_identities_stay(void **state)
{
    fixture *f = *state;
    k_val x = k_arg(&f->b, T_F32, "x");
    k_val sum = k_let(&f->b, OP_ADD, x, f32(&f->b, 0.0f), 0); /* -0 + 0 is not -0 */
    assert_int_not_equal(sum, x);
}

static void logic_folds(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_val c = k_arg(b, T_BOOL, "c"), yes = k_literal(b, T_BOOL, 1), no = k_literal(b, T_BOOL, 0);
    assert_int_equal(k_let(b, OP_AND, c, yes, 0), c);
    assert_int_equal(k_let(b, OP_AND, no, c, 0), no);
    assert_int_equal(k_let(b, OP_OR, c, yes, 0), yes);
    assert_int_equal(k_let(b, OP_OR, no, c, 0), c);
    k_val x = k_arg(b, T_F32, "x"), y = k_arg(b, T_F32, "y");
    assert_int_equal(k_select(b, yes, x, y), x);
    assert_int_equal(k_select(b, no, x, y), y);
    assert_int_equal(k_select(b, c, x, x), x);
    assert_int_equal(f->k->stmt.n, 1);
    k_check(b, 1, yes, k_i64(b, 0), k_i64(b, 0), k_i64(b, 0));
    assert_int_equal(f->k->stmt.n, 1);
}

/* An identity on a variable must not hand out the variable: it may be set before the result is used. */
static void identities_of_variables_copy(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_val v = k_decl(b, k_i64(b, 1), "v");
    k_val copy = k_let(b, OP_ADD, v, k_i64(b, 0), 0);
    assert_int_not_equal(copy, v);
    assert_int_equal(f->k->value.at[copy].kind, KV_RESULT);
    assert_int_not_equal(k_get(b, v), v);
    assert_int_equal(k_get(b, copy), copy);
}

static void lists_nest(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_val n = k_arg(b, T_I64, "n");
    k_val i = k_for_all(b, n);
    k_val c = k_let(b, OP_LT, i, k_i64(b, 3), 0);
    k_if(b, c);
    k_val x = k_let(b, OP_ADD, i, i, 0);
    k_else(b);
    k_val y = k_let(b, OP_MUL, i, i, 0);
    k_end(b);
    k_val z = k_let(b, OP_SUB, n, i, 0);
    k_end(b);
    k_val last = k_let(b, OP_NEG, n, 0, 0);

    const k_stmt *s = f->k->stmt.at;
    const k_value *v = f->k->value.at;
    k_ref all = v[i].def, branch = s[v[c].def].next;
    assert_int_equal(f->k->body, all);
    assert_int_equal(s[all].op, K_FOR_ALL);
    assert_int_equal(s[all].body, v[c].def);
    assert_int_equal(s[branch].op, K_IF);
    assert_int_equal(s[branch].body, v[x].def);
    assert_int_equal(s[branch].orelse, v[y].def);
    assert_int_equal(s[branch].next, v[z].def);
    assert_int_equal(s[all].next, v[last].def);
    const char *why = NULL;
    assert_true(k_verify(f->k, &f->a, &why));
}

/* Lanes may trade their parts of a sum that was made just before; what is anything else is set. */
static void sums_just_made_are_mixed(void **state)
{
    fixture *f = *state;
    k_builder *b = &f->b;
    k_val total = k_decl(b, k_i64(b, 0), "total"), i = k_for_all(b, k_i64(b, 8));
    for (int way = 0; way < 5; way++) {
        k_val now = k_let(b, OP_BITCAST, total, 0, 0), sum = k_let(b, way == 1 ? OP_BIT_XOR : OP_ADD, now, i, 0);
        if (way == 2)
            k_let(b, OP_SUB, i, now, 0);
        k_val value = way == 3 ? i : way == 4 ? k_i64(b, 3) : sum;
        k_mix(b, total, value);
        const k_stmt *last = &f->k->stmt.at[f->k->stmt.n - 1];
        assert_int_equal(last->op, K_SET);
        assert_int_equal(last->sub, way == 0 ? K_MIX : 0);
        assert_int_equal(last->dst, total);
        assert_int_equal(last->in[0], value);
    }
    k_end(b);
}

static void private_memory_counts_threads(void **state)
{
    fixture *f = *state;
    k_for_all(&f->b, k_i64(&f->b, 99));
    k_end(&f->b);
    assert_int_equal(f->k->threads, 0);
    k_private(&f->b, T_F32, 2, "acc");
    k_for_all(&f->b, k_i64(&f->b, 16));
    k_end(&f->b);
    k_for_all(&f->b, k_i64(&f->b, 8));
    k_end(&f->b);
    assert_int_equal(f->k->threads, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(literals_exist_once, setup, teardown),
        cmocka_unit_test_setup_teardown(constants_fold, setup, teardown),
        cmocka_unit_test_setup_teardown(failing_operators_do_not_fold, setup, teardown),
        cmocka_unit_test_setup_teardown(integer_identities_fold, setup, teardown),
        cmocka_unit_test_setup_teardown(float_identities_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(logic_folds, setup, teardown),
        cmocka_unit_test_setup_teardown(identities_of_variables_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_nest, setup, teardown),
        cmocka_unit_test_setup_teardown(sums_just_made_are_mixed, setup, teardown),
        cmocka_unit_test_setup_teardown(private_memory_counts_threads, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
