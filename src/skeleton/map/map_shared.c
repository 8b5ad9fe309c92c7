/* Elements that are loops over what whole rows and whole columns of them read alike: products of matrices and distances
 * of all pairs, written as a loop in each element. A gang takes some columns of several rows at a time, and the loops
 * of these rows are one: what does not depend on the row is read and computed once for all of them, and what does not
 * depend on the column is one number for all lanes. Each state goes through its own values in order, as the loop says.
 *
 * The last gangs and the last rows of a block overlap those before them: there is none with something missing. */
#include "skeleton/map/map.h"

#include "skeleton/extents.h"

#include "opt/rewrite.h"

enum { OUTERS, ROW_BLOCKS, COLUMN_BLOCKS, ROWS, COLUMNS }; /* slots */
enum { ROW = 1, COLUMN = 2, STEP = 4 };                    /* what a term depends on */
enum { MOST_TERMS = 120, MOST_STATES = 4, MOST_ROWS = 12, FEWEST_ROWS = 3, FEWEST_TURNS = 4 };

/* --- which maps --- */

static unsigned depend_all(const map64 *depends, uint32_t n, const ir_id *term)
{
    unsigned on = 0;
    for (uint32_t i = 0; i < n; i++)
        on |= term[i] ? map64_get(depends, term[i]) : 0;
    return on;
}

/* May the term itself fail? Not a check that the loop's own counter passes. */
static bool may_fail(const ir_program *p, const ir_node *n, const ir_loop *loop)
{
    if (n->kind == IR_WITHIN) {
        unsigned dimension = ir_within_dimension(n);
        return p->arg.at[n->args] != loop->index || dimension == IR_WHOLE ||
               ir_info(p, n->array)->shape[dimension] != loop->count;
    }
    if (n->kind == IR_READ)
        return !(n->flags & IR_SAFE);
    return n->partial && n->kind == IR_OP && ir_op_partial((ir_op)n->op, (ir_type)n->type);
}

/* The loop of the elements, if there is one, the same number of turns for all, and no other; nothing fails or traces.
 */
static ir_id only_loop(const ir_program *p, const opt_ids *ids)
{
    ir_id loop = 0;
    int64_t turns;
    for (uint32_t i = 0; i < ids->n; i++) {
        if (ir_at(p, ids->at[i])->kind != IR_LOOP)
            continue;
        if (loop)
            return 0;
        loop = ids->at[i];
    }
    const ir_loop *l = loop ? ir_at(p, loop)->u.loop : NULL;
    if (!l || !l->count || ir_at(p, l->count)->scope || l->states > MOST_STATES)
        return 0;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(p, ids->at[i]);
        if (may_fail(p, n, l) || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return 0;
    }
    return ir_extent_constant(p, l->count, &turns) && turns < FEWEST_TURNS ? 0 : loop;
}

ir_id sk_find_shared(sk_lower *lw, const sk_outputs *out)
{
    ir_program *p = lw->l->ir;
    opt_ids ids = {0};
    map64 depends = {0};
    bool of_row = false, of_column = false;
    opt_reach(p, lw->arena, out->term.n, out->term.at, &ids);
    ir_id loop = ids.n <= MOST_TERMS ? only_loop(p, &ids) : 0;
    if (!loop)
        return 0;
    ir_id row = lw->at.at[lw->at.rank - 2], column = lw->at.at[lw->at.rank - 1], step = ir_at(p, loop)->u.loop->index;
    for (uint32_t i = 0; i < ids.n; i++) {
        ir_id id = ids.at[i];
        const ir_node *n = ir_at(p, id);
        unsigned on = id == row ? ROW : id == column ? COLUMN : id == step ? STEP : 0;
        on |= id == lw->at.linear ? ROW | COLUMN : 0;
        on |= n->kind == IR_LOOP ? ROW | COLUMN : depend_all(&depends, n->n, p->arg.at + n->args);
        if (n->kind == IR_READ && on & STEP) {
            of_row |= (on & ROW) != 0;
            of_column |= (on & COLUMN) != 0;
            if (on & ROW && on & COLUMN)
                return 0;
        }
        if (on)
            map64_put(lw->arena, &depends, id, on);
    }
    return of_row && of_column ? loop : 0;
}

/* --- the launch --- */

typedef struct tile {
    int64_t rows, lanes;
} tile;

/* States of all rows in three quarters of the registers, four to a state or two where there are few columns. */
static tile tile_for(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t columns)
{
    enum { FEW = 8 };
    int64_t budget = o->vector_bytes >= 64 ? 24 : 12, registers = o->vector_bytes >= 64 ? 4 : 2;
    int64_t in_register = larger(1, (int64_t)o->vector_bytes / larger(1, c->shared_bytes));
    while (registers > 1 && (registers * in_register > columns || budget / (registers * c->shared) < FEWEST_ROWS))
        registers /= 2;
    tile t = {smaller(MOST_ROWS, budget / (registers * c->shared)), smaller(256, registers * in_register)};
    if (rows < FEW * t.rows)
        t.rows = pieces_of(rows, pieces_of(rows, t.rows));
    return t;
}

