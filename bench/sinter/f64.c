/* The programs of the first rows in f64. */
#include "../side.h"

#define SIDE(name, signature, body, ...)                                                                               \
    static void *open_##name(void *data)                                                                               \
    {                                                                                                                  \
        (void)data;                                                                                                    \
        return side_open(signature, SN_BODY(body));                                                                    \
    }                                                                                                                  \
    static int run_##name(void *state, void *data)                                                                     \
    {                                                                                                                  \
        struct side *s = state;                                                                                        \
        struct typed_data *d = data;                                                                                   \
        int64_t n = d->base.n;                                                                                         \
        (void)n;                                                                                                       \
        return side_ok(s, sn_call(s->program, __VA_ARGS__));                                                           \
    }                                                                                                                  \
    const struct bench_side sinter_##name = {open_##name, run_##name, side_close};

static const double *in(const struct typed_data *d, int k)
{
    return d->in[k];
}

static double *out(const struct typed_data *d)
{
    return d->sinter;
}

static sn_scalar axpy(void *env, sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(*(sn_scalar *)env, x), y);
}

static sn_acc saxpy(sn_acc a, sn_acc xs, sn_acc ys)
{
    sn_scalar factor = sn_the(a);
    return sn_zip_with(sn_closure(axpy, &factor), xs, ys);
}

SIDE(saxpy_f64, "f64, [n]f64, [n]f64 -> [n]f64", saxpy, sn_value(&d->a), sn_in(in(d, 0), n), sn_in(in(d, 1), n),
     sn_into(out(d), n))

static sn_acc dot(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

SIDE(dot_f64, "[n]f64, [n]f64 -> f64", dot, sn_in(in(d, 0), n), sn_in(in(d, 1), n), sn_value(out(d)))

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc meanvar(sn_acc xs)
{
    sn_scalar n = sn_to_f64(sn_size(xs));
    sn_scalar mean = sn_div(sn_the(sn_fold(sn_add, 0, xs)), n);
    sn_scalar squares = sn_div(sn_the(sn_fold(sn_add, 0, sn_map(square, xs))), n);
    return sn_results(sn_unit(mean), sn_unit(sn_sub(squares, sn_mul(mean, mean))));
}

SIDE(meanvar_f64, "[n]f64 -> f64, f64", meanvar, sn_in(in(d, 0), n), sn_value(out(d)), sn_value(out(d) + 1))

static sn_scalar with_index(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, sn_to_i32(i));
}

static sn_scalar greater(sn_scalar a, sn_scalar b)
{
    sn_scalar right = sn_gt(sn_fst(b), sn_fst(a));
    return sn_tuple(sn_if(right, sn_fst(b), sn_fst(a)), sn_if(right, sn_snd(b), sn_snd(a)));
}

static sn_acc argmax(sn_acc xs)
{
    return sn_fold1(greater, sn_imap(with_index, xs));
}

SIDE(argmax_f64, "[n]f64 -> (f64, i32)", argmax, sn_in(in(d, 0), n), sn_value(&((struct peak_f64 *)d->sinter)->value),
     sn_value(&((struct peak_f64 *)d->sinter)->index))

static sn_acc rowsums(sn_acc x)
{
    return sn_fold(sn_add, 0, x);
}

SIDE(rowsums_f64, "[n,m]f64 -> [n]f64", rowsums, sn_in(in(d, 0), d->rows, d->columns), sn_into(out(d), d->rows))

/* --- Black-Scholes, as examples/programs/blackscholes.h in f64 --- */

static sn_scalar normal_integral(sn_scalar d)
{
    static const double c[] = {0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429};
    sn_scalar k = sn_div(sn_f64(1), sn_add(sn_mul(sn_abs(d), 0.2316419), 1));
    sn_scalar poly = sn_f64(c[4]);
    for (int i = 3; i >= 0; i--)
        poly = sn_add(sn_mul(poly, k), sn_f64(c[i]));
    sn_scalar tail = sn_mul(sn_mul(sn_exp(sn_mul(sn_mul(d, d), -0.5)), 0.39894228040143268), sn_mul(poly, k));
    return sn_if(sn_gt(d, 0), sn_sub(sn_f64(1), tail), tail);
}

