/* Sorting in the reference interpreter: a merge sort of the numbers of a row's elements. It ends, and gives each of
 * them once, whatever a comparison says. */
#include "ir/interpreter.h"

typedef struct sorter {
    interpreter *in;
    ir_id id;
    const operation *source;
    int64_t row, base; /* the row, and the number of its first element */
    bool failed;       /* a comparison of the row did */
} sorter;

/* Is the bit pattern of a float that of no number? */
static bool is_nan(ir_type t, ir_bits bits)
{
    return t == T_F64 ? (bits & INT64_MAX) > (ir_bits)0x7FF << 52 : (bits & INT32_MAX) > (ir_bits)0xFF << 23;
}

ir_bits ir_order_bits(ir_type t, ir_bits bits, bool descending)
{
    unsigned width = ir_type_bits(t);
    ir_bits all = width == 64 ? UINT64_MAX : ((ir_bits)1 << width) - 1, top = all ^ all >> 1;
    bits &= all;
    if (ir_type_float(t) && is_nan(t, bits))
        return all;
    if (ir_type_float(t))
        bits ^= bits & top ? all : top;
    else if (ir_type_signed(t))
        bits ^= top;
    return descending ? bits ^ all : bits;
}

/* Does the row's element i come before element j, by keys? */
static bool before_by_keys(const sorter *s, int64_t i, int64_t j)
{
    const ir_array *info = ir_info(s->in->p, s->id);
    bool descending = ir_at(s->in->p, s->id)->flags & IR_DESCENDING;
    for (uint32_t c = 0; c < info->keys; c++) {
        ir_bits x = ir_order_bits(info->type[c], interpret_load(&s->source->value, c, s->base + i), descending);
        ir_bits y = ir_order_bits(info->type[c], interpret_load(&s->source->value, c, s->base + j), descending);
        if (x != y)
            return x < y;
    }
    return false;
}

/* A failing comparison is reported for the row: which elements are compared is nobody's business. */
static bool before(sorter *s, int64_t i, int64_t j)
{
    function *f = &s->in->operation[s->id]->body;
    if (!f->e)
        return before_by_keys(s, i, j);
    if (s->failed)
        return false;
    evaluator_restart(f->e);
    uint32_t next = interpret_set_element(f, 0, s->source, s->base + i);
    interpret_set_element(f, next, s->source, s->base + j);
    s->failed = !interpret_call(s->in, f, ir_at(s->in->p, s->id)->site, s->row);
    return !s->failed && f->out[0];
}

static void merge(sorter *s, const int64_t *from, int64_t begin, int64_t middle, int64_t end, int64_t *to)
{
    int64_t i = begin, j = middle;
    for (int64_t k = begin; k < end; k++) {
        bool right = j < end && (i == middle || before(s, from[j], from[i]));
        to[k] = right ? from[j++] : from[i++];
    }
}

/* Leaves the numbers of the elements of a row of n in their order; `order` and `other` have room for n. Returns one of
 * them. */
static const int64_t *sort_row(sorter *s, int64_t n, int64_t *order, int64_t *other)
{
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width)
            merge(s, order, i, i + width < n ? i + width : n, i + 2 * width < n ? i + 2 * width : n, other);
        int64_t *done = other;
        other = order;
        order = done;
    }
    return order;
}

/* A row with a key that has no value has no order. */
static bool lacks_keys(const sorter *s, int64_t n)
{
    bool lacks = false;
    for (uint32_t c = 0; c < ir_info(s->in->p, s->id)->keys; c++)
        for (int64_t i = 0; i < n && !lacks; i++)
            lacks = interpret_missing(s->source, c, s->base + i);
    return lacks;
}

void interpret_sort(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const ir_value *v = &op->value;
    int64_t n = v->extent[v->rank - 1], rows = n ? interpret_size(v) / n : 0;
    sorter s = {.in = in, .id = id, .source = in->operation[ir_info(in->p, id)->input[0]]};
    int64_t *order = arena_alloc(in->arena, (size_t)n * sizeof(int64_t) + 1);
    int64_t *other = arena_alloc(in->arena, (size_t)n * sizeof(int64_t) + 1);
    for (int64_t row = 0; row < rows; row++) {
        s.row = row;
        s.base = row * n;
        s.failed = lacks_keys(&s, n);
        const int64_t *sorted = s.failed ? order : sort_row(&s, n, order, other);
        for (int64_t i = 0; i < n; i++) {
            if (s.failed)
                interpret_lose(op, s.base + i);
            else
                interpret_copy(op, s.base + i, s.source, s.base + sorted[i]);
        }
    }
}
