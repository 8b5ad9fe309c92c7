/* A launch of a plan: which kernel it takes for the extents of the call, its pointers and arguments, and that it goes
 * into the queue. */
#include "run/launch.h"

#include "base/size.h"
#include "kernel/narrow.h"
#include "kernel/ranges.h"
#include "run/fields.h"
#include "run/script.h"
#include "run/sort.h"
#include "run/tape.h"
#include "run/transfer.h"

/* Of the memory that a sort moves elements to: see SK_SKEW. */
static int64_t skew_of(const run_variant *v, void *const *mem)
{
    for (uint32_t i = 0; i < v->built->memory.n; i++)
        if (v->memory[i].role == SK_SORTED_TO && !v->memory[i].number)
            return (int64_t)((uintptr_t)mem[i] % SK_LINE / ir_type_size(v->built->memory.at[i].type));
    return 0;
}

static bool arguments(run *c, const run_variant *v, const sk_geometry *g, void *const *mem, uint32_t site, ir_bits *arg)
{
    host_value *value = NULL;
    if (v->host.step.n) {
        value = arena_array(c->arena, host_value, v->host.step.n);
        host_run(&v->host, 0, v->host.step.n, &c->world, value);
    }
    for (uint32_t i = 0; i < v->built->argument.n; i++) {
        const run_argument_of *a = &v->argument[i];
        if (!a->slot && value[a->number].bad)
            return run_fails_code(c, &v->host, value, value[a->number].bad - 1, site);
        bool skew = a->slot && a->number == SK_SKEW;
        arg[i] = skew ? (ir_bits)skew_of(v, mem) : a->slot ? (ir_bits)g->slot[a->number] : value[a->number].bits;
    }
    return c->status == SN_OK;
}

/* --- do indices fit in 32 bits? --- */

typedef struct fit_question {
    const kernel *k;
    const ir_bits *arg;
    int64_t pieces;
} fit_question;

/* The number of pieces, or an argument; 0 for one that no index is made of. */
static int64_t fit_word(const fit_question *q, uint32_t i)
{
    return !i ? q->pieces : q->k->arg_type.at[i - 1] == T_I64 ? ir_i64_bits(T_I64, q->arg[i - 1]) : 0;
}

static bool fitted_before(run_fit *f, const fit_question *q, k_range *known)
{
    unsigned turn = atomic_load_explicit(&f->turn, memory_order_acquire);
    bool there = turn && !(turn & 1), inside = there;
    for (uint32_t i = 0; i < f->words && there; i++) {
        known[i].low = atomic_load_explicit(&f->low[i], memory_order_acquire);
        known[i].high = atomic_load_explicit(&f->high[i], memory_order_acquire);
        inside &= fit_word(q, i) >= known[i].low && fit_word(q, i) <= known[i].high;
    }
    there = there && atomic_load_explicit(&f->turn, memory_order_relaxed) == turn;
    for (uint32_t i = 0; i < f->words && !there; i++)
        known[i] = (k_range){fit_word(q, i), fit_word(q, i)};
    return there && inside;
}

static void note_fit(run_fit *f, const k_range *fits)
{
    unsigned turn = atomic_load_explicit(&f->turn, memory_order_relaxed);
    if (turn & 1 || !atomic_compare_exchange_strong(&f->turn, &turn, turn + 1)) /* another thread is at it */
        return;
    for (uint32_t i = 0; i < f->words; i++) {
        atomic_store_explicit(&f->low[i], fits[i].low, memory_order_release);
        atomic_store_explicit(&f->high[i], fits[i].high, memory_order_release);
    }
    atomic_store_explicit(&f->turn, turn + 2 ? turn + 2 : 2, memory_order_release);
}

/* An interval with the number in it, up to a power of two: a round's number, say, soon leaves a smaller one. */
static k_range wider(k_range known, int64_t x)
{
    if (x >= known.low && x <= known.high)
        return known;
    int64_t far = x < 0 ? -(x + 1) : x, end = 1;
    while (end <= far && end < K_MOST_INDEX)
        end *= 2;
    k_range wide = {x < 0 ? -end : 0, x < 0 ? 0 : end - 1 < K_MOST_INDEX ? end - 1 : K_MOST_INDEX};
    return k_range_hull(known, wide);
}

