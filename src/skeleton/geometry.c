/* How a cluster is launched for the extents of a call: variant, pieces, and the geometry arguments of the kernels.
 * Piece sizes of folds are constants of the combination tree; all others are free choices that no result depends on. */
#include "skeleton/extents.h"
#include "skeleton/map.h"

#include "kernel/narrow.h"

sk_tree sk_tree_of(bool wide)
{
    int64_t lanes = wide ? 16 : 32;
    return (sk_tree){.lanes = lanes, .streams = SK_ACCUMULATORS / lanes};
}

static void prepare_fold(sk_cluster *c, arena *a)
{
    sk_stage_prepare(c);
    sk_choice_prepare(c, a);
    c->columns = sk_folds_columns(c, a);
}

static bool accumulates_wide(const l_program *l, const l_cluster *c)
{
    bool wide = false;
    for (uint32_t i = 0; i < c->op.n; i++) {
        const ir_array *info = ir_info(l->ir, c->op.at[i].term);
        for (unsigned k = 0; k < info->components && c->op.at[i].kind == L_FOLD; k++)
            wide |= ir_type_size(info->type[k]) == 8;
    }
    return wide;
}

const sk_program *sk_prepare(l_program *l)
{
    sk_program *p = arena_alloc(l->ir->arena, sizeof(*p));
    p->l = l;
    p->cluster = arena_alloc(l->ir->arena, (l->cluster.n + 1) * sizeof(*p->cluster));
    for (uint32_t i = 0; i < l->cluster.n; i++) {
        sk_cluster *c = &p->cluster[i];
        *c = (sk_cluster){.l = l, .loop = &l->cluster.at[i], .wide = accumulates_wide(l, &l->cluster.at[i])};
        if (c->loop->class == L_CLASS_PLAIN)
            sk_map_prepare(c, l->ir->arena);
        if (c->loop->class == L_CLASS_FOLD)
            prepare_fold(c, l->ir->arena);
        if (c->loop->class == L_CLASS_STENCIL)
            sk_stencil_prepare(c, l->ir->arena);
        if (c->loop->class == L_CLASS_ROW)
            sk_row_prepare(c, l->ir->arena);
    }
    return p;
}

/* Elements a piece of independent work has: enough to pay for claiming it, few enough to balance the load. */
static int64_t piece_elements(const sk_cluster *c, const sk_options *o, int64_t total)
{
    if (o->group)
        return sk_group_piece(c);
    int64_t most = c->loop->flops >= 200 ? 2048 : 65536, least = c->loop->flops >= 200 ? 256 : 4096;
    int64_t share = total / (larger(o->workers, 1) * 8) + 1;
    share = (share + 255) / 256 * 256;
    return smaller(most, larger(least, share));
}

static size_t stored_bytes(const sk_cluster *c)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        const ir_array *info = ir_info(c->l->ir, op->term);
        for (uint32_t k = 0; k < info->components && op->stored && op->kind != L_FOLD && !op->outer; k++)
            bytes += ir_type_size(info->type[k]);
    }
    return bytes;
}

/* Whether results go past the caches. Where arithmetic takes longer than memory (a worker computes about as many
 * operations on f32 as bytes are its share of the bandwidth), what is read to be overwritten costs nothing, but stores
 * past the caches stall: Black-Scholes takes 0.75 of the time without them. */
static bool streams(const sk_cluster *c, const sk_options *o, double elements, size_t cache_bytes)
{
    double stored = (double)stored_bytes(c), size = c->wide ? 8 : 4;
    double moved = c->loop->reads_per_element * size + 2 * stored;
    bool computes = c->loop->flops * size / 4 > (double)larger(o->workers, 1) * moved;
    return elements * stored > (double)cache_bytes && !computes;
}

static void launch_tiles(int64_t size, int64_t rows, int64_t columns, sk_geometry *g)
{
    int64_t width = smaller(round_up(columns, SK_TILE_COLUMNS), round_up(size / SK_TILE_ROWS, SK_TILE_COLUMNS));
    int64_t beside = pieces_of(columns, width), rows_piece = round_up(larger(1, size / width), SK_TILE_ROWS);
    g->variant = SK_MAP_TILES;
    g->pieces = pieces_of(rows, rows_piece) * beside;
    g->slot[0] = rows_piece;
    g->slot[1] = beside;
    g->slot[2] = width;
    g->slot[3] = rows;
    g->slot[4] = columns;
}

