/* How permutes are launched: what is known of the operator, how the source and the places are divided, and how much
 * memory tables of totals take. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

#include "opt/identity.h"

/* --- what the operation is --- */

enum { NO_PART = UINT8_MAX };

typedef struct parting { /* of an operation */
    ir_program *p;
    const ir_fn *fn;
    uint8_t root[IR_MAX_COMPONENTS]; /* union-find over its components */
} parting;

static uint32_t root_of(const parting *d, uint32_t c)
{
    while (d->root[c] != c)
        c = d->root[c];
    return c;
}

/* A component is combined together with those whose parameters its result looks at. */
static void find_together(parting *d, arena *a)
{
    const ir_fn *fn = d->fn;
    for (uint32_t c = 0; c < fn->results; c++)
        d->root[c] = (uint8_t)c;
    for (uint32_t c = 0; c < fn->results; c++) {
        opt_ids ids = {0};
        opt_reach(d->p, a, 1, &fn->result[c], &ids);
        for (uint32_t i = 0; i < ids.n; i++)
            for (uint32_t k = 0; k < fn->params; k++)
                if (ids.at[i] == fn->param[k]) {
                    uint32_t x = root_of(d, c), y = root_of(d, k % fn->results);
                    d->root[x > y ? x : y] = (uint8_t)(x < y ? x : y);
                }
        vec_free(a, &ids);
    }
}

/* The parts of operation number `op`, whose components begin at m->n. */
static void add_parts(sk_permuted *m, ir_program *p, ir_id anchor, uint32_t op, arena *a)
{
    const ir_array *info = ir_info(p, anchor);
    parting d = {.p = p, .fn = info->fn};
    uint8_t part[IR_MAX_COMPONENTS];
    ir_bits identity[IR_MAX_COMPONENTS];
    bool known = info->fn && opt_find_identity(p, info->fn, identity);
    memset(part, NO_PART, sizeof part);
    if (info->fn)
        find_together(&d, a);
    for (uint32_t c = 0; c < info->components; c++) {
        uint32_t root = info->fn ? root_of(&d, c) : 0, all = m->n + c;
        if (part[root] == NO_PART) {
            part[root] = (uint8_t)m->parts;
            m->part[m->parts++] = (sk_permute_part){.fn = info->fn, .op = op, .first = m->n, .identity = known};
        }
        sk_permute_part *of = &m->part[part[root]];
        of->of[of->n++] = (uint8_t)c;
        m->anchor[all] = anchor;
        m->own[all] = c;
        m->type[all] = info->type[c];
        m->identity[all] = known ? identity[c] : 0;
    }
    m->n += info->components;
}

static sk_permuted *find_parts(const sk_cluster *c, arena *a)
{
    ir_program *p = c->l->ir;
    sk_permuted *m = arena_new(a, *m);
    ir_id condition;
    bool new;
    *m = (sk_permuted){.to = ir_info(p, c->loop->op.at[0].term), .identities = true};
    m->last = !m->to->fn;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const ir_fn *fn = ir_info(p, c->loop->op.at[i].term)->fn;
        add_parts(m, p, c->loop->op.at[i].term, i, a);
        if (fn && !opt_any_order(p, fn))
            m->blocks = fn;
    }
    for (uint32_t i = 0; i < m->parts; i++) {
        sk_permute_part *part = &m->part[i];
        m->identities &= part->identity;
        part->chooses =
            part->fn &&
            (sk_permute_choice(p, part->fn, part, &condition, &new) ||
             (part->identity && sk_permute_extreme(p, part) && !ir_type_float(m->type[part->first + part->of[0]])));
    }
    return m;
}

/* Is the element the same wherever it is asked for? */
bool sk_is_alike(const ir_program *p, ir_id element)
{
    return ir_at(p, element)->kind == IR_CONST || ir_at(p, element)->kind == IR_DIM;
}

/* Sums of constants: how many there are says all. */
static bool adds_constants(const ir_program *p, const sk_permuted *m, const ir_id *element)
{
    bool good = true;
    for (uint32_t c = 0; c < m->n && good; c++)
        good = ir_at(p, ir_info(p, m->anchor[c])->fn->result[m->own[c]])->op == OP_ADD && m->type[c] != T_BOOL &&
               sk_is_alike(p, element[c]);
    return good;
}

