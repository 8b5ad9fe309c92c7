/* Loads and stores of neighbours and at steps that only the launch knows, on the CPU against the kernel interpreter,
 * for gangs of several widths, whole and in part. */
#include "cpu_case.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { COUNT = 517 };
static const uint16_t widths[] = {1, 4, 8, 32, 64};

/* Lane i stores elements n i ... n i + n - 1, one behind the other, past the caches or not; loads take the same. */
static void neighbours(void **state)
{
    static const ir_type types[] = {T_BOOL, T_U8, T_I16, T_F32, T_F64};
    cpu_case *c = *state;
    for (unsigned turn = 0; turn < 7 * ARRAY_LENGTH(types); turn++) {
        int64_t n = 2 + turn % 7;
        ir_type t = types[turn / 7];
        c->offset = turn % 3;
        case_kernel(c, widths[turn % 5]);
        k_builder *b = &c->b;
        k_mem in = case_global(c, t, false, COUNT), spread = case_global(c, t, false, n * COUNT);
        k_mem out = case_global(c, t, true, n * COUNT), back = case_global(c, t, true, n * COUNT);
        c->k->mem.at[out].stream = turn % 2;
        c->k->mem.at[out].once = true;
        k_val i = k_for_all(b, k_i64(b, COUNT - turn)), first = k_let(b, OP_MUL, i, k_i64(b, n), 0), at[8], x[8];
        for (int64_t k = 0; k < n; k++) {
            at[k] = k_let(b, OP_ADD, first, k_i64(b, k), 0);
            x[k] = k % 2 && turn % 3 ? k_load(b, in, i) : k_load(b, spread, at[k]);
        }
        for (int64_t k = 0; k < n; k++)
            k_store(b, out, at[k], x[k]);
        for (int64_t k = n; k-- > 0;) /* in another order they are no row */
            k_store(b, back, at[k], x[n - 1 - k]);
        k_end(b);
        case_run(c, 1);
    }
    c->offset = 0;
}

/* Steps that only the launch knows: 1, 0, others, in whole gangs and where lanes are off. */
static void strides(void **state)
{
    static const ir_type types[] = {T_U8, T_F32, T_I64};
    static const int64_t steps[] = {1, 0, 2, 5, -1};
    cpu_case *c = *state;
    for (unsigned turn = 0; turn < ARRAY_LENGTH(steps) * ARRAY_LENGTH(types); turn++) {
        int64_t step = steps[turn % ARRAY_LENGTH(steps)];
        case_kernel(c, widths[turn % 5]);
        k_builder *b = &c->b;
        k_mem in = case_global(c, types[turn % 3], false, 5 * COUNT);
        k_mem out = case_global(c, types[turn % 3], true, COUNT), some = case_global(c, types[turn % 3], true, COUNT);
        c->arg[0] = (ir_bits)step;
        c->arg[1] = step < 0 ? COUNT : 0;
        k_val by = k_arg(b, T_I64, "by"), start = k_arg(b, T_I64, "start");
        k_val i = k_for_all(b, k_i64(b, COUNT)), at = k_let(b, OP_ADD, k_let(b, OP_MUL, i, by, 0), start, 0);
        k_store(b, out, i, k_load(b, in, at));
        k_if(b, k_let(b, OP_NE, k_let(b, OP_BIT_AND, i, k_i64(b, 6), 0), k_i64(b, 2), 0));
        k_store(b, some, i, k_load(b, in, at));
        k_end(b);
        k_end(b);
        case_run(c, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours), cmocka_unit_test(strides)};
    return cmocka_run_group_tests(tests, case_setup, case_teardown);
}
