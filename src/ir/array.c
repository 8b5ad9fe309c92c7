/* Builders of array operations: types, ranks and extents are checked here, with messages in the user's words;
 * conditions between extents that are only known at run time are recorded in program->check. */
#include "ir/intern.h"

const char *ir_kind_name(ir_kind kind)
{
    static const char *const names[IR_KIND_COUNT] = {[IR_INPUT] = "input",
                                                     [IR_GENERATE] = "generate",
                                                     [IR_MAP] = "map",
                                                     [IR_BACKPERMUTE] = "backpermute",
                                                     [IR_RESHAPE] = "reshape",
                                                     [IR_FOLD] = "fold",
                                                     [IR_STENCIL] = "stencil",
                                                     [IR_SCAN] = "scan",
                                                     [IR_PACK] = "pack",
                                                     [IR_SORT] = "sort",
                                                     [IR_PERMUTE] = "permute",
                                                     [IR_FORCE] = "force",
                                                     [IR_CONTROL] = "control",
                                                     [IR_PART] = "part",
                                                     [IR_FOLD_SEG] = "fold_seg",
                                                     [IR_SCAN_SEG] = "scan_seg",
                                                     [IR_SEGMENT_OF] = "segment_of"};
    return kind < IR_KIND_COUNT ? names[kind] : NULL;
}

typedef struct builder {
    ir_program *p;
    uint32_t site;
    ir_kind kind;
    const char *name;
    ir_array a;
    unsigned flags;
} builder;

static builder begin(ir_program *p, uint32_t site, ir_kind kind)
{
    builder b = {.p = p, .site = site, .kind = kind};
    b.name = ir_operation(p, site, ir_kind_name(kind));
    b.a.name = b.name;
    return b;
}

static ir_id finish(builder *b)
{
    ir_node node = {.kind = (uint8_t)b->kind, .flags = (uint8_t)b->flags, .site = b->site};
    if (b->kind == IR_INPUT)
        node.args = b->p->input.n;
    node.u.info = arena_copy(b->p->arena, &b->a, sizeof b->a);
    ir_id id = b->p->node.n;
    vec_push(b->p->arena, &b->p->node, node);
    return id;
}

/* --- texts for messages --- */

static const char *type_list(ir_program *p, uint32_t n, const ir_id *term)
{
    text t;
    text_init(&t, p->arena);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", ir_type_name((ir_type)ir_at(p, term[i])->type));
    return n ? t.at : "nothing";
}

