/* Finds terms of elements that depend on some dimensions only, and makes them maps over these. */
#include "opt/repeats.h"

#include "ir/inside.h"
#include "opt/remake.h"

enum {
    MOST_WEIGHT = 100000,
    LEAST_SHARE = 8, /* the rest of the function is at most so many times as much */
    LOOP_WEIGHT = 1000,
    MOST_TIMES = 1 << 12, /* an extent */
    MOST_DEPTH = 4,       /* of sums */
    MOST_RESULTS = 16     /* of one small map */
};

/* An operand, as far as its index is made of some of the operation's own. */
typedef struct operand {
    ir_id source;            /* what is read */
    uint32_t dims;           /* set of 1 << dimension: on which it depends */
    uint8_t of[IR_MAX_RANK]; /* per dimension of the source: that of the operation */
} operand;

typedef struct fact { /* of a term of the function at hand */
    uint32_t dims;    /* set of 1 << dimension */
    uint32_t weight;
    bool always; /* it is computed whatever conditions say */
    bool reads;  /* it reads arrays */
    bool values; /* it depends on more than indices */
    bool stays;  /* it may not stand elsewhere: it may fail, or tells that it was computed */
    bool wanted; /* something that stays uses it */
} fact;

typedef struct finder {
    ir_program *p;
    opt_remake remake;
    ir_id id; /* the operation at hand, made anew with what it reads; */
    ir_array info;
    bool indexed;
    uint32_t all;         /* set of its dimensions */
    VEC(operand) operand; /* per input */
    opt_ids input;        /* per parameter: its input */
    opt_ids ids;          /* the function's terms, */
    map64 place;          /* where each stands there, counted from 1, */
    fact *fact;           /* and what is known of it */
    map64 below;          /* indices, and the extents that they are inside of */
    opt_ids found;        /* terms that become elements of small maps */
} finder;

static fact *fact_of(finder *f, ir_id id)
{
    uint32_t at = id ? (uint32_t)map64_get(&f->place, id) : 0;
    return at ? &f->fact[at - 1] : NULL;
}

/* --- operands --- */

/* The dimension whose index the term is, in a function of indices; IR_MAX_RANK: it is none. */
static unsigned dimension_of(const ir_fn *fn, unsigned rank, ir_id term)
{
    for (unsigned d = 0; d < rank; d++)
        if (fn->param[d] == term)
            return d;
    return IR_MAX_RANK;
}

/* One step towards the array that is read: through a backpermute that only picks some of the indices, which are inside
 * as the extents are the same. */
static bool look_through(const ir_program *p, operand *o)
{
    const ir_node *n = ir_at(p, o->source);
    const ir_array *info = ir_info(p, o->source);
    uint8_t of[IR_MAX_RANK];
    if (n->kind != IR_BACKPERMUTE || n->flags & IR_FUSED)
        return false;
    const ir_array *from = ir_info(p, info->input[0]);
    for (unsigned k = 0; k < from->rank; k++) {
        unsigned d = dimension_of(info->fn, info->rank, info->fn->result[k]);
        if (d == IR_MAX_RANK || from->shape[k] != info->shape[d])
            return false;
        of[k] = o->of[d];
    }
    o->source = info->input[0];
    o->dims = 0;
    for (unsigned k = 0; k < from->rank; k++) {
        o->of[k] = of[k];
        o->dims |= 1u << of[k];
    }
    return true;
}

static operand operand_of(const finder *f, ir_id array)
{
    operand o = {.source = array, .dims = f->all};
    for (unsigned d = 0; d < f->info.rank; d++)
        o.of[d] = (uint8_t)d;
    while (look_through(f->p, &o))
        continue;
    return o;
}

/* Are the elements along the dimensions that are not in the set many, as far as is known? */
static bool repeats(const finder *f, uint32_t dims)
{
    int64_t times = 1, extent;
    if (!dims)
        return false;
    for (unsigned d = 0; d < f->info.rank; d++) {
        if (dims & 1u << d)
            continue;
        if (!ir_extent_constant(f->p, f->info.shape[d], &extent) || extent >= OPT_REPEATS_LEAST)
            return true;
        times *= extent > 0 ? extent : 1;
    }
    return times >= OPT_REPEATS_LEAST;
}

