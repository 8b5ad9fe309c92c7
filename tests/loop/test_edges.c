/* What is said of clusters and edges is so: for random programs, who reads whom is found again from the terms alone,
 * and compared with which loops there are, what they read and keep, and what explain says of each edge
 * (docs/fusion.md). */
#include "loop/cluster.h"
#include "opt/rewrite.h"
#include "support/random_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

enum { PROGRAMS = 1500 };

typedef struct judge {
    const char *why; /* the first thing that is not so */
    const l_program *l;
    const l_options *options;
    arena *a;
    bool *host;    /* per node: the host reads it, for an extent or a seed */
    bool *result;  /* it is (a component of) a result */
    bool *by_rows; /* an edge says that rows of it are kept */
    bool *inside;  /* another anchor of the same stencil loop needs it */
    bool *used;    /* it is computed, or part of what is */
} judge;

static bool holds(judge *j, bool so, const char *what)
{
    if (!so && !j->why)
        j->why = what;
    return so;
}

static ir_kind kind_of(const judge *j, ir_id id)
{
    return (ir_kind)ir_at(j->l->ir, id)->kind;
}

static bool kept_or_given(const judge *j, ir_id id)
{
    return kind_of(j, id) == IR_INPUT || j->l->cluster_of[id];
}

static bool same_extents(const judge *j, ir_id a, const ir_id *shape, unsigned rank)
{
    const ir_array *info = ir_info(j->l->ir, a);
    return info->rank == rank && !memcmp(info->shape, shape, rank * sizeof(*shape));
}

/* The array over whose elements an anchor loops. */
static ir_id looped(const judge *j, ir_id id)
{
    return kind_of(j, id) == IR_FOLD ? ir_info(j->l->ir, id)->input[0] : id;
}

static void reads_in(const judge *j, uint32_t n, const ir_id *term, opt_ids *out)
{
    opt_ids ids = {0};
    opt_reach(j->l->ir, j->a, n, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(j->l->ir, ids.at[i])->kind == IR_READ)
            vec_push(j->a, out, ir_at(j->l->ir, ids.at[i])->array);
}

/* Arrays that an operation reads elements of. */
static opt_ids read_by(const judge *j, ir_id id)
{
    const ir_array *info = ir_info(j->l->ir, id);
    opt_ids out = {0};
    for (uint32_t i = 0; i < info->inputs; i++) {
        vec_push(j->a, &out, info->input[i]);
        if (info->stencil && info->stencil[i].function)
            reads_in(j, info->stencil[i].function->results, info->stencil[i].function->result, &out);
    }
    if (info->fn)
        reads_in(j, info->fn->results, info->fn->result, &out);
    return out;
}

/* Which arrays an anchor needs elements of that are computed elsewhere or given: `needs` is per node. */
static void find_needs(const judge *j, ir_id anchor, bool *needs)
{
    bool *seen = arena_alloc(j->a, j->l->nodes);
    opt_ids todo = {0};
    vec_push(j->a, &todo, anchor);
    while (todo.n) {
        opt_ids from = read_by(j, todo.at[--todo.n]);
        for (uint32_t i = 0; i < from.n; i++) {
            ir_id id = from.at[i];
            if (kept_or_given(j, id))
                needs[id] = true;
            else if (!seen[id])
                vec_push(j->a, &todo, id);
            seen[id] = j->used[id] = true;
        }
    }
}

static void find_host(judge *j)
{
    const ir_program *p = j->l->ir;
    for (ir_id id = 1; id < j->l->nodes; id++) {
        if (!ir_is_array(p, id))
            continue;
        const ir_array *info = ir_info(p, id);
        opt_ids out = {0};
        reads_in(j, info->rank, info->shape, &out);
        if (info->seed)
            reads_in(j, info->components, info->seed, &out);
        for (uint32_t i = 0; info->stencil && i < info->inputs; i++)
            if (info->stencil[i].constant)
                reads_in(j, ir_info(p, info->input[i])->components, info->stencil[i].constant, &out);
        for (uint32_t i = 0; i < out.n; i++)
            j->host[out.at[i]] = true;
    }
    for (uint32_t i = 0; i < p->check.n; i++) {
        opt_ids out = {0};
        reads_in(j, 2, (const ir_id[]){p->check.at[i].left, p->check.at[i].right}, &out);
        for (uint32_t k = 0; k < out.n; k++)
            j->host[out.at[k]] = true;
    }
}

