/* Finds loops that are folds of rows, and makes them folds. */
#include "opt/row_loops.h"

#include "ir/inside.h"
#include "opt/identity.h"
#include "opt/remake.h"

/* By how much a term grows where a variable grows by one, as far as that is known. */
typedef struct slope {
    bool known;
    int8_t by;
} slope;

typedef struct facts {   /* of a term of the function at hand */
    slope along, across; /* along a loop; from an element to its neighbour */
    bool on_loop;        /* depends on states of a loop that may become a fold */
    bool on_lane;        /* depends on what tells an element from its neighbour */
    bool reads_row;      /* reads along a row of its own */
    bool always;         /* is computed whatever conditions say */
    bool fails;          /* may fail, for all that can be seen, or tells that it was computed */
} facts;

typedef struct finder {
    ir_program *p;
    opt_remake remake;
    ir_id id; /* the operation at hand, its inputs and extents being those of now: */
    const ir_array *info;
    bool indexed;    /* its function's first parameters are its index */
    opt_ids ids;     /* the function's terms, */
    map64 place;     /* where each stands there, counted from 1, */
    facts *facts;    /* and what is known of it */
    map64 below;     /* indices, and the extents that they are inside of */
    VEC(ir_id) loop; /* loops that become folds */
    bool along;      /* others go along rows of their own */
    bool brief;      /* all have so few rounds that folds would combine them in their order, too */
} finder;

static facts *facts_of(finder *f, ir_id id)
{
    uint32_t at = id ? (uint32_t)map64_get(&f->place, id) : 0;
    return at ? &f->facts[at - 1] : NULL;
}

/* --- what is computed in any case --- */

static void mark(finder *f, ir_id id)
{
    facts *of = facts_of(f, id);
    if (of)
        of->always = true;
}

static void find_always(finder *f)
{
    for (uint32_t i = 0; i < f->info->fn->results; i++)
        mark(f, f->info->fn->result[i]);
    for (uint32_t i = f->ids.n; i-- > 0;) {
        const ir_node *n = ir_at(f->p, f->ids.at[i]);
        if (!f->facts[i].always)
            continue;
        if (n->kind == IR_LOOP) {
            mark(f, n->u.loop->count);
            for (uint32_t k = 0; k < n->u.loop->states; k++) {
                mark(f, n->u.loop->init[k]);
                mark(f, n->u.loop->next[k]); /* what does not change from round to round, for one */
            }
            continue;
        }
        for (uint32_t k = 0; k < (n->kind == IR_COND ? 1 : n->n); k++)
            mark(f, f->p->arg.at[n->args + k]);
    }
}

/* --- how terms change --- */

static slope fixed(int by)
{
    return (slope){by >= INT8_MIN && by <= INT8_MAX, (int8_t)by};
}

static bool still(slope x)
{
    return x.known && !x.by;
}

static slope sum(slope x, slope y, int sign)
{
    return x.known && y.known ? fixed(x.by + sign * y.by) : (slope){0};
}

static slope times(const finder *f, slope x, ir_id factor)
{
    const ir_node *n = ir_at(f->p, factor);
    int64_t by = n->kind == IR_CONST ? (int64_t)n->u.literal : INT64_MAX;
    return x.known && by >= INT8_MIN && by <= INT8_MAX ? fixed(x.by * (int)by) : (slope){0};
}

/* Of an operator that is not still; x and y: of its operands. */
static slope of_operator(const finder *f, const ir_node *n, slope x, slope y)
{
    const ir_id *arg = f->p->arg.at + n->args;
    switch (n->op) {
    case OP_ADD:
        return sum(x, y, 1);
    case OP_SUB:
        return sum(x, y, -1);
    case OP_MUL:
        return ir_at(f->p, arg[0])->kind == IR_CONST ? times(f, y, arg[0]) : times(f, x, arg[1]);
    case OP_MIN:
    case OP_MAX: /* roughly: at most positions */
        return !x.known || !y.known ? (slope){0} : x.by ? x : y;
    case OP_CONVERT:
        return ir_type_float((ir_type)n->type) || ir_type_float((ir_type)ir_at(f->p, arg[0])->type) ? (slope){0} : x;
    default:
        return (slope){0};
    }
}

