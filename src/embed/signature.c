/* Reads signatures, by recursive descent; tuples and structs may be nested MOST_DEPTH deep. */
#include "embed/signature.h"

typedef struct reader {
    const op *o;
    const char *source, *at;
    bool failed;
} reader;

/* The part of the signature around a place, on a line of its own; what would steer a terminal becomes a blank. Returns
 * the column of the place. */
static int show(const reader *r, const char *where, text *t)
{
    enum { MOST = 120, BEFORE = 80 };
    size_t length = strlen(r->source), at = (size_t)(where - r->source);
    size_t begin = length > MOST && at > BEFORE ? at - BEFORE : 0, end = length - begin > MOST ? begin + MOST : length;
    text_printf(t, "\n    %s", begin ? "..." : "");
    for (const char *c = r->source + begin; c < r->source + end; c++)
        text_add_n(t, (unsigned char)*c < ' ' || *c == 0x7f ? " " : c, 1);
    text_add(t, end < length ? "..." : "");
    return (int)(at - begin) + (begin ? 3 : 0);
}

/* The message, the signature, and a caret below the character at `where`. Only the first mistake is reported. */
static void SN_PRINTF(3, 4) complain(reader *r, const char *where, const char *format, ...)
{
    if (r->failed)
        return;
    r->failed = true;
    text t;
    text_init(&t, r->o->b->arena);
    va_list args;
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    int column = show(r, where, &t);
    text_printf(&t, "\n    %*s^", column, "");
    op_fail(r->o, "%s", t.at);
}

