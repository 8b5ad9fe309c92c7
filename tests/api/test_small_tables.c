/* Elements of arrays that are known to have few, wherever they are asked for: on processors with wide registers all of
 * such an array lies in some of them. Against the interpreter, for numbers of elements around whole registers. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sn_scalar look(void *env, sn_scalar at)
{
    return sn_index(*(sn_acc *)env, sn_to_i64(at));
}

static sn_acc looked_up(sn_acc at, sn_acc table)
{
    return sn_map(sn_closure(look, &table), at);
}

/* Every third lane reads nothing. */
static sn_scalar look_at_some(void *env, sn_scalar i, sn_scalar at)
{
    return sn_if(sn_eq(sn_rem(i, 3), 0), sn_index(*(sn_acc *)env, 0),
                 sn_index(*(sn_acc *)env, sn_rem(sn_to_i64(at), sn_size(*(sn_acc *)env))));
}

static sn_acc looked_up_by_some(sn_acc at, sn_acc table)
{
    return sn_imap(sn_closure(look_at_some, &table), at);
}

/* Keys that are inside, of three types, for tables of so many elements. */
static void of_size(int elements, const char *types)
{
    char signature[96];
    snprintf(signature, sizeof(signature), "[n]i64, [%d]T -> [n]T", elements);
    both(signature, looked_up_by_some, types, SMALL, 0, 1, 5, 64, 1001);
    snprintf(signature, sizeof(signature), "[n]u8, [%d]T -> [n]T", elements);
    both(signature, looked_up_by_some, types, MIXED, 0, 1, 63, 64, 200, 4099);
}

static void around_registers(void **state)
{
    (void)state;
    static const int sizes[] = {1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17,  31,
                                32, 33, 63, 64, 65, 100, 128, 129, 200, 255, 256, 257};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        of_size(sizes[i], "u8 i16 f32 f64 bool i64");
}

/* All bytes, as a picture's levels are changed. */
static void all_bytes(void **state)
{
    (void)state;
    both("[n]u8, [256]T -> [n]T", looked_up, "u8 f32 bool i16 f64", MIXED, 0, 1, 64, 1000, 70001);
    both("[n,m]u8, [256]u8 -> [n,m]u8", looked_up, NULL, MIXED, 3, 17, 33, 65, 7, 300);
}

/* Indices by themselves: a pattern of 4 x 4, and what belongs to the columns of points. */
static sn_scalar darker(void *env, sn_scalar i, sn_scalar j, sn_scalar v)
{
    return sn_gt(v, sn_index(*(sn_acc *)env, sn_rem(i, 4), sn_bit_and(j, 3)));
}

static sn_acc dithered(sn_acc x, sn_acc pattern)
{
    return sn_imap(sn_closure(darker, &pattern), x);
}

static sn_scalar squared_difference(sn_scalar a, sn_scalar b)
{
    return sn_mul(sn_sub(a, b), sn_sub(a, b));
}

static sn_acc spread(sn_acc points, sn_acc centre)
{
    sn_acc d = sn_zip_with(squared_difference, points, sn_replicate(centre, sn_extent(points, 0), SN_ALL));
    return sn_sum(sn_flatten(d));
}

static void by_indices(void **state)
{
    (void)state;
    both("[n,m]T, [4,4]T -> [n,m]bool", dithered, "f32 u8 i64", SMALL, 0, 0, 1, 1, 5, 3, 17, 100, 33, 64);
    both("[n,3]T, [3]T -> T", spread, "f32 i32 f64", SMALL, 0, 1, 2, 33, 1365, 1366, 70001);
    both("[n,5]T, [5]T -> T", spread, "f32 i64", SMALL, 0, 1, 2, 33, 819, 820, 70001);
}

/* What is outside is an error, as of any array. */
static void outside(void **state)
{
    (void)state;
    enum { N = 100 };
    uint8_t at[N] = {0};
    float table[9], out[N];
    for (int i = 0; i < 9; i++)
        table[i] = (float)i;
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[n]u8, [9]f32 -> [n]f32", SN_BODY(looked_up));
    assert_non_null(p);
    for (int i = 0; i < N; i++)
        at[i] = (uint8_t)(i % 9);
    assert_int_equal(sn_call(p, sn_in(at, N), sn_in(table, 9), sn_into(out, N)), SN_OK);
    assert_true(out[8] == 8 && out[9] == 0 && out[97] == 7);
    at[70] = 9;
    assert_int_equal(sn_call(p, sn_in(at, N), sn_in(table, 9), sn_into(out, N)), SN_OUT_OF_RANGE);
    assert_non_null(strstr(sn_message(both_cpu()), "index 9"));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_registers),
        cmocka_unit_test(all_bytes),
        cmocka_unit_test(by_indices),
        cmocka_unit_test(outside),
    };
    return cmocka_run_group_tests_name("small_tables", tests, both_open, both_close);
}
