/* Drivers of programs whose launches depend on the data: sorts, packs, and what is made of them, and loops whose states
 * have other extents in each round. They are given other data than the recorded call, and give the library's bits, and
 * as many elements. */
#include "support/exported.h"

#include "run/sizing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 5003, MOST_BYTES = 64 * N, MOST_RESULTS = 5, DATA = 6 };

/* --- sorts --- */

static sn_scalar to_key(sn_scalar x)
{
    return sn_bit_and(x, 15);
}

static sn_scalar widened(sn_scalar x)
{
    return sn_mul(sn_to_i64(x), sn_to_i64(x));
}

static sn_acc sorts(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc by = sn_sort_by_key_descending(y, x);
    (void)k;
    return sn_results(sn_sort(x), sn_fst(by), sn_snd(by));
}

/* By several keys, and by one of eight bytes. */
static sn_acc tuples(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc s = sn_sort(sn_zip(sn_map(to_key, x), sn_map(sn_to_f64, sn_reverse(y)), y));
    (void)k;
    return sn_results(sn_get(s, 0), sn_get(s, 1), sn_get(s, 2), sn_sort_descending(sn_map(widened, x)));
}

static sn_scalar is_lower(sn_scalar x, sn_scalar y)
{
    return sn_lt(sn_bit_and(x, 1023), sn_bit_and(y, 1023));
}

static sn_acc rows_of(sn_acc x)
{
    return sn_reshape(sn_shape(10, 500), sn_take(5000, x));
}

static sn_acc compared(sn_acc k, sn_acc x, sn_acc y)
{
    (void)k, (void)y;
    return sn_results(sn_sort_by(is_lower, x), sn_sort_by(is_lower, rows_of(x)));
}

static sn_acc sorted_rows(sn_acc k, sn_acc x, sn_acc y)
{
    (void)k, (void)x;
    return sn_sort(rows_of(y));
}

/* Of two sorted ones, if the data are so. */
static sn_acc merges(sn_acc k, sn_acc x, sn_acc y)
{
    (void)k, (void)y;
    return sn_results(sn_merge(sn_take(2000, x), sn_skip(2000, x)),
                      sn_merge_by(is_lower, sn_take(2000, x), sn_skip(2000, x)));
}

/* --- packs --- */

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_scalar is_odd(sn_scalar x)
{
    return sn_ne(sn_bit_and(x, 1), 0);
}

static sn_scalar plus_one(sn_scalar x)
{
    return sn_add(x, 1);
}

static sn_acc filters(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc kept = sn_filter(is_positive, x), odd = sn_filter(is_odd, kept);
    (void)k, (void)y;
    return sn_results(kept, sn_sum(sn_map(plus_one, kept)), sn_count(sn_map(is_odd, kept)), sn_scanl1(sn_add, odd),
                      sn_sort(odd));
}

static sn_scalar to_key_of(sn_scalar i)
{
    return sn_to_i32(i);
}

/* Places, and elements of two extents. */
static sn_acc places(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc kept = sn_filter(is_positive, x), other = sn_filter(is_positive, y);
    (void)k;
    return sn_results(sn_histogram(16, sn_map(to_key, kept)),
                      sn_scatter(sn_map(to_key, kept), sn_generate(16, to_key_of), kept),
                      sn_append(kept, sn_map(sn_neg, kept)), sn_append(sn_tail(other), other), sn_reverse(other));
}

static sn_acc distinct(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc lengths, grouped, keys = sn_group(sn_map(to_key, x), y, &lengths, &grouped);
    (void)k;
    return sn_results(sn_unique(x), keys, lengths, grouped);
}

/* Rows, and columns, as many as are kept. */
static sn_acc tables(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc kept = sn_filter(is_positive, sn_take(600, x)), short_row = sn_take(70, y);
    sn_acc table = sn_zip_with(sn_mul, sn_replicate(sn_map(sn_to_f32, kept), SN_ALL, 70),
                               sn_replicate(short_row, sn_size(kept), SN_ALL));
    (void)k;
    return sn_results(sn_fold(sn_add, sn_f32(0), table), sn_fold(sn_max, sn_f32(-1), sn_transpose(table)), table);
}

static sn_scalar average(sn_scalar s)
{
    return sn_mul(sn_add(sn_at(s, -1), sn_at(s, 1)), sn_f32(0.5f));
}

static sn_scalar cross(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_sub(sn_at(s, 0, -1), sn_at(s, 0, 1)));
}

