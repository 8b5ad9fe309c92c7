/* Common subexpressions: values are numbered in the order of the text, by operation and operands, and a value is
 * known to the list it is defined in and the lists inside that. What variables and memory hold is told apart by
 * stamps: the moment of the last change that may have happened. A sum less one of its summands is the other one. */
#include "kernel/edit.h"
#include "kernel/passes.h"

typedef struct known { /* a statement that may be met again */
    uint64_t hash;
    k_ref stmt;
    uint32_t stamp;
    uint32_t next; /* the number of the one before it with the same hash; 0: none */
} known;

typedef struct sharing {
    k_edit e;
    k_val *stands;         /* per value: what is used in its place */
    uint32_t now;          /* the moment; moves at every change */
    uint32_t *set, *wrote; /* per value and per memory: the moment of its last change in the text */
    uint32_t *entered;     /* per statement: when a loop was begun */
    VEC(known) known;
    VEC(uint32_t) mark; /* per open list: known.n at its start */
    map64 latest;       /* hash -> 1 + the number of the last known statement that has it, from 1 on; 1: none */
} sharing;

/* --- when something changed last --- */

/* The innermost open loop that may have changed it in an earlier turn, if it did, decides. */
static uint32_t last_change(const sharing *s, const k_walk *w, bool memory, uint32_t what, uint32_t changed)
{
    for (uint32_t i = w->open.n; i-- > 0;) {
        k_ref loop = k_walk_open(w, i);
        if (s->entered[loop] && (memory ? k_changes_memory : k_changes_variable)(&s->e, loop, what))
            return s->entered[loop] > changed ? s->entered[loop] : changed;
    }
    return changed;
}

/* Outputs may be written by other pieces at any time. */
static bool may_load_again(const k_memory *m)
{
    return m->space != K_GLOBAL || !m->written;
}

static uint32_t stamp_of(const sharing *s, const k_walk *w, const k_stmt *x)
{
    uint32_t stamp = 0;
    for (unsigned i = 0; i < k_operands(x); i++) {
        if (s->e.k->value.at[x->in[i]].kind != KV_VARIABLE)
            continue;
        uint32_t at = last_change(s, w, false, x->in[i], s->set[x->in[i]]);
        stamp = at > stamp ? at : stamp;
    }
    if (x->op != K_LOAD)
        return stamp;
    uint32_t at = last_change(s, w, true, x->mem, s->wrote[x->mem]);
    return at > stamp ? at : stamp;
}

/* --- statements that were met --- */

static bool shared_kind(const sharing *s, k_ref r)
{
    const k_stmt *x = &s->e.k->stmt.at[r];
    if (s->e.fixed[r])
        return false;
    return x->op == K_LET || x->op == K_SELECT || (x->op == K_LOAD && may_load_again(&s->e.k->mem.at[x->mem]));
}

static void order_operands(k_stmt *x)
{
    if (x->op != K_LET || !(ir_ops[x->sub].flags & OP_COMMUTES) || x->in[0] <= x->in[1])
        return;
    k_val first = x->in[0];
    x->in[0] = x->in[1];
    x->in[1] = first;
}

static uint64_t hash_of(const kernel *k, const k_stmt *x, uint32_t stamp)
{
    uint64_t what = x->op | (uint64_t)x->sub << 8 | (uint64_t)x->mem << 16;
    uint64_t h = hash_mix(hash_mix(what, k->value.at[x->dst].type), stamp);
    return hash_mix(hash_mix(h, x->in[0] | (uint64_t)x->in[1] << 32), x->in[2]);
}

static bool same(const kernel *k, const k_stmt *x, k_ref other)
{
    k_stmt y = k->stmt.at[other];
    order_operands(&y);
    return x->op == y.op && x->sub == y.sub && x->mem == y.mem && !memcmp(x->in, y.in, sizeof(x->in)) &&
           k->value.at[x->dst].type == k->value.at[y.dst].type;
}

