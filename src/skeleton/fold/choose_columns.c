/* Columns of which the element with the best key is chosen (argmax and its like), where that is the same in any order.
 * The keys alone are gone through, a few lines at a time: each column, of each of the lines that are taken together
 * where columns are few, keeps its best key and the group of lines that brought it. That group is then searched for the
 * line, and the element there is the result. */
#include "skeleton/extents.h"
#include "skeleton/fold/lines.h"

/* slots, besides those of sk_open_lines */
enum { TOGETHER = SK_LINES_SLOTS, PIECE };

/* Lines, or so many together, of a group; groups of a piece, whose numbers fit a byte; places of a block. */
enum { GROUP = 8, GROUPS = 128, ROOM = 2048 };
enum { ONE_LINE = 1, NEAR_LINES = 2 }; /* sk_geometry.row: facts of the launch that a kernel is made for */

bool sk_launch_choose_columns(const sk_call *x, sk_geometry *g)
{
    enum {
        FEWEST = 16,
        FEW = 64,
        UNIT = 64,
        WIDE = 1024,
        LEAST_GROUPS = 8,
        SHARES = 4,
        MOST_TOGETHER = 64,
        NEAR = 64 << 10
    };
    const sk_cluster *c = x->c;
    const sk_options *o = x->o;
    int64_t length = x->columns, rows, outer, together = MOST_TOGETHER;
    if (!sk_suits_lines(x, &outer, &rows))
        return false;
    bool one_line = !c->dense || (c->keys_indexed && rows >= FEWEST);
    if (!c->columns || c->choice != SK_CHOICE_FREE || !o->vector_bytes || length <= SK_SHORT || !outer || !rows)
        return false;
    if (length > c->choice_longest)
        return false;
    if (one_line ? rows < FEWEST : rows * smaller(length, MOST_TOGETHER) < FEW)
        return false;
    while (together > 1 && (one_line || together * rows > ROOM || together * GROUP * GROUP > length))
        together /= 2;
    /* Pieces of lines rather than of columns, as parts of lines lie apart; no more of them than workers: a line is
     * looked for in each. */
    int64_t lines = GROUP * together, workers = larger(o->workers, 1), width = rows;
    int64_t most = larger(1, length / (LEAST_GROUPS * lines));
    if (together == 1) {
        int64_t tiles = workers > 1 ? larger(1, smaller(pieces_of(SHARES * workers, outer), rows / WIDE)) : 1;
        width = pieces_of(rows, larger(tiles, pieces_of(rows, ROOM)));
        width = smaller(rows, smaller(ROOM, pieces_of(width, UNIT) * UNIT));
    }
    int64_t pieces = smaller(most, pieces_of(workers, outer * pieces_of(rows, width)));
    int64_t groups = smaller(GROUPS, pieces_of(length, pieces * lines));
    bool near = together == 1 && length <= GROUPS && length * width * c->choice_bytes <= NEAR;
    g->row = together > 1 ? 0 : near ? ONE_LINE | NEAR_LINES : ONE_LINE;
    g->slot[TOGETHER] = together;
    g->slot[PIECE] = groups * lines;
    sk_launch_lines(g, outer, rows, width, length, pieces_of(length, g->slot[PIECE]));
    return true;
}

/* --- the kernel --- */

typedef struct chooser {
    sk_lines in;
    sk_folds *s;
    const sk_fold *f;
    opt_choice of;
    ir_type type, count_type; /* of keys, of numbers of groups */
    ir_bits worst;
    k_mem key_at, group_at, line_at; /* shared, for each place: its best key, its group, the key's line in the piece */
    k_val together, size;            /* lines taken together; places */
    k_val lines, groups, rest, beyond; /* in the piece: so many together, whole groups of them, those behind, places of
                                          what is left: fewer lines than are taken together */
    k_val number, first, in_group;     /* of the group at hand: its number, first line, and how many it has; 0: GROUP */
} chooser;

static k_val is(k_builder *b, ir_op op, k_val x, k_val y)
{
    return k_let(b, op, x, y, 0);
}

