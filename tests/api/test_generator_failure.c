/* Memory runs out within LLVM, at one allocation after another: the call says so, later ones work or are interpreted,
 * and the process goes on. The functions below take the C library's place for all of the process, LLVM included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
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
void __libc_free(void *block);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);

/* Of the small blocks that this thread has freed, by size in memory: the C library gives it one of them again at once,
 * whatever there is for others. */
enum { UNIT = 16, HEAD = 8, LARGEST = 1024 };
static _Thread_local bool kept[LARGEST / UNIT + 1];

static bool is_kept(size_t bytes)
{
    size_t in_memory = bytes + HEAD <= 2 * UNIT ? 2 * UNIT : bytes + HEAD;
    size_t class = (in_memory + UNIT - 1) / UNIT;
    bool found = in_memory <= LARGEST && kept[class];
    if (found)
        kept[class] = false;
    return found;
}

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
    return !is_kept(bytes) && fails() ? NULL : __libc_malloc(bytes);
}

EVERYWHERE void free(void *block)
{
    size_t in_memory = block ? malloc_usable_size(block) + HEAD : LARGEST + 1;
    __libc_free(block);
    if (in_memory <= LARGEST)
        kept[in_memory / UNIT] = true;
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

/* The call during which memory runs out: the first kernel of the process, a later one, a later one on a thread that has
 * not called LLVM before. */
typedef enum place { FIRST, LATER, NEW_THREAD } place;
static const char *const place_name[] = {"the first kernel", "a later kernel", "a kernel of a new thread"};

typedef struct failing_call {
    sn_program *p;
    int64_t allocation;
    sn_status status;
    int64_t sum;
    bool all, reached;
} failing_call;

static void *call_failing(void *env)
{
    failing_call *c = env;
    const int64_t x[N] = {1, 2, 3, 4};
    all_after = c->all;
    __atomic_store_n(&left, c->allocation, __ATOMIC_RELAXED);
    c->status = sn_call(c->p, sn_in(x, N), sn_value(&c->sum));
    c->reached = __atomic_exchange_n(&left, INT64_MAX, __ATOMIC_RELAXED) < 0;
    all_after = false;
    return NULL;
}

/* What comes before that call: once for all processes that begin behind the first kernel. */
static sn_context *prepared;

static sn_context *prepare(place where)
{
    const sn_options options = {.size = sizeof(options), .device = "cpu", .threads = 1, .message = forget};
    sn_context *cx = sn_open(&options);
    if (where == FIRST || call_steps(cx))
        return cx;
    sn_close(cx);
    return NULL;
}

/* Runs in a process of its own. */
static int fail_at(int64_t allocation, bool all, place where)
{
    const struct rlimit none = {0, 0};
    const int64_t x[N] = {1, 2, 3, 4};
    int64_t y = 0;
    pthread_t thread;
    setrlimit(RLIMIT_CORE, &none);
    sn_context *cx = prepared ? prepared : prepare(where);
    failing_call c = {.p = sn_compile(cx, "[n]i64 -> i64", sums), .allocation = allocation, .all = all};
    if (!c.p)
        return WRONG;
    if (where != NEW_THREAD)
        call_failing(&c);
    else if (pthread_create(&thread, NULL, call_failing, &c) != 0 || pthread_join(thread, NULL) != 0)
        return WRONG;
    if (c.status == SN_OK ? c.sum != 34 : c.status != SN_NO_MEMORY)
        return WRONG;
    if (sn_call(c.p, sn_in(x, N), sn_value(&y)) != SN_OK || y != 34 || !call_steps(cx))
        return NOT_INTERPRETED;
    sn_drop(c.p);
    sn_close(cx);
    return c.reached ? NO_MEMORY : 0;
}

/* cmocka catches them. */
static void end_by_signals(void)
{
    const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
        signal(caught[i], SIG_DFL);
}

static int fail_apart(int64_t allocation, bool all, place where)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        end_by_signals(), _exit(fail_at(allocation, all, where));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("at allocation %lld%s of %s the process ended by signal %d", (long long)allocation,
                 all ? " and all after" : "", place_name[where], WTERMSIG(status));
    if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != NO_MEMORY)
        fail_msg("at allocation %lld%s of %s: %d", (long long)allocation, all ? " and all after" : "",
                 place_name[where], WEXITSTATUS(status));
    return WEXITSTATUS(status);
}

/* Steps grow, so that the first allocations, of which each is another place, are met one by one. */
static void try_all(place where)
{
    bool thorough = getenv("SINTER_TEST_LONG") != NULL;
    for (int all = 0; all < 2; all++) {
        int met = 0;
        for (int64_t n = 0; fail_apart(n, all, where) == NO_MEMORY; n += thorough ? 1 + n / 30 : 1 + n / 2)
            met++;
        assert_true(met > 12);
    }
}

static void of_the_first_kernel(void **state)
{
    (void)state;
    if (!REPLACED)
        skip();
    try_all(FIRST);
}

/* One context does for both tests of what is compiled later, whichever of them runs. */
static void get_ready(void)
{
    if (!prepared)
        prepared = prepare(LATER);
    assert_non_null(prepared);
}

static int close_prepared(void **state)
{
    (void)state;
    if (prepared)
        sn_close(prepared);
    return 0;
}

static void of_a_later_kernel(void **state)
{
    (void)state;
    if (!REPLACED)
        skip();
    get_ready();
    try_all(LATER);
}

/* The C library allocates what a thread keeps for LLVM when it is first looked at, and ends the process if it cannot.
 */
static void of_a_new_thread(void **state)
{
    (void)state;
    if (!REPLACED)
        skip();
    bool thorough = getenv("SINTER_TEST_LONG") != NULL;
    get_ready();
    for (int all = 0; all < 2; all++) {
        int64_t n = 0;
        while (fail_apart(n, all, NEW_THREAD) == NO_MEMORY)
            n += n < (thorough ? 1500 : 150) ? 1 : 1 + n / 8;
        assert_true(n > 150);
    }
}

int main(int argc, char **argv)
{
    setenv("SINTER_CACHE", "off", 1);
    if (argc == 4) /* for a debugger: one failure alone */
        return fail_at(atoll(argv[1]), atoi(argv[2]), atoi(argv[3]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_first_kernel),
        cmocka_unit_test(of_a_later_kernel),
        cmocka_unit_test(of_a_new_thread),
    };
    return cmocka_run_group_tests(tests, NULL, close_prepared);
}
