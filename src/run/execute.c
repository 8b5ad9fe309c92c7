/* Executes the steps of a plan. */
#include "base/size.h"
#include "run/fields.h"
#include "run/launch.h"
#include "run/script.h"
#include "run/sort.h"
#include "run/tape.h"
#include "run/transfer.h"

#include <inttypes.h>

/* --- what arguments determine --- */

static bool bind_extent(run *c, const plan_binding *b, uint32_t argument)
{
    int64_t found = c->in[argument].extent[b->dimension];
    if (!b->named)
        return true; /* compared when extents are evaluated */
    if (!c->bound[b->number]) {
        c->dims[b->number] = found;
        c->bound[b->number] = true;
        c->bound_by[b->number] = argument;
        return true;
    }
    if (c->dims[b->number] == found)
        return true;
    return run_fails(c, SN_BAD_EXTENT,
                     "extent %s is %" PRId64 " in argument %u, but %" PRId64 " in dimension %u of argument %u",
                     c->plan->dim.at[b->number], c->dims[b->number], c->in[c->bound_by[b->number]].number, found,
                     b->dimension, c->in[argument].number);
}

static bool bind_extents(run *c)
{
    const plan *p = c->plan;
    for (uint32_t k = 0; c->given_dim && k < p->dim.n; k++) {
        c->dims[k] = c->given_dim[2 * k + 1];
        c->bound[k] = c->given_dim[2 * k] != 0;
    }
    for (uint32_t i = 0; i < p->number.n; i++) {
        c->dims[p->number.at[i].dim] = p->number.at[i].value;
        c->bound[p->number.at[i].dim] = true;
    }
    for (uint32_t i = 0; i < p->binding.n; i++) {
        const plan_binding *b = &p->binding.at[i];
        for (uint32_t k = p->input_first[b->input]; k < p->input_first[b->input + 1]; k++)
            if (!bind_extent(c, b, k))
                return false;
    }
    return true;
}

/* Parameters whose extents are constants or computed. */
static bool check_bindings(run *c)
{
    const plan *p = c->plan;
    for (uint32_t i = 0; i < p->binding.n; i++) {
        const plan_binding *b = &p->binding.at[i];
        if (b->named)
            continue;
        if (c->value[b->number].bad)
            return run_fails_host(c, c->value[b->number].bad - 1, 0);
        int64_t wanted = host_i64(c->value, b->number);
        for (uint32_t k = p->input_first[b->input]; k < p->input_first[b->input + 1]; k++)
            if (c->in[k].extent[b->dimension] != wanted)
                return run_fails(c, SN_BAD_EXTENT,
                                 "dimension %u of argument %u has the extent %" PRId64 ", not %" PRId64, b->dimension,
                                 c->in[k].number, c->in[k].extent[b->dimension], wanted);
    }
    return true;
}

/* --- the world of host code --- */

static ir_bits read_element(void *env, ir_id array, uint32_t component, int64_t position)
{
    run *c = env;
    uint32_t buffer;
    ir_bits bits = 0;
    if (!plan_find(c->plan, array, component, &buffer) ||
        !(c->data[buffer] || c->host[buffer] || run_is_field(c, buffer))) {
        run_fails(c, SN_INTERNAL, "internal error: the host reads an array that is not in memory");
        return 0;
    }
    run_read_host(c, buffer, position, &bits); /* its failure is kept in c */
    return bits;
}

static bool world_dim(void *env, uint32_t number, int64_t *out)
{
    const run *c = env;
    *out = c->dims[number];
    return c->bound[number];
}