/* As many rows as some, of as many columns as others say. */
static sn_acc table_of(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_mul, sn_replicate(x, SN_ALL, sn_size(y)), sn_replicate(y, sn_size(x), SN_ALL));
}

/* Of a matrix and the transpose of another one with 50 rows. */
static sn_acc product(sn_acc a, sn_acc b)
{
    sn_scalar rows = sn_get(sn_shape_of(a), 0);
    return sn_fold(sn_add, sn_f32(0),
                   sn_zip_with(sn_mul, sn_replicate(a, SN_ALL, 50, SN_ALL), sn_replicate(b, rows, SN_ALL, SN_ALL)));
}

/* Stencils, scans of rows, and products of matrices. */
static sn_acc grids(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc kept = sn_filter(is_positive, sn_take(600, y)), table = table_of(kept, sn_take(70, y));
    (void)k, (void)x;
    return sn_results(sn_stencil(average, sn_pattern(3), sn_wrap, kept),
                      sn_stencil(cross, sn_pattern(3, 3), sn_clamp, table), sn_scanl1(sn_add, table),
                      sn_scanl1(sn_max, sn_transpose(table)),
                      product(table, sn_reshape(sn_shape(50, 70), sn_take(3500, y))));
}

/* Partial results: of rows that are as many as are kept, and of as long ones. */
static sn_acc partials(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc some = sn_filter(is_positive, sn_take(30, y)), kept = sn_filter(is_positive, y);
    sn_acc twice = sn_append(kept, kept);
    (void)k, (void)x;
    return sn_results(
        sn_fold(sn_add, sn_f32(0), table_of(some, y)), sn_fold(sn_add, sn_f32(1), table_of(sn_take(3, y), twice)),
        sn_fold(sn_max, sn_f32(-3), table_of(some, sn_append(y, y))), sn_sum(twice), sn_scanl1(sn_add, twice));
}

static sn_scalar to_index(sn_scalar i)
{
    return sn_to_i64(i);
}

static sn_scalar small(sn_scalar x)
{
    return sn_to_i64(sn_bit_and(x, 3));
}

/* An extent that an argument says, and one that is computed. */
static sn_acc told(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc lengths = sn_map(small, sn_take(2000, x));
    sn_scalar n = sn_mul(sn_to_i64(sn_the(k)), sn_i64(100));
    (void)y;
    return sn_results(sn_replicate_seg(sn_the(sn_sum(lengths)), lengths, sn_iota(sn_size(lengths))),
                      sn_generate(n, to_index), sn_scanl1(sn_add, sn_generate(n, to_index)));
}

/* Loops over two extents that are computed. */
static sn_acc pairs(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc some = sn_filter(is_positive, sn_take(60, x)), other = sn_filter(is_odd, sn_take(90, x));
    (void)k, (void)y;
    return sn_results(
        sn_zip_with(sn_sub, sn_replicate(some, SN_ALL, sn_size(other)), sn_replicate(other, sn_size(some), SN_ALL)),
        sn_flatten(sn_replicate(some, sn_size(other), SN_ALL)));
}

/* --- loops --- */

static sn_scalar mixed(void *env, sn_scalar x)
{
    return sn_bit_xor(sn_mul(x, 3), *(const sn_scalar *)env);
}

static sn_acc ascending(sn_acc x)
{
    return sn_sort(x);
}

static sn_acc shifted(sn_acc x)
{
    return sn_rotate(5, sn_scanl1(sn_max, x));
}

static sn_acc stirred(sn_acc i, sn_acc x)
{
    sn_scalar round = sn_to_i32(sn_the(i));
    sn_acc moved = sn_map(sn_closure(mixed, &round), x);
    return sn_acond(sn_eq(sn_mod(sn_the(i), sn_i64(3)), sn_i64(1)), ascending, shifted, moved);
}

/* A sort in an alternative, in a loop: extents stay. */
static sn_acc stirs(sn_acc k, sn_acc x, sn_acc y)
{
    (void)y;
    return sn_aloop(sn_to_i64(sn_the(k)), stirred, x);
}

static sn_acc shorter(sn_acc x)
{
    return sn_tail(sn_scanl1(sn_add, x));
}

static sn_acc loses(sn_acc k, sn_acc x, sn_acc y)
{
    (void)y;
    return sn_aiterate(sn_to_i64(sn_the(k)), shorter, x);
}

