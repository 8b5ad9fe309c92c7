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
#include "support/random_program.h"

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
    return getenv("SINTER_TEST_LONG") ? 50 * sample : sample;
}

typedef struct question {
    bool fuse;
    bool exact;   /* the interpreter's results are expected */
    bool failures;
    const char *why; /* of the last case that failed */
} question;

static void say(question *q, arena *a, const char *format, const char *detail)
{
    (void)a;
    static char said[4096];
    snprintf(said, sizeof(said), format, detail ? detail : "");
    q->why = said;
}

/* Does a program behave otherwise than the interpreter, or differently with another number of threads or unfused? */
static bool differs(void *env, arena *a, const random_case *c)
{
    question *q = env;
    ir_program *p = c->program;
    ir_value *wanted = arena_alloc(a, (p->output.n + 1) * sizeof(ir_value));
    ir_failure failure = {0};
    bool good = ir_interpret(p, a, c->input, wanted, &failure);
    outcome fused = runner_run(&one, p, a, c->input, true, 2);
    if (good && fused.status != SN_OK)
        return say(q, a, "fails, fused: %s", fused.message), true;
    if (!good && fused.status == SN_OK && failure.mistake != IR_WRONG_INDEX && failure.mistake != IR_WRONG_ARITHMETIC)
        return say(q, a, "does not fail: %s", failure.message), true;
    if (good && q->exact && !same_outputs(p, wanted, fused.output))
        return say(q, a, "is not what the interpreter gives, fused%s", ""), true;
    outcome unfused = runner_run(&one, p, a, c->input, false, 1);
    if (good && unfused.status != SN_OK)
        return say(q, a, "fails, unfused: %s", unfused.message), true;
    if (!good && unfused.status == SN_OK)
        return say(q, a, "does not fail unfused: %s", failure.message), true;
    if (good && !same_outputs(p, fused.output, unfused.output))
        return say(q, a, "unfused is not what fused gives%s", ""), true;
    outcome threads = runner_run(&two, p, a, c->input, true, 1);
    if (good != (threads.status == SN_OK) && good)
        return say(q, a, "fails with two threads: %s", threads.message), true;
    if (good && !same_outputs(p, fused.output, threads.output))
        return say(q, a, "two threads give another result than one%s", ""), true;
    return false;
}

static void check_case(question *q, const random_options *o, uint64_t seed)
{
    arena a;
    arena_init(&a, NULL);
    random_case c = random_program(&a, o, seed);
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

static void suite(const random_options *options, bool exact, uint64_t sample)
{
    if (!one.device)
        skip();
    question q = {.exact = exact};
    uint64_t first = first_seed(), n = seeds(sample);
    for (uint64_t seed = first; seed < first + n; seed++)
        check_case(&q, options, seed);
}

static void exact_programs(void **state)
{
    (void)state;
    random_options o = random_everything();
    suite(&o, true, 60);
}

static void programs_with_failures(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.failures = true;
    suite(&o, true, 40);
}

static void programs_with_elementary_functions(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.math = true;
    suite(&o, true, 20);
}

/* The interpreter folds from left to right: floats need not agree with it, but fused, unfused and threads must. */
static void programs_with_inexact_folds(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.inexact_folds = true;
    suite(&o, false, 40);
}

static void long_rows(void **state)
{
    (void)state;
    random_options o = random_everything();
    o.extent = 3000;
    o.rank = 1;
    o.operations = 4;
    suite(&o, true, 15);
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
        cmocka_unit_test(programs_with_failures),
        cmocka_unit_test(programs_with_elementary_functions),
        cmocka_unit_test(programs_with_inexact_folds),
        cmocka_unit_test(long_rows),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