/* An element read by a closed loop: the indices are checked against the array's extents. */
static bool world_read(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *failure)
{
    run *c = env;
    uint32_t buffer;
    failure->mistake = FAILS_READ;
    if (!plan_find(c->plan, read->array, (uint32_t)read->u.literal, &buffer))
        return false;
    const plan_shape *s = &c->plan->shape.at[c->plan->buffer.at[buffer].shape];
    int64_t at = 0;
    if (read->flags & IR_LINEAR) {
        at = index[0];
        if (at < 0 || at >= c->size[c->plan->buffer.at[buffer].shape])
            return false;
    }
    for (unsigned d = 0; d < s->rank && !(read->flags & IR_LINEAR); d++) {
        int64_t n = host_i64(c->value, s->extent[d]);
        if (index[d] < 0 || index[d] >= n)
            return false;
        at = at * n + index[d];
    }
    *out = read_element(c, read->array, (uint32_t)read->u.literal, at);
    return true;
}

static bool host_loop(void *env, ir_id term, ir_bits *out)
{
    run *c = env;
    scalar_world world = {.dim = world_dim, .read = world_read, .env = c};
    scalar_failure failure;
    run_read_terms(c);
    bool good = evaluator_run(evaluator_new(c->r->l->ir, c->arena, 1, &term), &world, out, &failure);
    run_read_ends(c);
    return good;
}

/* --- steps --- */

static bool is_long_sum(const run *c, uint32_t step)
{
    const host_step *s = &c->plan->host.step.at[step];
    return s->kind == HOST_OP && s->n == 2 &&
           ir_is_long_sum((ir_op)s->op, c->value[s->in[0]].bits, c->value[s->in[1]].bits);
}

static bool step_shape(run *c, uint32_t index)
{
    const plan_shape *s = &c->plan->shape.at[index];
    int64_t extent[IR_MAX_RANK];
    for (unsigned d = 0; d < s->rank; d++) {
        const host_value *v = &c->value[s->extent[d]];
        if (v->bad)
            return run_fails_host(c, v->bad - 1, s->site);
        extent[d] = (int64_t)v->bits;
        if (extent[d] < 0)
            return run_fails_at(c, s->site, SN_BAD_EXTENT, "%s",
                                ir_extent_text(d, extent[d], is_long_sum(c, s->extent[d]), c->arena));
    }
    return size_count(s->rank, extent, &c->size[index]) ||
           run_fails_at(c, s->site, SN_TOO_LARGE, "the number of elements exceeds 63 bits; make its extents smaller");
}

static bool step_check(run *c, uint32_t index)
{
    const plan_check *k = &c->plan->check.at[index];
    const host_value *left = &c->value[k->left], *right = &c->value[k->right];
    if (left->bad || right->bad)
        return run_fails_host(c, (left->bad ? left->bad : right->bad) - 1, k->site);
    if (left->bits == right->bits)
        return true;
    return run_fails_check(c, k, (int64_t)left->bits, (int64_t)right->bits);
}

bool run_bytes(const run *c, const plan_buffer *b, size_t *bytes)
{
    return size_times((size_t)c->size[b->shape], ir_type_size(b->type), bytes);
}

/* Of the caller's memory: elements. */
static int64_t capacity_of(const run_result *out, unsigned rank)
{
    int64_t n = 0;
    return out->upto ? out->capacity : size_count(rank, out->extent, &n) ? n : 0;
}

static bool fails_size(run *c, const plan_buffer *b)
{
    return run_fails_at(c, b->site, SN_TOO_LARGE,
                        "an array of %" PRId64 " elements does not fit in memory; make its extents smaller",
                        c->size[b->room]);
}

/* `site`: of the operation that needs it. */
static bool take(run *c, size_t bytes, uint32_t site, void **data, size_t *granted)
{
    *data = run_take(c, bytes, site, granted);
    return *data != NULL;
}

/* What the launches of a cluster hand to each other, as much as the sized one needs. False: too much to count. */
static bool handed_bytes(const run *c, const plan_buffer *b, size_t *bytes)
{
    const run_sized *l = &c->sized[b->launch];
    const sk_geometry *g = l->found ? &l->found->geometry : NULL;
    *bytes = 0;
    if (!g || (b->place != PLAN_STATE && g->partials <= 1))
        return true;
    if (b->place == PLAN_SPARE)
        return run_bytes(c, b, bytes);
    if (b->place == PLAN_STATE)
        return size_times((size_t)g->state_words, ir_type_size(b->type), bytes);
    return size_times((size_t)l->rows, (size_t)g->partials, bytes) && size_times(*bytes, ir_type_size(b->type), bytes);
}