/* Gangs that overlap at the ends of rows, the fastest of powers of two by a rough count of instructions: each gang's
 * own, those of each register, and those of each register's elements. 0: rows are so long that their ends do not
 * matter, so short that no gang fits, or so few that they are not worth a kernel. */
static int64_t gangs_of_rows(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t columns)
{
    enum { OF_GANG = 3, OF_REGISTER = 2, FEWEST = 4, MOST_REGISTERS = 4, LONG = 16, FEWEST_ELEMENTS = 4096 };
    if (!c->row_bytes || !o->vector_bytes || o->group || rows * columns < FEWEST_ELEMENTS)
        return 0;
    int64_t in_register = larger(1, o->vector_bytes / c->row_bytes), best = 0;
    double least = 0;
    if (columns >= LONG * in_register)
        return 0;
    if (c->row_cuts) /* gangs that are not whole, of one register */
        return sk_row_of_gangs((sk_row_gangs){in_register, 0});
    for (int64_t lanes = FEWEST; lanes <= smaller(columns, smaller(256, MOST_REGISTERS * in_register)); lanes *= 2) {
        int64_t rest = columns % lanes, last = rest ? FEWEST : 0;
        while (last < rest)
            last *= 2;
        double of_register = OF_REGISTER + c->loop->flops;
        double all = (OF_GANG + of_register * (double)pieces_of(lanes, in_register)) * (double)(columns / lanes);
        all += last ? OF_GANG + of_register * (double)pieces_of(last, in_register) : 0;
        if (best && all > least)
            continue;
        best = sk_row_of_gangs((sk_row_gangs){lanes, last});
        least = all;
    }
    return best;
}

