/* Finds the components of inputs that are read, going from results to what they are made of; counts reads of arrays. */
#include "opt/needed.h"

#include "opt/rewrite.h"

typedef struct search {
    ir_program *p;
    bool *needed;
    bool *live;      /* per node: arrays that lead to a result */
    uint32_t *first; /* per node: 1 + the first component of an input, 0: it is none */
    uint32_t *met;   /* per node: the last operation whose function has it */
} search;

static void need(search *s, ir_id array, uint32_t component)
{
    s->live[array] = true;
    if (s->first[array])
        s->needed[s->first[array] - 1 + component] = true;
}

static void need_all(search *s, ir_id array)
{
    s->live[array] = true; /* a control has no components */
    for (uint32_t c = 0; c < ir_info(s->p, array)->components; c++)
        need(s, array, c);
}

/* What terms read; their variables are noted. */
static void look(search *s, ir_id user, uint32_t n, const ir_id *term)
{
    opt_ids ids = {0};
    opt_reach(s->p, s->p->arena, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(s->p, ids.at[i]);
        s->met[ids.at[i]] = user;
        if (t->kind == IR_READ)
            need(s, t->array, (uint32_t)t->u.literal);
    }
    vec_free(s->p->arena, &ids);
}

static uint32_t positions(const ir_array *info, uint32_t input)
{
    uint32_t n = 1;
    for (unsigned d = 0; info->stencil && d < info->rank; d++)
        n *= info->stencil[input].extent[d];
    return n;
}

/* Inputs whose components are parameters of the function, one after the other. */
static void look_at_parameters(search *s, ir_id id, uint32_t param)
{
    const ir_array *info = ir_info(s->p, id);
    for (uint32_t i = 0; i < info->inputs; i++) {
        uint32_t components = ir_info(s->p, info->input[i])->components, all = positions(info, i) * components;
        s->live[info->input[i]] = true;
        for (uint32_t k = 0; k < all; k++, param++)
            if (s->met[info->fn->param[param]] == id)
                need(s, info->input[i], k % components);
    }
}

static void look_at_stencils(search *s, ir_id id)
{
    const ir_array *info = ir_info(s->p, id);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++) {
        const ir_stencil *st = &info->stencil[i];
        if (st->constant)
            look(s, 0, ir_info(s->p, info->input[i])->components, st->constant);
        if (st->function)
            look(s, 0, st->function->results, st->function->result);
    }
}

static void look_at(search *s, ir_id id)
{
    const ir_array *info = ir_info(s->p, id);
    ir_kind kind = (ir_kind)ir_at(s->p, id)->kind;
    look(s, 0, info->rank, info->shape);
    if (info->seed)
        look(s, 0, info->components, info->seed);
    if (info->control)
        look(s, 0, info->control->values, info->control->value);
    look_at_stencils(s, id);
    if (info->fn)
        look(s, id, info->fn->results, info->fn->result);
    if (kind == IR_MAP || kind == IR_STENCIL) {
        look_at_parameters(s, id, ir_at(s->p, id)->flags & IR_INDEXED ? info->rank : 0);
        return;
    }
    for (uint32_t i = 0; i < info->inputs; i++)
        need_all(s, info->input[i]);
}

void opt_needed(ir_program *p, bool *needed)
{
    search s = {.p = p, .needed = needed};
    uint32_t next = 0, nodes = p->node.n;
    s.live = arena_array(p->arena, *s.live, nodes);
    s.first = arena_array(p->arena, *s.first, nodes);
    s.met = arena_array(p->arena, *s.met, nodes);
    for (uint32_t k = 0; k < p->input.n; k++) {
        s.first[p->input.at[k]] = next + 1;
        for (uint32_t c = 0; c < ir_info(p, p->input.at[k])->components; c++)
            needed[next++] = false;
    }
    for (uint32_t k = 0; k < p->output.n; k++)
        need_all(&s, p->output.at[k]);
    for (uint32_t k = 0; k < p->check.n; k++)
        look(&s, 0, 2, (ir_id[]){p->check.at[k].left, p->check.at[k].right});
    for (ir_id id = nodes; id-- > 1;)
        if (ir_is_array(p, id) && s.live[id])
            look_at(&s, id);
    arena_release(p->arena, s.live, nodes * sizeof(*s.live));
    arena_release(p->arena, s.first, nodes * sizeof(*s.first));
    arena_release(p->arena, s.met, nodes * sizeof(*s.met));
}

uint32_t *opt_count_reads(const ir_program *p)
{
    uint32_t *reads = arena_array(p->arena, uint32_t, p->node.n);
    for (ir_id id = 1; id < p->node.n; id++) {
        if (ir_at(p, id)->kind == IR_READ)
            reads[ir_at(p, id)->array]++;
        for (uint32_t i = 0; ir_is_array(p, id) && i < ir_info(p, id)->inputs; i++)
            reads[ir_info(p, id)->input[i]]++;
    }
    return reads;
}

uint32_t *opt_count_readers(const ir_program *p)
{
    uint32_t *readers = opt_count_reads(p);
    for (uint32_t k = 0; k < p->output.n; k++)
        readers[p->output.at[k]]++;
    return readers;
}
