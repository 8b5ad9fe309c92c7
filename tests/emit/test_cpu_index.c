/* Index arithmetic in 32 bits on the CPU against the kernel interpreter: every operator, at the ends of what fits, and
 * loads and stores at such indices, for gangs of every width, whole and in part. */
#include "cpu_case.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "kernel/narrow.h"

enum { COUNT = 517 };
static const int64_t most = INT32_MAX - (1 << 16);

/* The kernel is one whose indices fit, and the values are vectors. */
static void run_narrow(cpu_case *c)
{
    assert_true(k_indices_fit(c->k, &c->arena, c->arg, 0, 1));
    assert_true(k_find_index_vectors(c->k, &c->arena) == K_INDICES_VECTORS);
    c->k->narrow = true;
    case_run(c, 1);
}

static const uint16_t widths[] = {4, 8, 16, 32, 64, 128, 256};

static k_val number(cpu_case *c, unsigned *args, int64_t value, bool literal)
{
    if (literal)
        return k_i64(&c->b, value);
    c->arg[*args] = (ir_bits)value;
    ++*args;
    return k_arg(&c->b, T_I64, "n");
}

/* x = (i * step + base) rem about, then each op on x and y: x differs from lane to lane. */
static void check_binary(cpu_case *c, unsigned n, const ir_op *op, uint16_t lanes, int64_t base, int64_t step,
                         int64_t y, bool literal)
{
    unsigned args = 0;
    k_mem out[8];
    case_kernel(c, lanes);
    k_builder *b = &c->b;
    for (unsigned k = 0; k < n; k++)
        out[k] = case_global(c, op[k] >= OP_EQ && op[k] <= OP_GE ? T_BOOL : T_I64, true, COUNT);
    k_val operand = number(c, &args, y, literal), start = number(c, &args, base, false);
    k_val by = number(c, &args, step, false), about = number(c, &args, most, false);
    k_val i = k_for_all(b, k_i64(b, COUNT));
    k_val x = k_let(b, OP_REM, k_let(b, OP_ADD, k_let(b, OP_MUL, i, by, 0), start, 0), about, 0);
    for (unsigned k = 0; k < n; k++)
        k_store(b, out[k], i, k_let(b, op[k], x, ir_ops[op[k]].arity > 1 ? operand : 0, 0));
    k_end(b);
    run_narrow(c);
}

/* Around multiples of the divisor at the ends of what fits, and from there inwards. */
static void division(void **state)
{
    static const ir_op ops[] = {OP_QUOT, OP_REM, OP_DIV, OP_MOD};
    static const int64_t by[] = {1,   2,    3,     5,     7,       10,        255,     256,
                                 641, 4099, 65535, 65537, 1 << 20, 715827882, 1 << 30, 2147418111};
    unsigned turn = 0;
    for (size_t k = 0; k < ARRAY_LENGTH(by); k++)
        for (int sign = 0; sign < 2; sign++, turn++) {
            int64_t y = turn % 3 == 2 ? -by[k] : by[k], end = (most - COUNT) / by[k] * by[k];
            end -= by[k] < COUNT ? 0 : COUNT / 2;
            check_binary(*state, 4, ops, widths[turn % ARRAY_LENGTH(widths)], sign ? -end : end, sign ? -1 : 1, y,
                         turn % 5 == 4);
            check_binary(*state, 4, ops, 64, sign ? -7 : 0, 4001, y, false);
        }
}

static void arithmetic(void **state)
{
    static const ir_op plain[] = {OP_ADD, OP_SUB, OP_MIN, OP_MAX, OP_NEG, OP_ABS}, times[] = {OP_MUL},
                       tests[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE}, mask[] = {OP_BIT_AND};
    for (size_t w = 0; w < ARRAY_LENGTH(widths); w++) {
        int64_t far = w % 2 ? -70000000 : 100;
        check_binary(*state, 6, plain, widths[w], far, 12345, 100003, w == 3);
        check_binary(*state, 6, tests, widths[w], 99850, 1, 100003, w == 3);
        check_binary(*state, 1, times, widths[w], far, 12345, 15 - 31 * (int64_t)(w % 2), w == 3);
        check_binary(*state, 1, mask, widths[w], far, 12345, 100003, true);
    }
}

