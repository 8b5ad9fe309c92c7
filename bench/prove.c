/* Bandwidth of the patterns of tests/conformance on the CPU, against the strongest plain loops: prove [million
 * elements]. Useful bytes only: each element read or written counts once. */
#include "conformance/prove_kernels.h"
#include "device/device.h"
#include "harness.h"
#include "probe.h"

#include <stdlib.h>

enum { RUNS = 25, PARTS = 4 };

typedef struct {
    const char *name;
    kernel *k;
    int64_t piece;
    unsigned inputs, outputs; /* arrays of n */
    bool chained, filter;
} row;

typedef struct {
    device *cpu;
    arena a;
    int64_t n;
    float *in[PARTS], *out;
    void *partial[PARTS];
    uint64_t *state;
    int64_t total;
} bench;

static double read_bytes(const bench *b, const row *r)
{
    return (double)(r->inputs + r->outputs) * (double)b->n * sizeof(float);
}

/* Outputs here are larger than the caches, which a skeleton would know from the extents. */
static kernel *streamed(kernel *k)
{
    for (k_mem m = 1; m < k->mem.n; m++)
        k->mem.at[m].stream = k->mem.at[m].space == K_GLOBAL && k->mem.at[m].written && k->mem.at[m].type == T_F32;
    return k;
}

/* Seconds of the fastest run; negative if something failed. */
static double fastest(bench *b, const row *r)
{
    const char *why = "";
    double best = -1;
    int64_t pieces = (b->n + r->piece - 1) / r->piece;
    void *mem[2 * PARTS];
    unsigned at = 0;
    ir_bits arg[2] = {(ir_bits)b->n, 0};
    if (!k_verify(r->k, &b->a, &why))
        return fprintf(stderr, "%s: %s\n", r->name, why), -1;
    device_kernel *k = device_compile(b->cpu, r->k, &b->a, &why);
    if (!k)
        return fprintf(stderr, "%s: %s\n", r->name, why), -1;
    for (unsigned i = 0; i < r->inputs; i++)
        mem[at++] = b->in[i];
    if (r->outputs)
        mem[at++] = b->out;
    if (r->filter)
        mem[at++] = &b->total;
    if (r->chained)
        mem[at++] = b->state;
    for (unsigned i = 0; !r->outputs && i < PARTS; i++)
        mem[at++] = b->partial[i];
    for (int run = 0; run < RUNS; run++) {
        memset(b->state, 0, (size_t)(2 * pieces + 2) * sizeof(*b->state));
        double start = bench_now();
        device_queue *q = b->cpu->open_queue(b->cpu, NULL, NULL);
        bool fine = q && b->cpu->enqueue(b->cpu, q, k, mem, arg, 0, pieces, false, NULL);
        double seconds = bench_now() - start;
        b->cpu->close_queue(b->cpu, q);
        if (!fine)
            return -1;
        best = best < 0 || seconds < best ? seconds : best;
    }
    device_release_kernel(b->cpu, k);
    return best;
}

static bool open_bench(bench *b, int64_t n, unsigned threads)
{
    const char *why = "";
    *b = (bench){.n = n};
    arena_init(&b->a, NULL);
    b->cpu = device_cpu_open(&(device_options){.threads = threads}, &b->a, &why);
    if (!b->cpu)
        return fprintf(stderr, "%s\n", why), false;
    size_t bytes = (size_t)n * sizeof(float), pieces = (size_t)n / 4096 + 64;
    for (unsigned i = 0; i < PARTS; i++) {
        b->in[i] = b->cpu->alloc(b->cpu, bytes);
        b->partial[i] = calloc(pieces, 8);
        if (!b->in[i] || !b->partial[i])
            return false;
        for (int64_t j = 0; j < n; j++)
            b->in[i][j] = (float)((j * 2654435761u >> 12 & 0xffff) + i) / 32768.0f - 1.0f;
    }
    b->out = b->cpu->alloc(b->cpu, bytes);
    b->state = calloc(pieces, 16);
    if (!b->out || !b->state)
        return false;
    memset(b->out, 0, bytes);
    return true;
}

int main(int argc, char **argv)
{
    bench b;
    int64_t n = (argc > 1 ? atoll(argv[1]) : 32) * 1000000;
    int threads = argc > 2 ? atoi(argv[2]) : 0;
    struct team *team = team_new(threads);
    struct probe *probe = probe_new((size_t)n * sizeof(float));
    if (n <= 0 || !team || !probe || !open_bench(&b, n, (unsigned)threads))
        return fprintf(stderr, "prove: no memory or no device\n"), 1;
    int64_t ordered = prove_tree_of(&prove_sum_f32, PROVE_ORDERED).piece;
    int64_t commutative = prove_tree_of(&prove_sum_f32, PROVE_COMMUTATIVE).piece;
    int64_t scan = prove_tree_of(&prove_sum_f32, PROVE_SCAN).piece;
    const row rows[] = {
        {"sum, commutative", prove_fold_commutative(&b.a, &prove_sum_f32), commutative, 1, 0, false, false},
        {"sum, ordered", prove_fold_ordered(&b.a, &prove_sum_f32, false), ordered, 1, 0, false, false},
        {"argmax, ordered", prove_fold_ordered(&b.a, &prove_argmax, false), ordered, 1, 0, false, false},
        {"matrix product, ordered", prove_fold_ordered(&b.a, &prove_matrix_f32, false), ordered, 4, 0, false, false},
        {"scan", prove_scan_chained(&b.a, &prove_sum_f32), scan, 1, 1, true, false},
        {"scan, streamed", streamed(prove_scan_chained(&b.a, &prove_sum_f32)), scan, 1, 1, true, false},
        {"filter", prove_filter_chained(&b.a), scan, 1, 1, true, true},
        {"filter, streamed", streamed(prove_filter_chained(&b.a)), scan, 1, 1, true, true},
    };
    team_enter(team);
    for (int i = 0; i < 5; i++)
        probe_measure(probe, team);
    team_leave(team);
    double read = probe_read(probe), copy = probe_copy(probe);
    printf("%lld elements; plain read %.1f GB/s, copy %.1f GB/s, %u threads\n", (long long)n, read / 1e9, copy / 1e9,
           b.cpu->limits->workers);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        double seconds = fastest(&b, &rows[i]), bytes = read_bytes(&b, &rows[i]);
        if (rows[i].filter) /* what was kept was written */
            bytes = (double)(b.n + b.total) * sizeof(float);
        if (seconds > 0)
            printf("%-24s %7.2f ms %7.1f GB/s  %3.0f %% of the %s\n", rows[i].name, seconds * 1e3,
                   bytes / seconds / 1e9, 100 * bytes / seconds / (rows[i].outputs ? copy : read),
                   rows[i].outputs ? "copy" : "read");
    }
    b.cpu->close(b.cpu);
    probe_free(probe);
    team_free(team);
    arena_free(&b.a);
    return 0;
}
