/* Copies that turn rows, one per lane, into vectors across lanes, and back: blocks of 16 bytes transposed in registers.
 */
#include "emit/cpu/llvm/cg.h"

enum { LINE = 64, BLOCK = 16, MOST_IN_BLOCK = 16, MOST_BLOCKS = 4, MOST_GROUPS = 64 };

unsigned cg_tile_rows(const cg *g, unsigned bytes)
{
    return g->lanes * bytes >= BLOCK ? LINE / bytes : 0;
}

/* --- shuffles --- */

/* Interleaves units of `unit` elements within each block: the low or the high half of each block. */
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

/* Transposes square blocks: element e of block q of vector v becomes element v of block q of vector e. */
void cg_transpose_blocks(cg *g, unsigned elements, unsigned block, cg_ref *v)
{
    cg_ref next[MOST_IN_BLOCK];
    for (unsigned unit = 1; unit < block; unit *= 2) {
        for (unsigned base = 0; base < block; base += 2 * unit)
            for (unsigned c = 0; c < unit; c++)
                for (unsigned high = 0; high < 2; high++)
                    next[base + 2 * c + high] =
                        interleave(g, v[base + c], v[base + unit + c], elements, block, unit, high);
        for (unsigned i = 0; i < block; i++)
            v[i] = 2 * unit < block ? cg_opaque(g, next[i]) : next[i];
    }
}

/* --- functions of the module --- */

cg_ref cg_bytes_on(cg *g, cg_ref pointer, cg_ref bytes)
{
    return LLVMBuildGEP2(g->b, g->i8, pointer, &bytes, 1, "");
}

cg_ref cg_aligned(cg_ref access, unsigned align)
{
    LLVMSetAlignment(access, align);
    return access;
}

cg_ref cg_function(cg *g, const char *name, LLVMTypeRef *type, unsigned parameters)
{
    LLVMTypeRef f = LLVMFunctionType(LLVMVoidTypeInContext(g->context), type, parameters, false);
    cg_ref fn = LLVMAddFunction(g->module, name, f);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    cg_function_attributes(g, fn);
    unsigned kind = LLVMGetEnumAttributeKindForName("noinline", 8);
    LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(g->context, kind, 0));
    return fn;
}

