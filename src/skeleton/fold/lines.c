#include "skeleton/fold/lines.h"

#include "skeleton/extents.h"

#include "opt/rewrite.h"

enum { LENGTH, PIECES, TILES, WIDTH, ROWS };

bool sk_suits_lines(const sk_call *x, int64_t *outer, int64_t *columns)
{
    const sk_cluster *c = x->c;
    *outer = *columns = 1;
    for (unsigned d = 0; d + 1 < c->loop->rank; d++)
        *(d + 1 + c->beside < c->loop->rank ? outer : columns) *= x->extent[d];
    return !x->o->group && x->pass != SK_PASS_COMBINE && c->loop->rank > 1;
}

void sk_launch_lines(sk_geometry *g, int64_t outer, int64_t rows, int64_t width, int64_t length, int64_t pieces)
{
    int64_t tiles = pieces_of(rows, width);
    g->slot[LENGTH] = length;
    g->slot[PIECES] = pieces;
    g->slot[TILES] = tiles;
    g->slot[WIDTH] = width;
    g->slot[ROWS] = rows;
    g->partials = pieces;
    g->pieces = outer * tiles * pieces;
}

/* --- indices --- */

/* Line k, at the thread's place. */
static void bind(void *env, k_val k)
{
    sk_lines *m = env;
    sk_folds *s = m->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    const sk_cluster *c = lw->cluster;
    unsigned last = c->loop->rank - 1u, first = last - c->beside, run = c->dense;
    k_val column = m->place, line = k;
    if (c->dense)
        lw->space.position[0] = sk_add(lw, sk_add(lw, sk_mul(lw, k, m->rows), m->left), m->place);
    for (unsigned d = 0; d < first; d++)
        sk_bind(lw, lw->at.at[d], m->index[d]);
    if (!m->indexed)
        return;
    if (!m->one_line && m->by_line) {
        column = m->column;
        line = sk_add(lw, k, m->down);
    } else if (!m->one_line) {
        k_val down = k_let(b, OP_QUOT, m->place, m->width, 0);
        column = sk_sub(lw, column, sk_mul(lw, down, m->width));
        line = sk_add(lw, k, down);
    }
    k_val row = sk_add(lw, m->left, column);
    if (c->beside > 1)
        lw->space.position[run] = row;
    else
        sk_bind(lw, lw->at.at[first], row);
    sk_bind(lw, lw->at.at[last], line);
    lw->element = sk_add(lw, sk_mul(lw, sk_add(lw, sk_mul(lw, m->outer, m->rows), row), m->length), line);
    sk_bind(lw, lw->at.linear, lw->element);
}

/* The folded dimension and those beside each other are runs of what is read. */
static void open_space(sk_folds *s)
{
    const sk_cluster *c = s->lw->cluster;
    sk_space *space = &s->lw->space;
    unsigned last = c->loop->rank - 1u, first = last - c->beside;
    space->rank = c->beside;
    if (c->dense) {
        space->var[0] = s->lw->at.at[last];
        space->extent[0] = c->loop->shape[last];
        space->run[0] = (uint8_t)(1 + c->beside);
        space->rank++;
    }
    for (unsigned d = first; d < last; d++) {
        unsigned at = d - first + c->dense;
        space->var[at] = s->lw->at.at[d];
        space->extent[at] = c->loop->shape[d];
        space->run[at] = d == first ? c->beside : 1;
    }
}

/* --- the piece --- */

static bool is_harmless(const sk_folds *s)
{
    const sk_lower *lw = s->lw;
    VEC(ir_id) term = {0};
    opt_ids ids = {0};
    for (uint32_t i = 0; i < s->fold.n; i++) {
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            vec_push(lw->arena, &term, s->fold.at[i].element[c]);
        if (!sk_fold_harmless(lw, &s->fold.at[i]))
            return false;
    }
    opt_reach(lw->l->ir, lw->arena, term.n, term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(lw->l->ir, ids.at[i])->partial)
            return false;
    return true;
}

void sk_open_lines(sk_lines *m, sk_folds *s, k_val size)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    const sk_cluster *c = lw->cluster;
    k_val tiles = sk_slot(lw, TILES, "tiles"), most = sk_slot(lw, WIDTH, "tile_width");
    m->s = s;
    m->indexed = c->indexed;
    m->harmless = is_harmless(s);
    m->pieces = sk_slot(lw, PIECES, "pieces_a_row");
    m->rows = sk_slot(lw, ROWS, "rows");
    m->length = sk_slot(lw, LENGTH, "row_length");
    k_val number = m->number ? m->number : k_piece(b);
    k_val at = k_let(b, OP_QUOT, number, m->pieces, 0);
    m->part = sk_sub(lw, number, sk_mul(lw, at, m->pieces));
    m->outer = k_let(b, OP_QUOT, at, tiles, 0);
    m->left = sk_mul(lw, sk_sub(lw, at, sk_mul(lw, m->outer, tiles)), most);
    m->width = sk_min(lw, most, sk_sub(lw, m->rows, m->left));
    m->begin = sk_mul(lw, m->part, size);
    m->count = sk_min(lw, size, sk_sub(lw, m->length, m->begin));
    sk_row_indices(lw, c->loop->rank - c->beside, c->loop->shape, m->outer, m->index);
    lw->element = m->outer;
    open_space(s);
    s->bind = bind;
    s->bind_env = m;
}

static void take_at(sk_lines *m, k_val place, void (*take)(void *env), void *env)
{
    sk_lower *lw = m->s->lw;
    m->column = place;
    m->place = m->by_line && !m->one_line ? sk_add(lw, sk_mul(lw, m->down, m->width), place) : place;
    take(env);
    k_end(&lw->b);
}

static void each_gang(sk_lines *m, k_val from, k_val to, void (*take)(void *env), void *env)
{
    sk_lower *lw = m->s->lw;
    k_builder *b = &lw->b;
    int64_t gang_lanes = lw->out->k->lanes;
    k_val lanes = k_i64(b, gang_lanes), count = sk_sub(lw, to, from);
    if (m->harmless) {
        k_if(b, k_let(b, OP_GE, count, lanes, 0));
        k_val gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, gang_lanes - 1)), lanes, 0);
        k_val gang = k_for(b, k_i64(b, 0), gangs, false);
        k_val first = sk_min(lw, sk_add(lw, from, sk_mul(lw, gang, lanes)), sk_sub(lw, to, lanes));
        take_at(m, sk_add(lw, first, k_for_all(b, lanes)), take, env);
        k_end(b);
        k_else(b);
    }
    m->few = m->harmless;
    take_at(m, sk_add(lw, from, m->few ? k_for_few(b, count) : k_for_all(b, count)), take, env);
    m->few = false;
    if (m->harmless)
        k_end(b);
}

void sk_each_place(sk_lines *m, k_val from, k_val to, void (*take)(void *env), void *env)
{
    k_builder *b = &m->s->lw->b;
    if (m->one_line || !m->by_line) {
        each_gang(m, from, to, take, env);
        return;
    }
    k_val first = k_let(b, OP_QUOT, from, m->width, 0);
    m->down = k_for(b, first, k_let(b, OP_QUOT, to, m->width, 0), false);
    each_gang(m, k_i64(b, 0), m->width, take, env);
    k_end(b);
}

k_val sk_line_result(const sk_lines *m)
{
    sk_lower *lw = m->s->lw;
    return sk_add(lw, sk_add(lw, sk_mul(lw, m->outer, m->rows), m->left), m->place);
}
