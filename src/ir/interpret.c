/* The reference interpreter: finds out which operations are needed, binds extents, runs checks, and computes the
 * operations in order of their ids. Plain rather than fast; it is what every other way to run a program is compared
 * with. */
#include "base/size.h"
#include "ir/interpreter.h"
#include "ir/trace.h"

#include <inttypes.h>

/* --- failures --- */

/* Of several the one with the smallest (site, component, element) is kept. */
static void keep_failure(interpreter *in, const ir_failure *f)
{
    const ir_failure *old = in->failure;
    int64_t order[3] = {(int64_t)old->site - f->site, (int64_t)old->component - f->component,
                        old->element - f->element};
    int64_t first = order[0] ? order[0] : order[1] ? order[1] : order[2];
    if (in->faults)
        vec_push(in->arena, &in->faults->all, *f);
    if (in->failed && first <= 0)
        return;
    in->failed = true;
    *in->failure = *f;
}

void interpret_fails(interpreter *in, ir_mistake mistake, uint32_t site, int64_t element, int64_t value, int64_t bound,
                     const char *message)
{
    ir_failure f = {
        .mistake = mistake, .site = site, .element = element, .value = value, .bound = bound, .message = message};
    in->ends = true;
    keep_failure(in, &f);
}

void interpret_fails_segment(interpreter *in, ir_segment_mistake what, uint32_t site, int64_t segment, int64_t value,
                             int64_t bound, bool ends)
{
    const char *words = ir_segment_text(in->p->site.at[site], what, segment, value, bound, in->arena);
    ir_failure f = {.mistake = what == IR_SEGMENT_EMPTY ? IR_WRONG_EMPTY : IR_WRONG_SEGMENTS,
                    .site = site,
                    .component = IR_SEGMENT_COMPONENT + (unsigned)what,
                    .element = segment,
                    .value = value,
                    .bound = bound};
    f.message = arena_printf(in->arena, "%s: %s", interpret_name(in->p, site, "segments"), words);
    in->ends |= ends;
    keep_failure(in, &f);
}

const char *interpret_name(const ir_program *p, uint32_t site, const char *otherwise)
{
    const char *name = site && site < p->site.n ? p->site.at[site].operation : NULL;
    return name ? name : otherwise;
}

/* Lengths and offsets of u64 are said as such; what they are added up in goes on behind the largest number at the
 * smallest. */
static const char *length_text(ir_site site, int64_t segment, int64_t end, int64_t begin, arena *a)
{
    int64_t length = 0;
    bool far = __builtin_sub_overflow(end, begin, &length),
         large = site.wide & IR_WIDE_LENGTHS || (site.wide & IR_WIDE_OFFSETS && end < 0);
    if (large)
        return arena_printf(a, "segment %" PRId64 " has the length %" PRIu64 "; no length exceeds 63 bits", segment,
                            (uint64_t)end - (uint64_t)begin);
    if (far)
        return arena_printf(a, "segment %" PRId64 " ends far before it begins, at element %" PRId64, segment, begin);
    return arena_printf(a, "segment %" PRId64 " has the length %" PRId64 "; a length is 0 or more", segment, length);
}

const char *ir_segment_text(ir_site site, ir_segment_mistake what, int64_t segment, int64_t value, int64_t bound,
                            arena *a)
{
    switch (what) {
    case IR_SEGMENTS_BEGIN:
        return arena_printf(a, "the first segment begins at element %" PRId64 "; it has to begin at 0", value);
    case IR_SEGMENT_FALLS:
        return length_text(site, segment, value, bound, a);
    case IR_SEGMENTS_END:
        if (value < 0)
            return arena_printf(a, "there are no segments, but %" PRId64 " elements; each of them is in one", bound);
        return arena_printf(a,
                            "the segments up to number %" PRId64 " have %" PRId64 " elements, but there are %" PRId64
                            "; their lengths have to add up to that",
                            segment, value, bound);
    default:
        return arena_printf(
            a, "segment %" PRId64 " is empty: no element to begin with; sn_fold_seg takes an initial value", segment);
    }
}

const char *ir_index_text(ir_site site, unsigned component, int64_t value, arena *a)
{
    bool wide = site.wide >> (component ? component - 1 : 0) & 1;
    if (wide && value == INT64_MIN + 1) /* of a permute the number before it, too */
        return "above 9223372036854775807";
    return wide ? arena_printf(a, "%" PRIu64, (uint64_t)value) : arena_printf(a, "%" PRId64, value);
}

