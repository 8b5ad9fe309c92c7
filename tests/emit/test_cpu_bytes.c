/* Mixed sums on the CPU: bytes and products of bytes, added up by instructions that trade lanes; and types and widths
 * for which there are none. The sum of all lanes is that of the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu_case.h"

enum { TURNS = 300 };

/* The sum over all lanes and turns of bytes x, or of products x * y, the last turn by some of the lanes only. */
static void sum_case(cpu_case *c, uint16_t lanes, ir_type from, ir_type other, ir_type to)
{
    case_kernel(c, lanes);
    k_builder *b = &c->b;
    int64_t n = TURNS * lanes;
    k_mem x = case_global(c, from, false, n), y = case_global(c, other ? other : from, false, n);
    k_mem out = case_global(c, to, true, 1);
    for (int64_t i = 0; i < n; i += 3) { /* the extremes, often */
        case_put(c, x, i, from == T_I8 ? 0x80 : 0xff);
        case_put(c, y, i, other == T_I8 ? 0x80 : 0xff);
    }
    k_val lane = k_for_all(b, k_i64(b, lanes)), sum = k_decl(b, k_literal(b, to, 7), "sum");
    for (int some = 0; some < 2; some++) {
        k_val turn = k_for(b, k_i64(b, some ? TURNS - 1 : 0), k_i64(b, some ? TURNS : TURNS - 1), false);
        k_val at = k_let(b, OP_ADD, k_let(b, OP_MUL, turn, k_i64(b, lanes), 0), lane, 0);
        if (some)
            k_if(b, k_let(b, OP_LT, lane, k_i64(b, lanes - 1), 0));
        k_val part = k_convert(b, OP_CONVERT, to, k_load(b, x, at));
        if (other)
            part = k_let(b, OP_MUL, part, k_convert(b, OP_CONVERT, to, k_load(b, y, at)), 0);
        k_val before = k_get(b, sum);
        k_mix(b, sum, k_let(b, OP_ADD, before, part, 0));
        if (some)
            k_end(b);
        k_end(b);
    }
    k_val total = k_get(b, sum);
    for (int64_t distance = lanes / 2; distance; distance /= 2)
        total = k_let(b, OP_ADD, total, k_shuffle(b, total, distance), 0);
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    k_store(b, out, lane, total);
    k_end(b);
    k_end(b);
    case_run(c, 1);
}

static void sums(void **state)
{
    static const ir_type from[] = {T_U8, T_I8}, to[] = {T_I32, T_U32, T_I64};
    static const uint16_t lanes[] = {16, 32, 64};
    for (unsigned w = 0; w < ARRAY_LENGTH(lanes); w++)
        for (unsigned t = 0; t < ARRAY_LENGTH(to); t++)
            for (unsigned f = 0; f < ARRAY_LENGTH(from); f++)
                sum_case(*state, lanes[w], from[f], T_NONE, to[t]);
}

static void sums_of_products(void **state)
{
    static const ir_type from[] = {T_U8, T_I8}, to[] = {T_I32, T_U32, T_I64};
    for (unsigned t = 0; t < ARRAY_LENGTH(to); t++)
        for (unsigned x = 0; x < ARRAY_LENGTH(from); x++)
            for (unsigned y = 0; y < ARRAY_LENGTH(from); y++)
                sum_case(*state, 32, from[x], from[y], to[t]);
}

static void others(void **state)
{
    sum_case(*state, 32, T_U16, T_NONE, T_U32);
    sum_case(*state, 32, T_U16, T_U8, T_U32);
    sum_case(*state, 32, T_U8, T_NONE, T_U16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),
        cmocka_unit_test(sums_of_products),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, case_setup, case_teardown);
}
