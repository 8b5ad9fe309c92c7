/* Uses of every array, the cost of computing an element, and from both the choice between delaying an operation and
 * computing it as a whole (the cost model that Accelerate's thesis, §5.5.4, leaves as future work). */
#include "loop/uses.h"

#include "loop/costs.h"
#include "loop/folded.h"
#include "loop/parts.h"
#include "opt/rewrite.h"

enum { DEPTH_CAP = 64, TRIVIAL_READS = 2, REPEATED = 16 };

typedef struct uses {
    ir_program *p;
    const l_options *options;
    l_nodes *node;
} uses;

static void use(uses *u, ir_id user, ir_id array, l_access access)
{
    l_node *n = l_at(u->node, array);
    n->live = true;
    n->uses[access]++;
    n->user = user;
    l_note_use(u->p, u->node, user, array, access);
}

/* reads inside closed terms: the host needs the array */
static void use_closed(uses *u, ir_id user, ir_id term, l_access access)
{
    if (!term || ir_at(u->p, term)->kind == IR_CONST || ir_at(u->p, term)->kind == IR_DIM)
        return;
    opt_ids ids = {0};
    opt_reach(u->p, u->p->arena, 1, &term, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(u->p, ids.at[i])->kind == IR_READ)
            use(u, user, ir_at(u->p, ids.at[i])->array, access);
    vec_free(u->p->arena, &ids);
}

static double weight(const ir_node *n)
{
    if (n->kind != IR_OP)
        return n->kind == IR_COND   ? IR_COST_SIMPLE
               : n->kind == IR_LOOP ? COST_LOOP
               : n->kind == IR_CALL ? IR_COST_MATH
                                    : 0;
    unsigned cost = ir_op_cost((ir_op)n->op);
    return cost < IR_COST_MATH && ir_type_size((ir_type)n->type) == 8 ? cost * COST_WIDE : cost;
}

/* What an element costs: nothing that all elements share, nor what becomes the address of a read. */
static double element_weight(const ir_program *p, ir_id user, ir_id term)
{
    const ir_node *n = ir_at(p, term);
    double w = n->scope ? weight(n) : 0;
    return ir_at(p, user)->kind == IR_BACKPERMUTE && w <= IR_COST_SIMPLE * COST_WIDE ? 0 : w;
}

static double element_bytes(const ir_program *p, ir_id array)
{
    const ir_array *info = ir_info(p, array);
    size_t bytes = 0;
    for (unsigned c = 0; c < info->components; c++)
        bytes += ir_type_size(info->type[c]);
    return (double)bytes;
}

/* Terms of which a function takes remainders. */
static map64 find_turns(const uses *u, const opt_ids *ids)
{
    map64 turns = {0};
    for (uint32_t i = 0; i < ids->n; i++) {
        const ir_node *t = ir_at(u->p, ids->at[i]);
        if (t->kind == IR_OP && (t->op == OP_REM || t->op == OP_MOD))
            map64_put(u->p->arena, &turns, u->p->arg.at[t->args], 1);
    }
    return turns;
}

/* Components of one element are read together. */
static uint64_t element_key(const ir_program *p, const ir_node *read)
{
    return hash_bytes(p->arg.at + read->args, read->n * sizeof(ir_id), read->array);
}

/* the function's own work, and its reads */
static void scan_fn(uses *u, ir_id user, const ir_fn *fn)
{
    if (!fn)
        return;
    l_node *n = l_at(u->node, user);
    opt_ids ids = {0};
    opt_reach(u->p, u->p->arena, fn->results, fn->result, &ids);
    map64 turns = find_turns(u, &ids), seen = {0};
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *t = ir_at(u->p, ids.at[i]);
        n->flops += element_weight(u->p, user, ids.at[i]);
        n->fails |= t->partial;
        if (t->kind != IR_READ)
            continue;
        n->reads += 1;
        if (!l_view_is_once(u->p, user, ids.at[i], &turns))
            use(u, user, t->array, L_RANDOM);
        else if (!map64_get(&seen, element_key(u->p, t)))
            use(u, user, t->array, L_VIEW);
        map64_put(u->p->arena, &seen, element_key(u->p, t), 1);
    }
    n->size += ids.n;
    vec_free(u->p->arena, &ids);
    map64_free(u->p->arena, &turns);
    map64_free(u->p->arena, &seen);
}

/* How often an operation reads the same element, because it ignores indices; as often as it takes where an extent is
 * not known. */