/* --- terms --- */

static void mark(finder *f, ir_id id)
{
    fact *of = fact_of(f, id);
    if (of)
        of->always = true;
}

static void find_always(finder *f)
{
    for (uint32_t i = 0; i < f->info.fn->results; i++)
        mark(f, f->info.fn->result[i]);
    for (uint32_t i = f->ids.n; i-- > 0;) {
        const ir_node *n = ir_at(f->p, f->ids.at[i]);
        if (!f->fact[i].always)
            continue;
        for (uint32_t k = 0; n->kind == IR_LOOP && k < n->u.loop->states; k++)
            mark(f, n->u.loop->init[k]);
        if (n->kind == IR_LOOP)
            mark(f, n->u.loop->count);
        for (uint32_t k = 0; k < (n->kind == IR_COND ? 1 : n->n); k++)
            mark(f, f->p->arg.at[n->args + k]);
    }
}

static void join(finder *f, fact *at, ir_id id)
{
    const fact *of = fact_of(f, id);
    if (!of)
        return;
    at->dims |= of->dims;
    at->weight += of->weight;
    at->weight = at->weight < MOST_WEIGHT ? at->weight : MOST_WEIGHT;
    at->reads |= of->reads;
    at->values |= of->values;
    at->stays |= of->stays;
}

/* The product of the extents further in than all dimensions of the set is small, as far as is known. */
static bool is_innermost(const finder *f, uint32_t dims)
{
    int64_t times = 1, extent;
    for (unsigned d = f->info.rank; d-- > 0 && !(dims & 1u << d);) {
        if (!ir_extent_constant(f->p, f->info.shape[d], &extent) || extent >= OPT_REPEATS_LEAST)
            return false;
        times *= extent > 0 ? extent : 1;
    }
    return times < OPT_REPEATS_LEAST;
}

/* An index that is moved by something, or not: loops know its quotients and remainders as they go along. */
static bool is_moved_index(const ir_program *p, ir_id id, unsigned depth)
{
    const ir_node *n = ir_at(p, id);
    const ir_id *arg = ir_args(p, id);
    if (n->kind != IR_OP || (n->op != OP_ADD && n->op != OP_SUB) || !depth)
        return n->kind == IR_VAR;
    return is_moved_index(p, arg[0], depth - 1) || is_moved_index(p, arg[1], depth - 1);
}

/* Loops go over rows and along their elements, so what is made of indices by integer arithmetic goes along with them or
 * is computed before them: but for quotients in the innermost loop whose dividends do not follow one another. */
static bool divides_anew(finder *f, const ir_node *n, const fact *at)
{
    const bool divides = n->op == OP_QUOT || n->op == OP_REM || n->op == OP_DIV || n->op == OP_MOD;
    const ir_id *arg = f->p->arg.at + n->args;
    return divides && ir_at(f->p, arg[1])->kind != IR_CONST && !is_moved_index(f->p, arg[0], MOST_DEPTH) &&
           is_innermost(f, at->dims);
}

/* An extent of the operation along one of these dimensions, or some times that: where there are elements, it is neither
 * 0 nor negative. */
static bool is_own_extent(const finder *f, ir_id id, uint32_t dims)
{
    const ir_node *n = ir_at(f->p, id);
    for (unsigned d = 0; d < f->info.rank; d++)
        if (dims & 1u << d && id == f->info.shape[d])
            return true;
    int64_t times;
    return n->kind == IR_OP && n->op == OP_MUL && ir_extent_constant(f->p, f->p->arg.at[n->args + 1], &times) &&
           times > 0 && times <= MOST_TIMES && is_own_extent(f, f->p->arg.at[n->args], dims);
}

static bool may_fail(const finder *f, const ir_node *n, uint32_t dims)
{
    const ir_type type = (ir_type)ir_at(f->p, f->p->arg.at[n->args])->type;
    const bool fails = n->partial && ir_op_guarded((ir_op)n->op, type);
    return fails && !(ir_op_partial((ir_op)n->op, type) && is_own_extent(f, f->p->arg.at[n->args + 1], dims));
}

