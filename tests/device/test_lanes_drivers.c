/* Queues of drivers whose launches say what they touch: random work, whose results are those of one piece after the
 * other; which piece waits for which; that failures are reported as ever, and nothing is left over. On the library that
 * stands in for CUDA, whose streams do their work as late as they may, so that what should have waited is seen; on the
 * one that stands in for OpenCL, which tells what was put where; and on PoCL, where it is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>

#include "device/lanes.h"
#include "fake_cuda/control.h"
#include "fake_opencl/control.h"

enum { BLOCKS = 9, ELEMENTS = 64, BYTES = ELEMENTS * 4, MOST_PUT = 300, SITE = 7 };

typedef int32_t block[ELEMENTS];

typedef struct fixture {
    arena a;
    device *d; /* NULL: there is no such device */
    device_queue *q;
    device_kernel *k;
    void *at[BLOCKS];
    block model[BLOCKS]; /* what is there when all is done */
    block up[MOST_PUT], down[MOST_PUT], expected[MOST_PUT];
    unsigned ups, downs, salt;
    fake_cuda_control *cuda;     /* NULL: it is another device */
    fake_opencl_control *opencl; /* the same */
    void *(*bytes_of)(const void *argument);
} fixture;

/* y = 3 x + z, and a check that x is not `limit`. */
static kernel *mixing(arena *a)
{
    k_builder b = {0};
    kernel *k = k_new(a, "mixing", 32);
    k_begin(&b, k);
    k_mem x = k_global(&b, T_I32, false, "x"), z = k_global(&b, T_I32, false, "z"), y = k_global(&b, T_I32, true, "y");
    k_val limit = k_arg(&b, T_I32, "limit"), i = k_for_all(&b, k_i64(&b, ELEMENTS)), v = k_load(&b, x, i);
    k_check(&b, SITE, k_let(&b, OP_NE, v, limit, 0), i, k_convert(&b, OP_CONVERT, T_I64, v), k_i64(&b, 0));
    v = k_let(&b, OP_MUL, v, k_literal(&b, T_I32, 3), 0);
    k_store(&b, y, i, k_let(&b, OP_ADD, v, k_load(&b, z, i), 0));
    k_end(&b);
    return k;
}

/* A running sum of pieces: its blocks wait for each other. */
static kernel *chained(arena *a)
{
    k_builder b = {0};
    kernel *k = k_new(a, "chained", 32);
    k_begin(&b, k);
    k_mem y = k_global(&b, T_I64, true, "y"), words = k_global(&b, T_U64, true, "words");
    k_val p = k_piece(&b), zero = k_i64(&b, 0);
    k_chain *c = k_chain_begin(&b, 1, &p, &zero, words);
    k_val sum = k_let(&b, OP_ADD, c->left[0], c->right[0], 0);
    k_chain_end(&b, c, &sum);
    k_store(&b, y, p, c->before[0]);
    return k;
}

static void mix(int32_t *y, const int32_t *x, const int32_t *z)
{
    for (int i = 0; i < ELEMENTS; i++)
        y[i] = (int32_t)((uint32_t)x[i] * 3 + (uint32_t)z[i]);
}

/* In place of the kernel, on what stands in for OpenCL. */
static void run_mixing(void *env, const fake_launch *l)
{
    fixture *f = env;
    int32_t limit;
    memcpy(&limit, l->value[3], sizeof(limit));
    int32_t *x = f->bytes_of(l->value[0]), *y = f->bytes_of(l->value[2]);
    int64_t *record = f->bytes_of(l->value[l->arguments - 1]);
    for (int i = 0; i < ELEMENTS && !record[0]; i++)
        if (x[i] == limit) {
            record[0] = SITE;
            record[1] = i;
            record[2] = limit;
        }
    mix(y, x, f->bytes_of(l->value[1]));
}

static void *symbol(const char *file, const char *name)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return dlsym(library, name);
}

static device_kernel *compiled(fixture *f, kernel *k)
{
    const char *why = "";
    if (!k_verify(k, &f->a, &why))
        fail_msg("%s", why);
    device_kernel *code = device_compile(f->d, k, &f->a, &why);
    if (!code)
        fail_msg("%s", why);
    return code;
}

