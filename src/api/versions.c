/* The versions of a program, and which one a call runs. */
#include "api/api.h"
#include "loop/literals.h"
#include "opt/rewrite.h"

static bool on(sn_switch s)
{
    return s != SN_OFF;
}

sn_program *api_outermost(sn_program *p)
{
    while (p->outer)
        p = p->outer;
    return p;
}

static sk_options kernel_options(const sn_program *p)
{
    const sn_context *cx = p->context;
    sk_options o = {
        .vector_bytes = 16, .workers = 1, .checks = on(cx->options.checks), .contract = on(cx->options.contract)};
    const device_limits *limits = cx->engine.device ? cx->engine.device->limits : NULL;
    if (limits) {
        o.vector_bytes = limits->vector_bytes;
        o.workers = limits->workers;
        o.chains = limits->forward_progress && !limits->own_memory;
    }
    if (limits && limits->own_memory) {
        o.group = limits->group;
        o.gang = limits->gang;
        o.scratch = limits->scratch;
        o.most_scratch = limits->most_scratch;
    }
    while (p->outer)
        p = p->outer;
    if (p->vector_bytes)
        o.vector_bytes = p->vector_bytes;
    return o;
}

static l_options loop_options(const sn_program *p)
{
    const sn_context *cx = p->context;
    return (l_options){.fuse = on(cx->options.fusion),
                       .cost_model = on(cx->options.cost_model),
                       .rows = cx->row_loops,
                       .threads = kernel_options(p).group > 0,
                       .tiles = cx->engine.device && kernel_options(p).group == 0 && kernel_options(p).vector_bytes};
}

void api_share_literals(sn_program *p)
{
    l_options loops = loop_options(p);
    if (!p->context->engine.device)
        return;
    p->clusters = l_clusters(p->ir, &loops); /* the first version's, if nothing comes of it */
    if (!l_share_literals(p->clusters))
        return;
    l_forget(p->clusters);
    p->clusters = NULL;
    arena_sweep(p->ir->arena);
}

/* --- the passes over clusters --- */

typedef struct making {
    const sn_program *p;
    const l_options *loops;
    l_program *clusters; /* NULL: to be made */
    const sk_program *code;
} making;

static void run_cluster(making *m)
{
    if (!m->clusters)
        m->clusters = l_clusters(m->p->ir, m->loops);
}

/* Is the term made of extents of parameters alone? */
static bool known_before(const sn_program *p, ir_id extent)
{
    opt_ids ids = {0};
    bool known = true;
    opt_reach(p->ir, p->ir->arena, 1, &extent, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        ir_kind kind = (ir_kind)ir_at(p->ir, ids.at[i])->kind;
        known &= kind != IR_READ && kind != IR_LOOP;
    }
    vec_free(p->ir->arena, &ids);
    return known;
}

/* Tile loops whose extents calls do not know before they run: others could not be chosen. */
static bool refuse_unknown(const making *m, uint8_t *no)
{
    bool some = false;
    for (uint32_t i = 0; i < m->clusters->cluster.n; i++) {
        const l_cluster *c = &m->clusters->cluster.at[i];
        bool known = true;
        for (unsigned d = 0; d < c->rank && c->class == L_CLASS_TILES; d++)
            known &= known_before(m->p, c->shape[d]);
        for (uint32_t k = 0; k < c->op.n && !known; k++)
            if (!c->op.at[k].outer)
                no[c->op.at[k].term] = L_TILES_NOTHING;
        some |= !known;
    }
    return some;
}

