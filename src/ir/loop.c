/* Scalar loops: checks, scope, and interning up to the names of the loop's own variables, so that two copies of one
 * loop over the same initial values are one node. */
#include "ir/intern.h"

/* --- interning --- */

/* Hashes over a walk's nodes: hash.at[k] belongs to list.at[k], slot[id] is k. */
typedef struct hashing {
    const ir_program *p;
    uint64_t *hash;
    uint64_t sum; /* of operands, for commutative operators: independent of their order */
    uint64_t chain;
} hashing;

static void hash_operand(void *env, ir_id id)
{
    hashing *h = env;
    uint64_t v = ir_reached(h->p, id) ? h->hash[h->p->state->slot.at[id]] : hash_mix(3, id);
    h->sum += v;
    h->chain = hash_mix(h->chain, v);
}

/* Gives the variables of a loop their hashes: the loop's number and their position. */
static void name_variables(hashing *h, const ir_loop *loop, uint64_t number)
{
    const ir_state *s = h->p->state;
    for (uint32_t i = 0; i < loop->states; i++)
        if (ir_reached(h->p, loop->var[i]))
            h->hash[s->slot.at[loop->var[i]]] = hash_mix(hash_mix(7, number), i);
    if (loop->index && ir_reached(h->p, loop->index))
        h->hash[s->slot.at[loop->index]] = hash_mix(11, number);
}

static uint64_t hash_loop(ir_program *p, const ir_loop *loop, const ir_ids *inside)
{
    ir_state *s = p->state;
    hashing h = {.p = p, .hash = arena_array(p->arena, uint64_t, inside->n + 1)};
    for (uint32_t k = 0; k < inside->n; k++) {
        s->slot.at[inside->at[k]] = k;
        h.hash[k] = hash_mix(3, inside->at[k]); /* stays for free variables */
    }
    name_variables(&h, loop, 0);
    uint64_t number = 1;
    for (uint32_t k = 0; k < inside->n; k++)
        if (ir_at(p, inside->at[k])->kind == IR_LOOP)
            name_variables(&h, ir_at(p, inside->at[k])->u.loop, number++);
    for (uint32_t k = 0; k < inside->n; k++) {
        const ir_node *n = ir_at(p, inside->at[k]);
        if (n->kind == IR_VAR)
            continue;
        h.chain =
            hash_mix(n->kind | (uint64_t)n->type << 8 | (uint64_t)n->flags << 16 | (uint64_t)n->op << 24, n->array);
        if (n->kind != IR_LOOP)
            h.chain = hash_mix(h.chain, n->u.literal);
        h.sum = h.chain;
        ir_each_operand(p, inside->at[k], hash_operand, &h);
        bool swaps = n->kind == IR_OP && (ir_ops[n->op].flags & OP_COMMUTES);
        h.hash[k] = swaps ? h.sum : h.chain;
    }
    h.chain = hash_mix(loop->states, loop->cond != 0);
    for (uint32_t i = 0; i < loop->states; i++) {
        h.chain = hash_mix(h.chain, loop->init[i]);
        hash_operand(&h, loop->next[i]);
    }
    if (loop->cond)
        hash_operand(&h, loop->cond);
    return hash_mix(h.chain, loop->count);
}

/* Comparison of an existing loop with a new one: pairs of nodes still to be compared. */
typedef struct comparison {
    ir_program *p;
    const ir_loop *wanted;
    ir_ids left, right;
    map64 pair; /* left node -> right node */
} comparison;

static void expect(comparison *c, ir_id a, ir_id b)
{
    vec_push(c->p->arena, &c->left, a);
    vec_push(c->p->arena, &c->right, b);
}

static bool expect_loops(comparison *c, const ir_loop *a, const ir_loop *b)
{
    if (a->states != b->states || !a->cond != !b->cond)
        return false;
    for (uint32_t i = 0; i < a->states; i++) {
        if (ir_at(c->p, a->var[i])->type != ir_at(c->p, b->var[i])->type)
            return false;
        map64_put(c->p->arena, &c->pair, a->var[i], b->var[i]);
        expect(c, a->init[i], b->init[i]);
        expect(c, a->next[i], b->next[i]);
    }
    if (a->cond) {
        expect(c, a->cond, b->cond);
        return true;
    }
    map64_put(c->p->arena, &c->pair, a->index, b->index);
    expect(c, a->count, b->count);
    return true;
}

