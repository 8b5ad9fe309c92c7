/* Row loops on devices whose blocks are many threads: all threads of a block walk along a row together. What sweeps
 * read several times, or compute for later ones, waits in shared memory where the row is short enough.
 *
 * A sweep goes from tile to tile, a tile being some pieces of the row (one where there are scans), with as many threads
 * a piece as it has accumulators: a thread has the positions of one of these, in ascending order, so neighbours read
 * neighbours, and folds stay in registers. Scans take a piece in four steps: elements go to shared memory; a thread
 * makes prefixes of some neighbours; the totals of these become those of gangs, and what gangs begin with; then each
 * position gets its result from its own prefix and at most three values besides. The order is that of
 * docs/determinism.md. */
#include "skeleton/extents.h"
#include "skeleton/row/row.h"

enum {
    PIECE_THREADS = ROW_SUMS,
    ROUNDS = ROW_PIECE / PIECE_THREADS, /* of a whole piece, */
    TURNS = 8,
    SOME_TURNS = 4, /* ... that many at once, so that their reads are under way together */
    SMALL = 64,     /* operations of an element whose code may be repeated */
    STRETCH = 16,   /* neighbours whose prefixes a thread makes */
    STRETCHES = ROW_PIECE / STRETCH,
    A_GANG = ROW_GANG / STRETCH, /* stretches of it */
    GANGS = ROW_PIECE / ROW_GANG,
    LANES = GANGS / 2, /* that make the total of a piece, of two gangs each */
    CHAIN_TURNS = 8,
    MOST_TILE = 4,        /* pieces */
    MOST_OPERATIONS = 12, /* of the operators of scans: a thread has the code of one some dozens of times */
    KEPT_UNIT = 1024,     /* elements; what is kept has room for so many, or a multiple */
    ROW_KEPT = 8          /* bit of sk_geometry.row from which on that multiple is; before it pieces of a tile */
};

typedef struct scanned { /* of a scan, per component */
    k_mem *element;      /* of a piece: elements, then prefixes within stretches */
    k_mem *stretch;      /* totals; of the second stretch of a gang that of the first two */
    k_mem *gang, *carry; /* totals; what comes before */
    k_mem *total;        /* of the piece */
} scanned;

typedef struct threads {
    row_loop *r;
    int64_t tile;      /* pieces */
    scanned *scan;     /* per part */
    k_mem **sums;      /* per part, folds: accumulators of a tile */
    k_mem **total;     /* ... those of pieces */
    k_val pieces;      /* of the row */
    k_val first, here; /* of the tile at hand: its first piece, and positions in that */
} threads;

typedef struct walk { /* over a tile, by the thread at hand */
    threads *t;
    uint8_t sweep;
    bool late; /* what depends on results of scans, and these; else the rest */
    sk_folds s;
    uint32_t *part; /* per fold */
    k_val **acc;
    k_val thread, lane; /* in its piece */
    k_val begin, count; /* of the piece; behind the end of the row there is nothing in it */
} walk;

/* --- what takes part --- */

static bool in_sweep(const row_part *p, l_kind kind, uint8_t sweep)
{
    return p->op->kind == kind && p->op->sweep == sweep && !p->op->outer;
}

static bool takes_part(const row_part *p, uint8_t sweep, bool late)
{
    return (in_sweep(p, L_ELEMENT, sweep) || in_sweep(p, L_FOLD, sweep)) && p->behind == late;
}

static bool has_scans(const row_loop *r, uint8_t sweep)
{
    for (uint32_t i = 0; i < r->part.n; i++)
        if (in_sweep(&r->part.at[i], L_SCAN, sweep))
            return true;
    return false;
}

static bool has_work(const row_loop *r, uint8_t sweep, bool late)
{
    for (uint32_t i = 0; i < r->part.n; i++)
        if (takes_part(&r->part.at[i], sweep, late) || in_sweep(&r->part.at[i], L_SCAN, sweep))
            return true;
    return false;
}

/* --- a position --- */

/* Stretches are one element apart, so that neighbouring ones begin in different banks. */
static k_val padded(sk_lower *lw, k_val at)
{
    return sk_add(lw, at, k_let(&lw->b, OP_QUOT, at, k_i64(&lw->b, STRETCH), 0));
}