/* Which loops are contractions is known by now: loops are made again without tile loops that cannot be. */
static void run_prepare(making *m)
{
    enum { TIMES = 4 };
    l_options loops = *m->loops;
    m->code = sk_prepare(m->clusters);
    uint8_t *no = m->clusters->tiles ? arena_alloc(m->p->ir->arena, m->clusters->nodes) : NULL;
    loops.no_tiles = no;
    for (unsigned times = 1; m->clusters->tiles; times++) {
        bool unknown = refuse_unknown(m, no);
        if (!sk_refuse_tiles(m->code, no) && !unknown)
            break;
        loops.tiles = times < TIMES;
        l_forget(m->clusters);
        m->clusters = l_clusters(m->p->ir, &loops);
        m->code = sk_prepare(m->clusters);
    }
}

#define PASS_CLUSTER(name, what) run_##name,
static void (*const cluster_passes[])(making *m) = {
#include "base/passes.def"
};

static program_version version(const sn_program *p, const l_options *loops, l_program *clusters,
                               const run_program *other)
{
    const sn_context *cx = p->context;
    making m = {.p = p, .loops = loops, .clusters = clusters};
    for (size_t i = 0; i < ARRAY_LENGTH(cluster_passes); i++)
        cluster_passes[i](&m);
    program_version v = {.clusters = m.clusters, .code = m.code};
    sk_options kernels = kernel_options(p);
    v.plan = plan_make(m.code, &kernels);
    v.run = run_program_new(&cx->engine, m.code, v.plan, &kernels, other);
    return v;
}

/* --- rows that are gone over once, and results that are no tiles --- */

typedef struct row_loop {
    uint8_t rank;
    bool far;                     /* elements of a row lie apart in memory: the next row would read the same lines */
    const sk_cluster *tiles;      /* of a tile loop; NULL: it is none */
    const sk_cluster *threads;    /* of a row loop where blocks are many threads; NULL: they are not, or it is none */
    uint32_t extent[IR_MAX_RANK]; /* host steps */
} row_loop;

static const double LARGEST = (double)((int64_t)1 << 60); /* number of elements */

typedef struct program_rows {
    host_code host;
    sk_options kernels;
    VEC(row_loop) loop;
} program_rows;

enum {
    LONG_ROW = 8 * 4096, /* shorter ones take too little time to be shared */
    LONG_ENOUGH = 400,   /* at the end of each sweep a tree is folded, in the time of 300 elements */
};

/* The loops that go over each row more than once, and those of tiles, as far as a call can know their extents. */
static void find_rows(sn_program *p, const sk_program *facts)
{
    host_code code = {0};
    const sk_options kernels = kernel_options(p);
    program_rows *rows = arena_new(p->ir->arena, *rows);
    for (uint32_t i = 0; i < p->clusters->cluster.n; i++) {
        const l_cluster *c = &p->clusters->cluster.at[i];
        row_loop loop = {.rank = c->rank, .far = facts->cluster[i].far};
        bool known = (c->class == L_CLASS_ROW && c->sweeps > 1) || c->class == L_CLASS_TILES;
        loop.tiles = c->class == L_CLASS_TILES ? &facts->cluster[i] : NULL;
        loop.threads = !loop.tiles && kernels.group ? &facts->cluster[i] : NULL;
        for (unsigned d = 0; d < c->rank && known; d++)
            known = known_before(p, c->shape[d]);
        for (unsigned d = 0; d < c->rank && known; d++)
            loop.extent[d] = host_add(p->ir, p->ir->arena, &code, c->shape[d]);
        if (known)
            vec_push(p->ir->arena, &rows->loop, loop);
    }
    rows->host = host_keep(&code, p->ir->arena);
    rows->kernels = kernels;
    p->rows = rows->loop.n ? rows : NULL;
}

typedef struct rows_room { /* of a call */
    int64_t *dims;
    bool *bound;
    host_value *value;
} rows_room;

static size_t aligned(size_t bytes)
{
    return (bytes + 15) / 16 * 16;
}

size_t api_version_room(const sn_program *p)
{
    size_t names = p->plan->dim.n;
    return p->rows ? aligned(names * sizeof(int64_t)) + aligned(names) + p->rows->host.step.n * sizeof(host_value) : 0;
}

