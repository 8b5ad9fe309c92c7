/* ./dev bench latency: what a program waits for besides its kernels: the first call, from nothing and from the cache on
 * disk in a new process; a repeated call; the front end per 100 operations. Prints each beside its budget and writes
 * JSON. Judged is the best of several runs: other work on the machine only adds. The median tells how much it did. */
#include "first_calls.h"
#include "large.h"

#include <sinter/sinter.h>

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LARGE_RUNS = 2, COLD_RUNS = 5, WARM_RUNS = 15, CALLS = 20000, BATCHES = 9, ELEMENTS = 16, MOST_RESULTS = 64 };

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --- results --- */

struct result {
    char name[64];
    const char *unit;
    double best, median, budget; /* budget 0: only told */
};

struct results {
    int n;
    struct result at[MOST_RESULTS];
    struct first_call *first; /* single operations' first calls: only the worst is a row */
    int firsts;
};

static void head(void)
{
    printf("%-56s %9s %9s %12s %7s\n", "", "best", "median", "", "budget");
}

/* The runs' times in microseconds, which are sorted; shown divided by `scale`. */
static void add(struct results *r, const char *name, double *us, int runs, double scale, const char *unit,
                double budget)
{
    struct result *to = &r->at[r->n++];
    qsort(us, (size_t)runs, sizeof(*us), by_value);
    *to = (struct result){.unit = unit, .best = us[0] / scale, .median = us[runs / 2] / scale, .budget = budget};
    snprintf(to->name, sizeof(to->name), "%s", name);
    printf("%-56s %9.2f %9.2f %-12s", name, to->best, to->median, unit);
    if (budget > 0)
        printf(" %7.0f  %s", budget, to->best <= budget ? "met" : "MISSED");
    printf("\n");
    fflush(stdout);
}

static int write_json(const struct results *r, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "latency: cannot write %s: %s\n", path, strerror(errno));
        return 1;
    }
    fprintf(f, "[\n");
    for (int i = 0; i < r->n; i++) {
        const struct result *x = &r->at[i];
        fprintf(f, "  {\"name\": \"%s\", \"best\": %.4f, \"median\": %.4f, \"unit\": \"%s\"", x->name, x->best,
                x->median, x->unit);
        if (x->budget > 0)
            fprintf(f, ", \"budget\": %.0f, \"met\": %s", x->budget, x->best <= x->budget ? "true" : "false");
        fprintf(f, "}%s\n", i + 1 < r->n || r->firsts ? "," : "");
    }
    for (int i = 0; i < r->firsts; i++)
        fprintf(f, "  {\"name\": \"first call, %s\", \"best\": %.4f, \"unit\": \"ms\"}%s\n", r->first[i].name,
                r->first[i].ms, i + 1 < r->firsts ? "," : "");
    fprintf(f, "]\n");
    return fclose(f) != 0;
}

/* --- one kernel --- */

static sn_scalar twice_and_one(sn_scalar x)
{
    return sn_add(sn_mul(x, 2), 1);
}

static sn_acc one_map(sn_acc xs)
{
    return sn_map(twice_and_one, xs);
}

static sn_acc dot(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

static int call_map(sn_program *p, const float *x, float *y)
{
    memset(y, 0, ELEMENTS * sizeof(*y));
    if (sn_call(p, sn_in(x, ELEMENTS), sn_into(y, ELEMENTS)) != SN_OK)
        return 1;
    for (int i = 0; i < ELEMENTS; i++)
        if (y[i] != x[i] * 2 + 1)
            return 1;
    return 0;
}

static void fill(float *x)
{
    for (int i = 0; i < ELEMENTS; i++)
        x[i] = (float)i;
}

/* A process of its own: opens, compiles, calls once; prints the three times. */
static int child(void)
{
    float x[ELEMENTS], y[ELEMENTS];
    fill(x);
    double t0 = now_us();
    sn_context *cx = sn_open(NULL);
    double t1 = now_us();
    sn_program *p = cx ? sn_compile(cx, "[n]f32 -> [n]f32", one_map) : NULL;
    double t2 = now_us();
    int failed = !p || call_map(p, x, y);
    double t3 = now_us();
    if (failed)
        fprintf(stderr, "latency: %s\n", cx ? sn_message(cx) : "no context");
    else
        printf("%.1f %.1f %.1f\n", t1 - t0, t2 - t1, t3 - t2);
    sn_drop(p);
    sn_close(cx);
    return failed;
}

struct times {
    double open, compile, call, process; /* us */
};

/* What a process of this program says on its standard output, one line; 0 if it ends well. */
static int run_self(const char *self, char *const *arguments, char *line, int size)
{
    int ends[2];
    if (pipe(ends))
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execv(self, arguments);
        _exit(127);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    char *got = f ? fgets(line, size, f) : NULL;
    if (f)
        fclose(f);
    int status = 1;
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 || !got;
}

static int run_child(const char *self, struct times *t)
{
    char line[128] = "", name[] = "latency", how[] = "--child";
    double start = now_us();
    if (run_self(self, (char *[]){name, how, NULL}, line, sizeof(line)))
        return 1;
    t->process = now_us() - start;
    return sscanf(line, "%lf %lf %lf", &t->open, &t->compile, &t->call) != 3;
}

static void empty_folder(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d)))
        if (e->d_name[0] != '.')
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

