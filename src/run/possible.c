/* The kernels that calls may need, for programs that are to run where nothing compiles them. What a launch takes is
 * decided by extents, workers and caches: so launches over extents of all sizes are planned, and what they take is
 * built, once each. Kernels that are made for one length of rows, of which there are many, come along in their general
 * form alone, unless a call has needed them. */
#include "run/program.h"

#include "base/size.h"

static const int64_t sizes[] = {1, 3, 16, 40, 100, 500, 5000, 70000, (int64_t)1 << 21, (int64_t)1 << 27};
static const uint32_t workers[] = {1, 4, 64};
static const size_t caches[] = {(size_t)1 << 20, (size_t)32 << 20};
static const int64_t places[] = {16, 4096, (int64_t)1 << 20, (int64_t)1 << 26};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), OUTER_SIZES = 3, VARIED = 3, MOST_ELEMENTS_LOG = 40 };

typedef struct search {
    run_program *r;
    run_visit visit;
    void *env;
    arena *arena;
    uint32_t cluster;
    map64 seen; /* keys of kernels of the cluster */
    sk_options options;
    size_t cache;
    sn_status status;
    const char *why;
    jmp_buf *failure; /* of memory */
} search;

/* Reasons why there is no such kernel are those of calls that would need it. */
static void take(search *s, const sk_geometry *g, bool narrow, const run_layout *layout)
{
    const bool final = g->partials == 1;
    const uint64_t key = run_kernel_key(g, final, narrow) + 1;
    sn_status status = SN_OK;
    const char *why = NULL;
    if (s->status != SN_OK || (!layout && map64_get(&s->seen, key)))
        return;
    if (!layout)
        map64_put(s->arena, &s->seen, key, 1);
    run_variant *v = run_build(s->r, s->cluster, g, final, narrow, layout, &status, &why);
    arena_on_failure(s->r->l->ir->arena, s->failure);
    if (v) {
        s->visit(s->env, s->cluster, v->built);
    } else if (status != SN_UNSUPPORTED) {
        s->status = status;
        s->why = why;
    }
}

static void plan_one(search *s, const int64_t *extent, sk_round round)
{
    sk_geometry g;
    sk_plan_launch(&s->r->code[s->cluster], &s->options, extent, round, s->cache, &g);
    const sk_geometry general = sk_general(&g);
    if (g.pieces <= 0)
        return;
    take(s, &general, false, NULL);
    g.row = general.row;
    take(s, &g, true, NULL);
}

/* --- rounds --- */

static void plan_sort(search *s, const int64_t *extent, sk_round round)
{
    const l_cluster *lc = &s->r->l->cluster.at[s->cluster];
    const uint32_t keys = ir_info(s->r->l->ir, lc->op.at[0].term)->keys;
    for (uint32_t k = 0; k < keys; k++)
        for (unsigned how = 0; how < 4; how++) {
            round.digit = (sk_digit){.component = (uint8_t)k, .first = how & 1, .top = how & 2};
            plan_one(s, extent, round);
        }
    round.digit = (sk_digit){0};
    round.partials = 2;
    plan_one(s, extent, round);
}

static void plan_pass(search *s, const int64_t *extent, sk_pass pass)
{
    const l_cluster *lc = &s->r->l->cluster.at[s->cluster];
    static const int64_t partials[] = {2, 40, 5000};
    sk_round round = {.pass = pass};
    if (lc->class == L_CLASS_SORT) {
        plan_sort(s, extent, round);
    } else if (lc->class == L_CLASS_PERMUTE) {
        for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
            round.places = places[i];
            plan_one(s, extent, round);
        }
    } else if (lc->segments) {
        for (size_t i = 0; i < SIZES; i++) {
            round.segments = sizes[i];
            plan_one(s, extent, round);
        }
    } else if (pass == SK_PASS_COMBINE) {
        for (size_t i = 0; i < ARRAY_LENGTH(partials); i++) {
            round.partials = partials[i];
            plan_one(s, extent, round);
        }
    } else {
        plan_one(s, extent, round);
    }
}

