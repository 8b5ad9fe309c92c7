/* Folds and scans of the reference interpreter, of rows and of segments, in the order that docs/determinism.md says: so
 * floats have the bits that every device computes. */
#include "ir/interpreter.h"

#include <inttypes.h>

/* Rows of at most SHORT elements are combined from left to right; longer ones in pieces, which are combined by
 * ACCUMULATORS or in gangs. */
enum { SHORT = 32, PIECE = 4096, ACCUMULATORS = 128, GANG = 64, WINDOW = 128 };

/* What has been combined of some elements, per component. */
typedef struct partial {
    ir_bits *value;
    bool *failed;
} partial;

typedef struct row { /* what is combined to one result, or to those of one row */
    interpreter *in;
    ir_id id;
    const operation *source;
    uint32_t components;
    int64_t number, begin, elements; /* of the row, as failures have it; of its first element; how many there are */
    int64_t stride;                  /* from one element to the next */
    bool right;                      /* positions are counted from the right end, and operands exchanged */
    bool good;
    ir_bits *value; /* of all partial results */
    bool *failed;
} row;

/* Where partial results stand: what is known of the row, and an element; of long rows accumulators, prefixes of a gang
 * or nodes of a tree, too, and the results of pieces. */
enum { TOTAL, CARRY, PIECES_SO_FAR, BEFORE_WINDOW, ELEMENT, NODES, PIECES = NODES + ACCUMULATORS };

static row begin(interpreter *in, ir_id id, int64_t longest)
{
    const operation *op = in->operation[id], *source = in->operation[ir_info(in->p, id)->input[0]];
    size_t components = op->value.components,
           partials = longest <= SHORT ? NODES : PIECES + 1 + (size_t)(longest / PIECE);
    return (row){.in = in,
                 .id = id,
                 .source = source,
                 .components = op->value.components,
                 .stride = 1,
                 .right = ir_at(in->p, id)->flags & IR_RIGHT,
                 .value = arena_array(in->arena, ir_bits, partials * components),
                 .failed = arena_array(in->arena, bool, partials *components)};
}

static partial at(const row *r, int64_t k)
{
    return (partial){r->value + (size_t)k * r->components, r->failed + (size_t)k * r->components};
}

static void copy(const row *r, int64_t to, partial from)
{
    memcpy(at(r, to).value, from.value, r->components * sizeof(ir_bits));
    memcpy(at(r, to).failed, from.failed, r->components * sizeof(bool));
}

/* Where the element at a position of the row is in its array. */
static int64_t place_of(const row *r, int64_t position)
{
    return r->begin + (r->right ? r->elements - 1 - position : position) * r->stride;
}

/* The element at a position of the row. */
static partial element(const row *r, int64_t position)
{
    partial x = at(r, ELEMENT);
    int64_t i = place_of(r, position);
    for (uint32_t c = 0; c < r->components; c++) {
        x.failed[c] = interpret_missing(r->source, c, i);
        x.value[c] = x.failed[c] ? 0 : interpret_load(&r->source->value, c, i);
    }
    return x;
}

static void give(function *f, uint32_t first, partial x, uint32_t components)
{
    for (uint32_t c = 0; c < components; c++)
        if (!x.failed[c])
            evaluator_set(f->e, f->slot[first + c], x.value[c]);
}

/* x (+) y, which stay; the result may take the place of one of them. */
static void combine(row *r, int64_t to, partial x, partial y)
{
    function *f = &r->in->operation[r->id]->body;
    if (!r->good && !r->in->faults)
        return;
    evaluator_restart(f->e);
    give(f, r->right ? r->components : 0, x, r->components);
    give(f, r->right ? 0 : r->components, y, r->components);
    r->good = interpret_call(r->in, f, ir_at(r->in->p, r->id)->site, r->number);
    copy(r, to, (partial){f->out, f->failed});
}

static partial seed_of(const row *r)
{
    const function *seed = &r->in->operation[r->id]->seed;
    return (partial){seed->out, seed->failed};
}

/* --- folds --- */

/* Of a row of elements, or of the results of pieces. */
static partial take(const row *r, bool elements, int64_t i)
{
    return elements ? element(r, i) : at(r, PIECES + i);
}

static void left_to_right(row *r, bool elements, int64_t n)
{
    copy(r, TOTAL, take(r, elements, 0));
    for (int64_t i = 1; i < n; i++)
        combine(r, TOTAL, at(r, TOTAL), take(r, elements, i));
}

