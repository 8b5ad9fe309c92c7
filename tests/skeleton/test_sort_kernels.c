/* Sorts on the kernel interpreter, against the reference interpreter of terms: rows that are one chunk and rows that
 * are many, by digits and by comparison, on cores and on blocks of many threads, with lines gathered past the caches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"

static const l_options fused = {.fuse = true, .cost_model = true, .rows = true};
static const sk_options devices[] = {
    {.vector_bytes = 64, .workers = 2, .chains = true, .checks = true},
    {.workers = 1, .checks = true},
    {.group = 256, .scratch = 48 << 10, .workers = 2, .checks = true},
    {.group = 1, .scratch = 8 << 10, .workers = 2, .checks = true},
};

static const char keys[] = "extents n x = input [n]u32 s = sort keys 1 x output s";
static const char downwards[] = "extents n, m x = input [n, m]i16 s = sort descending keys 1 x output s";
static const char pairs[] =
    "extents n\n"
    "x = input [n]i32\n"
    "p = map indexed x {i: i64, x: i32 -> f32(mod(x, 50i32)) - 20.0f32, u8(mod(x, 100i32)), i}\n"
    "s = sort keys 2 p\n"
    "output s";
static const char compared[] = "extents n, m\n"
                               "x = input [n, m]i32\n"
                               "p = map indexed x {i: i64, j: i64, x: i32 -> mod(x, 30i32), j}\n"
                               "s = sort p {a: i32, b: i64, c: i32, d: i64 -> a > c}\n"
                               "output s";
/* Words that components share in each way: three in one, one beside 64 bits, what does not fit in a second one. No byte
 * is what the host takes for not written. */
static const char records[] = "extents n\n"
                              "x = input [n]i32\n"
                              "p = map indexed x {i: i64, x: i32 -> mod(x, 3i32) == 1i32, i16(mod(x, 100i32)), "
                              "f64(x) / 7.0f64, f32(mod(x, 50i32)) - 20.0f32, u8(mod(i, 101)), x, i}\n"
                              "s = sort keys 3 p\n"
                              "output s";
static const char halves[] = "extents n\n"
                             "x = input [n]i32\n"
                             "p = map indexed x {i: i64, x: i32 -> u8(mod(x, 50i32)), mod(x, 2i32) == 0i32, "
                             "i16(mod(i, 10007))}\n"
                             "s = sort descending keys 2 p\n"
                             "output s";
static const char gathered[] = "extents n x = input [n]u64 s = sort keys 1 x output s";

static void fill(ir_value *v, const ir_array *info, const int64_t *extent, arena *a)
{
    int64_t n = 1;
    *v = (ir_value){.rank = info->rank, .components = 1, .type = {info->type[0]}};
    for (unsigned d = 0; d < info->rank; d++)
        n *= v->extent[d] = extent[d];
    size_t bytes = (size_t)n * ir_type_size(info->type[0]);
    v->data[0] = arena_alloc(a, bytes + 8);
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)v->data[0])[i] = (uint8_t)(rand() >> 7 & 0x7F); /* never what the host takes for not written */
}

typedef run_result runner(ir_program *p, const l_options *options, const sk_options *device, arena *a,
                          const ir_value *input);

static void compare(const char *source, const sk_options *device, int64_t n, int64_t m, runner *run)
{
    arena a;
    arena_init(&a, NULL);
    const char *message = NULL;
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s", message);
    ir_value input, wanted;
    ir_failure failure = {0};
    fill(&input, ir_info(p, p->input.at[0]), (int64_t[]){n, m}, &a);
    assert_true(ir_interpret(p, &a, &input, &wanted, &failure));
    run_result got = run(p, &fused, device, &a, &input);
    if (got.why)
        fail_msg("%s, %lld x %lld: %s", source, (long long)n, (long long)m, got.why);
    int64_t elements = ir_info(p, p->input.at[0])->rank > 1 ? n * m : n;
    for (uint32_t c = 0; c < wanted.components; c++)
        if (memcmp(wanted.data[c], got.output[0].data[c], (size_t)elements * ir_type_size(wanted.type[c])) != 0)
            fail_msg("%s, %lld x %lld: component %u is another one on device %td", source, (long long)n, (long long)m,
                     c, device - devices);
    arena_free(&a);
}

static void all_devices(void **state)
{
    static const int64_t rows[] = {0, 1, 2, 16, 17, 63, 64, 65, 129, 1023, 1025, 3001};
    (void)state;
    for (size_t d = 0; d < ARRAY_LENGTH(devices); d++)
        for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
            compare(keys, &devices[d], rows[i], 0, run_clusters);
            compare(pairs, &devices[d], rows[i], 0, run_clusters);
            compare(records, &devices[d], rows[i], 0, run_clusters);
            compare(halves, &devices[d], rows[i], 0, run_clusters);
            compare(downwards, &devices[d], 3, rows[i], run_clusters);
            compare(compared, &devices[d], 2, rows[i], run_clusters);
            compare(downwards, &devices[d], rows[i], 5, run_clusters);
        }
}

static void lines_past_the_caches(void **state)
{
    (void)state;
    compare(keys, &devices[0], 150001, 0, run_clusters_uncached);
    compare(gathered, &devices[1], 140003, 0, run_clusters_uncached);
    compare(records, &devices[0], 140003, 0, run_clusters_uncached);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_devices),
        cmocka_unit_test(lines_past_the_caches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
