/* Row loops: their members, what these keep in memory, and the kernels that are built of them. */
#include "skeleton/row/row.h"

k_val *row_values(row_loop *r, const row_part *p)
{
    return arena_array(r->lw->arena, k_val, p->n + 2u);
}

k_val *row_variables(row_loop *r, const row_part *p, const k_val *initial, const char *name)
{
    k_val *v = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(&r->lw->b, initial ? initial[c] : k_literal(&r->lw->b, p->fold.info->type[c], 0), name);
    return v;
}

k_val *row_get(row_loop *r, const row_part *p, const k_val *variable, k_val *x)
{
    x = x ? x : row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = k_get(&r->lw->b, variable[c]);
    return x;
}

void row_set(row_loop *r, const row_part *p, const k_val *variable, const k_val *x)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_set(&r->lw->b, variable[c], x[c]);
}

k_val *row_load(row_loop *r, const row_part *p, const k_mem *m, k_val at, k_val *x)
{
    x = x ? x : row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = k_load(&r->lw->b, m[c], at);
    return x;
}

void row_store(row_loop *r, const row_part *p, const k_mem *m, k_val at, const k_val *x)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_store(&r->lw->b, m[c], at, x[c]);
}

void row_apply(row_loop *r, const row_part *p, const k_val *first, const k_val *second, k_val *out)
{
    sk_fold_apply(r->lw, &p->fold, r->right ? second : first, r->right ? first : second, out);
}

/* --- indices --- */

unsigned row_dimension(const row_loop *r)
{
    return r->lw->cluster->loop->rank - 1u - r->lw->cluster->loop->behind;
}

void row_bind(row_loop *r, k_val j)
{
    sk_lower *lw = r->lw;
    k_val k = r->right ? sk_sub(lw, sk_sub(lw, r->length, k_i64(&lw->b, 1)), j) : j;
    k_val linear = sk_add(lw, r->row_base, r->stride ? sk_mul(lw, k, r->stride) : k);
    lw->element = linear;
    sk_bind(lw, r->lw->at.linear, linear);
    if (lw->cluster->loop->rank > 1 && !r->combine)
        sk_bind(lw, r->lw->at.at[row_dimension(r)], r->begin ? sk_add(lw, r->begin, k) : k);
}

/* Do the members need the indices of their row? */
static bool needs_row(const row_loop *r)
{
    VEC(ir_id) term = {0};
    bool needs = false;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        for (uint32_t c = 0; c < row_terms(p); c++)
            vec_push(r->lw->arena, &term, p->element[c]);
        if (p->keep)
            vec_push(r->lw->arena, &term, p->keep);
    }
    for (unsigned d = 0; d < r->lw->cluster->loop->rank; d++)
        needs |= d != row_dimension(r) && sk_mentions(r->lw, term.n, term.at, r->lw->at.at[d]);
    return needs;
}

/* Rows beside each other, along dimensions behind that of the row, begin one behind the other. */
static void find_stride(row_loop *r)
{
    sk_lower *lw = r->lw;
    const l_cluster *c = lw->cluster->loop;
    r->stride = sk_max(lw, sk_product(lw, c->behind, c->shape + c->rank - c->behind), k_i64(&lw->b, 1));
    k_val outer = k_let(&lw->b, OP_QUOT, r->row, r->stride, 0), beside = sk_mul(lw, outer, r->stride);
    r->row_base = sk_add(lw, sk_mul(lw, beside, r->length), sk_sub(lw, r->row, beside));
}

/* Its number is known, its indices are not wanted: true if nobody needs them. */
static bool begin_row(row_loop *r, k_val row)
{
    sk_lower *lw = r->lw;
    const l_cluster *c = lw->cluster->loop;
    r->row = row;
    r->row_base = sk_mul(lw, row, r->length);
    if (c->behind)
        find_stride(r);
    lw->element = row;
    return c->rank < 2 || r->combine || (c->rank > 2 && !needs_row(r));
}

/* The extents of the dimensions that rows are neighbours in, and that of the row; how many the former are. */
static unsigned shape_of_rows(const row_loop *r, ir_id *shape)
{
    const l_cluster *c = r->lw->cluster->loop;
    unsigned others = 0;
    for (unsigned d = 0; d < c->rank; d++)
        if (d != row_dimension(r))
            shape[others++] = c->shape[d];
    shape[others] = c->shape[row_dimension(r)];
    return others;
}

static void bind_indices(row_loop *r, const k_val *index)
{
    for (unsigned d = 0, k = 0; d < r->lw->cluster->loop->rank; d++)
        if (d != row_dimension(r))
            sk_bind(r->lw, r->lw->at.at[d], index[k++]);
}

