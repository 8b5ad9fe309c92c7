/* Rounds whose elements depend on few others are done many at a time: a loop over the arrays becomes a loop within each
 * element. (Blocked algorithms for all pairs' shortest paths and eliminations do the same by hand.) */
#include "opt/sweeps.h"

#include "ir/graft.h"
#include "opt/element.h"

enum {
    MOST_ROUNDS = 64,   /* at once: a call can be cancelled between them */
    SLICED_ROUNDS = 32, /* ... if there are slices, whose elements take as many rounds, */
    FEWER_SLICES = 4    /* and are so many times fewer than those of the state, or a round is a sweep as before */
};

typedef struct sweeping {
    ir_program *p; /* around */
    const ir_control *c;
    const ir_region *r;  /* of one round */
    const ir_program *q; /* its program, */
    ir_program *to;      /* and that of many rounds */
    ir_id *input;        /* q's, in `to` */
    ir_id *state;        /* ... the new ones */
    opt_round round;
    ir_id first, many; /* extents of `to`: the number of the first round, 0: nobody asks, and how many there are */
    ir_graft outwards; /* to -> p */
} sweeping;

static void *ids(const sweeping *s, size_t n)
{
    return arena_array(s->to->arena, ir_id, n + 1);
}

/* --- the round in a program of its own --- */

static ir_id same_extent(void *env, ir_id id)
{
    const sweeping *s = env;
    const ir_node *n = ir_at(s->q, id);
    return n->kind == IR_DIM ? ir_dim(s->to, s->q->dim.at[n->u.literal]) : 0;
}

static bool copy_round(sweeping *s)
{
    const ir_program *q = s->q;
    ir_graft g = {.from = (ir_program *)(uintptr_t)q, .to = s->to, .leaf = same_extent, .env = s};
    s->input = ids(s, q->input.n);
    s->state = ids(s, s->c->parts);
    for (uint32_t i = 0; i < q->input.n; i++) {
        const ir_array *a = ir_info(q, q->input.at[i]);
        ir_id shape[IR_MAX_RANK];
        ir_graft_terms(&g, a->rank, a->shape, shape);
        s->input[i] = ir_input(s->to, a->components, a->type, a->rank, shape);
        ir_graft_note(&g, q->input.at[i], s->input[i]);
    }
    ir_graft_program(&g);
    for (uint32_t k = 0; k < s->c->parts; k++) {
        const uint32_t at = s->r->result[k];
        s->state[k] = ir_graft_made(&g, at & IR_PASSED ? q->input.at[at & ~(uint32_t)IR_PASSED] : q->output.at[at]);
        if (!s->state[k])
            return false;
    }
    return true;
}

/* --- slices --- */

/* The index of the slice's element at `at`, in round `step` of those at once. */
static void slice_index(const sweeping *s, const opt_slice *slice, ir_id step, const ir_id *at, ir_id *index)
{
    for (unsigned d = 0; d < s->round.part[slice->part].rank; d++) {
        if (!(slice->closed >> d & 1)) {
            index[d] = *at++;
            continue;
        }
        index[d] = slice->index[d];
        if (s->first)
            ir_substitute(s->to, 1, &s->first, &(ir_id){ir_op2(s->to, 0, OP_ADD, s->first, step)}, 1, &index[d]);
    }
}

static unsigned slice_shape(const sweeping *s, const opt_slice *slice, ir_id *shape)
{
    const opt_element *e = &s->round.part[slice->part];
    unsigned rank = 0;
    shape[rank++] = s->many;
    for (unsigned d = 0; d < e->rank; d++)
        if (!(slice->closed >> d & 1))
            shape[rank++] = e->shape[d];
    return rank;
}

static ir_fn *index_function(const sweeping *s, unsigned rank)
{
    ir_type type[IR_MAX_RANK + 1];
    for (unsigned d = 0; d < rank; d++)
        type[d] = T_I64;
    return ir_fn_new(s->to, rank, type);
}

