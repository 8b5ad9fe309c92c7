/* Arrays that a call gives away: results take their memory where each element is read at its own place for the last
 * time, so that no block is taken, and elements are right whatever is read. */
#include "counts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3, ELEMENTS = 70001 };

static sn_scalar line(sn_scalar x)
{
    return sn_add(sn_mul(x, 3), 1);
}

static sn_acc map(sn_acc a)
{
    return sn_map(line, a);
}

static sn_scalar with_index(sn_scalar i, sn_scalar x)
{
    return sn_add(x, sn_to_i32(i));
}

static sn_acc imap(sn_acc a)
{
    return sn_imap(with_index, a);
}

static sn_acc add(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_add, a, b);
}

static sn_scalar exchanged(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_sub(y, x), sn_add(x, y));
}

static sn_acc pairs(sn_acc a)
{
    return sn_map(exchanged, a);
}

static sn_acc before(sn_acc a)
{
    return sn_zip_with(sn_sub, a, sn_rotate(-1, a));
}

static sn_acc reversed(sn_acc a)
{
    return sn_map(line, sn_reverse(a));
}

static sn_acc by_turns(sn_acc a)
{
    return sn_zip_with(sn_add, a,
                       sn_interleave(sn_take(sn_quot(sn_size(a), 2), a), sn_skip(sn_quot(sn_size(a), 2), a)));
}

static sn_acc and_itself(sn_acc a)
{
    return sn_results(sn_map(line, a), a);
}

static sn_acc and_its_sum(sn_acc a)
{
    return sn_results(sn_map(line, a), sn_sum(a));
}

static sn_acc less_its_sum(sn_acc a)
{
    return sn_map(line, sn_zip_with(sn_sub, a, sn_replicate(sn_sum(a), sn_size(a))));
}

static sn_scalar neighbours(sn_scalar s)
{
    return sn_add(sn_at(s, -1), sn_at(s, 1));
}

static sn_acc stencil(sn_acc a)
{
    return sn_stencil(neighbours, sn_pattern(3), sn_wrap, a);
}

static sn_acc transposed(sn_acc a)
{
    return sn_zip_with(sn_add, a, sn_transpose(a));
}

static sn_acc scan(sn_acc a)
{
    return sn_scanl1(sn_add, a);
}

static sn_acc repeated(sn_acc a)
{
    sn_acc b = a;
    for (int i = 0; i < 12; i++)
        b = sn_map(line, b);
    return b;
}

typedef struct given { /* arrays of i32 */
    sn_array *in[MOST], *out[MOST];
} given;

static int32_t element(int array, int64_t i)
{
    return (int32_t)(i * 37 % 1009 - 500 + array * 7);
}

static sn_array *upload(sn_context *cx, int array, int rank, const int64_t *extent)
{
    static int32_t data[ELEMENTS];
    int64_t n = 1;
    sn_arg arg = {.kind = SN_ARG_IN, .type = SN_I32, .rank = rank, .u = {.from = data}};
    for (int d = 0; d < rank; d++)
        n *= arg.extent[d] = extent[d];
    for (int64_t i = 0; i < n; i++)
        data[i] = element(array, i);
    sn_array *a = sn_upload(cx, arg);
    assert_non_null(a);
    return a;
}

/* Calls with arrays of these extents that are given away or held; how many blocks the call took, with those for the
 * arrays, which devices with memory of their own get with the call. */
static uint64_t call(sn_context *cx, sn_program *p, int params, int results, int rank, const int64_t *extent, bool give,
                     given *g)
{
    sn_arg arg[2 * MOST];
    for (int i = 0; i < params; i++) {
        g->in[i] = upload(cx, i, rank, extent);
        arg[i] = give ? sn_give(g->in[i]) : sn_held(g->in[i]);
    }
    for (int i = 0; i < results; i++)
        arg[params + i] = sn_keep(&g->out[i]);
    uint64_t blocks = sn_counts(cx).blocks;
    sn_status status = sn_call_n(p, params + results, arg);
    if (status != SN_OK)
        fail_msg("%s", sn_message(cx));
    blocks = sn_counts(cx).blocks - blocks;
    for (int i = 0; i < params && !give; i++)
        sn_free(g->in[i]);
    return blocks;
}

