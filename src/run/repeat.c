/* Calls that only launch: scripts in brief, and what is left of such a call. */
#include "run/launch.h"
#include "run/script.h"

/* Memory of its own that a call has until it is over: more of it goes back as soon as nothing uses it. */
enum { MOST_SLOTS = 128, MOST_POINTERS = 64, MOST_OWN_BYTES = 1 << 20 };

/* --- from a script --- */

typedef struct place { /* of a buffer */
    uint32_t slot;     /* from 1; 0: it has none yet */
    size_t behind;
} place;

typedef struct brief {
    const run *c;
    place *of; /* per buffer */
    run_brief *to;
    run_brief_step *step;
    size_t own_bytes;
} brief;

static uint32_t inputs_of(const plan *p)
{
    return p->input_first[p->inputs];
}

/* A result's memory is the caller's, and has room for just that; else it is the call's own. */
static bool take(brief *b, uint32_t buffer)
{
    const run *c = b->c;
    const plan_buffer *of = &c->plan->buffer.at[buffer];
    size_t bytes = 0, at = 0;
    if (of->within) {
        if (!b->of[of->within - 1].slot && !take(b, of->within - 1))
            return false;
        for (uint32_t k = of->before; k; k = c->plan->buffer.at[k - 1].before)
            at += (size_t)c->size[c->plan->buffer.at[k - 1].shape];
        b->of[buffer] = b->of[of->within - 1];
        b->of[buffer].behind += at * ir_type_size(of->type);
        return true;
    }
    if (b->of[buffer].slot)
        return true;
    if (of->place == PLAN_OUTPUT) {
        b->of[buffer].slot = 1 + inputs_of(c->plan) + of->port;
        return c->out[of->port].given && !c->out[of->port].upto && c->size[of->room] == c->size[of->shape];
    }
    if (!run_alloc_bytes(c, buffer, &bytes) || b->to->slots == MOST_SLOTS || bytes > MOST_OWN_BYTES - b->own_bytes)
        return false;
    b->own_bytes += bytes;
    if (bytes)
        b->step[b->to->steps++] = (run_brief_step){.bytes = bytes, .slot = b->to->slots};
    b->of[buffer].slot = 1 + b->to->slots++;
    return true;
}

static bool clear(brief *b, uint32_t buffer)
{
    size_t bytes = 0;
    if (!run_alloc_bytes(b->c, buffer, &bytes) || !b->of[buffer].slot)
        return false;
    if (bytes)
        b->step[b->to->steps++] = (run_brief_step){.bytes = bytes, .slot = b->of[buffer].slot - 1, .cleared = true};
    return true;
}

static bool launch(brief *b, const run_ready *l)
{
    if (!l->variant)
        return true;
    if (l->variant->notes || l->pointers > MOST_POINTERS)
        return false;
    for (uint32_t i = 0; i < l->pointers; i++) {
        run_pointer *p = (run_pointer *)(uintptr_t)&l->pointer[i]; /* nobody else has seen it yet */
        const place *of = &b->of[p->buffer];
        if (!of->slot)
            return false;
        p->slot = of->slot - 1;
        p->behind = of->behind + p->offset;
    }
    b->step[b->to->steps++] = (run_brief_step){.ready = l};
    b->to->launches++;
    return true;
}

static bool one_step(brief *b, const run_scripted *x)
{
    switch (x->op) {
    case PLAN_ALLOC:
        return take(b, x->index);
    case PLAN_CLEAR:
        return clear(b, x->index);
    case PLAN_LAUNCH:
        return launch(b, x->ready);
    case PLAN_FREE: /* when the call is over */
    case PLAN_SIZE:
        return true;
    default:
        return false;
    }
}

