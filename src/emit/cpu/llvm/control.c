/* Statement lists, branches and loops. Uniform conditions become branches, divergent ones masks. */
#include "emit/cpu/llvm/outline.h"

/* Below this many statements both sides of a divergent IF run without a test whether any lane needs them. */
enum { TINY_BRANCH = 6 };

/* --- variables --- */

static void declare(cg *g, const k_stmt *s)
{
    const k_value *x = &g->k->value.at[s->dst];
    unsigned shape = g->thread ? x->shape : K_UNIFORM;
    cg_value v = {.depth = g->mask.depth};
    cg_ref initial;
    if (shape == K_UNIFORM || shape == K_AFFINE) {
        v.form = shape == K_UNIFORM ? FORM_UNIFORM : FORM_LINEAR;
        v.step = shape == K_UNIFORM ? NULL : cg_i64(g, x->step);
        initial = cg_scalar(g, s->in[0]);
    } else {
        v.form = FORM_VECTOR;
        initial = cg_is_narrow(g, s->dst) ? cg_index_vec(g, s->in[0]) : cg_vec(g, s->in[0]);
        if (g->quiet && g->quiet[s->dst])
            initial = cg_made_quiet(g, s->in[0], initial);
    }
    bool vector = v.form == FORM_VECTOR;
    ir_type t = cg_is_narrow(g, s->dst) ? T_I32 : (ir_type)x->type;
    LLVMTypeRef type = vector ? cg_variable_type(g, t) : LLVMTypeOf(initial);
    v.slot = cg_place(g, s->dst);
    v.slot = v.slot ? v.slot : cg_alloca(g, type, 0, "");
    if (vector)
        cg_write_variable(g, t, v.slot, initial);
    else
        LLVMBuildStore(g->b, initial, v.slot);
    g->value[s->dst] = v;
}

/* Lanes that are off keep the old value, unless none of them can see the variable again. */
static void set(cg *g, const k_stmt *s)
{
    const cg_value *v = &g->value[s->dst];
    if (!v->slot)
        cg_fail(g, "variable %u of kernel %s is set before it is declared", s->dst, g->k->name);
    cg_ref crossing = cg_place(g, s->dst), slot = crossing ? crossing : v->slot;
    if (v->form != FORM_VECTOR) {
        LLVMBuildStore(g->b, cg_scalar(g, s->in[0]), slot);
        return;
    }
    bool some = g->mask.on && g->mask.depth > v->depth;
    cg_ref part = s->sub == K_MIX && !some ? cg_byte_sum(g, s) : NULL;
    if (part) {
        cg_ref sum = LLVMBuildLoad2(g->b, LLVMTypeOf(part), slot, "");
        LLVMBuildStore(g->b, LLVMBuildAdd(g->b, sum, part, ""), slot);
        return;
    }
    bool narrow = cg_is_narrow(g, s->dst);
    cg_ref now = narrow ? cg_index_vec(g, s->in[0]) : cg_vec(g, s->in[0]);
    ir_type t = narrow ? T_I32 : (ir_type)g->k->value.at[s->dst].type;
    if (some && s->sub != K_RELAX)
        now = LLVMBuildSelect(g->b, g->mask.on, now, cg_read_variable(g, t, slot), "");
    cg_write_variable(g, t, slot, now);
}

/* --- IF --- */

/* All lanes go the same way, which `c` tells. */
static void if_uniform(cg *g, const k_stmt *s, cg_ref c, const cg_facts *inside)
{
    cg_mask outer = g->mask;
    LLVMBasicBlockRef then = cg_block(g, "then"), end = cg_block(g, "end_if");
    LLVMBasicBlockRef orelse = s->orelse ? cg_block(g, "else") : end;
    cg_cond(g, c, then, orelse);
    cg_at(g, then);
    cg_list(g, s->body);
    cg_br(g, end);
    if (s->orelse) {
        g->mask = outer;
        cg_at(g, orelse);
        cg_list(g, s->orelse);
        cg_br(g, end);
    }
    cg_at(g, end);
    cg_restore(g, outer, inside);
}

static void if_side(cg *g, k_ref list, cg_ref condition, cg_ref first, bool branch)
{
    if (!list)
        return;
    cg_mask outer = g->mask;
    g->mask = cg_narrow(g, condition, first);
    LLVMBasicBlockRef side = NULL, end = NULL;
    if (branch) {
        side = cg_block(g, "side");
        end = cg_block(g, "end_side");
        cg_cond(g, cg_mask_any(g, g->mask.on), side, end);
        cg_at(g, side);
        g->mask.some = true;
    }
    cg_list(g, list);
    if (branch) {
        cg_br(g, end);
        cg_at(g, end);
    }
    g->mask = outer;
}

