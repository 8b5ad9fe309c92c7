/* Sharing recovery for scalar code: places every term of a DAG in the tree of blocks that conditions and loops make.
 *
 * The steps are those of Accelerate (ICFP'13 §3: count occurrences, float to the lowest common dominator, bind), done
 * on the DAG from the uses to the operands: a term is placed when all its uses are. Terms that must stay behind their
 * guards climb only where every path evaluates them, and may end up in several blocks. Conditions wait until nothing
 * else can be placed; then all that wait in one block with one condition become one branch (none of them depends on
 * another, or it could not be waiting). */
#include "ir/schedule.h"
#include "ir/block_tree.h"
#include "ir/schedule_graph.h"

#include <stdlib.h>

/* A branch is worth its jump if it saves at least this much. */
enum { COST_OF_BRANCH = 24 };

/* Guarded terms used under many nested guards multiply; code beyond this many steps is given up. */
enum { STEPS_MAX = 250000, STEPS_PER_ITEM = 16 };

/* Steps from a condition searched for terms that are evaluated with it. */
enum { CONDITION_SEARCH = 32 };

#define NO_BLOCK UINT32_MAX

typedef enum { BLOCK_ROOT, BLOCK_THEN, BLOCK_ELSE, BLOCK_TEST, BLOCK_WHILE_BODY, BLOCK_COUNTED_BODY } block_kind;

typedef struct block_info { /* beside the node of the same number in the tree */
    ir_block *code;
    block_kind kind;
    uint32_t region;  /* nearest block around it (or itself) that is evaluated once per iteration of a loop; NO_BLOCK */
    uint32_t loop;    /* item of a loop's blocks */
    uint32_t partner; /* the other branch */
    bool certain;     /* BLOCK_COUNTED_BODY: runs at least once */
} block_info;

typedef struct use_cell {
    uint32_t block, next; /* next: cell + 1 */
} use_cell;

typedef struct waiting_cond {   /* one condition, to be decided in one block */
    uint32_t item, block, next; /* next: entry + 1, of the same block and condition */
    bool done;
} waiting_cond;

typedef struct progress { /* of one item */
    uint32_t waiting;     /* users not placed yet */
    uint32_t use;         /* blocks it is used in: cell + 1 */
    uint32_t unplaced;    /* IR_COND: its entries not yet decided */
    uint32_t mark, seen;  /* of the search below a group of conditions: when, and how many uses it met */
    bool beside;          /* found from the group's condition, so evaluated anyway */
    uint8_t sides;        /* of the branches, 1 and 2, that the uses met lie in */
} progress;

typedef VEC(uint32_t) index_list;

typedef struct scheduler {
    const ir_program *program;
    arena *arena, *scratch; /* of the blocks; of all else */
    graph graph;
    progress *state; /* per item */
    block_tree tree;
    VEC(block_info) block;
    VEC(use_cell) use;
    VEC(waiting_cond) cond;
    map64 group;         /* block and condition -> newest entry + 1 */
    VEC(uint64_t) ready; /* heap, largest first: not a condition, item, entry */
    index_list place, spare, pending;
    uint32_t mark;
    size_t steps, steps_max;
} scheduler;

/* --- blocks --- */

static uint32_t new_block(scheduler *s, uint32_t parent, block_kind kind, uint32_t loop)
{
    uint32_t id = kind == BLOCK_ROOT ? 0 : block_tree_add(&s->tree, parent);
    bool is_region = kind == BLOCK_TEST || kind == BLOCK_COUNTED_BODY;
    block_info info = {.code = arena_new(s->arena, ir_block),
                       .kind = kind,
                       .region = is_region            ? id
                                 : kind == BLOCK_ROOT ? NO_BLOCK
                                                      : s->block.at[parent].region,
                       .loop = loop,
                       .partner = NO_BLOCK};
    vec_push(s->scratch, &s->block, info);
    return id;
}

static void add_step(scheduler *s, uint32_t block, ir_step step)
{
    ir_block *code = s->block.at[block].code;
    vec_push(s->arena, &code->step, step);
    s->steps++;
}

/* --- the heap of items ready to be placed --- */

static void heap_push(scheduler *s, uint64_t key)
{
    vec_push(s->scratch, &s->ready, key);
    uint64_t *heap = s->ready.at;
    uint32_t at = s->ready.n - 1;
    for (; at && heap[(at - 1) / 2] < key; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = key;
}

static uint64_t heap_pop(scheduler *s)
{
    uint64_t *heap = s->ready.at, top = heap[0], last = heap[--s->ready.n];
    uint32_t at = 0, n = s->ready.n;
    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1] > heap[child])
            child++;
        if (heap[child] <= last)
            break;
        heap[at] = heap[child];
        at = child;
    }
    if (n)
        heap[at] = last;
    return top;
}

