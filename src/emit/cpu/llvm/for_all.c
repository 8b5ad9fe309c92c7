/* FOR_ALL: virtual threads become lanes, gang by gang.
 *
 * Whole gangs run a body without masks; what is left at the ends runs a masked copy of it in the same loop:
 *
 *     base = start
 *   head:   left = count - base
 *           whole gang? -> whole body -> latch
 *           left > 0?   -> masked body -> latch
 *           -> end
 *   latch:  base += lanes -> head
 *
 * A CHECK that fails in the whole body starts the gang again in the masked body, which reports: bodies that could not
 * be run twice, and large ones, exist only masked, with a flag that all lanes are on for the memory accesses: these are
 * all that masks make slower, and a large body takes long to compile. Large bodies without control flow exist whole, in
 * parts that stagger, and masked for one such part at a time: what is left is then run part by part.
 *
 * The masked body of any loop that may be cut so has one register of lanes: of several it would mostly compute for
 * nobody, and it takes as much longer to compile. Without AVX-512, where masks take registers and time, those that are
 * on are always the first ones: accesses then need no masks (partial.c). */
#include "emit/cpu/llvm/outline.h"

enum { MOST_TWICE = 100, MOST_SLICE = 24 };

typedef struct {
    const k_stmt *s;
    const cg_facts *facts;
    cg_ref count, base;
    unsigned part; /* lanes of a part of a gang, if what is left runs in parts; else 0 */
    bool staggers;
    cg_ref lead; /* threads before the first whole gang, which is on a line of the first stream; NULL: none. */
    LLVMBasicBlockRef whole, masked, latch;
    bool twice, peeled;
    bool exact; /* whole gangs only, which need no masks */
} loop;

static bool literal_count(const cg *g, const k_stmt *s, int64_t *count)
{
    const k_value *x = &g->k->value.at[s->in[0]];
    *count = (int64_t)x->bits;
    return x->kind == KV_LITERAL;
}

/* --- where to start, so that the first stream is written in whole lines --- */

/* The value of v in thread 0 of the FOR_ALL that defines `thread`, or NULL. Only straight arithmetic is followed. */
static cg_ref at_thread_0(cg *g, k_val v, k_val thread, unsigned *budget)
{
    const k_value *x = &g->k->value.at[v];
    if (v == thread)
        return cg_i64(g, 0);
    if (x->kind != KV_RESULT)
        return x->kind == KV_VARIABLE ? NULL : cg_scalar(g, v);
    const k_stmt *s = &g->k->stmt.at[x->def];
    if (g->value[v].form == FORM_UNIFORM)
        return cg_scalar(g, v); /* defined before, at piece level */
    if (s->op != K_LET || !*budget || x->type != T_I64)
        return NULL;
    --*budget;
    cg_ref in[3] = {0};
    for (unsigned i = 0; i < ir_ops[s->sub].arity; i++) {
        if (g->k->value.at[s->in[i]].type != T_I64)
            return NULL;
        in[i] = at_thread_0(g, s->in[i], thread, budget);
        if (!in[i])
            return NULL;
    }
    return cg_op(g, (ir_op)s->sub, T_I64, T_I64, in);
}

