/* The operators that only expansions of elementary functions use (ir/math/primitives.h): powers of two taken out of
 * numbers and put in, and small tables. AVX-512 has an instruction for each; a table lies in one register, or two. */
#include "emit/cpu/llvm/cg.h"
#include "ir/math/primitives.h"

enum { REGISTER = 64, ROUND_AS_SET = 4, GETMANT_FROM_3_4_NAN_BELOW_0 = 11 };

/* --- vectors of any length by instructions on whole registers --- */

typedef cg_ref (*on_register)(cg *g, ir_op op, ir_type t, const cg_ref *in);

/* Elements first ... first + n - 1; those beyond x are open. */
static cg_ref slice(cg *g, cg_ref x, unsigned first, unsigned n)
{
    int index[REGISTER];
    unsigned have = LLVMGetVectorSize(LLVMTypeOf(x));
    for (unsigned i = 0; i < n; i++)
        index[i] = first + i < have ? (int)(first + i) : -1;
    return have == n ? x : cg_shuffle(g, x, NULL, n, index);
}

static cg_ref by_registers(cg *g, ir_op op, ir_type t, const cg_ref *in, on_register f)
{
    unsigned width = (unsigned)(REGISTER / ir_type_size(t)), n = LLVMGetVectorSize(LLVMTypeOf(in[0])), parts = 0;
    cg_ref part[256];
    for (unsigned at = 0; at < n; at += width) {
        cg_ref operand[2] = {slice(g, in[0], at, width), in[1] ? slice(g, in[1], at, width) : NULL};
        part[parts++] = f(g, op, t, operand);
    }
    for (; parts > 1; parts /= 2) /* lanes are a power of two */
        for (unsigned i = 0; i < parts; i += 2)
            part[i / 2] = cg_join(g, part[i], part[i + 1]);
    return slice(g, part[0], 0, n);
}

/* --- tables --- */

static unsigned table_count(const sn_table *table, ir_type t)
{
    return t == T_F32 ? table->count_f32 : table->count_f64;
}

static cg_ref table_entry(cg *g, const sn_table *table, ir_type t, unsigned i)
{
    return cg_const(g, t, t == T_F32 ? ir_bits_f32(table->f32[i]) : ir_bits_f64(table->f64[i]));
}

/* Entries first ... first + n - 1 as a constant vector. */
static cg_ref table_vector(cg *g, const sn_table *table, ir_type t, unsigned first, unsigned n)
{
    cg_ref entry[REGISTER];
    for (unsigned i = 0; i < n; i++)
        entry[i] = table_entry(g, table, t, first + i);
    return LLVMConstVector(entry, n);
}

/* The instructions look at as many of the lowest bits of an index as they need. */
static cg_ref look_in_register(cg *g, ir_op op, ir_type t, const cg_ref *in)
{
    const sn_table *table = sn_table_of(op);
    unsigned width = (unsigned)(REGISTER / ir_type_size(t));
    cg_ref index = cg_bits_cast(g, t, in[0]), low = table_vector(g, table, t, 0, width);
    if (table_count(table, t) == width) {
        const char *permute = t == T_F32 ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx512.permvar.df.512";
        return cg_call(g, permute, 0, NULL, 2, (cg_ref[]){low, index});
    }
    const char *permute = t == T_F32 ? "llvm.x86.avx512.vpermi2var.ps.512" : "llvm.x86.avx512.vpermi2var.pd.512";
    return cg_call(g, permute, 0, NULL, 3, (cg_ref[]){low, index, table_vector(g, table, t, width, width)});
}

