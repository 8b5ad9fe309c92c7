/* What a gang does with ROW_GANG positions of a row, and a piece gang after gang. */
#include "skeleton/row.h"

/* x = first (+) x in the lanes where `where` holds */
static void apply_where(row_loop *r, const row_part *p, k_val where, const k_val *first, k_val *x)
{
    k_builder *b = &r->lw->b;
    k_val *out = row_values(r, p);
    if (p->harmless) {
        row_apply(r, p, first, x, out);
        for (uint32_t c = 0; c < p->n; c++)
            x[c] = where ? k_select(b, where, out[c], x[c]) : out[c];
        return;
    }
    k_val *v = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(b, x[c], "x");
    if (where)
        k_if(b, where);
    row_apply(r, p, first, x, out);
    for (uint32_t c = 0; c < p->n; c++)
        k_set(b, v[c], out[c]);
    if (where)
        k_end(b);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = k_get(b, v[c]);
}

/* Sklansky's construction: in the right half of every block, the total of the left half comes in front. */
void row_prefixes(row_loop *r, const row_part *p, k_val lane, k_val holds, k_val *x)
{
    k_builder *b = &r->lw->b;
    for (int64_t half = 1; half < ROW_GANG; half *= 2) {
        k_val *left = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            left[c] = k_take_left(b, x[c], half);
        k_val right_half = k_let(b, OP_NE, k_let(b, OP_BIT_AND, lane, k_i64(b, half), 0), k_i64(b, 0), 0);
        if (holds && !p->harmless)
            right_half = k_let(b, OP_AND, right_half, holds, 0);
        apply_where(r, p, right_half, left, x);
    }
}

/* --- a gang --- */

typedef struct gang {
    k_val lane, j;   /* position in the row */
    k_val number;    /* of the gang in its piece */
    k_val first;     /* lane 0, position in the piece */
    k_val holds;     /* 0: all lanes hold something */
    k_val last;      /* lane */
} gang;

/* Opens code for the lanes that hold something. */
static uint32_t open_lanes(row_loop *r, const gang *g)
{
    if (g->holds)
        k_if(&r->lw->b, g->holds);
    return sk_scope(r->lw);
}

static void close_lanes(row_loop *r, const gang *g, uint32_t mark)
{
    sk_scope_end(r->lw, mark);
    if (g->holds)
        k_end(&r->lw->b);
}

static void emit_elements(row_loop *r, const row_part *p, k_val *x)
{
    for (uint32_t c = 0; c < p->n && r->combine; c++)
        x[c] = k_load(&r->lw->b, p->fold.in[c], r->lw->element);
    if (!r->combine)
        sk_emit(r->lw, p->n, p->element, x);
}

/* The elements of a scan, or of a fold that keeps order, in all lanes. */
static void scan_elements(row_loop *r, const row_part *p, const gang *g, k_val *x)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *v = row_values(r, p);
    if (!g->holds) {
        emit_elements(r, p, x);
        return;
    }
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(b, k_literal(b, p->fold.info->type[c], 0), "x");
    uint32_t mark = open_lanes(r, g);
    emit_elements(r, p, x);
    for (uint32_t c = 0; c < p->n; c++)
        k_set(b, v[c], x[c]);
    close_lanes(r, g, mark);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = k_get(b, v[c]);
}

/* carry (+) x in the lanes that hold something, or x if there is no carry yet */
static void behind_carry(row_loop *r, const row_part *p, k_val holds, k_val *x)
{
    k_builder *b = &r->lw->b;
    k_val *carry = row_values(r, p), where = p->has_carry ? k_get(b, p->has_carry) : 0;
    for (uint32_t c = 0; c < p->n; c++)
        carry[c] = k_get(b, p->carry[c]);
    if (holds && !p->harmless)
        where = where ? k_let(b, OP_AND, where, holds, 0) : holds;
    apply_where(r, p, where, carry, x);
}

/* The results of a scan from its prefixes, in all lanes. */
static void scan_results(row_loop *r, const row_part *p, const gang *g, const k_val *prefix)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x = arena_copy(lw->arena, prefix, p->n * sizeof(k_val));
    bool exclusive = ir_at(lw->l->ir, p->op->term)->flags & IR_EXCLUSIVE;
    k_val first = k_let(b, OP_EQ, g->lane, k_i64(b, 0), 0), holds = g->holds;
    for (uint32_t c = 0; c < p->n && exclusive; c++) /* which has a seed, so there is a carry */
        x[c] = k_shuffle(b, prefix[c], ROW_GANG - 1);
    if (exclusive && holds)
        holds = k_let(b, OP_AND, holds, k_let(b, OP_NOT, first, 0, 0), 0);
    behind_carry(r, p, holds, x);
    for (uint32_t c = 0; c < p->n && exclusive; c++)
        x[c] = k_select(b, first, k_get(b, p->carry[c]), x[c]);
    for (uint32_t c = 0; c < p->n; c++)
        sk_bind(lw, p->given[c], x[c]);
    if (g->holds) /* it is the row's last gang, or the piece's, which leaves the state otherwise */
        return;
    k_val *total = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        total[c] = k_take_lane(b, prefix[c], ROW_GANG - 1);
    behind_carry(r, p, 0, total);
    for (uint32_t c = 0; c < p->n; c++)
        k_set(b, p->carry[c], total[c]);
    if (p->has_carry)
        k_set(b, p->has_carry, k_literal(b, T_BOOL, 1));
}

