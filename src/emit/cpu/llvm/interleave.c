/* Loads and stores of a few neighbouring elements by each lane: one stretch of memory, and its vectors. */
#include "emit/cpu/llvm/cg.h"

enum { MOST = CG_MOST_COLUMNS, DEEPEST = 8 };

static bool is_made_by(const kernel *k, k_val v, ir_op op)
{
    const k_value *x = &k->value.at[v];
    return x->kind == KV_RESULT && k->stmt.at[x->def].op == K_LET && k->stmt.at[x->def].sub == op;
}

/* Is v an operation of a value and a literal? */
static bool by_literal(const kernel *k, k_val v, ir_op op, k_val *of, int64_t *literal)
{
    const k_stmt *s = &k->stmt.at[k->value.at[v].def];
    if (!is_made_by(k, v, op) || k->value.at[s->in[1]].kind != KV_LITERAL)
        return false;
    *of = s->in[0];
    *literal = ir_i64_bits(T_I64, k->value.at[s->in[1]].bits);
    return true;
}

/* x - y, if that is plain to see from how both are made: what is made alike is one value (kernel/share.c). */
static bool difference(const kernel *k, k_val x, k_val y, int64_t *out)
{
    int64_t scale = 1, more = 0, others = 0;
    k_val a, b;
    *out = 0;
    for (unsigned deep = 0; deep < DEEPEST && x != y; deep++) {
        if (by_literal(k, x, OP_ADD, &a, &more)) {
            if (__builtin_mul_overflow(more, scale, &more) || __builtin_add_overflow(*out, more, out))
                return false;
            x = a;
            continue;
        }
        if (by_literal(k, y, OP_ADD, &b, &more)) {
            if (__builtin_mul_overflow(more, scale, &more) || __builtin_sub_overflow(*out, more, out))
                return false;
            y = b;
            continue;
        }
        if (by_literal(k, x, OP_MUL, &a, &more) && by_literal(k, y, OP_MUL, &b, &others)) {
            if (more != others || __builtin_mul_overflow(scale, more, &scale))
                return false;
            x = a;
            y = b;
            continue;
        }
        if (!is_made_by(k, x, OP_ADD) || !is_made_by(k, y, OP_ADD))
            return false;
        const k_stmt *s = &k->stmt.at[k->value.at[x].def], *t = &k->stmt.at[k->value.at[y].def];
        bool first = s->in[0] == t->in[0], second = s->in[1] == t->in[1];
        if (!first && !second)
            return false;
        x = s->in[first];
        y = t->in[first];
    }
    return x == y;
}

/* How many stores from `first` on write neighbours: lane i its elements n i, n i + 1 ... n i + n - 1; 0: none. */
static unsigned neighbours(const cg *g, k_ref first)
{
    const kernel *k = g->k;
    const k_stmt *s = &k->stmt.at[first];
    if (s->op != K_STORE || !g->thread || (g->mask.on && !g->mask.full) || k->mem.at[s->mem].space == K_PRIVATE ||
        k->mem.at[s->mem].every)
        return 0;
    const k_value *index = &k->value.at[s->in[0]];
    if (index->shape != K_AFFINE || index->step < 2 || index->step > MOST || g->lanes * index->step > 256 ||
        (index->step > CG_MOST_DEALT &&
         !cg_has_columns(g, (unsigned)ir_type_size((ir_type)k->mem.at[s->mem].type), (unsigned)index->step)))
        return 0;
    k_ref r = first;
    for (int64_t i = 0; i < index->step; i++, r = k->stmt.at[r].next) {
        const k_stmt *next = &k->stmt.at[r];
        int64_t apart;
        if (!r || next->op != K_STORE || next->mem != s->mem || (g->part && g->part[r] != g->own_part) ||
            !difference(k, next->in[0], s->in[0], &apart) || apart != i)
            return 0;
    }
    return (unsigned)index->step;
}

