/* Choices and loops over arrays: the programs within the program, run in the call's queue. A round gives its results in
 * memory of the pool, which becomes the state of the next round where it is; what the state was in goes back, so a loop
 * needs as much memory after any number of rounds as after two. Where it is known how many rounds there will be, every
 * second one, counted from the last, gives its results in the memory where the caller wants them, so that a loop goes
 * to and fro between that and one block. Of a round the host reads one bool, if it is a `while`'s. */
#include "base/size.h"
#include "run/fields.h"
#include "run/foreign.h"
#include "run/tape.h"
#include "run/transfer.h"

typedef struct held { /* a block of the loop's, which so many components of the state use */
    void *block;
    size_t granted;
    uint32_t users; /* 0: none, there is none here */
} held;

typedef struct slot { /* a component of an array */
    void *block;
    const void *host; /* the same elements in host memory; NULL: they are not there */
    held *held;       /* NULL: it belongs to somebody else, */
    size_t *granted;  /* who lets go of it if that is not NULL: then what was granted is taken from there; */
    bool stays;       /* or it stays as it is to the end of the call or round */
    int64_t extent[IR_MAX_RANK];
} slot;

typedef struct round_call { /* one region's program, called */
    const ir_region *r;
    run *inner; /* NULL: not yet, or not any more */
    run_argument *in;
    run_result *out;
    held **made;     /* per result: the block of the loop that it became */
    uint32_t taken;  /* results whose blocks are here: none, or all once the call is over */
    int64_t *dim;    /* is it given, and its value */
    uint32_t inputs; /* components that come in, */
    size_t bytes;    /* their bytes */
} round_call;

typedef struct looped { /* a control that is run */
    run *c;
    const plan_control *p;
    const ir_control *of;
    const int64_t *value; /* of the control's */
    slot *state, *next;   /* components of the parts one after the other; `next`: and a while's condition */
    uint32_t *first;      /* per part: its first component; then how many there are */
    held *all;
    uint32_t holds;
    int64_t rounds;  /* that are done */
    int64_t many;    /* that are to be done at once */
    int64_t calls;   /* of regions that come behind the one that is run; 0: none, or it is not known, */
    uint32_t region; /* which is this, */
    bool there;      /* and whether its results go where the caller wants them */
    round_call call; /* the one that is made */
    void *memory;    /* of a round's arena, to begin with */
    arena round;     /* while a round is open */
    bool open;
} looped;

typedef struct round_room { /* memory for a round's arena that no round has */
    struct round_room *next;
} round_room;

enum { ROUND_MEMORY = 8192 };

/* --- blocks --- */

static void let_go(looped *l, slot *s)
{
    if (s->held && --s->held->users == 0)
        run_let_go(l->c, s->held->block, s->held->granted);
    s->held = NULL;
}

static held *hold(looped *l, void *block, size_t granted)
{
    uint32_t i = 0;
    while (l->all[i].users) /* as many as components of two states */
        i++;
    l->all[i] = (held){block, granted, 1};
    return &l->all[i];
}

static slot share(slot s)
{
    if (s.held)
        s.held->users++;
    return s;
}

/* --- what a round gets --- */

/* What was granted for a component of an input of the control that nobody needs afterwards; NULL: it is not ours. */
static size_t *granted_for(const looped *l, uint32_t input, uint32_t component)
{
    run *c = l->c;
    const uint32_t buffer = l->p->input.at[input] + component;
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    size_t *granted = b->place != PLAN_INPUT ? &c->granted[buffer] : c->within ? c->in[b->port].given : NULL;
    return l->p->dies[input] && granted && *granted ? granted : NULL;
}

static bool is_loop(const looped *l)
{
    return l->of->form == IR_WHILE || l->of->form == IR_REPEAT;
}

/* A component of an input of the control, as this call has it. */
static bool outer_slot(looped *l, uint32_t input, uint32_t component, slot *out)
{
    run *c = l->c;
    const uint32_t buffer = l->p->input.at[input] + component;
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    const plan_shape *s = &c->plan->shape.at[b->shape];
    *out = (slot){0};
    if (!run_upload(c, buffer, NULL))
        return false;
    out->block = c->data[buffer];
    out->host = c->host[buffer];
    out->granted = is_loop(l) ? NULL : granted_for(l, input, component);
    out->stays = b->place == PLAN_INPUT && !(c->in[b->port].given && *c->in[b->port].given);
    for (unsigned d = 0; d < s->rank; d++)
        out->extent[d] = b->place == PLAN_INPUT ? c->in[b->port].extent[d] : host_i64(c->value, s->extent[d]);
    return true;
}

