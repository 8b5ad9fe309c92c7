/* Calls where there is no device, or no code: arguments become the reference interpreter's values, its results are
 * copied out. */
#include "base/size.h"
#include "ir/interpret.h"
#include "ir/trace.h"
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
    case IR_STOPPED:
        return SN_CANCELLED;
    case IR_WRONG_SEGMENTS:
        return SN_BAD_SEGMENTS;
    default:
        return SN_BAD_EXTENT;
    }
}

static const ir_site *site_of(const ir_program *p, const ir_failure *f)
{
    const ir_site *s = f->site && f->site < p->site.n ? &p->site.at[f->site] : NULL;
    return s && s->file ? s : NULL;
}

static run_said failure_said(const ir_program *p, arena *a, const ir_failure *f)
{
    const ir_site *s = site_of(p, f);
    if (!s)
        return (run_said){f->message, false};
    /* the message has a number already, or an extent is wrong, which is of no element */
    bool whole = f->mistake == IR_WRONG_SEGMENTS || f->mistake == IR_WRONG_EXTENT;
    const char *place = whole ? "" : arena_printf(a, ", at element %lld", (long long)f->element);
    const int what = (int)strcspn(f->message, ";"); /* behind it stands what would be right */
    const char *words =
        arena_printf(a, "%s:%u: %.*s%s%s", s->file, s->line, what, f->message, place, f->message + what);
    return (run_said){words, true};
}

static ir_value *values_of(const ir_program *p, const plan *pl, const run_argument *in, arena *a)
{
    ir_value *value = arena_array(a, ir_value, p->input.n + 1);
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

/* Is there memory for the result? Sets its extents. What does not fit first is said. */
static void fit(const ir_value *v, run_result *out, arena *a, sn_status *status, run_said *said)
{
    int64_t size = 0;
    const char *wrong = NULL;
    for (unsigned d = 0; d < v->rank; d++) {
        if (!wrong && out->given && !out->upto && out->extent[d] != v->extent[d])
            wrong = arena_printf(a, "dimension %u of result %u has the extent %lld, but there is memory for %lld", d,
                                 out->number, (long long)v->extent[d], (long long)out->extent[d]);
        out->extent[d] = v->extent[d];
    }
    out->known = size_count(v->rank, v->extent, &size);
    if (out->upto && size > out->capacity)
        wrong = run_too_small(a, out, size);
    if (!wrong || *status != SN_OK)
        return;
    said->text = wrong;
    *status = SN_BAD_EXTENT;
}

static bool copy_out(const run_engine *e, const ir_value *v, unsigned component, run_result *out, sn_status *status,
                     run_said *said)
{
    size_t bytes = 0;
    size_of_array(ir_type_size(v->type[component]), v->rank, v->extent, &bytes); /* it is there, so it fits */
    if (!out->given)
        out->data = take(e, bytes, &out->granted);
    if (!out->data && bytes) {
        *status = SN_NO_MEMORY;
        said->text = "no memory for a result";
        return false;
    }
    if (bytes)
        memcpy(out->data, v->data[component], bytes);
    run_count_copy(e->counters, bytes);
    return true;
}

/* The components of a parameter are separate arguments, but one array. */
static bool same_extents(const ir_program *p, const plan *pl, const run_argument *in, arena *a, run_said *said)
{
    for (uint32_t k = 0; k < p->input.n; k++)
        for (uint32_t i = pl->input_first[k] + 1; i < pl->input_first[k + 1]; i++)
            if (memcmp(in[i].extent, in[pl->input_first[k]].extent, pl->input_rank[k] * sizeof(int64_t))) {
                said->text = arena_printf(a, "arguments %u and %u are of one parameter, but have different extents",
                                          in[pl->input_first[k]].number, in[i].number);
                return false;
            }
    return true;
}

static sn_status interpret(const run_engine *e, const ir_program *p, const plan *pl, const run_argument *in,
                           run_result *out, arena *a, ir_failure *failure, ir_trace *trace, const ir_stop *stop,
                           run_said *said)
{
    if (!same_extents(p, pl, in, a, said))
        return SN_BAD_EXTENT;
    ir_value *result = arena_array(a, ir_value, p->output.n + 1);
    if (!ir_interpret_traced(p, a, values_of(p, pl, in, a), result, failure, trace, stop)) {
        *said = failure_said(p, a, failure);
        return status_of(failure->mistake);
    }
    sn_status status = SN_OK;
    uint32_t port = 0;
    for (uint32_t k = 0; k < p->output.n; k++)
        for (unsigned c = 0; c < result[k].components; c++, port++)
            fit(&result[k], &out[port], a, &status, said);
    port = 0;
    for (uint32_t k = 0; k < p->output.n && status == SN_OK; k++)
        for (unsigned c = 0; c < result[k].components && status == SN_OK; c++, port++)
            copy_out(e, &result[k], c, &out[port], &status, said);
    return status;
}

/* The same with memory running out as a status. */
static sn_status interpret_safely(const run_engine *e, const ir_program *p, const plan *pl, const run_argument *in,
                                  run_result *out, arena *a, ir_failure *failure, ir_trace *trace, const ir_stop *stop,
                                  run_said *said)
{
    volatile sn_status status = SN_NO_MEMORY;
    jmp_buf none_left;
    if (!setjmp(none_left)) {
        arena_on_failure(a, &none_left);
        status = interpret(e, p, pl, in, out, a, failure, trace, stop, said);
    } else {
        *said = (run_said){"no memory to interpret", false};
    }
    arena_on_failure(a, NULL);
    return status;
}

/* Names the operation that memory ran out in, if there is enough left to say so. */
static void place(const ir_program *p, const ir_failure *failure, arena *a, run_said *said)
{
    const ir_site *s = site_of(p, failure);
    jmp_buf none_left;
    if (!s || setjmp(none_left))
        return;
    arena_on_failure(a, &none_left);
    const char *operation = s->operation ? s->operation : "operation";
    *said = (run_said){arena_printf(a, "%s:%u: %s: %s", s->file, s->line, operation, said->text), true};
}

sn_status run_interpreted(const run_engine *e, const ir_program *p, const plan *pl, const run_argument *in,
                          run_result *out, arena *a, ir_trace *trace, const ir_stop *stop, run_said *said)
{
    ir_failure failure = {0};
    *said = (run_said){NULL, false};
    sn_status status = interpret_safely(e, p, pl, in, out, a, &failure, trace, stop, said);
    if (status == SN_NO_MEMORY)
        place(p, &failure, a, said);
    arena_on_failure(a, NULL);
    for (uint32_t i = 0; i < pl->result.n && status != SN_OK; i++) {
        if (out[i].given)
            continue;
        give(e, out[i].data, out[i].granted);
        out[i].data = NULL;
    }
    return status;
}
