/* The device's side of a call. */
#include "run/transfer.h"

#include "run/fields.h"
#include "run/launch.h"

#include "base/size.h"
#include "kernel/walk.h"

/* Arrays that the host reads elements of are copied to it whole up to this size: it often reads several. Where launches
 * are put off so that independent ones are done together, blocks that they still use are not used again until they are
 * done, which is at the latest when there are so many bytes of them. In queues of drivers a launch that uses such a
 * block waits for those that use it already: where launches could do without waiting, others are taken as long as no
 * more are set aside than this, and then the one that has been there longest. */
enum { WHOLE_BYTES = 4096, MOST_ASIDE_BYTES = 1 << 20, MOST_SPARED = 8, MOST_SPARED_BYTES = 16 << 20 };

static device *device_of(const run *c)
{
    return c->r->engine.device;
}

bool run_open_queue(run *c)
{
    device *d = device_of(c);
    device_state state;
    c->queue = d->open_queue(d, &c->trace, &state);
    if (state == DEVICE_OUT_OF_MEMORY)
        return run_fails(c, SN_NO_MEMORY, "no memory for a call");
    c->timed = c->queue && c->recorded && d->time_queue && d->time_queue(d, c->queue);
    return c->queue ||
           run_fails(c, SN_DEVICE_FAILED,
                     "the device %s takes no work; restart it, or choose another with SINTER_DEVICE", d->limits->name);
}

/* Blocks that nobody uses any more. */
static void give_asides(run *root)
{
    while (root->asides) {
        const run_block b = root->aside[--root->asides];
        run_pool_give(root->r->engine.pool, b.block, b.granted);
    }
    root->aside_bytes = 0;
}

void run_close_queue(run *c)
{
    if (!c->queue)
        return;
    device_of(c)->close_queue(device_of(c), c->queue);
    c->queue = NULL;
    give_asides(c);
}

/* --- waiting --- */

static bool settle(run *c, uint32_t site)
{
    device *d = device_of(c);
    k_error error = {0};
    const char *why = NULL;
    device_state state = d->finish(d, c->queue, &error, c->arena, &why);
    c->root->unsettled = false;
    if (d->limits->waits)
        give_asides(c->root);
    if (error.site) {
        c->status = SN_OK;
        return run_fails_kernel(c, &error);
    }
    if (state == DEVICE_FINE)
        return c->status == SN_OK;
    c->status = SN_OK;
    if (state == DEVICE_BROKEN)
        return run_fails(c, SN_DEVICE_FAILED, "the device %s failed: %s", d->limits->name, why);
    run_pool_flush(c->r->engine.pool);
    return run_fails_at(c, site, SN_NO_MEMORY, "the device %s ran out of memory: %s", d->limits->name, why);
}

bool run_settle(run *c)
{
    return settle(c, 0);
}

bool run_caught_up(run *c)
{
    return !run_busy(c) || run_settle(c);
}

bool run_settle_now(run *c)
{
    if (!run_busy(c))
        return true;
    atomic_store_explicit(c->timed ? &c->r->profile->device_timed : &c->r->profile->host_timed, true,
                          memory_order_relaxed);
    return run_settle(c);
}

/* What the device says of a call that it refused. */
static bool refused(run *c, uint32_t site)
{
    if (settle(c, site))
        run_fails(c, SN_DEVICE_FAILED, "the device %s takes no work; restart it, or choose another with SINTER_DEVICE",
                  device_of(c)->limits->name);
    return false;
}

/* What the queue took or refused; blocks that are given back while it is busy are set aside from now on. */
static bool put_in(run *c, bool taken, uint32_t site)
{
    if (!taken)
        return refused(c, site);
    run *root = c->root;
    if (!root->aside && run_busy(c))
        root->aside = arena_array(root->arena, run_block, MOST_ASIDE);
    return true;
}

/* --- blocks --- */

void run_let_go(run *c, void *block, size_t granted)
{
    if (!granted)
        return;
    const bool busy = run_busy(c);
    const bool fits = !device_of(c)->limits->waits || c->root->aside_bytes + granted <= MOST_ASIDE_BYTES;
    if (busy && c->root->asides < MOST_ASIDE && c->root->aside && fits) {
        c->root->aside[c->root->asides++] = (run_block){block, granted};
        c->root->aside_bytes += granted;
        return;
    }
    if (busy)
        run_settle(c); /* its failure is kept in c */
    run_pool_give(c->r->engine.pool, block, granted);
}

/* Are blocks that are set aside left alone as long as there are others? */
static bool spares_asides(const run *c)
{
    return c->plan->apart && !c->recorded && c->root->asides < MOST_SPARED && c->root->aside_bytes < MOST_SPARED_BYTES;
}

static void *take_aside(run *c, size_t wanted)
{
    run *root = c->root;
    for (uint32_t i = 0; i < root->asides && !device_of(c)->limits->waits; i++)
        if (root->aside[i].granted == wanted) {
            void *block = root->aside[i].block;
            memmove(&root->aside[i], &root->aside[i + 1], (--root->asides - i) * sizeof(*root->aside));
            root->aside_bytes -= wanted;
            return block;
        }
    return NULL;
}

