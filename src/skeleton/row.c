/* Row loops: their members, and the kernels in which a block walks along rows. */
#include "skeleton/row.h"

k_val *row_values(row_loop *r, const row_part *p)
{
    return arena_alloc(r->lw->arena, (p->n + 2u) * sizeof(k_val));
}

void row_apply(row_loop *r, const row_part *p, const k_val *first, const k_val *second, k_val *out)
{
    sk_fold_apply(r->lw, &p->fold, r->right ? second : first, r->right ? first : second, out);
}

/* --- indices --- */

void row_bind(row_loop *r, k_val j)
{
    sk_lower *lw = r->lw;
    unsigned rank = lw->cluster->rank;
    k_val k = r->right ? sk_sub(lw, sk_sub(lw, r->length, k_i64(&lw->b, 1)), j) : j;
    k_val linear = sk_add(lw, r->row_base, k);
    lw->element = linear;
    sk_bind(lw, r->at.linear, linear);
    if (rank > 1 && !r->combine)
        sk_bind(lw, r->at.at[rank - 1], k);
}

void row_bind_row(row_loop *r, k_val row)
{
    sk_lower *lw = r->lw;
    unsigned rank = lw->cluster->rank;
    k_val index[IR_MAX_RANK] = {0};
    r->row = row;
    r->row_base = sk_mul(lw, row, r->length);
    lw->element = row;
    if (rank < 2 || r->combine)
        return;
    sk_row_indices(lw, rank, lw->cluster->shape, row, index);
    for (unsigned d = 0; d + 1 < rank; d++)
        sk_bind(lw, r->at.at[d], index[d]);
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

/* The condition whose holding a fold counts: it adds up integers that are 1 or 0. Sums of these are exact in any order.
 */
static ir_id counted(row_loop *r, const row_part *p)
{
    const ir_program *ir = r->lw->l->ir;
    if (p->op->kind != L_FOLD || p->ordered || p->n != 1 || !p->fold.identity) /* others may have no function */
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
    sk_index outer = {.rank = (uint8_t)(lw->cluster->rank - 1)};
    memcpy(outer.at, r->at.at, outer.rank * sizeof(ir_id));
    if (op->kind == L_PACK) {
        p->keep = sk_operand(&r->body, op->term, 0, &r->at)[0];
        value = sk_operand(&r->body, op->term, 1, &r->at);
    } else {
        value = sk_define(&r->body, op->term, op->outer ? &outer : &r->at);
    }
    p->element = arena_alloc(lw->arena, (p->n + 2u) * sizeof(ir_id));
    memcpy(p->element, value, p->n * sizeof(ir_id));
    p->fold.element = p->element;
    if (op->kind == L_FOLD && !p->ordered && sk_fold_product(lw, &p->fold)) {
        p->fold.fused_product = true;
        memcpy(p->element, ir_args(lw->l->ir, value[0]), 2 * sizeof(ir_id));
    }
    p->keep = p->keep ? p->keep : counted(r, p);
    if (p->keep)
        find_counter(r, p);
    p->late_keep = p->keep && mentions_scan(r, 1, &p->keep);
    p->late = p->late_keep || op->kind == L_SCAN || mentions_scan(r, row_terms(p), p->element);
}

static void find_part(row_loop *r, const l_op *op, uint32_t *first)
{
    sk_lower *lw = r->lw;
    const ir_array *info = ir_info(lw->l->ir, op->term);
    ir_array *own = arena_copy(lw->arena, info, sizeof(*info));
    bool folds = op->kind == L_FOLD || op->kind == L_SCAN;
    if (folds)
        own->fn = sk_operator(&r->body, info->fn);
    row_part p = {.op = op, .n = info->components, .fold = {.op = op, .info = own, .n = info->components, .first = *first}};
    p.ordered = op->kind == L_SCAN || (op->kind == L_FOLD && !(ir_at(lw->l->ir, op->term)->flags & IR_COMMUTES));
    p.fold.identity = folds ? sk_fold_identity(lw, info->fn, p.n) : NULL;
    p.harmless = folds && sk_fold_harmless(lw, &p.fold);
    if (op->kind == L_FOLD)
        *first += p.n;
    if (!r->combine)
        find_terms(r, &p);
    if (folds || op->outer) {
        p.given = arena_alloc(lw->arena, p.n * sizeof(ir_id));
        for (uint32_t c = 0; c < p.n; c++)
            p.given[c] = ir_var(lw->l->ir, info->type[c]);
        sk_give(&r->body, op->term, p.given);
    }
    vec_push(lw->arena, &r->part, p);
}

/* What earlier sweeps have stored for this one is read from memory. */
static void keep_earlier(row_loop *r, uint8_t sweep)
{
    const l_cluster *c = r->lw->cluster;
    for (uint32_t i = 0; i < c->op.n; i++) {
        const l_op *op = &c->op.at[i];
        bool element = !op->outer && (op->kind == L_SCAN || op->kind == L_ELEMENT);
        if (element && op->sweep < sweep && op->stored && !op->again)
            sk_keep(&r->body, op->term);
    }
}

/* --- memory --- */

static void declare_fold(row_loop *r, row_part *p)
{
    sk_lower *lw = r->lw;
    bool final = lw->options->final || p->keep; /* counts go from piece to piece, as states do */
    bool stored = !final || p->op->stored;      /* else only the row itself reads its cell */
    p->out = stored ? arena_alloc(lw->arena, p->n * sizeof(k_mem)) : NULL;
    for (uint32_t c = 0; c < p->n && stored; c++) {
        ir_type t = p->fold.info->type[c];
        p->out[c] = final ? sk_array_memory(lw, p->op->term, c, true)
                          : sk_partial_memory(lw, SK_PARTIAL_OUT, p->fold.first + c, t);
    }
    p->fold.in = arena_alloc(lw->arena, p->n * sizeof(k_mem));
    for (uint32_t c = 0; c < p->n && r->combine; c++)
        p->fold.in[c] = sk_partial_memory(lw, SK_PARTIAL_IN, p->fold.first + c, p->fold.info->type[c]);
}

static k_mem *cells(row_loop *r, const row_part *p, int64_t count, const char *name)
{
    k_mem *m = arena_alloc(r->lw->arena, p->n * sizeof(k_mem));
    for (uint32_t c = 0; c < p->n; c++)
        m[c] = k_shared(&r->lw->b, p->fold.info->type[c], count, name);
    return m;
}

static void declare(row_loop *r, row_part *p, bool whole_rows, bool results)
{
    k_builder *b = &r->lw->b;
    int64_t levels = !whole_rows || p->op->kind == L_SCAN ? 2 : p->ordered ? ROW_LEVELS : 4;
    if (p->op->kind == L_FOLD && results)
        declare_fold(r, p);
    if ((p->op->kind == L_FOLD && !p->keep) || p->op->kind == L_SCAN)
        row_declare_sums(r, p, levels);
    if (whole_rows && (p->op->kind == L_FOLD || p->op->outer))
        p->cell = cells(r, p, 1, "row_value");
    if (whole_rows && p->op->kind == L_SCAN) {
        p->window = cells(r, p, 1, "window");
        p->in_window = cells(r, p, 1, "in_window");
    }
    if (p->op->kind == L_PACK && results) /* COMPACT writes beyond what it keeps */
        p->kept = cells(r, p, ROW_PIECE + ROW_GANG, "kept");
    if (row_counts(r, p)) {
        p->count = k_shared(b, T_I64, 1, "count");
        p->offset = whole_rows ? k_shared(b, T_I64, 1, "offset") : 0;
    }
}

/* Does a later sweep read what the member has stored? */
static bool read_again(const l_cluster *c, const l_op *op)
{
    return !op->outer && op->kind != L_FOLD && !op->again && op->sweep + 1 < c->sweeps;
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

/* Prefixes wait for the state in shared memory, where that is not so much that it would leave the nearer caches. */
static void keep_prefixes(row_loop *r)
{
    enum { MOST_BYTES = 128 << 10 };
    size_t bytes = 0;
    for (uint32_t i = 0; i < r->part.n; i++)
        for (uint32_t c = 0; c < r->part.at[i].n && r->part.at[i].op->kind == L_SCAN; c++)
            bytes += ROW_PIECE * ir_type_size(r->part.at[i].fold.info->type[c]);
    for (uint32_t i = 0; i < r->part.n && bytes <= MOST_BYTES; i++)
        if (r->part.at[i].op->kind == L_SCAN)
            r->part.at[i].prefix = cells(r, &r->part.at[i], ROW_PIECE, "prefix");
}

void row_begin(row_loop *r, const char *name, bool combine, uint16_t lanes)
{
    sk_lower *lw = r->lw;
    const l_cluster *c = lw->cluster;
    uint32_t first = 0;
    sk_lower_init(lw, lw->l, c, lw->options, lw->arena, name, lanes);
    sk_body_init(&r->body, lw->l, c, SK_GENERIC, lw->arena);
    r->combine = combine;
    r->right = c->right;
    r->at = (sk_index){.rank = c->rank, .linear = ir_var(lw->l->ir, T_I64)};
    r->at.at[0] = r->at.linear;
    for (unsigned d = 0; d < c->rank && c->rank > 1; d++)
        r->at.at[d] = ir_var(lw->l->ir, T_I64);
    for (uint32_t i = 0; i < c->op.n; i++) {
        if (i && c->op.at[i].sweep != c->op.at[i - 1].sweep)
            keep_earlier(r, c->op.at[i].sweep);
        const l_op *op = &c->op.at[i];
        bool inside = op->kind == L_ELEMENT && !op->outer && !op->stored; /* computed where it is used */
        if (combine && op->counted)
            first += ir_info(lw->l->ir, op->term)->components; /* nothing is left of it to be combined */
        else if (combine ? op->kind == L_FOLD : !inside)
            find_part(r, op, &first);
    }
}

/* --- values of the row --- */

void row_bind_cells(row_loop *r, uint8_t sweep)
{
    for (uint32_t i = 0; i < r->part.n && !r->combine; i++) {
        const row_part *p = &r->part.at[i];
        bool known = p->op->outer ? p->op->sweep <= sweep : p->op->kind == L_FOLD && p->op->sweep < sweep;
        for (uint32_t c = 0; known && c < p->n; c++)
            sk_bind(r->lw, p->given[c], k_load(&r->lw->b, p->cell[c], k_i64(&r->lw->b, 0)));
    }
}

static void outer_member(row_loop *r, const row_part *p)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x = row_values(r, p), lane = k_for_few(b, k_i64(b, 1));
    uint32_t mark = sk_scope(lw);
    lw->element = r->row;
    sk_emit(lw, p->n, p->element, x);
    for (uint32_t c = 0; c < p->n; c++) {
        k_store(b, p->cell[c], lane, x[c]);
        if (p->op->stored)
            k_store(b, sk_array_memory(lw, p->op->term, c, true), sk_add(lw, r->row, lane), x[c]);
    }
    sk_scope_end(lw, mark);
    k_end(b);
}

/* They may read each other. */
static void outer_members(row_loop *r, uint8_t sweep)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!p->op->outer || p->op->sweep != sweep)
            continue;
        outer_member(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            sk_bind(r->lw, p->given[c], k_load(&r->lw->b, p->cell[c], k_i64(&r->lw->b, 0)));
    }
}

