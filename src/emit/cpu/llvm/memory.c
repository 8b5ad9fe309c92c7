/* Loads and stores: contiguous where the index is affine with step 1, shuffled for small constant steps, gathered else.
 * Lanes that are off neither read nor write. */
#include "emit/cpu/llvm/cg.h"
#include <llvm/Config/llvm-config.h>

LLVMTypeRef cg_stored(cg *g, ir_type t)
{
    return t == T_BOOL ? g->i8 : g->type[t];
}

cg_ref cg_from_memory(cg *g, ir_type t, cg_ref x)
{
    return t == T_BOOL ? LLVMBuildICmp(g->b, LLVMIntNE, x, cg_zero(LLVMTypeOf(x)), "") : x;
}

cg_ref cg_to_memory(cg *g, ir_type t, cg_ref x)
{
    if (t != T_BOOL)
        return x;
    LLVMTypeRef byte = cg_is_vector(x) ? LLVMVectorType(g->i8, LLVMGetVectorSize(LLVMTypeOf(x))) : g->i8;
    return LLVMBuildZExt(g->b, x, byte, "");
}

unsigned cg_alignment(const cg *g, k_mem m)
{
    const k_memory *memory = &g->k->mem.at[m];
    return memory->every ? 1 : (unsigned)ir_type_size((ir_type)memory->type);
}

cg_ref cg_element(cg *g, k_mem m, cg_ref index)
{
    unsigned every = g->k->mem.at[m].every;
    if (every) {
        bool vector = cg_is_vector(index);
        cg_ref step = cg_i64(g, every);
        if (vector && LLVMGetElementType(LLVMTypeOf(index)) != g->i64)
            index = LLVMBuildSExt(g->b, index, LLVMVectorType(g->i64, LLVMGetVectorSize(LLVMTypeOf(index))), "");
        if (vector)
            step = cg_splat_n(g, step, LLVMGetVectorSize(LLVMTypeOf(index)));
        index = LLVMBuildNSWMul(g->b, index, step, "");
        return LLVMBuildGEP2(g->b, g->i8, cg_memory(g, m), &index, 1, "");
    }
    return LLVMBuildGEP2(g->b, cg_stored(g, (ir_type)g->k->mem.at[m].type), cg_memory(g, m), &index, 1, "");
}

/* --- vectors in memory --- */

/* Calls a masked intrinsic. From LLVM 22 on its alignment is an attribute of the pointer, before it is an operand. */
static cg_ref masked(cg *g, const char *name, unsigned types, LLVMTypeRef *type, unsigned n, cg_ref *in,
                     unsigned pointer, unsigned align)
{
#if LLVM_VERSION_MAJOR >= 22
    cg_ref call = cg_call(g, name, types, type, n, in);
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(call, pointer + 1, LLVMCreateEnumAttribute(g->context, kind, align));
    return call;
#else
    cg_ref with[5];
    memcpy(with, in, (pointer + 1) * sizeof(*in));
    with[pointer + 1] = cg_i32(g, align);
    memcpy(with + pointer + 2, in + pointer + 1, (n - pointer - 1) * sizeof(*in));
    return cg_call(g, name, types, type, n + 1, with);
#endif
}

cg_ref cg_masked_load(cg *g, LLVMTypeRef vector, cg_ref pointer, unsigned align, cg_ref mask)
{
    if (!cg_moves_some(g, vector))
        return cg_load_some(g, vector, pointer, mask, mask == g->mask.on && g->mask.some, NULL);
    LLVMTypeRef types[] = {vector, g->ptr};
    cg_ref in[] = {pointer, mask, cg_zero(vector)};
    return masked(g, "llvm.masked.load", 2, types, 3, in, 0, align);
}

void cg_masked_store(cg *g, cg_ref vector, cg_ref pointer, unsigned align, cg_ref mask)
{
    if (!cg_moves_some(g, LLVMTypeOf(vector))) {
        cg_store_some(g, vector, pointer, mask);
        return;
    }
    LLVMTypeRef types[] = {LLVMTypeOf(vector), g->ptr};
    cg_ref in[] = {vector, pointer, mask};
    masked(g, "llvm.masked.store", 2, types, 3, in, 1, align);
}

