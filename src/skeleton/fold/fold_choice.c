/* Folds that choose one of their elements by its key (argmax and its like): the keys alone are scanned, whole registers
 * of them at a time, in rounds; what is stored of the elements is stored on the way. A lane keeps its best key and the
 * round that brought it; the winning round is then searched for the place, and the element there is the result. What
 * docs/determinism.md says of the order of combination holds: where the choice depends on it (floats whose operator
 * lets a NaN stay), pieces in which it does are folded by the tree. Folds that commute may share the loop
 * (choose_beside): a piece of the tree is gone through by their accumulators, and keys are scanned on the way. Other
 * loops choose a piece at a time (sk_choose_piece). */
#include "opt/choice.h"
#include "skeleton/fold/fold.h"
#include <math.h>

enum { ROUND = 8, CHAINS = 4 }; /* registers a round; accumulators, which hide the comparison's latency */

typedef struct choice {
    sk_folds *s;
    const sk_fold *f;
    opt_choice of;
    sk_fold_part p;
    ir_type type, count_type, place_type; /* of keys; of rounds; of places within a round, or a piece of floats */
    int64_t lanes, round;                 /* elements a round */
    ir_bits worst;
    k_mem key_at, round_at, place_at; /* shared, one element each: best key, its round, its place from `from` on */
    k_val from, within;               /* the part of the piece that is searched */
    k_val winner;                     /* place within the piece */
    const sk_fold_block *block; /* which the piece is, of pieces of the tree, beside folds that commute; or NULL */
} choice;

/* --- keys --- */

ir_bits sk_worst_key(ir_type t, bool greatest)
{
    if (t == T_F32)
        return ir_bits_f32(greatest ? -INFINITY : INFINITY);
    if (t == T_F64)
        return ir_bits_f64(greatest ? -INFINITY : INFINITY);
    if (!ir_type_signed(t))
        return greatest ? 0 : UINT64_MAX >> (64 - ir_type_bits(t));
    return ir_bits_i64(t, greatest ? INT64_MIN >> (64 - ir_type_bits(t))
                                   : (int64_t)(UINT64_MAX >> (65 - ir_type_bits(t))));
}

k_val sk_key_at(sk_folds *s, const sk_fold *f, const opt_choice *of, k_val row, k_val k)
{
    sk_lower *lw = s->lw;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element, out;
    sk_fold_bind(s, row, k);
    sk_emit(lw, 1, &f->element[of->key], &out);
    lw->element = around;
    sk_scope_end(lw, mark);
    return out;
}

static k_val key(choice *h, k_val k)
{
    return sk_key_at(h->s, h->f, &h->of, h->p.row, k);
}

k_val sk_key_beats(k_builder *b, const opt_choice *of, k_val x, k_val y)
{
    return k_let(b, of->greatest ? OP_GT : OP_LT, x, y, 0);
}

k_val sk_better_key(k_builder *b, const opt_choice *of, ir_type type, k_val x, k_val y)
{
    if (ir_type_float(type))
        return k_select(b, sk_key_beats(b, of, x, y), x, y);
    return k_let(b, of->greatest ? OP_MAX : OP_MIN, x, y, 0);
}

static k_val beats(choice *h, k_val x, k_val y)
{
    return sk_key_beats(&h->s->lw->b, &h->of, x, y);
}

static k_val better(choice *h, k_val x, k_val y)
{
    return sk_better_key(&h->s->lw->b, &h->of, h->type, x, y);
}

/* --- the scan --- */

typedef struct scan { /* of one choice: variables, this round's and all rounds' best key of a lane, and its round */
    choice *of;
    k_val chain[CHAINS], best, round;
} scan;

typedef struct scans { /* of choices that are made in one loop: all of the first of equals, or of the last */
    sk_folds *s;
    sk_fold_part p;
    k_val lane;
    int64_t lanes, round;
    unsigned chains;
    bool last, stores;
    uint32_t n;
    scan *at;
    sk_folds *beside; /* folds that commute, which take the same elements; or NULL */
    k_mem **total;    /* ... of one piece: where their totals go; NULL: there is a block of pieces */
} scans;

