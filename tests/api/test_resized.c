/* Arrays that are read at quotients of positions, as pictures of another size are made: places of columns are computed
 * once for all rows. Against the interpreter, smaller and larger, with no elements, and with indices that are
 * outside. */
#include "both.h"

#include <stdio.h>
#include <string.h>

typedef struct picture {
    sn_acc x, rows, columns;
} picture;

static sn_scalar nearest(sn_scalar at, sn_scalar from, sn_scalar to)
{
    return sn_quot(sn_mul(at, from), to);
}

/* Middles of elements. */
static sn_scalar middle(sn_scalar at, sn_scalar from, sn_scalar to)
{
    return sn_quot(sn_mul(sn_add(sn_mul(at, 2), 1), from), sn_mul(to, 2));
}

static sn_scalar nearest_at(void *env, sn_scalar i, sn_scalar j)
{
    const picture *p = env;
    return sn_tuple(nearest(i, sn_extent(p->x, 0), sn_size(p->rows)),
                    nearest(j, sn_extent(p->x, 1), sn_size(p->columns)));
}

static sn_acc moved(sn_acc x, sn_acc rows, sn_acc columns)
{
    picture p = {x, rows, columns};
    return sn_backpermute(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(nearest_at, &p), x);
}

static sn_scalar middle_at(void *env, sn_scalar i, sn_scalar j)
{
    const picture *p = env;
    return sn_index(p->x, middle(i, sn_extent(p->x, 0), sn_size(p->rows)),
                    middle(j, sn_extent(p->x, 1), sn_size(p->columns)));
}

static sn_acc read(sn_acc x, sn_acc rows, sn_acc columns)
{
    picture p = {x, rows, columns};
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(middle_at, &p));
}

/* Between two columns, by a weight of 1/16 that the column has. */
static sn_scalar between_at(void *env, sn_scalar i, sn_scalar j)
{
    const picture *p = env;
    sn_scalar m = sn_extent(p->x, 1), to = sn_size(p->columns);
    sn_scalar at = sn_quot(sn_mul(j, sn_mul(m, 16)), to), left = sn_shr(at, 4), w = sn_bit_and(at, 15);
    sn_scalar right = sn_min(sn_add(left, 1), sn_sub(m, 1)), row = nearest(i, sn_extent(p->x, 0), sn_size(p->rows));
    return sn_add(sn_mul(sn_to_i64(sn_index(p->x, row, left)), sn_sub(16, w)),
                  sn_mul(sn_to_i64(sn_index(p->x, row, right)), w));
}

static sn_acc between(sn_acc x, sn_acc rows, sn_acc columns)
{
    picture p = {x, rows, columns};
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(between_at, &p));
}

/* Where a column asks for it only. */
static sn_scalar chosen(void *env, sn_scalar at, sn_scalar x)
{
    const picture *p = env;
    sn_scalar i = sn_get(at, 0), j = sn_get(at, 1), m = sn_extent(p->x, 1);
    sn_scalar far = sn_index(p->x, i, sn_rem(sn_mul(j, 7), m));
    return sn_if(sn_lt(sn_rem(j, 3), 1), x, sn_add(x, far));
}

static sn_acc modular(sn_acc x)
{
    picture p = {.x = x};
    return sn_imap(sn_closure(chosen, &p), x);
}

/* Layers whose pixels have three channels. */
static sn_scalar channel_at(void *env, sn_scalar i, sn_scalar j, sn_scalar c)
{
    const picture *p = env;
    return sn_tuple(nearest(i, sn_extent(p->x, 0), sn_size(p->rows)),
                    nearest(j, sn_extent(p->x, 1), sn_size(p->columns)), c);
}

static sn_acc channels(sn_acc x, sn_acc rows, sn_acc columns)
{
    picture p = {x, rows, columns};
    return sn_backpermute(sn_shape(sn_size(rows), sn_size(columns), 3), sn_closure(channel_at, &p), x);
}

/* By floats, of which some columns are outside or far from their neighbours. */
static sn_scalar scaled_at(void *env, sn_scalar i, sn_scalar j)
{
    const picture *p = env;
    sn_scalar n = sn_extent(p->x, 0), m = sn_extent(p->x, 1);
    sn_scalar scale = sn_div(sn_to_f32(m), sn_to_f32(sn_size(p->columns)));
    sn_scalar at = sn_sub(sn_mul(sn_add(sn_to_f32(j), 0.5f), scale), 0.5f), low = sn_to_i64(sn_floor(at));
    sn_scalar a = sn_max(sn_min(low, sn_sub(m, 1)), 0), b = sn_max(sn_min(sn_mul(low, 5), sn_sub(m, 1)), 0);
    sn_scalar row = sn_min(i, sn_sub(n, 1));
    return sn_add(sn_index(p->x, row, a), sn_index(p->x, row, b));
}

