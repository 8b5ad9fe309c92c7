/* Folds in order on devices whose blocks are many threads: rows of at most SK_SHORT elements, and operators whose order
 * is kept. Each thread walks a stretch of a row, as many positions as a node of the tree has, and neighbours are
 * combined in pairs. So that reads of neighbouring threads are neighbours in memory all the same, the block loads a
 * tile of all its stretches into shared memory first. */
#include "skeleton/fold/fold.h"

#include "opt/rewrite.h"

typedef struct staged_array { /* read at the element folded; has the extents of the cluster, so always inside */
    ir_id array;
    uint32_t component;
    ir_type type;
    k_mem tile;
} staged_array;

typedef struct chunks {
    sk_folds *s;
    sk_group_size size;
    int64_t chunk;
    VEC(staged_array) staged;
    k_mem base, number; /* shared, per stretch: position of its first element; elements, 0: no stretch */
    k_mem row, column, lane,
        valid;       /* private: its row, its first column; its number in the piece, stretches of the piece */
    k_mem **acc;     /* private, per fold and component */
    k_mem **waiting; /* the same: nodes that wait for their right neighbour, one for each width */
    k_val length, pieces, all, threads, first; /* see launch_chunks; number of the block's first piece */
    k_val tile_row; /* where the thread at work finds its stretch's tile; while elements are lowered */
    k_val step;     /* ... and the element in it */
} chunks;

/* --- what is staged --- */

static bool same_extents(const sk_cluster *c, const ir_array *info)
{
    if (info->rank != c->loop->rank)
        return false;
    for (unsigned d = 0; d < c->loop->rank; d++)
        if (info->shape[d] != c->loop->shape[d])
            return false;
    return true;
}

static void stage(chunks *h, const ir_node *read)
{
    sk_lower *lw = h->s->lw;
    for (uint32_t i = 0; i < h->staged.n; i++)
        if (h->staged.at[i].array == read->array && h->staged.at[i].component == read->u.literal)
            return;
    staged_array a = {read->array, (uint32_t)read->u.literal, ir_info(lw->l->ir, read->array)->type[read->u.literal],
                      0};
    a.tile = k_shared(&lw->b, a.type, h->size.lanes * (h->size.tile + 1), "tile");
    vec_push(lw->arena, &h->staged, a);
}

static bool at_own_element(const chunks *h, const ir_node *read)
{
    const l_program *l = h->s->lw->l;
    return read->n == 1 && l->ir->arg.at[read->args] == h->s->lw->at.linear && read->flags & IR_SAFE &&
           same_extents(h->s->lw->cluster, ir_info(l->ir, read->array));
}

static void find_staged(chunks *h)
{
    sk_lower *lw = h->s->lw;
    opt_ids ids = {0};
    for (uint32_t i = 0; i < h->s->fold.n && !h->s->combine; i++)
        opt_reach(lw->l->ir, lw->arena, h->s->fold.at[i].n, h->s->fold.at[i].element, &ids);
    opt_reach(lw->l->ir, lw->arena, h->s->stored.term.n, h->s->stored.term.at, &ids);
    for (uint32_t i = 0; i < ids.n && h->size.tile; i++) {
        const ir_node *n = ir_at(lw->l->ir, ids.at[i]);
        if (n->kind == IR_READ && at_own_element(h, n))
            stage(h, n);
    }
    if (!h->staged.n)
        h->size.tile = 0;
}

static k_mem place(void *env, sk_lower *lw, const ir_node *read, const k_val *index, k_val *position)
{
    chunks *h = env;
    (void)index;
    if (!at_own_element(h, read))
        return 0;
    for (uint32_t i = 0; i < h->staged.n; i++)
        if (h->staged.at[i].array == read->array && h->staged.at[i].component == read->u.literal) {
            *position = sk_add(lw, h->tile_row, h->step);
            return h->staged.at[i].tile;
        }
    return 0;
}

/* --- stretches --- */

static k_val own(chunks *h, k_mem m)
{
    return k_load(&h->s->lw->b, m, k_i64(&h->s->lw->b, 0));
}

