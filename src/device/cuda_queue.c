/* Work on a CUDA device: in a stream, or, where launches say what they touch, in several, which wait for events of each
 * other (device/lanes.h). Small copies go through page-locked memory of the queue, so that they do not make the host
 * wait for what stands before them. Every launch that may fail has an error record of its own: the launches behind it
 * compute from what the failed one left undone, and what they report is not the user's mistake. */
#include "device/cuda_device.h"
#include "device/lanes.h"

#include <stdio.h>

enum { RECORDS = 128, STAGING_BYTES = 256 << 10, SMALL_COPY = 32 << 10, DOWNLOADS = 64, WAVES = 8 };

typedef struct record { /* what sn_report writes */
    int64_t word[DRIVER_ERROR_WORDS];
} record;

typedef struct download { /* waits in staging memory for the queue to finish */
    void *to;
    size_t from, bytes;
} download;

struct device_queue {
    driver_queue common;
    cu_stream stream[LANES]; /* all but the first are made when first needed */
    lanes lanes;
    bool spread;                    /* there may be work in other streams than the first */
    cu_event done[LANES_MOST_WORK]; /* behind what is in the lanes; made when first needed */
    cu_pointer record;              /* RECORDS of them, on the device */
    char *staging;                  /* page-locked: STAGING_BYTES, then room for the records */
    size_t staged;                  /* bytes in use */
    download waiting[DOWNLOADS];
    uint32_t downloads;
    cu_event before, behind; /* the last launch; made when first timed */
    bool timed, marked;      /* marked: there was a launch */
    uint32_t launches;       /* since `turn` was recorded */
    cu_event turn; /* behind a launch that is waited for DRIVER_AHEAD launches later; made when first needed */
    bool turned;   /* it was recorded */
};

static bool fails(cuda *d, device_queue *q, const char *call, cu_result r)
{
    const char *name = NULL, *words = NULL;
    char said[DRIVER_WHY_BYTES];
    if (r == CU_SUCCESS)
        return false;
    if (d->api.error_name(r, &name) != CU_SUCCESS || !name)
        name = "an unknown error";
    if (d->api.error_text(r, &words) != CU_SUCCESS || !words)
        words = "no description";
    snprintf(said, sizeof(said), "%s (%s)", name, words);
    return driver_fails(&q->common, r == CU_OUT_OF_MEMORY ? DEVICE_OUT_OF_MEMORY : DEVICE_BROKEN, call, said);
}

/* --- opening and closing --- */

/* `inside`: our context is current. Where it cannot be made so the driver has lost what is to be given back. */
static void free_inside(cuda *d, device_queue *q, bool inside)
{
    if (inside && q->before)
        d->api.event_destroy(q->before);
    if (inside && q->behind)
        d->api.event_destroy(q->behind);
    if (inside && q->turn)
        d->api.event_destroy(q->turn);
    for (uint32_t i = 0; inside && i < LANES_MOST_WORK; i++)
        if (q->done[i])
            d->api.event_destroy(q->done[i]);
    for (uint32_t i = 0; inside && i < LANES; i++)
        if (q->stream[i])
            d->api.stream_destroy(q->stream[i]);
    if (inside && q->record)
        d->api.release(q->record);
    if (inside && q->staging)
        d->api.release_host(q->staging);
    d->common.heap.release(d->common.heap.env, q);
}

static bool fill_queue(cuda *d, device_queue *q)
{
    const size_t records = RECORDS * sizeof(record);
    void *staging = NULL;
    if (d->api.stream_create(&q->stream[0], CU_STREAM_ALONE) != CU_SUCCESS) {
        q->stream[0] = NULL;
        return false;
    }
    if (d->api.alloc(&q->record, records) != CU_SUCCESS) {
        q->record = 0;
        return false;
    }
    if (d->api.alloc_host(&staging, STAGING_BYTES + records) != CU_SUCCESS)
        return false;
    q->staging = staging;
    return d->api.clear(q->record, 0, records, q->stream[0]) == CU_SUCCESS &&
           d->api.stream_wait(q->stream[0]) == CU_SUCCESS; /* launches in other streams write records, too */
}

static device_queue *new_queue(cuda *d)
{
    device_queue *q = d->common.heap.alloc(d->common.heap.env, sizeof(*q));
    if (!q)
        return NULL;
    *q = (device_queue){0};
    if (cuda_enter(d) != CU_SUCCESS) {
        d->common.heap.release(d->common.heap.env, q);
        return NULL;
    }
    if (!fill_queue(d, q)) {
        free_inside(d, q, true);
        q = NULL;
    }
    cuda_leave(d);
    return q;
}

