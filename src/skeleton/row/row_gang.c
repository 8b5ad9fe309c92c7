/* What a gang does with ROW_GANG positions of a row, and a piece gang after gang. */
#include "skeleton/row/row.h"

/* x = first (+) x in the lanes where `where` holds */
static void apply_where(row_loop *r, const row_part *p, k_val where, const k_val *first, k_val *x)
{
    k_builder *b = &r->lw->b;
    k_val *out = row_values(r, p);
    if (p->harmless) {
        row_apply(r, p, first, x, out);
        for (uint32_t c = 0; c < p->n; c++)
            x[c] = where ? k_select(b, where, out[c], x[c]) : out[c];
        return;
    }
    k_val *v = row_variables(r, p, x, "x");
    if (where)
        k_if(b, where);
    row_apply(r, p, first, x, out);
    row_set(r, p, v, out);
    if (where)
        k_end(b);
    row_get(r, p, v, x);
}

/* Sklansky's construction: in the right half of every block, the total of the left half comes in front. */
void row_prefixes(row_loop *r, const row_part *p, k_val lane, k_val holds, k_val *x)
{
    k_builder *b = &r->lw->b;
    for (int64_t half = 1; half < ROW_GANG; half *= 2) {
        k_val *left = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            left[c] = k_take_left(b, x[c], half);
        k_val right_half = k_let(b, OP_NE, k_let(b, OP_BIT_AND, lane, k_i64(b, half), 0), k_i64(b, 0), 0);
        if (holds && !p->harmless)
            right_half = k_let(b, OP_AND, right_half, holds, 0);
        apply_where(r, p, right_half, left, x);
    }
}

void row_gang_total(row_loop *r, const row_part *p, k_val *x)
{
    k_builder *b = &r->lw->b;
    for (int64_t n = 1; n < ROW_GANG; n *= 2) {
        k_val *left = row_values(r, p), *right = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++) {
            left[c] = k_take_pair(b, x[c], 0);
            right[c] = k_take_pair(b, x[c], 1);
        }
        row_apply(r, p, left, right, x);
    }
}

bool row_any_order(row_loop *r, const row_part *p)
{
    const ir_array *info = p->fold.info;
    return p->n == 1 && p->fold.identity && !ir_type_float(info->type[0]) &&
           ir_at(r->lw->l->ir, info->fn->result[0])->op == OP_ADD;
}

/* --- a gang --- */

typedef struct gang {
    k_val lane, j; /* position in the row */
    k_val number;  /* of the gang in its piece */
    k_val first;   /* lane 0, position in the piece */
    k_val left;    /* elements of the piece from there on */
    k_val whole;   /* all lanes hold something; else the gang is the piece's last */
    bool sure;     /* ... as they do in all gangs of this walk */
} gang;

static k_val holds(row_loop *r, const gang *g)
{
    return k_let(&r->lw->b, OP_LT, g->lane, g->left, 0);
}

/* What reads or writes elements of memory exists twice, for gangs whose lanes all hold something and for others. The
 * code between, of prefixes above all, is the same for both: a prefix depends on lanes to the left only, and those
 * behind the last element of a piece are looked at by nobody. */
typedef void gang_code(row_loop *r, const gang *g, void *env);

static void in_lanes(row_loop *r, const gang *g, gang_code *code, void *env)
{
    k_builder *b = &r->lw->b;
    uint32_t mark = sk_scope(r->lw);
    if (!g->sure)
        k_if(b, g->whole);
    code(r, g, env);
    sk_scope_end(r->lw, mark);
    if (g->sure)
        return;
    k_else(b);
    k_if(b, holds(r, g));
    mark = sk_scope(r->lw);
    code(r, g, env);
    sk_scope_end(r->lw, mark);
    k_end(b);
    k_end(b);
}

static void emit_elements(row_loop *r, const row_part *p, k_val *x)
{
    for (uint32_t c = 0; c < p->n && r->combine; c++)
        x[c] = k_load(&r->lw->b, p->fold.in[c], r->lw->element);
    if (!r->combine)
        sk_emit(r->lw, p->n, p->element, x);
}

