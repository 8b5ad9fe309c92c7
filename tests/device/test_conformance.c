/* What every device must do, run on each one that is here: the CPU, every OpenCL device that can be used, every CUDA
 * device. Memory, copies, compiling, launches, order, limits, errors of checks, many threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <pthread.h>

#include "device/device.h"

enum { PIECE = 64, ELEMENTS = 50 * PIECE, MOST_MEMORIES = 4 };

typedef struct {
    arena a;
    device *d;
} fixture;

static device_infos all_devices(arena *a)
{
    device_infos all = {0};
    vec_push(a, &all, ((device_info){.kind = "cpu", .name = ""}));
    device_opencl_list(a, &all);
    device_cuda_list(a, &all);
    return all;
}

static device *open_device(const device_info *i, const device_options *o, arena *a, const char **why)
{
    if (!strcmp(i->kind, "opencl"))
        return device_opencl_open(o, i->number, a, why);
    if (!strcmp(i->kind, "cuda"))
        return device_cuda_open(o, i->number, a, why);
    return device_cpu_open(o, a, why);
}

/* --- one launch --- */

typedef struct {
    void *at[MOST_MEMORIES]; /* on the host */
    size_t bytes[MOST_MEMORIES];
    unsigned n;
} memories;

static void launch(fixture *f, device_kernel *k, memories *m, const ir_bits *arg, int64_t first, int64_t last,
                   k_error *error)
{
    device *d = f->d;
    void *block[MOST_MEMORIES];
    const char *why = NULL;
    device_queue *q = d->open_queue(d, NULL, NULL);
    assert_non_null(q);
    for (unsigned i = 0; i < m->n; i++) {
        block[i] = d->alloc(d, m->bytes[i]);
        assert_non_null(block[i]);
        assert_true(d->copy(d, q, DEVICE_UPLOAD, block[i], m->at[i], 0, m->bytes[i]));
    }
    d->enqueue(d, q, k, block, arg, first, last, false, NULL); /* finish says what failed */
    for (unsigned i = 0; i < m->n; i++)
        assert_true(d->copy(d, q, DEVICE_DOWNLOAD, m->at[i], block[i], 0, m->bytes[i]));
    if (d->finish(d, q, error, &f->a, &why) != DEVICE_FINE)
        fail_msg("%s", why);
    d->close_queue(d, q);
    for (unsigned i = 0; i < m->n; i++)
        d->release(d, block[i], m->bytes[i]);
}

static device_kernel *compiled(fixture *f, const kernel *k)
{
    const char *why = NULL;
    assert_true(k_verify(k, &f->a, &why));
    device_kernel *code = device_compile(f->d, k, &f->a, &why);
    if (!code)
        fail_msg("%s: %s", f->d->limits->name, why);
    return code;
}

/* --- kernels --- */

/* y[i] = factor * x[i] + y[i], of a piece each; elements whose x is negative fail at the site. */
static kernel *saxpy(arena *a, uint32_t site)
{
    k_builder b = {0};
    kernel *k = k_new(a, "saxpy", 16);
    k_begin(&b, k);
    k_mem x = k_global(&b, T_F32, false, "x"), y = k_global(&b, T_F32, true, "y");
    k_val factor = k_arg(&b, T_F32, "factor");
    k_val from = k_let(&b, OP_MUL, k_piece(&b), k_i64(&b, PIECE), 0);
    k_val i = k_let(&b, OP_ADD, from, k_for_all(&b, k_i64(&b, PIECE)), 0);
    k_val v = k_load(&b, x, i);
    if (site)
        k_check(&b, site, k_let(&b, OP_GE, v, k_literal(&b, T_F32, ir_bits_f32(0)), 0), i,
                k_convert(&b, OP_CONVERT, T_I64, v), k_i64(&b, ELEMENTS));
    k_store(&b, y, i, k_let(&b, OP_ADD, k_let(&b, OP_MUL, factor, v, 0), k_load(&b, y, i), 0));
    k_end(&b);
    return k;
}

