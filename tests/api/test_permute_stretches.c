/* Permutes whose elements are made from their indices: along rows of any length, in lanes that have several elements,
 * in several tables of few places, and where many elements go nowhere. The bits are the interpreter's. */
#include "both.h"

/* --- rows --- */

static sn_scalar case_at(void *x, sn_scalar i, sn_scalar j)
{
    sn_scalar code = sn_i32(0);
    for (int k = 0; k < 4; k++)
        code = sn_bit_or(code, sn_if(sn_gt(sn_index(*(sn_acc *)x, sn_add(i, k / 2), sn_add(j, k % 2)), 0),
                                     sn_i32(1 << k), sn_i32(0)));
    return code;
}

static sn_acc cases_of(sn_acc *x)
{
    return sn_generate(sn_shape(sn_sub(sn_extent(*x, 0), 1), sn_sub(sn_extent(*x, 1), 1)), sn_closure(case_at, x));
}

/* How often each combination of neighbours is there. */
static sn_acc cases(sn_acc x)
{
    return sn_histogram(16, sn_flatten(cases_of(&x)));
}

/* The same where some of them have no place, which is an error. */
static sn_acc few_cases(sn_acc x)
{
    return sn_histogram(15, sn_flatten(cases_of(&x)));
}

static sn_scalar place_of(sn_scalar i, sn_scalar j)
{
    sn_scalar y = sn_to_i32(i), x = sn_to_i32(j);
    return sn_tuple(y, x, y, x);
}

static sn_scalar boxes(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_min(sn_get(a, 0), sn_get(b, 0)), sn_min(sn_get(a, 1), sn_get(b, 1)),
                    sn_max(sn_get(a, 2), sn_get(b, 2)), sn_max(sn_get(a, 3), sn_get(b, 3)));
}

/* The corners of each label's box. */
static sn_acc corners(sn_acc x)
{
    sn_scalar none = sn_tuple(sn_i32(INT32_MAX), sn_i32(INT32_MAX), sn_i32(-1), sn_i32(-1));
    sn_acc labels = sn_map(sn_abs, x);
    return sn_reduce_by_key(boxes, none, 8, sn_flatten(labels), sn_flatten(sn_generate(sn_shape_of(x), place_of)));
}

static sn_scalar least_and_greatest(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_max(sn_get(a, 0), sn_get(b, 0)), sn_min(sn_get(a, 1), sn_get(b, 1)),
                    sn_max(sn_get(b, 2), sn_get(a, 2)));
}

static sn_scalar thrice(sn_scalar x)
{
    return sn_tuple(x, x, sn_sub(0, x));
}

static sn_scalar key_at(void *keys, sn_scalar i)
{
    return sn_index(*(sn_acc *)keys, i);
}

static sn_acc extremes(sn_acc defaults, sn_acc keys, sn_acc x)
{
    return sn_permute(least_and_greatest, defaults, sn_closure(key_at, &keys), sn_map(thrice, x));
}

static sn_scalar vote_of(void *env, sn_scalar i, sn_scalar j, sn_scalar a)
{
    sn_scalar here = sn_index(*(sn_acc *)env, i, j);
    sn_scalar bin = sn_add(sn_shr(sn_add(sn_mul(j, a), sn_mul(i, 3)), 5), 2);
    return sn_tuple(a, sn_if(sn_gt(here, 2), bin, sn_ignore()));
}

/* Rows of which most go nowhere: votes in [a, 64]. */
static sn_acc votes(sn_acc x, sn_acc angles)
{
    sn_scalar a = sn_size(angles);
    return sn_histogram(sn_shape(a, 64), sn_flatten(sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), a),
                                                                sn_closure(vote_of, &x))));
}

struct places {
    sn_acc x;
    sn_scalar n;
};

