/* Permutes: the elements of a loop are combined into places that they name.
 *
 * A block of the source is worked through stretch by stretch: places and elements of a stretch are computed, in lanes,
 * into shared memory, and then combined one after the other in the order of the source. Blocks and places are divided
 * in three ways, as extents ask for (sk_permute_plan):
 *
 * - one block: its elements go straight into the result, which holds the defaults by then;
 * - several blocks: each has a table of totals of its own, and a second pass combines these with the result, block
 * after block;
 * - ranges of places: several workers go over the same block, each for a range of places of its own.
 *
 * So each place sees its elements in the order of the source, and where elements are combined otherwise than one by
 * one, it is by blocks whose length depends on nothing but the numbers of elements and places (docs/determinism.md).
 * Operators that give the same bits in any order have blocks as it suits the workers, and are atomic where blocks are
 * many threads. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

#include "kernel/launch.h"
#include "opt/identity.h"

void sk_permute_open(sk_permute *m, sk_lower *lw)
{
    sk_open(lw, 1);
    const l_cluster *loop = lw->cluster->loop;
    *m = (sk_permute){.lw = lw, .anchor = loop->op.at[0].term, .all = lw->cluster->permuted};
    m->to = m->all->to;
    m->fn = arena_array(lw->arena, *m->fn, loop->op.n);
    for (uint32_t i = 0; i < loop->op.n; i++) {
        ir_fn *fn = ir_info(lw->l->ir, loop->op.at[i].term)->fn;
        m->fn[i] = fn ? sk_operator(&lw->body, fn) : NULL;
    }
    m->tables = lw->options->row & SK_PERMUTE_TABLES;
    m->divided = lw->options->row & SK_PERMUTE_DIVIDED;
    m->counts = lw->options->row & SK_PERMUTE_COUNTS;
    m->rarely = lw->options->row & SK_PERMUTE_RARELY;
    m->several = lw->options->row & SK_PERMUTE_SEVERAL ? SK_PERMUTE_TABLES_OF_BLOCK : 1;
    m->rows = lw->options->row & SK_PERMUTE_ROWS;
    m->places_type = lw->options->row & SK_PERMUTE_FEW ? T_I32 : T_I64;
    m->planes = m->rows;
    m->into = arena_array(lw->arena, k_mem, m->all->n);
    m->value = arena_array(lw->arena, k_mem, m->all->n);
    m->read = arena_array(lw->arena, k_mem, m->all->n);
    m->computed = arena_array(lw->arena, bool, m->all->n);
    m->record = sk_permute_layout(lw->cluster, lw->options->row & (SK_PERMUTE_COUNTS | SK_PERMUTE_VECTOR));
    m->vector = lw->options->row & SK_PERMUTE_VECTOR ? &m->all->vector : NULL;
}

/* Can the index be the number that says that an element is dropped? */
static bool names_dropped(const ir_program *p, ir_id index)
{
    const ir_node *n = ir_at(p, index);
    if (n->kind == IR_CONST)
        return ir_i64_bits(T_I64, n->u.literal) == IR_DROPPED;
    return n->kind != IR_OP || n->op != OP_CONVERT || ir_type_size((ir_type)ir_at(p, ir_args(p, index)[0])->type) == 8;
}

/* What is stored for each element of a stretch is its place, in 32 bits, and components that are not alike. */
static void choose_lanes(sk_permute *m)
{
    sk_lower *lw = m->lw;
    ir_id term[IR_MAX_RANK + IR_MAX_COMPONENTS];
    uint32_t n = m->to->rank;
    memcpy(term, m->target, n * sizeof(ir_id));
    for (uint32_t c = 0; c < m->all->n; c++)
        if (sk_is_alike(lw->l->ir, m->element[c]))
            term[n++] = m->element[c];
    uint32_t inner = n;
    for (uint32_t c = 0; c < m->all->n; c++)
        if (!sk_is_alike(lw->l->ir, m->element[c]))
            term[n++] = m->element[c];
    if (m->places_type != T_I32)
        inner = 0;
    if (lw->options->vector_bytes)
        lw->out->k->lanes = sk_lanes_stored(lw->l, lw->arena, inner, n, term, lw->options->vector_bytes);
}

