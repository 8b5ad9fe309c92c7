/* The array half of the reference interpreter: every element of every operation by itself, in row-major order. */
#include "base/size.h"
#include "ir/interpreter.h"

#include <inttypes.h>

enum { MAX_PATTERN_RANK = 3 };

/* --- elements --- */

ir_bits interpret_load(const ir_value *v, uint32_t component, int64_t element)
{
    ir_type t = v->type[component];
    return ir_bits_load(t, (const char *)v->data[component] + (size_t)element * ir_type_size(t));
}

void interpret_put(ir_value *v, uint32_t component, int64_t element, ir_bits bits)
{
    size_t size = ir_type_size(v->type[component]);
    char *at = (char *)v->data[component] + (size_t)element * size;
    uint32_t word = (uint32_t)bits;
    uint16_t half = (uint16_t)bits;
    uint8_t byte = (uint8_t)bits;
    memcpy(at,
           size == 1   ? (const void *)&byte
           : size == 2 ? (const void *)&half
           : size == 4 ? (const void *)&word
                       : &bits,
           size);
}

int64_t interpret_size(const ir_value *v)
{
    int64_t size = 0;
    size_count(v->rank, v->extent, &size);
    return size;
}

static void next_index(const ir_value *v, int64_t *index)
{
    for (unsigned d = v->rank; d-- > 0;) {
        if (++index[d] < v->extent[d])
            return;
        index[d] = 0;
    }
}

static int64_t flat_index(const ir_value *v, const int64_t *index)
{
    int64_t flat = 0;
    for (unsigned d = 0; d < v->rank; d++)
        flat = flat * v->extent[d] + index[d];
    return flat;
}

/* Finds the element at an index; false, with the first offending dimension, if it is outside. */
bool interpret_find(const ir_value *v, const int64_t *index, int64_t *element, scalar_failure *f)
{
    for (unsigned d = 0; d < v->rank; d++) {
        if (index[d] >= 0 && index[d] < v->extent[d])
            continue;
        f->mistake = FAILS_INDEX;
        f->component = v->rank > 1 ? d + 1 : 0;
        f->value = index[d];
        f->bound = v->extent[d];
        return false;
    }
    *element = flat_index(v, index);
    return true;
}

/* --- array operations --- */

static const ir_value *operand(const interpreter *in, ir_id id, uint32_t k)
{
    return &in->operation[ir_info(in->p, id)->input[k]]->value;
}

static const operation *source_of(const interpreter *in, ir_id id, uint32_t k)
{
    return in->operation[ir_info(in->p, id)->input[k]];
}

static void lose(operation *op, uint32_t component, int64_t element)
{
    if (op->missing)
        op->missing[component][element] = true;
}

void interpret_lose(operation *op, int64_t element)
{
    for (uint32_t c = 0; c < op->value.components; c++)
        lose(op, c, element);
}

void interpret_store(operation *op, int64_t element, const ir_bits *value, const bool *failed)
{
    for (uint32_t c = 0; c < op->value.components; c++) {
        if (failed[c])
            lose(op, c, element);
        else
            interpret_put(&op->value, c, element, value[c]);
    }
}

/* The results of a call become the components of an element. */
static void store_results(operation *op, int64_t element, const function *f)
{
    interpret_store(op, element, f->out, f->failed);
}

static void run_generate(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    int64_t index[IR_MAX_RANK] = {0}, size = interpret_size(&op->value);
    for (int64_t i = 0; i < size; i++, next_index(&op->value, index)) {
        evaluator_restart(op->body.e);
        interpret_set_index(&op->body, 0, op->value.rank, index);
        interpret_call(in, &op->body, ir_at(in->p, id)->site, i);
        store_results(op, i, &op->body);
    }
}

/* Sets parameters from `from` on to the components of one element, but for those that are missing; returns the number
 * of the next parameter. */
uint32_t interpret_set_element(function *f, uint32_t from, const operation *source, int64_t element)
{
    const ir_value *v = &source->value;
    for (uint32_t c = 0; c < v->components; c++, from++)
        if (f->slot[from] != NO_SLOT && !interpret_missing(source, c, element))
            evaluator_set(f->e, f->slot[from], interpret_load(v, c, element));
    return from;
}

