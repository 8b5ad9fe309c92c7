/* Kernels with CHAIN: a worker takes several pieces that follow each other at a time, a block of them, and goes over it
 * in stages, which end before and behind each CHAIN: all pieces of the block come to the chain, then all take their
 * turn, then all go on. So the state is handed from worker to worker once for a block, and a worker takes its next
 * block before the stage that follows the first chain: what is read there soon can be fetched (FETCH).
 *
 * Every piece of a block has its own shared memory. What a stage defines at piece level and a later one uses is kept in
 * a list with an entry per piece; LLVM drops the lists that nobody reads. */
#include "emit/cpu/llvm/outline.h"
#include "kernel/launch.h"
#include "kernel/walk.h"
#include <stddef.h>
#include <stdlib.h>

/* Shared memory of the pieces of a block, most of which is often not used: it stays in the second cache. What is read
 * twice stays in the first one. */
enum { NEAR_BYTES = 192 << 10, FIRST_BYTES = 48 << 10, LINE = 64 };

typedef struct kept { /* from stage to stage */
    k_val value;
    cg_ref list;
    LLVMTypeRef type;
    uint32_t since; /* the stage that defines it */
} kept;

typedef struct stages {
    cg *g;
    cg_ref first, count; /* of the block */
    cg_ref next, last;   /* pointer to the first piece that nobody has taken; where the launch ends */
    cg_ref most;         /* pieces of a block */
    cg_ref following;    /* the first piece of the worker's next block; NULL: not taken yet */
    cg_ref early;        /* the same before the first chain, or -1; NULL: it is not taken before */
    bool near, far;      /* something is fetched before the first chain, behind it; where both are, of the next block */
    int64_t fetched;     /* bytes of a piece, behind the first chain */
    cg_ref scratch;      /* of the block */
    cg_ref given_up;     /* a list: this piece was; NULL: none is */
    uint32_t number;     /* of the open stage, from 1 */
    uint32_t *last_use;  /* per value: the last stage in which it is used */
    VEC(kept) kept;
    /* of the open stage */
    cg_ref at; /* number of the piece in the block */
    LLVMBasicBlockRef before, body, latch;
} stages;

static int64_t stride(const cg *g)
{
    return ((int64_t)g->k->scratch + LINE - 1) / LINE * LINE;
}

/* What is fetched of a piece to come, before and behind the first chain. */
static void find_fetches(stages *s)
{
    const kernel *k = s->g->k;
    bool behind = false;
    k_walk w;
    k_walk_begin(&w, k, s->g->arena);
    while (k_walk_next(&w)) {
        const k_stmt *st = &k->stmt.at[w.at];
        behind |= st->op == K_CHAIN;
        const k_value *step = st->op == K_FETCH && !(st->sub % K_NEAR) ? &k->value.at[st->in[1]] : NULL;
        if (!step || (step->kind == KV_LITERAL && !step->bits))
            continue;
        int64_t elements = step->kind == KV_LITERAL ? ir_i64_bits(T_I64, step->bits) : 0;
        s->fetched += behind ? llabs(elements) * (int64_t)ir_type_size((ir_type)k->mem.at[st->mem].type) : 0;
        *(behind ? &s->far : &s->near) = true;
    }
}

/* What is read twice, in front of the chain and behind it, is there the second time if the block fits the first cache.
 * Two pieces at least: a hand-over for each takes too long. AMD's processors before Zen 5, whose first cache does not
 * hold two, are as well off with the second one. */
static unsigned most_together(const stages *s)
{
    const cg *g = s->g;
    int64_t n = stride(g) ? NEAR_BYTES / stride(g) : K_TOGETHER;
    int64_t twice = s->fetched ? (g->cpu.looks_on ? NEAR_BYTES : FIRST_BYTES) / s->fetched : 0;
    if (s->near && s->far && s->fetched && n > twice)
        n = twice > 2 ? twice : 2;
    return g->part || n < 1 ? 1 : n < K_TOGETHER ? (unsigned)n : K_TOGETHER; /* parts know one block of shared memory */
}

