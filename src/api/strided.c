/* Arrays of the caller whose elements are apart: copied to contiguous memory in row-major order. */
#include "api/api.h"

enum { TILE = 32 }; /* elements: a tile of both sides stays in the first cache */

typedef struct walk { /* dimensions left to walk, innermost last; those of one element are gone */
    int rank;
    int64_t extent[IR_MAX_RANK];
    int64_t from[IR_MAX_RANK], to[IR_MAX_RANK]; /* bytes between neighbours */
} walk;

sn_arg sn_strided_of(sn_type type, const void *pointer, int rank, const int64_t *extents, const int64_t *strides)
{
    sn_arg a = {.kind = SN_ARG_IN, .type = type, .rank = rank, .stride = strides, .u = {.from = pointer}};
    if (rank > 0 && (!extents || !strides))
        a.rank = -1; /* refused wherever it is used */
    for (int d = 0; d < a.rank && d < IR_MAX_RANK; d++)
        a.extent[d] = extents[d];
    return a;
}

bool api_contiguous(ir_type type, int rank, const int64_t *extent, const int64_t *stride)
{
    int64_t wanted = (int64_t)ir_type_size(type);
    bool same = true;
    for (int d = rank - 1; d >= 0; d--) {
        if (extent[d] == 0)
            return true;
        same = same && (extent[d] == 1 || stride[d] == wanted);
        if (__builtin_mul_overflow(wanted, extent[d], &wanted))
            return false;
    }
    return same;
}

bool api_needs_copy(const sn_arg *a)
{
    if (!a->stride)
        return false;
    return !api_contiguous((ir_type)a->type, a->rank, a->extent, a->stride) ||
           (uintptr_t)a->u.from % ir_type_size((ir_type)a->type);
}

/* Neighbouring dimensions that are one in both places become one. */
static walk plan_walk(size_t size, int rank, const int64_t *extent, const int64_t *stride)
{
    walk w = {0};
    int64_t to[IR_MAX_RANK];
    size_strides(size, (unsigned)rank, extent, to);
    for (int d = 0; d < rank; d++) {
        if (extent[d] == 1)
            continue;
        int64_t span;
        int last = w.rank - 1;
        bool known = !__builtin_mul_overflow(stride[d], extent[d], &span);
        if (last >= 0 && known && w.from[last] == span) { /* so is `to`, always */
            w.extent[last] *= extent[d];
            w.from[last] = stride[d];
            w.to[last] = to[d];
            continue;
        }
        w.extent[w.rank] = extent[d];
        w.from[w.rank] = stride[d];
        w.to[w.rank++] = to[d];
    }
    return w;
}

static inline void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_step, from + i * from_step, size);
}

/* The size is a constant in each copy of the loop. */
static void row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, size_t size)
{
    if (from_step == (int64_t)size && to_step == from_step)
        memcpy(to, from, (size_t)n * size);
    else if (size == 1)
        copy_row(to, to_step, from, from_step, n, 1);
    else if (size == 2)
        copy_row(to, to_step, from, from_step, n, 2);
    else if (size == 4)
        copy_row(to, to_step, from, from_step, n, 4);
    else
        copy_row(to, to_step, from, from_step, n, 8);
}

/* A tile whose columns are contiguous in the source: by way of a small copy, so that on both sides neighbours are taken
 * together. One element from each of many rows would be one from each of many pages, which share places in the caches. */
static void turned_tile(const walk *w, char *to, const char *from, int64_t rows, int64_t columns, size_t size)
{
    const int y = w->rank - 2, x = w->rank - 1;
    char tile[TILE * TILE * sizeof(int64_t)];
    const size_t column = TILE * size;
    for (int64_t k = 0; k < columns; k++)
        memcpy(tile + (size_t)k * column, from + k * w->from[x], (size_t)rows * size);
    for (int64_t r = 0; r < rows; r++)
        row(to + r * w->to[y], w->to[x], tile + (size_t)r * size, (int64_t)column, columns, size);
}

/* The two innermost dimensions. */
static void plane(const walk *w, char *to, const char *from, size_t size)
{
    const int y = w->rank - 2, x = w->rank - 1;
    if (w->from[y] != (int64_t)size) {
        for (int64_t i = 0; i < w->extent[y]; i++)
            row(to + i * w->to[y], w->to[x], from + i * w->from[y], w->from[x], w->extent[x], size);
        return;
    }
    for (int64_t i = 0; i < w->extent[y]; i += TILE)
        for (int64_t k = 0; k < w->extent[x]; k += TILE) {
            int64_t rows = w->extent[y] - i < TILE ? w->extent[y] - i : TILE;
            int64_t columns = w->extent[x] - k < TILE ? w->extent[x] - k : TILE;
            turned_tile(w, to + i * w->to[y] + k * w->to[x], from + i * w->from[y] + k * w->from[x], rows, columns,
                        size);
        }
}

/* The dimension that is contiguous in the source, if it is an outer one, changes places with the last but one: tiles
 * work on the pair. */
static void pair_up(walk *w, size_t size)
{
    const int y = w->rank - 2;
    for (int d = 0; d < y; d++)
        if (w->from[d] == (int64_t)size) {
            const int64_t extent = w->extent[d], from = w->from[d], to = w->to[d];
            w->extent[d] = w->extent[y], w->from[d] = w->from[y], w->to[d] = w->to[y];
            w->extent[y] = extent, w->from[y] = from, w->to[y] = to;
            return;
        }
}

void api_gather(void *to, const void *from, ir_type type, int rank, const int64_t *extent, const int64_t *stride)
{
    const size_t size = ir_type_size(type);
    for (int d = 0; d < rank; d++)
        if (extent[d] == 0)
            return;
    walk w = plan_walk(size, rank, extent, stride);
    if (w.rank < 2) {
        row(to, (int64_t)size, from, w.rank ? w.from[0] : 0, w.rank ? w.extent[0] : 1, size);
        return;
    }
    pair_up(&w, size);
    int64_t index[IR_MAX_RANK] = {0};
    char *out = to;
    const char *in = from;
    for (;;) {
        plane(&w, out, in, size);
        int d = w.rank - 3;
        while (d >= 0 && ++index[d] == w.extent[d]) {
            out -= (w.extent[d] - 1) * w.to[d];
            in -= (w.extent[d] - 1) * w.from[d];
            index[d--] = 0;
        }
        if (d < 0)
            return;
        out += w.to[d];
        in += w.from[d];
    }
}
