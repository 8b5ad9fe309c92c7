/* Clusters and edges as text, for explain and for tests of structure. What is alike but for the numbers of its arrays,
 * as the rounds of a loop in C are, is printed once. */
#include "loop/show.h"

#include <string.h>

const char *l_why_text(l_why why)
{
    static const char *const sentence[] = {
        [L_FUSED_DELAYED] = "fused: computed where it is used",
        [L_FUSED_REGISTER] = "fused: one loop, passed in a register",
        [L_FUSED_ROWS] = "fused: one loop, neighbours kept in rows of shared memory",
        [L_FUSED_SWEEP] = "fused: one loop over rows, for a later sweep over the same row",
        [L_FUSED_SEGMENT] = "fused: one loop over segments, for what the same segment makes of it",
        [L_FUSED_TILE] = "fused: one loop, for what is made of each tile of results",
        [L_NOT_INPUT] = "read: an argument of the program",
        [L_NOT_RATE] = "not fused: the two iterate over different extents",
        [L_NOT_RANDOM] = "not fused: read at computed indices, and too costly to recompute there",
        [L_NOT_SORT] = "not fused: a sort goes over whole rows, several times, in loops of its own",
        [L_NOT_AFTER] = "not fused: a fold must be complete before its result is used",
        [L_NOT_ROW] = "not fused: each row reads its own fold only, but one loop does not hold a fold and its readers",
        [L_NOT_COST] = "not fused: computing it at each use costs more than memory",
        [L_NOT_CAP] = "not fused: the kernel would be too large",
        [L_NOT_FORCED] = "not fused: forced to memory by the program",
        [L_NOT_CLASS] = "not fused: the loops are of different kinds (combination tree, neighbourhood)",
        [L_NOT_DEFAULTS] = "not fused: what a permute combines elements into is in memory, and updated there or copied",
        [L_NOT_PERMUTE] = "not fused: elements that go to places of their own have a loop of their own",
        [L_NOT_BLOCK] = "not fused: where a block is many threads, memory costs less than rows kept for neighbours",
        [L_NOT_BOUNDARY] = "not fused: a wrapped boundary needs far rows",
        [L_NOT_CONTROL] = "not fused: a loop or choice of arrays takes and gives whole arrays in memory",
        [L_NOT_ENABLED] = "not fused: fusion is switched off",
    };
    return sentence[why];
}

/* --- things that are alike --- */

typedef struct likeness {
    const char *key;       /* what they have in common */
    uint32_t first, count; /* numbers of things */
    uint32_t last;
} likeness;

typedef struct likenesses {
    arena *arena;
    map64 at; /* hash of a key, or behind it -> 1 + place in `like` */
    VEC(likeness) like;
} likenesses;

/* The key lives as long as the arena. */
static void add_alike(likenesses *all, const char *key, uint32_t number)
{
    uint64_t hash = hash_bytes(key, strlen(key), 1);
    uint32_t at;
    while ((at = map64_get(&all->at, hash)) && strcmp(all->like.at[at - 1].key, key) != 0)
        hash++;
    if (at) {
        all->like.at[at - 1].count++;
        all->like.at[at - 1].last = number;
        return;
    }
    vec_push(all->arena, &all->like, ((likeness){key, number, 1, number}));
    map64_put(all->arena, &all->at, hash, all->like.n);
}

/* --- clusters --- */

static void print_head(const l_shown *s, const l_cluster *c, text *out)
{
    static const char *const class[] = {"loop",    "stencil loop", "fold loop",    "row loop", "sort",
                                        "control", "permute loop", "segment loop", "tile loop"};
    bool folds = c->class == L_CLASS_FOLD || c->class == L_CLASS_SEGMENT || c->class == L_CLASS_TILES;
    text_printf(out, "%s%s over ", folds && c->ordered ? "ordered " : "", class[c->class]);
    l_print_rate(s->l, c, out);
    if (c->behind)
        text_printf(out, ", along dimension %u", c->rank - 1u - c->behind);
    if (c->class == L_CLASS_ROW)
        text_printf(out, ", %s%u sweep%s", c->right ? "from the right, " : "", c->sweeps, c->sweeps > 1 ? "s" : "");
    text_add(out, "\n");
}

/* what an operation does in a row loop, and when */
static void print_in_row(const l_op *op, text *out)
{
    static const char *const kind[] = {"element", "fold", "fold of segments", "scan", "pack", "sort", "result"};
    if (op->outer)
        text_printf(out, ", once a row before sweep %u", op->sweep);
    else
        text_printf(out, ", %s in sweep %u", kind[op->kind], op->sweep);
    if (op->again)
        text_add(out, ", kept in cache or computed again later");
}

