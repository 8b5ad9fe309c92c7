/* Little address space (ulimit -v): whatever there is, calls return a status and the context goes on working; LLVM,
 * which ends the process when it gets no memory, is not given what it has no room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sinter/sinter.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* their shadow memory is larger than any limit */
#else
#define SANITIZED 0
#endif

enum { N = 5, MIB = 1 << 20, NOT_OPENED = 10, WRONG = 20 };

static sn_acc dot(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

static sn_scalar polynomial(void *env, int n, const sn_scalar *x)
{
    sn_scalar r = x[0];
    (void)n;
    for (int i = 0; i < *(const int *)env; i++)
        r = sn_add(sn_mul(r, x[0]), sn_f32((float)i));
    return r;
}

static sn_acc polynomials(void *env, int n, const sn_acc *x)
{
    (void)n;
    return sn_map(sn_closure_of(polynomial, env, 1), x[0]);
}

static int fits(sn_status status)
{
    return status == SN_OK || status == SN_NO_MEMORY;
}

/* Compiled in place of a run from disk; 0: every status is one that the limit explains. */
static int works(sn_context *cx, int operations)
{
    const float x[N] = {1, 2, 3, 4, 5};
    float sum = 0, y[N];
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> f32", dot);
    sn_program *q = sn_compile_env(cx, "[n]f32 -> [n]f32", polynomials, &operations);
    sn_status first = p ? sn_call(p, sn_in(x, N), sn_in(x, N), sn_value(&sum)) : SN_NO_MEMORY;
    sn_status second = q ? sn_call(q, sn_in(x, N), sn_into(y, N)) : SN_NO_MEMORY;
    sn_drop(p);
    sn_drop(q);
    return fits(first) && fits(second) && (first != SN_OK || sum == 55) ? 0 : WRONG;
}

/* Errors of calls, and one warning, which says what is missing: there was no room to load LLVM, or other threads took
 * what it was promised. */
static void listen(void *env, const char *text)
{
    bool expected = strstr(text, "MiB of address space") || strstr(text, "LLVM ran out of memory once");
    if (strstr(text, "interpreted, slowly"))
        *(int *)env = expected ? 1 : 2;
}

typedef struct worker {
    sn_context *cx;
    int operations;
    bool all; /* no limit of ours: every call is to succeed */
    int result;
} worker;

static void *compile_some(void *env)
{
    worker *w = env;
    const float x[N] = {1, 2, 3, 4, 5};
    float y[N];
    sn_program *p = sn_compile_env(w->cx, "[n]f32 -> [n]f32", polynomials, &w->operations);
    sn_status status = p ? sn_call(p, sn_in(x, N), sn_into(y, N)) : SN_NO_MEMORY;
    sn_drop(p);
    if (w->all ? status != SN_OK : !fits(status))
        w->result = WRONG;
    return NULL;
}

/* Kernels that are compiled as several functions, by several threads. */
static int work_in_threads(sn_context *cx, bool all)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    worker w[THREADS];
    int n = 0, r = 0;
    for (int i = 0; i < THREADS; i++) {
        w[n] = (worker){.cx = cx, .operations = 3000 + 7 * i, .all = all};
        n += pthread_create(&thread[n], NULL, compile_some, &w[n]) == 0;
    }
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
        r |= w[i].result;
    }
    return n < THREADS && all ? WRONG : r;
}

/* The limit that this process was started with stays where none is asked for: a larger one may not be set. */
static bool set_limit(rlim_t bytes)
{
    const struct rlimit limit = {bytes, bytes}, none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none) == 0 && (bytes == RLIM_INFINITY || setrlimit(RLIMIT_AS, &limit) == 0);
}

/* Runs in a process of its own. */
static int run_limited(rlim_t bytes, int operations)
{
    int warned = 0;
    const sn_options options = {.size = sizeof(options), .message = listen, .env = &warned};
    if (!set_limit(bytes))
        return WRONG;
    sn_context *cx = sn_open(&options);
    if (!cx)
        return NOT_OPENED;
    int r = operations ? works(cx, operations) : work_in_threads(cx, bytes == RLIM_INFINITY);
    if (!r)
        r = works(cx, 3); /* after a failure, too */
    sn_close(cx);
    return warned == 2 ? WRONG : r;
}