/* --- where a term goes, given where it is used --- */

/* Out of the loops that the item does not depend on. */
static uint32_t hoist(const scheduler *s, const item *t, uint32_t block)
{
    for (;;) {
        uint32_t region = s->block.at[block].region;
        if (region == NO_BLOCK || s->block.at[region].loop == t->binder)
            return block;
        block = s->tree.at.at[region].parent;
    }
}

/* A free term: the common dominator of its uses, in each instance of the loop it belongs to. */
static void place_free(scheduler *s, const item *t, uint32_t use)
{
    for (; use; use = s->use.at[use - 1].next) {
        uint32_t block = hoist(s, t, s->use.at[use - 1].block), k = 0;
        while (k < s->place.n && s->block.at[s->place.at[k]].region != s->block.at[block].region)
            k++;
        if (k < s->place.n)
            s->place.at[k] = block_tree_common(&s->tree, s->place.at[k], block);
        else
            vec_push(s->scratch, &s->place, block);
    }
}

/* Merge sort of s->place in preorder of the blocks. */
static void sort_places(scheduler *s)
{
    uint32_t n = s->place.n;
    vec_resize(s->scratch, &s->spare, n);
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t from = 0; from < n; from += 2 * width) {
            uint32_t middle = from + width < n ? from + width : n, to = from + 2 * width < n ? from + 2 * width : n;
            uint32_t i = from, j = middle;
            for (uint32_t k = from; k < to; k++) {
                bool right = i == middle || (j < to && block_tree_before(&s->tree, s->place.at[j], s->place.at[i]));
                s->spare.at[k] = s->place.at[right ? j++ : i++];
            }
        }
        memcpy(s->place.at, s->spare.at, n * sizeof(uint32_t));
    }
}

/* The block around it, if a term used in this block may as well be evaluated there; else NO_BLOCK. */
static uint32_t climb(const scheduler *s, const item *t, uint32_t block)
{
    const block_info *b = &s->block.at[block];
    bool may = false;
    if (b->kind == BLOCK_TEST)
        may = b->loop != t->binder;
    else if (b->kind == BLOCK_COUNTED_BODY)
        may = b->loop != t->binder && (b->certain || t->level == LEVEL_SHY);
    else if (b->kind == BLOCK_WHILE_BODY)
        may = b->loop != t->binder && t->level == LEVEL_SHY;
    return may ? s->tree.at.at[block].parent : NO_BLOCK;
}

/* A guarded or shy term: the highest blocks of which every path evaluates it. Takes its uses in preorder; `place`
 * becomes a stack of blocks none of which is above another. */
static void place_guarded(scheduler *s, const item *t, uint32_t use)
{
    for (; use; use = s->use.at[use - 1].next)
        vec_push(s->scratch, &s->place, s->use.at[use - 1].block);
    sort_places(s);
    uint32_t n = s->place.n, kept = 0, *place = s->place.at;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t block = place[k];
        if (kept && block_tree_above(&s->tree, place[kept - 1], block))
            continue;
        for (;;) {
            uint32_t up = climb(s, t, block);
            bool both = kept && s->block.at[block].kind == BLOCK_ELSE && place[kept - 1] == s->block.at[block].partner;
            if (both)
                up = s->tree.at.at[block].parent;
            if (up == NO_BLOCK)
                break;
            block = up;
            while (kept && block_tree_above(&s->tree, block, place[kept - 1]))
                kept--;
        }
        place[kept++] = block;
    }
    s->place.n = kept;
}

static void find_places(scheduler *s, uint32_t i)
{
    const item *t = &s->graph.item.at[i];
    s->place.n = 0;
    if (t->level == LEVEL_FREE)
        place_free(s, t, s->state[i].use);
    else
        place_guarded(s, t, s->state[i].use);
}

/* --- from users to operands --- */

static void use_in(scheduler *s, ir_id term, uint32_t block)
{
    uint32_t i = ir_graph_item(&s->graph, term);
    if (i == NO_ITEM)
        return;
    progress *state = &s->state[i];
    if (state->use && s->use.at[state->use - 1].block == block)
        return;
    use_cell cell = {block, state->use};
    vec_push(s->scratch, &s->use, cell);
    state->use = s->use.n;
}