typedef struct wanted { /* elements of a part, which go to variables */
    const row_part *p;
    const k_val *to;
} wanted;

static void set_elements(row_loop *r, const gang *g, void *env)
{
    const wanted *want = env;
    k_val *x = row_values(r, want->p);
    (void)g;
    emit_elements(r, want->p, x);
    for (uint32_t c = 0; c < want->p->n; c++)
        k_relax(&r->lw->b, want->to[c], x[c]);
}

/* The elements of a scan, or of a fold that keeps order, in all lanes. */
static void scan_elements(row_loop *r, const row_part *p, const gang *g, k_val *x)
{
    k_val *v = row_variables(r, p, NULL, "x");
    in_lanes(r, g, set_elements, &(wanted){p, v});
    row_get(r, p, v, x);
}

/* The lanes in which the operator must not run if they hold nothing; 0: it may run in all. */
static k_val guard(row_loop *r, const row_part *p, const gang *g)
{
    return p->harmless ? 0 : holds(r, g);
}

/* carry (+) x in the lanes that hold something, or x if there is no carry yet */
static void behind_carry(row_loop *r, const row_part *p, k_val holds, k_val *x)
{
    k_builder *b = &r->lw->b;
    k_val *carry = row_get(r, p, p->carry, NULL), where = p->has_carry ? k_get(b, p->has_carry) : 0;
    if (holds && !p->harmless)
        where = where ? k_let(b, OP_AND, where, holds, 0) : holds;
    apply_where(r, p, where, carry, x);
}

static void carry_on(row_loop *r, const row_part *p, const k_val *prefix)
{
    k_builder *b = &r->lw->b;
    k_val *total = row_values(r, p);
    for (uint32_t c = 0; c < p->n; c++)
        total[c] = k_take_lane(b, prefix[c], ROW_GANG - 1);
    behind_carry(r, p, 0, total);
    row_set(r, p, p->carry, total);
    if (p->has_carry)
        k_set(b, p->has_carry, k_literal(b, T_BOOL, 1));
}

/* The results of a scan from its prefixes, in all lanes. */
static void scan_results(row_loop *r, const row_part *p, const gang *g, const k_val *prefix)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *x = arena_copy(lw->arena, prefix, p->n * sizeof(k_val));
    bool exclusive = ir_at(lw->l->ir, p->op->term)->flags & IR_EXCLUSIVE;
    k_val first = k_let(b, OP_EQ, g->lane, k_i64(b, 0), 0), where = guard(r, p, g);
    for (uint32_t c = 0; c < p->n && exclusive; c++) /* which has a seed, so there is a carry */
        x[c] = k_shuffle(b, prefix[c], ROW_GANG - 1);
    if (exclusive && where)
        where = k_let(b, OP_AND, where, k_let(b, OP_NOT, first, 0, 0), 0);
    behind_carry(r, p, where, x);
    for (uint32_t c = 0; c < p->n && exclusive; c++)
        x[c] = k_select(b, first, k_get(b, p->carry[c]), x[c]);
    for (uint32_t c = 0; c < p->n; c++)
        sk_bind(lw, p->given[c], x[c]);
    if (!p->harmless) /* the piece's last gang, if it is no whole one, is followed by none */
        k_if(b, g->whole);
    carry_on(r, p, prefix);
    if (!p->harmless)
        k_end(b);
}

/* The total of a gang is the prefix in its last lane. That of a scan is wanted of whole gangs only. */
static void keep_total(row_loop *r, const row_part *p, const gang *g, const k_val *prefix)
{
    k_builder *b = &r->lw->b;
    k_val slot = row_slot(r, g->number);
    if (p->tail)
        k_if(b, g->whole);
    k_if(b, k_let(b, OP_EQ, g->lane, k_i64(b, ROW_GANG - 1), 0));
    row_store(r, p, p->node, slot, prefix);
    k_end(b);
    if (!p->tail)
        return;
    k_else(b);
    row_store(r, p, p->tail, g->lane, prefix);
    k_end(b);
}

