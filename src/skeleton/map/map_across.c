/* Maps that read arrays along another axis than they write theirs: transposes, permuted dimensions, arithmetic with
 * transposed matrices. Lanes are neighbours in what is written; a gang then goes along the axis that reads lie together
 * in. So each lane walks a row of what it reads: emitters read these rows line by line, and turn tiles of them into
 * vectors in registers. Where rows of what is written are short it is the other way round: lanes are neighbours in what
 * is read, and each walks a row of what it writes. */
#include "skeleton/map/map.h"

#include "skeleton/element/forms.h"
#include "skeleton/element/interleave.h"
#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

/* --- which maps --- */

typedef struct reads {
    uint32_t across; /* together along the turn, apart along the lanes */
    bool known;      /* all of them, in both directions */
} reads;

/* Loops and conditions keep reads out of a gang's own loop; what may fail or trace is done once, in order. */
static bool is_plain(const sk_forms *f)
{
    for (uint32_t i = 0; i < f->ids.n; i++) {
        const ir_node *n = ir_at(f->p, f->ids.at[i]);
        bool traces = n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES;
        bool chooses = n->kind == IR_COND && f->form[i + 1].reads;
        if (n->partial || traces || chooses || n->kind == IR_LOOP)
            return false;
    }
    return true;
}

static sk_forms forms_along(const sk_lower *lw, const sk_outputs *out, const sk_index *at, unsigned dimension)
{
    sk_directions d = {.along = 1, .moving = {at->at[dimension]}};
    for (unsigned i = 0; i < at->rank; i++)
        if (i != dimension)
            d.fixed[d.still++] = at->at[i];
    return sk_find_forms(lw, out->term.n, out->term.at, &d);
}

/* How far apart the elements are that neighbours read. */
typedef enum { SAME, TOGETHER, APART, NOT_KNOWN } distance;

static distance distance_of(const sk_forms *f, const ir_node *read)
{
    enum { NEAR = 4 };
    const ir_id *index = f->p->arg.at + read->args;
    distance all = SAME;
    if (read->flags & IR_LINEAR) { /* by the position in all dimensions: what is not known is multiplied by extents */
        sk_form x = sk_form_of(f, index[0]);
        bool near = x.kind != SK_UNKNOWN && x.step >= -NEAR && x.step <= NEAR;
        return !near ? APART : x.step ? TOGETHER : SAME;
    }
    for (uint32_t k = 0; k < read->n; k++) {
        sk_form x = sk_form_of(f, index[k]);
        bool last = k + 1 == read->n;
        if (x.kind == SK_UNKNOWN)
            return NOT_KNOWN;
        if (x.kind == SK_MOVING)
            all = last && all == SAME && x.step >= -NEAR && x.step <= NEAR ? TOGETHER : APART;
    }
    return all;
}

static reads reads_of(const sk_forms *lanes, const sk_forms *turns, arena *a, opt_ids *found)
{
    reads r = {.known = true};
    for (uint32_t i = 0; i < lanes->ids.n; i++) {
        const ir_node *n = ir_at(lanes->p, lanes->ids.at[i]);
        if (n->kind != IR_READ)
            continue;
        distance lane = distance_of(lanes, n), turn = distance_of(turns, n);
        r.known &= lane != NOT_KNOWN && turn != NOT_KNOWN;
        if (lane != APART || turn != TOGETHER)
            continue;
        r.across++;
        vec_push(a, found, lanes->ids.at[i]);
    }
    return r;
}

/* Does the read of the row behind follow on that of this one? */
static bool follows(const sk_forms *rows, const l_cluster *loop, const ir_node *read)
{
    const ir_id *index = rows->p->arg.at + read->args;
    const unsigned last = read->n - 1u;
    if (read->flags & IR_LINEAR)
        return false;
    for (unsigned k = 0; k < read->n; k++)
        if (sk_form_of(rows, index[k]).step != (k + 1 == last) || sk_form_of(rows, index[k]).kind == SK_UNKNOWN)
            return false;
    return ir_info(rows->p, read->array)->shape[last] == loop->shape[loop->rank - 1];
}

bool sk_knows_rows(const sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    sk_forms lanes = forms_along(lw, out, at, lw->cluster->loop->rank - 1u);
    for (uint32_t i = 0; i < lanes.ids.n; i++) {
        const ir_node *n = ir_at(lanes.p, lanes.ids.at[i]);
        bool linear = n->kind == IR_READ && n->flags & IR_LINEAR;
        if (linear && lanes.p->arg.at[n->args] == at->linear) /* where the loop writes */
            continue;
        if (linear ? sk_form_of(&lanes, lanes.p->arg.at[n->args]).kind == SK_UNKNOWN
                   : n->kind == IR_READ && distance_of(&lanes, n) == NOT_KNOWN)
            return false;
    }
    return true;
}

