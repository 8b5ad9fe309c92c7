/* CHECK: lanes that fail are reported and switched off. The usual path is one test per gang: for an affine index
 * the first and the last lane vouch for those between. */
#include "emit/cpu/llvm/cg.h"
#include "kernel/walk.h"

/* Conditions are followed through at most this many ANDs. */
enum { MOST_TERMS = 8 };

static const int64_t most_step = (int64_t)1 << 32;

/* --- what only CHECKs look at is seldom needed in every lane --- */

void cg_find_asked(cg *g)
{
    const kernel *k = g->k;
    if (!g->narrow)
        return;
    bool *asked = arena_array(g->arena, bool, k->value.n);
    for (k_ref r = k->stmt.n; r-- > 1;) {
        const k_stmt *s = &k->stmt.at[r];
        bool hands_on = s->op == K_LET && s->sub == OP_AND && !asked[s->dst];
        for (unsigned i = s->op == K_CHECK; i < k_operands(s) && !hands_on; i++)
            asked[s->in[i]] = true;
    }
    g->asked = asked;
}

/* --- does the condition surely hold in every lane? --- */

static bool is_comparison(const k_stmt *s)
{
    return s->op == K_LET && s->sub >= OP_LT && s->sub <= OP_GE;
}

static bool linear(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    return x->type == T_I64 && x->kind != KV_VARIABLE &&
           (x->shape == K_UNIFORM || (x->shape == K_AFFINE && x->step > -most_step && x->step < most_step));
}

/* Affine sides compared at both ends; that no side wraps on the way is part of the test. */
static cg_ref ends_hold(cg *g, const k_stmt *s)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    cg_ref first[2], last[2], holds = NULL;
    for (unsigned i = 0; i < 2; i++) {
        const k_value *x = &g->k->value.at[s->in[i]];
        first[i] = last[i] = cg_scalar(g, s->in[i]);
        if (x->shape != K_AFFINE)
            continue;
        cg_ref in[] = {first[i], cg_i64(g, x->step * (int64_t)(g->lanes - 1))};
        cg_ref sum = cg_call(g, "llvm.sadd.with.overflow", 1, &i64, 2, in);
        last[i] = LLVMBuildExtractValue(b, sum, 0, "");
        cg_ref exact = LLVMBuildNot(b, LLVMBuildExtractValue(b, sum, 1, ""), "");
        holds = holds ? LLVMBuildAnd(b, holds, exact, "") : exact;
    }
    cg_ref at_first = cg_op(g, (ir_op)s->sub, T_I64, T_BOOL, first);
    cg_ref at_last = cg_op(g, (ir_op)s->sub, T_I64, T_BOOL, last);
    cg_ref both = LLVMBuildAnd(b, at_first, at_last, "");
    return holds ? LLVMBuildAnd(b, holds, both, "") : both;
}

/* i1, or NULL when only looking at every lane can tell. False may be wrong, true is not. */
static cg_ref surely_holds(cg *g, k_val condition)
{
    k_val open[MOST_TERMS] = {condition};
    unsigned n = 1;
    cg_ref all = NULL;
    while (n) {
        k_val v = open[--n];
        const k_value *x = &g->k->value.at[v];
        const k_stmt *s = &g->k->stmt.at[x->def];
        cg_ref one;
        if (x->shape == K_UNIFORM)
            one = cg_scalar(g, v);
        else if (x->kind != KV_RESULT)
            return NULL;
        else if (is_comparison(s) && linear(g, s->in[0]) && linear(g, s->in[1]))
            one = ends_hold(g, s);
        else if (is_comparison(s) && ((one = cg_offsets_hold(g, s)) != NULL || (one = cg_spread_holds(g, s)) != NULL))
            ;
        else if (s->op == K_LET && s->sub == OP_AND && n + 2 <= MOST_TERMS) {
            open[n++] = s->in[0];
            open[n++] = s->in[1];
            continue;
        } else
            return NULL;
        all = all ? LLVMBuildAnd(g->b, all, one, "") : one;
    }
    return all;
}

/* --- reporting --- */

