/* Random programs on the CPU against the interpreter, and fused against unfused, bit for bit. SINTER_TEST_SEED=n runs
 * the program of that seed only, SINTER_TEST_COUNT=k besides those of the k - 1 that follow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "differential.h"
#include "opt/contract.h"
#include "opt/packs.h"
#include "opt/places.h"
#include "opt/recover.h"
#include "opt/repeats.h"
#include "opt/sweeps.h"
#include "support/random_program.h"
#include "support/share.h"

static runner one, two; /* worker threads */

static uint64_t first_seed(void)
{
    return getenv("SINTER_TEST_SEED") ? strtoull(getenv("SINTER_TEST_SEED"), NULL, 10) : 0;
}

static uint64_t seeds(uint64_t sample)
{
    if (getenv("SINTER_TEST_COUNT"))
        return strtoull(getenv("SINTER_TEST_COUNT"), NULL, 10);
    if (getenv("SINTER_TEST_SEED"))
        return 1;
    return getenv("SINTER_TEST_LONG") ? 50 * sample : (sample + test_share() - 1) / test_share();
}

typedef struct question {
    bool contract;   /* products are contracted first, for the interpreter too */
    bool move;       /* packs are moved first, for the interpreter too */
    bool once;       /* what is the same along a dimension is computed once, on the device */
    uint32_t *made;  /* once: programs with such terms */
    const char *why; /* of the last case that failed */
} question;

static void say(question *q, const char *name, const char *what)
{
    static char said[4096];
    snprintf(said, sizeof(said), "%s: %s", name, what ? what : "");
    q->why = said;
}

typedef struct way { /* to run a program */
    const char *name;
    const runner *runner;
    l_options loops;
    unsigned times;
    bool all_elements; /* every operation computes all of its elements, as the interpreter does */
    bool plain;        /* without simplification from here on */
} way;

static const way ways[] = {
    {"fused", &one, {.fuse = true, .cost_model = true}, 2, false, false},
    {"unfused", &one, {.cost_model = true}, 1, true, false},
    {"with two threads", &two, {.fuse = true, .cost_model = true}, 1, false, false},
    {"beyond the caches", &one, {.fuse = true, .cost_model = true, .large = true}, 1, false, false},
    {"always delayed", &one, {.fuse = true}, 1, false, false},
    {"in small kernels", &one, {.fuse = true, .cost_model = true, .cap = 12}, 1, false, false},
    {"in row loops", &two, {.fuse = true, .cost_model = true, .rows = true}, 1, false, false},
    {"in row loops beyond the caches",
     &one,
     {.fuse = true, .cost_model = true, .rows = true, .large = true},
     1,
     false,
     false},
    {"as written", &one, {.fuse = true, .cost_model = true}, 1, false, true},
    {"as written, unfused", &one, {.cost_model = true}, 1, true, true},
};

/* Without the number of the element, which of a quotient is that of the kernel, and without advice, which stands behind
 * it. */
static size_t told(const char *message)
{
    const char *element = strstr(message, ", at element "), *advice = strstr(message, "; ");
    size_t all = strlen(message), first = element ? (size_t)(element - message) : all;
    return advice && (size_t)(advice - message) < first ? (size_t)(advice - message) : first;
}

/* Is what a run reports one of the failures there are? What is said of an index is compared to the last number. */
static bool is_failure(const ir_program *p, const ir_faults *faults, const outcome *o, arena *a)
{
    for (uint32_t k = 0; k < faults->all.n; k++) {
        const ir_failure *f = &faults->all.at[k];
        const ir_site *s = &p->site.at[f->site];
        bool index = f->mistake == IR_WRONG_INDEX, element = index || f->mistake == IR_WRONG_ARITHMETIC;
        if (!element && o->status != SN_OUT_OF_RANGE && o->status != SN_DIVISION)
            return true;
        const char *said =
            arena_printf(a, "%s:%u: %s, at element %lld", s->file, s->line, f->message, (long long)f->element);
        size_t length = index ? strlen(said) : told(said);
        if (element && o->status == (index ? SN_OUT_OF_RANGE : SN_DIVISION) && !strncmp(said, o->message, length))
            return true;
    }
    return false;
}

static void settle_round(void *env, ir_program *round)
{
    const question *q = env;
    if (q->contract)
        opt_contract(round);
}

