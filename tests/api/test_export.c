/* Exported programs: what comes back runs without a code generator, with the same bits; what is no such thing is
 * refused. "test_export FOLDER" exports the program that tests/package/export.sh links. */
#include "both.h"
#include "device/cpu_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ELEMENTS = 100003, ROWS = 700 };

static sn_scalar axpy(void *env, sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(*(const sn_scalar *)env, x), y);
}

/* Elements, a fold of them, and a table that comes along. */
static sn_acc saxpy(sn_acc a, sn_acc x, sn_acc y)
{
    static const float table[4] = {1, 2, 3, 4};
    sn_scalar factor = sn_the(a);
    sn_acc z = sn_zip_with(sn_closure(axpy, &factor), x, y);
    return sn_results(z, sn_sum(z), sn_map(sn_neg, sn_use(table, 4)));
}

static sn_acc rounds(sn_acc x)
{
    return sn_map(sn_neg, x);
}

static sn_acc loop(sn_acc m)
{
    return sn_results(sn_aiterate(5, rounds, m), sn_sum(m), sn_scanl1(sn_add, m));
}

#define SAXPY "f32, [n]f32, [n]f32 -> [n]f32, f32, [4]f32"
#define LOOP "[n,m]f32 -> [n,m]f32, [n]f32, [n,m]f32"

static int warned;

static void note_warning(void *env, const char *said)
{
    (void)env;
    if (strstr(said, "interpreted"))
        warned++;
}

static sn_context *opened(void)
{
    return sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cpu", .message = note_warning});
}

static bool on_device(void)
{
    const char *name = getenv("SINTER_DEVICE");
    return name && strcmp(name, "cpu") != 0;
}

static void call_saxpy(sn_program *p, float *z, float *sum, float *table)
{
    static float x[ELEMENTS], y[ELEMENTS];
    const float a = 0.5f;
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = (float)(i % 97) / 7;
        y[i] = (float)(i % 89) / 3;
    }
    assert_int_equal(sn_call(p, sn_value(&a), sn_in(x, ELEMENTS), sn_in(y, ELEMENTS), sn_into(z, ELEMENTS),
                             sn_value(sum), sn_into(table, 4)),
                     SN_OK);
}

static void call_loop(sn_program *p, float *z, float *sums, float *scans)
{
    static float m[ROWS][33];
    for (int i = 0; i < ROWS * 33; i++)
        (&m[0][0])[i] = (float)(i % 101) / 9;
    assert_int_equal(
        sn_call(p, sn_in(&m[0][0], ROWS, 33), sn_into(z, ROWS, 33), sn_into(sums, ROWS), sn_into(scans, ROWS, 33)),
        SN_OK);
}

/* The data of an object: there is one section of them. */
static char *data_of(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    const size_t all = (size_t)ftell(f);
    char *object = malloc(all);
    rewind(f);
    assert_true(object && fread(object, 1, all, f) == all);
    fclose(f);
    uint64_t sections, offset, size;
    memcpy(&sections, object + 40, 8);
    memcpy(&offset, object + sections + 64 + 24, 8);
    memcpy(&size, object + sections + 64 + 32, 8);
    char *data = malloc(size);
    assert_non_null(data);
    memcpy(data, object + offset, size);
    free(object);
    *bytes = size;
    return data;
}

static const char *folder(void)
{
    static char name[200];
    const char *in = getenv("SINTER_TEST_DIR");
    snprintf(name, sizeof name, "%s/exported-%ld", in ? in : "/tmp", (long)getpid());
    assert_true(mkdir(name, 0700) == 0 || errno == EEXIST);
    return name;
}

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    return path;
}

static void clean(const char *name)
{
    unlink(path_of(name));
}

/* A context that can compile nothing. */
static sn_context *without_compiler(char *before, size_t room)
{
    const char *old = getenv("SINTER_CODEGEN"), *cache = getenv("SINTER_CACHE_DIR");
    snprintf(before, room, "%s", cache ? cache : "");
    assert_null(old);
    setenv("SINTER_CODEGEN", "/none/of/this", 1);
    setenv("SINTER_CACHE_DIR", folder(), 1);
    sn_context *cx = opened();
    return cx;
}

static void with_compiler(const char *before)
{
    unsetenv("SINTER_CODEGEN");
    if (*before)
        setenv("SINTER_CACHE_DIR", before, 1);
    else
        unsetenv("SINTER_CACHE_DIR");
}

