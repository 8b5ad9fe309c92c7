/* Finds in each region of a loop what depends on captured arrays and numbers alone, makes it anew in the program
 * around, and reads it there. */
#include "opt/outside.h"

#include "ir/graft.h"
#include "opt/remake.h"

/* A map of so few simple operations is cheaper anew than its result is to read. */
enum { FEW_OPERATIONS = 12 };

typedef struct mover {
    ir_program *p; /* around */
    ir_control *c; /* a copy, which gets more values */
    const ir_array *control;
    const opt_remake *around;
    ir_region *r;
    ir_program *q;
    bool *same;  /* per array of q: it does not change from round to round */
    bool *asked; /* per array: what changes reads it */
} mover;

static ir_id now(const opt_remake *r, ir_id id)
{
    return id < r->nodes && r->array[id] ? r->array[id] : id;
}

/* Does an extent of the region have the same value in all rounds? */
static bool dim_is_same(const mover *m, uint32_t dim)
{
    int64_t value;
    for (uint32_t i = 0; i < m->r->values; i++)
        if (m->r->dim[i] == dim)
            return true;
    return ir_number_of(m->q, dim, &value);
}

typedef struct looked {
    bool same, sure; /* it does not change; it cannot fail */
    uint32_t weight;
} looked;

/* What terms are made of. */
static looked look(const mover *m, uint32_t n, const ir_id *term)
{
    looked all = {true, true, 0};
    opt_ids ids = {0};
    if (!term || !n)
        return all;
    opt_reach(m->q, m->q->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(m->q, ids.at[i]);
        if (t->kind == IR_DIM)
            all.same &= dim_is_same(m, (uint32_t)t->u.literal);
        if (t->kind == IR_READ) {
            all.same &= m->same[t->array];
            all.weight += FEW_OPERATIONS / 4;
        }
        all.sure &= !t->partial;
        if (t->kind == IR_LOOP) {
            all.sure = false; /* it may not end */
            all.weight += FEW_OPERATIONS + 1;
        }
        if (t->kind == IR_OP)
            all.weight += ir_ops[t->op].flags & OP_MATH ? FEW_OPERATIONS + 1 : ir_ops[t->op].flags & OP_TRACES ? 0 : 1;
        all.sure &= !(t->kind == IR_OP && ir_ops[t->op].flags & OP_TRACES);
    }
    vec_free(m->q->arena, &ids);
    return all;
}

/* Are the extents surely none that could be wrong: those of what there is, or constants? */
static bool plain_shape(const mover *m, const ir_array *a)
{
    int64_t value;
    for (unsigned d = 0; d < a->rank; d++)
        if (ir_at(m->q, a->shape[d])->kind != IR_DIM && !ir_extent_constant(m->q, a->shape[d], &value))
            return false;
    return true;
}

/* An operation that does not change and cannot fail. */
static bool is_same(const mover *m, ir_id id)
{
    const ir_array *a = ir_info(m->q, id);
    const ir_kind kind = (ir_kind)ir_at(m->q, id)->kind;
    looked fn = {true, true, 0};
    for (uint32_t i = 0; i < a->inputs; i++)
        if (!m->same[a->input[i]])
            return false;
    if (kind != IR_GENERATE && kind != IR_MAP && kind != IR_BACKPERMUTE && kind != IR_FOLD && kind != IR_SCAN &&
        kind != IR_PACK && kind != IR_STENCIL && kind != IR_FORCE)
        return false; /* inputs are known before; others may fail */
    if (kind == IR_BACKPERMUTE && !(ir_at(m->q, id)->flags & IR_SAFE))
        return false;
    if ((kind == IR_FOLD && !a->seed) || (kind == IR_GENERATE && !plain_shape(m, a)))
        return false;
    if (a->fn)
        fn = look(m, a->fn->results, a->fn->result);
    const looked shape = look(m, a->rank, a->shape), seed = look(m, a->seed ? a->components : 0, a->seed);
    bool good = fn.same && fn.sure && shape.same && shape.sure && seed.same && seed.sure;
    for (uint32_t i = 0; a->stencil && i < a->inputs && good; i++) {
        const ir_stencil *s = &a->stencil[i];
        const looked constant = look(m, s->constant ? ir_info(m->q, a->input[i])->components : 0, s->constant),
                     outside =
                         look(m, s->function ? s->function->results : 0, s->function ? s->function->result : NULL);
        good = constant.same && constant.sure && outside.same && outside.sure;
    }
    return good;
}

/* Is it dearer than reading its result? */
static bool is_dear(const mover *m, ir_id id)
{
    const ir_array *a = ir_info(m->q, id);
    switch (ir_at(m->q, id)->kind) {
    case IR_FOLD:
    case IR_SCAN:
    case IR_PACK:
    case IR_STENCIL:
    case IR_FORCE:
        return true;
    case IR_MAP:
    case IR_GENERATE:
        return look(m, a->fn->results, a->fn->result).weight > FEW_OPERATIONS;
    default:
        return false;
    }
}