static const char *scalar_message(const ir_program *p, arena *a, uint32_t site, const scalar_failure *f)
{
    const ir_node *node = ir_at(p, f->term);
    switch (f->mistake) {
    case FAILS_ARITHMETIC:
        return arena_printf(
            a, "%s: %s", ir_ops[node->op].name,
            f->value == 0 ? "division by zero; sn_if leaves it out"
                          : "the quotient of the smallest number by -1 is not representable; a wider type has it");
    case FAILS_INDEX: {
        const char *in = f->component ? arena_printf(a, " in dimension %u", f->component - 1) : "";
        return arena_printf(a, "%s: index %s%s is outside the extent %" PRId64, interpret_name(p, site, "read"),
                            ir_index_text(p->site.at[site], f->component, f->value, a), in, f->bound);
    }
    case FAILS_EXTENT:
        if (node->kind == IR_DIM)
            return arena_printf(a, "no input determines the extent %s; one needs it as an extent of its own",
                                p->dim.at[node->u.literal]);
        return "a variable has no value here";
    default:
        return "the value of an array is not known here";
    }
}

void interpret_fails_scalar(interpreter *in, uint32_t site, int64_t element, const scalar_failure *f)
{
    uint32_t own = ir_at(in->p, f->term)->site;
    site = own ? own : site;
    ir_mistake mistake = f->mistake == FAILS_ARITHMETIC ? IR_WRONG_ARITHMETIC
                         : f->mistake == FAILS_INDEX    ? IR_WRONG_INDEX
                                                        : IR_WRONG_EXTENT;
    ir_failure failure = {.mistake = mistake,
                          .site = site,
                          .component = f->component,
                          .element = element,
                          .value = f->value,
                          .bound = f->bound,
                          .message = scalar_message(in->p, in->arena, site, f)};
    keep_failure(in, &failure);
}

/* --- the world of scalar terms --- */

static bool dim_value(void *env, uint32_t number, int64_t *out)
{
    const interpreter *in = env;
    *out = in->dim[number];
    return in->dim_input[number] != 0;
}

static bool read_element(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *f)
{
    const interpreter *in = env;
    const ir_value *v = &in->operation[read->array]->value;
    int64_t element = index[0];
    if (!(read->flags & IR_LINEAR)) {
        if (!interpret_find(v, index, &element, f))
            return false;
    } else if (element < 0 || element >= interpret_size(v)) {
        *f = (scalar_failure){.mistake = FAILS_INDEX, .value = element, .bound = interpret_size(v)};
        return false;
    }
    if (interpret_missing(in->operation[read->array], (uint32_t)read->u.literal, element)) {
        *f = (scalar_failure){.mistake = FAILS_READ};
        return false;
    }
    *out = interpret_load(v, (uint32_t)read->u.literal, element);
    return true;
}

static void note_trace(void *env, const ir_node *node, ir_bits value)
{
    const interpreter *in = env;
    if (in->trace)
        ir_trace_note(in->trace, node->site, (ir_type)node->type, in->element, value);
}

/* --- functions --- */

static void note_read(void *env, ir_id array)
{
    interpreter *in = env;
    in->needed[array] = true;
    in->last_read = array > in->last_read ? array : in->last_read;
}

static function prepare(interpreter *in, uint32_t n, const ir_id *term)
{
    function f = {.e = evaluator_new(in->p, in->arena, n, term),
                  .terms = n,
                  .out = arena_array(in->arena, ir_bits, n + 1),
                  .failed = arena_array(in->arena, bool, n + 1)};
    evaluator_arrays(f.e, note_read, in);
    return f;
}

static function prepare_fn(interpreter *in, const ir_fn *fn)
{
    function f = prepare(in, fn->results, fn->result);
    f.slot = arena_array(in->arena, uint32_t, fn->params + 1);
    for (uint32_t k = 0; k < fn->params; k++)
        f.slot[k] = evaluator_slot(f.e, fn->param[k]);
    return f;
}

void interpret_set_index(function *f, uint32_t from, unsigned rank, const int64_t *index)
{
    for (unsigned d = 0; d < rank; d++)
        evaluator_set(f->e, f->slot[from + d], ir_bits_i64(T_I64, index[d]));
}

/* Did it fail for want of an element that has failed before? */
static bool is_inherited(const interpreter *in, const scalar_failure *f)
{
    return in->faults && (f->mistake == FAILS_READ || ir_at(in->p, f->term)->kind == IR_VAR);
}

