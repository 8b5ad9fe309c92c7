/* Calls: arguments are checked against the signature, passed on, and results handed over. */
#include "api/call.h"

enum { FIRST_BYTES = 8192 };

static const char *kind_name(sn_arg_kind kind)
{
    switch (kind) {
    case SN_ARG_IN:
        return "sn_in";
    case SN_ARG_INTO:
        return "sn_into";
    case SN_ARG_VALUE:
        return "sn_value";
    case SN_ARG_HELD:
        return "sn_held";
    case SN_ARG_GIVE:
        return "sn_give";
    case SN_ARG_KEEP:
        return "sn_keep";
    case SN_ARG_STRUCTS:
        return "sn_structs";
    case SN_ARG_UPTO:
        return "sn_upto";
    }
    return "?";
}

static const char *type_name(sn_type t)
{
    return t >= SN_BOOL && t <= SN_CHAR ? ir_type_name((ir_type)t) : "no type";
}

static bool is_parameter(const call *c, int i)
{
    return (uint32_t)i < c->p->params;
}

static bool kind_fits(const call *c, int i)
{
    sn_arg_kind kind = c->arg[i].kind;
    if (kind == SN_ARG_VALUE)
        return true;
    if (is_parameter(c, i))
        return kind == SN_ARG_IN || kind == SN_ARG_HELD || kind == SN_ARG_GIVE;
    return kind == SN_ARG_INTO || kind == SN_ARG_KEEP || kind == SN_ARG_UPTO;
}

sn_arg sn_upto_of(sn_type type, void *pointer, int64_t capacity, int64_t *extents)
{
    return (sn_arg){.kind = SN_ARG_UPTO,
                    .type = type,
                    .stride = extents,
                    .size = capacity < 0 ? SIZE_MAX : (size_t)capacity, /* which the call refuses */
                    .u = {.to = pointer}};
}

api_who call_who(const call *c)
{
    const sn_site made = c->p->made;
    if (c->at.file)
        return (api_who){.at = c->at, .what = "call", .also = made, .how = "the program was compiled in"};
    return (api_who){.at = made, .what = made.file ? "call" : NULL};
}

sn_status call_fail(const call *c, sn_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    api_say(c->p->context, call_who(c), format, args);
    va_end(args);
    return status;
}

sn_status call_check_count(const call *c)
{
    uint32_t params, wanted = call_wanted(c, &params);
    if (c->count >= 0 && (uint32_t)c->count == wanted && (c->arg || !wanted))
        return SN_OK;
    return call_fail(c, SN_BAD_ARGUMENT, "the program takes %u arguments (%u for parameters, %u for results), not %d",
                     wanted, params, wanted - params, c->count);
}

sn_status call_size(const call *c, const sn_arg *a, size_t element, uint32_t number, size_t *bytes)
{
    for (int d = 0; d < a->rank; d++)
        if (a->extent[d] < 0)
            return call_fail(c, SN_BAD_EXTENT,
                             "dimension %d of argument %u has the extent %lld; an extent is 0 or more", d, number,
                             (long long)a->extent[d]);
    if (!size_of_array(element, (unsigned)a->rank, a->extent, bytes))
        return call_fail(c, SN_TOO_LARGE, "argument %u is larger than memory can be; check its extents", number);
    return SN_OK;
}

static sn_status check_extents(call *c, int i)
{
    for (int d = 0; d < c->arg[i].rank; d++)
        if (c->arg[i].extent[d] > c->p->largest)
            return call_fail(c, SN_TOO_LARGE,
                             "dimension %d of argument %u has the extent %lld; programs from texts take at most 2^48",
                             d, call_number(c, i), (long long)c->arg[i].extent[d]);
    return call_size(c, &c->arg[i], ir_type_size(c->p->type[i]), call_number(c, i), &c->bytes[i]);
}

/* Memory for at most so many elements. */
static sn_status check_upto(call *c, int i)
{
    const sn_arg *a = &c->arg[i];
    if (!a->stride)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u: nowhere to put the extents; write sn_upto(pointer, capacity, &n)",
                         call_number(c, i));
    if (a->size > INT64_MAX || !size_times(a->size, ir_type_size(c->p->type[i]), &c->bytes[i]))
        return call_fail(c, a->size == SIZE_MAX ? SN_BAD_EXTENT : SN_TOO_LARGE,
                         "argument %u has a capacity below 0 or larger than memory can be; it is a number of elements",
                         call_number(c, i));
    return SN_OK;
}

