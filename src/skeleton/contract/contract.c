/* Contractions (contract.h): matrix products, distances of all pairs, and whatever else is folded from operands of rows
 * and operands of columns. A block has some rows and some columns of the result. It computes the operands of its rows
 * and packs them into shared memory, panel by panel, a panel having the rows of a tile; then, for a group of panels of
 * columns at a time, the same for these, and all tiles of the group: one is a gang of columns for each of its rows, so
 * that a step of the fold is a vector of operands of columns, and for each row one operand that all lanes share.
 *
 * The tree is that of fold.c for each element of the result: accumulator l takes positions l, l + 128, ... A tile
 * goes through the accumulators in the order of the bits of their numbers read backwards: then those that the tree
 * combines follow each other, and a stack of tiles holds what waits, as in fold_columns.c. Panels have their positions
 * in just this order, so that tiles read them from the first to the last.
 *
 * The last panels overlap those before them where rows or columns are no multiple of them: there is no tile with
 * something missing. Elements that two tiles have are stored twice, the same each time. */
#include "skeleton/contract/contract.h"
#include "skeleton/extents.h"

enum { LEVELS = 8, ORDER = SK_ACCUMULATORS };

/* --- the kernel --- */

typedef struct panels { /* of one side */
    int64_t width;
    k_mem *packed;       /* per operand */
    k_val begin, extent; /* of the block in the side's dimension */
    bool in_order;       /* panels do not overlap: the last one may have some that are not there, */
    bool ragged;         /* and is at hand */
} panels;

typedef struct contract {
    sk_folds *s;
    sk_contraction of;
    sk_contract_tile tile;
    panels side[SK_SIDES];
    k_mem order;              /* the place of each accumulator in the order that tiles take them in */
    k_mem **waiting;          /* per fold and component: a stack of tiles */
    k_val index[IR_MAX_RANK]; /* of the block, and of the element at hand */
    k_val part, begin, count; /* of the rows that are folded */
    k_val accumulators, bits; /* a power of two, and its logarithm */
    k_val lines, room;        /* of each accumulator: positions, and those that a panel has room for */
    sk_made made;             /* of the results */
} contract;

static void bind_indices(const contract *t)
{
    sk_lower *lw = t->s->lw;
    for (unsigned d = 0; d + 1u < lw->cluster->loop->rank; d++)
        sk_bind(lw, lw->at.at[d], t->index[d]);
}

/* Element k of the row at hand: for those who look at the elements themselves. */
static void bind_element(void *env, k_val k)
{
    const contract *t = env;
    sk_lower *lw = t->s->lw;
    bind_indices(t);
    sk_bind(lw, lw->at.at[lw->cluster->loop->rank - 1], k);
}

k_val sk_turned(sk_lower *lw, k_val x, k_val bits)
{
    static const struct {
        int64_t mask, shift;
    } step[] = {{0x55, 1}, {0x33, 2}, {0x0f, 4}};
    k_builder *b = &lw->b;
    for (unsigned i = 0; i < 3; i++) {
        k_val mask = k_i64(b, step[i].mask), shift = k_i64(b, step[i].shift);
        k_val up = k_let(b, OP_SHL, k_let(b, OP_BIT_AND, x, mask, 0), shift, 0);
        x = k_let(b, OP_BIT_OR, up, k_let(b, OP_BIT_AND, k_let(b, OP_SHR, x, shift, 0), mask, 0), 0);
    }
    return k_let(b, OP_SHR, x, sk_sub(lw, k_i64(b, 8), bits), 0);
}

k_val sk_logarithm(sk_lower *lw, k_val power_of_two)
{
    return k_convert(&lw->b, OP_CONVERT, T_I64, k_let(&lw->b, OP_CTZ, power_of_two, 0, 0));
}

/* --- panels --- */

/* The first of a panel's rows or columns. */
static k_val panel_begin(const contract *t, sk_side side, k_val panel)
{
    sk_lower *lw = t->s->lw;
    const panels *p = &t->side[side];
    k_val width = k_i64(&lw->b, p->width), last = sk_sub(lw, p->extent, width);
    if (p->in_order)
        return sk_add(lw, p->begin, sk_mul(lw, panel, width));
    return sk_add(lw, p->begin, sk_min(lw, sk_mul(lw, panel, width), last));
}

static k_val panel_count(const contract *t, sk_side side)
{
    sk_lower *lw = t->s->lw;
    k_val up = sk_add(lw, t->side[side].extent, k_i64(&lw->b, t->side[side].width - 1));
    return k_let(&lw->b, OP_QUOT, up, k_i64(&lw->b, t->side[side].width), 0);
}

