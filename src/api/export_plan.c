/* The steps of a plan become statements of a driver whose extents may be others in each run: numbers that the host
 * computes, memory of as many elements, and launches that go about them as tables say. */
#include "api/export_driver.h"

#include <inttypes.h>

/* --- what the host's code computes --- */

static bool known_dim(const driven *d, uint32_t number)
{
    return !d->dim_varies[number];
}

/* Values are those of the recorded call; what is read varies, whatever it is. */
static ir_bits read_nothing(void *env, ir_id array, uint32_t component, int64_t position)
{
    (void)env, (void)array, (void)component, (void)position;
    return 0;
}

static bool no_term(void *env, ir_id term, ir_bits *out)
{
    (void)env, (void)term;
    *out = 0;
    return false;
}

static host_value *values_of(const driven *d, const host_code *code)
{
    const uint32_t dims = d->tape->r->plan->dim.n;
    bool *bound = arena_alloc(d->arena, dims + 1);
    host_value *value = arena_array(d->arena, *value, code->step.n + 1);
    for (uint32_t i = 0; i < dims; i++)
        bound[i] = known_dim(d, i);
    const host_world world = {d->tape->dim, bound, read_nothing, no_term, NULL};
    host_run(code, 0, code->step.n, &world, value);
    return value;
}

/* At most, of numbers that are not negative; -1: nothing is known. */
static int64_t most_of(const driven *d, const host_step *s)
{
    enum { LOG = 40 };
    const int64_t far = (int64_t)1 << LOG;
    int64_t x = s->n > 0 && s->kind != HOST_READ ? d->most[s->in[0]] : -1;
    int64_t y = s->n > 1 && s->kind != HOST_READ ? d->most[s->in[1]] : -1, most = -1;
    if (s->kind == HOST_COND && y >= 0 && d->most[s->in[2]] >= 0)
        return y > d->most[s->in[2]] ? y : d->most[s->in[2]];
    if (s->kind != HOST_OP || s->type != T_I64 || s->result != T_I64)
        return -1;
    if (s->op == OP_MIN)
        return x < 0 ? y : y < 0 || x < y ? x : y;
    if (x < 0 || y < 0 || x > far || y > far)
        return -1;
    switch (s->op) {
    case OP_ADD:
        most = x + y;
        break;
    case OP_MUL:
        most = !x || y <= far / x ? x * y : -1;
        break;
    case OP_MAX:
        most = x > y ? x : y;
        break;
    default:
        break;
    }
    return most > far ? -1 : most;
}

/* A pack has no more elements than there is room for. */
static void bound_packs(const driven *d)
{
    const plan *p = d->tape->r->plan;
    for (uint32_t i = 0; i < p->buffer.n; i++) {
        const plan_shape *s = &p->shape.at[p->buffer.at[i].shape], *room = &p->shape.at[p->buffer.at[i].room];
        for (unsigned k = 0; k < s->rank && s != room; k++)
            if (d->varies[s->extent[k]] && d->most[s->extent[k]] < 0)
                d->most[s->extent[k]] = d->most[room->extent[k]];
    }
}

void driven_find_values(driven *d)
{
    enum { TURNS = 8 /* packs of packs */ };
    const plan *p = d->tape->r->plan;
    const uint32_t n = p->host.step.n;
    d->varies = arena_alloc(d->arena, n + 1);
    d->most = arena_array(d->arena, int64_t, n + 1);
    if (n)
        driven_varies(d, &p->host, n - 1, d->varies);
    d->value = values_of(d, &p->host);
    for (uint32_t i = 0; i < n; i++)
        d->most[i] = d->varies[i] || d->value[i].bad ? -1 : host_i64(d->value, i);
    for (unsigned turn = 0; turn < TURNS; turn++) {
        for (uint32_t i = 0; i < n; i++)
            if (d->varies[i] && d->most[i] < 0)
                d->most[i] = most_of(d, &p->host.step.at[i]);
        bound_packs(d);
    }
}

void driven_most(const driven *d, uint32_t result, int64_t extent[IR_MAX_RANK])
{
    const plan *p = d->tape->r->plan;
    const plan_shape *s = &p->shape.at[p->buffer.at[p->result.at[result].buffer].shape];
    for (unsigned k = 0; k < s->rank; k++)
        extent[k] = d->most[s->extent[k]];
}