/* out[piece] = the sum of 64 elements, halved again and again through shared memory; args of several widths. */
static kernel *sums(arena *a)
{
    k_builder b = {0};
    kernel *k = k_new(a, "sums", 16);
    k_begin(&b, k);
    k_mem x = k_global(&b, T_I64, false, "x"), out = k_global(&b, T_I64, true, "out"),
          s = k_shared(&b, T_I64, PIECE, "s");
    k_val yes = k_arg(&b, T_BOOL, "yes"), small = k_arg(&b, T_U8, "small"), large = k_arg(&b, T_I64, "large");
    k_val from = k_let(&b, OP_MUL, k_piece(&b), k_i64(&b, PIECE), 0);
    k_val i = k_for_all(&b, k_i64(&b, PIECE));
    k_store(&b, s, i, k_load(&b, x, k_let(&b, OP_ADD, from, i, 0)));
    k_end(&b);
    for (int64_t half = PIECE / 2; half; half /= 2) {
        i = k_for_all(&b, k_i64(&b, half));
        k_val other = k_load(&b, s, k_let(&b, OP_ADD, i, k_i64(&b, half), 0));
        k_store(&b, s, i, k_let(&b, OP_ADD, k_load(&b, s, i), other, 0));
        k_end(&b);
    }
    k_for_few(&b, k_i64(&b, 1));
    k_val extra = k_select(&b, yes, k_let(&b, OP_ADD, large, k_convert(&b, OP_CONVERT, T_I64, small), 0), k_i64(&b, 0));
    k_store(&b, out, k_piece(&b), k_let(&b, OP_ADD, k_load(&b, s, k_i64(&b, 0)), extra, 0));
    k_end(&b);
    return k;
}

static float *floats(fixture *f, size_t n, float first)
{
    float *x = arena_array(&f->a, float, n);
    for (size_t i = 0; i < n; i++)
        x[i] = first + (float)(i % 1000);
    return x;
}

/* --- tests --- */

/* What the host finds of a block, and kernels of host memory, is the same memory: both ways or neither. */
static void reach(fixture *f)
{
    device *d = f->d;
    enum { N = 4096 };
    const char *why = NULL;
    k_error error;
    char x[N], y[N];
    memset(x, 'x', N);
    char *block = d->alloc(d, N), *found = d->map(d, block);
    void *wrapped = d->wrap(d, y);
    assert_int_equal(found != NULL, wrapped != NULL);
    assert_int_equal(found == NULL, f->d->limits->own_memory);
    device_queue *q = d->open_queue(d, NULL, NULL);
    assert_true(d->copy(d, q, DEVICE_UPLOAD, block, x, 0, N));
    if (wrapped)
        assert_true(d->copy(d, q, DEVICE_COPY, wrapped, block, 0, N));
    else
        assert_true(d->copy(d, q, DEVICE_DOWNLOAD, y, block, 0, N));
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
    assert_memory_equal(x, y, N);
    if (found)
        assert_memory_equal(found, x, N);
    d->close_queue(d, q);
    d->release(d, block, N);
}

/* A queue is busy from the first thing that is put in until it is finished, on devices that do not do it at once; also
 * when it is used again. */
static void busy(fixture *f)
{
    device *d = f->d;
    enum { N = 256 };
    const char *why = NULL;
    k_error error;
    char x[N] = {0};
    void *block = d->alloc(d, N);
    for (int turn = 0; turn < 6; turn++) {
        device_state state = DEVICE_BROKEN;
        device_queue *q = d->open_queue(d, NULL, &state);
        assert_non_null(q);
        assert_int_equal(state, DEVICE_FINE);
        assert_false(d->busy(d, q));
        assert_true(turn % 3 == 0   ? d->clear(d, q, block, N)
                    : turn % 3 == 1 ? d->copy(d, q, DEVICE_UPLOAD, block, x, 0, N)
                                    : d->copy(d, q, DEVICE_DOWNLOAD, x, block, 0, N));
        assert_int_equal(d->busy(d, q), !d->limits->waits);
        if (turn != 3) { /* closing waits, too */
            assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
            assert_false(d->busy(d, q));
        }
        if (turn == 5)
            assert_true(d->clear(d, q, block, N));
        d->close_queue(d, q);
    }
    d->release(d, block, N);
}

