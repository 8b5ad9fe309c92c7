/* Row loops along another dimension than the innermost: rows that are neighbours in memory, as the columns of a matrix
 * are. Position k of all of them is a line. A piece of the launch is a part of so many columns, its width, and goes
 * through all lines; the lanes of gangs are neighbours in a line, each with a row of its own.
 *
 * What scans have come to waits in shared memory, a line of as many numbers each. Some lines are taken at a time, so
 * that it is read once for these. The tree is that of row_gang.c for each row: within ROW_GANG lines a position whose
 * number has the bits b1 > b2 > ... is total(b1) (+) (total(b2) (+) ... (+) its element), where total(b) is that of the
 * block of 2^b lines left of its own one. It is known when that block ends: the prefix there, without the higher bits.
 *
 * Rows that are combined from left to right, and operators that give the same in every tree, have one total. */
#include "opt/rewrite.h"
#include "skeleton/extents.h"
#include "skeleton/row/row.h"

/* slots */
enum { LENGTH, TILES, WIDTH };

/* sk_geometry.row: facts of the launch that a kernel is made for. SMALL: a line may be shorter than
 * a wide gang, NARROW: than any. */
enum { TREE, IN_ORDER, PIECES, SMALL = 4, NARROW = 8 };

enum { LEVELS = 6, TOTAL = LEVELS, GANGS = TOTAL + 1, ALL = GANGS + LEVELS }; /* lines of totals */
enum { MOST_LINES = 8, SCRATCH = 64 << 10, UNIT = 64, LANES = 16, FEWEST = 3 };

typedef struct column_state { /* what a scan keeps, per component */
    k_mem *total;             /* of blocks of lines, level by level; of the gang; of blocks of gangs */
    k_mem *carry;             /* what is before the gang; IN_ORDER: before the lines at hand, by turns in two lines */
    k_mem *last;              /* EXCLUSIVE: the prefix of the line before, by turns in two lines */
    k_mem *window, *in_window;
    k_val **element, **result; /* per line at hand */
} column_state;

typedef struct columns {
    row_loop *r;
    column_state *state; /* per part */
    int64_t most;        /* columns of a piece */
    int64_t kind;
    bool overlaps; /* gangs may compute the same again */
    k_val outer, left, width, lane;
    k_val index[IR_MAX_RANK]; /* of dimensions before that of the row */
    bool needs_index;         /* of dimensions behind it */
} columns;

static bool is_exclusive(const row_loop *r, const row_part *p)
{
    return ir_at(r->lw->l->ir, p->op->term)->flags & IR_EXCLUSIVE;
}

/* --- the launch --- */

static int64_t bytes_of_scans(const sk_cluster *c)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const ir_array *info = ir_info(c->l->ir, c->loop->op.at[i].term);
        for (uint32_t k = 0; k < info->components && c->loop->op.at[i].kind == L_SCAN; k++)
            bytes += (int64_t)ir_type_size(info->type[k]);
    }
    return larger(bytes, 1);
}

static int64_t lines_of(int64_t kind)
{
    return kind == IN_ORDER ? 2 : kind == TREE ? GANGS + 3 : ALL + 5;
}

static int64_t most_columns(const sk_cluster *c, int64_t kind)
{
    return larger(2 * UNIT, SCRATCH / (lines_of(kind) * bytes_of_scans(c)) / (2 * UNIT) * 2 * UNIT);
}

