/* Controls: programs within the program, of which the run chooses or which it repeats, and their results. What a region
 * takes and gives is checked here, so that whoever runs it needs to look at nothing but its tables. */
#include "ir/graft.h"
#include "ir/intern.h"

typedef struct making {
    ir_program *p;
    uint32_t site;
    const char *name;
    const ir_control *c;
    uint32_t inputs;
    const ir_id *input;
} making;

static bool same_element(const ir_array *a, const ir_array *b)
{
    return a->rank == b->rank && a->components == b->components &&
           !memcmp(a->type, b->type, a->components * sizeof *a->type);
}

/* The array that a region's result is; 0 if there is none. */
static ir_id result_array(const ir_region *r, uint32_t k)
{
    const ir_program *p = r->program;
    uint32_t at = r->result[k];
    if (at & IR_PASSED)
        return (at & ~(uint32_t)IR_PASSED) < p->input.n ? p->input.at[at & ~(uint32_t)IR_PASSED] : 0;
    return at < p->output.n ? p->output.at[at] : 0;
}

static const ir_array *result_of(const ir_region *r, uint32_t k)
{
    ir_id array = result_array(r, k);
    return array ? ir_info(r->program, array) : NULL;
}

static bool is_flag(const ir_array *a)
{
    return a && a->rank == 0 && a->components == 1 && a->type[0] == T_BOOL;
}

/* How many results a region of a control has, beside the parts. */
static uint32_t results_of(const ir_control *c, uint32_t region, uint32_t *parts)
{
    *parts = c->form == IR_WHILE && region == 0 ? 0 : c->parts;
    return c->form == IR_WHILE ? 1 : 0;
}

/* Does every extent that has a name get a value? */
static bool knows_extents(const ir_program *p, const ir_region *r)
{
    const ir_program *q = r->program;
    bool *known = arena_alloc(p->arena, q->dim.n + 1), all = true;
    for (uint32_t i = 0; i < r->values; i++)
        known[r->dim[i]] = true;
    if (r->index && r->index <= q->dim.n)
        known[r->index - 1] = true;
    if (r->many && r->many <= q->dim.n)
        known[r->many - 1] = true;
    for (uint32_t i = 0; i < q->number.n; i++)
        known[q->number.at[i].dim] = true;
    for (uint32_t i = 0; i < q->input.n; i++)
        for (unsigned d = 0; d < ir_info(q, q->input.at[i])->rank; d++) {
            const ir_node *e = ir_at(q, ir_info(q, q->input.at[i])->shape[d]);
            if (e->kind == IR_DIM)
                known[e->u.literal] = true;
        }
    for (uint32_t k = 0; k < q->dim.n; k++)
        all &= known[k];
    return all;
}

static bool check_region(const making *m, uint32_t number)
{
    const ir_region *r = &m->c->region[number];
    const ir_program *q = r->program;
    uint32_t parts, flags = results_of(m->c, number, &parts);
    if (q->input.n < m->c->states)
        return ir_fail(m->p, m->site, "%s: region %u takes %u arrays, but the state has %u", m->name, number,
                       q->input.n, m->c->states);
    for (uint32_t i = 0; i < q->input.n; i++) {
        const ir_array *in = ir_info(q, q->input.at[i]);
        if (r->source[i] >= m->inputs || (i < m->c->states && r->source[i] != i) || in->data ||
            !same_element(in, ir_info(m->p, m->input[r->source[i]])))
            return ir_fail(m->p, m->site,
                           "%s: input %u of region %u is not what it is given; types and ranks are the same", m->name,
                           i, number);
    }
    for (uint32_t i = 0; i < r->values; i++)
        if (r->value[i] >= m->c->values || r->dim[i] >= q->dim.n ||
            ir_at(m->p, m->c->value[r->value[i]])->type != T_I64)
            return ir_fail(
                m->p, m->site,
                "%s: value %u of region %u is not what it is given; values are i64, and extents there have them",
                m->name, i, number);
    if (!knows_extents(m->p, r))
        return ir_fail(m->p, m->site,
                       "%s: an extent of region %u has no value; it is one of an input, or one of its values", m->name,
                       number);
    if (r->index > q->dim.n || r->many > q->dim.n)
        return ir_fail(m->p, m->site, "%s: region %u has no number of the round; it is one of its extents", m->name,
                       number);
    if (r->rounds < 1 || r->most > m->c->values || r->limit > m->c->values || (!r->many && r->limit) ||
        (!number && (r->many || r->most || r->rounds > 1)))
        return ir_fail(m->p, m->site, "%s: region %u does not say how many rounds it goes; the first one goes one",
                       m->name, number);
    for (uint32_t k = 0; k < parts; k++) {
        const ir_array *out = result_of(r, k),
                       *in = m->c->states ? ir_info(m->p, m->input[k]) : result_of(m->c->region, k);
        if (!out || !in || !same_element(out, in))
            return ir_fail(m->p, m->site, "%s: result %u of region %u is not what it should be; types and ranks stay",
                           m->name, k, number);
    }
    if (flags && !is_flag(result_of(r, parts)))
        return ir_fail(m->p, m->site, "%s: region %u does not say whether to go on; its last result is one bool",
                       m->name, number);
    return true;
}