/* May this launch take a kernel whose indices have 32 bits? What differs from a launch before it is looked at with all
 * that lies around it first. */
static bool indices_fit(run *c, const run_variant *v, const ir_bits *arg, int64_t pieces)
{
    fit_question q = {v->built->k, arg, pieces};
    k_range *range = arena_array(c->arena, *range, v->fit->words);
    if (fitted_before(v->fit, &q, range))
        return true;
    for (uint32_t i = 0; i < v->fit->words; i++)
        range[i] = wider(range[i], fit_word(&q, i));
    bool fit = k_indices_fit_between(q.k, c->arena, range + 1, 0, range[0].high);
    if (!fit) {
        for (uint32_t i = 0; i < v->fit->words; i++)
            range[i] = (k_range){fit_word(&q, i), fit_word(&q, i)};
        fit = k_indices_fit_between(q.k, c->arena, range + 1, 0, pieces);
    }
    if (fit)
        note_fit(v->fit, range);
    return fit;
}

/* The kernel, or the one that takes the same pointers and arguments and any indices; NULL: the call fails. */
static const run_variant *fitting(run *c, const run_variant *v, const run_geometry *found, const ir_bits *arg)
{
    return v->fit && !indices_fit(c, v, arg, found->geometry.pieces) ? run_find_wide(c, found) : v;
}

static void *memory_of(const run *c, const plan_launch *l, const run_binding *b, int64_t pieces)
{
    const uint32_t launch = (uint32_t)(l - c->plan->launch.at);
    switch (b->role) {
    case SK_ARRAY:
        return c->data[b->number];
    case SK_PARTIAL_IN:
        return c->data[l->in + b->number];
    case SK_PARTIAL_OUT:
        return c->data[l->out + b->number];
    case SK_SORTED_FROM:
    case SK_SORTED_TO:
        return c->data[run_sort_buffer(c, launch, b->number, b->role == SK_SORTED_TO)];
    default:
        return (uint64_t *)c->data[l->state] + b->number * pieces;
    }
}

/* Kernels with CHAIN go from lane to lane, and over their elements again. */
static double work_of(const run_variant *v, const sk_geometry *g)
{
    enum { CHAIN_WORK = 5 };
    return g->work * (v->built->k->chained ? CHAIN_WORK : 1);
}

/* How many bytes a launch may touch from a pointer on. */
static size_t bytes_touched(const run *c, const plan_launch *l, const run_binding *b, int64_t pieces)
{
    const uint32_t launch = (uint32_t)(l - c->plan->launch.at);
    uint32_t buffer;
    size_t bytes = 0;
    switch (b->role) {
    case SK_ARRAY:
        buffer = b->number;
        break;
    case SK_PARTIAL_IN:
        buffer = l->in + b->number;
        break;
    case SK_PARTIAL_OUT:
        buffer = l->out + b->number;
        break;
    case SK_SORTED_FROM:
    case SK_SORTED_TO:
        buffer = run_sort_buffer(c, launch, b->number, b->role == SK_SORTED_TO);
        break;
    default:
        run_alloc_bytes(c, l->state, &bytes);
        return bytes - (size_t)b->number * (size_t)pieces * sizeof(uint64_t);
    }
    const plan_buffer *of = &c->plan->buffer.at[buffer];
    if (of->place == PLAN_INPUT)
        size_of_array(ir_type_size(of->type), c->plan->shape.at[of->shape].rank, c->in[of->port].extent, &bytes);
    else
        run_alloc_bytes(c, buffer, &bytes);
    return bytes;
}

device_reach run_reach_of(run *c, uint32_t launch, const run_variant *v, const sk_geometry *g, bool *apart)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    *apart = c->plan->apart && !v->notes;
    if (!*apart)
        return (device_reach){0};
    const uint32_t n = v->built->memory.n;
    device_touched *at = arena_array(c->arena, *at, n + 1);
    for (uint32_t i = 0; i < n; i++)
        at[i] = (device_touched){bytes_touched(c, l, &v->memory[i], g->pieces), v->memory[i].written};
    const bool shares = c->plan->cluster.at[l->cluster].shares && l->pass != SK_PASS_COMBINE;
    return (device_reach){work_of(v, g), shares, n, v->built->argument.n, at};
}