bool sk_launch_row_columns(const sk_call *x, sk_geometry *g)
{
    enum { SHARES = 4, LEAST_BYTES = 256 /* of a line that a worker takes: others write what lies beside it */ };
    const l_cluster *c = x->c->loop;
    int64_t beside = 1, outer = 1, workers = larger(x->o->workers, 1);
    if (!x->c->lines || x->o->group || !x->o->vector_bytes || x->pass != SK_PASS_LOOP)
        return false;
    for (unsigned d = 0; d < c->rank; d++)
        if (d + 1u + c->behind != c->rank)
            *(d + 1u + c->behind < c->rank ? &outer : &beside) *= x->extent[d];
    if (beside < FEWEST || !outer)
        return false;
    int64_t kind = x->columns <= SK_SHORT || x->c->any_tree ? IN_ORDER : x->columns <= ROW_PIECE ? TREE : PIECES;
    int64_t most = most_columns(x->c, kind) / 2,
            tiles = pieces_of(beside, most); /* the last one is up to twice as wide */
    if (workers > 1) {
        int64_t bytes = larger(1, (int64_t)sk_stored_bytes(x->c));
        int64_t shares = larger(workers, smaller(SHARES * workers, beside * bytes / LEAST_BYTES / workers * workers));
        tiles = larger(tiles, smaller(pieces_of(shares, outer), beside / UNIT));
    }
    int64_t width = larger(UNIT, pieces_of(beside, larger(tiles, 1)) / UNIT * UNIT);
    g->row = kind | (beside < UNIT ? SMALL : 0) | (beside < LANES ? NARROW : 0);
    g->slot[LENGTH] = x->columns;
    g->slot[TILES] = larger(1, beside / width);
    g->slot[WIDTH] = width;
    g->pieces = outer * g->slot[TILES];
    return true;
}

/* --- lines --- */

static k_val place(const columns *t, k_val level)
{
    sk_lower *lw = t->r->lw;
    return sk_add(lw, sk_mul(lw, level, k_i64(&lw->b, t->most)), t->lane);
}

static k_val place_at(const columns *t, int64_t level)
{
    return place(t, k_i64(&t->r->lw->b, level));
}

/* The column's own indices. In a scope of the caller's. */
static void bind_column(columns *t)
{
    sk_lower *lw = t->r->lw;
    const l_cluster *c = lw->cluster->loop;
    unsigned along = row_dimension(t->r), beside = c->behind;
    k_val column = sk_add(lw, t->left, t->lane), index[IR_MAX_RANK] = {0};
    for (unsigned d = 0; d < along; d++)
        sk_bind(lw, lw->at.at[d], t->index[d]);
    if (beside == 1)
        sk_bind(lw, lw->at.at[along + 1], column);
    if (beside == 1 || !t->needs_index)
        return;
    ir_id shape[IR_MAX_RANK];
    memcpy(shape, c->shape + along + 1, beside * sizeof *shape);
    shape[beside] = c->shape[along]; /* an innermost one, which is no part of the number */
    sk_row_indices(lw, beside + 1, shape, column, index);
    for (unsigned d = 0; d < beside; d++)
        sk_bind(lw, lw->at.at[along + 1 + d], index[d]);
}

/* Position `at` of the rows. In a scope of the caller's. */
static void bind_line(columns *t, k_val at)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_val k = r->right ? sk_sub(lw, sk_sub(lw, r->length, k_i64(&lw->b, 1)), at) : at;
    k_val line = sk_add(lw, sk_mul(lw, t->outer, r->length), k);
    lw->element = sk_add(lw, sk_add(lw, sk_mul(lw, line, r->stride), t->left), t->lane);
    sk_bind(lw, lw->at.linear, lw->element);
    sk_bind(lw, lw->at.at[row_dimension(r)], k);
}

/* --- scans --- */

/* x = first (+) x */
static void put_before(columns *t, const row_part *p, const k_val *first, const k_val *x)
{
    k_val *out = row_values(t->r, p);
    row_apply(t->r, p, first, row_get(t->r, p, x, NULL), out);
    row_set(t->r, p, x, out);
}

/* Lines are read and written by turns: what a gang computes again, it finds as it was. */
static k_val other(const columns *t, k_val turn)
{
    return sk_sub(t->r->lw, k_i64(&t->r->lw->b, 1), turn);
}

/* From left to right: `first` is the position of the first of n lines. */
static void in_order(columns *t, const row_part *p, column_state *s, unsigned n, k_val first, k_val turn)
{
    row_loop *r = t->r;
    k_builder *b = &r->lw->b;
    k_val *acc = row_variables(r, p, row_load(r, p, s->carry, place(t, turn), NULL), "acc"), *out = row_values(r, p);
    bool exclusive = is_exclusive(r, p), begun = p->fold.info->seed != NULL;
    for (unsigned i = 0; i < n; i++) {
        if (exclusive)
            s->result[i] = row_get(r, p, acc, NULL);
        if (!begun && !i)
            k_if(b, k_let(b, OP_GT, first, k_i64(b, 0), 0));
        row_apply(r, p, row_get(r, p, acc, NULL), s->element[i], out);
        row_set(r, p, acc, out);
        if (!begun && !i) {
            k_else(b);
            row_set(r, p, acc, s->element[i]);
            k_end(b);
        }
        if (!exclusive)
            s->result[i] = row_get(r, p, acc, NULL);
    }
    row_store(r, p, s->carry, place(t, other(t, turn)), row_get(r, p, acc, NULL));
}

