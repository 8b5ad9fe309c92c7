/* Finds chains of maps of one function and makes them loops. */
#include "opt/recover.h"

#include "opt/needed.h"
#include "opt/remake.h"

typedef struct link { /* of an array in a chain */
    uint32_t turns;   /* maps of the chain up to here */
    uint32_t carried; /* the input that is the predecessor */
    ir_id first;      /* the chain's beginning */
    bool continued;   /* a longer chain has it */
} link;

typedef struct recovery {
    ir_program *p;
    uint32_t *uses; /* of an array's elements */
    link *link;
} recovery;

static bool same_type(const ir_array *x, const ir_array *y)
{
    return x->rank == y->rank && !memcmp(x->shape, y->shape, x->rank * sizeof(ir_id)) &&
           x->components == y->components && !memcmp(x->type, y->type, x->components * sizeof(ir_type));
}

static bool total_map(const ir_program *p, ir_id id)
{
    const ir_node *n = ir_at(p, id);
    if (n->kind != IR_MAP || n->flags & IR_INDEXED)
        return false;
    const ir_fn *fn = ir_info(p, id)->fn;
    for (uint32_t i = 0; i < fn->results; i++)
        if (ir_at(p, fn->result[i])->partial)
            return false;
    return true;
}

/* Loops inside would have to be nested, with variables younger than those around them. */
static bool has_loop(const ir_program *p, uint32_t n, const ir_id *id)
{
    for (uint32_t i = 0; i < n; i++)
        if (ir_at(p, id[i])->kind == IR_LOOP)
            return true;
    return false;
}

/* The same function, whatever its variables are called? Functions of another size are told apart before anything is
 * built. */
static bool same_function(ir_program *p, const ir_fn *f, const ir_fn *g)
{
    if (f->params != g->params || f->results != g->results)
        return false;
    ir_id *ids, *result = arena_array(p->arena, ir_id, f->results);
    for (uint32_t i = 0; i < f->params; i++)
        if (ir_at(p, f->param[i])->type != ir_at(p, g->param[i])->type)
            return false;
    for (uint32_t i = 0; i < f->results; i++)
        if (ir_at(p, f->result[i])->kind != ir_at(p, g->result[i])->kind ||
            ir_at(p, f->result[i])->op != ir_at(p, g->result[i])->op)
            return false;
    uint32_t size = ir_terms(p, p->arena, f->results, f->result, &ids);
    if (size != ir_terms(p, p->arena, g->results, g->result, &ids) || has_loop(p, size, ids))
        return false;
    ir_instantiate(p, g, f->param, result);
    return !memcmp(result, f->result, f->results * sizeof(ir_id));
}

/* Is input i of map `id` a map of the same function over the same arrays, but for that input? */
static bool continues(recovery *r, ir_id id, uint32_t i)
{
    ir_program *p = r->p;
    const ir_array *info = ir_info(p, id);
    ir_id from = info->input[i];
    if (r->uses[from] != 1 || ir_at(p, from)->flags != ir_at(p, id)->flags || !total_map(p, from))
        return false;
    const ir_array *before = ir_info(p, from);
    if (before->inputs != info->inputs || !same_type(before, info) || !same_type(ir_info(p, before->input[i]), info))
        return false;
    for (uint32_t k = 0; k < info->inputs; k++)
        if (k != i && before->input[k] != info->input[k])
            return false;
    return same_function(p, before->fn, info->fn);
}

static bool find_chains(recovery *r)
{
    bool found = false;
    ir_program *p = r->p;
    uint32_t nodes = p->node.n; /* comparing functions makes terms */
    for (ir_id id = 1; id < nodes; id++) {
        if (!ir_is_array(p, id) || !total_map(p, id))
            continue;
        link *l = &r->link[id];
        *l = (link){.turns = 1, .first = id};
        for (uint32_t i = 0; i < ir_info(p, id)->inputs && l->turns == 1; i++) {
            if (!continues(r, id, i))
                continue;
            link *from = &r->link[ir_info(p, id)->input[i]];
            from->continued = true;
            *l = (link){.turns = from->turns + 1, .carried = i, .first = from->first};
        }
        found |= l->turns >= OPT_LEAST_TURNS;
    }
    return found;
}

/* fn with its carried parameters in a loop of so many turns; they are those from `first` on. */
static ir_fn *looped(ir_program *p, const ir_fn *fn, uint32_t first, uint32_t turns, uint32_t site)
{
    ir_type *type = arena_array(p->arena, ir_type, fn->params + 1);
    for (uint32_t i = 0; i < fn->params; i++)
        type[i] = (ir_type)ir_at(p, fn->param[i])->type;
    ir_fn *made = ir_fn_new(p, fn->params, type);
    ir_id *inside = arena_copy(p->arena, made->param, fn->params * sizeof(ir_id));
    ir_loop loop = {
        .states = fn->results, .init = made->param + first, .var = inside + first, .count = ir_i64(p, turns)};
    for (uint32_t i = 0; i < fn->results; i++)
        loop.var[i] = ir_var(p, type[first + i]);
    loop.index = ir_var(p, T_I64);
    loop.next = arena_array(p->arena, ir_id, fn->results);
    ir_instantiate(p, fn, inside, loop.next);
    ir_id id = ir_loop_new(p, site, &loop);
    ir_id *result = arena_array(p->arena, ir_id, fn->results);
    for (uint32_t i = 0; i < fn->results; i++)
        result[i] = ir_proj(p, id, i);
    return ir_fn_close(p, made, fn->results, result);
}

static void make_loop(recovery *r, opt_remake *made, ir_id id)
{
    ir_program *p = r->p;
    const link *l = &r->link[id];
    opt_remake_array(made, id);
    ir_id now = made->array[id] ? made->array[id] : id; /* with what it reads replaced */
    ir_array info = *ir_info(p, now);
    uint32_t first = 0;
    for (uint32_t i = 0; i < l->carried; i++)
        first += ir_info(p, info.input[i])->components;
    ir_id start = ir_info(p, l->first)->input[l->carried];
    info.fn = looped(p, info.fn, first, l->turns, ir_at(p, id)->site);
    info.input = arena_copy(p->arena, info.input, info.inputs * sizeof(ir_id));
    info.input[l->carried] = made->array[start] ? made->array[start] : start;
    if (info.fn)
        opt_remake_as(made, id, &info);
}

static void make_loops(recovery *r, uint32_t nodes)
{
    ir_program *p = r->p;
    opt_remake made;
    opt_remake_begin(&made, p);
    for (ir_id id = 1; id < nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        if (r->link[id].turns >= OPT_LEAST_TURNS && !r->link[id].continued)
            make_loop(r, &made, id);
        else
            opt_remake_array(&made, id);
    }
    opt_remake_end(&made);
}

void opt_recover_loops(ir_program *p)
{
    recovery r = {.p = p};
    r.uses = opt_count_readers(p);
    r.link = arena_array(p->arena, *r.link, p->node.n);
    uint32_t nodes = p->node.n;
    if (find_chains(&r))
        make_loops(&r, nodes);
    arena_release(p->arena, r.uses, nodes * sizeof(*r.uses));
    arena_release(p->arena, r.link, nodes * sizeof(*r.link));
}
