/* Stencils where blocks are many threads. A block takes a tile of rows and columns, and a thread of it some
 * neighbouring rows and columns, whose elements share what they read and compute: nothing is kept in shared memory, as
 * the caches have what neighbouring threads read, and no thread waits for another one. Tiles that read nothing beyond
 * the array's edges have code without boundaries, in which neighbours are loaded and stored together. Elements of
 * dimensions along which no neighbours are read are columns of the dimension before them if they are few; then a thread
 * has one. */
#include "skeleton/extents.h"
#include "skeleton/stencil/stencil.h"

enum { THREADS = 256, MOST_ROWS = 8, MOST_COLUMNS = 4, ACROSS_LOG = 5 /* most threads beside each other */ };
enum { HAS_PIXELS = 1 << 8 /* sk_geometry.row; below that, rows of a thread */ };
enum { TILES_ACROSS, TILES_DOWN, ROWS, COLUMNS, ACROSS, DOWN }; /* slots */

/* --- how many elements a thread has --- */

/* Rows and columns of a thread, so that what it reads stays in registers and its code is short. A failure takes the
 * thread away, and others of its elements with it, among which there may be one to be reported instead: those are
 * alone. */
static sk_thread_block block_of(const sk_cluster *c, unsigned channels, const stencil_element *e)
{
    enum { REGISTERS = 96, MOST_REGISTERS = 160, MOST_CODE = 1000 };
    const halo h = e->beyond;
    int64_t rows = c->loop->rank > 1u + channels ? MOST_ROWS : 1, words = e->words;
    int64_t columns = channels ? 1 : e->narrowest == 8 ? 2 : MOST_COLUMNS;
    if (e->alone)
        rows = columns = 1;
    for (;;) {
        int64_t elements = rows * columns;
        int64_t reads = smaller(e->reads * elements, e->arrays * (rows + h.up + h.down) * (columns + h.left + h.right));
        int64_t kept = (reads + elements * e->results) * words, code = e->operations * elements + reads;
        bool fits = kept <= (rows > 1 ? REGISTERS : MOST_REGISTERS) && code <= MOST_CODE;
        if (fits || elements == 1)
            break;
        if (rows > 1)
            rows /= 2;
        else
            columns /= 2;
    }
    if (!h.up && !h.down) /* rows share nothing */
        rows = smaller(rows, 2);
    return (sk_thread_block){(uint8_t)rows, (uint8_t)columns, h.up, h.down, h.left, h.right};
}

void sk_group_stencil_prepare(sk_cluster *c, arena *a)
{
    stencil_element e = {0};
    if (!sk_stencil_element(c, 0, a, &e))
        return;
    c->block = block_of(c, 0, &e);
    if (c->channels && sk_stencil_element(c, c->channels, a, &e))
        c->pixel_block = block_of(c, c->channels, &e);
}

/* --- the launch --- */

/* Rows of a thread: fewer where units would have nothing to do. */
static int64_t rows_of(const sk_call *x, const sk_thread_block *block, int64_t elements)
{
    enum { THREADS_A_UNIT = 1536 };
    int64_t rows = block->rows, enough = larger(x->o->workers, 1) * THREADS_A_UNIT;
    while (rows > 1 && elements / (rows * block->columns) < enough)
        rows /= 2;
    return rows;
}

/* Do channels count as columns? Rows that are long enough for the threads of a gang share more of what they read. */
static bool has_pixels(const sk_call *x)
{
    enum { FEW = 16 };
    const sk_cluster *c = x->c;
    int64_t channels = 1;
    for (unsigned d = c->loop->rank - c->channels; d < c->loop->rank && channels < FEW; d++)
        channels *= x->extent[d];
    return c->pixel_block.rows && channels < FEW;
}

