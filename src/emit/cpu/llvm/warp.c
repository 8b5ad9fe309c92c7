/* Operations across the lanes of a gang: atomics lane by lane, counting, compaction. */
#include "emit/cpu/llvm/cg.h"
#include "kernel/walk.h"

/* --- COUNT --- */

static cg_ref number_of(cg *g, cg_ref mask)
{
    cg_ref n = cg_call1(g, "llvm.ctpop", cg_mask_bits(g, mask));
    return LLVMBuildIntCast2(g->b, n, g->i64, false, "");
}

cg_ref cg_lanes_where(cg *g, k_val condition)
{
    cg_ref c = cg_vec(g, condition);
    return g->mask.on ? LLVMBuildAnd(g->b, g->mask.on, c, "") : c;
}

void cg_count(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    cg_define(g, s->dst, number_of(g, cg_lanes_where(g, s->in[0])));
}

void cg_all(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    cg_value x = cg_get(g, s->in[0]);
    if (x.form == FORM_UNIFORM) {
        cg_define(g, s->dst, x.v);
        return;
    }
    cg_ref fails = LLVMBuildNot(g->b, cg_vec(g, s->in[0]), "");
    fails = g->mask.on ? LLVMBuildAnd(g->b, g->mask.on, fails, "") : fails;
    cg_define(g, s->dst, LLVMBuildNot(g->b, cg_mask_any(g, fails), ""));
}

/* With AVX-512 masks turn as integers: a shuffle would spread them out first. */
static cg_ref rotated_mask(cg *g, cg_ref mask, uint64_t distance)
{
    cg_ref bits = cg_mask_bits(g, mask);
    LLVMTypeRef word = LLVMTypeOf(bits);
    cg_ref in[] = {bits, bits, LLVMConstInt(word, distance % g->lanes, false)};
    return LLVMBuildBitCast(g->b, cg_call(g, "llvm.fshr", 1, &word, 3, in), LLVMTypeOf(mask), "");
}

/* Lanes [from, from + n) */
static cg_ref part(cg *g, cg_ref v, unsigned from, unsigned n)
{
    int index[256];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(from + i);
    return n == g->lanes ? v : cg_shuffle(g, v, NULL, n, index);
}

/* Zero, but LLVM does not know: it would make several instructions, with their constants inside, of one that has them
 * in registers. */
static cg_ref hidden_zero(cg *g)
{
    if (g->hidden)
        return g->hidden;
    LLVMBasicBlockRef here = cg_here(g);
    LLVMTypeRef type = LLVMFunctionType(g->i64, &g->i64, 1, false);
    cg_ref nothing = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, false, false, LLVMInlineAsmDialectATT, false);
    cg_ref zero = cg_i64(g, 0);
    cg_at(g, g->entry);
    g->hidden = LLVMBuildCall2(g->b, type, nothing, &zero, 1, "");
    cg_at(g, here);
    return g->hidden;
}

/* Are values of so many bytes a lane several registers of 64? */
static bool has_registers(const cg *g, size_t bytes)
{
    return g->cpu.avx512 && !g->part && (bytes == 4 || bytes == 8) && g->lanes * bytes > 64;
}

/* K_LEFT in registers of 64 bytes, of blocks that are more than a quarter of one: one permutation each. */
static cg_ref take_left(cg *g, cg_ref x, unsigned half, unsigned bytes)
{
    unsigned n = 64 / bytes, registers = g->lanes / n;
    LLVMTypeRef lane = bytes == 4 ? g->i32 : g->i64;
    bool real = LLVMGetElementType(LLVMTypeOf(x)) != lane;
    const char *name = bytes == 4 ? (real ? "llvm.x86.avx512.permvar.sf.512" : "llvm.x86.avx512.permvar.si.512")
                                  : (real ? "llvm.x86.avx512.permvar.df.512" : "llvm.x86.avx512.permvar.di.512");
    cg_ref out[64], order[64], hidden = hidden_zero(g);
    hidden = cg_splat_n(g, bytes == 4 ? LLVMBuildTrunc(g->b, hidden, lane, "") : hidden, n);
    for (unsigned i = 0; i < n; i++)
        order[i] = LLVMConstInt(lane, half < n ? (i & ~(2 * half - 1)) + half - 1 : n - 1, false);
    cg_ref numbers = LLVMBuildXor(g->b, LLVMConstVector(order, n), hidden, "");
    for (unsigned r = 0; r < registers; r++) {
        unsigned from = (r * n & ~(2 * half - 1)) + half - 1;
        cg_ref in[] = {part(g, x, (half < n ? r : from / n) * n, n), numbers};
        out[r] = cg_call(g, name, 0, NULL, 2, in);
    }
    return cg_joined(g, registers, out);
}

