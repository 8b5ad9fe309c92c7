/* The list: launches, and the memory that they touch. */
#include "device/cpu_put_off.h"

enum { MOST_POINTERS = 512, MOST_ARGUMENTS = 512 };

typedef struct range {
    uintptr_t from, end;
    uint32_t level; /* of its launch */
} range;

typedef struct ranges {
    uint32_t n;
    range at[MOST_POINTERS];
} ranges;

struct cpu_put_offs {
    uint32_t launches, pointers, arguments, levels;
    double work;
    cpu_put_off launch[CPU_MOST_PUT_OFF];
    ranges written, read; /* of each pointer one */
    void *pointer[MOST_POINTERS];
    ir_bits argument[MOST_ARGUMENTS];
};

cpu_put_offs *cpu_put_offs_new(const base_heap *heap)
{
    cpu_put_offs *all = heap->alloc(heap->env, sizeof(*all));
    if (all)
        cpu_put_offs_clear(all);
    return all;
}

void cpu_put_offs_free(cpu_put_offs *all, const base_heap *heap)
{
    if (all)
        heap->release(heap->env, all);
}

void cpu_put_offs_clear(cpu_put_offs *all)
{
    all->launches = all->pointers = all->arguments = all->levels = 0;
    all->written.n = all->read.n = 0;
    all->work = 0;
}

uint32_t cpu_put_offs_count(const cpu_put_offs *all)
{
    return all ? all->launches : 0;
}

double cpu_put_offs_work(const cpu_put_offs *all)
{
    return all->work;
}

static uint32_t highest(const ranges *of, uintptr_t from, uintptr_t end, uint32_t level)
{
    for (uint32_t i = 0; i < of->n; i++) {
        const range *r = &of->at[i];
        if (from < r->end && r->from < end && r->level >= level)
            level = r->level + 1;
    }
    return level;
}

/* 1 + the highest level among those that one which does this to that memory depends on, but at least `level`. */
static uint32_t level_behind(const cpu_put_offs *all, uintptr_t from, uintptr_t end, bool written, uint32_t level)
{
    level = highest(&all->written, from, end, level);
    return written ? highest(&all->read, from, end, level) : level;
}

bool cpu_put_offs_touch(const cpu_put_offs *all, const void *at, size_t bytes, bool written)
{
    return all && level_behind(all, (uintptr_t)at, (uintptr_t)at + bytes, written, 0) > 0;
}

bool cpu_reads_shared(const device_reach *reach)
{
    bool much = false;
    for (uint32_t i = 0; i < reach->pointers && reach->shares; i++)
        much |= !reach->at[i].written && reach->at[i].bytes >= CPU_LEAST_SHARED;
    return much;
}

bool cpu_put_offs_add(cpu_put_offs *all, const cpu_put_off *like, const device_reach *reach)
{
    if (all->launches == CPU_MOST_PUT_OFF || reach->pointers > MOST_POINTERS - all->pointers ||
        reach->arguments > MOST_ARGUMENTS - all->arguments)
        return false;
    cpu_put_off *l = &all->launch[all->launches++];
    *l = *like;
    l->mem = all->pointer + all->pointers;
    l->arg = all->argument + all->arguments;
    l->read = all->read.n;
    for (uint32_t i = 0; i < reach->pointers; i++) {
        const uintptr_t from = (uintptr_t)like->mem[i];
        l->level = level_behind(all, from, from + reach->at[i].bytes, reach->at[i].written, l->level);
    }
    for (uint32_t i = 0; i < reach->pointers; i++) {
        const uintptr_t from = (uintptr_t)like->mem[i];
        ranges *of = reach->at[i].written ? &all->written : &all->read;
        of->at[of->n++] = (range){from, from + reach->at[i].bytes, l->level};
        all->pointer[all->pointers++] = like->mem[i];
    }
    for (uint32_t i = 0; i < reach->arguments; i++)
        all->argument[all->arguments++] = like->arg[i];
    l->reads = all->read.n - l->read;
    all->levels = l->level >= all->levels ? l->level + 1 : all->levels;
    all->work += l->shares ? 0 : l->work;
    return true;
}

uint32_t cpu_put_offs_level(cpu_put_offs *all, uint32_t level, cpu_put_off **out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->launches && level < all->levels; i++)
        if (all->launch[i].level == level)
            out[n++] = &all->launch[i];
    return n;
}

/* The most bytes of one array that both read. */
static size_t shared_bytes(const cpu_put_offs *all, const cpu_put_off *a, const cpu_put_off *b)
{
    size_t most = 0;
    for (uint32_t i = a->read; i < a->read + a->reads; i++)
        for (uint32_t k = b->read; k < b->read + b->reads; k++) {
            const range *x = &all->read.at[i], *y = &all->read.at[k];
            const uintptr_t from = x->from > y->from ? x->from : y->from, end = x->end < y->end ? x->end : y->end;
            most = end > from && end - from > most ? end - from : most;
        }
    return most;
}

/* Brings those in front that share enough with the one at `first`. */
static uint32_t bring_in_front(const cpu_put_offs *all, cpu_put_off **of, uint32_t n, uint32_t first, size_t *bytes)
{
    cpu_put_off *front[CPU_MOST_PUT_OFF], *others[CPU_MOST_PUT_OFF];
    uint32_t found = 0, left = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const size_t both = i != first && of[i]->shares ? shared_bytes(all, of[first], of[i]) : 0;
        *(i == first || both >= CPU_LEAST_SHARED ? &front[found++] : &others[left++]) = of[i];
        *bytes = both > *bytes ? both : *bytes;
    }
    if (found < 2)
        return 0;
    memcpy(of, front, found * sizeof *of);
    memcpy(of + found, others, left * sizeof *of);
    return found;
}

uint32_t cpu_put_offs_sharing(const cpu_put_offs *all, cpu_put_off **of, uint32_t n, size_t *bytes)
{
    uint32_t found = 0;
    for (uint32_t first = 0; first < n && !found; first++)
        if (of[first]->shares)
            found = bring_in_front(all, of, n, first, bytes);
    return found;
}