static cg_ref entry_of(stages *s, LLVMTypeRef type, cg_ref list)
{
    return LLVMBuildGEP2(s->g->b, type, list, &s->at, 1, "");
}

static cg_ref new_list(cg *g, LLVMTypeRef type)
{
    return cg_alloca(g, LLVMArrayType(type, K_TOGETHER), 0, "");
}

/* --- what goes from stage to stage --- */

static void use(stages *s, k_val v, uint32_t stage)
{
    s->last_use[v] = s->last_use[v] < stage ? stage : s->last_use[v];
}

static void use_all(stages *s, const k_val *v, unsigned n, uint32_t stage)
{
    for (unsigned i = 0; i < n; i++)
        use(s, v[i], stage);
}

/* The emitter looks behind indices and conditions at what they were made from. */
static void use_behind(stages *s)
{
    const kernel *k = s->g->k;
    for (k_ref r = k->stmt.n; r-- > 1;) {
        const k_stmt *st = &k->stmt.at[r];
        if (st->op == K_LET || st->op == K_SELECT)
            use_all(s, st->in, k_operands(st), s->last_use[st->dst]);
    }
}

static void find_uses(stages *s)
{
    cg *g = s->g;
    k_walk w;
    uint32_t stage = 1;
    s->last_use = arena_array(g->arena, *s->last_use, g->k->value.n);
    k_walk_begin(&w, g->k, g->arena);
    while (k_walk_next(&w)) {
        const k_stmt *st = &g->k->stmt.at[w.at];
        const k_chain *c = st->op == K_CHAIN ? st->chain : NULL;
        stage += c && w.event == K_WALK_AT;
        use_all(s, st->in, k_operands(st), stage);
        if (st->op == K_SET)
            use(s, st->dst, stage);
        if (c) {
            use_all(s, c->aggregate, c->arity, stage);
            use_all(s, c->initial, c->arity, stage);
            use_all(s, c->result, c->arity, stage);
        }
        stage += c && w.event == K_WALK_LEAVE;
    }
    use_behind(s);
}

static cg_ref value_now(cg *g, k_val v)
{
    const cg_value *x = &g->value[v];
    return x->slot ? cg_get(g, v).v : x->v;
}

static void keep_value(stages *s, k_val v)
{
    cg *g = s->g;
    cg_value *x = &g->value[v];
    if (x->form != FORM_UNIFORM || (!x->slot && LLVMIsConstant(x->v)))
        return;
    if (s->last_use[v] <= s->number) {
        *x = (cg_value){0}; /* nobody may take that of the block's last piece for its own */
        return;
    }
    LLVMTypeRef type = LLVMTypeOf(value_now(g, v));
    kept k = {.value = v, .list = new_list(g, type), .type = type, .since = s->number};
    vec_push(g->arena, &s->kept, k);
}

static void keep_values(stages *s, k_ref first, k_ref end)
{
    cg *g = s->g;
    for (k_ref r = first; r != end; r = g->k->stmt.at[r].next) {
        const k_stmt *st = &g->k->stmt.at[r];
        if (st->dst && st->op != K_SET && st->op != K_FOR && st->op != K_FOR_ALL)
            keep_value(s, st->dst);
        for (unsigned j = 0; st->op == K_CHAIN && j < st->chain->arity; j++)
            keep_value(s, st->chain->before[j]);
    }
    for (uint32_t i = 0; i < s->kept.n; i++) {
        const kept *k = &s->kept.at[i];
        if (k->since == s->number || (g->value[k->value].slot && s->last_use[k->value] > s->number))
            LLVMBuildStore(g->b, value_now(g, k->value), entry_of(s, k->type, k->list));
    }
}

static void restore_values(stages *s)
{
    cg *g = s->g;
    for (uint32_t i = 0; i < s->kept.n; i++) {
        const kept *k = &s->kept.at[i];
        if (s->last_use[k->value] < s->number)
            continue;
        cg_ref x = LLVMBuildLoad2(g->b, k->type, entry_of(s, k->type, k->list), "");
        if (g->value[k->value].slot)
            LLVMBuildStore(g->b, x, g->value[k->value].slot);
        else
            g->value[k->value] = (cg_value){.form = FORM_UNIFORM, .v = x};
    }
}

