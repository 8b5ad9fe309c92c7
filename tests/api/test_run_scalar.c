/* Scalar code and stencils on the CPU against the interpreter, bit for bit. */
#include "both.h"

#include <stdlib.h>

/* --- every primitive, by class of types --- */

#define UNARY(f)                                                                                                       \
    static sn_acc unary_##f(sn_acc a)                                                                                  \
    {                                                                                                                  \
        return sn_map(f, a);                                                                                           \
    }
#define BINARY(f)                                                                                                      \
    static sn_acc binary_##f(sn_acc a, sn_acc b)                                                                       \
    {                                                                                                                  \
        return sn_zip_with(f, a, b);                                                                                   \
    }
#define TERNARY(f)                                                                                                     \
    static sn_acc ternary_##f(sn_acc a, sn_acc b, sn_acc c)                                                            \
    {                                                                                                                  \
        return sn_zip_with(f, a, b, c);                                                                                \
    }
#define LENGTHS 0, 1, 7, 64, 100, 1027

#define NUMBER1(X) X(sn_neg) X(sn_abs) X(sn_signum)
#define NUMBER2(X) X(sn_add) X(sn_sub) X(sn_mul)
#define DIVISION2(X) X(sn_div) X(sn_mod) X(sn_quot) X(sn_rem)
#define ANY2(X) X(sn_min) X(sn_max)
#define COMPARISON2(X) X(sn_eq) X(sn_ne) X(sn_lt) X(sn_le) X(sn_gt) X(sn_ge)
#define BITS1(X) X(sn_bit_not)
#define BITS2(X) X(sn_bit_and) X(sn_bit_or) X(sn_bit_xor) X(sn_shl) X(sn_shr) X(sn_rotl) X(sn_rotr)
#define COUNT1(X) X(sn_popcount) X(sn_clz) X(sn_ctz)
#define FLOAT1(X) X(sn_floor) X(sn_ceil) X(sn_trunc) X(sn_round) X(sn_rint) X(sn_sqrt)
#define CLASSIFY1(X) X(sn_is_nan) X(sn_is_inf) X(sn_is_finite)
#define LOGIC2(X) X(sn_land) X(sn_lor)

NUMBER1(UNARY)
BITS1(UNARY)
COUNT1(UNARY)
FLOAT1(UNARY)
CLASSIFY1(UNARY)
UNARY(sn_not)
NUMBER2(BINARY)
DIVISION2(BINARY)
ANY2(BINARY)
COMPARISON2(BINARY)
BITS2(BINARY)
LOGIC2(BINARY)
TERNARY(sn_fma)

static void primitives(void **state)
{
    (void)state;
#define RUN(f) both("[n]T -> [n]T", unary_##f, INTEGERS " " FLOATS, MIXED, LENGTHS);
    NUMBER1(RUN)
#undef RUN
#define RUN(f) both("[n]T, [n]T -> [n]T", binary_##f, INTEGERS " " FLOATS, MIXED, LENGTHS);
    NUMBER2(RUN)
#undef RUN
#define RUN(f) both("[n]T, [n]T -> [n]T", binary_##f, ALL_TYPES, MIXED, LENGTHS);
    ANY2(RUN)
#undef RUN
#define RUN(f) both("[n]T, [n]T -> [n]bool", binary_##f, ALL_TYPES, MIXED, LENGTHS);
    COMPARISON2(RUN)
#undef RUN
#define RUN(f) both("[n]T -> [n]T", unary_##f, INTEGERS, MIXED, LENGTHS);
    BITS1(RUN)
#undef RUN
#define RUN(f) both("[n]T, [n]T -> [n]T", binary_##f, INTEGERS, MIXED, LENGTHS);
    BITS2(RUN)
#undef RUN
#define RUN(f) both("[n]T -> [n]i32", unary_##f, INTEGERS, MIXED, LENGTHS);
    COUNT1(RUN)
#undef RUN
#define RUN(f) both("[n]T -> [n]T", unary_##f, FLOATS, MIXED, LENGTHS);
    FLOAT1(RUN)
#undef RUN
#define RUN(f) both("[n]T -> [n]bool", unary_##f, FLOATS, MIXED, LENGTHS);
    CLASSIFY1(RUN)
#undef RUN
#define RUN(f) both("[n]bool, [n]bool -> [n]bool", binary_##f, NULL, MIXED, LENGTHS);
    LOGIC2(RUN)
#undef RUN
    both("[n]bool -> [n]bool", unary_sn_not, NULL, MIXED, LENGTHS);
    both("[n]T, [n]T, [n]T -> [n]T", ternary_sn_fma, FLOATS, MIXED, LENGTHS);
}