static void run_map(interpreter *in, ir_id id)
{
    const ir_array *info = ir_info(in->p, id);
    operation *op = in->operation[id];
    bool indexed = ir_at(in->p, id)->flags & IR_INDEXED;
    int64_t index[IR_MAX_RANK] = {0}, size = interpret_size(&op->value);
    for (int64_t i = 0; i < size; i++, next_index(&op->value, index)) {
        evaluator_restart(op->body.e);
        uint32_t param = 0;
        if (indexed) {
            interpret_set_index(&op->body, 0, info->rank, index);
            param = info->rank;
        }
        for (uint32_t k = 0; k < info->inputs; k++)
            param = interpret_set_element(&op->body, param, source_of(in, id, k), i);
        interpret_call(in, &op->body, ir_at(in->p, id)->site, i);
        store_results(op, i, &op->body);
    }
}

void interpret_copy(operation *to, int64_t i, const operation *from, int64_t j)
{
    for (uint32_t c = 0; c < to->value.components; c++) {
        if (interpret_missing(from, c, j))
            lose(to, c, i);
        else
            interpret_put(&to->value, c, i, interpret_load(&from->value, c, j));
    }
}

static void run_backpermute(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const ir_value *source = operand(in, id, 0);
    uint32_t site = ir_at(in->p, id)->site;
    int64_t index[IR_MAX_RANK] = {0}, size = interpret_size(&op->value);
    for (int64_t i = 0; i < size; i++, next_index(&op->value, index)) {
        evaluator_restart(op->body.e);
        interpret_set_index(&op->body, 0, op->value.rank, index);
        if (!interpret_call(in, &op->body, site, i)) {
            interpret_lose(op, i);
            continue;
        }
        int64_t from[IR_MAX_RANK] = {0}, element = 0;
        for (unsigned d = 0; d < source->rank; d++)
            from[d] = ir_i64_bits(T_I64, op->body.out[d]);
        scalar_failure f = {.term = id};
        if (interpret_find(source, from, &element, &f)) {
            interpret_copy(op, i, source_of(in, id, 0), element);
            continue;
        }
        interpret_fails_scalar(in, site, i, &f);
        interpret_lose(op, i);
    }
}

static void share_elements(interpreter *in, ir_id id)
{
    const operation *source = source_of(in, id, 0);
    memcpy(in->operation[id]->value.data, source->value.data, sizeof source->value.data);
    in->operation[id]->missing = source->missing;
}

static void run_reshape(interpreter *in, ir_id id)
{
    ir_value *v = &in->operation[id]->value;
    const ir_value *source = operand(in, id, 0);
    int64_t size = interpret_size(v), wanted = interpret_size(source);
    if (size == wanted) {
        share_elements(in, id);
        return;
    }
    uint32_t site = ir_at(in->p, id)->site;
    interpret_fails(in, IR_WRONG_SHAPES, site, 0, size, wanted,
                    arena_printf(in->arena,
                                 "%s: %" PRId64 " elements cannot become %" PRId64 "; they have to be equally many",
                                 interpret_name(in->p, site, "reshape"), wanted, size));
}

static void run_pack(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const operation *keep = source_of(in, id, 0), *source = source_of(in, id, 1);
    int64_t n = keep->value.extent[0], next = 0;
    if (source->value.extent[0] != n) {
        interpret_fails(in, IR_WRONG_SHAPES, ir_at(in->p, id)->site, 0, source->value.extent[0], n,
                        arena_printf(in->arena, "dimension 0 of an operand has the extent %" PRId64 ", not %" PRId64,
                                     source->value.extent[0], n));
        return;
    }
    for (int64_t i = 0; i < n && next < op->value.extent[0]; i++)
        if (!interpret_missing(keep, 0, i) && interpret_load(&keep->value, 0, i))
            interpret_copy(op, next++, source, i);
}

/* Combines an element of `from` into the element `to` of `into`. */
static void combine_into(interpreter *in, ir_id id, operation *into, int64_t to, const operation *from, int64_t i)
{
    function *f = &in->operation[id]->body;
    if (!ir_info(in->p, id)->fn) {
        for (uint32_t c = 0; into->missing && c < into->value.components; c++)
            into->missing[c][to] = false;
        interpret_copy(into, to, from, i);
        return;
    }
    evaluator_restart(f->e);
    interpret_set_element(f, 0, from, i);
    interpret_set_element(f, into->value.components, into, to);
    interpret_call(in, f, ir_at(in->p, id)->site, to);
    store_results(into, to, f);
}

