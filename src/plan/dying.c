/* A parameter dies with the last step that looks at its elements: in a round of a loop, or in a branch, it may have
 * been given away, and then this step may have its memory. The same holds of what the plan computes itself. Loops say
 * what they read; the host reads elements for conditions and extents besides, when these are evaluated. */
#include "plan/dying.h"

#include "opt/rewrite.h"

typedef struct finder {
    plan *out;
    const l_program *l;
    arena *arena;
    uint32_t *last;  /* per buffer: 1 + the last cluster that reads or writes it; 0: none */
    uint32_t *asked; /* per buffer: 1 + the last step behind which the host may still read its elements */
    bool *result;    /* per buffer: is it one? */
} finder;

static uint32_t components_of(const finder *f, uint32_t buffer)
{
    return ir_info(f->l->ir, f->out->buffer.at[buffer].array)->components;
}

static void note_inputs(finder *f, const plan_control *c, uint32_t cluster)
{
    for (uint32_t i = 0; i < c->input.n; i++)
        for (uint32_t k = components_of(f, c->input.at[i]); k-- > 0;)
            f->last[c->input.at[i] + k] = cluster + 1;
}

/* What controls read besides are values, which the host has computed before. */
static void note_clusters(finder *f)
{
    for (uint32_t i = 0; i < f->out->cluster.n; i++) {
        const plan_cluster *c = &f->out->cluster.at[i];
        if (c->control)
            note_inputs(f, &f->out->control.at[c->control - 1], i);
        for (uint32_t k = 0; k < c->reads.n && !c->control; k++)
            f->last[c->reads.at[k]] = i + 1;
        for (uint32_t k = 0; k < c->writes.n; k++)
            f->last[c->writes.at[k]] = i + 1;
    }
}

static void ask(finder *f, ir_id array, uint32_t component, uint32_t until)
{
    uint32_t buffer;
    if (plan_find(f->out, array, component, &buffer) && f->asked[buffer] < until)
        f->asked[buffer] = until;
}

/* A loop of scalar code reads any elements of what it mentions. */
static void ask_in_term(finder *f, ir_id term)
{
    opt_ids ids = {0};
    opt_reach(f->l->ir, f->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(f->l->ir, ids.at[i]);
        if (n->kind == IR_READ)
            ask(f, n->array, (uint32_t)n->u.literal, UINT32_MAX);
    }
}

/* Host steps that extents are made of: launches compute these again. */
static bool *find_in_extents(const finder *f)
{
    const plan *p = f->out;
    bool *in = arena_alloc(f->arena, p->host.step.n + 1);
    for (uint32_t i = 0; i < p->shape.n; i++)
        for (unsigned d = 0; d < p->shape.at[i].rank; d++)
            in[p->shape.at[i].extent[d]] = true;
    for (uint32_t i = p->host.step.n; i-- > 0;) {
        const host_step *s = &p->host.step.at[i];
        for (uint32_t k = 0; in[i] && s->in && k < (uint32_t)s->n + s->rank; k++)
            in[s->in[k]] = true;
    }
    return in;
}

static void note_host(finder *f)
{
    const plan *p = f->out;
    const bool *in_extents = find_in_extents(f);
    for (uint32_t at = 0; at < p->step.n; at++)
        for (uint32_t i = p->step.at[at].index; p->step.at[at].op == PLAN_EVALUATE && i < p->step.at[at].last; i++) {
            const host_step *s = &p->host.step.at[i];
            if (s->kind == HOST_READ)
                ask(f, s->array, s->number, in_extents[i] ? UINT32_MAX : at + 1);
            else if (s->kind == HOST_TERM)
                ask_in_term(f, s->term);
        }
}

/* Does nobody look at it behind this cluster, which begins with step `at`? */
static bool dies(const finder *f, uint32_t buffer, uint32_t cluster, uint32_t at)
{
    return f->last[buffer] == cluster + 1 && f->asked[buffer] <= at && !f->result[buffer];
}

/* Does the loop that begins with these defaults read their elements, or begin with them twice? It must not see those
 * that it has changed. */