static cg_ref gather(cg *g, LLVMTypeRef vector, cg_ref pointers, unsigned align, cg_ref mask)
{
    LLVMTypeRef types[] = {vector, LLVMTypeOf(pointers)};
    cg_ref on = mask ? mask : LLVMConstAllOnes(LLVMVectorType(g->i1, g->lanes));
    cg_ref in[] = {pointers, on, cg_zero(vector)};
    return masked(g, "llvm.masked.gather", 2, types, 3, in, 0, align);
}

static cg_ref bits_down(cg *g, cg_ref words, cg_ref shift, LLVMTypeRef vector)
{
    return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, words, shift, ""), vector, "");
}

/* There is no gather of bytes and halves, and lane by lane is slow where lanes are off, and long: gather the aligned
 * words around them, which never leave their page, and shift. */
static cg_ref gather_small(cg *g, LLVMTypeRef vector, cg_ref pointers, cg_ref mask)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef addresses = LLVMVectorType(g->i64, g->lanes), words = LLVMVectorType(g->i32, g->lanes);
    cg_ref address = LLVMBuildPtrToInt(b, pointers, addresses, "");
    cg_ref low = LLVMBuildAnd(b, address, cg_splat(g, cg_i64(g, 3)), "");
    cg_ref whole = LLVMBuildIntToPtr(b, LLVMBuildSub(b, address, low, ""), LLVMTypeOf(pointers), "");
    cg_ref shift = LLVMBuildShl(b, LLVMBuildTrunc(b, low, words, ""), cg_splat(g, cg_i32(g, 3)), "");
    return bits_down(g, gather(g, words, whole, 4, mask), shift, vector);
}

/* The same with 32-bit numbers of elements, counted from the word in which the memory begins. */
static cg_ref gather_small_narrow(cg *g, k_mem m, cg_ref index, unsigned size, LLVMTypeRef vector, cg_ref mask)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef words = LLVMVectorType(g->i32, g->lanes);
    int64_t per_word = 4 / size, bits = 8 * size;
    cg_ref start = LLVMBuildPtrToInt(b, cg_memory(g, m), g->i64, "");
    cg_ref low = LLVMBuildAnd(b, start, cg_i64(g, 3), "");
    cg_ref base = LLVMBuildIntToPtr(b, LLVMBuildSub(b, start, low, ""), g->ptr, "");
    cg_ref first = LLVMBuildTrunc(b, LLVMBuildUDiv(b, low, cg_i64(g, size), ""), g->i32, "");
    cg_ref at = LLVMBuildAdd(b, index, cg_splat(g, first), "");
    cg_ref word = LLVMBuildAShr(b, at, cg_splat(g, cg_i32(g, per_word == 4 ? 2 : 1)), "");
    cg_ref part = LLVMBuildAnd(b, at, cg_splat(g, cg_i32(g, per_word - 1)), "");
    cg_ref shift = LLVMBuildMul(b, part, cg_splat(g, cg_i32(g, bits)), "");
    cg_ref pointers = LLVMBuildGEP2(b, g->i32, base, &word, 1, "");
    return bits_down(g, gather(g, words, pointers, 4, mask), shift, vector);
}

cg_ref cg_gather(cg *g, k_mem m, cg_ref index, cg_ref mask)
{
    ir_type t = (ir_type)g->k->mem.at[m].type;
    LLVMTypeRef vector = LLVMVectorType(cg_stored(g, t), g->lanes);
    unsigned size = (unsigned)ir_type_size(t);
    bool narrow = LLVMGetElementType(LLVMTypeOf(index)) == g->i32, apart = g->k->mem.at[m].every;
    if (size < 4 && narrow && g->cpu.gathers && !apart)
        return gather_small_narrow(g, m, index, size, vector, mask);
    if (cg_is_widened(index)) /* instructions take numbers of 32 bits, if LLVM sees in the same block that these are */
        index = LLVMBuildCast(g->b, LLVMGetInstructionOpcode(index), LLVMGetOperand(index, 0), LLVMTypeOf(index), "");
    cg_ref pointers = cg_element(g, m, index);
    if (size < 4 && mask && g->cpu.gathers && (!apart || size == 1))
        return gather_small(g, vector, pointers, mask);
    return gather(g, vector, pointers, cg_alignment(g, m), mask);
}

void cg_scatter(cg *g, cg_ref vector, cg_ref pointers, unsigned align)
{
    LLVMTypeRef types[] = {LLVMTypeOf(vector), LLVMTypeOf(pointers)};
    cg_ref in[] = {vector, pointers, cg_mask_or_all(g)};
    masked(g, "llvm.masked.scatter", 2, types, 3, in, 1, align);
}

