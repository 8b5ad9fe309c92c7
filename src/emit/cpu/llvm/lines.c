/* Positions in an array of several dimensions whose lanes follow one another: where a gang stays in one line, which it
 * nearly always does where lines are long, the number of the line, position / extent, is one for all its lanes, and the
 * place in it goes up from lane to lane. This is looked for where a division stands: lanes divide only where a gang
 * goes over the end of a line. Loads at sums of such numbers are then one element, or a stretch, and gathers else. */
#include "emit/cpu/llvm/cg.h"

enum { FEWEST_LANES = 8, MOST_LINES = 4, MOST_DEPTH = 8 };

static bool is_rest(unsigned op)
{
    return op == OP_REM || op == OP_MOD;
}

static bool is_division(unsigned op)
{
    return op == OP_QUOT || op == OP_DIV || is_rest(op);
}

/* --- divisions --- */

static bool may_stay(const cg *g, const k_stmt *s)
{
    const k_value *x = &g->k->value.at[s->in[0]];
    int64_t by;
    if (!is_division(s->sub) || x->type != T_I64 || !cg_is_uniform(g, s->in[1]) || g->lanes < FEWEST_LANES || g->part)
        return false;
    if (x->shape == K_AFFINE)
        return x->step == 1 && !(cg_is_literal(g, s->in[1], &by) && by < 2 * (int64_t)g->lanes);
    return g->value[s->in[0]].line && !is_rest(cg_definition(g, s->in[0])->sub);
}

bool cg_let_line(cg *g, const k_stmt *s)
{
    LLVMBuilderRef b = g->b;
    if (!may_stay(g, s))
        return false;
    const bool goes_up = g->k->value.at[s->in[0]].shape == K_AFFINE, rest = is_rest(s->sub),
               narrow = cg_is_narrow(g, s->in[0]) && cg_is_narrow(g, s->in[1]);
    const cg_value from = g->value[s->in[0]];
    cg_ref zero = cg_i64(g, 0), one = cg_i64(g, 1), by = cg_scalar(g, s->in[1]);
    cg_ref first = goes_up ? cg_scalar(g, s->in[0]) : from.line;
    cg_ref positive = LLVMBuildICmp(b, LLVMIntSGT, by, zero, "");
    by = LLVMBuildSelect(b, positive, by, one, "");
    LLVMTypeRef lane = narrow ? g->i32 : g->i64;
    cg_ref line = LLVMBuildSDiv(b, LLVMBuildTrunc(b, first, lane, ""), LLVMBuildTrunc(b, by, lane, ""), "");
    line = LLVMBuildSExt(b, line, g->i64, "");
    cg_ref place = LLVMBuildSub(b, first, LLVMBuildMul(b, line, by, ""), "");
    cg_ref same = LLVMBuildAnd(b, positive, LLVMBuildICmp(b, LLVMIntSGE, first, zero, ""), "");
    if (goes_up) {
        cg_ref last = LLVMBuildAdd(b, place, cg_i64(g, (int64_t)g->lanes - 1), "");
        same = LLVMBuildAnd(b, same, LLVMBuildICmp(b, LLVMIntSLT, last, by, ""), "");
    } else {
        same = LLVMBuildAnd(b, same, from.same, "");
    }
    LLVMBasicBlockRef usual = cg_block(g, "line"), rare = cg_block(g, "lines"), end = cg_block(g, "line.end");
    cg_cond(g, same, usual, rare);
    cg_at(g, usual);
    cg_ref x = cg_splat(g, LLVMBuildTrunc(b, rest ? place : line, lane, ""));
    if (rest && goes_up)
        x = LLVMBuildAdd(b, x, cg_iota(g, lane, g->lanes), "");
    cg_br(g, end);
    cg_at(g, rare);
    cg_ref y = cg_index_op(g, (ir_op)s->sub, s->in[0], s->in[1]);
    rare = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    cg_define(g, s->dst, cg_phi2(g, x, usual, y, rare));
    g->value[s->dst].line = rest ? place : line;
    g->value[s->dst].same = same;
    return true;
}

