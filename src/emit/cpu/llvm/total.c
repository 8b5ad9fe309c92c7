/* The total of a gang by K_PAIR, level by level, in registers of 64 bytes.
 *
 * Each level brings the lanes into order again, which takes permutations across whole registers. But only the last
 * level's result is wanted, the same in all lanes. So the levels are found from the last one on backwards, and their
 * lanes are left where pairs come to lie by cheap exchanges; operands stay left and right of each other as they were.
 * What the single levels made is used by nobody then, and LLVM drops it. */
#include "emit/cpu/llvm/cg.h"

enum { REGISTER = 64, LANES = 64, MOST_REGISTERS = 8 };

/* What a K_PAIR takes its lanes from; 0: it is none. */
static k_val paired(const kernel *k, k_val v, uint64_t which)
{
    const k_value *x = &k->value.at[v];
    const k_stmt *s = x->kind == KV_RESULT ? &k->stmt.at[x->def] : NULL;
    bool pair = s && s->op == K_SHUFFLE && s->sub == K_PAIR && k->value.at[s->in[1]].bits == which;
    return pair ? s->in[0] : 0;
}

/* x where the LET makes op(x even, x odd); 0: it does not. */
static k_val before_level(const kernel *k, const k_stmt *s, unsigned op)
{
    if (s->op != K_LET || s->sub != op || ir_ops[op].arity != 2)
        return 0;
    k_val even = paired(k, s->in[0], 0), odd = paired(k, s->in[1], 1);
    return even == odd ? even : 0;
}

/* What all levels together begin with; 0: they are not all there. */
static k_val before_all(const cg *g, const k_stmt *s)
{
    const kernel *k = g->k;
    unsigned op = s->sub;
    k_val x = 0;
    for (unsigned lanes = 1; lanes < g->lanes; lanes *= 2) {
        const k_value *v = &k->value.at[x];
        if (x && v->kind != KV_RESULT)
            return 0;
        x = before_level(k, x ? &k->stmt.at[v->def] : s, op);
        if (!x)
            return 0;
    }
    return x;
}

typedef struct total {
    cg *g;
    ir_op op;
    ir_type type;
} total;

static cg_ref apply(const total *t, cg_ref left, cg_ref right)
{
    return cg_op(t->g, t->op, t->type, t->type, (cg_ref[]){left, right});
}

/* Pairs within 16 bytes: their left halves from two registers, and the right ones. */
static cg_ref near_pairs(const total *t, cg_ref x, cg_ref y, unsigned n)
{
    int left[16], right[16];
    unsigned in_block = n / 4;
    for (unsigned i = 0; i < n; i++) {
        unsigned block = i / in_block * in_block, at = i % in_block;
        int source = (int)(block + 2 * at % in_block + (2 * at < in_block ? 0 : n));
        left[i] = source;
        right[i] = source + 1;
    }
    return apply(t, cg_shuffle(t->g, x, y, n, left), cg_shuffle(t->g, x, y, n, right));
}

/* Pairs of blocks of 16 bytes. */
static cg_ref far_pairs(const total *t, cg_ref x, cg_ref y, unsigned n)
{
    int left[16], right[16];
    unsigned in_block = n / 4;
    for (unsigned i = 0; i < n; i++) {
        unsigned block = i / in_block, at = i % in_block;
        int source = (int)(2 * block % 4 * in_block + at + (block < 2 ? 0 : n));
        left[i] = source;
        right[i] = source + (int)in_block;
    }
    return apply(t, cg_shuffle(t->g, x, y, n, left), cg_shuffle(t->g, x, y, n, right));
}

/* x, of n lanes, (+) what lies `distance` lanes further right; of the result the first `keep` lanes. */
static cg_ref behind(const total *t, cg_ref x, unsigned n, unsigned distance, unsigned keep)
{
    int left[16], right[16];
    for (unsigned i = 0; i < keep; i++) {
        left[i] = (int)i;
        right[i] = i + distance < n ? (int)(i + distance) : -1;
    }
    cg_ref low = keep == n ? x : cg_shuffle(t->g, x, NULL, keep, left);
    return apply(t, low, cg_shuffle(t->g, x, NULL, keep, right));
}

cg_ref cg_gang_total(cg *g, const k_stmt *s)
{
    ir_type type = (ir_type)g->k->value.at[s->dst].type;
    const unsigned bytes = (unsigned)ir_type_size(type);
    if (!g->cpu.avx512 || g->part || g->lanes != LANES || (bytes != 4 && bytes != 8) || ir_ops[s->sub].arity != 2)
        return NULL;
    k_val all = before_all(g, s);
    if (!all)
        return NULL;
    const unsigned n = REGISTER / bytes;
    total t = {g, (ir_op)s->sub, type};
    cg_ref x[MOST_REGISTERS], whole = cg_vec(g, all);
    unsigned registers = LANES / n;
    for (unsigned r = 0; r < registers; r++) {
        int index[16];
        for (unsigned i = 0; i < n; i++)
            index[i] = (int)(r * n + i);
        x[r] = cg_shuffle(g, whole, NULL, n, index);
    }
    bool within = true;
    for (unsigned level = 0; registers > 1; level++, registers /= 2) {
        within = level < (bytes == 4 ? 2 : 1);
        for (unsigned r = 0; r < registers; r += 2)
            x[r / 2] = within ? near_pairs(&t, x[r], x[r + 1], n) : far_pairs(&t, x[r], x[r + 1], n);
    }
    cg_ref one;
    if (bytes == 4) { /* lane 4 j + r: quarter j of register r */
        one = behind(&t, behind(&t, x[0], 16, 4, 16), 16, 8, 4);
        one = behind(&t, behind(&t, one, 4, 1, 4), 4, 2, 1);
    } else { /* lane r: register r */
        one = behind(&t, behind(&t, behind(&t, x[0], 8, 1, 8), 8, 2, 8), 8, 4, 1);
    }
    return LLVMBuildExtractElement(g->b, one, cg_i32(g, 0), "");
}