static k_val key(chooser *h, k_val line)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element, out;
    sk_fold_bind(s, h->in.outer, sk_add(lw, h->in.begin, sk_mul(lw, line, h->together)));
    sk_emit(lw, 1, &h->f->element[h->of.key], &out);
    lw->element = around;
    sk_scope_end(lw, mark);
    return out;
}

static k_val number_of(chooser *h, k_val number)
{
    return k_convert(&h->s->lw->b, OP_CONVERT, h->count_type, number);
}

static void begin_place(void *env)
{
    chooser *h = env;
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), zero = k_i64(b, 0), number;
    if (h->of.last) {
        number = k_select(b, is(b, OP_GT, h->rest, zero), h->groups, sk_sub(lw, h->groups, one));
        number = k_select(b, is(b, OP_LT, h->in.place, h->beyond), sk_add(lw, h->groups, one), number);
    } else {
        number = k_select(b, is(b, OP_GT, h->groups, zero), zero, h->groups);
    }
    k_store(b, h->key_at, h->in.place, k_literal(b, h->type, h->worst));
    k_store(b, h->group_at, h->in.place, number_of(h, number));
}

/* A group's keys at one place. */
static void take_place(void *env)
{
    chooser *h = env;
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val best = k_decl(b, k_literal(b, h->type, h->worst), "best");
    bool loop = h->in_group || h->in.few;
    if (loop) {
        k_val r = k_for(b, k_i64(b, 0), h->in_group ? h->in_group : k_i64(b, GROUP), false);
        k_set(b, best, sk_better_key(b, &h->of, h->type, key(h, sk_add(lw, h->first, r)), k_get(b, best)));
        k_end(b);
    }
    for (unsigned r = 0; r < GROUP && !loop; r++) {
        k_val line = sk_add(lw, h->first, k_i64(b, r));
        k_set(b, best, sk_better_key(b, &h->of, h->type, key(h, line), k_get(b, best)));
    }
    k_val mine = k_get(b, best), before = k_load(b, h->key_at, h->in.place);
    k_val brought = sk_key_beats(b, &h->of, mine, before);
    k_val group = k_load(b, h->group_at, h->in.place);
    k_store(b, h->key_at, h->in.place, k_select(b, brought, mine, before));
    k_store(b, h->group_at, h->in.place, k_select(b, brought, number_of(h, h->number), group));
}

static k_val nowhere(chooser *h) /* what any line comes before, or after */
{
    return k_literal(&h->s->lw->b, T_I32, ir_bits_i64(T_I32, h->of.last ? -1 : INT32_MAX));
}

/* Is it this line? Of several, the last one that is looked at. */
static void look_at(chooser *h, k_val line, k_val best, k_val found)
{
    k_builder *b = &h->s->lw->b;
    k_val hit = is(b, OP_EQ, key(h, line), best), number = k_convert(b, OP_CONVERT, T_I32, line);
    k_set(b, found, k_select(b, hit, number, k_get(b, found)));
}

/* Groups tell keys that are no better than the worst from NaNs no more: all lines are searched. */
static void look_everywhere(chooser *h, k_val best, k_val found)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val unknown = is(b, OP_EQ, best, k_literal(b, h->type, h->worst));
    k_if(b, k_let(b, OP_NOT, k_all(b, k_let(b, OP_NOT, unknown, 0, 0)), 0, 0));
    k_set(b, found, k_select(b, unknown, nowhere(h), k_get(b, found)));
    k_val turn = k_for(b, k_i64(b, 0), sk_add(lw, h->lines, k_i64(b, 1)), false);
    k_val line = h->of.last ? turn : sk_sub(lw, h->lines, turn);
    k_val there = is(b, OP_OR, is(b, OP_LT, line, h->lines), is(b, OP_LT, h->in.place, h->beyond));
    k_if(b, is(b, OP_AND, unknown, there));
    look_at(h, line, best, found);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* All keys at one place: few, of lines that are in the nearest cache. The line itself is kept with the best one. */