bool interpret_call(interpreter *in, function *f, uint32_t site, int64_t element)
{
    bool good = true;
    in->element = element;
    for (uint32_t k = 0; k < f->terms; k++) {
        scalar_failure failure = {0};
        f->failed[k] = (!good && !in->faults) || !evaluator_value(f->e, k, &in->world, &f->out[k], &failure);
        if (f->failed[k] && (good || in->faults) && !is_inherited(in, &failure))
            interpret_fails_scalar(in, site, element, &failure);
        good &= !f->failed[k];
    }
    return good;
}

/* --- extents --- */

static bool same_types(const ir_array *info, const ir_value *v)
{
    if (info->components != v->components)
        return false;
    for (uint32_t c = 0; c < info->components; c++)
        if (info->type[c] != v->type[c])
            return false;
    return true;
}

/* Is a value of the type and rank the program says? */
static bool check_input(interpreter *in, uint32_t k)
{
    const ir_array *info = ir_info(in->p, in->p->input.at[k]);
    const ir_value *v = &in->input[k];
    int64_t size = 0;
    const char *wrong = NULL;
    if (info->rank != v->rank)
        wrong = arena_printf(in->arena, "input %u has rank %u, not %u", k, v->rank, info->rank);
    else if (info->components > IR_MAX_COMPONENTS || !same_types(info, v))
        wrong = arena_printf(in->arena, "the components of input %u are not of the program's types", k);
    for (unsigned d = 0; d < v->rank && !wrong; d++)
        if (v->extent[d] < 0)
            wrong = arena_printf(in->arena, "dimension %u of input %u has the extent %" PRId64, d, k, v->extent[d]);
    if (!wrong && !size_count(v->rank, v->extent, &size))
        wrong = arena_printf(in->arena, "input %u has too many elements", k);
    if (wrong)
        interpret_fails(in, IR_WRONG_EXTENT, 0, 0, 0, 0, wrong);
    return !wrong;
}

static bool bind_dim(interpreter *in, uint32_t number, uint32_t k, unsigned d)
{
    int64_t extent = in->input[k].extent[d];
    if (in->dim_input[number] && in->dim[number] != extent) {
        const char *message =
            arena_printf(in->arena, "extent %s is %" PRId64 " in input %u, but %" PRId64 " in dimension %u of input %u",
                         in->p->dim.at[number], in->dim[number], in->dim_input[number] - 1, extent, d, k);
        interpret_fails(in, IR_WRONG_EXTENT, 0, 0, extent, in->dim[number], message);
        return false;
    }
    in->dim[number] = extent;
    in->dim_input[number] = k + 1;
    return true;
}

static bool bind_dims(interpreter *in)
{
    const ir_program *p = in->p;
    for (uint32_t i = 0; i < p->number.n; i++) {
        in->dim[p->number.at[i].dim] = p->number.at[i].value;
        in->dim_input[p->number.at[i].dim] = p->input.n + 1; /* of none, but known */
    }
    for (uint32_t k = 0; k < p->input.n; k++) {
        const ir_array *info = ir_info(p, p->input.at[k]);
        if (!check_input(in, k))
            return false;
        for (unsigned d = 0; d < info->rank; d++) {
            const ir_node *e = ir_at(p, info->shape[d]);
            if (e->kind == IR_DIM && !bind_dim(in, (uint32_t)e->u.literal, k, d))
                return false;
        }
    }
    return true;
}

/* Inputs whose extents are not just names: constants, sums, products. */
static bool check_input_extents(interpreter *in)
{
    const ir_program *p = in->p;
    for (uint32_t k = 0; k < p->input.n; k++) {
        const ir_array *info = ir_info(p, p->input.at[k]);
        function shape = prepare(in, info->rank, info->shape);
        if (!interpret_call(in, &shape, 0, 0))
            return false;
        for (unsigned d = 0; d < info->rank; d++) {
            int64_t wanted = ir_i64_bits(T_I64, shape.out[d]), found = in->input[k].extent[d];
            if (wanted == found)
                continue;
            interpret_fails(in, IR_WRONG_EXTENT, 0, 0, found, wanted,
                            arena_printf(in->arena, "dimension %u of input %u has the extent %" PRId64 ", not %" PRId64,
                                         d, k, found, wanted));
            return false;
        }
    }
    return true;
}

