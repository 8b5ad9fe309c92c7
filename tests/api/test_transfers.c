/* What a call on a device with memory of its own copies, and what it says when the device refuses something: on a
 * library that stands in for OpenCL's, counts, and fails when it is told to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sinter/sinter.h>

#include "fake_opencl/control.h"

enum { N = 5000 };

static fake_opencl_control *fake;

typedef struct {
    sn_context *cx;
    long uploads, downloads, copies, launches;
    char last[1024];
} fixture;

static void hear(void *env, const char *said)
{
    snprintf(((fixture *)env)->last, sizeof(((fixture *)env)->last), "%s", said);
}

static sn_options options_for(fixture *f, const char *device)
{
    return (sn_options){.size = sizeof(sn_options), .device = device, .env = f, .message = hear};
}

static int setup(void **state)
{
    fixture *f = test_calloc(1, sizeof(*f));
    void *library = dlopen(SN_TEST_FAKE_OPENCL, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    fake = dlsym(library, "fake_opencl");
    *fake = (fake_opencl_control){0};
    setenv("SINTER_OPENCL", SN_TEST_FAKE_OPENCL, 1);
    setenv("SINTER_CACHE", "off", 1);
    unsetenv("SINTER_DEVICE");
    sn_options o = options_for(f, "opencl");
    f->cx = sn_open(&o);
    if (!f->cx)
        fail_msg("%s", f->last);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    sn_close(f->cx);
    assert_int_equal(fake->objects, 0);
    test_free(f);
    return 0;
}

static void contains(const char *message, const char *part)
{
    if (!strstr(message, part))
        fail_msg("\"%s\" is not in \"%s\"", part, message);
}

/* What has been copied and launched since the last look. */
static void since(fixture *f, long uploads, long downloads, long copies, long launches)
{
    assert_int_equal(fake->uploads - f->uploads, uploads);
    assert_int_equal(fake->downloads - f->downloads, downloads);
    assert_int_equal(fake->copies - f->copies, copies);
    assert_int_equal(fake->launches - f->launches, launches);
    f->uploads = fake->uploads;
    f->downloads = fake->downloads;
    f->copies = fake->copies;
    f->launches = fake->launches;
}

static sn_scalar twice(sn_scalar x)
{
    return sn_mul(x, 2);
}

static sn_acc doubled(sn_acc a)
{
    return sn_map(twice, a);
}

static sn_acc both_sums(sn_acc a)
{
    return sn_results(sn_force(sn_map(twice, a)), a);
}

static sn_acc gathered(sn_acc index, sn_acc a)
{
    return sn_gather(index, a);
}

static sn_acc from_seed(sn_acc seed, sn_acc a)
{
    return sn_fold(sn_add, sn_the(seed), a);
}

static sn_program *compiled(fixture *f, const char *signature, sn_body body)
{
    sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, f->cx, signature, body);
    if (!p)
        fail_msg("%s", sn_message(f->cx));
    return p;
}

static uint64_t number(const char *json, const char *key)
{
    const char *at = strstr(json, key);
    if (!at)
        fail_msg("no %s in %s", key, json);
    return strtoull(at + strlen(key), NULL, 10);
}

/* A profile's launches are timed by the device, its copies are those of the calls, and a device without f64 is
 * measured, too. */
static void profiles_are_the_devices(void **state)
{
    fixture *f = *state;
    sn_close(f->cx);
    fake->no_f64 = true;
    sn_options o = options_for(f, "opencl");
    f->cx = sn_open(&o);
    assert_non_null(f->cx);
    float x[N] = {0}, y[N];
    sn_program *p = compiled(f, "[n]f32 -> [n]f32", SN_BODY(doubled));
    sn_profile(p, true);
    f->uploads = fake->uploads, f->downloads = fake->downloads, f->copies = fake->copies, f->launches = fake->launches;
    for (int i = 0; i < 3; i++)
        assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    since(f, 3, 3, 0, 3);
    const char *json = sn_explain(p, "profile-json");
    assert_int_equal(number(json, "\"launches\": "), 3);
    assert_int_equal(number(json, "\"launches\": 3, \"total_ns\": "), 3 * FAKE_OPENCL_LAUNCH_NS);
    assert_int_equal(number(json, "\"bytes_read\": "), 4 * N);
    assert_int_equal(number(json, "\"step\": \"upload\", \"count\": "), 3);
    assert_true(number(json, "\"f32\": ") > 0);
    assert_int_equal(number(json, "\"f32\": "), number(json, "\"f64\": "));
    contains(sn_explain(p, "profile"), "kernels' times are the device's");
    sn_drop(p);
}