/* --- blocks --- */

static cg_ref take_block(stages *s)
{
    return LLVMBuildAtomicRMW(s->g->b, LLVMAtomicRMWBinOpAdd, s->next, s->most, LLVMAtomicOrderingMonotonic, false);
}

/* The same where the condition holds, else `other`. */
static cg_ref take_if(stages *s, cg_ref condition, cg_ref other)
{
    cg *g = s->g;
    LLVMBasicBlockRef here = cg_here(g), take = cg_block(g, "take"), end = cg_block(g, "taken");
    cg_cond(g, condition, take, end);
    cg_at(g, take);
    cg_ref taken = take_block(s);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, taken, take, other, here);
}

/* How many pieces on `taken` is; 0 if there is nothing. */
static cg_ref distance(stages *s, cg_ref taken, cg_ref from)
{
    LLVMBuilderRef b = s->g->b;
    cg_ref zero = cg_i64(s->g, 0), there = LLVMBuildICmp(b, LLVMIntSLT, taken, s->last, "");
    there = LLVMBuildAnd(b, there, LLVMBuildICmp(b, LLVMIntSGE, taken, zero, ""), "");
    return LLVMBuildSelect(b, there, LLVMBuildNSWSub(b, taken, from, ""), zero, "ahead");
}

/* Where something is fetched before the first chain, the next block is taken at once, if there are so many blocks that
 * it does not matter who has them. */
static void take_early(stages *s)
{
    cg *g = s->g;
    if (s->near)
        s->early = take_if(s, LLVMBuildICmp(g->b, LLVMIntSGT, s->most, cg_i64(g, 1), ""), cg_i64(g, -1));
}

static void take_following(stages *s)
{
    cg *g = s->g;
    if (s->early)
        s->following = take_if(s, LLVMBuildICmp(g->b, LLVMIntSLT, s->early, cg_i64(g, 0), ""), s->early);
    else
        s->following = take_block(s);
    g->ahead = distance(s, s->following, s->first);
}

/* --- a stage --- */

static void use_shared_memory(stages *s)
{
    cg *g = s->g;
    cg_ref offset = LLVMBuildNSWMul(g->b, s->at, cg_i64(g, stride(g)), "");
    g->scratch = LLVMBuildGEP2(g->b, g->i8, s->scratch, &offset, 1, "");
    for (k_mem m = 1; g->mem && m < g->k->mem.n; m++) {
        cg_ref at = cg_i64(g, g->k->mem.at[m].offset);
        if (g->k->mem.at[m].space != K_GLOBAL)
            g->mem[m] = LLVMBuildGEP2(g->b, g->i8, g->scratch, &at, 1, "");
    }
}

static void open_stage(stages *s)
{
    cg *g = s->g;
    s->before = cg_here(g);
    s->body = cg_block(g, "stage");
    s->latch = cg_block(g, "stage.next");
    cg_br(g, s->body);
    cg_at(g, s->body);
    s->at = LLVMBuildPhi(g->b, g->i64, "at");
    g->piece = LLVMBuildNSWAdd(g->b, s->first, s->at, "piece");
    use_shared_memory(s);
    if (s->given_up && s->number > 1) {
        LLVMBasicBlockRef go = cg_block(g, "stage.go");
        cg_ref given_up = LLVMBuildLoad2(g->b, g->i8, entry_of(s, g->i8, s->given_up), "");
        cg_unlikely(g, LLVMBuildICmp(g->b, LLVMIntNE, given_up, cg_zero(g->i8), ""), s->latch, go);
        cg_at(g, go);
    } else if (s->given_up) {
        LLVMBuildStore(g->b, cg_zero(g->i8), entry_of(s, g->i8, s->given_up));
    }
    restore_values(s);
    if (!s->following && s->far) {
        g->ahead = s->early ? distance(s, s->early, s->first) : NULL;
    } else if (!s->following) { /* the next one of the block, or the first one of the next */
        cg_ref more = LLVMBuildICmp(g->b, LLVMIntSLT, LLVMBuildNSWAdd(g->b, s->at, cg_i64(g, 1), ""), s->count, "");
        cg_ref far = s->early ? distance(s, s->early, g->piece) : cg_i64(g, 0);
        g->ahead = LLVMBuildSelect(g->b, more, cg_i64(g, 1), far, "ahead");
    }
    g->abandon = cg_block(g, "abandon");
}

