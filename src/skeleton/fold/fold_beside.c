/* Folds from left to right of short rows that lie beside each other along a dimension of their own: lanes are the rows
 * of that dimension. Those before it are the same for all lanes, so that an index needs no division; those behind it
 * are small and known, so that a lane has all their rows: points times a small matrix, small matrices, windows of two
 * dimensions. Where nothing can fail, what several rows of a lane read is read once.
 *
 * slots: 0 row length, 1 places a piece, 2 tiles a place, 3 lanes a tile, 4 places, 5 lanes of a place; a place is an
 * index in the dimensions before that of the lanes. */
#include "skeleton/fold/fold.h"

#include "opt/rewrite.h"

enum { MOST_ROWS = 16, MOST_ELEMENTS = 64, MOST_TERMS = 800 };

/* Rows of a lane: the product of the constant extents of the last dimensions of the result. */
static int64_t rows_of_lane(const sk_cluster *c, unsigned *lane_dimension)
{
    int64_t rows = 1, extent;
    unsigned d = c->loop->rank - 2u;
    while (d && ir_extent_constant(c->l->ir, c->loop->shape[d], &extent) && extent > 0 && rows * extent <= MOST_ROWS) {
        rows *= extent;
        d--;
    }
    *lane_dimension = d;
    return rows;
}

static bool stores_elements(const l_cluster *c)
{
    for (uint32_t i = 0; i < c->op.n; i++)
        if (c->op.at[i].stored && c->op.at[i].kind != L_FOLD)
            return true;
    return false;
}

/* Lanes that have all rows of a block read elements far apart where each row has elements of its own; where what they
 * read is small, what several rows read is read once, but blocks of three need no permutations. */
bool sk_rows_in_blocks(const sk_call *x)
{
    enum { FEW = 4, FAR = 16 };
    unsigned d;
    const sk_cluster *c = x->c;
    const int64_t length = x->columns;
    if (c->loop->rank < 3 || !x->o->vector_bytes || x->o->group || x->pass == SK_PASS_COMBINE || length < 1 ||
        length > SK_SHORT || row_gang_of(c).block <= 1)
        return false;
    const int64_t rows = rows_of_lane(c, &d);
    if (d)
        return false;
    const bool even = rows > 1 && !(rows & (rows - 1));
    return (even && length <= FEW) || (c->whole_reads && rows * length > FAR);
}

bool sk_launch_fold_beside(const sk_call *x, sk_geometry *g)
{
    enum { FEWEST = 16, UNIT = 64 };
    const sk_cluster *c = x->c;
    const int64_t *extent = x->extent;
    int64_t length = x->columns, places = 1;
    unsigned d;
    if (!x->o->vector_bytes || x->o->group || x->pass == SK_PASS_COMBINE || stores_elements(c->loop))
        return false;
    if (c->loop->rank < 3 || length < 1 || length > SK_SHORT)
        return false;
    int64_t rows = rows_of_lane(c, &d), lanes = extent[d];
    for (unsigned i = 0; i < d; i++)
        places *= extent[i];
    if (lanes < FEWEST || rows * length > MOST_ELEMENTS || !places)
        return false;
    if (sk_rows_in_blocks(x) || (rows == 1 && c->own_rows)) /* rows alone, whatever dimensions they lie in */
        return false;
    int64_t piece = sk_piece_elements(x, x->rows * length);
    int64_t share = piece / (rows * length) / UNIT * UNIT, width = share < UNIT ? UNIT : share;
    width = width < lanes ? width : lanes;
    int64_t tiles = (lanes + width - 1) / width, together = share / lanes > 1 ? share / lanes : 1;
    g->row = length;
    g->slot[0] = length;
    g->slot[1] = together;
    g->slot[2] = tiles;
    g->slot[3] = width;
    g->slot[4] = places;
    g->slot[5] = lanes;
    g->pieces = (places + together - 1) / together * tiles;
    return true;
}

/* --- what rows of a lane share --- */

typedef struct beside {
    sk_folds *s;
    unsigned dimension; /* of lanes */
    int64_t rows, length;
    ir_id **element;          /* per row and position, and fold: its terms; NULL: they are not shared */
    k_val index[IR_MAX_RANK]; /* of the row at hand */
} beside;

static uint32_t of_fold(const beside *t, int64_t row, int64_t k, uint32_t fold)
{
    return (uint32_t)((row * t->length + k) * t->s->fold.n + fold);
}

