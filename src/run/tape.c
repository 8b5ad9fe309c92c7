/* Tapes of recorded calls. */
#include "run/tape.h"

#include "run/sort.h"

struct run_tapes { /* of a program's calls */
    arena arena;
    run_tape *all, *call; /* call: the outermost */
    bool begun;           /* the arena is one */
};

/* --- who has them --- */

static bool take(run_profile *p)
{
    bool no = false;
    return atomic_compare_exchange_strong(&p->taping, &no, true);
}

static void forget(struct run_tapes *t)
{
    if (t->begun)
        arena_free(&t->arena);
    *t = (struct run_tapes){0};
}

static struct run_tapes *tapes_of(run_program *r)
{
    const base_heap *heap = r->engine.heap;
    if (!r->profile->tapes && (r->profile->tapes = heap->alloc(heap->env, sizeof(struct run_tapes))))
        *r->profile->tapes = (struct run_tapes){0};
    return r->profile->tapes;
}

bool run_tapes_open(run_program *r)
{
    return take(r->profile);
}

void run_tapes_close(run_program *r)
{
    atomic_store(&r->profile->taping, false);
}

void run_forget_tapes(run_program *r)
{
    if (!take(r->profile)) {
        atomic_store(&r->profile->stale, true); /* a call is taped: the next one begins anew */
        return;
    }
    if (r->profile->tapes)
        forget(r->profile->tapes);
    run_tapes_close(r);
}

void run_free_tapes(run_program *r)
{
    const base_heap *heap = r->engine.heap;
    if (!r->own_profile.tapes)
        return;
    forget(r->own_profile.tapes);
    heap->release(heap->env, r->own_profile.tapes);
    r->own_profile.tapes = NULL;
}

const run_tape *run_tape_of_call(const run_program *r)
{
    return r->profile->tapes && !atomic_load(&r->profile->stale) ? r->profile->tapes->call : NULL;
}

const run_tape *run_tapes_all(const run_program *r)
{
    return run_tape_of_call(r) ? r->profile->tapes->all : NULL;
}

/* --- a call begins --- */

static uint32_t parameters(const run *c)
{
    return c->plan->input_first[c->plan->inputs];
}

static bool same_extents(const run *c, const run_tape *t)
{
    for (uint32_t i = 0; i < parameters(c); i++)
        if (memcmp(t->in[i], c->in[i].extent, sizeof(t->in[i])))
            return false;
    return true;
}

static run_tape *new_tape(run *c, struct run_tapes *all)
{
    const plan *p = c->plan;
    arena *a = &all->arena;
    run_tape *t = arena_new(a, *t);
    t->r = c->r;
    t->in = arena_array(a, *t->in, parameters(c) + 1);
    t->out = arena_array(a, *t->out, p->result.n + 1);
    t->dim = arena_copy(a, c->dims, (p->dim.n + 1) * sizeof(int64_t));
    for (uint32_t i = 0; i < parameters(c); i++)
        memcpy(t->in[i], c->in[i].extent, sizeof(t->in[i]));
    t->next = all->all;
    all->all = t;
    return t;
}

/* The tapes are this call's until it ends. */
static struct run_tapes *take_tapes(run *c)
{
    const device *d = c->r->engine.device;
    if (!c->recorded || !d || !d->limits->driven || !take(c->r->profile))
        return NULL;
    struct run_tapes *all = tapes_of(c->r);
    if (!all) {
        run_tapes_close(c->r);
        return NULL;
    }
    c->tapes = all;
    if (atomic_exchange(&c->r->profile->stale, false) ||
        (all->call && (all->call->r != c->r || !all->call->whole || !same_extents(c, all->call))))
        forget(all);
    if (!all->begun)
        arena_init(&all->arena, c->r->engine.heap);
    all->begun = true;
    return all;
}

static void differs(run *c)
{
    if (c->tape)
        c->tape->differs = true;
}

static void cannot_be_told(run *c, const char *why)
{
    if (c->tape && !c->tape->why)
        c->tape->why = why;
}

void run_tape_begin(run *c)
{
    struct run_tapes *all = c->root == c ? take_tapes(c) : c->root->tapes;
    if (!all)
        return;
    arena_on_failure(&all->arena, c->arena->failure);
    run_tape *known = all->all;
    while (known && known->r != c->r)
        known = known->next;
    c->tape = known && known->whole ? known : new_tape(c, all);
    c->tape_at = 0;
    if (c->root == c)
        all->call = c->tape;
    if (c->tape->whole && !same_extents(c, c->tape))
        differs(c);
    if (c->layout || c->field)
        cannot_be_told(c, "arguments are given away, or fields of structs; record a call with arrays");
}

