/* Maps that read arrays along another axis than they write theirs, on devices whose blocks are many threads:
 * transposes, permuted dimensions, arithmetic with transposed matrices. Neighbouring threads must read and write
 * neighbouring elements. So a block takes a tile of what is written: first its threads read, as neighbours along the
 * axis that reads lie together in, what the tile reads there, and keep it in shared memory; then they compute the tile
 * as neighbours along the innermost axis. */
#include "skeleton/element/runs.h"
#include "skeleton/extents.h"
#include "skeleton/map/map.h"

enum { ROW_BLOCKS, COLUMN_BLOCKS }; /* slots */
enum { SIDE = 32, LARGE_SIDE = 64, THREADS = 256, BUDGET = 24 << 10, BANK = 4 };

/* Elements from one turn of a tile to the next. Neighbours along the turns are then in different banks of the memory.
 */
static int64_t pitch_of(int64_t side, int64_t size)
{
    return side + larger(1, BANK / size);
}

static int64_t bytes_of(const sk_cluster *c, int64_t side)
{
    return side * (side + BANK) * (int64_t)c->across_bytes;
}

uint32_t sk_bytes_across(sk_lower *lw, sk_cluster *c, const sk_outputs *out)
{
    uint32_t bytes = 0;
    opt_ids read = {0};
    if (c->across)
        read = sk_reads_across(lw, out, &lw->at);
    for (uint32_t i = 0; i < read.n; i++)
        bytes += (uint32_t)ir_type_size((ir_type)ir_at(lw->l->ir, read.at[i])->type);
    return bytes;
}

/* Large tiles have more reads under way, and rows of small elements fill lines, if there are enough for all units. */
bool sk_launch_map_staged(const sk_call *x, sk_geometry *g)
{
    enum { FEWEST = 8, ENOUGH = 4 };
    const sk_cluster *c = x->c;
    if (!c->across || !x->o->group || !x->rows || !x->columns)
        return false;
    sk_across s = sk_shape_across(c, x->extent);
    int64_t side = LARGE_SIDE, budget = smaller(BUDGET, (int64_t)x->o->scratch), outer = s.outer * s.between;
    int64_t large = outer * pieces_of(s.turns, LARGE_SIDE) * pieces_of(s.columns, LARGE_SIDE);
    if (bytes_of(c, LARGE_SIDE) > budget || large < larger(x->o->workers, 1) * ENOUGH || s.turns <= SIDE ||
        s.columns <= SIDE)
        side = SIDE;
    if (bytes_of(c, side) > budget || s.turns < FEWEST || s.columns < FEWEST)
        return false;
    g->row = side;
    g->slot[ROW_BLOCKS] = pieces_of(s.turns, side);
    g->slot[COLUMN_BLOCKS] = pieces_of(s.columns, side);
    g->pieces = outer * g->slot[ROW_BLOCKS] * g->slot[COLUMN_BLOCKS];
    return true;
}

/* --- the kernel --- */

typedef struct staged {
    sk_lower *lw;
    sk_outputs out; /* made of variables where `read` has terms */
    opt_ids read;
    ir_id *variable;
    k_mem *tile;
    int64_t side;
    unsigned first, behind, last;  /* dimensions: of the turn, behind it, of the columns */
    k_val turns, between, columns; /* extents */
    k_val outer, beside;           /* place of the tile in the other dimensions */
    k_val top, left;               /* its first turn and column */
} staged;

static void find_reads(staged *t)
{
    sk_lower *lw = t->lw;
    ir_program *p = lw->l->ir;
    t->read = sk_reads_across(lw, &t->out, &lw->at);
    t->variable = arena_array(lw->arena, ir_id, t->read.n + 1);
    t->tile = arena_array(lw->arena, k_mem, t->read.n + 1);
    for (uint32_t i = 0; i < t->read.n; i++) {
        ir_type type = (ir_type)ir_at(p, t->read.at[i])->type;
        t->variable[i] = ir_var(p, type);
        t->tile[i] = k_shared(&lw->b, type, t->side * pitch_of(t->side, (int64_t)ir_type_size(type)), "tile");
    }
    t->out.term.at = arena_copy(lw->arena, t->out.term.at, t->out.term.n * sizeof(ir_id));
    ir_substitute(p, t->read.n, t->read.at, t->variable, t->out.term.n, t->out.term.at);
}

static k_val kept_at(const staged *t, uint32_t read, k_val turn, k_val column)
{
    sk_lower *lw = t->lw;
    int64_t size = (int64_t)ir_type_size((ir_type)ir_at(lw->l->ir, t->read.at[read])->type);
    return sk_add(lw, sk_mul(lw, turn, k_i64(&lw->b, pitch_of(t->side, size))), column);
}

