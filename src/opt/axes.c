/* Moves exchanges of dimensions from the results of scans to what is scanned. */
#include "opt/axes.h"

#include "opt/remake.h"

/* Operations that are looked through, one behind the other. */
enum { DEEPEST = 8 };

typedef struct order { /* of dimensions: index d of the operand is the result's index number of[d] */
    uint8_t of[IR_MAX_RANK];
} order;

typedef struct turner {
    ir_program *p;
    opt_remake remake;
    uint32_t *uses; /* per array of the old program: operations that read it */
    bool *gone;     /* per array of the old program: it is another operation now */
    bool for_reads; /* results do not ask for another order: something must be read along memory only then */
} turner;

static ir_id now(const turner *t, ir_id id)
{
    return t->remake.array[id] ? t->remake.array[id] : id;
}

/* --- who reads what --- */

static void push_terms(turner *t, opt_ids *term, uint32_t n, const ir_id *from)
{
    for (uint32_t i = 0; from && i < n; i++)
        vec_push(t->p->arena, term, from[i]);
}

static void use_operands(turner *t, ir_id id)
{
    ir_program *p = t->p;
    const ir_array *info = ir_info(p, id);
    opt_ids term = {0}, ids = {0};
    push_terms(t, &term, info->rank, info->shape);
    push_terms(t, &term, info->components, info->seed);
    if (info->fn)
        push_terms(t, &term, info->fn->results, info->fn->result);
    if (info->control)
        push_terms(t, &term, info->control->values, info->control->value);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++) {
        const ir_stencil *s = &info->stencil[i];
        push_terms(t, &term, ir_info(p, info->input[i])->components, s->constant);
        if (s->function)
            push_terms(t, &term, s->function->results, s->function->result);
    }
    opt_reach(p, p->arena, term.n, term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(p, ids.at[i])->kind == IR_READ)
            t->uses[ir_at(p, ids.at[i])->array]++;
    for (uint32_t i = 0; i < info->inputs; i++)
        t->uses[info->input[i]]++;
    vec_free(p->arena, &term);
    vec_free(p->arena, &ids);
}

/* Of operations that are needed. */
static void count_uses(turner *t)
{
    ir_program *p = t->p;
    opt_ids term = {0}, ids = {0};
    for (uint32_t i = 0; i < p->output.n; i++)
        t->uses[p->output.at[i]]++;
    for (uint32_t i = 0; i < p->check.n; i++) {
        vec_push(p->arena, &term, p->check.at[i].left);
        vec_push(p->arena, &term, p->check.at[i].right);
    }
    opt_reach(p, p->arena, term.n, term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(p, ids.at[i])->kind == IR_READ)
            t->uses[ir_at(p, ids.at[i])->array]++;
    for (ir_id id = t->remake.nodes; id-- > 1;)
        if (ir_is_array(p, id) && t->uses[id])
            use_operands(t, id);
    vec_free(p->arena, &term);
    vec_free(p->arena, &ids);
}

/* --- what may be turned --- */

/* Does the operation only exchange dimensions? */
static bool exchanges(const ir_program *p, ir_id id, order *out)
{
    const ir_array *info = ir_info(p, id);
    unsigned rank = info->rank, found = 0;
    if (ir_at(p, id)->kind != IR_BACKPERMUTE || ir_info(p, info->input[0])->rank != rank)
        return false;
    for (unsigned d = 0; d < rank; d++)
        for (unsigned k = 0; k < rank; k++)
            if (info->fn->result[d] == info->fn->param[k]) {
                out->of[d] = (uint8_t)k;
                found |= 1u << k;
            }
    return found == (1u << rank) - 1;
}

static order behind(const order *first, const order *then, unsigned rank)
{
    order both = {{0}};
    for (unsigned d = 0; d < rank; d++)
        both.of[d] = first->of[then->of[d]];
    return both;
}

static bool stays(const order *o, unsigned rank)
{
    for (unsigned d = 0; d < rank; d++)
        if (o->of[d] != d)
            return false;
    return true;
}

static bool is_total(const ir_program *p, const ir_fn *fn)
{
    for (uint32_t i = 0; i < fn->results; i++)
        if (ir_at(p, fn->result[i])->partial)
            return false;
    return true;
}

