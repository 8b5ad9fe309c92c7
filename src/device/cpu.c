/* The CPU device: kernels compiled by the code generator's module and kept by content, in memory and on disk, launched on
 * the worker pool. */
#include "device/cpu_code.h"
#include "device/cpu_codegen.h"
#include "device/cpu_memory.h"
#include "device/device.h"
#include "device/disk_cache.h"
#include "device/pool.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK_SCRATCH = 512 << 10, MOST_CACHE = 32 << 20, BATCHES_PER_THREAD = 16, MOST_THREADS = 1024 };

typedef enum { KERNEL_COMPILING, KERNEL_READY, KERNEL_FAILED } kernel_state;

struct device_kernel {
    device_kernel *next; /* in the cache */
    char *key;
    size_t key_bytes;
    uint64_t hash;
    kernel_state state;
    unsigned users;      /* references, the cache's own included */
    cpu_code code;
    bool chained, loaded;
    emit_cpu_code *generated; /* kept for its text; NULL else */
    char *why;           /* KERNEL_FAILED: the module's text */
};

typedef struct scratch {
    struct scratch *next;
} scratch;

typedef struct {
    device device;
    device_limits limits;
    base_heap heap;
    pool *pool;
    bool keep_text;
    disk_cache *disk;      /* NULL: nothing is kept on disk */
    text identity;         /* what keys on disk begin with */
    bool found;            /* there is a module, */
    digest maker;          /* this one */
    arena names;           /* of identity and path */
    const char *path;      /* as the user gave it */

    pthread_mutex_t opening; /* of these three */
    const emit_cpu_module *module;
    char *no_module;       /* why there is none; NULL: not tried, or there is one */

    pthread_mutex_t lock;  /* of all that follows */
    pthread_cond_t compiled_one;
    device_kernel *cache;
    uint64_t compiled, loaded;
    scratch *scratch;      /* blocks of BLOCK_SCRATCH bytes not in use */
} cpu;

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

static const k_helpers helpers = {.report = report};

/* --- memory --- */

static void *cpu_alloc(device *d, size_t bytes)
{
    return cpu_memory_alloc(&((cpu *)d)->heap, bytes);
}

static void cpu_release(device *d, void *block, size_t bytes)
{
    cpu_memory_release(&((cpu *)d)->heap, block, bytes);
}

/* --- compilation --- */

/* A copy whose lists may be rewritten; names stay the original's. */
static kernel *copy_kernel(arena *a, const kernel *k)
{
    kernel *c = arena_copy(a, k, sizeof(*k));
    c->arena = a;
    c->value.at = arena_copy(a, k->value.at, k->value.cap * sizeof(*k->value.at));
    c->stmt.at = arena_copy(a, k->stmt.at, k->stmt.cap * sizeof(*k->stmt.at));
    c->mem.at = arena_copy(a, k->mem.at, k->mem.cap * sizeof(*k->mem.at));
    c->arg_type.at = arena_copy(a, k->arg_type.at, k->arg_type.cap);
    c->literals.id = arena_copy(a, k->literals.id, k->literals.cap * sizeof(*k->literals.id));
    c->literals.hash = arena_copy(a, k->literals.hash, k->literals.cap * sizeof(*k->literals.hash));
    for (k_ref r = 1; r < c->stmt.n; r++)
        if (c->stmt.at[r].chain)
            c->stmt.at[r].chain = arena_copy(a, c->stmt.at[r].chain, sizeof(k_chain));
    return c;
}

/* The passes that emitters need. Private memory is laid out gang by gang, so the threads are rounded up to whole gangs. */
static kernel *prepare(arena *a, const kernel *k)
{
    kernel *c = copy_kernel(a, k);
    c->threads = (c->threads + c->lanes - 1u) / c->lanes * c->lanes;
    k_expand_math(c);
    k_analyse(c);
    k_layout(c, 64);
    return c;
}

static char *copy_text(const char *s)
{
    size_t n = strlen(s) + 1;
    char *r = malloc(n);
    return r ? memcpy(r, s, n) : NULL;
}

