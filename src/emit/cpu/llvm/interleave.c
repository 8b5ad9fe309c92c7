/* Stores of a few neighbouring elements by each lane: their vectors become one stretch of memory. */
#include "emit/cpu/llvm/cg.h"

enum { MOST = 8, DEEPEST = 6 };

/* x - y, if that is plain to see from how both are made. */
static bool difference(const kernel *k, k_val x, k_val y, unsigned deep, int64_t *out)
{
    *out = 0;
    if (x == y)
        return true;
    const k_value *a = &k->value.at[x], *b = &k->value.at[y];
    const k_stmt *s = &k->stmt.at[a->def], *t = &k->stmt.at[b->def];
    bool sum = a->kind == KV_RESULT && s->op == K_LET && s->sub == OP_ADD;
    int64_t more = 0;
    if (!sum || !deep)
        return false;
    if (k->value.at[s->in[1]].kind == KV_LITERAL && difference(k, s->in[0], y, deep - 1, &more)) {
        *out = more + ir_i64_bits(T_I64, k->value.at[s->in[1]].bits);
        return true;
    }
    bool both = b->kind == KV_RESULT && t->op == K_LET && t->sub == OP_ADD;
    if (both && s->in[0] == t->in[0])
        return difference(k, s->in[1], t->in[1], deep - 1, out);
    return both && s->in[1] == t->in[1] && difference(k, s->in[0], t->in[0], deep - 1, out);
}

/* How many stores from `first` on write neighbours: lane i its elements n i, n i + 1 ... n i + n - 1; 0: none. */
static unsigned neighbours(const cg *g, k_ref first)
{
    const kernel *k = g->k;
    const k_stmt *s = &k->stmt.at[first];
    if (s->op != K_STORE || !g->thread || g->mask.on || k->mem.at[s->mem].space != K_GLOBAL)
        return 0;
    const k_value *index = &k->value.at[s->in[0]];
    if (index->shape != K_AFFINE || index->step < 2 || index->step > MOST || g->lanes * index->step > 256)
        return 0;
    k_ref r = first;
    for (int64_t i = 0; i < index->step; i++, r = k->stmt.at[r].next) {
        const k_stmt *next = &k->stmt.at[r];
        int64_t apart;
        if (!r || next->op != K_STORE || next->mem != s->mem || (g->part && g->part[r] != g->own_part) ||
            !difference(k, next->in[0], s->in[0], DEEPEST, &apart) || apart != i)
            return 0;
    }
    return (unsigned)index->step;
}

/* Vector number `part` of x[0][0], x[1][0] ... x[n - 1][0], x[0][1] ... */
static cg_ref woven(cg *g, const cg_ref *x, unsigned n, unsigned part)
{
    cg_ref r = NULL;
    int index[256];
    for (unsigned from = 0; from < n; from++) {
        for (unsigned lane = 0; lane < g->lanes; lane++) {
            unsigned at = part * g->lanes + lane;
            bool here = at % n == from;
            int taken = (int)(at / n);
            index[lane] = from == 0 ? (here ? taken : -1) : here ? (int)g->lanes + taken : (int)lane;
        }
        r = cg_shuffle(g, from ? r : x[0], from ? x[from] : NULL, g->lanes, index);
    }
    return r;
}

/* x[0][0], x[n / 2][0], x[0][1] ...: woven again with the other half they are in order. */
static void weave(cg *g, cg_ref *x, unsigned n, cg_ref *out)
{
    if (n & (n - 1)) {
        for (unsigned part = 0; part < n; part++)
            out[part] = woven(g, x, n, part);
        return;
    }
    cg_ref work[MOST];
    for (unsigned half = n / 2; half; half /= 2, memcpy(x, work, n * sizeof(*x)))
        for (unsigned i = 0; i < n; i += 2) {
            cg_ref pair[] = {x[i / 2], x[i / 2 + n / 2]};
            work[i] = woven(g, pair, 2, 0);
            work[i + 1] = woven(g, pair, 2, 1);
        }
    memcpy(out, x, n * sizeof(*x));
}

unsigned cg_store_interleaved(cg *g, k_ref first)
{
    unsigned n = neighbours(g, first);
    const k_stmt *s = &g->k->stmt.at[first];
    const k_memory *m = &g->k->mem.at[s->mem];
    cg_ref x[MOST], out[MOST];
    k_ref r = first;
    for (unsigned i = 0; i < n; i++, r = g->k->stmt.at[r].next)
        x[i] = cg_to_memory(g, (ir_type)m->type, cg_vec(g, g->k->stmt.at[r].in[1]));
    if (!n)
        return 0;
    weave(g, x, n, out);
    cg_store_row(g, n, out, cg_element(g, s->mem, cg_scalar(g, s->in[0])), (unsigned)ir_type_size((ir_type)m->type),
                 m->stream);
    return n;
}