static void take_queue(fixture *f)
{
    for (int i = 0; i < BLOCKS; i++) {
        f->at[i] = f->d->alloc(f->d, BYTES);
        assert_non_null(f->at[i]);
    }
    f->q = f->d->open_queue(f->d, NULL, NULL);
    assert_non_null(f->q);
}

static void give_queue(fixture *f)
{
    f->d->close_queue(f->d, f->q);
    for (int i = 0; i < BLOCKS; i++)
        f->d->release(f->d, f->at[i], BYTES);
}

static void prepare(fixture *f)
{
    f->k = compiled(f, mixing(&f->a));
    take_queue(f);
}

static fixture *new_fixture(void **state)
{
    fixture *f = test_calloc(1, sizeof(*f));
    setenv("SINTER_CACHE", "off", 1);
    arena_init(&f->a, NULL);
    return *state = f;
}

static int on_cuda(void **state)
{
    fixture *f = new_fixture(state);
    const char *why = "";
    setenv("SINTER_CUDA", SN_TEST_FAKE_CUDA, 1);
    setenv("SINTER_NVRTC", SN_TEST_FAKE_NVRTC, 1);
    f->cuda = symbol(SN_TEST_FAKE_CUDA, "fake_cuda");
    f->cuda->mistakes = 0;
    f->cuda->fail_at = -1;
    f->d = device_cuda_open(NULL, 0, &f->a, &why);
    if (!f->d)
        fail_msg("%s", why);
    prepare(f);
    return 0;
}

static int on_stand_in(void **state)
{
    fixture *f = new_fixture(state);
    const char *why = "";
    setenv("SINTER_OPENCL", SN_TEST_FAKE_OPENCL, 1);
    f->opencl = symbol(SN_TEST_FAKE_OPENCL, "fake_opencl");
    void *found = symbol(SN_TEST_FAKE_OPENCL, "fake_block");
    memcpy(&f->bytes_of, &found, sizeof(found));
    *f->opencl = (fake_opencl_control){.run = run_mixing, .env = f};
    f->d = device_opencl_open(NULL, 0, &f->a, &why);
    if (!f->d)
        fail_msg("%s", why);
    prepare(f);
    f->opencl->puts = 0;
    return 0;
}

#if !defined(__SANITIZE_THREAD__) /* PoCL's threads are not its to judge */
static int on_opencl(void **state)
{
    fixture *f = new_fixture(state);
    const char *why = "";
    unsetenv("SINTER_OPENCL");
    f->d = device_opencl_open(NULL, 0, &f->a, &why);
    if (f->d)
        prepare(f);
    return 0;
}
#endif

static int teardown(void **state)
{
    fixture *f = *state;
    if (f->d) {
        give_queue(f);
        device_release_kernel(f->d, f->k);
        f->d->close(f->d);
    }
    if (f->cuda && f->cuda->mistakes)
        fail_msg("%s", f->cuda->mistake);
    if (f->cuda)
        assert_int_equal(f->cuda->streams + f->cuda->events + f->cuda->blocks + f->cuda->host_blocks, 0);
    if (f->opencl)
        assert_int_equal(f->opencl->objects, 0);
    arena_free(&f->a);
    test_free(f);
    return 0;
}

/* --- work --- */

static const device_touched touched[] = {{BYTES, false}, {BYTES, false}, {BYTES, true}};

static device_reach reach_of(double work)
{
    return (device_reach){work, false, 3, 1, touched};
}

static bool launch_checked(fixture *f, int x, int z, int y, const device_reach *reach, int32_t limit)
{
    void *const mem[] = {f->at[x], f->at[z], f->at[y]};
    const ir_bits arg = ir_bits_i64(T_I32, limit);
    mix(f->model[y], f->model[x], f->model[z]);
    return f->d->enqueue(f->d, f->q, f->k, mem, &arg, 0, 1, false, reach);
}

static bool launch(fixture *f, int x, int z, int y, const device_reach *reach)
{
    return launch_checked(f, x, z, y, reach, INT32_MIN + 1);
}

static bool launch_apart(fixture *f, int x, int z, int y)
{
    const device_reach reach = reach_of(1e6);
    return launch(f, x, z, y, &reach);
}

