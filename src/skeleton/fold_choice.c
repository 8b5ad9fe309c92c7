/* Folds that choose one of their elements by its key (argmax and its like), one after the other: the keys alone are
 * scanned, whole registers of them at a time, in rounds. A lane keeps its best key and the round that brought it; the
 * winning round is then searched for the place, and the element there is the result. What docs/determinism.md says of
 * the order of combination holds: where the choice depends on it (floats whose operator lets a NaN stay), pieces in
 * which it does are folded by the tree. */
#include "opt/choice.h"
#include "opt/rewrite.h"
#include "skeleton/fold.h"
#include <math.h>

enum {
    ROUND = 8,
    CHAINS = 4,
    MOST_WORK = 16
}; /* registers a round; accumulators, which hide the comparison's latency */

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
} choice;

/* --- which folds --- */

/* May the terms be computed anywhere and twice? */
static bool repeatable(const l_program *l, arena *a, uint32_t n, const ir_id *term)
{
    for (uint32_t i = 0; i < n; i++)
        if (ir_at(l->ir, term[i])->partial)
            return false;
    opt_ids ids = {0};
    opt_reach(l->ir, a, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(l->ir, ids.at[i])->kind == IR_LOOP)
            return false;
    return true;
}

static bool chooses(const l_program *l, const l_cluster *c, uint32_t i, arena *a, opt_choice *of)
{
    const l_op *op = &c->op.at[i];
    const ir_array *info = ir_info(l->ir, op->term);
    if (op->kind != L_FOLD || !opt_find_choice(l->ir, info->fn, of))
        return false;
    sk_body body;
    sk_body_init(&body, l, c, SK_GENERIC, a);
    sk_index at = {.rank = c->rank, .linear = ir_var(l->ir, T_I64)};
    at.at[0] = at.linear;
    for (unsigned d = 0; d < c->rank && c->rank > 1; d++)
        at.at[d] = ir_var(l->ir, T_I64);
    return repeatable(l, a, info->components, sk_define(&body, op->term, &at));
}

void sk_choice_prepare(const l_program *l, l_cluster *c, arena *a)
{
    bool total = true;
    size_t bytes = 0;
    if (!c->ordered || c->flops > MOST_WORK * (double)c->op.n)
        return;
    for (uint32_t i = 0; i < c->op.n; i++) {
        opt_choice of;
        if (!chooses(l, c, i, a, &of))
            return;
        size_t key = ir_type_size(ir_info(l->ir, c->op.at[i].term)->type[of.key]);
        bytes = key > bytes ? key : bytes;
        total &= of.total;
    }
    c->choice = total ? L_CHOICE_FREE : L_CHOICE;
    c->choice_bytes = (uint8_t)bytes;
}

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

static k_val key(choice *h, k_val k)
{
    sk_lower *lw = h->s->lw;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element, out;
    sk_fold_bind(h->s, h->p.row, k);
    sk_emit(lw, 1, &h->f->element[h->of.key], &out);
    lw->element = around;
    sk_scope_end(lw, mark);
    return out;
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

typedef struct scan {
    k_val lane, chain[CHAINS], best,
        round; /* variables: this round's and all rounds' best key of a lane, and its round */
} scan;

/* Behind the keys of a round: did it bring a better one? */
static void end_round(choice *h, scan *n, k_val number)
{
    k_builder *b = &h->s->lw->b;
    k_val best = k_get(b, n->chain[0]);
    for (unsigned c = 1; c < CHAINS; c++)
        best = better(h, k_get(b, n->chain[c]), best);
    k_val brought = beats(h, best, k_get(b, n->best));
    k_set(b, n->round, k_select(b, brought, k_convert(b, OP_CONVERT, h->count_type, number), k_get(b, n->round)));
    k_set(b, n->best, best);
}

static void take(choice *h, scan *n, unsigned chain, k_val at)
{
    k_builder *b = &h->s->lw->b;
    k_set(b, n->chain[chain], better(h, key(h, sk_add(h->s->lw, h->p.begin, at)), k_get(b, n->chain[chain])));
}

static void whole_rounds(choice *h, scan *n, k_val whole)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val turn = k_for(b, k_i64(b, 0), whole, false);
    k_val number = h->of.last ? sk_sub(lw, sk_sub(lw, whole, k_i64(b, 1)), turn) : turn;
    k_val begin = sk_mul(lw, number, k_i64(b, h->round));
    for (unsigned r = 0; r < ROUND; r++)
        take(h, n, r % CHAINS, sk_add(lw, sk_add(lw, begin, k_i64(b, r * h->lanes)), n->lane));
    end_round(h, n, number);
    k_end(b);
}

