/* Rows of a few elements without gaps between them: read as one stretch and taken apart by shuffles. */
#include "emit/cpu/llvm/cg.h"

enum { LINE = 64, AHEAD = 3072, BLOCK = 16, MOST_IN_BLOCK = 4 };

static cg_ref every_second(cg *g, cg_ref x, cg_ref y, unsigned n, bool odd)
{
    int index[64];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(i * 2 + odd);
    return cg_permute(g, x, y, n, index);
}

/* Is there one that makes a vector of any elements of two? Else LLVM finds what several rounds have in common. */
static bool one_instruction(const cg *g, unsigned elements)
{
    return g->cpu.avx512 && (g->cpu.vbmi || elements * 2 <= LINE);
}

/* out[j] = elements j, n + j, 2 n + j ... of the n vectors x, n a power of two. */
static void deal(cg *g, unsigned n, unsigned elements, cg_ref *x, cg_ref *out)
{
    cg_ref work[2][CG_MOST_COLUMNS];
    memcpy(work[0], x, n * sizeof(*x));
    unsigned from = 0;
    /* Lists of equal length, one behind the other; each round splits every list into its even and its odd elements. */
    for (unsigned lists = 1; lists < n; lists *= 2, from ^= 1) {
        unsigned length = n / lists;
        bool last = 2 * lists == n || !one_instruction(g, elements);
        for (unsigned l = 0; l < lists; l++)
            for (unsigned i = 0; i < length / 2; i++) {
                cg_ref a = work[from][l * length + 2 * i], b = work[from][l * length + 2 * i + 1];
                for (unsigned odd = 0; odd < 2; odd++) {
                    cg_ref half = every_second(g, a, b, elements, odd);
                    work[from ^ 1][(l + odd * lists) * (length / 2) + i] = last ? half : cg_opaque(g, half);
                }
            }
    }
    memcpy(out, work[from], n * sizeof(*out));
}

bool cg_has_dense(const cg *g, unsigned bytes, unsigned columns)
{
    return columns >= 2 && columns <= CG_MOST_DEALT && columns <= cg_tile_rows(g, bytes);
}

bool cg_has_columns(const cg *g, unsigned bytes, unsigned columns)
{
    bool blocks = columns > CG_MOST_DEALT && columns <= CG_MOST_COLUMNS && (bytes == 4 || bytes == 8);
    return cg_has_dense(g, bytes, columns) || (blocks && g->lanes * bytes >= BLOCK);
}

/* Column j of `columns` consecutive vectors of n elements, by one shuffle per vector but the first. */
static cg_ref pick_column(cg *g, const cg_ref *x, unsigned n, unsigned columns, unsigned j)
{
    cg_ref r = x[0];
    int index[64];
    for (unsigned part = 1; part < columns; part++) {
        for (unsigned i = 0; i < n; i++) {
            unsigned at = i * columns + j, lane = at % n;
            int before = part > 1 ? (int)i : at / n == 0 ? (int)lane : -1;
            index[i] = at / n == part ? (int)(n + lane) : before;
        }
        r = cg_permute(g, r, x[part], n, index);
    }
    return r;
}

static unsigned group_of(const cg *g, unsigned bytes)
{
    return LINE / bytes < g->lanes ? LINE / bytes : g->lanes;
}

/* Into the first level: prefetches into the second one took as long as the loads where all is in the third. */
static void look_ahead(cg *g, cg_ref at, bool far)
{
    if (far && g->cpu.looks_on)
        return;
    cg_prefetch(g, far ? cg_line_of_pages(g, at, CG_PAGES_AHEAD) : cg_bytes_on(g, at, cg_i64(g, AHEAD)));
}

/* The first elements of a vector that are there; the others are zero. */
static cg_ref load_some(cg *g, LLVMTypeRef vector, cg_ref at, unsigned bytes, unsigned some)
{
    cg_ref lane[LINE];
    const unsigned n = LLVMGetVectorSize(vector);
    if (!some)
        return cg_zero(vector);
    if (some >= n)
        return cg_aligned(LLVMBuildLoad2(g->b, vector, at, ""), bytes);
    for (unsigned i = 0; i < n; i++)
        lane[i] = LLVMConstInt(g->i1, i < some, false);
    return cg_masked_load(g, vector, at, bytes, LLVMConstVector(lane, n));
}

/* The columns of as many rows as a line has elements, the last row having `reach`. */
static void dense_group(cg *g, unsigned bytes, unsigned columns, cg_ref from, unsigned reach, bool far, cg_ref *out)
{
    unsigned n = group_of(g, bytes), elements = (n - 1) * columns + reach;
    LLVMTypeRef vector = LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * bytes), n);
    cg_ref x[CG_MOST_COLUMNS];
    for (unsigned j = 0; j < columns; j++) {
        cg_ref at = cg_bytes_on(g, from, cg_i64(g, (int64_t)j * n * bytes));
        look_ahead(g, at, far);
        x[j] = load_some(g, vector, at, bytes, elements > j * n ? elements - j * n : 0);
    }
    if ((columns & (columns - 1)) == 0)
        deal(g, columns, n, x, out);
    else
        for (unsigned j = 0; j < columns; j++)
            out[j] = pick_column(g, x, n, columns, j);
}