bool sk_launch_group_stencil(const sk_call *x, sk_geometry *g)
{
    const sk_cluster *c = x->c;
    const bool pixels = has_pixels(x);
    const sk_thread_block *block = pixels ? &c->pixel_block : &c->block;
    unsigned rank = c->loop->rank - (pixels ? c->channels : 0u);
    if (!x->o->group || !block->rows)
        return false;
    int64_t rows = rank > 1 ? x->extent[rank - 2] : 1, columns = 1, outer = 1, log = 0;
    for (unsigned d = rank - 1; d < c->loop->rank; d++)
        columns *= x->extent[d];
    for (unsigned d = 0; d + 2 < rank; d++)
        outer *= x->extent[d];
    int64_t own = rows_of(x, block, outer * rows * columns), most = rank > 1 ? ACROSS_LOG : 8;
    while (log < most && ((int64_t)1 << log) * block->columns < columns)
        log++;
    g->row = own | (pixels ? HAS_PIXELS : 0);
    g->slot[TILES_ACROSS] = pieces_of(columns, (int64_t)block->columns << log);
    g->slot[TILES_DOWN] = pieces_of(rows, (THREADS >> log) * own);
    g->slot[ROWS] = rows;
    g->slot[COLUMNS] = columns;
    g->slot[ACROSS] = (int64_t)1 << log;
    g->slot[DOWN] = THREADS >> log;
    g->pieces = outer * g->slot[TILES_ACROSS] * g->slot[TILES_DOWN];
    return true;
}

/* --- the kernel --- */

typedef struct tile {
    sk_lower *lw;
    sk_outputs out;                     /* terms: none */
    int64_t rows, columns;              /* of a thread */
    const sk_thread_block *block;
    unsigned rank;                      /* dimensions up to that of columns */
    k_val height, width, across, down;  /* the latter two: threads beside each other, and below each other */
    k_val outer;                        /* number of the plane */
    k_val first_row, first_column;      /* of the block, in units of what a thread has */
    k_val row, column;                  /* of the thread */
    k_val top, bottom, left, right;     /* of the block, within the array */
    k_val above, below, before, behind; /* rows from `above` to `below` and columns from `before` to `behind` belong to
                                           threads that read nothing outside */
    k_val index[IR_MAX_RANK];
    sk_index at;
} tile;

static k_val is(tile *t, ir_op op, k_val x, k_val y)
{
    return k_let(&t->lw->b, op, x, y, 0);
}

static void bind_plane(tile *t, uint32_t *mark)
{
    *mark = sk_scope(t->lw);
    for (unsigned d = 0; d + 2 < t->rank; d++)
        sk_bind(t->lw, t->at.at[d], t->index[d]);
}

/* Opens the loop over the block's threads that read nothing outside. */
static void begin_threads(tile *t, uint32_t *mark)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    k_val thread = k_for_all(b, k_i64(b, THREADS)), all = k_i64(b, THREADS);
    k_val down = is(t, OP_QUOT, sk_mul(lw, thread, t->down), all); /* thread / across, as both divide `all` */
    k_val across = sk_sub(lw, thread, sk_mul(lw, down, t->across));
    t->row = sk_mul(lw, sk_add(lw, t->first_row, down), k_i64(b, t->rows));
    t->column = sk_mul(lw, sk_add(lw, t->first_column, across), k_i64(b, t->columns));
    k_val end_row = sk_add(lw, t->row, k_i64(b, t->rows)), end_column = sk_add(lw, t->column, k_i64(b, t->columns));
    k_val rows = is(t, OP_AND, is(t, OP_GE, t->row, t->above), is(t, OP_LE, end_row, t->below));
    k_val columns = is(t, OP_AND, is(t, OP_GE, t->column, t->before), is(t, OP_LE, end_column, t->behind));
    k_if(b, is(t, OP_AND, rows, columns));
    bind_plane(t, mark);
}

static void end_threads(tile *t, uint32_t mark)
{
    sk_scope_end(t->lw, mark);
    k_end(&t->lw->b);
    k_end(&t->lw->b);
}

static k_val row_begin(tile *t, k_val row)
{
    sk_lower *lw = t->lw;
    if (t->rank > 2)
        row = sk_add(lw, sk_mul(lw, t->outer, t->height), row);
    return sk_mul(lw, row, t->width);
}

static void elements_of(tile *t, sk_body *body, const sk_index *at, ir_id *term)
{
    const sk_cluster *c = t->lw->cluster;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        if (!op->stored)
            continue;
        uint32_t components = ir_info(t->lw->l->ir, op->term)->components;
        memcpy(term, sk_define(body, op->term, at), components * sizeof(ir_id));
        term += components;
    }
}

static void store_part(tile *t, uint32_t i, k_val position, k_val value)
{
    sk_lower *lw = t->lw;
    k_store(&lw->b, sk_array_memory(lw, t->out.array.at[i], t->out.component.at[i], true), position, value);
}