static bool compute_once(const question *q, ir_program *p)
{
    uint32_t arrays = 0, nodes = p->node.n;
    opt_compute_once(p);
    for (ir_id id = nodes; id < p->node.n; id++)
        arrays += ir_is_array(p, id);
    *q->made += arrays > 0;
    return arrays > 0;
}

/* Does a program behave otherwise than the interpreter? What fails in elements that
 * no result needs may be left out by fused programs, and by them only; what a result needs may not. */
static bool differs(void *env, arena *a, const random_case *c)
{
    question *q = env;
    ir_program *p = c->program;
    ir_value *wanted = arena_array(a, ir_value, p->output.n + 1);
    ir_failure failure = {0};
    ir_faults faults;
    const char *why;
    if (q->contract)
        opt_contract(p);
    if (q->move)
        opt_move_packs(p);
    opt_sweep_rounds(p, settle_round, q);
    if (!ir_check_program(p, a, &why))
        return say(q, "not well-formed", why), true;
    bool good = ir_interpret_lazily(p, a, c->input, wanted, &faults);
    bool strict = ir_interpret(p, a, c->input, arena_array(a, ir_value, p->output.n + 1), &failure);
    if (strict != (faults.all.n == 0) || (strict && !good))
        return say(q, "the interpreter contradicts itself", failure.message), true;
    if (q->once && compute_once(q, p) && !ir_check_program(p, a, &why))
        return say(q, "not well-formed", why), true;
    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
        const way *w = &ways[i];
        if (one.device->limits->own_memory && i > 1) /* drivers take long to compile */
            break;
        if (getenv("SINTER_TEST_SEED")) /* one case: should it crash, its way is known */
            fprintf(stderr, "%s\n", w->name);
        p->plain = w->plain;
        outcome o = runner_run(w->runner, p, a, c->input, &w->loops, w->times);
        if (o.status == SN_OK && (!good || (w->all_elements && !strict)))
            return say(q, w->name, arena_printf(a, "no failure, but %s", failure.message)), true;
        if (o.status != SN_OK && !is_failure(p, &faults, &o, a))
            return say(q, w->name, arena_printf(a, "%s, but %s", o.message, failure.message)), true;
        if (o.status == SN_OK && !same_outputs(p, wanted, o.output))
            return say(q, w->name, "other results"), true;
    }
    return false;
}

/* --- the switches --- */

typedef struct switches {
    const random_options *options;
    uint32_t compared, other;
    const char *why;
} switches;

/* Simplification may make extents equal that are not as they are written: what is made of them then may be another
 * program. */
static bool same_operations(const ir_program *p, const ir_program *q)
{
    ir_id k = 1;
    for (ir_id i = 1; i < p->node.n; i++) {
        if (!ir_is_array(p, i))
            continue;
        while (k < q->node.n && !ir_is_array(q, k))
            k++;
        if (k == q->node.n)
            return false;
        const ir_array *x = ir_info(p, i), *y = ir_info(q, k);
        if (ir_at(p, i)->kind != ir_at(q, k)->kind || x->rank != y->rank || x->components != y->components ||
            x->inputs != y->inputs)
            return false;
        k++;
    }
    while (k < q->node.n && !ir_is_array(q, k))
        k++;
    return k == q->node.n && p->output.n == q->output.n;
}

/* Does a program's result depend on what is switched on? */
static bool differs_by_switches(void *env, arena *a, const random_case *c)
{
    static char said[256];
    switches *s = env;
    random_options o = *s->options;
    ir_value *first = NULL;
    ir_program *written = NULL;
    for (unsigned k = 0; k < 8; k++) {
        bool fuse = !(k & 1), cost_model = !(k & 2);
        o.plain = k < 4;
        random_case again = random_program_again(a, &o, c->choices.made.n, c->choices.made.at);
        ir_program *p = again.program;
        written = written ? written : p;
        if (!same_operations(written, p))
            return s->other++, false;
        if (!o.plain) {
            opt_recover_loops(p);
            opt_invert_places(p);
        }
        outcome r = runner_run(&one, p, a, again.input, &(l_options){.fuse = fuse, .cost_model = cost_model}, 1);
        snprintf(said, sizeof(said), "fusion %d, simplification %d, cost model %d", fuse, !o.plain, cost_model);
        s->why = said;
        if (r.status != SN_OK)
            return true;
        if (first && !same_outputs(p, first, r.output))
            return true;
        first = first ? first : r.output;
    }
    s->compared++;
    return false;
}

