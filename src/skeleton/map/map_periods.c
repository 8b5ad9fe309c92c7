/* Loops along rows that divide what grows by one from position to position by a number: tiles of 8 x 8 that lie one
 * behind the other, of an array whose rows have other lengths. A gang has all positions of one quotient, so that the
 * quotient is the same for all of its lanes, and the remainder is a lane's number: what is read lies in a few stretches
 * of memory (see map_blocks.c). Positions before the first such gang and behind the last one are taken as they are. */
#include "skeleton/map/map.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"
#include "skeleton/map/stretches.h"

enum {
    LEAST_PERIOD = 16,
    MOST_PERIOD = 64,
    MOST_FLOPS = 200, /* divisions count many times, and become one for a gang */
    MOST_TERMS = 100,
    LEAST_PERIODS = 4 /* in a row */
};

/* --- which loops --- */

static bool is_divided(const sk_forms *f, ir_id id, ir_id *of, int64_t *by)
{
    const ir_node *n = ir_at(f->p, id);
    if (n->kind != IR_OP || n->type != T_I64 ||
        (n->op != OP_QUOT && n->op != OP_DIV && n->op != OP_REM && n->op != OP_MOD))
        return false;
    const ir_id *arg = f->p->arg.at + n->args;
    *of = arg[0];
    return sk_small_literal(f->p, arg[1], by) && *by >= 2 && *by <= MOST_PERIOD &&
           sk_form_of(f, *of).kind == SK_MOVING && sk_form_of(f, *of).step == 1 && !ir_at(f->p, *of)->partial;
}

/* By the largest number, and by those that divide it. */
static sk_period find_period(const sk_lower *lw, const sk_outputs *out, const sk_index *at, unsigned column)
{
    const sk_directions d = sk_directions_of_rows(lw, at->linear, column);
    const sk_forms f = sk_find_forms(lw, out->term.n, out->term.at, &d);
    sk_period p = {0};
    ir_id of;
    int64_t by;
    for (uint32_t i = 0; i < f.ids.n; i++)
        if (is_divided(&f, f.ids.at[i], &of, &by) && by > p.by)
            p = (sk_period){.by = by, .of = of};
    for (uint32_t i = 0; i < f.ids.n && p.n < SK_MOST_DIVIDED; i++)
        if (is_divided(&f, f.ids.at[i], &of, &by) && of == p.of && p.by % by == 0)
            p.term[p.n++] = f.ids.at[i];
    return p;
}

void sk_find_periods(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    const unsigned column = c->loop->rank - (unsigned)c->inner;
    if (!c->uses_index || c->row_cuts || c->of_lane || c->block_digits || c->loop->flops > MOST_FLOPS)
        return;
    const sk_period period = find_period(lw, out, at, column);
    if (period.by < LEAST_PERIOD)
        return;
    sk_lanes l = {.p = lw->l->ir, .at = at, .column = column, .period = &period};
    sk_find_lanes_terms(&l, lw, out);
    if (l.ids.n <= MOST_TERMS && sk_lanes_know_reads(&l))
        c->period = (uint8_t)period.by;
}

bool sk_launch_map_periods(const sk_call *x, sk_geometry *g)
{
    enum { LEAST_VECTOR = 32 };
    const sk_cluster *c = x->c;
    if (!c->period || x->o->group || x->o->vector_bytes < LEAST_VECTOR || sk_lane_streams(x) || !x->rows ||
        x->columns < LEAST_PERIODS * c->period)
        return false;
    const int64_t size = sk_piece_elements(x, x->rows * x->columns), width = smaller(x->columns, size);
    const int64_t tiles = pieces_of(x->columns, width), rows_piece = larger(1, size / width);
    g->pieces = pieces_of(x->rows, rows_piece) * tiles;
    g->slot[0] = rows_piece;
    g->slot[1] = tiles;
    g->slot[2] = width;
    g->slot[3] = x->rows;
    g->slot[4] = x->columns;
    return true;
}

/* --- the kernel --- */

typedef struct row {
    sk_lower *lw;
    const sk_outputs *out;
    sk_period period;
    unsigned column;
    k_val first, left; /* element and index of position 0 */
    k_val at;
} row;

static void begin_column(void *env, k_val position)
{
    row *r = env;
    r->at = r->lw->element = sk_add(r->lw, r->first, position);
    if (r->lw->cluster->used[r->column])
        sk_bind_run(r->lw, r->column, sk_add(r->lw, r->left, position));
    sk_bind(r->lw, r->lw->at.linear, r->at);
}

static void store_column(void *env)
{
    row *r = env;
    sk_store_element(r->lw, r->out, r->at);
}

