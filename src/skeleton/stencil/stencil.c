/* The skeleton of stencil loops: bands of rows, columns in tiles. A cluster of stencils that feed each other runs as
 * stages in one sweep: each stage computes one row a step, ahead of its readers by the rows they look down, into a ring
 * of rows in shared memory (the sliding windows of image-processing pipelines). On devices with vectors a step has
 * several rows: a stage that reads above or below computes them at once, so that what it reads is loaded once for all
 * of them, and what their terms have in common is computed once. Rows above and below a band and columns beside a tile
 * are recomputed. Kept rows are padded beyond the array's left and right edge with what the boundary says, and copies
 * of arrays in memory have rows above and below, too, so that their readers need no care there. Columns near the edge
 * that read neighbours from memory have loops of their own; all others read contiguously. */
#include "skeleton/stencil/stencil.h"

/* --- reads of rows in shared memory --- */

static k_val ring_position(stages *s, const stage *g, k_val row, k_val column)
{
    sk_lower *lw = s->lw;
    if (row && s->rows > 1)
        row = sk_sub(lw, row, g->first_row);
    k_val slot = g->ring == 1 || !row ? 0 : k_let(&lw->b, OP_REM, row, k_i64(&lw->b, g->ring), 0);
    k_val x = sk_sub(lw, column, g->first_column);
    return slot ? sk_add(lw, sk_mul(lw, slot, k_i64(&lw->b, g->width)), x) : x;
}

static k_mem place(void *env, sk_lower *lw, const ir_node *read, const k_val *index, k_val *position)
{
    stages *s = env;
    (void)lw;
    for (uint32_t i = 0; i < s->stage.n; i++) {
        const stage *g = &s->stage.at[i];
        if (g->op->term != read->array || !g->op->staged || g == s->copying)
            continue;
        unsigned rank = g->info->rank;
        *position = ring_position(s, g, rank > 1 ? index[rank - 2] : 0, index[rank - 1]);
        return g->rows[read->u.literal];
    }
    return 0;
}

/* --- code --- */

typedef struct tile { /* the piece: rows [top, bottom), columns [left, right) of an image of height x width */
    k_val top, bottom, left, right, height, width;
} tile;

/* position: in the kept rows */
static void store(stages *s, const stage *g, const tile *t, k_val row, k_val column, k_val position, const k_val *value)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    for (unsigned c = 0; c < g->info->components && g->op->staged; c++)
        k_store(b, g->rows[c], position, value[c]);
    if (!g->op->stored)
        return;
    if (g->op->staged) { /* rows and columns around the tile belong to others */
        k_val mine = k_let(b, OP_AND, k_let(b, OP_GE, row, t->top, 0), k_let(b, OP_LT, row, t->bottom, 0), 0);
        mine = k_let(b, OP_AND, mine, k_let(b, OP_GE, column, t->left, 0), 0);
        k_if(b, k_let(b, OP_AND, mine, k_let(b, OP_LT, column, t->right, 0), 0));
    }
    for (unsigned c = 0; c < g->info->components; c++)
        k_store(b, sk_array_memory(lw, g->op->term, c, true), sk_add(lw, sk_mul(lw, row, t->width), column), value[c]);
    if (g->op->staged)
        k_end(b);
}

/* where the columns of a row lie, and its outer index components */
typedef struct line {
    k_val row, outer[IR_MAX_RANK];
    k_val from, to;      /* all columns computed */
    k_val inner, beyond; /* of these, what reads no neighbours beyond the array's edges; with `ends` without the gangs
                            there */
    k_val ends;          /* bool: gangs at the ends suit; 0: never, */
    k_val left, right;   /* bool: and there is one to do at this end; */
    k_val gangs, last;   /* gangs between these, and the column where the last one begins, which may overlap others */
} line;

/* Columns of a row, or of a block of rows. */
typedef struct part {
    sk_columns columns;
    k_val from, count;
    /* many; few; a multiple of the lanes; so many gangs, see `line`; those of a few pixels, channel by channel */
    enum { ANY, FEW, WHOLE, GANGS, PIXELS } how;
    int side; /* of an sk_edge: one gang at this end of the row */
} part;

