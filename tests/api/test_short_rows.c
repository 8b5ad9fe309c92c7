/* Rows of a few elements, whose number is known: pixels, points, vectors. What is made of a row's sum is computed in
 * the loop over rows, of however many dimensions; where elements are stored, too, a lane has code for each position of
 * its row (fold/lanes.c). The interpreter's bits, of every number of rows around that of a gang. */
#include "both.h"

#define COUNTS 0, 1, 7, 15, 16, 17, 31, 33, 64, 65, 100, 1000, 4099
#define PLANES 0, 3, 1, 1, 3, 0, 3, 5, 7, 9, 16, 4, 17, 3, 11, 33, 100, 41

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar negated(sn_scalar x)
{
    return sn_sub(sn_mul(x, 3), 1);
}

static sn_acc size(sn_acc x)
{
    return sn_map(negated, sn_sum(sn_map(square, x)));
}

static void what_is_made_of_sums(void **state)
{
    (void)state;
    both("[n,2]T -> [n]T", size, "f32 f64 i32 u32", SMALL, COUNTS);
    both("[n,m,2]T -> [n,m]T", size, "f32 f64 i32 u32", SMALL, PLANES);
    both("[n,m,3]T -> [n,m]T", size, "f32 f64 i64", SMALL, PLANES);
    both("[n,m,16]T -> [n,m]T", size, "f32 i64", SMALL, PLANES);
    both("[n,m,17]T -> [n,m]T", size, "f32", SMALL, PLANES);
    both("[n,m,2,3]T -> [n,m,2]T", size, "f32 f64", SMALL, PLANES);
    both("[n,m,2]T -> [n,m]T", size, "f32", MIXED, 40, 50);
}

/* --- elements that are stored --- */

static sn_acc along(sn_acc of_rows, sn_acc like)
{
    return sn_replicate(of_rows, SN_ALL, sn_extent(like, 1));
}

static sn_acc along_third(sn_acc of_rows, sn_acc like)
{
    return sn_replicate(of_rows, SN_ALL, SN_ALL, sn_extent(like, 2));
}

static sn_acc less_size_3(sn_acc x)
{
    return sn_zip_with(sn_sub, x, along_third(size(x), x));
}

static sn_acc less_size(sn_acc x)
{
    return sn_zip_with(sn_sub, x, along(size(x), x));
}

static sn_scalar quotient(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_eq(y, 0), x, sn_div(x, y));
}

static sn_acc shares(sn_acc x)
{
    return sn_zip_with(quotient, x, along(sn_sum(x), x));
}

static sn_acc shares_3(sn_acc x)
{
    return sn_zip_with(quotient, x, along_third(sn_sum(x), x));
}

/* Several sweeps, and results of each. */
static sn_acc in_range(sn_acc x)
{
    sn_acc above = sn_zip_with(sn_sub, x, along(sn_minimum(x), x));
    sn_acc most = sn_maximum(above);
    return sn_results(above, most, sn_zip_with(sn_sub, along(most, x), above));
}

static void elements_of_rows(void **state)
{
    (void)state;
    both("[n,2]T -> [n,2]T", less_size, "f32 f64 i32 i64 u32", SMALL, COUNTS);
    both("[n,3]T -> [n,3]T", less_size, "f32 f64 i32 i64 u32", SMALL, COUNTS);
    both("[n,4]T -> [n,4]T", less_size, "f32 f64 u32", SMALL, COUNTS);
    both("[n,5]T -> [n,5]T", less_size, "f32 f64", SMALL, COUNTS);
    both("[n,1]T -> [n,1]T", less_size, "f32 u32", SMALL, COUNTS);
    both("[n,m,2]T -> [n,m,2]T", less_size_3, "f32 f64 i32 u32", SMALL, PLANES);
    both("[n,m,3]T -> [n,m,3]T", less_size_3, "f32 f64 u64", SMALL, PLANES);
    both("[n,m,2]T -> [n,m,2]T", shares_3, "f32 f64", MIXED, PLANES);
    both("[n,3]T -> [n,3]T", shares, "f32 f64", MIXED, COUNTS);
    both("[n,4]T -> [n,4]T, [n]T, [n,4]T", in_range, "f32 f64 i32 u8", SMALL, COUNTS);
    both("[n,2]T -> [n,2]T, [n]T, [n,2]T", in_range, "f32 f64 i16", MIXED, COUNTS);
}

/* --- elements that are other ones at each position --- */

static sn_scalar at_index(sn_scalar i, sn_scalar k, sn_scalar x)
{
    return sn_mul(x, sn_add(sn_mul(i, 3), k));
}

static sn_acc by_index(sn_acc x)
{
    sn_acc y = sn_imap(at_index, x);
    return sn_zip_with(sn_sub, y, along(sn_sum(y), x));
}

static sn_acc backwards(sn_acc x)
{
    return sn_zip_with(sn_sub, sn_reverse(x), along(sn_sum(x), x));
}

static void positions(void **state)
{
    (void)state;
    both("[n,3]T -> [n,3]T", by_index, "i64", SMALL, COUNTS);
    both("[n,2]T -> [n,2]T", by_index, "i64", SMALL, COUNTS);
    both("[n,2]T -> [n,2]T", backwards, "f32 i32 u32", SMALL, COUNTS);
    both("[n,4]T -> [n,4]T", backwards, "f32 f64", SMALL, COUNTS);
}

/* --- scans --- */

static sn_acc running(sn_acc x)
{
    return sn_scanl1(sn_add, x);
}

static sn_acc running_shares(sn_acc x)
{
    sn_acc sums = sn_scanl1(sn_add, x);
    return sn_results(sums, sn_zip_with(quotient, sums, along(sn_sum(x), x)));
}

static sn_acc from_right(sn_acc x)
{
    return sn_scanr1(sn_max, x);
}

static sn_acc before(sn_acc x)
{
    return sn_prescan(sn_add, 2, x);
}

static void scans(void **state)
{
    (void)state;
    both("[n,2]T -> [n,2]T", running, "f32 f64 i32 u8", SMALL, COUNTS);
    both("[n,3]T -> [n,3]T", running, "f32 f64 i16", SMALL, COUNTS);
    both("[n,m,4]T -> [n,m,4]T", running, "f32 i64", SMALL, PLANES);
    both("[n,3]T -> [n,3]T, [n,3]T", running_shares, "f32 f64", SMALL, COUNTS);
    both("[n,3]T -> [n,3]T", from_right, "f32 u8", MIXED, COUNTS);
    both("[n,2]T -> [n,2]T", from_right, "f64 i32", MIXED, COUNTS);
    both("[n,4]T -> [n,4]T", before, "f32 i32 u16", SMALL, COUNTS);
}

/* --- failures: the first one that the order of elements has --- */

static sn_acc divided(sn_acc x)
{
    return sn_zip_with(sn_quot, x, along(sn_sum(x), x));
}

static void failures(void **state)
{
    (void)state;
    both("[n,2]T -> [n,2]T", divided, "i32 i64", SMALL, COUNTS);
    both("[n,3]T -> [n,3]T", divided, "i32 u32", POSITIVE, COUNTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_made_of_sums),
        cmocka_unit_test(elements_of_rows),
        cmocka_unit_test(positions),
        cmocka_unit_test(scans),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