static bool expect_nodes(comparison *c, ir_id a, ir_id b)
{
    const ir_node *x = ir_at(c->p, a), *y = ir_at(c->p, b);
    if (x->kind != y->kind || x->type != y->type || x->flags != y->flags || x->op != y->op || x->n != y->n ||
        x->array != y->array || x->kind == IR_VAR)
        return false;
    if (x->kind == IR_LOOP)
        return expect_loops(c, x->u.loop, y->u.loop);
    if (x->u.literal != y->u.literal)
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        expect(c, c->p->arg.at[x->args + i], c->p->arg.at[y->args + i]);
    return true;
}

static ir_id least_variable(const ir_loop *l)
{
    ir_id least = l->count ? l->index : l->var[0];
    for (uint32_t i = 0; i < l->states; i++)
        least = l->var[i] < least ? l->var[i] : least;
    return least;
}

static bool same_loop(const void *env, uint32_t id)
{
    comparison c = *(const comparison *)env;
    const ir_loop *old = ir_at(c.p, id)->u.loop;
    ir_id first = least_variable(old);
    if (!expect_loops(&c, old, c.wanted))
        return false;
    while (c.left.n) {
        ir_id a = c.left.at[--c.left.n], b = c.right.at[--c.right.n];
        if (a == b && ir_at(c.p, a)->scope < first)
            continue;
        ir_id known = map64_get(&c.pair, a);
        if (known ? known != b : !expect_nodes(&c, a, b))
            return false;
        if (!known)
            map64_put(c.p->arena, &c.pair, a, b);
    }
    return true;
}

/* --- construction --- */

static bool check_state(ir_program *p, uint32_t site, const ir_loop *l, const char *name, uint32_t i)
{
    ir_id part[3] = {l->init[i], l->var[i], l->next[i]};
    for (unsigned k = 0; k < 3; k++)
        if (!part[k] || !ir_expect_scalar(p, site, name, part[k]))
            return false;
    ir_type wanted = (ir_type)ir_at(p, part[1])->type;
    for (unsigned k = 0; k < 3; k++) {
        ir_type found = (ir_type)ir_at(p, part[k])->type;
        if (found != wanted)
            return ir_fail(p, site, "%s: state %u is of type %s, but its %s of type %s", name, i, ir_type_name(wanted),
                           k ? "next value" : "initial value", ir_type_name(found));
    }
    return true;
}

static bool check_loop(ir_program *p, uint32_t site, const ir_loop *l)
{
    const char *name = ir_operation(p, site, l->count ? "iterate" : "while");
    for (uint32_t i = 0; i < l->states; i++)
        if (!check_state(p, site, l, name, i))
            return false;
    ir_id control = l->count ? l->count : l->cond;
    if (!control)
        return p->error.n ? false
                          : ir_fail(p, site, "%s: a loop without condition and count; it needs one of them", name);
    if (l->states == 0)
        return ir_fail(p, site, "%s: a loop without state; it needs some", name);
    if (!ir_expect_scalar(p, site, name, control))
        return false;
    ir_type wanted = l->count ? T_I64 : T_BOOL, found = (ir_type)ir_at(p, control)->type;
    if (found != wanted)
        return ir_fail(p, site, "%s: the %s is of type %s, not %s", name, l->count ? "count" : "condition",
                       ir_type_name(found), ir_type_name(wanted));
    return true;
}

static ir_loop *copy_loop(ir_program *p, const ir_loop *l)
{
    ir_loop *copy = arena_copy(p->arena, l, sizeof *l);
    size_t bytes = l->states * sizeof(ir_id);
    copy->init = arena_copy(p->arena, l->init, bytes);
    copy->var = arena_copy(p->arena, l->var, bytes);
    copy->next = arena_copy(p->arena, l->next, bytes);
    if (copy->count)
        copy->cond = 0;
    else
        copy->index = 0;
    return copy;
}

/* Variables of this loop and of those inside get slot 1, all other nodes of the walk 0. */
static void mark_bound(ir_program *p, const ir_loop *loop)
{
    ir_state *s = p->state;
    for (uint32_t i = 0; i < loop->states; i++)
        if (ir_reached(p, loop->var[i]))
            s->slot.at[loop->var[i]] = 1;
    if (loop->index && ir_reached(p, loop->index))
        s->slot.at[loop->index] = 1;
}

/* The largest free variable of the inside, given its nodes from the loop's first variable on. */
static ir_id free_scope(ir_program *p, const ir_loop *loop, const ir_ids *inside, ir_id skipped)
{
    ir_state *s = p->state;
    for (uint32_t k = 0; k < inside->n; k++)
        s->slot.at[inside->at[k]] = 0;
    mark_bound(p, loop);
    for (uint32_t k = 0; k < inside->n; k++)
        if (ir_at(p, inside->at[k])->kind == IR_LOOP)
            mark_bound(p, ir_at(p, inside->at[k])->u.loop);
    ir_id scope = skipped;
    for (uint32_t k = 0; k < inside->n; k++) {
        ir_id id = inside->at[k];
        if (ir_at(p, id)->kind == IR_VAR && !s->slot.at[id] && id > scope)
            scope = id;
    }
    return scope;
}