static void division(void **state)
{
    (void)state;
    both("[n]T, [n]T -> [n]T", binary_sn_div, FLOATS, MIXED, LENGTHS);
#define RUN(f) both("[n]T, [n]T -> [n]T", binary_##f, INTEGERS, POSITIVE, LENGTHS);
    DIVISION2(RUN)
#undef RUN
    /* zeros and extreme numbers among them: the status is that of the interpreter */
#define RUN(f) both("[n]T, [n]T -> [n]T", binary_##f, INTEGERS, MIXED, LENGTHS);
    DIVISION2(RUN)
#undef RUN
}

/* --- elementary functions --- */

static sn_scalar transcendental(sn_scalar x)
{
    return sn_add(sn_mul(sn_sin(x), sn_cos(x)), sn_sqrt(sn_abs(sn_log(x))));
}

static sn_acc functions(sn_acc a, sn_acc b)
{
    return sn_results(sn_map(transcendental, a), sn_zip_with(sn_pow, a, b), sn_zip_with(sn_atan2, a, b));
}

static void elementary_functions(void **state)
{
    (void)state;
    both("[n]T, [n]T -> [n]T, [n]T, [n]T", functions, FLOATS, MIXED, 0, 1, 100, 5000);
    both("[n]T, [n]T -> [n]T, [n]T, [n]T", functions, FLOATS, POSITIVE, 1000);
}

/* --- conversions --- */

static sn_acc converted(sn_acc a)
{
    return sn_results(sn_map(sn_to_i8, a), sn_map(sn_to_i16, a), sn_map(sn_to_i32, a), sn_map(sn_to_i64, a),
                      sn_map(sn_to_u8, a), sn_map(sn_to_u16, a), sn_map(sn_to_u32, a), sn_map(sn_to_u64, a),
                      sn_map(sn_to_f32, a), sn_map(sn_to_f64, a), sn_map(sn_to_bool, a));
}

static sn_scalar as_i32(sn_scalar x)
{
    return sn_bitcast(SN_I32, x);
}

static sn_scalar as_f64(sn_scalar x)
{
    return sn_bitcast(SN_F64, x);
}

static sn_acc casts(sn_acc a, sn_acc b)
{
    return sn_results(sn_map(as_i32, a), sn_map(as_f64, b));
}

static void conversions(void **state)
{
    (void)state;
    both("[n]T -> [n]i8, [n]i16, [n]i32, [n]i64, [n]u8, [n]u16, [n]u32, [n]u64, [n]f32, [n]f64, [n]bool", converted,
         "bool " INTEGERS " " FLOATS, MIXED, LENGTHS);
    both("[n]f32, [n]u64 -> [n]i32, [n]f64", casts, NULL, MIXED, LENGTHS);
}

/* --- control --- */

static sn_scalar guarded(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_ne(y, 0), sn_if(sn_gt(x, y), sn_quot(x, y), sn_rem(x, y)), sn_sub(x, 1));
}

static sn_acc conditions(sn_acc a, sn_acc b)
{
    return sn_zip_with(guarded, a, b);
}

static sn_scalar odd(sn_scalar n, sn_scalar steps)
{
    (void)steps;
    return sn_gt(n, 1);
}

static sn_scalar collatz(sn_scalar n, sn_scalar steps)
{
    sn_scalar even = sn_eq(sn_bit_and(n, 1), 0);
    return sn_tuple(sn_if(even, sn_quot(n, 2), sn_add(sn_mul(n, 3), 1)), sn_add(steps, 1));
}

static sn_scalar steps_to_one(sn_scalar n)
{
    return sn_snd(sn_while(odd, collatz, sn_tuple(n, sn_i32(0))));
}

static sn_acc while_loops(sn_acc a)
{
    return sn_map(steps_to_one, a);
}

static sn_scalar half(sn_scalar x)
{
    return sn_add(sn_mul(x, 0.5f), 1);
}

static sn_scalar iterated(sn_scalar x)
{
    return sn_iterate(5, half, x);
}

static sn_scalar add_index(sn_scalar i, sn_scalar x)
{
    return sn_add(x, sn_to_i32(i));
}

static sn_scalar counted(sn_scalar n)
{
    return sn_loop(sn_to_i64(n), add_index, n);
}

static sn_acc counted_loops(sn_acc a, sn_acc b)
{
    return sn_results(sn_map(iterated, a), sn_map(counted, b));
}

