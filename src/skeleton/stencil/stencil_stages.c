/* The stages of a stencil loop, before code is made: how far they read into each other, hence which rows and columns
 * each computes and keeps, what is copied first, and how many rows are computed at once. */
#include "skeleton/stencil/stencil.h"

#include "opt/rewrite.h"

enum {
    MAX_TILE = 4096,
    WIDE_TILE = 8192,
    ROWS_BUDGET = 512 * 1024,
    ROW_GAP = 128 /* most bytes lost in front of an array in shared memory */
};

/* Rows computed at once, and the most operations a column of one of them may have. */
enum { MOST_ROWS = 4, MOST_BLOCK = 400, MOST_EDGE = 60 /* beside whole gangs, where boundaries cost more */ };

/* An array is copied if at least so many of its rows are read by one, at this cost a column. */
enum { LEAST_COPIED = 5, LEAST_COST = 64 };

/* --- how far stages read into each other --- */

typedef struct reach {
    ir_id node;
    halo h;
    bool followed; /* delayed: its operands have been added */
} reach;

static bool grow(halo *into, const halo *h)
{
    halo old = *into;
    into->up = larger(into->up, h->up);
    into->down = larger(into->down, h->down);
    into->left = larger(into->left, h->left);
    into->right = larger(into->right, h->right);
    return memcmp(&old, into, sizeof(old)) != 0;
}

static halo pattern_halo(const stages *s, const ir_array *info, uint32_t input)
{
    const uint8_t *extent = info->stencil[input].extent;
    int64_t x = extent[s->column] / 2 * s->channels, y = s->column ? extent[s->column - 1] / 2 : 0;
    return (halo){y, y, x, x};
}

typedef VEC(reach) reaches;

static void add_reach(arena *a, reaches *found, ir_id node, const halo *h)
{
    for (uint32_t i = 0; i < found->n; i++) {
        if (found->at[i].node != node)
            continue;
        grow(&found->at[i].h, h);
        return;
    }
    vec_push(a, found, ((reach){node, *h, false}));
}

/* Everything the anchor's element reads, with distances; delayed nodes are followed from larger to smaller ids. */
static void find_reaches(const stages *s, arena *a, ir_id anchor, reaches *found)
{
    const l_program *l = s->lw->l;
    const ir_program *p = l->ir;
    halo none = {0};
    add_reach(a, found, anchor, &none);
    for (;;) {
        uint32_t next = UINT32_MAX;
        for (uint32_t i = 0; i < found->n; i++) { /* the largest id not followed yet */
            ir_id id = found->at[i].node;
            bool follow = id == anchor || (!l->cluster_of[id] && ir_at(p, id)->kind != IR_INPUT);
            if (follow && !found->at[i].followed && (next == UINT32_MAX || id > found->at[next].node))
                next = i;
        }
        if (next == UINT32_MAX)
            return;
        reach from = found->at[next];
        found->at[next].followed = true;
        const ir_array *info = ir_info(p, from.node);
        for (uint32_t k = 0; k < info->inputs; k++) {
            halo h = from.h;
            if (ir_at(p, from.node)->kind == IR_STENCIL) {
                halo pattern = pattern_halo(s, info, k);
                h = (halo){h.up + pattern.up, h.down + pattern.down, h.left + pattern.left, h.right + pattern.right};
            }
            add_reach(a, found, info->input[k], &h);
        }
    }
}

/* The same of a stage; a copy reads no other. */
static void stage_reaches(const stages *s, arena *a, const stage *g, reaches *found)
{
    halo none = {0};
    if (g->copy)
        add_reach(a, found, g->op->term, &none);
    else
        find_reaches(s, a, g->op->term, found);
}

void sk_stage_body(const stages *s, sk_body *b, sk_columns columns, arena *a)
{
    sk_body_init(b, s->lw->cluster, columns, a);
    b->behind = (uint8_t)(s->at.rank - 1u - s->column);
}

