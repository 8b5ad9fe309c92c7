/* Operations that only move elements: the same elements as the interpreter's, for long rows and short ones; whole rows
 * are copied as such, and indices that are plainly inside are neither divided for nor checked. */
#include "counts.h"

#include <string.h>

static sn_acc repeated_rows(sn_acc a)
{
    return sn_replicate(a, 3, SN_ALL, SN_ALL, SN_ALL);
}

static sn_acc repeated_planes(sn_acc a)
{
    return sn_replicate(a, SN_ALL, 2, SN_ALL, SN_ALL);
}

static sn_acc repeated_elements(sn_acc a)
{
    return sn_replicate(a, SN_ALL, SN_ALL, SN_ALL, 3);
}

static sn_acc a_plane(sn_acc a)
{
    return sn_slice(a, 1, SN_ALL, SN_ALL);
}

static sn_acc a_middle(sn_acc a)
{
    return sn_slice(a, SN_ALL, 1, SN_ALL);
}

static sn_acc a_column(sn_acc a)
{
    return sn_slice(a, SN_ALL, SN_ALL, 1);
}

static sn_acc transposed(sn_acc a)
{
    return sn_transpose(a);
}

static sn_acc reversed(sn_acc a)
{
    return sn_reverse(a);
}

static sn_acc turned(sn_acc a)
{
    return sn_rotate(2, a);
}

static sn_acc first_ones(sn_acc a)
{
    return sn_take(4, a);
}

static sn_scalar swapped(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(j, k, i);
}

static sn_acc moved_round(sn_acc a)
{
    return sn_backpermute(sn_shape(sn_extent(a, 2), sn_extent(a, 0), sn_extent(a, 1)), swapped, a);
}

static sn_scalar weighed(sn_scalar i, sn_scalar j, sn_scalar k, sn_scalar x)
{
    (void)j;
    return sn_add(sn_mul(sn_to_i64(x), 100), sn_add(sn_mul(k, 7), i));
}

static sn_acc with_two_indices(sn_acc a)
{
    return sn_imap(weighed, a);
}

static sn_acc several(sn_acc a)
{
    return sn_results(sn_replicate(a, 2, SN_ALL, SN_ALL, SN_ALL),
                      sn_replicate(sn_reverse(a), 2, SN_ALL, SN_ALL, SN_ALL),
                      sn_replicate(sn_slice(a, 0, SN_ALL, SN_ALL), 2, sn_extent(a, 0), SN_ALL, SN_ALL));
}

#define SHAPES 3, 4, 91, 2, 3, 5, 7, 2, 16, 3, 3, 200, 5, 17, 1, 2, 2, 0, 40, 9, 6

static void elements_are_where_they_belong(void **state)
{
    static const char types[] = "u8 i16 f32 f64 bool";
    (void)state;
    both("[a,b,c]T -> [d,a,b,c]T", repeated_rows, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,d,b,c]T", repeated_planes, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,b,c,d]T", repeated_elements, types, MIXED, SHAPES);
    both("[a,b,c]T -> [b,c]T", a_plane, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,c]T", a_middle, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,b]T", a_column, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,c,b]T", transposed, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,b,c]T", reversed, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,b,c]T", turned, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,b,d]T", first_ones, types, MIXED, SHAPES);
    both("[a,b,c]T -> [c,a,b]T", moved_round, types, MIXED, SHAPES);
    both("[a,b,c]T -> [a,b,c]i64", with_two_indices, types, SMALL, SHAPES);
    both("[a,b,c]T -> [d,a,b,c]T, [d,a,b,c]T, [d,a,b,c]T", several, types, MIXED, SHAPES);
}

/* Small extents that are known are a lane's, beside dimensions of any extent: k x n x m to n x m x k, and n x k x m x k
 * that is read at several places and may fail. */