/* The total of a gang is the prefix in its last lane. */
static void keep_total(row_loop *r, const row_part *p, const gang *g, const k_val *prefix)
{
    k_builder *b = &r->lw->b;
    k_if(b, k_let(b, OP_EQ, g->lane, g->last, 0));
    for (uint32_t c = 0; c < p->n; c++)
        k_store(b, p->node[c], g->number, prefix[c]);
    k_end(b);
}

static void scan(row_loop *r, const row_part *p, const row_walk *w, const gang *g)
{
    k_val *x = row_values(r, p);
    scan_elements(r, p, g, x);
    row_prefixes(r, p, g->lane, g->holds, x);
    if (w->totals)
        keep_total(r, p, g, x);
    if (w->results)
        scan_results(r, p, g, x);
}

/* --- folds --- */

/* Position i of a piece goes to accumulator i mod ROW_SUMS. */
static void accumulate(row_loop *r, const row_part *p, const gang *g, const k_val *x)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *out = row_values(r, p), *acc = row_values(r, p), *v = row_values(r, p);
    k_val at = sk_add(lw, k_let(b, OP_BIT_AND, g->first, k_i64(b, ROW_GANG), 0), g->lane);
    bool fused = p->fold.fused_product;
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(b, fused ? k_let(b, OP_MUL, x[0], x[1], 0) : x[c], "x");
    k_if(b, k_let(b, OP_GE, g->first, k_i64(b, ROW_SUMS), 0));
    for (uint32_t c = 0; c < p->n; c++)
        acc[c] = k_load(b, p->sums[c], at);
    if (fused)
        out[0] = k_let(b, OP_FMA, x[0], x[1], acc[0]);
    else
        row_apply(r, p, acc, x, out);
    for (uint32_t c = 0; c < p->n; c++)
        k_set(b, v[c], out[c]);
    k_end(b);
    for (uint32_t c = 0; c < p->n; c++)
        k_store(b, p->sums[c], at, k_get(b, v[c]));
}

static void fold_in_order(row_loop *r, const row_part *p, const gang *g)
{
    k_val *x = row_values(r, p);
    scan_elements(r, p, g, x);
    row_prefixes(r, p, g->lane, g->holds, x);
    keep_total(r, p, g, x);
}

/* --- elements --- */

static bool takes_part(const row_part *p, const row_walk *w)
{
    if (p->op->outer || p->op->sweep != w->sweep || p->op->kind == L_SCAN)
        return false;
    return p->late ? w->results : w->early;
}

/* Elements of a pack that need the state are packed once it is known; how many there are is part of the state. */
static bool counts(const row_part *p, const row_walk *w)
{
    return w->counts && p->op->kind == L_PACK && p->op->sweep == w->sweep && !takes_part(p, w);
}

static void store_element(row_loop *r, const row_part *p, const k_val *value)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_store(&r->lw->b, sk_array_memory(r->lw, p->op->term, c, true), r->lw->element, value[c]);
}

static void count_kept(row_loop *r, const row_part *p, const gang *g)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val holds = k_decl(b, k_literal(b, T_BOOL, 0), "keep"), keep;
    uint32_t mark = open_lanes(r, g);
    sk_emit(lw, 1, &p->keep, &keep);
    k_set(b, holds, keep);
    close_lanes(r, g, mark);
    k_set(b, p->packed, sk_add(lw, k_get(b, p->packed), k_count(b, k_get(b, holds))));
}

/* All lanes of the gang come to COMPACT, so what is kept waits in variables where some hold nothing. */
static void pack(row_loop *r, const row_part *p, const gang *g)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x = row_values(r, p), keep;
    k_val *v = row_values(r, p), holds = k_decl(b, k_literal(b, T_BOOL, 0), "keep");
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(b, k_literal(b, (ir_type)ir_at(lw->l->ir, p->element[c])->type, 0), "x");
    uint32_t mark = open_lanes(r, g);
    sk_emit(lw, 1, &p->keep, &keep);
    k_set(b, holds, keep);
    k_if(b, keep);
    uint32_t inner = sk_scope(lw);
    sk_emit(lw, p->n, p->element, x);
    for (uint32_t c = 0; c < p->n; c++)
        k_set(b, v[c], x[c]);
    sk_scope_end(lw, inner);
    k_end(b);
    close_lanes(r, g, mark);
    k_val kept = k_get(b, holds), at = k_get(b, p->packed);
    for (uint32_t c = 0; c < p->n; c++)
        k_compact(b, p->kept[c], at, k_get(b, v[c]), kept);
    k_set(b, p->packed, sk_add(lw, at, k_count(b, kept)));
}