/* Behind the keys of a round: did it bring a better one? */
static void end_round(const scans *all, k_val number)
{
    k_builder *b = &all->s->lw->b;
    for (uint32_t i = 0; i < all->n; i++) {
        scan *n = &all->at[i];
        k_val best = k_get(b, n->chain[0]);
        for (unsigned c = 1; c < all->chains; c++)
            best = better(n->of, k_get(b, n->chain[c]), best);
        k_val brought = beats(n->of, best, k_get(b, n->best)),
              mine = k_convert(b, OP_CONVERT, n->of->count_type, number);
        k_set(b, n->round, k_select(b, brought, mine, k_get(b, n->round)));
        k_set(b, n->best, best);
    }
}

/* The elements from `at` on, a lane for each: their keys, what is stored of them, and what folds beside take, whose
 * accumulators are `acc` (NULL: there are none) and have received elements where `started` holds. */
static void take(const scans *all, unsigned chain, k_val at, k_val started, k_val *const *acc)
{
    sk_folds *s = all->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw), stored = all->stores ? s->stored.term.n : 0;
    k_val around = lw->element;
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < all->n; i++)
        vec_push(lw->arena, &term, all->at[i].of->f->element[all->at[i].of->of.key]);
    for (uint32_t i = 0; i < stored; i++)
        vec_push(lw->arena, &term, s->stored.term.at[i]);
    for (uint32_t i = 0; acc && i < all->beside->fold.n; i++) {
        const sk_fold *f = &all->beside->fold.at[i];
        const ir_id *element = f->fused_product ? ir_args(lw->l->ir, f->element[0]) : f->element;
        for (uint32_t c = 0; c < sk_fold_terms(f); c++)
            vec_push(lw->arena, &term, element[c]);
    }
    k_val *value = arena_array(lw->arena, *value, term.n + 1);
    sk_fold_bind(s, all->p.row, sk_add(lw, all->p.begin, at));
    sk_emit(lw, term.n, term.at, value);
    for (uint32_t i = 0; i < stored; i++)
        sk_fold_leave(s, i, value[all->n + i]);
    for (uint32_t i = 0; i < all->n; i++) {
        scan *n = &all->at[i];
        k_set(b, n->chain[chain], better(n->of, value[i], k_get(b, n->chain[chain])));
    }
    const k_val *next = value + all->n + stored;
    for (uint32_t i = 0; acc && i < all->beside->fold.n; i++) {
        const sk_fold *f = &all->beside->fold.at[i];
        sk_fold_take(all->beside, f, next, started, acc[i]);
        next += sk_fold_terms(f);
    }
    lw->element = around;
    sk_scope_end(lw, mark);
}

static void whole_rounds(const scans *all, k_val whole)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val turn = k_for(b, k_i64(b, 0), whole, false);
    k_val number = all->last ? sk_sub(lw, sk_sub(lw, whole, k_i64(b, 1)), turn) : turn;
    k_val begin = sk_mul(lw, number, k_i64(b, all->round));
    lw->ahead = lw->options->ahead && !all->last;
    for (unsigned r = 0; r < all->round / all->lanes; r++) {
        lw->behind = r * all->lanes;
        take(all, r % all->chains, sk_add(lw, sk_add(lw, begin, k_i64(b, r * all->lanes)), all->lane), 0, NULL);
    }
    lw->ahead = false;
    lw->behind = 0;
    end_round(all, number);
    k_end(b);
}

static void last_round(const scans *all, k_val whole)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val begin = sk_mul(lw, whole, k_i64(b, all->round)), lanes = k_i64(b, all->lanes);
    k_val registers = k_let(b, OP_QUOT, sk_sub(lw, all->p.count, begin), lanes, 0);
    k_val r = k_for(b, k_i64(b, 0), registers, false);
    take(all, 0, sk_add(lw, sk_add(lw, begin, sk_mul(lw, r, lanes)), all->lane), 0, NULL);
    k_end(b);
    k_val rest = sk_add(lw, sk_add(lw, begin, sk_mul(lw, registers, lanes)), all->lane);
    k_if(b, k_let(b, OP_LT, rest, all->p.count, 0));
    take(all, 1, rest, 0, NULL);
    k_end(b);
    end_round(all, whole);
}

