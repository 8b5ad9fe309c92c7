/* How contractions are launched: the tile that suits a call's extents, what panels have room for, and how the result is
 * cut into blocks. */
#include "skeleton/contract/contract.h"
#include "skeleton/extents.h"

/* Shared memory: all of it, what panels of columns have of each operand, and what is left for other things. */
enum { SHARED = 4 << 20, COLUMN_BYTES = 576 << 10, REST = 256 << 10, MADE_BYTES = 512 << 10 };
enum { MOST_ROWS = 12, FEWEST_ROWS = 4 };

/* The tile that a kernel is made for, in sk_geometry.row. */
static int64_t row_of_tile(sk_contract_tile t)
{
    return t.rows | t.lanes << 8 | (int64_t)t.brief << 20 | (int64_t)t.once << 21 | (int64_t)t.made_brief << 22 |
           (int64_t)t.turned << 23;
}

sk_contract_tile sk_tile_of_row(int64_t row)
{
    return (sk_contract_tile){row & 255, row >> 8 & 4095, row >> 20 & 1, row >> 21 & 1, row >> 22 & 1, row >> 23 & 1};
}

/* Most rows and lanes: three quarters of the registers are accumulators, two for each row where that leaves enough
 * rows. */
sk_contract_tile sk_largest_tile(const sk_contraction *of, const sk_options *o)
{
    enum { ENOUGH = 6 };
    int64_t budget = o->vector_bytes >= 64 ? 24 : 12,
            registers = budget / (2 * (int64_t)of->components) < ENOUGH ? 1 : 2;
    int64_t rows = smaller(MOST_ROWS, larger(FEWEST_ROWS, budget / (registers * (int64_t)of->components)));
    int64_t lanes = larger(4, smaller(256, registers * (int64_t)o->vector_bytes / (int64_t)of->widest));
    while (of->folds && rows & (rows - 1)) /* a power of two: nodes of the tree */
        rows &= rows - 1;
    return (sk_contract_tile){.rows = rows, .lanes = lanes};
}

/* The same for so many rows and columns: few rows are spread over equal tiles, and where the last tile of few columns
 * would mostly be empty, and what tiles begin and end with counts little, tiles have one register of them. */
static sk_contract_tile tile_for(const sk_contraction *of, const sk_options *o, int64_t rows, int64_t columns,
                                 int64_t length)
{
    enum { FEW = 8 };
    sk_contract_tile t = sk_largest_tile(of, o);
    if (rows < FEW * t.rows && !of->folds)
        t.rows = pieces_of(rows, pieces_of(rows, t.rows));
    while (t.lanes > columns && t.lanes > 4)
        t.lanes /= 2;
    const int64_t half = t.lanes / 2;
    const bool whole = half * (int64_t)of->widest >= (int64_t)o->vector_bytes;
    if (!of->folds && whole && length > SK_ACCUMULATORS && 4 * round_up(columns, t.lanes) > 5 * round_up(columns, half))
        t.lanes = half;
    return t;
}

/* Elements of an operand that panels have room for. */
int64_t sk_room_of(const sk_contraction *of, sk_side side)
{
    int64_t columns = COLUMN_BYTES * (int64_t)of->side[SK_OF_COLUMN].term.n, widest = (int64_t)of->widest;
    columns += of->folds ? MADE_BYTES : 0;
    if (side == SK_OF_COLUMN)
        return COLUMN_BYTES / widest;
    return (SHARED - REST - columns) / (int64_t)of->side[SK_OF_ROW].term.n / widest;
}

/* Panels of columns whose folds of results go on at the same time. */
int64_t sk_panels_made(const sk_contraction *of, sk_contract_tile t)
{
    return larger(2, MADE_BYTES / (of->made_bytes[t.made_brief] * t.lanes));
}

/* Positions of a panel: accumulators have the same number of them, though some need one less. */
static int64_t positions_of(int64_t length, bool apart)
{
    int64_t accumulators = 1;
    if (length <= SK_SHORT)
        return length;
    length = smaller(length, SK_PIECE);
    while (accumulators < smaller(length, SK_ACCUMULATORS))
        accumulators *= 2;
    return accumulators * (pieces_of(length, SK_ACCUMULATORS) | apart);
}

/* Panels of columns that are packed before their tiles: as many as there is room for, so that rows, which go through
 * the caches with each group, do so seldom. If results are folded, and all rows of a block stay in the first cache, it
 * is one, which stays there, too: while its tiles are computed the next one is fetched. Results that are stored would
 * be written a tile of each row at a time, which takes longer than all else. */
static int64_t group_of(const sk_contraction *of, sk_contract_tile t, int64_t positions, int64_t rows)
{
    enum { NEAR = 16 << 10 };
    int64_t of_row = positions * (int64_t)(of->side[SK_OF_ROW].term.n * of->widest);
    if (of->folds && rows <= NEAR / of_row)
        return 1;
    return larger(1, sk_room_of(of, SK_OF_COLUMN) / (positions * t.lanes));
}

/* --- the launch --- */