/* Runs the checks that can be run as soon as `array` is known. */
static bool run_checks(interpreter *in, ir_id array)
{
    const ir_program *p = in->p;
    for (uint32_t k = 0; k < p->check.n; k++) {
        const ir_check *check = &p->check.at[k];
        check_state *state = &in->check[k];
        if (state->after != array)
            continue;
        if (!interpret_call(in, &state->sides, check->site, 0))
            return false;
        int64_t left = ir_i64_bits(T_I64, state->sides.out[0]), right = ir_i64_bits(T_I64, state->sides.out[1]);
        if (left == right)
            continue;
        const char *what = check->what ? check->what : "extents";
        interpret_fails(
            in, IR_WRONG_SHAPES, check->site, 0, left, right,
            arena_printf(in->arena, "%s: %" PRId64 " and %" PRId64 "; they have to be equal", what, left, right));
        return false;
    }
    return true;
}

bool ir_is_long_sum(ir_op op, ir_bits a, ir_bits b)
{
    bool doubles = op == OP_MUL && ((int64_t)a == 2 || (int64_t)b == 2);
    return (op == OP_ADD || doubles) && (int64_t)a >= 0 && (int64_t)b >= 0;
}

static bool is_long_sum(interpreter *in, ir_id extent)
{
    ir_host host = {.dims = in->dim};
    ir_bits part[2];
    if (ir_at(in->p, extent)->kind != IR_OP || ir_at(in->p, extent)->n != 2)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (!ir_evaluate(in->p, in->arena, ir_args(in->p, extent)[i], &host, &part[i]))
            return false;
    return ir_is_long_sum((ir_op)ir_at(in->p, extent)->op, part[0], part[1]);
}

const char *ir_extent_text(unsigned dimension, int64_t extent, bool long_sum, arena *a)
{
    if (long_sum)
        return arena_printf(a, "dimension %u has the extent %" PRIu64 "; no extent exceeds 63 bits", dimension,
                            (uint64_t)extent);
    return arena_printf(a, "dimension %u has the extent %" PRId64 "; an extent is 0 or more", dimension, extent);
}

/* Evaluates the extents of an operation and makes room for its elements. */
static bool make_value(interpreter *in, ir_id id, bool with_data)
{
    const ir_array *info = ir_info(in->p, id);
    uint32_t site = ir_at(in->p, id)->site;
    operation *op = in->operation[id];
    ir_value *v = &op->value;
    if (info->components > IR_MAX_COMPONENTS) {
        interpret_fails(in, IR_WRONG_SIZE, site, 0, info->components, IR_MAX_COMPONENTS,
                        "elements of too many components; use fewer");
        return false;
    }
    if (!interpret_call(in, &op->shape, site, 0))
        return false;
    v->rank = info->rank;
    v->components = (uint8_t)info->components;
    int64_t size = 0;
    for (unsigned d = 0; d < info->rank; d++) {
        v->extent[d] = ir_i64_bits(T_I64, op->shape.out[d]);
        if (v->extent[d] >= 0)
            continue;
        interpret_fails(in, IR_WRONG_EXTENT, site, 0, v->extent[d], 0,
                        arena_printf(in->arena, "%s: %s", interpret_name(in->p, site, "array"),
                                     ir_extent_text(d, v->extent[d], is_long_sum(in, info->shape[d]), in->arena)));
        return false;
    }
    size_t bytes = 0; /* of the largest elements there are */
    if (!size_count(v->rank, v->extent, &size) || !size_times((size_t)size, sizeof(ir_bits), &bytes)) {
        interpret_fails(in, IR_WRONG_SIZE, site, 0, 0, 0,
                        arena_printf(in->arena, "%s: too many elements; make its extents smaller",
                                     interpret_name(in->p, site, "array")));
        return false;
    }
    in->failure->site = site; /* if memory runs out: in this operation */
    for (uint32_t c = 0; c < info->components; c++) {
        v->type[c] = info->type[c];
        if (with_data)
            v->data[c] = arena_alloc(in->arena, (size_t)size * ir_type_size(info->type[c]) + 1);
    }
    if (!in->faults || !with_data)
        return true;
    op->missing = arena_array(in->arena, bool *, info->components);
    for (uint32_t c = 0; c < info->components; c++)
        op->missing[c] = arena_alloc(in->arena, (size_t)size + 1);
    return true;
}

/* --- the whole run --- */

