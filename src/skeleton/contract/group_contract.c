/* Contractions (contract.h) on devices whose blocks are many threads. A block has a tile of the result: each thread has
 * some of its rows and columns in registers. The block goes through the folded dimension slice by slice: its threads
 * put the operands of a slice into shared memory, and then each takes them from there, so that an operand is read once
 * for all rows or columns of a tile, and from shared memory once for all that a thread has of them.
 *
 * The tree is that of group_fold.c for each element of the result. As in contract.c, accumulators are taken in the
 * order of the bits of their numbers read backwards: then those that the tree combines follow each other, and a thread
 * needs but one for each of its results, and a stack of what waits. Its first levels, which are in use most often, are
 * in registers, too.
 *
 * Rows and columns that are not there, at the ends, are taken for the last ones, and not stored. */
#include "skeleton/contract/contract.h"
#include "skeleton/extents.h"

enum { LENGTH, PIECES, ROW_TILES, COLUMN_TILES, ROWS, COLUMNS }; /* slots */

/* Threads of a block: rows of as many as a gang has. Positions of a slice: as many as an accumulator has at most. */
enum { DOWN = 8, BESIDE = 32, THREADS = DOWN * BESIDE, SLICE = SK_PIECE / SK_ACCUMULATORS };
enum { LEVELS = 8, ORDER = SK_ACCUMULATORS, WORD = 4, MOST_WORDS = 64, HELD_WORDS = 32 };

/* --- tiles --- */

typedef struct tile {
    int64_t rows, columns; /* of a thread */
    int64_t lines;         /* of an accumulator in a slice: a power of two, at least as many as it has positions */
    bool brief;            /* rows are folded from left to right */
} tile;

/* The tile that a kernel is made for, in sk_geometry.row. */
static int64_t row_of_tile(tile t)
{
    return t.rows | t.columns << 8 | t.lines << 16 | (int64_t)t.brief << 24;
}

static tile tile_of_row(int64_t row)
{
    return (tile){row & 255, row >> 8 & 255, row >> 16 & 255, row >> 24 & 1};
}

/* Words that a result takes in registers. */
static int64_t words_of(const sk_contraction *of)
{
    return of->components * pieces_of((int64_t)of->widest, WORD);
}

static int64_t bytes_of(const sk_contraction *of, int64_t rows, int64_t columns)
{
    int64_t elements = rows * DOWN * of->side[SK_OF_ROW].term.n + columns * BESIDE * of->side[SK_OF_COLUMN].term.n;
    return SLICE * elements * (int64_t)of->widest + ORDER;
}

/* The largest tile that leaves registers and shared memory for the others of a unit, and units enough to do. */
static bool find_tile(const sk_call *x, int64_t rows, int64_t columns, int64_t outer, tile *t)
{
    enum { FEW = 16, SHARE = 4, BUDGET = 32 << 10 };
    static const int8_t sizes[][2] = {{8, 4}, {4, 2}, {2, 1}};
    const sk_contraction *of = x->c->contraction;
    int64_t workers = larger(x->o->workers, 1), budget = smaller(BUDGET, (int64_t)x->o->scratch);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        int64_t r = sizes[i][0], c = sizes[i][1];
        if (r * c * words_of(of) > MOST_WORDS || bytes_of(of, r, c) > budget)
            continue;
        int64_t down = pieces_of(rows, r * DOWN), beside = pieces_of(columns, c * BESIDE);
        bool last = i + 1 == sizeof(sizes) / sizeof(sizes[0]);
        bool enough = last ? down * beside * outer * FEW >= workers : down * beside * outer >= workers;
        bool full = rows * columns * (last ? SHARE : 2) >= down * r * DOWN * beside * c * BESIDE;
        if (!enough || !full)
            continue;
        t->rows = r;
        t->columns = c;
        return true;
    }
    return false;
}