/* What the last gang of a piece has left, if it is not a whole one. */
static void keep_tails(row_loop *r, const row_walk *w, k_val number, k_val rest)
{
    k_builder *b = &r->lw->b;
    bool any = false;
    for (uint32_t i = 0; i < r->part.n; i++)
        any |= r->part.at[i].tail && r->part.at[i].op->sweep == w->sweep && row_takes_part(&r->part.at[i], w);
    if (!any)
        return;
    k_if(b, k_let(b, OP_GT, rest, k_i64(b, 0), 0));
    k_val lane = k_for_few(b, k_i64(b, 1)), last = sk_sub(r->lw, rest, k_i64(b, 1));
    k_val slot = sk_add(r->lw, row_slot(r, number), lane);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        for (uint32_t c = 0; c < p->n && p->tail && p->op->sweep == w->sweep && row_takes_part(p, w); c++)
            k_store(b, p->node[c], slot, k_load(b, p->tail[c], last));
    }
    k_end(b);
    k_end(b);
}

/* The same where nothing else is wanted of the walk: prefixes are found when the state is known. */
static void keep_only_total(row_loop *r, const row_part *p, const gang *g, k_val *x)
{
    k_builder *b = &r->lw->b;
    k_val *out = row_values(r, p);
    if (p->sum) {
        row_apply(r, p, (k_val[]){k_get(b, p->sum[0])}, x, out);
        k_set(b, p->sum[0], out[0]);
        return;
    }
    row_gang_total(r, p, x);
    k_if(b, k_let(b, OP_EQ, g->lane, k_i64(b, 0), 0));
    row_store(r, p, p->node, g->number, x);
    k_end(b);
}

static bool has_prefixes(const row_part *p, const row_walk *w)
{
    return p->prefix && !w->totals;
}

/* `element`: variables; NULL if it has prefixes, or if its elements depend on results of other scans. */
static void scan(row_loop *r, const row_part *p, const row_walk *w, const gang *g, const k_val *element)
{
    k_builder *b = &r->lw->b;
    k_val *x = row_values(r, p), at = sk_add(r->lw, g->first, g->lane);
    bool known = has_prefixes(p, w);
    for (uint32_t c = 0; c < p->n && known; c++)
        x[c] = k_load(b, p->prefix[c], at);
    for (uint32_t c = 0; c < p->n && element; c++)
        x[c] = k_get(b, element[c]);
    if (!known && !element)
        scan_elements(r, p, g, x);
    if (w->only) {
        keep_only_total(r, p, g, x);
        return;
    }
    if (!known)
        row_prefixes(r, p, g->lane, guard(r, p, g), x);
    for (uint32_t c = 0; c < p->n && p->prefix && w->totals; c++)
        k_store(b, p->prefix[c], at, x[c]);
    if (w->totals)
        keep_total(r, p, g, x);
    if (w->results)
        scan_results(r, p, g, x);
}

/* The same where flags are counted. */
static void count_flags(row_loop *r, const row_part *p, const row_walk *w, const gang *g, k_val variable)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    ir_type t = p->fold.info->type[0];
    k_val flag = k_get(b, variable), count = k_convert(b, OP_CONVERT, t, k_count(b, flag));
    if (w->only) {
        k_set(b, p->sum[0], k_let(b, OP_ADD, k_get(b, p->sum[0]), count, 0));
        return;
    }
    k_val before = k_convert(b, OP_CONVERT, t, k_rank(b, flag));
    k_val with = k_let(b, OP_ADD, before, k_convert(b, OP_CONVERT, t, flag), 0);
    if (w->totals)
        keep_total(r, p, g, &with);
    if (!w->results)
        return;
    bool exclusive = ir_at(lw->l->ir, p->op->term)->flags & IR_EXCLUSIVE;
    sk_bind(lw, p->given[0], k_let(b, OP_ADD, k_get(b, p->carry[0]), exclusive ? before : with, 0));
    k_set(b, p->carry[0], k_let(b, OP_ADD, k_get(b, p->carry[0]), count, 0));
}

/* --- folds --- */