/* Block number `number` of blocks of 2^low lines, whose elements, n of them, are in variables: they come behind the
 * totals of larger blocks, of which those that it ends are kept. Levels have lines of totals from `from` on; the total
 * of all goes to the line behind them, if `all` is given. */
static void behind_blocks(columns *t, const row_part *p, const column_state *s, k_val number, unsigned low,
                          int64_t from, unsigned n, k_val *const *x)
{
    row_loop *r = t->r;
    k_builder *b = &r->lw->b;
    for (unsigned level = low; level < LEVELS; level++) {
        int64_t bit = (int64_t)1 << (level - low);
        k_val zero = k_i64(b, 0), at = place_at(t, from + level);
        k_if(b, k_let(b, OP_NE, k_let(b, OP_BIT_AND, number, k_i64(b, bit), 0), zero, 0));
        k_val *total = row_load(r, p, s->total, at, NULL);
        for (unsigned i = 0; i < n; i++)
            put_before(t, p, total, x[i]);
        k_else(b);
        k_val lower = k_let(b, OP_BIT_AND, number, k_i64(b, bit - 1), 0);
        k_if(b, k_let(b, OP_EQ, lower, k_i64(b, bit - 1), 0));
        row_store(r, p, s->total, at, row_get(r, p, x[n - 1], NULL));
        k_end(b);
        k_end(b);
    }
}

static unsigned log_of(unsigned n)
{
    unsigned log = 0;
    while (n >> (log + 1))
        log++;
    return log;
}

/* `within`: position of the first of n lines in its gang, whose first position is not 0 if `before` holds. */
static void by_tree(columns *t, const row_part *p, column_state *s, unsigned n, k_val within, k_val before, k_val turn)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x[MOST_LINES], **prefix = arena_array(lw->arena, *prefix, n);
    bool exclusive = is_exclusive(r, p), begun = p->fold.info->seed || p->fold.identity;
    unsigned log = log_of(n);
    for (unsigned i = 0; i < n; i++)
        prefix[i] = arena_copy(lw->arena, s->element[i], p->n * sizeof(k_val));
    for (unsigned half = 1; half < n; half *= 2)
        for (unsigned i = 0; i < n; i++)
            if (i & half) {
                k_val *out = row_values(r, p);
                row_apply(r, p, prefix[(i & -half) - 1], prefix[i], out);
                prefix[i] = out;
            }
    for (unsigned i = 0; i < n; i++)
        x[i] = row_variables(r, p, prefix[i], "prefix");
    behind_blocks(t, p, s, k_let(b, OP_SHR, within, k_i64(b, log), 0), log, 0, n, x);
    k_if(b, k_let(b, OP_EQ, within, k_i64(b, ROW_GANG - n), 0));
    row_store(r, p, s->total, place_at(t, TOTAL), row_get(r, p, x[n - 1], NULL));
    k_end(b);
    k_val *carry = row_load(r, p, s->carry, t->lane, NULL);
    if (exclusive) { /* which has a seed */
        k_val *first = row_variables(r, p, row_load(r, p, s->last, place(t, turn), NULL), "prefix");
        row_store(r, p, s->last, place(t, other(t, turn)), row_get(r, p, x[n - 1], NULL));
        k_if(b, k_let(b, OP_GT, within, k_i64(b, 0), 0));
        put_before(t, p, carry, first);
        k_else(b);
        row_set(r, p, first, carry);
        k_end(b);
        for (unsigned i = n; i-- > 1;) {
            put_before(t, p, carry, x[i - 1]);
            s->result[i] = row_get(r, p, x[i - 1], NULL);
        }
        s->result[0] = row_get(r, p, first, NULL);
        return;
    }
    if (!begun)
        k_if(b, before);
    for (unsigned i = 0; i < n; i++)
        put_before(t, p, carry, x[i]);
    if (!begun)
        k_end(b);
    for (unsigned i = 0; i < n; i++)
        s->result[i] = row_get(r, p, x[i], NULL);
}