static cg_ref dense_function(cg *g, unsigned bytes, unsigned columns, bool far)
{
    const char *name = arena_printf(g->arena, "dense%u_%u_of_%u%s", bytes, columns, g->lanes, far ? "_far" : "");
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    unsigned n = group_of(g, bytes);
    cg_ref column[CG_MOST_COLUMNS];
    cg_copier c = cg_open_copier(g, name, (LLVMTypeRef[]){g->ptr, g->ptr}, 2);
    cg_ref lane_bytes = LLVMBuildMul(g->b, c.group, cg_i64(g, bytes), "");
    cg_ref from = LLVMBuildMul(g->b, lane_bytes, cg_i64(g, columns), "");
    cg_ref to = cg_bytes_on(g, LLVMGetParam(c.fn, 1), lane_bytes);
    dense_group(g, bytes, columns, cg_bytes_on(g, LLVMGetParam(c.fn, 0), from), columns, far, column);
    for (unsigned j = 0; j < columns; j++) {
        cg_ref at = cg_bytes_on(g, to, cg_i64(g, (int64_t)j * g->lanes * bytes));
        cg_aligned(LLVMBuildStore(g->b, column[j], at), n * bytes);
    }
    return cg_close_copier(g, &c, n);
}

void cg_fill_dense(cg *g, unsigned bytes, unsigned columns, cg_ref memory, bool far, cg_ref buffer)
{
    cg_call_copier(g, dense_function(g, bytes, columns, far), (cg_ref[]){memory, buffer}, 2);
}

/* --- longer rows, in blocks of 16 bytes; the last block of a row ends where the row does, and overlaps --- */

/* Where the block behind that at column `at` begins. */
static unsigned next_block(unsigned at, unsigned block, unsigned columns)
{
    return at + 2 * block > columns ? columns - block : at + block;
}

static cg_ref block_of_row(cg *g, unsigned bytes, unsigned columns, cg_ref from, unsigned row, unsigned at)
{
    return cg_bytes_on(g, from, cg_i64(g, ((int64_t)row * columns + at) * bytes));
}

/* The columns of n rows, as dense_group has them. */
static void blocks_group(cg *g, unsigned bytes, unsigned columns, cg_ref from, bool far, cg_ref *out)
{
    unsigned n = group_of(g, bytes), block = BLOCK / bytes, blocks = n / block;
    LLVMTypeRef in_block = LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * bytes), block);
    cg_ref part[LINE / BLOCK], x[MOST_IN_BLOCK];
    for (unsigned j = 0; j < columns; j++)
        look_ahead(g, cg_bytes_on(g, from, cg_i64(g, (int64_t)j * n * bytes)), far);
    for (unsigned at = 0, end = 0; end < columns; at = next_block(at, block, columns)) {
        for (unsigned i = 0; i < block; i++) {
            for (unsigned q = 0; q < blocks; q++)
                part[q] = cg_aligned(
                    LLVMBuildLoad2(g->b, in_block, block_of_row(g, bytes, columns, from, q * block + i, at), ""),
                    bytes);
            x[i] = cg_joined(g, blocks, part);
        }
        cg_transpose_blocks(g, n, block, x);
        memcpy(out + at, x, block * sizeof(*x));
        end = at + block;
    }
}

static cg_ref lanes_of(cg *g, cg_ref x, unsigned first, unsigned n)
{
    int index[256];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(first + i);
    return cg_shuffle(g, x, NULL, n, index);
}

static void store_blocks(cg *g, unsigned bytes, unsigned columns, const cg_ref *column, unsigned first, cg_ref to)
{
    unsigned n = group_of(g, bytes), block = BLOCK / bytes;
    cg_ref x[MOST_IN_BLOCK];
    for (unsigned at = 0, end = 0; end < columns; at = next_block(at, block, columns)) {
        for (unsigned i = 0; i < block; i++)
            x[i] = lanes_of(g, column[at + i], first, n);
        cg_transpose_blocks(g, n, block, x);
        for (unsigned row = 0; row < n; row++)
            cg_aligned(LLVMBuildStore(g->b, lanes_of(g, x[row % block], row - row % block, block),
                                      block_of_row(g, bytes, columns, to, first + row, at)),
                       bytes);
        end = at + block;
    }
}

void cg_store_rows(cg *g, unsigned bytes, unsigned columns, const cg_ref *column, cg_ref to)
{
    for (unsigned first = 0; first < g->lanes; first += group_of(g, bytes))
        store_blocks(g, bytes, columns, column, first, to);
}

void cg_dense_columns(cg *g, unsigned bytes, unsigned columns, cg_ref memory, unsigned reach, bool far, cg_ref *out)
{
    unsigned n = group_of(g, bytes), groups = g->lanes / n;
    cg_ref part[CG_MOST_COLUMNS][CG_MOST_GROUPS], column[CG_MOST_COLUMNS];
    for (unsigned i = 0; i < groups; i++) {
        cg_ref from = cg_bytes_on(g, memory, cg_i64(g, (int64_t)i * n * columns * bytes));
        if (columns > CG_MOST_DEALT)
            blocks_group(g, bytes, columns, from, far, column);
        else
            dense_group(g, bytes, columns, from, i + 1 < groups ? columns : reach, far, column);
        for (unsigned j = 0; j < columns; j++)
            part[j][i] = column[j];
    }
    for (unsigned j = 0; j < columns; j++)
        out[j] = cg_joined(g, groups, part[j]);
}