/* --- edges --- */

static bool wraps(const judge *j, ir_id reader, ir_id from)
{
    const ir_array *info = ir_info(j->l->ir, reader);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++)
        if (info->input[i] == from && info->stencil[i].boundary == IR_WRAP)
            return true;
    return false;
}

/* At computed indices, from scalar code. */
static bool reads_anywhere(const judge *j, ir_id reader, ir_id from)
{
    const ir_fn *fn = ir_info(j->l->ir, reader)->fn;
    opt_ids ids = {0};
    if (fn)
        reads_in(j, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ids.at[i] == from)
            return true;
    return false;
}

static void judge_fused(judge *j, const l_edge *e)
{
    uint32_t here = j->l->cluster_of[e->from], there = j->l->cluster_of[e->to];
    holds(j, j->options->fuse, "fused although fusion is off");
    if (e->why == L_FUSED_DELAYED) {
        holds(j, !j->used[e->to] || (!here && !j->l->manifest[e->from]), "delayed, but computed as a whole");
        return;
    }
    holds(j, here && (!there || here == there), "in one loop, but in two clusters");
    holds(j, (e->why == L_FUSED_ROWS) == (e->access == L_HALO), "rows are for neighbours, registers for all else");
    holds(j, e->access != L_RANDOM && e->access != L_HOST, "read elsewhere, but in one loop");
    j->by_rows[e->from] |= e->why == L_FUSED_ROWS;
}

static void judge_apart(judge *j, const l_edge *e)
{
    ir_kind from = kind_of(j, e->from);
    uint32_t here = j->l->cluster_of[e->from], there = j->l->cluster_of[e->to];
    holds(j, here && (!there || there > here), "what is read is not computed before");
    holds(j, j->l->manifest[e->from], "what is read is not in memory");
    if (!j->options->fuse) {
        holds(j, e->why == L_NOT_ENABLED, "fusion is off, which is no reason");
        return;
    }
    holds(j, e->why != L_NOT_ENABLED, "fusion is on");
    holds(j, e->why != L_NOT_AFTER || from == IR_FOLD, "after what is no fold");
    if (e->why == L_NOT_ROW)
        holds(j, from == IR_FOLD && ir_info(j->l->ir, e->from)->rank && !reads_anywhere(j, e->to, e->from),
              "other rows are read");
    holds(j, e->why != L_NOT_FORCED || from == IR_FORCE, "nothing was forced");
    holds(j, e->why != L_NOT_BOUNDARY || (e->access == L_HALO && wraps(j, e->to, e->from)), "no boundary wraps");
    if (!there)
        return;
    holds(j, from != IR_FOLD || e->why == L_NOT_AFTER || e->why == L_NOT_ROW, "after a fold for another reason");
    if (from == IR_FOLD && e->access == L_SAME && !reads_anywhere(j, e->to, e->from))
        holds(j, (e->why == L_NOT_ROW) == (ir_info(j->l->ir, e->from)->rank > 0), "its own row, or all");
    holds(j, from != IR_FORCE || e->why == L_NOT_FORCED, "forced, but for another reason");
    if (from == IR_FOLD || from == IR_FORCE)
        return;
    ir_id reader = looped(j, e->to);
    bool alike = same_extents(j, e->from, ir_info(j->l->ir, reader)->shape, ir_info(j->l->ir, reader)->rank);
    holds(j, (e->why == L_NOT_RATE) == !alike, "extents differ, or not");
    if (alike && (e->access == L_VIEW || e->access == L_RANDOM))
        holds(j, e->why == L_NOT_RANDOM, "read at computed indices, which is no reason");
    if (alike && e->access == L_HALO && wraps(j, e->to, e->from))
        holds(j, e->why == L_NOT_BOUNDARY, "a boundary wraps, which is no reason");
}