/* The first bytes of a block, before what comes behind. */
static void clears(fixture *f)
{
    device *d = f->d;
    enum { N = 1000, CLEARED = 777 };
    const char *why = NULL;
    k_error error;
    unsigned char x[N], y[N];
    memset(x, 0xa5, N);
    void *a = d->alloc(d, N);
    device_queue *q = d->open_queue(d, NULL, NULL);
    assert_true(d->copy(d, q, DEVICE_UPLOAD, a, x, 0, N));
    assert_true(d->clear(d, q, a, CLEARED));
    assert_true(d->clear(d, q, a, 0));
    assert_true(d->copy(d, q, DEVICE_UPLOAD, a, x, 5, 1));
    assert_true(d->copy(d, q, DEVICE_DOWNLOAD, y, a, 0, N));
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
    for (int i = 0; i < N; i++)
        assert_int_equal(y[i], i == 5 || i >= CLEARED ? 0xa5 : 0);
    d->close_queue(d, q);
    d->release(d, a, N);
}

static void limits(fixture *f)
{
    const device_limits *l = f->d->limits;
    assert_true(l->name[0]);
    assert_in_range(l->workers, 1, 1 << 20);
    assert_true(l->scratch >= 16384);
    if (!l->own_memory)
        return;
    assert_true(l->memory >= 1 << 24);
    assert_in_range(l->group, 1, 1 << 16);
    assert_in_range(l->gang, 1, 256);
    assert_int_equal(l->cache_bytes, SIZE_MAX);
}

static void memory(fixture *f)
{
    device *d = f->d;
    static const size_t sizes[] = {1, 64, 4095, 1 << 20, 5 << 20};
    void *block[ARRAY_LENGTH(sizes)];
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        block[i] = d->alloc(d, sizes[i]);
        assert_non_null(block[i]);
        for (size_t j = 0; j < i; j++)
            assert_ptr_not_equal(block[i], block[j]);
        if (!d->limits->own_memory)
            assert_int_equal((uintptr_t)block[i] % 64, 0);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        d->release(d, block[i], sizes[i]);
    assert_null(d->alloc(d, (size_t)1 << 60));
    d->release(d, NULL, 64);
}

static void copies(fixture *f)
{
    device *d = f->d;
    enum { N = 100000 };
    const char *why = NULL;
    k_error error;
    float *x = floats(f, N, 1), *y = arena_array(&f->a, float, N), part[3] = {0};
    void *a = d->alloc(d, N * sizeof(float)), *b = d->alloc(d, N * sizeof(float));
    device_queue *q = d->open_queue(d, NULL, NULL);
    assert_true(d->copy(d, q, DEVICE_UPLOAD, a, x, 0, N * sizeof(float)));
    assert_true(d->copy(d, q, DEVICE_UPLOAD, b, y, 0, N * sizeof(float)));
    assert_true(d->copy(d, q, DEVICE_COPY, b, a, 40, 1000)); /* x[10 ..] to the beginning */
    assert_true(d->copy(d, q, DEVICE_UPLOAD, b, x + 5, 4 * 500, 12));
    assert_true(d->copy(d, q, DEVICE_DOWNLOAD, part, a, 4 * 77777, 12));
    assert_true(d->copy(d, q, DEVICE_DOWNLOAD, y, b, 0, N * sizeof(float)));
    assert_true(d->copy(d, q, DEVICE_DOWNLOAD, NULL, b, 0, 0));
    if (d->finish(d, q, &error, &f->a, &why) != DEVICE_FINE)
        fail_msg("%s", why);
    assert_int_equal(error.site, 0);
    assert_memory_equal(part, x + 77777, 12);
    for (int i = 0; i < N; i++)
        assert_true(y[i] == (i < 250 ? x[i + 10] : i >= 500 && i < 503 ? x[i - 495] : 0));
    d->close_queue(d, q);
    d->release(d, a, N * sizeof(float));
    d->release(d, b, N * sizeof(float));
}

