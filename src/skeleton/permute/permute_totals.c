/* Where permutes have their totals: in the result, or in tables of records, one for each block of the source; and the
 * second pass, which combines the tables with the result. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/extents.h"

static k_mem table_memory(sk_permute *m, const char *name, ir_type type)
{
    sk_lower *lw = m->lw;
    k_mem t = k_global(&lw->b, type, true, name);
    vec_push(lw->arena, &lw->out->memory, ((sk_binding){SK_STATE, 0, 0, type}));
    return t;
}

k_mem sk_permute_result(sk_permute *m, uint32_t component)
{
    k_mem r = sk_array_memory(m->lw, m->anchor, component, true);
    m->lw->out->k->mem.at[r].once = false; /* the same element may be stored again */
    m->lw->out->k->mem.at[r].stream = false;
    return r;
}

static void open_tables(sk_permute *m)
{
    sk_lower *lw = m->lw;
    if (m->counts) {
        m->into[0] = table_memory(m, "count", T_U32);
        return;
    }
    for (uint32_t c = 0; c < m->info->components; c++)
        m->into[c] = table_memory(m, arena_printf(lw->arena, "total_%u", c), m->info->type[c]);
    m->has = m->record.has ? table_memory(m, "has_total", T_BOOL) : 0;
}

void sk_permute_open_totals(sk_permute *m)
{
    if (m->tables)
        open_tables(m);
    for (uint32_t c = 0; c < m->info->components && !m->tables; c++)
        m->into[c] = sk_permute_result(m, c);
}

/* Where a part of a record is, as the element of a table of such parts: `offset` bytes behind the record's beginning.
 */
static k_val in_record(sk_permute *m, k_val place, int64_t offset, ir_type type)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    int64_t size = (int64_t)ir_type_size(type);
    k_val every = k_i64(b, m->record.bytes / size), first = m->base ? sk_mul(lw, m->base, every) : k_i64(b, 0);
    return sk_add(lw, sk_add(lw, first, k_i64(b, offset / size)), sk_mul(lw, place, every));
}

/* The element of a table, or of the result, for a place. */
k_val sk_permute_total_at(sk_permute *m, uint32_t c, k_val place)
{
    if (!m->tables)
        return place;
    return in_record(m, place, m->record.offset[c], m->counts ? T_U32 : m->info->type[c]);
}

k_val sk_permute_has_at(sk_permute *m, k_val place)
{
    return in_record(m, place, m->record.has, T_BOOL);
}

/* There are no totals yet. */
void sk_permute_clear_totals(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val lane = k_for_all(b, k_let(b, OP_SUB, m->high, m->low, 0));
    k_val at = sk_add(lw, m->low, lane);
    if (m->counts)
        k_store(b, m->into[0], sk_permute_total_at(m, 0, at), k_literal(b, T_U32, 0));
    for (uint32_t c = 0; c < m->info->components && lw->cluster->identity && !m->counts; c++)
        k_store(b, m->into[c], sk_permute_total_at(m, c, at), k_literal(b, m->info->type[c], lw->cluster->identity[c]));
    if (m->has)
        k_store(b, m->has, sk_permute_has_at(m, at), k_literal(b, T_BOOL, 0));
    k_end(b);
}

/* Elements that are all alike, as often as all blocks have counted. */
static void merge_counts(sk_permute *m, k_val place, k_val blocks, const k_mem *result)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val all = k_decl(b, k_literal(b, T_U64, 0), "count");
    k_val q = k_for(b, k_i64(b, 0), blocks, false), at = sk_add(lw, sk_mul(lw, q, m->places), place);
    k_set(b, all, k_let(b, OP_ADD, k_get(b, all), k_convert(b, OP_CONVERT, T_U64, k_load(b, m->into[0], at)), 0));
    k_end(b);
    for (uint32_t c = 0; c < m->info->components; c++) {
        k_val times = k_convert(b, OP_CONVERT, m->info->type[c], k_get(b, all));
        k_val sum = k_let(b, OP_MUL, times, sk_closed(lw, m->element[c]), 0);
        k_store(b, result[c], place, k_let(b, OP_ADD, sum, k_load(b, result[c], place), 0));
    }
}

/* What one place of the result becomes: its default and the blocks' totals, in order. */
static void merge_place(sk_permute *m, k_val place, k_val blocks, const k_mem *result)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    uint32_t n = m->info->components;
    k_val acc[IR_MAX_COMPONENTS], new[IR_MAX_COMPONENTS], old[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
    lw->element = place;
    for (uint32_t c = 0; c < n; c++)
        acc[c] = k_decl(b, k_load(b, result[c], place), "total");
    k_val q = k_for(b, k_i64(b, 0), blocks, false), at = sk_add(lw, sk_mul(lw, q, m->places), place);
    if (m->has)
        k_if(b, k_load(b, m->has, sk_permute_has_at(m, at)));
    uint32_t mark = sk_scope(lw);
    for (uint32_t c = 0; c < n; c++) {
        new[c] = out[c] = k_load(b, m->into[c], sk_permute_total_at(m, c, at));
        old[c] = k_get(b, acc[c]);
        if (m->fn) {
            sk_bind(lw, m->fn->param[c], new[c]);
            sk_bind(lw, m->fn->param[n + c], old[c]);
        }
    }
    if (m->fn)
        sk_emit(lw, n, m->fn->result, out);
    for (uint32_t c = 0; c < n; c++)
        k_set(b, acc[c], out[c]);
    sk_scope_end(lw, mark);
    if (m->has)
        k_end(b);
    k_end(b);
    for (uint32_t c = 0; c < n; c++)
        k_store(b, result[c], place, k_get(b, acc[c]));
}

void sk_permute_merge(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_mem result[IR_MAX_COMPONENTS];
    m->element = sk_operand(&lw->body, m->anchor, 2, &lw->at);
    sk_permute_open_totals(m);
    for (uint32_t c = 0; c < m->info->components; c++)
        result[c] = sk_permute_result(m, c);
    m->places = sk_slot(lw, SK_PERMUTE_PLACES, "places");
    k_val blocks = sk_slot(lw, SK_PERMUTE_BLOCKS, "blocks");
    if (lw->options->vector_bytes)
        lw->out->k->lanes =
            m->fn ? sk_lanes_for(lw->l, lw->arena, m->fn->results, m->fn->result, lw->options->vector_bytes) : 16;
    if (lw->options->group)
        lw->out->k->group = SK_PERMUTE_THREADS;
    k_val first = sk_mul(lw, k_piece(b), k_i64(b, SK_PERMUTE_MERGED));
    k_val lane = k_for_all(b, sk_min(lw, k_i64(b, SK_PERMUTE_MERGED), sk_sub(lw, m->places, first)));
    if (m->counts)
        merge_counts(m, sk_add(lw, first, lane), blocks, result);
    else
        merge_place(m, sk_add(lw, first, lane), blocks, result);
    k_end(b);
}
