/* Sorts of rows whose length the program says: a lane of the CPU's has all of a row in registers. Against the
 * interpreter: every length around the longest such row, all types, both directions, equal elements with others beside
 * them, elements that are computed and that fail. */
#include "both.h"

static sn_acc ascending(sn_acc a)
{
    return sn_sort(a);
}

static sn_acc descending(sn_acc a)
{
    return sn_sort_descending(a);
}

static sn_acc by_key(sn_acc keys, sn_acc values)
{
    return sn_sort_by_key(keys, values);
}

static sn_acc by_key_descending(sn_acc keys, sn_acc values)
{
    return sn_sort_by_key_descending(keys, values);
}

static sn_acc median_of_5(sn_acc a)
{
    return sn_slice(sn_sort(a), SN_ALL, 2);
}

static sn_scalar quotient(sn_scalar x)
{
    return sn_quot(12, x);
}

static sn_acc of_quotients(sn_acc a)
{
    return sn_sort(sn_map(quotient, a));
}

#define ROWS 0, 1, 2, 7, 31, 32, 33, 64, 65, 100, 1000, 4099

static void lengths(void **state)
{
    (void)state;
    both("[n,1]T -> [n,1]T", ascending, "f32 u8", MIXED, ROWS);
    both("[n,2]T -> [n,2]T", ascending, ALL_TYPES, MIXED, ROWS);
    both("[n,3]T -> [n,3]T", descending, ALL_TYPES, MIXED, ROWS);
    both("[n,4]T -> [n,4]T", ascending, ALL_TYPES, MIXED, ROWS);
    both("[n,5]T -> [n,5]T", ascending, ALL_TYPES, MIXED, ROWS);
    both("[n,6]T -> [n,6]T", descending, ALL_TYPES, MIXED, ROWS);
    both("[n,7]T -> [n,7]T", ascending, "f32 f64 i16", MIXED, ROWS);
    both("[n,8]T -> [n,8]T", ascending, ALL_TYPES, MIXED, ROWS);
    both("[n,9]T -> [n,9]T", ascending, "f32 u8 i64", MIXED, ROWS);
    both("[n,5]T -> [n]T", median_of_5, "f32 u8 f64", MIXED, ROWS);
}

static void together(void **state)
{
    (void)state;
    both("[n,4]T, [n,4]i32 -> [n,4](T, i32)", by_key, ALL_TYPES, SMALL, ROWS);
    both("[n,5]T, [n,5]u8 -> [n,5](T, u8)", by_key_descending, "f32 i16 f64", SMALL, ROWS);
    both("[n,8]T, [n,8]f32 -> [n,8](T, f32)", by_key, "f32 u8 i64", SMALL, ROWS);
    both("[n,3](bool, u8, T) -> [n,3](bool, u8, T)", descending, FLOATS, SMALL, ROWS);
    both("[m,n,5]T -> [m,n,5]T", ascending, "f32 u8", MIXED, 0, 3, 3, 0, 3, 33, 7, 100);
}

static void computed(void **state)
{
    (void)state;
    both("[n,5]T -> [n,5]T", of_quotients, "i32 i64", POSITIVE, ROWS);
    both("[n,5]T -> [n,5]T", of_quotients, "i32 i64", SMALL, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths),
        cmocka_unit_test(together),
        cmocka_unit_test(computed),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