/* --- elements --- */

static void bind_results(columns *t, uint32_t parts, unsigned line)
{
    row_loop *r = t->r;
    for (uint32_t i = 0; i < parts; i++) {
        const row_part *p = &r->part.at[i];
        for (uint32_t c = 0; c < p->n && p->op->kind == L_SCAN; c++) {
            sk_bind(r->lw, p->given[c], t->state[i].result[line][c]);
            sk_bind(r->lw, p->element[c], t->state[i].element[line][c]);
        }
    }
}

static void take_elements(columns *t, uint32_t part, unsigned line, k_val at)
{
    row_loop *r = t->r;
    const row_part *p = &r->part.at[part];
    uint32_t mark = sk_scope(r->lw);
    k_val *x = row_values(r, p);
    bind_line(t, at);
    bind_results(t, part, line);
    sk_emit(r->lw, p->n, p->element, x);
    t->state[part].element[line] = x;
    sk_scope_end(r->lw, mark);
}

/* What is stored at a line. */
static void store_line(columns *t, unsigned line, k_val at)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    VEC(ir_id) term = {0};
    uint32_t mark = sk_scope(lw), next = 0;
    bind_line(t, at);
    bind_results(t, r->part.n, line);
    for (uint32_t i = 0; i < r->part.n; i++)
        for (uint32_t c = 0; c < r->part.at[i].n && r->part.at[i].op->kind == L_ELEMENT; c++)
            vec_push(lw->arena, &term, r->part.at[i].element[c]);
    k_val *x = arena_array(lw->arena, *x, term.n + 1);
    if (term.n)
        sk_emit(lw, term.n, term.at, x);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        bool scans = p->op->kind == L_SCAN;
        for (uint32_t c = 0; c < p->n; c++) {
            k_val value = scans ? t->state[i].result[line][c] : x[next++];
            if (p->op->stored)
                k_store(&lw->b, sk_array_memory(lw, p->op->term, c, true), lw->element, value);
        }
    }
    sk_scope_end(lw, mark);
}

/* Results that are `bytes` further on, less `back` elements, in n lines from position `first` on. */
static void fetch_results(columns *t, unsigned n, k_val first, unsigned bytes, k_val back)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    for (unsigned line = 0; line < n; line++) {
        uint32_t mark = sk_scope(lw);
        bind_line(t, sk_add(lw, first, k_i64(b, line)));
        for (uint32_t i = 0; i < r->part.n; i++) {
            const row_part *p = &r->part.at[i];
            for (uint32_t c = 0; c < p->n && p->op->stored; c++) {
                k_val further = k_i64(b, bytes / (int64_t)ir_type_size(p->fold.info->type[c]));
                further = back ? sk_sub(lw, further, back) : further;
                k_fetch(b, sk_array_memory(lw, p->op->term, c, true), sk_add(lw, lw->element, further), k_i64(b, 0));
            }
        }
        sk_scope_end(lw, mark);
    }
}

/* What is stored soon, further along the same lines, or at the beginning of those that follow, is asked for: stores to
 * some lines by turns wait for each other where these are not in the nearest cache. */
static void fetch_lines(columns *t, unsigned n, k_val first, k_val from)
{
    enum { AHEAD = 128 }; /* bytes */
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    int64_t lanes = lw->out->k->lanes, most = 0;
    for (uint32_t i = 0; i < r->part.n; i++)
        for (uint32_t c = 0; c < r->part.at[i].n && r->part.at[i].op->stored; c++)
            most = larger(most, AHEAD / (int64_t)ir_type_size(r->part.at[i].fold.info->type[c]));
    k_if(b, k_let(b, OP_LE, sk_add(lw, from, k_i64(b, lanes + most)), t->width, 0));
    fetch_results(t, n, first, AHEAD, 0);
    k_else(b);
    fetch_results(t, n, sk_add(lw, first, k_i64(b, n)), AHEAD, t->width);
    k_end(b);
}

/* n lines, of which `first` is the position of the first one; TREE: it is `within` of its gang. `turn` is 0 and 1 by
 * turns. */
