/* From a C function to a program that can be called: the passes over its terms, as base/passes.def lists them, and what
 * follows them. */
#include "api/call.h"

#include "ir/inside.h"
#include "opt/axes.h"
#include "opt/contract.h"
#include "opt/firsts.h"
#include "opt/needed.h"
#include "opt/outside.h"
#include "opt/packs.h"
#include "opt/picks.h"
#include "opt/places.h"
#include "opt/recover.h"
#include "opt/repeats.h"
#include "opt/reshapes.h"
#include "opt/rounds.h"
#include "opt/row_loops.h"
#include "opt/sweeps.h"
#include "opt/windows.h"

static bool on(sn_switch s)
{
    return s != SN_OFF;
}

/* Types and ranks of the arguments of a call. */
static void list_arguments(sn_program *p)
{
    for (uint32_t k = 0; k < p->ports.params; k++)
        p->params += p->ports.param[k].components;
    for (uint32_t k = 0; k < p->ports.results; k++)
        p->results += p->ports.result[k].components;
    p->type = arena_array(&p->arena, ir_type, p->params + p->results + 1);
    p->rank = arena_alloc(&p->arena, p->params + p->results + 1);
    uint32_t next = 0;
    for (uint32_t k = 0; k < p->ports.params + p->ports.results; k++) {
        const embed_port *port = k < p->ports.params ? &p->ports.param[k] : &p->ports.result[k - p->ports.params];
        for (unsigned c = 0; c < port->components; c++, next++) {
            p->type[next] = port->type[c];
            p->rank[next] = port->rank;
        }
    }
}

static void nothing(void *owner)
{
    (void)owner;
}

/* The program's data as arrays, so that they stay on the device once they are there. */
static bool keep_constants(sn_program *p)
{
    const embed_constants *list = &p->ports.constant;
    if (!list->n || !api_own_memory(p->context))
        return true;
    p->constant = arena_array(&p->arena, *p->constant, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        const embed_constant *c = &list->at[i];
        p->constant[i] =
            api_borrow_array(p->context, api_function(NULL), c->type, c->rank, c->extent, c->data, nothing, NULL);
        if (!p->constant[i])
            return false;
    }
    return true;
}

/* Of a correct program, on the thread that compiles it. */
static void warn(const sn_program *p)
{
    for (uint32_t i = 0; i < p->ir->warning.n; i++) {
        text t;
        text_init(&t, p->ir->arena);
        embed_warning(p->ir, i, &t);
        api_warn(&p->context->options, t.at);
    }
}

static void free_program(sn_program *p)
{
    const base_heap *heap = &p->context->heap;
    api_free_small_extents(p);
    api_free_versions(p);
    for (program_text *t = p->texts, *next; t; t = next) {
        next = t->next;
        heap->release(heap->env, t->text);
        heap->release(heap->env, t);
    }
    call_forget(p);
    for (uint32_t i = 0; p->constant && i < p->ports.constant.n; i++)
        sn_free(p->constant[i]);
    pthread_mutex_destroy(&p->lock);
    arena_free(&p->arena);
    handle_close(p->context, &p->handle);
}

/* sn_compile was left by longjmp. */
static void abandon(void *program)
{
    free_program(program);
}

/* What a program is made of: a function, or a text. */
typedef struct origin {
    sn_site at;
    const char *function;  /* of the interface, for messages */
    bool *no_memory;       /* told if that was what failed; may be NULL */
    const char *signature; /* NULL: from a text */
    sn_body body;
    const char *terms;
    uint32_t vector_bytes; /* 0: the device's */
} origin;

static api_who place_of(const origin *from)
{
    return api_function_at(from->at, from->function);
}

static void lacks_memory(sn_context *cx, const origin *from, const char *what)
{
    if (from->no_memory)
        *from->no_memory = true;
    api_fail_at(cx, place_of(from), SN_NO_MEMORY, "no memory to %s", what);
}

/* Which kind of foreign code the device runs. */
static uint8_t code_for(const sn_context *cx)
{
    const char *kind = cx->engine.device ? cx->engine.device->limits->kind : "";
    return !strcmp(kind, "cpu")      ? IR_CODE_LLVM
           : !strcmp(kind, "opencl") ? IR_CODE_OPENCL
           : !strcmp(kind, "cuda")   ? IR_CODE_CUDA
                                     : IR_CODE_NONE;
}

