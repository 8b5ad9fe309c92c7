/* Scalar and array terms: interning, simplification against plain evaluation, loops, functions, substitution, the
 * builders' messages, and time on chains of 100,000. */
#include "ir/term_fixture.h"

#include <math.h>
#include <time.h>

/* --- interning --- */

static void equal_terms_are_one_node(void **state)
{
    fixture *f = *state;
    assert_int_equal(op2(f, OP_SUB, f->x, f->y), op2(f, OP_SUB, f->x, f->y));
    assert_int_not_equal(op2(f, OP_SUB, f->x, f->y), op2(f, OP_SUB, f->y, f->x));
    assert_int_equal(op2(f, OP_ADD, f->x, f->y), op2(f, OP_ADD, f->y, f->x));
    assert_int_equal(real(f, 0), real(f, 0));
    assert_int_not_equal(real(f, 0), real(f, -0.0f));
    assert_int_not_equal(ir_const(f->p, T_I32, 1), ir_const(f->p, T_U32, 1));
    assert_int_equal(ir_dim(f->p, "n"), ir_dim(f->p, "n"));
    assert_int_not_equal(ir_dim(f->p, "n"), ir_dim(f->p, "m"));
    assert_int_not_equal(ir_var(f->p, T_F32), ir_var(f->p, T_F32));
    assert_int_equal(ir_const(f->p, T_I8, 0x1ff), ir_const(f->p, T_I8, 0xff));
}

static void sites_are_interned(void **state)
{
    fixture *f = *state;
    char file[] = "a.c";
    uint32_t s = ir_site_at(f->p, file, 3, "map");
    file[0] = 'b'; /* the program keeps copies */
    assert_int_equal(ir_site_at(f->p, "a.c", 3, "map"), s);
    assert_int_not_equal(ir_site_at(f->p, "a.c", 4, "map"), s);
    assert_int_not_equal(ir_site_at(f->p, "a.c", 3, NULL), s);
    assert_int_equal(ir_site_at(f->p, NULL, 0, NULL), 0);
    assert_string_equal(f->p->site.at[s].file, "a.c");
    ir_id t = ir_op2(f->p, s, OP_SUB, f->x, f->y);
    assert_int_equal(ir_at(f->p, ir_op2(f->p, 0, OP_SUB, f->x, f->y))->site, s); /* of the first use */
    assert_int_equal(t, op2(f, OP_SUB, f->x, f->y));
}

static void scope_and_partial(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id q = op2(f, OP_DIV, f->i, f->j), sum = op2(f, OP_ADD, q, f->i);
    assert_int_equal(ir_at(p, sum)->scope, f->j);
    assert_int_equal(ir_at(p, num(f, 3))->scope, 0);
    assert_true(ir_at(p, sum)->partial);
    assert_false(ir_at(p, op2(f, OP_DIV, f->i, num(f, 7)))->partial);
    assert_true(ir_at(p, op2(f, OP_DIV, f->i, num(f, -1)))->partial);
    assert_true(ir_at(p, op2(f, OP_MOD, f->i, num(f, 0)))->partial);
    assert_false(ir_at(p, op2(f, OP_DIV, f->x, f->y))->partial);
    assert_true(ir_at(p, ir_cond(p, 0, f->b, sum, f->i))->partial);
    ir_id all_ones = ir_const(p, T_U8, 255), u = ir_var(p, T_U8);
    assert_false(ir_at(p, op2(f, OP_QUOT, u, all_ones))->partial);
}

/* --- simplification: chosen cases --- */

static void integer_rules(void **state)
{
    fixture *f = *state;
    ir_id i = f->i, q = op2(f, OP_DIV, f->i, f->j);
    assert_int_equal(op2(f, OP_ADD, i, num(f, 0)), i);
    assert_int_equal(op2(f, OP_ADD, num(f, 0), i), i);
    assert_int_equal(op2(f, OP_ADD, op2(f, OP_ADD, i, num(f, 1)), num(f, 2)), op2(f, OP_ADD, i, num(f, 3)));
    assert_int_equal(op2(f, OP_SUB, op2(f, OP_ADD, i, num(f, 2)), num(f, 2)), i);
    assert_int_equal(op2(f, OP_MUL, i, num(f, 0)), num(f, 0));
    assert_int_not_equal(op2(f, OP_MUL, q, num(f, 0)), num(f, 0)); /* j may be 0 */
    assert_int_not_equal(op2(f, OP_SUB, q, q), num(f, 0));
    assert_int_equal(op2(f, OP_SUB, i, i), num(f, 0));
    assert_int_equal(op2(f, OP_EQ, op2(f, OP_ADD, i, num(f, 5)), num(f, 3)), op2(f, OP_EQ, i, num(f, -2)));
    assert_int_equal(op1(f, OP_NOT, op2(f, OP_LT, i, f->j)), op2(f, OP_GE, i, f->j));
    assert_int_not_equal(op2(f, OP_DIV, num(f, 1), num(f, 0)), 0); /* fails when it runs, not now */
    assert_int_equal(op2(f, OP_MOD, i, num(f, 1)), num(f, 0));
    assert_int_equal(op2(f, OP_BIT_AND, i, num(f, -1)), i);
    assert_int_equal(f->p->error.n, 0);
}

