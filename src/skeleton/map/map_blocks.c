/* Loops whose innermost dimensions are small and known, and whose reads permute the elements of such blocks: patches of
 * images, small matrices that are transposed. A gang has all elements of one block or several. Each lane's indices in
 * the block are then known when the kernel is compiled, and what the gang reads lies in a few stretches of memory,
 * which are the same for all gangs but for where they begin: emitters load these stretches and move their elements to
 * the lanes. Otherwise each lane would divide its position, and read its element alone. */
#include "skeleton/map/map.h"

#include "loop/costs.h"
#include "skeleton/element/interleave.h"
#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

enum {
    MOST_ELEMENTS = SK_MOST_OF_BLOCK, /* and of a gang */
    FEWEST_LANES = 16,
    MOST_FLOPS = 16,
    MOST_FLOPS_ALONE = 100, /* where a gang has one block */
    MOST_TERMS = 100,
    REGISTERS = 4 /* that a value of a gang takes, if a block does not take more */
};

/* --- which loops --- */

/* At most how many values a term has in a gang. */
static int64_t values_of(const sk_lanes *l, const l_cluster *loop, ir_id term, int64_t together)
{
    const unsigned mentions = sk_lanes_term_of(l, term).mentions;
    int64_t n = mentions & 1 ? together : 1, extent;
    for (unsigned d = l->column + 1; d < loop->rank; d++)
        if (mentions >> (d - l->column) & 1 && ir_extent_constant(l->p, loop->shape[d], &extent))
            n *= extent;
    return n;
}

/* Stretches of memory that a gang reads: one for all lanes whose indices only differ by numbers that are known. */
static int64_t stretches_of(const sk_lanes *l, const l_cluster *loop, const ir_node *read, int64_t together)
{
    const ir_id *index = l->p->arg.at + read->args;
    int64_t n = 1, extent;
    bool known = true; /* how far apart the elements are that differ in this component by one */
    for (uint32_t k = read->n; k-- > 0;) {
        n *= known ? 1 : values_of(l, loop, index[k], together);
        known &= (read->flags & IR_LINEAR) || ir_extent_constant(l->p, ir_info(l->p, read->array)->shape[k], &extent);
    }
    return n;
}

/* Does the last index of some read depend on which element of its block it is for? Else elements of lanes that have a
 * block each lie in rows, which need no permutation before they are stored. */
static bool reads_in_blocks(const sk_lanes *l)
{
    bool found = false;
    for (uint32_t i = 0; i < l->ids.n; i++) {
        const ir_node *n = ir_at(l->p, l->ids.at[i]);
        found |= n->kind == IR_READ && n->n && sk_lanes_term_of(l, l->p->arg.at[n->args + n->n - 1]).mentions > 1;
    }
    return found;
}

/* Where the index in its block does not matter to an element but by its position: does it read there? */
static bool reads_positions(const sk_lanes *l)
{
    for (uint32_t i = 0; i < l->ids.n; i++)
        if (ir_at(l->p, l->ids.at[i])->kind == IR_READ && ir_at(l->p, l->ids.at[i])->flags & IR_LINEAR)
            return true;
    return false;
}

/* Do all reads stay in the row of the element that they are for? */
static bool reads_own_rows(const sk_lanes *l)
{
    bool own = true;
    for (uint32_t i = 0; i < l->ids.n; i++) {
        const ir_node *n = ir_at(l->p, l->ids.at[i]);
        for (unsigned k = 0; n->kind == IR_READ && k + 1u < n->n; k++)
            own &= n->n == l->at->rank && l->p->arg.at[n->args + k] == l->at->at[k];
    }
    return own;
}

/* Are stretches long enough to be loaded as a whole? */
static bool reads_stretches(const sk_lanes *l, const l_cluster *loop, int64_t lanes, int64_t together)
{
    enum { LEAST = 4 /* lanes */ };
    for (uint32_t i = 0; i < l->ids.n; i++) {
        const ir_node *n = ir_at(l->p, l->ids.at[i]);
        if (n->kind == IR_READ && stretches_of(l, loop, n, together) * LEAST > lanes)
            return false;
    }
    return true;
}

