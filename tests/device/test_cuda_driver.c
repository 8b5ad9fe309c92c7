/* The CUDA driver against libraries that stand in for CUDA's (fake_cuda/): what kernels compute, in which order things
 * happen, what is reported, that any call may fail, that nothing is left over. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "device/device.h"
#include "fake_cuda/control.h"
#include "support/own_operands.h"
#include "support/random_kernel.h"

typedef struct {
    arena a;
    device *d;
    fake_cuda_control *cuda;
    fake_nvrtc_control *nvrtc;
} fixture;

static void *symbol(const char *file, const char *name)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return dlsym(library, name);
}

static device *open_device(arena *a, unsigned number, const device_options *options)
{
    const char *why = "";
    device *d = device_cuda_open(options, number, a, &why);
    if (!d)
        fail_msg("%s", why);
    return d;
}

static int setup(void **state)
{
    setenv("SINTER_CUDA", SN_TEST_FAKE_CUDA, 1);
    setenv("SINTER_NVRTC", SN_TEST_FAKE_NVRTC, 1);
    setenv("SINTER_CACHE", "off", 1);
    fixture *f = test_calloc(1, sizeof(*f));
    arena_init(&f->a, NULL);
    f->cuda = symbol(SN_TEST_FAKE_CUDA, "fake_cuda");
    f->nvrtc = symbol(SN_TEST_FAKE_NVRTC, "fake_nvrtc");
    f->cuda->mistakes = 0;
    f->cuda->fail_at = -1;
    f->d = open_device(&f->a, 0, NULL);
    *state = f;
    return 0;
}

static void expect_nothing_left(const fake_cuda_control *c)
{
    if (c->mistakes)
        fail_msg("%s", c->mistake);
    assert_int_equal(c->blocks, 0);
    assert_int_equal(c->host_blocks, 0);
    assert_int_equal(c->modules, 0);
    assert_int_equal(c->streams, 0);
    assert_int_equal(c->events, 0);
    assert_int_equal(c->retained, 0);
}

static int teardown(void **state)
{
    fixture *f = *state;
    if (f->d)
        f->d->close(f->d);
    expect_nothing_left(f->cuda);
    arena_free(&f->a);
    test_free(f);
    return 0;
}

/* --- running a kernel with the host's memory --- */

enum { MOST_MEMORIES = 80 };

typedef struct {
    void *block[MOST_MEMORIES];
    uint32_t n;
} blocks;

static void release(device *d, blocks *b, const size_t *bytes)
{
    for (uint32_t i = 0; i < b->n; i++)
        d->release(d, b->block[i], bytes[i]);
}

/* Uploads, launches, downloads; what fails is in *why. */
static device_state run(device *d, device_kernel *code, void *const *mem, const size_t *bytes, uint32_t n,
                        const ir_bits *arg, int64_t pieces, k_error *error, arena *a, const char **why)
{
    blocks b = {0};
    device_queue *q = d->open_queue(d, NULL, NULL);
    device_state state = DEVICE_OUT_OF_MEMORY;
    bool good = q != NULL;
    *why = "no queue";
    for (; good && b.n < n; b.n += good) {
        b.block[b.n] = d->alloc(d, bytes[b.n]);
        good = b.block[b.n] != NULL;
        *why = "no block";
    }
    for (uint32_t i = 0; good && i < n; i++)
        good = d->copy(d, q, DEVICE_UPLOAD, b.block[i], mem[i], 0, bytes[i]);
    good = good && d->enqueue(d, q, code, b.block, arg, 0, pieces, false, NULL);
    for (uint32_t i = 0; good && i < n; i++)
        good = d->copy(d, q, DEVICE_DOWNLOAD, mem[i], b.block[i], 0, bytes[i]);
    if (q && b.n == n)
        state = d->finish(d, q, error, a, why);
    if (good)
        assert_true(state == DEVICE_FINE || *why);
    d->close_queue(d, q);
    release(d, &b, bytes);
    return state;
}

static device_kernel *compiled(device *d, const kernel *k, arena *a)
{
    const char *why = "";
    if (!k_verify(k, a, &why))
        fail_msg("%s", why);
    device_kernel *code = device_compile(d, k, a, &why);
    if (!code)
        fail_msg("%s", why);
    return code;
}

/* --- what kernels compute --- */

enum { POINTS = 300 };

/* All operators of a type in one kernel, an output each. */
typedef struct {
    arena a;
    kernel *k;
    k_builder b;
    k_val index, x, y, z;
    const char *name[MOST_MEMORIES];
    ir_type type[MOST_MEMORIES];
    void *mem[MOST_MEMORIES], *expected[MOST_MEMORIES];
    size_t bytes[MOST_MEMORIES];
    uint32_t n;
} operators;