static stage *stage_of(stages *s, ir_id node)
{
    for (uint32_t i = 0; i < s->stage.n; i++)
        if (s->stage.at[i].op->term == node && s->stage.at[i].op->staged)
            return &s->stage.at[i];
    return NULL;
}

/* Do two boundaries say the same of what lies outside? */
static bool same_outside(const ir_stencil *x, const ir_stencil *y, uint32_t components)
{
    if (!x || !y || x->boundary != y->boundary)
        return false;
    if (x->boundary == IR_FUNCTION)
        return x->function == y->function;
    return x->boundary != IR_CONSTANT || memcmp(x->constant, y->constant, components * sizeof(ir_id)) == 0;
}

/* May what lies outside be computed where nobody asks for it? Not what can fail, and nothing long. */
static bool is_plain_outside(const stages *s, ir_id array, const ir_stencil *x, arena *a)
{
    enum { SHORT = 40 };
    const ir_program *p = s->lw->l->ir;
    if (x->boundary != IR_CONSTANT && x->boundary != IR_FUNCTION)
        return true;
    sk_body body;
    opt_ids ids = {0};
    sk_stage_body(s, &body, SK_GENERIC, a);
    opt_reach(s->lw->l->ir, a, ir_info(p, array)->components, sk_beyond(&body, array, x, &s->at), &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->partial || n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return false;
    }
    return ids.n <= SHORT;
}

/* The boundary of a stencil's input, of which a copy is made: the copy's rows and columns outside of the array are what
 * it says. */
static int copy_pad(stages *s, stage *source, const ir_stencil *reader, arena *a)
{
    if (!reader || (source->beyond && !same_outside(source->beyond, reader, source->info->components)) ||
        !is_plain_outside(s, source->op->term, reader, a))
        return PAD_NONE;
    source->beyond = reader;
    return 1 + (int)reader->boundary;
}

/* Rows can be padded if all who read beyond the edge are stencils of the stage itself, and agree on the boundary. */
static void find_pads(const l_program *l, arena *a, stages *s)
{
    for (uint32_t t = 0; t < s->stage.n; t++) {
        s->stage.at[t].pad = PAD_UNKNOWN;
        s->stage.at[t].beyond = NULL;
    }
    for (uint32_t t = 0; t < s->stage.n; t++) {
        reaches found = {0};
        stage_reaches(s, a, &s->stage.at[t], &found);
        for (uint32_t i = 0; i < found.n; i++) {
            const ir_array *info = ir_info(l->ir, found.at[i].node);
            if (!found.at[i].followed)
                continue;
            bool direct =
                ir_at(l->ir, found.at[i].node)->kind == IR_STENCIL && !found.at[i].h.left && !found.at[i].h.right;
            bool straight = direct && !found.at[i].h.up && !found.at[i].h.down;
            for (uint32_t k = 0; k < info->inputs; k++) {
                stage *source = stage_of(s, info->input[k]);
                if (!source || (!direct && !found.at[i].h.left && !found.at[i].h.right))
                    continue;
                ir_boundary b = direct ? info->stencil[k].boundary : IR_FUNCTION;
                int pad = b == IR_CLAMP || b == IR_MIRROR ? 1 + (int)b : PAD_NONE;
                if (source->copy && s->aligned)
                    pad = copy_pad(s, source, straight ? &info->stencil[k] : NULL, a);
                source->pad = source->pad == PAD_UNKNOWN || source->pad == pad ? pad : PAD_NONE;
            }
        }
    }
    for (uint32_t t = 0; t < s->stage.n; t++) {
        stage *g = &s->stage.at[t];
        g->pad = g->pad == PAD_UNKNOWN ? PAD_NONE : g->pad;
        g->beyond = g->pad ? g->beyond : NULL;
    }
}

