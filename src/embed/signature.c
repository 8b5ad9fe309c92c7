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

/* --- what was probably meant --- */

/* The type that goes by this name elsewhere, or is written so but for capitals; NULL: none. */
static const char *type_meant(const char *name, size_t n)
{
    static const char *const known[][2] = {
        {"float", "f32"},   {"double", "f64"},   {"float32", "f32"},  {"float64", "f64"},   {"real", "f32"},
        {"int", "i32"},     {"long", "i64"},     {"short", "i16"},    {"signed", "i32"},    {"unsigned", "u32"},
        {"uint", "u32"},    {"size_t", "u64"},   {"ssize_t", "i64"},  {"ptrdiff_t", "i64"}, {"int8", "i8"},
        {"int16", "i16"},   {"int32", "i32"},    {"int64", "i64"},    {"uint8", "u8"},      {"uint16", "u16"},
        {"uint32", "u32"},  {"uint64", "u64"},   {"int8_t", "i8"},    {"int16_t", "i16"},   {"int32_t", "i32"},
        {"int64_t", "i64"}, {"uint8_t", "u8"},   {"uint16_t", "u16"}, {"uint32_t", "u32"},  {"uint64_t", "u64"},
        {"byte", "u8"},     {"boolean", "bool"}, {"_Bool", "bool"},   {"char32_t", "char"}, {"wchar_t", "char"}};
    char small[16] = "";
    if (n >= sizeof small)
        return NULL;
    for (size_t i = 0; i < n; i++)
        small[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (!strcmp(known[i][0], small) || (strlen(known[i][0]) == n && !memcmp(known[i][0], name, n)))
            return known[i][1];
    ir_type type = ir_type_named(small, n);
    return type == T_NONE ? NULL : ir_type_name(type);
}

/* The last character in front of the place that is no blank; 0: there is none. */
static char before(const reader *r)
{
    for (const char *c = r->at; c > r->source;)
        if (!strchr(" \t\n\r", *--c))
            return *c;
    return 0;
}

static char behind(const reader *r, size_t n)
{
    const char *c = r->at + n;
    return c[strspn(c, " \t\n\r")];
}

static bool at_arrow(const reader *r)
{
    return r->at[0] == '-' && r->at[1] == '>';
}

#define EXAMPLE "\"[n]f32, f32 -> [n]f32\""

/* There is no type where one is expected. */
static void no_type(reader *r, unsigned depth)
{
    const char last = before(r);
    if (!last)
        complain(r, r->at, "signature: expected a type: a signature is parameters -> results, as in " EXAMPLE);
    else if (*r->at == '[' && depth)
        complain(r, r->at, "signature: expected a type: extents stand in front of the whole tuple, [n](f32, i32)");
    else if (*r->at == '[')
        complain(r, r->at, "signature: expected a type: one array has one pair of brackets, [n,m]f32");
    else if (last == ']')
        complain(r, r->at, "signature: expected a type: that of the elements is missing behind the extents, [n]f32");
    else if (last == '(' && *r->at == ')')
        complain(r, r->at, "signature: expected a type: without parameters a signature begins with ->");
    else if (last == ',')
        complain(r, r->at, "signature: expected a type behind ',', which separates parameters, results and components");
    else if (last == '>')
        complain(r, r->at, "signature: expected a type: that of the results stands behind ->, as in " EXAMPLE);
    else
        complain(r, r->at, "signature: expected a type: bool, i8 to i64, u8 to u64, f32, f64 or char");
}

/* There is none of this name. */
static void wrong_type(reader *r, size_t n)
{
    const char *type = type_meant(r->at, n);
    const int length = (int)n;
    if (type)
        complain(r, r->at, "signature: there is no type %.*s; write %s", length, r->at, type);
    else if (n == 4 && !memcmp(r->at, "void", 4))
        complain(r, r->at, "signature: there is no type void; without parameters a signature begins with ->");
    else if (behind(r, n) == ':')
        complain(r, r->at, "signature: there is no type %.*s; only fields have names, {x: f32}: write the type alone",
                 length, r->at);
    else
        complain(r, r->at, "signature: there is no type %.*s; bool, i8 to i64, u8 to u64, f32, f64 and char are",
                 length, r->at);
}

/* Extents behind a type: how they are written. */
static void misplaced_extents(reader *r, const signature_port *port, unsigned depth)
{
    const char *end = r->at + 1;
    while (is_letter(*end) || is_digit(*end) || *end == ',' || *end == ' ')
        end++;
    ir_type last = port->type.at[port->type.n - 1];
    if (depth)
        complain(r, r->at, "signature: extents stand in front of the whole tuple: [n](f32, i32)");
    else if (*end != ']' || end - r->at > 40 || port->type.n != 1)
        complain(r, r->at, "signature: extents stand in front: [n]f32");
    else
        complain(r, r->at, "signature: extents stand in front: %.*s]%s", (int)(end - r->at), r->at, ir_type_name(last));
}

/* What stands behind a type is not `token`. */
static void SN_PRINTF(4, 5) unexpected(reader *r, const signature_port *port, unsigned depth, const char *format, ...)
{
    const char c = *r->at;
    size_t n = word(r);
    if (c == '[' && port->type.n)
        misplaced_extents(r, port, depth);
    else if (c == '*' || c == '&')
        complain(r, r->at, "signature: an array is written [n]f32, without %c", c);
    else if (c == ';' || c == '|')
        complain(r, r->at, "signature: expected ',' between two types");
    else if (!depth && (c == '=' || c == '-' || c == '>' || c == ':' || (unsigned char)c == 0xe2) && !at_arrow(r))
        complain(r, r->at, "signature: expected the arrow between parameters and results, which is written ->");
    else if (!depth && n && ir_type_named(r->at, n) == T_NONE)
        complain(r, r->at, "signature: expected ',' or ->: only fields have names, {x: f32}; write the type alone");
    else {
        text t;
        text_init(&t, r->o->b->arena);
        va_list args;
        va_start(args, format);
        text_vprintf(&t, format, args);
        va_end(args);
        complain(r, r->at, "signature: %s", t.at);
    }
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
        complain(r, r->at, "signature: an extent is a name or a number, and names begin with a letter");
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
            complain(r, r->at,
                     "signature: expected an extent, a name or a number from 0 on; a single value has no brackets");
        }
        port->rank++;
    } while (accept(r, ","));
    if (accept(r, "]"))
        return;
    if (*r->at && strchr("+-*/%", *r->at))
        complain(r, r->at, "signature: an extent is a name or a number: what is computed gets a name of its own");
    else
        complain(r, r->at, "signature: expected ']' after the extents, as in [n,m]f32");
}

