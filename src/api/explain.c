/* What became of a program, in each of its forms, as text. */
#include "api/call.h"

typedef struct explaining {
    api_who who;
    sn_program *p;
    arena *arena;
    text *out;
    const char *form;
    const char *last; /* the pass after which kernels are shown */
    device *texts;    /* keeps generated text; NULL for other forms */
    volatile bool locked;
} explaining;

static void cluster_title(const explaining *e, uint32_t cluster, const sk_kernel *k)
{
    text_printf(e->out, "; cluster %u, kernel %s\n", cluster, k->k->name ? k->k->name : "");
}

static void show_kernel(void *env, uint32_t cluster, const sk_kernel *k)
{
    const explaining *e = env;
    cluster_title(e, cluster, k);
    k_print(k->k, e->out);
}

static void show_code(void *env, uint32_t cluster, const sk_kernel *k)
{
    explaining *e = env;
    const char *why = NULL;
    device_kernel *code = device_compile(e->texts, k->k, e->arena, &why);
    cluster_title(e, cluster, k);
    if (!code) {
        text_printf(e->out, "; does not compile: %s\n", why ? why : "out of memory");
        return;
    }
    const char *shown = e->texts->kernel_text(e->texts, code, e->form);
    text_add(e->out, shown ? shown : "; no text\n");
    device_release_kernel(e->texts, code);
}

/* After the pass `last` of the optimiser or of the device. */
static void show_prepared(void *env, uint32_t cluster, const sk_kernel *k)
{
    const explaining *e = env;
    const char *why = NULL;
    device *d = e->p->context->engine.device;
    kernel *made = d->prepare(d, k->k, e->arena, e->last, &why);
    cluster_title(e, cluster, k);
    if (made)
        k_print(made, e->out);
    else
        text_printf(e->out, "; does not fit: %s\n", why ? why : "");
}

/* Have calls needed kernels of versions besides the first, or of programs for small extents? */
static bool called_otherwise(const sn_program *p)
{
    bool called = false;
    for (unsigned k = 1; k < API_VERSIONS; k++)
        called |= api_other_version(p, k) && run_kernels(api_other_version(p, k)->run);
    for (const small_extents *s = atomic_load(&p->small); s; s = s->next)
        called |= s->program && (run_kernels(s->program->run) || called_otherwise(s->program));
    return called;
}

static bool visit_kernels(explaining *e, sn_program *p, run_visit visit)
{
    const char *why = "";
    const bool called = called_otherwise(p);
    sn_status status = called && !run_kernels(p->run) ? SN_OK : run_visit_kernels(p->run, visit, e, e->arena, &why);
    for (unsigned k = 1; k < API_VERSIONS && status == SN_OK; k++) {
        const program_version *other = api_other_version(p, k);
        if (other && run_kernels(other->run)) /* its own only if a call needed them */
            status = run_visit_kernels(other->run, visit, e, e->arena, &why);
    }
    if (status != SN_OK)
        api_fail_at(p->context, e->who, status, "%s", why);
    return status == SN_OK;
}

/* Which region a program is, as its plan calls it. */
static void region_title(const sn_program *q, text *out)
{
    const ir_program *p = q->outer->ir;
    uint32_t number = 0;
    for (ir_id id = 1; id < p->node.n; id++) {
        if (ir_at(p, id)->kind != IR_CONTROL)
            continue;
        const ir_control *c = ir_info(p, id)->control;
        for (uint32_t i = 0; i < c->regions; i++) {
            if (c->region[i].program != q->ir)
                continue;
            const ir_site *site = &p->site.at[ir_at(p, id)->site];
            const char *what = c->form == IR_FOREIGN  ? "instead"
                               : c->form == IR_CHOICE ? (i ? "otherwise" : "then")
                               : c->form == IR_WHILE  ? (i ? "a round" : "the condition")
                               : i                    ? "rounds at once"
                                                      : "a round";
            text_printf(out, "%u.%u: %s of %s", number, i, what, site->operation ? site->operation : "control");
            if (site->file)
                text_printf(out, " in %s:%u", site->file, site->line);
            text_add(out, "\n");
            return;
        }
        number++;
    }
}