/* ... and by the host where the device does not; what fails is said as ever. */
static void profiles_without_times(void **state)
{
    fixture *f = *state;
    float x[N] = {0}, y[N];
    sn_program *p = compiled(f, "[n]f32 -> [n]f32", SN_BODY(doubled));
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    sn_profile(p, true);
    fake->fail_at = fake->calls + 1; /* another queue, which notes times, cannot be made */
    fake->error = -6;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    contains(fake->failed, "clCreateCommandQueue");
    contains(sn_explain(p, "profile"), "kernels' times are the host's");
    for (long n = 1; n < 8; n++) { /* whatever it refuses then */
        fake->failed[0] = 0;
        fake->fail_at = fake->calls + n;
        fake->error = -5;
        sn_status status = sn_call(p, sn_in(x, N), sn_into(y, N));
        bool refused = fake->failed[0] && strcmp(fake->failed, "clCreateCommandQueue") != 0;
        assert_true(status == (refused ? SN_DEVICE_FAILED : SN_OK));
    }
    fake->fail_at = 0;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    sn_drop(p);
}

static void arrays_stay(void **state)
{
    fixture *f = *state;
    static float a[N], b[N];
    sn_array *x, *y = NULL, *z = NULL;
    sn_program *p = compiled(f, "[n]f32 -> [n]f32", SN_BODY(doubled));
    assert_int_equal(sn_call(p, sn_in(a, N), sn_into(b, N)), SN_OK);
    since(f, 1, 1, 0, 1);
    x = sn_upload(f->cx, sn_in(a, N));
    assert_non_null(x);
    since(f, 1, 0, 0, 0);
    assert_int_equal(sn_call(p, sn_held(x), sn_keep(&y)), SN_OK);
    assert_int_equal(sn_call(p, sn_held(y), sn_keep(&z)), SN_OK);
    since(f, 0, 0, 0, 2);
    assert_int_equal(sn_read(z, b, sizeof(b)), SN_OK);
    since(f, 0, 1, 0, 0);
    assert_int_equal(sn_call(p, sn_give(z), sn_into(b, N)), SN_OK);
    since(f, 0, 1, 0, 1);
    sn_free(x);
    sn_free(y);
    /* small arrays are there on the host, too: to the device when first needed, and never back */
    float four[4] = {1, 2, 3, 4}, back[4] = {0};
    x = sn_upload(f->cx, sn_in(four, 4));
    since(f, 0, 0, 0, 0);
    assert_int_equal(sn_read(x, back, sizeof(back)), SN_OK);
    assert_memory_equal(four, back, sizeof(four));
    since(f, 0, 0, 0, 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sn_call(p, sn_held(x), sn_into(back, 4)), SN_OK);
    since(f, 1, 3, 0, 3);
    sn_free(x);
    sn_drop(p);
}

/* A result that is a parameter: from block to block, or on the host alone. */
static void parameters_returned(void **state)
{
    fixture *f = *state;
    static float a[N], b[N];
    sn_array *x = sn_upload(f->cx, sn_in(a, N)), *y = NULL, *z = NULL;
    since(f, 1, 0, 0, 0);
    sn_program *p = compiled(f, "[n]f32 -> [n]f32, [n]f32", SN_BODY(both_sums));
    assert_int_equal(sn_call(p, sn_held(x), sn_keep(&y), sn_keep(&z)), SN_OK);
    since(f, 0, 0, 1, 1);
    sn_free(y);
    sn_free(z);
    a[7] = 3;
    assert_int_equal(sn_call(p, sn_in(a, N), sn_keep(&y), sn_into(b, N)), SN_OK);
    since(f, 1, 0, 0, 1);
    assert_memory_equal(a, b, sizeof(a));
    sn_free(y);
    sn_free(x);
    sn_drop(p);
}