bool run_alloc_bytes(const run *c, uint32_t buffer, size_t *bytes)
{
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    if (b->place >= PLAN_PARTIALS)
        return handed_bytes(c, b, bytes);
    return size_times((size_t)c->size[b->room], ir_type_size(b->type), bytes);
}

static bool alloc_handed(run *c, uint32_t index)
{
    const plan_buffer *b = &c->plan->buffer.at[index];
    size_t bytes;
    if (!handed_bytes(c, b, &bytes))
        return run_fails_at(
            c, b->site, SN_TOO_LARGE, "%s",
            b->place == PLAN_SPARE ? "an array and its copy, to sort it, do not fit in memory; make its extents smaller"
            : b->place == PLAN_STATE ? "the states of a loop do not fit in memory; its rows are too many"
                                     : "the partial results of a fold do not fit in memory; make its extents smaller");
    return !bytes || take(c, bytes, b->site, &c->data[index], &c->granted[index]);
}

static bool step_alloc(run *c, uint32_t index);

/* A part lies in its whole, behind the parts before it. */
static bool alloc_within(run *c, uint32_t index)
{
    const plan_buffer *b = &c->plan->buffer.at[index];
    size_t at = 0;
    if (!step_alloc(c, b->within - 1))
        return false;
    for (uint32_t k = b->before; k; k = c->plan->buffer.at[k - 1].before)
        at += (size_t)c->size[c->plan->buffer.at[k - 1].shape];
    c->data[index] = (char *)c->data[b->within - 1] + at * ir_type_size(b->type);
    return true;
}

/* The memory of a loop's state that dies with this round, which begins with it. */
static bool take_dying(run *c, uint32_t index)
{
    const plan_buffer *b = &c->plan->buffer.at[index];
    const uint32_t from = b->over - 1;
    if (!b->over || !c->within || (b->place == PLAN_OUTPUT && c->out[b->port].given))
        return false;
    const run_argument *in = &c->in[c->plan->buffer.at[from].port];
    if (!in->given || !*in->given || !c->data[from])
        return false;
    c->data[index] = c->data[from];
    c->granted[index] = *in->given;
    *in->given = 0;
    return true;
}

static bool step_alloc(run *c, uint32_t index)
{
    const plan_buffer *b = &c->plan->buffer.at[index];
    const int64_t elements = c->size[b->room];
    size_t bytes;
    if (b->place >= PLAN_PARTIALS)
        return alloc_handed(c, index);
    if (b->within)
        return alloc_within(c, index);
    if (c->data[index] || take_dying(c, index)) /* the defaults of a permute are there already */
        return true;
    if (c->layout && c->layout->at[index].over) {
        c->data[index] = c->data[c->layout->at[index].over - 1];
        return true;
    }
    if (b->place == PLAN_OUTPUT && c->out[b->port].given) {
        const run_result *out = &c->out[b->port];
        if (c->layout && c->layout->at[index].every)
            return true; /* when a kernel wants an array */
        if (!out->field.every && capacity_of(out, c->plan->shape.at[b->shape].rank) >= elements)
            c->data[index] = run_reach(c, out->data);
    }
    if (c->data[index])
        return true;
    if (!size_times((size_t)elements, ir_type_size(b->type), &bytes))
        return fails_size(c, b);
    return take(c, bytes, b->site, &c->data[index], &c->granted[index]);
}

static bool step_clear(run *c, uint32_t index)
{
    size_t bytes;
    handed_bytes(c, &c->plan->buffer.at[index], &bytes); /* counted when it was allocated */
    return !bytes || run_clear(c, c->data[index], bytes);
}