/* Does the read go along a row as the loop runs, and do neighbours read rows that lie apart? */
static bool reads_row(finder *f, const ir_node *read)
{
    const ir_id *arg = f->p->arg.at + read->args;
    const facts *last = read->n ? facts_of(f, arg[read->n - 1]) : NULL;
    if (!last || !last->along.known || last->along.by != 1)
        return false;
    if (f->indexed && !f->info->rank)
        return true;
    if (last->on_lane)
        return !last->across.known || (last->across.by != 0 && last->across.by != 1);
    for (uint32_t d = 0; d + 1 < read->n; d++) {
        const facts *of = facts_of(f, arg[d]);
        if (of && of->on_lane)
            return true;
    }
    return false;
}

/* One term depends on another. */
static void join(facts *at, const facts *of)
{
    if (!of)
        return;
    at->on_loop |= of->on_loop;
    at->on_lane |= of->on_lane;
    at->reads_row |= of->reads_row;
    at->fails |= of->fails;
}

static bool fails(const finder *f, const ir_node *n)
{
    return n->kind == IR_READ
               ? !(ir_read_surely_inside(f->p, &f->below, n) || n->flags & IR_SAFE)
               : n->kind == IR_WITHIN || (n->kind == IR_OP && ir_ops[n->op].flags & (OP_PARTIAL | OP_TRACES));
}

static bool is_candidate(const finder *f, ir_id id);

static void look_at_loop(finder *f, uint32_t i)
{
    const ir_loop *loop = ir_at(f->p, f->ids.at[i])->u.loop;
    facts *at = &f->facts[i];
    for (uint32_t k = 0; k < loop->states; k++) {
        join(at, facts_of(f, loop->init[k]));
        join(at, facts_of(f, loop->next[k]));
    }
    join(at, facts_of(f, loop->cond));
    join(at, facts_of(f, loop->count));
    at->fails |= loop->cond != 0; /* it may not end */
    if (is_candidate(f, f->ids.at[i])) {
        at->on_loop = true;
        at->reads_row = false;
    }
}

static void look_at(finder *f, uint32_t i)
{
    const ir_node *n = ir_at(f->p, f->ids.at[i]);
    facts *at = &f->facts[i];
    slope along[2] = {{true, 0}, {true, 0}}, across[2] = {{true, 0}, {true, 0}};
    bool still_along = true, still_across = true;
    for (uint32_t k = 0; k < n->n; k++) {
        const facts *of = facts_of(f, f->p->arg.at[n->args + k]);
        if (!of)
            continue;
        join(at, of);
        still_along &= still(of->along);
        still_across &= still(of->across);
        if (k < 2) {
            along[k] = of->along;
            across[k] = of->across;
        }
    }
    at->along = still_along ? fixed(0) : n->kind == IR_OP ? of_operator(f, n, along[0], along[1]) : (slope){0};
    at->across = still_across ? fixed(0) : n->kind == IR_OP ? of_operator(f, n, across[0], across[1]) : (slope){0};
    at->fails |= fails(f, n);
    if (n->kind == IR_READ)
        at->reads_row |= reads_row(f, n);
}

/* What is known of variables before anything is looked at. */
static void set_variables(finder *f)
{
    const ir_fn *fn = f->info->fn;
    uint32_t indices = f->indexed ? f->info->rank : 0;
    for (uint32_t i = 0; i < f->ids.n; i++)
        if (ir_at(f->p, f->ids.at[i])->kind == IR_VAR) /* of loops inside: states may be anything */
            f->facts[i].across = f->facts[i].along = (slope){0};
    for (uint32_t i = 0; i < fn->params; i++) {
        facts *of = facts_of(f, fn->param[i]);
        if (!of)
            continue;
        bool lane = i + 1 == indices, index = i < indices;
        of->along = fixed(0);
        of->across = lane ? fixed(1) : index ? fixed(0) : (slope){0};
        of->on_lane = lane || !index;
        if (index)
            map64_put(f->p->arena, &f->below, fn->param[i], f->info->shape[i]);
    }
    for (uint32_t i = 0; i < f->ids.n; i++) {
        const ir_node *n = ir_at(f->p, f->ids.at[i]);
        if (n->kind != IR_LOOP)
            continue;
        bool candidate = is_candidate(f, f->ids.at[i]);
        if (n->u.loop->index)
            map64_put(f->p->arena, &f->below, n->u.loop->index, n->u.loop->count);
        facts *of = facts_of(f, n->u.loop->index);
        if (of) {
            of->along = fixed(candidate);
            of->across = fixed(0);
        }
        for (uint32_t k = 0; candidate && k < n->u.loop->states; k++)
            if ((of = facts_of(f, n->u.loop->var[k])))
                of->on_loop = true;
    }
}