/* Blocks of a gang: as many as leave the fewest lanes of a power of two without an element. */
static int64_t blocks_together(int64_t elements, int64_t most)
{
    int64_t best = 1, best_lanes = 1;
    for (int64_t n = 1; n == 1 || n * elements <= most; n++) {
        int64_t in_gang = 1;
        while (in_gang < n * elements)
            in_gang *= 2;
        if (n == 1 || n * best_lanes >= best * in_gang) {
            best = n;
            best_lanes = in_gang;
        }
    }
    return best;
}

/* What takes long is not worth gangs that overlap at the ends of rows, or that are not full. What is known of lanes is
 * known when the kernel is compiled, or shared by all of them; loops are short. */
static double flops_of_lanes(const sk_lanes *l)
{
    double flops = 0;
    for (uint32_t i = 0; i < l->ids.n; i++) {
        const ir_node *n = ir_at(l->p, l->ids.at[i]);
        const double wide = ir_type_size((ir_type)n->type) == 8 ? COST_WIDE : 1;
        if (n->kind == IR_COND || n->kind == IR_CALL)
            flops += n->kind == IR_CALL ? IR_COST_MATH : IR_COST_SIMPLE;
        else if (n->kind == IR_OP && sk_lanes_term_of(l, l->ids.at[i]).kind == SK_LANES_UNKNOWN)
            flops += wide * ir_op_cost((ir_op)n->op);
    }
    return flops;
}

/* The innermost dimensions that may be a block, whose indices matter by themselves: how many. */
static unsigned digits_of_blocks(const sk_lower *lw, const sk_cluster *c, int64_t *elements)
{
    unsigned digits = 0;
    for (*elements = 1; digits + 1 < c->loop->rank; digits++) {
        const unsigned d = c->loop->rank - 1 - digits;
        int64_t extent;
        if (c->run[d] != 1 || (digits && !c->used[d]) || !ir_extent_constant(lw->l->ir, c->loop->shape[d], &extent) ||
            extent < 2 || extent > MOST_ELEMENTS / *elements)
            break;
        *elements *= extent;
    }
    return digits;
}

/* Blocks of so many elements, of several of which a gang may have all, or of one alone. */
static bool find_blocks(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at, unsigned digits,
                        int64_t elements, bool alone)
{
    sk_lanes l = {.p = lw->l->ir, .at = at, .column = c->loop->rank - digits - 1, .alone = alone};
    sk_find_lanes_terms(&l, lw, out);
    if (l.ids.n > MOST_TERMS || flops_of_lanes(&l) > (alone ? MOST_FLOPS_ALONE : MOST_FLOPS))
        return false;
    const int64_t most = REGISTERS * SK_LINE / sk_widest(lw->l, &l.ids, out->term.n, out->term.at);
    int64_t together = alone ? 1 : blocks_together(elements, smaller(most, MOST_ELEMENTS));
    if (!reads_stretches(&l, c->loop, together * elements, together))
        together = 1;
    const bool apart = c->used[c->loop->rank - 1] ? reads_in_blocks(&l) : reads_positions(&l);
    if (!sk_lanes_know_reads(&l) || !apart || !reads_stretches(&l, c->loop, together * elements, together) ||
        together * elements < FEWEST_LANES)
        return false;
    const int64_t lanes = together * elements;
    if (digits == 1 && c->of_lane && (lanes & (lanes - 1)) && reads_own_rows(&l))
        return true; /* a lane has a row: that is as quick, and no lane is without an element */
    c->block_digits = (uint8_t)digits;
    c->block_elements = (uint8_t)elements;
    c->blocks_together = (uint8_t)together;
    return true;
}

static uint64_t names_in(const ir_program *p, const opt_ids *ids)
{
    uint64_t names = 0;
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(p, ids->at[i]);
        names |= n->kind == IR_DIM && n->u.literal < 64 ? (uint64_t)1 << n->u.literal : 0;
    }
    return names;
}

