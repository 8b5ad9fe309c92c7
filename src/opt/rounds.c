/* Makes regions of several rounds, one behind the other, so that the stencils of one round are fused with those of the
 * next: as a chain that is written out would be. */
#include "opt/rounds.h"

#include "ir/graft.h"

/* The most that a region of several rounds grows to, in nodes. */
enum { MOST_NODES = 4000 };

typedef struct joining {
    const ir_program *from;
    ir_program *to;
    const ir_region *r;
    int64_t round; /* within the region */
    ir_graft graft;
} joining;

/* Stencils of a round, if it is made of them and of elementwise operations alone, and its state keeps its extents; 0
 * otherwise. */
static uint32_t stencils_of(const ir_control *c)
{
    const ir_region *r = &c->region[0];
    const ir_program *q = r->program;
    uint32_t n = 0;
    if (q->node.n > MOST_NODES / 2)
        return 0;
    for (ir_id id = 1; id < q->node.n; id++) {
        if (!ir_is_array(q, id))
            continue;
        const ir_array *a = ir_info(q, id);
        switch (ir_at(q, id)->kind) {
        case IR_STENCIL:
            for (uint32_t i = 0; i < a->inputs; i++)
                if (a->stencil[i].boundary == IR_WRAP || a->rank > 2)
                    return 0;
            n++;
            break;
        case IR_INPUT:
        case IR_MAP:
        case IR_GENERATE:
            break;
        default:
            return 0;
        }
    }
    for (uint32_t k = 0; k < c->parts; k++) {
        const uint32_t at = r->result[k];
        if (at & IR_PASSED)
            continue;
        const ir_array *before = ir_info(q, q->input.at[k]), *after = ir_info(q, q->output.at[at]);
        if (memcmp(before->shape, after->shape, before->rank * sizeof(ir_id)))
            return 0;
    }
    return n;
}

enum { MOST_SIZES = 4 };

/* The numbers of rounds that are done at once, falling: of a count that is known as many as leave the fewest sweeps,
 * and what is left over; else as many as there can be, and halves of that. */
static uint32_t sizes_for(const ir_program *p, const ir_control *c, uint32_t most, uint32_t *size)
{
    const ir_node *count = ir_at(p, c->value[0]);
    uint32_t sizes = 0;
    if (most < 2)
        return 0;
    if (count->kind != IR_CONST || (int64_t)count->u.literal < 0) {
        for (; most > 1 && sizes<MOST_SIZES; most = most> 2 ? (most + 1) / 2 : 1)
            size[sizes++] = most;
        return sizes;
    }
    const uint64_t n = count->u.literal, sweeps = n / most + (n % most != 0), even = sweeps ? n / sweeps : 0;
    if (sweeps)
        size[sizes++] = (uint32_t)(even + (n % sweeps != 0));
    if (sizes && n % size[0] > 1)
        size[sizes++] = (uint32_t)(n % size[0]);
    return sizes && size[0] > 1 ? sizes : 0;
}

/* The most rounds that pay: in short rows neighbours at the ends, and parts of gangs, are most of the work, and each
 * round more has more of them. */
static ir_id rounds_that_pay(ir_program *p, const ir_array *info)
{
    enum { LONG = 64 /* elements of a row */ };
    const ir_array *state = ir_info(p, info->input[0]);
    ir_id row = state->rank ? state->shape[state->rank - 1] : ir_i64(p, LONG);
    return ir_cond(p, 0, ir_op2(p, 0, OP_GE, row, ir_i64(p, LONG)), ir_i64(p, UINT16_MAX), ir_i64(p, 0));
}

static ir_id extent_there(void *env, ir_id id)
{
    const joining *j = env;
    const ir_node *n = ir_at(j->from, id);
    if (n->kind != IR_DIM)
        return 0;
    ir_id dim = ir_dim(j->to, j->from->dim.at[n->u.literal]);
    if (j->r->index != n->u.literal + 1)
        return dim;
    return ir_op2(j->to, 0, OP_ADD, dim, ir_i64(j->to, j->round));
}