/* An operation that is computed where it is read, as often as that may be. */
static bool is_element(const turner *t, ir_id id)
{
    const ir_node *n = ir_at(t->p, id);
    bool own_index = n->kind == IR_MAP && n->flags & IR_INDEXED;
    bool along = (n->kind == IR_MAP || n->kind == IR_GENERATE) && n->flags & IR_ALONG;
    return ((n->kind == IR_MAP && !own_index && t->uses[id] == 1) || n->kind == IR_GENERATE ||
            n->kind == IR_BACKPERMUTE) &&
           !along && !t->gone[id];
}

static bool mentions(turner *t, ir_id term, ir_id variable)
{
    opt_ids ids = {0};
    bool found = false;
    opt_reach(t->p, t->p->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        found |= ids.at[i] == variable;
    vec_free(t->p->arena, &ids);
    return found;
}

/* Does the index of a read grow by one with the variable? */
static bool grows_with(turner *t, ir_id term, ir_id variable)
{
    const ir_program *p = t->p;
    for (unsigned depth = 0; depth < DEEPEST && term != variable; depth++) {
        const ir_node *n = ir_at(p, term);
        if (n->kind != IR_OP || (n->op != OP_ADD && n->op != OP_SUB))
            return false;
        const ir_id *arg = ir_args(p, term);
        bool left = mentions(t, arg[0], variable), right = mentions(t, arg[1], variable);
        if (left == right || (right && n->op == OP_SUB))
            return false;
        term = arg[left ? 0 : 1];
    }
    return term == variable;
}

static unsigned reads_along(turner *t, ir_id x, unsigned d, unsigned depth);

static unsigned read_along(turner *t, ir_id source, uint32_t n, const ir_id *index, ir_id variable, unsigned depth)
{
    for (uint32_t k = 0; k < n; k++)
        if (mentions(t, index[k], variable))
            return grows_with(t, index[k], variable) ? reads_along(t, source, k, depth) : 0;
    return 0;
}

/* How many reads of memory an element takes that lie beside each other as index d goes on. */
static unsigned reads_along(turner *t, ir_id x, unsigned d, unsigned depth)
{
    const ir_program *p = t->p;
    const ir_array *info = ir_info(p, x);
    unsigned reads = 0;
    if (depth == DEEPEST || !is_element(t, x))
        return d + 1u == info->rank;
    if (ir_at(p, x)->kind == IR_BACKPERMUTE)
        return read_along(t, info->input[0], info->fn->results, info->fn->result, info->fn->param[d], depth + 1);
    for (uint32_t i = 0; i < info->inputs; i++)
        reads += reads_along(t, info->input[i], d, depth + 1);
    if (ir_at(p, x)->kind == IR_MAP)
        return reads;
    opt_ids ids = {0};
    opt_reach(t->p, p->arena, info->fn->results, info->fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->kind == IR_READ && !(n->flags & IR_LINEAR))
            reads += read_along(t, n->array, n->n, ir_args(p, ids.at[i]), info->fn->param[d], depth + 1);
    }
    vec_free(p->arena, &ids);
    return reads;
}

/* Nothing that is computed with it may fail. */
static bool never_fails(const turner *t, ir_id x, unsigned depth)
{
    const ir_program *p = t->p;
    const ir_node *n = ir_at(p, x);
    const ir_array *info = ir_info(p, x);
    if (n->kind != IR_MAP && n->kind != IR_GENERATE && n->kind != IR_BACKPERMUTE)
        return true;
    bool good = depth < DEEPEST && is_total(p, info->fn) && (n->kind != IR_BACKPERMUTE || n->flags & IR_SAFE);
    for (uint32_t i = 0; i < info->inputs && good; i++)
        good = never_fails(t, info->input[i], depth + 1);
    return good;
}

static bool may_turn_scan(turner *t, ir_id scan, const order *o)
{
    const ir_program *p = t->p;
    const ir_array *info = ir_info(p, scan);
    unsigned rank = info->rank, along = rank - 1u - info->behind, innermost = 0;
    while (o->of[innermost] != rank - 1)
        innermost++;
    ir_id from = info->input[0];
    return is_total(p, info->fn) && never_fails(t, from, 0) &&
           reads_along(t, from, innermost, 0) >= reads_along(t, from, along, 0) + t->for_reads;
}