/* The first gang's base: 0, or negative so that the second gang begins on a line of the first stream. */
static cg_ref aligned_start(cg *g, loop *l)
{
    k_ref stream = l->facts->stream;
    unsigned budget = MOST_SLICE;
    int64_t count;
    if (g->lanes == 1 || !stream || l->s->sub == K_WHOLE || l->facts->private_memory || l->facts->warp ||
        l->facts->sets_outer || (literal_count(g, l->s, &count) && count < 4 * (int64_t)g->lanes))
        return cg_i64(g, 0);
    const k_stmt *store = &g->k->stmt.at[stream];
    cg_ref index = at_thread_0(g, store->in[0], l->s->dst, &budget);
    if (!index)
        return cg_i64(g, 0);
    LLVMBuilderRef b = g->b;
    int64_t size = (int64_t)ir_type_size((ir_type)g->k->mem.at[store->mem].type);
    int64_t line = size * g->lanes < 64 ? size * g->lanes : 64;
    cg_ref address = LLVMBuildPtrToInt(b, cg_element(g, store->mem, index), g->i64, "");
    cg_ref short_of = LLVMBuildAnd(b, LLVMBuildNeg(b, address, ""), cg_i64(g, line - 1), "");
    cg_ref first = LLVMBuildUDiv(b, short_of, cg_i64(g, size), ""); /* threads before the line */
    cg_ref aligned = LLVMBuildICmp(b, LLVMIntEQ, short_of, cg_i64(g, 0), "");
    cg_ref few = LLVMBuildICmp(b, LLVMIntSLT, l->count, cg_i64(g, 4 * (int64_t)g->lanes), "");
    if (!g->cpu.avx512) {
        l->lead = LLVMBuildSelect(b, few, cg_i64(g, 0), first, "lead");
        return cg_i64(g, 0);
    }
    l->peeled = true;
    return LLVMBuildSelect(b, LLVMBuildOr(b, aligned, few, ""), cg_i64(g, 0),
                           LLVMBuildSub(b, first, cg_i64(g, l->part ? l->part : g->lanes), ""), "start");
}

/* --- bodies --- */

static void body(cg *g, loop *l, LLVMBasicBlockRef end)
{
    g->value[l->s->dst] = (cg_value){.form = FORM_LINEAR, .v = l->base, .step = cg_i64(g, 1)};
    cg_cross(g, l->s->dst);
    g->thread_base = l->base;
    if (!l->exact || g->mask.on || l->facts->parts || !cg_ordered_list(g, l->s->body, l->facts))
        cg_list(g, l->s->body);
    cg_br(g, end);
}

/* The mask of the only gang there is, as a constant. */
static void mask_single(cg *g, int64_t count)
{
    cg_ref lane[256];
    for (int64_t i = 0; i < g->lanes; i++)
        lane[i] = LLVMConstInt(g->i1, i < count, false);
    g->mask = (cg_mask){.on = LLVMConstVector(lane, g->lanes), .some = true, .first = cg_i64(g, count)};
}

/* Sets the mask of a gang that need not be whole. Returns how many threads it has: lanes that are off because they are
 * before the first thread count. */
static cg_ref mask_gang(cg *g, loop *l)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    int64_t count;
    cg_ref n = l->count;
    if (!literal_count(g, l->s, &count) || count >= g->lanes) {
        cg_ref left = LLVMBuildSub(b, l->count, l->base, "");
        if (l->lead) {
            cg_ref before = LLVMBuildICmp(b, LLVMIntSLT, l->base, l->lead, "");
            left = LLVMBuildSelect(b, before, LLVMBuildSub(b, l->lead, l->base, ""), left, "");
        }
        n = cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){left, cg_i64(g, g->lanes)});
    }
    if (g->lanes == 1) {
        g->mask = (cg_mask){.some = true};
        return n;
    }
    if (literal_count(g, l->s, &count) && count > 0 && count < g->lanes && !g->part && !l->peeled) {
        mask_single(g, count);
        return n;
    }
    g->mask = (cg_mask){.on = cg_mask_first(g, n), .some = true, .first = g->part || l->peeled ? NULL : n};
    if (!l->peeled)
        return n;
    cg_ref before = LLVMBuildNeg(b, l->base, "");
    cg_ref none = cg_call(g, "llvm.smax", 1, &i64, 2, (cg_ref[]){before, cg_i64(g, 0)});
    g->mask.on = LLVMBuildAnd(b, g->mask.on, LLVMBuildNot(b, cg_mask_first(g, none), ""), "");
    return n;
}

