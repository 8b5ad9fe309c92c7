/* Kernels in which a block takes a piece of a row: states go from piece to piece, or are found by launches in between.
 */
#include "opt/rewrite.h"
#include "skeleton/row/row.h"

static void fold_partial(row_loop *r, const row_part *p, k_val count)
{
    k_builder *b = &r->lw->b;
    k_val *total = row_values(r, p);
    row_piece_total(r, p, count, total);
    row_finish_fold(r, p, r->lw->options->final ? r->row : k_piece(b), total);
}

static void fold_partials(row_loop *r, bool late, k_val count)
{
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_FOLD && r->part.at[i].late == late && !r->part.at[i].keep)
            fold_partial(r, &r->part.at[i], count);
}

static bool few_operators(const row_loop *r, uint32_t n, const ir_id *term)
{
    enum { MOST = 4 };
    ir_program *ir = r->lw->l->ir;
    opt_ids ids = {0};
    uint32_t operators = 0;
    opt_reach(ir, r->lw->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(ir, ids.at[i]);
        if (t->kind == IR_LOOP || t->partial || (t->kind == IR_OP && ir_ops[t->op].flags & OP_MATH))
            return false;
        operators += t->kind == IR_OP;
    }
    return operators <= MOST;
}

/* Are its prefixes as fast found again as they are read? */
static bool is_cheap(const row_loop *r, const row_part *p)
{
    const ir_fn *fn = p->fold.info->fn;
    return p->harmless && few_operators(r, p->n, p->element) && few_operators(r, fn->results, fn->result);
}

/* Do a part's prefixes wait, if any do? Lanes are counted faster. */
static bool waits(const row_part *p)
{
    return p->op->kind == L_SCAN && !p->flag;
}

/* Prefixes wait for the state in shared memory, where that is not so much that it would leave the nearer caches, and
 * more work would be to find them when the state is known. False: none do, and in the first walk nobody wants them. */
static bool keep_prefixes(row_loop *r)
{
    enum { MOST_BYTES = 128 << 10 };
    size_t bytes = 0;
    bool cheap = true;
    for (uint32_t i = 0; i < r->part.n; i++)
        cheap &= r->part.at[i].op->kind != L_SCAN || is_cheap(r, &r->part.at[i]);
    if (cheap)
        return false;
    for (uint32_t i = 0; i < r->part.n; i++)
        for (uint32_t c = 0; c < r->part.at[i].n && waits(&r->part.at[i]); c++)
            bytes += ROW_PIECE * ir_type_size(r->part.at[i].fold.info->type[c]);
    for (uint32_t i = 0; i < r->part.n && bytes <= MOST_BYTES; i++)
        if (waits(&r->part.at[i]))
            r->part.at[i].prefix = row_cells(r, &r->part.at[i], ROW_PIECE, "prefix");
    return true;
}

k_mem row_state_memory(row_loop *r, uint32_t before)
{
    vec_push(r->lw->arena, &r->lw->out->memory, ((sk_binding){.role = SK_STATE, .component = before, .type = T_U64}));
    return k_global(&r->lw->b, T_U64, true, "state");
}

static void chain_states(row_loop *r, bool late, k_val piece, k_val count)
{
    const sk_cluster *c = r->lw->cluster;
    k_builder *b = &r->lw->b;
    row_carried x = {0};
    k_mem state = row_state_memory(r, late ? c->state_words - c->late_words : 0);
    row_find_carried(r, late, count, &x);
    k_chain *chain = k_chain_begin(b, x.n, x.aggregate, x.initial, state);
    row_combine_carried(r, late, piece, chain->left, chain->right, x.result);
    k_chain_end(b, chain, x.result);
    row_use_carried(r, late, piece, chain->before);
}

/* --- states go from piece to piece --- */

typedef struct row_piece_of { /* of a launch */
    k_val number;             /* in its row */
    k_val begin, count;
    k_val last; /* it is the last one of its row */
    bool scans;
} row_piece_of;

/* slots: 0 row length, 1 pieces a row */
static row_piece_of begin_piece(row_loop *r, bool results)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    row_piece_of x = {0};
    row_begin(r, ROW_GANG);
    if (results)
        row_declare_results(r);
    for (uint32_t i = 0; i < r->part.n; i++) {
        if (results || r->part.at[i].op->kind != L_FOLD || r->part.at[i].keep)
            row_declare(r, &r->part.at[i], false, results);
        x.scans |= r->part.at[i].op->kind == L_SCAN;
    }
    r->length = sk_slot(lw, 0, "row_length");
    k_val pieces = sk_slot(lw, 1, "pieces_a_row"), row = k_let(b, OP_QUOT, k_piece(b), pieces, 0);
    k_val size = k_i64(b, ROW_PIECE);
    x.number = sk_sub(lw, k_piece(b), sk_mul(lw, row, pieces));
    x.begin = sk_mul(lw, x.number, size);
    x.count = sk_min(lw, size, sk_sub(lw, r->length, x.begin));
    x.last = k_let(b, OP_EQ, sk_add(lw, x.number, k_i64(b, 1)), pieces, 0);
    row_bind_row(r, row);
    return x;
}

/* A line that two pieces share is read before it is written. That of the end is fetched before the beginning is
 * written.
 */
