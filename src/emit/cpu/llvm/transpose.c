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

/* A mask of the first `count` (1 .. n) of n elements. */
static cg_ref first_elements(cg *g, cg_ref count, unsigned n)
{
    cg_ref all = cg_i64(g, -1), shift = LLVMBuildSub(g->b, cg_i64(g, 64), count, "");
    cg_ref bits = LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, all, shift, ""), LLVMIntTypeInContext(g->context, n), "");
    return LLVMBuildBitCast(g->b, bits, LLVMVectorType(g->i1, n), "");
}

typedef struct {
    unsigned n, bytes;
    LLVMTypeRef vector;
    cg_ref memory, step, buffer;
    cg_ref mask;               /* of a row; NULL: whole rows */
    cg_ref ahead, ahead_step;  /* NULL: no prefetch */
} tile;

/* One line with each row, or with as many rows as make a line. Into the second level: the tile itself passes through the first. */
static void prefetch_row(cg *g, const tile *t, unsigned r, cg_ref lane)
{
    if (!t->ahead || (r * t->n * t->bytes) % REGISTER != 0)
        return;
    cg_ref pointer = byte_offset(g, t->ahead, LLVMBuildMul(g->b, lane, t->ahead_step, ""));
    cg_ref in[] = {pointer, cg_i32(g, 0), cg_i32(g, 2), cg_i32(g, 1)}; /* read, second level, data */
    cg_call(g, "llvm.prefetch", 1, &g->ptr, 4, in);
}

static void copy_row(cg *g, const tile *t, const copier *c, cg_copy way, unsigned r, cg_ref *row)
{
    cg_ref lane = LLVMBuildAdd(g->b, c->group, cg_i64(g, r), "");
    cg_ref pointer = byte_offset(g, t->memory, LLVMBuildMul(g->b, lane, t->step, ""));
    cg_ref mask = t->mask;
    if (way == CG_FILL)
        prefetch_row(g, t, r, lane);
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

/* All lanes on. With AVX-512 masked accesses cost nothing, so one function serves whole and partial rows. */
static cg_ref whole_function(cg *g, cg_copy way, unsigned bytes, unsigned n)
{
    const char *name = arena_printf(g->arena, "%s%u_%u", way == CG_FILL ? "fill" : "flush", bytes, n);
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    cg_ref row[MOST_ROWS];
    LLVMTypeRef type[] = {g->ptr, g->i64, g->ptr, g->i64, g->ptr, g->i64};
    copier c = open_copier(g, name, type, way == CG_FILL ? 6 : 4);
    tile t = {.n = n, .bytes = bytes, .memory = LLVMGetParam(c.fn, 0), .step = LLVMGetParam(c.fn, 1), .buffer = LLVMGetParam(c.fn, 2)};
    t.vector = LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * bytes), n);
    if (g->cpu.avx512)
        t.mask = first_elements(g, LLVMGetParam(c.fn, 3), n);
    if (way == CG_FILL) {
        t.ahead = LLVMGetParam(c.fn, 4);
        t.ahead_step = LLVMGetParam(c.fn, 5);
    }
    for (unsigned r = 0; r < n; r++)
        (way == CG_FILL ? copy_row : copy_column)(g, &t, &c, way, r, row);
    transpose(g, n, bytes, row);
    for (unsigned r = 0; r < n; r++)
        (way == CG_FILL ? copy_column : copy_row)(g, &t, &c, way, r, row);
    return close_copier(g, &c, n);
}

/* Some lanes off, which is rare: element by element. */
static cg_ref part_function(cg *g, cg_copy way, unsigned bytes)
{
    const char *name = arena_printf(g->arena, "%s%u_part", way == CG_FILL ? "fill" : "flush", bytes);
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef element = LLVMIntTypeInContext(g->context, 8 * bytes), word = LLVMIntTypeInContext(g->context, g->lanes);
    LLVMTypeRef type[] = {g->ptr, g->i64, g->ptr, g->i64, word};
    copier c = open_copier(g, name, type, 5);
    cg_ref bit = LLVMBuildLShr(b, LLVMGetParam(c.fn, 4), LLVMBuildIntCast2(b, c.group, word, false, ""), "");
    cg_ref row = byte_offset(g, LLVMGetParam(c.fn, 0), LLVMBuildMul(b, c.group, LLVMGetParam(c.fn, 1), ""));
    cg_ref column = LLVMBuildGEP2(b, element, LLVMGetParam(c.fn, 2), &c.group, 1, "");
    LLVMBasicBlockRef on = cg_block(g, "on"), next = cg_block(g, "next"), before = cg_here(g);
    cg_cond(g, LLVMBuildTrunc(b, bit, g->i1, ""), on, next);
    cg_at(g, on);
    cg_ref j = LLVMBuildPhi(b, g->i64, "j"), at = LLVMBuildMul(b, j, cg_i64(g, g->lanes), "");
    cg_ref in_row = LLVMBuildGEP2(b, element, row, &j, 1, ""), in_column = LLVMBuildGEP2(b, element, column, &at, 1, "");
    cg_ref x = aligned(LLVMBuildLoad2(b, element, way == CG_FILL ? in_row : in_column, ""), bytes);
    aligned(LLVMBuildStore(b, x, way == CG_FILL ? in_column : in_row), bytes);
    cg_ref more = LLVMBuildNSWAdd(b, j, cg_i64(g, 1), "");
    LLVMAddIncoming(j, (cg_ref[]){cg_i64(g, 0), more}, (LLVMBasicBlockRef[]){before, on}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, more, LLVMGetParam(c.fn, 3), ""), on, next);
    cg_at(g, next);
    return close_copier(g, &c, 1);
}

static void call_copier(cg *g, cg_ref f, cg_ref *in, unsigned n)
{
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, in, n, "");
}

static void call_whole(cg *g, cg_copy way, const cg_rows *r)
{
    cg_ref in[] = {r->memory, r->step, r->buffer, r->count, r->ahead, r->ahead_step};
    call_copier(g, whole_function(g, way, r->bytes, r->rows), in, way == CG_FILL ? 6 : 4);
}

static void call_part(cg *g, cg_copy way, const cg_rows *r)
{
    cg_ref in[] = {r->memory, r->step, r->buffer, r->count, cg_mask_bits(g, cg_mask_or_all(g))};
    call_copier(g, part_function(g, way, r->bytes), in, 5);
}

void cg_copy_tile(cg *g, cg_copy way, const cg_rows *r)
{
    if (g->mask.on && !g->mask.full) {
        call_part(g, way, r);
        return;
    }
    if (!g->mask.on && g->cpu.avx512) {
        call_whole(g, way, r);
        return;
    }
    cg_ref all = g->mask.full;
    if (!g->cpu.avx512) {
        all = LLVMBuildICmp(g->b, LLVMIntEQ, r->count, cg_i64(g, r->rows), "");
        all = g->mask.full ? LLVMBuildAnd(g->b, all, g->mask.full, "") : all;
    }
    LLVMBasicBlockRef yes = cg_block(g, "tile"), no = cg_block(g, "tile.part"), end = cg_block(g, "tile.end");
    cg_cond(g, all, yes, no);
    cg_at(g, yes);
    call_whole(g, way, r);
    cg_br(g, end);
    cg_at(g, no);
    call_part(g, way, r);
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