static cg_ref table_in_memory(cg *g, ir_op op, ir_type t)
{
    const sn_table *table = sn_table_of(op);
    const char *name = arena_printf(g->arena, "%s.%s", ir_ops[op].name, ir_type_name(t));
    cg_ref known = LLVMGetNamedGlobal(g->module, name), entry[REGISTER];
    if (known)
        return known;
    unsigned n = table_count(table, t);
    for (unsigned i = 0; i < n; i++)
        entry[i] = table_entry(g, table, t, i);
    cg_ref array = LLVMConstArray2(g->type[t], entry, n);
    cg_ref global = LLVMAddGlobal(g->module, LLVMTypeOf(array), name);
    LLVMSetInitializer(global, array);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static cg_ref look_in_memory(cg *g, ir_op op, ir_type t, cg_ref x)
{
    LLVMBuilderRef b = g->b;
    cg_ref last = LLVMConstInt(t == T_F32 ? g->i32 : g->i64, table_count(sn_table_of(op), t) - 1, false);
    LLVMTypeRef wide = g->i64;
    if (cg_is_vector(x)) {
        unsigned n = LLVMGetVectorSize(LLVMTypeOf(x));
        last = cg_splat_n(g, last, n);
        wide = LLVMVectorType(g->i64, n);
    }
    cg_ref index = LLVMBuildZExt(b, LLVMBuildAnd(b, cg_bits_cast(g, t, x), last, ""), wide, "");
    cg_ref place = LLVMBuildGEP2(b, g->type[t], table_in_memory(g, op, t), &index, 1, "");
    if (!cg_is_vector(x))
        return LLVMBuildLoad2(b, g->type[t], place, "");
    LLVMTypeRef type[] = {LLVMTypeOf(x), LLVMTypeOf(place)};
    cg_ref all = LLVMConstAllOnes(LLVMVectorType(g->i1, LLVMGetVectorSize(type[0])));
    cg_ref in[] = {place, cg_i32(g, (int64_t)ir_type_size(t)), all, LLVMGetPoison(type[0])};
    return cg_call(g, "llvm.masked.gather", 2, type, 4, in);
}

/* --- powers of two, by AVX-512 --- */

static cg_ref all_lanes(cg *g, ir_type t)
{
    return LLVMConstAllOnes(t == T_F32 ? LLVMIntTypeInContext(g->context, 16) : g->i8);
}

static cg_ref significand_in_register(cg *g, ir_type t, cg_ref x)
{
    const char *name = t == T_F32 ? "llvm.x86.avx512.mask.getmant.ps.512" : "llvm.x86.avx512.mask.getmant.pd.512";
    cg_ref in[] = {x, cg_i32(g, GETMANT_FROM_3_4_NAN_BELOW_0), x, all_lanes(g, t), cg_i32(g, ROUND_AS_SET)};
    return cg_call(g, name, 0, NULL, 5, in);
}

/* The whole part of log2 |x| */
static cg_ref floor_of_log2(cg *g, ir_type t, cg_ref x)
{
    const char *name = t == T_F32 ? "llvm.x86.avx512.mask.getexp.ps.512" : "llvm.x86.avx512.mask.getexp.pd.512";
    cg_ref in[] = {x, x, all_lanes(g, t), cg_i32(g, ROUND_AS_SET)};
    return cg_call(g, name, 0, NULL, 4, in);
}

static cg_ref part_in_register(cg *g, ir_op op, ir_type t, const cg_ref *in)
{
    if (op == OP_SCALE) {
        const char *name = t == T_F32 ? "llvm.x86.avx512.mask.scalef.ps.512" : "llvm.x86.avx512.mask.scalef.pd.512";
        cg_ref operand[] = {in[0], in[1], in[0], all_lanes(g, t), cg_i32(g, ROUND_AS_SET)};
        return cg_call(g, name, 0, NULL, 5, operand);
    }
    cg_ref m = significand_in_register(g, t, in[0]);
    if (op == OP_SIGNIFICAND)
        return m;
    return LLVMBuildFSub(g->b, floor_of_log2(g, t, in[0]), floor_of_log2(g, t, m), "");
}

/* --- powers of two, by arithmetic on bits; scalars or vectors --- */

typedef struct {
    cg *g;
    ir_type t;
    unsigned n;        /* lanes; 0: a scalar */
    unsigned mantissa; /* bits */
    int64_t bias;
    LLVMTypeRef real;
} shape;

static shape shape_of(cg *g, ir_type t, cg_ref x)
{
    bool f32 = t == T_F32;
    return (shape){.g = g,
                   .t = t,
                   .n = cg_is_vector(x) ? LLVMGetVectorSize(LLVMTypeOf(x)) : 0,
                   .mantissa = f32 ? 23 : 52,
                   .bias = f32 ? 127 : 1023,
                   .real = LLVMTypeOf(x)};
}

static cg_ref spread(const shape *s, cg_ref scalar)
{
    return s->n ? cg_splat_n(s->g, scalar, s->n) : scalar;
}

static cg_ref real(const shape *s, double v)
{
    return spread(s, cg_const(s->g, s->t, s->t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v)));
}

static cg_ref word(const shape *s, int64_t v)
{
    return spread(s, LLVMConstInt(s->t == T_F32 ? s->g->i32 : s->g->i64, (uint64_t)v, true));
}

static cg_ref as_real(const shape *s, cg_ref bits)
{
    return LLVMBuildBitCast(s->g->b, bits, s->real, "");
}

/* In two factors near 2^(n/2): neither overflows, and where a is in the promised range the only rounding is that of the
 * last product. Added to n, a large number leaves n + 2 bias in the lowest bits. */