static bool upload(fixture *f, int to, unsigned salt)
{
    int32_t *from = f->up[f->ups++ % MOST_PUT];
    for (int i = 0; i < ELEMENTS; i++)
        from[i] = (int32_t)(hash_mix(salt, (uint64_t)i) & 0xffff);
    memcpy(f->model[to], from, BYTES);
    return f->d->copy(f->d, f->q, DEVICE_UPLOAD, f->at[to], from, 0, BYTES);
}

static bool download(fixture *f, int from)
{
    const unsigned n = f->downs++;
    memcpy(f->expected[n], f->model[from], BYTES);
    return f->d->copy(f->d, f->q, DEVICE_DOWNLOAD, f->down[n], f->at[from], 0, BYTES);
}

/* The second half of one becomes the first half of another one. */
static bool copy_half(fixture *f, int from, int to)
{
    memcpy(f->model[to], f->model[from] + ELEMENTS / 2, BYTES / 2);
    return f->d->copy(f->d, f->q, DEVICE_COPY, f->at[to], f->at[from], BYTES / 2, BYTES / 2);
}

static bool clear(fixture *f, int to)
{
    memset(f->model[to], 0, BYTES);
    return f->d->clear(f->d, f->q, f->at[to], BYTES);
}

static device_state finish(fixture *f, k_error *error, const char **why)
{
    const device_state state = f->d->finish(f->d, f->q, error, &f->a, why);
    if (state == DEVICE_FINE) {
        for (unsigned i = 0; i < f->downs; i++)
            assert_memory_equal(f->down[i], f->expected[i], BYTES);
        f->downs = f->ups = 0;
    }
    return state;
}

static void finishes(fixture *f)
{
    k_error error;
    const char *why = "";
    if (finish(f, &error, &why) != DEVICE_FINE)
        fail_msg("%s", why);
    assert_int_equal(error.site, 0);
    assert_false(f->d->busy(f->d, f->q));
}

static void upload_all(fixture *f)
{
    for (int i = 0; i < BLOCKS; i++)
        assert_true(upload(f, i, (unsigned)i));
}

/* A piece of random work; what it touches goes to *at. */
static void put_something(fixture *f, uint64_t h, lanes_touched at[3])
{
    const unsigned what = h % 16;
    const int x = (int)(h >> 8 & 0xff) % BLOCKS, z = (int)(h >> 16 & 0xff) % BLOCKS;
    const int y = (x + 1 + (int)(h >> 24 & 0xff) % (BLOCKS - 1)) % BLOCKS;
    memset(at, 0, 3 * sizeof(*at));
    if (what < 11)
        at[2] = (lanes_touched){(uintptr_t)z, (uintptr_t)z + 1, false};
    if (what < 11 || what == 12 || what == 13)
        at[1] = (lanes_touched){(uintptr_t)x, (uintptr_t)x + 1, false};
    if (what != 12)
        at[0] = (lanes_touched){(uintptr_t)y, (uintptr_t)y + 1, true};
    assert_true(what < 11    ? launch_apart(f, x, z, y)
                : what == 11 ? upload(f, y, (unsigned)(h >> 32))
                : what == 12 ? download(f, x)
                : what == 13 ? copy_half(f, x, y)
                             : clear(f, y));
}

/* --- results --- */

static void random_work(fixture *f, unsigned seeds, unsigned salt)
{
    lanes_touched at[3];
    for (unsigned seed = 0; seed < seeds; seed++) {
        upload_all(f);
        if (seed % 2) /* else the lanes begin behind that */
            finishes(f);
        for (unsigned i = 0; i < MOST_PUT / 2; i++) {
            const uint64_t h = hash_mix(seed + salt, i);
            put_something(f, h, at);
            if (h >> 40 & 31)
                continue;
            device_event *e = f->d->signal(f->d, f->q);
            assert_non_null(e);
            assert_true(launch(f, (int)(h >> 48) % BLOCKS, 1, 0, NULL) && f->d->await(f->d, f->q, e));
            f->d->forget(f->d, e);
        }
        for (int i = 0; i < BLOCKS; i++)
            assert_true(download(f, i));
        finishes(f);
    }
}

