/* The CPU device: kernels compiled by the code generator's module and kept by content, in memory and on disk, launched
 * on the worker pool. */
#include "device/cpu_code.h"
#include "device/cpu_codegen.h"
#include "device/cpu_export.h"
#include "device/cpu_memory.h"
#include "device/cpu_put_off.h"
#include "device/cpu_together.h"
#include "device/device.h"
#include "device/disk_cache.h"
#include "device/kernel_cache.h"
#include "device/pool.h"
#include "ir/trace.h"
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BLOCK_SCRATCH = 512 << 10,
    LARGE_SCRATCH = 4 << 20, /* of kernels that copy what they read into it: products of matrices and the like */
    MOST_CACHE = 32 << 20,
    BATCHES_PER_THREAD = 16,
    MOST_THREADS = 1024,
    /* Scalar operations. From so many a thread on a launch keeps all threads at work, and is not put off; nor is
     * anything behind so many that have been, unless another one reads the same. */
    WORTH_A_THREAD = 400000,
    MOST_WORK_PUT_OFF = 4000000,
    LEAST_LEVEL_WORK = 200000, /* of several launches, to wake up threads for them: some 2 us */
    DRAFT_WORK = 20000000      /* a draft takes some ms longer for it, less than what it saves */
};

struct device_kernel {
    kernel_entry entry;
    cpu_code code;
    bool chained, large;      /* large: blocks of LARGE_SCRATCH bytes */
    emit_cpu_code *generated; /* kept for its text; NULL else */
};

typedef struct {
    device device;
    device_limits limits;
    base_heap heap;
    pool *pool;
    bool keep_text;
    uint32_t part; /* of the options */
    device_drafts drafts;
    disk_cache *disk; /* NULL: nothing is kept on disk */
    text identity;    /* what keys on disk begin with */
    bool found;       /* there is a module, */
    digest maker;     /* this one */
    arena names;      /* of identity and path */
    const char *path; /* as the user gave it */

    pthread_mutex_t opening; /* of these three */
    const emit_cpu_module *module;
    char *no_module; /* why there is none, or it compiles no more; NULL: not tried, or there is one */

    kernel_cache kernels;
    pthread_mutex_t lock; /* of what follows */
    scratch *scratch[2];  /* blocks not in use, of BLOCK_SCRATCH and of LARGE_SCRATCH bytes */
    device_queue *idle;   /* queues not in use, */
    device_queue *spare;  /* and one more, without the lock: calls one after the other take it */
} cpu;

/* Work is done when it is put in: what is left of it is what there is to say. */
struct device_queue {
    device_queue *next; /* among the idle ones */
    scratch *own;       /* of the thread that calls, kept from call to call; NULL: not needed yet */
    k_error error;      /* of the launch that failed; where values are noted */
    device_state state;
    cpu_put_offs *put_off; /* NULL: nothing ever was */
};

/* --- errors from kernels --- */

static void report(k_error *e, uint32_t site, int64_t element, int64_t value, int64_t bound)
{
    while (__atomic_exchange_n(&e->lock, 1, __ATOMIC_ACQUIRE))
        ;
    if (e->site == 0 || site < e->site || (site == e->site && element < e->element)) {
        e->site = site;
        e->element = element;
        e->value = value;
        e->bound = bound;
    }
    __atomic_store_n(&e->lock, 0, __ATOMIC_RELEASE);
}

static void note(k_error *e, uint32_t site, int64_t element, int64_t value, int64_t type)
{
    if (e->trace)
        ir_trace_note(e->trace, site, (ir_type)type, element, (ir_bits)value);
}

/* A piece takes microseconds, so the one before is done soon, if it runs at all. */
static void await(const uint64_t *flag)
{
    enum { SPINS = 4000 };
    for (unsigned turn = 0; !__atomic_load_n(flag, __ATOMIC_ACQUIRE); turn++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        if (turn >= SPINS)
            sched_yield();
    }
}

