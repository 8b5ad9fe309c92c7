/* Results that take the memory of parameters: arrays that a call gives away, which the last loop reads for the last
 * time, each element at its own place, may become its results. */
#include "run/fields.h"

#include "skeleton/skeleton.h"

enum { MOST_PAIRS = 64 /* remembered */ };

/* --- what is remembered of a program --- */

static const run_pair *find(const run_program *r, uint32_t from, uint32_t to)
{
    const run_pair *p = atomic_load_explicit(&r->pairs, memory_order_acquire);
    while (p && (p->from != from || p->to != to))
        p = p->next;
    return p;
}

/* Looking reads terms, and makes some. Memory that runs out means no. */
static bool look(run_program *r, uint32_t cluster, uint32_t from, uint32_t to)
{
    const plan_buffer *f = &r->plan->buffer.at[from], *t = &r->plan->buffer.at[to];
    const sk_over over = {f->array, f->component, t->array, t->component};
    arena *a = r->l->ir->arena;
    volatile bool good = false;
    jmp_buf failure;
    pthread_rwlock_wrlock(r->lock);
    if (!find(r, from, to) && !setjmp(failure)) {
        arena_on_failure(a, &failure);
        bool may = sk_may_write_over((sk_cluster *)(uintptr_t)&r->code[cluster], &over, a);
        good = may;
        if (r->pairs_n < MOST_PAIRS) {
            run_pair *pair = arena_new(a, *pair);
            *pair = (run_pair){(run_pair *)(uintptr_t)atomic_load(&r->pairs), from, to, may};
            atomic_store_explicit(&r->pairs, pair, memory_order_release);
            r->pairs_n++;
        }
    }
    const run_pair *known = find(r, from, to);
    arena_on_failure(a, NULL);
    pthread_rwlock_unlock(r->lock);
    return known ? known->may : good;
}

static bool may_write_over(run_program *r, uint32_t cluster, uint32_t from, uint32_t to)
{
    const run_pair *known = find(r, from, to);
    return known ? known->may : look(r, cluster, from, to);
}

/* --- a call --- */

/* Does anything but the last loop look at the parameter, or is it a result as it is? */
static bool needed_otherwise(const plan *p, uint32_t buffer)
{
    const ir_id array = p->buffer.at[buffer].array;
    for (uint32_t i = 0; i < p->result.n; i++)
        if (p->result.at[i].buffer == buffer)
            return true;
    for (uint32_t i = 0; i < p->host.step.n; i++)
        if (p->host.step.at[i].array == array)
            return true;
    return false;
}

static bool taken(const plan *p, const run_field *at, uint32_t buffer)
{
    for (uint32_t i = 0; i < p->buffer.n; i++)
        if (at[i].over == buffer + 1)
            return true;
    return false;
}

static bool find_for(run *c, run_field *at, uint32_t cluster, uint32_t to)
{
    const plan *p = c->plan;
    const plan_cluster *pc = &p->cluster.at[cluster];
    const plan_buffer *b = &p->buffer.at[to];
    if (b->place != PLAN_OUTPUT || c->out[b->port].given || b->room != b->shape)
        return false;
    for (uint32_t i = 0; i < pc->reads.n; i++) {
        const uint32_t from = pc->reads.at[i];
        const plan_buffer *f = &p->buffer.at[from];
        if (f->place == PLAN_INPUT && f->type == b->type && f->shape == b->shape && c->in[f->port].given &&
            !taken(p, at, from) && !needed_otherwise(p, from) && may_write_over(c->r, cluster, from, to)) {
            at[to].over = from + 1;
            return true;
        }
    }
    return false;
}

bool run_write_over(run *c, run_field *at)
{
    const plan *p = c->plan;
    bool given = false, any = false;
    for (uint32_t i = 0; i < p->input_first[p->inputs]; i++)
        given |= c->in[i].given != NULL;
    for (uint32_t i = 0; i < p->result.n; i++)
        given &= !c->out[i].upto; /* if there is too little memory, parameters are still the caller's */
    if (!given || !p->cluster.n || p->control.n)
        return false;
    /* Of the last loop: if there is no kernel for a later one, the call begins anew, interpreted. */
    const uint32_t last = p->cluster.n - 1;
    for (uint32_t i = 0; i < p->cluster.at[last].writes.n; i++)
        any |= find_for(c, at, last, p->cluster.at[last].writes.at[i]);
    return any;
}

void run_take_over(run *c, uint32_t buffer, size_t *granted)
{
    const run_field *at = c->layout ? &c->layout->at[buffer] : NULL;
    if (!at || !at->over)
        return;
    size_t *given = c->in[c->plan->buffer.at[at->over - 1].port].given;
    *granted = *given;
    *given = 0;
}
