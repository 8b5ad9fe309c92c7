/* Typed fusion: anchors grouped by (rate, level of fusion-preventing edges), connected groups become clusters. */
#include "loop/cluster.h"

#include "loop/rows.h"
#include "opt/rewrite.h"

#include <stdlib.h>

/* What the loops of a group are like. */
enum {
    SIDE_LEFT = 1,  /* folds, packs, or scans from left to right */
    SIDE_RIGHT = 2, /* scans from right to left: no loop has both */
    SIDE_ROW = 4    /* a row loop */
};

typedef struct clusters {
    ir_program *p;
    const l_options *options;
    l_program *out;
    l_nodes *node;
    uint32_t *level; /* per anchor */
    ir_id *set;      /* union-find over anchors */
    l_class *class;  /* per anchor */
    uint8_t *sides;  /* per root of `set` */
    uint8_t *sweep;  /* per anchor: of a row loop */
    ir_id *outer;    /* per anchor: computed once a row, along which this fold runs; 0: it is not */
    uint32_t *slot;  /* working memory, zero */
    map64 reader;    /* (key, array) -> 1 + an anchor that reads the array there */
} clusters;

/* the iteration space */
static const ir_array *rate_of(const clusters *c, ir_id anchor)
{
    return l_rate_of(c->p, c->outer[anchor] ? c->outer[anchor] : anchor);
}

static bool wraps(const ir_program *p, ir_id reader, ir_id from)
{
    const ir_array *info = ir_info(p, reader);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++)
        if (info->input[i] == from && info->stencil[i].boundary == IR_WRAP)
            return true;
    return false;
}

/* May anchor `to` use what the loop has computed for the row when it has gone along it: a fold's result, or what is made
 * of such results? */
static bool fusable_after_row(const clusters *c, ir_id from, ir_id to, l_access access)
{
    if (!l_same_shape(rate_of(c, from), rate_of(c, to)))
        return false;
    if (c->outer[to])
        return access == L_SAME;
    return access == L_OUTER && c->options->rows && !c->options->few_rows && c->class[to] != L_CLASS_STENCIL;
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
    if ((kind == IR_FOLD || c->outer[from]) && fusable_after_row(c, from, to, access))
        return *why = L_FUSED_SWEEP, true;
    if (kind == IR_FOLD)
        return *why = L_NOT_AFTER, false;
    if (kind == IR_FORCE)
        return *why = L_NOT_FORCED, false;
    if (kind == IR_PACK || c->outer[from] || c->outer[to] || !l_same_shape(ir_info(p, from), rate_of(c, to)))
        return *why = L_NOT_RATE, false;
    if (access == L_RANDOM || access == L_VIEW || access == L_HOST || access == L_OUTER)
        return *why = L_NOT_RANDOM, false;
    if ((c->class[from] == L_CLASS_STENCIL) != (c->class[to] == L_CLASS_STENCIL))
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
    c->sides[a] = c->sides[b] |= c->sides[a];
    if (a < b)
        c->set[b] = a;
    else
        c->set[a] = b;
}

static bool opposite(unsigned sides)
{
    return (sides & (SIDE_LEFT | SIDE_RIGHT)) == (SIDE_LEFT | SIDE_RIGHT);
}

static bool joinable(clusters *c, ir_id a, ir_id b)
{
    return !opposite(c->sides[find(c, a)] | c->sides[find(c, b)]);
}

static uint8_t own_sides(const clusters *c, ir_id id)
{
    switch (ir_at(c->p, id)->kind) {
    case IR_FOLD:
        return SIDE_LEFT;
    case IR_SCAN:
        return ir_at(c->p, id)->flags & IR_RIGHT ? SIDE_RIGHT | SIDE_ROW : SIDE_LEFT | SIDE_ROW;
    case IR_PACK:
        return SIDE_LEFT | SIDE_ROW;
    default:
        return 0;
    }
}

static l_class class_of(const clusters *c, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
    if (kind == IR_FOLD || kind == IR_SCAN || kind == IR_PACK)
        return kind == IR_FOLD ? L_CLASS_FOLD : L_CLASS_ROW;
    const l_node *n = l_at(c->node, id);
    if (n->stencil)
        return L_CLASS_STENCIL;
    /* what follows a stencil at the same index stays in its loop */
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array;
        if (n->dep.at[i].access == L_SAME && l_at(c->node, from)->anchor && c->class[from] == L_CLASS_STENCIL &&
            ir_info(c->p, id)->rank <= 2 && l_same_shape(ir_info(c->p, from), ir_info(c->p, id)))
            return L_CLASS_STENCIL;
    }
    return L_CLASS_PLAIN;
}