/* The value that the statement would give again, or 0; then it is known from now on. */
static k_val find(sharing *s, const k_walk *w)
{
    const kernel *k = s->e.k;
    k_stmt x = k->stmt.at[w->at];
    order_operands(&x);
    uint32_t stamp = stamp_of(s, w, &x);
    uint64_t hash = hash_of(k, &x, stamp);
    uint32_t first = map64_get(&s->latest, hash);
    first -= first > 0;
    for (uint32_t i = first; i; i = s->known.at[i - 1].next) {
        const known *n = &s->known.at[i - 1];
        if (n->hash == hash && n->stamp == stamp && same(k, &x, n->stmt))
            return k->stmt.at[n->stmt].dst;
    }
    vec_push(s->e.arena, &s->known, ((known){hash, w->at, stamp, first}));
    map64_put(s->e.arena, &s->latest, hash, s->known.n + 1);
    return 0;
}

static void close_list(sharing *s)
{
    uint32_t mark = s->mark.at[--s->mark.n];
    while (s->known.n > mark) {
        const known *n = &s->known.at[--s->known.n];
        map64_put(s->e.arena, &s->latest, n->hash, n->next + 1);
    }
}

/* --- the walk --- */

static void replace(void *env, k_val *v)
{
    const sharing *s = env;
    *v = s->stands[*v];
}

/* A copy of a value stands for the value; one of a variable is what the variable holds now. */
static bool is_copy(const kernel *k, const k_stmt *x)
{
    const k_value *from = &k->value.at[x->in[0]];
    return x->op == K_LET && x->sub == OP_BITCAST && from->kind != KV_VARIABLE &&
           from->type == k->value.at[x->dst].type;
}

/* What is left of a sum of integers without one of its summands: the other one. 0: it is no such difference. */
static k_val rest_of_sum(const sharing *s, k_ref r)
{
    const kernel *k = s->e.k;
    const k_stmt *x = &k->stmt.at[r];
    const k_value *sum = &k->value.at[x->in[0]];
    if (x->op != K_LET || x->sub != OP_SUB || sum->kind != KV_RESULT || ir_type_float((ir_type)sum->type) ||
        s->e.fixed[r])
        return 0;
    const k_stmt *y = &k->stmt.at[sum->def];
    if (y->op != K_LET || y->sub != OP_ADD)
        return 0;
    k_val left = y->in[0] == x->in[1] ? y->in[1] : y->in[1] == x->in[1] ? y->in[0] : 0;
    return left && k->value.at[left].kind != KV_VARIABLE && k->value.at[x->in[1]].kind != KV_VARIABLE ? left : 0;
}

static void visit(sharing *s, const k_walk *w)
{
    kernel *k = s->e.k;
    k_each_operand(k, w->at, replace, s);
    const k_stmt *x = &k->stmt.at[w->at];
    if (x->op == K_SET)
        s->set[x->dst] = ++s->now;
    if (x->op == K_STORE || x->op == K_ATOMIC || x->op == K_COMPACT)
        s->wrote[x->mem] = ++s->now;
    if (k_is_loop(x))
        s->entered[w->at] = ++s->now;
    if (k_compound(x))
        vec_push(s->e.arena, &s->mark, s->known.n);
    if (!shared_kind(s, w->at))
        return;
    k_val rest = rest_of_sum(s, w->at), there = rest ? rest : is_copy(k, x) ? x->in[0] : find(s, w);
    if (!there)
        return;
    s->stands[x->dst] = there;
    k_remove(k, w->at);
}

static void leave(sharing *s, k_ref r)
{
    const k_stmt *x = &s->e.k->stmt.at[r];
    close_list(s);
    s->entered[r] = 0;
    for (unsigned j = 0; x->op == K_CHAIN && j < x->chain->arity; j++)
        replace(s, &x->chain->result[j]);
}

void k_share(kernel *k, arena *a)
{
    sharing s = {.now = 1};
    k_edit_begin(&s.e, k, a);
    s.stands = arena_array(a, *s.stands, k->value.n);
    s.set = arena_array(a, *s.set, k->value.n);
    s.wrote = arena_array(a, *s.wrote, k->mem.n);
    s.entered = arena_array(a, *s.entered, k->stmt.n);
    for (k_val v = 0; v < k->value.n; v++)
        s.stands[v] = v;
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        if (w.event == K_WALK_AT) {
            visit(&s, &w);
        } else if (w.event == K_WALK_ELSE) {
            close_list(&s);
            vec_push(a, &s.mark, s.known.n);
        } else {
            leave(&s, w.at);
        }
    }
    k_sweep(k);
}