static cg_ref plain_load(cg *g, LLVMTypeRef type, cg_ref pointer, unsigned align)
{
    cg_ref load = LLVMBuildLoad2(g->b, type, pointer, "");
    LLVMSetAlignment(load, align);
    return load;
}

static cg_ref plain_store(cg *g, cg_ref value, cg_ref pointer, unsigned align)
{
    cg_ref store = LLVMBuildStore(g->b, value, pointer);
    LLVMSetAlignment(store, align);
    return store;
}

/* --- contiguous --- */

static cg_ref load_contiguous(cg *g, LLVMTypeRef vector, cg_ref pointer, unsigned align)
{
    if (!g->mask.on)
        return plain_load(g, vector, pointer, align);
    if (!cg_moves_some(g, vector))
        return cg_load_some(g, vector, pointer, g->mask.on, g->mask.some, g->mask.full);
    if (!g->mask.full)
        return cg_masked_load(g, vector, pointer, align, g->mask.on);
    LLVMBasicBlockRef whole = cg_block(g, "load.whole"), part = cg_block(g, "load.part"), end = cg_block(g, "load.end");
    cg_cond(g, g->mask.full, whole, part);
    cg_at(g, whole);
    cg_ref x = plain_load(g, vector, pointer, align);
    cg_br(g, end);
    cg_at(g, part);
    cg_ref y = cg_masked_load(g, vector, pointer, align, g->mask.on);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, whole, y, part);
}

/* Stores that stand together take one branch, past the caches if all addresses are aligned (for_all.c starts its gangs
 * so that the first stream's is). */
typedef struct streamed {
    cg_ref value, pointer;
    unsigned align, bytes;
} streamed;

static unsigned whole_line(const streamed *s)
{
    return s->bytes < 64 ? s->bytes : 64;
}

static void store_past_caches(cg *g, const streamed *s)
{
    cg_ref store = plain_store(g, s->value, s->pointer, whole_line(s));
    cg_ref one = LLVMMetadataAsValue(
        g->context, LLVMMDNodeInContext2(g->context, (LLVMMetadataRef[]){LLVMValueAsMetadata(cg_i32(g, 1))}, 1));
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(g->context, "nontemporal", 11), one);
}

static void store_streams(cg *g, const streamed *s, unsigned n)
{
    cg_ref low = cg_i64(g, 0);
    for (unsigned i = 0; i < n; i++) {
        cg_ref address = LLVMBuildPtrToInt(g->b, s[i].pointer, g->i64, "");
        low = LLVMBuildOr(g->b, low, LLVMBuildAnd(g->b, address, cg_i64(g, whole_line(&s[i]) - 1), ""), "");
    }
    cg_ref odd = LLVMBuildICmp(g->b, LLVMIntNE, low, cg_i64(g, 0), "");
    LLVMBasicBlockRef past = cg_block(g, "stream"), plain = cg_block(g, "unaligned"), end = cg_block(g, "stored");
    cg_cond(g, odd, plain, past);
    cg_at(g, past);
    for (unsigned i = 0; i < n; i++)
        store_past_caches(g, &s[i]);
    cg_br(g, end);
    cg_at(g, plain);
    for (unsigned i = 0; i < n; i++)
        plain_store(g, s[i].value, s[i].pointer, s[i].align);
    cg_br(g, end);
    cg_at(g, end);
    g->streamed = true;
}

static bool may_stream(unsigned bytes)
{
    return bytes >= 16 && (bytes & (bytes - 1)) == 0;
}

static void store_whole(cg *g, cg_ref value, cg_ref pointer, unsigned align, bool past)
{
    unsigned bytes = align * g->lanes;
    if (past && may_stream(bytes))
        store_streams(g, &(streamed){value, pointer, align, bytes}, 1);
    else
        plain_store(g, value, pointer, align);
}

static void store_contiguous(cg *g, cg_ref value, cg_ref pointer, unsigned align, bool stream)
{
    if (!g->mask.on) {
        store_whole(g, value, pointer, align, stream);
        return;
    }
    cg_ref first = g->cpu.avx512 ? NULL : g->mask.first, full = g->mask.full;
    if (!full && !first) {
        cg_masked_store(g, value, pointer, align, g->mask.on);
        return;
    }
    full = full ? full : LLVMBuildICmp(g->b, LLVMIntSGE, first, cg_i64(g, g->lanes), "");
    LLVMBasicBlockRef whole = cg_block(g, "store.whole"), part = cg_block(g, "store.part"),
                      end = cg_block(g, "store.end");
    cg_cond(g, full, whole, part);
    cg_at(g, whole);
    store_whole(g, value, pointer, align, stream);
    cg_br(g, end);
    cg_at(g, part);
    if (first)
        cg_store_first(g, value, pointer, first);
    else
        cg_masked_store(g, value, pointer, align, g->mask.on);
    cg_br(g, end);
    cg_at(g, end);
}

