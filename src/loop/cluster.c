/* Typed fusion: anchors grouped by (rate, level of fusion-preventing edges), connected groups become clusters. */
#include "loop/cluster.h"

#include "loop/places.h"
#include "loop/trees.h"
#include "loop/wanted.h"

#include <stdlib.h>

static ir_id find(l_fusing *c, ir_id a)
{
    while (c->set[a] != a)
        a = c->set[a] = c->set[c->set[a]];
    return a;
}

static void join(l_fusing *c, ir_id a, ir_id b)
{
    a = find(c, a);
    b = find(c, b);
    c->sides[a] = c->sides[b] |= c->sides[a];
    if (a < b)
        c->set[b] = a;
    else
        c->set[a] = b;
}

static bool joinable(l_fusing *c, ir_id a, ir_id b)
{
    unsigned both = c->sides[find(c, a)] | c->sides[find(c, b)];
    return !l_opposite(both) && !l_across(both);
}

static uint16_t own_sides(const l_fusing *c, ir_id id)
{
    if (ir_at(c->p, id)->kind == IR_PACK && c->segments[id])
        return SIDE_LEFT | SIDE_ALONG;
    switch (ir_at(c->p, id)->kind) {
    case IR_FOLD:
    case IR_FOLD_SEG:
        return SIDE_LEFT | SIDE_ALONG;
    case IR_SCAN:
        return (uint16_t)((ir_at(c->p, id)->flags & IR_RIGHT ? SIDE_RIGHT | SIDE_ROW : SIDE_LEFT | SIDE_ROW) |
                          SIDE_ALONG << ir_info(c->p, id)->behind);
    case IR_SCAN_SEG:
        return (ir_at(c->p, id)->flags & IR_RIGHT ? SIDE_RIGHT : SIDE_LEFT) | SIDE_ALONG;
    case IR_PACK:
        return SIDE_LEFT | SIDE_ROW | SIDE_ALONG;
    default:
        return 0;
    }
}

/* What follows a stencil at the same index stays in its loop, unless it must wait for something else. */
static bool follows_stencil(const l_fusing *c, ir_id id, ir_id stencil)
{
    if (!l_at(c->node, stencil)->anchor || c->class[stencil] != L_CLASS_STENCIL || ir_info(c->p, stencil)->rank > 2 ||
        !l_same_shape(ir_info(c->p, stencil), l_rate_of(c->p, id)))
        return false;
    const l_node *n = l_at(c->node, id);
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array;
        ir_kind kind = (ir_kind)ir_at(c->p, from)->kind;
        if (kind != IR_INPUT && c->class[from] != L_CLASS_STENCIL && c->level[from] >= c->level[stencil])
            return false;
    }
    return true;
}

/* Is it known once a segment: a fold's result, or what is made of such results? */
static bool is_of_segment(const l_fusing *c, ir_id id)
{
    return c->segments[id] && (ir_at(c->p, id)->kind == IR_FOLD_SEG || c->outer[id]);
}

static bool is_element(const l_fusing *c, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
    const l_node *n = l_at(c->node, id);
    bool known = kind == IR_MAP || kind == IR_GENERATE || kind == IR_BACKPERMUTE || kind == IR_RESHAPE;
    return known && !n->stencil && !n->flat && !l_goes_along(c->p, id) && c->options->fuse;
}

/* Does the operation, in a loop with these segments, find there what it reads? */
static bool found_there(const l_fusing *c, ir_id id, const l_dep *d, ir_id segments, bool once)
{
    ir_id from = d->array;
    if (c->segments[from] != segments)
        return false;
    if (!once && d->access == L_NUMBER)
        return true;
    if (ir_at(c->p, from)->kind == IR_SEGMENT_OF || !is_of_segment(c, from))
        return !once && d->access == L_SAME && l_same_shape(ir_info(c->p, from), l_rate_of(c->p, id));
    if (once)
        return d->access == L_SAME && l_same_shape(ir_info(c->p, from), ir_info(c->p, id));
    return d->access == L_OUTER && c->options->rows && !c->options->threads &&
           l_view_is_segment(c->p, id, from, &d->view) && ir_info(c->p, d->view.by)->input[0] == segments &&
           l_same_shape(l_loop_rate(c, from), l_rate_of(c->p, id));
}

/* The array that an operation finds in a segment loop, as an element of it or, `once`, of each segment, unless it must
 * wait for something else; 0: there is none. */
