/* What is packed beside folds of segments. A block goes over the segments of its part for the folds, which leave in
 * shared memory what is to be kept, and of what is packed whatever depends on an element's segment. Behind that the
 * block goes over its elements once more, in whole gangs, while they are in the second cache, and packs what is kept
 * into shared memory, too. How much the blocks before keep goes from block to block, as in row loops; then what this
 * one keeps is copied to its place. */
#include "skeleton/segment/segment.h"

#include "skeleton/extents.h"

/* A block has at most so much work; with a piece of the segment that reaches into the next block's part these are its
 * elements. */
enum { WORK = 2 * SK_PIECE, MOST = WORK + SK_PIECE };
enum {
    TURN = 4,
    TOGETHER = 64
}; /* elements that are packed at a time, in TURN gangs at most: what these load and
    * compute need not wait */

typedef struct condition { /* what decides, and counts for all that it decides */
    ir_id keep;
    k_mem flag;   /* by the distance from the block's first element */
    k_val count;  /* variable of the piece */
    k_val packed; /* variable of the open FOR_ALL */
    k_val before; /* how many the blocks before keep */
} condition;

typedef struct packed { /* what a pack takes, or, without components, a fold that counts */
    const l_op *op;
    uint32_t n, condition;
    const ir_id *element;
    k_mem *left; /* per component: where the folds have left it; 0: it is computed when it is packed, */
    bool direct; /* ... which needs no condition */
    k_mem *kept;
} packed;

struct sk_packs {
    VEC(condition) condition;
    VEC(packed) member;
    k_val origin, reached; /* variables of the piece: its first element; how many it has gone over */
    VEC(ir_id) fetched;    /* terms of which the next block's are fetched while elements are packed; */
    k_val apart;           /* ... that begins about so many elements further on */
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

/* The folds leave this term of each element in shared memory, by the distance from folds.stage. */
static k_mem leave(sk_segments *s, ir_id term, const char *name)
{
    sk_lower *lw = s->lw;
    k_mem m = k_shared(&lw->b, (ir_type)ir_at(lw->l->ir, term)->type, MOST, name);
    vec_push(lw->arena, &s->folds.stored.term, term);
    vec_push(lw->arena, &s->folds.stored.array, 0);
    vec_push(lw->arena, &s->folds.stored.component, m);
    return m;
}

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
    for (uint32_t i = 0; i < x->condition.n; i++)
        if (x->condition.at[i].keep == keep)
            return i;
    vec_push(s->lw->arena, &x->condition, ((condition){.keep = keep, .flag = leave(s, keep, "keep")}));
    return x->condition.n - 1;
}

/* Elements that know their segment are left by the folds: only there it is at hand. Those of others that are not kept
 * may fail. */
static k_mem *find_left(sk_segments *s, const packed *m, ir_id keep)
{
    sk_lower *lw = s->lw;
    ir_program *ir = lw->l->ir;
    k_mem *left = arena_array(lw->arena, *left, m->n + 1);
    for (uint32_t c = 0; c < m->n; c++) {
        ir_id term = m->element[c], zero = ir_const(ir, (ir_type)ir_at(ir, term)->type, 0);
        if (!sk_mentions(lw, 1, &term, s->of.segment))
            continue;
        left[c] = leave(s, ir_at(ir, term)->partial ? ir_cond(ir, 0, keep, term, zero) : term, "left");
    }
    return left;
}

/* While elements are packed the memory would be idle. Folds that keep order look ahead by themselves: a second time it
 * would only take long. */