/* Is a value made of one that a K_LEFT takes from within a register? Half the lanes of its blocks then; else 0. */
static unsigned made_of_left(const cg *g, k_val v, unsigned in_register)
{
    const kernel *k = g->k;
    const k_stmt *made = k->value.at[v].kind == KV_RESULT ? &k->stmt.at[k->value.at[v].def] : NULL;
    for (unsigned i = 0; made && made->op == K_LET && i < k_operands(made); i++) {
        const k_value *x = &k->value.at[made->in[i]];
        const k_stmt *from = x->kind == KV_RESULT ? &k->stmt.at[x->def] : NULL;
        if (from && from->op == K_SHUFFLE && from->sub == K_LEFT && k->value.at[from->in[1]].bits < in_register)
            return (unsigned)k->value.at[from->in[1]].bits;
    }
    return 0;
}

/* The right halves of blocks are the same lanes in all registers. Each is selected for itself, with one mask for all:
 * LLVM would keep the mask of all lanes together and take it to pieces at every use. */
cg_ref cg_select_right_halves(cg *g, const k_stmt *s, cg_ref condition, cg_ref x, cg_ref y)
{
    size_t bytes = ir_type_size((ir_type)g->k->value.at[s->dst].type);
    unsigned n = bytes ? 64 / (unsigned)bytes : 0, half;
    if (!has_registers(g, bytes) || !cg_is_vector(condition) || !LLVMIsConstant(condition))
        return NULL;
    half = made_of_left(g, s->in[1], n);
    if (!half)
        return NULL;
    LLVMTypeRef word = LLVMIntTypeInContext(g->context, n);
    uint64_t bits = 0;
    for (unsigned i = 0; i < n; i++)
        bits |= (uint64_t)((i & half) != 0) << i;
    cg_ref mask =
        LLVMBuildXor(g->b, LLVMBuildTrunc(g->b, hidden_zero(g), word, ""), LLVMConstInt(word, bits, false), "");
    mask = LLVMBuildBitCast(g->b, mask, LLVMVectorType(g->i1, n), "");
    cg_ref each[64];
    for (unsigned r = 0; r < g->lanes / n; r++)
        each[r] = LLVMBuildSelect(g->b, mask, part(g, x, r * n, n), part(g, y, r * n, n), "");
    return cg_joined(g, g->lanes / n, each);
}

void cg_take(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    uint64_t distance = g->k->value.at[s->in[1]].bits;
    if (s->sub == K_LANE) {
        cg_ref lane = cg_i64(g, (int64_t)distance);
        cg_define(g, s->dst, LLVMBuildExtractElement(g->b, cg_vec(g, s->in[0]), lane, ""));
        return;
    }
    if (g->cpu.avx512 && s->sub == K_ROTATE && g->k->value.at[s->in[0]].type == T_BOOL && g->lanes >= 8 &&
        g->lanes <= 64) {
        cg_define(g, s->dst, rotated_mask(g, cg_vec(g, s->in[0]), distance));
        return;
    }
    unsigned bytes = (unsigned)ir_type_size((ir_type)g->k->value.at[s->in[0]].type);
    if (s->sub == K_LEFT && distance >= 4 && has_registers(g, bytes)) {
        cg_define(g, s->dst, take_left(g, cg_vec(g, s->in[0]), (unsigned)distance, bytes));
        return;
    }
    int index[256];
    for (unsigned i = 0; i < g->lanes; i++)
        index[i] = (int)k_shuffle_source(g->k, s, i);
    cg_define(g, s->dst, cg_shuffle(g, cg_vec(g, s->in[0]), NULL, g->lanes, index));
}