static sn_status check_memory(const call *c, int i)
{
    const sn_arg *a = &c->arg[i];
    bool held = a->kind == SN_ARG_HELD || a->kind == SN_ARG_GIVE;
    if (!held && !a->u.from && c->bytes[i])
        return call_fail(c, SN_BAD_ARGUMENT, "argument %u is NULL; its extents say that it has elements",
                         call_number(c, i));
    bool field = c->fields_of && c->fields_of[i];
    if (!held && !field && (!a->stride || a->kind == SN_ARG_UPTO) && c->bytes[i] &&
        (uintptr_t)a->u.from % ir_type_size(c->p->type[i]))
        return call_fail(
            c, SN_BAD_ARGUMENT,
            "argument %u is not aligned to its elements, of type %s; sn_strided takes parameters that are not",
            call_number(c, i), ir_type_name(c->p->type[i]));
    return SN_OK;
}

static sn_status check_argument(call *c, int i)
{
    const sn_arg *a = &c->arg[i];
    sn_context *cx = c->p->context;
    const char *what = is_parameter(c, i) ? "a parameter" : "a result";
    if (a->kind < SN_ARG_IN || a->kind > SN_ARG_UPTO)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u is no argument; write sn_in(pointer, extents...), sn_into, sn_value, ...",
                         call_number(c, i));
    if (!kind_fits(c, i))
        return call_fail(c, SN_BAD_ARGUMENT, "argument %u stands for %s, but is %s(...); write %s", call_number(c, i),
                         what, kind_name(a->kind),
                         is_parameter(c, i) ? "sn_in, sn_strided, sn_value, sn_held or sn_give"
                                            : "sn_into, sn_upto, sn_value or sn_keep");
    bool held = a->kind == SN_ARG_HELD || a->kind == SN_ARG_GIVE;
    if (held && !a->u.array)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u is no array: NULL; the call or sn_upload that should have made it failed",
                         call_number(c, i));
    if (held && handle_stale(a->u.array, HANDLE_ARRAY, a->kind == SN_ARG_GIVE ? "sn_give" : "sn_held"))
        return SN_BAD_HANDLE;
    if (held && a->u.array->context != cx)
        return call_fail(
            c, SN_BAD_ARGUMENT,
            "argument %u is an array of another context; sn_read and sn_upload copy it from one to the other",
            call_number(c, i));
    if (a->kind == SN_ARG_KEEP)
        return a->u.keep ? SN_OK
                         : call_fail(c, SN_BAD_ARGUMENT, "argument %u: nowhere to put the array; write sn_keep(&array)",
                                     call_number(c, i));
    if ((ir_type)a->type != c->p->type[i])
        return call_fail(c, SN_BAD_ARGUMENT, "argument %u is of type %s, not %s", call_number(c, i), type_name(a->type),
                         ir_type_name(c->p->type[i]));
    if (a->kind == SN_ARG_UPTO) {
        sn_status status = check_upto(c, i);
        return status == SN_OK ? check_memory(c, i) : status;
    }
    if (a->rank < 0)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u has no lists of extents and strides; sn_strided(pointer, rank, extents, "
                         "strides) takes one of each",
                         call_number(c, i));
    if (a->rank == 0 && c->p->rank[i])
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u is a single value, but stands for an array with %d extents; write %s",
                         call_number(c, i), (int)c->p->rank[i],
                         is_parameter(c, i) ? "sn_in(pointer, extents...)" : "sn_into(pointer, extents...)");
    if (a->rank != c->p->rank[i])
        return call_fail(c, SN_BAD_ARGUMENT, "argument %u has %d extents, not %d", call_number(c, i), a->rank,
                         (int)c->p->rank[i]);
    sn_status status = check_extents(c, i);
    if (status != SN_OK)
        return status;
    if (a->stride && a->kind != SN_ARG_IN)
        return call_fail(c, SN_BAD_ARGUMENT,
                         "argument %u has strides, which only sn_strided(...) may have; its stride must be NULL",
                         call_number(c, i));
    return check_memory(c, i);
}

static bool is_array(const sn_arg *a)
{
    return a->kind == SN_ARG_HELD || a->kind == SN_ARG_GIVE;
}

/* Host memory in use while the program runs; strided arguments are copied, or not, before it does. */
static const char *memory_of(const sn_arg *a)
{
    if (a->kind == SN_ARG_KEEP || (a->kind == SN_ARG_IN && api_needs_copy(a)))
        return NULL;
    if (!is_array(a))
        return a->u.from;
    const sn_array *array = a->u.array; /* on devices its elements are elsewhere, unless it has borrowed them */
    return api_own_memory(array->context) && (!array->let_go || array->lent_block) ? NULL : array->data;
}

