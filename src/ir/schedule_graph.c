/* Collects the scalar terms below some results and finds out, in three sweeps over them, which loop each belongs to,
 * which are certainly evaluated, and which may be evaluated where nobody asked for them. */
#include "ir/schedule_graph.h"

static bool is_leaf(const ir_program *p, ir_id term)
{
    ir_kind kind = ir_at(p, term)->kind;
    return kind == IR_CONST || kind == IR_VAR || kind == IR_DIM;
}

uint32_t ir_graph_edges(const ir_program *p, ir_id term)
{
    const ir_node *node = ir_at(p, term);
    if (node->kind == IR_LOOP)
        return 2 * node->u.loop->states + 1;
    if (node->kind == IR_CALL)
        return ir_called(p, node) ? node->n - 1 : 1;
    return node->n;
}

edge ir_graph_edge(const ir_program *p, ir_id term, uint32_t k)
{
    const ir_node *node = ir_at(p, term);
    if (node->kind == IR_LOOP) {
        const ir_loop *loop = node->u.loop;
        if (k < loop->states)
            return (edge){loop->init[k], EDGE_NOW};
        if (k < 2 * loop->states)
            return (edge){loop->next[k - loop->states], EDGE_BODY};
        return loop->cond ? (edge){loop->cond, EDGE_TEST} : (edge){loop->count, EDGE_NOW};
    }
    if (node->kind == IR_CALL) /* the operands, or the fallback */
        return (edge){ir_args(p, term)[ir_called(p, node) ? k + 1 : 0], EDGE_NOW};
    edge_kind kind = node->kind == IR_COND ? (k == 0 ? EDGE_NOW : k == 1 ? EDGE_THEN : EDGE_ELSE) : EDGE_NOW;
    return (edge){ir_args(p, term)[k], kind};
}

uint32_t ir_graph_item(const graph *g, ir_id term)
{
    return map64_get(&g->index, term) - 1u; /* absent: 0 - 1 is NO_ITEM */
}

/* Is it an operator on extents, constants and what is computed from these alone? (index: of the terms so far, 2: yes)
 */
static bool of_extents(const graph *g, ir_id term)
{
    const ir_node *node = ir_at(g->program, term);
    if (node->kind != IR_OP || node->partial || node->scope)
        return false;
    for (uint32_t k = 0; k < node->n; k++) {
        ir_id operand = ir_args(g->program, term)[k];
        if (!is_leaf(g->program, operand) && map64_get(&g->index, operand) != 2)
            return false;
    }
    return true;
}

/* Items of the terms, given in order of their ids. Those of extents alone come first: they may be older than a function
 * or made with it, as the first of several equal ones is, and the code of equal functions is to be equal. */
static void list(graph *g, uint32_t n, const ir_id *term)
{
    for (uint32_t k = 0; k < n; k++)
        if (of_extents(g, term[k])) {
            map64_put(g->arena, &g->index, term[k], 2);
            vec_push(g->arena, &g->item, ((item){.id = term[k]}));
        }
    for (uint32_t k = 0; k < n; k++)
        if (map64_get(&g->index, term[k]) != 2)
            vec_push(g->arena, &g->item, ((item){.id = term[k]}));
    for (uint32_t k = 0; k < g->item.n; k++)
        map64_put(g->arena, &g->index, g->item.at[k].id, k + 1);
}

static void collect(graph *g, uint32_t n, const ir_id *result)
{
    const ir_program *p = g->program;
    VEC(ir_id) found = {0};
    for (uint32_t k = 0; k < n; k++)
        if (!is_leaf(p, result[k]) && !map64_get(&g->index, result[k])) {
            map64_put(g->arena, &g->index, result[k], 1);
            vec_push(g->arena, &found, result[k]);
        }
    for (uint32_t f = 0; f < found.n; f++) {
        uint32_t edges = ir_graph_edges(p, found.at[f]);
        for (uint32_t k = 0; k < edges; k++) {
            ir_id term = ir_graph_edge(p, found.at[f], k).term;
            if (is_leaf(p, term) || map64_get(&g->index, term))
                continue;
            map64_put(g->arena, &g->index, term, 1);
            vec_push(g->arena, &found, term);
        }
    }
    if (found.n) {
        ir_id *spare = arena_array(g->arena, *spare, found.n);
        sort_u32(found.at, found.n, spare);
        arena_release(g->arena, spare, found.n * sizeof(*spare));
    }
    list(g, found.n, found.at);
    vec_free(g->arena, &found);
}

static void find_binders(graph *g)
{
    const ir_program *p = g->program;
    for (uint32_t i = 0; i < g->item.n; i++) {
        const ir_node *node = ir_at(p, g->item.at[i].id);
        if (node->kind != IR_LOOP)
            continue;
        for (uint32_t k = 0; k < node->u.loop->states; k++)
            map64_put(g->arena, &g->binder, node->u.loop->var[k], i + 1);
        if (node->u.loop->index)
            map64_put(g->arena, &g->binder, node->u.loop->index, i + 1);
    }
    for (uint32_t i = 0; i < g->item.n; i++) {
        ir_id scope = ir_at(p, g->item.at[i].id)->scope;
        g->item.at[i].binder = scope ? map64_get(&g->binder, scope) - 1u : NO_ITEM;
    }
}

