/* Programs from texts: what a signature says besides the terms, and what terms of a user's are besides well-formed. */
#include "embed/build.h"
#include "embed/signature.h"

/* --- the signature --- */

void embed_print_signature(const embed_result *info, text *out)
{
    text t; /* it has no quotes or backslashes */
    text_init(&t, out->arena);
    for (uint32_t i = 0; i < info->params; i++)
        text_printf(&t, "%s%s", i ? ", " : "", info->param[i].text);
    text_add(&t, info->params ? " -> " : "-> ");
    for (uint32_t i = 0; i < info->results; i++)
        text_printf(&t, "%s%s", i ? ", " : "", info->result[i].text);
    text_printf(out, "signature \"%s\"\n", t.at);
}

static bool is_parameter(const op *o, ir_id input)
{
    return !ir_info(o->p, input)->data;
}

static void add_types(const ir_array *a, text *t)
{
    for (uint32_t c = 0; c < a->components; c++)
        text_printf(t, "%s%s", c ? ", " : a->components > 1 ? "(" : "", ir_type_name(a->type[c]));
    text_add(t, a->components > 1 ? ")" : "");
}

/* A name that no extent has. */
static const char *new_name(const op *o, uint32_t number)
{
    for (uint32_t more = 0;; more++) {
        const char *name = arena_printf(o->b->arena, "r%u_%u", number, more);
        bool taken = false;
        for (uint32_t k = 0; k < o->p->dim.n; k++)
            taken |= strcmp(o->p->dim.at[k], name) == 0;
        if (!taken)
            return name;
    }
}

static void add_extents(const op *o, const ir_array *a, uint32_t *number, text *t)
{
    int64_t constant;
    for (unsigned d = 0; d < a->rank; d++) {
        const ir_node *e = ir_at(o->p, a->shape[d]);
        text_add(t, d ? "," : "[");
        if (ir_extent_constant(o->p, a->shape[d], &constant))
            text_printf(t, "%lld", (long long)constant);
        else if (e->kind == IR_DIM)
            text_add(t, o->p->dim.at[e->u.literal]);
        else
            text_add(t, new_name(o, (*number)++));
    }
    text_add(t, a->rank ? "]" : "");
}

/* What the terms are, for a text that does not say. */
static const char *derived_signature(const op *o)
{
    text t;
    uint32_t number = 0;
    const char *comma = "";
    text_init(&t, o->b->arena);
    for (uint32_t i = 0; i < o->p->input.n; i++) {
        const ir_array *a = ir_info(o->p, o->p->input.at[i]);
        if (!is_parameter(o, o->p->input.at[i]))
            continue;
        text_add(&t, comma);
        add_extents(o, a, &number, &t);
        add_types(a, &t);
        comma = ", ";
    }
    text_add(&t, " -> ");
    for (uint32_t i = 0; i < o->p->output.n; i++) {
        const ir_array *a = ir_info(o->p, o->p->output.at[i]);
        text_add(&t, i ? ", " : "");
        add_extents(o, a, &number, &t);
        add_types(a, &t);
    }
    return t.at;
}

/* --- parameters --- */

static bool same_extent(const op *o, const signature_port *s, unsigned d, ir_id extent)
{
    const ir_node *e = ir_at(o->p, extent);
    int64_t constant;
    if (s->name[d])
        return e->kind == IR_DIM && !ir_number_of(o->p, (uint32_t)e->u.literal, &constant) &&
               strcmp(o->p->dim.at[e->u.literal], s->name[d]) == 0;
    return ir_extent_constant(o->p, extent, &constant) && constant == s->constant[d];
}

static bool same_port(const op *o, const signature_port *s, const ir_array *a)
{
    bool same = s->rank == a->rank && s->type.n == a->components;
    for (uint32_t c = 0; c < s->type.n && same; c++)
        same = s->type.at[c] == a->type[c];
    for (unsigned d = 0; d < s->rank && same; d++)
        same = same_extent(o, s, d, a->shape[d]);
    return same;
}

static void add_constant(const op *o, ir_id input, embed_result *info)
{
    const ir_array *a = ir_info(o->p, input);
    size_t elements = ir_data_elements(o->p, a);
    embed_constant c = {.type = a->type[0], .rank = a->rank, .data = a->data, .array = input};
    for (unsigned d = 0; d < a->rank; d++)
        ir_extent_constant(o->p, a->shape[d], &c.extent[d]);
    c.bytes = elements * ir_type_size(a->type[0]);
    vec_push(o->b->arena, &info->constant, c);
}