/* Two of five go nowhere. */
static sn_scalar around(void *env, sn_scalar i, sn_scalar j)
{
    const struct places *p = env;
    sn_scalar to = sn_add(sn_mul(i, 7), sn_to_i64(sn_abs(sn_index(p->x, i, j))));
    return sn_if(sn_lt(sn_rem(sn_add(i, j), 5), 2), sn_ignore(), sn_rem(to, p->n));
}

static sn_scalar turned(void *x, sn_scalar i, sn_scalar j)
{
    sn_scalar other = sn_index(*(sn_acc *)x, i, sn_sub(sn_sub(sn_extent(*(sn_acc *)x, 1), 1), j));
    return sn_if(sn_eq(sn_rem(i, 3), 1), other, sn_add(sn_sqrt(sn_abs(other)), sn_index(*(sn_acc *)x, i, j)));
}

/* Sums whose order matters. */
static sn_acc sums(sn_acc defaults, sn_acc x)
{
    struct places p = {x, sn_size(defaults)};
    return sn_permute(sn_add, defaults, sn_closure(around, &p), sn_generate(sn_shape_of(x), sn_closure(turned, &x)));
}

static sn_scalar latter(sn_scalar new, sn_scalar old)
{
    (void)old;
    return new;
}

static sn_acc last_ones(sn_acc defaults, sn_acc x)
{
    struct places p = {x, sn_size(defaults)};
    return sn_permute(latter, defaults, sn_closure(around, &p), sn_generate(sn_shape_of(x), sn_closure(turned, &x)));
}

/* --- lanes of several elements --- */

struct elements {
    sn_acc nodes, u, factor;
};

static sn_scalar force_of(void *env, sn_scalar e, sn_scalar k)
{
    const struct elements *of = env;
    sn_scalar u[4], sum = sn_index(of->factor, e);
    for (int c = 0; c < 4; c++)
        u[c] = sn_index(of->u, sn_index(of->nodes, e, c));
    for (int c = 0; c < 4; c++)
        sum = sn_if(sn_eq(k, c), sn_sub(sn_mul(u[c], sn_index(of->factor, e)), u[(c + 1) % 4]), sum);
    return sum;
}

static sn_scalar node_of(void *env, sn_scalar e, sn_scalar k)
{
    return sn_index(((const struct elements *)env)->nodes, e, k);
}

/* Each element gives something to its four nodes. */
static sn_acc forces(sn_acc u, sn_acc nodes, sn_acc factor)
{
    struct elements of = {nodes, u, factor};
    return sn_permute(sn_add, sn_map(sn_abs, u), sn_closure(node_of, &of),
                      sn_generate(sn_shape_of(nodes), sn_closure(force_of, &of)));
}

/* Some nodes are not there. */
static sn_acc wrong_forces(sn_acc u, sn_acc nodes, sn_acc factor)
{
    struct elements of = {nodes, u, factor};
    return sn_permute(sn_add, sn_take(sn_sub(sn_size(u), 1), u), sn_closure(node_of, &of),
                      sn_generate(sn_shape_of(nodes), sn_closure(force_of, &of)));
}

static sn_scalar third_of(void *x, sn_scalar i)
{
    sn_scalar k = sn_rem(i, 3), v = sn_index(*(sn_acc *)x, sn_quot(i, 3));
    return sn_if(sn_eq(k, 0), v, sn_if(sn_eq(k, 1), sn_mul(v, v), sn_sub(1, v)));
}

static sn_scalar key_of_thirds(void *keys, sn_scalar i)
{
    return sn_index(*(sn_acc *)keys, sn_quot(i, 3));
}

/* Three elements of each, in one dimension. */
static sn_acc thirds(sn_acc defaults, sn_acc keys, sn_acc x)
{
    return sn_permute(sn_add, defaults, sn_closure(key_of_thirds, &keys),
                      sn_generate(sn_shape(sn_mul(sn_size(x), 3)), sn_closure(third_of, &x)));
}

/* --- few places --- */

static sn_acc sums_by_key(sn_acc defaults, sn_acc keys, sn_acc x)
{
    return sn_permute(sn_add, defaults, sn_closure(key_at, &keys), x);
}

