/* Maps whose reads are moved along a dimension before the innermost ones: neighbours in pictures of a few channels,
 * pictures with a border, or parts of them. What they read of the dimensions behind it is where the loop is, so that
 * all of them are one run of columns, as long as it is known how far the read is moved: the loop is cut where index
 * arithmetic changes its form (stretches.h). */
#include "skeleton/extents.h"
#include "skeleton/map/map.h"
#include "skeleton/map/stretches.h"

#include "skeleton/element/runs.h"

/* --- which maps --- */

typedef struct search {
    const sk_lower *lw;
    const sk_cluster *c;
    const sk_index *at;
    unsigned first; /* dimension: the one of the moves */
    sk_forms forms;
    sk_stretches cuts;
    bool *moved; /* of term i of the forms in [i + 1]: the index in that dimension, moved */
} search;

static bool is_moved(const search *s, ir_id term)
{
    return s->moved[map64_get(&s->forms.number, term)];
}

static bool is_behind(const search *s, ir_id term)
{
    return sk_component(s->at, term) > s->first + 1;
}

static const sk_cut *cut_of(const search *s, ir_id term)
{
    for (uint32_t k = 0; k < s->cuts.n; k++)
        if (s->cuts.cut[k].term == term)
            return &s->cuts.cut[k];
    return NULL;
}

/* Is the term the index, moved? Its operands are known. */
static bool moves(const search *s, ir_id term)
{
    const ir_program *p = s->forms.p;
    const ir_node *n = ir_at(p, term);
    const ir_id *arg = p->arg.at + n->args;
    if (term == s->at->at[s->first])
        return true;
    if (n->kind == IR_WITHIN)
        return is_moved(s, arg[0]);
    if (n->kind != IR_OP || n->type != T_I64)
        return false;
    if (n->op == OP_ADD || n->op == OP_SUB)
        return is_moved(s, arg[0]) && !ir_at(p, arg[1])->scope;
    const sk_cut *cut = cut_of(s, term);
    if (cut && cut->kind == SK_CUT_PERIOD) /* between two of its multiples */
        return (n->op == OP_MOD || n->op == OP_REM) && is_moved(s, arg[0]);
    return cut && sk_form_of(&s->forms, term).step == 1 && (is_moved(s, arg[0]) || (n->n > 1 && is_moved(s, arg[1])));
}

/* Is each index either one of the run, which ends the read and has its extents, or has nothing to do with it? */
static bool suits_read(const search *s, const ir_node *n)
{
    const ir_program *p = s->forms.p;
    const ir_id *index = p->arg.at + n->args, *shape = ir_info(p, n->array)->shape;
    const unsigned behind = s->c->inner;
    if (n->flags & IR_LINEAR)
        return !is_moved(s, index[0]) && !is_behind(s, index[0]);
    for (unsigned k = 0; k < n->n; k++) {
        if (is_behind(s, index[k]))
            return false;
        if (!is_moved(s, index[k]))
            continue;
        if (k + behind + 1u != n->n)
            return false;
        for (unsigned i = 1; i <= behind; i++)
            if (index[k + i] != s->at->at[s->first + i] || shape[k + i] != s->c->loop->shape[s->first + i])
                return false;
        return true;
    }
    return true;
}

static bool suits_term(const search *s, ir_id term)
{
    const ir_program *p = s->forms.p;
    const ir_node *n = ir_at(p, term);
    const ir_id *arg = p->arg.at + n->args;
    if (n->kind == IR_LOOP)
        return false;
    if (n->kind == IR_READ)
        return suits_read(s, n);
    for (uint32_t k = 0; k < n->n; k++)
        if (is_behind(s, arg[k]) || arg[k] == s->at->linear ||
            (is_moved(s, arg[k]) && !is_moved(s, term) && !cut_of(s, term)))
            return false;
    return true;
}

static sk_directions directions_of(const sk_index *at, unsigned first)
{
    sk_directions d = {.along = 1, .moving = {at->at[first]}, .between = true};
    for (unsigned i = 0; i < first; i++)
        d.fixed[d.still++] = at->at[i];
    return d;
}

/* Each period is a loop of its own; lanes, or blocks, of a few known elements are quicker. */
static bool has_periods(const sk_stretches *cuts)
{
    for (uint32_t k = 0; k < cuts->n; k++)
        if (cuts->cut[k].kind == SK_CUT_PERIOD)
            return true;
    return false;
}

uint8_t sk_find_moved(sk_lower *lw, const sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    if (!c->uses_index || c->inner >= c->loop->rank)
        return 0;
    search s = {.lw = lw, .c = c, .at = at, .first = c->loop->rank - 1u - c->inner};
    if (c->run[s.first] != 1 || !c->used[s.first])
        return 0;
    const sk_directions d = directions_of(at, s.first);
    s.forms = sk_find_forms(lw, out->term.n, out->term.at, &d);
    s.cuts = sk_find_stretches(lw, out->term.n, out->term.at, &d);
    if (has_periods(&s.cuts) && (c->of_lane || c->block_digits))
        return 0;
    s.moved = arena_alloc(lw->arena, s.forms.ids.n + 1);
    for (uint32_t i = 0; i < s.forms.ids.n; i++) {
        s.moved[i + 1] = moves(&s, s.forms.ids.at[i]);
        if (!suits_term(&s, s.forms.ids.at[i]))
            return 0;
    }
    for (uint32_t i = 0; i < out->term.n; i++)
        if (is_moved(&s, out->term.at[i]) || is_behind(&s, out->term.at[i]))
            return 0;
    return (uint8_t)(s.first + 1);
}

