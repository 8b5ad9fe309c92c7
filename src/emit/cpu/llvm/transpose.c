/* Copies that turn rows, one per lane, into vectors across lanes, and back: square tiles transposed in registers, and
 * rows without gaps between them taken apart by shuffles. */
#include "emit/cpu/llvm/cg.h"

enum { MOST_ROWS = 16, BLOCK = 16, REGISTER = 64, MOST_COLUMNS = 8 };

unsigned cg_tile_rows(const cg *g, unsigned bytes)
{
    unsigned rows = REGISTER / bytes < MOST_ROWS ? REGISTER / bytes : MOST_ROWS;
    if (g->lanes < rows)
        rows = g->lanes;
    return rows * bytes >= BLOCK ? rows : 0;
}

/* --- transposing n vectors of n elements --- */

/* Interleaves units of `unit` elements within each block of 16 bytes: the low or the high half of each block. */
static cg_ref interleave(cg *g, cg_ref x, cg_ref y, unsigned n, unsigned block, unsigned unit, bool high)
{
    int index[64];
    for (unsigned i = 0; i < n; i++) {
        unsigned within = i % block, pair = within / (2 * unit), from = within / unit % 2;
        unsigned source = i - within + (high ? block / 2 : 0) + pair * unit + within % unit;
        index[i] = (int)(from ? n + source : source);
    }
    return cg_shuffle(g, x, y, n, index);
}

/* The even or odd groups of `group` elements of x followed by y. */
static cg_ref every_second(cg *g, cg_ref x, cg_ref y, unsigned n, unsigned group, bool odd)
{
    int index[64];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)((i / group * 2 + odd) * group + i % group);
    return cg_shuffle(g, x, y, n, index);
}

/* x[0 .. n-1], each of n groups: out[j * stride] = group j of every one, in order. */
static void deal(cg *g, unsigned n, unsigned elements, unsigned group, cg_ref *x, cg_ref *out, unsigned stride)
{
    cg_ref work[2][MOST_ROWS];
    memcpy(work[0], x, n * sizeof(*x));
    unsigned from = 0;
    /* Lists of equal length, one behind the other; each round splits every list into its even and its odd groups. */
    for (unsigned lists = 1; lists < n; lists *= 2, from ^= 1) {
        unsigned length = n / lists;
        for (unsigned l = 0; l < lists; l++)
            for (unsigned i = 0; i < length / 2; i++) {
                cg_ref a = work[from][l * length + 2 * i], b = work[from][l * length + 2 * i + 1];
                for (unsigned odd = 0; odd < 2; odd++)
                    work[from ^ 1][(l + odd * lists) * (length / 2) + i] = every_second(g, a, b, elements, group, odd);
            }
    }
    for (unsigned j = 0; j < n; j++)
        out[j * stride] = work[from][j];
}

static void transpose(cg *g, unsigned n, unsigned bytes, cg_ref *row)
{
    unsigned block = BLOCK / bytes, blocks = n / block;
    cg_ref next[MOST_ROWS], part[MOST_ROWS];
    for (unsigned unit = 1; unit < block; unit *= 2) {
        for (unsigned base = 0; base < n; base += 2 * unit)
            for (unsigned c = 0; c < unit; c++)
                for (unsigned high = 0; high < 2; high++)
                    next[base + 2 * c + high] = interleave(g, row[base + c], row[base + unit + c], n, block, unit, high);
        memcpy(row, next, n * sizeof(*row));
    }
    /* Now block q of row[block * i + c] is column q * block + c of rows block * i ... */
    for (unsigned c = 0; c < block; c++) {
        for (unsigned i = 0; i < blocks; i++)
            part[i] = row[block * i + c];
        deal(g, blocks, n, block, part, next + c, block);
    }
    memcpy(row, next, n * sizeof(*row));
}

/* --- functions of the module --- */

typedef struct {
    LLVMBasicBlockRef caller, body, end;
    cg_ref fn, group; /* first lane of the group at hand, i64 */
} copier;

static cg_ref byte_offset(cg *g, cg_ref pointer, cg_ref bytes)
{
    return LLVMBuildGEP2(g->b, g->i8, pointer, &bytes, 1, "");
}

static cg_ref aligned(cg_ref access, unsigned align)
{
    LLVMSetAlignment(access, align);
    return access;
}

