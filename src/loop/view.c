/* Index functions, as far as they only pick some of the reader's own indices. */
#include "loop/view.h"

#include "loop/uses.h"

l_view l_view_unknown(void)
{
    l_view v;
    memset(v.of, L_NO_DIMENSION, sizeof(v.of));
    v.along = L_NO_DIMENSION;
    v.by = 0;
    return v;
}

static l_view own_index(void)
{
    l_view v = l_view_unknown();
    for (unsigned d = 0; d < IR_MAX_RANK; d++)
        v.of[d] = (uint8_t)d;
    return v;
}

/* The dimension whose index, in the rate of an operation with this function, the term is. */
static uint8_t dimension_of(const ir_program *p, ir_id id, ir_id term)
{
    const ir_array *info = ir_info(p, id);
    ir_kind kind = (ir_kind)ir_at(p, id)->kind;
    bool indexed =
        kind == IR_GENERATE || kind == IR_BACKPERMUTE || (kind == IR_MAP && ir_at(p, id)->flags & IR_INDEXED);
    for (unsigned d = 0; indexed && d < info->rank; d++)
        if (info->fn->param[d] == term)
            return (uint8_t)d;
    return L_NO_DIMENSION;
}

/* The array of segments' numbers of which the term is the element at the operation's own index, in one dimension: an
 * element of an operand, or read by the function. 0: it is none. */
static ir_id segment_at(const ir_program *p, ir_id id, ir_id term, uint8_t *along)
{
    const ir_array *info = ir_info(p, id);
    const ir_node *n = ir_at(p, term);
    uint32_t param = ir_at(p, id)->flags & IR_INDEXED ? info->rank : 0;
    if (n->kind == IR_READ && ir_at(p, n->array)->kind == IR_SEGMENT_OF)
        return *along = dimension_of(p, id, ir_args(p, term)[0]), n->array;
    for (uint32_t i = 0; ir_at(p, id)->kind == IR_MAP && i < info->inputs; i++) {
        if (ir_at(p, info->input[i])->kind == IR_SEGMENT_OF && info->fn->param[param] == term)
            return *along = 0, info->input[i];
        param += ir_info(p, info->input[i])->components;
    }
    return 0;
}

static l_view view_of_terms(const ir_program *p, ir_id id, uint32_t n, const ir_id *term)
{
    l_view v = l_view_unknown();
    for (uint32_t k = 0; k < n && k < IR_MAX_RANK; k++) {
        uint8_t along = L_NO_DIMENSION;
        ir_id by = v.by ? 0 : segment_at(p, id, term[k], &along);
        v.of[k] = along != L_NO_DIMENSION ? L_SEGMENT : dimension_of(p, id, term[k]);
        if (v.of[k] != L_SEGMENT)
            continue;
        v.along = along;
        v.by = by;
    }
    return v;
}

static bool is_one(const ir_program *p, ir_id extent)
{
    int64_t value;
    return ir_extent_constant(p, extent, &value) && value == 1;
}

/* Dimensions of extent 1 that come or go change no index of the others. */
static l_view view_of_reshape(const ir_program *p, const ir_array *to, const ir_array *from)
{
    l_view v = l_view_unknown();
    unsigned d = 0;
    for (unsigned k = 0; k < from->rank; k++) {
        if (is_one(p, from->shape[k]))
            continue;
        while (d < to->rank && is_one(p, to->shape[d]))
            d++;
        if (d == to->rank || to->shape[d] != from->shape[k])
            return l_view_unknown();
        v.of[k] = (uint8_t)d++;
    }
    while (d < to->rank && is_one(p, to->shape[d]))
        d++;
    return d == to->rank ? v : l_view_unknown();
}

l_view l_view_of_operand(const ir_program *p, ir_id id, uint32_t i)
{
    const ir_array *info = ir_info(p, id), *from = ir_info(p, info->input[i]);
    switch (ir_at(p, id)->kind) {
    case IR_STENCIL:
        return l_view_unknown();
    case IR_BACKPERMUTE:
        return view_of_terms(p, id, from->rank, info->fn->result);
    case IR_RESHAPE:
        return ir_is_along(p, id) ? own_index() : view_of_reshape(p, info, from);
    case IR_SEGMENT_OF:
        return l_view_unknown();
    case IR_FOLD_SEG:
    case IR_SCAN_SEG:
        return i ? l_view_unknown() : own_index();
    default:
        return own_index();
    }
}