bool sk_launch_group_contract(const sk_call *x, sk_geometry *g)
{
    enum { LEAST = 1 << 14 };
    const sk_cluster *c = x->c;
    const sk_contraction *of = c->contraction;
    if (!of || !x->o->group || x->pass == SK_PASS_COMBINE)
        return false;
    int64_t length = x->columns, rows = x->extent[of->dimension[SK_OF_ROW]],
            columns = x->extent[of->dimension[SK_OF_COLUMN]];
    tile t = {.brief = length <= SK_SHORT, .lines = SLICE};
    if (!x->rows || !length || (c->loop->ordered && !t.brief) || (double)x->rows * (double)length < LEAST)
        return false;
    int64_t parts = t.brief ? 1 : pieces_of(length, SK_PIECE), outer = x->rows / (rows * columns) * parts;
    if (!find_tile(x, rows, columns, outer, &t))
        return false;
    while (!t.brief && t.lines / 2 >= pieces_of(smaller(length, SK_PIECE), ORDER))
        t.lines /= 2;
    g->row = row_of_tile(t);
    g->partials = parts;
    g->slot[LENGTH] = length;
    g->slot[PIECES] = parts;
    g->slot[ROW_TILES] = pieces_of(rows, t.rows * DOWN);
    g->slot[COLUMN_TILES] = pieces_of(columns, t.columns * BESIDE);
    g->slot[ROWS] = rows;
    g->slot[COLUMNS] = columns;
    g->pieces = outer * g->slot[ROW_TILES] * g->slot[COLUMN_TILES];
    return true;
}

/* --- the kernel --- */

typedef struct contract {
    sk_folds *s;
    sk_contraction of;
    tile tile;
    k_mem *slice[SK_SIDES]; /* per operand: position by position, rows or columns of the tile */
    k_mem order;            /* the accumulator of each turn */
    int64_t held;           /* levels of the stack in registers */
    k_mem **level[LEVELS];  /* these, */
    k_mem **waiting;        /* and the others */
    k_val index[IR_MAX_RANK];
    k_val first[SK_SIDES], extent[SK_SIDES]; /* of the tile */
    k_val part, begin, count;                /* of the rows that are folded */
    k_val accumulators, bits;                /* a power of two, and its logarithm */
} contract;

static int64_t width_of(const contract *t, unsigned side)
{
    return side == SK_OF_ROW ? t->tile.rows * DOWN : t->tile.columns * BESIDE;
}

static int64_t results_of(const contract *t)
{
    return t->tile.rows * t->tile.columns;
}

static void bind_outer(const contract *t, sk_side side, k_val place, k_val k)
{
    sk_lower *lw = t->s->lw;
    for (unsigned d = 0; d + 1u < lw->cluster->loop->rank; d++)
        if (d == t->of.dimension[side])
            sk_bind(lw, lw->at.at[d], place);
        else if (d != t->of.dimension[!side])
            sk_bind(lw, lw->at.at[d], t->index[d]);
    sk_bind(lw, lw->at.at[lw->cluster->loop->rank - 1], k);
}

/* --- a slice --- */

static k_val turn_accumulator(const contract *t, k_val turn)
{
    k_builder *b = &t->s->lw->b;
    return t->tile.brief ? k_i64(b, 0) : k_convert(b, OP_CONVERT, T_I64, k_load(b, t->order, turn));
}

/* Element number `number` of a side's slice. Neighbouring threads read neighbours of the side's own dimension, or of
 * the folded one, where these lie together and follow each other in the tree. */
