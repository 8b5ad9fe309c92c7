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
    k_mem r = sk_array_memory(m->lw, m->all->anchor[component], m->all->own[component], true);
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
    if (m->vector) {
        m->into[0] = table_memory(m, "totals", m->vector->type);
        for (uint32_t c = 1; c < m->all->n; c++)
            m->into[c] = m->into[0];
        return;
    }
    for (uint32_t c = 0; c < m->all->n; c++) { /* what lies side by side is one memory: lanes take it together */
        uint32_t k = 0;
        while (m->all->type[k] != m->all->type[c])
            k++;
        m->into[c] = k < c ? m->into[k] : table_memory(m, arena_printf(lw->arena, "total_%u", c), m->all->type[c]);
    }
    m->has = m->record.flags ? table_memory(m, "has_total", T_BOOL) : 0;
}

void sk_permute_open_totals(sk_permute *m)
{
    if (m->tables)
        open_tables(m);
    for (uint32_t c = 0; c < m->all->n && !m->tables; c++)
        m->into[c] = sk_permute_result(m, c);
}

k_val sk_permute_base(sk_permute *m, k_val table)
{
    return sk_mul(m->lw, table, m->apart);
}

/* From the first to the last of all tables of a block, if they have so many each. */
k_val sk_permute_records(sk_permute *m, k_val of_a_table)
{
    if (m->several == 1)
        return of_a_table;
    return sk_add(m->lw, sk_permute_base(m, k_i64(&m->lw->b, m->several - 1)), of_a_table);
}

/* Where something of a record is, as the element of a table of such things: `offset` bytes behind the record's
 * beginning. In planes each of them lies beside that of the next place, behind all of those before it. */
static k_val in_record(sk_permute *m, k_val place, int64_t offset, ir_type type)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    int64_t size = (int64_t)ir_type_size(type);
    k_val every = k_i64(b, m->record.bytes / size), first = m->base ? sk_mul(lw, m->base, every) : k_i64(b, 0);
    if (m->planes) {
        k_val before = k_let(b, OP_QUOT, sk_mul(lw, m->places, k_i64(b, offset)), k_i64(b, size), 0);
        return sk_add(lw, sk_add(lw, first, before), place);
    }
    return sk_add(lw, sk_add(lw, first, k_i64(b, offset / size)), sk_mul(lw, place, every));
}

/* The element of a table, or of the result, for a place. */
k_val sk_permute_total_at(sk_permute *m, uint32_t c, k_val place)
{
    if (!m->tables)
        return place;
    return in_record(m, place, m->record.offset[c], m->counts ? T_U32 : m->vector ? m->vector->type : m->all->type[c]);
}

k_val sk_permute_has_at(sk_permute *m, uint32_t part, k_val place)
{
    return in_record(m, place, m->record.has[part], T_BOOL);
}

/* Stores of what lies side by side follow each other: lanes write it together. */
static void clear_identities(sk_permute *m, k_val at)
{
    k_builder *b = &m->lw->b;
    k_val place[IR_MAX_COMPONENTS] = {0};
    for (uint32_t i = 0; i < m->all->parts && !m->counts; i++)
        for (uint32_t k = 0; k < m->all->part[i].n && m->all->part[i].identity; k++) {
            uint32_t c = m->all->part[i].first + m->all->part[i].of[k];
            place[c] = sk_permute_total_at(m, c, at);
        }
    for (uint32_t c = 0; c < m->all->n; c++)
        if (place[c])
            k_store(b, m->into[c], place[c], k_literal(b, m->all->type[c], m->all->identity[c]));
}

/* There are no totals yet. */
void sk_permute_clear_totals(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    if (m->vector) {
        sk_permute_clear_vectors(m);
        return;
    }
    k_val lane = k_for_all(b, sk_permute_records(m, k_let(b, OP_SUB, m->high, m->low, 0)));
    k_val at = sk_add(lw, m->low, lane);
    if (m->counts)
        k_store(b, m->into[0], sk_permute_total_at(m, 0, at), k_literal(b, T_U32, 0));
    for (uint32_t i = 0; i < m->all->parts && !m->counts; i++) {
        const sk_permute_part *part = &m->all->part[i];
        if (!part->identity)
            k_store(b, m->has, sk_permute_has_at(m, i, at), k_literal(b, T_BOOL, 0));
    }
    clear_identities(m, at);
    k_end(b);
}