static ir_id in_segments(const l_fusing *c, ir_id id, bool once)
{
    const l_node *n = l_at(c->node, id);
    ir_id found = 0;
    for (uint32_t i = 0; i < n->dep.n && !found; i++)
        if (c->segments[n->dep.at[i].array] && is_of_segment(c, n->dep.at[i].array) == once &&
            found_there(c, id, &n->dep.at[i], c->segments[n->dep.at[i].array], once))
            found = n->dep.at[i].array;
    if (!found)
        return 0;
    uint32_t level = 0, other = 0;
    bool number = false; /* it asks for that of its segment, which loops of any level know */
    for (uint32_t i = 0; i < n->dep.n; i++) {
        const l_dep *d = &n->dep.at[i];
        bool there = found_there(c, id, d, c->segments[found], once);
        bool free = there && ir_at(c->p, d->array)->kind == IR_SEGMENT_OF;
        number |= free;
        if (free || ir_at(c->p, d->array)->kind == IR_INPUT)
            continue;
        uint32_t after = c->level[d->array] + !there, *most = there ? &level : &other;
        *most = after > *most ? after : *most;
    }
    return other > level && !number ? 0 : found;
}

/* A pack, or the fold that counts what one keeps. */
static bool is_pack(const l_fusing *c, ir_id id)
{
    return ir_at(c->p, id)->kind == IR_PACK || c->counts[id];
}

/* What stands in a segment loop at the same index joins it, unless it must wait for something else. The loop's offsets,
 * or 0. */
static ir_id segments_of(const l_fusing *c, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
    if (kind == IR_FOLD_SEG || kind == IR_SCAN_SEG || kind == IR_SEGMENT_OF)
        return ir_info(c->p, id)->input[kind != IR_SEGMENT_OF];
    bool packs = is_pack(c, id) && l_rate_of(c->p, id)->rank == 1 && c->options->fuse && c->options->rows &&
                 !c->options->threads;
    return packs || is_element(c, id) ? c->segments[in_segments(c, id, false)] : 0;
}

/* The fold of segments with whose results, or with what is made of them, an operation can be computed once a segment.
 */
static ir_id once_a_segment(const l_fusing *c, ir_id id)
{
    ir_id found = is_element(c, id) ? in_segments(c, id, true) : 0;
    return found && c->outer[found] ? c->outer[found] : found;
}

static l_class class_of(const l_fusing *c, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
    const l_node *n = l_at(c->node, id);
    if (kind == IR_CONTROL || kind == IR_PART)
        return L_CLASS_CONTROL;
    if (c->segments[id])
        return L_CLASS_SEGMENT;
    if (kind == IR_SCAN || kind == IR_PACK)
        return L_CLASS_ROW;
    if (kind == IR_SORT)
        return L_CLASS_SORT;
    if (kind == IR_PERMUTE)
        return L_CLASS_PERMUTE;
    if (kind == IR_FOLD)
        return L_CLASS_FOLD;
    if (n->flat || l_goes_along(c->p, id))
        return L_CLASS_PLAIN;
    if (n->stencil)
        return L_CLASS_STENCIL;
    for (uint32_t i = 0; i < n->dep.n; i++)
        if (n->dep.at[i].access == L_SAME && follows_stencil(c, id, n->dep.at[i].array))
            return L_CLASS_STENCIL;
    return L_CLASS_PLAIN;
}

static uint64_t key_of(const l_fusing *c, ir_id id)
{
    const ir_array *rate = l_loop_rate(c, id);
    uint64_t h = hash_bytes(rate->shape, rate->rank * sizeof(ir_id), rate->rank);
    unsigned kind = c->class[id] == L_CLASS_STENCIL   ? 1
                    : l_stages(c, id)                 ? 2
                    : c->class[id] == L_CLASS_PERMUTE ? 3
                    : l_goes_along(c->p, id)          ? 4
                                                      : 0;
    h = hash_mix(hash_mix(h, c->level[id]), kind);
    return c->segments[id] ? hash_mix(h, c->segments[id]) : h;
}

typedef struct place { /* of an anchor, as what it reads asks for */
    uint32_t level;
    uint16_t sides;
    uint8_t sweep;
    bool behind;    /* as of l_fusing */
    bool after_row; /* it uses what the loop knows at the end of a row */
} place;