void row_bind_row(row_loop *r, k_val row)
{
    k_val index[IR_MAX_RANK] = {0};
    ir_id shape[IR_MAX_RANK] = {0};
    if (begin_row(r, row))
        return;
    shape_of_rows(r, shape);
    sk_row_indices(r->lw, r->lw->cluster->loop->rank, shape, row, index);
    bind_indices(r, index);
}

row_gang row_gang_of(const sk_cluster *c)
{
    enum { MOST = 64, LANES = 64, WIDE_LANES = 32 };
    const l_cluster *loop = c->loop;
    row_gang g = {.block = 1, .rows = 1, .lanes = c->wide ? WIDE_LANES : LANES};
    int64_t extent;
    unsigned left = loop->rank - 1u;
    if (loop->rank < 3 || loop->behind)
        return g;
    while (left && ir_extent_constant(c->l->ir, loop->shape[left - 1], &extent) && extent > 0 &&
           g.block * extent <= MOST) {
        g.block *= extent;
        left--;
    }
    while (g.lanes < g.block)
        g.lanes *= 2;
    g.rows = left > 1 ? g.block : g.lanes / g.block * g.block; /* else blocks of a gang would be divided */
    if (g.rows * 2 < g.lanes)
        g.block = g.rows = 1;
    return g;
}

bool row_takes_blocks(const row_loop *r)
{
    const sk_options *o = r->lw->options;
    return !r->combine && !o->group && o->vector_bytes && needs_row(r) && row_gang_of(r->lw->cluster).block > 1;
}

void row_bind_in_block(row_loop *r, k_val first, k_val lane)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const row_gang g = row_gang_of(lw->cluster);
    const k_val block = k_i64(b, g.block);
    k_val index[IR_MAX_RANK] = {0};
    ir_id shape[IR_MAX_RANK] = {0};
    if (begin_row(r, sk_add(lw, first, lane)))
        return;
    unsigned left = shape_of_rows(r, shape);
    k_val number = k_let(b, OP_QUOT, first, block, 0);
    if (g.rows > g.block) {
        number = sk_add(lw, number, k_let(b, OP_QUOT, lane, block, 0));
        lane = k_let(b, OP_REM, lane, block, 0);
    }
    for (int64_t rows = 1, extent; rows < g.block; rows *= extent) {
        ir_extent_constant(lw->l->ir, shape[--left], &extent);
        const bool last = rows * extent == g.block;
        index[left] = last ? lane : k_let(b, OP_REM, lane, k_i64(b, extent), 0);
        lane = last ? lane : k_let(b, OP_QUOT, lane, k_i64(b, extent), 0);
    }
    if (left)
        sk_row_indices(lw, left + 1, shape, number, index);
    bind_indices(r, index);
}

/* --- members --- */

static bool mentions_scan(row_loop *r, uint32_t n, const ir_id *term)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        for (uint32_t c = 0; c < p->n && p->op->kind == L_SCAN; c++)
            if (sk_mentions(r->lw, n, term, p->given[c]))
                return true;
    }
    return false;
}

/* The condition whose holding a fold or scan counts: it adds up integers that are 1 or 0. Sums of these are exact in
 * any order.
 */
static ir_id counted(row_loop *r, const row_part *p)
{
    const ir_program *ir = r->lw->l->ir;
    bool sums = p->op->kind == L_SCAN || (p->op->kind == L_FOLD && !p->ordered);
    if (!sums || p->n != 1 || !p->fold.identity) /* others may have no function */
        return 0;
    const ir_node *sum = ir_at(ir, p->fold.info->fn->result[0]), *e = ir_at(ir, p->element[0]);
    bool ones = e->kind == IR_OP && e->op == OP_CONVERT && !ir_type_float((ir_type)e->type);
    if (sum->op != OP_ADD || !ones)
        return 0;
    ir_id from = ir_args(ir, p->element[0])[0];
    return ir_at(ir, from)->type == T_BOOL ? from : 0;
}

static void find_counter(row_loop *r, row_part *p)
{
    p->counter = r->part.n;
    for (uint32_t i = r->part.n; i-- > 0;)
        if (r->part.at[i].keep == p->keep && r->part.at[i].op->sweep == p->op->sweep)
            p->counter = r->part.at[i].counter;
}