/* The indices of the element at hand; returns its position. */
static k_val bind_place(const staged *t, k_val turn, k_val column)
{
    sk_lower *lw = t->lw;
    turn = sk_add(lw, t->top, turn);
    column = sk_add(lw, t->left, column);
    if (lw->cluster->used[t->last])
        sk_bind_run(lw, t->last, column);
    sk_bind_run(lw, t->first, turn);
    k_val row = sk_add(lw, sk_mul(lw, sk_add(lw, sk_mul(lw, t->outer, t->turns), turn), t->between), t->beside);
    k_val position = sk_add(lw, sk_mul(lw, row, t->columns), column);
    lw->element = position;
    sk_bind(lw, lw->at.linear, position);
    return position;
}

static void read_element(const staged *t, k_val turn, k_val column)
{
    sk_lower *lw = t->lw;
    k_val *value = arena_array(lw->arena, k_val, t->read.n + 1);
    bind_place(t, turn, column);
    sk_emit(lw, t->read.n, t->read.at, value);
    for (uint32_t i = 0; i < t->read.n; i++)
        k_store(&lw->b, t->tile[i], kept_at(t, i, turn, column), value[i]);
}

static void compute_element(const staged *t, k_val turn, k_val column)
{
    sk_lower *lw = t->lw;
    k_val position = bind_place(t, turn, column);
    for (uint32_t i = 0; i < t->read.n; i++)
        sk_bind(lw, t->variable[i], k_load(&lw->b, t->tile[i], kept_at(t, i, turn, column)));
    sk_store_element(lw, &t->out, position);
}

/* All elements of the tile that are there: neighbouring threads have neighbouring turns, or columns. */
static void all_elements(const staged *t, bool along_turns, bool whole, void (*element)(const staged *, k_val, k_val))
{
    sk_lower *lw = t->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val side = k_i64(b, t->side), thread = k_for_all(b, k_i64(b, t->side * t->side));
    k_val slow = k_let(b, OP_QUOT, thread, side, 0), fast = sk_sub(lw, thread, sk_mul(lw, slow, side));
    k_val turn = along_turns ? fast : slow, column = along_turns ? slow : fast;
    if (!whole) {
        k_val below = k_let(b, OP_LT, sk_add(lw, t->top, turn), t->turns, 0);
        k_if(b, k_let(b, OP_AND, below, k_let(b, OP_LT, sk_add(lw, t->left, column), t->columns, 0), 0));
    }
    uint32_t inside = sk_scope(lw);
    element(t, turn, column);
    sk_scope_end(lw, inside);
    if (!whole)
        k_end(b);
    k_end(b);
    sk_scope_end(lw, mark);
}

/* Tiles of which all is there need no guards, so that reads of several elements are under way together. */
static void both_ways(const staged *t, bool whole)
{
    all_elements(t, true, whole, read_element);
    all_elements(t, false, whole, compute_element);
}

static k_val is_whole(const staged *t)
{
    sk_lower *lw = t->lw;
    k_val side = k_i64(&lw->b, t->side);
    k_val down = k_let(&lw->b, OP_LE, sk_add(lw, t->top, side), t->turns, 0);
    return k_let(&lw->b, OP_AND, down, k_let(&lw->b, OP_LE, sk_add(lw, t->left, side), t->columns, 0), 0);
}

/* slots: as sk_launch_map_staged numbers them */
void sk_build_map_staged(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    staged t = {.lw = lw, .side = lw->options->row ? lw->options->row : SIDE, .first = c->across - 1u};
    sk_open_map(lw, &t.out);
    sk_open_space(lw);
    lw->out->k->lanes = 1;
    lw->out->k->group = (uint16_t)smaller(lw->options->group, THREADS);
    find_reads(&t);
    k_builder *b = &lw->b;
    t.behind = t.first + c->run[t.first];
    t.last = c->loop->rank - (unsigned)c->inner;
    t.turns = sk_product(lw, c->run[t.first], c->loop->shape + t.first);
    t.between = sk_product(lw, t.last - t.behind, c->loop->shape + t.behind);
    t.columns = sk_product(lw, c->inner, c->loop->shape + t.last);
    k_val piece = k_piece(b), side = k_i64(b, t.side);
    t.left = sk_mul(lw, sk_take_digit(lw, &piece, sk_slot(lw, COLUMN_BLOCKS, "column_blocks")), side);
    t.top = sk_mul(lw, sk_take_digit(lw, &piece, sk_slot(lw, ROW_BLOCKS, "row_blocks")), side);
    t.beside = sk_take_digit(lw, &piece, t.between);
    t.outer = piece;
    sk_bind_runs(lw, 0, t.first, t.outer);
    sk_bind_runs(lw, t.behind, t.last, t.beside);
    k_if(b, is_whole(&t));
    both_ways(&t, true);
    k_else(b);
    both_ways(&t, false);
    k_end(b);
}
