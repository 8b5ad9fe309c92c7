/* Calls like one that went well before: arguments of the same kinds and extents, all of them in the caller's memory.
 * What is left to check is where that is; what is left to do is what the run's script says in brief (run/repeat.c).
 * Whatever is different, or goes wrong, is left to the long way, which says so. */
#include "api/call.h"

enum { MOST_AGAIN = 8 /* a program */, MOST_PORTS = 128 };

typedef struct again_argument {
    sn_arg_kind kind;
    sn_type type;
    int rank;
    uint32_t element; /* bytes */
    size_t bytes;
    int64_t extent[IR_MAX_RANK];
} again_argument;

typedef struct call_again {
    struct call_again *next;
    run_program *run;
    const run_script *script;
    uint32_t number; /* from 1: so many there are with the next ones */
    int count, params;
    again_argument argument[];
} again;

/* --- noting --- */

static bool may_come_again(const call *c)
{
    if (c->structs_n || (uint32_t)c->count + c->p->ports.constant.n > MOST_PORTS || c->p->constant)
        return false;
    for (int i = 0; i < c->count; i++) {
        const sn_arg_kind kind = c->arg[i].kind;
        if ((kind != SN_ARG_IN && kind != SN_ARG_INTO && kind != SN_ARG_VALUE) || c->arg[i].stride)
            return false;
    }
    return true;
}

/* Two threads may note the same, which does no harm. */
void call_note(const call *c, run_program *version)
{
    sn_program *p = c->p;
    const base_heap *heap = &p->context->heap;
    again *first = atomic_load_explicit(&p->again, memory_order_acquire);
    if (!p->context->engine.device || (first && first->number >= MOST_AGAIN) || !may_come_again(c))
        return;
    const run_script *script = run_brief_script(version, c->in, c->out);
    again *x = script ? heap->alloc(heap->env, sizeof(*x) + (size_t)c->count * sizeof(*x->argument)) : NULL;
    if (!x)
        return;
    *x = (again){.run = version, .script = script, .count = c->count, .params = (int)p->params};
    for (int i = 0; i < c->count; i++) {
        const sn_arg *a = &c->arg[i];
        again_argument *b = &x->argument[i];
        *b = (again_argument){a->kind, a->type, a->rank, (uint32_t)ir_type_size(p->type[i]), c->bytes[i], {0}};
        memcpy(b->extent, a->extent, sizeof(b->extent));
    }
    do {
        x->next = first;
        x->number = first ? first->number + 1 : 1;
    } while (!atomic_compare_exchange_weak(&p->again, &first, x));
}

void call_forget(sn_program *p)
{
    const base_heap *heap = &p->context->heap;
    for (again *x = atomic_load(&p->again), *next; x; x = next) {
        next = x->next;
        heap->release(heap->env, x);
    }
}

/* --- coming again --- */

static bool same(const again_argument *x, const sn_arg *a)
{
    if (a->kind != x->kind || a->type != x->type || a->rank != x->rank || a->stride)
        return false;
    for (int d = 0; d < x->rank; d++)
        if (a->extent[d] != x->extent[d])
            return false;
    return true;
}

static const again *find(const call *c)
{
    const again *x = atomic_load_explicit(&c->p->again, memory_order_acquire);
    for (; x; x = x->next) {
        int i = 0;
        while (x->count == c->count && i < x->count && same(&x->argument[i], &c->arg[i]))
            i++;
        if (i == c->count && x->count == c->count)
            return x;
    }
    return NULL;
}

/* Is there memory, aligned to its elements, for each argument? Then: the addresses [from, end) of all parameters. */
static bool in_memory(const again *x, const sn_arg *arg, uintptr_t *from, uintptr_t *end)
{
    *from = UINTPTR_MAX;
    *end = 0;
    for (int i = 0; i < x->count; i++) {
        const uintptr_t at = (uintptr_t)arg[i].u.from;
        const again_argument *a = &x->argument[i];
        if (a->bytes && (!at || at & (a->element - 1)))
            return false;
        if (i >= x->params || !a->bytes)
            continue;
        *from = at < *from ? at : *from;
        *end = at + a->bytes > *end ? at + a->bytes : *end;
    }
    return true;
}

static bool overlap(const again *x, const sn_arg *arg, int i, int k)
{
    const uintptr_t a = (uintptr_t)arg[i].u.from, b = (uintptr_t)arg[k].u.from;
    const size_t bytes = x->argument[i].bytes, others = x->argument[k].bytes;
    return bytes && others && a < b + others && b < a + bytes;
}

/* Results lie over nothing else. Most lie beyond all parameters, and behind the results before them. */
static bool apart(const again *x, const sn_arg *arg, uintptr_t from, uintptr_t end)
{
    uintptr_t first = UINTPTR_MAX, last = 0; /* of the results so far */
    for (int i = x->params; i < x->count; i++) {
        const uintptr_t at = (uintptr_t)arg[i].u.from, behind = at + x->argument[i].bytes;
        for (int k = 0; at < end && from < behind && k < x->params; k++)
            if (overlap(x, arg, i, k))
                return false;
        for (int k = x->params; at < last && first < behind && k < i; k++)
            if (overlap(x, arg, i, k))
                return false;
        if (at == behind)
            continue;
        first = at < first ? at : first;
        last = behind > last ? behind : last;
    }
    return true;
}

bool call_again(const call *c)
{
    const sn_program *p = c->p;
    if (c->count <= 0 || !c->arg)
        return false;
    const again *x = find(c);
    uintptr_t from, end;
    if (!x || !in_memory(x, c->arg, &from, &end) || !apart(x, c->arg, from, end))
        return false;
    void *port[MOST_PORTS];
    uint32_t n = 0;
    for (int i = 0; i < x->params; i++)
        port[n++] = c->arg[i].u.to;
    for (uint32_t i = 0; i < p->ports.constant.n; i++)
        port[n++] = (void *)(uintptr_t)p->ports.constant.at[i].data;
    for (int i = x->params; i < x->count; i++)
        port[n++] = c->arg[i].u.to;
    if (!run_repeat(x->run, x->script, port, c->cancels))
        return false;
    run_count(&p->context->counters.calls, 1);
    return true;
}