/* A permute begins with its defaults. */
static bool step_begin(run *c, uint32_t to, uint32_t from)
{
    size_t bytes;
    if (c->data[to] && c->data[to] == c->data[from]) /* its memory was taken */
        return true;
    run_bytes(c, &c->plan->buffer.at[to], &bytes); /* counted when it was allocated */
    run_count_copy(c->r->engine.counters, bytes);
    return run_copy_between(c, to, from, bytes);
}

static void swap(run *c, uint32_t one, uint32_t other)
{
    void *data = c->data[one];
    size_t granted = c->granted[one];
    c->data[one] = c->data[other];
    c->granted[one] = c->granted[other];
    c->data[other] = data;
    c->granted[other] = granted;
}

static void give_back(run *c, uint32_t index)
{
    run_let_go(c, c->data[index], c->granted[index]);
    c->data[index] = NULL;
    c->granted[index] = 0;
}

/* Gives memory back where much less is needed than there was room for: a copy in exchange for it. */
static void trim(run *c, uint32_t index)
{
    enum { LEAST_BYTES = 64 << 10 };
    const plan_buffer *b = &c->plan->buffer.at[index];
    run_pool *pool = c->r->engine.pool;
    size_t bytes, granted = 0;
    if (!run_bytes(c, b, &bytes) || c->granted[index] < LEAST_BYTES || c->granted[index] / 2 < run_pool_size(bytes))
        return;
    void *data = run_pool_take(pool, bytes, &granted);
    if (!data)
        return;
    if (!run_copy(c, data, c->data[index], bytes)) {
        run_pool_give(pool, data, granted);
        return;
    }
    run_count_copy(c->r->engine.counters, bytes);
    give_back(c, index);
    c->data[index] = data;
    c->granted[index] = granted;
}

static bool fails_too_small(run *c)
{
    const uint32_t index = c->too_small - 1;
    const plan_buffer *b = &c->plan->buffer.at[c->plan->result.at[index].buffer];
    return run_fails(c, SN_BAD_EXTENT, "%s", run_too_small(c->arena, &c->out[index], c->size[b->shape]));
}

static bool step_result(run *c, uint32_t index)
{
    const plan_result *from = &c->plan->result.at[index];
    const plan_buffer *b = &c->plan->buffer.at[from->buffer];
    const plan_shape *s = &c->plan->shape.at[b->shape];
    run_result *out = &c->out[index];
    for (unsigned d = 0; d < s->rank; d++) {
        int64_t n = host_i64(c->value, s->extent[d]);
        if (out->given && !out->upto && out->extent[d] != n)
            return run_fails(c, SN_BAD_EXTENT,
                             "dimension %u of result %u has the extent %" PRId64 ", but there is memory for %" PRId64,
                             d, out->number, n, out->extent[d]);
        out->extent[d] = n;
    }
    out->known = true;
    if (out->upto && c->size[b->shape] > out->capacity) {
        if (!c->too_small)
            c->too_small = index + 1;
        return from->counted || fails_too_small(c); /* work has been done: the others are counted, too */
    }
    if (b->room != b->shape && !out->given && !from->copied)
        trim(c, from->buffer);
    return c->status == SN_OK;
}

static bool step_copy(run *c, uint32_t index)
{
    const plan_buffer *b = &c->plan->buffer.at[c->plan->result.at[index].buffer];
    size_t bytes;
    if (c->too_small)
        return fails_too_small(c);
    if (!run_bytes(c, b, &bytes))
        return fails_size(c, b);
    run_count_copy(c->r->engine.counters, bytes);
    return run_copy_out(c, index, bytes);
}

/* --- regions --- */

static bool step_evaluate(run *c, const plan_step *s)
{
    run_watch watch = run_begin_step(c);
    host_run(&c->plan->host, s->index, s->last, &c->world, c->value);
    run_end_step(c, watch, RUN_EVALUATE, 0);
    return c->status == SN_OK && (s->index != 0 || check_bindings(c));
}

