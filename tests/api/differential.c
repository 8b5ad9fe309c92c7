/* The shortest way from terms to results on a device. */
#include "differential.h"
#include "support/guarded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool runner_open(runner *r, unsigned threads)
{
    arena a;
    const char *why = NULL;
    const char *group = getenv("SINTER_TEST_GROUP"); /* real threads of a block */
    device_options options = {.threads = threads, .heap = &base_heap_default};
    options.most_group = group ? (uint32_t)strtoul(group, NULL, 10) : 0;
    const char *wanted = getenv("SINTER_DEVICE");
    arena_init(&a, NULL);
    *r = (runner){0};
    if (wanted && !strcmp(wanted, "opencl"))
        r->device = device_opencl_open(&options, 0, &a, &why);
    else if (wanted && !strcmp(wanted, "cuda"))
        r->device = device_cuda_open(&options, 0, &a, &why);
    else
        r->device = device_cpu_open(&options, &a, &why);
    if (!r->device)
        printf("skipped: %s\n", why ? why : "no device");
    arena_free(&a);
    if (!r->device)
        return false;
    r->engine = (run_engine){.device = r->device,
                             .pool = run_pool_new(r->device, &base_heap_default, (size_t)1 << 26),
                             .heap = &base_heap_default};
    return true;
}

void runner_close(runner *r)
{
    if (!r->device)
        return;
    run_pool_free(r->engine.pool);
    r->device->close(r->device);
}

int64_t elements_of(const ir_value *v)
{
    int64_t n = 1;
    for (unsigned d = 0; d < v->rank; d++)
        n *= v->extent[d];
    return n;
}

/* The arguments of a call: inputs are copied between pages that cannot be touched, every other time so that they end
 * right before one, which leaves them aligned to an element only. */
typedef struct borrowed {
    uint32_t n;
    run_argument *in;
    guarded *memory;
} borrowed;

static borrowed borrow(const ir_program *p, arena *a, const ir_value *input, bool at_end)
{
    borrowed b = {0};
    for (uint32_t k = 0; k < p->input.n; k++)
        b.n += input[k].components;
    b.in = arena_array(a, run_argument, b.n + 1);
    b.memory = arena_array(a, guarded, b.n + 1);
    uint32_t next = 0;
    for (uint32_t k = 0; k < p->input.n; k++)
        for (uint32_t c = 0; c < input[k].components; c++, next++) {
            size_t bytes = (size_t)elements_of(&input[k]) * ir_type_size(input[k].type[c]);
            memcpy(b.in[next].extent, input[k].extent, sizeof(b.in[next].extent));
            b.memory[next] = guarded_new(bytes, at_end);
            if (bytes)
                memcpy(b.memory[next].at, input[k].data[c], bytes);
            b.in[next].data = b.memory[next].at;
        }
    return b;
}

static void give_back(borrowed *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        guarded_free(&b->memory[i]);
}

/* Elements that the device may have to itself. */
static void *elements(const runner *r, const void *data, size_t bytes, arena *a)
{
    device *d = r->device;
    k_error error;
    const char *why;
    if (!d->limits->own_memory)
        return arena_copy(a, data, bytes);
    void *to = arena_alloc(a, bytes);
    device_queue *q = d->open_queue(d, NULL, NULL);
    if (!q || !d->copy(d, q, DEVICE_DOWNLOAD, to, data, 0, bytes) || d->finish(d, q, &error, a, &why) != DEVICE_FINE)
        fprintf(stderr, "the device does not give its results\n"); /* zeros will not do */
    d->close_queue(d, q);
    return to;
}

/* Results of the pool are copied to the arena. */
static void take_results(const runner *r, const ir_program *p, arena *a, run_result *out, outcome *o)
{
    uint32_t next = 0;
    for (uint32_t k = 0; k < p->output.n; k++) {
        const ir_array *info = ir_info(p, p->output.at[k]);
        ir_value *v = &o->output[k];
        v->rank = info->rank;
        v->components = info->components;
        for (uint32_t c = 0; c < info->components; c++, next++) {
            memcpy(v->extent, out[next].extent, sizeof(v->extent));
            v->type[c] = info->type[c];
            v->data[c] = elements(r, out[next].data, (size_t)elements_of(v) * ir_type_size(v->type[c]), a);
            run_pool_give(r->engine.pool, out[next].data, out[next].granted);
        }
    }
}

