/* Programs that compute much for each element, and chains of stencils. */
#include "../../../examples/programs/nbody.h"
#include "../program.h"

void nb_make_axes_f32(const struct nb_call *call);
void nb_make_axes_f64(const struct nb_call *call);
void nb_make_directions(const struct nb_call *call);

/* --- options --- */

static sn_scalar normal_integral(sn_scalar d)
{
    static const float c[] = {0.31938153f, -0.356563782f, 1.781477937f, -1.821255978f, 1.330274429f};
    sn_scalar one = sn_sub(d, sn_sub(d, 1)), k = sn_div(one, sn_add(sn_mul(sn_abs(d), 0.2316419f), 1));
    sn_scalar poly = sn_mul(k, c[4]);
    for (int i = 3; i >= 0; i--)
        poly = sn_mul(sn_add(poly, c[i]), k);
    sn_scalar tail = sn_mul(sn_mul(sn_exp(sn_mul(sn_mul(d, d), -0.5f)), 0.3989422804f), poly);
    return sn_if(sn_gt(d, 0), sn_sub(1, tail), tail);
}

static sn_scalar option(sn_scalar price, sn_scalar strike, sn_scalar years)
{
    sn_scalar spread = sn_mul(sn_sqrt(years), 0.3f);
    sn_scalar d1 = sn_div(sn_add(sn_log(sn_div(price, strike)), sn_mul(years, 0.065f)), spread);
    sn_scalar n1 = normal_integral(d1), n2 = normal_integral(sn_sub(d1, spread));
    sn_scalar discounted = sn_mul(strike, sn_exp(sn_mul(years, -0.02f)));
    sn_scalar call = sn_sub(sn_mul(price, n1), sn_mul(discounted, n2));
    return sn_tuple(call, sn_sub(sn_mul(discounted, sn_sub(1, n2)), sn_mul(price, sn_sub(1, n1))));
}

static sn_acc call_and_put(sn_acc price, sn_acc strike, sn_acc years)
{
    sn_acc both = sn_zip_with(option, price, strike, years);
    return sn_results(sn_fst(both), sn_snd(both));
}

static sn_acc call_and_put_f64(sn_acc price, sn_acc strike, sn_acc years)
{
    return call_and_put(price, strike, years);
}

static sn_acc call_only(sn_acc price, sn_acc strike, sn_acc years)
{
    return sn_fst(sn_zip_with(option, price, strike, years));
}

static sn_acc call_sum(sn_acc price, sn_acc strike, sn_acc years)
{
    return sn_sum(call_only(price, strike, years));
}

/* --- fractals: at most 200 steps while |z| < 2 --- */

struct plane {
    sn_acc ys, xs;
    sn_scalar cr, ci;
    bool third; /* power */
};

static sn_scalar inside(void *env, sn_scalar zr, sn_scalar zi, sn_scalar count)
{
    (void)env;
    return sn_land(sn_lt(sn_add(sn_mul(zr, zr), sn_mul(zi, zi)), 4), sn_lt(count, 200));
}

static sn_scalar power_step(void *env, sn_scalar zr, sn_scalar zi, sn_scalar count)
{
    const struct plane *p = env;
    sn_scalar r = sn_sub(sn_mul(zr, zr), sn_mul(zi, zi)), i = sn_mul(sn_add(zr, zr), zi);
    if (p->third) {
        sn_scalar r2 = r;
        r = sn_sub(sn_mul(r2, zr), sn_mul(i, zi));
        i = sn_add(sn_mul(r2, zi), sn_mul(i, zr));
    }
    return sn_tuple(sn_add(r, p->cr), sn_add(i, p->ci), sn_add(count, 1));
}

static sn_scalar steps_from(struct plane *p, sn_scalar zr, sn_scalar zi)
{
    sn_scalar start = sn_tuple(zr, zi, sn_i32(0));
    return sn_get(sn_while(sn_closure(inside, p), sn_closure(power_step, p), start), 2);
}

static sn_scalar escape(void *env, sn_scalar y, sn_scalar x)
{
    struct plane p = *(const struct plane *)env;
    p.cr = x;
    p.ci = y;
    return steps_from(&p, sn_sub(x, x), sn_sub(y, y));
}

static sn_scalar escape_julia(void *env, sn_scalar y, sn_scalar x)
{
    struct plane p = *(const struct plane *)env;
    p.cr = sn_f32(-0.75f);
    p.ci = sn_f32(0.125f);
    return steps_from(&p, x, y);
}

static sn_acc over_plane(sn_acc ys, sn_acc xs, sn_fn f)
{
    return sn_zip_with(f, sn_replicate(ys, SN_ALL, sn_size(xs)), sn_replicate(xs, sn_size(ys), SN_ALL));
}

static sn_acc mandelbrot(sn_acc ys, sn_acc xs)
{
    struct plane p = {.third = false};
    return over_plane(ys, xs, sn_closure(escape, &p));
}

static sn_acc cubic(sn_acc ys, sn_acc xs)
{
    struct plane p = {.third = true};
    return over_plane(ys, xs, sn_closure(escape, &p));
}

