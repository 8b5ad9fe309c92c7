#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "plan_text.h"

const sk_options plan_vectors = {.vector_bytes = 32, .workers = 2, .checks = true, .chains = true};
const sk_options plan_threads = {.group = 256, .gang = 32, .scratch = 32768, .workers = 4, .checks = true};

plan *plan_of(arena *a, const char *terms, const sk_options *options, bool apart)
{
    const char *message = "", *why = "";
    ir_program *p = ir_parse(a, terms, &message);
    if (!p)
        fail_msg("%s\n%s", message, terms);
    if (!ir_check_program(p, a, &why))
        fail_msg("%s\n%s", why, terms);
    l_options loops = {.fuse = !apart, .cost_model = true};
    l_program *l = l_clusters(p, &loops);
    return plan_make(sk_prepare(l), options);
}

void plan_is(const char *terms, const sk_options *options, const char *wanted)
{
    arena a;
    text t;
    arena_init(&a, NULL);
    text_init(&t, &a);
    plan_print(plan_of(&a, terms, options, false), &t);
    if (strcmp(t.at, wanted) != 0) {
        fprintf(stderr, "the plan of\n%sis\n%swanted\n%s", terms, t.at, wanted); /* messages of cmocka are short */
        fail_msg("another plan");
    }
    arena_free(&a);
}