static int64_t times_read(uses *u, const ir_array *info)
{
    const ir_fn *fn = info->fn;
    opt_ids ids = {0};
    int64_t times = 1;
    opt_reach(u->p, u->p->arena, fn->results, fn->result, &ids);
    for (uint32_t d = 0; d < fn->params; d++) {
        int64_t extent;
        bool used = false;
        for (uint32_t i = 0; i < ids.n && !used; i++)
            used = ids.at[i] == fn->param[d];
        if (!used && !ir_extent_constant(u->p, info->shape[d], &extent))
            extent = REPEATED;
        if (!used && extent > 1)
            times *= extent < REPEATED ? extent : REPEATED;
    }
    vec_free(u->p->arena, &ids);
    return times;
}

static void note_times(uses *u, ir_id backpermute, ir_id from)
{
    int64_t times = times_read(u, ir_info(u->p, backpermute));
    l_at(u->node, from)->grows |= times > 1;
    l_at(u->node, from)->repeats |= times >= REPEATED;
}

/* Does the operation read this operand wherever it likes: offsets of segments? */
static bool reads_offsets(ir_kind kind, uint32_t operand)
{
    return kind == IR_SEGMENT_OF || ((kind == IR_FOLD_SEG || kind == IR_SCAN_SEG) && operand == 1);
}

static void scan(uses *u, ir_id id)
{
    const ir_array *info = ir_info(u->p, id);
    ir_kind kind = (ir_kind)ir_at(u->p, id)->kind;
    for (unsigned d = 0; d < info->rank; d++)
        use_closed(u, id, info->shape[d], L_HOST);
    if (info->seed)
        for (unsigned c = 0; c < info->components; c++)
            use_closed(u, id, info->seed[c], L_HOST); /* an argument of the launch */
    if (l_only_picked(l_at(u->node, id)))
        return;
    scan_fn(u, id, info->fn);
    for (uint32_t i = 0; info->control && i < info->control->values; i++)
        use_closed(u, id, info->control->value[i], L_HOST);
    for (uint32_t i = 0; i < info->inputs; i++) {
        ir_id from = info->input[i];
        l_access access = l_access_of_operand(kind, i);
        use(u, id, from, access);
        if (kind == IR_BACKPERMUTE)
            l_at(u->node, id)->fails |= !(ir_at(u->p, id)->flags & IR_SAFE);
        if (kind == IR_BACKPERMUTE)
            note_times(u, id, from);
        if (kind == IR_SORT && info->keys) /* its digits are counted before elements move */
            l_at(u->node, from)->grows = true;
        if (kind == IR_STENCIL && info->stencil[i].constant)
            for (unsigned c = 0; c < ir_info(u->p, from)->components; c++)
                use_closed(u, id, info->stencil[i].constant[c], L_HOST);
        if (kind == IR_STENCIL)
            scan_fn(u, id, info->stencil[i].function);
    }
}

l_access l_access_of_operand(ir_kind kind, uint32_t i)
{
    if (kind == IR_PERMUTE)
        return i == 0 ? L_DEFAULTS : L_SAME;
    if (kind == IR_CONTROL)
        return L_HOST;
    if (reads_offsets(kind, i))
        return L_RANDOM;
    return kind == IR_STENCIL ? L_HALO : kind == IR_BACKPERMUTE || kind == IR_RESHAPE ? L_VIEW : L_SAME;
}

const ir_array *l_rate_of(const ir_program *p, ir_id id)
{
    const ir_array *info = ir_info(p, id);
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    if (kind == IR_PERMUTE)
        return ir_info(p, info->input[2]);
    return ir_is_along(p, id) || kind == IR_FOLD || kind == IR_PACK || kind == IR_FOLD_SEG ? ir_info(p, info->input[0])
                                                                                           : info;
}

bool l_rows_possible(const ir_program *p, const l_nodes *nodes, ir_id stencil, ir_id from)
{
    const ir_array *info = ir_info(p, stencil);
    ir_kind kind = (ir_kind)ir_at(p, from)->kind;
    if (!l_at(nodes, from)->anchor || kind == IR_FOLD || kind == IR_FORCE || kind == IR_PART || info->rank > 2 ||
        !l_same_shape(info, ir_info(p, from)))
        return false;
    for (uint32_t i = 0; i < info->inputs; i++)
        if (info->input[i] == from && info->stencil[i].boundary == IR_WRAP)
            return false;
    return true;
}

