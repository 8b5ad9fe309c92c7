/* Kernels in which a block walks along whole rows. */
#include "skeleton/row/row.h"

/* --- values of the row --- */

void row_bind_cells(row_loop *r, uint8_t sweep)
{
    for (uint32_t i = 0; i < r->part.n && !r->combine; i++) {
        const row_part *p = &r->part.at[i];
        bool known = p->op->outer ? p->op->sweep <= sweep : p->op->kind == L_FOLD && p->op->sweep < sweep;
        for (uint32_t c = 0; known && c < p->n; c++)
            sk_bind(r->lw, p->given[c], k_load(&r->lw->b, p->cell[c], k_i64(&r->lw->b, 0)));
    }
}

static void outer_member(row_loop *r, const row_part *p, bool store)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x = row_values(r, p), lane = k_for_few(b, k_i64(b, 1));
    uint32_t mark = sk_scope(lw);
    lw->element = r->row;
    sk_emit(lw, p->n, p->element, x);
    for (uint32_t c = 0; c < p->n; c++) {
        k_store(b, p->cell[c], lane, x[c]);
        if (p->op->stored && store)
            k_store(b, sk_array_memory(lw, p->op->term, c, true), sk_add(lw, r->row, lane), x[c]);
    }
    sk_scope_end(lw, mark);
    k_end(b);
}

/* They may read each other. */
void row_outer_members(row_loop *r, uint8_t sweep, bool store)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!p->op->outer || p->op->sweep != sweep)
            continue;
        outer_member(r, p, store);
        for (uint32_t c = 0; c < p->n; c++)
            sk_bind(r->lw, p->given[c], k_load(&r->lw->b, p->cell[c], k_i64(&r->lw->b, 0)));
    }
}

/* --- the walk --- */

static bool in_sweep(const row_part *p, l_kind kind, uint8_t sweep)
{
    return p->op->kind == kind && p->op->sweep == sweep && !p->op->outer;
}

static void begin_row(row_loop *r)
{
    k_builder *b = &r->lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1));
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        k_val *first = p->op->kind == L_SCAN ? row_first_state(r, p) : NULL;
        for (uint32_t c = 0; c < p->n && p->op->kind == L_SCAN; c++) {
            k_val nothing = k_literal(b, p->fold.info->type[c], 0);
            k_store(b, p->window[c], lane, first ? first[c] : nothing);
            k_store(b, p->in_window[c], lane, nothing);
        }
        if (row_counts(r, p))
            k_store(b, p->offset, lane, k_i64(b, 0));
    }
    k_end(b);
}

static void load_states(row_loop *r, uint8_t sweep, k_val piece)
{
    k_val zero = k_i64(&r->lw->b, 0);
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_SCAN, sweep))
            continue;
        k_val *window = row_load(r, p, p->window, zero, NULL), *in_window = row_load(r, p, p->in_window, zero, NULL);
        row_state_before(r, p, piece, window, in_window);
    }
}

static void advance_state(row_loop *r, row_part *p, k_val piece, k_val count)
{
    k_builder *b = &r->lw->b;
    k_val *total = row_values(r, p), zero = k_i64(b, 0);
    row_piece_total(r, p, count, total);
    k_val *window = row_load(r, p, p->window, zero, NULL), *in_window = row_load(r, p, p->in_window, zero, NULL);
    row_state_after(r, p, piece, window, in_window, total);
    k_val lane = k_for_few(b, k_i64(b, 1));
    row_store(r, p, p->window, lane, window);
    row_store(r, p, p->in_window, lane, in_window);
    k_end(b);
}