static sn_scalar row_sum(void *env, sn_scalar i)
{
    const sn_acc *m = env;
    return sn_sfold(sn_add, 0, *m, i);
}

static sn_acc rows_one_by_one(sn_acc m)
{
    return sn_generate(sn_extent(m, 0), sn_closure(row_sum, &m));
}

static sn_scalar dot_of(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc *m = env;
    sn_scalar total = sn_index(m[0], i, 0);
    for (int k = 1; k < 3; k++)
        total = sn_add(total, sn_mul(sn_index(m[0], i, k), sn_index(m[1], k, j)));
    return total;
}

static sn_acc products(sn_acc x, sn_acc y)
{
    sn_acc m[2] = {x, y};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(y, 1)), sn_closure(dot_of, m));
}

static sn_scalar looked_up(void *env, sn_scalar i)
{
    const sn_acc *t = env;
    return sn_if(sn_and(sn_ge(i, 0), sn_lt(i, sn_size(*t))), sn_linear_index(*t, i), sn_f32(-1));
}

static sn_acc lookup(sn_acc index, sn_acc t)
{
    return sn_map(sn_closure(looked_up, &t), index);
}

static void control(void **state)
{
    (void)state;
    both("[n]T, [n]T -> [n]T", conditions, "u8 i32 u64", MIXED, LENGTHS);
    both("[n]T, [n]T -> [n]T", conditions, "i8 i16 i64", SMALL, LENGTHS);
    both("[n]i32 -> [n]i32", while_loops, NULL, POSITIVE, LENGTHS);
    both("[n]i64 -> [n]i32", while_loops, NULL, INDICES, 1, 100, 3000);
    both("[n]f32, [n]i32 -> [n]f32, [n]i32", counted_loops, NULL, SMALL, LENGTHS);
    both("[n,m]T -> [n]T", rows_one_by_one, "i32 f32", SMALL, MATRICES);
    both("[n,3]T, [3,m]T -> [n,m]T", products, "f32 i64", SMALL, MATRICES);
    both("[m]i64, [n]f32 -> [m]f32", lookup, NULL, MIXED, 0, 5, 5, 0, 100, 100, 1000, 33);
}

/* --- stencils --- */

static sn_scalar mean3(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1), sn_at(s, 0)), sn_at(s, 1));
}

static sn_scalar five(sn_scalar s)
{
    return sn_sub(sn_mul(sn_at(s, -2), 3), sn_add(sn_at(s, 2), sn_at(s, 1)));
}

static sn_scalar outside(sn_scalar i)
{
    return sn_to_i32(sn_mul(i, 10));
}

static sn_acc rows_of_one(sn_acc a)
{
    return sn_results(sn_stencil(mean3, sn_pattern(3), sn_clamp, a), sn_stencil(mean3, sn_pattern(3), sn_mirror, a),
                      sn_stencil(five, sn_pattern(5), sn_wrap, a), sn_stencil(five, sn_pattern(5), sn_constant(7), a),
                      sn_stencil(five, sn_pattern(5), sn_clamp, sn_stencil(mean3, sn_pattern(3), sn_mirror, a)));
}

static sn_acc from_a_function(sn_acc a)
{
    return sn_stencil(five, sn_pattern(5), sn_outside(outside), a);
}

static sn_scalar cross(sn_scalar s)
{
    sn_scalar sides = sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_sub(sn_at(s, 0, -1), sn_at(s, 0, 1)));
    return sn_sub(sn_mul(sn_at(s, 0, 0), 4), sides);
}

static sn_scalar tall(sn_scalar s)
{
    return sn_add(sn_sub(sn_at(s, -2, 0), sn_at(s, 2, 0)), sn_mul(sn_at(s, 1, 0), 2));
}

static sn_acc images(sn_acc a)
{
    return sn_results(
        sn_stencil(cross, sn_pattern(3, 3), sn_clamp, a), sn_stencil(cross, sn_pattern(3, 3), sn_mirror, a),
        sn_stencil(cross, sn_pattern(3, 3), sn_wrap, a), sn_stencil(cross, sn_pattern(3, 3), sn_constant(1), a),
        sn_stencil(tall, sn_pattern(5, 1), sn_clamp, a));
}

/* A boundary whose function divides: what it divides by is never 0, but no kernel knows that. */
static sn_scalar divided(sn_scalar y, sn_scalar x)
{
    return sn_to_i32(sn_quot(sn_mul(y, 100), sn_add(sn_mul(x, 2), 1)));
}