/* --- small constant steps, all lanes on: whole loads inside [first element, last element], then shuffles --- */

static cg_ref reversed(cg *g, cg_ref x)
{
    int order[256];
    for (unsigned i = 0; i < g->lanes; i++)
        order[i] = (int)(g->lanes - 1 - i);
    return cg_shuffle(g, x, NULL, g->lanes, order);
}

/* Where the last lane's element lies, if that of the first is at `first` and they go down. */
static cg_ref last_of_reversed(cg *g, cg_ref first, LLVMTypeRef element)
{
    cg_ref back = cg_i64(g, 1 - (int64_t)g->lanes);
    return LLVMBuildGEP2(g->b, element, first, &back, 1, "");
}

/* The mask, as elements in memory have it that lie the other way round. What was before, which the caller puts back. */
static cg_mask reverse_mask(cg *g)
{
    cg_mask before = g->mask;
    if (before.on)
        g->mask.on = reversed(g, before.on);
    g->mask.first = NULL;
    return before;
}

static cg_ref load_reversed(cg *g, LLVMTypeRef vector, cg_ref first, LLVMTypeRef element, unsigned align)
{
    cg_mask before = reverse_mask(g);
    cg_ref x = load_contiguous(g, vector, last_of_reversed(g, first, element), align);
    g->mask = before;
    return reversed(g, x);
}

static void store_reversed(cg *g, cg_ref value, cg_ref first, unsigned align, bool stream)
{
    cg_ref x = reversed(g, value), to = last_of_reversed(g, first, LLVMGetElementType(LLVMTypeOf(value)));
    cg_mask before = reverse_mask(g);
    store_contiguous(g, x, to, align, stream);
    g->mask = before;
}

/* Elements 0, step, 2 step ... of `step` consecutive vectors; the last one is loaded so that it ends at the last
 * element. */
static cg_ref load_spread(cg *g, LLVMTypeRef vector, cg_ref first, LLVMTypeRef element, unsigned align, unsigned step)
{
    unsigned lanes = g->lanes, last = (lanes - 1) * step;
    cg_ref r = NULL;
    for (unsigned part = 0; part < step; part++) {
        int64_t from = part + 1 < step ? (int64_t)part * lanes : (int64_t)last - lanes + 1;
        cg_ref offset = cg_i64(g, from);
        cg_ref x = plain_load(g, vector, LLVMBuildGEP2(g->b, element, first, &offset, 1, ""), align);
        int index[256];
        for (unsigned i = 0; i < lanes; i++) {
            int64_t at = (int64_t)i * step;
            bool here = at / lanes == part;
            int lane = (int)(at - from);
            index[i] = !part ? (here ? lane : -1) : here ? (int)lanes + lane : (int)i;
        }
        r = cg_shuffle(g, part ? r : x, part ? x : NULL, lanes, index);
    }
    return r;
}

/* --- addresses --- */

typedef struct place {
    enum { PLACE_ONE, PLACE_ROW, PLACE_STEP, PLACE_STRIDED, PLACE_ANY } kind;
    cg_ref index; /* ONE, ROW, STEP, STRIDED: of lane 0; ANY: vector */
    int64_t step;
} place;

/* Private element i of virtual thread t lies at i * threads + t, so one element of a gang is contiguous. */
static place place_private(cg *g, k_val index)
{
    int64_t threads = ((int64_t)g->k->threads + g->lanes - 1) / g->lanes * g->lanes;
    if (g->k->value.at[index].shape == K_UNIFORM) {
        cg_ref row = LLVMBuildMul(g->b, cg_scalar(g, index), cg_i64(g, threads), "");
        return (place){PLACE_ROW, LLVMBuildAdd(g->b, row, g->thread_base, ""), 1};
    }
    cg_ref row = LLVMBuildMul(g->b, cg_vec(g, index), cg_splat(g, cg_i64(g, threads)), "");
    cg_ref thread = LLVMBuildAdd(g->b, cg_splat(g, g->thread_base), cg_iota(g, g->i64, g->lanes), "");
    return (place){PLACE_ANY, LLVMBuildAdd(g->b, row, thread, ""), 0};
}

