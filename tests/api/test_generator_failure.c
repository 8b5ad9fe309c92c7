/* Memory runs out within LLVM, at one allocation after another: the call says so, later ones work or are interpreted,
 * and the process goes on. The functions below take the C library's place for all of the process, LLVM included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sinter/sinter.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define REPLACED 0 /* sanitizers have functions of their own */
#else
#define REPLACED 1
#endif

#define EVERYWHERE __attribute__((visibility("default")))

static int64_t left = INT64_MAX; /* allocations until one fails */
static bool all_after;           /* and all that follow it */

#if REPLACED
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

static bool fails(void)
{
    int64_t n = __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
    bool now = all_after ? n <= 0 : n == 0;
    if (now)
        errno = ENOMEM;
    return now;
}

EVERYWHERE void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

EVERYWHERE void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

EVERYWHERE void *realloc(void *block, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(block, bytes);
}
#endif

static sn_scalar step(sn_scalar x)
{
    return sn_add(sn_mul(x, x), 1);
}

static sn_acc steps(sn_acc xs)
{
    return sn_map(step, xs);
}

static sn_acc sums(sn_acc xs)
{
    return sn_sum(sn_map(step, xs));
}

enum { N = 4, WRONG = 1, NO_MEMORY = 2, NOT_INTERPRETED = 3 };

static void forget(void *env, const char *text)
{
    (void)env;
    (void)text;
}

static bool call_steps(sn_context *cx)
{
    const int32_t x[N] = {1, 2, 3, 4};
    int32_t y[N] = {0};
    sn_program *p = sn_compile(cx, "[n]i32 -> [n]i32", steps);
    sn_status status = sn_call(p, sn_in(x, N), sn_into(y, N));
    sn_drop(p);
    return status == SN_OK && y[3] == 17;
}

/* Runs in a process of its own, whose LLVM has not compiled anything yet or, if `warm`, a kernel. */
static int fail_at(int64_t allocation, bool all, bool warm)
{
    const sn_options options = {.size = sizeof(options), .device = "cpu", .threads = 1, .message = forget};
    const struct rlimit none = {0, 0};
    const int64_t x[N] = {1, 2, 3, 4};
    int64_t y = 0;
    setrlimit(RLIMIT_CORE, &none);
    sn_context *cx = sn_open(&options);
    sn_program *p = sn_compile(cx, "[n]i64 -> i64", sums);
    if (!p || (warm && !call_steps(cx)))
        return WRONG;
    all_after = all;
    __atomic_store_n(&left, allocation, __ATOMIC_RELAXED);
    sn_status status = sn_call(p, sn_in(x, N), sn_value(&y));
    bool reached = __atomic_exchange_n(&left, INT64_MAX, __ATOMIC_RELAXED) < 0;
    all_after = false;
    if (status == SN_OK ? y != 34 : status != SN_NO_MEMORY)
        return WRONG;
    if (sn_call(p, sn_in(x, N), sn_value(&y)) != SN_OK || y != 34 || !call_steps(cx))
        return NOT_INTERPRETED;
    sn_drop(p);
    sn_close(cx);
    return reached ? NO_MEMORY : 0;
}

/* cmocka catches them. */
static void end_by_signals(void)
{
    const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
        signal(caught[i], SIG_DFL);
}

static int fail_apart(int64_t allocation, bool all, bool warm)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        end_by_signals(), _exit(fail_at(allocation, all, warm));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("at allocation %lld%s%s the process ended by signal %d", (long long)allocation,
                 all ? " and all after" : "", warm ? "" : ", the first kernel", WTERMSIG(status));
    if (WEXITSTATUS(status) == WRONG || WEXITSTATUS(status) == NOT_INTERPRETED)
        fail_msg("at allocation %lld%s%s: %d", (long long)allocation, all ? " and all after" : "",
                 warm ? "" : ", the first kernel", WEXITSTATUS(status));
    return WEXITSTATUS(status);
}

/* Steps grow, so that the first allocations, of which each is another place, are met one by one. */
static void try_all(bool all, bool warm)
{
    bool thorough = getenv("SINTER_TEST_LONG") != NULL;
    int64_t n = 0;
    int met = 0;
    while (fail_apart(n, all, warm) == NO_MEMORY) {
        n += thorough ? 1 + n / 30 : 1 + n / 2;
        met++;
    }
    assert_true(met > 12);
}

static void of_the_first_kernel(void **state)
{
    (void)state;
    if (!REPLACED)
        skip();
    try_all(false, false);
    try_all(true, false);
}

static void of_a_later_kernel(void **state)
{
    (void)state;
    if (!REPLACED)
        skip();
    try_all(false, true);
    try_all(true, true);
}

int main(int argc, char **argv)
{
    setenv("SINTER_CACHE", "off", 1);
    if (argc == 4) /* for a debugger: one failure alone */
        return fail_at(atoll(argv[1]), atoi(argv[2]), atoi(argv[3]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_first_kernel),
        cmocka_unit_test(of_a_later_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