/* --- COMPACT --- */

static cg_ref first_lanes(cg *g, cg_ref count, unsigned n)
{
    /* one bit more than n, so that n itself is a shift in range */
    LLVMTypeRef word = LLVMIntTypeInContext(g->context, 2 * n), narrow = LLVMIntTypeInContext(g->context, n);
    cg_ref one = LLVMConstInt(word, 1, false), c = LLVMBuildIntCast2(g->b, count, word, false, "");
    cg_ref bits = LLVMBuildSub(g->b, LLVMBuildShl(g->b, one, c, ""), one, "");
    return LLVMBuildBitCast(g->b, LLVMBuildTrunc(g->b, bits, narrow, ""), LLVMVectorType(g->i1, n), "");
}

/* Compression in a register, then a store, masked if nothing may be written `over` what lies behind: the form of the
 * instruction that writes to memory is slow. */
static void compress(cg *g, cg_ref value, cg_ref keep, cg_ref pointer, unsigned bytes, unsigned n, bool over)
{
    if (g->cpu.avx512 && n * bytes >= 16 && (bytes >= 4 || g->cpu.vbmi2)) {
        LLVMTypeRef t = LLVMTypeOf(value);
        cg_ref in[] = {value, LLVMGetPoison(t), keep};
        cg_ref packed = cg_call(g, "llvm.x86.avx512.mask.compress", 1, &t, 3, in);
        if (over) {
            LLVMSetAlignment(LLVMBuildStore(g->b, packed, pointer), bytes);
            return;
        }
        cg_ref bits = LLVMBuildBitCast(g->b, keep, LLVMIntTypeInContext(g->context, n), "");
        cg_masked_store(g, packed, pointer, bytes, first_lanes(g, cg_call1(g, "llvm.ctpop", bits), n));
        return;
    }
    LLVMTypeRef t = LLVMTypeOf(value);
    cg_call(g, "llvm.masked.compressstore", 1, &t, 3, (cg_ref[]){value, pointer, keep});
}

/* Where there are no instructions for it, a table says for the bits of a few lanes in which order these come. */