device_queue *cuda_open_queue(device *base, struct ir_trace *trace, device_state *state)
{
    cuda *d = (cuda *)base;
    device_queue *q = driver_idle_queue(&d->common);
    (void)trace; /* kernels of drivers note nothing */
    if (!q)
        q = new_queue(d);
    if (state)
        *state = q ? DEVICE_FINE : DEVICE_BROKEN;
    return q;
}

/* Waits for all that was put into any stream. */
static cu_result wait_for_all(cuda *d, device_queue *q)
{
    cu_result result = CU_SUCCESS;
    for (uint32_t i = 0; i < LANES && (i == 0 || q->spread); i++) {
        const cu_result said = q->stream[i] ? d->api.stream_wait(q->stream[i]) : CU_SUCCESS;
        result = result == CU_SUCCESS ? said : result;
    }
    q->spread = q->lanes.open = false;
    return result;
}

void cuda_close_queue(device *base, device_queue *q)
{
    cuda *d = (cuda *)base;
    if (!q)
        return;
    bool reusable = driver_reusable(&q->common) && q->downloads == 0;
    bool inside = cuda_enter(d) == CU_SUCCESS;
    reusable &= inside && wait_for_all(d, q) == CU_SUCCESS;
    if (!reusable)
        free_inside(d, q, inside);
    if (inside)
        cuda_leave(d);
    if (!reusable)
        return;
    q->staged = 0;
    q->timed = q->marked = q->turned = q->common.busy = false;
    q->launches = 0;
    driver_keep_queue(&d->common, q);
}

void cuda_free_queue(device *base, device_queue *q)
{
    cuda *d = (cuda *)base;
    bool inside = cuda_enter(d) == CU_SUCCESS;
    free_inside(d, q, inside);
    if (inside)
        cuda_leave(d);
}

/* --- times --- */

static bool make_event(cuda *d, cu_event *e)
{
    if (!*e && d->api.event_create(e, 0) != CU_SUCCESS)
        *e = NULL;
    return *e != NULL;
}

bool cuda_time_queue(device *base, device_queue *q)
{
    cuda *d = (cuda *)base;
    if (cuda_enter(d) != CU_SUCCESS)
        return false;
    q->timed = make_event(d, &q->before) && make_event(d, &q->behind);
    cuda_leave(d);
    return q->timed;
}

uint64_t cuda_took(device *base, device_queue *q)
{
    cuda *d = (cuda *)base;
    float ms = 0;
    if (!q->marked || cuda_enter(d) != CU_SUCCESS)
        return 0;
    bool known = d->api.event_between(&ms, q->before, q->behind) == CU_SUCCESS && ms > 0;
    cuda_leave(d);
    return known ? (uint64_t)((double)ms * 1e6 + 0.5) : 0;
}

/* A mark that cannot be made leaves the launch without a time. */
static void mark(cuda *d, device_queue *q, cu_event e)
{
    if (q->timed)
        q->timed = d->api.event_record(e, q->stream[0]) == CU_SUCCESS;
    q->marked = q->timed;
}

/* --- lanes; the context is current --- */

typedef struct spot { /* where a piece of work goes */
    cu_stream stream;
    cu_event *done; /* is recorded behind it; NULL: it is in no lane */
} spot;

static bool has_event(cuda *d, device_queue *q, cu_event *e)
{
    if (*e || !fails(d, q, "cuEventCreate", d->api.event_create(e, CU_EVENT_UNTIMED)))
        return true;
    *e = NULL;
    return false;
}

static bool has_stream(cuda *d, device_queue *q, uint32_t lane)
{
    if (q->stream[lane] || !fails(d, q, "cuStreamCreate", d->api.stream_create(&q->stream[lane], CU_STREAM_ALONE)))
        return true;
    q->stream[lane] = NULL;
    return false;
}

static bool wait_for(cuda *d, device_queue *q, cu_stream s, const lanes_waits *waits)
{
    for (uint32_t i = 0; i < waits->n; i++)
        if (fails(d, q, "cuStreamWaitEvent", d->api.stream_await(s, q->done[waits->of[i]], 0)))
            return false;
    return true;
}