static ir_bits sample(ir_type t, unsigned i, unsigned salt)
{
    static const double special[] = {0.0,   -0.0,     1.0,       -1.0, 0.5, 2.5,   -2.5,  1.5,    -0.5,   1e-42,
                                     254.5, INFINITY, -INFINITY, NAN,  3e9, -7e18, 1e300, -128.9, 70000.0};
    static const int64_t whole[] = {0,  1,  -1,        2,         7,         31,        32,  63,
                                    64, -5, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, 255, 128};
    uint64_t h = hash_mix(hash_mix(salt, i + 1), 0xabcdef);
    double v = h % 3 ? special[(h >> 8) % ARRAY_LENGTH(special)] : ldexp((double)(int64_t)h, -(int)(h >> 9 & 127));
    if (t == T_F32)
        return ir_bits_f32((float)v);
    if (t == T_F64)
        return ir_bits_f64(v);
    return ir_bits_i64(t, h % 2 ? whole[(h >> 8) % ARRAY_LENGTH(whole)] : (int64_t)h >> (h >> 3 & 63));
}

static void memory(operators *o, ir_type t, const char *name)
{
    o->name[o->n] = name;
    o->type[o->n] = t;
    o->bytes[o->n] = POINTS * ir_type_size(t);
    o->mem[o->n] = arena_alloc(&o->a, o->bytes[o->n]);
    o->expected[o->n] = arena_alloc(&o->a, o->bytes[o->n]);
    o->n++;
}

static void begin(operators *o, ir_type t)
{
    k_mem in[3];
    size_t size = ir_type_size(t);
    *o = (operators){0};
    arena_init(&o->a, NULL);
    o->k = k_new(&o->a, "operators", 32);
    k_begin(&o->b, o->k);
    for (unsigned j = 0; j < 3; j++) {
        in[j] = k_global(&o->b, t, false, "in");
        memory(o, t, "in");
        for (unsigned i = 0; i < POINTS; i++) {
            ir_bits bits = sample(t, i, j);
            memcpy((uint8_t *)o->mem[j] + i * size, &bits, size);
            memcpy((uint8_t *)o->expected[j] + i * size, &bits, size);
        }
    }
    o->index = k_for_all(&o->b, k_i64(&o->b, POINTS));
    o->x = k_load(&o->b, in[0], o->index);
    o->y = k_load(&o->b, in[1], o->index);
    o->z = k_load(&o->b, in[2], o->index);
}

static void output(operators *o, const char *name, k_val v)
{
    ir_type t = (ir_type)o->k->value.at[v].type;
    k_store(&o->b, k_global(&o->b, t, true, "out"), o->index, v);
    memory(o, t, name);
}

static bool same(ir_type t, ir_bits x, ir_bits y)
{
    if (t == T_F32 && isnan(ir_f32_bits(x)))
        return isnan(ir_f32_bits(y));
    if (t == T_F64 && isnan(ir_f64_bits(x)))
        return isnan(ir_f64_bits(y));
    return x == y;
}

static void compare(operators *o, device *d)
{
    k_error error = {0};
    const char *why = "";
    k_end(&o->b);
    device_kernel *code = compiled(d, o->k, &o->a);
    assert_true(k_interpret(o->k, &o->a, o->expected, NULL, 0, 1, &error));
    if (run(d, code, o->mem, o->bytes, o->n, NULL, 1, &error, &o->a, &why) != DEVICE_FINE)
        fail_msg("%s", why);
    for (uint32_t i = 3; i < o->n; i++)
        for (unsigned j = 0; j < POINTS; j++) {
            size_t size = ir_type_size(o->type[i]);
            ir_bits e = 0, g = 0;
            memcpy(&e, (uint8_t *)o->expected[i] + j * size, size);
            memcpy(&g, (uint8_t *)o->mem[i] + j * size, size);
            if (!same(o->type[i], e, g))
                fail_msg("%s on %s to %s, case %u: %llx, not %llx", o->name[i], ir_type_name(o->type[0]),
                         ir_type_name(o->type[i]), j, (unsigned long long)g, (unsigned long long)e);
        }
    device_release_kernel(d, code);
    arena_free(&o->a);
}

