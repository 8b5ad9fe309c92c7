/* The elementary functions as plain C functions: what the interpreter calls and what every emitter's expansion must
   agree with bit for bit (sign and payload of NaNs excepted). Pure, thread-safe, total; errno and the floating-point
   flags mean nothing. At most 2 ulp; special values as in C99 Annex F. */
#ifndef SINTER_IR_MATH_MATH_C_H
#define SINTER_IR_MATH_MATH_C_H

typedef enum {
#define SN_MATH(id, name, arity) SN_MATH_##id,
#include "ir/math/functions.def"
#undef SN_MATH
    SN_MATH_COUNT
} sn_math_id;

#define SN_MATH_PARAMS_F32_1 float
#define SN_MATH_PARAMS_F32_2 float, float
#define SN_MATH_PARAMS_F64_1 double
#define SN_MATH_PARAMS_F64_2 double, double
#define SN_MATH(id, name, arity)                                                                                       \
    float sn_math_##name##_f32(SN_MATH_PARAMS_F32_##arity);                                                            \
    double sn_math_##name##_f64(SN_MATH_PARAMS_F64_##arity);
#include "ir/math/functions.def"
#undef SN_MATH

/* One row of the table of functions. Of the four pointers the two that fit the arity are set. */
typedef struct {
    const char *name; /* "exp" */
    int arity;        /* 1 or 2 */
    float (*f32_1)(float);
    float (*f32_2)(float, float);
    double (*f64_1)(double);
    double (*f64_2)(double, double);
} sn_math_function;

/* The row of `id`; constant, indexed by sn_math_id. */
const sn_math_function *sn_math_lookup(sn_math_id id);

#endif