static void take_at(columns *t, unsigned n, k_val first, k_val within, k_val turn)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    bind_column(t);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_SCAN)
            continue;
        column_state *s = &t->state[i];
        s->element = arena_array(lw->arena, *s->element, n);
        s->result = arena_array(lw->arena, *s->result, n);
        for (unsigned line = 0; line < n; line++)
            take_elements(t, i, line, sk_add(lw, first, k_i64(b, line)));
        if (t->kind == IN_ORDER)
            in_order(t, p, s, n, first, turn);
        else
            by_tree(t, p, s, n, within, k_let(b, OP_GE, first, k_i64(b, ROW_GANG), 0), turn);
    }
    for (unsigned line = 0; line < n; line++)
        store_line(t, line, sk_add(lw, first, k_i64(b, line)));
    sk_scope_end(lw, mark);
}

/* Whole gangs, of which the last one may begin within the one before it; or as many columns as there are. */
static void take_lines(columns *t, unsigned n, k_val first, k_val within, k_val turn)
{
    sk_lower *lw = t->r->lw;
    k_builder *b = &lw->b;
    int64_t gang_lanes = lw->out->k->lanes;
    k_val lanes = k_i64(b, gang_lanes), from = 0;
    turn = k_let(b, OP_BIT_AND, turn, k_i64(b, 1), 0);
    if (t->overlaps) {
        k_val gangs = k_let(b, OP_QUOT, sk_add(lw, t->width, k_i64(b, gang_lanes - 1)), lanes, 0);
        k_val gang = k_for(b, k_i64(b, 0), gangs, false);
        from = sk_min(lw, sk_mul(lw, gang, lanes), sk_sub(lw, t->width, lanes));
        t->lane = sk_add(lw, from, k_for_all(b, lanes));
    } else {
        t->lane = k_for_all(b, t->width);
    }
    take_at(t, n, first, within, turn);
    if (t->overlaps && !lw->options->stream)
        fetch_lines(t, n, first, from);
    k_end(b);
    if (t->overlaps)
        k_end(b);
}

/* Lines [from, from + count), `at_once` of them at a time, and what is left in parts, or one by one. */
static void walk_lines(columns *t, unsigned at_once, k_val from, k_val count)
{
    sk_lower *lw = t->r->lw;
    k_builder *b = &lw->b;
    k_val some = k_i64(b, at_once), whole = k_let(b, OP_QUOT, count, some, 0), done = k_i64(b, 0), turns = done;
    if (at_once > 1) {
        k_val group = k_for(b, k_i64(b, 0), whole, false), within = sk_mul(lw, group, some);
        take_lines(t, at_once, sk_add(lw, from, within), within, group);
        k_end(b);
        done = sk_mul(lw, whole, some);
        turns = whole;
    }
    if (t->kind != IN_ORDER || at_once == 1) {
        k_val within = k_for(b, done, count, false);
        take_lines(t, 1, sk_add(lw, from, within), within, sk_add(lw, turns, sk_sub(lw, within, done)));
        k_end(b);
        return;
    }
    for (unsigned part = at_once / 2; part >= 1; part /= 2) {
        k_val bit = k_let(b, OP_NE, k_let(b, OP_BIT_AND, count, k_i64(b, part), 0), k_i64(b, 0), 0);
        k_val has = k_convert(b, OP_CONVERT, T_I64, bit);
        k_if(b, bit);
        take_lines(t, part, sk_add(lw, from, done), done, turns);
        k_end(b);
        done = sk_add(lw, done, sk_mul(lw, has, k_i64(b, part)));
        turns = sk_add(lw, turns, has);
    }
}

/* --- gangs and pieces of rows --- */

static void begin_scan(columns *t, const row_part *p, const column_state *s)
{
    row_loop *r = t->r;
    k_val *first = t->kind == IN_ORDER && !p->fold.info->seed ? NULL : row_first_state(r, p);
    k_val *none = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        none[c] = k_literal(&r->lw->b, p->fold.info->type[c], 0);
    row_store(r, p, s->carry, t->lane, first ? first : none);
    if (t->kind != PIECES)
        return;
    row_store(r, p, s->window, t->lane, first ? first : none);
    row_store(r, p, s->in_window, t->lane, none);
}