static rows_room room_of(const sn_program *p, void *room)
{
    size_t names = p->plan->dim.n;
    char *at = room;
    rows_room r = {.dims = room};
    memset(room, 0, api_version_room(p));
    r.bound = (bool *)(at + aligned(names * sizeof(int64_t)));
    r.value = (host_value *)(void *)(at + aligned(names * sizeof(int64_t)) + aligned(names));
    return r;
}

/* Has a tile loop no kernel for these extents? Or would some loop leave workers without a row that is worth sharing,
 * spend its time at the ends of sweeps, or read columns one by one? Rows of up to SK_SHORT elements have no tree, and
 * lanes are such rows. */
static bool one_sweep(const sn_program *p, const run_argument *in, void *room)
{
    const plan *pl = p->plan;
    rows_room r = room_of(p, room);
    for (uint32_t i = 0; i < pl->number.n; i++) {
        r.dims[pl->number.at[i].dim] = pl->number.at[i].value;
        r.bound[pl->number.at[i].dim] = true;
    }
    for (uint32_t i = 0; i < pl->binding.n; i++) {
        const plan_binding *b = &pl->binding.at[i];
        if (!b->named)
            continue;
        r.dims[b->number] = in[pl->input_first[b->input]].extent[b->dimension];
        r.bound[b->number] = true;
    }
    const host_world world = {.dims = r.dims, .bound = r.bound};
    host_run(&p->rows->host, 0, p->rows->host.step.n, &world, r.value);
    double workers = (double)p->context->engine.device->limits->workers;
    for (uint32_t i = 0; i < p->rows->loop.n; i++) {
        const row_loop *loop = &p->rows->loop.at[i];
        double rows = 1, length = 0;
        int64_t extent[IR_MAX_RANK] = {0};
        for (unsigned d = 0; d < loop->rank; d++) {
            const host_value *v = &r.value[loop->extent[d]];
            rows *= d ? length : 1;
            extent[d] = v->bad ? 0 : (int64_t)v->bits;
            length = (double)extent[d];
        }
        if (loop->tiles && (rows * length >= LARGEST || !sk_tiles_suit(loop->tiles, &p->rows->kernels, extent)))
            return true;
        if (loop->tiles)
            continue;
        if (loop->threads && !sk_threads_suit(loop->threads, &p->rows->kernels, (int64_t)length))
            return true;
        bool few = length > LONG_ROW && rows < 2 * workers && workers > 1;
        if (few || (length > SK_SHORT && (length < LONG_ENOUGH || loop->far)))
            return true;
    }
    return false;
}

/* --- all versions --- */

program_version api_first_version(const sn_program *p)
{
    return (program_version){.clusters = p->clusters, .plan = p->plan, .run = p->run};
}

static run_program *choose(void *env, const run_argument *in, size_t bytes, void *room)
{
    return api_version(env, in, bytes, room);
}

/* Programs within this one are made by now. */
void api_attach_regions(sn_program *p)
{
    uint32_t controls = 0, number = 0;
    for (ir_id id = 1; id < p->ir->node.n; id++)
        controls += ir_at(p->ir, id)->kind == IR_CONTROL;
    if (!controls)
        return;
    run_control *all = arena_array(p->ir->arena, *all, controls);
    for (ir_id id = 1; id < p->ir->node.n; id++) {
        if (ir_at(p->ir, id)->kind != IR_CONTROL)
            continue;
        const ir_control *c = ir_info(p->ir, id)->control;
        all[number].region = arena_array(p->ir->arena, run_region, c->regions + 1);
        for (uint32_t i = 0; i < c->regions; i++)
            for (uint32_t k = 0; k < p->inside.n; k++)
                if (p->inside.at[k]->ir == c->region[i].program)
                    all[number].region[i] = (run_region){choose, p->inside.at[k], api_version_room(p->inside.at[k])};
        number++;
    }
    run_attach(p->run, all);
    for (unsigned k = 1; k < API_VERSIONS; k++)
        if (api_other_version(p, k))
            run_attach(api_other_version(p, k)->run, all);
}