/* A row of few partial results is folded from left to right, as any row, where the operator commutes. */
static void brief_partials(row_loop *r, const row_part *p)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *v = row_values(r, p), *x = row_values(r, p), *acc = row_values(r, p), *out = row_values(r, p);
    k_if(b, k_let(b, OP_LE, r->length, k_i64(b, SK_SHORT), 0));
    k_val lane = k_for_few(b, k_i64(b, 1)), first = sk_add(lw, r->row_base, lane);
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(b, k_load(b, p->fold.in[c], first), "x");
    k_val j = k_for(b, k_i64(b, 1), r->length, false);
    for (uint32_t c = 0; c < p->n; c++) {
        acc[c] = k_get(b, v[c]);
        x[c] = k_load(b, p->fold.in[c], sk_add(lw, first, j));
    }
    row_apply(r, p, acc, x, out);
    row_set(r, p, v, out);
    k_end(b);
    for (uint32_t c = 0; c < p->n; c++)
        k_store(b, p->sums[c], sk_add(lw, lane, k_i64(b, ROW_SUMS)), k_get(b, v[c]));
    k_end(b);
    k_end(b);
}

static void advance_counts(row_loop *r, uint8_t sweep)
{
    k_builder *b = &r->lw->b;
    k_val zero = k_i64(b, 0);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!row_counts(r, p) || p->op->sweep != sweep)
            continue;
        k_val all = sk_add(r->lw, k_load(b, p->offset, zero), k_load(b, p->count, zero)),
              only = k_for_few(b, k_i64(b, 1));
        k_store(b, p->offset, only, all);
        k_end(b);
    }
}

/* Where results go past the caches, the memory has to be read all the time: a loop of one sweep reads a little ahead;
 * of several, the first one reads, the second only computes, and may fetch a row that stays in the caches. */
static row_fetch what_to_fetch(const sk_lower *lw, uint8_t sweep)
{
    if (!lw->options->stream || lw->options->group)
        return ROW_FETCH_NOTHING;
    if (lw->cluster->loop->sweeps <= 1)
        return ROW_FETCH_AHEAD;
    return sweep == 1 && lw->options->row ? ROW_FETCH_ROW : ROW_FETCH_NOTHING;
}

/* A piece's total, which is its first accumulator, goes up the levels; that of a row of one piece is the row's. */
static void fold_total(row_loop *r, const row_part *p, k_val piece, k_val pieces)
{
    k_builder *b = &r->lw->b;
    k_val one = k_i64(b, 1);
    k_if(b, k_let(b, OP_GT, pieces, one, 0));
    row_fold_piece(r, p, piece, pieces, one);
    k_else(b);
    k_val lane = k_for_few(b, one);
    row_store(r, p, p->sums, sk_add(r->lw, lane, k_i64(b, ROW_SUMS)), row_load(r, p, p->sums, lane, NULL));
    k_end(b);
    k_end(b);
}

static void walk_pieces(row_loop *r, uint8_t sweep)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), size = k_i64(b, ROW_PIECE);
    k_val pieces = k_let(b, OP_QUOT, sk_add(lw, r->length, k_i64(b, ROW_PIECE - 1)), size, 0);
    k_val piece = k_for(b, zero, pieces, false), begin = sk_mul(lw, piece, size);
    k_val count = sk_min(lw, size, sk_sub(lw, r->length, begin));
    uint32_t mark = sk_scope(lw);
    load_states(r, sweep, piece);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (row_packs_directly(r) && row_counts(r, &r->part.at[i]))
            r->part.at[i].from = k_load(b, r->part.at[i].offset, zero);
    row_walk walk = {.sweep = sweep, .totals = true, .results = true, .early = true, .fetch = what_to_fetch(lw, sweep)};
    bool registers = !walk.fetch && row_only_folds(r, sweep);
    if (registers)
        row_fold_registers(r, sweep, begin, count);
    else
        row_piece(r, &walk, begin, count);
    k_if(b, k_let(b, OP_LT, sk_add(lw, piece, one), pieces, 0));
    for (uint32_t i = 0; i < r->part.n; i++)
        if (in_sweep(&r->part.at[i], L_SCAN, sweep))
            advance_state(r, &r->part.at[i], piece, count);
    k_end(b);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i], *counter = row_counter(r, p);
        if (in_sweep(p, L_FOLD, sweep) && !p->keep)
            registers ? fold_total(r, p, piece, pieces) : row_fold_piece(r, p, piece, pieces, count);
        if (r->combine && !p->ordered)
            brief_partials(r, p);
        if (in_sweep(p, L_PACK, sweep) && !row_packs_directly(r))
            sk_copy_packed(lw, p->op->term, p->n, p->kept, k_load(b, counter->offset, zero),
                           k_load(b, counter->count, zero));
    }
    advance_counts(r, sweep);
    sk_scope_end(lw, mark);
    k_end(b);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_FOLD, sweep))
            continue;
        k_val *total = row_values(r, p);
        if (p->keep)
            total[0] = row_as_sum(r, p, k_load(b, row_counter(r, p)->offset, zero));
        else
            row_fold_total(r, p, pieces, total);
        row_finish_fold(r, p, r->row, total);
    }
}

