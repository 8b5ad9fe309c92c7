#include "run/fields.h"

#include "base/size.h"
#include "kernel/walk.h"
#include "run/interleave.h"
#include "run/transfer.h"

enum { MOST_LAYOUTS = 32 /* of a program; calls with further ones have their structs taken apart */ };

/* --- what buffers are good for --- */

run_uses *run_find_uses(const run_program *r, arena *a)
{
    const plan *p = r->plan;
    run_uses *uses = arena_array(a, *uses, p->buffer.n + 1);
    for (uint32_t i = 0; i < p->cluster.n; i++) {
        const plan_cluster *c = &p->cluster.at[i];
        l_class class = r->l->cluster.at[i].class; /* a sort's launches take turns with what is result */
        bool once = class != L_CLASS_SORT && class != L_CLASS_PERMUTE && (class != L_CLASS_ROW || c->launches == 1);
        for (uint32_t k = 0; k < c->writes.n; k++) {
            run_uses *u = &uses[c->writes.at[k]];
            const plan_buffer *b = &p->buffer.at[c->writes.at[k]];
            u->alone = once && b->place == PLAN_OUTPUT && b->room == b->shape;
        }
        for (uint32_t k = 0; k < c->reads.n; k++)
            uses[c->reads.at[k]].readers++;
    }
    for (uint32_t i = 0; i < p->buffer.n; i++) /* of parts that are computed in their places */
        if (p->buffer.at[i].within)
            uses[p->buffer.at[i].within - 1].alone = false;
    for (uint32_t i = 0; i < p->control.n; i++) /* these take and give arrays */
        for (uint32_t k = 0; k < p->control.at[i].whole.n; k++)
            uses[p->control.at[i].whole.at[k]].alone = false;
    for (uint32_t i = 0; i < p->result.n; i++)
        if (p->result.at[i].copied || p->result.at[i].counted)
            uses[p->result.at[i].buffer].alone = false;
    return uses;
}

/* Is a field that so many loops read, as all others of its structs that are read do, read where it is? Else its
 * elements are read and written once more, and then without those beside them. */
static bool worth_it(const run *c, uint32_t buffer)
{
    const run_argument *in = &c->in[c->plan->buffer.at[buffer].port];
    double size = (double)ir_type_size(c->plan->buffer.at[buffer].type), fields = 0;
    for (uint32_t i = 0; i < c->plan->buffer.n; i++) {
        const plan_buffer *b = &c->plan->buffer.at[i];
        fields += b->place == PLAN_INPUT && c->in[b->port].field.structs == in->field.structs && c->in[b->port].needed;
    }
    double readers = c->r->uses[buffer].readers, share = in->field.every / fields;
    return readers * share <= share + (2 + readers) * size;
}

static run_field field_of(const run *c, uint32_t buffer)
{
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    const run_uses *u = &c->r->uses[buffer];
    if (b->place == PLAN_INPUT && u->readers && !c->in[b->port].aside && c->in[b->port].field.every &&
        worth_it(c, buffer))
        return c->in[b->port].field;
    if (b->place == PLAN_OUTPUT && u->alone && !c->out[b->port].aside && !c->out[b->port].upto)
        return c->out[b->port].field;
    return (run_field){0};
}

static const run_layout *find(const run_program *r, const run_field *at)
{
    const run_layout *l = atomic_load_explicit(&r->layouts, memory_order_acquire);
    while (l && memcmp(l->at, at, r->plan->buffer.n * sizeof(*at)))
        l = l->next;
    return l;
}

static const run_layout *add(run_program *r, const run_field *at)
{
    arena *a = r->l->ir->arena;
    const run_layout *volatile l = NULL;
    jmp_buf failure;
    pthread_rwlock_wrlock(r->lock);
    l = find(r, at);
    if (!l && r->layouts_n < MOST_LAYOUTS && !setjmp(failure)) {
        arena_on_failure(a, &failure);
        run_layout *made = arena_new(a, *made);
        made->at = arena_copy(a, at, r->plan->buffer.n * sizeof(*at));
        made->next = (run_layout *)(uintptr_t)atomic_load_explicit(&r->layouts, memory_order_relaxed);
        atomic_store_explicit(&r->layouts, made, memory_order_release);
        r->layouts_n++;
        l = made;
    }
    arena_on_failure(a, NULL);
    pthread_rwlock_unlock(r->lock);
    return l;
}