static uint64_t key_of(const clusters *c, ir_id id)
{
    const ir_array *rate = rate_of(c, id);
    uint64_t h = hash_bytes(rate->shape, rate->rank * sizeof(ir_id), rate->rank);
    return hash_mix(hash_mix(h, c->level[id]), c->class[id] == L_CLASS_STENCIL);
}

typedef struct place { /* of an anchor, as what it reads asks for */
    uint32_t level;
    uint8_t sides, sweep;
    bool after_row; /* it uses what the loop knows at the end of a row */
} place;

static place find_place(clusters *c, ir_id id, uint32_t least)
{
    const l_node *n = l_at(c->node, id);
    place at = {.level = least, .sides = own_sides(c, id)};
    l_why why;
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array;
        if (ir_at(c->p, from)->kind == IR_INPUT)
            continue;
        uint32_t level = c->level[from] + !fusable(c, from, id, n->dep.at[i].access, &why);
        at.level = level > at.level ? level : at.level;
    }
    unsigned sides = at.sides, sweep = 0;
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array;
        if (!fusable(c, from, id, n->dep.at[i].access, &why) || c->level[from] != at.level)
            continue;
        unsigned before = c->sweep[from] + (ir_at(c->p, from)->kind == IR_FOLD ? 1u : 0u);
        sweep = before > sweep ? before : sweep;
        sides |= c->sides[find(c, from)];
        at.after_row |= why == L_FUSED_SWEEP;
    }
    if (opposite(sides) || sweep >= L_MOST_SWEEPS)
        return (place){.level = at.level + 1, .sides = at.sides}; /* behind everything that it reads */
    at.sweep = (uint8_t)sweep;
    at.sides |= at.after_row && !c->outer[id] ? SIDE_ROW : 0;
    return at;
}

/* Gives an anchor its level, at least this one, and joins it with what it reads there, and with who reads the same. */
static void put_anchor(clusters *c, ir_id id, uint32_t least)
{
    const l_node *n = l_at(c->node, id);
    c->set[id] = id;
    c->class[id] = class_of(c, id);
    place at = find_place(c, id, least);
    if (c->outer[id] && !at.after_row) { /* no loop over rows has it from registers */
        c->outer[id] = 0;
        at = find_place(c, id, least);
    }
    c->level[id] = at.level;
    c->sides[id] = at.sides;
    c->sweep[id] = at.sweep;
    uint64_t key = key_of(c, id);
    for (uint32_t i = 0; i < n->dep.n && c->options->fuse; i++) {
        ir_id from = n->dep.at[i].array;
        l_access access = n->dep.at[i].access;
        l_why why;
        if (l_at(c->node, from)->anchor && c->level[from] == c->level[id] && fusable(c, from, id, access, &why))
            join(c, from, id);
        if (access == L_RANDOM || access == L_OUTER || c->outer[id])
            continue;
        uint64_t k = hash_mix(key, from);
        uint32_t other = map64_get(&c->reader, k);
        if (!other)
            map64_put(c->p->arena, &c->reader, k, id);
        else if (joinable(c, other, id))
            join(c, other, id);
    }
}

/* The fold that counts what a pack keeps. */
static ir_id count_of(const clusters *c, ir_id pack)
{
    const ir_array *info = ir_info(c->p, pack);
    return ir_count_of_pack(c->p, info->shape[0], info->input[0]);
}

/* Per fold: the first pack whose elements it counts, if nobody else needs the number before; it goes where that goes. */
static ir_id *packs_of_counts(const clusters *c)
{
    ir_id *pack = arena_alloc(c->p->arena, c->out->nodes * sizeof(*pack));
    for (ir_id id = c->out->nodes; id-- > 1 && c->options->fuse;) {
        if (!l_at(c->node, id)->anchor)
            continue;
        const l_node *n = l_at(c->node, id);
        for (uint32_t i = 0; i < n->dep.n; i++)
            if (pack[n->dep.at[i].array] > id)
                pack[n->dep.at[i].array] = 0;
        ir_id count = ir_at(c->p, id)->kind == IR_PACK ? count_of(c, id) : 0;
        for (uint32_t i = 0; i < n->dep.n; i++)
            count = n->dep.at[i].array == count ? 0 : count; /* the pack needs it, too */
        if (count)
            pack[count] = id;
    }
    return pack;
}