/* Comparisons of what goes up by one with a limit, on either side of it, become masks made of numbers. */
static void limits(void **state)
{
    static const ir_op ops[] = {OP_LT, OP_LE, OP_GT, OP_GE};
    cpu_case *c = *state;
    for (unsigned turn = 0; turn < 36; turn++) {
        unsigned args = 0;
        bool swapped = turn % 2;
        int64_t limit = (int64_t)turn * 20 - 60, base = turn % 3 ? (turn % 3 == 1 ? 40 : -most + 70) : 0;
        case_kernel(c, widths[turn % ARRAY_LENGTH(widths)]);
        k_builder *b = &c->b;
        k_mem out[4], chosen = case_global(c, T_I64, true, COUNT);
        for (unsigned k = 0; k < 4; k++)
            out[k] = case_global(c, T_BOOL, true, COUNT);
        k_val bound = number(c, &args, base < 0 ? -most + limit + 200 : limit, false);
        k_val start = number(c, &args, base, false);
        k_val i = k_for_all(b, k_i64(b, COUNT)), x = k_let(b, OP_ADD, i, start, 0), holds = 0;
        for (unsigned k = 0; k < 4; k++) {
            holds = swapped ? k_let(b, ops[k], bound, x, 0) : k_let(b, ops[k], x, bound, 0);
            k_store(b, out[k], i, holds);
        }
        k_store(b, chosen, i, k_select(b, holds, x, bound));
        k_end(b);
        run_narrow(c);
    }
}

/* The same of all limits there are, where what goes up begins with a known number. */
static void all_limits(void **state)
{
    static const ir_op ops[] = {OP_LT, OP_LE, OP_GT, OP_GE};
    static const int64_t first[] = {0, 32, -5, (int64_t)1 << 40};
    cpu_case *c = *state;
    for (unsigned turn = 0; turn < 7 * 2 * ARRAY_LENGTH(first); turn++) {
        const uint16_t lanes = widths[turn % 7];
        const int64_t base = first[turn / 14];
        const bool swapped = turn / 7 % 2;
        const int64_t limit[] = {INT64_MIN,    INT64_MIN + 1,    base - 1,         base,      base + 1,
                                 base + lanes, base + lanes - 1, base + lanes / 2, INT64_MAX, INT64_MAX - 1};
        enum { LIMITS = sizeof(limit) / sizeof(limit[0]) };
        case_kernel(c, lanes);
        k_builder *b = &c->b;
        k_mem in = case_global(c, T_I64, false, LIMITS), out = case_global(c, T_I64, true, 4 * LIMITS * lanes);
        for (unsigned k = 0; k < LIMITS; k++)
            case_put(c, in, k, (ir_bits)limit[k]);
        k_val n = k_for(b, k_i64(b, 0), k_i64(b, LIMITS), false), bound = k_load(b, in, n);
        k_val at = k_let(b, OP_MUL, n, k_i64(b, 4 * (int64_t)lanes), 0);
        k_val i = k_for_all(b, k_i64(b, lanes)), x = k_let(b, OP_ADD, i, k_i64(b, base), 0);
        for (unsigned k = 0; k < 4; k++) {
            k_val to = k_let(b, OP_ADD, at, k_let(b, OP_ADD, i, k_i64(b, k * (int64_t)lanes), 0), 0);
            k_val holds = swapped ? k_let(b, ops[k], bound, x, 0) : k_let(b, ops[k], x, bound, 0);
            k_store(b, out, to, k_select(b, holds, x, bound));
        }
        k_end(b);
        k_end(b);
        case_run(c, 1);
    }
}

