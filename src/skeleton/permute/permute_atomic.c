/* Permutes on devices whose blocks are many threads, by operators that are atomic: threads combine their elements with
 * what is there at once, in any order. Where there are few places a block has copies of them in shared memory, and
 * combines what these have come to with the result once it has seen all its elements: threads that want the same place
 * at the same time have different copies. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

/* --- launches --- */

enum { COPIES = 32 /* at most, of a place */ };

/* Bytes of a place in shared memory. */
static int64_t shared_bytes(const sk_cluster *c)
{
    return c->counts ? (int64_t)sizeof(uint32_t) : sk_permute_bytes(c->permuted);
}

/* Copies lie apart by an odd number of places, so that those of one place are in different banks. */
static int64_t apart(int64_t places)
{
    return places | 1;
}

/* How a launch goes about it whose places fit in shared memory; false: they do not, or do not pay. */
static bool plan_shared(const sk_call *x, int64_t total, sk_geometry *g)
{
    enum { NEAR = 16 << 10, FAR = 47 << 10, UNIT = 1 << 10, NEAR_BLOCKS = 8, FAR_BLOCKS = 4 };
    enum { LEAST = 4096, MERGED = 4 /* elements to a place of a block */, MOST = 1 << 30, FEW = 2048 };
    const int64_t bytes = shared_bytes(x->c), workers = larger(x->o->workers, 1);
    const int64_t all = smaller(FAR, (int64_t)x->o->scratch / UNIT * UNIT - UNIT), near = smaller(NEAR, all);
    if (!x->c->permuted->identities || x->places < 1 || x->places > total || apart(x->places) > all / bytes)
        return false;
    const bool is_near = apart(x->places) <= near / bytes;
    const int64_t room = is_near ? near : all, each = pieces_of(total, workers * (is_near ? NEAR_BLOCKS : FAR_BLOCKS));
    const int64_t length = smaller(MOST, round_up(larger(larger(LEAST, MERGED * x->places), each), K_PACK_ROUNDS));
    int64_t copies = 1;
    while (2 * copies <= COPIES && 2 * copies * apart(x->places) <= room / bytes && 2 * copies * x->places <= length)
        copies *= 2;
    g->pieces = pieces_of(total, length);
    if (x->places > FEW && 4 * g->pieces < workers)
        return false;
    g->row = room;
    g->slot[SK_PERMUTE_LENGTH] = length;
    g->slot[SK_PERMUTE_COPIES] = copies;
    g->slot[SK_PERMUTE_APART] = apart(x->places);
    return true;
}

bool sk_launch_permute_atomic(const sk_call *x, sk_geometry *g)
{
    if (!x->o->group || !x->c->atomic)
        return false;
    int64_t total = x->rows * x->columns, size = sk_group_piece(x->c);
    g->slot[SK_PERMUTE_ELEMENTS] = total;
    g->slot[SK_PERMUTE_PLACES] = x->places;
    if (!plan_shared(x, total, g)) {
        g->pieces = pieces_of(total, size);
        g->slot[SK_PERMUTE_LENGTH] = size;
    }
    if (x->pass == SK_PASS_TOTALS)
        g->pieces = 0;
    return true;
}

/* --- in the result --- */

static ir_op op_of(const sk_permute *m, uint32_t c)
{
    const ir_program *p = m->lw->l->ir;
    return (ir_op)ir_at(p, ir_info(p, m->all->anchor[c])->fn->result[m->all->own[c]])->op;
}