static bool check(const making *m)
{
    const ir_control *c = m->c;
    const bool foreign = c->form == IR_FOREIGN, loop = c->form != IR_CHOICE && !foreign;
    const uint32_t least = c->form == IR_REPEAT || foreign ? 1 : 2, most = foreign                ? 1
                                                                           : c->form == IR_REPEAT ? IR_MOST_REGIONS
                                                                                                  : 2;
    if (c->regions < least || c->regions > most || (foreign && c->parts != 1) ||
        (loop && (c->parts != c->states || c->states > m->inputs)) || (!loop && c->states))
        return ir_fail(m->p, m->site, "%s: a control of %u regions with %u results; a loop has as many as its state",
                       m->name, c->regions, c->parts);
    for (uint32_t i = 0; i < m->inputs; i++)
        if (!m->input[i] || m->input[i] >= m->p->node.n || !ir_is_array(m->p, m->input[i]))
            return ir_fail(m->p, m->site, "%s: expected an array, found a scalar", m->name);
    if (c->form != IR_WHILE && !foreign && !c->values)
        return ir_fail(m->p, m->site, "%s: it does not say what to do; its first value does", m->name);
    for (uint32_t i = 0; i < c->values; i++) {
        ir_type wanted = c->form == IR_CHOICE && i == 0 ? T_BOOL : T_I64;
        if (!c->value[i] || !ir_expect_scalar(m->p, m->site, m->name, c->value[i]))
            return false;
        const ir_node *v = ir_at(m->p, c->value[i]);
        if (v->scope || v->type != (uint8_t)wanted)
            return ir_fail(m->p, m->site, "%s: value %u is no closed %s; convert it", m->name, i, ir_type_name(wanted));
    }
    if (c->depth > IR_MOST_CONTROLS)
        return ir_fail(m->p, m->site, "%s: loops and choices within each other, %u deep; %d is the most", m->name,
                       c->depth, IR_MOST_CONTROLS);
    for (uint32_t i = 0; i < c->regions; i++)
        if (!check_region(m, i))
            return false;
    return true;
}

static uint32_t depth_of(const ir_control *c)
{
    uint32_t depth = 1;
    for (uint32_t i = 0; i < c->regions; i++) {
        const ir_program *q = c->region[i].program;
        for (ir_id id = 1; id < q->node.n; id++)
            if (ir_at(q, id)->kind == IR_CONTROL && ir_info(q, id)->control->depth >= depth)
                depth = ir_info(q, id)->control->depth + 1;
    }
    return depth;
}

static ir_id *copy_list(arena *a, uint32_t n, const ir_id *from)
{
    ir_id *to = arena_array(a, *to, n + 1);
    if (n)
        memcpy(to, from, n * sizeof *to);
    return to;
}

uint32_t ir_control_add_value(ir_program *p, ir_control *c, ir_id term)
{
    ir_id *value = arena_array(p->arena, *value, c->values + 1u);
    if (c->values)
        memcpy(value, c->value, c->values * sizeof *value);
    value[c->values] = term;
    c->value = value;
    return ++c->values;
}

ir_id ir_control_new(ir_program *p, uint32_t site, const ir_control *control, uint32_t inputs, const ir_id *input)
{
    ir_control *c = arena_copy(p->arena, control, sizeof *control);
    making m = {p, site, ir_operation(p, site, ir_kind_name(IR_CONTROL)), c, inputs, input};
    c->depth = depth_of(c);
    if (!check(&m))
        return 0;
    c->region = arena_copy(p->arena, c->region, c->regions * sizeof *c->region);
    c->value = copy_list(p->arena, c->values, c->value);
    ir_array a = {.inputs = inputs, .control = c, .name = m.name};
    a.input = copy_list(p->arena, inputs, input);
    a.type = arena_new(p->arena, *a.type); /* of none */
    ir_node node = {.kind = IR_CONTROL, .site = site};
    node.u.info = arena_copy(p->arena, &a, sizeof a);
    vec_push(p->arena, &p->node, node);
    return p->node.n - 1;
}

/* --- what is known of extents outside --- */

/* Is the array of rank 0 visibly the value of this term? */
static bool is_value(const ir_program *p, ir_id array, ir_id term)
{
    const ir_array *a = ir_info(p, array);
    return ir_at(p, array)->kind == IR_GENERATE && a->rank == 0 && a->fn->results == 1 && a->fn->result[0] == term;
}

typedef struct way_out {
    const ir_program *p;
    const ir_control *c;
    const ir_region *r;
} way_out;