bool sk_launch_map_shared(const sk_call *x, sk_geometry *g)
{
    enum { LEAST = 4096, SHARES = 8, LEAST_BLOCK = 36, PANELS = 8 };
    const sk_cluster *c = x->c;
    unsigned rank = c->loop->rank;
    if (!c->shared || !x->o->vector_bytes || x->o->group)
        return false;
    int64_t rows = x->extent[rank - 2], columns = x->extent[rank - 1], outer = 1;
    for (unsigned d = 0; d + 2 < rank; d++)
        outer *= x->extent[d];
    if (!outer || rows < FEWEST_ROWS || outer * rows * columns < LEAST)
        return false;
    tile t = tile_for(c, x->o, rows, columns);
    if (t.lanes > columns || t.rows < FEWEST_ROWS)
        return false;
    int64_t wanted = SHARES * larger(x->o->workers, 1);
    int64_t row_blocks = smaller(pieces_of(wanted, outer), larger(1, rows / larger(LEAST_BLOCK, t.rows)));
    int64_t column_blocks = smaller(pieces_of(wanted, outer * row_blocks), larger(1, columns / (PANELS * t.lanes)));
    g->row = t.rows | t.lanes << 8;
    g->slot[OUTERS] = outer;
    g->slot[ROW_BLOCKS] = row_blocks;
    g->slot[COLUMN_BLOCKS] = column_blocks;
    g->slot[ROWS] = rows;
    g->slot[COLUMNS] = columns;
    g->pieces = outer * row_blocks * column_blocks;
    return true;
}

/* --- one loop of several rows --- */

typedef struct rows {
    sk_lower *lw;
    const sk_outputs *out;
    tile tile;
    ir_id *term; /* of each row what is stored */
} rows;

/* What the indices of a row become in the one that is `by` rows further on. */
typedef struct moved {
    ir_id from[2 + MOST_STATES + 1], to[2 + MOST_STATES + 1];
    uint32_t n;
} moved;

static void move_to(moved *m, ir_id from, ir_id to)
{
    m->from[m->n] = from;
    m->to[m->n++] = to;
}

static moved moved_by(const sk_lower *lw, int64_t by)
{
    ir_program *p = lw->l->ir;
    moved m = {0};
    const sk_cluster *c = lw->cluster;
    ir_id row = lw->at.at[lw->at.rank - 2], columns = c->loop->shape[c->loop->rank - 1];
    move_to(&m, row, ir_op2(p, 0, OP_ADD, row, ir_i64(p, by)));
    move_to(&m, lw->at.linear, ir_op2(p, 0, OP_ADD, lw->at.linear, ir_op2(p, 0, OP_MUL, columns, ir_i64(p, by))));
    return m;
}

/* The loops of all rows as one, in whose states those of row r begin at r times their number. */
static ir_id join_loops(const rows *t, ir_id loop)
{
    const sk_lower *lw = t->lw;
    ir_program *p = lw->l->ir;
    const ir_loop of = *ir_at(p, loop)->u.loop;
    uint32_t n = of.states, all = n * (uint32_t)t->tile.rows;
    ir_loop joined = {.states = all, .count = of.count, .index = ir_var(p, T_I64)};
    joined.init = arena_array(lw->arena, ir_id, all);
    joined.var = arena_array(lw->arena, ir_id, all);
    joined.next = arena_array(lw->arena, ir_id, all);
    for (int64_t r = 0; r < t->tile.rows; r++) {
        moved m = moved_by(lw, r);
        ir_id *init = joined.init + r * n, *next = joined.next + r * n, *var = joined.var + r * n;
        memcpy(init, of.init, n * sizeof(ir_id));
        memcpy(next, of.next, n * sizeof(ir_id));
        ir_substitute(p, m.n, m.from, m.to, n, init);
        for (uint32_t i = 0; i < n; i++) {
            var[i] = ir_var(p, (ir_type)ir_at(p, of.var[i])->type);
            move_to(&m, of.var[i], var[i]);
        }
        move_to(&m, of.index, joined.index);
        ir_substitute(p, m.n, m.from, m.to, n, next);
    }
    return ir_loop_new(p, ir_at(p, loop)->site, &joined);
}

static void find_terms(rows *t, ir_id loop)
{
    const sk_lower *lw = t->lw;
    ir_program *p = lw->l->ir;
    ir_id joined = join_loops(t, loop);
    uint32_t states = ir_at(p, loop)->u.loop->states, n = t->out->term.n;
    t->term = arena_array(lw->arena, ir_id, (size_t)t->tile.rows * n);
    for (int64_t r = 0; r < t->tile.rows; r++) {
        moved m = moved_by(lw, r);
        for (uint32_t i = 0; i < states; i++)
            move_to(&m, ir_proj(p, loop, i), ir_proj(p, joined, (uint32_t)r * states + i));
        memcpy(t->term + r * n, t->out->term.at, n * sizeof(ir_id));
        ir_substitute(p, m.n, m.from, m.to, n, t->term + r * n);
    }
}