/* Pieces of a range, others untouched; a range of none. */
static void ranges(fixture *f)
{
    float *x = floats(f, ELEMENTS, 0), *y = floats(f, ELEMENTS, 5),
          *before = arena_copy(&f->a, y, ELEMENTS * sizeof(float));
    memories m = {{x, y}, {ELEMENTS * sizeof(float), ELEMENTS * sizeof(float)}, 2};
    ir_bits arg[] = {ir_bits_f32(3)};
    device_kernel *k = compiled(f, saxpy(&f->a, 0));
    k_error error;
    launch(f, k, &m, arg, 7, 7, &error);
    launch(f, k, &m, arg, 3, 41, &error);
    assert_int_equal(error.site, 0);
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == (i >= 3 * PIECE && i < 41 * PIECE ? 3 * x[i] + before[i] : before[i]));
    device_release_kernel(f->d, k);
}

static void shared_memory(fixture *f)
{
    int64_t *x = arena_alloc(&f->a, ELEMENTS * 8), *out = arena_alloc(&f->a, ELEMENTS / PIECE * 8);
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = (int64_t)i * i - (INT64_C(1) << 40);
    memories m = {{x, out}, {ELEMENTS * 8, ELEMENTS / PIECE * 8}, 2};
    ir_bits arg[] = {1, 200, (ir_bits) - (INT64_C(1) << 50)};
    device_kernel *k = compiled(f, sums(&f->a));
    k_error error;
    launch(f, k, &m, arg, 0, ELEMENTS / PIECE, &error);
    for (int p = 0; p < ELEMENTS / PIECE; p++) {
        int64_t wanted = 200 - (INT64_C(1) << 50);
        for (int i = 0; i < PIECE; i++)
            wanted += x[p * PIECE + i];
        assert_int_equal(out[p], wanted);
    }
    device_release_kernel(f->d, k);
}

/* The smallest element of those that fail, with its numbers; the others are computed, and the next launch is clean. */
static void checks(fixture *f)
{
    float *x = floats(f, ELEMENTS, 1), *y = floats(f, ELEMENTS, 0);
    memories m = {{x, y}, {ELEMENTS * sizeof(float), ELEMENTS * sizeof(float)}, 2};
    ir_bits arg[] = {ir_bits_f32(1)};
    device_kernel *k = compiled(f, saxpy(&f->a, 17));
    k_error error;
    for (int i = 777; i < ELEMENTS; i += 3)
        x[i] = (float)-i;
    launch(f, k, &m, arg, 0, ELEMENTS / PIECE, &error);
    assert_int_equal(error.site, 17);
    assert_int_equal(error.element, 777);
    assert_int_equal(error.value, -777);
    assert_int_equal(error.bound, ELEMENTS);
    assert_true(y[776] == x[776] + 776);
    for (int i = 777; i < ELEMENTS; i++)
        x[i] = 1;
    launch(f, k, &m, arg, 0, ELEMENTS / PIECE, &error);
    assert_int_equal(error.site, 0);
    device_release_kernel(f->d, k);
}

