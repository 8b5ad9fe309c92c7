/* The smallest host for skeletons: memory for every manifest array, launches in order, partial results of folds. */
#include "run_clusters.h"

#include <stdlib.h>

typedef struct host {
    ir_program *p;
    const sk_program *s;
    arena *a;
    int64_t dims[64];
    ir_value *value; /* per array node */
    run_result *out;
    sk_options device;
    uint64_t *state; /* of the cluster that runs */
    void **spare;    /* of a sort: per component, beside its result */
    bool to_result;  /* ... this launch moves elements there */
    size_t cache;
} host;

static bool read_scalar(void *env, ir_id array, uint32_t component, ir_bits *out)
{
    host *h = env;
    const ir_value *v = &h->value[array];
    if (!v->data[component])
        return false;
    *out = 0;
    memcpy(out, v->data[component], ir_type_size(v->type[component]));
    return true;
}

static ir_bits closed(host *h, ir_id term)
{
    ir_host env = {h->dims, read_scalar, h};
    ir_bits out = 0;
    if (!ir_evaluate(h->p, h->a, term, &env, &out))
        h->out->why = "a closed term cannot be evaluated";
    return out;
}

static int64_t elements(const ir_value *v)
{
    int64_t n = 1;
    for (unsigned d = 0; d < v->rank; d++)
        n *= v->extent[d];
    return n;
}

/* What a pack keeps is known when it has run: it gets room for everything. */
static void make(host *h, ir_id array)
{
    ir_value *v = &h->value[array];
    const ir_array *info = ir_info(h->p, array);
    const bool packs = ir_at(h->p, array)->kind == IR_PACK;
    const ir_array *room = packs ? ir_info(h->p, info->input[0]) : info;
    if (v->components)
        return;
    v->rank = info->rank;
    v->components = info->components;
    for (unsigned d = 0; d < info->rank; d++)
        v->extent[d] = (int64_t)closed(h, room->shape[d]);
    for (unsigned c = 0; c < info->components; c++) {
        v->type[c] = info->type[c];
        v->data[c] = arena_alloc(h->a, (size_t)elements(v) * ir_type_size(info->type[c]) + 1);
    }
}

typedef struct written { /* memory that a kernel writes, while pieces run one by one */
    void *data;
    uint8_t *own; /* what the piece at hand has written: the rest is POISON */
    bool *taken;  /* by a piece before */
    size_t size, elements;
} written;

enum { POISON = 0xa5, FEW_PIECES = 40 };

static void collect(host *h, written *w)
{
    for (size_t i = 0; i < w->elements; i++) {
        bool here = false;
        for (size_t b = 0; b < w->size; b++)
            here |= w->own[i * w->size + b] != POISON;
        if (here && w->taken[i])
            h->out->why = "two pieces write the same element";
        if (here)
            memcpy((char *)w->data + i * w->size, w->own + i * w->size, w->size);
        w->taken[i] |= here;
    }
}

static void run_pieces(host *h, const kernel *k, void *const *mem, const size_t *elements, const ir_bits *arg,
                       int64_t pieces)
{
    written *w = arena_array(h->a, *w, k->mem.n);
    void **given = arena_array(h->a, *given, k->mem.n);
    uint32_t n = 0, at = 0;
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        if (memory->space != K_GLOBAL)
            continue;
        given[at] = mem[at];
        if (memory->written) {
            w[n] = (written){.data = mem[at], .size = ir_type_size((ir_type)memory->type), .elements = elements[at]};
            w[n].own = arena_alloc(h->a, w[n].size * w[n].elements + 1);
            w[n].taken = arena_alloc(h->a, w[n].elements + 1);
            given[at] = w[n++].own;
        }
        at++;
    }
    for (int64_t piece = 0; piece < pieces; piece++) {
        for (uint32_t i = 0; i < n; i++)
            memset(w[i].own, POISON, w[i].size * w[i].elements);
        k_interpret(k, h->a, given, arg, piece, piece + 1, &h->out->error);
        for (uint32_t i = 0; i < n; i++)
            collect(h, &w[i]);
    }
}

