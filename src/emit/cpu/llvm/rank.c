/* Ranks: how many lanes before the own one meet a condition. Where a rank, or the lane's number less it, is an index,
 * the lanes that meet the condition, or those that do not, read elements that lie one behind the other: these are
 * loaded as a row and spread over the lanes, and the two ends of the row vouch for the checks of all. It is the other
 * way of COMPACT. */
#include "emit/cpu/llvm/outline.h"

enum { MOST_TERMS = 16, WORD = 64 };

static cg_ref bits_of(cg *g, cg_ref mask, unsigned n)
{
    return LLVMBuildBitCast(g->b, mask, LLVMIntTypeInContext(g->context, n), "");
}

static cg_ref number_of(cg *g, cg_ref bits)
{
    return LLVMBuildIntCast2(g->b, cg_call1(g, "llvm.ctpop", bits), g->i64, false, "");
}

static cg_ref part_of(cg *g, cg_ref v, unsigned from, unsigned n)
{
    int index[256];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(from + i);
    return n == LLVMGetVectorSize(LLVMTypeOf(v)) ? v : cg_shuffle(g, v, NULL, n, index);
}

/* --- the ranks themselves, where somebody wants them --- */

/* Of the lanes of one word, behind so many: the bits below the own one are counted. */
static cg_ref ranks_of_word(cg *g, cg_ref bits, unsigned n, cg_ref before)
{
    cg_ref below[WORD];
    for (unsigned i = 0; i < n; i++)
        below[i] = LLVMConstInt(g->i64, ((uint64_t)1 << i) - 1, false);
    cg_ref all = cg_splat_n(g, LLVMBuildZExt(g->b, bits, g->i64, ""), n);
    cg_ref rank = cg_call1(g, "llvm.ctpop", LLVMBuildAnd(g->b, all, LLVMConstVector(below, n), ""));
    return before ? LLVMBuildAdd(g->b, rank, cg_splat_n(g, before, n), "") : rank;
}

static cg_ref ranks_by_words(cg *g, cg_ref mask)
{
    cg_ref part[256 / WORD], before = NULL;
    unsigned n = g->lanes < WORD ? g->lanes : WORD, parts = g->lanes / n;
    for (unsigned i = 0; i < parts; i++) {
        cg_ref bits = bits_of(g, part_of(g, mask, i * n, n), n), here = number_of(g, bits);
        part[i] = ranks_of_word(g, bits, n, before);
        before = before ? LLVMBuildAdd(g->b, before, here, "") : here;
    }
    for (unsigned width = 1; width < parts; width *= 2)
        for (unsigned i = 0; i < parts; i += 2 * width)
            part[i] = cg_join(g, part[i], part[i + width]);
    return part[0];
}

/* As sums of bytes over twice the distance each time; 256 lanes before one are not possible. */
static cg_ref ranks_by_bytes(cg *g, cg_ref mask)
{
    LLVMTypeRef bytes = LLVMVectorType(g->i8, g->lanes);
    cg_ref own = LLVMBuildZExt(g->b, mask, bytes, ""), sum = own;
    for (unsigned distance = 1; distance < g->lanes; distance *= 2) {
        int index[256];
        for (unsigned i = 0; i < g->lanes; i++)
            index[i] = i < distance ? (int)g->lanes : (int)(i - distance);
        sum = LLVMBuildAdd(g->b, sum, cg_shuffle(g, sum, cg_zero(bytes), g->lanes, index), "");
    }
    return LLVMBuildZExt(g->b, LLVMBuildSub(g->b, sum, own, ""), LLVMVectorType(g->i64, g->lanes), "");
}

void cg_rank(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    cg_ref mask = cg_lanes_where(g, s->in[0]);
    cg_ref rank = g->cpu.avx512 ? ranks_by_words(g, mask) : ranks_by_bytes(g, mask);
    if (cg_is_narrow(g, s->dst))
        rank = LLVMBuildTrunc(g->b, rank, LLVMVectorType(g->i32, g->lanes), "");
    cg_define(g, s->dst, rank);
    g->ranked[s->dst] = mask;
}

