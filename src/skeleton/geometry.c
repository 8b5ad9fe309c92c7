/* How a cluster is launched for the extents of a call: variant, pieces, and the geometry arguments of the kernels.
 * Piece sizes of folds are constants of the combination tree; all others are free choices that no result depends on. */
#include "skeleton/contract/contract.h"
#include "skeleton/extents.h"
#include "skeleton/map/map.h"

sk_tree sk_tree_of(bool wide)
{
    int64_t lanes = wide ? 16 : 32;
    return (sk_tree){.lanes = lanes, .streams = SK_ACCUMULATORS / lanes};
}

static void prepare_fold(sk_cluster *c, arena *a)
{
    sk_stage_prepare(c);
    sk_choice_prepare(c, a);
    sk_narrow_prepare(c, a);
    c->columns = sk_folds_columns(c, a);
    sk_contract_prepare(c, a);
}

/* In loops over segments a fold of all elements is one that counts what is packed, in no lane. */
static bool accumulates_wide(const l_program *l, const l_cluster *c)
{
    bool wide = false;
    for (uint32_t i = 0; i < c->op.n; i++) {
        const ir_array *info = ir_info(l->ir, c->op.at[i].term);
        bool folds = c->op.at[i].kind == (c->class == L_CLASS_SEGMENT ? L_FOLD_SEG : L_FOLD);
        for (unsigned k = 0; k < info->components && folds; k++)
            wide |= ir_type_size(info->type[k]) == 8;
    }
    return wide;
}

const sk_program *sk_prepare(l_program *l)
{
    sk_program *p = arena_new(l->ir->arena, *p);
    p->l = l;
    p->cluster = arena_array(l->ir->arena, *p->cluster, l->cluster.n + 1);
    for (uint32_t i = 0; i < l->cluster.n; i++) {
        sk_cluster *c = &p->cluster[i];
        *c = (sk_cluster){.l = l, .loop = &l->cluster.at[i], .wide = accumulates_wide(l, &l->cluster.at[i])};
        if (c->loop->class == L_CLASS_CONTROL)
            continue; /* its programs have loops of their own */
        c->counted = arena_alloc(l->ir->arena, c->loop->op.n + 1);
        if (c->loop->class == L_CLASS_PLAIN) {
            sk_map_prepare(c, l->ir->arena);
            sk_along_prepare(c, l->ir->arena);
        }
        if (c->loop->class == L_CLASS_FOLD)
            prepare_fold(c, l->ir->arena);
        if (c->loop->class == L_CLASS_TILES)
            sk_contract_prepare(c, l->ir->arena);
        if (c->loop->class == L_CLASS_STENCIL)
            sk_stencil_prepare(c, l->ir->arena);
        if (c->loop->class == L_CLASS_PERMUTE)
            sk_permute_prepare(c, l->ir->arena);
        if (c->loop->class == L_CLASS_ROW)
            sk_row_prepare(c, l->ir->arena);
    }
    return p;
}

int64_t sk_piece_elements(const sk_call *x, int64_t total)
{
    if (x->o->group)
        return sk_group_piece(x->c);
    bool dear = x->c->loop->flops >= 200;
    int64_t most = dear ? 2048 : 65536, least = dear ? 256 : 4096;
    int64_t share = total / (larger(x->o->workers, 1) * 8) + 1;
    return smaller(most, larger(least, round_up(share, 256)));
}

/* Gangs that overlap at the ends of rows, the fastest of powers of two by a rough count of instructions: each gang's
 * own, those of each register, and those of each register's elements; a lane may have a group of these. 0: rows are so
 * long that their ends do not matter, so short that no gang fits, or so few that they are not worth a kernel. */