const run_brief *run_brief_of(const run *c, const run_script *s, arena *a)
{
    const plan *p = c->plan;
    const device_limits *limits = c->r->engine.device->limits;
    if (!limits->waits || limits->own_memory || c->within || s->again || inputs_of(p) + p->result.n > MOST_SLOTS)
        return NULL;
    run_brief *to = arena_new(a, *to);
    brief b = {.c = c, .to = to};
    b.of = arena_array(c->arena, *b.of, p->buffer.n + 1);
    b.step = arena_array(c->arena, *b.step, 2 * s->steps + 1);
    to->ports = to->slots = inputs_of(p) + p->result.n;
    for (uint32_t i = 0; i < p->buffer.n; i++)
        if (p->buffer.at[i].place == PLAN_INPUT)
            b.of[i].slot = 1 + p->buffer.at[i].port;
    for (uint32_t i = 0; i < p->result.n; i++)
        if (p->result.at[i].copied || p->buffer.at[p->result.at[i].buffer].place != PLAN_OUTPUT)
            return NULL;
    for (uint32_t i = 0; i < s->steps; i++)
        if (!one_step(&b, &s->step[i]))
            return NULL;
    to->step = arena_copy(a, b.step, to->steps * sizeof(*to->step));
    return to;
}

/* --- calls --- */

typedef struct repeated {
    run_program *r;
    device *d;
    device_queue *queue;
    void **slot;
    size_t *granted; /* per slot, of those that are the call's own */
    unsigned cancels;
} repeated;

static bool enqueue(const repeated *c, const run_ready *l)
{
    const atomic_uint *cancels = c->r->engine.cancels;
    device_kernel *code = atomic_load_explicit(&l->variant->code, memory_order_acquire);
    void *mem[MOST_POINTERS];
    if (cancels && atomic_load_explicit(cancels, memory_order_relaxed) != c->cancels)
        return false;
    for (uint32_t i = 0; i < l->pointers; i++)
        mem[i] = (char *)c->slot[l->pointer[i].slot] + l->pointer[i].behind;
    const sk_geometry *g = &l->found->geometry;
    const bool apart = l->apart && (run_worth_apart(l->reach.work) || c->d->busy(c->d, c->queue));
    return c->d->enqueue(c->d, c->queue, code, mem, l->arg, 0, g->pieces, run_is_small(g), apart ? &l->reach : NULL);
}

static bool do_step(repeated *c, const run_brief_step *s)
{
    if (s->ready)
        return enqueue(c, s->ready);
    if (s->cleared)
        return c->d->clear(c->d, c->queue, c->slot[s->slot], s->bytes);
    c->slot[s->slot] = run_pool_take(c->r->engine.pool, s->bytes, &c->granted[s->slot]);
    return c->slot[s->slot];
}

/* What was put off is done by now, too. */
static bool settled(repeated *c, arena *a)
{
    k_error error = {0};
    const char *why = NULL;
    return c->d->finish(c->d, c->queue, &error, a, &why) == DEVICE_FINE && !error.site;
}

/* What drafts do is counted, until they are replaced, which the long way does. Looked at before anything is launched,
 * or that would be done twice. */
static bool has_drafts(const run_brief *b)
{
    for (uint32_t i = 0; i < b->steps; i++)
        if (b->step[i].ready &&
            device_is_draft(atomic_load_explicit(&b->step[i].ready->variant->code, memory_order_acquire)))
            return true;
    return false;
}

bool run_repeat(run_program *r, const run_script *s, void *const *port, unsigned cancels)
{
    const run_brief *b = s->brief;
    void *slot[MOST_SLOTS];
    size_t granted[MOST_SLOTS];
    repeated c = {.r = r, .d = r->engine.device, .slot = slot, .granted = granted, .cancels = cancels};
    if (r->engine.progress || run_recording(r) || atomic_load_explicit(&r->interpreted, memory_order_relaxed) ||
        has_drafts(b))
        return false;
    c.queue = c.d->open_queue(c.d, NULL, NULL);
    if (!c.queue)
        return false;
    bool good = true;
    memcpy(slot, port, b->ports * sizeof(*slot));
    for (uint32_t i = b->ports; i < b->slots; i++)
        slot[i] = NULL;
    for (uint32_t i = 0; i < b->steps && good; i++)
        good = do_step(&c, &b->step[i]);
    arena unused;
    arena_init(&unused, r->engine.heap);
    good &= settled(&c, &unused);
    arena_free(&unused);
    c.d->close_queue(c.d, c.queue);
    for (uint32_t i = b->ports; i < b->slots; i++)
        run_pool_give(r->engine.pool, slot[i], granted[i]);
    if (good)
        run_count_launched(r, b->launches);
    return good;
}