static const char *type_names(ir_program *p, uint32_t n, const ir_type *type)
{
    text t;
    text_init(&t, p->arena);
    for (uint32_t i = 0; i < n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", ir_type_name(type[i]));
    return n ? t.at : "nothing";
}

/* --- parts --- */

static bool set_types(builder *b, uint32_t n, const ir_type *type)
{
    if (n == 0 || n > IR_MAX_COMPONENTS)
        return ir_fail(b->p, b->site, "%s: elements of %u components; 1 to %d are possible", b->name, n,
                       IR_MAX_COMPONENTS);
    b->a.components = (uint8_t)n;
    b->a.type = arena_copy(b->p->arena, type, n * sizeof *type);
    return true;
}

static bool set_result_types(builder *b, const ir_fn *fn)
{
    ir_type type[IR_MAX_COMPONENTS];
    for (uint32_t i = 0; i < fn->results && i < IR_MAX_COMPONENTS; i++)
        type[i] = (ir_type)ir_at(b->p, fn->result[i])->type;
    return set_types(b, fn->results, type);
}

static bool set_shape(builder *b, unsigned rank, const ir_id *shape)
{
    int64_t extent, size = 1;
    bool empty = false, large = false;
    if (rank > IR_MAX_RANK)
        return ir_fail(b->p, b->site, "%s: rank %u is above the largest possible, %d; merge some dimensions", b->name,
                       rank, IR_MAX_RANK);
    b->a.rank = (uint8_t)rank;
    for (unsigned d = 0; d < rank; d++) {
        ir_id e = ir_extent_normal(b->p, b->site, shape[d]);
        if (!e)
            return false;
        b->a.shape[d] = e;
        if (!ir_extent_constant(b->p, e, &extent))
            continue;
        if (extent < 0)
            return ir_fail(b->p, b->site, "%s: the extent of dimension %u is negative: %lld; an extent is 0 or more",
                           b->name, d, (long long)extent);
        empty |= extent == 0;
        large |= __builtin_mul_overflow(size, extent, &size);
    }
    if (large && !empty)
        return ir_fail(b->p, b->site, "%s: the number of elements exceeds 64 bits; make its extents smaller", b->name);
    return true;
}

static bool is_operand(builder *b, ir_id id)
{
    if (!id)
        return false;
    if (id >= b->p->node.n || !ir_is_array(b->p, id))
        return ir_fail(b->p, b->site, "%s: expected an array, found a scalar", b->name);
    return true;
}

static bool set_inputs(builder *b, uint32_t n, const ir_id *input)
{
    bool good = true;
    for (uint32_t i = 0; i < n; i++)
        good &= is_operand(b, input[i]);
    if (!good)
        return false;
    if (n == 0)
        return ir_fail(b->p, b->site, "%s: there is no array; it needs one", b->name);
    b->a.inputs = n;
    b->a.input = arena_copy(b->p->arena, input, n * sizeof *input);
    return true;
}

/* All inputs have the rank of the first and, as far as is known now, its extents. */
static bool match_shapes(builder *b)
{
    const ir_array *first = ir_info(b->p, b->a.input[0]);
    uint32_t errors = b->p->error.n;
    for (uint32_t i = 1; i < b->a.inputs; i++) {
        const ir_array *other = ir_info(b->p, b->a.input[i]);
        if (other->rank != first->rank)
            return ir_fail(b->p, b->site, "%s: the operands' ranks differ: %u and %u; they need the same", b->name,
                           (unsigned)first->rank, (unsigned)other->rank);
        for (unsigned d = 0; d < first->rank; d++) {
            if (other->shape[d] == first->shape[d])
                continue;
            const char *what =
                arena_printf(b->p->arena, "%s: the operands' extents differ in dimension %u", b->name, d);
            ir_check_equal(b->p, b->site, first->shape[d], other->shape[d], what);
        }
    }
    return b->p->error.n == errors;
}

/* A function is given, has these parameters, and uses no variable but them. */
static bool set_fn(builder *b, ir_fn *fn, uint32_t n, const ir_type *type)
{
    if (!fn || !fn->result)
        return false;
    bool same = fn->params == n;
    for (uint32_t i = 0; same && i < n; i++)
        same = ir_at(b->p, fn->param[i])->type == (uint8_t)type[i];
    if (!same)
        return ir_fail(b->p, b->site, "%s: the function takes %s, but is given %s", b->name,
                       type_list(b->p, fn->params, fn->param), type_names(b->p, n, type));
    if (ir_free_variable(b->p, fn))
        return ir_fail(b->p, b->site,
                       "%s: the function uses a variable of another function; array operations cannot stand inside "
                       "scalar code",
                       b->name);
    b->a.fn = fn;
    return true;
}

/* Closed terms, one a component, of the given types. */
static bool check_closed(builder *b, const char *what, uint32_t n, const ir_type *type, const ir_id *term)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!term[i] || !ir_expect_scalar(b->p, b->site, b->name, term[i]))
            return false;
        const ir_node *t = ir_at(b->p, term[i]);
        if (t->type != type[i])
            return ir_fail(b->p, b->site, "%s: the %s is of type %s, but the elements of type %s", b->name, what,
                           ir_type_name((ir_type)t->type), ir_type_name(type[i]));
        if (t->scope)
            return ir_fail(b->p, b->site,
                           "%s: the %s depends on a variable of a scalar function; it may depend on extents and arrays",
                           b->name, what);
    }
    return true;
}

static void fill_types(ir_type *type, uint32_t n, ir_type with)
{
    for (uint32_t i = 0; i < n; i++)
        type[i] = with;
}

/* --- operations --- */

bool ir_known_before(ir_program *p, unsigned n, const ir_id *term)
{
    ir_id *reached;
    if (!n)
        return true;
    const uint32_t count = ir_terms(p, p->arena, n, term, &reached);
    bool known = true;
    for (uint32_t i = 0; i < count; i++) {
        const ir_node *t = ir_at(p, reached[i]);
        known &= t->kind != IR_READ || ir_at(p, t->array)->kind == IR_INPUT;
    }
    arena_release(p->arena, reached, count * sizeof *reached);
    return known;
}

ir_id ir_input(ir_program *p, uint32_t components, const ir_type *type, unsigned rank, const ir_id *shape)
{
    builder b = begin(p, 0, IR_INPUT);
    if (!set_types(&b, components, type) || !set_shape(&b, rank, shape))
        return 0;
    if (!ir_known_before(p, rank, b.a.shape))
        return ir_fail(p, 0, "%s: an extent is read of what the program computes; inputs are there before", b.name);
    ir_id id = finish(&b);
    vec_push(p->arena, &p->input, id);
    return id;
}

