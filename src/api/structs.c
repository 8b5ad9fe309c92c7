/* Arrays of C structs as arguments: each takes the place of its components, which are fields of it. Fields are read and
 * written where they are, or taken apart and put together, as run/fields.c sees fit. */
#include "api/call.h"

static bool is_structs(const sn_arg *a)
{
    return a->kind == SN_ARG_STRUCTS;
}

static uint32_t ports_of(const call *c)
{
    return c->p->ports.params + c->p->ports.results;
}

static const embed_port *port_of(const call *c, uint32_t k)
{
    const embed_result *ports = &c->p->ports;
    return k < ports->params ? &ports->param[k] : &ports->result[k - ports->params];
}

uint32_t call_wanted(const call *c, uint32_t *params)
{
    uint32_t wanted = 0;
    *params = 0;
    for (uint32_t k = 0; k < ports_of(c); k++) {
        bool whole = c->count > 0 && wanted < (uint32_t)c->count && c->arg && is_structs(&c->arg[wanted]);
        wanted += whole ? 1 : port_of(c, k)->components;
        *params = k < c->p->ports.params ? wanted : *params;
    }
    return wanted;
}

void structs_room(call *c, arena *a)
{
    uint32_t n = 0, components = c->p->params + c->p->results;
    for (int i = 0; i < c->count && c->arg; i++)
        n += is_structs(&c->arg[i]);
    if (!n)
        return;
    c->apart = arena_array(a, *c->apart, components + 1);
    c->number = arena_array(a, *c->number, components + 1);
    c->structs = arena_array(a, *c->structs, n);
    c->fields_of = arena_array(a, *c->fields_of, components + 1);
    c->whole = c->arg;
}

/* --- memory for at most so many --- */

sn_arg sn_structs_upto_of(size_t size, void *pointer, int64_t capacity, int64_t *extents)
{
    return (sn_arg){.kind = SN_ARG_STRUCTS,
                    .rank = extents ? 1 : -1,
                    .extent = {capacity},
                    .stride = extents,
                    .size = size,
                    .u = {.to = pointer}};
}

/* Its extent is a capacity, `stride` where the result's extents are told. */
static bool is_upto(const structs *s)
{
    return s->arg->stride != NULL;
}

/* --- checks --- */

static sn_status check(const call *c, const structs *s)
{
    const sn_arg *a = s->arg;
    size_t bytes = s->port->bytes, all = 0;
    if (!s->port->tuple)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u is sn_structs(...), but stands for %s; write sn_in, sn_into or sn_value",
                         s->number, s->port->text);
    if (a->size != bytes)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u has structs of %zu bytes, but those of %s have %zu; their members have the types "
                         "and order of the signature",
                         s->number, a->size, s->port->text, bytes);
    if (a->rank < 0)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u: nowhere to put the extents; write sn_structs_upto(pointer, capacity, &n)",
                         s->number);
    if (is_upto(s) && !s->result)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u stands for a parameter, but is sn_structs_upto(...); write sn_structs",
                         s->number);
    if (a->rank != s->port->rank && !is_upto(s))
        return call_fail(c, SN_BAD_ARGUMENT, "argument %u has %d extents, not %d", s->number, a->rank,
                         (int)s->port->rank);
    sn_status status = call_size(c, a, bytes, s->number, &all);
    if (status != SN_OK)
        return status;
    if (!a->u.from && all)
        return call_fail(c, SN_BAD_ARGUMENT, "argument %u is NULL; its extents say that it has elements", s->number);
    return SN_OK;
}

/* Structs that there is memory for. Their size has been checked. */
static size_t count_of(const structs *s)
{
    int64_t n = 0;
    size_count((unsigned)s->arg->rank, s->arg->extent, &n);
    return (size_t)n;
}

/* Memory that the call writes when it is over: of results in structs, against all other results. */
static sn_status check_results(const call *c, const structs *s)
{
    const char *from = s->arg->u.from, *end = from + count_of(s) * s->port->bytes;
    for (uint32_t i = c->p->params; i < c->p->params + c->p->results; i++) {
        const sn_arg *other = &c->apart[i];
        size_t bytes;
        if (c->number[i] == s->number || other->kind == SN_ARG_KEEP)
            continue;
        const char *at = other->u.from;
        const structs *also = NULL;
        for (uint32_t k = 0; k < c->structs_n; k++)
            also = c->structs[k].number == c->number[i] ? &c->structs[k] : also;
        if (also) {
            at = also->arg->u.from;
            bytes = count_of(also) * also->port->bytes;
        } else if (other->kind == SN_ARG_UPTO) {
            if (!size_times(other->size, ir_type_size(c->p->type[i]), &bytes))
                continue; /* as below */
        } else if (other->rank < 0 || other->rank > IR_MAX_RANK ||
                   !api_size(c->p->type[i], other->rank, other->extent, &bytes)) {
            continue; /* reported when it is looked at */
        }
        if (at && bytes && end > from && at < end && from < at + bytes)
            return call_fail(c, SN_BAD_ARGUMENT,
                             "the memory of arguments %u and %u overlaps; results need memory of their own",
                             s->number < c->number[i] ? s->number : c->number[i],
                             s->number < c->number[i] ? c->number[i] : s->number);
    }
    return SN_OK;
}