/* Stages that read all their neighbours from copies that go beyond the edges. */
static void find_free(const l_program *l, arena *a, stages *s)
{
    for (uint32_t t = 0; t < s->stage.n; t++) {
        stage *g = &s->stage.at[t];
        reaches found = {0};
        stage_reaches(s, a, g, &found);
        bool copies = false, others = false;
        for (uint32_t i = 0; i < found.n; i++) {
            const ir_array *info = ir_info(l->ir, found.at[i].node);
            bool stencil = ir_at(l->ir, found.at[i].node)->kind == IR_STENCIL;
            for (uint32_t k = 0; k < info->inputs && found.at[i].followed && stencil; k++) {
                const stage *source = stage_of(s, info->input[k]);
                *(source && source->beyond ? &copies : &others) = true;
            }
        }
        g->free = copies && !others;
        g->inside &= !g->free;
    }
}

/* how far the reader's border columns reach */
static void find_own(const l_program *l, stages *s, stage *reader, const reaches *found)
{
    for (uint32_t i = 0; i < found->n; i++) {
        const ir_array *info = ir_info(l->ir, found->at[i].node);
        if (!found->at[i].followed || ir_at(l->ir, found->at[i].node)->kind != IR_STENCIL)
            continue;
        for (uint32_t k = 0; k < info->inputs; k++) {
            const stage *source = stage_of(s, info->input[k]);
            halo pattern = pattern_halo(s, info, k), h = found->at[i].h;
            h = (halo){h.up + pattern.up, h.down + pattern.down, h.left + pattern.left, h.right + pattern.right};
            if (!source || !source->pad)
                grow(&reader->own, &h);
        }
    }
}

static void list_stages(const sk_cluster *c, arena *a, stages *s)
{
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        if (c->loop->op.at[i].stored || c->loop->op.at[i].staged)
            vec_push(a, &s->stage,
                     ((stage){.op = &c->loop->op.at[i], .info = ir_info(c->l->ir, c->loop->op.at[i].term), .ring = 1}));
}

static void analyse(const l_program *l, arena *a, stages *s)
{
    find_pads(l, a, s);
    for (uint32_t t = s->stage.n; t-- > 0;) { /* readers have larger ids: they are complete before what they read */
        stage *reader = &s->stage.at[t];
        reaches found = {0};
        stage_reaches(s, a, reader, &found);
        find_own(l, s, reader, &found);
        reader->left = reader->own.left;
        if (s->aligned) {
            reader->start = round_up(reader->start, FULL);
            reader->own.left = round_up(reader->own.left, FULL);
        }
        for (uint32_t i = 0; i < found.n; i++) {
            halo h = found.at[i].h;
            if (found.at[i].followed)
                continue;
            for (uint32_t k = 0; k < t; k++) {
                stage *source = &s->stage.at[k];
                if (source->op->term != found.at[i].node)
                    continue;
                halo need = {reader->need.up + h.up, reader->need.down + h.down, reader->need.left + h.left,
                             reader->need.right + h.right};
                grow(&source->need, &need);
                source->start = larger(source->start, reader->start + h.left);
                source->lead = larger(source->lead, reader->lead + h.down);
            }
        }
    }
    for (uint32_t t = 0; t < s->stage.n; t++) {
        const stage *reader = &s->stage.at[t];
        reaches found = {0};
        stage_reaches(s, a, reader, &found);
        for (uint32_t i = 0; i < found.n; i++)
            for (uint32_t k = 0; k < t && !found.at[i].followed; k++) {
                stage *source = &s->stage.at[k];
                if (source->op->term == found.at[i].node)
                    source->ring = larger(source->ring, source->lead - reader->lead + found.at[i].h.up + 1);
            }
    }
    for (uint32_t t = 0; t < s->stage.n; t++)
        s->stage.at[t].ring = round_up(s->stage.at[t].ring + s->rows - 1, s->rows);
}

/* --- what stages cost --- */

/* The row of a neighbour beyond the edge is found by two instructions if it is clamped. Other boundaries take more, or
 * choose between two values at each read: blocks of rows leave that to the few rows near the edge. */