static void look_at(finder *f, uint32_t i)
{
    const ir_node *n = ir_at(f->p, f->ids.at[i]);
    fact *at = &f->fact[i];
    for (uint32_t k = 0; k < n->n; k++)
        join(f, at, f->p->arg.at[n->args + k]);
    switch (n->kind) {
    case IR_LOOP:
        for (uint32_t k = 0; k < n->u.loop->states; k++) {
            join(f, at, n->u.loop->init[k]);
            join(f, at, n->u.loop->next[k]);
        }
        join(f, at, n->u.loop->count);
        at->weight += LOOP_WEIGHT;
        at->stays |= n->u.loop->cond != 0; /* it may not end */
        break;
    case IR_OP:
        if (ir_type_float((ir_type)n->type) || at->values || divides_anew(f, n, at))
            at->weight += ir_op_cost((ir_op)n->op);
        at->stays |= may_fail(f, n, at->dims);
        at->stays |= (ir_ops[n->op].flags & OP_TRACES) != 0;
        break;
    case IR_READ:
        at->reads = true;
        at->values |= n->scope != 0;
        at->stays |= !ir_read_surely_inside(f->p, &f->below, n); /* for all indices on which it depends */
        break;
    case IR_COND:
        at->weight += IR_COST_SIMPLE;
        break;
    case IR_CALL:
    case IR_WITHIN:
        at->stays = true;
        break;
    default:
        break;
    }
}

/* False if some variable of a loop is not younger than all parameters. */
static bool set_variables(finder *f)
{
    const ir_fn *fn = f->info.fn;
    uint32_t indices = f->indexed ? f->info.rank : 0;
    for (uint32_t i = 0; i < fn->params; i++) {
        fact *at = fact_of(f, fn->param[i]);
        if (i < indices)
            map64_put(f->p->arena, &f->below, fn->param[i], f->info.shape[i]);
        if (at)
            at->dims = i < indices ? 1u << i : f->operand.at[f->input.at[i]].dims;
        if (at)
            at->values = i >= indices;
    }
    ir_id last = fn->params ? fn->param[fn->params - 1] : 0;
    for (uint32_t i = 0; i < f->ids.n; i++) {
        const ir_node *n = ir_at(f->p, f->ids.at[i]);
        for (uint32_t k = 0; n->kind == IR_LOOP && k < n->u.loop->states; k++)
            if (n->u.loop->var[k] <= last)
                return false;
        if (n->kind == IR_LOOP && n->u.loop->index && n->u.loop->index <= last)
            return false;
    }
    return true;
}

/* May the term be an element of a small map, and does that pay? */
static bool is_once(const finder *f, uint32_t i)
{
    const ir_fn *fn = f->info.fn;
    const ir_node *n = ir_at(f->p, f->ids.at[i]);
    const fact *at = &f->fact[i];
    bool whole = n->kind == IR_OP || n->kind == IR_COND || n->kind == IR_PROJ || n->kind == IR_AFTER;
    return whole && n->scope && n->scope <= fn->param[fn->params - 1] && !at->stays && (!at->reads || at->always) &&
           at->weight >= IR_COST_DIVISION && repeats(f, at->dims);
}

static void want(finder *f, ir_id id)
{
    fact *of = fact_of(f, id);
    if (of)
        of->wanted = true;
}

/* The largest of such terms. */
static void find_terms(finder *f)
{
    uint32_t once = 0, rest = 0;
    for (uint32_t i = 0; i < f->info.fn->results; i++)
        want(f, f->info.fn->result[i]);
    for (uint32_t i = f->ids.n; i-- > 0;) {
        const ir_node *n = ir_at(f->p, f->ids.at[i]);
        if (!f->fact[i].wanted)
            continue;
        if (is_once(f, i)) {
            vec_push(f->p->arena, &f->found, f->ids.at[i]);
            once += f->fact[i].weight;
            continue;
        }
        rest += n->kind == IR_LOOP ? LOOP_WEIGHT : n->kind == IR_OP ? ir_op_cost((ir_op)n->op) : 0;
        for (uint32_t k = 0; k < n->n; k++)
            want(f, f->p->arg.at[n->args + k]);
        for (uint32_t k = 0; n->kind == IR_LOOP && k < n->u.loop->states; k++) {
            want(f, n->u.loop->init[k]);
            want(f, n->u.loop->next[k]);
        }
        if (n->kind == IR_LOOP) {
            want(f, n->u.loop->count);
            want(f, n->u.loop->cond);
        }
    }
    if (rest > LEAST_SHARE * once)
        f->found.n = 0;
}