/* --- the kernel --- */

/* Part `number` of an extent that is cut into `parts` of about the same size. */
static k_val part_begin(sk_lower *lw, k_val number, k_val extent, k_val parts)
{
    return k_let(&lw->b, OP_QUOT, sk_mul(lw, number, extent), parts, 0);
}

static k_val take_digit(sk_lower *lw, k_val *number, k_val of)
{
    k_val rest = *number;
    *number = k_let(&lw->b, OP_QUOT, rest, of, 0);
    return sk_sub(lw, rest, sk_mul(lw, *number, of));
}

/* Opens a loop over [begin, end) in steps, the last of which ends there; gives where each begins. */
static k_val each_step(sk_lower *lw, k_val begin, k_val end, int64_t by)
{
    k_builder *b = &lw->b;
    k_val step = k_i64(b, by), size = sk_sub(lw, end, begin);
    k_val steps = k_let(b, OP_QUOT, sk_add(lw, size, k_i64(b, by - 1)), step, 0);
    k_val number = k_for(b, k_i64(b, 0), steps, false);
    return sk_add(lw, begin, sk_min(lw, sk_mul(lw, number, step), sk_sub(lw, size, step)));
}

/* Rows [row, row + tile.rows) of a gang's columns from `column` on. */
static void take_rows(rows *t, k_val outer, k_val row, k_val column)
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    unsigned rank = lw->cluster->loop->rank;
    uint32_t mark = sk_scope(lw), n = t->out->term.n;
    k_val columns = sk_slot(lw, COLUMNS, "columns"), index[IR_MAX_RANK] = {0};
    column = sk_add(lw, column, k_for_whole(b, k_i64(b, t->tile.lanes)));
    sk_row_indices(lw, rank - 1, lw->cluster->loop->shape, outer, index);
    for (unsigned d = 0; d + 2 < rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
    sk_bind(lw, lw->at.at[rank - 2], row);
    sk_bind(lw, lw->at.at[rank - 1], column);
    k_val first = sk_add(lw, sk_mul(lw, outer, sk_slot(lw, ROWS, "rows")), row);
    k_val position = lw->element = sk_add(lw, sk_mul(lw, first, columns), column);
    sk_bind(lw, lw->at.linear, position);
    k_val *value = arena_array(lw->arena, k_val, (size_t)t->tile.rows * n);
    sk_emit(lw, n * (uint32_t)t->tile.rows, t->term, value);
    for (int64_t r = 0; r < t->tile.rows; r++)
        for (uint32_t i = 0; i < n; i++)
            k_store(b, sk_array_memory(lw, t->out->array.at[i], t->out->component.at[i], true),
                    sk_add(lw, position, sk_mul(lw, columns, k_i64(b, r))), value[(uint32_t)r * n + i]);
    sk_scope_end(lw, mark);
    k_end(b);
}

void sk_build_map_shared(sk_lower *lw)
{
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    k_builder *b = &lw->b;
    rows t = {.lw = lw, .out = &out, .tile = {lw->options->row & 255, lw->options->row >> 8}};
    ir_id loop = lw->cluster->loop->rank > 1 ? sk_find_shared(lw, &out) : 0;
    if (!loop) {
        lw->why.text = "these elements are no loops over what rows and columns share";
        return;
    }
    if (!lw->options->row)
        t.tile = (tile){FEWEST_ROWS, lw->out->k->lanes};
    find_terms(&t, loop);
    lw->out->k->lanes = (uint16_t)t.tile.lanes;
    for (k_mem m = 1; m < lw->out->k->mem.n; m++)
        lw->out->k->mem.at[m].once = false; /* steps overlap */
    k_val number = k_piece(b), one = k_i64(b, 1);
    k_val column_blocks = sk_slot(lw, COLUMN_BLOCKS, "column_blocks"),
          row_blocks = sk_slot(lw, ROW_BLOCKS, "row_blocks");
    k_val all_rows = sk_slot(lw, ROWS, "rows"), all_columns = sk_slot(lw, COLUMNS, "columns");
    k_val column_block = take_digit(lw, &number, column_blocks), row_block = take_digit(lw, &number, row_blocks);
    k_val left = part_begin(lw, column_block, all_columns, column_blocks);
    k_val right = part_begin(lw, sk_add(lw, column_block, one), all_columns, column_blocks);
    k_val top = part_begin(lw, row_block, all_rows, row_blocks);
    k_val bottom = part_begin(lw, sk_add(lw, row_block, one), all_rows, row_blocks);
    k_val column = each_step(lw, left, right, t.tile.lanes), row = each_step(lw, top, bottom, t.tile.rows);
    take_rows(&t, number, row, column);
    k_end(b);
    k_end(b);
}
