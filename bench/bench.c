/* ./dev bench [--list] [--quick] [--threads N] [--json PATH] [name...]: runs the rows whose names start with one of the
 * given names, all without names; prints a table and writes the results. */
#include "harness.h"
#include "probe.h"
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_row *const rows[] = {
    &saxpy_row,          &dot_row,       &meanvar_row,     &argmax_row,      &blackscholes_row, &mandelbrot_rows[0],
    &mandelbrot_rows[1], &canny_row,     &rowsums_rows[0], &rowsums_rows[1], &rowsums_rows[2],  &rowsums_rows[3],
    &rowsums_rows[4],    &typed_rows[0], &typed_rows[1],   &typed_rows[2],   &typed_rows[3],    &typed_rows[4],
    &typed_rows[5],      &typed_rows[6], &typed_rows[7],   &typed_rows[8],   &typed_rows[9],    &stencil9_row,
    &nbody_rows[0],      &nbody_rows[1], &scan_rows[0],    &scan_rows[1],    &scan_rows[2],     &scan_rows[3],
    &scan_rows[4],       &scan_rows[5],  &scan_rows[6],    &scan_rows[7],    &sgemm_row,
    &jacobi_row,         &floyd_row,
    &segments_rows[0],   &segments_rows[1], &segments_rows[2], &segments_rows[3], &segments_rows[4],
    &segments_rows[5],   &segments_rows[6], &segments_rows[7], &segments_rows[8], &segments_rows[9],
    &segments_rows[10],  &segments_rows[11], &segments_rows[12], &segments_rows[13], &segments_rows[14],
    &sort_rows[0],       &sort_rows[1],
    &permute_rows[0],    &permute_rows[1], &kmeans_rows[0], &kmeans_rows[1], &hull_row,
};

enum { ROWS = sizeof rows / sizeof *rows };
_Static_assert(ROWS == 20 + TYPED_ROWS + SCAN_ROWS + SORT_ROWS + SEGMENTS_ROWS + PERMUTE_ROWS + KMEANS_ROWS, "every row is listed");

struct arguments {
    const char *json;
    int threads;
    int list;
    int quick;
    char **names;
    int name_count;
};

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s [--list] [--quick] [--threads N] [--json PATH] [name...]\n", program);
    return 0;
}

static int parse(int argc, char **argv, struct arguments *arguments)
{
    *arguments = (struct arguments){.json = "build/bench.json"};
    int i = 1;
    for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
        if (strcmp(argv[i], "--list") == 0)
            arguments->list = 1;
        else if (strcmp(argv[i], "--quick") == 0)
            arguments->quick = 1;
        else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
            arguments->threads = atoi(argv[++i]);
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            arguments->json = argv[++i];
        else
            return usage(argv[0]);
    }
    arguments->names = argv + i;
    arguments->name_count = argc - i;
    return 1;
}

static int starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static int wanted(const struct arguments *arguments, const struct bench_row *row)
{
    for (int i = 0; i < arguments->name_count; i++)
        if (starts_with(row->name, arguments->names[i]))
            return 1;
    return arguments->name_count == 0;
}

/* A name that matches no row is a typing error. */
static int names_known(const struct arguments *arguments)
{
    for (int i = 0; i < arguments->name_count; i++) {
        int known = 0;
        for (int r = 0; r < ROWS; r++)
            known |= starts_with(rows[r]->name, arguments->names[i]);
        if (!known) {
            fprintf(stderr, "no benchmark starts with \"%s\"; --list shows them\n", arguments->names[i]);
            return 0;
        }
    }
    return 1;
}

static int list_rows(void)
{
    for (int r = 0; r < ROWS; r++)
        puts(rows[r]->name);
    return 0;
}

static int write_results(const char *path, const struct bench_result *results, size_t count)
{
    FILE *out = fopen(path, "w");
    if (!out) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 0;
    }
    bench_write_json(out, results, count);
    if (fclose(out) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 0;
    }
    return 1;
}

/* Returns 1 when every row ran, its sides agreed and the results were written. */
static int run_rows(const struct arguments *arguments, struct team *team, struct probe *probe)
{
    struct bench_options options = {
        .shrink = arguments->quick ? 16 : 1, .least_runs = 7, .seconds = arguments->quick ? 0 : 2};
    struct bench_result results[ROWS];
    size_t done = 0;
    int ok = 1;
    bench_print_head(stdout);
    for (int r = 0; r < ROWS; r++) {
        if (!wanted(arguments, rows[r]))
            continue;
        if (!bench_measure(team, probe, rows[r], &options, &results[done])) {
            ok = 0;
            continue;
        }
        bench_print_row(stdout, &results[done]);
        ok &= results[done++].agrees;
    }
    return write_results(arguments->json, results, done) && ok;
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    if (!parse(argc, argv, &arguments) || !names_known(&arguments))
        return 2;
    if (arguments.list)
        return list_rows();
    struct team *team = team_new(arguments.threads);
    struct probe *probe = probe_new((arguments.quick ? 64U : 400U) << 20);
    int ok = team && probe;
    if (ok)
        ok = run_rows(&arguments, team, probe);
    else
        fputs("no memory\n", stderr);
    probe_free(probe);
    team_free(team);
    return ok ? 0 : 1;
}