/* The indices of row number `row` of a lane in the dimensions behind that of the lanes. */
static void small_indices(const beside *t, int64_t row, int64_t *index)
{
    const sk_lower *lw = t->s->lw;
    for (unsigned d = lw->cluster->loop->rank - 2u; d > t->dimension; d--) {
        int64_t extent = 1;
        ir_extent_constant(lw->l->ir, lw->cluster->loop->shape[d], &extent);
        index[d] = row % extent;
        row /= extent;
    }
}

/* The element's terms where the small indices are numbers. */
static ir_id *with_numbers(const beside *t, const sk_fold *f, int64_t row, int64_t k)
{
    const sk_folds *s = t->s;
    ir_program *p = s->lw->l->ir;
    ir_id *term = arena_copy(s->lw->arena, f->element, f->n * sizeof(ir_id)), from[IR_MAX_RANK], to[IR_MAX_RANK];
    int64_t index[IR_MAX_RANK] = {0};
    uint32_t n = 0;
    small_indices(t, row, index);
    for (unsigned d = t->dimension + 1; d < s->lw->cluster->loop->rank; d++, n++) {
        from[n] = s->lw->at.at[d];
        to[n] = ir_i64(p, d + 1u == s->lw->cluster->loop->rank ? k : index[d]);
    }
    ir_substitute(p, n, from, to, f->n, term);
    return term;
}

static bool may_share(const beside *t)
{
    const sk_folds *s = t->s;
    if (t->rows == 1)
        return false;
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            if (ir_at(s->lw->l->ir, s->fold.at[i].element[c])->partial ||
                sk_mentions(s->lw, 1, &s->fold.at[i].element[c], s->lw->at.linear))
                return false;
    return true;
}

/* Finds the elements of all rows of a lane. */
static void share(beside *t)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    opt_ids ids = {0};
    VEC(ir_id) all = {0};
    t->element = arena_array(lw->arena, ir_id *, (size_t)(t->rows * t->length) * s->fold.n);
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t k = 0; k < t->length; k++)
            for (uint32_t i = 0; i < s->fold.n; i++) {
                const sk_fold *f = &s->fold.at[i];
                ir_id *term = with_numbers(t, f, row, k);
                const ir_node *n = ir_at(lw->l->ir, term[0]);
                if (f->fused_product && (n->kind != IR_OP || n->op != OP_MUL)) {
                    t->element = NULL;
                    return;
                }
                t->element[of_fold(t, row, k, i)] = term;
                for (uint32_t c = 0; c < f->n; c++)
                    vec_push(lw->arena, &all, term[c]);
            }
    opt_reach(lw->l->ir, lw->arena, all.n, all.at, &ids);
    if (ids.n > MOST_TERMS)
        t->element = NULL;
}

/* What all of them need, in one piece of code. */
static void emit_shared(const beside *t)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    VEC(ir_id) term = {0};
    for (uint32_t e = 0; e < t->rows * t->length * s->fold.n; e++) {
        const sk_fold *f = &s->fold.at[e % s->fold.n];
        if (f->fused_product) {
            vec_push(lw->arena, &term, ir_args(lw->l->ir, t->element[e][0])[0]);
            vec_push(lw->arena, &term, ir_args(lw->l->ir, t->element[e][0])[1]);
        }
        for (uint32_t c = 0; c < f->n && !f->fused_product; c++)
            vec_push(lw->arena, &term, t->element[e][c]);
    }
    sk_emit(lw, term.n, term.at, arena_array(lw->arena, k_val, term.n + 1));
}

/* --- the kernel --- */

static uint16_t lanes_of(const beside *t)
{
    uint16_t lanes = sk_fold_lanes_for(t->s);
    for (int64_t rows = t->rows; rows > 1 && lanes > 8 && rows * lanes > 64; rows /= 2)
        lanes /= 2;
    return lanes;
}

static void bind_element(void *env, k_val k)
{
    const beside *t = env;
    sk_lower *lw = t->s->lw;
    const sk_cluster *c = lw->cluster;
    lw->element = sk_add(lw, t->s->row_base, k);
    sk_bind(lw, lw->at.linear, lw->element);
    for (unsigned d = 0; d + 1u < c->loop->rank; d++)
        sk_bind(lw, lw->at.at[d], t->index[d]);
    sk_bind(lw, lw->at.at[c->loop->rank - 1], k);
}

