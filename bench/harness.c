/* Measures a row: both sides in turn, the minimum of each, the memory probed before, after and in between; prints and
 * writes the results. */
#define _GNU_SOURCE
#include "harness.h"

#include "probe.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    HUGE_PAGE = 2 << 20,
    MOST_RUNS = 200,
    PROBES_AT_ENDS = 3,
};

/* Between two timed runs: long enough for the other side's workers to stop spinning and sleep. */
static const double settle_seconds = 500e-6;

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *bench_alloc(size_t bytes)
{
    size_t size = whole_pages(bytes);
    char *memory = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)memory % HUGE_PAGE;
    if (before > 0)
        munmap(memory, before);
    munmap(memory + before + size, HUGE_PAGE - before);
    memory += before;
    madvise(memory, size, MADV_HUGEPAGE);
    memset(memory, 0, size);
    return memory;
}

void bench_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, whole_pages(bytes));
}

/* The finaliser of SplitMix64 (Steele, Lea, Flood, 2014). */
uint64_t bench_hash(uint64_t i, uint64_t seed)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

struct fill {
    float *x;
    int64_t n;
    float low;
    float high;
    uint64_t seed;
};

static void fill_part(void *ctx, int id, int workers)
{
    const struct fill *fill = ctx;
    struct team_range mine = team_part(fill->n, 1, id, workers);
    for (int64_t i = mine.first; i < mine.last; i++) {
        float unit = (float)(bench_hash((uint64_t)i, fill->seed) >> 40) * 0x1p-24F;
        fill->x[i] = fill->low + (fill->high - fill->low) * unit;
    }
}

void bench_fill(struct team *team, float *x, int64_t n, float low, float high, uint64_t seed)
{
    struct fill fill = {x, n, low, high, seed};
    team_run(team, fill_part, &fill);
}

static void settle(void)
{
    double start = bench_now();
    while (bench_now() - start < settle_seconds)
        continue;
}

static void keep_least(double *least, double seconds)
{
    if (*least == 0 || seconds < *least)
        *least = seconds;
}

static double run_c(struct team *team, const struct bench_row *row, void *data)
{
    team_enter(team);
    settle();
    double start = bench_now();
    row->run_c(team, data);
    double seconds = bench_now() - start;
    team_leave(team);
    return seconds;
}

/* Negative when the run failed. */
static double run_sinter(const struct bench_row *row, void *state, void *data)
{
    settle();
    double start = bench_now();
    int ok = row->sinter->run(state, data);
    double seconds = bench_now() - start;
    return ok ? seconds : -1;
}

static void probe_times(struct probe *probe, struct team *team, int times)
{
    for (int i = 0; i < times; i++)
        probe_measure(probe, team);
}

/* Time the probed memory needs: what is written is copied, what is read beyond that is read. */
static double roof_of(const struct bench_data *data, double read, double copy)
{
    double written = (double)data->written_bytes;
    double rest = (double)data->read_bytes - written;
    return rest >= 0 ? 2 * written / copy + rest / read : (double)(data->read_bytes + data->written_bytes) / copy;
}

/* Both sides in turn until each had its runs and its time. Returns 0 when the Sinter side failed. */
static int run_in_turn(struct team *team, struct probe *probe, const struct bench_row *row, void *state, void *data,
                       const struct bench_options *options, struct bench_result *result)
{
    double spent = 0;
    for (int i = 0; i < MOST_RUNS && (i < options->least_runs || spent < options->seconds); i++) {
        double c = run_c(team, row, data);
        keep_least(&result->c, c);
        double longer = c;
        if (state) {
            double sinter = run_sinter(row, state, data);
            if (sinter < 0)
                return 0;
            keep_least(&result->sinter, sinter);
            longer = sinter > c ? sinter : c;
        }
        spent += longer;
        if (!row->compute_bound && i % 4 == 0)
            probe_measure(probe, team);
    }
    return 1;
}

static int measure_open(struct team *team, struct probe *probe, const struct bench_row *row, void *state, void *data,
                        const struct bench_options *options, struct bench_result *result)
{
    run_c(team, row, data); /* touches every page and warms the caches that matter */
    if (state && run_sinter(row, state, data) < 0)
        return 0;
    if (state)
        result->agrees = row->agree(data, result->text, sizeof result->text);
    probe_reset(probe);
    probe_times(probe, team, PROBES_AT_ENDS);
    if (!run_in_turn(team, probe, row, state, data, options, result))
        return 0;
    probe_times(probe, team, PROBES_AT_ENDS);

    const struct bench_data *sizes = data;
    result->n = sizes->n;
    result->bytes = sizes->read_bytes + sizes->written_bytes;
    result->read_bandwidth = probe_read(probe);
    result->copy_bandwidth = probe_copy(probe);
    if (!row->compute_bound)
        result->roof = roof_of(sizes, result->read_bandwidth, result->copy_bandwidth);
    return 1;
}