/* Where panel `panel` begins, of those that are there. */
static k_val panel_at(const contract *t, sk_side side, k_val panel)
{
    sk_lower *lw = t->s->lw;
    k_val positions = sk_mul(lw, t->accumulators, t->room);
    return sk_mul(lw, panel, sk_mul(lw, positions, k_i64(&lw->b, t->side[side].width)));
}

/* The operands of position k are stored at `at`. */
static void pack_one(contract *t, sk_side side, k_val place, k_val k, k_val at)
{
    sk_lower *lw = t->s->lw;
    const sk_operands *o = &t->of.side[side];
    uint32_t mark = sk_scope(lw);
    k_val value[SK_MOST_STREAMS];
    if (t->side[side].ragged) { /* what is not there is taken for the last one, and nobody looks at it */
        const panels *p = &t->side[side];
        place = sk_min(lw, place, sk_sub(lw, sk_add(lw, p->begin, p->extent), k_i64(&lw->b, 1)));
    }
    t->index[t->of.dimension[side]] = place;
    for (unsigned d = 0; d + 1u < lw->cluster->loop->rank; d++)
        if (d != t->of.dimension[!side])
            sk_bind(lw, lw->at.at[d], t->index[d]);
    sk_bind(lw, lw->at.at[lw->cluster->loop->rank - 1], sk_add(lw, t->begin, k));
    sk_emit(lw, o->term.n, o->term.at, value);
    for (uint32_t i = 0; i < o->term.n; i++)
        k_store(&lw->b, t->side[side].packed[i], at, value[i]);
    sk_scope_end(lw, mark);
}

/* Position k in the order of panels, where `accumulator` is the place of accumulator k mod 128. */
static k_val in_order(const contract *t, k_val accumulator, k_val line)
{
    return sk_add(t->s->lw, sk_mul(t->s->lw, accumulator, t->room), line);
}

/* Lanes are neighbours in the side's own dimension. */
static void pack_across(contract *t, sk_side side, k_val first, k_val from, k_val end)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val width = k_i64(b, t->side[side].width), k = k_for(b, k_i64(b, 0), t->count, false), position = k;
    if (!t->tile.brief) {
        k_val accumulator = k_load(b, t->order, k_let(b, OP_REM, k, k_i64(b, ORDER), 0));
        position = in_order(t, accumulator, k_let(b, OP_QUOT, k, k_i64(b, ORDER), 0));
    }
    k_val panel = k_for(b, from, end, false);
    k_val at = sk_add(lw, panel_at(t, side, sk_sub(lw, panel, first)), sk_mul(lw, position, width));
    k_val place = panel_begin(t, side, panel), lane = k_for_whole(b, width);
    pack_one(t, side, sk_add(lw, place, lane), k, sk_add(lw, at, lane));
    k_end(b);
    k_end(b);
    k_end(b);
}

/* Each lane goes along the folded dimension: what it reads is transposed in registers on the way
 * (emit/cpu/llvm/tile.c). `lanes` of a panel's rows or columns, from `offset` on. */
static void pack_lanes(contract *t, sk_side side, k_val panel, k_val at, int64_t offset, int64_t lanes)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val width = k_i64(b, t->side[side].width), zero = k_i64(b, 0), order = k_i64(b, ORDER);
    k_val lane = sk_add(lw, k_for_whole(b, k_i64(b, lanes)), k_i64(b, offset));
    k_val place = sk_add(lw, panel_begin(t, side, panel), lane);
    at = sk_add(lw, at, lane);
    k_val line = t->tile.brief ? zero : k_for(b, zero, t->lines, false), from = sk_mul(lw, line, order);
    k_val left = sk_sub(lw, t->count, from);
    k_val k = k_for(b, zero, t->tile.brief ? left : sk_min(lw, order, left), false), position = k;
    if (!t->tile.brief)
        position = in_order(t, k_load(b, t->order, k), line);
    pack_one(t, side, place, sk_add(lw, from, k), sk_add(lw, at, sk_mul(lw, position, width)));
    k_end(b);
    if (!t->tile.brief)
        k_end(b);
    k_end(b);
}

static void pack_along(contract *t, sk_side side, k_val first, k_val from, k_val end)
{
    sk_lower *lw = t->s->lw;
    k_val panel = k_for(&lw->b, from, end, false), at = panel_at(t, side, sk_sub(lw, panel, first));
    for (int64_t offset = 0, lanes; offset < t->side[side].width; offset += lanes) {
        lanes = lw->out->k->lanes;
        while (lanes > t->side[side].width - offset)
            lanes /= 2;
        pack_lanes(t, side, panel, at, offset, lanes);
    }
    k_end(&lw->b);
}