/* Of numbers that were made wider these are what is used here, see cg_gather. */
static cg_ref element_of(cg *g, cg_ref vector, cg_ref lane)
{
    if (!cg_is_widened(vector))
        return LLVMBuildExtractElement(g->b, vector, lane, "");
    cg_ref x = LLVMBuildExtractElement(g->b, LLVMGetOperand(vector, 0), lane, "");
    return LLVMBuildCast(g->b, LLVMGetInstructionOpcode(vector), x, LLVMGetElementType(LLVMTypeOf(vector)), "");
}

static cg_ref at_lane(cg *g, k_val v, cg_ref lane)
{
    cg_value x = cg_get(g, v);
    if (x.form == FORM_UNIFORM)
        return x.v;
    if (x.form == FORM_VECTOR)
        return cg_as_wide(g, v, element_of(g, x.v, lane));
    return LLVMBuildAdd(g->b, x.v, LLVMBuildMul(g->b, x.step, lane, ""), "");
}

static void call_report(cg *g, const k_stmt *s, cg_ref lane)
{
    cg_ref in[5] = {g->error, cg_i32(g, s->site)};
    for (unsigned i = 0; i < 3; i++)
        in[2 + i] = lane ? at_lane(g, s->in[1 + i], lane) : cg_scalar(g, s->in[1 + i]);
    LLVMTypeRef types[] = {g->ptr, g->i32, g->i64, g->i64, g->i64};
    LLVMTypeRef f = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, 5, false);
    LLVMBuildCall2(g->b, f, s->sub & K_NOTE ? g->note : g->report, in, 5, "");
}

/* Every failing lane is reported; the runtime keeps the smallest (site, element). */
static void report_lanes(cg *g, const k_stmt *s, cg_ref failing)
{
    LLVMBuilderRef b = g->b;
    cg_ref bits = cg_mask_bits(g, failing);
    LLVMTypeRef word = LLVMTypeOf(bits);
    LLVMBasicBlockRef before = cg_here(g), each = cg_block(g, "report"), end = cg_block(g, "reported");
    cg_br(g, each);
    cg_at(g, each);
    cg_ref left = LLVMBuildPhi(b, word, "");
    cg_ref lane = cg_call(g, "llvm.cttz", 1, &word, 2, (cg_ref[]){left, LLVMConstInt(g->i1, 1, false)});
    call_report(g, s, LLVMBuildIntCast2(b, lane, g->i64, false, ""));
    cg_ref rest = LLVMBuildAnd(b, left, LLVMBuildSub(b, left, LLVMConstInt(word, 1, false), ""), "");
    LLVMAddIncoming(left, (cg_ref[]){bits, rest}, (LLVMBasicBlockRef[]){before, cg_here(g)}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, rest, cg_zero(word), ""), each, end);
    cg_at(g, end);
}

/* --- the statement --- */

static void check_piece(cg *g, const k_stmt *s)
{
    LLVMBasicBlockRef bad = cg_block(g, "bad"), good = cg_block(g, "good");
    cg_unlikely(g, LLVMBuildNot(g->b, cg_scalar(g, s->in[0]), ""), bad, good);
    cg_at(g, bad);
    call_report(g, s, NULL);
    cg_br(g, g->abandon);
    cg_at(g, good);
}

static cg_ref failing_lanes(cg *g, const k_stmt *s)
{
    cg_ref fails = LLVMBuildNot(g->b, cg_vec(g, s->in[0]), "");
    return g->mask.on ? LLVMBuildAnd(g->b, g->mask.on, fails, "") : fails;
}

/* The one lane of a gang leaves it, once it has been reported. */
static void check_alone(cg *g, const k_stmt *s)
{
    LLVMBasicBlockRef bad = cg_block(g, "bad"), good = cg_block(g, "good");
    cg_ref holds = surely_holds(g, s->in[0]);
    if (holds) {
        LLVMBasicBlockRef closer = cg_block(g, "closer");
        cg_unlikely(g, LLVMBuildNot(g->b, holds, ""), closer, good);
        cg_at(g, closer);
    }
    cg_unlikely(g, cg_mask_any(g, failing_lanes(g, s)), bad, good);
    cg_at(g, bad);
    call_report(g, s, cg_i64(g, 0));
    cg_br(g, g->gang_end);
    cg_at(g, good);
}

