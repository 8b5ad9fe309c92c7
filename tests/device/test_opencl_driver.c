/* The OpenCL driver against a library that stands in for OpenCL's (fake_opencl/): what is said when there is none, when
 * it is broken or refuses something, whatever call it is; that nothing is left over, and that work goes on afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <unistd.h>

#include "cache_kernel.h"
#include "device/device.h"
#include "fake_opencl/control.h"

enum { ELEMENTS = 256, PIECE = 64 };

typedef struct {
    arena a;
    fake_opencl_control *fake;
    void *(*block)(const void *argument);
} fixture;

static int setup(void **state)
{
    fixture *f = test_calloc(1, sizeof(*f));
    void *library = dlopen(SN_TEST_FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    f->fake = dlsym(library, "fake_opencl");
    void *found = dlsym(library, "fake_block");
    memcpy(&f->block, &found, sizeof(found));
    *f->fake = (fake_opencl_control){0};
    setenv("SINTER_OPENCL", SN_TEST_FAKE_OPENCL, 1);
    setenv("SINTER_CACHE", "off", 1);
    arena_init(&f->a, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    assert_int_equal(f->fake->objects, 0);
    arena_free(&f->a);
    test_free(f);
    return 0;
}

static void contains(const char *message, const char *part)
{
    if (!message || !strstr(message, part))
        fail_msg("\"%s\" is not in \"%s\"", part, message ? message : "(nothing)");
}

static device *opened(fixture *f, const device_options *o)
{
    const char *why = NULL;
    device *d = device_opencl_open(o, 0, &f->a, &why);
    if (!d)
        fail_msg("%s", why);
    return d;
}

static void opens_not(fixture *f, unsigned number, const char *part)
{
    const char *why = NULL;
    assert_null(device_opencl_open(NULL, number, &f->a, &why));
    contains(why, part);
}

/* --- what there is --- */

static void no_loader(void **state)
{
    fixture *f = *state;
    setenv("SINTER_OPENCL", "/nowhere/libOpenCL.so", 1);
    opens_not(f, 0, "there is no OpenCL loader");
    opens_not(f, 0, "/nowhere/libOpenCL.so");
    device_infos list = {0};
    device_opencl_list(&f->a, &list);
    assert_int_equal(list.n, 1);
    contains(list.at[0].why, "there is no OpenCL loader");
    setenv("SINTER_OPENCL", "libm.so.6", 1);
    opens_not(f, 0, "has no cl");
}

static void no_platform(void **state)
{
    fixture *f = *state;
    f->fake->no_platform = true;
    opens_not(f, 0, "there is no OpenCL platform");
    opens_not(f, 0, "CL_PLATFORM_NOT_FOUND");
    f->fake->no_platform = false;
    f->fake->no_device = true;
    opens_not(f, 0, "CL_DEVICE_NOT_FOUND");
}

/* A broken driver beside one that works. */
static void broken_platform(void **state)
{
    fixture *f = *state;
    f->fake->broken_platform = true;
    device *d = opened(f, NULL);
    d->close(d);
    f->fake->no_device = true;
    opens_not(f, 0, "clGetDeviceIDs");
}

static void unusable(void **state)
{
    fixture *f = *state;
    device_infos list = {0};
    f->fake->no_subnormals = true;
    opens_not(f, 0, "fake device: f32 has no subnormal numbers");
    device_opencl_list(&f->a, &list);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.at[0].name, "fake device");
    contains(list.at[0].why, "f32 has no subnormal numbers");
    f->fake->no_subnormals = false;
    opens_not(f, 1, "there is no OpenCL device number 1; 1 can be used");
    list.n = 0;
    device_opencl_list(&f->a, &list);
    assert_null(list.at[0].why);
    assert_int_equal(list.at[0].workers, 4);
}

static void gpus_only(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    device_options o = {.gpus_only = true};
    assert_null(device_opencl_open(&o, 0, &f->a, &why));
    f->fake->gpu = true;
    device *d = opened(f, &o);
    assert_true(d->limits->own_memory);
    d->close(d);
}

static void limits(void **state)
{
    fixture *f = *state;
    device_options o = {.most_shared = 16384, .most_memory = 1 << 20, .most_group = 32, .most_groups = 1};
    device *d = opened(f, &o);
    assert_int_equal(d->limits->scratch, 16384);
    assert_int_equal(d->limits->memory, 1 << 20);
    assert_int_equal(d->limits->group, 32);
    assert_int_equal(d->limits->most_groups, 1);
    d->close(d);
    f->fake->named_pocl = true;
    d = opened(f, NULL);
    assert_in_range(d->limits->group, 1, 16);
    d->close(d);
}