static bool input_slot(looped *l, const ir_region *r, uint32_t input, uint32_t component, slot *out)
{
    if (input >= l->of->states)
        return outer_slot(l, r->source[input], component, out);
    *out = l->state[l->first[input] + component];
    return true;
}

/* What was granted for this component of input number `input` of the region, if nobody is left who needs it when the
 * round is over; NULL: somebody is. */
static size_t *goes_with_round(const looped *l, const ir_region *r, uint32_t input, const slot *s)
{
    const bool condition = l->of->form == IR_WHILE, changes = !condition || r != &l->of->region[0];
    const bool state = is_loop(l) && input < l->of->states && s->held && s->held->users == 1;
    size_t *granted = state ? &s->held->granted : s->granted;
    for (uint32_t k = 0; k < l->of->parts + condition && changes && granted; k++)
        if (r->result[k] == (IR_PASSED | input))
            granted = NULL;
    for (uint32_t i = 0; i < r->program->input.n && granted && !state; i++)
        if (i != input && r->source[i] == r->source[input])
            granted = NULL;
    return changes ? granted : NULL;
}

static bool prepare_round(looped *l, arena *a, const ir_region *r, round_call *x)
{
    const ir_program *q = r->program;
    uint32_t inputs = 0, outputs = 0;
    for (uint32_t i = 0; i < q->input.n; i++)
        inputs += ir_info(q, q->input.at[i])->components;
    for (uint32_t i = 0; i < q->output.n; i++)
        outputs += ir_info(q, q->output.at[i])->components;
    *x = (round_call){.r = r};
    x->in = arena_array(a, run_argument, inputs + 1);
    x->out = arena_array(a, run_result, outputs + 1);
    x->made = arena_array(a, held *, outputs + 1);
    x->dim = arena_array(a, int64_t, (q->dim.n + 1) * 2);
    inputs = 0;
    for (uint32_t i = 0; i < q->input.n; i++) {
        const ir_array *info = ir_info(q, q->input.at[i]);
        for (uint32_t k = 0; k < info->components; k++, inputs++) {
            slot s;
            size_t bytes = 0;
            if (!input_slot(l, r, i, k, &s))
                return false;
            run_argument *in = &x->in[inputs];
            in->number = inputs + 1;
            in->block = s.block;
            in->data = s.host;
            in->needed = true;
            in->given = goes_with_round(l, r, i, &s);
            memcpy(in->extent, s.extent, sizeof(in->extent));
            size_of_array(ir_type_size(info->type[k]), info->rank, s.extent, &bytes);
            x->bytes += bytes;
        }
    }
    x->inputs = inputs;
    for (uint32_t i = 0; i < outputs; i++)
        x->out[i].number = i + 1;
    for (uint32_t i = 0; i < r->values; i++) {
        x->dim[2 * r->dim[i]] = 1;
        x->dim[2 * r->dim[i] + 1] = l->value[r->value[i]];
    }
    if (r->index) {
        x->dim[2 * (r->index - 1)] = 1;
        x->dim[2 * (r->index - 1) + 1] = l->rounds;
    }
    if (r->many) {
        x->dim[2 * (r->many - 1)] = 1;
        x->dim[2 * (r->many - 1) + 1] = l->many;
    }
    return true;
}

/* --- what it gives --- */

static uint32_t results_of(const looped *l, uint32_t region)
{
    return l->of->form != IR_WHILE ? l->of->parts : region == 0 ? 0 : l->of->parts;
}

/* The place of an output's first component among the results of the call. */
static uint32_t port_of(const ir_program *q, uint32_t output)
{
    uint32_t port = 0;
    for (uint32_t i = 0; i < output; i++)
        port += ir_info(q, q->output.at[i])->components;
    return port;
}

/* Result number k of the region, from component `at` of `next` on. */
static bool take_result(looped *l, uint32_t k, uint32_t at)
{
    const round_call *x = &l->call;
    const ir_program *q = x->r->program;
    const uint32_t result = x->r->result[k], input = result & ~(uint32_t)IR_PASSED;
    const bool passed = result & IR_PASSED;
    const ir_array *info = ir_info(q, passed ? q->input.at[input] : q->output.at[result]);
    const uint32_t port = passed ? 0 : port_of(q, result);
    for (uint32_t i = 0; i < info->components; i++) {
        slot *s = &l->next[at + i];
        if (passed) {
            if (!input_slot(l, x->r, input, i, s))
                return false;
            share(*s);
            continue;
        }
        const run_result *out = &x->out[port + i];
        *s = (slot){.block = out->data};
        memcpy(s->extent, out->extent, sizeof(s->extent));
        if (!out->given && x->made[port + i]) {
            s->held = x->made[port + i];
            s->held->users++;
        } else if (!out->given) {
            s->held = x->made[port + i] = hold(l, out->data, out->granted);
        }
    }
    return true;
}