ir_id ir_input_data(ir_program *p, uint32_t site, ir_type type, unsigned rank, const ir_id *shape, const void *data)
{
    ir_id id = ir_input(p, 1, &type, rank, shape);
    if (!id)
        return 0;
    ir_node *n = &p->node.at[id];
    n->site = site;
    n->u.info->name = ir_operation(p, site, ir_kind_name(IR_INPUT));
    n->u.info->data = data;
    return id;
}

size_t ir_data_elements(const ir_program *p, const ir_array *input)
{
    int64_t extent = 0;
    size_t n = 1;
    bool empty = false;
    for (unsigned d = 0; d < input->rank; d++) {
        empty |= !ir_extent_constant(p, input->shape[d], &extent) || extent == 0;
        n *= (size_t)extent;
    }
    return empty ? 0 : n;
}

ir_id ir_generate(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_fn *fn)
{
    builder b = begin(p, site, IR_GENERATE);
    ir_type index[IR_MAX_RANK];
    fill_types(index, IR_MAX_RANK, T_I64);
    if (!set_shape(&b, rank, shape) || !set_fn(&b, fn, rank, index) || !set_result_types(&b, fn))
        return 0;
    return finish(&b);
}

static ir_type *operand_types(builder *b, uint32_t before, uint32_t *count)
{
    uint32_t n = before;
    for (uint32_t i = 0; i < b->a.inputs; i++)
        n += ir_info(b->p, b->a.input[i])->components;
    ir_type *type = arena_array(b->p->arena, *type, n + 1);
    fill_types(type, before, T_I64);
    *count = n;
    for (uint32_t i = 0, at = before; i < b->a.inputs; i++) {
        const ir_array *in = ir_info(b->p, b->a.input[i]);
        memcpy(type + at, in->type, in->components * sizeof *type);
        at += in->components;
    }
    return type;
}

ir_id ir_map(ir_program *p, uint32_t site, uint32_t inputs, const ir_id *input, ir_fn *fn, unsigned flags)
{
    builder b = begin(p, site, IR_MAP);
    if (!set_inputs(&b, inputs, input) || !match_shapes(&b))
        return 0;
    const ir_array *first = ir_info(p, input[0]);
    uint32_t n;
    ir_type *type = operand_types(&b, flags & IR_INDEXED ? first->rank : 0, &n);
    if (!set_shape(&b, first->rank, first->shape) || !set_fn(&b, fn, n, type) || !set_result_types(&b, fn))
        return 0;
    b.flags = flags & IR_INDEXED;
    return finish(&b);
}

ir_id ir_backpermute(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_fn *fn, ir_id source,
                     unsigned flags)
{
    builder b = begin(p, site, IR_BACKPERMUTE);
    ir_type index[IR_MAX_RANK];
    fill_types(index, IR_MAX_RANK, T_I64);
    if (!set_inputs(&b, 1, &source) || !set_shape(&b, rank, shape) || !set_fn(&b, fn, rank, index))
        return 0;
    const ir_array *from = ir_info(p, source);
    bool good = fn->results == from->rank;
    for (uint32_t i = 0; good && i < fn->results; i++)
        good = ir_at(p, fn->result[i])->type == T_I64;
    if (!good)
        return ir_fail(p, site, "%s: the function must give an index of %u i64 into the source, but gives %s", b.name,
                       (unsigned)from->rank, type_list(p, fn->results, fn->result));
    if (!set_types(&b, from->components, from->type))
        return 0;
    b.flags = flags & IR_SAFE;
    if (!b.flags)
        b.site = ir_site_of_indices(p, site, fn->results, fn->result);
    return finish(&b);
}

static ir_id reshape(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_id source, uint16_t flags)
{
    builder b = begin(p, site, IR_RESHAPE);
    if (!set_inputs(&b, 1, &source) || !set_shape(&b, rank, shape))
        return 0;
    const ir_array *from = ir_info(p, source);
    ir_id before = ir_extent_product(p, site, from->rank, from->shape);
    ir_id after = ir_extent_product(p, site, rank, b.a.shape);
    uint32_t errors = p->error.n;
    if (!before || !after)
        return 0;
    ir_check_equal(p, site, before, after,
                   arena_printf(p->arena, "%s: the numbers of elements before and after differ", b.name));
    if (p->error.n != errors || !set_types(&b, from->components, from->type))
        return 0;
    b.flags = flags;
    return finish(&b);
}