/* Prepares a body for the part's columns, and returns their index. */
static sk_index open_part(stages *s, const part *x, arena *a, sk_body *body)
{
    const l_cluster *loop = s->lw->cluster->loop;
    unsigned last = s->column;
    sk_index at = s->at;
    sk_stage_body(s, body, x->columns, a);
    if (!x->side)
        return at;
    body->edge = (sk_edge){.side = x->side,
                           .lane = at.at[last],
                           .first = s->end_column,
                           .extent = loop->shape[last],
                           .lanes = s->lw->out->k->lanes};
    if (last + 1u < s->at.rank) {
        body->edge.lane = s->lane;
        body->edge.channels = s->channels;
        body->edge.column = at.at[last];
    } else if (x->side == SK_RIGHT)
        at.at[last] = ir_op2(s->lw->l->ir, 0, OP_ADD, s->end_column, at.at[last]);
    return at;
}

/* Opens a loop over the pixels that a part has channels of; moves on to the first of one's, and returns it. */
static k_val begin_pixel(stages *s, k_val *from, k_val *count)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val channels = k_i64(b, s->channels), to = sk_add(lw, *from, *count);
    if (s->any_channels)
        channels = sk_product(lw, s->at.rank - 1u - s->column, lw->cluster->loop->shape + s->column + 1u);
    k_val end = k_let(b, OP_QUOT, sk_add(lw, to, sk_sub(lw, channels, k_i64(b, 1))), channels, 0);
    k_val pixel = k_for(b, k_let(b, OP_QUOT, *from, channels, 0), end, false);
    k_val first = sk_mul(lw, pixel, channels);
    *from = sk_max(lw, *from, first);
    *count = sk_sub(lw, sk_min(lw, to, sk_add(lw, first, channels)), *from);
    return pixel;
}

/* Opens the loop over a part's columns; returns the column. */
static k_val begin_part(stages *s, const line *l, const part *x, uint32_t *mark)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, lw->out->k->lanes), from = x->from;
    if (x->how == GANGS) {
        k_val gang = k_for(b, k_i64(b, 0), x->count, false);
        from = sk_min(lw, l->last, sk_add(lw, from, sk_mul(lw, gang, lanes)));
    }
    k_val count = x->side || x->how == GANGS ? lanes : x->count;
    k_val pixel = x->how == PIXELS ? begin_pixel(s, &from, &count) : 0;
    k_val lane = x->side || x->how == ANY            ? k_for_all(b, count)
                 : x->how == FEW || x->how == PIXELS ? k_for_few(b, count)
                                                     : k_for_whole(b, count);
    *mark = sk_scope(lw);
    k_val column = x->side == SK_LEFT ? lane : sk_add(lw, from, lane);
    for (unsigned d = 0; d < s->column; d++)
        sk_bind(lw, s->at.at[d], l->outer[d]);
    const bool channels = s->column + 1u < s->at.rank;
    sk_bind_column(lw, &s->at, s->column, x->side && !channels ? lane : column, pixel);
    if (x->side && channels)
        sk_bind(lw, s->lane, lane);
    if (x->side == SK_RIGHT)
        sk_bind(lw, s->end_column, x->from);
    return column;
}

static void end_part(stages *s, const part *x, uint32_t mark)
{
    sk_scope_end(s->lw, mark);
    k_end(&s->lw->b);
    if (x->how == GANGS || x->how == PIXELS)
        k_end(&s->lw->b);
}

/* columns of one row of one stage */
static void stage_columns(stages *s, const stage *g, const tile *t, const line *l, const part *x)
{
    sk_lower *lw = s->lw;
    sk_body body;
    uint32_t mark;
    sk_index at = open_part(s, x, lw->arena, &body);
    const ir_id *term = g->copy ? sk_pull(&body, g->op->term, &at) : sk_define(&body, g->op->term, &at);
    s->copying = g->copy ? g : NULL;
    k_val column = begin_part(s, l, x, &mark);
    lw->element = sk_add(lw, sk_mul(lw, l->row, t->width), column);
    k_val *value = arena_array(lw->arena, k_val, g->info->components);
    sk_emit(lw, g->info->components, term, value);
    s->copying = NULL;
    k_val position = g->op->staged ? ring_position(s, g, g->info->rank > 1 ? l->row : 0, column) : 0;
    store(s, g, t, l->row, column, position, value);
    end_part(s, x, mark);
}

