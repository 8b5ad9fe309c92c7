/* Short segments of different lengths in loops that go over segments several times: as many as a gang has lanes, sweep
 * after sweep. In each sweep
 *
 *  1. what earlier sweeps know of a segment is laid out beside its elements, in shared memory;
 *  2. elements are computed one behind the other, as in a loop without segments; what is folded goes to shared memory;
 *  3. lanes are segments, and fold from left to right, masked by their length.
 *
 * A lane by itself would compute one element at a time. */
#include "skeleton/extents.h"
#include "skeleton/segment/segment.h"

enum { STEP = 4, SIZES = SK_SHORT / STEP, MOST = ROW_GANG * SK_SHORT, MOST_BYTES = 96 << 10 };

typedef struct laid_out { /* what is known of a segment, and used by its elements */
    ir_id variable;
    uint8_t sweep; /* the first that may use it */
    k_mem of;      /* per lane */
    k_mem beside;  /* per element; 0: no element uses it */
} laid_out;

struct sk_short {
    row_loop *r;
    sk_offsets *of;
    VEC(laid_out) known;
    k_mem **element; /* per part that folds, and term */
    bool one_row;    /* elements ask for indices: the gang must stay in a row */
    k_val over[SIZES];
    k_mem number; /* per element; 0: no element asks for it */
    size_t bytes; /* of all that is shared */
};

static bool has_elements(const row_part *p)
{
    return !p->op->outer && (p->op->kind == L_FOLD || p->op->kind == L_ELEMENT);
}

/* --- opening --- */

/* `declare`: otherwise only the bytes are added up. */
static k_mem room(sk_short *x, bool declare, ir_type t, int64_t count, const char *name)
{
    x->bytes += declare ? 0 : ir_type_size(t) * (size_t)count;
    return declare ? k_shared(&x->r->lw->b, t, count, name) : 0;
}

/* Do elements of this sweep, or of a later one, use the variable? */
static bool is_used(const row_loop *r, uint8_t sweep, ir_id variable)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (has_elements(p) && p->op->sweep >= sweep && sk_mentions(r->lw, row_terms(p), p->element, variable))
            return true;
    }
    return false;
}

static void open_known(sk_short *x, bool declare, const row_part *p)
{
    for (uint32_t c = 0; c < p->n; c++) {
        ir_type t = p->fold.info->type[c];
        laid_out k = {.variable = p->given[c], .sweep = (uint8_t)(p->op->sweep + (p->op->outer ? 0 : 1))};
        k.of = room(x, declare, t, ROW_GANG, "of_segment");
        k.beside = is_used(x->r, k.sweep, k.variable) ? room(x, declare, t, MOST + SK_SHORT, "beside") : 0;
        if (declare)
            vec_push(x->r->lw->arena, &x->known, k);
    }
}

static bool may_open(const row_loop *r)
{
    const sk_options *o = r->lw->options;
    bool may = !o->group && o->vector_bytes && !r->right;
    for (uint32_t i = 0; i < r->part.n; i++)
        may &= r->part.at[i].op->outer || has_elements(&r->part.at[i]);
    return may;
}

static void open_memory(sk_short *x, bool declare)
{
    row_loop *r = x->r;
    sk_lower *lw = r->lw;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind == L_FOLD || p->op->outer)
            open_known(x, declare, p);
        for (uint32_t c = 0; c < row_terms(p) && p->op->kind == L_FOLD; c++)
            x->element[i][c] =
                room(x, declare, (ir_type)ir_at(lw->l->ir, p->element[c])->type, MOST + SK_SHORT, "element");
    }
    x->number = is_used(r, 0, x->of->segment) ? room(x, declare, T_I64, MOST + SK_SHORT, "number") : 0;
}