static void float_rules(void **state)
{
    fixture *f = *state;
    ir_id x = f->x;
    assert_int_not_equal(op2(f, OP_ADD, x, real(f, 0)), x); /* -0 + 0 is 0 */
    assert_int_equal(op2(f, OP_ADD, x, real(f, -0.0f)), x);
    assert_int_equal(op2(f, OP_SUB, x, real(f, 0)), x);
    assert_int_not_equal(op2(f, OP_SUB, x, real(f, -0.0f)), x);
    assert_int_equal(op2(f, OP_MUL, x, real(f, 1)), x);
    assert_int_not_equal(op2(f, OP_MUL, x, real(f, 0)), real(f, 0));
    assert_int_not_equal(op2(f, OP_SUB, x, x), real(f, 0));
    assert_int_equal(op1(f, OP_NEG, op1(f, OP_NEG, x)), x);
    assert_int_equal(op2(f, OP_DIV, x, real(f, 4)), op2(f, OP_MUL, x, real(f, 0.25f)));
    assert_int_not_equal(op2(f, OP_DIV, x, real(f, 3)), op2(f, OP_MUL, x, real(f, 1.0f / 3)));
    ir_id less = op2(f, OP_LT, x, f->y);
    assert_int_equal(ir_at(f->p, op1(f, OP_NOT, less))->op, OP_NOT); /* not x >= y */
    assert_int_equal(op1(f, OP_NOT, op2(f, OP_EQ, x, f->y)), op2(f, OP_NE, x, f->y));
    assert_int_not_equal(op2(f, OP_EQ, x, x), ir_bool(f->p, true));
}

static void condition_rules(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id c = f->b, t = ir_bool(p, true), n = ir_bool(p, false);
    ir_id risky = op2(f, OP_EQ, op2(f, OP_DIV, f->i, f->j), num(f, 3));
    assert_int_equal(ir_cond(p, 0, t, f->x, f->y), f->x);
    assert_int_equal(ir_cond(p, 0, n, f->x, f->y), f->y);
    assert_int_equal(ir_cond(p, 0, c, f->x, f->x), f->x);
    assert_int_not_equal(ir_cond(p, 0, risky, f->x, f->x), f->x);
    assert_int_equal(ir_cond(p, 0, c, t, n), c);
    assert_int_equal(ir_cond(p, 0, c, n, t), op1(f, OP_NOT, c));
    assert_int_equal(ir_cond(p, 0, op1(f, OP_NOT, c), f->x, f->y), ir_cond(p, 0, c, f->y, f->x));
    assert_int_equal(ir_cond(p, 0, c, ir_cond(p, 0, c, f->x, f->y), f->y), ir_cond(p, 0, c, f->x, f->y));
}

static void conversion_rules(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id s = ir_var(p, T_I8), u = ir_var(p, T_U8);
    ir_id wide = ir_convert(p, 0, OP_CONVERT, T_I32, s);
    assert_int_equal(ir_convert(p, 0, OP_CONVERT, T_I8, s), s);
    assert_int_equal(ir_convert(p, 0, OP_CONVERT, T_I64, wide), ir_convert(p, 0, OP_CONVERT, T_I64, s));
    assert_int_equal(ir_convert(p, 0, OP_CONVERT, T_I8, wide), s);
    /* i8 -> u8 -> i32 is not i8 -> i32 */
    ir_id crossed = ir_convert(p, 0, OP_CONVERT, T_I32, ir_convert(p, 0, OP_CONVERT, T_U8, s));
    assert_int_not_equal(crossed, wide);
    assert_int_equal(ir_convert(p, 0, OP_CONVERT, T_U8, ir_convert(p, 0, OP_CONVERT, T_F32, u)), u);
    assert_int_equal(ir_convert(p, 0, OP_BITCAST, T_F32, ir_convert(p, 0, OP_BITCAST, T_U32, f->x)), f->x);
}

/* --- simplification: every rule against evaluation of the plain term --- */

typedef struct value {
    bool failed;
    ir_bits bits;
} value;

/* Values of all scalars up to id, by ascending ids; conditions take the chosen branch's failure only. */
static value evaluate(fixture *f, ir_id id, const value *variable)
{
    const ir_program *p = f->p;
    ir_ids reached = {0};
    ir_reach(f->p, 1, &id, 0, &reached);
    value *v = arena_array(&f->a, *v, p->node.n + 1);
    for (uint32_t k = 0; k < reached.n; k++) {
        ir_id at = reached.at[k];
        const ir_node *n = ir_at(p, at);
        const ir_id *arg = ir_args(p, at);
        if (n->kind == IR_CONST) {
            v[at].bits = n->u.literal;
        } else if (n->kind == IR_VAR) {
            v[at] = variable[at];
        } else if (n->kind == IR_COND) {
            v[at] = v[arg[0]].failed ? v[arg[0]] : v[v[arg[0]].bits ? arg[1] : arg[2]];
        } else {
            ir_bits in[3];
            for (uint32_t i = 0; i < n->n; i++) {
                in[i] = v[arg[i]].bits;
                v[at].failed |= v[arg[i]].failed;
            }
            if (!v[at].failed)
                v[at].failed =
                    !ir_op_apply((ir_op)n->op, (ir_type)ir_at(p, arg[0])->type, (ir_type)n->type, in, &v[at].bits);
        }
    }
    return v[id];
}

static uint64_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

static ir_bits interesting(ir_type t, uint64_t *s)
{
    static const double reals[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -4.0, 3.7, 1e-40, 1e30, NAN, INFINITY, -INFINITY};
    static const int64_t whole[] = {0, 1, -1, 2, 3, -2, 7, 8, 31, 64, INT64_MIN, INT64_MAX, -128, 127, 255};
    if (!ir_type_float(t))
        return ir_bits_i64(t, whole[next_random(s) % ARRAY_LENGTH(whole)]);
    double v = reals[next_random(s) % ARRAY_LENGTH(reals)];
    return t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v);
}

static bool same_bits(ir_type t, ir_bits a, ir_bits b)
{
    if (t == T_F32 && isnan(ir_f32_bits(a)))
        return isnan(ir_f32_bits(b));
    if (t == T_F64 && isnan(ir_f64_bits(a)))
        return isnan(ir_f64_bits(b));
    return a == b;
}

