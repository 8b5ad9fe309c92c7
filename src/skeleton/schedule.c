/* The schedules that there are, which of them a launch takes, and kernels of them. */
#include "skeleton/extents.h"
#include "skeleton/map/map.h"

#include "kernel/narrow.h"

/* classes of clusters */
enum {
    OF_PLAIN = 1 << L_CLASS_PLAIN,
    OF_STENCIL = 1 << L_CLASS_STENCIL,
    OF_FOLD = 1 << L_CLASS_FOLD,
    OF_ROW = 1 << L_CLASS_ROW,
    OF_SORT = 1 << L_CLASS_SORT,
    OF_PERMUTE = 1 << L_CLASS_PERMUTE,
    OF_SEGMENT = 1 << L_CLASS_SEGMENT,
    OF_TILES = 1 << L_CLASS_TILES
};

typedef struct schedule {
    unsigned classes; /* that it is for */
    const char *name; /* of its kernels */
    bool (*launch)(const sk_call *x, sk_geometry *g);
    void (*build)(sk_lower *lw);
} schedule;

static const schedule table[SK_VARIANTS] = {
    [SK_MAP_ALONG] = {OF_PLAIN, "map_along", sk_launch_map_along, sk_build_map_along},
    [SK_MAP_ACROSS] = {OF_PLAIN, "map_across", sk_launch_map_across, sk_build_map_across},
    [SK_MAP_STAGED] = {OF_PLAIN, "map_staged", sk_launch_map_staged, sk_build_map_staged},
    [SK_MAP_SHARED] = {OF_PLAIN, "map_shared", sk_launch_map_shared, sk_build_map_shared},
    [SK_MAP_TILES] = {OF_PLAIN, "map_tiles", sk_launch_map_tiles, sk_build_map_tiles},
    [SK_MAP_MOVED] = {OF_PLAIN, "map_moved", sk_launch_map_moved, sk_build_map_moved},
    [SK_MAP_BLOCKS] = {OF_PLAIN, "map_blocks", sk_launch_map_blocks, sk_build_map_blocks},
    [SK_MAP_PERIODS] = {OF_PLAIN, "map_periods", sk_launch_map_periods, sk_build_map_periods},
    [SK_MAP_ROWS] = {OF_PLAIN, "map_rows", sk_launch_map_rows, sk_build_map_rows},
    [SK_MAP_FLAT] = {OF_PLAIN, "map", sk_launch_map_flat, sk_build_map_flat},
    [SK_GROUP_STENCIL] = {OF_STENCIL, "stencil", sk_launch_group_stencil, sk_build_group_stencil},
    [SK_STENCIL] = {OF_STENCIL, "stencil", sk_launch_stencil, sk_build_stencil},
    [SK_CONTRACT] = {OF_FOLD | OF_TILES, "contract", sk_launch_contract, sk_build_contract},
    [SK_GROUP_CONTRACT] = {OF_FOLD, "contract", sk_launch_group_contract, sk_build_group_contract},
    [SK_FOLD_WINDOWS] = {OF_FOLD, "fold_windows", sk_launch_fold_windows, sk_build_fold_windows},
    [SK_FOLD_COLUMNS] = {OF_FOLD, "fold_columns", sk_launch_fold_columns, sk_build_fold_columns},
    [SK_FOLD_PARTS] = {OF_FOLD, "fold_parts", sk_launch_fold_parts, sk_build_fold_parts},
    [SK_CHOOSE_COLUMNS] = {OF_FOLD, "choose_columns", sk_launch_choose_columns, sk_build_choose_columns},
    [SK_FOLD_BESIDE] = {OF_FOLD, "fold_rows", sk_launch_fold_beside, sk_build_fold_beside},
    [SK_FOLD_CHOICE] = {OF_FOLD, "fold_choice", sk_launch_fold_choice, sk_build_fold_choice},
    [SK_ROW_COLUMNS] = {OF_ROW, "row_columns", sk_launch_row_columns, sk_build_row_columns},
    [SK_ROW_STATES] = {OF_ROW, "row_states", sk_launch_row_states, sk_build_row_states},
    [SK_ROW_PIECES] = {OF_ROW, "row_pieces", sk_launch_row_pieces, sk_build_row_pieces},
    [SK_LANES] = {OF_FOLD | OF_ROW, "short_rows", sk_launch_lanes, sk_build_lanes},
    [SK_FOLD_ROWS] = {OF_FOLD, "fold_rows", sk_launch_fold_rows, sk_build_fold_rows},
    [SK_FOLD_TREE] = {OF_FOLD, "fold", sk_launch_fold_tree, sk_build_fold_tree},
    [SK_SORT_LANES] = {OF_SORT, "sort_lanes", sk_launch_sort_lanes, sk_build_sort_lanes},
    [SK_SORT_ROWS] = {OF_SORT, "sort_rows", sk_launch_sort_rows, sk_build_sort_rows},
    [SK_SORT_CHUNKS] = {OF_SORT, "sort_chunks", sk_launch_sort_chunks, sk_build_sort_chunks},
    [SK_SORT_COUNT] = {OF_SORT, "sort_count", sk_launch_sort_count, sk_build_sort_count},
    [SK_SORT_PLACES] = {OF_SORT, "sort_places", sk_launch_sort_places, sk_build_sort_places},
    [SK_SORT_SCATTER] = {OF_SORT, "sort_scatter", sk_launch_sort_scatter, sk_build_sort_scatter},
    [SK_SORT_BUCKETS] = {OF_SORT, "sort_buckets", sk_launch_sort_buckets, sk_build_sort_buckets},
    [SK_SORT_RUNS] = {OF_SORT, "sort_runs", sk_launch_sort_runs, sk_build_sort_runs},
    [SK_SORT_SPLITS] = {OF_SORT, "sort_splits", sk_launch_sort_splits, sk_build_sort_splits},
    [SK_SORT_MERGE] = {OF_SORT, "sort_merge", sk_launch_sort_merge, sk_build_sort_merge},
    [SK_GROUP_CHOICE] = {OF_FOLD, "fold_choice", sk_launch_group_choice, sk_build_group_choice},
    [SK_GROUP_CHUNKS] = {OF_FOLD, "fold_chunks", sk_launch_group_chunks, sk_build_group_chunks},
    [SK_GROUP_ROWS] = {OF_FOLD, "fold_rows", sk_launch_group_rows, sk_build_group_rows},
    [SK_GROUP_PIECE] = {OF_FOLD, "fold", sk_launch_group_piece, sk_build_group_piece},
    [SK_PERMUTE_ATOMIC] = {OF_PERMUTE, "permute_atomic", sk_launch_permute_atomic, sk_build_permute_atomic},
    [SK_PERMUTE_LAST] = {OF_PERMUTE, "permute_last", sk_launch_permute_last, sk_build_permute_last},
    [SK_PERMUTE] = {OF_PERMUTE, "permute", sk_launch_permute, sk_build_permute},
    [SK_GROUP_ROW] = {OF_ROW, "rows", sk_launch_group_row, sk_build_group_row},
    [SK_ROW_BLOCK] = {OF_ROW, "rows", sk_launch_row_block, sk_build_row_block},
    [SK_SEGMENTS] = {OF_SEGMENT, "segments", sk_launch_segments, sk_build_segments},
    [SK_SEGMENTS_JOIN] = {OF_SEGMENT, "segments_join", sk_launch_segments_join, sk_build_segments_join},
};