static sn_acc image_in_divided(sn_acc a)
{
    return sn_stencil(cross, sn_pattern(3, 3), sn_outside(divided), a);
}

static sn_scalar both_of(sn_scalar s, sn_scalar t)
{
    return sn_add(sn_at(s, 0, 1), sn_mul(sn_at(t, -1, 0), sn_at(t, 1, 0)));
}

/* a chain as in Canny: stencils of maps of stencils, two results */
static sn_acc chain(sn_acc a)
{
    sn_acc blurred = sn_stencil(tall, sn_pattern(5, 1), sn_clamp, sn_stencil(cross, sn_pattern(3, 3), sn_clamp, a));
    sn_acc edges = sn_stencil(cross, sn_pattern(3, 3), sn_mirror, blurred);
    sn_acc sum = sn_zip_with(sn_add, edges, sn_stencil(tall, sn_pattern(5, 1), sn_constant(0), blurred));
    return sn_results(sum, sn_stencil2(both_of, sn_pattern(3, 3), sn_clamp, sum, sn_pattern(3, 1), sn_mirror, blurred));
}

static sn_scalar cube(sn_scalar s)
{
    return sn_sub(sn_add(sn_at(s, -1, 0, 0), sn_at(s, 0, 1, 0)), sn_mul(sn_at(s, 0, 0, -1), sn_at(s, 1, 1, 1)));
}

static sn_acc volumes(sn_acc a)
{
    return sn_results(sn_stencil(cube, sn_pattern(3, 3, 3), sn_clamp, a),
                      sn_stencil(cube, sn_pattern(3, 3, 3), sn_wrap, a),
                      sn_stencil(cube, sn_pattern(3, 3, 3), sn_constant(2), a));
}

static void stencils(void **state)
{
    (void)state;
    both("[n]T -> [n]T, [n]T, [n]T, [n]T, [n]T", rows_of_one, "i32 f32 f64", SMALL, 0, 1, 2, 3, 4, 5, 31, 33, 64, 100,
         1000, 9001);
    both("[n]i32 -> [n]i32", from_a_function, NULL, SMALL, 0, 1, 2, 3, 5, 33, 100);
    both("[n,m]i32 -> [n,m]i32", image_in_divided, NULL, SMALL, MATRICES, 2, 2, 1, 2, 2, 1, 70, 100);
    both("[n,m]T -> [n,m]T, [n,m]T, [n,m]T, [n,m]T, [n,m]T", images, "i32 f32", SMALL, MATRICES, 2, 2, 1, 2, 2, 1, 70,
         1100);
    both("[n,m]T -> [n,m]T, [n,m]T", chain, "i64 f32", SMALL, MATRICES, 2, 2, 1, 2, 2, 1, 70, 1100);
    both("[n,m,k]T -> [n,m,k]T, [n,m,k]T, [n,m,k]T", volumes, "i32 f32", SMALL, 0, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 40, 3,
         1, 70);
}

/* --- extremes with a constant: which zero, and what of a NaN --- */

static sn_scalar constant_of(int which)
{
    static const float constant[] = {0.0f, -0.0f, 1.0f, -1.0f, __builtin_inff(), -__builtin_inff(), __builtin_nanf("")};
    return sn_f32(constant[which]);
}

static sn_scalar extremes_with(void *env, sn_scalar x)
{
    sn_scalar c = constant_of(*(const int *)env);
    return sn_tuple(sn_tuple(sn_min(x, c), sn_min(c, x)), sn_tuple(sn_max(x, c), sn_max(c, x)));
}

static sn_acc extremes_with_constant(void *env, int count, const sn_acc *in)
{
    (void)count;
    sn_acc all = sn_map(sn_closure(extremes_with, env), in[0]), least = sn_map(sn_fst, all), most = sn_map(sn_snd, all);
    return sn_results(sn_map(sn_fst, least), sn_map(sn_snd, least), sn_map(sn_fst, most), sn_map(sn_snd, most));
}

static void extremes_with_constants(void **state)
{
    (void)state;
    for (int which = 0; which < 7; which++)
        both_at(__FILE__, __LINE__, "[n]f32 -> [n]f32, [n]f32, [n]f32, [n]f32",
                sn_body_env(extremes_with_constant, &which), NULL, MIXED, (const int64_t[]){100, 7, -1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives),
        cmocka_unit_test(division),
        cmocka_unit_test(elementary_functions),
        cmocka_unit_test(conversions),
        cmocka_unit_test(control),
        cmocka_unit_test(stencils),
        cmocka_unit_test(extremes_with_constants),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