/* Vector number `part` of x[0][0], x[1][0] ... x[n - 1][0], x[0][1] ... */
static cg_ref woven(cg *g, const cg_ref *x, unsigned n, unsigned part)
{
    cg_ref r = x[0];
    int index[256];
    for (unsigned from = 1; from < n; from++) {
        for (unsigned lane = 0; lane < g->lanes; lane++) {
            unsigned at = part * g->lanes + lane, of = at % n, taken = at / n;
            index[lane] = (int)(of == from ? g->lanes + taken : of > from ? (unsigned)-1 : from == 1 ? taken : lane);
        }
        r = cg_shuffle(g, r, x[from], g->lanes, index);
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

/* Lanes that are not all on write one by one. */
static void scatter_each(cg *g, k_ref first, unsigned n, const cg_ref *x)
{
    k_ref r = first;
    for (unsigned i = 0; i < n; i++, r = g->k->stmt.at[r].next) {
        const k_stmt *s = &g->k->stmt.at[r];
        cg_scatter(g, x[i], cg_element(g, s->mem, cg_index_vec(g, s->in[0])), cg_alignment(g, s->mem));
    }
}

static void store_whole(cg *g, const k_stmt *s, unsigned n, const cg_ref *x, cg_ref to)
{
    const k_memory *m = &g->k->mem.at[s->mem];
    unsigned bytes = (unsigned)ir_type_size((ir_type)m->type);
    cg_ref out[MOST];
    if (n > CG_MOST_DEALT) {
        cg_store_rows(g, bytes, n, x, to);
        return;
    }
    cg_ref work[MOST];
    memcpy(work, x, n * sizeof(*x));
    weave(g, work, n, out);
    cg_store_row(g, n, out, to, bytes, m->stream);
}

unsigned cg_store_interleaved(cg *g, k_ref first)
{
    unsigned n = neighbours(g, first);
    const k_stmt *s = &g->k->stmt.at[first];
    cg_ref x[MOST];
    k_ref r = first;
    for (unsigned i = 0; i < n; i++, r = g->k->stmt.at[r].next)
        x[i] = cg_to_memory(g, (ir_type)g->k->mem.at[s->mem].type, cg_vec(g, g->k->stmt.at[r].in[1]));
    if (!n)
        return 0;
    cg_ref to = cg_element(g, s->mem, cg_scalar(g, s->in[0]));
    if (!g->mask.on) {
        store_whole(g, s, n, x, to);
        return n;
    }
    LLVMBasicBlockRef whole = cg_block(g, "rows"), part = cg_block(g, "rows.part"), end = cg_block(g, "rows.end");
    cg_cond(g, g->mask.full, whole, part);
    cg_at(g, whole);
    store_whole(g, s, n, x, to);
    cg_br(g, end);
    cg_at(g, part);
    scatter_each(g, first, n, x);
    cg_br(g, end);
    cg_at(g, end);
    return n;
}

/* --- loads --- */

enum { SEARCHED = 400 };

/* The loads behind `first`, and it, of elements 0 ... n - 1 of what each lane reads, which itself is number `own` of
 * these; 0 of those that are not there, or might not be made. How many there are up to the last one; 0: none but the
 * first. */
static unsigned find_group(const cg *g, k_ref first, unsigned n, k_ref *group, unsigned *own)
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
            !difference(k, next->in[0], s->in[0], &apart[loads]))
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
    unsigned others = 0, reach = 0;
    *own = n;
    for (unsigned i = 0; i < n; i++) {
        *own = group[i] == first ? i : *own;
        others += group[i] && group[i] != first;
        reach = group[i] ? i + 1 : reach;
    }
    return *own < n && others ? reach : 0;
}

/* Is it worth to load rows of which not all elements are wanted? By registers that are taken apart, it is. */
static bool takes_some(const cg *g, unsigned bytes, unsigned n, const k_ref *group)
{
    bool all = true;
    for (unsigned i = 0; i < n; i++)
        all &= group[i] != 0;
    return all || (g->cpu.avx512 && n <= CG_MOST_DEALT && cg_has_dense(g, bytes, n));
}

