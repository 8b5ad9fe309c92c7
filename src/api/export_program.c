/* A tape becomes a function of a driver in C, and an object in the description, for other hosts: memory that is taken
 * and given back, copies, launches, and regions, whose programs are functions of their own. */
#include "api/export_driver.h"

#include <inttypes.h>

static bool program_of(driven *d);

bool driven_refuse(driven *d, const char *why)
{
    d->why = d->why ? d->why : why;
    return false;
}

static void begin_step(writer *w, const char *what)
{
    text_printf(w->d->json, "%s\n      {\"do\": \"%s\"", w->steps++ ? "," : "", what);
}

/* --- launches --- */

static void list_memory(writer *w, const run_taped *t)
{
    const uint32_t n = t->variant->built->memory.n;
    text_printf(&w->body, "    block *const m[] = {");
    text_add(w->d->json, ", \"buffers\": [");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&w->body, "b[%u], ", t->buffer[i]);
        text_printf(w->d->json, "%s%u", i ? ", " : "", t->buffer[i]);
    }
    text_add(&w->body, "0};\n    const int64_t o[] = {");
    text_add(w->d->json, "], \"offsets\": [");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&w->body, "%" PRId64 ", ", t->offset[i]);
        text_printf(w->d->json, "%s%" PRId64, i ? ", " : "", t->offset[i]);
    }
    text_add(&w->body, "0};\n");
    text_add(w->d->json, "]");
}

static bool launch(writer *w, const run_taped *t)
{
    driven *d = w->d;
    const run_variant *v = t->variant;
    const uint32_t n = v->built->argument.n, number = d->kernel_number(d->env, v->built);
    bool *varies = arena_alloc(d->arena, v->host.step.n + 1);
    begin_step(w, "launch");
    text_printf(d->json, ", \"kernel\": %u, \"pieces\": %" PRId64, number, t->pieces);
    text_add(&w->body, "    {\n");
    list_memory(w, t);
    text_add(&w->body, "    uint64_t a[] = {");
    text_add(d->json, ", \"arguments\": [");
    for (uint32_t i = 0; i < n; i++) {
        text_printf(&w->body, "UINT64_C(%" PRIu64 "), ", t->arg[i]);
        text_printf(d->json, "%s%" PRIu64, i ? ", " : "", t->arg[i]);
    }
    text_add(&w->body, "0};\n");
    text_add(d->json, "], \"computed\": [");
    const char *between = "";
    for (uint32_t i = 0; i < n; i++) {
        const run_argument_of *a = &v->argument[i];
        if (a->slot || !driven_varies(d, &v->host, a->number, varies))
            continue;
        text_printf(d->json, "%s%u", between, i);
        between = ", ";
        if (!driven_value(d, &w->body, &v->host, a->number, arena_printf(d->arena, "a[%u]", i)))
            return false;
    }
    text_add(d->json, "]}");
    if (v->loops_on_data) /* it must not see what a launch that failed has left undone */
        text_add(&w->body, "    if (!settled(s))\n        goto end;\n");
    text_printf(&w->body, "    if (!launch(s, %u, %" PRId64 ", m, o, a))\n        goto end;\n    }\n", number,
                t->pieces);
    return true;
}

/* --- regions --- */

typedef struct looping { /* a control, of which the step's number makes names */
    const plan_control *p;
    const ir_control *of;
    uint32_t n;                     /* the step */
    uint32_t *first;                /* per part: its first component; then how many there are */
    driven inside[IR_MOST_REGIONS]; /* the programs; tape NULL: it has not run */
    uint8_t *varies;                /* per input: extents that differ from round to round, or from run to run */
} looping;

static uint32_t components(const ir_program *q, uint32_t result)
{
    return ir_info(q, result & IR_PASSED ? q->input.at[result & ~(uint32_t)IR_PASSED] : q->output.at[result])
        ->components;
}

static uint32_t port_of(const ir_program *q, uint32_t n, const ir_id *list)
{
    uint32_t port = 0;
    for (uint32_t i = 0; i < n; i++)
        port += ir_info(q, list[i])->components;
    return port;
}

/* The tape of a region; false if there are several, for arguments of other sizes, which are not told apart by what
 * they compute. */
