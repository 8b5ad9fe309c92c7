/* Exact values of the elementary functions, by MPFR. */
#include "math_reference.h"

#include <math.h>
#include <mpfr.h>
#include <stdbool.h>

enum { PRECISION = 160 };

const reference_format reference_f32 = {24, -126, 128};
const reference_format reference_f64 = {53, -1022, 1024};

static void evaluate(mpfr_t out, sn_math_id id, double x, double y)
{
    mpfr_t a, b;
    mpfr_init2(a, 53);
    mpfr_init2(b, 53);
    mpfr_set_d(a, x, MPFR_RNDN);
    mpfr_set_d(b, y, MPFR_RNDN);
#define CALL_1(name) mpfr_##name(out, a, MPFR_RNDN)
#define CALL_2(name) mpfr_##name(out, a, b, MPFR_RNDN)
    switch (id) {
#define SN_MATH(id, name, arity)                                                                                       \
    case SN_MATH_##id:                                                                                                 \
        CALL_##arity(name);                                                                                            \
        break;
#include "ir/math/functions.def"
#undef SN_MATH
    case SN_MATH_COUNT:
        break;
    }
    mpfr_clear(a);
    mpfr_clear(b);
}

static double distance(const mpfr_t want, const reference_format *format, double got)
{
    enum { WRONG = 1000000000 };
    if (mpfr_nan_p(want) || isnan(got)) {
        return mpfr_nan_p(want) && isnan(got) ? 0 : WRONG;
    }
    if (mpfr_inf_p(want)) {
        return got == mpfr_get_d(want, MPFR_RNDN) ? 0 : WRONG;
    }
    if (mpfr_zero_p(want)) {
        return got == 0 && !signbit(got) == !mpfr_signbit(want) ? 0 : WRONG;
    }
    if (got == 0 && !signbit(got) != !mpfr_signbit(want)) {
        return WRONG;
    }
    mpfr_t difference;
    mpfr_init2(difference, PRECISION);
    if (isinf(got)) {
        mpfr_set_ui_2exp(difference, 1, format->max_exp, MPFR_RNDN);
        if (got < 0) {
            mpfr_neg(difference, difference, MPFR_RNDN);
        }
    } else {
        mpfr_set_d(difference, got, MPFR_RNDN);
    }
    long exponent = mpfr_get_exp(want) - 1; /* MPFR's mantissas are below 1 */
    bool overflow = exponent >= format->max_exp && isinf(got) && !signbit(got) == !mpfr_signbit(want);
    if (exponent < format->min_exp) {
        exponent = format->min_exp;
    }
    mpfr_sub(difference, difference, want, MPFR_RNDN);
    mpfr_mul_2si(difference, difference, format->bits - 1 - exponent, MPFR_RNDN);
    double error = overflow ? 0 : fabs(mpfr_get_d(difference, MPFR_RNDN));
    mpfr_clear(difference);
    return error;
}

double reference_error(sn_math_id id, const reference_format *format, double x, double y, double got)
{
    mpfr_t want;
    mpfr_init2(want, PRECISION);
    evaluate(want, id, x, y);
    double error = distance(want, format, got);
    mpfr_clear(want);
    return error;
}

double reference_value(sn_math_id id, double x, double y)
{
    mpfr_t want;
    mpfr_init2(want, PRECISION);
    evaluate(want, id, x, y);
    double value = mpfr_get_d(want, MPFR_RNDN);
    mpfr_clear(want);
    return value;
}