static int whole_calls(struct results *r, const char *self, const char *folder, int cold)
{
    double open[WARM_RUNS], compile[WARM_RUNS], call[WARM_RUNS], whole[WARM_RUNS], process[WARM_RUNS];
    int runs = cold ? COLD_RUNS : WARM_RUNS;
    for (int i = 0; i < runs; i++) {
        struct times t;
        if (cold)
            empty_folder(folder);
        if (run_child(self, &t))
            return 1;
        open[i] = t.open;
        compile[i] = t.compile;
        call[i] = t.call;
        whole[i] = t.open + t.compile + t.call;
        process[i] = t.process;
    }
    add(r, cold ? "first call, cold: open, compile, call" : "first call, new process, from disk: open, compile, call",
        whole, runs, 1e3, "ms", cold ? 50 : 5);
    add(r, "  sn_open", open, runs, 1e3, "ms", 0);
    add(r, "  sn_compile", compile, runs, 1e3, "ms", 0);
    add(r, "  sn_call", call, runs, 1e3, "ms", 0);
    add(r, "  whole process, from fork to exit", process, runs, 1e3, "ms", 0);
    return 0;
}

/* --- first calls of single operations, in processor time --- */

enum { FIRST_BUDGET = 50 };

static int by_ms(const void *a, const void *b)
{
    const struct first_call *x = a, *y = b;
    return (x->ms < y->ms) - (x->ms > y->ms);
}

/* The worst of each group, with its name; all go to the JSON file. */
static int narrow_first_calls(struct results *r, const char *only)
{
    static const char *const title[FIRST_GROUPS] = {"first-call-u8", "first-call-scan"};
    r->firsts = first_calls(only, FIRST_BUDGET, &r->first);
    if (r->firsts <= 0)
        return 1;
    qsort(r->first, (size_t)r->firsts, sizeof(*r->first), by_ms);
    for (int group = 0; group < FIRST_GROUPS; group++) {
        int i = 0;
        while (i < r->firsts && r->first[i].group != group)
            i++;
        if (i == r->firsts)
            continue;
        char name[128];
        double worst = r->first[i].ms * 1e3;
        snprintf(name, sizeof(name), "%s: %s", title[group], r->first[i].name);
        add(r, name, &worst, 1, 1e3, "ms", FIRST_BUDGET);
    }
    return 0;
}

/* Each of them, for whoever works on it. */
static int list_first_calls(const char *only)
{
    struct results r = {0};
    head();
    int failed = narrow_first_calls(&r, only);
    for (int i = 0; i < r.firsts; i++)
        printf("%-56s %9.2f\n", r.first[i].name, r.first[i].ms);
    free(r.first);
    return failed;
}

/* --- large programs --- */

static int run_large(const char *self, const char *folder, const char *program, int operations, double *us, double *kib)
{
    char line[128] = "", name[] = "latency", how[] = "--large", what[64], size[16];
    snprintf(what, sizeof(what), "%s", program);
    snprintf(size, sizeof(size), "%d", operations);
    empty_folder(folder);
    return run_self(self, (char *[]){name, how, what, size, NULL}, line, sizeof(line)) ||
           sscanf(line, "%lf %lf", us, kib) != 2;
}

/* Processor time; memory beyond what a small one of its kind takes, an operation. */
static int large_calls(struct results *r, const char *self, const char *folder)
{
    for (int i = 0; i < large_count; i++) {
        const large_program *x = &large_programs[i];
        double us[LARGE_RUNS], kib[LARGE_RUNS], small, least;
        char name[64];
        if (run_large(self, folder, x->name, LARGE_SMALL, &small, &least))
            return 1;
        for (int k = 0; k < LARGE_RUNS; k++) {
            if (run_large(self, folder, x->name, x->operations, &us[k], &kib[k]))
                return 1;
            kib[k] = kib[k] > least ? kib[k] - least : 0;
        }
        snprintf(name, sizeof(name), "first call, %d: %s", x->operations, x->name);
        add(r, name, us, LARGE_RUNS, 1e3, "ms", x->budget_ms);
        if (x->budget_kib > 0)
            add(r, "  memory", kib, LARGE_RUNS, x->operations, "KiB each", x->budget_kib);
    }
    return 0;
}

/* --- repeated calls: so few elements that the kernel takes nothing --- */

