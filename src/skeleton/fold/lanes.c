/* Short rows, of folds and of row loops: each lane takes a row, from left to right. */
#include "skeleton/extents.h"
#include "skeleton/row/row.h"

/* --- what is stored --- */

static void store(row_lanes *s, const row_part *p, uint32_t c, k_val value)
{
    sk_lower *lw = s->r->lw;
    row_stored of = {sk_array_memory(lw, p->op->term, c, true), lw->element, value};
    if (s->code_each)
        vec_push(lw->arena, &s->stored, of);
    else
        k_store(&lw->b, of.memory, of.at, of.value);
}

/* What the positions of a row have left: neighbours, one behind the other, are stored together. */
static void store_rows(row_lanes *s)
{
    uint32_t each = s->code_each ? s->stored.n / (uint32_t)s->code_each : 0;
    for (uint32_t i = 0; i < each; i++)
        for (uint32_t k = i; k < s->stored.n; k += each) {
            const row_stored *of = &s->stored.at[k];
            k_store(&s->r->lw->b, of->memory, of->at, of->value);
        }
    s->stored.n = 0;
}

/* --- positions --- */

/* acc = acc (+) x, or x at the row's first position if there is no seed */
static void scan_on(row_lanes *s, const row_part *p, const k_val *acc, const k_val *x)
{
    row_loop *r = s->r;
    k_builder *b = &r->lw->b;
    k_val *out = row_values(r, p);
    bool begun = p->fold.info->seed != NULL;
    if (!begun)
        k_if(b, s->started);
    row_apply(r, p, row_get(r, p, acc, NULL), x, out);
    row_set(r, p, acc, out);
    if (begun)
        return;
    k_else(b);
    row_set(r, p, acc, x);
    k_end(b);
}

static void scan(row_lanes *s, const row_part *p, const k_val *acc)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    bool exclusive = ir_at(lw->l->ir, p->op->term)->flags & IR_EXCLUSIVE;
    k_val *x = row_values(r, p), *result;
    sk_emit(lw, p->n, p->element, x);
    if (exclusive)
        result = row_get(r, p, acc, NULL);
    scan_on(s, p, acc, x);
    if (!exclusive)
        result = row_get(r, p, acc, NULL);
    for (uint32_t c = 0; c < p->n; c++) {
        sk_bind(lw, p->given[c], result[c]);
        if (p->op->stored)
            store(s, p, c, result[c]);
    }
}

static void pack(row_lanes *s, const row_part *p, k_val packed)
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

/* What does not depend on scans, in one list of terms: what is common is computed once. */
static void emit_elements(row_loop *r, uint8_t sweep)
{
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < r->part.n && !r->combine; i++) {
        const row_part *p = &r->part.at[i];
        bool plain = p->op->kind == L_FOLD || p->op->kind == L_ELEMENT;
        for (uint32_t c = 0; c < row_terms(p) && plain && !p->late && !p->op->outer && p->op->sweep == sweep; c++)
            vec_push(r->lw->arena, &term, p->element[c]);
    }
    if (term.n)
        sk_emit(r->lw, term.n, term.at, arena_array(r->lw->arena, k_val, term.n));
}

static void position(row_lanes *s, uint8_t sweep)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    emit_elements(r, sweep);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_SCAN && r->part.at[i].op->sweep == sweep)
            scan(s, &r->part.at[i], s->acc[i]);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->outer || p->op->sweep != sweep || p->op->kind == L_SCAN)
            continue;
        k_val *x = row_values(r, p);
        if (p->op->kind == L_PACK) {
            pack(s, p, s->acc[i][0]);
            continue;
        }
        for (uint32_t c = 0; c < p->n && r->combine; c++)
            x[c] = k_load(b, p->fold.in[c], lw->element);
        if (!r->combine)
            sk_emit(lw, row_terms(p), p->element, x);
        if (p->op->kind == L_FOLD)
            sk_fold_take(&r->folds, &p->fold, x, s->started, s->acc[i]);
        for (uint32_t c = 0; c < p->n && p->op->kind == L_ELEMENT; c++)
            store(s, p, c, x[c]);
    }
}