/* --- kernels --- */

static kernel *f64_kernel(arena *a)
{
    k_builder b = {0};
    kernel *k = k_new(a, "halves", 16);
    k_begin(&b, k);
    k_mem y = k_global(&b, T_F64, true, "y");
    k_val i = k_for_all(&b, k_i64(&b, PIECE));
    k_store(&b, y, i, k_literal(&b, T_F64, ir_bits_f64(0.5)));
    k_end(&b);
    return k;
}

/* Shared memory of this many bytes, and a check of each element. */
static kernel *checking_kernel(arena *a, uint32_t site, int64_t shared)
{
    k_builder b = {0};
    kernel *k = k_new(a, "checking", 16);
    k_begin(&b, k);
    k_mem x = k_global(&b, T_I32, false, "x"), y = k_global(&b, T_I32, true, "y"), s = k_shared(&b, T_U8, shared, "s");
    k_val i = k_for_all(&b, k_i64(&b, PIECE));
    k_val v = k_load(&b, x, i);
    k_store(&b, s, i, k_convert(&b, OP_CONVERT, T_U8, v));
    k_end(&b);
    i = k_for_all(&b, k_i64(&b, PIECE));
    v = k_load(&b, x, i);
    k_check(&b, site, k_let(&b, OP_GE, v, k_literal(&b, T_I32, 0), 0), i, k_convert(&b, OP_CONVERT, T_I64, v),
            k_i64(&b, 7));
    k_store(&b, y, i, k_let(&b, OP_ADD, v, k_convert(&b, OP_CONVERT, T_I32, k_load(&b, s, i)), 0));
    k_end(&b);
    return k;
}

static void compiles_not(fixture *f, device *d, const kernel *k, const char *part)
{
    const char *why = NULL;
    assert_null(device_compile(d, k, &f->a, &why));
    contains(why, part);
}