/* Everything but scans and what needs whole gangs: one list of terms, so that common ones are computed once. */
static void elements(row_loop *r, const row_walk *w, const gang *g)
{
    sk_lower *lw = r->lw;
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        bool plain = p->op->kind == L_ELEMENT || (p->op->kind == L_FOLD && !p->ordered && !r->combine);
        for (uint32_t c = 0; takes_part(p, w) && plain && c < row_terms(p); c++)
            vec_push(lw->arena, &term, p->element[c]);
    }
    uint32_t mark = open_lanes(r, g);
    k_val *value = arena_alloc(lw->arena, (term.n + 1) * sizeof(k_val)), *next = value;
    if (term.n)
        sk_emit(lw, term.n, term.at, value);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!takes_part(p, w))
            continue;
        if (p->op->kind == L_ELEMENT) {
            store_element(r, p, next);
            next += p->n;
        }
        if (p->op->kind != L_FOLD || p->ordered)
            continue;
        k_val *x = next;
        if (r->combine) {
            x = row_values(r, p);
            for (uint32_t c = 0; c < p->n; c++)
                x[c] = k_load(&lw->b, p->fold.in[c], lw->element);
        } else {
            next += row_terms(p);
        }
        accumulate(r, p, g, x);
    }
    /* results of scans that are stored */
    for (uint32_t i = 0; i < r->part.n && w->results; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_SCAN || p->op->sweep != w->sweep || !p->op->stored)
            continue;
        k_val *x = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            x[c] = sk_known(lw, p->given[c]);
        store_element(r, p, x);
    }
    close_lanes(r, g, mark);
}

static void one_gang(row_loop *r, const row_walk *w, const gang *g)
{
    sk_lower *lw = r->lw;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element;
    row_bind(r, g->j);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_SCAN && r->part.at[i].op->sweep == w->sweep && (w->totals || w->results))
            scan(r, &r->part.at[i], w, g);
    elements(r, w, g);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!takes_part(p, w))
            continue;
        if (p->op->kind == L_FOLD && p->ordered)
            fold_in_order(r, p, g);
        if (p->op->kind == L_PACK)
            pack(r, p, g);
    }
    for (uint32_t i = 0; i < r->part.n; i++)
        if (counts(&r->part.at[i], w))
            count_kept(r, &r->part.at[i], g);
    lw->element = around;
    sk_scope_end(lw, mark);
}

/* --- a piece --- */

static void open_carries(row_loop *r, const row_walk *w)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (p->op->kind == L_PACK && p->op->sweep == w->sweep)
            p->packed = k_decl(b, k_i64(b, 0), "packed");
        if (p->op->kind != L_SCAN || p->op->sweep != w->sweep || !w->results)
            continue;
        p->carry = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            p->carry[c] = k_decl(b, p->state[c], "carry");
        p->has_carry = p->has_state ? k_decl(b, p->has_state, "has_carry") : 0;
    }
}

static void close_packs(row_loop *r, const row_walk *w, k_val lane)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_PACK || !(takes_part(p, w) || counts(p, w)))
            continue;
        k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
        k_store(b, p->count, k_i64(b, 0), k_get(b, p->packed));
        k_end(b);
    }
}

void row_piece(row_loop *r, const row_walk *w, k_val begin, k_val count)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val width = k_i64(b, ROW_GANG), zero = k_i64(b, 0);
    k_val whole = k_let(b, OP_QUOT, count, width, 0), rest = k_let(b, OP_REM, count, width, 0);
    gang g = {.lane = k_for_all(b, width)};
    open_carries(r, w);
    g.number = k_for(b, zero, whole, false);
    g.first = sk_mul(lw, g.number, width);
    g.j = sk_add(lw, sk_add(lw, begin, g.first), g.lane);
    g.last = k_i64(b, ROW_GANG - 1);
    one_gang(r, w, &g);
    k_end(b);
    k_if(b, k_let(b, OP_GT, rest, zero, 0));
    g.number = whole;
    g.first = sk_mul(lw, whole, width);
    g.j = sk_add(lw, sk_add(lw, begin, g.first), g.lane);
    g.holds = k_let(b, OP_LT, g.lane, rest, 0);
    g.last = sk_sub(lw, rest, k_i64(b, 1));
    one_gang(r, w, &g);
    k_end(b);
    close_packs(r, w, g.lane);
    k_end(b);
}
