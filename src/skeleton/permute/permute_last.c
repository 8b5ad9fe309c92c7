/* Permutes without an operator on devices whose blocks are many threads: of several elements for one place the last one
 * stays. Each place has a word, 0 to begin with, of which threads take the maximum, in any order, with the number of
 * their element, counted from 1 on. Then a thread for each place gives it the element that its word names.
 *
 * An element of at most 32 bits goes along in the lower half of the word, its number being in the upper one: then
 * nothing is read from where elements are, far apart, in the second pass. */
#include "skeleton/permute/permute_parts.h"

#include "skeleton/element/runs.h"
#include "skeleton/extents.h"

/* sk_geometry.row */
enum {
    WIDE = 1,   /* words have 64 bits, */
    VALUES = 2, /* and elements in them */
    RARELY = 4  /* most elements come before others of their place */
};

static bool is_small(const sk_permuted *m)
{
    return m->n == 1 && ir_type_size(m->type[0]) <= 4;
}

bool sk_launch_permute_last(const sk_call *x, sk_geometry *g)
{
    enum { LEAST = 1024, OFTEN = 4, MOST_PLACES = 1 << 27 };
    const int64_t total = x->rows * x->columns, piece = sk_group_piece(x->c);
    const bool few = total < UINT32_MAX;
    if (!x->o->group || !x->c->permuted->last || total <= LEAST)
        return false;
    const bool values = is_small(x->c->permuted) && few && x->places <= MOST_PLACES;
    g->row = (few && !values ? 0 : WIDE) | (values ? VALUES : 0) | (total / OFTEN >= x->places ? RARELY : 0);
    g->state_words = g->row & WIDE ? x->places : pieces_of(x->places, 2);
    g->slot[SK_PERMUTE_ELEMENTS] = total;
    g->slot[SK_PERMUTE_PLACES] = x->places;
    g->pieces = pieces_of(x->pass == SK_PASS_TOTALS ? x->places : total, piece);
    return true;
}

static k_mem open_words(sk_lower *lw)
{
    const ir_type type = lw->options->row & WIDE ? T_U64 : T_U32;
    const k_mem words = k_global(&lw->b, type, true, "last");
    vec_push(lw->arena, &lw->out->memory, ((sk_binding){SK_STATE, 0, 0, type}));
    return words;
}

/* The bits of an element of at most 32. */
static k_val to_bits(k_builder *b, ir_type type, k_val value)
{
    if (type == T_BOOL)
        return k_select(b, value, k_literal(b, T_U64, 1), k_literal(b, T_U64, 0));
    const ir_type bits = ir_type_unsigned(ir_type_size(type));
    if (type != bits)
        value = k_convert(b, OP_BITCAST, bits, value);
    return k_convert(b, OP_CONVERT, T_U64, value);
}

static k_val from_bits(k_builder *b, ir_type type, k_val word)
{
    const ir_type bits = type == T_BOOL ? T_U32 : ir_type_unsigned(ir_type_size(type));
    word = k_let(b, OP_BIT_AND, word, k_literal(b, T_U64, UINT64_MAX >> (64 - 8 * ir_type_size(bits))), 0);
    k_val value = k_convert(b, OP_CONVERT, bits, word);
    if (type == T_BOOL)
        return k_let(b, OP_NE, value, k_literal(b, T_U32, 0), 0);
    return type == bits ? value : k_convert(b, OP_BITCAST, type, value);
}

/* The number of the element at a position and, if `values`, the element. */
static k_val word_of(sk_permute *m, k_val position, const sk_permute_found *f)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const bool wide = lw->options->row & WIDE;
    k_val number = k_convert(b, OP_CONVERT, wide ? T_U64 : T_U32, sk_add(lw, position, k_i64(b, 1)));
    if (!(lw->options->row & VALUES))
        return number;
    number = k_let(b, OP_SHL, number, k_literal(b, T_U64, 32), 0);
    return k_let(b, OP_BIT_OR, number, to_bits(b, m->all->type[0], f->value[0]), 0);
}