static sn_acc scaled(sn_acc x, sn_acc rows, sn_acc columns)
{
    picture p = {x, rows, columns};
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(scaled_at, &p));
}

/* Some places are behind the end. */
static sn_scalar too_far_at(void *env, sn_scalar i, sn_scalar j)
{
    const picture *p = env;
    return sn_tuple(i, sn_add(nearest(j, sn_extent(p->x, 1), sn_size(p->columns)), 1));
}

static sn_acc too_far(sn_acc x, sn_acc rows, sn_acc columns)
{
    picture p = {x, rows, columns};
    return sn_backpermute(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(too_far_at, &p), x);
}

/* Extents of a source, rows and columns. */
#define PICTURES                                                                                                       \
    5, 7, 3, 4, 5, 7, 9, 33, 5, 7, 40, 130, 33, 100, 17, 65, 33, 100, 70, 300, 1, 1, 20, 64, 100, 1000, 33, 333, 3,    \
        400, 50, 401
/* Without elements in the source, which are asked for or not, or without any in the result. */
#define EMPTY 0, 0, 0, 0, 5, 7, 0, 9, 5, 7, 9, 0, 0, 7, 0, 9, 0, 7, 3, 9, 5, 0, 3, 9

static void by_backpermute(void **state)
{
    (void)state;
    both("[n,m]T, [k]bool, [l]bool -> [k,l]T", moved, ALL_TYPES, SMALL, PICTURES, EMPTY);
    both("[n,m,3]T, [k]bool, [l]bool -> [k,l,3]T", channels, "u8 f32 f64", SMALL, PICTURES, EMPTY);
}

static void by_reads(void **state)
{
    (void)state;
    both("[n,m]T, [k]bool, [l]bool -> [k,l]T", read, "u8 i16 f32 i64", SMALL, PICTURES, EMPTY);
    both("[n,m]T, [k]bool, [l]bool -> [k,l]i64", between, "u8 i32 f32", SMALL, PICTURES, EMPTY);
    both("[n,m]T, [k]bool, [l]bool -> [k,l]T", scaled, "u8 i16 f32 i64", SMALL, PICTURES, EMPTY);
    both("[n,m]T -> [n,m]T", modular, "u8 i32 f64", SMALL, MATRICES, 40, 300, 20, 1000);
}

static void outside(void **state)
{
    (void)state;
    both("[n,m]T, [k]bool, [l]bool -> [k,l]T", too_far, "u8 f32", SMALL, 5, 7, 3, 4, 5, 7, 5, 30, 40, 100, 33, 1000, 5,
         7, 0, 9);
}

static int32_t failing_place(sn_context *cx, char *message, size_t room)
{
    enum { N = 20, M = 7, L = 64 };
    static uint8_t x[N * M], to[N * L];
    bool rows[N] = {0}, columns[L] = {0};
    sn_program *p = sn_compile_at(SN_HERE, cx, "[n,m]u8, [k]bool, [l]bool -> [k,l]u8", SN_BODY(too_far));
    assert_non_null(p);
    const int32_t status = sn_call(p, sn_in(x, N, M), sn_in(rows, N), sn_in(columns, L), sn_into(to, N, L));
    snprintf(message, room, "%s", sn_message(cx));
    sn_drop(p);
    return status;
}

/* Kernels that read places know that those of neighbours are near. */
static void tables(void **state)
{
    (void)state;
    sn_program *p = sn_compile_at(SN_HERE, both_cpu(), "[n,m]u8, [k]bool, [l]bool -> [k,l]u8", SN_BODY(moved));
    assert_non_null(p);
    assert_non_null(strstr(sn_explain(p, "kernels"), ":i64 near"));
    sn_drop(p);
}

/* What is said of an index outside. */
static void messages(void **state)
{
    char one[512], other[512];
    (void)state;
    const int32_t status = failing_place(both_cpu(), one, sizeof(one));
    assert_int_equal(status, failing_place(both_interpreter(), other, sizeof(other)));
    assert_int_not_equal(status, SN_OK);
    assert_string_equal(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_backpermute), cmocka_unit_test(by_reads),
                                       cmocka_unit_test(outside), cmocka_unit_test(messages), cmocka_unit_test(tables)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
