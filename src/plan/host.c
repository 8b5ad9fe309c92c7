/* Closed scalar terms become straight-line host code, and are computed. */
#include "plan/host.h"

#include "base/size.h"
#include "opt/rewrite.h"

#include <stdlib.h>

/* --- building --- */

static uint32_t known(const host_code *code, ir_id term)
{
    return map64_get(&code->of, term);
}

static uint32_t *operands(const ir_program *p, arena *a, host_code *code, ir_id id, uint32_t more)
{
    const ir_node *n = ir_at(p, id);
    uint32_t *in = arena_array(a, uint32_t, n->n + more + 1);
    for (uint32_t i = 0; i < n->n; i++)
        in[i] = known(code, ir_args(p, id)[i]) - 1;
    return in;
}

/* A read is checked against the array's extents, which are steps of their own. */
static void add_extents(const ir_program *p, const host_code *code, const ir_node *n, host_step *s)
{
    const ir_array *info = ir_info(p, n->array);
    s->rank = info->rank;
    for (unsigned d = 0; d < info->rank; d++)
        s->in[s->n + d] = known(code, info->shape[d]) - 1;
}

static void add_step(const ir_program *p, arena *a, host_code *code, ir_id id)
{
    const ir_node *n = ir_at(p, id);
    host_step s = {.n = (uint8_t)n->n, .type = n->type, .result = n->type, .site = n->site, .term = id};
    switch (n->kind) {
    case IR_CONST:
        s.kind = HOST_LITERAL;
        s.literal = n->u.literal;
        break;
    case IR_DIM:
        s.kind = HOST_DIM;
        s.number = (uint32_t)n->u.literal;
        break;
    case IR_READ:
        s.kind = HOST_READ;
        s.number = (uint32_t)n->u.literal;
        s.array = n->array;
        s.linear = n->flags & IR_LINEAR;
        s.in = operands(p, a, code, id, ir_info(p, n->array)->rank);
        add_extents(p, code, n, &s);
        break;
    case IR_OP:
        s.kind = HOST_OP;
        s.op = n->op;
        s.type = ir_at(p, ir_args(p, id)[0])->type;
        s.in = operands(p, a, code, id, 0);
        break;
    case IR_COND:
        s.kind = HOST_COND;
        s.in = operands(p, a, code, id, 0);
        break;
    default:
        s.kind = HOST_TERM;
        s.n = 0;
        break;
    }
    vec_push(a, &code->step, s);
    map64_put(a, &code->of, id, code->step.n);
}

/* What a term that is found stands for until its step is made. */
enum { FOUND = UINT32_MAX };

/* Everything a term is made of, and the extents of what it reads: those have smaller ids. Not the inside of loops. */
static void visit(arena *a, host_code *code, ir_id id)
{
    if (known(code, id))
        return;
    map64_put(a, &code->of, id, FOUND);
    vec_push(a, &code->found, id);
}

static int by_id(const void *a, const void *b)
{
    ir_id x = *(const ir_id *)a, y = *(const ir_id *)b;
    return (x > y) - (x < y);
}

uint32_t host_add(const ir_program *p, arena *a, host_code *code, ir_id term)
{
    if (known(code, term))
        return known(code, term) - 1;
    code->found.n = 0;
    visit(a, code, term);
    for (uint32_t k = 0; k < code->found.n; k++) {
        ir_id id = code->found.at[k];
        const ir_node *n = ir_at(p, id);
        for (uint32_t i = 0; i < n->n && n->kind != IR_PROJ; i++)
            visit(a, code, ir_args(p, id)[i]);
        for (unsigned d = 0; n->kind == IR_READ && d < ir_info(p, n->array)->rank; d++)
            visit(a, code, ir_info(p, n->array)->shape[d]);
    }
    qsort(code->found.at, code->found.n, sizeof(ir_id), by_id);
    for (uint32_t i = 0; i < code->found.n; i++)
        add_step(p, a, code, code->found.at[i]);
    return known(code, term) - 1;
}

host_code host_keep(const host_code *code, arena *a)
{
    host_code kept = {0};
    if (!code->step.n)
        return kept;
    kept.step.n = kept.step.cap = code->step.n;
    kept.step.at = arena_copy(a, code->step.at, code->step.n * sizeof(host_step));
    for (uint32_t i = 0; i < kept.step.n; i++) {
        host_step *s = &kept.step.at[i];
        if (s->in)
            s->in = arena_copy(a, s->in, ((size_t)s->n + s->rank) * sizeof(uint32_t));
    }
    return kept;
}

/* --- running --- */

static bool is_inside(const host_index *i)
{
    return i->index >= 0 && i->index < i->extent;
}

host_index host_find(const host_step *s, const host_value *value)
{
    int64_t extent[IR_MAX_RANK];
    host_index whole = {0};
    for (unsigned d = 0; d < s->rank; d++)
        extent[d] = host_i64(value, s->in[s->n + d]);
    if (!size_count(s->rank, extent, &whole.extent))
        whole.extent = 0;
    if (s->linear)
        whole.index = host_i64(value, s->in[0]);
    for (unsigned d = 0; d < s->n && !s->linear; d++) {
        host_index one = {host_i64(value, s->in[d]), extent[d], s->rank > 1 ? d + 1 : 0};
        if (!is_inside(&one))
            return one;
        whole.index = whole.index * one.extent + one.index;
    }
    return whole;
}

static uint32_t bad_operand(const host_step *s, uint32_t n, const host_value *value)
{
    for (uint32_t i = 0; i < n; i++)
        if (value[s->in[i]].bad)
            return value[s->in[i]].bad;
    return 0;
}

static bool compute(const host_step *s, const host_world *world, host_value *value, ir_bits *out)
{
    host_index at;
    ir_bits in[3] = {0};
    switch (s->kind) {
    case HOST_LITERAL:
        *out = s->literal;
        return true;
    case HOST_DIM:
        *out = (ir_bits)world->dims[s->number];
        return world->bound[s->number];
    case HOST_READ:
        at = host_find(s, value);
        if (!is_inside(&at))
            return false;
        *out = world->read(world->env, s->array, s->number, at.index);
        return true;
    case HOST_OP:
        for (uint32_t i = 0; i < s->n; i++)
            in[i] = value[s->in[i]].bits;
        return ir_op_apply((ir_op)s->op, (ir_type)s->type, (ir_type)s->result, in, out);
    default:
        return world->term(world->env, s->term, out);
    }
}

void host_run(const host_code *code, uint32_t first, uint32_t last, const host_world *world, host_value *value)
{
    for (uint32_t i = first; i < last; i++) {
        const host_step *s = &code->step.at[i];
        value[i] = (host_value){0};
        if (s->kind == HOST_COND) {
            const host_value *c = &value[s->in[0]];
            value[i] = c->bad ? *c : value[s->in[c->bits ? 1 : 2]];
            continue;
        }
        uint32_t operands = s->kind == HOST_READ ? (uint32_t)s->n + s->rank : s->kind == HOST_OP ? s->n : 0;
        value[i].bad = bad_operand(s, operands, value);
        if (!value[i].bad && !compute(s, world, value, &value[i].bits))
            value[i].bad = i + 1;
    }
}