static sn_acc doubled(sn_acc x)
{
    return sn_append(x, sn_map(plus_one, x));
}

static sn_acc grows(sn_acc k, sn_acc x, sn_acc y)
{
    (void)y;
    return sn_aiterate(sn_to_i64(sn_the(k)), doubled, sn_take(100, x));
}

static sn_scalar minus_one(sn_scalar x)
{
    return sn_sub(x, 1000);
}

static sn_acc any_left(sn_acc n, sn_acc x)
{
    (void)n;
    return sn_unit(sn_gt(sn_size(x), 0));
}

static sn_acc sifted(sn_acc n, sn_acc x)
{
    sn_acc kept = sn_filter(is_positive, sn_map(minus_one, sn_sort(x)));
    return sn_results(sn_map(plus_one, n), kept);
}

/* Until nothing is left. */
static sn_acc sieve(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc last = sn_awhile(any_left, sifted, sn_results(k, x));
    (void)y;
    return sn_results(sn_result(last, 0), sn_result(last, 1));
}

static sn_acc negated(sn_acc x)
{
    return sn_map(sn_neg, x);
}

static sn_acc positive(sn_acc x)
{
    return sn_filter(is_positive, x);
}

static sn_acc chosen(sn_acc k, sn_acc x, sn_acc y)
{
    (void)y;
    return sn_sum(sn_acond(sn_gt(sn_the(k), 3), negated, positive, x));
}

