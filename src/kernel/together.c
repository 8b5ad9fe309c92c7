/* Finds accesses to neighbouring elements: indices of one list that are the same sum but for a constant. */
#include "kernel/together.h"

typedef struct finder {
    const kernel *k;
    arena *arena;
    const bool *other; /* per memory: something but a STORE accesses it */
    k_togethers *out;
} finder;

typedef struct sum { /* term[0] + term[1] + ... + constant, terms in ascending order */
    k_val term[K_TOGETHER_TERMS];
    unsigned terms;
    int64_t constant;
} sum;

static bool is_literal(const kernel *k, k_val v, int64_t *out)
{
    const k_value *x = &k->value.at[v];
    if (x->kind != KV_LITERAL || x->type != T_I64)
        return false;
    *out = (int64_t)x->bits;
    return true;
}

static const k_stmt *sum_at(const kernel *k, k_val v)
{
    const k_value *x = &k->value.at[v];
    const k_stmt *s = x->kind == KV_RESULT ? &k->stmt.at[x->def] : NULL;
    return s && s->op == K_LET && s->sub == OP_ADD ? s : NULL;
}

/* Numbers this large do not matter: they are offsets within a few rows. */
static bool add_terms(const kernel *k, k_val v, sum *to)
{
    enum { FAR = 1 << 20 };
    int64_t literal;
    const k_stmt *s = sum_at(k, v);
    if (s)
        return add_terms(k, s->in[0], to) && add_terms(k, s->in[1], to);
    if (is_literal(k, v, &literal)) {
        to->constant += literal;
        return literal > -FAR && literal < FAR && to->constant > -FAR && to->constant < FAR;
    }
    if (to->terms == K_TOGETHER_TERMS)
        return false;
    unsigned at = to->terms++;
    for (; at && to->term[at - 1] > v; at--)
        to->term[at] = to->term[at - 1];
    to->term[at] = v;
    return true;
}

/* Is the term a multiple of n, if an argument is? */
static bool is_multiple(const kernel *k, k_val v, unsigned n, k_val *argument)
{
    int64_t literal;
    const k_value *x = &k->value.at[v];
    if (is_literal(k, v, &literal))
        return literal % n == 0;
    if (x->kind == KV_ARG && x->type == T_I64 && !*argument) {
        *argument = v;
        return true;
    }
    const k_stmt *s = x->kind == KV_RESULT ? &k->stmt.at[x->def] : NULL;
    if (!s || s->op != K_LET || s->sub != OP_MUL)
        return false;
    k_val none = 0;
    for (unsigned i = 0; i < 2; i++)
        if (k->value.at[s->in[i]].kind != KV_ARG && is_multiple(k, s->in[i], n, &none) && !none)
            return true;
    return is_multiple(k, s->in[0], n, argument) || is_multiple(k, s->in[1], n, argument);
}

static void want_multiple(finder *f, k_val argument, unsigned n)
{
    for (uint32_t i = 0; i < f->out->factor.n; i++)
        if (f->out->factor.at[i] == argument && f->out->of.at[i] == n)
            return;
    vec_push(f->arena, &f->out->factor, argument);
    vec_push(f->arena, &f->out->of, n);
}

static bool is_whole(finder *f, const k_together *g)
{
    k_val argument[K_TOGETHER_TERMS] = {0};
    if (g->found != g->n)
        return false;
    for (unsigned i = 0; i < g->terms; i++)
        if (!is_multiple(f->k, g->term[i], g->n, &argument[i]))
            return false;
    for (unsigned i = 0; i < g->terms; i++)
        if (argument[i])
            want_multiple(f, argument[i], g->n);
    return true;
}

static bool suits(const finder *f, const k_stmt *s)
{
    if ((s->op != K_LOAD && s->op != K_STORE) || !s->mem)
        return false;
    const k_memory *m = &f->k->mem.at[s->mem];
    if (m->space != K_GLOBAL || m->every || m->type == T_BOOL)
        return false;
    return s->op == K_LOAD ? !m->written : m->once && !f->other[s->mem];
}

static bool same_place(const k_together *g, const k_stmt *s, const sum *x, int64_t first)
{
    return g->mem == s->mem && g->op == (k_op)s->op && g->first == first && g->terms == x->terms &&
           !memcmp(g->term, x->term, x->terms * sizeof(k_val));
}

static void note_access(finder *f, uint32_t begin, k_ref id)
{
    const k_stmt *s = &f->k->stmt.at[id];
    sum x = {0};
    if (!suits(f, s) || !add_terms(f->k, s->in[0], &x))
        return;
    unsigned n = k_together_elements((ir_type)f->k->mem.at[s->mem].type);
    int64_t lane = x.constant % (int64_t)n;
    lane += lane < 0 ? n : 0;
    k_together *g = NULL;
    for (uint32_t i = begin; i < f->out->group.n && !g; i++)
        if (same_place(&f->out->group.at[i], s, &x, x.constant - lane))
            g = &f->out->group.at[i];
    if (!g) {
        k_together fresh = {.mem = s->mem, .op = (k_op)s->op, .n = n, .terms = x.terms, .first = x.constant - lane};
        memcpy(fresh.term, x.term, sizeof(x.term));
        vec_push(f->arena, &f->out->group, fresh);
        g = &f->out->group.at[f->out->group.n - 1];
        g->at = id;
    }
    if (g->member[lane])
        return;
    g->member[lane] = id;
    g->found++;
    g->at = s->op == K_STORE ? id : g->at;
}

/* Lists in which lanes may leave are left alone: what comes behind is not for those. */
static void find_in(finder *f, k_ref list)
{
    uint32_t begin = f->out->group.n, kept = begin;
    bool leave = false;
    for (k_ref r = list; r; r = f->k->stmt.at[r].next)
        leave |= f->k->stmt.at[r].op == K_CHECK || f->k->stmt.at[r].op == K_BREAK_IF;
    for (k_ref r = list; r && !leave; r = f->k->stmt.at[r].next)
        note_access(f, begin, r);
    for (uint32_t i = begin; i < f->out->group.n; i++)
        if (is_whole(f, &f->out->group.at[i]))
            f->out->group.at[kept++] = f->out->group.at[i];
    f->out->group.n = kept;
    for (k_ref r = list; r; r = f->k->stmt.at[r].next) {
        const k_stmt *s = &f->k->stmt.at[r];
        if (s->op == K_CHAIN)
            continue;
        if (s->body)
            find_in(f, s->body);
        if (s->orelse)
            find_in(f, s->orelse);
    }
}

void k_find_together(const kernel *k, k_ref either, arena *a, k_togethers *out)
{
    bool *other = arena_alloc(a, k->mem.n + 1);
    for (k_ref r = 1; r < k->stmt.n; r++)
        other[k->stmt.at[r].mem] |= k->stmt.at[r].op != K_STORE;
    finder f = {k, a, other, out};
    find_in(&f, k->stmt.at[either].body);
}