static void take_near(void *env)
{
    chooser *h = env;
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val final = sk_sub(lw, h->in.count, k_i64(b, 1)), none = k_literal(b, T_I32, 0);
    k_val best = k_decl(b, k_literal(b, h->type, h->worst), "best");
    k_val line = k_decl(b, h->of.last ? k_convert(b, OP_CONVERT, T_I32, final) : none, "line");
    k_val turn = k_for(b, k_i64(b, 0), h->in.count, false), number = h->of.last ? sk_sub(lw, final, turn) : turn;
    k_val x = key(h, number), most = k_get(b, best), brought = sk_key_beats(b, &h->of, x, most);
    k_set(b, line, k_select(b, brought, k_convert(b, OP_CONVERT, T_I32, number), k_get(b, line)));
    k_set(b, best, sk_better_key(b, &h->of, h->type, x, most));
    k_end(b);
    if (ir_type_float(h->type))
        look_everywhere(h, k_get(b, best), line);
    k_store(b, h->line_at, h->in.place, k_get(b, line));
}

static void whole_groups(chooser *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), turn = k_for(b, zero, h->groups, false);
    h->number = h->of.last ? sk_sub(lw, sk_sub(lw, h->groups, k_i64(b, 1)), turn) : turn;
    h->first = sk_mul(lw, h->number, k_i64(b, GROUP));
    h->in_group = 0;
    sk_each_place(&h->in, zero, h->size, take_place, h);
    k_end(b);
}

/* What whole groups leave: lines as one group, and fewer than are taken together as another one. */
static void last_groups(chooser *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), turn = k_for(b, zero, k_i64(b, 2), false);
    k_val behind = is(b, OP_EQ, turn, h->of.last ? zero : one);
    k_val places = k_select(b, behind, h->beyond, k_select(b, is(b, OP_GT, h->rest, zero), h->size, zero));
    h->number = k_select(b, behind, sk_add(lw, h->groups, one), h->groups);
    h->first = k_select(b, behind, h->lines, sk_mul(lw, h->groups, k_i64(b, GROUP)));
    h->in_group = k_select(b, behind, one, h->rest);
    k_if(b, is(b, OP_GT, places, zero));
    sk_each_place(&h->in, zero, places, take_place, h);
    k_end(b);
    k_end(b);
}

/* --- the line --- */

static void search_place(void *env)
{
    chooser *h = env;
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val group = k_i64(b, GROUP), one = k_i64(b, 1), best = k_load(b, h->key_at, h->in.place);
    k_val number = k_convert(b, OP_CONVERT, T_I64, k_load(b, h->group_at, h->in.place));
    k_val behind = is(b, OP_GT, number, h->groups), found = k_decl(b, nowhere(h), "found");
    k_val first = k_select(b, behind, h->lines, sk_mul(lw, number, group));
    k_val count = k_select(b, is(b, OP_LT, number, h->groups), group, k_select(b, behind, one, h->rest));
    k_val turn = k_for(b, k_i64(b, 0), group, false);
    k_val r = h->of.last ? turn : sk_sub(lw, k_i64(b, GROUP - 1), turn);
    k_if(b, is(b, OP_LT, r, count));
    look_at(h, sk_add(lw, first, r), best, found);
    k_end(b);
    k_end(b);
    if (ir_type_float(h->type))
        look_everywhere(h, best, found);
    k_val line = k_get(b, found);
    if (!h->in.one_line) {
        k_val down = k_convert(b, OP_CONVERT, T_I32, k_let(b, OP_QUOT, h->in.place, h->in.width, 0));
        k_val all = sk_add(lw, sk_mul(lw, line, k_convert(b, OP_CONVERT, T_I32, h->together)), down);
        line = k_select(b, is(b, OP_EQ, line, nowhere(h)), line, all);
    }
    k_store(b, h->line_at, h->in.place, line);
}

/* Of the places of a column the best, and of equal ones the first; nothing but NaNs: the line that is chosen among
 * these. */