/* The numbers of the bits that are set in 0 ... 255, a byte each, ascending; or, of four bits, each as a pair. */
static cg_ref order_table(cg *g, bool pairs)
{
    const char *name = pairs ? "order_of_pairs" : "order";
    cg_ref known = LLVMGetNamedGlobal(g->module, name), entry[256];
    if (known)
        return known;
    unsigned count = pairs ? 16 : 256, width = pairs ? 2 : 1;
    for (unsigned mask = 0; mask < count; mask++) {
        uint64_t order = 0;
        for (unsigned bit = 0, at = 0; bit < 8 / width; bit++)
            for (unsigned k = 0; k < width && mask >> bit & 1; k++)
                order |= (uint64_t)(bit * width + k) << 8 * at++;
        entry[mask] = LLVMConstInt(g->i64, order, false);
    }
    LLVMTypeRef type = LLVMArrayType(g->i64, count);
    cg_ref table = LLVMAddGlobal(g->module, type, name);
    LLVMSetInitializer(table, LLVMConstArray(g->i64, entry, count));
    LLVMSetLinkage(table, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(table, true);
    LLVMSetAlignment(table, 64);
    return table;
}

static cg_ref first_bytes(cg *g, cg_ref eight)
{
    int index[16];
    for (int i = 0; i < 16; i++)
        index[i] = i < 8 ? i : -1;
    return cg_shuffle(g, eight, NULL, 16, index);
}

/* `order`: numbers of lanes, or of halves of lanes of 8 bytes, a byte each. The other lanes are of no account. */
static cg_ref in_order(cg *g, cg_ref value, cg_ref order, unsigned bytes)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef t = LLVMTypeOf(value), octet = LLVMVectorType(g->i8, 8), all = LLVMVectorType(g->i8, 16);
    LLVMTypeRef words = LLVMVectorType(g->i32, 8), halves = LLVMVectorType(LLVMInt16TypeInContext(g->context), 8);
    cg_ref lanes = LLVMBuildBitCast(b, order, octet, "");
    if (bytes >= 4) {
        cg_ref in[] = {LLVMBuildBitCast(b, value, words, ""), LLVMBuildZExt(b, lanes, words, "")};
        return LLVMBuildBitCast(b, cg_call(g, "llvm.x86.avx2.permd", 0, NULL, 2, in), t, "");
    }
    if (bytes == 1) {
        cg_ref in[] = {first_bytes(g, LLVMBuildBitCast(b, value, octet, "")), first_bytes(g, lanes)};
        int low[] = {0, 1, 2, 3, 4, 5, 6, 7};
        return LLVMBuildBitCast(
            b, cg_shuffle(g, cg_call(g, "llvm.x86.ssse3.pshuf.b.128", 0, NULL, 2, in), NULL, 8, low), t, "");
    }
    cg_ref two = cg_splat_n(g, LLVMConstInt(LLVMInt16TypeInContext(g->context), 0x0202, false), 8);
    cg_ref one = cg_splat_n(g, LLVMConstInt(LLVMInt16TypeInContext(g->context), 0x0100, false), 8);
    cg_ref both = LLVMBuildAdd(b, LLVMBuildMul(b, LLVMBuildZExt(b, lanes, halves, ""), two, ""), one, "");
    cg_ref in[] = {LLVMBuildBitCast(b, value, all, ""), LLVMBuildBitCast(b, both, all, "")};
    return LLVMBuildBitCast(b, cg_call(g, "llvm.x86.ssse3.pshuf.b.128", 0, NULL, 2, in), t, "");
}

static bool by_table(const cg *g, const k_stmt *s, unsigned bytes)
{
    bool instruction = g->cpu.avx512 && (bytes >= 4 || g->cpu.vbmi2);
    return s->sub == K_OVER && g->cpu.gathers && !instruction && g->lanes >= 8;
}

static void compact_by_table(cg *g, cg_ref value, cg_ref keep, cg_ref pointer, ir_type t)
{
    LLVMBuilderRef b = g->b;
    unsigned bytes = (unsigned)ir_type_size(t), n = bytes == 8 ? 4 : 8;
    cg_ref bits = cg_mask_bits(g, keep), table = order_table(g, n == 4);
    LLVMTypeRef word = LLVMTypeOf(bits);
    for (unsigned from = 0; from < g->lanes; from += n) {
        cg_ref some = LLVMBuildLShr(b, bits, LLVMConstInt(word, from, false), "");
        some = LLVMBuildAnd(b, some, LLVMConstInt(word, n == 4 ? 15 : 255, false), "");
        some = LLVMBuildIntCast2(b, some, g->i64, false, "");
        cg_ref order = LLVMBuildLoad2(b, g->i64, LLVMBuildGEP2(b, g->i64, table, &some, 1, ""), "");
        cg_ref store = LLVMBuildStore(b, in_order(g, part(g, value, from, n), order, bytes), pointer);
        LLVMSetAlignment(store, bytes);
        cg_ref kept = cg_call1(g, "llvm.ctpop", some);
        pointer = LLVMBuildGEP2(b, cg_stored(g, t), pointer, &kept, 1, "");
    }
}

