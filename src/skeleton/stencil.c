/* The skeleton of stencil loops: bands of rows, columns in tiles. A cluster of stencils that feed each other runs as stages
 * in one sweep: each stage computes one row a step, ahead of its readers by the rows they look down, into a ring of rows
 * in shared memory (the sliding windows of image-processing pipelines). On devices with vectors a step has several rows: a
 * stage that reads above or below computes them at once, so that what it reads is loaded once for all of them, and what
 * their terms have in common is computed once. Rows above and below a band and columns beside a tile are
 * recomputed. Kept rows are padded beyond the array's left and right edge with what the boundary says, so that their readers need
 * no care there. Columns near the edge that read neighbours from memory have loops of their own; all others read contiguously. */
#include "skeleton/variants.h"

#include "opt/rewrite.h"

enum { MAX_TILE = 4096, WIDE_TILE = 8192, ROWS_BUDGET = 448 * 1024, ROW_GAP = 128 /* most bytes lost in front of an array in shared memory */ };

/* Rows computed at once, and the most operations a column of one of them may have. */
enum { MOST_ROWS = 4, MOST_BLOCK = 400 };

/* Columns: rows start at multiples of FULL vectors, and are kept at multiples of a LINE of the cache, so that all but neighbours
 * are read and written without crossing lines. */
enum { FULL = 16, LINE = 64 };

typedef struct halo {
    int64_t up, down, left, right;
} halo;

typedef struct stage {
    const l_op *op;
    const ir_array *info;
    halo need;         /* beyond the tile, rows and columns of this stage that others read */
    halo own;          /* the farthest neighbours its own stencils read, other than from padded rows */
    int pad;           /* PAD_...: what readers find left and right of the array */
    int64_t lead, ring; /* rows ahead of the base row; rows kept */
    bool block;        /* several rows are computed at once: they share what they read */
    int64_t start;     /* columns computed left of a tile: need.left and what makes rows start at a full vector */
    int64_t width;     /* columns of a kept row */
    k_mem *rows;       /* per component */
    k_val first_column; /* of the kept rows, this tile */
} stage;

/* Values above PAD_NONE are 1 + an ir_boundary. */
enum { PAD_UNKNOWN = -1, PAD_NONE = 0 };

typedef struct stages {
    sk_lower *lw;
    bool aligned; /* the device has vectors */
    int64_t rows; /* computed by each stage a step */
    VEC(stage) stage;
    sk_index at;
} stages;

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- how far stages read into each other --- */

typedef struct reach {
    ir_id node;
    halo h;
    bool followed; /* delayed: its operands have been added */
} reach;

static bool grow(halo *into, const halo *h)
{
    halo old = *into;
    into->up = most(into->up, h->up);
    into->down = most(into->down, h->down);
    into->left = most(into->left, h->left);
    into->right = most(into->right, h->right);
    return memcmp(&old, into, sizeof(old)) != 0;
}

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

static halo pattern_halo(const ir_array *info, uint32_t input)
{
    const uint8_t *extent = info->stencil[input].extent;
    int64_t x = extent[info->rank - 1] / 2, y = info->rank > 1 ? extent[info->rank - 2] / 2 : 0;
    return (halo){y, y, x, x};
}

typedef VEC(reach) reaches;

static void add_reach(arena *a, reaches *found, ir_id node, const halo *h)
{
    for (uint32_t i = 0; i < found->n; i++) {
        if (found->at[i].node != node)
            continue;
        grow(&found->at[i].h, h);
        return;
    }
    vec_push(a, found, ((reach){node, *h, false}));
}