static void close_stage(stages *s)
{
    cg *g = s->g;
    LLVMBasicBlockRef end = cg_block(g, "stage.end");
    cg_br(g, s->latch);
    if (s->given_up) {
        cg_at(g, g->abandon);
        cg_chain_abandon(g);
        LLVMBuildStore(g->b, LLVMConstInt(g->i8, 1, false), entry_of(s, g->i8, s->given_up));
        cg_br(g, s->latch);
    } else {
        LLVMDeleteBasicBlock(g->abandon);
    }
    cg_at(g, s->latch);
    cg_ref after = LLVMBuildNSWAdd(g->b, s->at, cg_i64(g, 1), "");
    LLVMAddIncoming(s->at, (cg_ref[]){cg_i64(g, 0), after}, (LLVMBasicBlockRef[]){s->before, s->latch}, 2);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, after, s->count, ""), s->body, end);
    cg_at(g, end);
}

static void stage(stages *s, k_ref first, k_ref end)
{
    s->number++;
    if (first == end)
        return;
    open_stage(s);
    cg_range(s->g, first, end);
    keep_values(s, first, end);
    close_stage(s);
}

/* --- all stages --- */

static k_ref find_chain(const cg *g, k_ref r)
{
    while (r && g->k->stmt.at[r].op != K_CHAIN)
        r = g->k->stmt.at[r].next;
    return r;
}

static void all_stages(stages *s)
{
    cg *g = s->g;
    k_ref r = g->k->body, chain = find_chain(g, r);
    take_early(s);
    for (; chain; chain = find_chain(g, r)) {
        stage(s, r, chain);
        r = g->k->stmt.at[chain].next;
        stage(s, chain, r);
        if (!s->following)
            take_following(s);
    }
    stage(s, r, 0);
}

void cg_stages(cg *g, const cg_taking *taking)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    stages s = {.g = g, .next = taking->next, .last = taking->last, .scratch = g->scratch};
    find_fetches(&s);
    cg_ref together = LLVMBuildZExt(b, taking->together, i64, "");
    s.most = cg_call(g, "llvm.umin", 1, &i64, 2, (cg_ref[]){together, cg_i64(g, most_together(&s))});
    s.given_up = g->gives_up ? new_list(g, g->i8) : NULL;
    find_uses(&s);
    cg_ref taken = take_block(&s);
    LLVMBasicBlockRef before = cg_here(g), head = cg_block(g, "block"), work = cg_block(g, "block.work"),
                      end = cg_block(g, "done");
    cg_br(g, head);
    cg_at(g, head);
    s.first = LLVMBuildPhi(b, i64, "block");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, s.first, s.last, ""), work, end);
    cg_at(g, work);
    cg_ref left = LLVMBuildNSWSub(b, s.last, s.first, "");
    s.count = cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){left, s.most});
    all_stages(&s);
    LLVMAddIncoming(s.first, (cg_ref[]){taken, s.following}, (LLVMBasicBlockRef[]){before, cg_here(g)}, 2);
    cg_br(g, head);
    cg_at(g, end);
}

/* --- FETCH --- */

static void fetch_line(cg *g, cg_ref pointer, int64_t offset, bool written)
{
    cg_ref in[] = {cg_bytes_on(g, pointer, cg_i64(g, offset)), cg_i32(g, written), cg_i32(g, 2), cg_i32(g, 1)};
    cg_call(g, "llvm.prefetch", 1, &g->ptr, 4, in);
}

