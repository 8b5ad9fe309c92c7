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
#include "skeleton/permute/permute.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

#include "kernel/launch.h"
#include "opt/identity.h"

typedef struct permute {
    sk_lower *lw;
    ir_id anchor;
    const ir_array *info, *to; /* `to`: the result, as the places' shape */
    ir_fn *fn;                 /* NULL: the last element stays */
    const ir_id *target, *element;
    bool tables, divided;
    bool rarely;         /* most elements change nothing */
    bool counts;         /* tables hold how many elements there are, which are all alike */
    ir_type places_type; /* of places in shared memory */
    bool compacts;       /* only the elements of the worker's range are kept of a stretch */
    bool may_drop;       /* some elements of a stretch may go nowhere */
    bool may_fail;       /* some may have neither place nor value */
    int64_t stretch;
    k_val elements, places, begin, end; /* of the source; begin, end: of the block */
    k_val low, high;                    /* places of this worker */
    k_mem at, *value;         /* shared: of a stretch, the place of each element (-1: nowhere), and its value, or 0: it
                                 is where */
    k_mem *read;              /* its own memory has it, or 0: it is a constant */
    k_mem key;                /* memory that has places as they are, or 0; */
    bool direct;              /* elements are combined from memory now */
    bool rows;                /* rows of elements go to rows of places */
    k_val from;               /* where the stretch begins */
    k_mem *into, has;         /* where totals are; has: 0 if all are there */
    sk_permute_record record; /* of tables */
    k_val base;               /* the block's first record */
    k_mem marks; /* shared, where threads share a block: of each thread, a bit for every element of a stretch */
} permute;

static k_mem table_memory(permute *m, const char *name, ir_type type)
{
    sk_lower *lw = m->lw;
    k_mem t = k_global(&lw->b, type, true, name);
    vec_push(lw->arena, &lw->out->memory, ((sk_binding){SK_STATE, 0, 0, type}));
    return t;
}

static k_mem result_memory(permute *m, uint32_t component)
{
    k_mem r = sk_array_memory(m->lw, m->anchor, component, true);
    m->lw->out->k->mem.at[r].once = false; /* the same element may be stored again */
    m->lw->out->k->mem.at[r].stream = false;
    return r;
}

static void open(permute *m, sk_lower *lw)
{
    sk_open(lw, 1);
    *m = (permute){.lw = lw, .anchor = lw->cluster->loop->op.at[0].term};
    m->info = m->to = ir_info(lw->l->ir, m->anchor);
    m->fn = m->info->fn ? sk_operator(&lw->body, m->info->fn) : NULL;
    m->tables = lw->options->row & SK_PERMUTE_TABLES;
    m->divided = lw->options->row & SK_PERMUTE_DIVIDED;
    m->counts = lw->options->row & SK_PERMUTE_COUNTS;
    m->rarely = lw->options->row & SK_PERMUTE_RARELY;
    m->rows = lw->options->row & SK_PERMUTE_ROWS;
    m->places_type = lw->options->row & SK_PERMUTE_FEW ? T_I32 : T_I64;
    m->into = arena_alloc(lw->arena, m->info->components * sizeof(k_mem));
    m->value = arena_alloc(lw->arena, m->info->components * sizeof(k_mem));
    m->read = arena_alloc(lw->arena, m->info->components * sizeof(k_mem));
    m->record = sk_permute_layout(lw->cluster, m->counts);
}

static void open_tables(permute *m)
{
    sk_lower *lw = m->lw;
    if (m->counts) {
        m->into[0] = table_memory(m, "count", T_U32);
        return;
    }
    for (uint32_t c = 0; c < m->info->components; c++)
        m->into[c] = table_memory(m, arena_printf(lw->arena, "total_%u", c), m->info->type[c]);
    m->has = m->record.has ? table_memory(m, "has_total", T_BOOL) : 0;
}

static void open_totals(permute *m)
{
    if (m->tables)
        open_tables(m);
    for (uint32_t c = 0; c < m->info->components && !m->tables; c++)
        m->into[c] = result_memory(m, c);
}

/* Where a part of a record is, as the element of a table of such parts: `offset` bytes behind the record's beginning.
 */
static k_val in_record(permute *m, k_val place, int64_t offset, ir_type type)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    int64_t size = (int64_t)ir_type_size(type);
    k_val every = k_i64(b, m->record.bytes / size), first = m->base ? sk_mul(lw, m->base, every) : k_i64(b, 0);
    return sk_add(lw, sk_add(lw, first, k_i64(b, offset / size)), sk_mul(lw, place, every));
}