/* cmocka catches them. */
static void end_by_signals(void)
{
    const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
        signal(caught[i], SIG_DFL);
}

static int run_apart(rlim_t bytes, int operations)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        end_by_signals(), _exit(run_limited(bytes, operations));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("with %d MiB and %d operations the process ended by signal %d", (int)(bytes / MIB), operations,
                 WTERMSIG(status));
    return WEXITSTATUS(status);
}

static void whatever_the_limit(void **state)
{
    (void)state;
    int opened = 0;
    if (SANITIZED)
        skip();
    setenv("SINTER_CACHE", "off", 1);
    bool thorough = getenv("SINTER_TEST_LONG") != NULL;
    for (int limit = 8; limit <= 600; limit += thorough ? 1 : limit < 160 ? 24 : limit < 310 ? 11 : 97) {
        int r = run_apart((rlim_t)limit * MIB, limit % 2 ? 30 : 300);
        if (r != 0 && r != NOT_OPENED)
            fail_msg("with %d MiB: %d", limit, r);
        opened += r == 0;
    }
    assert_true(opened > 3);
    unsetenv("SINTER_CACHE");
}

/* The most address space that this process has had, in MiB; 0: not known. */
static int peak_mib(void)
{
    char line[128];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "VmPeak: %ld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (int)((kib + 1023) / 1024);
}

/* Compiles the polynomials under a limit. Without one, room is looked for by mapping it, which would count. Writes what
 * was taken at most to `report`, 0: not compiled. */
static void compile_within(int mib, int operations, int report)
{
    int warned = 0, taken = 0;
    const sn_options options = {.size = sizeof(options), .message = listen, .env = &warned};
    worker w = {.operations = operations, .all = true};
    if (!set_limit((rlim_t)mib * MIB))
        _exit(WRONG);
    w.cx = sn_open(&options);
    if (w.cx)
        compile_some(&w);
    if (w.cx && !w.result && !warned)
        taken = peak_mib();
    sn_close(w.cx);
    _exit(write(report, &taken, sizeof(taken)) != sizeof(taken));
}

static int compiled_within(int mib, int operations)
{
    int ends[2], taken = 0, status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        end_by_signals(), compile_within(mib, operations, ends[1]);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(read(ends[0], &taken, sizeof(taken)), sizeof(taken));
    close(ends[0]);
    close(ends[1]);
    return taken;
}

/* No more is asked for than a kernel's largest part needs, however large the kernel is. */
static void what_fits_is_compiled(void **state)
{
    enum { PLENTY = 4096, MORE = 24 };
    const int operations[] = {30, 3000, 20000, 40000};
    (void)state;
    if (SANITIZED)
        skip();
    setenv("SINTER_CACHE", "off", 1);
    for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
        int taken = compiled_within(PLENTY, operations[i]);
        assert_true(taken > 0);
        if (!compiled_within(taken + MORE, operations[i]))
            fail_msg("%d operations take %d MiB, and are not compiled in %d", operations[i], taken, taken + MORE);
    }
    unsetenv("SINTER_CACHE");
}

/* Much to compile in what is left once LLVM is there: not begun, or done. */
static void whatever_is_left_for_large_kernels(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    setenv("SINTER_CACHE", "off", 1);
    assert_int_equal(run_apart((rlim_t)280 * MIB, 20000), 0);
    assert_int_equal(run_apart((rlim_t)330 * MIB, 8000), 0);
    unsetenv("SINTER_CACHE");
}

/* They wait for each other where there is room for one at a time, and nothing stays promised. */
static void threads_share_what_there_is(void **state)
{
    (void)state;
    if (SANITIZED)
        skip();
    setenv("SINTER_CACHE", "off", 1);
    assert_int_equal(run_apart(RLIM_INFINITY, 0), 0);
    for (int limit = 320; limit <= 640; limit += 320)
        assert_int_equal(run_apart((rlim_t)limit * MIB, 0), 0);
    unsetenv("SINTER_CACHE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_the_limit),
        cmocka_unit_test(what_fits_is_compiled),
        cmocka_unit_test(whatever_is_left_for_large_kernels),
        cmocka_unit_test(threads_share_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