bool row_has_positions(const row_loop *r, uint8_t sweep)
{
    for (uint32_t i = 0; i < r->part.n; i++)
        if (!r->part.at[i].op->outer && r->part.at[i].op->sweep == sweep &&
            (r->part.at[i].op->kind != L_ELEMENT || r->part.at[i].op->stored))
            return true;
    return false;
}

/* A row of one piece: nothing is left of it to be combined, and no state goes on. */
static void walk_piece(row_loop *r, uint8_t sweep)
{
    k_builder *b = &r->lw->b;
    uint32_t mark = sk_scope(r->lw);
    bool registers = row_only_folds(r, sweep);
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_SCAN, sweep))
            continue;
        k_val *first = row_first_state(r, p);
        p->state = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            p->state[c] = first ? first[c] : k_literal(b, p->fold.info->type[c], 0);
        p->has_state = first ? 0 : k_literal(b, T_BOOL, 0);
    }
    if (registers)
        row_fold_registers(r, sweep, k_i64(b, 0), r->length);
    else
        row_piece(r, &(row_walk){.sweep = sweep, .results = true, .early = true}, k_i64(b, 0), r->length);
    sk_scope_end(r->lw, mark);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_FOLD, sweep))
            continue;
        k_val *total = row_values(r, p);
        if (registers)
            row_load(r, p, p->sums, k_i64(b, 0), total);
        else
            row_piece_total(r, p, r->length, total);
        row_finish_fold(r, p, r->row, total);
    }
}

void row_whole_piece(row_loop *r)
{
    const uint8_t sweeps = r->lw->cluster->loop->sweeps;
    r->keeping = true;
    for (uint8_t sweep = 0; sweep < sweeps; sweep++) {
        row_bind_cells(r, sweep);
        row_outer_members(r, sweep, true);
        if (row_has_positions(r, sweep))
            walk_piece(r, sweep);
    }
    row_bind_cells(r, sweeps);
    row_outer_members(r, sweeps, true);
    r->keeping = false;
}

void row_whole(row_loop *r)
{
    const uint8_t sweeps = r->combine ? 1 : r->lw->cluster->loop->sweeps;
    begin_row(r);
    for (uint8_t sweep = 0; sweep < sweeps; sweep++) {
        row_bind_cells(r, sweep);
        row_outer_members(r, sweep, true);
        if (row_has_positions(r, sweep))
            walk_pieces(r, sweep);
    }
    row_bind_cells(r, r->lw->cluster->loop->sweeps);
    if (!r->combine)
        row_outer_members(r, sweeps, true); /* what is made of the last folds */
}

/* slots: 0 row length, 1 rows, 2 rows a piece of the launch */
void sk_build_row_block(sk_lower *lw)
{
    bool combine = lw->pass == SK_PASS_COMBINE;
    row_loop loop = {.lw = lw, .combine = combine}, *r = &loop;
    row_begin(r, ROW_GANG);
    row_declare_results(r);
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < r->part.n; i++)
        row_declare(r, &r->part.at[i], true, true);
    if (lw->options->row)
        row_declare_kept(r);
    r->keeping = lw->options->row > 0;
    r->length = sk_slot(lw, 0, "row_length");
    k_val rows = sk_slot(lw, 1, "rows"), some = sk_slot(lw, 2, "rows_a_piece"), first = sk_mul(lw, k_piece(b), some);
    k_val row = k_for(b, first, sk_min(lw, sk_add(lw, first, some), rows), false);
    uint32_t mark = sk_scope(lw);
    row_bind_row(r, row);
    row_whole(r);
    sk_scope_end(lw, mark);
    k_end(b);
}