static void where(row_loop *r, const row_part *p, k_val holds, const k_val *first, k_val *x)
{
    k_val *out = row_values(r, p);
    row_apply(r, p, first, x, out);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = k_select(&r->lw->b, holds, out[c], x[c]);
}

static k_val has_bit(k_builder *b, k_val x, int64_t bit)
{
    return k_let(b, OP_NE, k_let(b, OP_BIT_AND, x, k_i64(b, bit), 0), k_i64(b, 0), 0);
}

/* The result of a scan at position `at` of the piece. */
static void bind_result(threads *t, uint32_t i, k_val at)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const row_part *p = &r->part.at[i];
    const scanned *x = &t->scan[i];
    const bool exclusive = ir_at(lw->l->ir, p->op->term)->flags & IR_EXCLUSIVE;
    k_val one = k_i64(b, 1), zero = k_i64(b, 0), gang = k_let(b, OP_QUOT, at, k_i64(b, ROW_GANG), 0);
    k_val from = exclusive ? sk_max(lw, sk_sub(lw, at, one), zero) : at;
    k_val stretch = k_let(b, OP_QUOT, from, k_i64(b, STRETCH), 0);
    k_val second = k_let(b, OP_BIT_OR, k_let(b, OP_BIT_AND, stretch, k_i64(b, -A_GANG), 0), one, 0);
    k_val *v = row_load(r, p, x->element, padded(lw, from), NULL), *carry = row_load(r, p, x->carry, gang, NULL);
    where(r, p, has_bit(b, stretch, 1),
          row_load(r, p, x->stretch, k_let(b, OP_BIT_AND, stretch, k_i64(b, -2), 0), NULL), v);
    where(r, p, has_bit(b, stretch, 2), row_load(r, p, x->stretch, second, NULL), v);
    k_val has = p->has_state ? k_let(b, OP_OR, p->has_state, k_let(b, OP_GT, gang, zero, 0), 0) : 0;
    if (has) {
        where(r, p, has, carry, v);
    } else {
        k_val *out = row_values(r, p);
        row_apply(r, p, carry, v, out);
        v = out;
    }
    k_val begins = k_let(b, OP_EQ, k_let(b, OP_BIT_AND, at, k_i64(b, ROW_GANG - 1), 0), zero, 0);
    for (uint32_t c = 0; c < p->n; c++)
        sk_bind(lw, p->given[c], exclusive ? k_select(b, begins, carry[c], v[c]) : v[c]);
}

static void store_element(row_loop *r, const row_part *p, const k_val *value)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_store(&r->lw->b, sk_array_memory(r->lw, p->op->term, c, true), r->lw->element, value[c]);
}

/* Position number `at` of the piece. `started`: the accumulators have received something. */
static void position(walk *w, k_val at, k_val started)
{
    threads *t = w->t;
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    uint32_t mark = sk_scope(lw), fold = 0;
    k_val around = lw->element, j = sk_add(lw, w->begin, at);
    VEC(ir_id) term = {0};
    row_bind(r, j);
    row_use_kept(r, w->sweep, j);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        const bool scan = in_sweep(p, L_SCAN, w->sweep);
        if (scan && w->late)
            bind_result(t, i, at);
        for (uint32_t c = 0; (scan ? !w->late : takes_part(p, w->sweep, w->late)) && c < row_terms(p); c++)
            vec_push(lw->arena, &term, p->element[c]);
    }
    k_val *value = arena_array(lw->arena, k_val, term.n + 1), *next = value;
    if (term.n)
        sk_emit(lw, term.n, term.at, value);
    row_keep(r, w->sweep, j);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (in_sweep(p, L_SCAN, w->sweep) && w->late) {
            k_val *x = row_values(r, p);
            for (uint32_t c = 0; c < p->n; c++)
                x[c] = sk_known(lw, p->given[c]);
            if (p->op->stored)
                store_element(r, p, x);
            continue;
        }
        if (in_sweep(p, L_SCAN, w->sweep))
            row_store(r, p, t->scan[i].element, padded(lw, at), next);
        else if (!takes_part(p, w->sweep, w->late))
            continue;
        else if (p->op->kind == L_ELEMENT)
            store_element(r, p, next);
        else {
            sk_fold_take(&w->s, &w->s.fold.at[fold], next, started, w->acc[fold]);
            fold++;
        }
        next += row_terms(p);
    }
    lw->element = around;
    sk_scope_end(lw, mark);
}

