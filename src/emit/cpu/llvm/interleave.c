/* Loads and stores of a few neighbouring elements by each lane: one stretch of memory, and its vectors. */
#include "emit/cpu/llvm/cg.h"

enum { MOST = 8, DEEPEST = 6 };

/* x - y, if that is plain to see from how both are made: what is made alike is one value (kernel/share.c). */
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
    if (s->op != K_STORE || !g->thread || g->mask.on || k->mem.at[s->mem].space != K_GLOBAL || k->mem.at[s->mem].every)
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

/* --- loads --- */

enum { SEARCHED = 96 };

/* The loads behind `first`, and it, of elements 0 ... n - 1 of what each lane reads; false: some are not there, or
 * might not be made. */
static bool find_group(const cg *g, k_ref first, unsigned n, k_ref *group, k_ref *lowest)
{
    const kernel *k = g->k;
    const k_stmt *s = &k->stmt.at[first];
    int64_t apart[SEARCHED], least = 0;
    k_ref found[SEARCHED];
    unsigned loads = 0;
    k_ref r = first;
    for (unsigned i = 0; r && i < SEARCHED; i++, r = k->stmt.at[r].next) {
        const k_stmt *next = &k->stmt.at[r];
        bool plain =
            next->op == K_LET || next->op == K_SELECT || next->op == K_LOAD || next->op == K_DECL || next->op == K_SET;
        if (!plain || (g->part && g->part[r] != g->own_part))
            break;
        if (next->op != K_LOAD || next->mem != s->mem || cg_tile_of((cg *)g, r) ||
            !difference(k, next->in[0], s->in[0], DEEPEST, &apart[loads]))
            continue;
        found[loads] = r;
        least = apart[loads] < least ? apart[loads] : least;
        loads++;
    }
    memset(group, 0, n * sizeof(*group));
    for (unsigned i = 0; i < loads; i++) {
        int64_t at = apart[i] - least;
        if (at < n && !group[at])
            group[at] = found[i];
    }
    for (unsigned i = 0; i < n; i++)
        if (!group[i])
            return false;
    *lowest = group[0];
    return true;
}

cg_ref cg_load_interleaved(cg *g, k_ref id)
{
    const kernel *k = g->k;
    const k_stmt *s = &k->stmt.at[id];
    const k_memory *m = &k->mem.at[s->mem];
    const k_value *index = &k->value.at[s->in[0]];
    unsigned bytes = (unsigned)ir_type_size((ir_type)m->type);
    if (g->lanes != k->lanes) /* the list is emitted several times, for parts of the lanes */
        return NULL;
    for (unsigned i = 0; i < g->early_loads; i++)
        if (g->early[i].stmt == id && g->early[i].here == cg_here(g)) {
            g->early[i].stmt = 0; /* in the next turn of an unrolled loop it is another element */
            return g->early[i].vector;
        }
    if (!g->thread || g->mask.on || m->space != K_GLOBAL || m->every || m->written || index->shape != K_AFFINE ||
        index->step < 3 || index->step > MOST || !cg_has_dense(g, bytes, (unsigned)index->step))
        return NULL;
    unsigned n = (unsigned)index->step;
    k_ref group[MOST], lowest;
    cg_ref column[MOST], own = NULL;
    /* the address is that of a value which must be there already */
    if (!find_group(g, id, n, group, &lowest) || lowest != id)
        return NULL;
    cg_dense_columns(g, bytes, n, cg_element(g, s->mem, cg_scalar(g, s->in[0])), column);
    g->early_loads = 0;
    for (unsigned i = 0; i < n; i++) {
        cg_ref x = LLVMBuildBitCast(g->b, column[i], LLVMVectorType(cg_stored(g, (ir_type)m->type), g->lanes), "");
        g->early[g->early_loads].stmt = group[i] == id ? 0 : group[i];
        g->early[g->early_loads].here = cg_here(g);
        g->early[g->early_loads++].vector = x;
        own = group[i] == id ? x : own;
    }
    return own;
}