static void random_work_has_the_results_of_one_after_the_other(void **state)
{
    fixture *f = *state;
    if (!f->d)
        skip();
    random_work(f, getenv("SINTER_TEST_LONG") ? 200 : 20, 0);
}

static void *work_by_oneself(void *env)
{
    random_work(env, 6, ((fixture *)env)->salt);
    return env;
}

static void threads_have_queues_of_their_own(void **state)
{
    enum { THREADS = 4 };
    fixture *f = *state, *own[THREADS];
    pthread_t thread[THREADS];
    if (!f->d)
        skip();
    for (int i = 0; i < THREADS; i++) {
        own[i] = test_calloc(1, sizeof(*f));
        own[i]->d = f->d;
        own[i]->k = f->k;
        own[i]->salt = 100 * (unsigned)i;
        arena_init(&own[i]->a, NULL);
        take_queue(own[i]);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work_by_oneself, own[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        give_queue(own[i]);
        arena_free(&own[i]->a);
        test_free(own[i]);
    }
}

/* What other queues put in behind an event comes behind all lanes. */
static void other_queues_wait_for_all_lanes(void **state)
{
    fixture *f = *state;
    if (!f->d)
        skip();
    upload_all(f);
    finishes(f);
    device_queue *first = f->q, *second = f->d->open_queue(f->d, NULL, NULL);
    assert_non_null(second);
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < 4; i++)
            assert_true(launch_apart(f, i, i + 1, i + 5));
        device_event *e = f->d->signal(f->d, f->q);
        assert_non_null(e);
        f->q = second;
        assert_true(f->d->await(f->d, second, e));
        for (int i = 0; i < 4; i++)
            assert_true(launch_apart(f, 5 + i, i, i));
        for (int i = 0; i < BLOCKS; i++)
            assert_true(download(f, i));
        finishes(f);
        f->d->forget(f->d, e);
        f->q = first;
    }
    finishes(f);
    f->d->close_queue(f->d, second);
}

/* --- errors of kernels --- */

static void fails_with(fixture *f, int64_t value)
{
    k_error error;
    const char *why = "";
    f->downs = 0; /* nobody looks at results */
    assert_int_equal(finish(f, &error, &why), DEVICE_FINE);
    assert_int_equal(error.site, value ? SITE : 0);
    if (value)
        assert_int_equal(error.value, value);
}

/* Each launch fails with another value: that of the first is known, though it be not the first that is done. */
static void the_first_launch_that_fails_is_reported(void **state)
{
    fixture *f = *state;
    const device_reach reach = reach_of(1e6);
    if (!f->d)
        skip();
    for (int first = 0; first < 5; first++) {
        for (int i = 0; i < 4; i++) {
            int32_t *from = f->up[i];
            for (int k = 0; k < ELEMENTS; k++)
                from[k] = 50 + i;
            assert_true(f->d->copy(f->d, f->q, DEVICE_UPLOAD, f->at[i], from, 0, BYTES));
        }
        for (int i = 0; i < 200; i++) /* more than there are records, and than there is room for in the lanes */
            assert_true(launch_checked(f, i % 4, i % 4, 4 + i % 4, &reach, 1));
        for (int i = 0; i < 4; i++)
            assert_true(launch_checked(f, i, i, 4 + i, &reach, i >= first ? 50 + i : 1));
        fails_with(f, first < 4 ? 50 + first : 0);
    }
}

/* --- where launches go --- */

static long stream_of(const fixture *f, long back)
{
    return f->cuda->launched_in[(f->cuda->launches - 1 - back) % FAKE_CUDA_LAST];
}

