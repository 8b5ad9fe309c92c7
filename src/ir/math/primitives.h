/* What the operators mean that only the texts of the elementary functions use (the last group of ops.def), as C
 * functions, and the tables behind those that look something up. Pure, thread-safe; the exact bits are part of the
 * contract, but for sign and payload of NaNs. */
#ifndef SINTER_IR_MATH_PRIMITIVES_H
#define SINTER_IR_MATH_PRIMITIVES_H

#include "ir/ops.h"

/* a * 2^n, n the largest whole number not above b. Devices promise this where ir_op_open says no. */
float sn_scale_f32(float a, float b);
double sn_scale_f64(double a, double b);

/* x = m 2^k with 3/4 <= m < 3/2: k and m. k is -inf for a zero, with m = 1 of its sign, and inf for inf, with m = 1;
 * both are NaNs for a NaN and below zero. */
float sn_exponent_f32(float x);
double sn_exponent_f64(double x);
float sn_significand_f32(float x);
double sn_significand_f64(double x);

/* SN_TABLE(ID, name): look_<name> gives the entry whose number is in the lowest bits of its operand. */
#define SN_TABLES                                                                                                      \
    SN_TABLE(POWER, power)                                                                                             \
    SN_TABLE(POWER_LOW, power_low)                                                                                     \
    SN_TABLE(RECIPROCAL, reciprocal)                                                                                   \
    SN_TABLE(LOGARITHM, logarithm)

/* The counts are 8 or 16. */
typedef struct {
    unsigned count_f32, count_f64;
    const float *f32;
    const double *f64;
} sn_table;

#define SN_TABLE(ID, name)                                                                                             \
    extern const sn_table sn_table_##name;                                                                             \
    float sn_look_##name##_f32(float x);                                                                               \
    double sn_look_##name##_f64(double x);
SN_TABLES
#undef SN_TABLE

/* The table that the operator looks something up in; NULL: none. */
static inline const sn_table *sn_table_of(ir_op op)
{
    switch (op) {
#define SN_TABLE(ID, name)                                                                                             \
    case OP_LOOK_##ID:                                                                                                 \
        return &sn_table_##name;
        SN_TABLES
#undef SN_TABLE
    default:
        return NULL;
    }
}

#endif