bool run_stops(run *c)
{
    const run *root = c->root;
    bool stops = root->stop && atomic_load_explicit(root->stop, memory_order_relaxed);
    const atomic_uint *cancels = root->r->engine.cancels;
    stops |= cancels && atomic_load_explicit(cancels, memory_order_relaxed) != root->cancels;
    if (stops)
        run_fails(c, SN_CANCELLED, "the call was cancelled; call it again");
    return stops;
}

static bool execute(run *c, uint32_t first, uint32_t last);

static bool rounds(run *c, uint32_t cluster, uint32_t first, uint32_t last)
{
    while (c->left[cluster] > 1)
        if (!execute(c, first, last))
            return false;
    return true;
}

/* `at`: of a region, where it is in the plan. */
static bool step(run *c, const plan_step *s, uint32_t at)
{
    switch (s->op) {
    case PLAN_EVALUATE:
        return step_evaluate(c, s);
    case PLAN_SHAPE:
        return step_shape(c, s->index);
    case PLAN_CHECK:
        return step_check(c, s->index);
    case PLAN_RESULT:
        return step_result(c, s->index);
    case PLAN_ALLOC:
        return step_alloc(c, s->index);
    case PLAN_CLEAR:
        return step_clear(c, s->index);
    case PLAN_BEGIN:
        return step_begin(c, s->index, s->last);
    case PLAN_SIZE:
        return run_step_size(c, s->index);
    case PLAN_LAUNCH:
        return run_step_launch(c, s->index);
    case PLAN_SWAP:
        swap(c, s->index, s->last);
        return true;
    case PLAN_FREE:
        give_back(c, s->index);
        return true;
    case PLAN_COPY:
        return step_copy(c, s->index);
    case PLAN_IF:
    case PLAN_FOREIGN:
    case PLAN_WHILE:
    case PLAN_REPEAT:
        return run_control_step(c, s->index);
    default:
        return rounds(c, s->index, at + 1, s->last);
    }
}

/* Steps [first, last), a whole sequence of the tree. */
static bool execute(run *c, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i = plan_behind(c->plan, i)) {
        if (!step(c, &c->plan->step.at[i], i))
            return false;
        if (c->tape)
            run_tape_step(c, &c->plan->step.at[i]);
        if (c->scribe)
            run_script_step(c, &c->plan->step.at[i]);
    }
    return true;
}

/* A call of extents that have been seen. */
static bool repeat(run *c, const run_script *s)
{
    const plan *p = c->plan;
    void **mem = arena_array(c->arena, *mem, s->pointers + 1);
    c->dims = run_script_dims(c, s);
    c->bound = (bool *)(uintptr_t)s->bound; /* what is not changed any more */
    c->value = (host_value *)(uintptr_t)s->value;
    c->size = (int64_t *)(uintptr_t)s->size;
    c->sized = (run_sized *)(uintptr_t)s->sized;
    c->world = (host_world){c->dims, c->bound, read_element, host_loop, c};
    if (s->again)
        c->sized = arena_array(c->arena, run_sized, p->launch.n + 1);
    for (uint32_t i = 0; i < s->steps; i++) {
        const run_scripted *x = &s->step[i];
        const plan_step plain = {x->op, x->index, x->last};
        bool good = true;
        if (x->op == PLAN_LAUNCH) {
            good = run_scripted_launch(c, x->ready, mem);
            mem += x->ready->pointers;
        } else if (x->op != PLAN_SIZE) {
            good = step(c, &plain, 0);
        } else if (s->again) {
            c->sized[x->index] = x->sized;
        }
        if (!good)
            return false;
    }
    return true;
}

