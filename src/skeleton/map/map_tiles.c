/* Elements that differ in what they cost: a gang takes SK_TILE_ROWS short rows instead of a long one: turns that all of
 * it must wait for are fewer. Its results go through shared memory, where they lie lane by lane. */
#include "skeleton/map/map.h"

typedef struct tiles {
    k_val columns, right, last; /* ends of what the piece writes */
    k_val new_row, new_column;  /* where the tile begins to write */
    k_val row, column;          /* where it begins: earlier at the ends of the array, so that all of it lies inside */
    int64_t width;
    k_mem *kept; /* per output */
} tiles;

static void compute_tile(sk_lower *lw, const sk_outputs *out, const sk_index *at, const tiles *t)
{
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    int64_t shift = 0;
    while (t->width >> (shift + 1))
        shift++;
    k_val lane = k_for_all(b, k_i64(b, t->width * SK_TILE_ROWS));
    sk_bind(lw, at->at[0], sk_add(lw, t->row, k_let(b, OP_SHR, lane, k_i64(b, shift), 0)));
    sk_bind(lw, at->at[1], sk_add(lw, t->column, k_let(b, OP_BIT_AND, lane, k_i64(b, t->width - 1), 0)));
    k_val *value = arena_array(lw->arena, k_val, out->term.n + 1);
    sk_emit(lw, out->term.n, out->term.at, value);
    for (uint32_t i = 0; i < out->term.n; i++)
        k_store(b, t->kept[i], lane, value[i]);
    k_end(b);
    sk_scope_end(lw, mark);
}

static void copy_row(sk_lower *lw, const sk_outputs *out, const tiles *t, int64_t row, k_val skipped, k_val count)
{
    k_builder *b = &lw->b;
    k_val from = sk_add(lw, k_i64(b, row * t->width), skipped);
    k_val to = sk_add(lw, sk_mul(lw, sk_add(lw, t->row, k_i64(b, row)), t->columns), t->new_column);
    k_val lane = k_for_few(b, count);
    for (uint32_t i = 0; i < out->term.n; i++) {
        k_mem result = sk_array_memory(lw, out->array.at[i], out->component.at[i], true);
        k_store(b, result, sk_add(lw, to, lane), k_load(b, t->kept[i], sk_add(lw, from, lane)));
    }
    k_end(b);
}

static void write_tile(sk_lower *lw, const sk_outputs *out, const tiles *t)
{
    k_builder *b = &lw->b;
    k_val width = k_i64(b, t->width), left = sk_sub(lw, t->right, t->new_column);
    k_val same =
        k_let(b, OP_AND, k_let(b, OP_EQ, t->row, t->new_row, 0), k_let(b, OP_EQ, t->column, t->new_column, 0), 0);
    k_if(b, same);
    for (int64_t row = 0; row < SK_TILE_ROWS; row++)
        copy_row(lw, out, t, row, k_i64(b, 0), width);
    k_else(b);
    for (int64_t row = 0; row < SK_TILE_ROWS; row++) {
        k_if(b, k_let(b, OP_GE, sk_add(lw, t->row, k_i64(b, row)), t->new_row, 0));
        copy_row(lw, out, t, row, sk_sub(lw, t->new_column, t->column), sk_min(lw, width, left));
        k_end(b);
    }
    k_end(b);
}

static k_val tiles_in(sk_lower *lw, k_val from, k_val to, int64_t size)
{
    k_val more = sk_add(lw, sk_sub(lw, to, from), k_i64(&lw->b, size - 1));
    return k_let(&lw->b, OP_QUOT, more, k_i64(&lw->b, size), 0);
}

/* slots: 0 rows a piece (a multiple of SK_TILE_ROWS), 1 pieces beside each other, 2 columns a piece (a multiple of
 * SK_TILE_COLUMNS), 3 rows, 4 columns (not fewer than these constants) */
void sk_build_map_tiles(sk_lower *lw)
{
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    int64_t lanes = lw->out->k->lanes;
    lanes = lanes < SK_TILE_ROWS ? SK_TILE_ROWS : lanes;
    lw->out->k->lanes = (uint16_t)lanes;
    k_builder *b = &lw->b;
    tiles t = {.width = lanes / SK_TILE_ROWS, .kept = arena_array(lw->arena, k_mem, out.term.n + 1)};
    for (uint32_t i = 0; i < out.term.n; i++)
        t.kept[i] = k_shared(b, (ir_type)ir_at(lw->l->ir, out.term.at[i])->type, lanes, "tile");
    k_val rows_piece = sk_slot(lw, 0, "rows_piece"), beside = sk_slot(lw, 1, "beside"),
          width = sk_slot(lw, 2, "piece_width");
    k_val rows = sk_slot(lw, 3, "rows");
    t.columns = sk_slot(lw, 4, "columns");
    k_val group = k_let(b, OP_QUOT, k_piece(b), beside, 0);
    k_val left = sk_mul(lw, sk_sub(lw, k_piece(b), sk_mul(lw, group, beside)), width);
    k_val first = sk_mul(lw, group, rows_piece);
    t.right = sk_min(lw, sk_add(lw, left, width), t.columns);
    t.last = sk_min(lw, sk_add(lw, first, rows_piece), rows);
    k_val down = k_for(b, k_i64(b, 0), tiles_in(lw, first, t.last, SK_TILE_ROWS), false);
    t.new_row = sk_add(lw, first, sk_mul(lw, down, k_i64(b, SK_TILE_ROWS)));
    t.row = sk_min(lw, t.new_row, sk_sub(lw, rows, k_i64(b, SK_TILE_ROWS)));
    k_val across = k_for(b, k_i64(b, 0), tiles_in(lw, left, t.right, t.width), false);
    t.new_column = sk_add(lw, left, sk_mul(lw, across, k_i64(b, t.width)));
    t.column = sk_min(lw, t.new_column, sk_sub(lw, t.columns, k_i64(b, t.width)));
    compute_tile(lw, &out, &lw->at, &t);
    write_tile(lw, &out, &t);
    k_end(b);
    k_end(b);
}