static void judge_edges(judge *j)
{
    const l_program *l = j->l;
    uint32_t *found = arena_array(j->a, *found, l->nodes); /* edges into a node */
    for (uint32_t i = 0; i < l->edge.n; i++) {
        const l_edge *e = &l->edge.at[i];
        found[e->to]++;
        for (uint32_t k = i; k-- > 0 && l->edge.at[k].to == e->to && e->access == L_RANDOM;)
            holds(j, l->edge.at[k].access != L_RANDOM || l->edge.at[k].from != e->from, "one edge, but twice");
        bool given = kind_of(j, e->from) == IR_INPUT;
        holds(j, given == (e->why == L_NOT_INPUT), "an argument, or not");
        if (given)
            continue;
        if (e->why <= L_FUSED_ROWS)
            judge_fused(j, e);
        else
            judge_apart(j, e);
    }
    for (ir_id id = 1; id < l->nodes; id++)
        if (l->cluster_of[id] && found[id] < ir_info(l->ir, id)->inputs)
            holds(j, false, "an operand without an edge");
}

/* --- clusters --- */

static void judge_cluster(judge *j, uint32_t number, uint32_t *seen, bool *read_elsewhere)
{
    const l_program *l = j->l;
    const l_cluster *c = &l->cluster.at[number];
    bool *needs = arena_alloc(j->a, l->nodes), *has = arena_alloc(j->a, l->nodes);
    holds(j, c->op.n && (j->options->fuse || c->op.n == 1), "one operation a loop without fusion, and never none");
    for (uint32_t i = 0; i < c->op.n; i++) {
        ir_id id = c->op.at[i].term;
        seen[id]++;
        j->used[id] = true;
        holds(j, l->cluster_of[id] == number + 1, "an anchor of another cluster");
        holds(j, (c->op.at[i].kind == L_FOLD) == (kind_of(j, id) == IR_FOLD), "a fold, or not");
        holds(j, same_extents(j, looped(j, id), c->shape, c->rank), "another rate");
        holds(j, c->op.at[i].stored == l->manifest[id], "stored, but not in memory");
        find_needs(j, id, needs);
    }
    for (uint32_t i = 0; i < c->reads.n; i++) {
        ir_id id = c->reads.at[i];
        holds(j, !has[id], "an array is read twice");
        holds(j, needs[id], "an array is read that nobody needs");
        holds(j, l->manifest[id] && l->cluster_of[id] <= number, "read before it is computed");
        has[id] = read_elsewhere[id] = true;
    }
    for (ir_id id = 1; id < l->nodes; id++)
        if (needs[id] && !has[id]) {
            holds(j, l->cluster_of[id] == number + 1, "needed, but neither read nor computed here");
            j->inside[id] = c->class == L_CLASS_STENCIL;
        }
}

static void judge_clusters(judge *j)
{
    const l_program *l = j->l;
    uint32_t *seen = arena_array(j->a, *seen, l->nodes);
    bool *read_elsewhere = arena_alloc(j->a, l->nodes);
    for (uint32_t i = 0; i < l->cluster.n; i++)
        judge_cluster(j, i, seen, read_elsewhere);
    for (ir_id id = 1; id < l->nodes; id++) {
        holds(j, seen[id] == !!l->cluster_of[id], "an anchor is computed once");
        if (!ir_is_array(l->ir, id))
            continue;
        bool given = kind_of(j, id) == IR_INPUT;
        holds(j, !l->manifest[id] || given || l->cluster_of[id], "in memory, but never computed");
        if (!given && l->manifest[id])
            holds(j, read_elsewhere[id] || j->host[id] || j->result[id], "in memory for nobody");
        if (j->result[id])
            holds(j, given || l->manifest[id], "a result that is not in memory");
    }
}

static void judge_rows(judge *j)
{
    for (uint32_t i = 0; i < j->l->cluster.n; i++)
        for (uint32_t k = 0; k < j->l->cluster.at[i].op.n; k++) {
            const l_op *op = &j->l->cluster.at[i].op.at[k];
            holds(j, op->staged == j->inside[op->term] && (op->staged || !j->by_rows[op->term]),
                  "rows are kept, or not");
        }
}

