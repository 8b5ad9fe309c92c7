/* Parsing of programs: the statements of the text form of terms. Grammar: docs/text-forms.md, "Terms". */
#include "ir/inside.h"
#include "ir/parser.h"
#include "ir/printer.h"

static bool parse_site_line(parser *ps)
{
    uint64_t number, line, wide = 0;
    const char *file = NULL, *operation = NULL;
    if (!parser_number(ps, 1u << 20, &number))
        return false;
    if (!parser_accept(ps, "?") && !(file = parser_string(ps)))
        return false;
    if (!parser_expect(ps, ":") || !parser_number(ps, UINT32_MAX, &line))
        return false;
    if (ps->token.kind == TOKEN_STRING)
        operation = parser_string(ps);
    if (parser_accept(ps, "wide") && !parser_number(ps, UINT8_MAX, &wide))
        return false;
    if (number >= ps->site.n)
        vec_resize(ps->arena, &ps->site, (uint32_t)number + 1);
    ps->site.at[number] = ir_site_wide(ps->p, ir_site_at(ps->p, file, (uint32_t)line, operation), (unsigned)wide);
    return true;
}

/* The number that the last name stands for. */
static bool parse_value(parser *ps, uint32_t dim)
{
    bool minus = parser_accept(ps, "-");
    uint64_t n;
    if (!parser_number(ps, minus ? (uint64_t)1 << 63 : (uint64_t)INT64_MAX, &n))
        return false;
    if (ps->p->dim.n != dim + 1)
        return parser_fail(ps, "this extent has been named before; expected a new name");
    vec_push(ps->p->arena, &ps->p->number, ((ir_number){dim, (int64_t)(minus ? 0 - n : n)}));
    return true;
}

static bool parse_extents(parser *ps)
{
    do {
        token name = ps->token;
        uint32_t known = ps->p->dim.n;
        if (name.kind == TOKEN_STRING) {
            const char *quoted = parser_string(ps);
            if (quoted)
                ir_dim(ps->p, quoted);
        } else if (name.kind == TOKEN_WORD) {
            parser_next(ps);
            parser_declare(ps, name, ir_dim(ps->p, arena_printf(ps->arena, "%.*s", (int)name.n, name.at)));
        } else {
            return parser_fail(ps, "expected a name");
        }
        if (parser_accept(ps, "=") && !parse_value(ps, known))
            return false;
    } while (parser_accept(ps, ","));
    return !ps->message;
}

static ir_id parse_array_name(parser *ps)
{
    ir_id id = ps->token.kind == TOKEN_WORD ? parser_find(ps, ps->token) : 0;
    if (ps->message || !id || !ir_is_array(ps->p, id)) {
        parser_fail(ps, "expected the name of an array");
        return 0;
    }
    parser_next(ps);
    return id;
}

static bool parse_check(parser *ps)
{
    ir_check c = {.site = parse_site(ps)};
    c.left = parse_sum(ps);
    c.right = c.left && parser_expect(ps, "==") ? parse_sum(ps) : 0;
    c.left = ir_extent_normal(ps->p, c.site, c.left);
    c.right = ir_extent_normal(ps->p, c.site, c.right);
    c.what = c.left && c.right ? parser_string(ps) : NULL;
    if (c.what)
        vec_push(ps->arena, &ps->check, c);
    return c.what;
}

static bool parse_output(parser *ps)
{
    do {
        ir_id id = parse_array_name(ps);
        if (!id)
            return false;
        ir_output(ps->p, id);
    } while (parser_accept(ps, ","));
    return !ps->message;
}

/* --- arrays --- */

/* What stands behind an operation's word; which parts must be there, the operation knows. */
typedef struct parts {
    ir_kind kind;
    uint32_t site, rank;
    uint64_t keys;   /* of a sort, 0: it compares by its function */
    uint64_t behind; /* of a scan: dimensions behind the one that it goes along */
    uint32_t number; /* PART */
    unsigned flags;
    ir_id shape[IR_MAX_RANK];
    VEC(ir_type) type;
    ir_ids input, seed;
    VEC(ir_stencil) stencil;
    ir_fn *fn;
    ir_control control;
    const void *data; /* of an input, NULL: none */
    size_t elements;  /* in it */
} parts;