static int64_t gangs_of_rows(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t columns)
{
    enum {
        OF_GANG = 3,
        OF_REGISTER = 2,
        FEWEST = 4,
        FEWEST_LANES = 8, /* at most, of lanes that have groups */
        MOST_REGISTERS = 4,
        MOST_ELEMENTS = 256, /* of a gang */
        LONG = 16,
        FEWEST_ELEMENTS = 4096,
        SHORT_ROW = 4
    };
    if (!c->row_bytes || !o->vector_bytes || o->group || rows * columns < FEWEST_ELEMENTS)
        return 0;
    const int64_t in_register = larger(1, o->vector_bytes / c->row_bytes), groups = columns / c->group;
    const int64_t registers = larger(larger(1, FEWEST_LANES / in_register), MOST_REGISTERS / c->group),
                  most = smaller(smaller(groups, registers * in_register), MOST_ELEMENTS / c->group),
                  behind = columns % c->group;
    int64_t best = 0;
    double least = 0;
    if (groups >= LONG * in_register)
        return 0;
    if (c->group == 1 && c->row_cuts == 1 && columns > SHORT_ROW * in_register) /* not whole, of one register */
        return sk_row_of_gangs((sk_row_gangs){.lanes = in_register, .cut = true});
    for (int64_t lanes = FEWEST; lanes <= most; lanes *= 2) {
        int64_t rest = groups % lanes + (behind > 0), last = rest ? FEWEST : 0;
        while (last < rest)
            last *= 2;
        double of_register = (OF_REGISTER + c->loop->flops) * c->group;
        double all = (OF_GANG + of_register * (double)pieces_of(lanes, in_register)) * (double)(groups / lanes);
        all += last ? OF_GANG + of_register * (double)pieces_of(last, in_register) : 0;
        if (best && all > least)
            continue;
        best = sk_row_of_gangs((sk_row_gangs){.lanes = lanes, .behind = behind, .last = last});
        least = all;
    }
    return best;
}

/* The innermost extent, if all of it is a lane's and the kernel is made for it; else 0. */
static int64_t extent_of_lane(const sk_call *x)
{
    enum { LEAST = 4096 };
    const sk_cluster *c = x->c;
    if (x->o->group || !x->o->vector_bytes || !c->lane.suits || x->rows * x->columns < LEAST)
        return 0;
    const int64_t extent = x->extent[c->loop->rank - 1];
    const bool gang =
        sk_gang_beats_lane(extent, c->lane_copies, c->lane_knows) && !sk_lane_computes_less(&c->lane, extent);
    return !gang && sk_lane_pays(&c->lane, extent) ? extent : 0;
}

bool sk_launch_map_flat(const sk_call *x, sk_geometry *g)
{
    int64_t total = x->rows * x->columns, size = sk_piece_elements(x, total);
    g->row = extent_of_lane(x) << SK_LANE_EXTENT;
    g->pieces = pieces_of(total, size);
    g->slot[0] = size;
    g->slot[1] = total;
    return true;
}

bool sk_launch_map_tiles(const sk_call *x, sk_geometry *g)
{
    if (!x->c->tiles || !x->o->vector_bytes || x->o->group || x->rows < SK_TILE_ROWS || x->columns < SK_TILE_COLUMNS)
        return false;
    int64_t size = sk_piece_elements(x, x->rows * x->columns);
    int64_t width = smaller(round_up(x->columns, SK_TILE_COLUMNS), round_up(size / SK_TILE_ROWS, SK_TILE_COLUMNS));
    int64_t beside = pieces_of(x->columns, width), rows_piece = round_up(larger(1, size / width), SK_TILE_ROWS);
    g->pieces = pieces_of(x->rows, rows_piece) * beside;
    g->slot[0] = rows_piece;
    g->slot[1] = beside;
    g->slot[2] = width;
    g->slot[3] = x->rows;
    g->slot[4] = x->columns;
    return true;
}

