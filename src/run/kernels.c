/* Kernels of a program: found by cluster and variant, built and compiled when first needed. */
#include "base/size.h"
#include "run/fields.h"

typedef struct choice { /* of kernel for a launch, beside the variant */
    bool final, narrow;
    const run_layout *layout;
} choice;

_Static_assert(SK_VARIANTS <= 256 && SK_PASSES <= 256 && SK_ROW_BITS <= 64 - 20, "bits of a key");

uint64_t run_kernel_key(const sk_geometry *g, bool final, bool narrow)
{
    return (uint64_t)g->row << 20 | (uint64_t)g->variant << 12 | (uint64_t)g->pass << 4 | (uint64_t)narrow << 3 |
           (uint64_t)g->ahead << 2 | (uint64_t)g->stream << 1 | (uint64_t) final;
}

static run_variant *find_variant(run_cluster *c, uint64_t key, const run_layout *layout)
{
    run_variant *v = atomic_load_explicit(&c->variants, memory_order_acquire);
    while (v && (v->key != key || v->layout != layout))
        v = v->next;
    return v;
}

run_variant *run_known_variant(const run_program *r, uint32_t cluster, uint64_t key)
{
    return find_variant(&r->cluster[cluster], key, NULL);
}

/* --- building, under the write lock --- */

static bool uses_buffer(const plan_cluster *c, uint32_t buffer)
{
    for (uint32_t i = 0; i < c->reads.n; i++)
        if (c->reads.at[i] == buffer)
            return true;
    for (uint32_t i = 0; i < c->writes.n; i++)
        if (c->writes.at[i] == buffer)
            return true;
    return false;
}

/* Which memory and which values the launch passes. t: for what is not needed afterwards. */
static bool bind(run_program *r, uint32_t cluster, run_variant *v, const bool *here, arena *t, sk_reason *why)
{
    arena *a = r->l->ir->arena;
    host_code host = {0};
    const sk_kernel *k = v->built;
    k_mem global = 1;
    v->memory = arena_array(a, run_binding, k->memory.n + 1);
    for (uint32_t i = 0; i < k->memory.n; i++) {
        const sk_binding *from = &k->memory.at[i];
        while (k->k->mem.at[global].space != K_GLOBAL)
            global++;
        v->memory[i] = (run_binding){from->role, here[i], k->k->mem.at[global++].written, from->component};
        if (from->role != SK_ARRAY)
            continue;
        if (!plan_find(r->plan, from->array, from->component, &v->memory[i].number) ||
            !uses_buffer(&r->plan->cluster.at[cluster], v->memory[i].number)) {
            why->text = arena_printf(t, "the kernel uses array a%u, which is not planned for", from->array);
            return false;
        }
    }
    if (k->k->narrow) {
        v->fit = arena_new(a, *v->fit);
        v->fit->words = k->argument.n + 1;
        v->fit->low = arena_array(a, *v->fit->low, v->fit->words);
        v->fit->high = arena_array(a, *v->fit->high, v->fit->words);
    }
    v->argument = arena_array(a, run_argument_of, k->argument.n + 1);
    for (uint32_t i = 0; i < k->argument.n; i++) {
        const sk_argument *from = &k->argument.at[i];
        v->argument[i] = (run_argument_of){from->term == 0, from->slot};
        if (from->term)
            v->argument[i].number = host_add(r->l->ir, t, &host, from->term);
    }
    v->host = host_keep(&host, a);
    return true;
}

/* The kernel without what was needed to build it. Those of clusters that compute the same, one behind the other, are
 * one but for the names of arrays. */
static sk_kernel *keep(run_program *r, const sk_kernel *built, arena *a)
{
    sk_kernel *k = arena_copy(a, built, sizeof(*built));
    k->k = k_clone_like(built->k, r->kept, a);
    r->kept = k->k;
    k->memory.at = arena_copy(a, built->memory.at, built->memory.n * sizeof(*built->memory.at));
    k->argument.at = arena_copy(a, built->argument.at, built->argument.n * sizeof(*built->argument.at));
    k->memory.cap = built->memory.n;
    k->argument.cap = built->argument.n;
    return k;
}