/* Where an operator is partial the divisor is made one that cannot fail. */
static k_val safe(operators *o, ir_op op, ir_type t)
{
    k_builder *b = &o->b;
    if (!ir_op_partial(op, t))
        return o->y;
    k_val bad = k_let(b, OP_EQ, o->y, k_literal(b, t, 0), 0);
    if (ir_type_signed(t))
        bad = k_let(b, OP_OR, bad, k_let(b, OP_EQ, o->y, k_literal(b, t, ir_bits_i64(t, -1)), 0), 0);
    return k_select(b, bad, k_literal(b, t, 3), o->y);
}

static void add_operators(operators *o, ir_type t)
{
    for (ir_op op = (ir_op)1; op < OP_COUNT; op++) {
        const ir_op_row *row = &ir_ops[op];
        if (!(row->classes & ir_type_class(t)) || row->signature == SIGNATURE_CONVERT || row->flags & OP_MATH)
            continue;
        if (op == OP_SIGN_BIT || op == OP_COPY_SIGN) { /* a NaN's sign is open */
            k_val one = k_literal(&o->b, t, t == T_F32 ? ir_bits_f32(-1) : ir_bits_f64(-1));
            k_val clean = k_select(&o->b, k_let(&o->b, OP_IS_NAN, o->x, 0, 0), one, o->x);
            output(o, row->name, k_let(&o->b, op, op == OP_SIGN_BIT ? clean : o->y, clean, 0));
            continue;
        }
        k_val x = own_operand(&o->b, op, t, 0, o->x), y = own_operand(&o->b, op, t, 1, safe(o, op, t));
        output(o, row->name, k_let(&o->b, op, x, y, o->z));
    }
}

static void every_operator(void **state)
{
    fixture *f = *state;
    operators *o = test_malloc(sizeof(*o));
    for (ir_type t = T_BOOL; t < T_COUNT; t++) {
        begin(o, t);
        add_operators(o, t);
        for (ir_type to = T_BOOL; to < T_COUNT; to++) {
            if (ir_op_result(OP_CONVERT, t, to) == to)
                output(o, "convert", k_convert(&o->b, OP_CONVERT, to, o->x));
            if (ir_op_result(OP_BITCAST, t, to) == to && !ir_type_float(t)) /* a NaN's bits are open */
                output(o, "bitcast", k_convert(&o->b, OP_BITCAST, to, o->x));
        }
        compare(o, f->d);
    }
    test_free(o);
}

/* In either order of the threads of a block, on a device that the compiler knows and on one that it does not. */
static void random_kernels(void **state)
{
    fixture *f = *state;
    random_run *expected = test_malloc(sizeof(*expected)), *got = test_malloc(sizeof(*got));
    device *other = open_device(&f->a, 1, NULL);
    unsigned kernels = getenv("SINTER_TEST_LONG") ? 300 : 12;
    for (uint64_t seed = 0; seed < kernels; seed++) {
        arena a;
        const char *why = "";
        device *d = seed % 2 ? other : f->d;
        arena_init(&a, NULL);
        kernel *k = random_kernel(&a, seed, seed % 3 == 2 ? 64 : 32, seed % 4 >= 2);
        device_kernel *code = compiled(d, k, &a);
        random_fill(expected, seed);
        k_interpret(k, &a, expected->mem, expected->arg, 0, RANDOM_PIECES, &expected->error);
        for (int order = 0; order < 2; order++) {
            f->cuda->backwards = order;
            random_fill(got, seed);
            if (run(d, code, got->mem, got->bytes, RANDOM_MEMORIES, got->arg, RANDOM_PIECES, &got->error, &a, &why) !=
                DEVICE_FINE)
                fail_msg("seed %u: %s", (unsigned)seed, why);
            const char *difference = random_difference(&a, expected, got);
            if (difference)
                fail_msg("seed %u: %s", (unsigned)seed, difference);
        }
        f->cuda->backwards = false;
        device_release_kernel(d, code);
        arena_free(&a);
    }
    other->close(other);
    test_free(expected);
    test_free(got);
}

/* --- errors of kernels --- */

/* Piece p fails with element 1000 - p, at a site that is given. */
static kernel *failing(arena *a)
{
    k_builder b;
    kernel *k = k_new(a, "failing", 32);
    k_begin(&b, k);
    k_mem out = k_global(&b, T_I64, true, "out");
    k_val limit = k_arg(&b, T_I64, "limit");
    k_val i = k_for_all(&b, k_i64(&b, 40));
    k_val at = k_let(&b, OP_ADD, k_let(&b, OP_MUL, k_piece(&b), k_i64(&b, 40), 0), i, 0);
    k_check(&b, 7, k_let(&b, OP_LT, at, limit, 0), k_let(&b, OP_SUB, k_i64(&b, 1000), at, 0), at, limit);
    k_store(&b, out, at, at);
    k_end(&b);
    return k;
}

