/* What is said when a call fails: the operation, its place, the values. */
#include "run/program.h"

#include <inttypes.h>

bool run_fails(run *c, sn_status status, const char *format, ...)
{
    if (c->status != SN_OK)
        return false;
    va_list args;
    text t;
    text_init(&t, c->arena);
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    c->status = status;
    c->message = t.at;
    return false;
}

void run_read_terms(run *c)
{
    run_lock(c->r);
    c->locked = true;
}

void run_read_ends(run *c)
{
    c->locked = false;
    run_unlock(c->r);
}

static ir_site site_of(run *c, uint32_t site)
{
    run_read_terms(c);
    const ir_program *p = c->r->l->ir;
    ir_site s = site && site < p->site.n ? p->site.at[site] : (ir_site){0};
    run_read_ends(c);
    return s;
}

const char *run_place(run *c, uint32_t site)
{
    ir_site s = site_of(c, site);
    const char *operation = s.operation ? s.operation : "operation";
    if (!s.file)
        return s.operation ? arena_printf(c->arena, "%s: ", operation) : "";
    return arena_printf(c->arena, "%s:%u: %s: ", s.file, s.line, operation);
}

bool run_fails_check(run *c, const plan_check *k, int64_t left, int64_t right)
{
    ir_site s = site_of(c, k->site); /* the condition's text names the operation */
    const char *place = s.file ? arena_printf(c->arena, "%s:%u: ", s.file, s.line) : "";
    return run_fails(c, SN_SHAPE_MISMATCH, "%s%s: %" PRId64 " and %" PRId64, place, k->what, left, right);
}

static bool divides(run *c, uint32_t site)
{
    const char *name = site_of(c, site).operation;
    ir_op op = name ? ir_op_named(name, strlen(name)) : OP_NONE;
    return op && ir_ops[op].flags & OP_PARTIAL;
}

bool run_fails_kernel(run *c, const k_error *e)
{
    uint32_t site = k_place_site(e->site), component = k_place_component(e->site);
    const char *place = run_place(c, site), *in = component ? arena_printf(c->arena, " in dimension %u", component - 1) : "";
    bool division = divides(c, site);
    if (division && e->value == 0)
        return run_fails(c, SN_DIVISION, "%sdivision by zero, at element %" PRId64, place, e->element);
    if (division)
        return run_fails(c, SN_DIVISION,
                         "%sthe quotient of the smallest number by -1 is not representable, at element %" PRId64, place,
                         e->element);
    return run_fails(c, SN_OUT_OF_RANGE, "%sindex %" PRId64 "%s is outside the extent %" PRId64 ", at element %" PRId64,
                     place, e->value, in, e->bound, e->element);
}

bool run_fails_code(run *c, const host_code *code, uint32_t step, uint32_t site)
{
    const host_step *s = &code->step.at[step];
    const char *place = run_place(c, s->site ? s->site : site);
    switch (s->kind) {
    case HOST_DIM:
        return run_fails(c, SN_BAD_EXTENT, "%sno argument determines the extent %s", place, c->plan->dim.at[s->number]);
    case HOST_READ:
        return run_fails(c, SN_OUT_OF_RANGE, "%san index that an extent depends on is outside its array", place);
    case HOST_OP:
        return run_fails(c, SN_DIVISION, "%s%s fails: division by zero, or a quotient that is not representable", place,
                         ir_ops[s->op].name);
    default:
        return run_fails(c, SN_DIVISION, "%sa loop that an extent or seed depends on fails", place);
    }
}

bool run_fails_host(run *c, uint32_t step, uint32_t site)
{
    return run_fails_code(c, &c->plan->host, step, site);
}
