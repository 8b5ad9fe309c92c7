/* Folds whose neighbouring rows are neighbours in memory (column_reads.c). A piece is a part of so many rows beside
 * each other, its width. It is read as a plain loop over the lines of a matrix would do: the lanes of gangs are
 * neighbours in a line, and in the lines behind it where these adjoin.
 *
 * The tree is that of fold.c for each row. Line i of a piece goes to accumulator i mod 128, which is a line of as many
 * numbers. Blocks of accumulators that adjoin are taken together: a gang goes through all lines of its part of a block,
 * with the accumulators in registers, and through those of the block whose accumulators are combined with these first.
 * Then it combines what it has with the totals of earlier blocks that wait for it. Blocks follow each other so that the
 * tree's halves do, and a total waits for each level. What is left is one block, whose accumulators are combined
 * halves by halves.
 *
 * Rows that are folded from left to right have one accumulator. */
#include "skeleton/extents.h"
#include "skeleton/fold/lines.h"

/* slots, besides those of sk_open_lines */
enum { TOGETHER = SK_LINES_SLOTS, STRIDE, PARTS };

enum { FEWEST = 16 }; /* columns of a launch of one line, and lanes of its gangs */
enum { SCRATCH = 64 << 10, HALF = SK_ACCUMULATORS / 2 };

enum { JOINED_LOG = 2 };               /* SK_SHORT lines are 8 at a time, and some */
enum { LANES = 64, MOST_LANES = 256 }; /* of gangs: as a rule, and of ones that go far along a line */
/* sk_geometry.row: facts of the launch that a kernel is made for. WIDE: gangs may have twice as many lanes, or, times
 * two, four times as many. BY_LINE: sk_lines.by_line. PARTED: there are parts. From NARROW on: the lanes of gangs, as a
 * line is shorter than one of LANES */
enum { ONE_LINE = 1, ONCE = 2, WIDE = 4, WIDTHS = 3 * WIDE, BY_LINE = 16, PARTED = 32, NARROW = 64 };

typedef struct columns {
    sk_folds *s;
    sk_lines in;
    bool once;            /* no accumulator has more than one line */
    unsigned joined;      /* log2 of the turns that are taken together, so that enough lines are read at a time */
    k_val stride;         /* lines from one of an accumulator to the next */
    k_val half;           /* accumulators between those that are combined first */
    k_val together, size; /* accumulators of a block; these times width */
    k_val level;          /* of the last block's total */
    k_val parts, own;     /* of the piece, and the number of this one; 0: it has none, */
    k_val whole;          /* or so few lines that the first one has them all */
    k_mem **waiting;      /* per fold and component: totals of each level, and from `second` on half a block */
    k_val second;
} columns;

/* Numbers that a thread has, side by side: all totals that wait. */
static int64_t room(const sk_cluster *c)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const ir_array *info = ir_info(c->l->ir, c->loop->op.at[i].term);
        for (uint32_t k = 0; k < info->components && c->loop->op.at[i].kind == L_FOLD; k++)
            bytes += (int64_t)ir_type_size(info->type[k]);
    }
    return SCRATCH / (bytes ? bytes : 1);
}

/* --- the launch --- */

/* Lines of totals that a block of so many accumulators leaves waiting, of `all`. */
static int64_t lines_of(int64_t together, int64_t all)
{
    int64_t levels = 1;
    for (int64_t blocks = all / together; blocks > 1; blocks /= 2)
        levels++;
    return levels * together;
}

/* Into how many parts the lines of pieces are divided, a power of two, so that each worker has some. Workers that took
 * columns instead would read the same part of each page: of the sets of a cache near them that is a half or less, and
 * what is fetched ahead of a short line is another worker's. */
static int64_t parts_of(const sk_call *x, int64_t rows, int64_t outer)
{
    enum { LEAST = 8 /* times what may wait: it pays for the launch that combines parts */, CHEAP = 4, EVEN = 3 };
    int64_t parts = 1, workers = larger(x->o->workers, 1), pieces = outer * pieces_of(x->columns, SK_PIECE);
    double least = (double)(room(x->c) * LEAST) * CHEAP / (CHEAP + x->c->loop->flops);
    double elements = (double)rows * (double)smaller(x->columns, SK_PIECE);
    bool alike = x->columns <= SK_PIECE;
    while (parts < HALF && elements >= (double)(2 * parts) * least) {
        int64_t units = pieces * parts;
        if ((alike && units % workers == 0) || units * (alike ? 1 : 2) >= EVEN * workers)
            break;
        parts *= 2;
    }
    return parts;
}

