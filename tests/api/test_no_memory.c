/* Memory that runs out at any point of compiling, calling and explaining is a status, leaks nothing, and leaves the
 * context usable. */
#include "both.h"
#include "support/place.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct failing { /* allocations fail from a certain one on, or only that one */
    int64_t left;
    bool once;
    bool failed;
    int64_t held; /* blocks */
} failing;

static void *failing_alloc(void *env, size_t bytes)
{
    failing *f = env;
    int64_t left = __atomic_fetch_sub(&f->left, 1, __ATOMIC_RELAXED);
    if (f->once ? left == 0 : left <= 0) {
        f->failed = true;
        return NULL;
    }
    void *block = malloc(bytes);
    if (block)
        __atomic_fetch_add(&f->held, 1, __ATOMIC_RELAXED);
    return block;
}

static void failing_release(void *env, void *block)
{
    failing *f = env;
    if (block)
        __atomic_fetch_sub(&f->held, 1, __ATOMIC_RELAXED);
    free(block);
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar element_of(void *env, sn_scalar i)
{
    const sn_acc *a = env;
    return sn_index(*a, sn_sub(sn_sub(sn_extent(*a, 0), i), 1));
}

/* two clusters, partial results, a buffer, a result that stays */
static sn_acc program(sn_acc x, sn_acc y)
{
    sn_acc squares = sn_force(sn_map(square, x));
    sn_acc turned = sn_generate(sn_extent(x, 0), sn_closure(element_of, &squares));
    return sn_results(sn_fold(sn_add, 0, sn_zip_with(sn_mul, turned, y)), turned);
}

enum { N = 70000 };

static float numbers[N];

/* What failed has one place in the user's code, if there was memory to say so. */
static void placed(const sn_context *cx)
{
    const char *message = sn_message(cx);
    if (*message && !message_is_placed(message, "test_no_memory.c"))
        fail_msg("not one place in \"%s\"", message);
}

static void *call(void *program)
{
    float r = 0;
    static float result[N];
    sn_call((sn_program *)program, sn_in(numbers, N), sn_in(numbers, N), sn_value(&r), sn_into(result, N));
    return NULL;
}

/* What failed holds no lock: another thread's call ends, too, well or not. */
static void call_elsewhere(sn_program *p)
{
    pthread_t thread;
    alarm(60);
    assert_int_equal(pthread_create(&thread, NULL, call, p), 0);
    pthread_join(thread, NULL);
    alarm(0);
}

/* GPUs' queues and pools stay for later. */
static bool keeps(const sn_context *cx)
{
    return cx->engine.device && cx->engine.device->limits->group;
}

/* Everything a user may do; the status of the first thing that fails. */
static sn_status use(sn_context *cx)
{
    float r = 0;
    sn_array *kept = NULL;
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> f32, [n]f32", program);
    if (!p) {
        placed(cx);
        return SN_NO_MEMORY;
    }
    sn_profile(p, true); /* devices with drivers keep what a recorded call launched */
    sn_array *x = sn_upload(cx, sn_in(numbers, N));
    sn_status status = x ? SN_OK : SN_NO_MEMORY;
    if (status == SN_OK) {
        status = sn_call(p, sn_held(x), sn_in(numbers, N), sn_value(&r), sn_keep(&kept));
        if (status != SN_OK) {
            placed(cx);
            if (!keeps(cx)) /* a queue for each thread */
                call_elsewhere(p);
        }
    }
    if (status == SN_OK && !sn_explain(p, "fused"))
        status = SN_NO_MEMORY;
    if (status == SN_OK && cx->engine.device && !sn_explain(p, "kernels"))
        status = SN_NO_MEMORY;
    if (status == SN_OK)
        assert_true(r == N);
    sn_free(kept);
    sn_free(x);
    sn_drop(p);
    return status;
}

static void run_out(sn_context *cx, bool once)
{
    base_heap usual = cx->heap;
    for (int i = 0; i < N; i++)
        numbers[i] = 1;
    assert_int_equal(use(cx), SN_OK); /* kernels are compiled: what follows does not wait for them */
    failing f = {0};
    int64_t refused = 0, all = 0;
    for (int64_t after = 0;; after++) {
        f = (failing){.left = after, .once = once};
        cx->heap = (base_heap){failing_alloc, failing_release, &f};
        sn_status status = use(cx);
        bool failed = f.failed;
        cx->heap = usual;
        all += f.held;
        assert_true(f.held == 0 || (failed && f.held <= 2) /* the message */ ||
                    (keeps(cx) && f.held >= -2 && f.held <= 2));
        if (!failed) {
            assert_int_equal(status, SN_OK);
            break;
        }
        refused += status != SN_OK;
        assert_true(status == SN_OK || status == SN_NO_MEMORY);
        assert_true(after < 100000);
    }
    assert_true(refused > 10);
    assert_true(all >= -4 && all <= 4); /* what one run keeps the next one gives back */
    assert_int_equal(use(cx), SN_OK);
}

static void on_the_cpu(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    run_out(both_cpu(), false);
    run_out(both_cpu(), true);
}

static void in_the_interpreter(void **state)
{
    (void)state;
    run_out(both_interpreter(), false);
    run_out(both_interpreter(), true);
}

static sn_scalar column(sn_scalar i, sn_scalar j)
{
    return sn_to_f32(sn_sub(i, j));
}

static sn_acc far_too_large(sn_acc x)
{
    sn_scalar n = sn_extent(x, 0);
    return sn_fold_all(sn_add, 0, sn_force(sn_generate(sn_shape(sn_mul(n, n), sn_mul(n, n)), column)));
}

static void arrays_larger_than_memory(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    float r;
    sn_program *p = sn_compile(both_cpu(), "[n]f32 -> f32", far_too_large);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(numbers, 4000), sn_value(&r)), SN_NO_MEMORY);  /* 2^50 bytes */
    assert_int_equal(sn_call(p, sn_in(numbers, 60000), sn_value(&r)), SN_TOO_LARGE); /* 2^63 elements and more */
    assert_int_equal(sn_call(p, sn_in(numbers, 3), sn_value(&r)), SN_OK);
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_cpu),
        cmocka_unit_test(in_the_interpreter),
        cmocka_unit_test(arrays_larger_than_memory),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