static sn_scalar option(sn_scalar price, sn_scalar strike, sn_scalar years)
{
    const double r = 0.02, v = 0.30;
    sn_scalar spread = sn_mul(sn_sqrt(years), v);
    sn_scalar d1 = sn_div(sn_add(sn_log(sn_div(price, strike)), sn_mul(years, r + 0.5 * v * v)), spread);
    sn_scalar n1 = normal_integral(d1), n2 = normal_integral(sn_sub(d1, spread));
    sn_scalar discounted = sn_mul(strike, sn_exp(sn_mul(years, -r)));
    sn_scalar call = sn_sub(sn_mul(price, n1), sn_mul(discounted, n2));
    sn_scalar put = sn_sub(sn_mul(discounted, sn_sub(sn_f64(1), n2)), sn_mul(price, sn_sub(sn_f64(1), n1)));
    return sn_tuple(call, put);
}

static sn_acc blackscholes(sn_acc price, sn_acc strike, sn_acc years)
{
    return sn_zip_with(option, price, strike, years);
}

SIDE(blackscholes_f64, "[n]f64, [n]f64, [n]f64 -> [n](f64, f64)", blackscholes, sn_in(in(d, 0), n), sn_in(in(d, 1), n),
     sn_in(in(d, 2), n), sn_into(out(d), n), sn_into(out(d) + n, n))

/* --- Mandelbrot, as examples/programs/mandelbrot.h in f64 --- */

struct pixel {
    sn_scalar left, top, step, limit, cr, ci;
};

static sn_scalar inside(void *env, sn_scalar zr, sn_scalar zi, sn_scalar count)
{
    const struct pixel *p = env;
    return sn_land(sn_lt(sn_add(sn_mul(zr, zr), sn_mul(zi, zi)), 4), sn_lt(count, p->limit));
}

static sn_scalar step(void *env, sn_scalar zr, sn_scalar zi, sn_scalar count)
{
    const struct pixel *p = env;
    sn_scalar r = sn_add(sn_sub(sn_mul(zr, zr), sn_mul(zi, zi)), p->cr);
    sn_scalar i = sn_add(sn_mul(sn_add(zr, zr), zi), p->ci);
    return sn_tuple(r, i, sn_add(count, 1));
}

static sn_scalar escape(void *env, sn_scalar row, sn_scalar column)
{
    struct pixel p = *(const struct pixel *)env;
    p.cr = sn_add(sn_mul(sn_to_f64(column), p.step), p.left);
    p.ci = sn_add(sn_mul(sn_to_f64(row), p.step), p.top);
    sn_scalar start = sn_tuple(sn_f64(0), sn_f64(0), sn_i32(0));
    return sn_get(sn_while(sn_closure(inside, &p), sn_closure(step, &p), start), 2);
}

static sn_acc mandelbrot(void *env, int count, const sn_acc *parameter)
{
    const struct typed_data *d = env;
    (void)count;
    struct pixel p = {.left = sn_the(parameter[0]), .top = sn_the(parameter[1]), .step = sn_the(parameter[2])};
    p.limit = sn_the(parameter[3]);
    return sn_generate(sn_shape(d->rows, d->columns), sn_closure(escape, &p));
}

static void *open_mandelbrot(void *data)
{
    const struct typed_data *d = data;
    char signature[80];
    snprintf(signature, sizeof signature, "f64, f64, f64, i32 -> [%lld,%lld]i32", (long long)d->rows,
             (long long)d->columns);
    return side_open(signature, sn_body_env(mandelbrot, data));
}

static int run_mandelbrot(void *state, void *data)
{
    struct side *s = state;
    struct typed_data *d = data;
    return side_ok(s, sn_call(s->program, sn_value(&d->view.left), sn_value(&d->view.top), sn_value(&d->view.step),
                              sn_value(&d->limit), sn_into((int32_t *)d->sinter, d->rows, d->columns)));
}

const struct bench_side sinter_mandelbrot_f64 = {open_mandelbrot, run_mandelbrot, side_close};
