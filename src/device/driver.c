/* What all devices behind a driver have in common. */
#include "device/driver.h"
#include "device/keep_source.h"

#include <stdio.h>
#include <stdlib.h>

static driver_device *of(device *base)
{
    return (driver_device *)base;
}

/* --- memory --- */

/* Blocks of no bytes are there, too: each counts as one. */
static size_t counted(size_t bytes)
{
    return bytes ? bytes : 1;
}

/* Drivers may take memory when it is first used, and fail then: what cannot be there is refused here. */
static void *alloc_block(device *base, size_t wanted)
{
    driver_device *d = of(base);
    size_t bytes = counted(wanted);
    if (d->most_block && bytes > d->most_block)
        return NULL;
    size_t before = atomic_load(&d->used);
    do {
        if (before > d->limits.memory || bytes > d->limits.memory - before)
            return NULL;
    } while (!atomic_compare_exchange_weak(&d->used, &before, before + bytes));
    void *block = d->functions->take(base, bytes);
    if (!block)
        atomic_fetch_sub(&d->used, bytes);
    return block;
}

static void release_block(device *base, void *block, size_t bytes)
{
    if (!block)
        return;
    of(base)->functions->give(base, block);
    atomic_fetch_sub(&of(base)->used, counted(bytes));
}

/* --- opening and closing --- */

/* A driver brings its compiler, or the device is not opened. */
static bool generates(device *base)
{
    (void)base;
    return true;
}

static void discard(device *base, kernel_entry *entry)
{
    driver_kernel *k = (driver_kernel *)entry;
    of(base)->functions->discard(base, entry);
    free(k->source);
}

#if defined(__SANITIZE_ADDRESS__)
/* What drivers allocate is passed over when leaks are looked for (tests/lsan.supp). Blocks that were not given back are
 * a leak of ours: as many bytes of the heap are lost for it here (tests/fake_opencl/lost_block.c). Other objects of
 * drivers, such as queues and kernels, are counted by the libraries that stand in for them in tests. */
static __attribute__((noinline)) void show_lost_blocks(const driver_device *d)
{
    volatile size_t lost = atomic_load(&d->used);
    if (lost)
        *(volatile char *)malloc(lost) = 0;
}
#else
static void show_lost_blocks(const driver_device *d)
{
    (void)d;
}
#endif

static void close_device(device *base)
{
    driver_device *d = of(base);
    show_lost_blocks(d);
    for (device_queue *q = d->idle, *next; q; q = next) {
        next = ((driver_queue *)q)->next;
        d->functions->free_queue(base, q);
    }
    kernel_cache_close(&d->kernels);
    d->functions->end(base);
    disk_cache_close(d->disk);
    arena_free(&d->names);
    pthread_mutex_destroy(&d->lock);
    d->heap.release(d->heap.env, d);
}

/* Blocks are the driver's, and the host's memory is not. */
static void *wrap(device *d, const void *host)
{
    (void)d, (void)host;
    return NULL;
}

static void *map(device *d, void *block)
{
    (void)d, (void)block;
    return NULL;
}

static bool busy(device *d, const device_queue *q)
{
    (void)d;
    return ((const driver_queue *)q)->busy;
}

driver_device *driver_new(const driver_functions *f, const device_options *o)
{
    const base_heap *heap = o->heap ? o->heap : &base_heap_default;
    driver_device *d = heap->alloc(heap->env, f->device_bytes);
    if (!d)
        return NULL;
    memset((void *)d, 0, f->device_bytes);
    d->device = f->device;
    d->device.limits = &d->limits;
    d->device.alloc = alloc_block;
    d->device.release = release_block;
    d->device.wrap = wrap;
    d->device.map = map;
    d->device.busy = busy;
    d->device.generates = generates;
    d->device.close = close_device;
    d->functions = f;
    d->heap = *heap;
    d->keep_text = o->keep_text;
    arena_init(&d->names, &d->heap);
    pthread_mutex_init(&d->lock, NULL);
    d->kernels = (kernel_cache){
        .obtain = f->obtain, .discard = discard, .owner = &d->device, .heap = &d->heap, .entry_bytes = f->kernel_bytes};
    kernel_cache_open(&d->kernels);
    return d;
}

