/* Strided arguments: any order of dimensions, gaps, reversals and repetitions give what copying by hand gives, and each
 * copy is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

static sn_context *cx;

static int open_context(void **state)
{
    (void)state;
    cx = sn_open(&(sn_options){.size = sizeof(sn_options)});
    return cx ? 0 : -1;
}

static int close_context(void **state)
{
    (void)state;
    sn_close(cx);
    return 0;
}

/* Copies made since the last call of this function, and their bytes. */
static sn_counters since(void)
{
    static sn_counters before;
    sn_counters now = sn_counts(cx), d = {.copies = now.copies - before.copies,
                                          .copied_bytes = now.copied_bytes - before.copied_bytes,
                                          .calls = now.calls - before.calls};
    before = now;
    return d;
}

static void expect_copies(uint64_t copies, uint64_t bytes)
{
    sn_counters d = since();
    if (sn_counts(cx).launches == 0) /* the interpreter copies its results, too */
        return;
    assert_int_equal(d.copies, copies);
    assert_int_equal(d.copied_bytes, bytes);
}

/* --- copying, against a loop that looks every element up --- */

enum { MOST = 40000, MOST_SIDE = 1 << 18 };

static void gather_slowly(char *to, const char *from, size_t size, int rank, const int64_t *extent,
                          const int64_t *stride)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= extent[d];
    for (int64_t i = 0; i < n; i++) {
        const char *at = from;
        int64_t rest = i;
        for (int d = rank - 1; d >= 0; d--) {
            at += rest % extent[d] * stride[d];
            rest /= extent[d];
        }
        memcpy(to + (size_t)i * size, at, size);
    }
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* A box of random extents laid out in a random order of dimensions with gaps, some dimensions backwards, some repeated.
 */
typedef struct layout {
    int rank;
    int64_t extent[8], stride[8], start;
} layout;

static layout random_layout(uint64_t *state, size_t size)
{
    layout l = {.rank = 1 + (int)(next_random(state) % 8)};
    int order[8];
    int64_t elements = 1, span = (int64_t)size;
    for (int d = 0; d < l.rank; d++) {
        order[d] = d;
        int64_t most = d == 0 ? 200 : l.rank > 4 ? 4 : 40;
        do
            l.extent[d] = 1 + next_random(state) % (uint32_t)most;
        while (elements * l.extent[d] > MOST / 8);
        elements *= l.extent[d];
    }
    if (next_random(state) % 16 == 0)
        l.extent[next_random(state) % (uint32_t)l.rank] = 0;
    for (int d = l.rank - 1; d > 0 && next_random(state) % 3; d--) { /* mostly shuffled */
        int k = (int)(next_random(state) % (uint32_t)(d + 1)), keep = order[d];
        order[d] = order[k];
        order[k] = keep;
    }
    for (int k = l.rank - 1; k >= 0; k--) {
        int d = order[k];
        uint32_t kind = next_random(state) % 8;
        l.stride[d] = kind == 0 ? 0 : span;
        if (kind)
            span *= l.extent[d] ? l.extent[d] : 1;
        if (kind == 1)
            span += (int64_t)(next_random(state) % 5);
        if (kind == 2 && l.extent[d]) {
            l.start += (l.extent[d] - 1) * l.stride[d];
            l.stride[d] = -l.stride[d];
        }
    }
    return l;
}

#define CHECK(c_type, n, l)                                                                                            \
    (l.start % (int64_t)sizeof(c_type) == 0                                                                            \
         ? sn_upload(cx, sn_strided((const c_type *)(const void *)(memory + l.start), l.rank, l.extent, l.stride))     \
         : sn_upload(cx, sn_strided_of(SN_TYPE_OF((c_type)0), memory + l.start, l.rank, l.extent, l.stride)))

static void copies_any_layout(void **state)
{
    (void)state;
    static char wanted[MOST * 8], found[MOST * 8];
    char *memory = malloc(MOST_SIDE);
    uint64_t random = 7;
    assert_non_null(memory);
    for (size_t i = 0; i < MOST_SIDE; i++)
        memory[i] = (char)(i * 31 + i / 251);
    for (int round = 0; round < 2000; round++) {
        size_t size = (size_t)1 << next_random(&random) % 4;
        layout l = random_layout(&random, size);
        sn_array *a = size == 1   ? CHECK(int8_t, size, l)
                      : size == 2 ? CHECK(uint16_t, size, l)
                      : size == 4 ? CHECK(float, size, l)
                                  : CHECK(int64_t, size, l);
        assert_non_null(a);
        size_t bytes = size;
        for (int d = 0; d < l.rank; d++) {
            bytes *= (size_t)l.extent[d];
            assert_int_equal(sn_array_extent(a, d), l.extent[d]);
        }
        assert_int_equal(sn_bytes(a), bytes);
        gather_slowly(wanted, memory + l.start, size, l.rank, l.extent, l.stride);
        assert_int_equal(sn_read(a, found, bytes), SN_OK);
        assert_memory_equal(found, wanted, bytes);
        sn_free(a);
    }
    free(memory);
}

/* --- arguments of calls --- */

static sn_acc same(sn_acc x)
{
    return sn_map(sn_neg, x);
}

