/* Contexts: options, the device, and what hangs off them. */
#include "api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* At most an eighth of the machine's memory waits to be used again. */
static size_t pool_cap(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 8 : (size_t)1 << 28;
}

static unsigned wanted_threads(const sn_options *o)
{
    const char *variable = getenv("SINTER_THREADS");
    long n = o->threads;
    if (n <= 0 && variable)
        n = strtol(variable, NULL, 10);
    return n > 0 && n <= 4096 ? (unsigned)n : 0;
}

typedef enum { DEVICE_BEST, DEVICE_CPU, DEVICE_INTERPRETER, DEVICE_UNKNOWN } device_choice;

static device_choice wanted_device(const sn_options *o, const char **name)
{
    *name = o->device && *o->device ? o->device : getenv("SINTER_DEVICE");
    if (!*name || !**name || !strcmp(*name, "auto"))
        return DEVICE_BEST;
    if (!strcmp(*name, "cpu"))
        return DEVICE_CPU;
    return strcmp(*name, "interpreter") ? DEVICE_UNKNOWN : DEVICE_INTERPRETER;
}

static sn_status open_cpu(sn_context *cx, device_choice choice)
{
    arena a;
    jmp_buf failure;
    device_options options = {.threads = wanted_threads(&cx->options), .heap = &cx->heap};
    arena_init(&a, &cx->heap);
    if (setjmp(failure)) {
        arena_free(&a);
        api_warn(&cx->options, "no memory to open the device");
        return SN_NO_MEMORY;
    }
    arena_on_failure(&a, &failure);
    const char *why = NULL;
    cx->engine.device = device_cpu_open(&options, &a, &why);
    if (!cx->engine.device && choice == DEVICE_CPU)
        api_warn(&cx->options, arena_printf(&a, "the CPU cannot be used: %s", why ? why : ""));
    else if (!cx->engine.device)
        api_warn(&cx->options, arena_printf(&a, "programs will be interpreted, slowly: %s", why ? why : ""));
    arena_free(&a);
    return cx->engine.device || choice == DEVICE_BEST ? SN_OK : SN_NO_DEVICE;
}

static sn_status open_device(sn_context *cx)
{
    const char *name;
    device_choice choice = wanted_device(&cx->options, &name);
    cx->engine.heap = &cx->heap;
    if (choice == DEVICE_INTERPRETER)
        return SN_OK;
    if (choice == DEVICE_UNKNOWN) {
        char why[128];
        snprintf(why, sizeof(why), "there is no device \"%.40s\"; there are \"cpu\", \"interpreter\" and \"auto\"",
                 name);
        api_warn(&cx->options, why);
        return SN_NO_DEVICE;
    }
    sn_status status = open_cpu(cx, choice);
    if (status != SN_OK || !cx->engine.device)
        return status;
    cx->engine.pool = run_pool_new(cx->engine.device, &cx->heap, pool_cap());
    if (cx->engine.pool)
        return SN_OK;
    cx->engine.device->close(cx->engine.device);
    api_warn(&cx->options, "no memory to open a context");
    return SN_NO_MEMORY;
}

/* Options of an older program are shorter; what they lack is 0, the default. */
static bool copy_options(sn_options *to, const sn_options *from)
{
    *to = (sn_options){.size = sizeof(sn_options)};
    if (!from)
        return true;
    if (from->size == 0 || from->size > sizeof(sn_options))
        return false;
    memcpy(to, from, from->size);
    return true;
}

sn_context *api_open(const sn_options *options, const base_heap *heap)
{
    sn_options copy;
    if (!copy_options(&copy, options)) {
        api_warn(&(sn_options){0}, "sn_open: options->size is not sizeof(sn_options)");
        return NULL;
    }
    sn_context *cx = heap->alloc(heap->env, sizeof(*cx));
    if (!cx) {
        api_warn(&copy, "no memory to open a context");
        return NULL;
    }
    *cx = (sn_context){.heap = *heap, .options = copy};
    cx->engine.counters = &cx->counters;
    if (!api_notes_open(cx)) {
        api_warn(&copy, "too many contexts are open");
        cx->heap.release(cx->heap.env, cx);
        return NULL;
    }
    if (open_device(cx) == SN_OK)
        return cx;
    api_notes_close(cx);
    cx->heap.release(cx->heap.env, cx);
    return NULL;
}

sn_context *sn_open(const sn_options *options)
{
    return api_open(options, &base_heap_default);
}

void sn_close(sn_context *cx)
{
    if (!cx)
        return;
    run_pool_free(cx->engine.pool);
    if (cx->engine.device)
        cx->engine.device->close(cx->engine.device);
    api_notes_close(cx);
    cx->heap.release(cx->heap.env, cx);
}

sn_counters sn_counts(const sn_context *context)
{
    sn_counters n = {0};
    if (!context)
        return n;
    const run_counters *c = &context->counters;
    n.calls = atomic_load(&c->calls);
    n.launches = atomic_load(&c->launches);
    n.copies = atomic_load(&c->copies);
    n.copied_bytes = atomic_load(&c->copied_bytes);
    n.conversions = atomic_load(&c->conversions);
    n.converted_bytes = atomic_load(&c->converted_bytes);
    if (!context->engine.device)
        return n;
    run_pool_counts pool = run_pool_counted(context->engine.pool);
    n.compiled = context->engine.device->compiled(context->engine.device);
    n.loaded = context->engine.device->loaded(context->engine.device);
    n.blocks = pool.blocks;
    n.block_bytes = pool.block_bytes;
    n.allocations = pool.allocations;
    n.allocated_bytes = pool.allocated_bytes;
    return n;
}