static void fetch_end(row_loop *r, const row_part *p, k_val end)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_fetch(&r->lw->b, sk_array_memory(r->lw, p->op->term, c, true), end, k_i64(&r->lw->b, 0));
}

static void copy_all_packed(row_loop *r)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i], *counter = row_counter(r, p);
        if (p->op->kind == L_PACK)
            fetch_end(r, p, sk_add(r->lw, counter->before, k_load(&r->lw->b, counter->count, k_i64(&r->lw->b, 0))));
        if (p->op->kind == L_PACK)
            sk_copy_packed(r->lw, p->op->term, p->n, p->kept, counter->before,
                           k_load(&r->lw->b, counter->count, k_i64(&r->lw->b, 0)));
    }
}

/* Counts of rows are known in their last pieces. */
static void finish_counts(row_loop *r, const row_piece_of *x)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i], *counter = row_counter(r, p);
        if (p->op->kind != L_FOLD || !p->keep || !p->out)
            continue;
        k_if(b, x->last);
        k_val all = sk_add(r->lw, counter->before, k_load(b, counter->count, k_i64(b, 0))), sum = row_as_sum(r, p, all);
        row_finish_fold(r, p, r->row, &sum);
        k_end(b);
    }
}

static void build_chain(row_loop *r)
{
    row_piece_of x = begin_piece(r, true);
    bool only = !keep_prefixes(r);
    row_piece(r,
              &(row_walk){.totals = x.scans,
                          .only = only,
                          .counts = true,
                          .early = true,
                          .fetch = x.scans ? ROW_FETCH_SOME : ROW_FETCH_ALL},
              x.begin, x.count);
    fold_partials(r, false, x.count);
    chain_states(r, false, x.number, x.count);
    if (x.scans) {
        row_piece(r, &(row_walk){.results = true, .fetch = ROW_FETCH_REST}, x.begin, x.count);
        fold_partials(r, true, x.count);
    }
    if (r->lw->cluster->late_words)
        chain_states(r, true, x.number, x.count);
    copy_all_packed(r);
    finish_counts(r, &x);
}

/* --- the same in three launches: words of the state are the bits of values --- */

k_val row_to_word(row_loop *r, k_val x)
{
    k_builder *b = &r->lw->b;
    ir_type t = (ir_type)b->k->value.at[x].type;
    if (t != T_BOOL)
        x = k_convert(b, OP_BITCAST, ir_type_unsigned(ir_type_size(t)), x);
    return k_convert(b, OP_CONVERT, T_U64, x);
}

k_val row_from_word(row_loop *r, ir_type t, k_val word)
{
    k_builder *b = &r->lw->b;
    if (t == T_BOOL)
        return k_let(b, OP_NE, word, k_literal(b, T_U64, 0), 0);
    return k_convert(b, OP_BITCAST, t, k_convert(b, OP_CONVERT, ir_type_unsigned(ir_type_size(t)), word));
}

k_val row_word_at(row_loop *r, k_val piece, uint8_t j)
{
    sk_lower *lw = r->lw;
    return sk_add(lw, sk_mul(lw, piece, k_i64(&lw->b, lw->cluster->state_words)), k_i64(&lw->b, j));
}

static void build_sums(row_loop *r)
{
    k_builder *b = &r->lw->b;
    row_piece_of x = begin_piece(r, false);
    row_carried sums = {0};
    k_mem state = row_state_memory(r, 0);
    row_piece(r, &(row_walk){.totals = x.scans, .counts = true}, x.begin, x.count);
    row_find_carried(r, false, x.count, &sums);
    k_val lane = k_for_few(b, k_i64(b, 1));
    for (uint8_t j = 0; j < sums.n; j++)
        k_store(b, state, sk_add(r->lw, row_word_at(r, k_piece(b), j), lane), row_to_word(r, sums.aggregate[j]));
    k_end(b);
}

static void build_apply(row_loop *r)
{
    k_builder *b = &r->lw->b;
    row_piece_of x = begin_piece(r, true);
    ir_type type[K_MOST_CARRIED];
    k_val before[K_MOST_CARRIED];
    uint8_t n = row_carried_types(r, type);
    k_mem state = row_state_memory(r, 0);
    for (uint8_t j = 0; j < n; j++)
        before[j] = row_from_word(r, type[j], k_load(b, state, row_word_at(r, k_piece(b), j)));
    row_use_carried(r, false, x.number, before);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (row_packs_directly(r) && row_counts(r, &r->part.at[i]))
            r->part.at[i].from = r->part.at[i].before;
    row_piece(r, &(row_walk){.results = true, .early = true}, x.begin, x.count);
    fold_partials(r, false, x.count);
    fold_partials(r, true, x.count);
    if (!row_packs_directly(r))
        copy_all_packed(r);
    finish_counts(r, &x);
}

void sk_build_row_pieces(sk_lower *lw)
{
    row_loop r = {.lw = lw};
    if (lw->pass == SK_PASS_SUMS) {
        lw->name = "row_sums";
        build_sums(&r);
    } else if (lw->pass == SK_PASS_APPLY) {
        lw->name = "row_apply";
        build_apply(&r);
    } else {
        build_chain(&r);
    }
}
