/* Typed fusion: anchors grouped by (rate, level of fusion-preventing edges), connected groups become clusters. */
#include "loop/cluster.h"

#include "loop/uses.h"
#include "opt/rewrite.h"

#include <stdlib.h>

typedef struct clusters {
    ir_program *p;
    const l_options *options;
    l_program *out;
    l_nodes *node;
    uint32_t *level; /* per anchor */
    ir_id *set;      /* union-find over anchors */
    l_class *class;  /* per anchor */
} clusters;

static bool same_shape(const ir_array *x, const ir_array *y)
{
    return x->rank == y->rank && !memcmp(x->shape, y->shape, x->rank * sizeof(ir_id));
}

/* the iteration space: a fold runs over its source */
static const ir_array *rate_of(const ir_program *p, ir_id anchor)
{
    const ir_array *info = ir_info(p, anchor);
    return ir_at(p, anchor)->kind == IR_FOLD ? ir_info(p, info->input[0]) : info;
}

static bool wraps(const ir_program *p, ir_id reader, ir_id from)
{
    const ir_array *info = ir_info(p, reader);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++)
        if (info->input[i] == from && info->stencil[i].boundary == IR_WRAP)
            return true;
    return false;
}

/* May anchor `to`, which reads `from`, run in the loop that computes `from`? */
static bool fusable(const clusters *c, ir_id from, ir_id to, l_access access, l_why *why)
{
    const ir_program *p = c->p;
    ir_kind kind = (ir_kind)ir_at(p, from)->kind;
    if (kind == IR_INPUT)
        return *why = L_NOT_INPUT, false;
    if (!c->options->fuse)
        return *why = L_NOT_ENABLED, false;
    if (kind == IR_FOLD)
        return *why = L_NOT_AFTER, false;
    if (kind == IR_FORCE)
        return *why = L_NOT_FORCED, false;
    if (!same_shape(ir_info(p, from), rate_of(p, to)))
        return *why = L_NOT_RATE, false;
    if (access == L_RANDOM || access == L_VIEW || access == L_HOST)
        return *why = L_NOT_RANDOM, false;
    if (c->class[from] != c->class[to] && !(c->class[from] == L_CLASS_PLAIN && c->class[to] == L_CLASS_FOLD))
        return *why = L_NOT_CLASS, false;
    if (c->class[to] == L_CLASS_STENCIL && ir_info(p, to)->rank > 2)
        return *why = L_NOT_CLASS, false;
    if (access == L_HALO && c->class[to] != L_CLASS_STENCIL)
        return *why = L_NOT_CLASS, false;
    return *why = access == L_HALO ? L_FUSED_ROWS : L_FUSED_REGISTER, true;
}

static ir_id find(clusters *c, ir_id a)
{
    while (c->set[a] != a)
        a = c->set[a] = c->set[c->set[a]];
    return a;
}

static void join(clusters *c, ir_id a, ir_id b)
{
    a = find(c, a);
    b = find(c, b);
    if (a < b)
        c->set[b] = a;
    else
        c->set[a] = b;
}

static l_class class_of(const clusters *c, ir_id id)
{
    if (ir_at(c->p, id)->kind == IR_FOLD)
        return L_CLASS_FOLD;
    const l_node *n = l_at(c->node, id);
    if (n->stencil)
        return L_CLASS_STENCIL;
    /* what follows a stencil at the same index stays in its loop */
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array;
        if (n->dep.at[i].access == L_SAME && l_at(c->node, from)->anchor && c->class[from] == L_CLASS_STENCIL &&
            ir_info(c->p, id)->rank <= 2 && same_shape(ir_info(c->p, from), ir_info(c->p, id)))
            return L_CLASS_STENCIL;
    }
    return L_CLASS_PLAIN;
}

static uint64_t key_of(const clusters *c, ir_id id)
{
    const ir_array *rate = rate_of(c->p, id);
    uint64_t h = hash_bytes(rate->shape, rate->rank * sizeof(ir_id), rate->rank);
    return hash_mix(hash_mix(h, c->level[id]), c->class[id] == L_CLASS_STENCIL);
}