static void last_round(choice *h, scan *n, k_val whole)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val begin = sk_mul(lw, whole, k_i64(b, h->round)), lanes = k_i64(b, h->lanes);
    k_val registers = k_let(b, OP_QUOT, sk_sub(lw, h->p.count, begin), lanes, 0);
    k_val r = k_for(b, k_i64(b, 0), registers, false);
    take(h, n, 0, sk_add(lw, sk_add(lw, begin, sk_mul(lw, r, lanes)), n->lane));
    k_end(b);
    k_val rest = sk_add(lw, sk_add(lw, begin, sk_mul(lw, registers, lanes)), n->lane);
    k_if(b, k_let(b, OP_LT, rest, h->p.count, 0));
    take(h, n, 1, rest);
    k_end(b);
    end_round(h, n, whole);
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
static void scan_piece(choice *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    scan n = {.lane = k_for_all(b, k_i64(b, h->lanes))};
    k_val worst = k_literal(b, h->type, h->worst), size = k_i64(b, h->round);
    k_val whole = k_let(b, OP_QUOT, h->p.count, size, 0), one = k_i64(b, 1);
    k_val final = k_let(b, OP_QUOT, sk_sub(lw, h->p.count, one), size, 0);
    for (unsigned c = 0; c < CHAINS; c++)
        n.chain[c] = k_decl(b, worst, "best");
    n.best = k_decl(b, worst, "best");
    n.round = k_decl(b, k_convert(b, OP_CONVERT, h->count_type, h->of.last ? final : k_i64(b, 0)), "round");
    k_val rest = k_let(b, OP_GE, final, whole, 0);
    if (!h->of.last)
        whole_rounds(h, &n, whole);
    k_if(b, rest);
    last_round(h, &n, whole);
    k_end(b);
    if (h->of.last)
        whole_rounds(h, &n, whole);
    k_val mine = k_get(b, n.best), best = of_all_lanes(h, mine, OP_NONE);
    k_val none = k_literal(b, h->count_type, h->of.last ? 0 : sk_worst_key(h->count_type, false));
    k_val round = k_select(b, k_let(b, OP_EQ, mine, best, 0), k_get(b, n.round), none);
    to_one(h, n.lane, h->key_at, best);
    to_one(h, n.lane, h->round_at, of_all_lanes(h, round, h->of.last ? OP_MAX : OP_MIN));
    k_end(b);
}

/* --- the place --- */

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
    k_set(b, place, k_select(b, hit, k_convert(b, OP_CONVERT, h->place_type, at), k_get(b, place)));
    k_end(b);
    k_end(b);
    k_val found = of_all_lanes(h, k_get(b, place), h->of.last ? OP_MAX : OP_MIN);
    k_val nowhere = k_let(b, OP_EQ, found, none, 0); /* nothing but NaNs: the first of them */
    to_one(h, lane, h->place_at, k_select(b, nowhere, k_literal(b, h->place_type, 0), found));
    k_end(b);
}

static void finish(choice *h)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1));
    uint32_t mark = sk_scope(lw);
    k_val *total = arena_alloc(lw->arena, h->f->n * sizeof(k_val)), around = lw->element;
    sk_fold_bind(s, h->p.row, sk_add(lw, sk_add(lw, h->p.begin, h->winner), lane));
    sk_emit(lw, h->f->n, h->f->element, total);
    lw->element = around;
    sk_fold_finish(s, h->f, h->p.row, k_piece(b), total, 0);
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
    h->winner = sk_add(lw, h->from, place);
}

