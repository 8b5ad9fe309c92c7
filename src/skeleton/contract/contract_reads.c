/* Which folds are contractions: learnt from what the parts of an element depend on, not from the operations that made
 * it. An element is taken apart into the largest terms that do not depend on the column, which are operands of the row,
 * the largest ones that do not depend on the row, and what is computed from these. */
#include "opt/rewrite.h"
#include "skeleton/contract/contract.h"

enum { ROW = 1, COLUMN = 2, STEP = 4, OUTER = 8, POSITION = 16 }; /* what a term depends on */
enum { MOST_OPERANDS = 3, MOST_TERMS = 200 };

typedef struct parting {
    sk_folds *s;
    ir_program *p;
    sk_contraction *out;
    map64 depends; /* term -> what on, + 1 */
    map64 seen;
    VEC(ir_id) left; /* terms to be taken apart */
    bool guarded;    /* some read is made only where a condition says so */
} parting;

static unsigned depends(const parting *t, ir_id term)
{
    uint32_t known = map64_get(&t->depends, term);
    return known ? known - 1 : 0;
}

static unsigned depend_all(const parting *t, uint32_t n, const ir_id *term)
{
    unsigned on = 0;
    for (uint32_t i = 0; i < n; i++)
        on |= term[i] ? depends(t, term[i]) : 0;
    return on;
}

static unsigned of_variable(const parting *t, ir_id term)
{
    const sk_lower *lw = t->s->lw;
    unsigned d = sk_component(&lw->at, term), last = lw->cluster->loop->rank - 1u;
    if (term == lw->at.linear)
        return POSITION;
    if (!d--)
        return 0;
    return d == last                              ? STEP
           : d == t->out->dimension[SK_OF_ROW]    ? ROW
           : d == t->out->dimension[SK_OF_COLUMN] ? COLUMN
                                                  : OUTER;
}

/* What each term depends on. False: something is among them that is not to be computed apart from the rest. */
static bool find_dependences(parting *t, const opt_ids *ids)
{
    bool of_row = false, of_column = false;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(t->p, ids->at[i]);
        unsigned on = of_variable(t, ids->at[i]);
        if (n->partial || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return false;
        if (n->kind == IR_LOOP) {
            const ir_loop *loop = n->u.loop;
            on |= depend_all(t, loop->states, loop->init) | depend_all(t, loop->states, loop->next);
            on |= depend_all(t, 2, (ir_id[]){loop->cond, loop->count});
        } else {
            on |= depend_all(t, n->n, t->p->arg.at + n->args);
        }
        if (on & POSITION || (n->kind == IR_READ && on & ROW && on & COLUMN))
            return false;
        if (n->kind == IR_READ && on & STEP) {
            of_row |= (on & ROW) != 0;
            of_column |= (on & COLUMN) != 0;
        }
        t->guarded |= n->kind == IR_READ && !(n->flags & IR_ALWAYS);
        map64_put(t->s->lw->arena, &t->depends, ids->at[i], on + 1);
    }
    return of_row && of_column;
}

static bool add_operand(parting *t, sk_side side, ir_id term)
{
    arena *a = t->s->lw->arena;
    sk_operands *o = &t->out->side[side];
    ir_type type = (ir_type)ir_at(t->p, term)->type;
    vec_push(a, &o->term, term);
    vec_push(a, &o->variable, ir_var(t->p, type));
    return o->term.n <= MOST_OPERANDS;
}

/* Takes a term apart, if it is no operand. What depends on neither side nor on the place in the row is left as it is.
 */
static bool take_apart(parting *t, ir_id term)
{
    const ir_node *n = ir_at(t->p, term);
    unsigned on = depends(t, term);
    if (n->kind == IR_CONST || n->kind == IR_DIM || n->kind == IR_VAR || !(on & (ROW | COLUMN | STEP)))
        return true;
    if (!(on & ROW))
        return add_operand(t, SK_OF_COLUMN, term);
    if (!(on & COLUMN))
        return add_operand(t, SK_OF_ROW, term);
    /* operands of conditions are computed whatever the condition says */
    if (n->kind != IR_OP && (n->kind != IR_COND || t->guarded))
        return false;
    for (uint32_t i = 0; i < n->n; i++) {
        ir_id arg = ir_args(t->p, term)[i];
        if (map64_get(&t->seen, arg))
            continue;
        map64_put(t->s->lw->arena, &t->seen, arg, 1);
        vec_push(t->s->lw->arena, &t->left, arg);
    }
    return true;
}

static const ir_id *terms_of(const parting *t, const sk_fold *f)
{
    return f->fused_product ? ir_args(t->p, f->element[0]) : f->element;
}

static void replace_operands(parting *t)
{
    arena *a = t->s->lw->arena;
    VEC(ir_id) from = {0}, to = {0};
    for (unsigned side = 0; side < SK_SIDES; side++)
        for (uint32_t i = 0; i < t->out->side[side].term.n; i++) {
            vec_push(a, &from, t->out->side[side].term.at[i]);
            vec_push(a, &to, t->out->side[side].variable.at[i]);
        }
    t->out->element = arena_array(a, ir_id *, t->s->fold.n);
    for (uint32_t i = 0; i < t->s->fold.n; i++) {
        const sk_fold *f = &t->s->fold.at[i];
        t->out->element[i] = arena_copy(a, terms_of(t, f), sk_fold_terms(f) * sizeof(ir_id));
        ir_substitute(t->p, from.n, from.at, to.at, sk_fold_terms(f), t->out->element[i]);
    }
}