/* Opens a function whose body runs once per group of `n` lanes. */
cg_copier cg_open_copier(cg *g, const char *name, LLVMTypeRef *type, unsigned parameters)
{
    cg_copier c = {.caller = cg_here(g)};
    c.fn = cg_function(g, name, type, parameters);
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

cg_ref cg_close_copier(cg *g, cg_copier *c, unsigned n)
{
    cg_ref next = LLVMBuildNSWAdd(g->b, c->group, cg_i64(g, n), "");
    LLVMBasicBlockRef last = cg_here(g);
    LLVMAddIncoming(c->group, &next, &last, 1);
    cg_ref lanes = c->lanes ? c->lanes : cg_i64(g, g->lanes);
    cg_cond(g, LLVMBuildICmp(g->b, LLVMIntSLT, next, lanes, ""), c->body, c->end);
    cg_at(g, c->end);
    LLVMBuildRetVoid(g->b);
    cg_at(g, c->caller);
    return c->fn;
}

/* Registers of 32 bytes, if there are any: wider ones transpose no faster on the machines measured. But blocks of two
 * elements take few shuffles, and those of the widest registers do not have to leave the processor before they can be
 * read as a whole. */
typedef struct {
    unsigned bytes, block, blocks, rows; /* of an element; elements of a block; blocks of a register; rows of a group */
    LLVMTypeRef in_block, in_register;
    cg_ref memory, step, buffer;
    bool apart; /* `step` is where the distances of rows are */
} tile;

/* Blocks of `block` bytes in registers of at most `most`. */
static tile tile_for(cg *g, unsigned bytes, unsigned block, unsigned most)
{
    tile t = {.bytes = bytes, .block = block / bytes, .blocks = 1};
    while (2 * t.blocks <= most / block && 2 * t.blocks * t.block <= g->lanes)
        t.blocks *= 2;
    LLVMTypeRef element = LLVMIntTypeInContext(g->context, 8 * bytes);
    t.rows = t.blocks * t.block;
    t.in_block = LLVMVectorType(element, t.block);
    t.in_register = LLVMVectorType(element, t.rows);
    return t;
}

static tile tile_of(cg *g, cg_ref fn, unsigned bytes, bool apart)
{
    bool widest = BLOCK / bytes == 2 && g->cpu.register_bytes > 2 * BLOCK;
    tile t = tile_for(g, bytes, BLOCK, widest ? g->cpu.register_bytes : 2 * BLOCK);
    t.apart = apart;
    t.memory = LLVMGetParam(fn, 0);
    t.step = LLVMGetParam(fn, 1);
    t.buffer = LLVMGetParam(fn, 2);
    return t;
}

static cg_ref block_of(cg *g, const tile *t, cg_ref v, unsigned number)
{
    int index[MOST_IN_BLOCK];
    for (unsigned i = 0; i < t->block; i++)
        index[i] = (int)(number * t->block + i);
    return t->blocks == 1 ? v : cg_shuffle(g, v, NULL, t->block, index);
}

/* pointer + row * step, in the form that needs fewest registers: four rows have an address, and the other three of them
 * are one, two and three steps behind it. */
static cg_ref row_of_group(cg *g, cg_ref pointer, unsigned row, cg_ref step)
{
    enum { TOGETHER = 4 };
    unsigned behind = row % TOGETHER;
    if (row >= TOGETHER)
        pointer = cg_bytes_on(g, pointer, LLVMBuildMul(g->b, step, cg_i64(g, row - behind), ""));
    return behind ? cg_bytes_on(g, pointer, LLVMBuildMul(g->b, step, cg_i64(g, behind), "")) : pointer;
}

/* How far the row of a lane is from the origin. */
static cg_ref distance_of(cg *g, cg_ref distances, cg_ref lane)
{
    return LLVMBuildLoad2(g->b, g->i64, LLVMBuildGEP2(g->b, g->i64, distances, &lane, 1, ""), "");
}

static cg_ref least(cg *g, cg_ref x, cg_ref y)
{
    LLVMTypeRef i64 = g->i64;
    return cg_call(g, "llvm.smin", 1, &i64, 2, (cg_ref[]){x, y});
}

/* Blocks of a group of rows: where they are in memory. */
typedef struct {
    const tile *t;
    cg_ref group; /* the group's first lane */
    cg_ref first; /* its row's block; of rows that are apart, the block of a row at the origin */
    cg_ref last;  /* the last lane that is on, counted from the group's first one: the lanes behind it stand at its row;
                     NULL: all of the group are on */
} place;

/* x, of which LLVM does not see how it was made. `here`: and it is made at this place. */
static cg_ref unseen(cg *g, cg_ref x, bool here)
{
    LLVMTypeRef own = LLVMTypeOf(x), type = LLVMFunctionType(own, &own, 1, false);
    cg_ref nothing = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, here, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(g->b, type, nothing, &x, 1, "");
}

/* The address is not seen, or LLVM would look for the best way to have as many addresses as there are rows go along
 * with the loop, which takes long and ends with more of them than there are registers. */
static place place_of(cg *g, const tile *t, const cg_copier *c, cg_ref q)
{
    place p = {.t = t, .group = c->group};
    p.first = cg_bytes_on(g, t->memory, LLVMBuildMul(g->b, q, cg_i64(g, BLOCK), ""));
    if (!t->apart)
        p.first = cg_bytes_on(g, p.first, LLVMBuildMul(g->b, c->group, t->step, ""));
    p.first = unseen(g, p.first, false);
    return p;
}

static cg_ref row_block(cg *g, const place *p, unsigned row)
{
    cg_ref lane = cg_i64(g, row);
    if (p->last)
        lane = least(g, lane, p->last);
    if (p->t->apart)
        return cg_bytes_on(g, p->first, distance_of(g, p->t->step, LLVMBuildAdd(g->b, p->group, lane, "")));
    if (!p->last)
        return row_of_group(g, p->first, row, p->t->step);
    return cg_bytes_on(g, p->first, LLVMBuildMul(g->b, lane, p->t->step, ""));
}

static cg_ref column(cg *g, const tile *t, const cg_copier *c, unsigned j, cg_ref q)
{
    cg_ref turn = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, q, cg_i64(g, t->block), ""), cg_i64(g, j), "");
    cg_ref at = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, turn, cg_i64(g, g->lanes), ""), c->group, "");
    return cg_bytes_on(g, t->buffer, LLVMBuildMul(g->b, at, cg_i64(g, t->bytes), ""));
}