static void find_fetched(sk_segments *s, sk_packs *x)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (!lw->options->stream || lw->cluster->loop->ordered)
        return;
    for (uint32_t i = 0; i < s->folds.fold.n; i++)
        for (uint32_t c = 0; c < sk_fold_terms(&s->folds.fold.at[i]); c++)
            vec_push(lw->arena, &x->fetched, s->folds.fold.at[i].element[c]);
    for (uint32_t i = 0; i < s->folds.stored.term.n; i++)
        vec_push(lw->arena, &x->fetched, s->folds.stored.term.at[i]);
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
    if (!sk_segments_pack(lw->cluster) || lw->options->group) /* where blocks are many threads, packs are row loops */
        return NULL;
    sk_packs *x = arena_new(lw->arena, *x);
    for (uint32_t i = 0; i < lw->out->k->mem.n; i++) /* only what is packed goes past the caches */
        lw->out->k->mem.at[i].stream = false;
    for (uint32_t i = 0; i < loop->op.n; i++) {
        const l_op *op = &loop->op.at[i];
        const ir_array *info = ir_info(lw->l->ir, op->term);
        if (!is_packed(op))
            continue;
        packed m = {.op = op, .n = op->kind == L_PACK ? info->components : 0, .direct = true};
        m.condition = find_condition(s, x, keep_of(lw, op));
        m.kept = arena_array(lw->arena, *m.kept, m.n + 1);
        if (m.n) /* a copy, as terms of others may move what is found here */
            m.element = arena_copy(lw->arena, sk_operand(&lw->body, op->term, 1, &lw->at), m.n * sizeof *m.element);
        m.left = find_left(s, &m, x->condition.at[m.condition].keep);
        for (uint32_t c = 0; c < m.n; c++) { /* COMPACT writes beyond what it keeps */
            m.direct &= m.left[c] || sk_is_direct(lw, m.element[c], 0);
            m.kept[c] = k_shared(&lw->b, info->type[c], MOST + s->folds.tree.lanes, "kept");
        }
        for (uint32_t c = 0; c < info->components; c++)
            if (op->kind == L_PACK || op->stored)
                sk_array_memory(lw, op->term, c, true);
        vec_push(lw->arena, &x->member, m);
    }
    find_fetched(s, x);
    return x;
}

void sk_begin_packs(sk_segments *s)
{
    sk_packs *x = s->packs;
    k_builder *b = &s->lw->b;
    if (!x)
        return;
    for (uint32_t i = 0; i < x->condition.n; i++)
        x->condition.at[i].count = k_decl(b, k_i64(b, 0), "count");
    x->origin = k_decl(b, k_i64(b, 0), "origin");
    x->reached = k_decl(b, k_i64(b, 0), "reached");
}

/* Offsets that are wrong, which is reported elsewhere, may lead anywhere: only elements right behind those before
 * count, and are packed. */
void sk_pack_elements(sk_segments *s, k_val begin, k_val count)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    if (!x)
        return;
    k_val reached = k_get(b, x->reached), none = k_let(b, OP_EQ, reached, k_i64(b, 0), 0);
    k_val origin = k_select(b, none, begin, k_get(b, x->origin)), all = sk_add(lw, reached, count);
    k_val next = k_let(b, OP_EQ, sk_sub(lw, begin, origin), reached, 0);
    k_val fine = k_let(b, OP_AND, next, k_let(b, OP_LE, all, k_i64(b, MOST), 0), 0);
    k_set(b, x->origin, origin);
    k_set(b, x->reached, k_select(b, fine, all, reached));
    s->folds.stage = k_select(b, fine, origin, begin);
}

/* --- elements --- */

typedef struct gang {
    k_val *keep; /* variables */
    k_val **x;
} gang;

static gang declare_gang(sk_segments *s)
{
    sk_lower *lw = s->lw;
    sk_packs *x = s->packs;
    k_builder *b = &lw->b;
    gang g = {.keep = arena_array(lw->arena, *g.keep, x->condition.n)};
    g.x = arena_array(lw->arena, *g.x, x->member.n);
    for (uint32_t i = 0; i < x->condition.n; i++)
        g.keep[i] = k_decl(b, k_literal(b, T_BOOL, 0), "keep");
    for (uint32_t i = 0; i < x->member.n; i++) {
        const packed *m = &x->member.at[i];
        const ir_array *info = ir_info(lw->l->ir, m->op->term);
        g.x[i] = arena_alloc(lw->arena, (m->n + 1) * sizeof **g.x);
        for (uint32_t c = 0; c < m->n; c++)
            g.x[i][c] = k_decl(b, k_literal(b, info->type[c], 0), "x");
    }
    return g;
}

/* What is packed of element j, in a scope of its own. */
static void set_member(sk_segments *s, uint32_t i, k_val j, const gang *g)
{
    sk_lower *lw = s->lw;
    const packed *m = &s->packs->member.at[i];
    uint32_t mark = sk_scope(lw);
    for (uint32_t c = 0; c < m->n; c++) {
        k_val value = m->left[c] ? k_load(&lw->b, m->left[c], j) : 0;
        if (!value)
            sk_emit(lw, 1, &m->element[c], &value);
        k_relax(&lw->b, g->x[i][c], value);
    }
    sk_scope_end(lw, mark);
}

