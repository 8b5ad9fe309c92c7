/* Every operator on every type, as emitted for the CPU, against ir_op_apply: in vectors, in scalars, with a constant
 * operand, whole gangs and tails. */
#include "cpu_case.h"
#include "support/launch.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PAIRS = CASE_EDGES * CASE_EDGES, COUNT = PAIRS + 237 };

/* Every pair of edge values first, then random ones. */
static void put_pairs(cpu_case *c, ir_type t, const k_mem *in, unsigned arity)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        case_put(c, in[0], i, case_edge(t, i / CASE_EDGES));
        if (arity > 1)
            case_put(c, in[1], i, case_edge(t, i % CASE_EDGES));
    }
}

/* out[i] = op(in[i]...) for all i; ends with one piece-level copy of element 0 behind the others. What a partial
 * operator gives where it fails is open, but it must not trap. */
static void check_op(cpu_case *c, ir_op op, ir_type t, ir_type to, bool constant, uint16_t lanes)
{
    unsigned arity = ir_ops[op].arity;
    k_mem in[3] = {0};
    case_kernel(c, lanes);
    k_builder *b = &c->b;
    for (unsigned i = 0; i < arity; i++)
        in[i] = case_global(c, t, false, COUNT);
    put_pairs(c, t, in, arity);
    k_mem out = case_global(c, to, true, COUNT + 1);
    k_val value[3] = {0}, scalar[3] = {0}, fixed = constant ? k_literal(b, t, case_value(c, t)) : 0;
    k_val i = k_for_all(b, k_i64(b, COUNT));
    for (unsigned j = 0; j < arity; j++)
        value[j] = constant && j ? fixed : k_load(b, in[j], i);
    bool convert = op == OP_CONVERT || op == OP_BITCAST;
    k_store(b, out, i, convert ? k_convert(b, op, to, value[0]) : k_let(b, op, value[0], value[1], value[2]));
    k_end(b);
    for (unsigned j = 0; j < arity; j++)
        scalar[j] = constant && j ? fixed : k_load(b, in[j], k_i64(b, 0));
    k_store(b, out, k_i64(b, COUNT),
            convert ? k_convert(b, op, to, scalar[0]) : k_let(b, op, scalar[0], scalar[1], scalar[2]));
    const char *why = NULL;
    if (!k_verify(c->k, &c->arena, &why))
        fail_msg("%s", why);
    device_kernel *code = device_compile(c->device, c->k, &c->arena, &why);
    if (!code)
        fail_msg("%s on %s: %s", ir_ops[op].name, ir_type_name(t), why);
    k_error error = {0};
    assert_true(launch_now(c->device, code, c->data, c->arg, 0, 1, true, &error));
    for (int64_t e = 0; e <= COUNT; e++) {
        ir_bits operand[3] = {0}, want, got = case_get(c, out, e);
        for (unsigned j = 0; j < arity; j++)
            operand[j] = constant && j ? c->k->value.at[fixed].bits : case_get(c, in[j], e == COUNT ? 0 : e);
        if (!ir_op_apply(op, t, to, operand, &want) || got == want || ir_op_open(op, t, operand))
            continue;
        if (to == T_F32 && ir_f32_bits(got) != ir_f32_bits(got) && ir_f32_bits(want) != ir_f32_bits(want))
            continue;
        if (to == T_F64 && ir_f64_bits(got) != ir_f64_bits(got) && ir_f64_bits(want) != ir_f64_bits(want))
            continue;
        fail_msg("%s on %s to %s, lanes %u, element %lld: (%llx, %llx, %llx) gives %llx, should be %llx",
                 ir_ops[op].name, ir_type_name(t), ir_type_name(to), lanes, (long long)e,
                 (unsigned long long)operand[0], (unsigned long long)operand[1], (unsigned long long)operand[2],
                 (unsigned long long)got, (unsigned long long)want);
    }
    device_release_kernel(c->device, code);
}

static void all_ops_of(cpu_case *c, ir_type t)
{
    for (unsigned op = OP_NONE + 1; op < OP_COUNT; op++) {
        const ir_op_row *row = &ir_ops[op];
        ir_type to = ir_op_result((ir_op)op, t, T_NONE);
        if (op == OP_CONVERT || op == OP_BITCAST || to == T_NONE)
            continue;
        check_op(c, (ir_op)op, t, to, false, op % 2 ? 16 : 64);
        if (row->arity > 1 && !(row->flags & OP_MATH))
            check_op(c, (ir_op)op, t, to, true, op % 3 ? 32 : 8);
    }
}