/* Extents that only a call knows: would rows be blocks that a gang has each of, if they were numbers, and does it
 * matter? It does where lanes would divide an index, or choose one. */
static uint64_t names_of_blocks(const sk_lower *lw, const sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    const unsigned last = c->loop->rank - 1u;
    sk_lanes l = {.p = lw->l->ir, .at = at, .column = last - 1, .alone = true, .told = true};
    opt_ids of_extent = {0};
    int64_t extent;
    bool bent = false;
    if (c->run[last] != 1 || !c->used[last] || ir_extent_constant(l.p, c->loop->shape[last], &extent))
        return 0;
    sk_find_lanes_terms(&l, lw, out);
    for (uint32_t i = 0; i < l.ids.n; i++) {
        const ir_node *n = ir_at(l.p, l.ids.at[i]);
        bent |= n->kind == IR_READ && n->n && sk_lanes_term_of(&l, l.p->arg.at[n->args + n->n - 1]).bent;
    }
    if (!bent || l.ids.n > MOST_TERMS || flops_of_lanes(&l) > MOST_FLOPS_ALONE || !sk_lanes_know_reads(&l))
        return 0;
    opt_reach(lw->l->ir, lw->arena, 1, &c->loop->shape[last], &of_extent);
    return names_in(l.p, &l.ids) | names_in(l.p, &of_extent);
}

void sk_find_blocks(const sk_lower *lw, sk_cluster *c, const sk_outputs *out, const sk_index *at)
{
    int64_t elements;
    const unsigned digits = digits_of_blocks(lw, c, &elements);
    c->block_names = names_of_blocks(lw, c, out, at);
    if (digits && !find_blocks(lw, c, out, at, digits, elements, false))
        find_blocks(lw, c, out, at, digits, elements, true);
}

uint64_t sk_names_of_blocks(const sk_program *p)
{
    uint64_t names = 0;
    for (uint32_t i = 0; i < p->l->cluster.n; i++)
        names |= p->cluster[i].block_names;
    return names;
}

/* --- the launch --- */

/* The dimension where the run begins that blocks are neighbours in. */
static unsigned column_of(const sk_cluster *c)
{
    unsigned d = c->loop->rank - c->block_digits - 1u;
    while (!c->run[d])
        d--;
    return d;
}

bool sk_launch_map_blocks(const sk_call *x, sk_geometry *g)
{
    enum { LEAST_VECTOR = 32 };
    const sk_cluster *c = x->c;
    if (!c->block_digits || x->o->group || x->o->vector_bytes < LEAST_VECTOR || sk_lane_streams(x))
        return false;
    int64_t rows = 1, blocks = 1;
    for (unsigned d = 0; d + c->block_digits < c->loop->rank; d++)
        *(d < column_of(c) ? &rows : &blocks) *= x->extent[d];
    if (!rows || blocks < c->blocks_together)
        return false;
    const int64_t of_piece = larger(1, sk_piece_elements(x, x->rows * x->columns) / c->block_elements);
    const int64_t parts = larger(1, smaller(pieces_of(blocks, of_piece), blocks / c->blocks_together));
    const int64_t rows_piece = larger(1, of_piece / blocks);
    g->pieces = pieces_of(rows, rows_piece) * parts;
    g->slot[0] = rows_piece;
    g->slot[1] = parts;
    g->slot[2] = rows;
    g->slot[3] = blocks;
    return true;
}

/* --- the kernel --- */

/* Block number `part` of parts of about the same size. */
static k_val part_begin(sk_lower *lw, k_val part, k_val blocks, k_val parts)
{
    return k_let(&lw->b, OP_QUOT, sk_mul(lw, part, blocks), parts, 0);
}