/* Elements that others follow mostly find these there already, as the last ones are begun with, and leave the word
 * alone. It may have grown since a thread looked at it, which changes nothing. */
static void find_last(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    const bool rarely = lw->options->row & RARELY;
    const int64_t piece = sk_group_piece(lw->cluster);
    k_mem words = open_words(lw);
    k_val size = k_i64(b, piece), number = k_piece(b);
    if (rarely) {
        k_val pieces = k_let(b, OP_QUOT, sk_add(lw, m->elements, k_i64(b, piece - 1)), size, 0);
        number = sk_sub(lw, sk_sub(lw, pieces, k_i64(b, 1)), number);
    }
    k_val from = sk_mul(lw, number, size);
    k_val lane = k_for_all(b, sk_min(lw, size, sk_sub(lw, m->elements, from)));
    k_val position = sk_add(lw, from, lane);
    uint32_t mark = sk_scope(lw);
    sk_permute_found f;
    sk_permute_find(m, position, &f);
    if (f.inside)
        k_if(b, f.inside);
    k_val word = word_of(m, position, &f);
    if (rarely)
        k_if(b, k_let(b, OP_LT, k_load(b, words, f.place), word, 0));
    k_atomic(b, OP_MAX, words, f.place, word);
    if (rarely)
        k_end(b);
    if (f.inside)
        k_end(b);
    sk_permute_report(m, &f);
    sk_scope_end(lw, mark);
    k_end(b);
}

/* Element number `position` goes to its place. */
static void store_element(sk_permute *m, k_val position, k_val place)
{
    sk_lower *lw = m->lw;
    k_val value[IR_MAX_COMPONENTS];
    uint32_t mark = sk_scope(lw);
    lw->element = position;
    sk_bind(lw, lw->at.linear, position);
    if (lw->cluster->loop->rank > 1)
        sk_bind_runs(lw, 0, lw->cluster->loop->rank, position);
    sk_emit(lw, m->all->n, m->element, value);
    for (uint32_t c = 0; c < m->all->n; c++)
        k_store(&lw->b, m->into[c], place, value[c]);
    sk_scope_end(lw, mark);
}

static void store_last(sk_permute *m)
{
    sk_lower *lw = m->lw;
    k_builder *b = &lw->b;
    k_mem words = open_words(lw);
    k_val size = k_i64(b, sk_group_piece(lw->cluster)), from = sk_mul(lw, k_piece(b), size);
    for (uint32_t c = 0; c < m->all->n; c++)
        m->into[c] = sk_permute_result(m, c);
    k_val lane = k_for_all(b, sk_min(lw, size, sk_sub(lw, m->places, from))), place = sk_add(lw, from, lane);
    k_val word = k_load(b, words, place);
    const ir_type type = (ir_type)b->k->value.at[word].type;
    k_if(b, k_let(b, OP_NE, word, k_literal(b, type, 0), 0));
    if (lw->options->row & VALUES)
        k_store(b, m->into[0], place, from_bits(b, m->all->type[0], word));
    else
        store_element(m, sk_sub(lw, k_convert(b, OP_CONVERT, T_I64, word), k_i64(b, 1)), place);
    k_end(b);
    k_end(b);
}

void sk_build_permute_last(sk_lower *lw)
{
    sk_permute m;
    if (lw->pass == SK_PASS_TOTALS)
        lw->name = "permute_last_store";
    sk_permute_open(&m, lw);
    m.places_type = T_I64;
    sk_permute_find_elements(&m);
    m.only_places = !(lw->options->row & VALUES);
    for (uint32_t c = 0; c < m.all->n; c++)
        m.only_places &= !ir_at(lw->l->ir, m.element[c])->partial;
    sk_open_space(lw);
    lw->out->k->group = SK_PERMUTE_THREADS;
    m.elements = sk_slot(lw, SK_PERMUTE_ELEMENTS, "elements");
    m.places = sk_slot(lw, SK_PERMUTE_PLACES, "places");
    if (lw->pass == SK_PASS_TOTALS)
        store_last(&m);
    else
        find_last(&m);
}