static void stage_one(const contract *t, sk_side side, k_val first_turn, k_val number)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    const sk_operands *o = &t->of.side[side];
    uint32_t mark = sk_scope(lw);
    bool along = t->tile.brief && o->along;
    k_val width = k_i64(b, width_of(t, side)), fast_extent = along ? k_i64(b, SLICE) : width;
    k_val slow = k_let(b, OP_QUOT, number, fast_extent, 0), fast = sk_sub(lw, number, sk_mul(lw, slow, fast_extent));
    k_val position = along ? fast : slow, place = along ? slow : fast;
    k_val lines = k_i64(b, t->tile.lines), turn = k_let(b, OP_QUOT, position, lines, 0);
    k_val line = sk_sub(lw, position, sk_mul(lw, turn, lines));
    k_val last = sk_sub(lw, t->accumulators, k_i64(b, 1));
    k_val k = turn_accumulator(t, sk_min(lw, sk_add(lw, first_turn, turn), last));
    k = sk_add(lw, k, sk_mul(lw, line, k_i64(b, t->tile.brief ? 1 : ORDER)));
    k = sk_add(lw, t->begin, sk_min(lw, k, sk_sub(lw, t->count, k_i64(b, 1))));
    k_val there = sk_min(lw, sk_add(lw, t->first[side], place), sk_sub(lw, t->extent[side], k_i64(b, 1)));
    k_val value[SK_MOST_STREAMS];
    bind_outer(t, side, there, k);
    sk_emit(lw, o->term.n, o->term.at, value);
    k_val at = sk_add(lw, sk_mul(lw, position, width), place);
    for (uint32_t i = 0; i < o->term.n; i++)
        k_store(b, t->slice[side][i], at, value[i]);
    sk_scope_end(lw, mark);
}

static void stage(const contract *t, k_val first_turn)
{
    k_builder *b = &t->s->lw->b;
    k_val thread = k_for_all(b, k_i64(b, THREADS));
    for (unsigned side = 0; side < SK_SIDES; side++)
        for (int64_t i = 0; i < SLICE * width_of(t, side); i += THREADS)
            stage_one(t, (sk_side)side, first_turn, sk_add(t->s->lw, thread, k_i64(b, i)));
    k_end(b);
}

/* --- what a thread does --- */

/* Which row of its tile, or column, is number i of the thread: rows lie together, columns as threads do. */
static k_val place_in_tile(const contract *t, sk_side side, k_val thread, int64_t i)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val down = k_let(b, OP_QUOT, thread, k_i64(b, BESIDE), 0);
    if (side == SK_OF_ROW)
        return sk_add(lw, sk_mul(lw, down, k_i64(b, t->tile.rows)), k_i64(b, i));
    return sk_add(lw, sk_sub(lw, thread, sk_mul(lw, down, k_i64(b, BESIDE))), k_i64(b, i * BESIDE));
}

/* The operands of a position, and with them an element for each result. */
static void take_position(const contract *t, k_val thread, k_val position, k_val k, k_val started, k_val ***acc)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val *value[SK_SIDES][UINT8_MAX];
    for (unsigned side = 0; side < SK_SIDES; side++) {
        const int64_t n = side == SK_OF_ROW ? t->tile.rows : t->tile.columns;
        k_val from = sk_mul(lw, position, k_i64(b, width_of(t, side)));
        for (int64_t i = 0; i < n; i++) {
            value[side][i] = arena_array(lw->arena, k_val, t->of.side[side].term.n);
            k_val at = sk_add(lw, from, place_in_tile(t, (sk_side)side, thread, i));
            for (uint32_t o = 0; o < t->of.side[side].term.n; o++)
                value[side][i][o] = k_load(b, t->slice[side][o], at);
        }
    }
    for (int64_t i = 0; i < results_of(t); i++) {
        const int64_t place[SK_SIDES] = {i / t->tile.columns, i % t->tile.columns};
        uint32_t inside = sk_scope(lw);
        for (unsigned side = 0; side < SK_SIDES; side++) {
            k_val own = sk_add(lw, t->first[side], place_in_tile(t, (sk_side)side, thread, place[side]));
            sk_bind(lw, lw->at.at[t->of.dimension[side]], own);
            for (uint32_t o = 0; o < t->of.side[side].term.n; o++)
                sk_bind(lw, t->of.side[side].variable.at[o], value[side][place[side]][o]);
        }
        for (unsigned d = 0; d + 1u < lw->cluster->loop->rank; d++)
            if (d != t->of.dimension[SK_OF_ROW] && d != t->of.dimension[SK_OF_COLUMN])
                sk_bind(lw, lw->at.at[d], t->index[d]);
        sk_bind(lw, lw->at.at[lw->cluster->loop->rank - 1], k);
        for (uint32_t f = 0; f < s->fold.n; f++) {
            k_val element[IR_MAX_COMPONENTS + 1];
            sk_emit(lw, sk_fold_terms(&s->fold.at[f]), t->of.element[f], element);
            sk_fold_take(s, &s->fold.at[f], element, started, acc[i][f]);
        }
        sk_scope_end(lw, inside);
    }
    sk_scope_end(lw, mark);
}