static void find_inside(stages *s, stage *g, arena *a)
{
    const ir_program *p = s->lw->l->ir;
    reaches found = {0};
    stage_reaches(s, a, g, &found);
    for (uint32_t i = 0; i < found.n; i++) {
        const ir_array *info = ir_info(p, found.at[i].node);
        g->up = larger(g->up, found.at[i].h.up);
        g->down = larger(g->down, found.at[i].h.down);
        for (uint32_t k = 0; k < info->inputs && found.at[i].followed && ir_at(p, found.at[i].node)->kind == IR_STENCIL;
             k++)
            g->inside |= info->stencil[k].boundary != IR_CLAMP;
    }
}

/* Rows computed at once share loads if stencils read above or below them, and loops over what is beside the edge if
 * they read along rows. Their terms must be such that it does not matter when they are computed: what may fail reports
 * its element, and loops are long. 0: no block. */
static uint32_t block_cost(stages *s, const stage *g, sk_columns columns, arena *a)
{
    ir_program *p = s->lw->l->ir;
    reaches found = {0};
    sk_body body;
    bool beside = false;
    stage_reaches(s, a, g, &found);
    for (uint32_t i = 0; i < found.n; i++)
        beside |= found.at[i].h.up || found.at[i].h.down || found.at[i].h.left || found.at[i].h.right;
    sk_stage_body(s, &body, columns, a);
    const ir_id *term = sk_define(&body, g->op->term, &s->at);
    opt_ids ids = {0};
    opt_reach(p, a, g->info->components, term, &ids);
    uint32_t cost = 1;
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->partial || n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_MATH))
            return 0;
        cost += n->type != T_I64;
    }
    return beside ? cost : 0;
}

/* Is the stage a sum of products of what it reads? */
static bool is_sum(stages *s, const stage *g, arena *a)
{
    ir_program *p = s->lw->l->ir;
    sk_body body;
    sk_stage_body(s, &body, sk_block_columns(g), a);
    opt_ids ids = {0};
    opt_reach(p, a, g->info->components, sk_define(&body, g->op->term, &s->at), &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        bool sum = n->kind == IR_OP &&
                   (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL || n->op == OP_FMA || n->op == OP_NEG);
        if (n->type != T_I64 && !sum && n->kind != IR_READ && n->kind != IR_CONST)
            return false;
    }
    return true;
}

/* --- copies --- */

static bool only_neighbours_read(const l_program *l, ir_id array)
{
    for (uint32_t i = 0; i < l->edge.n; i++)
        if (l->edge.at[i].from == array && l->edge.at[i].access != L_HALO)
            return false;
    return true;
}

static bool worth_copying(stages *s, const reach *r)
{
    const l_program *l = s->lw->l;
    const sk_cluster *c = s->lw->cluster;
    const ir_array *info = ir_info(l->ir, r->node);
    bool enough = r->h.up + r->h.down + 1 >= LEAST_COPIED;
    return !r->followed && !stage_of(s, r->node) && enough && info->rank == 2 && s->column == 1 && c->loop->rank == 2 &&
           memcmp(info->shape, c->loop->shape, 2 * sizeof(ir_id)) == 0 && only_neighbours_read(l, r->node);
}

static void copy_for(stages *s, const stage *g, arena *a)
{
    reaches found = {0};
    find_reaches(s, a, g->op->term, &found);
    for (uint32_t i = 0; i < found.n; i++) {
        if (!worth_copying(s, &found.at[i]))
            continue;
        ir_id array = found.at[i].node;
        l_op *op = arena_new(a, *op);
        *op = (l_op){.term = array, .kind = L_ELEMENT, .staged = true};
        vec_push(a, &s->stage, ((stage){.op = op, .info = ir_info(s->lw->l->ir, array), .ring = 1, .copy = true}));
    }
}

