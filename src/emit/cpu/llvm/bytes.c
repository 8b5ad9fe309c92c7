/* Sums of bytes, and of products of bytes, in 32 bits: one instruction adds up several lanes. */
#include "emit/cpu/llvm/cg.h"

enum { REGISTER = 64 }; /* bytes */

/* The statement that defines v, if it is this operation. */
static const k_stmt *defined_by(const cg *g, k_val v, ir_op op)
{
    const k_value *x = &g->k->value.at[v];
    const k_stmt *s = x->kind == KV_RESULT ? &g->k->stmt.at[x->def] : NULL;
    return s && s->op == K_LET && s->sub == op ? s : NULL;
}

/* The byte that v is made of by widening, or 0. */
static k_val byte_of(const cg *g, k_val v)
{
    const k_stmt *s = defined_by(g, v, OP_CONVERT);
    ir_type t = s ? (ir_type)g->k->value.at[s->in[0]].type : T_BOOL;
    return t == T_U8 || t == T_I8 ? s->in[0] : 0;
}

/* Followed by zeros, n elements. */
static cg_ref with_zeros(cg *g, cg_ref x, unsigned n)
{
    unsigned known = LLVMGetVectorSize(LLVMTypeOf(x));
    int index[256];
    for (unsigned i = 0; i < n; i++)
        index[i] = i < known ? (int)i : (int)known;
    return cg_shuffle(g, x, cg_zero(LLVMTypeOf(x)), n, index);
}

/* Sums of eight bytes each, in every other word. A whole register of bytes, half of it zero: zeros behind the sums of
 * half a register would cost an instruction. */
static cg_ref sums_of_bytes(cg *g, cg_ref bytes)
{
    LLVMTypeRef words = LLVMVectorType(g->i32, REGISTER / 4);
    cg_ref x = with_zeros(g, bytes, REGISTER);
    cg_ref in[] = {x, cg_zero(LLVMTypeOf(x))};
    return LLVMBuildBitCast(g->b, cg_call(g, "llvm.x86.avx512.psad.bw.512", 0, NULL, 2, in), words, "");
}

static cg_ref halves_of(cg *g, k_val byte)
{
    bool is_signed = g->k->value.at[byte].type == T_I8;
    LLVMTypeRef halves = LLVMVectorType(LLVMInt16TypeInContext(g->context), g->lanes);
    return LLVMBuildIntCast2(g->b, cg_vec(g, byte), halves, is_signed, "");
}

/* Sums of two products each. */
static cg_ref sums_of_products(cg *g, k_val x, k_val y)
{
    cg_ref in[] = {halves_of(g, x), halves_of(g, y)};
    return cg_call(g, "llvm.x86.avx512.pmaddw.d.512", 0, NULL, 2, in);
}

cg_ref cg_byte_sum(cg *g, const k_stmt *set)
{
    const k_stmt *sum = defined_by(g, set->in[0], OP_ADD);
    if (!sum || !g->cpu.avx512 || g->lanes != REGISTER / 2 || ir_type_size((ir_type)g->k->value.at[set->dst].type) != 4)
        return NULL;
    const k_stmt *copy = defined_by(g, sum->in[0], OP_BITCAST);
    bool first = copy && copy->in[0] == set->dst;
    k_val part = sum->in[first], byte = byte_of(g, part);
    if (byte && g->k->value.at[byte].type == T_U8)
        return with_zeros(g, sums_of_bytes(g, cg_vec(g, byte)), g->lanes);
    const k_stmt *product = defined_by(g, part, OP_MUL);
    k_val x = product ? byte_of(g, product->in[0]) : 0, y = product ? byte_of(g, product->in[1]) : 0;
    return x && y ? with_zeros(g, sums_of_products(g, x, y), g->lanes) : NULL;
}