/* All lanes get the best of all lanes' values: the greatest, or the least. */
static k_val of_all_lanes(choice *h, k_val value, ir_op op)
{
    k_builder *b = &h->s->lw->b;
    for (int64_t distance = h->lanes / 2; distance; distance /= 2) {
        k_val other = k_shuffle(b, value, distance);
        value = op ? k_let(b, op, other, value, 0) : better(h, other, value);
    }
    return value;
}

static void to_one(choice *h, k_val lane, k_mem m, k_val value)
{
    k_builder *b = &h->s->lw->b;
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    k_store(b, m, lane, value);
    k_end(b);
}

/* The best key, and the first round that has it (the last one if the last of equals is chosen). */
static void end_scan(const scan *n, k_val lane)
{
    choice *h = n->of;
    k_builder *b = &h->s->lw->b;
    k_val mine = k_get(b, n->best), best = of_all_lanes(h, mine, OP_NONE);
    k_val none = k_literal(b, h->count_type, h->of.last ? 0 : sk_worst_key(h->count_type, false));
    k_val round = k_select(b, k_let(b, OP_EQ, mine, best, 0), k_get(b, n->round), none);
    to_one(h, lane, h->key_at, best);
    to_one(h, lane, h->round_at, of_all_lanes(h, round, h->of.last ? OP_MAX : OP_MIN));
}

static void begin_scan(scan *n, const scans *all, k_val final)
{
    k_builder *b = &all->s->lw->b;
    choice *h = n->of;
    k_val worst = k_literal(b, h->type, h->worst);
    for (unsigned c = 0; c < all->chains; c++)
        n->chain[c] = k_decl(b, worst, "best");
    n->best = k_decl(b, worst, "best");
    n->round = k_decl(b, k_convert(b, OP_CONVERT, h->count_type, all->last ? final : k_i64(b, 0)), "round");
}

static void scan_piece(scans *all)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    all->lane = k_for_all(b, k_i64(b, all->lanes));
    k_val size = k_i64(b, all->round), whole = k_let(b, OP_QUOT, all->p.count, size, 0);
    k_val final = k_let(b, OP_QUOT, sk_sub(lw, all->p.count, k_i64(b, 1)), size, 0);
    for (uint32_t i = 0; i < all->n; i++)
        begin_scan(&all->at[i], all, final);
    k_val rest = k_let(b, OP_GE, final, whole, 0);
    if (!all->last)
        whole_rounds(all, whole);
    k_if(b, rest);
    last_round(all, whole);
    k_end(b);
    if (all->last)
        whole_rounds(all, whole);
    for (uint32_t i = 0; i < all->n; i++)
        end_scan(&all->at[i], all->lane);
    k_end(b);
}

/* --- beside folds that commute --- */

/* A round of SK_ACCUMULATORS elements, number k of the piece; masked: not all of them need be there. */
static void take_beside(const scans *all, k_val k, bool masked, k_val **const *acc)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val started = k_let(b, OP_GT, k, k_i64(b, 0), 0), begin = sk_mul(lw, k, k_i64(b, SK_ACCUMULATORS));
    for (unsigned t = 0; t < SK_ACCUMULATORS / all->lanes; t++) {
        k_val first = sk_add(lw, begin, k_i64(b, t * all->lanes)), left = sk_sub(lw, all->p.count, first);
        k_val at = sk_add(lw, first, all->lane);
        lw->behind = t * all->lanes;
        if (masked) {
            k_if(b, k_let(b, OP_GE, left, k_i64(b, all->lanes), 0));
            take(all, t % all->chains, at, started, acc[t]);
            k_else(b);
            k_if(b, k_let(b, OP_LT, all->lane, left, 0));
        }
        take(all, t % all->chains, at, started, acc[t]);
        for (unsigned ends = masked ? 2 : 0; ends; ends--)
            k_end(b);
    }
    lw->behind = 0;
}

/* The elements of a piece of the tree, of which `before` rounds of the scan lie before it in the block: whole rounds,
 * what is left of them as one more, and the folds' totals, which come to lane 0 of `total`. */