static bool parse_shape(parser *ps, parts *a)
{
    ir_ids shape = {0};
    if (!parser_expect(ps, "["))
        return false;
    if (!parser_is(ps, "]") && !parse_terms(ps, &shape))
        return false;
    if (shape.n > IR_MAX_RANK)
        return parser_fail(ps, "rank %u is above the largest possible, %d; merge some dimensions", shape.n,
                           IR_MAX_RANK);
    for (uint32_t d = 0; d < shape.n; d++)
        a->shape[d] = shape.at[d];
    a->rank = shape.n;
    return parser_expect(ps, "]");
}

static bool parse_element(parser *ps, parts *a)
{
    bool tuple = parser_accept(ps, "(");
    do {
        ir_type t = parse_type(ps);
        if (t == T_NONE)
            return false;
        vec_push(ps->arena, &a->type, t);
    } while (tuple && parser_accept(ps, ","));
    return !tuple || parser_expect(ps, ")");
}

/* As many literals as the input has elements, to memory. */
static bool parse_data(parser *ps, parts *a)
{
    size_t n = 0, size = ir_type_size(a->type.at[0]);
    int64_t extent;
    VEC(ir_bits) bits = {0};
    if (a->type.n != 1)
        return parser_fail(ps, "expected data of one component");
    for (unsigned d = 0; d < a->rank; d++)
        if (!ir_extent_constant(ps->p, a->shape[d], &extent))
            return parser_fail(ps, "expected data of constant extents");
    if (!parser_expect(ps, "("))
        return false;
    while (!parser_is(ps, ")")) {
        ir_id id = parse_term(ps);
        if (!id || ir_at(ps->p, id)->kind != IR_CONST || ir_at(ps->p, id)->type != a->type.at[0])
            return parser_fail(ps, "expected numbers of the type %s", ir_type_name(a->type.at[0]));
        vec_push(ps->arena, &bits, ir_at(ps->p, id)->u.literal);
        if (!parser_accept(ps, ","))
            break;
    }
    char *data = arena_alloc(ps->arena, bits.n * size + 1);
    for (n = 0; n < bits.n; n++)
        memcpy(data + n * size, &bits.at[n], size);
    a->data = data;
    a->elements = n;
    return parser_expect(ps, ")");
}

static bool parse_boundary(parser *ps, ir_stencil *s, uint32_t components)
{
    static const char *const words[] = {"clamp", "mirror", "wrap", "constant", "function"};
    unsigned k = 0;
    while (k < ARRAY_LENGTH(words) && !parser_accept(ps, words[k]))
        k++;
    if (k == ARRAY_LENGTH(words))
        return parser_fail(ps, "expected a boundary");
    s->boundary = (ir_boundary)k;
    if (s->boundary == IR_FUNCTION) {
        s->function = parse_fn(ps);
        return s->function != NULL;
    }
    ir_ids constant = {0};
    if (s->boundary != IR_CONSTANT)
        return true;
    if (!parser_expect(ps, "(") || !parse_terms(ps, &constant) || !parser_expect(ps, ")"))
        return false;
    s->constant = constant.at;
    return constant.n == components || parser_fail(ps, "%u boundary values, but %u components", constant.n, components);
}

static bool parse_pattern(parser *ps, parts *a, ir_id input)
{
    ir_stencil s = {0};
    uint64_t extent;
    const ir_array *in = ir_info(ps->p, input);
    if (!parser_expect(ps, "pattern"))
        return false;
    unsigned n = 0;
    do {
        if (!parser_number(ps, 255, &extent))
            return false;
        if (n < ARRAY_LENGTH(s.extent))
            s.extent[n] = (uint8_t)extent;
        n++;
    } while (parser_accept(ps, "x"));
    if (n != in->rank || n > ARRAY_LENGTH(s.extent))
        return parser_fail(ps, "a pattern of %u dimensions, but an array of rank %u", n, (unsigned)in->rank);
    if (!parse_boundary(ps, &s, in->components))
        return false;
    vec_push(ps->arena, &a->stencil, s);
    return true;
}

