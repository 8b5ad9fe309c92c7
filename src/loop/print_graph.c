/* Clusters and edges for machines: JSON, and a graph for Graphviz. */
#include "loop/cluster.h"

#include <string.h>

static const char *const class_name[] = {
    [L_CLASS_PLAIN] = "loop", [L_CLASS_STENCIL] = "stencil loop", [L_CLASS_FOLD] = "fold loop"};

/* The words of the JSON form: fixed, unlike the sentences of l_why_text. */
static const char *const answer_name[] = {
    [L_FUSED_DELAYED] = "delayed", [L_FUSED_REGISTER] = "register", [L_FUSED_ROWS] = "rows",
    [L_NOT_INPUT] = "input",       [L_NOT_RATE] = "rate",           [L_NOT_RANDOM] = "random",
    [L_NOT_AFTER] = "after",       [L_NOT_COST] = "cost",           [L_NOT_CAP] = "cap",
    [L_NOT_FORCED] = "forced",     [L_NOT_CLASS] = "class",         [L_NOT_BOUNDARY] = "boundary",
    [L_NOT_ENABLED] = "disabled",
};

static bool is_fused(l_why why)
{
    return why == L_FUSED_DELAYED || why == L_FUSED_REGISTER || why == L_FUSED_ROWS;
}

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

static bool is_shown(const l_program *l, const bool *used, ir_id id)
{
    return l->number[id] && (used[id] || l->cluster_of[id]);
}

/* per node: an edge begins or ends there */
static bool *used_nodes(const l_program *l, arena *a)
{
    bool *used = arena_alloc(a, l->nodes * sizeof(bool));
    for (uint32_t i = 0; i < l->edge.n; i++)
        used[l->edge.at[i].from] = used[l->edge.at[i].to] = true;
    return used;
}

/* --- JSON --- */

static void json_array(const l_program *l, ir_id id, text *out)
{
    const ir_array *info = ir_info(l->ir, id);
    const ir_site *site = &l->ir->site.at[ir_at(l->ir, id)->site];
    text_printf(out, "    {\"id\": %u, \"operation\": ", l->number[id]);
    print_quoted(info->name, out);
    if (ir_at(l->ir, id)->site && site->file) {
        text_add(out, ", \"file\": ");
        print_quoted(site->file, out);
        text_printf(out, ", \"line\": %u", site->line);
    }
    if (l->cluster_of[id])
        text_printf(out, ", \"cluster\": %u", l->cluster_of[id] - 1);
    text_printf(out, ", \"in_memory\": %s}", l->manifest[id] ? "true" : "false");
}

static void json_cluster(const l_program *l, uint32_t number, text *out)
{
    const l_cluster *c = &l->cluster.at[number];
    text_printf(out, "    {\"kind\": \"%s\", \"ordered\": %s, \"over\": [", class_name[c->class],
                c->class == L_CLASS_FOLD && c->ordered ? "true" : "false");
    for (unsigned d = 0; d < c->rank; d++) {
        text extent;
        text_init(&extent, out->arena);
        ir_print_scalar(l->ir, c->shape[d], &extent);
        text_add(out, d ? ", " : "");
        print_quoted(extent.at, out);
    }
    text_add(out, "], \"computes\": [");
    for (uint32_t i = 0; i < c->op.n; i++)
        text_printf(out, "%s%u", i ? ", " : "", l->number[c->op.at[i].term]);
    text_add(out, "], \"reads\": [");
    for (uint32_t i = 0; i < c->reads.n; i++)
        text_printf(out, "%s%u", i ? ", " : "", l->number[c->reads.at[i]]);
    text_add(out, "]}");
}

void l_print_json(const l_program *l, text *out)
{
    const bool *used = used_nodes(l, out->arena);
    const char *comma = "";
    text_add(out, "{\n  \"arrays\": [\n");
    for (ir_id id = 1; id < l->nodes; id++) {
        if (!is_shown(l, used, id))
            continue;
        text_add(out, comma);
        json_array(l, id, out);
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
                    l->number[e->from], l->number[e->to], is_fused(e->why) ? "true" : "false", answer_name[e->why]);
    }
    text_add(out, "\n  ]\n}\n");
}

