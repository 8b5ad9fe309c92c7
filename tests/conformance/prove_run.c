/* Devices and host parts of the conformance cases. */
#include "conformance/prove_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/device.h"
#include "emit/emit.h"
#include "support/launch.h"
#include "support/opencl_runner.h"

/* --- interpreter --- */

static void *interpreter_prepare(prove_device *d, kernel *k, arena *a)
{
    (void)d, (void)a;
    return k;
}

static bool interpreter_run(prove_device *d, void *prepared, const kernel *k, void *const *mem, const size_t *bytes,
                            const ir_bits *arg, int64_t first, int64_t last, k_error *error)
{
    arena a;
    (void)d, (void)prepared, (void)bytes;
    arena_init(&a, NULL);
    k_interpret(k, &a, mem, arg, first, last, error);
    arena_free(&a);
    return true;
}

static void forget_nothing(prove_device *d, void *prepared)
{
    (void)d, (void)prepared;
}

static void close_nothing(prove_device *d)
{
    (void)d;
}

/* --- CPU --- */

static void *cpu_prepare(prove_device *d, kernel *k, arena *a)
{
    device *cpu = d->self;
    const char *why = "";
    device_kernel *compiled = device_compile(cpu, k, a, &why);
    if (!compiled)
        fail_msg("%s: %s", k->name, why);
    return compiled;
}

static bool cpu_run(prove_device *d, void *prepared, const kernel *k, void *const *mem, const size_t *bytes,
                    const ir_bits *arg, int64_t first, int64_t last, k_error *error)
{
    device *cpu = d->self;
    (void)k, (void)bytes;
    return launch_now(cpu, prepared, mem, arg, first, last, false, error);
}

static void cpu_forget(prove_device *d, void *prepared)
{
    device *cpu = d->self;
    device_release_kernel(cpu, prepared);
}

static void cpu_close(prove_device *d)
{
    device *cpu = d->self;
    cpu->close(cpu);
}

/* --- OpenCL --- */

/* Fewer items than lanes, so that a work item stands for several threads. */
enum { OPENCL_ITEMS = 8, OPENCL_GROUPS = 4 };

static void *cl_prepare(prove_device *d, kernel *k, arena *a)
{
    const char *why = "";
    text source;
    text_init(&source, a);
    k_expand_math(k);
    k_analyse(k);
    k_layout(k, 64);
    if (!emit_text(k, &dialect_opencl, "prove", &source, &why))
        fail_msg("%s: %s", k->name, why);
    opencl_program *p = opencl_build(d->self, source.at, "prove", OPENCL_ITEMS, a, &why);
    if (!p)
        fail_msg("%s: %s\n%s", k->name, why, source.at);
    return p;
}

static bool cl_run(prove_device *d, void *prepared, const kernel *k, void *const *mem, const size_t *bytes,
                   const ir_bits *arg, int64_t first, int64_t last, k_error *error)
{
    (void)d;
    return opencl_run(prepared, k, mem, bytes, arg, first, last, OPENCL_GROUPS, error);
}

static void cl_forget(prove_device *d, void *prepared)
{
    (void)d;
    opencl_drop(prepared);
}

static void cl_close(prove_device *d)
{
    opencl_close(d->self);
}

/* --- CUDA, through the driver --- */

static bool queue_run(prove_device *d, void *prepared, const kernel *k, void *const *mem, const size_t *bytes,
                      const ir_bits *arg, int64_t first, int64_t last, k_error *error)
{
    device *gpu = d->self;
    device_queue *q = gpu->open_queue(gpu, NULL, NULL);
    const char *why = "no queue";
    void *block[PROVE_GLOBALS] = {0};
    uint32_t n = 0;
    arena a;
    arena_init(&a, NULL);
    bool good = q != NULL;
    for (k_mem m = 1; good && m < k->mem.n; m++) {
        if (k->mem.at[m].space != K_GLOBAL)
            continue;
        block[n] = gpu->alloc(gpu, bytes[n]);
        good = block[n] && gpu->copy(gpu, q, DEVICE_UPLOAD, block[n], mem[n], 0, bytes[n]);
        n++;
    }
    good = good && gpu->enqueue(gpu, q, prepared, block, arg, first, last, false, NULL);
    for (uint32_t i = 0, m = 1; good && i < n; m++) {
        if (k->mem.at[m].space != K_GLOBAL)
            continue;
        if (k->mem.at[m].written)
            good = gpu->copy(gpu, q, DEVICE_DOWNLOAD, mem[i], block[i], 0, bytes[i]);
        i++;
    }
    if (q)
        good &= gpu->finish(gpu, q, error, &a, &why) == DEVICE_FINE;
    if (!good)
        printf("%s: %s\n", k->name, why ? why : "");
    gpu->close_queue(gpu, q);
    for (uint32_t i = 0; i < n; i++)
        gpu->release(gpu, block[i], bytes[i]);
    arena_free(&a);
    return good;
}