/* The variable of a step that varies, which gets its value where it is first needed: not in a loop. */
static bool compute(writer *w, uint32_t step)
{
    driven *d = w->d;
    if (!d->varies[step] || w->computed[step])
        return true;
    w->computed[step] = true;
    text_printf(&w->top, "    int64_t n%u = 0;\n", step);
    return driven_value(d, &w->body, &w->p->host, step, arena_printf(d->arena, "n%u", step));
}

const char *driven_number(writer *w, uint32_t step)
{
    if (w->d->varies[step])
        return arena_printf(w->d->arena, "n%u", step);
    return arena_printf(w->d->arena, "INT64_C(%" PRId64 ")", host_i64(w->d->value, step));
}

/* The extents of a shape, for a call: "2, (const int64_t[]){n3, 4, 0}". */
static const char *extents_of(writer *w, uint32_t shape)
{
    const plan_shape *s = &w->p->shape.at[shape];
    text out;
    text_init(&out, w->d->arena);
    text_printf(&out, "%u, (const int64_t[]){", s->rank);
    for (unsigned k = 0; k < s->rank; k++)
        text_printf(&out, "%s, ", driven_number(w, s->extent[k]));
    text_add(&out, "0}");
    return out.at;
}

static bool compute_shape(writer *w, uint32_t shape)
{
    const plan_shape *s = &w->p->shape.at[shape];
    for (unsigned k = 0; k < s->rank; k++)
        if (!compute(w, s->extent[k]))
            return false;
    return true;
}

bool driven_extents(writer *w, uint32_t buffer, const char *block)
{
    const uint32_t shape = w->p->buffer.at[buffer].shape;
    if (!compute_shape(w, shape))
        return false;
    text_printf(&w->body, "    extents(%s, %s);\n", block, extents_of(w, shape));
    return true;
}

/* --- how launches go about it --- */

enum { ELEMENTS_LOG = 40 };

/* Where nothing else bounds a number: products of it and of all other extents have some bits less than there are. */
static int64_t bound_of(const writer *w, uint32_t step, const plan_shape *s)
{
    int64_t most = (int64_t)1 << ELEMENTS_LOG;
    if (w->d->most[step] >= 0)
        return w->d->most[step];
    for (unsigned k = 0; k < s->rank; k++) {
        const int64_t other = w->d->varies[s->extent[k]] ? 1 : host_i64(w->d->value, s->extent[k]);
        most = other > 1 && other < most ? most / other : most;
    }
    return most;
}

/* Between which values an argument that the host computes lies. */
static k_range argument_range(void *env, const run_variant *v, uint32_t number)
{
    const writer *w = env;
    const driven *d = w->d;
    const int64_t far = (int64_t)1 << 62;
    const uint32_t step = v->argument[number].number;
    bool *varies = arena_alloc(d->arena, v->host.step.n + 1);
    if (v->built->k->arg_type.at[number] != T_I64)
        return (k_range){0, 0};
    if (!driven_varies(d, &v->host, step, varies)) {
        const host_value *value = values_of(d, &v->host);
        return (k_range){host_i64(value, step), host_i64(value, step)};
    }
    const uint32_t known = map64_get(&w->p->host.of, v->built->argument.at[number].term);
    if (!known || d->most[known - 1] < 0)
        return (k_range){-far, far};
    for (uint32_t i = 0; i < w->p->shape.n; i++) /* extents are not negative */
        for (unsigned k = 0; k < w->p->shape.at[i].rank; k++)
            if (w->p->shape.at[i].extent[k] == known - 1)
                return (k_range){0, d->most[known - 1]};
    return (k_range){-far, far};
}

typedef struct unknown {
    uint32_t step;
    bool any, several;
} unknown;

/* An extent is what it is in all calls, or the one that is not known. */
static bool add_extent(const writer *w, uint32_t step, unknown *u)
{
    if (!w->d->varies[step])
        return false;
    u->several |= u->any && u->step != step;
    u->any = true;
    u->step = step;
    return true;
}

static const char *place_of(const writer *w, uint32_t site)
{
    const ir_program *p = w->d->root->l->ir;
    const ir_site *s = site < p->site.n ? &p->site.at[site] : NULL;
    if (!s || !s->file)
        return s && s->operation ? s->operation : "?";
    return arena_printf(w->d->arena, "%s:%u: %s", s->file, s->line, s->operation ? s->operation : "");
}