/* Where element i of the source of a permute goes; false: nowhere. *lost: nobody knows where. */
static bool find_target(interpreter *in, ir_id id, int64_t i, int64_t *to, bool *lost)
{
    const operation *targets = source_of(in, id, 1);
    const ir_value *result = &in->operation[id]->value;
    int64_t index[IR_MAX_RANK] = {0};
    bool dropped = false, known = true;
    for (uint32_t d = 0; d < result->rank; d++) {
        known &= !interpret_missing(targets, d, i);
        index[d] = known ? ir_i64_bits(T_I64, interpret_load(&targets->value, d, i)) : 0;
        dropped |= known && index[d] == IR_DROPPED;
    }
    scalar_failure f = {.term = id};
    if (known && dropped)
        return false;
    if (known && interpret_find(result, index, to, &f))
        return true;
    if (known)
        interpret_fails_scalar(in, ir_at(in->p, id)->site, i, &f);
    *lost = true;
    return false;
}

/* Elements [from, end) of the source, in order. `has`: which places of `into` have something; NULL: all have. */
static bool permute_block(interpreter *in, ir_id id, operation *into, bool *has, int64_t from, int64_t end)
{
    const operation *source = source_of(in, id, 2);
    bool lost = false;
    for (int64_t i = from, to = 0; i < end; i++) {
        if (!find_target(in, id, i, &to, &lost))
            continue;
        if (has && !has[to])
            interpret_copy(into, to, source, i);
        else
            combine_into(in, id, into, to, source, i);
        if (has)
            has[to] = true;
    }
    return lost;
}

/* The totals of a block, and then these into the result. */
static bool permute_apart(interpreter *in, ir_id id, operation *total, bool *has, int64_t from, int64_t end)
{
    operation *op = in->operation[id];
    int64_t size = interpret_size(&op->value);
    memset(has, 0, (size_t)size);
    bool lost = permute_block(in, id, total, has, from, end);
    for (int64_t i = 0; i < size; i++)
        if (has[i])
            combine_into(in, id, op, i, total, i);
    return lost;
}

/* Like the result, for totals. */
static operation room_for_totals(interpreter *in, ir_id id)
{
    operation total = *in->operation[id];
    size_t size = (size_t)interpret_size(&total.value);
    for (uint32_t c = 0; c < total.value.components; c++)
        total.value.data[c] = arena_alloc(in->arena, size * ir_type_size(total.value.type[c]) + 1);
    if (total.missing)
        total.missing = arena_array(in->arena, bool *, total.value.components);
    for (uint32_t c = 0; total.missing && c < total.value.components; c++)
        total.missing[c] = arena_alloc(in->arena, size + 1);
    return total;
}

/* In row-major order of the source, in the blocks of docs/determinism.md. Where a target has no value, nobody knows
 * which element is missing. */
static void run_permute(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    int64_t size = interpret_size(&op->value), n = interpret_size(operand(in, id, 2)),
            targets = interpret_size(operand(in, id, 1)),
            block = ir_permute_block(in->p, ir_info(in->p, id)->fn, n, size);
    bool lost = false;
    if (targets != n) {
        interpret_fails(in, IR_WRONG_SHAPES, ir_at(in->p, id)->site, 0, targets, n,
                        arena_printf(in->arena,
                                     "%" PRId64 " targets, but %" PRId64 " elements; there has to be one for each",
                                     targets, n));
        return;
    }
    for (int64_t i = 0; i < size; i++)
        interpret_copy(op, i, source_of(in, id, 0), i);
    if (block >= n) {
        lost = permute_block(in, id, op, NULL, 0, n);
    } else {
        operation total = room_for_totals(in, id);
        bool *has = arena_alloc(in->arena, (size_t)size + 1);
        for (int64_t from = 0; from < n; from += block)
            lost |= permute_apart(in, id, &total, has, from, from + block < n ? from + block : n);
    }
    for (int64_t i = 0; i < size && lost; i++)
        interpret_lose(op, i);
}

/* Moves one coordinate into 0 .. n - 1 as the boundary says; false if it stays outside. n > 0. */
static bool bring_inside(ir_boundary boundary, int64_t n, int64_t *i)
{
    if (*i >= 0 && *i < n)
        return true;
    int64_t period = 2 * (n - 1);
    switch (boundary) {
    case IR_CLAMP:
        *i = *i < 0 ? 0 : n - 1;
        return true;
    case IR_MIRROR: /* about the outermost elements, which are not repeated */
        *i = period ? (*i % period + period) % period : 0;
        *i = *i < n ? *i : period - *i;
        return true;
    case IR_WRAP:
        *i = (*i % n + n) % n;
        return true;
    default:
        return false;
    }
}