const run_layout *run_find_layout(run *c)
{
    const plan *p = c->plan;
    const device_limits *limits = c->r->engine.device->limits;
    const bool fields = c->field && !limits->own_memory && limits->fields;
    run_field *at = arena_array(c->arena, *at, p->buffer.n + 1);
    bool any = false;
    for (uint32_t i = 0; i < p->buffer.n; i++) {
        at[i] = fields && c->field[i].data ? field_of(c, i) : (run_field){0};
        any |= at[i].every != 0;
    }
    any |= run_write_over(c, at);
    if (!any)
        return NULL;
    const run_layout *known = find(c->r, at);
    return known ? known : add(c->r, at);
}

/* --- kernels --- */

/* Does the statement run once for a gang in a piece? */
static bool once(const k_walk *w)
{
    const kernel *k = w->k;
    const k_value *count = &k->value.at[k->stmt.at[w->for_all].in[0]];
    for (uint32_t i = 0; i < w->open.n; i++) {
        unsigned op = k->stmt.at[k_walk_open(w, i)].op;
        if (op == K_FOR || op == K_LOOP)
            return false;
    }
    return count->kind == KV_LITERAL && (int64_t)count->bits <= k->lanes;
}

/* Are the elements that lanes take neighbours, or one for all, wherever many are taken? Memory of others has `bad` set.
 */
static void find_jumps(const kernel *k, arena *t, bool *bad, bool plain)
{
    k_walk w;
    uint32_t *loads = arena_array(t, *loads, k->mem.n);
    k_ref *list = arena_array(t, *list, k->mem.n);
    k_walk_begin(&w, k, t);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event != K_WALK_AT || !s->mem)
            continue;
        const k_value *index = &k->value.at[s->in[0]];
        bool access = s->op == K_LOAD || s->op == K_STORE;
        bool along = index->shape == K_UNIFORM || (index->shape == K_AFFINE && index->step == 1);
        bool many = w.for_all && k->stmt.at[w.for_all].sub != K_FEW && !once(&w);
        bad[s->mem] |= (!access && s->op != K_FETCH) || (access && many && !along);
        if (s->op != K_LOAD || !plain)
            continue;
        loads[s->mem] = list[s->mem] == k_walk_parent(&w) ? loads[s->mem] + 1 : 1;
        list[s->mem] = k_walk_parent(&w);
        bad[s->mem] |= loads[s->mem] > 2; /* neighbours of each element: they are had at less cost from an array */
    }
}

/* Does each element of the loop read the array's element at its own place, or one for all? */
static bool own_place(const run_program *r, uint32_t cluster, ir_id array)
{
    const l_cluster *c = &r->l->cluster.at[cluster];
    const ir_array *info = ir_info(r->l->ir, array);
    if (c->class == L_CLASS_STENCIL || c->sweeps > 1)
        return false;
    return !info->rank || (info->rank == c->rank && !memcmp(info->shape, c->shape, c->rank * sizeof(ir_id)));
}