static void assign_levels(clusters *c)
{
    map64 reader = {0}; /* (key, array) -> 1 + an anchor that reads the array there */
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!l_at(c->node, id)->anchor)
            continue;
        const l_node *n = l_at(c->node, id);
        c->set[id] = id;
        c->class[id] = class_of(c, id);
        for (uint32_t i = 0; i < n->dep.n; i++) {
            ir_id from = n->dep.at[i].array;
            if (ir_at(c->p, from)->kind == IR_INPUT)
                continue;
            l_why why;
            uint32_t level = c->level[from] + !fusable(c, from, id, n->dep.at[i].access, &why);
            c->level[id] = level > c->level[id] ? level : c->level[id];
        }
        uint64_t key = key_of(c, id);
        for (uint32_t i = 0; i < n->dep.n && c->options->fuse; i++) {
            ir_id from = n->dep.at[i].array;
            l_why why;
            if (l_at(c->node, from)->anchor && c->level[from] == c->level[id] &&
                fusable(c, from, id, n->dep.at[i].access, &why))
                join(c, from, id);
            if (n->dep.at[i].access == L_RANDOM)
                continue;
            uint64_t k = hash_mix(key, from);
            uint32_t other = map64_get(&reader, k);
            if (other)
                join(c, other, id);
            else
                map64_put(c->p->arena, &reader, k, id);
        }
    }
}

/* --- groups that share nothing --- */

/* More streams than this make prefetchers and translation caches work, and dear bodies have enough to do each: what one
 * launch less saves (a microsecond, some ten where threads must wake up) is for small loops. */
enum { MOST_STREAMS = 8, MOST_TOGETHER = 100 };

typedef struct load { /* of a group, at its root */
    uint32_t streams, size;
} load;

static void add_load(const clusters *c, load *to, ir_id id)
{
    const l_node *n = l_at(c->node, id);
    to->streams += n->dep.n + ir_info(c->p, id)->components;
    to->size += n->size;
}

/* Small loops of one rate and level become one even if they have no array in common. */
static void join_small(clusters *c)
{
    map64 open = {0}; /* key -> root of the group that takes more */
    load *of = arena_alloc(c->p->arena, c->out->nodes * sizeof(*of));
    for (ir_id id = 1; id < c->out->nodes; id++)
        if (l_at(c->node, id)->anchor)
            add_load(c, &of[find(c, id)], id);
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!l_at(c->node, id)->anchor || find(c, id) != id || c->class[id] == L_CLASS_STENCIL)
            continue;
        uint64_t key = key_of(c, id);
        ir_id other = map64_get(&open, key);
        load both = {of[id].streams + of[other].streams, of[id].size + of[other].size};
        if (!other || both.streams > MOST_STREAMS || both.size > MOST_TOGETHER) {
            map64_put(c->p->arena, &open, key, id);
            continue;
        }
        join(c, other, id);
        of[other] = both;
    }
    arena_release(c->p->arena, of, c->out->nodes * sizeof(*of));
    map64_free(c->p->arena, &open);
}

static bool fold_ordered(const ir_program *p, ir_id id)
{
    return !(ir_at(p, id)->flags & IR_COMMUTES); /* as it was built: rewriting must not change the tree */
}

static bool fold_wide(const ir_program *p, ir_id id)
{
    const ir_array *info = ir_info(p, id);
    for (unsigned c = 0; c < info->components; c++)
        if (ir_type_size(info->type[c]) == 8)
            return true;
    return false;
}

static l_cluster *new_cluster(clusters *c, ir_id first)
{
    const ir_array *rate = rate_of(c->p, first);
    l_cluster fresh = {.rank = rate->rank, .level = c->level[first], .class = c->class[first]};
    memcpy(fresh.shape, rate->shape, sizeof(fresh.shape));
    vec_push(c->p->arena, &c->out->cluster, fresh);
    return &c->out->cluster.at[c->out->cluster.n - 1];
}

typedef struct group {
    uint32_t level;
    ir_id root;
    VEC(ir_id) anchor;
} group;

static int by_level(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return (x->root > y->root) - (x->root < y->root);
}