static bool is_for(sk_variant v, const sk_cluster *c)
{
    return table[v].classes >> c->loop->class & 1;
}

/* --- launches --- */

size_t sk_stored_bytes(const sk_cluster *c)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        const ir_array *info = ir_info(c->l->ir, op->term);
        for (uint32_t k = 0; k < info->components && op->stored && op->kind != L_FOLD && !op->outer; k++)
            bytes += ir_type_size(info->type[k]);
    }
    return bytes;
}

/* What is computed while elements are stored: of a row loop, in the sweeps that store some. */
static double flops_of(const sk_cluster *c)
{
    double flops = 0;
    bool stores[UINT8_MAX + 1] = {0};
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        stores[op->sweep] |= op->stored && op->kind != L_FOLD && !op->outer;
    }
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        flops += stores[c->loop->op.at[i].sweep] ? c->loop->op.at[i].flops : 0;
    return c->loop->sweeps > 1 ? flops : c->loop->flops;
}

/* Whether results go past the caches. Where arithmetic takes longer than memory (a worker computes about as many
 * operations on f32 as bytes are its share of the bandwidth), what is read to be overwritten costs nothing, but stores
 * past the caches stall: Black-Scholes takes 0.75 of the time without them. */
bool sk_streams(const sk_cluster *c, const sk_options *o, double elements, size_t cache_bytes)
{
    double stored = (double)sk_stored_bytes(c), size = c->wide ? 8 : 4;
    double moved = c->loop->reads_per_element * size + 2 * stored;
    bool computes = flops_of(c) * size / 4 > (double)larger(o->workers, 1) * moved;
    return elements * stored > (double)cache_bytes && !computes;
}