static void independent_launches_have_streams_of_their_own(void **state)
{
    fixture *f = *state;
    const long streams = f->cuda->streams, recorded = f->cuda->recorded, awaited = f->cuda->awaited;
    upload_all(f);
    finishes(f);
    for (int turn = 0; turn < 3; turn++) {
        assert_true(launch_apart(f, 0, 0, 1) && launch_apart(f, 0, 0, 2) && launch_apart(f, 1, 1, 3));
        assert_true(stream_of(f, 2) != stream_of(f, 1) && stream_of(f, 2) == stream_of(f, 0));
        finishes(f);
    }
    assert_int_equal(f->cuda->streams, streams + 1);
    assert_int_equal(f->cuda->recorded - recorded, 9);
    assert_int_equal(f->cuda->awaited - awaited, 3); /* where the lanes end */
    assert_true(launch(f, 0, 0, 1, NULL) && launch(f, 0, 0, 2, NULL));
    assert_int_equal(stream_of(f, 0), stream_of(f, 1)); /* who says nothing comes one after the other, */
    const device_reach little = reach_of(LANES_LEAST_WORK - 1);
    assert_true(launch(f, 0, 0, 1, &little) && launch(f, 0, 0, 2, &little)); /* like what is worth no event */
    assert_int_equal(stream_of(f, 0), stream_of(f, 1));
    assert_int_equal(f->cuda->recorded - recorded, 9);
    assert_true(launch_apart(f, 0, 0, 3) && launch(f, 0, 0, 4, &little)); /* but it goes beside others */
    assert_int_not_equal(stream_of(f, 0), stream_of(f, 1));
    finishes(f);
    if (f->d->time_queue(f->d, f->q)) { /* what is timed, too */
        assert_true(launch_apart(f, 0, 0, 1) && launch_apart(f, 0, 0, 2));
        assert_int_equal(stream_of(f, 0), stream_of(f, 1));
        finishes(f);
        assert_int_equal(f->d->took(f->d, f->q), FAKE_CUDA_LAUNCH_NS);
    }
}

/* Blocks of such a launch wait for each other, so all of them have to be at work. */
static void chained_launches_are_alone(void **state)
{
    enum { PIECES = 40 };
    static const device_touched at[] = {{PIECES * 8, true}, {PIECES * 16, true}};
    fixture *f = *state;
    const device_reach reach = {1e6, false, 2, 0, at};
    device_kernel *k = compiled(f, chained(&f->a));
    int64_t out[2][PIECES];
    void *mem[2][2];
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++)
            assert_non_null(mem[i][j] = f->d->alloc(f->d, PIECES * 16));
        assert_true(f->d->clear(f->d, f->q, mem[i][1], PIECES * 16));
    }
    upload_all(f);
    assert_true(launch_apart(f, 0, 0, 1) && launch_apart(f, 0, 0, 2));
    assert_int_not_equal(stream_of(f, 0), stream_of(f, 1));
    for (int i = 0; i < 2; i++)
        assert_true(f->d->enqueue(f->d, f->q, k, mem[i], NULL, 0, PIECES, false, &reach));
    assert_int_equal(stream_of(f, 0), stream_of(f, 1));
    for (int i = 0; i < 2; i++)
        assert_true(f->d->copy(f->d, f->q, DEVICE_DOWNLOAD, out[i], mem[i][0], 0, sizeof(out[i])));
    finishes(f);
    for (int i = 0; i < 2; i++)
        for (int64_t p = 0; p < PIECES; p++)
            assert_int_equal(out[i][p], p * (p - 1) / 2);
    for (int i = 0; i < 4; i++)
        f->d->release(f->d, mem[i / 2][i % 2], PIECES * 16);
    device_release_kernel(f->d, k);
}

/* A loop of many rounds that can be cancelled: the host waits now and then. */
static void the_host_does_not_run_far_ahead(void **state)
{
    fixture *f = *state;
    const long *waited = f->cuda ? &f->cuda->waited : &f->opencl->waited, before = *waited;
    upload_all(f);
    for (int i = 0; i < 320; i++)
        assert_true(launch_apart(f, i % 4, i % 4, 4 + i % 4));
    assert_in_range(*waited - before, 18, 20);
    finishes(f);
}

/* --- which piece waits for which, as OpenCL is told --- */

typedef struct order {
    unsigned n;
    uint8_t before[FAKE_OPENCL_PUTS][FAKE_OPENCL_PUTS]; /* [i][j]: j is done before i */
} order;

static void goes_behind(order *o, unsigned i, unsigned j)
{
    o->before[i][j] = 1;
    for (unsigned k = 0; k < j; k++)
        o->before[i][k] |= o->before[j][k];
}