/* Which parameters are the memory of the cluster's results. */
static const sk_over *overs_of(const run_program *r, uint32_t cluster, const run_layout *layout, arena *t, uint32_t *n)
{
    const plan *p = r->plan;
    const plan_cluster *c = &p->cluster.at[cluster];
    sk_over *all = layout ? arena_array(t, *all, c->writes.n + 1) : NULL;
    *n = 0;
    for (uint32_t i = 0; layout && i < c->writes.n; i++) {
        const uint32_t over = layout->at[c->writes.at[i]].over;
        if (!over)
            continue;
        const plan_buffer *from = &p->buffer.at[over - 1], *to = &p->buffer.at[c->writes.at[i]];
        all[(*n)++] = (sk_over){from->array, from->component, to->array, to->component};
    }
    return all;
}

/* t: for what is not needed afterwards; so may the reason be. */
static run_variant *build(run_program *r, uint32_t cluster, const sk_geometry *g, choice how, arena *t, sk_reason *why)
{
    arena *a = r->l->ir->arena;
    sk_options options = r->options;
    options.stream = g->stream;
    options.ahead = g->ahead;
    options.row = g->row;
    options.final = how.final;
    options.narrow = how.narrow;
    options.over = overs_of(r, cluster, how.layout, t, &options.overs);
    run_variant *v = arena_new(a, *v);
    v->key = run_kernel_key(g, how.final, how.narrow);
    v->layout = how.layout;
    v->joins_rows = g->variant == SK_FOLD_TREE && g->row > 0;
    v->built = sk_build(&r->code[cluster], g->variant, g->pass, &options, t, why);
    if (!v->built)
        return NULL;
    arena_sweep(t);
    const bool *here = run_lay_out(r, cluster, how.layout, v->built, t);
    const char *wrong = NULL;
    if (!k_verify(v->built->k, t, &wrong)) {
        text said;
        text_init(&said, t);
        text_printf(&said, "a kernel is not well-formed: %s\n", wrong);
        k_print(v->built->k, &said);
        why->text = said.at;
        return NULL;
    }
    v->built = keep(r, v->built, a);
    run_find_hazards(v->built->k, a, v);
    return bind(r, cluster, v, here, t, why) ? v : NULL;
}

/* The same with memory running out as a value. The lock is held and stays so. */
static run_variant *build_safely(run_program *r, uint32_t cluster, const sk_geometry *g, choice how, sn_status *status,
                                 const char **why)
{
    jmp_buf failure;
    arena *a = r->l->ir->arena, t;
    arena_init(&t, a->heap);
    if (setjmp(failure)) {
        arena_on_failure(a, NULL);
        arena_free(&t);
        *status = SN_NO_MEMORY;
        *why = "no memory to build a kernel";
        return NULL;
    }
    arena_on_failure(a, &failure);
    arena_on_failure(&t, &failure);
    sk_reason reason = {0};
    run_variant *v = build(r, cluster, g, how, &t, &reason);
    *status = v ? SN_OK : reason.unsupported ? SN_UNSUPPORTED : SN_INTERNAL;
    if (!v && reason.unsupported)
        *why = arena_string(a, reason.text);
    else if (!v)
        *why = arena_printf(a, "internal error: %s", reason.text ? reason.text : "no kernel");
    arena_on_failure(a, NULL);
    arena_free(&t);
    arena_sweep(a);
    return v;
}

run_variant *run_build(run_program *r, uint32_t cluster, const sk_geometry *g, bool final, bool narrow,
                       const run_layout *layout, sn_status *status, const char **why)
{
    return build_safely(r, cluster, g, (choice){final, narrow, layout}, status, why);
}

static void publish(run_cluster *c, run_variant *v)
{
    v->next = atomic_load_explicit(&c->variants, memory_order_relaxed);
    atomic_store_explicit(&c->variants, v, memory_order_release);
}

/* Builds and compiles a variant that no call has needed before. Compiling needs no lock: only terms do. Where nothing
 * compiles, and the program brought no such kernel along, a more general one does; NULL and *missing if it has none. */