/* May rows that are written one by one go past the caches? A line that is written in parts is then written in as many
 * times, each of which waits for the memory: rows of 33 f32 take seven times as long, transposes twice. So rows are
 * whole lines, on lines, or so long that their ends do not matter, but for those that tiles make piecemeal. (Emerald
 * Rapids, 400 MB: rows of whole lines take 0.75 to 0.9 of the time of those that go through the caches; others from
 * 4 KB on 1.0 to 1.4, up to 300 bytes 2 to 8.) */
static void stream_rows(const sk_call *x, sk_geometry *g)
{
    enum { LONG = 32 << 10 };
    const l_cluster *loop = x->c->loop;
    const bool rows = g->variant == SK_MAP_ROWS || g->variant == SK_MAP_MOVED || g->variant == SK_MAP_BLOCKS ||
                      g->variant == SK_MAP_PERIODS || g->variant == SK_STENCIL;
    const bool moved = g->variant == SK_MAP_MOVED;
    const bool tiles = g->variant == SK_MAP_ACROSS || g->variant == SK_MAP_STAGED || g->variant == SK_MAP_ALONG;
    if (!g->stream || x->o->group || !(rows || tiles))
        return;
    const size_t columns = (size_t)(moved  ? sk_moved_columns(x->c, x->extent)
                                    : rows ? x->columns
                                           : x->extent[loop->rank - 1]);
    bool whole = true, always = rows;
    for (uint32_t i = 0; i < loop->op.n; i++) {
        const ir_array *info = ir_info(x->c->l->ir, loop->op.at[i].term);
        for (uint32_t k = 0; k < info->components && loop->op.at[i].stored; k++) {
            const size_t bytes = columns * ir_type_size(info->type[k]);
            whole &= bytes % SK_LINE == 0;
            always &= bytes >= LONG;
        }
    }
    g->stream = whole || always;
    g->lines = !always;
}

/* The same for results of segments, where nothing else is stored: elements of short segments lie apart. What is packed
 * goes past the caches, and then nothing else does. */
static bool streams_segments(const sk_call *x)
{
    const l_cluster *loop = x->c->loop;
    double segments = (double)x->rows * (double)x->segments;
    size_t packed = 0;
    for (uint32_t i = 0; i < loop->op.n; i++) {
        const ir_array *info = ir_info(x->c->l->ir, loop->op.at[i].term);
        for (uint32_t k = 0; k < info->components && loop->op.at[i].kind == L_PACK; k++)
            packed += ir_type_size(info->type[k]);
    }
    if (packed)
        return (double)x->rows * (double)x->columns * (double)packed > (double)x->cache_bytes;
    for (uint32_t i = 0; i < loop->op.n; i++)
        if (loop->op.at[i].stored && loop->op.at[i].kind != L_FOLD_SEG)
            return false;
    return segments * (double)sk_stored_bytes(x->c) > (double)x->cache_bytes;
}