/* The element of a table, or of the result, for a place. */
static k_val total_at(permute *m, uint32_t c, k_val place)
{
    if (!m->tables)
        return place;
    return in_record(m, place, m->record.offset[c], m->counts ? T_U32 : m->info->type[c]);
}

static k_val has_at(permute *m, k_val place)
{
    return in_record(m, place, m->record.has, T_BOOL);
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
static void choose_lanes(permute *m)
{
    sk_lower *lw = m->lw;
    ir_id term[IR_MAX_RANK + IR_MAX_COMPONENTS];
    uint32_t n = m->to->rank;
    memcpy(term, m->target, n * sizeof(ir_id));
    for (uint32_t c = 0; c < m->info->components; c++)
        if (sk_is_alike(lw->l->ir, m->element[c]))
            term[n++] = m->element[c];
    uint32_t inner = n;
    for (uint32_t c = 0; c < m->info->components; c++)
        if (!sk_is_alike(lw->l->ir, m->element[c]))
            term[n++] = m->element[c];
    if (m->places_type != T_I32)
        inner = 0;
    if (lw->options->vector_bytes)
        lw->out->k->lanes = sk_lanes_stored(lw->l, lw->arena, inner, n, term, lw->options->vector_bytes);
}

static void find_elements(permute *m)
{
    sk_lower *lw = m->lw;
    const ir_program *p = lw->l->ir;
    m->target = sk_operand(&lw->body, m->anchor, 1, &lw->at);
    m->element = sk_operand(&lw->body, m->anchor, 2, &lw->at);
    m->compacts = m->divided && !lw->options->group && lw->options->vector_bytes;
    m->may_drop = (m->divided && !m->compacts) || lw->options->group;
    for (unsigned d = 0; d < m->to->rank; d++) {
        m->may_fail |= ir_at(p, m->target[d])->partial;
        m->may_drop |=
            !sk_surely_inside(p, &lw->body.facts, m->target[d], m->to->shape[d]) && names_dropped(p, m->target[d]);
    }
    for (uint32_t c = 0; m->fn && c < m->info->components; c++)
        m->may_drop |= ir_at(p, m->fn->result[c])->partial;
    for (uint32_t c = 0; c < m->info->components; c++)
        m->may_fail |= ir_at(p, m->element[c])->partial;
    m->compacts &= !m->may_fail; /* lanes that fail are off */
    m->may_drop |= m->may_fail || (m->divided && !m->compacts);
    choose_lanes(m);
}

/* Is an index within an extent? As numbers without a sign, so that those below 0 are too large; of 32 bits if the index
 * had no more before it was converted, and there are not more places. */
static k_val is_inside(permute *m, ir_id target, k_val i, k_val extent)
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

/* Emits an element's place and components: `inside` says whether it has a place, else `place` is any number. What lies
 * outside is reported by report_outside. */
typedef struct found {
    k_val index[IR_MAX_RANK], value[IR_MAX_COMPONENTS];
    k_val inside, dropped, place; /* inside 0: always; dropped 0: never */
} found;

static void find_element(permute *m, k_val position, found *f)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const ir_program *p = lw->l->ir;
    ir_id term[IR_MAX_RANK + IR_MAX_COMPONENTS];
    k_val out[IR_MAX_RANK + IR_MAX_COMPONENTS];
    *f = (found){0};
    lw->element = position;
    sk_bind(lw, lw->at.linear, position);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, position);
    memcpy(term, m->target, m->to->rank * sizeof(ir_id));
    memcpy(term + m->to->rank, m->element, m->info->components * sizeof(ir_id));
    sk_emit(lw, m->to->rank + m->info->components, term, out);
    memcpy(f->value, out + m->to->rank, m->info->components * sizeof(k_val));
    for (unsigned d = 0; d < m->to->rank; d++) {
        k_val i = f->index[d] = out[d], extent = sk_closed(lw, m->to->shape[d]);
        f->place = d ? sk_add(lw, sk_mul(lw, f->place, extent), i) : i;
        if (sk_surely_inside(p, &lw->body.facts, m->target[d], m->to->shape[d]))
            continue;
        k_val in = is_inside(m, m->target[d], i, extent);
        f->inside = f->inside ? k_let(b, OP_AND, f->inside, in, 0) : in;
        if (!names_dropped(p, m->target[d]))
            continue;
        k_val gone = k_let(b, OP_EQ, i, k_i64(b, IR_DROPPED), 0);
        f->dropped = f->dropped ? k_let(b, OP_OR, f->dropped, gone, 0) : gone;
    }
}