static place find_place(l_fusing *c, ir_id id)
{
    const l_node *n = l_at(c->node, id);
    place at = {.sides = own_sides(c, id)};
    unsigned most = c->segments[id] ? L_MOST_SEGMENT_SWEEPS + (c->outer[id] != 0) : L_MOST_SWEEPS;
    l_why why;
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array;
        if (ir_at(c->p, from)->kind == IR_INPUT || l_knows_segment(c, from, id))
            continue;
        uint32_t level = c->level[from] + !l_fusable(c, from, id, n->dep.at[i].access, &why);
        at.level = level > at.level ? level : at.level;
    }
    unsigned sides = at.sides, sweep = 0;
    for (uint32_t i = 0; i < n->dep.n; i++) {
        ir_id from = n->dep.at[i].array;
        if (!l_fusable(c, from, id, n->dep.at[i].access, &why) || c->level[from] != at.level)
            continue;
        ir_kind kind = (ir_kind)ir_at(c->p, from)->kind;
        bool scans = ir_at(c->p, id)->kind == IR_SCAN_SEG && c->behind[from];
        unsigned before = c->sweep[from] + (kind == IR_FOLD || kind == IR_FOLD_SEG || scans ? 1u : 0u);
        at.behind = before > sweep ? false : at.behind;
        sweep = before > sweep ? before : sweep;
        at.behind |= before == sweep && c->behind[from] && kind != IR_FOLD_SEG && !scans;
        sides |= c->sides[find(c, from)];
        at.after_row |= why == L_FUSED_SWEEP || why == L_FUSED_SEGMENT || why == L_FUSED_TILE;
    }
    if (l_opposite(sides) && !l_across(sides) &&
        !(at.sides & SIDE_LEFT)) /* a loop from the right reads the others of its level from memory */
        return (place){.level = at.level, .sides = at.sides | SIDE_RIGHT};
    if (l_opposite(sides) || l_across(sides) || sweep >= most)
        return (place){.level = at.level + 1, .sides = at.sides}; /* behind everything that it reads */
    at.sweep = (uint8_t)sweep;
    at.behind |= ir_at(c->p, id)->kind == IR_SCAN_SEG;
    at.sides |= at.after_row && !c->outer[id] && !c->segments[id] ? SIDE_ROW : 0;
    return at;
}

/* Joins an anchor with one that reads the same array at the same index. */
static void join_reader(l_fusing *c, uint64_t key, ir_id id)
{
    for (unsigned right = 0; right < 2; right++) {
        ir_id other = map64_get(&c->reader, hash_mix(key, right));
        if (other && joinable(c, other, id)) {
            join(c, other, id);
            return;
        }
    }
    map64_put(c->p->arena, &c->reader, hash_mix(key, (c->sides[find(c, id)] & SIDE_RIGHT) != 0), id);
}

/* Gives an anchor its level, and joins it with what it reads there, and with who reads the same. */
static void put_anchor(l_fusing *c, ir_id id)
{
    const l_node *n = l_at(c->node, id);
    c->set[id] = id;
    c->segments[id] = segments_of(c, id);
    if (!c->segments[id] && !c->outer[id] && (c->outer[id] = once_a_segment(c, id)))
        c->segments[id] = c->segments[c->outer[id]];
    c->class[id] = class_of(c, id);
    place at = find_place(c, id);
    if (c->outer[id] && !at.after_row) { /* no loop over rows has it from registers */
        c->outer[id] = c->segments[id] = 0;
        c->tile[id] = false;
        c->class[id] = class_of(c, id);
        at = find_place(c, id);
    }
    if (c->segments[id] && is_pack(c, id) && (at.sweep || at.behind)) { /* what is kept must be known at once */
        c->segments[id] = 0;
        c->class[id] = class_of(c, id);
        at = find_place(c, id);
    }
    c->level[id] = at.level;
    c->sides[id] = at.sides;
    c->sweep[id] = at.sweep;
    c->behind[id] = at.behind;
    uint64_t key = key_of(c, id);
    if (ir_at(c->p, id)->kind == IR_PART)
        join(c, ir_info(c->p, id)->input[0], id);
    for (uint32_t i = 0; i < n->dep.n && c->options->fuse && c->class[id] != L_CLASS_CONTROL; i++) {
        ir_id from = n->dep.at[i].array;
        l_access access = n->dep.at[i].access;
        l_why why;
        bool free = l_knows_segment(c, from, id);
        if (l_at(c->node, from)->anchor && c->level[from] == c->level[id] && l_fusable(c, from, id, access, &why) &&
            joinable(c, from, id) && !free)
            join(c, from, id);
        if (access == L_RANDOM || access == L_OUTER || c->outer[id] || c->class[id] == L_CLASS_SORT ||
            c->class[id] == L_CLASS_PERMUTE)
            continue;
        join_reader(c, hash_mix(key, from), id);
    }
}

/* The fold that counts what a pack keeps. */
static ir_id count_of(const l_fusing *c, ir_id pack)
{
    const ir_array *info = ir_info(c->p, pack);
    return ir_count_of_pack(c->p, info->shape[0], info->input[0]);
}

