/* Calls where there is no device, or no code: arguments become the reference interpreter's values, its results are
 * copied out. */
#include "ir/interpret.h"
#include "run/run.h"

static sn_status status_of(ir_mistake mistake)
{
    switch (mistake) {
    case IR_WRONG_SHAPES:
        return SN_SHAPE_MISMATCH;
    case IR_WRONG_SIZE:
        return SN_TOO_LARGE;
    case IR_WRONG_INDEX:
        return SN_OUT_OF_RANGE;
    case IR_WRONG_ARITHMETIC:
        return SN_DIVISION;
    case IR_WRONG_EMPTY:
        return SN_EMPTY_FOLD;
    default:
        return SN_BAD_EXTENT;
    }
}

static const char *failure_text(const ir_program *p, arena *a, const ir_failure *f)
{
    const ir_site *s = f->site && f->site < p->site.n ? &p->site.at[f->site] : NULL;
    if (!s || !s->file)
        return f->message;
    return arena_printf(a, "%s:%u: %s, at element %lld", s->file, s->line, f->message, (long long)f->element);
}

static ir_value *values_of(const ir_program *p, const plan *pl, const run_argument *in, arena *a)
{
    ir_value *value = arena_alloc(a, (p->input.n + 1) * sizeof(ir_value));
    for (uint32_t k = 0; k < p->input.n; k++) {
        const ir_array *info = ir_info(p, p->input.at[k]);
        const run_argument *first = &in[pl->input_first[k]];
        value[k].rank = info->rank;
        value[k].components = info->components;
        memcpy(value[k].extent, first->extent, info->rank * sizeof(int64_t));
        for (unsigned c = 0; c < info->components; c++) {
            value[k].type[c] = info->type[c];
            value[k].data[c] = (void *)(uintptr_t)first[c].data;
        }
    }
    return value;
}

/* Memory of results: where the caller will give it back to. */
static void *take(const run_engine *e, size_t bytes, size_t *granted)
{
    *granted = 0;
    return e->pool ? run_pool_take(e->pool, bytes, granted) : e->heap->alloc(e->heap->env, bytes + 1);
}

static void give(const run_engine *e, void *data, size_t granted)
{
    if (e->pool)
        run_pool_give(e->pool, data, granted);
    else
        e->heap->release(e->heap->env, data);
}

static bool copy_out(const run_engine *e, const ir_value *v, unsigned component, run_result *out, arena *a,
                     sn_status *status, const char **message)
{
    size_t bytes = ir_type_size(v->type[component]);
    for (unsigned d = 0; d < v->rank; d++) {
        bytes *= (size_t)v->extent[d];
        if (out->given && out->extent[d] != v->extent[d]) {
            *message = arena_printf(a, "dimension %u of result %u has the extent %lld, but there is memory for %lld", d,
                                    out->number, (long long)v->extent[d], (long long)out->extent[d]);
            *status = SN_BAD_EXTENT;
            return false;
        }
        out->extent[d] = v->extent[d];
    }
    if (!out->given)
        out->data = take(e, bytes, &out->granted);
    if (!out->data && bytes) {
        *status = SN_NO_MEMORY;
        *message = "no memory for a result";
        return false;
    }
    if (bytes)
        memcpy(out->data, v->data[component], bytes);
    run_count_copy(e->counters, bytes);
    return true;
}

/* The components of a parameter are separate arguments, but one array. */
static bool same_extents(const ir_program *p, const plan *pl, const run_argument *in, arena *a, const char **message)
{
    for (uint32_t k = 0; k < p->input.n; k++)
        for (uint32_t i = pl->input_first[k] + 1; i < pl->input_first[k + 1]; i++)
            if (memcmp(in[i].extent, in[pl->input_first[k]].extent, pl->input_rank[k] * sizeof(int64_t))) {
                *message = arena_printf(a, "arguments %u and %u are of one parameter, but have different extents",
                                        in[pl->input_first[k]].number, in[i].number);
                return false;
            }
    return true;
}

static sn_status interpret(const run_engine *e, const ir_program *p, const plan *pl, const run_argument *in,
                           run_result *out, arena *a, const char **message)
{
    if (!same_extents(p, pl, in, a, message))
        return SN_BAD_EXTENT;
    ir_value *result = arena_alloc(a, (p->output.n + 1) * sizeof(ir_value));
    ir_failure failure = {0};
    if (!ir_interpret(p, a, values_of(p, pl, in, a), result, &failure)) {
        *message = failure_text(p, a, &failure);
        return status_of(failure.mistake);
    }
    sn_status status = SN_OK;
    uint32_t port = 0;
    for (uint32_t k = 0; k < p->output.n && status == SN_OK; k++)
        for (unsigned c = 0; c < result[k].components && status == SN_OK; c++, port++)
            copy_out(e, &result[k], c, &out[port], a, &status, message);
    return status;
}

sn_status run_interpreted(const run_engine *e, const ir_program *p, const plan *pl, const run_argument *in,
                          run_result *out, arena *a, const char **message)
{
    volatile sn_status status = SN_NO_MEMORY;
    jmp_buf failure;
    *message = "no memory to interpret";
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        status = interpret(e, p, pl, in, out, a, message);
    }
    arena_on_failure(a, NULL);
    for (uint32_t i = 0; i < pl->result.n && status != SN_OK; i++) {
        if (out[i].given)
            continue;
        give(e, out[i].data, out[i].granted);
        out[i].data = NULL;
    }
    return status;
}