/* mask: which elements of the blocks are read; NULL: all. */
static void load_blocks(cg *g, const place *p, cg_ref mask, cg_ref *v)
{
    const tile *t = p->t;
    cg_ref part[MOST_BLOCKS];
    for (unsigned i = 0; i < t->block; i++) {
        for (unsigned h = 0; h < t->blocks; h++) {
            cg_ref at = row_block(g, p, i + h * t->block);
            part[h] = mask ? cg_load_some(g, t->in_block, at, mask, true, NULL)
                           : cg_aligned(LLVMBuildLoad2(g->b, t->in_block, at, ""), t->bytes);
        }
        v[i] = cg_joined(g, t->blocks, part);
    }
}

static void store_blocks(cg *g, const place *p, cg_ref mask, const cg_ref *v)
{
    const tile *t = p->t;
    for (unsigned i = t->rows; i-- > 0;) { /* the last lane's row after those that stand at it, too */
        cg_ref at = row_block(g, p, i), block = block_of(g, t, v[i % t->block], i / t->block);
        if (mask)
            cg_masked_store(g, block, at, t->bytes, mask);
        else
            cg_aligned(LLVMBuildStore(g->b, block, at), t->bytes);
    }
}

/* A group's blocks at turn q * block. All of them are whole, or some lanes are off or fewer turns `left` than
 * `least_whole`: this concerns their places in memory only, what is between these and the buffer is the same code. */
static void copy_block(cg *g, cg_copy way, const tile *t, const cg_copier *c, cg_ref q, cg_ref left, cg_ref least_whole)
{
    LLVMBuilderRef b = g->b;
    LLVMTypeRef small = LLVMIntTypeInContext(g->context, 8 * t->bytes);
    LLVMBasicBlockRef whole = cg_block(g, "whole"), some = cg_block(g, "some"), end = cg_block(g, "moved");
    cg_ref v[MOST_IN_BLOCK], w[MOST_IN_BLOCK], block = cg_i64(g, t->block);
    place p = place_of(g, t, c, q);
    cg_ref is_whole = LLVMBuildICmp(b, LLVMIntSGE, left, least_whole, "");
    if (way == CG_FLUSH) {
        for (unsigned j = 0; j < t->block; j++)
            v[j] = cg_aligned(LLVMBuildLoad2(b, t->in_register, column(g, t, c, j, q), ""), t->rows * t->bytes);
        cg_transpose_blocks(g, t->rows, t->block, v);
    }
    cg_cond(g, is_whole, whole, some);

    cg_at(g, whole);
    if (way == CG_FILL)
        load_blocks(g, &p, NULL, v);
    else
        store_blocks(g, &p, NULL, v);
    cg_br(g, end);

    cg_at(g, some);
    cg_ref wanted = cg_splat_n(g, LLVMBuildIntCast2(b, least(g, left, block), small, false, ""), t->block);
    cg_ref mask = LLVMBuildICmp(b, LLVMIntULT, cg_iota(g, small, t->block), wanted, "");
    p.last = LLVMBuildSub(b, LLVMBuildSub(b, c->lanes, c->group, ""), cg_i64(g, 1), "");
    p.last = unseen(g, p.last, true); /* rare: not in front of the loop */
    if (way == CG_FILL)
        load_blocks(g, &p, mask, w);
    else
        store_blocks(g, &p, mask, v);
    some = cg_here(g);
    cg_br(g, end);

    cg_at(g, end);
    if (way == CG_FLUSH)
        return;
    for (unsigned i = 0; i < t->block; i++)
        v[i] = cg_phi2(g, v[i], whole, w[i], some);
    cg_transpose_blocks(g, t->rows, t->block, v);
    for (unsigned j = 0; j < t->block; j++)
        cg_aligned(LLVMBuildStore(b, v[j], column(g, t, c, j, q)), t->rows * t->bytes);
}

/* A line with each row, or with as many rows as make a line where these are one behind the other. Into the second
 * level, as the tile itself passes through the first; but no processor looks ahead for rows that are anywhere. */
