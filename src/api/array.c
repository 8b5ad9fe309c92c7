/* Arrays on the device. */
#include "api/api.h"

/* Arrays up to this size, which the host may read elements of in calls, keep their copy in host memory. */
enum { SMALL_BYTES = 4096 };

void *api_take(sn_context *cx, size_t bytes, size_t *granted)
{
    *granted = 0;
    if (cx->engine.pool && !api_own_memory(cx))
        return run_pool_take(cx->engine.pool, bytes, granted);
    return cx->heap.alloc(cx->heap.env, bytes + 1);
}

void api_give(sn_context *cx, void *data, size_t granted)
{
    if (cx->engine.pool && !api_own_memory(cx))
        run_pool_give(cx->engine.pool, data, granted);
    else
        cx->heap.release(cx->heap.env, data);
}

bool api_size(ir_type type, int rank, const int64_t *extent, size_t *bytes)
{
    return size_of_array(ir_type_size(type), (unsigned)rank, extent, bytes);
}

sn_array *api_new_array(sn_context *cx, ir_type type, int rank, const int64_t *extent, api_who who)
{
    size_t bytes = 0;
    bool fits = api_size(type, rank, extent, &bytes);
    sn_array *a = fits ? cx->heap.alloc(cx->heap.env, sizeof(*a)) : NULL;
    if (a) {
        *a = (sn_array){.context = cx, .type = type, .rank = (uint8_t)rank, .bytes = bytes};
        memcpy(a->extent, extent, (size_t)rank * sizeof(*extent));
        a->data = api_take(cx, bytes, &a->granted);
    }
    if (a && a->data) {
        handle_open(cx, &a->handle, HANDLE_ARRAY, who.what, who.at);
        return a;
    }
    cx->heap.release(cx->heap.env, a);
    if (fits)
        api_fail_at(cx, who, SN_NO_MEMORY, "no memory for an array of %zu bytes", bytes);
    else
        api_fail_at(cx, who, SN_TOO_LARGE, "the array is larger than memory can be; check its extents");
    return NULL;
}

static void free_array(sn_array *a)
{
    if (atomic_fetch_sub(&a->sharers, 1) > 0)
        return;
    sn_context *cx = a->context;
    if (a->let_go)
        a->let_go(a->owner);
    if (!a->let_go || a->lent_block)
        api_give(cx, a->data, a->granted);
    if (a->block && !a->lent_block)
        run_pool_give(cx->engine.pool, a->block, a->granted);
    handle_close(cx, &a->handle);
}

static sn_array *borrow(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent,
                        void (*let_go)(void *owner), void *owner)
{
    sn_array *a = cx->heap.alloc(cx->heap.env, sizeof(*a));
    if (!a) {
        api_fail_at(cx, who, SN_NO_MEMORY, "no memory for an array");
        return NULL;
    }
    *a = (sn_array){.context = cx, .type = type, .rank = (uint8_t)rank, .let_go = let_go, .owner = owner};
    memcpy(a->extent, extent, (size_t)rank * sizeof(*extent));
    api_size(type, rank, extent, &a->bytes);
    handle_open(cx, &a->handle, HANDLE_ARRAY, who.what, who.at);
    return a;
}

sn_array *api_borrow_array(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, const void *data,
                           void (*let_go)(void *owner), void *owner)
{
    sn_array *a = borrow(cx, who, type, rank, extent, let_go, owner);
    if (a)
        a->data = (void *)(uintptr_t)data; /* arrays are immutable: nobody writes there */
    return a;
}

sn_array *api_borrow_block(sn_context *cx, api_who who, ir_type type, int rank, const int64_t *extent, void *block,
                           void (*let_go)(void *owner), void *owner)
{
    sn_array *a = borrow(cx, who, type, rank, extent, let_go, owner);
    if (!a)
        return NULL;
    a->block = block;
    a->lent_block = true;
    return a;
}

void api_lend_array(sn_array *a)
{
    atomic_fetch_add(&a->lent, 1);
    atomic_fetch_add(&a->sharers, 1);
}

void api_end_loan(sn_array *a)
{
    atomic_fetch_sub(&a->lent, 1);
    free_array(a);
}

bool api_is_lent(const sn_array *array)
{
    sn_array *a = (sn_array *)(uintptr_t)array;
    return atomic_load(&a->lent) > atomic_load(&a->sharers);
}