/* Everything the anchor's element reads, with distances; delayed nodes are followed from larger to smaller ids. */
static void find_reaches(const l_program *l, arena *a, ir_id anchor, reaches *found)
{
    const ir_program *p = l->ir;
    halo none = {0};
    add_reach(a, found, anchor, &none);
    for (;;) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < found->n; i++) { /* the largest id not followed yet */
            ir_id id = found->at[i].node;
            bool follow = id == anchor || (!l->cluster_of[id] && ir_at(p, id)->kind != IR_INPUT);
            if (follow && !found->at[i].followed && (next == UINT32_MAX || id > found->at[next].node))
                next = i;
        }
        if (next == UINT32_MAX)
            return;
        reach from = found->at[next];
        found->at[next].followed = true;
        const ir_array *info = ir_info(p, from.node);
        for (uint32_t k = 0; k < info->inputs; k++) {
            halo h = from.h;
            if (ir_at(p, from.node)->kind == IR_STENCIL) {
                halo pattern = pattern_halo(info, k);
                h = (halo){h.up + pattern.up, h.down + pattern.down, h.left + pattern.left, h.right + pattern.right};
            }
            add_reach(a, found, info->input[k], &h);
        }
    }
}

static stage *stage_of(stages *s, ir_id node)
{
    for (uint32_t i = 0; i < s->stage.n; i++)
        if (s->stage.at[i].op->term == node && s->stage.at[i].op->staged)
            return &s->stage.at[i];
    return NULL;
}

/* Rows can be padded if all who read beyond the edge are stencils of the stage itself, and agree on the boundary. */
static void find_pads(const l_program *l, arena *a, stages *s)
{
    for (uint32_t t = 0; t < s->stage.n; t++)
        s->stage.at[t].pad = PAD_UNKNOWN;
    for (uint32_t t = 0; t < s->stage.n; t++) {
        reaches found = {0};
        find_reaches(l, a, s->stage.at[t].op->term, &found);
        for (uint32_t i = 0; i < found.n; i++) {
            const ir_array *info = ir_info(l->ir, found.at[i].node);
            if (!found.at[i].followed)
                continue;
            bool direct = ir_at(l->ir, found.at[i].node)->kind == IR_STENCIL && !found.at[i].h.left && !found.at[i].h.right;
            for (uint32_t k = 0; k < info->inputs; k++) {
                stage *source = stage_of(s, info->input[k]);
                if (!source || (!direct && !found.at[i].h.left && !found.at[i].h.right))
                    continue;
                ir_boundary b = direct ? info->stencil[k].boundary : IR_FUNCTION;
                int pad = b == IR_CLAMP || b == IR_MIRROR ? 1 + (int)b : PAD_NONE;
                source->pad = source->pad == PAD_UNKNOWN || source->pad == pad ? pad : PAD_NONE;
            }
        }
    }
    for (uint32_t t = 0; t < s->stage.n; t++)
        s->stage.at[t].pad = s->stage.at[t].pad == PAD_UNKNOWN ? PAD_NONE : s->stage.at[t].pad;
}

/* how far the reader's border columns reach */
static void find_own(const l_program *l, stages *s, stage *reader, const reaches *found)
{
    for (uint32_t i = 0; i < found->n; i++) {
        const ir_array *info = ir_info(l->ir, found->at[i].node);
        if (!found->at[i].followed || ir_at(l->ir, found->at[i].node)->kind != IR_STENCIL)
            continue;
        for (uint32_t k = 0; k < info->inputs; k++) {
            const stage *source = stage_of(s, info->input[k]);
            halo pattern = pattern_halo(info, k), h = found->at[i].h;
            h = (halo){h.up + pattern.up, h.down + pattern.down, h.left + pattern.left, h.right + pattern.right};
            if (!source || !source->pad)
                grow(&reader->own, &h);
        }
    }
}