static bool tape_of_region(driven *d, const ir_region *r, const run_tape **out)
{
    *out = NULL;
    for (const run_tape *t = run_tapes_all(d->root); t; t = t->next) {
        if (t->r->l->ir != r->program || !t->whole)
            continue;
        if (*out && (*out)->r != t->r && !d->sizer)
            return driven_refuse(d, "a loop has run in several versions, for arrays of other sizes");
        if (!*out)
            *out = t;
    }
    return true;
}

/* The extents of a region's result that are not certain to be those of the state. */
static uint8_t changed_by(const ir_region *r, uint32_t state)
{
    const ir_program *q = r->program;
    const uint32_t result = r->result[state];
    const ir_array *from = ir_info(q, q->input.at[state]);
    const ir_array *to =
        ir_info(q, result & IR_PASSED ? q->input.at[result & ~(uint32_t)IR_PASSED] : q->output.at[result]);
    uint8_t changed = 0;
    for (unsigned k = 0; k < to->rank; k++)
        if (from->shape[k] != to->shape[k])
            changed |= (uint8_t)(1 << k);
    return changed;
}

static void find_varying_inputs(driven *d, looping *l)
{
    const plan *p = d->tape->r->plan;
    l->varies = arena_alloc(d->arena, l->p->input.n + 1);
    for (uint32_t i = 0; i < l->p->input.n; i++) {
        const plan_shape *s = &p->shape.at[p->buffer.at[l->p->input.at[i]].shape];
        for (unsigned k = 0; k < s->rank; k++)
            if (d->varies[s->extent[k]])
                l->varies[i] |= (uint8_t)(1 << k);
    }
    for (uint32_t i = l->of->form == IR_WHILE; i < l->of->regions; i++)
        for (uint32_t k = 0; k < l->of->states; k++)
            l->varies[k] |= changed_by(&l->of->region[i], k);
}

static void find_varying_extents(driven *in, const looping *l, const ir_region *r)
{
    const plan *p = in->tape->r->plan;
    in->input_varies = arena_alloc(in->arena, p->inputs + 1);
    for (uint32_t i = 0; i < p->inputs; i++)
        in->input_varies[i] = l->varies[i < l->of->states ? i : r->source[i]];
    for (uint32_t i = 0; i < p->binding.n; i++) {
        const plan_binding *b = &p->binding.at[i];
        if (b->named && in->input_varies[b->input] >> b->dimension & 1)
            in->dim_varies[b->number] = true;
    }
}

static bool enter(driven *d, looping *l, uint32_t region)
{
    const ir_region *r = &l->of->region[region];
    const plan *p = d->tape->r->plan;
    bool *varies = arena_alloc(d->arena, p->host.step.n + 1);
    driven *in = &l->inside[region];
    *in = *d;
    if (!tape_of_region(d, r, &in->tape))
        return false;
    if (!in->tape)
        return true;
    in->dim_varies = arena_alloc(d->arena, r->program->dim.n + 1);
    for (uint32_t i = 0; i < r->values; i++)
        in->dim_varies[r->dim[i]] = driven_varies(d, &p->host, l->p->value.at[r->value[i]], varies);
    if (r->index)
        in->dim_varies[r->index - 1] = true;
    if (r->many)
        in->dim_varies[r->many - 1] = true;
    if (d->sizer)
        find_varying_extents(in, l, r);
    const bool good = program_of(in);
    d->why = in->why;
    return good;
}

/* What a region's program is given; in the description "s3" is component 3 of the state, "b3" buffer 3. */
static void region_inputs(writer *w, const looping *l, const ir_region *r)
{
    const ir_program *q = r->program;
    const char *between = "";
    text_add(&w->body, "    block *const i[] = {");
    text_add(w->d->json, "\"inputs\": [");
    for (uint32_t i = 0; i < q->input.n; i++)
        for (uint32_t k = 0; k < ir_info(q, q->input.at[i])->components; k++) {
            const bool state = i < l->of->states;
            const uint32_t number = state ? l->first[i] + k : l->p->input.at[r->source[i]] + k;
            if (state)
                text_printf(&w->body, "st%u[%u], ", l->n, number);
            else
                text_printf(&w->body, "b[%u], ", number);
            text_printf(w->d->json, "%s\"%c%u\"", between, state ? 's' : 'b', number);
            between = ", ";
        }
    text_add(&w->body, "0};\n");
    text_add(w->d->json, "]");
}

