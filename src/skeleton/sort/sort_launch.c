/* How sorts are launched. Nothing here changes a result: of a stable sort there is only one, but for comparisons that
 * are no order, whose results depend on the sizes of chunks, which are the device's. */
#include "skeleton/extents.h"
#include "skeleton/sort/sort.h"

static const ir_array *sorted(const sk_cluster *c)
{
    return ir_info(c->l->ir, c->loop->op.at[0].term);
}

static int64_t element_bytes(const ir_array *info)
{
    int64_t bytes = 0;
    for (uint32_t c = 0; c < info->components; c++)
        bytes += (int64_t)ir_type_size(info->type[c]);
    return bytes;
}

sk_chunks sk_sort_chunks(const sk_cluster *c, const sk_options *o)
{
    enum { BUDGET = 128 << 10, GROUP_BUDGET = 24 << 10, LEAST = 16 };
    const int64_t bytes = 2 * element_bytes(sorted(c));
    if (!o->group) {
        int64_t length = 1024;
        while (length > LEAST && length * bytes > BUDGET)
            length /= 2;
        return (sk_chunks){1, length};
    }
    int64_t budget = o->scratch ? smaller(GROUP_BUDGET, (int64_t)o->scratch) : GROUP_BUDGET;
    sk_chunks size = {smaller(32, o->group), 64};
    while (size.threads > 4 && size.threads * size.length * bytes > budget)
        size.threads /= 2;
    while (size.length > LEAST && size.threads * size.length * bytes > budget)
        size.length /= 2;
    while (size.threads > 1 && size.threads * size.length * bytes > budget)
        size.threads /= 2;
    return size;
}

/* Elements and their counters, twice a word and an eighth of one more; sums of threads; what there is of each digit. */
static bool has_room(const sk_options *o, int64_t threads, unsigned bits)
{
    enum { OF_THREAD = 140, OF_DIGIT = 26, BESIDES = 512 };
    return threads * OF_THREAD + (OF_DIGIT << bits) + BESIDES <= (int64_t)o->scratch;
}

uint8_t sk_radix_bits(const sk_options *o)
{
    enum { LEAST = 32 };
    return has_room(o, LEAST, 2 * SK_RADIX_STEP) ? 2 * SK_RADIX_STEP : SK_RADIX_STEP;
}

int64_t sk_radix_threads(const sk_options *o)
{
    int64_t threads = 256;
    while (threads > 1 && !has_room(o, threads, sk_radix_bits(o)))
        threads /= 2;
    return threads;
}

int64_t sk_radix_piece(const sk_options *o)
{
    return sk_radix_threads(o) * SK_RADIX_ITEMS;
}

int64_t sk_line_elements(const ir_array *info)
{
    int64_t narrowest = 8;
    for (uint32_t c = 0; c < info->components; c++)
        narrowest = smaller(narrowest, (int64_t)ir_type_size(info->type[c]));
    return narrowest == 8 ? 8 : 16;
}

/* Elements of a piece, and digits of so many bits: narrow ones where tables would take longer than elements; wide ones
 * where the elements do not fit in the caches, which lines are gathered for. */
static void plan_radix(const sk_call *x, int64_t *size, sk_radix *r)
{
    enum { LINES = 384 << 10, LEAST = 16384 };
    const ir_array *info = sorted(x->c);
    double all = (double)x->rows * (double)x->columns * (double)element_bytes(info);
    int64_t workers = larger(x->o->workers, 1);
    *r = (sk_radix){.bits = 8};
    if (x->o->group) {
        r->bits = sk_radix_bits(x->o);
        *size = sk_radix_piece(x->o);
        return;
    }
    int64_t lines = sk_record_bytes(info) * sk_line_elements(info);
    bool far = all > (double)x->cache_bytes / 2 && x->columns >= LEAST * 8;
    r->buffers = far && lines << 8 <= LINES;
    bool wide = far && lines << 11 <= LINES;
    for (uint32_t k = 0; k < info->keys; k++)
        wide &= ir_type_size(info->type[k]) >= 4;
    if (wide)
        r->bits = 11;
    int64_t pieces = larger(1, 4 * workers / larger(x->rows, 1));
    *size = larger(LEAST * (wide ? 16 : 1), round_up(pieces_of(x->columns, pieces), 256));
}

