/* ./dev bench neighbours [--list] [--quick] [--threads N] [--seconds S] [--json PATH] [--explain FORM] [pattern...]:
 * the programs one step beside the benchmark table, each against plain C, worst first. */
#include "measure.h"
#include "report.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *json;
    const char *explain;
    double seconds;
    int threads;
    bool list;
    bool quick;
    char **patterns;
    int pattern_count;
};

/* Everything of a run. */
struct bench {
    struct arguments arguments;
    sn_context *context;
    sn_context *unfused;
    struct nb_result *results;
    size_t count;
    size_t room;
};

static const struct {
    const char *name;
    const struct nb_program *program;
} groups[] = {
#define GROUP(group) {#group, nb_##group},
    NB_GROUPS(GROUP)};

static bool usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--list] [--quick] [--threads N] [--seconds S] [--json PATH] [--explain FORM] [pattern...]\n",
            program);
    return false;
}

static bool parse(int argc, char **argv, struct arguments *a)
{
    *a = (struct arguments){.json = "build/neighbours.json", .seconds = 0.25};
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0)
            a->list = true;
        else if (strcmp(argv[i], "--quick") == 0)
            a->quick = true;
        else if (strcmp(argv[i], "--threads") == 0 && more)
            a->threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--seconds") == 0 && more)
            a->seconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--json") == 0 && more)
            a->json = argv[++i];
        else if (strcmp(argv[i], "--explain") == 0 && more)
            a->explain = argv[++i];
        else
            return usage(argv[0]);
    }
    a->patterns = argv + i;
    a->pattern_count = argc - i;
    return true;
}

/* A pattern is a part of the name, perhaps with * and ?. */
static bool wanted(const struct arguments *a, const char *name)
{
    for (int i = 0; i < a->pattern_count; i++) {
        char pattern[128];
        snprintf(pattern, sizeof pattern, "*%s*", a->patterns[i]);
        if (fnmatch(pattern, name, 0) == 0)
            return true;
    }
    return a->pattern_count == 0;
}

/* "rows/sum/f32/30000x33" */
static void name_line(const char *group, const struct nb_program *program, const int64_t *extents, char *to,
                      size_t size)
{
    int length = snprintf(to, size, "%s/%s/", group, program->name);
    for (int d = 0; d < NB_EXTENTS && extents[d] && length < (int)size; d++)
        length += snprintf(to + length, size - (size_t)length, "%s%" PRId64, d ? "x" : "", extents[d]);
}

static void explain(const struct bench *b, const struct nb_program *program, const int64_t *extents)
{
    struct nb_arguments arguments;
    sn_program *p = nb_compile(b->context, program, &program->build, extents);
    const char *text = NULL;
    /* The code is that of the kernels of a call. */
    if (p && nb_arguments_make(program, extents, &arguments))
        sn_call_n(p, arguments.ins + arguments.outs, arguments.sinter);
    if (p)
        nb_arguments_free(&arguments);
    if (p)
        text = sn_explain(p, b->arguments.explain);
    puts(text ? text : sn_message(b->context));
    sn_drop(p);
}

static struct nb_result *new_result(struct bench *b)
{
    if (b->count == b->room) {
        size_t room = b->room ? b->room * 2 : 256;
        struct nb_result *results = realloc(b->results, room * sizeof *results);
        if (!results)
            return NULL;
        b->results = results;
        b->room = room;
    }
    struct nb_result *result = &b->results[b->count++];
    *result = (struct nb_result){.good = false};
    return result;
}

static bool run_line(struct bench *b, const char *group, const struct nb_program *program, const int64_t *extents,
                     const struct nb_opponent *opponent)
{
    char name[sizeof b->results->name];
    name_line(group, program, extents, name, sizeof name);
    if (!wanted(&b->arguments, name))
        return true;
    if (b->arguments.list) {
        puts(name);
        return true;
    }
    if (b->arguments.explain) {
        puts(name);
        explain(b, program, extents);
        return true;
    }
    struct nb_result *result = new_result(b);
    if (!result)
        return false;
    memcpy(result->name, name, sizeof name);
    result->group = group;
    struct nb_effort effort = {b->arguments.quick ? 0 : b->arguments.seconds, 3e-3};
    struct nb_arguments arguments;
    if (nb_arguments_make(program, extents, &arguments))
        nb_measure(b->context, program, opponent, &arguments, &effort, result);
    nb_arguments_free(&arguments);
    fprintf(stderr, "%s %.3f%s%s\n", name, nb_ratio(result),
            result->good ? "" : " FAILED: ", result->good ? "" : result->text);
    return true;
}

static bool run_program(struct bench *b, const char *group, const struct nb_program *program)
{
    bool ok = true;
    int sizes = b->arguments.quick ? 1 : NB_SIZES;
    for (int i = 0; ok && i < sizes && program->extents[i][0]; i++) {
        const int64_t *extents = program->extents[i];
        struct nb_opponent plain = {program->c, b->context, &program->other};
        ok = run_line(b, group, program, extents, &plain);
        if (!ok || !program->fusion)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%s-%s", group, program->name);
        struct nb_program named = *program;
        named.name = name;
        struct nb_opponent unfused = {NULL, b->unfused, &program->build};
        ok = run_line(b, "fusion", &named, extents, &unfused);
    }
    return ok;
}

static bool run_all(struct bench *b)
{
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct nb_program *p = groups[g].program; p->name; p++)
            if (!run_program(b, groups[g].name, p)) {
                fputs("no memory\n", stderr);
                return false;
            }
    if (b->arguments.list || b->arguments.explain)
        return true;
    if (b->count == 0) {
        fputs("no program has such a name; --list shows them\n", stderr);
        return false;
    }
    nb_report(stdout, b->results, b->count);
    bool ok = nb_write_json(b->arguments.json, b->results, b->count);
    for (size_t i = 0; i < b->count; i++)
        ok &= b->results[i].good;
    return ok;
}

static void say(void *env, const char *text)
{
    (void)env;
    fprintf(stderr, "%s\n", text);
}

/* libgomp's threads spin for milliseconds after a loop unless this says less, and it reads it before main. */
static void start_again_with_short_spins(char **argv)
{
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY"))
        return;
    setenv("GOMP_SPINCOUNT", "10000", 1);
    execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    struct bench b = {.count = 0};
    if (!parse(argc, argv, &b.arguments))
        return 2;
    start_again_with_short_spins(argv);
    int threads = nb_threads(b.arguments.threads);
    sn_options options = {.size = sizeof options, .device = "cpu", .threads = threads, .message = say};
    b.context = sn_open(&options);
    options.fusion = SN_OFF;
    b.unfused = sn_open(&options);
    bool ok = b.context && b.unfused && run_all(&b);
    sn_close(b.context);
    sn_close(b.unfused);
    free(b.results);
    return ok ? 0 : 1;
}