enum { POOL = 24, VARIABLES = 2 };

/* The same term twice: as written and simplified. */
typedef struct twin {
    ir_id plain, simple;
} twin;

static const ir_type kinds[] = {T_BOOL, T_I8, T_U8, T_I32, T_I64, T_F32, T_F64};

typedef struct pool {
    twin at[ARRAY_LENGTH(kinds)][POOL];
    uint32_t n[ARRAY_LENGTH(kinds)];
} pool;

static twin pick(const pool *g, unsigned kind, uint64_t *s)
{
    return g->at[kind][next_random(s) % g->n[kind]];
}

static void put(fixture *f, pool *g, twin t)
{
    for (unsigned k = 0; k < ARRAY_LENGTH(kinds); k++)
        if (ir_at(f->p, t.plain)->type == (uint8_t)kinds[k] && g->n[k] < POOL)
            g->at[k][g->n[k]++] = t;
}

static void grow(fixture *f, pool *g, uint64_t *s)
{
    ir_program *p = f->p;
    unsigned kind = (unsigned)(next_random(s) % ARRAY_LENGTH(kinds));
    ir_op op = (ir_op)(1 + next_random(s) % (OP_COUNT - 1));
    twin t[3] = {pick(g, kind, s), pick(g, kind, s), pick(g, kind, s)};
    ir_id plain[3] = {t[0].plain, t[1].plain, t[2].plain};
    if (next_random(s) % 4 == 0) {
        twin c = pick(g, 0, s);
        put(f, g,
            (twin){ir_cond_plain(p, 0, c.plain, plain[0], plain[1]),
                   ir_cond(p, 0, c.simple, t[0].simple, t[1].simple)});
        return;
    }
    bool conversion = ir_ops[op].signature == SIGNATURE_CONVERT;
    ir_type to = conversion ? kinds[next_random(s) % ARRAY_LENGTH(kinds)] : T_NONE;
    if (ir_op_result(op, kinds[kind], to) == T_NONE || (ir_ops[op].flags & OP_MATH))
        return;
    twin made = {.plain = ir_op_plain(p, 0, op, to, ir_ops[op].arity, plain)};
    if (conversion)
        made.simple = ir_convert(p, 0, op, to, t[0].simple);
    else if (ir_ops[op].arity == 1)
        made.simple = ir_op1(p, 0, op, t[0].simple);
    else if (ir_ops[op].arity == 2)
        made.simple = ir_op2(p, 0, op, t[0].simple, t[1].simple);
    else
        made.simple = ir_op3(p, 0, op, t[0].simple, t[1].simple, t[2].simple);
    put(f, g, made);
}

static void start_pool(fixture *f, pool *g, uint64_t *s)
{
    *g = (pool){0};
    for (unsigned k = 0; k < ARRAY_LENGTH(kinds); k++) {
        for (unsigned i = 0; i < VARIABLES; i++) {
            ir_id v = ir_var(f->p, kinds[k]);
            put(f, g, (twin){v, v});
        }
        for (unsigned i = 0; i < 3; i++) {
            ir_id c = ir_const(f->p, kinds[k], interesting(kinds[k], s));
            put(f, g, (twin){c, c});
        }
    }
}

static void compare_pool(fixture *f, const pool *g, uint64_t *s, uint64_t seed)
{
    ir_program *p = f->p;
    for (int trial = 0; trial < 4; trial++) {
        value *variable = arena_array(&f->a, *variable, p->node.n + 1);
        for (ir_id id = 1; id < p->node.n; id++)
            if (ir_at(p, id)->kind == IR_VAR)
                variable[id].bits = interesting((ir_type)ir_at(p, id)->type, s);
        for (unsigned k = 0; k < ARRAY_LENGTH(kinds); k++)
            for (uint32_t i = 0; i < g->n[k]; i++) {
                value want = evaluate(f, g->at[k][i].plain, variable);
                value have = evaluate(f, g->at[k][i].simple, variable);
                bool good = want.failed == have.failed && (want.failed || same_bits(kinds[k], want.bits, have.bits));
                if (good)
                    continue;
                text t;
                text_init(&t, &f->a);
                ir_print_scalar(p, g->at[k][i].plain, &t);
                text_add(&t, "\nbecame\n");
                ir_print_scalar(p, g->at[k][i].simple, &t);
                fail_msg("seed %llu: %s", (unsigned long long)seed, t.at);
            }
    }
}

static void simplified_terms_mean_the_same(void **state)
{
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        uint64_t s = seed;
        pool g;
        arena_free(&f->a);
        arena_init(&f->a, NULL);
        f->p = ir_program_new(&f->a);
        start_pool(f, &g, &s);
        for (int k = 0; k < 300; k++)
            grow(f, &g, &s);
        compare_pool(f, &g, &s, seed);
        assert_int_equal(f->p->error.n, 0);
    }
}

/* --- loops --- */

static void loops_are_interned_up_to_names(void **state)
{
    fixture *f = *state;
    ir_id a = square_loop(f, f->x, f->i, f->y);
    assert_int_equal(square_loop(f, f->x, f->i, f->y), a);
    assert_int_not_equal(square_loop(f, f->y, f->i, f->y), a);
    assert_int_not_equal(square_loop(f, f->x, f->i, f->x), a);
    assert_int_not_equal(square_loop(f, f->x, f->j, f->y), a);
    ir_id n = nested_loop(f, f->x, f->i, f->y);
    assert_int_equal(nested_loop(f, f->x, f->i, f->y), n);
    assert_int_not_equal(nested_loop(f, f->x, f->i, f->x), n);
    assert_int_equal(ir_at(f->p, n)->u.loop->depth, 2);
}

