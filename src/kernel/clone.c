/* A kernel's copy, as small as it can be. */
#include "kernel/kernel.h"

static const char *name_in(arena *a, const char *name)
{
    return name ? arena_string(a, name) : NULL;
}

#define COPY_LIST(a, to, from)                                                                                         \
    ((to)->at = arena_copy((a), (from)->at, (from)->n * sizeof(*(from)->at)), (to)->n = (to)->cap = (from)->n)

kernel *k_clone_beside(const kernel *k, arena *a)
{
    kernel *c = arena_copy(a, k, sizeof(*k));
    c->arena = a;
    COPY_LIST(a, &c->value, &k->value);
    COPY_LIST(a, &c->stmt, &k->stmt);
    COPY_LIST(a, &c->mem, &k->mem);
    COPY_LIST(a, &c->arg_type, &k->arg_type);
    COPY_LIST(a, &c->code, &k->code);
    for (k_ref r = 1; r < c->stmt.n; r++)
        if (c->stmt.at[r].chain)
            c->stmt.at[r].chain = arena_copy(a, c->stmt.at[r].chain, sizeof(k_chain));
    c->literals.id = arena_copy(a, k->literals.id, k->literals.cap * sizeof(*k->literals.id));
    c->literals.hash = arena_copy(a, k->literals.hash, k->literals.cap * sizeof(*k->literals.hash));
    return c;
}

kernel *k_clone(const kernel *k, arena *a)
{
    kernel *c = k_clone_beside(k, a);
    c->name = name_in(a, k->name);
    for (k_val v = 1; v < c->value.n; v++)
        c->value.at[v].name = name_in(a, c->value.at[v].name);
    for (uint32_t i = 0; i < c->code.n; i++) {
        c->code.at[i].name = name_in(a, c->code.at[i].name);
        c->code.at[i].source = name_in(a, c->code.at[i].source);
    }
    for (k_mem m = 1; m < c->mem.n; m++)
        c->mem.at[m].name = name_in(a, c->mem.at[m].name);
    return c;
}