/* Behind all that is done with the element: lanes that fail are off afterwards. */
static void report_outside(permute *m, const found *f)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const ir_program *p = lw->l->ir;
    for (unsigned d = 0; d < m->to->rank && lw->options->checks; d++) {
        if (sk_surely_inside(p, &lw->body.facts, m->target[d], m->to->shape[d]))
            continue;
        k_val i = f->index[d], extent = sk_closed(lw, m->to->shape[d]);
        k_val good = is_inside(m, m->target[d], i, extent);
        if (f->dropped)
            good = k_let(b, OP_OR, good, f->dropped, 0);
        k_check(b, k_place(ir_at(p, m->anchor)->site, m->to->rank > 1 ? d + 1 : 0), good, lw->element, i, extent);
    }
}

static k_val as_place(permute *m, k_val place)
{
    return m->places_type == T_I64 ? place : k_convert(&m->lw->b, OP_CONVERT, m->places_type, place);
}

static k_val nowhere(permute *m)
{
    return k_literal(&m->lw->b, m->places_type, ir_bits_i64(m->places_type, -1));
}

static k_val load_place(permute *m, k_val at)
{
    k_val place = k_load(&m->lw->b, m->at, at);
    return m->places_type == T_I64 ? place : k_convert(&m->lw->b, OP_CONVERT, T_I64, place);
}

/* The elements of a stretch that have places in the worker's range, one behind the other; gives how many. Gangs that
 * are not whole write beyond what they keep. */
static k_val keep_own(permute *m, k_val from, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, lw->out->k->lanes), kept = k_decl(b, k_i64(b, 0), "kept");
    k_val gangs = k_let(b, OP_QUOT, sk_add(lw, count, k_i64(b, lw->out->k->lanes - 1)), lanes, 0);
    k_val gang = k_for(b, k_i64(b, 0), gangs, false), begin = sk_mul(lw, gang, lanes);
    k_val lane = k_for_all(b, sk_min(lw, lanes, sk_sub(lw, count, begin)));
    uint32_t mark = sk_scope(lw);
    found f;
    find_element(m, sk_add(lw, sk_add(lw, from, begin), lane), &f);
    k_val own = k_let(b, OP_AND, k_let(b, OP_GE, f.place, m->low, 0), k_let(b, OP_LT, f.place, m->high, 0), 0);
    own = f.inside ? k_let(b, OP_AND, f.inside, own, 0) : own;
    k_val at = k_get(b, kept);
    k_compact_over(b, m->at, at, as_place(m, f.place), own);
    for (uint32_t c = 0; c < m->info->components; c++)
        if (m->value[c])
            k_compact_over(b, m->value[c], at, f.value[c], own);
    k_set(b, kept, sk_add(lw, at, k_count(b, own)));
    report_outside(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
    return k_get(b, kept);
}