/* --- which loops are folds --- */

/* An extent that is not below 0: a sum of products of extents. */
static bool is_extent(finder *f, ir_id count)
{
    opt_ids ids = {0};
    bool good = !ir_at(f->p, count)->scope;
    opt_reach(f->p, f->p->arena, 1, &count, &ids);
    for (uint32_t i = 0; i < ids.n && good; i++) {
        const ir_node *n = ir_at(f->p, ids.at[i]);
        good = n->kind == IR_DIM || (n->kind == IR_CONST && (int64_t)n->u.literal >= 0) ||
               (n->kind == IR_OP && (n->op == OP_ADD || n->op == OP_MUL));
    }
    vec_free(f->p->arena, &ids);
    return good;
}

/* A counted loop outside of all others, whose rounds are the same for all elements. */
static bool is_candidate(const finder *f, ir_id id)
{
    const ir_node *n = ir_at(f->p, id);
    const ir_fn *fn = f->info->fn;
    uint32_t at = (uint32_t)map64_get(&f->place, id);
    if (n->kind != IR_LOOP || !n->u.loop->count || !at || !f->facts[at - 1].always)
        return false;
    ir_id newest = 0;
    for (uint32_t i = 0; i < fn->params; i++)
        newest = fn->param[i] > newest ? fn->param[i] : newest;
    return n->scope <= newest && n->u.loop->states <= IR_MAX_COMPONENTS;
}

ir_op opt_combines(const ir_program *p, const ir_loop *loop, uint32_t k, ir_id *with)
{
    const ir_node *n = ir_at(p, loop->next[k]);
    const ir_id *arg = p->arg.at + n->args;
    unsigned wanted = OP_COMMUTES | OP_ASSOCIATES;
    with[0] = with[1] = 0;
    if (n->kind != IR_OP)
        return OP_COUNT;
    if (n->op == OP_FMA && arg[2] == loop->var[k]) {
        with[0] = arg[0];
        with[1] = arg[1];
        return OP_ADD;
    }
    if (n->n != 2 || (ir_ops[n->op].flags & wanted) != wanted)
        return OP_COUNT;
    with[0] = arg[0] == loop->var[k] ? arg[1] : arg[1] == loop->var[k] ? arg[0] : 0;
    return with[0] ? (ir_op)n->op : OP_COUNT;
}

/* What state k is combined with, 0: it is not. */
static ir_id combined_with(finder *f, const ir_loop *loop, uint32_t k)
{
    ir_id with[2];
    return opt_combines(f->p, loop, k, with) == OP_COUNT || with[1] ? 0 : with[0];
}

static ir_fn *operator_of(finder *f, const ir_loop *loop)
{
    ir_program *p = f->p;
    ir_type *type = arena_array(p->arena, ir_type, 2 * loop->states);
    ir_id *result = arena_array(p->arena, ir_id, loop->states);
    for (uint32_t k = 0; k < 2 * loop->states; k++)
        type[k] = (ir_type)ir_at(p, loop->var[k % loop->states])->type;
    ir_fn *fn = ir_fn_new(p, 2 * loop->states, type);
    for (uint32_t k = 0; k < loop->states; k++) {
        const ir_node n = *ir_at(p, loop->next[k]);
        result[k] = ir_op2(p, n.site, (ir_op)n.op, fn->param[k], fn->param[loop->states + k]);
    }
    return ir_fn_close(p, fn, loop->states, result);
}

/* Are there few operations for each read, as loops have that gain by going along rows, and no traces? */
static bool is_light(finder *f, const ir_loop *loop)
{
    opt_ids ids = {0};
    uint32_t reads = 0, work = 0;
    bool traces = false;
    opt_reach(f->p, f->p->arena, loop->states, loop->next, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(f->p, ids.at[i]);
        reads += n->kind == IR_READ;
        work += n->kind == IR_LOOP ? OPT_WORK_OF_A_READ : n->kind == IR_OP && n->type != T_I64;
        traces |= n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES;
    }
    vec_free(f->p->arena, &ids);
    return !traces && work <= OPT_WORK_OF_A_READ * reads;
}

/* What a loop is: a fold of rows that are alike, one of rows of their own, or none. */
typedef enum { NO_FOLD, OWN_ROWS, ROWS } loop_kind;