/* --- loads --- */

typedef struct index_form {
    int64_t step; /* from lane to lane, in one line */
    unsigned lines;
    cg_ref same[MOST_LINES];
} index_form;

/* Is the index a sum of what lanes share, lines, and places in lines? */
static bool find_form(const cg *g, k_val v, unsigned depth, index_form *out)
{
    const k_value *x = &g->k->value.at[v];
    const k_stmt *s = cg_definition(g, v);
    index_form part[2] = {{0}, {0}};
    int64_t by = 0;
    if (x->shape == K_UNIFORM || x->shape == K_AFFINE) {
        out->step += x->shape == K_AFFINE ? x->step : 0;
        return true;
    }
    if (!s || s->op != K_LET || x->type != T_I64 || depth == MOST_DEPTH)
        return false;
    if (is_division(s->sub)) {
        if (!g->value[v].line || out->lines == MOST_LINES)
            return false;
        out->step += is_rest(s->sub) && g->k->value.at[s->in[0]].shape == K_AFFINE;
        out->same[out->lines++] = g->value[v].same;
        return true;
    }
    if (s->sub != OP_ADD && s->sub != OP_SUB && s->sub != OP_MUL)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        if (!find_form(g, s->in[i], depth + 1, &part[i]) || out->lines + part[i].lines > MOST_LINES)
            return false;
        memcpy(out->same + out->lines, part[i].same, part[i].lines * sizeof *out->same);
        out->lines += part[i].lines;
    }
    if (s->sub == OP_MUL) {
        const bool swapped = cg_is_uniform(g, s->in[0]);
        const index_form *along = &part[swapped];
        if (!cg_is_uniform(g, s->in[!swapped]) || (along->step && !cg_is_literal(g, s->in[!swapped], &by)))
            return false;
        out->step += along->step ? along->step * by : 0;
        return true;
    }
    out->step += s->sub == OP_ADD ? part[0].step + part[1].step : part[0].step - part[1].step;
    return true;
}

/* The index of lane 0, where lines are the same in all lanes. */
static cg_ref first_index(cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    if (x->shape == K_UNIFORM || x->shape == K_AFFINE)
        return cg_scalar(g, v);
    const k_stmt *s = cg_definition(g, v);
    if (is_division(s->sub))
        return g->value[v].line;
    cg_ref left = first_index(g, s->in[0]), right = first_index(g, s->in[1]);
    return s->sub == OP_ADD   ? LLVMBuildAdd(g->b, left, right, "")
           : s->sub == OP_SUB ? LLVMBuildSub(g->b, left, right, "")
                              : LLVMBuildMul(g->b, left, right, "");
}

cg_ref cg_load_line(cg *g, const k_stmt *s, cg_load_at *gathered)
{
    index_form f = {0};
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    if (g->k->mem.at[s->mem].every || !find_form(g, s->in[0], 0, &f) || !f.lines || (f.step != 0 && f.step != 1))
        return NULL;
    cg_ref same = f.same[0];
    for (unsigned i = 1; i < f.lines; i++)
        same = f.same[i] == same ? same : LLVMBuildAnd(g->b, same, f.same[i], "");
    LLVMTypeRef element = cg_stored(g, t), vector = LLVMVectorType(element, g->lanes);
    LLVMBasicBlockRef usual = cg_block(g, "load.line"), rare = cg_block(g, "load.lines"),
                      end = cg_block(g, "load.line.end");
    cg_cond(g, same, usual, rare);
    cg_at(g, usual);
    cg_ref x = cg_load_stretch(g, s->mem, first_index(g, s->in[0]), f.step ? vector : element);
    x = f.step ? x : cg_splat(g, x);
    usual = cg_here(g);
    cg_br(g, end);
    cg_at(g, rare);
    cg_ref y = gathered(g, s);
    rare = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, usual, y, rare);
}