/* Results that stay on the device pass to the caller; everything else of the pool goes back. */
static void finish(run *c)
{
    const plan *p = c->plan;
    for (uint32_t i = 0; i < p->result.n; i++) {
        run_result *out = &c->out[i];
        if (out->given)
            continue;
        if (c->status == SN_OK && !p->result.at[i].copied) {
            out->data = c->data[p->result.at[i].buffer];
            out->granted = c->granted[p->result.at[i].buffer];
            c->granted[p->result.at[i].buffer] = 0;
            run_take_over(c, p->result.at[i].buffer, &out->granted);
        } else if (c->status != SN_OK) {
            run_pool_give(c->r->engine.pool, out->data, out->granted);
            out->data = NULL;
        }
    }
    for (uint32_t i = 0; c->data && i < p->buffer.n;
         i++) /* memory may have run out before there was a list of blocks */
        give_back(c, i);
    ir_trace_clear(&c->trace);
}

/* Are there fields of structs among the arguments? */
static bool has_fields(const run *c)
{
    const plan *p = c->plan;
    for (uint32_t i = 0; i < p->input_first[p->inputs]; i++)
        if (c->in[i].field.every)
            return true;
    for (uint32_t i = 0; i < p->result.n; i++)
        if (c->out[i].field.every)
            return true;
    return false;
}

static bool has_given(const run *c)
{
    const plan *p = c->plan;
    for (uint32_t i = 0; i < p->input_first[p->inputs]; i++)
        if (c->in[i].given)
            return true;
    return false;
}

static void prepare_fields(run *c)
{
    const plan *p = c->plan;
    c->field = arena_array(c->arena, *c->field, p->buffer.n + 1);
    c->from = arena_array(c->arena, *c->from, p->result.n + 1);
    c->put = arena_array(c->arena, *c->put, p->result.n + 1);
    for (uint32_t i = 0; i < p->buffer.n; i++) {
        const plan_buffer *b = &p->buffer.at[i];
        if (b->place == PLAN_INPUT && c->in[b->port].field.every)
            c->field[i].data = c->in[b->port].data;
        if (b->place == PLAN_OUTPUT && c->out[b->port].field.every)
            c->field[i].data = c->out[b->port].data;
    }
}

/* Where arrays are. */
static void prepare(run *c)
{
    const plan *p = c->plan;
    c->granted = arena_array(c->arena, size_t, p->buffer.n + 1);
    c->data = arena_array(c->arena, void *, p->buffer.n + 1);
    c->host = arena_array(c->arena, const void *, p->buffer.n + 1);
    if (!c->within && has_fields(c))
        prepare_fields(c);
    if (!c->within && (c->field || has_given(c)))
        c->layout = run_find_layout(c);
    for (uint32_t i = 0; i < p->buffer.n; i++) {
        if (p->buffer.at[i].place != PLAN_INPUT)
            continue;
        const run_argument *in = &c->in[p->buffer.at[i].port];
        if (in->field.every)
            continue;
        c->data[i] = in->block ? in->block : run_reach(c, in->data);
        c->host[i] = in->data;
    }
}

/* What the plan's steps find out. */
static void prepare_steps(run *c)
{
    const plan *p = c->plan;
    c->dims = arena_array(c->arena, int64_t, p->dim.n + 1);
    c->bound = arena_alloc(c->arena, p->dim.n + 1);
    c->bound_by = arena_array(c->arena, uint32_t, p->dim.n + 1);
    c->value = arena_array(c->arena, host_value, p->host.step.n + 1);
    c->size = arena_array(c->arena, int64_t, p->shape.n + 1);
    c->sized = arena_array(c->arena, run_sized, p->launch.n + 1);
    c->left = arena_array(c->arena, int64_t, p->cluster.n + 1);
    for (uint32_t i = 0; i < p->cluster.n && !c->sort; i++)
        if (p->cluster.at[i].sorts)
            c->sort = arena_array(c->arena, *c->sort, p->cluster.n);
    c->world = (host_world){c->dims, c->bound, read_element, host_loop, c};
}

/* The same with memory running out as a value. */
static bool arrays_for(run_program *r, const run_argument *in, run_result *out, arena *a, run_arrays *all)
{
    jmp_buf failure;
    volatile bool good = false;
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        good = run_fields_as_arrays(r, in, out, a, all);
    }
    arena_on_failure(a, NULL);
    return good;
}