/* Slices before the first round, of all rounds that are done at once. */
static ir_id gather_slice(const sweeping *s, const opt_slice *slice)
{
    const opt_element *e = &s->round.part[slice->part];
    ir_id shape[IR_MAX_RANK + 1], index[IR_MAX_RANK], *out = ids(s, e->components);
    const unsigned rank = slice_shape(s, slice, shape);
    ir_fn *fn = index_function(s, rank);
    slice_index(s, slice, fn->param[0], fn->param + 1, index);
    for (uint32_t i = 0; i < e->components; i++)
        out[i] = ir_read(s->to, e->site, s->round.state[slice->part], i, IR_SAFE, e->rank, index);
    fn = ir_fn_close(s->to, fn, e->components, out);
    return fn ? ir_generate(s->to, e->site, rank, shape, fn) : 0;
}

/* The function that takes a slice's elements one round on, if theirs is still to come. `step`: the round's variable. */
static ir_fn *slice_function(const sweeping *s, uint32_t number, ir_id step, const ir_id *slice)
{
    const opt_slice *q = &s->round.slice[number];
    const opt_element *e = &s->round.part[q->part];
    ir_program *to = s->to;
    ir_id shape[IR_MAX_RANK + 1], index[IR_MAX_RANK], *out = ids(s, e->components);
    ir_id **own = arena_array(to->arena, *own, s->round.parts + 1);
    const unsigned rank = slice_shape(s, q, shape);
    ir_fn *fn = index_function(s, rank);
    slice_index(s, q, fn->param[0], fn->param + 1, index);
    for (uint32_t k = 0; k < s->round.parts; k++) {
        if (!e->own[k])
            continue;
        const ir_id from = slice[opt_own_slice(&s->round, number, k)];
        own[k] = ids(s, s->round.part[k].components);
        for (uint32_t i = 0; i < s->round.part[k].components; i++)
            own[k][i] = ir_read(to, e->site, from, i, IR_SAFE, rank, fn->param);
    }
    opt_element_terms(&s->round, q->part, index, s->first, step, slice, own, out);
    const ir_id to_come = ir_op2(to, e->site, OP_LT, step, fn->param[0]);
    for (uint32_t i = 0; i < e->components && out[i]; i++) {
        if (ir_at(to, out[i])->partial)
            return NULL;
        out[i] =
            ir_cond(to, e->site, to_come, out[i], ir_read(to, e->site, slice[number], i, IR_SAFE, rank, fn->param));
    }
    return ir_fn_close(to, fn, e->components, out);
}

typedef struct inner { /* the loop over slices */
    const sweeping *s;
    ir_program *p;
    ir_id step;    /* the extent that is the number of the round */
    opt_ids input; /* of the control */
    VEC(uint32_t) source;
    uint32_t states;
    const ir_id *slice; /* arrays of `to` that stand for them: reads of these are left as they are */
} inner;

static ir_id inner_leaf(void *env, ir_id id)
{
    inner *n = env;
    const ir_program *to = n->s->to;
    const ir_node *node = ir_at(to, id);
    if (node->kind == IR_DIM)
        return ir_dim(n->p, to->dim.at[node->u.literal]);
    if (node->kind != IR_INPUT)
        return 0;
    const ir_array *a = ir_info(to, id);
    ir_id shape[IR_MAX_RANK];
    ir_graft g = {.from = (ir_program *)(uintptr_t)to, .to = n->p, .leaf = inner_leaf, .env = n};
    ir_graft_terms(&g, a->rank, a->shape, shape);
    vec_push(n->p->arena, &n->source, n->input.n);
    vec_push(n->p->arena, &n->input, id);
    return ir_input(n->p, a->components, a->type, a->rank, shape);
}