static void analyse(const l_program *l, const l_cluster *c, arena *a, stages *s)
{
    for (uint32_t i = 0; i < c->op.n; i++)
        if (c->op.at[i].stored || c->op.at[i].staged)
            vec_push(a, &s->stage, ((stage){.op = &c->op.at[i], .info = ir_info(l->ir, c->op.at[i].term), .ring = 1}));
    find_pads(l, a, s);
    for (uint32_t t = s->stage.n; t-- > 0;) { /* readers have larger ids: they are complete before what they read */
        stage *reader = &s->stage.at[t];
        reaches found = {0};
        find_reaches(l, a, reader->op->term, &found);
        find_own(l, s, reader, &found);
        if (s->aligned) {
            reader->start = round_up(reader->start, FULL);
            reader->own.left = round_up(reader->own.left, FULL);
        }
        for (uint32_t i = 0; i < found.n; i++) {
            halo h = found.at[i].h;
            if (found.at[i].followed)
                continue;
            for (uint32_t k = 0; k < t; k++) {
                stage *source = &s->stage.at[k];
                if (source->op->term != found.at[i].node)
                    continue;
                halo need = {reader->need.up + h.up, reader->need.down + h.down, reader->need.left + h.left,
                             reader->need.right + h.right};
                grow(&source->need, &need);
                source->start = most(source->start, reader->start + h.left);
                source->lead = most(source->lead, reader->lead + h.down);
            }
        }
    }
    for (uint32_t t = 0; t < s->stage.n; t++) {
        const stage *reader = &s->stage.at[t];
        reaches found = {0};
        find_reaches(l, a, reader->op->term, &found);
        for (uint32_t i = 0; i < found.n; i++)
            for (uint32_t k = 0; k < t && !found.at[i].followed; k++) {
                stage *source = &s->stage.at[k];
                if (source->op->term == found.at[i].node)
                    source->ring = most(source->ring, source->lead - reader->lead + found.at[i].h.up + 1);
            }
    }
}

void sk_stencil_prepare(const l_program *l, l_cluster *c, arena *a)
{
    stages s = {0};
    analyse(l, c, a, &s);
    int64_t column = 0; /* bytes, on devices that compute several rows at once */
    c->column_bytes = c->halo_bytes = 0;
    for (uint32_t i = 0; i < s.stage.n; i++)
        for (unsigned k = 0; k < s.stage.at[i].info->components && s.stage.at[i].op->staged; k++) {
            const stage *g = &s.stage.at[i];
            int64_t bytes = g->ring * (int64_t)ir_type_size(g->info->type[k]);
            c->column_bytes += bytes;
            column += bytes / g->ring * (g->ring + MOST_ROWS - 1);
            c->halo_bytes += bytes * (g->need.left + g->need.right) + ROW_GAP;
        }
    c->tile = c->column_bytes ? MAX_TILE : WIDE_TILE;
    while (c->tile > 64 && c->tile * column > ROWS_BUDGET)
        c->tile /= 2;
}

/* --- reads of rows in shared memory --- */

static k_val ring_position(stages *s, const stage *g, k_val row, k_val column)
{
    sk_lower *lw = s->lw;
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
        if (g->op->term != read->array || !g->op->staged)
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

static void store(stages *s, const stage *g, const tile *t, k_val row, k_val column, const k_val *value)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    for (unsigned c = 0; c < g->info->components && g->op->staged; c++)
        k_store(b, g->rows[c], ring_position(s, g, g->info->rank > 1 ? row : 0, column), value[c]);
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
    k_val inner, beyond; /* of these, what reads no neighbours beyond the array's edges */
} line;

/* columns [from, to) of one row of one stage */
static void stage_columns(stages *s, const stage *g, const tile *t, sk_columns columns, const line *l, k_val from, k_val to)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    unsigned rank = lw->cluster->rank;
    sk_body body;
    sk_body_init(&body, lw->l, lw->cluster, columns, lw->arena);
    const ir_id *term = sk_define(&body, g->op->term, &s->at);
    k_val count = sk_max(lw, sk_sub(lw, to, from), k_i64(b, 0));
    bool few = columns == SK_GENERIC || g->block; /* of blocks: what is left over */
    k_val lane = few ? k_for_few(b, count) : k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    k_val column = sk_add(lw, from, lane);
    lw->element = sk_add(lw, sk_mul(lw, l->row, t->width), column);
    for (unsigned d = 0; d + 1 < rank; d++)
        sk_bind(lw, s->at.at[d], l->outer[d]);
    sk_bind(lw, s->at.at[rank - 1], column);
    k_val *value = arena_alloc(lw->arena, g->info->components * sizeof(k_val));
    sk_emit(lw, g->info->components, term, value);
    store(s, g, t, l->row, column, value);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* The elements of all rows of a block at one column; row u is the first row's index and u. */