static void wait_as_cond(scheduler *s, uint32_t i)
{
    find_places(s, i);
    ir_id condition = ir_args(s->program, s->graph.item.at[i].id)[0];
    s->state[i].unplaced = s->place.n;
    for (uint32_t k = 0; k < s->place.n; k++) {
        uint64_t key = (uint64_t)s->place.at[k] << 32 | condition;
        waiting_cond entry = {.item = i, .block = s->place.at[k], .next = map64_get(&s->group, key)};
        vec_push(s->scratch, &s->cond, entry);
        map64_put(s->scratch, &s->group, key, s->cond.n);
        heap_push(s, (uint64_t)i << 32 | (s->cond.n - 1));
    }
}

/* One user of each operand has been placed; what has no others left is ready. */
static void release_operands(scheduler *s, uint32_t user)
{
    ir_id term = s->graph.item.at[user].id;
    uint32_t edges = ir_graph_edges(s->program, term);
    for (uint32_t k = 0; k < edges; k++) {
        uint32_t i = ir_graph_item(&s->graph, ir_graph_edge(s->program, term, k).term);
        if (i == NO_ITEM || --s->state[i].waiting)
            continue;
        if (ir_at(s->program, s->graph.item.at[i].id)->kind == IR_COND)
            wait_as_cond(s, i);
        else
            heap_push(s, UINT64_C(1) << 63 | (uint64_t)i << 32);
    }
}

static bool runs_at_least_once(const ir_program *p, const ir_loop *loop)
{
    const ir_node *count = loop->cond ? NULL : ir_at(p, loop->count);
    return count && count->kind == IR_CONST && ir_i64_bits(T_I64, count->u.literal) > 0;
}

/* Blocks of a loop for the edges into its test and body. The body of a while loop lies inside its test. */
static void add_loop(scheduler *s, uint32_t i, uint32_t block, uint32_t *test, uint32_t *body)
{
    ir_id term = s->graph.item.at[i].id;
    const ir_loop *loop = ir_at(s->program, term)->u.loop;
    ir_step step = {.term = term};
    if (loop->cond) {
        *test = new_block(s, block, BLOCK_TEST, i);
        *body = new_block(s, *test, BLOCK_WHILE_BODY, i);
        step.test = s->block.at[*test].code;
    } else {
        *body = new_block(s, block, BLOCK_COUNTED_BODY, i);
        s->block.at[*body].certain = runs_at_least_once(s->program, loop);
    }
    step.body = s->block.at[*body].code;
    add_step(s, block, step);
}

static void place_in(scheduler *s, uint32_t i, uint32_t block)
{
    ir_id term = s->graph.item.at[i].id;
    uint32_t test = NO_BLOCK, body = NO_BLOCK;
    ir_kind kind = ir_at(s->program, term)->kind;
    if (kind == IR_LOOP)
        add_loop(s, i, block, &test, &body);
    else if (kind != IR_PROJ)
        add_step(s, block, (ir_step){.term = term});
    uint32_t edges = ir_graph_edges(s->program, term);
    for (uint32_t k = 0; k < edges; k++) {
        edge e = ir_graph_edge(s->program, term, k);
        use_in(s, e.term, e.kind == EDGE_BODY ? body : e.kind == EDGE_TEST ? test : block);
    }
}

static void place(scheduler *s, uint32_t i)
{
    find_places(s, i);
    for (uint32_t k = 0; k < s->place.n; k++)
        place_in(s, i, s->place.at[k]);
    release_operands(s, i);
}

/* --- conditions: a select or a branch? --- */

/* Takes all entries that wait with this one into s->pending. */
static void take_group(scheduler *s, uint32_t entry)
{
    const waiting_cond *e = &s->cond.at[entry];
    uint64_t key = (uint64_t)e->block << 32 | ir_args(s->program, s->graph.item.at[e->item].id)[0];
    s->pending.n = 0;
    for (uint32_t next = map64_get(&s->group, key); next && !s->cond.at[next - 1].done;
         next = s->cond.at[next - 1].next) {
        s->cond.at[next - 1].done = true;
        vec_push(s->scratch, &s->pending, next - 1);
    }
}

static unsigned cost_of(const ir_program *p, ir_id term)
{
    const ir_node *node = ir_at(p, term);
    if (node->kind == IR_PROJ)
        return 0;
    return node->kind == IR_OP ? ir_op_cost((ir_op)node->op) : IR_COST_SIMPLE;
}

