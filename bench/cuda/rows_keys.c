/* Sorts, sums by keys and by segments, and elements that go to places of their own: the programs, and what both sides
 * do for one run. */
#include "rows.h"

enum { FEW_BINS = 256, MANY_BINS = 1 << 20 };

#define BODY(name)                                                                                                     \
    static sn_body name##_body(struct work *w)                                                                         \
    {                                                                                                                  \
        (void)w;                                                                                                       \
        return SN_BODY(name);                                                                                          \
    }

/* --- sorts --- */

static sn_acc sort_keys(sn_acc key)
{
    return sn_sort(key);
}

BODY(sort_keys)

static sn_acc sort_pairs(sn_acc key, sn_acc value)
{
    return sn_sort_by_key(key, value);
}

BODY(sort_pairs)

static sn_acc unique(sn_acc key)
{
    return sn_unique(key);
}

BODY(unique)

/* --- by keys --- */

static sn_acc histogram_256(sn_acc keys)
{
    return sn_histogram(FEW_BINS, keys);
}

BODY(histogram_256)

static sn_acc histogram_1m(sn_acc keys)
{
    return sn_histogram(MANY_BINS, keys);
}

BODY(histogram_1m)

static sn_acc sum_by_key(sn_acc keys, sn_acc values)
{
    return sn_reduce_by_key(sn_add, 0, MANY_BINS, keys, values);
}

BODY(sum_by_key)

static bool fill_sum_by_key(const struct work *w, int number, struct data *to)
{
    if (!data_alloc(to, number == 0 ? SN_U32 : SN_I32, w->n, 0))
        return false;
    for (int64_t i = 0; i < w->n; i++)
        ((int32_t *)to->at)[i] = (int32_t)(data_unit(i, number) * (number == 0 ? MANY_BINS : 1000));
    return true;
}

static bool sum_by_key_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->in[1], &w->out[0], &w->n};
    return gpu_clear(g, w->out[0], (size_t)MANY_BINS * sizeof(int32_t)) &&
           gpu_launch(g, "sum_by_key", blocks_for(w->n / 4), arguments);
}

/* --- by segments --- */

static sn_acc segsum(sn_acc offsets, sn_acc x)
{
    return sn_sum_seg(sn_segments_from_offsets(offsets), x);
}

BODY(segsum)

static bool floats(struct data *to, int64_t n, int number)
{
    if (!data_alloc(to, SN_F32, n, 0))
        return false;
    for (int64_t i = 0; i < n; i++)
        ((float *)to->at)[i] = (float)data_unit(i, number);
    return true;
}

/* Segments of one length, or of 1 to about twice as many elements. */
static bool offsets(struct data *to, int64_t n, int64_t length, bool uneven)
{
    int64_t segments = n / length;
    if (!data_alloc(to, SN_I64, segments + 1, 0))
        return false;
    int64_t *at = to->at;
    for (int64_t i = 0; i < segments; i++)
        at[i] = i * length + (uneven && i > 0 ? (int64_t)(data_unit(i, 0) * (double)length) : 0);
    at[segments] = n;
    return true;
}

static bool fill_segsum(const struct work *w, int number, struct data *to)
{
    return number ? floats(to, w->n, number) : offsets(to, w->n, w->row->segment, w->row->uneven);
}

static sn_scalar times(void *vector, sn_scalar column, sn_scalar x)
{
    return sn_mul(x, sn_index(*(const sn_acc *)vector, column));
}

static sn_acc csr(sn_acc offset, sn_acc column, sn_acc x, sn_acc vector)
{
    sn_acc products = sn_zip_with(sn_closure(times, &vector), column, x);
    return sn_sum_seg(sn_segments_from_offsets(offset), products);
}

BODY(csr)

static bool fill_csr(const struct work *w, int number, struct data *to)
{
    if (number == 0)
        return offsets(to, w->n, w->width, true);
    if (number > 1)
        return floats(to, number == 2 ? w->n : w->height, number);
    if (!data_alloc(to, SN_I32, w->n, 0))
        return false;
    for (int64_t i = 0; i < w->n; i++)
        ((int32_t *)to->at)[i] = (int32_t)(data_unit(i, number) * (double)w->height);
    return true;
}

static bool csr_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->in[1], &w->in[2], &w->in[3], &w->out[0], &w->height};
    return gpu_launch(g, "csr", blocks_for(w->height * 8), arguments);
}

/* --- to places and from them: a permutation without order --- */

static int64_t place_of(int64_t i, int64_t n) /* n: a power of 2 */
{
    uint64_t mask = (uint64_t)n - 1, x = (uint64_t)i * 0x9e3779b97f4a7c15u & mask;
    x ^= x >> 9;
    return (int64_t)(x * 0xbf58476d1ce4e5b9u & mask);
}