/* What an argument keeps in use; none where nothing is. Structs are looked at as wholes, elsewhere. */
static call_memory in_use(const call *c, int i)
{
    const bool field = c->fields_of && c->fields_of[i];
    const char *from = field || !c->bytes[i] ? NULL : memory_of(&c->arg[i]);
    return (call_memory){from, from ? from + c->bytes[i] : NULL};
}

/* Results must not be written over what is read, nor over each other; an array is given away once. */
static sn_status check_overlap(const call *c)
{
    const int params = (int)c->p->params;
    for (int i = 0; i < c->count; i++)
        c->memory[i] = in_use(c, i);
    for (int i = 0; i < c->count; i++) {
        const sn_arg *a = &c->arg[i];
        const call_memory m = c->memory[i];
        for (int k = i + 1; k < params && is_array(a); k++) {
            const sn_arg *b = &c->arg[k];
            bool given = is_array(b) && (a->kind == SN_ARG_GIVE || b->kind == SN_ARG_GIVE);
            if (given && a->u.array == b->u.array)
                return call_fail(
                    c, SN_BAD_ARGUMENT,
                    "arguments %u and %u are one array, which is given away; give it once, or write sn_held for both",
                    call_number(c, i), call_number(c, k));
        }
        for (int k = i < params ? params : i + 1; k < c->count; k++)
            if (m.from < c->memory[k].end && c->memory[k].from < m.end)
                return call_fail(c, SN_BAD_ARGUMENT,
                                 "the memory of arguments %u and %u overlaps; results need memory of their own",
                                 call_number(c, i), call_number(c, k));
    }
    return SN_OK;
}

/* Do a parameter's component and a result's share memory, one of them being a field of structs? */
static bool mixed(const call *c, uint32_t in, uint32_t out)
{
    const structs *s = c->fields_of[in], *t = c->fields_of[out];
    if (s && t)
        return structs_overlap_each_other(s, t);
    if (s)
        return structs_overlap(s, memory_of(&c->arg[out]), c->bytes[out]);
    return t && structs_overlap(t, memory_of(&c->arg[in]), c->bytes[in]);
}

/* Results in structs may lie over parameters, and other results over parameters in structs: one of the two is copied.
 */
static void find_aside(call *c)
{
    for (uint32_t i = 0; c->fields_of && i < c->p->params; i++)
        for (uint32_t k = 0; k < c->p->results; k++) {
            if (!mixed(c, i, c->p->params + k))
                continue;
            if (c->out[k].field.every)
                c->out[k].aside = true;
            else
                c->in[i].aside = true;
        }
}

static sn_status stage(call *c, int i)
{
    const sn_arg *a = &c->arg[i];
    sn_context *cx = c->p->context;
    staging *s = &c->staged[i];
    const uint64_t since = run_clock(c->p->run);
    s->data = api_take(cx, c->bytes[i], &s->granted);
    if (!s->data)
        return call_fail(c, SN_NO_MEMORY, "no memory for a copy of argument %u, of %zu bytes", call_number(c, i),
                         c->bytes[i]);
    api_gather(s->data, a->u.from, c->p->type[i], a->rank, a->extent, a->stride);
    run_count_copy(&cx->counters, c->bytes[i]);
    run_note_step(c->p->run, RUN_STRIDED, since, c->bytes[i]);
    c->in[i].data = s->data;
    return SN_OK;
}

/* Strided arguments become contiguous ones. */
static sn_status stage_all(call *c)
{
    for (int i = 0; (uint32_t)i < c->p->params; i++)
        if (c->arg[i].kind == SN_ARG_IN && api_needs_copy(&c->arg[i])) {
            sn_status status = stage(c, i);
            if (status != SN_OK)
                return status;
        }
    return SN_OK;
}

/* Held arrays are on the device when the call begins. */
static sn_status place_all(call *c)
{
    if (!api_own_memory(c->p->context))
        return SN_OK;
    for (uint32_t i = 0; i < c->p->params; i++) {
        if (!is_array(&c->arg[i]))
            continue;
        sn_status status = api_place(c->arg[i].u.array, call_who(c), &c->in[i].block, &c->in[i].data);
        if (status != SN_OK)
            return status;
    }
    return SN_OK;
}

/* Inputs that no argument stands for: the program has them. */
static sn_status take_constants(call *c)
{
    const embed_constants *list = &c->p->ports.constant;
    sn_status status = SN_OK;
    for (uint32_t i = 0; i < list->n && status == SN_OK; i++) {
        run_argument *in = &c->in[c->p->params + i];
        memcpy(in->extent, list->at[i].extent, sizeof(in->extent));
        in->data = list->at[i].data;
        if (c->p->constant)
            status = api_place(c->p->constant[i], call_who(c), &in->block, &in->data);
    }
    return status;
}