/* Blocks of the round that are no part of the state go back. */
static void let_go_results(looped *l)
{
    round_call *x = &l->call;
    for (uint32_t i = 0; i < x->taken; i++)
        if (!x->made[i] && !x->out[i].given)
            run_let_go(l->c, x->out[i].data, x->out[i].granted);
    x->taken = 0;
}

static bool take_results(looped *l)
{
    const uint32_t parts = results_of(l, l->region);
    bool good = true;
    for (uint32_t k = 0; k < parts && good; k++)
        good = take_result(l, k, l->first[k]);
    if (l->of->form == IR_WHILE)
        good = good && take_result(l, parts, l->first[l->of->parts]);
    let_go_results(l);
    return good;
}

/* --- a round --- */

/* What the round left: results are the caller's now, all else goes back. */
static void end_round(run *inner, bool good)
{
    const plan *p = inner->plan;
    for (uint32_t i = 0; i < p->result.n && inner->data; i++) {
        run_result *out = &inner->out[i];
        const uint32_t buffer = p->result.at[i].buffer;
        if (out->given)
            continue;
        if (good && !p->result.at[i].copied) {
            out->data = inner->data[buffer];
            out->granted = inner->granted[buffer];
            inner->granted[buffer] = 0;
        } else if (!good) {
            run_let_go(inner, out->data, out->data ? out->granted : 0);
            out->data = NULL;
        }
    }
    for (uint32_t i = 0; i < p->buffer.n && inner->data; i++) {
        run_let_go(inner, inner->data[i], inner->granted[i]);
        inner->granted[i] = 0;
    }
}

/* The message, which lies in memory of the round, for the call. */
static void pass_failure(run *c, const run *inner)
{
    if (c->status != SN_OK)
        return;
    c->status = inner->status == SN_OK ? SN_INTERNAL : inner->status;
    c->said = inner->said;
    if (inner->said.text)
        c->said.text = arena_string(c->arena, inner->said.text);
    if (inner->status == SN_UNSUPPORTED && atomic_load(&inner->r->interpreted))
        atomic_store(&c->r->interpreted, true);
}

/* May component number `port` of the region's results, of its part k, go where the caller wants it? Not if something
 * that the call reads is there. When more calls come, only if it has the extents of that memory for certain, as those
 * of the state that it is made of, and does not rather go where that state is. */
static bool may_go_there(const looped *l, const round_call *x, const plan *p, uint32_t k, uint32_t port,
                         const run_result *to)
{
    const ir_program *q = x->r->program;
    for (uint32_t i = 0; i < x->inputs; i++)
        if (x->in[i].block == to->data)
            return false;
    if (!l->calls)
        return true;
    const ir_array *in = ir_info(q, q->input.at[k]), *out = ir_info(q, q->output.at[x->r->result[k]]);
    const plan_result *r = &p->result.at[port];
    const size_t dimensions = in->rank;
    return !r->copied && !p->buffer.at[r->buffer].over && in->rank == out->rank &&
           memcmp(in->shape, out->shape, dimensions * sizeof(*in->shape)) == 0 &&
           memcmp(l->state[l->first[k]].extent, to->extent, dimensions * sizeof(*to->extent)) == 0;
}

/* The caller's memory for results, where it is known that they are the last ones, or when these will come. */
static void give_memory(looped *l, round_call *x, const plan *p)
{
    run *c = l->c;
    for (uint32_t k = 0; k < l->of->parts; k++) {
        const uint32_t result = x->r->result[k];
        if (!l->p->part.at[k] || result & IR_PASSED)
            continue;
        const uint32_t port = port_of(x->r->program, result), first = l->p->part.at[k] - 1;
        const uint32_t components = ir_info(x->r->program, x->r->program->output.at[result])->components;
        for (uint32_t i = 0; i < components; i++) {
            const plan_buffer *b = &c->plan->buffer.at[first + i];
            const run_result *to = b->place == PLAN_OUTPUT ? &c->out[b->port] : NULL;
            run_result *out = &x->out[port + i];
            if (!to || !to->given || to->upto || to->field.every || out->given || !run_reach(c, to->data) ||
                !may_go_there(l, x, p, k, port + i, to))
                continue;
            out->given = true;
            out->data = to->data;
            memcpy(out->extent, to->extent, sizeof(out->extent));
        }
    }
}

