/* What folds of all elements read of stencils, where nothing else needs it in memory: each block of pieces computes its
 * part first, into shared memory, and folds it then. The part is a stretch of the elements in row-major order: the end
 * of a row, whole rows, the beginning of a row. It is computed as a stencil's own loop does: columns near the edges of
 * the array apart from all others, which read contiguously; whole rows several at a time, where they share what they
 * read. What the folds themselves do, and in which order, is that of arrays in memory. */
#include "skeleton/extents.h"
#include "skeleton/fold/fold.h"

#include "opt/rewrite.h"

/* Rows computed at once, and the most operations a column of one of them may have. */
enum { ROWS = 4, MOST_SHARED = 400 };

enum { SCRATCH = 256 << 10, GAP = 1280 }; /* bytes: of all arrays; see gap */

typedef struct array {
    ir_id id;
    const ir_array *info;
    k_mem *memory; /* per component: the block's elements, one behind the other */
} array;

struct sk_staged {
    uint32_t n;
    array *array;
    k_val begin; /* the first element there */
};

/* Arrays of one shape, which are computed together. */
typedef struct rows {
    sk_lower *lw;
    const struct sk_staged *all;
    uint32_t first, end; /* their numbers: they are neighbours */
    uint32_t components; /* in all */
    unsigned rank;
    const ir_id *shape;
    sk_index at;
    int64_t beside;         /* columns that a stencil reads to the left and to the right */
    k_val width, low, high; /* of a row; the block's elements */
    k_val whole, whole_end; /* rows that lie in the block as wholes */
} rows;

bool sk_stages(const sk_cluster *c, const sk_options *o)
{
    return c->staged_pieces && o->vector_bytes && !o->group;
}

/* A power of two, as blocks are nodes of the tree of operators that keep order. */
void sk_stage_prepare(sk_cluster *c)
{
    int64_t bytes = 0, pieces = c->loop->staged.n ? SK_BLOCK : 0;
    for (uint32_t i = 0; i < c->loop->staged.n; i++) {
        const ir_array *info = ir_info(c->l->ir, c->loop->staged.at[i]);
        for (unsigned k = 0; k < info->components; k++)
            bytes += (int64_t)ir_type_size(info->type[k]);
    }
    while (pieces * SK_PIECE * bytes > SCRATCH)
        pieces /= 2;
    c->staged_pieces = (uint8_t)pieces;
}

double sk_fold_flops(const sk_cluster *c, const sk_options *o)
{
    return sk_stages(c, o) ? c->loop->flops - c->loop->staged_flops : c->loop->flops;
}

/* --- shared memory --- */

/* What lies in front of a block's elements: rows that are a power of two apart fall into the same few sets of a cache,
 * so those that are written are kept away from those that are read, and from those of other arrays. */
static k_val gap(sk_lower *lw, ir_type type)
{
    return k_i64(&lw->b, GAP / (int64_t)ir_type_size(type));
}

static k_mem place(void *env, sk_lower *lw, const ir_node *read, const k_val *index, k_val *position)
{
    const struct sk_staged *all = env;
    for (uint32_t i = 0; i < all->n; i++) {
        if (all->array[i].id != read->array)
            continue;
        *position = sk_add(lw, sk_sub(lw, index[0], all->begin), gap(lw, all->array[i].info->type[read->u.literal]));
        return all->array[i].memory[read->u.literal];
    }
    return 0;
}

static bool one_shape(const ir_array *x, const ir_array *y)
{
    return x->rank == y->rank && !memcmp(x->shape, y->shape, x->rank * sizeof(ir_id));
}

/* Those of one shape become neighbours. */
static void add_shape(struct sk_staged *all, const sk_cluster *c, const ir_array *shape)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (one_shape(all->array[i].info, shape))
            return;
    for (uint32_t i = 0; i < c->loop->staged.n; i++) {
        const ir_array *info = ir_info(c->l->ir, c->loop->staged.at[i]);
        if (one_shape(info, shape))
            all->array[all->n++] = (array){.id = c->loop->staged.at[i], .info = info};
    }
}