/* The dimensions on which all results depend together, if they can be computed for these alone: those of a map whatever
 * they take, as what is made of them may take long, those of indices only if that pays. 0: they cannot. */
static uint32_t dims_of_all(finder *f)
{
    uint32_t dims = 0;
    bool good = f->info.fn->results <= MOST_RESULTS, pays = !f->indexed;
    for (uint32_t i = 0; i < f->info.fn->results && good; i++) {
        const fact *at = fact_of(f, f->info.fn->result[i]);
        good = at && !at->stays && (!at->reads || at->always);
        pays |= at && at->weight >= IR_COST_DIVISION;
        dims |= at ? at->dims : 0;
    }
    return good && pays && repeats(f, dims) ? dims : 0;
}

/* --- small maps --- */

static ir_id step(finder *f, ir_id made)
{
    if (!made)
        return 0;
    f->p->node.at[made].u.info->name = f->info.name;
    return ir_mark_step(f->p, made);
}

typedef struct small {
    uint32_t dims;
    unsigned rank;
    uint8_t dim[IR_MAX_RANK];   /* of the operation */
    uint8_t place[IR_MAX_RANK]; /* per dimension of the operation */
    ir_id shape[IR_MAX_RANK];
} small;

static small small_of(const finder *f, uint32_t dims)
{
    small s = {.dims = dims};
    for (unsigned d = 0; d < f->info.rank; d++) {
        if (!(dims & 1u << d))
            continue;
        s.place[d] = (uint8_t)s.rank;
        s.dim[s.rank] = (uint8_t)d;
        s.shape[s.rank++] = f->info.shape[d];
    }
    return s;
}

static ir_fn *index_function(ir_program *p, unsigned rank)
{
    ir_type type[IR_MAX_RANK];
    for (unsigned d = 0; d < rank; d++)
        type[d] = T_I64;
    return ir_fn_new(p, rank, type);
}

/* The operand over the dimensions of a small map. */
static ir_id operand_over(finder *f, const small *s, const operand *o)
{
    const ir_array *from = ir_info(f->p, o->source);
    ir_id result[IR_MAX_RANK];
    bool same = from->rank == s->rank;
    for (unsigned k = 0; k < from->rank && same; k++)
        same = s->place[o->of[k]] == k && from->shape[k] == s->shape[k];
    if (same)
        return o->source;
    ir_fn *fn = index_function(f->p, s->rank);
    for (unsigned k = 0; k < from->rank; k++)
        result[k] = fn->param[s->place[o->of[k]]];
    fn = ir_fn_close(f->p, fn, from->rank, result);
    return step(f, ir_backpermute(f->p, ir_at(f->p, f->id)->site, s->rank, s->shape, fn, o->source, IR_SAFE));
}

/* Parameters of a function that is made of the operation's. */
typedef struct parameters {
    bool indexed;
    uint32_t inputs, n, count;
    bool *takes;   /* per input of the operation */
    ir_type *type; /* n of them */
    ir_id *from;   /* of the operation's parameters, those that are still there: count of them, */
    uint32_t *to;  /* and the numbers of their successors */
} parameters;

/* Those of the inputs that are taken, behind the indices of a small map, or all indices. */
static void list_parameters(finder *f, const small *s, uint32_t more, parameters *out)
{
    const ir_fn *old = f->info.fn;
    const uint32_t indices = f->indexed ? f->info.rank : 0, room = old->params + more + IR_MAX_RANK;
    out->type = arena_array(f->p->arena, ir_type, room);
    out->from = arena_array(f->p->arena, ir_id, room);
    out->to = arena_array(f->p->arena, uint32_t, room);
    for (unsigned d = 0; d < s->rank && out->indexed; d++)
        out->type[out->n++] = T_I64;
    for (uint32_t i = 0; i < indices; i++) {
        if (!out->indexed || !(s->dims & 1u << i))
            continue;
        out->from[out->count] = old->param[i];
        out->to[out->count++] = s->place[i];
    }
    for (uint32_t i = indices; i < old->params; i++) {
        if (!out->takes[f->input.at[i]])
            continue;
        out->from[out->count] = old->param[i];
        out->to[out->count++] = out->n;
        out->type[out->n++] = (ir_type)ir_at(f->p, old->param[i])->type;
    }
    for (uint32_t i = 0; i < f->info.inputs; i++)
        out->inputs += out->takes[i];
}