/* The terms; NULL, reported, if there are none. */
static ir_program *make_terms(sn_program *p, const origin *from)
{
    bool plain = !on(p->context->options.simplify);
    const char *message = NULL;
    if (!from->terms)
        p->ir = embed_build_as(&p->arena, from->at, from->signature, from->body, plain, &p->owner, &p->ports);
    else
        p->ir = embed_parse(&p->arena, from->at, from->terms, plain, &p->ports, &message);
    if (p->ir)
        p->ir->code = code_for(p->context);
    p->largest = from->terms ? IR_LARGEST_EXTENT : INT64_MAX;
    if (message)
        api_fail_at(p->context, place_of(from), SN_BAD_PROGRAM, "%s", message);
    else if (!p->ir)
        lacks_memory(p->context, from, "build a program");
    return p->ir;
}

/* --- the passes over terms --- */

/* Of the whole program, with all that is within it. */
static void run_outside(sn_program *p)
{
    if (on(p->context->options.fusion) && !p->outer)
        opt_move_outside(p->ir);
}

/* What decides how values are computed in a round that will be part of many at once. It is done again where it stands
 * in the order of passes, and then finds nothing to do. */
static void settle_round(void *env, ir_program *round)
{
    const sn_program *p = env;
    if (on(p->context->options.simplify))
        opt_recover_loops(round);
    opt_fold_row_loops(round);
    if (on(p->context->options.contract))
        opt_contract(round);
}

static void run_rounds(sn_program *p)
{
    if (on(p->context->options.fusion) && p->context->engine.device)
        opt_join_rounds(p->ir, L_MOST_STAGES);
    if (on(p->context->options.fusion) && p->context->engine.device && !p->sweeps)
        opt_sweep_rounds(p->ir, settle_round, p);
}

static void run_recover(sn_program *p)
{
    if (on(p->context->options.simplify))
        opt_recover_loops(p->ir);
}

static void run_places(sn_program *p)
{
    if (on(p->context->options.simplify))
        opt_invert_places(p->ir);
}

static void run_row_loops(sn_program *p)
{
    if (!p->sweeps) /* its loops are rounds, and combine values in their order */
        opt_fold_row_loops(p->ir);
}

static void run_contract(sn_program *p)
{
    if (on(p->context->options.contract))
        opt_contract(p->ir);
}

static void run_firsts(sn_program *p)
{
    if (on(p->context->options.fusion) && on(p->context->options.cost_model))
        opt_take_firsts(p->ir);
}

static void run_picks(sn_program *p)
{
    if (on(p->context->options.fusion))
        opt_pick_sorted(p->ir);
}

static void run_windows(sn_program *p)
{
    if (on(p->context->options.fusion) && on(p->context->options.cost_model))
        opt_unfold_windows(p->ir);
}

static void run_packs(sn_program *p)
{
    opt_move_packs(p->ir);
    arena_sweep(p->ir->arena);
}

/* Where lanes of a gang have rows beside each other each. */
static void run_axes(sn_program *p)
{
    const device *d = p->context->engine.device;
    if (on(p->context->options.fusion) && d && !d->limits->group)
        opt_turn_scans(p->ir);
}

static void run_reshapes(sn_program *p)
{
    if (on(p->context->options.fusion))
        opt_go_along_sources(p->ir);
}

/* Where blocks are many threads, a launch more takes longer than what it saves. */
static void run_repeats(sn_program *p)
{
    const device *d = p->context->engine.device;
    if (on(p->context->options.fusion) && on(p->context->options.cost_model) && d && !d->limits->group && !p->sweeps)
        opt_compute_once(p->ir);
}

static void run_literals(sn_program *p)
{
    api_share_literals(p);
}

#define PASS_TERM(name, what) run_##name,
static void (*const term_passes[API_TERM_PASSES])(sn_program *p) = {
#include "base/passes.def"
};

/* Results and conditions are all that a pass changes of what was there before it. */
static void remember(sn_program *p, program_terms *terms)
{
    terms->output.at = arena_copy(p->ir->arena, p->ir->output.at, p->ir->output.n * sizeof(ir_id));
    terms->output.n = p->ir->output.n;
    terms->check.at = arena_copy(p->ir->arena, p->ir->check.at, p->ir->check.n * sizeof(ir_check));
    terms->check.n = p->ir->check.n;
}