static void pack_some(contract *t, sk_side side, k_val first, k_val from, k_val end)
{
    (t->of.side[side].along ? pack_along : pack_across)(t, side, first, from, end);
}

static void pack(contract *t, sk_side side, k_val first, k_val end)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    panels *p = &t->side[side];
    if (!p->in_order) {
        pack_some(t, side, first, first, end);
        return;
    }
    k_val whole = sk_min(lw, end, k_let(b, OP_QUOT, p->extent, k_i64(b, p->width), 0));
    pack_some(t, side, first, first, whole);
    p->ragged = true;
    pack_some(t, side, first, sk_max(lw, first, whole), end);
    p->ragged = false;
}

/* --- a tile --- */

typedef struct place {  /* of a tile */
    k_val row, column;  /* its first ones */
    k_val at[SK_SIDES]; /* its panels */
    k_val panel;        /* the number of its columns' */
    k_val lane;
} place;

static void bind_operands(contract *t, sk_side side, k_val at)
{
    sk_lower *lw = t->s->lw;
    const sk_operands *o = &t->of.side[side];
    for (uint32_t i = 0; i < o->term.n; i++)
        sk_bind(lw, o->variable.at[i], k_load(&lw->b, t->side[side].packed[i], at));
}

/* Position k, which panels have at `position`, goes to the accumulators of all rows. */
static void take_position(contract *t, const place *p, k_val position, k_val k, k_val started, k_val **const *acc)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val of_row = sk_add(lw, p->at[SK_OF_ROW], sk_mul(lw, position, k_i64(b, t->tile.rows)));
    k_val of_column = sk_add(lw, p->at[SK_OF_COLUMN], sk_mul(lw, position, k_i64(b, t->tile.lanes)));
    bind_operands(t, SK_OF_COLUMN, sk_add(lw, of_column, p->lane));
    for (int64_t r = 0; r < t->tile.rows; r++) {
        uint32_t row = sk_scope(lw);
        k_val value[IR_MAX_COMPONENTS + 1];
        t->index[t->of.dimension[SK_OF_ROW]] = sk_add(lw, p->row, k_i64(b, r));
        bind_element(t, k);
        bind_operands(t, SK_OF_ROW, sk_add(lw, of_row, k_i64(b, r)));
        for (uint32_t i = 0; i < s->fold.n; i++) {
            sk_emit(lw, sk_fold_terms(&s->fold.at[i]), t->of.element[i], value);
            sk_fold_take(s, &s->fold.at[i], value, started, acc[r][i]);
        }
        sk_scope_end(lw, row);
    }
    sk_scope_end(lw, mark);
}

/* Positions of an accumulator, `lines` of them, of which `first` is the first one, and the panels' `position`. */
static void take_accumulator(contract *t, const place *p, k_val first, k_val position, k_val lines, int64_t stride,
                             k_val **const *acc)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val begin = k_i64(b, 0), k = sk_add(lw, t->begin, first);
    if (!t->s->neutral) { /* the first element is what there is */
        take_position(t, p, position, k, k_literal(b, T_BOOL, 0), acc);
        begin = k_i64(b, 1);
    }
    k_val line = k_for(b, begin, lines, false);
    take_position(t, p, sk_add(lw, position, line), sk_add(lw, k, sk_mul(lw, line, k_i64(b, stride))),
                  k_literal(b, T_BOOL, 1), acc);
    k_end(b);
}

/* Row r of the tile that waits at a level of the stack. */
static k_val waiting_at(const contract *t, const place *p, k_val level, int64_t r)
{
    sk_lower *lw = t->s->lw;
    k_val at = sk_mul(lw, level, k_i64(&lw->b, t->tile.rows * t->tile.lanes));
    return sk_add(lw, sk_add(lw, at, k_i64(&lw->b, r * t->tile.lanes)), p->lane);
}

/* Turn `turn`: an accumulator, combined with those that wait for it. Accumulators without any position are right ones
 * of the first level: what is left of them passes. */
