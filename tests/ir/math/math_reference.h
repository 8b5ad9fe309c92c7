/* Exact values of the elementary functions, by MPFR, and the distance of a result from them in ulp. */
#ifndef SINTER_TESTS_IR_MATH_REFERENCE_H
#define SINTER_TESTS_IR_MATH_REFERENCE_H

#include "ir/math/math_c.h"

typedef struct {
    int bits;    /* of the mantissa: 24 or 53 */
    int min_exp; /* exponent of the smallest normal number: -126 or -1022 */
    int max_exp; /* numbers are below 2^max_exp: 128 or 1024 */
} reference_format;

extern const reference_format reference_f32, reference_f64;

/* Error of `got` as f(x, y) (y is ignored by functions of one argument) in units of the last place of the exact value,
   subnormal steps included. An infinity counts as 2^max_exp. A NaN where none is due (or none where one is due), or a
   zero of the wrong sign where the function is exactly zero, is an error of 1e9. */
double reference_error(sn_math_id id, const reference_format *format, double x, double y, double got);

/* f(x, y) rounded to f64, for messages. */
double reference_value(sn_math_id id, double x, double y);

#endif