static int64_t shrunk(int64_t extent, int64_t by)
{
    return extent > by ? extent / by : extent;
}

int bench_measure(struct team *team, struct probe *probe, const struct bench_row *row,
                  const struct bench_options *options, struct bench_result *result)
{
    *result = (struct bench_result){.row = row, .agrees = 1};
    int tall = row->extents[0] > row->extents[1];
    int64_t rows = tall ? shrunk(row->extents[0], options->shrink) : row->extents[0];
    int64_t columns = tall ? row->extents[1] : shrunk(row->extents[1], options->shrink);
    void *data = row->setup(team, rows, columns);
    if (!data) {
        fprintf(stderr, "%s: no memory for %" PRId64 " x %" PRId64 " elements\n", row->name, rows, columns);
        return 0;
    }
    void *state = row->sinter ? row->sinter->open(data) : NULL;
    int ok = !row->sinter || state;
    if (ok)
        ok = measure_open(team, probe, row, state, data, options, result);
    if (state)
        row->sinter->close(state);
    row->teardown(data);
    return ok;
}

/* Numbers that may be missing: "-" in the table, null in JSON. */
static const char *number(char text[32], const char *format, double value, const char *missing)
{
    if (value > 0)
        snprintf(text, 32, format, value);
    else
        snprintf(text, 32, "%s", missing);
    return text;
}

static double quotient(double a, double b)
{
    return a > 0 && b > 0 ? a / b : 0;
}

void bench_print_head(FILE *out)
{
    fprintf(out, "%-22s %11s %10s %9s %6s %9s %8s %8s %6s %6s  %s\n", "program", "n", "sinter ms", "C ms", "ratio",
            "MB", "GB/s", "C GB/s", "roof", "C roof", "probe read/copy GB/s");
}

void bench_print_row(FILE *out, const struct bench_result *r)
{
    char sinter[32], ratio[32], speed[32], c_speed[32], roof[32], c_roof[32];
    double gigabytes = (double)r->bytes * 1e-9;
    fprintf(
        out, "%-22s %11" PRId64 " %10s %9.3f %6s %9.1f %8s %8s %6s %6s  %.1f/%.1f%s%s\n", r->row->name, r->n,
        number(sinter, "%.3f", r->sinter * 1e3, "-"), r->c * 1e3, number(ratio, "%.3f", quotient(r->sinter, r->c), "-"),
        gigabytes * 1e3, number(speed, "%.1f", quotient(gigabytes, r->sinter), "-"),
        number(c_speed, "%.1f", quotient(gigabytes, r->c), "-"),
        number(roof, "%.2f", quotient(r->roof, r->sinter), "-"), number(c_roof, "%.2f", quotient(r->roof, r->c), "-"),
        r->read_bandwidth * 1e-9, r->copy_bandwidth * 1e-9, r->agrees ? "" : "  WRONG: ", r->agrees ? "" : r->text);
    fflush(out);
}

void bench_write_json(FILE *out, const struct bench_result *results, size_t count)
{
    fputs("[", out);
    for (size_t i = 0; i < count; i++) {
        const struct bench_result *r = &results[i];
        char sinter[32], ratio[32], roof[32], c_roof[32];
        fprintf(out,
                "%s\n  {\"program\": \"%s\", \"n\": %" PRId64 ", \"sinter_ms\": %s, \"c_ms\": %.4f, \"ratio\": %s, "
                "\"bytes\": %" PRId64 ", \"roof_share\": %s, \"c_roof_share\": %s}",
                i > 0 ? "," : "", r->row->name, r->n, number(sinter, "%.4f", r->sinter * 1e3, "null"), r->c * 1e3,
                number(ratio, "%.4f", quotient(r->sinter, r->c), "null"), r->bytes,
                number(roof, "%.4f", quotient(r->roof, r->sinter), "null"),
                number(c_roof, "%.4f", quotient(r->roof, r->c), "null"));
    }
    fputs("\n]\n", out);
}