/* Is an element computed once more as fast as it is read from where it was kept? */
static bool cheap_at(const uses *u, ir_id id, cost_level level)
{
    const l_node *n = l_at(u->node, id);
    const cost_row *cost = &cost_table[level];
    double own = element_bytes(u->p, id), more = n->bytes > own ? n->bytes - own : 0;
    return ir_at(u->p, id)->kind != IR_STENCIL && n->flops + more * cost->read <= own * cost->kept;
}

/* Is it read so often that keeping it costs nothing for a use? What may fail is computed for elements that somebody
 * asks for. */
static bool pays_once(const uses *u, ir_id id)
{
    const l_node *n = l_at(u->node, id);
    double division = IR_COST_DIVISION;
    const ir_array *info = ir_info(u->p, id);
    for (unsigned c = 0; c < info->components; c++)
        if (ir_type_size(info->type[c]) == 8)
            division = IR_COST_DIVISION * COST_WIDE;
    return n->repeats && !n->fails && !u->options->threads && n->flops >= division;
}

/* Where a block is many threads, each computes some neighbouring elements of a stencil, and what these read once for
 * all of them: their own ones, and those around them. Is that faster than memory? */
static bool cheap_beside(const uses *u, ir_id id)
{
    enum { BLOCK = 4 };
    const l_node *n = l_at(u->node, id), *user = l_at(u->node, n->user);
    const ir_array *reader = ir_info(u->p, n->user);
    bool kept = user->output || user->uses[L_HALO];
    double again = 0;
    if (!u->options->threads || n->stencil || n->fails || ir_at(u->p, id)->kind != IR_MAP ||
        ir_at(u->p, n->user)->kind != IR_STENCIL || !kept)
        return false;
    for (uint32_t i = 0; i < reader->inputs; i++) {
        double times = 1;
        for (unsigned d = 0; d < reader->rank; d++)
            times *= 1 + (reader->stencil[i].extent[d] - 1) / (double)BLOCK;
        again += reader->input[i] == id ? times : 0;
    }
    return (again - 1) * n->flops <= element_bytes(u->p, id) * cost_table[LEVEL_MEMORY].kept;
}

/* The same where the arrays are; notes whether that matters. */
static bool is_cheap(uses *u, ir_id id)
{
    if (pays_once(u, id))
        return false;
    bool cached = cheap_at(u, id, LEVEL_CACHES), streamed = cheap_at(u, id, LEVEL_MEMORY);
    u->node->sized |= cached != streamed;
    return u->options->large ? streamed : cached;
}

bool l_goes_along(const ir_program *p, ir_id id)
{
    const ir_node *n = ir_at(p, id);
    return (n->kind == IR_GENERATE || n->kind == IR_MAP) && n->flags & IR_ALONG;
}

/* Does it combine elements along the row, or in places that they name? */
static bool carries(const ir_program *p, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    return kind == IR_FOLD || kind == IR_SCAN || kind == IR_PACK || kind == IR_SORT || kind == IR_PERMUTE ||
           kind == IR_FOLD_SEG || kind == IR_SCAN_SEG || l_goes_along(p, id);
}

/* Does it ask for its segment, which loops over the segments know, while its reader has a loop of another kind? There
 * the number would be read from memory, and what belongs to the segment gathered. */
static bool is_of_segments(const uses *u, ir_id id)
{
    const l_node *n = l_at(u->node, id);
    ir_kind reader = n->user ? (ir_kind)ir_at(u->p, n->user)->kind : IR_NONE;
    bool asks = false;
    for (uint32_t i = 0; i < n->dep.n; i++)
        asks |= ir_at(u->p, n->dep.at[i].array)->kind == IR_SEGMENT_OF &&
                (n->dep.at[i].access == L_SAME || n->dep.at[i].access == L_NUMBER);
    return asks && (reader == IR_SCAN || reader == IR_SORT || reader == IR_STENCIL || reader == IR_PERMUTE);
}