static void settle(host *h, ir_id array)
{
    if (ir_at(h->p, array)->kind == IR_PACK)
        h->value[array].extent[0] = (int64_t)closed(h, ir_info(h->p, array)->shape[0]);
}

/* Where a sort moves a component from, or to. */
static void *sorted(const host *h, const sk_cluster *c, const sk_binding *b)
{
    bool result = (b->role == SK_SORTED_TO) == h->to_result;
    return result ? h->value[c->loop->op.at[0].term].data[b->component] : h->spare[b->component];
}

static void launch(host *h, const sk_cluster *c, const sk_geometry *g, bool final, void **in, void **partial_out,
                   size_t partials)
{
    sk_options o = h->device;
    o.final = final;
    o.row = g->row;
    sk_reason reason;
    const char *why = NULL;
    sk_kernel *k = sk_build(c, g->variant, g->pass, &o, h->a, &reason);
    if (!k || !k_verify(k->k, h->a, &why)) {
        h->out->why = why ? why : reason.text ? reason.text : "not built";
        return;
    }
    k_expand_math(k->k);
    k_analyse(k->k);
    k_layout(k->k, o.group ? 128 : 64);
    if (o.scratch && k_shared_bytes(k->k) > (o.most_scratch ? o.most_scratch : o.scratch)) {
        h->out->why = "a kernel wants more shared memory than there is";
        return;
    }
    void **mem = arena_array(h->a, void *, k->memory.n + 1);
    size_t *count = arena_array(h->a, size_t, k->memory.n + 1);
    ir_bits *arg = arena_array(h->a, ir_bits, k->argument.n + 1);
    for (uint32_t i = 0; i < k->memory.n; i++) {
        const sk_binding *b = &k->memory.at[i];
        if (b->role == SK_ARRAY)
            make(h, b->array);
        mem[i] = b->role == SK_ARRAY                                    ? h->value[b->array].data[b->component]
                 : b->role == SK_SORTED_FROM || b->role == SK_SORTED_TO ? sorted(h, c, b)
                 : b->role == SK_PARTIAL_IN                             ? in[b->component]
                 : b->role == SK_STATE ? (void *)((uint64_t *)h->state + b->component * g->pieces)
                                       : partial_out[b->component];
        count[i] = b->role == SK_SORTED_FROM || b->role == SK_SORTED_TO
                       ? (size_t)elements(&h->value[c->loop->op.at[0].term])
                   : b->role == SK_ARRAY ? (size_t)elements(&h->value[b->array])
                   : b->role == SK_STATE ? (size_t)g->state_words
                                         : partials;
    }
    for (uint32_t i = 0; i < k->argument.n; i++)
        arg[i] = k->argument.at[i].term ? closed(h, k->argument.at[i].term) : (ir_bits)g->slot[k->argument.at[i].slot];
    if (h->out->why)
        return;
    h->out->launches++;
    if (g->pieces <= FEW_PIECES && !g->state_words &&
        c->loop->class != L_CLASS_PERMUTE) /* words of the state are read and written */
        run_pieces(h, k->k, mem, count, arg, g->pieces);
    else
        k_interpret(k->k, h->a, mem, arg, 0, g->pieces, &h->out->error);
}

/* One launch; gives the partial results that it leaves, *partials a row. */
static void **run_round(host *h, const sk_cluster *c, const int64_t *extent, sk_round round, int64_t rows, void **in,
                        int64_t *partials)
{
    sk_geometry g;
    sk_plan_launch(c, &h->device, extent, round, h->cache, &g);
    void **out = arena_array(h->a, void *, 64);
    for (int i = 0; i < 64 && g.partials > 1; i++)
        out[i] = arena_alloc(h->a, (size_t)(rows * g.partials) * 8);
    if (!h->state && g.state_words)
        h->state = arena_array(h->a, uint64_t, (size_t)g.state_words);
    *partials = g.partials;
    if (g.pieces > 0)
        launch(h, c, &g, g.partials == 1, in, out, (size_t)(rows * g.partials));
    return out;
}