/* Position i of a piece goes to accumulator i mod ROW_SUMS. */
static void accumulate(row_loop *r, const row_part *p, const gang *g, const k_val *x)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val *out = row_values(r, p), *acc = row_values(r, p), *v = row_values(r, p);
    k_val at = sk_add(lw, k_let(b, OP_BIT_AND, g->first, k_i64(b, ROW_GANG), 0), g->lane);
    bool fused = p->fold.fused_product;
    for (uint32_t c = 0; c < p->n; c++)
        v[c] = k_decl(b, fused ? k_let(b, OP_MUL, x[0], x[1], 0) : x[c], "x");
    k_if(b, k_let(b, OP_GE, g->first, k_i64(b, ROW_SUMS), 0));
    row_load(r, p, p->sums, at, acc);
    if (fused)
        out[0] = k_let(b, OP_FMA, x[0], x[1], acc[0]);
    else
        row_apply(r, p, acc, x, out);
    row_set(r, p, v, out);
    k_end(b);
    for (uint32_t c = 0; c < p->n; c++)
        k_store(b, p->sums[c], at, k_get(b, v[c]));
}

static void fold_in_order(row_loop *r, const row_part *p, const gang *g, const k_val *element)
{
    k_val *x = row_get(r, p, element, NULL);
    row_prefixes(r, p, g->lane, guard(r, p, g), x);
    keep_total(r, p, g, x);
}

/* --- elements --- */

bool row_takes_part(const row_part *p, const row_walk *w)
{
    if (p->op->outer || p->op->sweep != w->sweep || p->op->kind == L_SCAN)
        return false;
    return p->late ? w->results : w->early;
}

/* Elements of a pack that need the state are packed once it is known; how many there are is part of the state. */
static bool is_counted(const row_part *p, const row_walk *w)
{
    bool now = w->counts && p->op->sweep == w->sweep && !p->late_keep;
    return p->keep && (now || row_takes_part(p, w));
}

static void store_element(row_loop *r, const row_part *p, const k_val *value)
{
    for (uint32_t c = 0; c < p->n; c++)
        k_store(&r->lw->b, sk_array_memory(r->lw, p->op->term, c, true), r->lw->element, value[c]);
}

/* What the gang's members make of their elements: first, in one list of terms, all that does not depend on results of
 * scans, so that what is common is computed once; then, with these results, the rest. */
typedef struct members {
    const row_walk *w;
    bool late;       /* it is the rest's turn */
    bool *late_keep; /* per counter: the rest's turn is its */
    k_val *keep;     /* per counter: variable; 0: it does not count in this walk */
    k_val **kept;    /* per part, of packs that take part: variables per component */
    k_val **scanned; /* per part, of scans and folds that keep order, which need the elements of all lanes: the same */
} members;

static bool is_now(const row_loop *r, const members *m, uint32_t i)
{
    const row_part *p = &r->part.at[i];
    bool late = p->keep ? m->late_keep[p->counter] : p->op->kind == L_SCAN ? false : p->late;
    return late == m->late;
}

static bool is_scanned(const row_part *p, const row_walk *w)
{
    if (p->op->kind == L_SCAN)
        return p->op->sweep == w->sweep && (w->totals || w->results) && !p->behind && !has_prefixes(p, w);
    return p->op->kind == L_FOLD && p->ordered && row_takes_part(p, w);
}

/* All lanes of the gang come to COMPACT and to exchanges, so what these take waits in variables. */
static void declare_members(row_loop *r, members *m)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    m->late_keep = arena_alloc(lw->arena, r->part.n + 1);
    m->keep = arena_array(lw->arena, k_val, r->part.n + 1);
    m->kept = arena_array(lw->arena, k_val *, r->part.n + 1);
    m->scanned = arena_array(lw->arena, k_val *, r->part.n + 1);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        bool packs = p->op->kind == L_PACK && row_takes_part(p, m->w);
        if (is_counted(p, m->w)) {
            if (!m->keep[p->counter])
                m->keep[p->counter] = k_decl(b, k_literal(b, T_BOOL, 0), "keep");
            m->late_keep[p->counter] |= p->late_keep || (packs && p->late);
        }
        m->kept[i] = packs ? row_variables(r, p, NULL, "x") : NULL;
        m->scanned[i] = NULL;
        if (is_scanned(p, m->w) && p->flag) { /* false where there is nothing */
            m->scanned[i] = row_values(r, p);
            m->scanned[i][0] = k_decl(b, k_literal(b, T_BOOL, 0), "flag");
        } else if (is_scanned(p, m->w)) {
            m->scanned[i] = row_variables(r, p, NULL, "x");
        }
    }
}