static bool has_partial_operator(const sk_permute *m)
{
    bool partial = false;
    for (uint32_t i = 0; i < m->lw->cluster->loop->op.n; i++)
        for (uint32_t r = 0; m->fn[i] && r < m->fn[i]->results; r++)
            partial |= ir_at(m->lw->l->ir, m->fn[i]->result[r])->partial;
    return partial;
}

void sk_permute_elements(sk_lower *lw, ir_id *element)
{
    const sk_permuted *all = lw->cluster->permuted;
    for (uint32_t c = 0; c < all->n; c++)
        element[c] = sk_operand(&lw->body, all->anchor[c], 2, &lw->at)[all->own[c]];
}

void sk_permute_find_elements(sk_permute *m)
{
    sk_lower *lw = m->lw;
    const ir_program *p = lw->l->ir;
    m->target = sk_operand(&lw->body, m->anchor, 1, &lw->at);
    sk_permute_elements(lw, m->element);
    memcpy(m->term, m->target, m->to->rank * sizeof(ir_id));
    memcpy(m->term + m->to->rank, m->element, m->all->n * sizeof(ir_id));
    for (unsigned d = 0; d < m->to->rank; d++) {
        m->may_fail |= ir_at(p, m->target[d])->partial;
        m->drops |=
            !sk_surely_inside(p, &lw->body.facts, m->target[d], m->to->shape[d]) && names_dropped(p, m->target[d]);
    }
    for (uint32_t c = 0; c < m->all->n; c++)
        m->may_fail |= ir_at(p, m->element[c])->partial;
    choose_lanes(m);
}

/* Is an index within an extent? As numbers without a sign, so that those below 0 are too large; of 32 bits if the index
 * had no more before it was converted, and there are not more places. */
static k_val is_inside(sk_permute *m, ir_id target, k_val i, k_val extent)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const ir_program *p = lw->l->ir;
    const ir_node *n = ir_at(p, target);
    ir_type u = T_U64, from = T_I64;
    if (m->places_type == T_I32 && n->kind == IR_OP && n->op == OP_CONVERT)
        from = (ir_type)ir_at(p, ir_args(p, target)[0])->type;
    if (ir_type_class(from) == CLASS_INT && ir_type_size(from) <= 4) {
        i = sk_value(lw, ir_args(p, target)[0]);
        i = ir_type_size(from) < 4 ? k_convert(b, OP_CONVERT, T_I32, i) : i;
        u = T_U32;
    }
    if (b->k->value.at[i].type != u)
        i = k_convert(b, OP_BITCAST, u, i);
    return k_let(b, OP_LT, i, k_convert(b, OP_CONVERT, u, extent), 0);
}

void sk_permute_bind_position(sk_permute *m, k_val position)
{
    sk_lower *lw = m->lw;
    lw->element = position;
    sk_bind(lw, lw->at.linear, position);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, position);
}

void sk_permute_find(sk_permute *m, k_val position, sk_permute_found *f)
{
    sk_permute_bind_position(m, position);
    sk_permute_find_here(m, m->term, f);
}

void sk_permute_find_here(sk_permute *m, const ir_id *term, sk_permute_found *f)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const ir_program *p = lw->l->ir;
    k_val out[IR_MAX_RANK + IR_MAX_COMPONENTS];
    *f = (sk_permute_found){.term = term};
    sk_emit(lw, m->to->rank + (m->only_places ? 0 : m->all->n), term, out);
    for (uint32_t c = 0; c < m->all->n && !m->only_places; c++)
        f->value[c] = out[m->to->rank + c];
    for (unsigned d = 0; d < m->to->rank; d++) {
        k_val i = f->index[d] = out[d], extent = sk_closed(lw, m->to->shape[d]);
        f->place = d ? sk_add(lw, sk_mul(lw, f->place, extent), i) : i;
        if (sk_surely_inside(p, &lw->body.facts, m->target[d], m->to->shape[d]))
            continue;
        k_val in = is_inside(m, term[d], i, extent);
        f->inside = f->inside ? k_let(b, OP_AND, f->inside, in, 0) : in;
        if (!names_dropped(p, term[d]))
            continue;
        k_val gone = k_let(b, OP_EQ, i, k_i64(b, IR_DROPPED), 0);
        f->dropped = f->dropped ? k_let(b, OP_OR, f->dropped, gone, 0) : gone;
    }
}