/* `recorded`: calls, so that what depends on k has happened. */
static const struct {
    const char *name, *signature;
    sn_acc (*body)(sn_acc, sn_acc, sn_acc);
    int32_t recorded[2], called;
    bool often; /* not in long tests only */
} programs[] = {
    {"sorts", "i32, [n]i32, [n]f32 -> [n]i32, [n]f32, [n]i32", sorts, {1, 1}, 2, true},
    {"tuples", "i32, [n]i32, [n]f32 -> [n]i32, [n]f64, [n]f32, [n]i64", tuples, {1, 1}, 2, false},
    {"compared", "i32, [n]i32, [n]f32 -> [n]i32, [m,l]i32", compared, {1, 1}, 2, false},
    {"sorted_rows", "i32, [n]i32, [n]f32 -> [m,l]f32", sorted_rows, {1, 1}, 2, false},
    {"merges", "i32, [n]i32, [n]f32 -> [n]i32, [n]i32", merges, {1, 1}, 2, false},
    {"filters", "i32, [n]i32, [n]f32 -> [m]i32, i32, i64, [l]i32, [l]i32", filters, {1, 1}, 2, true},
    {"places", "i32, [n]i32, [n]f32 -> [16]i64, [16]i32, [m]i32, [l]f32, [p]f32", places, {1, 1}, 2, false},
    {"distinct", "i32, [n]i32, [n]f32 -> [m]i32, [l]i32, [l]i64, [n]f32", distinct, {1, 1}, 2, false},
    {"tables", "i32, [n]i32, [n]f32 -> [m]f32, [70]f32, [m,70]f32", tables, {1, 1}, 2, false},
    {"grids", "i32, [n]i32, [n]f32 -> [m]f32, [m,70]f32, [m,70]f32, [70,m]f32, [m,50]f32", grids, {1, 1}, 2, false},
    {"partials", "i32, [n]i32, [n]f32 -> [m]f32, [3]f32, [m]f32, f32, [l]f32", partials, {1, 1}, 2, false},
    {"told", "i32, [n]i32, [n]f32 -> [m]i64, [l]i64, [l]i64", told, {3, 3}, 60, false},
    {"pairs", "i32, [n]i32, [n]f32 -> [m,l]i32, [p]i32", pairs, {1, 1}, 2, false},
    {"stirs", "i32, [n]i32, [n]f32 -> [n]i32", stirs, {3, 3}, 8, false},
    {"loses", "i32, [n]i32, [n]f32 -> [m]i32", loses, {3, 3}, 9, true},
    {"grows", "i32, [n]i32, [n]f32 -> [m]i32", grows, {2, 2}, 6, false},
    {"sieve", "i32, [n]i32, [n]f32 -> i32, [m]i32", sieve, {1, 1}, 2, false},
    {"chosen", "i32, [n]i32, [n]f32 -> i32", chosen, {1, 5}, 2, false},
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

/* --- calls --- */

typedef struct results {
    size_t bytes[MOST_RESULTS], size[MOST_RESULTS];
    unsigned rank[MOST_RESULTS];
    unsigned char data[MOST_RESULTS][MOST_BYTES];
    int n;
} results;

/* Random numbers; all alike and positive; none positive; all positive and different; in order, twice; others. */
static int32_t number(unsigned data, int i)
{
    const uint32_t random = ((uint32_t)i * 2654435761u + data * 97u) >> 7;
    switch (data) {
    case 1:
        return 7;
    case 2:
        return -(int32_t)(random % 100);
    case 3:
        return (int32_t)(i * 7 + 1);
    case 4:
        return (i % 2000) * 3 - 1000 + (i >= 2000 && i < 4000 ? 1 : 0) + (i >= 4000 ? 8000 : 0);
    default:
        return (int32_t)(random % 30011) - 9000;
    }
}

static void fill(int32_t *x, float *y, unsigned data)
{
    for (int i = 0; i < N; i++) {
        x[i] = number(data, i);
        y[i] = (float)number(data, N - i) / 8;
    }
}

static sn_status call(sn_program *p, int32_t k, unsigned data, results *out)
{
    static int32_t x[N];
    static float y[N];
    sn_array *kept[MOST_RESULTS] = {NULL};
    const int n = (int)p->results;
    fill(x, y, data);
    const sn_arg k_in = sn_value(&k), x_in = sn_in(x, N), y_in = sn_in(y, N);
    const sn_arg to[] = {sn_keep(&kept[0]), sn_keep(&kept[1]), sn_keep(&kept[2]), sn_keep(&kept[3]), sn_keep(&kept[4])};
    const sn_status status = n == 1   ? sn_call(p, k_in, x_in, y_in, to[0])
                             : n == 2 ? sn_call(p, k_in, x_in, y_in, to[0], to[1])
                             : n == 3 ? sn_call(p, k_in, x_in, y_in, to[0], to[1], to[2])
                             : n == 4 ? sn_call(p, k_in, x_in, y_in, to[0], to[1], to[2], to[3])
                                      : sn_call(p, k_in, x_in, y_in, to[0], to[1], to[2], to[3], to[4]);
    *out = (results){.n = n};
    for (int i = 0; i < n && status == SN_OK; i++) {
        int64_t elements = 1;
        out->bytes[i] = sn_bytes(kept[i]);
        out->rank[i] = kept[i]->rank;
        for (unsigned d = 0; d < out->rank[i]; d++)
            elements *= kept[i]->extent[d];
        out->size[i] = ir_type_size(kept[i]->type);
        assert_int_equal((size_t)elements * out->size[i], out->bytes[i]);
        assert_true(out->bytes[i] <= MOST_BYTES);
        assert_int_equal(sn_read(kept[i], out->data[i], out->bytes[i]), SN_OK);
        sn_free(kept[i]);
    }
    return status;
}

/* --- the driver --- */

/* Reads `in0.0` and so on, of so many calls, from the folder that it is given; writes `out0.0` and so on: extents, then
 * elements. The third argument has, for each result, two digits: its rank, and the bytes of an element. */
static const char host[] =
    EXPORTED_HOST_OPENS
    "    for (int call = 0; call < atoi(arg[2]); call++) {\n"
    "        for (int i = 0; i < C(NAME, _inputs); i++) {\n"
    "            size_t bytes = C(NAME, _in_bytes)[i];\n            if (!bytes) continue;\n"
    "            void *x = malloc(bytes + 1);\n"
    "            snprintf(path, sizeof path, \"%s/in%d.%d\", arg[1], i, call);\n            FILE *f = fopen(path, "
    "\"rb\");\n"
    "            if (!f || fread(x, 1, bytes, f) != bytes) return 2;\n            fclose(f);\n"
    "#ifdef OPENCL\n"
    "            in[i] = clCreateBuffer(cx, CL_MEM_COPY_HOST_PTR, bytes, x, &status);\n"
    "#else\n"
    "            cuMemAlloc(&in[i], bytes); cuMemcpyHtoDAsync(in[i], x, bytes, q); cuStreamSynchronize(q);\n"
    "#endif\n"
    "            free(x);\n        }\n"
    "        if (!C(NAME, _run)(s, q, in, out)) {\n"
    "            fprintf(stderr, \"call %d: %s\\n\", call, C(NAME, _said)(s));\n"
    "            C(NAME, _close)(s);\n            return 3;\n        }\n"
    "        for (int i = 0; i < C(NAME, _outputs); i++) {\n"
    "            const int64_t *extent = C(NAME, _extents)(s, (unsigned)i);\n"
    "            const unsigned rank = (unsigned)(arg[3][2 * i] - '0');\n"
    "            size_t bytes = (size_t)(arg[3][2 * i + 1] - '0');\n"
    "            for (unsigned k = 0; k < rank; k++) bytes *= (size_t)extent[k];\n"
    "            if (C(NAME, _out_bytes)[i] && bytes > C(NAME, _out_bytes)[i]) return 6;\n"
    "            void *x = malloc(bytes + 1);\n"
    "#ifdef OPENCL\n"
    "            if (bytes) clEnqueueReadBuffer(q, out[i], CL_TRUE, 0, bytes, x, 0, NULL, NULL);\n"
    "            clReleaseMemObject(out[i]);\n"
    "#else\n"
    "            if (bytes) cuMemcpyDtoHAsync(x, out[i], bytes, q);\n            cuStreamSynchronize(q); "
    "cuMemFree(out[i]);\n"
    "#endif\n"
    "            snprintf(path, sizeof path, \"%s/out%d.%d\", arg[1], i, call);\n            FILE *f = fopen(path, "
    "\"wb\");\n"
    "            if (!f || fwrite(extent, sizeof *extent, rank, f) != rank || fwrite(x, 1, bytes, f) != bytes || "
    "fclose(f))\n"
    "                return 4;\n"
    "            free(x);\n        }\n    }\n"
    "    if (C(NAME, _extents)(s, C(NAME, _outputs))) return 7;\n"
    "    C(NAME, _close)(s);\n    return 0;\n}\n";

static void write_data(int32_t k, unsigned data, unsigned number)
{
    static int32_t x[N];
    static float y[N];
    char ending[16];
    fill(x, y, data);
    snprintf(ending, sizeof ending, "0.%u", number);
    exported_write(exported_path("in", ending), &k, sizeof k);
    snprintf(ending, sizeof ending, "1.%u", number);
    exported_write(exported_path("in", ending), x, sizeof x);
    snprintf(ending, sizeof ending, "2.%u", number);
    exported_write(exported_path("in", ending), y, sizeof y);
}

static void compare(int program, const results *wanted, unsigned data)
{
    static unsigned char found[MOST_BYTES + 1];
    char ending[16];
    for (int i = 0; i < wanted->n; i++) {
        int64_t extent[8] = {0};
        snprintf(ending, sizeof ending, "%d.%u", i, data);
        FILE *f = fopen(exported_path("out", ending), "rb");
        assert_non_null(f);
        assert_int_equal(fread(extent, sizeof *extent, wanted->rank[i], f), wanted->rank[i]);
        const size_t n = fread(found, 1, sizeof found, f);
        fclose(f);
        if (n != wanted->bytes[i])
            fail_msg("%s, data %u: result %d has %zu bytes, not %zu", programs[program].name, data, i, n,
                     wanted->bytes[i]);
        if (memcmp(found, wanted->data[i], n))
            fail_msg("%s, data %u: result %d differs", programs[program].name, data, i);
    }
}

static void run_driver(int program, sn_program *p)
{
    static results out[DATA];
    char command[1000], shapes[2 * MOST_RESULTS + 1] = {0};
    const int32_t k = programs[program].called;
    for (unsigned data = 0; data < DATA; data++) {
        if (call(p, k, data, &out[data]) != SN_OK)
            fail_msg("%s, data %u: %s", programs[program].name, data, sn_message(both_cpu()));
        write_data(k, data, data);
        for (int i = 0; i < out[data].n; i++) {
            shapes[2 * i] = (char)('0' + out[data].rank[i]);
            shapes[2 * i + 1] = (char)('0' + out[data].size[i]);
        }
    }
    snprintf(command, sizeof command, "%s/%s.host %s %d %s", exported_folder(), programs[program].name,
             exported_folder(), DATA, shapes);
    exported_must_run(command);
    for (unsigned data = 0; data < DATA; data++)
        compare(program, &out[data], data);
}

static void drivers_go_as_their_data_make_them_go(void **state)
{
    static results out;
    (void)state;
    sn_context *cx = both_cpu();
    const char *only = getenv("SINTER_TEST_PROGRAM");
    const bool opencl = !strcmp(exported_kind(cx), "opencl");
    if (!opencl && strcmp(exported_kind(cx), "cuda") != 0)
        skip();
    for (int i = 0; i < PROGRAMS; i++) {
        if (only ? strcmp(only, programs[i].name) != 0 : !programs[i].often && !getenv("SINTER_TEST_LONG"))
            continue;
        sn_program *p = sn_compile_at(SN_HERE, cx, programs[i].signature, SN_BODY(programs[i].body));
        if (!p)
            fail_msg("%s: %s", programs[i].name, sn_message(cx));
        sn_profile(p, true);
        for (int c = 0; c < 2; c++)
            if (call(p, programs[i].recorded[c], c ? 2 : 5, &out) != SN_OK) /* nothing is kept in the last one */
                fail_msg("%s: %s", programs[i].name, sn_message(cx));
        sn_profile(p, false);
        if (sn_export(p, exported_path(programs[i].name, "")) != SN_OK)
            fail_msg("%s: %s", programs[i].name, sn_message(cx));
        if (access(exported_path(programs[i].name, ".c"), R_OK))
            fail_msg("%s has no driver", programs[i].name);
        exported_compile(programs[i].name, host, opencl);
        run_driver(i, p);
        sn_drop(p);
    }
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", exported_folder());
    exported_must_run(command);
}

/* --- what fails --- */

static sn_acc zipped(sn_acc k, sn_acc x, sn_acc y)
{
    (void)k, (void)y;
    return sn_zip_with(sn_add, sn_filter(is_positive, x), sn_filter(is_odd, x));
}

static sn_acc greatest(sn_acc k, sn_acc x, sn_acc y)
{
    (void)k, (void)y;
    return sn_maximum(sn_filter(is_positive, x));
}

static sn_acc picked(sn_acc k, sn_acc x, sn_acc y)
{
    sn_acc kept = sn_filter(is_positive, x);
    (void)y;
    return sn_unit(sn_index(kept, sn_to_i64(sn_the(k))));
}

static const struct {
    const char *name, *signature;
    sn_acc (*body)(sn_acc, sn_acc, sn_acc);
    unsigned recorded, called; /* data */
    int32_t k;                 /* of the driver's call */
    const char *said;
} failing[] = {
    {"negative", "i32, [n]i32, [n]f32 -> [m]i64, [l]i64, [l]i64", told, 5, 5, -3, "an extent is negative"},
    {"unequal", "i32, [n]i32, [n]f32 -> [m]i32", zipped, 1, 5, 3, "they have to be equal"},
    {"nothing", "i32, [n]i32, [n]f32 -> i32", greatest, 5, 2, 3, "no element to begin with"},
    {"outside", "i32, [n]i32, [n]f32 -> i32", picked, 5, 2, 3, "index: a check failed"},
};

/* The driver says what is wrong, and where. */
static void drivers_say_what_is_wrong(void **state)
{
    static results out;
    (void)state;
    char command[1000];
    sn_context *cx = both_cpu();
    const bool opencl = !strcmp(exported_kind(cx), "opencl");
    if (!opencl && strcmp(exported_kind(cx), "cuda") != 0)
        skip();
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++) {
        sn_program *p = sn_compile_at(SN_HERE, cx, failing[i].signature, SN_BODY(failing[i].body));
        if (!p)
            fail_msg("%s: %s", failing[i].name, sn_message(cx));
        sn_profile(p, true);
        if (call(p, 3, failing[i].recorded, &out) != SN_OK || sn_export(p, exported_path(failing[i].name, "")) != SN_OK)
            fail_msg("%s: %s", failing[i].name, sn_message(cx));
        sn_profile(p, false);
        assert_int_not_equal(call(p, failing[i].k, failing[i].called, &out), SN_OK);
        exported_compile(failing[i].name, host, opencl);
        write_data(failing[i].k, failing[i].called, 0);
        snprintf(command, sizeof command,
                 "cd %s; ./%s.host . 1 1111111111 2>said; test $? = 3 && grep -q 'test_export_extents.c:.*%s' said || "
                 "{ cat said; false; }",
                 exported_folder(), failing[i].name, failing[i].said);
        exported_must_run(command);
        sn_drop(p);
    }
    snprintf(command, sizeof command, "rm -r %s", exported_folder());
    exported_must_run(command);
}