/* Is there a scan in x, and are all that there are turned, where x with its dimensions in another order is wanted? */
static bool may_turn(turner *t, ir_id x, const order *o, unsigned depth)
{
    const ir_program *p = t->p;
    const ir_array *info = ir_info(p, x);
    order inner;
    if (depth == DEEPEST || t->uses[x] != 1 || t->gone[x])
        return false;
    if (ir_at(p, x)->kind == IR_SCAN)
        return may_turn_scan(t, x, o);
    if (!is_element(t, x) || !never_fails(t, x, 0))
        return false;
    if (ir_at(p, x)->kind == IR_BACKPERMUTE && exchanges(p, x, &inner)) {
        order both = behind(o, &inner, info->rank);
        return may_turn(t, info->input[0], &both, depth + 1);
    }
    bool some = false;
    for (uint32_t i = 0; ir_at(p, x)->kind == IR_MAP && i < info->inputs; i++)
        some |= may_turn(t, info->input[i], o, depth + 1);
    return some;
}

/* --- turning --- */

static ir_fn *function_of(turner *t, ir_id id)
{
    return opt_remake_function(&t->remake, NULL, NULL, ir_info(t->p, id)->fn);
}

static ir_id named(turner *t, ir_id old, ir_id made)
{
    if (!made)
        return 0;
    t->p->node.at[made].u.info->name = ir_info(t->p, old)->name;
    if (ir_at(t->p, old)->flags & IR_FUSED)
        ir_fuse(t->p, made);
    return ir_at(t->p, old)->flags & IR_STEP ? ir_mark_step(t->p, made) : made;
}

static void turned_shape(const ir_array *info, const order *o, ir_id *shape)
{
    for (unsigned d = 0; d < info->rank; d++)
        shape[o->of[d]] = info->shape[d];
}

static ir_fn *index_function(turner *t, unsigned rank)
{
    ir_type type[IR_MAX_RANK];
    for (unsigned d = 0; d < rank; d++)
        type[d] = T_I64;
    return ir_fn_new(t->p, rank, type);
}

/* What has not been looked at: it is read in the other order. */
static ir_id exchanged(turner *t, uint32_t site, ir_id x, const order *o)
{
    const ir_array *info = ir_info(t->p, x);
    unsigned rank = info->rank;
    ir_id shape[IR_MAX_RANK], index[IR_MAX_RANK];
    if (stays(o, rank))
        return x;
    ir_fn *fn = index_function(t, rank);
    for (unsigned d = 0; d < rank; d++)
        index[d] = fn->param[o->of[d]];
    turned_shape(info, o, shape);
    return ir_mark_step(t->p, ir_backpermute(t->p, site, rank, shape, ir_fn_close(t->p, fn, rank, index), x, IR_SAFE));
}

static ir_id turned_generate(turner *t, ir_id x, const order *o)
{
    ir_program *p = t->p;
    const ir_array *info = ir_info(p, x);
    ir_fn *body = function_of(t, x), *fn = index_function(t, info->rank);
    ir_id shape[IR_MAX_RANK], index[IR_MAX_RANK], result[IR_MAX_COMPONENTS];
    for (unsigned d = 0; d < info->rank; d++)
        index[d] = fn->param[o->of[d]];
    turned_shape(info, o, shape);
    ir_instantiate(p, body, index, result);
    return named(t, x,
                 ir_generate(p, ir_at(p, x)->site, info->rank, shape, ir_fn_close(p, fn, info->components, result)));
}

static ir_id turned(turner *t, ir_id x, const order *o, unsigned depth);

static ir_id turned_map(turner *t, ir_id x, const order *o, unsigned depth)
{
    ir_program *p = t->p;
    const ir_array info = *ir_info(p, x);
    const ir_node node = *ir_at(p, x);
    ir_id *input = arena_array(p->arena, *input, info.inputs);
    for (uint32_t i = 0; i < info.inputs; i++)
        input[i] = turned(t, info.input[i], o, depth + 1);
    return named(t, x, ir_map(p, node.site, info.inputs, input, function_of(t, x), 0));
}