static sn_acc julia(sn_acc ys, sn_acc xs)
{
    struct plane p = {.third = false};
    return over_plane(ys, xs, sn_closure(escape_julia, &p));
}

/* --- all pairs --- */

static sn_scalar add_pairs(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_add(sn_snd(a), sn_snd(b)));
}

static sn_scalar softened(sn_scalar dx, sn_scalar dy)
{
    return sn_add(sn_add(sn_mul(dx, dx), sn_mul(dy, dy)), 0.0625f);
}

static sn_scalar pull(sn_scalar here, sn_scalar there)
{
    sn_scalar dx = sn_sub(sn_fst(there), sn_fst(here)), dy = sn_sub(sn_snd(there), sn_snd(here));
    sn_scalar square = softened(dx, dy);
    return sn_tuple(sn_div(dx, square), sn_div(dy, square));
}

static sn_scalar inverse_distance(sn_scalar here, sn_scalar there)
{
    sn_scalar dx = sn_sub(sn_fst(there), sn_fst(here)), dy = sn_sub(sn_snd(there), sn_snd(here));
    return sn_div(sn_f32(1), sn_sqrt(softened(dx, dy)));
}

static sn_acc pairs(sn_fn f, sn_acc x)
{
    return sn_zip_with(f, sn_replicate(x, SN_ALL, sn_size(x)), sn_replicate(x, sn_size(x), SN_ALL));
}

static sn_acc forces(sn_acc x)
{
    return sn_fold(add_pairs, sn_tuple(0, 0), pairs(sn_fn_2(pull), x));
}

static sn_acc potential(sn_acc x)
{
    return sn_fold_all(sn_add, 0, pairs(sn_fn_2(inverse_distance), x));
}

static sn_acc potential_each(sn_acc x)
{
    return sn_sum(pairs(sn_fn_2(inverse_distance), x));
}

/* --- pictures --- */

static sn_scalar grey(sn_scalar r, sn_scalar g, sn_scalar b)
{
    return sn_add(sn_add(sn_mul(sn_to_f32(r), 0.299f), sn_mul(sn_to_f32(g), 0.587f)), sn_mul(sn_to_f32(b), 0.114f));
}

static sn_scalar weigh(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar e)
{
    return sn_mul(sn_add(sn_add(sn_add(a, e), sn_mul(sn_add(b, d), 4)), sn_mul(c, 6)), 1.0f / 16);
}

static sn_scalar across(sn_scalar s)
{
    return weigh(sn_at(s, 0, -2), sn_at(s, 0, -1), sn_at(s, 0, 0), sn_at(s, 0, 1), sn_at(s, 0, 2));
}

static sn_scalar down(sn_scalar s)
{
    return weigh(sn_at(s, -2, 0), sn_at(s, -1, 0), sn_at(s, 0, 0), sn_at(s, 1, 0), sn_at(s, 2, 0));
}

static sn_acc blur(sn_acc x)
{
    return sn_stencil(down, sn_pattern(5, 1), sn_clamp, sn_stencil(across, sn_pattern(1, 5), sn_clamp, x));
}

static sn_acc grey_blur(sn_acc r, sn_acc g, sn_acc b)
{
    return blur(sn_zip_with(grey, r, g, b));
}

static sn_scalar one_two_one(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_add(sn_add(a, c), sn_mul(b, 2));
}

static sn_scalar magnitude(sn_scalar s)
{
    sn_scalar dx = sn_sub(one_two_one(sn_at(s, -1, 1), sn_at(s, 0, 1), sn_at(s, 1, 1)),
                          one_two_one(sn_at(s, -1, -1), sn_at(s, 0, -1), sn_at(s, 1, -1)));
    sn_scalar dy = sn_sub(one_two_one(sn_at(s, 1, -1), sn_at(s, 1, 0), sn_at(s, 1, 1)),
                          one_two_one(sn_at(s, -1, -1), sn_at(s, -1, 0), sn_at(s, -1, 1)));
    return sn_sqrt(sn_add(sn_mul(dx, dx), sn_mul(dy, dy)));
}

static sn_acc blur_sobel(sn_acc x)
{
    return sn_stencil(magnitude, sn_pattern(3, 3), sn_clamp, blur(x));
}

static sn_scalar ahead(sn_scalar s, sn_scalar direction, int way)
{
    sn_scalar rest = sn_if(sn_eq(direction, 2), sn_at(s, way, way), sn_at(s, way, -way));
    return sn_if(sn_eq(direction, 0), sn_at(s, 0, way), sn_if(sn_eq(direction, 1), sn_at(s, way, 0), rest));
}

static sn_scalar only_largest(sn_scalar s, sn_scalar t)
{
    sn_scalar here = sn_at(s, 0, 0), direction = sn_at(t, 0, 0);
    sn_scalar most = sn_land(sn_ge(here, ahead(s, direction, 1)), sn_ge(here, ahead(s, direction, -1)));
    return sn_if(most, here, 0);
}

static sn_acc suppress(sn_acc x, sn_acc direction)
{
    return sn_stencil2(only_largest, sn_pattern(3, 3), sn_clamp, x, sn_pattern(1, 1), sn_clamp, direction);
}

#define NB_GROUP compute
#define NB_TABLE "compute.def"
#include "../table.h"