/* --- a tile --- */

static void find_folds(walk *w)
{
    row_loop *r = w->t->r;
    w->s = (sk_folds){.lw = r->lw, .neutral = true};
    w->part = arena_array(r->lw->arena, *w->part, r->part.n + 1);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_FOLD, w->sweep) || p->behind != w->late)
            continue;
        w->part[w->s.fold.n] = i;
        vec_push(r->lw->arena, &w->s.fold, p->fold);
        w->s.neutral &= p->fold.identity != NULL;
    }
}

static k_val round_at(const walk *w, k_val round)
{
    sk_lower *lw = w->t->r->lw;
    return sk_add(lw, sk_mul(lw, round, k_i64(&lw->b, PIECE_THREADS)), w->lane);
}

static void turns_from(walk *w, k_val round, int64_t turns)
{
    sk_lower *lw = w->t->r->lw;
    k_builder *b = &lw->b;
    k_val turn = k_for(b, k_i64(b, 0), k_i64(b, turns), true), at = sk_add(lw, round, turn);
    position(w, round_at(w, at), k_let(b, OP_GT, at, k_i64(b, 0), 0));
    k_end(b);
}

/* Rounds [from, to), whose last one may end within the piece. */
static void last_rounds(walk *w, k_val from, k_val to)
{
    sk_lower *lw = w->t->r->lw;
    k_builder *b = &lw->b;
    k_val round = k_for(b, from, to, false), at = round_at(w, round);
    k_if(b, k_let(b, OP_LT, at, w->count, 0));
    position(w, at, k_let(b, OP_GT, round, k_i64(b, 0), 0));
    k_end(b);
    k_end(b);
}

/* All positions of the thread. Whether a piece has whole turns is the same for its threads, which are gangs. */
static void all_rounds(walk *w)
{
    sk_lower *lw = w->t->r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), size = k_i64(b, PIECE_THREADS);
    k_val rounds = k_let(b, OP_QUOT, sk_add(lw, w->t->here, k_i64(b, PIECE_THREADS - 1)), size, 0);
    if (lw->cluster->loop->flops > SMALL) {
        last_rounds(w, zero, rounds);
        return;
    }
    k_val turns = k_i64(b, TURNS), some = k_i64(b, SOME_TURNS);
    k_val groups = k_let(b, OP_QUOT, sk_add(lw, rounds, k_i64(b, TURNS - 1)), turns, 0);
    k_val group = k_for(b, zero, groups, false), first = sk_mul(lw, group, turns), end = sk_add(lw, first, turns);
    k_if(b, k_let(b, OP_LE, sk_mul(lw, end, size), w->count, 0));
    turns_from(w, first, TURNS);
    k_else(b);
    k_val half = k_let(b, OP_LE, sk_mul(lw, sk_add(lw, first, some), size), w->count, 0);
    k_if(b, half);
    turns_from(w, first, SOME_TURNS);
    k_end(b);
    k_val turn = k_for(b, zero, turns, false), round = sk_add(lw, first, turn), at = round_at(w, round);
    k_val left = k_let(b, OP_OR, k_let(b, OP_NOT, half, 0, 0), k_let(b, OP_GE, turn, some, 0), 0);
    k_if(b, k_let(b, OP_AND, left, k_let(b, OP_LT, at, w->count, 0), 0));
    position(w, at, k_let(b, OP_GT, round, zero, 0));
    k_end(b);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* Which piece of the tile a thread of `each` a piece is at, and its number there. */
static k_val piece_of(const threads *t, k_val thread, int64_t each, k_val *lane)
{
    sk_lower *lw = t->r->lw;
    *lane = thread;
    if (t->tile == 1)
        return k_i64(&lw->b, 0);
    k_val of = k_i64(&lw->b, each), piece = k_let(&lw->b, OP_QUOT, thread, of, 0);
    *lane = sk_sub(lw, thread, sk_mul(lw, piece, of));
    return piece;
}