/* Places and values of elements [from, from + count), in lanes. */
static void compute_stretch(permute *m, k_val from, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    if (m->may_fail) {
        k_val lane = k_for_all(b, count);
        k_store(b, m->at, lane, nowhere(m));
        k_end(b);
    }
    k_val lane = k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    found f;
    find_element(m, sk_add(lw, from, lane), &f);
    for (uint32_t c = 0; c < m->info->components; c++)
        if (m->value[c])
            k_store(b, m->value[c], lane, f.value[c]);
    k_val own = f.inside, place = as_place(m, f.place);
    if (m->divided) {
        k_val mine = k_let(b, OP_AND, k_let(b, OP_GE, f.place, m->low, 0), k_let(b, OP_LT, f.place, m->high, 0), 0);
        own = own ? k_let(b, OP_AND, own, mine, 0) : mine;
    }
    k_val other = m->may_drop ? nowhere(m) : k_literal(b, m->places_type, 0);
    k_store(b, m->at, lane, own ? k_select(b, own, place, other) : place);
    report_outside(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* Is it the element of an array in memory at the loop's own position? */
static bool is_own_read(const permute *m, ir_id element)
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

static int64_t spare_of(const permute *m)
{
    return m->compacts ? m->lw->out->k->lanes : 0;
}

/* Where the values of a component are when they are combined. */
static void find_value(permute *m, uint32_t c)
{
    const ir_node *n = ir_at(m->lw->l->ir, m->element[c]);
    if (sk_is_alike(m->lw->l->ir, m->element[c]))
        return;
    if (is_own_read(m, m->element[c]) && !m->compacts)
        m->read[c] = sk_array_memory(m->lw, n->array, (uint32_t)n->u.literal, false);
    else
        m->value[c] = k_shared(&m->lw->b, m->info->type[c], m->stretch + spare_of(m), "value");
}

static k_val load_value(permute *m, uint32_t c, k_val j)
{
    k_builder *b = &m->lw->b;
    if (m->value[c])
        return k_load(b, m->value[c], j);
    return m->read[c] ? k_load(b, m->read[c], sk_add(m->lw, m->from, j)) : sk_closed(m->lw, m->element[c]);
}

/* What a choosing operator gives, and whether that is anything new. */
static k_val changed(permute *m, const k_val *old, const k_val *new, k_val *out)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    ir_id condition;
    bool takes_new;
    if (sk_permute_choice(lw->l->ir, m->fn, &condition, &takes_new)) {
        k_val holds;
        sk_emit(lw, 1, &condition, &holds);
        memcpy(out, new, m->info->components * sizeof(k_val));
        return takes_new ? holds : k_let(b, OP_NOT, holds, 0, 0);
    }
    sk_emit(lw, 1, m->fn->result, out);
    ir_type t = m->info->type[0], bits = t == T_F32 ? T_U32 : t == T_F64 ? T_U64 : t;
    k_val x = bits == t ? out[0] : k_convert(b, OP_BITCAST, bits, out[0]);
    return k_let(b, OP_NE, x, bits == t ? old[0] : k_convert(b, OP_BITCAST, bits, old[0]), 0);
}

/* f(new, old) into a total. */
static void combine(permute *m, k_val place, const k_val *new, const k_val *old)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t n = m->info->components, mark = sk_scope(lw);
    k_val out[IR_MAX_COMPONENTS];
    for (uint32_t c = 0; c < n && m->fn; c++) {
        sk_bind(lw, m->fn->param[c], new[c]);
        sk_bind(lw, m->fn->param[n + c], old[c]);
    }
    k_val changes = m->rarely ? changed(m, old, new, out) : 0;
    if (m->fn && !m->rarely)
        sk_emit(lw, n, m->fn->result, out);
    if (changes)
        k_if(b, changes);
    for (uint32_t c = 0; c < n; c++)
        k_store(b, m->into[c], total_at(m, c, place), m->fn ? out[c] : new[c]);
    if (changes)
        k_end(b);
    sk_scope_end(lw, mark);
}

/* Element j of the stretch goes to the total at a place. */
static void take_element(permute *m, k_val j, k_val place)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t n = m->info->components;
    k_val new[IR_MAX_COMPONENTS] = {0}, old[IR_MAX_COMPONENTS] = {0};
    lw->element = place;
    if (m->counts) {
        k_val at = total_at(m, 0, place), count = k_load(b, m->into[0], at);
        k_store(b, m->into[0], at, k_let(b, OP_ADD, count, k_literal(b, T_U32, 1), 0));
        return;
    }
    for (uint32_t c = 0; c < n; c++)
        new[c] = load_value(m, c, j);
    if (m->has && m->fn)
        k_if(b, k_load(b, m->has, has_at(m, place)));
    for (uint32_t c = 0; c < n && m->fn; c++)
        old[c] = k_load(b, m->into[c], total_at(m, c, place));
    combine(m, place, new, old);
    if (m->has && m->fn) {
        k_else(b);
        for (uint32_t c = 0; c < n; c++)
            k_store(b, m->into[c], total_at(m, c, place), new[c]);
        k_store(b, m->has, has_at(m, place), k_literal(b, T_BOOL, 1));
        k_end(b);
    } else if (m->has) {
        k_store(b, m->has, has_at(m, place), k_literal(b, T_BOOL, 1));
    }
}

static void take_in_turn(permute *m, k_val j)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    if (m->direct) {
        k_val key = k_load(b, m->key, sk_add(lw, m->from, j));
        k_val place = b->k->value.at[key].type == T_I64 ? key : k_convert(b, OP_CONVERT, T_I64, key);
        take_element(m, j, place);
        return;
    }
    k_val at = load_place(m, j);
    if (m->may_drop)
        k_if(b, k_let(b, OP_GE, at, k_i64(b, 0), 0));
    take_element(m, j, at);
    if (m->may_drop)
        k_end(b);
}

/* So many elements a turn, where the operator is small. */
static int64_t at_once(const permute *m)
{
    enum { SMALL = 16, TURNS = 16 };
    opt_ids ids = {0};
    if (m->fn)
        opt_reach(m->lw->l->ir, m->lw->arena, m->fn->results, m->fn->result, &ids);
    return ids.n <= SMALL ? TURNS : 1;
}