static bool kernels_of(explaining *e, sn_program *p, run_visit visit)
{
    if (p->outer) {
        text_add(e->out, "; ");
        region_title(p, e->out);
    }
    bool good = visit_kernels(e, p, visit);
    for (uint32_t i = 0; i < p->inside.n && good; i++)
        good = kernels_of(e, p->inside.at[i], visit);
    for (const small_extents *s = atomic_load(&p->small); s && good; s = s->next) {
        if (!s->program || (!run_kernels(s->program->run) && !called_otherwise(s->program)))
            continue;
        text_add(e->out, "; ");
        api_print_extents(p, s, e->out);
        good = kernels_of(e, s->program, visit);
    }
    return good;
}

static bool kernels(explaining *e, run_visit visit)
{
    sn_context *cx = e->p->context;
    if (!cx->engine.device) {
        api_fail_at(cx, e->who, SN_UNSUPPORTED,
                    "there are no kernels, as programs are interpreted; other devices than \"interpreter\" have some");
        return false;
    }
    return kernels_of(e, e->p, visit);
}

/* Generated code is not kept: a second device compiles the kernels again, keeping the text. */
static bool code(explaining *e, const char *kind)
{
    const char *why = NULL;
    const sn_context *cx = e->p->context;
    if (cx->engine.device && strcmp(cx->engine.device->limits->kind, kind)) {
        api_fail_at(e->p->context, e->who, SN_UNSUPPORTED,
                    "\"%s\" is for contexts on the device \"%s\", but this one's is \"%s\"", e->form, kind,
                    cx->engine.device->limits->kind);
        return false;
    }
    e->texts = cx->engine.device ? api_open_again(cx, e->arena, &why) : NULL;
    if (!e->texts) {
        api_fail_at(e->p->context, e->who, SN_NO_DEVICE, "no code generator: %s",
                    why ? why : "programs are interpreted; other devices than \"interpreter\" have one");
        return false;
    }
    bool good = kernels(e, show_code);
    e->texts->close(e->texts);
    return good;
}

typedef struct term_form {
    const char *name;
    void (*print)(const l_program *l, text *out);
    unsigned versions; /* which others are shown, too: numbers below this */
} term_form;

static const term_form term_forms[] = {{"edges", l_print_edges, 2},
                                       {"clusters", l_print_clusters, 4},
                                       {"fused", l_print, 4},
                                       {"unfused", l_print_unfused, 2},
                                       {"json", l_print_json, 0},
                                       {"dot", l_print_dot, 0},
                                       {"term", NULL, 0}};

static void print_form_of(const explaining *e, const sn_program *p, const term_form *form)
{
    if (p->outer)
        region_title(p, e->out);
    if (!form->print) {
        embed_print_signature(&p->ports, e->out);
        ir_print(p->ir, e->out);
        return;
    }
    form->print(p->clusters, e->out);
    for (unsigned k = 1; k < form->versions; k++) {
        const program_version *other = api_other_version(p, k);
        if (!other)
            continue;
        api_print_when(p, k, e->out);
        form->print(other->clusters, e->out);
    }
    for (uint32_t i = 0; i < p->inside.n && form->versions; i++)
        print_form_of(e, p->inside.at[i], form);
}

static void print_form(const explaining *e, const term_form *form)
{
    print_form_of(e, e->p, form);
}

/* Forms that read terms, under the lock: false if it is none of them. */
static bool terms(explaining *e)
{
    const sn_program *p = e->p;
    for (size_t i = 0; i < ARRAY_LENGTH(term_forms); i++) {
        if (strcmp(e->form, term_forms[i].name))
            continue;
        run_lock(p->run);
        e->locked = true;
        print_form(e, &term_forms[i]);
        e->locked = false;
        run_unlock(p->run);
        return true;
    }
    return false;
}

typedef struct code_form {
    const char *name, *kind; /* of the device that has it */
} code_form;

static const code_form code_forms[] = {
    {"llvm", "cpu"}, {"asm", "cpu"}, {"opencl", "opencl"}, {"cuda", "cuda"}, {"ptx", "cuda"}};