static k_val count_of(const threads *t, k_val piece)
{
    sk_lower *lw = t->r->lw;
    k_builder *b = &lw->b;
    k_val begin = sk_mul(lw, sk_add(lw, t->first, piece), k_i64(b, ROW_PIECE));
    return sk_max(lw, sk_min(lw, sk_sub(lw, t->r->length, begin), k_i64(b, ROW_PIECE)), k_i64(b, 0));
}

static void walk_tile(threads *t, uint8_t sweep, bool late)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    walk w = {.t = t, .sweep = sweep, .late = late};
    find_folds(&w);
    w.thread = k_for_all(b, k_i64(b, t->tile * PIECE_THREADS));
    uint32_t mark = sk_scope(lw);
    k_val piece = piece_of(t, w.thread, PIECE_THREADS, &w.lane);
    w.begin = sk_mul(lw, sk_add(lw, t->first, piece), k_i64(b, ROW_PIECE));
    w.count = count_of(t, piece);
    w.acc = sk_fold_accumulators(&w.s);
    all_rounds(&w);
    for (uint32_t f = 0; f < w.s.fold.n; f++)
        for (uint32_t c = 0; c < w.s.fold.at[f].n; c++)
            k_store(b, t->sums[w.part[f]][c], w.thread, k_get(b, w.acc[f][c]));
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- folds --- */

/* m[at] = m[at] (+) m[from] where `holds` */
static void meet(row_loop *r, const row_part *p, const k_mem *m, k_val holds, k_val at, k_val from)
{
    k_val *out = row_values(r, p);
    k_if(&r->lw->b, holds);
    sk_fold_apply(r->lw, &p->fold, row_load(r, p, m, at, NULL), row_load(r, p, m, from, NULL), out);
    row_store(r, p, m, at, out);
    k_end(&r->lw->b);
}

/* Accumulators of a tile's pieces become one of each; those of one piece if `valid` of them are given. */
static void halves(threads *t, k_mem **memory, const bool *folds, k_val valid)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    for (int64_t half = ROW_SUMS / 2; half >= 1; half /= 2) {
        k_val thread = k_for_all(b, k_i64(b, valid ? half : half * t->tile)), lane = thread, at = thread;
        k_val there = valid;
        if (!valid) {
            k_val piece = piece_of(t, thread, half, &lane);
            at = sk_add(lw, sk_mul(lw, piece, k_i64(b, ROW_SUMS)), lane);
            there = count_of(t, piece);
        }
        k_val holds = k_let(b, OP_LT, sk_add(lw, lane, k_i64(b, half)), there, 0);
        for (uint32_t i = 0; i < r->part.n; i++)
            if (folds[i])
                meet(r, &r->part.at[i], memory[i], holds, at, sk_add(lw, at, k_i64(b, half)));
        k_end(b);
    }
}

/* What pieces have come to are the elements of a row of their own. */
static void keep_totals(threads *t, const bool *folds)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val q = k_for_all(b, k_i64(b, t->tile)), piece = sk_add(lw, t->first, q), sums = k_i64(b, ROW_SUMS);
    k_if(b, k_let(b, OP_LT, piece, t->pieces, 0));
    k_val slot = k_let(b, OP_REM, piece, sums, 0), from = sk_mul(lw, q, sums);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!folds[i])
            continue;
        k_val *x = row_variables(r, p, row_load(r, p, t->sums[i], from, NULL), "x"), *out = row_values(r, p);
        k_if(b, k_let(b, OP_GE, piece, sums, 0));
        sk_fold_apply(lw, &p->fold, row_load(r, p, t->total[i], slot, NULL), row_get(r, p, x, NULL), out);
        row_set(r, p, x, out);
        k_end(b);
        row_store(r, p, t->total[i], slot, row_get(r, p, x, NULL));
    }
    k_end(b);
    k_end(b);
}