static ir_id *block_terms(stages *s, const stage *g, arena *a)
{
    unsigned components = g->info->components, across = s->at.rank - 2u;
    ir_program *p = s->lw->l->ir;
    ir_id *term = arena_alloc(a, (size_t)s->rows * components * sizeof(ir_id));
    sk_body body;
    sk_body_init(&body, s->lw->l, s->lw->cluster, SK_INTERIOR, a);
    for (int64_t u = 0; u < s->rows; u++) {
        sk_index at = s->at;
        at.at[across] = ir_op2(p, 0, OP_ADD, at.at[across], ir_i64(p, u));
        memcpy(term + u * components, sk_define(&body, g->op->term, &at), components * sizeof(ir_id));
    }
    return term;
}

/* Columns [from, from + count) of a block's rows, count a multiple of the lanes. */
static void block_columns(stages *s, const stage *g, const tile *t, const line *l, k_val count)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    unsigned rank = lw->cluster->rank, components = g->info->components;
    const ir_id *term = block_terms(s, g, lw->arena);
    k_val *value = arena_alloc(lw->arena, (size_t)s->rows * components * sizeof(k_val));
    k_val lane = k_for_whole(b, count);
    uint32_t mark = sk_scope(lw);
    k_val column = sk_add(lw, l->inner, lane);
    for (unsigned d = 0; d + 1 < rank; d++)
        sk_bind(lw, s->at.at[d], l->outer[d]);
    sk_bind(lw, s->at.at[rank - 1], column);
    sk_emit(lw, (uint32_t)s->rows * components, term, value);
    for (int64_t u = 0; u < s->rows; u++)
        store(s, g, t, sk_add(lw, l->row, k_i64(b, u)), column, value + u * components);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* the columns of a kept row left of the array (or right of it) */
static void pad_side(stages *s, const stage *g, k_val row, k_val from, k_val count)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    ir_id variable = ir_var(lw->l->ir, T_I64);
    ir_id inside = sk_adjust(lw->l->ir, (ir_boundary)(g->pad - 1), variable, lw->cluster->shape[lw->cluster->rank - 1]);
    k_val lane = k_for_few(b, count);
    uint32_t mark = sk_scope(lw);
    k_val column = sk_add(lw, from, lane), source;
    sk_bind(lw, variable, column);
    sk_emit(lw, 1, &inside, &source);
    for (unsigned c = 0; c < g->info->components; c++)
        k_store(b, g->rows[c], ring_position(s, g, row, column), k_load(b, g->rows[c], ring_position(s, g, row, source)));
    sk_scope_end(lw, mark);
    k_end(b);
}

static void pad_row(stages *s, const stage *g, const tile *t, k_val row)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (!g->pad || !(g->need.left || g->need.right))
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

static span span_of(stages *s, const stage *g, const tile *t)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0);
    span r = {.first = sk_max(lw, zero, sk_sub(lw, t->top, k_i64(b, g->need.up)))};
    r.end = sk_min(lw, t->height, sk_add(lw, t->bottom, k_i64(b, g->need.down)));
    line *l = &r.columns;
    l->from = sk_max(lw, zero, sk_sub(lw, t->left, k_i64(b, g->start)));
    l->to = sk_min(lw, t->width, sk_add(lw, t->right, k_i64(b, g->need.right)));
    l->inner = sk_min(lw, l->to, sk_max(lw, l->from, k_i64(b, g->own.left)));
    l->beyond = sk_max(lw, l->inner, sk_min(lw, l->to, sk_sub(lw, t->width, k_i64(b, g->own.right))));
    return r;
}