void sk_permute_judge(sk_permute *m, sk_permute_found *f)
{
    sk_lower *lw = m->lw;
    const ir_program *p = lw->l->ir;
    for (unsigned d = 0; d < m->to->rank && lw->options->checks; d++) {
        if (sk_surely_inside(p, &lw->body.facts, m->target[d], m->to->shape[d]))
            continue;
        f->good[d] = is_inside(m, f->term[d], f->index[d], sk_closed(lw, m->to->shape[d]));
        if (f->dropped)
            f->good[d] = k_let(&lw->b, OP_OR, f->good[d], f->dropped, 0);
    }
}

/* Behind all that is done with the element: lanes that fail are off afterwards. */
void sk_permute_report_judged(sk_permute *m, const sk_permute_found *f)
{
    sk_lower *lw = m->lw;
    const uint32_t site = ir_at(lw->l->ir, m->anchor)->site;
    for (unsigned d = 0; d < m->to->rank; d++)
        if (f->good[d])
            k_check(&lw->b, k_place(site, m->to->rank > 1 ? d + 1 : 0), f->good[d], lw->element, f->index[d],
                    sk_closed(lw, m->to->shape[d]));
}

void sk_permute_report(sk_permute *m, sk_permute_found *f)
{
    sk_permute_judge(m, f);
    sk_permute_report_judged(m, f);
}

k_val sk_permute_place(sk_permute *m, k_val place)
{
    if (m->vector)
        place = sk_mul(m->lw, place, k_i64(&m->lw->b, m->vector->lanes));
    return m->places_type == T_I64 ? place : k_convert(&m->lw->b, OP_CONVERT, m->places_type, place);
}

k_val sk_permute_nowhere(sk_permute *m)
{
    if (m->vector)
        return sk_permute_place(m, m->places);
    return k_literal(&m->lw->b, m->places_type, ir_bits_i64(m->places_type, -1));
}

k_val sk_permute_load_place(sk_permute *m, k_val at)
{
    k_val place = k_load(&m->lw->b, m->at, at);
    return m->places_type == T_I64 ? place : k_convert(&m->lw->b, OP_CONVERT, T_I64, place);
}

/* The elements of a stretch that have places in the worker's range, one behind the other; gives how many. Gangs that
 * are not whole write beyond what they keep. */
static k_val keep_own(sk_permute *m, k_val from, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, lw->out->k->lanes), kept = k_decl(b, k_i64(b, 0), "kept");
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, lw->out->k->lanes - 1)), lanes, 0);
    k_val gang = k_for(b, k_i64(b, 0), gangs, false), begin = sk_mul(lw, gang, lanes);
    k_val lane = k_for_all(b, sk_min(lw, lanes, sk_sub(lw, count, begin)));
    uint32_t mark = sk_scope(lw);
    sk_permute_found f;
    sk_permute_find(m, sk_add(lw, sk_add(lw, from, begin), lane), &f);
    k_val own = k_let(b, OP_AND, k_let(b, OP_GE, f.place, m->low, 0), k_let(b, OP_LT, f.place, m->high, 0), 0);
    own = f.inside ? k_let(b, OP_AND, f.inside, own, 0) : own;
    k_val at = k_get(b, kept);
    k_compact_over(b, m->at, at, sk_permute_place(m, f.place), own);
    for (uint32_t c = 0; c < m->all->n; c++)
        if (m->value[c])
            k_compact_over(b, m->value[c], at, f.value[c], own);
    k_set(b, kept, sk_add(lw, at, k_count(b, own)));
    sk_permute_report(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
    return k_get(b, kept);
}

bool sk_permute_is_own_read(const sk_permute *m, ir_id element)
{
    const ir_program *p = m->lw->l->ir;
    const ir_node *n = ir_at(p, element);
    const sk_index *at = &m->lw->at;
    if (n->kind != IR_READ || n->partial || !n->n)
        return false;
    const ir_array *from = ir_info(p, n->array);
    const l_cluster *loop = m->lw->cluster->loop;
    if (n->flags & IR_LINEAR)
        return ir_args(p, element)[0] == at->linear;
    bool own = n->n == at->rank && from->rank == loop->rank;
    for (uint32_t d = 0; d < n->n && own; d++)
        own = ir_args(p, element)[d] == at->at[d] && from->shape[d] == loop->shape[d];
    return own;
}

/* Are these operations of a few cycles? */
static bool is_quick(ir_op op)
{
    return !(ir_ops[op].flags & (OP_MATH | OP_TRACES)) && op != OP_DIV && op != OP_QUOT && op != OP_REM && op != OP_MOD;
}