#define CHANNELS(name, k)                                                                                              \
    static sn_scalar from_##name(sn_scalar i, sn_scalar j, sn_scalar c)                                                \
    {                                                                                                                  \
        return sn_tuple(c, i, j);                                                                                      \
    }                                                                                                                  \
    static sn_acc name##_innermost(sn_acc a)                                                                           \
    {                                                                                                                  \
        return sn_backpermute(sn_shape(sn_extent(a, 1), sn_extent(a, 2), k), from_##name, a);                          \
    }                                                                                                                  \
    static sn_scalar at_##name(sn_scalar i, sn_scalar y, sn_scalar j, sn_scalar x)                                     \
    {                                                                                                                  \
        return sn_tuple(sn_rem(sn_add(y, x), k), i, j);                                                                \
    }                                                                                                                  \
    static sn_acc name##_spread(sn_acc a)                                                                              \
    {                                                                                                                  \
        sn_scalar n = sn_extent(a, 1), m = sn_extent(a, 2);                                                            \
        sn_acc out = sn_backpermute(sn_shape(n, k, m, k), at_##name, a);                                               \
        return sn_results(sn_reshape(sn_shape(sn_mul(n, k), sn_mul(m, k)), out), sn_map(sn_neg, out));                 \
    }
CHANNELS(two, 2)
CHANNELS(three, 3)
CHANNELS(five, 5)
CHANNELS(eight, 8)

static void small_extents_are_a_lanes(void **state)
{
    (void)state;
#define PLANES(k) k, 3, 15, k, 4, 16, k, 3, 33, k, 5, 100, k, 2, 257, k, 1, 1, k, 0, 20, k, 20, 0, k, 2, 5000
    both("[two,n,m]T -> [n,m,k]T", two_innermost, "u8 i16 f32 f64", MIXED, PLANES(2));
    both("[three,n,m]T -> [n,m,k]T", three_innermost, "u8 i16 f32 f64", MIXED, PLANES(3));
    both("[five,n,m]T -> [n,m,k]T", five_innermost, "u8 f32", MIXED, PLANES(5));
    both("[eight,n,m]T -> [n,m,k]T", eight_innermost, "u8 f32 f64", MIXED, PLANES(8));
    both("[two,n,m]T -> [h,w]T, [n,y,m,x]T", two_spread, "i8 i16 f32 f64", MIXED, PLANES(2));
    both("[three,n,m]T -> [h,w]T, [n,y,m,x]T", three_spread, "i8 i16 f32 f64", MIXED, PLANES(3));
    both("[five,n,m]T -> [h,w]T, [n,y,m,x]T", five_spread, "u8 f32", MIXED, PLANES(5));
    both("[eight,n,m]T -> [h,w]T, [n,y,m,x]T", eight_spread, "u8 f32 f64", MIXED, PLANES(8));
    both("[k,n,m]T -> [h,w]T, [n,y,m,x]T", three_spread, "i8 f32", MIXED, 2, 3, 40, 4, 3, 40);
#undef PLANES
}

/* All of several small dimensions, or of one of up to 16, whose elements are read in any order. */
static sn_acc block_turned(sn_acc a)
{
    return sn_results(sn_transpose(a), sn_reverse(a), sn_transpose(sn_reverse(a)));
}

#define WITHIN(name, k)                                                                                                \
    static sn_scalar within_##name(void *env, sn_scalar i, sn_scalar j)                                                \
    {                                                                                                                  \
        sn_acc a = *(sn_acc *)env;                                                                                     \
        return sn_tuple(sn_index(a, i, sn_rem(sn_add(j, 1), k)), sn_index(a, i, sn_rem(sn_mul(j, 3), k)));             \
    }                                                                                                                  \
    static sn_acc name##_mixed(sn_acc a)                                                                               \
    {                                                                                                                  \
        sn_acc both = sn_generate(sn_shape_of(a), sn_closure(within_##name, &a));                                      \
        return sn_results(sn_fst(both), sn_snd(both), sn_reverse(a), sn_rotate(1, a));                                 \
    }
WITHIN(five, 5)
WITHIN(eight, 8)
WITHIN(ten, 10)
WITHIN(sixteen, 16)

/* Where a lane goes on in another place, or is clamped, or chooses. */
static sn_scalar rolled(void *env, sn_scalar i, sn_scalar c)
{
    sn_acc a = *(sn_acc *)env;
    sn_scalar n = sn_extent(a, 0), half = sn_quot(n, 2);
    sn_scalar other = sn_index(a, sn_mod(sn_add(i, 5), n), c), near = sn_index(a, sn_max(sn_sub(i, 2), 0), c);
    return sn_tuple(other, near, sn_index(a, sn_if(sn_lt(i, half), sn_add(i, half), sn_sub(i, half)), c));
}

static sn_acc rolls(sn_acc a)
{
    sn_scalar n = sn_mul(sn_quot(sn_extent(a, 0), 2), 2);
    sn_acc all = sn_generate(sn_shape(n, sn_extent(a, 1)), sn_closure(rolled, &a)), part[3];
    sn_unzip(all, 3, part);
    return sn_results(part[0], part[1], part[2]);
}

static sn_scalar rolled_beside(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    sn_acc a = *(sn_acc *)env;
    sn_scalar m = sn_extent(a, 1);
    return sn_add(sn_index(a, i, sn_mod(sn_add(j, i), m), c), sn_index(a, i, sn_min(sn_add(j, 1), sn_sub(m, 1)), c));
}

static sn_acc rolls_beside(sn_acc a)
{
    return sn_generate(sn_shape_of(a), sn_closure(rolled_beside, &a));
}

static void lanes_of_small_blocks_go_on_elsewhere(void **state)
{
    (void)state;
    both("[n,2]T -> [k,2]T, [k,2]T, [k,2]T", rolls, "u8 f32 f64", MIXED, 0, 2, 6, 40, 300, 4000, 30001);
    both("[n,3]T -> [k,3]T, [k,3]T, [k,3]T", rolls, "u8 i16 f32", MIXED, 2, 16, 40, 300, 4000);
    both("[n,10]T -> [k,10]T, [k,10]T, [k,10]T", rolls, "i32 f64", MIXED, 2, 40, 300, 3000);
    both("[n,m,3]T -> [n,m,3]T", rolls_beside, "u8 i32 i64", MIXED, 3, 15, 4, 16, 5, 100, 40, 577, 2, 5000, 3, 0);
    both("[n,m,4]T -> [n,m,4]T", rolls_beside, "u8 i32", MIXED, 3, 15, 4, 16, 5, 100, 40, 577);
}

/* The same where only a call tells how short rows are. */
static sn_scalar in_short_row(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc a = *(sn_acc *)env;
    sn_scalar m = sn_extent(a, 1);
    return sn_tuple(sn_index(a, i, sn_mod(sn_sub(j, 1), m)), sn_add(sn_index(a, i, 0), sn_index(a, 0, j)));
}

static sn_acc short_rows(sn_acc a)
{
    sn_acc both = sn_generate(sn_shape_of(a), sn_closure(in_short_row, &a));
    return sn_results(sn_fst(both), sn_snd(both), sn_reverse(a), sn_rotate(1, a));
}

static void short_rows_are_a_lanes(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T, [n,m]T, [n,m]T, [n,m]T", short_rows, "u8 i16 f32 f64", MIXED, 5000, 1, 5000, 2, 2049, 2,
         2000, 3, 1025, 4, 1000, 5, 900, 7, 800, 8, 600, 9, 500, 12, 400, 16, 300, 17, 3, 2, 0, 3, 3, 0);
}

static void small_blocks_are_a_lanes(void **state)
{
    (void)state;
    both("[n,5]T -> [n,5]T, [n,5]T, [n,5]T, [n,5]T", five_mixed, "u8 i16 f32 f64", MIXED, 0, 1, 3, 7, 16, 17, 100,
         5000);
    both("[n,8]T -> [n,8]T, [n,8]T, [n,8]T, [n,8]T", eight_mixed, "u8 i16 f32 f64", MIXED, 0, 1, 3, 7, 16, 17, 100,
         5000);
    both("[n,10]T -> [n,10]T, [n,10]T, [n,10]T, [n,10]T", ten_mixed, "u8 i32 f32 f64", MIXED, 0, 1, 7, 16, 17, 100,
         3000);
    both("[n,16]T -> [n,16]T, [n,16]T, [n,16]T, [n,16]T", sixteen_mixed, "u8 f32 f64", MIXED, 0, 1, 7, 16, 17, 100,
         3000);
    both("[n,2,2]T -> [n,2,2]T, [n,2,2]T, [n,2,2]T", block_turned, "u8 i16 f32 f64", MIXED, 0, 1, 7, 16, 33, 3000);
    both("[n,3,3]T -> [n,3,3]T, [n,3,3]T, [n,3,3]T", block_turned, "u8 i16 f32 f64", MIXED, 0, 1, 7, 16, 33, 3000);
    both("[n,2,5]T -> [n,5,2]T, [n,2,5]T, [n,5,2]T", block_turned, "u8 f32 f64", MIXED, 0, 1, 7, 16, 33, 3000);
    both("[n,4,4]T -> [n,4,4]T, [n,4,4]T, [n,4,4]T", block_turned, "u8 i32 f64", MIXED, 0, 1, 7, 16, 33, 3000);
    both("[n,m,2,4]T -> [n,m,4,2]T, [n,m,2,4]T, [n,m,4,2]T", block_turned, "u8 f32", MIXED, 0, 3, 1, 1, 7, 5, 3, 200);
    both("[n,8,8]T -> [n,8,8]T, [n,8,8]T, [n,8,8]T", block_turned, "u8 f32", MIXED, 0, 1, 7, 16, 33, 300);
}

static sn_scalar corners(sn_scalar s)
{
    sn_scalar sum = sn_at(s, 0, 0, 0);
    for (int i = 0; i < 8; i++)
        sum = sn_add(sn_mul(sum, 3), sn_at(s, i & 4 ? 1 : -1, i & 2 ? 1 : -1, i & 1 ? 1 : -1));
    return sum;
}

static sn_acc mirrored(sn_acc a)
{
    return sn_stencil(corners, sn_pattern(3, 3, 3), sn_mirror, a);
}

static sn_acc mirrored_far(sn_acc a)
{
    return sn_stencil(corners, sn_pattern(5, 3, 5), sn_mirror, a);
}

/* Mirrors that are nearer to each other than a pattern is wide, too. */
static void mirrors_face_each_other(void **state)
{
    (void)state;
    both("[a,b,c]T -> [a,b,c]T", mirrored, "u8 i32 i64", MIXED, SHAPES, 1, 1, 1, 2, 2, 2, 1, 9, 33, 6, 1, 20, 9, 2, 1,
         2, 11, 70);
    both("[a,b,c]T -> [a,b,c]T", mirrored_far, "u8 i32", MIXED, SHAPES, 1, 1, 1, 2, 2, 2, 1, 9, 33, 3, 1, 20, 9, 2, 1);
}

static sn_scalar far_away(void *env, sn_scalar i, sn_scalar x)
{
    const sn_scalar *n = env;
    sn_scalar place = sn_sub(sn_mul(sn_mul(i, *n), sn_mul(*n, *n)), *n);
    return sn_add(sn_add(sn_mod(place, 1009), sn_rem(place, sn_add(*n, 1))), sn_add(sn_div(place, 7), sn_to_i64(x)));
}

static sn_acc far_from_home(sn_acc a)
{
    sn_scalar n = sn_extent(a, 0);
    return sn_imap(sn_closure(far_away, &n), a);
}

/* Index arithmetic has 32 bits where a call's extents allow it, and 64 where they do not. */
static void indices_have_the_bits_they_need(void **state)
{
    (void)state;
    both("[n]u8 -> [n]i64", far_from_home, NULL, MIXED, 1, 20, 200, 214, 215, 216, 300, 2000);
    sn_program *p = compiled_in(both_cpu(), "[n]u8 -> [n]i64", SN_BODY(far_from_home));
    enum { NEAR = 100, FAR = 2000 };
    static uint8_t x[FAR];
    static int64_t y[FAR];
    for (int turn = 0; turn < 4; turn++) {
        int64_t n = turn % 2 ? FAR : NEAR;
        assert_int_equal(sn_call(p, sn_in(x, n), sn_into(y, n)), SN_OK);
        for (int64_t i = 0; i < n; i++) {
            int64_t place = i * n * n * n - n, rest = place % 1009, down = place / 7 - (place % 7 < 0);
            assert_int_equal(y[i], (rest < 0 ? rest + 1009 : rest) + place % (n + 1) + down);
        }
    }
    assert_int_equal(run_kernels(p->run), 2);
    sn_drop(p);
}

static unsigned times(const char *where, const char *part)
{
    unsigned n = 0;
    for (const char *at = where; (at = strstr(at, part)); at++)
        n++;
    return n;
}

/* What a kernel has per element: it stands behind the first loop over elements. */
static void kernels_are_short(void **state)
{
    static const struct {
        const char *what, *signature;
        sn_acc (*body)(sn_acc);
        unsigned divisions, checks; /* where rows are short */
    } cases[] = {
        {"replicate rows", "[a,b,c]u8 -> [d,a,b,c]u8", repeated_rows, 0, 0},
        {"replicate planes", "[a,b,c]u8 -> [a,d,b,c]u8", repeated_planes, 3, 0},
        {"replicate elements", "[a,b,c]u8 -> [a,b,c,d]u8", repeated_elements, 1, 0},
        {"slice of a plane", "[a,b,c]u8 -> [b,c]u8", a_plane, 0, 1},
        {"slice of rows", "[a,b,c]u8 -> [a,c]u8", a_middle, 2, 1},
        {"slice of columns", "[a,b,c]u8 -> [a,b]u8", a_column, 0, 1},
        {"transpose", "[a,b,c]u8 -> [a,c,b]u8", transposed, 4, 0},
        {"reverse", "[a,b,c]u8 -> [a,b,c]u8", reversed, 2, 0},
        {"take", "[a,b,c]u8 -> [a,b,d]u8", first_ones, 2, 0},
        {"permuted", "[a,b,c]u8 -> [c,a,b]u8", moved_round, 2, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sn_program *p = compiled_in(both_cpu(), cases[i].signature, SN_BODY(cases[i].body));
        uint8_t x[5 * 6 * 7] = {0};
        sn_array *y = NULL;
        assert_int_equal(sn_call(p, sn_in(x, 5, 6, 7), sn_keep(&y)), SN_OK);
        const char *loop = strstr(sn_explain(p, "kernels"), "for_all");
        assert_non_null(loop);
        unsigned divisions = times(loop, "= rem ") + times(loop, "= quot "), checks = times(loop, " check ");
        if (on_cpu() && (divisions > cases[i].divisions || checks > cases[i].checks))
            fail_msg("%s: %u divisions, %u checks:\n%s", cases[i].what, divisions, checks, loop);
        sn_free(y);
        sn_drop(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_where_they_belong), cmocka_unit_test(small_extents_are_a_lanes),
        cmocka_unit_test(small_blocks_are_a_lanes),       cmocka_unit_test(lanes_of_small_blocks_go_on_elsewhere),
        cmocka_unit_test(short_rows_are_a_lanes),         cmocka_unit_test(indices_have_the_bits_they_need),
        cmocka_unit_test(mirrors_face_each_other),        cmocka_unit_test(kernels_are_short),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