/* Lengths at which the combination trees of folds differ. */
static void programs_under_all_switches(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.inexact_folds = true;
    o.types = 1u << T_F32 | 1u << T_F64 | 1u << T_I32 | 1u << T_BOOL;
    o.extent = 600;
    o.rank = 1;
    o.operations = 5;
    o.terms = 5;
    if (!one.device || one.device->limits->own_memory)
        skip();
    switches s = {.options = &o};
    uint64_t first = first_seed(), n = seeds(40);
    for (uint64_t seed = first; seed < first + n; seed++) {
        arena a;
        arena_init(&a, NULL);
        random_case c = random_program(&a, &o, seed);
        if (differs_by_switches(&s, &a, &c)) {
            random_case small = random_shrink(&a, &o, &c, differs_by_switches, &s);
            text t;
            text_init(&t, &a);
            random_print(&small, &t);
            differs_by_switches(&s, &a, &small);
            print_message("seed %llu:\n%s\n%s\n", (unsigned long long)seed, t.at, s.why);
            fail();
        }
        arena_free(&a);
    }
    assert_true(getenv("SINTER_TEST_SEED") || s.compared > 3 * s.other);
}

static void check_case(question *q, const random_options *o, uint64_t seed)
{
    arena a;
    arena_init(&a, NULL);
    random_case c = random_program(&a, o, seed);
    if (getenv("SINTER_TEST_SEED")) {
        text t;
        text_init(&t, &a);
        random_print(&c, &t);
        fputs(t.at, stderr);
    }
    if (differs(q, &a, &c)) {
        c = random_program(&a, o, seed);
        random_case small = random_shrink(&a, o, &c, differs, q);
        text t;
        text_init(&t, &a);
        random_print(&small, &t);
        random_case again = random_program_again(&a, o, small.choices.made.n, small.choices.made.at);
        bool still = differs(q, &a, &again);
        print_message("seed %llu:\n%s\n%s%s\n", (unsigned long long)seed, t.at, q->why, still ? "" : " (not always)");
        fail();
    }
    arena_free(&a);
}

static void suite(const random_options *options, question q, uint64_t sample)
{
    if (!one.device)
        skip();
    uint64_t first = first_seed(), n = seeds(one.device->limits->own_memory ? (sample + 9) / 10 : sample);
    for (uint64_t seed = first; seed < first + n; seed++)
        check_case(&q, options, seed);
}

static void exact_programs(void **state)
{
    (void)state;
    random_options o = random_everything();
    suite(&o, (question){0}, 60);
}

/* What simplification makes of terms later, when kernels are composed, is compared with the terms as written. */
static void programs_as_written(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.plain = true;
    o.terms = 60;
    suite(&o, (question){0}, 40);
    o.failures = true;
    suite(&o, (question){0}, 20);
}

/* What is the same along a dimension, in small arrays of its own: the interpreter has computed it element by element.
 */
static void programs_computed_once(void **state)
{
    (void)state;
    uint32_t made = 0;
    random_options o = random_everything();
    o.kinds = 1u << IR_MAP | 1u << IR_GENERATE | 1u << IR_BACKPERMUTE | 1u << IR_COND | 1u << IR_LOOP | 1u << IR_READ;
    o.types = 1u << T_F32 | 1u << T_F64 | 1u << T_I32 | 1u << T_I64;
    o.terms = 30;
    suite(&o, (question){.once = true, .made = &made}, 60);
    o.kinds = UINT32_MAX;
    o.math = o.rows = o.failures = true;
    suite(&o, (question){.once = true, .move = true, .made = &made}, 20);
    assert_true(!one.device || one.device->limits->own_memory || made || getenv("SINTER_TEST_SEED") ||
                test_share() > 1);
}

static void programs_with_failures(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.failures = true;
    suite(&o, (question){0}, 40);
}

/* Packs are moved outwards first, for the interpreter too: elements that fail are the parent's then. */
static void scans_and_packs(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.rows = true;
    suite(&o, (question){.move = true}, 40);
    o.extent = 200;
    o.rank = 2;
    o.operations = 8;
    suite(&o, (question){.move = true}, 20);
    o.extent = 9000;
    o.rank = 1;
    o.operations = 4;
    suite(&o, (question){.move = true}, 5);
}