/* Scalars that the host needs: from host memory if they are there, else single elements come back. */
static void seeds(void **state)
{
    fixture *f = *state;
    static float a[20];
    float seed = 3, r;
    sn_array *kept = NULL, *s = NULL;
    sn_program *p = compiled(f, "f32, [n]f32 -> f32", SN_BODY(from_seed)),
               *q = compiled(f, "f32 -> f32", SN_BODY(doubled));
    assert_int_equal(sn_call(p, sn_value(&seed), sn_in(a, 20), sn_value(&r)), SN_OK);
    since(f, 1, 1, 0, 1);
    assert_int_equal(sn_call(q, sn_value(&seed), sn_keep(&s)), SN_OK);
    since(f, 1, 0, 0, 1);
    assert_int_equal(sn_call(p, sn_held(s), sn_in(a, 20), sn_keep(&kept)), SN_OK);
    since(f, 1, 1, 0, 1);
    sn_free(kept);
    sn_free(s);
    sn_drop(p);
    sn_drop(q);
}

/* --- refusals --- */

static void works_again(fixture *f, sn_program *p)
{
    static float a[N], b[N];
    sn_status status = sn_call(p, sn_in(a, N), sn_into(b, N));
    if (status != SN_OK)
        fail_msg("%s", sn_message(f->cx));
}

static void every_call(void **state)
{
    fixture *f = *state;
    static float a[N], b[N];
    sn_program *p = compiled(f, "[n]f32 -> [n]f32", SN_BODY(doubled));
    works_again(f, p);
    bool memory = false, failed = false;
    for (long n = 1;; n++) {
        sn_array *y = NULL;
        fake->failed[0] = 0;
        fake->calls = 0;
        fake->fail_at = n;
        fake->error = n % 2 ? -36 : -4;
        sn_status status = sn_call(p, sn_in(a, N), sn_keep(&y));
        if (status == SN_OK)
            status = sn_read(y, b, sizeof(b));
        sn_free(y);
        if (!fake->failed[0]) {
            assert_int_equal(status, SN_OK);
            break;
        }
        fake->fail_at = 0;
        memory |= status == SN_NO_MEMORY;
        failed |= status == SN_DEVICE_FAILED;
        if (status != SN_NO_MEMORY && status != SN_DEVICE_FAILED)
            fail_msg("%s failed: %s", fake->failed, sn_status_name(status));
        contains(sn_message(f->cx), strcmp(fake->failed, "clCreateCommandQueue") ? "fake device" : "takes no work");
        works_again(f, p);
    }
    assert_true(memory && failed);
    sn_drop(p);
}

/* From some call on nothing of the device works any more: its calls fail one by one, and other devices go on. */
static void a_lost_device(void **state)
{
    fixture *f = *state;
    static float a[N], b[N];
    sn_options o = options_for(f, "cpu");
    sn_context *other = sn_open(&o);
    o.device = "interpreter"; /* where there is no code generator */
    other = other ? other : sn_open(&o);
    sn_program *p = compiled(f, "[n]f32 -> [n]f32", SN_BODY(doubled));
    sn_program *q = sn_compile(other, "[n]f32 -> [n]f32", doubled);
    works_again(f, p);
    fake->calls = 0;
    fake->error = -36;
    fake->fail_at = 3;
    fake->stays = true;
    a[1] = 3;
    for (int turn = 0; turn < 3; turn++) {
        assert_int_equal(sn_call(p, sn_in(a, N), sn_into(b, N)), SN_DEVICE_FAILED);
        assert_int_equal(sn_call(q, sn_in(a, N), sn_into(b, N)), SN_OK);
        assert_true(b[1] == 6);
    }
    assert_null(sn_upload(f->cx, sn_in(a, N)));
    fake->stays = false;
    fake->fail_at = 0;
    works_again(f, p);
    sn_drop(p);
    sn_drop(q);
    sn_close(other);
}