/* A load that was made with one before it. In the next turn of an unrolled loop it is another element. */
static cg_ref take_early(cg *g, k_ref id)
{
    for (unsigned i = 0; i < g->early_loads; i++)
        if (g->early[i].stmt == id && g->early[i].here == cg_here(g) && g->early[i].value == g->value) {
            g->early[i].stmt = 0;
            return g->early[i].vector;
        }
    return NULL;
}

/* Those that are used up, or of a block that has ended, go. */
static void drop_early(cg *g)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < g->early_loads; i++)
        if (g->early[i].stmt && g->early[i].here == cg_here(g))
            g->early[kept++] = g->early[i];
    g->early_loads = kept;
}

/* Columns of whole rows, of which the load is column `own`, or, where not all lanes are on, one by one. What waits to
 * be taken is there behind the branch, too. */
static void load_columns(cg *g, k_ref id, unsigned own, unsigned n, const k_ref *group, unsigned reach, cg_ref *column)
{
    const k_stmt *s = &g->k->stmt.at[id];
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    LLVMTypeRef vector = LLVMVectorType(cg_stored(g, t), g->lanes);
    cg_ref here = LLVMBuildSub(g->b, cg_scalar(g, s->in[0]), cg_i64(g, own), ""), from = cg_element(g, s->mem, here);
    LLVMBasicBlockRef before = cg_here(g), whole = NULL, part = NULL, end = NULL;
    if (g->mask.on) {
        whole = cg_block(g, "rows");
        part = cg_block(g, "rows.part");
        end = cg_block(g, "rows.end");
        cg_cond(g, g->mask.full, whole, part);
        cg_at(g, whole);
    }
    cg_dense_columns(g, (unsigned)ir_type_size(t), n, from, reach, s->sub == K_AHEAD, column);
    for (unsigned i = 0; i < n; i++)
        column[i] = LLVMBuildBitCast(g->b, column[i], vector, "");
    if (!g->mask.on)
        return;
    cg_ref single[MOST];
    cg_br(g, end);
    cg_at(g, part);
    cg_ref first = cg_index_vec(g, s->in[0]);
    for (unsigned i = 0; i < n; i++) {
        if (!group[i])
            continue;
        cg_ref behind = LLVMConstInt(LLVMGetElementType(LLVMTypeOf(first)), (uint64_t)i - own, true);
        single[i] = cg_gather(g, s->mem, LLVMBuildAdd(g->b, first, cg_splat(g, behind), ""), g->mask.on);
    }
    cg_br(g, end);
    cg_at(g, end);
    for (unsigned i = 0; i < n; i++)
        column[i] = group[i] ? cg_phi2(g, column[i], whole, single[i], part) : NULL;
    for (unsigned i = 0; i < g->early_loads; i++)
        if (g->early[i].here == before)
            g->early[i].here = end;
}

cg_ref cg_load_interleaved(cg *g, k_ref id)
{
    const kernel *k = g->k;
    const k_stmt *s = &k->stmt.at[id];
    const k_memory *m = &k->mem.at[s->mem];
    const k_value *index = &k->value.at[s->in[0]];
    unsigned bytes = (unsigned)ir_type_size((ir_type)m->type);
    cg_ref own = take_early(g, id);
    if (own)
        return own;
    if (!g->thread || (g->mask.on && !g->mask.full) || m->space != K_GLOBAL || m->every || m->written ||
        index->shape != K_AFFINE || index->step < 3 || index->step > MOST ||
        !cg_has_columns(g, bytes, (unsigned)index->step))
        return NULL;
    unsigned n = (unsigned)index->step;
    k_ref group[MOST];
    cg_ref column[MOST];
    unsigned place;
    const unsigned reach = find_group(g, id, n, group, &place);
    if (!reach || !takes_some(g, bytes, n, group))
        return NULL;
    drop_early(g);
    if (g->early_loads + n > CG_MOST_EARLY)
        return NULL;
    load_columns(g, id, place, n, group, reach, column);
    for (unsigned i = 0; i < n; i++) {
        if (group[i] == id)
            own = column[i];
        else if (group[i])
            g->early[g->early_loads++] = (cg_early){group[i], cg_here(g), g->value, column[i]};
    }
    return own;
}