/* --- components --- */

static const char *end_of(const structs *s)
{
    return (const char *)s->arg->u.from + count_of(s) * s->port->bytes;
}

bool structs_overlap(const structs *s, const void *at, size_t bytes)
{
    const char *from = s->arg->u.from, *other = at;
    return other && bytes && from < end_of(s) && from < other + bytes && other < end_of(s);
}

bool structs_overlap_each_other(const structs *s, const structs *other)
{
    return structs_overlap(s, other->arg->u.from, count_of(other) * other->port->bytes);
}

run_field structs_field(const call *c, uint32_t component)
{
    const structs *s = c->fields_of ? c->fields_of[component] : NULL;
    if (!s)
        return (run_field){0};
    return (run_field){(uint32_t)s->port->bytes, (uint32_t)s->port->offset[component - s->first],
                       (uint32_t)(s - c->structs) + 1, 0};
}

/* The components, which take the place of the structs among the arguments. */
static void take_fields(call *c, const structs *s)
{
    for (unsigned k = 0; k < s->port->components; k++) {
        sn_arg *a = &c->apart[s->first + k];
        *a = *s->arg;
        a->kind = is_upto(s) ? SN_ARG_UPTO : s->result ? SN_ARG_INTO : SN_ARG_IN;
        a->size = is_upto(s) ? count_of(s) : a->size;
        a->type = (sn_type)s->port->type[k];
        a->u.to = a->u.to ? (char *)a->u.to + s->port->offset[k] : NULL;
        c->fields_of[s->first + k] = s;
    }
}

/* The arguments as they would be without structs, and which are to be taken apart. */
static void spread(call *c)
{
    uint32_t from = 0, to = 0;
    for (uint32_t k = 0; k < ports_of(c); k++) {
        const embed_port *port = port_of(c, k);
        if (is_structs(&c->whole[from])) {
            structs *s = &c->structs[c->structs_n++];
            s->arg = &c->whole[from++];
            s->number = from;
            s->port = port;
            s->first = to;
            s->result = k >= c->p->ports.params;
            for (unsigned i = 0; i < port->components; i++)
                c->number[to++] = from;
            continue;
        }
        for (unsigned i = 0; i < port->components; i++) {
            c->apart[to] = c->whole[from++];
            c->number[to++] = from;
        }
    }
    c->arg = c->apart;
    c->before = c->p->params ? c->number[c->p->params - 1] : 0;
    c->count = (int)to;
}

sn_status structs_take(call *c)
{
    sn_status status = SN_OK;
    if (!c->structs)
        return SN_OK;
    spread(c);
    for (uint32_t i = 0; i < c->structs_n && status == SN_OK; i++)
        status = check(c, &c->structs[i]);
    for (uint32_t i = 0; i < c->structs_n && status == SN_OK; i++)
        status = c->structs[i].result ? check_results(c, &c->structs[i]) : SN_OK;
    for (uint32_t i = 0; i < c->structs_n && status == SN_OK; i++)
        take_fields(c, &c->structs[i]);
    return status;
}

/* --- explain --- */

static void explain_port(const embed_port *port, const char *what, uint32_t number, text *out)
{
    if (port->tuple && port->rank)
        text_printf(out, "%s %u, %s: one array a component, or C structs of %zu bytes\n", what, number + 1, port->text,
                    port->bytes);
}

static void count_conversions(const sn_program *p, uint64_t *n, uint64_t *bytes)
{
    for (unsigned k = 0; k < API_VERSIONS; k++) {
        const program_version *other = k ? api_other_version(p, k) : NULL;
        uint64_t some = 0, more = 0;
        if (!k || other)
            run_conversions(other ? other->run : p->run, &some, &more);
        *n += some, *bytes += more;
    }
}

void structs_explain(const sn_program *p, text *out)
{
    for (uint32_t k = 0; k < p->ports.params; k++)
        explain_port(&p->ports.param[k], "parameter", k, out);
    for (uint32_t k = 0; k < p->ports.results; k++)
        explain_port(&p->ports.result[k], "result", k, out);
    uint64_t n = 0, bytes = 0;
    count_conversions(p, &n, &bytes);
    for (const small_extents *s = atomic_load(&p->small); s; s = s->next)
        if (s->program)
            count_conversions(s->program, &n, &bytes);
    if (n)
        text_printf(out, "conversions of arrays of structs so far: %llu, %llu bytes\n", (unsigned long long)n,
                    (unsigned long long)bytes);
}
