/* Random programs: they are well-formed, the interpreter gives one result for one program, scheduled code computes what
 * the terms mean and fails when they fail, and shrinking finds small programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "block_runner.h"
#include "support/random_program.h"

/* How many programs: a sample, unless the long tests are asked for. */
static uint64_t seeds(uint64_t sample)
{
    return getenv("SINTER_TEST_LONG") ? 40 * sample : sample;
}

/* Options vary with the seed, so that each kind of program is also made without the others around it. */
static random_options options_for(uint64_t seed)
{
    random_options o = random_everything();
    o.failures = seed % 5 < 2;
    o.math = seed % 5 == 0;
    o.inexact_folds = seed % 2 == 0;
    o.rows = seed % 7 < 3;
    o.terms = 4 + (uint32_t)(seed % 7) * 6;
    o.rank = (unsigned)(seed % 4);
    if (seed % 11 == 0)
        o.types = 1u << T_F32 | 1u << T_I32 | 1u << T_BOOL;
    if (seed % 4 == 1) { /* long scalar code, in which much is shared and guarded */
        o.types = 1u << T_I64 | 1u << T_BOOL;
        o.operations = 2;
        o.terms = 80;
    }
    if (seed % 13 == 0)
        o.kinds &= ~(1u << IR_LOOP | 1u << IR_COND);
    return o;
}

static void explain(const random_case *c, uint64_t seed)
{
    text t;
    text_init(&t, c->choices.arena);
    random_print(c, &t);
    print_message("seed %llu:\n%s\n", (unsigned long long)seed, t.at);
}

static void programs_are_well_formed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(8000); seed++) {
        arena a;
        arena_init(&a, NULL);
        random_options o = options_for(seed);
        random_case c = random_program(&a, &o, seed);
        const char *why = NULL;
        if (c.program->error.n)
            why = c.program->error.at[0].message;
        else
            ir_check_program(c.program, &a, &why);
        if (why) {
            explain(&c, seed);
            fail_msg("%s", why);
        }
        arena_free(&a);
    }
}

/* --- the interpreter --- */

static int64_t size_of(const ir_value *v)
{
    int64_t size = 1;
    for (unsigned d = 0; d < v->rank; d++)
        size *= v->extent[d];
    return size;
}

static bool same_value(const ir_value *x, const ir_value *y)
{
    if (x->rank != y->rank || x->components != y->components || memcmp(x->extent, y->extent, x->rank * sizeof(int64_t)))
        return false;
    for (uint32_t c = 0; c < x->components; c++)
        if (x->type[c] != y->type[c] || memcmp(x->data[c], y->data[c], (size_t)size_of(x) * ir_type_size(x->type[c])))
            return false;
    return true;
}

/* Of two programs, whose sites may be numbered otherwise. Their lines are all different. */
static bool same_place(const ir_program *p, uint32_t x, const ir_program *q, uint32_t y)
{
    return p->site.at[x].line == q->site.at[y].line;
}

static bool same_runs(const random_case *c, const random_case *again, arena *a, bool *good)
{
    ir_value *x = arena_array(a, *x, 4), *y = arena_array(a, *y, 4);
    ir_failure f = {0}, g = {0};
    *good = ir_interpret(c->program, a, c->input, x, &f);
    bool good_again = ir_interpret(again->program, a, again->input, y, &g);
    if (*good != good_again || !same_place(c->program, f.site, again->program, g.site) || f.element != g.element)
        return false;
    for (uint32_t k = 0; *good && k < c->program->output.n; k++)
        if (!same_value(&x[k], &y[k]))
            return false;
    return true;
}

static void programs_mean_one_thing(void **state)
{
    (void)state;
    uint64_t failed = 0, unexpected = 0, n = seeds(5000);
    for (uint64_t seed = 0; seed < n; seed++) {
        arena a;
        arena_init(&a, NULL);
        random_options o = options_for(seed);
        random_case c = random_program(&a, &o, seed);
        random_case again = random_program_again(&a, &o, c.choices.made.n, c.choices.made.at);
        bool good = false, same = same_runs(&c, &again, &a, &good);
        if (!same)
            explain(&c, seed);
        assert_true(same);
        failed += !good;
        unexpected += !good && !o.failures;
        arena_free(&a);
    }
    print_message("%llu of %llu programs fail at run time\n", (unsigned long long)failed, (unsigned long long)n);
    assert_int_equal(unexpected, 0);
    assert_true(failed > n / 50 && failed < n / 3);
}

/* --- text --- */

/* Prints a program and parses it again. Returns what is wrong, NULL if the text and the results are the same. */
static const char *compare_reparsed(arena *a, const random_case *c)
{
    text before, after;
    text_init(&before, a);
    text_init(&after, a);
    ir_print(c->program, &before);
    const char *message = NULL;
    ir_program *parsed = ir_parse(a, before.at, &message);
    if (!parsed)
        return message;
    ir_print(parsed, &after);
    if (strcmp(before.at, after.at) != 0)
        return arena_printf(a, "printed again:\n%s", after.at);
    random_case again = {.program = parsed, .input = c->input};
    bool good = false;
    return same_runs(c, &again, a, &good) ? NULL : "results differ";
}