static void take_turn(contract *t, const place *p, k_val turn)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), accumulator = sk_turned(t->s->lw, turn, t->bits), ***acc;
    acc = arena_array(lw->arena, k_val **, (size_t)t->tile.rows);
    for (int64_t r = 0; r < t->tile.rows; r++)
        acc[r] = sk_fold_accumulators(s);
    k_val whole = k_let(b, OP_QUOT, t->count, k_i64(b, ORDER), 0);
    k_val more = k_let(b, OP_LT, accumulator, sk_sub(lw, t->count, sk_mul(lw, whole, k_i64(b, ORDER))), 0);
    k_val lines = k_select(b, more, sk_add(lw, whole, k_i64(b, 1)), whole);
    k_val some = k_let(b, OP_GT, lines, zero, 0);
    k_if(b, some);
    take_accumulator(t, p, accumulator, sk_mul(lw, turn, t->room), lines, ORDER, acc);
    k_else(b);
    for (int64_t r = 0; r < t->tile.rows; r++)
        sk_fold_take_kept(s, t->waiting, waiting_at(t, p, zero, r), acc[r]);
    k_end(b);
    k_val levels = sk_logarithm(lw, sk_add(lw, turn, k_i64(b, 1)));
    k_val level = k_for(b, k_select(b, some, zero, k_i64(b, 1)), levels, false);
    for (int64_t r = 0; r < t->tile.rows; r++)
        sk_fold_merge_behind(s, sk_fold_kept(s, t->waiting, waiting_at(t, p, level, r)), acc[r]);
    k_end(b);
    for (int64_t r = 0; r < t->tile.rows; r++)
        sk_fold_keep(s, t->waiting, waiting_at(t, p, levels, r), acc[r]);
}

/* --- accumulators of one position each --- */

enum { TOGETHER = 4 }; /* positions that follow each other in panels: l, l + half, l + quarter, l + three quarters */

typedef struct node {            /* of the tree */
    k_val position, accumulator; /* the first one's in panels, and l */
    bool has[TOGETHER];          /* which are there */
    k_val *of_column[TOGETHER];  /* operands */
} node;

static void load_of_column(contract *t, const place *p, node *n)
{
    sk_lower *lw = t->s->lw;
    const sk_operands *o = &t->of.side[SK_OF_COLUMN];
    for (int64_t e = 0; e < TOGETHER; e++) {
        k_val position = sk_add(lw, n->position, k_i64(&lw->b, e));
        k_val at = sk_add(lw, p->at[SK_OF_COLUMN], sk_mul(lw, position, k_i64(&lw->b, t->tile.lanes)));
        n->of_column[e] = arena_array(lw->arena, k_val, o->term.n);
        for (uint32_t i = 0; i < o->term.n && n->has[e]; i++)
            n->of_column[e][i] = k_load(&lw->b, t->side[SK_OF_COLUMN].packed[i], sk_add(lw, at, p->lane));
    }
}

/* One position of one row, in variables of its own. */
static k_val **take_one(contract *t, const place *p, const node *n, int64_t e, k_val r)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    const sk_operands *o = &t->of.side[SK_OF_COLUMN];
    k_val **acc = sk_fold_accumulators(s), value[IR_MAX_COMPONENTS + 1];
    k_val quarter = k_let(b, OP_SHR, t->accumulators, k_i64(b, 2), 0);
    static const int64_t quarters[TOGETHER] = {0, 2, 1, 3};
    k_val position = sk_add(lw, n->position, k_i64(b, e));
    k_val k = sk_add(lw, sk_add(lw, t->begin, n->accumulator), sk_mul(lw, quarter, k_i64(b, quarters[e])));
    uint32_t mark = sk_scope(lw);
    t->index[t->of.dimension[SK_OF_ROW]] = sk_add(lw, p->row, r);
    bind_element(t, k);
    for (uint32_t i = 0; i < o->term.n; i++)
        sk_bind(lw, o->variable.at[i], n->of_column[e][i]);
    k_val of_row = sk_add(lw, p->at[SK_OF_ROW], sk_mul(lw, position, k_i64(b, t->tile.rows)));
    bind_operands(t, SK_OF_ROW, sk_add(lw, of_row, r));
    for (uint32_t i = 0; i < s->fold.n; i++) {
        sk_emit(lw, sk_fold_terms(&s->fold.at[i]), t->of.element[i], value);
        sk_fold_take(s, &s->fold.at[i], value, k_literal(b, T_BOOL, 0), acc[i]);
    }
    sk_scope_end(lw, mark);
    return acc;
}

