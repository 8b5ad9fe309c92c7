#include "loop/rows.h"

#include "loop/costs.h"

#include <stdlib.h>

/* --- once a row --- */

/* Whole elements of one index, no neighbours, no carry. */
static bool is_element(const ir_program *p, const l_nodes *nodes, ir_id id)
{
    switch (ir_at(p, id)->kind) {
    case IR_MAP:
    case IR_GENERATE:
    case IR_BACKPERMUTE:
    case IR_RESHAPE:
        return l_at(nodes, id)->anchor && !l_at(nodes, id)->stencil && !l_goes_along(p, id);
    default:
        return false;
    }
}

/* The fold whose results, or what is made of them, the operation reads at its own index; if possible one with a reader
 * in its rows. */
static ir_id fold_before(const ir_program *p, const l_nodes *nodes, const ir_id *outer, const bool *read, ir_id id)
{
    const l_node *n = l_at(nodes, id);
    ir_id found = 0;
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array, fold = ir_at(p, from)->kind == IR_FOLD ? from : outer[from];
        const ir_array *info = ir_info(p, from);
        if (n->dep.at[i].access == L_SAME && info->rank && fold && l_same_shape(info, ir_info(p, id)) &&
            (!found || (read[fold] && !read[found])))
            found = fold;
    }
    return found;
}

/* Per fold: elements of its rows read its result, or what is made of it. */
static void note_readers(const ir_program *p, const l_nodes *nodes, const ir_id *outer, bool *read)
{
    for (ir_id id = 1; id < nodes->all; id++) {
        if (!ir_is_array(p, id) || !l_at(nodes, id)->anchor)
            continue;
        const l_node *n = l_at(nodes, id);
        for (uint32_t i = 0; i < n->dep.n; i++) {
            ir_id from = n->dep.at[i].array, fold = ir_at(p, from)->kind == IR_FOLD ? from : outer[from];
            if (n->dep.at[i].access == L_OUTER && fold && l_same_shape(l_rate_of(p, fold), l_rate_of(p, id)))
                read[fold] = true;
        }
    }
}

/* Does the fold read all its elements at its own index? */
static bool reads_in_order(const l_node *n)
{
    bool same = true;
    for (uint32_t i = 0; i < n->dep.n; i++)
        same &= n->dep.at[i].access == L_SAME;
    return same;
}

/* Rows so short that what is made of their results is a good part of the work, and of the memory that is touched: one
 * loop has both, also where nothing else of the rows needs it. Of more than two dimensions only if elements are read by
 * their position alone: a loop over rows knows no other index of theirs without divisions. */
static bool has_short_rows(const ir_program *p, const l_nodes *nodes, ir_id fold)
{
    enum { SHORT = 16 };
    const ir_array *rate = l_rate_of(p, fold);
    int64_t extent;
    return rate->rank >= 2 && (rate->rank == 2 || reads_in_order(l_at(nodes, fold))) &&
           ir_extent_constant(p, rate->shape[rate->rank - 1], &extent) && extent > 0 && extent <= SHORT;
}

ir_id *l_rows_outer(ir_program *p, const l_options *options, const l_nodes *nodes)
{
    ir_id *outer = arena_array(p->arena, *outer, nodes->all);
    if (!options->fuse || !options->rows || options->one_sweep)
        return outer;
    bool *read = arena_alloc(p->arena, nodes->all);
    note_readers(p, nodes, outer, read);
    for (ir_id id = 1; id < nodes->all; id++)
        if (ir_is_array(p, id) && is_element(p, nodes, id))
            outer[id] = fold_before(p, nodes, outer, read, id);
    note_readers(p, nodes, outer, read);
    for (ir_id id = 1; id < nodes->all; id++)
        if (outer[id] && !read[outer[id]] && !has_short_rows(p, nodes, outer[id]))
            outer[id] = 0;
    arena_release(p->arena, read, nodes->all);
    return outer;
}

bool l_rows_needed(const ir_program *p, const l_nodes *nodes, const ir_id *outer, uint32_t n, const ir_id *anchor,
                   uint32_t *slot)
{
    bool needed = false;
    for (uint32_t i = 0; i < n; i++)
        slot[anchor[i]] = i + 1;
    for (uint32_t i = 0; i < n; i++) {
        ir_kind kind = (ir_kind)ir_at(p, anchor[i])->kind;
        const l_node *node = l_at(nodes, anchor[i]);
        needed |= kind == IR_SCAN || kind == IR_PACK;
        needed |= outer[anchor[i]] && slot[outer[anchor[i]]] && has_short_rows(p, nodes, outer[anchor[i]]);
        for (uint32_t d = 0; d < node->dep.n; d++)
            needed |= node->dep.at[d].access == L_OUTER && slot[node->dep.at[d].array];
    }
    for (uint32_t i = 0; i < n; i++)
        slot[anchor[i]] = 0;
    return needed;
}

/* --- sweeps --- */

enum { NEVER = UINT8_MAX };

/* How often what has come to wait may let more wait. */
enum { MOST_ROUNDS = 4 };