static k_val line_of_column(chooser *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val line = k_decl(b, k_load(b, h->line_at, h->in.place), "line");
    if (!h->in.one_line) {
        k_val best = k_decl(b, k_load(b, h->key_at, h->in.place), "best");
        k_val d = k_for(b, k_i64(b, 1), h->together, false);
        k_val at = sk_add(lw, sk_mul(lw, d, h->in.width), h->in.place), x = k_load(b, h->key_at, at);
        k_val l = k_load(b, h->line_at, at), y = k_get(b, best);
        k_val sooner = is(b, h->of.last ? OP_GT : OP_LT, l, k_get(b, line));
        k_val better = is(b, OP_OR, sk_key_beats(b, &h->of, x, y), is(b, OP_AND, is(b, OP_EQ, x, y), sooner));
        k_set(b, line, k_select(b, better, l, k_get(b, line)));
        k_set(b, best, k_select(b, better, x, y));
        k_end(b);
    }
    k_val final = sk_sub(lw, h->in.count, k_i64(b, 1));
    k_val none = h->of.last_nan ? k_convert(b, OP_CONVERT, T_I32, final) : k_literal(b, T_I32, 0),
          found = k_get(b, line);
    return k_convert(b, OP_CONVERT, T_I64, k_select(b, is(b, OP_EQ, found, nowhere(h)), none, found));
}

static void finish(chooser *h)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    h->in.place = k_for_all(b, h->in.width);
    uint32_t mark = sk_scope(lw);
    k_val *total = arena_array(lw->arena, k_val, h->f->n), line = line_of_column(h);
    bool one_line = h->in.one_line, indexed = h->in.indexed;
    h->in.one_line = true;
    h->in.indexed = lw->cluster->indexed;
    sk_fold_bind(s, h->in.outer, sk_add(lw, h->in.begin, line));
    sk_emit(lw, h->f->n, h->f->element, total);
    k_val result = sk_line_result(&h->in);
    sk_fold_finish(s, h->f, result, sk_add(lw, sk_mul(lw, result, h->in.pieces), h->in.part), total, 0, NULL);
    h->in.one_line = one_line;
    h->in.indexed = indexed;
    sk_scope_end(lw, mark);
    k_end(b);
}

static void open_chooser(chooser *h, const sk_fold *f)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val group = k_i64(b, GROUP);
    h->f = f;
    h->of = sk_choice_of(h->s, f);
    h->type = f->info->type[h->of.key];
    h->worst = sk_worst_key(h->type, h->of.greatest);
    h->count_type = ir_type_unsigned(ir_type_size(h->type));
    h->key_at = k_shared(b, h->type, ROOM, "key");
    h->group_at = k_shared(b, h->count_type, ROOM, "group");
    h->line_at = k_shared(b, T_I32, ROOM, "line");
    h->together = h->in.one_line ? k_i64(b, 1) : sk_min(lw, sk_slot(lw, TOGETHER, "together"), h->in.count);
    h->size = sk_mul(lw, h->together, h->in.width);
    h->lines = k_let(b, OP_QUOT, h->in.count, h->together, 0);
    h->beyond = sk_mul(lw, sk_sub(lw, h->in.count, sk_mul(lw, h->lines, h->together)), h->in.width);
    h->groups = k_let(b, OP_QUOT, h->lines, group, 0);
    h->rest = sk_sub(lw, h->lines, sk_mul(lw, h->groups, group));
}

static void choose_columns(sk_folds *s)
{
    sk_lower *lw = s->lw;
    const sk_cluster *c = lw->cluster;
    int64_t lanes = lw->options->vector_bytes / c->choice_bytes * (c->choice_bytes > 1 ? 2 : 1);
    sk_lines in = {.one_line = lw->options->row & ONE_LINE};
    lw->out->k->lanes = (uint16_t)lanes;
    k_val zero = k_i64(&lw->b, 0);
    for (uint32_t i = 0; i < s->fold.n; i++) {
        chooser *h = arena_new(lw->arena, *h);
        *h = (chooser){.s = s, .in = in};
        sk_open_lines(&h->in, s, sk_slot(lw, PIECE, "piece"));
        h->in.indexed = c->keys_indexed;
        open_chooser(h, &s->fold.at[i]);
        if (lw->options->row & NEAR_LINES) {
            sk_each_place(&h->in, zero, h->size, take_near, h);
            finish(h);
            continue;
        }
        sk_each_place(&h->in, zero, h->size, begin_place, h);
        if (h->of.last)
            last_groups(h);
        whole_groups(h);
        if (!h->of.last)
            last_groups(h);
        sk_each_place(&h->in, zero, h->size, search_place, h);
        finish(h);
    }
}

void sk_build_choose_columns(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    choose_columns(&s);
}