static bool call_program(looped *l, arena *a, round_call *x, uint32_t region)
{
    run *c = l->c;
    const run_region *from = &c->r->control[l->p->number].region[region];
    void *room = from->room ? arena_alloc(a, from->room) : NULL;
    run_program *r = from->choose(from->env, x->in, x->bytes, room);
    if (l->there)
        give_memory(l, x, r->plan);
    run *inner = arena_new(a, *inner);
    inner->r = r;
    inner->root = c->root;
    inner->within = l->p;
    inner->given_dim = x->dim;
    inner->plan = r->plan;
    inner->arena = a;
    inner->in = x->in;
    inner->out = x->out;
    inner->queue = c->queue;
    inner->recorded = c->recorded;
    inner->timed = c->timed;
    x->inner = inner;
    return run_inside(inner);
}

static bool begin_and_call(looped *l, arena *a)
{
    return prepare_round(l, a, &l->of->region[l->region], &l->call) && call_program(l, a, &l->call, l->region);
}

/* The same with memory of the round that runs out as a failure. */
static bool called(looped *l)
{
    arena *a = &l->round;
    jmp_buf failure;
    volatile bool good = false;
    if (!setjmp(failure)) {
        arena_on_failure(a, &failure);
        good = begin_and_call(l, a);
    } else {
        run_fails(l->c, SN_NO_MEMORY, "no memory to run");
    }
    arena_on_failure(a, NULL);
    return good;
}

/* The program of the round is over. */
static void end_call(looped *l, bool good)
{
    run *inner = l->call.inner;
    if (!inner)
        return;
    l->call.inner = NULL;
    if (inner->locked)
        run_read_ends(inner);
    l->c->noted += inner->noted;
    end_round(inner, good);
    if (good)
        l->call.taken = port_of(l->call.r->program, l->call.r->program->output.n);
    else
        pass_failure(l->c, inner);
}

static void close_round(looped *l)
{
    if (l->open)
        arena_free(&l->round);
    l->open = false;
}

/* One run of a region; results are in `next`. `there`: where the caller wants them, if that is known. */
static bool run_region_once(looped *l, uint32_t region, bool there)
{
    run *c = l->c;
    if (run_stops(c))
        return false;
    l->region = region;
    l->there = there;
    l->call = (round_call){0};
    arena_init_with(&l->round, c->r->engine.heap, l->memory, ROUND_MEMORY);
    l->open = true;
    bool good = called(l);
    end_call(l, good);
    good = good && take_results(l);
    close_round(l);
    return good;
}

/* `next` becomes the state. */
static void go_on(looped *l)
{
    const uint32_t n = l->first[l->of->parts];
    for (uint32_t i = 0; i < n; i++) {
        let_go(l, &l->state[i]);
        l->state[i] = l->next[i];
        l->next[i] = (slot){0};
    }
}

/* The condition that a region gave. */
static bool goes_on(looped *l, bool *more)
{
    run *c = l->c;
    device *d = c->r->engine.device;
    slot *s = &l->next[l->first[l->of->parts]];
    const uint8_t *here = s->host ? s->host : s->block ? d->map(d, s->block) : NULL;
    uint8_t flag = 0;
    bool good = true;
    if (here && (good = run_caught_up(c)))
        flag = *here;
    else if (!here)
        good = run_fetch(c, &flag, s->block, sizeof(flag));
    let_go(l, s);
    *s = (slot){0};
    *more = good && flag;
    return good;
}

static bool loop_while(looped *l)
{
    bool more = false;
    bool good = run_region_once(l, 0, false) && goes_on(l, &more);
    while (good && more) {
        good = run_region_once(l, 1, false) && goes_on(l, &more);
        if (good)
            go_on(l);
        l->rounds++;
    }
    return good;
}