/* While elements are combined, what is read some hundred elements on comes from memory: computing a stretch would wait
 * for it, and processors do not look ahead well while combining goes to and fro in memory. `some` elements from number
 * j of the stretch on are at hand. */
static void fetch_next(permute *m, k_val j, int64_t some)
{
    enum { LINE = 64, AHEAD = 1024 };
    sk_lower *lw = m->lw;
    ir_id term[IR_MAX_RANK + IR_MAX_COMPONENTS];
    opt_ids ids = {0};
    uint32_t n = m->to->rank + m->info->components, mark = sk_scope(lw);
    k_val next = sk_add(lw, sk_add(lw, m->from, k_i64(&lw->b, larger(m->stretch, AHEAD))), j);
    memcpy(term, m->target, m->to->rank * sizeof(ir_id));
    memcpy(term + m->to->rank, m->element, m->info->components * sizeof(ir_id));
    opt_reach(lw->l->ir, lw->arena, n, term, &ids);
    sk_bind(lw, lw->at.linear, next);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, next);
    for (int64_t k = 0; k < some; k += LINE / sk_widest(lw->l, &ids, 0, NULL))
        sk_fetch(lw, n, term, &lw->at, k_i64(&lw->b, k), k_i64(&lw->b, 0));
    sk_scope_end(lw, mark);
}

/* One core takes the elements of a stretch in turn. */
static void combine_in_turn(permute *m, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    int64_t some = at_once(m);
    bool guards = !m->may_drop && !m->compacts && !m->direct; /* those outside go to place 0, if there is one */
    if (guards)
        k_if(b, k_let(b, OP_GT, m->places, k_i64(b, 0), 0));
    k_val lane = k_for_whole(b, k_i64(b, 1)), done = k_i64(b, 0);
    if (some > 1) {
        k_val turns = k_let(b, OP_QUOT, count, k_i64(b, some), 0), turn = k_for(b, k_i64(b, 0), turns, false);
        k_val from = sk_add(lw, sk_mul(lw, turn, k_i64(b, some)), lane);
        fetch_next(m, from, some);
        k_val k = k_for(b, k_i64(b, 0), k_i64(b, some), true);
        take_in_turn(m, sk_add(lw, from, k));
        k_end(b);
        k_end(b);
        done = sk_mul(lw, turns, k_i64(b, some));
    }
    take_in_turn(m, sk_add(lw, k_for(b, done, count, false), lane));
    k_end(b);
    k_end(b);
    if (guards)
        k_end(b);
}

/* Have all elements of a whole stretch places? */
static k_val all_inside(permute *m, k_val from)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    int64_t lanes = lw->out->k->lanes;
    k_val inside = k_decl(b, k_i64(b, 0), "inside");
    k_val gang = k_for(b, k_i64(b, 0), k_i64(b, m->stretch / lanes), true);
    k_val lane = k_for_whole(b, k_i64(b, lanes));
    uint32_t mark = sk_scope(lw);
    found f;
    find_element(m, sk_add(lw, sk_add(lw, from, sk_mul(lw, gang, k_i64(b, lanes))), lane), &f);
    k_set(b, inside, sk_add(lw, k_get(b, inside), f.inside ? k_count(b, f.inside) : k_i64(b, lanes)));
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
    return k_let(b, OP_EQ, k_get(b, inside), k_i64(b, m->stretch), 0);
}

/* A stretch whose elements memory has: if all have places, they are combined from there. */
static void take_stretch(permute *m, k_val from, k_val count)
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
    compute_stretch(m, from, count);
    combine_in_turn(m, count);
    if (m->key)
        k_end(b);
}

/* Threads that share a block: each has a bit for every element of a stretch. */
static int64_t words_of(const permute *m)
{
    return pieces_of(m->stretch, 32);
}

static void clear_marks(permute *m)
{
    k_builder *b = &m->lw->b;
    k_val i = k_for_all(b, k_i64(b, words_of(m) * SK_PERMUTE_THREADS));
    k_store(b, m->marks, i, k_literal(b, T_U32, 0));
    k_end(b);
}

/* Elements are marked for the threads that have their places, in any order, */
static void mark_elements(permute *m, k_val count)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val j = k_for_all(b, count), place = load_place(m, j);
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
static void combine_by_threads(permute *m, k_val count)
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
    take_element(m, j, load_place(m, j));
    k_set(b, marks, k_let(b, OP_BIT_AND, left, k_let(b, OP_SUB, left, k_literal(b, T_U32, 1), 0), 0));
    k_end(b);
    k_end(b);
    k_end(b);
}