static const run_variant *make_now(run *c, uint32_t cluster, const sk_geometry *g, choice how, const char **missing)
{
    run_program *r = c->r;
    run_cluster *rc = &r->cluster[cluster];
    const uint32_t site = c->plan->cluster.at[cluster].site;
    sn_status status = SN_OK;
    const char *why = NULL;
    pthread_rwlock_wrlock(r->lock);
    run_variant *v = find_variant(rc, run_kernel_key(g, how.final, how.narrow), how.layout);
    if (v) {
        pthread_rwlock_unlock(r->lock);
        return v;
    }
    v = build_safely(r, cluster, g, how, &status, &why);
    pthread_rwlock_unlock(r->lock);
    if (!v) /* `why` lives as long as the program */
        return run_fails_at(c, site, status, "%s", why), NULL;
    device *d = r->engine.device;
    v->code = (g->work < d->limits->draft_work ? device_draft : device_compile)(d, v->built->k, c->arena, &why);
    if (!v->code && !why)
        return run_fails_at(c, site, SN_NO_MEMORY, "no memory to compile a kernel"), NULL;
    if (!v->code && !d->generates(d)) {
        const sk_geometry general = sk_general(g);
        const choice wide = {.final = how.final, .layout = how.layout};
        *missing = why;
        return run_kernel_key(&general, wide.final, wide.narrow) != run_kernel_key(g, how.final, how.narrow)
                   ? make_now(c, cluster, &general, wide, missing)
                   : NULL;
    }
    if (!v->code && v->built->k->code.n)
        return run_fails_at(c, v->built->k->code.at[0].site, SN_FOREIGN_FAILED,
                            "the source of %s, or of another function of the same loop, does not compile: %s",
                            v->built->k->code.at[0].name, why),
               NULL;
    if (!v->code) {
        bool ours = !d->limits->driven;
        return run_fails_at(c, site, ours ? SN_INTERNAL : SN_UNSUPPORTED, "a kernel does not compile: %s", why), NULL;
    }
    pthread_rwlock_wrlock(r->lock);
    run_variant *other = find_variant(rc, v->key, v->layout); /* another thread may have been faster */
    if (!other) {
        publish(rc, v);
        atomic_fetch_add(&r->kernels, 1);
    }
    pthread_rwlock_unlock(r->lock);
    if (other)
        device_release_kernel(d, v->code);
    return other ? other : v;
}

static const run_variant *make(run *c, uint32_t cluster, const sk_geometry *g, choice how, const char **missing)
{
    run_watch watch = run_begin_step(c);
    const run_variant *v = make_now(c, cluster, g, how, missing);
    run_end_step(c, watch, RUN_COMPILE, 0);
    return v;
}

static void interpret_from_now(run *c, const char *why)
{
    atomic_store(&c->r->interpreted, true);
    run_fails(c, SN_UNSUPPORTED, "programs will be interpreted, slowly: %s", why);
}

/* --- drafts --- */

/* For want of memory a draft goes on, until it has done as much again. */
static device_kernel *replace_draft(run *c, run_variant *v, device_kernel *draft)
{
    const char *why = NULL;
    run_watch watch = run_begin_step(c);
    device_kernel *code = device_compile(c->r->engine.device, v->built->k, c->arena, &why);
    run_end_step(c, watch, RUN_COMPILE, 0);
    if (code) {
        v->draft = draft;
        atomic_store(&v->code, code);
        return code;
    }
    atomic_store(&v->done, 0);
    atomic_store(&v->replaced, false);
    return draft;
}

/* How much a launch has to do is not known well where there are loops over data, as in sorts, so each counts as some.
 */
device_kernel *run_code_for(run *c, const run_variant *known, double work)
{
    static const uint64_t launch_work = 400000, most_work = (uint64_t)1 << 50;
    run_variant *v = (run_variant *)(uintptr_t)known;
    device_kernel *code = atomic_load_explicit(&v->code, memory_order_acquire);
    if (!device_is_draft(code))
        return code;
    const uint64_t does = launch_work + (work < (double)most_work ? (uint64_t)work : most_work);
    const double done = (double)(atomic_fetch_add(&v->done, does) + does);
    bool no = false;
    if (done < c->r->engine.device->limits->draft_work || !atomic_compare_exchange_strong(&v->replaced, &no, true))
        return code;
    return replace_draft(c, v, code);
}