/* Opens a function whose body runs once per group of `n` lanes. */
static copier open_copier(cg *g, const char *name, LLVMTypeRef *type, unsigned parameters)
{
    copier c = {.caller = cg_here(g)};
    LLVMTypeRef f = LLVMFunctionType(LLVMVoidTypeInContext(g->context), type, parameters, false);
    c.fn = LLVMAddFunction(g->module, name, f);
    LLVMSetLinkage(c.fn, LLVMInternalLinkage);
    cg_function_attributes(g, c.fn);
    unsigned kind = LLVMGetEnumAttributeKindForName("noinline", 8);
    LLVMAddAttributeAtIndex(c.fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(g->context, kind, 0));
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(g->context, c.fn, "start");
    c.body = LLVMAppendBasicBlockInContext(g->context, c.fn, "group");
    c.end = LLVMAppendBasicBlockInContext(g->context, c.fn, "end");
    cg_at(g, start);
    cg_br(g, c.body);
    cg_at(g, c.body);
    c.group = LLVMBuildPhi(g->b, g->i64, "");
    LLVMAddIncoming(c.group, (cg_ref[]){cg_i64(g, 0)}, &start, 1);
    return c;
}

static cg_ref close_copier(cg *g, copier *c, unsigned n)
{
    cg_ref next = LLVMBuildNSWAdd(g->b, c->group, cg_i64(g, n), "");
    LLVMBasicBlockRef last = cg_here(g);
    LLVMAddIncoming(c->group, &next, &last, 1);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, next, cg_i64(g, g->lanes), ""), c->body, c->end);
    cg_at(g, c->end);
    LLVMBuildRetVoid(g->b);
    cg_at(g, c->caller);
    return c->fn;
}

/* The elements of lane `r` of the group that are to be copied: all below `count` if the lane is on. */
static cg_ref row_mask(cg *g, cg_ref on, cg_ref wanted, cg_ref lane)
{
    LLVMTypeRef word = LLVMTypeOf(on);
    cg_ref bit = LLVMBuildLShr(g->b, on, LLVMBuildIntCast2(g->b, lane, word, false, ""), "");
    bit = LLVMBuildTrunc(g->b, bit, g->i1, "");
    cg_ref bits = LLVMBuildSelect(g->b, bit, wanted, cg_zero(LLVMTypeOf(wanted)), "");
    return LLVMBuildBitCast(g->b, bits, LLVMVectorType(g->i1, LLVMGetIntTypeWidth(LLVMTypeOf(wanted))), "");
}

/* The low `count` (1 .. n) bits of n. */
static cg_ref low_bits(cg *g, cg_ref count, unsigned n)
{
    cg_ref all = cg_i64(g, -1), shift = LLVMBuildSub(g->b, cg_i64(g, 64), count, "");
    return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, all, shift, ""), LLVMIntTypeInContext(g->context, n), "");
}

typedef struct {
    unsigned n, bytes;
    LLVMTypeRef vector;
    cg_ref memory, step, buffer, on, wanted; /* on NULL: whole rows of all lanes */
} tile;

static void copy_row(cg *g, const tile *t, const copier *c, cg_copy way, unsigned r, cg_ref *row)
{
    cg_ref lane = LLVMBuildAdd(g->b, c->group, cg_i64(g, r), "");
    cg_ref pointer = byte_offset(g, t->memory, LLVMBuildMul(g->b, lane, t->step, ""));
    cg_ref mask = t->on ? row_mask(g, t->on, t->wanted, lane) : NULL;
    if (way == CG_FILL && mask)
        row[r] = cg_masked_load(g, t->vector, pointer, t->bytes, mask);
    else if (way == CG_FILL)
        row[r] = aligned(LLVMBuildLoad2(g->b, t->vector, pointer, ""), t->bytes);
    else if (mask)
        cg_masked_store(g, row[r], pointer, t->bytes, mask);
    else
        aligned(LLVMBuildStore(g->b, row[r], pointer), t->bytes);
}

static void copy_column(cg *g, const tile *t, const copier *c, cg_copy way, unsigned j, cg_ref *row)
{
    cg_ref at = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, c->group, cg_i64(g, t->bytes), ""),
                             cg_i64(g, (int64_t)j * g->lanes * t->bytes), "");
    cg_ref pointer = byte_offset(g, t->buffer, at);
    if (way == CG_FILL)
        aligned(LLVMBuildStore(g->b, row[j], pointer), t->n * t->bytes);
    else
        row[j] = aligned(LLVMBuildLoad2(g->b, t->vector, pointer, ""), t->n * t->bytes);
}

static cg_ref copy_function(cg *g, cg_copy way, unsigned bytes, unsigned n, bool whole)
{
    const char *name = arena_printf(g->arena, "%s%u_%u%s", way == CG_FILL ? "fill" : "flush", bytes, n, whole ? "" : "_part");
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    cg_ref row[MOST_ROWS];
    LLVMTypeRef word = LLVMIntTypeInContext(g->context, g->lanes);
    LLVMTypeRef type[] = {g->ptr, g->i64, g->ptr, word, g->i64};
    copier c = open_copier(g, name, type, whole ? 3 : 5);
    tile t = {.n = n, .bytes = bytes, .memory = LLVMGetParam(c.fn, 0), .step = LLVMGetParam(c.fn, 1), .buffer = LLVMGetParam(c.fn, 2)};
    t.vector = LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * bytes), n);
    if (!whole) {
        t.on = LLVMGetParam(c.fn, 3);
        t.wanted = low_bits(g, LLVMGetParam(c.fn, 4), n);
    }
    for (unsigned r = 0; r < n; r++)
        (way == CG_FILL ? copy_row : copy_column)(g, &t, &c, way, r, row);
    transpose(g, n, bytes, row);
    for (unsigned r = 0; r < n; r++)
        (way == CG_FILL ? copy_column : copy_row)(g, &t, &c, way, r, row);
    return close_copier(g, &c, n);
}