static run_program *chosen(void *program, const run_argument *in, size_t bytes, void *room)
{
    (void)in, (void)bytes, (void)room;
    return program;
}

typedef struct programs {
    VEC(run_program *) all; /* those within others behind them */
    const runner *r;
    arena *arena;
    const l_options *loops;
    const sk_options *options;
} programs;

/* A program, and those of its regions. */
static run_program *make_programs(programs *made, ir_program *p, plan **pl)
{
    l_program *l = l_clusters(p, made->loops);
    const sk_program *code = sk_prepare(l);
    plan *own = plan_make(code, made->options);
    run_program *program =
        run_program_new(&made->r->engine, code, own, made->options, made->all.n ? made->all.at[0] : NULL);
    uint32_t controls = 0;
    VEC(run_control) list = {0};
    vec_push(made->arena, &made->all, program);
    for (ir_id id = 1; id < p->node.n; id++) {
        if (ir_at(p, id)->kind != IR_CONTROL)
            continue;
        const ir_control *c = ir_info(p, id)->control;
        vec_push(made->arena, &list, (run_control){arena_array(made->arena, run_region, c->regions + 1)});
        for (uint32_t i = 0; i < c->regions; i++)
            list.at[controls].region[i] = (run_region){chosen, make_programs(made, c->region[i].program, NULL), 0};
        controls++;
    }
    run_attach(program, list.at);
    if (pl)
        *pl = own;
    return program;
}

outcome runner_run(const runner *r, ir_program *p, arena *a, const ir_value *input, const l_options *loops,
                   unsigned times)
{
    outcome o = {.output = arena_array(a, ir_value, p->output.n + 1)};
    const device_limits *limits = r->device->limits;
    sk_options options = {.vector_bytes = limits->vector_bytes, .workers = limits->workers, .checks = true};
    if (limits->own_memory) {
        options.group = limits->group;
        options.gang = limits->gang;
        options.scratch = limits->scratch;
    }
    options.chains = limits->forward_progress && !limits->own_memory;
    programs made = {.r = r, .arena = a, .loops = loops, .options = &options};
    plan *pl;
    run_program *program = make_programs(&made, p, &pl);
    for (unsigned i = 0; i < times; i++) {
        arena call;
        arena_init(&call, NULL);
        run_result *out = arena_array(a, run_result, pl->result.n + 1);
        borrowed b = borrow(p, a, input, i % 2 == 0);
        run_said said;
        o.status = run_call(program, b.in, out, &call, &said);
        o.message = said.text ? arena_string(a, said.text) : NULL;
        if (o.status == SN_OK)
            take_results(r, p, a, out, &o);
        give_back(&b);
        arena_free(&call);
    }
    o.launches = run_launches(program);
    o.kernels = run_kernels(program);
    o.clusters = pl->cluster.n;
    for (uint32_t i = 0; i < pl->buffer.n; i++)
        o.buffers += pl->buffer.at[i].place == PLAN_TEMPORARY;
    while (made.all.n)
        run_program_free(made.all.at[--made.all.n]);
    return o;
}

static bool same_f32(const float *x, const float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof(float)) && !(isnan(x[i]) && isnan(y[i])))
            return false;
    return true;
}

static bool same_f64(const double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof(double)) && !(isnan(x[i]) && isnan(y[i])))
            return false;
    return true;
}

static bool same_component(const ir_value *x, const ir_value *y, uint32_t c)
{
    int64_t n = elements_of(x);
    if (x->type[c] == T_F32)
        return same_f32(x->data[c], y->data[c], n);
    if (x->type[c] == T_F64)
        return same_f64(x->data[c], y->data[c], n);
    return !memcmp(x->data[c], y->data[c], (size_t)n * ir_type_size(x->type[c]));
}

bool same_outputs(const ir_program *p, const ir_value *x, const ir_value *y)
{
    for (uint32_t k = 0; k < p->output.n; k++) {
        if (x[k].rank != y[k].rank || x[k].components != y[k].components ||
            memcmp(x[k].extent, y[k].extent, x[k].rank * sizeof(int64_t)))
            return false;
        for (uint32_t c = 0; c < x[k].components; c++)
            if (x[k].type[c] != y[k].type[c] || !same_component(&x[k], &y[k], c))
                return false;
    }
    return true;
}
