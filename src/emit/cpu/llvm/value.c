/* Types, constants and the forms of kernel values; thin helpers over the LLVM builder. */
#include "emit/cpu/llvm/outline.h"

void cg_types(cg *g)
{
    LLVMContextRef c = g->context;
    g->i1 = LLVMInt1TypeInContext(c);
    g->i8 = LLVMInt8TypeInContext(c);
    g->i32 = LLVMInt32TypeInContext(c);
    g->i64 = LLVMInt64TypeInContext(c);
    g->ptr = LLVMPointerTypeInContext(c, 0);
    for (unsigned t = T_NONE + 1; t < T_COUNT; t++) {
        g->type[t] = t == T_F32   ? LLVMFloatTypeInContext(c)
                     : t == T_F64 ? LLVMDoubleTypeInContext(c)
                                  : LLVMIntTypeInContext(c, ir_type_bits((ir_type)t));
    }
    cg_set_lanes(g, g->lanes);
}

void cg_set_lanes(cg *g, unsigned lanes)
{
    g->lanes = lanes;
    for (unsigned t = T_NONE + 1; t < T_COUNT; t++)
        g->vector[t] = LLVMVectorType(g->type[t], lanes);
}

LLVMTypeRef cg_vector_of(cg *g, LLVMTypeRef element, unsigned n)
{
    (void)g;
    return LLVMVectorType(element, n);
}

/* --- constants --- */

cg_ref cg_const(cg *g, ir_type t, ir_bits bits)
{
    if (!ir_type_float(t))
        return LLVMConstInt(g->type[t], bits, false);
    cg_ref word = LLVMConstInt(t == T_F32 ? g->i32 : g->i64, bits, false); /* exact, also for NaNs */
    return LLVMConstBitCast(word, g->type[t]);
}

cg_ref cg_i64(cg *g, int64_t v)
{
    return LLVMConstInt(g->i64, (unsigned long long)v, true);
}

cg_ref cg_i32(cg *g, int64_t v)
{
    return LLVMConstInt(g->i32, (unsigned long long)v, true);
}

cg_ref cg_zero(LLVMTypeRef t)
{
    return LLVMConstNull(t);
}

cg_ref cg_iota(cg *g, LLVMTypeRef element, unsigned n)
{
    cg_ref *lane = arena_array(g->arena, *lane, n);
    for (unsigned i = 0; i < n; i++)
        lane[i] = LLVMConstInt(element, i, false);
    return LLVMConstVector(lane, n);
}

cg_ref cg_splat_n(cg *g, cg_ref scalar, unsigned n)
{
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(scalar), n);
    if (LLVMIsConstant(scalar)) {
        cg_ref *lane = arena_array(g->arena, *lane, n);
        for (unsigned i = 0; i < n; i++)
            lane[i] = scalar;
        return LLVMConstVector(lane, n);
    }
    cg_ref first = LLVMBuildInsertElement(g->b, LLVMGetPoison(t), scalar, cg_i32(g, 0), "");
    LLVMTypeRef index = LLVMVectorType(g->i32, n);
    return LLVMBuildShuffleVector(g->b, first, LLVMGetPoison(t), cg_zero(index), "");
}

cg_ref cg_splat(cg *g, cg_ref scalar)
{
    return cg_splat_n(g, scalar, g->lanes);
}

/* --- instructions --- */

cg_ref cg_alloca(cg *g, LLVMTypeRef t, unsigned align, const char *name)
{
    LLVMBasicBlockRef here = cg_here(g);
    cg_at(g, g->entry);
    cg_ref slot = LLVMBuildAlloca(g->b, t, name);
    if (align)
        LLVMSetAlignment(slot, align);
    cg_at(g, here);
    return slot;
}

cg_ref cg_call(cg *g, const char *intrinsic, unsigned types, LLVMTypeRef *type, unsigned n, cg_ref *in)
{
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    if (!id)
        cg_fail(g, "this LLVM has no %s", intrinsic);
    cg_ref f = LLVMGetIntrinsicDeclaration(g->module, id, type, types);
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, in, n, "");
}

cg_ref cg_call1(cg *g, const char *intrinsic, cg_ref x)
{
    LLVMTypeRef t = LLVMTypeOf(x);
    return cg_call(g, intrinsic, 1, &t, 1, &x);
}