ir_id ir_reshape(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_id source)
{
    return reshape(p, site, rank, shape, source, 0);
}

ir_id ir_reshape_along(ir_program *p, uint32_t site, unsigned rank, const ir_id *shape, ir_id source)
{
    return reshape(p, site, rank, shape, source, IR_SOURCE);
}

/* What a fold or a scan is made of: an operator of two elements, and initial values. */
static bool set_operator(builder *b, ir_fn *fn, const ir_id *seed, const ir_array *from)
{
    uint32_t n = from->components;
    ir_type type[2 * IR_MAX_COMPONENTS];
    memcpy(type, from->type, n * sizeof *type);
    memcpy(type + n, from->type, n * sizeof *type);
    if (!set_fn(b, fn, 2 * n, type) || !set_result_types(b, fn))
        return false;
    if (fn->results != n || memcmp(b->a.type, from->type, n * sizeof *type) != 0)
        return ir_fail(b->p, b->site, "%s: the function must give what it combines, %s, but gives %s", b->name,
                       type_names(b->p, n, from->type), type_list(b->p, fn->results, fn->result));
    b->a.seed = seed ? arena_copy(b->p->arena, seed, n * sizeof *seed) : NULL;
    return !seed || check_closed(b, "initial value", n, from->type, seed);
}

ir_id ir_fold(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, unsigned flags)
{
    builder b = begin(p, site, IR_FOLD);
    if (!set_inputs(&b, 1, &source))
        return 0;
    const ir_array *from = ir_info(p, source);
    int64_t extent;
    if (from->rank == 0)
        return ir_fail(p, site, "%s: an array of rank 0 has no dimension to fold; it is a single value already",
                       b.name);
    if (!set_shape(&b, from->rank - 1u, from->shape) || !set_operator(&b, fn, seed, from))
        return 0;
    if (!seed && ir_extent_constant(p, from->shape[from->rank - 1], &extent) && extent == 0)
        return ir_fail(p, site, "%s: the array has no elements and the fold no initial value; sn_fold takes one",
                       b.name);
    b.flags = flags & IR_COMMUTES;
    if (ir_commutes(p, fn))
        b.flags |= IR_COMMUTES;
    return finish(&b);
}

ir_id ir_segments(ir_program *p, ir_id offsets)
{
    return ir_op2(p, 0, OP_SUB, ir_extent(p, offsets, 0), ir_i64(p, 1));
}

static bool are_offsets(builder *b, ir_id offsets)
{
    const ir_array *a = ir_info(b->p, offsets);
    if (a->rank == 1 && a->components == 1 && a->type[0] == T_I64)
        return true;
    return ir_fail(b->p, b->site, "%s: offsets of segments are an array of rank 1 of i64; convert it", b->name);
}

ir_id ir_fold_seg(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, ir_id offsets,
                  unsigned flags)
{
    builder b = begin(p, site, IR_FOLD_SEG);
    ir_id both[2] = {source, offsets}, shape[IR_MAX_RANK];
    if (!set_inputs(&b, 2, both) || !are_offsets(&b, offsets))
        return 0;
    const ir_array *from = ir_info(p, source);
    if (from->rank == 0)
        return ir_fail(p, site, "%s: an array of rank 0 has no dimension with segments; it is a single value already",
                       b.name);
    memcpy(shape, from->shape, from->rank * sizeof *shape);
    shape[from->rank - 1] = ir_segments(p, offsets);
    if (!set_shape(&b, from->rank, shape) || !set_operator(&b, fn, seed, from))
        return 0;
    b.flags = flags & IR_COMMUTES;
    if (ir_commutes(p, fn))
        b.flags |= IR_COMMUTES;
    return finish(&b);
}

ir_id ir_segment_of(ir_program *p, uint32_t site, ir_id extent, ir_id offsets)
{
    builder b = begin(p, site, IR_SEGMENT_OF);
    ir_type type = T_I64;
    if (!set_inputs(&b, 1, &offsets) || !are_offsets(&b, offsets) || !set_shape(&b, 1, &extent) ||
        !set_types(&b, 1, &type))
        return 0;
    return finish(&b);
}