/* One row but for the first `done` of its inner columns. */
static void stage_row(stages *s, const stage *g, const tile *t, const span *r, k_val row, k_val done)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    line l = r->columns;
    k_if(b, k_let(b, OP_AND, k_let(b, OP_GE, row, r->first, 0), k_let(b, OP_LT, row, r->end, 0), 0));
    l.row = row;
    sk_row_indices(lw, lw->cluster->rank, lw->cluster->shape, row, l.outer);
    if (g->own.left || g->own.right) {
        k_val side = k_for(b, k_i64(b, 0), k_i64(b, 2), false);
        k_val right_side = k_let(b, OP_EQ, side, k_i64(b, 1), 0);
        stage_columns(s, g, t, SK_GENERIC, &l, k_select(b, right_side, l.beyond, l.from), k_select(b, right_side, l.to, l.inner));
        k_end(b);
    }
    stage_columns(s, g, t, SK_INTERIOR, &l, sk_add(lw, l.inner, done), l.beyond);
    pad_row(s, g, t, row);
    k_end(b);
}

/* The whole gangs of a block of rows, if all of these are computed and lie in one plane. Returns how many columns are done. */
static k_val stage_block(stages *s, const stage *g, const tile *t, const span *r, k_val row)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    unsigned rank = lw->cluster->rank;
    line l = r->columns;
    l.row = row;
    k_val past = sk_add(lw, row, k_i64(b, s->rows));
    k_val all = k_let(b, OP_AND, k_let(b, OP_GE, row, r->first, 0), k_let(b, OP_LE, past, r->end, 0), 0);
    sk_row_indices(lw, rank, lw->cluster->shape, row, l.outer);
    if (rank > 2) {
        k_val height = sk_closed(lw, lw->cluster->shape[rank - 2]);
        all = k_let(b, OP_AND, all, k_let(b, OP_LE, sk_add(lw, l.outer[rank - 2], k_i64(b, s->rows)), height, 0), 0);
    }
    k_val columns = sk_sub(lw, l.beyond, l.inner);
    k_val whole = sk_sub(lw, columns, k_let(b, OP_REM, columns, k_i64(b, lw->out->k->lanes), 0));
    whole = k_select(b, all, whole, k_i64(b, 0));
    block_columns(s, g, t, &l, whole);
    return whole;
}

static void stage_rows(stages *s, const stage *g, const tile *t, k_val base)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val row = sk_add(lw, base, k_i64(b, g->lead)), done = k_i64(b, 0);
    span r = span_of(s, g, t);
    if (g->block)
        done = stage_block(s, g, t, &r, row);
    if (s->rows == 1) {
        stage_row(s, g, t, &r, row, done);
        return;
    }
    k_val u = k_for(b, k_i64(b, 0), k_i64(b, s->rows), false);
    stage_row(s, g, t, &r, sk_add(lw, row, u), done);
    k_end(b);
}

/* --- how many rows and lanes --- */

/* Rows computed at once share loads if stencils read above or below them. Their terms must be such that it does not
 * matter when they are computed: what may fail reports its element, and loops are long. 0: no block. */
static uint32_t block_cost(stages *s, const stage *g, arena *a)
{
    ir_program *p = s->lw->l->ir;
    reaches found = {0};
    sk_body body;
    bool tall = false;
    find_reaches(s->lw->l, a, g->op->term, &found);
    for (uint32_t i = 0; i < found.n; i++)
        tall |= found.at[i].h.up || found.at[i].h.down;
    sk_body_init(&body, s->lw->l, s->lw->cluster, SK_INTERIOR, a);
    const ir_id *term = sk_define(&body, g->op->term, &s->at);
    opt_ids ids = {0};
    opt_reach(p, a, g->info->components, term, &ids);
    uint32_t cost = 1;
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->partial || n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_MATH))
            return 0;
        cost += n->type != T_I64;
    }
    return tall ? cost : 0;
}

static void choose_rows(stages *s, const sk_options *options, arena *a)
{
    s->rows = 1;
    if (!options->vector_bytes || options->group || s->at.rank < 2)
        return;
    for (uint32_t i = 0; i < s->stage.n; i++) {
        uint32_t cost = block_cost(s, &s->stage.at[i], a);
        s->stage.at[i].block = cost && cost <= MOST_BLOCK;
        if (s->stage.at[i].block)
            s->rows = MOST_ROWS;
    }
    for (uint32_t i = 0; i < s->stage.n; i++)
        s->stage.at[i].ring += s->rows - 1;
}