static void take_elements(sk_segments *s, k_val j, const gang *g)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    uint32_t mark = sk_scope(lw);
    k_val *keep = arena_array(lw->arena, *keep, x->condition.n), around = lw->element;
    lw->element = sk_add(lw, k_get(b, x->origin), j);
    sk_bind(lw, lw->at.linear, lw->element);
    for (uint32_t i = 0; i < x->condition.n; i++)
        k_set(b, g->keep[i], keep[i] = k_load(b, x->condition.at[i].flag, j));
    for (uint32_t i = 0; i < x->member.n; i++) {
        bool direct = x->member.at[i].direct;
        if (!direct) /* others may fail, and take long */
            k_if(b, keep[x->member.at[i].condition]);
        set_member(s, i, j, g);
        if (!direct)
            k_end(b);
    }
    sk_scope_end(lw, mark);
    lw->element = around;
}

static void compact(sk_segments *s, const gang *g)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    for (uint32_t i = 0; i < x->condition.n; i++) {
        k_val keep = k_get(b, g->keep[i]), at = k_get(b, x->condition.at[i].packed);
        for (uint32_t j = 0; j < x->member.n; j++)
            for (uint32_t c = 0; c < x->member.at[j].n && x->member.at[j].condition == i; c++)
                k_compact_over(b, x->member.at[j].kept[c], at, k_get(b, g->x[j][c]), keep);
        k_set(b, x->condition.at[i].packed, sk_add(lw, at, k_count(b, keep)));
    }
}

static void fetch_next(sk_segments *s, k_val j)
{
    sk_lower *lw = s->lw;
    sk_packs *x = s->packs;
    uint32_t mark = sk_scope(lw);
    sk_bind(lw, lw->at.linear, sk_add(lw, k_get(&lw->b, x->origin), j));
    sk_fetch(lw, x->fetched.n, x->fetched.at, &lw->at, k_i64(&lw->b, 0), x->apart);
    sk_scope_end(lw, mark);
}

/* Several whole gangs at a time, and what is left gang by gang. */
static void pack_block(sk_segments *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_packs *x = s->packs;
    const int64_t lanes = s->folds.tree.lanes;
    const unsigned gangs = (unsigned)(TOGETHER / lanes);
    k_val width = k_i64(b, lanes), turn = k_i64(b, TOGETHER), all = k_get(b, x->reached);
    k_val lane = k_for_all(b, width);
    for (uint32_t i = 0; i < x->condition.n; i++)
        x->condition.at[i].packed = k_decl(b, k_i64(b, 0), "packed");
    k_val turns = k_let(b, OP_QUOT, all, turn, 0), whole = sk_mul(lw, turns, turn);
    k_val at = sk_add(lw, sk_mul(lw, k_for(b, k_i64(b, 0), turns, false), turn), lane);
    gang g[TURN];
    for (unsigned t = 0; t < gangs; t++) {
        k_val j = sk_add(lw, at, k_i64(b, t * lanes));
        g[t] = declare_gang(s);
        if (x->fetched.n)
            fetch_next(s, j);
        take_elements(s, j, &g[t]);
    }
    for (unsigned t = 0; t < gangs; t++)
        compact(s, &g[t]);
    k_end(b);
    k_val rest = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, all, whole), k_i64(b, lanes - 1)), width, 0);
    at = sk_add(lw, sk_add(lw, whole, sk_mul(lw, k_for(b, k_i64(b, 0), rest, false), width)), lane);
    g[0] = declare_gang(s);
    k_if(b, k_let(b, OP_LT, at, all, 0));
    take_elements(s, at, &g[0]);
    k_end(b);
    compact(s, &g[0]);
    k_end(b);
    for (uint32_t i = 0; i < x->condition.n; i++)
        k_set(b, x->condition.at[i].count, k_get(b, x->condition.at[i].packed));
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
        aggregate[i] = k_get(b, x->condition.at[i].count);
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
    pack_block(s);
    chain_counts(s);
    k_val one = k_i64(b, 1);
    for (uint32_t i = 0; i < x->member.n; i++) {
        const packed *m = &x->member.at[i];
        const condition *c = &x->condition.at[m->condition];
        k_val here = k_get(b, c->count), all = sk_add(lw, c->before, here);
        if (m->n) { /* wrong offsets have been reported, but must do no harm */
            k_if(b, k_let(b, OP_LE, all, s->of.length, 0));
            sk_copy_packed(lw, m->op->term, m->n, m->kept, c->before, here);
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