static void from_left(threads *t, const bool *folds)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), lane = k_for_few(b, k_i64(b, 1));
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!folds[i])
            continue;
        k_val *x = row_variables(r, p, row_load(r, p, t->total[i], lane, NULL), "x"), *out = row_values(r, p);
        k_val j = k_for(b, k_i64(b, 1), t->pieces, false);
        sk_fold_apply(lw, &p->fold, row_get(r, p, x, NULL), row_load(r, p, t->total[i], sk_add(lw, j, zero), NULL),
                      out);
        row_set(r, p, x, out);
        k_end(b);
        row_store(r, p, t->total[i], lane, row_get(r, p, x, NULL));
    }
    k_end(b);
}

static void finish_folds(threads *t, const bool *folds)
{
    row_loop *r = t->r;
    k_builder *b = &r->lw->b;
    k_if(b, k_let(b, OP_LE, t->pieces, k_i64(b, SK_SHORT), 0));
    k_if(b, k_let(b, OP_GT, t->pieces, k_i64(b, 1), 0));
    from_left(t, folds);
    k_end(b);
    k_else(b);
    halves(t, t->total, folds, sk_min(r->lw, t->pieces, k_i64(b, ROW_SUMS)));
    k_end(b);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (folds[i])
            row_finish_fold(r, &r->part.at[i], r->row, row_load(r, &r->part.at[i], t->total[i], k_i64(b, 0), NULL));
}

/* --- scans --- */

/* Sklansky's construction, as far as it goes in a stretch. */
static void prefixes(row_loop *r, const row_part *p, const scanned *m, k_val thread)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x[STRETCH], first = sk_mul(lw, thread, k_i64(b, STRETCH + 1));
    for (int64_t i = 0; i < STRETCH; i++)
        x[i] = row_load(r, p, m->element, sk_add(lw, first, k_i64(b, i)), NULL);
    for (int64_t half = 1; half < STRETCH; half *= 2)
        for (int64_t i = 0; i < STRETCH; i++)
            if (i & half) {
                k_val *out = row_values(r, p);
                row_apply(r, p, x[(i & -2 * half) + half - 1], x[i], out);
                x[i] = out;
            }
    for (int64_t i = 0; i < STRETCH; i++)
        row_store(r, p, m->element, sk_add(lw, first, k_i64(b, i)), x[i]);
    row_store(r, p, m->stretch, thread, x[STRETCH - 1]);
}

static void gang_totals(row_loop *r, const row_part *p, const scanned *m, k_val gang)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val first = sk_mul(lw, gang, k_i64(b, A_GANG)), second = sk_add(lw, first, k_i64(b, 1));
    k_val *left = row_values(r, p), *right = row_values(r, p), *all = row_values(r, p), *x[A_GANG];
    for (int64_t i = 0; i < A_GANG; i++)
        x[i] = row_load(r, p, m->stretch, sk_add(lw, first, k_i64(b, i)), NULL);
    row_apply(r, p, x[0], x[1], left);
    row_apply(r, p, x[2], x[3], right);
    row_apply(r, p, left, right, all);
    row_store(r, p, m->stretch, second, left);
    row_store(r, p, m->gang, gang, all);
}

/* The total of the piece, which matters if it is a whole one. */
static void piece_total(row_loop *r, const row_part *p, const scanned *m, k_val lane)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val first = sk_add(lw, lane, lane), *x = row_values(r, p);
    row_apply(r, p, row_load(r, p, m->gang, first, NULL), row_load(r, p, m->gang, sk_add(lw, first, k_i64(b, 1)), NULL),
              x);
    for (int64_t distance = 1; distance < LANES; distance *= 2) {
        k_val *right = row_values(r, p), *out = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            right[c] = k_shuffle(b, x[c], distance);
        row_apply(r, p, x, right, out);
        x = out;
    }
    k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
    row_store(r, p, m->total, lane, x);
    k_end(b);
}