static bool several(writer *w, uint32_t cluster)
{
    return driven_refuse(w->d,
                         arena_printf(w->d->arena,
                                      "the loop of %s goes over two extents that the program computes, or over one "
                                      "in rounds; export what comes before it and behind it as programs",
                                      place_of(w, w->p->cluster.at[cluster].site)));
}

static void add_formula(text *out, const run_formula *f)
{
    const int64_t number[] = {f->base, f->step, f->quotient, f->times, f->plus, f->over, f->unit};
    for (size_t i = 0; i < ARRAY_LENGTH(number); i++)
        text_printf(out, "%s%" PRId64, i ? ", " : "{", number[i]);
    text_add(out, "}, ");
}

static void add_table(writer *w, const sized_launch *l)
{
    driven *d = w->d;
    text_printf(&w->top, "    static const stretch t%u[] = {\n", l->number);
    for (uint32_t i = 0; i < l->n; i++) {
        const run_stretch *x = &l->at[i];
        const int64_t code = x->variant ? (int64_t)d->kernel_number(d->env, x->variant->built) : -1;
        text_printf(&w->top, "        {%" PRId64 ", %" PRId64 ", {", x->last, code);
        for (uint32_t k = 0; k < RUN_NUMBERS; k++)
            add_formula(&w->top, &x->of[k]);
        text_add(&w->top, "}},\n");
    }
    text_add(&w->top, "    };\n");
}

/* The launch as it is asked for; the unknown number, if there is one. */
static unknown ask(writer *w, uint32_t launch, const sizing_of *how, run_asked *a)
{
    const driven *d = w->d;
    const plan_launch *l = &w->p->launch.at[launch];
    const plan_cluster *pc = &w->p->cluster.at[l->cluster];
    const plan_shape *s = &w->p->shape.at[pc->shape];
    unknown u = {0};
    for (unsigned k = 0; k < s->rank; k++) {
        const bool columns = l->pass == SK_PASS_COMBINE && k + 1 == s->rank; /* partial results are in their place */
        a->extent[k] = d->varies[s->extent[k]] ? 1 : host_i64(d->value, s->extent[k]);
        if (!columns && add_extent(w, s->extent[k], &u))
            a->extents |= 1u << k;
    }
    if (pc->permutes) {
        const plan_shape *to = &w->p->shape.at[pc->places];
        a->round.places = 1;
        for (unsigned k = 0; k < to->rank; k++) {
            if (!add_extent(w, to->extent[k], &u))
                a->round.places *= host_i64(d->value, to->extent[k]);
            else if (a->places)
                u.several = true;
            else
                a->places = true;
        }
    }
    if (pc->segments) {
        const uint32_t step = w->p->shape.at[pc->segments - 1].extent[0];
        a->segments = add_extent(w, step, &u);
        a->round.segments = a->segments ? 0 : host_i64(d->value, step);
    }
    u.several |= u.any && how->partials;
    return u;
}

/* Loops over several unknown extents, each of whose elements is for itself, may go about them as one. */
static bool make_flat(const writer *w, const plan_cluster *pc, run_asked *a)
{
    const driven *d = w->d;
    const plan_shape *s = &w->p->shape.at[pc->shape];
    const int64_t far = a->most;
    if (d->tape->r->code[a->cluster].loop->class != L_CLASS_PLAIN)
        return false;
    a->flat = true;
    a->extents = 1u << (s->rank - 1);
    a->least = a->most = 1;
    for (unsigned k = 0; k < s->rank; k++) {
        const int64_t most = d->most[s->extent[k]];
        a->most = most < 0 || (most && a->most > far / most) ? far : a->most * most;
        a->extent[k] = 1;
    }
    return true;
}