bool *run_lay_out(const run_program *r, uint32_t cluster, const run_layout *layout, sk_kernel *built, arena *t)
{
    kernel *k = built->k;
    bool *here = arena_alloc(t, built->memory.n + 1), *bad = arena_alloc(t, k->mem.n);
    k_mem *global = arena_array(t, *global, built->memory.n + 1);
    uint32_t n = 0;
    if (!layout)
        return here;
    kernel *seen = k_clone_beside(k, t);
    k_analyse(seen);
    find_jumps(seen, t, bad, r->l->cluster.at[cluster].class == L_CLASS_PLAIN);
    for (k_mem m = 1; m < k->mem.n; m++)
        if (k->mem.at[m].space == K_GLOBAL)
            global[n++] = m;
    for (uint32_t i = 0; i < built->memory.n; i++) {
        const sk_binding *b = &built->memory.at[i];
        uint32_t buffer;
        if (b->role != SK_ARRAY || bad[global[i]] || !plan_find(r->plan, b->array, b->component, &buffer))
            continue;
        const run_field *f = &layout->at[buffer];
        k_memory *m = &k->mem.at[global[i]];
        if (!f->every || (!m->written && !own_place(r, cluster, b->array)))
            continue;
        here[i] = true;
        m->every = f->every;
        m->at = f->at;
        m->stream = false;
        for (uint32_t j = 0; j < i && !m->beside; j++) {
            uint32_t other;
            const k_memory *o = &k->mem.at[global[j]];
            if (here[j] && !o->beside && o->written == m->written &&
                plan_find(r->plan, built->memory.at[j].array, built->memory.at[j].component, &other) &&
                layout->at[other].structs == f->structs)
                m->beside = global[j];
        }
    }
    return here;
}

/* --- arrays made of structs, and structs of arrays --- */

typedef struct conversion {
    interleave x;
    interleave_field field[IR_MAX_COMPONENTS];
} conversion;

static void begin(conversion *v, const void *data, run_field f, unsigned rank, const int64_t *extent)
{
    int64_t n = 0;
    size_count(rank, extent, &n);
    *v = (conversion){.x = {.whole = (char *)(uintptr_t)data - f.at, .bytes = f.every, .n = (size_t)n}};
}

static void put_field(conversion *v, run_field f, ir_type t, void *part)
{
    v->field[v->x.fields++] = (interleave_field){f.at, ir_type_size(t), part};
}

/* The interpreter works alone, as whoever asks for it expects. */
static void convert(run_program *r, conversion *v, bool together)
{
    const device *d = r->engine.device;
    size_t cached = d && !d->limits->own_memory ? d->limits->cache_bytes : SIZE_MAX, written = 0;
    const uint64_t since = run_clock(r);
    for (unsigned k = 0; k < v->x.fields; k++)
        written += v->x.n * v->field[k].size;
    v->x.field = v->field;
    v->x.together = together;
    v->x.stream = written > cached;
    v->x.threads = !d ? 1 : d->limits->own_memory ? UINT16_MAX : d->limits->workers;
    interleave_run(&v->x);
    run_count_conversion(r->engine.counters, written);
    run_count(&r->conversions, 1);
    run_count(&r->converted_bytes, written);
    run_note_step(r, RUN_CONVERT, since, written);
}

/* Host memory: of the device's pool, where that is host memory. */
static void *take_host(const run_engine *e, size_t bytes, size_t *granted)
{
    *granted = 0;
    if (e->pool && !e->device->limits->own_memory)
        return run_pool_take(e->pool, bytes, granted);
    return e->heap->alloc(e->heap->env, bytes + 1);
}

static void give_host(const run_engine *e, void *data, size_t granted)
{
    if (e->pool && !e->device->limits->own_memory)
        run_pool_give(e->pool, data, granted);
    else if (data)
        e->heap->release(e->heap->env, data);
}

static void *take_part(run *c, uint32_t number, size_t bytes, run_block *out)
{
    out->block = take_host(&c->r->engine, bytes, &out->granted);
    if (!out->block)
        run_fails(c, SN_NO_MEMORY, "no memory for a component of argument %u, of %zu bytes", number, bytes);
    return out->block;
}

static bool stays(const run *c, uint32_t buffer, const run_variant *v)
{
    if (!c->layout || !c->layout->at[buffer].every)
        return false;
    for (uint32_t i = 0; v && i < v->built->memory.n; i++)
        if (v->memory[i].role == SK_ARRAY && v->memory[i].number == buffer && !v->memory[i].here)
            return false;
    return true;
}