/* What each gang begins with, from left to right. */
static void carries(row_loop *r, const row_part *p, const scanned *m, k_val groups)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *carry = row_variables(r, p, p->state, "carry"),
          has = p->has_state ? k_decl(b, p->has_state, "has_carry") : 0;
    k_val first = sk_mul(lw, k_for(b, k_i64(b, 0), groups, false), k_i64(b, CHAIN_TURNS));
    k_val gang = sk_add(lw, first, k_for(b, k_i64(b, 0), k_i64(b, CHAIN_TURNS), true));
    k_val *x = row_get(r, p, carry, NULL), *total = row_load(r, p, m->gang, gang, NULL), *out = row_values(r, p);
    row_store(r, p, m->carry, gang, x);
    row_apply(r, p, x, total, out);
    for (uint32_t c = 0; c < p->n && has; c++)
        out[c] = k_select(b, k_get(b, has), out[c], total[c]);
    row_set(r, p, carry, out);
    if (has)
        k_set(b, has, k_literal(b, T_BOOL, 1));
    k_end(b);
    k_end(b);
}

typedef void scan_code(row_loop *r, const row_part *p, const scanned *m, k_val thread);

static void for_scans(threads *t, uint8_t sweep, k_val thread, scan_code *code)
{
    for (uint32_t i = 0; i < t->r->part.n; i++)
        if (in_sweep(&t->r->part.at[i], L_SCAN, sweep))
            code(t->r, &t->r->part.at[i], &t->scan[i], thread);
    k_end(&t->r->lw->b);
}

static void scan_piece(threads *t, uint8_t sweep)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), size = k_i64(b, ROW_GANG * CHAIN_TURNS);
    k_val groups = k_let(b, OP_QUOT, sk_add(lw, t->here, k_i64(b, ROW_GANG * CHAIN_TURNS - 1)), size, 0);
    for_scans(t, sweep, k_for_all(b, k_i64(b, STRETCHES)), prefixes);
    for_scans(t, sweep, k_for_all(b, k_i64(b, GANGS)), gang_totals);
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (in_sweep(p, L_SCAN, sweep))
            row_state_before(r, p, t->first, row_load(r, p, p->window, zero, NULL),
                             row_load(r, p, p->in_window, zero, NULL));
    }
    for_scans(t, sweep, k_for_all(b, k_i64(b, LANES)), piece_total);
    k_for_few(b, k_i64(b, 1));
    for_scans(t, sweep, groups, carries);
}

/* The states behind the piece. */
static void advance_states(threads *t, uint8_t sweep)
{
    row_loop *r = t->r;
    k_builder *b = &r->lw->b;
    k_val zero = k_i64(b, 0);
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_SCAN, sweep))
            continue;
        k_val *window = row_load(r, p, p->window, zero, NULL), *in_window = row_load(r, p, p->in_window, zero, NULL);
        row_state_after(r, p, t->first, window, in_window, row_load(r, p, t->scan[i].total, zero, NULL));
        k_val lane = k_for_few(b, k_i64(b, 1));
        row_store(r, p, p->window, lane, window);
        row_store(r, p, p->in_window, lane, in_window);
        k_end(b);
    }
}

static void begin_states(threads *t, uint8_t sweep)
{
    row_loop *r = t->r;
    k_builder *b = &r->lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1));
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_SCAN, sweep))
            continue;
        k_val *first = row_first_state(r, p);
        for (uint32_t c = 0; c < p->n; c++) {
            k_val nothing = k_literal(b, p->fold.info->type[c], 0);
            k_store(b, p->window[c], lane, first ? first[c] : nothing);
            k_store(b, p->in_window[c], lane, nothing);
        }
    }
    k_end(b);
}

/* --- a row --- */

static void fold_tile(threads *t, uint8_t sweep, bool late, bool *folds)
{
    bool any = false;
    for (uint32_t i = 0; i < t->r->part.n; i++) {
        folds[i] = in_sweep(&t->r->part.at[i], L_FOLD, sweep) && t->r->part.at[i].behind == late;
        any |= folds[i];
    }
    if (!any)
        return;
    halves(t, t->sums, folds, 0);
    keep_totals(t, folds);
}

