/* Permutes all of whose components are combined by one primitive, in one type, as sums of coordinates and their number
 * are, or the corners of boxes, as the greatest integer is the least of all turned round, bit by bit: a total is a
 * vector, and so is an element, with a lane for each component. Elements of a stretch are turned into records in shared
 * memory where they are computed; those that go nowhere have a record behind those of all places, as it takes longer to
 * ask for them. Numbers of elements count in the type of what is beside them, as far as they are exact there. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/extents.h"

enum { MOST_LANES = 8 };

static bool is_one(const ir_program *p, ir_id element)
{
    const ir_node *n = ir_at(p, element);
    ir_type type = (ir_type)n->type;
    return n->kind == IR_CONST && ir_type_class(type) == CLASS_INT && ir_type_size(type) >= 4 && n->u.literal == 1;
}

/* Up to which number the type has all whole ones. */
static int64_t most_ones(ir_type type)
{
    return type == T_F32 ? 1 << 24 : type == T_F64 ? INT64_C(1) << 53 : INT32_MAX;
}

/* Is each component the minimum or maximum of the new and the old one? */
static bool is_extremes(const ir_program *p, const sk_permuted *m)
{
    bool all = true;
    for (uint32_t i = 0; i < m->parts; i++)
        all &= sk_permute_extreme(p, &m->part[i]);
    return all;
}

sk_permute_vector sk_permute_alike(const ir_program *p, const sk_permuted *m, const ir_id *element)
{
    sk_permute_vector v = {.lanes = 2, .longest = INT64_MAX};
    bool typed = false, counts = false;
    if (!m->identities || m->n < 2 || m->n > MOST_LANES)
        return (sk_permute_vector){0};
    for (uint32_t c = 0; c < m->n; c++) {
        ir_op op = (ir_op)ir_at(p, ir_info(p, m->anchor[c])->fn->result[m->own[c]])->op;
        v.turned[c] = op == OP_MAX;
        op = v.turned[c] ? OP_MIN : op;
        if (c && op != v.op)
            return (sk_permute_vector){0};
        v.op = op;
        v.counts[c] = op == OP_ADD && is_one(p, element[c]);
        counts |= v.counts[c];
        if (v.counts[c])
            continue;
        if (typed && m->type[c] != v.type)
            return (sk_permute_vector){0};
        typed = true;
        v.type = m->type[c];
        v.identity = m->identity[c];
        if (v.turned[c])
            v.identity = ~v.identity & UINT64_MAX >> (64 - 8 * ir_type_size(v.type));
    }
    const bool integers = typed && ir_type_class(v.type) == CLASS_INT;
    const bool numbers = (integers || (typed && ir_type_float(v.type))) && ir_type_size(v.type) >= 4;
    if (!numbers || (v.op != OP_ADD && v.op != OP_MUL && !(v.op == OP_MIN && integers && is_extremes(p, m))))
        return (sk_permute_vector){0};
    while (v.lanes < m->n)
        v.lanes *= 2;
    if (counts)
        v.longest = most_ones(v.type);
    return v;
}

void sk_permute_open_vectors(sk_permute *m)
{
    m->vectors = k_shared(&m->lw->b, m->vector->type, m->stretch * m->vector->lanes, "elements");
}

/* Lane number `lane` of element j of the stretch. */
static k_val in_vector(sk_permute *m, k_val j, k_val lane)
{
    return sk_add(m->lw, sk_mul(m->lw, j, k_i64(&m->lw->b, m->vector->lanes)), lane);
}

void sk_permute_clear_vectors(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val lanes = k_i64(b, m->vector->lanes), first = sk_mul(lw, m->base, lanes);
    k_val records = sk_permute_records(m, sk_add(lw, m->places, k_i64(b, 1)));
    k_val i = k_for_all(b, sk_mul(lw, records, lanes));
    k_store(b, m->into[0], sk_add(lw, first, i), k_literal(b, m->vector->type, m->vector->identity));
    k_end(b);
}

void sk_permute_store_vector(sk_permute *m, k_val j, const k_val *value)
{
    k_builder *b = &m->lw->b;
    ir_type type = m->vector->type;
    k_val one = k_literal(b, type, type == T_F32 ? ir_bits_f32(1) : type == T_F64 ? ir_bits_f64(1) : 1);
    k_val at[MOST_LANES], x[MOST_LANES];
    for (uint32_t c = 0; c < m->vector->lanes; c++) {
        at[c] = in_vector(m, j, k_i64(b, c));
        x[c] = c >= m->all->n ? k_literal(b, type, 0) : m->vector->counts[c] ? one : value[c];
        if (m->vector->turned[c])
            x[c] = k_let(b, OP_BIT_NOT, x[c], 0, 0);
    }
    for (uint32_t c = 0; c < m->vector->lanes; c++) /* stores that follow each other are written together */
        k_store(b, m->vectors, at[c], x[c]);
}

void sk_permute_take_vector(sk_permute *m, k_val j, k_val place)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_val at = sk_add(lw, sk_mul(lw, m->base, k_i64(b, m->vector->lanes)), sk_add(lw, place, m->lane));
    k_val new = k_load(b, m->vectors, in_vector(m, j, m->lane)), old = k_load(b, m->into[0], at);
    k_store(b, m->into[0], at, k_let(b, m->vector->op, new, old, 0));
}
