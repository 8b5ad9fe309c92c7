/* Functions of arrays that are not ours: called with what the call has in memory of the device, and, where a driver has
 * queues, with the queue of the call. */
#include "run/foreign.h"

#include "run/transfer.h"

#include <inttypes.h>

/* --- what it gets --- */

/* A component of an operand, where the function reaches it. */
static bool operand_of(run *c, const plan_control *p, uint32_t input, uint32_t component, sn_foreign_array *to)
{
    const uint32_t buffer = p->input.at[input] + component;
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    const plan_shape *s = &c->plan->shape.at[b->shape];
    if (!run_upload(c, buffer, NULL))
        return false;
    const bool here = c->host[buffer] && !c->r->engine.device->limits->own_memory;
    *to = (sn_foreign_array){.type = (sn_type)b->type, .rank = s->rank};
    to->data = here ? (void *)(uintptr_t)c->host[buffer] : c->data[buffer];
    for (unsigned d = 0; d < s->rank; d++)
        to->extent[d] = b->place == PLAN_INPUT ? c->in[b->port].extent[d] : host_i64(c->value, s->extent[d]);
    return true;
}

/* A component of the result: the caller's memory where it goes there, else the pool's. */
static bool result_of(run *c, uint32_t buffer, sn_foreign_array *to)
{
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    const plan_shape *s = &c->plan->shape.at[b->shape];
    const run_result *out = b->place == PLAN_OUTPUT && c->out[b->port].given ? &c->out[b->port] : NULL;
    size_t bytes = 0;
    *to = (sn_foreign_array){.type = (sn_type)b->type, .rank = s->rank};
    for (unsigned d = 0; d < s->rank; d++)
        to->extent[d] = host_i64(c->value, s->extent[d]);
    if (!size_of_array(ir_type_size(b->type), s->rank, to->extent, &bytes))
        return run_fails_at(c, b->site, SN_TOO_LARGE, "an array does not fit in memory; make its extents smaller");
    if (out && !out->field.every && run_capacity(out, s->rank) >= c->size[b->shape])
        c->data[buffer] = run_reach(c, out->data);
    if (!c->data[buffer])
        c->data[buffer] = run_take(c, bytes, b->site, &c->granted[buffer]);
    to->data = c->data[buffer];
    return to->data != NULL;
}

static bool take_operands(run *c, const plan_control *pc, const ir_foreign *f, sn_foreign_call *call)
{
    const ir_program *p = c->r->l->ir;
    const ir_array *info = ir_info(p, pc->array);
    sn_foreign_array *all;
    int n = 0;
    for (uint32_t i = 0; i < f->operands; i++)
        call->inputs += ir_info(p, info->input[f->operand[i]])->components;
    call->input = all = arena_array(c->arena, *all, (size_t)call->inputs + 1);
    for (uint32_t i = 0; i < f->operands; i++)
        for (uint32_t k = 0; k < ir_info(p, info->input[f->operand[i]])->components; k++)
            if (!operand_of(c, pc, f->operand[i], k, &all[n++]))
                return false;
    return true;
}

typedef sn_status (*foreign_function)(void *env, sn_foreign_call *call);

static foreign_function function_for(const ir_foreign *f, const device *d)
{
    const char *kind = d->limits->kind;
    return !strcmp(kind, "cpu")      ? f->code->cpu
           : !strcmp(kind, "opencl") ? f->code->opencl
           : !strcmp(kind, "cuda")   ? f->code->cuda
                                     : NULL;
}

/* --- the call --- */

typedef struct foreign_work {
    foreign_function function;
    void *env;
    sn_foreign_call *call;
    sn_status status;
} foreign_work;

static void do_foreign(void *env, const device_native *native)
{
    foreign_work *w = env;
    w->call->queue = native->queue;
    w->call->context = native->context;
    w->call->device = native->device;
    w->status = w->function(w->env, w->call);
}