/* Lines of a thousand buckets or so have room in the second cache, near the first. */
static uint8_t top_bits(uint8_t others)
{
    enum { NEAR = 10 };
    return others > NEAR ? NEAR : others;
}

sk_sort_words sk_words_of_sort(const sk_cluster *c, const sk_options *o, const sk_geometry *counted)
{
    const int64_t pieces = counted->slot[4] * counted->slot[1];
    return (sk_sort_words){.places = pieces << counted->slot[5],
                           .pieces = pieces,
                           .keys = sorted(c)->keys,
                           .digit_bits = (uint8_t)counted->slot[5],
                           .other_bits = (uint8_t)counted->slot[6],
                           .top_bits = top_bits((uint8_t)counted->slot[6]),
                           .room = o->group ? 0 : sk_sort_room(sorted(c)),
                           .pieces_a_row = counted->slot[1],
                           .row_length = counted->slot[0]};
}

int64_t sk_sort_room(const ir_array *info)
{
    enum { ROOM = 352 << 10, UNIT = 64 };
    return larger(UNIT, ROOM / (2 * sk_record_bytes(info)) / UNIT * UNIT);
}

/* Digits within the caches: wide ones if there are so many elements that tables do not matter. */
static uint8_t local_bits(const ir_array *info, int64_t elements)
{
    enum { MANY = 4096 };
    bool wide = elements >= MANY;
    for (uint32_t k = 0; k < info->keys; k++)
        wide &= ir_type_size(info->type[k]) >= 4;
    return wide ? 11 : 8;
}

/* --- the launches --- */

static int64_t radix_words(const sk_call *x, int64_t piece, sk_radix r)
{
    const int64_t digits = (int64_t)1 << r.bits;
    return x->rows * (pieces_of(x->columns, piece) * (digits + 2 * sorted(x->c)->keys) + (x->o->group ? digits : 0));
}

static bool launch_radix(const sk_call *x, sk_geometry *g)
{
    sk_radix r;
    int64_t length;
    plan_radix(x, &length, &r);
    g->state_words = radix_words(x, length, r);
    g->slot[6] = r.bits;
    r.bits = x->digit.top ? top_bits(r.bits) : r.bits;
    r.component = x->digit.component;
    r.first = x->digit.first;
    g->slot[0] = x->columns;
    g->slot[1] = pieces_of(x->columns, length);
    g->slot[2] = length;
    g->slot[SK_SHIFT] = x->digit.shift;
    g->slot[4] = x->rows;
    g->slot[5] = r.bits;
    g->pieces = x->rows * g->slot[1];
    g->row = sk_pack_radix(r);
    g->partials = 2;
    return true;
}

bool sk_launch_sort_lanes(const sk_call *x, sk_geometry *g)
{
    enum { FEW = 8, SOME = 16384 };
    if (x->pass != SK_PASS_LOOP || x->o->group || !x->o->vector_bytes || x->columns < 2 || x->columns > SK_SORT_SHORT ||
        x->rows < FEW)
        return false;
    int64_t lanes = sk_sort_lanes(sorted(x->c), x->o->vector_bytes), gangs = pieces_of(x->rows, lanes);
    g->slot[0] = x->columns;
    g->slot[1] = x->rows;
    g->slot[2] = larger(1, SOME / (x->columns * lanes));
    g->pieces = pieces_of(gangs, g->slot[2]);
    return true;
}

bool sk_launch_sort_rows(const sk_call *x, sk_geometry *g)
{
    enum { FEW = 64, SOME = 16384, MERGED = 4096 };
    const ir_array *info = sorted(x->c);
    int64_t most = sk_sorts_runs(x->c) ? MERGED : sk_sort_room(info);
    if (x->pass != SK_PASS_LOOP || !info->keys || x->o->group || x->columns <= FEW || x->columns > most)
        return false;
    g->slot[0] = x->columns;
    g->slot[1] = x->rows;
    g->slot[2] = larger(1, SOME / x->columns);
    g->row = sk_pack_radix((sk_radix){.bits = local_bits(info, x->columns)});
    g->pieces = pieces_of(x->rows, g->slot[2]);
    return true;
}

