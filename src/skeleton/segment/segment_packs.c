/* What is packed beside folds of segments. A block goes over the segments of its part for the folds, which leave in
 * shared memory what is to be kept; right behind, while elements are in the first cache, it goes over them once more,
 * in their order, and packs these into shared memory, too. How much the blocks before keep goes from block to block, as
 * in row loops; then what this one keeps is copied to its place. */
#include "skeleton/segment/segment.h"

#include "skeleton/extents.h"

/* A block has at most so much work; with a piece of the segment that reaches into the next block's part these are its
 * elements. */
enum { WORK = 2 * SK_PIECE, MOST = WORK + SK_PIECE };

typedef struct condition { /* what decides, and counts for all that it decides */
    ir_id keep;
    k_mem flag; /* by the distance from folds.stage */
    k_mem count;
    k_val packed; /* variable of the open FOR_ALL */
    k_val before; /* how many the blocks before keep */
} condition;

typedef struct packed { /* what a pack takes, or, without components, a fold that counts */
    const l_op *op;
    uint32_t n, condition;
    const ir_id *element;
    k_mem *kept;
} packed;

struct sk_packs {
    VEC(condition) condition;
    VEC(packed) member;
    k_mem taken;        /* elements that the block has gone over */
    VEC(ir_id) fetched; /* terms of which the next block's are fetched while elements are packed, */
    k_val apart;        /* ... which begins about so many elements further on */
};

static bool is_packed(const l_op *op)
{
    return op->kind == L_PACK || op->kind == L_FOLD;
}

bool sk_segments_pack(const sk_cluster *c)
{
    bool any = false;
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        any |= is_packed(&c->loop->op.at[i]);
    return any;
}

/* --- opening --- */

/* A fold that counts adds up conditions, as numbers. */
static ir_id keep_of(sk_lower *lw, const l_op *op)
{
    ir_program *ir = lw->l->ir;
    if (op->kind == L_PACK)
        return sk_operand(&lw->body, op->term, 0, &lw->at)[0];
    ir_id element = sk_define(&lw->body, op->term, &lw->at)[0];
    const ir_node *e = ir_at(ir, element);
    ir_id from = e->kind == IR_OP && e->op == OP_CONVERT ? ir_args(ir, element)[0] : 0;
    return from && ir_at(ir, from)->type == T_BOOL ? from : ir_op2(ir, 0, OP_NE, element, ir_i64(ir, 0));
}

static uint32_t find_condition(sk_segments *s, sk_packs *x, ir_id keep)
{
    sk_lower *lw = s->lw;
    const int64_t room = larger(SK_PIECE, s->folds.tree.lanes * SK_MIXED);
    for (uint32_t i = 0; i < x->condition.n; i++)
        if (x->condition.at[i].keep == keep)
            return i;
    condition c = {.keep = keep, .count = k_shared(&lw->b, T_I64, 1, "count")};
    c.flag = k_shared(&lw->b, T_BOOL, room, "keep");
    vec_push(lw->arena, &x->condition, c);
    vec_push(lw->arena, &s->folds.stored.term, keep);
    vec_push(lw->arena, &s->folds.stored.array, 0);
    vec_push(lw->arena, &s->folds.stored.component, c.flag);
    return x->condition.n - 1;
}

/* While elements are packed nothing is read from memory but what the next blocks will need. */
static void find_fetched(sk_segments *s, sk_packs *x)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < s->folds.fold.n; i++)
        for (uint32_t c = 0; c < sk_fold_terms(&s->folds.fold.at[i]); c++)
            vec_push(lw->arena, &x->fetched, s->folds.fold.at[i].element[c]);
    for (uint32_t i = 0; i < x->condition.n; i++)
        vec_push(lw->arena, &x->fetched, x->condition.at[i].keep);
    for (uint32_t i = 0; i < x->member.n; i++)
        for (uint32_t c = 0; c < x->member.at[i].n; c++)
            vec_push(lw->arena, &x->fetched, x->member.at[i].element[c]);
    k_val work = sk_max(lw, k_i64(b, 1), sk_slot(lw, 6, "work")), size = k_i64(b, WORK);
    x->apart = k_let(b, OP_QUOT, sk_mul(lw, size, s->of.length), work, 0);
}

