/* The walk over a kernel's statements, with an explicit stack. */
#include "kernel/walk.h"

/* An entry of the stack whose orelse is being walked carries this bit. */
#define IN_ELSE 0x80000000u

void k_walk_begin(k_walk *w, const kernel *k, arena *a)
{
    *w = (k_walk){.k = k, .arena = a};
}

k_ref k_walk_parent(const k_walk *w)
{
    /* At ELSE the statement itself is the top of the stack. */
    uint32_t n = w->open.n - (w->event == K_WALK_ELSE ? 1u : 0u);
    return n ? w->open.at[n - 1] & ~IN_ELSE : 0;
}

k_ref k_walk_open(const k_walk *w, uint32_t i)
{
    return w->open.at[i] & ~IN_ELSE;
}

static bool arrive(k_walk *w, k_ref at, k_walk_event event)
{
    w->at = at;
    w->event = (uint8_t)event;
    if (event != K_WALK_AT)
        return true;
    return ++w->visited <= w->k->stmt.n;
}

static bool leave(k_walk *w)
{
    k_ref top = w->open.at[--w->open.n] & ~IN_ELSE;
    if (w->k->stmt.at[top].op == K_FOR_ALL)
        w->for_all = 0;
    return arrive(w, top, K_WALK_LEAVE);
}

/* The list of the innermost open statement has ended. */
static bool end_list(k_walk *w)
{
    if (!w->open.n)
        return false;
    k_ref top = w->open.at[w->open.n - 1];
    if (!(top & IN_ELSE) && w->k->stmt.at[top].op == K_IF)
        return arrive(w, top, K_WALK_ELSE);
    return leave(w);
}

bool k_walk_next(k_walk *w)
{
    const kernel *k = w->k;
    if (!w->visited)
        return k->body && arrive(w, k->body, K_WALK_AT);
    const k_stmt *s = &k->stmt.at[w->at];
    if (w->event == K_WALK_AT && k_compound(s)) {
        vec_push(w->arena, &w->open, w->at);
        if (s->op == K_FOR_ALL)
            w->for_all = w->at;
        return s->body ? arrive(w, s->body, K_WALK_AT) : end_list(w);
    }
    if (w->event == K_WALK_ELSE) {
        w->open.at[w->open.n - 1] |= IN_ELSE;
        return s->orelse ? arrive(w, s->orelse, K_WALK_AT) : leave(w);
    }
    return s->next ? arrive(w, s->next, K_WALK_AT) : end_list(w);
}

static unsigned called_with(const k_stmt *s)
{
    unsigned n = 1;
    while (n < K_MOST_OPERANDS && s->in[n])
        n++;
    return n;
}

unsigned k_operands(const k_stmt *s)
{
    switch ((k_op)s->op) {
    case K_LET:
        return ir_ops[s->sub].arity;
    case K_SELECT:
    case K_COMPACT:
        return 3;
    case K_CALL:
        return called_with(s);
    case K_CHECK:
        return 4;
    case K_STORE:
    case K_ATOMIC:
    case K_FOR:
    case K_SHUFFLE:
    case K_FETCH:
        return 2;
    case K_DECL:
    case K_SET:
    case K_LOAD:
    case K_IF:
    case K_BREAK_IF:
    case K_FOR_ALL:
    case K_COUNT:
    case K_RANK:
    case K_ALL:
        return 1;
    case K_NOP:
    case K_LOOP:
    case K_CHAIN:
        return 0;
    }
    return 0;
}

const char *k_op_name(k_op op)
{
    static const char *const name[] = {
        [K_NOP] = "nop",         [K_LET] = "let",         [K_SELECT] = "select",   [K_DECL] = "var",
        [K_SET] = "set",         [K_LOAD] = "load",       [K_STORE] = "store",     [K_CHECK] = "check",
        [K_ATOMIC] = "atomic",   [K_IF] = "if",           [K_LOOP] = "loop",       [K_BREAK_IF] = "break_if",
        [K_FOR] = "for",         [K_FOR_ALL] = "for_all", [K_COMPACT] = "compact", [K_COUNT] = "count",
        [K_SHUFFLE] = "shuffle", [K_ALL] = "all",         [K_FETCH] = "fetch",     [K_CHAIN] = "chain",
        [K_CALL] = "call",       [K_RANK] = "rank"};
    return (unsigned)op < ARRAY_LENGTH(name) ? name[op] : "?";
}
