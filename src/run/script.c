/* Scripts of calls: found by their extents, written and kept. */
#include "run/script.h"

#include "run/launch.h"

enum { MOST_STEPS = 1 << 14 /* of all scripts of a program */ };

struct run_scribe {
    const int64_t *key;
    uint64_t hash;
    bool off; /* this call cannot be repeated so */
    bool again;
    uint32_t pointers;
    VEC(run_scripted) step;
};

/* --- which programs --- */

static bool of_extents(const host_code *code)
{
    for (uint32_t i = 0; i < code->step.n; i++)
        if (code->step.at[i].kind == HOST_READ || code->step.at[i].kind == HOST_TERM)
            return false;
    return true;
}

static unsigned rank_of_result(const plan *p, uint32_t result)
{
    return p->shape.at[p->buffer.at[p->result.at[result].buffer].shape].rank;
}

static void bind(bool *loose, const host_code *code)
{
    for (uint32_t i = 0; i < code->step.n; i++)
        if (code->step.at[i].kind == HOST_DIM)
            loose[code->step.at[i].number] = false;
}

/* What neither steps nor parameters' extents name. */
static bool *find_loose(const plan *p, arena *a)
{
    bool *loose = arena_alloc(a, p->dim.n + 1);
    memset(loose, true, p->dim.n);
    bind(loose, &p->host);
    for (uint32_t i = 0; i < p->binding.n; i++)
        if (p->binding.at[i].named)
            loose[p->binding.at[i].number] = false;
    for (uint32_t i = 0; i < p->number.n; i++)
        loose[p->number.at[i].dim] = false;
    return loose;
}

void run_may_script(run_program *r, arena *a)
{
    const plan *p = r->plan;
    run_scripts *s = &r->scripts;
    s->loose = find_loose(p, a);
    s->may = r->engine.device && !p->control.n && of_extents(&p->host) && p->step.n < MOST_STEPS;
    for (uint32_t i = 0; i < p->cluster.n; i++)
        s->may &= !p->cluster.at[i].sorts;
    s->words = 2 * p->dim.n;
    for (uint32_t i = 0; i < p->inputs; i++)
        s->words += p->input_rank[i] * (p->input_first[i + 1] - p->input_first[i]);
    for (uint32_t i = 0; i < p->result.n; i++)
        s->words += 1 + rank_of_result(p, i);
}

/* --- finding --- */

/* Extents of parameters; those of results that there is memory for; and what a region is given besides. */
static void write_key(const run_program *r, const run_argument *in, const run_result *out, const int64_t *given_dim,
                      int64_t *at)
{
    const plan *p = r->plan;
    for (uint32_t i = 0; i < p->inputs; i++)
        for (uint32_t k = p->input_first[i]; k < p->input_first[i + 1]; k++)
            for (unsigned d = 0; d < p->input_rank[i]; d++)
                *at++ = in[k].extent[d];
    for (uint32_t i = 0; i < p->result.n; i++) {
        const unsigned rank = rank_of_result(p, i);
        const bool sized = out[i].given && !out[i].upto;
        *at++ = out[i].given + 2 * out[i].upto;
        for (unsigned d = 0; d < rank; d++)
            *at++ = sized ? out[i].extent[d] : 0;
    }
    for (uint32_t i = 0; i < p->dim.n; i++) {
        const bool given = given_dim && given_dim[2 * i];
        *at++ = given;
        *at++ = given && !r->scripts.loose[i] ? given_dim[2 * i + 1] : 0;
    }
}