/* Gangs may be so wide where what several of them compute twice, at the end of a block, is little. */
static int64_t wide_gangs(int64_t block)
{
    enum { LEAST = 4, LITTLE = 24 };
    for (int64_t lanes = MOST_LANES; lanes > LANES; lanes /= 2)
        if (block >= LEAST * lanes && (pieces_of(block, lanes) * lanes - block) * LITTLE <= block)
            return WIDE * lanes / MOST_LANES * 2;
    return 0;
}

bool sk_launch_fold_columns(const sk_call *x, sk_geometry *g)
{
    enum {
        FEW = 16,
        GANG = 32,
        UNIT = 64,
        LEAST = 4096,
        SHARES = 4,
        OF_PART = 8, /* totals that a part leaves are less than this of what may wait */
        SHORT_TILE = 2048,
        LONGEST_WINDOW = 2048,
        LEAST_WINDOWS = 256
    };
    const sk_cluster *c = x->c;
    const sk_options *o = x->o;
    int64_t length = x->columns, rows, outer, there = room(c);
    if (!sk_suits_lines(x, &outer, &rows))
        return false;
    bool brief = length <= SK_SHORT, once = !brief && length <= SK_ACCUMULATORS;
    bool apart = !c->dense || (c->indexed && rows >= FEW); /* no gang goes on in the next line */
    bool by_line = apart && c->columns && !brief && !once;
    bool one_line = brief || (apart && !by_line) || (once && rows >= larger(GANG, o->vector_bytes));
    /* windows: gangs of rows wherever a row would be a few gangs of its own */
    bool windows = c->either && !c->choice && !brief && length <= LONGEST_WINDOW && rows >= LEAST_WINDOWS;
    if ((!c->columns && !windows) || (c->loop->ordered && !brief) || !length || !outer)
        return false;
    if (one_line || by_line ? rows < FEWEST : rows * smaller(length, HALF) < FEW)
        return false;
    int64_t pieces = brief ? 1 : pieces_of(length, SK_PIECE), together = 1, width = rows, parts = 1;
    if (c->columns && !brief && !once)
        parts = parts_of(x, rows, outer);
    int64_t accumulators = parts > 1 ? HALF / 2 : HALF;
    int64_t most = parts > 1 ? there / OF_PART : there;
    if (!one_line)
        for (together = HALF / parts;
             together > 1 && (lines_of(together, accumulators) * rows > there || together * rows > most);)
            together /= 2;
    if (together == 1) {
        most = brief ? smaller(there, SHORT_TILE) : there / lines_of(1, accumulators);
        int64_t tiles = pieces_of(SHARES * larger(o->workers, 1), outer * pieces);
        tiles = smaller(tiles, rows * smaller(length, SK_PIECE) / LEAST);
        tiles = o->workers > 1 && parts == 1 ? larger(tiles, 1) : 1;
        width = smaller(most, pieces_of(rows, larger(tiles, pieces_of(rows, most))));
        width = larger(UNIT, width / UNIT * UNIT);
        width = smaller(rows, smaller(most, width));
    }
    one_line |= together == 1 && (once || by_line);
    by_line &= !one_line;
    g->row = (one_line ? ONE_LINE : 0) | (once ? ONCE : 0) | (by_line ? BY_LINE : 0) | (parts > 1 ? PARTED : 0);
    if (!once && !one_line)
        g->row |= wide_gangs(by_line ? width : together * width);
    for (int64_t lanes = LANES / 2; (one_line || by_line) && width < LANES && lanes >= FEWEST; lanes /= 2)
        if (lanes <= width) {
            g->row |= NARROW * lanes / FEWEST;
            break;
        }
    g->slot[TOGETHER] = together;
    g->slot[STRIDE] = brief ? 1 : SK_ACCUMULATORS;
    g->slot[PARTS] = parts;
    sk_launch_lines(g, outer, rows, width, length, pieces);
    if (parts > 1) {
        g->pieces *= parts;
        g->partials *= parts * together;
    }
    return true;
}

/* --- one block --- */

/* The lines of an accumulator, of which `line` is the first. */
static k_val **take_lines(columns *t, k_val line, k_val lines)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val **acc = sk_fold_accumulators(s);
    if (t->once) {
        sk_fold_element(s, t->in.outer, line, k_literal(b, T_BOOL, 0), acc);
        return acc;
    }
    k_val k = k_for(b, k_i64(b, 0), lines, false);
    sk_fold_element(s, t->in.outer, sk_add(lw, line, sk_mul(lw, k, t->stride)), k_let(b, OP_GT, k, k_i64(b, 0), 0),
                    acc);
    k_end(b);
    return acc;
}