static void find_terms(row_loop *r, row_part *p)
{
    sk_lower *lw = r->lw;
    const l_op *op = p->op;
    const ir_id *value;
    sk_index outer = {.rank = (uint8_t)(lw->cluster->loop->rank - 1)};
    memcpy(outer.at, r->lw->at.at, outer.rank * sizeof(ir_id));
    if (r->segment)
        outer.at[outer.rank++] = r->segment;
    if (op->kind == L_PACK) {
        p->keep = sk_operand(&r->lw->body, op->term, 0, &r->lw->at)[0];
        value = sk_operand(&r->lw->body, op->term, 1, &r->lw->at);
    } else {
        value = sk_define(&r->lw->body, op->term, op->outer ? &outer : &r->lw->at);
    }
    p->element = arena_array(lw->arena, ir_id, p->n + 2u);
    memcpy(p->element, value, p->n * sizeof(ir_id));
    p->fold.element = arena_copy(lw->arena, value, p->n * sizeof *value);
    if (op->kind == L_FOLD && !p->ordered && sk_fold_product(lw, &p->fold)) {
        p->fold.fused_product = true;
        memcpy(p->element, ir_args(lw->l->ir, value[0]), 2 * sizeof(ir_id));
    }
    p->keep = p->keep || r->segment || op->kind == L_SCAN ? p->keep : counted(r, p);
    if (p->keep)
        find_counter(r, p);
    p->late_keep = p->keep && mentions_scan(r, 1, &p->keep);
    p->behind = mentions_scan(r, row_terms(p), p->element);
    p->late = p->late_keep || op->kind == L_SCAN || p->behind;
    bool counts_lanes = lw->options->vector_bytes && !lw->options->group && !r->segment && !p->behind;
    p->flag = op->kind == L_SCAN && counts_lanes ? counted(r, p) : 0;
}

static void find_part(row_loop *r, const l_op *op, uint32_t *first)
{
    sk_lower *lw = r->lw;
    if (op->kind == L_FOLD_SEG) { /* which is a fold of its row */
        l_op *own = arena_copy(lw->arena, op, sizeof *op);
        own->kind = L_FOLD;
        op = own;
    }
    const ir_array *info = ir_info(lw->l->ir, op->term);
    ir_array *own = arena_copy(lw->arena, info, sizeof(*info));
    bool folds = op->kind == L_FOLD || op->kind == L_SCAN;
    if (folds)
        own->fn = sk_operator(&r->lw->body, info->fn);
    row_part p = {
        .op = op, .n = info->components, .fold = {.op = op, .info = own, .n = info->components, .first = *first}};
    p.ordered = op->kind == L_SCAN || (op->kind == L_FOLD && !(ir_at(lw->l->ir, op->term)->flags & IR_COMMUTES));
    p.fold.identity = folds ? sk_fold_identity(lw, info->fn, p.n) : NULL;
    p.harmless = folds && sk_fold_harmless(lw, &p.fold);
    if (op->kind == L_FOLD)
        *first += p.n;
    if (!r->combine)
        find_terms(r, &p);
    if (folds || op->outer) {
        p.given = arena_array(lw->arena, ir_id, p.n);
        for (uint32_t c = 0; c < p.n; c++)
            p.given[c] = ir_var(lw->l->ir, info->type[c]);
        sk_give(&r->lw->body, op->term, p.given);
    }
    vec_push(lw->arena, &r->part, p);
}

/* What earlier sweeps have stored for this one is read from memory. */
static void keep_earlier(row_loop *r, uint8_t sweep)
{
    const sk_cluster *c = r->lw->cluster;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        const l_op *op = &c->loop->op.at[i];
        bool element = !op->outer && (op->kind == L_SCAN || op->kind == L_ELEMENT);
        if (element && op->sweep < sweep && op->stored && !op->again)
            sk_keep(&r->lw->body, op->term);
    }
}

/* --- memory --- */

void row_declare_partials(row_loop *r, row_part *p)
{
    p->fold.in = arena_array(r->lw->arena, k_mem, p->n);
    for (uint32_t c = 0; c < p->n && r->combine; c++)
        p->fold.in[c] = sk_partial_memory(r->lw, SK_PARTIAL_IN, p->fold.first + c, p->fold.info->type[c]);
}

void row_declare_fold(row_loop *r, row_part *p)
{
    sk_lower *lw = r->lw;
    bool final = lw->options->final || p->keep; /* counts go from piece to piece, as states do */
    bool stored = !final || p->op->stored;      /* else only the row itself reads its cell */
    p->out = stored ? arena_array(lw->arena, k_mem, p->n) : NULL;
    for (uint32_t c = 0; c < p->n && stored; c++) {
        ir_type t = p->fold.info->type[c];
        p->out[c] = final ? sk_array_memory(lw, p->op->term, c, true)
                          : sk_partial_memory(lw, SK_PARTIAL_OUT, p->fold.first + c, t);
    }
    row_declare_partials(r, p);
}