/* A node for all rows, each combined with what waits for it. */
static void take_node(contract *t, const place *p, node n, k_val turn)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), levels = sk_logarithm(lw, sk_add(lw, turn, k_i64(b, 1)));
    load_of_column(t, p, &n);
    k_val r = k_for(b, zero, k_i64(b, t->tile.rows), false), at_row = sk_mul(lw, r, k_i64(b, t->tile.lanes));
    k_val **half[2];
    for (int64_t h = 0; h < 2; h++) {
        half[h] = take_one(t, p, &n, 2 * h, r);
        if (n.has[2 * h + 1])
            sk_fold_merge(s, half[h], take_one(t, p, &n, 2 * h + 1, r), 0);
    }
    sk_fold_merge(s, half[0], half[1], 0);
    k_val level = k_for(b, zero, levels, false);
    sk_fold_merge_behind(s, sk_fold_kept(s, t->waiting, sk_add(lw, waiting_at(t, p, level, 0), at_row)), half[0]);
    k_end(b);
    sk_fold_keep(s, t->waiting, sk_add(lw, waiting_at(t, p, levels, 0), at_row), half[0]);
    k_end(b);
}

/* Left positions of the first level are always there; of the right ones both, the first, or none. */
static void take_turn_of_four(contract *t, const place *p, k_val turn)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val position = sk_mul(lw, turn, k_i64(b, TOGETHER)), accumulator = sk_turned(t->s->lw, position, t->bits);
    k_val half = k_let(b, OP_SHR, t->accumulators, k_i64(b, 1), 0), quarter = k_let(b, OP_SHR, half, k_i64(b, 1), 0);
    k_val first = sk_add(lw, accumulator, half);
    k_if(b, k_let(b, OP_LT, sk_add(lw, first, quarter), t->count, 0));
    take_node(t, p, (node){position, accumulator, {true, true, true, true}, {0}}, turn);
    k_else(b);
    k_if(b, k_let(b, OP_LT, first, t->count, 0));
    take_node(t, p, (node){position, accumulator, {true, true, true, false}, {0}}, turn);
    k_else(b);
    take_node(t, p, (node){position, accumulator, {true, false, true, false}, {0}}, turn);
    k_end(b);
    k_end(b);
}

/* The totals of all rows, in variables. */
static k_val ***take_brief(contract *t, const place *p)
{
    sk_folds *s = t->s;
    k_val zero = k_i64(&s->lw->b, 0), ***acc = arena_array(s->lw->arena, k_val **, (size_t)t->tile.rows);
    for (int64_t r = 0; r < t->tile.rows; r++)
        acc[r] = sk_fold_accumulators(s);
    take_accumulator(t, p, zero, zero, t->count, 1, acc);
    return acc;
}

static void keep_rows(contract *t, const place *p, k_val **const *acc)
{
    for (int64_t r = 0; r < t->tile.rows; r++)
        sk_fold_keep(t->s, t->waiting, waiting_at(t, p, k_i64(&t->s->lw->b, 0), r), acc[r]);
}

/* The number of the element of the result at hand. */
static k_val result_at(const contract *t)
{
    sk_lower *lw = t->s->lw;
    k_val at = t->index[0];
    for (unsigned d = 1; d + 1u < lw->cluster->loop->rank; d++)
        at = sk_add(lw, sk_mul(lw, at, sk_closed(lw, lw->cluster->loop->shape[d])), t->index[d]);
    return at;
}

/* The totals of row r of the tile, `acc`, become results, and elements of these are stored. NULL: the top of the stack
 * has them. */
static void finish_row(contract *t, const place *p, k_val r, k_val **acc)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    t->index[t->of.dimension[SK_OF_ROW]] = sk_add(lw, p->row, r);
    k_val top = t->tile.once ? sk_sub(lw, t->bits, k_i64(b, 2)) : t->bits;
    k_val row = result_at(t), at = waiting_at(t, p, top, 0);
    if (!acc)
        acc = sk_fold_kept(s, t->waiting, sk_add(lw, at, sk_mul(lw, r, k_i64(b, t->tile.lanes))));
    k_val position = sk_add(lw, sk_mul(lw, row, sk_slot(lw, SK_CONTRACT_PIECES, "pieces_a_row")), t->part);
    lw->element = row;
    sk_fold_settle(s, row, t->begin, 0, t->count, acc);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        const sk_fold *f = &s->fold.at[i];
        k_val total[IR_MAX_COMPONENTS], value[IR_MAX_COMPONENTS];
        for (uint32_t c = 0; c < f->n; c++)
            total[c] = k_get(b, acc[i][c]);
        sk_fold_finish(s, f, row, position, total, 0, value);
        if (t->made.lw)
            sk_made_give(&t->made, i, f->n, value);
    }
    if (!t->made.lw)
        return;
    bind_indices(t);
    sk_made_store(&t->made, row);
}