void sk_open_stage(sk_folds *s)
{
    sk_lower *lw = s->lw;
    const sk_cluster *c = lw->cluster;
    struct sk_staged *all = arena_new(lw->arena, *all);
    all->array = arena_array(lw->arena, array, c->loop->staged.n);
    for (uint32_t i = 0; i < c->loop->staged.n; i++)
        add_shape(all, c, ir_info(lw->l->ir, c->loop->staged.at[i]));
    for (uint32_t i = 0; i < all->n; i++) {
        array *a = &all->array[i];
        sk_keep(&lw->body, a->id);
        a->memory = arena_array(lw->arena, k_mem, a->info->components);
        for (unsigned k = 0; k < a->info->components; k++)
            a->memory[k] = k_shared(&lw->b, a->info->type[k],
                                    GAP / (int64_t)ir_type_size(a->info->type[k]) + c->staged_pieces * SK_PIECE,
                                    arena_printf(lw->arena, "part_a%u", lw->l->number[a->id]));
    }
    s->staged = all;
    lw->place = place;
    lw->place_env = all;
}

/* --- terms --- */

/* Columns beside its own that an array's element reads, through what is delayed. */
static void find_beside(rows *r, ir_id id, map64 *seen)
{
    const l_program *l = r->lw->l;
    const ir_array *info = ir_info(l->ir, id);
    if (map64_get(seen, id) || ir_at(l->ir, id)->kind == IR_INPUT || l->cluster_of[id])
        return;
    map64_put(r->lw->arena, seen, id, 1);
    for (uint32_t i = 0; i < info->inputs; i++) {
        if (ir_at(l->ir, id)->kind == IR_STENCIL)
            r->beside = larger(r->beside, info->stencil[i].extent[info->rank - 1] / 2);
        find_beside(r, info->input[i], seen);
    }
}

static rows rows_of(sk_lower *lw, const struct sk_staged *all, uint32_t first)
{
    const ir_array *info = all->array[first].info;
    rows r = {.lw = lw, .all = all, .first = first, .end = first, .rank = info->rank, .shape = info->shape};
    map64 seen = {0};
    r.at.rank = info->rank;
    for (unsigned d = 0; d < r.rank; d++)
        r.at.at[d] = ir_var(lw->l->ir, T_I64);
    for (; r.end < all->n && one_shape(all->array[r.end].info, info); r.end++) {
        r.components += all->array[r.end].info->components;
        find_beside(&r, all->array[r.end].id, &seen);
    }
    return r;
}

/* The elements of `several` rows at one column, row by row. */
static ir_id *terms_of(const rows *r, sk_columns columns, unsigned several)
{
    ir_program *p = r->lw->l->ir;
    ir_id *term = arena_array(r->lw->arena, ir_id, (size_t)several * r->components), *next = term;
    sk_body body;
    sk_body_init(&body, r->lw->cluster, columns, r->lw->arena);
    body.several = several > 1;
    for (unsigned u = 0; u < several; u++) {
        sk_index at = r->at;
        if (several > 1)
            at.at[r->rank - 2] = ir_op2(p, 0, OP_ADD, at.at[r->rank - 2], ir_i64(p, u));
        for (uint32_t i = r->first; i < r->end; next += r->all->array[i].info->components, i++)
            memcpy(next, sk_define(&body, r->all->array[i].id, &at), r->all->array[i].info->components * sizeof(ir_id));
    }
    return term;
}

/* Rows are computed at once if stencils read above or below them, and it does not matter when they are computed: what
 * may fail reports its element, and loops are long. */
static bool shares_rows(const rows *r)
{
    opt_ids ids = {0};
    uint32_t cost = 0;
    if (r->rank < 2)
        return false;
    const ir_id *term = terms_of(r, SK_INTERIOR, 1);
    opt_reach(r->lw->l->ir, r->lw->arena, r->components, term, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(r->lw->l->ir, ids.at[i]);
        if (n->partial || n->kind == IR_LOOP || (n->kind == IR_OP && ir_ops[n->op].flags & (OP_MATH | OP_TRACES)))
            return false;
        cost += n->type != T_I64;
    }
    return cost <= MOST_SHARED;
}

/* --- code --- */

/* Where the element at hand lies; its indices are bound. */
static k_val open_element(const rows *r, k_val row, const k_val *index, k_val column)
{
    sk_lower *lw = r->lw;
    lw->element = sk_add(lw, sk_mul(lw, row, r->width), column);
    for (unsigned d = 0; d + 1 < r->rank; d++)
        sk_bind(lw, r->at.at[d], index[d]);
    sk_bind(lw, r->at.at[r->rank - 1], column);
    return sk_sub(lw, lw->element, r->low);
}