void cg_if(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    const cg_facts *inside = &g->facts[id];
    if (!g->thread || g->k->value.at[s->in[0]].shape == K_UNIFORM) {
        if_uniform(g, s, cg_scalar(g, s->in[0]), inside);
        return;
    }
    if (g->lanes == 1) {
        if_uniform(g, s, cg_mask_any(g, cg_vec(g, s->in[0])), inside);
        return;
    }
    bool tiny = inside->statements <= TINY_BRANCH && !inside->loops && !inside->checks && !inside->uniform_load &&
                !inside->warp;
    /* Rows on either side of a limit: nearly always all lanes go one way, and where the other way leads nothing may be
     * mapped. Loads of no lanes take long there. */
    tiny &= !(g->value[s->in[0]].limit && inside->row_load);
    cg_mask outer = g->mask;
    cg_ref c = cg_vec(g, s->in[0]);
    if_side(g, s->body, c, g->value[s->in[0]].first, !tiny);
    if_side(g, s->orelse, s->orelse ? LLVMBuildNot(g->b, c, "") : NULL, NULL, !tiny);
    cg_restore(g, outer, inside);
}

/* --- LOOP --- */

static bool diverges(const cg *g, const k_stmt *s)
{
    if (!g->thread || g->lanes == 1)
        return false;
    for (k_ref r = s->body; r; r = g->k->stmt.at[r].next)
        if (g->k->stmt.at[r].op == K_BREAK_IF && g->k->value.at[g->k->stmt.at[r].in[0]].shape != K_UNIFORM)
            return true;
    return false;
}

/* The mask at the head of a turn. */
static void loop_head(cg *g, cg_mask outer, const cg_facts *inside)
{
    if (!g->loop_live) {
        cg_restore(g, outer, inside);
        return;
    }
    g->mask = outer;
    g->mask.on = LLVMBuildLoad2(g->b, LLVMGetAllocatedType(g->loop_live), g->loop_live, "");
    g->mask.full = g->mask.first = NULL;
    g->mask.some = true;
    g->mask.depth++;
}

/* Goes round while a lane is on; only a CHECK or a BREAK_IF can have switched off the last one. */
static void loop_turn(cg *g, LLVMBasicBlockRef head)
{
    if (g->loop_live)
        LLVMBuildStore(g->b, g->mask.on, g->loop_live);
    if (!g->mask.on || g->mask.some)
        cg_br(g, head);
    else
        cg_cond(g, cg_mask_any(g, g->mask.on), head, g->loop_exit);
}

void cg_loop(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    const cg_facts *inside = &g->facts[id];
    cg_mask outer = g->mask;
    LLVMBasicBlockRef outer_exit = g->loop_exit, head = cg_block(g, "loop"), end = cg_block(g, "end_loop");
    cg_ref outer_live = g->loop_live;
    g->loop_exit = end;
    g->loop_live = NULL;
    if (diverges(g, s)) {
        cg_ref on = cg_mask_or_all(g);
        g->loop_live = cg_alloca(g, LLVMTypeOf(on), 0, "live");
        LLVMBuildStore(g->b, on, g->loop_live);
        if (on == g->mask.on && !g->mask.some) {
            LLVMBasicBlockRef enter = cg_block(g, "enter");
            cg_cond(g, cg_mask_any(g, on), enter, end);
            cg_at(g, enter);
        }
    }
    cg_br(g, head);
    cg_at(g, head);
    loop_head(g, outer, inside);
    cg_list(g, s->body);
    loop_turn(g, head);
    cg_at(g, end);
    g->loop_exit = outer_exit;
    g->loop_live = outer_live;
    cg_restore(g, outer, inside);
}

void cg_break_if(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    LLVMBasicBlockRef on = cg_block(g, "stay");
    if (!g->thread || g->k->value.at[s->in[0]].shape == K_UNIFORM) {
        cg_cond(g, cg_scalar(g, s->in[0]), g->loop_exit, on);
        cg_at(g, on);
        return;
    }
    if (g->lanes == 1) {
        cg_cond(g, cg_mask_any(g, cg_vec(g, s->in[0])), g->loop_exit, on);
        cg_at(g, on);
        return;
    }
    cg_ref stays = LLVMBuildNot(g->b, cg_vec(g, s->in[0]), "");
    g->mask.on = LLVMBuildAnd(g->b, g->mask.on, stays, "");
    g->mask.first = NULL;
    cg_cond(g, cg_mask_any(g, g->mask.on), on, g->loop_exit);
    cg_at(g, on);
    g->mask.some = true;
}