static void finish_tile(contract *t, place *p)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val r = k_for(b, k_i64(b, 0), k_i64(b, t->tile.rows), false);
    p->lane = k_for_whole(b, k_i64(b, t->tile.lanes));
    t->index[t->of.dimension[SK_OF_COLUMN]] = sk_add(lw, p->column, p->lane);
    uint32_t mark = sk_scope(lw);
    finish_row(t, p, r, NULL);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
}

/* Row r of the tile, whose number in it is `number`, or below 0 where that is not known. */
static void fold_row(contract *t, const place *p, k_val r, k_val **acc, int64_t number, sk_made_place *at,
                     k_val ***stack)
{
    sk_lower *lw = t->s->lw;
    uint32_t mark = sk_scope(lw);
    finish_row(t, p, r, acc);
    at->position = t->index[t->of.dimension[SK_OF_ROW]];
    at->row = number;
    sk_made_take(&t->made, at, stack);
    sk_scope_end(lw, mark);
}

/* The same where results are folded: of tiles that have all their rows, and of others. Lanes are at hand; `acc` has the
 * totals, or is NULL. */
static void fold_tile(contract *t, place *p, k_val ***acc)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val rows = k_i64(b, t->tile.rows), one = k_i64(b, 1), **stack[SK_MADE_STACK] = {0};
    k_val there = sk_min(lw, rows, sk_sub(lw, t->side[SK_OF_ROW].extent, p->row));
    sk_made_place at = {.panel = p->panel, .lane = p->lane, .length = t->side[SK_OF_ROW].extent};
    k_if(b, k_let(b, OP_EQ, there, rows, 0));
    for (int64_t r = 0; r < t->tile.rows; r++)
        fold_row(t, p, k_i64(b, r), acc ? acc[r] : NULL, r, &at, stack);
    k_else(b);
    if (acc)
        keep_rows(t, p, acc);
    k_val r = k_for(b, k_i64(b, 0), there, false);
    fold_row(t, p, r, NULL, -1, &at, stack);
    k_end(b);
    k_end(b);
    at.position = sk_sub(lw, sk_add(lw, p->row, there), one);
    sk_made_behind(&t->made, &at);
}

static void begin_lanes(contract *t, place *p)
{
    p->lane = k_for_whole(&t->s->lw->b, k_i64(&t->s->lw->b, t->tile.lanes));
    t->index[t->of.dimension[SK_OF_COLUMN]] = sk_add(t->s->lw, p->column, p->lane);
}

static void take_tile(contract *t, place *p)
{
    k_builder *b = &t->s->lw->b;
    k_val ***acc = NULL;
    begin_lanes(t, p);
    if (t->tile.brief) {
        acc = take_brief(t, p);
        if (!t->of.folds)
            keep_rows(t, p, acc);
    } else if (t->tile.once) {
        k_val turns = k_let(b, OP_SHR, t->accumulators, k_i64(b, 2), 0);
        take_turn_of_four(t, p, k_for(b, k_i64(b, 0), turns, false));
        k_end(b);
    } else {
        take_turn(t, p, k_for(b, k_i64(b, 0), t->accumulators, false));
        k_end(b);
    }
    if (t->of.folds && !acc) { /* the stack is complete */
        k_end(b);
        begin_lanes(t, p);
    }
    if (t->of.folds)
        fold_tile(t, p, acc);
    k_end(b);
    if (!t->of.folds)
        finish_tile(t, p);
}

/* --- the block --- */

static void open_memory(contract *t)
{
    sk_folds *s = t->s;
    k_builder *b = &s->lw->b;
    const int64_t width[SK_SIDES] = {t->tile.rows, t->tile.lanes};
    for (unsigned side = 0; side < SK_SIDES; side++) {
        const sk_operands *o = &t->of.side[side];
        t->side[side].width = width[side];
        t->side[side].packed = arena_array(s->lw->arena, k_mem, o->term.n);
        for (uint32_t i = 0; i < o->term.n; i++) {
            ir_type type = (ir_type)ir_at(s->lw->l->ir, o->term.at[i])->type;
            t->side[side].packed[i] =
                k_shared(b, type, sk_room_of(&t->of, (sk_side)side), side ? "of_column" : "of_row");
        }
    }
    if (!t->tile.brief)
        t->order = k_shared(b, T_I64, ORDER, "order");
    if (t->of.folds) {
        t->side[SK_OF_ROW].in_order = true;
        t->made.brief = t->tile.made_brief;
        t->made.rows = t->tile.rows;
        t->made.lanes = t->tile.lanes;
        sk_made_declare(&t->made, sk_panels_made(&t->of, t->tile));
    }
    t->waiting = sk_fold_memory(s, true, (t->tile.brief ? 1 : LEVELS) * t->tile.rows * t->tile.lanes, "waiting");
}