void run_tape_end(run *c, bool good)
{
    struct run_tapes *all = c->root->tapes;
    if (c->tape && good) {
        for (uint32_t i = 0; i < c->plan->result.n && !c->tape->whole; i++)
            memcpy(c->tape->out[i], c->out[i].extent, sizeof(c->tape->out[i]));
        if (c->tape->whole && c->tape_at != c->tape->step.n)
            differs(c);
        c->tape->whole = true;
    }
    c->tape = NULL;
    if (c->root != c || !all)
        return;
    arena_on_failure(&all->arena, NULL);
    c->tapes = NULL;
    run_tapes_close(c->r);
}

void run_tape_foreign(run *c)
{
    cannot_be_told(
        c, "a foreign function ran, of which there is no source; a call without it is exported with its fallback");
}

/* --- steps --- */

static bool same_launch(const run_taped *x, const run_taped *y)
{
    for (uint32_t i = 0; i < x->variant->built->memory.n; i++)
        if (x->buffer[i] != y->buffer[i] || x->offset[i] != y->offset[i])
            return false;
    for (uint32_t i = 0; i < x->variant->built->argument.n; i++) /* others are computed */
        if (x->variant->argument[i].slot && x->arg[i] != y->arg[i])
            return false;
    return x->pieces == y->pieces;
}

/* New, or what it was before. */
static void note(run *c, const run_taped *s)
{
    run_tape *t = c->tape;
    if (!t->whole) {
        struct run_tapes *all = c->root->tapes;
        arena_on_failure(&all->arena, c->arena->failure);
        run_taped kept = *s;
        if (s->variant) {
            const sk_kernel *k = s->variant->built;
            kept.buffer = arena_copy(&all->arena, s->buffer, (k->memory.n + 1) * sizeof(*s->buffer));
            kept.offset = arena_copy(&all->arena, s->offset, (k->memory.n + 1) * sizeof(*s->offset));
            kept.arg = arena_copy(&all->arena, s->arg, (k->argument.n + 1) * sizeof(*s->arg));
        }
        vec_push(&all->arena, &t->step, kept);
        return;
    }
    const run_taped *before = c->tape_at < t->step.n ? &t->step.at[c->tape_at] : NULL;
    c->tape_at++;
    if (!before || before->op != s->op || before->index != s->index || before->last != s->last ||
        before->bytes != s->bytes || before->variant != s->variant || (s->variant && !same_launch(before, s)))
        differs(c);
}

void run_tape_step(run *c, const plan_step *s)
{
    run_taped t = {.op = s->op, .index = s->index, .last = s->last};
    const plan *p = c->plan;
    if (!c->tape)
        return;
    switch (s->op) {
    case PLAN_ALLOC:
        run_alloc_bytes(c, s->index, &t.bytes);
        if (p->buffer.at[s->index].within)
            cannot_be_told(c, "an array is joined of parts in their place");
        break;
    case PLAN_CLEAR:
        run_alloc_bytes(c, s->index, &t.bytes);
        break;
    case PLAN_BEGIN:
        run_bytes(c, &p->buffer.at[s->index], &t.bytes);
        break;
    case PLAN_COPY:
        run_bytes(c, &p->buffer.at[p->result.at[s->index].buffer], &t.bytes);
        break;
    case PLAN_IF:
    case PLAN_FOREIGN:
    case PLAN_WHILE:
    case PLAN_REPEAT:
    case PLAN_SWAP:
    case PLAN_FREE:
        break;
    default: /* launches have been noted with what they were given; the others leave nothing behind */
        return;
    }
    note(c, &t);
}

static uint32_t buffer_of(const run *c, uint32_t launch, const run_binding *b)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    switch (b->role) {
    case SK_ARRAY:
        return b->number;
    case SK_PARTIAL_IN:
        return l->in + b->number;
    case SK_PARTIAL_OUT:
        return l->out + b->number;
    case SK_SORTED_FROM:
    case SK_SORTED_TO:
        return run_sort_buffer(c, launch, b->number, b->role == SK_SORTED_TO);
    default:
        return l->state;
    }
}

void run_tape_launch(run *c, uint32_t launch, const run_variant *v, int64_t pieces, const ir_bits *arg)
{
    if (!c->tape)
        return;
    const uint32_t n = v->built->memory.n;
    run_taped t = {.op = PLAN_LAUNCH, .index = launch, .variant = v, .pieces = pieces};
    t.buffer = arena_array(c->arena, *t.buffer, n + 1);
    t.offset = arena_array(c->arena, *t.offset, n + 1);
    t.arg = (ir_bits *)(uintptr_t)arg;
    for (uint32_t i = 0; i < n; i++) {
        t.buffer[i] = buffer_of(c, launch, &v->memory[i]);
        t.offset[i] = v->memory[i].role == SK_STATE ? v->memory[i].number * pieces * (int64_t)sizeof(uint64_t) : 0;
    }
    if (c->plan->cluster.at[c->plan->launch.at[launch].cluster].sorts)
        differs(c);
    note(c, &t);
}