typedef struct pair { /* of blocks: the first line of the left one, lines of an accumulator on both sides, and the level
                         of totals that it makes */
    k_val line, left, right, level;
} pair;

/* An accumulator of the left block from line `line` on, combined with that of the right one, and, depth by depth, with
 * what the blocks of the next turns have. */
static k_val **take_node(columns *t, const pair *p, k_val line, unsigned depth)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    if (depth) {
        k_val distance = k_let(b, OP_SHR, t->half, k_i64(b, depth), 0);
        k_val **left = take_node(t, p, line, depth - 1);
        sk_fold_merge(s, left, take_node(t, p, sk_add(lw, line, distance), depth - 1), 0);
        return left;
    }
    k_val **acc = take_lines(t, line, p->left), opposite = sk_add(lw, line, t->half);
    if (lw->cluster->loop->ordered)
        return acc;
    k_val some = t->joined ? k_let(b, OP_LT, opposite, sk_add(lw, t->in.begin, t->in.count), 0)
                           : k_let(b, OP_GT, p->right, k_i64(b, 0), 0);
    k_if(b, some);
    sk_fold_merge(s, acc, take_lines(t, opposite, p->right), 0);
    k_end(b);
    return acc;
}

typedef struct columns_part {
    columns *t;
    const pair *p;
} columns_part;

/* The part of one thread. */
static void take_place(void *env)
{
    columns *t = ((columns_part *)env)->t;
    const pair *p = ((columns_part *)env)->p;
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val **acc = take_node(t, p, p->line, t->joined);
    if (!lw->cluster->loop->ordered) {
        k_val level = k_for(b, k_i64(b, 0), p->level, false);
        k_val **total = sk_fold_kept(t->s, t->waiting, sk_add(lw, sk_mul(lw, level, t->size), t->in.place));
        sk_fold_merge_behind(s, total, acc);
        k_end(b);
    }
    sk_fold_keep(t->s, t->waiting, sk_add(lw, sk_mul(lw, p->level, t->size), t->in.place), acc);
}

/* Threads [from, to), all of whose accumulators have as many lines. */
static void take_part(columns *t, const pair *p, k_val from, k_val to)
{
    sk_each_place(&t->in, from, to, take_place, &(columns_part){t, p});
}

/* min(max(x, 0), most) */
static k_val within(sk_lower *lw, k_val x, k_val most)
{
    return sk_min(lw, sk_max(lw, x, k_i64(&lw->b, 0)), most);
}

static k_val trailing_zeros(sk_lower *lw, k_val x)
{
    return k_convert(&lw->b, OP_CONVERT, T_I64, k_let(&lw->b, OP_CTZ, x, 0, 0));
}

/* x with its lowest `bits` bits in the other order; it has no others, and these are at most eight. */
static k_val turned(sk_lower *lw, k_val x, k_val bits)
{
    k_builder *b = &lw->b;
    k_val copies = sk_mul(lw, x, k_i64(b, 0x0202020202));
    k_val byte = k_let(b, OP_REM, k_let(b, OP_BIT_AND, copies, k_i64(b, 0x010884422010), 0), k_i64(b, 1023), 0);
    return k_let(b, OP_SHR, byte, sk_sub(lw, k_i64(b, 8), bits), 0);
}

/* Pair `turn` of blocks: its first block, and the one that lies `half` behind it. Accumulators differ in lines by one
 * at most, and some may have none in the second block. */
static void take_pair(columns *t, k_val turn, k_val bits)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1);
    k_val levels = trailing_zeros(lw, sk_add(lw, turn, one));
    if (t->parts)
        turn = sk_add(lw, turn, sk_mul(lw, t->own, k_let(b, OP_SHL, one, t->level, 0)));
    k_val first = sk_mul(lw, turned(lw, turn, bits), t->together);
    k_val lines = k_let(b, OP_QUOT, t->in.count, t->stride, 0);
    if (t->joined) {
        take_part(t, &(pair){sk_add(lw, t->in.begin, first), one, one, levels}, zero, t->in.width);
        return;
    }
    k_val rest = sk_sub(lw, sk_sub(lw, t->in.count, sk_mul(lw, lines, t->stride)), first);
    k_val lines_right = k_select(b, k_let(b, OP_LT, t->half, t->stride, 0), lines, zero);
    k_val left = sk_mul(lw, within(lw, rest, t->together), t->in.width);
    k_val right = sk_mul(lw, within(lw, sk_sub(lw, rest, t->half), t->together), t->in.width);
    k_val part = k_for(b, zero, k_i64(b, 3), false);
    k_val is_0 = k_let(b, OP_EQ, part, zero, 0), is_2 = k_let(b, OP_EQ, part, k_i64(b, 2), 0);
    k_val from = k_select(b, is_0, zero, k_select(b, is_2, left, right));
    k_val to = k_select(b, is_0, right, k_select(b, is_2, t->size, left));
    k_if(b, k_let(b, OP_GT, to, from, 0));
    lines = k_select(b, is_2, lines, sk_add(lw, lines, one));
    lines_right = k_select(b, is_0, sk_add(lw, lines_right, one), lines_right);
    take_part(t, &(pair){sk_add(lw, t->in.begin, first), lines, lines_right, levels}, from, to);
    k_end(b);
    k_end(b);
}

