/* Launches on devices whose blocks are many threads: what a block takes at a time, within its shared memory. Nothing
 * here changes a result: the combination tree is that of every device. */
#include "skeleton/extents.h"
#include "skeleton/variants.h"

enum {
    BLOCK = 256,       /* threads that fill a compute unit well; where a block has fewer, each stands for several */
    ROWS_LANES = 1024, /* threads, most of them virtual, that fold rows together */
    FOLD_BUDGET = 20 << 10, /* bytes of a fold's block: several blocks share a unit */
    TILE_BUDGET = 24 << 10, /* the same of a stencil's block */
    LEAST_TILE = 64,        /* columns of a stencil's block, if there is room for them */
    MOST_TILE = 32,
    ALIGNMENT = 128 /* each array in shared memory may lose as much */
};

int64_t sk_tile(const sk_cluster *c, const sk_options *o)
{
    if (!o->group)
        return c->tile;
    int64_t tile = smaller(c->tile, BLOCK), scratch = (int64_t)o->scratch;
    while (tile > LEAST_TILE && tile * c->column_bytes + c->halo_bytes > TILE_BUDGET)
        tile /= 2;
    while (tile > 8 && tile * c->column_bytes + c->halo_bytes > scratch)
        tile /= 2;
    return tile;
}

int64_t sk_group_piece(const sk_cluster *c)
{
    return c->loop->flops >= 200
               ? BLOCK
               : 4 * BLOCK; /* with little to compute, several reads of a thread are under way together */
}

/* Rows around a band are computed twice, but all units should have bands to work on. */
int64_t sk_group_band(const sk_options *o, int64_t rows, int64_t tiles)
{
    int64_t band = rows * tiles / (larger(o->workers, 1) * 8);
    return smaller(128, larger(16, band));
}

/* bytes of the accumulated components, of each lane, and how many there are */
static int64_t accumulated(const sk_cluster *c, int64_t *arrays)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const ir_array *info = ir_info(c->l->ir, c->loop->op.at[i].term);
        for (uint32_t k = 0; k < info->components && c->loop->op.at[i].kind == L_FOLD; k++, (*arrays)++)
            bytes += (int64_t)ir_type_size(info->type[k]);
    }
    return bytes;
}

/* the same of the elements read, where each thread reads a stretch of its own */
static int64_t staged(const sk_cluster *c, int64_t *arrays)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < c->loop->reads.n; i++) {
        const ir_array *info = ir_info(c->l->ir, c->loop->reads.at[i]);
        for (uint32_t k = 0; k < info->components; k++, (*arrays)++)
            bytes += (int64_t)ir_type_size(info->type[k]);
    }
    return bytes;
}

sk_group_size sk_group_rows(const sk_cluster *c, const sk_options *o)
{
    int64_t arrays = 0, bytes = accumulated(c, &arrays);
    int64_t lanes = sk_tree_of(c->wide).lanes, most = ROWS_LANES;
    int64_t budget = smaller(FOLD_BUDGET, (int64_t)o->scratch) - arrays * ALIGNMENT;
    while (most > lanes && most * bytes > budget)
        most /= 2;
    return (sk_group_size){.lanes = most};
}

sk_group_size sk_group_chunks(const sk_cluster *c, const sk_options *o, bool combine)
{
    int64_t arrays = 4, sums = accumulated(c, &arrays) + 16, inputs = combine ? 0 : staged(c, &arrays);
    int64_t budget = smaller(FOLD_BUDGET, (int64_t)o->scratch) - arrays * ALIGNMENT;
    sk_group_size size = {.lanes = 128, .tile = inputs ? MOST_TILE : 0};
    while (size.tile && size.lanes * (sums + (size.tile + 1) * inputs) > budget) {
        if (size.lanes > 64 || (size.lanes > 16 && size.tile <= MOST_TILE / 4))
            size.lanes /= 2;
        else
            size.tile = size.tile > 4 ? size.tile / 2 : 0;
    }
    while (size.lanes > 16 && size.lanes * sums > budget)
        size.lanes /= 2;
    return size;
}

int64_t sk_group_chunk(const sk_cluster *c, sk_group_size size)
{
    return c->loop->ordered ? SK_PIECE / size.lanes : SK_SHORT;
}

/* slots: 0 row length, 1 pieces a row, 2 pieces in all, 3 threads a piece, 4 pieces a block */
bool sk_launch_group_chunks(const sk_call *x, sk_geometry *g)
{
    const sk_cluster *c = x->c;
    int64_t length = x->columns;
    if (!x->o->group || (!c->loop->ordered && length > SK_SHORT))
        return false;
    sk_group_size size = sk_group_chunks(c, x->o, x->pass == SK_PASS_COMBINE);
    g->partials = length <= SK_SHORT ? 1 : pieces_of(length, SK_PIECE);
    int64_t threads = larger(1, smaller(size.lanes, pieces_of(length, sk_group_chunk(c, size))));
    g->slot[0] = length;
    g->slot[1] = g->partials;
    g->slot[2] = x->rows * g->partials;
    g->slot[3] = threads;
    g->slot[4] = size.lanes / threads;
    g->pieces = pieces_of(g->slot[2], g->slot[4]);
    return true;
}

/* slots as those of chunks: a block has one piece */
bool sk_launch_group_choice(const sk_call *x, sk_geometry *g)
{
    enum { LEAST = 1024 };
    const sk_cluster *c = x->c;
    if (!x->o->group || !c->choice || x->pass == SK_PASS_COMBINE || c->loop->mixed || c->loop->staged.n ||
        x->columns < LEAST || x->columns > c->choice_longest)
        return false;
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (c->loop->op.at[i].kind != L_FOLD)
            return false;
    g->partials = pieces_of(x->columns, SK_PIECE);
    g->slot[0] = x->columns;
    g->slot[1] = g->partials;
    g->slot[2] = g->pieces = x->rows * g->partials;
    g->slot[3] = sk_group_chunks(c, x->o, false).lanes;
    g->slot[4] = 1;
    return true;
}

/* slots: 0 row length, 1 rows */
bool sk_launch_group_rows(const sk_call *x, sk_geometry *g)
{
    enum { BRIEF = 1024, ENOUGH = 16 };
    int64_t length = x->columns;
    if (!x->o->group || length > SK_PIECE)
        return false;
    int64_t together = sk_group_rows(x->c, x->o).lanes / sk_tree_of(x->c->wide).lanes;
    if (length > BRIEF && x->rows / together < larger(x->o->workers, 1) * ENOUGH)
        return false;
    g->slot[0] = length;
    g->slot[1] = x->rows;
    g->pieces = pieces_of(x->rows, together);
    return true;
}

/* slots: 0 row length, 1 pieces a row. Rows that are as many as blocks fit at once have a block each, which needs no
 * partial results, if they have few pieces. */
bool sk_launch_group_piece(const sk_call *x, sk_geometry *g)
{
    enum { ENOUGH = 16 };
    int64_t pieces = pieces_of(x->columns, SK_PIECE);
    bool whole = x->o->group && pieces <= SK_BLOCK && x->rows >= larger(x->o->workers, 1) * ENOUGH;
    g->partials = whole ? smaller(pieces, 1) : pieces;
    g->slot[0] = x->columns;
    g->slot[1] = pieces;
    g->pieces = x->rows * g->partials;
    return true;
}