/* Does it read neighbours of what its loop has computed before? */
static bool is_stage(const clusters *c, ir_id id)
{
    const l_node *n = l_at(c->node, id);
    for (uint32_t i = 0; i < n->dep.n; i++)
        if (n->dep.at[i].access == L_HALO)
            return true;
    return false;
}

/* Folds with different trees go apart; a group over the cap, or of too many stages, is cut between anchors. All keep
 * the order of ids. */
static void emit_group(clusters *c, const group *g)
{
    uint32_t cap = c->options->cap ? c->options->cap : L_DEFAULT_CAP;
    bool *placed = arena_alloc(c->p->arena, g->anchor.n);
    for (uint32_t done = 0; done < g->anchor.n;) {
        l_cluster *cluster = NULL;
        uint32_t size = 0, stages = 0;
        bool folds = false;
        for (uint32_t i = 0; i < g->anchor.n; i++) {
            ir_id id = g->anchor.at[i];
            if (placed[i])
                continue;
            bool stage = is_stage(c, id);
            if (cluster && (size + l_at(c->node, id)->size > cap || stages + stage > L_MOST_STAGES)) {
                for (; i < g->anchor.n; i++)
                    l_at(c->node, g->anchor.at[i])->cut |= !placed[i];
                break;
            }
            bool fold = c->class[id] == L_CLASS_FOLD;
            bool ordered = fold && fold_ordered(c->p, id), wide = fold && fold_wide(c->p, id);
            if (fold && folds && cluster->ordered != ordered)
                continue;
            if (!cluster)
                cluster = new_cluster(c, id);
            if (fold) {
                cluster->class = L_CLASS_FOLD;
                cluster->ordered = ordered;
                cluster->wide |= wide;
                folds = true;
            }
            size += l_at(c->node, id)->size;
            stages += stage;
            cluster->flops += l_at(c->node, id)->flops;
            vec_push(c->p->arena, &cluster->op, ((l_op){.term = id, .kind = fold ? L_FOLD : L_ELEMENT}));
            c->out->cluster_of[id] = c->out->cluster.n;
            placed[i] = true;
            done++;
        }
    }
}

static void make_clusters(clusters *c)
{
    VEC(group) groups = {0};
    uint32_t *of = arena_alloc(c->p->arena, c->out->nodes * sizeof(uint32_t));
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!l_at(c->node, id)->anchor)
            continue;
        ir_id root = find(c, id);
        if (!of[root]) {
            vec_push(c->p->arena, &groups, ((group){.level = c->level[id], .root = root}));
            of[root] = groups.n;
        }
        vec_push(c->p->arena, &groups.at[of[root] - 1].anchor, id);
    }
    if (groups.n)
        qsort(groups.at, groups.n, sizeof(group), by_level);
    for (uint32_t i = 0; i < groups.n; i++)
        emit_group(c, &groups.at[i]);
    arena_release(c->p->arena, of, c->out->nodes * sizeof(*of));
    vec_free(c->p->arena, &groups);
}

void l_forget(l_program *l)
{
    arena *a = l->ir->arena;
    arena_release(a, l->cluster_of, l->nodes * sizeof(*l->cluster_of));
    arena_release(a, l->manifest, l->nodes * sizeof(*l->manifest));
    arena_release(a, l->number, l->nodes * sizeof(*l->number));
    vec_free(a, &l->cluster);
    vec_free(a, &l->edge);
}

