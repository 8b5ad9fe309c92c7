#include "skeleton/element/walks.h"

enum { WORK_OF_A_READ = 8 }; /* operations that cost a gang what a gathered read does */

/* Elements read at an index that is the same for neighbours, or the next one. */
static bool is_together(const sk_forms *f, const ir_node *read)
{
    const ir_id *index = f->p->arg.at + read->args;
    for (uint32_t k = 0; k < read->n; k++) {
        sk_form x = sk_form_of(f, index[k]);
        bool last = k + 1 == read->n;
        if (ir_at(f->p, index[k])->scope && (x.kind == SK_UNKNOWN || (x.step && !(last && x.step == 1))))
            return false;
    }
    return true;
}

static bool goes_round(const sk_lower *lw, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    bool found = false;
    for (uint32_t i = 0; i < ids.n && !found; i++) {
        const ir_node *t = ir_at(lw->l->ir, ids.at[i]);
        found = t->kind == IR_LOOP && t->u.loop->count;
    }
    vec_free(lw->arena, &ids);
    return found;
}

bool sk_walks_alone(const sk_lower *lw, uint32_t n, const ir_id *term, const sk_directions *d)
{
    sk_directions roughly = *d;
    roughly.roughly = true;
    if (lw->options->group || !lw->options->vector_bytes || !goes_round(lw, n, term))
        return false;
    sk_forms f = sk_find_forms(lw, n, term, &roughly);
    for (uint32_t i = 0; i < f.ids.n; i++) {
        const ir_node *t = ir_at(f.p, f.ids.at[i]);
        if (t->kind != IR_LOOP || !t->u.loop->count || sk_form_of(&f, t->u.loop->count).kind == SK_FIXED)
            continue;
        opt_ids inside = {0};
        uint32_t apart = 0, together = 0, work = 0;
        opt_reach(lw->l->ir, lw->arena, t->u.loop->states, t->u.loop->next, &inside);
        for (uint32_t k = 0; k < inside.n; k++) {
            const ir_node *x = ir_at(f.p, inside.at[k]);
            if (x->kind == IR_READ)
                *(is_together(&f, x) ? &together : &apart) += 1;
            work += x->kind == IR_OP && x->type != T_I64;
        }
        if (apart && apart >= together && work <= WORK_OF_A_READ * apart)
            return true;
    }
    return false;
}
