/* Loops that are cut where index arithmetic changes its form, or that take several elements at a time: random index
 * terms against the reference interpreter, over extents around a gang and a period; and the usual forms become rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernel/walk.h"
#include "run_clusters.h"

enum { PROGRAMS = 60, TERMS = 5 };

static const l_options options = {.fuse = true, .cost_model = true, .rows = true};
static const sk_options devices[] = {
    {.vector_bytes = 32, .workers = 2, .checks = true},
    {.vector_bytes = 16, .workers = 1, .checks = true, .narrow = true},
    {.group = 256, .scratch = 48 << 10, .workers = 2, .checks = true},
};

typedef struct made { /* a program of [n]i64 or [n, m]i64, and y of any extent */
    ir_program *p;
    ir_id x, extent[2];
    unsigned rank;
} made;

static int64_t pick(int64_t n)
{
    return rand() % n;
}

/* A comparison, minimum, remainder ... of what there is already, with small numbers and extents. */
static ir_id random_term(const made *m, const ir_id *term, unsigned n)
{
    static const ir_op ops[] = {OP_ADD, OP_SUB, OP_MIN, OP_MAX, OP_MOD, OP_REM, OP_QUOT, OP_DIV},
                       tests[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE};
    ir_program *p = m->p;
    ir_id a = term[pick(n)], b = pick(2) ? ir_i64(p, pick(400) - 40) : m->extent[pick(m->rank)];
    ir_id about = ir_op2(p, 0, OP_MAX, b, ir_i64(p, 2 + pick(3)));
    if (pick(4) == 0)
        return ir_op2(p, 0, ops[4 + pick(4)], a, ir_i64(p, 2 + pick(7)));
    if (pick(4) == 0) /* both may move, and on either side */
        return ir_op2(p, 0, ops[pick(2)], ir_op2(p, 0, OP_MUL, a, ir_i64(p, pick(4))), term[pick(n)]);
    if (pick(3) == 0)
        return ir_cond(p, 0, ir_op2(p, 0, tests[pick(6)], a, b), ir_op2(p, 0, OP_ADD, a, ir_i64(p, pick(5))),
                       ir_op2(p, 0, OP_SUB, b, a));
    unsigned k = (unsigned)pick(8);
    return pick(5) ? ir_op2(p, 0, ops[k], a, k < 4 ? b : about) : ir_op2(p, 0, OP_SUB, b, a);
}

/* x at the index if that is inside, and what depends on the condition alone. */
static ir_id read_at(const made *m, ir_id at)
{
    ir_program *p = m->p;
    ir_id size = ir_size(p, m->x), zero = ir_i64(p, 0);
    ir_id inside = ir_op2(p, 0, OP_AND, ir_op2(p, 0, OP_GE, at, zero), ir_op2(p, 0, OP_LT, at, size));
    ir_id value = ir_read(p, 0, m->x, 0, IR_LINEAR, 1, &at);
    return ir_cond(p, 0, inside, value, ir_op2(p, 0, OP_MUL, at, ir_i64(p, 3)));
}

static made make(arena *a)
{
    made m = {.p = ir_program_new(a), .rank = 1 + (unsigned)pick(2)};
    ir_program *p = m.p;
    static const ir_type types[] = {T_I64, T_I64};
    m.extent[0] = ir_dim(p, "n");
    m.extent[1] = pick(3) ? ir_dim(p, "m") : ir_i64(p, 2 + pick(6));
    m.x = ir_input(p, 1, types, m.rank, m.extent);
    ir_fn *fn = ir_fn_new(p, m.rank, types);
    ir_id term[TERMS + 2], sum = ir_i64(p, 0);
    unsigned n = 0;
    for (; n < m.rank; n++)
        term[n] = fn->param[n];
    for (unsigned i = 0; i < TERMS; i++, n++)
        term[n] = random_term(&m, term, n);
    for (unsigned i = 0; i < 1 + pick(3); i++)
        sum = ir_op2(p, 0, OP_ADD, sum, read_at(&m, term[n - 1 - i]));
    ir_fn_close(p, fn, 1, &sum);
    ir_output(p, ir_generate(p, 0, m.rank, m.extent, fn));
    return m;
}

