/* Arrays of structs. */
#include "../program.h"

static sn_scalar times(sn_scalar a, sn_scalar b)
{
    sn_scalar ar = sn_fst(a), ai = sn_snd(a), br = sn_fst(b), bi = sn_snd(b);
    return sn_record("re im", sn_sub(sn_mul(ar, br), sn_mul(ai, bi)), sn_add(sn_mul(ar, bi), sn_mul(ai, br)));
}

static sn_acc complex_product(sn_acc x, sn_acc y)
{
    return sn_zip_with(times, x, y);
}

static sn_scalar times_tuples(sn_scalar a, sn_scalar b)
{
    sn_scalar p = times(a, b);
    return sn_tuple(sn_fst(p), sn_snd(p));
}

static sn_acc complex_product_tuples(sn_acc x, sn_acc y)
{
    return sn_zip_with(times_tuples, x, y);
}

static sn_scalar of_length_1(sn_scalar p)
{
    sn_scalar x = sn_field(p, x), y = sn_field(p, y), z = sn_field(p, z);
    sn_scalar length = sn_sqrt(sn_add(sn_add(sn_mul(x, x), sn_mul(y, y)), sn_mul(z, z)));
    return sn_record("x y z", sn_div(x, length), sn_div(y, length), sn_div(z, length));
}

static sn_acc normalise(sn_acc x)
{
    return sn_map(of_length_1, x);
}

static sn_scalar grey_of(sn_scalar p)
{
    sn_scalar r = sn_to_i32(sn_field(p, r)), g = sn_to_i32(sn_field(p, g)), b = sn_to_i32(sn_field(p, b));
    return sn_to_u8(sn_shr(sn_add(sn_add(sn_mul(r, 77), sn_mul(g, 150)), sn_mul(b, 29)), 8));
}

static sn_acc grey(sn_acc x)
{
    return sn_map(grey_of, x);
}

static sn_scalar brighter(sn_scalar x)
{
    return sn_to_u8(sn_min(sn_add(sn_to_i32(x), 40), 255));
}

static sn_scalar all_brighter(sn_scalar p)
{
    return sn_record("r g b", brighter(sn_field(p, r)), brighter(sn_field(p, g)), brighter(sn_field(p, b)));
}

static sn_acc brighten(sn_acc x)
{
    return sn_map(all_brighter, x);
}

static sn_acc sum_of_field(sn_acc x)
{
    return sn_sum(sn_field(x, y));
}

static sn_scalar greater(sn_scalar a, sn_scalar b)
{
    sn_scalar right = sn_gt(sn_fst(b), sn_fst(a));
    return sn_tuple(sn_if(right, sn_fst(b), sn_fst(a)), sn_if(right, sn_snd(b), sn_snd(a)));
}

static sn_scalar as_tuple(sn_scalar p)
{
    return sn_tuple(sn_field(p, x), sn_field(p, id));
}

static sn_acc argmax_of_field(sn_acc x)
{
    return sn_fold1(greater, sn_map(as_tuple, x));
}

static sn_scalar advanced(sn_scalar p)
{
    sn_scalar vy = sn_sub(sn_field(p, vy), 0.25f);
    return sn_record("x y vx vy", sn_add(sn_field(p, x), sn_mul(sn_field(p, vx), 0.125f)),
                     sn_add(sn_field(p, y), sn_mul(vy, 0.125f)), sn_field(p, vx), vy);
}

static sn_acc advance(sn_acc x)
{
    return sn_map(advanced, x);
}

static sn_scalar pair(sn_scalar x, sn_scalar y)
{
    return sn_record("x y", sn_add(x, y), sn_sub(x, y));
}

static sn_acc from_arrays(sn_acc x, sn_acc y)
{
    return sn_zip_with(pair, x, y);
}

static sn_scalar mix(sn_scalar p)
{
    return sn_add(sn_mul(sn_field(p, a), sn_to_f64(sn_field(p, b))), sn_to_f64(sn_field(p, c)));
}

static sn_acc mixed(sn_acc x)
{
    return sn_map(mix, x);
}

#define NB_GROUP structs
#define NB_TABLE "structs.def"
#include "../table.h"