/* The elements of all rows of a block at one column; row u is the first row's index and u. */
static ir_id *block_terms(stages *s, const stage *g, const part *x, arena *a)
{
    unsigned components = g->info->components, across = s->column - 1u;
    ir_program *p = s->lw->l->ir;
    ir_id *term = arena_array(a, ir_id, (size_t)s->rows * components);
    sk_body body;
    sk_index first = open_part(s, x, a, &body);
    body.several = true;
    for (int64_t u = 0; u < s->rows; u++) {
        sk_index at = first;
        at.at[across] = ir_op2(p, 0, OP_ADD, at.at[across], ir_i64(p, u));
        memcpy(term + u * components, sk_define(&body, g->op->term, &at), components * sizeof(ir_id));
    }
    return term;
}

/* One behind the other, so that emitters see them together. */
static void store_rows(stages *s, const stage *g, const tile *t, k_val row, k_val column, const k_val *value)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    unsigned components = g->info->components;
    k_val *position = arena_array(lw->arena, k_val, (size_t)s->rows);
    for (int64_t u = 0; u < s->rows; u++)
        position[u] = sk_add(lw, sk_mul(lw, sk_add(lw, row, k_i64(b, u)), t->width), column);
    for (int64_t u = 0; u < s->rows; u++)
        for (unsigned c = 0; c < components; c++)
            k_store(b, sk_array_memory(lw, g->op->term, c, true), position[u], value[u * components + c]);
}

/* Rows in memory that stages before this one read a step later. One loop reads them and does little else, while this
 * one leaves the memory alone: what it fetches is in a cache by then. */
static void fetch_ahead(stages *s, const stage *g, const tile *t, k_val column)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < g->fetches.n; i++) {
        const fetch *f = &g->fetches.at[i];
        k_mem m = (k_mem)map64_get(&lw->memory, ((uint64_t)f->array << 32) | f->component);
        if (!m)
            continue;
        k_val last = sk_sub(lw, sk_min(lw, t->height, sk_add(lw, t->bottom, k_i64(b, f->below))), k_i64(b, s->rows));
        k_val row = sk_min(lw, sk_add(lw, s->base, k_i64(b, f->lead + s->rows)), last);
        k_fetch_rows(b, m, sk_add(lw, sk_mul(lw, row, t->width), column), t->width, (unsigned)s->rows);
    }
}

static void block_columns(stages *s, const stage *g, const tile *t, const line *l, const part *x)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    unsigned components = g->info->components;
    uint32_t mark;
    const ir_id *term = block_terms(s, g, x, lw->arena);
    k_val *value = arena_array(lw->arena, k_val, (size_t)s->rows * components);
    k_val column = begin_part(s, l, x, &mark);
    if (x->how == WHOLE || x->how == GANGS)
        fetch_ahead(s, g, t, column);
    sk_emit(lw, (uint32_t)s->rows * components, term, value);
    k_val first = g->op->staged ? ring_position(s, g, l->row, column) : 0; /* the others follow: see first_row */
    for (int64_t u = 0; u < s->rows && first; u++)
        store(s, g, t, sk_add(lw, l->row, k_i64(b, u)), column, sk_add(lw, first, k_i64(b, u * g->width)),
              value + u * components);
    if (!first)
        store_rows(s, g, t, l->row, column, value);
    end_part(s, x, mark);
}

/* the columns of a kept row left of the array (or right of it) */
static void pad_side(stages *s, const stage *g, k_val row, k_val from, k_val count)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    ir_id variable = ir_var(lw->l->ir, T_I64);
    ir_id inside = sk_adjust(lw->l->ir, (ir_boundary)(g->pad - 1), variable,
                             lw->cluster->loop->shape[lw->cluster->loop->rank - 1]);
    k_val lane = k_for_few(b, count);
    uint32_t mark = sk_scope(lw);
    k_val column = sk_add(lw, from, lane), source;
    sk_bind(lw, variable, column);
    sk_emit(lw, 1, &inside, &source);
    for (unsigned c = 0; c < g->info->components; c++)
        k_store(b, g->rows[c], ring_position(s, g, row, column),
                k_load(b, g->rows[c], ring_position(s, g, row, source)));
    sk_scope_end(lw, mark);
    k_end(b);
}

