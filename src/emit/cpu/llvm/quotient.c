/* Quotients of floats by a divisor that all lanes share, or several quotients: x / y with the bits of the division, by
 * products.
 *
 * Let z be 1 / y, q be x z, and r be x - q y, each rounded once to p digits. Then q + r z, rounded, is x / y, rounded,
 * as long as nothing leaves the range of normal numbers (Markstein, IBM Journal of Research and Development 34, 1990;
 * Brisebarre, Muller and Raina, IEEE Transactions on Computers 53, 2004). For let 1 <= x, y < 2, and u = 2^-p, so that
 * |z - 1 / y| <= u / 2, and let x < y, so that the quotient's last digit is worth u (the other case is the same with
 * twice as much): q is less than 3 u / 2 away from x / y. The sum differs from x / y by no more than r (z - 1 / y), and
 * so can be rounded otherwise only where x / y is as close to the middle m between two neighbours. m is q +- u / 2:
 * only for x and y among the last three numbers below 2 could it be q +- 3 u / 2, and there it is not; nor is it
 * anywhere near where r is so large, beyond 2 u, that it is rounded itself. x - m y is a
 * multiple of u^2, and not 0, as no quotient lies in the middle; say it is j u^2. Then r z, for m = q + u / 2, is
 * (y u / 2 + j u^2) z, which exceeds u / 2 by j u^2 z + (u y / 2) (z - 1 / y). The second term is at most u^2 y / 4,
 * less than u^2 z, as z >= 1 / 2 and y < 2. So the sum is on the same side of m as x / y.
 *
 * Where |x| and |y| are between 2^-R and 2^R, nothing leaves the range. Gangs in which some x is not, and is not zero,
 * divide. A zero of the wrong sign is what the sum gives for -0: it gets the sign of q, which is always right. */
#include "emit/cpu/llvm/cg.h"

static cg_ref number(cg *g, ir_type t, int exponent)
{
    double x = 1, by = exponent < 0 ? 0.5 : 2;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        x *= by;
    return cg_const(g, t, t == T_F32 ? ir_bits_f32((float)x) : ir_bits_f64(x));
}

static cg_ref in_range(cg *g, ir_type t, cg_ref x)
{
    const int range = t == T_F32 ? 60 : 500;
    cg_ref least = number(g, t, -range), most = number(g, t, range), size = cg_call1(g, "llvm.fabs", x);
    if (cg_is_vector(x)) {
        least = cg_splat(g, least);
        most = cg_splat(g, most);
    }
    return LLVMBuildAnd(g->b, LLVMBuildFCmp(g->b, LLVMRealOGE, size, least, ""),
                        LLVMBuildFCmp(g->b, LLVMRealOLE, size, most, ""), "");
}

static cg_ref with_sign_of(cg *g, ir_type t, cg_ref x, cg_ref sign)
{
    cg_ref bits = cg_bits_cast(g, t, sign);
    cg_ref one = cg_const(g, t == T_F32 ? T_U32 : T_U64, (ir_bits)1 << (t == T_F32 ? 31 : 63));
    bits = LLVMBuildAnd(g->b, bits, cg_splat(g, one), "");
    bits = LLVMBuildOr(g->b, cg_bits_cast(g, t, x), bits, "");
    return LLVMBuildBitCast(g->b, bits, LLVMTypeOf(x), "");
}

/* Of 64 bits, where registers are widest, two quotients by one number are there sooner. */
static bool divides_several(const cg *g, k_val y)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < g->k->stmt.n && n < 2; i++) {
        const k_stmt *s = &g->k->stmt.at[i];
        n += s->op == K_LET && s->sub == OP_DIV && s->in[1] == y;
    }
    return n == 2;
}

/* On narrower registers a quotient of 32 bits is there as soon. */
bool cg_multiplies(const cg *g, const k_stmt *s)
{
    const k_value *x = &g->k->value.at[s->in[0]], *y = &g->k->value.at[s->in[1]];
    if (s->sub != OP_DIV || !ir_type_float((ir_type)x->type) || !g->cpu.fma || !g->cpu.x86 || g->cpu.divides ||
        g->lanes <= 1 || x->shape != K_VARYING)
        return false;
    if (y->shape == K_UNIFORM)
        return x->type == T_F64 || g->cpu.avx512;
    return x->type == T_F64 && g->cpu.avx512 && divides_several(g, s->in[1]);
}

cg_ref cg_quotient(cg *g, ir_type t, cg_ref x, cg_ref y)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type = LLVMTypeOf(x);
    const bool shared = !cg_is_vector(y);
    cg_ref all = shared ? cg_splat(g, y) : y, one = number(g, t, 0);
    cg_ref z = shared ? cg_splat(g, LLVMBuildFDiv(b, one, y, "")) : LLVMBuildFDiv(b, cg_splat(g, one), y, "");
    cg_ref q = LLVMBuildFMul(b, x, z, "");
    cg_ref r = cg_call(g, "llvm.fma", 1, &type, 3, (cg_ref[]){LLVMBuildFNeg(b, q, ""), all, x});
    cg_ref quick = with_sign_of(g, t, cg_call(g, "llvm.fma", 1, &type, 3, (cg_ref[]){r, z, q}), q);
    cg_ref good = LLVMBuildOr(b, in_range(g, t, x), LLVMBuildFCmp(b, LLVMRealOEQ, x, cg_zero(type), ""), "");
    if (!shared)
        good = LLVMBuildAnd(b, good, in_range(g, t, y), "");
    good = LLVMBuildFreeze(b, good, ""); /* lanes that are off may hold nothing */
    cg_ref bad = cg_mask_any(g, LLVMBuildNot(b, good, ""));
    if (shared)
        bad = LLVMBuildOr(b, bad, LLVMBuildNot(b, in_range(g, t, y), ""), "");
    LLVMBasicBlockRef rare = cg_block(g, "divide"), end = cg_block(g, "quotient"), here = cg_here(g);
    cg_unlikely(g, bad, rare, end);
    cg_at(g, rare);
    cg_ref slow = LLVMBuildFDiv(b, x, all, "");
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, quick, here, slow, rare);
}