static void set_own(chunks *h, k_mem m, k_val v)
{
    k_store(&h->s->lw->b, m, k_i64(&h->s->lw->b, 0), v);
}

/* of a stretch's nodes, each twice as wide as the one before */
static int64_t widths(const chunks *h)
{
    int64_t n = 1;
    while (h->chunk >> n)
        n++;
    return n;
}

static void declare(chunks *h)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    lw->out->k->threads = (uint32_t)h->size.lanes;
    h->base = k_shared(b, T_I64, h->size.lanes, "stretch_base");
    h->number = k_shared(b, T_I64, h->size.lanes, "stretch_size");
    h->row = k_private(b, T_I64, 1, "row");
    h->column = k_private(b, T_I64, 1, "column");
    h->lane = k_private(b, T_I64, 1, "lane");
    h->valid = k_private(b, T_I64, 1, "stretches");
    h->acc = sk_fold_memory(s, false, 1, "acc");
    if (lw->cluster->loop->ordered)
        h->waiting = sk_fold_memory(s, false, widths(h), "waiting");
    s->totals = sk_fold_memory(s, true, h->size.lanes, "sums");
}

/* Which stretch each thread has. */
static void begin_stretches(chunks *h)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), chunk = k_i64(b, h->chunk),
          size = k_i64(b, h->s->lw->cluster->loop->ordered ? SK_PIECE : SK_SHORT);
    k_val thread = k_for_all(b, k_i64(b, h->size.lanes));
    k_val mine = k_let(b, OP_QUOT, thread, h->threads, 0), lane = sk_sub(lw, thread, sk_mul(lw, mine, h->threads));
    k_val piece = sk_add(lw, h->first, mine);
    k_val row = k_let(b, OP_QUOT, piece, h->pieces, 0),
          begin = sk_mul(lw, sk_sub(lw, piece, sk_mul(lw, row, h->pieces)), size);
    k_val count = sk_min(lw, size, sk_sub(lw, h->length, begin)), skipped = sk_mul(lw, lane, chunk);
    k_val there = k_let(b, OP_AND, k_let(b, OP_LT, mine, sk_slot(lw, 4, "pieces_a_block"), 0),
                        k_let(b, OP_LT, piece, h->all, 0), 0);
    k_val number = sk_max(lw, zero, sk_min(lw, chunk, sk_sub(lw, count, skipped)));
    k_val column = sk_add(lw, begin, skipped);
    k_store(b, h->base, thread, sk_add(lw, sk_mul(lw, row, h->length), column));
    k_store(b, h->number, thread, k_select(b, there, number, zero));
    set_own(h, h->row, row);
    set_own(h, h->column, column);
    set_own(h, h->lane, lane);
    k_val stretches = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, h->chunk - 1)), chunk, 0);
    set_own(h, h->valid, k_select(b, there, stretches, zero));
    sk_fold_keep(h->s, h->acc, k_i64(&h->s->lw->b, 0), sk_fold_accumulators(s));
    k_end(b);
}

/* Elements [from, from + tile) of every stretch, neighbours by neighbouring threads. */
static void load_tiles(chunks *h, k_val from)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    int64_t tile = h->size.tile;
    k_val thread = k_for_all(b, k_i64(b, h->size.lanes * tile));
    k_val stretch = k_let(b, OP_QUOT, thread, k_i64(b, tile), 0), step = k_let(b, OP_REM, thread, k_i64(b, tile), 0);
    k_val at = sk_add(lw, from, step);
    k_if(b, k_let(b, OP_LT, at, k_load(b, h->number, stretch), 0));
    k_val position = sk_add(lw, k_load(b, h->base, stretch), at);
    k_val to =
        sk_add(lw, sk_mul(lw, stretch, k_i64(b, tile + 1)), step); /* rows of odd length fall into different banks */
    for (uint32_t i = 0; i < h->staged.n; i++) {
        const staged_array *a = &h->staged.at[i];
        k_store(b, a->tile, to, k_load(b, sk_array_memory(lw, a->array, a->component, false), position));
    }
    k_end(b);
    k_end(b);
}