static ir_id value_outside(void *env, ir_id id)
{
    const way_out *w = env;
    const ir_node *n = ir_at(w->r->program, id);
    for (uint32_t i = 0; n->kind == IR_DIM && i < w->r->values; i++)
        if (w->r->dim[i] == n->u.literal)
            return w->c->value[w->r->value[i]];
    return 0;
}

/* A region's extent as a term outside; 0: it is none there. */
static ir_id extent_outside(ir_program *p, const ir_control *c, const ir_region *r, ir_id extent)
{
    way_out w = {p, c, r};
    ir_graft g = {.from = r->program, .to = p, .leaf = value_outside, .env = &w};
    ir_id term = ir_graft_term(&g, extent);
    return term ? ir_extent_normal(p, 0, term) : 0;
}

/* The number of the part that an extent reads; false if it is no such read of this control. */
static bool read_part(const ir_program *p, ir_id control, ir_id extent, uint32_t *number)
{
    if (!ir_is_part_extent(p, extent))
        return false;
    ir_id part = ir_at(p, extent)->array;
    *number = ir_at(p, part)->args;
    return ir_info(p, part)->input[0] == control;
}

/* Whoever wrote the program, does a loop's result have this extent? Either the extent stays, round after round, or a
 * number that is handed on beside the state always is the extent. */
static bool loop_extent(const ir_program *p, ir_id control, uint32_t k, unsigned d, ir_id extent)
{
    const ir_array *a = ir_info(p, control);
    const ir_control *c = a->control;
    ir_id first = ir_extent(p, a->input[k], d);
    uint32_t number = 0;
    bool varies = read_part(p, control, extent, &number),
         good = varies ? is_value(p, a->input[number], first) : extent == first;
    for (uint32_t i = c->form == IR_WHILE; i < c->regions && good; i++) {
        const ir_region *r = &c->region[i];
        ir_id after = result_of(r, k)->shape[d], before = ir_info(r->program, r->program->input.at[k])->shape[d];
        good = varies ? is_value(r->program, result_array(r, number), after) : after == before;
    }
    return good;
}

static bool choice_extent(ir_program *p, ir_id control, uint32_t k, unsigned d, ir_id extent)
{
    const ir_control *c = ir_info(p, control)->control;
    uint32_t number = 0;
    bool good = true, varies = read_part(p, control, extent, &number);
    for (uint32_t i = 0; i < c->regions && good; i++) {
        const ir_region *r = &c->region[i];
        ir_id inside = result_of(r, k)->shape[d];
        good =
            varies ? is_value(r->program, result_array(r, number), inside) : extent_outside(p, c, r, inside) == extent;
    }
    return good;
}

ir_id ir_part(ir_program *p, uint32_t site, ir_id control, uint32_t number, unsigned rank, const ir_id *shape,
              unsigned flags)
{
    const char *name = ir_operation(p, site, ir_kind_name(IR_PART));
    if (!control)
        return 0;
    if (control >= p->node.n || ir_at(p, control)->kind != IR_CONTROL || number >= ir_info(p, control)->control->parts)
        return ir_fail(p, site, "%s: there is no such result; they are numbered from 0 on", name);
    const ir_control *c = ir_info(p, control)->control;
    const ir_array *from = result_of(&c->region[c->form == IR_WHILE ? 1 : 0], number);
    ir_array a = {.rank = from->rank, .components = from->components, .type = from->type, .inputs = 1, .name = name};
    bool extent = flags & IR_EXTENT;
    if (rank != from->rank || (extent && (rank || from->components != 1 || from->type[0] != T_I64)))
        return ir_fail(p, site, "%s: result %u is of rank %u; its shape has as many extents", name, number,
                       (unsigned)from->rank);
    for (unsigned d = 0; d < rank; d++) {
        a.shape[d] = ir_extent_normal(p, site, shape[d]);
        if (!a.shape[d])
            return 0;
        bool seen = c->form == IR_CHOICE || c->form == IR_FOREIGN ? choice_extent(p, control, number, d, a.shape[d])
                                                                  : loop_extent(p, control, number, d, a.shape[d]);
        if (!seen)
            return ir_fail(p, site,
                           "%s: it is not seen that dimension %u of result %u has this extent; read it of a part that "
                           "is marked as an extent",
                           name, d, number);
    }
    a.type = arena_copy(p->arena, a.type, a.components * sizeof *a.type);
    a.input = arena_copy(p->arena, &control, sizeof control);
    ir_node node = {.kind = IR_PART, .flags = extent ? IR_EXTENT : 0, .site = site, .args = number};
    node.u.info = arena_copy(p->arena, &a, sizeof a);
    vec_push(p->arena, &p->node, node);
    return p->node.n - 1;
}

bool ir_is_part_extent(const ir_program *p, ir_id extent)
{
    const ir_node *n = ir_at(p, extent);
    if (n->kind != IR_READ || n->n)
        return false;
    const ir_node *from = ir_at(p, n->array);
    return from->kind == IR_PART && from->flags & IR_EXTENT;
}