/* An array in memory of which a costly stage reads many rows is copied to kept rows first. There what its boundary says
 * lies around it, so that no columns and rows need care, and its rows do not fall into the same few sets of the cache,
 * as they do in arrays whose width is a power of two. Copies stand before all other stages. */
static void add_copies(stages *s, arena *a)
{
    uint32_t own = s->stage.n;
    for (uint32_t i = 0; i < own; i++)
        if (s->stage.at[i].block && block_cost(s, &s->stage.at[i], sk_block_columns(&s->stage.at[i]), a) >= LEAST_COST)
            copy_for(s, &s->stage.at[i], a);
    find_pads(s->lw->l, a, s);
    stage *ordered = arena_array(a, stage, s->stage.n);
    uint32_t n = 0;
    for (uint32_t i = own; i < s->stage.n; i++)
        if (s->stage.at[i].pad)
            ordered[n++] = s->stage.at[i];
    memcpy(ordered + n, s->stage.at, own * sizeof(stage));
    s->stage.n = n + own;
    memcpy(s->stage.at, ordered, s->stage.n * sizeof(stage));
    find_free(s->lw->l, a, s);
}

/* --- fetching --- */

static bool has_loops_shape(const stages *s, ir_id array)
{
    const sk_cluster *c = s->lw->cluster;
    const ir_array *info = ir_info(c->l->ir, array);
    return info->rank == 2 && c->loop->rank == 2 && s->column == 1 &&
           memcmp(info->shape, c->loop->shape, 2 * sizeof(ir_id)) == 0;
}

/* Adds what a stage reads from memory; false: nothing. */
static bool list_fetches(stages *s, const stage *g, arena *a, stage *host)
{
    const l_program *l = s->lw->l;
    reaches found = {0};
    bool any = false;
    stage_reaches(s, a, g, &found);
    for (uint32_t i = 0; i < found.n; i++) {
        const reach *r = &found.at[i];
        if (r->followed || (!g->copy && stage_of(s, r->node)) || !has_loops_shape(s, r->node))
            continue;
        any = true;
        for (uint32_t c = 0; c < ir_info(l->ir, r->node)->components && host; c++)
            vec_push(a, &host->fetches, ((fetch){r->node, c, g->lead + r->h.down, g->need.down + r->h.down}));
    }
    return any;
}

/* The stage that computes most and leaves the memory alone fetches what those before it read. */
static void find_fetches(stages *s, arena *a)
{
    stage *host = NULL;
    uint32_t most = 0, n = 0;
    for (uint32_t i = 0; i < s->stage.n && s->rows > 1; i++) {
        stage *g = &s->stage.at[i];
        if (!g->block || !g->op->staged || g->op->stored || list_fetches(s, g, a, NULL))
            continue;
        uint32_t cost = block_cost(s, g, sk_block_columns(g), a);
        if (cost > most) {
            most = cost;
            host = g;
            n = i;
        }
    }
    for (uint32_t i = 0; i < n && host; i++)
        list_fetches(s, &s->stage.at[i], a, host);
}

/* --- how many rows and lanes --- */

static void choose_rows(stages *s, const sk_options *options, arena *a)
{
    s->rows = 1;
    if (!options->vector_bytes || options->group || !s->column || s->any_channels)
        return;
    for (uint32_t i = 0; i < s->stage.n; i++) {
        stage *g = &s->stage.at[i];
        find_inside(s, g, a);
        uint32_t cost = block_cost(s, g, sk_block_columns(g), a);
        g->block = cost && cost <= MOST_BLOCK;
        uint32_t edge = g->block ? block_cost(s, g, g->inside ? SK_BESIDE : SK_GENERIC, a) : 0;
        g->edges = edge && edge <= MOST_EDGE;
        if (options->row & SK_STENCIL_BY_ROW)
            g->block &= g->inside;
        else if (g->block)
            s->rows = MOST_ROWS;
    }
    add_copies(s, a);
}