static void ask_terms(const mover *m, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    if (!term || !n)
        return;
    opt_reach(m->q, m->q->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(m->q, ids.at[i])->kind == IR_READ)
            m->asked[ir_at(m->q, ids.at[i])->array] = true;
    vec_free(m->q->arena, &ids);
}

static void ask_operands(const mover *m, ir_id id)
{
    const ir_array *a = ir_info(m->q, id);
    for (uint32_t i = 0; i < a->inputs; i++)
        m->asked[a->input[i]] = true;
    ask_terms(m, a->rank, a->shape);
    ask_terms(m, a->components, a->seed);
    if (a->fn)
        ask_terms(m, a->fn->results, a->fn->result);
    if (a->control)
        ask_terms(m, a->control->values, a->control->value);
    for (uint32_t i = 0; a->stencil && i < a->inputs; i++) {
        ask_terms(m, ir_info(m->q, a->input[i])->components, a->stencil[i].constant);
        if (a->stencil[i].function)
            ask_terms(m, a->stencil[i].function->results, a->stencil[i].function->result);
    }
}

/* Lists what is moved: what is asked for by what stays, as far as it is dear; what is cheap stays, and asks in turn. */
static void list_moved(mover *m, opt_ids *moved)
{
    ir_program *q = m->q;
    const uint32_t nodes = q->node.n;
    m->same = arena_alloc(q->arena, nodes + 1);
    m->asked = arena_alloc(q->arena, nodes + 1);
    for (uint32_t i = m->c->states; i < q->input.n; i++)
        m->same[q->input.at[i]] = true;
    for (ir_id id = 1; id < nodes; id++)
        if (ir_is_array(q, id) && !m->same[id])
            m->same[id] = is_same(m, id);
    for (uint32_t i = 0; i < q->output.n; i++)
        m->asked[q->output.at[i]] = true;
    for (uint32_t i = 0; i < q->check.n; i++)
        ask_terms(m, 2, (ir_id[]){q->check.at[i].left, q->check.at[i].right});
    for (ir_id id = nodes; id-- > 1;) {
        if (!ir_is_array(q, id) || !m->asked[id] || ir_at(q, id)->kind == IR_INPUT)
            continue;
        if (m->same[id] && is_dear(m, id))
            vec_push(q->arena, moved, id);
        else
            ask_operands(m, id);
    }
}

/* --- moving --- */

static ir_id leaf_around(void *env, ir_id id)
{
    const mover *m = env;
    const ir_node *n = ir_at(m->q, id);
    if (n->kind == IR_INPUT)
        return now(m->around, m->control->input[m->r->source[n->args]]);
    for (uint32_t i = 0; n->kind == IR_DIM && i < m->r->values; i++)
        if (m->r->dim[i] == n->u.literal)
            return m->c->value[m->r->value[i]];
    return 0;
}

/* The operation, and what it is made of, in the program around; 0: it cannot be made there. */
static ir_id made_around(mover *m, ir_graft *g, ir_id id)
{
    bool *wanted = arena_alloc(m->q->arena, id + 1);
    bool *kept = m->asked;
    wanted[id] = true;
    m->asked = wanted;
    for (ir_id k = id + 1; k-- > 1;)
        if (wanted[k] && ir_is_array(m->q, k) && ir_at(m->q, k)->kind != IR_INPUT)
            ask_operands(m, k);
    m->asked = kept;
    for (ir_id k = 1; k <= id; k++)
        if (wanted[k] && ir_is_array(m->q, k) && ir_at(m->q, k)->kind != IR_INPUT && !ir_graft_made(g, k) &&
            !ir_graft_array(g, k))
            return 0;
    arena_release(m->q->arena, wanted, id + 1);
    return ir_graft_made(g, id);
}

/* A number that is read around the loop from now on, and that the region has as an extent of its own. */
static ir_id add_extent(mover *m, ir_id around)
{
    ir_program *q = m->q;
    ir_control *c = m->c;
    ir_region *r = m->r;
    const ir_id dim = ir_dim(q, arena_printf(q->arena, "outside#%u", q->dim.n));
    ir_id *value = arena_array(m->p->arena, *value, c->values + 1);
    uint32_t *which = arena_array(m->p->arena, *which, r->values + 1);
    uint32_t *extent = arena_array(m->p->arena, *extent, r->values + 1);
    for (uint32_t i = 0; i < c->values; i++)
        value[i] = c->value[i];
    for (uint32_t i = 0; i < r->values; i++) {
        which[i] = r->value[i];
        extent[i] = r->dim[i];
    }
    value[c->values] = around;
    which[r->values] = c->values++;
    extent[r->values++] = (uint32_t)ir_at(q, dim)->u.literal;
    c->value = value;
    r->value = which;
    r->dim = extent;
    return dim;
}

