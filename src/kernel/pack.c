/* Loads and stores of neighbouring elements by one thread: which statements of a loop are such. */
#include "kernel/pack.h"

#include "kernel/walk.h"

static const k_stmt *defined_in(const kernel *k, const k_stmt *loop, k_val v)
{
    const k_value *x = &k->value.at[v];
    if (x->kind != KV_RESULT && x->kind != KV_VARIABLE)
        return NULL;
    for (k_ref r = loop->body; r; r = k->stmt.at[r].next)
        if (r == x->def)
            return &k->stmt.at[r];
    return NULL;
}

/* Takes a sum apart until the loop's own index is left. */
static bool find_terms(const kernel *k, const k_stmt *loop, k_val index, k_pack *out)
{
    out->terms = 0;
    while (index != loop->dst) {
        const k_stmt *s = defined_in(k, loop, index);
        if (!s || s->op != K_LET || s->sub != OP_ADD || out->terms == K_PACK_TERMS)
            return false;
        unsigned inner = s->in[1] == loop->dst || defined_in(k, loop, s->in[1]);
        k_val other = s->in[!inner];
        if (other == loop->dst || defined_in(k, loop, other))
            return false;
        out->term[out->terms++] = other;
        index = s->in[inner];
    }
    return true;
}

static bool stored_alone(const kernel *k, const k_stmt *x)
{
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *y = &k->stmt.at[r];
        if (y->mem == x->mem && y->op != K_STORE)
            return false;
    }
    return k->mem.at[x->mem].once;
}

bool k_pack_access(const kernel *k, k_ref loop, const k_stmt *x, k_pack *out)
{
    const k_memory *m = &k->mem.at[x->mem];
    if ((x->op != K_LOAD && x->op != K_STORE) || m->space != K_GLOBAL || m->every || m->type == T_BOOL)
        return false;
    if (x->op == K_LOAD ? m->written : !stored_alone(k, x))
        return false;
    return find_terms(k, &k->stmt.at[loop], x->in[0], out);
}

/* The innermost pack around the current statement, if it is directly in it. */
static k_ref pack_around(const k_walk *w)
{
    k_ref around = k_walk_parent(w);
    const k_stmt *s = &w->k->stmt.at[around];
    return around && s->op == K_FOR && s->sub == K_PACK ? around : 0;
}

static bool same_place(const k_pack *x, const k_pack *y)
{
    return x->terms == y->terms && memcmp(x->term, y->term, x->terms * sizeof(k_val)) == 0;
}

bool k_packs_pay(const kernel *k, arena *a)
{
    k_pack first = {0};
    bool any = false;
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        k_pack pack;
        if (w.event != K_WALK_AT)
            continue;
        if (s->op == K_CHECK)
            return false;
        if (s->op != K_LOAD && s->op != K_STORE)
            continue;
        bool inside = false;
        for (uint32_t i = 0; i < w.open.n; i++)
            inside |= k->stmt.at[w.open.at[i] & 0x7fffffffu].sub == K_PACK &&
                      k->stmt.at[w.open.at[i] & 0x7fffffffu].op == K_FOR;
        if (!inside || k->mem.at[s->mem].space != K_GLOBAL || k->value.at[s->in[0]].kind == KV_LITERAL)
            continue;
        k_ref loop = pack_around(&w);
        if (!loop || !k_pack_access(k, loop, s, &pack) || (any && !same_place(&pack, &first)))
            return false;
        first = pack;
        any = true;
    }
    return any;
}