/* --- programs --- */

static const char *judged(ir_program *p, arena *a, const l_options *options)
{
    l_program *l = l_clusters(p, options);
    judge j = {.l = l, .options = options, .a = a};
    j.host = arena_alloc(a, l->nodes);
    j.result = arena_alloc(a, l->nodes);
    j.by_rows = arena_alloc(a, l->nodes);
    j.inside = arena_alloc(a, l->nodes);
    j.used = arena_alloc(a, l->nodes);
    find_host(&j);
    for (uint32_t i = 0, part = 0; i < p->output.n; i++)
        for (unsigned c = 0; c < ir_info(p, p->output.at[i])->components; c++)
            j.result[l->part[part++].array] = true;
    judge_clusters(&j);
    judge_edges(&j);
    judge_rows(&j);
    return j.why;
}

static const l_options choices_of[] = {
    {.fuse = true, .cost_model = true},
    {.fuse = true, .cost_model = true, .large = true},
    {.fuse = true},
    {.fuse = true, .cost_model = true, .cap = 12},
    {.cost_model = true},
};

static void what_is_said_is_so(void **state)
{
    const random_options *o = *state;
    uint32_t said[L_NOT_ENABLED + 1] = {0};
    for (uint64_t seed = 0; seed < PROGRAMS; seed++)
        for (size_t i = 0; i < ARRAY_LENGTH(choices_of); i++) {
            arena a;
            arena_init(&a, NULL);
            random_case c = random_program(&a, o, seed);
            const char *why = judged(c.program, &a, &choices_of[i]);
            if (why) {
                text t;
                text_init(&t, &a);
                ir_print(c.program, &t);
                l_print(l_clusters(c.program, &choices_of[i]), &t);
                puts(t.at);
                fail_msg("seed %u, choice %zu: %s", (unsigned)seed, i, why);
            }
            l_program *l = l_clusters(c.program, &choices_of[i]);
            for (uint32_t e = 0; e < l->edge.n; e++)
                said[l->edge.at[e].why]++;
            arena_free(&a);
        }
    for (int why = L_FUSED_DELAYED; why <= L_NOT_ENABLED; why++)
        print_message("%5u %s\n", said[why], l_why_text((l_why)why));
}

/* Scalar code that reads each element about once: it moves along with each of its own indices, whose quotients it may
 * take if it takes their remainders, too. Then what it reads need not be kept. */