/* --- formulas --- */

static k_range anything(void *env, const run_variant *v, uint32_t number)
{
    (void)env, (void)v, (void)number;
    return (k_range){-((int64_t)1 << 62), (int64_t)1 << 62};
}

/* What a call would plan for n, and what the stretches say. */
static void compare_plan(const run_asked *a, const run_stretch *x, uint32_t stretches, int64_t n)
{
    sk_geometry g;
    sk_round round = a->round;
    int64_t extent[IR_MAX_RANK], number[RUN_NUMBERS];
    uint32_t i = 0;
    for (unsigned d = 0; d < IR_MAX_RANK; d++)
        extent[d] = a->extents >> d & 1 ? n : a->extent[d];
    round.places = a->places ? n * a->round.places : a->round.places;
    assert_true(sk_plan_launch(&a->r->code[a->cluster], &a->r->options, extent, round,
                               a->r->engine.device->limits->cache_bytes, &g));
    g = sk_general(&g);
    while (i < stretches && x[i].last < n)
        i++;
    assert_true(i < stretches);
    run_numbers_at(&x[i], n, number);
    assert_int_equal(number[RUN_PIECES], g.pieces);
    assert_int_equal(number[RUN_PARTIALS], g.partials);
    assert_int_equal(number[RUN_WORDS], g.state_words);
    assert_memory_equal(number + RUN_SLOT, g.slot, sizeof(g.slot));
    assert_int_equal(x[i].variant != NULL, g.pieces > 0);
    if (g.pieces > 0)
        assert_int_equal(x[i].variant->key | 1 << 3, run_kernel_key(&g, g.partials == 1, true));
}