/* Is it computed at once from the position in the loop, and what memory has there? */
static bool is_of_position(const sk_permute *m, ir_id element)
{
    enum { MOST = 4 };
    const sk_lower *lw = m->lw;
    const ir_program *p = lw->l->ir;
    opt_ids ids = {0};
    opt_reach(lw->l->ir, lw->arena, 1, &element, &ids);
    bool good = lw->cluster->loop->rank == 1 && ids.n <= MOST && !ir_at(p, element)->partial;
    for (uint32_t i = 0; i < ids.n && good; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        good = ids.at[i] == lw->at.linear || n->kind == IR_CONST || n->kind == IR_DIM ||
               sk_permute_is_own_read(m, ids.at[i]) || (n->kind == IR_OP && is_quick((ir_op)n->op));
    }
    return good;
}

static int64_t spare_of(const sk_permute *m)
{
    return m->compacts || m->sifts ? m->lw->out->k->lanes : 0;
}

/* Where the values of a component are when they are combined. */
static void find_value(sk_permute *m, uint32_t c)
{
    const ir_node *n = ir_at(m->lw->l->ir, m->element[c]);
    if (sk_is_alike(m->lw->l->ir, m->element[c]))
        return;
    const bool stays = !m->compacts && !m->sifts;
    if (sk_permute_is_own_read(m, m->element[c]) && stays)
        m->read[c] = sk_array_memory(m->lw, n->array, (uint32_t)n->u.literal, false);
    else if (is_of_position(m, m->element[c]) && stays)
        m->computed[c] = true;
    else
        m->value[c] = k_shared(&m->lw->b, m->all->type[c], m->stretch + spare_of(m), "value");
}

static k_val load_value(sk_permute *m, uint32_t c, k_val j)
{
    k_builder *b = &m->lw->b;
    if (m->value[c])
        return k_load(b, m->value[c], j);
    if (m->computed[c]) {
        k_val out;
        uint32_t mark = sk_scope(m->lw);
        sk_bind(m->lw, m->lw->at.linear, sk_add(m->lw, m->from, j));
        sk_emit(m->lw, 1, &m->element[c], &out);
        sk_scope_end(m->lw, mark);
        return out;
    }
    return m->read[c] ? k_load(b, m->read[c], sk_add(m->lw, m->from, j)) : sk_closed(m->lw, m->element[c]);
}

void sk_permute_bind(sk_permute *m, const sk_permute_part *part, const k_val *new, const k_val *old)
{
    const ir_fn *fn = m->fn[part->op];
    for (uint32_t i = 0; i < part->n && fn; i++) {
        uint32_t c = part->of[i];
        sk_bind(m->lw, fn->param[c], new[part->first + c]);
        sk_bind(m->lw, fn->param[fn->results + c], old[part->first + c]);
    }
}

void sk_permute_apply(sk_permute *m, const sk_permute_part *part, k_val *out)
{
    ir_id term[IR_MAX_COMPONENTS];
    for (uint32_t i = 0; i < part->n; i++)
        term[i] = m->fn[part->op]->result[part->of[i]];
    sk_emit(m->lw, part->n, term, out);
}

/* f(new, old) into the part's total. */
void sk_permute_combine(sk_permute *m, const sk_permute_part *part, k_val place, const k_val *new, const k_val *old)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t mark = sk_scope(lw);
    k_val out[IR_MAX_COMPONENTS];
    bool rarely = m->rarely && part->chooses;
    sk_permute_bind(m, part, new, old);
    unsigned asked = rarely ? sk_permute_ask(m, part, new, old) : 0;
    for (uint32_t i = 0; i < part->n; i++)
        out[i] = new[part->first + part->of[i]];
    ir_id condition;
    bool takes_new;
    if (part->fn && !(rarely && sk_permute_choice(lw->l->ir, m->fn[part->op], part, &condition, &takes_new)))
        sk_permute_apply(m, part, out);
    for (uint32_t i = 0; i < part->n; i++) {
        uint32_t c = part->first + part->of[i];
        k_store(b, m->into[c], sk_permute_total_at(m, c, place), out[i]);
    }
    while (asked--)
        k_end(b);
    sk_scope_end(lw, mark);
}

