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

bool cpu_put_offs_add(cpu_put_offs *all, const cpu_put_off *like, void *const *mem, const ir_bits *arg,
                      const device_reach *reach)
{
    if (all->launches == CPU_MOST_PUT_OFF || reach->pointers > MOST_POINTERS - all->pointers ||
        reach->arguments > MOST_ARGUMENTS - all->arguments)
        return false;
    cpu_put_off *l = &all->launch[all->launches++];
    *l = *like;
    l->mem = all->pointer + all->pointers;
    l->arg = all->argument + all->arguments;
    for (uint32_t i = 0; i < reach->pointers; i++) {
        const uintptr_t from = (uintptr_t)mem[i];
        l->level = level_behind(all, from, from + reach->at[i].bytes, reach->at[i].written, l->level);
    }
    for (uint32_t i = 0; i < reach->pointers; i++) {
        const uintptr_t from = (uintptr_t)mem[i];
        ranges *of = reach->at[i].written ? &all->written : &all->read;
        of->at[of->n++] = (range){from, from + reach->at[i].bytes, l->level};
        all->pointer[all->pointers++] = mem[i];
    }
    for (uint32_t i = 0; i < reach->arguments; i++)
        all->argument[all->arguments++] = arg[i];
    all->levels = l->level >= all->levels ? l->level + 1 : all->levels;
    all->work += l->work;
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
