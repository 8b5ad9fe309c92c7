/* What is said when a call fails: the operation, its place, the values. */
#include "ir/interpret.h"
#include "run/program.h"

#include <inttypes.h>

/* `operation`: whether the place is followed by its name. */
static bool fails(run *c, const ir_site *place, bool operation, sn_status status, const char *format, va_list args)
{
    if (c->status != SN_OK)
        return false;
    text t;
    text_init(&t, c->arena);
    if (place->file)
        text_printf(&t, "%s:%u: ", place->file, place->line);
    if (operation && (place->operation || place->file))
        text_printf(&t, "%s: ", place->operation ? place->operation : "operation");
    text_vprintf(&t, format, args);
    c->status = status;
    c->said = (run_said){t.at, place->file != NULL};
    return false;
}

bool run_fails(run *c, sn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fails(c, &(ir_site){0}, false, status, format, args);
    va_end(args);
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

bool run_fails_at(run *c, uint32_t site, sn_status status, const char *format, ...)
{
    ir_site place = site_of(c, site);
    va_list args;
    va_start(args, format);
    fails(c, &place, true, status, format, args);
    va_end(args);
    return false;
}

/* The condition's text names the operation. */
static bool fails_behind(run *c, uint32_t site, sn_status status, const char *format, ...) SN_PRINTF(4, 5);
static bool fails_behind(run *c, uint32_t site, sn_status status, const char *format, ...)
{
    ir_site place = site_of(c, site);
    va_list args;
    va_start(args, format);
    fails(c, &place, false, status, format, args);
    va_end(args);
    return false;
}

const char *run_too_small(arena *a, const run_result *out, int64_t elements)
{
    return arena_printf(a, "result %u has %" PRId64 " elements, but there is memory for %" PRId64, out->number,
                        elements, out->capacity);
}

bool run_fails_check(run *c, const plan_check *k, int64_t left, int64_t right)
{
    return fails_behind(c, k->site, SN_SHAPE_MISMATCH, "%s: %" PRId64 " and %" PRId64 "; they have to be equal",
                        k->what, left, right);
}

static bool divides(run *c, uint32_t site)
{
    const char *name = site_of(c, site).operation;
    ir_op op = name ? ir_op_named(name, strlen(name)) : OP_NONE;
    return op && ir_ops[op].flags & OP_PARTIAL;
}

static bool index_fails(run *c, uint32_t site, unsigned component, int64_t index, int64_t extent, int64_t element)
{
    const char *in = component ? arena_printf(c->arena, " in dimension %u", component - 1) : "";
    return run_fails_at(c, site, SN_OUT_OF_RANGE, "index %s%s is outside the extent %" PRId64 ", at element %" PRId64,
                        ir_index_text(site_of(c, site), component, index, c->arena), in, extent, element);
}

static bool segment_fails(run *c, uint32_t site, ir_segment_mistake what, const k_error *e)
{
    return run_fails_at(c, site, what == IR_SEGMENT_EMPTY ? SN_EMPTY_FOLD : SN_BAD_SEGMENTS, "%s",
                        ir_segment_text(site_of(c, site), what, e->element, e->value, e->bound, c->arena));
}

bool run_fails_kernel(run *c, const k_error *e)
{
    uint32_t site = k_place_site(e->site), component = k_place_component(e->site);
    if (component >= K_SEGMENT)
        return segment_fails(c, site, (ir_segment_mistake)(component - K_SEGMENT), e);
    bool division = divides(c, site);
    if (division && e->value == 0)
        return run_fails_at(c, site, SN_DIVISION, "division by zero, at element %" PRId64 "; sn_if leaves it out",
                            e->element);
    if (division)
        return run_fails_at(c, site, SN_DIVISION,
                            "the quotient of the smallest number by -1 is not representable, at element %" PRId64
                            "; a wider type has it",
                            e->element);
    return index_fails(c, site, component, e->value, e->bound, e->element);
}

bool run_fails_code(run *c, const host_code *code, const host_value *value, uint32_t step, uint32_t site)
{
    const host_step *s = &code->step.at[step];
    const uint32_t at = s->site ? s->site : site;
    switch (s->kind) {
    case HOST_DIM:
        return run_fails_at(c, at, SN_BAD_EXTENT,
                            "no argument determines the extent %s; one needs it as an extent of its own",
                            c->plan->dim.at[s->number]);
    case HOST_READ: {
        host_index i = host_find(s, value);
        return index_fails(c, at, i.component, i.index, i.extent, 0);
    }
    case HOST_OP:
        return run_fails_at(c, at, SN_DIVISION,
                            "%s fails: division by zero, or a quotient that is not representable; sn_if leaves it out",
                            ir_ops[s->op].name);
    default:
        return run_fails_at(c, at, SN_DIVISION,
                            "a loop that an extent or seed depends on fails: it divides by zero, or an index is "
                            "outside its array; sn_if leaves that out");
    }
}

bool run_fails_host(run *c, uint32_t step, uint32_t site)
{
    return run_fails_code(c, &c->plan->host, c->value, step, site);
}
