/* How permutes are launched: what is known of the operator, how the source and the places are divided, and how much
 * memory tables of totals take. */
#include "skeleton/permute/permute.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

#include "opt/identity.h"

/* --- what the operation is --- */

const ir_array *sk_permuted(const sk_cluster *c)
{
    return ir_info(c->l->ir, c->loop->op.at[0].term);
}

/* Primitives of integers and bool, component by component. */
static bool any_order(const ir_array *info, const ir_bits *identity)
{
    bool same = identity != NULL;
    for (uint32_t c = 0; c < info->components; c++)
        same &= !ir_type_float(info->type[c]);
    return same;
}

static bool atomic_operator(const ir_program *p, const ir_array *info)
{
    bool good = true;
    for (uint32_t c = 0; c < info->components && good; c++) {
        unsigned op = ir_at(p, info->fn->result[c])->op;
        good =
            ir_type_size(info->type[c]) >= 4 && ir_type_class(info->type[c]) == CLASS_INT &&
            (op == OP_ADD || op == OP_MIN || op == OP_MAX || op == OP_BIT_AND || op == OP_BIT_OR || op == OP_BIT_XOR);
    }
    return good;
}

/* Is the element the same wherever it is asked for? */
bool sk_is_alike(const ir_program *p, ir_id element)
{
    return ir_at(p, element)->kind == IR_CONST || ir_at(p, element)->kind == IR_DIM;
}

/* Sums of constants: how many there are says all. */
static bool adds_constants(const ir_program *p, const ir_array *info, const ir_id *element)
{
    bool good = true;
    for (uint32_t c = 0; c < info->components && good; c++)
        good = ir_at(p, info->fn->result[c])->op == OP_ADD && info->type[c] != T_BOOL && sk_is_alike(p, element[c]);
    return good;
}

/* Is each component of the result that of the new element or that of the old one, by one condition? Gives this
 * condition, and whether the new one is taken where it holds. */
bool sk_permute_choice(const ir_program *p, const ir_fn *fn, ir_id *condition, bool *new)
{
    *condition = 0;
    for (uint32_t c = 0; c < fn->results; c++) {
        const ir_node *n = ir_at(p, fn->result[c]);
        if (n->kind != IR_COND || n->partial)
            return false;
        const ir_id *arg = ir_args(p, fn->result[c]);
        bool straight = arg[1] == fn->param[c] && arg[2] == fn->param[fn->results + c],
             other = arg[2] == fn->param[c] && arg[1] == fn->param[fn->results + c];
        if ((!straight && !other) || (c && (arg[0] != *condition || straight != *new)))
            return false;
        *condition = arg[0];
        *new = straight;
    }
    return fn->results > 0;
}

static bool is_extreme(const ir_program *p, const ir_fn *fn)
{
    unsigned op = ir_at(p, fn->result[0])->kind == IR_OP ? ir_at(p, fn->result[0])->op : OP_NONE;
    return fn->results == 1 && (op == OP_MIN || op == OP_MAX);
}

/* Do the elements of a row of the source go to one row of places, each at its own index? `term`: targets, then
 * elements.
 */
static bool goes_by_rows(sk_lower *lw, const ir_array *info, const ir_id *term)
{
    const ir_program *p = lw->l->ir;
    const l_cluster *loop = lw->cluster->loop;
    const unsigned last = info->rank ? info->rank - 1u : 0;
    if (loop->rank < 2 || !info->rank || term[last] != lw->at.at[loop->rank - 1] ||
        info->shape[last] != loop->shape[loop->rank - 1])
        return false;
    bool rows = !sk_mentions(lw, last, term, lw->at.at[loop->rank - 1]) && !sk_mentions(lw, last, term, lw->at.linear);
    for (uint32_t i = 0; i < info->rank + info->components && rows; i++)
        rows = !ir_at(p, term[i])->partial;
    for (uint32_t c = 0; info->fn && c < info->components && rows; c++)
        rows = !ir_at(p, info->fn->result[c])->partial;
    return rows;
}

void sk_permute_prepare(sk_cluster *c, arena *a)
{
    ir_id condition;
    bool new;
    const l_program *l = c->l;
    const ir_array *info = sk_permuted(c);
    ir_bits *identity = arena_alloc(a, info->components * sizeof *identity);
    if (!info->fn || !opt_find_identity(l->ir, info->fn, identity))
        identity = NULL;
    c->identity = identity;
    c->any_order = info->fn && any_order(info, identity);
    c->atomic = c->any_order && atomic_operator(l->ir, info);
    c->chooses =
        info->fn && (sk_permute_choice(l->ir, info->fn, &condition, &new) || (identity && is_extreme(l->ir, info->fn)));
    const sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
    sk_open(&lw, 1);
    ir_id anchor = c->loop->op.at[0].term, term[IR_MAX_RANK + IR_MAX_COMPONENTS];
    memcpy(term, sk_operand(&lw.body, anchor, 1, &lw.at), info->rank * sizeof(ir_id));
    memcpy(term + info->rank, sk_operand(&lw.body, anchor, 2, &lw.at), info->components * sizeof(ir_id));
    c->by_rows = goes_by_rows(&lw, info, term);
    c->counts = c->any_order && adds_constants(l->ir, info, term + info->rank);
    sk_find_runs(l->ir, c, a, info->rank + info->components, term, &lw.at);
}