/* Lane 0 of an index, as 64 bits. */
static cg_ref first_lane(cg *g, k_val index)
{
    cg_ref i = LLVMBuildExtractElement(g->b, cg_index_vec(g, index), cg_i32(g, 0), "");
    return LLVMBuildSExt(g->b, i, g->i64, "");
}

/* Where a gang of one lane reads or writes. A part of the index that is the same in all threads is added to the
 * memory's address: once for all that lies behind it. */
static cg_ref address_of_one(cg *g, k_mem m, k_val index)
{
    const k_value *x = &g->k->value.at[index];
    const k_stmt *s = x->kind == KV_RESULT ? &g->k->stmt.at[x->def] : NULL;
    if (!s || s->op != K_LET || s->sub != OP_ADD)
        return cg_element(g, m, first_lane(g, index));
    bool swapped = g->k->value.at[s->in[1]].shape == K_UNIFORM;
    k_val far = s->in[swapped], near = s->in[!swapped];
    if (g->k->value.at[far].shape != K_UNIFORM)
        return cg_element(g, m, first_lane(g, index));
    cg_ref to = cg_element(g, m, cg_scalar(g, far)), then = first_lane(g, near);
    return LLVMBuildGEP2(g->b, cg_stored(g, (ir_type)g->k->mem.at[m].type), to, &then, 1, "");
}

static bool is_one_lane(const cg *g, k_mem m, k_val index)
{
    return g->thread && g->lanes == 1 && !g->mask.on && !g->k->mem.at[m].every && g->k->mem.at[m].space != K_PRIVATE &&
           g->k->value.at[index].shape != K_UNIFORM;
}

static place place_of(cg *g, k_mem m, k_val index)
{
    const k_value *x = &g->k->value.at[index];
    if (!g->thread)
        return (place){PLACE_ONE, cg_scalar(g, index), 0};
    if (g->k->mem.at[m].space == K_PRIVATE)
        return place_private(g, index);
    if (x->shape == K_UNIFORM)
        return (place){PLACE_ONE, cg_scalar(g, index), 0};
    if (x->shape == K_AFFINE && x->step == 1)
        return (place){PLACE_ROW, cg_scalar(g, index), 1};
    if (g->k->mem.at[m].every)
        return (place){PLACE_ANY, NULL, 0};
    if (x->shape == K_AFFINE && (x->step == -1 || (x->step > 1 && x->step <= (g->cpu.avx512 ? 8 : 4))))
        return (place){PLACE_STEP, cg_scalar(g, index), x->step};
    if (x->shape == K_STRIDED)
        return (place){PLACE_STRIDED, cg_scalar(g, index), 0};
    return (place){PLACE_ANY, NULL, 0};
}

/* One element for all lanes. With no lane on, nothing vouches for the index: read nothing. */
static cg_ref load_one(cg *g, LLVMTypeRef type, cg_ref pointer, unsigned align)
{
    if (!g->thread || !g->mask.on || g->mask.some)
        return plain_load(g, type, pointer, align);
    LLVMBasicBlockRef here = cg_here(g), read = cg_block(g, "load.some"), end = cg_block(g, "load.end");
    cg_cond(g, cg_mask_any(g, g->mask.on), read, end);
    cg_at(g, read);
    cg_ref x = plain_load(g, type, pointer, align);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, read, cg_zero(type), here);
}

cg_ref cg_load_stretch(cg *g, k_mem m, cg_ref index, LLVMTypeRef type)
{
    cg_ref pointer = cg_element(g, m, index);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? load_contiguous(g, type, pointer, cg_alignment(g, m))
                                                       : load_one(g, type, pointer, cg_alignment(g, m));
}

static cg_ref load_gathered(cg *g, const k_stmt *s)
{
    return cg_gather(g, s->mem, cg_index_vec(g, s->in[0]), g->mask.on);
}

static cg_ref load_any(cg *g, const k_stmt *s, cg_ref index)
{
    cg_ref pieces = index || g->k->mem.at[s->mem].every ? NULL : cg_load_pieces(g, s);
    pieces = pieces || index ? pieces : cg_load_offsets(g, s, load_gathered);
    pieces = pieces || index ? pieces : cg_load_spread(g, s);
    pieces = pieces || index ? pieces : cg_load_line(g, s, load_gathered);
    if (pieces)
        return pieces;
    cg_ref at = index ? index : cg_index_vec(g, s->in[0]), from_table = cg_load_table(g, s->mem, at);
    cg_ref near = from_table || index ? from_table : cg_load_near(g, s, load_gathered);
    return near ? near : cg_gather(g, s->mem, at, g->mask.on);
}