/* A whole gang in which a lane fails is done again by the masked body, which reports. */
static void check_whole(cg *g, const k_stmt *s)
{
    LLVMBasicBlockRef good = cg_block(g, "good");
    cg_ref holds = surely_holds(g, s->in[0]);
    if (holds && !g->mask.on) {
        cg_unlikely(g, LLVMBuildNot(g->b, holds, ""), g->restart, good);
        cg_at(g, good);
        return;
    }
    if (holds) {
        LLVMBasicBlockRef closer = cg_block(g, "closer");
        cg_unlikely(g, LLVMBuildNot(g->b, holds, ""), closer, good);
        cg_at(g, closer);
    }
    cg_unlikely(g, cg_mask_any(g, failing_lanes(g, s)), g->restart, good);
    cg_at(g, good);
}

static void check_masked(cg *g, const k_stmt *s)
{
    LLVMBuilderRef b = g->b;
    LLVMBasicBlockRef closer = cg_block(g, "closer"), bad = cg_block(g, "bad"), good = cg_block(g, "good");
    cg_ref full = g->mask.on ? g->mask.full : LLVMConstInt(g->i1, 1, false);
    cg_ref before = cg_mask_or_all(g), holds = surely_holds(g, s->in[0]);
    LLVMBasicBlockRef start = cg_here(g);
    if (holds)
        cg_unlikely(g, LLVMBuildNot(b, holds, ""), closer, good);
    else
        cg_br(g, closer);
    cg_at(g, closer);
    cg_ref failing = failing_lanes(g, s);
    LLVMBasicBlockRef close = cg_here(g);
    cg_unlikely(g, cg_mask_any(g, failing), bad, good);

    cg_at(g, bad);
    report_lanes(g, s, failing);
    cg_ref stays = LLVMBuildNot(b, failing, "");
    cg_ref alive = LLVMBuildLoad2(b, LLVMTypeOf(failing), g->alive, "");
    alive = LLVMBuildAnd(b, alive, stays, "");
    LLVMBuildStore(b, alive, g->alive);
    cg_ref left = LLVMBuildAnd(b, before, stays, "");
    LLVMBasicBlockRef more = cg_block(g, "more");
    cg_cond(g, cg_mask_any(g, alive), more, g->gang_end);
    cg_at(g, more);
    cg_br(g, good);

    cg_at(g, good);
    cg_ref on = LLVMBuildPhi(b, LLVMTypeOf(before), "");
    LLVMAddIncoming(on, (cg_ref[]){before, left}, (LLVMBasicBlockRef[]){close, more}, 2);
    if (holds)
        LLVMAddIncoming(on, &before, &start, 1);
    g->mask.on = on;
    g->mask.first = NULL;
    g->mask.some = false;
    if (!full)
        return;
    cg_ref none = LLVMConstInt(g->i1, 0, false), still = LLVMBuildPhi(b, g->i1, "");
    LLVMAddIncoming(still, (cg_ref[]){full, none}, (LLVMBasicBlockRef[]){close, more}, 2);
    if (holds)
        LLVMAddIncoming(still, &full, &start, 1);
    g->mask.full = still;
}

/* A whole gang is done again by the masked body, so that nothing is noted twice. */
static void note(cg *g, const k_stmt *s)
{
    if (!g->thread) {
        call_report(g, s, NULL);
        return;
    }
    if (g->restart) {
        cg_br(g, g->restart);
        cg_at(g, cg_block(g, "unreached"));
        return;
    }
    LLVMBasicBlockRef some = cg_block(g, "some"), noted = cg_block(g, "noted");
    cg_ref on = cg_mask_or_all(g);
    cg_cond(g, cg_mask_any(g, on), some, noted);
    cg_at(g, some);
    report_lanes(g, s, on);
    cg_br(g, noted);
    cg_at(g, noted);
}

void cg_check(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    if (cg_is_vouched(g, id))
        return;
    if (s->sub & K_NOTE)
        note(g, s);
    else if (!g->thread)
        check_piece(g, s);
    else if (g->lanes == 1)
        check_alone(g, s);
    else if (g->restart)
        check_whole(g, s);
    else
        check_masked(g, s);
}