static void open_part(row_lanes *s, uint32_t i)
{
    sk_lower *lw = s->r->lw;
    k_builder *b = &lw->b;
    const row_part *p = &s->r->part.at[i];
    bool folds = p->op->kind == L_FOLD, scans = p->op->kind == L_SCAN;
    s->acc[i] = row_values(s->r, p);
    if (p->op->kind == L_PACK)
        s->acc[i][0] = k_decl(b, k_i64(b, 0), "packed");
    for (uint32_t c = 0; c < p->n && (folds || scans); c++) {
        ir_bits nothing = folds && p->fold.identity ? p->fold.identity[c] : 0;
        bool seed = scans && p->fold.info->seed;
        k_val initial = seed ? sk_closed(lw, p->fold.info->seed[c]) : k_literal(b, p->fold.info->type[c], nothing);
        s->acc[i][c] = k_decl(b, initial, "acc");
    }
}

/* seed (+) what the row gives, if it has elements */
static void close_folds(row_lanes *s, uint8_t sweep)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val empty = lw->options->row ? 0 : k_let(b, OP_EQ, r->length, k_i64(b, 0), 0);
    k_val **acc = arena_array(lw->arena, k_val *, r->part.n + 1);
    uint32_t folds = 0;
    lw->element = r->row;
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_FOLD)
            acc[folds++] = s->acc[i];
    sk_fold_settle(&r->folds, r->row, k_i64(b, 0), 0, r->length, acc);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_FOLD || p->op->sweep != sweep)
            continue;
        k_val *result = row_values(r, p);
        sk_fold_finish(&r->folds, &p->fold, r->row, r->row, row_get(r, p, s->acc[i], NULL), empty, result);
        for (uint32_t c = 0; c < p->n; c++)
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

/* Position `j`: `started` says whether there is one before it. */
static void at_position(row_lanes *s, uint8_t sweep, k_val j)
{
    sk_lower *lw = s->r->lw;
    s->started = k_let(&lw->b, OP_GT, j, k_i64(&lw->b, 0), 0);
    uint32_t mark = sk_scope(lw);
    row_bind(s->r, j);
    position(s, sweep);
    sk_scope_end(lw, mark);
}

static void each_position(row_lanes *s, uint8_t sweep)
{
    for (int64_t j = 0; j < s->code_each; j++)
        at_position(s, sweep, k_i64(&s->r->lw->b, j));
    store_rows(s);
}

static void all_positions(row_lanes *s, uint8_t sweep)
{
    row_loop *r = s->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val at = s->uneven ? k_decl(b, k_i64(b, 0), "at") : 0;
    k_val j = s->uneven ? (k_loop(b), k_get(b, at)) : k_for(b, k_i64(b, 0), r->length, false);
    if (s->uneven)
        k_break_if(b, k_let(b, OP_GE, j, r->length, 0));
    at_position(s, sweep, j);
    if (s->uneven)
        k_set(b, at, sk_add(lw, j, k_i64(b, 1)));
    k_end(b);
}

static void sweep_over(row_lanes *s, uint8_t sweep)
{
    row_loop *r = s->r;
    outer_members(r, sweep);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->sweep == sweep)
            open_part(s, i);
    if (row_has_positions(r, sweep)) {
        if (s->code_each)
            each_position(s, sweep);
        else
            all_positions(s, sweep);
    }
    close_folds(s, sweep);
}

void row_by_lanes(row_lanes *s, uint8_t sweeps)
{
    s->acc = arena_array(s->r->lw->arena, k_val *, s->r->part.n + 1);
    for (uint8_t sweep = 0; sweep < sweeps; sweep++)
        sweep_over(s, sweep);
    outer_members(s->r, sweeps);
}

static void bind_position(void *env, k_val j)
{
    row_bind(env, j);
}

/* Clusters that only fold compute little, and may look for extremes twice. */
static void find_extremes(row_loop *r)
{
    sk_folds *s = &r->folds;
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_FOLD)
            vec_push(r->lw->arena, &s->fold, r->part.at[i].fold);
    sk_find_extremes(s);
    for (uint32_t i = 0, k = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_FOLD) {
            r->part.at[i].fold.extreme = s->fold.at[k].extreme;
            r->part.at[i].fold.zeros = s->fold.at[k++].zeros;
        }
}

static void declare(row_loop *r)
{
    row_declare_results(r);
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        for (uint32_t c = 0; c < p->n && p->op->kind == L_FOLD && p->op->stored; c++)
            sk_array_memory(r->lw, p->op->term, c, true);
        row_declare_partials(r, p);
    }
}

