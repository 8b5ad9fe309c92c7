/* Folds that choose one of their elements by its key, on devices whose blocks are many threads. A block has a piece of
 * the tree: neighbouring threads look at the keys of neighbouring elements, each keeps the best that it has seen and
 * its place, and of these the block keeps the best, of equals the first place or the last one; the element there is the
 * piece's. Where NaNs may make another one the result (docs/determinism.md), or no key is any better than the worst,
 * the piece is folded in order. */
#include "skeleton/fold/fold.h"

enum { THREADS = 128, TURNS = 8, SMALL = 64 };

typedef struct choice {
    const sk_fold *f;
    opt_choice of;
    ir_type type; /* of keys */
    k_val worst, none;
    k_mem keys, places; /* shared, of each thread; behind the scan [0] is the piece's */
    k_val best, place;  /* variables of a thread */
    k_val winner;       /* place within the piece */
} choice;

typedef struct choices {
    sk_folds *s;
    sk_fold_part p;
    uint32_t n;
    choice *at;
    bool bound;  /* some are bound to the order of the tree */
    k_mem order; /* shared: not 0 if the piece is folded in order */
} choices;

static k_val key_of(choices *all, const choice *h, k_val k)
{
    return sk_key_at(all->s, h->f, &h->of, all->p.row, k);
}

/* Is the key better than the best so far, or as good, where the last of equals is chosen? Not of a NaN. */
static k_val is_taken(k_builder *b, const choice *h, k_val key, k_val best)
{
    if (h->of.last)
        return k_let(b, h->of.greatest ? OP_GE : OP_LE, key, best, 0);
    return sk_key_beats(b, &h->of, key, best);
}

/* Element `at` of the piece. */
static void take(choices *all, k_val at)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val element = sk_add(lw, all->p.begin, at), place = k_convert(b, OP_CONVERT, T_I32, at);
    ir_id term[IR_MAX_COMPONENTS];
    k_val key[IR_MAX_COMPONENTS], around = lw->element;
    uint32_t mark = sk_scope(lw);
    for (uint32_t i = 0; i < all->n; i++)
        term[i] = all->at[i].f->element[all->at[i].of.key];
    sk_fold_bind(all->s, all->p.row, element);
    sk_emit(lw, all->n, term, key);
    for (uint32_t i = 0; i < all->n; i++) {
        choice *h = &all->at[i];
        k_val best = k_get(b, h->best), taken = is_taken(b, h, key[i], best);
        k_set(b, h->place, k_select(b, taken, place, k_get(b, h->place)));
        k_set(b, h->best, k_select(b, taken, key[i], best));
    }
    lw->element = around;
    sk_scope_end(lw, mark);
}

/* Rounds [from, to) of the piece, each a neighbour a thread; returns where it ended. */
static void rounds(choices *all, k_val thread, k_val from, k_val to)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val k = k_for(b, from, to, false);
    take(all, sk_add(lw, sk_mul(lw, k, k_i64(b, THREADS)), thread));
    k_end(b);
}

/* Several rounds at once, so that their reads are under way together; returns how many are done. */
static k_val rounds_in_turns(choices *all, k_val thread, k_val whole)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    if (lw->cluster->loop->flops > SMALL)
        return k_i64(b, 0);
    k_val turns = k_i64(b, TURNS), groups = k_let(b, OP_QUOT, whole, turns, 0);
    k_val first = sk_mul(lw, k_for(b, k_i64(b, 0), groups, false), turns);
    k_val k = sk_add(lw, first, k_for(b, k_i64(b, 0), turns, true));
    take(all, sk_add(lw, sk_mul(lw, k, k_i64(b, THREADS)), thread));
    k_end(b);
    k_end(b);
    return sk_mul(lw, groups, turns);
}

static void begin_thread(k_builder *b, choice *h)
{
    h->best = k_decl(b, h->worst, "best");
    h->place = k_decl(b, h->none, "place");
}