enum { FAILING_PIECES = 5, FAILING_OUT = 40 * FAILING_PIECES };

static void the_first_failing_launch_is_reported(void **state)
{
    fixture *f = *state;
    device *d = f->d;
    const char *why = "";
    k_error error = {0};
    int64_t out[FAILING_OUT];
    device_kernel *code = compiled(d, failing(&f->a), &f->a);
    void *block = d->alloc(d, sizeof(out));
    device_queue *q = d->open_queue(d, NULL, NULL);
    assert_non_null(block);
    assert_non_null(q);
    /* More launches than there are records; only those from number 200 on fail, each in another way. */
    for (int64_t i = 0; i < 500; i++) {
        ir_bits limit = (ir_bits)(i < 200 ? FAILING_OUT : 350 - i);
        assert_true(d->enqueue(d, q, code, &block, &limit, 0, FAILING_PIECES, false, NULL));
    }
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
    assert_int_equal(error.site, 7);
    assert_int_equal(error.element, 1000 - (FAILING_OUT - 1));
    assert_int_equal(error.bound, 150);
    /* The queue works on, and remembers nothing. */
    ir_bits limit = FAILING_OUT;
    assert_true(d->enqueue(d, q, code, &block, &limit, 0, FAILING_PIECES, false, NULL));
    assert_true(d->copy(d, q, DEVICE_DOWNLOAD, out, block, 0, sizeof(out)));
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
    assert_int_equal(error.site, 0);
    for (int64_t i = 0; i < FAILING_OUT; i++)
        assert_int_equal(out[i], i);
    d->close_queue(d, q);
    d->release(d, block, sizeof(out));
    device_release_kernel(d, code);
}

/* Of the last launch; the next call that gets the queue asks for itself. */
static void launches_are_timed(void **state)
{
    fixture *f = *state;
    device *d = f->d;
    const char *why = "";
    k_error error = {0};
    ir_bits limit = FAILING_OUT;
    device_kernel *code = compiled(d, failing(&f->a), &f->a);
    void *block = d->alloc(d, FAILING_OUT * sizeof(int64_t));
    for (int turn = 0; turn < 4; turn++) {
        device_queue *q = d->open_queue(d, NULL, NULL);
        if (turn != 1)
            assert_true(d->time_queue(d, q));
        assert_int_equal(d->took(d, q), 0);
        for (int i = 0; i < 2; i++)
            assert_true(d->enqueue(d, q, code, &block, &limit, 0, FAILING_PIECES, false, NULL));
        assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
        assert_int_equal(d->took(d, q), turn == 1 ? 0 : FAKE_CUDA_LAUNCH_NS);
        d->close_queue(d, q);
    }
    d->release(d, block, FAILING_OUT * sizeof(int64_t));
    device_release_kernel(d, code);
}

/* A mark that fails leaves a launch without a time, and nothing else. */
static void marks_may_fail(void **state)
{
    fixture *f = *state;
    device *d = f->d;
    const char *why = "";
    k_error error = {0};
    ir_bits limit = FAILING_OUT;
    device_kernel *code = compiled(d, failing(&f->a), &f->a);
    void *block = d->alloc(d, FAILING_OUT * sizeof(int64_t));
    unsigned without = 0;
    for (long at = 0; at < 8; at++) {
        device_queue *q = d->open_queue(d, NULL, NULL);
        assert_true(d->time_queue(d, q));
        f->cuda->fail_at = at;
        f->cuda->failures = 1;
        bool good = d->enqueue(d, q, code, &block, &limit, 0, FAILING_PIECES, false, NULL);
        bool mark = !strcmp(f->cuda->last_failed, "cuEventRecord");
        f->cuda->fail_at = f->cuda->failures = -1;
        assert_true(good || !mark);
        bool fine = d->finish(d, q, &error, &f->a, &why) == DEVICE_FINE;
        assert_true(fine || !mark);
        if (mark)
            assert_int_equal(d->took(d, q), 0);
        without += mark;
        f->cuda->last_failed[0] = 0;
        d->close_queue(d, q);
    }
    assert_int_equal(without, 2);
    d->release(d, block, FAILING_OUT * sizeof(int64_t));
    device_release_kernel(d, code);
}

/* --- copies --- */