cg_ref cg_call2(cg *g, const char *intrinsic, cg_ref x, cg_ref y)
{
    LLVMTypeRef t = LLVMTypeOf(x);
    return cg_call(g, intrinsic, 1, &t, 2, (cg_ref[]){x, y});
}

cg_ref cg_shuffle(cg *g, cg_ref x, cg_ref y, unsigned n, const int *index)
{
    cg_ref lane[256];
    for (unsigned i = 0; i < n; i++)
        lane[i] = index[i] < 0 ? LLVMGetPoison(g->i32) : cg_i32(g, index[i]);
    return LLVMBuildShuffleVector(g->b, x, y ? y : LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(lane, n), "");
}

LLVMBasicBlockRef cg_block(cg *g, const char *name)
{
    LLVMBasicBlockRef here = cg_here(g);
    cg_ref f = here ? LLVMGetBasicBlockParent(here) : g->fn;
    return LLVMAppendBasicBlockInContext(g->context, f, name);
}

void cg_at(cg *g, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(g->b, block);
}

LLVMBasicBlockRef cg_here(cg *g)
{
    return LLVMGetInsertBlock(g->b);
}

void cg_br(cg *g, LLVMBasicBlockRef to)
{
    LLVMBuildBr(g->b, to);
}

void cg_cond(cg *g, cg_ref c, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    LLVMBuildCondBr(g->b, c, yes, no);
}

void cg_unlikely(cg *g, cg_ref c, LLVMBasicBlockRef rare, LLVMBasicBlockRef usual)
{
    cg_ref br = LLVMBuildCondBr(g->b, c, rare, usual);
    LLVMMetadataRef weights[] = {
        LLVMMDStringInContext2(g->context, "branch_weights", 14),
        LLVMValueAsMetadata(cg_i32(g, 1)),
        LLVMValueAsMetadata(cg_i32(g, 1 << 20)),
    };
    LLVMMetadataRef node = LLVMMDNodeInContext2(g->context, weights, 3);
    LLVMSetMetadata(br, LLVMGetMDKindIDInContext(g->context, "prof", 4), LLVMMetadataAsValue(g->context, node));
}

cg_ref cg_phi2(cg *g, cg_ref x, LLVMBasicBlockRef from_x, cg_ref y, LLVMBasicBlockRef from_y)
{
    cg_ref phi = LLVMBuildPhi(g->b, LLVMTypeOf(x), "");
    LLVMAddIncoming(phi, (cg_ref[]){x, y}, (LLVMBasicBlockRef[]){from_x, from_y}, 2);
    return phi;
}

/* --- forms --- */

static cg_ref linear_vector(cg *g, cg_ref base, cg_ref step)
{
    cg_ref lane = cg_iota(g, LLVMTypeOf(base), g->lanes);
    cg_ref offset = LLVMBuildMul(g->b, lane, cg_splat(g, step), "");
    return LLVMBuildAdd(g->b, cg_splat(g, base), offset, "");
}

/* Where masks are no registers of their own, they pass from block to block in lanes of a byte each; but LLVM would pass
 * those that take two registers lane by lane. So these are kept in halves. */
static bool in_halves(const cg *g, ir_type t)
{
    return t == T_BOOL && !g->cpu.avx512 && g->lanes > 32;
}

LLVMTypeRef cg_variable_type(cg *g, ir_type t)
{
    return in_halves(g, t) ? LLVMArrayType(LLVMVectorType(g->i1, 32), g->lanes / 32) : g->vector[t];
}

static cg_ref half_at(cg *g, cg_ref slot, unsigned half)
{
    cg_ref at = cg_i64(g, half);
    return LLVMBuildGEP2(g->b, LLVMVectorType(g->i1, 32), slot, &at, 1, "");
}

cg_ref cg_opaque(cg *g, cg_ref x)
{
    LLVMTypeRef own = LLVMTypeOf(x), element = LLVMGetElementType(own);
    if (LLVMGetTypeKind(element) != LLVMIntegerTypeKind)
        return cg_call1(g, "llvm.arithmetic.fence", x);
    unsigned bits = LLVMGetIntTypeWidth(element) * LLVMGetVectorSize(own);
    if (bits % 128 != 0)
        return x;
    LLVMTypeRef floats = LLVMVectorType(LLVMFloatTypeInContext(g->context), bits / 32);
    cg_ref same = cg_call1(g, "llvm.arithmetic.fence", LLVMBuildBitCast(g->b, x, floats, ""));
    return LLVMBuildBitCast(g->b, same, own, "");
}