/* Does it take longer to move what the stage reads and writes than to compute it, row by row? Both are counted in
 * bytes: of all that its operations and reads make, and of the elements of arrays, of which results are read to be
 * overwritten.
 */
static bool is_light(stages *s, const stage *g, arena *a)
{
    enum { LIGHT = 10 };
    ir_program *p = s->lw->l->ir;
    reaches found = {0};
    opt_ids ids = {0};
    sk_body body;
    size_t moved = 0, made = 0;
    stage_reaches(s, a, g, &found);
    for (uint32_t i = 0; i < found.n; i++) {
        const ir_array *info = ir_info(p, found.at[i].node);
        for (uint32_t c = 0; c < info->components && !found.at[i].followed; c++)
            moved += ir_type_size(info->type[c]);
    }
    for (uint32_t c = 0; c < g->info->components; c++)
        moved += 2 * ir_type_size(g->info->type[c]);
    sk_stage_body(s, &body, SK_INSIDE, a);
    opt_reach(p, a, g->info->components, sk_define(&body, g->op->term, &s->at), &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_MATH))
            return false;
        made += n->type == T_I64 || n->kind == IR_CONST ? 0 : ir_type_size((ir_type)n->type);
    }
    return made < LIGHT * moved;
}

/* Does the stage read kept rows only, several for each of its own, and keep these? Then nothing of it is moved but
 * within a worker's caches, and rows computed at once share what they load from there. */
static bool lies_between(const stages *s, const stage *g, arena *a)
{
    reaches found = {0};
    bool kept = g->op->staged && !g->op->stored && !g->copy, several = false;
    stage_reaches(s, a, g, &found);
    for (uint32_t i = 0; i < found.n; i++) {
        bool here = found.at[i].followed;
        for (uint32_t k = 0; k < s->stage.n; k++)
            here |= s->stage.at[k].op->staged && s->stage.at[k].op->term == found.at[i].node;
        kept &= here;
        several |= found.at[i].h.up || found.at[i].h.down;
    }
    return kept && several;
}

static uint32_t light_bytes(stages *s, const sk_cluster *c, arena *a)
{
    size_t bytes = sk_stored_bytes(c);
    for (uint32_t i = 0; i < s->stage.n; i++) {
        const stage *g = &s->stage.at[i];
        if (lies_between(s, g, a) || (!g->copy && !is_light(s, g, a)))
            return 0;
    }
    for (uint32_t i = 0; i < c->loop->reads.n; i++) {
        const ir_array *info = ir_info(c->l->ir, c->loop->reads.at[i]);
        for (uint32_t k = 0; k < info->components; k++)
            bytes += ir_type_size(info->type[k]);
    }
    return bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

/* Of a gang's widest elements. Where rows are computed together, one; two if there is nothing but a long sum, whose
 * next addition waits for the one before. Else two. */
static uint32_t registers_of(stages *s, arena *a)
{
    if (s->rows == 1)
        return 2;
    for (uint32_t i = 0; i < s->stage.n; i++) {
        const stage *g = &s->stage.at[i];
        if (!g->copy && (!g->block || block_cost(s, g, sk_block_columns(g), a) < LEAST_COST || !is_sum(s, g, a)))
            return 1;
    }
    return 2;
}

uint16_t sk_stencil_lanes(stages *s, const sk_options *options, arena *a)
{
    uint32_t widest = 1, registers = registers_of(s, a);
    uint16_t most = 256;
    for (uint32_t i = 0; i < s->stage.n; i++) {
        sk_body body;
        opt_ids ids = {0};
        const stage *g = &s->stage.at[i];
        sk_stage_body(s, &body, SK_INTERIOR, a);
        const ir_id *term = g->copy ? sk_pull(&body, g->op->term, &s->at) : sk_define(&body, g->op->term, &s->at);
        uint16_t fits = sk_lanes_for(s->lw->l, a, g->info->components, term, options->vector_bytes);
        most = fits < most ? fits : most;
        opt_reach(s->lw->l->ir, a, g->info->components, term, &ids);
        uint32_t own = sk_widest(s->lw->l, &ids, g->info->components, term);
        widest = own > widest ? own : widest;
    }
    uint32_t lanes = options->vector_bytes >= 8 ? options->vector_bytes / widest * registers : 4;
    return lanes < most ? (uint16_t)lanes : most;
}

/* Do rows of the stage begin and end with gangs that know what lies outside? Columns of two of these may be the same,
 * so it does not matter how often one is computed. */
static bool has_ends(stages *s, const stage *g, arena *a)
{
    ir_program *p = s->lw->l->ir;
    opt_ids ids = {0};
    sk_body body;
    if (!s->aligned || s->any_channels || g->copy || larger(g->left, g->own.right) > FULL ||
        (!g->left && !g->own.right))
        return false;
    sk_stage_body(s, &body, SK_GENERIC, a);
    opt_reach(p, a, g->info->components, sk_define(&body, g->op->term, &s->at), &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        if (n->partial || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES))
            return false;
    }
    return true;
}

