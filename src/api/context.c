/* Contexts: options, the device, and what hangs off them. */
#include "api/api.h"

#include <stdlib.h>
#include <unistd.h>

enum { SMALL_FROM = 16 * 1024 /* bytes: with less there is less to gain than to compile */ };

/* At most an eighth of the machine's memory waits to be used again, a quarter of a device's own. */
static size_t pool_cap(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 8 : (size_t)1 << 28;
}

static sn_status open_device(sn_context *cx)
{
    cx->engine.heap = &cx->heap;
    sn_status status = api_open_device(cx);
    if (status != SN_OK || !cx->engine.device)
        return status;
    const device_limits *limits = cx->engine.device->limits;
    cx->engine.pool = run_pool_new(cx->engine.device, &cx->heap, limits->own_memory ? limits->memory / 4 : pool_cap());
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

static void free_context(sn_context *cx)
{
    for (handle_files *f = cx->files, *next; f; f = next) {
        next = f->next;
        cx->heap.release(cx->heap.env, f);
    }
    if (cx->roof)
        cx->heap.release(cx->heap.env, cx->roof->why);
    cx->heap.release(cx->heap.env, cx->roof);
    pthread_mutex_destroy(&cx->measuring);
    pthread_mutex_destroy(&cx->moving);
    if (!handle_gone(cx))
        cx->heap.release(cx->heap.env, cx);
}

static void say(void *env, const char *said)
{
    api_warn(&((const sn_context *)env)->options, said);
}

static bool wants_profile(void)
{
    const char *wanted = secure_getenv("SINTER_PROFILE");
    return wanted && *wanted && strcmp(wanted, "0") != 0;
}

sn_context *api_open(const sn_options *options, const base_heap *heap)
{
    sn_options copy;
    if (!copy_options(&copy, options)) {
        api_warn(&(sn_options){0}, "sn_open: options->size is not sizeof(sn_options); set it before anything else");
        return NULL;
    }
    sn_context *cx = heap->alloc(heap->env, sizeof(*cx));
    if (!cx) {
        api_warn(&copy, "no memory to open a context");
        return NULL;
    }
    *cx = (sn_context){.heap = *heap, .options = copy};
    cx->engine.counters = &cx->counters;
    cx->engine.cancels = &cx->cancels;
    cx->engine.say = say;
    cx->engine.say_env = cx;
    cx->engine.progress = copy.progress;
    cx->engine.progress_env = copy.env;
    pthread_mutex_init(&cx->moving, NULL);
    pthread_mutex_init(&cx->lock, NULL);
    pthread_mutex_init(&cx->measuring, NULL);
    cx->profile = wants_profile();
    atomic_init(&cx->holders, 1);
    if (open_device(cx) == SN_OK) {
        cx->row_loops = cx->engine.device != NULL;
        cx->small_from = SMALL_FROM;
        handle_watch();
        handle_made(cx, HANDLE_CONTEXT, "sn_open", (sn_site){NULL, 0}, NULL);
        return cx;
    }
    api_notes_close(cx);
    free_context(cx);
    return NULL;
}

sn_context *sn_open(const sn_options *options)
{
    return api_open(options, &base_heap_default);
}

bool api_is_open(sn_context *cx, api_who who)
{
    if (!cx || handle_stale(cx, HANDLE_CONTEXT, who.what))
        return false;
    if (atomic_load(&cx->closed))
        api_fail_at(cx, who, SN_BAD_HANDLE, "the context was closed before; open another one");
    return !atomic_load(&cx->closed);
}

/* Of a context that is still known: tells what it holds. */
static void report(sn_context *cx)
{
    char said[2048];
    if (handle_report(cx, said, sizeof(said)))
        api_warn(&cx->options, said);
}

void sn_close(sn_context *cx)
{
    if (!cx || handle_stale(cx, HANDLE_CONTEXT, "sn_close"))
        return;
    if (atomic_exchange(&cx->closed, true)) { /* what is held keeps it: it may still be looked at */
        api_warn(&cx->options, "sn_close: the context was closed before; it is closed once");
        return;
    }
    embed_drop_left();
    report(cx);
    api_context_let_go(cx);
}

void api_context_let_go(sn_context *cx)
{
    if (atomic_fetch_sub(&cx->holders, 1) > 1)
        return;
    run_pool_free(cx->engine.pool);
    if (cx->engine.device)
        cx->engine.device->close(cx->engine.device);
    api_notes_close(cx);
    free_context(cx);
}

sn_counters sn_counts(const sn_context *context)
{
    sn_counters n = {0};
    if (!context || handle_stale(context, HANDLE_CONTEXT, "sn_counts"))
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
    n.compiled = device_compiled(context->engine.device);
    n.loaded = device_loaded(context->engine.device);
    n.blocks = pool.blocks;
    n.block_bytes = pool.block_bytes;
    n.allocations = pool.allocations;
    n.allocated_bytes = pool.allocated_bytes;
    return n;
}