static void fuse(void *x, const void *y, const void *z, int64_t n, int64_t bytes)
{
    float *x32 = x;
    double *x64 = x;
    for (int64_t i = 0; i < n; i++)
        if (bytes == sizeof(float))
            x32[i] = fmaf(x32[i], ((const float *)y)[i], ((const float *)z)[i]);
        else
            x64[i] = fma(x64[i], ((const double *)y)[i], ((const double *)z)[i]);
}

static const k_helpers helpers = {.report = report, .note = note, .await = await, .fuse = fuse};

/* --- memory --- */

static void *cpu_alloc(device *d, size_t bytes)
{
    return cpu_memory_alloc(&((cpu *)d)->heap, bytes);
}

static void cpu_release(device *d, void *block, size_t bytes)
{
    cpu_memory_release(&((cpu *)d)->heap, block, bytes);
}

static void *cpu_wrap(device *d, const void *host)
{
    (void)d;
    return (void *)(uintptr_t)host;
}

static void *cpu_map(device *d, void *block)
{
    (void)d;
    return block;
}

/* --- compilation --- */

static char *copy_text(const char *s)
{
    size_t n = strlen(s) + 1;
    char *r = malloc(n);
    return r ? memcpy(r, s, n) : NULL;
}

/* The code generator, opened when it is first needed; NULL and *why (in `a`, or the device's) if there is none, *why
 * NULL if there was no memory. */
static const emit_cpu_module *module_of(cpu *d, arena *a, const char **why)
{
    pthread_mutex_lock(&d->opening);
    bool known = d->module || d->no_module;
    if (!known) {
        jmp_buf failure, *outer = a->failure;
        if (setjmp(failure)) {
            arena_on_failure(a, outer);
            pthread_mutex_unlock(&d->opening);
            *why = NULL;
            return NULL;
        }
        arena_on_failure(a, &failure);
        d->module = cpu_codegen_open(d->path, a, why);
        d->no_module = d->module ? NULL : copy_text(*why);
        arena_on_failure(a, outer);
    }
    if (d->module && !d->no_module && d->module->unusable())
        d->no_module = copy_text(d->module->unusable());
    if (known)
        *why = d->no_module;
    const emit_cpu_module *m = d->no_module ? NULL : d->module;
    pthread_mutex_unlock(&d->opening);
    return m;
}

static bool cpu_generates(device *base)
{
    cpu *d = (cpu *)base;
    pthread_mutex_lock(&d->opening);
    bool can = !d->no_module;
    pthread_mutex_unlock(&d->opening);
    return can;
}

static bool load(cpu *d, const text *key, device_kernel *out)
{
    disk_value v;
    void *block;
    if (!d->disk || !disk_cache_get(d->disk, key->at, key->n, d->found ? &d->maker : NULL, &v, &block))
        return false;
    emit_cpu_blob blob = {v.bytes, v.size, v.entry};
    out->entry.loaded = cpu_code_map(&blob, &out->code);
    d->heap.release(d->heap.env, block);
    return out->entry.loaded;
}

static void keep(cpu *d, const text *key, const emit_cpu_blob *blob)
{
    if (d->disk && d->found)
        disk_cache_put(d->disk, key->at, key->n, d->maker, (disk_value){blob->bytes, blob->size, blob->entry});
}

/* The code, which is the module's; NULL and *why, which is the arena's, if there is none, *why NULL if there was no
 * memory. */
static emit_cpu_code *compile_prepared(const emit_cpu_module *m, const kernel *ready, const emit_cpu_options *options,
                                       arena *a, const char **why)
{
    char *said = NULL; /* the module's */
    emit_cpu_code *code = m->compile(ready, options, &said);
    if (code)
        return code;
    jmp_buf failure, *outer = a->failure;
    *why = NULL;
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        *why = said ? arena_string(a, said) : NULL;
    }
    arena_on_failure(a, outer);
    m->release_text(said);
    return NULL;
}