/* Result k of the region from component `at` of the next state on: "o3" is output 3 of its program, "i3" input 3. */
static void region_result(writer *w, const looping *l, const ir_region *r, uint32_t k, uint32_t at, bool more)
{
    const ir_program *q = r->program;
    const uint32_t result = r->result[k], number = result & ~(uint32_t)IR_PASSED;
    const bool passed = result & IR_PASSED;
    const uint32_t port = passed ? port_of(q, number, q->input.at) : port_of(q, number, q->output.at);
    for (uint32_t i = 0; i < components(q, result); i++) {
        text_printf(&w->body, "    nx%u[%u] = share(%c[%u]);\n", l->n, at + i, passed ? 'i' : 'r', port + i);
        text_printf(w->d->json, "%s\"%c%u\"", more || i ? ", " : "", passed ? 'i' : 'o', port + i);
    }
}

static bool region(writer *w, const looping *l, uint32_t number, bool condition)
{
    const ir_region *r = &l->of->region[number];
    const ir_program *q = r->program;
    const driven *in = &l->inside[number];
    const uint32_t parts = l->of->form == IR_WHILE && number == 0 ? 0 : l->of->parts;
    const uint32_t ports = port_of(q, q->output.n, q->output.at);
    if (!in->tape) {
        text_add(&w->body,
                 "    said(s, \"a part of the program is wanted that no recorded call has run\", 0);\n    goto end;\n");
        text_add(w->d->json, "{\"program\": null}");
        return true;
    }
    text_printf(w->d->json, "{\"program\": %u, \"rounds\": %u, \"up_to\": %s, ", in->number, r->rounds,
                r->many ? "true" : "false");
    text_add(&w->body, "    {\n");
    region_inputs(w, l, r);
    text_printf(&w->body, "    block *r[%u] = {0};\n    int64_t e[] = {", ports + 1);
    for (uint32_t i = 0; i < q->dim.n; i++)
        text_printf(&w->body, "%" PRId64 ", ", in->tape->dim[i]);
    text_add(&w->body, "0};\n");
    const plan *inside = in->tape->r->plan;
    for (uint32_t i = 0; i < inside->binding.n && w->d->sizer; i++) {
        const plan_binding *b = &inside->binding.at[i];
        if (b->named && in->input_varies[b->input] >> b->dimension & 1)
            text_printf(&w->body, "    e[%u] = i[%u]->extent[%u];\n", b->number, inside->input_first[b->input],
                        b->dimension);
    }
    for (uint32_t i = 0; i < r->values; i++)
        text_printf(&w->body, "    e[%u] = w%u[%u];\n", r->dim[i], l->n, r->value[i]);
    if (r->index)
        text_printf(&w->body, "    e[%u] = round;\n", r->index - 1);
    if (r->many)
        text_printf(&w->body, "    e[%u] = many;\n", r->many - 1);
    text_printf(&w->body, "    if (!p%u(s, i, r, e))\n        goto end;\n", in->number);
    text_add(w->d->json, ", \"results\": [");
    for (uint32_t k = 0; k < parts; k++)
        region_result(w, l, r, k, l->first[k], k > 0);
    if (condition)
        region_result(w, l, r, parts, l->first[l->of->parts], parts > 0);
    text_add(w->d->json, "]}");
    text_printf(&w->body, "    drop_all(s, r, %u);\n    }\n", ports);
    return true;
}

/* Numbers from outside, computed once. */
static bool region_values(writer *w, const looping *l)
{
    driven *d = w->d;
    text_printf(&w->body, "    int64_t w%u[%u] = {0};\n    (void)w%u;\n", l->n, l->p->value.n + 1, l->n);
    for (uint32_t i = 0; i < l->p->value.n; i++)
        if (!driven_value(d, &w->body, &w->p->host, l->p->value.at[i], arena_printf(d->arena, "w%u[%u]", l->n, i)))
            return false;
    return true;
}

static void region_state(writer *w, const looping *l)
{
    const uint32_t n = l->first[l->of->parts];
    text_printf(&w->top, "    block *st%u[%u] = {0}, *nx%u[%u] = {0};\n", l->n, n + 1, l->n, n + 2);
    text_printf(&w->end, "    drop_all(s, st%u, %u);\n    drop_all(s, nx%u, %u);\n", l->n, n, l->n, n + 1);
    text_add(w->d->json, ", \"state\": [");
    for (uint32_t k = 0; k < l->of->states; k++)
        for (uint32_t i = l->first[k]; i < l->first[k + 1]; i++) {
            const uint32_t buffer = l->p->input.at[k] + i - l->first[k];
            text_printf(&w->body, "    st%u[%u] = share(b[%u]);\n", l->n, i, buffer);
            if (l->p->dies[k] && w->p->buffer.at[buffer].place == PLAN_TEMPORARY)
                text_printf(&w->body, "    drop(s, &b[%u]);\n", buffer);
            text_printf(w->d->json, "%s%u", i ? ", " : "", buffer);
        }
    text_add(w->d->json, "]");
}