/* Of rows, along the dimension with `behind` others behind it, or, where `offsets` are not 0, of segments. */
static ir_id scan(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, ir_id offsets,
                  unsigned behind, unsigned flags)
{
    builder b = begin(p, site, offsets ? IR_SCAN_SEG : IR_SCAN);
    ir_id both[2] = {source, offsets};
    if (!set_inputs(&b, offsets ? 2 : 1, both) || (offsets && !are_offsets(&b, offsets)))
        return 0;
    const ir_array *from = ir_info(p, source);
    if (from->rank == 0)
        return ir_fail(p, site, "%s: an array of rank 0 has no dimension to scan; it is a single value already",
                       b.name);
    if (behind >= from->rank)
        return ir_fail(p, site,
                       "%s: an array of rank %u has no dimension with %u others behind it; the outermost one has %u",
                       b.name, (unsigned)from->rank, behind, from->rank - 1u);
    if (!seed && flags & IR_EXCLUSIVE)
        return ir_fail(p, site, "%s: an exclusive scan begins with its initial value, but it has none; give one",
                       b.name);
    if (!set_shape(&b, from->rank, from->shape) || !set_operator(&b, fn, seed, from))
        return 0;
    b.flags = flags & (IR_EXCLUSIVE | IR_RIGHT);
    b.a.behind = (uint8_t)behind;
    return finish(&b);
}

ir_id ir_scan(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, unsigned flags)
{
    return scan(p, site, fn, seed, source, 0, 0, flags);
}

ir_id ir_scan_along(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, unsigned behind,
                    unsigned flags)
{
    return scan(p, site, fn, seed, source, 0, behind, flags);
}

ir_id ir_scan_seg(ir_program *p, uint32_t site, ir_fn *fn, const ir_id *seed, ir_id source, ir_id offsets,
                  unsigned flags)
{
    return offsets ? scan(p, site, fn, seed, source, offsets, 0, flags) : 0;
}

ir_id ir_count(ir_program *p, uint32_t site, ir_id keep)
{
    ir_type type = T_BOOL, two[2] = {T_I64, T_I64};
    ir_id known = (ir_id)map64_get(&p->state->counts, keep), seed = ir_i64(p, 0);
    if (known)
        return known;
    ir_fn *one = ir_fn_new(p, 1, &type), *sum = ir_fn_new(p, 2, two);
    ir_id number = ir_convert(p, site, OP_CONVERT, T_I64, one->param[0]);
    ir_id both = ir_op2(p, site, OP_ADD, sum->param[0], sum->param[1]);
    ir_id numbers = ir_mark_step(p, ir_map(p, site, 1, &keep, ir_fn_close(p, one, 1, &number), 0));
    known = ir_mark_step(p, ir_fold(p, site, ir_fn_close(p, sum, 1, &both), &seed, numbers, 0));
    if (known)
        map64_put(p->arena, &p->state->counts, keep, known);
    return known;
}

/* The parameters of a function of n are these, in any order. */
static bool is_op_of_params(const ir_program *p, const ir_fn *fn, ir_op op, uint32_t n)
{
    const ir_node *t = fn->results == 1 && fn->params == n ? ir_at(p, fn->result[0]) : NULL;
    if (!t || t->kind != IR_OP || t->op != op)
        return false;
    const ir_id *arg = ir_args(p, fn->result[0]);
    return n == 1 ? arg[0] == fn->param[0]
                  : (arg[0] == fn->param[0] && arg[1] == fn->param[1]) ||
                        (arg[0] == fn->param[1] && arg[1] == fn->param[0]);
}

ir_id ir_counted(const ir_program *p, ir_id extent)
{
    int64_t seed;
    const ir_node *read = ir_at(p, extent);
    if (read->kind != IR_READ || read->n != 0 || ir_at(p, read->array)->kind != IR_FOLD)
        return 0;
    const ir_array *fold = ir_info(p, read->array);
    ir_id numbers = fold->input[0];
    if (fold->rank || fold->components != 1 || !fold->seed || !ir_extent_constant(p, fold->seed[0], &seed) || seed ||
        !is_op_of_params(p, fold->fn, OP_ADD, 2) || ir_at(p, numbers)->kind != IR_MAP ||
        ir_at(p, numbers)->flags & IR_INDEXED)
        return 0;
    const ir_array *map = ir_info(p, numbers);
    bool good = map->inputs == 1 && map->components == 1 && is_op_of_params(p, map->fn, OP_CONVERT, 1);
    return good && ir_at(p, map->fn->param[0])->type == T_BOOL ? map->input[0] : 0;
}

