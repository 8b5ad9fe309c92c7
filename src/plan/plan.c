/* From clusters to the steps of a call. */
#include "plan/plan.h"

#include "plan/apart.h"
#include "plan/dying.h"
#include "plan/joined.h"

#include "opt/rewrite.h"

typedef struct planner {
    const l_program *l;
    const sk_options *options;
    const sk_cluster *code; /* of each cluster */
    ir_program *p;
    arena *arena;
    plan *out;
    uint32_t clusters;
    VEC(uint32_t) step_stage;  /* per host step */
    VEC(uint32_t) shape_stage; /* per shape */
    VEC(uint32_t) check_stage;
    VEC(uint32_t) last;   /* per buffer: 1 + the last cluster that uses it */
    map64 port;           /* array << 8 | component -> 1 + the first port it is the result of */
    VEC(ir_id) looked_at; /* arrays that the host reads in loops: their extents are needed then */
    intern_table shapes;
    VEC(const ir_id *) shape_key;
} planner;

/* --- stages --- */

static uint32_t largest(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The array whose element is the extent of a pack. */
static ir_id count_of(const ir_program *p, ir_id pack)
{
    return ir_at(p, ir_info(p, pack)->shape[0])->array;
}

static bool is_pack(const ir_program *p, ir_id array)
{
    return ir_at(p, array)->kind == IR_PACK;
}

/* The stage at which an array's elements are there, and how many: 0 for parameters. */
static uint32_t array_stage(const planner *pl, ir_id array)
{
    uint32_t stage = pl->l->cluster_of[array];
    return is_pack(pl->p, array) ? largest(stage, pl->l->cluster_of[count_of(pl->p, array)]) : stage;
}

/* a loop's result: it may read arrays anywhere inside */
static uint32_t term_stage(planner *pl, ir_id term)
{
    opt_ids ids = {0};
    uint32_t stage = 0;
    opt_reach(pl->p, pl->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(pl->p, ids.at[i])->kind == IR_READ) {
            ir_id array = ir_at(pl->p, ids.at[i])->array;
            stage = largest(stage, array_stage(pl, array));
            vec_push(pl->arena, &pl->looked_at, array);
        }
    return stage;
}

/* The host step of a closed term; its stage and those of all it needs are known afterwards. */
static uint32_t host_term(planner *pl, ir_id term)
{
    host_code *code = &pl->out->host;
    uint32_t step = host_add(pl->p, pl->arena, code, term);
    for (uint32_t i = pl->step_stage.n; i < code->step.n; i++) {
        const host_step *s = &code->step.at[i];
        uint32_t stage = s->kind == HOST_READ ? array_stage(pl, s->array) : 0;
        if (s->kind == HOST_TERM)
            stage = term_stage(pl, s->term);
        for (uint32_t k = 0; s->in && k < (uint32_t)s->n + s->rank; k++)
            stage = largest(stage, pl->step_stage.at[s->in[k]]);
        vec_push(pl->arena, &pl->step_stage, stage);
    }
    return step;
}

/* --- shapes --- */

typedef struct shape_query {
    const planner *pl;
    unsigned rank;
    const ir_id *shape;
} shape_query;

static bool same_shape(const void *env, uint32_t id)
{
    const shape_query *q = env;
    return q->pl->out->shape.at[id - 1].rank == q->rank &&
           !memcmp(q->pl->shape_key.at[id - 1], q->shape, q->rank * sizeof(ir_id));
}

/* `site`: of an operation that has it. */
static uint32_t add_shape(planner *pl, unsigned rank, const ir_id *shape, uint32_t site)
{
    shape_query q = {pl, rank, shape};
    uint64_t hash = hash_bytes(shape, rank * sizeof(ir_id), rank);
    uint32_t found = intern_find(&pl->shapes, hash, same_shape, &q);
    if (found)
        return found - 1;
    plan_shape s = {.rank = (uint8_t)rank, .site = site};
    uint32_t stage = 0;
    for (unsigned d = 0; d < rank; d++) {
        s.extent[d] = host_term(pl, shape[d]);
        stage = largest(stage, pl->step_stage.at[s.extent[d]]);
    }
    vec_push(pl->arena, &pl->out->shape, s);
    vec_push(pl->arena, &pl->shape_stage, stage);
    vec_push(pl->arena, &pl->shape_key, shape);
    intern_add(pl->arena, &pl->shapes, hash, pl->out->shape.n);
    return pl->out->shape.n - 1;
}

static uint32_t shape_of(planner *pl, ir_id array)
{
    const ir_array *info = ir_info(pl->p, array);
    return add_shape(pl, info->rank, info->shape, ir_at(pl->p, array)->site);
}

/* Operations that are delayed have no memory, but their extents must make sense all the same. */
static void all_shapes(planner *pl)
{
    for (uint32_t i = 0; i < pl->l->edge.n; i++) {
        shape_of(pl, pl->l->edge.at[i].from);
        shape_of(pl, pl->l->edge.at[i].to);
    }
}

/* --- buffers --- */

static uint64_t part_key(const l_part *part)
{
    return (uint64_t)part->array << 8 | part->component;
}

/* place: INPUT from `port` on, or TEMPORARY, but for those components that are results */
static void add_buffers(planner *pl, ir_id array, plan_place place, uint32_t port)
{
    const ir_array *info = ir_info(pl->p, array);
    uint32_t shape = shape_of(pl, array), room = is_pack(pl->p, array) ? shape_of(pl, info->input[0]) : shape;
    for (uint32_t c = 0; c < info->components; c++) {
        plan_buffer b = {.place = place,
                         .port = port + c,
                         .array = array,
                         .component = c,
                         .type = info->type[c],
                         .shape = shape,
                         .room = room,
                         .site = ir_at(pl->p, array)->site};
        uint32_t result = place == PLAN_INPUT ? 0 : map64_get(&pl->port, part_key(&(l_part){array, c}));
        if (result) {
            b.place = PLAN_OUTPUT;
            b.port = result - 1;
        }
        vec_push(pl->arena, &pl->out->buffer, b);
        vec_push(pl->arena, &pl->last, 0);
        vec_push(pl->arena, &pl->out->name, info->name ? info->name : "");
        map64_put(pl->arena, &pl->out->buffer_of, (uint64_t)array << 8 | c, pl->out->buffer.n);
    }
}

static void inputs(planner *pl)
{
    const ir_program *p = pl->p;
    plan *out = pl->out;
    out->inputs = p->input.n;
    out->input_first = arena_array(pl->arena, uint32_t, p->input.n + 1);
    out->input_rank = arena_alloc(pl->arena, p->input.n + 1);
    uint32_t port = 0;
    for (uint32_t k = 0; k < p->input.n; k++) {
        ir_id array = p->input.at[k];
        const ir_array *info = ir_info(p, array);
        out->input_first[k] = port;
        out->input_rank[k] = info->rank;
        add_buffers(pl, array, PLAN_INPUT, port);
        for (unsigned d = 0; d < info->rank; d++) {
            const ir_node *e = ir_at(p, info->shape[d]);
            bool named = e->kind == IR_DIM;
            uint32_t number = named ? (uint32_t)e->u.literal : host_term(pl, info->shape[d]);
            vec_push(pl->arena, &out->binding, ((plan_binding){k, d, named, number}));
        }
        port += info->components;
    }
    out->input_first[p->input.n] = port;
    for (uint32_t k = 0; k < p->dim.n; k++)
        vec_push(pl->arena, &out->dim, p->dim.at[k]);
    for (uint32_t i = 0; i < p->number.n; i++)
        vec_push(pl->arena, &out->number, p->number.at[i]);
}

/* Components that are results lie in the caller's memory; one that is several results is copied from its first place.
 */
static void results(planner *pl)
{
    uint32_t ports = 0, buffer;
    for (uint32_t k = 0; k < pl->p->output.n; k++)
        ports += ir_info(pl->p, pl->p->output.at[k])->components;
    for (uint32_t port = ports; port-- > 0;)
        map64_put(pl->arena, &pl->port, part_key(&pl->l->part[port]), port + 1);
    for (uint32_t port = 0; port < ports; port++) {
        const l_part *part = &pl->l->part[port];
        if (!plan_find(pl->out, part->array, 0, &buffer))
            add_buffers(pl, part->array, PLAN_TEMPORARY, 0);
        plan_find(pl->out, part->array, part->component, &buffer);
        const plan_buffer *b = &pl->out->buffer.at[buffer];
        bool own = b->place == PLAN_OUTPUT && b->port == port;
        bool counted = pl->shape_stage.at[b->shape] > 0;
        vec_push(pl->arena, &pl->out->result, ((plan_result){buffer, !own, counted}));
    }
}

static void temporaries(planner *pl)
{
    uint32_t first;
    for (ir_id id = 1; id < pl->l->nodes; id++)
        if (pl->l->manifest[id] && pl->l->cluster_of[id] && !plan_find(pl->out, id, 0, &first))
            add_buffers(pl, id, PLAN_TEMPORARY, 0);
}

/* --- permutes --- */

static bool is_permute(const planner *pl, uint32_t cluster)
{
    return pl->l->cluster.at[cluster].class == L_CLASS_PERMUTE;
}

/* The array that a permute begins with. */
static ir_id defaults_of(const planner *pl, ir_id permute)
{
    return ir_info(pl->p, permute)->input[0];
}

/* Per array: 1 + the last cluster that reads it, UINT32_MAX if the host may. */
static uint32_t *last_readers(const planner *pl)
{
    uint32_t *last = arena_array(pl->arena, *last, pl->p->node.n);
    for (uint32_t i = 0; i < pl->clusters; i++) {
        const l_cluster *c = &pl->l->cluster.at[i];
        for (uint32_t k = 0; k < c->reads.n; k++)
            last[c->reads.at[k]] = i + 1;
    }
    for (ir_id id = 1; id < pl->p->node.n; id++)
        if (ir_at(pl->p, id)->kind == IR_READ && !ir_at(pl->p, id)->scope)
            last[ir_at(pl->p, id)->array] = UINT32_MAX;
    return last;
}

/* Is it computed by launches that write it as it is, and has room for no more? */
static bool is_written_once(const planner *pl, ir_id array)
{
    ir_kind kind = (ir_kind)ir_at(pl->p, array)->kind;
    return pl->l->cluster_of[array] && kind != IR_PACK && kind != IR_SORT && kind != IR_CONTROL && kind != IR_PART;
}

/* `begun`: per array: a later permute begins with it, too. */
static void begin_in_place(planner *pl, uint32_t cluster, ir_id to, const uint32_t *last, bool *begun)
{
    ir_id from = defaults_of(pl, to);
    uint32_t first, unused;
    bool again = begun[from];
    begun[from] = true;
    if (!plan_find(pl->out, to, 0, &first))
        add_buffers(pl, to, PLAN_TEMPORARY, 0);
    if (again || plan_find(pl->out, from, 0, &unused) || !is_written_once(pl, from) || last[from] > cluster)
        return;
    for (uint32_t c = 0; c < ir_info(pl->p, to)->components; c++) {
        plan_find(pl->out, to, c, &first);
        map64_put(pl->arena, &pl->out->buffer_of, (uint64_t)from << 8 | c, first + 1);
    }
}

/* Defaults that nobody reads any more are updated in place: they are written where the permute's result belongs. Users
 * before what they use, so that the places of results are known. */
static void update_in_place(planner *pl)
{
    bool any = false;
    for (uint32_t i = 0; i < pl->clusters; i++)
        any |= is_permute(pl, i);
    if (!any)
        return;
    const uint32_t *last = last_readers(pl);
    bool *begun = arena_array(pl->arena, *begun, pl->p->node.n);
    for (uint32_t i = pl->clusters; i-- > 0;)
        for (uint32_t k = pl->l->cluster.at[i].op.n; k-- > 0 && is_permute(pl, i);)
            begin_in_place(pl, i, pl->l->cluster.at[i].op.at[k].term, last, begun);
}

/* --- clusters --- */

static void use_buffers(planner *pl, uint32_t cluster, ir_id array, bool write)
{
    plan_cluster *c = &pl->out->cluster.at[cluster];
    uint32_t first;
    if (!plan_find(pl->out, array, 0, &first))
        return;
    for (uint32_t k = 0; k < ir_info(pl->p, array)->components; k++) {
        if (write)
            vec_push(pl->arena, &c->writes, first + k);
        else
            vec_push(pl->arena, &c->reads, first + k);
        pl->last.at[first + k] = cluster + 1;
    }
}

/* A buffer that the launches of a cluster hand to each other; `like` says of what. Its number. */
static uint32_t add_handed(planner *pl, plan_place place, uint32_t cluster, uint32_t launch, plan_buffer like)
{
    plan *out = pl->out;
    like.place = place;
    like.launch = launch;
    like.shape = like.room = out->cluster.at[cluster].shape;
    like.site = out->cluster.at[cluster].site;
    vec_push(pl->arena, &out->buffer, like);
    vec_push(pl->arena, &pl->last, 0);
    vec_push(pl->arena, &out->name, like.array ? ir_info(pl->p, like.array)->name : NULL);
    if (!out->name.at[out->name.n - 1])
        out->name.at[out->name.n - 1] = "";
    return out->buffer.n - 1;
}

/* Partial results of all folds of a cluster, as the kernels number their components; *first is the first. Returns how
 * many. */
static uint32_t add_partials(planner *pl, uint32_t cluster, plan_place place, uint32_t launch, uint32_t *first)
{
    const l_cluster *from = &pl->l->cluster.at[cluster];
    uint32_t n = 0;
    for (uint32_t k = 0; k < from->op.n; k++) {
        const l_op *op = &from->op.at[k];
        const ir_array *info = ir_info(pl->p, op->term);
        for (uint32_t c = 0; op->kind == L_FOLD && c < info->components; c++, n++) {
            plan_buffer like = {.array = op->term, .component = c, .type = info->type[c]};
            uint32_t added = add_handed(pl, place, cluster, launch, like);
            *first = n ? *first : added;
        }
    }
    return n;
}

/* Memory beside that of a sort's result, for each component; the first one's number. */
static uint32_t add_spare(planner *pl, uint32_t cluster)
{
    const ir_id term = pl->l->cluster.at[cluster].op.at[0].term;
    const ir_array *info = ir_info(pl->p, term);
    uint32_t first = 0;
    for (uint32_t c = 0; c < info->components; c++) {
        plan_buffer like = {.array = term, .component = c, .type = info->type[c]};
        uint32_t added = add_handed(pl, PLAN_SPARE, cluster, pl->out->launch.n, like);
        first = c ? first : added;
    }
    return first;
}

static void launches(planner *pl, uint32_t cluster)
{
    plan *out = pl->out;
    sk_pass pass[SK_PASSES];
    plan_cluster *c = &out->cluster.at[cluster];
    uint32_t state = 0, spare = 0, partials = 0;
    c->launch = out->launch.n;
    c->launches = sk_passes(&pl->code[cluster], pl->options, pass);
    if (c->carries || c->sorts)
        state = add_handed(pl, PLAN_STATE, cluster, c->launch, (plan_buffer){.type = T_U64});
    if (c->sorts)
        spare = add_spare(pl, cluster);
    for (uint32_t i = 0; i < c->launches; i++) {
        const bool leaves = i + 1 < c->launches && pass[i + 1] == SK_PASS_COMBINE,
                   combines = pass[i] == SK_PASS_COMBINE;
        plan_launch l = {.cluster = cluster, .pass = pass[i], .in = partials, .state = state, .spare = spare};
        if (leaves || combines)
            l.partials = add_partials(pl, cluster, leaves ? PLAN_PARTIALS : PLAN_NEXT, out->launch.n, &l.out);
        partials = l.out;
        vec_push(pl->arena, &out->launch, l);
    }
}

/* The number of a control among those of the program. */
static uint32_t control_number(const planner *pl, ir_id id)
{
    uint32_t number = 0;
    for (ir_id k = 1; k < id; k++)
        number += ir_at(pl->p, k)->kind == IR_CONTROL;
    return number;
}

static void add_control(planner *pl, uint32_t cluster)
{
    const l_cluster *from = pl->code[cluster].loop;
    const ir_id id = from->op.at[0].term;
    const ir_array *info = ir_info(pl->p, id);
    plan_control c = {.array = id, .form = (ir_control_form)info->control->form, .of = info->control};
    uint32_t buffer = 0;
    c.site = ir_at(pl->p, id)->site;
    c.number = control_number(pl, id);
    for (uint32_t i = 0; i < info->inputs; i++) {
        plan_find(pl->out, info->input[i], 0, &buffer);
        vec_push(pl->arena, &c.input, buffer);
    }
    vec_resize(pl->arena, &c.part, info->control->parts);
    for (uint32_t i = 1; i < from->op.n; i++)
        if (plan_find(pl->out, from->op.at[i].term, 0, &buffer))
            c.part.at[ir_at(pl->p, from->op.at[i].term)->args] = buffer + 1;
    for (uint32_t i = 0; i < info->control->values; i++)
        vec_push(pl->arena, &c.value, host_term(pl, info->control->value[i]));
    for (uint32_t k = 0; k < pl->out->cluster.at[cluster].reads.n; k++)
        vec_push(pl->arena, &c.whole, pl->out->cluster.at[cluster].reads.at[k]);
    for (uint32_t k = 0; k < pl->out->cluster.at[cluster].writes.n; k++)
        vec_push(pl->arena, &c.whole, pl->out->cluster.at[cluster].writes.at[k]);
    vec_push(pl->arena, &pl->out->control, c);
    pl->out->cluster.at[cluster].control = pl->out->control.n;
}

static void begin_with_defaults(planner *pl, uint32_t cluster, ir_id to)
{
    ir_id from = defaults_of(pl, to);
    uint32_t first = 0, begins = 0;
    plan_cluster *c = &pl->out->cluster.at[cluster];
    plan_find(pl->out, to, 0, &first);
    plan_find(pl->out, from, 0, &begins);
    c->permutes = true;
    c->places = pl->out->buffer.at[first].shape;
    if (first == begins)
        return;
    bool known = false; /* its elements are read besides */
    for (uint32_t k = 0; k < c->reads.n; k++)
        known |= c->reads.at[k] == begins;
    if (!known)
        use_buffers(pl, cluster, from, false);
    for (uint32_t k = 0; k < ir_info(pl->p, from)->components; k++) {
        vec_push(pl->arena, &c->defaults, begins + k);
        vec_push(pl->arena, &c->begun, first + k);
    }
}

static void clusters(planner *pl)
{
    for (uint32_t i = 0; i < pl->clusters; i++) {
        const sk_cluster *code = &pl->code[i];
        const l_cluster *from = code->loop;
        const bool control = from->class == L_CLASS_CONTROL;
        vec_push(pl->arena, &pl->out->cluster,
                 ((plan_cluster){.carries = !control && sk_carries(code),
                                 .zeros = !control && sk_carries_zeros(code, pl->options),
                                 .sorts = !control && sk_sorts(code)}));
        for (uint32_t k = 0; k < from->op.n; k++) {
            const l_op *op = &from->op.at[k];
            const ir_array *info = ir_info(pl->p, op->term);
            plan_cluster *c = &pl->out->cluster.at[i];
            c->site = ir_at(pl->p, op->term)->site;
            if (op->stored)
                use_buffers(pl, i, op->term, true);
            if (op->kind != L_FOLD)
                continue;
            c->folds = true;
            if (!info->seed)
                vec_push(pl->arena, &c->seedless, ir_at(pl->p, op->term)->site);
        }
        pl->out->cluster.at[i].shape = add_shape(pl, from->rank, from->shape, pl->out->cluster.at[i].site);
        if (from->segments) {
            uint32_t segments = add_shape(pl, 1, &from->segment_count, pl->out->cluster.at[i].site);
            pl->out->cluster.at[i].segments = 1 + segments;
            pl->out->cluster.at[i].folds = true;
        }
        for (uint32_t k = 0; k < from->reads.n; k++)
            use_buffers(pl, i, from->reads.at[k], false);
        for (uint32_t k = 0; k < from->op.n && is_permute(pl, i); k++)
            begin_with_defaults(pl, i, from->op.at[k].term);
        if (control)
            add_control(pl, i);
        else
            launches(pl, i);
    }
}

/* What the host reads it may read again, for arguments of kernels: such arrays, of few elements, stay to the end. */
static void keep_host_reads(planner *pl)
{
    uint32_t buffer;
    for (uint32_t i = 0; i < pl->out->host.step.n; i++) {
        const host_step *s = &pl->out->host.step.at[i];
        if (s->kind == HOST_READ && plan_find(pl->out, s->array, s->number, &buffer))
            pl->last.at[buffer] = UINT32_MAX;
    }
}

/* --- parts that are computed in their places --- */

/* Does nothing but this cluster read it, and does its own write it where it is told to? */
static bool may_be_placed(const planner *pl, ir_id array, uint32_t reader)
{
    const uint32_t own = pl->l->cluster_of[array];
    uint32_t first, readers = 0;
    if (!own || !plan_find(pl->out, array, 0, &first))
        return false;
    const plan_cluster *c = &pl->out->cluster.at[own - 1];
    const ir_kind kind = (ir_kind)ir_at(pl->p, array)->kind;
    if (c->control || c->sorts || c->permutes || kind == IR_PACK || kind == IR_PART)
        return false;
    for (uint32_t k = 0; k < ir_info(pl->p, array)->components; k++)
        if (pl->out->buffer.at[first + k].place != PLAN_TEMPORARY || pl->last.at[first + k] != reader + 1)
            return false;
    for (uint32_t i = 0; i < pl->clusters; i++)
        for (uint32_t k = 0; k < pl->out->cluster.at[i].reads.n; k++)
            readers += pl->out->cluster.at[i].reads.at[k] == first;
    return readers == 1;
}

/* Where kernels take addresses within blocks: on devices with handles for blocks they are copied as before. */
static void place_parts(planner *pl)
{
    ir_id part[PLAN_MOST_PARTS];
    for (uint32_t i = 0; i < pl->clusters && !pl->options->group; i++) {
        const l_cluster *c = pl->code[i].loop;
        uint32_t whole, first, before = 0;
        if (c->class != L_CLASS_PLAIN || c->op.n != 1 || !plan_find(pl->out, c->op.at[0].term, 0, &whole))
            continue;
        const ir_id array = c->op.at[0].term;
        const uint32_t n = plan_parts_of(pl->l, array, part);
        bool all = n > 0 && pl->shape_stage.at[pl->out->buffer.at[whole].shape] == 0;
        for (uint32_t k = 0; k < n; k++)
            all = all && may_be_placed(pl, part[k], i) && plan_find(pl->out, part[k], 0, &first) &&
                  pl->shape_stage.at[pl->out->buffer.at[first].shape] == 0;
        for (uint32_t k = 0; k < n && all; k++) {
            plan_find(pl->out, part[k], 0, &first);
            for (uint32_t m = 0; m < ir_info(pl->p, array)->components; m++) {
                pl->out->buffer.at[first + m].within = whole + m + 1;
                pl->out->buffer.at[first + m].before = k ? before + m + 1 : 0;
            }
            before = first;
        }
        pl->out->cluster.at[i].placed = all;
    }
}

/* --- steps --- */

static void push(planner *pl, plan_op op, uint32_t index, uint32_t last)
{
    vec_push(pl->arena, &pl->out->step, ((plan_step){op, index, last}));
}

typedef struct by_stage { /* things in order of their stages */
    uint32_t *first;      /* per stage */
    uint32_t *item;
} by_stage;

static by_stage sort_stages(planner *pl, uint32_t n, const uint32_t *stage)
{
    uint32_t stages = pl->clusters + 1;
    by_stage out = {arena_array(pl->arena, uint32_t, stages + 2), arena_array(pl->arena, uint32_t, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        out.first[stage[i] + 1]++;
    for (uint32_t s = 0; s < stages; s++)
        out.first[s + 1] += out.first[s];
    uint32_t *next = arena_copy(pl->arena, out.first, stages * sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++)
        out.item[next[stage[i]]++] = i;
    return out;
}

static void push_stage(planner *pl, plan_op op, const by_stage *sorted, uint32_t stage)
{
    for (uint32_t i = sorted->first[stage]; i < sorted->first[stage + 1]; i++)
        push(pl, op, sorted->item[i], 0);
}

/* Host steps in order of stages: a permutation that keeps operands first. Returns the first step of each stage. */
static uint32_t *sort_host(planner *pl)
{
    host_code *code = &pl->out->host;
    uint32_t n = code->step.n;
    by_stage sorted = sort_stages(pl, n, pl->step_stage.at);
    uint32_t *to = arena_array(pl->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        to[sorted.item[i]] = i;
    host_step *step = arena_array(pl->arena, host_step, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        host_step s = code->step.at[i];
        for (uint32_t k = 0; s.in && k < (uint32_t)s.n + s.rank; k++)
            s.in[k] = to[s.in[k]];
        map64_put(pl->arena, &code->of, s.term, to[i] + 1);
        step[to[i]] = s;
    }
    code->step.at = step;
    code->step.cap = n;
    for (uint32_t i = 0; i < pl->out->shape.n; i++)
        for (unsigned d = 0; d < pl->out->shape.at[i].rank; d++)
            pl->out->shape.at[i].extent[d] = to[pl->out->shape.at[i].extent[d]];
    for (uint32_t i = 0; i < pl->out->check.n; i++) {
        pl->out->check.at[i].left = to[pl->out->check.at[i].left];
        pl->out->check.at[i].right = to[pl->out->check.at[i].right];
    }
    for (uint32_t i = 0; i < pl->out->control.n; i++)
        for (uint32_t k = 0; k < pl->out->control.at[i].value.n; k++)
            pl->out->control.at[i].value.at[k] = to[pl->out->control.at[i].value.at[k]];
    for (uint32_t i = 0; i < pl->out->binding.n; i++)
        if (!pl->out->binding.at[i].named)
            pl->out->binding.at[i].number = to[pl->out->binding.at[i].number];
    return sorted.first;
}

static void free_after(planner *pl, uint32_t cluster)
{
    const plan_cluster *c = &pl->out->cluster.at[cluster];
    for (uint32_t list = 0; list < 2; list++) {
        uint32_t n = list ? c->writes.n : c->reads.n;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t b = list ? c->writes.at[k] : c->reads.at[k];
            if (pl->out->buffer.at[b].place == PLAN_TEMPORARY && pl->last.at[b] == cluster + 1)
                push(pl, PLAN_FREE, b, 0);
        }
    }
}

static void needed_at(planner *pl, uint32_t *stage, uint32_t shape, uint32_t by)
{
    uint32_t earliest = pl->shape_stage.at[shape];
    by = largest(by, earliest);
    stage[shape] = by < stage[shape] ? by : stage[shape];
}

/* Extents of packs are right whatever they are, so nobody looks at them before something needs them: on devices with
 * queues that is a wait. */
static void put_off_shapes(planner *pl)
{
    plan *out = pl->out;
    uint32_t *stage = arena_array(pl->arena, uint32_t, out->shape.n + 1), first;
    for (uint32_t i = 0; i < out->shape.n; i++)
        stage[i] = pl->shape_stage.at[i];
    for (uint32_t i = 0; i < out->buffer.n; i++)
        if (out->buffer.at[i].array && is_pack(pl->p, out->buffer.at[i].array))
            stage[out->buffer.at[i].shape] = pl->clusters;
    for (uint32_t s = 0; s < pl->clusters; s++) {
        const plan_cluster *c = &out->cluster.at[s];
        needed_at(pl, stage, c->shape, s);
        if (c->segments)
            needed_at(pl, stage, c->segments - 1, s);
        for (uint32_t k = 0; k < c->writes.n; k++)
            needed_at(pl, stage, out->buffer.at[c->writes.at[k]].room, s);
        for (uint32_t k = 0; k < c->reads.n && c->control; k++) /* its programs are told the extents */
            needed_at(pl, stage, out->buffer.at[c->reads.at[k]].shape, s);
    }
    for (uint32_t i = 0; i < pl->looked_at.n; i++)
        if (plan_find(out, pl->looked_at.at[i], 0, &first))
            needed_at(pl, stage, out->buffer.at[first].shape, 0);
    pl->shape_stage.at = stage;
    pl->shape_stage.cap = out->shape.n;
}

static void used_at(uint32_t *stage, uint32_t step, uint32_t by)
{
    stage[step] = by < stage[step] ? by : stage[step];
}

/* Nor is a value computed before something needs it. */
static void put_off(planner *pl)
{
    const plan *out = pl->out;
    const uint32_t n = out->host.step.n;
    uint32_t *stage = arena_array(pl->arena, uint32_t, n + 1);
    put_off_shapes(pl);
    for (uint32_t i = 0; i < n; i++)
        stage[i] = UINT32_MAX;
    for (uint32_t i = 0; i < out->shape.n; i++)
        for (unsigned d = 0; d < out->shape.at[i].rank; d++)
            used_at(stage, out->shape.at[i].extent[d], pl->shape_stage.at[i]);
    for (uint32_t i = 0; i < out->check.n; i++) {
        used_at(stage, out->check.at[i].left, pl->check_stage.at[i]);
        used_at(stage, out->check.at[i].right, pl->check_stage.at[i]);
    }
    for (uint32_t i = 0; i < out->cluster.n; i++)
        for (uint32_t k = 0; out->cluster.at[i].control && k < out->control.at[out->cluster.at[i].control - 1].value.n;
             k++)
            used_at(stage, out->control.at[out->cluster.at[i].control - 1].value.at[k], i);
    for (uint32_t i = n; i-- > 0;) {
        const host_step *s = &out->host.step.at[i];
        if (stage[i] == UINT32_MAX || !pl->step_stage.at[i])
            stage[i] = pl->step_stage.at[i];
        for (uint32_t k = 0; s->in && k < (uint32_t)s->n + s->rank; k++)
            used_at(stage, s->in[k], stage[i]);
    }
    pl->step_stage.at = stage;
    pl->step_stage.cap = n;
}

static void push_partials(planner *pl, plan_op op, uint32_t n, uint32_t first, uint32_t other)
{
    for (uint32_t i = 0; i < n; i++)
        push(pl, op, first + i, other ? other + i : 0);
}

static void push_launch(planner *pl, uint32_t launch)
{
    const plan_launch *l = &pl->out->launch.at[launch];
    const plan_cluster *c = &pl->out->cluster.at[l->cluster];
    push(pl, PLAN_SIZE, launch, 0);
    if (c->carries && launch == c->launch) {
        push(pl, PLAN_ALLOC, l->state, 0);
        if (c->zeros)
            push(pl, PLAN_CLEAR, l->state, 0);
    }
    push_partials(pl, PLAN_ALLOC, l->partials, l->out, 0);
    push(pl, PLAN_LAUNCH, launch, 0);
}

/* What a round leaves is what the next one begins with. */
static void push_rounds(planner *pl, uint32_t launch)
{
    const plan_launch *l = &pl->out->launch.at[launch];
    const uint32_t region = pl->out->step.n;
    push(pl, PLAN_ROUNDS, l->cluster, 0);
    push_launch(pl, launch);
    push_partials(pl, PLAN_SWAP, l->partials, l->in, l->out);
    push_partials(pl, PLAN_FREE, l->partials, l->out, 0);
    pl->out->step.at[region].last = pl->out->step.n;
    push_partials(pl, PLAN_FREE, l->partials, l->in, 0);
}

/* The first launch sorts short rows, or chunks; then rounds move elements from the result's memory to that beside it
 * and back. */
static void push_sort(planner *pl, const plan_cluster *c, uint32_t cluster)
{
    const plan_launch *l = &pl->out->launch.at[c->launch];
    const uint32_t components = ir_info(pl->p, pl->l->cluster.at[cluster].op.at[0].term)->components;
    push(pl, PLAN_SIZE, c->launch, 0);
    push(pl, PLAN_ALLOC, l->state, 0);
    push_partials(pl, PLAN_ALLOC, components, l->spare, 0);
    push(pl, PLAN_LAUNCH, c->launch, 0);
    const uint32_t region = pl->out->step.n;
    push(pl, PLAN_ROUNDS, cluster, 0);
    for (uint32_t i = c->launch + 1; i < c->launch + c->launches; i++)
        push_launch(pl, i);
    pl->out->step.at[region].last = pl->out->step.n;
    push_partials(pl, PLAN_FREE, components, l->spare, 0);
    push(pl, PLAN_FREE, l->state, 0);
}

static void push_cluster(planner *pl, uint32_t cluster)
{
    const plan_cluster *c = &pl->out->cluster.at[cluster];
    static const plan_op of_form[] = {
        [IR_CHOICE] = PLAN_IF, [IR_WHILE] = PLAN_WHILE, [IR_REPEAT] = PLAN_REPEAT, [IR_FOREIGN] = PLAN_FOREIGN};
    if (c->control) {
        push(pl, of_form[pl->out->control.at[c->control - 1].form], c->control - 1, 0);
        return;
    }
    if (c->sorts) {
        push_sort(pl, c, cluster);
        return;
    }
    for (uint32_t i = c->launch; i < c->launch + c->launches; i++)
        if (pl->out->launch.at[i].pass == SK_PASS_COMBINE)
            push_rounds(pl, i);
        else
            push_launch(pl, i);
    if (c->carries)
        push(pl, PLAN_FREE, pl->out->launch.at[c->launch].state, 0);
}

static void steps(planner *pl)
{
    put_off(pl);
    const uint32_t *first = sort_host(pl);
    uint32_t *result_stage = arena_array(pl->arena, uint32_t, pl->out->result.n + 1);
    for (uint32_t i = 0; i < pl->out->result.n; i++)
        result_stage[i] = pl->shape_stage.at[pl->out->buffer.at[pl->out->result.at[i].buffer].shape];
    by_stage checked = sort_stages(pl, pl->out->check.n, pl->check_stage.at);
    by_stage shaped = sort_stages(pl, pl->out->shape.n, pl->shape_stage.at);
    by_stage received = sort_stages(pl, pl->out->result.n, result_stage);
    for (uint32_t s = 0; s <= pl->clusters; s++) {
        if (first[s] < first[s + 1])
            push(pl, PLAN_EVALUATE, first[s], first[s + 1]);
        push_stage(pl, PLAN_CHECK, &checked, s);
        push_stage(pl, PLAN_SHAPE, &shaped, s);
        push_stage(pl, PLAN_RESULT, &received, s);
        if (s == pl->clusters)
            break;
        const plan_cluster *c = &pl->out->cluster.at[s];
        for (uint32_t k = 0; k < c->writes.n && !c->control; k++)
            push(pl, PLAN_ALLOC, c->writes.at[k], 0);
        for (uint32_t k = 0; k < c->defaults.n; k++)
            push(pl, PLAN_BEGIN, c->begun.at[k], c->defaults.at[k]);
        if (!c->placed)
            push_cluster(pl, s);
        free_after(pl, s);
    }
    for (uint32_t i = 0; i < pl->out->result.n; i++)
        if (pl->out->result.at[i].copied)
            push(pl, PLAN_COPY, i, 0);
}

static void checks(planner *pl)
{
    for (uint32_t i = 0; i < pl->p->check.n; i++) {
        const ir_check *from = &pl->p->check.at[i];
        plan_check c = {host_term(pl, from->left), host_term(pl, from->right), from->site, from->what};
        vec_push(pl->arena, &pl->out->check, c);
        vec_push(pl->arena, &pl->check_stage, largest(pl->step_stage.at[c.left], pl->step_stage.at[c.right]));
    }
}

plan *plan_make(const sk_program *s, const sk_options *options)
{
    const l_program *l = s->l;
    arena *a = l->ir->arena;
    plan *out = arena_new(a, *out);
    out->arena = a;
    out->label = l->number;
    planner pl = {
        .l = l, .code = s->cluster, .options = options, .p = l->ir, .arena = a, .out = out, .clusters = l->cluster.n};
    checks(&pl);
    inputs(&pl);
    all_shapes(&pl); /* before those of results: of several wrong extents the first one made is reported */
    results(&pl);
    update_in_place(&pl);
    temporaries(&pl);
    clusters(&pl);
    keep_host_reads(&pl);
    place_parts(&pl);
    plan_find_apart(out);
    steps(&pl);
    plan_find_dying(out, l);
    return out;
}