void api_make_versions(sn_program *p)
{
    const sn_context *cx = p->context;
    l_options loops = loop_options(p);
    const sn_program *with = p->outer ? api_outermost(p) : p->general; /* they share a lock, and a profile */
    program_version first = version(p, &loops, p->clusters, with ? with->run : NULL);
    p->clusters = first.clusters;
    p->plan = first.plan;
    p->run = first.run;
    p->blocks = sk_names_of_blocks(first.code);
    if (!cx->engine.device)
        return;
    loops.large = first.clusters->sized && !api_own_memory(cx);
    if (loops.large) {
        p->large = arena_new(p->ir->arena, *p->large);
        *p->large = version(p, &loops, NULL, p->run);
    }
    if (first.clusters->rows || first.clusters->tiles)
        find_rows(p, first.code);
    loops.one_sweep = true;
    loops.tiles = false;
    for (unsigned large = 0; large < 2 && p->rows; large++) {
        if (large && !p->large)
            break;
        loops.large = large;
        p->once[large] = arena_new(p->ir->arena, *p->once[large]);
        *p->once[large] = version(p, &loops, NULL, p->run);
    }
}

void api_free_versions(sn_program *p)
{
    for (uint32_t i = 0; i < p->inside.n; i++)
        api_free_versions(p->inside.at[i]);
    const program_version *all[] = {p->once[1], p->once[0], p->large};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] && all[i]->run)
            run_program_free(all[i]->run);
    if (p->run)
        run_program_free(p->run);
}

size_t api_large(const sn_program *p)
{
    return p->context->engine.device->limits->cache_bytes / 2; /* as much again for what is computed from them */
}

run_program *api_version(const sn_program *p, const run_argument *in, size_t bytes, void *room)
{
    bool large = p->large && bytes > api_large(p);
    if (p->rows && one_sweep(p, in, room))
        return p->once[large]->run;
    return large ? p->large->run : p->run;
}

const program_version *api_other_version(const sn_program *p, unsigned k)
{
    return k == API_LARGE ? p->large : p->once[(k & API_LARGE) != 0];
}

void api_record(sn_program *p, bool on)
{
    run_record(p->run, on);
    for (unsigned k = 1; k < API_VERSIONS; k++)
        if (api_other_version(p, k))
            run_record(api_other_version(p, k)->run, on);
    for (uint32_t i = 0; i < p->inside.n; i++)
        api_record(p->inside.at[i], on);
    for (const small_extents *s = atomic_load(&p->small); s; s = s->next)
        if (s->program)
            api_record(s->program, on);
}

void api_print_when(const sn_program *p, unsigned k, text *out)
{
    text_add(out, "where ");
    if (k & API_LARGE)
        text_printf(out, "the parameters have more than %zu bytes together", api_large(p));
    if (k == (API_LARGE | API_ONE_SWEEP))
        text_add(out, " and ");
    bool rows = false, tiles = false;
    for (uint32_t i = 0; p->rows && i < p->rows->loop.n; i++) {
        rows |= !p->rows->loop.at[i].tiles;
        tiles |= p->rows->loop.at[i].tiles != NULL;
    }
    if (k & API_ONE_SWEEP && rows && p->rows->kernels.group)
        text_printf(out, "rows are few and long, or have fewer than %d elements, or lie apart", LONG_ENOUGH);
    else if (k & API_ONE_SWEEP && rows)
        text_printf(out, "rows are few and long, or have more than %d elements and fewer than %d, or lie apart",
                    SK_SHORT, LONG_ENOUGH);
    if (k & API_ONE_SWEEP && tiles)
        text_add(out, rows ? ", or a contraction has too few results for tiles"
                           : "a contraction has too few results for tiles");
    text_add(out, ":\n");
}
