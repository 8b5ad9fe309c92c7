/* Calls that go on while their caller does something else: queued where queues do not wait and the host has nothing to
 * decide on the way, else on a thread of their own. */
#include "api/call.h"

struct sn_pending {
    handle handle; /* first */
    arena arena;   /* of all below, and of the call */
    call call;
    run *run;
    sn_status status;
    run_said said;
    char *refusal;    /* what was wrong with its arguments, for whoever waits; of the context's heap */
    bool begun;       /* its arguments were right */
    atomic_bool stop; /* the call is to end */
    unsigned cancels; /* how often all calls had been cancelled when it was started */
    bool queued;      /* all of it was put into a queue */
    bool threaded;    /* `thread` runs it */
    pthread_t thread;
};

/* Calls that cannot be written down: what sn_wait is to say. */
static const sn_pending without_program = {.status = SN_NO_PROGRAM}, without_memory = {.status = SN_NO_MEMORY},
                        without_handle = {.status = SN_BAD_HANDLE};

static sn_pending *constant(const sn_pending *p)
{
    return (sn_pending *)(uintptr_t)p;
}

static void *run_whole(void *env)
{
    sn_pending *p = env;
    run *c = run_begin_until(call_version(&p->call), p->call.in, p->call.out, &p->arena, &p->stop, p->cancels);
    p->status = run_end(c, &p->said);
    return NULL;
}

/* Without another thread it is done at once. */
static void begin(sn_pending *p)
{
    const call *c = &p->call;
    const device *d = c->p->context->engine.device;
    run_program *version = d && !d->limits->waits ? call_version(c) : NULL;
    p->cancels = run_cancels(c->p->run); /* now, not when the thread has come as far: sn_start has returned by then */
    p->queued = version && !run_begin_waits(version);
    if (p->queued) {
        p->run = run_begin_until(version, c->in, c->out, &p->arena, &p->stop, p->cancels);
        return;
    }
    p->threaded = pthread_create(&p->thread, NULL, run_whole, p) == 0;
    if (!p->threaded)
        run_whole(p);
}

static void end(sn_pending *p)
{
    if (p->threaded)
        pthread_join(p->thread, NULL);
    else if (p->queued)
        p->status = run_end(p->run, &p->said);
}

/* NULL: no memory, reported. */
static sn_pending *new_pending(sn_site at, sn_program *program, int count, const sn_arg *arguments)
{
    const call refused = {.at = at, .p = program};
    sn_context *cx = program->context;
    sn_pending *p = cx->heap.alloc(cx->heap.env, sizeof(*p));
    if (!p) {
        call_fail(&refused, SN_NO_MEMORY, "no memory for a call");
        return NULL;
    }
    jmp_buf failure;
    *p = (sn_pending){.call = {.at = at, .p = program, .count = count}};
    arena_init(&p->arena, &cx->heap);
    if (setjmp(failure)) {
        arena_free(&p->arena);
        cx->heap.release(cx->heap.env, p);
        call_fail(&refused, SN_NO_MEMORY, "no memory for a call");
        return NULL;
    }
    arena_on_failure(&p->arena, &failure);
    if (count > 0 && arguments)
        p->call.arg = arena_copy(&p->arena, arguments, (size_t)count * sizeof(sn_arg));
    if (at.file)
        p->call.at.file = arena_copy(&p->arena, at.file, strlen(at.file) + 1);
    call_room(&p->call, &p->arena);
    arena_on_failure(&p->arena, NULL);
    handle_open(cx, &p->handle, HANDLE_PENDING, "sn_start", at);
    return p;
}

static sn_pending *refused(sn_pending *p, sn_status status)
{
    sn_context *cx = p->call.p->context;
    const char *said = sn_message(cx);
    size_t bytes = strlen(said) + 1;
    p->status = status;
    p->refusal = cx->heap.alloc(cx->heap.env, bytes);
    if (p->refusal)
        memcpy(p->refusal, said, bytes);
    return p;
}

sn_pending *sn_start_n(sn_program *program, int count, const sn_arg *arguments)
{
    return sn_start_at((sn_site){NULL, 0}, program, count, arguments);
}

sn_pending *sn_start_at(sn_site at, sn_program *program, int count, const sn_arg *arguments)
{
    if (!program)
        return constant(&without_program);
    if (handle_stale(program, HANDLE_PROGRAM, "sn_start"))
        return constant(&without_handle);
    sn_pending *p = new_pending(at, program, count < 0 ? 0 : count, arguments);
    if (!p)
        return constant(&without_memory);
    sn_status status = call_check_count(&p->call);
    if (status != SN_OK)
        return refused(p, status);
    status = call_take_arguments(&p->call);
    if (status != SN_OK) {
        call_give_up(&p->call);
        return refused(p, status);
    }
    p->begun = true;
    call_count(&p->call);
    begin(p);
    return p;
}

void sn_cancel(sn_pending *p)
{
    if (!p || p == constant(&without_program) || p == constant(&without_memory) || p == constant(&without_handle) ||
        handle_stale(p, HANDLE_PENDING, "sn_cancel"))
        return;
    atomic_store_explicit(&p->stop, true, memory_order_relaxed);
}

void sn_cancel_calls(sn_context *cx)
{
    if (cx)
        atomic_fetch_add_explicit(&cx->cancels, 1, memory_order_relaxed);
}

sn_status sn_wait(sn_pending *p)
{
    if (!p)
        return SN_BAD_ARGUMENT;
    if (p == constant(&without_program) || p == constant(&without_memory) || p == constant(&without_handle))
        return p->status;
    if (handle_stale(p, HANDLE_PENDING, "sn_wait"))
        return SN_BAD_HANDLE;
    sn_context *cx = p->call.p->context;
    const base_heap *heap = &cx->heap;
    if (p->begun) {
        end(p);
        p->status = call_hand_over(&p->call, p->status, &p->said);
    } else {
        api_note(cx, p->refusal ? p->refusal : "no memory for a message");
        heap->release(heap->env, p->refusal);
    }
    sn_status status = p->status;
    arena_free(&p->arena);
    handle_close(cx, &p->handle);
    return status;
}