static void call_copier(cg *g, cg_ref f, cg_ref *in, unsigned n)
{
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, in, n, "");
}

void cg_copy_tile(cg *g, cg_copy way, unsigned bytes, unsigned rows, cg_ref memory, cg_ref step, cg_ref buffer, cg_ref count)
{
    cg_ref part = copy_function(g, way, bytes, rows, false);
    cg_ref in[] = {memory, step, buffer, cg_mask_bits(g, cg_mask_or_all(g)), count};
    if (g->mask.on && !g->mask.full) {
        call_copier(g, part, in, 5);
        return;
    }
    cg_ref all = LLVMBuildICmp(g->b, LLVMIntEQ, count, cg_i64(g, rows), "");
    if (g->mask.full)
        all = LLVMBuildAnd(g->b, all, g->mask.full, "");
    LLVMBasicBlockRef yes = cg_block(g, "tile"), no = cg_block(g, "tile.part"), end = cg_block(g, "tile.end");
    cg_cond(g, all, yes, no);
    cg_at(g, yes);
    call_copier(g, copy_function(g, way, bytes, rows, true), in, 3);
    cg_br(g, end);
    cg_at(g, no);
    call_copier(g, part, in, 5);
    cg_br(g, end);
    cg_at(g, end);
}

/* --- rows without gaps --- */

bool cg_has_dense(const cg *g, unsigned bytes, unsigned columns)
{
    return columns >= 2 && columns <= MOST_COLUMNS && columns <= cg_tile_rows(g, bytes) && g->lanes * bytes >= BLOCK;
}

/* Column j of `columns` consecutive vectors of n elements, by one shuffle per further vector. */
static cg_ref pick_column(cg *g, const cg_ref *x, unsigned n, unsigned columns, unsigned j)
{
    cg_ref r = x[0];
    int index[64];
    for (unsigned part = 0; part < columns; part++) {
        for (unsigned i = 0; i < n; i++) {
            unsigned at = i * columns + j, lane = at % n;
            bool here = at / n == part;
            index[i] = part == 0 ? (here ? (int)lane : -1) : here ? (int)(n + lane) : (int)i;
        }
        r = cg_shuffle(g, r, part ? x[part] : NULL, n, index);
    }
    return r;
}

static cg_ref dense_function(cg *g, unsigned bytes, unsigned columns)
{
    const char *name = arena_printf(g->arena, "dense%u_%u", bytes, columns);
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    unsigned n = REGISTER / bytes < g->lanes ? REGISTER / bytes : g->lanes;
    LLVMTypeRef vector = LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * bytes), n);
    cg_ref x[MOST_COLUMNS], column[MOST_COLUMNS];
    copier c = open_copier(g, name, (LLVMTypeRef[]){g->ptr, g->ptr}, 2);
    cg_ref lane_bytes = LLVMBuildMul(g->b, c.group, cg_i64(g, bytes), "");
    cg_ref from = byte_offset(g, LLVMGetParam(c.fn, 0), LLVMBuildMul(g->b, lane_bytes, cg_i64(g, columns), ""));
    cg_ref to = byte_offset(g, LLVMGetParam(c.fn, 1), lane_bytes);
    for (unsigned j = 0; j < columns; j++)
        x[j] = aligned(LLVMBuildLoad2(g->b, vector, byte_offset(g, from, cg_i64(g, (int64_t)j * n * bytes)), ""), bytes);
    if ((columns & (columns - 1)) == 0)
        deal(g, columns, n, 1, x, column, 1);
    for (unsigned j = 0; j < columns; j++) {
        cg_ref v = columns & (columns - 1) ? pick_column(g, x, n, columns, j) : column[j];
        aligned(LLVMBuildStore(g->b, v, byte_offset(g, to, cg_i64(g, (int64_t)j * g->lanes * bytes))), n * bytes);
    }
    return close_copier(g, &c, n);
}

void cg_fill_dense(cg *g, unsigned bytes, unsigned columns, cg_ref memory, cg_ref buffer)
{
    call_copier(g, dense_function(g, bytes, columns), (cg_ref[]){memory, buffer}, 2);
}