/* There are no totals yet. */
static void clear_totals(permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_all(b, k_let(b, OP_SUB, m->high, m->low, 0));
    k_val at = sk_add(lw, m->low, lane);
    if (m->counts)
        k_store(b, m->into[0], total_at(m, 0, at), k_literal(b, T_U32, 0));
    for (uint32_t c = 0; c < m->info->components && lw->cluster->identity && !m->counts; c++)
        k_store(b, m->into[c], total_at(m, c, at), k_literal(b, m->info->type[c], lw->cluster->identity[c]));
    if (m->has)
        k_store(b, m->has, has_at(m, at), k_literal(b, T_BOOL, 0));
    k_end(b);
}

/* Memory that has places as numbers of any width, at the loop's own positions, where elements can be combined from
 * memory; else 0. */
static k_mem find_keys(permute *m)
{
    const ir_program *p = m->lw->l->ir;
    const sk_options *o = m->lw->options;
    const ir_node *n = ir_at(p, m->target[0]);
    ir_id key = m->target[0];
    bool good = m->to->rank == 1 && o->vector_bytes && !o->group && !m->divided && !m->may_fail;
    for (uint32_t c = 0; c < m->info->components && good; c++) {
        good &= sk_is_alike(p, m->element[c]) || is_own_read(m, m->element[c]);
        good &= !m->fn || !ir_at(p, m->fn->result[c])->partial;
    }
    if (n->kind == IR_OP && n->op == OP_CONVERT)
        key = ir_args(p, key)[0];
    n = ir_at(p, key);
    good &= n->kind == IR_READ && ir_type_class((ir_type)n->type) == CLASS_INT && is_own_read(m, key);
    return good ? sk_array_memory(m->lw, n->array, (uint32_t)n->u.literal, false) : 0;
}

static int64_t stretch_of(const permute *m)
{
    enum { BYTES = 24 << 10, MOST = 1024, LEAST = 16, FAR = 256, DIRECT = 256 };
    bool far = m->lw->options->row & SK_PERMUTE_FAR;
    int64_t n = m->key ? DIRECT : far ? FAR : MOST, bytes = sk_permute_bytes(m->info) + 8, room = BYTES;
    if (m->lw->options->group) {
        bytes += SK_PERMUTE_THREADS / 8;
        room = smaller(room, (int64_t)m->lw->options->scratch / 2);
    }
    while (n > LEAST && n * bytes > room)
        n /= 2;
    return n;
}

/* Elements [begin, end), stretch by stretch. */
static void take_elements(permute *m, k_val begin, k_val end)
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
        compute_stretch(m, from, count);
        combine_by_threads(m, count);
    } else if (m->compacts) {
        combine_in_turn(m, keep_own(m, from, count));
    } else {
        take_stretch(m, from, count);
    }
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- rows of elements that go to rows of places --- */

enum { ROWS = 256, ROW_ELEMENTS = 8192 }; /* of a stretch, at most; elements of these, if it has several */

/* A gang takes the whole row, or as many elements as it has lanes. */
static void choose_row_lanes(permute *m)
{
    sk_lower *lw = m->lw;
    const l_cluster *loop = lw->cluster->loop;
    int64_t widest = 1, length = INT64_MAX, lanes = 4;
    for (uint32_t c = 0; c < m->info->components; c++)
        widest = larger(widest, (int64_t)ir_type_size(m->info->type[c]));
    if (!ir_extent_constant(lw->l->ir, loop->shape[loop->rank - 1], &length))
        length = lw->options->vector_bytes / widest; /* any length: what is no whole gang is off */
    while (2 * lanes <= smaller(length, 2 * lw->options->vector_bytes / widest))
        lanes *= 2;
    lw->out->k->lanes = (uint16_t)lanes;
}

/* Places of the first elements of rows. */
static void find_row_places(permute *m, k_val first, k_val count, k_val length)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    found f;
    find_element(m, sk_mul(lw, sk_add(lw, first, lane), length), &f);
    k_val place = as_place(m, f.place);
    k_store(b, m->at, lane, f.inside ? k_select(b, f.inside, place, nowhere(m)) : place);
    report_outside(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
}