static void assign_levels(clusters *c)
{
    ir_id *pack = packs_of_counts(c);
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!l_at(c->node, id)->anchor || pack[id])
            continue;
        put_anchor(c, id, 0);
        ir_id count = ir_at(c->p, id)->kind == IR_PACK && c->options->fuse ? count_of(c, id) : 0;
        if (count && pack[count] == id)
            put_anchor(c, count, c->level[id]);
        if (count && c->level[count] == c->level[id] && joinable(c, count, id))
            join(c, count, id);
    }
    arena_release(c->p->arena, pack, c->out->nodes * sizeof(*pack));
    map64_free(c->p->arena, &c->reader);
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
        if (!l_at(c->node, id)->anchor || find(c, id) != id || c->class[id] == L_CLASS_STENCIL ||
            c->sides[id] & SIDE_ROW)
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
    const ir_array *rate = rate_of(c, first);
    l_cluster fresh = {.rank = rate->rank, .level = c->level[first], .class = c->class[first]};
    memcpy(fresh.shape, rate->shape, sizeof(fresh.shape));
    vec_push(c->p->arena, &c->out->cluster, fresh);
    return &c->out->cluster.at[c->out->cluster.n - 1];
}

typedef VEC(ir_id) anchors;

typedef struct group {
    uint32_t level;
    ir_id root;
    anchors anchor;
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

static uint32_t cap_of(const clusters *c)
{
    return c->options->cap ? c->options->cap : L_DEFAULT_CAP;
}

static void add_op(clusters *c, l_cluster *cluster, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
    l_op op = {.term = id, .outer = c->outer[id]};
    op.kind = kind == IR_FOLD ? L_FOLD : kind == IR_SCAN ? L_SCAN : kind == IR_PACK ? L_PACK : L_ELEMENT;
    cluster->flops += l_at(c->node, id)->flops;
    vec_push(c->p->arena, &cluster->op, op);
    c->out->cluster_of[id] = c->out->cluster.n;
}

/* Folds with different trees go apart; a group over the cap, or of too many stages, is cut between anchors. All keep
 * the order of ids. */
static void emit_group(clusters *c, const anchors *g)
{
    uint32_t cap = cap_of(c);
    bool *placed = arena_alloc(c->p->arena, g->n);
    for (uint32_t done = 0; done < g->n;) {
        l_cluster *cluster = NULL;
        uint32_t size = 0, stages = 0;
        bool folds = false;
        for (uint32_t i = 0; i < g->n; i++) {
            ir_id id = g->at[i];
            if (placed[i])
                continue;
            bool stage = is_stage(c, id);
            if (cluster && (size + l_at(c->node, id)->size > cap || stages + stage > L_MOST_STAGES)) {
                for (; i < g->n; i++)
                    l_at(c->node, g->at[i])->cut |= !placed[i];
                break;
            }
            bool fold = c->class[id] == L_CLASS_FOLD;
            bool ordered = fold && fold_ordered(c->p, id), wide = fold && fold_wide(c->p, id);
            if (fold && folds && (cluster->ordered != ordered || cluster->wide != wide))
                continue;
            if (!cluster)
                cluster = new_cluster(c, id);
            if (fold) {
                cluster->class = L_CLASS_FOLD;
                cluster->ordered = ordered;
                cluster->wide = wide;
                folds = true;
            }
            size += l_at(c->node, id)->size;
            stages += stage;
            add_op(c, cluster, id);
            placed[i] = true;
            done++;
        }
    }
}

/* A row loop. Its folds may have different trees. */
static void emit_row_loop(clusters *c, const anchors *g)
{
    uint32_t first = 0;
    while (c->outer[g->at[first]])
        first++;
    l_cluster *cluster = new_cluster(c, g->at[first]);
    cluster->class = L_CLASS_ROW;
    for (uint32_t i = 0; i < g->n; i++) {
        ir_id id = g->at[i];
        bool fold = c->class[id] == L_CLASS_FOLD;
        cluster->ordered |= fold && fold_ordered(c->p, id);
        cluster->wide |= fold && fold_wide(c->p, id);
        cluster->right |= (own_sides(c, id) & SIDE_RIGHT) != 0;
        add_op(c, cluster, id);
    }
    l_rows_order(c->p, c->node, cluster, c->slot);
    for (uint32_t i = 0; i < cluster->op.n; i++)
        c->sweep[cluster->op.at[i].term] = cluster->op.at[i].sweep;
    c->out->rows |= cluster->sweeps > 1;
}

/* The part of a group that fits into one loop: as a row loop if it needs one. Otherwise what is computed once a row is
 * a loop of its own, behind the folds that it reads. */
static void emit_part(clusters *c, const anchors *g)
{
    if (l_rows_needed(c->p, c->node, g->n, g->at, c->slot)) {
        emit_row_loop(c, g);
        return;
    }
    anchors along = {0}, once = {0};
    for (uint32_t i = 0; i < g->n; i++) {
        bool outer = c->outer[g->at[i]];
        c->outer[g->at[i]] = 0;
        if (outer)
            vec_push(c->p->arena, &once, g->at[i]);
        else
            vec_push(c->p->arena, &along, g->at[i]);
    }
    emit_group(c, &along);
    emit_group(c, &once);
}

/* A group with row loops: cut at the cap. */
static void emit_rows(clusters *c, const anchors *g)
{
    for (uint32_t i = 0; i < g->n;) {
        anchors part = {0};
        uint32_t size = 0;
        for (; i < g->n && (!part.n || size + l_at(c->node, g->at[i])->size <= cap_of(c)); i++) {
            size += l_at(c->node, g->at[i])->size;
            vec_push(c->p->arena, &part, g->at[i]);
        }
        for (uint32_t k = i; k < g->n; k++)
            l_at(c->node, g->at[k])->cut = true;
        emit_part(c, &part);
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
        if (c->sides[groups.at[i].root] & SIDE_ROW)
            emit_rows(c, &groups.at[i].anchor);
        else
            emit_part(c, &groups.at[i].anchor);
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

/* A fold's result always goes to memory, but for one that only its own rows need. */
static bool always_stored(const clusters *c, ir_id id)
{
    uint32_t at = c->out->cluster_of[id];
    switch (ir_at(c->p, id)->kind) {
    case IR_INPUT:
    case IR_FORCE:
    case IR_PACK:
        return true;
    case IR_FOLD:
        return !at || c->out->cluster.at[at - 1].class != L_CLASS_ROW;
    default:
        return false;
    }
}

/* arrays that somebody reads from memory */
static void find_manifest(clusters *c)
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
            if (out->cluster_of[from] != out->cluster_of[id])
                out->manifest[from] = true;
        }
    }
    for (uint32_t k = 0; k < c->p->output.n; k++)
        parts += ir_info(c->p, c->p->output.at[k])->components;
    for (uint32_t k = 0; k < parts; k++)
        out->manifest[out->part[k].array] = true;
}

