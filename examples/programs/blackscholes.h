/* European options by Black and Scholes: the call's and the put's value from the stock's price, the strike and the years. */
#ifndef PROGRAMS_BLACKSCHOLES_H
#define PROGRAMS_BLACKSCHOLES_H

#include <sinter/sinter.h>

#define BLACKSCHOLES_SIGNATURE "[n]f32, [n]f32, [n]f32 -> [n]f32, [n]f32"
#define BLACKSCHOLES_RATE 0.02f
#define BLACKSCHOLES_VOLATILITY 0.30f

/* the normal distribution's integral, by Abramowitz and Stegun 26.2.17 */
static sn_scalar normal_integral(sn_scalar d)
{
    static const float c[] = {0.31938153f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
    sn_scalar k = sn_div(sn_f32(1), sn_add(sn_mul(sn_abs(d), 0.2316419f), 1));
    sn_scalar poly = sn_f32(c[4]);
    for (int i = 3; i >= 0; i--)
        poly = sn_add(sn_mul(poly, k), sn_f32(c[i]));
    sn_scalar tail = sn_mul(sn_mul(sn_exp(sn_mul(sn_mul(d, d), -0.5f)), 0.3989422804f), sn_mul(poly, k));
    return sn_if(sn_gt(d, 0), sn_sub(sn_f32(1), tail), tail);
}

static sn_scalar blackscholes_option(sn_scalar price, sn_scalar strike, sn_scalar years)
{
    const float r = BLACKSCHOLES_RATE, v = BLACKSCHOLES_VOLATILITY;
    sn_scalar spread = sn_mul(sn_sqrt(years), v);
    sn_scalar d1 = sn_div(sn_add(sn_log(sn_div(price, strike)), sn_mul(years, r + 0.5f * v * v)), spread);
    sn_scalar n1 = normal_integral(d1), n2 = normal_integral(sn_sub(d1, spread));
    sn_scalar discounted = sn_mul(strike, sn_exp(sn_mul(years, -r)));
    sn_scalar call = sn_sub(sn_mul(price, n1), sn_mul(discounted, n2));
    sn_scalar put = sn_sub(sn_mul(discounted, sn_sub(sn_f32(1), n2)), sn_mul(price, sn_sub(sn_f32(1), n1)));
    return sn_tuple(call, put);
}

static sn_acc blackscholes(sn_acc price, sn_acc strike, sn_acc years)
{
    sn_acc both = sn_zip_with(blackscholes_option, price, strike, years);
    return sn_results(sn_fst(both), sn_snd(both));
}

#endif