static void assign_levels(l_fusing *c)
{
    for (ir_id id = 1; id < c->out->nodes && c->options->fuse; id++)
        if (ir_at(c->p, id)->kind == IR_PACK && l_at(c->node, id)->anchor)
            c->counts[count_of(c, id)] = true;
    c->counts[0] = false;
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!l_at(c->node, id)->anchor)
            continue;
        put_anchor(c, id);
        ir_id count = ir_at(c->p, id)->kind == IR_PACK && c->options->fuse ? count_of(c, id) : 0;
        if (count && c->level[count] == c->level[id] && joinable(c, count, id))
            join(c, count, id);
    }
    map64_free(c->p->arena, &c->reader);
}

/* --- groups that share nothing --- */

/* More streams than this make prefetchers and translation caches work, and dear bodies have enough to do each: what one
 * launch less saves (a microsecond, some ten where threads must wake up) is for small loops. */
enum { MOST_STREAMS = 8, MOST_TOGETHER = 100 };

typedef struct load { /* of a group, at its root */
    uint32_t streams, size;
} load;

static void add_load(const l_fusing *c, load *to, ir_id id)
{
    const l_node *n = l_at(c->node, id);
    to->streams += n->dep.n + ir_info(c->p, id)->components;
    to->size += n->size;
}

/* Small loops of one rate and level become one even if they have no array in common. */
static void join_small(l_fusing *c)
{
    map64 open = {0}; /* key -> root of the group that takes more */
    load *of = arena_array(c->p->arena, *of, c->out->nodes);
    for (ir_id id = 1; id < c->out->nodes; id++)
        if (l_at(c->node, id)->anchor)
            add_load(c, &of[find(c, id)], id);
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!l_at(c->node, id)->anchor || find(c, id) != id || c->class[id] == L_CLASS_STENCIL ||
            c->class[id] == L_CLASS_SORT || c->class[id] == L_CLASS_CONTROL || c->class[id] == L_CLASS_PERMUTE ||
            c->class[id] == L_CLASS_SEGMENT || c->sides[id] & SIDE_ROW)
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

/* --- permutes that name the same places --- */

/* Components that are combined in one loop, at most: more do not find room beside each other. */
enum { MOST_COMBINED = 16 };

typedef struct permutes {
    l_fusing *c;
    ir_id *alike;         /* per array: the first one of the same elements */
    uint32_t *components; /* per root: of all permutes that are joined */
    map64 open;           /* key -> a permute that others may join */
} permutes;

static uint64_t places_of(const permutes *m, ir_id id, l_permute_kind kind)
{
    const ir_array *info = ir_info(m->c->p, id);
    uint64_t h = hash_mix(key_of(m->c, id), m->alike[info->input[1]]);
    return hash_mix(hash_bytes(info->shape, info->rank * sizeof(ir_id), h), kind);
}

/* Joins the permute with one of the same places that is divided as `kind` says. */
static bool join_permute(permutes *m, ir_id id, l_permute_kind kind)
{
    ir_id other = map64_get(&m->open, places_of(m, id, kind)), root = other ? find(m->c, other) : 0;
    if (!root || m->components[root] + m->components[id] > MOST_COMBINED)
        return false;
    uint32_t all = m->components[root] + m->components[id];
    join(m->c, root, id);
    m->components[find(m->c, id)] = all;
    return true;
}

/* Permutes of one rate and level never need each other's results. Those that give the same bits however they are
 * divided come last, and take the others' blocks. */
static void join_permutes(l_fusing *c)
{
    static const l_permute_kind blocks[] = {L_PERMUTE_FLOATS, L_PERMUTE_CHOSEN, L_PERMUTE_FREE};
    permutes m = {.c = c};
    uint32_t some = 0;
    for (ir_id id = 1; id < c->out->nodes; id++)
        some += l_at(c->node, id)->anchor && c->class[id] == L_CLASS_PERMUTE;
    if (some < 2)
        return;
    m.alike = l_alike(c->p, c->out->nodes);
    m.components = arena_array(c->p->arena, *m.components, c->out->nodes);
    for (unsigned free = 0; free < 2; free++)
        for (ir_id id = 1; id < c->out->nodes; id++) {
            if (!l_at(c->node, id)->anchor || c->class[id] != L_CLASS_PERMUTE)
                continue;
            l_permute_kind kind = l_permute_kind_of(c->p, ir_info(c->p, id), c->options->threads);
            if ((kind == L_PERMUTE_FREE) != free)
                continue;
            bool joined = false;
            m.components[id] = ir_info(c->p, id)->components;
            for (size_t i = 0; i < ARRAY_LENGTH(blocks) && free && !joined; i++)
                joined = join_permute(&m, id, blocks[i]);
            if (!joined && !(!free && join_permute(&m, id, kind)))
                map64_put(c->p->arena, &m.open, places_of(&m, id, kind), id);
        }
    arena_release(c->p->arena, m.alike, c->out->nodes * sizeof(*m.alike));
    arena_release(c->p->arena, m.components, c->out->nodes * sizeof(*m.components));
    map64_free(c->p->arena, &m.open);
}