static void a_loop_binds_its_variables(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id zero = real(f, 0), three = num(f, 3);
    assert_int_equal(ir_at(p, square_loop(f, zero, three, zero))->scope, 0);
    assert_int_equal(ir_at(p, square_loop(f, f->x, three, zero))->scope, f->x);
    assert_int_equal(ir_at(p, square_loop(f, f->x, three, f->y))->scope, f->y); /* from inside */
    assert_int_equal(ir_at(p, square_loop(f, f->x, f->i, f->y))->scope, f->i);
    assert_int_equal(ir_at(p, nested_loop(f, zero, three, f->y))->scope, f->y); /* from the inner loop's inside */
    assert_false(ir_at(p, square_loop(f, f->x, f->i, f->y))->partial);
    ir_id risky = op2(f, OP_DIV, f->i, f->j);
    assert_true(ir_at(p, square_loop(f, f->x, risky, f->y))->partial);
}

static void loops_that_do_nothing(void **state)
{
    fixture *f = *state;
    assert_int_equal(ir_proj(f->p, square_loop(f, f->x, num(f, 0), f->y), 0), f->x);
    ir_id z = ir_var(f->p, T_F32), k = ir_var(f->p, T_I64);
    ir_loop l = {.states = 1, .init = &f->x, .var = &z, .next = &z, .count = f->i, .index = k};
    assert_int_equal(ir_proj(f->p, ir_loop_new(f->p, 0, &l), 0), f->x);
}

static void bad_loops_are_reported(void **state)
{
    fixture *f = *state;
    ir_id z = ir_var(f->p, T_F32), k = ir_var(f->p, T_I64), one = num(f, 1), r = real(f, 0);
    ir_loop l = {.states = 1, .init = &one, .var = &z, .next = &z, .count = f->i, .index = k};
    assert_int_equal(ir_loop_new(f->p, 0, &l), 0);
    assert_string_equal(last_error(f), "iterate: state 0 is of type f32, but its initial value of type i64");
    l.init = &r;
    l.count = 0;
    l.cond = f->x;
    assert_int_equal(ir_loop_new(f->p, 0, &l), 0);
    assert_string_equal(last_error(f), "while: the condition is of type f32, not bool");
    assert_int_equal(ir_proj(f->p, f->x, 0), 0);
    ir_id good = square_loop(f, f->x, f->i, f->y);
    assert_int_equal(ir_proj(f->p, good, 1), 0);
    assert_string_equal(last_error(f), "there is no state 1; the loop has 1, from 0 on");
}

static void nesting_is_bounded(void **state)
{
    fixture *f = *state;
    ir_id var[100], next = 0, from = real(f, 1);
    for (int d = 0; d < 100; d++)
        var[d] = ir_var(f->p, T_F32);
    next = op2(f, OP_ADD, var[99], var[0]);
    for (int d = 99; d >= 0 && next; d--) {
        ir_id init = d ? var[d - 1] : from, k = ir_var(f->p, T_I64);
        ir_loop l = {.states = 1, .init = &init, .var = &var[d], .next = &next, .count = f->i, .index = k};
        ir_id loop = ir_loop_new(f->p, 0, &l);
        next = ir_proj(f->p, loop, 0);
    }
    assert_int_equal(next, 0);
    assert_string_equal(
        last_error(f),
        "loop: loops nested more than 64 deep; compute the outer ones as arrays, by sn_map or sn_generate");
}

/* --- functions --- */

static void instantiation(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_type types[3] = {T_F32, T_F32, T_I64};
    ir_fn *fn = ir_fn_new(p, 3, types);
    ir_id shared = op2(f, OP_MUL, fn->param[0], fn->param[0]);
    ir_id loop = ir_proj(p, nested_loop(f, shared, fn->param[2], fn->param[1]), 0);
    ir_id result[3] = {op2(f, OP_ADD, shared, loop), fn->param[1], real(f, 2)};
    fn = ir_fn_close(p, fn, 3, result);
    ir_id out[3], again[3], args[3] = {f->x, f->y, f->i};
    ir_instantiate(p, fn, args, out);
    ir_instantiate(p, fn, args, again);
    assert_memory_equal(out, again, sizeof out); /* loops included */
    ir_id square = op2(f, OP_MUL, f->x, f->x);
    assert_int_equal(out[0], op2(f, OP_ADD, square, ir_proj(p, nested_loop(f, square, f->i, f->y), 0)));
    assert_int_equal(out[1], f->y);
    assert_int_equal(out[2], real(f, 2));
    ir_instantiate(p, fn, fn->param, out);
    assert_memory_equal(out, fn->result, sizeof out);
    /* with constants everything folds: f(2, _, 0) = 4 + 4 */
    ir_id constants[3] = {real(f, 2), f->y, num(f, 0)};
    ir_instantiate(p, fn, constants, out);
    assert_int_equal(out[0], real(f, 8));
}

static void substitution(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id kept = ir_proj(p, square_loop(f, f->y, f->i, f->y), 0);
    ir_id changed = ir_proj(p, square_loop(f, f->x, f->i, f->y), 0);
    ir_id term[2] = {op2(f, OP_ADD, kept, changed), kept}, by = real(f, 3);
    uint32_t before = p->node.n;
    ir_substitute(p, 1, &f->x, &by, 2, term);
    assert_int_equal(term[1], kept);
    assert_int_equal(term[0], op2(f, OP_ADD, kept, ir_proj(p, square_loop(f, by, f->i, f->y), 0)));
    assert_true(p->node.n - before < 30);
    /* simultaneous: x and y change places */
    ir_id swap = op2(f, OP_SUB, f->x, f->y), from[2] = {f->x, f->y}, to[2] = {f->y, f->x};
    ir_substitute(p, 2, from, to, 1, &swap);
    assert_int_equal(swap, op2(f, OP_SUB, f->y, f->x));
    /* a term that is no variable may be replaced too */
    ir_id product = op2(f, OP_MUL, f->x, f->y), whole = op2(f, OP_SUB, product, f->x);
    ir_substitute(p, 1, &product, &f->y, 1, &whole);
    assert_int_equal(whole, op2(f, OP_SUB, f->y, f->x));
}

