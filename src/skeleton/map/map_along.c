/* Elements that are loops along rows of their own: a gang computes one element after the other, its lanes being
 * positions in the row that an element's loop goes along (element/along.c). */
#include "skeleton/extents.h"
#include "skeleton/map/map.h"

#include "skeleton/element/along.h"
#include "skeleton/element/runs.h"

#include "opt/rewrite.h"

enum { ALONE = 64 /* elements of a block of many threads */ };

/* Traces are one an element, not one a lane. */
void sk_along_prepare(sk_cluster *c, arena *a)
{
    const ir_program *p = c->l->ir;
    for (uint32_t i = 0; i < c->loop->op.n; i++)
        c->along |= ir_at(p, c->loop->op.at[i].term)->flags & IR_ALONG;
    if (!c->along)
        return;
    const sk_options none = {.vector_bytes = 64};
    sk_lower lw = {.l = c->l, .cluster = c, .options = &none, .arena = a, .name = "probe"};
    sk_outputs out = {0};
    opt_ids ids = {0};
    sk_open_map(&lw, &out);
    opt_reach(c->l->ir, a, out.term.n, out.term.at, &ids);
    for (uint32_t i = 0; i < ids.n; i++) {
        const ir_node *n = ir_at(p, ids.at[i]);
        c->along &= !(n->kind == IR_OP && ir_ops[n->op].flags & OP_TRACES);
    }
    c->along_wide = sk_widest(c->l, &ids, out.term.n, out.term.at) > 4;
}

bool sk_launch_map_along(const sk_call *x, sk_geometry *g)
{
    enum { SHARES = 8, LEAST = 16 };
    if (!x->c->along || !(x->o->vector_bytes || x->o->group))
        return false;
    int64_t total = x->rows * x->columns;
    int64_t size = x->o->group ? ALONE : smaller(4096, larger(LEAST, total / (larger(x->o->workers, 1) * SHARES) + 1));
    g->pieces = pieces_of(total, size);
    g->slot[0] = size;
    g->slot[1] = total;
    return true;
}

static void store(sk_lower *lw, const sk_outputs *out, k_val row, const k_val *value)
{
    for (uint32_t i = 0; i < out->term.n; i++)
        k_store(&lw->b, sk_array_memory(lw, out->array.at[i], out->component.at[i], true), row, value[i]);
}

/* The code of an element, for a single lane or for a gang, in a FOR_ALL. */
static void element(sk_lower *lw, const sk_outputs *out, sk_along *gang, k_mem is_long, ir_id linear, k_val row)
{
    k_builder *b = &lw->b;
    k_val zero = k_i64(b, 0);
    k_val *value = arena_array(lw->arena, k_val, out->term.n);
    uint32_t mark = sk_scope(lw);
    lw->element = row;
    sk_bind(lw, linear, row);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, row);
    for (uint32_t i = 0; i < gang->checked.n && !gang->first; i++)
        sk_note_extent(lw, gang->checked.at[i], gang->extent.at[i]);
    lw->along = gang;
    sk_emit(lw, out->term.n, out->term.at, value);
    lw->along = NULL;
    if (gang->first) {
        store(lw, out, row, value);
        for (uint32_t i = 0; i < gang->loops; i++)
            k_end(b);
        k_if(b, k_get(b, gang->some_long));
        k_store(b, is_long, zero, k_literal(b, T_BOOL, 1));
    } else {
        k_if(b, k_let(b, OP_EQ, gang->lane, zero, 0));
        store(lw, out, row, value);
    }
    k_end(b);
    sk_scope_end(lw, mark);
}

/* Where blocks are many threads each computes an element, with the same accumulators, which are memory of its own. */
static void build_alone(sk_lower *lw, const sk_outputs *out)
{
    sk_along alone = {.alone = true};
    lw->out->k->lanes = 1;
    lw->out->k->threads = lw->out->k->group = ALONE;
    sk_open_space(lw);
    k_builder *b = &lw->b;
    const ir_id linear = lw->at.linear;
    k_val size = sk_slot(lw, 0, "piece_size"), total = sk_slot(lw, 1, "total");
    k_val first = sk_mul(lw, k_piece(b), size);
    k_val row = sk_add(lw, first, k_for_all(b, sk_min(lw, k_i64(b, ALONE), sk_sub(lw, total, first))));
    k_val *value = arena_array(lw->arena, k_val, out->term.n);
    uint32_t mark = sk_scope(lw);
    lw->element = row;
    sk_bind(lw, linear, row);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, row);
    lw->along = &alone;
    sk_emit(lw, out->term.n, out->term.at, value);
    lw->along = NULL;
    store(lw, out, row, value);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* slots: 0 elements a piece, 1 elements in all */
void sk_build_map_along(sk_lower *lw)
{
    sk_outputs out = {0};
    sk_open_map(lw, &out);
    if (lw->options->group) {
        build_alone(lw, &out);
        return;
    }
    sk_along gang = {.tree = sk_tree_of(lw->cluster->along_wide)};
    lw->out->k->lanes = (uint16_t)gang.tree.lanes;
    sk_open_space(lw);
    k_builder *b = &lw->b;
    ir_id linear = lw->at.linear;
    k_val size = sk_slot(lw, 0, "piece_size"), total = sk_slot(lw, 1, "total");
    k_val first = sk_mul(lw, k_piece(b), size);
    k_val row = k_for(b, first, sk_min(lw, total, sk_add(lw, first, size)), false);
    k_mem is_long = k_shared(b, T_BOOL, 1, "is_long");
    k_val zero = k_i64(b, 0);
    k_for_whole(b, k_i64(b, 1));
    k_store(b, is_long, zero, k_literal(b, T_BOOL, 0));
    gang.first = true;
    gang.some_long = k_decl(b, k_literal(b, T_BOOL, 0), "some_long");
    element(lw, &out, &gang, is_long, linear, row);
    k_end(b);
    k_if(b, k_load(b, is_long, zero));
    gang.first = false;
    gang.lane = k_for_whole(b, k_i64(b, gang.tree.lanes));
    element(lw, &out, &gang, is_long, linear, row);
    k_end(b);
    k_end(b);
    k_end(b);
}
