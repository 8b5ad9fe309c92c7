/* What loops change, as the passes over kernels ask for it: compared with lists of all loops, variables and memories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/edit.h"
#include "support/random_kernel.h"

/* Every loop around a statement that sets a variable or writes to a memory changes it, and nothing else does. */
static void compare(kernel *k, arena *a)
{
    uint32_t stmts = k->stmt.n, values = k->value.n, memories = k->mem.n;
    bool *sets = arena_alloc(a, (size_t)stmts * values), *writes = arena_alloc(a, (size_t)stmts * memories);
    k_edit e;
    k_walk w;
    k_edit_begin(&e, k, a);
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        bool set = s->op == K_SET, write = s->op == K_STORE || s->op == K_ATOMIC || s->op == K_COMPACT;
        for (uint32_t i = 0; i < w.open.n && w.event == K_WALK_AT; i++) {
            k_ref around = k_walk_open(&w, i);
            sets[(size_t)around * values + s->dst] |= set;
            writes[(size_t)around * memories + s->mem] |= write;
        }
    }
    for (k_ref r = 1; r < stmts; r++) {
        if (!k_is_loop(&k->stmt.at[r]))
            continue;
        for (k_val v = 0; v < values; v++)
            if (k_changes_variable(&e, r, v) != sets[(size_t)r * values + v])
                fail_msg("loop %u, variable %u: it is %s", r, v, sets[(size_t)r * values + v] ? "set" : "not set");
        for (k_mem m = 0; m < memories; m++)
            if (k_changes_memory(&e, r, m) != writes[(size_t)r * memories + m])
                fail_msg("loop %u, memory %u: it is %s", r, m,
                         writes[(size_t)r * memories + m] ? "written" : "not written");
    }
}

static void what_loops_change(void **state)
{
    /* Variables and memories of the same numbers, in loops within each other and one behind the other. */
    static const char *const body[] = {
        "%1:i64 = var 0 %2:i64 = var 0 %3:i64 = var 0 for %4:i64 = 0 to 3 { set %2 = %4 for %5:i64 = 0 to 3 { "
        "store @4[0] = %5 for %6:i64 = 0 to 3 { store @5[0] = %6 set %3 = %6 } } } for %7:i64 = 0 to 3 { "
        "for %8:i64 = 0 to 3 { for %9:i64 = 0 to 3 { store @3[0] = %9 } set %1 = %8 } store @6[0] = %7 }",
        "%1:i64 = var 0 for %4:i64 = 0 to 3 { %10:bool = lt %4, 2 if %10 { for %5:i64 = 0 to 3 { store @1[0] = %5 } } "
        "else { for %6:i64 = 0 to 3 { set %1 = %6 } } for %7:i64 = 0 to 3 { store @2[0] = %7 } }",
        "for_all %1:i64 < 8 { for %2:i64 = 0 to 3 { %3:i64 = atomic add @3[0], %2 } for %4:i64 = 0 to 3 { "
        "%5:i64 = var 0 set %5 = %4 store @5[0] = %5 } }",
    };
    (void)state;
    arena a;
    for (unsigned i = 0; i < ARRAY_LENGTH(body); i++) {
        const char *message = "";
        arena_init(&a, NULL);
        kernel *k =
            k_parse(&a,
                    arena_printf(&a,
                                 "kernel k lanes 8 { global @1:i64 written global @2:i64 written global @3:i64 "
                                 "written global @4:i64 written global @5:i64 written global @6:i64 written %s }",
                                 body[i]),
                    &message);
        if (!k)
            fail_msg("%s: %s", body[i], message);
        compare(k, &a);
        arena_free(&a);
    }
    for (uint64_t seed = 0; seed < 200; seed++) {
        arena_init(&a, NULL);
        compare(random_kernel(&a, seed, 8, seed % 2), &a);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_loops_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
