/* Drivers of programs that are exported as sources: compiled and run by themselves, with other data than those of the
 * recorded call, they give the library's bits, whatever loops and choices do with these. */
#include "both.h"
#include "support/exported.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 5003, ROWS = 37, COLUMNS = 70, MOST_BYTES = 4 * N, MOST_RESULTS = 4 };

/* --- programs --- */

static sn_scalar plus(void *env, sn_scalar x)
{
    return sn_add(x, *(const sn_scalar *)env);
}

static sn_scalar axpy(void *env, sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(*(const sn_scalar *)env, x), y);
}

/* Numbers that the host reads, data that comes along, and a fold in rounds. */
static sn_acc straight(sn_acc k, sn_acc x)
{
    static const float table[5] = {1, 2, 3, 4, 0.25f};
    sn_scalar factor = sn_add(sn_mul(sn_to_f32(sn_the(k)), sn_f32(0.5f)), sn_f32(1));
    sn_acc z = sn_zip_with(sn_closure(axpy, &factor), x, sn_reverse(x));
    return sn_results(z, sn_sum(z), sn_map(sn_closure(plus, &factor), sn_use(table, 5)));
}

static sn_scalar cross(sn_scalar s)
{
    return sn_mul(sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1))),
                  sn_f32(0.25f));
}

static sn_acc smoothed(sn_acc m)
{
    return sn_stencil(cross, sn_pattern(3, 3), sn_clamp, m);
}

/* As often as an argument says, several rounds at once where that is better. */
static sn_acc counted(sn_acc k, sn_acc m)
{
    return sn_aiterate(sn_to_i64(sn_the(k)), smoothed, m);
}

static sn_acc add_round(sn_acc i, sn_acc x)
{
    sn_scalar by = sn_to_f32(sn_the(i));
    return sn_scanl1(sn_max, sn_map(sn_closure(plus, &by), sn_reverse(x)));
}

/* The number of the round is a number of the round's. */
static sn_acc numbered(sn_acc k, sn_acc x)
{
    return sn_aloop(sn_to_i64(sn_the(k)), add_round, x);
}

static sn_acc below(sn_acc n, sn_acc x)
{
    (void)n;
    return sn_unit(sn_lt(sn_the(sn_sum(x)), sn_f32(1e6f)));
}

static sn_acc grow(sn_acc n, sn_acc x)
{
    sn_scalar more = sn_to_f32(sn_the(n));
    return sn_results(sn_unit(sn_add(sn_the(n), 1)), sn_map(sn_closure(plus, &more), x));
}

/* Until the data say so; the sum of all of them is read back each round. */
static sn_acc until(sn_acc k, sn_acc x)
{
    return sn_awhile(below, grow, sn_results(k, x));
}

static sn_acc negated(sn_acc x)
{
    return sn_map(sn_neg, x);
}

static sn_acc sorted_sums(sn_acc x)
{
    return sn_scanl1(sn_add, x);
}

/* A choice in a loop, and a result that may be an argument. */
static sn_acc alternate(sn_acc i, sn_acc x)
{
    return sn_acond(sn_eq(sn_mod(sn_the(i), sn_i64(3)), sn_i64(1)), negated, sorted_sums, x);
}

static sn_acc chosen(sn_acc k, sn_acc x)
{
    sn_acc y = sn_aloop(5, alternate, x);
    return sn_results(y, sn_acond(sn_gt(sn_the(k), 2), negated, sorted_sums, x),
                      sn_aiterate(sn_to_i64(sn_the(k)), negated, x));
}

static sn_scalar target(void *env, sn_scalar j)
{
    return sn_add(sn_mul(*(const sn_scalar *)env, 11), sn_mul(j, 3));
}

/* A few elements of the state, which the library updates where it is. */
static sn_acc write_some(sn_acc i, sn_acc x)
{
    sn_scalar round = sn_the(i);
    sn_acc to = sn_generate(3, sn_closure(target, &round));
    return sn_scatter(to, x, sn_map(sn_to_f32, to));
}

static sn_acc updated(sn_acc k, sn_acc x)
{
    return sn_aloop(sn_to_i64(sn_the(k)), write_some, x);
}

/* A kernel of many arrays, at a place whose name is no plain text in C. */
static sn_acc many_arrays(sn_acc k, sn_acc x)
{
    static float table[155];
    const sn_site here = {"what?\?/\r\"\\.c", 7};
    sn_scalar factor = sn_to_f32(sn_the(k));
    sn_acc sum = sn_map(sn_closure(plus, &factor), sn_take(5, x));
    for (int i = 0; i + 5 <= 155; i++) {
        table[i] = (float)i;
        sum = sn_zip_with_at(here, sn_fn_2(sn_add), 2, (const sn_acc[]){sum, sn_use(table + i, 5)});
    }
    return sum;
}