static void rejected(void **state)
{
    fixture *f = *state;
    static float a[N], b[N];
    char kept[512] = "";
    sn_program *p = compiled(f, "[n]f32 -> [n]f32", SN_BODY(doubled));
    fake->reject = true;
    assert_int_equal(sn_call(p, sn_in(a, N), sn_into(b, N)), SN_UNSUPPORTED);
    contains(sn_message(f->cx), "line 7: this compiler likes nothing");
    const char *at = strstr(sn_message(f->cx), "its source is in ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, "its source is in %511[^;];", kept), 1);
    assert_int_equal(unlink(kept), 0);
    /* other devices go on */
    sn_options o = options_for(f, "interpreter");
    sn_context *other = sn_open(&o);
    sn_program *q = sn_compile(other, "[n]f32 -> [n]f32", doubled);
    a[0] = 4;
    assert_int_equal(sn_call(q, sn_in(a, N), sn_into(b, N)), SN_OK);
    assert_true(b[0] == 8);
    sn_drop(q);
    sn_close(other);
    fake->reject = false;
    works_again(f, p);
    sn_drop(p);
}

static void memory_ends(void **state)
{
    fixture *f = *state;
    fake->memory = 100000;
    sn_options o = options_for(f, "opencl");
    sn_context *small = sn_open(&o);
    static float a[20000], b[20000];
    sn_program *p = sn_compile(small, "[n]f32 -> [n]f32", doubled);
    assert_int_equal(sn_call(p, sn_in(a, 20000), sn_into(b, 20000)), SN_NO_MEMORY);
    contains(sn_message(small), "80000 bytes");
    contains(sn_message(small), "100000");
    sn_array *half = sn_upload(small, sn_in(a, 15000));
    assert_non_null(half);
    assert_null(sn_upload(small, sn_in(a, 15000)));
    contains(sn_message(small), "60000 bytes");
    sn_free(half);
    /* what the pool keeps makes room: sizes change from call to call */
    for (int64_t n = 1000; n < 11000; n += 700)
        if (sn_call(p, sn_in(a, n), sn_into(b, n)) != SN_OK)
            fail_msg("%lld elements: %s", (long long)n, sn_message(small));
    sn_drop(p);
    sn_close(small);
    fake->memory = 0;
}

/* --- arrays that die during a call: queued work still uses them, so they are set aside, for arrays of the same size or
 * until the work is done --- */

enum { STEPS = 70 }; /* of sizes that differ: more than can be set aside */

static sn_acc shrinking(sn_acc a)
{
    for (int i = 0; i < STEPS; i++)
        a = sn_force(sn_map(twice, sn_take(sn_quot(sn_mul(sn_extent(a, 0), 7), 8), a)));
    return a;
}

static sn_acc steady(sn_acc a)
{
    for (int i = 0; i < STEPS; i++)
        a = sn_force(sn_map(twice, sn_rotate(1, a)));
    return a;
}

static void dead_arrays_are_used_again(void **state)
{
    enum { LONG = 1000000 };
    fixture *f = *state;
    static float a[LONG], b[LONG];
    int64_t m = LONG;
    for (int i = 0; i < STEPS; i++)
        m = m * 7 / 8;
    sn_program *p = compiled(f, "[n]f32 -> [n]f32", SN_BODY(steady)),
               *q = compiled(f, "[n]f32 -> [m]f32", SN_BODY(shrinking));
    assert_int_equal(sn_call(p, sn_in(a, N), sn_into(b, N)), SN_OK);
    assert_true(sn_counts(f->cx).allocations <= 4); /* the argument, two in turn, the result */
    for (int turn = 0; turn < 3; turn++) {
        sn_counters before = sn_counts(f->cx);
        assert_int_equal(sn_call(p, sn_in(a, N), sn_into(b, N)), SN_OK);
        assert_int_equal(sn_counts(f->cx).allocations, before.allocations);
    }
    for (int turn = 0; turn < 4; turn++) {
        sn_counters before = sn_counts(f->cx);
        assert_int_equal(sn_call(q, sn_in(a, LONG), sn_into(b, m)), SN_OK);
        if (turn > 0)
            assert_int_equal(sn_counts(f->cx).allocations, before.allocations);
    }
    sn_drop(p);
    sn_drop(q);
    /* where there is no room for all of them, the dead make it */
    fake->memory = 5 * sizeof(a);
    sn_options o = options_for(f, "opencl");
    sn_context *small = sn_open(&o);
    q = sn_compile(small, "[n]f32 -> [m]f32", shrinking);
    for (int turn = 0; turn < 3; turn++)
        if (sn_call(q, sn_in(a, LONG), sn_into(b, m)) != SN_OK)
            fail_msg("%s", sn_message(small));
    sn_drop(q);
    sn_close(small);
    fake->memory = 0;
}

static void wrong_devices(void **state)
{
    fixture *f = *state;
    sn_options o = options_for(f, "opencl:1");
    assert_null(sn_open(&o));
    contains(f->last, "the device \"opencl:1\" cannot be used: there is no OpenCL device number 1");
    o.device = "opencl:x";
    assert_null(sn_open(&o));
    contains(f->last, "there is no device \"opencl:x\"");
    contains(f->last, "\"cuda\"");
    fake->no_platform = true;
    o.device = "opencl";
    assert_null(sn_open(&o));
    contains(f->last, "there is no OpenCL platform");
    o.device = "interpreter";
    setenv("SINTER_DEVICE", "opencl", 1); /* the reference is always to be had, */
    sn_context *cx = sn_open(&o);
    assert_non_null(cx);
    sn_close(cx);
    o.device = "cpu";
    assert_null(sn_open(&o)); /* and else the variable wins */
    unsetenv("SINTER_DEVICE");
    fake->no_platform = false;
}

/* The best is a GPU, if there is one, and never a CPU behind OpenCL. */
static void best(void **state)
{
    fixture *f = *state;
    sn_options o = options_for(f, "auto");
    static float a[N], b[N];
    for (int gpu = 0; gpu < 2; gpu++) {
        fake->gpu = gpu;
        sn_context *cx = sn_open(&o);
        assert_non_null(cx);
        long before = fake->launches;
        sn_program *p = sn_compile(cx, "[n]f32 -> [n]f32", doubled);
        assert_int_equal(sn_call(p, sn_in(a, N), sn_into(b, N)), SN_OK);
        assert_int_equal(fake->launches - before, gpu);
        sn_drop(p);
        sn_close(cx);
    }
}

static void shown(void **state)
{
    fixture *f = *state;
    sn_program *p = compiled(f, "[n]i32, [m]f32 -> [n]f32", SN_BODY(gathered));
    const char *text = sn_explain(p, "opencl");
    assert_non_null(text);
    contains(text, "__kernel");
    assert_null(sn_explain(p, "asm"));
    contains(sn_message(f->cx), "\"asm\" is for contexts on the device \"cpu\", but this one's is \"opencl\"");
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(arrays_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(parameters_returned, setup, teardown),
        cmocka_unit_test_setup_teardown(seeds, setup, teardown),
        cmocka_unit_test_setup_teardown(every_call, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lost_device, setup, teardown),
        cmocka_unit_test_setup_teardown(rejected, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(dead_arrays_are_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_devices, setup, teardown),
        cmocka_unit_test_setup_teardown(best, setup, teardown),
        cmocka_unit_test_setup_teardown(shown, setup, teardown),
        cmocka_unit_test_setup_teardown(profiles_are_the_devices, setup, teardown),
        cmocka_unit_test_setup_teardown(profiles_without_times, setup, teardown),
    };
    return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