bool run_take_apart(run *c, uint32_t buffer, const run_variant *v)
{
    const plan *p = c->plan;
    const run_argument *own = &c->in[p->buffer.at[buffer].port];
    conversion all;
    begin(&all, own->data, own->field, p->shape.at[p->buffer.at[buffer].shape].rank, own->extent);
    for (uint32_t i = 0; i < p->buffer.n; i++) {
        const plan_buffer *b = &p->buffer.at[i];
        if (b->place != PLAN_INPUT || !c->field[i].data || c->host[i] || all.x.fields == IR_MAX_COMPONENTS)
            continue;
        const run_argument *in = &c->in[b->port];
        if (in->field.structs != own->field.structs || (i != buffer && (!in->needed || stays(c, i, v))))
            continue;
        size_t bytes = all.x.n * ir_type_size(b->type);
        if (!take_part(c, in->number, bytes, &c->field[i].part))
            return false;
        c->host[i] = c->field[i].part.block;
        put_field(&all, in->field, b->type, c->field[i].part.block);
    }
    convert(c->r, &all, false);
    for (uint32_t i = 0; i < p->buffer.n; i++)
        if (c->field[i].part.block && c->host[i] && !c->data[i])
            c->data[i] = run_reach(c, c->host[i]);
    return true;
}

bool run_take_overlapping(run *c)
{
    for (uint32_t i = 0; c->field && i < c->plan->buffer.n; i++) {
        const plan_buffer *b = &c->plan->buffer.at[i];
        if (b->place == PLAN_INPUT && c->field[i].data && c->in[b->port].aside && c->in[b->port].needed &&
            !c->host[i] && !run_take_apart(c, i, NULL))
            return false;
    }
    return true;
}

bool run_put_aside(run *c, uint32_t result, uint32_t buffer)
{
    device *d = c->r->engine.device;
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    const run_result *out = &c->out[result];
    int64_t n = 0;
    size_count(c->plan->shape.at[b->shape].rank, out->extent, &n);
    size_t bytes = (size_t)n * ir_type_size(b->type);
    c->from[result] = c->host[buffer] ? c->host[buffer] : c->data[buffer] ? d->map(d, c->data[buffer]) : NULL;
    if (c->from[result] || !bytes)
        return true;
    c->from[result] = take_part(c, out->number, bytes, &c->put[result]);
    return c->from[result] && d->copy(d, c->queue, DEVICE_DOWNLOAD, c->put[result].block, c->data[buffer], 0, bytes);
}

void run_put_together(run *c)
{
    const plan *p = c->plan;
    for (uint32_t i = 0; c->from && i < p->result.n; i++) {
        if (!c->from[i])
            continue;
        const run_result *first = &c->out[i];
        conversion all;
        begin(&all, first->data, first->field, p->shape.at[p->buffer.at[p->result.at[i].buffer].shape].rank,
              first->extent);
        for (uint32_t k = i; k < p->result.n && all.x.fields < IR_MAX_COMPONENTS; k++) {
            if (!c->from[k] || c->out[k].field.structs != first->field.structs)
                continue;
            put_field(&all, c->out[k].field, p->buffer.at[p->result.at[k].buffer].type, (void *)(uintptr_t)c->from[k]);
            c->from[k] = NULL;
        }
        convert(c->r, &all, true);
    }
}

void run_free_fields(run *c)
{
    for (uint32_t i = 0; c->field && i < c->plan->buffer.n; i++)
        if (c->field[i].part.block)
            give_host(&c->r->engine, c->field[i].part.block, c->field[i].part.granted);
    for (uint32_t i = 0; c->from && i < c->plan->result.n; i++)
        if (c->put[i].block)
            give_host(&c->r->engine, c->put[i].block, c->put[i].granted);
}

/* --- calls that are interpreted --- */

static uint32_t inputs_of(const plan *p)
{
    return p->input_first[p->inputs];
}