static size_t block_bytes(bool large)
{
    return large ? LARGE_SCRATCH : BLOCK_SCRATCH;
}

/* What all its memory would take side by side, which is most that it can need. */
static bool is_large(const kernel *k)
{
    uint64_t bytes = 0;
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        uint64_t each = (uint64_t)memory->count * ir_type_size((ir_type)memory->type);
        bytes += memory->space == K_SHARED ? each : memory->space == K_PRIVATE ? each * k->threads : 0;
    }
    return bytes > BLOCK_SCRATCH;
}

static emit_draft may_draft(const cpu *d, const device_kernel *out)
{
    return !out->entry.draft                 ? EMIT_NO_DRAFT
           : d->drafts == DEVICE_ONLY_DRAFTS ? EMIT_ALL_AS_DRAFT
                                             : EMIT_LARGE_AS_DRAFT;
}

/* `key`: of both kinds of code. */
static bool generate(cpu *d, const kernel *k, const text key[2], device_kernel *out, arena *a, const char **why)
{
    const emit_cpu_module *m = module_of(d, a, why);
    if (!m)
        return false;
    kernel *ready = kernel_prepare(a, k, NULL);
    if (ready->scratch > block_bytes(out->large)) {
        *why = arena_printf(a, "internal error: kernel %s needs %u bytes of block memory, more than the %zu there are",
                            k->name, ready->scratch, block_bytes(out->large));
        return false;
    }
    const emit_cpu_options options = {
        .keep_ir = d->keep_text, .keep_asm = d->keep_text, .part = d->part, .draft = may_draft(d, out)};
    out->generated = compile_prepared(m, ready, &options, a, why);
    if (!out->generated)
        return false;
    emit_cpu_blob blob = m->blob(out->generated);
    bool mapped = cpu_code_map(&blob, &out->code);
    out->entry.draft = m->is_draft(out->generated);
    if (mapped)
        keep(d, &key[out->entry.draft], &blob);
    else
        *why = "the system refuses executable memory; allow it, or use the device \"interpreter\"";
    if (!d->keep_text) {
        m->release(out->generated);
        out->generated = NULL;
    }
    return mapped;
}

/* --- code that leaves the process, and comes into it --- */

bool device_cpu_export(device *base, const kernel *k, unsigned level, arena *a, emit_cpu_blob *out, const char **why)
{
    cpu *d = (cpu *)base;
    const cpu_level *l = device_cpu_level_at(level);
    const emit_cpu_module *m = module_of(d, a, why);
    if (!m)
        return false;
    const emit_cpu_options options = {.cpu = l->cpu, .features = l->features};
    emit_cpu_code *code = compile_prepared(m, kernel_prepare(a, k, NULL), &options, a, why);
    if (!code)
        return false;
    jmp_buf failure, *outer = a->failure;
    volatile bool copied = false;
    *why = NULL;
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        *out = m->blob(code);
        out->bytes = arena_copy(a, out->bytes, out->size);
        copied = true;
    }
    arena_on_failure(a, outer);
    m->release(code);
    return copied;
}

bool device_cpu_supply(device *base, const void *key, size_t key_bytes, emit_cpu_blob code)
{
    const kernel_supply all = {
        .key = key, .key_bytes = key_bytes, .code = code.bytes, .code_bytes = code.size, .entry = code.entry};
    return kernel_cache_supply(&((cpu *)base)->kernels, &all);
}

static bool take_supplied(cpu *d, const text *kernel_key, device_kernel *out)
{
    const kernel_supply *s = kernel_cache_supplied(&d->kernels, kernel_key);
    if (!s)
        return false;
    emit_cpu_blob blob = {s->code, s->code_bytes, s->entry};
    out->entry.loaded = cpu_code_map(&blob, &out->code);
    return out->entry.loaded;
}