static void prepare_stencil(interpreter *in, ir_id id)
{
    const ir_array *info = ir_info(in->p, id);
    operation *op = in->operation[id];
    op->boundary = arena_array(in->arena, function, info->inputs);
    for (uint32_t k = 0; k < info->inputs; k++) {
        const ir_stencil *s = &info->stencil[k];
        if (s->boundary == IR_CONSTANT)
            op->boundary[k] = prepare(in, ir_info(in->p, info->input[k])->components, s->constant);
        if (s->boundary == IR_FUNCTION)
            op->boundary[k] = prepare_fn(in, s->function);
    }
}

/* Prepares an operation's terms and marks the arrays it needs, all of which have smaller ids. */
static void prepare_operation(interpreter *in, ir_id id)
{
    const ir_node *node = ir_at(in->p, id);
    const ir_array *info = ir_info(in->p, id);
    operation *op = in->operation[id] = arena_new(in->arena, operation);
    op->shape = prepare(in, info->rank, info->shape);
    if (info->fn)
        op->body = prepare_fn(in, info->fn);
    if (info->seed)
        op->seed = prepare(in, info->components, info->seed);
    if (info->control)
        op->seed = prepare(in, info->control->values, info->control->value);
    if (node->kind == IR_STENCIL)
        prepare_stencil(in, id);
    for (uint32_t k = 0; k < info->inputs; k++)
        in->needed[info->input[k]] = true;
}

static void prepare_checks(interpreter *in)
{
    const ir_program *p = in->p;
    in->check = arena_array(in->arena, check_state, p->check.n + 1);
    for (uint32_t k = 0; k < p->check.n; k++) {
        in->last_read = 0;
        in->check[k].sides = prepare(in, 2, (ir_id[]){p->check.at[k].left, p->check.at[k].right});
        in->check[k].after = in->last_read;
    }
}

static void prepare_all(interpreter *in)
{
    const ir_program *p = in->p;
    prepare_checks(in);
    for (uint32_t k = 0; k < p->output.n; k++)
        in->needed[p->output.at[k]] = true;
    for (uint32_t k = 0; k < p->input.n; k++) /* their extents are compared, and may be read of each other */
        in->needed[p->input.at[k]] = true;
    for (ir_id id = p->node.n; id-- > 1;)
        if (in->needed[id] && ir_is_array(p, id))
            prepare_operation(in, id);
    for (uint32_t k = 0; k < p->input.n; k++)
        in->operation[p->input.at[k]]->value = in->input[k];
}

/* A result of a control, whose extents are what the program says. */
static bool take_part(interpreter *in, ir_id id)
{
    operation *op = in->operation[id];
    const operation *from = &in->operation[ir_info(in->p, id)->input[0]]->part[ir_at(in->p, id)->args];
    if (!make_value(in, id, false))
        return false;
    for (unsigned d = 0; d < op->value.rank; d++)
        if (op->value.extent[d] != from->value.extent[d]) {
            interpret_fails(
                in, IR_WRONG_SHAPES, ir_at(in->p, id)->site, 0, from->value.extent[d], op->value.extent[d],
                "a result of a loop or choice has another extent than the program says; they have to be equal");
            return false;
        }
    op->value = from->value;
    op->missing = from->missing;
    return true;
}

static bool run_operation(interpreter *in, ir_id id)
{
    ir_kind kind = (ir_kind)ir_at(in->p, id)->kind;
    if (kind == IR_INPUT)
        return true;
    if (in->stop && in->stop->stops(in->stop->env)) {
        interpret_fails(in, IR_STOPPED, 0, 0, 0, 0, "the call was cancelled; call it again");
        return false;
    }
    if (kind == IR_CONTROL)
        return interpret_control(in, id);
    if (kind == IR_PART)
        return take_part(in, id);
    bool has_own_data = kind != IR_RESHAPE && kind != IR_FORCE;
    if (!make_value(in, id, has_own_data))
        return false;
    interpret_elements(in, id);
    return in->faults ? !in->ends : !in->failed;
}

static void copy_out(interpreter *in, const ir_value *v, ir_value *out)
{
    *out = *v;
    for (uint32_t c = 0; c < v->components; c++) {
        size_t bytes = (size_t)interpret_size(v) * ir_type_size(v->type[c]);
        out->data[c] = arena_alloc(in->arena, bytes + 1);
        if (bytes)
            memcpy(out->data[c], v->data[c], bytes);
    }
}