static void region_parts(writer *w, const looping *l)
{
    const char *between = "";
    text_add(w->d->json, ", \"parts\": [");
    for (uint32_t k = 0; k < l->of->parts; k++)
        for (uint32_t i = l->first[k]; i < l->first[k + 1]; i++) {
            const uint32_t part = l->p->part.at[k];
            text_printf(w->d->json, part ? "%s%u" : "%snull", between, part ? part - 1 + i - l->first[k] : 0);
            between = ", ";
            if (part)
                text_printf(&w->body, "    if (!own(s, &st%u[%u], &b[%u]))\n        goto end;\n", l->n, i,
                            part - 1 + i - l->first[k]);
        }
    text_add(w->d->json, "]}");
    text_printf(&w->body, "    drop_all(s, st%u, %u);\n    }\n", l->n, l->first[l->of->parts]);
}

static bool write_while(writer *w, const looping *l)
{
    const uint32_t n = l->first[l->of->parts];
    text_add(w->d->json, ", \"begin\": ");
    text_add(&w->body, "    int more = 0;\n");
    if (!region(w, l, 0, true))
        return false;
    text_printf(&w->body, "    if (!flag(s, &nx%u[%u], &more))\n        goto end;\n    while (more) {\n", l->n, n);
    text_add(w->d->json, ", \"round\": ");
    if (!region(w, l, 1, true))
        return false;
    text_printf(&w->body,
                "    if (!flag(s, &nx%u[%u], &more))\n        goto end;\n    go_on(s, st%u, nx%u, %u);\n    }\n", l->n,
                n, l->n, l->n, n);
    return true;
}

/* How many of the rounds that are left a region does at once: as the library has it. */
static void rounds_of(writer *w, const looping *l, uint32_t i)
{
    const ir_region *r = &l->of->region[i];
    text_printf(&w->body, "    m = count - round < %u ? count - round : %u;\n", r->rounds, r->rounds);
    if (!r->many)
        text_printf(&w->body, "    m = count - round < %u ? 0 : %u;\n", r->rounds, r->rounds);
    if (!r->many && r->most)
        text_printf(&w->body, "    m = w%u[%u] < %u ? 0 : m;\n", l->n, r->most - 1, r->rounds);
    if (r->many && r->most)
        text_printf(&w->body, "    m = w%u[%u] < 2 ? 0 : m > w%u[%u] ? w%u[%u] : m;\n", l->n, r->most - 1, l->n,
                    r->most - 1, l->n, r->most - 1);
    if (r->many && r->limit)
        text_printf(&w->body, "    m = m > w%u[%u] - round ? w%u[%u] - round : m;\n", l->n, r->limit - 1, l->n,
                    r->limit - 1);
    text_printf(&w->body, "    if (m >= 1 && m >= many) {\n        many = m;\n        which = %u;\n    }\n", i);
}

static bool write_repeat(writer *w, const looping *l)
{
    text_printf(&w->body,
                "    const int64_t count = w%u[0];\n    int64_t round = 0;\n    while (round < count) {\n"
                "    int64_t many = 0, m = 1;\n    int which = -1;\n    (void)m;\n",
                l->n);
    if (l->inside[0].tape)
        text_add(&w->body, "    many = 1;\n    which = 0;\n");
    for (uint32_t i = 1; i < l->of->regions; i++)
        if (l->inside[i].tape)
            rounds_of(w, l, i);
    text_add(w->d->json, ", \"rounds\": [");
    for (uint32_t i = 0; i < l->of->regions; i++) {
        if (i)
            text_add(w->d->json, ", ");
        text_printf(&w->body, "    if (which == %u) {\n", i);
        if (!region(w, l, i, false))
            return false;
        text_add(&w->body, "    }\n");
    }
    text_add(w->d->json, "]");
    text_printf(&w->body,
                "    if (which < 0) {\n"
                "        said(s, \"rounds are left that no recorded call has run\", 0);\n        goto end;\n    }\n"
                "    go_on(s, st%u, nx%u, %u);\n    round += many;\n    }\n",
                l->n, l->n, l->first[l->of->parts]);
    return true;
}