bool sk_plan_launch(const sk_cluster *c, const sk_options *o, const int64_t *extent, sk_round round, size_t cache_bytes,
                    sk_geometry *g)
{
    unsigned rank = c->loop->rank, inner = c->loop->class == L_CLASS_PLAIN && c->inner ? c->inner : rank > 0;
    if (c->loop->class == L_CLASS_STENCIL && sk_channels(c, o, extent))
        inner += c->channels;
    unsigned first = rank - inner, end = rank;
    if (c->loop->behind) {
        first -= c->loop->behind;
        end = first + 1;
    }
    bool combine = round.pass == SK_PASS_COMBINE;
    sk_call x = {c,
                 o,
                 extent,
                 round.pass,
                 .rows = 1,
                 .columns = 1,
                 .cache_bytes = cache_bytes,
                 .places = round.places,
                 .digit = round.digit,
                 .left = round.partials,
                 .segments = round.segments};
    for (unsigned d = 0; d < rank; d++)
        *(d < first || d >= end ? &x.rows : &x.columns) *= extent[d];
    if (combine)
        x.columns = round.partials;
    double elements = (double)x.rows * (double)x.columns;
    bool found = false;
    for (sk_variant v = 0; v < SK_VARIANTS && !found; v++) {
        *g = (sk_geometry){.variant = v, .pass = round.pass, .partials = 1};
        found = is_for(v, c) && !(o->without >> v & 1) && table[v].launch(&x, g);
    }
    g->work = elements * (combine ? 1.0 : c->loop->flops + c->loop->reads_per_element + 1.0);
    bool streamed = c->loop->class != L_CLASS_SORT && c->loop->class != L_CLASS_PERMUTE &&
                    c->loop->class != L_CLASS_SEGMENT && c->loop->class != L_CLASS_TILES;
    g->stream = !combine && streamed && sk_streams(c, o, elements, cache_bytes);
    stream_rows(&x, g);
    if (c->loop->class == L_CLASS_SEGMENT)
        g->stream = round.pass == SK_PASS_LOOP && streams_segments(&x);
    return found;
}

sk_geometry sk_general(const sk_geometry *g)
{
    sk_geometry other = *g;
    if (g->variant == SK_MAP_ROWS)
        other.row &= (int64_t)1 << SK_OF_PAIRS;
    if (g->variant == SK_MAP_MOVED || g->variant == SK_MAP_FLAT || g->variant == SK_FOLD_TREE || g->variant == SK_LANES)
        other.row = 0;
    if (g->variant == SK_STENCIL && g->row & SK_STENCIL_TOLD)
        other.row = SK_STENCIL_ANY;
    other.stream = other.lines = other.ahead = false;
    return other;
}

/* --- kernels --- */

/* "stencil_map_a7": what it does, and the last operation that it computes, by the words and numbers of the program's
 * texts. */
static const char *name_of(const sk_cluster *c, const char *skeleton, arena *a)
{
    ir_id last = c->loop->op.n ? c->loop->op.at[c->loop->op.n - 1].term : 0;
    const char *word = last ? ir_info(c->l->ir, last)->name : NULL;
    return last ? arena_printf(a, "%s_%s%sa%u", skeleton, word ? word : "", word ? "_" : "", c->l->number[last])
                : skeleton;
}

/* Four registers of indices at a time: as many lanes as suit the narrowest elements would be sixteen or more, and the
 * code as long. */
static void limit_lanes(kernel *k, const sk_options *options)
{
    uint32_t most = 4 * options->vector_bytes / (k->narrow ? 4 : 8);
    if (most >= 4 && k->lanes > most)
        k->lanes = (uint16_t)most;
}

sk_kernel *sk_build(const sk_cluster *c, sk_variant variant, sk_pass pass, const sk_options *options, arena *a,
                    sk_reason *why)
{
    *why = (sk_reason){0};
    if (variant >= SK_VARIANTS || !is_for(variant, c)) {
        why->text = "unknown variant";
        return NULL;
    }
    sk_lower lw = {.l = c->l, .cluster = c, .options = options, .arena = a, .name = table[variant].name, .pass = pass};
    if (pass == SK_PASS_COMBINE)
        lw.name = c->loop->class == L_CLASS_ROW ? "rows_combine" : "fold_combine";
    table[variant].build(&lw);
    *why = lw.why;
    if (why->text)
        return NULL;
    kernel *k = lw.out->k;
    k->name = name_of(c, k->name, a);
    k_index_vectors indices = !options->group && k->lanes > 1 ? k_find_index_vectors(k, a) : K_INDICES_LINEAR;
    k->narrow = options->narrow && (options->group || indices != K_INDICES_LINEAR);
    if (k->narrow)
        k_keep_indices(k, a);
    if (indices == K_INDICES_VECTORS && (variant == SK_MAP_FLAT || variant == SK_MAP_ROWS))
        limit_lanes(k, options);
    return lw.out;
}