static bool parse_operands(parser *ps, parts *a)
{
    do {
        ir_id id = parse_array_name(ps);
        if (!id || (a->kind == IR_STENCIL && !parse_pattern(ps, a, id)))
            return false;
        vec_push(ps->arena, &a->input, id);
    } while (parser_accept(ps, ","));
    return !ps->message;
}

/* --- controls --- */

static bool parse_count(parser *ps, uint32_t limit, uint32_t *out)
{
    uint64_t n;
    if (!parser_number(ps, limit, &n))
        return false;
    *out = (uint32_t)n;
    return true;
}

typedef VEC(uint32_t) numbers;

/* "word (1, input 2, ...)" */
static bool parse_numbers(parser *ps, const char *word, numbers *out)
{
    uint32_t n;
    if (!parser_expect(ps, word) || !parser_expect(ps, "("))
        return false;
    while (!parser_is(ps, ")")) {
        uint32_t passed = parser_accept(ps, "input") ? IR_PASSED : 0;
        if (!parse_count(ps, UINT16_MAX, &n))
            return false;
        vec_push(ps->arena, out, n | passed);
        if (!parser_accept(ps, ","))
            break;
    }
    return parser_expect(ps, ")");
}

static bool parse_statement(parser *ps);
static void join_checks(parser *ps);

/* A program between braces, in which no name from outside is known. */
static ir_program *parse_inside(parser *ps)
{
    parser around = *ps;
    uint32_t depth = 0;
    for (const ir_program *p = ps->p; p; p = p->outer)
        depth++;
    if (depth > IR_MOST_CONTROLS)
        return parser_fail(ps, "controls within each other, %d deep at most, but found more", IR_MOST_CONTROLS), NULL;
    if (!parser_expect(ps, "{"))
        return NULL;
    ps->p = ir_program_new(ps->arena);
    ps->p->outer = around.p;
    ps->p->plain = around.p->plain;
    ir_follow_sites(ps->p);
    memset(&ps->symbol, 0, sizeof ps->symbol);
    memset(&ps->newest, 0, sizeof ps->newest);
    memset(&ps->check, 0, sizeof ps->check);
    memset(&ps->below, 0, sizeof ps->below);
    while (!ps->message && !parser_is(ps, "}") && ps->token.kind != TOKEN_END)
        if (parse_statement(ps))
            parser_built(ps);
        else if (parser_built(ps))
            parser_fail(ps, "expected a statement");
    if (!ps->message)
        join_checks(ps);
    ir_program *inside = ps->p;
    ps->p = around.p;
    ps->symbol.at = around.symbol.at;
    ps->symbol.n = around.symbol.n;
    ps->symbol.cap = around.symbol.cap;
    ps->newest = around.newest;
    ps->check.at = around.check.at;
    ps->check.n = around.check.n;
    ps->check.cap = around.check.cap;
    ps->below = around.below;
    return !ps->message && parser_expect(ps, "}") ? inside : NULL;
}

static bool parse_many(parser *ps, ir_region *r)
{
    if (!parser_accept(ps, "many"))
        return true;
    return parse_count(ps, UINT16_MAX, &r->many) && parser_expect(ps, "most") &&
           parse_count(ps, UINT16_MAX, &r->most) && parser_expect(ps, "limit") &&
           parse_count(ps, UINT16_MAX, &r->limit);
}

static bool parse_region(parser *ps, ir_region *r, uint32_t *results)
{
    numbers inputs = {0}, values = {0}, dims = {0}, result = {0};
    if (!parser_expect(ps, "rounds") || !parse_count(ps, UINT16_MAX, &r->rounds) || !parser_expect(ps, "index") ||
        !parse_count(ps, UINT16_MAX, &r->index) || !parse_many(ps, r) || !parse_numbers(ps, "inputs", &inputs) ||
        !parse_numbers(ps, "values", &values) || !parse_numbers(ps, "extents", &dims) ||
        !parse_numbers(ps, "results", &result))
        return false;
    r->program = parse_inside(ps);
    if (!r->program)
        return false;
    if (inputs.n != r->program->input.n || values.n != dims.n)
        return parser_fail(ps, "expected one input, and one extent, for each");
    r->source = inputs.at;
    r->values = values.n;
    r->value = values.at;
    r->dim = dims.at;
    r->result = result.at;
    *results = result.n;
    return true;
}

