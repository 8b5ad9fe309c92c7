/* Plans as text, for explain and for tests of structure. */
#include "plan/plan.h"

#include <inttypes.h>

static void print_buffer(const plan *p, uint32_t b, text *out)
{
    const plan_buffer *buffer = &p->buffer.at[b];
    static const char *const place[] = {"parameter", "result", "buffer"};
    text_printf(out, "%s a%u", place[buffer->place], p->label[buffer->array]);
    if (buffer->component || plan_find(p, buffer->array, 1, &(uint32_t){0}))
        text_printf(out, ".%u", buffer->component);
    if (*p->name.at[b])
        text_printf(out, " (%s)", p->name.at[b]);
}

static void print_host(const plan *p, uint32_t step, text *out)
{
    const host_step *s = &p->host.step.at[step];
    if (s->kind == HOST_LITERAL)
        text_printf(out, "%" PRId64, ir_i64_bits((ir_type)s->result, s->literal));
    else if (s->kind == HOST_DIM)
        text_add(out, p->dim.at[s->number]);
    else
        text_printf(out, "h%u", step);
}

static void print_shape(const plan *p, uint32_t shape, text *out)
{
    const plan_shape *s = &p->shape.at[shape];
    text_add(out, "[");
    for (unsigned d = 0; d < s->rank; d++) {
        text_add(out, d ? ", " : "");
        print_host(p, s->extent[d], out);
    }
    text_add(out, "]");
}

static void print_evaluation(const plan *p, const plan_step *step, text *out)
{
    for (uint32_t i = step->index; i < step->last; i++) {
        const host_step *s = &p->host.step.at[i];
        if (s->kind == HOST_LITERAL || s->kind == HOST_DIM)
            continue;
        text_printf(out, "    h%u = ", i);
        if (s->kind == HOST_READ)
            text_printf(out, "a%u.%u[", p->label[s->array], s->number);
        else
            text_add(out, s->kind == HOST_OP ? ir_ops[s->op].name : s->kind == HOST_COND ? "cond" : "loop");
        for (uint32_t k = 0; k < s->n; k++) {
            text_add(out, k ? ", " : s->kind == HOST_READ ? "" : " ");
            print_host(p, s->in[k], out);
        }
        text_add(out, s->kind == HOST_READ ? "]\n" : "\n");
    }
}

static void print_list(const plan *p, const char *what, uint32_t n, const uint32_t *buffer, text *out)
{
    for (uint32_t i = 0; i < n; i++) {
        text_printf(out, "        %s ", what);
        print_buffer(p, buffer[i], out);
        text_add(out, "\n");
    }
}

static void print_passes(const plan_cluster *c, text *out)
{
    static const char *const name[SK_PASSES] = {
        [SK_PASS_LOOP] = "pieces",
        [SK_PASS_COMBINE] = "combine until one a row",
        [SK_PASS_SUMS] = "sums of pieces",
        [SK_PASS_STATES] = "states before pieces",
        [SK_PASS_APPLY] = "pieces with states",
    };
    if (c->carries)
        text_add(out, "        state, zeros first\n");
    for (unsigned i = 0; i < c->passes && c->passes > 1; i++)
        text_printf(out, "%s %s", i ? "," : "        rounds:", name[c->pass[i]]);
    text_add(out, c->passes > 1 ? "\n" : "");
}

/* Of results only those that may not fit where they go. */
static void print_alloc(const plan *p, const plan_buffer *b, uint32_t index, text *out)
{
    if (b->place != PLAN_TEMPORARY && b->room == b->shape)
        return;
    text_add(out, "    alloc ");
    print_buffer(p, index, out);
    text_printf(out, ": %s%s", b->room == b->shape ? "" : "at most ", ir_type_name(b->type));
    print_shape(p, b->room, out);
    text_add(out, "\n");
}

static void print_step(const plan *p, const plan_step *s, text *out)
{
    switch (s->op) {
    case PLAN_EVALUATE:
        print_evaluation(p, s, out);
        break;
    case PLAN_SHAPE:
        break; /* every shape is checked: not worth a line */
    case PLAN_CHECK:
        text_add(out, "    check ");
        print_host(p, p->check.at[s->index].left, out);
        text_add(out, " == ");
        print_host(p, p->check.at[s->index].right, out);
        text_printf(out, ", or \"%s\"\n", p->check.at[s->index].what);
        break;
    case PLAN_RESULT:
        if (!p->result.at[s->index].counted)
            break;
        text_printf(out, "    result %u has the shape ", s->index);
        print_shape(p, p->buffer.at[p->result.at[s->index].buffer].shape, out);
        text_add(out, "\n");
        break;
    case PLAN_ALLOC:
        print_alloc(p, &p->buffer.at[s->index], s->index, out);
        break;
    case PLAN_LAUNCH: {
        const plan_cluster *c = &p->cluster.at[s->index];
        text_printf(out, "    launch cluster %u over ", s->index);
        print_shape(p, c->shape, out);
        text_add(out, "\n");
        print_passes(c, out);
        print_list(p, "reads", c->reads.n, c->reads.at, out);
        print_list(p, "writes", c->writes.n, c->writes.at, out);
        break;
    }
    case PLAN_FREE:
        text_add(out, "    free ");
        print_buffer(p, s->index, out);
        text_add(out, "\n");
        break;
    case PLAN_COPY:
        text_printf(out, "    copy to result %u from ", s->index);
        print_buffer(p, p->result.at[s->index].buffer, out);
        text_add(out, "\n");
    }
}

void plan_print(const plan *p, text *out)
{
    uint32_t temporaries = 0;
    for (uint32_t i = 0; i < p->buffer.n; i++)
        temporaries += p->buffer.at[i].place == PLAN_TEMPORARY;
    text_printf(out, "plan: %u clusters, %u buffers between them\n", p->cluster.n, temporaries);
    for (uint32_t i = 0; i < p->step.n; i++)
        print_step(p, &p->step.at[i], out);
}
