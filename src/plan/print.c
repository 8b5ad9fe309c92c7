/* Plans as text, for explain and for tests of structure. */
#include "plan/plan.h"

#include <inttypes.h>

static void print_buffer(const plan *p, uint32_t b, text *out)
{
    static const char *const place[] = {"parameter", "result", "buffer", "partials", "next partials", "state", "spare"};
    const plan_buffer *buffer = &p->buffer.at[b];
    if (buffer->place == PLAN_STATE) {
        text_printf(out, "state s%u", p->launch.at[buffer->launch].cluster);
        return;
    }
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

static void print_extents(const plan *p, const plan_shape *s, unsigned rank, text *out)
{
    for (unsigned d = 0; d < rank; d++) {
        text_add(out, d ? ", " : "");
        print_host(p, s->extent[d], out);
    }
}

static void print_shape(const plan *p, uint32_t shape, text *out)
{
    const plan_shape *s = &p->shape.at[shape];
    text_add(out, "[");
    print_extents(p, s, s->rank, out);
    text_add(out, "]");
}

/* Rows of partial results. */
static void print_left(const plan *p, uint32_t shape, text *out)
{
    const plan_shape *s = &p->shape.at[shape];
    const unsigned rows = s->rank ? s->rank - 1u : 0;
    text_add(out, "[");
    print_extents(p, s, rows, out);
    text_add(out, rows ? ", left]" : "left]");
}

static void indent(unsigned depth, text *out)
{
    for (unsigned i = 0; i <= depth; i++)
        text_add(out, "    ");
}

static void print_evaluation(const plan *p, const plan_step *step, unsigned depth, text *out)
{
    for (uint32_t i = step->index; i < step->last; i++) {
        const host_step *s = &p->host.step.at[i];
        if (s->kind == HOST_LITERAL || s->kind == HOST_DIM)
            continue;
        indent(depth, out);
        text_printf(out, "h%u = ", i);
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

static void print_use(const plan *p, const char *what, uint32_t buffer, unsigned depth, text *out)
{
    indent(depth + 1, out);
    text_printf(out, "%s ", what);
    print_buffer(p, buffer, out);
    text_add(out, "\n");
}

static void print_uses(const plan *p, const char *what, uint32_t n, uint32_t first, unsigned depth, text *out)
{
    for (uint32_t i = 0; i < n; i++)
        print_use(p, what, first + i, depth, out);
}

/* Is it made of partial results? */
static bool combined(const plan *p, const plan_launch *l, uint32_t buffer)
{
    for (uint32_t i = 0; i < l->partials; i++)
        if (p->buffer.at[l->in + i].array == p->buffer.at[buffer].array)
            return true;
    return false;
}

static void print_memory(const plan *p, const plan_launch *l, unsigned depth, text *out)
{
    const plan_cluster *c = &p->cluster.at[l->cluster];
    const bool combines = l->pass == SK_PASS_COMBINE, makes = l->pass == SK_PASS_LOOP || l->pass == SK_PASS_APPLY ||
                                                              l->pass == SK_PASS_TOTALS || l->pass >= SK_PASS_JOIN;
    for (uint32_t i = 0; i < c->reads.n && ((makes && l->pass != SK_PASS_TOTALS) || l->pass == SK_PASS_SUMS); i++)
        print_use(p, "reads", c->reads.at[i], depth, out);
    print_uses(p, "reads", combines ? l->partials : 0, l->in, depth, out);
    if (c->carries && !combines)
        print_use(p, "updates", l->state, depth, out);
    print_uses(p, "writes", l->partials, l->out, depth, out);
    if (c->sorts && l->pass != SK_PASS_LOOP)
        print_use(p, "updates", l->state, depth, out);
    for (uint32_t i = 0; i < c->writes.n; i++)
        if (l->pass == SK_PASS_SCATTER || l->pass == SK_PASS_MERGE)
            print_use(p, "writes by turns", c->writes.at[i], depth, out);
        else if (makes || l->pass == SK_PASS_BUCKETS || (combines && combined(p, l, c->writes.at[i])))
            print_use(p, c->permutes ? "updates" : "writes", c->writes.at[i], depth, out);
}

static void print_launch(const plan *p, const plan_launch *l, unsigned depth, text *out)
{
    static const char *const pass[SK_PASSES] = {
        [SK_PASS_LOOP] = "pieces",
        [SK_PASS_COMBINE] = "combine",
        [SK_PASS_SUMS] = "sums of pieces",
        [SK_PASS_STATES] = "states before pieces",
        [SK_PASS_APPLY] = "pieces with states",
        [SK_PASS_RUNS] = "find sorted runs",
        [SK_PASS_CHUNKS] = "sort chunks",
        [SK_PASS_COUNT] = "count digits",
        [SK_PASS_PLACES] = "places of digits",
        [SK_PASS_SCATTER] = "move to places",
        [SK_PASS_BUCKETS] = "sort what has one digit",
        [SK_PASS_SPLITS] = "cut pairs of runs",
        [SK_PASS_MERGE] = "merge pairs of runs",
        [SK_PASS_TOTALS] = "totals of blocks",
        [SK_PASS_JOIN] = "long segments",
    };
    const plan_cluster *c = &p->cluster.at[l->cluster];
    text_printf(out, "launch cluster %u over ", l->cluster);
    if (l->pass == SK_PASS_COMBINE)
        print_left(p, c->shape, out);
    else
        print_shape(p, c->shape, out);
    if (c->launches > 1)
        text_printf(out, ": %s", pass[l->pass] ? pass[l->pass] : "longest segments");
    text_add(out, "\n");
    print_memory(p, l, depth, out);
}

static void print_alloc(const plan *p, uint32_t index, text *out)
{
    const plan_buffer *b = &p->buffer.at[index];
    text_add(out, "alloc ");
    print_buffer(p, index, out);
    if (b->place != PLAN_STATE)
        text_printf(out, ": %s%s", b->room == b->shape ? "" : "at most ", ir_type_name(b->type));
    if (b->place == PLAN_PARTIALS || b->place == PLAN_NEXT)
        print_left(p, b->shape, out);
    else if (b->place != PLAN_STATE)
        print_shape(p, b->room, out);
    text_add(out, "\n");
}

/* Is it worth a line? All shapes are checked, and all launches sized. Of results only those are allocated that may not
 * fit where they go, and said to have a shape whose shape is known late. */
static bool told(const plan *p, const plan_step *s)
{
    switch (s->op) {
    case PLAN_EVALUATE: /* has lines of its own */
    case PLAN_SHAPE:
    case PLAN_SIZE:
        return false;
    case PLAN_RESULT:
        return p->result.at[s->index].counted;
    case PLAN_ALLOC:
        return p->buffer.at[s->index].place != PLAN_OUTPUT ||
               p->buffer.at[s->index].room != p->buffer.at[s->index].shape;
    default:
        return true;
    }
}

static void print_arrays(const plan *p, const char *what, uint32_t n, const uint32_t *buffer, unsigned depth, text *out)
{
    for (uint32_t i = 0; i < n; i++) {
        indent(depth + 1, out);
        text_printf(out, "%s ", what);
        print_buffer(p, buffer[i], out);
        text_add(out, "\n");
    }
}

/* Its plans are printed where all plans of a program are. */
static void print_control(const plan *p, const plan_control *c, unsigned depth, text *out)
{
    if (c->form == IR_CHOICE) {
        text_add(out, "if ");
        print_host(p, c->value.at[0], out);
        text_printf(out, ": plan %u.0, else plan %u.1\n", c->number, c->number);
    } else if (c->form == IR_FOREIGN) {
        text_printf(out, "%s, else plan %u.0\n", c->of->foreign ? c->of->foreign->name : "a foreign function",
                    c->number);
    } else if (c->form == IR_WHILE) {
        text_printf(out, "while plan %u.0, then as long as it says so: plan %u.1\n", c->number, c->number);
    } else {
        text_add(out, "repeat ");
        print_host(p, c->value.at[0], out);
        text_printf(out, " times: plan %u.0", c->number);
        for (uint32_t i = 1; i < c->of->regions; i++)
            text_printf(out, ", or %s%u rounds at once: plan %u.%u", c->of->region[i].many ? "up to " : "",
                        c->of->region[i].rounds, c->number, i);
        text_add(out, "\n");
    }
    print_arrays(p, c->form == IR_CHOICE ? "uses" : "begins with", c->of->states, c->input.at, depth, out);
    print_arrays(p, "uses", c->input.n - c->of->states, c->input.at + c->of->states, depth, out);
    for (uint32_t k = 0; k < c->part.n; k++)
        if (c->part.at[k])
            print_arrays(p, "gives", 1, &(uint32_t){c->part.at[k] - 1}, depth, out);
}

static void print_step(const plan *p, const plan_step *s, unsigned depth, text *out)
{
    if (s->op == PLAN_EVALUATE)
        print_evaluation(p, s, depth, out);
    if (!told(p, s))
        return;
    indent(depth, out);
    switch (s->op) {
    case PLAN_CHECK:
        text_add(out, "check ");
        print_host(p, p->check.at[s->index].left, out);
        text_add(out, " == ");
        print_host(p, p->check.at[s->index].right, out);
        text_printf(out, ", or \"%s\"\n", p->check.at[s->index].what);
        return;
    case PLAN_RESULT:
        text_printf(out, "result %u has the shape ", s->index);
        print_shape(p, p->buffer.at[p->result.at[s->index].buffer].shape, out);
        break;
    case PLAN_ALLOC:
        print_alloc(p, s->index, out);
        return;
    case PLAN_LAUNCH:
        print_launch(p, &p->launch.at[s->index], depth, out);
        return;
    case PLAN_SWAP:
        text_add(out, "swap ");
        print_buffer(p, s->index, out);
        text_add(out, ", ");
        print_buffer(p, s->last, out);
        break;
    case PLAN_BEGIN:
        text_add(out, "copy to ");
        print_buffer(p, s->index, out);
        text_add(out, " from ");
        print_buffer(p, s->last, out);
        break;
    case PLAN_ROUNDS:
        text_add(out, p->cluster.at[s->index].sorts ? "rounds while not sorted" : "rounds while left > 1");
        break;
    case PLAN_IF:
    case PLAN_FOREIGN:
    case PLAN_WHILE:
    case PLAN_REPEAT:
        print_control(p, &p->control.at[s->index], depth, out);
        return;
    case PLAN_COPY:
        text_printf(out, "copy to result %u from ", s->index);
        print_buffer(p, p->result.at[s->index].buffer, out);
        break;
    default:
        text_add(out, s->op == PLAN_CLEAR ? "clear " : "free ");
        print_buffer(p, s->index, out);
    }
    text_add(out, "\n");
}

static void print_steps(const plan *p, uint32_t first, uint32_t last, unsigned depth, text *out)
{
    for (uint32_t i = first; i < last; i = plan_behind(p, i)) {
        print_step(p, &p->step.at[i], depth, out);
        print_steps(p, i + 1, plan_behind(p, i), depth + 1, out);
    }
}

void plan_print(const plan *p, text *out)
{
    uint32_t temporaries = 0;
    for (uint32_t i = 0; i < p->buffer.n; i++)
        temporaries += p->buffer.at[i].place == PLAN_TEMPORARY;
    text_printf(out, "plan: %u clusters, %u buffers between them\n", p->cluster.n, temporaries);
    print_steps(p, 0, p->step.n, 0, out);
}