bool sk_reads_rows(const sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    sk_forms lanes = forms_along(lw, out, at, lw->cluster->loop->rank - 1u);
    bool found = false;
    for (uint32_t i = 0; i < lanes.ids.n; i++) {
        const ir_node *n = ir_at(lanes.p, lanes.ids.at[i]);
        if (n->kind != IR_READ)
            continue;
        const bool here = n->flags & IR_LINEAR && lanes.p->arg.at[n->args] == at->linear; /* where the loop writes */
        const distance apart = here ? TOGETHER : distance_of(&lanes, n);
        if (apart == APART || apart == NOT_KNOWN)
            return false;
        found |= apart == TOGETHER;
    }
    return found;
}

bool sk_copies_short_rows(const sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    const l_cluster *loop = lw->cluster->loop;
    sk_forms lanes = forms_along(lw, out, at, loop->rank - 1u), rows = forms_along(lw, out, at, loop->rank - 2u);
    bool apart = false;
    for (uint32_t i = 0; i < lanes.ids.n; i++) {
        const ir_node *n = ir_at(lanes.p, lanes.ids.at[i]);
        if (n->kind != IR_READ)
            continue;
        if (distance_of(&lanes, n) != TOGETHER && distance_of(&lanes, n) != SAME)
            return false;
        apart |= distance_of(&rows, n) == APART && !follows(&rows, loop, n);
    }
    return apart;
}

static sk_forms forms_of_turns(const sk_lower *lw, const sk_outputs *out, const sk_index *at, unsigned run)
{
    return forms_along(lw, out, at, run + lw->cluster->run[run] - 1u);
}

opt_ids sk_reads_across(sk_lower *lw, const sk_outputs *out, const sk_index *at)
{
    const sk_cluster *c = lw->cluster;
    opt_ids found = {0};
    sk_forms lanes = forms_along(lw, out, at, c->loop->rank - 1u), turns = forms_of_turns(lw, out, at, c->across - 1u);
    reads_of(&lanes, &turns, lw->arena, &found);
    return found;
}

uint8_t sk_find_across(sk_lower *lw, const sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    sk_forms lanes = forms_along(lw, out, at, c->loop->rank - 1u);
    uint32_t most = 0;
    uint8_t found = 0;
    unsigned last = c->loop->rank - 1u;
    bool small = c->inner == 1 && c->used[last] && sk_factor_of_extents(lw, out->term.n, out->term.at, at, 1).by > 1;
    if (!c->uses_index || small || !is_plain(&lanes)) /* small known extents are a lane's */
        return 0;
    for (unsigned d = 0; d + c->inner < c->loop->rank; d++) {
        if (!c->run[d] || !c->used[d])
            continue;
        opt_ids found_here = {0};
        sk_forms turns = forms_of_turns(lw, out, at, d);
        reads r = reads_of(&lanes, &turns, lw->arena, &found_here);
        if (!r.known || r.across <= most)
            continue;
        most = r.across;
        found = (uint8_t)(d + 1);
    }
    return found;
}

/* --- the launch --- */

enum { OUTERS, TURNS, BLOCKS, COLUMNS, BESIDE, ALL };

sk_across sk_shape_across(const sk_cluster *c, const int64_t *extent)
{
    sk_across s = {1, 1, 1, 1};
    unsigned first = c->across - 1u, behind = first + c->run[first], last = c->loop->rank - (unsigned)c->inner;
    for (unsigned d = 0; d < c->loop->rank; d++)
        *(d < first ? &s.outer : d < behind ? &s.turns : d < last ? &s.between : &s.columns) *= extent[d];
    return s;
}

enum { FEWEST_COLUMNS = 16, MOST_LANES = 64 }; /* that are lanes */
enum { NARROW = 1, TWICE }; /* sk_geometry.row: there are few columns; one gang of twice the usual lanes has them */

/* A gang goes along as many turns as have their lines in the second cache when its neighbour writes their other parts.
 */