static bool write_choice(writer *w, const looping *l)
{
    const uint32_t n = l->first[l->of->parts];
    text_add(w->d->json, ", \"alternatives\": [");
    if (l->of->form == IR_CHOICE)
        text_printf(&w->body, "    if (w%u[0]) {\n", l->n);
    if (!region(w, l, 0, false))
        return false;
    if (l->of->form == IR_CHOICE) {
        text_add(&w->body, "    } else {\n");
        text_add(w->d->json, ", ");
        if (!region(w, l, 1, false))
            return false;
        text_add(&w->body, "    }\n");
    }
    text_add(w->d->json, "]");
    text_printf(&w->body, "    go_on(s, st%u, nx%u, %u);\n", l->n, l->n, n);
    return true;
}

/* The regions are told the extents of what they are given. */
static bool say_extents(writer *w, const plan_control *p)
{
    for (uint32_t i = 0; i < p->input.n; i++) {
        const uint32_t n = ir_info(w->d->tape->r->l->ir, w->p->buffer.at[p->input.at[i]].array)->components;
        for (uint32_t k = p->input.at[i]; k < p->input.at[i] + n; k++)
            if (!driven_extents(w, k, arena_printf(w->d->arena, "b[%u]", k)))
                return false;
    }
    return true;
}

bool driven_control(writer *w, uint32_t number, uint32_t control)
{
    driven *d = w->d;
    const plan_control *p = &w->p->control.at[control];
    looping *l = arena_new(d->arena, *l);
    *l = (looping){.p = p, .of = p->of, .n = number};
    if (d->sizer)
        find_varying_inputs(d, l);
    if (d->sizer && !say_extents(w, p))
        return false;
    const ir_region *r = &p->of->region[p->form == IR_WHILE];
    l->first = arena_array(d->arena, uint32_t, p->of->parts + 1);
    for (uint32_t k = 0; k < p->of->parts; k++)
        l->first[k + 1] = l->first[k] + components(r->program, r->result[k]);
    for (uint32_t i = 0; i < p->of->regions; i++)
        if (!enter(d, l, i))
            return false;
    static const char *const name[] = {
        [IR_CHOICE] = "if", [IR_WHILE] = "while", [IR_REPEAT] = "repeat", [IR_FOREIGN] = "all"};
    begin_step(w, name[p->form]);
    text_add(&w->body, "    {\n");
    if (!region_values(w, l))
        return false;
    region_state(w, l);
    const bool good = p->form == IR_WHILE    ? write_while(w, l)
                      : p->form == IR_REPEAT ? write_repeat(w, l)
                                             : write_choice(w, l);
    if (good)
        region_parts(w, l);
    return good;
}

/* --- steps --- */

static void about(writer *w, const char *what, const char *names, uint32_t one, uint32_t other, size_t bytes)
{
    begin_step(w, what);
    text_printf(w->d->json, names, one, other);
    if (bytes)
        text_printf(w->d->json, ", \"bytes\": %zu", bytes);
    text_add(w->d->json, "}");
}

static bool write_step(writer *w, uint32_t number)
{
    const run_taped *t = &w->d->tape->step.at[number];
    text *out = &w->body;
    switch (t->op) {
    case PLAN_ALLOC:
        about(w, "take", ", \"buffer\": %u", t->index, 0, t->bytes);
        text_printf(out, "    if (!b[%u] && !make(s, &b[%u], %zu))\n        goto end;\n", t->index, t->index, t->bytes);
        return true;
    case PLAN_FREE:
        about(w, "let go", ", \"buffer\": %u", t->index, 0, 0);
        text_printf(out, "    drop(s, &b[%u]);\n", t->index);
        return true;
    case PLAN_CLEAR:
        about(w, "clear", ", \"buffer\": %u", t->index, 0, t->bytes);
        text_printf(out, "    if (!clear(s, b[%u], %zu))\n        goto end;\n", t->index, t->bytes);
        return true;
    case PLAN_BEGIN:
        about(w, "copy", ", \"to\": %u, \"from\": %u", t->index, t->last, t->bytes);
        text_printf(out, "    if (!copy(s, b[%u], b[%u], %zu))\n        goto end;\n", t->index, t->last, t->bytes);
        return true;
    case PLAN_SWAP:
        about(w, "swap", ", \"buffer\": %u, \"with\": %u", t->index, t->last, 0);
        text_printf(out, "    { block *x = b[%u]; b[%u] = b[%u]; b[%u] = x; }\n", t->index, t->index, t->last, t->last);
        return true;
    case PLAN_COPY:
        about(w, "copy to result", ", \"result\": %u, \"from\": %u", t->index, w->p->result.at[t->index].buffer,
              t->bytes);
        text_printf(out, "    if (!make(s, &out[%u], %zu) || !copy(s, out[%u], b[%u], %zu))\n        goto end;\n",
                    t->index, t->bytes, t->index, w->p->result.at[t->index].buffer, t->bytes);
        return true;
    case PLAN_LAUNCH:
        return launch(w, t);
    default:
        return driven_control(w, number, t->index);
    }
}

