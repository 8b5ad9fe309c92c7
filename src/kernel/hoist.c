/* Loop-invariant code: a value whose operands are all defined outside the loop around it is computed before the loop.
 * Statements are met in the order of the text, so operands have moved before their users are looked at. */
#include "kernel/edit.h"
#include "kernel/passes.h"

/* Is the value there before the loop, and the same in all its turns? */
static bool invariant(const k_edit *e, k_ref loop, k_val v)
{
    const k_value *x = &e->k->value.at[v];
    if (x->kind != KV_RESULT && x->kind != KV_VARIABLE)
        return true;
    if (!x->def || x->def == loop || e->owner.at[x->def] == loop)
        return false;
    return x->kind != KV_VARIABLE || !k_changes_variable(e, loop, v);
}

static bool may_move(const k_edit *e, k_ref r)
{
    const k_stmt *s = &e->k->stmt.at[r];
    if (s->op != K_LET && s->op != K_SELECT)
        return false;
    return !(r < e->stmts && e->fixed[r]) && !(s->op == K_LET && k_partial(e->k, s));
}

/* The loop before which the statement is to stand; 0: it stays. */
static k_ref target_of(const k_edit *e, k_ref r)
{
    const k_stmt *s = &e->k->stmt.at[r];
    k_ref target = 0;
    for (k_ref loop = e->owner.at[r]; loop && k_is_loop(&e->k->stmt.at[loop]); loop = e->owner.at[loop]) {
        for (unsigned i = 0; i < k_operands(s); i++)
            if (!invariant(e, loop, s->in[i]))
                return target;
        target = loop;
    }
    return target;
}

void k_hoist(kernel *k, arena *a)
{
    k_edit e;
    k_edit_begin(&e, k, a);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.event != K_WALK_AT || !may_move(&e, w.at))
            continue;
        k_ref target = target_of(&e, w.at);
        if (!target)
            continue;
        const k_stmt moved = k->stmt.at[w.at];
        k_insert(&e, target, &moved);
        k_remove(k, w.at);
    }
    k_sweep(k);
}
