/* Row loops over short rows: each lane takes a row, from left to right. */
#include "skeleton/row.h"

typedef struct lane_part { /* what a lane keeps of a member */
    k_val *acc;            /* FOLD, SCAN: variables */
    k_val packed;          /* PACK: variable */
} lane_part;

typedef struct lanes {
    row_loop *r;
    lane_part *part;
    k_val j, started; /* position, and whether there is one before it */
} lanes;

static k_val *decl_all(row_loop *r, const row_part *p, const k_val *initial)
{
    k_val *v = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(&r->lw->b, initial ? initial[c] : k_literal(&r->lw->b, p->fold.info->type[c], 0), "acc");
    return v;
}

static k_val *get_all(row_loop *r, const row_part *p, const k_val *variable)
{
    k_val *x = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = k_get(&r->lw->b, variable[c]);
    return x;
}

static void set_all(row_loop *r, const row_part *p, const k_val *variable, const k_val *x)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_set(&r->lw->b, variable[c], x[c]);
}

static k_val *seed_of(row_loop *r, const row_part *p)
{
    k_val *x = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = sk_closed(r->lw, p->fold.info->seed[c]);
    return x;
}

/* acc = acc (+) x, or x at the row's first position if nothing stands in front of it */
static void accumulate(lanes *s, const row_part *p, const k_val *acc, const k_val *x, bool begun)
{
    row_loop *r = s->r;
    k_builder *b = &r->lw->b;
    k_val *out = row_values(r, p), *left = row_values(r, p);
    bool fused = p->fold.fused_product;
    if (!begun)
        k_if(b, s->started);
    left = get_all(r, p, acc);
    if (fused)
        out[0] = k_let(b, OP_FMA, x[0], x[1], left[0]);
    else
        row_apply(r, p, left, x, out);
    set_all(r, p, acc, out);
    if (begun)
        return;
    k_val product = fused ? 0 : x[0];
    k_else(b);
    if (fused)
        product = k_let(b, OP_MUL, x[0], x[1], 0);
    set_all(r, p, acc, fused ? &product : x);
    k_end(b);
}

static void scan(lanes *s, const row_part *p, const k_val *acc)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    bool exclusive = ir_at(lw->l->ir, p->op->term)->flags & IR_EXCLUSIVE;
    k_val *x = row_values(r, p), *result;
    sk_emit(lw, p->n, p->element, x);
    if (exclusive)
        result = get_all(r, p, acc);
    accumulate(s, p, acc, x, p->fold.info->seed != NULL);
    if (!exclusive)
        result = get_all(r, p, acc);
    for (uint32_t c = 0; c < p->n; c++) {
        sk_bind(lw, p->given[c], result[c]);
        if (p->op->stored)
            k_store(&lw->b, sk_array_memory(lw, p->op->term, c, true), lw->element, result[c]);
    }
}

static void pack(lanes *s, const row_part *p, k_val packed)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val keep, *x = row_values(r, p);
    sk_emit(lw, 1, &p->keep, &keep);
    k_if(b, keep);
    uint32_t mark = sk_scope(lw);
    sk_emit(lw, p->n, p->element, x);
    k_val at = k_get(b, packed);
    for (uint32_t c = 0; c < p->n; c++)
        k_store(b, sk_array_memory(lw, p->op->term, c, true), at, x[c]);
    k_set(b, packed, sk_add(lw, at, k_i64(b, 1)));
    sk_scope_end(lw, mark);
    k_end(b);
}

static void position(lanes *s, uint8_t sweep)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_SCAN && r->part.at[i].op->sweep == sweep)
            scan(s, &r->part.at[i], s->part[i].acc);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->outer || p->op->sweep != sweep || p->op->kind == L_SCAN)
            continue;
        k_val *x = row_values(r, p);
        if (p->op->kind == L_PACK) {
            pack(s, p, s->part[i].packed);
            continue;
        }
        sk_emit(lw, row_terms(p), p->element, x);
        if (p->op->kind == L_FOLD)
            accumulate(s, p, s->part[i].acc, x, p->fold.identity != NULL);
        for (uint32_t c = 0; c < p->n && p->op->kind == L_ELEMENT; c++)
            k_store(&lw->b, sk_array_memory(lw, p->op->term, c, true), lw->element, x[c]);
    }
}