static int repeat(struct results *r, sn_context *cx, int is_dot)
{
    float x[ELEMENTS], y[ELEMENTS] = {0};
    double took[BATCHES];
    fill(x);
    sn_program *p = is_dot ? sn_compile(cx, "[n]f32, [n]f32 -> f32", dot) : sn_compile(cx, "[n]f32 -> [n]f32", one_map);
    const sn_arg of_map[] = {sn_in(x, ELEMENTS), sn_into(y, ELEMENTS)};
    const sn_arg of_dot[] = {sn_in(x, ELEMENTS), sn_in(x, ELEMENTS), sn_value(y)};
    int failed = !p || sn_call_n(p, is_dot ? 3 : 2, is_dot ? of_dot : of_map) != SN_OK;
    if (!failed && (is_dot ? y[0] != 1240 : y[15] != 31)) {
        fprintf(stderr, "latency: a wrong result\n");
        failed = 1;
    }
    for (int b = 0; b < BATCHES && !failed; b++) {
        double start = now_us();
        for (int i = 0; i < CALLS && !failed; i++)
            failed = sn_call_n(p, is_dot ? 3 : 2, is_dot ? of_dot : of_map) != SN_OK;
        took[b] = (now_us() - start) / CALLS;
    }
    if (!failed)
        add(r, is_dot ? "repeated call, dot product of 16 elements" : "repeated call, map of 16 elements", took,
            BATCHES, 1, "us", 5);
    sn_drop(p);
    return failed;
}

/* --- the front end --- */

struct chain {
    int operations;
};

static sn_scalar add_scaled(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(x, 0.5f), y);
}

/* Arrays: each made of the two before it, by three operations: zip_with, multiply, add. */
static sn_acc array_chain(void *env, int count, const sn_acc *in)
{
    const struct chain *c = env;
    sn_acc a = in[0], b = in[0];
    (void)count;
    for (int i = 0; i < c->operations; i += 3) {
        sn_acc next = sn_zip_with(add_scaled, a, b);
        a = b;
        b = next;
    }
    return b;
}

/* One map of so many scalar operations. */
static sn_scalar long_function(void *env, sn_scalar x)
{
    const struct chain *c = env;
    sn_scalar a = x, b = sn_mul(x, 0.5f);
    for (int i = 0; i < c->operations; i++) {
        sn_scalar next = i & 1 ? sn_mul(a, b) : sn_sub(b, a);
        a = b;
        b = next;
    }
    return b;
}

static sn_acc scalar_chain(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_map(sn_closure(long_function, env), in[0]);
}

static int front_end(struct results *r, sn_context *cx, const char *what, sn_acc (*body)(void *, int, const sn_acc *))
{
    char name[64];
    for (int operations = 100; operations <= 100000; operations *= 10) {
        struct chain c = {operations};
        int runs = operations >= 100000 ? 3 : operations >= 10000 ? 5 : 9;
        double took[9];
        for (int i = 0; i < runs; i++) {
            double start = now_us();
            sn_program *p = sn_compile_env(cx, "[n]f32 -> [n]f32", body, &c);
            took[i] = now_us() - start;
            if (!p) {
                fprintf(stderr, "latency: %d %s operations: %.400s\n", operations, what, sn_message(cx));
                return 1;
            }
            sn_drop(p);
        }
        snprintf(name, sizeof(name), "front end, %d %s operations", operations, what);
        add(r, name, took, runs, operations * 10.0, "ms per 100", 1);
    }
    return 0;
}

static int measure(struct results *r, const char *self, const char *folder)
{
    head();
    if (whole_calls(r, self, folder, 1) || whole_calls(r, self, folder, 0) || narrow_first_calls(r, NULL) ||
        large_calls(r, self, folder))
        return 1;
    sn_context *cx = sn_open(NULL);
    int failed = !cx || repeat(r, cx, 0) || repeat(r, cx, 1);
    failed = failed || front_end(r, cx, "mixed", array_chain) || front_end(r, cx, "scalar", scalar_chain);
    if (failed && cx)
        fprintf(stderr, "latency: %.400s\n", sn_message(cx));
    sn_close(cx);
    return failed;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/sinter-latency-XXXXXX", self[4096];
    const char *json = argc > 2 && strcmp(argv[1], "--json") == 0 ? argv[2] : "build/latency.json";
    if (argc > 1 && strcmp(argv[1], "--child") == 0)
        return child();
    if (argc > 3 && strcmp(argv[1], "--large") == 0)
        return large_child(argv[2], atoi(argv[3]));
    if (argc > 1 && strcmp(argv[1], "--first") == 0)
        return list_first_calls(argc > 2 ? argv[2] : NULL);
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n <= 0 || !mkdtemp(folder)) {
        fprintf(stderr, "latency: no temporary folder\n");
        return 1;
    }
    self[n] = '\0';
    setenv("SINTER_CACHE_DIR", folder, 1);
    unsetenv("SINTER_CACHE");
    struct results r = {0};
    const bool large = argc > 1 && strcmp(argv[1], "--large") == 0;
    int failed = large ? large_calls(&r, self, folder) : measure(&r, self, folder);
    empty_folder(folder);
    rmdir(folder);
    failed = failed || (!large && write_json(&r, json));
    free(r.first);
    return failed;
}