/* fn(a, b) of one result each, made by `combine`. */
static ir_fn *combiner(fixture *f, ir_op op)
{
    ir_type types[2] = {T_F32, T_F32};
    ir_fn *fn = ir_fn_new(f->p, 2, types);
    ir_id r = ir_op2(f->p, 0, op, fn->param[0], fn->param[1]);
    return ir_fn_close(f->p, fn, 1, &r);
}

static void commutativity(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    assert_true(ir_commutes(p, combiner(f, OP_ADD)));
    assert_true(ir_commutes(p, combiner(f, OP_MAX)));
    assert_false(ir_commutes(p, combiner(f, OP_SUB)));
    ir_type types[4] = {T_F32, T_I64, T_F32, T_I64};
    ir_fn *fn = ir_fn_new(p, 4, types); /* argmax with ties to the left: not its swap */
    ir_id left = op2(f, OP_GE, fn->param[0], fn->param[2]);
    ir_id r[2] = {ir_cond(p, 0, left, fn->param[0], fn->param[2]), ir_cond(p, 0, left, fn->param[1], fn->param[3])};
    assert_false(ir_commutes(p, ir_fn_close(p, fn, 2, r)));
    fn = ir_fn_new(p, 4, types);
    ir_id s[2] = {op2(f, OP_ADD, fn->param[0], fn->param[2]), op2(f, OP_MAX, fn->param[1], fn->param[3])};
    assert_true(ir_commutes(p, ir_fn_close(p, fn, 2, s)));
}

/* f(a, b) = -a + -b, which simplifies to -a - b. */
static bool negated_sum_commutes(fixture *f)
{
    ir_type types[2] = {T_I32, T_I32};
    ir_fn *fn = ir_fn_new(f->p, 2, types);
    ir_id minus[2] = {ir_op1(f->p, 0, OP_NEG, fn->param[0]), ir_op1(f->p, 0, OP_NEG, fn->param[1])};
    ir_id sum = op2(f, OP_ADD, minus[0], minus[1]);
    return ir_commutes(f->p, ir_fn_close(f->p, fn, 1, &sum));
}

/* Terms as they are written commute if they do when simplified, and only then. */
static void commutativity_of_plain_terms(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_type types[2] = {T_I32, T_I32};
    p->plain = true;
    ir_fn *fn = ir_fn_new(p, 2, types);
    ir_id sum = op2(f, OP_ADD, fn->param[0], fn->param[1]), always = op2(f, OP_LT, num(f, 1), num(f, 2));
    ir_id guarded = ir_cond(p, 0, always, sum, fn->param[0]);
    assert_int_not_equal(guarded, sum);
    assert_true(ir_commutes(p, ir_fn_close(p, fn, 1, &guarded)));
    assert_true(p->plain);
    bool as_written = negated_sum_commutes(f);
    p->plain = false;
    assert_int_equal(as_written, negated_sum_commutes(f));
}

/* --- arrays and their messages --- */

static void array_messages(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id a = vector(f, T_F32, num(f, 3)), b = vector(f, T_F32, num(f, 4)), c = vector(f, T_I32, num(f, 3));
    ir_id n = vector(f, T_F32, ir_dim(p, "n"));
    uint32_t zip = ir_site_at(p, "a.c", 1, "zip_with");
    ir_id ab[2] = {a, b}, ac[2] = {a, c}, an[2] = {a, n}, a0[2] = {a, 0}, ax[2] = {a, f->x};
    ir_fn *add = combiner(f, OP_ADD);
    assert_int_equal(ir_map(p, zip, 2, ab, add, 0), 0);
    assert_string_equal(last_error(f),
                        "zip_with: the operands' extents differ in dimension 0: 3 and 4; they have to be equal");
    assert_int_equal(p->error.at[0].site, zip);
    assert_int_equal(ir_map(p, zip, 2, ac, add, 0), 0);
    assert_string_equal(last_error(f), "zip_with: the function takes f32, f32, but is given f32, i32");
    assert_int_equal(ir_map(p, zip, 2, ax, add, 0), 0);
    assert_string_equal(last_error(f), "zip_with: expected an array, found a scalar");
    uint32_t errors = p->error.n;
    assert_int_equal(ir_map(p, zip, 2, a0, add, 0), 0);
    assert_int_equal(p->error.n, errors); /* silent */
    assert_int_not_equal(ir_map(p, zip, 2, an, add, 0), 0);
    assert_int_equal(p->check.n, 1);
    assert_string_equal(p->check.at[0].what, "zip_with: the operands' extents differ in dimension 0");
    ir_id shape[2] = {num(f, 2), num(f, 2)};
    assert_int_equal(ir_reshape(p, 0, 2, shape, a), 0);
    assert_string_equal(last_error(f),
                        "reshape: the numbers of elements before and after differ: 3 and 4; they have to be equal");
    assert_int_equal(ir_reshape(p, 0, 9, shape, a), 0);
    assert_string_equal(last_error(f), "reshape: rank 9 is above the largest possible, 8; merge some dimensions");
    ir_id bad[1] = {num(f, -1)};
    assert_int_equal(ir_reshape(p, 0, 1, bad, a), 0);
    assert_string_equal(last_error(f), "reshape: the extent of dimension 0 is negative: -1; an extent is 0 or more");
    ir_id huge[2] = {num(f, (int64_t)1 << 40), num(f, (int64_t)1 << 40)};
    ir_type t = T_F32;
    assert_int_equal(ir_input(p, 1, &t, 2, huge), 0);
    assert_string_equal(last_error(f), "input: the number of elements exceeds 64 bits; make its extents smaller");
    ir_id index = f->i;
    assert_int_equal(ir_read(p, 0, a, 1, 0, 1, &index), 0);
    assert_int_equal(ir_read(p, 0, a, 0, 0, 1, &f->x), 0);
    assert_string_equal(last_error(f), "index: an index is of type f32, not i64");
}