bool driven_size(writer *w, uint32_t launch, const sizing_of *how, sized_launch *out)
{
    driven *d = w->d;
    const plan_launch *l = &w->p->launch.at[launch];
    const plan_cluster *pc = &w->p->cluster.at[l->cluster];
    const plan_shape *s = &w->p->shape.at[pc->shape];
    const char *why = NULL;
    run_asked a = {.r = (run_program *)(uintptr_t)d->tape->r,
                   .cluster = l->cluster,
                   .round = how->round,
                   .behind = how->behind,
                   .argument = argument_range,
                   .env = w};
    a.round.pass = l->pass;
    const unknown u = ask(w, launch, how, &a);
    *out = (sized_launch){.launch = launch, .number = w->tables++, .unknown = "0"};
    a.most = (int64_t)1 << ELEMENTS_LOG;
    out->flat = u.several && make_flat(w, pc, &a);
    if (u.several && !out->flat)
        return several(w, l->cluster);
    if (u.any && !out->flat) {
        a.most = bound_of(w, u.step, s);
        a.least = pc->folds ? 0 : 1;
        a.least = how->least > a.least ? how->least : a.least;
        out->unknown = driven_number(w, u.step);
    } else if (how->partials) {
        a.partials = true;
        a.least = 2;
        a.most = how->most_partials;
        out->unknown = how->partials;
    } else if (!out->flat) {
        a.most = 0;
    }
    if (a.most < a.least)
        a.most = a.least;
    out->least = a.least;
    out->most = a.most;
    out->n = run_size_all(d->sizer, &a, &out->at, &why);
    if (!out->n)
        return driven_refuse(d, arena_printf(d->arena, "of the loop of %s: %s", place_of(w, pc->site),
                                             why ? why : "internal error: it has no launches"));
    return true;
}

void driven_sizes(writer *w, const sized_launch *l, const char *g)
{
    add_table(w, l);
    text_printf(&w->body, "    if (!sized(s, t%u, %u, %s, &%s))\n        goto end;\n", l->number, l->n,
                l->flat ? arena_printf(w->d->arena, "%s.elements", g) : l->unknown, g);
}

/* --- launches --- */

static const char *pointer(writer *w, const plan_launch *l, const run_binding *b, const char *to)
{
    arena *a = w->d->arena;
    uint32_t result = 0;
    const bool into = b->role == SK_SORTED_TO;
    switch (b->role) {
    case SK_ARRAY:
        return arena_printf(a, "b[%u]", b->number);
    case SK_PARTIAL_IN:
        return arena_printf(a, "b[%u]", l->in + b->number);
    case SK_PARTIAL_OUT:
        return arena_printf(a, "b[%u]", l->out + b->number);
    case SK_SORTED_FROM:
    case SK_SORTED_TO:
        plan_find(w->p, w->d->tape->r->code[l->cluster].loop->op.at[0].term, b->number, &result);
        return arena_printf(a, "%s ? b[%u] : b[%u]", to, into ? result : l->spare + b->number,
                            into ? l->spare + b->number : result);
    default:
        return arena_printf(a, "b[%u]", l->state);
    }
}

static bool launch_kernel(writer *w, const sized_launch *l, const run_variant *v, const char *g, const char *to)
{
    driven *d = w->d;
    const plan_launch *pl = &w->p->launch.at[l->launch];
    const uint32_t memories = v->built->memory.n, arguments = v->built->argument.n;
    const uint32_t number = d->kernel_number(d->env, v->built);
    bool *varies = arena_alloc(d->arena, v->host.step.n + 1);
    const host_value *value = values_of(d, &v->host);
    text_printf(&w->body, "    if (%s.kernel == %u && %s.pieces > 0) {\n    block *const m[] = {", g, number, g);
    for (uint32_t i = 0; i < memories; i++)
        text_printf(&w->body, "%s, ", pointer(w, pl, &v->memory[i], to));
    text_add(&w->body, "0};\n    const int64_t o[] = {");
    for (uint32_t i = 0; i < memories; i++)
        if (v->memory[i].role == SK_STATE && v->memory[i].number)
            text_printf(&w->body, "%u * %s.pieces * 8, ", v->memory[i].number, g);
        else
            text_add(&w->body, "0, ");
    text_add(&w->body, "0};\n    uint64_t a[] = {");
    for (uint32_t i = 0; i < arguments; i++) {
        const run_argument_of *a = &v->argument[i];
        const bool known = !a->slot && !driven_varies(d, &v->host, a->number, varies) && !value[a->number].bad;
        if (a->slot)
            text_printf(&w->body, "(uint64_t)%s.slot[%u], ", g, a->number);
        else
            text_printf(&w->body, "UINT64_C(%" PRIu64 "), ", known ? (uint64_t)value[a->number].bits : 0);
    }
    text_add(&w->body, "0};\n");
    for (uint32_t i = 0; i < arguments; i++) {
        const run_argument_of *a = &v->argument[i];
        if (a->slot || (!driven_varies(d, &v->host, a->number, varies) && !value[a->number].bad))
            continue;
        if (!driven_value(d, &w->body, &v->host, a->number, arena_printf(d->arena, "a[%u]", i)))
            return false;
    }
    if (v->loops_on_data)
        text_add(&w->body, "    if (!settled(s))\n        goto end;\n");
    text_printf(&w->body, "    if (!launch(s, %u, %s.pieces, m, o, a))\n        goto end;\n    }\n", number, g);
    return true;
}