static void print_plans(const sn_program *p, text *out)
{
    if (p->outer) {
        text_add(out, "plan ");
        region_title(p, out);
    }
    plan_print(p->plan, out);
    for (unsigned k = 1; k < API_VERSIONS; k++) {
        const program_version *other = api_other_version(p, k);
        if (!other)
            continue;
        api_print_when(p, k, out);
        plan_print(other->plan, out);
    }
    for (uint32_t i = 0; i < p->inside.n; i++)
        print_plans(p->inside.at[i], out);
    for (const small_extents *s = atomic_load(&p->small); s; s = s->next)
        if (s->program) {
            api_print_extents(p, s, out);
            print_plans(s->program, out);
        }
    if (!p->outer && !p->general)
        structs_explain(p, out);
}

/* --- profiles --- */

/* What the device can do, measured at the first question; NULL: there is none, or no memory. */
static const run_roof *roof_of(sn_context *cx)
{
    run_roof found = {0};
    if (!cx->engine.device)
        return NULL;
    pthread_mutex_lock(&cx->measuring);
    if (!cx->roof)
        run_measure_roof(cx->engine.device, &cx->heap, &found);
    if (found.known || found.why) {
        cx->roof = cx->heap.alloc(cx->heap.env, sizeof(*cx->roof));
        if (cx->roof)
            *cx->roof = found;
        else
            cx->heap.release(cx->heap.env, found.why);
    }
    const run_roof *roof = cx->roof;
    pthread_mutex_unlock(&cx->measuring);
    return roof;
}

typedef VEC(run_told) told;

/* A program's versions, and those of the programs within it. */
static void list_versions(const explaining *e, const sn_program *p, told *all)
{
    vec_push(e->arena, all, ((run_told){.r = p->run}));
    for (unsigned k = 1; k < API_VERSIONS; k++) {
        const program_version *v = api_other_version(p, k);
        if (v)
            vec_push(e->arena, all, ((run_told){v->run, (k & API_LARGE) != 0, (k & API_ONE_SWEEP) != 0}));
    }
    for (uint32_t i = 0; i < p->inside.n; i++)
        list_versions(e, p->inside.at[i], all);
    for (const small_extents *s = atomic_load(&p->small); s; s = s->next)
        if (s->program)
            list_versions(e, s->program, all);
}

static bool profile(explaining *e)
{
    bool json = !strcmp(e->form, "profile-json");
    if (!json && strcmp(e->form, "profile") != 0)
        return false;
    told version = {0};
    list_versions(e, e->p, &version);
    const run_roof *roof = run_recorded(e->p->run) ? roof_of(e->p->context) : NULL;
    (json ? run_print_profile_json : run_print_profile)(version.n, version.at, roof, e->out);
    return true;
}

void sn_profile(sn_program *p, bool on)
{
    if (!p || handle_stale(p, HANDLE_PROGRAM, "sn_profile"))
        return;
    api_record(p, on);
}

/* --- passes --- */

typedef enum { TERM, CLUSTER, LOWER, KERNEL, DEVICE, CODE } stage;

typedef struct listed_pass {
    stage stage;
    const char *name, *what;
} listed_pass;

#define PASS(STAGE, name, what) {STAGE, #name, what},
static const listed_pass all_passes[] = {
#include "base/passes.def"
};

static void print_passes(text *out)
{
    static const char *const on[] = {"term", "clusters", "cluster to kernel", "kernel", "kernel", "kernel to code"};
    for (size_t i = 0; i < ARRAY_LENGTH(all_passes); i++)
        text_printf(out, "%-9s %-18s %s\n", all_passes[i].name, on[all_passes[i].stage], all_passes[i].what);
}

/* Terms are printed as they were: later passes have added others, but changed none. */
static void print_terms_after(const sn_program *p, uint32_t pass, text *out)
{
    ir_program then = *p->ir;
    memcpy(&then.output, &p->after[pass].output, sizeof(then.output));
    memcpy(&then.check, &p->after[pass].check, sizeof(then.check));
    embed_print_signature(&p->ports, out);
    ir_print(&then, out);
}

static bool explain(explaining *e);

static bool explain_as(explaining *e, const char *form)
{
    e->form = form;
    return explain(e);
}

