/* Accesses to neighbouring elements, as vectors: those in the body of a K_EITHER IF, whose condition says that memory
 * is aligned for them (kernel/together.h). */
#include "emit/text/emitter.h"

#include "kernel/together.h"

#include <inttypes.h>

struct together {
    k_togethers *of; /* per statement: an IF's; else NULL */
    VEC(k_together) group;
    uint32_t *number; /* per statement: 1 + its group */
};

void emit_survey_together(emitter *e)
{
    struct together *t = NULL;
    for (k_ref r = 1; r < e->k->stmt.n; r++) {
        if (e->k->stmt.at[r].op != K_IF || e->k->stmt.at[r].sub != K_EITHER)
            continue;
        if (!t) {
            e->together = t = arena_new(e->arena, *t);
            t->of = arena_array(e->arena, *t->of, e->k->stmt.n);
            t->number = arena_array(e->arena, *t->number, e->k->stmt.n);
        }
        k_togethers *found = &t->of[r];
        k_find_together(e->k, r, e->arena, found);
        for (uint32_t i = 0; i < found->group.n; i++) {
            vec_push(e->arena, &t->group, found->group.at[i]);
            for (unsigned m = 0; m < found->group.at[i].n; m++)
                t->number[found->group.at[i].member[m]] = t->group.n;
        }
    }
}

const char *emit_either(emitter *e, k_ref id)
{
    const k_togethers *t = &e->together->of[id];
    const char *all = "";
    bool *seen = arena_alloc(e->arena, e->k->mem.n);
    for (uint32_t i = 0; i < t->group.n; i++) {
        k_mem m = t->group.at[i].mem;
        unsigned bytes = (unsigned)ir_type_size((ir_type)e->k->mem.at[m].type) * t->group.at[i].n;
        if (!seen[m])
            all = arena_printf(e->arena, "%s && ((ulong)%s & %u) == 0", all, emit_memory(e, m), bytes - 1);
        seen[m] = true;
    }
    for (uint32_t i = 0; i < t->factor.n; i++)
        all = arena_printf(e->arena, "%s && %s %% %u == 0", all, emit_value(e, t->factor.at[i]), t->of.at[i]);
    return all;
}

static const char *place(emitter *e, const k_together *g)
{
    const char *all = arena_printf(e->arena, "%" PRId64, g->first);
    for (unsigned i = 0; i < g->terms; i++)
        all = arena_printf(e->arena, "%s + %s", emit_value(e, g->term[i]), all);
    return arena_printf(e->arena, "%s + (%s)", emit_memory(e, g->mem), all);
}

bool emit_together(emitter *e, k_ref id)
{
    static const char member[] = "xyzw";
    uint32_t number = e->together ? e->together->number[id] : 0;
    if (!number)
        return false;
    const k_together *g = &e->together->group.at[number - 1];
    if (g->at != id)
        return true;
    const char *vector = e->d->pack[e->k->mem.at[g->mem].type], *at = place(e, g);
    if (g->op == K_LOAD)
        emit_line(e, "const %s sn_together_%" PRIu32 " = %s;", vector, id,
                  arena_printf(e->arena, e->d->pack_load, vector, at));
    else
        emit_line(e, "%s sn_together_%" PRIu32 ";", vector, id);
    for (unsigned i = 0; i < g->n; i++) {
        const k_stmt *s = &e->k->stmt.at[g->member[i]];
        if (g->op == K_LOAD)
            emit_line(e, "%s %s = sn_together_%" PRIu32 ".%c;", emit_type_of(e, s->dst), emit_define(e, s->dst), id,
                      member[i]);
        else
            emit_line(e, "sn_together_%" PRIu32 ".%c = %s;", id, member[i], emit_value(e, s->in[1]));
    }
    if (g->op == K_STORE)
        emit_line(e, "*(%s%s *)(%s) = sn_together_%" PRIu32 ";", e->d->global, vector, at, id);
    return true;
}