static void scan_piece_beside(scans *all, k_val before, k_val *const *total)
{
    sk_folds *f = all->beside;
    sk_lower *lw = f->lw;
    k_builder *b = &lw->b;
    k_val **acc[SK_MOST_STREAMS], **totals[SK_MOST_STREAMS];
    int64_t together = all->round / SK_ACCUMULATORS;
    totals[0] = (k_val **)total;
    for (int64_t t = 1; t < f->tree.streams; t++)
        totals[t] = sk_fold_accumulators(f);
    sk_fold_begin_counts(f, f->tree.streams, totals, acc);
    sk_fold_watch(f);
    f->begin = all->p.begin;
    k_val all_of = k_i64(b, SK_ACCUMULATORS), some = k_i64(b, together);
    k_val whole = k_let(b, OP_QUOT, all->p.count, all_of, 0), turns = k_let(b, OP_QUOT, whole, some, 0);
    k_val turn = k_for(b, k_i64(b, 0), turns, false);
    lw->ahead = lw->options->ahead;
    for (int64_t r = 0; r < together; r++)
        take_beside(all, sk_add(lw, sk_mul(lw, turn, some), k_i64(b, r)), false, acc);
    lw->ahead = false;
    end_round(all, sk_add(lw, before, turn));
    k_end(b);
    k_val done = sk_mul(lw, turns, some);
    k_if(b, k_let(b, OP_LT, sk_mul(lw, done, all_of), all->p.count, 0));
    if (together > 1) {
        take_beside(all, k_for(b, done, whole, false), false, acc);
        k_end(b);
    }
    k_if(b, k_let(b, OP_LT, sk_mul(lw, whole, all_of), all->p.count, 0));
    take_beside(all, whole, true, acc);
    k_end(b);
    end_round(all, sk_add(lw, before, turns));
    k_end(b);
    sk_fold_streams(f, all->lane, f->tree.streams, f->neutral ? 0 : all->p.count, acc);
    sk_fold_end_counts(f, acc[0], (k_val **)total);
    sk_fold_lanes(f, all->p.row, all->lane, all->p.count, total);
}

static void scan_block(scans *all, const sk_fold_block *block)
{
    sk_folds *f = all->beside;
    sk_lower *lw = f->lw;
    k_builder *b = &lw->b;
    if (lw->options->final)
        sk_fold_totals(f);
    all->lane = k_for_all(b, k_i64(b, all->lanes));
    for (uint32_t i = 0; i < all->n; i++)
        begin_scan(&all->at[i], all, 0);
    k_val piece = k_for(b, block->first, block->end, false);
    all->p = sk_fold_piece_of(f, block, piece);
    k_val **total = sk_fold_accumulators(f);
    scan_piece_beside(all, sk_mul(lw, sk_sub(lw, piece, block->first), k_i64(b, SK_PIECE / all->round)), total);
    sk_fold_piece_done(f, block, piece, all->lane, total);
    k_end(b);
    for (uint32_t i = 0; i < all->n; i++)
        end_scan(&all->at[i], all->lane);
    k_end(b);
    sk_fold_block_done(f, block);
}

static void scan_piece_alone(scans *all)
{
    sk_folds *f = all->beside;
    k_builder *b = &f->lw->b;
    k_val zero = k_i64(b, 0);
    all->lane = k_for_all(b, k_i64(b, all->lanes));
    k_val **total = sk_fold_accumulators(f);
    for (uint32_t i = 0; i < all->n; i++)
        begin_scan(&all->at[i], all, zero);
    scan_piece_beside(all, zero, total);
    for (uint32_t i = 0; i < all->n; i++)
        end_scan(&all->at[i], all->lane);
    k_if(b, k_let(b, OP_LT, all->lane, k_i64(b, 1), 0));
    for (uint32_t i = 0; i < f->fold.n; i++) {
        const sk_fold *fold = &f->fold.at[i];
        for (uint32_t c = 0; c < fold->n; c++) {
            ir_type t = (fold->wide ? fold->wide : fold->info)->type[c];
            k_store(b, all->total[i][c], all->lane, k_convert(b, OP_CONVERT, t, k_get(b, total[i][c])));
        }
    }
    k_end(b);
    k_end(b);
}