/* The inputs and indices that terms depend on. */
static parameters parameters_of(finder *f, const small *s, uint32_t n, const ir_id *term)
{
    parameters all = {.takes = arena_alloc(f->p->arena, f->info.inputs + 1)};
    const uint32_t indices = f->indexed ? f->info.rank : 0;
    opt_ids ids = {0};
    map64 used = {0};
    opt_reach(f->p, f->p->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        map64_put(f->p->arena, &used, ids.at[i], 1);
    vec_free(f->p->arena, &ids);
    bool some = false;
    for (uint32_t i = 0; i < f->info.fn->params; i++) {
        if (!map64_get(&used, f->info.fn->param[i]))
            continue;
        if (i < indices)
            all.indexed = true;
        else
            some = all.takes[f->input.at[i]] = true;
    }
    map64_free(f->p->arena, &used);
    all.indexed |= !some;
    list_parameters(f, s, 0, &all);
    return all;
}

/* Reads that are moved are inside for all indices. */
static ir_id read_inside(void *env, const ir_node *read, const ir_id *index)
{
    finder *f = env;
    return ir_read(f->p, read->site, read->array, (uint32_t)read->u.literal, read->flags | IR_SAFE, read->n, index);
}

typedef struct divided {
    finder *f;
    uint32_t dims;
    bool plain; /* indices too, whose quotients loops know by the extent */
} divided;

/* What divides by an extent of its own elements divides by 1 at least, so that it is seen not to fail. */
static ir_id divide_surely(void *env, ir_id id, const ir_id *by)
{
    const divided *d = env;
    finder *f = d->f;
    const ir_node *n = ir_at(f->p, id);
    if (!ir_op_partial((ir_op)n->op, (ir_type)n->type) || !is_own_extent(f, by[1], d->dims) ||
        (!d->plain && is_moved_index(f->p, by[0], MOST_DEPTH)))
        return 0;
    return ir_op2(f->p, n->site, (ir_op)n->op, by[0], ir_op2(f->p, n->site, OP_MAX, by[1], ir_i64(f->p, 1)));
}

/* The terms, which depend on these dimensions at most, as elements of an array over them. */
static ir_id make_small(finder *f, const small *s, uint32_t n, const ir_id *term)
{
    ir_program *p = f->p;
    parameters all = parameters_of(f, s, n, term);
    ir_id *input = arena_array(p->arena, ir_id, all.inputs + 1);
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < f->info.inputs; i++)
        if (all.takes[i] && !(input[inputs++] = operand_over(f, s, &f->operand.at[i])))
            return 0;
    ir_fn *fn = ir_fn_new(p, all.n, all.type);
    ir_id *to = arena_array(p->arena, ir_id, all.count + 1);
    ir_id *result = arena_array(p->arena, ir_id, n);
    for (uint32_t i = 0; i < all.count; i++)
        to[i] = fn->param[all.to[i]];
    divided sure = {f, s->dims, true};
    opt_rewrite_ops(p, p->arena, divide_surely, NULL, &sure, n, term, result);
    opt_rewrite(p, p->arena, all.count, all.from, to, read_inside, f, n, result, result);
    fn = ir_fn_close(p, fn, n, result);
    uint32_t site = ir_at(p, f->id)->site;
    if (!fn)
        return 0;
    return step(f, inputs ? ir_map(p, site, inputs, input, fn, all.indexed ? IR_INDEXED : 0)
                          : ir_generate(p, site, s->rank, s->shape, fn));
}