/* The result is the first node. */
static void by_accumulators(row *r, bool elements, int64_t first, int64_t n)
{
    int64_t filled = n < ACCUMULATORS ? n : ACCUMULATORS;
    for (int64_t i = 0; i < n; i++) {
        int64_t l = NODES + i % ACCUMULATORS;
        if (i < ACCUMULATORS)
            copy(r, l, take(r, elements, first + i));
        else
            combine(r, l, at(r, l), take(r, elements, first + i));
    }
    for (int64_t half = ACCUMULATORS / 2; half > 0; half /= 2)
        for (int64_t l = 0; l < half && l + half < filled; l++)
            combine(r, NODES + l, at(r, NODES + l), at(r, NODES + l + half));
}

static void by_pieces(row *r, int64_t n)
{
    bool elements = true;
    while (n > SHORT) {
        int64_t pieces = 0;
        for (int64_t from = 0; from < n; from += PIECE, pieces++) {
            by_accumulators(r, elements, from, n - from < PIECE ? n - from : PIECE);
            copy(r, PIECES + pieces, at(r, NODES));
        }
        n = pieces;
        elements = false;
    }
    left_to_right(r, elements, n);
}

/* The balanced tree over positions from `first` on. On the way there are complete trees of ever fewer elements; the
 * last ones pass where there is nothing to their right. The result is the first node. */
static void by_neighbours(row *r, int64_t first, int64_t n)
{
    int64_t top = NODES;
    for (int64_t i = 0; i < n; i++) {
        copy(r, top++, element(r, first + i));
        for (int64_t done = i + 1; done % 2 == 0; done /= 2, top--)
            combine(r, top - 2, at(r, top - 2), at(r, top - 1));
    }
    for (; top - NODES > 1; top--)
        combine(r, top - 2, at(r, top - 2), at(r, top - 1));
}

/* The seed, if there is one, comes last, and on the left. */
static void fold_row(row *r, int64_t number, int64_t begin, int64_t n)
{
    operation *op = r->in->operation[r->id];
    r->number = number;
    r->begin = begin;
    r->elements = n;
    r->good = true;
    if (n == 0) {
        copy(r, TOTAL, seed_of(r));
    } else if (n <= SHORT) {
        left_to_right(r, true, n);
    } else if (ir_at(r->in->p, r->id)->flags & IR_COMMUTES) {
        by_pieces(r, n);
    } else {
        by_neighbours(r, 0, n);
        copy(r, TOTAL, at(r, NODES));
    }
    if (n > 0 && op->seed.e)
        combine(r, TOTAL, seed_of(r), at(r, TOTAL));
    interpret_store(op, number, at(r, TOTAL).value, at(r, TOTAL).failed);
}

void interpret_fold(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const ir_value *source = &in->operation[ir_info(in->p, id)->input[0]]->value;
    uint32_t site = ir_at(in->p, id)->site;
    int64_t rows = interpret_size(&op->value), n = source->extent[source->rank - 1];
    if (op->seed.e && !interpret_call(in, &op->seed, site, 0) && !in->faults)
        return;
    if (!op->seed.e && n == 0 && rows > 0) {
        interpret_fails(
            in, IR_WRONG_EMPTY, site, 0, 0, 0,
            arena_printf(in->arena,
                         "%s: no element to begin with: the innermost extent is 0; sn_fold takes an initial value",
                         interpret_name(in->p, site, "fold1")));
        return;
    }
    row r = begin(in, id, n);
    for (int64_t k = 0; k < rows; k++)
        fold_row(&r, k, k * n, n);
}

/* --- segments --- */

static void bad_segment(interpreter *in, ir_id id, ir_segment_mistake what, int64_t segment, int64_t value,
                        int64_t bound)
{
    interpret_fails_segment(in, what, ir_at(in->p, id)->site, segment, value, bound, false);
}

/* Is segment number `segment` one of an array with n elements? Reports it if it is not. `from` and `to` are its ends. A
 * run that goes on may not know them: then it is none. */