static bool run(interpreter *in)
{
    const ir_program *p = in->p;
    if (!bind_dims(in) || !check_input_extents(in) || !run_checks(in, 0))
        return false;
    for (ir_id id = 1; id < p->node.n; id++)
        if (in->operation[id] && (!run_operation(in, id) || !run_checks(in, id)))
            return false;
    return true;
}

static bool lacks_elements(const operation *op)
{
    for (uint32_t c = 0; c < op->value.components; c++)
        for (int64_t i = 0; i < interpret_size(&op->value); i++)
            if (interpret_missing(op, c, i))
                return true;
    return false;
}

static void begin(interpreter *in)
{
    const ir_program *p = in->p;
    in->world = (scalar_world){.dim = dim_value, .read = read_element, .env = in, .trace = note_trace};
    in->dim = arena_array(in->arena, int64_t, p->dim.n + 1);
    in->dim_input = arena_array(in->arena, uint32_t, p->dim.n + 1);
    in->operation = arena_array(in->arena, operation *, p->node.n + 1);
    in->needed = arena_array(in->arena, bool, p->node.n + 1);
    prepare_all(in);
}

bool interpret_program(const ir_program *p, const interpret_call_of *call)
{
    interpreter *outer = call->in, in = {.p = p, .arena = outer->arena, .input = call->input};
    in.failure = outer->failure;
    in.failed = outer->failed;
    in.faults = outer->faults;
    in.trace = outer->trace;
    in.stop = outer->stop;
    begin(&in);
    for (uint32_t k = 0; k < p->dim.n; k++) {
        in.dim[k] = call->dim[k];
        in.dim_input[k] = call->known[k] ? p->input.n + 1 : 0;
    }
    for (uint32_t k = 0; k < p->input.n; k++)
        in.operation[p->input.at[k]]->missing = call->missing[k];
    bool good = run(&in);
    outer->failed |= in.failed;
    outer->ends |= in.ends;
    for (uint32_t k = 0; k < p->output.n && good; k++) {
        call->output[k].value = in.operation[p->output.at[k]]->value;
        call->output[k].missing = in.operation[p->output.at[k]]->missing;
    }
    return good;
}

static bool interpret(const ir_program *p, arena *a, const ir_value *input, ir_value *output, ir_failure *failure,
                      ir_faults *faults, ir_trace *trace, const ir_stop *stop)
{
    interpreter in = {.p = p, .arena = a, .input = input, .failure = failure, .faults = faults};
    in.trace = trace;
    in.stop = stop;
    begin(&in);
    if (!run(&in))
        return false;
    for (uint32_t k = 0; k < p->output.n; k++) {
        if (lacks_elements(in.operation[p->output.at[k]]))
            return false;
        copy_out(&in, &in.operation[p->output.at[k]]->value, &output[k]);
    }
    return true;
}

bool ir_interpret(const ir_program *p, arena *a, const ir_value *input, ir_value *output, ir_failure *failure)
{
    return interpret(p, a, input, output, failure, NULL, NULL, NULL);
}

bool ir_interpret_traced(const ir_program *p, arena *a, const ir_value *input, ir_value *output, ir_failure *failure,
                         ir_trace *trace, const ir_stop *stop)
{
    return interpret(p, a, input, output, failure, NULL, trace, stop);
}

bool ir_interpret_lazily(const ir_program *p, arena *a, const ir_value *input, ir_value *output, ir_faults *faults)
{
    ir_failure smallest = {0};
    *faults = (ir_faults){0};
    faults->needed = !interpret(p, a, input, output, &smallest, faults, NULL, NULL);
    return !faults->needed;
}

/* --- single closed terms --- */

static bool host_dim(void *env, uint32_t number, int64_t *out)
{
    const ir_host *host = env;
    if (!host->dims)
        return false;
    *out = host->dims[number];
    return true;
}

static bool host_read(void *env, const ir_node *read, const int64_t *index, ir_bits *out, scalar_failure *f)
{
    const ir_host *host = env;
    (void)index;
    f->mistake = FAILS_READ;
    return host->scalar && host->scalar(host->env, read->array, (uint32_t)read->u.literal, out);
}

bool ir_evaluate(const ir_program *p, arena *a, ir_id term, const ir_host *host, ir_bits *out)
{
    ir_host copy = *host;
    scalar_world world = {.dim = host_dim, .read = host_read, .env = &copy};
    scalar_failure failure = {0};
    return evaluator_run(evaluator_new(p, a, 1, &term), &world, out, &failure);
}
