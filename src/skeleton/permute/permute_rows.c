/* Rows of elements that go to rows of places: gangs go along the row. Elements of a block before its first whole row
 * and behind its last one are taken one by one. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

enum { ROW_ELEMENTS = 8192 }; /* of a stretch of several rows, at most */
enum { AHEAD_BYTES = 4096 };  /* what is combined is fetched, as processors look ahead within a page alone */

static int64_t widest_of(const sk_permute *m)
{
    int64_t widest = 1;
    for (uint32_t c = 0; c < m->all->n; c++)
        widest = larger(widest, (int64_t)ir_type_size(m->all->type[c]));
    return widest;
}

/* A gang takes the whole row, or as many elements as it has lanes. */
void sk_permute_row_lanes(sk_permute *m)
{
    sk_lower *lw = m->lw;
    const l_cluster *loop = lw->cluster->loop;
    int64_t widest = widest_of(m), length = INT64_MAX, lanes = 4;
    if (!ir_extent_constant(lw->l->ir, loop->shape[loop->rank - 1], &length))
        length = lw->options->vector_bytes / widest; /* any length: what is no whole gang is off */
    while (2 * lanes <= smaller(length, 2 * lw->options->vector_bytes / widest))
        lanes *= 2;
    lw->out->k->lanes = (uint16_t)lanes;
}

/* Places of the first elements of rows. */
static void find_row_places(sk_permute *m, k_val first, k_val count, k_val length)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_all(b, count);
    uint32_t mark = sk_scope(lw);
    sk_permute_found f;
    sk_permute_find(m, sk_mul(lw, sk_add(lw, first, lane), length), &f);
    k_val place = sk_permute_place(m, f.place);
    k_store(b, m->at, lane, f.inside ? k_select(b, f.inside, place, sk_permute_nowhere(m)) : place);
    sk_permute_report(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
}

static void combine_rows(sk_permute *m, k_val first, k_val count, k_val length)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t n = m->all->n;
    k_val new[IR_MAX_COMPONENTS] = {0}, old[IR_MAX_COMPONENTS] = {0};
    int64_t known = 0;
    const l_cluster *loop = lw->cluster->loop;
    bool whole = ir_extent_constant(lw->l->ir, loop->shape[loop->rank - 1], &known) && known % lw->out->k->lanes == 0;
    k_val lane = whole ? k_for_whole(b, k_i64(b, known)) : k_for_all(b, length);
    k_val j = k_for(b, k_i64(b, 0), count, false), place = sk_permute_load_place(m, j);
    k_if(b, k_let(b, OP_GE, place, k_i64(b, 0), 0));
    uint32_t mark = sk_scope(lw);
    k_val position = sk_add(lw, sk_mul(lw, sk_add(lw, first, j), length), lane);
    sk_bind(lw, lw->at.linear, position);
    sk_bind_runs(lw, 0, loop->rank, position);
    sk_fetch(lw, n, m->element, &lw->at, k_i64(b, AHEAD_BYTES / widest_of(m)), k_i64(b, 0));
    sk_emit(lw, n, m->element, new);
    place = sk_add(lw, place, lane);
    lw->element = place;
    for (uint32_t c = 0; c < n && !m->all->last; c++)
        old[c] = k_load(b, m->into[c], sk_permute_total_at(m, c, place));
    for (uint32_t i = 0; i < m->all->parts; i++)
        sk_permute_combine(m, &m->all->part[i], place, new, old);
    sk_scope_end(lw, mark);
    k_end(b);
    k_end(b);
    k_end(b);
}

/* Rows [first, last). */
static void take_rows(sk_permute *m, k_val first, k_val last, k_val length)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val one = k_i64(b, 1), some = k_let(b, OP_QUOT, k_i64(b, ROW_ELEMENTS), length, 0);
    k_val size = sk_min(lw, k_i64(b, SK_PERMUTE_ROWS_AT_ONCE), sk_max(lw, one, some));
    k_val stretches = k_let(b, OP_QUOT, sk_add(lw, sk_sub(lw, last, first), sk_sub(lw, size, one)), size, 0);
    k_val s = k_for(b, k_i64(b, 0), stretches, false), from = sk_add(lw, first, sk_mul(lw, s, size));
    k_val count = sk_min(lw, size, sk_sub(lw, last, from));
    uint32_t mark = sk_scope(lw);
    find_row_places(m, from, count, length);
    combine_rows(m, from, count, length);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* A block: whole rows, and before and behind them what it has of others. */
void sk_permute_take_rows(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const l_cluster *loop = lw->cluster->loop;
    k_val length = sk_max(lw, k_i64(b, 1), sk_closed(lw, loop->shape[loop->rank - 1])), one = k_i64(b, 1);
    k_val first = k_let(b, OP_QUOT, sk_add(lw, m->begin, sk_sub(lw, length, one)), length, 0);
    k_val last = sk_max(lw, first, k_let(b, OP_QUOT, m->end, length, 0));
    k_val rows_begin = sk_min(lw, m->end, sk_mul(lw, first, length));
    k_val rows_end = sk_max(lw, rows_begin, sk_min(lw, m->end, sk_mul(lw, last, length)));
    k_val part = k_for(b, k_i64(b, 0), k_i64(b, 2), false), before = k_let(b, OP_EQ, part, k_i64(b, 0), 0);
    sk_permute_take(m, k_select(b, before, m->begin, rows_end), k_select(b, before, rows_begin, m->end));
    k_if(b, before);
    take_rows(m, first, last, length);
    k_end(b);
    k_end(b);
}
