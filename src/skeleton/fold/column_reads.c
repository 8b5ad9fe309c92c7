/* Folds whose neighbouring rows are neighbours in memory: sums of columns, products with a transposed matrix, sums
 * along a middle dimension. Are folds of this kind, and how do their reads go with the indices? */
#include "opt/rewrite.h"
#include "skeleton/fold/fold.h"

/* --- what lies apart --- */

typedef struct direction { /* the variables that change from one element to the next, each by one */
    sk_lower *lw;
    ir_id step, jump; /* `jump` by more than that; 0: none */
} direction;

static bool moves(const direction *d, ir_id term)
{
    return sk_mentions(d->lw, 1, &term, d->step) || (d->jump && sk_mentions(d->lw, 1, &term, d->jump));
}

/* Is it the number of a line, or the place in it, of a position in lines of this length, which few steps leave? */
static bool is_of_line(const ir_program *p, const ir_node *n, bool place)
{
    enum { SHORTEST = 4 };
    int64_t length;
    const bool rest = n->op == OP_REM || n->op == OP_MOD, whole = n->op == OP_QUOT || n->op == OP_DIV;
    return n->kind == IR_OP && (place ? rest : whole) && ir_extent_constant(p, p->arg.at[n->args + 1], &length) &&
           length >= SHORTEST;
}

/* Is this position the same for the next element, or the next one? Sums of a variable and of what stands still. */
static bool is_near(const direction *d, ir_id term)
{
    const ir_program *p = d->lw->l->ir;
    while (moves(d, term) && term != d->step) {
        const ir_node *n = ir_at(p, term);
        if (n->kind == IR_WITHIN || is_of_line(p, n, true)) {
            term = ir_args(p, term)[0];
            continue;
        }
        if (n->kind != IR_OP || (n->op != OP_ADD && n->op != OP_SUB))
            return false;
        const ir_id *arg = ir_args(p, term);
        bool left = moves(d, arg[0]), right = moves(d, arg[1]);
        if (right && (left || n->op == OP_SUB))
            return false;
        term = left ? arg[0] : arg[1];
    }
    return true;
}

/* Is this index nearly always the same for the next element? */
static bool stays(const direction *d, ir_id term)
{
    const ir_program *p = d->lw->l->ir;
    while (moves(d, term)) {
        const ir_node *n = ir_at(p, term);
        if (is_of_line(p, n, false) && is_near(d, ir_args(p, term)[0]))
            return true;
        if (n->kind == IR_WITHIN) {
            term = ir_args(p, term)[0];
            continue;
        }
        if (n->kind != IR_OP || (n->op != OP_ADD && n->op != OP_SUB))
            return false;
        const ir_id *arg = ir_args(p, term);
        const bool left = moves(d, arg[0]);
        if (left && moves(d, arg[1]))
            return false;
        term = arg[!left];
    }
    return true;
}

/* Reads of memory whose elements lie apart. */
static uint32_t far_reads(const direction *d, const opt_ids *ids)
{
    const ir_program *p = d->lw->l->ir;
    uint32_t far = 0;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(p, ids->at[i]);
        if (n->kind != IR_READ || !n->n)
            continue;
        const ir_id *arg = ir_args(p, ids->at[i]);
        bool near = is_near(d, arg[n->n - 1]);
        for (uint32_t k = 0; k + 1 < n->n; k++)
            near &= stays(d, arg[k]);
        far += !near;
    }
    return far;
}

/* --- dimensions side by side --- */

typedef struct layout {
    const ir_program *p;
    sk_cluster *c;
    const sk_index *at;
    bool joined[IR_MAX_RANK]; /* a dimension of the result with the next one: reads have both, one behind the other */
    bool alone[IR_MAX_RANK];  /* the index of a dimension matters besides */
    bool dense;               /* reads of dimension `first` or the folded one have both, the folded one before it */
    unsigned first;
} layout;

