/* Rows of a few elements without gaps between them: read as one stretch and taken apart by shuffles. */
#include "emit/cpu/llvm/cg.h"

enum { LINE = 64, AHEAD = 3072 };

static cg_ref every_second(cg *g, cg_ref x, cg_ref y, unsigned n, bool odd)
{
    int index[64];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(i * 2 + odd);
    return cg_shuffle(g, x, y, n, index);
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
        for (unsigned l = 0; l < lists; l++)
            for (unsigned i = 0; i < length / 2; i++) {
                cg_ref a = work[from][l * length + 2 * i], b = work[from][l * length + 2 * i + 1];
                for (unsigned odd = 0; odd < 2; odd++)
                    work[from ^ 1][(l + odd * lists) * (length / 2) + i] = every_second(g, a, b, elements, odd);
            }
    }
    memcpy(out, work[from], n * sizeof(*out));
}

bool cg_has_dense(const cg *g, unsigned bytes, unsigned columns)
{
    return columns >= 2 && columns <= CG_MOST_COLUMNS && columns <= cg_tile_rows(g, bytes);
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

static unsigned group_of(const cg *g, unsigned bytes)
{
    return LINE / bytes < g->lanes ? LINE / bytes : g->lanes;
}

/* The columns of as many rows as a line has elements. */
static void dense_group(cg *g, unsigned bytes, unsigned columns, cg_ref from, cg_ref *out)
{
    unsigned n = group_of(g, bytes);
    LLVMTypeRef vector = LLVMVectorType(LLVMIntTypeInContext(g->context, 8 * bytes), n);
    cg_ref x[CG_MOST_COLUMNS];
    for (unsigned j = 0; j < columns; j++) {
        cg_ref at = cg_bytes_on(g, from, cg_i64(g, (int64_t)j * n * bytes));
        cg_ref in[] = {cg_bytes_on(g, at, cg_i64(g, AHEAD)), cg_i32(g, 0), cg_i32(g, 2), cg_i32(g, 1)};
        cg_call(g, "llvm.prefetch", 1, &g->ptr, 4, in);
        x[j] = cg_aligned(LLVMBuildLoad2(g->b, vector, at, ""), bytes);
    }
    if ((columns & (columns - 1)) == 0)
        deal(g, columns, n, x, out);
    else
        for (unsigned j = 0; j < columns; j++)
            out[j] = pick_column(g, x, n, columns, j);
}

static cg_ref dense_function(cg *g, unsigned bytes, unsigned columns)
{
    const char *name = arena_printf(g->arena, "dense%u_%u_of_%u", bytes, columns, g->lanes);
    cg_ref f = LLVMGetNamedFunction(g->module, name);
    if (f)
        return f;
    unsigned n = group_of(g, bytes);
    cg_ref column[CG_MOST_COLUMNS];
    cg_copier c = cg_open_copier(g, name, (LLVMTypeRef[]){g->ptr, g->ptr}, 2);
    cg_ref lane_bytes = LLVMBuildMul(g->b, c.group, cg_i64(g, bytes), "");
    cg_ref from = LLVMBuildMul(g->b, lane_bytes, cg_i64(g, columns), "");
    cg_ref to = cg_bytes_on(g, LLVMGetParam(c.fn, 1), lane_bytes);
    dense_group(g, bytes, columns, cg_bytes_on(g, LLVMGetParam(c.fn, 0), from), column);
    for (unsigned j = 0; j < columns; j++) {
        cg_ref at = cg_bytes_on(g, to, cg_i64(g, (int64_t)j * g->lanes * bytes));
        cg_aligned(LLVMBuildStore(g->b, column[j], at), n * bytes);
    }
    return cg_close_copier(g, &c, n);
}

void cg_fill_dense(cg *g, unsigned bytes, unsigned columns, cg_ref memory, cg_ref buffer)
{
    cg_call_copier(g, dense_function(g, bytes, columns), (cg_ref[]){memory, buffer}, 2);
}

/* Vectors joined pairwise until one is left. */
static cg_ref joined(cg *g, cg_ref *part, unsigned parts, unsigned n)
{
    int index[256];
    for (unsigned i = 0; i < 256; i++)
        index[i] = (int)i;
    for (; parts > 1; parts /= 2, n *= 2)
        for (unsigned i = 0; i < parts / 2; i++)
            part[i] = cg_shuffle(g, part[2 * i], part[2 * i + 1], 2 * n, index);
    return part[0];
}

void cg_dense_columns(cg *g, unsigned bytes, unsigned columns, cg_ref memory, cg_ref *out)
{
    unsigned n = group_of(g, bytes), groups = g->lanes / n;
    cg_ref part[CG_MOST_COLUMNS][CG_MOST_GROUPS], column[CG_MOST_COLUMNS];
    for (unsigned i = 0; i < groups; i++) {
        dense_group(g, bytes, columns, cg_bytes_on(g, memory, cg_i64(g, (int64_t)i * n * columns * bytes)), column);
        for (unsigned j = 0; j < columns; j++)
            part[j][i] = column[j];
    }
    for (unsigned j = 0; j < columns; j++)
        out[j] = joined(g, part[j], groups, n);
}