static void *take(run *c, size_t bytes, uint32_t site, size_t *granted)
{
    run_pool *pool = c->r->engine.pool;
    *granted = run_pool_size(bytes);
    void *block = spares_asides(c) ? NULL : take_aside(c, *granted);
    if (!block)
        block = run_pool_take(pool, bytes, granted);
    if (!block)
        block = take_aside(c, *granted);
    if (!block && c->root->asides) { /* dead arrays of other sizes */
        if (!run_settle(c))
            return NULL;
        give_asides(c->root);
        block = run_pool_take(pool, bytes, granted);
    }
    if (block)
        return block;
    *granted = 0;
    const device_limits *l = device_of(c)->limits;
    if (l->memory)
        run_fails_at(c, site, SN_NO_MEMORY, "no memory for an array of %zu bytes on the device %s, which has %zu",
                     bytes, l->name, l->memory);
    else
        run_fails_at(c, site, SN_NO_MEMORY, "no memory for an array of %zu bytes", bytes);
    return NULL;
}

void *run_take(run *c, size_t bytes, uint32_t site, size_t *granted)
{
    run_watch watch = run_begin_step(c);
    void *block = take(c, bytes, site, granted);
    run_end_step(c, watch, RUN_ALLOCATE, bytes);
    return block;
}

/* --- copies --- */

/* Where copies are timed they are waited for. */
static bool copy(run *c, device_direction direction, void *to, const void *from, size_t offset, size_t bytes)
{
    static const run_step step[] = {
        [DEVICE_UPLOAD] = RUN_UPLOAD, [DEVICE_DOWNLOAD] = RUN_DOWNLOAD, [DEVICE_COPY] = RUN_COPY};
    device *d = device_of(c);
    if (!bytes)
        return true;
    run_watch watch = run_begin_step(c);
    bool good =
        put_in(c, d->copy(d, c->queue, direction, to, from, offset, bytes), 0) && (!c->recorded || run_settle_now(c));
    run_end_step(c, watch, step[direction], bytes);
    return good;
}

bool run_copy(run *c, void *to, const void *from, size_t bytes)
{
    return copy(c, DEVICE_COPY, to, from, 0, bytes);
}

bool run_fetch(run *c, void *to, const void *block, size_t bytes)
{
    return copy(c, DEVICE_DOWNLOAD, to, block, 0, bytes) && run_settle(c);
}

bool run_clear(run *c, void *block, size_t bytes)
{
    device *d = device_of(c);
    return put_in(c, d->clear(d, c->queue, block, bytes), 0);
}

/* Bytes of a buffer, whose size has been checked: that of arguments by the caller, whatever their shapes' terms say. */
static size_t bytes_of(const run *c, uint32_t buffer)
{
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    size_t bytes = 0;
    if (b->place == PLAN_INPUT)
        size_of_array(ir_type_size(b->type), c->plan->shape.at[b->shape].rank, c->in[b->port].extent, &bytes);
    else
        run_bytes(c, b, &bytes);
    return bytes;
}

bool run_upload(run *c, uint32_t buffer, const run_variant *v)
{
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    if (!c->data[buffer] && !c->host[buffer] && run_is_field(c, buffer) && b->place == PLAN_INPUT &&
        !run_take_apart(c, buffer, v))
        return false;
    if (c->data[buffer])
        return true;
    size_t bytes = bytes_of(c, buffer);
    c->data[buffer] = run_take(c, bytes, b->site, &c->granted[buffer]);
    if (b->place == PLAN_OUTPUT)
        return c->data[buffer] != NULL;
    return c->data[buffer] && copy(c, DEVICE_UPLOAD, c->data[buffer], c->host[buffer], 0, bytes);
}

bool run_read_words(run *c, uint32_t buffer, int64_t first, int64_t n, uint64_t *out)
{
    device *d = device_of(c);
    const size_t at = (size_t)first * sizeof(*out), bytes = (size_t)n * sizeof(*out);
    const char *here = d->map(d, c->data[buffer]);
    if (here && !run_caught_up(c))
        return false;
    if (here)
        memcpy(out, here + at, bytes);
    return here || (copy(c, DEVICE_DOWNLOAD, out, c->data[buffer], at, bytes) && run_settle(c));
}

