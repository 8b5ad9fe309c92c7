/* Measures a device by kernels of our own language, so that what is measured is what programs can get: arrays of
 * several sizes are read and copied, and chains of fma computed, by all workers. Each is the best of several runs. */
#include "run/roof.h"

#include "kernel/kernel.h"

#include <time.h>

enum { COPIED = 16, CHAINS = 12, ROUNDS = 512, READERS = 2, MOST_RUNS = 40 };
enum { TURNS = 2 };                 /* of all kinds: other work on the machine comes and goes */
static const double enough = 0.006; /* seconds of runs of one kind in a turn */

typedef struct bench {
    device *device;
    device_queue *queue;
    bool timed; /* by the device */
    arena *arena;
    const device_limits *limits;
    int64_t group; /* threads of a FOR_ALL */
    uint16_t lanes;
    void *from, *to;
    const char *why; /* what failed first */
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* --- kernels --- */

static k_val times(k_builder *b, k_val x, k_val y)
{
    return k_let(b, OP_MUL, x, y, 0);
}

static k_val plus(k_builder *b, k_val x, k_val y)
{
    return k_let(b, OP_ADD, x, y, 0);
}

static kernel *begin(const bench *t, k_builder *b, const char *name, uint16_t lanes)
{
    kernel *k = k_new(t->arena, name, lanes);
    k->group = (uint16_t)(t->limits->group ? t->group : 0);
    k_begin(b, k);
    return k;
}

/* out[i] = in[i], `size` elements a piece; blocks of many threads know how many. */
static kernel *copy_kernel(const bench *t, bool stream)
{
    k_builder b;
    kernel *k = begin(t, &b, "roof_copy", t->lanes);
    k_mem out = k_global(&b, T_F32, true, "out"), in = k_global(&b, T_F32, false, "in");
    k->mem.at[out].stream = stream;
    k->mem.at[out].once = true;
    k_val size = k_arg(&b, T_I64, "size"), first = times(&b, k_piece(&b), size);
    k_val i = plus(&b, first, k_for_all(&b, t->limits->group ? k_i64(&b, COPIED * t->group) : size));
    k_store(&b, out, i, k_load(&b, in, i));
    k_end(&b);
    return k;
}

/* Sums of `rounds` * READERS elements a thread, of which neighbours read neighbours. */
static kernel *read_kernel(const bench *t)
{
    k_builder b;
    kernel *k = begin(t, &b, "roof_read", t->lanes);
    k_mem out = k_global(&b, T_F32, true, "out"), in = k_global(&b, T_F32, false, "in");
    k_val rounds = k_arg(&b, T_I64, "rounds"), group = k_i64(&b, t->group);
    k_val first = times(&b, k_piece(&b), times(&b, rounds, k_i64(&b, t->group * READERS)));
    k_val thread = k_for_all(&b, group), sum[READERS];
    for (int i = 0; i < READERS; i++)
        sum[i] = k_decl(&b, k_literal(&b, T_F32, 0), "sum");
    k_val at = plus(&b, first, thread);
    k_val round = k_for(&b, k_i64(&b, 0), rounds, false);
    k_val here = plus(&b, at, times(&b, round, k_i64(&b, t->group * READERS)));
    for (int i = 0; i < READERS; i++)
        k_set(&b, sum[i], plus(&b, k_get(&b, sum[i]), k_load(&b, in, plus(&b, here, k_i64(&b, i * t->group)))));
    k_end(&b);
    k_val all = sum[0];
    for (int i = 1; i < READERS; i++)
        all = plus(&b, all, sum[i]);
    k_store(&b, out, plus(&b, times(&b, k_piece(&b), group), thread), all);
    k_end(&b);
    return k;
}

/* CHAINS chains of ROUNDS fma a thread. */
static kernel *fma_kernel(const bench *t, ir_type type, uint16_t lanes)
{
    k_builder b;
    kernel *k = begin(t, &b, "roof_fma", lanes);
    const bool wide = type == T_F64;
    k_mem out = k_global(&b, type, true, "out");
    k_val x = k_arg(&b, type, "x"), y = k_arg(&b, type, "y"), chain[CHAINS], group = k_i64(&b, t->group);
    k_val thread = k_for_all(&b, group);
    for (int i = 0; i < CHAINS; i++)
        chain[i] = k_decl(&b, k_literal(&b, type, wide ? ir_bits_f64(i) : ir_bits_f32((float)i)), "chain");
    k_for(&b, k_i64(&b, 0), k_i64(&b, ROUNDS), false);
    for (int i = 0; i < CHAINS; i++)
        k_set(&b, chain[i], k_let(&b, OP_FMA, k_get(&b, chain[i]), x, y));
    k_end(&b);
    k_val all = chain[0];
    for (int i = 1; i < CHAINS; i++)
        all = plus(&b, all, chain[i]);
    k_store(&b, out, plus(&b, times(&b, k_piece(&b), group), thread), all);
    k_end(&b);
    return k;
}

/* --- running --- */

static const char no_memory[] = "no memory";

static bool fails(bench *t, const char *why)
{
    if (!t->why)
        t->why = why ? why : no_memory;
    return false;
}

static bool launch(bench *t, device_kernel *k, void **mem, const ir_bits *arg, int64_t pieces)
{
    device *d = t->device;
    k_error error = {0};
    const char *why = NULL;
    bool good = d->enqueue(d, t->queue, k, mem, arg, 0, pieces, false, NULL);
    return (d->finish(d, t->queue, &error, t->arena, &why) == DEVICE_FINE && good) || fails(t, why);
}

/* The least time of a launch, seconds; 0 after a failure. */
static double least_time(bench *t, const kernel *built, void **mem, const ir_bits *arg, int64_t pieces)
{
    const char *why = NULL;
    device_kernel *k = k_verify(built, t->arena, &why) ? device_compile(t->device, built, t->arena, &why) : NULL;
    double least = 0, begun = 0;
    if (!k)
        return fails(t, why), 0;
    for (int i = 0; i <= MOST_RUNS && (i < 2 || now() - begun < enough); i++) {
        double start = now();
        if (!launch(t, k, mem, arg, pieces)) {
            least = 0;
            break;
        }
        double took = now() - start;
        uint64_t ns = t->timed ? t->device->took(t->device, t->queue) : 0;
        took = ns ? (double)ns * 1e-9 : took;
        if (i == 0) /* pages, caches and threads get ready */
            begun = now();
        else if (least == 0 || took < least)
            least = took > 1e-9 ? took : 1e-9;
    }
    device_release_kernel(t->device, k);
    return least;
}

/* Pieces that keep all workers busy, of a whole number of rounds. */
static double read_rate(bench *t, double bytes)
{
    const int64_t step = t->group * READERS, total = (int64_t)(bytes / sizeof(float)) / step;
    int64_t pieces = (int64_t)t->limits->workers * (t->limits->group ? 16 : 4);
    int64_t rounds = total / pieces > 0 ? total / pieces : 1;
    pieces = total / rounds > 0 ? total / rounds : 1;
    const ir_bits arg[] = {(ir_bits)rounds};
    void *mem[] = {t->to, t->from};
    double seconds = least_time(t, read_kernel(t), mem, arg, pieces);
    return seconds > 0 ? (double)(pieces * rounds * step) * sizeof(float) / seconds : 0;
}

static double copy_rate(bench *t, double bytes, bool stream)
{
    int64_t total = (int64_t)(bytes / 2 / sizeof(float)), pieces = (int64_t)t->limits->workers * 4;
    int64_t size = t->limits->group ? COPIED * t->group : total / pieces / 64 * 64;
    size = size > 0 ? size : 64;
    pieces = total / size > 0 ? total / size : 1;
    const ir_bits arg[] = {(ir_bits)size};
    void *mem[] = {t->to, t->from};
    double seconds = least_time(t, copy_kernel(t, stream), mem, arg, pieces);
    return seconds > 0 ? 2.0 * (double)(pieces * size) * sizeof(float) / seconds : 0;
}

static double fma_rate(bench *t, ir_type type)
{
    const uint16_t lanes = (uint16_t)(t->limits->group ? t->lanes : t->limits->vector_bytes / ir_type_size(type));
    const bool wide = type == T_F64;
    bench own = *t;
    own.group = t->limits->group ? t->group : lanes;
    const ir_bits arg[] = {wide ? ir_bits_f64(0.5) : ir_bits_f32(0.5f), wide ? ir_bits_f64(1) : ir_bits_f32(1)};
    void *mem[] = {t->to};
    int64_t pieces = (int64_t)t->limits->workers * (t->limits->group ? 16 : 64);
    double seconds = least_time(&own, fma_kernel(&own, type, lanes), mem, arg, pieces);
    t->why = t->why ? t->why : own.why;
    return seconds > 0 ? 2.0 * CHAINS * ROUNDS * (double)(pieces * own.group) / seconds : 0;
}

static void measure_level(bench *t, run_level *level, double bytes, bool memory)
{
    level->bytes = bytes;
    level->read = larger(level->read, read_rate(t, bytes));
    level->copy = larger(level->copy, copy_rate(t, bytes, memory && !t->limits->group));
    level->read = larger(level->read, level->copy);
}

/* --- sizes --- */

/* Bytes of two arrays: where the first caches hold them, the last, and none. */
static void choose_sizes(const device_limits *l, double bytes[RUN_LEVELS])
{
    if (l->memory) {
        bytes[0] = 1 << 20;
        bytes[1] = 16 << 20;
        bytes[2] = larger(64 << 20, (double)(l->workers < 128 ? l->workers : 128) * (2 << 20));
        if (bytes[2] > (double)l->memory / 8)
            bytes[2] = (double)l->memory / 8;
    } else {
        double cache = (double)(l->cache_bytes < SIZE_MAX ? l->cache_bytes : (size_t)8 << 20);
        bytes[0] = 128.0 * 1024 * l->workers;
        bytes[1] = cache;
        bytes[2] = larger(8 * cache, 32 << 20);
    }
    if (bytes[0] > bytes[1] / 2)
        bytes[0] = bytes[1] / 2;
}

static void measure_turn(bench *t, const double *bytes, run_roof *out)
{
    const ir_bits arg[] = {(ir_bits)(t->limits->group ? COPIED * t->group : 64)};
    void *mem[] = {t->to, t->from};
    for (int i = 0; i < RUN_LEVELS && !t->why; i++)
        measure_level(t, &out->level[i], bytes[i], i == RUN_LEVELS - 1);
    if (!t->why)
        out->f32 = larger(out->f32, fma_rate(t, T_F32));
    bench wide = *t; /* not every device has such numbers */
    if (!t->why)
        out->f64 = larger(out->f64, fma_rate(&wide, T_F64));
    bench waiting = *t; /* what a launch takes is what the host sees */
    waiting.timed = false;
    double launched = t->why ? 0 : least_time(&waiting, copy_kernel(t, false), mem, arg, t->limits->workers);
    if (out->launch == 0 || launched < out->launch)
        out->launch = launched;
}

static void measure(bench *t, run_roof *out)
{
    double bytes[RUN_LEVELS];
    choose_sizes(t->limits, bytes);
    for (int i = 0; i < TURNS && !t->why; i++)
        measure_turn(t, bytes, out);
    if (out->f64 <= 0)
        out->f64 = out->f32;
    out->levels = RUN_LEVELS;
    out->level[0].bytes *= 2; /* half of what these caches have was measured */
    out->level[1].bytes *= 2;
}

static bool take(bench *t, size_t bytes)
{
    t->from = t->device->alloc(t->device, bytes);
    t->to = t->device->alloc(t->device, bytes);
    if (!t->from || !t->to)
        return fails(t, NULL);
    if (t->device->map(t->device, t->from)) {
        memset(t->from, 1, bytes); /* pages of their own, not one of zeros */
        memset(t->to, 1, bytes);
    }
    t->queue = t->device->open_queue(t->device, NULL, NULL);
    t->timed = t->queue && t->device->time_queue && t->device->time_queue(t->device, t->queue);
    return t->queue || fails(t, "the device takes no work");
}

static char *keep(const base_heap *heap, const char *why)
{
    size_t bytes = strlen(why) + 1;
    char *copy = heap->alloc(heap->env, bytes);
    return copy ? memcpy(copy, why, bytes) : NULL;
}

void run_measure_roof(device *d, const base_heap *heap, run_roof *out)
{
    arena a;
    jmp_buf failure;
    double bytes[RUN_LEVELS];
    bench *volatile t = NULL;
    const char *volatile why = NULL;
    *out = (run_roof){0};
    choose_sizes(d->limits, bytes);
    const size_t size = (size_t)bytes[RUN_LEVELS - 1];
    arena_init(&a, heap);
    if (!setjmp(failure)) {
        arena_on_failure(&a, &failure);
        bench *made = arena_new(&a, *made);
        *made = (bench){.device = d, .arena = &a, .limits = d->limits};
        made->lanes = (uint16_t)(d->limits->group ? 32 : d->limits->vector_bytes);
        made->group = d->limits->group ? (d->limits->group < 256 ? d->limits->group : 256) : made->lanes;
        t = made;
        if (take(made, size))
            measure(made, out);
        why = made->why;
    } else {
        why = no_memory;
    }
    if (t) {
        if (t->queue)
            d->close_queue(d, t->queue);
        if (t->from)
            d->release(d, t->from, size);
        if (t->to)
            d->release(d, t->to, size);
    }
    out->known = !why;
    out->why = why && why != no_memory ? keep(heap, why) : NULL;
    arena_free(&a);
}

static uint32_t level_of(const run_roof *roof, double bytes)
{
    uint32_t at = 0;
    while (at + 1 < roof->levels && bytes > roof->level[at].bytes)
        at++;
    return at;
}

static double memory_seconds(const run_roof *roof, double loaded, double stored)
{
    const run_level *l = &roof->level[level_of(roof, loaded + stored)];
    double write = 2 / l->copy - 1 / l->read; /* seconds a byte that is written beside one that is read */
    return loaded / l->read + stored * larger(write, 1 / l->read);
}

static double arithmetic_seconds(const run_roof *roof, double operations, double wide)
{
    return (operations - wide) / roof->f32 + wide / roof->f64;
}

/* Of reading where a launch mostly reads, else of copying, which is no faster than reading. */
static void raise_memory(run_level *l, bool copies, double factor)
{
    if (copies)
        l->copy *= factor;
    else
        l->read *= factor;
    l->read = larger(l->read, l->copy);
}

void run_raise_roof(run_roof *roof, double loaded, double stored, double operations, double wide, double seconds)
{
    run_level *l = &roof->level[level_of(roof, loaded + stored)];
    double arithmetic = arithmetic_seconds(roof, operations, wide), memory = 0;
    if (seconds <= 0)
        return;
    for (int i = 0; i < 2 && (memory = memory_seconds(roof, loaded, stored)) > seconds; i++)
        raise_memory(l, stored > loaded / 4, memory / seconds);
    memory = memory_seconds(roof, loaded, stored);
    if (memory > seconds) {
        l->read *= memory / seconds;
        l->copy *= memory / seconds;
    }
    if (arithmetic > seconds) {
        roof->f32 *= arithmetic / seconds;
        roof->f64 *= arithmetic / seconds;
    }
}

double run_roof_seconds(const run_roof *roof, double loaded, double stored, double operations, double wide)
{
    return larger(memory_seconds(roof, loaded, stored), arithmetic_seconds(roof, operations, wide));
}