bool driven_launch(writer *w, const sized_launch *l, const char *g, const char *to)
{
    for (uint32_t i = 0; i < l->n; i++) {
        bool known = !l->at[i].variant;
        for (uint32_t k = 0; k < i; k++)
            known |= l->at[k].variant == l->at[i].variant;
        if (!known && !launch_kernel(w, l, l->at[i].variant, g, to))
            return false;
    }
    return true;
}

/* --- steps --- */

typedef struct sizes {    /* that have been written */
    sized_launch *launch; /* per launch of the plan */
    int64_t *left;        /* per cluster: the most partial results that are left, if rows have as many in all runs; */
    bool *differ;         /* ... or not */
} sizes;

/* How many partial results a launch leaves: at most, and whether they are as many for all extents. */
static void find_left(const sized_launch *l, int64_t *most, bool *differ)
{
    *most = 0;
    *differ = false;
    for (uint32_t i = 0; i < l->n; i++) {
        int64_t number[RUN_NUMBERS];
        run_numbers_at(&l->at[i], i ? l->at[i - 1].last + 1 : l->least, number);
        const int64_t first = number[RUN_PARTIALS];
        run_numbers_at(&l->at[i], l->at[i].last, number);
        const int64_t last = number[RUN_PARTIALS];
        *differ |= first != last || (i && first != *most);
        *most = first > *most ? first : *most;
        *most = last > *most ? last : *most;
    }
}

static void note_left(writer *w, sizes *x, uint32_t launch)
{
    const uint32_t cluster = w->p->launch.at[launch].cluster;
    find_left(&x->launch[launch], &x->left[cluster], &x->differ[cluster]);
}

static const char *sizes_name(writer *w, uint32_t launch)
{
    return arena_printf(w->d->arena, "g%u", launch);
}

/* Is there something to do for its extents, and how? */
static bool write_size(writer *w, sizes *x, uint32_t launch, const sizing_of *how)
{
    const plan_launch *l = &w->p->launch.at[launch];
    const plan_cluster *pc = &w->p->cluster.at[l->cluster];
    const char *g = sizes_name(w, launch);
    if (!compute_shape(w, pc->shape) || !driven_size(w, launch, how, &x->launch[launch]))
        return false;
    text_printf(&w->body, "    %s.found = 0;\n    if (!rows_of(s, %s, &%s))\n        goto end;\n", g,
                extents_of(w, pc->shape), g);
    if (pc->seedless.n)
        text_printf(&w->body,
                    "    if (%s.rows && !%s.elements) {\n        said_at(s, %u, \"no element to begin with: the "
                    "innermost extent is 0\");\n        goto end;\n    }\n",
                    g, g, pc->seedless.at[0]);
    text_printf(&w->body, "    if (%s.elements%s%s) {\n", g, pc->folds ? " || " : "",
                pc->folds ? arena_printf(w->d->arena, "%s.rows", g) : "");
    driven_sizes(w, &x->launch[launch], g);
    text_add(&w->body, "    }\n");
    return true;
}

static bool write_launch(writer *w, sizes *x, uint32_t launch)
{
    const plan_launch *l = &w->p->launch.at[launch];
    const char *g = sizes_name(w, launch);
    text_printf(&w->body, "    if (%s.found) {\n    left%u = %s.partials;\n", g, l->cluster, g);
    if (!driven_launch(w, &x->launch[launch], g, arena_printf(w->d->arena, "%s.partials %% 2", g)))
        return false;
    text_add(&w->body, "    }\n");
    note_left(w, x, launch);
    return true;
}