/* seed (+) total to the row's cell and the result; or the total to the partial results. */
static void finish_fold(row_loop *r, const row_part *p, k_val position, k_val *total)
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
static k_val as_sum(row_loop *r, const row_part *p, k_val count)
{
    return k_convert(&r->lw->b, OP_CONVERT, p->fold.info->type[0], count);
}

/* --- states of scans --- */

/* What the first window begins with: the seed, or what changes nothing; NULL: nothing. */
static k_val *first_state(row_loop *r, const row_part *p)
{
    sk_lower *lw = r->lw;
    const ir_array *info = p->fold.info;
    if (!info->seed && !p->fold.identity)
        return NULL;
    k_val *x = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        x[c] = info->seed ? sk_closed(lw, info->seed[c]) : k_literal(&lw->b, info->type[c], p->fold.identity[c]);
    return x;
}

static k_val *piece_variables(row_loop *r, const row_part *p, const k_val *initial)
{
    k_val *v = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(&r->lw->b, initial[c], "state");
    return v;
}

static void set_combined(row_loop *r, const row_part *p, const k_val *variable, const k_val *first, const k_val *second)
{
    k_val *out = row_values(r, p);
    row_apply(r, p, first, second, out);
    for (uint32_t c = 0; c < p->n; c++)
        k_set(&r->lw->b, variable[c], out[c]);
}