l_view l_view_through(const l_view *outer, const l_view *inner)
{
    l_view v = l_view_unknown();
    bool within = inner->along < IR_MAX_RANK && outer->of[inner->along] < IR_MAX_RANK;
    v.along = within ? outer->of[inner->along] : outer->along;
    v.by = within ? inner->by : outer->by;
    for (unsigned k = 0; k < IR_MAX_RANK; k++) {
        if (inner->of[k] < IR_MAX_RANK)
            v.of[k] = outer->of[inner->of[k]];
        bool segment = inner->of[k] == L_SEGMENT ? within : v.of[k] == L_SEGMENT && !within;
        if (segment || v.of[k] == L_SEGMENT)
            v.of[k] = segment ? L_SEGMENT : L_NO_DIMENSION;
    }
    return v;
}

l_view l_view_of_read(const ir_program *p, ir_id id, ir_id read)
{
    const ir_node *n = ir_at(p, read);
    return n->flags & IR_LINEAR ? l_view_unknown() : view_of_terms(p, id, n->n, ir_args(p, read));
}

static bool closed(const ir_program *p, ir_id term)
{
    return !ir_at(p, term)->scope;
}

/* The one of the reader's indices that a term moves along with: a sum, a difference, or a quotient by a number, for
 * which *divided is set. 0: it is none of these, or closed. */
static ir_id moves_with(const ir_program *p, ir_id term, bool *divided)
{
    enum { DEEPEST = 8 };
    for (unsigned i = 0; i < DEEPEST; i++) {
        const ir_node *n = ir_at(p, term);
        const ir_id *arg = p->arg.at + n->args;
        if (n->kind == IR_VAR)
            return term;
        if (n->kind != IR_OP || n->n != 2)
            return 0;
        bool adds = n->op == OP_ADD || n->op == OP_SUB, divides = n->op == OP_QUOT || n->op == OP_DIV;
        if ((adds || divides) && closed(p, arg[1]))
            term = arg[0];
        else if (adds && closed(p, arg[0]))
            term = arg[1];
        else
            return 0;
        *divided |= divides;
    }
    return 0;
}

bool l_view_is_once(const ir_program *p, ir_id id, ir_id read, const map64 *turns)
{
    const ir_array *info = ir_info(p, id);
    const ir_node *r = ir_at(p, read);
    bool found[IR_MAX_RANK] = {false};
    unsigned all = 0;
    if (r->flags & IR_LINEAR)
        return false;
    for (uint32_t k = 0; k < r->n; k++) {
        bool divided = false;
        ir_id index = moves_with(p, ir_args(p, read)[k], &divided);
        uint8_t d = index ? dimension_of(p, id, index) : L_NO_DIMENSION;
        if (closed(p, ir_args(p, read)[k]))
            continue;
        if (d == L_NO_DIMENSION || found[d] || (divided && !map64_get(turns, index)))
            return false;
        found[d] = true;
        all++;
    }
    return all == info->rank;
}

bool l_view_is_row(const ir_program *p, ir_id id, ir_id array, const l_view *view)
{
    unsigned rank = ir_info(p, array)->rank;
    bool outer = rank > 0 && rank + 1 == l_rate_of(p, id)->rank;
    for (unsigned k = 0; k < rank; k++)
        outer &= view->of[k] == k;
    return outer;
}

bool l_view_is_segment(const ir_program *p, ir_id id, ir_id array, const l_view *view)
{
    unsigned rank = ir_info(p, array)->rank;
    bool own = rank > 0 && rank == l_rate_of(p, id)->rank && view->of[rank - 1] == L_SEGMENT && view->along == rank - 1;
    for (unsigned k = 0; k + 1 < rank; k++)
        own &= view->of[k] == k;
    return own;
}

bool l_view_is_number(const ir_program *p, ir_id id, ir_id array, const l_view *view)
{
    const ir_array *rate = l_rate_of(p, id);
    return ir_at(p, array)->kind == IR_SEGMENT_OF && rate->rank && view->of[0] == rate->rank - 1 &&
           ir_info(p, array)->shape[0] == rate->shape[rate->rank - 1];
}