static bool asked_to_stop(void *env)
{
    run *c = env;
    const sn_status before = c->status;
    const run_said said = c->said;
    c->status = SN_OK;
    const bool stops = run_stops(c);
    c->status = before;
    c->said = said;
    return stops;
}

/* `reason`: why, where it is news. Terms are read, and another call may be building kernels still. */
static sn_status interpret(run *c, const char *reason, run_said *said)
{
    run_program *r = c->r;
    const run_argument *in = c->in;
    run_result *out = c->out;
    arena *a = c->arena;
    const ir_stop stop = {asked_to_stop, c};
    ir_trace trace = {.heap = r->engine.heap};
    run_arrays all = {.out = out};
    const uint64_t since = run_clock(r);
    sn_status status = SN_NO_MEMORY;
    run_lock(r);
    if (arrays_for(r, in, out, a, &all))
        status = run_interpreted(&r->engine, r->l->ir, r->plan, all.in, all.out, a, &trace, &stop, said);
    else
        *said = (run_said){"no memory for the components of structs", false};
    run_unlock(r);
    run_arrays_end(r, out, &all, status == SN_OK);
    run_note_step(r, RUN_INTERPRET, since, 0);
    run_say_trace(r, &trace);
    if (status == SN_OK)
        *said = (run_said){reason, false};
    return status;
}

/* All steps, taped if the call is recorded on a device whose programs are exported as sources. */
static bool execute_all(run *c)
{
    run_tape_begin(c);
    const bool good = execute(c, 0, c->plan->step.n);
    run_tape_end(c, good);
    if (good && c->scribe)
        run_script_end(c);
    return good;
}

static bool all_steps(run *c)
{
    const run_script *known = run_find_script(c);
    if (known)
        return repeat(c, known);
    prepare_steps(c);
    return bind_extents(c) && run_take_overlapping(c) && execute_all(c);
}

static bool work(run *c)
{
    prepare(c);
    if (!run_open_queue(c) || !all_steps(c))
        return false;
    return c->too_small ? fails_too_small(c) : run_hand_out_results(c);
}

bool run_inside(run *c)
{
    prepare(c);
    return all_steps(c) && run_hand_out_results(c);
}

/* Does something that takes memory of the call's arena. */
static void with_memory(run *c, bool (*something)(run *c))
{
    jmp_buf failure;
    if (setjmp(failure)) {
        if (c->locked)
            run_read_ends(c);
        run_tape_end(c, false);
        c->status = SN_NO_MEMORY;
        c->said = (run_said){"no memory to run", false};
    } else {
        arena_on_failure(c->arena, &failure);
        something(c);
    }
    arena_on_failure(c->arena, NULL);
}

static run *new_run(run_program *r, const run_argument *in, run_result *out, arena *a)
{
    jmp_buf failure;
    if (setjmp(failure)) {
        arena_on_failure(a, NULL);
        return NULL;
    }
    arena_on_failure(a, &failure);
    run *c = arena_new(a, *c);
    arena_on_failure(a, NULL);
    *c = (run){.r = r, .trace = {.heap = r->engine.heap}, .plan = r->plan, .arena = a, .in = in, .out = out};
    c->root = c;
    return c;
}

unsigned run_cancels(const run_program *r)
{
    return r->engine.cancels ? atomic_load_explicit(r->engine.cancels, memory_order_relaxed) : 0;
}

bool run_begin_waits(const run_program *r)
{
    const plan *p = r->plan;
    bool waits = p->control.n > 0;
    for (uint32_t i = 0; i < p->host.step.n && !waits; i++) {
        const host_step *s = &p->host.step.at[i];
        uint32_t buffer;
        waits = s->op == HOST_READ && plan_find(p, s->array, s->number, &buffer) &&
                p->buffer.at[buffer].place != PLAN_INPUT;
    }
    return waits;
}