/* Code of full effort, brought along or from disk. */
static bool take_full(cpu *d, const text *kernel_key, const text *key, device_kernel *out)
{
    if (d->drafts == DEVICE_ONLY_DRAFTS && out->entry.draft)
        return false;
    const bool taken = take_supplied(d, kernel_key, out) || load(d, key, out);
    out->entry.draft &= !taken;
    return taken;
}

/* Fills an entry with code that was brought along, or from disk, or else newly generated. Drafts have a key on disk
 * with one byte more. */
static bool obtain(device *base, const kernel *k, const text *kernel_key, kernel_entry *entry, arena *a,
                   const char **why)
{
    cpu *d = (cpu *)base;
    device_kernel *out = (device_kernel *)entry;
    text key;
    out->chained = k->chained;
    out->large = is_large(k);
    text_init_for(&key, a, d->identity.n + kernel_key->n + 1);
    text_add_n(&key, d->identity.at, d->identity.n);
    text_add_n(&key, kernel_key->at, kernel_key->n);
    text_add_n(&key, "", 1);
    const text both[2] = {{.at = key.at, .n = key.n - 1}, {.at = key.at, .n = key.n}};
    return take_full(d, kernel_key, &both[false], out) || (entry->draft && load(d, &both[true], out)) ||
           generate(d, k, both, out, a, why);
}

static void discard(device *base, kernel_entry *entry)
{
    device_kernel *k = (device_kernel *)entry;
    cpu_code_unmap(&k->code);
    if (k->generated)
        ((cpu *)base)->module->release(k->generated);
}

static const char *cpu_text(device *base, device_kernel *k, const char *form)
{
    if (!k->generated)
        return NULL;
    const emit_cpu_module *m = ((cpu *)base)->module;
    if (strcmp(form, "llvm") == 0)
        return m->ir_text(k->generated);
    return strcmp(form, "asm") == 0 ? m->asm_text(k->generated) : NULL;
}

/* --- launching --- */

typedef struct {
    k_launch common;
    k_entry entry;
    scratch **block; /* per participant */
} launch;

/* A kernel with CHAIN takes its pieces itself: what the pool hands out is the right to take part. */
static void take_part(void *env, unsigned worker, int64_t first, int64_t last)
{
    const launch *l = env;
    k_launch own = l->common;
    (void)first, (void)last;
    own.scratch = l->block[worker];
    l->entry(&own);
}

static void run_pieces(void *env, unsigned worker, int64_t first, int64_t last)
{
    const launch *l = env;
    k_launch own = l->common;
    own.first = first;
    own.last = last;
    own.scratch = l->block[worker];
    l->entry(&own);
}

static void run_chained(cpu *d, unsigned threads, int64_t first, int64_t last, launch *l)
{
    _Alignas(64) int64_t next = first;
    l->common.first = first;
    l->common.last = last;
    l->common.next = &next;
    l->common.together = cpu_pieces_together(last - first, threads);
    pool_run(d->pool, threads, 0, threads, 1, take_part, l);
}

static void give_back(cpu *d, bool large, scratch **block, unsigned n)
{
    if (!n)
        return;
    pthread_mutex_lock(&d->lock);
    for (unsigned i = 0; i < n; i++) {
        block[i]->next = d->scratch[large];
        d->scratch[large] = block[i];
    }
    pthread_mutex_unlock(&d->lock);
}

static bool take_scratch(cpu *d, bool large, scratch **block, unsigned n)
{
    unsigned have = 0;
    if (!n)
        return true;
    pthread_mutex_lock(&d->lock);
    for (; have < n && d->scratch[large]; have++) {
        block[have] = d->scratch[large];
        d->scratch[large] = d->scratch[large]->next;
    }
    pthread_mutex_unlock(&d->lock);
    for (; have < n; have++) {
        block[have] = cpu_memory_alloc(&d->heap, block_bytes(large));
        if (!block[have]) {
            give_back(d, large, block, have);
            return false;
        }
    }
    return true;
}