static bool choose_anchor(uses *u, ir_id id, l_why *why)
{
    const l_node *n = l_at(u->node, id);
    ir_kind kind = (ir_kind)ir_at(u->p, id)->kind;
    uint32_t total = n->uses[L_SAME] + n->uses[L_VIEW] + n->uses[L_HALO] + n->uses[L_RANDOM];
    bool trivial = n->flops <= 1 && n->reads <= TRIVIAL_READS && kind != IR_STENCIL;
    if (kind == IR_SORT)
        return *why = L_NOT_SORT, true;
    if (carries(u->p, id))
        return *why = L_NOT_AFTER, true;
    if (kind == IR_FORCE)
        return *why = L_NOT_FORCED, true;
    if (ir_is_along(u->p, id))
        return *why = L_NOT_COST, true;
    if (kind == IR_CONTROL || kind == IR_PART)
        return *why = L_NOT_CONTROL, true;
    if (kind == IR_SEGMENT_OF)
        return *why = L_NOT_COST, true;
    if (n->output || n->uses[L_HOST])
        return *why = L_NOT_RATE, true;
    if (n->uses[L_DEFAULTS])
        return *why = L_NOT_DEFAULTS, true;
    if (!u->options->fuse)
        return *why = L_NOT_ENABLED, true;
    if (n->depth >= DEPTH_CAP || n->size > (u->options->cap ? u->options->cap : L_DEFAULT_CAP) / 2)
        return *why = L_NOT_CAP, true;
    if (l_folded(u->p, u->node, u->options, id))
        return *why = L_NOT_COST, false;
    if (is_of_segments(u, id) && !(ir_at(u->p, id)->flags & IR_FUSED))
        return *why = L_NOT_COST, true;
    bool asked = ir_at(u->p, id)->flags & IR_FUSED && !n->stencil;
    bool beside = total == 1 && n->uses[L_HALO] && cheap_beside(u, id);
    if (n->uses[L_HALO] && !asked && !trivial && !beside)
        return *why = L_NOT_COST, true;
    /* a stencil loop leaves borders out of its interior: what is read elsewhere must not be computed in it */
    if (n->stencil && (n->uses[L_VIEW] || n->uses[L_RANDOM] || carries(u->p, n->user)))
        return *why = L_NOT_CLASS, true;
    if (asked)
        return *why = L_NOT_COST, false;
    if (!u->options->cost_model)
        return *why = L_NOT_COST, total > 1;
    if (n->uses[L_RANDOM] && !trivial)
        return *why = L_NOT_RANDOM, true;
    return *why = L_NOT_COST, (total > 1 || n->grows) && !is_cheap(u, id);
}

static bool reads_own_row(const uses *u, ir_id id, ir_id array, l_access access, const l_view *view)
{
    return access == L_RANDOM &&
           ((u->options->rows && l_view_is_row(u->p, id, array, view)) || l_view_is_segment(u->p, id, array, view));
}

static void add_dep(uses *u, ir_id id, ir_id array, l_access access, const l_view *view)
{
    l_node *n = l_at(u->node, id);
    if (reads_own_row(u, id, array, access, view))
        access = L_OUTER;
    if (access == L_RANDOM && l_view_is_number(u->p, id, array, view))
        access = L_NUMBER;
    for (uint32_t i = 0; i < n->dep.n; i++) {
        l_dep *d = &n->dep.at[i];
        if (d->array != array || d->access != access)
            continue;
        for (unsigned k = 0; k < IR_MAX_RANK; k++)
            if (d->view.of[k] != view->of[k] || (view->of[k] == L_SEGMENT && d->view.by != view->by))
                d->view.of[k] = L_NO_DIMENSION;
        return;
    }
    vec_push(u->node->arena, &n->dep, ((l_dep){array, access, *view}));
}

static l_access through(l_access outer, l_access inner)
{
    if (inner == L_OUTER)
        inner = L_RANDOM; /* whether it is the row of this reader, too, add_dep finds out */
    if (outer == L_SAME)
        return inner;
    if (inner == L_SAME && outer == L_HALO)
        return L_HALO;
    return L_RANDOM;
}

/* What belongs to a row stays in a register while the loop goes along it. */
static double bytes_read(const uses *u, ir_id id, ir_id from, l_access access, const l_view *view)
{
    return ir_info(u->p, from)->rank && !reads_own_row(u, id, from, access, view) ? element_bytes(u->p, from)
                                                                                  : 0; /* single ones stay there, too */
}