static void open_part(lanes *s, uint32_t i)
{
    row_loop *r = s->r;
    const row_part *p = &r->part.at[i];
    k_val *initial = NULL;
    if (p->op->kind == L_PACK)
        s->part[i].packed = k_decl(&r->lw->b, k_i64(&r->lw->b, 0), "packed");
    if (p->op->kind != L_FOLD && p->op->kind != L_SCAN)
        return;
    if (p->op->kind == L_SCAN && p->fold.info->seed)
        initial = seed_of(r, p);
    if (p->op->kind == L_FOLD && p->fold.identity) {
        initial = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            initial[c] = k_literal(&r->lw->b, p->fold.info->type[c], p->fold.identity[c]);
    }
    s->part[i].acc = decl_all(r, p, initial);
}

/* seed (+) what the row gives, if it has elements */
static void close_fold(lanes *s, uint32_t i)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const row_part *p = &r->part.at[i];
    k_val *result = get_all(r, p, s->part[i].acc);
    lw->element = r->row;
    if (p->fold.info->seed) {
        k_val *seed = seed_of(r, p), *v = decl_all(r, p, seed), *out = row_values(r, p);
        k_if(b, k_let(b, OP_GT, r->length, k_i64(b, 0), 0));
        sk_fold_apply(lw, &p->fold, seed, result, out);
        set_all(r, p, v, out);
        k_end(b);
        result = get_all(r, p, v);
    }
    for (uint32_t c = 0; c < p->n; c++) {
        if (p->op->stored)
            k_store(b, sk_array_memory(lw, p->op->term, c, true), r->row, result[c]);
        sk_bind(lw, p->given[c], result[c]);
    }
}

static void outer_member(row_loop *r, const row_part *p)
{
    sk_lower *lw = r->lw;
    k_val *x = row_values(r, p);
    lw->element = r->row;
    sk_emit(lw, p->n, p->element, x);
    for (uint32_t c = 0; c < p->n; c++) {
        sk_bind(lw, p->given[c], x[c]);
        if (p->op->stored)
            k_store(&lw->b, sk_array_memory(lw, p->op->term, c, true), r->row, x[c]);
    }
}

static void outer_members(row_loop *r, uint8_t sweep)
{
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->outer && r->part.at[i].op->sweep == sweep)
            outer_member(r, &r->part.at[i]);
}

static void sweep_over(lanes *s, uint8_t sweep)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    outer_members(r, sweep);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->sweep == sweep)
            open_part(s, i);
    s->j = k_for(b, k_i64(b, 0), r->length, false);
    s->started = k_let(b, OP_GT, s->j, k_i64(b, 0), 0);
    uint32_t mark = sk_scope(lw);
    row_bind(r, s->j);
    position(s, sweep);
    sk_scope_end(lw, mark);
    k_end(b);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->sweep == sweep && r->part.at[i].op->kind == L_FOLD)
            close_fold(s, i);
}

/* slots: 0 row length, 1 rows, 2 rows a piece of the launch */
static void short_rows(row_loop *r)
{
    sk_lower *lw = r->lw;
    row_begin(r, 16);
    row_declare_results(r);
    lanes s = {.r = r, .part = arena_alloc(lw->arena, (r->part.n + 1) * sizeof(lane_part))};
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < r->part.n; i++)
        for (uint32_t k = 0; k < r->part.at[i].n && r->part.at[i].op->kind == L_FOLD && r->part.at[i].op->stored; k++)
            sk_array_memory(lw, r->part.at[i].op->term, k, true);
    r->length = sk_slot(lw, 0, "row_length");
    k_val rows = sk_slot(lw, 1, "rows"), some = sk_slot(lw, 2, "rows_a_piece"), first = sk_mul(lw, k_piece(b), some);
    k_val lane = k_for_all(b, sk_min(lw, some, sk_sub(lw, rows, first)));
    uint32_t mark = sk_scope(lw);
    row_bind_row(r, sk_add(lw, first, lane));
    for (uint8_t sweep = 0; sweep < lw->cluster->loop->sweeps; sweep++)
        sweep_over(&s, sweep);
    outer_members(r, lw->cluster->loop->sweeps);
    sk_scope_end(lw, mark);
    k_end(b);
}

void sk_build_row_lanes(sk_lower *lw)
{
    row_loop r = {.lw = lw};
    short_rows(&r);
}
