/* Clusters and edges as text, for explain and for tests of structure. */
#include "loop/cluster.h"

const char *l_why_text(l_why why)
{
    static const char *const sentence[] = {
        [L_FUSED_DELAYED] = "fused: computed where it is used",
        [L_FUSED_REGISTER] = "fused: one loop, passed in a register",
        [L_FUSED_ROWS] = "fused: one loop, neighbours kept in rows of shared memory",
        [L_NOT_INPUT] = "read: an argument of the program",
        [L_NOT_RATE] = "not fused: the two iterate over different extents",
        [L_NOT_RANDOM] = "not fused: read at computed indices, and too costly to recompute there",
        [L_NOT_AFTER] = "not fused: a fold must be complete before its result is used",
        [L_NOT_COST] = "not fused: computing it at each use costs more than memory",
        [L_NOT_CAP] = "not fused: the kernel would be too large",
        [L_NOT_FORCED] = "not fused: forced to memory by the program",
        [L_NOT_CLASS] = "not fused: the loops are of different kinds (combination tree, neighbourhood)",
        [L_NOT_BOUNDARY] = "not fused: a wrapped boundary needs far rows",
        [L_NOT_ENABLED] = "not fused: fusion is switched off",
    };
    return sentence[why];
}

static void print_name(const l_program *l, ir_id id, text *out)
{
    const ir_program *p = l->ir;
    const ir_array *info = ir_info(p, id);
    text_printf(out, "a%u", l->number[id]);
    if (info->name)
        text_printf(out, " %s", info->name);
    const ir_site *site = &p->site.at[ir_at(p, id)->site];
    if (!ir_at(p, id)->site || !site->file)
        return;
    const char *base = strrchr(site->file, '/');
    text_printf(out, " (%s:%u)", base ? base + 1 : site->file, site->line);
}

static void print_cluster(const l_program *l, uint32_t number, text *out)
{
    static const char *const class[] = {"loop", "stencil loop", "fold loop"};
    const l_cluster *c = &l->cluster.at[number];
    text_printf(out, "cluster %u: %s%s over [", number, c->class == L_CLASS_FOLD && c->ordered ? "ordered " : "", class[c->class]);
    for (unsigned d = 0; d < c->rank; d++) {
        text_add(out, d ? ", " : "");
        ir_print_scalar(l->ir, c->shape[d], out);
    }
    text_add(out, "]\n");
    for (uint32_t i = 0; i < c->op.n; i++) {
        const l_op *op = &c->op.at[i];
        text_add(out, "    ");
        print_name(l, op->term, out);
        text_printf(out, "%s%s\n", op->stored ? ", stored" : "", op->staged ? ", kept in rows" : "");
    }
    for (uint32_t i = 0; i < c->reads.n; i++) {
        text_add(out, "    reads ");
        print_name(l, c->reads.at[i], out);
        text_add(out, "\n");
    }
}

void l_print_clusters(const l_program *l, text *out)
{
    for (uint32_t i = 0; i < l->cluster.n; i++)
        print_cluster(l, i, out);
}

void l_print_edges(const l_program *l, text *out)
{
    for (uint32_t i = 0; i < l->edge.n; i++) {
        print_name(l, l->edge.at[i].from, out);
        text_add(out, " -> ");
        print_name(l, l->edge.at[i].to, out);
        text_printf(out, ": %s\n", l_why_text(l->edge.at[i].why));
    }
}

void l_print(const l_program *l, text *out)
{
    l_print_clusters(l, out);
    l_print_edges(l, out);
}
