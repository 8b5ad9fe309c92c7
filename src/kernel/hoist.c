/* Loop-invariant code: a value whose operands are all defined outside the loop around it is computed before the loop.
 * Statements are met in the order of the text, so operands have moved before their users are looked at.
 *
 * A value in an IF stays there, as its loop may never need it. What is computed from single values in memory does not:
 * there are few of them, a program that has them mostly needs them in each turn, and compilers, which cannot know that
 * such a load may be made early, would repeat all that depends on it.
 *
 * A division by an extent may fail, as its loop may not: it is moved with the extent or 1, whichever is larger, which
 * is the extent wherever somebody looks at the quotient. */
#include "kernel/edit.h"
#include "kernel/passes.h"

#include <string.h>

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

/* A single value in memory, which may be loaded anywhere. */
static bool loads_one(const kernel *k, const k_stmt *s)
{
    const k_value *index = &k->value.at[s->in[0]];
    return s->op == K_LOAD && k->mem.at[s->mem].one && index->kind == KV_LITERAL && !index->bits;
}

/* An integer division by what is never negative. */
static bool divides_by_natural(const kernel *k, const k_stmt *s)
{
    return s->op == K_LET && ir_op_partial((ir_op)s->sub, (ir_type)k->value.at[s->dst].type) &&
           k->value.at[s->in[1]].kind == KV_ARG && k->value.at[s->in[1]].natural;
}

static bool may_move(const k_edit *e, k_ref r)
{
    const k_stmt *s = &e->k->stmt.at[r];
    if (s->op != K_LET && s->op != K_SELECT && !loads_one(e->k, s))
        return false;
    return !(r < e->stmts && e->fixed[r]) && !(s->op == K_LET && k_partial(e->k, s) && !divides_by_natural(e->k, s));
}

/* Do single values in memory go into it, and no variables? */
static bool is_of_ones(const kernel *k, const bool *of_ones, const k_stmt *s)
{
    bool some = s->op == K_LOAD;
    for (unsigned i = 0; i < k_operands(s); i++) {
        if (k->value.at[s->in[i]].kind == KV_VARIABLE)
            return false;
        some |= of_ones[s->in[i]];
    }
    return some;
}

/* The loop before which the statement is to stand; 0: it stays. */
static k_ref target_of(const k_edit *e, k_ref r, bool of_ones)
{
    const k_stmt *s = &e->k->stmt.at[r];
    k_ref target = 0;
    for (k_ref around = e->owner.at[r]; around; around = e->owner.at[around]) {
        const k_stmt *o = &e->k->stmt.at[around];
        if (!k_is_loop(o) && !(of_ones && o->op == K_IF))
            return target;
        for (unsigned i = 0; i < k_operands(s); i++)
            if (!invariant(e, around, s->in[i]))
                return target;
        target = k_is_loop(o) ? around : target;
    }
    return target;
}

static k_val new_value(kernel *k, k_value_kind kind, ir_bits bits)
{
    vec_push(k->arena, &k->value, ((k_value){.kind = (uint8_t)kind, .type = T_I64, .bits = bits}));
    return k->value.n - 1;
}

static k_val at_least_1(k_edit *e, k_ref before, k_val natural)
{
    kernel *k = e->k;
    const k_val one = new_value(k, KV_LITERAL, 1), larger = new_value(k, KV_RESULT, 0);
    const k_stmt max = {.op = K_LET, .sub = OP_MAX, .dst = larger, .in = {natural, one}};
    k_insert(e, before, &max);
    return larger;
}

void k_hoist(kernel *k, arena *a)
{
    k_edit e;
    bool *of_ones = arena_array(a, *of_ones, k->value.n);
    memset(of_ones, 0, k->value.n * sizeof(*of_ones));
    k_edit_begin(&e, k, a);
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.event != K_WALK_AT || !may_move(&e, w.at))
            continue;
        const k_stmt *s = &k->stmt.at[w.at];
        of_ones[s->dst] = !divides_by_natural(k, s) && is_of_ones(k, of_ones, s);
        k_ref target = target_of(&e, w.at, of_ones[s->dst]);
        if (!target)
            continue;
        k_stmt moved = k->stmt.at[w.at];
        if (divides_by_natural(k, &moved))
            moved.in[1] = at_least_1(&e, target, moved.in[1]);
        k_insert(&e, target, &moved);
        k_remove(k, w.at);
    }
    k_sweep(k);
}
