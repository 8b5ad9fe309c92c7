/* Notes of `trace`, taken by any number of threads. Those of the smallest elements are kept, so that what is shown does
 * not depend on which thread was first. */
#include "ir/trace.h"

#include <stdlib.h>

static int by_element(const void *left, const void *right)
{
    const ir_trace_entry *a = left, *b = right;
    if (a->element != b->element)
        return a->element < b->element ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

void ir_trace_sort(ir_trace *t)
{
    if (t->n)
        qsort(t->entry, t->n, sizeof(*t->entry), by_element);
    if (t->n > IR_MOST_TRACES)
        t->n = IR_MOST_TRACES;
}

void ir_trace_note(ir_trace *t, uint32_t site, ir_type type, int64_t element, ir_bits value)
{
    while (__atomic_exchange_n(&t->lock, 1, __ATOMIC_ACQUIRE))
        ;
    if (!t->entry)
        t->entry = t->heap->alloc(t->heap->env, 2 * IR_MOST_TRACES * sizeof(*t->entry));
    if (t->n == 2 * IR_MOST_TRACES)
        ir_trace_sort(t);
    if (t->entry)
        t->entry[t->n++] = (ir_trace_entry){
            .site = site, .type = (uint8_t)type, .element = element, .value = value, .order = t->noted};
    t->noted++;
    __atomic_store_n(&t->lock, 0, __ATOMIC_RELEASE);
}

void ir_trace_clear(ir_trace *t)
{
    t->heap->release(t->heap->env, t->entry);
    *t = (ir_trace){.heap = t->heap};
}