/* Memory for `elements` of them, given back with all others; NULL: there is none. */
static void *take_array(run_program *r, run_arrays *all, int64_t elements, ir_type t)
{
    size_t bytes = 0;
    if (!size_times((size_t)elements, ir_type_size(t), &bytes))
        return NULL;
    void *at = r->engine.heap->alloc(r->engine.heap->env, bytes + 1);
    all->memory[all->n] = at;
    all->n += at != NULL;
    return at;
}

static bool inputs_as_arrays(run_program *r, const run_argument *in, run_arrays *all)
{
    const plan *p = r->plan;
    uint32_t n = inputs_of(p), port = 0;
    memcpy(all->in, in, n * sizeof(*in));
    for (uint32_t k = 0; k < p->inputs; k++) {
        const ir_array *info = ir_info(r->l->ir, r->l->ir->input.at[k]);
        conversion v = {0};
        for (unsigned c = 0; c < info->components; c++, port++) {
            if (!in[port].field.every)
                continue;
            if (!v.x.fields)
                begin(&v, in[port].data, in[port].field, info->rank, in[port].extent);
            void *to = take_array(r, all, (int64_t)v.x.n, info->type[c]);
            if (!to)
                return false;
            all->in[port].data = to;
            if (in[port].needed)
                put_field(&v, in[port].field, info->type[c], to);
        }
        if (v.x.fields)
            convert(r, &v, false);
    }
    return true;
}

static bool results_as_arrays(run_program *r, const run_result *out, run_arrays *all)
{
    const plan *p = r->plan;
    memcpy(all->out, out, p->result.n * sizeof(*out));
    for (uint32_t i = 0; i < p->result.n; i++) {
        const plan_buffer *b = &p->buffer.at[p->result.at[i].buffer];
        int64_t n = out[i].capacity;
        if (!out[i].field.every)
            continue;
        if (!out[i].upto)
            size_count(p->shape.at[b->shape].rank, out[i].extent, &n);
        all->out[i].data = take_array(r, all, n, b->type);
        if (!all->out[i].data)
            return false;
    }
    return true;
}

bool run_fields_as_arrays(run_program *r, const run_argument *in, run_result *out, arena *a, run_arrays *all)
{
    const plan *p = r->plan;
    uint32_t n = inputs_of(p);
    bool any = false;
    *all = (run_arrays){.in = (run_argument *)(uintptr_t)in, .out = out};
    for (uint32_t i = 0; i < n; i++)
        any |= in[i].field.every != 0;
    for (uint32_t i = 0; i < p->result.n; i++)
        any |= out[i].field.every != 0;
    if (!any)
        return true;
    all->in = arena_array(a, *all->in, n + 1);
    all->out = arena_array(a, *all->out, p->result.n + 1);
    all->memory = arena_array(a, void *, n + p->result.n + 1);
    return inputs_as_arrays(r, in, all) && results_as_arrays(r, out, all);
}

void run_arrays_end(run_program *r, run_result *out, run_arrays *all, bool good)
{
    const plan *p = r->plan;
    for (uint32_t i = 0; all->out != out && i < p->result.n; i++) {
        run_result given = out[i];
        out[i] = all->out[i];
        if (!given.field.every)
            continue;
        out[i].data = given.data;
    }
    for (uint32_t i = 0; all->out != out && good && i < p->result.n; i++) {
        const plan_buffer *b = &p->buffer.at[p->result.at[i].buffer];
        conversion v;
        if (!out[i].field.every || (i && out[i - 1].field.structs == out[i].field.structs))
            continue;
        begin(&v, out[i].data, out[i].field, p->shape.at[b->shape].rank, out[i].extent);
        for (uint32_t k = i; k < p->result.n && out[k].field.structs == out[i].field.structs; k++)
            put_field(&v, out[k].field, p->buffer.at[p->result.at[k].buffer].type, all->out[k].data);
        convert(r, &v, true);
    }
    for (uint32_t i = 0; i < all->n; i++)
        r->engine.heap->release(r->engine.heap->env, all->memory[i]);
}
