/* A fold that reads a stencil's result would read from memory what a loop before it has written there: often more bytes
 * than the stencil reads. Where nothing else needs the result, the fold's loop computes it, block by block
 * (skeleton/fold/fold_stage.c). A stencil that reads rows of what its own loop computes stays in that loop. */
#include "loop/folded.h"

#include "opt/rewrite.h"

/* Neighbours that an element may read. Measured on Zen 4 (sums of weighted k x k stencils of f32 and f64, 33 x 100 to
 * 4096 x 4096, against storing the result): 3 x 3 takes 0.5 to 0.9 of the time, 5 x 5 0.4 to 0.85, 7 x 7 0.9 to 1.25, 9
 * x 9 up to 1.6, as a stencil's own loop copies rows of which much is read, and pads them. Elements of a byte or two
 * are read one by one at the array's edges. Where a block is many threads, each computes its elements by itself,
 * without rows in shared memory; folds that keep order give each thread a stretch of the row there, and want arrays,
 * whose stretches are copied to shared memory by all. */
enum { MOST_READ = 32, MOST_READ_THREADS = 9 };

enum { MOST_FOLDS = 8, MOST_VISITED = 64 };

static void push_new(arena *a, l_ids *to, ir_id id)
{
    for (uint32_t i = 0; i < to->n; i++)
        if (to->at[i] == id)
            return;
    vec_push(a, to, id);
}

/* --- where uses lead --- */

typedef struct search { /* among what an array is computed from */
    ir_program *p;
    ir_id above; /* which has a larger number than what is looked for */
    l_ids found;
} search;

static void add_operand(search *s, ir_id array)
{
    if (array >= s->above && s->found.n <= MOST_VISITED)
        push_new(s->p->arena, &s->found, array);
}

static void add_operands(search *s, ir_id id)
{
    const ir_array *info = ir_info(s->p, id);
    opt_ids ids = {0};
    for (uint32_t i = 0; i < info->inputs; i++)
        add_operand(s, info->input[i]);
    if (info->fn)
        opt_reach(s->p, s->p->arena, info->fn->results, info->fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(s->p, ids.at[i])->kind == IR_READ)
            add_operand(s, ir_at(s->p, ids.at[i])->array);
    vec_free(s->p->arena, &ids);
}

/* Is `id` made of `from`? Also said where that takes long to find out. */
static bool depends(ir_program *p, ir_id id, ir_id from)
{
    search s = {.p = p, .above = from};
    vec_push(p->arena, &s.found, id);
    bool found = false;
    for (uint32_t i = 0; i < s.found.n && s.found.n <= MOST_VISITED && !found; i++) {
        found = s.found.at[i] == from;
        if (!found)
            add_operands(&s, s.found.at[i]);
    }
    found |= s.found.n > MOST_VISITED;
    vec_free(p->arena, &s.found);
    return found;
}

/* Do these two folds share a loop if they read the same arrays? */
static bool together(ir_program *p, ir_id x, ir_id y)
{
    bool one_order = (ir_at(p, x)->flags & IR_COMMUTES) == (ir_at(p, y)->flags & IR_COMMUTES);
    return one_order && l_same_shape(l_rate_of(p, x), l_rate_of(p, y)) && !depends(p, x > y ? x : y, x > y ? y : x);
}

/* The fold that a use leads to; 0: it leads elsewhere, too. */
static ir_id leads_to(ir_program *p, const l_nodes *nodes, ir_id user, ir_id array, l_access access)
{
    const ir_array *from = ir_info(p, array);
    ir_kind kind = user ? (ir_kind)ir_at(p, user)->kind : IR_INPUT;
    const l_node *n = user ? l_at(nodes, user) : NULL;
    if (kind == IR_FOLD)
        return access == L_SAME && from->rank == 1 ? user : 0;
    bool flattens = kind == IR_RESHAPE && ir_info(p, user)->rank == 1 && from->rank > 1;
    if ((kind != IR_MAP || access != L_SAME) && !flattens)
        return 0;
    return n->output || n->elsewhere ? 0 : n->fold;
}

void l_note_use(ir_program *p, l_nodes *nodes, ir_id user, ir_id array, l_access access)
{
    l_node *n = l_at(nodes, array);
    ir_id fold = n->elsewhere ? 0 : leads_to(p, nodes, user, array, access);
    if (fold && n->fold && n->fold != fold)
        fold = n->folds++ < MOST_FOLDS && together(p, n->fold, fold) ? fold : 0;
    n->elsewhere |= !fold;
    n->fold = fold;
}

/* --- what is delayed --- */

static size_t bytes_of(const ir_program *p, ir_id id)
{
    size_t bytes = 0;
    for (unsigned c = 0; c < ir_info(p, id)->components; c++)
        bytes += ir_type_size(ir_info(p, id)->type[c]);
    return bytes;
}

static void note_stencil(ir_program *p, l_nodes *nodes, ir_id stencil)
{
    const ir_array *info = ir_info(p, stencil);
    l_node *n = l_at(nodes, stencil);
    for (uint32_t i = 0; i < info->inputs; i++) {
        uint32_t all = 1;
        for (unsigned d = 0; d < info->rank; d++)
            all *= info->stencil[i].extent[d];
        n->neighbours += bytes_of(p, info->input[i]) < 4 ? all + all / 2 : all;
        n->chain |= l_rows_possible(p, nodes, stencil, info->input[i]);
    }
}

void l_note_delayed(ir_program *p, l_nodes *nodes, ir_id id, ir_id from, l_access access)
{
    l_node *n = l_at(nodes, id);
    const l_node *f = l_at(nodes, from);
    if (access != L_SAME || !f->stencil)
        return;
    n->chain |= f->chain;
    n->flat |= f->flat;
    n->neighbours += f->neighbours;
    for (uint32_t i = 0; i < f->staged.n; i++)
        push_new(nodes->arena, &n->staged, f->staged.at[i]);
    if (ir_at(p, id)->kind == IR_RESHAPE) { /* to one row: others read a stencil's result from memory */
        n->flat = true;
        push_new(nodes->arena, &n->staged, from);
    }
}

/* Of what has one dimension, the smallest is staged: the array itself, or what it is made of. */
void l_note_operands(ir_program *p, l_nodes *nodes, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    l_node *n = l_at(nodes, id);
    size_t below = 0;
    if (kind == IR_STENCIL)
        note_stencil(p, nodes, id);
    if (!n->stencil || n->flat || ir_info(p, id)->rank != 1 || (kind != IR_STENCIL && kind != IR_MAP))
        return;
    for (uint32_t i = 0; i < n->staged.n; i++)
        below += bytes_of(p, n->staged.at[i]);
    if (n->staged.n && bytes_of(p, id) > below)
        return;
    n->staged.n = 0;
    vec_push(nodes->arena, &n->staged, id);
}

bool l_folded(ir_program *p, const l_nodes *nodes, const l_options *options, ir_id id)
{
    const l_node *n = l_at(nodes, id);
    if (!n->stencil || !n->fold || n->chain)
        return false;
    if (options->threads)
        return n->neighbours <= MOST_READ_THREADS && ir_at(p, n->fold)->flags & IR_COMMUTES;
    return n->neighbours <= MOST_READ;
}