static void store_elements(const rows *r, k_val position, const ir_id *term, unsigned several)
{
    sk_lower *lw = r->lw;
    k_val *value = arena_array(lw->arena, k_val, (size_t)several * r->components), *next = value;
    sk_emit(lw, several * r->components, term, value);
    for (unsigned u = 0; u < several; u++) {
        k_val at = u ? sk_add(lw, position, sk_mul(lw, r->width, k_i64(&lw->b, u))) : position;
        for (uint32_t i = r->first; i < r->end; i++)
            for (unsigned c = 0; c < r->all->array[i].info->components; c++) {
                const array *a = &r->all->array[i];
                k_store(&lw->b, a->memory[c], sk_add(lw, at, gap(lw, a->info->type[c])), *next++);
            }
    }
}

/* The columns of a row that read nothing beyond the array's edges. */
typedef struct line {
    k_val row, index[IR_MAX_RANK];
    k_val from, to;
} line;

static line line_of(const rows *r, k_val row)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    line l = {.row = row};
    k_val before = sk_mul(lw, row, r->width), beside = k_i64(b, r->beside);
    sk_row_indices(lw, r->rank, r->shape, row, l.index);
    l.from = sk_max(lw, beside, sk_sub(lw, r->low, before));
    l.to = sk_min(lw, sk_sub(lw, r->width, beside), sk_sub(lw, r->high, before));
    l.to = sk_max(lw, l.from, l.to);
    return l;
}

static void inner_columns(const rows *r, k_val row)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    line l = line_of(r, row);
    const ir_id *term = terms_of(r, SK_INTERIOR, 1);
    k_val around = lw->element, lane = k_for_all(b, sk_sub(lw, l.to, l.from));
    uint32_t mark = sk_scope(lw);
    store_elements(r, open_element(r, row, l.index, sk_add(lw, l.from, lane)), term, 1);
    sk_scope_end(lw, mark);
    lw->element = around;
    k_end(b);
}

/* The columns of ROWS rows that lie in the block as wholes: whole gangs, and one at their end that computes some once
 * more. */
static void inner_columns_of_several(const rows *r, k_val row)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    line l = line_of(r, row);
    const ir_id *term = terms_of(r, SK_INTERIOR, ROWS);
    k_val lanes = k_i64(b, lw->out->k->lanes), zero = k_i64(b, 0), columns = sk_sub(lw, l.to, l.from);
    k_val rest = k_let(b, OP_REM, columns, lanes, 0);
    k_val turns = k_select(b, k_let(b, OP_EQ, rest, zero, 0), k_i64(b, 1), k_i64(b, 2));
    k_val turn = k_for(b, zero, turns, false), first = k_let(b, OP_EQ, turn, zero, 0);
    k_val from = k_select(b, first, l.from, sk_sub(lw, l.to, lanes)), around = lw->element;
    k_val lane = k_for_whole(b, k_select(b, first, sk_sub(lw, columns, rest), lanes));
    uint32_t mark = sk_scope(lw);
    store_elements(r, open_element(r, row, l.index, sk_add(lw, from, lane)), term, ROWS);
    sk_scope_end(lw, mark);
    lw->element = around;
    k_end(b);
    k_end(b);
}

/* The other columns of rows [top, end): all rows' together, so that gangs are whole. */
static void outer_columns(const rows *r, k_val top, k_val end)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    const ir_id *term = terms_of(r, SK_GENERIC, 1);
    k_val left = sk_min(lw, k_i64(b, r->beside), r->width), width = sk_min(lw, sk_add(lw, left, left), r->width);
    k_val around = lw->element, lane = k_for_all(b, sk_mul(lw, sk_sub(lw, end, top), width));
    uint32_t mark = sk_scope(lw);
    k_val index[IR_MAX_RANK] = {0}, row = k_let(b, OP_QUOT, lane, width, 0),
          column = sk_sub(lw, lane, sk_mul(lw, row, width));
    column = k_select(b, k_let(b, OP_LT, column, left, 0), column, sk_add(lw, column, sk_sub(lw, r->width, width)));
    row = sk_add(lw, row, top);
    k_val element = sk_add(lw, sk_mul(lw, row, r->width), column);
    k_val inside = k_let(b, OP_AND, k_let(b, OP_GE, element, r->low, 0), k_let(b, OP_LT, element, r->high, 0), 0);
    k_if(b, inside);
    sk_row_indices(lw, r->rank, r->shape, row, index);
    store_elements(r, open_element(r, row, index, column), term, 1);
    k_end(b);
    sk_scope_end(lw, mark);
    lw->element = around;
    k_end(b);
}