/* Of one launch, of all dimensions, all others being some numbers; of permutes, also of how many places there are. */
static uint32_t compare_launch(run_sizer *sizer, run_program *r, uint32_t launch)
{
    enum { TRIES = 3000, MOST_LOG = 30 };
    const plan_launch *l = &r->plan->launch.at[launch];
    const unsigned rank = r->l->cluster.at[l->cluster].rank;
    const bool permutes = r->plan->cluster.at[l->cluster].permutes;
    uint32_t all = 0;
    for (unsigned d = 0; d < rank + permutes; d++) {
        const run_stretch *x;
        const char *why = NULL;
        run_asked a = {.r = r,
                       .cluster = l->cluster,
                       .round = {.pass = l->pass, .places = d < rank ? 777 : 1, .segments = 55},
                       .least = 1,
                       .most = (int64_t)1 << MOST_LOG,
                       .behind = -1,
                       .places = d == rank,
                       .argument = anything};
        for (unsigned k = 0; k < rank; k++)
            a.extent[k] = 37;
        a.extents = d < rank ? 1u << d : 0;
        const uint32_t n = run_size_all(sizer, &a, &x, &why);
        if (!n)
            fail_msg("launch %u of cluster %u, pass %d, dimension %u: %s", launch, l->cluster, l->pass, d, why);
        assert_int_equal(x[n - 1].last, a.most);
        for (uint32_t i = 0; i < TRIES; i++) {
            const uint64_t random = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
            const int64_t number = (int64_t)(random >> (64 - MOST_LOG)) >> i % MOST_LOG;
            compare_plan(&a, x, n, number ? number : 1);
        }
        all += n;
    }
    return all;
}

static void formulas_are_what_calls_plan(void **state)
{
    (void)state;
    sn_context *cx = both_cpu();
    const char *kind = exported_kind(cx);
    if (strcmp(kind, "opencl") != 0 && strcmp(kind, "cuda") != 0)
        skip();
    uint32_t all = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        sn_program *p = sn_compile_at(SN_HERE, cx, programs[i].signature, SN_BODY(programs[i].body));
        if (!p)
            fail_msg("%s: %s", programs[i].name, sn_message(cx));
        arena a;
        arena_init(&a, &cx->heap);
        run_sizer sizer = {.arena = &a};
        for (uint32_t k = 0; k < p->run->plan->launch.n; k++) {
            const sk_pass pass = p->run->plan->launch.at[k].pass;
            const bool rounds = pass == SK_PASS_COMBINE || pass == SK_PASS_SPLITS || pass == SK_PASS_MERGE;
            all += rounds ? 0 : compare_launch(&sizer, p->run, k);
        }
        arena_free(&a);
        sn_drop(p);
    }
    assert_true(all > PROGRAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_go_as_their_data_make_them_go),
        cmocka_unit_test(drivers_say_what_is_wrong),
        cmocka_unit_test(formulas_are_what_calls_plan),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