/* The state before piece number `piece` of the row, from that of its window and what follows in it. */
static void state_before(row_loop *r, row_part *p, k_val piece, const k_val *window, const k_val *in_window)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    bool base = p->fold.info->seed || p->fold.identity;
    k_val zero = k_i64(b, 0), within = k_let(b, OP_REM, piece, k_i64(b, ROW_WINDOW), 0);
    k_val *v = piece_variables(r, p, window);
    k_if(b, k_let(b, OP_GT, within, zero, 0));
    if (!base)
        k_if(b, k_let(b, OP_GE, piece, k_i64(b, ROW_WINDOW), 0));
    set_combined(r, p, v, window, in_window);
    if (!base) {
        k_else(b);
        for (uint32_t c = 0; c < p->n; c++)
            k_set(b, v[c], in_window[c]);
        k_end(b);
    }
    k_end(b);
    p->state = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        p->state[c] = k_get(b, v[c]);
    p->has_state = base ? 0 : k_let(b, OP_GT, piece, zero, 0);
}

/* Both after a piece whose total is known. */
static void state_after(row_loop *r, const row_part *p, k_val piece, k_val *window, k_val *in_window, const k_val *total)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    bool base = p->fold.info->seed || p->fold.identity;
    k_val size = k_i64(b, ROW_WINDOW), within = k_let(b, OP_REM, piece, size, 0);
    k_val *next = piece_variables(r, p, total), *far = piece_variables(r, p, window);
    k_if(b, k_let(b, OP_GT, within, k_i64(b, 0), 0));
    set_combined(r, p, next, in_window, total);
    k_end(b);
    for (uint32_t c = 0; c < p->n; c++)
        in_window[c] = k_get(b, next[c]);
    k_if(b, k_let(b, OP_EQ, within, k_i64(b, ROW_WINDOW - 1), 0));
    if (!base)
        k_if(b, k_let(b, OP_GE, piece, size, 0));
    set_combined(r, p, far, window, in_window);
    if (!base) {
        k_else(b);
        for (uint32_t c = 0; c < p->n; c++)
            k_set(b, far[c], in_window[c]);
        k_end(b);
    }
    k_end(b);
    for (uint32_t c = 0; c < p->n; c++)
        window[c] = k_get(b, far[c]);
}