static void describe_inputs(const op *o, const signature *s, embed_result *info)
{
    info->param = arena_array(o->b->arena, *info->param, s->param.n + 1);
    for (uint32_t i = 0; i < o->p->input.n; i++) {
        ir_id input = o->p->input.at[i];
        const ir_array *a = ir_info(o->p, input);
        if (!is_parameter(o, input)) {
            add_constant(o, input, info);
            continue;
        }
        if (info->params == s->param.n || !same_port(o, &s->param.at[info->params], a)) {
            op_fail(o, "input %u is not parameter %u of the signature; they have one order, type and shape", i + 1,
                    info->params + 1);
            return;
        }
        embed_port *port = &info->param[info->params];
        *port = (embed_port){.rank = a->rank, .components = a->components, .type = a->type, .shape = a->shape};
        port->text = s->param.at[info->params].text;
        embed_set_layout(o, &s->param.at[info->params++], port);
    }
    if (info->params != s->param.n)
        op_fail(o, "%u inputs, but the signature has %u parameters; write one for each", info->params, s->param.n);
}

static void describe_outputs(const op *o, const signature *s, embed_result *info)
{
    const value **part = arena_array(o->b->arena, *part, o->p->output.n + 1);
    for (uint32_t i = 0; i < o->p->output.n; i++) {
        value *v = arena_new(o->b->arena, *v);
        *v = (value){.kind = VALUE_ARRAY, .array = o->p->output.at[i]};
        uint32_t components = ir_info(o->p, v->array)->components;
        bool fits = i < s->result.n && s->result.at[i].tree->leaves == components;
        v->tree = fits ? s->result.at[i].tree : tree_flat(o->b, components);
        part[i] = v;
    }
    embed_describe_results(o, o->p->output.n, part, s, info);
}

/* --- what the builders of terms leave open, as functions in C cannot get it wrong --- */

/* Every extent that has a name is one of a parameter, which gives it its value, or stands for a number. */
static void check_names(const op *o, const embed_result *info)
{
    bool *given = arena_alloc(o->b->arena, o->p->dim.n + 1);
    for (uint32_t i = 0; i < info->params; i++)
        for (unsigned d = 0; d < info->param[i].rank; d++) {
            const ir_node *e = ir_at(o->p, info->param[i].shape[d]);
            if (e->kind == IR_DIM)
                given[e->u.literal] = true;
        }
    for (uint32_t i = 0; i < o->p->number.n; i++)
        given[o->p->number.at[i].dim] = true;
    for (uint32_t k = 0; k < o->p->dim.n; k++)
        if (!given[k])
            op_fail(o, "the extent \"%s\" is of no parameter; name those of the signature", o->p->dim.at[k]);
}

static void check_extents(const op *o)
{
    for (ir_id id = 1; id < o->p->node.n; id++)
        for (unsigned d = 0; ir_is_array(o->p, id) && d < ir_info(o->p, id)->rank; d++)
            if (!op_check_extent(o, ir_info(o->p, id)->shape[d]))
                return;
    for (uint32_t k = 0; k < o->p->check.n; k++)
        if (!op_check_extent(o, o->p->check.at[k].left) || !op_check_extent(o, o->p->check.at[k].right))
            return;
}

static void describe(const op *o, embed_result *info)
{
    signature s;
    if (!o->p->output.n) {
        op_fail(o, "there is no output; a program ends with one, as in output a");
        return;
    }
    if (!signature_parse(o, o->p->signature ? o->p->signature : derived_signature(o), &s)) {
        info->bad_signature = true;
        return;
    }
    describe_inputs(o, &s, info);
    check_extents(o);
    if (!o->p->error.n)
        check_names(o, info);
    if (!o->p->error.n)
        describe_outputs(o, &s, info);
}

ir_program *embed_parse(arena *a, sn_site at, const char *source, bool plain, embed_result *info, const char **message)
{
    jmp_buf *const outer = a->failure;
    jmp_buf out_of_memory;
    build_mark mark;
    build *volatile entered = NULL;
    ir_program *volatile program = NULL;
    op o;
    *info = (embed_result){0};
    *message = NULL;
    arena_on_failure(a, &out_of_memory);
    if (setjmp(out_of_memory) == 0) {
        ir_program *parsed = ir_parse_doubtful(a, source, message);
        if (parsed) {
            parsed->plain = plain;
            build *b = arena_new(a, *b);
            *b = (build){.arena = a, .program = parsed, .constants = &info->constant};
            build_enter(b, (uintptr_t)__builtin_frame_address(0), &mark);
            entered = b;
            if (op_start(&o, at, "parse_program"))
                describe(&o, info);
            program = parsed;
        }
    }
    if (entered)
        build_leave(entered);
    arena_on_failure(a, outer);
    return program;
}
