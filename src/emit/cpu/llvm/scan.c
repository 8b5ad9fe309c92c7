/* Collects facts about every compound statement in one walk, so that control flow is emitted without looking ahead. */
#include "emit/cpu/llvm/cg.h"
#include "kernel/walk.h"

typedef struct {
    cg *g;
    k_walk walk;
    k_ref *declared;        /* per value: FOR_ALL around a variable's DECL */
    k_ref *loaded, *stored; /* per memory: the FOR_ALL that did so last */
} scan;

static void at_store(scan *s, k_ref id)
{
    const kernel *k = s->g->k;
    const k_stmt *st = &k->stmt.at[id];
    cg_facts *all = &s->g->facts[s->walk.for_all];
    s->stored[st->mem] = s->walk.for_all;
    all->reads_written |= s->loaded[st->mem] == s->walk.for_all;
    const k_value *index = &k->value.at[st->in[0]];
    if (k->mem.at[st->mem].stream && index->shape == K_AFFINE && index->step == 1 && !all->stream &&
        k_walk_parent(&s->walk) == s->walk.for_all)
        all->stream = id;
}

static unsigned widest_of(const kernel *k, const k_stmt *s)
{
    ir_type made = s->dst ? (ir_type)k->value.at[s->dst].type : T_BOOL;
    unsigned bytes = made == T_I64 ? 0 : (unsigned)ir_type_size(made);
    unsigned there = s->mem ? (unsigned)ir_type_size((ir_type)k->mem.at[s->mem].type) : 0;
    return bytes > there ? bytes : there;
}

static bool is_apart(const kernel *k, const k_stmt *s)
{
    const k_value *index = &k->value.at[s->in[0]];
    return index->shape != K_UNIFORM && !(index->shape == K_AFFINE && index->step == 1);
}

static void at_thread_statement(scan *s, k_ref id, cg_facts *inner)
{
    const kernel *k = s->g->k;
    const k_stmt *st = &k->stmt.at[id];
    cg_facts *all = &s->g->facts[s->walk.for_all];
    unsigned bytes = widest_of(k, st);
    all->widest = bytes > all->widest ? (uint8_t)bytes : all->widest;
    if (st->mem && k->mem.at[st->mem].space == K_PRIVATE)
        all->private_memory = true;
    if (st->op == K_LOAD || st->op == K_STORE)
        all->apart |= is_apart(k, st);
    switch ((k_op)st->op) {
    case K_DECL:
        s->declared[st->dst] = s->walk.for_all;
        break;
    case K_SET:
        all->sets_outer |= s->declared[st->dst] != s->walk.for_all;
        break;
    case K_LOAD:
        s->loaded[st->mem] = s->walk.for_all;
        all->reads_written |= s->stored[st->mem] == s->walk.for_all;
        inner->uniform_load |= k->value.at[st->in[0]].shape == K_UNIFORM;
        inner->row_load |= k->value.at[st->in[0]].shape == K_AFFINE;
        break;
    case K_STORE:
        at_store(s, id);
        break;
    case K_CHECK:
        inner->checks++;
        inner->notes |= (st->sub & K_NOTE) != 0;
        break;
    case K_ATOMIC:
    case K_COMPACT:
    case K_COUNT:
    case K_RANK:
    case K_SHUFFLE:
    case K_ALL:
        inner->warp = true;
        break;
    case K_LOOP:
    case K_FOR:
        inner->loops = true;
        break;
    default:
        break;
    }
}

static void merge(cg_facts *into, const cg_facts *from)
{
    into->statements += from->statements;
    into->checks += from->checks;
    into->warp |= from->warp;
    into->loops |= from->loops;
    into->uniform_load |= from->uniform_load;
    into->row_load |= from->row_load;
    into->notes |= from->notes;
}

void cg_scan(cg *g)
{
    const kernel *k = g->k;
    arena *a = g->arena;
    g->facts = arena_array(a, *g->facts, k->stmt.n);
    scan s = {.g = g};
    s.declared = arena_array(a, k_ref, k->value.n);
    s.loaded = arena_array(a, k_ref, k->mem.n);
    s.stored = arena_array(a, k_ref, k->mem.n);
    k_walk_begin(&s.walk, k, a);
    while (k_walk_next(&s.walk)) {
        k_ref id = s.walk.at, parent = k_walk_parent(&s.walk);
        cg_facts *inner = &g->facts[parent];
        if (s.walk.event == K_WALK_LEAVE)
            merge(inner, &g->facts[id]);
        if (s.walk.event != K_WALK_AT)
            continue;
        inner->statements++;
        if (s.walk.for_all)
            at_thread_statement(&s, id, inner);
        if (k->stmt.at[id].op == K_CHECK && !s.walk.for_all)
            g->gives_up = true;
    }
}