/* Do the elements of a row of the source go to one row of places, each at its own index? `term`: targets, then
 * elements.
 */
static bool goes_by_rows(sk_lower *lw, const sk_permuted *m, const ir_id *term)
{
    const ir_program *p = lw->l->ir;
    const l_cluster *loop = lw->cluster->loop;
    const ir_array *info = m->to;
    const unsigned last = info->rank ? info->rank - 1u : 0;
    if (loop->rank < 2 || !info->rank || term[last] != lw->at.at[loop->rank - 1] ||
        info->shape[last] != loop->shape[loop->rank - 1])
        return false;
    bool rows = !sk_mentions(lw, last, term, lw->at.at[loop->rank - 1]) && !sk_mentions(lw, last, term, lw->at.linear);
    for (uint32_t i = 0; i < info->rank + m->n && rows; i++)
        rows = !ir_at(p, term[i])->partial;
    for (uint32_t i = 0; i < loop->op.n && rows; i++) {
        const ir_fn *fn = ir_info(p, loop->op.at[i].term)->fn;
        for (uint32_t c = 0; fn && c < fn->results && rows; c++)
            rows = !ir_at(p, fn->result[c])->partial;
    }
    return rows;
}

void sk_permute_prepare(sk_cluster *c, arena *a)
{
    const l_program *l = c->l;
    sk_permuted *m = find_parts(c, a);
    c->permuted = m;
    c->any_order = !m->last && !m->blocks;
    c->atomic = c->any_order;
    for (uint32_t i = 0; i < c->loop->op.n && c->atomic; i++)
        c->atomic = opt_atomic(l->ir, ir_info(l->ir, c->loop->op.at[i].term)->fn);
    for (uint32_t i = 0; i < m->parts; i++)
        c->chooses |= m->part[i].chooses;
    const sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
    sk_open(&lw, 1);
    ir_id term[IR_MAX_RANK + IR_MAX_COMPONENTS];
    memcpy(term, sk_operand(&lw.body, c->loop->op.at[0].term, 1, &lw.at), m->to->rank * sizeof(ir_id));
    sk_permute_elements(&lw, term + m->to->rank);
    c->by_rows = goes_by_rows(&lw, m, term);
    c->counts = c->any_order && adds_constants(l->ir, m, term + m->to->rank);
    m->vector = sk_permute_alike(l->ir, m, term + m->to->rank);
    sk_find_runs(l->ir, c, a, m->to->rank + m->n, term, &lw.at);
}

/* --- how a launch goes about it --- */

/* Elements a place from which on tables pay whose number is free; also by flags, which take a store more. */
enum { PAYS = 1, PAYS_WITH_FLAGS = 8, MOST_TABLE_BYTES = 256 << 20 };
/* Elements that are worth more than one worker. */
enum { LEAST_SHARED = 65536 };
/* Elements a place from which on most change nothing, if the operator chooses. */
enum { CHANGES_RARELY = 16 };
enum { MOST_RANGES = 512, GROUPS = 8 /* a worker, where a group is many threads */ };

int64_t sk_permute_bytes(const sk_permuted *m)
{
    int64_t bytes = 0;
    for (uint32_t c = 0; c < m->n; c++)
        bytes += (int64_t)ir_type_size(m->type[c]);
    return bytes;
}

sk_permute_record sk_permute_layout(const sk_cluster *c, unsigned kind)
{
    const sk_permuted *m = c->permuted;
    sk_permute_record r = {0};
    int64_t widest = 1;
    if (kind & SK_PERMUTE_COUNTS)
        return (sk_permute_record){.bytes = sizeof(uint32_t)};
    if (kind & SK_PERMUTE_VECTOR) {
        int64_t size = (int64_t)ir_type_size(m->vector.type);
        for (uint32_t k = 0; k < m->n; k++)
            r.offset[k] = size * k;
        r.bytes = size * m->vector.lanes;
        return r;
    }
    for (int64_t size = 8; size; size /= 2)
        for (uint32_t k = 0; k < m->n; k++)
            if ((int64_t)ir_type_size(m->type[k]) == size) {
                widest = larger(widest, size);
                r.offset[k] = r.bytes;
                r.bytes += size;
            }
    for (uint32_t i = 0; i < m->parts; i++)
        r.has[i] = m->part[i].identity ? 0 : r.bytes++;
    r.flags = !m->identities;
    r.bytes = round_up(r.bytes, widest);
    return r;
}