/* The block of the thread that calls: kept from call to call unless it is large. */
static bool own_block(cpu *d, device_queue *q, bool large, scratch **block)
{
    if (large)
        return take_scratch(d, true, block, 1);
    if (!q->own)
        q->own = cpu_memory_alloc(&d->heap, BLOCK_SCRATCH);
    *block = q->own;
    return q->own;
}

static bool take_blocks(cpu *d, device_queue *q, bool large, scratch **block, unsigned threads)
{
    if (!own_block(d, q, large, block))
        return false;
    if (take_scratch(d, large, block + 1, threads - 1))
        return true;
    give_back(d, large, block, large);
    return false;
}

k_launch cpu_launch_of(cpu_put_off *l)
{
    return (k_launch){
        .mem = l->mem, .arg = l->arg, .first = l->first, .last = l->last, .error = &l->error, .helpers = &helpers};
}

/* Of many pieces those beside each other lie together in memory, and what is left at the end is little. Of a few all
 * threads take the next one, as they may be of different sizes, the last ones the smallest. */
static bool in_parts(int64_t pieces, unsigned threads)
{
    enum { MANY = 4 };
    return pieces >= (int64_t)threads * MANY;
}

/* A launch that nothing is done beside. */
static bool run_alone(cpu *d, device_queue *q, cpu_put_off *what)
{
    scratch *block[MOST_THREADS];
    const int64_t first = what->first, last = what->last;
    unsigned threads = what->small ? 1 : d->limits.workers;
    if (last - first < threads)
        threads = (unsigned)(last - first);
    if (!take_blocks(d, q, what->large, block, threads)) {
        q->state = DEVICE_OUT_OF_MEMORY;
        return false;
    }
    launch l = {.common = cpu_launch_of(what), .entry = what->entry, .block = block};
    const int64_t batch = (last - first) / ((int64_t)threads * BATCHES_PER_THREAD);
    if (what->chained)
        run_chained(d, threads, first, last, &l);
    else
        (in_parts(last - first, threads) ? pool_run_parts : pool_run)(d->pool, threads, first, last,
                                                                      batch < 1 ? 1 : batch, run_pieces, &l);
    give_back(d, what->large, block + !what->large, threads - !what->large);
    return true;
}

/* --- launches that were put off --- */

static bool run_together(cpu *d, device_queue *q, cpu_together *t, cpu_put_off *const *l, uint32_t n, unsigned threads)
{
    scratch *block[MOST_THREADS];
    bool large = false;
    for (uint32_t i = 0; i < n; i++)
        large |= l[i]->large;
    if (t->items < threads)
        threads = (unsigned)t->items;
    if (!take_blocks(d, q, large, block, threads)) {
        q->state = DEVICE_OUT_OF_MEMORY;
        return false;
    }
    t->block = block;
    (t->by_turns ? pool_run_parts : pool_run)(d->pool, threads, 0, t->items, 1, cpu_together_run, t);
    give_back(d, large, block + !large, threads - !large);
    return true;
}

/* Launches of a level. */
static bool run_level(cpu *d, device_queue *q, cpu_put_off **l, uint32_t n)
{
    cpu_together all;
    unsigned threads = d->limits.workers;
    double work = 0;
    size_t bytes;
    for (uint32_t some; (some = cpu_put_offs_sharing(q->put_off, l, n, &bytes)); l += some, n -= some) {
        if (!cpu_together_by_turns(&all, l, some, threads, bytes))
            break;
        if (!run_together(d, q, &all, l, some, threads))
            return false;
    }
    if (n == 1)
        return run_alone(d, q, l[0]);
    for (uint32_t i = 0; i < n; i++)
        work += l[i]->work;
    if (work < LEAST_LEVEL_WORK)
        threads = 1;
    cpu_together_begin(&all, l, n, threads);
    return !n || run_together(d, q, &all, l, n, threads);
}

/* Does all that was put off. Where a check failed, only what stands before that launch is done from then on, so that
 * the first one that fails is known, and nothing runs on what a failed one left undone. */