static void use_alone(layout *o, ir_id term)
{
    unsigned d = sk_component(o->at, term);
    o->c->indexed |= term == o->at->linear;
    if (!d--)
        return;
    o->alone[d] = true;
    o->joined[d] = false;
    if (d)
        o->joined[d - 1] = false;
}

static void use_all(layout *o, uint32_t n, const ir_id *term)
{
    for (uint32_t i = 0; i < n; i++)
        use_alone(o, term[i]);
}

/* Is index k of a read that of dimension d, all of it? */
static bool is_at(const layout *o, const ir_node *read, uint32_t k, unsigned d)
{
    return k < read->n && o->p->arg.at[read->args + k] == o->at->at[d] &&
           ir_info(o->p, read->array)->shape[k] == o->c->loop->shape[d];
}

static void use_in_read(layout *o, const ir_node *n)
{
    const ir_id *index = o->p->arg.at + n->args;
    unsigned last = o->c->loop->rank - 1u;
    for (uint32_t k = 0; k < n->n; k++) {
        unsigned d = sk_component(o->at, index[k]);
        if (n->flags & IR_LINEAR || (d && !is_at(o, n, k, d - 1)))
            use_alone(o, index[k]);
        if (n->flags & IR_LINEAR || !d-- || d == last)
            continue;
        if (d + 1 < last)
            o->joined[d] &= is_at(o, n, k + 1, d + 1);
        if (d)
            o->joined[d - 1] &= k && is_at(o, n, k - 1, d - 1);
    }
}

/* Are the folded dimension and those side by side one run in this read? Their values matter if it has only some. */
static void find_dense(layout *o, const ir_node *n)
{
    const ir_id *index = o->p->arg.at + n->args;
    unsigned last = o->c->loop->rank - 1u;
    for (uint32_t k = 0; k < n->n && !(n->flags & IR_LINEAR); k++) {
        if (index[k] == o->at->at[last]) {
            bool both = is_at(o, n, k, last) && is_at(o, n, k + 1, o->first);
            o->alone[last] |= !both;
            o->dense |= both;
        }
        if (index[k] == o->at->at[o->first] && !(k && is_at(o, n, k - 1, last)))
            o->alone[o->first] = true;
    }
}

static void find_layout(sk_cluster *c, const sk_index *at, uint32_t n, const ir_id *term, const opt_ids *ids)
{
    const ir_program *p = c->l->ir;
    layout o = {.p = p, .c = c, .at = at, .first = c->loop->rank - 2u};
    for (unsigned d = 0; d + 2 < c->loop->rank; d++)
        o.joined[d] = true;
    use_all(&o, n, term);
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *t = ir_at(p, ids->at[i]);
        if (t->kind == IR_LOOP) {
            use_all(&o, t->u.loop->states, t->u.loop->init);
            use_all(&o, t->u.loop->states, t->u.loop->next);
            use_alone(&o, t->u.loop->cond);
            use_alone(&o, t->u.loop->count);
        } else if (t->kind == IR_READ) {
            use_in_read(&o, t);
        } else {
            use_all(&o, t->n, p->arg.at + t->args);
        }
        /* failures and traces say which element it was */
        c->indexed |= t->partial;
    }
    while (o.first && o.joined[o.first - 1])
        o.first--;
    for (uint32_t i = 0; i < ids->n; i++)
        if (ir_at(p, ids->at[i])->kind == IR_READ)
            find_dense(&o, ir_at(p, ids->at[i]));
    c->beside = (uint8_t)(c->loop->rank - 1u - o.first);
    c->dense = o.dense;
    c->indexed |= !o.dense || o.alone[c->loop->rank - 1] || o.alone[o.first];
}

bool sk_reads_far(sk_lower *lw, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    direction along = {lw, lw->at.at[lw->cluster->loop->rank - 1], 0}, flat = {lw, lw->at.linear, 0};
    bool far = far_reads(&along, &ids) || far_reads(&flat, &ids);
    vec_free(lw->arena, &ids);
    return far;
}

