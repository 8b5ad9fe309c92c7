/* Elements that several sweeps over a row need, and that take long to compute, wait in shared memory from the first of
 * these sweeps to the last: the exponentials of softmax, of which the second sweep makes a sum and the third quotients.
 *
 * It is the terms that are looked at, not the operations of the program: what two sweeps compute is the same term. */
#include "skeleton/row/row.h"

enum {
    ROW_KEPT_BYTES = 128 << 10, /* of a block's shared memory: less than half of any second cache */
    MOST_KEPT = 4,
    LEAST_COST = 8 /* what costs less is computed again as fast as it is stored and loaded */
};

static unsigned cost_of(row_loop *r, ir_id term)
{
    const ir_program *p = r->lw->l->ir;
    opt_ids ids = {0};
    unsigned cost = 0;
    opt_reach(r->lw->l->ir, r->lw->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(p, ids.at[i])->kind == IR_OP)
            cost += ir_op_cost((ir_op)ir_at(p, ids.at[i])->op);
    vec_free(r->lw->arena, &ids);
    return cost;
}

static bool moves(row_loop *r, ir_id term)
{
    unsigned rank = r->lw->cluster->loop->rank;
    return sk_mentions(r->lw, 1, &term, r->lw->at.linear) ||
           (rank > 1 && sk_mentions(r->lw, 1, &term, r->lw->at.at[rank - 1]));
}

typedef struct search {
    row_loop *r;
    uint8_t sweep;
    map64 later; /* terms that later sweeps compute */
    map64 seen;
} search;

static void note_later(search *s)
{
    row_loop *r = s->r;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        opt_ids ids = {0};
        if (p->op->outer || p->op->sweep <= s->sweep || p->op->kind == L_PACK || p->keep)
            continue;
        opt_reach(r->lw->l->ir, r->lw->arena, row_terms(p), p->element, &ids);
        for (uint32_t k = 0; k < ids.n; k++)
            map64_put(r->lw->arena, &s->later, ids.at[k], 1);
        vec_free(r->lw->arena, &ids);
    }
}

/* Of what the term always computes: the largest terms that are worth keeping. */
static void visit(search *s, ir_id root)
{
    row_loop *r = s->r;
    const ir_program *p = r->lw->l->ir;
    VEC(ir_id) left = {0};
    vec_push(r->lw->arena, &left, root);
    while (left.n && r->keeps.n < MOST_KEPT) {
        ir_id id = left.at[--left.n];
        const ir_node *n = ir_at(p, id);
        const bool far = n->kind == IR_READ && r->lw->options->group; /* from memory that rows do not stay near of */
        if ((n->kind != IR_OP && !far) || map64_get(&s->seen, id))
            continue;
        map64_put(r->lw->arena, &s->seen, id, 1);
        if (map64_get(&s->later, id) && (far || cost_of(r, id) >= LEAST_COST) && moves(r, id)) {
            row_kept k = {.term = id, .sweep = s->sweep, .until = UINT8_MAX};
            vec_push(r->lw->arena, &r->keeps, k);
            continue;
        }
        if (far)
            continue;
        for (uint32_t i = n->n; i-- > 0;)
            vec_push(r->lw->arena, &left, p->arg.at[n->args + i]);
    }
}

size_t row_find_kept(row_loop *r)
{
    size_t bytes = 0;
    search s = {.r = r};
    for (unsigned sweep = 0; sweep + 1u < r->lw->cluster->loop->sweeps; sweep++) {
        s.sweep = (uint8_t)sweep;
        s.later = (map64){0};
        note_later(&s);
        for (uint32_t i = 0; i < r->part.n; i++) {
            const row_part *p = &r->part.at[i];
            bool plain = p->op->kind == L_ELEMENT || (p->op->kind == L_FOLD && !p->keep);
            for (uint32_t c = 0; plain && !p->op->outer && p->op->sweep == sweep && c < row_terms(p); c++)
                visit(&s, p->element[c]);
        }
    }
    for (uint32_t i = 0; i < r->keeps.n; i++)
        bytes += ir_type_size((ir_type)ir_at(r->lw->l->ir, r->keeps.at[i].term)->type);
    return bytes;
}