/* --- finding --- */

static bool same_digit(sk_digit x, sk_digit y)
{
    return x.component == y.component && x.shift == y.shift && x.first == y.first && x.top == y.top;
}

static const run_geometry *remembered(run_cluster *c, unsigned rank, const int64_t *extent, sk_round round,
                                      const run_layout *layout)
{
    const run_geometry *g = atomic_load_explicit(&c->geometries, memory_order_acquire);
    while (g && (g->layout != layout || g->round.partials != round.partials || g->round.places != round.places ||
                 g->round.pass != round.pass || !same_digit(g->round.digit, round.digit) ||
                 g->round.segments != round.segments || memcmp(g->extent, extent, rank * sizeof(int64_t))))
        g = g->next;
    return g;
}

/* Geometry is worked out under the lock, as it reads terms and takes scratch memory. */
static bool work_out(run *c, uint32_t cluster, uint64_t without, run_geometry *out, bool *found)
{
    run_program *r = c->r;
    arena *a = r->l->ir->arena;
    volatile bool good = false;
    sk_options options = r->options;
    options.without = without;
    jmp_buf failure;
    pthread_rwlock_wrlock(r->lock);
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        *found = sk_plan_launch(&r->code[cluster], &options, out->extent, out->round,
                                r->engine.device->limits->cache_bytes, &out->geometry);
        good = true;
    }
    arena_on_failure(a, NULL);
    pthread_rwlock_unlock(r->lock);
    return good || run_fails_at(c, c->plan->cluster.at[cluster].site, SN_NO_MEMORY, "no memory to plan a launch");
}

/* The geometry to use: that which is kept, if it is. */
static const run_geometry *remember(run *c, run_cluster *rc, const run_geometry *g)
{
    run_program *r = c->r;
    const run_geometry *volatile use = g;
    pthread_rwlock_wrlock(r->lock);
    jmp_buf failure;
    if (rc->remembered < MOST_GEOMETRIES && !setjmp(failure)) {
        arena_on_failure(r->l->ir->arena, &failure);
        run_geometry *kept = arena_copy(r->l->ir->arena, g, sizeof(*g));
        kept->kept = true;
        kept->next = atomic_load_explicit(&rc->geometries, memory_order_relaxed);
        atomic_store_explicit(&rc->geometries, kept, memory_order_release);
        rc->remembered++;
        use = kept;
    }
    arena_on_failure(r->l->ir->arena, NULL);
    pthread_rwlock_unlock(r->lock);
    return use;
}

const run_geometry *run_find(run *c, uint32_t cluster, const int64_t *extent, sk_round round)
{
    run_program *r = c->r;
    run_cluster *rc = &r->cluster[cluster];
    const l_cluster *lc = &r->l->cluster.at[cluster];
    const run_geometry *known = remembered(rc, lc->rank, extent, round, c->layout);
    if (known)
        return known;
    run_geometry *out = arena_new(c->arena, *out);
    out->round = round;
    out->layout = c->layout;
    memcpy(out->extent, extent, lc->rank * sizeof(int64_t));
    out->cluster = cluster;
    const char *missing = NULL;
    for (uint64_t without = 0;; without |= (uint64_t)1 << out->geometry.variant) {
        bool found = false;
        run_watch planning = run_begin_step(c);
        bool planned = work_out(c, cluster, without, out, &found);
        run_end_step(c, planning, RUN_PLANNING, 0);
        if (!planned)
            return NULL;
        if (!found)
            return interpret_from_now(c, missing), NULL;
        choice how = {.final = out->geometry.partials == 1, .narrow = true, .layout = c->layout};
        out->final = how.final;
        out->variant = find_variant(rc, run_kernel_key(&out->geometry, how.final, how.narrow), how.layout);
        if (!out->variant && out->geometry.pieces > 0)
            out->variant = make(c, cluster, &out->geometry, how, &missing);
        if (out->variant || out->geometry.pieces <= 0)
            break;
        if (!missing)
            return NULL;
    }
    return remember(c, rc, out);
}