/* A slice's array one round on, in the inner program. */
static ir_id inner_slice(ir_graft *g, inner *n, uint32_t number, ir_id variable)
{
    const opt_slice *q = &n->s->round.slice[number];
    const opt_element *e = &n->s->round.part[q->part];
    ir_id shape[IR_MAX_RANK + 1], *out = ids(n->s, e->components);
    const unsigned rank = slice_shape(n->s, q, shape);
    ir_fn *fn = slice_function(n->s, number, variable, n->slice), *copy;
    if (!fn)
        return 0;
    ir_graft_terms(g, rank, shape, shape);
    ir_type type[IR_MAX_RANK + 1];
    for (unsigned d = 0; d < rank; d++)
        type[d] = T_I64;
    copy = ir_fn_new(n->p, rank, type);
    for (unsigned d = 0; d < rank; d++)
        ir_graft_note(g, fn->param[d], copy->param[d]);
    ir_graft_terms(g, e->components, fn->result, out);
    for (uint32_t i = 0; i < e->components; i++)
        if (!out[i])
            return 0;
    copy = ir_fn_close(n->p, copy, e->components, out);
    return copy ? ir_generate(n->p, e->site, rank, shape, copy) : 0;
}

/* The loop that computes all slices of the rounds that are done at once; `slice` becomes them. */
static bool compute_slices(sweeping *s, ir_id *slice)
{
    const uint32_t slices = s->round.slices, dims = s->to->dim.n, site = s->round.part[s->round.slice[0].part].site;
    inner n = {.s = s, .p = ir_program_like(s->to), .states = slices};
    arena *a = s->to->arena;
    ir_region region = {.program = n.p, .rounds = 1, .values = dims};
    ir_control c = {.form = IR_REPEAT, .states = slices, .parts = slices, .regions = 1, .region = &region};
    ir_graft g = {.from = s->to, .to = n.p, .leaf = inner_leaf, .env = &n};
    ir_id *opaque = ids(s, slices);
    n.p->outer = s->to;
    n.slice = opaque;
    n.step = ir_dim(n.p, "step#");
    region.index = n.p->dim.n;
    for (uint32_t i = 0; i < slices; i++) {
        const ir_array *info = ir_info(s->to, slice[i]);
        ir_id shape[IR_MAX_RANK];
        vec_push(a, &n.input, slice[i]);
        vec_push(a, &n.source, i);
        ir_graft_terms(&g, info->rank, info->shape, shape);
        opaque[i] = ir_force(s->to, site, slice[i]);
        if (!opaque[i])
            return false;
        ir_graft_note(&g, opaque[i], ir_input(n.p, info->components, info->type, info->rank, shape));
    }
    const ir_id variable = ir_var(s->to, T_I64);
    ir_graft_note(&g, variable, n.step);
    region.result = arena_array(a, *region.result, slices + 1);
    for (uint32_t i = 0; i < slices; i++) {
        const ir_id next = inner_slice(&g, &n, i, variable);
        if (!next)
            return false;
        ir_output(n.p, next);
        region.result[i] = i;
    }
    region.source = n.source.at;
    region.value = arena_array(a, *region.value, dims + 1);
    region.dim = arena_array(a, *region.dim, dims + 1);
    c.values = dims + 1;
    c.value = ids(s, c.values);
    c.value[0] = s->many;
    for (uint32_t k = 0; k < dims; k++) {
        region.value[k] = k + 1;
        region.dim[k] = k;
        c.value[k + 1] = ir_dim(s->to, s->to->dim.at[k]);
    }
    const ir_id control = ir_control_new(s->to, site, &c, n.input.n, n.input.at);
    for (uint32_t i = 0; i < slices && control; i++) {
        const ir_array *info = ir_info(s->to, slice[i]);
        slice[i] = ir_part(s->to, site, control, i, info->rank, info->shape, 0);
        if (!slice[i])
            return false;
    }
    return control;
}

/* --- the sweep --- */

