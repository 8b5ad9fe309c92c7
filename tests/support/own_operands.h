/* Operands for the operators that only elementary functions use: inside the range in which devices promise a result,
 * and no NaN where its bits would show. */
#ifndef SINTER_TESTS_OWN_OPERANDS_H
#define SINTER_TESTS_OWN_OPERANDS_H

#include "kernel/kernel.h"

static inline k_val own_number(k_builder *b, ir_type t, double v)
{
    return k_literal(b, t, t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v));
}

static inline k_val own_between(k_builder *b, ir_type t, double low, k_val x, double high)
{
    return k_let(b, OP_MIN, k_let(b, OP_MAX, x, own_number(b, t, low), 0), own_number(b, t, high), 0);
}

/* x as operand number i of op; x itself if there is nothing to mind. */
static inline k_val own_operand(k_builder *b, ir_op op, ir_type t, unsigned i, k_val x)
{
    if (ir_ops[op].signature != SIGNATURE_OWN || op == OP_EXPONENT || op == OP_SIGNIFICAND || i > 1)
        return x;
    if (op != OP_SCALE)
        return k_select(b, k_let(b, OP_IS_NAN, x, 0, 0), own_number(b, t, 1), x);
    double most = t == T_F32 ? 250 : 2000;
    if (i == 1)
        return own_between(b, t, -most, x, most);
    k_val size = own_between(b, t, 0x1p-60, k_let(b, OP_ABS, x, 0, 0), 0x1p60);
    return k_select(b, k_let(b, OP_LT, x, own_number(b, t, 0), 0), k_let(b, OP_NEG, size, 0, 0), size);
}

#endif