static void fold_messages(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id a = vector(f, T_F32, num(f, 3)), empty = vector(f, T_F32, num(f, 0)), zero = real(f, 0), one = num(f, 1);
    ir_fn *add = combiner(f, OP_ADD);
    ir_id sum = ir_fold(p, 0, add, &zero, a, 0);
    assert_int_equal(ir_info(p, sum)->rank, 0);
    assert_true(ir_at(p, sum)->flags & IR_COMMUTES);
    assert_false(ir_at(p, ir_fold(p, 0, combiner(f, OP_SUB), &zero, a, 0))->flags & IR_COMMUTES);
    assert_int_equal(ir_fold(p, 0, add, &zero, sum, 0), 0);
    assert_string_equal(last_error(f),
                        "fold: an array of rank 0 has no dimension to fold; it is a single value already");
    assert_int_equal(ir_fold(p, 0, add, &one, a, 0), 0);
    assert_string_equal(last_error(f), "fold: the initial value is of type i64, but the elements of type f32");
    assert_int_equal(ir_fold(p, 0, add, NULL, empty, 0), 0);
    assert_string_equal(last_error(f),
                        "fold: the array has no elements and the fold no initial value; sn_fold takes one");
    assert_int_equal(ir_fold(p, 0, combiner(f, OP_LT), &zero, a, 0), 0);
    assert_string_equal(last_error(f), "fold: the function must give what it combines, f32, but gives bool");
    assert_int_equal(ir_fold(p, 0, add, &f->x, a, 0), 0);
    assert_string_equal(
        last_error(f),
        "fold: the initial value depends on a variable of a scalar function; it may depend on extents and arrays");
}

static void a_function_must_be_closed(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id a = vector(f, T_F32, num(f, 3));
    ir_type t = T_F32;
    ir_fn *fn = ir_fn_new(p, 1, &t);
    ir_id r = op2(f, OP_ADD, fn->param[0], f->x); /* x belongs to nobody here */
    assert_int_equal(ir_map(p, 0, 1, &a, ir_fn_close(p, fn, 1, &r), 0), 0);
    assert_string_equal(last_error(f), "map: the function uses a variable of another function; array operations cannot "
                                       "stand inside scalar code");
    fn = ir_fn_new(p, 1, &t);
    r = ir_proj(p, nested_loop(f, fn->param[0], num(f, 3), fn->param[0]), 0); /* its loops' variables are its own */
    assert_int_not_equal(ir_map(p, 0, 1, &a, ir_fn_close(p, fn, 1, &r), 0), 0);
    assert_null(ir_fn_close(p, fn, 1, &(ir_id){0}));
    for (int k = 0; k < 4; k++) { /* nor does a loop, or one in another, bind anything but its own */
        fn = ir_fn_new(p, 1, &t);
        ir_id stray = k % 2 ? f->x : f->y;
        r = ir_proj(
            p, k < 2 ? square_loop(f, fn->param[0], num(f, 3), stray) : nested_loop(f, fn->param[0], num(f, 3), stray),
            0);
        assert_int_equal(ir_map(p, 0, 1, &a, ir_fn_close(p, fn, 1, &r), 0), 0);
    }
}

static void stencil_messages(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id a = vector(f, T_F32, num(f, 9)), one = num(f, 1);
    ir_type t[3] = {T_F32, T_F32, T_F32};
    ir_fn *fn = ir_fn_new(p, 3, t);
    ir_id r = op2(f, OP_ADD, fn->param[0], fn->param[2]);
    ir_fn_close(p, fn, 1, &r);
    ir_stencil s = {.extent = {3}, .boundary = IR_CLAMP};
    assert_int_not_equal(ir_stencil_new(p, 0, fn, 1, &a, &s), 0);
    s.extent[0] = 4;
    assert_int_equal(ir_stencil_new(p, 0, fn, 1, &a, &s), 0);
    assert_string_equal(last_error(f),
                        "stencil: the pattern's extent in dimension 0 is 4; odd ones up to 9 are possible");
    s.extent[0] = 5;
    assert_int_equal(ir_stencil_new(p, 0, fn, 1, &a, &s), 0);
    assert_string_equal(last_error(f),
                        "stencil: the function takes f32, f32, f32, but is given f32, f32, f32, f32, f32");
    s = (ir_stencil){.extent = {3}, .boundary = IR_CONSTANT, .constant = &one};
    assert_int_equal(ir_stencil_new(p, 0, fn, 1, &a, &s), 0);
    assert_string_equal(last_error(f), "stencil: the boundary value is of type i64, but the elements of type f32");
}

/* What a caller hands over may be overwritten once the array is made, and what a boundary does not need is forgotten.
 */