/* --- indices --- */

typedef struct sum {
    k_val rank; /* the one in it; 0: none yet */
    bool less;  /* it is taken away */
    int64_t step;
    k_val term[MOST_TERMS]; /* the rest, which goes along with the lanes or is the same in all */
    bool taken[MOST_TERMS]; /* away */
    unsigned terms, left;
} sum;

static bool add_to(const cg *g, sum *x, k_val v, bool less)
{
    const k_value *value = &g->k->value.at[v];
    if (!x->left || value->type != T_I64 || value->kind == KV_VARIABLE)
        return false;
    x->left--;
    if (value->shape == K_UNIFORM || value->shape == K_AFFINE) {
        uint64_t step = value->shape == K_UNIFORM ? 0 : (uint64_t)value->step;
        x->step = (int64_t)(less ? (uint64_t)x->step - step : (uint64_t)x->step + step);
        x->taken[x->terms] = less;
        x->term[x->terms++] = v;
        return true;
    }
    const k_stmt *s = value->kind == KV_RESULT ? &g->k->stmt.at[value->def] : NULL;
    if (!s)
        return false;
    if (s->op == K_RANK && !x->rank && !cg_is_foreign(g, v)) {
        x->rank = v;
        x->less = less;
        return true;
    }
    if (s->op != K_LET)
        return false;
    if (s->sub == OP_BITCAST)
        return add_to(g, x, s->in[0], less);
    if (s->sub != OP_ADD && s->sub != OP_SUB)
        return false;
    return add_to(g, x, s->in[0], less) && add_to(g, x, s->in[1], less != (s->sub == OP_SUB));
}

/* In lane 0, where ranks are 0. */
static cg_ref first_of_sum(cg *g, const sum *x)
{
    cg_ref first = cg_i64(g, 0);
    for (unsigned i = 0; i < x->terms; i++) {
        cg_ref term = cg_scalar(g, x->term[i]);
        first = x->taken[i] ? LLVMBuildSub(g->b, first, term, "") : LLVMBuildAdd(g->b, first, term, "");
    }
    return first;
}

bool cg_find_spread(cg *g, k_val index, cg_spread *out)
{
    sum x = {.left = MOST_TERMS};
    if (!g->thread || g->lanes != g->k->lanes || g->lanes > WORD)
        return false;
    if (!add_to(g, &x, index, false) || !x.rank || x.step != x.less)
        return false;
    cg_ref mask = g->ranked[x.rank];
    out->first = first_of_sum(g, &x);
    out->among = x.less ? LLVMBuildNot(g->b, mask, "") : mask;
    return true;
}

/* --- checks --- */

cg_ref cg_spread_holds(cg *g, const k_stmt *s)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef i64 = g->i64;
    cg_spread row;
    unsigned side = 0;
    if (!g->mask.on || g->k->value.at[s->in[0]].type != T_I64)
        return NULL;
    while (side < 2 && (g->k->value.at[s->in[!side]].shape != K_UNIFORM || !cg_find_spread(g, s->in[side], &row)))
        side++;
    if (side == 2)
        return NULL;
    cg_ref further = LLVMBuildSub(b, number_of(g, cg_mask_bits(g, row.among)), cg_i64(g, 1), "");
    cg_ref end = cg_call(g, "llvm.sadd.with.overflow", 1, &i64, 2, (cg_ref[]){row.first, further});
    cg_ref first[2], last[2];
    first[!side] = last[!side] = cg_scalar(g, s->in[!side]);
    first[side] = row.first;
    last[side] = LLVMBuildExtractValue(b, end, 0, "");
    cg_ref others = LLVMBuildAnd(b, g->mask.on, LLVMBuildNot(b, row.among, ""), "");
    cg_ref wrong = LLVMBuildOr(b, LLVMBuildExtractValue(b, end, 1, ""), cg_mask_any(g, others), "");
    cg_ref both = LLVMBuildAnd(b, cg_op(g, (ir_op)s->sub, T_I64, T_BOOL, first),
                               cg_op(g, (ir_op)s->sub, T_I64, T_BOOL, last), "");
    cg_ref holds = LLVMBuildAnd(b, both, LLVMBuildNot(b, wrong, ""), "");
    return LLVMBuildOr(b, holds, LLVMBuildNot(b, cg_mask_any(g, g->mask.on), ""), "");
}