static bool can_export(sn_context *cx, sn_program *p, const char *name)
{
    sn_status status = sn_export(p, path_of(name));
    if (status == SN_UNSUPPORTED)
        return false;
    if (status != SN_OK)
        fail_msg("%s", sn_message(cx));
    return true;
}

static void programs_come_back(void **state)
{
    static float z[2][ELEMENTS], sum[2], table[2][4], m[2][ROWS * 33], sums[2][ROWS], scans[2][ROWS * 33];
    char before[300];
    (void)state;
    if (on_device() || !both_cpu())
        skip();
    sn_context *cx = opened();
    sn_program *p = sn_compile(cx, SAXPY, saxpy), *q = sn_compile(cx, LOOP, loop);
    assert_true(p && q);
    call_saxpy(p, z[0], &sum[0], table[0]);
    call_loop(q, m[0], sums[0], scans[0]);
    bool can = can_export(cx, p, "saxpy") && can_export(cx, q, "looped");
    sn_drop(p);
    sn_drop(q);
    sn_close(cx);
    if (!can)
        skip();
    size_t bytes[2];
    char *data[2] = {data_of(path_of("saxpy.o"), &bytes[0]), NULL};
    data[1] = data_of(path_of("looped.o"), &bytes[1]);
    cx = without_compiler(before, sizeof before);
    assert_non_null(cx);
    p = sn_import(cx, data[0], bytes[0]);
    q = sn_import(cx, data[1], bytes[1]);
    if (!p || !q)
        fail_msg("%s", sn_message(cx));
    call_saxpy(p, z[1], &sum[1], table[1]);
    call_loop(q, m[1], sums[1], scans[1]);
    assert_int_equal(sn_counts(cx).compiled, 0);
    assert_true(sn_counts(cx).loaded >= 3);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(&sum[0], &sum[1], sizeof sum[0]);
    assert_memory_equal(table[0], table[1], sizeof table[0]);
    assert_memory_equal(m[0], m[1], sizeof m[0]);
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    assert_memory_equal(scans[0], scans[1], sizeof scans[0]);
    sn_drop(p);
    sn_drop(q);
    sn_close(cx);
    with_compiler(before);
    /* whatever is missing, or more than it should be, is refused */
    cx = opened();
    assert_null(sn_import(cx, data[0], bytes[0] - 8));
    assert_non_null(strstr(sn_message(cx), "this is no exported program"));
    assert_null(sn_import(cx, data[0], 8));
    assert_null(sn_import(cx, NULL, 0));
    for (size_t i = 0; i < 64; i += 8) {
        char kept[8];
        memcpy(kept, data[0] + i, 8);
        memset(data[0] + i, 0x7f, 8);
        p = sn_import(cx, data[0], bytes[0]);
        assert_true(!p || i >= 48); /* code of another library is compiled anew */
        sn_drop(p);
        memcpy(data[0] + i, kept, 8);
    }
    sn_close(cx);
    free(data[0]);
    free(data[1]);
    clean("saxpy.o");
    clean("saxpy.h");
    clean("looped.o");
    clean("looped.h");
}