/* --- extents --- */

static void plan_extents(search *s, const int64_t *extent)
{
    sk_pass pass[SK_PASSES];
    int64_t elements = 0;
    if (!size_count(s->r->l->cluster.at[s->cluster].rank, extent, &elements) || elements >> MOST_ELEMENTS_LOG)
        return;
    const uint32_t n = sk_passes(&s->r->code[s->cluster], &s->options, pass);
    for (uint32_t i = 0; i < n; i++)
        plan_pass(s, extent, pass[i]);
}

/* Sizes of the last three dimensions vary on their own, those of the ones before are alike. */
static void vary_extents(search *s)
{
    const l_cluster *lc = &s->r->l->cluster.at[s->cluster];
    int64_t extent[IR_MAX_RANK] = {0}, constant = 0;
    size_t all = 1, choices[VARIED + 1] = {1, 1, 1, 1};
    unsigned varies[IR_MAX_RANK] = {0}, n = 0;
    for (unsigned d = lc->rank; d-- > 0;)
        if (ir_extent_constant(s->r->l->ir, lc->shape[d], &constant))
            extent[d] = constant;
        else
            varies[n++] = d;
    for (unsigned i = 0; i < n && i <= VARIED; i++)
        all *= choices[i] = i < VARIED ? SIZES : OUTER_SIZES;
    for (size_t number = 0; number < all && s->status == SN_OK; number++) {
        size_t rest = number;
        for (unsigned i = 0; i < n; i++) {
            const unsigned of = i < VARIED ? i : VARIED;
            extent[varies[i]] = sizes[rest % choices[of]];
            rest /= of < VARIED ? choices[of] : 1;
        }
        plan_extents(s, extent);
    }
}

static void visit_sizes(search *s)
{
    for (size_t w = 0; w < ARRAY_LENGTH(workers); w++)
        for (size_t c = 0; c < ARRAY_LENGTH(caches); c++) {
            s->options.workers = workers[w];
            s->cache = caches[c];
            vary_extents(s);
        }
}

/* What calls of the other program would take here. */
static void visit_called(search *s, const run_program *called)
{
    const size_t cache = s->r->engine.device->limits->cache_bytes;
    s->options = s->r->options;
    for (const run_geometry *g = atomic_load(&called->cluster[s->cluster].geometries); g; g = g->next) {
        sk_geometry here;
        sk_plan_launch(&s->r->code[s->cluster], &s->options, g->extent, g->round, cache, &here);
        if (here.pieces <= 0)
            continue;
        const sk_geometry general = sk_general(&here);
        take(s, &here, true, g->layout);
        take(s, &here, false, g->layout);
        take(s, &general, false, g->layout);
    }
}

static void visit_all(search *s, const run_program *called)
{
    run_program *r = s->r;
    const bool same = called && called->l->cluster.n == r->l->cluster.n;
    for (s->cluster = 0; s->cluster < r->l->cluster.n && s->status == SN_OK; s->cluster++) {
        if (r->plan->cluster.at[s->cluster].control)
            continue;
        s->seen = (map64){0};
        s->options = r->options;
        visit_sizes(s);
        if (same)
            visit_called(s, called);
    }
}

sn_status run_visit_possible(run_program *r, const run_program *called, run_visit visit, void *env, arena *a,
                             const char **message)
{
    jmp_buf failure, *outer = a->failure, *outer_terms = r->l->ir->arena->failure;
    search s = {.r = r, .visit = visit, .env = env, .arena = a, .failure = &failure};
    volatile sn_status status = SN_NO_MEMORY;
    *message = "no memory to build kernels";
    pthread_rwlock_wrlock(r->lock);
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        arena_on_failure(r->l->ir->arena, &failure);
        visit_all(&s, called);
        *message = s.why ? s.why : "";
        status = s.status;
    }
    arena_on_failure(r->l->ir->arena, outer_terms);
    arena_on_failure(a, outer);
    pthread_rwlock_unlock(r->lock);
    return status;
}