static cg_ref scale(const shape *s, cg_ref a, cg_ref n)
{
    LLVMBuilderRef b = s->g->b;
    double whole = s->t == T_F32 ? 0x1.8p23 : 0x1.8p52;
    n = cg_call1(s->g, "llvm.floor", n);
    cg_ref sum = cg_bits_cast(s->g, s->t, LLVMBuildFAdd(b, n, real(s, whole + 2 * (double)s->bias), ""));
    cg_ref half = LLVMBuildLShr(b, sum, word(s, 1), ""), rest = LLVMBuildSub(b, sum, half, "");
    cg_ref first = as_real(s, LLVMBuildShl(b, half, word(s, s->mantissa), ""));
    cg_ref second = as_real(s, LLVMBuildShl(b, rest, word(s, s->mantissa), ""));
    return LLVMBuildFMul(b, LLVMBuildFMul(b, a, first, ""), second, "");
}

/* The operand split: |x| = m 2^k, as the bits of m and k 2^mantissa, right for positive finite x. */
typedef struct {
    cg_ref size, m, k;
    cg_ref subnormal;
} split;

static split split_positive(const shape *s, cg_ref x)
{
    LLVMBuilderRef b = s->g->b;
    split r = {.size = cg_call1(s->g, "llvm.fabs", x)};
    r.subnormal = LLVMBuildFCmp(b, LLVMRealOLT, r.size, real(s, s->t == T_F32 ? 0x1p-126 : 0x1p-1022), "");
    cg_ref raised = LLVMBuildFMul(b, r.size, real(s, 0x1p60), "");
    cg_ref bits = cg_bits_cast(s->g, s->t, LLVMBuildSelect(b, r.subnormal, raised, r.size, ""));
    int64_t three_quarters = (s->bias << s->mantissa) - ((int64_t)1 << (s->mantissa - 1));
    r.k =
        LLVMBuildAnd(b, LLVMBuildSub(b, bits, word(s, three_quarters), ""), word(s, -((int64_t)1 << s->mantissa)), "");
    r.m = LLVMBuildSub(b, bits, r.k, "");
    return r;
}

static cg_ref significand(const shape *s, cg_ref x)
{
    LLVMBuilderRef b = s->g->b;
    split p = split_positive(s, x);
    cg_ref infinite = LLVMBuildFCmp(b, LLVMRealOEQ, p.size, real(s, 1.0 / 0.0), "");
    cg_ref zero = LLVMBuildFCmp(b, LLVMRealOEQ, x, real(s, 0), "");
    cg_ref one = cg_call2(s->g, "llvm.copysign", real(s, 1), x);
    cg_ref whole = LLVMBuildSelect(b, LLVMBuildOr(b, infinite, zero, ""), one, as_real(s, p.m), "");
    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealULT, x, real(s, 0), ""), real(s, 0.0 / 0.0), whole, "");
}

/* k as a number: 2^52 + 2^51 and a small integer, less the former. */
static cg_ref exponent(const shape *s, cg_ref x)
{
    LLVMBuilderRef b = s->g->b;
    split p = split_positive(s, x);
    double large = s->t == T_F32 ? 0x1.8p23 : 0x1.8p52;
    cg_ref small = LLVMBuildAShr(b, p.k, word(s, s->mantissa), "");
    cg_ref offset = word(s, (int64_t)(s->t == T_F32 ? ir_bits_f32((float)large) : ir_bits_f64(large)));
    cg_ref k = LLVMBuildFSub(b, as_real(s, LLVMBuildAdd(b, small, offset, "")), real(s, large), "");
    k = LLVMBuildFSub(b, k, LLVMBuildSelect(b, p.subnormal, real(s, 60), real(s, 0), ""), "");
    k = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, x, real(s, 0), ""), real(s, -1.0 / 0.0), k, "");
    k = LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealOEQ, x, real(s, 1.0 / 0.0), ""), x, k, "");
    return LLVMBuildSelect(b, LLVMBuildFCmp(b, LLVMRealULT, x, real(s, 0), ""), real(s, 0.0 / 0.0), k, "");
}

cg_ref cg_part(cg *g, ir_op op, ir_type t, const cg_ref *in)
{
    bool look = sn_table_of(op) != NULL, wide = g->cpu.avx512 && cg_is_vector(in[0]);
    if (look)
        return wide ? by_registers(g, op, t, in, look_in_register) : look_in_memory(g, op, t, in[0]);
    if (op != OP_SCALE && op != OP_EXPONENT && op != OP_SIGNIFICAND)
        return NULL;
    if (wide)
        return by_registers(g, op, t, in, part_in_register);
    shape s = shape_of(g, t, in[0]);
    return op == OP_SCALE ? scale(&s, in[0], in[1]) : op == OP_EXPONENT ? exponent(&s, in[0]) : significand(&s, in[0]);
}