/* Memory of the pool that nobody else looks at. */
static bool may_be_overwritten(const call *c, const sn_arg *a)
{
    const sn_array *array = a->kind == SN_ARG_GIVE ? a->u.array : NULL;
    return array && array->granted && !array->let_go && array->context == c->p->context &&
           !atomic_load(&array->sharers) && !atomic_load(&array->lent);
}

sn_status call_take_arguments(call *c)
{
    c->since = run_clock(c->p->run);
    sn_status status = structs_take(c);
    for (int i = 0; i < c->count && status == SN_OK; i++)
        status = check_argument(c, i);
    if (status != SN_OK)
        return status;
    for (int i = 0; i < c->count; i++) {
        const sn_arg *a = &c->arg[i];
        if (is_parameter(c, i)) {
            memcpy(c->in[i].extent, a->extent, sizeof(a->extent));
            c->in[i].data = memory_of(a);
            c->in[i].number = call_number(c, i);
            c->in[i].field = structs_field(c, (uint32_t)i);
            c->in[i].needed = c->p->needed[i];
            continue;
        }
        run_result *out = &c->out[(uint32_t)i - c->p->params];
        out->number = call_number(c, i) - c->before;
        out->given = a->kind != SN_ARG_KEEP;
        out->upto = a->kind == SN_ARG_UPTO;
        out->capacity = out->upto ? (int64_t)a->size : 0;
        memcpy(out->extent, a->extent, sizeof(a->extent));
        out->data = out->given ? a->u.to : NULL;
        out->field = structs_field(c, (uint32_t)i);
    }
    status = check_overlap(c);
    find_aside(c);
    if (status == SN_OK)
        status = take_constants(c);
    if (status == SN_OK)
        status = place_all(c);
    for (uint32_t i = 0; i < c->p->params && status == SN_OK; i++)
        c->in[i].given = may_be_overwritten(c, &c->arg[i]) ? &c->arg[i].u.array->granted : NULL;
    return status == SN_OK ? stage_all(c) : status;
}

static void give_result(sn_context *cx, const run_result *out)
{
    if (cx->engine.pool)
        run_pool_give(cx->engine.pool, out->data, out->granted);
    else
        cx->heap.release(cx->heap.env, out->data);
}

/* The array of a result that stays on the device; NULL: no memory. */
static sn_array *array_of(call *c, int i, const run_result *out)
{
    sn_context *cx = c->p->context;
    sn_array *a = cx->heap.alloc(cx->heap.env, sizeof(*a));
    if (!a) {
        give_result(cx, out);
        return NULL;
    }
    *a = (sn_array){.context = cx, .type = c->p->type[i], .rank = c->p->rank[i], .granted = out->granted};
    *(api_own_memory(cx) ? &a->block : &a->data) = out->data;
    memcpy(a->extent, out->extent, a->rank * sizeof(*a->extent));
    api_size(a->type, a->rank, a->extent, &a->bytes); /* it has been computed, so it fits */
    handle_open(cx, &a->handle, HANDLE_ARRAY, "a call", c->at);
    return a;
}

/* The extents that results of sn_upto have, or would need. */
static void tell_extents(const call *c)
{
    for (int i = (int)c->p->params; i < c->count; i++) {
        const run_result *out = &c->out[(uint32_t)i - c->p->params];
        if (out->upto && out->known)
            memcpy((int64_t *)(uintptr_t)c->arg[i].stride, out->extent, c->p->rank[i] * sizeof(int64_t));
    }
}

/* All or none. */
static sn_status make_arrays(call *c)
{
    bool good = true;
    for (int i = (int)c->p->params; i < c->count; i++) {
        const run_result *out = &c->out[(uint32_t)i - c->p->params];
        if (out->given)
            continue;
        *c->arg[i].u.keep = array_of(c, i, out);
        good = good && *c->arg[i].u.keep;
    }
    if (good)
        return SN_OK;
    for (int i = (int)c->p->params; i < c->count; i++)
        if (c->arg[i].kind == SN_ARG_KEEP) {
            sn_free(*c->arg[i].u.keep);
            *c->arg[i].u.keep = NULL;
        }
    return call_fail(c, SN_NO_MEMORY, "no memory for the arrays that the call returns");
}