int64_t row_kept_length(size_t bytes)
{
    return bytes ? (int64_t)(ROW_KEPT_BYTES / bytes) / ROW_GANG * ROW_GANG : 0;
}

int64_t row_declare_kept(row_loop *r)
{
    int64_t length = row_kept_length(row_find_kept(r));
    for (uint32_t i = 0; i < r->keeps.n; i++) {
        row_kept *k = &r->keeps.at[i];
        k->memory = k_shared(&r->lw->b, (ir_type)ir_at(r->lw->l->ir, k->term)->type, length, "waiting");
    }
    return length;
}

/* Does the sweep need a kept term, other than for what is kept by then? */
static bool needs_kept(row_loop *r, uint8_t sweep, ir_id term)
{
    const ir_program *p = r->lw->l->ir;
    arena *a = r->lw->arena;
    map64 seen = {0};
    VEC(ir_id) left = {0};
    for (uint32_t i = 0; i < r->part.n; i++)
        for (uint32_t c = 0;
             r->part.at[i].op->sweep == sweep && !r->part.at[i].op->outer && c < row_terms(&r->part.at[i]); c++)
            vec_push(a, &left, r->part.at[i].element[c]);
    for (uint32_t i = 0; i < r->keeps.n; i++)
        if (r->keeps.at[i].sweep < sweep && r->keeps.at[i].term != term)
            map64_put(a, &seen, r->keeps.at[i].term, 1);
    while (left.n) {
        ir_id id = left.at[--left.n];
        const ir_node *n = ir_at(p, id);
        if (id == term)
            return true;
        if (map64_get(&seen, id))
            continue;
        map64_put(a, &seen, id, 1);
        for (uint32_t i = n->n; i-- > 0;)
            vec_push(a, &left, p->arg.at[n->args + i]);
    }
    return false;
}

/* A sweep that needs a term for the last time may put another one in its place, position by position. */
void row_share_kept(row_loop *r, uint32_t *of)
{
    const uint8_t sweeps = r->lw->cluster->loop->sweeps;
    bool scans = false;
    for (uint32_t i = 0; i < r->part.n; i++)
        scans |= r->part.at[i].op->kind == L_SCAN;
    for (uint32_t i = 0; i < r->keeps.n; i++) {
        row_kept *k = &r->keeps.at[i];
        of[i] = i;
        for (uint32_t j = 0; j < i && of[i] == i && !scans; j++) { /* with scans a sweep goes over a piece twice */
            row_kept *o = &r->keeps.at[j];
            bool free = o->sweep < k->sweep && o->until == UINT8_MAX &&
                        ir_at(r->lw->l->ir, o->term)->type == ir_at(r->lw->l->ir, k->term)->type;
            for (unsigned sweep = k->sweep + 1u; sweep < sweeps && free; sweep++)
                free = !needs_kept(r, (uint8_t)sweep, o->term);
            if (!free)
                continue;
            o->until = k->sweep;
            of[i] = of[j];
        }
    }
}

void row_use_kept(row_loop *r, uint8_t sweep, k_val j)
{
    for (uint32_t i = 0; i < r->keeps.n && r->keeping; i++)
        if (r->keeps.at[i].sweep < sweep && sweep <= r->keeps.at[i].until)
            sk_bind(r->lw, r->keeps.at[i].term, k_load(&r->lw->b, r->keeps.at[i].memory, j));
}

void row_keep(row_loop *r, uint8_t sweep, k_val j)
{
    for (uint32_t i = 0; i < r->keeps.n && r->keeping; i++)
        if (r->keeps.at[i].sweep == sweep && sk_known(r->lw, r->keeps.at[i].term))
            k_store(&r->lw->b, r->keeps.at[i].memory, j, sk_known(r->lw, r->keeps.at[i].term));
}