static bool catch_up(cpu *d, device_queue *q)
{
    cpu_put_off *of[CPU_MOST_PUT_OFF], *failed = NULL;
    uint32_t n;
    if (!cpu_put_offs_count(q->put_off))
        return !q->error.site && q->state == DEVICE_FINE;
    for (uint32_t i = 0; q->state == DEVICE_FINE && (n = cpu_put_offs_level(q->put_off, i, of)); i++) {
        while (failed && n && of[n - 1] > failed)
            n--;
        if (n && !run_level(d, q, of, n))
            break;
        for (uint32_t k = 0; k < n; k++)
            if (of[k]->error.site && (!failed || of[k] < failed))
                failed = of[k];
    }
    if (failed)
        q->error = failed->error;
    cpu_put_offs_clear(q->put_off);
    return !q->error.site && q->state == DEVICE_FINE;
}

/* False: it is to be done now, behind all that was put off. */
static bool put_off(cpu *d, device_queue *q, const cpu_put_off *l, const device_reach *reach)
{
    const double workers = (double)d->limits.workers;
    const bool alone = workers < 2 && !cpu_put_offs_count(q->put_off); /* nothing is gained, unless it shares */
    if (!l->shares && (alone || l->work >= workers * WORTH_A_THREAD))
        return false;
    if (!q->put_off)
        q->put_off = cpu_put_offs_new(&d->heap);
    if (!q->put_off)
        return false;
    const bool full =
        cpu_put_offs_work(q->put_off) >= workers * MOST_WORK_PUT_OFF || !cpu_put_offs_add(q->put_off, l, reach);
    return !full || (catch_up(d, q) && cpu_put_offs_add(q->put_off, l, reach));
}

static bool cpu_enqueue(device *base, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg,
                        int64_t first, int64_t last, bool small, const device_reach *reach)
{
    cpu *d = (cpu *)base;
    if (q->error.site || q->state != DEVICE_FINE)
        return false;
    cpu_put_off l = {.entry = k->code.entry,
                     .chained = k->chained,
                     .large = k->large,
                     .first = first,
                     .last = last,
                     .work = reach ? reach->work : 0,
                     .small = small,
                     .shares = reach && !k->chained && cpu_reads_shared(reach),
                     .mem = mem,
                     .arg = arg,
                     .error = {.trace = q->error.trace}};
    if (first >= last || (reach && put_off(d, q, &l, reach)))
        return true;
    if (!catch_up(d, q))
        return false;
    const bool good = run_alone(d, q, &l);
    if (l.error.site)
        q->error = l.error;
    return good && !l.error.site;
}

/* --- queues --- */

static device_queue *idle_queue(cpu *d)
{
    pthread_mutex_lock(&d->lock);
    device_queue *q = d->idle;
    if (q)
        d->idle = q->next;
    pthread_mutex_unlock(&d->lock);
    return q;
}

static device_queue *new_queue(cpu *d)
{
    device_queue *q = d->heap.alloc(d->heap.env, sizeof(*q));
    if (q)
        *q = (device_queue){0};
    return q;
}

static void free_queue(cpu *d, device_queue *q)
{
    if (!q)
        return;
    if (q->own)
        cpu_memory_release(&d->heap, q->own, BLOCK_SCRATCH);
    cpu_put_offs_free(q->put_off, &d->heap);
    d->heap.release(d->heap.env, q);
}

static device_queue *cpu_open_queue(device *base, struct ir_trace *trace, device_state *state)
{
    cpu *d = (cpu *)base;
    device_queue *q = __atomic_exchange_n(&d->spare, NULL, __ATOMIC_ACQUIRE);
    if (!q)
        q = idle_queue(d);
    if (!q)
        q = new_queue(d);
    if (q)
        q->error = (k_error){.trace = trace};
    if (state)
        *state = q ? DEVICE_FINE : DEVICE_OUT_OF_MEMORY;
    return q;
}