void cg_compact(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    unsigned bytes = (unsigned)ir_type_size(t), width = 64 / bytes;
    unsigned n = g->lanes < width ? g->lanes : width;
    cg_ref keep = cg_lanes_where(g, s->in[2]), value = cg_to_memory(g, t, cg_vec(g, s->in[1]));
    cg_ref pointer = cg_element(g, s->mem, cg_scalar(g, s->in[0]));
    if (by_table(g, s, bytes)) {
        compact_by_table(g, value, keep, pointer, t);
        return;
    }
    for (unsigned from = 0; from < g->lanes; from += n) {
        cg_ref some = part(g, keep, from, n);
        compress(g, part(g, value, from, n), some, pointer, bytes, n, s->sub == K_OVER);
        cg_ref bits = LLVMBuildBitCast(g->b, some, LLVMIntTypeInContext(g->context, n), "");
        cg_ref kept = LLVMBuildIntCast2(g->b, cg_call1(g, "llvm.ctpop", bits), g->i64, false, "");
        pointer = LLVMBuildGEP2(g->b, cg_stored(g, t), pointer, &kept, 1, "");
    }
}

/* --- ATOMIC --- */

static LLVMAtomicRMWBinOp read_modify_write(cg *g, ir_op op, ir_type t)
{
    switch (op) {
    case OP_ADD:
        return ir_type_float(t) ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
    case OP_MIN:
        return ir_type_signed(t) ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
    case OP_MAX:
        return ir_type_signed(t) ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
    case OP_BIT_AND:
        return LLVMAtomicRMWBinOpAnd;
    case OP_BIT_OR:
        return LLVMAtomicRMWBinOpOr;
    case OP_BIT_XOR:
        return LLVMAtomicRMWBinOpXor;
    default:
        cg_fail(g, "no atomic %s", ir_ops[op].name);
    }
}

static cg_ref atomic_one(cg *g, const k_stmt *s, cg_ref index, cg_ref value)
{
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    if (ir_type_float(t) && s->sub != OP_ADD)
        cg_fail(g, "no atomic %s of %s", ir_ops[s->sub].name, ir_type_name(t));
    return LLVMBuildAtomicRMW(g->b, read_modify_write(g, (ir_op)s->sub, t), cg_element(g, s->mem, index), value,
                              LLVMAtomicOrderingMonotonic, false);
}

/* Active lanes one after the other, lowest first. */
static cg_ref atomic_lanes(cg *g, const k_stmt *s)
{
    LLVMBuilderRef b = g->b;
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    cg_ref index = cg_vec(g, s->in[0]), value = cg_vec(g, s->in[1]);
    cg_ref bits = cg_mask_bits(g, cg_mask_or_all(g));
    LLVMTypeRef word = LLVMTypeOf(bits);
    LLVMBasicBlockRef before = cg_here(g), each = cg_block(g, "atomic"), end = cg_block(g, "atomics");
    cg_ref nothing = cg_zero(g->vector[t]);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, bits, cg_zero(word), ""), each, end);

    cg_at(g, each);
    cg_ref left = LLVMBuildPhi(b, word, ""), found = LLVMBuildPhi(b, g->vector[t], "");
    cg_ref lane = cg_call(g, "llvm.cttz", 1, &word, 2, (cg_ref[]){left, LLVMConstInt(g->i1, 1, false)});
    lane = LLVMBuildIntCast2(b, lane, g->i64, false, "");
    cg_ref old =
        atomic_one(g, s, LLVMBuildExtractElement(b, index, lane, ""), LLVMBuildExtractElement(b, value, lane, ""));
    cg_ref with = LLVMBuildInsertElement(b, found, old, lane, "");
    cg_ref rest = LLVMBuildAnd(b, left, LLVMBuildSub(b, left, LLVMConstInt(word, 1, false), ""), "");
    LLVMAddIncoming(left, (cg_ref[]){bits, rest}, (LLVMBasicBlockRef[]){before, each}, 2);
    LLVMAddIncoming(found, (cg_ref[]){nothing, with}, (LLVMBasicBlockRef[]){before, each}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntNE, rest, cg_zero(word), ""), each, end);

    cg_at(g, end);
    return cg_phi2(g, nothing, before, with, each);
}

void cg_atomic(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    if (g->thread)
        cg_define(g, s->dst, atomic_lanes(g, s));
    else
        cg_define(g, s->dst, atomic_one(g, s, cg_scalar(g, s->in[0]), cg_scalar(g, s->in[1])));
}