/* --- a block walks whole rows --- */

static bool in_sweep(const row_part *p, l_kind kind, uint8_t sweep)
{
    return p->op->kind == kind && p->op->sweep == sweep && !p->op->outer;
}

static void begin_row(row_loop *r)
{
    k_builder *b = &r->lw->b;
    k_val lane = k_for_few(b, k_i64(b, 1));
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        k_val *first = p->op->kind == L_SCAN ? first_state(r, p) : NULL;
        for (uint32_t c = 0; c < p->n && p->op->kind == L_SCAN; c++) {
            k_val nothing = k_literal(b, p->fold.info->type[c], 0);
            k_store(b, p->window[c], lane, first ? first[c] : nothing);
            k_store(b, p->in_window[c], lane, nothing);
        }
        if (row_counts(r, p))
            k_store(b, p->offset, lane, k_i64(b, 0));
    }
    k_end(b);
}

static void load_states(row_loop *r, uint8_t sweep, k_val piece)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_SCAN, sweep))
            continue;
        k_val *window = row_values(r, p), *in_window = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++) {
            window[c] = k_load(b, p->window[c], k_i64(b, 0));
            in_window[c] = k_load(b, p->in_window[c], k_i64(b, 0));
        }
        state_before(r, p, piece, window, in_window);
    }
}

static void advance_state(row_loop *r, row_part *p, k_val piece, k_val count)
{
    k_builder *b = &r->lw->b;
    k_val *window = row_values(r, p), *in_window = row_values(r, p), *total = row_values(r, p);
    row_piece_total(r, p, count, total);
    for (uint32_t c = 0; c < p->n; c++) {
        window[c] = k_load(b, p->window[c], k_i64(b, 0));
        in_window[c] = k_load(b, p->in_window[c], k_i64(b, 0));
    }
    state_after(r, p, piece, window, in_window, total);
    k_val lane = k_for_few(b, k_i64(b, 1));
    for (uint32_t c = 0; c < p->n; c++) {
        k_store(b, p->window[c], lane, window[c]);
        k_store(b, p->in_window[c], lane, in_window[c]);
    }
    k_end(b);
}

/* What a piece has packed goes to the result, from `offset` on. */
static void copy_packed(row_loop *r, const row_part *p, k_val offset, k_val count)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val i = k_for_all(b, count), to = sk_add(lw, offset, i);
    for (uint32_t c = 0; c < p->n; c++)
        k_store(b, sk_array_memory(lw, p->op->term, c, true), to, k_load(b, p->kept[c], i));
    k_end(b);
}

/* A row of few partial results is folded from left to right, as any row, where the operator commutes. */
static void brief_partials(row_loop *r, const row_part *p)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *v = row_values(r, p), *x = row_values(r, p), *acc = row_values(r, p), *out = row_values(r, p);
    k_if(b, k_let(b, OP_LE, r->length, k_i64(b, SK_SHORT), 0));
    k_val lane = k_for_few(b, k_i64(b, 1)), first = sk_add(lw, r->row_base, lane);
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(b, k_load(b, p->fold.in[c], first), "x");
    k_val j = k_for(b, k_i64(b, 1), r->length, false);
    for (uint32_t c = 0; c < p->n; c++) {
        acc[c] = k_get(b, v[c]);
        x[c] = k_load(b, p->fold.in[c], sk_add(lw, first, j));
    }
    row_apply(r, p, acc, x, out);
    for (uint32_t c = 0; c < p->n; c++)
        k_set(b, v[c], out[c]);
    k_end(b);
    for (uint32_t c = 0; c < p->n; c++)
        k_store(b, p->sums[c], sk_add(lw, lane, k_i64(b, ROW_SUMS)), k_get(b, v[c]));
    k_end(b);
    k_end(b);
}

static void advance_counts(row_loop *r, uint8_t sweep)
{
    k_builder *b = &r->lw->b;
    k_val zero = k_i64(b, 0);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!row_counts(r, p) || p->op->sweep != sweep)
            continue;
        k_val all = sk_add(r->lw, k_load(b, p->offset, zero), k_load(b, p->count, zero)),
              only = k_for_few(b, k_i64(b, 1));
        k_store(b, p->offset, only, all);
        k_end(b);
    }
}