/* The accumulators of the last block, halves by halves, each to the other place. Returns where the total is. */
static k_val combine_block(columns *t)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), begin = sk_mul(lw, t->level, t->size);
    if (t->in.one_line)
        return begin;
    k_val turns = trailing_zeros(lw, t->together);
    if (t->parts)
        turns = k_select(b, t->whole, turns, zero);
    k_val turn = k_for(b, zero, turns, false);
    k_val half = sk_mul(lw, k_let(b, OP_SHR, t->together, sk_add(lw, turn, one), 0), t->in.width);
    k_val even = k_let(b, OP_EQ, k_let(b, OP_BIT_AND, turn, one, 0), zero, 0);
    k_val at = k_select(b, even, begin, t->second), to = k_select(b, even, t->second, begin);
    k_val lanes = k_i64(b, lw->out->k->lanes), up = sk_add(lw, half, k_i64(b, lw->out->k->lanes - 1));
    k_val whole = sk_mul(lw, k_let(b, OP_QUOT, up, lanes, 0), lanes);
    k_val lane = t->in.harmless ? k_for_whole(b, whole) : k_for_all(b, half);
    k_val place = sk_add(lw, at, lane), **acc = sk_fold_kept(t->s, t->waiting, place);
    sk_fold_merge(t->s, acc, sk_fold_kept(t->s, t->waiting, sk_add(lw, place, half)), 0);
    sk_fold_keep(t->s, t->waiting, sk_add(lw, to, lane), acc);
    k_end(b);
    k_end(b);
    k_val odd = k_let(b, OP_EQ, k_let(b, OP_BIT_AND, turns, one, 0), one, 0);
    return k_select(b, odd, t->second, begin);
}

static void finish(columns *t, k_val at)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    t->in.one_line = true;
    t->in.place = k_for_all(b, t->in.width);
    k_val row = sk_line_result(&t->in);
    k_val **acc = sk_fold_kept(t->s, t->waiting, sk_add(lw, at, t->in.place));
    lw->element = row;
    sk_fold_settle(s, row, t->in.begin, 0, t->in.count, acc);
    sk_fold_finish_all(s, row, sk_add(lw, sk_mul(lw, row, t->in.pieces), t->in.part), acc, 0);
    k_end(b);
}

/* A part's totals, line after line: the tree combines them with those of the other parts first. */
static void leave_part(columns *t, k_val at)
{
    sk_folds *s = t->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), log = trailing_zeros(lw, t->together);
    t->in.one_line = true;
    k_val line = k_for(b, zero, k_select(b, t->whole, one, t->together), false);
    k_val skipped = k_select(b, t->whole, zero, trailing_zeros(lw, t->parts));
    k_val first = sk_add(lw, sk_mul(lw, turned(lw, t->own, skipped), t->together), line);
    s->every = k_select(b, t->whole, one, sk_mul(lw, t->parts, t->together));
    k_val lines = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, t->in.count, first), sk_sub(lw, s->every, one)), s->every, 0);
    k_val totals = sk_mul(lw, t->parts, sk_slot(lw, TOGETHER, "together"));
    k_val number = sk_add(lw, sk_mul(lw, turned(lw, line, k_select(b, t->whole, zero, log)), t->parts), t->own);
    t->in.place = k_for_all(b, t->in.width);
    k_val row = sk_line_result(&t->in);
    k_val **acc =
        sk_fold_kept(t->s, t->waiting, sk_add(lw, sk_add(lw, at, sk_mul(lw, line, t->in.width)), t->in.place));
    lw->element = row;
    sk_fold_settle(s, row, sk_add(lw, t->in.begin, first), 0, lines, acc);
    k_val piece = sk_add(lw, sk_mul(lw, t->in.outer, t->in.pieces), t->in.part);
    k_val to = sk_mul(lw, sk_add(lw, sk_mul(lw, piece, totals), number), t->in.rows);
    sk_fold_finish_all(s, row, sk_add(lw, to, sk_add(lw, t->in.left, t->in.place)), acc, 0);
    k_end(b);
    k_end(b);
}

