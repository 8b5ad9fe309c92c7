/* Sinter on a CUDA device against the hand-written kernels of kernels.cu, in the same process, on the same data, by
 * turns; arrays stay on the device, both sides wait for every run. What has no such kernel is measured alone, for CUB
 * (cub.cu), and compared with the CPU. Shares are of the bandwidth that copying between two blocks of the device
 * reaches here. bench_cuda [--quick] [name...] */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAST_RUNS = 20, SKIPPED = 77 };
static const double seconds_per_side = 0.5; /* at least, */
static const double seconds_at_most = 2;    /* which a run begun before may pass */

static const struct row *const lists[] = {rows_compute, rows_scans, rows_keys, rows_matrix};

double bench_cuda_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int usage(const char *program)
{
    fprintf(stderr, "usage: %s [--quick] [name...]\n", program);
    return 2;
}

static bool wanted(const struct row *row, int names, char **name)
{
    for (int i = 0; i < names; i++)
        if (strncmp(row->name, name[i], strlen(name[i])) == 0)
            return true;
    return names == 0;
}

typedef bool (*once)(struct gpu *g, struct work *w);

/* The shortest of many runs, in seconds; 0 on failure. */
static bool run_once(struct gpu *g, struct work *w, once run, double *best)
{
    double start = bench_cuda_now();
    if (!run(g, w))
        return false;
    double took = bench_cuda_now() - start;
    if (*best == 0 || took < *best)
        *best = took;
    return true;
}

static bool sinter_once(struct gpu *g, struct work *w)
{
    (void)g;
    if (work_call(w) == SN_OK)
        return true;
    fprintf(stderr, "%s: %s\n", w->row->name, sn_message(w->context));
    return false;
}

static bool cuda_once(struct gpu *g, struct work *w)
{
    return !w->row->cuda || (w->row->cuda(g, w) && gpu_wait(g));
}

static bool copy_once(struct gpu *g, struct work *w)
{
    return gpu_copy(g, w->out[0], w->in[0], w->bytes_of_copy) && gpu_wait(g);
}

/* Both by turns, so that what else goes on meets both. */
static bool measure(struct gpu *g, struct work *w, bool quick, double *sinter, double *cuda)
{
    int sides = w->row->cuda ? 2 : 1, least = quick ? 1 : LEAST_RUNS;
    double ignored = 0;
    *sinter = *cuda = 0;
    if (!run_once(g, w, sinter_once, &ignored) || !run_once(g, w, cuda_once, &ignored))
        return false;
    double start = bench_cuda_now(), enough = start + (quick ? 0 : sides * seconds_per_side);
    double late = start + sides * seconds_at_most;
    for (int i = 0; i == 0 || (bench_cuda_now() < late && (i < least || bench_cuda_now() < enough)); i++)
        if (!run_once(g, w, sinter_once, sinter) || !run_once(g, w, cuda_once, cuda))
            return false;
    return true;
}

/* Bytes per second, each byte counted when it is read and when it is written. */
static double copy_bandwidth(struct gpu *g, bool quick)
{
    struct work w = {.bytes_of_copy = (size_t)(quick ? 1 : 512) << 20};
    double best = 0;
    bool good = gpu_alloc(g, w.bytes_of_copy, &w.in[0]) && gpu_alloc(g, w.bytes_of_copy, &w.out[0]);
    for (int i = 0; good && i < (quick ? 2 : LEAST_RUNS); i++)
        good = run_once(g, &w, copy_once, &best);
    gpu_free(g, w.in[0]);
    gpu_free(g, w.out[0]);
    return good && best > 0 ? 2 * (double)w.bytes_of_copy / best : 0;
}

/* Returns 0 if a side failed or they disagree. */
static int run_row(struct gpu *g, sn_context *cx, sn_context *cpu, const struct row *row, bool quick, double roof)
{
    struct work w;
    double sinter, cuda;
    char share[32] = "-", theirs[32] = "-", ratio[32] = "-", difference[80] = "";
    bool good = work_open(&w, g, cx, row, quick) && measure(g, &w, quick, &sinter, &cuda);
    bool agrees = good && work_agrees(&w, g, cpu, difference, sizeof(difference));
    if (good && !row->compute_bound)
        snprintf(share, sizeof(share), "%.1f%%", 100 * row->bytes * (double)w.n / sinter / roof);
    if (good && row->cuda) {
        snprintf(theirs, sizeof(theirs), "%.4f", cuda * 1e3);
        snprintf(ratio, sizeof(ratio), "%.2f", cuda / sinter);
    }
    if (good)
        printf("%-14s %11lld %10.4f %10s %8s %10.1f %8s  %s\n", row->name, (long long)w.n, sinter * 1e3, theirs, ratio,
               row->bytes * (double)w.n / sinter * 1e-9, share, agrees ? difference : "DIFFERS");
    else
        printf("%-14s %11lld FAILED\n", row->name, (long long)w.n);
    if (good && !agrees)
        fprintf(stderr, "%s: %s\n", row->name, difference);
    fflush(stdout);
    work_close(&w, g);
    return agrees;
}

int main(int argc, char **argv)
{
    char why[1000];
    int at = 1, ok = 1;
    bool quick = at < argc && strcmp(argv[at], "--quick") == 0;
    at += quick;
    if (at < argc && argv[at][0] == '-')
        return usage(argv[0]);
    unsetenv("SINTER_DEVICE"); /* which would win over the two devices that are asked for here */
    struct gpu *g = gpu_open(why, sizeof(why));
    if (!g) {
        fprintf(stderr, "skipped: %s\n", why);
        return SKIPPED;
    }
    sn_context *cx = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cuda"});
    sn_context *cpu = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cpu"});
    double roof = cx ? copy_bandwidth(g, quick) : 0;
    printf("%s\ncopying: %.1f GB/s\n\n", gpu_name(g), roof * 1e-9);
    printf("%-14s %11s %10s %10s %8s %10s %8s\n", "program", "n", "Sinter ms", "CUDA ms", "ratio", "GB/s", "of copy");
    for (int list = 0; cx && cpu && list < (int)(sizeof(lists) / sizeof(lists[0])); list++)
        for (const struct row *row = lists[list]; row->name; row++)
            if (wanted(row, argc - at, argv + at))
                ok &= run_row(g, cx, cpu, row, quick, roof);
    ok &= cx && cpu;
    sn_close(cpu);
    sn_close(cx);
    gpu_close(g);
    return ok ? 0 : 1;
}