static void fill(const made *m, int64_t n, int64_t width, ir_value *v, arena *a)
{
    int64_t constant;
    *v = (ir_value){.rank = (uint8_t)m->rank, .components = 1, .type = {T_I64}, .extent = {n, width}};
    if (m->rank > 1 && ir_extent_constant(m->p, m->extent[1], &constant))
        v->extent[1] = constant;
    int64_t size = n * (m->rank > 1 ? v->extent[1] : 1);
    v->data[0] = arena_alloc(a, (size_t)size * 8 + 8);
    for (int64_t i = 0; i < size; i++)
        ((int64_t *)v->data[0])[i] = i * 1000003 + 17;
}

static void same(const ir_value *x, const ir_value *y, ir_program *p)
{
    int64_t n = 1;
    text t = {.arena = p->arena};
    for (unsigned d = 0; d < x->rank; d++)
        n *= x->extent[d];
    for (int64_t i = 0; i < n; i++)
        if (((int64_t *)x->data[0])[i] != ((int64_t *)y->data[0])[i]) {
            ir_print(p, &t);
            fail_msg("element %ld of %ld is %ld instead of %ld\n%s", (long)i, (long)n, (long)((int64_t *)x->data[0])[i],
                     (long)((int64_t *)y->data[0])[i], text_close(&t));
        }
}

static void random_programs(void **state)
{
    static const int64_t extents[][2] = {{0, 3}, {1, 1}, {5, 40}, {33, 150}, {700, 9}, {3, 1300}, {5000, 2}};
    const char *most = getenv("SINTER_TEST_LONG");
    (void)state;
    srand(11);
    for (unsigned turn = 0; turn < (most ? 20 : 1) * PROGRAMS; turn++) {
        arena a;
        arena_init(&a, NULL);
        made m = make(&a);
        for (size_t e = 0; e < ARRAY_LENGTH(extents); e++) {
            ir_value input, expected;
            ir_failure failure;
            fill(&m, extents[e][0], extents[e][1], &input, &a);
            assert_true(ir_interpret(m.p, &a, &input, &expected, &failure));
            for (size_t d = 0; d < ARRAY_LENGTH(devices); d++) {
                run_result r = run_clusters(m.p, &options, &devices[d], &a, &input);
                if (r.why)
                    fail_msg("%s", r.why);
                assert_int_equal(r.error.site, 0);
                same(&r.output[0], &expected, m.p);
            }
        }
        arena_free(&a);
    }
}

/* --- the usual forms --- */

static kernel *built(const char *source, arena *a, int64_t n, const l_program **program)
{
    const char *why = "";
    ir_program *p = ir_parse(a, source, &why);
    if (!p)
        fail_msg("%s", why);
    l_program *l = l_clusters(p, &options);
    const sk_program *code = sk_prepare(l);
    sk_geometry g;
    sk_plan_launch(&code->cluster[0], &devices[0], (int64_t[]){n, n}, (sk_round){.pass = SK_PASS_LOOP}, 1 << 25, &g);
    sk_reason reason = {0};
    sk_kernel *k = sk_build(&code->cluster[0], g.variant, g.pass, &devices[0], a, &reason);
    if (!k || !k_verify(k->k, a, &why))
        fail_msg("%s", why);
    k_analyse(k->k);
    *program = l;
    return k->k;
}

/* Loads at indices of this shape and step. */
static unsigned loads(const kernel *k, k_shape shape, int64_t step)
{
    unsigned n = 0;
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *s = &k->stmt.at[r];
        const k_value *index = &k->value.at[s->in[0]];
        n += s->op == K_LOAD && index->shape == shape && (shape != K_AFFINE || index->step == step);
    }
    return n;
}

