/* Clusters and edges for machines: JSON, and a graph for Graphviz. */
#include "loop/show.h"

#include <string.h>

static const char *const class_name[] = {[L_CLASS_PLAIN] = "loop",
                                         [L_CLASS_STENCIL] = "stencil loop",
                                         [L_CLASS_FOLD] = "fold loop",
                                         [L_CLASS_ROW] = "row loop",
                                         [L_CLASS_SORT] = "sort",
                                         [L_CLASS_CONTROL] = "control",
                                         [L_CLASS_PERMUTE] = "permute loop",
                                         [L_CLASS_SEGMENT] = "segment loop",
                                         [L_CLASS_TILES] = "tile loop"};

/* The words of the JSON form: fixed, unlike the sentences of l_why_text. */
static const char *const answer_name[] = {
    [L_FUSED_DELAYED] = "delayed", [L_FUSED_REGISTER] = "register", [L_FUSED_ROWS] = "rows",
    [L_NOT_INPUT] = "input",       [L_NOT_RATE] = "rate",           [L_NOT_RANDOM] = "random",
    [L_NOT_AFTER] = "after",       [L_NOT_COST] = "cost",           [L_NOT_CAP] = "cap",
    [L_NOT_SORT] = "sort",         [L_NOT_FORCED] = "forced",       [L_NOT_CLASS] = "class",
    [L_NOT_BOUNDARY] = "boundary", [L_NOT_BLOCK] = "block",         [L_NOT_ENABLED] = "disabled",
    [L_FUSED_SWEEP] = "sweep",     [L_FUSED_SEGMENT] = "segment",   [L_NOT_ROW] = "row",
    [L_NOT_CONTROL] = "control",   [L_NOT_DEFAULTS] = "defaults",   [L_NOT_PERMUTE] = "permute",
    [L_FUSED_TILE] = "tile",
};

/* A string in quotes, as JSON and Graphviz both read it. Bytes that are not ASCII are taken for UTF-8. */
static void print_quoted(const char *s, text *out)
{
    text_add(out, "\"");
    for (; s && *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            text_printf(out, "\\u%04x", c);
        else
            text_add_n(out, s, 1);
    }
    text_add(out, "\"");
}

/* --- JSON --- */

/* Where the elements of an input come from. */
static void json_origin(const l_shown *s, ir_id id, text *out)
{
    static const char *const word[] = {[L_ARGUMENT] = "argument", [L_DATA] = "data"};
    text_printf(out, ", \"origin\": \"%s\"", word[l_origin_of(s, id)]);
    if (s->argument[id])
        text_printf(out, ", \"argument\": %u", s->argument[id]);
}

static void json_array(const l_shown *s, ir_id id, text *out)
{
    const l_program *l = s->l;
    const ir_site *site = &l->ir->site.at[ir_at(l->ir, id)->site];
    text_printf(out, "    {\"id\": %u, \"operation\": ", l->number[id]);
    print_quoted(ir_info(l->ir, id)->name, out);
    if (ir_at(l->ir, id)->site && site->file) {
        text_add(out, ", \"file\": ");
        print_quoted(site->file, out);
        text_printf(out, ", \"line\": %u", site->line);
    }
    if (ir_at(l->ir, id)->kind == IR_INPUT)
        json_origin(s, id, out);
    if (s->whole[id] != id)
        text_printf(out, ", \"step_of\": %u", l->number[s->whole[id]]);
    if (l->cluster_of[id])
        text_printf(out, ", \"cluster\": %u", l->cluster_of[id] - 1);
    text_printf(out, ", \"in_memory\": %s}", l->manifest[id] ? "true" : "false");
}

static void json_cluster(const l_program *l, uint32_t number, text *out)
{
    const l_cluster *c = &l->cluster.at[number];
    text_printf(out, "    {\"kind\": \"%s\", \"ordered\": %s, \"over\": [", class_name[c->class],
                (c->class == L_CLASS_FOLD || c->class == L_CLASS_SEGMENT || c->class == L_CLASS_TILES) && c->ordered
                    ? "true"
                    : "false");
    for (unsigned d = 0; d < c->rank; d++) {
        text extent;
        text_init(&extent, out->arena);
        l_print_extent(l, c->shape[d], &extent);
        text_add(out, d ? ", " : "");
        print_quoted(extent.at, out);
    }
    text_add(out, "], \"computes\": [");
    for (uint32_t i = 0; i < c->op.n; i++)
        text_printf(out, "%s%u", i ? ", " : "", l->number[c->op.at[i].term]);
    if (c->class == L_CLASS_ROW) {
        text_add(out, "], \"sweeps\": [");
        for (uint32_t i = 0; i < c->op.n; i++)
            text_printf(out, "%s%u", i ? ", " : "", c->op.at[i].sweep);
    }
    text_add(out, "], \"reads\": [");
    for (uint32_t i = 0; i < c->reads.n; i++)
        text_printf(out, "%s%u", i ? ", " : "", l->number[c->reads.at[i]]);
    text_add(out, "]}");
}