static cg_ref load_step_whole(cg *g, ir_type t, cg_ref pointer, int64_t step)
{
    LLVMTypeRef element = cg_stored(g, t), vector = LLVMVectorType(element, g->lanes);
    return load_spread(g, vector, pointer, element, (unsigned)ir_type_size(t), (unsigned)step);
}

static cg_ref load_step(cg *g, const k_stmt *s, cg_ref first, int64_t step)
{
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    LLVMTypeRef element = cg_stored(g, t), vector = LLVMVectorType(element, g->lanes);
    cg_ref pointer = cg_element(g, s->mem, first);
    if (step < 0)
        return load_reversed(g, vector, pointer, element, (unsigned)ir_type_size(t));
    if (!g->mask.on)
        return load_step_whole(g, t, pointer, step);
    LLVMBasicBlockRef whole = cg_block(g, "step.whole"), part = cg_block(g, "step.part"), end = cg_block(g, "step.end");
    cg_cond(g, g->mask.full, whole, part);
    cg_at(g, whole);
    cg_ref x = load_step_whole(g, t, pointer, step);
    cg_br(g, end);
    cg_at(g, part);
    cg_ref y = load_any(g, s, NULL);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, whole, y, part);
}

/* A step that only the launch knows: often 1, of positions that are clamped elsewhere or of arrays with one column. */
static cg_ref load_strided(cg *g, const k_stmt *s, cg_ref first)
{
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    LLVMTypeRef vector = LLVMVectorType(cg_stored(g, t), g->lanes);
    cg_ref is_row = LLVMBuildICmp(g->b, LLVMIntEQ, cg_step(g, s->in[0]), cg_i64(g, 1), "");
    LLVMBasicBlockRef row = cg_block(g, "step.one"), apart = cg_block(g, "step.other"), end = cg_block(g, "step.end");
    cg_cond(g, is_row, row, apart);
    cg_at(g, row);
    cg_ref x = load_contiguous(g, vector, cg_element(g, s->mem, first), (unsigned)ir_type_size(t));
    row = cg_here(g);
    cg_br(g, end);
    cg_at(g, apart);
    cg_ref y = load_any(g, s, NULL);
    apart = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    return cg_phi2(g, x, row, y, apart);
}

static void load_tiled(cg *g, k_ref id, const cg_tiled *tile)
{
    const k_stmt *s = &g->k->stmt.at[id];
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    LLVMTypeRef vector = LLVMVectorType(cg_stored(g, t), g->lanes);
    cg_ref x = tile->vector ? LLVMBuildBitCast(g->b, tile->vector, vector, "") : plain_load(g, vector, tile->row, 64);
    cg_define(g, s->dst, cg_from_memory(g, t, x));
}

/* A processor looks ahead within a page, in each page that is read, so it fetches more from memory at a time where
 * several pages are read by turns. What is fetched here for a load is a line two blocks of four pages on: of lines one
 * behind the other one of each page, as the two lowest bits of a line's number in its block become the page. */
cg_ref cg_line_of_pages(cg *g, cg_ref pointer, int64_t ahead)
{
    enum { LINE_BITS = 6, PAGE_BITS = 2 /* four pages */, NUMBER_BITS = 8 };
    LLVMBuilderRef b = g->b;
    cg_ref line = LLVMBuildLShr(b, LLVMBuildPtrToInt(b, pointer, g->i64, ""), cg_i64(g, LINE_BITS), "");
    cg_ref number = LLVMBuildTrunc(b, line, g->i8, ""), turn = LLVMConstInt(g->i8, NUMBER_BITS - PAGE_BITS, false);
    cg_ref turned = cg_call(g, "llvm.fshl", 1, &g->i8, 3, (cg_ref[]){number, number, turn});
    cg_ref others = LLVMBuildAnd(b, line, cg_i64(g, -(1 << NUMBER_BITS)), "");
    cg_ref there = LLVMBuildOr(b, others, LLVMBuildZExt(b, turned, g->i64, ""), "");
    cg_ref at = LLVMBuildAdd(b, LLVMBuildShl(b, there, cg_i64(g, LINE_BITS), ""), cg_i64(g, ahead), "");
    return LLVMBuildIntToPtr(b, at, g->ptr, "");
}