static bool parse_control(parser *ps, parts *a)
{
    static const char *const forms[] = {"choice", "while", "repeat", "foreign"};
    ir_control *c = &a->control;
    VEC(ir_region) region = {0};
    ir_ids value = {0};
    unsigned k = 0;
    while (k < ARRAY_LENGTH(forms) && !parser_accept(ps, forms[k]))
        k++;
    if (k == ARRAY_LENGTH(forms))
        return parser_fail(ps, "expected choice, while, repeat or foreign");
    c->form = (uint8_t)k;
    if (!parse_count(ps, UINT16_MAX, &c->parts) || !parser_expect(ps, "("))
        return false;
    if (!parser_is(ps, ")") && !parse_operands(ps, a))
        return false;
    if (!parser_expect(ps, ")") || !parser_expect(ps, "values") || !parser_expect(ps, "("))
        return false;
    if (!parser_is(ps, ")") && !parse_terms(ps, &value))
        return false;
    if (!parser_expect(ps, ")"))
        return false;
    while (parser_accept(ps, "region")) {
        ir_region r = {0};
        uint32_t results = 0;
        if (!parse_region(ps, &r, &results))
            return false;
        uint32_t wanted = k == IR_WHILE ? (region.n ? c->parts + 1 : 1) : c->parts;
        if (results != wanted)
            return parser_fail(ps, "%u results, not %u", results, wanted);
        vec_push(ps->arena, &region, r);
    }
    c->states = k == IR_CHOICE || k == IR_FOREIGN ? 0 : c->parts;
    c->regions = region.n;
    c->region = region.at;
    c->values = value.n;
    c->value = value.at;
    return !ps->message;
}

static bool parse_parts(parser *ps, parts *a)
{
    a->site = parse_site(ps);
    if (a->kind == IR_SCAN || a->kind == IR_SCAN_SEG) {
        a->flags |= parser_accept(ps, "exclusive") ? IR_EXCLUSIVE : 0u;
        a->flags |= parser_accept(ps, "right") ? IR_RIGHT : 0u;
    } else if (a->kind == IR_SORT) {
        a->flags |= parser_accept(ps, "descending") ? IR_DESCENDING : 0u;
        a->flags |= parser_accept(ps, "runs") ? IR_RUNS : 0u;
    } else {
        a->flags |= parser_accept(ps, "safe") ? IR_SAFE : 0u;
        a->flags |= parser_accept(ps, "indexed") ? IR_INDEXED : 0u;
        a->flags |= parser_accept(ps, "commutes") ? IR_COMMUTES : 0u;
    }
    if (a->kind == IR_PART)
        a->flags |= parser_accept(ps, "extent") ? IR_EXTENT : 0u;
    if (a->kind == IR_RESHAPE)
        a->flags |= parser_accept(ps, "along") ? IR_SOURCE : 0u;
    if (a->kind == IR_GENERATE || a->kind == IR_MAP)
        a->flags |= parser_accept(ps, "along") ? IR_ALONG : 0u;
    a->flags |= parser_accept(ps, "fused") ? IR_FUSED : 0u;
    a->flags |= parser_accept(ps, "step") ? IR_STEP : 0u;
    if (a->kind == IR_CONTROL)
        return parse_control(ps, a);
    if (a->kind == IR_PART && !parse_count(ps, UINT16_MAX, &a->number))
        return false;
    bool last = a->kind == IR_PERMUTE && parser_accept(ps, "last");
    bool shaped = a->kind == IR_INPUT || a->kind == IR_GENERATE || a->kind == IR_BACKPERMUTE || a->kind == IR_RESHAPE ||
                  a->kind == IR_PART || a->kind == IR_SEGMENT_OF || (a->kind == IR_PACK && parser_is(ps, "["));
    if (shaped && !parse_shape(ps, a))
        return false;
    if (a->kind == IR_INPUT)
        return parse_element(ps, a) && (!parser_accept(ps, "data") || parse_data(ps, a));
    if (a->kind == IR_SORT && parser_accept(ps, "keys") &&
        (!parser_number(ps, IR_MAX_COMPONENTS, &a->keys) || !a->keys))
        return parser_fail(ps, "expected how many components are keys");
    if (a->kind == IR_SCAN && parser_accept(ps, "behind") && !parser_number(ps, IR_MAX_RANK, &a->behind))
        return false;
    if (a->kind != IR_GENERATE && !parse_operands(ps, a))
        return false;
    bool seeds = a->kind == IR_FOLD || a->kind == IR_SCAN || a->kind == IR_FOLD_SEG || a->kind == IR_SCAN_SEG;
    if (seeds && parser_accept(ps, "seed") && !parse_terms(ps, &a->seed))
        return false;
    bool plain = a->kind == IR_RESHAPE || a->kind == IR_FORCE || a->kind == IR_PACK || a->kind == IR_SEGMENT_OF;
    if (plain || a->kind == IR_PART || a->keys || last)
        return !ps->message;
    a->fn = parse_fn(ps);
    return a->fn != NULL;
}