/* How many of the rounds that are left behind `done` a region does at once; 0: it cannot do any. */
static int64_t rounds_of(const looped *l, const ir_region *r, int64_t done, int64_t left)
{
    int64_t many = left < r->rounds ? left : r->rounds;
    if (!r->many)
        return left < r->rounds || (r->most && l->value[r->most - 1] < r->rounds) ? 0 : r->rounds;
    if (r->most && l->value[r->most - 1] < 2)
        return 0;
    if (r->most && many > l->value[r->most - 1])
        many = l->value[r->most - 1];
    if (r->limit && many > l->value[r->limit - 1] - done)
        many = l->value[r->limit - 1] - done;
    return many;
}

/* The region that does the most rounds at once when so many are done, and how many it does. */
static uint32_t next_region(const looped *l, int64_t done, int64_t *most)
{
    uint32_t region = 0;
    *most = 1;
    for (uint32_t i = 1; i < l->of->regions; i++) {
        const int64_t many = rounds_of(l, &l->of->region[i], done, l->value[0] - done);
        if (many < *most)
            continue;
        region = i;
        *most = many;
    }
    return region;
}

/* Does each round make all of the state anew? What is passed on may be in the memory of another part's result. */
static bool makes_all(const looped *l)
{
    for (uint32_t i = 0; i < l->of->regions; i++)
        for (uint32_t k = 0; k < l->of->parts; k++)
            if (l->of->region[i].result[k] & IR_PASSED)
                return false;
    return true;
}

/* How many calls of regions a loop takes that makes all of its state anew. Of many nobody knows when they end. */
static int64_t calls_of(const looped *l)
{
    enum { MOST = 1 << 16 };
    int64_t done = 0, calls = 0, many = 0;
    if (!makes_all(l))
        return 0;
    for (; done < l->value[0] && calls < MOST; done += many, calls++)
        next_region(l, done, &many);
    return done < l->value[0] ? 0 : calls;
}

/* Each time the region that does the most rounds at once. */
static bool loop_repeat(looped *l)
{
    const int64_t count = l->value[0];
    int64_t calls = calls_of(l);
    while (l->rounds < count) {
        const uint32_t region = next_region(l, l->rounds, &l->many);
        const bool last = count - l->rounds == l->many;
        l->calls = --calls > 0 ? calls : 0;
        if (!run_region_once(l, region, last || (calls > 0 && calls % 2 == 0)))
            return false;
        go_on(l);
        l->rounds += l->many;
    }
    return true;
}

static bool choose(looped *l)
{
    if (!run_region_once(l, l->of->form == IR_FOREIGN || l->value[0] ? 0 : 1, true))
        return false;
    go_on(l);
    return true;
}

/* --- the whole --- */

/* A component of the last state becomes a buffer of the call. */
static bool hand_over(looped *l, uint32_t buffer, slot *s)
{
    run *c = l->c;
    const plan_buffer *b = &c->plan->buffer.at[buffer];
    const unsigned rank = c->plan->shape.at[b->shape].rank;
    int64_t elements = 0;
    size_t bytes = 0;
    if (!size_count(rank, s->extent, &elements) || !size_times((size_t)elements, ir_type_size(b->type), &bytes))
        return run_fails_at(c, b->site, SN_TOO_LARGE, "an array does not fit in memory; make its extents smaller");
    const run_result *out = b->place == PLAN_OUTPUT && c->out[b->port].given ? &c->out[b->port] : NULL;
    void *there = out && !out->field.every && run_capacity(out, rank) >= elements ? run_reach(c, out->data) : NULL;
    if (there && there != s->block) {
        run_count_copy(c->r->engine.counters, bytes);
        if (!run_copy(c, there, s->block, bytes))
            return false;
        let_go(l, s);
    }
    if (there) {
        c->data[buffer] = there;
        return true;
    }
    if (s->held && s->held->users == 1) {
        c->data[buffer] = s->held->block;
        c->granted[buffer] = s->held->granted;
        s->held->users = 0;
        s->held = NULL;
        return true;
    }
    if (s->granted && *s->granted) {
        c->data[buffer] = s->block;
        c->granted[buffer] = *s->granted;
        *s->granted = 0;
        return true;
    }
    if (s->stays && b->place == PLAN_TEMPORARY) {
        c->data[buffer] = s->block;
        return true;
    }
    c->data[buffer] = run_take(c, bytes, b->site, &c->granted[buffer]);
    if (!c->data[buffer])
        return false;
    run_count_copy(c->r->engine.counters, bytes);
    bool good = run_copy(c, c->data[buffer], s->block, bytes);
    let_go(l, s);
    return good;
}