/* The small array, the same along all other dimensions of the operation. */
static ir_id replicate(finder *f, const small *s, ir_id array)
{
    ir_id result[IR_MAX_RANK];
    ir_fn *fn = index_function(f->p, f->info.rank);
    for (unsigned k = 0; k < s->rank; k++)
        result[k] = fn->param[s->dim[k]];
    fn = ir_fn_close(f->p, fn, s->rank, result);
    ir_id made = ir_backpermute(f->p, ir_at(f->p, f->id)->site, f->info.rank, f->info.shape, fn, array, IR_SAFE);
    if (made)
        f->p->node.at[made].u.info->name = f->info.name;
    return made;
}

/* What is left of the operation when the terms are components of more inputs. */
static void make_rest(finder *f, ir_id old, uint32_t more, const ir_id *array, const ir_id *term)
{
    ir_program *p = f->p;
    const ir_fn *fn = f->info.fn;
    const small whole = small_of(f, f->all);
    parameters all = {.indexed = f->indexed, .takes = arena_alloc(p->arena, f->info.inputs + 1)};
    for (uint32_t i = f->indexed ? f->info.rank : 0; i < fn->params; i++) {
        const fact *at = fact_of(f, fn->param[i]);
        all.takes[f->input.at[i]] |= at && at->wanted;
    }
    list_parameters(f, &whole, f->found.n, &all);
    for (uint32_t i = 0; i < f->found.n; i++) {
        all.from[all.count] = term[i];
        all.to[all.count++] = all.n;
        all.type[all.n++] = (ir_type)ir_at(p, term[i])->type;
    }
    ir_id *input = arena_array(p->arena, ir_id, f->info.inputs + more);
    uint32_t inputs = 0;
    for (uint32_t i = 0; i < f->info.inputs; i++)
        if (all.takes[i])
            input[inputs++] = f->info.input[i];
    for (uint32_t i = 0; i < more; i++)
        input[inputs++] = array[i];
    ir_fn *made = ir_fn_new(p, all.n, all.type);
    ir_id *to = arena_array(p->arena, ir_id, all.count + 1);
    ir_id *result = arena_array(p->arena, ir_id, fn->results);
    for (uint32_t i = 0; i < all.count; i++)
        to[i] = made->param[all.to[i]];
    opt_rewrite(p, p->arena, all.count, all.from, to, NULL, NULL, fn->results, fn->result, result);
    divided sure = {f, f->all, false};
    opt_rewrite_ops(p, p->arena, divide_surely, NULL, &sure, fn->results, result, result);
    ir_array info = f->info;
    info.fn = ir_fn_close(p, made, fn->results, result);
    info.inputs = inputs;
    info.input = input;
    if (!info.fn)
        return;
    opt_remake_as(&f->remake, old, &info);
    ir_node *n = &p->node.at[p->node.n - 1];
    if (n->kind == IR_BACKPERMUTE)
        n->flags &= (uint8_t)~IR_SAFE;
    if (n->kind != IR_MAP) {
        n->kind = IR_MAP;
        n->flags |= IR_INDEXED;
    }
}

static void compute_once(finder *f, ir_id old)
{
    ir_program *p = f->p;
    ir_id *array = arena_array(p->arena, ir_id, f->found.n + 1);
    ir_id *term = arena_array(p->arena, ir_id, f->found.n + 1);
    bool *done = arena_alloc(p->arena, f->found.n + 1);
    uint32_t arrays = 0, terms = 0;
    for (uint32_t i = 0; i < f->found.n; i++) {
        if (done[i])
            continue;
        uint32_t first = terms, dims = fact_of(f, f->found.at[i])->dims;
        for (uint32_t k = i; k < f->found.n && terms - first < MOST_RESULTS; k++) {
            if (done[k] || fact_of(f, f->found.at[k])->dims != dims)
                continue;
            done[k] = true;
            term[terms++] = f->found.at[k];
        }
        const small s = small_of(f, dims);
        ir_id made = make_small(f, &s, terms - first, term + first);
        made = made ? step(f, replicate(f, &s, made)) : 0;
        if (!made)
            return;
        array[arrays++] = made;
    }
    make_rest(f, old, arrays, array, term);
}

static void replicate_whole(finder *f, ir_id old, uint32_t dims)
{
    const small s = small_of(f, dims);
    ir_id made = make_small(f, &s, f->info.fn->results, f->info.fn->result);
    made = made ? replicate(f, &s, made) : 0;
    if (!made)
        return;
    if (ir_at(f->p, f->id)->flags & IR_STEP)
        ir_mark_step(f->p, made);
    f->remake.array[old] = made;
    f->remake.replaces = true;
}

