/* What a round makes of an element: the operations of the round, composed into one term for each component of the new
 * state. */
#include "opt/element.h"

enum {
    MOST_ARRAYS = 64,  /* operations of a round, */
    MOST_NODES = 20000 /* and nodes that it grows by when they are composed */
};

typedef struct composed { /* an array, element by element */
    ir_id *x;
    ir_id *term; /* NULL: it is none of those that are composed */
} composed;

typedef struct pending { /* a read of an array that is computed in place */
    ir_id variable;
    ir_id array;
    uint32_t component;
    ir_id index[IR_MAX_RANK];
} pending;

typedef struct composer {
    ir_program *p;
    arena *arena;
    uint32_t nodes;  /* when it began: */
    composed *array; /* as many */
    VEC(pending) wait;
    bool bad;
} composer;

/* --- composing --- */

static bool computed(const composer *c, ir_id array)
{
    return ir_at(c->p, array)->kind != IR_INPUT;
}

static ir_id put_off(void *env, const ir_node *read, const ir_id *index)
{
    composer *c = env;
    pending wait = {.array = read->array, .component = (uint32_t)read->u.literal};
    if (!computed(c, read->array))
        return 0;
    c->bad |= !(read->flags & IR_SAFE) || read->flags & IR_LINEAR;
    memcpy(wait.index, index, read->n * sizeof *index);
    wait.variable = ir_var(c->p, (ir_type)read->type);
    vec_push(c->arena, &c->wait, wait);
    return wait.variable;
}

/* Are they terms over these variables, and those of what waits, alone? Those of a loop around them have other ones when
 * the loop is made anew. */
static bool only_over(const composer *c, uint32_t n, const ir_id *term, unsigned variables, const ir_id *variable,
                      uint32_t waiting)
{
    opt_ids ids = {0};
    bool good = true;
    if (!n)
        return true;
    opt_reach(c->p, c->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n && good; i++) {
        if (ir_at(c->p, ids.at[i])->kind == IR_LOOP)
            good = false;
        if (ir_at(c->p, ids.at[i])->kind != IR_VAR)
            continue;
        bool known = false;
        for (unsigned k = 0; k < variables; k++)
            known |= variable[k] == ids.at[i];
        for (uint32_t k = 0; k < waiting; k++)
            known |= c->wait.at[k].variable == ids.at[i];
        good = known;
    }
    vec_free(c->arena, &ids);
    return good;
}

/* `flags`: IR_SAFE, or indices are checked. */
static ir_id value_at(composer *c, uint32_t site, ir_id array, uint32_t component, unsigned flags, const ir_id *index)
{
    const ir_array *a = ir_info(c->p, array);
    if (!computed(c, array))
        return ir_read(c->p, site, array, component, flags, a->rank, index);
    ir_id term = c->array[array].term ? c->array[array].term[component] : 0;
    c->bad |= !term || !(flags & IR_SAFE);
    if (term)
        ir_substitute(c->p, a->rank, c->array[array].x, index, 1, &term);
    return term;
}

/* Reads of arrays that are computed become what is computed. `x`: the variables that terms are over. */
static bool resolve(composer *c, unsigned rank, const ir_id *x, uint32_t n, ir_id *term)
{
    c->wait.n = 0;
    opt_rewrite_ops(c->p, c->arena, NULL, put_off, c, n, arena_copy(c->arena, term, n * sizeof *term), term);
    const uint32_t waits = c->wait.n;
    ir_id *from = arena_array(c->arena, *from, waits + 1), *to = arena_array(c->arena, *to, waits + 1);
    for (uint32_t i = 0; i < waits && !c->bad; i++) {
        pending *w = &c->wait.at[i];
        const unsigned indices = ir_info(c->p, w->array)->rank;
        if (!only_over(c, indices, w->index, rank, x, i))
            return false;
        ir_substitute(c->p, i, from, to, indices, w->index);
        from[i] = w->variable;
        to[i] = value_at(c, 0, w->array, w->component, IR_SAFE, w->index);
        c->bad |= c->p->node.n - c->nodes > MOST_NODES;
    }
    if (c->bad)
        return false;
    ir_substitute(c->p, waits, from, to, n, term);
    return true;
}