/* What is put in from now on goes behind all that was put in before, and into the first stream. */
static bool join(cuda *d, device_queue *q)
{
    if (!q->lanes.open)
        return q->common.state == DEVICE_FINE;
    const lanes_waits waits = lanes_join(&q->lanes);
    const bool good = q->common.state == DEVICE_FINE && wait_for(d, q, q->stream[0], &waits);
    q->spread &= !good;
    return good;
}

static bool is_done(cuda *d, device_queue *q, const spot *s)
{
    return !s->done ||
           (has_event(d, q, s->done) && !fails(d, q, "cuEventRecord", d->api.event_record(*s->done, s->stream)));
}

static bool spread(cuda *d, device_queue *q)
{
    const spot first = {q->stream[0], q->common.busy ? &q->done[0] : NULL};
    lanes_begin(&q->lanes, q->common.busy);
    return is_done(d, q, &first);
}

/* Where work goes that touches this, behind what it waits for. False: the queue failed. */
static bool find_spot(cuda *d, device_queue *q, const lanes_touched *at, uint32_t n, double load, spot *out)
{
    lanes_place place;
    *out = (spot){q->stream[0], NULL};
    if (!q->lanes.open)
        return true;
    if (!lanes_put(&q->lanes, at, n, load, &place)) {
        if (!join(d, q) || !spread(d, q))
            return false;
        lanes_put(&q->lanes, at, n, load, &place); /* there is room for any */
    }
    if (!has_stream(d, q, place.lane))
        return false;
    q->spread |= place.lane > 0;
    *out = (spot){q->stream[place.lane], &q->done[place.work]};
    return wait_for(d, q, out->stream, &place.waits);
}

/* --- events --- */

struct device_event {
    cu_event event;
};

static device_event *new_event(cuda *d, device_queue *q)
{
    device_event *e = d->common.heap.alloc(d->common.heap.env, sizeof(*e));
    if (!e) {
        driver_fails(&q->common, DEVICE_OUT_OF_MEMORY, "an event", "no memory");
        return NULL;
    }
    if (!fails(d, q, "cuEventCreate", d->api.event_create(&e->event, CU_EVENT_UNTIMED)))
        return e;
    d->common.heap.release(d->common.heap.env, e);
    return NULL;
}

device_event *cuda_signal(device *base, device_queue *q)
{
    cuda *d = (cuda *)base;
    if (q->common.state != DEVICE_FINE || fails(d, q, "cuCtxPushCurrent_v2", cuda_enter(d)))
        return NULL;
    device_event *e = join(d, q) ? new_event(d, q) : NULL;
    if (e && fails(d, q, "cuEventRecord", d->api.event_record(e->event, q->stream[0]))) {
        cuda_forget(base, e);
        e = NULL;
    }
    cuda_leave(d);
    return e;
}

bool cuda_await(device *base, device_queue *q, device_event *e)
{
    cuda *d = (cuda *)base;
    if (q->common.state != DEVICE_FINE || fails(d, q, "cuCtxPushCurrent_v2", cuda_enter(d)))
        return false;
    q->common.busy = true;
    bool good = join(d, q) && !fails(d, q, "cuStreamWaitEvent", d->api.stream_await(q->stream[0], e->event, 0));
    cuda_leave(d);
    return good;
}

void cuda_forget(device *base, device_event *e)
{
    cuda *d = (cuda *)base;
    if (!e)
        return;
    if (cuda_enter(d) == CU_SUCCESS) { /* the driver keeps what streams still wait for */
        d->api.event_destroy(e->event);
        cuda_leave(d);
    }
    d->common.heap.release(d->common.heap.env, e);
}

/* --- waiting --- */

/* Waits, hands out what was downloaded, and keeps the error of the first launch that has one. */
static void settle(cuda *d, device_queue *q)
{
    record *seen = (record *)(void *)(q->staging + STAGING_BYTES);
    size_t bytes = q->common.used * sizeof(*seen);
    join(d, q);
    if (q->common.used && q->common.state == DEVICE_FINE &&
        !fails(d, q, "cuMemcpyDtoHAsync_v2", d->api.download(seen, q->record, bytes, q->stream[0])))
        fails(d, q, "cuMemsetD8Async", d->api.clear(q->record, 0, bytes, q->stream[0]));
    fails(d, q, "cuStreamSynchronize", wait_for_all(d, q));
    q->common.busy = false;
    if (q->common.state != DEVICE_FINE)
        return;
    for (uint32_t i = 0; i < q->downloads; i++)
        memcpy(q->waiting[i].to, q->staging + q->waiting[i].from, q->waiting[i].bytes);
    for (uint32_t i = 0; i < q->common.used; i++)
        driver_notice(&q->common, seen[i].word);
    q->downloads = 0;
    q->staged = 0;
    q->common.used = 0;
}