/* Is it seen that a backpermute is safe, as the text says? */
static bool is_safe(parser *ps, const parts *a)
{
    const ir_array *from = ir_info(ps->p, a->input.at[0]);
    bool safe = a->fn->params == a->rank && a->fn->results == from->rank;
    for (uint32_t d = 0; d < a->rank && safe; d++) {
        ir_id extent = ir_extent_normal(ps->p, a->site, a->shape[d]);
        safe = extent && ir_at(ps->p, a->fn->param[d])->type == T_I64;
        if (safe)
            map64_put(ps->arena, &ps->below, a->fn->param[d], extent);
    }
    for (uint32_t d = 0; d < from->rank && safe; d++)
        safe = ir_surely_inside(ps->p, &ps->below, a->fn->result[d], from->shape[d]);
    return safe;
}

static ir_id build_input(parser *ps, const parts *a)
{
    ir_program *p = ps->p;
    if (!a->data && p->input.n && ir_info(p, p->input.at[p->input.n - 1])->data)
        return parser_fail(ps, "an input without data; those with data stand behind all others");
    if (!a->data)
        return ir_input(p, a->type.n, a->type.at, a->rank, a->shape);
    ir_id id = ir_input_data(p, a->site, a->type.at[0], a->rank, a->shape, a->data);
    if (id && ir_data_elements(p, ir_info(p, id)) != a->elements)
        return parser_fail(ps, "%zu numbers, but an array of %zu elements", a->elements,
                           ir_data_elements(p, ir_info(p, id)));
    return id;
}

/* Its extent, if it is written down: [an array's only element]. */
static ir_id build_pack(parser *ps, const parts *a)
{
    if (a->input.n != 2 || a->rank > 1)
        return parser_fail(ps, "expected two arrays, and at most one extent: pack is of rank 1");
    ir_id extent = a->rank ? ir_extent_normal(ps->p, a->site, a->shape[0]) : 0;
    if (a->rank && (!extent || ir_counted(ps->p, extent) != a->input.at[0]))
        return parser_fail(ps, "expected an extent that reads the sum of the first array, converted to i64, from 0 on");
    return ir_pack_counted(ps->p, a->site, extent, a->input.at[0], a->input.at[1]);
}