/* Part `number` of `parts` of an extent, of about the same size. */
static void find_part(contract *t, sk_side side, k_val number, k_val parts, k_val extent)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val begin = k_let(b, OP_QUOT, sk_mul(lw, number, extent), parts, 0);
    k_val end = k_let(b, OP_QUOT, sk_mul(lw, sk_add(lw, number, k_i64(b, 1)), extent), parts, 0);
    t->side[side].begin = begin;
    t->side[side].extent = sk_sub(lw, end, begin);
}

/* What the block has: a part of the rows that are folded, of the rows of the result, and of its columns. */
static void find_block(contract *t)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    const sk_cluster *c = lw->cluster;
    k_val number = k_piece(b), row_blocks = sk_slot(lw, SK_CONTRACT_ROW_BLOCKS, "row_blocks");
    k_val column_blocks = sk_slot(lw, SK_CONTRACT_COLUMN_BLOCKS, "column_blocks"),
          length = sk_slot(lw, SK_CONTRACT_LENGTH, "row_length");
    t->part = sk_take_digit(lw, &number, sk_slot(lw, SK_CONTRACT_PIECES, "pieces_a_row"));
    k_val column_block = sk_take_digit(lw, &number, column_blocks), row_block = sk_take_digit(lw, &number, row_blocks);
    find_part(t, SK_OF_ROW, row_block, row_blocks, sk_slot(lw, SK_CONTRACT_ROWS, "rows"));
    find_part(t, SK_OF_COLUMN, column_block, column_blocks, sk_slot(lw, SK_CONTRACT_COLUMNS, "columns"));
    for (unsigned d = c->loop->rank - 1u; d-- > 0;)
        if (d != t->of.dimension[SK_OF_ROW] && d != t->of.dimension[SK_OF_COLUMN])
            t->index[d] = sk_take_digit(lw, &number, sk_closed(lw, c->loop->shape[d]));
    k_val size = k_i64(b, SK_PIECE), one = k_i64(b, 1);
    t->begin = sk_mul(lw, t->part, size);
    t->count = sk_min(lw, size, sk_sub(lw, length, t->begin));
    t->accumulators = one;
    t->bits = k_i64(b, 0);
    t->lines = t->room = t->count;
    if (t->tile.brief)
        return;
    k_val last = sk_sub(lw, sk_min(lw, t->count, k_i64(b, ORDER)), one);
    k_val unused = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CLZ, last, 0, 0));
    t->bits = sk_sub(lw, k_i64(b, 64), unused);
    t->accumulators = k_let(b, OP_SHL, one, t->bits, 0);
    t->lines = k_let(b, OP_QUOT, sk_add(lw, t->count, k_i64(b, ORDER - 1)), k_i64(b, ORDER), 0);
    t->room = t->lines;
    if (t->tile.once)
        return;
    k_val few = k_i64(b, SK_CONTRACT_FEW);
    k_val few_rows = k_let(b, OP_LE, sk_slot(lw, SK_CONTRACT_ROWS, "rows"), few, 0);
    k_val few_columns = k_let(b, OP_LE, sk_slot(lw, SK_CONTRACT_COLUMNS, "columns"), few, 0);
    t->room = k_select(b, k_let(b, OP_AND, few_rows, few_columns, 0), k_let(b, OP_BIT_OR, t->lines, one, 0), t->lines);
}

static void make_order(contract *t)
{
    k_builder *b = &t->s->lw->b;
    if (t->tile.brief)
        return;
    k_val lane = k_for_all(b, t->accumulators);
    k_store(b, t->order, lane, sk_turned(t->s->lw, lane, t->bits));
    k_end(b);
}