static bool cpu_busy(device *base, const device_queue *q)
{
    (void)base;
    return cpu_put_offs_count(q->put_off) > 0;
}

static void cpu_close_queue(device *base, device_queue *q)
{
    cpu *d = (cpu *)base;
    if (!q)
        return;
    catch_up(d, q);
    q->state = DEVICE_FINE;
    q = __atomic_exchange_n(&d->spare, q, __ATOMIC_ACQ_REL);
    if (!q)
        return;
    pthread_mutex_lock(&d->lock);
    q->next = d->idle;
    d->idle = q;
    pthread_mutex_unlock(&d->lock);
}

/* Host memory is memory like any other. What was put off and touches neither side may come later. */
static bool cpu_copy(device *base, device_queue *q, device_direction direction, void *to, const void *from,
                     size_t offset, size_t bytes)
{
    bool good = true; /* what failed before is for finish to say */
    if (direction == DEVICE_UPLOAD)
        to = (char *)to + offset;
    else
        from = (const char *)from + offset;
    if (bytes &&
        (cpu_put_offs_touch(q->put_off, to, bytes, true) || cpu_put_offs_touch(q->put_off, from, bytes, false)))
        good = catch_up((cpu *)base, q);
    if (bytes)
        memcpy(to, from, bytes);
    return good && q->state == DEVICE_FINE;
}

static bool cpu_clear(device *base, device_queue *q, void *block, size_t bytes)
{
    bool good = true;
    if (bytes && cpu_put_offs_touch(q->put_off, block, bytes, true))
        good = catch_up((cpu *)base, q);
    if (bytes)
        memset(block, 0, bytes);
    return good && q->state == DEVICE_FINE;
}

/* What others wait for is done: there is one event, and it has happened. */
struct device_event {
    char happened;
};

static device_event *cpu_signal(device *base, device_queue *q)
{
    static device_event done;
    return catch_up((cpu *)base, q) ? &done : NULL;
}

static bool cpu_await(device *base, device_queue *q, device_event *e)
{
    (void)e;
    return catch_up((cpu *)base, q);
}

static void cpu_forget(device *base, device_event *e)
{
    (void)base, (void)e;
}

static device_state cpu_finish(device *base, device_queue *q, k_error *error, arena *a, const char **why)
{
    catch_up((cpu *)base, q);
    device_state state = q->state;
    (void)a;
    *error = q->error;
    *why = state == DEVICE_FINE ? NULL : "no memory for a kernel's scratch space";
    q->error = (k_error){.trace = q->error.trace};
    q->state = DEVICE_FINE;
    return state;
}

/* --- opening and closing --- */

static void cpu_close(device *base)
{
    cpu *d = (cpu *)base;
    kernel_cache_close(&d->kernels);
    for (unsigned large = 0; large < 2; large++)
        for (scratch *s = d->scratch[large], *next; s; s = next) {
            next = s->next;
            cpu_memory_release(&d->heap, s, block_bytes(large));
        }
    free_queue(d, d->spare);
    for (device_queue *q; (q = idle_queue(d));)
        free_queue(d, q);
    pool_release(d->pool);
    disk_cache_close(d->disk);
    arena_free(&d->names);
    free(d->no_module);
    pthread_mutex_destroy(&d->opening);
    pthread_mutex_destroy(&d->lock);
    d->heap.release(d->heap.env, d);
}

static uint32_t vector_bytes(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        return 64;
    if (__builtin_cpu_supports("avx2"))
        return 32;
#endif
    return 16;
}

/* Virtual machines report absurd sizes, so the last level counts for no more than MOST_CACHE. */
static size_t cache_bytes(void)
{
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (bytes <= 0)
        bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size_t known = bytes > 0 ? (size_t)bytes : 1 << 20;
    return (known < MOST_CACHE ? known : MOST_CACHE) / 2;
}