/* Bytes of a buffer's elements, or of what launches hand to each other. */
static bool bytes_of(writer *w, uint32_t buffer, uint32_t shape)
{
    const plan_buffer *b = &w->p->buffer.at[buffer];
    const size_t size = ir_type_size(b->type);
    if (b->place < PLAN_PARTIALS) {
        if (!compute_shape(w, shape))
            return false;
        text_printf(&w->body, "    if (!bytes_of(s, %s, %zu, &bytes))\n        goto end;\n", extents_of(w, shape),
                    size);
        return true;
    }
    static const char *const what[] = {
        [PLAN_PARTIALS] = "partials", [PLAN_NEXT] = "partials", [PLAN_STATE] = "words", [PLAN_SPARE] = "spare"};
    text_printf(&w->body, "    if (!%s_bytes(s, &g%u, %zu, &bytes))\n        goto end;\n", what[b->place], b->launch,
                size);
    return true;
}

static bool alloc(writer *w, uint32_t buffer)
{
    const plan_buffer *b = &w->p->buffer.at[buffer];
    const bool handed = b->place >= PLAN_PARTIALS;
    if (!bytes_of(w, buffer, b->room))
        return false;
    text_printf(&w->body, "    if (!b[%u]%s && !make(s, &b[%u], bytes))\n        goto end;\n", buffer,
                handed ? " && bytes" : "", buffer);
    return true;
}

static bool check(writer *w, uint32_t number)
{
    const plan_check *k = &w->p->check.at[number];
    if (!w->d->varies[k->left] && !w->d->varies[k->right])
        return true;
    if (!compute(w, k->left) || !compute(w, k->right))
        return false;
    text_printf(&w->body, "    if (!equal(s, %u, %s, %s))\n        goto end;\n", k->site, driven_number(w, k->left),
                driven_number(w, k->right));
    return true;
}

static bool shape(writer *w, uint32_t number)
{
    const plan_shape *s = &w->p->shape.at[number];
    bool varies = false;
    for (unsigned k = 0; k < s->rank; k++)
        varies |= w->d->varies[s->extent[k]];
    if (!varies)
        return true;
    if (!compute_shape(w, number))
        return false;
    text_printf(&w->body, "    if (!makes_sense(s, %u, %s))\n        goto end;\n", s->site, extents_of(w, number));
    return true;
}

static bool write_steps(writer *w, sizes *x, uint32_t first, uint32_t last);

/* The launch of the body goes by how many partial results are left. Where rows differ these must be known: then each
 * round has tables of its own. */
static bool combine(writer *w, sizes *x, uint32_t cluster, uint32_t first, uint32_t last)
{
    driven *d = w->d;
    const plan_shape *s = &w->p->shape.at[w->p->cluster.at[cluster].shape];
    bool rows = false;
    for (unsigned k = 0; k + 1 < s->rank; k++)
        rows |= d->varies[s->extent[k]];
    const char *left = arena_printf(d->arena, "left%u", cluster);
    sizing_of how = {.behind = -1, .partials = left, .most_partials = x->left[cluster]};
    if (rows && x->differ[cluster])
        return several(w, cluster);
    if (x->left[cluster] <= 1)
        return true;
    const uint32_t launch = w->p->step.at[first].index; /* PLAN_SIZE */
    if (!rows) {
        text_printf(&w->body, "    while (%s > 1) {\n", left);
        if (!write_size(w, x, launch, &how) || !write_steps(w, x, first + 1, last))
            return false;
        text_add(&w->body, "    }\n");
        return true;
    }
    while (x->left[cluster] > 1) {
        how = (sizing_of){.behind = -1, .round.partials = x->left[cluster]};
        text_printf(&w->body, "    if (%s > 1) {\n", left);
        if (!write_size(w, x, launch, &how) || !write_steps(w, x, first + 1, last))
            return false;
        text_add(&w->body, "    }\n");
        if (x->differ[cluster])
            return several(w, cluster);
    }
    return true;
}

static bool rounds(writer *w, sizes *x, uint32_t at)
{
    const plan_step *s = &w->p->step.at[at];
    if (!w->p->cluster.at[s->index].sorts)
        return combine(w, x, s->index, at + 1, s->last);
    return driven_sort(w, s->index);
}