static void look_at_function(finder *f, ir_id old)
{
    const ir_fn *fn = f->info.fn;
    opt_reach(f->p, f->p->arena, fn->results, fn->result, &f->ids);
    f->fact = arena_array(f->p->arena, *f->fact, f->ids.n);
    f->found.n = 0;
    for (uint32_t i = 0; i < f->ids.n; i++)
        map64_put(f->p->arena, &f->place, f->ids.at[i], i + 1);
    find_always(f);
    if (set_variables(f)) {
        for (uint32_t i = 0; i < f->ids.n; i++)
            look_at(f, i);
        uint32_t dims = dims_of_all(f);
        if (dims)
            replicate_whole(f, old, dims);
        else
            find_terms(f);
        if (f->found.n)
            compute_once(f, old);
    }
    map64_free(f->p->arena, &f->place);
    map64_free(f->p->arena, &f->below);
    arena_release(f->p->arena, f->fact, f->ids.n * sizeof(*f->fact));
    vec_free(f->p->arena, &f->ids);
}

/* Can anything be the same along a dimension? Sets what is known of operands. */
static bool is_mixed(finder *f)
{
    uint32_t indices = f->indexed ? f->info.rank : 0, at = indices;
    bool mixed = f->indexed && f->info.rank > 1;
    f->all = (1u << f->info.rank) - 1;
    vec_resize(f->p->arena, &f->operand, f->info.inputs);
    vec_resize(f->p->arena, &f->input, f->info.fn->params);
    for (uint32_t i = 0; i < f->info.inputs; i++) {
        f->operand.at[i] = operand_of(f, f->info.input[i]);
        mixed |= f->operand.at[i].dims != f->all;
        for (unsigned c = 0; c < ir_info(f->p, f->info.input[i])->components; c++)
            f->input.at[at++] = i;
    }
    return mixed;
}

/* A backpermute as a function of indices that reads its source. */
static void read_source(finder *f)
{
    ir_program *p = f->p;
    const ir_id source = f->info.input[0];
    const unsigned flags = ir_at(p, f->id)->flags & IR_SAFE;
    ir_fn *fn = arena_copy(p->arena, f->info.fn, sizeof(*fn));
    fn->results = f->info.components;
    fn->result = arena_array(p->arena, ir_id, fn->results + 1);
    for (uint32_t c = 0; c < fn->results; c++)
        fn->result[c] = ir_read(p, ir_at(p, f->id)->site, source, c, flags, f->info.fn->results, f->info.fn->result);
    f->info.fn = fn;
    f->info.inputs = 0;
}

static bool divides(ir_program *p, const ir_fn *fn)
{
    opt_ids ids = {0};
    uint32_t weight = 0;
    opt_reach(p, p->arena, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        weight += n->kind == IR_LOOP ? LOOP_WEIGHT : n->kind == IR_OP ? ir_op_cost((ir_op)n->op) : 0;
    }
    vec_free(p->arena, &ids);
    return weight >= IR_COST_DIVISION;
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
        const bool moves = kind == IR_BACKPERMUTE && ir_info(p, f.id)->rank > 1 && divides(p, ir_info(p, f.id)->fn);
        if ((kind != IR_GENERATE && kind != IR_MAP && !moves) || ir_at(p, f.id)->flags & (IR_ALONG | IR_FUSED))
            continue;
        f.info = *ir_info(p, f.id);
        if (moves)
            read_source(&f);
        f.indexed = kind != IR_MAP || ir_at(p, f.id)->flags & IR_INDEXED;
        if (f.info.rank && is_mixed(&f))
            look_at_function(&f, id);
    }
    bool found = f.remake.replaces;
    opt_remake_end(&f.remake);
    vec_free(p->arena, &f.found);
    vec_free(p->arena, &f.operand);
    vec_free(p->arena, &f.input);
    return found;
}

void opt_compute_once(ir_program *p)
{
    for (unsigned i = 0; i < OPT_REPEATS_LEVELS && pass(p); i++)
        continue;
}