static bool find_segment(interpreter *in, ir_id id, const operation *offsets, int64_t segment, int64_t n, int64_t *from,
                         int64_t *to)
{
    int64_t last = offsets->value.extent[0] - 2;
    if (interpret_missing(offsets, 0, segment) || interpret_missing(offsets, 0, segment + 1))
        return false;
    *from = ir_i64_bits(T_I64, interpret_load(&offsets->value, 0, segment));
    *to = ir_i64_bits(T_I64, interpret_load(&offsets->value, 0, segment + 1));
    if (segment == 0 && *from != 0)
        bad_segment(in, id, IR_SEGMENTS_BEGIN, segment, *from, 0);
    else if (*to < *from)
        bad_segment(in, id, IR_SEGMENT_FALLS, segment, *to, *from);
    else if (*to > n || (segment == last && *to != n))
        bad_segment(in, id, IR_SEGMENTS_END, segment, *to, n);
    else
        return *from >= 0; /* else the one before has been reported */
    return false;
}

/* No segment at all is right where there is nothing to be in it. */
static bool covers(interpreter *in, ir_id id, const operation *offsets, int64_t n)
{
    bool good = offsets->value.extent[0] > 1 || n == 0;
    if (!good)
        interpret_fails_segment(in, IR_SEGMENTS_END, ir_at(in->p, id)->site, 0, -1, n, true);
    return good;
}

void interpret_fold_seg(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const operation *source = in->operation[ir_info(in->p, id)->input[0]],
                    *offsets = in->operation[ir_info(in->p, id)->input[1]];
    unsigned rank = op->value.rank;
    int64_t segments = op->value.extent[rank - 1], n = source->value.extent[rank - 1], from = 0, to = 0;
    int64_t results = interpret_size(&op->value), size = interpret_size(&source->value);
    if (op->seed.e && !interpret_call(in, &op->seed, ir_at(in->p, id)->site, 0) && !in->faults)
        return;
    if (size && !covers(in, id, offsets, n))
        return;
    row r = begin(in, id, n);
    for (int64_t i = 0; i < results; i++) {
        int64_t s = i % segments;
        bool found = find_segment(in, id, offsets, s, n, &from, &to);
        if (found && from == to && !op->seed.e) {
            bad_segment(in, id, IR_SEGMENT_EMPTY, s, 0, 0);
            found = false;
        }
        if (found) {
            fold_row(&r, i, i / segments * n + from, to - from);
        } else {
            interpret_lose(op, i);
        }
    }
}

void interpret_segment_of(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const operation *offsets = in->operation[ir_info(in->p, id)->input[0]];
    int64_t n = op->value.extent[0], from = 0, to = 0;
    if (!covers(in, id, offsets, n))
        return;
    for (int64_t i = 0; i < n && in->faults; i++)
        interpret_lose(op, i);
    for (int64_t s = 0; s < offsets->value.extent[0] - 1; s++) {
        if (!find_segment(in, id, offsets, s, n, &from, &to))
            continue;
        for (int64_t i = from > 0 ? from : 0; i < to; i++) {
            interpret_put(&op->value, 0, i, ir_bits_i64(T_I64, s));
            if (op->missing)
                op->missing[0][i] = false;
        }
    }
}

/* --- scans --- */

/* What a position gets: what has been combined before it, and the prefix up to it. */
static void scan_to(row *r, bool carried, int64_t position, const partial *prefix)
{
    operation *op = r->in->operation[r->id];
    if (carried && prefix)
        combine(r, TOTAL, at(r, CARRY), *prefix);
    else
        copy(r, TOTAL, prefix ? *prefix : at(r, CARRY));
    interpret_store(op, place_of(r, position), at(r, TOTAL).value, at(r, TOTAL).failed);
}

/* Sklansky's prefixes of n elements of a gang: a right half takes the total of the left one. */
static void prefixes(row *r, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        copy(r, NODES + i, element(r, first + i));
    for (int64_t half = 1; half < GANG; half *= 2)
        for (int64_t i = 0; i < n; i++)
            if (i & half)
                combine(r, NODES + i, at(r, NODES + (i & -half) - 1), at(r, NODES + i));
}

/* Elements from `first` on, up to a piece of them, from what is before them in CARRY, if there is anything. `last`:
 * what the scan takes no more elements from. */
static void scan_piece(row *r, bool carried, bool exclusive, int64_t first, int64_t end, int64_t last)
{
    for (int64_t gang = first; gang < end; gang += GANG) {
        int64_t n = end - gang < GANG ? end - gang : GANG, known = last - gang < n ? last - gang : n;
        prefixes(r, gang, known);
        for (int64_t i = 0; i < n; i++) {
            partial prefix = at(r, NODES + i - exclusive);
            scan_to(r, carried, gang + i, exclusive && i == 0 ? NULL : &prefix);
        }
        if (gang + n == end)
            return;
        if (carried)
            combine(r, CARRY, at(r, CARRY), at(r, NODES + n - 1));
        else
            copy(r, CARRY, at(r, NODES + n - 1));
        carried = true;
    }
}