sk_short *sk_open_short(row_loop *r, sk_offsets *of)
{
    sk_lower *lw = r->lw;
    if (!may_open(r))
        return NULL;
    sk_short *x = arena_new(lw->arena, *x);
    x->r = r;
    x->of = of;
    x->element = arena_array(lw->arena, *x->element, r->part.n);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        x->element[i] = arena_array(lw->arena, **x->element, row_terms(p));
        x->one_row |= has_elements(p) && sk_asks_for_indices(lw, row_terms(p), p->element);
    }
    open_memory(x, false);
    if (x->bytes > MOST_BYTES)
        return NULL;
    open_memory(x, true);
    return x;
}

/* --- may they be taken so? --- */

static int64_t size_of(unsigned i)
{
    return STEP * i;
}

k_val sk_may_be_short(sk_short *x, const sk_segment *of)
{
    sk_lower *lw = x->r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), all = k_i64(b, ROW_GANG), fine = k_decl(b, zero, "fine");
    k_val behind = sk_add(lw, of->number, all), least = k_i64(b, x->of->filled.n ? 1 : 0);
    for (unsigned i = 0; i < SIZES; i++)
        x->over[i] = k_decl(b, zero, "over");
    if (!x->of->gangs) /* the first one and the last are checked elsewhere */
        k_if(b, k_let(b, OP_AND, k_let(b, OP_GT, of->number, zero, 0), k_let(b, OP_LT, behind, x->of->count, 0), 0));
    else
        k_if(b, x->one_row ? sk_gang_stays(x->of, of, ROW_GANG) : k_literal(b, T_BOOL, 1));
    k_val lane = k_for_whole(b, all), begin = sk_gang_edge(x->of, of, lane);
    k_val end = sk_gang_edge(x->of, of, sk_add(lw, lane, one)), length = sk_sub(lw, end, begin);
    k_val good = k_let(b, OP_AND, k_let(b, OP_GE, length, least, 0), k_let(b, OP_LE, length, k_i64(b, SK_SHORT), 0), 0);
    if (!x->of->gangs)
        good = k_let(b, OP_AND, good, k_let(b, OP_LE, end, x->of->length, 0), 0);
    k_set(b, fine, k_count(b, good));
    k_val small = k_convert(b, OP_CONVERT, T_I16, length);
    for (unsigned i = 0; i < SIZES; i++)
        k_set(b, x->over[i], k_count(b, k_let(b, OP_GT, small, k_literal(b, T_I16, (ir_bits)size_of(i)), 0)));
    k_end(b);
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, fine), all, 0);
}

/* --- what is known of segments --- */

static void bind_indices(sk_short *x, k_val row)
{
    sk_lower *lw = x->r->lw;
    const l_cluster *loop = lw->cluster->loop;
    k_val index[IR_MAX_RANK] = {0};
    if (loop->rank > 1)
        sk_row_indices(lw, loop->rank, loop->shape, row, index);
    for (unsigned d = 0; d + 1 < loop->rank; d++)
        sk_bind(lw, lw->at.at[d], index[d]);
}

static void make_once(sk_short *x, const row_part *p)
{
    row_loop *r = x->r;
    sk_lower *lw = r->lw;
    k_val *value = row_values(r, p);
    sk_emit(lw, p->n, p->element, value);
    for (uint32_t c = 0; c < p->n; c++) {
        sk_bind(lw, p->given[c], value[c]);
        if (p->op->stored)
            k_store(&lw->b, sk_array_memory(lw, p->op->term, c, true), lw->element, value[c]);
    }
}

/* What is made of results once a segment, before a sweep, is known from then on. */
static void take_once(sk_short *x, const sk_segment *of, uint8_t sweep)
{
    row_loop *r = x->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    bool any = false;
    for (uint32_t i = 0; i < r->part.n; i++)
        any |= r->part.at[i].op->outer && r->part.at[i].op->sweep == sweep;
    if (!any)
        return;
    uint32_t mark = sk_scope(lw);
    k_val lane = k_for_whole(b, k_i64(b, ROW_GANG)), row, number;
    sk_gang_place(x->of, of, lane, &row, &number);
    sk_bind(lw, x->of->segment, number);
    bind_indices(x, row);
    lw->element = sk_add(lw, of->global, lane);
    uint32_t k = 0;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_FOLD && !p->op->outer)
            continue;
        if (p->op->outer && p->op->sweep == sweep)
            make_once(x, p);
        for (uint32_t c = 0; c < p->n; c++, k++) {
            const laid_out *known = &x->known.at[k];
            if (p->op->outer && p->op->sweep == sweep)
                k_store(b, known->of, lane, sk_known(lw, known->variable));
            else if (known->sweep <= sweep)
                sk_bind(lw, known->variable, k_load(b, known->of, lane));
        }
    }
    k_end(b);
    sk_scope_end(lw, mark);
}