/* The positions of an accumulator, `there` of them. Most have as many as the kernel is made for. */
static void take_accumulator(const contract *t, k_val thread, k_val turn, k_val accumulator, k_val there, k_val ***acc)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), lines = k_i64(b, t->tile.lines), first = sk_mul(lw, turn, lines);
    k_val stride = k_i64(b, t->tile.brief ? 1 : ORDER);
    k_if(b, k_let(b, OP_EQ, there, lines, 0));
    for (unsigned rest = 0; rest < 2; rest++) {
        if (rest)
            k_else(b);
        k_val line = k_for(b, zero, rest ? there : lines, !rest);
        k_val k = sk_add(lw, t->begin, sk_add(lw, accumulator, sk_mul(lw, line, stride)));
        take_position(t, thread, sk_add(lw, first, line), k, k_let(b, OP_GT, line, zero, 0), acc);
        k_end(b);
    }
    k_end(b);
}

static k_val waiting_at(const contract *t, k_val level, int64_t result)
{
    sk_lower *lw = t->s->lw;
    k_val above = sk_sub(lw, level, k_i64(&lw->b, t->held));
    return sk_add(lw, sk_mul(lw, above, k_i64(&lw->b, results_of(t))), k_i64(&lw->b, result));
}

/* An accumulator, combined with those that wait for it. One without any position is a right one of the first level:
 * what is left of it passes. */
static void combine(const contract *t, k_val turn, k_val some, k_val ***acc)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val levels = sk_logarithm(lw, sk_add(lw, turn, k_i64(b, 1))), held = k_i64(b, t->held);
    for (int64_t level = 0; level < t->held; level++) {
        k_val number = k_i64(b, level);
        k_if(b, k_let(b, OP_GT, levels, number, 0));
        if (!level)
            k_if(b, some);
        for (int64_t i = 0; i < results_of(t); i++)
            sk_fold_merge_behind(s, sk_fold_kept(s, t->level[level], k_i64(b, i)), acc[i]);
        if (!level) {
            k_else(b);
            for (int64_t i = 0; i < results_of(t); i++)
                sk_fold_take_kept(s, t->level[level], k_i64(b, i), acc[i]);
            k_end(b);
        }
        k_else(b);
        k_if(b, k_let(b, OP_EQ, levels, number, 0));
        for (int64_t i = 0; i < results_of(t); i++)
            sk_fold_keep(s, t->level[level], k_i64(b, i), acc[i]);
        k_end(b);
        k_end(b);
    }
    k_if(b, k_let(b, OP_GE, levels, held, 0));
    k_val from = held;
    if (!t->held) {
        k_if(b, k_let(b, OP_NOT, some, 0, 0));
        for (int64_t i = 0; i < results_of(t); i++)
            sk_fold_take_kept(s, t->waiting, waiting_at(t, held, i), acc[i]);
        k_end(b);
        from = k_select(b, some, held, k_i64(b, 1));
    }
    k_val level = k_for(b, from, levels, false);
    for (int64_t i = 0; i < results_of(t); i++)
        sk_fold_merge_behind(s, sk_fold_kept(s, t->waiting, waiting_at(t, level, i)), acc[i]);
    k_end(b);
    for (int64_t i = 0; i < results_of(t); i++)
        sk_fold_keep(s, t->waiting, waiting_at(t, levels, i), acc[i]);
    k_end(b);
}