/* The elements of a pack are computed where they are kept: others may fail. */
static void set_pack(row_loop *r, const members *m, uint32_t i, k_val keep)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const row_part *p = &r->part.at[i];
    k_val *x = row_values(r, p);
    uint32_t mark = sk_scope(lw);
    k_if(b, keep);
    sk_emit(lw, p->n, p->element, x);
    for (uint32_t c = 0; c < p->n; c++)
        k_relax(b, m->kept[i][c], x[c]);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* Elements that are stored or folded as they are. */
static bool is_plain(const row_part *p, const row_walk *w)
{
    bool folds = p->op->kind == L_FOLD && !p->ordered && !p->keep;
    return row_takes_part(p, w) && (p->op->kind == L_ELEMENT || folds);
}

static void list_terms(row_loop *r, const members *m, k_val **value)
{
    sk_lower *lw = r->lw;
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < r->part.n && !r->combine; i++) {
        const row_part *p = &r->part.at[i];
        if (!is_now(r, m, i))
            continue;
        for (uint32_t c = 0; (m->scanned[i] || is_plain(p, m->w)) && c < row_terms(p); c++)
            vec_push(lw->arena, &term, m->scanned[i] && p->flag ? p->flag : p->element[c]);
        if (m->keep[i]) /* a counter: all others of its condition come later */
            vec_push(lw->arena, &term, p->keep);
    }
    *value = arena_array(lw->arena, k_val, term.n + 1);
    if (term.n)
        sk_emit(lw, term.n, term.at, *value);
}

static void store_results(row_loop *r, const row_walk *w)
{
    for (uint32_t i = 0; i < r->part.n && w->results; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_SCAN || p->op->sweep != w->sweep || !p->op->stored)
            continue;
        k_val *x = row_values(r, p);
        for (uint32_t c = 0; c < p->n; c++)
            x[c] = sk_known(r->lw, p->given[c]);
        store_element(r, p, x);
    }
}

static void elements(row_loop *r, const gang *g, void *env)
{
    sk_lower *lw = r->lw;
    const members *m = env;
    k_val *next, *keep = arena_array(lw->arena, k_val, r->part.n + 1);
    row_use_kept(r, m->w->sweep, g->j);
    list_terms(r, m, &next);
    row_keep(r, m->w->sweep, g->j);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!is_now(r, m, i))
            continue;
        k_val *x = next;
        bool taken = m->scanned[i] || is_plain(p, m->w);
        if (taken && !r->combine)
            next += row_terms(p);
        if (m->keep[i]) {
            keep[i] = *next++;
            k_set(&lw->b, m->keep[i], keep[i]);
        }
        if (m->kept[i])
            set_pack(r, m, i, keep[p->counter]);
        if (!taken)
            continue;
        if (r->combine)
            x = row_values(r, p);
        for (uint32_t c = 0; c < p->n && r->combine; c++)
            x[c] = k_load(&lw->b, p->fold.in[c], lw->element);
        for (uint32_t c = 0; c < p->n && m->scanned[i]; c++)
            (p->flag ? k_set : k_relax)(&lw->b, m->scanned[i][c], x[c]);
        if (p->op->kind == L_ELEMENT)
            store_element(r, p, x);
        else if (!m->scanned[i])
            accumulate(r, p, g, x);
    }
    if (m->late)
        store_results(r, m->w);
}