static uint16_t lanes_of(stages *s, const sk_options *options, arena *a)
{
    /* one register of f32 where rows are computed together, else two */
    uint32_t bytes = s->rows > 1 ? 4 : 2;
    uint16_t lanes = (uint16_t)(options->vector_bytes >= 8 ? options->vector_bytes / bytes : 4);
    for (uint32_t i = 0; i < s->stage.n; i++) {
        sk_body body;
        sk_body_init(&body, s->lw->l, s->lw->cluster, SK_INTERIOR, a);
        const stage *g = &s->stage.at[i];
        uint16_t fits = sk_lanes_for(s->lw->l, a, g->info->components, sk_define(&body, g->op->term, &s->at), options->vector_bytes);
        lanes = fits < lanes ? fits : lanes;
    }
    return lanes;
}

/* slots: 0 rows a band, 1 tiles a row, 2 rows, 3 columns, 4 columns a tile */
sk_kernel *sk_build_stencil(const l_program *l, const l_cluster *c, const sk_options *options, arena *a, const char **why)
{
    sk_lower lw;
    sk_lower_init(&lw, l, c, options, a, "stencil", 1);
    stages s = {.lw = &lw, .aligned = options->vector_bytes && !options->group, .at = {.rank = c->rank}};
    for (unsigned d = 0; d < c->rank; d++)
        s.at.at[d] = ir_var(l->ir, T_I64);
    analyse(l, c, a, &s);
    choose_rows(&s, options, a);
    lw.out->k->lanes = lanes_of(&s, options, a);
    k_builder *b = &lw.b;
    for (uint32_t i = 0; i < s.stage.n; i++)
        for (unsigned k = 0; k < s.stage.at[i].info->components && s.stage.at[i].op->stored; k++)
            sk_array_memory(&lw, s.stage.at[i].op->term, k, true);
    k_val band = sk_slot(&lw, 0, "band"), tiles = sk_slot(&lw, 1, "tiles");
    tile t = {.height = sk_slot(&lw, 2, "height"), .width = sk_slot(&lw, 3, "width")};
    k_val size = sk_slot(&lw, 4, "tile_width");
    k_val group = k_let(b, OP_QUOT, k_piece(b), tiles, 0);
    t.top = sk_mul(&lw, group, band);
    t.bottom = sk_min(&lw, t.height, sk_add(&lw, t.top, band));
    t.left = sk_mul(&lw, sk_sub(&lw, k_piece(b), sk_mul(&lw, group, tiles)), size);
    t.right = sk_min(&lw, t.width, sk_add(&lw, t.left, size));
    int64_t tile_columns = sk_tile(c, options);
    int64_t warm = 0;
    for (uint32_t i = 0; i < s.stage.n; i++) {
        stage *g = &s.stage.at[i];
        warm = most(warm, g->need.up + g->lead);
        int64_t before = s.aligned ? round_up(g->start, LINE) : g->start;
        g->width = s.aligned ? round_up(before + tile_columns + g->need.right, LINE) : before + tile_columns + g->need.right;
        g->first_column = sk_sub(&lw, t.left, k_i64(b, before));
        g->rows = arena_alloc(a, g->info->components * sizeof(k_mem));
        for (unsigned k = 0; k < g->info->components && g->op->staged; k++)
            g->rows[k] = k_shared(b, g->info->type[k], g->ring * g->width, arena_printf(a, "rows_a%u", l->number[g->op->term]));
    }
    lw.place = place;
    lw.place_env = &s;
    k_val start = sk_sub(&lw, t.top, k_i64(b, warm)), height = sk_sub(&lw, t.bottom, start);
    k_val steps = k_let(b, OP_QUOT, sk_add(&lw, height, k_i64(b, s.rows - 1)), k_i64(b, s.rows), 0);
    k_val base = sk_add(&lw, start, sk_mul(&lw, k_for(b, k_i64(b, 0), steps, false), k_i64(b, s.rows)));
    for (uint32_t i = 0; i < s.stage.n; i++)
        stage_rows(&s, &s.stage.at[i], &t, base);
    k_end(b);
    *why = lw.why;
    return lw.why ? NULL : lw.out;
}
