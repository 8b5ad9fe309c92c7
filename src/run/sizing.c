/* Launches over extents that are not known yet: stretches of them, kernels, and formulas. */
#include "run/sizing.h"

enum {
    MOST_STRETCHES = 256,
    EXACT = 1 << 15, /* numbers of a stretch that are all compared */
    MOST_LOG = 24,   /* of what formulas divide by */
    SAMPLES = 64,    /* of each power of two behind these */
    PROBES = 200,
    TIMES = 3,
    KEY_BITS = 64
};

typedef struct search {
    run_sizer *sizer;
    const run_asked *asked;
    int64_t times[TIMES]; /* what the number may be multiplied by: 1, all other extents, and all but the last */
    VEC(run_stretch) stretch;
    const char *why;
} search;

typedef struct probe { /* a plan for one number */
    int64_t n;
    uint64_t key; /* of its kernel; 0: there is none */
    sk_geometry g;
    int64_t of[RUN_NUMBERS];
} probe;

/* --- plans --- */

static bool launch_for(const run_asked *a, const int64_t *extent, sk_round round, sk_geometry *g)
{
    const run_program *r = a->r;
    sk_options options = r->options;
    if (a->flat)
        options.without = ~((uint64_t)1 << SK_MAP_FLAT);
    return sk_plan_launch(&r->code[a->cluster], &options, extent, round, r->engine.device->limits->cache_bytes, g);
}

static bool plan_for(const search *s, int64_t n, probe *out)
{
    const run_asked *a = s->asked;
    sk_round round = a->round;
    int64_t extent[IR_MAX_RANK];
    for (unsigned d = 0; d < IR_MAX_RANK; d++)
        extent[d] = a->extents >> d & 1 ? n : a->extent[d];
    round.places = a->places ? a->round.places * n : a->round.places;
    round.segments = a->segments ? n : a->round.segments;
    round.partials = a->partials ? n : a->round.partials;
    if (a->behind >= 0) {
        if (!launch_for(a, extent, (sk_round){.pass = SK_PASS_LOOP}, &out->g))
            return false;
        round.partials = out->g.partials - a->behind;
    }
    if (!launch_for(a, extent, round, &out->g))
        return false;
    if (a->least < a->most) /* not a kernel for each length */
        out->g = sk_general(&out->g);
    out->n = n;
    out->key = out->g.pieces > 0 ? run_kernel_key(&out->g, out->g.partials == 1, true) + 1 : 0;
    out->of[RUN_PIECES] = out->g.pieces;
    out->of[RUN_PARTIALS] = out->g.partials;
    out->of[RUN_WORDS] = out->g.state_words;
    memcpy(out->of + RUN_SLOT, out->g.slot, sizeof(out->g.slot));
    return true;
}

/* --- formulas --- */

/* That which holds for the most of the first probes, of those that change with this quotient. */
static uint32_t try_formula(const probe *p, uint32_t n, uint32_t number, run_formula *f)
{
    const int64_t first = p[0].of[number], before = run_formula_quotient(f, p[0].n, p[0].g.slot);
    uint32_t i = 1;
    f->step = 0;
    for (; i < n; i++) {
        const int64_t grows = run_formula_quotient(f, p[i].n, p[i].g.slot) - before, by = p[i].of[number] - first;
        if (!f->step && grows && by % grows == 0)
            f->step = by / grows;
        if (f->step * grows != by)
            break;
    }
    f->base = first - f->step * before;
    return i;
}

/* The first number, from that of probe `from` on, for which it is another than for this one; 0: there is none. */
static int64_t next_change(const search *s, const probe *p, uint32_t n, uint32_t number, int64_t from, int64_t value)
{
    uint32_t i = 0;
    while (i < n && (p[i].n <= from || p[i].of[number] == value))
        i++;
    if (i == n)
        return 0;
    int64_t same = from, other = p[i].n;
    while (other - same > 1) {
        const int64_t middle = same + (other - same) / 2;
        probe at;
        if (!plan_for(s, middle, &at))
            return 0;
        if (at.of[number] == value)
            same = middle;
        else
            other = middle;
    }
    return other;
}