static void walk_sweep(threads *t, uint8_t sweep)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const bool scans = has_scans(r, sweep);
    bool any = false, *folds = arena_alloc(lw->arena, r->part.n + 1);
    if (scans)
        begin_states(t, sweep);
    k_val tile = k_i64(b, t->tile), most = sk_add(lw, t->pieces, k_i64(b, t->tile - 1));
    k_val number = k_for(b, k_i64(b, 0), k_let(b, OP_QUOT, most, tile, 0), false);
    uint32_t mark = sk_scope(lw);
    t->first = sk_mul(lw, number, tile);
    t->here = count_of(t, k_i64(b, 0));
    lw->element = r->row;
    if (has_work(r, sweep, false))
        walk_tile(t, sweep, false);
    fold_tile(t, sweep, false, folds);
    if (scans) {
        scan_piece(t, sweep);
        walk_tile(t, sweep, true);
        fold_tile(t, sweep, true, folds);
        k_if(b, k_let(b, OP_LT, sk_add(lw, t->first, k_i64(b, 1)), t->pieces, 0));
        advance_states(t, sweep);
        k_end(b);
    }
    sk_scope_end(lw, mark);
    k_end(b);
    for (uint32_t i = 0; i < r->part.n; i++) {
        folds[i] = in_sweep(&r->part.at[i], L_FOLD, sweep);
        any |= folds[i];
    }
    if (any)
        finish_folds(t, folds);
}

/* --- memory --- */

static void declare(threads *t, row_part *p, uint32_t i)
{
    row_loop *r = t->r;
    if (p->op->kind == L_FOLD) {
        row_declare_fold(r, p);
        t->sums[i] = row_cells(r, p, t->tile * ROW_SUMS, "sums");
        t->total[i] = row_cells(r, p, ROW_SUMS, "totals");
    }
    if (p->op->kind == L_FOLD || p->op->outer)
        p->cell = row_cells(r, p, 1, "row_value");
    if (p->op->kind != L_SCAN)
        return;
    p->window = row_cells(r, p, 1, "window");
    p->in_window = row_cells(r, p, 1, "in_window");
    t->scan[i] = (scanned){.element = row_cells(r, p, ROW_PIECE + STRETCHES, "prefix"),
                           .stretch = row_cells(r, p, STRETCHES, "stretch"),
                           .gang = row_cells(r, p, GANGS, "gang"),
                           .carry = row_cells(r, p, GANGS, "carry"),
                           .total = row_cells(r, p, 1, "total")};
}

static void declare_kept(row_loop *r, int64_t length)
{
    if (!length)
        return;
    row_find_kept(r);
    uint32_t *of = arena_array(r->lw->arena, *of, r->keeps.n + 1);
    row_share_kept(r, of);
    for (uint32_t i = 0; i < r->keeps.n; i++) {
        ir_type type = (ir_type)ir_at(r->lw->l->ir, r->keeps.at[i].term)->type;
        r->keeps.at[i].memory = of[i] == i ? k_shared(&r->lw->b, type, length, "waiting") : r->keeps.at[of[i]].memory;
    }
    r->keeping = true;
}

/* slots: 0 row length. A block takes a row. */
void sk_build_group_row(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    row_loop loop = {.lw = lw}, *r = &loop;
    threads *t = arena_new(lw->arena, *t);
    *t = (threads){.r = r, .tile = larger(1, lw->options->row & ((1 << ROW_KEPT) - 1))};
    if (!c->by_threads) {
        lw->why.text = "threads of a block do not walk along these rows";
        return;
    }
    row_begin(r, LANES);
    k_builder *b = &lw->b;
    lw->out->k->group = (uint16_t)smaller(lw->options->group, t->tile * PIECE_THREADS);
    row_declare_results(r);
    t->scan = arena_array(lw->arena, *t->scan, r->part.n + 1);
    t->sums = arena_array(lw->arena, *t->sums, r->part.n + 1);
    t->total = arena_array(lw->arena, *t->total, r->part.n + 1);
    for (uint32_t i = 0; i < r->part.n; i++)
        declare(t, &r->part.at[i], i);
    declare_kept(r, (lw->options->row >> ROW_KEPT) * KEPT_UNIT);
    r->length = sk_slot(lw, 0, "row_length");
    t->pieces = k_let(b, OP_QUOT, sk_add(lw, r->length, k_i64(b, ROW_PIECE - 1)), k_i64(b, ROW_PIECE), 0);
    row_bind_row(r, k_piece(b));
    const uint8_t sweeps = c->loop->sweeps;
    for (uint8_t sweep = 0; sweep < sweeps; sweep++) {
        row_bind_cells(r, sweep);
        row_outer_members(r, sweep, true);
        if (row_has_positions(r, sweep))
            walk_sweep(t, sweep);
    }
    row_bind_cells(r, sweeps);
    row_outer_members(r, sweeps, true);
}

