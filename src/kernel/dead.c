/* Dead code: what stores results, fails or meets other lanes is needed, and so is what that uses, in turn. */
#include "kernel/edit.h"
#include "kernel/passes.h"

typedef struct needs {
    kernel *k;
    arena *arena;
    k_ref *owner;       /* per statement: the one whose list it is in */
    bool *stmt;         /* per statement: needed */
    bool *mem;          /* per memory: what it holds is read */
    bool *variable;     /* per value: a variable that is read */
    VEC(k_ref) open;    /* needed, but what they use is still to be looked at */
    k_ref *next_change; /* per statement that sets a variable or stores: the one before it that does the same */
    k_ref *sets;        /* per value: the last SET of the variable */
    k_ref *stores;      /* per memory: the last STORE or COMPACT to it */
} needs;

static void need(needs *n, k_ref r)
{
    if (n->stmt[r])
        return;
    n->stmt[r] = true;
    vec_push(n->arena, &n->open, r);
}

static void need_chain(needs *n, k_ref change)
{
    for (; change; change = n->next_change[change])
        need(n, change);
}

static void need_value(void *env, k_val *v)
{
    needs *n = env;
    const k_value *x = &n->k->value.at[*v];
    if ((x->kind != KV_RESULT && x->kind != KV_VARIABLE) || !x->def)
        return;
    need(n, x->def);
    if (x->kind == KV_VARIABLE && !n->variable[*v]) {
        n->variable[*v] = true;
        need_chain(n, n->sets[*v]);
    }
}

static void need_memory(needs *n, k_mem m)
{
    if (n->mem[m])
        return;
    n->mem[m] = true;
    need_chain(n, n->stores[m]);
}

/* Needed, whoever looks at what it defines? */
static bool has_effects(const kernel *k, const k_stmt *s)
{
    switch ((k_op)s->op) {
    case K_CHECK:
    case K_FETCH:
    case K_CHAIN:
        return true;
    case K_STORE:
    case K_COMPACT:
    case K_ATOMIC:
        return k->mem.at[s->mem].space == K_GLOBAL && !k->mem.at[s->mem].unread;
    default:
        return false;
    }
}

static void note(needs *n, k_ref r)
{
    const k_stmt *s = &n->k->stmt.at[r];
    k_ref *last = s->op == K_SET                                                ? &n->sets[s->dst]
                  : s->op == K_STORE || s->op == K_COMPACT || s->op == K_ATOMIC ? &n->stores[s->mem]
                                                                                : NULL;
    if (last) {
        n->next_change[r] = *last;
        *last = r;
    }
    if (has_effects(n->k, s))
        need(n, r);
}

/* What a needed statement needs: operands, what it reads, and the statement whose list it is in, with the ways out of
 * that if it is a LOOP. */
static void follow(needs *n, k_ref r)
{
    kernel *k = n->k;
    const k_stmt *s = &k->stmt.at[r];
    k_each_operand(k, r, need_value, n);
    if (n->owner[r])
        need(n, n->owner[r]);
    need_memory(n, s->mem); /* none is 0; what is written is needed already, or is global: nothing else is */
    if (s->op == K_SET && k->value.at[s->dst].def)
        need(n, k->value.at[s->dst].def);
    for (k_ref b = s->op == K_LOOP ? s->body : 0; b; b = k->stmt.at[b].next)
        if (k->stmt.at[b].op == K_BREAK_IF)
            need(n, b);
    for (unsigned j = 0; s->op == K_CHAIN && j < s->chain->arity; j++)
        need_value(n, &s->chain->result[j]);
}

/* Takes a statement with its lists out: those hold nothing that is needed. */
static void drop(kernel *k, const bool *needed)
{
    for (k_ref r = 1; r < k->stmt.n; r++)
        if (!needed[r])
            k_remove(k, r);
}

void k_dead(kernel *k, arena *a)
{
    needs n = {.k = k, .arena = a};
    n.owner = arena_array(a, *n.owner, k->stmt.n);
    n.stmt = arena_alloc(a, k->stmt.n);
    n.mem = arena_alloc(a, k->mem.n);
    n.variable = arena_alloc(a, k->value.n);
    n.next_change = arena_array(a, *n.next_change, k->stmt.n);
    n.sets = arena_array(a, *n.sets, k->value.n);
    n.stores = arena_array(a, *n.stores, k->mem.n);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.event != K_WALK_AT)
            continue;
        n.owner[w.at] = k_walk_parent(&w);
        note(&n, w.at);
    }
    while (n.open.n)
        follow(&n, n.open.at[--n.open.n]);
    drop(k, n.stmt);
    k_sweep(k);
}