static const tree *read_element(reader *r, signature_port *port, unsigned depth);

static bool too_large(reader *r, const signature_port *port, unsigned depth, const char *from)
{
    if (depth == MOST_DEPTH)
        complain(r, from, "signature: tuples nested more than %d deep; write fewer parentheses", MOST_DEPTH);
    else if (port->type.n > IR_MAX_COMPONENTS)
        complain(r, from,
                 "signature: a tuple of %u components; %d is the largest possible, more are several parameters",
                 port->type.n, IR_MAX_COMPONENTS);
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
    if (!accept(r, ")"))
        unexpected(r, port, depth + 1, "expected ')' after the components of a tuple, as in (f32, i32)");
    if (!r->failed && child.n < 2)
        complain(r, from, "signature: a tuple has at least two components; a single value has no parentheses");
    return r->failed || too_large(r, port, depth, from) ? NULL : tree_tuple(r->o, child.n, child.at);
}

static const char *read_name(reader *r)
{
    size_t n = word(r);
    if (!n)
        complain(r, r->at,
                 "signature: expected the name of a field, which begins with a letter, as in {x: f32, y: f32}");
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
                complain(r, r->at - strlen(field), "signature: two fields are named %s; each has a name of its own",
                         field);
        if (!accept(r, ":"))
            complain(
                r, r->at,
                "signature: expected ':' after the name of a field, as in {x: f32, y: f32}; without names it is the "
                "tuple (f32, f32)");
        vec_push(r->o->b->arena, &name, field);
        vec_push(r->o->b->arena, &child, r->failed ? NULL : read_element(r, port, depth + 1));
    } while (accept(r, ","));
    if (!accept(r, "}"))
        unexpected(r, port, depth + 1, "expected '}' after the fields of a struct, as in {x: f32, y: f32}");
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
        no_type(r, depth);
    else if (type == T_NONE)
        wrong_type(r, n);
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
    return text_close(&t);
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

static const signature_port *last_port(const signature_ports *list)
{
    static const signature_port none;
    return list->n ? &list->at[list->n - 1] : &none;
}

bool signature_parse(const op *o, const char *source, signature *out)
{
    reader r = {.o = o, .source = source, .at = source};
    *out = (signature){0};
    if (!source)
        return op_fail(o, "signature: there is none (NULL); it is text, as in " EXAMPLE);
    if (!accept(&r, "->")) {
        read_ports(&r, &out->param);
        if (!accept(&r, "->") && !r.failed)
            unexpected(&r, last_port(&out->param), 0,
                       *r.at ? "expected '->' between the parameters and the results, or ','"
                             : "expected '->' between the parameters and the results, as in " EXAMPLE);
    }
    if (!r.failed)
        read_ports(&r, &out->result);
    skip_spaces(&r);
    if (*r.at && !r.failed)
        unexpected(&r, last_port(&out->result), 0,
                   at_arrow(&r) ? "there is one arrow; several results are separated by ','"
                                : "expected ',' or the end of the results");
    return !r.failed;
}