/* What is wrong with it; NULL: nothing, and it has so many bytes. */
static const char *cannot_be_uploaded(const sn_arg *from, size_t *bytes)
{
    bool host = from->kind == SN_ARG_IN || from->kind == SN_ARG_VALUE;
    if (!host || from->type < SN_BOOL || from->type > SN_CHAR || from->rank < 0 || from->rank > IR_MAX_RANK)
        return "the argument is not sn_in(...), sn_strided(...) or sn_value(...) of up to 8 dimensions; write one of "
               "these";
    for (int d = 0; d < from->rank; d++)
        if (from->extent[d] < 0)
            return "an extent is negative; write 0 or more";
    if (!api_size((ir_type)from->type, from->rank, from->extent, bytes))
        return "the array is larger than memory can be; check its extents";
    return from->u.from || !*bytes ? NULL : "the elements are NULL; the extents say that there are some";
}

sn_array *sn_upload_at(sn_site at, sn_context *cx, sn_arg from)
{
    const api_who who = api_function_at(at, "sn_upload");
    size_t bytes = 0;
    if (!api_is_open(cx, who))
        return NULL;
    const char *wrong = cannot_be_uploaded(&from, &bytes);
    if (wrong) {
        api_fail_at(cx, who, SN_BAD_ARGUMENT, "%s", wrong);
        return NULL;
    }
    if (bytes > SMALL_BYTES && !from.stride && api_own_memory(cx))
        return api_send(cx, who, (ir_type)from.type, from.rank, from.extent, from.u.from);
    sn_array *a = api_new_array(cx, (ir_type)from.type, from.rank, from.extent, who);
    if (!a)
        return NULL;
    if (a->bytes && from.stride)
        api_gather(a->data, from.u.from, a->type, from.rank, from.extent, from.stride);
    else if (a->bytes)
        memcpy(a->data, from.u.from, a->bytes);
    run_count_copy(&cx->counters, a->bytes);
    return a;
}

sn_array *(sn_upload)(sn_context *cx, sn_arg from)
{
    return sn_upload_at((sn_site){NULL, 0}, cx, from);
}

sn_status sn_read_at(sn_site at, const sn_array *a, void *to, size_t bytes)
{
    const api_who who = api_function_at(at, "sn_read");
    if (!a)
        return SN_BAD_ARGUMENT;
    if (handle_stale(a, HANDLE_ARRAY, "sn_read"))
        return SN_BAD_HANDLE;
    if (bytes != a->bytes)
        return api_fail_at(a->context, who, SN_BAD_ARGUMENT,
                           "the array has %zu bytes, but there is memory for %zu; all are read at once", a->bytes,
                           bytes);
    if (!to && bytes)
        return api_fail_at(
            a->context, who, SN_BAD_ARGUMENT,
            "there is no memory to read to: the pointer is NULL; it needs room for sn_bytes(array) bytes");
    sn_status status = api_get(a, who, to);
    if (status == SN_OK)
        run_count_copy(&a->context->counters, bytes);
    return status;
}

sn_status(sn_read)(const sn_array *a, void *to, size_t bytes)
{
    return sn_read_at((sn_site){NULL, 0}, a, to, bytes);
}

static bool is_good(const sn_array *a, const char *who)
{
    return a && !handle_stale(a, HANDLE_ARRAY, who);
}

sn_type sn_array_type(const sn_array *a)
{
    return is_good(a, "sn_array_type") ? (sn_type)a->type : (sn_type)0;
}

int sn_array_rank(const sn_array *a)
{
    return is_good(a, "sn_array_rank") ? a->rank : -1;
}

int64_t sn_array_extent(const sn_array *a, int dimension)
{
    return is_good(a, "sn_array_extent") && dimension >= 0 && dimension < a->rank ? a->extent[dimension] : -1;
}

size_t sn_bytes(const sn_array *a)
{
    return is_good(a, "sn_bytes") ? a->bytes : 0;
}

void sn_free(sn_array *a)
{
    if (a && !handle_stale(a, HANDLE_ARRAY, "sn_free"))
        free_array(a);
}

static sn_arg of_array(sn_arg_kind kind, sn_array *a)
{
    sn_arg arg = {.kind = kind, .u = {.array = a}};
    if (!is_good(a, kind == SN_ARG_GIVE ? "sn_give" : "sn_held")) /* the call says so, too */
        return arg;
    arg.type = (sn_type)a->type;
    arg.rank = a->rank;
    memcpy(arg.extent, a->extent, sizeof(arg.extent));
    return arg;
}

sn_arg sn_held(sn_array *array)
{
    return of_array(SN_ARG_HELD, array);
}

sn_arg sn_give(sn_array *array)
{
    return of_array(SN_ARG_GIVE, array);
}

sn_arg sn_keep(sn_array **array)
{
    return (sn_arg){.kind = SN_ARG_KEEP, .u = {.keep = array}};
}