/* All elements of each thread, none of which reads anything outside. */
static void inside_elements(tile *t)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    ir_program *p = lw->l->ir;
    uint32_t mark, n = t->out.array.n, columns = (uint32_t)t->columns, all = (uint32_t)t->rows * columns * n;
    const unsigned rank = t->rank;
    ir_id *term = arena_array(lw->arena, ir_id, all);
    k_val *value = arena_array(lw->arena, k_val, all);
    sk_body body;
    sk_body_init(&body, lw->cluster, SK_INSIDE, lw->arena);
    body.behind = (uint8_t)(t->at.rank - t->rank);
    body.several = body.composes = true;
    for (int64_t u = 0; u < t->rows; u++)
        for (int64_t v = 0; v < t->columns; v++) {
            sk_index at = t->at;
            if (rank > 1)
                at.at[rank - 2] = ir_op2(p, 0, OP_ADD, at.at[rank - 2], ir_i64(p, u));
            at.at[rank - 1] = ir_op2(p, 0, OP_ADD, at.at[rank - 1], ir_i64(p, v));
            elements_of(t, &body, &at, term + (u * t->columns + v) * n);
        }
    begin_threads(t, &mark);
    if (rank > 1)
        sk_bind(lw, t->at.at[rank - 2], t->row);
    sk_bind_column(lw, &t->at, rank - 1u, t->column, 0);
    lw->element = sk_add(lw, row_begin(t, t->row), t->column);
    sk_emit(lw, all, term, value);
    for (int64_t u = 0; u < t->rows; u++) {
        k_val begin = row_begin(t, sk_add(lw, t->row, k_i64(b, u)));
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t v = 0; v < columns; v++)
                store_part(t, i, sk_add(lw, begin, sk_add(lw, t->column, k_i64(b, v))),
                           value[((uint32_t)u * columns + v) * n + i]);
    }
    end_threads(t, mark);
}

/* The elements of a rectangle, one by one. */
static void rectangle(tile *t, k_val top, k_val bottom, k_val left, k_val right)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    uint32_t mark, n = t->out.array.n;
    const unsigned rank = t->rank;
    k_val *value = arena_array(lw->arena, k_val, n), width = sk_sub(lw, right, left);
    ir_id *term = arena_array(lw->arena, ir_id, n);
    sk_body body;
    sk_body_init(&body, lw->cluster, SK_GENERIC, lw->arena);
    body.behind = (uint8_t)(t->at.rank - t->rank);
    body.composes = true;
    elements_of(t, &body, &t->at, term);
    k_val thread = k_for_all(b, sk_mul(lw, sk_sub(lw, bottom, top), width)), line = is(t, OP_QUOT, thread, width);
    k_val row = sk_add(lw, top, line), column = sk_add(lw, left, sk_sub(lw, thread, sk_mul(lw, line, width)));
    bind_plane(t, &mark);
    if (rank > 1)
        sk_bind(lw, t->at.at[rank - 2], row);
    sk_bind_column(lw, &t->at, rank - 1u, column, 0);
    lw->element = sk_add(lw, row_begin(t, row), column);
    sk_emit(lw, n, term, value);
    for (uint32_t i = 0; i < n; i++)
        store_part(t, i, lw->element, value[i]);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* What lies around the threads that read nothing outside: rows above and below, and what is left on both sides. */
static void edge_elements(tile *t)
{
    k_builder *b = &t->lw->b;
    k_val part = k_for(b, k_i64(b, 0), k_i64(b, 4), false);
    k_val side = is(t, OP_GE, part, k_i64(b, 2)), second = is(t, OP_EQ, is(t, OP_REM, part, k_i64(b, 2)), k_i64(b, 1));
    k_val top = k_select(b, side, t->above, k_select(b, second, t->below, t->top));
    k_val bottom = k_select(b, side, t->below, k_select(b, second, t->bottom, t->above));
    k_val left = k_select(b, is(t, OP_AND, side, second), t->behind, t->left);
    k_val right = k_select(b, is(t, OP_AND, side, is(t, OP_NOT, second, 0)), t->before, t->right);
    rectangle(t, top, bottom, left, right);
    k_end(b);
}

static void list_outputs(sk_lower *lw, sk_outputs *out)
{
    for (uint32_t i = 0; i < lw->cluster->loop->op.n; i++) {
        const l_op *op = &lw->cluster->loop->op.at[i];
        for (uint32_t c = 0; c < ir_info(lw->l->ir, op->term)->components && op->stored; c++) {
            vec_push(lw->arena, &out->array, op->term);
            vec_push(lw->arena, &out->component, c);
            sk_array_memory(lw, op->term, c, true);
        }
    }
}