typedef struct sweeps {
    const ir_program *p;
    const l_nodes *nodes;
    l_cluster *c;
    const uint32_t *slot; /* per node: 1 + its place in the loop */
    bool *read;           /* per operation: another one of the loop reads it */
    uint8_t *first;       /* per operation: the first sweep that reads it, or NEVER */
    uint8_t *last;        /* and the last */
    bool *behind;         /* per operation: it needs what a scan of its own sweep has come to, or is one */
} sweeps;

static bool is_fold(const l_op *op)
{
    return op->kind == L_FOLD || op->kind == L_FOLD_SEG;
}

/* The operation of the loop that a dependence comes from; NULL: it is in memory. */
static l_op *source(const sweeps *s, const l_dep *d)
{
    uint32_t at = s->slot[d->array];
    return at ? &s->c->op.at[at - 1] : NULL;
}

static void as_early_as_possible(sweeps *s, l_op *op)
{
    const l_node *n = l_at(s->nodes, op->term);
    for (uint32_t i = 0; i < n->dep.n; i++) {
        const l_op *from = source(s, &n->dep.at[i]);
        if (!from)
            continue;
        unsigned sweep = from->sweep + (is_fold(from) ? 1u : 0u);
        op->sweep = sweep > op->sweep ? (uint8_t)sweep : op->sweep;
        s->read[from - s->c->op.at] = true;
    }
    bool *behind = &s->behind[op - s->c->op.at];
    for (uint32_t i = 0; i < n->dep.n; i++) {
        const l_op *from = source(s, &n->dep.at[i]);
        *behind |= from && !is_fold(from) && from->sweep == op->sweep && s->behind[from - s->c->op.at];
    }
    if (op->kind == L_SCAN && *behind && s->c->class == L_CLASS_SEGMENT)
        op->sweep++;
    *behind |= op->kind == L_SCAN;
}

static void forget_readers(const sweeps *s)
{
    memset(s->first, NEVER, s->c->op.n);
    memset(s->last, 0, s->c->op.n);
}

/* notes when the operands of an operation are read */
static void note_operands(const sweeps *s, const l_op *op, uint8_t *first, uint8_t *last)
{
    const l_node *n = l_at(s->nodes, op->term);
    for (uint32_t i = 0; i < n->dep.n; i++) {
        const l_op *from = source(s, &n->dep.at[i]);
        if (!from)
            continue;
        uint8_t *f = &first[from - s->c->op.at], *l = &last[from - s->c->op.at];
        *f = op->sweep < *f ? op->sweep : *f;
        *l = op->sweep > *l ? op->sweep : *l;
    }
}

/* Elements and scans wait for the first that reads them: then they are passed in registers. `all`: readers that nobody
 * reads count, too. */
static void wait_for_readers(const sweeps *s, bool all)
{
    forget_readers(s);
    for (uint32_t i = s->c->op.n; i-- > 0;) {
        l_op *op = &s->c->op.at[i];
        bool stays = op->kind == L_SCAN && s->c->class == L_CLASS_SEGMENT;
        if (!is_fold(op) && !op->outer && !stays && s->first[i] != NEVER)
            op->sweep = s->first[i];
        if (all || s->read[i])
            note_operands(s, op, s->first, s->last);
    }
}

/* What no operation of the loop reads, as a fold for a result, may wait until its operands are computed for others: if
 * nobody who is read needs them before. True if some do. */
static bool wait_for_operands(const sweeps *s)
{
    bool moved = false;
    forget_readers(s);
    uint8_t *ignored = arena_alloc(s->p->arena, s->c->op.n);
    for (uint32_t i = 0; i < s->c->op.n; i++)
        note_operands(s, &s->c->op.at[i], s->read[i] ? s->first : ignored, s->last);
    for (uint32_t i = 0; i < s->c->op.n; i++) {
        l_op *op = &s->c->op.at[i];
        const l_node *n = l_at(s->nodes, op->term);
        uint8_t sweep = op->sweep;
        bool free = !s->read[i] && !op->outer;
        for (uint32_t d = 0; d < n->dep.n && free; d++) {
            const l_op *from = source(s, &n->dep.at[d]);
            if (!from || from->outer || is_fold(from))
                continue;
            uint8_t last = s->last[from - s->c->op.at];
            free = s->first[from - s->c->op.at] >= last;
            sweep = last > sweep ? last : sweep;
        }
        moved |= free && sweep > op->sweep;
        op->sweep = free ? sweep : op->sweep;
    }
    arena_release(s->p->arena, ignored, s->c->op.n);
    return moved;
}

static int by_sweep(const void *a, const void *b)
{
    const l_op *x = a, *y = b;
    if (x->sweep != y->sweep)
        return x->sweep < y->sweep ? -1 : 1;
    if (x->outer != y->outer)
        return x->outer ? -1 : 1;
    return (x->term > y->term) - (x->term < y->term);
}