/* Another kernel for the same launch. */
static const run_variant *find_other(run *c, const run_geometry *found, bool narrow)
{
    const choice how = {.final = found->final, .narrow = narrow, .layout = found->layout};
    const run_variant *v = find_variant(&c->r->cluster[found->cluster],
                                        run_kernel_key(&found->geometry, how.final, how.narrow), how.layout);
    const char *missing = NULL;
    if (!v)
        v = make(c, found->cluster, &found->geometry, how, &missing);
    if (!v && missing)
        interpret_from_now(c, missing);
    return v;
}

const run_variant *run_find_wide(run *c, const run_geometry *found)
{
    return find_other(c, found, false);
}

bool run_find_cached(run *c, run_geometry *found)
{
    found->geometry.stream = false;
    found->variant = find_other(c, found, true);
    return found->variant;
}

/* --- for explain --- */

enum { USUAL_PLACES = 256 /* of a permute */ };

/* Extents that no call has told: those that are constants, and usual ones, as far as the whole has a size that a call
 * may have. */
static void assume_extents(const run_program *r, const l_cluster *lc, int64_t extent[IR_MAX_RANK])
{
    static const size_t most = (size_t)1 << 48; /* elements */
    size_t all = 1, with = 0;
    for (unsigned d = 0; d < lc->rank; d++) {
        if (!ir_extent_constant(r->l->ir, lc->shape[d], &extent[d]))
            extent[d] = -1;
        else if (extent[d] > 0 && size_times(all, (size_t)extent[d], &with) && with <= most)
            all = with;
        else
            extent[d] = 1;
    }
    for (unsigned d = lc->rank; d-- > 0;) {
        const int64_t usual = lc->rank == 1 ? (int64_t)1 << 24 : d + 2u >= lc->rank ? 4096 : 16;
        if (extent[d] >= 0)
            continue;
        extent[d] = size_times(all, (size_t)usual, &with) && with <= most ? usual : 1;
        all *= (size_t)extent[d];
    }
}

static run_variant *build_expected(run_program *r, uint32_t cluster, sn_status *status, const char **why)
{
    const l_cluster *lc = &r->l->cluster.at[cluster];
    int64_t extent[IR_MAX_RANK] = {0};
    sk_geometry g;
    assume_extents(r, lc, extent);
    sk_plan_launch(&r->code[cluster], &r->options, extent,
                   (sk_round){.pass = r->plan->launch.at[r->plan->cluster.at[cluster].launch].pass,
                              .places = USUAL_PLACES,
                              .segments = lc->segments ? 1 << 20 : 0},
                   SIZE_MAX, &g);
    return build_safely(r, cluster, &g, (choice){.final = g.partials == 1, .narrow = true}, status, why);
}

static void visit_expected(run_program *r, uint32_t cluster, run_visit visit, void *env, sn_status *status,
                           const char **why)
{
    jmp_buf failure;
    if (setjmp(failure)) {
        arena_on_failure(r->l->ir->arena, NULL);
        *status = SN_NO_MEMORY;
        *why = "no memory to plan a launch";
        return;
    }
    arena_on_failure(r->l->ir->arena, &failure);
    run_variant *v = build_expected(r, cluster, status, why);
    if (v)
        visit(env, cluster, v->built);
}

sn_status run_visit_kernels(run_program *r, run_visit visit, void *env, arena *a, const char **message)
{
    volatile sn_status result = SN_NO_MEMORY;
    jmp_buf failure, *outer = a->failure;
    *message = "no memory to show kernels";
    pthread_rwlock_wrlock(r->lock);
    if (!setjmp(failure)) {
        sn_status status = SN_OK;
        const char *why = NULL;
        bool any = run_kernels(r) > 0;
        arena_on_failure(a, &failure);
        for (uint32_t i = 0; i < r->l->cluster.n && status == SN_OK; i++) {
            if (!any && !r->plan->cluster.at[i].control)
                visit_expected(r, i, visit, env, &status, &why);
            for (run_variant *v = atomic_load(&r->cluster[i].variants); v; v = v->next)
                visit(env, i, v->built);
        }
        *message = why ? why : "";
        result = status;
    }
    arena_on_failure(a, outer);
    pthread_rwlock_unlock(r->lock);
    return result;
}