/* As many blocks as suit the workers; 0: none of them pays for its table. */
static int64_t free_blocks(const sk_cluster *c, const sk_options *o, int64_t elements, int64_t places)
{
    int64_t workers = larger(o->workers, 1), bytes = sk_permute_layout(c, c->counts ? SK_PERMUTE_COUNTS : 0).bytes;
    int64_t pays = c->permuted->identities ? PAYS : PAYS_WITH_FLAGS, most = elements / (pays * larger(1, workers / 2));
    if (elements <= LEAST_SHARED || places > most || places > MOST_TABLE_BYTES / (workers * bytes))
        return 0;
    int64_t more = smaller(4, elements / larger(1, 32 * workers * places));
    int64_t blocks = smaller(workers * larger(1, more), pieces_of(elements, LEAST_SHARED / 4));
    return blocks > workers ? blocks - blocks % workers : blocks; /* as many for each */
}

sk_permute_cut sk_permute_plan(const sk_cluster *c, const sk_options *o, int64_t elements, int64_t places)
{
    int64_t workers = larger(o->workers, 1);
    sk_permute_cut p = {.length = ir_permute_block(c->l->ir, c->permuted->blocks, elements, places), .ranges = 1};
    bool last = c->permuted->last; /* the last element stays, however they are cut */
    if ((c->any_order || last) && !o->group) {
        int64_t blocks = last && workers == 1 ? 0 : free_blocks(c, o, elements, places);
        p.length = pieces_of(elements, larger(1, blocks));
        p.counts = c->counts && blocks && p.length <= UINT32_MAX;
    }
    p.length = larger(1, p.length);
    p.blocks = larger(1, pieces_of(elements, p.length));
    p.tables = p.blocks > 1 || p.counts;
    p.rarely = c->chooses && !o->group && elements / CHANGES_RARELY >= places;
    if (o->group) { /* no more than keep the device busy: each goes over all elements of its block */
        p.ranges = smaller(pieces_of(places, SK_PERMUTE_THREADS), pieces_of(GROUPS * workers, p.blocks));
        p.ranges = larger(1, smaller(MOST_RANGES, p.ranges));
    } else if (elements > LEAST_SHARED && p.blocks < workers)
        p.ranges = larger(1, smaller(places, pieces_of(workers, p.blocks)));
    p.range = larger(1, pieces_of(places, p.ranges));
    return p;
}

/* What is combined while the next elements are computed lies far away: stretches are short, so that both are at work
 * side by side. */
static bool is_far(const sk_call *x, const sk_permute_cut *p, unsigned kind)
{
    enum { NEAR = 32 << 10 };
    int64_t bytes = p->tables ? sk_permute_layout(x->c, kind).bytes : sk_permute_bytes(x->c->permuted);
    return p->range > NEAR / bytes && !x->o->group;
}

/* Is a row a vector or more, and do its totals lie side by side? */
static bool takes_rows(const sk_call *x, const sk_permute_cut *p)
{
    enum { LEAST = 4 };
    bool beside = !p->tables || x->c->permuted->identities;
    return x->c->by_rows && x->columns >= LEAST && x->o->vector_bytes && !x->o->group && beside && !p->counts &&
           p->ranges == 1;
}

/* Are there rows worth going along? Bits for sk_geometry.row. */
static unsigned goes_along(const sk_call *x)
{
    enum { SHORT = 256 };
    const sk_cluster *c = x->c;
    int64_t length = 1;
    for (unsigned d = c->loop->rank - c->inner; d < c->loop->rank; d++)
        length *= x->extent[d];
    if (!c->uses_index || length < SK_PERMUTE_SHORT_LANES || !x->o->vector_bytes || x->o->group)
        return 0;
    return SK_PERMUTE_ALONG | (length < SHORT ? SK_PERMUTE_SHORT : 0);
}