static void read_whole(const char *name, char *to, size_t room)
{
    FILE *f = fopen(path_of(name), "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, room - 1, f);
    to[n] = 0;
    fclose(f);
}

/* --- a program that comes back where nothing compiles --- */

typedef struct returned {
    sn_context *cx;
    sn_program *p;
    char *data, before[300];
    int warned;
} returned;

static returned come_back(const char *name)
{
    char object[100];
    size_t bytes;
    returned r = {.warned = warned};
    snprintf(object, sizeof object, "%s.o", name);
    r.data = data_of(path_of(object), &bytes);
    r.cx = without_compiler(r.before, sizeof r.before);
    assert_non_null(r.cx);
    r.p = sn_import(r.cx, r.data, bytes);
    if (!r.p)
        fail_msg("%s", sn_message(r.cx));
    return r;
}

static void go_away(returned *r, const char *name)
{
    assert_int_equal(sn_counts(r->cx).compiled, 0);
    assert_int_equal(warned, r->warned); /* nothing is interpreted for want of a kernel */
    sn_drop(r->p);
    sn_close(r->cx);
    with_compiler(r->before);
    free(r->data);
    for (int header = 0; header < 2; header++) {
        char file[100];
        snprintf(file, sizeof file, "%s.%c", name, header ? 'h' : 'o');
        clean(file);
    }
}

/* --- numbers of channels that no call has had before the export --- */

static sn_scalar around_pixel(sn_scalar s)
{
    sn_scalar sum = sn_mul(sn_at(s, 0, 0, 0), 4);
    sum = sn_add(sum, sn_sub(sn_at(s, -1, 0, 0), sn_mul(sn_at(s, 1, 0, 0), 2)));
    return sn_add(sum, sn_sub(sn_mul(sn_at(s, 0, -1, 0), 3), sn_at(s, 0, 1, 0)));
}

static sn_scalar below_pixel(sn_scalar s)
{
    return sn_sub(sn_at(s, -1, 0, 0), sn_mul(sn_at(s, 1, 0, 0), 2));
}

static sn_acc of_pixels(sn_acc x)
{
    return sn_results(sn_stencil(around_pixel, sn_pattern(3, 3, 1), sn_mirror, x),
                      sn_stencil(below_pixel, sn_pattern(3, 1, 1), sn_constant(7), x));
}

static void call_pixels(sn_program *p, const int64_t *e, float *z, float *w)
{
    static float x[40000];
    for (int i = 0; i < 40000; i++)
        x[i] = (float)(i * 7 % 101);
    assert_true(e[0] * e[1] * e[2] <= 40000);
    assert_int_equal(sn_call(p, sn_in(x, e[0], e[1], e[2]), sn_into(z, e[0], e[1], e[2]), sn_into(w, e[0], e[1], e[2])),
                     SN_OK);
}

static void any_channels_come_back(void **state)
{
    static const int64_t extents_of[][3] = {{30, 40, 3},  {30, 40, 1}, {3, 17, 5},  {40, 2, 20},  {1, 1, 1},
                                            {20, 30, 64}, {5, 6, 65},  {1, 300, 2}, {9, 100, 33}, {100, 1, 16}};
    enum { SHAPES = sizeof(extents_of) / sizeof(*extents_of) };
    static float z[2][SHAPES][40000], w[2][SHAPES][40000];
    (void)state;
    if (on_device() || !both_cpu())
        return;
    sn_context *cx = opened();
    sn_program *p = sn_compile(cx, "[h,w,c]f32 -> [h,w,c]f32, [h,w,c]f32", of_pixels);
    assert_non_null(p);
    call_pixels(p, extents_of[0], z[0][0], w[0][0]);
    if (!can_export(cx, p, "pixels")) {
        sn_close(cx);
        return;
    }
    for (int i = 1; i < SHAPES; i++)
        call_pixels(p, extents_of[i], z[0][i], w[0][i]);
    sn_drop(p);
    sn_close(cx);
    returned back = come_back("pixels");
    for (int i = 0; i < SHAPES; i++)
        call_pixels(back.p, extents_of[i], z[1][i], w[1][i]);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_memory_equal(w[0], w[1], sizeof w[0]);
    go_away(&back, "pixels");
}

/* --- programs for small extents --- */

static sn_acc of_columns(sn_acc m)
{
    return sn_results(sn_transpose(m), sn_sort(m), sn_sum(m));
}

static void call_columns(sn_program *p, int64_t columns, float *turned, float *sorted, float *sums)
{
    static float m[ROWS * 40];
    for (int i = 0; i < ROWS * 40; i++)
        m[i] = (float)(i * 7919 % 1013);
    assert_int_equal(sn_call(p, sn_in(m, ROWS * 40 / columns, columns), sn_into(turned, columns, ROWS * 40 / columns),
                             sn_into(sorted, ROWS * 40 / columns, columns), sn_into(sums, ROWS * 40 / columns)),
                     SN_OK);
}

/* Those that calls have made are made again where the program comes back, and have their kernels with them; other
 * extents take the general program there. */
static void small_extents_come_back(void **state)
{
    static const int64_t columns[] = {4, 10, 40};
    enum { CASES = sizeof(columns) / sizeof(*columns) };
    static float turned[2][CASES][ROWS * 40], sorted[2][CASES][ROWS * 40], sums[2][CASES][ROWS * 40];
    (void)state;
    if (on_device() || !both_cpu())
        return;
    sn_context *cx = opened();
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [m,n]f32, [n,m]f32, [n]f32", of_columns);
    assert_non_null(p);
    call_columns(p, columns[0], turned[0][0], sorted[0][0], sums[0][0]);
    assert_non_null(atomic_load(&p->small));
    if (!can_export(cx, p, "columns")) {
        sn_close(cx);
        return;
    }
    for (int i = 1; i < CASES; i++)
        call_columns(p, columns[i], turned[0][i], sorted[0][i], sums[0][i]);
    sn_drop(p);
    sn_close(cx);
    returned back = come_back("columns");
    const small_extents *s = atomic_load(&back.p->small);
    assert_true(s && s->program && s->number == 1);
    for (int i = 0; i < CASES; i++) {
        call_columns(back.p, columns[i], turned[1][i], sorted[1][i], sums[1][i]);
        assert_true(i || run_kernels(s->program->run));
    }
    assert_int_equal(atomic_load(&back.p->small)->number, 1);
    assert_memory_equal(turned[0], turned[1], sizeof turned[0]);
    assert_memory_equal(sorted[0], sorted[1], sizeof sorted[0]);
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    go_away(&back, "columns");
}

/* --- sets of instructions --- */

enum { CALLS = 5, SETS = 3 /* of x86-64: v2, v3, v4 */ };

static sn_scalar key_of(sn_scalar x)
{
    return sn_rem(x, sn_i32(64));
}

static sn_scalar is_large(sn_scalar x)
{
    return sn_gt(x, sn_i32(40));
}

static sn_scalar cross(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
}

static sn_acc folds(sn_acc x, sn_acc i, sn_acc m)
{
    (void)i;
    return sn_results(sn_sum(x), sn_maximum(x), sn_sum(sn_transpose(m)));
}

static sn_acc rows(sn_acc x, sn_acc i, sn_acc m)
{
    (void)i;
    return sn_results(sn_scanl1(sn_add, x), sn_scanl1(sn_add, m), sn_sum(m));
}

static sn_acc elements(sn_acc x, sn_acc i, sn_acc m)
{
    (void)i;
    return sn_results(sn_map(sn_exp, x), sn_transpose(m), sn_stencil(cross, sn_pattern(3, 3), sn_clamp, m));
}

/* What comes back has the fallback. */
static const sn_foreign_function next = {
    .size = sizeof next, .name = "next", .llvm = "define i32 @next(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n"};

static sn_scalar plain_next(sn_scalar x)
{
    return sn_add(x, 1);
}

static sn_scalar next_of(sn_scalar x)
{
    return sn_foreign_scalar(&next, plain_next, x);
}

static sn_acc places(sn_acc x, sn_acc i, sn_acc m)
{
    (void)x, (void)m;
    return sn_results(sn_filter(is_large, i), sn_sort(sn_map(next_of, i)), sn_histogram(sn_i64(64), sn_map(key_of, i)));
}

/* Every second segment is empty. */
static sn_scalar length_at(void *env, sn_scalar k)
{
    sn_scalar more = sn_lt(sn_add(k, sn_i64(1)), *(const sn_scalar *)env);
    return sn_if(sn_eq(sn_rem(k, sn_i64(2)), sn_i64(0)), sn_if(more, sn_i64(2), sn_i64(1)), sn_i64(0));
}

/* Checks: a gather, a descriptor. */
static sn_acc gathers(sn_acc x, sn_acc i, sn_acc m)
{
    sn_scalar n = sn_extent(x, 0);
    sn_acc length = sn_generate(sn_shape(n), sn_closure(length_at, &n));
    return sn_results(sn_gather(i, x), sn_sum_seg(length, x), sn_aiterate(3, rounds, m));
}

static sn_acc products(sn_acc x, sn_acc i, sn_acc m)
{
    sn_scalar n = sn_extent(m, 0);
    (void)i;
    return sn_results(
        sn_sum(sn_zip_with(sn_mul, sn_replicate(m, SN_ALL, n, SN_ALL), sn_replicate(m, n, SN_ALL, SN_ALL))),
        sn_reverse(x), sn_sum(sn_flatten(m)));
}

static const struct {
    const char *name, *signature;
    sn_acc (*body)(sn_acc, sn_acc, sn_acc);
    bool often; /* not in long tests only */
} programs[] = {
    {"folds", "[n]f32, [n]i32, [r,c]f32 -> f32, f32, [c]f32", folds, false},
    {"rows", "[n]f32, [n]i32, [r,c]f32 -> [n]f32, [r,c]f32, [r]f32", rows, true},
    {"elements", "[n]f32, [n]i32, [r,c]f32 -> [n]f32, [c,r]f32, [r,c]f32", elements, false},
    {"places", "[n]f32, [n]i32, [r,c]f32 -> [p]i32, [n]i32, [q]i64", places, true},
    {"gathers", "[n]f32, [n]i32, [r,c]f32 -> [n]f32, [n]f32, [r,c]f32", gathers, false},
    {"products", "[n]f32, [n]i32, [r,c]f32 -> [r,r]f32, [n]f32, f32", products, false},
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

static const int64_t extents[CALLS][3] = {
    {100, 5, 7}, {65, 1, 3}, {100003, 300, 33}, {5000, 64, 64}, {70001, 12, 9000}};
enum { MOST = 110000 };

/* A digest of all results; they are the same bits exactly if it is. */
static uint64_t called_with(sn_program *p, sn_context *cx, const int64_t *extent)
{
    static float x[MOST], m[MOST];
    static int32_t i[MOST];
    const int64_t n = extent[0], r = extent[1], c = extent[2];
    uint64_t all = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = (float)(k % 97 - 40) / 7;
        i[k] = (int32_t)(k * 7919 % (n < 90 ? n : 90));
    }
    for (int64_t k = 0; k < r * c; k++)
        m[k] = (float)(k % 101 - 50) / 9;
    sn_array *kept[3] = {NULL};
    if (sn_call(p, sn_in(x, n), sn_in(i, n), sn_in(m, r, c), sn_keep(&kept[0]), sn_keep(&kept[1]), sn_keep(&kept[2])) !=
        SN_OK)
        fail_msg("%s", sn_message(cx));
    for (int k = 0; k < 3; k++) {
        const size_t bytes = sn_bytes(kept[k]);
        char *data = malloc(bytes + 1);
        assert_non_null(data);
        assert_int_equal(sn_read(kept[k], data, bytes), SN_OK);
        all = hash_bytes(data, bytes, all);
        free(data);
        sn_free(kept[k]);
    }
    return all;
}

/* As a processor with shorter vectors has it. */
static void shorten_vectors(sn_context *cx, uint32_t bytes)
{
    device_limits *limits = (device_limits *)(uintptr_t)cx->engine.device->limits;
    assert_true(bytes <= limits->vector_bytes);
    limits->vector_bytes = bytes;
}

/* The program runs on processors of each level as far as this one has it, and takes that level's code. */
static void run_sets(const char *data, size_t bytes, int program, const uint64_t *wanted)
{
    char before[300];
    for (int s = 0; s < SETS && (int)device_cpu_level(both_cpu()->engine.device) >= s + 2; s++) {
        sn_context *cx = without_compiler(before, sizeof before);
        shorten_vectors(cx, 16u << s);
        sn_program *p = sn_import(cx, data, bytes);
        if (!p)
            fail_msg("%s", sn_message(cx));
        assert_int_equal(p->vector_bytes, 16u << s);
        warned = 0;
        for (int i = 0; i < CALLS; i++) {
            const bool same = called_with(p, cx, extents[i]) == wanted[i];
            if (warned || !same)
                fail_msg("%s, level %d, extents %d: %s", programs[program].name, s + 2, i,
                         warned ? "a kernel is missing" : "other bits");
        }
        assert_int_equal(sn_counts(cx).compiled, 0);
        assert_true(sn_counts(cx).loaded > 2);
        sn_drop(p);
        sn_close(cx);
        with_compiler(before);
    }
}

/* Whatever the extents, and on whatever processor: no call has told which kernels there are to be. */
static void all_sets_give_the_same_bits(void **state)
{
    const bool few = !getenv("SINTER_TEST_LONG");
    (void)state;
    if (on_device() || !both_cpu() || !device_cpu_level_at(SETS + 1))
        skip();
    for (int k = 0; k < PROGRAMS; k++) {
        uint64_t wanted[CALLS];
        char path[80];
        size_t bytes;
        if (few && !programs[k].often)
            continue;
        sn_context *cx = opened();
        sn_program *p = sn_compile_at(SN_HERE, cx, programs[k].signature, SN_BODY(programs[k].body)),
                   *q = sn_compile_at(SN_HERE, cx, programs[k].signature, SN_BODY(programs[k].body));
        if (!p || !q)
            fail_msg("%s", sn_message(cx));
        for (int s = 0; s < CALLS; s++)
            wanted[s] = called_with(p, cx, extents[s]);
        if (sn_export_for(q, path_of(programs[k].name), "all") != SN_OK)
            fail_msg("%s", sn_message(cx));
        sn_drop(p);
        sn_drop(q);
        sn_close(cx);
        snprintf(path, sizeof path, "%s.o", programs[k].name);
        char *data = data_of(path_of(path), &bytes);
        clean(path);
        snprintf(path, sizeof path, "%s.h", programs[k].name);
        clean(path);
        run_sets(data, bytes, k, wanted);
        free(data);
    }
}

/* The header says which sets of instructions there is code for; where none of them is the processor's, and nothing
 * compiles, the program is interpreted. */
static void sets_are_named(void **state)
{
    static char found[4096];
    char before[300];
    float z[1] = {0}, sum = 0, table[4];
    const float a = 2, x[1] = {3}, y[1] = {4};
    size_t bytes;
    (void)state;
    if (on_device() || !both_cpu() || !device_cpu_level_at(SETS + 1))
        skip();
    sn_context *cx = opened();
    sn_program *p = sn_compile(cx, SAXPY, saxpy);
    assert_non_null(p);
    assert_int_equal(sn_export_for(p, path_of("saxpy"), "x86-64-v3,x86-64-v4"), SN_OK);
    read_whole("saxpy.h", found, sizeof found);
    assert_non_null(strstr(found, "Code for x86-64-v3, x86-64-v4."));
    assert_int_equal(sn_export_for(p, path_of("saxpy"), "x86-64-v9"), SN_BAD_ARGUMENT);
    assert_non_null(
        strstr(sn_message(cx), "export: \"x86-64-v9\" is no set of instructions; they are named x86-64-v2, "));
    sn_drop(p);
    sn_close(cx);
    char *data = data_of(path_of("saxpy.o"), &bytes);
    cx = without_compiler(before, sizeof before);
    shorten_vectors(cx, 16);
    warned = 0;
    p = sn_import(cx, data, bytes);
    assert_non_null(p);
    assert_int_equal(
        sn_call(p, sn_value(&a), sn_in(x, 1), sn_in(y, 1), sn_into(z, 1), sn_value(&sum), sn_into(table, 4)), SN_OK);
    assert_true(z[0] == 10 && sum == 10);
    assert_int_equal(warned, 1);
    sn_drop(p);
    sn_close(cx);
    with_compiler(before);
    free(data);
    clean("saxpy.o");
    clean("saxpy.h");
}

/* A check fails with its message in code that was exported, too. */
static void checks_come_along(void **state)
{
    static const float x[4] = {1, 2, 3, 4}, m[1] = {0};
    static const int32_t wrong[4] = {0, 3, 4, 1};
    char before[300], said[300];
    size_t bytes;
    (void)state;
    if (on_device() || !both_cpu())
        skip();
    sn_context *cx = opened();
    sn_program *p = sn_compile(cx, "[n]f32, [n]i32, [r,c]f32 -> [n]f32, [n]f32, [r,c]f32", gathers);
    sn_array *kept[3] = {NULL};
    assert_non_null(p);
    bool can = can_export(cx, p, "gathers");
    assert_int_equal(sn_call(p, sn_in(x, 4), sn_in(wrong, 4), sn_in(m, 1, 1), sn_keep(&kept[0]), sn_keep(&kept[1]),
                             sn_keep(&kept[2])),
                     SN_OUT_OF_RANGE);
    snprintf(said, sizeof said, "%s", sn_message(cx));
    sn_drop(p);
    sn_close(cx);
    if (!can)
        skip();
    char *data = data_of(path_of("gathers.o"), &bytes);
    cx = without_compiler(before, sizeof before);
    p = sn_import(cx, data, bytes);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(x, 4), sn_in(wrong, 4), sn_in(m, 1, 1), sn_keep(&kept[0]), sn_keep(&kept[1]),
                             sn_keep(&kept[2])),
                     SN_OUT_OF_RANGE);
    if (!strstr(sn_message(cx), "index 4") || !strstr(sn_message(cx), "test_export.c:"))
        fail_msg("%s, not %s", sn_message(cx), said);
    assert_int_equal(sn_counts(cx).compiled, 0);
    sn_drop(p);
    sn_close(cx);
    with_compiler(before);
    free(data);
    clean("gathers.o");
    clean("gathers.h");
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    sn_context *cx = both_interpreter();
    sn_program *p = sn_compile(cx, LOOP, loop);
    assert_int_equal(sn_export(p, path_of("looped")), SN_UNSUPPORTED);
    assert_non_null(strstr(sn_message(cx), "export: no code for this device; programs are exported from the device"));
    assert_int_equal(sn_export(p, path_of("no name")), SN_BAD_ARGUMENT);
    assert_int_equal(sn_export(p, NULL), SN_BAD_ARGUMENT);
    assert_int_equal(sn_export_for(NULL, "x", NULL), SN_NO_PROGRAM);
    assert_int_equal(sn_export(NULL, "x"), SN_NO_PROGRAM);
    sn_drop(p);
    if (on_device() || !both_cpu())
        return;
    cx = opened();
    p = sn_compile(cx, LOOP, loop);
    sn_status status = sn_export(p, "/no/such/folder/looped");
    assert_true(status == SN_FILE || status == SN_UNSUPPORTED);
    sn_drop(p);
    sn_close(cx);
}