static bool has_elements(const row_loop *r, const members *m)
{
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        bool result = p->op->kind == L_SCAN && p->op->sweep == m->w->sweep && p->op->stored && m->w->results;
        if (m->late && result)
            return true;
        if (is_now(r, m, i) && (m->keep[i] || m->kept[i] || m->scanned[i] || is_plain(p, m->w)))
            return true;
    }
    return false;
}

/* What counter number i and all packs with its condition keep. */
static void compact(row_loop *r, const members *m, uint32_t i)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const row_part *counter = &r->part.at[i];
    k_val keep = k_get(b, m->keep[i]), at = k_get(b, counter->packed);
    const bool direct = row_packs_directly(r);
    k_val to = direct && counter->from ? sk_add(lw, counter->from, at) : at;
    for (uint32_t j = 0; j < r->part.n; j++) {
        const row_part *p = &r->part.at[j];
        for (uint32_t c = 0; c < p->n && m->kept[j] && p->counter == i; c++)
            (direct ? k_compact : k_compact_over)(b, p->kept[c], to, k_get(b, m->kept[j][c]), keep);
    }
    k_set(b, counter->packed, sk_add(lw, at, k_count(b, keep)));
}

/* All whose turn it is, but scans. */
static void take_turn(row_loop *r, const members *m, const gang *g)
{
    if (has_elements(r, m))
        in_lanes(r, g, elements, (void *)m);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (!is_now(r, m, i))
            continue;
        if (m->scanned[i] && p->op->kind == L_FOLD)
            fold_in_order(r, p, g, m->scanned[i]);
        if (m->keep[i])
            compact(r, m, i);
    }
}

/* While one piece is written, the next is fetched: a walk that only reads would wait for the memory, and one that only
 * writes would leave it waiting. Where a piece is gone over twice, each time is given its share. */
static void fetch_next(row_loop *r, const row_walk *w, const gang *g)
{
    k_builder *b = &r->lw->b;
    VEC(ir_id) term = {0};
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        bool read = p->op->sweep == (w->fetch == ROW_FETCH_ROW ? 0 : w->sweep) && !p->op->outer;
        for (uint32_t c = 0; c < row_terms(p) && read; c++)
            vec_push(r->lw->arena, &term, p->element[c]);
        if (p->keep)
            vec_push(r->lw->arena, &term, p->keep);
    }
    if (w->fetch == ROW_FETCH_ROW || w->fetch == ROW_FETCH_AHEAD) {
        k_val little = k_i64(b, r->right ? -ROW_PIECE / 2 : ROW_PIECE / 2);
        sk_fetch(r->lw, term.n, term.at, &r->lw->at, w->fetch == ROW_FETCH_ROW ? r->length : little, k_i64(b, 0));
        return;
    }
    if (w->fetch != ROW_FETCH_ALL) {
        k_val fourth = k_let(b, OP_BIT_AND, g->number, k_i64(b, 3), 0);
        k_if(b, k_let(b, w->fetch == ROW_FETCH_SOME ? OP_EQ : OP_NE, fourth, k_i64(b, 0), 0));
    }
    sk_fetch(r->lw, term.n, term.at, &r->lw->at, k_i64(b, 0), k_i64(b, r->right ? -ROW_PIECE : ROW_PIECE));
    if (w->fetch != ROW_FETCH_ALL)
        k_end(b);
}

/* The rest may need it, too, and then asks for the lanes that are counted. */
static void bind_flag(row_loop *r, const row_part *p, k_val variable)
{
    k_builder *b = &r->lw->b;
    k_val flag = k_get(b, variable);
    sk_bind(r->lw, p->flag, flag);
    sk_bind(r->lw, p->element[0], k_convert(b, OP_CONVERT, p->fold.info->type[0], flag));
}