/* Does the winner lose on its way through the tree? The total of what lies left of it in a pair is a NaN if its first
 * element is one, and stays; all else is no better. A lane looks at the pair of its number. */
static k_val loses(choice *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    enum { WIDTHS = 12 + SK_BLOCK_LOG }; /* of the nodes of a piece of SK_BLOCK * SK_PIECE elements */
    k_val nans = k_decl(b, k_i64(b, 0), "nans"), one = k_i64(b, 1);
    k_val lane = k_for_all(b, k_i64(b, h->lanes)), nan = k_decl(b, k_literal(b, T_BOOL, 0), "nan");
    k_val side = k_let(b, OP_BIT_AND, k_let(b, OP_SHR, h->winner, lane, 0), one, 0);
    k_if(b, k_let(b, OP_AND, k_let(b, OP_LT, lane, k_i64(b, WIDTHS), 0), k_let(b, OP_EQ, side, one, 0), 0));
    k_val above = sk_add(lw, lane, one), left = k_let(b, OP_SHL, k_let(b, OP_SHR, h->winner, above, 0), above, 0);
    k_val x = key(h, sk_add(lw, h->p.begin, left));
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
    block.totals = k_i64(b, 0);
    return block;
}

ir_type sk_unsigned_of(size_t bytes)
{
    return bytes == 1 ? T_U8 : bytes == 2 ? T_U16 : bytes == 4 ? T_U32 : T_U64;
}

/* Wide enough for a number of every round, and no narrower than keys. */
static ir_type round_type(const choice *h, int64_t piece)
{
    size_t bytes = ir_type_size(h->type);
    while (bytes < 8 && (piece / h->round) >> (8 * bytes))
        bytes *= 2;
    return sk_unsigned_of(bytes);
}

static void open_choice(choice *h, const sk_fold *f, int64_t piece)
{
    sk_lower *lw = h->s->lw;
    h->f = f;
    opt_find_choice(lw->l->ir, f->info->fn, &h->of);
    h->type = f->info->type[h->of.key];
    h->worst = sk_worst_key(h->type, h->of.greatest);
    h->round = ROUND * h->lanes;
    h->count_type = round_type(h, piece);
    h->place_type = h->type == T_F32 || h->type == T_F64 || ir_type_size(h->type) > 2 ? T_U32 : T_U16;
    h->key_at = k_shared(&lw->b, h->type, 1, "best_key");
    h->round_at = k_shared(&lw->b, h->count_type, 1, "round");
    h->place_at = k_shared(&lw->b, h->place_type, 1, "place");
}

sk_kernel *sk_build_choice(sk_folds *s, sk_reason *why)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    const l_cluster *c = lw->cluster;
    bool any = c->choice == L_CHOICE_FREE;
    int64_t piece = sk_choice_piece(c);
    s->lanes = any ? lw->options->vector_bytes / c->choice_bytes : sk_tree_of(c->wide).lanes;
    sk_fold_begin(s, "fold_choice");
    sk_fold_part part = sk_fold_part_of(s, piece);
    choice *h = arena_alloc(lw->arena, s->fold.n * sizeof(*h));
    k_val bound = 0; /* to the tree: bool */
    for (uint32_t i = 0; i < s->fold.n; i++) {
        h[i] = (choice){.s = s, .lanes = s->lanes, .p = part};
        open_choice(&h[i], &s->fold.at[i], piece);
        scan_piece(&h[i]);
        find_place(&h[i]);
        if (h[i].of.total)
            continue;
        k_val lost = loses(&h[i]);
        bound = bound ? k_let(b, OP_OR, bound, lost, 0) : lost;
    }
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
    *why = lw->why;
    return lw->why.text ? NULL : lw->out;
}