/* Lays out beside elements what this sweep is the first to know. What comes to lie behind a segment is the next one's,
 * which comes later. */
static void lay_out(sk_short *x, const sk_segment *of, uint8_t sweep)
{
    sk_lower *lw = x->r->lw;
    k_builder *b = &lw->b;
    bool any = x->number && !sweep;
    for (uint32_t i = 0; i < x->known.n; i++)
        any |= x->known.at[i].beside && x->known.at[i].sweep == sweep;
    if (!any)
        return;
    k_val s = k_for(b, k_i64(b, 0), k_i64(b, ROW_GANG), false), row, number;
    k_val at = sk_sub(lw, sk_gang_edge(x->of, of, s), of->base);
    sk_gang_place(x->of, of, s, &row, &number);
    k_val lane = k_for_whole(b, k_i64(b, SK_SHORT)), to = sk_add(lw, at, lane);
    if (x->number && !sweep)
        k_store(b, x->number, to, sk_add(lw, number, sk_sub(lw, lane, lane)));
    for (uint32_t i = 0; i < x->known.n; i++) {
        const laid_out *known = &x->known.at[i];
        if (known->beside && known->sweep == sweep)
            k_store(b, known->beside, to, k_load(b, known->of, sk_add(lw, s, sk_sub(lw, lane, lane))));
    }
    k_end(b);
    k_end(b);
}

/* --- elements --- */

static void use_known(sk_short *x, uint8_t sweep, k_val k)
{
    sk_lower *lw = x->r->lw;
    if (x->number)
        sk_bind(lw, x->of->segment, k_load(&lw->b, x->number, k));
    for (uint32_t i = 0; i < x->known.n; i++) {
        const laid_out *known = &x->known.at[i];
        if (known->beside && known->sweep <= sweep)
            sk_bind(lw, known->variable, k_load(&lw->b, known->beside, k));
    }
    row_use_kept(x->r, sweep, k);
}

static void leave_elements(sk_short *x, uint8_t sweep, k_val k, const k_val *value)
{
    row_loop *r = x->r;
    sk_lower *lw = r->lw;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!has_elements(p) || p->op->sweep != sweep)
            continue;
        for (uint32_t c = 0; c < row_terms(p); c++)
            if (p->op->kind == L_FOLD)
                k_store(&lw->b, x->element[i][c], k, value[c]);
            else
                k_store(&lw->b, sk_array_memory(lw, p->op->term, c, true), lw->element, value[c]);
        value += row_terms(p);
    }
}

static void compute_elements(sk_short *x, const sk_segment *of, uint8_t sweep)
{
    row_loop *r = x->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        for (uint32_t c = 0; has_elements(p) && p->op->sweep == sweep && c < row_terms(p); c++)
            vec_push(lw->arena, &term, p->element[c]);
    }
    if (!term.n)
        return;
    k_val *value = arena_array(lw->arena, *value, term.n);
    k_val end = sk_gang_edge(x->of, of, k_i64(b, ROW_GANG)), k = k_for_all(b, sk_sub(lw, end, of->base));
    uint32_t mark = sk_scope(lw);
    bind_indices(x, of->row);
    row_bind(r, k);
    use_known(x, sweep, k);
    sk_emit(lw, term.n, term.at, value);
    row_keep(r, sweep, k);
    leave_elements(x, sweep, k, value);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- lanes are segments --- */

static bool folds_in(const row_part *p, uint8_t sweep)
{
    return p->op->kind == L_FOLD && !p->op->outer && p->op->sweep == sweep;
}