int64_t sk_stencil_gangs(const stages *s, const stage *g, int64_t lanes)
{
    int64_t both = g->left + g->own.right, one = larger(g->left, g->own.right);
    if (!g->ends || lanes < one || !g->block || !g->edges || s->stage.n != 1)
        return 0;
    return lanes + (both > lanes ? both : one);
}

stages sk_stencil_stages(sk_lower *lw, const sk_options *options, arena *a)
{
    const int64_t channels = options->row >> SK_STENCIL_CHANNELS;
    const bool any = options->row & SK_STENCIL_ANY;
    stages s = {.lw = lw, .aligned = options->vector_bytes && !options->group, .at = {.rank = lw->cluster->loop->rank}};
    s.column = s.at.rank - 1u - (channels || any ? lw->cluster->channels : 0u);
    s.channels = channels ? channels : 1;
    s.any_channels = any;
    for (unsigned d = 0; d < s.at.rank; d++)
        s.at.at[d] = ir_var(lw->l->ir, T_I64);
    s.end_column = ir_var(lw->l->ir, T_I64);
    s.lane = ir_var(lw->l->ir, T_I64);
    list_stages(lw->cluster, a, &s);
    choose_rows(&s, options, a);
    analyse(lw->l, a, &s);
    for (uint32_t i = 0; i < s.stage.n; i++)
        s.stage.at[i].ends = has_ends(&s, &s.stage.at[i], a);
    find_fetches(&s, a);
    return s;
}

/* --- elements by themselves --- */

/* What the terms of an element, composed, consist of. */
static void count_terms(const ir_program *p, const opt_ids *ids, stencil_element *e)
{
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *n = ir_at(p, ids->at[i]);
        e->alone |= n->partial || n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES);
        if (n->kind == IR_READ)
            e->narrowest = smaller(e->narrowest, (int64_t)ir_type_size((ir_type)n->type));
        e->reads += n->kind == IR_READ;
        e->operations += n->kind != IR_READ && n->kind != IR_CONST && n->type != T_I64;
        e->words = larger(e->words, n->type == T_I64 ? 1 : (int64_t)(ir_type_size((ir_type)n->type) + 3) / 4);
    }
}