static bool reparses_wrongly(void *env, arena *a, const random_case *c)
{
    (void)env;
    return compare_reparsed(a, c) != NULL;
}

static void text_means_the_program_it_was_printed_from(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(8000); seed++) {
        arena a;
        arena_init(&a, NULL);
        random_options o = options_for(seed);
        random_case c = random_program(&a, &o, seed);
        if (compare_reparsed(&a, &c)) {
            random_case small = random_shrink(&a, &o, &c, reparses_wrongly, NULL);
            explain(&small, seed);
            fail_msg("%s", compare_reparsed(&a, &small));
        }
        arena_free(&a);
    }
}

/* --- scheduled code against the terms --- */

typedef struct world {
    const ir_program *p;
    int64_t *dim;
    int64_t *extent; /* IR_MAX_RANK per node; those of arrays */
    bool unsafe;     /* a read marked safe was not */
} world;

static bool world_dim(void *env, uint32_t number, int64_t *out)
{
    const world *w = env;
    *out = w->dim[number];
    return true;
}

/* Some value that depends on the index; extents are those of the case. */
static bool world_read(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *f)
{
    world *w = env;
    const ir_array *info = ir_info(w->p, read->array);
    const int64_t *extent = w->extent + (size_t)read->array * IR_MAX_RANK;
    uint64_t hash = hash_mix(read->array, read->u.literal);
    int64_t size = 1;
    bool inside = true, linear = read->flags & IR_LINEAR;
    for (unsigned d = 0; d < info->rank; d++) {
        inside &= linear || (index[d] >= 0 && index[d] < extent[d]);
        hash = linear ? hash : hash_mix(hash, (uint64_t)index[d]);
        size *= extent[d];
    }
    if (linear) {
        inside = index[0] >= 0 && index[0] < size;
        hash = hash_mix(hash, (uint64_t)index[0]);
    }
    *f = (scalar_failure){.mistake = FAILS_INDEX};
    w->unsafe |= !inside && (read->flags & IR_SAFE);
    *out = ir_bits_i64(T_I64, (int64_t)(hash >> 32) % 20 - 10);
    if (ir_type_float((ir_type)read->type))
        ir_op_apply(OP_CONVERT, T_I64, (ir_type)read->type, (ir_bits[]){*out}, out);
    else
        *out = ir_bits_i64((ir_type)read->type, (int64_t)*out);
    return inside;
}

static world make_world(arena *a, const random_case *c)
{
    const ir_program *p = c->program;
    world w = {.p = p};
    w.dim = arena_array(a, int64_t, p->dim.n + 1);
    w.extent = arena_array(a, int64_t, p->node.n * IR_MAX_RANK);
    for (uint32_t i = 0; i < p->input.n; i++)
        for (unsigned d = 0; d < c->input[i].rank; d++)
            w.dim[ir_at(p, ir_info(p, p->input.at[i])->shape[d])->u.literal] = c->input[i].extent[d];
    ir_host host = {.dims = w.dim};
    for (ir_id id = 1; id < p->node.n; id++)
        for (unsigned d = 0; ir_is_array(p, id) && d < ir_info(p, id)->rank; d++) {
            ir_bits bits = 0;
            assert_true(ir_evaluate(p, a, ir_info(p, id)->shape[d], &host, &bits));
            w.extent[(size_t)id * IR_MAX_RANK + d] = ir_i64_bits(T_I64, bits);
        }
    return w;
}

static ir_bits some_bits(ir_type t, uint64_t random)
{
    ir_bits bits = 0, small = ir_bits_i64(T_I64, (int64_t)(random % 11) - 4);
    if (t == T_BOOL)
        return random & 1;
    ir_op_apply(OP_CONVERT, T_I64, t, &small, &bits);
    return bits;
}

/* Runs a function both ways on one choice of arguments. Returns why they differ, NULL if they do not. */
static const char *compare_once(world *w, arena *a, const ir_fn *fn, const ir_block *code, evaluator *e,
                                uint64_t random)
{
    scalar_world sw = {.dim = world_dim, .read = world_read, .env = w};
    ir_bits *expected = arena_array(a, *expected, fn->results + 1);
    ir_bits *found = arena_array(a, *found, fn->results + 1);
    scalar_failure failure = {0};
    block_run run;
    block_run_init(&run, w->p, a, &sw);
    evaluator_restart(e);
    for (uint32_t k = 0; k < fn->params; k++) {
        ir_bits bits = some_bits((ir_type)ir_at(w->p, fn->param[k])->type, hash_mix(random, k) >> 20);
        evaluator_set(e, evaluator_slot(e, fn->param[k]), bits);
        block_run_set(&run, fn->param[k], bits);
    }
    bool good = evaluator_run(e, &sw, expected, &failure);
    run_outcome outcome = block_run_results(&run, a, code, fn->results, fn->result, found);
    if (outcome == RUN_BROKEN)
        return arena_printf(a, "term %u is not there where it is used", run.missing);
    if (w->unsafe)
        return "a read marked safe is outside";
    if (good != (outcome == RUN_GOOD))
        return good ? "scheduled code fails" : "scheduled code does not fail";
    return good && memcmp(expected, found, fn->results * sizeof *found) != 0 ? "results differ" : NULL;
}