static void combine_rows(permute *m, k_val first, k_val count, k_val length)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t n = m->info->components;
    k_val new[IR_MAX_COMPONENTS] = {0}, old[IR_MAX_COMPONENTS] = {0};
    int64_t known = 0;
    const l_cluster *loop = lw->cluster->loop;
    bool whole = ir_extent_constant(lw->l->ir, loop->shape[loop->rank - 1], &known) && known % lw->out->k->lanes == 0;
    k_val lane = whole ? k_for_whole(b, k_i64(b, known)) : k_for_all(b, length);
    k_val j = k_for(b, k_i64(b, 0), count, false), place = load_place(m, j);
    k_if(b, k_let(b, OP_GE, place, k_i64(b, 0), 0));
    uint32_t mark = sk_scope(lw);
    k_val position = sk_add(lw, sk_mul(lw, sk_add(lw, first, j), length), lane);
    sk_bind(lw, lw->at.linear, position);
    sk_bind_runs(lw, 0, loop->rank, position);
    sk_emit(lw, n, m->element, new);
    place = sk_add(lw, place, lane);
    lw->element = place;
    for (uint32_t c = 0; c < n && m->fn; c++)
        old[c] = k_load(b, m->into[c], total_at(m, c, place));
    combine(m, place, new, old);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* Rows [first, last). */
static void take_rows(permute *m, k_val first, k_val last, k_val length)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), some = k_let(b, OP_QUOT, k_i64(b, ROW_ELEMENTS), length, 0);
    k_val size = sk_min(lw, k_i64(b, ROWS), sk_max(lw, one, some));
    k_val stretches = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, last, first), sk_sub(lw, size, one)), size, 0);
    k_val s = k_for(b, k_i64(b, 0), stretches, false), from = sk_add(lw, first, sk_mul(lw, s, size));
    k_val count = sk_min(lw, size, sk_sub(lw, last, from));
    uint32_t mark = sk_scope(lw);
    find_row_places(m, from, count, length);
    combine_rows(m, from, count, length);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* A block: whole rows, and before and behind them what it has of others. */
static void take_block_of_rows(permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const l_cluster *loop = lw->cluster->loop;
    k_val length = sk_max(lw, k_i64(b, 1), sk_closed(lw, loop->shape[loop->rank - 1])), one = k_i64(b, 1);
    k_val first = k_let(b, OP_QUOT, sk_add(lw, m->begin, sk_sub(lw, length, one)), length, 0);
    k_val last = sk_max(lw, first, k_let(b, OP_QUOT, m->end, length, 0));
    k_val rows_begin = sk_min(lw, m->end, sk_mul(lw, first, length));
    k_val rows_end = sk_max(lw, rows_begin, sk_min(lw, m->end, sk_mul(lw, last, length)));
    k_val part = k_for(b, k_i64(b, 0), k_i64(b, 2), false), before = k_let(b, OP_EQ, part, k_i64(b, 0), 0);
    take_elements(m, k_select(b, before, m->begin, rows_end), k_select(b, before, rows_begin, m->end));
    k_if(b, before);
    take_rows(m, first, last, length);
    k_end(b);
    k_end(b);
}

static void build_loop(permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    find_elements(m);
    sk_open_space(lw);
    m->key = m->rows ? 0 : find_keys(m);
    m->stretch = m->rows ? larger(ROWS, stretch_of(m)) : stretch_of(m);
    if (m->rows)
        choose_row_lanes(m);
    open_totals(m);
    m->at = k_shared(b, m->places_type, m->stretch + spare_of(m), "place");
    for (uint32_t c = 0; c < m->info->components; c++)
        find_value(m, c);
    if (lw->options->group)
        m->marks = k_shared(b, T_U32, words_of(m) * SK_PERMUTE_THREADS, "marks");
    m->elements = sk_slot(lw, SK_PERMUTE_ELEMENTS, "elements");
    m->places = sk_slot(lw, SK_PERMUTE_PLACES, "places");
    k_val length = sk_slot(lw, SK_PERMUTE_LENGTH, "block_length"), block = k_piece(b);
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
    m->base = m->tables ? sk_mul(lw, block, m->places) : 0;
    if (m->tables)
        clear_totals(m);
    if (lw->options->group) {
        lw->out->k->group = SK_PERMUTE_THREADS;
        clear_marks(m);
    }
    if (m->rows)
        take_block_of_rows(m);
    else
        take_elements(m, m->begin, m->end);
}

/* Elements that are all alike, as often as all blocks have counted. */
static void merge_counts(permute *m, k_val place, k_val blocks, const k_mem *result)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val all = k_decl(b, k_literal(b, T_U64, 0), "count");
    k_val q = k_for(b, k_i64(b, 0), blocks, false), at = sk_add(lw, sk_mul(lw, q, m->places), place);
    k_set(b, all, k_let(b, OP_ADD, k_get(b, all), k_convert(b, OP_CONVERT, T_U64, k_load(b, m->into[0], at)), 0));
    k_end(b);
    for (uint32_t c = 0; c < m->info->components; c++) {
        k_val times = k_convert(b, OP_CONVERT, m->info->type[c], k_get(b, all));
        k_val sum = k_let(b, OP_MUL, times, sk_closed(lw, m->element[c]), 0);
        k_store(b, result[c], place, k_let(b, OP_ADD, sum, k_load(b, result[c], place), 0));
    }
}

