/* Permutes whose operators choose: by several comparisons, of which one is asked first, and extremes of floats that are
 * signalling NaNs. */
#include "counts.h"

#include <stdlib.h>
#include <string.h>

/* --- operators that choose by more than one comparison --- */

static sn_scalar key_at(void *env, sn_scalar i)
{
    return sn_index(*(sn_acc *)env, i);
}

static sn_scalar same_and(sn_scalar x, sn_scalar y, sn_scalar other)
{
    return sn_and(sn_eq(sn_fst(x), sn_fst(y)), other);
}

static sn_scalar first_greatest(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_or(sn_gt(sn_fst(x), sn_fst(y)), same_and(x, y, sn_lt(sn_snd(x), sn_snd(y)))), x, y);
}

static sn_scalar last_least(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_or(same_and(y, x, sn_ge(sn_snd(x), sn_snd(y))), sn_gt(sn_fst(y), sn_fst(x))), x, y);
}

static sn_scalar old_if_less(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_or(sn_lt(sn_fst(x), sn_fst(y)), same_and(x, y, sn_lt(sn_snd(x), sn_snd(y)))), y, x);
}

static sn_scalar greater_and_other(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_and(sn_ge(sn_fst(x), sn_fst(y)), sn_ne(sn_snd(x), sn_snd(y))), x, y);
}

static sn_scalar neither_greater(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_not(sn_or(sn_gt(sn_fst(x), sn_fst(y)), sn_gt(sn_snd(x), sn_snd(y)))), x, y);
}

static sn_scalar less_or_greater(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_or(sn_lt(sn_fst(x), sn_fst(y)), sn_gt(sn_snd(x), sn_snd(y))), x, y);
}

/* Some are no numbers. */
static sn_scalar root(sn_scalar x)
{
    return sn_tuple(sn_sqrt(sn_sub(sn_fst(x), 2)), sn_snd(x));
}

#define CHOSEN(operator)                                                                                               \
    static sn_acc all_##operator(sn_acc defaults, sn_acc keys, sn_acc source)                                          \
    {                                                                                                                  \
        return sn_permute(operator, defaults, sn_closure(key_at, &keys), source);                                      \
    }                                                                                                                  \
                                                                                                                       \
    static sn_acc roots_##operator(sn_acc defaults, sn_acc keys, sn_acc source)                                        \
    {                                                                                                                  \
        return sn_permute(operator, defaults, sn_closure(key_at, &keys), sn_map(root, source));                        \
    }                                                                                                                  \
                                                                                                                       \
    static void by_##operator(void **env)                                                                              \
    {                                                                                                                  \
        (void)env;                                                                                                     \
        both("[m](T, i16), [n]i64, [n](T, i16) -> [m](T, i16)", all_##operator, "i8 i32 u64 f32 f64", INDICES, 1, 0,   \
             5, 100, 300, 4099, 33, 70001);                                                                            \
        both("[m](T, i16), [n]i64, [n](T, i16) -> [m](T, i16)", roots_##operator, FLOATS, INDICES, 5, 100, 300, 4099,  \
             33, 70001, 9, 140001);                                                                                    \
    }
CHOSEN(first_greatest)
CHOSEN(last_least)
CHOSEN(old_if_less)
CHOSEN(greater_and_other)
CHOSEN(neither_greater)
CHOSEN(less_or_greater)

/* --- signalling NaNs give the other operand, as all NaNs do --- */

static sn_acc extremes(sn_acc like, sn_acc keys, sn_acc x)
{
    sn_scalar m = sn_extent(like, 0);
    return sn_results(sn_reduce_by_key(sn_min, sn_f32(1000), m, keys, x),
                      sn_reduce_by_key(sn_max, sn_f32(-1000), m, keys, x));
}

static void extremes_of(sn_context *cx, int64_t n, int64_t places)
{
    sn_program *p = sn_compile_at(SN_HERE, cx, "[m]u8, [n]i64, [n]f32 -> [m]f32, [m]f32", SN_BODY(extremes));
    int64_t *key = malloc((size_t)n * sizeof *key);
    float *x = malloc((size_t)n * sizeof *x), *found = malloc((size_t)places * 2 * sizeof *found);
    float *wanted = malloc((size_t)places * 2 * sizeof *wanted);
    uint8_t *like = calloc((size_t)places, 1);
    assert_non_null(p);
    for (int64_t j = 0; j < places; j++) {
        wanted[j] = 1000;
        wanted[places + j] = -1000;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = (uint64_t)(i + 1) * UINT64_C(0x9E3779B97F4A7C15);
        const uint32_t signalling = UINT32_C(0x7fa00000) | (uint32_t)(bits >> 63) << 31;
        float *least = wanted, *most = wanted + places;
        key[i] = (int64_t)((bits >> 20) % (uint64_t)places);
        x[i] = (float)((bits >> 40) % 1000) - 500;
        least[key[i]] = (bits >> 33) % 3 || x[i] > least[key[i]] ? least[key[i]] : x[i];
        most[key[i]] = (bits >> 33) % 3 || x[i] < most[key[i]] ? most[key[i]] : x[i];
        if ((bits >> 33) % 3)
            memcpy(&x[i], &signalling, sizeof signalling);
    }
    assert_int_equal(sn_call(p, sn_in(like, places), sn_in(key, n), sn_in(x, n), sn_into(found, places),
                             sn_into(found + places, places)),
                     SN_OK);
    assert_memory_equal(found, wanted, (size_t)places * 2 * sizeof *found);
    free(key);
    free(x);
    free(found);
    free(wanted);
    free(like);
    sn_drop(p);
}

static void signalling(void **env)
{
    static const struct {
        int64_t n, places;
    } size[] = {{7, 3}, {1000, 10}, {70001, 33}, {70001, 30000}, {200003, 7}};
    sn_context *context[] = {both_cpu(), both_interpreter()};
    (void)env;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (size_t k = 0; k < 2; k++)
            if (context[k])
                extremes_of(context[k], size[i].n, size[i].places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_first_greatest),  cmocka_unit_test(by_last_least),
        cmocka_unit_test(by_old_if_less),     cmocka_unit_test(by_greater_and_other),
        cmocka_unit_test(by_neither_greater), cmocka_unit_test(by_less_or_greater),
        cmocka_unit_test(signalling),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, both_open, both_close);
}
