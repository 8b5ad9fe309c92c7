/* Without the code generator: kernels that are on disk run, programs that need others are interpreted, and that is said once. */
#include <sinter/sinter.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 1000 };

typedef struct heard {
    int times;
    char last[400];
} heard;

static void hear(void *env, const char *said)
{
    heard *h = env;
    h->times++;
    snprintf(h->last, sizeof(h->last), "%s", said);
}

static sn_context *open_context(heard *h)
{
    sn_options o = {.size = sizeof(o), .env = h, .message = hear};
    *h = (heard){0};
    sn_context *cx = sn_open(&o);
    assert_non_null(cx);
    return cx;
}

static sn_scalar squared_and_one(sn_scalar x)
{
    return sn_add(sn_mul(x, x), 1);
}

static sn_acc squares(sn_acc xs)
{
    return sn_map(squared_and_one, xs);
}

static sn_acc sum(sn_acc xs)
{
    return sn_sum(xs);
}

static sn_acc quotients(sn_acc xs, sn_acc ys)
{
    return sn_zip_with(sn_div, xs, ys);
}

static void call_squares(sn_program *p)
{
    int64_t x[N], y[N] = {0};
    for (int64_t i = 0; i < N; i++)
        x[i] = i - 10;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_into(y, N)), SN_OK);
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(y[i], x[i] * x[i] + 1);
}

static void keep_squares(sn_program *p)
{
    int64_t x[N], y[N] = {0};
    sn_array *kept = NULL;
    for (int64_t i = 0; i < N; i++)
        x[i] = i;
    assert_int_equal(sn_call(p, sn_in(x, N), sn_keep(&kept)), SN_OK);
    assert_non_null(kept);
    assert_int_equal(sn_array_extent(kept, 0), N);
    assert_int_equal(sn_read(kept, y, sizeof(y)), SN_OK);
    assert_int_equal(y[N - 1], (N - 1) * (N - 1) + 1);
    sn_array *again = NULL; /* given away, to a program that is interpreted */
    assert_int_equal(sn_call(p, sn_give(kept), sn_keep(&again)), SN_OK);
    assert_int_equal(sn_read(again, y, sizeof(y)), SN_OK);
    assert_int_equal(y[2], 26);
    sn_free(again);
}

static void fills_the_folder(void)
{
    heard h;
    sn_context *cx = open_context(&h);
    sn_program *p = sn_compile(cx, "[n]i64 -> [n]i64", squares);
    assert_non_null(p);
    call_squares(p);
    sn_drop(p);
    sn_close(cx);
    assert_int_equal(h.times, 0);
}

static void runs_what_is_on_disk(void **state)
{
    (void)state;
    heard h;
    fills_the_folder();
    setenv("SINTER_CODEGEN", "/nonexistent/libsinter-llvm.so", 1);
    sn_context *cx = open_context(&h);
    sn_program *p = sn_compile(cx, "[n]i64 -> [n]i64", squares);
    assert_non_null(p);
    call_squares(p);
    assert_int_equal(h.times, 0);

    int64_t x[N], total = 0;
    for (int64_t i = 0; i < N; i++)
        x[i] = i;
    sn_program *s = sn_compile(cx, "[n]i64 -> i64", sum);
    assert_int_equal(sn_call(s, sn_in(x, N), sn_value(&total)), SN_OK);
    assert_int_equal(total, N * (N - 1) / 2);
    assert_int_equal(h.times, 1);
    assert_non_null(strstr(h.last, "interpreted"));
    assert_non_null(strstr(h.last, "/nonexistent/"));
    sn_drop(s);
    sn_drop(p);
    sn_close(cx);
    unsetenv("SINTER_CODEGEN");
}

static void interprets_with_one_warning(void **state)
{
    (void)state;
    heard h;
    setenv("SINTER_CODEGEN", "/nonexistent/libsinter-llvm.so", 1);
    sn_context *cx = open_context(&h);
    sn_program *p = sn_compile(cx, "[n]i64 -> [n]i64", squares), *q = sn_compile(cx, "[n]i64, [n]i64 -> [n]i64", quotients);
    assert_non_null(p);
    assert_non_null(q);
    int64_t x[N], y[N];
    for (int64_t i = 0; i < N; i++) {
        x[i] = 6 * i;
        y[i] = 3;
    }
    assert_int_equal(sn_call(q, sn_in(x, N), sn_in(y, N), sn_into(x, N)), SN_BAD_ARGUMENT); /* overlapping: as ever */
    int before = h.times;
    int64_t z[N];
    assert_int_equal(sn_call(q, sn_in(x, N), sn_in(y, N), sn_into(z, N)), SN_OK);
    assert_int_equal(z[N - 1], 2 * (N - 1));
    assert_int_equal(h.times, before + 1);
    assert_non_null(strstr(h.last, "interpreted"));
    keep_squares(p);
    call_squares(p);
    assert_int_equal(h.times, before + 1); /* said once */
    y[7] = 0;
    assert_int_equal(sn_call(q, sn_in(x, N), sn_in(y, N), sn_into(z, N)), SN_DIVISION); /* errors are errors still */
    assert_int_equal(h.times, before + 2);
    assert_int_equal(sn_call(q, sn_in(x, N), sn_in(y, N - 1), sn_into(z, N)), SN_BAD_EXTENT);
    sn_drop(q);
    sn_drop(p);
    sn_close(cx);
    unsetenv("SINTER_CODEGEN");
}

/* Nothing on disk and nothing that compiles: known when the context opens. */
static void says_so_at_once_without_a_cache(void **state)
{
    (void)state;
    heard h;
    setenv("SINTER_CODEGEN", "/nonexistent/libsinter-llvm.so", 1);
    setenv("SINTER_CACHE", "off", 1);
    sn_context *cx = open_context(&h);
    assert_int_equal(h.times, 1);
    assert_non_null(strstr(h.last, "interpreted"));
    sn_program *p = sn_compile(cx, "[n]i64 -> [n]i64", squares);
    assert_non_null(p);
    call_squares(p);
    assert_int_equal(h.times, 1);
    sn_drop(p);
    sn_close(cx);
    unsetenv("SINTER_CODEGEN");
    unsetenv("SINTER_CACHE");
}

static char folder[2048];

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("SINTER_TEST_DIR");
    snprintf(folder, sizeof(folder), "%s/no-codegen-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    return setenv("SINTER_CACHE_DIR", folder, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[4096];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(runs_what_is_on_disk, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(interprets_with_one_warning, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(says_so_at_once_without_a_cache, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
