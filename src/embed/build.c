/* One build from signature to program: inputs, the user's function, its results against the signature. */
#include "embed/build.h"
#include "embed/signature.h"

/* --- the functions that sn_compile takes --- */

enum { LISTED = 1 /* parameters come as a list, with an environment before them */ };

typedef sn_acc body0(void), body1(sn_acc), body2(sn_acc, sn_acc), body3(sn_acc, sn_acc, sn_acc),
    body4(sn_acc, sn_acc, sn_acc, sn_acc), body5(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc),
    body6(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc, sn_acc), body_env(void *, int, const sn_acc *);

sn_body sn_body_0(body0 *f)
{
    return (sn_body){.call = (void (*)(void))f, .parameters = 0};
}

sn_body sn_body_1(body1 *f)
{
    return (sn_body){.call = (void (*)(void))f, .parameters = 1};
}

sn_body sn_body_2(body2 *f)
{
    return (sn_body){.call = (void (*)(void))f, .parameters = 2};
}

sn_body sn_body_3(body3 *f)
{
    return (sn_body){.call = (void (*)(void))f, .parameters = 3};
}

sn_body sn_body_4(body4 *f)
{
    return (sn_body){.call = (void (*)(void))f, .parameters = 4};
}

sn_body sn_body_5(body5 *f)
{
    return (sn_body){.call = (void (*)(void))f, .parameters = 5};
}

sn_body sn_body_6(body6 *f)
{
    return (sn_body){.call = (void (*)(void))f, .parameters = 6};
}

sn_body sn_body_of(body_env *f, void *env, int parameters)
{
    return (sn_body){.call = (void (*)(void))f, .env = env, .parameters = parameters, .flags = LISTED};
}

sn_body sn_body_env(body_env *f, void *env)
{
    return sn_body_of(f, env, -1);
}

sn_body sn_body_same(sn_body f)
{
    return f;
}

sn_acc embed_run_body(sn_body f, uint32_t n, const sn_acc *a)
{
    if (f.flags & LISTED)
        return ((body_env *)f.call)(f.env, (int)n, a);
    switch (f.parameters) {
    case 0:
        return ((body0 *)f.call)();
    case 1:
        return ((body1 *)f.call)(a[0]);
    case 2:
        return ((body2 *)f.call)(a[0], a[1]);
    case 3:
        return ((body3 *)f.call)(a[0], a[1], a[2]);
    case 4:
        return ((body4 *)f.call)(a[0], a[1], a[2], a[3]);
    case 5:
        return ((body5 *)f.call)(a[0], a[1], a[2], a[3], a[4]);
    case 6:
        return ((body6 *)f.call)(a[0], a[1], a[2], a[3], a[4], a[5]);
    default:
        return (sn_acc){0};
    }
}

/* --- parameters --- */

void embed_set_layout(const op *o, const signature_port *s, embed_port *port)
{
    size_t *offset = arena_array(o->b->arena, *offset, s->tree->leaves + 1);
    port->tuple = !s->tree->leaf;
    port->bytes = tree_layout(s->tree, s->type.at, offset);
    port->offset = offset;
}

static sn_acc make_input(const op *o, const signature_port *s, embed_port *port)
{
    ir_id *shape = arena_array(o->b->arena, *shape, s->rank + 1);
    for (unsigned d = 0; d < s->rank; d++)
        shape[d] = s->name[d] ? ir_dim(o->p, s->name[d]) : ir_i64(o->p, s->constant[d]);
    *port = (embed_port){.rank = (uint8_t)s->rank, .components = (uint8_t)s->type.n, .text = s->text};
    port->type = s->type.at;
    port->shape = shape;
    embed_set_layout(o, s, port);
    return op_give_array(o, s->tree, ir_input(o->p, s->type.n, s->type.at, s->rank, shape));
}

/* --- results --- */

/* What the extents named in the signature stand for: those of parameters are known, others are met in results. */
typedef struct names {
    VEC(const char *) name;
    VEC(ir_id) extent;
} names;

static ir_id *find_name(const op *o, names *known, const char *name)
{
    for (uint32_t i = 0; i < known->name.n; i++)
        if (strcmp(known->name.at[i], name) == 0)
            return &known->extent.at[i];
    vec_push(o->b->arena, &known->name, name);
    vec_push(o->b->arena, &known->extent, 0);
    return &known->extent.at[known->extent.n - 1];
}

static void name_dims(const op *o, names *known)
{
    for (uint32_t k = 0; k < o->p->dim.n; k++)
        *find_name(o, known, o->p->dim.at[k]) = ir_dim(o->p, o->p->dim.at[k]);
}

static bool same_element(const op *o, const signature_port *s, const value *v)
{
    const ir_type *type = value_types(o, v);
    bool same = tree_equal(s->tree, v->tree);
    for (uint32_t i = 0; same && i < s->type.n; i++)
        same = s->type.at[i] == type[i];
    return same;
}