/* Element j of the stretch goes to a part's total at a place; `new`: all its components. */
static void take_part(sk_permute *m, uint32_t part, k_val place, const k_val *new)
{
    k_builder *b = &m->lw->b;
    const sk_permute_part *of = &m->all->part[part];
    k_val old[IR_MAX_COMPONENTS] = {0};
    bool quiet = m->tables && of->identity && sk_permute_extreme(m->lw->l->ir, of) &&
                 ir_type_float(m->all->type[of->first + of->of[0]]); /* tables have what min and max give */
    k_val has = m->record.has[part] && m->has ? sk_permute_has_at(m, part, place) : 0;
    if (has && of->fn)
        k_if(b, k_load(b, m->has, has));
    for (uint32_t i = 0; i < of->n && of->fn; i++) {
        uint32_t c = of->first + of->of[i];
        k_val at = sk_permute_total_at(m, c, place);
        old[c] = quiet ? k_load_quiet(b, m->into[c], at) : k_load(b, m->into[c], at);
    }
    sk_permute_combine(m, of, place, new, old);
    if (!has)
        return;
    if (of->fn) {
        k_else(b);
        for (uint32_t i = 0; i < of->n; i++) {
            uint32_t c = of->first + of->of[i];
            k_store(b, m->into[c], sk_permute_total_at(m, c, place), new[c]);
        }
    }
    k_store(b, m->has, has, k_literal(b, T_BOOL, 1));
    if (of->fn)
        k_end(b);
}

/* Element j of the stretch goes to the totals at a place. */
static void take_element(sk_permute *m, k_val j, k_val place)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val new[IR_MAX_COMPONENTS] = {0};
    lw->element = place;
    if (m->counts) {
        k_val at = sk_permute_total_at(m, 0, place), count = k_load(b, m->into[0], at);
        k_store(b, m->into[0], at, k_let(b, OP_ADD, count, k_literal(b, T_U32, 1), 0));
        return;
    }
    for (uint32_t c = 0; c < m->all->n; c++)
        new[c] = load_value(m, c, j);
    for (uint32_t i = 0; i < m->all->parts; i++)
        take_part(m, i, place, new);
}

/* Element j of the stretch. */
static void take_in_turn(sk_permute *m, k_val j)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    if (m->direct) {
        k_val key = k_load(b, m->key, sk_add(lw, m->from, j));
        k_val place = b->k->value.at[key].type == T_I64 ? key : k_convert(b, OP_CONVERT, T_I64, key);
        take_element(m, j, place);
        return;
    }
    k_val at = sk_permute_load_place(m, j);
    if (m->vector) {
        sk_permute_take_vector(m, j, at);
        return;
    }
    const bool asks = m->may_drop && !m->sifts;
    if (asks)
        k_if(b, k_let(b, OP_GE, at, k_i64(b, 0), 0));
    take_element(m, j, at);
    if (asks)
        k_end(b);
}

/* So many elements a turn, where the operator is small. */
static int64_t at_once(const sk_permute *m)
{
    enum { SMALL = 16, TURNS = 16 };
    opt_ids ids = {0};
    uint32_t largest = 0;
    for (uint32_t i = 0; i < m->lw->cluster->loop->op.n && m->fn[i]; i++) {
        opt_reach(m->lw->l->ir, m->lw->arena, m->fn[i]->results, m->fn[i]->result, &ids);
        largest = ids.n > largest ? ids.n : largest;
    }
    return largest <= SMALL ? TURNS : 1;
}

/* While elements are combined, what is read some hundred elements on comes from memory: computing a stretch would wait
 * for it, and processors do not look ahead well while combining goes to and fro in memory. `some` elements from number
 * j of the stretch on are at hand. */
static void fetch_next(sk_permute *m, k_val j, int64_t some)
{
    enum { AHEAD = 512, AHEAD_FAR = 256 }; /* totals that lie far away need the first cache themselves */
    sk_lower *lw = m->lw;
    int64_t ahead = m->lw->options->row & SK_PERMUTE_FAR ? AHEAD_FAR : AHEAD;
    ir_id term[IR_MAX_RANK + IR_MAX_COMPONENTS];
    uint32_t n = m->to->rank + m->all->n, mark = sk_scope(lw);
    k_val next = sk_add(lw, sk_add(lw, m->from, k_i64(&lw->b, larger(m->stretch, ahead))), j);
    memcpy(term, m->target, m->to->rank * sizeof(ir_id));
    memcpy(term + m->to->rank, m->element, m->all->n * sizeof(ir_id));
    sk_bind(lw, lw->at.linear, next);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, next);
    sk_fetch_lines(lw, n, term, &lw->at, some);
    sk_scope_end(lw, mark);
}