/* Small and large ones, at offsets, more than staging memory holds; the host's memory is reused only after finish. */
static void copies_keep_their_order(void **state)
{
    enum { SMALL = 1000, LARGE = 1 << 20, COPIES = 400 };
    fixture *f = *state;
    device *d = f->d;
    k_error error;
    const char *why = "";
    uint8_t *from = test_malloc(LARGE), *to = test_malloc(LARGE);
    void *x = d->alloc(d, LARGE), *y = d->alloc(d, LARGE);
    device_queue *q = d->open_queue(d, NULL, NULL);
    for (size_t i = 0; i < LARGE; i++)
        from[i] = (uint8_t)hash_mix(3, i);
    assert_true(d->copy(d, q, DEVICE_UPLOAD, x, from, 0, LARGE));
    for (size_t i = 0; i < COPIES; i++) /* over the first: from back to front */
        assert_true(d->copy(d, q, DEVICE_UPLOAD, x, from + (COPIES - 1 - i) * SMALL, i * SMALL, SMALL));
    assert_true(d->copy(d, q, DEVICE_COPY, y, x, SMALL, LARGE - SMALL));
    for (size_t i = 0; i < COPIES; i++)
        assert_true(d->copy(d, q, DEVICE_DOWNLOAD, to + i * SMALL, y, i * SMALL, SMALL));
    assert_true(d->copy(d, q, DEVICE_DOWNLOAD, to + COPIES * SMALL, y, COPIES * SMALL, LARGE - (COPIES + 1) * SMALL));
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
    for (size_t i = 0; i + 1 < COPIES; i++)
        assert_memory_equal(to + i * SMALL, from + (COPIES - 2 - i) * SMALL, SMALL);
    assert_memory_equal(to + (COPIES - 1) * SMALL, from + COPIES * SMALL, LARGE - COPIES * SMALL);
    d->close_queue(d, q);
    d->release(d, x, LARGE);
    d->release(d, y, LARGE);
    test_free(from);
    test_free(to);
}

/* --- what there is, and what there is not --- */

static void devices_are_listed(void **state)
{
    fixture *f = *state;
    device_infos all = {0};
    const char *why = "";
    device_cuda_list(&f->a, &all);
    assert_int_equal(all.n, 3);
    assert_string_equal(all.at[0].name, "Fake device 0");
    assert_string_equal(all.at[0].driver, "CUDA 12.4, NVRTC 12.4, compute capability 9.0");
    assert_int_equal(all.at[1].number, 1);
    assert_int_equal(all.at[1].workers, 4);
    assert_int_equal(all.at[1].memory, f->cuda->memory);
    assert_null(all.at[1].why);
    assert_string_equal(all.at[2].why, "compute capability 6.0 is below 7.0");
    assert_null(device_cuda_open(NULL, 2, &f->a, &why));
    assert_string_equal(why, "there is no CUDA device number 2; 2 can be used");
    assert_string_equal(f->d->limits->kind, "cuda");
    assert_string_equal(f->d->limits->name, "Fake device 0");
    assert_int_equal(f->d->limits->gang, 32);
    assert_int_equal(f->d->limits->scratch, 49152);
}

static void missing_libraries_have_reasons(void **state)
{
    fixture *f = *state;
    const char *why = "";
    device_infos all = {0};
    setenv("SINTER_NVRTC", "/nowhere/libnvrtc.so", 1);
    assert_null(device_cuda_open(NULL, 0, &f->a, &why));
    assert_non_null(strstr(why, "no NVRTC: /nowhere/libnvrtc.so"));
    device_cuda_list(&f->a, &all);
    assert_non_null(strstr(all.at[0].why, "no NVRTC"));
    setenv("SINTER_NVRTC", SN_TEST_FAKE_NVRTC, 1);
    setenv("SINTER_CUDA", "/nowhere/libcuda.so.1", 1);
    assert_null(device_cuda_open(NULL, 0, &f->a, &why));
    assert_non_null(strstr(why, "no CUDA driver: /nowhere/libcuda.so.1"));
    all.n = 0;
    device_cuda_list(&f->a, &all);
    assert_int_equal(all.n, 1);
    assert_non_null(strstr(all.at[0].why, "no CUDA driver"));
    setenv("SINTER_CUDA", SN_TEST_FAKE_NVRTC, 1); /* a library, but not this one */
    assert_null(device_cuda_open(NULL, 0, &f->a, &why));
    assert_string_equal(why, "the CUDA driver is too old: it has no cuInit; install a newer one");
    setenv("SINTER_CUDA", SN_TEST_FAKE_CUDA, 1);
}