/* --- FOR --- */

static bool unrolled(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    int64_t from, to;
    if (s->sub != 1 || !cg_is_literal(g, s->in[0], &from) || !cg_is_literal(g, s->in[1], &to) ||
        to - from > CG_MOST_UNROLLED)
        return false;
    if (g->part && (g->facts[id].parts || (to - from) * g->facts[id].statements > CG_PART))
        return false;
    for (int64_t i = from; i < to; i++) {
        cg_define(g, s->dst, cg_i64(g, i));
        cg_list(g, s->body);
    }
    return true;
}

static void turn_by_turn(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    const cg_facts *inside = &g->facts[id];
    cg_mask outer = g->mask;
    cg_ref from = cg_scalar(g, s->in[0]), to = cg_scalar(g, s->in[1]);
    LLVMBasicBlockRef before = cg_here(g), body = cg_block(g, "for"), end = cg_block(g, "end_for");
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, from, to, ""), body, end);
    cg_at(g, body);
    cg_ref i = LLVMBuildPhi(g->b, g->i64, "i");
    cg_restore(g, outer, inside);
    cg_define(g, s->dst, i);
    cg_list(g, s->body);
    cg_ref next = LLVMBuildNSWAdd(g->b, i, cg_i64(g, 1), "");
    LLVMAddIncoming(i, (cg_ref[]){from, next}, (LLVMBasicBlockRef[]){before, cg_here(g)}, 2);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, next, to, ""), body, end);
    cg_at(g, end);
    cg_restore(g, outer, inside);
}

void cg_for(cg *g, k_ref id)
{
    bool vouched = cg_vouch_for(g, id);
    if (!(g->thread && !g->facts[id].parts && cg_tiled_for(g, id)) && !unrolled(g, id))
        turn_by_turn(g, id);
    if (vouched)
        cg_vouch_end(g, id);
}

/* --- lists --- */

void cg_statement(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    switch ((k_op)s->op) {
    case K_NOP:
        return;
    case K_LET:
        cg_let(g, s);
        return;
    case K_SELECT:
        cg_select(g, s);
        return;
    case K_CALL:
        cg_call_code(g, s);
        return;
    case K_DECL:
        declare(g, s);
        return;
    case K_SET:
        set(g, s);
        return;
    case K_LOAD:
        cg_load(g, id);
        return;
    case K_STORE:
        cg_store(g, id);
        return;
    case K_CHECK:
        cg_check(g, id);
        return;
    case K_ATOMIC:
        cg_atomic(g, id);
        return;
    case K_IF:
        cg_if(g, id);
        return;
    case K_LOOP:
        cg_loop(g, id);
        return;
    case K_BREAK_IF:
        cg_break_if(g, id);
        return;
    case K_FOR:
        cg_for(g, id);
        return;
    case K_FOR_ALL:
        cg_for_all(g, id);
        return;
    case K_COMPACT:
        cg_compact(g, id);
        return;
    case K_COUNT:
        cg_count(g, id);
        return;
    case K_RANK:
        cg_rank(g, id);
        return;
    case K_ALL:
        cg_all(g, id);
        return;
    case K_SHUFFLE:
        cg_take(g, id);
        return;
    case K_FETCH:
        cg_fetch_ahead(g, s);
        return;
    case K_CHAIN:
        cg_chain(g, id);
        return;
    }
    cg_fail(g, "unknown statement %u in kernel %s", s->op, g->k->name);
}

void cg_range(cg *g, k_ref first, k_ref end)
{
    if (++g->depth > CG_MOST_DEPTH)
        cg_fail(g, "conditions and loops of kernel %s nest more than %d deep", g->k->name, CG_MOST_DEPTH);
    unsigned stored = 0; /* of the statements to come */
    for (k_ref r = first, next; r != end; r = next) {
        next = g->k->stmt.at[r].next;
        if (g->part && g->part[r] != g->own_part) {
            next = cg_call_part(g, r);
            continue;
        }
        stored = stored ? stored - 1 : cg_store_streams(g, r);
        stored = stored ? stored : cg_store_interleaved(g, r);
        stored = stored ? stored : cg_store_fields(g, r, false);
        if (!stored)
            cg_statement(g, r);
    }
    g->depth--;
}

void cg_list(cg *g, k_ref first)
{
    cg_range(g, first, 0);
}