/* Certainty spreads from results (and what a loop computes each time round) to the operands that are evaluated at once
 * and belong to the same loop. */
static uint8_t certainty(const graph *g, uint32_t user, uint32_t used, edge_kind kind)
{
    const item *u = &g->item.at[user], *t = &g->item.at[used];
    uint8_t flags = u->certain & IS_IN_TEST;
    if (kind == EDGE_TEST)
        flags |= t->binder == user ? IS_IN_TEST | IS_CERTAIN_TEST : IS_IN_TEST;
    if (kind == EDGE_BODY && t->binder == user)
        flags |= IS_CERTAIN_BODY;
    if (kind == EDGE_NOW && t->binder == u->binder)
        flags |= u->certain;
    return flags;
}

static void find_uses(graph *g, uint32_t n, const ir_id *result)
{
    const ir_program *p = g->program;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t r = ir_graph_item(g, result[k]);
        if (r == NO_ITEM)
            continue;
        g->item.at[r].uses++;
        if (g->item.at[r].binder == NO_ITEM)
            g->item.at[r].certain |= IS_CERTAIN_BODY;
    }
    for (uint32_t i = g->item.n; i-- > 0;) {
        uint32_t edges = ir_graph_edges(p, g->item.at[i].id);
        for (uint32_t k = 0; k < edges; k++) {
            edge e = ir_graph_edge(p, g->item.at[i].id, k);
            uint32_t t = ir_graph_item(g, e.term);
            if (t == NO_ITEM)
                continue;
            g->item.at[t].uses++;
            g->item.at[t].certain |= certainty(g, i, t, e.kind);
        }
    }
}

static bool divisor_is_harmless(const ir_program *p, ir_id divisor)
{
    const ir_node *d = ir_at(p, divisor);
    if (d->kind != IR_CONST || d->u.literal == 0)
        return false;
    return !ir_type_signed(d->type) || ir_i64_bits(d->type, d->u.literal) != -1;
}

/* The level of a term apart from its operands. */
static uint8_t own_level(const ir_program *p, ir_id term)
{
    const ir_node *node = ir_at(p, term);
    switch (node->kind) {
    case IR_READ:
        return node->flags & IR_ALWAYS ? LEVEL_FREE : node->flags & IR_SAFE ? LEVEL_SHY : LEVEL_GUARDED;
    case IR_LOOP:
        return node->u.loop->cond ? LEVEL_GUARDED : LEVEL_FREE;
    case IR_WITHIN:
        return LEVEL_GUARDED;
    case IR_OP:
        if (!node->partial || !ir_op_guarded((ir_op)node->op, ir_at(p, ir_args(p, term)[0])->type))
            return LEVEL_FREE;
        return node->n == 2 && divisor_is_harmless(p, ir_args(p, term)[1]) ? LEVEL_FREE : LEVEL_GUARDED;
    default:
        return LEVEL_FREE;
    }
}

/* Is every evaluation of its binder one of this item, too? What only a loop's body is certain to evaluate is not
 * certain in its test, which runs once more. */
static bool is_certain(const item *t)
{
    if (t->certain & IS_CERTAIN_TEST)
        return true;
    return (t->certain & IS_CERTAIN_BODY) && (t->binder == NO_ITEM || !(t->certain & IS_IN_TEST));
}

static void find_levels(graph *g)
{
    const ir_program *p = g->program;
    for (uint32_t i = 0; i < g->item.n; i++) {
        item *t = &g->item.at[i];
        uint8_t level = own_level(p, t->id), outer = level;
        uint32_t edges = ir_graph_edges(p, t->id);
        for (uint32_t k = 0; k < edges; k++) {
            edge e = ir_graph_edge(p, t->id, k);
            uint32_t operand = ir_graph_item(g, e.term);
            if (operand == NO_ITEM)
                continue;
            const item *o = &g->item.at[operand];
            bool inside = e.kind == EDGE_TEST || e.kind == EDGE_BODY;
            uint8_t seen = inside ? o->outer_level : o->level;
            level = level > seen ? level : seen;
            outer = outer > o->outer_level ? outer : o->outer_level;
        }
        bool certain = is_certain(t);
        t->level = certain ? LEVEL_FREE : level;
        t->outer_level = certain && t->binder == NO_ITEM ? LEVEL_FREE : outer;
    }
}

void ir_graph_build(graph *g, const ir_program *p, arena *a, uint32_t n, const ir_id *result)
{
    *g = (graph){.program = p, .arena = a};
    collect(g, n, result);
    find_binders(g);
    find_uses(g, n, result);
    find_levels(g);
}