static bool same_in_row(const l_cluster *c, const l_op *x, const l_op *y)
{
    return c->class != L_CLASS_ROW ||
           (x->kind == y->kind && x->outer == y->outer && x->sweep == y->sweep && x->again == y->again);
}

/* Steps of one operation stand one behind the other: what is said of them is said of the operation. */
static void print_ops(const l_shown *s, const l_cluster *c, bool numbered, text *out)
{
    for (uint32_t i = 0; i < c->op.n;) {
        const l_op *first = &c->op.at[i];
        ir_id whole = s->whole[first->term];
        bool stored = false, staged = false;
        for (; i < c->op.n && s->whole[c->op.at[i].term] == whole && same_in_row(c, first, &c->op.at[i]); i++) {
            stored |= c->op.at[i].stored;
            staged |= c->op.at[i].staged;
        }
        text_add(out, "    ");
        l_print_name(s, whole, numbered, out);
        if (c->class == L_CLASS_ROW)
            print_in_row(first, out);
        if (c->class == L_CLASS_TILES && first->outer)
            text_add(out, first->kind == L_FOLD ? ", folded of tiles" : ", made of tiles");
        text_printf(out, "%s%s\n", stored ? ", stored" : "", staged ? ", kept in rows" : "");
    }
}

static void print_reads(const l_shown *s, const l_cluster *c, bool numbered, text *out)
{
    for (uint32_t i = 0; i < c->reads.n; i++) {
        text_add(out, "    reads ");
        l_print_name(s, s->whole[c->reads.at[i]], numbered, out);
        text_add(out, "\n");
    }
}

static void print_cluster(const l_shown *s, uint32_t number, bool numbered, text *out)
{
    const l_cluster *c = &s->l->cluster.at[number];
    print_head(s, c, out);
    print_ops(s, c, numbered, out);
    print_reads(s, c, numbered, out);
}

static void print_clusters(const l_shown *s, text *out)
{
    likenesses all = {.arena = out->arena};
    for (uint32_t i = 0; i < s->l->cluster.n; i++) {
        text key;
        text_init(&key, out->arena);
        print_cluster(s, i, false, &key);
        add_alike(&all, key.at, i);
    }
    for (uint32_t i = 0; i < all.like.n; i++) {
        const likeness *k = &all.like.at[i];
        text_printf(out, "cluster %u: ", k->first);
        print_cluster(s, k->first, true, out);
        if (k->count > 1)
            text_printf(out, "    and %u more like this one, the last is cluster %u\n", k->count - 1, k->last);
    }
}

/* --- edges --- */

static void print_edges(const l_shown *s, bool unfused, text *out)
{
    likenesses all = {.arena = out->arena};
    for (uint32_t i = 0; i < s->edge.n; i++) {
        const l_edge *e = &s->edge.at[i];
        if (unfused && (l_is_fused(e->why) || e->why == L_NOT_INPUT))
            continue;
        text key;
        text_init(&key, out->arena);
        l_print_edge_name(s, e, false, &key);
        text_printf(&key, ": %u", (unsigned)e->why);
        add_alike(&all, key.at, i);
    }
    for (uint32_t i = 0; i < all.like.n; i++) {
        const likeness *k = &all.like.at[i];
        const l_edge *e = &s->edge.at[k->first], *last = &s->edge.at[k->last];
        bool data = e->why == L_NOT_INPUT && l_origin_of(s, e->from) == L_DATA;
        l_print_edge_name(s, e, true, out);
        text_printf(out, ": %s\n", data ? "read: data of the program (sn_use)" : l_why_text(e->why));
        if (k->count == 1)
            continue;
        text_printf(out, "    and %u more like this one, the last is ", k->count - 1);
        l_print_edge_name(s, last, true, out);
        text_add(out, "\n");
    }
}

void l_print_clusters(const l_program *l, text *out)
{
    print_clusters(l_show(l, out->arena), out);
}

void l_print_edges(const l_program *l, text *out)
{
    print_edges(l_show(l, out->arena), false, out);
}

void l_print_unfused(const l_program *l, text *out)
{
    size_t before = out->n;
    print_edges(l_show(l, out->arena), true, out);
    if (out->n == before)
        text_add(out, "nothing: whatever one operation computes for another is fused\n");
}

void l_print(const l_program *l, text *out)
{
    const l_shown *s = l_show(l, out->arena);
    print_clusters(s, out);
    print_edges(s, false, out);
}