sn_status call_hand_over(call *c, sn_status status, const run_said *said)
{
    sn_context *cx = c->p->context;
    if (status == SN_OK && said->text && !__atomic_exchange_n(&cx->warned, true, __ATOMIC_RELAXED))
        api_warn(&cx->options, said->text);
    bool refused = status / 100 == 2; /* the arguments were wrong: they stay the caller's */
    tell_extents(c);
    if (status == SN_OK)
        status = make_arrays(c);
    else if (said->placed)
        api_fail_at(cx, (api_who){.also = c->at, .how = "called in"}, status, "%s", said->text);
    else
        call_fail(c, status, "%s", said->text);
    for (int i = 0; (uint32_t)i < c->p->params && !refused; i++)
        if (c->arg[i].kind == SN_ARG_GIVE) {
            if (c->in[i].given && !c->arg[i].u.array->granted) /* a result has the memory */
                *(api_own_memory(cx) ? &c->arg[i].u.array->block : &c->arg[i].u.array->data) = NULL;
            sn_free(c->arg[i].u.array);
        }
    call_give_up(c);
    if (c->since)
        run_note_call(c->p->run, c->since);
    return status;
}

void call_give_up(call *c)
{
    for (uint32_t i = 0; i < c->p->params; i++)
        if (c->staged[i].data)
            api_give(c->p->context, c->staged[i].data, c->staged[i].granted);
}

void call_room(call *c, arena *a)
{
    c->in = arena_array(a, run_argument, (size_t)c->p->params + c->p->ports.constant.n + 1);
    c->out = arena_array(a, run_result, c->p->results + 1);
    c->bytes = arena_array(a, size_t, (size_t)c->p->params + c->p->results + 1);
    c->memory = arena_array(a, call_memory, (size_t)c->p->params + c->p->results + 1);
    c->staged = arena_array(a, staging, c->p->params + 1);
    c->choosing_n = api_version_room(c->p) + 1;
    c->choosing = arena_alloc(a, c->choosing_n);
    c->before = c->p->params;
    structs_room(c, a);
}

/* By parameters alone: bits must not depend on where results go. */
run_program *call_version(const call *c)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < c->p->params; i++)
        bytes = bytes + c->bytes[i] < bytes ? SIZE_MAX : bytes + c->bytes[i];
    const sn_program *p = api_for_extents(c->p, c->in, bytes);
    const base_heap *heap = &p->context->heap;
    const size_t room = api_version_room(p);
    void *more = room > c->choosing_n ? heap->alloc(heap->env, room) : NULL;
    if (room > c->choosing_n && !more)
        p = c->p;
    run_program *r = api_version(p, c->in, bytes, more ? more : c->choosing);
    heap->release(heap->env, more);
    return r;
}

void call_count(call *c)
{
    for (int i = (int)c->p->params; i < c->count; i++)
        if (c->arg[i].kind == SN_ARG_KEEP)
            *c->arg[i].u.keep = NULL;
    run_count(&c->p->context->counters.calls, 1);
}

sn_status sn_call_n(sn_program *program, int count, const sn_arg *arguments)
{
    return sn_call_at((sn_site){NULL, 0}, program, count, arguments);
}

sn_status sn_call_at(sn_site at, sn_program *program, int count, const sn_arg *arguments)
{
    if (!program)
        return SN_NO_PROGRAM;
    if (handle_stale(program, HANDLE_PROGRAM, "sn_call"))
        return SN_BAD_HANDLE;
    call c = {.at = at, .p = program, .count = count, .arg = arguments, .cancels = run_cancels(program->run)};
    if (call_again(&c))
        return SN_OK;
    sn_status status = call_check_count(&c);
    if (status != SN_OK)
        return status;
    arena a;
    jmp_buf failure;
    _Alignas(16) char first[FIRST_BYTES]; /* usually enough: a repeated call takes nothing from the heap */
    arena_init_with(&a, &program->context->heap, first, sizeof(first));
    if (setjmp(failure)) {
        arena_free(&a);
        return call_fail(&c, SN_NO_MEMORY, "no memory for a call");
    }
    arena_on_failure(&a, &failure);
    call_room(&c, &a);
    arena_on_failure(&a, NULL);
    status = call_take_arguments(&c);
    if (status == SN_OK) {
        run_said said = {0};
        call_count(&c);
        run_program *version = call_version(&c);
        status = run_end(run_begin_until(version, c.in, c.out, &a, NULL, c.cancels), &said);
        status = call_hand_over(&c, status, &said);
        if (status == SN_OK)
            call_note(&c, version);
    } else {
        call_give_up(&c);
    }
    arena_free(&a);
    return status;
}