static void bind_digits(sk_lower *lw, k_val in_block)
{
    const sk_cluster *c = lw->cluster;
    k_builder *b = &lw->b;
    for (unsigned i = 1; i <= c->block_digits; i++) {
        const unsigned d = c->loop->rank - i;
        int64_t extent;
        ir_extent_constant(lw->l->ir, c->loop->shape[d], &extent);
        const bool outermost = i == c->block_digits;
        sk_bind_run(lw, d, outermost ? in_block : k_let(b, OP_REM, in_block, k_i64(b, extent), 0));
        in_block = outermost ? in_block : k_let(b, OP_QUOT, in_block, k_i64(b, extent), 0);
    }
}

/* The gang that begins at block number `first` of a row. */
static void store_gang(sk_lower *lw, const sk_outputs *out, k_val row, k_val first)
{
    const sk_cluster *c = lw->cluster;
    k_builder *b = &lw->b;
    const uint32_t mark = sk_scope(lw);
    const k_val elements = k_i64(b, c->block_elements), around = lw->element;
    const k_val begin = sk_mul(lw, sk_add(lw, sk_mul(lw, row, sk_slot(lw, 3, "blocks")), first), elements);
    const int64_t count = (int64_t)c->block_elements * c->blocks_together;
    k_val lane = count == lw->out->k->lanes ? k_for_whole(b, k_i64(b, count)) : k_for_all(b, k_i64(b, count));
    const k_val position = lw->element = sk_add(lw, begin, lane);
    k_val block = first;
    if (c->blocks_together > 1) {
        block = sk_add(lw, first, k_let(b, OP_QUOT, lane, elements, 0));
        lane = k_let(b, OP_REM, lane, elements, 0);
    }
    sk_bind_run(lw, column_of(c), block);
    bind_digits(lw, lane);
    sk_bind(lw, lw->at.linear, position);
    sk_store_element(lw, out, position);
    k_end(b);
    lw->element = around;
    sk_scope_end(lw, mark);
}

/* slots: 0 rows a piece, 1 parts of a row, 2 rows, 3 blocks a row */
void sk_build_map_blocks(sk_lower *lw)
{
    const sk_cluster *c = lw->cluster;
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    sk_open_space(lw);
    if (!c->block_digits) {
        lw->why.text = "these elements do not lie in blocks";
        return;
    }
    k_builder *b = &lw->b;
    kernel *k = lw->out->k;
    for (k->lanes = 1; k->lanes < c->block_elements * c->blocks_together;)
        k->lanes = (uint16_t)(2 * k->lanes);
    for (k_mem m = 1; m < k->mem.n && c->blocks_together > 1; m++)
        k->mem.at[m].once = false; /* a row's last gangs overlap */
    const k_val rows_piece = sk_slot(lw, 0, "rows_piece"), parts = sk_slot(lw, 1, "parts"),
                rows = sk_slot(lw, 2, "rows"), blocks = sk_slot(lw, 3, "blocks");
    k_val part = k_piece(b), one = k_i64(b, 1), together = k_i64(b, c->blocks_together);
    const k_val group = k_let(b, OP_QUOT, part, parts, 0);
    part = sk_sub(lw, part, sk_mul(lw, group, parts));
    const k_val left = part_begin(lw, part, blocks, parts);
    const k_val count = sk_sub(lw, part_begin(lw, sk_add(lw, part, one), blocks, parts), left);
    const k_val first = sk_mul(lw, group, rows_piece), end = sk_min(lw, sk_add(lw, first, rows_piece), rows);
    const k_val gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, c->blocks_together - 1)), together, 0);
    sk_odometer count_up = {0};
    sk_begin_odometer(lw, &count_up, 0, column_of(c), first);
    const k_val row = k_for(b, first, end, false);
    if (count_up.n)
        sk_bind_odometer(lw, &count_up);
    else
        sk_bind_runs(lw, 0, column_of(c), row);
    const k_val gang = k_for(b, k_i64(b, 0), gangs, false);
    const k_val in_part = sk_min(lw, sk_mul(lw, gang, together), sk_sub(lw, count, together));
    store_gang(lw, &out, row, sk_add(lw, left, in_part));
    k_end(b);
    sk_move_odometer(lw, &count_up);
    k_end(b);
}