/* Turns of a slice, from first_turn on. */
static void take_slice(const contract *t, k_val first_turn)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val ***acc = arena_array(lw->arena, k_val **, (size_t)results_of(t)), zero = k_i64(b, 0);
    k_val thread = k_for_all(b, k_i64(b, THREADS));
    k_val turns = sk_min(lw, k_i64(b, SLICE / t->tile.lines), sk_sub(lw, t->accumulators, first_turn));
    k_val own = k_for(b, zero, turns, false), turn = sk_add(lw, first_turn, own);
    for (int64_t i = 0; i < results_of(t); i++)
        acc[i] = sk_fold_accumulators(s);
    k_val accumulator = turn_accumulator(t, turn), there = t->count;
    if (!t->tile.brief) {
        k_val rest = sk_sub(lw, t->count, accumulator), up = sk_add(lw, rest, k_i64(b, ORDER - 1));
        there = k_let(b, OP_QUOT, sk_max(lw, up, zero), k_i64(b, ORDER), 0);
    }
    take_accumulator(t, thread, own, accumulator, there, acc);
    combine(t, turn, k_let(b, OP_GT, there, zero, 0), acc);
    k_end(b);
    k_end(b);
}

/* --- results --- */

/* The last turn of all left them on top of the stack. */
static k_val **result_of(const contract *t, int64_t i)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val **acc = sk_fold_accumulators(s);
    if (t->tile.brief && t->held)
        return sk_fold_kept(s, t->level[0], k_i64(b, i));
    for (int64_t level = 0; level < t->held; level++) {
        k_if(b, k_let(b, OP_EQ, t->bits, k_i64(b, level), 0));
        sk_fold_take_kept(s, t->level[level], k_i64(b, i), acc);
        k_end(b);
    }
    k_if(b, k_let(b, OP_GE, t->bits, k_i64(b, t->held), 0));
    sk_fold_take_kept(s, t->waiting, waiting_at(t, t->bits, i), acc);
    k_end(b);
    return acc;
}

static k_val number_of_result(const contract *t)
{
    sk_lower *lw = t->s->lw;
    k_val at = t->index[0];
    for (unsigned d = 1; d + 1u < lw->cluster->loop->rank; d++)
        at = sk_add(lw, sk_mul(lw, at, sk_closed(lw, lw->cluster->loop->shape[d])), t->index[d]);
    return at;
}

static void finish(contract *t)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val thread = k_for_all(b, k_i64(b, THREADS));
    for (int64_t i = 0; i < results_of(t); i++) {
        const int64_t place[SK_SIDES] = {i / t->tile.columns, i % t->tile.columns};
        uint32_t mark = sk_scope(lw);
        k_val there = 0;
        for (unsigned side = 0; side < SK_SIDES; side++) {
            k_val at = sk_add(lw, t->first[side], place_in_tile(t, (sk_side)side, thread, place[side]));
            k_val inside = k_let(b, OP_LT, at, t->extent[side], 0);
            t->index[t->of.dimension[side]] = at;
            there = there ? k_let(b, OP_AND, there, inside, 0) : inside;
        }
        k_if(b, there);
        k_val row = number_of_result(t);
        k_val position = sk_add(lw, sk_mul(lw, row, sk_slot(lw, PIECES, "pieces_a_row")), t->part);
        lw->element = row;
        sk_fold_finish_all(s, row, position, result_of(t, i), 0);
        k_end(b);
        sk_scope_end(lw, mark);
    }
    k_end(b);
}

/* --- the block --- */