static ir_id build(parser *ps, const parts *a)
{
    ir_program *p = ps->p;
    const ir_id *input = a->input.at;
    bool single = a->kind == IR_BACKPERMUTE || a->kind == IR_RESHAPE || a->kind == IR_FOLD || a->kind == IR_SCAN ||
                  a->kind == IR_FORCE || a->kind == IR_SORT || a->kind == IR_PART || a->kind == IR_SEGMENT_OF;
    bool folds = a->kind == IR_FOLD || a->kind == IR_SCAN || a->kind == IR_FOLD_SEG || a->kind == IR_SCAN_SEG;
    if (single && a->input.n != 1)
        return parser_fail(ps, "%s takes one array, not %u", ir_kind_name(a->kind), a->input.n);
    if ((a->kind == IR_FOLD_SEG || a->kind == IR_SCAN_SEG) && a->input.n != 2)
        return parser_fail(ps, "%s takes an array and offsets, not %u arrays", ir_kind_name(a->kind), a->input.n);
    if (a->kind == IR_SEGMENT_OF && a->rank != 1)
        return parser_fail(ps, "expected one extent: segment_of is of rank 1");
    if (folds && a->seed.n && a->seed.n != ir_info(p, input[0])->components)
        return parser_fail(ps, "%u initial values, but %u components", a->seed.n,
                           (unsigned)ir_info(p, input[0])->components);
    switch (a->kind) {
    case IR_INPUT:
        return build_input(ps, a);
    case IR_GENERATE:
        return ir_generate(p, a->site, a->rank, a->shape, a->fn);
    case IR_MAP:
        return ir_map(p, a->site, a->input.n, input, a->fn, a->flags);
    case IR_BACKPERMUTE:
        if (ps->doubtful && a->flags & IR_SAFE && !is_safe(ps, a))
            return ir_backpermute(p, a->site, a->rank, a->shape, a->fn, input[0], a->flags & ~(unsigned)IR_SAFE);
        return ir_backpermute(p, a->site, a->rank, a->shape, a->fn, input[0], a->flags);
    case IR_RESHAPE:
        return (a->flags & IR_SOURCE ? ir_reshape_along : ir_reshape)(p, a->site, a->rank, a->shape, input[0]);
    case IR_FOLD:
        return ir_fold(p, a->site, a->fn, a->seed.at, input[0], a->flags);
    case IR_FOLD_SEG:
        return ir_fold_seg(p, a->site, a->fn, a->seed.at, input[0], input[1], a->flags);
    case IR_SCAN_SEG:
        return ir_scan_seg(p, a->site, a->fn, a->seed.at, input[0], input[1], a->flags);
    case IR_SEGMENT_OF:
        return ir_segment_of(p, a->site, a->shape[0], input[0]);
    case IR_SCAN:
        return ir_scan_along(p, a->site, a->fn, a->seed.at, input[0], (unsigned)a->behind, a->flags);
    case IR_PACK:
        return build_pack(ps, a);
    case IR_SORT:
        return ir_sort(p, a->site, (uint32_t)a->keys, a->fn, input[0], a->flags);
    case IR_PERMUTE:
        return a->input.n == 3 ? ir_permute(p, a->site, a->fn, input[0], input[1], input[2])
                               : parser_fail(ps, "permute takes three arrays, not %u", a->input.n);
    case IR_STENCIL:
        return ir_stencil_new(p, a->site, a->fn, a->input.n, input, a->stencil.at);
    case IR_FORCE:
        return ir_force(p, a->site, input[0]);
    case IR_CONTROL:
        return ir_control_new(p, a->site, &a->control, a->input.n, input);
    case IR_PART:
        return ir_part(p, a->site, input[0], a->number, a->rank, a->shape, a->flags);
    default:
        return 0;
    }
}

static ir_kind array_word(const parser *ps)
{
    for (unsigned k = IR_INPUT; k < IR_KIND_COUNT; k++)
        if (parser_is(ps, ir_kind_name((ir_kind)k)))
            return (ir_kind)k;
    return IR_NONE;
}