/* everything the node reads through a delayed or real operand */
static void add_operand(uses *u, ir_id id, ir_id from, l_access access, const l_view *view)
{
    l_node *n = l_at(u->node, id);
    const l_node *f = l_at(u->node, from);
    if (f->anchor || ir_at(u->p, from)->kind == IR_INPUT) {
        add_dep(u, id, from, access == L_VIEW ? L_RANDOM : access, view);
        n->reads += access == L_RANDOM ? 0 : 1;
        n->bytes += bytes_read(u, id, from, access, view);
        return;
    }
    for (uint32_t i = 0; i < f->dep.n; i++) {
        const l_dep *d = &f->dep.at[i];
        l_view both = l_view_through(view, &d->view);
        add_dep(u, id, d->array, through(access, d->access), &both);
    }
    n->indexed |= f->indexed && access == L_SAME;
    n->flops += f->flops;
    n->reads += f->reads;
    n->bytes += f->bytes;
    n->size += f->size;
    n->depth = n->depth > f->depth + 1 ? n->depth : f->depth + 1;
    n->stencil |= f->stencil && access == L_SAME;
    n->fails |= f->fails;
    l_note_delayed(u->p, u->node, id, from, access);
}

static void add_read(uses *u, ir_id id, ir_id term)
{
    const ir_node *read = ir_at(u->p, term);
    l_view view = l_view_of_read(u->p, id, term);
    add_operand(u, id, read->array, L_RANDOM, &view);
}

/* a wrapped stencil reads far rows: as good as any index */
static l_access operand_access(const ir_array *info, ir_kind kind, uint32_t i)
{
    if (kind == IR_STENCIL)
        return info->stencil[i].boundary == IR_WRAP ? L_RANDOM : L_HALO;
    if (kind == IR_PERMUTE)
        return l_access_of_operand(kind, i);
    bool random = kind == IR_BACKPERMUTE || reads_offsets(kind, i);
    return kind == IR_CONTROL ? L_HOST : random ? L_RANDOM : L_SAME;
}

/* A reshape asks for elements by their positions, unless it goes along them. */
static void count_divisions(uses *u, ir_id reshape)
{
    l_node *n = l_at(u->node, reshape);
    const ir_array *from = ir_info(u->p, ir_info(u->p, reshape)->input[0]);
    if (n->indexed && !ir_is_along(u->p, reshape))
        n->flops += (from->rank - 1) * (double)IR_COST_DIVISION;
}

static void operands(uses *u, ir_id id)
{
    const ir_array *info = ir_info(u->p, id);
    ir_kind kind = (ir_kind)ir_at(u->p, id)->kind;
    l_at(u->node, id)->indexed = info->rank > 1 && (kind == IR_GENERATE || kind == IR_BACKPERMUTE);
    for (uint32_t i = 0; i < info->inputs; i++) {
        l_view view = l_view_of_operand(u->p, id, i);
        add_operand(u, id, info->input[i], operand_access(info, kind, i), &view);
    }
    opt_ids ids = {0};
    if (info->fn)
        opt_reach(u->p, u->p->arena, info->fn->results, info->fn->result, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(u->p, ids.at[i])->kind == IR_READ)
            add_read(u, id, ids.at[i]);
    vec_free(u->p->arena, &ids);
    if (kind == IR_RESHAPE)
        count_divisions(u, id);
}

/* reads outside the element function: seeds, constants and functions at boundaries */
static void outer_reads(uses *u, ir_id id)
{
    const ir_array *info = ir_info(u->p, id);
    opt_ids root = {0}, ids = {0};
    for (unsigned c = 0; info->seed && c < info->components; c++)
        vec_push(u->p->arena, &root, info->seed[c]);
    for (uint32_t i = 0; info->stencil && i < info->inputs; i++) {
        const ir_stencil *s = &info->stencil[i];
        for (unsigned c = 0; s->constant && c < ir_info(u->p, info->input[i])->components; c++)
            vec_push(u->p->arena, &root, s->constant[c]);
        for (uint32_t r = 0; s->function && r < s->function->results; r++)
            vec_push(u->p->arena, &root, s->function->result[r]);
    }
    if (!root.n)
        return;
    l_view view = l_view_unknown();
    opt_reach(u->p, u->p->arena, root.n, root.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(u->p, ids.at[i])->kind == IR_READ)
            add_operand(u, id, ir_at(u->p, ids.at[i])->array, L_RANDOM, &view);
}

/* The host needs the extents before it can launch what depends on them. How much a pack keeps is known afterwards only:
 * it runs over what it chooses from. */
