/* Every allocation of the library fails once, and then all from a certain one on, in the life of a context from opening
 * to closing: whatever the allocation was for, the caller hears of it, nothing is leaked (the address sanitizer looks),
 * and the context does its work afterwards. The linker puts the functions below in the place of the C library's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sinter/dlpack.h"
#include "sinter/sinter.h"

/* --- allocations that fail --- */

static int64_t left = INT64_MAX; /* until one fails */
static bool all_after;           /* and all that follow it */
static bool failed;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *block, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);

static bool fails(void)
{
    int64_t n = __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
    bool now = all_after ? n <= 0 : n == 0;
    if (now)
        __atomic_store_n(&failed, true, __ATOMIC_RELAXED);
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *block, size_t bytes)
{
    return fails() ? NULL : __real_realloc(block, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, bytes);
}

static void arm(int64_t after, bool all)
{
    failed = false;
    all_after = all;
    __atomic_store_n(&left, after, __ATOMIC_RELAXED);
}

static void disarm(void)
{
    __atomic_store_n(&left, INT64_MAX, __ATOMIC_RELAXED);
    all_after = false;
}

/* --- what a program does --- */

enum { N = 70000 };

static float numbers[N];
static char file[512];
static const char *device;

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

/* two clusters, partial results, a buffer, a result that stays */
static sn_acc body(sn_acc x, sn_acc y)
{
    sn_acc squares = sn_force(sn_map(square, x));
    return sn_results(sn_fold(sn_add, 0, sn_zip_with(sn_mul, squares, y)), sn_reverse(squares));
}

static void be_quiet(void *env, const char *said)
{
    (void)env, (void)said;
}

static sn_context *open_it(void)
{
    const sn_options o = {.size = sizeof(o), .device = device, .message = be_quiet};
    return sn_open(&o);
}