static bool same_shape(const opt_element *a, const opt_element *b)
{
    return a->rank == b->rank && !memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

/* All parts of the shape that part `like` has, in one operation; parts that it gives go to `out`. */
static bool sweep_parts(const sweeping *s, uint32_t like, const ir_id *slice, ir_id *out)
{
    ir_program *to = s->to;
    const opt_round *r = &s->round;
    const opt_element *e = &r->part[like];
    uint32_t inputs = 0, states = 0;
    ir_id *input = ids(s, r->parts), **own = arena_array(to->arena, *own, r->parts + 1);
    uint32_t *of = arena_array(to->arena, *of, r->parts + 1);
    for (uint32_t k = like; k < r->parts; k++)
        if (!r->part[k].passed && same_shape(e, &r->part[k])) {
            of[inputs] = k;
            input[inputs++] = r->state[k];
            states += r->part[k].components;
        }
    if (states > IR_MAX_COMPONENTS)
        return false;
    ir_type *type = arena_array(to->arena, *type, e->rank + states + 1);
    uint32_t n = 0;
    for (; n < e->rank; n++)
        type[n] = T_I64;
    for (uint32_t i = 0; i < inputs; i++)
        for (uint32_t k = 0; k < r->part[of[i]].components; k++)
            type[n++] = r->part[of[i]].type[k];
    ir_fn *fn = ir_fn_new(to, n, type);
    ir_loop loop = {.states = states, .init = fn->param + e->rank, .count = s->many};
    loop.var = ids(s, states);
    loop.next = ids(s, states);
    n = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        own[of[i]] = loop.var + n;
        for (uint32_t k = 0; k < r->part[of[i]].components; k++, n++)
            loop.var[n] = ir_var(to, type[e->rank + n]);
    }
    loop.index = ir_var(to, T_I64);
    n = 0;
    for (uint32_t i = 0; i < inputs; i++) {
        opt_element_terms(r, of[i], fn->param, s->first, loop.index, slice, own, loop.next + n);
        n += r->part[of[i]].components;
    }
    for (uint32_t k = 0; k < states; k++)
        if (!loop.next[k] || ir_at(to, loop.next[k])->partial)
            return false;
    const ir_id id = ir_loop_new(to, e->site, &loop);
    ir_id *result = ids(s, states);
    for (uint32_t k = 0; k < states && id; k++)
        result[k] = ir_proj(to, id, k);
    fn = id ? ir_fn_close(to, fn, states, result) : NULL;
    const ir_id all = fn ? ir_map(to, e->site, inputs, input, fn, IR_INDEXED) : 0;
    n = 0;
    for (uint32_t i = 0; i < inputs && all; i++) {
        const uint32_t components = r->part[of[i]].components;
        out[of[i]] = all;
        if (inputs > 1) {
            fn = ir_fn_new(to, states, type + e->rank);
            fn = ir_fn_close(to, fn, components, fn->param + n);
            out[of[i]] = fn ? ir_map(to, e->site, 1, &all, fn, 0) : 0;
        }
        n += components;
        if (!out[of[i]])
            return false;
    }
    return all;
}

static bool sweep(const sweeping *s, const ir_id *slice, uint32_t *result)
{
    const opt_round *r = &s->round;
    ir_id *out = ids(s, r->parts);
    for (uint32_t k = 0; k < r->parts; k++) {
        if (r->part[k].passed)
            continue;
        if (!out[k] && !sweep_parts(s, k, slice, out))
            return false;
    }
    for (uint32_t k = 0; k < r->parts; k++) {
        result[k] = k | IR_PASSED;
        if (r->part[k].passed)
            continue;
        ir_output(s->to, out[k]);
        result[k] = s->to->output.n - 1;
    }
    return true;
}

/* --- how many, and for which rounds --- */

static ir_id outwards(void *env, ir_id id)
{
    const sweeping *s = env;
    const ir_node *n = ir_at(s->to, id);
    for (uint32_t i = 0; n->kind == IR_DIM && i < s->r->values; i++)
        if (s->r->dim[i] == n->u.literal)
            return s->c->value[s->r->value[i]];
    return 0;
}