/* One loop for the choices of the first of equals, and one, from behind, for those of the last. */
static void scan_pieces(sk_folds *s, choice *h, sk_folds *beside, k_mem **total)
{
    scans all = {.s = s, .p = h->p, .lanes = h->lanes, .round = h->round, .stores = true, .beside = beside};
    all.total = total;
    all.at = arena_array(s->lw->arena, *all.at, s->fold.n);
    for (unsigned last = 0; last < 2; last++) {
        all.last = last;
        all.n = 0;
        for (uint32_t i = 0; i < s->fold.n; i++)
            if (h[i].of.last == all.last)
                all.at[all.n++] = (scan){.of = &h[i]};
        all.chains = all.n > 2 || beside ? CHAINS / 2 : CHAINS;
        if (beside && !last)
            (total ? scan_piece_alone(&all) : scan_block(&all, h->block));
        else if (all.n)
            scan_piece(&all);
        all.p = h->p;
        all.stores &= !all.n && !beside;
    }
}

/* --- the place --- */

/* Of the places that have the best key, counted from 1 on, the first or the last one. */
static void search(choice *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val best = k_load(b, h->key_at, k_i64(b, 0)), lanes = k_i64(b, h->lanes), one = k_i64(b, 1);
    k_val lane = k_for_all(b, lanes);
    k_val none = k_literal(b, h->place_type, h->of.last ? 0 : sk_worst_key(h->place_type, false));
    k_val place = k_decl(b, none, "place");
    k_val registers = k_let(b, OP_QUOT, sk_sub(lw, sk_add(lw, h->within, lanes), one), lanes, 0);
    k_val turn = k_for(b, k_i64(b, 0), registers, false);
    k_val number = h->of.last ? turn : sk_sub(lw, sk_sub(lw, registers, one), turn); /* the last hit counts */
    k_val at = sk_add(lw, sk_mul(lw, number, lanes), lane);
    k_if(b, k_let(b, OP_LT, at, h->within, 0));
    k_val hit = k_let(b, OP_EQ, key(h, sk_add(lw, sk_add(lw, h->p.begin, h->from), at)), best, 0);
    k_val counted = k_convert(b, OP_CONVERT, h->place_type, sk_add(lw, at, one));
    k_set(b, place, k_select(b, hit, counted, k_get(b, place)));
    k_end(b);
    k_end(b);
    k_val found = of_all_lanes(h, k_get(b, place), h->of.last ? OP_MAX : OP_MIN);
    if (ir_type_float(h->type)) { /* nothing but NaNs */
        k_val final = k_convert(b, OP_CONVERT, h->place_type, h->within);
        k_val nan = h->of.last_nan ? final : k_literal(b, h->place_type, 1);
        found = k_select(b, k_let(b, OP_EQ, found, none, 0), nan, found);
    }
    to_one(h, lane, h->place_at, found);
    k_end(b);
}

static void finish(choice *h)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1));
    uint32_t mark = sk_scope(lw);
    k_val *total = arena_array(lw->arena, k_val, h->f->n), around = lw->element;
    sk_fold_bind(s, h->p.row, sk_add(lw, sk_add(lw, h->p.begin, h->winner), lane));
    sk_emit(lw, h->f->n, h->f->element, total);
    lw->element = around;
    if (h->block)
        sk_fold_finish_block(s, h->f, h->block, total);
    else
        sk_fold_finish(s, h->f, h->p.row, k_piece(b), total, 0, NULL);
    sk_scope_end(lw, mark);
    k_end(b);
}

static void find_place(choice *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val round = k_convert(b, OP_CONVERT, T_I64, k_load(b, h->round_at, k_i64(b, 0)));
    k_val zero = k_i64(b, 0), size = k_i64(b, h->round);
    h->from = sk_mul(lw, round, size);
    h->within = sk_min(lw, size, sk_sub(lw, h->p.count, h->from));
    if (ir_type_float(h->type)) {
        /* Rounds tell keys that are no better than the worst from NaNs no more: the whole piece is searched. */
        k_val unknown = k_let(b, OP_EQ, k_load(b, h->key_at, zero), k_literal(b, h->type, h->worst), 0);
        h->from = k_select(b, unknown, zero, h->from);
        h->within = k_select(b, unknown, h->p.count, h->within);
    }
    search(h);
    k_val place = k_convert(b, OP_CONVERT, T_I64, k_load(b, h->place_at, zero));
    h->winner = sk_sub(lw, sk_add(lw, h->from, place), k_i64(b, 1));
}