static void prefetch_rows(cg *g, const tile *t, const cg_copier *c, unsigned turns)
{
    cg_ref ahead = LLVMGetParam(c->fn, 5), step = LLVMGetParam(c->fn, 6);
    cg_ref last = LLVMBuildSub(g->b, c->lanes, cg_i64(g, 1), "");
    if (!t->apart)
        ahead = cg_bytes_on(g, ahead, LLVMBuildMul(g->b, c->group, step, ""));
    for (unsigned r = 0; r < t->rows; r++) {
        if (!t->apart && r * turns * t->bytes % LINE != 0)
            continue;
        cg_ref lane = t->apart ? least(g, LLVMBuildAdd(g->b, c->group, cg_i64(g, r), ""), last) : NULL;
        cg_ref pointer =
            t->apart ? cg_bytes_on(g, ahead, distance_of(g, t->step, lane)) : row_of_group(g, ahead, r, step);
        cg_ref in[] = {pointer, cg_i32(g, 0), cg_i32(g, t->apart ? 3 : 2), cg_i32(g, 1)}; /* read, level, data */
        cg_call(g, "llvm.prefetch", 1, &g->ptr, 4, in);
    }
}

/* The first lanes on: block by block, the last one masked if the rows do not end with a block. */
static cg_ref whole_function(cg *g, cg_copy way, const cg_rows *rows)
{
    unsigned bytes = rows->bytes, turns = rows->rows;
    const char *name =
        arena_printf(g->arena, "%s%u_%u_of_%u%s%s", way == CG_FILL ? "fill" : "flush", bytes, turns, g->lanes,
                     rows->apart ? "_apart" : "", way == CG_FILL && !rows->ahead ? "_near" : "");
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef type[] = {g->ptr, rows->apart ? g->ptr : g->i64, g->ptr, g->i64, g->i64, g->ptr, g->i64};
    cg_copier c = cg_open_copier(g, name, type, rows->ahead ? 7 : 5);
    c.lanes = LLVMGetParam(c.fn, 4);
    tile t = tile_of(g, c.fn, bytes, rows->apart);
    if (rows->ahead)
        prefetch_rows(g, &t, &c, turns);
    cg_ref count = LLVMGetParam(c.fn, 3), never = LLVMBuildAdd(b, count, cg_i64(g, 1), "");
    cg_ref whole = LLVMBuildICmp(b, LLVMIntSGE, LLVMBuildSub(b, c.lanes, c.group, ""), cg_i64(g, t.rows), "");
    cg_ref least_whole = LLVMBuildSelect(b, whole, cg_i64(g, t.block), never, "");
    LLVMBasicBlockRef before = cg_here(g), each = cg_block(g, "block"), next = cg_block(g, "next");
    cg_br(g, each);
    cg_at(g, each);
    cg_ref q = LLVMBuildPhi(b, g->i64, "q");
    cg_ref left = LLVMBuildSub(b, count, LLVMBuildMul(b, q, cg_i64(g, t.block), ""), "");
    copy_block(g, way, &t, &c, q, left, least_whole);
    cg_ref more = LLVMBuildNSWAdd(b, q, cg_i64(g, 1), "");
    LLVMAddIncoming(q, (cg_ref[]){cg_i64(g, 0), more}, (LLVMBasicBlockRef[]){before, cg_here(g)}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSGT, left, cg_i64(g, t.block), ""), each, next);
    cg_at(g, next);
    return cg_close_copier(g, &c, t.rows);
}

/* --- rows that are anywhere, in registers --- */

/* Rows' stretches that are loaded at once. Of elements of 8 bytes they have 32 bytes where one instruction takes any
 * elements of two registers: half as many loads for as many shuffles. */
static unsigned stretch(const cg *g, unsigned bytes)
{
    return g->cpu.avx512 && bytes == 8 && g->lanes >= 4 ? 2 * BLOCK : BLOCK;
}

unsigned cg_turns_together(const cg *g, unsigned bytes)
{
    return stretch(g, bytes) / bytes;
}

/* The first `left` elements of a stretch, and no more than it has. */
static cg_ref first_of_stretch(cg *g, const tile *t, cg_ref left)
{
    LLVMTypeRef small = LLVMIntTypeInContext(g->context, 8 * t->bytes), i64 = g->i64;
    cg_ref some = cg_call(g, "llvm.smax", 1, &i64, 2, (cg_ref[]){least(g, left, cg_i64(g, t->block)), cg_i64(g, 0)});
    cg_ref wanted = cg_splat_n(g, LLVMBuildIntCast2(g->b, some, small, false, ""), t->block);
    return LLVMBuildICmp(g->b, LLVMIntULT, cg_iota(g, small, t->block), wanted, "");
}