static void find_block(contract *t)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    const sk_cluster *c = lw->cluster;
    k_val number = k_piece(b), length = sk_slot(lw, LENGTH, "row_length"), one = k_i64(b, 1);
    t->extent[SK_OF_ROW] = sk_slot(lw, ROWS, "rows");
    t->extent[SK_OF_COLUMN] = sk_slot(lw, COLUMNS, "columns");
    t->part = sk_take_digit(lw, &number, sk_slot(lw, PIECES, "pieces_a_row"));
    k_val column = sk_take_digit(lw, &number, sk_slot(lw, COLUMN_TILES, "column_tiles"));
    k_val row = sk_take_digit(lw, &number, sk_slot(lw, ROW_TILES, "row_tiles"));
    t->first[SK_OF_ROW] = sk_mul(lw, row, k_i64(b, width_of(t, SK_OF_ROW)));
    t->first[SK_OF_COLUMN] = sk_mul(lw, column, k_i64(b, width_of(t, SK_OF_COLUMN)));
    for (unsigned d = c->loop->rank - 1u; d-- > 0;)
        if (d != t->of.dimension[SK_OF_ROW] && d != t->of.dimension[SK_OF_COLUMN])
            t->index[d] = sk_take_digit(lw, &number, sk_closed(lw, c->loop->shape[d]));
    k_val size = k_i64(b, SK_PIECE);
    t->begin = sk_mul(lw, t->part, size);
    t->count = sk_min(lw, size, sk_sub(lw, length, t->begin));
    t->accumulators = one;
    t->bits = k_i64(b, 0);
    if (t->tile.brief)
        return;
    k_val last = sk_sub(lw, sk_min(lw, t->count, k_i64(b, ORDER)), one);
    for (int64_t i = 0; ORDER >> i > 1; i++) { /* numbers that are small to see, so indices may have 32 bits */
        k_val more = k_let(b, OP_GE, last, k_i64(b, 1 << i), 0);
        t->bits = k_select(b, more, k_i64(b, i + 1), t->bits);
        t->accumulators = k_select(b, more, k_i64(b, 2 << i), t->accumulators);
    }
}

static void open_memory(contract *t)
{
    sk_folds *s = t->s;
    k_builder *b = &s->lw->b;
    for (unsigned side = 0; side < SK_SIDES; side++) {
        const sk_operands *o = &t->of.side[side];
        t->slice[side] = arena_array(s->lw->arena, k_mem, o->term.n);
        for (uint32_t i = 0; i < o->term.n; i++) {
            ir_type type = (ir_type)ir_at(s->lw->l->ir, o->term.at[i])->type;
            t->slice[side][i] = k_shared(b, type, SLICE * width_of(t, side), side ? "of_column" : "of_row");
        }
    }
    if (!t->tile.brief)
        t->order = k_shared(b, T_U8, ORDER, "order");
    int64_t levels = t->tile.brief ? 1 : LEVELS;
    t->held = smaller(levels, HELD_WORDS / (results_of(t) * words_of(&t->of)));
    for (int64_t level = 0; level < t->held; level++)
        t->level[level] = sk_fold_memory(s, false, results_of(t), "held");
    t->waiting = sk_fold_memory(s, false, larger(1, levels - t->held) * results_of(t), "waiting");
}

static void make_order(const contract *t)
{
    k_builder *b = &t->s->lw->b;
    if (t->tile.brief)
        return;
    k_val thread = k_for_all(b, k_i64(b, THREADS));
    k_if(b, k_let(b, OP_LT, thread, t->accumulators, 0));
    k_store(b, t->order, thread, k_convert(b, OP_CONVERT, T_U8, sk_turned(t->s->lw, thread, t->bits)));
    k_end(b);
    k_end(b);
}

void sk_build_group_contract(sk_lower *lw)
{
    sk_folds s = {.lw = lw};
    const sk_contraction *known = lw->cluster->contraction;
    sk_fold_begin(&s);
    contract *t = arena_new(lw->arena, *t);
    *t = (contract){.s = &s, .tile = {.rows = 2, .columns = 1, .lines = SLICE}};
    if (!known || !sk_find_contraction(&s, known->dimension[SK_OF_ROW], &t->of)) {
        lw->why.text = "these folds are no contraction";
        return;
    }
    k_builder *b = &lw->b;
    if (lw->options->row)
        t->tile = tile_of_row(lw->options->row);
    lw->out->k->group = (uint16_t)smaller(lw->options->group, THREADS);
    open_memory(t);
    find_block(t);
    lw->element = k_i64(b, 0);
    make_order(t);
    k_val turns = k_i64(b, SLICE / t->tile.lines), up = sk_add(lw, t->accumulators, sk_sub(lw, turns, k_i64(b, 1)));
    k_val slice = k_for(b, k_i64(b, 0), k_let(b, OP_QUOT, up, turns, 0), false), first = sk_mul(lw, slice, turns);
    stage(t, first);
    take_slice(t, first);
    k_end(b);
    finish(t);
}