static void take_block(contract *t)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), group = sk_slot(lw, SK_CONTRACT_GROUP, "panels_a_group");
    k_val rows = panel_count(t, SK_OF_ROW), columns = panel_count(t, SK_OF_COLUMN);
    pack(t, SK_OF_ROW, zero, rows);
    k_val groups = k_let(b, OP_QUOT, sk_add(lw, columns, sk_sub(lw, group, k_i64(b, 1))), group, 0);
    k_val first = sk_mul(lw, k_for(b, zero, groups, false), group), end = sk_min(lw, columns, sk_add(lw, first, group));
    pack(t, SK_OF_COLUMN, first, end);
    k_val row = k_for(b, zero, rows, false), column = k_for(b, first, end, false);
    place p = {.row = panel_begin(t, SK_OF_ROW, row), .column = panel_begin(t, SK_OF_COLUMN, column)};
    p.at[SK_OF_ROW] = panel_at(t, SK_OF_ROW, row);
    p.at[SK_OF_COLUMN] = panel_at(t, SK_OF_COLUMN, sk_sub(lw, column, first));
    take_tile(t, &p);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* What the folds of results have come to in all panels of columns. */
static void finish_folds(contract *t)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val column = k_for(b, k_i64(b, 0), panel_count(t, SK_OF_COLUMN), false);
    k_val begin = panel_begin(t, SK_OF_COLUMN, column), lane = k_for_whole(b, k_i64(b, t->tile.lanes));
    t->index[t->of.dimension[SK_OF_COLUMN]] = sk_add(lw, begin, lane);
    k_val at = t->index[0];
    for (unsigned d = 1; d + 2u < lw->cluster->loop->rank; d++)
        at = sk_add(lw, sk_mul(lw, at, sk_closed(lw, lw->cluster->loop->shape[d])), t->index[d]);
    sk_made_finish(&t->made, column, lane, t->side[SK_OF_ROW].extent, at);
    k_end(b);
    k_end(b);
}

/* The same where results are folded: tiles of a panel of columns come row by row. */
static void fold_block(contract *t)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), group = sk_slot(lw, SK_CONTRACT_GROUP, "panels_a_group");
    k_val row_group = sk_slot(lw, SK_CONTRACT_ROW_GROUP, "panels_a_row_group");
    k_val rows = panel_count(t, SK_OF_ROW), columns = panel_count(t, SK_OF_COLUMN);
    k_val row_groups = k_let(b, OP_QUOT, sk_add(lw, rows, sk_sub(lw, row_group, one)), row_group, 0);
    k_val groups = k_let(b, OP_QUOT, sk_add(lw, columns, sk_sub(lw, group, one)), group, 0);
    k_val first_row = sk_mul(lw, k_for(b, zero, row_groups, false), row_group);
    k_val end_row = sk_min(lw, rows, sk_add(lw, first_row, row_group));
    pack(t, SK_OF_ROW, first_row, end_row);
    k_val first = sk_mul(lw, k_for(b, zero, groups, false), group), end = sk_min(lw, columns, sk_add(lw, first, group));
    pack(t, SK_OF_COLUMN, first, end);
    k_val column = k_for(b, first, end, false), row = k_for(b, first_row, end_row, false);
    place p = {.row = panel_begin(t, SK_OF_ROW, row), .column = panel_begin(t, SK_OF_COLUMN, column), .panel = column};
    p.at[SK_OF_ROW] = panel_at(t, SK_OF_ROW, sk_sub(lw, row, first_row));
    p.at[SK_OF_COLUMN] = panel_at(t, SK_OF_COLUMN, sk_sub(lw, column, first));
    take_tile(t, &p);
    k_end(b);
    k_end(b);
    k_end(b);
    k_end(b);
    finish_folds(t);
}

static void contract_folds(sk_folds *s)
{
    sk_lower *lw = s->lw;
    const sk_contraction *known = lw->cluster->contraction;
    contract *t = arena_new(lw->arena, *t);
    *t = (contract){.s = s};
    if (!known || !sk_find_contraction(s, known->dimension[known->folds ? SK_OF_COLUMN : SK_OF_ROW], &t->of)) {
        lw->why.text = "these folds are no contraction";
        return;
    }
    t->tile = lw->options->row ? sk_tile_of_row(lw->options->row) : sk_largest_tile(&t->of, lw->options);
    if (t->tile.turned)
        t->of = sk_turn_contraction(&t->of);
    lw->out->k->lanes = (uint16_t)t->tile.lanes;
    if (lw->cluster->loop->class == L_CLASS_TILES)
        sk_made_find(&t->made, s);
    for (k_mem m = 1; m < lw->out->k->mem.n; m++)
        lw->out->k->mem.at[m].once = false; /* tiles overlap */
    s->bind = bind_element;
    s->bind_env = t;
    open_memory(t);
    find_block(t);
    lw->element = k_i64(&lw->b, 0);
    make_order(t);
    (t->of.folds ? fold_block : take_block)(t);
}

void sk_build_contract(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    sk_find_extremes(&s);
    contract_folds(&s);
}