static void walk_pieces(row_loop *r, uint8_t sweep)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), size = k_i64(b, ROW_PIECE);
    k_val pieces = k_let(b, OP_QUOT, sk_add(lw, r->length, k_i64(b, ROW_PIECE - 1)), size, 0);
    k_val piece = k_for(b, zero, pieces, false), begin = sk_mul(lw, piece, size);
    k_val count = sk_min(lw, size, sk_sub(lw, r->length, begin));
    uint32_t mark = sk_scope(lw);
    load_states(r, sweep, piece);
    row_piece(r, &(row_walk){.sweep = sweep, .totals = true, .results = true, .early = true}, begin, count);
    k_if(b, k_let(b, OP_LT, sk_add(lw, piece, one), pieces, 0));
    for (uint32_t i = 0; i < r->part.n; i++)
        if (in_sweep(&r->part.at[i], L_SCAN, sweep))
            advance_state(r, &r->part.at[i], piece, count);
    k_end(b);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i], *counter = row_counter(r, p);
        if (in_sweep(p, L_FOLD, sweep) && !p->keep)
            row_fold_piece(r, p, piece, pieces, count);
        if (r->combine && !p->ordered)
            brief_partials(r, p);
        if (in_sweep(p, L_PACK, sweep))
            copy_packed(r, p, k_load(b, counter->offset, zero), k_load(b, counter->count, zero));
    }
    advance_counts(r, sweep);
    sk_scope_end(lw, mark);
    k_end(b);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!in_sweep(p, L_FOLD, sweep))
            continue;
        k_val *total = row_values(r, p);
        if (p->keep)
            total[0] = as_sum(r, p, k_load(b, row_counter(r, p)->offset, zero));
        else
            row_fold_total(r, p, pieces, total);
        finish_fold(r, p, r->row, total);
    }
}

static bool has_positions(const row_loop *r, uint8_t sweep)
{
    for (uint32_t i = 0; i < r->part.n; i++)
        if (!r->part.at[i].op->outer && r->part.at[i].op->sweep == sweep &&
            (r->part.at[i].op->kind != L_ELEMENT || r->part.at[i].op->stored))
            return true;
    return false;
}

/* slots: 0 row length, 1 rows, 2 rows a piece of the launch */
static void build_block(row_loop *r, bool combine)
{
    sk_lower *lw = r->lw;
    row_begin(r, combine ? "rows_combine" : "rows", combine, ROW_GANG);
    row_declare_results(r);
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < r->part.n; i++)
        declare(r, &r->part.at[i], true, true);
    r->length = sk_slot(lw, 0, "row_length");
    k_val rows = sk_slot(lw, 1, "rows"), some = sk_slot(lw, 2, "rows_a_piece"), first = sk_mul(lw, k_piece(b), some);
    k_val row = k_for(b, first, sk_min(lw, sk_add(lw, first, some), rows), false);
    uint32_t mark = sk_scope(lw);
    row_bind_row(r, row);
    begin_row(r);
    for (uint8_t sweep = 0; sweep < (combine ? 1 : lw->cluster->sweeps); sweep++) {
        row_bind_cells(r, sweep);
        outer_members(r, sweep);
        if (has_positions(r, sweep))
            walk_pieces(r, sweep);
    }
    row_bind_cells(r, lw->cluster->sweeps);
    if (!combine)
        outer_members(r, lw->cluster->sweeps); /* what is made of the last folds */
    sk_scope_end(lw, mark);
    k_end(b);
}

/* --- a block takes a piece; states go from piece to piece --- */

static void fold_partial(row_loop *r, const row_part *p, k_val count)
{
    k_builder *b = &r->lw->b;
    k_val *total = row_values(r, p);
    row_piece_total(r, p, count, total);
    finish_fold(r, p, r->lw->options->final ? r->row : k_piece(b), total);
}

static void fold_partials(row_loop *r, bool late, k_val count)
{
    for (uint32_t i = 0; i < r->part.n; i++)
        if (r->part.at[i].op->kind == L_FOLD && r->part.at[i].late == late && !r->part.at[i].keep)
            fold_partial(r, &r->part.at[i], count);
}

typedef struct carried { /* what the chain hands on: per scan the window and what follows, per pack the offset */
    uint8_t n;
    k_val aggregate[K_MOST_CARRIED], initial[K_MOST_CARRIED], result[K_MOST_CARRIED];
} carried;

static void carry_scan(row_loop *r, const row_part *p, k_val count, carried *x)
{
    k_val *total = row_values(r, p), *first = first_state(r, p);
    row_piece_total(r, p, count, total);
    for (unsigned twice = 0; twice < 2; twice++)
        for (uint32_t c = 0; c < p->n; c++) {
            x->initial[x->n] = !twice && first ? first[c] : k_literal(&r->lw->b, p->fold.info->type[c], 0);
            x->aggregate[x->n++] = total[c];
        }
}

/* The window's state, which is that of the row's beginning in its first piece. */
static k_val *window_of(row_loop *r, const row_part *p, k_val piece, const k_val *left)
{
    k_builder *b = &r->lw->b;
    k_val *window = row_values(r, p), *first = first_state(r, p);
    k_val begins = k_let(b, OP_EQ, piece, k_i64(b, 0), 0);
    for (uint32_t c = 0; c < p->n; c++) {
        window[c] = k_get(b, left[c]);
        if (first)
            window[c] = k_select(b, begins, first[c], window[c]);
    }
    return window;
}