static order *order_of(const fake_opencl_control *c)
{
    order *o = test_calloc(1, sizeof(*o));
    o->n = c->puts;
    assert_true(o->n < FAKE_OPENCL_PUTS);
    for (unsigned i = 0; i < o->n; i++) {
        const fake_put *p = &c->put[i];
        assert_false(p->early);
        for (unsigned j = i; j-- > 0;) {
            bool waited = c->put[j].queue == p->queue || strcmp(c->put[j].call, "clFinish") == 0;
            for (unsigned k = 0; k < p->waits; k++)
                waited |= c->put[j].event == p->wait[k];
            if (waited)
                goes_behind(o, i, j);
        }
    }
    return o;
}

static void what_depends_waits_and_nothing_else(void **state)
{
    static lanes_touched at[MOST_PUT][3];
    static unsigned place[MOST_PUT];
    fixture *f = *state;
    for (unsigned seed = 0; seed < 8; seed++) {
        unsigned apart = 0;
        upload_all(f);
        f->opencl->puts = 0;
        for (unsigned i = 0; i < MOST_PUT; i++) {
            put_something(f, hash_mix(seed + 1000, i), at[i]);
            place[i] = f->opencl->puts - 1;
        }
        order *o = order_of(f->opencl);
        for (unsigned i = 0; i < MOST_PUT; i++)
            for (unsigned j = 0; j < i; j++) {
                bool depends = false;
                for (int k = 0; k < 9; k++) {
                    const lanes_touched *x = &at[i][k / 3], *y = &at[j][k % 3];
                    depends |= x->from < y->end && y->from < x->end && (x->written || y->written);
                }
                assert_true(!depends || o->before[place[i]][place[j]]);
                apart += !o->before[place[i]][place[j]];
            }
        assert_true(apart > MOST_PUT);
        test_free(o);
        finishes(f);
    }
}

static void note_native(void *env, const device_native *native)
{
    *(void **)env = native->queue;
}

/* Launches that do not say what they touch, work of others, signals, and what finish reads of errors. */
static void what_says_nothing_is_behind_all(void **state)
{
    fixture *f = *state;
    for (int what = 0; what < 4; what++) {
        void *first = NULL, *lent = NULL;
        device_event *e = NULL;
        finishes(f);
        f->opencl->puts = 0;
        assert_true(f->d->lend(f->d, f->q, note_native, &first));
        for (int i = 0; i < 4; i++)
            assert_true(launch_apart(f, i, i, 4 + i));
        for (int i = 0; i < 4; i++)
            assert_int_not_equal(f->opencl->put[i + 1].queue, f->opencl->put[(i + 1) % 4 + 1].queue);
        const unsigned before = f->opencl->puts;
        if (what == 0)
            assert_true(launch(f, 0, 0, 8, NULL));
        if (what == 1)
            assert_true(f->d->lend(f->d, f->q, note_native, &lent) && lent == first);
        if (what == 2)
            e = f->d->signal(f->d, f->q);
        if (what == 3)
            finishes(f);
        order *o = order_of(f->opencl);
        assert_true(o->n > before);
        assert_string_equal(f->opencl->put[before].call, "clEnqueueBarrierWithWaitList");
        for (unsigned i = before; i < o->n; i++)
            for (unsigned k = 0; k < before; k++)
                assert_true(o->before[i][k]);
        test_free(o);
        f->d->forget(f->d, e);
    }
    finishes(f);
}

/* --- every call may fail --- */

/* All that lanes do. */
static bool whole_life(fixture *f)
{
    bool good = true;
    for (int i = 0; i < 4 && good; i++)
        good = upload(f, i, 1);
    for (int i = 0; i < LANES_MOST_WORK + 4 && good; i++)
        good = launch_apart(f, i % 4, i % 4, 4 + i % 4);
    good = good && copy_half(f, 4, 8) && clear(f, 5) && launch(f, 6, 6, 7, NULL);
    device_event *e = good ? f->d->signal(f->d, f->q) : NULL;
    good = good && e && launch_apart(f, 1, 1, 2) && launch_apart(f, 3, 3, 4) && f->d->await(f->d, f->q, e);
    for (int i = 0; i < BLOCKS && good; i++)
        good = launch_apart(f, i, i, (i + 1) % BLOCKS) && download(f, i);
    f->d->forget(f->d, e);
    return good;
}