/* --- how a launch goes about it --- */

/* Elements a place from which on tables pay whose number is free; also by flags, which take a store more. */
enum { PAYS = 1, PAYS_WITH_FLAGS = 8, MOST_TABLE_BYTES = 256 << 20 };
/* Elements that are worth more than one worker. */
enum { LEAST_SHARED = 65536 };
/* Elements a place from which on most change nothing, if the operator chooses. */
enum { CHANGES_RARELY = 16 };
enum { MOST_RANGES = 512, GROUPS = 8 /* a worker, where a group is many threads */ };

int64_t sk_permute_bytes(const ir_array *info)
{
    int64_t bytes = 0;
    for (uint32_t c = 0; c < info->components; c++)
        bytes += (int64_t)ir_type_size(info->type[c]);
    return bytes;
}

sk_permute_record sk_permute_layout(const sk_cluster *c, bool counts)
{
    const ir_array *info = sk_permuted(c);
    sk_permute_record r = {0};
    int64_t widest = 1;
    if (counts)
        return (sk_permute_record){.bytes = sizeof(uint32_t)};
    for (int64_t size = 8; size; size /= 2)
        for (uint32_t k = 0; k < info->components; k++)
            if ((int64_t)ir_type_size(info->type[k]) == size) {
                widest = larger(widest, size);
                r.offset[k] = r.bytes;
                r.bytes += size;
            }
    r.has = c->identity ? 0 : r.bytes++;
    r.bytes = round_up(r.bytes, widest);
    return r;
}

/* As many blocks as suit the workers; 0: none of them pays for its table. */
static int64_t free_blocks(const sk_cluster *c, const sk_options *o, int64_t elements, int64_t places)
{
    int64_t workers = larger(o->workers, 1), bytes = sk_permute_layout(c, c->counts).bytes;
    int64_t pays = c->identity ? PAYS : PAYS_WITH_FLAGS, most = elements / (pays * larger(1, workers / 2));
    if (elements <= LEAST_SHARED || places > most || places > MOST_TABLE_BYTES / (workers * bytes))
        return 0;
    int64_t more = smaller(4, elements / larger(1, 32 * workers * places));
    return smaller(workers * larger(1, more), pieces_of(elements, LEAST_SHARED / 4));
}

sk_permute_cut sk_permute_plan(const sk_cluster *c, const sk_options *o, int64_t elements, int64_t places)
{
    int64_t workers = larger(o->workers, 1);
    sk_permute_cut p = {.length = ir_permute_block(c->l->ir, sk_permuted(c)->fn, elements, places), .ranges = 1};
    bool last = !sk_permuted(c)->fn; /* the last element stays, however they are cut */
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
static bool is_far(const sk_call *x, const sk_permute_cut *p)
{
    enum { NEAR = 32 << 10 };
    int64_t bytes = p->tables ? sk_permute_layout(x->c, p->counts).bytes : sk_permute_bytes(sk_permuted(x->c));
    return p->range > NEAR / bytes && !x->o->group;
}

/* Is a row a vector or more, and do its totals lie side by side? */
static bool takes_rows(const sk_call *x, const sk_permute_cut *p)
{
    enum { LEAST = 4 };
    bool beside = !p->tables || (sk_permuted(x->c)->components == 1 && x->c->identity);
    return x->c->by_rows && x->columns >= LEAST && x->o->vector_bytes && !x->o->group && beside && !p->counts &&
           p->ranges == 1;
}

static void set_slots(const sk_call *x, const sk_permute_cut *p, sk_geometry *g)
{
    g->slot[SK_PERMUTE_ELEMENTS] = x->rows * x->columns;
    g->slot[SK_PERMUTE_PLACES] = x->places;
    g->slot[SK_PERMUTE_BLOCKS] = p->blocks;
    g->slot[SK_PERMUTE_LENGTH] = p->length;
    g->slot[SK_PERMUTE_RANGES] = p->ranges;
    g->slot[SK_PERMUTE_RANGE] = p->range;
    g->row = (p->tables ? SK_PERMUTE_TABLES : 0) | (p->ranges > 1 ? SK_PERMUTE_DIVIDED : 0) |
             (p->counts ? SK_PERMUTE_COUNTS : 0) | (is_far(x, p) ? SK_PERMUTE_FAR : 0) |
             (takes_rows(x, p) ? SK_PERMUTE_ROWS
              : p->rarely      ? SK_PERMUTE_RARELY
                               : 0) |
             (x->places <= INT32_MAX ? SK_PERMUTE_FEW : 0);
    g->state_words =
        p->tables ? pieces_of(p->blocks * x->places * sk_permute_layout(x->c, p->counts).bytes, sizeof(uint64_t)) : 0;
}

bool sk_launch_permute_atomic(const sk_call *x, sk_geometry *g)
{
    if (!x->o->group || !x->c->atomic)
        return false;
    int64_t total = x->rows * x->columns, size = sk_group_piece(x->c);
    g->pieces = x->pass == SK_PASS_TOTALS ? 0 : pieces_of(total, size);
    g->slot[SK_PERMUTE_ELEMENTS] = total;
    g->slot[SK_PERMUTE_PLACES] = x->places;
    g->slot[SK_PERMUTE_LENGTH] = size;
    return true;
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
