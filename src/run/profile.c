/* Records what calls spend their time on. Launches are told apart by kernel, extents and sizes of arrays: they stand in
 * a list a cluster, which only grows. */
#include "base/size.h"
#include "run/tape.h"

#include <time.h>

enum { MOST_ROWS = 32 /* told apart, a cluster */ };

uint64_t run_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- timings --- */

static void add(run_timing *to, uint64_t ns, uint64_t bytes)
{
    uint_fast64_t least = atomic_load_explicit(&to->least, memory_order_relaxed);
    const uint64_t told = ns ? ns : 1; /* 0: none so far */
    while ((!least || told < least) &&
           !atomic_compare_exchange_weak_explicit(&to->least, &least, told, memory_order_relaxed, memory_order_relaxed))
        ;
    run_count(&to->total, ns);
    run_count(&to->bytes, bytes);
    run_count(&to->count, 1);
}

static void forget(run_timing *t)
{
    atomic_store_explicit(&t->count, 0, memory_order_relaxed);
    atomic_store_explicit(&t->total, 0, memory_order_relaxed);
    atomic_store_explicit(&t->least, 0, memory_order_relaxed);
    atomic_store_explicit(&t->bytes, 0, memory_order_relaxed);
}

void run_record(run_program *r, bool on)
{
    run_profile *p = r->profile;
    if (on) {
        run_forget_tapes(r);
        forget(&p->call);
        for (int i = 0; i < RUN_STEPS; i++)
            forget(&p->step[i]);
        for (uint32_t i = 0; i < r->l->cluster.n; i++)
            for (run_row *row = atomic_load(&r->cluster[i].rows); row; row = row->next)
                forget(&row->time);
    }
    atomic_store(&p->on, on);
}

bool run_recording(const run_program *r)
{
    return atomic_load_explicit(&r->profile->on, memory_order_relaxed);
}

bool run_recorded(const run_program *r)
{
    return atomic_load(&((run_program *)(uintptr_t)r)->profile->call.count) > 0;
}

uint64_t run_clock(const run_program *r)
{
    return run_recording(r) ? run_now() : 0;
}

void run_note_step(run_program *r, run_step step, uint64_t since, uint64_t bytes)
{
    if (since)
        add(&r->profile->step[step], run_now() - since, bytes);
}

void run_note_call(run_program *r, uint64_t since)
{
    if (since)
        add(&r->profile->call, run_now() - since, 0);
}

/* What it took, less the steps within it. */
static uint64_t end(run *c, run_watch w)
{
    uint64_t all = run_now() - w.since, within = c->noted - w.noted, own = all > within ? all - within : 0;
    c->noted += own;
    return own;
}

void run_record_step(run *c, run_watch w, run_step step, uint64_t bytes)
{
    add(&c->r->profile->step[step], end(c, w), bytes);
}

/* --- launches --- */

/* Elements of a buffer: of arguments by the caller, whatever their shapes' terms say. */
static int64_t elements_of(const run *c, uint32_t buffer)
{
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    int64_t n = 0;
    if (b->place != PLAN_INPUT)
        return c->size[b->shape];
    size_count(c->plan->shape.at[b->shape].rank, c->in[b->port].extent, &n);
    return n;
}

static int64_t elements_bound(const run *c, const run_variant *v, uint32_t i)
{
    return v->memory[i].role == SK_ARRAY ? elements_of(c, v->memory[i].number) : -1;
}

static bool same(const run *c, const run_row *row, const run_geometry *g, const run_variant *v)
{
    if (row->variant != v || row->partials != g->round.partials || row->pieces != g->geometry.pieces ||
        memcmp(row->extent, g->extent, sizeof(row->extent)))
        return false;
    for (uint32_t i = 0; i < v->built->memory.n; i++)
        if (row->elements[i] != elements_bound(c, v, i))
            return false;
    return true;
}

static run_row *find(const run *c, run_row *list, const run_geometry *g, const run_variant *v)
{
    while (list && !same(c, list, g, v))
        list = list->next;
    return list;
}

static run_row *rest(run_row *list)
{
    while (list && list->variant)
        list = list->next;
    return list;
}

/* `v` NULL: of further extents. NULL: no memory. */
static run_row *new_row(const run *c, const run_geometry *g, const run_variant *v, const ir_bits *arg)
{
    const base_heap *heap = c->r->engine.heap;
    size_t memories = v ? v->built->memory.n : 0, arguments = v ? v->built->argument.n : 0;
    run_row *row = heap->alloc(heap->env, sizeof(*row) + memories * sizeof(int64_t) + arguments * sizeof(ir_bits));
    if (!row)
        return NULL;
    *row = (run_row){.variant = v};
    if (!v)
        return row;
    row->partials = g->round.partials;
    row->pieces = g->geometry.pieces;
    memcpy(row->extent, g->extent, sizeof(row->extent));
    row->elements = (int64_t *)(void *)(row + 1);
    row->arg = (ir_bits *)(void *)(row->elements + memories);
    for (uint32_t i = 0; i < memories; i++)
        row->elements[i] = elements_bound(c, v, i);
    if (arguments)
        memcpy(row->arg, arg, arguments * sizeof(ir_bits));
    return row;
}

static run_row *row_of(run *c, const run_geometry *g, const run_variant *v, const ir_bits *arg)
{
    run_cluster *rc = &c->r->cluster[g->cluster];
    run_row *row = find(c, atomic_load_explicit(&rc->rows, memory_order_acquire), g, v);
    if (row)
        return row;
    pthread_mutex_lock(&c->r->profile->lock);
    run_row *list = atomic_load(&rc->rows);
    bool told_apart = rc->recorded < MOST_ROWS;
    row = find(c, list, g, v); /* another thread may have been faster */
    if (!row && !told_apart)
        row = rest(list);
    if (!row) {
        row = new_row(c, g, told_apart ? v : NULL, arg);
        if (row) {
            row->next = list;
            rc->recorded++;
            atomic_store_explicit(&rc->rows, row, memory_order_release);
        }
    }
    pthread_mutex_unlock(&c->r->profile->lock);
    return row;
}

void run_record_launch(run *c, run_watch w, const run_geometry *found, const run_variant *v, const ir_bits *arg,
                       uint64_t device_ns)
{
    uint64_t ns = end(c, w);
    run_row *row = row_of(c, found, v, arg);
    if (row)
        add(&row->time, device_ns ? device_ns : ns, 0);
}

void run_visit_launches(const run_program *r, void (*visit)(void *env, const run_launched *l), void *env)
{
    for (uint32_t i = 0; i < r->l->cluster.n; i++) {
        const run_row *last = NULL;
        for (;;) { /* the list has the latest first */
            const run_row *row = atomic_load(&((run_program *)(uintptr_t)r)->cluster[i].rows);
            while (row && row->next != last)
                row = row->next;
            if (!row)
                break;
            if (row->variant && atomic_load(&((run_row *)(uintptr_t)row)->time.count))
                visit(env, &(run_launched){i, row->variant->built, row->pieces, row->arg, row->elements});
            last = row;
        }
    }
}

void run_free_rows(run_program *r)
{
    const base_heap *heap = r->engine.heap;
    for (uint32_t i = 0; i < r->l->cluster.n; i++)
        for (run_row *row = atomic_load(&r->cluster[i].rows), *next; row; row = next) {
            next = row->next;
            heap->release(heap->env, row);
        }
}