/* Packs of which the states of scans decide how much they keep come after these, in a chain of their own. */
static bool carries(const row_loop *r, const row_part *p, bool late)
{
    return p->late_keep == late && (row_counts(r, p) || p->op->kind == L_SCAN);
}

static void find_carried(row_loop *r, bool late, k_val count, carried *x)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!carries(r, p, late))
            continue;
        if (p->op->kind == L_SCAN) {
            carry_scan(r, p, count, x);
        } else {
            x->initial[x->n] = k_i64(b, 0);
            x->aggregate[x->n++] = k_load(b, p->count, k_i64(b, 0));
        }
    }
}

/* result = left (+) what piece number `piece` adds: left and right are variables. */
static void combine_carried(row_loop *r, bool late, k_val piece, const k_val *left, const k_val *right, k_val *result)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    uint8_t at = 0;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!carries(r, p, late))
            continue;
        if (p->op->kind != L_SCAN) {
            result[at] = sk_add(lw, k_get(b, left[at]), k_get(b, right[at]));
            at++;
        }
        if (p->op->kind != L_SCAN)
            continue;
        k_val *window = window_of(r, p, piece, left + at), *in_window = row_values(r, p), *total = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++) {
            in_window[c] = k_get(b, left[at + p->n + c]);
            total[c] = k_get(b, right[at + c]);
        }
        state_after(r, p, piece, window, in_window, total);
        memcpy(result + at, window, p->n * sizeof(k_val));
        memcpy(result + at + p->n, in_window, p->n * sizeof(k_val));
        at = (uint8_t)(at + 2 * p->n);
    }
}

static void use_carried(row_loop *r, bool late, k_val piece, const k_val *before)
{
    uint8_t at = 0;
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (!carries(r, p, late))
            continue;
        if (p->op->kind != L_SCAN)
            p->before = before[at++];
        if (p->op->kind != L_SCAN)
            continue;
        state_before(r, p, piece, window_of(r, p, piece, before + at), before + at + p->n);
        at = (uint8_t)(at + 2 * p->n);
    }
}

/* Behind `before` words a piece. */
static k_mem state_memory(row_loop *r, uint32_t before)
{
    vec_push(r->lw->arena, &r->lw->out->memory, ((sk_binding){.role = SK_STATE, .component = before, .type = T_U64}));
    return k_global(&r->lw->b, T_U64, true, "state");
}

static void chain_states(row_loop *r, bool late, k_val piece, k_val count)
{
    const l_cluster *c = r->lw->cluster;
    k_builder *b = &r->lw->b;
    carried x = {0};
    k_mem state = state_memory(r, late ? c->state_words - c->late_words : 0);
    find_carried(r, late, count, &x);
    k_chain *chain = k_chain_begin(b, x.n, x.aggregate, x.initial, state);
    combine_carried(r, late, piece, chain->left, chain->right, x.result);
    k_chain_end(b, chain, x.result);
    use_carried(r, late, piece, chain->before);
}

/* --- a block takes a piece --- */

typedef struct row_piece_of { /* of a launch */
    k_val number; /* in its row */
    k_val begin, count;
    k_val last; /* it is the last one of its row */
    bool scans;
} row_piece_of;

/* slots: 0 row length, 1 pieces a row */
static row_piece_of begin_piece(row_loop *r, const char *name, bool results)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    row_piece_of x = {0};
    row_begin(r, name, false, ROW_GANG);
    if (results)
        row_declare_results(r);
    for (uint32_t i = 0; i < r->part.n; i++) {
        if (results || r->part.at[i].op->kind != L_FOLD || r->part.at[i].keep)
            declare(r, &r->part.at[i], false, results);
        x.scans |= r->part.at[i].op->kind == L_SCAN;
    }
    r->length = sk_slot(lw, 0, "row_length");
    k_val pieces = sk_slot(lw, 1, "pieces_a_row"), row = k_let(b, OP_QUOT, k_piece(b), pieces, 0);
    k_val size = k_i64(b, ROW_PIECE);
    x.number = sk_sub(lw, k_piece(b), sk_mul(lw, row, pieces));
    x.begin = sk_mul(lw, x.number, size);
    x.count = sk_min(lw, size, sk_sub(lw, r->length, x.begin));
    x.last = k_let(b, OP_EQ, sk_add(lw, x.number, k_i64(b, 1)), pieces, 0);
    row_bind_row(r, row);
    return x;
}

static void copy_all_packed(row_loop *r)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i], *counter = row_counter(r, p);
        if (p->op->kind == L_PACK)
            copy_packed(r, p, counter->before, k_load(&r->lw->b, counter->count, k_i64(&r->lw->b, 0)));
    }
}