bool sk_launch_map_rows(const sk_call *x, sk_geometry *g)
{
    enum { SHORTEST = 16 };
    const int64_t of_lane = extent_of_lane(x);
    const int64_t gangs = of_lane ? 0 : gangs_of_rows(x->c, x->o, x->rows, x->columns);
    int64_t rows = x->rows, columns = x->columns;
    if (!x->c->uses_index || !rows || !columns || sk_lane_streams(x))
        return false;
    if (of_lane || (x->c->of_lane && !x->o->group && x->o->vector_bytes)) {
        const int64_t lanes = x->c->pairs ? x->extent[x->c->loop->rank - 2] : 0;
        if (lanes < SHORTEST)
            return false;
        rows /= lanes;
        columns *= lanes;
    } else if (columns < SHORTEST && !gangs) {
        return false;
    }
    int64_t size = sk_piece_elements(x, rows * columns), width = gangs ? columns : smaller(columns, size);
    int64_t tiles = pieces_of(columns, width), rows_piece = larger(1, size / width);
    g->row = of_lane ? of_lane << SK_LANE_EXTENT | (int64_t)1 << SK_OF_PAIRS : gangs;
    g->pieces = pieces_of(rows, rows_piece) * tiles;
    g->slot[0] = rows_piece;
    g->slot[1] = tiles;
    g->slot[2] = width;
    g->slot[3] = rows;
    g->slot[4] = columns;
    return true;
}

/* Rows from which on it pays to look for the place of the best key: that takes the time of 400 elements taken by lanes
 * that walk rows where these are 32-bit integers, compared once, and of 128 elements else. */
static int64_t least_choice(const sk_cluster *c)
{
    return c->choice_bytes == 4 && c->loop->flops - c->loop->staged_flops < 4 ? 400 : 128;
}

int64_t sk_choice_piece(const sk_cluster *c)
{
    enum { FREE_BYTES = 256 << 10 };
    if (c->staged_pieces)
        return c->staged_pieces * SK_PIECE;
    return c->choice == SK_CHOICE_FREE ? FREE_BYTES / (c->choice_bytes == 8 ? 8 : 4) : SK_BLOCK * SK_PIECE;
}

/* What sk_geometry.row says of rows of a few groups of lanes, of which many are worth a kernel of their own: their
 * length if all groups are whole, else how many groups there are, less than zero. */
static int64_t few_groups(const sk_cluster *c, const sk_options *o, int64_t length)
{
    enum { MOST_GROUPS = 16, MOST_WORK = 128 };
    const sk_tree tree = sk_tree_of_fold(c, o);
    const int64_t lanes = tree.lanes, groups = pieces_of(length, lanes);
    const double work = (double)groups * (c->loop->flops + c->loop->reads_per_element);
    /* as many as there are accumulators take no more code than a loop over any rows, which has each of them twice */
    if (c->loop->ordered || groups > MOST_GROUPS || (groups > tree.streams && work > MOST_WORK))
        return 0;
    return length % lanes ? -groups : length;
}

/* Rows that keep order: a lane for each, if there are enough, and what they read lies together or is short. */
static bool lanes_over_rows(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t length)
{
    enum { LONG = 256 };
    int64_t lanes = sk_tree_of(c->wide).lanes;
    if (!c->loop->ordered || c->loop->mixed)
        return false;
    if (c->columns)
        return rows >= lanes / 2 && length >> SK_ROW_LOG == 0;
    return rows >= lanes * larger(o->workers, 1) && length <= LONG;
}

/* Blocks of several pieces, a whole row where it is short enough. Few workers wait for the last one, and partial
 * results are few: one for each piece, or for each block where all operators keep order, as blocks are parts of the
 * tree there. */
static void launch_blocks(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t length, sk_geometry *g)
{
    enum { DEAR = 200, STAGED = 32 };
    int64_t pieces = pieces_of(length, SK_PIECE), workers = larger(o->workers, 1) * 8;
    int64_t most = sk_stages(c, o) ? c->staged_pieces : SK_BLOCK,
            block = smaller(most, larger(1, rows * pieces / workers));
    if (pieces <= most && (c->loop->flops < (sk_stages(c, o) ? STAGED : DEAR) || rows >= workers))
        block = pieces;
    bool in_order = c->loop->ordered && !c->loop->mixed;
    while (in_order && block < pieces && block & (block - 1))
        block &= block - 1;
    int64_t blocks = pieces_of(pieces, block);
    g->partials = blocks == 1 || in_order ? blocks : pieces;
    g->slot[1] = pieces;
    g->slot[2] = blocks;
    g->slot[3] = block;
    g->pieces = rows * blocks;
}

