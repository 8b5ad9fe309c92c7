/* Bandwidth probes. Which number of streams is fastest changes with the state of the machine, so several are tried. */
#include "probe.h"

#include "c/simd.h"
#include "harness.h"

#include <stdlib.h>

struct probe {
    float *from;
    float *to;
    int64_t n;
    double read;
    double copy;
    volatile float sink; /* keeps the sums from being removed */
};

enum { STEP = 4 * LANES };

static inline __attribute__((always_inline)) void read_part(struct probe *probe, int id, int workers, const int streams,
                                                            const int ahead)
{
    struct team_range mine = team_part(probe->n, 8 * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / streams / STEP * STEP;
    vf32 acc[4][2] = {0};
    for (int64_t i = mine.first; i < mine.first + stride; i += 2 * LANES) {
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++) {
            const float *at = probe->from + i + s * stride;
            if (ahead) {
                v_prefetch(at, ahead);
                v_prefetch(at, ahead + VECTOR_BYTES);
            }
            acc[s][0] = v_add(acc[s][0], v_load(at));
            acc[s][1] = v_add(acc[s][1], v_load(at + LANES));
        }
    }
    vf32 total = v_set(0);
    for (int s = 0; s < streams; s++)
        total = v_add(total, v_add(acc[s][0], acc[s][1]));
    if (id == 0)
        probe->sink = v_sum(total);
}

static inline __attribute__((always_inline)) void copy_part(struct probe *probe, int id, int workers, const int streams,
                                                            const int ahead)
{
    struct team_range mine = team_part(probe->n, 8 * STEP, id, workers);
    int64_t stride = (mine.last - mine.first) / streams / STEP * STEP;
    for (int64_t i = mine.first; i < mine.first + stride; i += STEP) {
#pragma GCC unroll 4
        for (int s = 0; s < streams; s++) {
            int64_t at = i + s * stride;
#pragma GCC unroll 4
            for (int k = 0; k < STEP; k += LANES) {
                if (ahead)
                    v_prefetch(probe->from + at + k, ahead);
                v_stream(probe->to + at + k, v_load(probe->from + at + k));
            }
        }
    }
    v_fence();
}

static void read_1(void *probe, int id, int workers)
{
    read_part(probe, id, workers, 1, 0);
}

static void read_2(void *probe, int id, int workers)
{
    read_part(probe, id, workers, 2, 0);
}

static void read_4(void *probe, int id, int workers)
{
    read_part(probe, id, workers, 4, 512);
}

static void copy_1(void *probe, int id, int workers)
{
    copy_part(probe, id, workers, 1, 1024);
}

static void copy_2(void *probe, int id, int workers)
{
    copy_part(probe, id, workers, 2, 1024);
}

static void copy_4(void *probe, int id, int workers)
{
    copy_part(probe, id, workers, 4, 0);
}

static double bandwidth(struct probe *probe, struct team *team, team_fn *fn, double bytes)
{
    double start = bench_now();
    team_run(team, fn, probe);
    return bytes / (bench_now() - start);
}

struct probe *probe_new(size_t bytes)
{
    struct probe *probe = calloc(1, sizeof *probe);
    if (!probe)
        return NULL;
    probe->n = (int64_t)(bytes / sizeof(float)) / (8 * STEP) * (8 * STEP);
    probe->from = bench_alloc((size_t)probe->n * sizeof(float));
    probe->to = bench_alloc((size_t)probe->n * sizeof(float));
    if (!probe->from || !probe->to) {
        probe_free(probe);
        return NULL;
    }
    return probe;
}

void probe_free(struct probe *probe)
{
    if (!probe)
        return;
    bench_free(probe->from, (size_t)probe->n * sizeof(float));
    bench_free(probe->to, (size_t)probe->n * sizeof(float));
    free(probe);
}

void probe_reset(struct probe *probe)
{
    probe->read = 0;
    probe->copy = 0;
}

void probe_measure(struct probe *probe, struct team *team)
{
    static team_fn *const reads[] = {read_1, read_2, read_4};
    static team_fn *const copies[] = {copy_1, copy_2, copy_4};
    double once = (double)probe->n * sizeof(float);
    team_enter(team);
    for (int i = 0; i < 3; i++) {
        double read = bandwidth(probe, team, reads[i], once);
        double copy = bandwidth(probe, team, copies[i], 2 * once);
        probe->read = read > probe->read ? read : probe->read;
        probe->copy = copy > probe->copy ? copy : probe->copy;
    }
    team_leave(team);
}

double probe_read(const struct probe *probe)
{
    return probe->read;
}

double probe_copy(const struct probe *probe)
{
    return probe->copy;
}