/* Launches of a queue see what those before them wrote; the first that fails is the one that is told. */
static void order(fixture *f)
{
    device *d = f->d;
    enum { TIMES = 100 };
    const char *why = NULL;
    k_error error;
    size_t bytes = ELEMENTS * sizeof(float);
    float *x = floats(f, ELEMENTS, 0), *y = arena_alloc(&f->a, bytes);
    device_kernel *plain = compiled(f, saxpy(&f->a, 0)), *late = compiled(f, saxpy(&f->a, 50)),
                  *early = compiled(f, saxpy(&f->a, 4));
    void *mem[] = {d->alloc(d, bytes), d->alloc(d, bytes)}, *back[] = {mem[1], mem[0]};
    device_queue *q = d->open_queue(d, NULL, NULL);
    ir_bits one = ir_bits_f32(1), less = ir_bits_f32(-1000);
    d->copy(d, q, DEVICE_UPLOAD, mem[0], x, 0, bytes);
    d->copy(d, q, DEVICE_UPLOAD, mem[1], y, 0, bytes);
    for (int i = 0; i < TIMES; i++)
        assert_true(d->enqueue(d, q, i % 2 ? late : plain, mem, &one, 0, ELEMENTS / PIECE, false, NULL));
    d->copy(d, q, DEVICE_DOWNLOAD, y, mem[1], 0, bytes);
    if (d->finish(d, q, &error, &f->a, &why) != DEVICE_FINE)
        fail_msg("%s", why);
    assert_int_equal(error.site, 0);
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == TIMES * x[i]);
    /* x -= 1000 y: negative from element 1 on; then both complain */
    assert_true(d->enqueue(d, q, plain, back, &less, 0, ELEMENTS / PIECE, false, NULL));
    for (int i = 0; i < 2; i++) /* where queues wait it is known at once, and nothing more is done */
        assert_int_equal(d->enqueue(d, q, i ? early : late, mem, &one, 0, ELEMENTS / PIECE, false, NULL),
                         !d->limits->waits);
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
    assert_int_equal(error.site, 50);
    assert_int_equal(error.element, 1);
    d->close_queue(d, q);
    d->release(d, mem[0], bytes);
    d->release(d, mem[1], bytes);
    device_release_kernel(d, plain);
    device_release_kernel(d, late);
    device_release_kernel(d, early);
}

/* A queue that waits for another one's event sees what was done there before it, whichever is finished first and
 * whether or not the event was given back; a queue that failed has none. */
static void events(fixture *f)
{
    device *d = f->d;
    enum { QUEUES = 4 };
    const char *why = NULL;
    k_error error;
    size_t bytes = ELEMENTS * sizeof(float);
    float *x = floats(f, ELEMENTS, 0), *y = arena_alloc(&f->a, bytes);
    device_kernel *plain = compiled(f, saxpy(&f->a, 0)), *checked = compiled(f, saxpy(&f->a, 5));
    void *mem[] = {d->alloc(d, bytes), d->alloc(d, bytes)}, *back[] = {mem[1], mem[0]};
    device_queue *q[QUEUES];
    ir_bits one = ir_bits_f32(1), less = ir_bits_f32(-1000);
    for (int i = 0; i < QUEUES; i++) {
        q[i] = d->open_queue(d, NULL, NULL);
        assert_non_null(q[i]);
        if (i) { /* after all that was put into the queue before */
            device_event *e = d->signal(d, q[i - 1]);
            assert_non_null(e);
            assert_true(d->await(d, q[i], e));
            d->forget(d, e);
        } else {
            assert_true(d->copy(d, q[i], DEVICE_UPLOAD, mem[0], x, 0, bytes));
            assert_true(d->clear(d, q[i], mem[1], bytes));
        }
        for (int k = 0; k < 10; k++)
            assert_true(d->enqueue(d, q[i], plain, mem, &one, 0, ELEMENTS / PIECE, false, NULL));
    }
    assert_true(d->copy(d, q[QUEUES - 1], DEVICE_DOWNLOAD, y, mem[1], 0, bytes));
    for (int i = QUEUES - 1; i >= 0; i--)
        if (d->finish(d, q[i], &error, &f->a, &why) != DEVICE_FINE || error.site)
            fail_msg("%s", why ? why : "a check failed");
    for (int i = 0; i < ELEMENTS; i++)
        assert_true(y[i] == 10 * QUEUES * x[i]);
    /* x -= 1000 y in the first queue: what waits for it finds negative elements, and says so itself */
    assert_true(d->enqueue(d, q[0], plain, back, &less, 0, ELEMENTS / PIECE, false, NULL));
    device_event *e = d->signal(d, q[0]);
    assert_non_null(e);
    assert_true(d->await(d, q[1], e));
    assert_int_equal(d->enqueue(d, q[1], checked, mem, &one, 0, ELEMENTS / PIECE, false, NULL), !d->limits->waits);
    if (d->limits->waits)
        assert_null(d->signal(d, q[1]));
    assert_int_equal(d->finish(d, q[1], &error, &f->a, &why), DEVICE_FINE);
    assert_int_equal(error.site, 5);
    assert_int_equal(error.element, 1);
    d->forget(d, e);
    d->forget(d, NULL);
    assert_int_equal(d->finish(d, q[0], &error, &f->a, &why), DEVICE_FINE);
    assert_int_equal(error.site, 0);
    for (int i = 0; i < QUEUES; i++)
        d->close_queue(d, q[i]);
    d->release(d, mem[0], bytes);
    d->release(d, mem[1], bytes);
    device_release_kernel(d, plain);
    device_release_kernel(d, checked);
}

