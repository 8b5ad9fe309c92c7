/* A random graph: graph [vertices [edges]]. Prints its components and, of up to 2000 vertices, its longest shortest
 * path. */
#include "programs/graph.h"

#include "common/arguments.h"
#include "common/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PAIRS = 2000 };

typedef struct edges { /* so many, between pairs of vertices */
    int32_t n, m;
    int32_t *from, *to;
} edges;

/* Vertices' neighbours one behind the other; false: no memory. */
static bool list_neighbours(const edges *e, int32_t **start, int32_t **neighbour)
{
    int32_t *s = calloc((size_t)e->n + 1, sizeof *s), *next = calloc((size_t)e->n + 1, sizeof *next);
    int32_t *list = calloc((size_t)e->m * 2 + 1, sizeof *list);
    *start = s;
    *neighbour = list;
    for (int32_t i = 0; s && next && list && i < e->m; i++) {
        s[e->from[i] + 1]++;
        s[e->to[i] + 1]++;
    }
    for (int32_t v = 0; s && next && list && v < e->n; v++) {
        s[v + 1] += s[v];
        next[v] = s[v];
    }
    for (int32_t i = 0; s && next && list && i < e->m; i++) {
        list[next[e->from[i]]++] = e->to[i];
        list[next[e->to[i]]++] = e->from[i];
    }
    bool good = s && next && list;
    free(next);
    return good;
}

static bool show_components(sn_context *cx, const edges *e)
{
    int32_t *start = NULL, *neighbour = NULL, *label = calloc((size_t)e->n, sizeof *label), rounds = 0, found = 0;
    bool good = list_neighbours(e, &start, &neighbour) && label;
    sn_program *program = good ? sn_compile(cx, COMPONENTS_SIGNATURE, components) : NULL;
    double from = clock_seconds();
    if (good && sn_call(program, sn_in(start, e->n + 1), sn_in(neighbour, 2 * e->m), sn_into(label, e->n),
                        sn_value(&rounds)) != SN_OK) {
        fprintf(stderr, "%s\n", sn_message(cx));
        good = false;
    }
    for (int32_t v = 0; good && v < e->n; v++)
        found += label[v] == v;
    if (good)
        printf("%d components of %d vertices and %d edges, after %d rounds, in %.1f ms\n", found, e->n, e->m, rounds,
               (clock_seconds() - from) * 1e3);
    sn_drop(program);
    free(start);
    free(neighbour);
    free(label);
    return good;
}

static bool show_paths(sn_context *cx, const edges *e)
{
    size_t n = (size_t)e->n;
    float *length = malloc(n * n * sizeof *length), *path = malloc(n * n * sizeof *path), longest = 0;
    bool good = length && path;
    for (size_t i = 0; good && i < n * n; i++)
        length[i] = i / n == i % n ? 0 : INFINITY;
    for (int32_t i = 0; good && i < e->m; i++)
        length[(size_t)e->from[i] * n + (size_t)e->to[i]] = length[(size_t)e->to[i] * n + (size_t)e->from[i]] =
            e->from[i] == e->to[i] ? 0 : 1;
    sn_program *program = good ? sn_compile(cx, PATHS_SIGNATURE, paths) : NULL;
    double from = clock_seconds();
    if (good && sn_call(program, sn_in(length, e->n, e->n), sn_into(path, e->n, e->n)) != SN_OK) {
        fprintf(stderr, "%s\n", sn_message(cx));
        good = false;
    }
    for (size_t i = 0; good && i < n * n; i++)
        longest = isfinite(path[i]) && path[i] > longest ? path[i] : longest;
    if (good)
        printf("the longest shortest path has %.0f edges, found in %.1f ms\n", (double)longest,
               (clock_seconds() - from) * 1e3);
    sn_drop(program);
    free(length);
    free(path);
    return good;
}

int main(int argc, char **argv)
{
    long n = 1000, m = 1200;
    if (argc > 3 || (argc > 1 && !argument_whole(argv[1], "vertices", 1, 10000000, &n)) ||
        (argc > 2 && !argument_whole(argv[2], "edges", 0, 50000000, &m))) {
        fprintf(stderr, "usage: graph [vertices [edges]]\n");
        return 2;
    }
    edges e = {(int32_t)n, (int32_t)m, calloc((size_t)m + 1, sizeof *e.from), calloc((size_t)m + 1, sizeof *e.to)};
    uint32_t seed = 1;
    for (int32_t i = 0; e.from && e.to && i < e.m; i++) {
        seed = seed * 1664525 + 1013904223;
        e.from[i] = (int32_t)((uint64_t)seed * (uint64_t)n >> 32);
        seed = seed * 1664525 + 1013904223;
        e.to[i] = (int32_t)((uint64_t)seed * (uint64_t)n >> 32);
    }
    sn_context *cx = e.from && e.to ? sn_open(NULL) : NULL;
    bool good = cx && show_components(cx, &e) && (n > MOST_PAIRS || show_paths(cx, &e));
    sn_close(cx);
    free(e.from);
    free(e.to);
    return !good;
}