static void scan(choices *all)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), threads = k_i64(b, THREADS), whole = k_let(b, OP_QUOT, all->p.count, threads, 0);
    k_val thread = k_for_all(b, threads);
    for (uint32_t i = 0; i < all->n; i++)
        begin_thread(b, &all->at[i]);
    rounds(all, thread, rounds_in_turns(all, thread, whole), whole);
    k_val last = sk_add(lw, sk_mul(lw, whole, threads), thread);
    k_if(b, k_let(b, OP_LT, last, all->p.count, 0));
    take(all, last);
    k_end(b);
    for (uint32_t i = 0; i < all->n; i++) {
        k_store(b, all->at[i].keys, thread, k_get(b, all->at[i].best));
        k_store(b, all->at[i].places, thread, k_get(b, all->at[i].place));
    }
    if (all->order) {
        k_if(b, k_let(b, OP_EQ, thread, zero, 0));
        k_store(b, all->order, zero, k_literal(b, T_U32, 0));
        k_end(b);
    }
    k_end(b);
}

/* The thread's variables become those given, if they are better. */
static void keep_better(k_builder *b, choice *h, k_val key, k_val place)
{
    k_val best = k_get(b, h->best), own = k_get(b, h->place);
    k_val equal = k_let(b, OP_EQ, key, best, 0), before = k_let(b, h->of.last ? OP_GT : OP_LT, place, own, 0);
    k_val taken = k_let(b, OP_OR, sk_key_beats(b, &h->of, key, best), k_let(b, OP_AND, equal, before, 0), 0);
    k_set(b, h->best, k_select(b, taken, key, best));
    k_set(b, h->place, k_select(b, taken, place, own));
}

static void load_thread(choice *h, k_builder *b, k_val at)
{
    h->best = k_decl(b, k_load(b, h->keys, at), "best");
    h->place = k_decl(b, k_load(b, h->places, at), "place");
}

static void store_thread(choice *h, k_builder *b, k_val at)
{
    k_store(b, h->keys, at, k_get(b, h->best));
    k_store(b, h->places, at, k_get(b, h->place));
}

/* Halves of the threads' are combined until one is left. */
static void combine_halves(choices *all)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    for (int64_t half = THREADS / 2; half; half /= 2) {
        k_val thread = k_for_all(b, k_i64(b, half)), other = sk_add(lw, thread, k_i64(b, half));
        for (uint32_t i = 0; i < all->n; i++) {
            choice *h = &all->at[i];
            load_thread(h, b, thread);
            keep_better(b, h, k_load(b, h->keys, other), k_load(b, h->places, other));
            store_thread(h, b, thread);
        }
        k_end(b);
    }
}

/* A lane of a gang takes what several threads have found, and exchanges it with the others. */
static void combine_in_gang(choices *all, int64_t lanes)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_all(b, k_i64(b, lanes));
    for (uint32_t i = 0; i < all->n; i++) {
        choice *h = &all->at[i];
        load_thread(h, b, lane);
        for (int64_t from = lanes; from < THREADS; from += lanes) {
            k_val other = sk_add(lw, lane, k_i64(b, from));
            keep_better(b, h, k_load(b, h->keys, other), k_load(b, h->places, other));
        }
        for (int64_t distance = lanes / 2; distance; distance /= 2) {
            k_val key = k_shuffle(b, k_get(b, h->best), distance);
            keep_better(b, h, key, k_shuffle(b, k_get(b, h->place), distance));
        }
    }
    k_if(b, k_let(b, OP_EQ, lane, k_i64(b, 0), 0));
    for (uint32_t i = 0; i < all->n; i++)
        store_thread(&all->at[i], b, lane);
    k_end(b);
    k_end(b);
}

/* Does the winner lose on its way through the tree? Where NaNs stay, the total of what lies left of it in a pair is a
 * NaN if its first element is one; where they are taken, that of what lies right of it if its last one is. All else is
 * no better. A thread looks at the pair of its number. */