static void build_global(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val size = sk_slot(lw, SK_PERMUTE_LENGTH, "piece_size"), from = sk_mul(lw, k_piece(b), size);
    k_val count = sk_min(lw, k_i64(b, sk_group_piece(lw->cluster)), sk_min(lw, size, sk_sub(lw, m->elements, from)));
    lw->out->k->group = SK_PERMUTE_THREADS;
    k_val lane = k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    sk_permute_found f;
    sk_permute_find(m, sk_add(lw, from, lane), &f);
    if (f.inside)
        k_if(b, f.inside);
    for (uint32_t c = 0; c < m->all->n; c++)
        k_atomic(b, op_of(m, c), m->into[c], f.place, f.value[c]);
    if (f.inside)
        k_end(b);
    sk_permute_report(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- in shared memory --- */

typedef struct own_places { /* of a block */
    sk_permute *m;
    bool counts;         /* there is only how many elements a place has, in 32 bits */
    k_mem *table;        /* per component, */
    k_mem *upper;        /* and the upper halves of sums of 64 bits, whose lower ones the table has; 0: another one */
    k_mem outside;       /* not 0: some element lies outside */
    k_val copies, apart; /* copies of each place; from one to the next */
    k_val from, count;   /* the block's elements */
} own_places;

/* Processors add 32 bits in shared memory by themselves, and 64 by trying again and again. */
static bool has_halves(const own_places *o, uint32_t c)
{
    return ir_type_size(o->m->all->type[c]) == 8 && op_of(o->m, c) == OP_ADD;
}

static void open_places(own_places *o)
{
    sk_permute *m = o->m;
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const int64_t entries = lw->options->row / shared_bytes(lw->cluster);
    o->counts = lw->cluster->counts;
    o->table = arena_array(lw->arena, k_mem, m->all->n);
    o->upper = arena_array(lw->arena, k_mem, m->all->n);
    for (uint32_t c = 0; c < (o->counts ? 1 : m->all->n); c++) {
        bool halves = !o->counts && has_halves(o, c);
        o->table[c] = k_shared(b, o->counts || halves ? T_U32 : m->all->type[c], entries, "own");
        o->upper[c] = halves ? k_shared(b, T_U32, entries, "own_upper") : 0;
    }
    o->outside = k_shared(b, T_U32, 1, "outside");
    o->copies = sk_slot(lw, SK_PERMUTE_COPIES, "copies");
    o->apart = sk_slot(lw, SK_PERMUTE_APART, "apart");
    k_val length = sk_slot(lw, SK_PERMUTE_LENGTH, "block_length");
    o->from = sk_mul(lw, k_piece(b), length);
    o->count = sk_min(lw, length, sk_sub(lw, m->elements, o->from));
}

static k_val nothing(const own_places *o, uint32_t c)
{
    return k_literal(&o->m->lw->b, o->m->all->type[c], o->m->all->identity[c]);
}

static void clear_places(own_places *o)
{
    sk_permute *m = o->m;
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val i = k_for_all(b, sk_mul(lw, o->copies, o->apart));
    for (uint32_t c = 0; c < (o->counts ? 1 : m->all->n); c++) {
        bool words = o->counts || o->upper[c];
        k_store(b, o->table[c], i, words ? k_literal(b, T_U32, 0) : nothing(o, c));
        if (o->upper[c])
            k_store(b, o->upper[c], i, k_literal(b, T_U32, 0));
    }
    k_end(b);
    k_val one = k_for_few(b, k_i64(b, 1));
    k_store(b, o->outside, one, k_literal(b, T_U32, 0));
    k_end(b);
}

/* The lower half first: what it carries goes to the upper one, which most elements leave alone. */
static void add_halves(own_places *o, uint32_t c, k_val at, k_val value)
{
    k_builder *b = &o->m->lw->b;
    k_val bits = o->m->all->type[c] == T_U64 ? value : k_convert(b, OP_BITCAST, T_U64, value);
    k_val low = k_convert(b, OP_CONVERT, T_U32, k_let(b, OP_BIT_AND, bits, k_literal(b, T_U64, UINT32_MAX), 0));
    k_val high = k_convert(b, OP_CONVERT, T_U32, k_let(b, OP_SHR, bits, k_literal(b, T_U64, 32), 0));
    k_val old = k_atomic(b, OP_ADD, o->table[c], at, low), sum = k_let(b, OP_ADD, old, low, 0);
    k_val carried = k_select(b, k_let(b, OP_LT, sum, old, 0), k_literal(b, T_U32, 1), k_literal(b, T_U32, 0));
    high = k_let(b, OP_ADD, high, carried, 0);
    k_if(b, k_let(b, OP_GT, high, k_literal(b, T_U32, 0), 0));
    k_atomic(b, OP_ADD, o->upper[c], at, high);
    k_end(b);
}

/* The element at a position; `copy`: where the thread's copy begins. */
static void take_own(own_places *o, k_val position, k_val copy)
{
    sk_permute *m = o->m;
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    sk_permute_found f;
    sk_permute_find(m, position, &f);
    if (f.inside)
        k_if(b, f.inside);
    k_val at = sk_add(lw, copy, f.place);
    if (o->counts)
        k_atomic(b, OP_ADD, o->table[0], at, k_literal(b, T_U32, 1));
    for (uint32_t c = 0; c < m->all->n && !o->counts; c++) {
        if (o->upper[c])
            add_halves(o, c, at, f.value[c]);
        else
            k_atomic(b, op_of(m, c), o->table[c], at, f.value[c]);
    }
    if (f.inside && lw->options->checks) {
        k_else(b);
        if (f.dropped)
            k_if(b, k_let(b, OP_NOT, f.dropped, 0, 0));
        k_atomic(b, OP_BIT_OR, o->outside, k_i64(b, 0), k_literal(b, T_U32, 1));
        if (f.dropped)
            k_end(b);
    }
    if (f.inside)
        k_end(b);
    sk_scope_end(lw, mark);
}

static k_val copy_of(own_places *o, k_val lane)
{
    sk_lower *lw = o->m->lw;
    k_val copy = k_let(&lw->b, OP_BIT_AND, lane, sk_sub(lw, o->copies, k_i64(&lw->b, 1)), 0);
    return sk_mul(lw, copy, o->apart);
}

/* Several neighbours a thread, which it reads together. */
static void take_elements(own_places *o)
{
    sk_permute *m = o->m;
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val some = k_i64(b, K_PACK_ROUNDS), packs = k_i64(b, 0), done = packs;
    if (!m->may_fail) {
        packs = k_let(b, OP_QUOT, o->count, some, 0);
        k_val lane = k_for_all(b, packs), copy = copy_of(o, lane);
        k_val first = sk_add(lw, o->from, sk_mul(lw, lane, some));
        take_own(o, sk_add(lw, first, k_for_pack(b)), copy);
        k_end(b);
        k_end(b);
        done = sk_mul(lw, packs, some);
    }
    k_val lane = k_for_all(b, sk_sub(lw, o->count, done));
    take_own(o, sk_add(lw, sk_add(lw, o->from, done), lane), copy_of(o, lane));
    k_end(b);
}

/* Only where there is something to report: elements are looked at again, each by a thread of its own. */
static void report_outside(own_places *o)
{
    sk_permute *m = o->m;
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    if (!lw->options->checks)
        return;
    k_if(b, k_let(b, OP_GT, k_load(b, o->outside, k_i64(b, 0)), k_literal(b, T_U32, 0), 0));
    k_val lane = k_for_all(b, o->count);
    uint32_t mark = sk_scope(lw);
    sk_permute_found f;
    sk_permute_find(m, sk_add(lw, o->from, lane), &f);
    sk_permute_report(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
}

static k_val load_own(own_places *o, uint32_t c, k_val at)
{
    sk_lower *lw = o->m->lw;
    k_builder *b = &lw->b;
    k_val own = k_load(b, o->table[c], at);
    if (!o->upper[c])
        return own;
    k_val high = k_convert(b, OP_CONVERT, T_U64, k_load(b, o->upper[c], at));
    k_val all =
        k_let(b, OP_ADD, k_let(b, OP_SHL, high, k_literal(b, T_U64, 32), 0), k_convert(b, OP_CONVERT, T_U64, own), 0);
    return o->m->all->type[c] == T_U64 ? all : k_convert(b, OP_BITCAST, o->m->all->type[c], all);
}

/* What a place's copies have come to goes into the result, if that is anything. */
static void merge_own(own_places *o, k_val place)
{
    sk_permute *m = o->m;
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const uint32_t n = o->counts ? 1 : m->all->n;
    k_val total[IR_MAX_COMPONENTS], any = 0;
    for (uint32_t c = 0; c < n; c++)
        total[c] = k_decl(b, o->counts ? k_literal(b, T_U32, 0) : nothing(o, c), "total");
    k_val copy = k_for(b, k_i64(b, 0), o->copies, false), at = sk_add(lw, sk_mul(lw, copy, o->apart), place);
    for (uint32_t c = 0; c < n; c++) {
        k_val own = load_own(o, c, at);
        k_set(b, total[c], k_let(b, o->counts ? OP_ADD : op_of(m, c), k_get(b, total[c]), own, 0));
    }
    k_end(b);
    for (uint32_t c = 0; c < n; c++) {
        k_val none = o->counts ? k_literal(b, T_U32, 0) : nothing(o, c);
        k_val some = k_let(b, OP_NE, total[c] = k_get(b, total[c]), none, 0);
        any = any ? k_let(b, OP_OR, any, some, 0) : some;
    }
    k_if(b, any);
    for (uint32_t c = 0; c < m->all->n; c++) {
        k_val sum = total[o->counts ? 0 : c];
        if (o->counts)
            sum = k_let(b, OP_MUL, k_convert(b, OP_CONVERT, m->all->type[c], sum), sk_closed(lw, m->element[c]), 0);
        k_atomic(b, op_of(m, c), m->into[c], place, sum);
    }
    k_end(b);
}

static void build_shared(sk_permute *m)
{
    enum { NEAR = 24 << 10 };
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    own_places own = {.m = m}, *o = &own;
    lw->out->k->group = lw->options->row > NEAR ? 2 * SK_PERMUTE_THREADS : SK_PERMUTE_THREADS;
    open_places(o);
    clear_places(o);
    take_elements(o);
    report_outside(o);
    k_val place = k_for_all(b, m->places);
    merge_own(o, place);
    k_end(b);
}

void sk_build_permute_atomic(sk_lower *lw)
{
    sk_permute m;
    const bool shared = lw->options->row;
    if (shared)
        lw->name = "permute_shared";
    sk_permute_open(&m, lw);
    m.places_type = shared ? T_I32 : T_I64;
    sk_permute_find_elements(&m);
    sk_open_space(lw);
    for (uint32_t c = 0; c < m.all->n; c++)
        m.into[c] = sk_permute_result(&m, c);
    m.elements = sk_slot(lw, SK_PERMUTE_ELEMENTS, "elements");
    if (!shared) {
        build_global(&m);
        return;
    }
    m.places = sk_slot(lw, SK_PERMUTE_PLACES, "places");
    build_shared(&m);
}
