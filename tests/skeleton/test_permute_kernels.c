/* Permutes without an operator, and by operators that are atomic, on the kernel interpreter, as devices whose blocks
 * are many threads run them, against the reference interpreter of terms: few places, of which a block has copies in
 * shared memory, as many as just find room there, and more; elements that go nowhere, and sums that carry beyond 32
 * bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"

static const l_options fused = {.fuse = true, .cost_model = true, .rows = true, .threads = true};
static const sk_options devices[] = {
    {.group = 256, .scratch = 48 << 10, .workers = 2, .checks = true},
    {.group = 64, .scratch = 16 << 10, .workers = 4, .checks = true},
    {.group = 1, .scratch = 3 << 10, .workers = 1},
};

#define LAST(element) SOURCE_OF("permute last", element, "")
#define SOURCE(element, operator) SOURCE_OF("permute", element, operator)
#define SOURCE_OF(permute, element, operator)                                                                          \
    "extents n, k\n"                                                                                                   \
    "t = input [n]i64\n"                                                                                               \
    "x = input [n]i64\n"                                                                                               \
    "d = input [k]i64\n"                                                                                               \
    "e = map x {v: i64 -> " element "}\n"                                                                              \
    "z = map d {v: i64 -> " element "}\n"                                                                              \
    "p = " permute " z, t, e "                                                                                         \
    operator"\n"                                                                                                       \
            "output p"

static const char *const sources[] = {
    SOURCE("v", "{a: i64, b: i64 -> a + b}"),
    SOURCE("v", "{a: i64, b: i64 -> min(a, b)}"),
    SOURCE("u32(v)", "{a: u32, b: u32 -> bit_xor(a, b)}"),
    SOURCE("v, i32(v), u64(v)", "{a: i64, b: i32, c: u64, x: i64, y: i32, z: u64 -> a + x, max(b, y), c + z}"),
    /* what is only counted */
    "extents n, k\n"
    "t = input [n]i64\n"
    "x = input [n]i64\n"
    "z = input [k]i64\n"
    "e = map x {v: i64 -> -3}\n"
    "p = permute z, t, e {a: i64, b: i64 -> a + b}\n"
    "output p",
    /* the last of several elements stays: wide ones, small ones, several */
    LAST("v"),
    LAST("f32(v)"),
    LAST("i8(rem(v, 50))"), /* run_clusters takes bytes 0xa5 for none */
    LAST("u16(v)"),
    LAST("v > 0"),
    LAST("f64(v), i16(rem(v, 5000))"),
    LAST("i8(quot(7000, rem(v, 5000) + 9000))"),
};

typedef enum { ANY, ALIKE, SOME_DROPPED, KINDS } kind;

static uint64_t number;

static uint64_t next(void)
{
    number = number * 6364136223846793005u + 1442695040888963407u;
    return number >> 24;
}

static int64_t *numbers(ir_value *v, int64_t n, arena *a)
{
    *v = (ir_value){.rank = 1, .components = 1, .type = {T_I64}, .extent = {n}};
    int64_t *x = arena_array(a, *x, (size_t)n + 1);
    for (int64_t i = 0; i < n; i++)
        x[i] = (int64_t)(next() << 24 ^ next());
    v->data[0] = x;
    return x;
}

static void compare(const char *source, const sk_options *device, kind k, int64_t n, int64_t places)
{
    arena a;
    arena_init(&a, NULL);
    const char *message = NULL;
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    ir_value input[3], wanted;
    ir_failure failure = {0};
    int64_t *to = numbers(&input[0], n, &a);
    for (int64_t i = 0; i < n; i++)
        to[i] = k == SOME_DROPPED && next() % 3 == 0 ? INT64_MIN
                : k == ALIKE                         ? places / 2
                                                     : (int64_t)(next() % (uint64_t)places);
    numbers(&input[1], n, &a);
    numbers(&input[2], places, &a);
    assert_true(ir_interpret(p, &a, input, &wanted, &failure));
    run_result got = run_clusters(p, &fused, device, &a, input);
    if (got.why)
        fail_msg("%s, %lld to %lld: %s", source, (long long)n, (long long)places, got.why);
    for (uint32_t c = 0; c < wanted.components; c++)
        if (memcmp(wanted.data[c], got.output[0].data[c], (size_t)places * ir_type_size(wanted.type[c])) != 0)
            fail_msg("%s, %lld to %lld, kind %u: component %u is another one on device %td", source, (long long)n,
                     (long long)places, k, c, device - devices);
    arena_free(&a);
}

static void all_devices(void **state)
{
    static const struct {
        int64_t n, places;
    } sizes[] = {{0, 3},       {1, 1},       {3, 2},       {4096, 1},    {4099, 16},     {30001, 257},
                 {9000, 2047}, {6000, 2048}, {9001, 5887}, {9001, 5888}, {20000, 12031}, {100, 5000}};
    (void)state;
    for (size_t d = 0; d < ARRAY_LENGTH(devices); d++)
        for (size_t s = 0; s < ARRAY_LENGTH(sources); s++)
            for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
                for (unsigned k = 0; k < KINDS; k++)
                    compare(sources[s], &devices[d], (kind)k, sizes[i].n, sizes[i].places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
