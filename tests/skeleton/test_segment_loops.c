/* Segment loops on the kernel interpreter, against the reference interpreter of terms: as cores run them, segment by
 * segment, and as blocks of many threads do, a lane for each; lengths of every kind, operators of either tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"

static const sk_options devices[] = {
    {.vector_bytes = 64, .workers = 2, .checks = true},
    {.workers = 1, .checks = true},
    {.group = 256, .gang = 32, .scratch = 48 << 10, .workers = 2, .checks = true},
    {.group = 1, .scratch = 8 << 10, .workers = 2, .checks = true},
};

static const char sums[] = "extents n, m\n"
                           "x = input [n]u32\n"
                           "o = input [m]i64\n"
                           "s = fold_seg commutes x, o seed 3u32 {a: u32, b: u32 -> a + b}\n"
                           "output s";
static const char in_order[] =
    "extents n, m\n"
    "x = input [n]u32\n"
    "o = input [m]i64\n"
    "p = map x {x: u32 -> bit_or(x, 1u32), x}\n"
    "s = fold_seg p, o seed 1u32, 0u32 {a: u32, b: u32, c: u32, d: u32 -> a * c, b * c + d}\n"
    "output s";
static const char elements_of[] = "extents n, m\n"
                                  "x = input [n]u32\n"
                                  "o = input [m]i64\n"
                                  "g = segment_of [n] o\n"
                                  "e = map g, x {g: i64, x: u32 -> u32(g) * 7u32 + x}\n"
                                  "s = fold_seg commutes e, o seed 0u32 {a: u32, b: u32 -> a + b}\n"
                                  "output e, s";

/* what is made of a fold's result for its segment, and what the segment's elements make of that */
static const char once[] = "extents n, m\n"
                           "x = input [n]u32\n"
                           "o = input [m]i64\n"
                           "y = input [m - 1]u32\n"
                           "s = fold_seg commutes x, o seed 3u32 {a: u32, b: u32 -> a + b}\n"
                           "t = map s, y {a: u32, b: u32 -> a * 5u32 + b}\n"
                           "output t, s";
static const char again[] = "extents n, m\n"
                            "x = input [n]u32\n"
                            "o = input [m]i64\n"
                            "s = fold_seg commutes x, o seed 3u32 {a: u32, b: u32 -> a + b}\n"
                            "g = segment_of [n] o\n"
                            "e = map g, x {g: i64, x: u32 -> bit_xor(x, s[g])}\n"
                            "p = map e {x: u32 -> bit_or(x, 1u32), x}\n"
                            "r = fold_seg p, o seed 1u32, 0u32 {a: u32, b: u32, c: u32, d: u32 -> a * c, b * c + d}\n"
                            "f = map r {a: u32, b: u32 -> a + 3u32 * b}\n"
                            "k = fold_seg commutes e, o seed 0u32 {a: u32, b: u32 -> max(a, b)}\n"
                            "h = map g, e {g: i64, x: u32 -> x * f[g] + k[g]}\n"
                            "output h, f, r";

/* scans from either end, of operators that keep order or not, also of what other scans give, and folds of these */
static const char scans[] = "extents n, m\n"
                            "x = input [n]u32\n"
                            "o = input [m]i64\n"
                            "a = scan_seg x, o {a: u32, b: u32 -> a + b}\n"
                            "b = scan_seg exclusive x, o seed 3u32 {a: u32, b: u32 -> max(a, b)}\n"
                            "c = map a, b, x {a: u32, b: u32, x: u32 -> bit_or(a, 1u32), b + x}\n"
                            "d = scan_seg c, o {a: u32, b: u32, c: u32, d: u32 -> a * c, b * c + d}\n"
                            "e = map d {a: u32, b: u32 -> bit_xor(a, b)}\n"
                            "s = fold_seg commutes e, o seed 0u32 {a: u32, b: u32 -> a + b}\n"
                            "output e, s";
static const char from_right[] =
    "extents n, m\n"
    "x = input [n]u32\n"
    "o = input [m]i64\n"
    "c = map x {x: u32 -> bit_or(x, 1u32), x}\n"
    "d = scan_seg exclusive right c, o seed 1u32, 0u32 {a: u32, b: u32, c: u32, d: u32 -> a * c, b * c + d}\n"
    "e = scan_seg right x, o {a: u32, b: u32 -> a + b}\n"
    "output d, e";
static const char behind_folds[] = "extents n, m\n"
                                   "x = input [n]u32\n"
                                   "o = input [m]i64\n"
                                   "g = segment_of [n] o\n"
                                   "s = fold_seg commutes x, o seed 0u32 {a: u32, b: u32 -> a + b}\n"
                                   "e = map g, x {g: i64, x: u32 -> x * s[g]}\n"
                                   "f = scan_seg e, o seed 9u32 {a: u32, b: u32 -> a + b}\n"
                                   "t = fold_seg commutes f, o seed 0u32 {a: u32, b: u32 -> max(a, b)}\n"
                                   "h = map g, f {g: i64, x: u32 -> t[g] - x}\n"
                                   "output h, t";

