/* Reads at indices that are rows in pieces: turned round, clamped, periodic, chosen; against the interpreter. */
#include "both.h"

#define LENGTHS 0, 1, 2, 3, 5, 15, 16, 17, 31, 33, 64, 65, 127, 130, 200, 1000

static sn_acc turned(sn_acc x)
{
    return sn_results(sn_rotate(1, x), sn_rotate(-3, x), sn_rotate(70, x));
}

static sn_acc turned_rows(sn_acc x)
{
    return sn_results(sn_rotate(2, x), sn_transpose(sn_rotate(5, sn_transpose(x))));
}

static sn_scalar clamped_at(void *env, sn_scalar i, sn_scalar x)
{
    sn_acc a = *(const sn_acc *)env;
    sn_scalar last = sn_sub(sn_extent(a, 0), 1);
    sn_scalar left = sn_index(a, sn_max(0, sn_min(last, sn_sub(i, 2)))),
              right = sn_index(a, sn_min(last, sn_add(i, 7)));
    return sn_sub(sn_add(left, right), x);
}

static sn_acc clamped(sn_acc x)
{
    return sn_imap(sn_closure(clamped_at, &x), x);
}

static sn_scalar periodic_at(void *env, sn_scalar i, sn_scalar x)
{
    sn_acc a = *(const sn_acc *)env;
    sn_scalar n = sn_extent(a, 0), next = sn_add(i, 1), before = sn_sub(i, 1);
    sn_scalar right = sn_index(a, sn_if(sn_eq(next, n), sn_i64(0), next));
    sn_scalar left = sn_index(a, sn_if(sn_lt(before, 0), sn_sub(n, 1), before));
    return sn_sub(sn_add(left, right), sn_add(x, sn_index(a, sn_mod(sn_add(i, 3), n))));
}

static sn_acc periodic(sn_acc x)
{
    return sn_imap(sn_closure(periodic_at, &x), x);
}

/* two rows of one array, chosen by what the elements are */
static sn_scalar chosen_at(void *env, sn_scalar i, sn_scalar x)
{
    sn_acc a = *(const sn_acc *)env;
    sn_scalar half = sn_quot(sn_extent(a, 0), 2);
    return sn_index(a, sn_if(sn_lt(x, 0), sn_quot(i, 2), sn_if(sn_lt(i, half), sn_add(i, half), sn_sub(i, half))));
}

static sn_acc chosen(sn_acc x)
{
    return sn_imap(sn_closure(chosen_at, &x), x);
}

/* outside at both ends, unless the array is long */
static sn_scalar outside_at(void *env, sn_scalar i, sn_scalar x)
{
    sn_acc a = *(const sn_acc *)env;
    return sn_add(x, sn_index(a, sn_max(sn_min(sn_sub(i, 5), 50), -1)));
}

static sn_acc outside(sn_acc x)
{
    return sn_imap(sn_closure(outside_at, &x), x);
}

static sn_scalar edges(sn_scalar s)
{
    return sn_sub(sn_add(sn_at(s, -4), sn_at(s, 4)), sn_add(sn_at(s, -1), sn_at(s, 2)));
}

static sn_scalar corners(sn_scalar s)
{
    return sn_sub(sn_add(sn_at(s, -1, -2), sn_at(s, 1, 2)), sn_add(sn_at(s, 1, -1), sn_at(s, 0, 1)));
}

static sn_acc ends(sn_acc x)
{
    sn_pattern p = sn_pattern(9);
    return sn_results(sn_stencil(edges, p, sn_mirror, x), sn_stencil(edges, p, sn_wrap, x),
                      sn_stencil(edges, p, sn_clamp, x));
}

static sn_acc frames(sn_acc x)
{
    sn_pattern p = sn_pattern(3, 5);
    return sn_results(sn_stencil(corners, p, sn_mirror, x), sn_stencil(corners, p, sn_wrap, x),
                      sn_stencil(corners, p, sn_clamp, x));
}

/* as a mirror is written by hand; half a period is the last index only in the first */
static sn_scalar folded_at(void *env, sn_scalar i, sn_scalar x)
{
    sn_acc a = *(const sn_acc *)env;
    sn_scalar last = sn_sub(sn_extent(a, 0), 1);
    for (int k = 2; k <= 3; k++) {
        sn_scalar period = sn_max(sn_mul(last, k), 1), far = sn_mod(sn_abs(sn_sub(i, 7)), period);
        x = sn_add(x, sn_index(a, sn_max(sn_min(sn_min(far, sn_sub(period, far)), last), 0)));
    }
    return x;
}

static sn_acc folded(sn_acc x)
{
    return sn_imap(sn_closure(folded_at, &x), x);
}

/* Rows that go over the end of a short array many times: of its length and of one more. */
static sn_scalar repeated_at(void *env, sn_scalar i, sn_scalar x)
{
    sn_acc a = *(const sn_acc *)env;
    sn_scalar n = sn_extent(a, 0), far = sn_mod(sn_abs(sn_sub(i, 3)), sn_max(sn_mul(sn_sub(n, 1), 2), 1));
    sn_scalar back = sn_sub(sn_max(sn_mul(sn_sub(n, 1), 2), 1), far);
    sn_scalar folds = sn_index(a, sn_max(sn_min(sn_min(far, back), sn_sub(n, 1)), 0));
    return sn_sub(sn_sub(sn_index(a, sn_mod(sn_add(i, 2), n)), x), folds);
}

static sn_acc repeated(sn_acc a, sn_acc x)
{
    return sn_imap(sn_closure(repeated_at, &a), x);
}

static void rows_in_pieces(void **state)
{
    (void)state;
    both("[n]T -> [n]T, [n]T, [n]T", turned, ALL_TYPES, MIXED, LENGTHS);
    both("[n,m]T -> [n,m]T, [n,m]T", turned_rows, "u8 f32 f64", MIXED, MATRICES);
    both("[n]T -> [n]T", clamped, "u8 i16 i32 f64", SMALL, LENGTHS);
    both("[n]T -> [n]T", periodic, "i8 u32 f32 i64", SMALL, LENGTHS);
    both("[n]T -> [n]T, [n]T, [n]T", ends, "u8 i16 i32 f64", SMALL, LENGTHS);
    both("[n,m]T -> [n,m]T, [n,m]T, [n,m]T", frames, "i8 i32 f64", SMALL, MATRICES);
    both("[n]T -> [n]T", folded, "i8 i32 f64", SMALL, LENGTHS);
    both("[n]T, [m]T -> [m]T", repeated, "i8 i16 i32 f64", SMALL, 1, 200, 2, 131, 3, 200, 5, 64, 7, 300, 8, 65, 9, 100,
         15, 200, 16, 200, 17, 130, 31, 200, 32, 65, 33, 200, 60, 300, 63, 130, 64, 200, 65, 300, 100, 1000);
    both("[n]T -> [n]T", chosen, "i8 i32 f64", SMALL, LENGTHS);
}

static void errors_stay_errors(void **state)
{
    (void)state;
    both("[n]T -> [n]T", outside, "u8 i32 f64", SMALL, LENGTHS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_pieces),
        cmocka_unit_test(errors_stay_errors),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