static ir_graft graft_of(joining *j)
{
    return (ir_graft){.from = (ir_program *)(uintptr_t)j->from, .to = j->to, .leaf = extent_there, .env = j};
}

static ir_id make_input(joining *j, ir_id input)
{
    const ir_array *a = ir_info(j->from, input);
    ir_id shape[IR_MAX_RANK];
    j->graft = graft_of(j);
    ir_graft_terms(&j->graft, a->rank, a->shape, shape);
    return ir_input(j->to, a->components, a->type, a->rank, shape);
}

/* One round more: `state` are the arrays that it begins with, and then those that it gives. */
static bool add_round(joining *j, const ir_control *c, const ir_id *input, ir_id *state)
{
    const ir_program *q = j->from;
    ir_id *next = arena_array(q->arena, *next, c->parts + 1);
    j->graft = graft_of(j);
    for (uint32_t i = 0; i < q->input.n; i++)
        ir_graft_note(&j->graft, q->input.at[i], i < c->states ? state[i] : input[i]);
    ir_graft_program(&j->graft);
    for (uint32_t k = 0; k < c->parts; k++) {
        const uint32_t at = j->r->result[k];
        next[k] = ir_graft_made(&j->graft, at & IR_PASSED ? q->input.at[at & ~(uint32_t)IR_PASSED] : q->output.at[at]);
        if (!next[k])
            return false;
    }
    memcpy(state, next, c->parts * sizeof *state);
    return true;
}

static uint32_t result_number(ir_program *to, ir_id array)
{
    if (ir_at(to, array)->kind == IR_INPUT)
        return ir_at(to, array)->args | IR_PASSED;
    for (uint32_t i = 0; i < to->output.n; i++)
        if (to->output.at[i] == array)
            return i;
    ir_output(to, array);
    return to->output.n - 1;
}

static bool join(const ir_control *c, uint32_t rounds, ir_region *out)
{
    const ir_region *r = &c->region[0];
    const ir_program *q = r->program;
    arena *a = q->arena;
    joining j = {.from = q, .to = ir_program_like(q), .r = r};
    ir_id *input = arena_array(a, *input, q->input.n + 1);
    ir_id *state = arena_array(a, *state, c->parts + 1);
    for (uint32_t i = 0; i < q->input.n; i++) {
        input[i] = make_input(&j, q->input.at[i]);
        if (i < c->states)
            state[i] = input[i];
    }
    for (; j.round < rounds; j.round++)
        if (!add_round(&j, c, input, state) || j.to->node.n > MOST_NODES)
            return false;
    *out = *r;
    out->program = j.to;
    out->rounds = rounds;
    out->result = arena_array(a, uint32_t, c->parts + 1);
    for (uint32_t k = 0; k < c->parts; k++)
        out->result[k] = result_number(j.to, state[k]);
    return !j.to->error.n;
}

void opt_join_rounds(ir_program *p, uint32_t stages)
{
    for (ir_id id = 1; id < p->node.n; id++) {
        if (ir_at(p, id)->kind != IR_CONTROL)
            continue;
        ir_array *info = p->node.at[id].u.info;
        const ir_control *c = info->control;
        const uint32_t stencils = c->form == IR_REPEAT && c->regions == 1 ? stencils_of(c) : 0;
        uint32_t size[MOST_SIZES], sizes = stencils ? sizes_for(p, c, stages / stencils, size) : 0;
        if (!sizes)
            continue;
        ir_control *more = arena_copy(p->arena, c, sizeof *c);
        more->region = arena_array(p->arena, ir_region, 1 + MOST_SIZES);
        more->region[0] = c->region[0];
        ir_control_add_value(p, more, rounds_that_pay(p, info));
        for (uint32_t k = 0; k < sizes; k++)
            if (join(c, size[k], &more->region[more->regions]))
                more->region[more->regions++].most = more->values;
        if (more->regions > 1)
            info->control = more;
    }
}