/* --- all devices --- */

static void open_cpu(prove_devices *d, unsigned threads)
{
    const char *why = "";
    device_options options = {.threads = threads};
    device *cpu = device_cpu_open(&options, &d->arena, &why);
    if (!cpu)
        printf("skipped: CPU: %s\n", why);
    else
        d->at[d->n++] = (prove_device){threads == 1 ? "CPU, 1 thread" : "CPU, 2 threads",
                                       true,
                                       false,
                                       cpu,
                                       cpu_prepare,
                                       cpu_run,
                                       cpu_forget,
                                       cpu_close};
}

static void open_cuda(prove_devices *d)
{
    const char *why = "";
    device *cuda = device_cuda_open(NULL, 0, &d->arena, &why);
    if (!cuda)
        printf("skipped: CUDA: %s\n", why);
    else
        d->at[d->n++] = (prove_device){
            "CUDA", cuda->limits->forward_progress, true, cuda, cpu_prepare, queue_run, cpu_forget, cpu_close};
}

void prove_open(prove_devices *d)
{
    const char *why = "";
    *d = (prove_devices){0};
    arena_init(&d->arena, NULL);
    d->at[d->n++] = (prove_device){"interpreter",   true,           true,         NULL, interpreter_prepare,
                                   interpreter_run, forget_nothing, close_nothing};
    open_cpu(d, 1);
    open_cpu(d, 2);
    opencl_runner *r = opencl_open(&why);
    if (!r)
        printf("skipped: OpenCL: %s\n", why);
    else
        d->at[d->n++] = (prove_device){"OpenCL", false, true, r, cl_prepare, cl_run, cl_forget, cl_close};
    open_cuda(d);
}

void prove_close(prove_devices *d)
{
    for (unsigned i = 0; i < d->n; i++)
        d->at[i].close(&d->at[i]);
    arena_free(&d->arena);
}

prove_program prove_ready(prove_device *d, arena *a, kernel *k)
{
    const char *why = "";
    if (!k_verify(k, a, &why))
        fail_msg("%s: %s", k->name, why);
    return (prove_program){d, k, d->prepare(d, k, a)};
}

void prove_forget(prove_program *p)
{
    if (p->device)
        p->device->forget(p->device, p->prepared);
    *p = (prove_program){0};
}

void prove_add(prove_memory *m, void *at, size_t bytes)
{
    m->at[m->n] = at;
    m->bytes[m->n++] = bytes;
}

void prove_launch(const prove_program *p, const prove_memory *m, const ir_bits *arg, int64_t pieces, k_error *error)
{
    if (!p->device->run(p->device, p->prepared, p->k, m->at, m->bytes, arg, 0, pieces, error))
        fail_msg("%s: the launch failed", p->device->name);
}

static void launch(const prove_program *p, const prove_memory *m, const ir_bits *arg, int64_t pieces)
{
    k_error error = {0};
    prove_launch(p, m, arg, pieces, &error);
    if (error.site)
        fail_msg("%s: error %u at %lld", p->k->name, error.site, (long long)error.element);
}

static int64_t pieces_of(int64_t n, int64_t piece)
{
    return (n + piece - 1) / piece;
}

/* Memory that the host needs beside: never empty, so that there is a pointer. */
static void *room(arena *a, int64_t count, ir_type t)
{
    return arena_alloc(a, (size_t)(count + 1) * ir_type_size(t));
}

/* --- folds --- */