static bool compose_map(composer *c, ir_id id, composed *to)
{
    const ir_array a = *ir_info(c->p, id);
    const unsigned indices = ir_at(c->p, id)->flags & IR_INDEXED ? a.rank : 0;
    ir_id *argument = arena_array(c->arena, *argument, a.fn->params + 1);
    uint32_t n = indices;
    memcpy(argument, to->x, indices * sizeof *argument);
    for (uint32_t i = 0; i < a.inputs; i++)
        for (uint32_t k = 0; k < ir_info(c->p, a.input[i])->components && !c->bad; k++)
            argument[n++] = value_at(c, ir_at(c->p, id)->site, a.input[i], k, IR_SAFE, to->x);
    if (c->bad || n != a.fn->params)
        return false;
    memcpy(to->term, a.fn->result, a.fn->results * sizeof *to->term);
    if (!resolve(c, a.fn->params, a.fn->param, a.components, to->term))
        return false;
    ir_substitute(c->p, a.fn->params, a.fn->param, argument, a.components, to->term);
    return true;
}

static bool compose_backpermute(composer *c, ir_id id, composed *to)
{
    const ir_array a = *ir_info(c->p, id);
    const unsigned indices = ir_info(c->p, a.input[0])->rank;
    ir_id index[IR_MAX_RANK];
    ir_instantiate(c->p, a.fn, to->x, index);
    if (!resolve(c, a.rank, to->x, indices, index))
        return false;
    for (uint32_t k = 0; k < a.components && !c->bad; k++)
        to->term[k] = value_at(c, ir_at(c->p, id)->site, a.input[0], k, ir_at(c->p, id)->flags & IR_SAFE, index);
    return !c->bad;
}

static bool compose(composer *c, ir_id id)
{
    const ir_array a = *ir_info(c->p, id);
    composed to = {arena_array(c->arena, ir_id, a.rank + 1u), arena_array(c->arena, ir_id, a.components + 1u)};
    bool good = false;
    for (unsigned d = 0; d < a.rank; d++)
        to.x[d] = ir_var(c->p, T_I64);
    switch (ir_at(c->p, id)->kind) {
    case IR_GENERATE:
        ir_instantiate(c->p, a.fn, to.x, to.term);
        good = resolve(c, a.rank, to.x, a.components, to.term);
        break;
    case IR_MAP:
        good = compose_map(c, id, &to);
        break;
    case IR_BACKPERMUTE:
        good = compose_backpermute(c, id, &to);
        break;
    default:
        break;
    }
    c->array[id] = to;
    return good && !c->bad && c->p->node.n - c->nodes <= MOST_NODES;
}

/* Every operation of the round. One that no result needs is composed, too, or in vain: rounds have few. */
static bool compose_all(composer *c)
{
    uint32_t arrays = 0;
    for (ir_id id = 1; id < c->nodes; id++) {
        if (!ir_is_array(c->p, id) || !computed(c, id))
            continue;
        if (++arrays > MOST_ARRAYS || !compose(c, id))
            return false;
    }
    return true;
}

/* --- what is read of the state --- */

static uint32_t part_of(const opt_round *r, ir_id array)
{
    for (uint32_t k = 0; k < r->parts; k++)
        if (r->state[k] == array && !r->part[k].passed)
            return k;
    return UINT32_MAX;
}