/* A processor that looks on by itself does so where lines are read in order: LLVM must not mix the loads. */
static cg_ref load_ahead(cg *g, LLVMTypeRef vector, cg_ref pointer, unsigned bytes)
{
    if (g->cpu.looks_on)
        LLVMBuildFence(g->b, LLVMAtomicOrderingAcquireRelease, true, "");
    for (unsigned at = 0; at < bytes * g->lanes && !g->cpu.looks_on; at += K_AHEAD_BYTES)
        cg_prefetch(g, cg_line_of_pages(g, cg_bytes_on(g, pointer, cg_i64(g, at)), CG_PAGES_AHEAD));
    return load_contiguous(g, vector, pointer, bytes);
}

/* A statement's vector is defined, as memory has it. */
static void define_loaded(cg *g, const k_stmt *s, cg_ref x)
{
    x = cg_from_memory(g, (ir_type)g->k->mem.at[s->mem].type, x);
    if (cg_is_narrow(g, s->dst) && cg_is_vector(x))
        x = LLVMBuildTrunc(g->b, x, LLVMVectorType(g->i32, LLVMGetVectorSize(LLVMTypeOf(x))), "");
    cg_define(g, s->dst, x);
}

/* As a scalar that is put into a vector: what is made of such ones becomes operations of scalars, where a vector of one
 * condition would go through a register of masks. */
static void load_lane(cg *g, const k_stmt *s, unsigned align)
{
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    LLVMTypeRef element = cg_stored(g, t);
    cg_ref x = plain_load(g, element, address_of_one(g, s->mem, s->in[0]), align);
    x = LLVMBuildInsertElement(g->b, LLVMGetPoison(LLVMVectorType(element, 1)), x, cg_i32(g, 0), "");
    define_loaded(g, s, x);
}

void cg_load(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    LLVMTypeRef element = cg_stored(g, t), vector = LLVMVectorType(element, g->lanes);
    unsigned align = cg_alignment(g, s->mem);
    const cg_tiled *tile = cg_tile_of(g, id);
    if (tile) {
        load_tiled(g, id, tile);
        return;
    }
    cg_ref beside = cg_load_shifted(g, id);
    beside = beside ? beside : cg_load_interleaved(g, id);
    if (beside) {
        define_loaded(g, s, beside);
        return;
    }
    if (is_one_lane(g, s->mem, s->in[0])) {
        load_lane(g, s, align);
        return;
    }
    place at = place_of(g, s->mem, s->in[0]);
    if (at.kind == PLACE_STEP && (g->lanes < 4 || (at.step > 0 && g->mask.on && !g->mask.full)))
        at = (place){.kind = PLACE_ANY};
    cg_ref x;
    if (at.kind == PLACE_ONE)
        x = load_one(g, element, cg_element(g, s->mem, at.index), align);
    else if (at.kind == PLACE_ROW && g->k->mem.at[s->mem].every)
        x = cg_load_field(g, s->mem, at.index);
    else if (at.kind == PLACE_ROW && s->sub == K_AHEAD)
        x = load_ahead(g, vector, cg_element(g, s->mem, at.index), align);
    else if (at.kind == PLACE_ROW)
        x = load_contiguous(g, vector, cg_element(g, s->mem, at.index), align);
    else if (at.kind == PLACE_STEP)
        x = load_step(g, s, at.index, at.step);
    else if (at.kind == PLACE_STRIDED)
        x = load_strided(g, s, at.index);
    else
        x = load_any(g, s, at.index);
    define_loaded(g, s, x);
}

/* The number of the lane that is on, where there is one at most; of the first else. */
static cg_ref lane_on(cg *g, cg_ref bits)
{
    LLVMTypeRef word = LLVMTypeOf(bits);
    return cg_call(g, "llvm.cttz", 1, &word, 2, (cg_ref[]){bits, LLVMConstInt(g->i1, 1, false)});
}

/* The only writer of an element among all lanes of a FOR_ALL: the one lane that is on. There is an instruction for
 * this, a scatter, but it takes its time for each lane. */