static bool is_needed_besides(const finder *f, uint32_t cluster, uint32_t defaults)
{
    const plan_cluster *c = &f->out->cluster.at[cluster];
    const l_cluster *loop = &f->l->cluster.at[cluster];
    const uint32_t from = c->defaults.at[defaults];
    uint32_t begun = 0;
    bool reads = false;
    for (uint32_t k = 0; k < c->defaults.n; k++)
        begun += c->defaults.at[k] == from;
    for (uint32_t k = 0; k < loop->reads.n; k++)
        reads |= loop->reads.at[k] == f->out->buffer.at[from].array;
    return begun > 1 || reads;
}

/* `at`: the step where the cluster's first defaults are copied, unless their memory is taken. */
static void find_defaults(finder *f, uint32_t cluster, uint32_t at)
{
    const plan_cluster *c = &f->out->cluster.at[cluster];
    for (uint32_t k = 0; k < c->defaults.n; k++) {
        const uint32_t from = c->defaults.at[k];
        if (f->out->buffer.at[from].place == PLAN_INPUT && dies(f, from, cluster, at) &&
            !is_needed_besides(f, cluster, k))
            f->out->buffer.at[c->begun.at[k]].over = from + 1;
    }
}

/* A part that is like an input that dies may well be where that is. */
static void find_parts(finder *f, const plan_control *c, uint32_t input)
{
    const uint32_t n = components_of(f, c->input.at[input]);
    for (uint32_t k = 0; k < c->part.n; k++)
        for (uint32_t i = 0; c->part.at[k] && i < components_of(f, c->part.at[k] - 1) && i < n; i++) {
            plan_buffer *to = &f->out->buffer.at[c->part.at[k] - 1 + i];
            const plan_buffer *from = &f->out->buffer.at[c->input.at[input] + i];
            if (from->place == PLAN_INPUT && from->type == to->type && from->shape == to->shape)
                to->over = c->input.at[input] + i + 1;
        }
}

static void find_inputs(finder *f, uint32_t cluster, uint32_t at)
{
    plan_control *c = &f->out->control.at[f->out->cluster.at[cluster].control - 1];
    const bool loops = c->form == IR_WHILE || c->form == IR_REPEAT;
    c->dies = arena_alloc(f->out->arena, c->input.n + 1);
    for (uint32_t i = 0; i < (loops ? c->of->states : c->input.n); i++) {
        const uint32_t buffer = c->input.at[i], n = components_of(f, buffer);
        bool all = true;
        for (uint32_t k = 0; k < c->input.n; k++)
            all &= k == i || c->input.at[k] != buffer;
        for (uint32_t k = buffer; k < buffer + n; k++) {
            const plan_place place = f->out->buffer.at[k].place;
            all &= (place == PLAN_TEMPORARY || place == PLAN_INPUT) && dies(f, k, cluster, at);
        }
        c->dies[i] = all;
        if (all)
            find_parts(f, c, i);
    }
}

void plan_find_dying(plan *out, const l_program *l)
{
    bool any = false;
    for (uint32_t i = 0; i < out->cluster.n; i++)
        any |= out->cluster.at[i].control || out->cluster.at[i].defaults.n;
    if (!any)
        return;
    finder f = {.out = out, .l = l, .arena = arena_beside(out->arena)};
    f.last = arena_array(f.arena, uint32_t, out->buffer.n + 1);
    f.asked = arena_array(f.arena, uint32_t, out->buffer.n + 1);
    f.result = arena_alloc(f.arena, out->buffer.n + 1);
    uint32_t *cluster_of = arena_array(f.arena, uint32_t, out->buffer.n + out->control.n + 1);
    for (uint32_t i = 0; i < out->result.n; i++)
        f.result[out->result.at[i].buffer] = true;
    note_clusters(&f);
    note_host(&f);
    for (uint32_t i = 0; i < out->cluster.n; i++) {
        const plan_cluster *c = &out->cluster.at[i];
        if (c->control)
            cluster_of[c->control - 1] = i;
        for (uint32_t k = 0; k < c->begun.n; k++)
            cluster_of[out->control.n + c->begun.at[k]] = i;
    }
    for (uint32_t at = 0; at < out->step.n; at++) {
        const plan_step *s = &out->step.at[at];
        if (s->op == PLAN_IF || s->op == PLAN_FOREIGN || s->op == PLAN_WHILE || s->op == PLAN_REPEAT)
            find_inputs(&f, cluster_of[s->index], at);
        else if (s->op == PLAN_BEGIN)
            find_defaults(&f, cluster_of[out->control.n + s->index], at);
    }
    arena_free(f.arena);
}