static sn_acc products_by_key(sn_acc defaults, sn_acc keys, sn_acc x)
{
    return sn_permute(sn_mul, defaults, sn_closure(key_at, &keys), x);
}

static sn_acc greatest_by_key(sn_acc defaults, sn_acc keys, sn_acc x)
{
    return sn_permute(sn_max, defaults, sn_closure(key_at, &keys), x);
}

static sn_acc numbers(sn_acc defaults, sn_acc keys)
{
    return sn_histogram(sn_size(defaults), keys);
}

#define GRIDS 0, 5, 2, 2, 5, 3, 40, 17, 300, 33, 33, 300, 1, 700, 1000, 7, 9000, 16, 4000, 33, 333, 777, 3, 70001
#define BY_GRIDS                                                                                                       \
    1, 0, 5, 3, 40, 17, 7, 300, 33, 100, 33, 300, 1, 1, 700, 1000, 1000, 7, 5, 9000, 16, 300, 4000, 33, 70001, 333,    \
        777, 16, 3, 70001
#define BY_SIZES 1, 0, 3, 7, 5, 100, 300, 4099, 16, 40001, 7, 65537, 33, 70001, 1024, 70001, 16, 200003, 50000, 70001

static void along_rows(void **env)
{
    (void)env;
    both("[n,m]T -> [16]i64", cases, "f32 i16 f64", SMALL, GRIDS);
    both("[n,m]T -> [15]i64", few_cases, "f32", SMALL, GRIDS);
    both("[n,m]T -> [8](i32,i32,i32,i32)", corners, "i32 u8", SMALL, GRIDS);
    both("[n,m]T, [a]u8 -> [a,64]i64", votes, "f32 u8", SMALL, 0, 3, 3, 3, 0, 5, 17, 20, 3, 40, 50, 16, 40, 50, 33, 9,
         300, 32, 60, 70, 40);
}

static void sums_along_rows(void **env)
{
    (void)env;
    both("[k]T, [n,m]T -> [k]T", sums, FLOATS, POSITIVE, BY_GRIDS);
    both("[k]T, [n,m]T -> [k]T", last_ones, FLOATS, POSITIVE, BY_GRIDS);
}

static void several_of_a_lane(void **env)
{
    (void)env;
    both("[v]T, [e,4]i32, [e]T -> [v]T", forces, FLOATS, INDICES, BY_SIZES);
    both("[v]T, [e,4]i64, [e]T -> [v]T", forces, "f32", INDICES, BY_SIZES);
    both("[v]T, [e,4]i32, [e]T -> [w]T", wrong_forces, "f64", INDICES, 1, 0, 0, 3, 5, 2, 7, 3000, 6, 50000, 100, 49999);
    both("[k]T, [n]i64, [n]T -> [k]T", thirds, "f32 i64 u8", INDICES, BY_SIZES);
}

static void in_several_tables(void **env)
{
    (void)env;
    both("[k]T, [n]i64, [n]T -> [k]T", sums_by_key, INTEGERS, INDICES, BY_SIZES);
    both("[k]T, [n]i64, [n]T -> [k]T", products_by_key, "i32 u64", INDICES, BY_SIZES);
    both("[k]T, [n]i64, [n]T -> [k]T", greatest_by_key, "i8 u32 i64", INDICES, BY_SIZES);
    both("[k]T, [n]i64 -> [k]i64", numbers, "i32", INDICES, BY_SIZES);
}

static void as_vectors(void **env)
{
    (void)env;
    both("[k](T,T,T), [n]i64, [n]T -> [k](T,T,T)", extremes, "i32 u32 i64 u64 i16", INDICES, BY_SIZES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(along_rows),        cmocka_unit_test(sums_along_rows), cmocka_unit_test(several_of_a_lane),
        cmocka_unit_test(in_several_tables), cmocka_unit_test(as_vectors),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