static void every_call_of_opencl(void **state)
{
    fixture *f = *state;
    for (int stays = 0; stays < 2; stays++) {
        bool done = false;
        for (long n = 1; !done; n++) {
            k_error error;
            const char *why = NULL;
            f->d->close_queue(f->d, f->q);
            f->q = f->d->open_queue(f->d, NULL, NULL);
            f->downs = f->ups = 0;
            f->opencl->calls = 0;
            f->opencl->stays = stays;
            f->opencl->fail_at = n;
            f->opencl->error = n % 2 ? -5 : -4;
            f->opencl->failed[0] = 0;
            const bool good = whole_life(f);
            const device_state s = finish(f, &error, &why);
            f->opencl->fail_at = 0;
            done = !f->opencl->failed[0];
            assert_int_equal(s, done ? DEVICE_FINE : n % 2 ? DEVICE_BROKEN : DEVICE_OUT_OF_MEMORY);
            assert_true(good || !done);
            if (!done && !strstr(why, f->opencl->failed))
                fail_msg("%s failed, and the message is: %s", f->opencl->failed, why);
            assert_true(!done || n > 100);
        }
    }
}

static void every_call_of_cuda(void **state)
{
    fixture *f = *state;
    bool done = false;
    for (long n = 0; !done; n++) {
        k_error error;
        const char *why = NULL;
        f->d->close_queue(f->d, f->q);
        f->q = f->d->open_queue(f->d, NULL, NULL);
        f->downs = f->ups = 0;
        f->cuda->last_failed[0] = 0;
        f->cuda->error = n % 2 ? 2 : 719;
        f->cuda->failures = 1;
        f->cuda->fail_at = n;
        const bool good = whole_life(f);
        const device_state s = finish(f, &error, &why);
        f->cuda->fail_at = -1;
        done = !f->cuda->last_failed[0];
        /* an event that is not given back is lost, and that is all */
        const bool lost = !done && !strcmp(f->cuda->last_failed, "cuEventDestroy_v2");
        f->cuda->events -= lost;
        if (lost || (!done && s == DEVICE_FINE && !strcmp(f->cuda->last_failed, "cuCtxPushCurrent_v2"))) {
            f->cuda->events -= !lost; /* `forget` was not let in */
            continue;
        }
        assert_int_equal(s, done ? DEVICE_FINE : n % 2 ? DEVICE_OUT_OF_MEMORY : DEVICE_BROKEN);
        assert_true(good || !done);
        if (!done && !strstr(why, f->cuda->last_failed))
            fail_msg("%s failed, and the message is: %s", f->cuda->last_failed, why);
        assert_true(!done || n > 200);
    }
    f->cuda->failures = -1;
}

int main(void)
{
#define ON(where, test)                                                                                                \
    {                                                                                                                  \
        .name = #test " " #where, .test_func = test, .setup_func = where, .teardown_func = teardown                    \
    }
    const struct CMUnitTest tests[] = {
        ON(on_cuda, random_work_has_the_results_of_one_after_the_other),
        ON(on_stand_in, random_work_has_the_results_of_one_after_the_other),
        ON(on_cuda, threads_have_queues_of_their_own),
        ON(on_stand_in, threads_have_queues_of_their_own),
        ON(on_cuda, other_queues_wait_for_all_lanes),
        ON(on_stand_in, other_queues_wait_for_all_lanes),
        ON(on_cuda, the_first_launch_that_fails_is_reported),
        ON(on_stand_in, the_first_launch_that_fails_is_reported),
        ON(on_cuda, independent_launches_have_streams_of_their_own),
        ON(on_cuda, chained_launches_are_alone),
        ON(on_cuda, the_host_does_not_run_far_ahead),
        ON(on_stand_in, the_host_does_not_run_far_ahead),
        ON(on_stand_in, what_depends_waits_and_nothing_else),
        ON(on_stand_in, what_says_nothing_is_behind_all),
        ON(on_stand_in, every_call_of_opencl),
        ON(on_cuda, every_call_of_cuda),
#if !defined(__SANITIZE_THREAD__)
        ON(on_opencl, random_work_has_the_results_of_one_after_the_other),
        ON(on_opencl, threads_have_queues_of_their_own),
        ON(on_opencl, other_queues_wait_for_all_lanes),
        ON(on_opencl, the_first_launch_that_fails_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