/* What is before a piece: what was before its window, and the pieces of the window so far. */
static bool enter_piece(row *r, bool carried, int64_t pieces)
{
    if (carried && pieces)
        combine(r, CARRY, at(r, BEFORE_WINDOW), at(r, PIECES_SO_FAR));
    else if (carried || pieces)
        copy(r, CARRY, at(r, carried ? BEFORE_WINDOW : PIECES_SO_FAR));
    return carried || pieces;
}

static void scan_long(row *r, bool carried, bool exclusive, int64_t n)
{
    int64_t pieces = 0; /* of this window */
    for (int64_t first = 0; first < n; first += PIECE) {
        int64_t end = n - first < PIECE ? n : first + PIECE;
        scan_piece(r, enter_piece(r, carried, pieces), exclusive, first, end, exclusive ? n - 1 : n);
        if (end == n)
            return;
        by_neighbours(r, first, PIECE);
        if (pieces)
            combine(r, PIECES_SO_FAR, at(r, PIECES_SO_FAR), at(r, NODES));
        else
            copy(r, PIECES_SO_FAR, at(r, NODES));
        if (++pieces == WINDOW) {
            enter_piece(r, carried, pieces);
            copy(r, BEFORE_WINDOW, at(r, CARRY));
            carried = true;
            pieces = 0;
        }
    }
}

static void scan_short(row *r, bool carried, bool exclusive, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        partial x;
        if (exclusive)
            scan_to(r, carried, i, NULL);
        if (exclusive && i == n - 1)
            return;
        x = element(r, i);
        if (carried)
            combine(r, CARRY, at(r, CARRY), x);
        else
            copy(r, CARRY, x);
        carried = true;
        if (!exclusive)
            scan_to(r, carried, i, NULL);
    }
}

/* One row of a scan. A failing operator is reported for the row, as a fold's is: which elements are combined with which
 * is nobody's business. */
static void scan_row(row *r, int64_t number, int64_t begin, int64_t n)
{
    bool exclusive = ir_at(r->in->p, r->id)->flags & IR_EXCLUSIVE, seeded = r->in->operation[r->id]->seed.e;
    r->number = number;
    r->begin = begin;
    r->elements = n;
    r->good = true;
    if (seeded)
        copy(r, n > SHORT ? BEFORE_WINDOW : CARRY, seed_of(r));
    if (n > SHORT)
        scan_long(r, seeded, exclusive, n);
    else
        scan_short(r, seeded, exclusive, n);
}

void interpret_scan(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const ir_value *v = &op->value;
    unsigned along = v->rank - 1u - ir_info(in->p, id)->behind;
    int64_t n = v->extent[along], rows = n ? interpret_size(v) / n : 0;
    if (op->seed.e && !interpret_call(in, &op->seed, ir_at(in->p, id)->site, 0) && !in->faults)
        return;
    row r = begin(in, id, n);
    for (unsigned d = along + 1; d < v->rank; d++)
        r.stride *= v->extent[d];
    for (int64_t k = 0; k < rows; k++)
        scan_row(&r, k, k / r.stride * r.stride * n + k % r.stride, n);
}

void interpret_scan_seg(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const operation *offsets = in->operation[ir_info(in->p, id)->input[1]];
    int64_t n = op->value.extent[op->value.rank - 1], size = interpret_size(&op->value), from = 0, to = 0;
    int64_t segments = offsets->value.extent[0] - 1, rows = n ? size / n : 0;
    if (op->seed.e && !interpret_call(in, &op->seed, ir_at(in->p, id)->site, 0) && !in->faults)
        return;
    if (!size || !covers(in, id, offsets, n))
        return;
    for (int64_t i = 0; i < size && in->faults; i++)
        interpret_lose(op, i);
    row r = begin(in, id, n);
    for (int64_t i = 0; i < rows * segments; i++)
        if (find_segment(in, id, offsets, i % segments, n, &from, &to)) {
            int64_t first = i / segments * n + from, count = to - from;
            for (uint32_t c = 0; op->missing && c < op->value.components; c++)
                memset(op->missing[c] + first, false, (size_t)count * sizeof(*op->missing[c]));
            scan_row(&r, i, first, count);
        }
}