static void begin_columns(columns *t)
{
    k_builder *b = &t->r->lw->b;
    t->lane = k_for_all(b, t->width);
    for (uint32_t i = 0; i < t->r->part.n; i++)
        if (t->r->part.at[i].op->kind == L_SCAN)
            begin_scan(t, &t->r->part.at[i], &t->state[i]);
    k_end(b);
}

/* Gang number `gang` of a piece of a row ends: what does the piece come to, and if it ends, too, the state? */
static void end_in_piece(columns *t, row_part *p, const column_state *s, k_val piece, k_val gang, const k_val *total)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x = row_variables(r, p, total, "total");
    behind_blocks(t, p, s, gang, 0, GANGS, 1, &x);
    k_if(b, k_let(b, OP_EQ, gang, k_i64(b, ROW_GANG - 1), 0));
    k_val *window = row_load(r, p, s->window, t->lane, NULL), *in_window = row_load(r, p, s->in_window, t->lane, NULL);
    row_state_after(r, p, piece, window, in_window, row_get(r, p, x, NULL));
    row_store(r, p, s->window, t->lane, window);
    row_store(r, p, s->in_window, t->lane, in_window);
    row_state_before(r, p, sk_add(lw, piece, k_i64(b, 1)), window, in_window);
    row_store(r, p, s->carry, t->lane, p->state);
    k_end(b);
}

/* The gang that begins at position `first` has all its lines: what is before the next one? */
static void end_gang(columns *t, k_val piece, k_val gang, k_val first)
{
    row_loop *r = t->r;
    k_builder *b = &r->lw->b;
    t->lane = k_for_all(b, t->width);
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        const column_state *s = &t->state[i];
        if (p->op->kind != L_SCAN)
            continue;
        bool begun = p->fold.info->seed || p->fold.identity;
        k_val *total = row_load(r, p, s->total, place_at(t, TOTAL), NULL);
        k_val *carry = row_variables(r, p, total, "carry");
        if (!begun)
            k_if(b, k_let(b, OP_GT, first, k_i64(b, 0), 0));
        put_before(t, p, row_load(r, p, s->carry, t->lane, NULL), carry);
        if (!begun)
            k_end(b);
        row_store(r, p, s->carry, t->lane, row_get(r, p, carry, NULL));
        if (t->kind == PIECES)
            end_in_piece(t, p, s, piece, gang, total);
    }
    k_end(b);
}

static void walk_gangs(columns *t, unsigned at_once, k_val piece, k_val begin, k_val count)
{
    sk_lower *lw = t->r->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, ROW_GANG), gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, ROW_GANG - 1)), size, 0);
    k_val gang = k_for(b, k_i64(b, 0), gangs, false), within = sk_mul(lw, gang, size),
          first = sk_add(lw, begin, within);
    walk_lines(t, at_once, first, sk_min(lw, size, sk_sub(lw, count, within)));
    k_if(b, k_let(b, OP_LT, sk_add(lw, first, size), t->r->length, 0));
    end_gang(t, piece, gang, first);
    k_end(b);
    k_end(b);
}

static void walk(columns *t, unsigned at_once)
{
    row_loop *r = t->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), size = k_i64(b, ROW_PIECE);
    begin_columns(t);
    if (t->kind == IN_ORDER) {
        walk_lines(t, at_once, zero, r->length);
        return;
    }
    if (t->kind == TREE) {
        walk_gangs(t, at_once, zero, zero, r->length);
        return;
    }
    k_val pieces = k_let(b, OP_QUOT, sk_add(lw, r->length, k_i64(b, ROW_PIECE - 1)), size, 0);
    k_val piece = k_for(b, zero, pieces, false), begin = sk_mul(lw, piece, size);
    walk_gangs(t, at_once, piece, begin, sk_min(lw, size, sk_sub(lw, r->length, begin)));
    k_end(b);
}

/* --- the kernel --- */