/* Does the winner lose on its way through the tree? Where NaNs stay, the total of what lies left of it in a pair is a
 * NaN if its first element is one; where they are taken, that of what lies right of it if its last one is. All else is
 * no better. A lane looks at the pair of its number. */
static k_val loses(choice *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    enum { WIDTHS = 12 + SK_BLOCK_LOG }; /* of the nodes of a piece of SK_BLOCK * SK_PIECE elements */
    k_val nans = k_decl(b, k_i64(b, 0), "nans"), one = k_i64(b, 1);
    k_val lane = k_for_all(b, k_i64(b, h->lanes)), nan = k_decl(b, k_literal(b, T_BOOL, 0), "nan");
    k_val side = k_let(b, OP_BIT_AND, k_let(b, OP_SHR, h->winner, lane, 0), one, 0);
    k_val wide = k_let(b, OP_SHL, one, lane, 0), mine = k_let(b, OP_SHL, k_let(b, OP_SHR, h->winner, lane, 0), lane, 0);
    k_val first = sk_sub(lw, mine, wide), next = sk_add(lw, mine, wide), there = k_let(b, OP_EQ, side, one, 0);
    if (h->of.nan == OPT_NAN_TAKES) {
        there = k_let(b, OP_AND, k_let(b, OP_EQ, side, k_i64(b, 0), 0), k_let(b, OP_LT, next, h->p.count, 0), 0);
        first = sk_sub(lw, sk_min(lw, h->p.count, sk_add(lw, next, wide)), one);
    }
    k_if(b, k_let(b, OP_AND, k_let(b, OP_LT, lane, k_i64(b, WIDTHS), 0), there, 0));
    k_val x = key(h, sk_add(lw, h->p.begin, first));
    k_set(b, nan, k_let(b, OP_NE, x, x, 0));
    k_end(b);
    k_set(b, nans, k_count(b, k_get(b, nan)));
    k_end(b);
    return k_let(b, OP_GT, k_get(b, nans), k_i64(b, 0), 0);
}

/* The piece as a block of the tree's pieces. */
static sk_fold_block block_of(const choice *h)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, SK_PIECE), pieces = sk_add(lw, h->p.count, k_i64(b, SK_PIECE - 1));
    sk_fold_block block = {.row = h->p.row, .first = k_let(b, OP_QUOT, h->p.begin, size, 0), .base = s->row_base};
    block.end = sk_add(lw, block.first, k_let(b, OP_QUOT, pieces, size, 0));
    return block;
}

/* Wide enough for a number of every round, and no narrower than keys. */
static ir_type round_type(const choice *h, int64_t piece)
{
    size_t bytes = ir_type_size(h->type);
    while (bytes < 8 && (piece / h->round) >> (8 * bytes))
        bytes *= 2;
    return ir_type_unsigned(bytes);
}

static void open_choice(choice *h, const sk_fold *f, int64_t piece)
{
    sk_lower *lw = h->s->lw;
    h->f = f;
    h->of = sk_choice_of(h->s, f);
    h->type = f->info->type[h->of.key];
    h->worst = sk_worst_key(h->type, h->of.greatest);
    h->count_type = round_type(h, piece);
    h->place_type = h->type == T_F32 || h->type == T_F64 || ir_type_size(h->type) > 2 ? T_U32 : T_U16;
    h->key_at = k_shared(&lw->b, h->type, 1, "best_key");
    h->round_at = k_shared(&lw->b, h->count_type, 1, "round");
    h->place_at = k_shared(&lw->b, h->place_type, 1, "place");
}

/* Elements a round beside folds that commute. */
static int64_t round_beside(const sk_lower *lw, int64_t lanes)
{
    enum { MOST_CODE = 64 /* operations */ };
    bool small = sk_fold_flops(lw->cluster, lw->options) * ROUND <= MOST_CODE;
    return small && ROUND * lanes > SK_ACCUMULATORS ? ROUND * lanes : SK_ACCUMULATORS;
}