/* What launches that failed leave undone is not the function's to see. */
static bool do_work(run *c, foreign_work *w)
{
    device *d = c->r->engine.device;
    if (!d->lend && !run_caught_up(c))
        return false;
    if (!d->lend) {
        w->status = w->function(w->env, w->call);
        return true;
    }
    if (c->root->unsettled && !run_settle(c))
        return false;
    return d->lend(d, c->queue, do_foreign, w) || run_settle(c);
}

/* Did the function leave the shape of its result as it was told? Else a sentence in c->arena. */
static const char *other_shape(const run *c, const sn_foreign_call *call, const sn_foreign_array *told)
{
    for (int k = 0; k < call->outputs; k++) {
        const sn_foreign_array *o = &call->output[k];
        const char *of = call->outputs > 1 ? arena_printf(c->arena, "component %d of its result", k) : "its result";
        if (o->type != told[k].type || o->rank != told[k].rank)
            return arena_printf(c->arena, "it says that %s is of rank %d, of type %s; the fallback's is of rank %d, %s",
                                of, o->rank, ir_type_name((ir_type)o->type), told[k].rank,
                                ir_type_name((ir_type)told[k].type));
        for (int d = 0; d < told[k].rank; d++)
            if (o->extent[d] != told[k].extent[d])
                return arena_printf(
                    c->arena, "it says that dimension %d of %s has %" PRId64 " elements; the fallback's has %" PRId64,
                    d, of, o->extent[d], told[k].extent[d]);
        if (o->data != told[k].data || o->offset != told[k].offset)
            return arena_printf(c->arena, "it put %s elsewhere; it writes to the memory that it is given", of);
    }
    return NULL;
}

static bool foreign_fails(run *c, const plan_control *p, sn_status status, const char *said)
{
    return run_fails_at(c, p->site, status, "%s: %s", p->of->foreign->name, said);
}

static void let_results_go(run *c, uint32_t first, int n)
{
    for (int k = 0; k < n; k++) {
        run_let_go(c, c->data[first + (uint32_t)k], c->granted[first + (uint32_t)k]);
        c->data[first + (uint32_t)k] = NULL;
        c->granted[first + (uint32_t)k] = 0;
    }
}

static int components_of(const plan_control *p)
{
    const ir_region *r = p->of->region;
    const uint32_t result = r->result[0];
    const ir_id array =
        result & IR_PASSED ? r->program->input.at[result & ~(uint32_t)IR_PASSED] : r->program->output.at[result];
    return ir_info(r->program, array)->components;
}

bool run_foreign(run *c, const plan_control *p, bool *done)
{
    const ir_foreign *f = p->of->foreign;
    sn_foreign_call call = {0};
    foreign_work w = {.function = f ? function_for(f, c->r->engine.device) : NULL, .call = &call};
    *done = false;
    if (!w.function || !p->part.at[0])
        return true;
    const uint32_t first = p->part.at[0] - 1;
    run_read_terms(c);
    const bool taken = take_operands(c, p, f, &call);
    run_read_ends(c);
    call.outputs = components_of(p);
    call.output = arena_array(c->arena, *call.output, (size_t)call.outputs);
    for (int k = 0; k < call.outputs && taken; k++)
        if (!result_of(c, first + (uint32_t)k, &call.output[k]))
            return false;
    const sn_foreign_array *told = arena_copy(c->arena, call.output, (size_t)call.outputs * sizeof(*told));
    w.env = f->code->env;
    if (!taken || !do_work(c, &w))
        return false;
    if (w.status == SN_UNSUPPORTED)
        let_results_go(c, first, call.outputs);
    *done = w.status == SN_OK;
    if (w.status == SN_UNSUPPORTED)
        return true;
    const char *other = *done ? other_shape(c, &call, told) : NULL;
    if (other)
        return foreign_fails(c, p, SN_FOREIGN_FAILED, other);
    if (*done)
        return true;
    call.message[sizeof(call.message) - 1] = 0;
    const bool known = w.status >= 300 && w.status < 500;
    return foreign_fails(c, p, known ? w.status : SN_FOREIGN_FAILED,
                         call.message[0] ? call.message : "the function fails, and does not say why");
}