typedef struct changes {   /* of a number */
    int64_t first, second; /* where; 0: there is none */
} changes;

static changes find_changes(const search *s, const probe *p, uint32_t n, uint32_t number)
{
    changes c = {.first = next_change(s, p, n, number, p[0].n, p[0].of[number])};
    probe at;
    if (c.first && plan_for(s, c.first, &at))
        c.second = next_change(s, p, n, number, c.first, at.of[number]);
    return c;
}

typedef struct best {
    run_formula f;
    uint32_t holds; /* for so many of the probes */
} best;

/* Quotients that are rounded down, up, or such that they change where this number does. */
static void try_quotient(const probe *p, uint32_t n, uint32_t number, run_formula f, changes c, best *to)
{
    const int64_t behind = f.times * ((c.first + f.unit - 1) / f.unit) % f.over;
    const int64_t plus[] = {0, f.over - 1, behind ? f.over - behind : 0};
    for (unsigned how = 0; how < ARRAY_LENGTH(plus) && to->holds < n; how++) {
        f.plus = plus[how];
        const uint32_t holds = try_formula(p, n, number, &f);
        if (holds > to->holds)
            *to = (best){f, holds};
    }
}

static void try_steps(const probe *p, uint32_t n, uint32_t number, run_formula f, changes c, best *to)
{
    for (unsigned log = 0; log <= MOST_LOG && to->holds < n; log++) {
        f.over = (int64_t)1 << log;
        try_quotient(p, n, number, f, c, to);
    }
    f.over = c.second - c.first; /* steps are as long */
    if (c.second && f.unit == 1)
        try_quotient(p, n, number, f, c, to);
}

static void try_other(const probe *p, uint32_t n, uint32_t number, run_formula f, best *to)
{
    const uint32_t holds = to->holds < n ? try_formula(p, n, number, &f) : 0;
    if (holds > to->holds)
        *to = (best){f, holds};
}

static run_formula best_formula(const search *s, const probe *p, uint32_t n, uint32_t number)
{
    best found = {.holds = 0};
    const changes c = find_changes(s, p, n, number);
    for (uint32_t t = 0; t < TIMES; t++)
        try_steps(p, n, number, (run_formula){.times = s->times[t], .unit = 1}, c, &found);
    for (unsigned log = 1; log <= MOST_LOG && found.holds < n; log++)
        for (uint32_t t = 1; t < TIMES; t++)
            try_steps(p, n, number, (run_formula){.times = s->times[t], .unit = (int64_t)1 << log}, c, &found);
    for (unsigned log = 0; log <= MOST_LOG; log++)
        try_other(p, n, number, (run_formula){.quotient = RUN_INVERSE, .over = (int64_t)1 << log, .unit = 1}, &found);
    for (uint32_t k = 0; k < SK_SLOTS && number < RUN_SLOT; k++)
        for (uint32_t t = 0; t < TIMES; t++) {
            const run_formula f = {.quotient = RUN_SHARES, .times = s->times[t], .over = 1, .unit = k};
            const run_formula g = {.quotient = RUN_PARTS, .times = s->times[t], .over = 1, .unit = k};
            try_other(p, n, number, f, &found);
            try_other(p, n, number, g, &found);
        }
    if (!found.f.step) /* it is constant */
        found.f = (run_formula){.base = found.f.base, .over = 1, .unit = 1};
    return found.f;
}

static bool holds(const search *s, const probe *first, const run_stretch *x, int64_t n)
{
    probe p;
    int64_t number[RUN_NUMBERS];
    if (!plan_for(s, n, &p) || p.key != first->key)
        return false;
    run_numbers_at(x, n, number);
    return memcmp(number, p.of, sizeof(number)) == 0;
}