/* Choices that are the same in any order, and folds that commute. */
static void choose_beside(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    sk_folds sums = sk_folds_of(s, true), chosen = sk_folds_of(s, false);
    sk_fold_block block = sk_fold_block_of(s, k_piece(b));
    chosen.stored = sums.stored; /* on the way, by the scan */
    sums.row_length = chosen.row_length = s->row_length;
    sums.row_base = chosen.row_base = block.base;
    lw->element = block.row; /* of failures in the operator once elements are combined */
    sk_find_extremes(&sums);
    k_val size = k_i64(b, SK_PIECE);
    sk_fold_part part = {.row = block.row, .begin = sk_mul(lw, block.first, size)};
    part.count = sk_sub(lw, sk_min(lw, sk_mul(lw, block.end, size), s->row_length), part.begin);
    int64_t lanes = s->tree.lanes;
    choice *h = arena_array(lw->arena, *h, chosen.fold.n);
    for (uint32_t i = 0; i < chosen.fold.n; i++) {
        h[i] = (choice){.s = &chosen, .lanes = lanes, .p = part, .block = &block};
        h[i].round = round_beside(lw, lanes);
        open_choice(&h[i], &chosen.fold.at[i], SK_BLOCK * SK_PIECE);
    }
    scan_pieces(&chosen, h, &sums, NULL);
    for (uint32_t i = 0; i < chosen.fold.n; i++) {
        find_place(&h[i]);
        finish(&h[i]);
    }
}

/* Does what is chosen depend on the tree? 0: it never does. */
static k_val find_places(sk_folds *s, choice *h)
{
    k_builder *b = &s->lw->b;
    k_val bound = 0;
    for (uint32_t i = 0; i < s->fold.n; i++) {
        find_place(&h[i]);
        if (h[i].of.nan == OPT_NAN_LOSES)
            continue;
        k_val lost = loses(&h[i]);
        bound = bound ? k_let(b, OP_OR, bound, lost, 0) : lost;
    }
    return bound;
}

static void choose_alone(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    int64_t piece = sk_choice_piece(lw->cluster);
    sk_fold_part part = sk_fold_part_of(s, piece);
    if (s->staged)
        sk_stage(s, part.begin, sk_add(lw, part.begin, part.count));
    choice *h = arena_array(lw->arena, *h, s->fold.n);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        h[i] = (choice){.s = s, .lanes = s->lanes, .round = ROUND * s->lanes, .p = part};
        open_choice(&h[i], &s->fold.at[i], piece);
    }
    scan_pieces(s, h, NULL, NULL);
    s->stored.term.n = 0; /* stored by now, also where the tree goes through the elements once more */
    k_val bound = find_places(s, h);
    if (bound) {
        sk_fold_block block = block_of(&h[0]);
        k_if(b, bound);
        sk_fold_in_order(s, &block);
        k_else(b);
    }
    for (uint32_t i = 0; i < s->fold.n; i++)
        finish(&h[i]);
    if (bound)
        k_end(b);
}

/* --- a piece at a time --- */

struct sk_chooser {
    const sk_folds *of;         /* whose pieces they are: where elements are stored changes with the piece */
    sk_folds all, chosen, sums; /* also those that choose; the others */
    choice *choice;
    k_mem **total, **of_chosen, **of_sums; /* of all, and the same of either */
};

sk_chooser *sk_open_chooser(const sk_folds *s)
{
    sk_lower *lw = s->lw;
    arena *a = lw->arena;
    if (s->combine || lw->options->group || !lw->options->vector_bytes || !sk_folds_choose(s))
        return NULL;
    sk_chooser *x = arena_new(a, *x);
    x->of = s;
    x->all = x->chosen = x->sums = *s;
    memset(&x->chosen.fold, 0, sizeof x->chosen.fold);
    memset(&x->sums.fold, 0, sizeof x->sums.fold);
    x->sums.neutral = x->sums.counts = true;
    x->total = sk_fold_memory(&x->all, true, 1, "chosen");
    x->of_chosen = arena_array(a, *x->total, s->fold.n);
    x->of_sums = arena_array(a, *x->total, s->fold.n);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        sk_fold f = s->fold.at[i];
        if (!sk_fold_in_any_order(s->lw, &f)) {
            x->of_chosen[x->chosen.fold.n] = x->total[i];
            vec_push(a, &x->chosen.fold, f);
            continue;
        }
        f.element = arena_copy(a, f.element, f.n * sizeof *f.element);
        x->of_sums[x->sums.fold.n] = x->total[i];
        x->sums.neutral &= f.identity != NULL;
        sk_fold_narrow(&x->sums, &f);
        vec_push(a, &x->sums.fold, f);
    }
    x->sums.mixes = x->sums.neutral;
    x->choice = arena_array(a, *x->choice, x->chosen.fold.n);
    for (uint32_t i = 0; i < x->chosen.fold.n; i++) {
        x->choice[i] = (choice){.s = &x->chosen, .lanes = s->tree.lanes, .round = round_beside(lw, s->tree.lanes)};
        open_choice(&x->choice[i], &x->chosen.fold.at[i], SK_PIECE);
    }
    return x;
}

