#include "skeleton/element/walks.h"

#include "skeleton/map/stretches.h"

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

/* --- lanes that have several elements --- */

typedef struct reads {
    const sk_lower *lw;
    const sk_factor *factor;
    sk_forms forms;
    sk_stretches cuts;
} reads;

/* Is it a number, or one that the launch knows? */
static bool extent_is_known(const reads *r, ir_id extent, int64_t *value)
{
    const l_cluster *loop = r->lw->cluster->loop;
    for (unsigned d = 0; d < r->factor->digits; d++) {
        if (loop->shape[loop->rank - 1u - d] != extent)
            continue;
        *value = r->factor->extent[d];
        return true;
    }
    return ir_extent_constant(r->lw->l->ir, extent, value);
}

/* How far the index moves from lane to lane, between the ends of periods; false: memory says so. What other arithmetic
 * makes of a lane's index, as a half of it, is taken to move by one. */
static bool step_of_index(const reads *r, ir_id index, int64_t *step)
{
    const ir_program *p = r->lw->l->ir;
    while (ir_at(p, index)->kind == IR_WITHIN)
        index = p->arg.at[ir_at(p, index)->args];
    const sk_form form = sk_form_of(&r->forms, index);
    *step = form.step;
    for (uint32_t k = 0; k < r->cuts.n; k++) {
        if (r->cuts.cut[k].term != index || form.kind != SK_UNKNOWN)
            continue;
        *step = r->cuts.cut[k].step;
        return true;
    }
    if (form.kind == SK_UNKNOWN && ir_at(p, index)->scope)
        *step = 1;
    return form.kind != SK_UNKNOWN || !form.reads;
}

/* Elements from the one that a lane reads to that of the next lane, and the number of the index that moves; false: they
 * lie anywhere. */
static bool find_stride(const reads *r, const ir_node *read, int64_t *stride, uint32_t *moving)
{
    const ir_program *p = r->lw->l->ir;
    const ir_array *info = ir_info(p, read->array);
    int64_t apart = 1, extent;
    bool known = true;
    *stride = 0;
    *moving = read->n;
    for (uint32_t k = read->n; k-- > 0;) {
        int64_t step;
        if (!step_of_index(r, p->arg.at[read->args + k], &step) || (step && !known))
            return false;
        *stride += step * apart;
        *moving = step ? k : *moving;
        known &= !(read->flags & IR_LINEAR) && extent_is_known(r, info->shape[k], &extent);
        apart *= known ? extent : 1;
    }
    *stride = *stride < 0 ? -*stride : *stride;
    return true;
}

/* Does the array fit in registers, from which lanes take what they ask for? */
static bool is_table(const ir_program *p, const ir_node *read)
{
    enum { WORDS = 128, BYTES = 256 };
    const ir_array *info = ir_info(p, read->array);
    const int64_t size = (int64_t)ir_type_size((ir_type)read->type);
    int64_t extent;
    return info->rank == 1 && ir_extent_constant(p, info->shape[0], &extent) &&
           extent <= (size == 1 ? BYTES : WORDS / size);
}

/* A read, by all that says in which stretch of memory a lane's element lies. */
static uint64_t key_of_stretch(const ir_program *p, const ir_node *read, uint32_t moving)
{
    return hash_bytes(p->arg.at + read->args, (moving < read->n ? moving + 1 : 0) * sizeof(ir_id),
                      hash_mix(read->array, read->u.literal));
}

bool sk_lanes_walk_alone(const sk_lower *lw, const sk_factor *f, uint32_t n, const ir_id *term, const sk_directions *d)
{
    enum { DENSE = 4 /* of so many elements a lane reads one at least */ };
    const ir_program *p = lw->l->ir;
    uint32_t apart = 0, together = 0, work = 0, moving;
    int64_t stride;
    map64 count = {0};
    if (lw->options->group || !lw->options->vector_bytes)
        return false;
    const reads r = {lw, f, sk_find_forms(lw, n, term, d), sk_find_stretches(lw, n, term, d)};
    for (uint32_t i = 0; i < r.forms.ids.n; i++) {
        const ir_node *t = ir_at(p, r.forms.ids.at[i]);
        if (t->kind != IR_READ || !find_stride(&r, t, &stride, &moving))
            continue;
        const uint64_t key = key_of_stretch(p, t, moving);
        map64_put(lw->arena, &count, key, map64_get(&count, key) + 1);
    }
    for (uint32_t i = 0; i < r.forms.ids.n; i++) {
        const ir_node *t = ir_at(p, r.forms.ids.at[i]);
        work += t->kind == IR_OP && t->type != T_I64;
        if (t->kind != IR_READ || !t->n)
            continue;
        const bool known = find_stride(&r, t, &stride, &moving);
        const bool dense = known && map64_get(&count, key_of_stretch(p, t, moving)) * (int64_t)DENSE >= stride;
        *(dense || (!known && is_table(p, t)) ? &together : &apart) += 1;
    }
    return apart && apart >= together && work <= WORK_OF_A_READ * apart;
}