/* The same where neither is known beforehand, and what goes up may go beyond the largest number. */
static void unknown_limits(void **state)
{
    static const ir_op ops[] = {OP_LT, OP_LE, OP_GT, OP_GE};
    cpu_case *c = *state;
    for (unsigned turn = 0; turn < 7 * 2; turn++) {
        const uint16_t lanes = widths[turn % 7];
        const bool swapped = turn / 7;
        const int64_t number[] = {INT64_MIN, INT64_MIN + 1,     INT64_MIN + lanes / 2, -lanes,        -1,       0,
                                  lanes / 2, INT64_MAX - lanes, INT64_MAX - 3,         INT64_MAX - 1, INT64_MAX};
        enum { NUMBERS = sizeof(number) / sizeof(number[0]) };
        case_kernel(c, lanes);
        k_builder *b = &c->b;
        k_mem in = case_global(c, T_I64, false, NUMBERS);
        k_mem out = case_global(c, T_I64, true, 4 * NUMBERS * NUMBERS * lanes);
        for (unsigned k = 0; k < NUMBERS; k++)
            case_put(c, in, k, (ir_bits)number[k]);
        k_val all = k_i64(b, NUMBERS), m = k_for(b, k_i64(b, 0), all, false), base = k_load(b, in, m);
        k_val n = k_for(b, k_i64(b, 0), all, false), bound = k_load(b, in, n);
        k_val both = k_let(b, OP_ADD, k_let(b, OP_MUL, m, all, 0), n, 0);
        k_val at = k_let(b, OP_MUL, both, k_i64(b, 4 * (int64_t)lanes), 0);
        k_val i = k_for_all(b, k_i64(b, lanes)), x = k_let(b, OP_ADD, i, base, 0);
        for (unsigned k = 0; k < 4; k++) {
            k_val to = k_let(b, OP_ADD, at, k_let(b, OP_ADD, i, k_i64(b, k * (int64_t)lanes), 0), 0);
            k_val holds = swapped ? k_let(b, ops[k], bound, x, 0) : k_let(b, ops[k], x, bound, 0);
            k_store(b, out, to, k_select(b, holds, x, k_i64(b, 7)));
        }
        k_end(b);
        k_end(b);
        k_end(b);
        run_narrow(c);
    }
}

static void conversions(void **state)
{
    static const ir_type to[] = {T_BOOL, T_I8, T_U8, T_I16, T_U16, T_I32, T_U32, T_U64, T_F32, T_F64};
    static const ir_type from[] = {T_BOOL, T_I8, T_U8, T_I16, T_U16};
    cpu_case *c = *state;
    for (unsigned k = 0; k < ARRAY_LENGTH(to) * 2; k++) {
        unsigned args = 0;
        case_kernel(c, widths[k % ARRAY_LENGTH(widths)]);
        k_builder *b = &c->b;
        k_mem in = case_global(c, from[k % 5], false, COUNT), out = case_global(c, to[k / 2], true, COUNT);
        k_val about = number(c, &args, 1999999, false), by = number(c, &args, -2000003, false);
        k_val i = k_for_all(b, k_i64(b, COUNT));
        k_val x = k_convert(b, OP_CONVERT, T_I64, k_load(b, in, i));
        x = k_let(b, OP_ADD, x, k_let(b, OP_REM, k_let(b, OP_MUL, i, by, 0), about, 0), 0);
        k_store(b, out, i, k_convert(b, OP_CONVERT, to[k / 2], x));
        k_end(b);
        run_narrow(c);
    }
}

/* out[i] = in[(i * by) mod n], in a branch too, where some lanes are off; and out2[(i * by) mod n] = in[i]. */
static void memory(void **state)
{
    static const ir_type types[] = {T_BOOL, T_I8, T_U8, T_I16, T_U16, T_I32, T_F32, T_I64, T_F64};
    cpu_case *c = *state;
    for (size_t t = 0; t < ARRAY_LENGTH(types); t++)
        for (size_t w = t % 2; w < ARRAY_LENGTH(widths); w += 2) {
            unsigned args = 0;
            c->offset = (unsigned)(t + w) % 5;
            case_kernel(c, widths[w]);
            k_builder *b = &c->b;
            k_mem in = case_global(c, types[t], false, COUNT), out = case_global(c, types[t], true, COUNT);
            k_mem some = case_global(c, types[t], true, COUNT), spread = case_global(c, types[t], true, COUNT);
            k_val n = number(c, &args, COUNT, false), by = number(c, &args, 100, false); /* no common divisor */
            k_val i = k_for_all(b, k_i64(b, COUNT)), at = k_let(b, OP_MOD, k_let(b, OP_MUL, i, by, 0), n, 0);
            k_store(b, out, i, k_load(b, in, at));
            k_store(b, spread, at, k_load(b, in, i));
            k_if(b, k_let(b, OP_LT, at, k_i64(b, COUNT / 3), 0));
            k_store(b, some, i, k_load(b, in, at));
            k_end(b);
            k_end(b);
            run_narrow(c);
        }
    c->offset = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(division),   cmocka_unit_test(arithmetic),     cmocka_unit_test(limits),
        cmocka_unit_test(all_limits), cmocka_unit_test(unknown_limits), cmocka_unit_test(conversions),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, case_setup, case_teardown);
}
