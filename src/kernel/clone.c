/* A kernel's copy, as small as it can be. */
#include "kernel/kernel.h"

static const char *name_in(arena *a, const char *name)
{
    return name ? arena_string(a, name) : NULL;
}

#define COPY_LIST(a, to, from)                                                                                         \
    ((to)->at = arena_copy((a), (from)->at, (from)->n * sizeof(*(from)->at)), (to)->n = (to)->cap = (from)->n)

#define SHARE_LIST(to, from) ((to)->at = (from)->at, (to)->n = (to)->cap = (from)->n)

static void copy_statements(kernel *c, const kernel *k, arena *a)
{
    COPY_LIST(a, &c->stmt, &k->stmt);
    for (k_ref r = 1; r < c->stmt.n; r++)
        if (c->stmt.at[r].chain)
            c->stmt.at[r].chain = arena_copy(a, c->stmt.at[r].chain, sizeof(k_chain));
}

static void copy_literals(kernel *c, const kernel *k, arena *a)
{
    c->literals.id = arena_copy(a, k->literals.id, k->literals.cap * sizeof(*k->literals.id));
    c->literals.hash = arena_copy(a, k->literals.hash, k->literals.cap * sizeof(*k->literals.hash));
}

/* All but values, statements and literals. */
static kernel *copy_rest(const kernel *k, arena *a)
{
    kernel *c = arena_copy(a, k, sizeof(*k));
    c->arena = a;
    COPY_LIST(a, &c->mem, &k->mem);
    COPY_LIST(a, &c->arg_type, &k->arg_type);
    COPY_LIST(a, &c->code, &k->code);
    return c;
}

kernel *k_clone_beside(const kernel *k, arena *a)
{
    kernel *c = copy_rest(k, a);
    COPY_LIST(a, &c->value, &k->value);
    copy_statements(c, k, a);
    copy_literals(c, k, a);
    return c;
}

static bool same_name(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

static bool same_values(const kernel *x, const kernel *y)
{
    bool same = x->value.n == y->value.n;
    for (k_val v = 1; v < x->value.n && same; v++) {
        const k_value *p = &x->value.at[v], *q = &y->value.at[v];
        same = p->kind == q->kind && p->type == q->type && p->shape == q->shape && p->natural == q->natural &&
               p->def == q->def && p->step == q->step && p->bits == q->bits && same_name(p->name, q->name);
    }
    return same;
}

static bool same_statements(const kernel *x, const kernel *y)
{
    bool same = x->stmt.n == y->stmt.n;
    for (k_ref r = 1; r < x->stmt.n && same; r++) {
        const k_stmt *p = &x->stmt.at[r], *q = &y->stmt.at[r];
        same = p->op == q->op && p->sub == q->sub && p->site == q->site && p->dst == q->dst &&
               !memcmp(p->in, q->in, sizeof(p->in)) && p->mem == q->mem && p->body == q->body &&
               p->orelse == q->orelse && p->next == q->next && !p->chain && !q->chain;
    }
    return same;
}

kernel *k_clone_like(const kernel *k, const kernel *like, arena *a)
{
    kernel *c = copy_rest(k, a);
    const bool values = like && same_values(k, like);
    if (values) {
        SHARE_LIST(&c->value, &like->value);
        c->literals = like->literals; /* a table of the values that are literals */
    } else {
        COPY_LIST(a, &c->value, &k->value);
        copy_literals(c, k, a);
    }
    if (like && same_statements(k, like))
        SHARE_LIST(&c->stmt, &like->stmt);
    else
        copy_statements(c, k, a);
    c->name = name_in(a, k->name);
    for (k_val v = 1; v < c->value.n && !values; v++)
        c->value.at[v].name = name_in(a, c->value.at[v].name);
    for (uint32_t i = 0; i < c->code.n; i++) {
        c->code.at[i].name = name_in(a, c->code.at[i].name);
        c->code.at[i].source = name_in(a, c->code.at[i].source);
    }
    for (k_mem m = 1; m < c->mem.n; m++)
        c->mem.at[m].name = name_in(a, c->mem.at[m].name);
    return c;
}

kernel *k_clone(const kernel *k, arena *a)
{
    return k_clone_like(k, NULL, a);
}