/* --- the kernel --- */

/* Accumulators: half of the smallest power of two that there are at least, and those of a block. */
static void find_blocks(columns *t)
{
    sk_lower *lw = t->s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), last = sk_max(lw, sk_sub(lw, sk_min(lw, t->in.count, t->stride), one), one);
    k_val unused = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CLZ, last, 0, 0));
    t->half = k_let(b, OP_SHL, one, sk_sub(lw, k_i64(b, 63), unused), 0);
    t->together = t->in.one_line ? one : sk_min(lw, t->half, sk_slot(lw, TOGETHER, "together"));
    t->size = sk_mul(lw, t->together, t->in.width);
}

/* Gangs of which a line is not a whole one take several times as long. The farther a gang goes along each of its lines,
 * the better processors see what is read next, and the less lines a power of two apart get in each other's way in the
 * caches: half of the registers hold accumulators. */
static int64_t lanes_of(const sk_folds *s)
{
    const sk_lower *lw = s->lw;
    int64_t lanes = smaller(LANES, sk_fold_lanes_for(s)), vector = lw->options->vector_bytes, bytes = 0;
    if (lw->options->row >= NARROW)
        return smaller(lanes, lw->options->row / NARROW * FEWEST);
    for (uint32_t i = 0; i < s->fold.n; i++)
        for (uint32_t c = 0; c < s->fold.at[i].n; c++)
            bytes += (int64_t)ir_type_size(s->fold.at[i].info->type[c]);
    int64_t most =
        sk_fold_flops(lw->cluster, lw->options) <= SK_SMALL ? LANES * ((lw->options->row & WIDTHS) / WIDE) * 2 : 0;
    while (lanes < most && 2 * lanes * bytes <= vector * (vector >= 64 ? 16 : 8))
        lanes *= 2;
    return lanes;
}

static void fold_columns(sk_folds *s)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    int64_t there = room(lw->cluster);
    columns *t = arena_new(lw->arena, *t);
    *t = (columns){.s = s, .once = lw->options->row & ONCE};
    bool parted = lw->options->row & PARTED;
    t->in.one_line = lw->options->row & ONE_LINE;
    t->in.by_line = lw->options->row & BY_LINE;
    lw->out->k->lanes = (uint16_t)lanes_of(s);
    t->waiting = sk_fold_memory(s, true, there + there / 2 + 3 * MOST_LANES, "waiting");
    t->second = k_i64(b, there + MOST_LANES);
    t->stride = sk_slot(lw, STRIDE, "stride");
    if (parted) {
        t->parts = sk_slot(lw, PARTS, "parts");
        t->in.number = k_let(b, OP_QUOT, k_piece(b), t->parts, 0);
        t->own = sk_sub(lw, k_piece(b), sk_mul(lw, t->in.number, t->parts));
    }
    sk_open_lines(&t->in, s, k_i64(b, SK_PIECE));
    find_blocks(t);
    t->joined = t->in.one_line && t->once ? JOINED_LOG : 0;
    t->level = sk_sub(lw, trailing_zeros(lw, t->half), trailing_zeros(lw, t->together));
    t->level = sk_sub(lw, t->level, k_i64(b, t->joined));
    k_val bits = t->level;
    if (parted) {
        t->whole = k_let(b, OP_LE, t->in.count, k_i64(b, HALF), 0);
        t->level = sk_sub(lw, bits, k_select(b, t->whole, k_i64(b, 0), trailing_zeros(lw, t->parts)));
        k_val others = k_let(b, OP_AND, t->whole, k_let(b, OP_GT, t->own, k_i64(b, 0), 0), 0);
        k_if(b, k_let(b, OP_NOT, others, 0, 0));
    }
    take_pair(t, k_for(b, k_i64(b, 0), k_let(b, OP_SHL, k_i64(b, 1), t->level, 0), false), bits);
    k_end(b);
    if (parted) {
        leave_part(t, combine_block(t));
        k_end(b);
    } else {
        finish(t, combine_block(t));
    }
}

void sk_build_fold_columns(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE, .narrows = true};
    sk_fold_begin(&s);
    if (!sk_picks_extremes(lw->options))
        sk_find_extremes(&s);
    fold_columns(&s);
}