/* --- Graphviz --- */

/* Where a node is drawn: 1 + its cluster, or that of its only consumers if it is delayed into one cluster; 0: outside.
 * Edges come in order of their consumers, so backwards every consumer is placed before what it consumes. */
static uint32_t *places(const l_program *l, arena *a)
{
    uint32_t *place = arena_alloc(a, l->nodes * sizeof(uint32_t));
    bool *several = arena_alloc(a, l->nodes * sizeof(bool));
    memcpy(place, l->cluster_of, l->nodes * sizeof(uint32_t));
    for (uint32_t i = l->edge.n; i-- > 0;) {
        const l_edge *e = &l->edge.at[i];
        if (e->why != L_FUSED_DELAYED || several[e->from])
            continue;
        several[e->from] = several[e->to] || (place[e->from] && place[e->from] != place[e->to]);
        place[e->from] = several[e->from] ? 0 : place[e->to];
    }
    return place;
}

static void dot_node(const l_program *l, ir_id id, text *out)
{
    const ir_site *site = &l->ir->site.at[ir_at(l->ir, id)->site];
    const char *name = ir_info(l->ir, id)->name, *file = ir_at(l->ir, id)->site ? site->file : NULL;
    const char *base = file && strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    text label;
    text_init(&label, out->arena);
    text_printf(&label, "%s a%u", name ? name : "", l->number[id]);
    if (base)
        text_printf(&label, " (%s:%u)", base, site->line);
    text_printf(out, "    a%u [label=", l->number[id]);
    print_quoted(label.at, out);
    text_add(out, l->manifest[id] ? ", shape=box];\n" : "];\n");
}

static void dot_cluster(const l_program *l, uint32_t number, text *out)
{
    const l_cluster *c = &l->cluster.at[number];
    text label;
    text_init(&label, out->arena);
    text_printf(&label, "%u: %s over [", number, class_name[c->class]);
    for (unsigned d = 0; d < c->rank; d++) {
        text_add(&label, d ? ", " : "");
        ir_print_scalar(l->ir, c->shape[d], &label);
    }
    text_add(&label, "]");
    text_printf(out, "  subgraph cluster_%u {\n    label=", number);
    print_quoted(label.at, out);
    text_add(out, ";\n");
}

/* the nodes of each place, in order: next[] chains them, first[] begins the chains */
static void dot_nodes(const l_program *l, text *out)
{
    const bool *used = used_nodes(l, out->arena);
    const uint32_t *place = places(l, out->arena);
    ir_id *first = arena_alloc(out->arena, (l->cluster.n + 1) * sizeof(ir_id));
    ir_id *next = arena_alloc(out->arena, l->nodes * sizeof(ir_id));
    for (ir_id id = l->nodes; id-- > 1;)
        if (is_shown(l, used, id)) {
            next[id] = first[place[id]];
            first[place[id]] = id;
        }
    for (uint32_t p = 0; p <= l->cluster.n; p++) {
        if (p)
            dot_cluster(l, p - 1, out);
        for (ir_id id = first[p]; id; id = next[id])
            dot_node(l, id, out);
        text_add(out, p ? "  }\n" : "");
    }
}

void l_print_dot(const l_program *l, text *out)
{
    text_add(out, "digraph program {\n");
    dot_nodes(l, out);
    for (uint32_t i = 0; i < l->edge.n; i++) {
        const l_edge *e = &l->edge.at[i];
        text_printf(out, "  a%u -> a%u", l->number[e->from], l->number[e->to]);
        if (e->why == L_NOT_INPUT)
            text_add(out, " [color=gray]");
        else if (!is_fused(e->why))
            text_printf(out, " [color=red, label=\"%s\"]", answer_name[e->why]);
        text_add(out, ";\n");
    }
    text_add(out, "}\n");
}