/* All digits of all keys, also those in which they do not differ. */
static uint32_t all_digits(const ir_array *info, unsigned bits, sk_digit *digit)
{
    uint32_t n = 0;
    for (uint32_t k = info->keys; k-- > 0;)
        for (unsigned shift = 0; shift < 8 * ir_type_size(info->type[k]); shift += bits, n++)
            digit[n] = (sk_digit){(uint8_t)k, (uint8_t)shift, .first = n == 0};
    return n;
}

static void sort_round(host *h, const sk_cluster *c, const int64_t *extent, sk_round round)
{
    int64_t partials;
    run_round(h, c, extent, round, 1, NULL, &partials);
}

/* First by the most significant digit, then by the others within the caches, if what has one digit fits there. */
static bool sort_by_buckets(host *h, const sk_cluster *c, const int64_t *extent, const sk_sort_words *w)
{
    const unsigned width = 8 * (unsigned)ir_type_size(ir_info(h->p, c->loop->op.at[0].term)->type[0]);
    const sk_digit top = {0, (uint8_t)(width > w->top_bits ? width - w->top_bits : 0), .first = true, .top = true};
    const int64_t words = w->pieces_a_row << w->top_bits, all = w->pieces << w->top_bits;
    bool fit = true;
    sort_round(h, c, extent, (sk_round){.pass = SK_PASS_COUNT, .digit = top});
    sort_round(h, c, extent, (sk_round){.pass = SK_PASS_PLACES, .digit = {.top = true}});
    for (int64_t i = 0; i + w->pieces_a_row < all; i += w->pieces_a_row)
        if ((i + w->pieces_a_row) % words)
            fit &= (int64_t)(h->state[i + w->pieces_a_row] - h->state[i]) <= w->room;
        else
            fit &= w->row_length - (int64_t)h->state[i] <= w->room;
    h->to_result = false;
    if (fit)
        sort_round(h, c, extent, (sk_round){.pass = SK_PASS_SCATTER, .digit = top});
    h->to_result = true;
    if (fit)
        sort_round(h, c, extent, (sk_round){.pass = SK_PASS_BUCKETS, .digit = top});
    return fit;
}

static void run_sort(host *h, const sk_cluster *c, const int64_t *extent)
{
    const ir_array *info = ir_info(h->p, c->loop->op.at[0].term);
    const int64_t size = elements(&h->value[c->loop->op.at[0].term]);
    sk_geometry g;
    sk_digit digit[IR_MAX_COMPONENTS * 16];
    sk_plan_launch(c, &h->device, extent, (sk_round){.pass = SK_PASS_LOOP}, h->cache, &g);
    h->spare = arena_array(h->a, void *, info->components);
    for (uint32_t k = 0; k < info->components; k++)
        h->spare[k] = arena_alloc(h->a, (size_t)size * ir_type_size(info->type[k]) + 1);
    if (!h->state && g.state_words)
        h->state = arena_array(h->a, uint64_t, (size_t)g.state_words);
    h->to_result = g.partials % 2 == 1;
    if (g.pieces > 0)
        launch(h, c, &g, g.partials == 1, NULL, NULL, 0);
    for (int64_t left = g.partials; left > 1 && !info->keys && !h->out->why && !h->out->error.site; left--) {
        h->to_result = left % 2 == 0;
        sort_round(h, c, extent, (sk_round){.pass = SK_PASS_SPLITS, .partials = left});
        sort_round(h, c, extent, (sk_round){.pass = SK_PASS_MERGE, .partials = left});
    }
    if (!info->keys || g.partials == 1)
        return;
    sk_plan_launch(c, &h->device, extent, (sk_round){.pass = SK_PASS_COUNT}, h->cache, &g);
    sk_sort_words w = sk_words_of_sort(c, &h->device, &g);
    if (w.room && sort_by_buckets(h, c, extent, &w))
        return;
    uint32_t n = all_digits(info, w.other_bits, digit);
    for (uint32_t i = 0; i < n && !h->out->why && !h->out->error.site; i++) {
        h->to_result = (n - i) % 2 == 1;
        for (unsigned pass = SK_PASS_COUNT; pass <= SK_PASS_SCATTER; pass++)
            sort_round(h, c, extent, (sk_round){.pass = (sk_pass)pass, .digit = digit[i]});
    }
}