/* Stretch q of the group's rows. */
static void load_stretches(cg *g, const cg_columns *c, const tile *t, unsigned q, unsigned group, cg_ref mask,
                           cg_ref *v)
{
    cg_ref part[MOST_BLOCKS], behind = LLVMBuildAdd(g->b, c->behind, cg_i64(g, q * t->block * t->bytes), "");
    for (unsigned i = 0; i < t->block; i++) {
        for (unsigned h = 0; h < t->blocks; h++) {
            cg_ref lane = cg_i64(g, group * t->rows + h * t->block + i);
            cg_ref row = LLVMBuildLoad2(g->b, g->ptr, LLVMBuildGEP2(g->b, g->i64, c->rows, &lane, 1, ""), "");
            row = cg_bytes_on(g, row, behind);
            part[h] = mask ? cg_load_some(g, t->in_block, row, mask, q == 0, NULL)
                           : cg_aligned(LLVMBuildLoad2(g->b, t->in_block, row, ""), t->bytes);
        }
        v[i] = cg_joined(g, t->blocks, part);
    }
}

/* `left`: so many turns are read; NULL: all. */
static void load_rows(cg *g, const cg_columns *c, const tile *t, cg_ref left, cg_ref *v)
{
    unsigned groups = g->lanes / t->rows;
    for (unsigned q = 0; q < c->turns / t->block; q++) {
        cg_ref here = left ? LLVMBuildSub(g->b, left, cg_i64(g, q * t->block), "") : NULL;
        cg_ref mask = left ? first_of_stretch(g, t, here) : NULL;
        for (unsigned k = 0; k < groups; k++)
            load_stretches(g, c, t, q, k, mask, v + (q * groups + k) * t->block);
    }
}

void cg_apart_columns(cg *g, const cg_columns *c, cg_ref *out)
{
    LLVMBuilderRef b = g->b;
    tile t = tile_for(g, c->bytes, stretch(g, c->bytes), g->cpu.register_bytes);
    unsigned groups = g->lanes / t.rows, n = c->turns * groups;
    cg_ref *v = arena_array(g->arena, *v, n), *w = arena_array(g->arena, *w, n);
    LLVMBasicBlockRef whole = cg_block(g, "whole"), some = cg_block(g, "some"), end = cg_block(g, "loaded");
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSGE, c->left, cg_i64(g, c->turns), ""), whole, some);
    cg_at(g, whole);
    load_rows(g, c, &t, NULL, v);
    whole = cg_here(g);
    cg_br(g, end);
    cg_at(g, some);
    load_rows(g, c, &t, c->left, w);
    some = cg_here(g);
    cg_br(g, end);
    cg_at(g, end);
    for (unsigned i = 0; i < n; i++)
        v[i] = cg_phi2(g, v[i], whole, w[i], some);
    for (unsigned i = 0; i < n; i += t.block)
        cg_transpose_blocks(g, t.rows, t.block, v + i);
    for (unsigned j = 0; j < c->turns; j++) {
        cg_ref part[MOST_GROUPS];
        for (unsigned k = 0; k < groups; k++)
            part[k] = v[(j / t.block * groups + k) * t.block + j % t.block];
        out[j] = cg_joined(g, groups, part);
    }
}

/* Into the first level, to be read. */
void cg_prefetch(cg *g, cg_ref at)
{
    cg_call(g, "llvm.prefetch", 1, &g->ptr, 4, (cg_ref[]){at, cg_i32(g, 0), cg_i32(g, 3), cg_i32(g, 1)});
}

/* void f(rows, behind): what lies so many bytes behind the beginning of each row. */
static cg_ref prefetch_rows_apart(cg *g)
{
    const char *name = arena_printf(g->arena, "ahead_of_%u_apart", g->lanes);
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    LLVMTypeRef type[] = {g->ptr, g->i64};
    cg_copier c = cg_open_copier(g, name, type, 2);
    cg_ref row = LLVMBuildGEP2(g->b, g->i64, LLVMGetParam(c.fn, 0), &c.group, 1, "");
    row = LLVMBuildLoad2(g->b, g->ptr, row, "");
    cg_prefetch(g, cg_bytes_on(g, row, LLVMGetParam(c.fn, 1)));
    return cg_close_copier(g, &c, 1);
}

void cg_prefetch_apart(cg *g, cg_ref rows, cg_ref behind)
{
    cg_call_copier(g, prefetch_rows_apart(g), (cg_ref[]){rows, behind}, 2);
}

