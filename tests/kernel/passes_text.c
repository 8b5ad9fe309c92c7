#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/passes_text.h"
#include "support/random_gang.h"
#include "support/random_kernel.h"

static const char declarations[] =
    "kernel k lanes 8 threads 64 { global @1:f32 global @2:i64 near global @3:f32 written global @4:i64 written "
    "global @5:u64 written global @8:f32 one global @9:f32 written unread shared @6:f32[64] private @7:i64[4] arg %1:i64 arg %2:i64 arg %3:f32 arg "
    "%4:bool ";

static const char *print(arena *a, const kernel *k)
{
    text t;
    text_init(&t, a);
    k_print(k, &t);
    return t.at;
}

static void well_formed(const kernel *k, arena *a)
{
    const char *why = "";
    if (!k_verify(k, a, &why))
        fail_msg("%s\n%s", why, print(a, k));
}

static kernel *read(arena *a, const char *body)
{
    const char *message = "";
    kernel *k = k_parse(a, arena_printf(a, "%s%s}", declarations, body), &message);
    if (!k)
        fail_msg("%s\n%s", message, body);
    well_formed(k, a);
    return k;
}

void pass_cases(void (*pass)(kernel *k, arena *a), const pass_case *cases, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        arena a;
        arena_init(&a, NULL);
        kernel *k = read(&a, cases[i].before);
        pass(k, &a);
        well_formed(k, &a);
        const char *wanted = print(&a, read(&a, cases[i].after ? cases[i].after : cases[i].before));
        const char *got = print(&a, k);
        if (strcmp(got, wanted) != 0)
            fail_msg("case %u:\n%sbut it is to be\n%s", i, got, wanted);
        arena_free(&a);
    }
}

/* --- random kernels --- */

static void compare_threads(void (*pass)(kernel *k, arena *a), arena *a, uint64_t seed, uint16_t lanes)
{
    kernel *k = random_kernel(a, seed, lanes, seed % 2);
    well_formed(k, a);
    kernel *changed = k_clone(k, a);
    pass(changed, a);
    well_formed(changed, a);
    random_run *expected = arena_new(a, *expected), *got = arena_new(a, *got);
    random_fill(expected, seed);
    random_fill(got, seed);
    expected->mem[2 * RANDOM_TYPES] = expected->per_piece;
    got->mem[2 * RANDOM_TYPES] = got->per_piece;
    k_interpret(k, a, expected->mem, expected->arg, 0, RANDOM_PIECES, &expected->error);
    k_interpret(changed, a, got->mem, got->arg, 0, RANDOM_PIECES, &got->error);
    const char *difference = random_difference(a, expected, got);
    if (difference)
        fail_msg("seed %lu: %s\n%s\n%s", (unsigned long)seed, difference, print(a, k), print(a, changed));
}

static void compare_gangs(void (*pass)(kernel *k, arena *a), arena *a, uint64_t seed, uint16_t lanes)
{
    kernel *k = random_gang(a, seed, lanes, seed % 3 == 0);
    kernel *changed = k_clone(k, a);
    pass(changed, a);
    well_formed(changed, a);
    gang_run *expected = arena_new(a, *expected), *got = arena_new(a, *got);
    random_gang_fill(expected, seed, lanes);
    random_gang_fill(got, seed, lanes);
    k_interpret(k, a, expected->mem, expected->arg, 0, GANG_PIECES, &expected->error);
    k_interpret(changed, a, got->mem, got->arg, 0, GANG_PIECES, &got->error);
    const char *difference = random_gang_difference(a, expected, got);
    if (difference)
        fail_msg("seed %lu: %s\n%s\n%s", (unsigned long)seed, difference, print(a, k), print(a, changed));
}

void pass_random(void (*pass)(kernel *k, arena *a), uint64_t seeds)
{
    static const uint16_t width[] = {1, 4, 16, 32, 64, 256};
    for (uint64_t seed = 0; seed < seeds; seed++) {
        arena a;
        arena_init(&a, NULL);
        compare_threads(pass, &a, seed, width[seed % ARRAY_LENGTH(width)]);
        compare_gangs(pass, &a, seed, width[seed % ARRAY_LENGTH(width)]);
        arena_free(&a);
    }
}