/* --- launches --- */

static uint32_t operations(const row_loop *r, const row_part *p)
{
    ir_program *ir = r->lw->l->ir;
    opt_ids ids = {0};
    uint32_t n = 0;
    opt_reach(ir, r->lw->arena, p->fold.info->fn->results, p->fold.info->fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(ir, ids.at[i]);
        if (t->kind == IR_LOOP || (t->kind == IR_OP && ir_ops[t->op].flags & OP_MATH))
            return UINT32_MAX;
        n += t->kind == IR_OP;
    }
    return n;
}

void row_find_threads(row_loop *r, sk_cluster *c)
{
    size_t bytes = 0;
    c->by_threads = !c->loop->behind;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        bytes = 0;
        for (uint32_t k = 0; k < p->n; k++)
            bytes += ir_type_size(p->fold.info->type[k]);
        if (p->op->kind == L_FOLD)
            c->thread_folded += bytes;
        if (p->op->kind == L_SCAN)
            c->thread_scanned += bytes;
        c->by_threads &= p->op->kind == L_ELEMENT || (p->op->kind == L_FOLD && !p->ordered) ||
                         (p->op->kind == L_SCAN && p->harmless && !p->behind && operations(r, p) <= MOST_OPERATIONS);
    }
    row_find_kept(r);
    uint32_t *of = arena_array(r->lw->arena, *of, r->keeps.n + 1);
    row_share_kept(r, of);
    for (uint32_t i = 0; i < r->keeps.n; i++)
        c->thread_kept += of[i] == i ? ir_type_size((ir_type)ir_at(r->lw->l->ir, r->keeps.at[i].term)->type) : 0;
}

/* Units of what is kept: kernels are made for few numbers of them, at most a third more than there need be. */
static int64_t kept_units(int64_t columns)
{
    const int64_t units = pieces_of(columns, KEPT_UNIT);
    int64_t room = 1;
    while (room < units)
        room *= 2;
    return 4 * units <= 3 * room ? room / 4 * 3 : room;
}

/* How rows of this length are walked along, in sk_geometry.row; 0: they are not. */
static int64_t row_of(const sk_cluster *c, const sk_options *o, int64_t columns)
{
    enum { LEAST = 400, BESIDES = 4096 };
    const int64_t pieces = pieces_of(columns, ROW_PIECE), sums = (int64_t)c->thread_folded * ROW_SUMS;
    int64_t tile = 1, room = (int64_t)o->scratch - BESIDES - 2 * sums;
    room -= (int64_t)c->thread_scanned * (ROW_PIECE + 2 * STRETCHES + 2 * GANGS);
    if (!o->group || !c->by_threads || columns < LEAST || pieces > ROW_PIECE || room < 0)
        return 0;
    const bool several = !c->thread_scanned;
    for (; several && 2 * tile <= smaller(pieces, MOST_TILE) && 2 * tile * PIECE_THREADS <= o->group &&
           sums * tile <= room;
         tile *= 2)
        room -= sums * tile;
    int64_t units = c->thread_kept ? kept_units(columns) : 0;
    room += larger(0, (int64_t)o->most_scratch / 2 - (int64_t)o->scratch); /* two blocks share a unit at least */
    return tile | (units * KEPT_UNIT * (int64_t)c->thread_kept > room ? 0 : units << ROW_KEPT);
}

bool sk_threads_suit(const sk_cluster *c, const sk_options *options, int64_t length)
{
    enum { LONG = 8 * ROW_PIECE }; /* rows that are read again from far away */
    const int64_t row = row_of(c, options, length);
    return row && (length <= LONG || !c->thread_kept || row >> ROW_KEPT);
}

bool sk_launch_group_row(const sk_call *x, sk_geometry *g)
{
    g->row = x->pass == SK_PASS_LOOP || x->pass == SK_PASS_APPLY ? row_of(x->c, x->o, x->columns) : 0;
    g->slot[0] = x->columns;
    g->pieces = x->rows;
    return g->row != 0;
}