/* what must be in memory, and what is read from there */
static void storage(clusters *c)
{
    l_program *out = c->out;
    uint32_t number = 0;
    for (ir_id id = 1; id < c->out->nodes; id++) {
        const l_node *n = l_at(c->node, id);
        if (!ir_is_array(c->p, id) || (!n->live && ir_at(c->p, id)->kind != IR_INPUT))
            continue;
        out->number[id] = ++number;
        if (ir_at(c->p, id)->kind == IR_INPUT || n->output || n->uses[L_HOST] || ir_at(c->p, id)->kind == IR_FOLD ||
            ir_at(c->p, id)->kind == IR_FORCE)
            out->manifest[id] = true;
        for (uint32_t i = 0; n->anchor && i < n->dep.n; i++) {
            ir_id from = n->dep.at[i].array;
            if (out->cluster_of[from] != out->cluster_of[id])
                out->manifest[from] = true;
        }
    }
    for (uint32_t i = 0; i < out->cluster.n; i++) {
        l_cluster *cluster = &out->cluster.at[i];
        for (uint32_t k = 0; k < cluster->op.n; k++)
            cluster->op.at[k].stored = out->manifest[cluster->op.at[k].term];
        for (uint32_t k = 0; k < cluster->op.n; k++) {
            const l_node *n = l_at(c->node, cluster->op.at[k].term);
            for (uint32_t d = 0; d < n->dep.n; d++) {
                ir_id from = n->dep.at[d].array;
                if (out->cluster_of[from] == i + 1) {
                    for (uint32_t s = 0; s < cluster->op.n && cluster->class == L_CLASS_STENCIL; s++)
                        cluster->op.at[s].staged |= cluster->op.at[s].term == from;
                    continue;
                }
                bool known = false;
                for (uint32_t r = 0; r < cluster->reads.n && !known; r++)
                    known = cluster->reads.at[r] == from;
                if (!known)
                    vec_push(c->p->arena, &cluster->reads, from);
            }
        }
        cluster->reads_per_element = cluster->reads.n;
    }
}

/* the cluster a node is computed in: its own, or that of the anchor it is delayed into */
static uint32_t home(const clusters *c, ir_id id)
{
    while (id && !l_at(c->node, id)->anchor)
        id = l_at(c->node, id)->user > id ? l_at(c->node, id)->user : 0;
    return id;
}

/* Is it computed nowhere, as the results made of it are components of what is in memory? */
static bool only_picked(const clusters *c, ir_id id)
{
    while (!l_at(c->node, id)->picked && l_at(c->node, id)->user > id)
        id = l_at(c->node, id)->user;
    return l_at(c->node, id)->picked;
}

static bool reads(const clusters *c, ir_id anchor, ir_id from, l_access access)
{
    const l_node *n = l_at(c->node, anchor);
    for (uint32_t i = 0; i < n->dep.n; i++)
        if (n->dep.at[i].array == from && n->dep.at[i].access == access)
            return true;
    return false;
}

/* Does scalar code of `to` read `from`, wherever it likes? */
static bool reads_in_code(const clusters *c, ir_id from, ir_id to)
{
    const ir_fn *fn = ir_info(c->p, to)->fn;
    opt_ids ids = {0};
    bool found = false;
    if (fn)
        opt_reach(c->p, c->p->arena, fn->results, fn->result, &ids);
    for (uint32_t i = 0; i < ids.n && !found; i++)
        found = ir_at(c->p, ids.at[i])->kind == IR_READ && ir_at(c->p, ids.at[i])->array == from;
    vec_free(c->p->arena, &ids);
    return found;
}

/* Does `to` read only what belongs to its own row: the first indices of `from`, which it shares? */
static bool row_step(const clusters *c, ir_id from, ir_id to)
{
    const ir_program *p = c->p;
    const ir_array *info = ir_info(p, to);
    ir_kind kind = (ir_kind)ir_at(p, to)->kind;
    bool same = kind == IR_MAP || kind == IR_FOLD || kind == IR_FORCE, found = false;
    for (uint32_t i = 0; i < info->inputs; i++)
        found |= info->input[i] == from;
    if (!found || (!same && kind != IR_BACKPERMUTE))
        return false;
    for (unsigned d = 0; d < ir_info(p, from)->rank && !same; d++)
        if (info->fn->result[d] != info->fn->param[d])
            return false;
    return !reads_in_code(c, from, to);
}

/* Does everything between a fold of rows and the anchor that `to` is delayed into keep to the rows? */
static bool row_by_row(const clusters *c, ir_id fold, ir_id to)
{
    if (!ir_info(c->p, fold)->rank)
        return false;
    for (ir_id from = fold;;) {
        if (!row_step(c, from, to))
            return false;
        if (l_at(c->node, to)->anchor)
            return true;
        from = to;
        to = l_at(c->node, to)->user;
        if (to <= from)
            return false;
    }
}

