/* What `trace` saw, as text: "file.c:12: trace: element 5: 3.25". Said when no lock is held, as a listener may do
 * anything. */
#include "run/program.h"

#include <inttypes.h>

static void put_value(text *t, ir_type type, ir_bits value)
{
    if (type == T_BOOL)
        text_add(t, value ? "true" : "false");
    else if (type == T_F32)
        text_shortest(t, (double)ir_f32_bits(value), true, 6);
    else if (type == T_F64)
        text_shortest(t, ir_f64_bits(value), false, 6);
    else {
        const unsigned above = 64 - ir_type_bits(type); /* what stands there is the device's */
        value = value << above >> above;
        text_printf(t, ir_type_signed(type) ? "%" PRId64 : "%" PRIu64, ir_i64_bits(type, value));
    }
}

/* The program's places, of the heap; NULL: no memory. They stay where they are, but the table of them may move. */
static ir_site *copy_sites(run_program *r, uint32_t *n)
{
    const base_heap *heap = r->engine.heap;
    run_lock(r);
    *n = r->l->ir->site.n;
    ir_site *copy = heap->alloc(heap->env, (*n + 1) * sizeof(*copy));
    if (copy)
        memcpy(copy, r->l->ir->site.at, *n * sizeof(*copy));
    run_unlock(r);
    return copy;
}

static void say_entry(const run_engine *e, const ir_trace_entry *entry, const ir_site *site, arena *a)
{
    text line;
    text_init(&line, a);
    if (site && site->file)
        text_printf(&line, "%s:%u: ", site->file, site->line);
    text_printf(&line, "trace: element %" PRId64 ": ", entry->element);
    put_value(&line, (ir_type)entry->type, entry->value);
    e->say(e->say_env, line.at);
}

static void say_all(const run_engine *e, const ir_trace *t, uint32_t sites, const ir_site *site, arena *a)
{
    for (uint32_t i = 0; i < t->n; i++)
        say_entry(e, &t->entry[i], t->entry[i].site < sites ? &site[t->entry[i].site] : NULL, a);
    if (t->noted > t->n)
        e->say(e->say_env, arena_printf(a, "trace: and %" PRIu64 " more values", t->noted - t->n));
}

void run_say_trace(run_program *r, ir_trace *t)
{
    const run_engine *e = &r->engine;
    arena a;
    jmp_buf failure;
    uint32_t sites = 0;
    if (!t->noted)
        return;
    ir_trace_sort(t);
    ir_site *site = copy_sites(r, &sites);
    arena_init(&a, e->heap);
    if (!setjmp(failure)) {
        arena_on_failure(&a, &failure);
        if (e->say && site)
            say_all(e, t, sites, site, &a);
    }
    arena_free(&a);
    e->heap->release(e->heap->env, site);
    ir_trace_clear(t);
}