static bool has_first(const sweeping *s, ir_id term)
{
    opt_ids list = {0};
    bool has = false;
    opt_reach(s->to, s->to->arena, 1, &term, &list);
    for (uint32_t i = 0; i < list.n; i++)
        has |= list.at[i] == s->first;
    vec_free(s->to->arena, &list);
    return has;
}

/* An index c + k, c - k or c, k the number of the round: c in the program around; 0: it is none such. */
static ir_id split_index(sweeping *s, ir_id index, int *sign)
{
    const ir_node *n = ir_at(s->to, index);
    ir_id rest = index;
    *sign = 0;
    if (s->first && index == s->first) {
        *sign = 1;
        return ir_i64(s->p, 0);
    }
    if (s->first && n->kind == IR_OP && (n->op == OP_ADD || n->op == OP_SUB)) {
        const ir_id *arg = ir_args(s->to, index);
        const bool second = arg[1] == s->first;
        if (second || (n->op == OP_ADD && arg[0] == s->first)) {
            *sign = n->op == OP_SUB ? -1 : 1;
            rest = arg[!second];
        }
    }
    return has_first(s, rest) ? 0 : ir_graft_term(&s->outwards, rest);
}

/* How many rounds there are before one's index is outside. */
static ir_id limit_of(sweeping *s, ir_id index, ir_id extent)
{
    int sign;
    ir_program *p = s->p;
    const ir_id c = split_index(s, index, &sign), e = ir_graft_term(&s->outwards, extent), zero = ir_i64(p, 0);
    if (!c || !e)
        return 0;
    if (sign > 0)
        return ir_cond(p, 0, ir_op2(p, 0, OP_LE, zero, c), ir_op2(p, 0, OP_SUB, e, c), zero);
    const ir_id below = ir_op2(p, 0, OP_LT, c, e);
    if (sign < 0)
        return ir_cond(p, 0, below, ir_op2(p, 0, OP_ADD, c, ir_i64(p, 1)), zero);
    return ir_cond(p, 0, ir_cond(p, 0, ir_op2(p, 0, OP_LE, zero, c), below, ir_bool(p, false)), ir_i64(p, INT64_MAX),
                   zero);
}

static bool find_limit(sweeping *s, ir_id *limit)
{
    *limit = 0;
    for (uint32_t i = 0; i < s->round.slices; i++) {
        const opt_slice *q = &s->round.slice[i];
        for (unsigned d = 0; d < s->round.part[q->part].rank; d++) {
            if (!(q->closed >> d & 1))
                continue;
            const ir_id one = limit_of(s, q->index[d], s->round.part[q->part].shape[d]);
            if (!one)
                return false;
            *limit = *limit ? ir_op2(s->p, 0, OP_MIN, *limit, one) : one;
        }
    }
    return true;
}

/* The number of elements of a shape, in the program around; 0: it cannot be said there. */
static ir_id count_outside(sweeping *s, unsigned rank, const ir_id *shape)
{
    ir_id n = ir_i64(s->p, 1);
    for (unsigned d = 0; d < rank && n; d++) {
        const ir_id e = ir_graft_term(&s->outwards, shape[d]);
        n = e ? ir_op2(s->p, 0, OP_MUL, n, e) : 0;
    }
    return n;
}