/* One line, wherever in it the element is; of one thread alone, or the same for all. */
static void fetch_near(cg *g, const k_stmt *s)
{
    bool one = g->k->value.at[s->in[0]].shape == K_UNIFORM || (g->thread && g->lanes == 1);
    if (one && !g->own_part)
        cg_prefetch(g, cg_element(g, s->mem, cg_scalar(g, s->in[0])));
}

/* Rows of which a gang has a part each. Where a line holds the parts of several gangs, these take turns: each has other
 * rows, so that a line is fetched once. */
static void fetch_rows(cg *g, const k_stmt *s)
{
    const k_value *index = &g->k->value.at[s->in[0]];
    const k_memory *m = &g->k->mem.at[s->mem];
    unsigned size = m->every ? m->every : (unsigned)ir_type_size((ir_type)m->type), bytes = size * g->lanes;
    if (!g->thread || g->mask.on || g->own_part || index->shape != K_AFFINE || index->step != 1)
        return;
    LLVMBuilderRef b = g->b;
    cg_ref at = cg_scalar(g, s->in[0]), apart = cg_scalar(g, s->in[1]), turn = NULL;
    unsigned turns = bytes < LINE ? LINE / bytes : 1;
    if (turns > 1) {
        cg_ref gang = LLVMBuildUDiv(b, g->thread_base, cg_i64(g, g->lanes), "");
        turn = LLVMBuildURem(b, gang, cg_i64(g, turns), "");
        at = LLVMBuildAdd(b, at, LLVMBuildMul(b, turn, apart, ""), "");
    }
    for (unsigned row = 0; row < s->sub; row += turns) {
        cg_ref first = LLVMBuildAdd(b, at, LLVMBuildMul(b, apart, cg_i64(g, row), ""), "");
        for (unsigned offset = 0; offset < bytes; offset += LINE)
            fetch_line(g, cg_element(g, s->mem, first), offset, false);
    }
}

void cg_fetch_ahead(cg *g, const k_stmt *s)
{
    if (s->sub == K_NEAR) {
        fetch_near(g, s);
        return;
    }
    if (s->sub) {
        fetch_rows(g, s);
        return;
    }
    const k_value *index = &g->k->value.at[s->in[0]];
    const k_memory *m = &g->k->mem.at[s->mem];
    bool one = index->shape == K_UNIFORM;
    bool row = index->shape == K_AFFINE && index->step && index->step >= -1 && index->step <= CG_MOST_COLUMNS;
    unsigned bytes = one ? 1 : (m->every ? m->every : (unsigned)ir_type_size((ir_type)m->type)) * g->lanes;
    bytes *= row && index->step > 1 ? (unsigned)index->step : 1;
    const k_value *step = &g->k->value.at[s->in[1]];
    bool here = step->kind == KV_LITERAL && !step->bits; /* wherever the worker goes next */
    if (!(g->ahead || here) || g->own_part || !(one || row) || (row && here && g->mask.on))
        return; /* a gang that is not whole is the last one, or all there is of short rows */
    cg_ref lowest = cg_scalar(g, s->in[0]);
    if (row && index->step < 0)
        lowest = LLVMBuildSub(g->b, lowest, cg_i64(g, (int64_t)g->lanes - 1), "");
    cg_ref distance = here ? cg_i64(g, 0) : LLVMBuildMul(g->b, g->ahead, cg_scalar(g, s->in[1]), "");
    cg_ref pointer = cg_element(g, s->mem, LLVMBuildAdd(g->b, lowest, distance, ""));
    LLVMTypeRef types[] = {g->ptr, g->i64}; /* through a mask, so that LLVM leaves the lines one register */
    pointer = cg_call(g, "llvm.ptrmask", 2, types, 2, (cg_ref[]){pointer, cg_i64(g, -LINE)});
    for (unsigned at = 0; at < bytes; at += LINE)
        if (row && !here && !m->written && !g->cpu.looks_on)
            fetch_line(g, cg_line_of_pages(g, cg_bytes_on(g, pointer, cg_i64(g, at)), 0), 0, false);
        else
            fetch_line(g, pointer, at, m->written);
}