/* The memory of an initial state that nobody else needs becomes the loop's. */
static void take_over(looped *l, uint32_t input, uint32_t component, slot *s)
{
    size_t *granted = granted_for(l, input, component);
    if (!granted)
        return;
    s->held = hold(l, s->block, *granted);
    l->c->data[l->p->input.at[input] + component] = NULL;
    *granted = 0;
}

static bool hand_over_all(looped *l)
{
    for (uint32_t k = 0; k < l->of->parts; k++)
        for (uint32_t i = l->first[k]; i < l->first[k + 1] && l->p->part.at[k]; i++)
            if (!hand_over(l, l->p->part.at[k] - 1 + i - l->first[k], &l->state[i]))
                return false;
    return true;
}

static bool evaluate(looped *l)
{
    run *c = l->c;
    int64_t *value = arena_array(c->arena, int64_t, l->p->value.n + 1);
    for (uint32_t i = 0; i < l->p->value.n; i++) {
        const host_value *v = &c->value[l->p->value.at[i]];
        if (v->bad)
            return run_fails_host(c, v->bad - 1, l->p->site);
        value[i] = (int64_t)v->bits;
    }
    l->value = value;
    return true;
}

static uint32_t components_of(const looped *l, uint32_t part)
{
    const ir_region *r = &l->of->region[l->of->form == IR_WHILE];
    const ir_program *q = r->program;
    uint32_t result = r->result[part];
    return ir_info(q, result & IR_PASSED ? q->input.at[result & ~(uint32_t)IR_PASSED] : q->output.at[result])
        ->components;
}

static bool begin_and_loop(looped *l)
{
    bool good = true;
    for (uint32_t k = 0; k < l->of->states && good; k++)
        for (uint32_t i = l->first[k]; i < l->first[k + 1] && good; i++)
            if ((good = outer_slot(l, k, i - l->first[k], &l->state[i])))
                take_over(l, k, i - l->first[k], &l->state[i]);
    if (good)
        good = l->p->form == IR_WHILE ? loop_while(l) : l->p->form == IR_REPEAT ? loop_repeat(l) : choose(l);
    return good && hand_over_all(l);
}

/* Memory of the call, or of the one that it is a round of, may run out at any place: what the loop holds goes back
 * then. */
static bool run_loop(looped *l)
{
    arena *own = l->c->arena, *root = l->c->root->arena;
    jmp_buf failure, *outer = own->failure, *outer_root = root->failure;
    volatile bool good = false;
    if (!setjmp(failure)) {
        arena_on_failure(own, &failure);
        arena_on_failure(root, &failure);
        good = begin_and_loop(l);
    } else {
        arena_on_failure(own, outer); /* another failure is the caller's */
        arena_on_failure(root, outer_root);
        if (l->c->locked)
            run_read_ends(l->c);
        l->c->status = SN_NO_MEMORY;
        l->c->said = (run_said){"no memory to run", false};
        end_call(l, false);
        let_go_results(l);
        close_round(l);
    }
    arena_on_failure(own, outer);
    arena_on_failure(root, outer_root);
    return good;
}

static void *take_room(run *root)
{
    round_room *r = root->rooms;
    if (r)
        root->rooms = r->next;
    return r ? r : arena_alloc(root->arena, ROUND_MEMORY);
}

static void give_room(run *root, void *memory)
{
    round_room *r = memory;
    r->next = root->rooms;
    root->rooms = r;
}

bool run_control_step(run *c, uint32_t control)
{
    const plan_control *p = &c->plan->control.at[control];
    looped l = {.c = c, .p = p, .of = p->of};
    const uint32_t parts = p->of->parts;
    if (!evaluate(&l))
        return false;
    l.first = arena_array(c->arena, uint32_t, parts + 1);
    for (uint32_t k = 0; k < parts; k++)
        l.first[k + 1] = l.first[k] + components_of(&l, k);
    const uint32_t n = l.first[parts];
    l.state = arena_array(c->arena, slot, n + 1);
    l.next = arena_array(c->arena, slot, n + 2);
    l.holds = 2 * n + 2;
    l.all = arena_array(c->arena, held, l.holds);
    bool good = true, done = false;
    if (p->form == IR_FOREIGN)
        good = run_foreign(c, p, &done);
    if (done)
        run_tape_foreign(c);
    if (done || !good)
        return good;
    l.memory = take_room(c->root);
    good = run_loop(&l);
    give_room(c->root, l.memory);
    for (uint32_t i = 0; i < n; i++) {
        let_go(&l, &l.state[i]);
        let_go(&l, &l.next[i]);
    }
    let_go(&l, &l.next[n]);
    return good;
}