/* The result begins with the defaults; gives how many there are. */
static int64_t begin_permute(host *h, ir_id array)
{
    const ir_value *from = &h->value[ir_info(h->p, array)->input[0]];
    const int64_t n = elements(from);
    for (uint32_t c = 0; c < from->components; c++)
        memcpy(h->value[array].data[c], from->data[c], (size_t)n * ir_type_size(from->type[c]));
    return n;
}

static void run_cluster(host *h, const sk_cluster *c)
{
    int64_t extent[IR_MAX_RANK], rows = 1;
    for (unsigned d = 0; d < c->loop->rank; d++) {
        extent[d] = (int64_t)closed(h, c->loop->shape[d]);
        rows *= d + 1 < c->loop->rank ? extent[d] : 1;
    }
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (c->loop->op.at[i].stored)
            make(h, c->loop->op.at[i].term);
    int64_t partials = 1, places = 0;
    if (c->loop->class == L_CLASS_PERMUTE)
        places = begin_permute(h, c->loop->op.at[0].term);
    sk_pass pass[SK_PASSES];
    uint32_t passes = sk_passes(c, &h->device, pass);
    void **in = NULL;
    h->state = NULL;
    if (sk_sorts(c)) {
        if (rows && extent[c->loop->rank - 1])
            run_sort(h, c, extent);
        return;
    }
    const int64_t segments = c->loop->segments ? (int64_t)closed(h, c->loop->segment_count) : 0;
    for (uint32_t i = 0; i < passes; i++)
        while (!h->out->why && (pass[i] != SK_PASS_COMBINE || partials > 1)) {
            in = run_round(h, c, extent,
                           (sk_round){.pass = pass[i],
                                      .partials = pass[i] == SK_PASS_COMBINE ? partials : 0,
                                      .places = places,
                                      .segments = segments},
                           rows, in, &partials);
            if (pass[i] != SK_PASS_COMBINE)
                break;
        }
}

static run_result run(ir_program *p, const l_options *options, const sk_options *device, arena *a,
                      const ir_value *input, size_t cache)
{
    run_result out = {0};
    host h = {.p = p, .a = a, .out = &out, .device = *device, .cache = cache};
    h.value = arena_array(a, ir_value, p->node.n + 1);
    for (uint32_t i = 0; i < p->input.n; i++) {
        h.value[p->input.at[i]] = input[i];
        const ir_array *info = ir_info(p, p->input.at[i]);
        for (unsigned d = 0; d < info->rank; d++)
            if (ir_at(p, info->shape[d])->kind == IR_DIM)
                h.dims[ir_at(p, info->shape[d])->u.literal] = input[i].extent[d];
    }
    h.s = sk_prepare(l_clusters(p, options));
    for (uint32_t i = 0; i < h.s->l->cluster.n && !out.why && !out.error.site; i++)
        run_cluster(&h, &h.s->cluster[i]);
    for (ir_id id = 1; id < h.s->l->nodes && !out.why && !out.error.site; id++)
        if (ir_is_array(p, id) && h.value[id].components)
            settle(&h, id);
    out.output = arena_array(a, ir_value, p->output.n + 1);
    for (uint32_t i = 0; i < p->output.n && !out.why; i++)
        out.output[i] = h.value[p->output.at[i]];
    return out;
}

run_result run_clusters(ir_program *p, const l_options *options, const sk_options *device, arena *a,
                        const ir_value *input)
{
    return run(p, options, device, a, input, 1 << 25);
}

run_result run_clusters_uncached(ir_program *p, const l_options *options, const sk_options *device, arena *a,
                                 const ir_value *input)
{
    return run(p, options, device, a, input, 64);
}