/* The program after a pass of the list, in the form that the pass works on. */
static bool after(explaining *e, const char *name)
{
    const sn_context *cx = e->p->context;
    uint32_t i = 0;
    while (i < ARRAY_LENGTH(all_passes) && strcmp(name, all_passes[i].name) != 0)
        i++;
    if (i == ARRAY_LENGTH(all_passes)) {
        api_fail_at(e->p->context, e->who, SN_BAD_ARGUMENT,
                    "there is no pass \"%s\"; sn_explain(program, \"passes\") lists them", name);
        return false;
    }
    switch (all_passes[i].stage) {
    case TERM: /* the first ones of the list */
        run_lock(e->p->run);
        e->locked = true;
        print_terms_after(e->p, i, e->out);
        e->locked = false;
        run_unlock(e->p->run);
        return true;
    case CLUSTER:
        return explain_as(e, "clusters");
    case LOWER:
        return explain_as(e, "kernels");
    case CODE:
        if (cx->engine.device && strcmp(cx->engine.device->limits->kind, "cpu") != 0)
            return explain_as(e, cx->engine.device->limits->kind);
        return explain_as(e, "llvm");
    default:
        e->last = name;
        return kernels(e, show_prepared);
    }
}

static bool explain(explaining *e)
{
    static const char prefix[] = "after:";
    if (!strncmp(e->form, prefix, strlen(prefix)))
        return after(e, e->form + strlen(prefix));
    if (!strcmp(e->form, "passes"))
        return print_passes(e->out), true;
    if (terms(e) || profile(e))
        return true;
    if (!strcmp(e->form, "plan"))
        return print_plans(e->p, e->out), true;
    if (!strcmp(e->form, "kernels"))
        return kernels(e, show_kernel);
    for (size_t i = 0; i < ARRAY_LENGTH(code_forms); i++)
        if (!strcmp(e->form, code_forms[i].name))
            return code(e, code_forms[i].kind);
    api_fail_at(e->p->context, e->who, SN_BAD_ARGUMENT,
                "there is no form \"%s\"; there are edges, unfused, clusters, fused, json, dot, term, "
                "kernels, plan, profile, profile-json, passes, after:PASS, "
                "llvm, asm, opencl, cuda, ptx",
                e->form);
    return false;
}

/* Texts stay until the program goes: another thread may be reading one. An unchanged one is returned again. */
static const char *keep(sn_program *p, const char *said)
{
    const base_heap *heap = &p->context->heap;
    const char *kept = NULL;
    pthread_mutex_lock(&p->lock);
    for (program_text *t = p->texts; t && !kept; t = t->next)
        kept = strcmp(t->text, said) ? NULL : t->text;
    if (!kept) {
        size_t bytes = strlen(said) + 1;
        program_text *t = heap->alloc(heap->env, sizeof(*t));
        char *copy = t ? heap->alloc(heap->env, bytes) : NULL;
        if (copy) {
            *t = (program_text){p->texts, memcpy(copy, said, bytes)};
            p->texts = t;
            kept = copy;
        } else {
            heap->release(heap->env, t);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return kept;
}

const char *sn_explain_at(sn_site at, sn_program *p, const char *form)
{
    if (!p || handle_stale(p, HANDLE_PROGRAM, "sn_explain"))
        return NULL;
    arena a;
    text out;
    jmp_buf failure;
    const char *volatile kept = NULL;
    volatile bool complete = false;
    arena_init(&a, &p->context->heap);
    explaining e = {
        .who = api_function_at(at, "sn_explain"), .p = p, .arena = &a, .out = &out, .form = form ? form : "edges"};
    if (!setjmp(failure)) {
        arena_on_failure(&a, &failure);
        text_init(&out, &a);
        if (explain(&e)) {
            complete = true;
            kept = keep(p, out.at);
        }
    } else {
        complete = true;
        if (e.locked)
            run_unlock(p->run);
    }
    arena_free(&a);
    if (complete && !kept)
        api_fail_at(p->context, api_function_at(at, "sn_explain"), SN_NO_MEMORY, "no memory to explain a program");
    return kept;
}

const char *(sn_explain)(sn_program *p, const char *form)
{
    return sn_explain_at((sn_site){NULL, 0}, p, form);
}