k_mem *row_cells(row_loop *r, const row_part *p, int64_t count, const char *name)
{
    k_mem *m = arena_array(r->lw->arena, k_mem, p->n);
    for (uint32_t c = 0; c < p->n; c++)
        m[c] = k_shared(&r->lw->b, p->fold.info->type[c], count, name);
    return m;
}

static k_mem *results_of(row_loop *r, const row_part *p)
{
    k_mem *m = arena_array(r->lw->arena, k_mem, p->n);
    for (uint32_t c = 0; c < p->n; c++)
        m[c] = sk_array_memory(r->lw, p->op->term, c, true);
    return m;
}

void row_declare(row_loop *r, row_part *p, bool whole_rows, bool results)
{
    k_builder *b = &r->lw->b;
    int64_t most = r->brief ? 3 : p->ordered ? ROW_LEVELS : 4;
    int64_t levels = !whole_rows || p->op->kind == L_SCAN ? 2 : most;
    if (p->op->kind == L_FOLD && results)
        row_declare_fold(r, p);
    if ((p->op->kind == L_FOLD && !p->keep) || p->op->kind == L_SCAN)
        row_declare_sums(r, p, levels);
    if (whole_rows && (p->op->kind == L_FOLD || p->op->outer))
        p->cell = row_cells(r, p, 1, "row_value");
    if (whole_rows && p->op->kind == L_SCAN) {
        p->window = row_cells(r, p, 1, "window");
        p->in_window = row_cells(r, p, 1, "in_window");
    }
    if (p->op->kind == L_PACK && results) /* COMPACT writes beyond what it keeps */
        p->kept = row_packs_directly(r) ? results_of(r, p) : row_cells(r, p, ROW_PIECE + ROW_GANG, "kept");
    if (row_counts(r, p)) {
        p->count = k_shared(b, T_I64, 1, "count");
        p->offset = whole_rows ? k_shared(b, T_I64, 1, "offset") : 0;
    }
}

/* Does a later sweep read what the member has stored? */
static bool read_again(const sk_cluster *c, const l_op *op)
{
    return !op->outer && op->kind != L_FOLD && !op->again && op->sweep + 1 < c->loop->sweeps;
}

void row_declare_results(row_loop *r)
{
    kernel *k = r->lw->out->k;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const l_op *op = r->part.at[i].op;
        for (uint32_t c = 0; c < r->part.at[i].n && op->stored && !r->combine; c++)
            if (op->kind != L_FOLD || r->lw->options->final || r->part.at[i].keep) {
                k_mem m = sk_array_memory(r->lw, op->term, c, true); /* may move the list of memories */
                k->mem.at[m].stream &= !read_again(r->lw->cluster, op);
            }
    }
}

void row_find(row_loop *r)
{
    sk_lower *lw = r->lw;
    const sk_cluster *c = lw->cluster;
    uint32_t first = 0;
    r->right = c->loop->right;
    for (uint32_t i = 0; i < c->loop->op.n; i++) {
        if (i && c->loop->op.at[i].sweep != c->loop->op.at[i - 1].sweep)
            keep_earlier(r, c->loop->op.at[i].sweep);
        const l_op *op = &c->loop->op.at[i];
        bool inside = op->kind == L_ELEMENT && !op->outer && !op->stored; /* computed where it is used */
        if (r->combine && c->counted[i])
            first += ir_info(lw->l->ir, op->term)->components; /* nothing is left of it to be combined */
        else if (r->combine ? op->kind == L_FOLD : !inside)
            find_part(r, op, &first);
    }
}

void row_begin(row_loop *r, uint16_t lanes)
{
    sk_open(r->lw, lanes);
    row_find(r);
}

/* seed (+) total to the row's cell and the result; or the total to the partial results. */
void row_finish_fold(row_loop *r, const row_part *p, k_val position, k_val *total)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1)), *out = row_values(r, p), *seed = row_values(r, p);
    lw->element = r->row;
    memcpy(out, total, p->n * sizeof(k_val));
    if ((lw->options->final || p->keep) && p->fold.info->seed) {
        for (uint32_t c = 0; c < p->n; c++)
            seed[c] = sk_closed(lw, p->fold.info->seed[c]);
        sk_fold_apply(lw, &p->fold, seed, total, out);
    }
    for (uint32_t c = 0; c < p->n; c++) {
        if (p->cell)
            k_store(b, p->cell[c], lane, out[c]);
        if (p->out)
            k_store(b, p->out[c], sk_add(lw, position, lane), out[c]);
    }
    k_end(b);
}

/* A count as the fold that is one has it. */
k_val row_as_sum(row_loop *r, const row_part *p, k_val count)
{
    return k_convert(&r->lw->b, OP_CONVERT, p->fold.info->type[0], count);
}