static l_cluster *new_cluster(l_fusing *c, ir_id first)
{
    const ir_array *rate = l_loop_rate(c, first);
    l_cluster fresh = {
        .rank = rate->rank, .level = c->level[first], .class = c->class[first], .segments = c->segments[first]};
    memcpy(fresh.shape, rate->shape, sizeof(fresh.shape));
    if (fresh.segments)
        fresh.segment_count = ir_segments(c->p, fresh.segments);
    vec_push(c->p->arena, &c->out->cluster, fresh);
    return &c->out->cluster.at[c->out->cluster.n - 1];
}

typedef VEC(ir_id) anchors;

typedef struct group {
    uint32_t level;
    bool right; /* behind the others of its level, which it may read */
    ir_id root;
    anchors anchor;
} group;

static int by_level(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->right != y->right)
        return x->right ? 1 : -1;
    return (x->root > y->root) - (x->root < y->root);
}

/* Does it read neighbours of what its loop has computed before? */
static bool is_stage(const l_fusing *c, ir_id id)
{
    const l_node *n = l_at(c->node, id);
    for (uint32_t i = 0; i < n->dep.n; i++)
        if (n->dep.at[i].access == L_HALO)
            return true;
    return false;
}

static uint32_t cap_of(const l_fusing *c)
{
    return c->options->cap ? c->options->cap : L_DEFAULT_CAP;
}

static void add_staged(l_fusing *c, l_cluster *cluster, ir_id fold)
{
    const l_node *n = l_at(c->node, fold);
    for (uint32_t i = 0; i < n->staged.n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < cluster->staged.n && !known; k++)
            known = cluster->staged.at[k] == n->staged.at[i];
        if (!known)
            vec_push(c->p->arena, &cluster->staged, n->staged.at[i]);
        cluster->staged_flops += l_at(c->node, n->staged.at[i])->flops;
    }
}

static void add_op(l_fusing *c, l_cluster *cluster, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(c->p, id)->kind;
    l_op op = {.term = id, .outer = c->outer[id], .flops = l_at(c->node, id)->flops};
    op.kind = kind == IR_FOLD                         ? L_FOLD
              : kind == IR_FOLD_SEG                   ? L_FOLD_SEG
              : kind == IR_SCAN                       ? L_SCAN
              : kind == IR_SCAN_SEG                   ? L_SCAN
              : kind == IR_PACK                       ? L_PACK
              : kind == IR_SORT                       ? L_SORT
              : kind == IR_PERMUTE                    ? L_PERMUTE
              : kind == IR_CONTROL || kind == IR_PART ? L_RESULT
                                                      : L_ELEMENT;
    cluster->flops += op.flops;
    if (kind == IR_FOLD)
        add_staged(c, cluster, id);
    vec_push(c->p->arena, &cluster->op, op);
    c->out->cluster_of[id] = c->out->cluster.n;
}

/* A fold of all elements that chooses one of them may be in a loop with others, on devices whose blocks are one core.
 */
static l_tree tree_of(const l_fusing *c, ir_id id)
{
    bool all = ir_at(c->p, id)->kind == IR_FOLD && l_rate_of(c->p, id)->rank == 1 && !l_at(c->node, id)->staged.n;
    return l_tree_of(c->p, id, all && !c->options->threads);
}

/* Folds with different trees go apart; a group over the cap, or of too many stages, is cut between anchors. All keep
 * the order of ids. */
static void emit_group(l_fusing *c, const anchors *g)
{
    uint32_t cap = cap_of(c);
    bool *placed = arena_alloc(c->p->arena, g->n);
    for (uint32_t done = 0; done < g->n;) {
        l_cluster *cluster = NULL;
        uint32_t size = 0, stages = 0;
        unsigned trees = 0;
        for (uint32_t i = 0; i < g->n; i++) {
            ir_id id = g->at[i];
            if (placed[i])
                continue;
            bool stage = c->class[id] == L_CLASS_STENCIL && is_stage(c, id);
            if (cluster && (size + l_at(c->node, id)->size > cap || stages + stage > L_MOST_STAGES)) {
                for (; i < g->n; i++)
                    l_at(c->node, g->at[i])->cut |= !placed[i];
                break;
            }
            bool fold = c->class[id] == L_CLASS_FOLD || ir_at(c->p, id)->kind == IR_FOLD_SEG;
            unsigned tree = fold ? tree_of(c, id) : 0;
            if (!l_trees_share(trees | tree))
                continue;
            if (!cluster)
                cluster = new_cluster(c, id);
            if (fold) {
                cluster->class = c->class[id];
                trees |= tree;
                cluster->ordered = (trees & (L_CHOOSES | L_IN_ORDER)) != 0;
                cluster->mixed = cluster->ordered && trees & L_COMMUTES;
            }
            size += l_at(c->node, id)->size;
            stages += stage;
            add_op(c, cluster, id);
            placed[i] = true;
            done++;
        }
    }
}