static void declare_states(columns *t)
{
    row_loop *r = t->r;
    t->state = arena_array(r->lw->arena, *t->state, r->part.n + 1);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        column_state *s = &t->state[i];
        if (p->op->kind != L_SCAN)
            continue;
        s->carry = row_cells(r, p, t->kind == IN_ORDER ? 2 * t->most : t->most, "carry");
        if (t->kind == IN_ORDER)
            continue;
        s->total = row_cells(r, p, t->most * (t->kind == TREE ? GANGS : ALL), "totals");
        if (is_exclusive(r, p))
            s->last = row_cells(r, p, 2 * t->most, "prefix");
        if (t->kind == PIECES) {
            s->window = row_cells(r, p, t->most, "window");
            s->in_window = row_cells(r, p, t->most, "in_window");
        }
    }
}

/* All that is computed of an element. */
static void list_terms(const row_loop *r, opt_ids *term)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        for (uint32_t c = 0; c < p->n; c++) {
            vec_push(r->lw->arena, term, p->element[c]);
            if (p->op->kind == L_SCAN)
                vec_push(r->lw->arena, term, p->fold.info->fn->result[c]);
        }
    }
}

/* How many lines are taken at a time: their code is there so often. */
static unsigned lines_at_once(const row_loop *r, const opt_ids *term)
{
    enum { LITTLE = 8, MUCH = 24 };
    ir_program *ir = r->lw->l->ir;
    opt_ids ids = {0};
    uint32_t work = 0;
    opt_reach(ir, r->lw->arena, term->n, term->at, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(ir, ids.at[i]);
        bool long_one = n->kind == IR_LOOP || n->kind == IR_CALL || (n->kind == IR_OP && ir_ops[n->op].flags & OP_MATH);
        work += long_one ? MUCH : n->kind == IR_COND || (n->kind == IR_OP && n->type != T_I64);
    }
    vec_free(r->lw->arena, &ids);
    unsigned most = r->lw->options->vector_bytes < 64 ? MOST_LINES / 2 : MOST_LINES; /* registers that there are */
    return work <= LITTLE ? most : work <= MUCH ? MOST_LINES / 2 : 1;
}

void sk_build_row_columns(sk_lower *lw)
{
    enum { KINDS = 3 };
    row_loop loop = {.lw = lw}, *r = &loop;
    const l_cluster *c = lw->cluster->loop;
    int64_t kind = lw->options->row & KINDS;
    columns t = {.r = r, .kind = kind, .most = most_columns(lw->cluster, kind)};
    k_builder *b = &lw->b;
    opt_ids term = {0}, ids = {0};
    row_begin(r, LANES);
    row_declare_results(r);
    list_terms(r, &term);
    opt_reach(lw->l->ir, lw->arena, term.n, term.at, &ids);
    uint32_t widest = sk_widest(lw->l, &ids, term.n, term.at);
    int64_t in_register = lw->options->vector_bytes / larger(widest, 1);
    t.overlaps = !(lw->options->row & NARROW);
    if (!(lw->options->row & SMALL) || !t.overlaps)
        lw->out->k->lanes = (uint16_t)(t.overlaps ? larger(LANES, in_register) : smaller(LANES, in_register));
    for (uint32_t i = 0; i < ids.n; i++) /* failures and traces come once */
        t.overlaps &= !ir_at(lw->l->ir, ids.at[i])->partial;
    for (unsigned d = row_dimension(r) + 1; d < c->rank; d++)
        t.needs_index |= sk_mentions(lw, term.n, term.at, lw->at.at[d]);
    declare_states(&t);
    r->length = sk_slot(lw, LENGTH, "row_length");
    r->stride = sk_product(lw, c->behind, c->shape + c->rank - c->behind);
    k_val tiles = sk_slot(lw, TILES, "tiles"), most = sk_slot(lw, WIDTH, "tile_width");
    t.outer = k_let(b, OP_QUOT, k_piece(b), tiles, 0);
    t.left = sk_mul(lw, sk_sub(lw, k_piece(b), sk_mul(lw, t.outer, tiles)), most);
    k_val last =
        k_let(b, OP_EQ, sk_add(lw, k_piece(b), k_i64(b, 1)), sk_mul(lw, sk_add(lw, t.outer, k_i64(b, 1)), tiles), 0);
    t.width = k_select(b, last, sk_sub(lw, r->stride, t.left), most);
    sk_row_indices(lw, row_dimension(r) + 1, c->shape, t.outer, t.index);
    walk(&t, lines_at_once(r, &term));
}