bool run_read_host(run *c, uint32_t buffer, int64_t position, ir_bits *out)
{
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    size_t size = ir_type_size(b->type), at = (size_t)position * size;
    device *d = device_of(c);
    const char *here = c->host[buffer] ? c->host[buffer] : c->data[buffer] ? d->map(d, c->data[buffer]) : NULL;
    *out = 0;
    if (!here && !c->data[buffer] && run_is_field(c, buffer)) {
        uint32_t every = (b->place == PLAN_INPUT ? c->in[b->port].field : c->out[b->port].field).every;
        memcpy(out, (const char *)c->field[buffer].data + (size_t)position * every, size);
        return true;
    }
    if (!here) {
        size_t bytes = bytes_of(c, buffer);
        bool whole = bytes <= WHOLE_BYTES;
        void *to = arena_alloc(c->arena, whole ? bytes : size);
        if (!copy(c, DEVICE_DOWNLOAD, to, c->data[buffer], whole ? 0 : at, whole ? bytes : size) || !run_settle(c))
            return false;
        if (!whole) {
            memcpy(out, to, size);
            return true;
        }
        here = c->host[buffer] = to;
    } else if (!c->host[buffer] && !run_caught_up(c)) {
        return false;
    }
    memcpy(out, here + at, size);
    return true;
}

bool run_copy_out(run *c, uint32_t result, size_t bytes)
{
    run_result *out = &c->out[result];
    uint32_t from = c->plan->result.at[result].buffer;
    if (!c->data[from] && !c->host[from] && run_is_field(c, from) && !run_take_apart(c, from, NULL))
        return false;
    if (out->given && out->field.every)
        return run_put_aside(c, result, from);
    if (out->given && c->host[from]) {
        if (!run_caught_up(c))
            return false;
        if (bytes)
            memcpy(out->data, c->host[from], bytes);
        return true;
    }
    if (out->given)
        return copy(c, DEVICE_DOWNLOAD, out->data, c->data[from], 0, bytes);
    out->data = run_take(c, bytes, c->plan->buffer.at[from].site, &out->granted);
    if (!out->data)
        return false;
    if (!c->data[from])
        return copy(c, DEVICE_UPLOAD, out->data, c->host[from], 0, bytes);
    return copy(c, DEVICE_COPY, out->data, c->data[from], 0, bytes);
}

bool run_copy_between(run *c, uint32_t to, uint32_t from, size_t bytes)
{
    if (!c->data[from] && !c->host[from] && run_is_field(c, from) && !run_take_apart(c, from, NULL))
        return false;
    if (c->data[to] == c->data[from])
        return true;
    if (!c->data[from])
        return copy(c, DEVICE_UPLOAD, c->data[to], c->host[from], 0, bytes);
    return copy(c, DEVICE_COPY, c->data[to], c->data[from], 0, bytes);
}

static bool hand_out(run *c, uint32_t result, uint32_t buffer)
{
    const run_result *out = &c->out[result];
    size_t bytes = bytes_of(c, buffer);
    if (out->field.every)
        return run_put_aside(c, result, buffer);
    if (bytes && run_reach(c, out->data))
        run_count_copy(c->r->engine.counters, bytes); /* it could have been computed there */
    return copy(c, DEVICE_DOWNLOAD, out->data, c->data[buffer], 0, bytes);
}

bool run_hand_out_results(run *c)
{
    for (uint32_t i = 0; i < c->plan->result.n; i++) {
        const plan_result *r = &c->plan->result.at[i];
        if (!r->copied && c->out[i].given && c->granted[r->buffer] && !hand_out(c, i, r->buffer))
            return false;
    }
    return true;
}

/* --- launches --- */

bool run_enqueue(run *c, const run_variant *v, void *const *mem, const ir_bits *arg, const sk_geometry *g,
                 uint32_t site, const device_reach *reach)
{
    device *d = device_of(c);
    if (c->root->unsettled && v->loops_on_data && !run_settle(c))
        return false;
    bool taken = d->enqueue(d, c->queue, run_code_for(c, v, g->work), mem, arg, 0, g->pieces, run_is_small(g), reach);
    c->root->unsettled |= v->checks && !d->limits->waits && run_busy(c);
    return put_in(c, taken, site);
}

/* --- which kernels wait for others --- */

static bool depends(const bool *on_data, const k_stmt *s)
{
    for (unsigned i = 0; i < k_operands(s); i++)
        if (on_data[s->in[i]])
            return true;
    return false;
}

void run_find_hazards(const kernel *k, arena *a, run_variant *v)
{
    bool *on_data = arena_array(a, bool, k->value.n);
    k_walk walk;
    for (k_val i = 1; i < k->value.n; i++)
        on_data[i] = k->value.at[i].kind == KV_VARIABLE;
    k_walk_begin(&walk, k, a);
    while (k_walk_next(&walk)) {
        const k_stmt *s = &k->stmt.at[walk.at];
        if (walk.event != K_WALK_AT)
            continue;
        v->checks |= s->op == K_CHECK && !(s->sub & K_NOTE);
        v->notes |= s->op == K_CHECK && s->sub & K_NOTE;
        v->loops_on_data |= s->op == K_LOOP || (s->op == K_FOR && depends(on_data, s));
        bool total = s->op == K_LET || s->op == K_SELECT || s->op == K_FOR || s->op == K_FOR_ALL;
        if (s->dst)
            on_data[s->dst] |= !total || depends(on_data, s);
    }
}