static void what_is_read_once(void **state)
{
    static const struct {
        const char *element;
        bool once;
    } read[] = {
        {"x[i]", true},
        {"x[i + 3]", true},
        {"x[i - k]", true},
        {"x[k - i]", true},
        {"x[n - 1 - i]", true},
        {"x[(k + i) - (n + 2)]", true},
        {"x[i * 2]", false},
        {"x[i + i]", false},
        {"x[7]", false},
        {"x[rem(i, 2)]", false},
        {"x[quot(i, 2)]", false},
        {"x[div(i + 1, k)]", false},
        {"x[quot(i, 2) + 1]", false},
        {"x[quot(i, 2)] * f32(rem(i, 2))", true},
        {"x[div(i, k) + 1] * f32(mod(i, k))", true},
        {"x[quot(i, 2)] * f32(rem(k, 2))", false},
        {"y[i, j + 1]", true},
        {"y[j, i - k]", true},
        {"y[i, 3]", false},
        {"y[i, i]", false},
        {"y[i, quot(j, 2)]", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(read); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = "";
        ir_program *p = ir_parse(&a,
                                 arena_printf(&a,
                                              "extents n, k\nv = input [n]f32\nw = input [n, k]f32\n"
                                              "x = map v {v: f32 -> sqrt(v * v + 1.0f32) / (v + 3.0f32)}\n"
                                              "y = map w {v: f32 -> sqrt(v * v + 1.0f32) / (v + 3.0f32)}\n"
                                              "z = generate [n%s] {i: i64%s -> %s}\noutput z\n",
                                              read[i].element[0] == 'y' ? ", k" : "",
                                              read[i].element[0] == 'y' ? ", j: i64" : "", read[i].element),
                                 &message);
        if (!p)
            fail_msg("%s: %s", read[i].element, message);
        if ((l_clusters(p, &choices_of[0])->cluster.n == 1) != read[i].once)
            fail_msg("%s: the array is %s", read[i].element, read[i].once ? "kept" : "computed at each read");
        arena_free(&a);
    }
}

/* Results that are parts of what is in memory anyway: what the maps between would take besides is not computed. */
static void what_is_picked(void **state)
{
    static const struct {
        const char *results;
        unsigned computed; /* how many of a, b and c */
    } picked[] = {
        {"r = map a, b, c {x: f32, y: i16, u: f32, v: i16, w: f32, z: i16 -> v}\noutput r\n", 1},
        {"r = map a, b, c {x: f32, y: i16, u: f32, v: i16, w: f32, z: i16 -> v, x}\noutput r\n", 2},
        {"r = map a, b, c {x: f32, y: i16, u: f32, v: i16, w: f32, z: i16 -> v}\n"
         "q = map a, c {x: f32, y: i16, w: f32, z: i16 -> w}\noutput r, q\n",
         2},
        {"s = map a, b, c {x: f32, y: i16, u: f32, v: i16, w: f32, z: i16 -> v, x, z + 1i16}\n"
         "r = map s {v: i16, x: f32, z: i16 -> v}\noutput r\n",
         1},
        {"s = map a, b, c {x: f32, y: i16, u: f32, v: i16, w: f32, z: i16 -> v, x}\n"
         "r = map s {v: i16, x: f32 -> v}\nq = map s {v: i16, x: f32 -> x}\noutput r, q\n",
         2},
        {"s = map a, b, c {x: f32, y: i16, u: f32, v: i16, w: f32, z: i16 -> v, x, z + 1i16}\n"
         "r = map s {v: i16, x: f32, z: i16 -> v}\nq = map s {v: i16, x: f32, z: i16 -> z}\noutput r, q\n",
         3},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(picked); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = "";
        unsigned computed = 0;
        ir_program *p = ir_parse(&a,
                                 arena_printf(&a,
                                              "extents n\nt = input [n]f32\n"
                                              "g = map t {v: f32 -> v * v, 3i16}\na = force g\n"
                                              "h = map t {v: f32 -> v / 3.0f32, 4i16}\nb = force h\n"
                                              "k = map t {v: f32 -> v - 1.0f32, 5i16}\nc = force k\n%s",
                                              picked[i].results),
                                 &message);
        if (!p)
            fail_msg("%u: %s", (unsigned)i, message);
        l_program *l = l_clusters(p, &choices_of[0]);
        for (ir_id id = 1; id < l->nodes; id++)
            computed += ir_at(p, id)->kind == IR_FORCE && l->cluster_of[id];
        if (computed != picked[i].computed)
            fail_msg("%u: %u of the arrays are computed, not %u", (unsigned)i, computed, picked[i].computed);
        const char *why = judged(p, &a, &choices_of[0]);
        if (why)
            fail_msg("%u: %s", (unsigned)i, why);
        arena_free(&a);
    }
}

/* The first node of all may be an array: it is in memory, and has a number. */
static void what_comes_first(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const char *message = "";
    ir_program *p = ir_parse(&a, "x = input []f32\ny = map x {v: f32 -> v + 1.0f32}\noutput y\n", &message);
    if (!p)
        fail_msg("%s", message);
    assert_true(ir_is_array(p, 1));
    l_program *l = l_clusters(p, &choices_of[0]);
    assert_true(l->manifest[1]);
    assert_int_equal(l->number[1], 1);
    arena_free(&a);
}

int main(void)
{
    random_options whole = random_everything(), chains = random_everything();
    chains.chains = true;
    chains.operations = 30;
    whole.operations = 12;
    const struct CMUnitTest tests[] = {
        {"random programs", what_is_said_is_so, NULL, NULL, &whole},
        {"chains", what_is_said_is_so, NULL, NULL, &chains},
        cmocka_unit_test(what_is_read_once),
        cmocka_unit_test(what_is_picked),
        cmocka_unit_test(what_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
