/* Loads at an index that is a row in pieces: clamped at the edges of an array, turned round at its end, chosen from two
 * rows. Each piece is loaded where its lanes are, and the lanes are put together: a gather takes an access for each
 * lane. */
#include "emit/cpu/llvm/cg.h"

enum { MOST_PIECES = 4, MOST_DEPTH = 6 };

static const k_stmt *made_by(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    return x->kind == KV_RESULT ? &g->k->stmt.at[x->def] : NULL;
}

static bool is_uniform(const cg *g, k_val v)
{
    return g->k->value.at[v].shape == K_UNIFORM;
}

static bool is_row(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    return x->shape == K_AFFINE && x->step == 1;
}

typedef enum { NO_PIECES, ONE, ROW, MOVED, CHOSEN, SMALLER, LARGER } form;

/* MOVED: operand `*base`, and by the other, which is uniform. */
static form form_of(const cg *g, k_val v, k_val *base)
{
    const k_stmt *s = made_by(g, v);
    if (is_uniform(g, v))
        return ONE;
    if (is_row(g, v))
        return ROW;
    if (!s || g->k->value.at[v].type != T_I64)
        return NO_PIECES;
    if (s->op == K_SELECT)
        return CHOSEN;
    if (s->op != K_LET)
        return NO_PIECES;
    switch (s->sub) {
    case OP_ADD:
        *base = is_uniform(g, s->in[1]) ? s->in[0] : s->in[1];
        return is_uniform(g, s->in[0]) || is_uniform(g, s->in[1]) ? MOVED : NO_PIECES;
    case OP_SUB:
        *base = s->in[0];
        return is_uniform(g, s->in[1]) ? MOVED : NO_PIECES;
    case OP_MIN:
        return SMALLER;
    case OP_MAX:
        return LARGER;
    default:
        return NO_PIECES;
    }
}

/* How many pieces there are, and rows among them; false: the index is of another form, or of too many. */
static bool count(const cg *g, k_val v, unsigned depth, unsigned *pieces, unsigned *rows)
{
    k_val base = 0;
    form f = depth > MOST_DEPTH ? NO_PIECES : form_of(g, v, &base);
    const k_stmt *s = made_by(g, v);
    switch (f) {
    case NO_PIECES:
        return false;
    case ONE:
    case ROW:
        *rows += f == ROW;
        return ++*pieces <= MOST_PIECES;
    case MOVED:
        return count(g, base, depth + 1, pieces, rows);
    case CHOSEN:
        return count(g, s->in[1], depth + 1, pieces, rows) && count(g, s->in[2], depth + 1, pieces, rows);
    default:
        return count(g, s->in[0], depth + 1, pieces, rows) && count(g, s->in[1], depth + 1, pieces, rows);
    }
}

typedef struct load {
    cg *g;
    k_mem mem;
    LLVMTypeRef element, vector;
    unsigned align;
} load;

static cg_ref moved_by(cg *g, cg_ref index, cg_ref by)
{
    return by ? LLVMBuildAdd(g->b, index, by, "") : index;
}

/* The same element for all lanes of the mask. Where there are none, nothing vouches for the index. */
static cg_ref load_one(const load *l, cg_ref index, cg_ref mask)
{
    cg *g = l->g;
    LLVMBasicBlockRef here = cg_here(g), some = cg_block(g, "piece.one"), end = cg_block(g, "piece.end");
    cg_cond(g, cg_mask_any(g, mask), some, end);
    cg_at(g, some);
    cg_ref x = LLVMBuildLoad2(g->b, l->element, cg_element(g, l->mem, index), "");
    LLVMSetAlignment(x, l->align);
    x = cg_splat(g, x);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, some, cg_zero(l->vector), here);
}

/* The elements at index v, moved by `by`, for the lanes of the mask; the others are zero. */
static cg_ref load_pieces(const load *l, k_val v, cg_ref by, cg_ref mask)
{
    cg *g = l->g;
    LLVMBuilderRef b = g->b;
    k_val base = 0;
    const k_stmt *s = made_by(g, v);
    form f = form_of(g, v, &base);
    if (f == ONE)
        return load_one(l, moved_by(g, cg_scalar(g, v), by), mask);
    if (f == ROW) {
        cg_ref pointer = cg_element(g, l->mem, moved_by(g, cg_scalar(g, v), by));
        return cg_masked_load(g, l->vector, pointer, l->align, mask);
    }
    if (f == MOVED) {
        cg_ref step = cg_scalar(g, base == s->in[0] ? s->in[1] : s->in[0]);
        if (s->sub == OP_SUB)
            step = LLVMBuildNeg(b, step, "");
        return load_pieces(l, base, moved_by(g, step, by), mask);
    }
    bool chosen = f == CHOSEN;
    k_val left = s->in[chosen ? 1 : 0], right = s->in[chosen ? 2 : 1];
    LLVMIntPredicate order = f == SMALLER ? LLVMIntSLT : LLVMIntSGT;
    cg_ref first = chosen ? cg_vec(g, s->in[0]) : LLVMBuildICmp(b, order, cg_vec(g, left), cg_vec(g, right), "");
    cg_ref x = load_pieces(l, left, by, LLVMBuildAnd(b, mask, first, ""));
    cg_ref y = load_pieces(l, right, by, LLVMBuildAnd(b, mask, LLVMBuildNot(b, first, ""), ""));
    return LLVMBuildSelect(b, first, x, y, "");
}

cg_ref cg_load_pieces(cg *g, const k_stmt *s)
{
    unsigned pieces = 0, rows = 0;
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    if (!g->cpu.avx512 || !count(g, s->in[0], 0, &pieces, &rows) || !rows)
        return NULL;
    LLVMTypeRef element = cg_stored(g, t);
    load l = {g, s->mem, element, LLVMVectorType(element, g->lanes), (unsigned)ir_type_size(t)};
    return load_pieces(&l, s->in[0], NULL, cg_mask_or_all(g));
}