static void rejected_source(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    char kept[512] = "", line[64] = "";
    device *d = opened(f, NULL);
    f->fake->reject = true;
    setenv("TMPDIR", getenv("SINTER_TEST_DIR") ? getenv("SINTER_TEST_DIR") : "/tmp", 1);
    assert_null(device_compile(d, numbered_kernel(&f->a, 3), &f->a, &why));
    contains(why, "numbered");
    contains(why, "line 7: this compiler likes nothing");
    contains(why, "CL_BUILD_PROGRAM_FAILURE");
    const char *at = strstr(why, "its source is in ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "its source is in %511[^;];", kept), 1);
    FILE *file = fopen(kept, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_memory_equal(line, f->fake->source, strlen(line));
    unlink(kept);
    setenv("TMPDIR", "/nowhere", 1);
    compiles_not(f, d, numbered_kernel(&f->a, 3), "could not be written");
    unsetenv("TMPDIR");
    f->fake->reject = false; /* tried again when asked for again */
    device_kernel *k = device_compile(d, numbered_kernel(&f->a, 3), &f->a, &why);
    assert_non_null(k);
    contains(f->fake->options, "-cl-fp32-correctly-rounded-divide-sqrt");
    contains(f->fake->options, "-cl-std=CL1.2");
    device_release_kernel(d, k);
    d->close(d);
}

static void too_much(void **state)
{
    fixture *f = *state;
    device *d = opened(f, NULL);
    compiles_not(f, d, checking_kernel(&f->a, 1, 40000), "32768");
    f->fake->no_f64 = true;
    d->close(d);
    d = opened(f, NULL);
    compiles_not(f, d, f64_kernel(&f->a), "computes in f64, which the device does not have");
    d->close(d);
}

/* A kernel that takes many registers runs in smaller groups, as long as these can be. */
static void registers(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    device *d = opened(f, NULL);
    size_t whole = d->limits->group;
    f->fake->most_items = whole / 2 + 1;
    device_kernel *k = device_compile(d, numbered_kernel(&f->a, 3), &f->a, &why);
    assert_non_null(k);
    char option[64];
    snprintf(option, sizeof(option), "-DSN_LOCAL=%zu", whole / 2);
    contains(f->fake->options, option);
    device_release_kernel(d, k);
    d->close(d);
    f->fake->most_items = SIZE_MAX;
    d = opened(f, NULL);
    compiles_not(f, d, numbered_kernel(&f->a, 3), "too many registers");
    d->close(d);
}

/* Threads that share memory, in a branch of the piece or not. */
static kernel *staging_kernel(arena *a, bool branch)
{
    k_builder b = {0};
    kernel *k = k_new(a, "staging", 16);
    k_begin(&b, k);
    k_mem y = k_global(&b, T_I32, true, "y"), s = k_shared(&b, T_I32, PIECE, "s");
    if (branch)
        k_if(&b, k_let(&b, OP_GT, k_piece(&b), k_i64(&b, 0), 0));
    k_val i = k_for_all(&b, k_i64(&b, PIECE));
    k_store(&b, s, i, k_convert(&b, OP_CONVERT, T_I32, i));
    k_end(&b);
    if (branch)
        k_end(&b);
    i = k_for_all(&b, k_i64(&b, PIECE));
    k_store(&b, y, i, k_load(&b, s, i));
    k_end(&b);
    return k;
}

static void built_for(fixture *f, bool branch, const char *option)
{
    const char *why = NULL;
    device *d = opened(f, NULL);
    device_kernel *k = device_compile(d, staging_kernel(&f->a, branch), &f->a, &why);
    if (!k)
        fail_msg("%s", why);
    contains(f->fake->options, option);
    device_release_kernel(d, k);
    d->close(d);
}

/* Barriers in branches, which PoCL takes very long to compile, are left out there. */
static void barriers_in_branches(void **state)
{
    fixture *f = *state;
    built_for(f, true, "-DSN_LOCAL=128");
    f->fake->named_pocl = true;
    built_for(f, false, "-DSN_LOCAL=16");
    built_for(f, true, "-DSN_LOCAL=1");
    assert_true(strlen(strstr(f->fake->options, "-DSN_LOCAL=")) == strlen("-DSN_LOCAL=1"));
    contains(f->fake->source, "#if SN_LOCAL == 1\n#define barrier(fences)\n#endif\n");
}

static void explained(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    device *d = opened(f, &(device_options){.keep_text = true});
    device_kernel *k = device_compile(d, numbered_kernel(&f->a, 3), &f->a, &why);
    assert_non_null(k);
    contains(d->kernel_text(d, k, "opencl"), "__kernel");
    assert_null(d->kernel_text(d, k, "asm"));
    device_release_kernel(d, k);
    d->close(d);
}

/* --- binaries on disk --- */

static void compile_once(fixture *f, uint64_t compiled, uint64_t loaded)
{
    const char *why = NULL;
    device *d = opened(f, NULL);
    device_kernel *k = device_compile(d, numbered_kernel(&f->a, 3), &f->a, &why);
    assert_non_null(k);
    assert_int_equal(device_compiled(d), compiled);
    assert_int_equal(device_loaded(d), loaded);
    assert_ptr_equal(device_compile(d, numbered_kernel(&f->a, 3), &f->a, &why), k);
    device_release_kernel(d, k);
    device_release_kernel(d, k);
    d->close(d);
}

static void on_disk(void **state)
{
    fixture *f = *state;
    const char *folder = private_folder();
    compile_once(f, 1, 0);
    assert_int_equal(files_in(folder, ".kernel"), 1);
    compile_once(f, 0, 1);
    f->fake->reject_binaries = true; /* a newer driver, say, that kept its version */
    compile_once(f, 1, 0);
    f->fake->reject_binaries = false;
    f->fake->renamed = true; /* another device */
    compile_once(f, 1, 0);
    assert_int_equal(files_in(folder, ".kernel"), 2);
    compile_once(f, 0, 1);
    f->fake->named_pocl = true; /* which keeps what it compiles by itself */
    compile_once(f, 1, 0);
    compile_once(f, 1, 0);
    assert_int_equal(files_in(folder, ".kernel"), 2);
    remove_folder(folder);
}

/* --- running --- */

typedef struct {
    fixture *f;
    k_error error; /* that the next launches report */
} runs;

/* y = x + 1, in place of whatever the kernel is; reports an error, if there is one, as kernels do. */
static void add_one(void *env, const fake_launch *l)
{
    runs *r = env;
    const int32_t *x = r->f->block(l->value[0]);
    int32_t *y = r->f->block(l->value[1]);
    int64_t first, last, *record = r->f->block(l->value[l->arguments - 1]);
    memcpy(&first, l->value[l->arguments - 3], sizeof(first));
    memcpy(&last, l->value[l->arguments - 2], sizeof(last));
    for (int64_t i = first * PIECE; i < last * PIECE; i++)
        y[i] = x[i] + 1;
    if (r->error.site && record[0] == 0) {
        record[0] = r->error.site;
        record[1] = r->error.element;
        record[2] = r->error.value;
        record[3] = r->error.bound;
    }
}

typedef struct {
    bool done;
    device_state state;
    const char *why;
} result;

/* The life of a device that computes something, any step of which may fail. */
static result whole_life(fixture *f, const char **why)
{
    int32_t x[ELEMENTS], y[ELEMENTS] = {0};
    result r = {.state = DEVICE_BROKEN};
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = 3 * i;
    device *d = device_opencl_open(NULL, 0, &f->a, why);
    if (!d)
        return r;
    device_kernel *k = device_compile(d, checking_kernel(&f->a, 5, PIECE), &f->a, why);
    void *mem[] = {d->alloc(d, sizeof(x)), d->alloc(d, sizeof(y))};
    device_queue *q = d->open_queue(d, NULL, NULL);
    if (k && mem[0] && mem[1] && q) {
        k_error error;
        bool timed = !f->fake->stays && d->time_queue(d, q); /* it may refuse */
        bool good = d->copy(d, q, DEVICE_UPLOAD, mem[0], x, 0, sizeof(x)) &&
                    d->enqueue(d, q, k, mem, NULL, 0, ELEMENTS / PIECE, false, NULL) &&
                    d->copy(d, q, DEVICE_DOWNLOAD, y, mem[1], 0, sizeof(y));
        r.state = d->finish(d, q, &error, &f->a, &r.why);
        assert_true(good || r.state != DEVICE_FINE);
        assert_int_equal(error.site, 0);
        r.done = r.state == DEVICE_FINE;
        assert_true(!r.done || d->took(d, q) == (timed ? FAKE_OPENCL_LAUNCH_NS : 0));
    }
    for (int i = 0; r.done && i < ELEMENTS; i++)
        assert_int_equal(y[i], 3 * i + 1);
    d->close_queue(d, q);
    d->release(d, mem[0], sizeof(x));
    d->release(d, mem[1], sizeof(y));
    device_release_kernel(d, k);
    d->close(d);
    return r;
}

/* Every call fails once: alone, and with all that follow. */
static void every_call(void **state)
{
    fixture *f = *state;
    runs r = {f, {0}};
    f->fake->run = add_one;
    f->fake->env = &r;
    for (int stays = 0; stays < 2; stays++) {
        bool done = false;
        for (long n = 1; !done; n++) {
            const char *why = NULL;
            f->fake->calls = 0;
            f->fake->stays = stays;
            f->fake->fail_at = n;
            f->fake->error = n % 2 ? -5 : -4;
            f->fake->failed[0] = 0;
            result life = whole_life(f, &why);
            assert_int_equal(f->fake->objects, 0);
            done = !f->fake->failed[0];
            if (done)
                assert_true(life.done && n > 10);
            else if (life.why) {
                contains(life.why, f->fake->failed);
                assert_int_equal(life.state, n % 2 ? DEVICE_BROKEN : DEVICE_OUT_OF_MEMORY);
            }
            arena_free(&f->a);
        }
    }
    f->fake->fail_at = 0;
    const char *why = NULL;
    assert_true(whole_life(f, &why).done);
}

/* The first launch with an error counts, whatever those behind it report; more launches than there are records. */
static void errors(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    runs r = {f, {0}};
    f->fake->run = add_one;
    f->fake->env = &r;
    device *d = opened(f, NULL);
    device_kernel *k = device_compile(d, checking_kernel(&f->a, 5, PIECE), &f->a, &why);
    void *mem[] = {d->alloc(d, ELEMENTS * 4), d->alloc(d, ELEMENTS * 4)};
    device_queue *q = d->open_queue(d, NULL, NULL);
    k_error error;
    for (int failing = 0; failing < 100; failing += 33) {
        for (int i = 0; i < 100; i++) {
            r.error = i < failing ? (k_error){0}
                                  : (k_error){.site = (uint32_t)(200 - i), .element = i, .value = -1, .bound = 7};
            assert_true(d->enqueue(d, q, k, mem, NULL, 0, 1, false, NULL));
        }
        assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
        assert_int_equal(error.site, 200 - failing);
        assert_int_equal(error.element, failing);
        assert_int_equal(error.value, -1);
        assert_int_equal(error.bound, 7);
    }
    r.error = (k_error){0};
    assert_true(d->enqueue(d, q, k, mem, NULL, 0, 1, false, NULL));
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
    assert_int_equal(error.site, 0);
    d->close_queue(d, q);
    d->release(d, mem[0], ELEMENTS * 4);
    d->release(d, mem[1], ELEMENTS * 4);
    device_release_kernel(d, k);
    d->close(d);
}

/* Of the last launch; the next call that gets the queue asks for itself. */
static void launches_are_timed(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    runs r = {f, {0}};
    f->fake->run = add_one;
    f->fake->env = &r;
    device *d = opened(f, NULL);
    device_kernel *k = device_compile(d, checking_kernel(&f->a, 5, PIECE), &f->a, &why);
    void *mem[] = {d->alloc(d, ELEMENTS * 4), d->alloc(d, ELEMENTS * 4)};
    k_error error;
    for (int turn = 0; turn < 4; turn++) {
        device_queue *q = d->open_queue(d, NULL, NULL);
        if (turn != 1)
            assert_true(d->time_queue(d, q));
        assert_int_equal(d->took(d, q), 0);
        assert_true(d->enqueue(d, q, k, mem, NULL, 0, 1, false, NULL) &&
                    d->enqueue(d, q, k, mem, NULL, 0, 1, false, NULL));
        assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_FINE);
        assert_int_equal(d->took(d, q), turn == 1 ? 0 : FAKE_OPENCL_LAUNCH_NS);
        d->close_queue(d, q);
    }
    d->release(d, mem[0], ELEMENTS * 4);
    d->release(d, mem[1], ELEMENTS * 4);
    device_release_kernel(d, k);
    d->close(d);
    assert_int_equal(f->fake->objects, 0);
}

/* A queue that failed is not used again, others are. */
static void one_queue_fails(void **state)
{
    fixture *f = *state;
    const char *why = NULL;
    char byte = 0;
    device *d = opened(f, NULL);
    void *m = d->alloc(d, 64);
    device_queue *q = d->open_queue(d, NULL, NULL), *other = d->open_queue(d, NULL, NULL);
    k_error error;
    f->fake->fail_at = f->fake->calls + 1;
    f->fake->error = -36;
    assert_false(d->copy(d, q, DEVICE_UPLOAD, m, &byte, 0, 1));
    assert_false(d->copy(d, q, DEVICE_UPLOAD, m, &byte, 0, 1));
    assert_int_equal(d->finish(d, q, &error, &f->a, &why), DEVICE_BROKEN);
    contains(why, "clEnqueueWriteBuffer: CL_INVALID_COMMAND_QUEUE");
    assert_true(d->copy(d, other, DEVICE_UPLOAD, m, &byte, 63, 1));
    assert_int_equal(d->finish(d, other, &error, &f->a, &why), DEVICE_FINE);
    d->close_queue(d, q);
    d->close_queue(d, other);
    long before = f->fake->objects;
    q = d->open_queue(d, NULL, NULL);
    assert_ptr_equal(q, other); /* kept for the next call */
    assert_int_equal(f->fake->objects, before);
    d->close_queue(d, q);
    d->release(d, m, 64);
    d->close(d);
}

static void memory_ends(void **state)
{
    fixture *f = *state;
    device *d = opened(f, &(device_options){.most_memory = 1000});
    void *a = d->alloc(d, 600), *b = d->alloc(d, 600);
    assert_non_null(a);
    assert_null(b);
    assert_null(d->alloc(d, SIZE_MAX));
    b = d->alloc(d, 400);
    assert_non_null(b);
    d->release(d, a, 600);
    d->release(d, b, 400);
    a = d->alloc(d, 1000);
    assert_non_null(a);
    d->release(d, a, 1000);
    d->close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_loader, setup, teardown),
        cmocka_unit_test_setup_teardown(no_platform, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_platform, setup, teardown),
        cmocka_unit_test_setup_teardown(unusable, setup, teardown),
        cmocka_unit_test_setup_teardown(gpus_only, setup, teardown),
        cmocka_unit_test_setup_teardown(limits, setup, teardown),
        cmocka_unit_test_setup_teardown(rejected_source, setup, teardown),
        cmocka_unit_test_setup_teardown(too_much, setup, teardown),
        cmocka_unit_test_setup_teardown(registers, setup, teardown),
        cmocka_unit_test_setup_teardown(barriers_in_branches, setup, teardown),
        cmocka_unit_test_setup_teardown(explained, setup, teardown),
        cmocka_unit_test_setup_teardown(on_disk, setup, teardown),
        cmocka_unit_test_setup_teardown(every_call, setup, teardown),
        cmocka_unit_test_setup_teardown(errors, setup, teardown),
        cmocka_unit_test_setup_teardown(one_queue_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(launches_are_timed, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_ends, setup, teardown),
    };
    return cmocka_run_group_tests_name("opencl driver", tests, NULL, NULL);
}