static loop_kind kind_of(finder *f, ir_id id)
{
    if (!is_candidate(f, id))
        return NO_FOLD;
    bool alike = f->info->rank < IR_MAX_RANK;
    const ir_loop *loop = ir_at(f->p, id)->u.loop;
    bool row = false;
    for (uint32_t k = 0; k < loop->states; k++) {
        ir_id with = combined_with(f, loop, k);
        const facts *of = facts_of(f, with), *init = facts_of(f, loop->init[k]);
        if (!with || (of && of->on_loop) || (init && init->on_loop))
            return NO_FOLD;
        alike &= !of || !of->fails;
        row |= of && of->reads_row;
    }
    ir_bits identity[IR_MAX_COMPONENTS];
    int64_t rounds = OPT_LEAST_ROUNDS;
    bool constant = ir_extent_constant(f->p, loop->count, &rounds);
    if (!row || (constant && rounds < OPT_LEAST_ROUNDS) || !opt_find_identity(f->p, operator_of(f, loop), identity))
        return NO_FOLD;
    if (alike && is_extent(f, loop->count))
        return ROWS;
    return is_light(f, loop) && !(constant && rounds <= OPT_ROUNDS_IN_ORDER) ? OWN_ROWS : NO_FOLD;
}

static bool is_brief(const ir_program *p, const ir_loop *loop)
{
    int64_t rounds;
    return loop->count && ir_extent_constant(p, loop->count, &rounds) && rounds <= OPT_ROUNDS_IN_ORDER;
}

static void find_folds(finder *f)
{
    const ir_fn *fn = f->info->fn;
    f->loop.n = 0;
    f->along = false;
    f->brief = true;
    opt_reach(f->p, f->p->arena, fn->results, fn->result, &f->ids);
    bool loops = false;
    for (uint32_t i = 0; i < f->ids.n && !loops; i++)
        loops = ir_at(f->p, f->ids.at[i])->kind == IR_LOOP;
    if (loops) {
        f->facts = arena_array(f->p->arena, *f->facts, f->ids.n);
        for (uint32_t i = 0; i < f->ids.n; i++)
            map64_put(f->p->arena, &f->place, f->ids.at[i], i + 1);
        find_always(f);
        set_variables(f);
        for (uint32_t i = 0; i < f->ids.n; i++) {
            ir_kind kind = (ir_kind)ir_at(f->p, f->ids.at[i])->kind;
            if (kind == IR_LOOP)
                look_at_loop(f, i);
            else if (kind != IR_VAR)
                look_at(f, i);
        }
        for (uint32_t i = 0, n = f->ids.n; i < n; i++) {
            const bool is_loop = ir_at(f->p, f->ids.at[i])->kind == IR_LOOP;
            loop_kind kind = is_loop ? kind_of(f, f->ids.at[i]) : NO_FOLD;
            f->brief &= !is_loop || is_brief(f->p, ir_at(f->p, f->ids.at[i])->u.loop);
            if (kind == ROWS)
                vec_push(f->p->arena, &f->loop, f->ids.at[i]);
            f->along |= kind == OWN_ROWS;
        }
        map64_free(f->p->arena, &f->place);
        map64_free(f->p->arena, &f->below);
        arena_release(f->p->arena, f->facts, f->ids.n * sizeof(*f->facts));
    }
    vec_free(f->p->arena, &f->ids);
}

/* --- folds of them --- */

static ir_id named(finder *f, ir_id made, bool step)
{
    if (!made)
        return 0;
    f->p->node.at[made].u.info->name = f->info->name;
    return step || ir_at(f->p, f->id)->flags & IR_STEP ? ir_mark_step(f->p, made) : made;
}

/* Input i of the operation, each of its elements being there for each round. */
static ir_id repeated(finder *f, uint32_t i, const ir_id *shape)
{
    ir_program *p = f->p;
    ir_type type[IR_MAX_RANK];
    for (unsigned d = 0; d <= f->info->rank; d++)
        type[d] = T_I64;
    ir_fn *fn = ir_fn_new(p, f->info->rank + 1u, type);
    fn = ir_fn_close(p, fn, f->info->rank, fn->param);
    ir_id from = ir_info(p, f->id)->input[i];
    return named(f, ir_backpermute(p, ir_at(p, f->id)->site, f->info->rank + 1u, shape, fn, from, IR_SAFE), true);
}