static void scans_and_packs_with_failures(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.rows = true;
    o.failures = true;
    suite(&o, (question){.move = true}, 30);
}

static void loops_and_choices(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.controls = 3;
    suite(&o, (question){0}, 20);
    o.rows = true;
    suite(&o, (question){.move = true}, 10);
    o.failures = true;
    suite(&o, (question){.move = true}, 10);
}

static void scans_and_packs_with_inexact_operators(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.rows = true;
    o.inexact_folds = true;
    o.extent = 300;
    o.rank = 2;
    suite(&o, (question){.move = true}, 20);
}

static void programs_with_elementary_functions(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.math = true;
    suite(&o, (question){0}, 20);
}

static void programs_with_inexact_folds(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.inexact_folds = true;
    suite(&o, (question){0}, 40);
}

static void contracted_programs(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.types = 1u << T_F32 | 1u << T_F64 | 1u << T_BOOL;
    o.terms = 40;
    suite(&o, (question){.contract = true}, 30);
}

static void long_rows(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.extent = 3000;
    o.rank = 1;
    o.operations = 4;
    suite(&o, (question){0}, 15);
}

/* Many operations on extents around the vector widths: more is fused, and less evenly. */
static void large_programs(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.operations = 16;
    o.extent = 70;
    o.rank = 2;
    o.terms = 16;
    suite(&o, (question){0}, 10);
}

/* The same with what may fail. */
static void large_programs_with_failures(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.operations = 12;
    o.extent = 40;
    o.failures = true;
    suite(&o, (question){0}, 10);
}

/* --- chains: see support/random_chain.h --- */

static random_options chain_options(void)
{
    random_options o = random_everything();
    o.chains = true;
    o.operations = 5;
    return o;
}

static void chains(void **state)
{
    (void)state;
    random_options o = chain_options();
    suite(&o, (question){0}, 60);
    o.operations = 10;
    suite(&o, (question){0}, 20);
}

static void chains_with_failures(void **state)
{
    (void)state;
    random_options o = chain_options();
    o.failures = true;
    suite(&o, (question){0}, 60);
}

/* Programs that may fail do now and then, for different reasons, and mostly do not; the others never do. */
static void some_chains_fail(void **state)
{
    enum { PROGRAMS = 1000 };
    uint32_t failed[2] = {0}, seen = 0;
    (void)state;
    for (unsigned may = 0; may < 2; may++)
        for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
            random_options o = chain_options();
            arena a;
            arena_init(&a, NULL);
            o.failures = may;
            random_case c = random_program(&a, &o, seed);
            const char *why;
            ir_failure failure = {0};
            ir_value *out = arena_array(&a, ir_value, c.program->output.n + 1);
            if (!ir_check_program(c.program, &a, &why))
                fail_msg("seed %u: %s", (unsigned)seed, why);
            if (!ir_interpret(c.program, &a, c.input, out, &failure)) {
                failed[may]++;
                seen |= 1u << failure.mistake;
            }
            arena_free(&a);
        }
    assert_int_equal(failed[0], 0);
    assert_in_range(failed[1], PROGRAMS / 100, PROGRAMS / 4);
    assert_true(seen >> IR_WRONG_INDEX & 1 && seen >> IR_WRONG_ARITHMETIC & 1);
}

static int open_all(void **state)
{
    (void)state;
    return runner_open(&one, 1) && !runner_open(&two, 2);
}

static int close_all(void **state)
{
    (void)state;
    runner_close(&one);
    runner_close(&two);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_programs),
        cmocka_unit_test(programs_as_written),
        cmocka_unit_test(programs_computed_once),
        cmocka_unit_test(programs_with_failures),
        cmocka_unit_test(scans_and_packs),
        cmocka_unit_test(scans_and_packs_with_failures),
        cmocka_unit_test(loops_and_choices),
        cmocka_unit_test(scans_and_packs_with_inexact_operators),
        cmocka_unit_test(programs_with_elementary_functions),
        cmocka_unit_test(programs_with_inexact_folds),
        cmocka_unit_test(contracted_programs),
        cmocka_unit_test(programs_under_all_switches),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(large_programs),
        cmocka_unit_test(large_programs_with_failures),
        cmocka_unit_test(chains),
        cmocka_unit_test(chains_with_failures),
        cmocka_unit_test(some_chains_fail),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