static void touch(scheduler *s, uint32_t i)
{
    progress *state = &s->state[i];
    if (state->mark == s->mark)
        return;
    state->mark = s->mark;
    state->seen = 0;
    state->beside = false;
    state->sides = 0;
}

/* Marks terms that are evaluated with the condition, as far as a short search finds them. */
static void mark_beside(scheduler *s, ir_id condition)
{
    ir_id stack[CONDITION_SEARCH] = {condition};
    uint32_t n = 1;
    for (uint32_t searched = 0; n && searched < CONDITION_SEARCH; searched++) {
        ir_id term = stack[--n];
        uint32_t i = ir_graph_item(&s->graph, term);
        if (i == NO_ITEM)
            continue;
        touch(s, i);
        s->state[i].beside = true;
        uint32_t edges = ir_graph_edges(s->program, term);
        for (uint32_t k = 0; k < edges && n < CONDITION_SEARCH; k++) {
            edge e = ir_graph_edge(s->program, term, k);
            if (e.kind == EDGE_NOW)
                stack[n++] = e.term;
        }
    }
}

/* Is the item known to be evaluated whenever the block is? */
static bool is_used_above(const scheduler *s, uint32_t i, uint32_t block)
{
    if (s->state[i].beside)
        return true;
    uint32_t use = s->state[i].use;
    for (unsigned k = 0; use && k < 4; k++, use = s->use.at[use - 1].next)
        if (block_tree_above(&s->tree, s->use.at[use - 1].block, block))
            return true;
    return false;
}

enum { SIDE_THEN = 1, SIDE_ELSE = 2, SIDE_BOTH = 3 };

/* Adds an operand of a branch (of both: used on these sides) to the work list in s->spare when all its uses lie in the
 * branches, as then only the branches need it. Returns false if it must not be evaluated outside them. */
static bool meet(scheduler *s, ir_id term, uint32_t block, unsigned sides)
{
    uint32_t i = ir_graph_item(&s->graph, term);
    if (i == NO_ITEM)
        return true;
    touch(s, i);
    s->state[i].seen++;
    s->state[i].sides |= (uint8_t)sides;
    if (is_used_above(s, i, block))
        return true;
    const item *t = &s->graph.item.at[i];
    if (t->level != LEVEL_FREE)
        return false;
    if (s->state[i].seen < t->uses)
        return true;
    ir_kind kind = ir_at(s->program, t->id)->kind;
    if (s->state[i].sides == SIDE_BOTH && (kind == IR_LOOP || kind == IR_READ))
        return true;
    if (kind == IR_LOOP || (kind == IR_READ && !(ir_at(s->program, t->id)->flags & IR_ALWAYS)))
        return false;
    vec_push(s->scratch, &s->spare, i);
    return true;
}

/* Is the group in s->pending a branch? If not, selects will do: nothing below needs a guard, and it is cheap. */
static bool is_branch(scheduler *s, uint32_t block)
{
    const ir_program *p = s->program;
    s->mark++;
    s->spare.n = 0;
    mark_beside(s, ir_args(p, s->graph.item.at[s->cond.at[s->pending.at[0]].item].id)[0]);
    unsigned cost = 0;
    for (uint32_t k = 0; k < s->pending.n; k++) {
        const ir_id *arg = ir_args(p, s->graph.item.at[s->cond.at[s->pending.at[k]].item].id);
        if (!meet(s, arg[1], block, SIDE_THEN) || !meet(s, arg[2], block, SIDE_ELSE))
            return true;
    }
    while (s->spare.n) {
        uint32_t i = s->spare.at[--s->spare.n];
        ir_id term = s->graph.item.at[i].id;
        unsigned sides = s->state[i].sides;
        if (sides != SIDE_BOTH) /* else no branch would save it */
            cost += cost_of(p, term);
        if (cost >= COST_OF_BRANCH)
            return true;
        uint32_t edges = ir_graph_edges(p, term);
        for (uint32_t k = 0; k < edges; k++)
            if (!meet(s, ir_graph_edge(p, term, k).term, block, sides))
                return true;
    }
    return false;
}

static void place_selects(scheduler *s, uint32_t block)
{
    for (uint32_t k = 0; k < s->pending.n; k++) {
        ir_id term = s->graph.item.at[s->cond.at[s->pending.at[k]].item].id;
        add_step(s, block, (ir_step){.term = term, .group = 1});
        for (uint32_t e = 0; e < 3; e++)
            use_in(s, ir_args(s->program, term)[e], block);
    }
}

static int by_id(const void *x, const void *y)
{
    ir_id a = *(const ir_id *)x, b = *(const ir_id *)y;
    return (a > b) - (a < b);
}