static const struct {
    const char *name, *signature;
    sn_acc (*body)(sn_acc, sn_acc);
    int32_t recorded[2], called[2]; /* calls that are recorded, for loops and choices; and calls of the driver */
    bool image, often;              /* often: not in long tests only */
} programs[] = {
    {"straight", "i32, [n]f32 -> [n]f32, f32, [5]f32", straight, {3, 3}, {7, -2}, false, true},
    {"counted", "i32, [n,m]f32 -> [n,m]f32", counted, {21, 1}, {1, 58}, true, false},
    {"numbered", "i32, [n]f32 -> [n]f32", numbered, {2, 2}, {0, 9}, false, false},
    {"until", "i32, [n]f32 -> i32, [n]f32", until, {1, 1}, {5, 40}, false, false},
    {"chosen", "i32, [n]f32 -> [n]f32, [n]f32, [n]f32", chosen, {1, 4}, {4, 0}, false, true},
    {"updated", "i32, [n]f32 -> [n]f32", updated, {3, 3}, {20, 0}, false, false},
    {"device", "i32, [n]f32 -> [5]f32", many_arrays, {3, 3}, {20, 0}, false, true}, /* which the driver has names for */
    {"float", "i32, [n]f32 -> [n]f32", updated, {3, 3}, {20, 0}, false, false},
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

/* --- calls --- */

typedef struct results {
    size_t bytes[MOST_RESULTS];
    unsigned char data[MOST_RESULTS][MOST_BYTES];
    int n;
} results;

static void fill(float *x, int32_t k)
{
    for (int i = 0; i < N; i++)
        x[i] = (float)((i * 31 + k * 7) % 97 - 40) / 7 + (float)k;
}

static sn_status call(sn_program *p, int program, int32_t k, results *out)
{
    static float x[N];
    sn_array *kept[MOST_RESULTS] = {NULL};
    const int n = (int)p->results;
    fill(x, k);
    sn_arg in = programs[program].image ? sn_in(x, ROWS, COLUMNS) : sn_in(x, N);
    sn_status status = n == 1   ? sn_call(p, sn_value(&k), in, sn_keep(&kept[0]))
                       : n == 2 ? sn_call(p, sn_value(&k), in, sn_keep(&kept[0]), sn_keep(&kept[1]))
                                : sn_call(p, sn_value(&k), in, sn_keep(&kept[0]), sn_keep(&kept[1]), sn_keep(&kept[2]));
    *out = (results){.n = n};
    for (int i = 0; i < n && status == SN_OK; i++) {
        out->bytes[i] = sn_bytes(kept[i]);
        assert_true(out->bytes[i] <= MOST_BYTES);
        assert_int_equal(sn_read(kept[i], out->data[i], out->bytes[i]), SN_OK);
        sn_free(kept[i]);
    }
    return status;
}

/* --- the driver --- */

/* Reads `in0` and so on from the folder that it is given, and writes `out0` and so on. */
static const char host[] =
    EXPORTED_HOST_OPENS
    "    for (int i = 0; i < C(NAME, _inputs); i++) {\n"
    "        size_t bytes = C(NAME, _in_bytes)[i];\n        void *x = malloc(bytes + 1);\n"
    "        snprintf(path, sizeof path, \"%s/in%d\", arg[1], i);\n        FILE *f = fopen(path, \"rb\");\n"
    "        if (!f || fread(x, 1, bytes, f) != bytes) return 2;\n        fclose(f);\n"
    "#ifdef OPENCL\n"
    "        in[i] = clCreateBuffer(cx, CL_MEM_COPY_HOST_PTR, bytes, x, &status);\n"
    "#else\n"
    "        cuMemAlloc(&in[i], bytes); cuMemcpyHtoDAsync(in[i], x, bytes, q); cuStreamSynchronize(q);\n"
    "#endif\n"
    "        free(x);\n    }\n"
    "    for (int twice = 0; twice < 2; twice++)\n"
    "        if (!C(NAME, _run)(s, q, in, out)) { fprintf(stderr, \"%s\\n\", C(NAME, _said)(s)); return 3; }\n"
    "    for (int i = 0; i < C(NAME, _outputs); i++) {\n"
    "        size_t bytes = C(NAME, _out_bytes)[i];\n        void *x = malloc(bytes + 1);\n"
    "#ifdef OPENCL\n"
    "        clEnqueueReadBuffer(q, out[i], CL_TRUE, 0, bytes, x, 0, NULL, NULL);\n"
    "#else\n"
    "        cuMemcpyDtoHAsync(x, out[i], bytes, q); cuStreamSynchronize(q);\n"
    "#endif\n"
    "        snprintf(path, sizeof path, \"%s/out%d\", arg[1], i);\n        FILE *f = fopen(path, \"wb\");\n"
    "        if (!f || fwrite(x, 1, bytes, f) != bytes || fclose(f)) return 4;\n        free(x);\n    }\n"
    "#ifdef OPENCL\n"
    "    in[1] = clCreateBuffer(cx, CL_MEM_READ_WRITE, 1, NULL, &status);\n"
    "#else\n"
    "    in[1] = 0;\n"
    "#endif\n"
    "    if (C(NAME, _run)(s, q, in, out) || !strstr(C(NAME, _said)(s), \"less memory\")) return 5;\n"
    "    C(NAME, _close)(s);\n    return 0;\n}\n";

static void run_driver(int program, int32_t k, const results *wanted)
{
    static float x[N];
    static unsigned char found[MOST_BYTES];
    char command[1000], ending[16];
    fill(x, k);
    exported_write(exported_path("in", "0"), &k, sizeof k);
    exported_write(exported_path("in", "1"), x, programs[program].image ? sizeof(float) * ROWS * COLUMNS : sizeof x);
    snprintf(command, sizeof command, "%s/%s.host %s", exported_folder(), programs[program].name, exported_folder());
    exported_must_run(command);
    for (int i = 0; i < wanted->n; i++) {
        snprintf(ending, sizeof ending, "%d", i);
        FILE *f = fopen(exported_path("out", ending), "rb");
        assert_non_null(f);
        const size_t n = fread(found, 1, sizeof found, f);
        fclose(f);
        assert_int_equal(n, wanted->bytes[i]);
        if (memcmp(found, wanted->data[i], n))
            fail_msg("%s of %d: result %d differs", programs[program].name, k, i);
    }
}

static void drivers_give_the_same_bits(void **state)
{
    static results out;
    (void)state;
    sn_context *cx = both_cpu();
    const bool opencl = !strcmp(exported_kind(cx), "opencl");
    if (!opencl && strcmp(exported_kind(cx), "cuda") != 0)
        skip();
    for (int i = 0; i < PROGRAMS; i++) {
        if (!programs[i].often && !getenv("SINTER_TEST_LONG"))
            continue;
        sn_program *p = sn_compile_at(SN_HERE, cx, programs[i].signature, SN_BODY(programs[i].body));
        if (!p)
            fail_msg("%s", sn_message(cx));
        sn_profile(p, true);
        for (int c = 0; c < 2; c++)
            if (call(p, i, programs[i].recorded[c], &out) != SN_OK)
                fail_msg("%s", sn_message(cx));
        sn_profile(p, false);
        if (sn_export(p, exported_path(programs[i].name, "")) != SN_OK)
            fail_msg("%s: %s", programs[i].name, sn_message(cx));
        exported_compile(programs[i].name, host, opencl);
        for (int c = 0; c < 2; c++) {
            assert_int_equal(call(p, i, programs[i].called[c], &out), SN_OK);
            run_driver(i, programs[i].called[c], &out);
        }
        sn_drop(p);
    }
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", exported_folder());
    exported_must_run(command);
}

/* --- what cannot be told --- */

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_scalar is_small(sn_scalar x)
{
    return sn_lt(x, 4);
}

/* Sums of rows, which are as many as some elements and as long as others: of two extents neither is known. */
static sn_acc sums_of_some(sn_acc x)
{
    sn_acc some = sn_filter(is_positive, x), others = sn_filter(is_small, x);
    return sn_fold(
        sn_add, sn_f32(0),
        sn_zip_with(sn_mul, sn_replicate(some, SN_ALL, sn_size(others)), sn_replicate(others, sn_size(some), SN_ALL)));
}

static sn_acc sums(sn_acc k, sn_acc x)
{
    return sn_aiterate(sn_to_i64(sn_the(k)), sums_of_some, x);
}

static void refused(const char *signature, sn_acc (*body)(sn_acc, sn_acc), int32_t k, const char *why)
{
    static const float x[6] = {1, -2, 3, 4, -5, 6};
    sn_context *cx = both_cpu();
    sn_array *kept = NULL;
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, SN_BODY(body));
    if (!p)
        fail_msg("%s", sn_message(cx));
    sn_profile(p, true);
    assert_int_equal(sn_call(p, sn_value(&k), sn_in(x, 6), sn_keep(&kept)), SN_OK);
    assert_int_equal(sn_export(p, exported_path("refused", "")), SN_UNSUPPORTED);
    if (!strstr(sn_message(cx), "what the loops and choices of arrays did in the recorded calls cannot be told: ") ||
        !strstr(sn_message(cx), why))
        fail_msg("%s", sn_message(cx));
    sn_free(kept);
    sn_drop(p);
}

static void what_cannot_be_told_is_said(void **state)
{
    (void)state;
    const char *kind = exported_kind(both_cpu());
    if (strcmp(kind, "opencl") != 0 && strcmp(kind, "cuda") != 0)
        skip();
    refused("i32, [n]f32 -> [m]f32", sums, 1, "goes over two extents that the program computes");
    rmdir(exported_folder());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_give_the_same_bits),
        cmocka_unit_test(what_cannot_be_told_is_said),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