prove_fold prove_fold_ready(prove_device *d, arena *a, const prove_operator *op, bool ordered)
{
    prove_tree tree = prove_tree_of(op, ordered ? PROVE_ORDERED : PROVE_COMMUTATIVE);
    bool positions = ordered && op == &prove_argmax;
    prove_fold f = {.op = op, .inputs = positions ? 1 : op->arity};
    f.piece = tree.piece;
    f.first = prove_ready(d, a, ordered ? prove_fold_ordered(a, op, false) : prove_fold_commutative(a, op));
    if (ordered) /* rows of partial results go through the tree however short they are */
        f.again = prove_ready(d, a, prove_fold_ordered(a, op, true));
    f.finish = prove_ready(d, a, prove_fold_finish(a, op));
    return f;
}

void prove_fold_forget(prove_fold *f)
{
    prove_forget(&f->first);
    prove_forget(&f->again);
    prove_forget(&f->finish);
}

/* One launch: n elements become one result per piece. */
static int64_t fold_once(const prove_fold *f, const prove_program *p, unsigned inputs, void **in, int64_t n, arena *a)
{
    prove_memory m = {0};
    int64_t pieces = pieces_of(n, f->piece);
    void *out[4];
    for (unsigned c = 0; c < inputs; c++)
        prove_add(&m, in[c], (size_t)n * ir_type_size(f->op->type[c]));
    for (unsigned c = 0; c < f->op->arity; c++) {
        out[c] = room(a, pieces, f->op->type[c]);
        prove_add(&m, out[c], (size_t)pieces * ir_type_size(f->op->type[c]));
    }
    ir_bits arg = (ir_bits)n;
    launch(p, &m, &arg, pieces);
    memcpy(in, out, f->op->arity * sizeof(*in));
    return pieces;
}

void prove_fold_run(const prove_fold *f, void *const *in, int64_t n, const ir_bits *seed, ir_bits *result)
{
    arena a;
    void *now[4] = {0}, *out[4];
    prove_memory m = {0};
    ir_bits arg[5] = {(ir_bits)n};
    arena_init(&a, NULL);
    memcpy(now, in, f->inputs * sizeof(*in));
    int64_t left = n ? fold_once(f, &f->first, f->inputs, now, n, &a) : 0;
    while (left > 1)
        left = fold_once(f, f->again.device ? &f->again : &f->first, f->op->arity, now, left, &a);
    for (unsigned c = 0; c < f->op->arity; c++) {
        size_t size = ir_type_size(f->op->type[c]);
        prove_add(&m, n ? now[c] : room(&a, 1, f->op->type[c]), size);
        arg[1 + c] = seed[c];
    }
    for (unsigned c = 0; c < f->op->arity; c++) {
        out[c] = room(&a, 1, f->op->type[c]);
        prove_add(&m, out[c], ir_type_size(f->op->type[c]));
    }
    launch(&f->finish, &m, arg, 1);
    for (unsigned c = 0; c < f->op->arity; c++) {
        result[c] = 0;
        memcpy(&result[c], out[c], ir_type_size(f->op->type[c]));
    }
    arena_free(&a);
}

/* --- scans --- */

prove_scan prove_scan_ready(prove_device *d, arena *a, const prove_operator *op, bool chained)
{
    prove_scan s = {.op = op};
    if (chained) {
        s.chained = prove_ready(d, a, prove_scan_chained(a, op));
        return s;
    }
    s.sums = prove_ready(d, a, prove_scan_sums(a, op));
    s.carries = prove_ready(d, a, prove_scan_carries(a, op));
    s.apply = prove_ready(d, a, prove_scan_apply(a, op));
    return s;
}

void prove_scan_forget(prove_scan *s)
{
    prove_forget(&s->chained);
    prove_forget(&s->sums);
    prove_forget(&s->carries);
    prove_forget(&s->apply);
}

static void scan_chained(const prove_scan *s, void *in, void *out, int64_t n, ir_bits seed, int64_t pieces, arena *a)
{
    prove_memory m = {0};
    size_t bytes = (size_t)n * ir_type_size(s->op->type[0]);
    prove_add(&m, in, bytes);
    prove_add(&m, out, bytes);
    prove_add(&m, room(a, 2 * pieces, T_U64), (size_t)pieces * 16);
    ir_bits arg[2] = {(ir_bits)n, seed};
    launch(&s->chained, &m, arg, pieces);
}