static bool fill_places(const struct work *w, int number, struct data *to)
{
    if (number)
        return floats(to, w->n, number);
    if (!data_alloc(to, SN_I32, w->n, 0))
        return false;
    for (int64_t i = 0; i < w->n; i++)
        ((int32_t *)to->at)[i] = (int32_t)place_of(i, w->n);
    return true;
}

static sn_acc gather(sn_acc places, sn_acc x)
{
    return sn_gather(places, x);
}

BODY(gather)

static bool gather_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->in[1], &w->out[0], &w->n};
    return gpu_launch(g, "gather", blocks_for(w->n / 4), arguments);
}

static sn_acc scatter(sn_acc places, sn_acc x)
{
    return sn_scatter(places, sn_fill(sn_shape_of(x), sn_f32(0)), x);
}

BODY(scatter)

static bool scatter_cuda(struct gpu *g, struct work *w)
{
    void *arguments[] = {&w->in[0], &w->in[1], &w->out[0], &w->n};
    return gpu_clear(g, w->out[0], (size_t)w->n * sizeof(float)) &&
           gpu_launch(g, "scatter", blocks_for(w->n / 4), arguments);
}

#define SEGSUM(of, length, random)                                                                                     \
    {                                                                                                                  \
        .name = "segsum_" of, .signature = "[m]i64, [n]f32 -> [s]f32", .height = 1, .width = 1 << 26,                  \
        .bytes = 4 + 12.0 / (length), .inputs = 2, .outputs = 1, .segment = length, .uneven = random,                  \
        .fill = fill_segsum, .body = segsum_body                                                                       \
    }

const struct row rows_keys[] = {
    {.name = "sort_keys",
     .signature = "[n]u32 -> [n]u32",
     .height = 1,
     .width = 1 << 24,
     .bytes = 8,
     .inputs = 1,
     .outputs = 1,
     .input = SN_U32,
     .high = 4294967296.0f,
     .body = sort_keys_body},
    {.name = "sort_pairs",
     .signature = "[n]u32, [n]u32 -> [n](u32, u32)",
     .height = 1,
     .width = 1 << 24,
     .bytes = 16,
     .inputs = 2,
     .outputs = 2,
     .input = SN_U32,
     .high = 4294967296.0f,
     .body = sort_pairs_body},
    {.name = "unique",
     .signature = "[n]u32 -> [k]u32",
     .height = 1,
     .width = 1 << 24,
     .bytes = 5,
     .inputs = 1,
     .outputs = 1,
     .input = SN_U32,
     .high = 1 << 22,
     .body = unique_body},
    {.name = "histogram_256",
     .signature = "[n]u8 -> [256]i64",
     .height = 1,
     .width = 100000000,
     .bytes = 1,
     .inputs = 1,
     .outputs = 1,
     .input = SN_U8,
     .high = FEW_BINS,
     .body = histogram_256_body},
    {.name = "histogram_1m",
     .signature = "[n]u32 -> [1048576]i64",
     .height = 1,
     .width = 1 << 26,
     .bytes = 4,
     .inputs = 1,
     .outputs = 1,
     .input = SN_U32,
     .high = MANY_BINS,
     .body = histogram_1m_body},
    {.name = "sum_by_key",
     .signature = "[n]u32, [n]i32 -> [1048576]i32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 8,
     .inputs = 2,
     .outputs = 1,
     .output = {SN_I32},
     .elements = MANY_BINS,
     .fill = fill_sum_by_key,
     .body = sum_by_key_body,
     .cuda = sum_by_key_cuda},
    SEGSUM("16", 16, false),
    SEGSUM("64", 64, false),
    SEGSUM("1024", 1024, false),
    SEGSUM("random", 64, true),
    {.name = "csr",
     .signature = "[m]i64, [n]i32, [n]f32, [k]f32 -> [s]f32",
     .height = 1 << 20,
     .width = 16,
     .bytes = 9,
     .inputs = 4,
     .outputs = 1,
     .shape = A_ROW_EACH,
     .tolerance = 1e-5,
     .fill = fill_csr,
     .body = csr_body,
     .cuda = csr_cuda},
    {.name = "gather",
     .signature = "[n]i32, [n]f32 -> [n]f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 12,
     .inputs = 2,
     .outputs = 1,
     .fill = fill_places,
     .body = gather_body,
     .cuda = gather_cuda},
    {.name = "scatter",
     .signature = "[n]i32, [n]f32 -> [n]f32",
     .height = 1,
     .width = 1 << 26,
     .bytes = 12,
     .inputs = 2,
     .outputs = 1,
     .fill = fill_places,
     .body = scatter_body,
     .cuda = scatter_cuda},
    {0},
};
