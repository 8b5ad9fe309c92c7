/* Results that the caches do not hold: written past them, at several places at a time, where whole lines are written;
 * through them elsewhere. A device with next to no cache needs no large arrays. */
#include "base/size.h"
#include "both.h"

#include <stdlib.h>
#include <string.h>

static device_limits uncached;
static const device_limits *limits;

static int open_uncached(void **state)
{
    if (both_open(state))
        return 1;
    if (!both_cpu())
        return 0;
    device *d = both_cpu()->engine.device;
    limits = d->limits;
    uncached = *limits;
    uncached.cache_bytes = 64;
    if (!limits->own_memory)
        d->limits = &uncached;
    return 0;
}

static int close_uncached(void **state)
{
    if (both_cpu())
        both_cpu()->engine.device->limits = limits;
    return both_close(state);
}

static sn_scalar scaled(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(x, x), y);
}

static sn_acc two(sn_acc x, sn_acc y)
{
    return sn_zip_with(scaled, x, y);
}

static sn_scalar of_five(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar e)
{
    return sn_add(sn_sub(a, b), sn_mul(sn_add(c, d), e));
}

static sn_acc five(sn_acc a, sn_acc b, sn_acc c, sn_acc d, sn_acc e)
{
    return sn_zip_with(of_five, a, b, c, d, e);
}

static sn_acc pairs(sn_acc x, sn_acc y)
{
    return sn_results(sn_zip_with(sn_sub, x, y), sn_zip_with(sn_max, x, y));
}

static sn_acc beside_row(sn_acc m, sn_acc row)
{
    return sn_zip_with(sn_add, m, sn_replicate(row, sn_extent(m, 0), SN_ALL));
}

static sn_acc turned(sn_acc m)
{
    return sn_transpose(m);
}

static sn_scalar around(sn_scalar s)
{
    return sn_sub(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
}

static sn_acc smooth(sn_acc m)
{
    return sn_stencil(around, sn_pattern(3, 3), sn_clamp, m);
}

/* Pieces of 4096 elements and more, of which places are parts; the ends of arrays and of pieces. */
#define LENGTHS 0, 1, 255, 256, 1023, 1024, 1025, 4096, 4097, 5119, 8191, 70001, 262144
#define ROWS 5, 16, 7, 33, 3, 100, 9, 128, 2, 1023, 3, 1024, 2, 4099, 1, 20000

static void maps(void **state)
{
    (void)state;
    both("[n]T, [n]T -> [n]T", two, "u8 i16 i32 f32 f64", MIXED, LENGTHS);
    both("[n]T, [n]T, [n]T, [n]T, [n]T -> [n]T", five, "u8 i32 f64", MIXED, LENGTHS);
    both("[n]T, [n]T -> [n]T, [n]T", pairs, "u8 i64 f32", MIXED, LENGTHS);
}

static void rows(void **state)
{
    (void)state;
    both("[n,m]T, [m]T -> [n,m]T", beside_row, "u8 i16 f32 f64", MIXED, ROWS);
    both("[n,m]T -> [m,n]T", turned, "u8 i16 f32 f64", MIXED, ROWS, 100, 64, 64, 100);
    both("[n,m]T -> [n,m]T", smooth, "u8 i16 f32 f64", MIXED, ROWS);
}

typedef struct wanted {
    const char *signature;
    sn_body body;
    bool turns, any_rows; /* rows need not be whole lines */
} wanted;

static void *at_offset(char *block, size_t offset)
{
    return block + offset;
}

/* The result begins anywhere in a line; nothing beside it is touched, and what the profile says is so. */
static void call_at(const wanted *w, int64_t n, int64_t m, size_t offset)
{
    enum { GUARD = 256 };
    const size_t elements = (size_t)(n * m), bytes = elements * sizeof(float);
    float *x = malloc(bytes + 4), *row = malloc((size_t)m * sizeof(float) + 4), *want = malloc(bytes + 4);
    char *block = aligned_alloc(64, (bytes + 2 * GUARD + 127) / 64 * 64);
    assert_true(x && row && want && block);
    for (size_t i = 0; i < elements; i++)
        x[i] = (float)(i * 7 % 1001) - 500;
    for (int64_t i = 0; i < m; i++)
        row[i] = (float)(i % 17);
    memset(block, 0x5a, bytes + 2 * GUARD);
    float *to = at_offset(block, GUARD + offset);
    const int64_t a = w->turns ? m : n, b = w->turns ? n : m;
    const bool takes_row = strstr(w->signature, "[m]f32");
    sn_context *cx[] = {both_cpu(), both_interpreter()};
    for (int k = 0; k < 2; k++) {
        sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, cx[k], w->signature, w->body);
        assert_non_null(p);
        sn_profile(p, true);
        float *out = k ? want : to;
        sn_status s = takes_row ? sn_call(p, sn_in(x, n, m), sn_in(row, m), sn_into(out, a, b))
                                : sn_call(p, sn_in(x, n, m), sn_into(out, a, b));
        assert_int_equal(s, SN_OK);
        const bool lines = offset % 64 == 0 && b * (int64_t)sizeof(float) % 64 == 0;
        if (k == 0)
            assert_int_equal(strstr(sn_explain(p, "profile"), "written past the caches") != NULL, w->any_rows || lines);
        sn_drop(p);
    }
    assert_memory_equal(to, want, bytes);
    for (size_t i = 0; i < GUARD + offset; i++)
        assert_int_equal(block[i], 0x5a);
    for (size_t i = GUARD + offset + bytes; i < bytes + 2 * GUARD; i++)
        assert_int_equal(block[i], 0x5a);
    free(x);
    free(row);
    free(want);
    free(block);
}

static void results_begin_anywhere(void **state)
{
    (void)state;
    if (!both_cpu() || limits->own_memory)
        skip();
    const wanted all[] = {
        {"[n,m]f32, [m]f32 -> [n,m]f32", SN_BODY(beside_row), false, false},
        {"[n,m]f32 -> [m,n]f32", SN_BODY(turned), true, false},
        {"[n,m]f32 -> [n,m]f32", SN_BODY(smooth), false, false},
    };
    static const int64_t shape[][2] = {{64, 128}, {128, 64}, {65, 100}, {33, 333}};
    static const size_t offset[] = {0, 4, 16, 64, 60};
    for (size_t w = 0; w < ARRAY_LENGTH(all); w++)
        for (size_t s = 0; s < ARRAY_LENGTH(shape); s++)
            for (size_t o = 0; o < ARRAY_LENGTH(offset); o++)
                call_at(&all[w], shape[s][0], shape[s][1], offset[o]);
    const wanted long_rows = {"[n,m]f32, [m]f32 -> [n,m]f32", SN_BODY(beside_row), false, true};
    for (size_t o = 0; o < ARRAY_LENGTH(offset); o++)
        call_at(&long_rows, 3, 20001, offset[o]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps),
        cmocka_unit_test(rows),
        cmocka_unit_test(results_begin_anywhere),
    };
    return cmocka_run_group_tests(tests, open_uncached, close_uncached);
}