static void scan_twice(const prove_scan *s, void *in, void *out, int64_t n, ir_bits seed, int64_t pieces, arena *a)
{
    ir_type t = s->op->type[0];
    size_t bytes = (size_t)n * ir_type_size(t), sums_bytes = (size_t)pieces * ir_type_size(t);
    void *sums = room(a, pieces, t);
    prove_memory first = {0}, second = {0}, third = {0};
    prove_add(&first, in, bytes);
    prove_add(&first, sums, sums_bytes);
    launch(&s->sums, &first, (ir_bits[]){(ir_bits)n}, pieces);
    prove_add(&second, sums, sums_bytes);
    launch(&s->carries, &second, (ir_bits[]){(ir_bits)pieces, seed}, 1);
    prove_add(&third, in, bytes);
    prove_add(&third, sums, sums_bytes);
    prove_add(&third, out, bytes);
    launch(&s->apply, &third, (ir_bits[]){(ir_bits)n}, pieces);
}

void prove_scan_run(const prove_scan *s, void *in, void *out, int64_t n, ir_bits seed)
{
    arena a;
    int64_t pieces = pieces_of(n, prove_tree_of(s->op, PROVE_SCAN).piece);
    arena_init(&a, NULL);
    (s->chained.device ? scan_chained : scan_twice)(s, in, out, n, seed, pieces, &a);
    arena_free(&a);
}

/* --- filters --- */

prove_filter prove_filter_ready(prove_device *d, arena *a, bool chained)
{
    prove_filter f = {0};
    if (chained) {
        f.chained = prove_ready(d, a, prove_filter_chained(a));
        return f;
    }
    f.count = prove_ready(d, a, prove_filter_count(a));
    f.offsets = prove_ready(d, a, prove_filter_offsets(a));
    f.write = prove_ready(d, a, prove_filter_write(a));
    return f;
}

void prove_filter_forget(prove_filter *f)
{
    prove_forget(&f->chained);
    prove_forget(&f->count);
    prove_forget(&f->offsets);
    prove_forget(&f->write);
}

static void filter_chained(const prove_filter *f, void *in, void *out, int64_t *total, const ir_bits *arg,
                           int64_t pieces, arena *a)
{
    prove_memory m = {0};
    size_t bytes = (size_t)arg[0] * sizeof(float);
    prove_add(&m, in, bytes);
    prove_add(&m, out, bytes);
    prove_add(&m, total, sizeof(*total));
    prove_add(&m, room(a, 2 * pieces, T_U64), (size_t)pieces * 16);
    launch(&f->chained, &m, arg, pieces);
}

static void filter_twice(const prove_filter *f, void *in, void *out, int64_t *total, const ir_bits *arg, int64_t pieces,
                         arena *a)
{
    size_t bytes = (size_t)arg[0] * sizeof(float);
    void *counts = room(a, pieces, T_I64);
    prove_memory first = {0}, second = {0}, third = {0};
    prove_add(&first, in, bytes);
    prove_add(&first, counts, (size_t)pieces * 8);
    launch(&f->count, &first, arg, pieces);
    prove_add(&second, counts, (size_t)pieces * 8);
    prove_add(&second, total, sizeof(*total));
    launch(&f->offsets, &second, (ir_bits[]){(ir_bits)pieces}, 1);
    prove_add(&third, in, bytes);
    prove_add(&third, counts, (size_t)pieces * 8);
    prove_add(&third, out, bytes);
    launch(&f->write, &third, arg, pieces);
}

int64_t prove_filter_run(const prove_filter *f, void *in, void *out, int64_t n, float limit)
{
    arena a;
    int64_t total = 0, pieces = pieces_of(n, prove_tree_of(&prove_sum_f32, PROVE_SCAN).piece);
    ir_bits arg[2] = {(ir_bits)n, ir_bits_f32(limit)};
    arena_init(&a, NULL);
    (f->chained.device ? filter_chained : filter_twice)(f, in, out, &total, arg, pieces, &a);
    arena_free(&a);
    return total;
}