uint32_t sk_far_reads(sk_lower *lw, uint32_t n, const ir_id *term, ir_id index)
{
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    uint32_t far = far_reads(&(direction){lw, index, 0}, &ids);
    vec_free(lw->arena, &ids);
    return far;
}

/* Do elements take few operations, indices aside? Then their code may be there once for each element of a row. */
static bool light(const sk_lower *lw, const opt_ids *ids)
{
    uint32_t work = 0;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(lw->l->ir, ids->at[i]);
        work += n->kind == IR_LOOP ? SK_SMALL : n->kind == IR_COND || (n->kind == IR_OP && n->type != T_I64);
    }
    return work < SK_SMALL;
}

/* Is there an index that goes along with the folded dimension and with one of the result? */
static bool overlaps(sk_lower *lw, const opt_ids *ids)
{
    const ir_program *p = lw->l->ir;
    unsigned last = lw->cluster->loop->rank - 1u;
    bool found = false;
    for (uint32_t i = 0; i < ids->n && !found; i++) {
        const ir_node n = *ir_at(p, ids->at[i]);
        for (uint32_t k = 0; k < n.n && n.kind == IR_READ && !found; k++) {
            ir_id index = p->arg.at[n.args + k];
            bool along = sk_mentions(lw, 1, &index, lw->at.at[last]);
            for (unsigned d = 0; d < last; d++)
                found |= along && sk_mentions(lw, 1, &index, lw->at.at[d]);
        }
    }
    return found;
}

/* Are all reads that are not the same everywhere at the element's own number? */
static bool reads_own(sk_lower *lw, const opt_ids *ids)
{
    const ir_program *p = lw->l->ir;
    bool own = false;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node n = *ir_at(p, ids->at[i]);
        for (uint32_t k = 0; k < n.n && n.kind == IR_READ; k++) {
            ir_id index = p->arg.at[n.args + k];
            if (index != lw->at.linear && ir_at(p, index)->scope)
                return false;
            own |= index == lw->at.linear;
        }
    }
    return own;
}

bool sk_folds_columns(sk_cluster *c, arena *a)
{
    if (c->loop->rank < 2)
        return false;
    sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = c->l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
    sk_folds s = {.lw = &lw};
    sk_fold_begin(&s);
    opt_ids ids = {0};
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < s.fold.n; i++)
        for (uint32_t k = 0; k < s.fold.at[i].n; k++)
            vec_push(a, &term, s.fold.at[i].element[k]);
    opt_reach(c->l->ir, a, term.n, term.at, &ids);
    direction along = {&lw, lw.at.at[c->loop->rank - 1], 0}, across = {&lw, lw.at.at[c->loop->rank - 2], lw.at.linear};
    direction flat = {&lw, lw.at.linear, 0};
    uint32_t far = far_reads(&along, &ids) + far_reads(&flat, &ids);
    uint32_t apart = far_reads(&across, &ids);
    c->either = !s.stored.term.n && !apart && !far;
    c->own_rows = reads_own(&lw, &ids);
    c->windows = !s.stored.term.n && !apart && light(&lw, &ids) && (c->either || overlaps(&lw, &ids));
    if (s.stored.term.n || (apart >= far && !c->either))
        return false;
    /* operators, too, may fail or trace */
    for (uint32_t i = 0; i < s.fold.n; i++)
        c->indexed |= !sk_fold_harmless(&lw, &s.fold.at[i]);
    find_layout(c, &lw.at, term.n, term.at, &ids);
    sk_cluster keys = *c;
    VEC(ir_id) key = {0};
    for (uint32_t i = 0; i < s.fold.n && c->choice; i++) {
        opt_choice of = sk_choice_of(&s, &s.fold.at[i]);
        vec_push(a, &key, s.fold.at[i].element[of.key]);
    }
    opt_reach(c->l->ir, a, key.n, key.at, &ids);
    keys.indexed = false;
    find_layout(&keys, &lw.at, key.n, key.at, &ids);
    c->keys_indexed = keys.indexed;
    return apart < far;
}