static ir_id turned_scan(turner *t, ir_id x, const order *o, unsigned depth)
{
    ir_program *p = t->p;
    const ir_array info = *ir_info(p, x);
    const ir_node node = *ir_at(p, x);
    unsigned last = info.rank - 1u, along = o->of[last - info.behind];
    ir_id from = turned(t, info.input[0], o, depth + 1);
    ir_id *seed = opt_remake_terms(&t->remake, NULL, NULL, info.components, info.seed);
    return named(t, x,
                 ir_scan_along(p, node.site, function_of(t, x), seed, from, last - along,
                               node.flags & (IR_EXCLUSIVE | IR_RIGHT)));
}

/* x with its dimensions in another order. */
static ir_id turned(turner *t, ir_id x, const order *o, unsigned depth)
{
    const ir_program *p = t->p;
    const ir_array *info = ir_info(p, x);
    order inner;
    if (stays(o, info->rank))
        return now(t, x);
    if (depth < DEEPEST && is_element(t, x)) {
        if (ir_at(p, x)->kind == IR_MAP)
            return turned_map(t, x, o, depth);
        if (ir_at(p, x)->kind == IR_GENERATE)
            return turned_generate(t, x, o);
        if (exchanges(p, x, &inner)) {
            order both = behind(o, &inner, info->rank);
            return turned(t, info->input[0], &both, depth + 1);
        }
    }
    if (depth < DEEPEST && ir_at(p, x)->kind == IR_SCAN && may_turn(t, x, o, depth))
        return turned_scan(t, x, o, depth);
    return exchanged(t, ir_at(p, x)->site, now(t, x), o);
}

static void turn(turner *t, ir_id id)
{
    order o;
    ir_id from = ir_info(t->p, id)->input ? ir_info(t->p, id)->input[0] : 0;
    if (!t->uses[id] || !exchanges(t->p, id, &o) || !(ir_at(t->p, id)->flags & IR_SAFE) || !may_turn(t, from, &o, 0))
        return;
    ir_id made = turned(t, from, &o, 0);
    if (!made)
        return;
    t->remake.array[id] = made;
    t->remake.replaces = true;
    t->gone[id] = true;
}

/* Rows of scans that are folded: the fold stays as it is, and reads what is turned in the order that it had. */
static void turn_folded(turner *t, ir_id id)
{
    ir_program *p = t->p;
    const ir_array *info = ir_info(p, id);
    const ir_id from = info->input[0];
    const unsigned rank = ir_info(p, from)->rank;
    order o;
    if (rank < 2 || t->remake.array[id])
        return;
    for (unsigned d = 0; d < rank; d++)
        o.of[d] = (uint8_t)d;
    o.of[rank - 1] = (uint8_t)(rank - 2);
    o.of[rank - 2] = (uint8_t)(rank - 1);
    t->for_reads = true;
    const bool may = t->uses[id] && may_turn(t, from, &o, 0);
    const ir_id made = may ? turned(t, from, &o, 0) : 0;
    t->for_reads = false;
    if (!made)
        return;
    t->remake.array[from] = exchanged(t, ir_at(p, from)->site, made, &o); /* nobody else reads it */
    t->remake.replaces = true;
}

void opt_turn_scans(ir_program *p)
{
    bool any = false;
    for (ir_id id = 1; id < p->node.n && !any; id++)
        any = ir_at(p, id)->kind == IR_SCAN && ir_info(p, id)->rank > 1;
    if (!any)
        return;
    const uint32_t nodes = p->node.n;
    turner t = {.p = p};
    opt_remake_begin(&t.remake, p);
    t.uses = arena_array(p->arena, *t.uses, nodes);
    t.gone = arena_alloc(p->arena, nodes);
    count_uses(&t);
    for (ir_id id = 1; id < nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        turn(&t, id);
        if (ir_at(p, id)->kind == IR_FOLD)
            turn_folded(&t, id);
        if (!t.remake.array[id])
            opt_remake_array(&t.remake, id);
    }
    opt_remake_end(&t.remake);
    arena_release(p->arena, t.gone, nodes);
    arena_release(p->arena, t.uses, nodes * sizeof(*t.uses));
}