/* A compiler that is there but of no use is a better reason than others that are not there. */
static void newer_compilers_are_named(void **state)
{
    fixture *f = *state;
    const char *why = "", *base = getenv("SINTER_TEST_DIR");
    char folder[1024], file[1100];
    snprintf(folder, sizeof(folder), "%s/nvrtc-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/libnvrtc.so.13", folder);
    setenv("SINTER_NVRTC", folder, 1);
    assert_null(device_cuda_open(NULL, 0, &f->a, &why));
    assert_non_null(strstr(why, "no NVRTC: there is no libnvrtc.so.13, .12 or .11.2 in "));
    assert_int_equal(symlink(SN_TEST_FAKE_NVRTC, file), 0);
    f->nvrtc->major = 13;
    assert_null(device_cuda_open(NULL, 0, &f->a, &why));
    assert_string_equal(why,
                        "NVRTC 13.4 is newer than the driver, which is of CUDA 12; install the NVRTC of that release");
    f->nvrtc->major = 0;
    device *d = device_cuda_open(NULL, 0, &f->a, &why);
    assert_non_null(d);
    d->close(d);
    unlink(file);
    rmdir(folder);
    setenv("SINTER_NVRTC", SN_TEST_FAKE_NVRTC, 1);
}

/* A sum over shared memory of `count` i64, backwards through it. */
static kernel *sharing(arena *a, int64_t count)
{
    k_builder b;
    kernel *k = k_new(a, "sharing", 32);
    k_begin(&b, k);
    k_mem out = k_global(&b, T_I64, true, "out"), shared = k_shared(&b, T_I64, count, "shared");
    k_val i = k_for_all(&b, k_i64(&b, count));
    k_store(&b, shared, i, i);
    k_end(&b);
    i = k_for_all(&b, k_i64(&b, count));
    k_store(&b, out, i, k_load(&b, shared, k_let(&b, OP_SUB, k_i64(&b, count - 1), i, 0)));
    k_end(&b);
    return k;
}

static void shared_memory_has_an_end(void **state)
{
    enum { COUNT = 6000 };
    fixture *f = *state;
    const char *why = "";
    k_error error = {0};
    static int64_t out[COUNT];
    void *mem = out;
    size_t bytes = sizeof(out);
    device_kernel *code = compiled(f->d, sharing(&f->a, COUNT), &f->a); /* 48000 bytes: has to be asked for */
    assert_int_equal(run(f->d, code, &mem, &bytes, 1, NULL, 1, &error, &f->a, &why), DEVICE_FINE);
    for (int64_t i = 0; i < COUNT; i++)
        assert_int_equal(out[i], COUNT - 1 - i);
    assert_int_equal(f->cuda->last_shared, sizeof(out));
    assert_int_equal(f->cuda->last_group, 256);
    assert_int_equal(f->cuda->last_grid, 1);
    device_release_kernel(f->d, code);
    assert_null(device_compile(f->d, sharing(&f->a, 30000), &f->a, &why));
    assert_string_equal(
        why, "kernel sharing needs 240000 bytes of shared memory, and there are 230400; shared takes 240000");
}

/* 168 registers a thread leave room for 12 warps: three blocks of 128 threads instead of one of 256. */
static void registers_decide_how_large_blocks_are(void **state)
{
    enum { COUNT = 1000 };
    fixture *f = *state;
    const char *why = "";
    k_error error = {0};
    static int64_t out[COUNT];
    void *mem = out;
    size_t bytes = sizeof(out);
    f->cuda->registers = 168;
    device_kernel *code = compiled(f->d, sharing(&f->a, COUNT), &f->a);
    f->cuda->registers = 0;
    assert_int_equal(run(f->d, code, &mem, &bytes, 1, NULL, 1, &error, &f->a, &why), DEVICE_FINE);
    for (int64_t i = 0; i < COUNT; i++)
        assert_int_equal(out[i], COUNT - 1 - i);
    assert_int_equal(f->cuda->last_group, 128);
    device_release_kernel(f->d, code);
}

static void a_smaller_device_can_be_made_up(void **state)
{
    fixture *f = *state;
    const char *why = "";
    k_error error = {0};
    int64_t out[FAILING_OUT];
    void *mem = out;
    size_t bytes = sizeof(out);
    ir_bits limit = FAILING_OUT;
    device_options small = {.most_shared = 16384, .most_group = 16, .most_groups = 2, .most_memory = 8192};
    device *d = open_device(&f->a, 0, &small);
    device_kernel *code = compiled(d, failing(&f->a), &f->a);
    assert_int_equal(run(d, code, &mem, &bytes, 1, &limit, FAILING_PIECES, &error, &f->a, &why), DEVICE_FINE);
    assert_int_equal(f->cuda->last_group, 16);
    assert_int_equal(f->cuda->last_grid, 2);
    for (int64_t i = 0; i < FAILING_OUT; i++)
        assert_int_equal(out[i], i);
    assert_null(d->alloc(d, 8193));
    void *x = d->alloc(d, 8000);
    assert_non_null(x);
    assert_null(d->alloc(d, 1000));
    d->release(d, x, 8000);
    assert_null(device_compile(d, sharing(&f->a, 3000), &f->a, &why));
    assert_non_null(strstr(why, "24000 bytes of shared memory"));
    device_release_kernel(d, code);
    d->close(d);
}