/* Returns how far the next gang is, or NULL if that is as far as always. */
static cg_ref masked_body(cg *g, loop *l, cg_ref full)
{
    unsigned lanes = g->lanes;
    bool varies = l->part || l->lead; /* how far the next gang is */
    LLVMBasicBlockRef end = varies ? cg_block(g, "part") : l->latch;
    cg_at(g, l->masked);
    if (l->part)
        cg_set_lanes(g, l->part);
    cg_ref threads = mask_gang(g, l);
    g->mask.full = full;
    g->restart = NULL;
    g->alive = NULL;
    g->gang_end = end;
    if (l->facts->checks && lanes > 1) {
        g->alive = cg_alive_flags(g);
        LLVMBuildStore(g->b, g->mask.on, g->alive);
    }
    body(g, l, end);
    cg_set_lanes(g, lanes);
    if (!varies)
        return NULL;
    cg_at(g, end);
    cg_br(g, l->latch);
    return l->staggers ? cg_i64(g, l->part) : threads;
}

/* `restart`: where a gang in which a CHECK fails begins again. */
static void whole_body(cg *g, loop *l, LLVMBasicBlockRef restart)
{
    cg_at(g, l->whole);
    g->mask = (cg_mask){.some = true};
    g->restart = restart;
    g->alive = NULL;
    g->gang_end = l->latch;
    if (!l->staggers) {
        body(g, l, l->latch);
        return;
    }
    cg_staggered_list(g, l->s, l->base);
    cg_br(g, l->latch);
}

/* --- the loop --- */

static void gang_loop(cg *g, loop *l)
{
    LLVMBuilderRef b = g->b;
    cg_ref start = l->peeled ? l->base : cg_i64(g, 0);
    if (l->exact && l->twice && !l->staggers && !l->facts->parts)
        cg_shifted_begin(g, l->s, l->count);
    LLVMBasicBlockRef before = cg_here(g), head = cg_block(g, "gang"), rest = cg_block(g, "rest"),
                      end = cg_block(g, "end_all");
    l->whole = cg_block(g, "whole");
    l->masked = cg_block(g, "masked");
    l->latch = cg_block(g, "latch");
    cg_br(g, head);
    cg_at(g, head);
    l->base = LLVMBuildPhi(b, g->i64, "base");
    cg_ref left = LLVMBuildSub(b, l->count, l->base, "");
    cg_ref whole = LLVMBuildICmp(b, LLVMIntSGE, left, cg_i64(g, g->lanes), "");
    if (l->peeled)
        whole = LLVMBuildAnd(b, whole, LLVMBuildICmp(b, LLVMIntSGE, l->base, cg_i64(g, 0), ""), "");
    if (l->lead)
        whole = LLVMBuildAnd(b, whole, LLVMBuildICmp(b, LLVMIntSGE, l->base, l->lead, ""), "");
    cg_unlikely(g, LLVMBuildNot(b, whole, ""), rest, l->twice ? l->whole : l->masked);
    cg_at(g, rest);
    cg_ref more = LLVMBuildICmp(b, LLVMIntSGT, left, cg_i64(g, 0), "");
    if (l->exact)
        cg_br(g, end);
    else
        cg_cond(g, more, l->masked, end);

    LLVMBasicBlockRef masked_end = NULL, whole_end = NULL;
    cg_ref part = NULL;
    if (l->exact) {
        LLVMDeleteBasicBlock(l->masked);
    } else {
        /* a few elements are seldom a whole gang, and where masks are cheap a second way to each access is not worth it
         */
        bool always_masked = l->twice || (l->s->sub == K_FEW && g->cpu.avx512);
        part = masked_body(g, l, always_masked ? NULL : whole);
        masked_end = cg_here(g);
    }
    if (l->twice) {
        whole_body(g, l, l->masked);
        whole_end = cg_here(g);
    } else {
        LLVMDeleteBasicBlock(l->whole);
    }

    cg_at(g, l->latch);
    cg_ref step = cg_i64(g, g->lanes);
    if (part)
        step = whole_end ? cg_phi2(g, step, whole_end, part, masked_end) : part;
    cg_ref next = LLVMBuildNSWAdd(b, l->base, step, "");
    LLVMAddIncoming(l->base, (cg_ref[]){start, next}, (LLVMBasicBlockRef[]){before, l->latch}, 2);
    cg_br(g, head);
    cg_at(g, end);
}