/* Is all that decides how much memory there is, and how launches go about it, the same each time? */
static bool is_fixed(const driven *d)
{
    const plan *p = d->tape->r->plan;
    bool *varies = arena_alloc(d->arena, p->host.step.n + 1);
    if (p->host.step.n)
        driven_varies(d, &p->host, p->host.step.n - 1, varies);
    for (uint32_t i = 0; i < p->shape.n; i++)
        for (unsigned k = 0; k < p->shape.at[i].rank; k++)
            if (varies[p->shape.at[i].extent[k]])
                return false;
    for (uint32_t i = 0; i < p->check.n; i++)
        if (varies[p->check.at[i].left] || varies[p->check.at[i].right])
            return false;
    return true;
}

static bool program_of(driven *d)
{
    const plan *p = d->tape->r->plan;
    writer w = {.d = d, .p = p};
    text own;
    text_init(&w.body, d->arena);
    text_init(&w.top, d->arena);
    text_init(&w.end, d->arena);
    text_init(&own, d->arena);
    if (d->tape->why)
        return driven_refuse(d, d->tape->why);
    if (!d->tape->whole)
        return driven_refuse(d, "the recorded call failed; record one that does not");
    if (!d->sizer && (d->tape->differs || !is_fixed(d)))
        return driven_refuse(d, "what it launches depends on the data"); /* as the plan says, then */
    if (d->sizer)
        driven_find_values(d);
    d->json = &own;
    text_add(&own, "    {\"inputs\": [");
    for (uint32_t i = 0, n = 0; i < p->buffer.n; i++)
        if (p->buffer.at[i].place == PLAN_INPUT) {
            text_printf(&w.body, "    b[%u] = share(in[%u]);\n", i, p->buffer.at[i].port);
            text_printf(&own, "%s{\"buffer\": %u, \"input\": %u}", n++ ? ", " : "", i, p->buffer.at[i].port);
        }
    text_add(&own, "],\n     \"steps\": [");
    bool good = !d->sizer || driven_plan(&w);
    for (uint32_t i = 0; i < d->tape->step.n && good && !d->sizer; i++)
        good = write_step(&w, i);
    text_add(&own, "],\n     \"results\": [");
    for (uint32_t i = 0; i < p->result.n; i++) {
        const plan_result *r = &p->result.at[i];
        text_printf(&own, r->copied ? "%snull" : "%s%u", i ? ", " : "", r->buffer);
        if (!r->copied)
            text_printf(&w.body, "    out[%u] = share(b[%u]);\n", i, r->buffer);
        if (d->sizer)
            good = good && driven_extents(&w, r->buffer, arena_printf(d->arena, "out[%u]", i));
    }
    text_add(&own, "]}");
    if (!good)
        return false;
    d->number = (*d->count)++;
    text_printf(d->programs, "%s%s", d->number ? ",\n" : "", own.at);
    text_printf(d->functions,
                "static int p%u(driver *s, block *const *in, block **out, const int64_t *dim)\n{\n"
                "    block *b[%u] = {0};\n    int good = 0;\n    (void)in;\n    (void)dim;\n%s%s    good = 1;\nend:\n"
                "    drop_all(s, b, %u);\n%s    if (!good)\n        drop_all(s, out, %u);\n    return good;\n}\n\n",
                d->number, p->buffer.n + 1, w.top.n ? w.top.at : "", w.body.n ? w.body.at : "", p->buffer.n,
                w.end.n ? w.end.at : "", p->result.n);
    return true;
}

bool driven_program(driven *d)
{
    return program_of(d);
}