/* Counts of rows are known in their last pieces. */
static void finish_counts(row_loop *r, const row_piece_of *x)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i], *counter = row_counter(r, p);
        if (p->op->kind != L_FOLD || !p->keep || !p->out)
            continue;
        k_if(b, x->last);
        k_val all = sk_add(r->lw, counter->before, k_load(b, counter->count, k_i64(b, 0))), sum = as_sum(r, p, all);
        finish_fold(r, p, r->row, &sum);
        k_end(b);
    }
}

static void build_chain(row_loop *r)
{
    row_piece_of x = begin_piece(r, "row_pieces", true);
    keep_prefixes(r);
    row_piece(r, &(row_walk){.totals = x.scans, .counts = true, .early = true}, x.begin, x.count);
    fold_partials(r, false, x.count);
    chain_states(r, false, x.number, x.count);
    if (x.scans) {
        row_piece(r, &(row_walk){.results = true}, x.begin, x.count);
        fold_partials(r, true, x.count);
    }
    if (r->lw->cluster->late_words)
        chain_states(r, true, x.number, x.count);
    copy_all_packed(r);
    finish_counts(r, &x);
}

/* --- the same in three launches: words of the state are the bits of values --- */

static ir_type bits_type(ir_type t)
{
    switch (ir_type_size(t)) {
    case 1:
        return T_U8;
    case 2:
        return T_U16;
    case 4:
        return T_U32;
    default:
        return T_U64;
    }
}

static k_val to_word(row_loop *r, k_val x)
{
    k_builder *b = &r->lw->b;
    ir_type t = (ir_type)b->k->value.at[x].type;
    if (t != T_BOOL)
        x = k_convert(b, OP_BITCAST, bits_type(t), x);
    return k_convert(b, OP_CONVERT, T_U64, x);
}

static k_val from_word(row_loop *r, ir_type t, k_val word)
{
    k_builder *b = &r->lw->b;
    if (t == T_BOOL)
        return k_let(b, OP_NE, word, k_literal(b, T_U64, 0), 0);
    return k_convert(b, OP_BITCAST, t, k_convert(b, OP_CONVERT, bits_type(t), word));
}

static k_val word_at(row_loop *r, k_val piece, uint8_t j)
{
    sk_lower *lw = r->lw;
    return sk_add(lw, sk_mul(lw, piece, k_i64(&lw->b, lw->cluster->state_words)), k_i64(&lw->b, j));
}

/* The types of what is carried, in its order. */
static uint8_t carried_types(const row_loop *r, ir_type *type)
{
    uint8_t n = 0;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (row_counts(r, p))
            type[n++] = T_I64;
        for (uint32_t c = 0; c < 2 * p->n && p->op->kind == L_SCAN; c++)
            type[n++] = p->fold.info->type[c % p->n];
    }
    return n;
}

static void build_sums(row_loop *r)
{
    k_builder *b = &r->lw->b;
    row_piece_of x = begin_piece(r, "row_sums", false);
    carried sums = {0};
    k_mem state = state_memory(r, 0);
    row_piece(r, &(row_walk){.totals = x.scans, .counts = true}, x.begin, x.count);
    find_carried(r, false, x.count, &sums);
    k_val lane = k_for_few(b, k_i64(b, 1));
    for (uint8_t j = 0; j < sums.n; j++)
        k_store(b, state, sk_add(r->lw, word_at(r, k_piece(b), j), lane), to_word(r, sums.aggregate[j]));
    k_end(b);
}

/* slots: 0 pieces a row. One thread: there is little to do, and the order is from left to right. */
static void build_states(row_loop *r)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    ir_type type[K_MOST_CARRIED];
    k_val left[K_MOST_CARRIED] = {0}, right[K_MOST_CARRIED] = {0}, result[K_MOST_CARRIED];
    row_begin(r, "row_states", false, ROW_GANG);
    uint8_t n = carried_types(r, type);
    k_mem state = state_memory(r, 0);
    r->length = k_i64(b, 0);
    k_val pieces = sk_slot(lw, 0, "pieces_a_row"), first = sk_mul(lw, k_piece(b), pieces);
    k_val lane = k_for_few(b, k_i64(b, 1));
    lw->element = k_piece(b);
    for (uint8_t j = 0; j < n; j++)
        left[j] = k_decl(b, k_literal(b, type[j], 0), "state");
    k_val piece = k_for(b, k_i64(b, 0), pieces, false), at = sk_add(lw, sk_add(lw, first, lane), piece);
    for (uint8_t j = 0; j < n; j++)
        right[j] = k_decl(b, from_word(r, type[j], k_load(b, state, word_at(r, at, j))), "sum");
    for (uint8_t j = 0; j < n; j++)
        k_store(b, state, word_at(r, at, j), to_word(r, k_get(b, left[j])));
    combine_carried(r, false, piece, left, right, result);
    for (uint8_t j = 0; j < n; j++)
        k_set(b, left[j], result[j]);
    k_end(b);
    k_end(b);
}