ir_id ir_count_of_pack(const ir_program *p, ir_id extent, ir_id keep)
{
    return ir_counted(p, extent) == keep ? ir_at(p, extent)->array : 0;
}

ir_id ir_pack(ir_program *p, uint32_t site, ir_id keep, ir_id source)
{
    return ir_pack_counted(p, site, 0, keep, source);
}

ir_id ir_pack_counted(ir_program *p, uint32_t site, ir_id extent, ir_id keep, ir_id source)
{
    builder b = begin(p, site, IR_PACK);
    ir_id both[2] = {keep, source};
    if (!set_inputs(&b, 2, both))
        return 0;
    const ir_array *tags = ir_info(p, keep), *from = ir_info(p, source);
    if (tags->rank != 1 || from->rank != 1)
        return ir_fail(p, site, "%s: the operands' ranks are %u and %u; both have to be 1", b.name,
                       (unsigned)tags->rank, (unsigned)from->rank);
    if (tags->components != 1 || tags->type[0] != T_BOOL)
        return ir_fail(p, site, "%s: what is kept is said by single values of type bool, not by %s", b.name,
                       type_names(p, tags->components, tags->type));
    ir_type *type = arena_copy(p->arena, from->type, from->components * sizeof *type);
    if (!match_shapes(&b) || !set_types(&b, from->components, type))
        return 0;
    if (extent && ir_counted(p, extent) != keep)
        return ir_fail(p, site, "%s: expected an extent that is read from the count of what is kept", b.name);
    ir_id count = extent ? ir_at(p, extent)->array : ir_count(p, site, keep);
    map64_put(p->arena, &p->state->counts, keep, count);
    if (!extent)
        extent = ir_read(p, site, count, 0, IR_SAFE, 0, NULL);
    if (!set_shape(&b, 1, &extent))
        return 0;
    return finish(&b);
}

/* A comparison of two elements. */
static bool set_comparison(builder *b, ir_fn *fn, const ir_array *from)
{
    uint32_t n = from->components;
    ir_type type[2 * IR_MAX_COMPONENTS];
    memcpy(type, from->type, n * sizeof *type);
    memcpy(type + n, from->type, n * sizeof *type);
    if (!set_fn(b, fn, 2 * n, type))
        return false;
    bool one = fn->results == 1 && ir_at(b->p, fn->result[0])->type == T_BOOL;
    return one || ir_fail(b->p, b->site,
                          "%s: the function must say by a bool whether one element comes before another, but gives %s",
                          b->name, type_list(b->p, fn->results, fn->result));
}

ir_id ir_sort(ir_program *p, uint32_t site, uint32_t keys, ir_fn *fn, ir_id source, unsigned flags)
{
    builder b = begin(p, site, IR_SORT);
    if (!set_inputs(&b, 1, &source) || (!keys && !fn))
        return 0;
    const ir_array *from = ir_info(p, source);
    if (from->rank == 0)
        return ir_fail(p, site, "%s: an array of rank 0 has no dimension to sort; it is a single value already",
                       b.name);
    if (keys > from->components)
        return ir_fail(p, site, "%s: %u keys, but elements of %u components", b.name, keys, (unsigned)from->components);
    if (!set_shape(&b, from->rank, from->shape) || (!keys && !set_comparison(&b, fn, from)) ||
        !set_types(&b, from->components, from->type))
        return 0;
    b.a.keys = (uint8_t)keys;
    b.flags = (keys ? flags & IR_DESCENDING : 0) | (flags & IR_RUNS);
    return finish(&b);
}

/* The targets of a permute: for each element of the source an index of the defaults. */
static bool check_targets(builder *b, const ir_array *defaults, const ir_array *targets, const ir_array *source)
{
    bool good = targets->components == defaults->rank;
    for (uint32_t i = 0; good && i < targets->components; i++)
        good = targets->type[i] == T_I64;
    if (!good)
        return ir_fail(b->p, b->site, "%s: a target is an index of %u i64 into the defaults, not %s", b->name,
                       (unsigned)defaults->rank, type_names(b->p, targets->components, targets->type));
    if (targets->rank != source->rank)
        return ir_fail(b->p, b->site,
                       "%s: the targets have rank %u, the source rank %u; there is one target for each element",
                       b->name, (unsigned)targets->rank, (unsigned)source->rank);
    uint32_t errors = b->p->error.n;
    for (unsigned d = 0; d < source->rank; d++)
        ir_check_equal(
            b->p, b->site, targets->shape[d], source->shape[d],
            arena_printf(b->p->arena, "%s: the extents of targets and source differ in dimension %u", b->name, d));
    return b->p->error.n == errors;
}