static void store_one(cg *g, const k_stmt *s, cg_ref pointer, unsigned align)
{
    ir_type t = (ir_type)g->k->mem.at[s->mem].type;
    if (!g->thread) {
        plain_store(g, cg_to_memory(g, t, cg_scalar(g, s->in[1])), pointer, align);
        return;
    }
    cg_ref value = cg_to_memory(g, t, cg_vec(g, s->in[1])), bits = cg_mask_bits(g, cg_mask_or_all(g));
    cg_ref any = LLVMBuildICmp(g->b, LLVMIntNE, bits, cg_zero(LLVMTypeOf(bits)), "");
    LLVMBasicBlockRef one = cg_block(g, "store.one"), end = cg_block(g, "stored.one");
    cg_cond(g, any, one, end);
    cg_at(g, one);
    plain_store(g, LLVMBuildExtractElement(g->b, value, lane_on(g, bits), ""), pointer, align);
    cg_br(g, end);
    cg_at(g, end);
}

void cg_store(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    const k_memory *m = &g->k->mem.at[s->mem];
    ir_type t = (ir_type)m->type;
    unsigned align = cg_alignment(g, s->mem);
    const cg_tiled *tile = cg_tile_of(g, id);
    if (tile) {
        plain_store(g, cg_to_memory(g, t, cg_vec(g, s->in[1])), tile->row, 64);
        return;
    }
    if (cg_store_fields(g, id, true))
        return;
    if (is_one_lane(g, s->mem, s->in[0])) {
        cg_ref lane = LLVMBuildExtractElement(g->b, cg_to_memory(g, t, cg_vec(g, s->in[1])), cg_i32(g, 0), "");
        plain_store(g, lane, address_of_one(g, s->mem, s->in[0]), align);
        return;
    }
    place at = place_of(g, s->mem, s->in[0]);
    if (at.kind == PLACE_ONE) {
        store_one(g, s, cg_element(g, s->mem, at.index), align);
        return;
    }
    cg_ref value = cg_to_memory(g, t, cg_vec(g, s->in[1]));
    if (at.kind == PLACE_ROW) {
        store_contiguous(g, value, cg_element(g, s->mem, at.index), align, m->stream);
        return;
    }
    if (at.kind == PLACE_STEP && at.step < 0 && g->lanes >= 4) {
        store_reversed(g, value, cg_element(g, s->mem, at.index), align, m->stream);
        return;
    }
    cg_ref index = at.kind == PLACE_ANY && at.index ? at.index : cg_index_vec(g, s->in[0]);
    cg_scatter(g, value, cg_element(g, s->mem, index), align);
}

static bool is_stream(cg *g, k_ref id)
{
    const k_stmt *s = &g->k->stmt.at[id];
    if (s->op != K_STORE || !g->thread || g->mask.on || cg_tile_of(g, id) || (g->part && g->part[id] != g->own_part))
        return false;
    const k_memory *m = &g->k->mem.at[s->mem];
    const k_value *index = &g->k->value.at[s->in[0]];
    return m->stream && m->space == K_GLOBAL && index->shape == K_AFFINE && index->step == 1 &&
           may_stream((unsigned)ir_type_size((ir_type)m->type) * g->lanes);
}

unsigned cg_store_streams(cg *g, k_ref first)
{
    streamed s[CG_MOST_STREAMS];
    unsigned n = 0;
    for (k_ref r = first; r && n < CG_MOST_STREAMS && is_stream(g, r); r = g->k->stmt.at[r].next) {
        const k_stmt *st = &g->k->stmt.at[r];
        ir_type t = (ir_type)g->k->mem.at[st->mem].type;
        unsigned align = (unsigned)ir_type_size(t);
        cg_ref value = cg_to_memory(g, t, cg_vec(g, st->in[1]));
        s[n++] = (streamed){value, cg_element(g, st->mem, cg_scalar(g, st->in[0])), align, align * g->lanes};
    }
    if (n > 1)
        store_streams(g, s, n);
    return n > 1 ? n : 0;
}

void cg_store_row(cg *g, unsigned n, const cg_ref *vector, cg_ref pointer, unsigned size, bool stream)
{
    streamed s[CG_MOST_STREAMS] = {0};
    bool past = stream && may_stream(size * g->lanes);
    for (unsigned i = 0; i < n; i++) {
        cg_ref at = cg_bytes_on(g, pointer, cg_i64(g, (int64_t)i * size * g->lanes));
        if (past)
            s[i] = (streamed){vector[i], at, size, size * g->lanes};
        else
            plain_store(g, vector[i], at, size);
    }
    if (past)
        store_streams(g, s, n);
}