static bool copy_result(writer *w, uint32_t result)
{
    const uint32_t from = w->p->result.at[result].buffer;
    if (!bytes_of(w, from, w->p->buffer.at[from].shape))
        return false;
    text_printf(&w->body, "    if (!make(s, &out[%u], bytes) || !copy(s, out[%u], b[%u], bytes))\n        goto end;\n",
                result, result, from);
    return true;
}

static bool write_step(writer *w, sizes *x, uint32_t at)
{
    const plan_step *s = &w->p->step.at[at];
    text *out = &w->body;
    switch (s->op) {
    case PLAN_EVALUATE: /* each value where it is needed */
    case PLAN_RESULT:
        return true;
    case PLAN_SHAPE:
        return shape(w, s->index);
    case PLAN_CHECK:
        return check(w, s->index);
    case PLAN_ALLOC:
        return alloc(w, s->index);
    case PLAN_CLEAR:
        if (!bytes_of(w, s->index, w->p->buffer.at[s->index].shape))
            return false;
        text_printf(out, "    if (!clear(s, b[%u], bytes))\n        goto end;\n", s->index);
        return true;
    case PLAN_BEGIN:
        if (!bytes_of(w, s->index, w->p->buffer.at[s->index].shape))
            return false;
        text_printf(out, "    if (!copy(s, b[%u], b[%u], bytes))\n        goto end;\n", s->index, s->last);
        return true;
    case PLAN_SIZE:
        return write_size(w, x, s->index, &(sizing_of){.behind = -1});
    case PLAN_LAUNCH:
        return write_launch(w, x, s->index);
    case PLAN_SWAP:
        text_printf(out, "    { block *x = b[%u]; b[%u] = b[%u]; b[%u] = x; }\n", s->index, s->index, s->last, s->last);
        return true;
    case PLAN_FREE:
        text_printf(out, "    drop(s, &b[%u]);\n", s->index);
        return true;
    case PLAN_COPY:
        return copy_result(w, s->index);
    case PLAN_ROUNDS:
        return rounds(w, x, at);
    default:
        return driven_control(w, at, s->index);
    }
}

static bool write_steps(writer *w, sizes *x, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i = plan_behind(w->p, i))
        if (!write_step(w, x, i))
            return false;
    return true;
}

/* Arguments of a region have the extents that its other arguments, or numbers, say. */
static bool check_inputs(writer *w)
{
    const driven *d = w->d;
    for (uint32_t i = 0; i < w->p->number.n; i++)
        if (d->dim_varies[w->p->number.at[i].dim])
            text_printf(&w->body, "    if (!equal(s, 0, dim[%u], INT64_C(%" PRId64 ")))\n        goto end;\n",
                        w->p->number.at[i].dim, w->p->number.at[i].value);
    for (uint32_t i = 0; i < w->p->binding.n && d->input_varies; i++) {
        const plan_binding *b = &w->p->binding.at[i];
        if (!(d->input_varies[b->input] >> b->dimension & 1))
            continue;
        if (!b->named && !compute(w, b->number))
            return false;
        text_printf(&w->body, "    if (!equal(s, 0, in[%u]->extent[%u], %s))\n        goto end;\n",
                    w->p->input_first[b->input], b->dimension,
                    b->named ? arena_printf(d->arena, "dim[%u]", b->number) : driven_number(w, b->number));
    }
    return true;
}

bool driven_plan(writer *w)
{
    const plan *p = w->p;
    sizes x = {.launch = arena_array(w->d->arena, *x.launch, p->launch.n + 1),
               .left = arena_array(w->d->arena, int64_t, p->cluster.n + 1),
               .differ = arena_array(w->d->arena, bool, p->cluster.n + 1)};
    w->computed = arena_alloc(w->d->arena, p->host.step.n + 1);
    text_add(&w->top, "    size_t bytes = 0;\n    (void)bytes;\n");
    for (uint32_t i = 0; i < p->launch.n; i++)
        text_printf(&w->top, "    sizes g%u = {0};\n    (void)g%u;\n", i, i);
    for (uint32_t i = 0; i < p->cluster.n; i++)
        text_printf(&w->top, "    int64_t left%u = 0;\n    (void)left%u;\n", i, i);
    for (uint32_t i = 0; i < p->buffer.n; i++)
        if (p->buffer.at[i].within)
            return driven_refuse(w->d, "an array is joined of parts in their place");
    return check_inputs(w) && write_steps(w, &x, 0, p->step.n);
}