/* Along stretches they are rows; at the ends, or where periods are short, they are not. */
static void become_rows(void **state)
{
    static const char *const sources[] = {
        "extents n\nx = input [n]f32\n"
        "y = backpermute safe [n] x {i: i64 -> if i < n - 3 then i + 3 else i - (n - 3)}\noutput y\n",
        "extents n, k\nx = input [n]f32\nz = input [k]f32\n"
        "y = backpermute safe [k] x {i: i64 -> mod(i, max(n, 1))}\noutput y\n",
        "extents n\nx = input [n]f32\ny = backpermute safe [n] x {i: i64 -> min(i + 1, n - 1)}\noutput y\n",
        "extents n\nx = input [n]f32\n"
        "y = backpermute safe [n] x {i: i64 -> max(i - 2, 0)}\noutput y\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(sources); i++) {
        arena a;
        const l_program *l;
        arena_init(&a, NULL);
        kernel *k = built(sources[i], &a, 100000, &l);
        unsigned rows = loads(k, K_AFFINE, 1) + loads(k, K_STRIDED, 0);
        if (!rows)
            fail_msg("no rows are read:\n%s", sources[i]);
        arena_free(&a);
    }
}

static bool depends(const kernel *k, k_val v, k_val on)
{
    const k_value *x = &k->value.at[v];
    bool found = v == on;
    for (unsigned i = 0; x->kind == KV_RESULT && i < k_operands(&k->stmt.at[x->def]) && !found; i++)
        found = k->stmt.at[x->def].op == K_LET && depends(k, k->stmt.at[x->def].in[i], on);
    return found;
}

/* Periods of two lengths: a loop each, however many terms have them, and the inner one goes along the outer one's turn
 * alone: else there are as many turns as the product of their numbers. */
static void periods_are_nested(void **state)
{
    static const char source[] = "extents n, k, m\nx = input [n]f32\ny = input [k]f32\nz = input [m]f32\n"
                                 "w = backpermute safe [n] x {i: i64 -> quot(i, max(k, 1)) + "
                                 "rem(i, max(k, 1)) + rem(i, max(m, 1))}\noutput w, y, z\n";
    arena a;
    const l_program *l;
    (void)state;
    arena_init(&a, NULL);
    const kernel *k = built(source, &a, 100000, &l);
    k_val outer[4];
    unsigned periods = 0;
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *s = &k->stmt.at[r];
        if (s->op != K_FOR || k->value.at[s->in[0]].kind == KV_LITERAL)
            continue;
        assert_true(periods < ARRAY_LENGTH(outer));
        assert_true(periods == 0 || depends(k, s->in[0], outer[periods - 1]));
        assert_true(periods == 0 || depends(k, s->in[1], outer[periods - 1]));
        outer[periods++] = s->dst;
    }
    assert_int_equal(periods, 2);
    arena_free(&a);
}

/* Each element a few times, and others between them: all are read as rows but at the ends. */
static void several_elements_a_lane(void **state)
{
    static const char *const sources[] = {
        "extents n\nx = input [n]f32\ny = backpermute safe [2 * n] x {i: i64 -> quot(i, 2)}\noutput y\n",
        "extents n\nx = input [n]f32\ny = backpermute safe [3 * n] x {i: i64 -> quot(i, 3)}\noutput y\n",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(sources); i++) {
        arena a;
        const l_program *l;
        arena_init(&a, NULL);
        kernel *k = built(sources[i], &a, 100000, &l);
        assert_int_equal(loads(k, K_AFFINE, 1), 2 + i);
        assert_int_equal(loads(k, K_VARYING, 0), 1);
        arena_free(&a);
    }
}

/* Rows of lengths of their own, read in order: a lane at a time. Where neighbours read together, gangs. */
static void walks(void **state)
{
    static const char sparse[] = "extents n, k\nb = input [n]i64\nx = input [k]f32\n"
                                 "y = generate [n] {i: i64\n"
                                 "  l = for (j < b[i]; s = 0.0f32) { next s + x[b[i] + j] }\n"
                                 "  -> l.0}\noutput y\n";
    static const char prefix[] = "extents n\nx = input [n]f32\n"
                                 "y = generate [n] {i: i64\n"
                                 "  l = for (j < i; s = 0.0f32) { next s + x[j] }\n"
                                 "  -> l.0}\noutput y\n";
    const l_program *l;
    arena a;
    (void)state;
    arena_init(&a, NULL);
    assert_int_equal(built(sparse, &a, 1000, &l)->lanes, 1);
    assert_true(built(prefix, &a, 1000, &l)->lanes > 1);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),         cmocka_unit_test(become_rows), cmocka_unit_test(periods_are_nested),
        cmocka_unit_test(several_elements_a_lane), cmocka_unit_test(walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