static void order_sweeps(l_fusing *c, l_cluster *cluster)
{
    l_rows_order(c->p, c->node, cluster, c->slot);
    for (uint32_t i = 0; i < cluster->op.n; i++)
        c->sweep[cluster->op.at[i].term] = cluster->op.at[i].sweep;
}

/* A row loop. Its folds may have different trees. */
static void emit_row_loop(l_fusing *c, const anchors *g)
{
    uint32_t first = 0;
    while (c->outer[g->at[first]])
        first++;
    l_cluster *cluster = new_cluster(c, g->at[first]);
    cluster->class = L_CLASS_ROW;
    for (uint32_t i = 0; i < g->n; i++) {
        ir_id id = g->at[i];
        bool fold = c->class[id] == L_CLASS_FOLD;
        cluster->ordered |= fold && l_keeps_order(c->p, id);
        cluster->right |= (own_sides(c, id) & SIDE_RIGHT) != 0;
        if (ir_at(c->p, id)->kind == IR_SCAN)
            cluster->behind = ir_info(c->p, id)->behind;
        add_op(c, cluster, id);
    }
    order_sweeps(c, cluster);
    c->out->rows |= cluster->sweeps > 1;
}

/* Does a segment loop of these anchors compute something once a segment, go over segments several times, or scan them?
 */
static bool goes_on(const l_fusing *c, const anchors *g)
{
    bool on = false;
    for (uint32_t i = 0; i < g->n; i++)
        on |= c->segments[g->at[i]] && (c->outer[g->at[i]] || c->sweep[g->at[i]] || is_pack(c, g->at[i]) ||
                                        ir_at(c->p, g->at[i])->kind == IR_SCAN_SEG);
    return on;
}

/* A segment loop in which more follows on folds: these may have different trees. */
static void emit_segments(l_fusing *c, const anchors *g)
{
    uint32_t first = 0;
    while (c->outer[g->at[first]])
        first++;
    l_cluster *cluster = new_cluster(c, g->at[first]);
    cluster->class = L_CLASS_SEGMENT;
    cluster->trees_differ = l_trees_differ(c->p, g->n, g->at);
    for (uint32_t i = 0; i < g->n; i++) {
        cluster->ordered |= ir_at(c->p, g->at[i])->kind == IR_FOLD_SEG && l_keeps_order(c->p, g->at[i]);
        cluster->right |= (own_sides(c, g->at[i]) & SIDE_RIGHT) != 0;
        add_op(c, cluster, g->at[i]);
    }
    order_sweeps(c, cluster);
}

/* Of a group that is cut: is none of the folds, of which the anchor is made, in this part? */
static bool is_left_alone(const l_fusing *c, const anchors *g, ir_id id)
{
    const l_node *n = l_at(c->node, id);
    for (uint32_t i = 0; i < n->dep.n; i++)
        for (uint32_t k = 0; k < g->n; k++)
            if (g->at[k] == n->dep.at[i].array && is_of_segment(c, g->at[k]))
                return false;
    return true;
}

/* The part of a group that fits into one loop: as a row loop if it needs one. Otherwise what is computed once a row is
 * a loop of its own, behind the folds that it reads. */
static void emit_part(l_fusing *c, const anchors *g)
{
    if (c->class[g->at[0]] == L_CLASS_CONTROL) {
        l_cluster *control = new_cluster(c, g->at[0]);
        for (uint32_t i = 0; i < g->n; i++)
            add_op(c, control, g->at[i]);
        return;
    }
    bool segments = c->class[g->at[0]] == L_CLASS_SEGMENT;
    if (!segments && l_rows_needed(c->p, c->node, c->outer, g->n, g->at, c->slot)) {
        emit_row_loop(c, g);
        return;
    }
    anchors along = {0}, once = {0};
    for (uint32_t i = 0; i < g->n; i++) {
        bool outer = c->outer[g->at[i]] && !(segments && !is_left_alone(c, g, g->at[i]));
        if (outer || !segments)
            c->outer[g->at[i]] = 0;
        if (outer && segments) {
            c->segments[g->at[i]] = 0;
            c->class[g->at[i]] = L_CLASS_PLAIN;
        }
        if (outer)
            vec_push(c->p->arena, &once, g->at[i]);
        else
            vec_push(c->p->arena, &along, g->at[i]);
    }
    if (segments) /* made of what is in memory by now, and perhaps read by what follows */
        emit_group(c, &once);
    if (goes_on(c, &along))
        emit_segments(c, &along);
    else
        emit_group(c, &along);
    if (!segments)
        emit_group(c, &once);
}