static k_val is_short(const chunks *h)
{
    k_builder *b = &h->s->lw->b;
    return k_let(b, OP_LE, h->length, k_i64(b, h->s->combine ? -1 : SK_SHORT), 0);
}

/* acc = the node that waits at `at` (+) acc */
static void combine_waiting(chunks *h, k_val at, k_val *const *acc)
{
    sk_fold_combine(h->s, sk_fold_kept(h->s, h->waiting, at), acc, acc);
}

/* Element `at` of the stretch is in `acc`. As in a binary counter it carries as far as nodes are as wide as what it has
 * become; short rows have one node, which takes all elements from left to right. */
static void count_up(chunks *h, k_val at, k_val *const *acc)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), brief = is_short(h);
    k_val carries = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, sk_add(lw, at, one), 0, 0));
    k_val all = k_select(b, brief, sk_min(lw, at, one), carries);
    combine_waiting(h, k_for(b, zero, all, false), acc);
    k_end(b);
    sk_fold_keep(h->s, h->waiting, k_select(b, brief, zero, carries), acc);
}

/* What still waits becomes the stretch's total, the narrowest node first. */
static void gather(chunks *h, k_val thread)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), number = k_load(b, h->number, thread);
    number = k_select(b, is_short(h), sk_min(lw, number, one), number);
    lw->element = own(h, h->row);
    k_val **acc = sk_fold_accumulators(s), started = k_decl(b, k_literal(b, T_BOOL, 0), "started");
    k_val at = k_for(b, k_i64(b, 0), k_i64(b, widths(h)), false);
    k_val bit = k_let(b, OP_BIT_AND, number, k_let(b, OP_SHL, one, at, 0), 0);
    k_if(b, k_let(b, OP_NE, bit, k_i64(b, 0), 0));
    k_if(b, k_get(b, started));
    combine_waiting(h, at, acc);
    k_else(b);
    sk_fold_take_kept(s, h->waiting, at, acc);
    k_set(b, started, k_literal(b, T_BOOL, 1));
    k_end(b);
    k_end(b);
    k_end(b);
    sk_fold_keep(h->s, h->acc, k_i64(&h->s->lw->b, 0), acc);
}

/* Every thread folds elements [from, from + count) of its stretch. */
static void walk(chunks *h, k_val from, k_val count)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val thread = k_for_all(b, k_i64(b, h->size.lanes));
    bool ordered = lw->cluster->loop->ordered;
    k_val **acc = ordered ? sk_fold_accumulators(s) : sk_fold_kept(s, h->acc, k_i64(b, 0));
    k_val row = own(h, h->row), column = own(h, h->column), number = k_load(b, h->number, thread);
    s->row_base = sk_mul(lw, row, h->length);
    lw->element = row;
    h->tile_row = sk_mul(lw, thread, k_i64(b, h->size.tile + 1));
    h->step = k_for(b, k_i64(b, 0), count, false);
    k_val at = sk_add(lw, from, h->step);
    k_if(b, k_let(b, OP_LT, at, number, 0));
    sk_fold_element(s, row, sk_add(lw, column, at), k_let(b, OP_GT, at, k_i64(b, 0), 0), acc);
    if (ordered)
        count_up(h, at, acc);
    k_end(b);
    k_end(b);
    if (!ordered)
        sk_fold_keep(h->s, h->acc, k_i64(&h->s->lw->b, 0), acc);
    k_end(b);
}

static void walk_stretches(chunks *h)
{
    sk_lower *lw = h->s->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), most = sk_min(lw, k_i64(b, h->chunk), h->length);
    if (!h->size.tile) {
        walk(h, zero, most);
        return;
    }
    k_val tile = k_i64(b, h->size.tile);
    k_val tiles = k_let(b, OP_QUOT, sk_add(lw, most, k_i64(b, h->size.tile - 1)), tile, 0);
    k_val number = k_for(b, zero, tiles, false);
    k_val from = sk_mul(lw, number, tile);
    load_tiles(h, from);
    lw->place = place;
    lw->place_env = h;
    walk(h, from, sk_min(lw, tile, sk_sub(lw, most, from)));
    lw->place = NULL;
    k_end(b);
}