bool driver_identify(driver_device *d, bool (*name)(driver_device *d, arena *a, const char **why), arena *a,
                     const char **why)
{
    jmp_buf failure;
    if (setjmp(failure)) {
        *why = "out of memory";
        return false;
    }
    arena_on_failure(&d->names, &failure);
    text_init(&d->identity, &d->names);
    bool good = name(d, a, why);
    arena_on_failure(&d->names, NULL);
    if (good)
        d->disk = d->keep_text ? NULL : disk_cache_open(&d->heap);
    return good;
}

const char *driver_none(const char *kind, unsigned number, unsigned usable, const char *first, const char *why,
                        arena *a)
{
    if (usable)
        return arena_printf(a, "there is no %s device number %u; %u can be used", kind, number, usable);
    return arena_printf(a, "no %s device can be used: %s%s%s", kind, first, why ? ": " : "", why ? why : "");
}

size_t driver_smaller(size_t limit, size_t wanted)
{
    return wanted && wanted < limit ? wanted : limit;
}

/* --- kernels --- */

void driver_describe(driver_kernel *out, const kernel *k)
{
    out->arguments = k->arg_type.n;
    for (k_mem m = 1; m < k->mem.n; m++)
        out->memories += k->mem.at[m].space == K_GLOBAL;
    for (k_ref s = 1; s < k->stmt.n; s++)
        out->checks |= k->stmt.at[s].op == K_CHECK && !(k->stmt.at[s].sub & K_NOTE);
}

text driver_key(const driver_device *d, const text *kernel_key, arena *a)
{
    text key;
    text_init(&key, a);
    text_add_n(&key, d->identity.at, d->identity.n);
    text_add_n(&key, kernel_key->at, kernel_key->n);
    return key;
}

bool driver_rejects(const driver_device *d, const char *who, const kernel *k, const char *source, const char *log,
                    arena *a, const char **why)
{
    enum { SHOWN = 2000 };
    const char *kept = keep_source(source, d->functions->suffix, a);
    *why = arena_printf(a, "%s rejects kernel %s; its source is in %s; its log: %.*s", who, k->name ? k->name : "",
                        kept ? kept : "no file: it could not be written", SHOWN, log);
    return false;
}

void driver_keep_source(const driver_device *d, driver_kernel *out, const text *source)
{
    out->source = d->keep_text ? malloc(source->n + 1) : NULL;
    if (out->source)
        memcpy(out->source, source->at, source->n + 1);
}

/* --- queues --- */

device_queue *driver_idle_queue(driver_device *d)
{
    pthread_mutex_lock(&d->lock);
    device_queue *q = d->idle;
    if (q)
        d->idle = ((driver_queue *)q)->next;
    pthread_mutex_unlock(&d->lock);
    return q;
}

bool driver_reusable(const driver_queue *q)
{
    return q->state == DEVICE_FINE && q->used == 0 && q->error.site == 0;
}

void driver_keep_queue(driver_device *d, device_queue *q)
{
    pthread_mutex_lock(&d->lock);
    ((driver_queue *)q)->next = d->idle;
    d->idle = q;
    pthread_mutex_unlock(&d->lock);
}

bool driver_fails(driver_queue *q, device_state state, const char *call, const char *said)
{
    if (q->state != DEVICE_FINE)
        return true;
    q->state = state;
    snprintf(q->why, sizeof(q->why), "%s: %s", call, said);
    return true;
}

void driver_notice(driver_queue *q, const int64_t *record)
{
    if (!q->error.site && record[0])
        q->error = (k_error){.site = (uint32_t)record[0], .element = record[1], .value = record[2], .bound = record[3]};
}

device_state driver_report(driver_queue *q, k_error *error, arena *a, const char **why)
{
    *error = q->error;
    *why = q->state == DEVICE_FINE ? NULL : arena_string(a, q->why);
    q->error = (k_error){0};
    return q->state;
}