/* The array of what a loop combines. */
static ir_id elements(finder *f, const ir_loop *loop)
{
    ir_program *p = f->p;
    const ir_fn *old = f->info->fn;
    uint32_t rank = f->info->rank, indices = f->indexed ? rank : 0, inputs = f->info->inputs, components = 0;
    uint32_t site = ir_at(p, f->id)->site;
    ir_id shape[IR_MAX_RANK];
    memcpy(shape, f->info->shape, rank * sizeof(ir_id));
    shape[rank] = loop->count;
    for (uint32_t i = 0; i < inputs; i++)
        components += ir_info(p, f->info->input[i])->components;
    ir_type *type = arena_array(p->arena, ir_type, rank + 1 + components);
    ir_id *from = arena_array(p->arena, ir_id, old->params + 1);
    ir_id *to = arena_array(p->arena, ir_id, old->params + 1);
    ir_id *with = arena_array(p->arena, ir_id, loop->states);
    for (uint32_t i = 0; i <= rank; i++)
        type[i] = T_I64;
    for (uint32_t i = 0; i < components; i++)
        type[rank + 1 + i] = (ir_type)ir_at(p, old->param[indices + i])->type;
    ir_fn *fn = ir_fn_new(p, rank + 1 + components, type);
    for (uint32_t i = 0; i < old->params; i++) {
        from[i] = old->param[i];
        to[i] = i < indices ? fn->param[i] : fn->param[rank + 1 + i - indices];
    }
    from[old->params] = loop->index;
    to[old->params] = fn->param[rank];
    for (uint32_t k = 0; k < loop->states; k++)
        with[k] = combined_with(f, loop, k);
    opt_rewrite(p, p->arena, old->params + 1, from, to, NULL, NULL, loop->states, with, with);
    fn = ir_fn_close(p, fn, loop->states, with);
    if (!fn || !inputs)
        return fn ? named(f, ir_generate(p, site, rank + 1, shape, fn), true) : 0;
    ir_id *input = arena_array(p->arena, ir_id, inputs);
    for (uint32_t i = 0; i < inputs; i++)
        if (!(input[i] = repeated(f, i, shape)))
            return 0;
    return named(f, ir_map(p, site, inputs, input, fn, IR_INDEXED), true);
}

/* What takes the place of the functions' loops. */
typedef struct made {
    VEC(ir_id) fold;
    VEC(ir_id) old, result; /* projections of loops, and what they become */
    VEC(ir_type) type;      /* of the folds' components, one after the other */
    VEC(ir_id) start;       /* what these are combined with at the end; 0: nothing */
    VEC(ir_op) op;
} made;

static bool make_fold(finder *f, ir_id id, made *m, bool step)
{
    ir_program *p = f->p;
    const ir_loop *loop = ir_at(p, id)->u.loop;
    ir_fn *fn = operator_of(f, loop);
    ir_bits identity[IR_MAX_COMPONENTS];
    opt_find_identity(p, fn, identity);
    ir_id *seed = arena_array(p->arena, ir_id, loop->states);
    for (uint32_t k = 0; k < loop->states; k++) {
        const ir_node init = *ir_at(p, loop->init[k]);
        bool closed = !init.scope && !init.partial;
        seed[k] = closed ? loop->init[k] : ir_const(p, (ir_type)init.type, identity[k]);
        vec_push(p->arena, &m->old, ir_proj(p, id, k));
        vec_push(p->arena, &m->type, (ir_type)init.type);
        vec_push(p->arena, &m->start, closed ? 0 : loop->init[k]);
        vec_push(p->arena, &m->op, (ir_op)ir_at(p, loop->next[k])->op);
    }
    ir_id from = elements(f, loop);
    ir_id fold = from ? ir_fold(p, ir_at(p, id)->site, fn, seed, from, IR_COMMUTES) : 0;
    if (fold)
        vec_push(p->arena, &m->fold, named(f, fold, step));
    return fold != 0;
}

/* Is the result of the function that of the only loop, and no more? */
static bool is_plain(const finder *f)
{
    const ir_fn *fn = f->info->fn;
    const ir_loop *loop = ir_at(f->p, f->loop.at[0])->u.loop;
    bool plain = f->loop.n == 1 && fn->results == loop->states;
    for (uint32_t k = 0; k < loop->states && plain; k++) {
        const ir_node *init = ir_at(f->p, loop->init[k]), *result = ir_at(f->p, fn->result[k]);
        plain = !init->scope && !init->partial && result->kind == IR_PROJ && result->u.literal == k &&
                ir_args(f->p, fn->result[k])[0] == f->loop.at[0];
    }
    return plain;
}