/* A group with row loops: cut at the cap. */
static void emit_rows(l_fusing *c, const anchors *g)
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

/* Folds of one tree, and nothing else in their loop but what is made of tiles of their results. */
static bool are_tiles(const l_fusing *c, const anchors *g)
{
    uint32_t size = 0;
    ir_id first = 0;
    bool all = true;
    for (uint32_t i = 0; i < g->n; i++) {
        ir_id id = g->at[i];
        size += l_at(c->node, id)->size;
        if (c->tile[id])
            continue;
        all &= ir_at(c->p, id)->kind == IR_FOLD && !l_at(c->node, id)->staged.n && !c->outer[id] &&
               (!first || l_keeps_order(c->p, id) == l_keeps_order(c->p, first));
        first = first ? first : id;
    }
    return all && first && size <= cap_of(c);
}

static void emit_tiles(l_fusing *c, const anchors *g)
{
    uint32_t first = 0;
    while (c->tile[g->at[first]])
        first++;
    l_cluster *cluster = new_cluster(c, g->at[first]);
    cluster->class = L_CLASS_TILES;
    cluster->ordered = l_keeps_order(c->p, g->at[first]);
    for (uint32_t i = 0; i < g->n; i++) {
        add_op(c, cluster, g->at[i]);
        if (c->tile[g->at[i]]) /* it costs nothing for an element of the loop */
            cluster->flops -= cluster->op.at[cluster->op.n - 1].flops;
    }
    c->out->tiles = true;
}

/* A group in which something is made of tiles. If that cannot be, it has a loop of its own, behind the others. */
static bool emit_with_tiles(l_fusing *c, const anchors *g, bool rows)
{
    anchors rest = {0}, made = {0};
    bool some = false;
    for (uint32_t i = 0; i < g->n; i++)
        some |= c->tile[g->at[i]];
    if (!some)
        return false;
    if (!rows && are_tiles(c, g)) {
        emit_tiles(c, g);
        return true;
    }
    for (uint32_t i = 0; i < g->n; i++) {
        ir_id id = g->at[i];
        if (c->tile[id])
            vec_push(c->p->arena, &made, id);
        else
            vec_push(c->p->arena, &rest, id);
        c->outer[id] = c->tile[id] ? 0 : c->outer[id];
        c->tile[id] = false;
    }
    if (rows)
        emit_rows(c, &rest);
    else
        emit_part(c, &rest);
    emit_group(c, &made);
    return true;
}

/* Numbers of segments that somebody reads from memory. Loops over these segments know them. */
static bool *find_wanted(const l_fusing *c)
{
    bool *wanted = arena_alloc(c->p->arena, c->out->nodes);
    for (ir_id id = 1; id < c->out->nodes; id++) {
        const l_node *n = l_at(c->node, id);
        wanted[id] |= ir_at(c->p, id)->kind != IR_SEGMENT_OF || n->output || n->uses[L_HOST];
        for (uint32_t i = 0; n->anchor && i < n->dep.n; i++)
            wanted[n->dep.at[i].array] |= !l_knows_segment(c, n->dep.at[i].array, id);
    }
    for (uint32_t k = 0; k < c->p->output.n; k++)
        wanted[c->p->output.at[k]] = true;
    return wanted;
}

/* Does one of the packs ask for the number of its segment, which only loops over the segments know? */
static bool asks_for_segment(const l_fusing *c, const anchors *packs)
{
    bool asks = false;
    for (uint32_t i = 0; i < packs->n; i++) {
        const l_node *n = l_at(c->node, packs->at[i]);
        for (uint32_t d = 0; d < n->dep.n; d++)
            asks |= ir_at(c->p, n->dep.at[d].array)->kind == IR_SEGMENT_OF;
    }
    return asks;
}

/* What is packed shares the loop of segments, if their folds have one tree and they are gone over once. Otherwise it is
 * a loop of its own, behind the others: over rows, unless it asks for segments. */