/* --- loads --- */

/* The first `count` of n lanes. */
static cg_ref first_of(cg *g, cg_ref count, unsigned n)
{
    cg_ref one = cg_i64(g, 1), bits;
    if (n < WORD) {
        bits = LLVMBuildSub(g->b, LLVMBuildShl(g->b, one, count, ""), one, "");
    } else {
        cg_ref some = LLVMBuildLShr(g->b, cg_i64(g, -1), LLVMBuildSub(g->b, cg_i64(g, WORD), count, ""), "");
        cg_ref none = LLVMBuildICmp(g->b, LLVMIntEQ, count, cg_i64(g, 0), "");
        bits = LLVMBuildSelect(g->b, none, cg_i64(g, 0), some, "");
    }
    bits = LLVMBuildIntCast2(g->b, bits, LLVMIntTypeInContext(g->context, n), false, "");
    return LLVMBuildBitCast(g->b, bits, LLVMVectorType(g->i1, n), "");
}

/* Register by register: what the lanes of `among` need is loaded, and expanded. */
static cg_ref spread_row(cg *g, cg_ref pointer, cg_ref among, LLVMTypeRef element, unsigned bytes)
{
    unsigned n = 64 / bytes, parts = g->lanes / n;
    LLVMTypeRef vector = LLVMVectorType(element, n);
    cg_ref part[64];
    for (unsigned i = 0; i < parts; i++) {
        cg_ref here = part_of(g, among, i * n, n), count = number_of(g, bits_of(g, here, n));
        cg_ref row = cg_masked_load(g, vector, pointer, bytes, first_of(g, count, n));
        part[i] = cg_call(g, "llvm.x86.avx512.mask.expand", 1, &vector, 3, (cg_ref[]){row, cg_zero(vector), here});
        pointer = LLVMBuildGEP2(g->b, element, pointer, &count, 1, "");
    }
    for (unsigned width = 1; width < parts; width *= 2)
        for (unsigned i = 0; i < parts; i += 2 * width)
            part[i] = cg_join(g, part[i], part[i + width]);
    return part[0];
}

/* Where the lanes that are on are others, each one reads for itself. */
cg_ref cg_load_spread(cg *g, const k_stmt *s)
{
    const k_memory *m = &g->k->mem.at[s->mem];
    unsigned bytes = (unsigned)ir_type_size((ir_type)m->type);
    bool instruction = g->cpu.avx512 && (bytes >= 4 || g->cpu.vbmi2) && g->lanes * bytes >= 64;
    cg_spread row;
    if (!instruction || !g->mask.on || m->every || m->space == K_PRIVATE || !cg_find_spread(g, s->in[0], &row))
        return NULL;
    cg_ref same = LLVMBuildICmp(g->b, LLVMIntEQ, cg_mask_bits(g, row.among), cg_mask_bits(g, g->mask.on), "");
    LLVMBasicBlockRef spread = cg_block(g, "spread"), apart = cg_block(g, "apart"), end = cg_block(g, "end");
    cg_cond(g, same, spread, apart);
    cg_at(g, spread);
    cg_ref x = spread_row(g, cg_element(g, s->mem, row.first), row.among, cg_stored(g, (ir_type)m->type), bytes);
    spread = cg_here(g);
    cg_br(g, end);
    cg_at(g, apart);
    cg_ref y = cg_gather(g, s->mem, cg_index_vec(g, s->in[0]), g->mask.on);
    apart = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, spread, y, apart);
}