static void check_result(const op *o, uint32_t number, const signature_port *s, const value *v, names *known)
{
    const ir_array *a = ir_info(o->p, v->array);
    if (!same_element(o, s, v) || a->rank != s->rank) {
        op_fail(o, "result %u is %s, but the signature has %s; change the signature, or convert the result", number,
                value_text(o, v), s->text);
        return;
    }
    for (unsigned d = 0; d < s->rank; d++) {
        ir_id *bound = s->name[d] ? find_name(o, known, s->name[d]) : NULL;
        if (bound && !*bound) {
            *bound = a->shape[d];
            continue;
        }
        ir_id wanted = bound ? *bound : ir_i64(o->p, s->constant[d]);
        const char *what =
            arena_printf(o->b->arena, "%s: result %u is %s, but the signature has %s: extents of dimension %u", o->name,
                         number, value_text(o, v), s->text, d);
        ir_check_equal(o->p, o->site, a->shape[d], wanted, what);
    }
}

void embed_describe_results(const op *o, uint32_t n, const value *const *part, const signature *s, embed_result *info)
{
    names known = {0};
    if (n != s->result.n) {
        op_fail(o, "the function returns %u result%s, but the signature has %u; sn_results(a, b) returns several", n,
                n == 1 ? "" : "s", s->result.n);
        return;
    }
    name_dims(o, &known);
    info->result = arena_array(o->b->arena, *info->result, n);
    info->results = n;
    for (uint32_t i = 0; i < n; i++) {
        const ir_array *a = ir_info(o->p, part[i]->array);
        check_result(o, i + 1, &s->result.at[i], part[i], &known);
        info->result[i] = (embed_port){.rank = a->rank,
                                       .components = a->components,
                                       .type = a->type,
                                       .shape = a->shape,
                                       .text = s->result.at[i].text};
        embed_set_layout(o, &s->result.at[i], &info->result[i]);
    }
}

static void take_results(const op *o, sn_acc returned, const signature *s, embed_result *info)
{
    const value *v = op_take(o, returned.bits, "what the function returns"), *const *part = &v;
    uint32_t n = 1;
    if (!v)
        return;
    if (v->kind == VALUE_RESULTS) {
        part = v->part;
        n = v->n;
    } else if (v->kind != VALUE_ARRAY) {
        op_take_array(o, returned); /* reports it */
        return;
    }
    embed_describe_results(o, n, part, s, info);
    for (uint32_t i = 0; i < info->results; i++)
        ir_output(o->p, part[i]->array);
}

/* --- the whole --- */

static void build_program(build *b, sn_site at, const char *source, sn_body body, embed_result *info)
{
    op o;
    signature s;
    if (!op_start(&o, at, "compile"))
        return;
    if (!signature_parse(&o, source, &s)) {
        info->bad_signature = true;
        return;
    }
    if (!body.call) {
        op_fail(&o, "the function is NULL; sn_compile takes a function of arrays");
        return;
    }
    if (body.parameters >= 0 && (uint32_t)body.parameters != s.param.n) {
        op_fail(&o, "the function has %d parameter%s, but the signature %u; it takes one array for each",
                body.parameters, body.parameters == 1 ? "" : "s", s.param.n);
        return;
    }
    info->params = s.param.n;
    info->param = arena_array(b->arena, *info->param, s.param.n + 1);
    sn_acc *in = arena_array(b->arena, *in, s.param.n + 1);
    for (uint32_t i = 0; i < s.param.n; i++)
        in[i] = make_input(&o, &s.param.at[i], &info->param[i]);
    if (o.p->error.n)
        return; /* extents whose product overflows */
    sn_acc returned = embed_run_body(body, s.param.n, in);
    b->at = at;
    take_results(&o, returned, &s, info);
    vec_free(b->arena, &s.param);
}

ir_program *embed_build_as(arena *a, sn_site at, const char *source, sn_body body, bool plain, const embed_owner *owner,
                           embed_result *info)
{
    jmp_buf *const outer = a->failure;
    jmp_buf out_of_memory;
    build_mark mark;
    build *volatile entered = NULL;
    ir_program *volatile program = NULL;
    *info = (embed_result){0};
    arena_on_failure(a, &out_of_memory);
    if (setjmp(out_of_memory) == 0) {
        build *b = arena_new(a, *b);
        *b = (build){.arena = a, .constants = &info->constant, .owner = owner};
        b->program = ir_program_new(a);
        b->program->plain = plain;
        build_enter(b, (uintptr_t)__builtin_frame_address(0), &mark);
        entered = b;
        build_program(b, at, source, body, info);
        program = b->program;
        arena_sweep(a);
        vec_free(a, &b->value);
        vec_free(a, &b->scope);
        map64_free(a, &b->extents);
    }
    if (entered)
        build_leave(entered);
    arena_on_failure(a, outer);
    return program;
}

ir_program *embed_build(arena *a, sn_site at, const char *source, sn_body body, embed_result *info)
{
    return embed_build_as(a, at, source, body, false, NULL, info);
}

/* --- messages --- */

enum { MOST_MESSAGES = 50 };

static void write(const ir_program *p, const ir_error *said, text *out)
{
    const ir_site *site = &p->site.at[said->site];
    if (site->file)
        text_printf(out, "%s:%u: ", site->file, (unsigned)site->line);
    text_add(out, said->message);
}

void embed_messages(const ir_program *p, text *out)
{
    for (uint32_t i = 0; i < p->error.n; i++) {
        if (i == MOST_MESSAGES) {
            text_printf(out, "and %u more\n", p->error.n - i);
            return;
        }
        write(p, &p->error.at[i], out);
        text_add(out, "\n");
    }
}

void embed_warning(const ir_program *p, uint32_t which, text *out)
{
    write(p, &p->warning.at[which], out);
}