/* The passes over terms, and the program's loops; then the same for the programs within it, as deep as they are. */
void api_make_program(sn_program *p)
{
    remember(p, &p->built);
    p->names = p->ir->dim.n;
    p->counts = api_find_counts(p->ir);
    for (unsigned i = 0; i < API_TERM_PASSES; i++) {
        term_passes[i](p);
        remember(p, &p->after[i]);
    }
    api_make_versions(p);
    for (ir_id id = 1; id < p->ir->node.n; id++) {
        const ir_control *c = ir_at(p->ir, id)->kind == IR_CONTROL ? ir_info(p->ir, id)->control : NULL;
        for (uint32_t i = 0; c && i < c->regions; i++) {
            bool known = false;
            for (uint32_t k = 0; k < p->inside.n; k++)
                known |= p->inside.at[k]->ir == c->region[i].program;
            if (known)
                continue;
            sn_program *q = arena_new(p->ir->arena, *q);
            q->context = p->context;
            q->outer = p;
            q->ir = c->region[i].program;
            q->ir->code = p->ir->code;
            q->sweeps = p->sweeps || c->region[i].many;
            vec_push(p->ir->arena, &p->inside, q);
            api_make_program(q);
        }
    }
    api_attach_regions(p);
}

/* False, reported, if the program is wrong. */
static bool compile(sn_program *p, const origin *from)
{
    sn_context *cx = p->context;
    sn_site at = from->at;
    p->made = (sn_site){at.file ? arena_copy(&p->arena, at.file, strlen(at.file) + 1) : NULL, at.line};
    if (!make_terms(p, from))
        return false;
    if (p->ir->error.n) {
        text t;
        text_init(&t, &p->arena);
        embed_messages(p->ir, &t);
        int length = (int)strlen(t.at) - 1; /* the last line ends as other messages do: without a newline */
        api_fail(cx, p->ports.bad_signature ? SN_BAD_SIGNATURE : SN_BAD_PROGRAM, "%.*s", length, t.at);
        return false;
    }
    warn(p);
    api_keep_copy(p);
    api_make_program(p);
    if (cx->profile)
        api_record(p, true);
    list_arguments(p);
    p->needed = arena_alloc(&p->arena, (size_t)p->params + p->ports.constant.n + 1);
    opt_needed(p->ir, p->needed);
    arena_sweep(&p->arena);
    return keep_constants(p);
}

static sn_program *make_program(sn_context *cx, const origin *from)
{
    sn_program *p = cx->heap.alloc(cx->heap.env, sizeof(*p));
    if (!p) {
        lacks_memory(cx, from, "make a program");
        return NULL;
    }
    *p = (sn_program){.context = cx, .owner = {abandon, p}, .vector_bytes = from->vector_bytes};
    handle_open(cx, &p->handle, HANDLE_PROGRAM, NULL, from->at);
    arena_init(&p->arena, &cx->heap);
    pthread_mutex_init(&p->lock, NULL);
    jmp_buf failure;
    volatile bool good = false;
    if (setjmp(failure)) {
        lacks_memory(cx, from, "compile a program");
    } else {
        arena_on_failure(&p->arena, &failure);
        good = compile(p, from);
    }
    arena_on_failure(&p->arena, NULL);
    if (!good) {
        free_program(p);
        return NULL;
    }
    handle_name(cx, &p->handle, from->terms ? "sn_parse_program" : "sn_compile");
    return p;
}

sn_program *sn_compile_at(sn_site at, sn_context *cx, const char *signature, sn_body body)
{
    const origin from = {.at = at, .function = "compile", .signature = signature, .body = body};
    return api_is_open(cx, place_of(&from)) ? make_program(cx, &from) : NULL;
}

sn_program *sn_parse_program_at(sn_site at, sn_context *cx, const char *terms)
{
    if (!api_is_open(cx, api_function_at(at, "parse_program")))
        return NULL;
    if (!terms) {
        api_fail_at(cx, api_function_at(at, "parse_program"), SN_BAD_ARGUMENT,
                    "the text is NULL; sn_explain(program, \"term\") gives one");
        return NULL;
    }
    return api_parse_for(api_function_at(at, "parse_program"), cx, terms, 0, NULL);
}

sn_program *api_parse_for(api_who who, sn_context *cx, const char *terms, uint32_t vector_bytes, bool *no_memory)
{
    return make_program(
        cx,
        &(origin){
            .at = who.at, .function = who.what, .no_memory = no_memory, .terms = terms, .vector_bytes = vector_bytes});
}

void sn_drop(sn_program *p)
{
    if (p && !handle_stale(p, HANDLE_PROGRAM, "sn_drop"))
        free_program(p);
}