/* The instruction for it, of vectors that fill a register: LLVM would look for a better one, and in a row of them for
 * what they have in common, at every step of its way to the same instruction. */
cg_ref cg_permute(cg *g, cg_ref x, cg_ref y, unsigned n, const int *index)
{
    enum { REGISTER = 64 };
    static const char *const one[] = {"qi", "hi", "si", "di"}, *const two[] = {"qi", "hi", "d", "q"};
    LLVMTypeRef own = LLVMTypeOf(x), element = LLVMGetElementType(own);
    bool integers = LLVMGetTypeKind(element) == LLVMIntegerTypeKind;
    unsigned bytes = integers ? LLVMGetIntTypeWidth(element) / 8 : 0, size = 0;
    while (size < 4 && 1u << size != bytes)
        size++;
    if (!g->cpu.avx512 || size == 4 || (size == 0 && !g->cpu.vbmi) || n * bytes != REGISTER ||
        LLVMGetVectorSize(own) != n)
        return cg_shuffle(g, x, y, n, index);
    cg_ref lane[REGISTER];
    for (unsigned i = 0; i < n; i++)
        lane[i] = LLVMConstInt(element, index[i] < 0 ? 0 : (unsigned)index[i], false);
    cg_ref from = cg_opaque(g, LLVMConstVector(lane, n));
    const char *name = y ? arena_printf(g->arena, "llvm.x86.avx512.vpermi2var.%s.512", two[size])
                         : arena_printf(g->arena, "llvm.x86.avx512.permvar.%s.512", one[size]);
    return cg_call(g, name, 0, NULL, y ? 3 : 2, y ? (cg_ref[]){x, from, y} : (cg_ref[]){x, from});
}

cg_ref cg_lanes_from(cg *g, cg_ref x, unsigned first, unsigned n)
{
    int index[256];
    unsigned there = LLVMGetVectorSize(LLVMTypeOf(x));
    for (unsigned i = 0; i < n; i++)
        index[i] = first + i < there ? (int)(first + i) : -1;
    return n == there ? x : cg_shuffle(g, x, NULL, n, index);
}

cg_ref cg_join(cg *g, cg_ref x, cg_ref y)
{
    int index[256];
    unsigned n = 2 * LLVMGetVectorSize(LLVMTypeOf(x));
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)i;
    return cg_shuffle(g, x, y, n, index);
}

cg_ref cg_joined(cg *g, unsigned n, cg_ref *part)
{
    for (; n > 1; n /= 2)
        for (unsigned i = 0; i < n / 2; i++)
            part[i] = cg_join(g, part[2 * i], part[2 * i + 1]);
    return part[0];
}

cg_ref cg_read_variable(cg *g, ir_type t, cg_ref slot)
{
    cg_ref part[8];
    if (!in_halves(g, t))
        return LLVMBuildLoad2(g->b, g->vector[t], slot, "");
    for (unsigned h = 0; h < g->lanes / 32; h++)
        part[h] = LLVMBuildLoad2(g->b, LLVMVectorType(g->i1, 32), half_at(g, slot, h), "");
    for (unsigned n = g->lanes / 32; n > 1; n /= 2)
        for (unsigned h = 0; h < n; h += 2)
            part[h / 2] = cg_join(g, part[h], part[h + 1]);
    return part[0];
}

void cg_write_variable(cg *g, ir_type t, cg_ref slot, cg_ref x)
{
    if (!in_halves(g, t)) {
        LLVMBuildStore(g->b, x, slot);
        return;
    }
    for (unsigned h = 0; h < g->lanes / 32; h++) {
        int index[32];
        for (int i = 0; i < 32; i++)
            index[i] = (int)(h * 32) + i;
        LLVMBuildStore(g->b, cg_shuffle(g, x, NULL, 32, index), half_at(g, slot, h));
    }
}