static void a_rejected_kernel_keeps_its_source(void **state)
{
    fixture *f = *state;
    const char *why = "";
    char path[256] = "", *at;
    f->nvrtc->reject = true;
    assert_null(device_compile(f->d, failing(&f->a), &f->a, &why));
    f->nvrtc->reject = false;
    assert_non_null(strstr(why, "NVRTC 12.4 rejects kernel failing"));
    assert_non_null(strstr(why, "error: rejected for a test"));
    at = strstr(why, "its source is in ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "its source is in %255[^;]", path), 1);
    FILE *kept = fopen(path, "r");
    assert_non_null(kept);
    fclose(kept);
    remove(path);
    device_release_kernel(f->d, compiled(f->d, failing(&f->a), &f->a)); /* tried again */
}

static void explain_sees_both_texts(void **state)
{
    fixture *f = *state;
    device_options keep = {.keep_text = true};
    device *d = open_device(&f->a, 0, &keep);
    device_kernel *code = compiled(d, failing(&f->a), &f->a);
    assert_non_null(strstr(d->kernel_text(d, code, "cuda"), "__global__"));
    assert_non_null(d->kernel_text(d, code, "ptx"));
    assert_null(d->kernel_text(d, code, "asm"));
    device_release_kernel(d, code);
    d->close(d);
}

/* --- on disk --- */

static void binaries_are_found_on_disk(void **state)
{
    fixture *f = *state;
    char folder[] = "/tmp/sinter-cuda-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    setenv("SINTER_CACHE", "on", 1);
    setenv("SINTER_CACHE_DIR", folder, 1);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned number = 0; number < 2; number++) { /* the second device cannot use the first one's code */
            device *d = open_device(&f->a, number, NULL);
            device_kernel *code = compiled(d, failing(&f->a), &f->a);
            assert_int_equal(device_loaded(d), round);
            assert_int_equal(device_compiled(d), 1 - round);
            int64_t out[FAILING_OUT];
            void *mem = out;
            size_t bytes = sizeof(out);
            k_error error = {0};
            const char *why = "";
            ir_bits limit = 77;
            assert_int_equal(run(d, code, &mem, &bytes, 1, &limit, FAILING_PIECES, &error, &f->a, &why), DEVICE_FINE);
            assert_int_equal(error.element, 1000 - (FAILING_OUT - 1));
            device_release_kernel(d, code);
            d->close(d);
        }
    setenv("SINTER_CACHE", "off", 1);
    unsetenv("SINTER_CACHE_DIR");
    snprintf(command, sizeof(command), "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* --- every call may fail --- */

/* Opens, compiles, computes, closes. True if all went well; else *why names the call, or says what there is none of. */
static bool whole_run(fixture *f, arena *a, const char **why)
{
    int64_t out[FAILING_OUT] = {0};
    void *mem = out;
    size_t bytes = sizeof(out);
    k_error error = {0};
    ir_bits limit = FAILING_OUT;
    device *d = device_cuda_open(NULL, 0, a, why);
    if (!d)
        return false;
    device_kernel *code = device_compile(d, failing(a), a, why);
    device_state state = DEVICE_BROKEN;
    if (code)
        state = run(d, code, &mem, &bytes, 1, &limit, FAILING_PIECES, &error, a, why);
    device_release_kernel(d, code);
    d->close(d);
    (void)f;
    return state == DEVICE_FINE && error.site == 0;
}

/* What was not given back because the call that does so failed, the driver keeps. */
static bool gives_back(const char *call)
{
    static const char *const calls[] = {"cuMemFree_v2",   "cuMemFreeHost",       "cuStreamDestroy_v2",
                                        "cuModuleUnload", "cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRelease_v2"};
    for (size_t i = 0; i < ARRAY_LENGTH(calls); i++)
        if (strcmp(call, calls[i]) == 0)
            return true;
    return false;
}

static void expect_nothing_left_after(fake_cuda_control *c)
{
    if (!gives_back(c->last_failed))
        expect_nothing_left(c);
    assert_int_equal(c->mistakes, 0);
    c->blocks = c->host_blocks = c->modules = c->streams = c->retained = 0;
}

/* One call fails, and then works again: what was taken is given back, and the message says which call it was, except
 * where the interface has no room for a message. */
static void any_call_may_fail_once(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    f->d->close(f->d);
    f->d = NULL;
    unsigned failed = 0;
    for (long at = 0;; at++) {
        arena a;
        arena_init(&a, NULL);
        f->cuda->fail_at = at;
        f->cuda->failures = 1;
        f->cuda->error = at % 2 ? 2 : 719;
        f->cuda->last_failed[0] = '\0';
        bool good = whole_run(f, &a, &why);
        f->cuda->fail_at = -1;
        expect_nothing_left_after(f->cuda);
        if (!f->cuda->last_failed[0]) {
            assert_true(good);
            arena_free(&a);
            break;
        }
        failed += !good;
        if (!good && !strstr(why, f->cuda->last_failed) && strcmp(why, "no queue") && strcmp(why, "no block") &&
            !strstr(why, "no CUDA device can be used") && !strstr(why, "newer than the driver"))
            fail_msg("%s failed, and the message is: %s", f->cuda->last_failed, why);
        if (!good && strstr(why, "its source is in ")) { /* do not leave it behind */
            char path[256];
            if (sscanf(strstr(why, "its source is in "), "its source is in %255[^;]", path) == 1)
                remove(path);
        }
        arena_free(&a);
    }
    assert_true(failed > 20);
}

/* The driver is lost from some call on: nothing but errors comes, in the end nothing hangs. What the driver did not
 * take back is its own matter. */
static void a_lost_device_ends_in_errors(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    f->d->close(f->d);
    f->d = NULL;
    for (long at = 0; at < 60; at += 3) {
        arena a;
        arena_init(&a, NULL);
        f->cuda->fail_at = at;
        f->cuda->failures = -1;
        f->cuda->error = 719;
        whole_run(f, &a, &why);
        arena_free(&a);
    }
    f->cuda->fail_at = -1;
    *f->cuda = (fake_cuda_control){.fail_at = -1, .failures = -1, .error = 2, .memory = f->cuda->memory};
}

/* --- threads --- */

typedef struct {
    device *d;
    uint64_t seed;
    char why[256];
} worker;

static void *work(void *env)
{
    worker *w = env;
    arena a;
    arena_init(&a, NULL);
    random_run *expected = malloc(sizeof(*expected)), *got = malloc(sizeof(*got));
    for (uint64_t i = 0; i < 6 && !w->why[0]; i++) {
        uint64_t seed = (w->seed + i) % 3; /* threads ask for the same kernels at once */
        const char *why = NULL;
        kernel *k = random_kernel(&a, seed, 32, false);
        device_kernel *code = device_compile(w->d, k, &a, &why);
        random_fill(expected, seed);
        random_fill(got, seed);
        k_interpret(k, &a, expected->mem, expected->arg, 0, RANDOM_PIECES, &expected->error);
        if (code && run(w->d, code, got->mem, got->bytes, RANDOM_MEMORIES, got->arg, RANDOM_PIECES, &got->error, &a,
                        &why) == DEVICE_FINE)
            why = random_difference(&a, expected, got);
        if (why)
            snprintf(w->why, sizeof(w->why), "seed %u: %s", (unsigned)seed, why);
        device_release_kernel(w->d, code);
    }
    free(expected);
    free(got);
    arena_free(&a);
    return NULL;
}

static void threads_share_a_device(void **state)
{
    enum { THREADS = 4 };
    fixture *f = *state;
    pthread_t thread[THREADS];
    worker w[THREADS] = {0};
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (worker){.d = f->d, .seed = i};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < THREADS; i++)
        assert_string_equal(w[i].why, "");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_operator),
        TEST(random_kernels),
        TEST(the_first_failing_launch_is_reported),
        TEST(launches_are_timed),
        TEST(marks_may_fail),
        TEST(copies_keep_their_order),
        TEST(devices_are_listed),
        TEST(missing_libraries_have_reasons),
        TEST(newer_compilers_are_named),
        TEST(shared_memory_has_an_end),
        TEST(registers_decide_how_large_blocks_are),
        TEST(a_smaller_device_can_be_made_up),
        TEST(a_rejected_kernel_keeps_its_source),
        TEST(explain_sees_both_texts),
        TEST(binaries_are_found_on_disk),
        TEST(any_call_may_fail_once),
        TEST(a_lost_device_ends_in_errors),
        TEST(threads_share_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
