/* Expanded elementary functions give the bits that the operator table promises. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/kernel.h"
#include "kernel/launch.h"

enum { POINTS = 600 };

/* Random bits: numbers of every size, with special values in front. */
static ir_bits sample(ir_type t, uint32_t i, uint64_t salt)
{
    static const double special[] = {0.0,   -0.0,   1.0,      -1.0,      0.5, -0.5, 2.0,
                                     1e-40, 1e-310, INFINITY, -INFINITY, NAN, 1e30, -1e300};
    uint64_t h = hash_mix(hash_mix(salt, i), 0x51ed27);
    double v = i < ARRAY_LENGTH(special) ? special[(i + salt) % ARRAY_LENGTH(special)]
                                         : ldexp((double)(int64_t)h, (int)(h >> 7 & 127) - 110);
    return t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v);
}

static bool same(ir_type t, ir_bits x, ir_bits y)
{
    double a = t == T_F32 ? (double)ir_f32_bits(x) : ir_f64_bits(x),
           b = t == T_F32 ? (double)ir_f32_bits(y) : ir_f64_bits(y);
    return x == y || (isnan(a) && isnan(b)); /* sign and payload of a NaN are open */
}

static bool has_math(const kernel *k)
{
    for (k_ref s = 1; s < k->stmt.n; s++)
        if (k->stmt.at[s].op == K_LET && ir_ops[k->stmt.at[s].sub].flags & OP_MATH)
            return true;
    return false;
}

static void check_function(ir_op op, ir_type t)
{
    arena a;
    k_builder b;
    const char *why = "";
    arena_init(&a, NULL);
    kernel *k = k_new(&a, ir_ops[op].name, 16);
    k_begin(&b, k);
    k_mem x = k_global(&b, t, false, "x"), y = k_global(&b, t, false, "y"), out = k_global(&b, t, true, "out");
    k_val i = k_for_all(&b, k_i64(&b, POINTS));
    k_val u = k_load(&b, x, i), v = k_load(&b, y, i);
    k_store(&b, out, i, k_let(&b, op, u, v, 0));
    k_end(&b);
    k_expand_math(k);
    assert_false(has_math(k));
    if (!k_verify(k, &a, &why))
        fail_msg("%s: %s", ir_ops[op].name, why);

    size_t size = ir_type_size(t);
    uint8_t memory[3][POINTS * 8];
    for (uint32_t p = 0; p < POINTS; p++)
        for (unsigned j = 0; j < 2; j++) {
            ir_bits bits = sample(t, p, j);
            memcpy(memory[j] + p * size, &bits, size);
        }
    k_error error = {0};
    assert_true(k_interpret(k, &a, (void *[]){memory[0], memory[1], memory[2]}, NULL, 0, 1, &error));
    for (uint32_t p = 0; p < POINTS; p++) {
        ir_bits in[2] = {sample(t, p, 0), sample(t, p, 1)}, expected = 0, got = 0;
        assert_true(ir_op_apply(op, t, t, in, &expected));
        memcpy(&got, memory[2] + p * size, size);
        if (!same(t, expected, got))
            fail_msg("%s(%a, %a): %llx, not %llx", ir_ops[op].name,
                     t == T_F32 ? (double)ir_f32_bits(in[0]) : ir_f64_bits(in[0]),
                     t == T_F32 ? (double)ir_f32_bits(in[1]) : ir_f64_bits(in[1]), (unsigned long long)got,
                     (unsigned long long)expected);
    }
    arena_free(&a);
}

static void every_function_expands_to_the_same_bits(void **state)
{
    (void)state;
#define SN_MATH(ID, name, arity)                                                                                       \
    check_function(OP_##ID, T_F32);                                                                                    \
    check_function(OP_##ID, T_F64);
#include "ir/math/functions.def"
#undef SN_MATH
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_function_expands_to_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