cg_value cg_get(cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    cg_value *known = &g->value[v];
    if (x->kind == KV_LITERAL)
        return (cg_value){.form = FORM_UNIFORM, .v = cg_const(g, (ir_type)x->type, x->bits)};
    if (x->kind == KV_PIECE)
        return (cg_value){.form = FORM_UNIFORM, .v = g->piece};
    if (x->kind == KV_ARG)
        return (cg_value){.form = FORM_UNIFORM, .v = cg_argument(g, (uint32_t)x->bits)};
    if (known->form == FORM_NONE)
        cg_fail(g, "value %u of kernel %s is used before it is defined", v, g->k->name);
    if (!known->slot)
        return cg_is_foreign(g, v) ? cg_fetch(g, v) : *known;
    cg_value now = *known;
    cg_ref crossing = cg_place(g, v);
    cg_ref slot = crossing ? crossing : known->slot;
    now.v = now.form == FORM_VECTOR
                ? cg_read_variable(g, cg_is_narrow(g, v) ? T_I32 : (ir_type)x->type, slot)
                : LLVMBuildLoad2(g->b, crossing ? g->type[x->type] : LLVMGetAllocatedType(slot), slot, "");
    return now;
}

bool cg_is_narrow(const cg *g, k_val v)
{
    return g->narrow && g->narrow[v];
}

cg_ref cg_as_wide(cg *g, k_val v, cg_ref x)
{
    if (!cg_is_narrow(g, v))
        return x;
    bool is_vector = cg_is_vector(x);
    return LLVMBuildSExt(g->b, x, is_vector ? LLVMVectorType(g->i64, LLVMGetVectorSize(LLVMTypeOf(x))) : g->i64, "");
}

cg_ref cg_lane_scalar(cg *g, k_val v, unsigned lane)
{
    cg_value x = cg_get(g, v);
    if (x.form == FORM_VECTOR)
        return cg_as_wide(g, v, LLVMBuildExtractElement(g->b, x.v, cg_i32(g, lane < g->lanes ? lane : 0), ""));
    if (x.form == FORM_LINEAR && lane)
        return LLVMBuildAdd(g->b, x.v, LLVMBuildMul(g->b, x.step, cg_i64(g, lane), ""), "");
    return x.v;
}

cg_ref cg_scalar(cg *g, k_val v)
{
    return cg_lane_scalar(g, v, 0);
}

cg_ref cg_step(cg *g, k_val v)
{
    cg_value x = cg_get(g, v);
    if (x.form == FORM_LINEAR)
        return x.step;
    if (x.form == FORM_UNIFORM)
        return cg_i64(g, 0);
    return LLVMBuildSub(g->b, cg_lane_scalar(g, v, 1), cg_lane_scalar(g, v, 0), "");
}

cg_ref cg_vec(cg *g, k_val v)
{
    cg_value x = cg_get(g, v);
    if (x.form == FORM_VECTOR)
        return cg_as_wide(g, v, x.v);
    if (x.form == FORM_LINEAR)
        return linear_vector(g, x.v, x.step);
    return cg_splat(g, x.v);
}

cg_ref cg_index_vec(cg *g, k_val v)
{
    cg_value x = cg_get(g, v);
    if (!cg_is_narrow(g, v))
        return cg_vec(g, v);
    if (x.form == FORM_VECTOR)
        return x.v;
    cg_ref base = LLVMBuildTrunc(g->b, x.v, g->i32, "");
    if (x.form == FORM_LINEAR)
        return linear_vector(g, base, LLVMBuildTrunc(g->b, x.step, g->i32, ""));
    return cg_splat(g, base);
}

const k_stmt *cg_definition(const cg *g, k_val v)
{
    const k_value *x = &g->k->value.at[v];
    return x->kind == KV_RESULT ? &g->k->stmt.at[x->def] : NULL;
}

bool cg_is_uniform(const cg *g, k_val v)
{
    return g->k->value.at[v].shape == K_UNIFORM;
}

bool cg_is_literal(const cg *g, k_val v, int64_t *out)
{
    const k_value *x = &g->k->value.at[v];
    *out = (int64_t)x->bits;
    return x->kind == KV_LITERAL;
}

void cg_define(cg *g, k_val v, cg_ref x)
{
    g->value[v] = (cg_value){.form = cg_is_vector(x) ? FORM_VECTOR : FORM_UNIFORM, .v = x};
    cg_cross(g, v);
}