bool sk_launch_map_across(const sk_call *x, sk_geometry *g)
{
    enum { MOST_TURNS = 512, STEP = 64 };
    if (!x->c->across || !x->o->vector_bytes || x->o->group || !x->rows || !x->columns)
        return false;
    sk_across s = sk_shape_across(x->c, x->extent);
    bool narrow = s.columns < FEWEST_COLUMNS;
    int64_t piece = sk_piece_elements(x, x->rows * x->columns);
    if (narrow && s.turns < FEWEST_COLUMNS)
        return false;
    int64_t turns = round_up(pieces_of(s.turns, pieces_of(s.turns, MOST_TURNS)), STEP);
    turns = narrow ? round_up(larger(1, piece / s.columns), STEP) : turns;
    turns = smaller(turns, s.turns);
    int64_t columns = smaller(s.columns, round_up(larger(1, piece / turns), STEP));
    int64_t lanes = smaller(x->c->across_lanes * (int64_t)x->o->vector_bytes / SK_LINE, MOST_LANES);
    g->row = narrow ? NARROW : s.columns > lanes && s.columns <= lanes + lanes / 2 ? TWICE : 0;
    g->slot[OUTERS] = larger(1, piece / (turns * columns));
    g->slot[TURNS] = turns;
    g->slot[BLOCKS] = pieces_of(s.turns, turns);
    g->slot[COLUMNS] = columns;
    g->slot[BESIDE] = pieces_of(s.columns, columns);
    g->slot[ALL] = s.outer * s.between;
    g->pieces = pieces_of(s.outer * s.between, g->slot[OUTERS]) * g->slot[BLOCKS] * g->slot[BESIDE];
    return true;
}

/* --- the kernel --- */

typedef struct walk {
    sk_lower *lw;
    const sk_outputs *out;
    ir_id linear;
    bool narrow;                   /* there are few columns: lanes are turns, which write rows */
    unsigned first, behind, last;  /* dimensions: of the turn, behind it, of the columns */
    k_val turns, between, columns; /* extents */
    k_val begin, end, left, count; /* of the piece: turns; first column, and how many */
} walk;

/* All of the piece's elements at one place in the dimensions besides. */
static void elements_at(walk *w, k_val place)
{
    sk_lower *lw = w->lw;
    k_builder *b = &lw->b;
    const sk_cluster *c = lw->cluster;
    uint32_t mark = sk_scope(lw);
    k_val outer = k_let(b, OP_QUOT, place, w->between, 0), beside = sk_sub(lw, place, sk_mul(lw, outer, w->between));
    sk_bind_runs(lw, 0, w->first, outer);
    sk_bind_runs(lw, w->behind, w->last, beside);
    k_val column, turn;
    if (w->narrow) {
        turn = sk_add(lw, w->begin, k_for_all(b, sk_sub(lw, w->end, w->begin)));
        column = k_for(b, w->left, sk_add(lw, w->left, w->count), false);
    } else {
        column = sk_add(lw, w->left, k_for_all(b, w->count));
        turn = k_for(b, w->begin, w->end, false);
    }
    uint32_t inside = sk_scope(lw);
    if (c->used[w->last])
        sk_bind_run(lw, w->last, column);
    sk_bind_run(lw, w->first, turn);
    k_val row = sk_add(lw, sk_mul(lw, sk_add(lw, sk_mul(lw, outer, w->turns), turn), w->between), beside);
    k_val position = sk_add(lw, sk_mul(lw, row, w->columns), column);
    lw->element = position;
    sk_bind(lw, w->linear, position);
    sk_store_element(lw, w->out, position);
    sk_scope_end(lw, inside);
    k_end(b);
    k_end(b);
    sk_scope_end(lw, mark);
}

/* slots: as sk_launch_map_across numbers them */
void sk_build_map_across(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    sk_open_space(lw);
    uint16_t lanes = lw->out->k->lanes;
    lw->out->k->lanes = (uint16_t)(smaller(lanes, MOST_LANES) << (lw->options->row == TWICE));
    k_builder *b = &lw->b;
    k_val outers = sk_slot(lw, OUTERS, "outers_piece"), turns = sk_slot(lw, TURNS, "turns_piece"),
          blocks = sk_slot(lw, BLOCKS, "blocks"), columns = sk_slot(lw, COLUMNS, "columns_piece"),
          beside = sk_slot(lw, BESIDE, "beside"), all = sk_slot(lw, ALL, "outers");
    walk w = {
        .lw = lw, .out = &out, .linear = lw->at.linear, .narrow = lw->options->row == NARROW, .first = c->across - 1u};
    w.behind = w.first + c->run[w.first];
    w.last = c->loop->rank - (unsigned)c->inner;
    w.turns = sk_product(lw, c->run[w.first], c->loop->shape + w.first);
    w.between = sk_product(lw, w.last - w.behind, c->loop->shape + w.behind);
    w.columns = sk_product(lw, c->inner, c->loop->shape + w.last);
    k_val piece = k_piece(b);
    w.left = sk_mul(lw, sk_take_digit(lw, &piece, beside), columns);
    w.count = sk_min(lw, columns, sk_sub(lw, w.columns, w.left));
    w.begin = sk_mul(lw, sk_take_digit(lw, &piece, blocks), turns);
    w.end = sk_min(lw, w.turns, sk_add(lw, w.begin, turns));
    k_val first = sk_mul(lw, piece, outers);
    k_val place = k_for(b, first, sk_min(lw, all, sk_add(lw, first, outers)), false);
    elements_at(&w, place);
    k_end(b);
}