/* Are totals records that one vector holds? */
static bool takes_vectors(const sk_call *x, const sk_permute_cut *p)
{
    const sk_permute_vector *v = &x->c->permuted->vector;
    return v->lanes && p->tables && !p->counts && (!p->rarely || v->op == OP_MIN) && p->ranges == 1 && !x->o->group &&
           v->lanes * ir_type_size(v->type) <= x->o->vector_bytes && p->length <= v->longest &&
           x->places < INT32_MAX / v->lanes;
}

/* Are there so few places that elements near each other may well have the same, and several tables of a block at hand?
 */
static bool has_several(const sk_call *x, const sk_permute_cut *p, unsigned kind)
{
    enum { NEAR = 4096, LEAST_ELEMENTS = 16 /* a place */ };
    const bool rarely = p->rarely && kind != SK_PERMUTE_VECTOR;
    return x->c->any_order && p->tables && !rarely && p->ranges == 1 && !takes_rows(x, p) && !x->o->group &&
           x->places * sk_permute_layout(x->c, kind).bytes <= NEAR && p->length >= LEAST_ELEMENTS * x->places;
}

/* Records from one table to the next, `records` of which are used. Different workers write to tables that follow each
 * other, and processors fetch lines by pairs: no such pair has some of both. */
static int64_t records_apart(int64_t records, int64_t bytes)
{
    enum { PAIR = 2 * SK_LINE };
    int64_t all = round_up(records * bytes, SK_LINE) + PAIR;
    return pieces_of(all, bytes);
}

static void set_slots(const sk_call *x, const sk_permute_cut *p, sk_geometry *g)
{
    unsigned kind = p->counts ? SK_PERMUTE_COUNTS : 0;
    if (!takes_rows(x, p) && takes_vectors(x, p))
        kind = SK_PERMUTE_VECTOR;
    g->slot[SK_PERMUTE_ELEMENTS] = x->rows * x->columns;
    g->slot[SK_PERMUTE_PLACES] = x->places;
    const int64_t tables = p->blocks * (has_several(x, p, kind) ? SK_PERMUTE_TABLES_OF_BLOCK : 1);
    g->slot[SK_PERMUTE_BLOCKS] = tables;
    g->slot[SK_PERMUTE_LENGTH] = p->length;
    g->slot[SK_PERMUTE_RANGES] = p->ranges;
    g->slot[SK_PERMUTE_RANGE] = p->range;
    g->row = (p->tables ? SK_PERMUTE_TABLES : 0) | (p->ranges > 1 ? SK_PERMUTE_DIVIDED : 0) | kind |
             (is_far(x, p, kind) ? SK_PERMUTE_FAR : 0) |
             (takes_rows(x, p)                         ? SK_PERMUTE_ROWS
              : p->rarely && kind != SK_PERMUTE_VECTOR ? SK_PERMUTE_RARELY
                                                       : 0) |
             (has_several(x, p, kind) ? SK_PERMUTE_SEVERAL : 0) | goes_along(x) |
             (x->places <= INT32_MAX ? SK_PERMUTE_FEW : 0);
    int64_t bytes = sk_permute_layout(x->c, kind).bytes;
    int64_t records = x->places + (kind == SK_PERMUTE_VECTOR); /* one for elements that go nowhere */
    g->slot[SK_PERMUTE_APART] = records_apart(records, bytes);
    g->state_words = p->tables ? pieces_of(tables * g->slot[SK_PERMUTE_APART] * bytes, sizeof(uint64_t)) : 0;
}

bool sk_launch_permute(const sk_call *x, sk_geometry *g)
{
    sk_permute_cut p = sk_permute_plan(x->c, x->o, x->rows * x->columns, x->places);
    set_slots(x, &p, g);
    if (x->pass == SK_PASS_TOTALS)
        g->pieces = p.tables ? pieces_of(x->places, SK_PERMUTE_MERGED) : 0;
    else
        g->pieces = p.blocks * p.ranges;
    return true;
}
