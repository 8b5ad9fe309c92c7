/* Programs as sources: for devices behind a driver, the text of each kernel that calls have launched, what each launch
 * was given, and what a call did, with its loops and choices, for whoever launches them without Sinter. */
#include "api/export_driver.h"

#include "device/kernel_cache.h"

#include <inttypes.h>

typedef struct sources {
    exporting *e;
    const dialect *d;
    const char *ending;
    text launches;
    VEC(driver_kernel) kernel; /* each has a file of its own */
    uint32_t n;                /* launches */
    const sn_program *visited; /* whose launches are listed: the program, or one of a loop or choice */
    const run_program *called; /* the version that the last recorded call ran */
    text functions, programs;  /* of its driver, if what it did can be told, */
    described driver;
    const char *why; /* and else why not */
} sources;

static void quoted(text *out, const char *s)
{
    text_add(out, "\"");
    for (; *s; s++)
        if (*s == '"' || *s == '\\' || (unsigned char)*s < ' ')
            text_printf(out, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            text_add_n(out, s, 1);
    text_add(out, "\"");
}

static uint32_t number_of(void *env, const sk_kernel *k)
{
    sources *s = env;
    for (uint32_t i = 0; i < s->kernel.n; i++)
        if (s->kernel.at[i].k == k)
            return i;
    vec_push(&s->e->arena, &s->kernel, ((driver_kernel){.k = k}));
    return s->kernel.n - 1;
}

static uint32_t driver_number(void *env, const sk_kernel *k)
{
    sources *s = env;
    for (uint32_t i = 0; i < s->kernel.n && !k; i++)
        s->kernel.at[i].used = false;
    if (!k)
        return 0;
    const uint32_t number = number_of(env, k);
    s->kernel.at[number].used = true;
    return number;
}

static void add_memory(sources *s, const run_launched *l, text *out)
{
    static const char *const role[] = {[SK_ARRAY] = "array",
                                       [SK_PARTIAL_IN] = "partial results",
                                       [SK_PARTIAL_OUT] = "partial results, new",
                                       [SK_STATE] = "state, zeros before the cluster's first launch",
                                       [SK_SORTED_FROM] = "sorted so far",
                                       [SK_SORTED_TO] = "sorted, new"};
    uint32_t n = 0;
    const kernel *k = l->kernel->k;
    for (k_mem m = 1; m < k->mem.n; m++) {
        if (k->mem.at[m].space != K_GLOBAL)
            continue;
        const sk_binding *b = &l->kernel->memory.at[n];
        text_printf(out, "%s{\"name\": ", n ? ", " : "");
        quoted(out, k->mem.at[m].name ? k->mem.at[m].name : "");
        text_printf(out, ", \"role\": \"%s\"", role[b->role]);
        if (b->role == SK_ARRAY)
            text_printf(out, ", \"array\": \"a%u\"", s->visited->clusters->number[b->array]);
        text_printf(out, ", \"component\": %u, \"type\": \"%s\", \"written\": %s", b->component, ir_type_name(b->type),
                    k->mem.at[m].written ? "true" : "false");
        if (l->elements[n] >= 0)
            text_printf(out, ", \"elements\": %" PRId64, l->elements[n]);
        text_add(out, "}");
        n++;
    }
}

static const char *argument_name(const kernel *k, uint32_t number)
{
    for (k_val v = 1; v < k->value.n; v++)
        if (k->value.at[v].kind == KV_ARG && k->value.at[v].bits == number && k->value.at[v].name)
            return k->value.at[v].name;
    return "";
}

static void add_arguments(const run_launched *l, text *out)
{
    const kernel *k = l->kernel->k;
    for (uint32_t i = 0; i < k->arg_type.n; i++) {
        ir_type t = (ir_type)k->arg_type.at[i];
        text_printf(out, "%s{\"name\": ", i ? ", " : "");
        quoted(out, argument_name(k, i));
        text_printf(out, ", \"type\": \"%s\", ", ir_type_name(t));
        if (ir_type_float(t))
            text_printf(out, "\"bits\": %" PRIu64 "}", (uint64_t)l->arg[i]);
        else if (ir_type_signed(t))
            text_printf(out, "\"value\": %" PRId64 "}", ir_i64_bits(t, l->arg[i]));
        else
            text_printf(out, "\"value\": %" PRIu64 "}", (uint64_t)ir_i64_bits(t, l->arg[i]));
    }
}

static void take_launch(void *env, const run_launched *l)
{
    sources *s = env;
    text *out = &s->launches;
    text_printf(out, "%s    {\"kernel\": %u, \"cluster\": %u, \"pieces\": %" PRId64 ",\n     \"memory\": [",
                s->n ? ",\n" : "", number_of(s, l->kernel), l->cluster, l->pieces);
    add_memory(s, l, out);
    text_add(out, "],\n     \"arguments\": [");
    add_arguments(l, out);
    text_add(out, "]}");
    s->n++;
}

static bool write_text(exporting *e, const text *data)
{
    return fwrite(data->at, 1, data->n, e->f) == data->n;
}

static sn_status write_source(sources *s, uint32_t i)
{
    exporting *e = s->e;
    device *d = e->p->context->engine.device;
    const char *why = "";
    driver_kernel *k = &s->kernel.at[i];
    text_init(&k->source, &e->arena);
    k->entry = arena_printf(&e->arena, "%s_%u", e->name, i);
    kernel *ready = d->prepare(d, k->k->k, &e->arena, NULL, &why);
    if (!ready || !emit_text(ready, s->d, k->entry, &k->source, &why))
        return api_fail_at(e->p->context, e->who, SN_UNSUPPORTED, "a kernel has no source: %s", why);
    k->ready = ready;
    k->group = d->group_of(d, k->k->k, ready, &e->arena);
    return export_file(e, arena_printf(&e->arena, "%u.%s", i, s->ending), &k->source, write_text);
}

static sn_status write_description(sources *s)
{
    exporting *e = s->e;
    const device_limits *limits = e->p->context->engine.device->limits;
    text out, signature;
    text_init(&out, &e->arena);
    text_add(&out, "{\"program\": ");
    quoted(&out, e->name);
    text_add(&out, ",\n \"signature\": ");
    text_init(&signature, &e->arena);
    export_signature(e->p, &signature);
    quoted(&out, signature.at);
    text_printf(&out, ",\n \"language\": \"%s\",\n \"kernels\": [\n", limits->kind);
    for (uint32_t i = 0; i < s->kernel.n; i++)
        text_printf(&out,
                    "%s    {\"source\": \"%s.%u.%s\", \"entry\": \"%s_%u\", \"define\": \"SN_LOCAL\", "
                    "\"threads_multiple\": %u, \"most_threads\": %u, \"shared_bytes\": %u}",
                    i ? ",\n" : "", e->name, i, s->ending, e->name, i, emit_gang(s->d) ? emit_gang(s->d) : 1,
                    s->kernel.at[i].group, emit_shared_bytes(s->kernel.at[i].ready));
    text_add(&out,
             "],\n"
             " \"parameters\": \"the pointers in `memory`, the values in `arguments`, then i64 first, i64 last (pieces "
             "[first, last)), and a pointer to i64[4], zeros: site, element, value, bound of the first failure\",\n"
             " \"launches\": [\n");
    text_add_n(&out, s->launches.at, s->launches.n);
    text_add(&out, "],\n");
    if (s->why) {
        text_add(&out, " \"no_driver\": ");
        quoted(&out, s->why);
        text_add(&out, "}\n");
    } else if (s->driver.sized) {
        text_printf(&out, " \"no_programs\": \"launches depend on what is in memory; %s.c has the steps\"}\n", e->name);
    } else {
        text_printf(&out, " \"first\": %u, \"programs\": [\n%s]}\n", s->driver.first, s->programs.at);
    }
    return export_file(e, "json", &out, write_text);
}

/* Of the program and those of its loops and choices, all versions of each. */
static void take_launches(sources *s, const sn_program *p)
{
    s->visited = p;
    run_visit_launches(p->run, take_launch, s);
    if (run_tape_of_call(p->run) && p == s->e->p)
        s->called = run_tape_of_call(p->run)->r;
    for (unsigned k = 1; k < API_VERSIONS; k++)
        if (api_other_version(p, k))
            run_visit_launches(api_other_version(p, k)->run, take_launch, s);
    for (uint32_t i = 0; i < p->inside.n; i++) /* not deeper than IR_MOST_CONTROLS */
        take_launches(s, p->inside.at[i]);
}

static sn_status export_them(sources *s)
{
    exporting *e = s->e;
    take_launches(s, e->p);
    if (!s->n && s->called)
        return api_fail_at(e->p->context, e->who, SN_BAD_ARGUMENT,
                           "the recorded calls launched nothing, since their arrays have no elements or results are "
                           "arguments; record one that does");
    if (!s->n)
        return api_fail_at(e->p->context, e->who, SN_BAD_ARGUMENT,
                           "there are no launches to export; record calls with sn_profile(program, true), and call it");
    if (!s->called)
        s->why = "no recorded call went to its end; record one that does";
    else
        export_describe(e, s->called, &s->driver, &s->why);
    if (s->why && e->p->inside.n)
        return api_fail_at(e->p->context, e->who, SN_UNSUPPORTED,
                           "what the loops and choices of arrays did in the recorded calls cannot be told: %s", s->why);
    sn_status status = SN_OK;
    for (uint32_t i = 0; i < s->kernel.n && status == SN_OK; i++)
        status = write_source(s, i);
    if (status == SN_OK && !s->why)
        status = export_driver(e, s->called, e->p->context->engine.device->limits->kind, &s->driver, s->kernel.at,
                               s->kernel.n);
    return status == SN_OK ? write_description(s) : status;
}

sn_status export_sources(exporting *e)
{
    const device_limits *limits = e->p->context->engine.device->limits;
    const bool opencl = !strcmp(limits->kind, "opencl");
    sources s = {.e = e, .d = opencl ? &dialect_opencl : &dialect_cuda, .ending = opencl ? "cl" : "cu"};
    text_init(&s.launches, &e->arena);
    s.driver =
        (described){.kernel_number = driver_number, .env = &s, .functions = &s.functions, .programs = &s.programs};
    if (!run_tapes_open(e->p->run))
        return api_fail_at(e->p->context, e->who, SN_BAD_ARGUMENT,
                           "a recorded call of the program is under way; wait for it, and export then");
    e->taken = e->p->run;
    const sn_status status = export_them(&s);
    e->taken = NULL;
    run_tapes_close(e->p->run);
    return status;
}