sk_packs *sk_open_packs(sk_segments *s)
{
    sk_lower *lw = s->lw;
    const l_cluster *loop = lw->cluster->loop;
    if (!sk_segments_pack(lw->cluster))
        return NULL;
    sk_packs *x = arena_alloc(lw->arena, sizeof *x);
    for (uint32_t i = 0; i < lw->out->k->mem.n; i++) /* only what is packed goes past the caches */
        lw->out->k->mem.at[i].stream = false;
    for (uint32_t i = 0; i < loop->op.n; i++) {
        const l_op *op = &loop->op.at[i];
        const ir_array *info = ir_info(lw->l->ir, op->term);
        if (!is_packed(op))
            continue;
        packed m = {.op = op, .n = op->kind == L_PACK ? info->components : 0};
        m.condition = find_condition(s, x, keep_of(lw, op));
        m.kept = arena_alloc(lw->arena, (m.n + 1) * sizeof *m.kept);
        if (m.n) /* a copy, as terms of others may move what is found here */
            m.element = arena_copy(lw->arena, sk_operand(&lw->body, op->term, 1, &lw->at), m.n * sizeof *m.element);
        for (uint32_t c = 0; c < m.n; c++) /* COMPACT writes beyond what it keeps */
            m.kept[c] = k_shared(&lw->b, info->type[c], MOST + s->folds.tree.lanes, "kept");
        for (uint32_t c = 0; c < info->components; c++)
            if (op->kind == L_PACK || op->stored)
                sk_array_memory(lw, op->term, c, true);
        vec_push(lw->arena, &x->member, m);
    }
    x->taken = k_shared(&lw->b, T_I64, 1, "taken");
    find_fetched(s, x);
    return x;
}

void sk_begin_packs(sk_segments *s)
{
    sk_packs *x = s->packs;
    k_builder *b = &s->lw->b;
    if (!x)
        return;
    k_val lane = k_for_few(b, k_i64(b, 1));
    for (uint32_t i = 0; i < x->condition.n; i++)
        k_store(b, x->condition.at[i].count, lane, k_i64(b, 0));
    k_store(b, x->taken, lane, k_i64(b, 0));
    k_end(b);
}

bool sk_packs_mention(const sk_segments *s, ir_id variable)
{
    bool any = false;
    for (uint32_t i = 0; s->packs && i < s->packs->member.n; i++) {
        const packed *m = &s->packs->member.at[i];
        any |= sk_mentions(s->lw, m->n, m->element, variable);
    }
    return any;
}

/* --- elements --- */

/* The number of the segment of element j. */
static k_val number_of(sk_segments *s, const sk_walked *w, k_val j)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    enum { SHIFT = 18 }; /* 4096 elements in segments of at most 32: quotients by products are exact */
    if (w->numbers)
        return k_load(b, w->numbers, j);
    if (!w->each)
        return w->number;
    k_val step = k_convert(b, OP_CONVERT, T_I32, w->each), one = k_literal(b, T_I32, 1);
    k_val whole = k_literal(b, T_I32, (ir_bits)1 << SHIFT);
    k_val factor = sk_add(lw, k_let(b, OP_QUOT, sk_sub(lw, whole, one), step, 0), one);
    k_val product = k_let(b, OP_MUL, k_convert(b, OP_CONVERT, T_I32, j), factor, 0);
    k_val which = k_let(b, OP_SHR, product, k_literal(b, T_I32, SHIFT), 0);
    return sk_add(lw, w->number, k_convert(b, OP_CONVERT, T_I64, which));
}

typedef struct gang {
    k_val j;
    k_val *keep; /* variables */
    k_val **x;
} gang;

static void take_elements(sk_segments *s, const sk_walked *w, const gang *g)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    uint32_t mark = sk_scope(lw);
    k_val *keep = arena_alloc(lw->arena, x->condition.n * sizeof *keep);
    lw->element = sk_add(lw, s->folds.stage, g->j);
    sk_bind(lw, lw->at.linear, lw->element);
    sk_bind(lw, s->of.segment, number_of(s, w, g->j));
    for (uint32_t i = 0; i < x->condition.n; i++)
        k_set(b, g->keep[i], keep[i] = k_load(b, x->condition.at[i].flag, g->j));
    for (uint32_t i = 0; i < x->member.n; i++) {
        const packed *m = &x->member.at[i];
        k_val value[IR_MAX_COMPONENTS];
        if (!m->n)
            continue;
        uint32_t inner = sk_scope(lw); /* others may fail */
        k_if(b, keep[m->condition]);
        sk_emit(lw, m->n, m->element, value);
        for (uint32_t c = 0; c < m->n; c++)
            k_relax(b, g->x[i][c], value[c]);
        sk_scope_end(lw, inner);
        k_end(b);
    }
    sk_scope_end(lw, mark);
}