/* Structs are used where they are, values noted, and launches recorded, in the order in which they come. Queues of
 * drivers decide for themselves what is worth it. */
static bool goes_apart(const run *c, double work)
{
    const bool waits = c->r->engine.device->limits->waits;
    return !c->recorded && !c->root->field && !c->root->layout && (!waits || run_worth_apart(work) || run_busy(c));
}

/* What a launch of a plan that has independent ones touches, for the device; NULL: others wait for it. */
static const device_reach *reach_of(run *c, uint32_t launch, const run_variant *v, const sk_geometry *g)
{
    bool apart;
    if (!c->plan->apart || !goes_apart(c, work_of(v, g)))
        return NULL;
    device_reach *reach = arena_new(c->arena, *reach);
    *reach = run_reach_of(c, launch, v, g, &apart);
    return apart ? reach : NULL;
}

void run_count_launched(run_program *r, uint64_t launches)
{
    if (!launches)
        return;
    atomic_fetch_add_explicit(&r->launches, launches, memory_order_relaxed);
    if (r->engine.counters)
        run_count(&r->engine.counters->launches, launches);
}

void run_count_launches(run *root)
{
    run_count_launched(root->r, root->counted);
    root->counted = 0;
}

/* Puts it into the queue with what it needs. */
static bool put(run *c, uint32_t launch, const run_geometry *found, const run_variant *v, const sk_geometry *g,
                void *const *mem, const ir_bits *arg, const device_reach *reach)
{
    device *d = c->r->engine.device;
    c->root->counted++;
    run_watch watch = run_begin_step(c);
    bool good = run_enqueue(c, v, mem, arg, g, c->plan->cluster.at[found->cluster].site, reach);
    if (good && c->tape)
        run_tape_launch(c, launch, v, g->pieces, arg);
    if (good && c->recorded)
        good = run_settle_now(c);
    run_end_launch(c, watch, found, v, arg, good && c->timed ? d->took(d, c->queue) : 0);
    if (c->root->trace.noted)
        run_say_trace(c->r, &c->root->trace);
    return good;
}

/* Does what the launch writes begin on lines? */
static bool is_on_lines(const run_variant *v, void *const *mem)
{
    uintptr_t all = 0;
    for (uint32_t i = 0; i < v->built->memory.n; i++)
        all |= v->memory[i].written ? (uintptr_t)mem[i] : 0;
    return all % SK_LINE == 0;
}

static bool launch(run *c, uint32_t index, const run_geometry *found)
{
    run_geometry cached;
    const plan_launch *l = &c->plan->launch.at[index];
    const run_variant *v = found->variant;
    const sk_geometry *g = &found->geometry;
    if (g->pieces <= 0) {
        run_script_launch(c, index, found, NULL, NULL);
        return true;
    }
    sk_geometry own = *g;
    if (found->round.digit.first && (l->pass == SK_PASS_SPLITS || l->pass == SK_PASS_MERGE)) {
        own.slot[SK_RUN] = c->sort[l->cluster].run;
        g = &own;
    }
    void **mem = arena_array(c->arena, void *, v->built->memory.n + 1);
    ir_bits *arg = arena_array(c->arena, ir_bits, v->built->argument.n + 1);
    for (uint32_t i = 0; i < v->built->memory.n; i++) {
        const run_binding *b = &v->memory[i];
        if (b->role == SK_ARRAY && !b->here && !run_upload(c, b->number, v))
            return false;
        mem[i] = b->here ? (void *)(uintptr_t)c->field[b->number].data : memory_of(c, l, b, g->pieces);
    }
    if (!arguments(c, v, g, mem, c->plan->cluster.at[l->cluster].site, arg))
        return false;
    if (g->lines && !is_on_lines(v, mem)) { /* the other kernel takes the same pointers and arguments */
        cached = *found;
        if (!run_find_cached(c, &cached))
            return false;
        found = &cached;
        v = found->variant;
    }
    v = fitting(c, v, found, arg);
    if (!v)
        return false;
    run_script_launch(c, index, found, v, arg);
    return put(c, index, found, v, g, mem, arg, reach_of(c, index, v, g));
}

