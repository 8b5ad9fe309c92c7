/* The text form of terms: what parses is well-formed, prints and parses back to the same text, and passes through
 * clustering and planning. */
#include "fuzz.h"
#include "plan/plan.h"
#include "skeleton/skeleton.h"
#include "support/random_program.h"

const char *fuzz_seed(arena *a, uint32_t number, size_t *n)
{
    random_options o = random_everything();
    o.math = number % 2;
    o.failures = number % 3 == 0;
    o.rows = number % 5 > 2;
    o.controls = number % 7 > 3 ? 3 : 0;
    random_case c = random_program(a, &o, number);
    text t;
    text_init(&t, a);
    ir_print(c.program, &t);
    *n = t.n;
    return t.at;
}

static void plan_it(arena *a, ir_program *p)
{
    for (int fuse = 0; fuse < 3; fuse++) {
        l_options o = {.fuse = fuse > 0, .cost_model = true, .rows = fuse > 1};
        text t;
        text_init(&t, a);
        l_program *l = l_clusters(p, &o);
        plan_print(plan_make(sk_prepare(l), &(sk_options){.chains = fuse}), &t);
    }
}

static void check(arena *a, const char *source)
{
    const char *message = NULL, *why = "";
    ir_program *p = ir_parse(a, source, &message);
    fuzz_promise(p || (message && *message), "an error has a message", source);
    if (!p)
        return;
    fuzz_promise(ir_check_program(p, a, &why), why, source);
    text first, second;
    text_init(&first, a);
    text_init(&second, a);
    ir_print(p, &first);
    ir_program *again = ir_parse(a, first.at, &message);
    fuzz_promise(again != NULL, message, first.at);
    ir_print(again, &second);
    fuzz_promise(!strcmp(first.at, second.at), "what is printed parses to the same", source);
    plan_it(a, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return fuzz_text(bytes, n, check);
}