/* Passes and printers may go down one C call a nesting level. Loops that the walk leaves out do not depend on this
 * one's variables: they count as standing beside it. */
static bool set_depth(ir_program *p, uint32_t site, ir_loop *loop, const ir_ids *inside)
{
    const char *name = ir_operation(p, site, "loop");
    loop->depth = 1;
    for (uint32_t k = 0; k < inside->n; k++) {
        if (ir_at(p, inside->at[k])->kind != IR_LOOP)
            continue;
        const ir_loop *inner = ir_at(p, inside->at[k])->u.loop;
        loop->depth = inner->depth >= loop->depth ? inner->depth + 1 : loop->depth;
        if (least_variable(inner) < least_variable(loop))
            return ir_fail(
                p, site, "%s: its variables were made after those of a loop inside; make the outer loop's first", name);
    }
    return loop->depth <= IR_MAX_NESTING ||
           ir_fail(p, site,
                   "%s: loops nested more than %d deep; compute the outer ones as arrays, by sn_map or sn_generate",
                   name, IR_MAX_NESTING);
}

ir_id ir_loop_new(ir_program *p, uint32_t site, const ir_loop *description)
{
    if (!check_loop(p, site, description))
        return 0;
    ir_loop *loop = copy_loop(p, description);
    ir_ids root = {0}, inside = {0};
    for (uint32_t i = 0; i < loop->states; i++)
        vec_push(p->arena, &root, loop->next[i]);
    if (loop->cond)
        vec_push(p->arena, &root, loop->cond);
    ir_node node = {.kind = IR_LOOP, .site = site};
    ir_id skipped = ir_reach(p, root.n, root.at, least_variable(loop), &inside);
    uint64_t hash = hash_loop(p, loop, &inside);
    comparison wanted = {.p = p, .wanted = loop};
    ir_id id = intern_find(&p->state->loops, hash, same_loop, &wanted);
    if (id)
        return id;
    node.scope = free_scope(p, loop, &inside, skipped);
    if (!set_depth(p, site, loop, &inside))
        return 0;
    if (loop->count)
        vec_push(p->arena, &root, loop->count);
    for (uint32_t i = 0; i < loop->states; i++)
        vec_push(p->arena, &root, loop->init[i]);
    for (uint32_t i = 0; i < root.n; i++)
        node.partial |= ir_at(p, root.at[i])->partial;
    for (uint32_t i = loop->states + (loop->cond != 0); i < root.n; i++)
        node.scope = ir_at(p, root.at[i])->scope > node.scope ? ir_at(p, root.at[i])->scope : node.scope;
    node.u.loop = loop;
    id = p->node.n;
    vec_push(p->arena, &p->node, node);
    intern_add(p->arena, &p->state->loops, hash, id);
    return id;
}

static bool has_state(ir_program *p, ir_id id, uint32_t component)
{
    if (!id)
        return false;
    if (id >= p->node.n || ir_at(p, id)->kind != IR_LOOP)
        return ir_fail(p, 0, "a final state is read of something else; only loops have some");
    uint32_t states = ir_at(p, id)->u.loop->states;
    if (component >= states)
        return ir_fail(p, ir_at(p, id)->site, "there is no state %u; the loop has %u, from 0 on", component, states);
    return true;
}

ir_id ir_proj_plain(ir_program *p, ir_id id, uint32_t component)
{
    if (!has_state(p, id, component))
        return 0;
    ir_node key = {.kind = IR_PROJ, .type = ir_at(p, ir_at(p, id)->u.loop->var[component])->type};
    key.u.literal = component;
    return ir_intern(p, ir_at(p, id)->site, &key, 1, &id);
}

ir_id ir_proj(ir_program *p, ir_id id, uint32_t component)
{
    if (!has_state(p, id, component))
        return 0;
    const ir_loop *loop = ir_at(p, id)->u.loop;
    bool constant = loop->next[component] == loop->var[component];
    const ir_node *count = ir_at(p, loop->count); /* node 0 is of no kind */
    bool never = count->kind == IR_CONST && (int64_t)count->u.literal <= 0;
    if ((constant || never) && !ir_at(p, id)->partial)
        return loop->init[component];
    return ir_proj_plain(p, id, component);
}