static void place_branch(scheduler *s, uint32_t block)
{
    uint32_t n = s->pending.n;
    ir_step step = {.group = n, .cond = arena_array(s->arena, ir_id, n)};
    uint32_t then = new_block(s, block, BLOCK_THEN, NO_ITEM), orelse = new_block(s, block, BLOCK_ELSE, NO_ITEM);
    s->block.at[then].partner = orelse;
    s->block.at[orelse].partner = then;
    for (uint32_t k = 0; k < n; k++) {
        ir_id term = s->graph.item.at[s->cond.at[s->pending.at[k]].item].id;
        step.cond[k] = term;
        use_in(s, ir_args(s->program, term)[0], block);
        use_in(s, ir_args(s->program, term)[1], then);
        use_in(s, ir_args(s->program, term)[2], orelse);
    }
    qsort(step.cond, n, sizeof(ir_id), by_id);
    step.term = step.cond[0];
    step.then = s->block.at[then].code;
    step.orelse = s->block.at[orelse].code;
    add_step(s, block, step);
}

static void place_group(scheduler *s, uint32_t entry)
{
    if (s->cond.at[entry].done)
        return;
    uint32_t block = s->cond.at[entry].block;
    take_group(s, entry);
    if (is_branch(s, block))
        place_branch(s, block);
    else
        place_selects(s, block);
    for (uint32_t k = 0; k < s->pending.n; k++) {
        uint32_t i = s->cond.at[s->pending.at[k]].item;
        if (--s->state[i].unplaced == 0)
            release_operands(s, i);
    }
}

/* --- the whole --- */

static bool is_empty_branch(const ir_step *step)
{
    return step->then && step->then->step.n == 0 && step->orelse->step.n == 0;
}

static void turn_around(ir_block *code)
{
    for (uint32_t i = 0, k = code->step.n; i + 1 < k; i++) {
        ir_step first = code->step.at[i];
        code->step.at[i] = code->step.at[--k];
        code->step.at[k] = first;
    }
}

/* Steps were added uses first. A branch with nothing in it is a select after all. */
static void finish_block(scheduler *s, ir_block *code)
{
    ir_block done = {0};
    bool any = false;
    turn_around(code);
    for (uint32_t k = 0; k < code->step.n && !any; k++)
        any = is_empty_branch(&code->step.at[k]);
    if (!any)
        return;
    for (uint32_t k = 0; k < code->step.n; k++) {
        ir_step step = code->step.at[k];
        if (!is_empty_branch(&step)) {
            vec_push(s->arena, &done.step, step);
            continue;
        }
        for (uint32_t c = 0; c < step.group; c++) {
            ir_step select = {.term = step.cond[c], .group = 1};
            vec_push(s->arena, &done.step, select);
        }
    }
    vec_free(s->arena, &code->step);
    *code = done;
}

ir_block *ir_schedule(const ir_program *p, arena *a, arena *scratch, uint32_t n, const ir_id *result)
{
    scheduler s = {.program = p, .arena = a, .scratch = scratch};
    ir_graph_build(&s.graph, p, scratch, n, result);
    uint32_t items = s.graph.item.n;
    s.steps_max = STEPS_MAX + STEPS_PER_ITEM * (size_t)items;
    s.state = arena_array(scratch, progress, items + 1);
    for (uint32_t i = 0; i < items; i++)
        s.state[i].waiting = s.graph.item.at[i].uses;
    block_tree_init(&s.tree, scratch);
    uint32_t root = new_block(&s, 0, BLOCK_ROOT, NO_ITEM);

    for (uint32_t k = 0; k < n; k++) {
        use_in(&s, result[k], root);
        uint32_t i = ir_graph_item(&s.graph, result[k]);
        if (i == NO_ITEM || --s.state[i].waiting)
            continue;
        if (ir_at(p, result[k])->kind == IR_COND)
            wait_as_cond(&s, i);
        else
            heap_push(&s, UINT64_C(1) << 63 | (uint64_t)i << 32);
    }
    while (s.ready.n) {
        if (s.steps > s.steps_max)
            return NULL;
        uint64_t key = heap_pop(&s);
        if (key >> 63)
            place(&s, (uint32_t)(key >> 32) & INT32_MAX);
        else
            place_group(&s, (uint32_t)key);
    }
    for (uint32_t b = 0; b < s.block.n; b++)
        finish_block(&s, s.block.at[b].code);
    return s.block.at[root].code;
}