/* --- stretches become pieces --- */

static void share_sums(chunks *h)
{
    sk_folds *s = h->s;
    k_val thread = k_for_all(&s->lw->b, k_i64(&s->lw->b, h->size.lanes));
    if (s->lw->cluster->loop->ordered)
        gather(h, thread);
    sk_fold_keep(s, s->totals, thread, sk_fold_kept(s, h->acc, k_i64(&s->lw->b, 0)));
    k_end(&s->lw->b);
}

/* Neighbours in pairs, pairs of pairs, ...: left always before right. */
static void pair_up(chunks *h, int64_t distance)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_if(b, k_let(b, OP_GT, h->threads, k_i64(b, distance), 0));
    k_val thread = k_for_all(b, k_i64(b, h->size.lanes));
    k_val lane = own(h, h->lane), partner = sk_add(lw, lane, k_i64(b, distance));
    k_val left_of_pair = k_let(b, OP_EQ, k_let(b, OP_BIT_AND, lane, k_i64(b, 2 * distance - 1), 0), k_i64(b, 0), 0);
    lw->element = own(h, h->row);
    k_if(b, k_let(b, OP_AND, left_of_pair, k_let(b, OP_LT, partner, own(h, h->valid), 0), 0));
    k_val **left = sk_fold_kept(s, s->totals, thread);
    sk_fold_combine(s, left, sk_fold_kept(s, s->totals, sk_add(lw, thread, k_i64(b, distance))), left);
    sk_fold_keep(s, s->totals, thread, left);
    k_end(b);
    k_end(b);
    k_end(b);
}

static void finish_pieces(chunks *h)
{
    sk_folds *s = h->s;
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    k_val empty = k_let(b, OP_EQ, h->length, k_i64(b, 0), 0);
    k_val mine = k_for_all(b, sk_min(lw, sk_slot(lw, 4, "pieces_a_block"), sk_sub(lw, h->all, h->first)));
    k_val piece = sk_add(lw, h->first, mine), row = k_let(b, OP_QUOT, piece, h->pieces, 0);
    lw->element = row;
    sk_fold_finish_all(s, row, piece, sk_fold_kept(s, s->totals, sk_mul(lw, mine, h->threads)), empty);
    k_end(b);
}

static void chunks_code(sk_folds *s, bool stages)
{
    sk_lower *lw = s->lw;
    k_builder *b = &lw->b;
    chunks h = {.s = s, .size = sk_group_chunks(lw->cluster, lw->options, s->combine)};
    h.chunk = sk_group_chunk(lw->cluster, h.size);
    h.length = sk_slot(lw, 0, "row_length");
    h.pieces = sk_slot(lw, 1, "pieces_a_row");
    h.all = sk_slot(lw, 2, "pieces");
    h.threads = sk_slot(lw, 3, "threads_a_piece");
    h.first = sk_mul(lw, k_piece(b), sk_slot(lw, 4, "pieces_a_block"));
    if (!stages)
        h.size.tile = 0;
    s->row_length = h.length;
    s->by_position = lw->cluster->loop->ordered;
    if (stages)
        lw->out->k->group = (uint16_t)h.size.lanes;
    find_staged(&h);
    declare(&h);
    begin_stretches(&h);
    walk_stretches(&h);
    share_sums(&h);
    for (int64_t distance = 1; distance < h.size.lanes && lw->cluster->loop->ordered; distance *= 2)
        pair_up(&h, distance);
    finish_pieces(&h);
}

void sk_group_walk(sk_folds *s)
{
    const k_val base = s->row_base;
    chunks_code(s, false);
    s->row_base = base;
    s->by_position = false;
}

void sk_build_group_chunks(sk_lower *lw)
{
    sk_folds s = {.lw = lw, .combine = lw->pass == SK_PASS_COMBINE};
    sk_fold_begin(&s);
    chunks_code(&s, true);
}