/* One core takes the elements of a stretch in turn. */
static void combine_in_turn(sk_permute *m, k_val count)
{
    enum { UNROLLED = 8, UNROLLED_FAR = 4 }; /* more confuse what processors guess of stores and loads of few places */
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    int64_t some = at_once(m), unrolled = lw->options->row & SK_PERMUTE_FAR ? UNROLLED_FAR : UNROLLED;
    bool guards =
        !m->may_drop && !m->compacts && !m->direct && !m->vector; /* those outside go to place 0, if there is one */
    if (guards)
        k_if(b, k_let(b, OP_GT, m->places, k_i64(b, 0), 0));
    k_val lane = k_for_whole(b, k_i64(b, m->vector ? m->vector->lanes : 1)), done = k_i64(b, 0), first = m->base;
    m->lane = lane;
    if (some > 1) {
        k_val turns = k_let(b, OP_QUOT, count, k_i64(b, some), 0), turn = k_for(b, k_i64(b, 0), turns, false);
        k_val from = sk_mul(lw, turn, k_i64(b, some));
        from = m->vector ? from : sk_add(lw, from, lane);
        fetch_next(m, from, some);
        k_val half = k_for(b, k_i64(b, 0), k_i64(b, some / unrolled), false);
        k_val k = k_for(b, k_i64(b, 0), k_i64(b, unrolled), true);
        if (m->several > 1)
            m->base = sk_add(lw, first, sk_permute_base(m, k_let(b, OP_BIT_AND, k, k_i64(b, m->several - 1), 0)));
        take_in_turn(m, sk_add(lw, from, sk_add(lw, sk_mul(lw, half, k_i64(b, unrolled)), k)));
        m->base = first;
        k_end(b);
        k_end(b);
        k_end(b);
        done = sk_mul(lw, turns, k_i64(b, some));
    }
    k_val last = k_for(b, done, count, false);
    take_in_turn(m, m->vector ? last : sk_add(lw, last, lane));
    k_end(b);
    k_end(b);
    if (guards)
        k_end(b);
}

/* Have all elements of a whole stretch places? */
static k_val all_inside(sk_permute *m, k_val from)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    int64_t lanes = lw->out->k->lanes;
    k_val inside = k_decl(b, k_i64(b, 0), "inside");
    k_val gang = k_for(b, k_i64(b, 0), k_i64(b, m->stretch / lanes), true);
    k_val lane = k_for_whole(b, k_i64(b, lanes));
    uint32_t mark = sk_scope(lw);
    sk_permute_found f;
    sk_permute_find(m, sk_add(lw, sk_add(lw, from, sk_mul(lw, gang, k_i64(b, lanes))), lane), &f);
    k_set(b, inside, sk_add(lw, k_get(b, inside), f.inside ? k_count(b, f.inside) : k_i64(b, lanes)));
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, inside), k_i64(b, m->stretch), 0);
}

/* A stretch whose elements memory has: if all have places, they are combined from there. */
static void take_stretch(sk_permute *m, k_val from, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val whole = k_decl(b, k_let(b, OP_EQ, count, k_i64(b, m->stretch), 0), "whole");
    if (m->key) {
        uint32_t mark = sk_scope(lw);
        k_if(b, k_get(b, whole));
        k_set(b, whole, all_inside(m, from));
        k_end(b);
        sk_scope_end(lw, mark);
        k_if(b, k_get(b, whole));
        m->direct = true;
        combine_in_turn(m, k_i64(b, m->stretch));
        m->direct = false;
        k_else(b);
    }
    sk_permute_compute(m, count);
    combine_in_turn(m, m->sifts ? sk_permute_sift(m, count) : count);
    if (m->key)
        k_end(b);
}

/* Threads that share a block: each has a bit for every element of a stretch. */
static int64_t words_of(const sk_permute *m)
{
    return pieces_of(m->stretch, 32);
}

static void clear_marks(sk_permute *m)
{
    k_builder *b = &m->lw->b;
    k_val i = k_for_all(b, k_i64(b, words_of(m) * SK_PERMUTE_THREADS));
    k_store(b, m->marks, i, k_literal(b, T_U32, 0));
    k_end(b);
}

