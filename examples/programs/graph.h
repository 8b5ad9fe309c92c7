/* Graphs: shortest paths between all pairs, and connected components, as loops over arrays. */
#ifndef PROGRAMS_GRAPH_H
#define PROGRAMS_GRAPH_H

#include <sinter/sinter.h>

/* --- shortest paths: lengths of edges -> lengths of paths --- */

#define PATHS_SIGNATURE "[n,n]f32 -> [n,n]f32"

typedef struct paths_round {
    sn_acc length;
    sn_scalar by;
} paths_round;

static sn_scalar paths_by_way(void *env, int count, const sn_scalar *x) /* index, length */
{
    const paths_round *r = env;
    (void)count;
    sn_scalar from = sn_index(r->length, sn_fst(x[0]), r->by), to = sn_index(r->length, r->by, sn_snd(x[0]));
    return sn_min(x[1], sn_add(from, to));
}

/* In round k all paths may go by way of k. */
static sn_acc paths_next(sn_acc k, sn_acc length)
{
    paths_round r = {length, sn_the(k)};
    return sn_imap(sn_closure_of(paths_by_way, &r, 2), length);
}

static sn_acc paths(sn_acc length)
{
    return sn_aloop(sn_extent(length, 0), paths_next, length);
}

/* --- components: a vertex's neighbours lie in `neighbour` from start[v] to start[v + 1] --- */

#define COMPONENTS_SIGNATURE "[n1]i32, [m]i32 -> [n]i32, i32"

typedef struct components_graph {
    sn_acc start, neighbour, label;
} components_graph;

static sn_scalar components_smaller(void *env, sn_scalar i, sn_scalar least)
{
    const components_graph *g = env;
    sn_scalar at = sn_index(g->neighbour, i);
    return sn_min(least, sn_index(g->label, at));
}

typedef struct components_from {
    const components_graph *graph;
    sn_scalar first;
} components_from;

static sn_scalar components_shifted(void *env, sn_scalar i, sn_scalar least)
{
    const components_from *f = env;
    return components_smaller((void *)(uintptr_t)f->graph, sn_add(i, f->first), least);
}

/* The smallest label among a vertex and its neighbours. */
static sn_scalar components_least(void *env, sn_scalar v, sn_scalar own)
{
    components_from f = {env, sn_to_i64(sn_index(((components_graph *)env)->start, v))};
    sn_scalar last = sn_to_i64(sn_index(((components_graph *)env)->start, sn_add(v, 1)));
    return sn_loop(sn_sub(last, f.first), sn_closure(components_shifted, &f), own);
}

static sn_scalar components_label_of(void *env, sn_scalar label)
{
    return sn_index(*(sn_acc *)env, label);
}

static sn_acc components_go_on(sn_acc label, sn_acc changed, sn_acc rounds)
{
    (void)label, (void)rounds;
    return changed;
}

static sn_scalar components_one_more(sn_scalar n)
{
    return sn_add(n, 1);
}

/* Labels of neighbours, then labels of labels: chains get half as long. */
static sn_acc components_next(void *env, int count, const sn_acc *state)
{
    components_graph g = *(components_graph *)env;
    (void)count;
    g.label = state[0];
    sn_acc least = sn_force(sn_imap(sn_closure(components_least, &g), g.label));
    sn_acc label = sn_map(sn_closure(components_label_of, &least), least);
    return sn_results(label, sn_any(sn_zip_with(sn_ne, label, g.label)), sn_map(components_one_more, state[2]));
}

static sn_scalar components_own(sn_scalar v)
{
    return sn_to_i32(v);
}

/* The smallest vertex of each vertex's component, and after how many rounds that was so. */
static sn_acc components(sn_acc start, sn_acc neighbour)
{
    components_graph g = {start, neighbour, {0}};
    sn_acc own = sn_generate(sn_shape(sn_sub(sn_extent(start, 0), 1)), components_own);
    sn_acc begin = sn_results(own, sn_unit(sn_bool(true)), sn_unit(sn_i32(0)));
    sn_acc end = sn_awhile(components_go_on, sn_body_of(components_next, &g, 3), begin);
    return sn_results(sn_result(end, 0), sn_result(end, 2));
}

#endif