static void arrays_keep_copies(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id in[2] = {vector(f, T_F32, num(f, 9)), vector(f, T_I64, num(f, 9))}, zero = real(f, 0), one = num(f, 1);
    ir_type t[4] = {T_F32, T_F32, T_F32, T_I64}, index = T_I64;
    ir_fn *fn = ir_fn_new(p, 4, t), *edge = ir_fn_new(p, 1, &index);
    ir_id r = op2(f, OP_ADD, fn->param[0], fn->param[2]), at = edge->param[0];
    ir_fn_close(p, fn, 1, &r);
    ir_fn_close(p, edge, 1, &at);
    ir_stencil s[2] = {{.extent = {3}, .boundary = IR_CONSTANT, .constant = &zero, .function = edge},
                       {.extent = {1}, .boundary = IR_FUNCTION, .constant = &one, .function = edge}};
    ir_id made = ir_stencil_new(p, 0, fn, 2, in, s);
    assert_int_not_equal(made, 0);
    s[0] = s[1] = (ir_stencil){.extent = {1}, .boundary = IR_CLAMP};
    ir_id kept = zero, first = in[0], second = in[1];
    zero = one = in[0] = in[1] = 0;
    t[0] = t[1] = t[2] = t[3] = T_BOOL;
    const ir_array *info = ir_info(p, made);
    assert_int_equal(info->inputs, 2);
    assert_int_equal(info->input[0], first);
    assert_int_equal(info->input[1], second);
    assert_int_equal(info->stencil[0].extent[0], 3);
    assert_int_equal(info->stencil[0].boundary, IR_CONSTANT);
    assert_int_equal(info->stencil[0].constant[0], kept);
    assert_null(info->stencil[0].function);
    assert_int_equal(info->stencil[1].boundary, IR_FUNCTION);
    assert_null(info->stencil[1].constant);
    assert_ptr_equal(info->stencil[1].function, edge);

    ir_type pair[2] = {T_F32, T_F32};
    ir_fn *sum = ir_fn_new(p, 2, pair);
    ir_id added = op2(f, OP_ADD, sum->param[0], sum->param[1]), seed = kept;
    ir_fn_close(p, sum, 1, &added);
    ir_id fold = ir_fold(p, 0, sum, &seed, first, 0);
    seed = pair[0] = pair[1] = 0;
    assert_int_equal(ir_info(p, fold)->seed[0], kept);
    assert_int_equal(ir_at(p, sum->param[0])->type, T_F32);
}

static void folds_of_many_components(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    static const ir_type type[16] = {T_F32, T_I64, T_U8, T_F64, T_I16, T_U32, T_I8, T_U64,
                                     T_F32, T_I64, T_U8, T_F64, T_I16, T_U32, T_I8, T_U64};
    for (uint32_t n = 1; n <= 8; n++) {
        ir_type twice[16];
        for (uint32_t i = 0; i < 2 * n; i++)
            twice[i] = type[i % n];
        ir_id extent = num(f, 9), result[8], in = ir_input(p, n, type, 1, &extent);
        for (uint32_t wrong = 0; wrong <= 2 * n; wrong++) { /* the last one is right */
            ir_type taken[17];
            memcpy(taken, twice, sizeof twice);
            taken[wrong] = T_BOOL;
            ir_fn *fn = ir_fn_new(p, 2 * n, taken);
            for (uint32_t i = 0; i < n; i++)
                result[i] = fn->param[wrong < n ? n + i : i];
            ir_fn_close(p, fn, n, result);
            ir_id fold = ir_fold(p, 0, fn, NULL, in, 0);
            assert_int_equal(fold != 0, wrong == 2 * n);
            if (fold)
                assert_memory_equal(ir_info(p, fold)->type, type, n * sizeof *type);
        }
    }
}

static void scalar_messages(void **state)
{
    fixture *f = *state;
    ir_id a = vector(f, T_F32, num(f, 3));
    assert_int_equal(op2(f, OP_ADD, f->x, f->i), 0);
    assert_string_equal(last_error(f), "add: the operands have different types: f32 and i64; convert one");
    assert_int_equal(op1(f, OP_SQRT, f->i), 0);
    assert_string_equal(last_error(f), "sqrt: not defined on i64; convert with sn_to_f32 or sn_to_f64");
    assert_int_equal(op2(f, OP_ADD, f->x, a), 0);
    assert_string_equal(last_error(f), "add: expected a scalar, found an array");
    assert_int_equal(ir_convert(f->p, 0, OP_BITCAST, T_I64, f->x), 0);
    assert_string_equal(last_error(f), "bitcast: no i64 can be made from f32; bits go between types of one width");
    assert_int_equal(ir_cond(f->p, 0, f->b, f->x, f->i), 0);
    assert_string_equal(last_error(f), "if: the branches have different types: f32 and i64; convert one");
    assert_int_equal(op2(f, OP_ADD, f->x, 999999), 0);
    assert_string_equal(last_error(f), "add: an operand is no term of this program; terms belong to one program");
    uint32_t errors = f->p->error.n;
    assert_int_equal(op2(f, OP_ADD, f->x, 0), 0);
    assert_int_equal(f->p->error.n, errors);
}

static void reads(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id a = vector(f, T_F32, num(f, 3)), two = num(f, 2), three = num(f, 3);
    assert_true(ir_at(p, ir_read(p, 0, a, 0, 0, 1, &f->i))->partial);
    assert_false(ir_at(p, ir_read(p, 0, a, 0, IR_SAFE, 1, &f->i))->partial);
    assert_false(ir_at(p, ir_read(p, 0, a, 0, 0, 1, &two))->partial); /* provably inside */
    assert_true(ir_at(p, ir_read(p, 0, a, 0, 0, 1, &three))->partial);
    assert_int_equal(ir_at(p, ir_read(p, 0, a, 0, 0, 1, &f->i))->scope, f->i);
}