/* Elements are marked for the threads that have their places, in any order, */
static void mark_elements(sk_permute *m, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val j = k_for_all(b, count), place = sk_permute_load_place(m, j);
    if (m->may_drop)
        k_if(b, k_let(b, OP_GE, place, k_i64(b, 0), 0));
    k_val owner = k_let(b, OP_BIT_AND, place, k_i64(b, SK_PERMUTE_THREADS - 1), 0);
    k_val word = k_let(b, OP_SHR, j, k_i64(b, 5), 0), at = sk_mul(lw, word, k_i64(b, SK_PERMUTE_THREADS));
    k_val bit = k_convert(b, OP_CONVERT, T_U32, k_let(b, OP_BIT_AND, j, k_i64(b, 31), 0));
    k_val mark = k_let(b, OP_SHL, k_literal(b, T_U32, 1), bit, 0);
    k_atomic(b, OP_BIT_OR, m->marks, sk_add(lw, at, owner), mark);
    if (m->may_drop)
        k_end(b);
    k_end(b);
}

/* and each thread takes its own, in their order. */
static void combine_by_threads(sk_permute *m, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    mark_elements(m, count);
    k_val lane = k_for_all(b, k_i64(b, SK_PERMUTE_THREADS));
    k_val word = k_for(b, k_i64(b, 0), k_i64(b, words_of(m)), false), none = k_literal(b, T_U32, 0);
    k_val at = sk_add(lw, sk_mul(lw, word, k_i64(b, SK_PERMUTE_THREADS)), lane);
    k_val marks = k_decl(b, k_load(b, m->marks, at), "marks");
    k_store(b, m->marks, at, none);
    k_loop(b);
    k_val left = k_get(b, marks);
    k_break_if(b, k_let(b, OP_EQ, left, none, 0));
    k_val bit = k_convert(b, OP_CONVERT, T_I64, k_let(b, OP_CTZ, left, 0, 0));
    k_val j = sk_add(lw, sk_mul(lw, word, k_i64(b, 32)), bit);
    take_element(m, j, sk_permute_load_place(m, j));
    k_set(b, marks, k_let(b, OP_BIT_AND, left, k_let(b, OP_SUB, left, k_literal(b, T_U32, 1), 0), 0));
    k_end(b);
    k_end(b);
    k_end(b);
}

/* Memory that has places as numbers of any width, at the loop's own positions, where elements can be combined from
 * memory; else 0. */
static k_mem find_keys(sk_permute *m)
{
    const ir_program *p = m->lw->l->ir;
    const sk_options *o = m->lw->options;
    const ir_node *n = ir_at(p, m->target[0]);
    ir_id key = m->target[0];
    bool good = m->to->rank == 1 && o->vector_bytes && !o->group && !m->divided && !m->may_fail;
    good &= !has_partial_operator(m);
    for (uint32_t c = 0; c < m->all->n && good; c++)
        good = sk_is_alike(p, m->element[c]) || sk_permute_is_own_read(m, m->element[c]) ||
               is_of_position(m, m->element[c]);
    if (n->kind == IR_OP && n->op == OP_CONVERT)
        key = ir_args(p, key)[0];
    n = ir_at(p, key);
    good &= n->kind == IR_READ && ir_type_class((ir_type)n->type) == CLASS_INT && sk_permute_is_own_read(m, key);
    return good ? sk_array_memory(m->lw, n->array, (uint32_t)n->u.literal, false) : 0;
}

static int64_t stretch_of(const sk_permute *m)
{
    enum { BYTES = 24 << 10, MOST = 1024, LEAST = 16, FAR = 256, DIRECT = 256 };
    bool far = m->lw->options->row & SK_PERMUTE_FAR;
    int64_t n = m->key ? DIRECT : far || m->vector ? FAR : MOST, bytes = sk_permute_bytes(m->all) + 8, room = BYTES;
    if (m->vector)
        bytes = m->record.bytes + (int64_t)ir_type_size(m->places_type);
    if (m->lw->options->group) {
        bytes += SK_PERMUTE_THREADS / 8;
        room = smaller(room, (int64_t)m->lw->options->scratch / 2);
    }
    while (n > LEAST && n * bytes > room)
        n /= 2;
    return n;
}