/* Elements of a copy from column `from` on, of one of its rows: `term` per component. */
static void copy_columns(stages *s, const stage *g, const tile *t, k_val row, k_val from, k_val count,
                         const ir_id *term, bool few)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val *value = arena_array(lw->arena, k_val, g->info->components);
    k_val lane = few ? k_for_few(b, count) : k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    k_val column = sk_add(lw, from, lane);
    lw->element = sk_add(lw, sk_mul(lw, row, t->width), column);
    sk_bind(lw, s->at.at[0], row);
    sk_bind(lw, s->at.at[1], column);
    s->copying = g;
    sk_emit(lw, g->info->components, term, value);
    s->copying = NULL;
    for (unsigned c = 0; c < g->info->components; c++)
        k_store(b, g->rows[c], ring_position(s, g, row, column), value[c]);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* A row of a copy, which may lie above the array or below it: what the array has, and what the boundary says lies left
 * and right of that, or everywhere where there is no such row. */
static void copy_row(stages *s, const stage *g, const tile *t, const line *l, k_val row)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    ir_program *p = lw->l->ir;
    ir_boundary boundary = g->beyond->boundary;
    bool own = boundary == IR_CONSTANT || boundary == IR_FUNCTION;
    sk_body body;
    sk_stage_body(s, &body, SK_INSIDE, lw->arena);
    sk_index at = s->at;
    if (!own)
        at.at[0] = sk_adjust(p, boundary, s->at.at[0], g->info->shape[0]);
    const ir_id *inner = sk_pull(&body, g->op->term, &at), *outer = inner;
    if (own) {
        outer = sk_beyond(&body, g->op->term, g->beyond, &s->at);
    } else {
        at.at[1] = sk_adjust(p, boundary, s->at.at[1], g->info->shape[1]);
        outer = sk_pull(&body, g->op->term, &at);
    }
    k_val zero = k_i64(b, 0), first = sk_sub(lw, t->left, k_i64(b, g->need.left)), there = 0;
    k_val end = sk_add(lw, t->right, k_i64(b, g->need.right));
    k_val left = sk_max(lw, sk_sub(lw, zero, first), zero), right = sk_max(lw, sk_sub(lw, end, t->width), zero);
    if (own) {
        there = k_let(b, OP_AND, k_let(b, OP_GE, row, zero, 0), k_let(b, OP_LT, row, t->height, 0), 0);
        left = k_select(b, there, left, sk_sub(lw, end, first));
        right = k_select(b, there, right, zero);
        k_if(b, there);
    }
    copy_columns(s, g, t, row, l->from, sk_sub(lw, l->to, l->from), inner, false);
    if (own)
        k_end(b);
    k_val side = k_for(b, zero, k_i64(b, 2), false), is_left = k_let(b, OP_EQ, side, zero, 0);
    copy_columns(s, g, t, row, k_select(b, is_left, first, t->width), k_select(b, is_left, left, right), outer, true);
    k_end(b);
}

static bool is_padded(const stage *g)
{
    return g->pad && (g->need.left || g->need.right);
}

static void pad_row(stages *s, const stage *g, const tile *t, k_val row)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (!is_padded(g))
        return;
    k_val zero = k_i64(b, 0), first = sk_sub(lw, t->left, k_i64(b, g->need.left));
    k_val end = sk_add(lw, t->right, k_i64(b, g->need.right));
    row = g->info->rank > 1 ? row : 0;
    k_if(b, k_let(b, OP_LT, first, zero, 0));
    pad_side(s, g, row, first, sk_sub(lw, zero, first));
    k_end(b);
    k_if(b, k_let(b, OP_GT, end, t->width, 0));
    pad_side(s, g, row, t->width, sk_sub(lw, end, t->width));
    k_end(b);
}

/* The rows [first, end) of a stage that are computed at all, and its columns. */
typedef struct span {
    k_val first, end;
    line columns;
} span;