bool sk_stencil_element(sk_cluster *c, unsigned channels, arena *a, stencil_element *out)
{
    sk_lower lw = {.l = c->l, .cluster = c, .arena = a};
    stages s = {.lw = &lw};
    opt_ids ids = {0};
    sk_body body;
    *out = (stencil_element){.words = 1, .narrowest = 8};
    s.at.rank = c->loop->rank;
    s.column = c->loop->rank - 1u - channels;
    s.channels = 1;
    sk_stage_body(&s, &body, SK_INSIDE, a);
    body.composes = true;
    for (unsigned d = 0; d < s.at.rank; d++)
        s.at.at[d] = ir_var(c->l->ir, T_I64);
    list_stages(c, a, &s);
    for (uint32_t i = 0; i < s.stage.n; i++) {
        const stage *g = &s.stage.at[i];
        reaches found = {0};
        stage_reaches(&s, a, g, &found);
        for (uint32_t k = 0; k < found.n; k++) {
            const halo *h = &found.at[k].h;
            if (stage_of(&s, found.at[k].node) && (h->up || h->down || h->left || h->right))
                return false;
            grow(&out->beyond, h);
            out->arrays += found.at[k].followed ? 0 : ir_info(c->l->ir, found.at[k].node)->components;
        }
        if (!g->op->stored)
            continue;
        for (uint32_t k = 0; k < g->info->components; k++)
            out->narrowest = smaller(out->narrowest, (int64_t)ir_type_size(g->info->type[k]));
        out->results += g->info->components;
        opt_reach(c->l->ir, a, g->info->components, sk_define(&body, g->op->term, &s.at), &ids);
    }
    count_terms(c->l->ir, &ids, out);
    return true;
}

/* --- shared memory --- */

static int64_t column_bytes(const stages *s, int64_t *beside)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->stage.n; i++) {
        const stage *g = &s->stage.at[i];
        for (unsigned k = 0; k < g->info->components && g->op->staged; k++) {
            int64_t bytes = g->ring * (int64_t)ir_type_size(g->info->type[k]);
            sum += bytes;
            *beside += bytes * (g->need.left + g->need.right) + ROW_GAP;
        }
    }
    return sum;
}

/* The dimensions, the last ones, along which no stencil of the loop reads neighbours: few enough elements that they may
 * count as columns of the dimension before them. */
static uint8_t channels_of(stages *s, arena *a, bool *told)
{
    const sk_cluster *c = s->lw->cluster;
    unsigned behind = c->loop->rank - 1u;
    int64_t known;
    for (uint32_t i = 0; i < s->stage.n; i++) {
        reaches found = {0};
        stage_reaches(s, a, &s->stage.at[i], &found);
        if (s->stage.at[i].op->staged)
            return 0;
        for (uint32_t k = 0; k < found.n; k++) {
            const ir_array *info = ir_info(c->l->ir, found.at[k].node);
            for (uint32_t x = 0; found.at[k].followed && info->stencil && x < info->inputs; x++)
                while (behind && info->stencil[x].extent[c->loop->rank - behind] > 1)
                    behind--;
        }
    }
    for (unsigned d = c->loop->rank - behind; behind > 1 && d < c->loop->rank; d++)
        if (!ir_extent_constant(c->l->ir, c->loop->shape[d], &known))
            behind = c->loop->rank - 1u - d;
    *told = behind == 1 && !ir_extent_constant(c->l->ir, c->loop->shape[c->loop->rank - 1u], &known);
    return (uint8_t)behind;
}

void sk_stencil_prepare(sk_cluster *c, arena *a)
{
    sk_lower lw = {.l = c->l, .cluster = c, .arena = a};
    sk_options one_row = {.vector_bytes = 0}, several_rows = {.vector_bytes = 64};
    int64_t beside = 0;
    stages s = sk_stencil_stages(&lw, &one_row, a);
    c->channels = channels_of(&s, a, &c->channels_told);
    c->halo_bytes = 0;
    c->column_bytes = column_bytes(&s, &c->halo_bytes);
    sk_group_stencil_prepare(c, a);
    s = sk_stencil_stages(&lw, &several_rows, a);
    c->light_bytes = light_bytes(&s, c, a);
    c->gang_columns = s.stage.n == 1 ? sk_stencil_gangs(&s, &s.stage.at[0], sk_stencil_lanes(&s, &several_rows, a)) : 0;
    int64_t column = column_bytes(&s, &beside);
    c->tile = column ? MAX_TILE : WIDE_TILE;
    while (c->tile > 64 && c->tile * column > ROWS_BUDGET)
        c->tile /= 2;
}