/* Everything, steps included. */
void l_print_json(const l_program *l, text *out)
{
    const l_shown *s = l_show(l, out->arena);
    bool *used = arena_array(out->arena, bool, l->nodes);
    const char *comma = "";
    for (uint32_t i = 0; i < l->edge.n; i++)
        used[l->edge.at[i].from] = used[l->edge.at[i].to] = used[s->whole[l->edge.at[i].from]] = true;
    text_add(out, "{\n  \"arrays\": [\n");
    for (ir_id id = 1; id < l->nodes; id++) {
        if (!l->number[id] || !(used[id] || l->cluster_of[id]))
            continue;
        text_add(out, comma);
        json_array(s, id, out);
        comma = ",\n";
    }
    text_add(out, "\n  ],\n  \"clusters\": [\n");
    for (uint32_t i = 0; i < l->cluster.n; i++) {
        text_add(out, i ? ",\n" : "");
        json_cluster(l, i, out);
    }
    text_add(out, "\n  ],\n  \"edges\": [\n");
    for (uint32_t i = 0; i < l->edge.n; i++) {
        const l_edge *e = &l->edge.at[i];
        text_printf(out, "%s    {\"from\": %u, \"to\": %u, \"fused\": %s, \"answer\": \"%s\"}", i ? ",\n" : "",
                    l->number[e->from], l->number[e->to], l_is_fused(e->why) ? "true" : "false", answer_name[e->why]);
    }
    text_add(out, "\n  ]\n}\n");
}

/* --- Graphviz --- */

typedef struct graph {
    const l_shown *s;
    bool *drawn;     /* per array node: an edge begins or ends there, or a cluster computes it */
    bool *in_memory; /* also: a step of it is */
    uint32_t *place; /* 1 + its cluster, or that of its only consumers if it is delayed into one cluster; 0: outside */
} graph;

static void find_nodes(graph *g, arena *a)
{
    const l_program *l = g->s->l;
    g->drawn = arena_array(a, bool, l->nodes);
    g->in_memory = arena_array(a, bool, l->nodes);
    g->place = arena_array(a, uint32_t, l->nodes);
    for (ir_id id = 1; id < l->nodes; id++) {
        if (!ir_is_array(l->ir, id) || !l->number[id])
            continue;
        ir_id whole = g->s->whole[id];
        g->drawn[whole] |= l->cluster_of[id] != 0;
        g->in_memory[whole] |= l->manifest[id];
        if (l->cluster_of[id])
            g->place[whole] = l->cluster_of[id];
    }
    for (uint32_t i = 0; i < g->s->edge.n; i++)
        g->drawn[g->s->edge.at[i].from] = g->drawn[g->s->edge.at[i].to] = true;
}

/* Edges come in order of their consumers, so backwards every consumer is placed before what it consumes. */
static void place_nodes(graph *g, arena *a)
{
    bool *several = arena_array(a, bool, g->s->l->nodes);
    for (uint32_t i = g->s->edge.n; i-- > 0;) {
        const l_edge *e = &g->s->edge.at[i];
        if (e->why != L_FUSED_DELAYED || several[e->from])
            continue;
        several[e->from] = several[e->to] || (g->place[e->from] && g->place[e->from] != g->place[e->to]);
        g->place[e->from] = several[e->from] ? 0 : g->place[e->to];
    }
}

static void dot_node(const graph *g, ir_id id, text *out)
{
    text label;
    text_init(&label, out->arena);
    l_print_name(g->s, id, true, &label);
    text_printf(out, "    a%u [label=", g->s->l->number[id]);
    print_quoted(label.at, out);
    text_add(out, g->in_memory[id] ? ", shape=box];\n" : "];\n");
}

static void dot_cluster(const l_program *l, uint32_t number, text *out)
{
    const l_cluster *c = &l->cluster.at[number];
    text label;
    text_init(&label, out->arena);
    text_printf(&label, "%u: %s over ", number, class_name[c->class]);
    l_print_rate(l, c, &label);
    text_printf(out, "  subgraph cluster_%u {\n    label=", number);
    print_quoted(label.at, out);
    text_add(out, ";\n");
}

/* the nodes of each place, in order: next[] chains them, first[] begins the chains */
static void dot_nodes(const graph *g, text *out)
{
    const l_program *l = g->s->l;
    ir_id *first = arena_array(out->arena, ir_id, l->cluster.n + 1);
    ir_id *next = arena_array(out->arena, ir_id, l->nodes);
    for (ir_id id = l->nodes; id-- > 1;)
        if (g->drawn[id]) {
            next[id] = first[g->place[id]];
            first[g->place[id]] = id;
        }
    for (uint32_t p = 0; p <= l->cluster.n; p++) {
        if (p)
            dot_cluster(l, p - 1, out);
        for (ir_id id = first[p]; id; id = next[id])
            dot_node(g, id, out);
        text_add(out, p ? "  }\n" : "");
    }
}

void l_print_dot(const l_program *l, text *out)
{
    graph g = {.s = l_show(l, out->arena)};
    find_nodes(&g, out->arena);
    place_nodes(&g, out->arena);
    text_add(out, "digraph program {\n");
    dot_nodes(&g, out);
    for (uint32_t i = 0; i < g.s->edge.n; i++) {
        const l_edge *e = &g.s->edge.at[i];
        text_printf(out, "  a%u -> a%u", l->number[e->from], l->number[e->to]);
        if (e->why == L_NOT_INPUT)
            text_add(out, " [color=gray]");
        else if (!l_is_fused(e->why))
            text_printf(out, " [color=red, label=\"%s\"]", answer_name[e->why]);
        text_add(out, ";\n");
    }
    text_add(out, "}\n");
}