static const char *compare_fn(world *w, arena *a, const ir_fn *fn)
{
    const ir_block *code = ir_schedule(w->p, a, arena_beside(a), fn->results, fn->result);
    evaluator *e = evaluator_new(w->p, a, fn->results, fn->result);
    const char *why = code ? NULL : "no schedule";
    for (uint64_t k = 0; k < 12 && !why; k++)
        why = compare_once(w, a, fn, code, e, hash_mix(k, 77));
    return why;
}

static const char *compare_program(arena *a, const random_case *c)
{
    world w = make_world(a, c);
    const char *why = NULL;
    for (ir_id id = 1; id < c->program->node.n && !why; id++)
        if (ir_is_array(c->program, id) && ir_info(c->program, id)->fn)
            why = compare_fn(&w, a, ir_info(c->program, id)->fn);
    return why;
}

static bool differs(void *env, arena *a, const random_case *c)
{
    (void)env;
    return compare_program(a, c) != NULL;
}

static void scheduled_code_means_what_the_terms_mean(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(8000); seed++) {
        arena a;
        arena_init(&a, NULL);
        random_options o = options_for(seed);
        o.rows = false; /* extents that only the run tells */
        random_case c = random_program(&a, &o, seed);
        if (compare_program(&a, &c)) {
            random_case small = random_shrink(&a, &o, &c, differs, NULL);
            explain(&small, seed);
            fail_msg("%s", compare_program(&a, &small));
        }
        arena_free(&a);
    }
}

/* --- simplification --- */

/* What is simple stays as it is: a function made anew for other variables, and back, is the same terms. */
static bool made_anew_differs(void *env, arena *a, const random_case *c)
{
    ir_program *p = c->program;
    uint32_t nodes = p->node.n;
    (void)env;
    for (ir_id id = 1; id < nodes; id++) {
        const ir_fn *fn = ir_is_array(p, id) ? ir_info(p, id)->fn : NULL;
        if (!fn || !fn->params)
            continue;
        ir_fn other = {.params = fn->params, .results = fn->results};
        other.param = arena_array(a, ir_id, fn->params);
        other.result = arena_array(a, ir_id, fn->results);
        ir_id *back = arena_array(a, ir_id, fn->results);
        for (uint32_t i = 0; i < fn->params; i++)
            other.param[i] = ir_var(p, (ir_type)ir_at(p, fn->param[i])->type);
        ir_instantiate(p, fn, other.param, other.result);
        ir_instantiate(p, &other, fn->param, back);
        if (memcmp(back, fn->result, fn->results * sizeof(ir_id)))
            return true;
    }
    return false;
}

static void simplification_is_idempotent(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < seeds(3000); seed++) {
        arena a;
        arena_init(&a, NULL);
        random_options o = options_for(seed);
        random_case c = random_program(&a, &o, seed);
        if (made_anew_differs(NULL, &a, &c)) {
            random_case small = random_shrink(&a, &o, &c, made_anew_differs, NULL);
            explain(&small, seed);
            fail();
        }
        arena_free(&a);
    }
}

/* --- shrinking --- */

static bool has_wrapped_stencil(void *env, arena *a, const random_case *c)
{
    (void)env;
    (void)a;
    for (ir_id id = 1; id < c->program->node.n; id++)
        if (ir_at(c->program, id)->kind == IR_STENCIL && ir_info(c->program, id)->stencil[0].boundary == IR_WRAP)
            return true;
    return false;
}

static uint32_t count_operations(const ir_program *p)
{
    uint32_t n = 0;
    for (ir_id id = 1; id < p->node.n; id++)
        n += ir_is_array(p, id) && ir_at(p, id)->kind != IR_INPUT;
    return n;
}

static void shrinking_leaves_what_matters(void **state)
{
    (void)state;
    uint32_t shrunk = 0;
    for (uint64_t seed = 1; shrunk < 5; seed++) {
        arena a;
        arena_init(&a, NULL);
        random_options o = random_everything();
        random_case c = random_program(&a, &o, seed);
        if (has_wrapped_stencil(NULL, &a, &c)) {
            random_case small = random_shrink(&a, &o, &c, has_wrapped_stencil, NULL);
            assert_true(has_wrapped_stencil(NULL, &a, &small));
            assert_int_equal(count_operations(small.program), 1);
            assert_true(small.choices.made.n <= c.choices.made.n);
            shrunk++;
        }
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_well_formed),
        cmocka_unit_test(programs_mean_one_thing),
        cmocka_unit_test(text_means_the_program_it_was_printed_from),
        cmocka_unit_test(scheduled_code_means_what_the_terms_mean),
        cmocka_unit_test(simplification_is_idempotent),
        cmocka_unit_test(shrinking_leaves_what_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