/* The code generator, opened when it is first needed; NULL and *why (in `a`, or the device's) if there is none. */
static const emit_cpu_module *module_of(cpu *d, arena *a, const char **why)
{
    pthread_mutex_lock(&d->opening);
    if (!d->module && !d->no_module) {
        jmp_buf failure, *outer = a->failure;
        if (setjmp(failure)) {
            arena_on_failure(a, outer);
            pthread_mutex_unlock(&d->opening);
            *why = "out of memory";
            return NULL;
        }
        arena_on_failure(a, &failure);
        d->module = cpu_codegen_open(d->path, a, why);
        d->no_module = d->module ? NULL : copy_text(*why);
        arena_on_failure(a, outer);
    } else if (!d->module) {
        *why = d->no_module;
    }
    const emit_cpu_module *m = d->module;
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

static bool load(cpu *d, const text *key, device_kernel *entry)
{
    disk_value v;
    void *block;
    if (!d->disk || !disk_cache_get(d->disk, key->at, key->n, d->found ? &d->maker : NULL, &v, &block))
        return false;
    emit_cpu_blob blob = {v.bytes, v.size, v.entry};
    entry->loaded = cpu_code_map(&blob, &entry->code);
    d->heap.release(d->heap.env, block);
    return entry->loaded;
}

/* Code of a module that was built from other sources than this library is not known by our key. */
static void keep(cpu *d, const emit_cpu_module *m, const text *key, const emit_cpu_blob *blob)
{
    if (d->disk && d->found && cpu_code_is_ours(m))
        disk_cache_put(d->disk, key->at, key->n, d->maker, (disk_value){blob->bytes, blob->size, blob->entry});
}

static void generate(cpu *d, const kernel *k, const text *key, device_kernel *entry, arena *a)
{
    char *said = NULL;
    const char *why = NULL;
    const emit_cpu_module *m = module_of(d, a, &why);
    if (!m) {
        entry->why = copy_text(why);
        return;
    }
    kernel *ready = prepare(a, k);
    if (ready->scratch > BLOCK_SCRATCH) {
        entry->why = copy_text(arena_printf(a, "kernel %s needs %u bytes of block memory, more than the %u there are",
                                            k->name, ready->scratch, (unsigned)BLOCK_SCRATCH));
        return;
    }
    emit_cpu_options options = {.keep_ir = d->keep_text, .keep_asm = d->keep_text};
    emit_cpu_code *code = m->compile(ready, &options, &said);
    if (!code) {
        entry->why = said ? copy_text(said) : NULL;
        m->release_text(said);
        return;
    }
    emit_cpu_blob blob = m->blob(code);
    if (cpu_code_map(&blob, &entry->code))
        keep(d, m, key, &blob);
    else
        entry->why = copy_text("the system refuses executable memory");
    if (d->keep_text)
        entry->generated = code;
    else
        m->release(code);
}

/* Fills an entry with code from disk, or else newly generated. */
static void obtain(cpu *d, const kernel *k, const text *kernel_key, device_kernel *entry)
{
    arena a;
    jmp_buf failure;
    arena_init(&a, &d->heap);
    arena_on_failure(&a, &failure);
    entry->chained = k->chained;
    if (setjmp(failure)) {
        entry->why = copy_text("out of memory");
    } else {
        text key;
        text_init(&key, &a);
        text_add_n(&key, d->identity.at, d->identity.n);
        text_add_n(&key, kernel_key->at, kernel_key->n);
        if (!load(d, &key, entry))
            generate(d, k, &key, entry, &a);
    }
    arena_free(&a);
}

static void free_entry(cpu *d, device_kernel *e)
{
    cpu_code_unmap(&e->code);
    if (e->generated)
        d->module->release(e->generated);
    free(e->why);
    free(e->key);
    free(e);
}

/* With the lock held. */
static device_kernel *find(cpu *d, const text *key, uint64_t hash)
{
    for (device_kernel *e = d->cache; e; e = e->next)
        if (e->hash == hash && e->key_bytes == key->n && memcmp(e->key, key->at, key->n) == 0)
            return e;
    return NULL;
}

static device_kernel *new_entry(const text *key, uint64_t hash)
{
    device_kernel *e = calloc(1, sizeof(*e));
    char *copy = malloc(key->n + 1);
    if (!e || !copy) {
        free(e);
        free(copy);
        return NULL;
    }
    memcpy(copy, key->at, key->n);
    *e = (device_kernel){.key = copy, .key_bytes = key->n, .hash = hash, .users = 2};
    return e;
}

/* With the lock held: gives up a reference. */
static void drop(cpu *d, device_kernel *e)
{
    if (--e->users == 0)
        free_entry(d, e);
}

/* With the lock held: a kernel that failed is forgotten, so that the next attempt tries again. */
static void forget(cpu *d, device_kernel *e)
{
    for (device_kernel **at = &d->cache; *at; at = &(*at)->next)
        if (*at == e) {
            *at = e->next;
            drop(d, e);
            return;
        }
}

static device_kernel *finished(cpu *d, device_kernel *e, arena *a, const char **why)
{
    if (e->state == KERNEL_READY)
        return e;
    *why = arena_string(a, e->why ? e->why : "out of memory");
    drop(d, e);
    return NULL;
}

static device_kernel *cpu_compile(device *base, const kernel *k, arena *a, const char **why)
{
    cpu *d = (cpu *)base;
    text key;
    text_init(&key, a);
    k_key(k, &key);
    uint64_t hash = hash_bytes(key.at, key.n, 0);
    *why = NULL;
    pthread_mutex_lock(&d->lock);
    device_kernel *e = find(d, &key, hash);
    if (e) {
        e->users++;
        while (e->state == KERNEL_COMPILING)
            pthread_cond_wait(&d->compiled_one, &d->lock);
    } else if ((e = new_entry(&key, hash))) {
        e->next = d->cache;
        d->cache = e;
        pthread_mutex_unlock(&d->lock);
        obtain(d, k, &key, e);
        pthread_mutex_lock(&d->lock);
        e->state = e->code.entry ? KERNEL_READY : KERNEL_FAILED;
        *(e->loaded ? &d->loaded : &d->compiled) += e->state == KERNEL_READY;
        if (e->state == KERNEL_FAILED)
            forget(d, e);
        pthread_cond_broadcast(&d->compiled_one);
    } else {
        *why = "out of memory";
    }
    if (e)
        e = finished(d, e, a, why);
    pthread_mutex_unlock(&d->lock);
    return e;
}

static void cpu_release_kernel(device *base, device_kernel *k)
{
    cpu *d = (cpu *)base;
    if (!k)
        return;
    pthread_mutex_lock(&d->lock);
    drop(d, k);
    pthread_mutex_unlock(&d->lock);
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

static uint64_t read_locked(cpu *d, const uint64_t *count)
{
    pthread_mutex_lock(&d->lock);
    uint64_t n = *count;
    pthread_mutex_unlock(&d->lock);
    return n;
}

static uint64_t cpu_compiled(device *base)
{
    return read_locked((cpu *)base, &((cpu *)base)->compiled);
}

static uint64_t cpu_loaded(device *base)
{
    return read_locked((cpu *)base, &((cpu *)base)->loaded);
}

/* --- launching --- */

typedef struct {
    k_launch common;
    k_entry entry;
    scratch **block; /* per participant */
} launch;

static void run_pieces(void *env, unsigned worker, int64_t first, int64_t last)
{
    const launch *l = env;
    k_launch own = l->common;
    own.first = first;
    own.last = last;
    own.scratch = l->block[worker];
    l->entry(&own);
}

static void give_back(cpu *d, scratch **block, unsigned n)
{
    pthread_mutex_lock(&d->lock);
    for (unsigned i = 0; i < n; i++) {
        block[i]->next = d->scratch;
        d->scratch = block[i];
    }
    pthread_mutex_unlock(&d->lock);
}

static bool take_scratch(cpu *d, scratch **block, unsigned n)
{
    unsigned have = 0;
    pthread_mutex_lock(&d->lock);
    for (; have < n && d->scratch; have++) {
        block[have] = d->scratch;
        d->scratch = d->scratch->next;
    }
    pthread_mutex_unlock(&d->lock);
    for (; have < n; have++) {
        block[have] = cpu_memory_alloc(&d->heap, BLOCK_SCRATCH);
        if (!block[have]) {
            give_back(d, block, have);
            return false;
        }
    }
    return true;
}

static bool cpu_launch(device *base, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first, int64_t last,
                       bool small, k_error *error)
{
    cpu *d = (cpu *)base;
    scratch *block[MOST_THREADS];
    if (first >= last)
        return true;
    unsigned threads = small ? 1 : d->limits.workers;
    if (last - first < threads)
        threads = (unsigned)(last - first);
    if (!take_scratch(d, block, threads))
        return false;
    launch l = {.common = {.mem = mem, .arg = arg, .error = error, .helpers = &helpers}, .entry = k->code.entry, .block = block};
    int64_t batch = (last - first) / ((int64_t)threads * BATCHES_PER_THREAD);
    pool_run(d->pool, threads, first, last, k->chained || batch < 1 ? 1 : batch, run_pieces, &l);
    give_back(d, block, threads);
    return true;
}

/* --- opening and closing --- */

static void cpu_close(device *base)
{
    cpu *d = (cpu *)base;
    while (d->cache) {
        device_kernel *e = d->cache;
        d->cache = e->next;
        free_entry(d, e);
    }
    while (d->scratch) {
        scratch *s = d->scratch;
        d->scratch = s->next;
        cpu_memory_release(&d->heap, s, BLOCK_SCRATCH);
    }
    pool_release(d->pool);
    disk_cache_close(d->disk);
    arena_free(&d->names);
    free(d->no_module);
    pthread_mutex_destroy(&d->opening);
    pthread_cond_destroy(&d->compiled_one);
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
    d->limits = (device_limits){.kind = "cpu", .workers = threads, .vector_bytes = vector_bytes(),
                                .scratch = BLOCK_SCRATCH, .forward_progress = true, .cache_bytes = cache_bytes()};
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
    keeps = !d->keep_text && cpu_code_identity(&d->identity);
    d->found = cpu_codegen_find(d->path, &d->names, &d->maker);
    arena_on_failure(&d->names, NULL);
    d->disk = keeps ? disk_cache_open(&d->heap) : NULL;
    return true;
}

static const device cpu_functions = {
    .alloc = cpu_alloc,
    .release = cpu_release,
    .compile = cpu_compile,
    .release_kernel = cpu_release_kernel,
    .launch = cpu_launch,
    .kernel_text = cpu_text,
    .compiled = cpu_compiled,
    .loaded = cpu_loaded,
    .generates = cpu_generates,
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
    d->device.limits = &d->limits;
    pthread_mutex_init(&d->opening, NULL);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->compiled_one, NULL);
    set_limits(d, options);
    *why = "out of memory";
    if (name_things(d, options) && (d->disk || module_of(d, a, why)))
        return &d->device;
    cpu_close(&d->device);
    return NULL;
}