static void same_elements(const sn_array *x, const sn_array *y)
{
    static int32_t left[ELEMENTS], right[ELEMENTS];
    size_t bytes = sn_bytes(x);
    assert_int_equal(bytes, sn_bytes(y));
    assert_int_equal(sn_read(x, left, bytes), SN_OK);
    assert_int_equal(sn_read(y, right, bytes), SN_OK);
    for (size_t i = 0; i < bytes / sizeof *left; i++)
        if (left[i] != right[i])
            fail_msg("element %zu is %d, not %d", i, (int)left[i], (int)right[i]);
}

static void compare(sn_context *cx, int line, const char *signature, sn_body body, int params, int results, int rank,
                    uint64_t taken)
{
    static const int64_t extents[][3] = {{1, 1}, {2, 2}, {31, 31}, {64, 64}, {129, 129}, {260, 260}, {70000, 0}};
    sn_program *p = sn_compile_at((sn_site){__FILE__, line}, cx, signature, body);
    if (!p)
        fail_msg("line %d: %s", line, sn_message(cx));
    for (size_t i = 0; i < sizeof(extents) / sizeof(extents[0]); i++) {
        given a, b;
        if (rank > 1 && !extents[i][1])
            continue;
        uint64_t blocks = call(cx, p, params, results, rank, extents[i], true, &a);
        uint64_t held = call(cx, p, params, results, rank, extents[i], false, &b);
        if (held - blocks != (uint64_t)results - taken)
            fail_msg("line %d: %d blocks are taken, %d of arrays that are held", line, (int)blocks, (int)held);
        for (int k = 0; k < results; k++) {
            same_elements(a.out[k], b.out[k]);
            sn_free(a.out[k]);
            sn_free(b.out[k]);
        }
    }
    sn_drop(p);
}

#define COMPARE(f, signature, ...) compare(both_cpu(), __LINE__, signature, SN_BODY(f), __VA_ARGS__)

static void elements_at_their_own_places(void **state)
{
    (void)state;
    COMPARE(map, "[n]i32 -> [n]i32", 1, 1, 1, 0);
    COMPARE(imap, "[n]i32 -> [n]i32", 1, 1, 1, 0);
    COMPARE(add, "[n]i32, [n]i32 -> [n]i32", 2, 1, 1, 0);
    COMPARE(pairs, "[n](i32, i32) -> [n](i32, i32)", 2, 2, 1, 0);
    if (getenv("SINTER_TEST_SAMPLE"))
        return;
    COMPARE(repeated, "[n]i32 -> [n]i32", 1, 1, 1, 0);
    COMPARE(map, "[n,m]i32 -> [n,m]i32", 1, 1, 2, 0);
    COMPARE(add, "[n,m]i32, [n,m]i32 -> [n,m]i32", 2, 1, 2, 0);
}

static void elements_elsewhere(void **state)
{
    (void)state;
    COMPARE(before, "[n]i32 -> [n]i32", 1, 1, 1, 1);
    if (getenv("SINTER_TEST_SAMPLE"))
        return;
    COMPARE(reversed, "[n]i32 -> [n]i32", 1, 1, 1, 1);
    COMPARE(and_itself, "[n]i32 -> [n]i32, [n]i32", 1, 2, 1, 2);
    COMPARE(stencil, "[n]i32 -> [n]i32", 1, 1, 1, 1);
    COMPARE(transposed, "[n,n]i32 -> [n,n]i32", 1, 1, 2, 1);
}

/* Whatever memory these take. */
static void sums_and_scans(void **state)
{
    (void)state;
    struct {
        const char *signature;
        sn_body body;
        int results;
    } cases[] = {{"[n]i32 -> [n]i32, i32", SN_BODY(and_its_sum), 2},
                 {"[n]i32 -> [n]i32", SN_BODY(less_its_sum), 1},
                 {"[n]i32 -> [n]i32", SN_BODY(scan), 1},
                 {"[n]i32 -> [n]i32", SN_BODY(by_turns), 1}};
    const size_t n_cases = getenv("SINTER_TEST_SAMPLE") ? 1 : sizeof(cases) / sizeof(cases[0]);
    for (size_t i = 0; i < n_cases; i++) {
        sn_program *p = compiled_in(both_cpu(), cases[i].signature, cases[i].body);
        for (int64_t n = 2; n < 70000; n = n * 7 + 2) {
            given a, b;
            n += n & 1;
            call(both_cpu(), p, 1, cases[i].results, 1, &n, true, &a);
            call(both_cpu(), p, 1, cases[i].results, 1, &n, false, &b);
            for (int k = 0; k < cases[i].results; k++) {
                same_elements(a.out[k], b.out[k]);
                sn_free(a.out[k]);
                sn_free(b.out[k]);
            }
        }
        sn_drop(p);
    }
}