static void set_limits(cpu *d, const device_options *o)
{
    unsigned most = pool_threads(d->pool);
    unsigned threads = o && o->threads && o->threads < most ? o->threads : most;
    if (threads > MOST_THREADS)
        threads = MOST_THREADS;
    d->limits = (device_limits){.kind = "cpu",
                                .workers = threads,
                                .vector_bytes = vector_bytes(),
                                .scratch = BLOCK_SCRATCH,
                                .forward_progress = true,
                                .fields = true,
                                .waits = true,
                                .cache_bytes = cache_bytes(),
                                .draft_work = d->drafts == DEVICE_NO_DRAFTS     ? 0
                                              : d->drafts == DEVICE_ONLY_DRAFTS ? (double)INFINITY
                                                                                : DRAFT_WORK};
    snprintf(d->limits.name, sizeof(d->limits.name), "%u threads, %u-byte vectors", threads, d->limits.vector_bytes);
}

static bool name_things(cpu *d, const device_options *o)
{
    jmp_buf failure;
    bool keeps;
    arena_init(&d->names, &d->heap);
    if (setjmp(failure))
        return false;
    arena_on_failure(&d->names, &failure);
    d->path = o && o->codegen ? arena_string(&d->names, o->codegen) : NULL;
    text_init(&d->identity, &d->names);
    keeps = !d->keep_text && !d->part && cpu_code_identity(&d->identity);
    if (d->drafts == DEVICE_ONLY_DRAFTS) /* among them those of kernels that else have none */
        text_add(&d->identity, "drafts\n");
    d->found = cpu_codegen_find(d->path, &d->names, &d->maker);
    arena_on_failure(&d->names, NULL);
    d->disk = keeps ? disk_cache_open(&d->heap) : NULL;
    return true;
}

static kernel *cpu_prepare(device *d, const kernel *k, arena *a, const char *last, const char **why)
{
    (void)d, (void)why;
    return kernel_prepare(a, k, last);
}

static const device cpu_functions = {
    .alloc = cpu_alloc,
    .release = cpu_release,
    .wrap = cpu_wrap,
    .map = cpu_map,
    .kernel_text = cpu_text,
    .prepare = cpu_prepare,
    .generates = cpu_generates,
    .open_queue = cpu_open_queue,
    .busy = cpu_busy,
    .copy = cpu_copy,
    .clear = cpu_clear,
    .enqueue = cpu_enqueue,
    .signal = cpu_signal,
    .await = cpu_await,
    .forget = cpu_forget,
    .finish = cpu_finish,
    .close_queue = cpu_close_queue,
    .close = cpu_close,
};

device *device_cpu_open(const device_options *options, arena *a, const char **why)
{
    const base_heap *heap = options && options->heap ? options->heap : &base_heap_default;
    cpu *d = heap->alloc(heap->env, sizeof(*d));
    pool *threads = d ? pool_acquire() : NULL;
    *why = d ? "the worker threads cannot be started" : "out of memory";
    if (!threads) {
        heap->release(heap->env, d);
        return NULL;
    }
    *d = (cpu){.device = cpu_functions, .heap = *heap, .pool = threads, .keep_text = options && options->keep_text};
    d->part = options ? options->part : 0;
    d->drafts = options ? options->drafts : DEVICE_DRAFTS;
    d->device.limits = &d->limits;
    pthread_mutex_init(&d->opening, NULL);
    pthread_mutex_init(&d->lock, NULL);
    d->kernels = (kernel_cache){.obtain = obtain,
                                .discard = discard,
                                .owner = &d->device,
                                .heap = &d->heap,
                                .entry_bytes = sizeof(device_kernel),
                                .drafts = d->drafts != DEVICE_NO_DRAFTS};
    kernel_cache_open(&d->kernels);
    set_limits(d, options);
    *why = "out of memory";
    if (name_things(d, options) && (d->disk || module_of(d, a, why)))
        return &d->device;
    *why = *why ? *why : "out of memory";
    cpu_close(&d->device);
    return NULL;
}