static bool parse_array(parser *ps, token name, const char *label)
{
    parts a = {.kind = array_word(ps)};
    const char *word = ir_kind_name(a.kind);
    if (a.kind == IR_NONE)
        return parser_fail(ps, "expected an array operation");
    parser_next(ps);
    if (!parse_parts(ps, &a))
        return false;
    ir_id id = build(ps, &a);
    if (!id)
        return parser_built(ps) && parser_fail(ps, "expected an array");
    if (a.flags & IR_FUSED)
        ir_fuse(ps->p, id);
    if (a.kind == IR_GENERATE || a.kind == IR_MAP)
        ps->p->node.at[id].flags |= a.flags & IR_ALONG;
    if (a.flags & IR_STEP)
        ir_mark_step(ps->p, id);
    if (a.kind == IR_INPUT)
        ps->p->node.at[id].site = a.site;
    ps->p->node.at[id].u.info->name = label ? label : word;
    parser_declare(ps, name, id);
    return true;
}

static bool parse_definition(parser *ps)
{
    token name = ps->token;
    parser before = *ps;
    const char *label = NULL;
    if (text_reserved(name.at, name.n))
        return parser_fail(ps, "expected a name");
    parser_next(ps);
    if (!parser_expect(ps, "="))
        return false;
    bool labelled = parser_before(ps, ':');
    if (labelled && ps->token.kind == TOKEN_STRING) {
        label = parser_string(ps);
    } else if (labelled && ps->token.kind == TOKEN_WORD) {
        label = arena_printf(ps->arena, "%.*s", (int)ps->token.n, ps->token.at);
        parser_next(ps);
    }
    if (label)
        return parser_expect(ps, ":") && parse_array(ps, name, label);
    if (array_word(ps) != IR_NONE)
        return parse_array(ps, name, NULL);
    *ps = before;
    return parse_let(ps);
}

/* The conditions written down come first; what the operations ask for besides is kept behind. */
static void join_checks(parser *ps)
{
    ir_program *p = ps->p;
    map64 written = {0};
    for (uint32_t k = 0; k < ps->check.n; k++) {
        uint64_t l = ps->check.at[k].left, r = ps->check.at[k].right;
        map64_put(ps->arena, &written, l < r ? l << 32 | r : r << 32 | l, 1);
    }
    for (uint32_t k = 0; k < p->check.n; k++) {
        uint64_t l = p->check.at[k].left, r = p->check.at[k].right;
        if (!map64_get(&written, l < r ? l << 32 | r : r << 32 | l))
            vec_push(ps->arena, &ps->check, p->check.at[k]);
    }
    for (uint32_t k = 0; k < ps->check.n; k++) { /* so that nobody asks for them again */
        uint64_t l = ps->check.at[k].left, r = ps->check.at[k].right;
        map64_put(p->arena, &p->state->checks, l < r ? l << 32 | r : r << 32 | l, 1);
    }
    p->check.n = 0;
    for (uint32_t k = 0; k < ps->check.n; k++)
        vec_push(p->arena, &p->check, ps->check.at[k]);
}

static bool parse_statement(parser *ps)
{
    if (parser_accept(ps, "site"))
        return parse_site_line(ps);
    if (parser_accept(ps, "signature")) {
        ps->p->signature = parser_string(ps);
        return ps->p->signature != NULL;
    }
    if (parser_accept(ps, "extents"))
        return parse_extents(ps);
    if (parser_accept(ps, "check"))
        return parse_check(ps);
    if (parser_accept(ps, "output"))
        return parse_output(ps);
    if (ps->token.kind != TOKEN_WORD)
        return parser_fail(ps, "expected a statement");
    return parse_definition(ps);
}

static ir_program *parse(arena *a, const char *source, bool doubtful, const char **message)
{
    parser ps = {.p = ir_program_new(a), .arena = a, .at = source, .line_at = source, .line = 1, .doubtful = doubtful};
    *message = NULL;
    parser_next(&ps);
    ps.before = ps.token;
    while (!ps.message && ps.token.kind != TOKEN_END)
        if (parse_statement(&ps))
            parser_built(&ps);
        else if (parser_built(&ps))
            parser_fail(&ps, "expected a statement");
    if (!ps.message)
        join_checks(&ps);
    *message = ps.message;
    return ps.message ? NULL : ps.p;
}

ir_program *ir_parse(arena *a, const char *source, const char **message)
{
    return parse(a, source, false, message);
}

ir_program *ir_parse_doubtful(arena *a, const char *source, const char **message)
{
    return parse(a, source, true, message);
}