bool sk_launch_sort_chunks(const sk_call *x, sk_geometry *g)
{
    if (x->pass != SK_PASS_LOOP && x->pass != SK_PASS_CHUNKS)
        return false;
    const ir_array *info = sorted(x->c);
    sk_chunks size = sk_sort_chunks(x->c, x->o);
    int64_t chunks = pieces_of(x->columns, size.length), width = size.length;
    g->slot[0] = x->columns;
    g->slot[1] = chunks;
    g->slot[2] = x->rows * chunks;
    g->pieces = pieces_of(g->slot[2], size.threads);
    if (chunks <= 1)
        return true;
    if (!info->keys) {
        for (; width < x->columns; width *= 2)
            g->partials++;
        g->state_words = x->rows * chunks;
    } else {
        launch_radix(x, g);
        g->pieces = g->row = 0;
    }
    if (sk_sorts_runs(x->c)) {
        g->state_words = larger(g->state_words, larger(chunks, 2 * pieces_of(x->columns, SK_RUN_PIECE)));
        g->pieces = x->pass == SK_PASS_LOOP ? 0 : g->pieces;
    }
    return true;
}

bool sk_launch_sort_count(const sk_call *x, sk_geometry *g)
{
    return x->pass == SK_PASS_COUNT && launch_radix(x, g);
}

/* One kernel for all digits. Where a block is many threads it takes a digit of a row, or a row of few pieces. */
bool sk_launch_sort_places(const sk_call *x, sk_geometry *g)
{
    enum { FEW = 32 };
    if (x->pass != SK_PASS_PLACES)
        return false;
    launch_radix(x, g);
    const bool rows = !x->o->group || g->slot[1] <= FEW;
    g->row = sk_pack_radix((sk_radix){.bits = (uint8_t)g->slot[5], .first = x->o->group && rows});
    g->pieces = rows ? x->rows : x->rows << g->slot[5];
    return true;
}

bool sk_launch_sort_scatter(const sk_call *x, sk_geometry *g)
{
    return x->pass == SK_PASS_SCATTER && launch_radix(x, g);
}

bool sk_launch_sort_buckets(const sk_call *x, sk_geometry *g)
{
    if (x->pass != SK_PASS_BUCKETS)
        return false;
    launch_radix(x, g);
    uint8_t bits = local_bits(sorted(x->c), x->columns >> g->slot[5]);
    g->row = sk_pack_radix((sk_radix){.component = x->digit.component, .bits = bits});
    g->pieces = x->rows << g->slot[5];
    return true;
}

/* slots: 0 row length */
bool sk_launch_sort_runs(const sk_call *x, sk_geometry *g)
{
    if (x->pass != SK_PASS_RUNS)
        return false;
    g->slot[0] = x->columns;
    g->pieces = pieces_of(x->columns, SK_RUN_PIECE);
    g->partials = 2;
    return true;
}

static void launch_merge(const sk_call *x, int64_t left, sk_geometry *g)
{
    sk_chunks size = sk_sort_chunks(x->c, x->o);
    if (x->digit.first) { /* one pair */
        g->slot[0] = x->columns;
        g->slot[2] = g->slot[4] = g->state_words = pieces_of(x->columns, size.length);
        g->slot[3] = 1;
        g->row = sk_pack_radix((sk_radix){.first = true});
        g->partials = 2;
        return;
    }
    int64_t width = size.length, rounds = 1;
    for (int64_t w = width; w < x->columns; w *= 2)
        rounds++;
    for (int64_t k = rounds; k > left; k--)
        width *= 2;
    g->slot[0] = x->columns;
    g->slot[1] = width;
    g->slot[2] = pieces_of(x->columns, size.length);
    g->slot[3] = pieces_of(x->columns, 2 * width);
    g->slot[4] = g->state_words = x->rows * g->slot[2];
    g->partials = 2;
}

bool sk_launch_sort_splits(const sk_call *x, sk_geometry *g)
{
    if (x->pass != SK_PASS_SPLITS)
        return false;
    launch_merge(x, x->left, g);
    g->pieces = x->rows * g->slot[3];
    return true;
}

bool sk_launch_sort_merge(const sk_call *x, sk_geometry *g)
{
    if (x->pass != SK_PASS_MERGE)
        return false;
    launch_merge(x, x->left, g);
    g->pieces = pieces_of(g->slot[4], sk_sort_chunks(x->c, x->o).threads);
    return true;
}