static void fold_in_order(sk_chooser *x, const sk_fold_part *p, k_mem **order)
{
    sk_lower *lw = x->all.lw;
    k_builder *b = &lw->b;
    k_val **acc[SK_MOST_STREAMS], lane = k_for_all(b, k_i64(b, x->all.tree.lanes));
    sk_fold_piece_in_order(&x->all, p, lane, order, acc);
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    sk_fold_keep(&x->all, x->total, lane, acc[0]);
    k_end(b);
    k_end(b);
}

/* What has been found is at number `winner` of the piece. */
static void keep_chosen(sk_chooser *x, const sk_fold_part *p)
{
    sk_lower *lw = x->all.lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1)), around = lw->element;
    for (uint32_t i = 0; i < x->chosen.fold.n; i++) {
        const sk_fold *f = &x->chosen.fold.at[i];
        uint32_t mark = sk_scope(lw);
        k_val *value = arena_array(lw->arena, k_val, f->n);
        sk_fold_bind(&x->chosen, p->row, sk_add(lw, sk_add(lw, p->begin, x->choice[i].winner), lane));
        sk_emit(lw, f->n, f->element, value);
        for (uint32_t c = 0; c < f->n; c++)
            k_store(b, x->of_chosen[i][c], lane, value[c]);
        sk_scope_end(lw, mark);
    }
    lw->element = around;
    k_end(b);
}

/* What changes from piece to piece. */
static void follow(const sk_folds *of, sk_folds *mine)
{
    mine->stage = of->stage;
    mine->row_base = of->row_base;
    mine->row_length = of->row_length;
}

k_mem **sk_choose_piece(sk_chooser *x, const sk_fold_part *p, k_mem **order)
{
    enum { LEAST = 320 /* elements: of less the tree is quicker */ };
    k_builder *b = &x->all.lw->b;
    follow(x->of, &x->all);
    follow(x->of, &x->chosen);
    follow(x->of, &x->sums);
    k_val yes = k_literal(b, T_BOOL, 1), by_tree = k_decl(b, yes, "by_tree");
    for (uint32_t i = 0; i < x->chosen.fold.n; i++)
        x->choice[i].p = *p;
    k_if(b, k_let(b, OP_GE, p->count, k_i64(b, LEAST), 0));
    scan_pieces(&x->chosen, x->choice, &x->sums, x->of_sums);
    k_val bound = find_places(&x->chosen, x->choice);
    k_set(b, by_tree, bound ? bound : k_literal(b, T_BOOL, 0));
    k_if(b, k_let(b, OP_NOT, k_get(b, by_tree), 0, 0));
    keep_chosen(x, p);
    k_end(b);
    k_end(b);
    k_if(b, k_get(b, by_tree));
    fold_in_order(x, p, order);
    k_end(b);
    return x->total;
}

/* --- loops that are folds --- */

void sk_build_fold_choice(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE, .stages = sk_stages(c, lw->options)};
    if (c->loop->mixed) {
        s.narrows = s.counts = true;
        s.tree = sk_tree_of_fold(c, lw->options);
        sk_fold_begin(&s);
        choose_beside(&s);
        return;
    }
    bool any = c->choice == SK_CHOICE_FREE;
    s.lanes = any ? lw->options->vector_bytes / c->choice_bytes : sk_tree_of(c->wide).lanes;
    sk_fold_begin(&s);
    choose_alone(&s);
}