/* Elements that are all alike, as often as all blocks have counted. */
static void merge_counts(sk_permute *m, k_val place, k_val blocks, const k_mem *result)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val all = k_decl(b, k_literal(b, T_U64, 0), "count");
    k_val q = k_for(b, k_i64(b, 0), blocks, false), at = sk_add(lw, sk_permute_base(m, q), place);
    k_set(b, all, k_let(b, OP_ADD, k_get(b, all), k_convert(b, OP_CONVERT, T_U64, k_load(b, m->into[0], at)), 0));
    k_end(b);
    for (uint32_t c = 0; c < m->all->n; c++) {
        k_val times = k_convert(b, OP_CONVERT, m->all->type[c], k_get(b, all));
        k_val sum = k_let(b, OP_MUL, times, sk_closed(lw, m->element[c]), 0);
        k_store(b, result[c], place, k_let(b, OP_ADD, sum, k_load(b, result[c], place), 0));
    }
}

/* The totals of a part at a place of one block, combined with what the blocks before have come to. */
static void merge_part(sk_permute *m, uint32_t number, k_val place, const k_val *acc)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const sk_permute_part *part = &m->all->part[number];
    k_val new[IR_MAX_COMPONENTS], old[IR_MAX_COMPONENTS], out[IR_MAX_COMPONENTS];
    if (!part->identity)
        k_if(b, k_load(b, m->has, sk_permute_has_at(m, number, place)));
    uint32_t mark = sk_scope(lw);
    for (uint32_t i = 0; i < part->n; i++) {
        uint32_t c = part->first + part->of[i];
        k_val total = k_load(b, m->into[c], sk_permute_total_at(m, c, place));
        if (m->vector && m->vector->type != m->all->type[c])
            total = k_convert(b, OP_CONVERT, m->all->type[c], total);
        if (m->vector && m->vector->turned[c])
            total = k_let(b, OP_BIT_NOT, total, 0, 0);
        new[c] = out[i] = total;
        old[c] = k_get(b, acc[c]);
    }
    sk_permute_bind(m, part, new, old);
    if (part->fn)
        sk_permute_apply(m, part, out);
    for (uint32_t i = 0; i < part->n; i++)
        k_set(b, acc[part->first + part->of[i]], out[i]);
    sk_scope_end(lw, mark);
    if (!part->identity)
        k_end(b);
}

/* What one place of the results becomes: its defaults and the blocks' totals, in order. */
static void merge_place(sk_permute *m, k_val place, k_val blocks, const k_mem *result)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val acc[IR_MAX_COMPONENTS];
    lw->element = place;
    for (uint32_t c = 0; c < m->all->n; c++)
        acc[c] = k_decl(b, k_load(b, result[c], place), "total");
    k_val q = k_for(b, k_i64(b, 0), blocks, false);
    m->base = sk_permute_base(m, q);
    for (uint32_t i = 0; i < m->all->parts; i++)
        merge_part(m, i, place, acc);
    m->base = 0;
    k_end(b);
    for (uint32_t c = 0; c < m->all->n; c++)
        k_store(b, result[c], place, k_get(b, acc[c]));
}

/* As many as the widest of the operators wants. */
static uint16_t merging_lanes(const sk_permute *m)
{
    const sk_lower *lw = m->lw;
    ir_id term[IR_MAX_COMPONENTS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < lw->cluster->loop->op.n && !m->all->last; i++)
        for (uint32_t c = 0; c < m->fn[i]->results; c++)
            term[n++] = m->fn[i]->result[c];
    return n ? sk_lanes_for(lw->l, lw->arena, n, term, lw->options->vector_bytes) : 16;
}

void sk_permute_merge(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_mem result[IR_MAX_COMPONENTS];
    sk_permute_elements(lw, m->element);
    sk_permute_open_totals(m);
    for (uint32_t c = 0; c < m->all->n; c++)
        result[c] = sk_permute_result(m, c);
    m->places = sk_slot(lw, SK_PERMUTE_PLACES, "places");
    m->apart = sk_slot(lw, SK_PERMUTE_APART, "apart");
    k_val blocks = sk_slot(lw, SK_PERMUTE_BLOCKS, "blocks");
    if (lw->options->vector_bytes)
        lw->out->k->lanes = merging_lanes(m);
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