static bool has_ends(const stages *s, const stage *g)
{
    return g->ends && s->lanes >= larger(g->left, g->own.right);
}

/* Gangs at the ends of a row suit if it has columns for one, and as many more as neighbours are away
 * (sk_stencil_gangs).
 */
static void find_ends(stages *s, const stage *g, const tile *t, line *l)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, lw->out->k->lanes);
    l->left = k_let(b, OP_LT, l->from, k_i64(b, g->left), 0);
    l->right = k_let(b, OP_GT, l->to, sk_sub(lw, t->width, k_i64(b, g->own.right)), 0);
    int64_t both = g->left + g->own.right, one = larger(g->left, g->own.right);
    k_val enough = sk_add(lw, lanes, k_i64(b, both > lw->out->k->lanes ? both : one));
    l->ends = k_let(b, OP_GE, sk_sub(lw, l->to, l->from), enough, 0);
    k_val begins = k_let(b, OP_OR, k_let(b, OP_NOT, l->left, 0, 0), k_let(b, OP_EQ, l->from, k_i64(b, 0), 0), 0);
    k_val finishes = k_let(b, OP_OR, k_let(b, OP_NOT, l->right, 0, 0), k_let(b, OP_EQ, l->to, t->width, 0), 0);
    l->ends = k_let(b, OP_AND, l->ends, k_let(b, OP_AND, begins, finishes, 0), 0);
    k_val inner = k_select(b, l->left, lanes, l->from);
    k_val beyond = sk_max(lw, inner, k_select(b, l->right, sk_sub(lw, l->to, lanes), l->to));
    l->inner = k_select(b, l->ends, inner, l->inner);
    l->beyond = k_select(b, l->ends, beyond, l->beyond);
    if (!sk_stencil_gangs(s, g, s->lanes))
        return;
    l->gangs = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, beyond, inner), sk_sub(lw, lanes, k_i64(b, 1))), lanes, 0);
    l->last = sk_max(lw, sk_max(lw, l->from, k_i64(b, g->left)), sk_sub(lw, beyond, lanes));
}

static span span_of(stages *s, const stage *g, const tile *t)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0);
    span r = {sk_sub(lw, t->top, k_i64(b, g->need.up)), sk_add(lw, t->bottom, k_i64(b, g->need.down)), {0}};
    if (!g->beyond) {
        r.first = sk_max(lw, zero, r.first);
        r.end = sk_min(lw, t->height, r.end);
    }
    line *l = &r.columns;
    l->from = sk_max(lw, zero, sk_sub(lw, t->left, k_i64(b, g->start)));
    l->to = sk_min(lw, t->width, sk_add(lw, t->right, k_i64(b, g->need.right)));
    l->inner = sk_min(lw, l->to, sk_max(lw, l->from, k_i64(b, g->own.left)));
    l->beyond = sk_max(lw, l->inner, sk_min(lw, l->to, sk_sub(lw, t->width, k_i64(b, g->own.right))));
    if (s->any_channels && (g->own.left || g->own.right))
        l->inner = l->beyond = l->to;
    if (has_ends(s, g))
        find_ends(s, g, t, l);
    return r;
}

/* Computes columns of a row, or of a block of rows. */
typedef void (*do_part)(stages *s, const stage *g, const tile *t, const line *l, const part *x);

/* The gang at the left end of a row that ends in gangs. What is done in the order in which it lies in memory is
 * fetched before it is needed. */
static void do_left_end(stages *s, const stage *g, const tile *t, const line *l, sk_columns columns, do_part f)
{
    k_builder *b = &s->lw->b;
    k_if(b, l->left);
    f(s, g, t, l, &(part){columns, .side = SK_LEFT});
    k_end(b);
}

static void do_right_end(stages *s, const stage *g, const tile *t, const line *l, sk_columns columns, do_part f)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_if(b, l->right);
    f(s, g, t, l, &(part){columns, sk_sub(lw, l->to, k_i64(b, lw->out->k->lanes)), .side = SK_RIGHT});
    k_end(b);
}

enum { LEAST_PIXEL = 8 }; /* channels that are worth a gang that is not whole */

/* The gang at the right end of a row that ends in gangs; or, of other rows that do not end in gangs, the columns left
 * of the inner ones and those from `rest` on. */