static bool fails_empty(run *c, uint32_t site)
{
    return run_fails_at(c, site, SN_EMPTY_FOLD,
                        "no element to begin with: the innermost extent is 0; sn_fold takes an initial value");
}

bool run_step_size(run *c, uint32_t index)
{
    const plan_launch *l = &c->plan->launch.at[index];
    const plan_cluster *pc = &c->plan->cluster.at[l->cluster];
    const plan_shape *s = &c->plan->shape.at[pc->shape];
    sk_round round = {.pass = l->pass,
                      .partials = l->pass == SK_PASS_COMBINE ? c->left[l->cluster] : 0,
                      .places = pc->permutes ? c->size[pc->places] : 0,
                      .segments = pc->segments ? c->size[pc->segments - 1] : 0};
    int64_t extent[IR_MAX_RANK] = {0};
    run_sized *sized = &c->sized[index];
    for (unsigned d = 0; d < s->rank; d++)
        extent[d] = host_i64(c->value, s->extent[d]);
    if (!size_count(s->rank ? s->rank - 1u : 0, extent,
                    &sized->rows)) /* of no elements: else the shape would be too large, too */
        return run_fails_at(c, pc->site, SN_TOO_LARGE,
                            "the number of elements exceeds 63 bits; make its extents smaller");
    bool empty = c->size[pc->shape] == 0;
    if (empty && (sized->rows == 0 || !pc->folds))
        return true;
    if (empty && pc->seedless.n)
        return fails_empty(c, pc->seedless.at[0]);
    bool good = true;
    sized->found = NULL;
    if (pc->sorts && !run_sort_wants(c, index, &round, &good))
        return good;
    sized->found = run_find(c, l->cluster, extent, round);
    if (sized->found && pc->sorts)
        run_sort_sized(c, index);
    return sized->found != NULL;
}

static void tell_progress(run *root)
{
    const run_engine *e = &root->r->engine;
    const int64_t known = root->plan->launch.n;
    root->launched++;
    if (e->progress)
        e->progress(e->progress_env, root->launched, root->launched > known ? root->launched : known);
}

bool run_step_launch(run *c, uint32_t index)
{
    const plan_launch *l = &c->plan->launch.at[index];
    const run_geometry *found = c->sized[index].found;
    if (!found)
        return true;
    if (run_stops(c))
        return false;
    if (!c->plan->cluster.at[l->cluster].sorts)
        c->left[l->cluster] = found->geometry.partials;
    if (!launch(c, index, found))
        return false;
    if (c->plan->cluster.at[l->cluster].sorts)
        run_sort_launched(c, index);
    tell_progress(c->root);
    return true;
}

bool run_scripted_launch(run *c, const run_ready *l, void **mem)
{
    const run_variant *v = l->variant;
    const sk_geometry *g = &l->found->geometry;
    const ir_bits *arg = l->arg;
    if (run_stops(c))
        return false;
    for (uint32_t i = 0; i < l->pointers; i++) {
        const run_pointer *p = &l->pointer[i];
        if (p->array && !c->data[p->buffer] && !run_upload(c, p->buffer, v))
            return false;
        mem[i] = (char *)c->data[p->buffer] + p->offset;
    }
    const device_reach *reach = l->apart && goes_apart(c, l->reach.work) ? &l->reach : NULL;
    if (v && l->again) {
        ir_bits *own = arena_array(c->arena, ir_bits, v->built->argument.n + 1);
        if (!arguments(c, v, g, mem, c->plan->cluster.at[l->found->cluster].site, own))
            return false;
        v = fitting(c, v, l->found, own);
        arg = own;
        if (!v)
            return false;
    }
    if (v && !put(c, l->launch, l->found, v, g, mem, arg, reach))
        return false;
    tell_progress(c->root);
    return true;
}
