/* CHECKs come before the loads between which they stand, with what their operands are made of, where that is made of
 * nothing that is loaded there. Then such loads follow each other, and emitters see that lanes read neighbours.
 *
 * Loads have no effect, so a lane that fails may do without them. CHECKs stay in their order, and so does everything
 * else: a stretch ends at any other statement, and at a CHECK that does not move. */
#include "kernel/edit.h"
#include "kernel/passes.h"

#include <string.h>

enum { MOST_MOVED = 32 /* statements that one CHECK takes along */ };

typedef struct stretch {
    k_edit e;
    k_ref owner;   /* of the list */
    k_ref first;   /* its first load; 0: none */
    VEC(k_ref) of; /* what is made from there on */
    bool *in;      /* per statement of the kernel when the pass began */
} stretch;

static void end_stretch(stretch *s)
{
    for (uint32_t i = 0; i < s->of.n; i++)
        s->in[s->of.at[i]] = false;
    s->of.n = 0;
    s->first = 0;
}

static void begin_or_go_on(stretch *s, k_ref r)
{
    s->first = s->first ? s->first : r;
    s->in[r] = true;
    vec_push(s->e.arena, &s->of, r);
}

/* The statement of the stretch that makes the value; 0: it is there before. */
static k_ref maker(const stretch *s, k_val v)
{
    const k_value *x = &s->e.k->value.at[v];
    return x->kind == KV_RESULT && x->def < s->e.stmts && s->in[x->def] ? x->def : 0;
}

static bool may_move(const stretch *s, k_ref r)
{
    const k_stmt *x = &s->e.k->stmt.at[r];
    if (s->e.fixed[r] || (x->op != K_LET && x->op != K_SELECT) || (x->op == K_LET && k_partial(s->e.k, x)))
        return false;
    for (unsigned i = 0; i < k_operands(x); i++)
        if (s->e.k->value.at[x->in[i]].kind == KV_VARIABLE)
            return false;
    return true;
}

/* The statements of the stretch that the CHECK takes along, in their order; false: it stays. */
static bool find_moved(const stretch *s, k_ref check, k_ref *moved, uint32_t *n)
{
    k_ref wanted[MOST_MOVED + 1];
    uint32_t found = 0;
    wanted[found++] = check;
    for (uint32_t i = 0; i < found; i++) {
        const k_stmt *x = &s->e.k->stmt.at[wanted[i]];
        if (i && !may_move(s, wanted[i]))
            return false;
        for (unsigned k = 0; k < k_operands(x); k++) {
            k_ref by = maker(s, x->in[k]);
            bool known = !by;
            for (uint32_t j = 0; j < found && !known; j++)
                known = wanted[j] == by;
            if (known)
                continue;
            if (found > MOST_MOVED)
                return false;
            wanted[found++] = by;
        }
    }
    *n = 0;
    for (uint32_t i = 0; i < s->of.n; i++) /* in the order of the text */
        for (uint32_t j = 1; j < found; j++)
            if (s->of.at[i] == wanted[j])
                moved[(*n)++] = wanted[j];
    return true;
}

static void move(stretch *s, k_ref r)
{
    const k_stmt moved = s->e.k->stmt.at[r];
    k_insert(&s->e, s->first, &moved);
    k_remove(s->e.k, r);
}

static void at_check(stretch *s, k_ref check)
{
    k_ref moved[MOST_MOVED];
    uint32_t n;
    if (!s->first)
        return;
    if (s->e.fixed[check] || !find_moved(s, check, moved, &n)) {
        end_stretch(s);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        move(s, moved[i]);
        s->in[moved[i]] = false;
    }
    move(s, check);
}

void k_checks(kernel *k, arena *a)
{
    stretch s = {0};
    k_walk w;
    k_edit_begin(&s.e, k, a);
    s.in = arena_array(a, bool, k->stmt.n + 1);
    memset(s.in, 0, (k->stmt.n + 1) * sizeof(*s.in));
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.at >= s.e.stmts || w.event != K_WALK_AT) {
            if (w.event != K_WALK_AT)
                end_stretch(&s);
            continue;
        }
        if (s.owner != s.e.owner.at[w.at])
            end_stretch(&s);
        s.owner = s.e.owner.at[w.at];
        switch (k->stmt.at[w.at].op) {
        case K_LOAD:
            begin_or_go_on(&s, w.at);
            break;
        case K_LET:
        case K_SELECT:
            if (s.first)
                begin_or_go_on(&s, w.at);
            break;
        case K_CHECK:
            at_check(&s, w.at);
            break;
        case K_NOP:
            break;
        default:
            end_stretch(&s);
        }
    }
    k_sweep(k);
}