/* Other types, other extents, memory of the caller's. */
static sn_acc to_f32(sn_acc a)
{
    return sn_map(sn_to_f32, a);
}

static sn_acc wider(sn_acc a)
{
    return sn_map(sn_to_i64, a);
}

static void other_memory(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    const int64_t n = 1000;
    int32_t y[1000];
    given g;
    sn_program *p = compiled_in(cx, "[n]i32 -> [n]f32", SN_BODY(to_f32));
    assert_int_equal(call(cx, p, 1, 1, 1, &n, true, &g), on_cpu() ? 1 : 2);
    sn_free(g.out[0]);
    sn_drop(p);
    p = compiled_in(cx, "[n]i32 -> [n]i64", SN_BODY(wider));
    assert_int_equal(call(cx, p, 1, 1, 1, &n, true, &g), on_cpu() ? 1 : 2);
    sn_free(g.out[0]);
    sn_drop(p);
    p = compiled_in(cx, "[n]i32 -> [n]i32", SN_BODY(map));
    assert_int_equal(sn_call(p, sn_give(upload(cx, 0, 1, &n)), sn_into(y, n)), SN_OK);
    for (int i = 0; i < n; i++)
        assert_int_equal(y[i], 3 * element(0, i) + 1);
    sn_drop(p);
}

/* One array goes through many calls: its memory stays one block. */
static void many_turns(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    const int64_t n = 5000;
    static int32_t y[5000];
    sn_program *p = compiled_in(cx, "[n]i32 -> [n]i32", SN_BODY(map));
    sn_array *x = upload(cx, 0, 1, &n);
    assert_int_equal(sn_call(p, sn_give(x), sn_keep(&x)), SN_OK);
    uint64_t blocks = sn_counts(cx).blocks;
    for (int i = 1; i < 100; i++)
        assert_int_equal(sn_call(p, sn_give(x), sn_keep(&x)), SN_OK);
    assert_int_equal(sn_counts(cx).blocks, blocks);
    assert_int_equal(sn_read(x, y, sizeof y), SN_OK);
    for (int i = 0; i < n; i++) {
        uint32_t v = (uint32_t)element(0, i);
        for (int k = 0; k < 100; k++)
            v = 3 * v + 1;
        assert_int_equal((uint32_t)y[i], v);
    }
    sn_free(x);
    sn_drop(p);
}

/* --- calls that fail --- */

static sn_acc quotients(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_div, a, b);
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc and_what_is_kept(sn_acc a, sn_acc b)
{
    return sn_results(sn_map(line, a), sn_filter(is_positive, b));
}

static void failures(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    const int64_t n = 1000, shorter = 999;
    sn_array *y = NULL, *x = upload(cx, 0, 1, &n), *d = upload(cx, 0, 1, &n), *s = upload(cx, 0, 1, &shorter);
    sn_program *p = compiled_in(cx, "[n]i32, [n]i32 -> [n]i32", SN_BODY(quotients));
    assert_int_equal(sn_call(p, sn_give(x), sn_held(s), sn_keep(&y)), SN_BAD_EXTENT); /* it is still ours */
    assert_null(y);
    assert_int_equal(sn_call(p, sn_give(x), sn_held(d), sn_keep(&y)), SN_DIVISION); /* it is not */
    assert_null(y);
    sn_free(d);
    sn_free(s);
    sn_drop(p);
    /* that there is too little memory is known when all has run: the array is as it was */
    int32_t kept[3], all[1000];
    int64_t count = 0;
    p = compiled_in(cx, "[n]i32, [n]i32 -> [n]i32, [k]i32", SN_BODY(and_what_is_kept));
    x = upload(cx, 0, 1, &n);
    s = upload(cx, 1, 1, &n);
    assert_int_equal(sn_call(p, sn_give(x), sn_held(s), sn_keep(&y), sn_upto(kept, 3, &count)), SN_BAD_EXTENT);
    assert_int_equal(sn_read(x, all, sizeof all), SN_OK);
    for (int i = 0; i < n; i++)
        assert_int_equal(all[i], element(0, i));
    sn_free(x);
    sn_free(s);
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_at_their_own_places),
        cmocka_unit_test(elements_elsewhere),
        cmocka_unit_test(sums_and_scans),
        cmocka_unit_test(other_memory),
        cmocka_unit_test(many_turns),
        cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