/* Where there are threads for a whole gang, all gangs are whole: the last one ends where the threads do, and some of
 * its threads run again, and store what they stored before. Fewer threads are masked, and all from where a CHECK fails.
 *
 *     enough threads for a gang? -> base = 0 -> whole
 *     any thread? -> base = 0 -> masked
 *     -> end
 *   whole:   whole body -> base + lanes <= count - lanes? -> base += lanes -> whole
 *            base + lanes < count? -> base = count - lanes -> whole
 *            -> end
 *   masked:  masked body -> base += its threads -> base < count? -> masked
 *            -> end */
static void gangs_that_overlap(cg *g, loop *l)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    LLVMBasicBlockRef before = cg_here(g), few = cg_block(g, "few"), restart = cg_block(g, "restart"),
                      end = cg_block(g, "end_all");
    cg_ref zero = cg_i64(g, 0), lanes = cg_i64(g, g->lanes), last = LLVMBuildSub(b, l->count, lanes, "");
    int64_t count;
    bool one = literal_count(g, l->s, &count) && count == g->lanes;
    l->whole = cg_block(g, "whole");
    l->masked = cg_block(g, "masked");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSGE, last, zero, ""), l->whole, few);
    cg_at(g, few);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSGT, l->count, zero, ""), l->masked, end);

    cg_at(g, l->whole);
    cg_ref base = l->base = one ? zero : LLVMBuildPhi(b, i64, "base");
    l->latch = cg_block(g, "latch");
    whole_body(g, l, restart);
    cg_at(g, l->latch);
    if (one) {
        cg_br(g, end);
    } else {
        LLVMBasicBlockRef rest = cg_block(g, "rest"), again = cg_block(g, "again");
        cg_ref next = LLVMBuildNSWAdd(b, base, lanes, "");
        cg_unlikely(g, LLVMBuildICmp(b, LLVMIntSGT, next, last, ""), rest, l->whole);
        cg_at(g, rest);
        cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, next, l->count, ""), again, end);
        cg_at(g, again);
        cg_br(g, l->whole);
        LLVMAddIncoming(base, (cg_ref[]){zero, next, last}, (LLVMBasicBlockRef[]){before, l->latch, again}, 3);
    }
    cg_at(g, restart);
    cg_br(g, l->masked);

    cg_at(g, l->masked);
    cg_ref masked = l->base = LLVMBuildPhi(b, i64, "base");
    l->latch = cg_block(g, "latch.masked");
    cg_ref threads = masked_body(g, l, NULL);
    cg_at(g, l->latch);
    cg_ref next = LLVMBuildNSWAdd(b, masked, threads ? threads : lanes, "");
    LLVMAddIncoming(masked, (cg_ref[]){zero, base, next}, (LLVMBasicBlockRef[]){few, restart, l->latch}, 3);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, next, l->count, ""), l->masked, end);
    cg_at(g, end);
}

/* Exactly one gang, whose lanes are numbered by constants, as its mask is. Where CHECKs may fail there is another body,
 * which reports, if the gang may run twice. */
static void single_gang(cg *g, loop *l, int64_t count)
{
    const bool again = l->facts->checks > 0, first = !again || l->twice;
    l->whole = cg_block(g, "single");
    l->masked = first && again ? cg_block(g, "again") : l->whole;
    l->latch = cg_block(g, "end_all");
    l->base = cg_i64(g, 0);
    cg_br(g, l->whole);
    if (first && count == g->lanes) {
        whole_body(g, l, l->masked);
    } else if (first && again) {
        cg_at(g, l->whole);
        mask_single(g, count);
        g->restart = l->masked;
        g->alive = NULL;
        g->gang_end = l->latch;
        body(g, l, l->latch);
    }
    if (again || count < g->lanes)
        masked_body(g, l, NULL);
    cg_at(g, l->latch);
}