device_state cuda_finish(device *base, device_queue *q, k_error *error, arena *a, const char **why)
{
    cuda *d = (cuda *)base;
    cu_result r = cuda_enter(d);
    if (!fails(d, q, "cuCtxPushCurrent_v2", r)) {
        settle(d, q);
        cuda_leave(d);
    }
    return driver_report(&q->common, error, a, why);
}

/* --- copies --- */

/* Room in staging memory; NULL: the copy is large, or there is none left. */
static char *stage(device_queue *q, size_t bytes)
{
    if (bytes > SMALL_COPY || bytes > STAGING_BYTES - q->staged)
        return NULL;
    char *at = q->staging + q->staged;
    q->staged += (bytes + 15) & ~(size_t)15;
    if (q->staged > STAGING_BYTES)
        q->staged = STAGING_BYTES;
    return at;
}

static bool upload(cuda *d, device_queue *q, cu_stream s, cu_pointer to, const void *from, size_t bytes)
{
    char *staged = stage(q, bytes);
    if (staged)
        memcpy(staged, from, bytes);
    return !fails(d, q, "cuMemcpyHtoDAsync_v2", d->api.upload(to, staged ? staged : from, bytes, s));
}

static bool fetch(cuda *d, device_queue *q, cu_stream s, void *to, cu_pointer from, size_t bytes)
{
    char *staged = q->downloads < DOWNLOADS ? stage(q, bytes) : NULL;
    if (staged)
        q->waiting[q->downloads++] = (download){to, (size_t)(staged - q->staging), bytes};
    return !fails(d, q, "cuMemcpyDtoHAsync_v2", d->api.download(staged ? staged : to, from, bytes, s));
}

bool cuda_copy(device *base, device_queue *q, device_direction direction, void *to, const void *from, size_t offset,
               size_t bytes)
{
    cuda *d = (cuda *)base;
    cu_pointer into = (cu_pointer)(uintptr_t)to, out_of = (cu_pointer)(uintptr_t)from;
    const bool up = direction == DEVICE_UPLOAD, down = direction == DEVICE_DOWNLOAD;
    const lanes_touched at[] = {lanes_touched_block(from, up ? 0 : offset, bytes, false, false),
                                lanes_touched_block(to, up ? offset : 0, bytes, true, false)};
    spot s;
    if (!bytes || q->common.state != DEVICE_FINE)
        return q->common.state == DEVICE_FINE;
    if (fails(d, q, "cuCtxPushCurrent_v2", cuda_enter(d)))
        return false;
    q->common.busy = true;
    bool good = find_spot(d, q, at, 2, (double)bytes, &s);
    if (good && up)
        good = upload(d, q, s.stream, into + offset, from, bytes);
    else if (good && down)
        good = fetch(d, q, s.stream, to, out_of + offset, bytes);
    else if (good)
        good = !fails(d, q, "cuMemcpyDtoDAsync_v2", d->api.copy(into, out_of + offset, bytes, s.stream));
    good = good && is_done(d, q, &s);
    cuda_leave(d);
    return good;
}

bool cuda_clear(device *base, device_queue *q, void *block, size_t bytes)
{
    cuda *d = (cuda *)base;
    if (!bytes || q->common.state != DEVICE_FINE)
        return q->common.state == DEVICE_FINE;
    if (fails(d, q, "cuCtxPushCurrent_v2", cuda_enter(d)))
        return false;
    const lanes_touched at = lanes_touched_block(block, 0, bytes, true, false);
    spot s;
    bool good = find_spot(d, q, &at, 1, (double)bytes, &s);
    q->common.busy = true;
    good = good && !fails(d, q, "cuMemsetD8Async", d->api.clear((cu_pointer)(uintptr_t)block, 0, bytes, s.stream)) &&
           is_done(d, q, &s);
    cuda_leave(d);
    return good;
}

/* --- launches --- */