static const run_script *find(const run_scripts *s, const int64_t *key, uint64_t hash)
{
    const uint32_t n = atomic_load_explicit(&s->n, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (s->hash[i] == hash && memcmp(s->at[i]->key, key, s->words * sizeof(*key)) == 0)
            return s->at[i];
    return NULL;
}

const run_script *run_find_script(run *c)
{
    const run_scripts *s = &c->r->scripts;
    if (!s->may || c->recorded || c->field || c->layout)
        return NULL;
    int64_t *key = arena_array(c->arena, *key, s->words + 1);
    write_key(c->r, c->in, c->out, c->given_dim, key);
    const uint64_t hash = hash_bytes(key, s->words * sizeof(*key), 0);
    const run_script *known = find(s, key, hash);
    if (!known && atomic_load_explicit(&s->n, memory_order_relaxed) < MOST_SCRIPTS) {
        c->scribe = arena_new(c->arena, *c->scribe);
        c->scribe->key = key;
        c->scribe->hash = hash;
    }
    return known;
}

int64_t *run_script_dims(const run *c, const run_script *s)
{
    const uint32_t n = c->plan->dim.n;
    int64_t *dims = arena_array(c->arena, int64_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        dims[i] = c->given_dim && c->r->scripts.loose[i] ? c->given_dim[2 * i + 1] : s->dims[i];
    return dims;
}

const run_script *run_brief_script(const run_program *r, const run_argument *in, const run_result *out)
{
    enum { MOST_WORDS = 512 };
    const run_scripts *s = &r->scripts;
    int64_t key[MOST_WORDS];
    if (!atomic_load_explicit(&s->n, memory_order_acquire) || s->words > MOST_WORDS)
        return NULL;
    write_key(r, in, out, NULL, key);
    const run_script *known = find(s, key, hash_bytes(key, s->words * sizeof(*key), 0));
    return known && known->brief ? known : NULL;
}

/* --- writing --- */

void run_script_step(run *c, const plan_step *s)
{
    struct run_scribe *to = c->scribe;
    if (!to)
        return;
    run_scripted x = {.op = s->op, .index = s->index, .last = s->last};
    switch (s->op) {
    case PLAN_RESULT: /* it has the extents of the memory that there is for it */
        if (c->out[s->index].given && !c->out[s->index].upto)
            return;
        break;
    case PLAN_SIZE:
        x.sized = c->sized[s->index];
        for (uint32_t i = 0; i < to->step.n && !to->again; i++)
            to->again = to->step.at[i].op == PLAN_SIZE && to->step.at[i].index == s->index;
        break;
    case PLAN_ALLOC:
    case PLAN_CLEAR:
    case PLAN_BEGIN:
    case PLAN_SWAP:
    case PLAN_FREE:
    case PLAN_COPY:
        break;
    default: /* launches are there already; of others nothing is left to do */
        return;
    }
    to->off |= to->step.n >= MOST_STEPS;
    if (!to->off)
        vec_push(c->arena, &to->step, x);
}

static run_pointer pointer_of(const run *c, uint32_t launch, const run_binding *b, int64_t pieces)
{
    const plan_launch *l = &c->plan->launch.at[launch];
    switch (b->role) {
    case SK_PARTIAL_IN:
        return (run_pointer){.buffer = l->in + b->number};
    case SK_PARTIAL_OUT:
        return (run_pointer){.buffer = l->out + b->number};
    case SK_STATE:
        return (run_pointer){.buffer = l->state, .offset = (size_t)(b->number * pieces) * sizeof(uint64_t)};
    default:
        return (run_pointer){.buffer = b->number, .array = true};
    }
}

static bool names_loose(const run_program *r, const host_code *code)
{
    bool any = false;
    for (uint32_t i = 0; i < code->step.n; i++)
        any |= code->step.at[i].kind == HOST_DIM && r->scripts.loose[code->step.at[i].number];
    return any;
}

/* Not where the kernel depends on where the caller's memory begins. */
void run_script_launch(run *c, uint32_t launch, const run_geometry *found, const run_variant *v, const ir_bits *arg)
{
    struct run_scribe *to = c->scribe;
    if (!to)
        return;
    to->off |= !found->kept || found->geometry.lines || (v && !of_extents(&v->host)) || to->step.n >= MOST_STEPS;
    if (to->off)
        return;
    run_ready *l = arena_new(c->arena, *l);
    *l = (run_ready){.launch = launch, .found = found, .variant = v};
    if (v) {
        const uint32_t n = l->pointers = v->built->memory.n;
        run_pointer *pointer = arena_array(c->arena, *pointer, n + 1);
        for (uint32_t i = 0; i < n; i++)
            pointer[i] = pointer_of(c, launch, &v->memory[i], found->geometry.pieces);
        l->pointer = pointer;
        l->arg = arg;
        l->again = c->within && names_loose(c->r, &v->host);
        l->reach = run_reach_of(c, launch, v, &found->geometry, &l->apart);
        to->pointers += n;
    }
    vec_push(c->arena, &to->step, ((run_scripted){.op = PLAN_LAUNCH, .index = launch, .ready = l}));
}

/* --- keeping --- */

static const run_ready *keep_launch(arena *a, const run_ready *l)
{
    run_ready *kept = arena_copy(a, l, sizeof(*l));
    if (!l->variant)
        return kept;
    kept->pointer = arena_copy(a, l->pointer, l->pointers * sizeof(*l->pointer));
    kept->arg = arena_copy(a, l->arg, l->variant->built->argument.n * sizeof(*l->arg));
    if (l->apart)
        kept->reach.at = arena_copy(a, l->reach.at, l->reach.pointers * sizeof(*l->reach.at));
    return kept;
}

static run_script *keep(const run *c, arena *a)
{
    const plan *p = c->plan;
    const struct run_scribe *from = c->scribe;
    run_script *s = arena_new(a, *s);
    run_scripted *step = arena_copy(a, from->step.at, from->step.n * sizeof(*step));
    for (uint32_t i = 0; i < from->step.n; i++)
        if (step[i].op == PLAN_LAUNCH)
            step[i].ready = keep_launch(a, step[i].ready);
    *s = (run_script){.key = arena_copy(a, from->key, c->r->scripts.words * sizeof(int64_t)),
                      .dims = arena_copy(a, c->dims, p->dim.n * sizeof(*c->dims)),
                      .bound = arena_copy(a, c->bound, p->dim.n * sizeof(*c->bound)),
                      .value = arena_copy(a, c->value, p->host.step.n * sizeof(*c->value)),
                      .size = arena_copy(a, c->size, p->shape.n * sizeof(*c->size)),
                      .sized = arena_copy(a, c->sized, p->launch.n * sizeof(*c->sized)),
                      .again = from->again,
                      .pointers = from->pointers,
                      .steps = from->step.n,
                      .step = step};
    s->brief = run_brief_of(c, s, a);
    return s;
}

/* Another thread may have been faster. Where there is no memory, there is no script. */
void run_script_end(run *c)
{
    run_program *r = c->r;
    run_scripts *s = &r->scripts;
    const struct run_scribe *from = c->scribe;
    if (!from || from->off)
        return;
    jmp_buf failure;
    pthread_rwlock_wrlock(r->lock);
    const uint32_t n = atomic_load_explicit(&s->n, memory_order_relaxed);
    if (n < MOST_SCRIPTS && s->steps + from->step.n <= MOST_STEPS && !find(s, from->key, from->hash) &&
        !setjmp(failure)) {
        arena_on_failure(r->l->ir->arena, &failure);
        s->at[n] = keep(c, r->l->ir->arena);
        s->hash[n] = from->hash;
        s->steps += from->step.n;
        atomic_store_explicit(&s->n, n + 1, memory_order_release);
    }
    arena_on_failure(r->l->ir->arena, NULL);
    pthread_rwlock_unlock(r->lock);
    c->scribe = NULL;
}