static void do_sides(stages *s, const stage *g, const tile *t, const line *l, k_val rest, sk_columns columns, do_part f)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (l->ends) {
        k_if(b, l->ends);
        do_right_end(s, g, t, l, columns, f);
        k_else(b);
    }
    k_val side = k_for(b, k_i64(b, 0), k_i64(b, 2), false);
    k_val right = k_let(b, OP_EQ, side, k_i64(b, 1), 0), from = k_select(b, right, rest, l->from);
    k_val count = sk_sub(lw, k_select(b, right, l->to, l->inner), from);
    f(s, g, t, l, &(part){columns, from, count, s->any_channels || s->channels >= LEAST_PIXEL ? PIXELS : FEW, 0});
    k_end(b);
    if (l->ends)
        k_end(b);
}

/* All columns of a row, in gangs if it has columns enough: inner ones as `inner`, others as `outer`. */
static void do_gangs(stages *s, const stage *g, const tile *t, const line *l, sk_columns inner, sk_columns outer,
                     do_part f)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (s->only == SK_EITHER)
        k_if(b, l->ends);
    if (s->only != SK_NO_ENDS) {
        do_left_end(s, g, t, l, outer, f);
        f(s, g, t, l, &(part){inner, l->inner, l->gangs, GANGS, 0});
        do_right_end(s, g, t, l, outer, f);
    }
    if (s->only == SK_EITHER)
        k_else(b);
    if (s->only != SK_ENDS)
        f(s, g, t, l, &(part){outer, l->from, sk_sub(lw, l->to, l->from), FEW, 0});
    if (s->only == SK_EITHER)
        k_end(b);
}

/* What of a step's rows a block has done. */
typedef struct done {
    k_val columns; /* so many inner ones, from the first on; or, */
    k_val all;     /* bool: all columns of all rows. 0: never */
} done;

/* One row but for what is done. */
static void stage_row(stages *s, const stage *g, const tile *t, const span *r, k_val row, const done *d)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    line l = r->columns;
    k_if(b, k_let(b, OP_AND, k_let(b, OP_GE, row, r->first, 0), k_let(b, OP_LT, row, r->end, 0), 0));
    if (g->beyond) {
        copy_row(s, g, t, &l, row);
        k_end(b);
        return;
    }
    l.row = row;
    if (d->all)
        k_if(b, k_let(b, OP_NOT, d->all, 0, 0));
    sk_row_indices(lw, s->column + 1u, lw->cluster->loop->shape, row, l.outer);
    sk_columns inner = g->free ? SK_INSIDE : SK_INTERIOR;
    if (l.gangs) {
        do_gangs(s, g, t, &l, inner, SK_GENERIC, stage_columns);
        if (d->all)
            k_end(b);
        k_end(b);
        return;
    }
    if (l.ends) {
        k_if(b, l.ends);
        do_left_end(s, g, t, &l, SK_GENERIC, stage_columns);
        k_end(b);
    }
    k_val from = d->columns ? sk_add(lw, l.inner, d->columns) : l.inner; /* of blocks: what is left over */
    k_val count = sk_max(lw, sk_sub(lw, l.beyond, from), k_i64(b, 0));
    stage_columns(s, g, t, &l, &(part){inner, from, count, g->block ? FEW : ANY, 0});
    if (g->own.left || g->own.right)
        do_sides(s, g, t, &l, l.beyond, SK_GENERIC, stage_columns);
    if (d->all)
        k_end(b);
    pad_row(s, g, t, row);
    k_end(b);
}

/* A block of rows, if all of these are computed and lie in one plane, and their neighbours, too, if the block's code
 * knows no others: its whole gangs, and where the code for that is short, what is left on both sides. */