/* The number that has the period, at position 0. */
static k_val start_of(row *r)
{
    k_val start;
    const uint32_t mark = sk_scope(r->lw);
    const k_val around = r->lw->element;
    begin_column(r, k_i64(&r->lw->b, 0));
    sk_emit(r->lw, 1, &r->period.of, &start);
    r->lw->element = around;
    sk_scope_end(r->lw, mark);
    return start;
}

static void bind_divided(row *r, k_val quotient, k_val lane)
{
    sk_lower *lw = r->lw;
    const ir_program *p = lw->l->ir;
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < r->period.n; i++) {
        const ir_node *n = ir_at(p, r->period.term[i]);
        const int64_t by = ir_i64_bits(T_I64, ir_at(p, p->arg.at[n->args + 1])->u.literal);
        const bool whole = by == r->period.by, remains = n->op == OP_REM || n->op == OP_MOD;
        k_val x = whole ? remains ? lane : quotient : k_let(b, remains ? OP_REM : OP_QUOT, lane, k_i64(b, by), 0);
        if (!whole && !remains)
            x = sk_add(lw, sk_mul(lw, quotient, k_i64(b, r->period.by / by)), x);
        sk_bind(lw, r->period.term[i], x);
    }
}

/* Gangs from position `from` on; `quotient` is that of the first one. */
static void whole_periods(row *r, k_val from, k_val quotient, k_val count)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const k_val by = k_i64(b, r->period.by), number = k_for(b, k_i64(b, 0), count, false);
    const k_val begin = sk_add(lw, from, sk_mul(lw, number, by)), around = lw->element;
    const k_val lane = r->period.by == lw->out->k->lanes ? k_for_whole(b, by) : k_for_all(b, by);
    const uint32_t mark = sk_scope(lw);
    begin_column(r, sk_add(lw, begin, lane));
    bind_divided(r, sk_add(lw, quotient, number), lane);
    store_column(r);
    sk_scope_end(lw, mark);
    lw->element = around;
    k_end(b);
    k_end(b);
}

/* Where the divided number is below 0, or so large that sums may wrap, all positions are taken as they are. */
static void store_row(row *r, k_val count)
{
    enum { FARTHEST_BITS = 60 };
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const k_val start = start_of(r), by = k_i64(b, r->period.by), zero = k_i64(b, 0);
    const k_val good = k_let(b, OP_AND, k_let(b, OP_GE, start, zero, 0),
                             k_let(b, OP_LT, start, k_i64(b, INT64_C(1) << FARTHEST_BITS), 0), 0);
    const k_val from_0 = k_select(b, good, start, zero);
    const k_val first = k_let(b, OP_QUOT, sk_add(lw, from_0, k_i64(b, r->period.by - 1)), by, 0);
    const k_val head = k_select(b, good, sk_min(lw, count, sk_sub(lw, sk_mul(lw, first, by), from_0)), count);
    const k_val periods = k_let(b, OP_QUOT, sk_sub(lw, count, head), by, 0);
    const k_val tail = sk_add(lw, head, sk_mul(lw, periods, by));
    whole_periods(r, head, first, periods);
    const k_val side = k_for(b, zero, k_i64(b, 2), false), before = k_let(b, OP_EQ, side, zero, 0);
    const k_val from = k_select(b, before, zero, tail);
    sk_for_few_positions(lw, from, k_select(b, before, head, sk_sub(lw, count, tail)),
                         &(sk_positions){r, begin_column, store_column, 0, false});
    k_end(b);
}

/* slots: 0 rows a piece, 1 tiles a row, 2 columns a tile, 3 rows, 4 columns */
void sk_build_map_periods(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    sk_open_space(lw);
    if (!c->period) {
        lw->why.text = "nothing has a period along rows";
        return;
    }
    k_builder *b = &lw->b;
    kernel *k = lw->out->k;
    for (k->lanes = 1; k->lanes < c->period;)
        k->lanes = (uint16_t)(2 * k->lanes);
    const k_val rows_piece = sk_slot(lw, 0, "rows_piece"), tiles = sk_slot(lw, 1, "tiles"),
                width = sk_slot(lw, 2, "tile_width"), rows = sk_slot(lw, 3, "rows"),
                columns = sk_slot(lw, 4, "columns");
    k_val group = k_piece(b);
    const k_val tile = sk_take_digit(lw, &group, tiles), left = sk_mul(lw, tile, width);
    const k_val first = sk_mul(lw, group, rows_piece), end = sk_min(lw, sk_add(lw, first, rows_piece), rows);
    row r = {.lw = lw, .out = &out, .column = c->loop->rank - (unsigned)c->inner, .left = left};
    r.period = find_period(lw, &out, &lw->at, r.column);
    const k_val number = k_for(b, first, end, false);
    sk_bind_runs(lw, 0, r.column, number);
    r.first = sk_add(lw, sk_mul(lw, number, columns), left);
    store_row(&r, sk_min(lw, width, sk_sub(lw, columns, left)));
    k_end(b);
}