/* The map over the folds' results that is left. */
static ir_id make_map(finder *f, made *m)
{
    ir_program *p = f->p;
    const ir_fn *old = f->info->fn;
    uint32_t params = old->params + m->type.n, inputs = f->info->inputs + m->fold.n;
    ir_type *type = arena_array(p->arena, ir_type, params);
    for (uint32_t i = 0; i < params; i++)
        type[i] = i < old->params ? (ir_type)ir_at(p, old->param[i])->type : m->type.at[i - old->params];
    ir_fn *fn = ir_fn_new(p, params, type);
    ir_id *start = arena_array(p->arena, ir_id, m->start.n);
    memcpy(start, m->start.at, m->start.n * sizeof(ir_id));
    uint32_t n = old->params + m->old.n;
    ir_id *from = arena_array(p->arena, ir_id, n), *to = arena_array(p->arena, ir_id, n);
    memcpy(from, old->param, old->params * sizeof(ir_id));
    memcpy(to, fn->param, old->params * sizeof(ir_id));
    opt_rewrite(p, p->arena, old->params, from, to, NULL, NULL, m->start.n, start, start);
    for (uint32_t k = 0; k < m->old.n; k++) {
        ir_id total = fn->param[old->params + k];
        from[old->params + k] = m->old.at[k];
        to[old->params + k] = start[k] ? ir_op2(p, ir_at(p, f->id)->site, m->op.at[k], start[k], total) : total;
    }
    ir_id *result = arena_array(p->arena, ir_id, old->results);
    opt_rewrite(p, p->arena, n, from, to, NULL, NULL, old->results, old->result, result);
    fn = ir_fn_close(p, fn, old->results, result);
    ir_id *input = arena_array(p->arena, ir_id, inputs);
    for (uint32_t i = 0; i < inputs; i++)
        input[i] = i < f->info->inputs ? f->info->input[i] : m->fold.at[i - f->info->inputs];
    return fn ? named(f, ir_map(p, ir_at(p, f->id)->site, inputs, input, fn, f->indexed ? IR_INDEXED : 0), false) : 0;
}

static void make_folds(finder *f, ir_id old)
{
    made m = {0};
    bool plain = is_plain(f);
    for (uint32_t i = 0; i < f->loop.n; i++)
        if (!make_fold(f, f->loop.at[i], &m, !plain))
            return;
    ir_id now = plain ? m.fold.at[0] : make_map(f, &m);
    if (!now)
        return;
    if (ir_at(f->p, f->id)->flags & IR_FUSED)
        ir_fuse(f->p, now);
    if (!plain)
        f->p->node.at[now].flags |= ir_at(f->p, f->id)->flags & IR_ALONG;
    f->remake.array[old] = now;
    f->remake.replaces = true;
}

static bool pass(ir_program *p)
{
    finder f = {.p = p};
    opt_remake_begin(&f.remake, p);
    for (ir_id id = 1; id < f.remake.nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        opt_remake_array(&f.remake, id);
        f.id = f.remake.array[id] ? f.remake.array[id] : id;
        ir_kind kind = (ir_kind)ir_at(p, f.id)->kind;
        if (kind != IR_GENERATE && kind != IR_MAP)
            continue;
        f.info = ir_info(p, f.id);
        f.indexed = kind == IR_GENERATE || ir_at(p, f.id)->flags & IR_INDEXED;
        find_folds(&f);
        if (f.along)
            p->node.at[f.id].flags |= IR_ALONG;
        else if (f.brief) /* and terms that are made anew for a call's extents may have been marked before */
            p->node.at[f.id].flags &= (uint8_t)~IR_ALONG;
        if (f.loop.n)
            make_folds(&f, id);
    }
    bool found = f.remake.replaces;
    opt_remake_end(&f.remake);
    vec_free(p->arena, &f.loop);
    return found;
}

void opt_fold_row_loops(ir_program *p)
{
    bool loops = false;
    for (ir_id id = 1; id < p->node.n && !loops; id++)
        loops = ir_at(p, id)->kind == IR_LOOP;
    /* Loops that use what others have come to are found when these are folds. */
    for (unsigned i = 0; loops && i < OPT_MOST_LEVELS && pass(p); i++)
        continue;
}