/* Does a fold's launch read so much that it comes from memory, forwards? */
static bool reads_ahead(const sk_call *x)
{
    return x->pass != SK_PASS_COMBINE && !x->c->loop->staged.n && x->o->vector_bytes &&
           sk_spanned_bytes(x->c, x->extent) > (double)x->cache_bytes;
}

bool sk_launch_fold_choice(const sk_call *x, sk_geometry *g)
{
    const sk_cluster *c = x->c;
    if (x->o->group || !c->choice || c->columns || !x->o->vector_bytes || x->pass == SK_PASS_COMBINE ||
        x->columns < least_choice(c) || x->columns > c->choice_longest)
        return false;
    g->slot[0] = x->columns;
    g->ahead = reads_ahead(x);
    if (c->loop->mixed) {
        launch_blocks(c, x->o, x->rows, x->columns, g);
        return true;
    }
    g->partials = g->slot[1] = pieces_of(x->columns, sk_choice_piece(c));
    g->pieces = x->rows * g->partials;
    return true;
}

/* Partial results of pieces combine as the tree says, whatever their number, where operators keep order, but for those
 * that make the same choice in any order. */
static bool by_tree(const sk_call *x)
{
    const sk_cluster *c = x->c;
    return c->loop->ordered && !c->loop->mixed &&
           (c->choice != SK_CHOICE_FREE || x->extent[c->loop->rank - 1] > c->choice_longest);
}

/* Rows of a lane each whose operator makes the same choice in any order: from left to right is the least work. */
static bool in_any_order(const sk_call *x)
{
    const sk_cluster *c = x->c;
    return c->choice == SK_CHOICE_FREE && !c->columns && x->columns <= c->choice_longest && !x->o->group &&
           lanes_over_rows(c, x->o, x->rows, x->columns);
}

bool sk_launch_lanes(const sk_call *x, sk_geometry *g)
{
    enum { UNIT = 64, LONGEST = 16 };
    bool combine = x->pass == SK_PASS_COMBINE, folds = x->c->loop->class == L_CLASS_FOLD;
    int64_t length = x->columns, one = larger(length, 1);
    if ((length > SK_SHORT && !(folds && !combine && in_any_order(x))) ||
        (folds ? x->o->group || (combine && by_tree(x)) : combine))
        return false;
    int64_t size = x->o->group ? sk_group_piece(x->c) : sk_piece_elements(x, x->rows * one) / one;
    const row_gang gang = row_gang_of(x->c);
    const int64_t unit = gang.block > 1 && !x->o->group ? gang.rows * (UNIT / gang.rows) : UNIT;
    size = larger(unit, size / unit * unit);
    g->pieces = pieces_of(x->rows, size);
    g->slot[0] = length;
    g->slot[1] = x->rows;
    g->slot[2] = size;
    g->row = !combine && x->rows >= SK_SHORT && length <= LONGEST ? length : 0; /* few are not worth a kernel */
    g->ahead = folds && reads_ahead(x);
    return true;
}

bool sk_launch_fold_rows(const sk_call *x, sk_geometry *g)
{
    if (x->o->group || x->pass == SK_PASS_COMBINE || !lanes_over_rows(x->c, x->o, x->rows, x->columns))
        return false;
    g->slot[0] = x->columns;
    g->slot[1] = x->rows;
    g->pieces = pieces_of(x->rows, sk_tree_of(x->c->wide).lanes);
    return true;
}