/* Devices behind a driver give sources, and what launches were given. */
static void sources_and_launches(void **state)
{
    static float z[ELEMENTS];
    static char found[1 << 18];
    float sum, table[4];
    (void)state;
    sn_context *cx = both_cpu();
    const char *kind = cx && cx->engine.device ? cx->engine.device->limits->kind : "";
    if (strcmp(kind, "opencl") != 0 && strcmp(kind, "cuda") != 0)
        skip();
    const char *ending = strcmp(kind, "opencl") ? "cu" : "cl";
    sn_program *p = sn_compile(cx, SAXPY, saxpy);
    assert_non_null(p);
    assert_int_equal(sn_export(p, path_of("saxpy")), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "there are no launches to export; record calls with sn_profile"));
    assert_int_equal(sn_export_for(p, path_of("saxpy"), "all"), SN_BAD_ARGUMENT);
    assert_non_null(strstr(sn_message(cx), "sets of instructions are chosen for the device \"cpu\""));
    sn_profile(p, true);
    uint64_t launches = sn_counts(cx).launches;
    call_saxpy(p, z, &sum, table);
    launches = sn_counts(cx).launches - launches;
    if (sn_export(p, path_of("saxpy")) != SN_OK)
        fail_msg("%s", sn_message(cx));
    read_whole("saxpy.json", found, sizeof found);
    assert_non_null(strstr(found, "\"signature\": \"" SAXPY "\""));
    assert_non_null(strstr(found, "\"entry\": \"saxpy_0\""));
    assert_non_null(strstr(found, "\"elements\": 100003"));
    uint64_t told = 0;
    for (const char *at = found; (at = strstr(at, "\"cluster\":")); at++)
        told++;
    assert_int_equal(told, launches);
    told = 0;
    for (const char *at = found; (at = strstr(at, "\"do\": \"launch\"")); at++)
        told++;
    assert_int_equal(told, launches);
    for (int i = 0;; i++) {
        char name[32], entry[32];
        snprintf(name, sizeof name, "saxpy.%d.%s", i, ending);
        snprintf(entry, sizeof entry, "saxpy_%d(", i);
        if (access(path_of(name), R_OK)) {
            assert_true(i > 0);
            break;
        }
        read_whole(name, found, sizeof found);
        assert_non_null(strstr(found, entry));
        clean(name);
    }
    clean("saxpy.json");
    clean("saxpy.c");
    clean("saxpy.h");
    sn_drop(p);
}

static int export_one(const char *prefix)
{
    sn_context *cx = opened();
    sn_program *p = cx ? sn_compile(cx, SAXPY, saxpy) : NULL;
    static float z[ELEMENTS];
    float sum, table[4];
    if (!p)
        return 1;
    call_saxpy(p, z, &sum, table);
    sn_status status = sn_export(p, prefix);
    printf("%.9g\n", (double)sum);
    sn_drop(p);
    sn_close(cx);
    return status == SN_UNSUPPORTED ? 77 : status != SN_OK;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_come_back),          cmocka_unit_test(any_channels_come_back),
        cmocka_unit_test(all_sets_give_the_same_bits), cmocka_unit_test(sets_are_named),
        cmocka_unit_test(checks_come_along),           cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(sources_and_launches),        cmocka_unit_test(small_extents_come_back),
    };
    if (argc > 1)
        return export_one(argv[1]);
    int failed = cmocka_run_group_tests(tests, both_open, both_close);
    rmdir(folder());
    return failed;
}