static void shape_reads(uses *u, ir_id id)
{
    const ir_array *info = ir_info(u->p, id);
    l_view view = l_view_unknown();
    opt_ids ids = {0};
    if (info->control)
        opt_reach(u->p, u->p->arena, info->control->values, info->control->value, &ids);
    for (uint32_t i = 0; i < ids.n; i++)
        if (ir_at(u->p, ids.at[i])->kind == IR_READ)
            add_dep(u, id, ir_at(u->p, ids.at[i])->array, L_HOST, &view);
    if (ir_at(u->p, id)->kind == IR_PART) /* known with the part */
        return;
    for (unsigned d = 0; d < info->rank && ir_at(u->p, id)->kind != IR_PACK; d++) {
        ir_kind kind = (ir_kind)ir_at(u->p, info->shape[d])->kind;
        if (kind == IR_CONST || kind == IR_DIM)
            continue;
        opt_reach(u->p, u->p->arena, 1, &info->shape[d], &ids);
        for (uint32_t i = 0; i < ids.n; i++)
            if (ir_at(u->p, ids.at[i])->kind == IR_READ)
                add_dep(u, id, ir_at(u->p, ids.at[i])->array, L_HOST, &view);
    }
}

static l_nodes *new_nodes(const ir_program *p)
{
    l_nodes *nodes = arena_new(p->arena, *nodes);
    uint32_t arrays = 0;
    nodes->all = p->node.n;
    nodes->arena = arena_beside(p->arena);
    nodes->slot = arena_array(nodes->arena, *nodes->slot, p->node.n);
    for (ir_id id = 1; id < p->node.n; id++)
        if (ir_is_array(p, id))
            nodes->slot[id] = ++arrays;
    nodes->arrays = arrays;
    nodes->at = arena_array(nodes->arena, *nodes->at, arrays + 1);
    return nodes;
}

void l_uses_free(l_nodes *nodes)
{
    arena_free(nodes->arena);
}

/* The maps that only pick results are computed nowhere: of their operands, those are used that have the results. */
static void use_picked(uses *u, l_part part, ir_id end)
{
    ir_id map = part.array;
    while (part.array != end) {
        map = part.array;
        l_at(u->node, map)->live = l_at(u->node, map)->picked = true;
        l_picked(u->p, &part);
    }
    if (l_at(u->node, end)->user != map)
        use(u, map, end, L_SAME);
}

static void use_results(uses *u, const bool *taken)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < u->p->output.n; i++) {
        ir_id output = u->p->output.at[i];
        uint32_t components = ir_info(u->p, output)->components;
        l_at(u->node, output)->live = true;
        l_at(u->node, output)->output = !taken[i];
        for (uint32_t c = 0; c < components && taken[i]; c++)
            use_picked(u, (l_part){output, c}, u->node->part[next + c].array);
        next += components;
    }
}

l_nodes *l_uses(ir_program *p, const l_options *options)
{
    l_nodes *node = new_nodes(p);
    uses u = {p, options, node};
    bool *taken = arena_alloc(p->arena, p->output.n);
    node->part = l_parts(p, options, taken);
    use_results(&u, taken);
    for (uint32_t i = 0; i < p->check.n; i++) {
        use_closed(&u, 0, p->check.at[i].left, L_HOST);
        use_closed(&u, 0, p->check.at[i].right, L_HOST);
    }
    for (ir_id id = p->node.n; id-- > 1;)
        if (ir_is_array(p, id) && l_at(node, id)->live)
            scan(&u, id);
    for (ir_id id = 1; id < p->node.n; id++) {
        l_node *n = l_at(node, id);
        if (!ir_is_array(p, id) || !n->live || ir_at(p, id)->kind == IR_INPUT || l_only_picked(n))
            continue;
        operands(&u, id);
        outer_reads(&u, id);
        shape_reads(&u, id);
        n->stencil |= ir_at(p, id)->kind == IR_STENCIL;
        l_note_operands(p, node, id);
        n->anchor = choose_anchor(&u, id, &n->why);
    }
    /* an anchor whose neighbours are read in rows joins the loops of its readers */
    for (ir_id id = 1; id < p->node.n; id++) {
        if (!ir_is_array(p, id) || !l_at(node, id)->live || ir_at(p, id)->kind != IR_STENCIL)
            continue;
        const ir_array *info = ir_info(p, id);
        for (uint32_t i = 0; i < info->inputs; i++) {
            ir_id from = info->input[i];
            if (l_rows_possible(p, node, id, from))
                l_at(node, from)->stencil = true;
        }
    }
    return node;
}