/* What stands in the way, where what was found first is not all there is to say. */
static l_why honest(const clusters *c, ir_id from, ir_id to, ir_id reader, l_why why)
{
    if (why == L_NOT_AFTER && row_by_row(c, from, to))
        return L_NOT_ROW;
    /* the same elements as one row: a loop over them would still be no stencil's */
    if (why == L_NOT_RATE && ir_at(c->p, to)->kind == IR_RESHAPE && c->class[from] == L_CLASS_STENCIL &&
        c->class[reader] == L_CLASS_FOLD)
        return L_NOT_CLASS;
    return why;
}

static void edge(clusters *c, ir_id from, ir_id to, l_access asked)
{
    bool around = asked == L_HALO && wraps(c->p, to, from);
    l_access access = around ? L_RANDOM : asked;
    l_why why = L_FUSED_DELAYED;
    if (ir_at(c->p, from)->kind == IR_INPUT) {
        why = L_NOT_INPUT;
    } else if (l_at(c->node, from)->anchor) {
        ir_id reader = home(c, to);
        bool can = reader && fusable(c, from, reader, access, &why);
        why = reader ? honest(c, from, to, reader, why) : why;
        if (reader && c->out->cluster_of[from] == c->out->cluster_of[reader]) /* even a reshape, to the same extents */
            why = asked == L_HALO ? L_FUSED_ROWS : L_FUSED_REGISTER;
        else if (can || (!reader && !only_picked(c, to)))
            why = l_at(c->node, from)->why == L_NOT_CAP || l_at(c->node, reader)->cut ? L_NOT_CAP
                  : reads(c, reader, from, L_RANDOM) ? L_NOT_RANDOM /* as a whole, through another edge */
                                                     : L_NOT_CLASS;
    }
    if (why == L_NOT_RANDOM && around)
        why = L_NOT_BOUNDARY;
    vec_push(c->p->arena, &c->out->edge, ((l_edge){from, to, asked, why}));
}

static void edges(clusters *c)
{
    map64 read_by = {0}; /* array -> the last node that reads its elements */
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!ir_is_array(c->p, id) || !l_at(c->node, id)->live)
            continue;
        const ir_array *info = ir_info(c->p, id);
        ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
        for (uint32_t i = 0; i < info->inputs; i++)
            edge(c, info->input[i], id,
                 kind == IR_STENCIL                             ? L_HALO
                 : kind == IR_BACKPERMUTE || kind == IR_RESHAPE ? L_VIEW
                                                                : L_SAME);
        opt_ids ids = {0};
        if (info->fn)
            opt_reach(c->p, c->p->arena, info->fn->results, info->fn->result, &ids);
        for (uint32_t i = 0; i < ids.n; i++) {
            if (ir_at(c->p, ids.at[i])->kind != IR_READ)
                continue;
            ir_id from = ir_at(c->p, ids.at[i])->array;
            if (map64_get(&read_by, from) != id) /* one edge, however many elements and components are read */
                edge(c, from, id, L_RANDOM);
            map64_put(c->p->arena, &read_by, from, id);
        }
        vec_free(c->p->arena, &ids);
    }
}

l_program *l_clusters(ir_program *p, const l_options *options)
{
    arena *a = p->arena;
    l_program *out = arena_alloc(a, sizeof(*out));
    uint32_t n = p->node.n;
    *out = (l_program){.ir = p, .nodes = n};
    out->cluster_of = arena_alloc(a, n * sizeof(uint32_t));
    out->manifest = arena_alloc(a, n * sizeof(bool));
    out->number = arena_alloc(a, n * sizeof(uint32_t));
    clusters c = {.p = p, .options = options, .out = out};
    c.level = arena_alloc(a, n * sizeof(uint32_t));
    c.set = arena_alloc(a, n * sizeof(ir_id));
    c.class = arena_alloc(a, n * sizeof(l_class));
    c.node = l_uses(p, options);
    out->part = c.node->part;
    out->sized = c.node->sized;
    assign_levels(&c);
    if (options->fuse)
        join_small(&c);
    make_clusters(&c);
    storage(&c);
    edges(&c);
    arena_release(a, c.level, n * sizeof(*c.level));
    arena_release(a, c.set, n * sizeof(*c.set));
    arena_release(a, c.class, n * sizeof(*c.class));
    l_uses_free(p, c.node);
    return out;
}