static void build_apply(row_loop *r)
{
    k_builder *b = &r->lw->b;
    row_piece_of x = begin_piece(r, "row_apply", true);
    ir_type type[K_MOST_CARRIED];
    k_val before[K_MOST_CARRIED];
    uint8_t n = carried_types(r, type);
    k_mem state = state_memory(r, 0);
    for (uint8_t j = 0; j < n; j++)
        before[j] = from_word(r, type[j], k_load(b, state, word_at(r, k_piece(b), j)));
    use_carried(r, false, x.number, before);
    row_piece(r, &(row_walk){.results = true, .early = true}, x.begin, x.count);
    fold_partials(r, false, x.count);
    fold_partials(r, true, x.count);
    copy_all_packed(r);
    finish_counts(r, &x);
}

/* --- launches --- */

void sk_row_prepare(const l_program *l, l_cluster *c, arena *a)
{
    const sk_options none = {.vector_bytes = 64, .final = true};
    sk_lower lw = {.l = l, .cluster = c, .options = &none, .arena = a};
    row_loop r = {.lw = &lw};
    row_begin(&r, "probe", false, ROW_GANG);
    uint32_t early = 0, late = 0;
    c->chains = c->sweeps <= 1;
    for (uint32_t i = 0; i < r.part.n; i++) {
        const row_part *p = &r.part.at[i];
        *(p->late_keep ? &late : &early) += p->op->kind == L_SCAN ? 2 * p->n : row_counts(&r, p);
        if (p->op->kind == L_FOLD)
            c->op.at[p->op - c->op.at].counted = p->keep != 0;
        c->joins |= p->op->kind == L_FOLD && !p->keep;
        c->chains &= !p->op->outer && (p->op->kind != L_SCAN || p->harmless); /* its code only computes */
    }
    c->chains &= early <= K_MOST_CARRIED && late <= K_MOST_CARRIED && early > 0;
    c->late_words = late ? 1 + late : 0;
    c->state_words = 1 + early + c->late_words;
}

static int64_t pieces_of(int64_t n, int64_t size)
{
    return n / size + (n % size != 0);
}

void sk_launch_row(const l_cluster *c, const sk_options *o, sk_pass pass, int64_t rows, int64_t length, sk_geometry *g)
{
    enum { BRIEF = 8 * ROW_PIECE, FEW = 1024, SOME = 65536 };
    int64_t workers = o->workers > 1 ? o->workers : 1, share = rows / (workers * 8);
    int64_t most = length > SOME ? 1 : SOME / (length > 0 ? length : 1), pieces = pieces_of(length, ROW_PIECE);
    bool idle = workers > 1 && length > BRIEF && rows < 2 * workers; /* some worker would have no row */
    bool rounds = pass == SK_PASS_SUMS || pass == SK_PASS_STATES || pass == SK_PASS_APPLY;
    bool apart = c->chains && idle && pass != SK_PASS_COMBINE && !(rounds && c->late_words);
    g->slot[0] = length;
    g->slot[1] = apart ? pieces : rows;
    g->slot[2] = share < 1 ? 1 : share < most ? share : most;
    g->pieces = apart ? rows * pieces : pieces_of(rows, g->slot[2]);
    g->state_words = apart ? rows * pieces * c->state_words : 0;
    g->partials = apart && c->joins && pass != SK_PASS_SUMS && pass != SK_PASS_STATES ? pieces : 1;
    switch (pass) {
    case SK_PASS_COMBINE:
        g->variant = SK_ROW_COMBINE;
        return;
    case SK_PASS_STATES:
        g->slot[0] = pieces;
        g->pieces = rows; /* falls through */
    case SK_PASS_SUMS:
        g->variant = pass == SK_PASS_SUMS ? SK_ROW_SUMS : SK_ROW_STATES;
        g->pieces = apart ? g->pieces : 0;
        return;
    default:
        g->variant = apart ? (pass == SK_PASS_APPLY ? SK_ROW_APPLY : SK_ROW_CHAIN) : SK_ROW_BLOCK;
    }
    if (apart || length > SK_SHORT)
        return;
    g->variant = SK_ROW_LANES;
    g->slot[2] = FEW;
    g->pieces = pieces_of(rows, FEW);
}

sk_kernel *sk_build_row(const l_program *l, const l_cluster *c, sk_variant variant, const sk_options *options, arena *a,
                        sk_reason *why)
{
    sk_lower lw = {.l = l, .cluster = c, .options = options, .arena = a};
    row_loop r = {.lw = &lw};
    switch (variant) {
    case SK_ROW_LANES:
        row_build_lanes(&r);
        break;
    case SK_ROW_CHAIN:
        build_chain(&r);
        break;
    case SK_ROW_SUMS:
        build_sums(&r);
        break;
    case SK_ROW_STATES:
        build_states(&r);
        break;
    case SK_ROW_APPLY:
        build_apply(&r);
        break;
    default:
        build_block(&r, variant == SK_ROW_COMBINE);
    }
    *why = lw.why;
    return lw.why.text ? NULL : lw.out;
}
