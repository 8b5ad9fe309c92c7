/* Without GNU C, primitives are plain functions of sn_scalar: the same programs can be written, with literals spelled
 * out.
 */
#define SN_NO_LIFTING
#include "embed_test.h"

#ifdef SN_LIFTING
#error "the lifting macros are still there"
#endif

static sn_scalar halve(sn_scalar x)
{
    return sn_if(sn_gt(x, sn_f32(1)), sn_div(x, sn_f32(2)), x);
}

static sn_acc mean(sn_acc a)
{
    sn_scalar sum = sn_the(sn_fold(sn_add, sn_f32(0), sn_map(halve, a)));
    return sn_results(sn_unit(sn_div(sum, sn_to_f32(sn_size(a)))), sn_fst(sn_zip(a, a)),
                      sn_replicate(a, sn_i64(2), SN_ALL), sn_fill(sn_shape(sn_i64(1)), sn_fst(sn_tuple(sum, sum))));
}

static void plain_functions_build_programs(void **state)
{
    (void)state;
    numbers in = {1, {2}, NUMBERS(1, 6)};
    expect_values(build("[n]f32 -> f32, [n]f32, [2,n]f32, [1]f32", mean), &in, 8, NUMBERS(2, 1, 6, 1, 6, 1, 6, 4));
}

enum { BAD_LINE = __LINE__ + 4 };

static sn_scalar bad(sn_scalar x)
{
    return sn_fst(sn_tuple(sn_add(x, sn_f64(1)), x)); /* the place is that of the last macro before: sn_map */
}

static sn_acc map_bad(sn_acc a)
{
    return sn_map(bad, a);
}

static void places_are_the_last_known(void **state)
{
    (void)state;
    built *b = build("[n]f32 -> [n]f32", map_bad);
    expect_message(b, __FILE__, BAD_LINE + 5, "add", "f32 and f64", NULL);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(plain_functions_build_programs),
        cmocka_unit_test(places_are_the_last_known),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