/* what is kept of all elements, with a fold of their segments; how much it is, also where nothing else is */
static const char kept[] = "extents n, m\n"
                           "x = input [n]u32\n"
                           "o = input [m]i64\n"
                           "y = input [m - 1]u32\n"
                           "g = segment_of [n] o\n"
                           "e = map g, x {g: i64, x: u32 -> bit_xor(x, y[g])}\n"
                           "k = map e {x: u32 -> bit_and(x, 3u32) != 0u32}\n"
                           "p = map g, e {g: i64, x: u32 -> x, x * 3u32 + y[g]}\n"
                           "q = pack k, p\n"
                           "r = map e {x: u32 -> bit_or(x, 1u32), x}\n"
                           "s = fold_seg r, o seed 1u32, 0u32 {a: u32, b: u32, c: u32, d: u32 -> a * c, b * c + d}\n"
                           "output q, s";
static const char kept_of_each[] = "extents n, m\n"
                                   "x = input [n]u32\n"
                                   "o = input [m]i64\n"
                                   "y = input [m - 1]u32\n"
                                   "g = segment_of [n] o\n"
                                   "e = map g, x {g: i64, x: u32 -> x - y[g]}\n"
                                   "k = map e {x: u32 -> bit_and(x, 32u32) != 0u32}\n"
                                   "j = map e {x: u32 -> bit_and(x, 192u32) != 0u32}\n"
                                   "q = pack k, x\n"
                                   "h = pack j, e\n"
                                   "s = fold_seg commutes e, o seed 0u32 {a: u32, b: u32 -> max(a, b)}\n"
                                   "t = map s, y {a: u32, b: u32 -> a + b}\n"
                                   "output q, s, h, t";

static void compare(const char *source, const sk_options *device, int64_t segments, const int64_t *length)
{
    arena a;
    arena_init(&a, NULL);
    const char *message = NULL;
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s", message);
    int64_t n = 0, *offset = arena_array(&a, *offset, (size_t)segments + 1);
    for (int64_t s = 0; s < segments; s++)
        offset[s + 1] = n += length[s];
    uint32_t *x = arena_array(&a, *x, (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++)
        x[i] = (uint32_t)i * 2654435761u >> 5;
    ir_value input[3] = {{1, 1, {T_U32}, {n}, {x}}, {1, 1, {T_I64}, {segments + 1}, {offset}}}, wanted[4];
    uint32_t *y = arena_array(&a, *y, (size_t)(segments + 1));
    for (int64_t s = 0; s < segments; s++)
        y[s] = (uint32_t)s * 40503u;
    input[2] = (ir_value){1, 1, {T_U32}, {segments}, {y}};
    ir_failure failure = {0};
    assert_true(ir_interpret(p, &a, input, wanted, &failure));
    const l_options fused = {.fuse = true, .cost_model = true, .rows = true, .threads = device->group != 0};
    run_result got = run_clusters(p, &fused, device, &a, input);
    if (got.why)
        fail_msg("%s, %lld segments: %s", source, (long long)segments, got.why);
    for (uint32_t k = 0; k < p->output.n; k++)
        for (uint32_t c = 0; c < wanted[k].components; c++)
            if (memcmp(wanted[k].data[c], got.output[k].data[c], (size_t)wanted[k].extent[0] * 4) != 0)
                fail_msg("%s, %lld segments: result %u is another one on device %td", source, (long long)segments, k,
                         device - devices);
    arena_free(&a);
}

static const char *const programs[] = {sums,  in_order,   elements_of,  once, again,
                                       scans, from_right, behind_folds, kept, kept_of_each};

static void all_devices(void **state)
{
    enum { MANY = 200 };
    static int64_t length[MANY];
    (void)state;
    for (size_t d = 0; d < ARRAY_LENGTH(devices); d++)
        for (int kind = 0; kind < 8; kind++) {
            for (int s = 0; s < MANY; s++) {
                int64_t some[] = {0,
                                  1,
                                  4,
                                  rand() % 8,
                                  rand() % 70,
                                  s == 100 ? 30000 : rand() % 3,
                                  s == 3 ? 9000 : 33,
                                  s == 5 || s == 7 ? 130000 + s : rand() % 3};
                length[s] = some[kind];
            }
            for (int64_t segments = 0; segments <= MANY; segments += segments < 2 ? 1 : MANY - 2)
                for (size_t p = 0; p < ARRAY_LENGTH(programs); p++)
                    if ((programs[p] == kept || programs[p] == kept_of_each) && devices[d].scratch == 8 << 10)
                        continue; /* no loop packs in so little memory */
                    else if (kind < 6 || p % 4 == d ||
                             getenv("SINTER_TEST_LONG")) /* long ones take the interpreter long */
                        compare(programs[p], &devices[d], segments, length);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