static void launch_map(const sk_cluster *c, const sk_options *o, const int64_t *extent, int64_t rows, int64_t columns,
                       sk_geometry *g)
{
    int64_t total = rows * columns, size = piece_elements(c, o, total);
    if (o->vector_bytes && !o->group && sk_suits_across(c, extent)) {
        sk_launch_across(c, extent, size, g);
        return;
    }
    int64_t gangs = gangs_of_rows(c, o, rows, columns);
    if (!c->uses_index || (columns < 16 && !gangs)) {
        g->variant = SK_MAP_FLAT;
        g->pieces = pieces_of(total, size);
        g->slot[0] = size;
        g->slot[1] = total;
        return;
    }
    if (c->tiles && o->vector_bytes && !o->group && rows >= SK_TILE_ROWS && columns >= SK_TILE_COLUMNS) {
        launch_tiles(size, rows, columns, g);
        return;
    }
    int64_t width = smaller(columns, size), tiles = pieces_of(columns, width), rows_piece = larger(1, size / width);
    g->variant = SK_MAP_ROWS;
    g->row = gangs;
    g->pieces = pieces_of(rows, rows_piece) * tiles;
    g->slot[0] = rows_piece;
    g->slot[1] = tiles;
    g->slot[2] = width;
    g->slot[3] = rows;
    g->slot[4] = columns;
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
static int64_t few_groups(const sk_cluster *c, int64_t length)
{
    enum { MOST_GROUPS = 16, MOST_WORK = 128 };
    int64_t lanes = sk_tree_of(c->wide).lanes, groups = pieces_of(length, lanes);
    if (c->loop->ordered || groups > MOST_GROUPS ||
        (double)groups * (c->loop->flops + c->loop->reads_per_element) > MOST_WORK)
        return 0;
    return length % lanes ? -groups : length;
}

/* Rows that keep order: a lane for each, if there are enough, and what they read lies together or is short. */
static bool lanes_over_rows(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t length)
{
    enum { LONG = 256 };
    int64_t lanes = sk_tree_of(c->wide).lanes;
    if (!c->loop->ordered)
        return false;
    if (c->columns)
        return rows >= lanes / 2 && length >> SK_ROW_LOG == 0;
    return rows >= lanes * larger(o->workers, 1) && length <= LONG;
}

/* Blocks of several pieces, a whole row where it is short enough. Few workers wait for the last one, and partial
 * results are few: one for each piece, or for each block where operators keep order, as blocks are parts of the tree
 * there. */
static void launch_blocks(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t length, sk_geometry *g)
{
    enum { DEAR = 200, STAGED = 32 };
    int64_t pieces = pieces_of(length, SK_PIECE), workers = larger(o->workers, 1) * 8;
    int64_t most = sk_stages(c, o) ? c->staged_pieces : SK_BLOCK,
            block = smaller(most, larger(1, rows * pieces / workers));
    if (pieces <= most && (c->loop->flops < (sk_stages(c, o) ? STAGED : DEAR) || rows >= workers))
        block = pieces;
    while (c->loop->ordered && block < pieces && block & (block - 1))
        block &= block - 1;
    int64_t blocks = pieces_of(pieces, block);
    g->partials = blocks == 1 || c->loop->ordered ? blocks : pieces;
    g->slot[1] = pieces;
    g->slot[2] = blocks;
    g->slot[3] = block;
    g->pieces = rows * blocks;
}

/* `by_tree`: partial results of pieces combine as the tree says, whatever their number. */
static void launch_fold(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t length, bool combine,
                        bool by_tree, sk_geometry *g)
{
    g->slot[0] = length;
    if (c->choice && !c->columns && o->vector_bytes && !combine && length >= least_choice(c) &&
        length <= c->choice_longest) {
        g->variant = SK_FOLD_CHOICE;
        g->partials = g->slot[1] = pieces_of(length, sk_choice_piece(c));
        g->pieces = rows * g->partials;
        return;
    }
    if (length <= SK_SHORT && !(combine && by_tree)) {
        int64_t size = larger(64, piece_elements(c, o, rows * larger(length, 1)) / larger(length, 1) / 64 * 64);
        g->variant = combine ? SK_COMBINE_SHORT : SK_FOLD_SHORT;
        g->pieces = pieces_of(rows, size);
        g->slot[1] = rows;
        g->slot[2] = size;
        g->row = !combine && rows >= SK_SHORT && length <= 16 ? length : 0; /* few rows are not worth a kernel */
        return;
    }
    if (!combine && lanes_over_rows(c, o, rows, length)) {
        g->variant = SK_FOLD_ROWS;
        g->slot[1] = rows;
        g->pieces = pieces_of(rows, sk_tree_of(c->wide).lanes);
        return;
    }
    g->variant = combine ? SK_COMBINE_TREE : SK_FOLD_TREE;
    launch_blocks(c, o, rows, length, g);
    g->row = !combine && rows >= SK_SHORT ? few_groups(c, length) : 0;
}

static void launch_stencil(const sk_cluster *c, const sk_options *o, int64_t rows, int64_t columns, sk_geometry *g)
{
    enum { LEAST_TILE = 1024, LEAST_BAND = 64, LEAST_NARROW = 16 };
    int64_t tile = sk_tile(c, o), enough = larger(o->workers, 1) * 4;
    /* columns beside a tile are computed twice, too: tiles are narrow only where workers would have nothing to do */
    while (!o->group && tile > LEAST_TILE && pieces_of(rows, LEAST_BAND) * pieces_of(columns, tile) < enough)
        tile /= 2;
    if (!o->group && o->vector_bytes && columns >= LEAST_NARROW && columns <= SK_NARROW) {
        g->row = 1;
        tile = SK_NARROW;
    }
    int64_t tiles = pieces_of(columns, tile);
    /* rows around a band are computed twice: bands are high even where there are few of them */
    int64_t band = rows * tiles / enough;
    band = o->group ? sk_group_band(o, rows, tiles) : smaller(256, larger(LEAST_BAND, band));
    g->variant = SK_STENCIL;
    g->slot[0] = band;
    g->slot[1] = tiles;
    g->slot[2] = rows;
    g->slot[3] = columns;
    g->slot[4] = tile;
    g->pieces = pieces_of(rows, band) * tiles;
}

void sk_plan_launch(const sk_cluster *c, const sk_options *o, const int64_t *extent, sk_round round, size_t cache_bytes,
                    sk_geometry *g)
{
    *g = (sk_geometry){.partials = 1};
    unsigned inner = c->loop->class == L_CLASS_PLAIN && c->inner ? c->inner : c->loop->rank > 0;
    int64_t rows = 1, columns = 1;
    for (unsigned d = 0; d < c->loop->rank; d++)
        *(d + inner < c->loop->rank ? &rows : &columns) *= extent[d];
    bool combine = round.pass == SK_PASS_COMBINE;
    bool by_tree = c->loop->ordered && (c->choice != SK_CHOICE_FREE || columns > c->choice_longest);
    if (combine)
        columns = round.partials;
    g->work = (double)rows * (double)columns * (combine ? 1.0 : c->loop->flops + c->loop->reads_per_element + 1.0);
    g->stream = !combine && streams(c, o, (double)rows * (double)columns, cache_bytes);
    if (c->loop->class == L_CLASS_ROW)
        sk_launch_row(c, o, round.pass, rows, columns, g);
    else if (c->loop->class == L_CLASS_FOLD && o->group)
        sk_group_launch_fold(c, o, rows, columns, combine, g);
    else if (c->loop->class == L_CLASS_FOLD && !combine && c->loop->rank > 1 &&
             (sk_launch_columns(c, o, extent, g) || sk_launch_choice(c, o, extent, g)))
        return;
    else if (c->loop->class == L_CLASS_FOLD && !combine && o->vector_bytes && !stored_bytes(c) &&
             sk_launch_beside(c, extent, piece_elements(c, o, rows * columns), g))
        return;
    else if (c->loop->class == L_CLASS_FOLD) {
        launch_fold(c, o, rows, columns, combine, by_tree, g);
        double read = (double)rows * (double)columns * c->loop->reads_per_element * (c->wide ? 8 : 4);
        bool forwards = g->variant == SK_FOLD_CHOICE || (g->variant == SK_FOLD_TREE && !c->loop->ordered);
        g->ahead = forwards && !c->loop->staged.n && o->vector_bytes && read > (double)cache_bytes;
    } else if (rows == 0 || columns == 0)
        g->variant = c->loop->class == L_CLASS_STENCIL ? SK_STENCIL : SK_MAP_FLAT;
    else if (c->loop->class == L_CLASS_STENCIL)
        launch_stencil(c, o, rows, columns, g);
    else
        launch_map(c, o, extent, rows, columns, g);
}

static sk_kernel *build(const sk_cluster *c, sk_variant variant, const sk_options *options, arena *a, sk_reason *why)
{
    *why = (sk_reason){0};
    if (variant >= SK_ROW_BLOCK && variant < SK_VARIANTS)
        return sk_build_row(c, variant, options, a, why);
    if (variant >= SK_GROUP_PIECE && variant < SK_ROW_BLOCK)
        return sk_build_group_fold(c, variant, options, a, why);
    switch (variant) {
    case SK_MAP_FLAT:
        return sk_build_map_flat(c, options, a, why);
    case SK_MAP_ROWS:
        return sk_build_map_rows(c, options, a, why);
    case SK_MAP_TILES:
        return sk_build_map_tiles(c, options, a, why);
    case SK_MAP_ACROSS:
        return sk_build_map_across(c, options, a, why);
    case SK_STENCIL:
        return sk_build_stencil(c, options, a, why);
    case SK_FOLD_SHORT:
    case SK_FOLD_BESIDE:
    case SK_FOLD_ROWS:
    case SK_FOLD_CHOICE:
    case SK_FOLD_TREE:
    case SK_FOLD_COLUMNS:
    case SK_CHOOSE_COLUMNS:
    case SK_COMBINE_SHORT:
    case SK_COMBINE_TREE:
        return sk_build_fold(c, variant, options, a, why);
    default:
        why->text = "unknown variant";
        return NULL;
    }
}

/* "stencil_map_a7": what it does, and the last operation that it computes, by the words and numbers of the program's
 * texts. */
static const char *name_of(const sk_cluster *c, const char *skeleton, arena *a)
{
    ir_id last = c->loop->op.n ? c->loop->op.at[c->loop->op.n - 1].term : 0;
    const char *word = last ? ir_info(c->l->ir, last)->name : NULL;
    return last ? arena_printf(a, "%s_%s%sa%u", skeleton, word ? word : "", word ? "_" : "", c->l->number[last])
                : skeleton;
}

/* Four registers of indices at a time: as many lanes as suit the narrowest elements would be sixteen or more, and the
 * code as long. */
static void limit_lanes(kernel *k, const sk_options *options)
{
    uint32_t most = 4 * options->vector_bytes / (k->narrow ? 4 : 8);
    if (most >= 4 && k->lanes > most)
        k->lanes = (uint16_t)most;
}

sk_kernel *sk_build(const sk_cluster *c, sk_variant variant, const sk_options *options, arena *a, sk_reason *why)
{
    sk_kernel *built = build(c, variant, options, a, why);
    if (!built)
        return NULL;
    built->k->name = name_of(c, built->k->name, a);
    bool index_vectors = !options->group && built->k->lanes > 1 && k_makes_index_vectors(built->k, a);
    built->k->narrow = options->narrow && (options->group || index_vectors);
    if (built->k->narrow)
        k_keep_indices(built->k, a);
    if (index_vectors && (variant == SK_MAP_FLAT || variant == SK_MAP_ROWS))
        limit_lanes(built->k, options);
    return built;
}