static void kept_by_content(fixture *f)
{
    device *d = f->d;
    uint64_t before = device_compiled(d) + device_loaded(d);
    device_kernel *a = compiled(f, saxpy(&f->a, 99)), *b = compiled(f, saxpy(&f->a, 99)),
                  *c = compiled(f, saxpy(&f->a, 98));
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_int_equal(device_compiled(d) + device_loaded(d) - before, 2);
    assert_true(d->generates(d));
    device_release_kernel(d, a);
    device_release_kernel(d, b);
    device_release_kernel(d, c);
    device_release_kernel(d, NULL);
}

typedef struct {
    pthread_t thread;
    fixture f;
    float factor;
} worker;

static void *work(void *env)
{
    worker *w = env;
    device_kernel *k = compiled(&w->f, saxpy(&w->f.a, 21));
    ir_bits arg[] = {ir_bits_f32(w->factor)};
    for (int round = 0; round < 5; round++) {
        float *x = floats(&w->f, ELEMENTS, w->factor), *y = arena_array(&w->f.a, float, ELEMENTS);
        memories m = {{x, y}, {ELEMENTS * sizeof(float), ELEMENTS * sizeof(float)}, 2};
        k_error error;
        launch(&w->f, k, &m, arg, 0, ELEMENTS / PIECE, &error);
        for (int i = 0; i < ELEMENTS; i++)
            if (y[i] != w->factor * x[i])
                return "other results";
    }
    device_release_kernel(w->f.d, k);
    return NULL;
}

/* One kernel, arguments of its own for each thread. */
static void threads(fixture *f)
{
    enum { THREADS = 4 };
    worker w[THREADS];
    for (int t = 0; t < THREADS; t++) {
        w[t] = (worker){.f.d = f->d, .factor = (float)(t + 2)};
        arena_init(&w[t].f.a, NULL);
        assert_int_equal(pthread_create(&w[t].thread, NULL, work, &w[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        void *wrong;
        pthread_join(w[t].thread, &wrong);
        assert_null(wrong);
        arena_free(&w[t].f.a);
    }
}

static void conforms(fixture *f)
{
    limits(f);
    memory(f);
    reach(f);
    busy(f);
    copies(f);
    clears(f);
    ranges(f);
    shared_memory(f);
    checks(f);
    order(f);
    events(f);
    kept_by_content(f);
    threads(f);
}

/* Every device as it is, and as a small one: what kernels compute does not depend on its limits. */
static void every_device(void **state)
{
    (void)state;
    const device_options options[] = {
        {0}, {.threads = 1, .most_shared = 16384, .most_group = 5, .most_groups = 1}, {.most_group = 1}};
    fixture f = {0};
    arena_init(&f.a, NULL);
    device_infos all = all_devices(&f.a);
    unsigned done = 0;
    for (uint32_t i = 0; i < all.n; i++)
        for (size_t o = 0; o < ARRAY_LENGTH(options); o++) {
            const char *why = all.at[i].why;
            f.d = why ? NULL : open_device(&all.at[i], &options[o], &f.a, &why);
            if (!f.d) {
                if (!o)
                    print_message("skipped: %s %s: %s\n", all.at[i].kind, all.at[i].name, why);
                continue;
            }
            print_message("%s: %s\n", all.at[i].kind, f.d->limits->name);
            conforms(&f);
            f.d->close(f.d);
            done++;
        }
    arena_free(&f.a);
    if (!done)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_device)};
    return cmocka_run_group_tests_name("conformance", tests, NULL, NULL);
}