/* Rows are columns, and the other way round. */
sk_contraction sk_turn_contraction(const sk_contraction *of)
{
    sk_contraction other = *of;
    for (unsigned side = 0; side < SK_SIDES; side++) {
        other.dimension[side] = of->dimension[!side];
        other.side[side] = of->side[!side];
    }
    return other;
}

/* The tile of so many rows and columns, of at least `bytes` of a register; false: there are too few. */
static bool find_tile(const sk_contraction *of, const sk_options *o, int64_t rows, int64_t columns, int64_t length,
                      int64_t bytes, sk_contract_tile *t)
{
    *t = tile_for(of, o, rows, columns, length);
    if (t->rows > t->lanes) /* panels of rows are packed by one gang */
        t->rows = pieces_of(rows, pieces_of(rows, t->lanes));
    return rows > 0 && t->lanes <= columns && t->lanes * (int64_t)of->widest >= bytes;
}

bool sk_launch_contract(const sk_call *x, sk_geometry *g)
{
    enum { LEAST = 1 << 14, SHARES = 4, LEAST_BLOCK = 48, LEAST_WIDTH = 256 };
    const sk_cluster *c = x->c;
    const sk_contraction *of = c->contraction, other = of ? sk_turn_contraction(of) : (sk_contraction){0};
    if (!of || !x->o->vector_bytes || x->o->group || x->pass == SK_PASS_COMBINE)
        return false;
    int64_t length = x->columns, rows = x->extent[of->dimension[SK_OF_ROW]],
            columns = x->extent[of->dimension[SK_OF_COLUMN]];
    const int64_t full = (int64_t)x->o->vector_bytes;
    bool brief = length <= SK_SHORT;
    if (!x->rows || !length || (c->loop->ordered && !brief) || rows * columns * length < LEAST)
        return false;
    sk_contract_tile t, half;
    if (rows < FEWEST_ROWS || !find_tile(of, x->o, rows, columns, length, full, &t)) {
        bool narrow =
            !of->folds && !brief && rows >= FEWEST_ROWS && find_tile(of, x->o, rows, columns, length, full / 4, &half);
        sk_geometry beside = {0}; /* tiny matrices are a lane's */
        bool tiny = brief && (sk_launch_fold_beside(x, &beside) || sk_rows_in_blocks(x));
        if (!of->folds && !tiny && find_tile(&other, x->o, columns, rows, length, full, &t)) {
            int64_t lanes = rows;
            rows = columns;
            columns = lanes;
            of = &other;
            t.turned = true;
        } else if (narrow) { /* of a half what begins and ends counts */
            t = half;
        } else {
            return false;
        }
    }
    t.brief = brief;
    t.once = !brief && length <= SK_ACCUMULATORS;
    t.made_brief = of->folds && rows <= SK_SHORT;
    const bool apart = rows <= SK_CONTRACT_FEW && columns <= SK_CONTRACT_FEW && length > SK_ACCUMULATORS;
    int64_t positions = positions_of(length, apart), parts = brief ? 1 : pieces_of(length, SK_PIECE);
    if (c->loop->class == L_CLASS_TILES && (parts > 1 || (of->folds && rows > SK_SHORT * SK_PIECE)))
        return false;
    int64_t most = sk_room_of(of, SK_OF_ROW) / (positions * t.rows) * t.rows, outer = x->rows / (rows * columns);
    int64_t row_blocks = pieces_of(rows, most), column_blocks = 1, wanted = SHARES * larger(x->o->workers, 1);
    if (of->folds) { /* a block has all rows, and goes through them in groups */
        g->slot[SK_CONTRACT_ROW_GROUP] = larger(1, most / t.rows);
        row_blocks = 1;
        column_blocks = pieces_of(columns, sk_panels_made(of, t) * t.lanes);
        if (x->o->workers > 1 && outer * column_blocks < wanted)
            column_blocks = larger(column_blocks, smaller(pieces_of(wanted, outer), columns / LEAST_WIDTH));
    } else if (x->o->workers > 1 && outer * parts * row_blocks < wanted)
        row_blocks = smaller(pieces_of(wanted, outer * parts), larger(row_blocks, rows / LEAST_BLOCK));
    if (!of->folds && x->o->workers > 1 && outer * parts * row_blocks < wanted)
        column_blocks = smaller(pieces_of(wanted, outer * parts * row_blocks), larger(1, columns / LEAST_WIDTH));
    g->row = row_of_tile(t);
    g->partials = parts;
    g->slot[SK_CONTRACT_LENGTH] = length;
    g->slot[SK_CONTRACT_PIECES] = parts;
    g->slot[SK_CONTRACT_ROW_BLOCKS] = row_blocks;
    g->slot[SK_CONTRACT_COLUMN_BLOCKS] = column_blocks;
    g->slot[SK_CONTRACT_ROWS] = rows;
    g->slot[SK_CONTRACT_COLUMNS] = columns;
    g->slot[SK_CONTRACT_GROUP] = group_of(of, t, positions, pieces_of(rows, row_blocks));
    g->pieces = outer * row_blocks * column_blocks * parts;
    return true;
}