static bool same_shape(const opt_element *a, const opt_element *b)
{
    return a->rank == b->rank && !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

typedef struct place { /* where an element of the state is read */
    bool own, good;
    uint32_t closed;
    uint8_t from[IR_MAX_RANK]; /* of the dimensions that are not closed: which index of the reader's it is */
} place;

/* The same of every kind of index: is it one of the reader's? */
static bool index_of(const opt_element *e, ir_id index, ir_id extent, uint8_t *from)
{
    for (unsigned k = 0; k < e->rank; k++)
        if (e->x[k] == index && e->shape[k] == extent) {
            *from = (uint8_t)k;
            return true;
        }
    return false;
}

static bool is_closed(const opt_round *r, ir_id index)
{
    opt_ids ids = {0};
    bool good = !ir_at(r->p, index)->scope && !ir_at(r->p, index)->partial;
    if (!good)
        return false;
    opt_reach(r->p, r->p->arena, 1, &index, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        good &= ir_at(r->p, ids.at[i])->kind != IR_READ && ir_at(r->p, ids.at[i])->kind != IR_LOOP;
    vec_free(r->p->arena, &ids);
    return good;
}

static place place_of(const opt_round *r, const opt_element *reader, const ir_node *read, const ir_id *index)
{
    const opt_element *e = &r->part[part_of(r, read->array)];
    place at = {.own = same_shape(reader, e), .good = !(read->flags & IR_LINEAR)};
    for (unsigned d = 0; d < e->rank && at.good; d++) {
        at.own &= reader->x[d < reader->rank ? d : 0] == index[d] && d < reader->rank;
        if (index_of(reader, index[d], e->shape[d], &at.from[d]))
            continue;
        at.closed |= 1u << d;
        at.good = is_closed(r, index[d]);
    }
    at.good &= at.own || at.closed || !e->rank;
    return at;
}

static uint32_t find_slice(const opt_round *r, uint32_t part, uint32_t closed, const ir_id *index)
{
    for (uint32_t i = 0; i < r->slices; i++) {
        const opt_slice *s = &r->slice[i];
        bool same = s->part == part && s->closed == closed;
        for (unsigned d = 0; d < r->part[part].rank && same; d++)
            same = !(closed >> d & 1) || s->index[d] == index[d];
        if (same)
            return i;
    }
    return UINT32_MAX;
}

static bool note_slice(opt_round *r, uint32_t part, uint32_t closed, const ir_id *index)
{
    if (find_slice(r, part, closed, index) != UINT32_MAX)
        return true;
    if (r->slices == OPT_MOST_SLICES)
        return false;
    opt_slice *s = &r->slice[r->slices++];
    *s = (opt_slice){.part = part, .closed = closed};
    for (unsigned d = 0; d < r->part[part].rank; d++)
        s->index[d] = closed >> d & 1 ? index[d] : 0;
    return true;
}

static bool note_reads(opt_round *r, opt_element *e)
{
    opt_ids ids = {0};
    bool good = true;
    opt_reach(r->p, r->p->arena, e->components, e->term, &ids);
    for (uint32_t i = 0; i < ids.n && good; i++) {
        const ir_node *n = ir_at(r->p, ids.at[i]);
        if (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES)
            good = false;
        if (n->kind != IR_READ || part_of(r, n->array) == UINT32_MAX)
            continue;
        const uint32_t part = part_of(r, n->array);
        const ir_id *index = ir_args(r->p, ids.at[i]);
        const place at = place_of(r, e, n, index);
        good = at.good;
        if (good && at.own)
            e->own[part] = true;
        else if (good)
            good = note_slice(r, part, at.closed, index);
    }
    vec_free(r->p->arena, &ids);
    return good;
}

/* To compute a slice's elements takes those of other parts at the same places. */
static bool close_slices(opt_round *r)
{
    for (uint32_t i = 0; i < r->slices; i++)
        for (uint32_t k = 0; k < r->parts; k++)
            if (r->part[r->slice[i].part].own[k] && !note_slice(r, k, r->slice[i].closed, r->slice[i].index))
                return false;
    return true;
}

bool opt_find_elements(opt_round *r, const ir_id *result)
{
    ir_program *p = r->p;
    arena *a = p->arena;
    composer c = {.p = p, .arena = a, .nodes = p->node.n};
    c.array = arena_array(a, *c.array, c.nodes);
    r->part = arena_array(a, *r->part, r->parts + 1);
    r->slices = 0;
    for (uint32_t k = 0; k < r->parts; k++) {
        const ir_array *old = ir_info(p, r->state[k]), *new = ir_info(p, result[k]);
        if (memcmp(old->shape, new->shape, old->rank * sizeof *old->shape))
            return false;
        r->part[k] = (opt_element){.passed = result[k] == r->state[k], .rank = old->rank, .shape = old->shape};
        r->part[k].components = old->components;
        r->part[k].type = old->type;
        r->part[k].own = arena_alloc(a, r->parts + 1);
    }
    if (!compose_all(&c))
        return false;
    for (uint32_t k = 0; k < r->parts; k++) {
        opt_element *e = &r->part[k];
        if (e->passed)
            continue;
        e->site = ir_at(p, result[k])->site;
        e->term = arena_array(a, ir_id, e->components + 1u);
        for (unsigned d = 0; d < e->rank; d++)
            e->x[d] = ir_var(p, T_I64);
        for (uint32_t i = 0; i < e->components; i++)
            e->term[i] = value_at(&c, e->site, result[k], i, IR_SAFE, e->x);
        if (c.bad || !note_reads(r, e))
            return false;
    }
    return close_slices(r);
}

/* --- terms --- */

typedef struct rereading {
    const opt_round *r;
    const opt_element *reader;
    ir_id step; /* a variable, as are: */
    const ir_id *slice;
    ir_id *const *variable;
} rereading;

static ir_id read_again(void *env, const ir_node *read, const ir_id *index)
{
    const rereading *w = env;
    const opt_round *r = w->r;
    const uint32_t part = part_of(r, read->array);
    if (part == UINT32_MAX)
        return 0;
    const place at = place_of(r, w->reader, read, index);
    if (at.own)
        return w->variable[part][read->u.literal];
    const uint32_t s = find_slice(r, part, at.closed, index);
    ir_id to[IR_MAX_RANK + 1] = {w->step};
    uint32_t n = 1;
    for (unsigned d = 0; d < r->part[part].rank; d++)
        if (!(at.closed >> d & 1))
            to[n++] = index[d];
    return ir_read(r->p, read->site, w->slice[s], (uint32_t)read->u.literal, IR_SAFE, n, to);
}

void opt_element_terms(const opt_round *r, uint32_t part, const ir_id *index, ir_id round, ir_id step,
                       const ir_id *slice, ir_id *const *own, ir_id *out)
{
    const opt_element *e = &r->part[part];
    ir_program *p = r->p;
    opt_ids from = {0}, to = {0};
    ir_id **variable = arena_array(p->arena, *variable, r->parts + 1);
    for (uint32_t k = 0; k < r->parts; k++) {
        if (!e->own[k])
            continue;
        variable[k] = arena_array(p->arena, ir_id, r->part[k].components + 1u);
        for (uint32_t i = 0; i < r->part[k].components; i++) {
            variable[k][i] = ir_var(p, r->part[k].type[i]);
            vec_push(p->arena, &from, variable[k][i]);
            vec_push(p->arena, &to, own[k][i]);
        }
    }
    rereading w = {r, e, ir_var(p, T_I64), slice, variable};
    opt_rewrite_ops(p, p->arena, NULL, read_again, &w, e->components, e->term, out);
    vec_push(p->arena, &from, w.step);
    vec_push(p->arena, &to, step);
    for (unsigned d = 0; d < e->rank; d++) {
        vec_push(p->arena, &from, e->x[d]);
        vec_push(p->arena, &to, index[d]);
    }
    if (round) {
        vec_push(p->arena, &from, round);
        vec_push(p->arena, &to, ir_op2(p, 0, OP_ADD, round, step));
    }
    ir_substitute(p, from.n, from.at, to.at, e->components, out);
    vec_free(p->arena, &from);
    vec_free(p->arena, &to);
}

uint32_t opt_own_slice(const opt_round *r, uint32_t of, uint32_t part)
{
    return find_slice(r, part, r->slice[of].closed, r->slice[of].index);
}