/* The extents of an operation that becomes an input. What they read, as those of packs do, is not there yet when inputs
 * come, so it comes as an extent, and is one wherever it is read. */
static const ir_id *extents_inside(mover *m, ir_graft *g, opt_remake *inside, const ir_array *a)
{
    opt_ids ids = {0};
    opt_reach(m->q, m->q->arena, a->rank, a->shape, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(m->q, ids.at[i]);
        if (t->kind != IR_READ || inside->number[t->array])
            continue;
        ir_id around = ir_graft_term(g, ids.at[i]);
        if (!around)
            return NULL;
        inside->number[t->array] = add_extent(m, around);
        inside->replaces = true;
    }
    vec_free(m->q->arena, &ids);
    return opt_remake_terms(inside, NULL, NULL, a->rank, (ir_id *)a->shape);
}

/* Moves operations of one region; `input` gets what the control is given besides. */
static bool move_region(mover *m, ir_region *r, opt_ids *input)
{
    ir_program *q = m->q;
    opt_ids moved = {0};
    opt_remake inside;
    ir_graft g = {.from = q, .to = m->p, .leaf = leaf_around, .env = m};
    list_moved(m, &moved);
    if (!moved.n)
        return false;
    uint32_t *source = arena_array(q->arena, *source, q->input.n + moved.n + 1);
    memcpy(source, r->source, q->input.n * sizeof *source);
    const uint32_t nodes = q->node.n;
    opt_remake_begin(&inside, q);
    inside.number = arena_array(q->arena, ir_id, nodes);
    for (uint32_t i = moved.n; i-- > 0;) { /* in order of ids */
        const ir_array *a = ir_info(q, moved.at[i]);
        ir_id made = made_around(m, &g, moved.at[i]);
        const ir_id *shape = made ? extents_inside(m, &g, &inside, a) : NULL;
        if (!shape)
            continue;
        source[q->input.n] = input->n;
        vec_push(m->p->arena, input, made);
        inside.array[moved.at[i]] = ir_input(q, a->components, a->type, a->rank, shape);
        inside.replaces = true;
    }
    for (ir_id id = 1; id < nodes; id++)
        if (ir_is_array(q, id) && ir_at(q, id)->kind != IR_INPUT && !inside.array[id])
            opt_remake_array(&inside, id);
    opt_remake_end(&inside);
    r->source = source;
    return true;
}

static void move_control(ir_program *p, opt_remake *around, ir_id id)
{
    const ir_array old = *ir_info(p, id);
    opt_ids input = {0};
    bool moved = false;
    if (old.control->form == IR_CHOICE || old.control->form == IR_FOREIGN)
        return;
    ir_control c = around->array[id] ? *ir_info(p, around->array[id])->control : *old.control;
    c.region = arena_copy(p->arena, c.region, c.regions * sizeof *c.region);
    for (uint32_t i = 0; i < old.inputs; i++)
        vec_push(p->arena, &input, now(around, old.input[i]));
    for (uint32_t i = 0; i < c.regions; i++) {
        mover m = {.p = p, .c = &c, .control = &old, .around = around, .r = &c.region[i], .q = c.region[i].program};
        moved |= move_region(&m, &c.region[i], &input);
    }
    if (!moved)
        return;
    ir_array info = old;
    info.control = arena_copy(p->arena, &c, sizeof c);
    info.inputs = input.n;
    info.input = input.at;
    opt_remake_as(around, id, &info);
    ir_control *gone = arena_copy(p->arena, old.control, sizeof c); /* nobody needs to look at what it repeats */
    gone->regions = 0;
    p->node.at[id].u.info->control = gone;
}

void opt_move_outside(ir_program *p)
{
    bool any = false;
    for (ir_id id = 1; id < p->node.n; id++) {
        const ir_control *c = ir_at(p, id)->kind == IR_CONTROL ? ir_info(p, id)->control : NULL;
        for (uint32_t i = 0; c && i < c->regions; i++)
            opt_move_outside(c->region[i].program); /* as deep as controls are, which is not deep */
        any |= c && c->form != IR_CHOICE && c->form != IR_FOREIGN;
    }
    if (!any)
        return;
    const uint32_t nodes = p->node.n;
    opt_remake r;
    opt_remake_begin(&r, p);
    for (ir_id id = 1; id < nodes; id++) {
        if (!ir_is_array(p, id) || ir_at(p, id)->kind == IR_INPUT)
            continue;
        opt_remake_array(&r, id);
        if (ir_at(p, id)->kind == IR_CONTROL)
            move_control(p, &r, id);
    }
    opt_remake_end(&r);
}