run *run_begin(run_program *r, const run_argument *in, run_result *out, arena *a)
{
    return run_begin_until(r, in, out, a, NULL, run_cancels(r));
}

run *run_begin_until(run_program *r, const run_argument *in, run_result *out, arena *a, const atomic_bool *stop,
                     unsigned cancels)
{
    run *c = new_run(r, in, out, a);
    if (!c)
        return NULL;
    c->stop = stop;
    c->cancels = cancels;
    c->recorded = run_recording(r);
    c->over = !r->engine.device || atomic_load_explicit(&r->interpreted, memory_order_relaxed);
    if (c->over)
        c->status = interpret(c, NULL, &c->said);
    else {
        with_memory(c, work);
        run_count_launches(c);
    }
    return c;
}

sn_status run_end(run *c, run_said *said)
{
    *said = (run_said){"no memory for a call", false};
    if (!c)
        return SN_NO_MEMORY;
    if (!c->over) {
        run_watch watch = run_begin_step(c);
        const bool waits = run_busy(c);
        if (waits)
            with_memory(c, run_settle);
        run_close_queue(c);
        if (waits)
            run_end_step(c, watch, RUN_WAIT, 0);
        if (c->status == SN_OK)
            run_put_together(c);
        run_free_fields(c);
        finish(c);
    }
    *said = c->said;
    if (c->status == SN_UNSUPPORTED && !c->over && atomic_load(&c->r->interpreted))
        return interpret(c, c->said.text, said);
    return c->status;
}

sn_status run_call(run_program *r, const run_argument *in, run_result *out, arena *a, run_said *said)
{
    return run_end(run_begin(r, in, out, a), said);
}

/* --- programs --- */

run_program *run_program_new(const run_engine *engine, const sk_program *s, const plan *p, const sk_options *options,
                             const run_program *other)
{
    const l_program *l = s->l;
    arena *a = l->ir->arena;
    run_program *r = arena_new(a, *r);
    r->engine = *engine;
    r->l = l;
    r->code = s->cluster;
    r->plan = p;
    r->options = *options;
    r->cluster = arena_array(a, run_cluster, l->cluster.n + 1);
    r->uses = run_find_uses(r, a);
    run_may_script(r, a);
    r->lock = other ? other->lock : &r->own_lock;
    r->profile = other ? other->profile : &r->own_profile;
    pthread_rwlock_init(&r->own_lock, NULL);
    pthread_mutex_init(&r->own_profile.lock, NULL);
    return r;
}

void run_attach(run_program *r, const run_control *control)
{
    r->control = control;
}

void run_program_free(run_program *r)
{
    for (uint32_t i = 0; i < r->l->cluster.n; i++)
        for (run_variant *v = atomic_load(&r->cluster[i].variants); v; v = v->next) {
            device_release_kernel(r->engine.device, v->code);
            device_release_kernel(r->engine.device, v->draft);
        }
    run_free_rows(r);
    run_free_tapes(r);
    pthread_mutex_destroy(&r->own_profile.lock);
    pthread_rwlock_destroy(&r->own_lock);
}

uint64_t run_launches(const run_program *r)
{
    return atomic_load_explicit(&((run_program *)(uintptr_t)r)->launches, memory_order_relaxed);
}

uint32_t run_kernels(run_program *r)
{
    return atomic_load(&r->kernels);
}

void run_conversions(const run_program *r, uint64_t *conversions, uint64_t *bytes)
{
    *conversions = atomic_load_explicit(&((run_program *)(uintptr_t)r)->conversions, memory_order_relaxed);
    *bytes = atomic_load_explicit(&((run_program *)(uintptr_t)r)->converted_bytes, memory_order_relaxed);
}

void run_lock(run_program *r)
{
    pthread_rwlock_rdlock(r->lock);
}

void run_lock_alone(run_program *r)
{
    pthread_rwlock_wrlock(r->lock);
}

void run_unlock(run_program *r)
{
    pthread_rwlock_unlock(r->lock);
}