static void one_gang(row_loop *r, const row_walk *w, const gang *g)
{
    sk_lower *lw = r->lw;
    uint32_t mark = sk_scope(lw);
    k_val around = lw->element;
    members m = {.w = w};
    row_bind(r, g->j);
    if (w->fetch && !r->stride)
        fetch_next(r, w, g);
    declare_members(r, &m);
    take_turn(r, &m, g);
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_SCAN || p->op->sweep != w->sweep || !(w->totals || w->results))
            continue;
        if (p->flag) {
            count_flags(r, p, w, g, m.scanned[i][0]);
            bind_flag(r, p, m.scanned[i][0]);
            continue;
        }
        scan(r, p, w, g, m.scanned[i]);
        for (uint32_t c = 0; c < p->n && m.scanned[i]; c++) /* the rest may need it, too */
            sk_bind(lw, p->element[c], k_get(&lw->b, m.scanned[i][c]));
    }
    m.late = true;
    take_turn(r, &m, g);
    lw->element = around;
    sk_scope_end(lw, mark);
}

/* --- a piece --- */

static void open_carries(row_loop *r, const row_walk *w)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        row_part *p = &r->part.at[i];
        if (row_counts(r, p) && p->op->sweep == w->sweep)
            p->packed = k_decl(b, k_i64(b, 0), "packed");
        if (p->op->kind != L_SCAN || p->op->sweep != w->sweep)
            continue;
        p->in_order = w->only;
        p->sum = w->only && row_any_order(r, p) ? row_variables(r, p, NULL, "sum") : NULL;
        if (!w->results)
            continue;
        p->carry = row_variables(r, p, p->state, "carry");
        p->has_carry = p->has_state ? k_decl(b, p->has_state, "has_carry") : 0;
    }
}

static void close_packs(row_loop *r, const row_walk *w, k_val lane)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        bool counted = false;
        for (uint32_t j = i; j < r->part.n && row_counts(r, p); j++)
            counted |= r->part.at[j].keep && r->part.at[j].counter == i && is_counted(&r->part.at[j], w);
        if (!counted)
            continue;
        k_if(b, k_let(b, OP_LT, lane, k_i64(b, 1), 0));
        k_store(b, p->count, k_i64(b, 0), k_get(b, p->packed));
        k_end(b);
    }
}

static void close_sums(row_loop *r, const row_walk *w, k_val lane)
{
    k_builder *b = &r->lw->b;
    for (uint32_t i = 0; i < r->part.n; i++) {
        const row_part *p = &r->part.at[i];
        if (p->op->kind != L_SCAN || p->op->sweep != w->sweep || !p->sum)
            continue;
        k_val sum = k_get(b, p->sum[0]), none = k_literal(b, p->fold.info->type[0], 0);
        if (p->flag) /* that of all lanes */
            sum = k_select(b, k_let(b, OP_EQ, lane, k_i64(b, 0), 0), sum, none);
        k_store(b, p->node[0], lane, sum);
    }
}

/* Of the last piece of a row nobody wants the total, so where totals are all that is wanted, its last elements may be
 * left out. */
static bool whole_gangs_only(const row_loop *r, const row_walk *w)
{
    bool all = w->only;
    for (uint32_t i = 0; i < r->part.n; i++)
        all &= !is_counted(&r->part.at[i], w) && !row_takes_part(&r->part.at[i], w);
    return all;
}

void row_piece(row_loop *r, const row_walk *w, k_val begin, k_val count)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val width = k_i64(b, ROW_GANG), zero = k_i64(b, 0);
    bool sure = whole_gangs_only(r, w);
    k_val all = sure ? count : sk_add(lw, count, k_i64(b, ROW_GANG - 1)), gangs = k_let(b, OP_QUOT, all, width, 0);
    gang g = {.lane = k_for_all(b, width), .sure = sure};
    open_carries(r, w);
    g.number = k_for(b, zero, gangs, false);
    g.first = sk_mul(lw, g.number, width);
    g.j = sk_add(lw, sk_add(lw, begin, g.first), g.lane);
    g.left = sk_sub(lw, count, g.first);
    g.whole = k_let(b, OP_GE, g.left, width, 0);
    one_gang(r, w, &g);
    k_end(b);
    close_packs(r, w, g.lane);
    close_sums(r, w, g.lane);
    k_end(b);
    keep_tails(r, w, sk_sub(lw, gangs, k_i64(b, 1)), k_let(b, OP_REM, count, width, 0));
}