void l_rows_order(ir_program *p, const l_nodes *nodes, l_cluster *c, uint32_t *slot)
{
    const size_t bytes = 2 * (size_t)c->op.n;
    uint8_t *memory = arena_alloc(p->arena, bytes);
    sweeps s = {.p = p, .nodes = nodes, .c = c, .slot = slot, .first = memory, .last = memory + c->op.n};
    s.read = arena_alloc(p->arena, c->op.n);
    s.behind = arena_alloc(p->arena, c->op.n);
    for (uint32_t i = 0; i < c->op.n; i++)
        slot[c->op.at[i].term] = i + 1;
    for (uint32_t i = 0; i < c->op.n; i++)
        as_early_as_possible(&s, &c->op.at[i]);
    wait_for_readers(&s, false);
    bool moved = true;
    for (unsigned round = 0; moved && round < MOST_ROUNDS; round++) {
        moved = wait_for_operands(&s);
        wait_for_readers(&s, true);
    }
    for (uint32_t i = 0; i < c->op.n; i++) {
        const l_op *op = &c->op.at[i];
        slot[op->term] = 0;
        if (!op->outer && op->sweep >= c->sweeps)
            c->sweeps = (uint8_t)(op->sweep + 1);
    }
    arena_release(p->arena, s.behind, c->op.n);
    arena_release(p->arena, s.read, c->op.n);
    arena_release(p->arena, memory, bytes);
    qsort(c->op.at, c->op.n, sizeof(l_op), by_sweep);
}

/* --- between sweeps --- */

/* Bytes of a row that is surely in cache when the next sweep begins. */
enum { SHORT_ROW = 64 << 10 };

/* Where a row is when the next sweep reads it. */
static cost_level row_level(const ir_program *p, const l_options *options, const l_cluster *c, const l_node *n)
{
    int64_t extent;
    bool known = ir_extent_constant(p, c->shape[c->rank - 1], &extent);
    return options->large && known && (double)extent * n->bytes > SHORT_ROW ? LEVEL_MEMORY : LEVEL_CACHES;
}

/* Do later sweeps, `times` of them, compute an element again, or read back what its own sweep stored? To compute it
 * again takes its operations and reads its operands, which the cache still has if the row is short. To read it back
 * takes the read, and, if nobody else wants it in memory, first the write: into an array of all rows, so that on the
 * way to memory it costs what writes cost there, however short the row. */
static bool computed_again(const ir_program *p, const l_options *options, const l_cluster *c, const l_node *n, ir_id id,
                           bool stored, unsigned times)
{
    const ir_array *info = ir_info(p, id);
    double own = 0;
    for (unsigned k = 0; k < info->components; k++)
        own += (double)ir_type_size(info->type[k]);
    double read = cost_table[row_level(p, options, c, n)].read;
    const cost_row *memory = &cost_table[options->large ? LEVEL_MEMORY : LEVEL_CACHES];
    double write = stored ? 0 : own * (memory->kept - memory->read);
    return times * (n->flops + n->bytes * read) <= times * own * read + write;
}

/* Where blocks have room for a row, what takes long waits there (skeleton/row/row_keep.c), and is computed again in
 * longer rows. Not what is made of other elements, which would all be computed again with it. */
static bool waits(const l_cluster *c, const l_node *n, const uint32_t *slot)
{
    enum { MOST_AGAIN = 200 }; /* operations */
    bool first = true;
    for (uint32_t d = 0; d < n->dep.n; d++) {
        uint32_t from = slot[n->dep.at[d].array];
        first &= !from || c->op.at[from - 1].kind != L_ELEMENT || c->op.at[from - 1].outer;
    }
    return first && n->flops < MOST_AGAIN;
}

void l_rows_keep(const l_program *l, const l_options *options, const l_nodes *nodes, l_cluster *c, uint32_t *slot)
{
    ir_program *p = l->ir;
    uint32_t *needed = arena_array(p->arena, *needed, c->op.n); /* per operation: set of 1 << sweep */
    for (uint32_t i = 0; i < c->op.n; i++)
        slot[c->op.at[i].term] = i + 1;
    for (uint32_t i = c->op.n; i-- > 0;) { /* readers stand behind what they read, also those of an earlier sweep */
        l_op *op = &c->op.at[i];
        const l_node *n = l_at(nodes, op->term);
        uint32_t later = needed[i] & ~((2u << op->sweep) - 1), own = 1u << op->sweep;
        unsigned times = 0;
        for (uint32_t rest = later; rest; rest &= rest - 1)
            times++;
        if (later && op->kind == L_ELEMENT && !op->outer)
            op->again = (!l->manifest[op->term] && waits(c, n, slot)) ||
                        computed_again(p, options, c, n, op->term, l->manifest[op->term], times);
        if (later && !is_fold(op) && !op->outer && !op->again)
            l->manifest[op->term] = true;
        for (uint32_t d = 0; d < n->dep.n; d++)
            if (slot[n->dep.at[d].array])
                needed[slot[n->dep.at[d].array] - 1] |= op->again ? own | later : own;
    }
    for (uint32_t i = 0; i < c->op.n; i++)
        slot[c->op.at[i].term] = 0;
    arena_release(p->arena, needed, c->op.n * sizeof(*needed));
}