bool cuda_lend(device *base, device_queue *q, void (*work)(void *env, const device_native *native), void *env)
{
    cuda *d = (cuda *)base;
    if (q->common.state != DEVICE_FINE || fails(d, q, "cuCtxPushCurrent_v2", cuda_enter(d)))
        return false;
    const bool good = join(d, q);
    q->common.busy = true;
    if (good)
        work(env, &(device_native){(void *)q->stream[0], (void *)d->context, (void *)(intptr_t)d->id});
    cuda_leave(d);
    return good;
}

/* Blocks take pieces in strides, so any number will do. Several times what fits at once evens out pieces of different
 * cost; where a piece waits for the one before it, every block must be at work. */
static unsigned groups_of(const cuda *d, const device_kernel *k, int64_t pieces)
{
    uint64_t most = (uint64_t)d->common.limits.workers * k->resident * (k->chained ? 1 : WAVES);
    if (d->common.limits.most_groups && most > d->common.limits.most_groups)
        most = d->common.limits.most_groups;
    if (most > INT32_MAX)
        most = INT32_MAX;
    return (unsigned)((uint64_t)pieces < most ? (uint64_t)pieces : most);
}

/* The addresses of everything in the order of the kernel's parameters. */
static void list_arguments(const device_kernel *k, void *const *mem, const ir_bits *arg, int64_t *range,
                           cu_pointer *error, void **out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->common.memories; i++)
        out[n++] = (void *)(uintptr_t)&mem[i];
    for (uint32_t i = 0; i < k->common.arguments; i++) /* little-endian: a value's bytes come first */
        out[n++] = (void *)(uintptr_t)&arg[i];
    out[n++] = &range[0];
    out[n++] = &range[1];
    out[n] = error;
}

/* Where a launch goes. Those that say nothing of what they touch come behind all others; so do those whose blocks must
 * all be at work, as two of these beside each other would each wait for room that the other one has. */
static bool find_launch(cuda *d, device_queue *q, const device_kernel *k, void *const *mem, const device_reach *reach,
                        spot *out)
{
    lanes_touched at[LANES_MOST_TOUCHED];
    *out = (spot){q->stream[0], NULL};
    if (!reach || q->timed || k->chained || reach->pointers > LANES_MOST_TOUCHED)
        return join(d, q);
    if (!q->lanes.open && reach->work >= LANES_LEAST_WORK && !spread(d, q))
        return false;
    return find_spot(d, q, at, lanes_touched_by(reach, mem, false, at), reach->work, out);
}

/* Behind a launch: every DRIVER_AHEAD launches the host waits for the one so many before. */
static bool take_turn(cuda *d, device_queue *q, cu_stream s)
{
    if (++q->launches < DRIVER_AHEAD)
        return true;
    q->launches = 0;
    if (q->turned && fails(d, q, "cuEventSynchronize", d->api.event_wait(q->turn)))
        return false;
    if (!has_event(d, q, &q->turn))
        return false;
    q->turned = !fails(d, q, "cuEventRecord", d->api.event_record(q->turn, s));
    return q->turned;
}

static bool launch(cuda *d, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first,
                   int64_t last, const device_reach *reach)
{
    void *arguments[CUDA_MOST_ARGUMENTS];
    int64_t range[2] = {first, last};
    spot s;
    if (k->common.checks && q->common.used == RECORDS)
        settle(d, q);
    if (q->common.state != DEVICE_FINE || !find_launch(d, q, k, mem, reach, &s))
        return false;
    /* Launches without checks leave the record alone. */
    cu_pointer error = q->record + (k->common.checks ? q->common.used : 0) * sizeof(record);
    q->common.used += k->common.checks;
    q->common.busy = true;
    list_arguments(k, mem, arg, range, &error, arguments);
    mark(d, q, q->before);
    bool failed = fails(d, q, "cuLaunchKernel",
                        d->api.launch(k->function, groups_of(d, k, last - first), 1, 1, k->group, 1, 1, k->shared,
                                      s.stream, arguments, NULL));
    mark(d, q, q->behind);
    return !failed && is_done(d, q, &s) && take_turn(d, q, s.stream);
}

bool cuda_enqueue(device *base, device_queue *q, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first,
                  int64_t last, bool small, const device_reach *reach)
{
    cuda *d = (cuda *)base;
    (void)small;
    if (first >= last || q->common.state != DEVICE_FINE)
        return q->common.state == DEVICE_FINE;
    if (fails(d, q, "cuCtxPushCurrent_v2", cuda_enter(d)))
        return false;
    bool good = launch(d, q, k, mem, arg, first, last, reach);
    cuda_leave(d);
    return good;
}