/* What one place of the result becomes: its default and the blocks' totals, in order. */
static void merge_place(permute *m, k_val place, k_val blocks, const k_mem *result)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t n = m->info->components;
    k_val acc[IR_MAX_COMPONENTS], new[IR_MAX_COMPONENTS], old[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
    lw->element = place;
    for (uint32_t c = 0; c < n; c++)
        acc[c] = k_decl(b, k_load(b, result[c], place), "total");
    k_val q = k_for(b, k_i64(b, 0), blocks, false), at = sk_add(lw, sk_mul(lw, q, m->places), place);
    if (m->has)
        k_if(b, k_load(b, m->has, has_at(m, at)));
    uint32_t mark = sk_scope(lw);
    for (uint32_t c = 0; c < n; c++) {
        new[c] = out[c] = k_load(b, m->into[c], total_at(m, c, at));
        old[c] = k_get(b, acc[c]);
        if (m->fn) {
            sk_bind(lw, m->fn->param[c], new[c]);
            sk_bind(lw, m->fn->param[n + c], old[c]);
        }
    }
    if (m->fn)
        sk_emit(lw, n, m->fn->result, out);
    for (uint32_t c = 0; c < n; c++)
        k_set(b, acc[c], out[c]);
    sk_scope_end(lw, mark);
    if (m->has)
        k_end(b);
    k_end(b);
    for (uint32_t c = 0; c < n; c++)
        k_store(b, result[c], place, k_get(b, acc[c]));
}

static void build_merge(permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_mem result[IR_MAX_COMPONENTS];
    m->element = sk_operand(&lw->body, m->anchor, 2, &lw->at);
    open_totals(m);
    for (uint32_t c = 0; c < m->info->components; c++)
        result[c] = result_memory(m, c);
    m->places = sk_slot(lw, SK_PERMUTE_PLACES, "places");
    k_val blocks = sk_slot(lw, SK_PERMUTE_BLOCKS, "blocks");
    if (lw->options->vector_bytes)
        lw->out->k->lanes =
            m->fn ? sk_lanes_for(lw->l, lw->arena, m->fn->results, m->fn->result, lw->options->vector_bytes) : 16;
    if (lw->options->group)
        lw->out->k->group = SK_PERMUTE_THREADS;
    k_val first = sk_mul(lw, k_piece(b), k_i64(b, SK_PERMUTE_MERGED));
    k_val lane = k_for_all(b, sk_min(lw, k_i64(b, SK_PERMUTE_MERGED), sk_sub(lw, m->places, first)));
    if (m->counts)
        merge_counts(m, sk_add(lw, first, lane), blocks, result);
    else
        merge_place(m, sk_add(lw, first, lane), blocks, result);
    k_end(b);
}

void sk_build_permute(sk_lower *lw)
{
    permute m;
    if (lw->pass == SK_PASS_TOTALS)
        lw->name = "permute_merge";
    open(&m, lw);
    if (lw->pass == SK_PASS_TOTALS)
        build_merge(&m);
    else
        build_loop(&m);
}

/* Threads combine their elements with what is there at once, in any order. */
void sk_build_permute_atomic(sk_lower *lw)
{
    permute m;
    open(&m, lw);
    k_builder *b = &lw->b;
    find_elements(&m);
    sk_open_space(lw);
    for (uint32_t c = 0; c < m.info->components; c++)
        m.into[c] = result_memory(&m, c);
    m.elements = sk_slot(lw, SK_PERMUTE_ELEMENTS, "elements");
    k_val size = sk_slot(lw, SK_PERMUTE_LENGTH, "piece_size"), from = sk_mul(lw, k_piece(b), size);
    k_val count = sk_min(lw, k_i64(b, sk_group_piece(lw->cluster)), sk_min(lw, size, sk_sub(lw, m.elements, from)));
    lw->out->k->group = SK_PERMUTE_THREADS;
    k_val lane = k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    found f;
    find_element(&m, sk_add(lw, from, lane), &f);
    if (f.inside)
        k_if(b, f.inside);
    for (uint32_t c = 0; c < m.info->components; c++)
        k_atomic(b, (ir_op)ir_at(lw->l->ir, m.info->fn->result[c])->op, m.into[c], f.place, f.value[c]);
    if (f.inside)
        k_end(b);
    report_outside(&m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
}