static void list_reads(clusters *c, l_cluster *cluster, uint32_t number)
{
    for (uint32_t k = 0; k < cluster->op.n; k++) {
        const l_node *n = l_at(c->node, cluster->op.at[k].term);
        for (uint32_t d = 0; d < n->dep.n; d++) {
            ir_id from = n->dep.at[d].array;
            if (c->out->cluster_of[from] == number) {
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

/* what must be in memory, and what is read from there */
static void storage(clusters *c)
{
    find_manifest(c);
    for (uint32_t i = 0; i < c->out->cluster.n; i++) {
        l_cluster *cluster = &c->out->cluster.at[i];
        if (cluster->class == L_CLASS_ROW)
            l_rows_keep(c->out, c->options, c->node, cluster, c->slot);
        for (uint32_t k = 0; k < cluster->op.n; k++)
            cluster->op.at[k].stored = c->out->manifest[cluster->op.at[k].term];
        list_reads(c, cluster, i + 1);
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

/* How the anchor that an operation is delayed into reads what the operation reads, or the anchor itself. */
static l_access access_of(const clusters *c, ir_id from, ir_id to, ir_id reader, l_access asked)
{
    if (asked == L_HALO)
        return wraps(c->p, to, from) ? L_RANDOM : L_HALO;
    bool own = to == reader && asked == L_SAME;
    return !own && reads(c, reader, from, L_OUTER) && !reads(c, reader, from, L_RANDOM) ? L_OUTER : asked;
}

static void edge(clusters *c, ir_id from, ir_id to, l_access asked)
{
    l_access access = asked;
    l_why why = L_FUSED_DELAYED;
    if (ir_at(c->p, from)->kind == IR_INPUT) {
        why = L_NOT_INPUT;
    } else if (l_at(c->node, from)->anchor) {
        ir_id reader = home(c, to);
        if (reader)
            access = access_of(c, from, to, reader, asked);
        bool can = reader && fusable(c, from, reader, access, &why);
        if ((!reader && !only_picked(c, to)) || (can && c->out->cluster_of[from] != c->out->cluster_of[reader]))
            why = l_at(c->node, from)->why == L_NOT_CAP || l_at(c->node, reader)->cut ? L_NOT_CAP
                  : reads(c, reader, from, L_RANDOM) ? L_NOT_RANDOM /* as a whole, through another edge */
                                                     : L_NOT_CLASS;
        else if (can && c->sweep[from] != c->sweep[reader])
            why = L_FUSED_SWEEP;
    }
    if (why == L_NOT_RANDOM && asked == L_HALO)
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
    c.sides = arena_alloc(a, n);
    c.sweep = arena_alloc(a, n);
    c.slot = arena_alloc(a, n * sizeof(uint32_t));
    c.node = l_uses(p, options);
    c.outer = l_rows_outer(p, options, c.node);
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
    arena_release(a, c.sides, n);
    arena_release(a, c.sweep, n);
    arena_release(a, c.slot, n * sizeof(*c.slot));
    arena_release(a, c.outer, n * sizeof(*c.outer));
    l_uses_free(p, c.node);
    return out;
}