static done stage_block(stages *s, const stage *g, const tile *t, const span *r, k_val row)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    unsigned rank = s->column + 1u;
    line l = r->columns;
    l.row = row;
    k_val past = sk_add(lw, row, k_i64(b, s->rows));
    k_val all = k_let(b, OP_AND, k_let(b, OP_GE, row, r->first, 0), k_let(b, OP_LE, past, r->end, 0), 0);
    sk_row_indices(lw, rank, lw->cluster->loop->shape, row, l.outer);
    int64_t down = g->inside ? g->down : 0;
    if (rank > 2 || down) {
        k_val height = sk_closed(lw, lw->cluster->loop->shape[rank - 2]);
        k_val end = sk_add(lw, l.outer[rank - 2], k_i64(b, s->rows + down));
        all = k_let(b, OP_AND, all, k_let(b, OP_LE, end, height, 0), 0);
    }
    if (g->inside)
        all = k_let(b, OP_AND, all, k_let(b, OP_GE, l.outer[rank - 2], k_i64(b, g->up), 0), 0);
    k_val columns = sk_sub(lw, l.beyond, l.inner), zero = k_i64(b, 0);
    k_val whole = sk_sub(lw, columns, k_let(b, OP_REM, columns, k_i64(b, lw->out->k->lanes), 0));
    if (!g->edges)
        whole = k_select(b, all, whole, zero);
    else
        k_if(b, all);
    sk_columns beside = g->inside ? SK_BESIDE : SK_GENERIC;
    if (l.gangs) {
        do_gangs(s, g, t, &l, sk_block_columns(g), beside, block_columns);
        k_end(b);
        return (done){.all = all};
    }
    if (g->edges && l.ends) {
        k_if(b, l.ends);
        do_left_end(s, g, t, &l, beside, block_columns);
        k_end(b);
    }
    block_columns(s, g, t, &l, &(part){sk_block_columns(g), l.inner, whole, WHOLE, 0});
    if (!g->edges)
        return (done){.columns = whole};
    bool sides = g->own.left || g->own.right;
    k_val rest = sk_add(lw, l.inner, whole), end = sides ? l.beyond : l.to;
    if (l.ends)
        k_if(b, l.ends);
    if (l.ends || !sides)
        block_columns(s, g, t, &l, &(part){sk_block_columns(g), rest, sk_sub(lw, end, rest), FEW, 0});
    if (l.ends)
        k_end(b);
    if (sides)
        do_sides(s, g, t, &l, rest, beside, block_columns);
    k_end(b);
    return (done){.all = all};
}

static void stage_rows(stages *s, const stage *g, const tile *t, k_val base)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val row = sk_add(lw, base, k_i64(b, g->lead));
    span r = span_of(s, g, t);
    done d = {0};
    if (g->block)
        d = stage_block(s, g, t, &r, row);
    if (s->rows == 1) {
        stage_row(s, g, t, &r, row, &d);
        return;
    }
    bool skipped = d.all && !is_padded(g);
    if (skipped) {
        k_if(b, k_let(b, OP_NOT, d.all, 0, 0));
        d.all = 0;
    }
    k_val u = k_for(b, k_i64(b, 0), k_i64(b, s->rows), false);
    stage_row(s, g, t, &r, sk_add(lw, row, u), &d);
    k_end(b);
    if (skipped)
        k_end(b);
}

/* Of rows too short for gangs of so many lanes: as many that they are done in gangs after all, whose code is short and
 * has no masks; or else, where neighbours are too far away for that, as many as they have columns. */
static void choose_short_lanes(stages *s, int64_t log)
{
    enum { LEAST_BYTES = 4 };
    const stage *g = &s->stage.at[0];
    uint16_t *lanes = &s->lw->out->k->lanes;
    int64_t most = (int64_t)1 << log, least = log > SK_STENCIL_LEAST_LOG ? most / 2 + 1 : 1, widest = 1;
    for (unsigned c = 0; c < g->info->components; c++)
        widest = larger(widest, (int64_t)ir_type_size(g->info->type[c]));
    int64_t gangs = 0;
    for (int64_t n = s->lanes / 2; n * widest >= LEAST_BYTES && !gangs; n /= 2) {
        int64_t enough = sk_stencil_gangs(s, g, n);
        gangs = enough && enough <= least ? n : 0;
    }
    s->only = gangs ? SK_ENDS : SK_NO_ENDS;
    if (gangs)
        s->lanes = *lanes = (uint16_t)gangs;
    while (!gangs && *lanes * widest > LEAST_BYTES && *lanes / 2 >= most)
        *lanes /= 2;
}

