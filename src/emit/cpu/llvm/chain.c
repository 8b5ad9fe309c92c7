/* CHAIN: a tuple handed from piece to piece, in order. Piece p waits for the inclusive value of piece p - 1, combines it
 * with its own aggregate and publishes the result before it goes on; so carries travel in order and results do not
 * depend on the number of workers.
 *
 * The state holds 1 + arity words a piece: a flag, then the components. The flag is released after them. */
#include "emit/cpu/llvm/cg.h"

static cg_ref words_of(cg *g, const k_chain *c, cg_ref piece)
{
    cg_ref index = LLVMBuildMul(g->b, piece, cg_i64(g, 1 + c->arity), "");
    return cg_element(g, c->state, index);
}

static cg_ref component(cg *g, cg_ref words, unsigned j)
{
    cg_ref index = cg_i64(g, 1 + (int64_t)j);
    return LLVMBuildGEP2(g->b, g->i64, words, &index, 1, "");
}

static cg_ref to_word(cg *g, ir_type t, cg_ref x)
{
    if (ir_type_float(t))
        x = cg_bits_cast(g, t, x);
    return LLVMBuildZExtOrBitCast(g->b, x, g->i64, "");
}

static cg_ref from_word(cg *g, ir_type t, cg_ref word)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(g->context, ir_type_bits(t));
    return LLVMBuildBitCast(g->b, LLVMBuildTruncOrBitCast(g->b, word, bits, ""), g->type[t], "");
}

static cg_ref flag_load(cg *g, cg_ref words)
{
    cg_ref flag = LLVMBuildLoad2(g->b, g->i64, words, "");
    LLVMSetAlignment(flag, 8);
    LLVMSetOrdering(flag, LLVMAtomicOrderingAcquire);
    return flag;
}

static void publish(cg *g, const k_chain *c, cg_ref piece, const cg_ref *value)
{
    cg_ref words = words_of(g, c, piece);
    for (unsigned j = 0; j < c->arity; j++)
        LLVMBuildStore(g->b, to_word(g, (ir_type)g->k->value.at[c->aggregate[j]].type, value[j]), component(g, words, j));
    cg_ref flag = LLVMBuildStore(g->b, cg_i64(g, 1), words);
    LLVMSetAlignment(flag, 8);
    LLVMSetOrdering(flag, LLVMAtomicOrderingRelease);
}

static void wait_for(cg *g, cg_ref words)
{
    LLVMBasicBlockRef wait = cg_block(g, "wait"), end = cg_block(g, "arrived");
    LLVMTypeRef f = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &g->ptr, 1, false);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntNE, flag_load(g, words), cg_i64(g, 0), ""), end, wait);
    cg_at(g, wait);
    LLVMBuildCall2(g->b, f, g->await, &words, 1, "");
    cg_br(g, end);
    cg_at(g, end);
}

void cg_chain(cg *g, k_ref id)
{
    const k_chain *c = g->k->stmt.at[id].chain;
    LLVMBuilderRef b = g->b;
    LLVMBasicBlockRef first = cg_block(g, "chain.first"), later = cg_block(g, "chain.later"), end = cg_block(g, "chain.end");
    cg_ref own[K_MOST_CARRIED], initial[K_MOST_CARRIED], carried[K_MOST_CARRIED], inclusive[K_MOST_CARRIED];
    for (unsigned j = 0; j < c->arity; j++) {
        own[j] = cg_scalar(g, c->aggregate[j]);
        initial[j] = cg_scalar(g, c->initial[j]);
    }
    cg_cond(g, LLVMBuildICmp(b, LLVMIntEQ, g->piece, cg_i64(g, 0), ""), first, later);
    cg_at(g, first);
    cg_br(g, end);

    cg_at(g, later);
    cg_ref words = words_of(g, c, LLVMBuildSub(b, g->piece, cg_i64(g, 1), ""));
    wait_for(g, words);
    for (unsigned j = 0; j < c->arity; j++) {
        cg_ref word = LLVMBuildLoad2(b, g->i64, component(g, words, j), "");
        carried[j] = from_word(g, (ir_type)g->k->value.at[c->aggregate[j]].type, word);
    }
    LLVMBasicBlockRef arrived = cg_here(g);
    cg_br(g, end);

    cg_at(g, end);
    for (unsigned j = 0; j < c->arity; j++)
        cg_define(g, c->before[j], cg_phi2(g, initial[j], first, carried[j], arrived));
    for (unsigned j = 0; j < c->arity; j++) {
        g->value[c->left[j]] = g->value[c->before[j]];
        cg_define(g, c->right[j], own[j]);
    }
    cg_list(g, c->body);
    for (unsigned j = 0; j < c->arity; j++)
        inclusive[j] = cg_scalar(g, c->result[j]);
    publish(g, c, g->piece, inclusive);
}

/* A piece that was given up before its chains: the successors must not wait for ever. What they get is unimportant,
 * because the error is already reported, but it must be safe: the state at the start of everything. */
void cg_chain_abandon(cg *g)
{
    const kernel *k = g->k;
    for (k_ref r = 1; r < k->stmt.n; r++) {
        const k_stmt *s = &k->stmt.at[r];
        if (s->op != K_CHAIN)
            continue;
        cg_ref nothing[K_MOST_CARRIED];
        for (unsigned j = 0; j < s->chain->arity; j++) {
            const k_value *initial = &k->value.at[s->chain->initial[j]];
            bool known = initial->kind == KV_LITERAL || initial->kind == KV_ARG;
            nothing[j] = known ? cg_scalar(g, s->chain->initial[j]) : cg_zero(g->type[initial->type]);
        }
        LLVMBasicBlockRef missing = cg_block(g, "hand_on"), end = cg_block(g, "handed_on");
        cg_ref flag = flag_load(g, words_of(g, s->chain, g->piece));
        cg_cond(g, LLVMBuildICmp(g->b, LLVMIntEQ, flag, cg_i64(g, 0), ""), missing, end);
        cg_at(g, missing);
        publish(g, s->chain, g->piece, nothing);
        cg_br(g, end);
        cg_at(g, end);
    }
}