static void take_gang(sk_segments *s, const sk_walked *w, k_val lane, k_val first)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    k_val around = lw->element, left = sk_sub(lw, w->count, first);
    gang g = {.j = sk_add(lw, first, lane)};
    g.keep = arena_alloc(lw->arena, x->condition.n * sizeof *g.keep);
    g.x = arena_alloc(lw->arena, x->member.n * sizeof *g.x);
    for (uint32_t i = 0; i < x->condition.n; i++)
        g.keep[i] = k_decl(b, k_literal(b, T_BOOL, 0), "keep");
    for (uint32_t i = 0; i < x->member.n; i++) {
        const packed *m = &x->member.at[i];
        const ir_array *info = ir_info(lw->l->ir, m->op->term);
        g.x[i] = arena_alloc(lw->arena, (m->n + 1) * sizeof **g.x);
        for (uint32_t c = 0; c < m->n; c++)
            g.x[i][c] = k_decl(b, k_literal(b, info->type[c], 0), "x");
    }
    uint32_t mark = sk_scope(lw);
    sk_bind(lw, lw->at.linear, sk_add(lw, s->folds.stage, g.j));
    sk_fetch(lw, x->fetched.n, x->fetched.at, &lw->at, k_i64(b, 0), x->apart);
    sk_scope_end(lw, mark);
    k_if(b, k_let(b, OP_GE, left, k_i64(b, s->folds.tree.lanes), 0));
    take_elements(s, w, &g);
    k_else(b);
    k_if(b, k_let(b, OP_LT, lane, left, 0));
    take_elements(s, w, &g);
    k_end(b);
    k_end(b);
    lw->element = around;
    for (uint32_t i = 0; i < x->condition.n; i++) {
        k_val keep = k_get(b, g.keep[i]), at = k_get(b, x->condition.at[i].packed);
        for (uint32_t j = 0; j < x->member.n; j++)
            for (uint32_t c = 0; c < x->member.at[j].n && x->member.at[j].condition == i; c++)
                k_compact_over(b, x->member.at[j].kept[c], at, k_get(b, g.x[j][c]), keep);
        k_set(b, x->condition.at[i].packed, sk_add(lw, at, k_count(b, keep)));
    }
}

/* Where offsets are wrong, which is reported elsewhere, segments may be more than there is room for. */
void sk_pack_elements(sk_segments *s, const sk_walked *w)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    if (!x)
        return;
    k_val zero = k_i64(b, 0), width = k_i64(b, s->folds.tree.lanes),
          taken = sk_add(lw, k_load(b, x->taken, zero), w->count);
    k_if(b, k_let(b, OP_LE, taken, k_i64(b, MOST), 0));
    k_val lane = k_for_all(b, width);
    for (uint32_t i = 0; i < x->condition.n; i++)
        x->condition.at[i].packed = k_decl(b, k_load(b, x->condition.at[i].count, zero), "packed");
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, w->count, sk_sub(lw, width, k_i64(b, 1))), width, 0);
    take_gang(s, w, lane, sk_mul(lw, k_for(b, zero, gangs, false), width));
    k_end(b);
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    for (uint32_t i = 0; i < x->condition.n; i++)
        k_store(b, x->condition.at[i].count, lane, k_get(b, x->condition.at[i].packed));
    k_store(b, x->taken, lane, taken);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* --- the end of a block --- */

static void chain_counts(sk_segments *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    k_val aggregate[K_MOST_CARRIED], initial[K_MOST_CARRIED], result[K_MOST_CARRIED];
    uint8_t n = (uint8_t)x->condition.n;
    for (uint8_t i = 0; i < n; i++) {
        initial[i] = k_i64(b, 0);
        aggregate[i] = k_load(b, x->condition.at[i].count, k_i64(b, 0));
    }
    vec_push(lw->arena, &lw->out->memory, ((sk_binding){.role = SK_STATE, .type = T_U64}));
    k_mem state = k_global(b, T_U64, true, "state");
    k_chain *chain = k_chain_begin(b, n, aggregate, initial, state);
    for (uint8_t i = 0; i < n; i++)
        result[i] = sk_add(lw, k_get(b, chain->left[i]), k_get(b, chain->right[i]));
    k_chain_end(b, chain, result);
    for (uint8_t i = 0; i < n; i++)
        x->condition.at[i].before = chain->before[i];
}

/* The end of a block; `last`: it is the last one. */
void sk_finish_packs(sk_segments *s, k_val last)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    if (!x)
        return;
    chain_counts(s);
    k_val zero = k_i64(b, 0), one = k_i64(b, 1);
    for (uint32_t i = 0; i < x->member.n; i++) {
        const packed *m = &x->member.at[i];
        const condition *c = &x->condition.at[m->condition];
        k_val here = k_load(b, c->count, zero), all = sk_add(lw, c->before, here);
        if (m->n) { /* wrong offsets have been reported, but must do no harm */
            k_if(b, k_let(b, OP_LE, all, s->of.length, 0));
            k_val at = k_for_all(b, here), to = sk_add(lw, c->before, at);
            for (uint32_t k = 0; k < m->n; k++)
                k_store(b, sk_array_memory(lw, m->op->term, k, true), to, k_load(b, m->kept[k], at));
            k_end(b);
            k_end(b);
        } else if (m->op->stored) {
            k_if(b, last);
            k_val lane = k_for_few(b, one);
            ir_type t = ir_info(lw->l->ir, m->op->term)->type[0];
            k_store(b, sk_array_memory(lw, m->op->term, 0, true), lane,
                    k_convert(b, OP_CONVERT, t, sk_add(lw, all, lane)));
            k_end(b);
            k_end(b);
        }
    }
}

/* --- launches --- */

int64_t sk_packs_work(void)
{
    return WORK;
}

/* Words that a block hands on: at most each member counts by itself. */
int64_t sk_packs_words(const sk_cluster *c)
{
    int64_t n = 1;
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        n += is_packed(&c->loop->op.at[i]);
    return n;
}