/* Sets the parameters for one pattern position of one input. False if the boundary function failed. */
static bool set_neighbour(interpreter *in, ir_id id, uint32_t input, uint32_t param, int64_t element, int64_t *position)
{
    operation *op = in->operation[id];
    const ir_value *source = operand(in, id, input);
    const ir_stencil *stencil = &ir_info(in->p, id)->stencil[input];
    bool used = false, inside = true;
    for (uint32_t c = 0; c < source->components; c++)
        used |= op->body.slot[param + c] != NO_SLOT;
    if (!used)
        return true;
    int64_t outside[MAX_PATTERN_RANK] = {0};
    memcpy(outside, position, source->rank * sizeof *position);
    for (unsigned d = 0; d < source->rank; d++)
        inside &= bring_inside(stencil->boundary, source->extent[d], &position[d]);
    if (inside) {
        interpret_set_element(&op->body, param, source_of(in, id, input), flat_index(source, position));
        return true;
    }
    function *boundary = &op->boundary[input];
    if (stencil->boundary == IR_FUNCTION) {
        evaluator_restart(boundary->e);
        interpret_set_index(boundary, 0, source->rank, outside);
        if (!interpret_call(in, boundary, ir_at(in->p, id)->site, element) && !in->faults)
            return false;
    }
    for (uint32_t c = 0; c < source->components; c++)
        if (!boundary->failed[c])
            evaluator_set(op->body.e, op->body.slot[param + c], boundary->out[c]);
    return true;
}

static bool set_neighbours(interpreter *in, ir_id id, int64_t element, const int64_t *index)
{
    const ir_array *info = ir_info(in->p, id);
    uint32_t param = 0;
    for (uint32_t k = 0; k < info->inputs; k++) {
        const uint8_t *extent = info->stencil[k].extent;
        uint32_t positions = 1;
        for (unsigned d = 0; d < info->rank; d++)
            positions *= extent[d];
        for (uint32_t n = 0; n < positions; n++, param += operand(in, id, k)->components) {
            int64_t position[MAX_PATTERN_RANK] = {0};
            uint32_t rest = n;
            for (unsigned d = info->rank; d-- > 0; rest /= extent[d])
                position[d] = index[d] + (int64_t)(rest % extent[d]) - extent[d] / 2;
            if (!set_neighbour(in, id, k, param, element, position))
                return false;
        }
    }
    return true;
}

static void run_stencil(interpreter *in, ir_id id)
{
    const ir_array *info = ir_info(in->p, id);
    operation *op = in->operation[id];
    uint32_t site = ir_at(in->p, id)->site;
    int64_t index[IR_MAX_RANK] = {0}, size = interpret_size(&op->value);
    for (uint32_t k = 0; k < info->inputs; k++) {
        if (info->stencil[k].boundary == IR_CONSTANT && !interpret_call(in, &op->boundary[k], site, 0) && !in->faults)
            return;
    }
    for (int64_t i = 0; i < size; i++, next_index(&op->value, index)) {
        evaluator_restart(op->body.e);
        if (set_neighbours(in, id, i, index)) {
            interpret_call(in, &op->body, site, i);
            store_results(op, i, &op->body);
        }
    }
}

void interpret_elements(interpreter *in, ir_id id)
{
    switch (ir_at(in->p, id)->kind) {
    case IR_GENERATE:
        run_generate(in, id);
        break;
    case IR_MAP:
        run_map(in, id);
        break;
    case IR_BACKPERMUTE:
        run_backpermute(in, id);
        break;
    case IR_RESHAPE:
        run_reshape(in, id);
        break;
    case IR_FOLD:
        interpret_fold(in, id);
        break;
    case IR_FOLD_SEG:
        interpret_fold_seg(in, id);
        break;
    case IR_SCAN_SEG:
        interpret_scan_seg(in, id);
        break;
    case IR_SEGMENT_OF:
        interpret_segment_of(in, id);
        break;
    case IR_SCAN:
        interpret_scan(in, id);
        break;
    case IR_SORT:
        interpret_sort(in, id);
        break;
    case IR_PACK:
        run_pack(in, id);
        break;
    case IR_PERMUTE:
        run_permute(in, id);
        break;
    case IR_STENCIL:
        run_stencil(in, id);
        break;
    default:
        share_elements(in, id);
    }
}
