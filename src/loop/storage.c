/* What clusters keep in memory and read from there. */
#include "loop/fusing.h"

/* A fold's result always goes to memory, but for one that only its own rows need. */
static bool always_stored(const l_fusing *c, ir_id id)
{
    uint32_t at = c->out->cluster_of[id];
    switch (ir_at(c->p, id)->kind) {
    case IR_INPUT:
    case IR_FORCE:
    case IR_PACK:
    case IR_SORT:
    case IR_PART:
    case IR_PERMUTE:
        return true;
    case IR_FOLD:
    case IR_FOLD_SEG:
        return !at || (c->out->cluster.at[at - 1].class != L_CLASS_ROW &&
                       c->out->cluster.at[at - 1].class != L_CLASS_SEGMENT &&
                       c->out->cluster.at[at - 1].class != L_CLASS_TILES);
    default:
        return false;
    }
}

/* arrays that somebody reads from memory */
static void find_manifest(l_fusing *c)
{
    l_program *out = c->out;
    uint32_t number = 0, parts = 0;
    for (ir_id id = 1; id < c->out->nodes; id++) {
        const l_node *n = l_at(c->node, id);
        if (!ir_is_array(c->p, id) || (!n->live && ir_at(c->p, id)->kind != IR_INPUT))
            continue;
        out->number[id] = ++number;
        out->manifest[id] |= n->output || n->uses[L_HOST] || always_stored(c, id);
        for (uint32_t i = 0; n->anchor && i < n->dep.n; i++) {
            ir_id from = n->dep.at[i].array;
            if (out->cluster_of[from] != out->cluster_of[id] && !l_knows_segment(c, from, id))
                out->manifest[from] = true;
        }
    }
    for (uint32_t k = 0; k < c->p->output.n; k++)
        parts += ir_info(c->p, c->p->output.at[k])->components;
    for (uint32_t k = 0; k < parts; k++)
        out->manifest[out->part[k].array] = true;
}

static void add_read(l_fusing *c, l_cluster *cluster, ir_id from)
{
    for (uint32_t r = 0; r < cluster->reads.n; r++)
        if (cluster->reads.at[r] == from)
            return;
    vec_push(c->p->arena, &cluster->reads, from);
}

static void add_number(l_fusing *c, l_cluster *cluster, ir_id number)
{
    for (uint32_t i = 0; i < cluster->numbers.n; i++)
        if (cluster->numbers.at[i] == number)
            return;
    vec_push(c->p->arena, &cluster->numbers, number);
}

/* Segment loops read offsets, or what these are made of, whether an operation asks for them or not. */
static void read_offsets(l_fusing *c, l_cluster *cluster)
{
    const l_node *n = cluster->segments ? l_at(c->node, cluster->segments) : NULL;
    bool stands = n && (n->anchor || ir_at(c->p, cluster->segments)->kind == IR_INPUT);
    if (stands) {
        c->out->manifest[cluster->segments] = true;
        add_read(c, cluster, cluster->segments);
    }
    for (uint32_t i = 0; n && !stands && i < n->dep.n; i++) {
        c->out->manifest[n->dep.at[i].array] = true;
        add_read(c, cluster, n->dep.at[i].array);
    }
}

static void list_reads(l_fusing *c, l_cluster *cluster, uint32_t number)
{
    for (uint32_t k = 0; k < cluster->op.n; k++) {
        const l_node *n = l_at(c->node, cluster->op.at[k].term);
        for (uint32_t d = 0; d < n->dep.n; d++) {
            ir_id from = n->dep.at[d].array;
            if (n->dep.at[d].access == L_DEFAULTS)
                continue;
            if (l_knows_segment(c, from, cluster->op.at[k].term)) {
                add_number(c, cluster, from);
                continue;
            }
            if (c->out->cluster_of[from] == number) {
                for (uint32_t s = 0; s < cluster->op.n && cluster->class == L_CLASS_STENCIL; s++)
                    cluster->op.at[s].staged |= cluster->op.at[s].term == from;
                continue;
            }
            add_read(c, cluster, from);
        }
    }
    read_offsets(c, cluster);
    cluster->reads_per_element = cluster->reads.n;
}

/* what must be in memory, and what is read from there */
void l_find_storage(l_fusing *c)
{
    find_manifest(c);
    for (uint32_t i = 0; i < c->out->cluster.n; i++) {
        l_cluster *cluster = &c->out->cluster.at[i];
        if (cluster->class == L_CLASS_ROW || cluster->class == L_CLASS_SEGMENT)
            l_rows_keep(c->out, c->options, c->node, cluster, c->slot);
        for (uint32_t k = 0; k < cluster->op.n; k++)
            cluster->op.at[k].stored = c->out->manifest[cluster->op.at[k].term];
        list_reads(c, cluster, i + 1);
    }
}