static void ask_order(choices *all, choice *h)
{
    enum { WIDTHS = 12 }; /* of the nodes of a piece */
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), width = k_for_all(b, k_i64(b, WIDTHS));
    k_val found = k_let(b, OP_NE, k_load(b, h->places, zero), h->none, 0);
    k_val lost = k_decl(b, k_let(b, OP_NOT, found, 0, 0), "lost");
    k_val number = k_let(b, OP_SHR, h->winner, width, 0), wide = k_let(b, OP_SHL, one, width, 0);
    k_val mine = k_let(b, OP_SHL, number, width, 0), side = k_let(b, OP_BIT_AND, number, one, 0);
    k_val first = sk_sub(lw, mine, wide), next = sk_add(lw, mine, wide), there = k_let(b, OP_EQ, side, one, 0);
    if (h->of.nan == OPT_NAN_TAKES) {
        there = k_let(b, OP_AND, k_let(b, OP_EQ, side, zero, 0), k_let(b, OP_LT, next, all->p.count, 0), 0);
        first = sk_sub(lw, sk_min(lw, all->p.count, sk_add(lw, next, wide)), one);
    }
    if (h->of.nan != OPT_NAN_LOSES) {
        k_if(b, k_let(b, OP_AND, found, there, 0));
        k_val x = key_of(all, h, sk_add(lw, all->p.begin, first));
        k_set(b, lost, k_let(b, OP_NE, x, x, 0));
        k_end(b);
    }
    k_if(b, k_get(b, lost));
    k_atomic(b, OP_BIT_OR, all->order, zero, k_literal(b, T_U32, 1));
    k_end(b);
    k_end(b);
}

/* Where no integer is any better than the worst there is, all are alike. */
static void find_winner(choices *all, choice *h)
{
    sk_lower *lw = all->s->lw;
    k_builder *b = &lw->b;
    k_val place = k_load(b, h->places, k_i64(b, 0));
    k_val first = k_literal(b, T_I32, 0);
    h->winner = k_convert(b, OP_CONVERT, T_I64, k_select(b, k_let(b, OP_EQ, place, h->none, 0), first, place));
}

static void finish(choices *all, choice *h)
{
    sk_folds *s = all->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val total[IR_MAX_COMPONENTS], around = lw->element, lane = k_for_few(b, k_i64(b, 1));
    uint32_t mark = sk_scope(lw);
    sk_fold_bind(s, all->p.row, sk_add(lw, sk_add(lw, all->p.begin, h->winner), lane));
    sk_emit(lw, h->f->n, h->f->element, total);
    lw->element = around;
    sk_fold_finish(s, h->f, all->p.row, k_piece(b), total, 0, NULL);
    sk_scope_end(lw, mark);
    k_end(b);
}

static void open_choice(choices *all, choice *h, const sk_fold *f)
{
    k_builder *b = &all->s->lw->b;
    h->f = f;
    h->of = sk_choice_of(all->s, f);
    h->type = (ir_type)f->info->type[h->of.key];
    h->worst = k_literal(b, h->type, sk_worst_key(h->type, h->of.greatest));
    h->none = k_literal(b, T_I32, ir_bits_i64(T_I32, h->of.last ? -1 : INT32_MAX));
    h->keys = k_shared(b, h->type, THREADS, "best_key");
    h->places = k_shared(b, T_I32, THREADS, "place");
    all->bound |= ir_type_float(h->type);
}

void sk_build_group_choice(sk_lower *lw)
{
    sk_folds s = {.lw = lw};
    sk_fold_begin(&s);
    k_builder *b = &lw->b;
    choices all = {.s = &s, .n = s.fold.n};
    all.at = arena_array(lw->arena, *all.at, all.n);
    lw->out->k->group = THREADS;
    const int64_t gang = lw->options->gang > 1 && lw->options->gang <= THREADS ? lw->options->gang : 0;
    if (gang)
        lw->out->k->lanes = (uint16_t)gang;
    all.p = sk_fold_part_of(&s, SK_PIECE);
    for (uint32_t i = 0; i < all.n; i++)
        open_choice(&all, &all.at[i], &s.fold.at[i]);
    all.order = all.bound ? k_shared(b, T_U32, 1, "in_order") : 0;
    scan(&all);
    if (gang)
        combine_in_gang(&all, gang);
    else
        combine_halves(&all);
    for (uint32_t i = 0; i < all.n; i++) {
        find_winner(&all, &all.at[i]);
        if (ir_type_float(all.at[i].type))
            ask_order(&all, &all.at[i]);
    }
    if (all.bound) {
        k_if(b, k_let(b, OP_NE, k_load(b, all.order, k_i64(b, 0)), k_literal(b, T_U32, 0), 0));
        uint32_t mark = sk_scope(lw);
        sk_group_walk(&s);
        sk_scope_end(lw, mark);
        k_else(b);
    }
    for (uint32_t i = 0; i < all.n; i++)
        finish(&all, &all.at[i]);
    if (all.bound)
        k_end(b);
}