/* Where of `from` to `to`, of an array with so many rows or columns, the units of `size` lie that read at most `before`
 * and `behind` these, times `channels`, without reading outside. */
static void find_inside(tile *t, k_val from, k_val to, k_val all, int64_t size, int64_t before, int64_t behind,
                        k_val channels, k_val *first, k_val *end)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    k_val unit = k_i64(b, size), last = sk_sub(lw, all, sk_mul(lw, k_i64(b, behind), channels));
    k_val whole = is(t, OP_QUOT, last, unit);
    *first = sk_min(lw, to, sk_max(lw, from, sk_mul(lw, k_i64(b, round_up(before, size)), channels)));
    *end = sk_max(lw, *first, sk_min(lw, to, sk_mul(lw, whole, unit)));
}

static void find_edges(tile *t)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    const sk_thread_block *own = t->block;
    t->top = sk_mul(lw, t->first_row, k_i64(b, t->rows));
    t->left = sk_mul(lw, t->first_column, k_i64(b, t->columns));
    t->bottom = sk_min(lw, t->height, sk_add(lw, t->top, sk_mul(lw, t->down, k_i64(b, t->rows))));
    t->right = sk_min(lw, t->width, sk_add(lw, t->left, sk_mul(lw, t->across, k_i64(b, t->columns))));
    k_val one = k_i64(b, 1), channels = sk_product(lw, t->at.rank - t->rank, lw->cluster->loop->shape + t->rank);
    find_inside(t, t->top, t->bottom, t->height, t->rows, own->up, own->down, one, &t->above, &t->below);
    find_inside(t, t->left, t->right, t->width, t->columns, own->left, own->right, channels, &t->before,
                &t->behind);
}

static k_val has_edges(tile *t)
{
    k_val rows = is(t, OP_OR, is(t, OP_GT, t->above, t->top), is(t, OP_LT, t->below, t->bottom));
    k_val columns = is(t, OP_OR, is(t, OP_GT, t->before, t->left), is(t, OP_LT, t->behind, t->right));
    return is(t, OP_OR, rows, columns);
}

void sk_build_group_stencil(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    sk_open(lw, 1);
    const bool pixels = lw->options->row > 0 && lw->options->row & HAS_PIXELS;
    const sk_thread_block *block = pixels ? &c->pixel_block : &c->block;
    const int64_t rows = lw->options->row > 0 ? lw->options->row & (HAS_PIXELS - 1) : 0;
    if (!block->rows) {
        lw->why.text = "the loop reads what it computes itself beside its own index";
        return;
    }
    k_builder *b = &lw->b;
    tile t = {.lw = lw, .block = block, .columns = block->columns, .at = {.rank = c->loop->rank}};
    t.rank = c->loop->rank - (pixels ? c->channels : 0u);
    t.rows = rows && rows <= MOST_ROWS ? rows : block->rows;
    lw->out->k->group = (uint16_t)smaller(larger(lw->options->group, 1), THREADS);
    for (unsigned d = 0; d < t.at.rank; d++)
        t.at.at[d] = ir_var(lw->l->ir, T_I64);
    sk_open_columns(lw, &t.at, t.rank - 1u);
    list_outputs(lw, &t.out);
    k_val tiles_across = sk_slot(lw, TILES_ACROSS, "tiles_across");
    t.height = sk_slot(lw, ROWS, "height");
    t.width = sk_slot(lw, COLUMNS, "width");
    t.across = sk_slot(lw, ACROSS, "threads_across");
    t.down = sk_slot(lw, DOWN, "threads_down");
    k_val tile_row = k_piece(b), tile_column = sk_take_digit(lw, &tile_row, tiles_across);
    if (t.rank > 2) {
        t.outer = tile_row;
        tile_row = sk_take_digit(lw, &t.outer, sk_slot(lw, TILES_DOWN, "tiles_down"));
        sk_row_indices(lw, t.rank - 1u, c->loop->shape, t.outer, t.index);
    }
    t.first_column = sk_mul(lw, tile_column, t.across);
    t.first_row = sk_mul(lw, tile_row, t.down);
    find_edges(&t);
    if (t.columns > 1) {
        k_if_either(b, is(&t, OP_EQ, is(&t, OP_REM, t.width, k_i64(b, t.columns)), k_i64(b, 0)));
        inside_elements(&t);
        k_else(b);
    }
    inside_elements(&t);
    if (t.columns > 1)
        k_end(b);
    k_if(b, has_edges(&t));
    edge_elements(&t);
    k_end(b);
}