/* How many lanes fill a register, if gangs of any number of lanes compute the same; else 0. Lanes whose elements are
 * apart have an index each, which fills it sooner. */
static unsigned lanes_of_register(const cg *g, const cg_facts *f)
{
    enum { INDEX = 4 };
    if (f->warp || f->loops || f->sets_outer || f->private_memory || f->parts || !f->widest)
        return 0;
    return g->cpu.register_bytes / (g->cpu.avx512 && f->apart && f->widest < INDEX ? INDEX : f->widest);
}

/* Gangs of fewer lanes, where there are fewer threads. */
static void limit_lanes(cg *g, const loop *l, unsigned in_register)
{
    int64_t count;
    unsigned lanes = g->lanes;
    bool alone = !l->facts->warp && !l->facts->private_memory && !l->facts->sets_outer && !l->facts->parts;
    if (l->s->sub == K_WHOLE && alone && literal_count(g, l->s, &count) && count > 0 && count < lanes &&
        (count & (count - 1)) == 0) {
        cg_set_lanes(g, (unsigned)count);
        return;
    }
    if (!in_register)
        return;
    if (l->s->sub == K_FEW && in_register < lanes)
        lanes = in_register;
    if (literal_count(g, l->s, &count) && count > 0)
        while (lanes / 2 >= count)
            lanes /= 2;
    cg_set_lanes(g, lanes);
}

void cg_for_all(cg *g, k_ref id)
{
    loop l = {.s = &g->k->stmt.at[id], .facts = &g->facts[id]};
    bool repeatable = !l.facts->warp && !l.facts->sets_outer && !l.facts->reads_written;
    bool whole = l.s->sub == K_WHOLE && !l.facts->checks;
    int64_t count;
    unsigned lanes = g->lanes, in_register = lanes_of_register(g, l.facts);
    g->mask_bytes = l.facts->widest;
    limit_lanes(g, &l, g->cpu.avx512 ? 0 : in_register);
    whole &= !literal_count(g, l.s, &count) || count >= g->lanes;
    l.count = cg_scalar(g, l.s->in[0]);
    l.twice = whole || (l.s->sub != K_FEW && g->lanes > 1 && !l.facts->parts && l.facts->statements <= MOST_TWICE &&
                        (repeatable || !l.facts->checks));
    bool single = literal_count(g, l.s, &count) && count > 0 && count <= g->lanes;
    if (l.s->sub != K_WHOLE && l.s->sub != K_FEW && !(single && count < g->lanes) && !l.facts->parts)
        l.part = cg_stagger(g, l.s, l.facts);
    l.staggers = l.part != 0;
    l.twice |= l.staggers;
    if (l.twice && !whole && !single && in_register < g->lanes && !l.part)
        l.part = in_register;
    l.base = aligned_start(g, &l);
    l.exact = whole || (literal_count(g, l.s, &count) && count % g->lanes == 0 && !l.peeled && !l.lead && l.twice &&
                        !l.facts->checks);
    bool overlap =
        l.twice && repeatable && !l.facts->notes && !l.facts->stream && !l.exact && !l.staggers && l.s->sub != K_FEW;
    g->thread = true;
    g->alike = !l.staggers && cg_find_alike(g, l.s);
    if (single)
        single_gang(g, &l, count);
    else if (overlap)
        gangs_that_overlap(g, &l);
    else
        gang_loop(g, &l);
    cg_set_lanes(g, lanes);
    g->shifted = NULL;
    g->mask_bytes = 0;
    g->thread = g->alike = false;
    g->mask = (cg_mask){0};
    g->alive = NULL;
    g->restart = NULL;
    g->gang_end = NULL;
}