/* A row's elements are a chain of operations: several registers keep the pipes full. */
static uint16_t lanes_of_folds(const row_loop *r)
{
    int64_t least = sk_tree_of(r->lw->cluster->wide).lanes;
    return (uint16_t)(r->combine ? least : larger(least, smaller(2 * least, sk_fold_lanes_for(&r->folds))));
}

/* Folds of one sweep, and what is made of their results. */
static bool only_folds(const l_cluster *c)
{
    bool only = c->sweeps <= 1;
    for (uint32_t i = 0; i < c->op.n; i++)
        only &= c->op.at[i].kind == L_FOLD || c->op.at[i].outer;
    return only || c->class == L_CLASS_FOLD;
}

/* Rows of a few elements of which some are stored: a lane that has code for each position stores neighbours, and reads
 * them, as one stretch. */
static int64_t positions_with_code(const row_loop *r)
{
    enum { MOST = 4, MOST_WORK = 64 };
    const sk_lower *lw = r->lw;
    int64_t length = lw->options->row;
    bool stores = false, packs = false;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const l_op *op = r->part.at[i].op;
        packs |= op->kind == L_PACK;
        stores |= !op->outer && op->stored && op->kind != L_FOLD;
    }
    bool few = length > 1 && length <= MOST && (double)length * lw->cluster->loop->flops <= MOST_WORK;
    return few && stores && !packs && !lw->options->group && lw->options->vector_bytes ? length : 0;
}

/* The row of the lane of a FOR_ALL, which ends here; of a gang that begins with a block, if `blocks`. */
static void each_row(row_lanes *s, uint8_t sweeps, bool blocks, k_val first, k_val lane)
{
    sk_lower *lw = s->r->lw;
    const uint32_t mark = sk_scope(lw);
    if (blocks)
        row_bind_in_block(s->r, first, lane);
    else
        row_bind_row(s->r, sk_add(lw, first, lane));
    lw->ahead = lw->options->ahead;
    row_by_lanes(s, sweeps);
    lw->ahead = false;
    sk_scope_end(lw, mark);
    k_end(&lw->b);
}

/* slots: 0 row length, 1 rows, 2 rows a piece of the launch: of whole gangs, where these have blocks. Small blocks of rows
 * of which the program says how many they are (rows of small matrices) are dealt to lanes in whole gangs, so that it is
 * known of each lane which row of its block it has: emitters load what such gangs read in stretches. */
void sk_build_lanes(sk_lower *lw)
{
    enum { LANES = 16 };
    bool combine = lw->pass == SK_PASS_COMBINE, folds = only_folds(lw->cluster->loop);
    k_builder *b = &lw->b;
    row_loop r = {.lw = lw, .combine = combine};
    r.folds = (sk_folds){.lw = lw, .combine = combine, .bind = bind_position, .bind_env = &r, .alone = true};
    row_begin(&r, LANES);
    declare(&r);
    if (folds) {
        if (!sk_picks_extremes(lw->options))
            find_extremes(&r);
        lw->out->k->lanes = lanes_of_folds(&r);
    }
    row_lanes s = {.r = &r, .code_each = positions_with_code(&r)};
    uint8_t sweeps = (uint8_t)larger(1, combine ? 1 : lw->cluster->loop->sweeps);
    r.length = lw->options->row ? k_i64(b, lw->options->row) : sk_slot(lw, 0, "row_length");
    k_val rows = sk_slot(lw, 1, "rows"), some = sk_slot(lw, 2, "rows_a_piece"), first = sk_mul(lw, k_piece(b), some);
    k_val count = sk_min(lw, some, sk_sub(lw, rows, first));
    if (row_takes_blocks(&r)) {
        const row_gang of = row_gang_of(lw->cluster);
        const k_val of_gang = k_i64(b, of.rows), gangs = k_let(b, OP_QUOT, count, of_gang, 0);
        const k_val whole = sk_mul(lw, gangs, of_gang);
        lw->out->k->lanes = (uint16_t)of.lanes;
        const k_val gang = k_for(b, k_i64(b, 0), gangs, false);
        const k_val begin = sk_add(lw, first, sk_mul(lw, gang, of_gang));
        each_row(&s, sweeps, true, begin, of.rows == of.lanes ? k_for_whole(b, of_gang) : k_for_all(b, of_gang));
        k_end(b);
        first = sk_add(lw, first, whole);
        count = sk_sub(lw, count, whole);
    }
    each_row(&s, sweeps, false, first, k_for_all(b, count));
}