/* The element of an array that is the same term everywhere is that term, if that loses no failure and no sharing. */
static void reads_of_plain_arrays(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    ir_id four = num(f, 4), two = num(f, 2), n = ir_dim(p, "n"), twice = op2(f, OP_ADD, n, n);
    ir_id element[] = {num(f, 7), n, twice};
    for (unsigned k = 0; k < 3; k++) {
        ir_type index = T_I64;
        ir_fn *none = ir_fn_close(p, ir_fn_new(p, 0, NULL), 1, &element[k]);
        ir_fn *one = ir_fn_close(p, ir_fn_new(p, 1, &index), 1, &element[k]);
        ir_id unit = ir_generate(p, 0, 0, NULL, none), fill = ir_generate(p, 0, 1, &four, one);
        assert_int_equal(ir_read(p, 0, unit, 0, IR_SAFE, 0, NULL), element[k]);
        assert_int_equal(ir_read(p, 0, fill, 0, 0, 1, &two), element[k]);
        assert_int_equal(ir_at(p, ir_read(p, 0, fill, 0, 0, 1, &four))->kind, IR_READ); /* outside */
        assert_int_equal(ir_at(p, ir_read(p, 0, fill, 0, 0, 1, &f->i))->kind, IR_READ); /* perhaps */
        assert_int_equal(ir_read(p, 0, fill, 0, IR_SAFE, 1, &f->i), element[k]);
    }
    ir_type index = T_I64;
    ir_fn *own = ir_fn_new(p, 1, &index);
    own = ir_fn_close(p, own, 1, own->param);
    ir_id iota = ir_generate(p, 0, 1, &four, own);
    assert_int_equal(ir_read(p, 0, iota, 0, IR_SAFE, 1, &f->i), f->i);
    assert_int_equal(ir_read(p, 0, iota, 0, 0, 1, &two), two);
    ir_id fails = op2(f, OP_DIV, num(f, 1), n); /* is evaluated where the array is */
    ir_id unit = ir_generate(p, 0, 0, NULL, ir_fn_close(p, ir_fn_new(p, 0, NULL), 1, &fails));
    assert_int_equal(ir_at(p, ir_read(p, 0, unit, 0, IR_SAFE, 0, NULL))->kind, IR_READ);
    ir_id inside = op2(f, OP_DIV, f->i, n); /* an index that fails is not forgotten */
    ir_fn *one = ir_fn_close(p, ir_fn_new(p, 1, &index), 1, &two);
    ir_id fill = ir_generate(p, 0, 1, &four, one);
    assert_true(ir_at(p, ir_read(p, 0, fill, 0, IR_SAFE, 1, &inside))->partial);
    ir_id x = ir_var(p, T_I64); /* a loop is run once for the array, not for each of its readers */
    ir_loop loop = {.states = 1, .init = &two, .var = &x, .count = n, .index = ir_var(p, T_I64)};
    ir_id next = op2(f, OP_MUL, x, x);
    loop.next = &next;
    ir_id looped = ir_proj(p, ir_loop_new(p, 0, &loop), 0);
    unit = ir_generate(p, 0, 0, NULL, ir_fn_close(p, ir_fn_new(p, 0, NULL), 1, &looped));
    assert_int_equal(ir_at(p, ir_read(p, 0, unit, 0, IR_SAFE, 0, NULL))->kind, IR_READ);
}

/* --- size --- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* not of others that use the machine */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

enum { LENGTH = 100000 };

static void long_chains_are_linear(void **state)
{
    fixture *f = *state;
    ir_program *p = f->p;
    double start = seconds();
    ir_type t = T_F32;
    ir_fn *fn = ir_fn_new(p, 1, &t);
    ir_id v = fn->param[0];
    for (int k = 0; k < LENGTH; k++)
        v = op2(f, k % 2 ? OP_ADD : OP_MUL, v, k % 3 ? fn->param[0] : v); /* v * v: 2^n paths, n nodes */
    ir_fn_close(p, fn, 1, &v);
    ir_id out, in = vector(f, T_F32, ir_dim(p, "n"));
    ir_instantiate(p, fn, &f->x, &out);
    assert_int_equal(ir_at(p, out)->scope, f->x);
    ir_id a = ir_map(p, 0, 1, &in, fn, 0);
    for (int k = 0; k < LENGTH; k++)
        a = ir_force(p, 0, a);
    ir_output(p, a);
    const char *why = NULL;
    assert_true(ir_check_program(p, &f->a, &why));
    assert_true(seconds() - start < 20);
}

static void loop_chains_are_linear(void **state)
{
    fixture *f = *state;
    double start = seconds();
    ir_id v = f->x;
    for (int k = 0; k < LENGTH / 10; k++)
        v = ir_proj(f->p, square_loop(f, v, f->i, f->y), 0);
    ir_id by = real(f, 1);
    ir_substitute(f->p, 1, &f->y, &by, 1, &v);
    assert_int_equal(ir_at(f->p, v)->scope, f->i);
    assert_true(seconds() - start < 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_terms_are_one_node),
        TEST(sites_are_interned),
        TEST(scope_and_partial),
        TEST(integer_rules),
        TEST(float_rules),
        TEST(condition_rules),
        TEST(conversion_rules),
        TEST(simplified_terms_mean_the_same),
        TEST(loops_are_interned_up_to_names),
        TEST(a_loop_binds_its_variables),
        TEST(loops_that_do_nothing),
        TEST(bad_loops_are_reported),
        TEST(nesting_is_bounded),
        TEST(instantiation),
        TEST(substitution),
        TEST(commutativity),
        TEST(commutativity_of_plain_terms),
        TEST(array_messages),
        TEST(fold_messages),
        TEST(a_function_must_be_closed),
        TEST(stencil_messages),
        TEST(arrays_keep_copies),
        TEST(folds_of_many_components),
        TEST(scalar_messages),
        TEST(reads),
        TEST(reads_of_plain_arrays),
        TEST(long_chains_are_linear),
        TEST(loop_chains_are_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
