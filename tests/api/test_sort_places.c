/* Places of short sorted rows, medians and extremes of a few elements: the same as of rows that are sorted in memory,
 * and as the interpreter says. */
#include "both.h"
#include "sinter/sinter.h"

#include <stdio.h>
#include <string.h>

#define both_halves(signature, f, types, what, ...)                                                                    \
    both_halves_at(__FILE__, __LINE__, signature, SN_BODY(f), types, what, (const int64_t[]){__VA_ARGS__, -1})

static unsigned length; /* while a program is built */

static sn_acc place(sn_acc sorted, unsigned k)
{
    return sn_slice(sorted, SN_ALL, k);
}

static sn_acc place_in_plane(sn_acc sorted, unsigned k)
{
    return sn_slice(sorted, SN_ALL, SN_ALL, k);
}

/* The first, the middle one and the last; and the same of rows in memory. */
static sn_acc places(sn_acc a, sn_acc b)
{
    sn_acc sorted = sn_sort(a), kept = sn_force(sn_sort(b));
    return sn_results(place(sorted, 0), place(sorted, length / 2), place(sorted, length - 1), place(kept, 0),
                      place(kept, length / 2), place(kept, length - 1));
}

static sn_acc places_descending(sn_acc a, sn_acc b)
{
    sn_acc sorted = sn_sort_descending(a), kept = sn_force(sn_sort_descending(b));
    return sn_results(place(sorted, 1), place(sorted, length / 2), place(kept, 1), place(kept, length / 2));
}

/* All places are read, so each row is sorted as a whole. */
static sn_acc all_of_row(sn_acc a, sn_acc b)
{
    sn_acc sorted = sn_sort(a), kept = sn_force(sn_sort(b));
    return sn_results(sorted, place(sorted, 1), kept, place(kept, 1));
}

static void of_lengths(void **state)
{
    (void)state;
    for (length = 2; length <= 26; length = length < 10 ? length + 1 : 2 * length + length % 2 - 7) {
        char s[200];
        snprintf(s, sizeof s, "[n,%u]T, [n,%u]T -> [n]T, [n]T, [n]T, [n]T, [n]T, [n]T", length, length);
        both_halves(s, places, ALL_TYPES, MIXED, 0, 1, 2, 15, 16, 17, 64, 65, 1000);
        snprintf(s, sizeof s, "[n,%u]T, [n,%u]T -> [n]T, [n]T, [n]T, [n]T", length, length);
        both_halves(s, places_descending, "f32 f64 u8 i16 i64", MIXED, 0, 1, 17, 130, 1000);
        snprintf(s, sizeof s, "[n,%u]T, [n,%u]T -> [n,%u]T, [n]T, [n,%u]T, [n]T", length, length, length, length);
        both_halves(s, all_of_row, "f32 i32", MIXED, 0, 1, 17, 130);
    }
}

/* Rows that are made of reads, sums and indices are not made first. */
static sn_scalar around(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar row = sn_add(i, sn_sub(sn_quot(k, 3), 1)), column = sn_add(j, sn_sub(sn_rem(k, 3), 1));
    row = sn_max(sn_min(row, sn_sub(sn_extent(x, 0), 1)), 0);
    return sn_index(x, row, sn_max(sn_min(column, sn_sub(sn_extent(x, 1), 1)), 0));
}

static sn_acc squares(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1), 9), sn_closure(around, &x));
}

static sn_acc medians(sn_acc a, sn_acc b)
{
    return sn_results(place_in_plane(sn_sort(squares(a)), 4), place_in_plane(sn_force(sn_sort(squares(b))), 4));
}

static sn_acc turned_rows(sn_acc x)
{
    return sn_zip_with(sn_mul, sn_transpose(x), sn_replicate(sn_iota(sn_extent(x, 1)), SN_ALL, sn_extent(x, 0)));
}

static sn_acc of_turned_rows(sn_acc a, sn_acc b)
{
    return sn_results(place(sn_sort(turned_rows(a)), 2), place(sn_force(sn_sort(turned_rows(b))), 2));
}

/* The rows are read twice. */
static sn_acc and_their_sums(sn_acc a, sn_acc b)
{
    sn_acc x = turned_rows(a), y = turned_rows(b);
    return sn_results(place(sn_sort(x), 2), sn_sum(x), place(sn_force(sn_sort(y)), 2), sn_sum(y));
}

static void of_what_is_made(void **state)
{
    (void)state;
    both_halves("[n,m]T, [n,m]T -> [n,m]T, [n,m]T", medians, "f32 f64 u8 i16", MIXED, 1, 1, 2, 3, 33, 65, 70, 129);
    both_halves("[5,n]T, [5,n]T -> [n]T, [n]T", of_turned_rows, "i64", SMALL, 0, 1, 17, 130, 1000);
    both_halves("[5,n]T, [5,n]T -> [n]T, [n]T, [n]T, [n]T", and_their_sums, "i64", SMALL, 0, 1, 17, 130, 1000);
}

static sn_scalar three_on(void *env, sn_scalar i, sn_scalar k)
{
    return sn_index(*(sn_acc *)env, sn_add(sn_mul(i, 2), k));
}

static sn_acc of_reads(sn_acc x)
{
    sn_acc rows = sn_generate(sn_shape(sn_quot(sn_size(x), 2), 3), sn_closure(three_on, &x));
    return place(sn_sort(rows), 1);
}

/* The last row reads one element too many: element 2 of row 49 of the generate. */
static void failures_name_the_element(sn_context *cx)
{
    static float x[100], y[50];
    sn_program *p = sn_compile(cx, "[n]f32 -> [m]f32", of_reads);
    assert_non_null(p);
    const sn_status status = sn_call(p, sn_in(x, 100), sn_into(y, 50));
    if (status != SN_OUT_OF_RANGE)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    assert_non_null(strstr(sn_message(cx), "index 100 is outside the extent 100"));
    assert_non_null(strstr(sn_message(cx), "element 149"));
    assert_int_equal(sn_call(p, sn_in(x, 99), sn_into(y, 49)), SN_OK);
    sn_drop(p);
}

static void failures(void **state)
{
    (void)state;
    both_in_turn(failures_name_the_element);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_lengths), cmocka_unit_test(of_what_is_made),
                                       cmocka_unit_test(failures)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