/* So many blocks at most, of about so many elements at least, and so many times the places, so that totals cost little
 * beside the elements. More where elements replace one another: the first ones of a block do so often, in no order that
 * a processor could guess. */
enum { MOST_BLOCKS = 64, LEAST_BLOCK = 65536, LEAST_A_PLACE = 16, LEAST_CHOSEN_A_PLACE = 512 };

/* Is the term one of fn's parameters, or chosen among them by conditions and extremes? */
static bool chooses(const ir_program *p, const ir_fn *fn, ir_id term)
{
    enum { MOST = 64 };
    ir_id open[MOST] = {term};
    for (unsigned n = 1; n;) {
        ir_id id = open[--n];
        const ir_node *x = ir_at(p, id);
        bool extreme = x->kind == IR_OP && (x->op == OP_MIN || x->op == OP_MAX), parameter = false;
        for (uint32_t i = 0; i < fn->params; i++)
            parameter |= fn->param[i] == id;
        if (parameter)
            continue;
        if ((!extreme && x->kind != IR_COND) || n + 2 > MOST)
            return false;
        const ir_id *arg = ir_args(p, id) + !extreme;
        open[n++] = arg[0];
        open[n++] = arg[1];
    }
    return true;
}

bool ir_permute_chooses(const ir_program *p, const ir_fn *fn)
{
    for (uint32_t c = 0; c < fn->results; c++)
        if (ir_type_float((ir_type)ir_at(p, fn->result[c])->type) && !chooses(p, fn, fn->result[c]))
            return false;
    return true;
}

static int64_t quotient_up(int64_t n, int64_t by)
{
    return n / by + (n % by != 0);
}

int64_t ir_permute_block(const ir_program *p, const ir_fn *fn, int64_t elements, int64_t places)
{
    int64_t a_place = fn && ir_permute_chooses(p, fn) ? LEAST_CHOSEN_A_PLACE : LEAST_A_PLACE;
    if (elements <= LEAST_BLOCK || places > elements / a_place)
        return elements;
    int64_t of_places = a_place * places, least = of_places > LEAST_BLOCK ? of_places : LEAST_BLOCK,
            blocks = quotient_up(elements, least);
    return quotient_up(elements, blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
}

ir_id ir_permute(ir_program *p, uint32_t site, ir_fn *fn, ir_id defaults, ir_id targets, ir_id source)
{
    builder b = begin(p, site, IR_PERMUTE);
    ir_id all[3] = {defaults, targets, source};
    if (!set_inputs(&b, 3, all))
        return 0;
    const ir_array *to = ir_info(p, defaults), *from = ir_info(p, source);
    if (to->rank == 0)
        return ir_fail(p, site, "%s: an array of rank 0 has one place only; sn_fold_all combines into it", b.name);
    bool same = to->components == from->components;
    for (uint32_t i = 0; same && i < to->components; i++)
        same = to->type[i] == from->type[i];
    if (!same)
        return ir_fail(p, site, "%s: the elements are %s, the defaults %s; they need the same types", b.name,
                       type_names(p, from->components, from->type), type_names(p, to->components, to->type));
    if (!check_targets(&b, to, ir_info(p, targets), from) || !set_shape(&b, to->rank, to->shape))
        return 0;
    if (fn ? !set_operator(&b, fn, NULL, to) : !set_types(&b, to->components, to->type))
        return 0;
    return finish(&b);
}

static bool check_boundary(builder *b, const ir_stencil *s, const ir_array *in)
{
    ir_type index[IR_MAX_RANK];
    fill_types(index, IR_MAX_RANK, T_I64);
    if (s->boundary == IR_CONSTANT)
        return s->constant && check_closed(b, "boundary value", in->components, in->type, s->constant);
    if (s->boundary != IR_FUNCTION)
        return true;
    ir_fn *kernel = b->a.fn;
    if (!set_fn(b, s->function, in->rank, index))
        return false;
    b->a.fn = kernel;
    bool same = s->function->results == in->components;
    for (uint32_t i = 0; same && i < in->components; i++)
        same = ir_at(b->p, s->function->result[i])->type == (uint8_t)in->type[i];
    if (!same)
        return ir_fail(b->p, b->site, "%s: the boundary function gives %s, but the array has %s", b->name,
                       type_list(b->p, s->function->results, s->function->result),
                       type_names(b->p, in->components, in->type));
    return true;
}

static uint32_t pattern_size(const ir_stencil *s, unsigned rank)
{
    uint32_t n = 1;
    for (unsigned d = 0; d < rank; d++)
        n *= s->extent[d];
    return n;
}

/* Checks a pattern; adds its number of positions times components to *params. */
static bool check_pattern(builder *b, const ir_stencil *s, const ir_array *in, uint32_t *params)
{
    for (unsigned d = 0; d < in->rank; d++)
        if (s->extent[d] % 2 == 0 || s->extent[d] > IR_MAX_PATTERN)
            return ir_fail(b->p, b->site,
                           "%s: the pattern's extent in dimension %u is %u; odd ones up to %d are possible", b->name, d,
                           (unsigned)s->extent[d], IR_MAX_PATTERN);
    *params += pattern_size(s, in->rank) * in->components;
    return true;
}

static ir_type *stencil_types(builder *b, const ir_stencil *stencil, uint32_t params)
{
    ir_type *type = arena_array(b->p->arena, *type, params);
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->a.inputs; i++) {
        const ir_array *in = ir_info(b->p, b->a.input[i]);
        uint32_t n = pattern_size(&stencil[i], in->rank) * in->components;
        for (uint32_t k = 0; k < n; k++)
            type[at++] = in->type[k % in->components];
    }
    return type;
}