/* --- the launch --- */

static int64_t product(const int64_t *extent, unsigned first, unsigned end)
{
    int64_t all = 1;
    for (unsigned d = first; d < end; d++)
        all *= extent[d];
    return all;
}

int64_t sk_moved_columns(const sk_cluster *c, const int64_t *extent)
{
    return product(extent, c->moved - 1u, c->loop->rank);
}

bool sk_launch_map_moved(const sk_call *x, sk_geometry *g)
{
    enum { MOST_BEHIND = 64, LEAST_COLUMNS = 256 };
    const sk_cluster *c = x->c;
    const unsigned rank = c->loop->rank;
    if (!c->moved || x->o->group || !x->o->vector_bytes || !x->rows || !x->columns)
        return false;
    const int64_t rows = product(x->extent, 0, c->moved - 1u), columns = sk_moved_columns(c, x->extent);
    const int64_t behind = product(x->extent, c->moved, rank);
    if (behind > MOST_BEHIND || columns < LEAST_COLUMNS)
        return false;
    const int64_t size = sk_piece_elements(x, rows * columns), width = smaller(columns, size / behind * behind);
    const int64_t tiles = pieces_of(columns, width), rows_piece = larger(1, size / width);
    int64_t known;
    for (unsigned d = c->moved; d < rank; d++)
        if (!ir_extent_constant(c->l->ir, c->loop->shape[d], &known))
            g->row = behind;
    g->pieces = pieces_of(rows, rows_piece) * tiles;
    g->slot[0] = rows_piece;
    g->slot[1] = tiles;
    g->slot[2] = width;
    g->slot[3] = rows;
    g->slot[4] = columns;
    return true;
}

/* --- the kernel --- */

typedef struct row { /* of a piece */
    sk_lower *lw;
    const sk_outputs *out;
    unsigned dimension; /* of the moves */
    k_val behind;       /* elements of the dimensions behind it */
    k_val first, left;  /* element and column */
    k_val at;
} row;

static void begin_column(void *env, k_val position)
{
    row *r = env;
    sk_lower *lw = r->lw;
    k_val column = sk_add(lw, r->left, position);
    sk_bind_column(lw, &lw->at, r->dimension, column, k_let(&lw->b, OP_QUOT, column, r->behind, 0));
    r->at = lw->element = sk_add(lw, r->first, position);
    sk_bind(lw, lw->at.linear, r->at);
}

static void store_column(void *env)
{
    row *r = env;
    sk_fetch_results(r->lw, r->out, r->at, 0);
    sk_store_element(r->lw, r->out, r->at);
}

/* slots: 0 rows a piece, 1 tiles a row, 2 columns a tile, 3 rows, 4 columns */
void sk_build_map_moved(sk_lower *lw)
{
    const l_cluster *loop = lw->cluster->loop;
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    row r = {.lw = lw, .out = &out, .dimension = lw->cluster->moved - 1u};
    k_builder *b = &lw->b;
    const unsigned behind = loop->rank - 1u - r.dimension;
    if (lw->options->row && behind == 1) /* which is no argument, then */
        map64_put(lw->arena, &lw->argument, loop->shape[loop->rank - 1], k_i64(b, lw->options->row));
    sk_open_space(lw);
    sk_open_columns(lw, &lw->at, r.dimension);
    k_val rows_piece = sk_slot(lw, 0, "rows_piece"), tiles = sk_slot(lw, 1, "tiles"),
          width = sk_slot(lw, 2, "tile_width"), rows = sk_slot(lw, 3, "rows"), columns = sk_slot(lw, 4, "columns");
    r.behind = lw->options->row ? k_i64(b, lw->options->row)
                                : sk_max(lw, sk_product(lw, behind, loop->shape + r.dimension + 1), k_i64(b, 1));
    k_val group = k_let(b, OP_QUOT, k_piece(b), tiles, 0), tile = sk_sub(lw, k_piece(b), sk_mul(lw, group, tiles));
    r.left = sk_mul(lw, tile, width);
    k_val count = sk_min(lw, width, sk_sub(lw, columns, r.left));
    k_val first = sk_max(lw, sk_mul(lw, group, rows_piece), k_i64(b, 0)); /* so that it is seen */
    k_val number = k_for(b, first, sk_min(lw, sk_add(lw, first, rows_piece), rows), false);
    sk_bind_runs(lw, 0, r.dimension, number);
    r.first = sk_add(lw, sk_mul(lw, number, columns), r.left);
    const sk_directions d = directions_of(&lw->at, r.dimension);
    const sk_stretches cuts = sk_find_stretches(lw, out.term.n, out.term.at, &d);
    sk_for_stretches(lw, &cuts, count, &(sk_positions){&r, begin_column, store_column, r.behind, false});
    k_end(b);
}