/* Some lanes off, which is rare: element by element. */
static cg_ref part_function(cg *g, cg_copy way, const cg_rows *rows)
{
    unsigned bytes = rows->bytes;
    const char *name = arena_printf(g->arena, "%s%u_part_of_%u%s", way == CG_FILL ? "fill" : "flush", bytes, g->lanes,
                                    rows->apart ? "_apart" : "");
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    LLVMBuilderRef b = g->b;
    LLVMTypeRef element = LLVMIntTypeInContext(g->context, 8 * bytes),
                word = LLVMIntTypeInContext(g->context, g->lanes);
    LLVMTypeRef type[] = {g->ptr, rows->apart ? g->ptr : g->i64, g->ptr, g->i64, word};
    cg_copier c = cg_open_copier(g, name, type, 5);
    cg_ref bit = LLVMBuildLShr(b, LLVMGetParam(c.fn, 4), LLVMBuildIntCast2(b, c.group, word, false, ""), "");
    cg_ref step = LLVMGetParam(c.fn, 1);
    cg_ref distance = rows->apart ? distance_of(g, step, c.group) : LLVMBuildMul(b, c.group, step, "");
    cg_ref row = cg_bytes_on(g, LLVMGetParam(c.fn, 0), distance);
    cg_ref column = LLVMBuildGEP2(b, element, LLVMGetParam(c.fn, 2), &c.group, 1, "");
    LLVMBasicBlockRef on = cg_block(g, "on"), next = cg_block(g, "next"), before = cg_here(g);
    cg_cond(g, LLVMBuildTrunc(b, bit, g->i1, ""), on, next);
    cg_at(g, on);
    cg_ref j = LLVMBuildPhi(b, g->i64, "j"), at = LLVMBuildMul(b, j, cg_i64(g, g->lanes), "");
    cg_ref in_row = LLVMBuildGEP2(b, element, row, &j, 1, ""),
           in_column = LLVMBuildGEP2(b, element, column, &at, 1, "");
    cg_ref x = cg_aligned(LLVMBuildLoad2(b, element, way == CG_FILL ? in_row : in_column, ""), bytes);
    cg_aligned(LLVMBuildStore(b, x, way == CG_FILL ? in_column : in_row), bytes);
    cg_ref more = LLVMBuildNSWAdd(b, j, cg_i64(g, 1), "");
    LLVMAddIncoming(j, (cg_ref[]){cg_i64(g, 0), more}, (LLVMBasicBlockRef[]){before, on}, 2);
    cg_cond(g, LLVMBuildICmp(b, LLVMIntSLT, more, LLVMGetParam(c.fn, 3), ""), on, next);
    cg_at(g, next);
    return cg_close_copier(g, &c, 1);
}

void cg_call_copier(cg *g, cg_ref f, cg_ref *in, unsigned n)
{
    LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, in, n, "");
}

/* `first`: how many lanes are on, the first ones; NULL: all. */
static void call_whole(cg *g, cg_copy way, const cg_rows *r, cg_ref first)
{
    cg_ref lanes = first ? first : cg_i64(g, g->lanes);
    cg_ref in[] = {r->memory, r->apart ? r->apart : r->step, r->buffer, r->count, lanes, r->ahead, r->ahead_step};
    cg_call_copier(g, whole_function(g, way, r), in, r->ahead ? 7 : 5);
}

static void call_part(cg *g, cg_copy way, const cg_rows *r)
{
    cg_ref step = r->apart ? r->apart : r->step;
    cg_ref in[] = {r->memory, step, r->buffer, r->count, cg_mask_bits(g, cg_mask_or_all(g))};
    cg_call_copier(g, part_function(g, way, r), in, 5);
}

void cg_copy_tile(cg *g, cg_copy way, const cg_rows *r)
{
    if (!g->mask.on || (g->mask.first && g->mask.some)) {
        call_whole(g, way, r, g->mask.on ? g->mask.first : NULL);
        return;
    }
    if (!g->mask.full) {
        call_part(g, way, r);
        return;
    }
    LLVMBasicBlockRef yes = cg_block(g, "tile"), no = cg_block(g, "tile.part"), end = cg_block(g, "tile.end");
    cg_cond(g, g->mask.full, yes, no);
    cg_at(g, yes);
    call_whole(g, way, r, NULL);
    cg_br(g, end);
    cg_at(g, no);
    call_part(g, way, r);
    cg_br(g, end);
    cg_at(g, end);
}