static bool calls(sn_context *cx, sn_array *x, sn_program *p)
{
    float r = 0, twice[2 * N];
    int64_t n = N, apart = 2 * sizeof(float);
    sn_array *kept = NULL;
    for (int i = 0; i < 2 * N; i++)
        twice[i] = 1;
    sn_status status = sn_call(p, sn_held(x), sn_strided(twice, 1, &n, &apart), sn_value(&r), sn_keep(&kept));
    assert_true(status == SN_OK ? r == N : !kept);
    if (status == SN_OK)
        status = sn_save_npy(kept, file);
    sn_free(kept);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

static bool exchanges(sn_context *cx, sn_array *x)
{
    bool good = false;
    sn_array *loaded = sn_load_npy(cx, file);
    struct DLManagedTensorVersioned *tensor = loaded ? sn_to_dlpack(loaded) : NULL;
    sn_array *back = tensor ? sn_from_dlpack(cx, tensor) : NULL;
    if (tensor && !back) { /* a tensor that was not taken is ours: the second try is allowed to allocate */
        disarm();
        back = sn_from_dlpack(cx, tensor);
        assert_non_null(back);
    } else {
        good = back != NULL;
    }
    if (back)
        assert_int_equal(sn_bytes(back), sn_bytes(x));
    sn_free(loaded);
    sn_free(back);
    return good;
}

/* The program from its text, and its forms. */
static bool texts(sn_context *cx, sn_program *p)
{
    const char *term = sn_explain(p, "term");
    sn_program *again = term ? sn_parse_program(cx, term) : NULL;
    bool good = again && sn_explain(again, "unfused") && sn_explain(again, "json") && sn_explain(again, "dot");
    if (term && !again && *sn_message(cx) && !strstr(sn_message(cx), "no memory")) /* or none to say so */
        fail_msg("%s", sn_message(cx));
    sn_drop(again);
    return good;
}

/* loops and a choice within each other, an extent that changes, a result that stays */
static sn_scalar is_above(sn_scalar x)
{
    return sn_gt(x, 3);
}

static sn_scalar less(sn_scalar x)
{
    return sn_sub(x, 1);
}

static sn_acc some(sn_acc a)
{
    return sn_any(sn_map(is_above, a));
}

static sn_acc drop_one(sn_acc a)
{
    return sn_tail(a);
}

static sn_acc lower(sn_acc a)
{
    return sn_map(less, a);
}

static sn_acc lower_twice(sn_acc a)
{
    return sn_acond(sn_gt(sn_extent(a, 0), 5), drop_one, lower, sn_aiterate(2, lower, a));
}

static sn_acc loops_body(sn_acc a)
{
    return sn_awhile(some, lower_twice, a);
}

static bool loops(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]i32 -> [m]i32", loops_body);
    int32_t from[8] = {20, 18, 16, 14, 12, 10, 8, 6}, to[8] = {0};
    sn_array *kept = NULL;
    if (!p)
        return false;
    sn_status status = sn_call(p, sn_in(from, 8), sn_keep(&kept));
    if (status == SN_OK && (sn_bytes(kept) != 5 * sizeof *to || sn_read(kept, to, sn_bytes(kept)) != SN_OK))
        status = SN_NO_MEMORY;
    if (status == SN_OK)
        assert_true(to[0] <= 3 && to[4] == to[0] - 8);
    sn_free(kept);
    sn_drop(p);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

/* by digits, in rounds, and by a comparison */
static sn_scalar is_less(sn_scalar x, sn_scalar y)
{
    return sn_lt(x, y);
}

static sn_acc sorts_body(sn_acc a)
{
    return sn_results(sn_sort(a), sn_sort_by(is_less, sn_take(3000, a)));
}

static bool sorts(sn_context *cx)
{
    enum { MANY = 50000, SOME = 3000 };
    static uint32_t from[MANY], to[MANY], first[SOME];
    sn_program *p = sn_compile(cx, "[50000]u32 -> [50000]u32, [3000]u32", sorts_body);
    if (!p)
        return false;
    for (uint32_t i = 0; i < MANY; i++)
        from[i] = (MANY - i) * 65536;
    sn_status status = sn_call(p, sn_in(from, MANY), sn_into(to, MANY), sn_into(first, SOME));
    if (status == SN_OK)
        assert_true(to[0] == 65536 && to[MANY - 1] == MANY * 65536u && first[0] == (MANY - SOME + 1) * 65536u);
    sn_drop(p);
    if (status != SN_OK && status != SN_NO_MEMORY)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    return status == SN_OK;
}

/* False if anything failed. */
static bool live(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> f32, [n]f32", body);
    sn_array *x = p ? sn_upload(cx, sn_in(numbers, N)) : NULL;
    bool good = x && calls(cx, x, p) && exchanges(cx, x) && sn_explain(p, "fused") && sn_explain(p, "plan") &&
                (strcmp(device, "cpu") || texts(cx, p)); /* the same everywhere */
    sn_free(x);
    sn_drop(p);
    return good && loops(cx) && sorts(cx);
}

static void run_out(bool all)
{
    int64_t refused = 0;
    bool done = false;
    for (int i = 0; i < N; i++)
        numbers[i] = 1;
    sn_context *warm = open_it(); /* kernels come to the disk, the file is written */
    if (!warm)
        skip();
    assert_true(live(warm));
    sn_close(warm);
    for (int64_t after = 0; !done; after++) {
        arm(after, all);
        sn_context *cx = open_it();
        bool good = cx && live(cx);
        done = !__atomic_load_n(&failed, __ATOMIC_RELAXED);
        disarm();
        refused += !good;
        assert_true(good || !done);
        if (cx && !good && !live(cx))
            fail_msg("after allocation %lld failed, the context does not work: %s", (long long)after, sn_message(cx));
        sn_close(cx);
        assert_true(after < 100000);
    }
    assert_true(refused > 20);
}

static void on_the_cpu(void **state)
{
    (void)state;
    device = "cpu";
    run_out(false);
    run_out(true);
}

static void in_the_interpreter(void **state)
{
    (void)state;
    device = "interpreter";
    run_out(false);
    run_out(true);
}

static int name_file(void **state)
{
    const char *folder = getenv("SINTER_TEST_DIR");
    (void)state;
    snprintf(file, sizeof(file), "%.400s/every_allocation.%ld.npy", folder ? folder : "/tmp", (long)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_cpu), cmocka_unit_test(in_the_interpreter)};
    return cmocka_run_group_tests(tests, name_file, remove_file);
}