/* Elements [begin, end), stretch by stretch. */
void sk_permute_take(sk_permute *m, k_val begin, k_val end)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val size = k_i64(b, m->stretch);
    k_val stretches = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, end, begin), k_i64(b, m->stretch - 1)), size, 0);
    k_val s = k_for(b, k_i64(b, 0), stretches, false), from = sk_add(lw, begin, sk_mul(lw, s, size));
    k_val count = sk_min(lw, size, sk_sub(lw, end, from));
    m->from = from;
    uint32_t mark = sk_scope(lw);
    if (lw->options->group) {
        sk_permute_compute(m, count);
        combine_by_threads(m, count);
    } else if (m->compacts) {
        combine_in_turn(m, keep_own(m, from, count));
    } else {
        take_stretch(m, from, count);
    }
    sk_scope_end(lw, mark);
    k_end(b);
}

/* Of a stretch only those elements are kept that the worker combines, as it takes longer to ask for each. */
static void choose_what_is_kept(sk_permute *m)
{
    const sk_options *o = m->lw->options;
    const bool can = o->vector_bytes && !o->group && !m->rows && !m->vector;
    bool alike = true;
    for (uint32_t c = 0; c < m->all->n; c++)
        alike &= sk_is_alike(m->lw->l->ir, m->element[c]);
    m->compacts = can && m->divided && !m->along && m->factor.by == 1 && !m->may_fail; /* lanes that fail are off */
    m->sifts = can && !m->compacts && (m->divided || (m->drops && (alike || !m->key)));
    m->may_drop = o->group || m->sifts || m->drops || has_partial_operator(m) || (m->divided && !m->compacts);
}

static void build_loop(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    sk_permute_find_elements(m);
    sk_open_space(lw);
    sk_permute_open_stretches(m);
    m->key = m->rows || m->vector ? 0 : find_keys(m);
    choose_what_is_kept(m);
    m->stretch = m->rows ? larger(SK_PERMUTE_ROWS_AT_ONCE, stretch_of(m)) : stretch_of(m);
    if (m->rows)
        sk_permute_row_lanes(m);
    sk_permute_open_totals(m);
    m->at = k_shared(b, m->places_type, m->stretch + spare_of(m), "place");
    for (uint32_t c = 0; c < m->all->n && !m->vector; c++)
        find_value(m, c);
    if (m->vector)
        sk_permute_open_vectors(m);
    if (lw->options->group)
        m->marks = k_shared(b, T_U32, words_of(m) * SK_PERMUTE_THREADS, "marks");
    m->elements = sk_slot(lw, SK_PERMUTE_ELEMENTS, "elements");
    m->places = sk_slot(lw, SK_PERMUTE_PLACES, "places");
    k_val length = sk_slot(lw, SK_PERMUTE_LENGTH, "block_length"), block = k_piece(b);
    m->apart = m->tables ? sk_slot(lw, SK_PERMUTE_APART, "apart") : 0;
    m->low = k_i64(b, 0);
    m->high = m->places;
    if (m->divided) {
        k_val ranges = sk_slot(lw, SK_PERMUTE_RANGES, "ranges"), range = sk_slot(lw, SK_PERMUTE_RANGE, "range");
        block = k_let(b, OP_QUOT, k_piece(b), ranges, 0);
        m->low = sk_mul(lw, sk_sub(lw, k_piece(b), sk_mul(lw, block, ranges)), range);
        m->low = sk_min(lw, m->low, m->places);
        m->high = sk_min(lw, sk_add(lw, m->low, range), m->places);
    }
    m->begin = sk_mul(lw, block, length);
    m->end = sk_min(lw, sk_add(lw, m->begin, length), m->elements);
    m->base = m->tables ? sk_permute_base(m, m->several > 1 ? sk_mul(lw, block, k_i64(b, m->several)) : block) : 0;
    if (m->tables)
        sk_permute_clear_totals(m);
    if (lw->options->group) {
        lw->out->k->group = SK_PERMUTE_THREADS;
        clear_marks(m);
    }
    if (m->rows)
        sk_permute_take_rows(m);
    else
        sk_permute_take(m, m->begin, m->end);
}

void sk_build_permute(sk_lower *lw)
{
    sk_permute m;
    if (lw->pass == SK_PASS_TOTALS)
        lw->name = "permute_merge";
    sk_permute_open(&m, lw);
    if (lw->pass == SK_PASS_TOTALS)
        sk_permute_merge(&m);
    else
        build_loop(&m);
}