/* Bytes of the widest value that tiles have in registers, and which way operands lie together. */
static void find_registers(parting *t)
{
    sk_lower *lw = t->s->lw;
    size_t widest = 1;
    for (uint32_t i = 0; i < t->s->fold.n; i++) {
        const sk_fold *f = &t->s->fold.at[i];
        t->out->components += f->n;
        for (uint32_t c = 0; c < f->n; c++)
            if (ir_type_size(f->info->type[c]) > widest)
                widest = ir_type_size(f->info->type[c]);
    }
    for (unsigned side = 0; side < SK_SIDES; side++) {
        sk_operands *o = &t->out->side[side];
        for (uint32_t i = 0; i < o->term.n; i++)
            if (ir_type_size((ir_type)ir_at(t->p, o->term.at[i])->type) > widest)
                widest = ir_type_size((ir_type)ir_at(t->p, o->term.at[i])->type);
        uint32_t far = sk_far_reads(lw, o->term.n, o->term.at, lw->at.at[lw->cluster->loop->rank - 1]);
        o->along = far < sk_far_reads(lw, o->term.n, o->term.at, lw->at.at[t->out->dimension[side]]);
    }
    t->out->widest = widest;
}

/* Is something folded of the results? */
static bool folds_results(const l_cluster *c)
{
    bool folds = false;
    for (uint32_t i = 0; i < c->op.n; i++)
        folds |= c->op.at[i].outer && c->op.at[i].kind == L_FOLD;
    return folds;
}

bool sk_find_contraction(sk_folds *s, unsigned other, sk_contraction *out)
{
    sk_lower *lw = s->lw;
    parting t = {.s = s, .p = lw->l->ir, .out = out};
    opt_ids ids = {0};
    VEC(ir_id) all = {0};
    const unsigned last = lw->cluster->loop->rank - 2u;
    *out = (sk_contraction){.dimension = {other, last}, .folds = folds_results(lw->cluster->loop)};
    for (unsigned brief = 0; brief < 2 && out->folds; brief++)
        out->made_bytes[brief] = sk_made_bytes(lw->cluster, brief);
    if (out->folds) {
        out->dimension[SK_OF_ROW] = last;
        out->dimension[SK_OF_COLUMN] = other;
    }
    for (uint32_t i = 0; i < s->fold.n; i++) {
        if (!sk_fold_harmless(lw, &s->fold.at[i]))
            return false;
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            vec_push(lw->arena, &all, s->fold.at[i].element[c]);
    }
    opt_reach(t.p, lw->arena, all.n, all.at, &ids);
    if (s->stored.term.n || ids.n > MOST_TERMS || !find_dependences(&t, &ids))
        return false;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < sk_fold_terms(&s->fold.at[i]); c++) {
            ir_id term = terms_of(&t, &s->fold.at[i])[c];
            map64_put(lw->arena, &t.seen, term, 1);
            vec_push(lw->arena, &t.left, term);
        }
    while (t.left.n)
        if (!take_apart(&t, t.left.at[--t.left.n]))
            return false;
    replace_operands(&t);
    find_registers(&t);
    return out->side[SK_OF_ROW].term.n && out->side[SK_OF_COLUMN].term.n;
}

void sk_contract_prepare(sk_cluster *c, arena *a)
{
    sk_options none = {.vector_bytes = 64, .contract = true};
    sk_contraction found;
    for (unsigned d = c->loop->rank; d-- > 2 && !c->contraction && !c->loop->staged.n;) {
        sk_lower lw = {.l = c->l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
        sk_folds s = {.lw = &lw};
        sk_fold_begin(&s);
        if (sk_find_contraction(&s, d - 2, &found))
            c->contraction = arena_copy(a, &found, sizeof(found));
    }
}

bool sk_refuse_tiles(const sk_program *p, uint8_t *no)
{
    bool some = false;
    for (uint32_t i = 0; i < p->l->cluster.n; i++) {
        const l_cluster *c = &p->l->cluster.at[i];
        if (c->class != L_CLASS_TILES)
            continue;
        bool stored = false;
        for (uint32_t k = 0; k < c->op.n; k++)
            stored |= c->op.at[k].stored && !(c->op.at[k].outer && c->op.at[k].kind == L_FOLD);
        uint8_t leave = !p->cluster[i].contraction   ? L_TILES_NOTHING
                        : stored && folds_results(c) ? L_TILES_NO_FOLDS
                                                     : 0;
        for (uint32_t k = 0; k < c->op.n && leave; k++)
            if (!c->op.at[k].outer)
                no[c->op.at[k].term] = leave;
        some |= leave != 0;
    }
    return some;
}

bool sk_tiles_suit(const sk_cluster *c, const sk_options *o, const int64_t *extent)
{
    sk_geometry g = {0};
    sk_call x = {.c = c, .o = o, .extent = extent, .pass = SK_PASS_LOOP, .rows = 1, .columns = 1};
    for (unsigned d = 0; d < c->loop->rank; d++)
        *(d + 1 < c->loop->rank ? &x.rows : &x.columns) *= extent[d];
    return sk_launch_contract(&x, &g);
}