static void take_position(sk_short *x, uint8_t sweep, k_val at, k_val j, k_val length, k_val *const *acc)
{
    row_loop *r = x->r;
    k_builder *b = &r->lw->b;
    k_val in_it = k_let(b, OP_LT, k_convert(b, OP_CONVERT, T_I32, j), k_convert(b, OP_CONVERT, T_I32, length), 0);
    k_val **value = arena_array(r->lw->arena, *value, r->part.n);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        value[i] = row_values(r, p);
        for (uint32_t c = 0; folds_in(p, sweep) && c < row_terms(p); c++)
            value[i][c] = k_load(b, x->element[i][c], at);
    }
    k_if(b, in_it);
    for (uint32_t i = 0; i < r->part.n; i++)
        if (folds_in(&r->part.at[i], sweep))
            sk_fold_take(&r->folds, &r->part.at[i].fold, value[i], k_let(b, OP_GT, j, k_i64(b, 0), 0), acc[i]);
    k_end(b);
}

/* Results go to their arrays, and to what is known of segments. */
static void finish(sk_short *x, uint8_t sweep, k_val lane, k_val global, k_val empty, k_val *const *acc)
{
    row_loop *r = x->r;
    k_builder *b = &r->lw->b;
    r->lw->element = global;
    for (uint32_t i = 0, k = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_FOLD && !p->op->outer)
            continue;
        if (folds_in(p, sweep)) {
            k_val *result = row_values(r, p);
            sk_fold_finish(&r->folds, &p->fold, global, global, row_get(r, p, acc[i], NULL), empty, result);
            for (uint32_t c = 0; c < p->n; c++)
                k_store(b, x->known.at[k + c].of, lane, result[c]);
        }
        k += p->n;
    }
}

static void fold_segments(sk_short *x, const sk_segment *of, uint8_t sweep)
{
    row_loop *r = x->r;
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    bool any = false;
    for (uint32_t i = 0; i < r->part.n; i++)
        any |= folds_in(&r->part.at[i], sweep);
    if (!any)
        return;
    k_val most = k_i64(b, SK_SHORT), zero = k_i64(b, 0);
    for (unsigned i = SIZES; i-- > 0;)
        most = k_select(b, k_let(b, OP_GT, k_get(b, x->over[i]), zero, 0), most, k_i64(b, size_of(i)));
    k_val lane = k_for_whole(b, k_i64(b, ROW_GANG)), begin = sk_gang_edge(x->of, of, lane);
    k_val length = sk_sub(lw, sk_gang_edge(x->of, of, sk_add(lw, lane, k_i64(b, 1))), begin);
    k_val **acc = arena_array(lw->arena, *acc, r->part.n), first = sk_sub(lw, begin, of->base);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        acc[i] = row_values(r, p);
        for (uint32_t c = 0; folds_in(p, sweep) && c < p->n; c++)
            acc[i][c] =
                k_decl(b, k_literal(b, p->fold.info->type[c], p->fold.identity ? p->fold.identity[c] : 0), "acc");
    }
    k_val j = k_for(b, zero, most, false);
    take_position(x, sweep, sk_add(lw, first, j), j, length, acc);
    k_end(b);
    finish(x, sweep, lane, sk_add(lw, of->global, lane), k_let(b, OP_EQ, length, zero, 0), acc);
    k_end(b);
}

void sk_take_short(sk_short *x, const sk_segment *of)
{
    row_loop *r = x->r;
    const uint8_t sweeps = r->lw->cluster->loop->sweeps;
    bool keeping = r->keeping;
    r->row_base = of->base;
    r->begin = of->begin;
    r->keeping = true;
    for (uint8_t sweep = 0; sweep < sweeps; sweep++) {
        take_once(x, of, sweep);
        lay_out(x, of, sweep);
        compute_elements(x, of, sweep);
        fold_segments(x, of, sweep);
    }
    take_once(x, of, sweeps);
    r->keeping = keeping;
}