static void copy_stencil(builder *b, const ir_stencil *stencil)
{
    b->a.stencil = arena_copy(b->p->arena, stencil, b->a.inputs * sizeof *stencil);
    for (uint32_t i = 0; i < b->a.inputs; i++) {
        ir_stencil *s = &b->a.stencil[i];
        size_t n = ir_info(b->p, b->a.input[i])->components;
        s->constant = s->boundary == IR_CONSTANT ? arena_copy(b->p->arena, s->constant, n * sizeof(ir_id)) : NULL;
        s->function = s->boundary == IR_FUNCTION ? s->function : NULL;
    }
}

ir_id ir_stencil_new(ir_program *p, uint32_t site, ir_fn *fn, uint32_t inputs, const ir_id *input,
                     const ir_stencil *stencil)
{
    builder b = begin(p, site, IR_STENCIL);
    uint32_t params = 0;
    if (!set_inputs(&b, inputs, input) || !match_shapes(&b))
        return 0;
    const ir_array *first = ir_info(p, input[0]);
    if (first->rank < 1 || first->rank > 3)
        return ir_fail(p, site, "%s: stencils are for ranks 1 to 3, not %u", b.name, (unsigned)first->rank);
    for (uint32_t i = 0; i < inputs; i++)
        if (!check_pattern(&b, &stencil[i], ir_info(p, input[i]), &params))
            return 0;
    if (!set_shape(&b, first->rank, first->shape) || !set_fn(&b, fn, params, stencil_types(&b, stencil, params)) ||
        !set_result_types(&b, fn))
        return 0;
    for (uint32_t i = 0; i < inputs; i++)
        if (!check_boundary(&b, &stencil[i], ir_info(p, input[i])))
            return 0;
    copy_stencil(&b, stencil);
    return finish(&b);
}

ir_id ir_force(ir_program *p, uint32_t site, ir_id source)
{
    builder b = begin(p, site, IR_FORCE);
    if (!set_inputs(&b, 1, &source))
        return 0;
    const ir_array *from = ir_info(p, source);
    if (!set_types(&b, from->components, from->type) || !set_shape(&b, from->rank, from->shape))
        return 0;
    return finish(&b);
}

void ir_fuse(ir_program *p, ir_id array)
{
    p->node.at[array].flags |= IR_FUSED;
}

ir_id ir_mark_step(ir_program *p, ir_id array)
{
    if (array)
        p->node.at[array].flags |= IR_STEP;
    return array;
}

void ir_output(ir_program *p, ir_id array)
{
    builder b = begin(p, 0, IR_FORCE);
    b.name = "result";
    if (is_operand(&b, array))
        vec_push(p->arena, &p->output, array);
}

ir_id ir_extent(const ir_program *p, ir_id array, unsigned dimension)
{
    const ir_array *a = ir_info(p, array);
    return dimension < a->rank ? a->shape[dimension] : 0;
}

ir_id ir_size(ir_program *p, ir_id array)
{
    const ir_array *a = ir_info(p, array);
    return ir_extent_product(p, ir_at(p, array)->site, a->rank, a->shape);
}