/* What the launch says of its rows, and how many lanes suit. */
static void choose_lanes(stages *s, const sk_options *options, arena *a)
{
    int64_t told = s->lw->cluster->gang_columns;
    s->lanes = s->lw->out->k->lanes = sk_stencil_lanes(s, options, a);
    int64_t gangs = sk_stencil_gangs(s, &s->stage.at[0], s->lanes);
    if (gangs && options->row & SK_STENCIL_LONG && told >= gangs)
        s->only = SK_ENDS;
    if (gangs && options->row & SK_STENCIL_SHORT && told <= gangs)
        choose_short_lanes(s, options->row >> SK_STENCIL_LOG);
}

/* slots: 0 rows a band, 1 tiles a row, 2 rows, 3 columns, 4 columns a tile */
void sk_build_stencil(sk_lower *lw)
{
    const sk_options *options = lw->options;
    arena *a = lw->arena;
    sk_open(lw, 1);
    stages s = sk_stencil_stages(lw, options, a);
    if (s.column + 2u == s.at.rank && !s.any_channels)
        map64_put(a, &lw->argument, lw->cluster->loop->shape[s.column + 1u], k_i64(&lw->b, s.channels));
    sk_open_columns(lw, &s.at, s.column);
    choose_lanes(&s, options, a);
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < s.stage.n; i++)
        for (unsigned k = 0; k < s.stage.at[i].info->components && s.stage.at[i].op->stored; k++) {
            k_mem m = sk_array_memory(lw, s.stage.at[i].op->term, k, true);
            if (has_ends(&s, &s.stage.at[i]))
                lw->out->k->mem.at[m].once = false; /* the gangs at a row's ends may overlap */
        }
    k_val band = sk_slot(lw, 0, "band"), tiles = sk_slot(lw, 1, "tiles");
    tile t = {.height = sk_slot(lw, 2, "height"), .width = sk_slot(lw, 3, "width")};
    k_val size = sk_slot(lw, 4, "tile_width");
    k_val group = k_let(b, OP_QUOT, k_piece(b), tiles, 0);
    t.top = sk_mul(lw, group, band);
    t.bottom = sk_min(lw, t.height, sk_add(lw, t.top, band));
    t.left = sk_mul(lw, sk_sub(lw, k_piece(b), sk_mul(lw, group, tiles)), size);
    t.right = sk_min(lw, t.width, sk_add(lw, t.left, size));
    int64_t tile_columns = options->row & SK_STENCIL_NARROW ? SK_NARROW : sk_tile(lw->cluster, options);
    int64_t warm = 0;
    for (uint32_t i = 0; i < s.stage.n; i++) {
        stage *g = &s.stage.at[i];
        warm = larger(warm, g->need.up + g->lead);
        int64_t before = s.aligned ? round_up(g->start, LINE) : g->start;
        g->width = s.aligned ? round_up(before + tile_columns + g->need.right, LINE) + FULL
                             : before + tile_columns + g->need.right;
        g->first_column = sk_sub(lw, t.left, k_i64(b, before));
        g->rows = arena_array(a, k_mem, g->info->components);
        for (unsigned k = 0; k < g->info->components && g->op->staged; k++)
            g->rows[k] = k_shared(b, g->info->type[k], g->ring * g->width,
                                  arena_printf(a, "rows_a%u", lw->l->number[g->op->term]));
    }
    lw->place = place;
    lw->place_env = &s;
    k_val start = sk_sub(lw, t.top, k_i64(b, warm)), height = sk_sub(lw, t.bottom, start);
    k_val steps = k_let(b, OP_QUOT, sk_add(lw, height, k_i64(b, s.rows - 1)), k_i64(b, s.rows), 0);
    for (uint32_t i = 0; i < s.stage.n; i++)
        s.stage.at[i].first_row = sk_add(lw, start, k_i64(b, s.stage.at[i].lead));
    k_val base = sk_add(lw, start, sk_mul(lw, k_for(b, k_i64(b, 0), steps, false), k_i64(b, s.rows)));
    s.base = base;
    for (uint32_t i = 0; i < s.stage.n; i++)
        stage_rows(&s, &s.stage.at[i], &t, base);
    k_end(b);
}