static void integers(void **state)
{
    for (unsigned t = T_BOOL; t <= T_U64; t++)
        all_ops_of(*state, (ir_type)t);
    all_ops_of(*state, T_CHAR);
}

static void floats(void **state)
{
    all_ops_of(*state, T_F32);
    all_ops_of(*state, T_F64);
}

static void conversions(void **state)
{
    for (unsigned t = T_NONE + 1; t < T_COUNT; t++)
        for (unsigned to = T_NONE + 1; to < T_COUNT; to++) {
            if (t != to && ir_op_result(OP_CONVERT, (ir_type)t, (ir_type)to) != T_NONE)
                check_op(*state, OP_CONVERT, (ir_type)t, (ir_type)to, false, 64);
            if (t != to && ir_op_result(OP_BITCAST, (ir_type)t, (ir_type)to) != T_NONE)
                check_op(*state, OP_BITCAST, (ir_type)t, (ir_type)to, false, 16);
        }
}

/* A number of any length: every number of bits is as likely as every other. */
static uint64_t any_length(cpu_case *c, ir_type t)
{
    uint64_t bits = case_random(c) >> (64 - ir_type_bits(t));
    return bits >> case_random(c) % ir_type_bits(t);
}

/* Quotients next to whole numbers, where an estimate that is off shows: x = y q + r, r = -1, 0, 1 or y - 1. */
static void check_division(cpu_case *c, ir_op op, ir_type t, bool constant, uint16_t lanes)
{
    enum { HARD = 4096 };
    case_kernel(c, lanes);
    k_builder *b = &c->b;
    k_mem x = case_global(c, t, false, HARD), y = case_global(c, t, false, HARD), out = case_global(c, t, true, HARD);
    uint64_t fixed = any_length(c, t) | 1;
    for (int i = 0; i < HARD; i++) {
        uint64_t divisor = constant ? fixed : any_length(c, t);
        if (ir_type_signed(t) && !constant && case_random(c) % 2)
            divisor = 0 - divisor;
        divisor += divisor == 0;
        uint64_t rest[] = {0, 1, ~(uint64_t)0, divisor - 1}, product = divisor * any_length(c, t);
        case_put(c, x, i, ir_bits_i64(t, (int64_t)(product + rest[case_random(c) % 4])));
        case_put(c, y, i, ir_bits_i64(t, (int64_t)divisor));
    }
    k_val i = k_for_all(b, k_i64(b, HARD));
    k_val divisor = constant ? k_literal(b, t, ir_bits_i64(t, (int64_t)fixed)) : k_load(b, y, i);
    k_store(b, out, i, k_let(b, op, k_load(b, x, i), divisor, 0));
    k_end(b);
    const char *why = NULL;
    device_kernel *code = device_compile(c->device, c->k, &c->arena, &why);
    if (!code)
        fail_msg("%s", why);
    k_error error = {0};
    assert_true(launch_now(c->device, code, c->data, c->arg, 0, 1, true, &error));
    for (int64_t e = 0; e < HARD; e++) {
        ir_bits in[2] = {case_get(c, x, e), case_get(c, y, e)}, want;
        if (ir_op_apply(op, t, t, in, &want) && case_get(c, out, e) != want)
            fail_msg("%s on %s: %llx by %llx gives %llx, should be %llx", ir_ops[op].name, ir_type_name(t),
                     (unsigned long long)in[0], (unsigned long long)in[1], (unsigned long long)case_get(c, out, e),
                     (unsigned long long)want);
    }
    device_release_kernel(c->device, code);
}

static void divisions(void **state)
{
    static const ir_op op[] = {OP_DIV, OP_MOD, OP_QUOT, OP_REM};
    for (unsigned t = T_I8; t <= T_U64; t++)
        for (unsigned k = 0; k < 4; k++) {
            check_division(*state, op[k], (ir_type)t, false, k % 2 ? 16 : 64);
            for (unsigned i = 0; i < 4; i++)
                check_division(*state, op[k], (ir_type)t, true, 32);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers), cmocka_unit_test(floats),
                                       cmocka_unit_test(conversions), cmocka_unit_test(divisions)};
    return cmocka_run_group_tests_name("cpu operators", tests, case_setup, case_teardown);
}