/* The last number before `bad` for which it holds, as it does for `good`. */
static int64_t last_good(const search *s, const probe *first, const run_stretch *x, int64_t good, int64_t bad)
{
    while (bad - good > 1) {
        const int64_t middle = good + (bad - good) / 2;
        if (holds(s, first, x, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* Numbers before, at and behind where some formula changes, near this one. */
static bool holds_around(const search *s, const probe *first, const run_stretch *x, int64_t n, int64_t *bad)
{
    for (uint32_t i = 0; i < RUN_NUMBERS; i++) {
        const run_formula *f = &x->of[i];
        const int64_t every = f->quotient == RUN_IN_STEPS ? f->over * f->unit : 1, near = n / every * every;
        for (int64_t k = -1; k <= 1; k++)
            if (near + k > first->n && near + k <= s->asked->most && !holds(s, first, x, near + k)) {
                *bad = near + k;
                return false;
            }
    }
    return true;
}

static int64_t find_end(const search *s, const probe *first, const run_stretch *x)
{
    const int64_t most = s->asked->most;
    int64_t n = first->n, bad;
    while (n < most && n - first->n < EXACT)
        if (!holds(s, first, x, ++n))
            return n - 1;
    for (int64_t far = EXACT; n < most; far *= 2)
        for (int64_t i = 1; i <= SAMPLES && n < most; i++) {
            int64_t to = first->n + far + (far / SAMPLES) * i - i * 7 % 11;
            to = to < most ? to : most;
            if (!holds_around(s, first, x, to, &bad))
                return last_good(s, first, x, bad > n ? n : first->n, bad);
            if (!holds(s, first, x, to))
                return last_good(s, first, x, n, to);
            n = to;
        }
    return most;
}

/* --- kernels --- */

static bool fits(const search *s, const run_variant *v, const run_stretch *x, int64_t first)
{
    const uint32_t n = v->built->argument.n;
    const int64_t longest = s->asked->extents & 1 ? s->asked->most : s->asked->extent[0];
    k_range *range = arena_array(s->sizer->arena, *range, n + 1);
    int64_t one[RUN_NUMBERS], other[RUN_NUMBERS]; /* each grows throughout, or falls */
    run_numbers_at(x, first, one);
    run_numbers_at(x, x->last, other);
    for (uint32_t i = 0; i < n; i++) {
        const run_argument_of *a = &v->argument[i];
        if (!a->slot) {
            range[i] = s->asked->argument(s->asked->env, v, i);
            continue;
        }
        const int64_t from = one[RUN_SLOT + a->number], to = other[RUN_SLOT + a->number];
        range[i] = (k_range){from < to ? from : to, from < to ? to : from};
    }
    if (sk_sorts(&s->asked->r->code[s->asked->cluster])) /* digits and runs are set by each launch */
        for (uint32_t i = 0; i < n; i++)
            if (v->argument[i].slot && (v->argument[i].number == SK_SHIFT || v->argument[i].number == SK_RUN))
                range[i] = k_range_hull(range[i], (k_range){0, longest > KEY_BITS ? longest : KEY_BITS});
    const int64_t pieces = 2 * (one[RUN_PIECES] > other[RUN_PIECES] ? one[RUN_PIECES] : other[RUN_PIECES]);
    return k_indices_fit_between(v->built->k, s->sizer->arena, range, 0, pieces);
}

static const run_variant *kernel_of(search *s, const sk_geometry *g, bool narrow)
{
    run_program *r = s->asked->r;
    const uint32_t cluster = s->asked->cluster;
    const bool final = g->partials == 1;
    const uint64_t key = run_kernel_key(g, final, narrow);
    run_variant *v = run_known_variant(r, cluster, key);
    for (uint32_t i = 0; i < s->sizer->found.n && !v; i++) {
        const run_found *f = &s->sizer->found.at[i];
        if (f->r == r && f->cluster == cluster && f->v->key == key)
            v = f->v;
    }
    if (v)
        return v;
    sn_status status = SN_OK;
    jmp_buf *failure = r->l->ir->arena->failure;
    v = run_build(r, cluster, g, final, narrow, NULL, &status, &s->why);
    arena_on_failure(r->l->ir->arena, failure);
    if (v)
        vec_push(s->sizer->arena, &s->sizer->found, ((run_found){r, cluster, v}));
    return v;
}

static bool choose_kernel(search *s, const probe *first, run_stretch *x)
{
    if (!first->key)
        return true;
    x->variant = kernel_of(s, &first->g, true);
    if (x->variant && x->variant->fit && !fits(s, x->variant, x, first->n))
        x->variant = kernel_of(s, &first->g, false);
    return x->variant;
}

/* --- stretches --- */

/* Plans that formulas are found from: the first numbers, and those around powers of two, of the same kernel. */
static uint32_t find_probes(const search *s, int64_t n, probe *p)
{
    enum { FIRST = 8 };
    uint32_t found = 1;
    const int64_t most = s->asked->most;
    for (int64_t by = 1; n + by <= most && found < PROBES; by = by < FIRST ? by + 1 : 2 * by)
        for (int64_t k = by < FIRST ? 0 : -1; k <= (by < FIRST ? 0 : 1) && n + by + k <= most; k++, found++)
            if (!plan_for(s, n + by + k, &p[found]) || p[found].key != p[0].key)
                return found;
    return found;
}

static bool add_stretch(search *s, int64_t n)
{
    probe *p = arena_array(s->sizer->arena, *p, PROBES + 3);
    run_stretch x = {.last = n};
    if (!plan_for(s, n, &p[0])) {
        s->why = "internal error: a launch cannot be planned";
        return false;
    }
    const uint32_t probes = find_probes(s, n, p);
    for (uint32_t i = 0; i < RUN_NUMBERS; i++)
        x.of[i] = best_formula(s, p, probes, i);
    x.last = find_end(s, &p[0], &x);
    if (!choose_kernel(s, &p[0], &x))
        return false;
    vec_push(s->sizer->arena, &s->stretch, x);
    return true;
}

static bool find_all(search *s)
{
    for (int64_t n = s->asked->least; n <= s->asked->most; n = s->stretch.at[s->stretch.n - 1].last + 1) {
        if (s->stretch.n == MOST_STRETCHES) {
            s->why =
                "a loop goes about the extents that it may have in too many ways; give the extent as an argument's";
            return false;
        }
        if (!add_stretch(s, n))
            return false;
    }
    return s->stretch.n > 0;
}

uint32_t run_size_all(run_sizer *sizer, const run_asked *asked, const run_stretch **out, const char **why)
{
    search s = {.sizer = sizer, .asked = asked, .times = {1, 1, 1}};
    run_program *r = asked->r;
    arena *terms = r->l->ir->arena;
    jmp_buf failure, *outer = sizer->arena->failure, *outer_terms = terms->failure;
    volatile bool good = false, memory = false;
    const unsigned rank = r->l->cluster.at[asked->cluster].rank;
    for (unsigned d = 0; d < rank; d++)
        if (!(asked->extents >> d & 1) && asked->extent[d] > 0) {
            s.times[1] *= asked->extent[d];
            s.times[2] *= d + 1 < rank ? asked->extent[d] : 1;
        }
    pthread_rwlock_wrlock(r->lock);
    if (!setjmp(failure)) {
        arena_on_failure(sizer->arena, &failure);
        arena_on_failure(terms, &failure);
        good = find_all(&s);
        memory = true;
    }
    arena_on_failure(terms, outer_terms);
    arena_on_failure(sizer->arena, outer);
    pthread_rwlock_unlock(r->lock);
    *out = s.stretch.at;
    *why = !memory ? "there is no memory to plan its launches" : s.why;
    return good ? s.stretch.n : 0;
}