static void takes_columns_and_fields(void **state)
{
    (void)state;
    struct point {
        char name[3];
        float x, y;
    } points[5];
    float matrix[4][6], out[24];
    for (int i = 0; i < 24; i++)
        matrix[i / 6][i % 6] = (float)i;
    for (int i = 0; i < 5; i++)
        points[i] = (struct point){"p", (float)i, (float)(10 * i)};
    sn_program *vector = sn_compile(cx, "[n]f32 -> [n]f32", same);
    sn_program *plane = sn_compile(cx, "[n,m]f32 -> [n,m]f32", same);
    assert_true(vector && plane);

    since();
    int64_t n = 5, apart = sizeof(points[0]);
    assert_int_equal(sn_call(vector, sn_strided(&points[0].y, 1, &n, &apart), sn_into(out, 5)), SN_OK);
    for (int i = 0; i < 5; i++)
        assert_true(out[i] == (float)(-10 * i));
    expect_copies(1, 20);

    int64_t turned[] = {6, 4}, strides[] = {sizeof(float), 6 * sizeof(float)};
    assert_int_equal(sn_call(plane, sn_strided(&matrix[0][0], 2, turned, strides), sn_into(out, 6, 4)), SN_OK);
    for (int i = 0; i < 24; i++)
        assert_true(out[i] == -matrix[i % 4][i / 4]);
    expect_copies(1, 96);

    int64_t back[] = {-6 * (int64_t)sizeof(float), -(int64_t)sizeof(float)}, whole[] = {4, 6};
    assert_int_equal(sn_call(plane, sn_strided(&matrix[3][5], 2, whole, back), sn_into(out, 4, 6)), SN_OK);
    for (int i = 0; i < 24; i++)
        assert_true(out[i] == (float)(i - 23));
    expect_copies(1, 96);

    float one = 3;
    int64_t none[] = {0, 0};
    assert_int_equal(sn_call(plane, sn_strided(&one, 2, whole, none), sn_into(out, 4, 6)), SN_OK);
    for (int i = 0; i < 24; i++)
        assert_true(out[i] == -3);
    expect_copies(1, 96);
    sn_drop(vector);
    sn_drop(plane);
}

/* What is contiguous already is borrowed, as sn_in is, unless it lies across its type's alignment. */
static void copies_only_what_it_must(void **state)
{
    (void)state;
    float x[24], out[24];
    char across[25 * sizeof(float)];
    for (int i = 0; i < 24; i++)
        x[i] = (float)i;
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", same);
    assert_non_null(p);
    since();
    int64_t extent[] = {4, 6}, stride[] = {24, 4}, row[] = {1, 6}, any[] = {999, 4}, empty[] = {0, 6};
    assert_int_equal(sn_call(p, sn_strided(x, 2, extent, stride), sn_into(out, 4, 6)), SN_OK);
    assert_int_equal(sn_call(p, sn_strided(x, 2, row, any), sn_into(out, 1, 6)), SN_OK);
    assert_int_equal(sn_call(p, sn_strided(x, 2, empty, any), sn_into(out, 0, 6)), SN_OK);
    expect_copies(0, 0);
    memcpy(across + 1, x, sizeof(x));
    assert_int_equal(sn_call(p, sn_strided_of(SN_F32, across + 1, 2, extent, stride), sn_into(out, 4, 6)), SN_OK);
    expect_copies(1, 96);
    for (int i = 0; i < 24; i++)
        assert_true(out[i] == -x[i]);
    sn_drop(p);
}

/* A strided argument is read before anything is written, so a result may lie over it. */
static void may_lie_under_the_result(void **state)
{
    (void)state;
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int64_t n = 4, every_other = 2 * sizeof(float);
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", same);
    assert_int_equal(sn_call(p, sn_strided(x, 1, &n, &every_other), sn_into(x, 4)), SN_OK);
    for (int i = 0; i < 4; i++)
        assert_true(x[i] == (float)(-1 - 2 * i));
    int64_t contiguous = sizeof(float);
    assert_int_equal(sn_call(p, sn_strided(x, 1, &n, &contiguous), sn_into(x + 2, 4)), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "overlaps"));
    sn_drop(p);
}

static void refuses(void **state)
{
    (void)state;
    float x[4] = {0}, out[4];
    int64_t n = 4, stride = 8, negative = -1, large[] = {INT64_MAX, INT64_MAX}, zero[9] = {0};
    sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", same), *q = sn_compile(cx, "[n,m]f32 -> [n,m]f32", same);
    since();
    assert_int_equal(sn_call(p, sn_strided(x, 2, large, zero), sn_into(out, 4)), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, sn_strided(x, 1, &negative, &stride), sn_into(out, 4)), SN_BAD_EXTENT);
    assert_int_equal(sn_call(q, sn_strided(x, 2, large, zero), sn_into(out, 2, 2)), SN_TOO_LARGE);
    assert_int_equal(sn_call(p, sn_strided((float *)NULL, 1, &n, &stride), sn_into(out, 4)), SN_BAD_ARGUMENT);
    assert_int_equal(sn_call(p, sn_strided((double *)NULL, 1, &n, &stride), sn_into(out, 4)), SN_BAD_ARGUMENT);
    sn_arg into = sn_into(out, 4);
    into.stride = &stride;
    assert_int_equal(sn_call(p, sn_in(x, 4), into), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "argument 2 has strides"));
    assert_null(sn_upload(cx, sn_strided(x, 9, zero, zero)));
    assert_null(sn_upload(cx, sn_strided(x, 1, &negative, &stride)));
    assert_null(sn_upload(cx, sn_strided(x, 2, large, zero)));
    assert_int_equal(since().calls, 0);
    sn_drop(p);
    sn_drop(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_any_layout),
        cmocka_unit_test(takes_columns_and_fields),
        cmocka_unit_test(copies_only_what_it_must),
        cmocka_unit_test(may_lie_under_the_result),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