static void fold_row(const beside *t, int64_t number, k_val row, k_val *const *acc)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    ir_id **own = arena_array(lw->arena, ir_id *, s->fold.n);
    for (uint32_t i = 0; i < s->fold.n; i++)
        own[i] = s->fold.at[i].element;
    for (int64_t k = 0; k < t->length; k++) {
        k_val at = k_i64(b, k);
        for (uint32_t i = 0; i < s->fold.n && t->element; i++)
            s->fold.at[i].element = t->element[of_fold(t, number, k, i)];
        sk_fold_element(s, row, at, k_let(b, OP_GT, at, k_i64(b, 0), 0), acc);
    }
    for (uint32_t i = 0; i < s->fold.n; i++)
        s->fold.at[i].element = own[i];
}

/* seed (+) total, as sk_fold_finish has it, for one row. */
static void finish_row(const beside *t, const sk_fold *f, k_val *const *acc, uint32_t fold, k_val *out)
{
    sk_lower *lw = t->s->lw;
    k_val *total = arena_array(lw->arena, k_val, f->n), *seed = arena_array(lw->arena, k_val, f->n);
    for (uint32_t c = 0; c < f->n; c++)
        out[c] = total[c] = k_get(&lw->b, acc[fold][c]);
    for (uint32_t c = 0; c < f->n && f->info->seed; c++)
        seed[c] = sk_closed(lw, f->info->seed[c]);
    if (f->info->seed)
        sk_fold_apply(lw, f, seed, total, out);
}

/* The rows of a lane; `first` is the number of the first one. */
static void fold_lane(beside *t, k_val first)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val **out = arena_array(lw->arena, k_val *, (size_t)t->rows * s->fold.n), at[MOST_ROWS];
    uint32_t mark = sk_scope(lw);
    int64_t small[IR_MAX_RANK];
    if (t->element) {
        for (unsigned d = 0; d <= t->dimension; d++)
            sk_bind(lw, lw->at.at[d], t->index[d]);
        emit_shared(t);
    }
    for (int64_t row = 0; row < t->rows; row++) {
        small_indices(t, row, small);
        for (unsigned d = t->dimension + 1; d + 1u < lw->cluster->loop->rank; d++)
            t->index[d] = k_i64(b, small[d]);
        at[row] = sk_add(lw, first, k_i64(b, row));
        s->row_base = sk_mul(lw, at[row], s->row_length);
        lw->element = at[row];
        k_val **acc = sk_fold_accumulators(s);
        fold_row(t, row, at[row], acc);
        for (uint32_t i = 0; i < s->fold.n; i++) {
            const sk_fold *f = &s->fold.at[i];
            k_val *values = out[row * s->fold.n + i] = arena_array(lw->arena, k_val, f->n);
            finish_row(t, f, acc, i, values);
        }
    }
    sk_scope_end(lw, mark);
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            for (int64_t row = 0; row < t->rows; row++)
                k_store(b, sk_array_memory(lw, s->fold.at[i].op->term, c, true), at[row], out[row * s->fold.n + i][c]);
}

static void fold_beside(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    const sk_cluster *c = lw->cluster;
    beside t = {.s = s, .length = lw->options->row};
    t.rows = rows_of_lane(c, &t.dimension);
    lw->out->k->lanes = lanes_of(&t);
    if (may_share(&t))
        share(&t);
    s->row_length = k_i64(b, t.length);
    k_val together = sk_slot(lw, 1, "places_piece"), tiles = sk_slot(lw, 2, "tiles"), width = sk_slot(lw, 3, "width");
    k_val places = sk_slot(lw, 4, "places"), lanes = sk_slot(lw, 5, "lanes");
    k_val group = k_let(b, OP_QUOT, k_piece(b), tiles, 0);
    k_val left = sk_mul(lw, sk_sub(lw, k_piece(b), sk_mul(lw, group, tiles)), width);
    k_val from = sk_mul(lw, group, together);
    k_val place = k_for(b, from, sk_min(lw, places, sk_add(lw, from, together)), false);
    sk_row_indices(lw, t.dimension + 1, c->loop->shape, place, t.index);
    k_val lane = k_for_all(b, sk_min(lw, width, sk_sub(lw, lanes, left)));
    t.index[t.dimension] = sk_add(lw, left, lane);
    s->bind = bind_element;
    s->bind_env = &t;
    k_val row = sk_add(lw, sk_mul(lw, place, lanes), t.index[t.dimension]);
    fold_lane(&t, sk_mul(lw, row, k_i64(b, t.rows)));
    k_end(b);
    k_end(b);
}

void sk_build_fold_beside(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    fold_beside(&s);
}