bool sk_launch_fold_tree(const sk_call *x, sk_geometry *g)
{
    if (x->o->group ||
        !x->columns) /* rows without elements have a lane each, or no kernel where there is none for lanes */
        return false;
    g->slot[0] = x->columns;
    launch_blocks(x->c, x->o, x->rows, x->columns, g);
    g->row = x->pass != SK_PASS_COMBINE && x->rows >= SK_SHORT ? few_groups(x->c, x->o, x->columns) : 0;
    g->ahead = reads_ahead(x);
    if (x->pass == SK_PASS_COMBINE || !sk_takes_rows(x->c, x->o))
        return true;
    g->slot[4] = g->row ? SK_ROWS_TOGETHER : 1;
    g->slot[5] = g->pieces;
    g->pieces = pieces_of(g->pieces, g->slot[4]);
    return true;
}

/* Rows that are computed at once share what they read, and save the first cache work. But they are as many streams of
 * lines, which processors fetch less well ahead than one: where that is what takes the time, and results are read to be
 * overwritten, rows come one after the other. Several narrow rows are one stream, but not those of several planes,
 * unless they are a few vectors long. */
static bool row_by_row(const sk_call *x)
{
    enum { NEAR_BYTES = 2 << 20 /* a worker's own cache */, LEAST_COLUMNS = 48 };
    const sk_cluster *c = x->c;
    double elements = (double)x->rows * (double)x->columns;
    bool far = elements * c->light_bytes > (double)larger(x->o->workers, 1) * NEAR_BYTES;
    if (x->o->group || !x->o->vector_bytes || !far)
        return false;
    return c->loop->rank - (sk_channels(c, x->o, x->extent) ? c->channels : 0u) > 2
               ? x->columns >= LEAST_COLUMNS
               : (x->columns > SK_NARROW && !sk_streams(c, x->o, elements, x->cache_bytes));
}

static int64_t log_of(int64_t columns)
{
    int64_t log = SK_STENCIL_LEAST_LOG;
    while ((int64_t)1 << log < columns)
        log++;
    return log;
}

bool sk_launch_stencil(const sk_call *x, sk_geometry *g)
{
    enum { LEAST_TILE = 1024, LEAST_BAND = 64, LEAST_NARROW = 16 };
    const sk_options *o = x->o;
    int64_t rows = x->rows, columns = x->columns, tile = sk_tile(x->c, o), enough = larger(o->workers, 1) * 4;
    /* columns beside a tile are computed twice, too: tiles are narrow only where workers would have nothing to do */
    while (!o->group && tile > LEAST_TILE && pieces_of(rows, LEAST_BAND) * pieces_of(columns, tile) < enough)
        tile /= 2;
    if (!o->group && o->vector_bytes && columns >= LEAST_NARROW && columns <= SK_NARROW) {
        g->row = SK_STENCIL_NARROW;
        tile = SK_NARROW;
    }
    if (row_by_row(x))
        g->row |= SK_STENCIL_BY_ROW;
    int64_t tiles = pieces_of(columns, tile);
    const int64_t channels = sk_channels(x->c, o, x->extent);
    int64_t last = columns - (tiles - 1) * tile, gang = channels ? 0 : x->c->gang_columns;
    if (!o->group && o->vector_bytes && gang && last >= gang)
        g->row |= SK_STENCIL_LONG;
    else if (!o->group && o->vector_bytes && gang && tiles == 1)
        g->row |= SK_STENCIL_SHORT | log_of(columns) << SK_STENCIL_LOG;
    g->row |= channels << SK_STENCIL_CHANNELS | (channels && x->c->channels_told ? SK_STENCIL_TOLD : 0);
    /* rows around a band are computed twice: bands are high even where there are few of them */
    int64_t band = rows * tiles / enough;
    band = o->group ? sk_group_band(o, rows, tiles) : smaller(256, larger(LEAST_BAND, band));
    g->slot[0] = band;
    g->slot[1] = tiles;
    g->slot[2] = rows;
    g->slot[3] = columns;
    g->slot[4] = tile;
    g->pieces = pieces_of(rows, band) * tiles;
    return true;
}