static void skip_spaces(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

static bool accept(reader *r, const char *token)
{
    skip_spaces(r);
    size_t n = strlen(token);
    if (r->failed || strncmp(r->at, token, n) != 0)
        return false;
    r->at += n;
    return true;
}

static void expect(reader *r, const char *token, const char *after)
{
    if (!accept(r, token))
        complain(r, r->at, "signature: expected '%s' %s", token, after);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t word(reader *r) /* length of the name at r->at */
{
    size_t n = 0;
    skip_spaces(r);
    while (is_letter(r->at[n]) || (n && is_digit(r->at[n])))
        n++;
    return n;
}

static void read_number(reader *r, int64_t *out)
{
    const char *from = r->at;
    for (*out = 0; is_digit(*r->at); r->at++)
        if (__builtin_mul_overflow(*out, (int64_t)10, out) ||
            __builtin_add_overflow(*out, (int64_t)(*r->at - '0'), out)) {
            complain(r, from, "signature: the extent exceeds 64 bits");
            return;
        }
    if (is_letter(*r->at))
        complain(r, r->at, "signature: an extent is a name or a number");
}

static void read_extents(reader *r, signature_port *port)
{
    if (!accept(r, "["))
        return;
    do {
        size_t n = word(r);
        if (port->rank == IR_MAX_RANK) {
            complain(r, r->at, "signature: rank %d is the largest possible", IR_MAX_RANK);
            return;
        }
        if (n) {
            char *name = arena_alloc(r->o->b->arena, n + 1);
            memcpy(name, r->at, n);
            port->name[port->rank] = name;
            r->at += n;
        } else if (is_digit(*r->at)) {
            read_number(r, &port->constant[port->rank]);
        } else {
            complain(r, r->at, "signature: expected an extent, a name or a number");
        }
        port->rank++;
    } while (accept(r, ","));
    expect(r, "]", "after the extents");
}

static const tree *read_element(reader *r, signature_port *port, unsigned depth);

static bool too_large(reader *r, const signature_port *port, unsigned depth, const char *from)
{
    if (depth == MOST_DEPTH)
        complain(r, from, "signature: tuples nested more than %d deep", MOST_DEPTH);
    else if (port->type.n > IR_MAX_COMPONENTS)
        complain(r, from, "signature: a tuple of %u components; %d is the largest possible", port->type.n,
                 IR_MAX_COMPONENTS);
    return r->failed;
}

static const tree *read_tuple(reader *r, signature_port *port, unsigned depth)
{
    VEC(const tree *) child = {0};
    const char *from = r->at - 1;
    if (too_large(r, port, depth, from))
        return NULL;
    do {
        vec_push(r->o->b->arena, &child, read_element(r, port, depth + 1));
    } while (accept(r, ","));
    expect(r, ")", "after the components of a tuple");
    if (!r->failed && child.n < 2)
        complain(r, from, "signature: a tuple has at least two components");
    return r->failed || too_large(r, port, depth, from) ? NULL : tree_tuple(r->o, child.n, child.at);
}

static const char *read_name(reader *r)
{
    size_t n = word(r);
    if (!n)
        complain(r, r->at, "signature: expected the name of a field");
    char *name = arena_alloc(r->o->b->arena, n + 1);
    memcpy(name, r->at, n);
    r->at += n;
    return name;
}

static const tree *read_struct(reader *r, signature_port *port, unsigned depth)
{
    VEC(const tree *) child = {0};
    VEC(const char *) name = {0};
    const char *from = r->at - 1;
    if (too_large(r, port, depth, from))
        return NULL;
    do {
        const char *field = read_name(r);
        for (uint32_t i = 0; i < name.n; i++)
            if (!strcmp(name.at[i], field))
                complain(r, r->at - strlen(field), "signature: two fields are named %s", field);
        expect(r, ":", "after the name of a field");
        vec_push(r->o->b->arena, &name, field);
        vec_push(r->o->b->arena, &child, r->failed ? NULL : read_element(r, port, depth + 1));
    } while (accept(r, ","));
    expect(r, "}", "after the fields of a struct");
    return r->failed || too_large(r, port, depth, from) ? NULL : tree_struct(r->o, child.n, child.at, name.at);
}

static const tree *read_element(reader *r, signature_port *port, unsigned depth)
{
    if (accept(r, "("))
        return read_tuple(r, port, depth);
    if (accept(r, "{"))
        return read_struct(r, port, depth);
    size_t n = word(r);
    ir_type type = ir_type_named(r->at, n);
    if (n == 0)
        complain(r, r->at, "signature: expected a type");
    else if (type == T_NONE)
        complain(r, r->at, "signature: there is no type %.*s; bool, i8 to i64, u8 to u64, f32, f64 and char are",
                 (int)n, r->at);
    r->at += n;
    vec_push(r->o->b->arena, &port->type, type);
    return tree_leaf(r->o->b);
}

static const char *port_text(const op *o, const signature_port *port)
{
    text t;
    text_init(&t, o->b->arena);
    for (unsigned d = 0; d < port->rank; d++) {
        text_add(&t, d ? "," : "[");
        if (port->name[d])
            text_add(&t, port->name[d]);
        else
            text_printf(&t, "%lld", (long long)port->constant[d]);
    }
    text_add(&t, port->rank ? "]" : "");
    tree_text(&t, port->tree, port->type.at);
    return t.at;
}

static void read_ports(reader *r, signature_ports *out)
{
    do {
        signature_port port = {0};
        read_extents(r, &port);
        port.tree = r->failed ? NULL : read_element(r, &port, 0);
        if (r->failed)
            return;
        port.text = port_text(r->o, &port);
        vec_push(r->o->b->arena, out, port);
    } while (accept(r, ","));
}

bool signature_parse(const op *o, const char *source, signature *out)
{
    reader r = {.o = o, .source = source, .at = source};
    *out = (signature){0};
    if (!source)
        return op_fail(o, "signature: there is none");
    if (!accept(&r, "->")) {
        read_ports(&r, &out->param);
        expect(&r, "->", "between the parameters and the results");
    }
    if (!r.failed)
        read_ports(&r, &out->result);
    skip_spaces(&r);
    if (*r.at)
        complain(&r, r.at, "signature: expected ',' or the end");
    return !r.failed;
}