static bool emit_packs_apart(l_fusing *c, const anchors *g)
{
    anchors rest = {0}, packs = {0};
    bool again = false;
    for (uint32_t i = 0; i < g->n; i++) {
        ir_id id = g->at[i];
        again |= c->segments[id] && ((c->sweep[id] && !c->outer[id]) || ir_at(c->p, id)->kind == IR_SCAN_SEG);
        if (c->segments[id] && is_pack(c, id))
            vec_push(c->p->arena, &packs, id);
        else
            vec_push(c->p->arena, &rest, id);
    }
    if (!packs.n || (!again && !l_trees_differ(c->p, g->n, g->at)))
        return false;
    bool asks = asks_for_segment(c, &packs);
    for (uint32_t i = 0; i < packs.n && !asks; i++) {
        c->segments[packs.at[i]] = 0;
        c->class[packs.at[i]] = class_of(c, packs.at[i]);
    }
    emit_rows(c, &rest);
    emit_rows(c, &packs);
    return true;
}

static void make_clusters(l_fusing *c)
{
    VEC(group) groups = {0};
    uint32_t *of = arena_array(c->p->arena, uint32_t, c->out->nodes);
    bool *wanted = find_wanted(c);
    for (ir_id id = 1; id < c->out->nodes; id++) {
        if (!l_at(c->node, id)->anchor || !wanted[id])
            continue;
        ir_id root = find(c, id);
        if (!of[root]) {
            bool right = c->sides[root] & SIDE_RIGHT;
            vec_push(c->p->arena, &groups, ((group){.level = c->level[id], .right = right, .root = root}));
            of[root] = groups.n;
        }
        vec_push(c->p->arena, &groups.at[of[root] - 1].anchor, id);
    }
    if (groups.n)
        qsort(groups.at, groups.n, sizeof(group), by_level);
    for (uint32_t i = 0; i < groups.n; i++) {
        bool rows = c->sides[groups.at[i].root] & SIDE_ROW || goes_on(c, &groups.at[i].anchor);
        if (emit_with_tiles(c, &groups.at[i].anchor, rows) || emit_packs_apart(c, &groups.at[i].anchor))
            continue;
        if (rows)
            emit_rows(c, &groups.at[i].anchor);
        else
            emit_part(c, &groups.at[i].anchor);
    }
    arena_release(c->p->arena, wanted, c->out->nodes);
    arena_release(c->p->arena, of, c->out->nodes * sizeof(*of));
    vec_free(c->p->arena, &groups);
}

void l_forget(l_program *l)
{
    arena *a = l->ir->arena;
    arena_release(a, l->cluster_of, l->nodes * sizeof(*l->cluster_of));
    arena_release(a, l->manifest, l->nodes * sizeof(*l->manifest));
    arena_release(a, l->number, l->nodes * sizeof(*l->number));
    arena_release(a, l->wanted, l->nodes * sizeof(*l->wanted));
    vec_free(a, &l->cluster);
    vec_free(a, &l->edge);
}

l_program *l_clusters(ir_program *p, const l_options *options)
{
    arena *a = p->arena;
    l_program *out = arena_new(a, *out);
    uint32_t n = p->node.n;
    *out = (l_program){.ir = p, .nodes = n};
    out->cluster_of = arena_array(a, uint32_t, n);
    out->manifest = arena_array(a, bool, n);
    out->number = arena_array(a, uint32_t, n);
    l_fusing c = {.p = p, .options = options, .out = out};
    c.level = arena_array(a, uint32_t, n);
    c.set = arena_array(a, ir_id, n);
    c.class = arena_array(a, l_class, n);
    c.sides = arena_array(a, *c.sides, n);
    c.sweep = arena_alloc(a, n);
    c.behind = arena_alloc(a, n);
    c.counts = arena_alloc(a, n);
    c.slot = arena_array(a, uint32_t, n);
    c.segments = arena_array(a, *c.segments, n);
    c.node = l_uses(p, options);
    c.outer = l_rows_outer(p, options, c.node);
    c.tile = l_tiles_outer(p, options, c.node, c.outer);
    out->part = c.node->part;
    out->wanted = l_wanted(p, out->part);
    out->sized = c.node->sized;
    assign_levels(&c);
    if (options->fuse) {
        join_small(&c);
        join_permutes(&c);
    }
    make_clusters(&c);
    l_find_storage(&c);
    l_find_edges(&c);
    arena_release(a, c.level, n * sizeof(*c.level));
    arena_release(a, c.set, n * sizeof(*c.set));
    arena_release(a, c.class, n * sizeof(*c.class));
    arena_release(a, c.sides, n * sizeof(*c.sides));
    arena_release(a, c.sweep, n);
    arena_release(a, c.behind, n);
    arena_release(a, c.counts, n);
    arena_release(a, c.slot, n * sizeof(*c.slot));
    arena_release(a, c.segments, n * sizeof(*c.segments));
    arena_release(a, c.outer, n * sizeof(*c.outer));
    arena_release(a, c.tile, n * sizeof(*c.tile));
    l_uses_free(c.node);
    return out;
}