/* As many rounds as leave slices much smaller than the state; 1: there are none. */
static ir_id rounds_that_pay(sweeping *s)
{
    ir_program *p = s->p;
    ir_id all = ir_i64(p, 0), sliced = all, most = ir_i64(p, 1);
    for (uint32_t k = 0; k < s->round.parts && all; k++)
        if (!s->round.part[k].passed) {
            const ir_id n = count_outside(s, s->round.part[k].rank, s->round.part[k].shape);
            all = n ? ir_op2(p, 0, OP_ADD, all, n) : 0;
        }
    for (uint32_t i = 0; i < s->round.slices && sliced; i++) {
        ir_id shape[IR_MAX_RANK + 1];
        const unsigned rank = slice_shape(s, &s->round.slice[i], shape);
        const ir_id n = count_outside(s, rank - 1, shape + 1);
        sliced = n ? ir_op2(p, 0, OP_ADD, sliced, n) : 0;
    }
    if (!all || !sliced)
        return 0;
    for (int64_t n = 4; n <= SLICED_ROUNDS; n *= 2) {
        const ir_id enough = ir_op2(p, 0, OP_GE, all, ir_op2(p, 0, OP_MUL, sliced, ir_i64(p, n * FEWER_SLICES)));
        most = ir_cond(p, 0, enough, ir_i64(p, n), most);
    }
    return most;
}

/* --- the whole --- */

static bool make_region(sweeping *s, ir_control *more, ir_region *region)
{
    ir_id limit, most, *slice = ids(s, OPT_MOST_SLICES);
    if (!copy_round(s))
        return false;
    s->round = (opt_round){.p = s->to, .parts = s->c->parts, .state = s->input};
    s->first = s->r->index ? ir_dim(s->to, s->q->dim.at[s->r->index - 1]) : 0;
    if (!opt_find_elements(&s->round, s->state))
        return false;
    s->many = ir_dim(s->to, "rounds#");
    s->outwards = (ir_graft){.from = s->to, .to = s->p, .leaf = outwards, .env = s};
    *region = *s->r;
    region->program = s->to;
    region->rounds = s->round.slices ? SLICED_ROUNDS : MOST_ROUNDS;
    region->many = s->to->dim.n;
    region->result = arena_array(s->to->arena, *region->result, s->c->parts + 1);
    for (uint32_t i = 0; i < s->round.slices; i++) {
        slice[i] = gather_slice(s, &s->round.slice[i]);
        if (!slice[i])
            return false;
    }
    if (s->round.slices) {
        most = rounds_that_pay(s);
        if (!most || !find_limit(s, &limit) || !compute_slices(s, slice))
            return false;
        region->most = ir_control_add_value(s->p, more, most);
        if (limit)
            region->limit = ir_control_add_value(s->p, more, limit);
    }
    return sweep(s, slice, region->result) && !s->to->error.n;
}

/* Do all parts stay as they are, or is there anything to do? */
static bool changes(const ir_control *c)
{
    for (uint32_t k = 0; k < c->parts; k++)
        if (c->region[0].result[k] != (k | IR_PASSED))
            return true;
    return false;
}

/* Is every operation one that may be composed? Before anything is made for it. */
static bool may_be_composed(const ir_program *q)
{
    for (ir_id id = 1; id < q->node.n; id++)
        if (ir_is_array(q, id)) {
            const uint8_t kind = ir_at(q, id)->kind;
            if (kind != IR_INPUT && kind != IR_MAP && kind != IR_GENERATE && kind != IR_BACKPERMUTE)
                return false;
        }
    return true;
}

void opt_sweep_rounds(ir_program *p, void (*prepare)(void *env, ir_program *round), void *env)
{
    const uint32_t nodes = p->node.n;
    for (ir_id id = 1; id < nodes; id++) {
        if (ir_at(p, id)->kind != IR_CONTROL)
            continue;
        ir_array *info = p->node.at[id].u.info;
        const ir_control *c = info->control;
        if (c->form != IR_REPEAT || c->regions != 1 || !changes(c) || !may_be_composed(c->region[0].program))
            continue;
        prepare(env, c->region[0].program);
        sweeping s = {.p = p, .c = c, .r = &c->region[0], .q = c->region[0].program};
        s.to = ir_program_like(s.q);
        ir_control *more = arena_copy(p->arena, c, sizeof *c);
        ir_region many;
        if (!make_region(&s, more, &many))
            continue;
        more->region = arena_array(p->arena, ir_region, 2);
        more->region[0] = c->region[0];
        more->region[1] = many;
        more->regions = 2;
        info->control = more;
    }
}