/* Rows [from, to) of one plane that lie in the block as wholes; none if they are less than ROWS. */
typedef struct group {
    k_val from, to;
} group;

static group group_of(const rows *r, k_val plane)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    group g = {r->whole, r->whole_end};
    if (r->rank > 2) {
        k_val height = sk_closed(lw, r->shape[r->rank - 2]), first = sk_mul(lw, plane, height);
        g.from = sk_max(lw, g.from, first);
        g.to = sk_min(lw, g.to, sk_add(lw, first, height));
    }
    k_val narrowest = k_i64(b, 2 * r->beside + lw->out->k->lanes);
    k_val wide = k_let(b, OP_GE, r->width, narrowest, 0);
    k_val enough = k_let(b, OP_GE, sk_sub(lw, g.to, g.from), k_i64(b, ROWS), 0);
    g.to = k_select(b, k_let(b, OP_AND, enough, wide, 0), g.to, g.from);
    return g;
}

static void several_rows(const rows *r, k_val top, k_val end)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), plane = zero, count = k_i64(b, ROWS);
    if (r->rank > 2) {
        k_val height = sk_closed(lw, r->shape[r->rank - 2]);
        k_val last = k_let(b, OP_QUOT, sk_sub(lw, end, one), height, 0);
        plane = k_for(b, k_let(b, OP_QUOT, top, height, 0), sk_add(lw, last, one), false);
    }
    group g = group_of(r, plane);
    k_val turns = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, g.to, g.from), k_i64(b, ROWS - 1)), count, 0);
    k_val row = sk_add(lw, g.from, sk_mul(lw, k_for(b, zero, turns, false), count));
    inner_columns_of_several(r, sk_min(lw, row, sk_sub(lw, g.to, count)));
    k_end(b);
    if (r->rank > 2)
        k_end(b);
}

/* Rows that are in no group. */
static void other_rows(const rows *r, k_val top, k_val end)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val height = r->rank > 2 ? sk_closed(lw, r->shape[r->rank - 2]) : 0;
    group g = height ? (group){0} : group_of(r, 0);
    k_val row = k_for(b, top, end, false);
    if (height)
        g = group_of(r, k_let(b, OP_QUOT, row, height, 0));
    k_if(b, k_let(b, OP_OR, k_let(b, OP_LT, row, g.from, 0), k_let(b, OP_GE, row, g.to, 0), 0));
    inner_columns(r, row);
    k_end(b);
    k_end(b);
}

static void stage_rows(rows *r)
{
    sk_lower *lw = r->lw;
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0), one = k_i64(b, 1), top = zero, end = one;
    if (r->rank > 1) {
        top = k_let(b, OP_QUOT, r->low, r->width, 0);
        k_val up = sk_sub(lw, r->width, one);
        end = k_let(b, OP_QUOT, sk_add(lw, r->high, up), r->width, 0);
        r->whole = k_let(b, OP_QUOT, sk_add(lw, r->low, up), r->width, 0);
        r->whole_end = k_let(b, OP_QUOT, r->high, r->width, 0);
    }
    if (r->beside)
        outer_columns(r, top, end);
    if (r->rank == 1) {
        inner_columns(r, zero);
    } else if (shares_rows(r)) {
        several_rows(r, top, end);
        other_rows(r, top, end);
    } else {
        inner_columns(r, k_for(b, top, end, false));
        k_end(b);
    }
}

void sk_stage(sk_folds *s, k_val begin, k_val end)
{
    sk_lower *lw = s->lw;
    s->staged->begin = begin;
    for (uint32_t i = 0; i < s->staged->n;) {
        rows r = rows_of(lw, s->staged, i);
        r.low = begin;
        r.high = end;
        r.width = sk_closed(lw, r.shape[r.rank - 1]);
        stage_rows(&r);
        i = r.end;
    }
}
