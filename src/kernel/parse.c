/* Reads the text form of kernels (docs/text-forms.md). Types are written at definitions only; what they must be is left
 * to k_verify, so a kernel that parses is well-formed but not yet well-typed. */
#include "kernel/kernel.h"
#include "kernel/walk.h"

#include <errno.h>
#include <stdlib.h>

typedef struct {
    arena *arena;
    const char *at;
    uint32_t line;
    const char *message; /* of the first mistake; NULL: none so far */
    kernel *k;
    k_builder b;
    map64 value; /* number in the text to k_val */
    map64 mem;
} parser;

/* --- words --- */

static void SN_PRINTF(2, 3) fail(parser *p, const char *format, ...)
{
    text t;
    va_list args;
    if (p->message)
        return;
    text_init(&t, p->arena);
    text_printf(&t, "line %u: ", (unsigned)p->line);
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    p->message = t.at;
}

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_space(parser *p)
{
    for (;; p->at++) {
        if (*p->at == '#')
            while (*p->at && *p->at != '\n')
                p->at++;
        if (*p->at == '\n')
            p->line++;
        else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r')
            return;
    }
}

static size_t word_length(const char *s)
{
    size_t n = 0;
    while (word_char(s[n]))
        n++;
    return n;
}

/* Takes the word or mark if it comes next. */
static bool take(parser *p, const char *wanted)
{
    skip_space(p);
    size_t n = strlen(wanted);
    if (strncmp(p->at, wanted, n) != 0 || (word_char(wanted[n - 1]) && word_char(p->at[n])))
        return false;
    p->at += n;
    return true;
}

static void expect(parser *p, const char *wanted)
{
    if (!take(p, wanted))
        fail(p, "`%s` expected before `%.12s`", wanted, p->at);
}

static int64_t integer(parser *p)
{
    char *end;
    skip_space(p);
    errno = 0;
    bool negative = *p->at == '-';
    long long v = negative ? strtoll(p->at, &end, 10) : (long long)strtoull(p->at, &end, 10);
    if (end == p->at || errno)
        fail(p, "a whole number expected before `%.12s`", p->at);
    p->at = end;
    return v;
}

static uint32_t small_integer(parser *p)
{
    int64_t v = integer(p);
    if (v < 0 || v > UINT32_MAX)
        fail(p, "a number from 0 to 2^32 - 1 expected");
    return p->message ? 0 : (uint32_t)v;
}

static ir_type type(parser *p)
{
    skip_space(p);
    size_t n = word_length(p->at);
    ir_type t = ir_type_named(p->at, n);
    if (t == T_NONE)
        fail(p, "a type expected before `%.12s`", p->at);
    p->at += n;
    return t;
}

/* "name.7" or "7": the number, and the name or NULL */
static uint32_t numbered(parser *p, const char **name)
{
    size_t n = word_length(p->at);
    *name = NULL;
    if (p->at[n] == '.') {
        char *copy = arena_alloc(p->arena, n + 1);
        memcpy(copy, p->at, n);
        *name = copy;
        p->at += n + 1;
    }
    return small_integer(p);
}

/* --- values --- */

static k_val float_literal(parser *p)
{
    double v = 0;
    uint64_t nan_bits = 0;
    char *end;
    if (take(p, "nan(")) {
        nan_bits = strtoull(p->at, &end, 16);
        p->at = end;
        expect(p, ")");
    } else {
        v = text_read_f64(p->at, &end);
        if (end == p->at)
            fail(p, "a value expected before `%.12s`", p->at);
        p->at = end;
    }
    expect(p, ":");
    ir_type t = type(p);
    if (!p->message && !ir_type_float(t))
        fail(p, "a %s has no such value", ir_type_name(t));
    if (nan_bits)
        return k_literal(&p->b, t, t == T_F32 ? (uint32_t)nan_bits : nan_bits);
    return k_literal(&p->b, t, t == T_F32 ? ir_bits_f32((float)v) : ir_bits_f64(v));
}

static k_val number_literal(parser *p)
{
    size_t n = *p->at == '-';
    bool negative = n > 0;
    while (p->at[n] >= '0' && p->at[n] <= '9')
        n++;
    if (!n || (p->at[n] && strchr(".xein", p->at[n])))
        return float_literal(p);
    int64_t v = integer(p);
    ir_type t = take(p, ":") ? type(p) : T_I64;
    bool wrapped = v < 0 && !negative && t != T_U64;
    if (!p->message && (ir_type_float(t) || wrapped || ir_i64_bits(t, ir_bits_i64(t, v)) != v))
        fail(p, "a %s has no such value", ir_type_name(t));
    return k_literal(&p->b, t, ir_bits_i64(t, v));
}

static k_val value(parser *p)
{
    const char *name;
    if (take(p, "piece"))
        return k_piece(&p->b);
    if (take(p, "true"))
        return k_literal(&p->b, T_BOOL, 1);
    if (take(p, "false"))
        return k_literal(&p->b, T_BOOL, 0);
    if (!take(p, "%"))
        return number_literal(p);
    uint32_t number = numbered(p, &name);
    k_val v = map64_get(&p->value, number);
    if (!v)
        fail(p, "%%%u is not defined before", (unsigned)number);
    return v;
}

static void values(parser *p, const char *before, unsigned n, k_val *out)
{
    if (*before)
        expect(p, before);
    for (unsigned i = 0; i < n; i++) {
        if (i)
            expect(p, ",");
        out[i] = value(p);
    }
}

/* "%name.7:f32", registered as a value of this kind, defined by `def` */
static k_val definition(parser *p, k_value_kind kind, k_ref def)
{
    const char *name;
    expect(p, "%");
    uint32_t number = numbered(p, &name);
    expect(p, ":");
    ir_type t = type(p);
    if (p->message)
        return 0;
    if (map64_get(&p->value, number))
        fail(p, "%%%u is defined twice", (unsigned)number);
    vec_push(p->arena, &p->k->value, ((k_value){.kind = (uint8_t)kind, .type = (uint8_t)t, .def = def, .name = name}));
    map64_put(p->arena, &p->value, number, p->k->value.n - 1);
    return p->k->value.n - 1;
}

static k_mem memory(parser *p)
{
    const char *name;
    expect(p, "@");
    uint32_t number = numbered(p, &name);
    k_mem m = map64_get(&p->mem, number);
    if (!m)
        fail(p, "there is no memory @%u", (unsigned)number);
    return m;
}

static void access(parser *p, k_stmt *s)
{
    s->mem = memory(p);
    expect(p, "[");
    s->in[0] = value(p);
    expect(p, "]");
}

/* --- declarations --- */

static void memory_declaration(parser *p, k_space space)
{
    const char *name;
    expect(p, "@");
    uint32_t number = numbered(p, &name);
    expect(p, ":");
    ir_type t = type(p);
    k_mem m = space == K_GLOBAL ? k_global(&p->b, t, false, name) : k_shared(&p->b, t, 0, name);
    k_memory *memory_of = &p->k->mem.at[m];
    memory_of->space = (uint8_t)space;
    if (space == K_GLOBAL) {
        memory_of->written = take(p, "written");
        memory_of->once = take(p, "once");
        memory_of->stream = take(p, "stream");
        memory_of->unread = take(p, "unread");
        memory_of->near = take(p, "near");
        memory_of->one = take(p, "one");
        if (take(p, "few"))
            memory_of->few = (uint32_t)integer(p);
        if (take(p, "every")) {
            memory_of->every = (uint32_t)integer(p);
            expect(p, "at");
            memory_of->at = (uint32_t)integer(p);
        }
        if (take(p, "beside"))
            memory_of->beside = memory(p);
    } else {
        expect(p, "[");
        memory_of->count = integer(p);
        expect(p, "]");
    }
    if (map64_get(&p->mem, number))
        fail(p, "memory @%u is declared twice", (unsigned)number);
    else
        map64_put(p->arena, &p->mem, number, m);
}

static void declarations(parser *p)
{
    while (!p->message) {
        if (take(p, "global")) {
            memory_declaration(p, K_GLOBAL);
        } else if (take(p, "shared")) {
            memory_declaration(p, K_SHARED);
        } else if (take(p, "private")) {
            memory_declaration(p, K_PRIVATE);
        } else if (take(p, "arg")) {
            k_val v = definition(p, KV_ARG, 0);
            p->k->value.at[v].bits = p->k->arg_type.n;
            p->k->value.at[v].natural = take(p, "natural");
            vec_push(p->arena, &p->k->arg_type, p->k->value.at[v].type);
        } else {
            return;
        }
    }
}

/* --- statements --- */

/* Appends s to the open list; `dst` was read before it. */
static k_ref put(parser *p, k_stmt s)
{
    kernel *k = p->k;
    k_builder *b = &p->b;
    vec_push(p->arena, &k->stmt, s);
    k_ref id = k->stmt.n - 1;
    if (b->last)
        k->stmt.at[b->last].next = id;
    else if (!b->parent)
        k->body = id;
    else if (b->branch)
        k->stmt.at[b->parent].orelse = id;
    else
        k->stmt.at[b->parent].body = id;
    b->last = id;
    return id;
}

static void open_list(parser *p)
{
    expect(p, "{");
    vec_push(p->arena, &p->b.open, (uint64_t)p->b.parent << 1 | p->b.branch);
    p->b.parent = p->b.last;
    p->b.branch = 0;
    p->b.last = 0;
}

/* The number that the next statement will get. */
static k_ref next_statement(const parser *p)
{
    return p->k->stmt.n;
}

static void chain(parser *p)
{
    k_chain *c = arena_new(p->arena, *c);
    k_ref id = next_statement(p);
    c->state = memory(p);
    expect(p, "before");
    do {
        if (c->arity == K_MOST_CARRIED)
            fail(p, "a chain carries at most %d values", K_MOST_CARRIED);
        else
            c->before[c->arity++] = definition(p, KV_RESULT, id);
    } while (!p->message && take(p, ","));
    values(p, "initial", c->arity, c->initial);
    values(p, "aggregate", c->arity, c->aggregate);
    for (unsigned side = 0; side < 2; side++) {
        expect(p, side ? "right" : "left");
        for (unsigned j = 0; j < c->arity && !p->message; j++) {
            if (j)
                expect(p, ",");
            *(side ? &c->right[j] : &c->left[j]) = definition(p, KV_VARIABLE, 0);
        }
    }
    p->k->chained = true;
    put(p, (k_stmt){.op = K_CHAIN, .mem = c->state, .chain = c});
    open_list(p);
}

static void for_statement(parser *p, k_op op)
{
    k_stmt s = {.op = (uint8_t)op};
    s.dst = definition(p, KV_RESULT, next_statement(p));
    if (op == K_FOR) {
        values(p, "=", 1, s.in);
        values(p, "to", 1, s.in + 1);
        s.sub = take(p, "unroll") ? K_UNROLL : take(p, "pack") ? K_PACK : 0;
    } else {
        values(p, "<", 1, s.in);
        s.sub = take(p, "few") ? K_FEW : take(p, "whole") ? K_WHOLE : 0;
    }
    put(p, s);
    open_list(p);
}

static ir_op operator(parser *p)
{
    skip_space(p);
    size_t n = word_length(p->at);
    ir_op op = ir_op_named(p->at, n);
    if (op == OP_NONE)
        fail(p, "an operator expected before `%.12s`", p->at);
    p->at += n;
    return op;
}

/* "call name, %x, %y": a text has no source. */
static void call(parser *p, k_stmt *s)
{
    skip_space(p);
    const size_t n = word_length(p->at);
    uint32_t i = 0;
    while (i < p->k->code.n && (strlen(p->k->code.at[i].name) != n || memcmp(p->k->code.at[i].name, p->at, n)))
        i++;
    if (!n || i > UINT8_MAX)
        fail(p, "a name of foreign code expected before `%.12s`", p->at);
    if (i == p->k->code.n)
        vec_push(p->arena, &p->k->code, ((k_code){.name = arena_printf(p->arena, "%.*s", (int)n, p->at)}));
    p->at += n;
    s->op = K_CALL;
    s->sub = (uint8_t)i;
    for (unsigned k = 0; k < ARRAY_LENGTH(s->in); k++) {
        skip_space(p);
        if (k && *p->at != ',')
            break;
        values(p, ",", 1, s->in + k);
    }
}

/* "%x:t = ..." */
static void assignment(parser *p)
{
    k_val dst = definition(p, KV_RESULT, next_statement(p));
    k_stmt s = {.dst = dst};
    expect(p, "=");
    if (take(p, "var")) {
        s.op = K_DECL;
        p->k->value.at[dst].kind = KV_VARIABLE;
        values(p, "", 1, s.in);
    } else if (take(p, "select")) {
        s.op = K_SELECT;
        values(p, "", 3, s.in);
    } else if (take(p, "call")) {
        call(p, &s);
    } else if (take(p, "load")) {
        s.op = K_LOAD;
        s.sub = take(p, "total") ? K_TOTAL : take(p, "ahead") ? K_AHEAD : take(p, "quiet") ? K_QUIET : 0;
        access(p, &s);
    } else if (take(p, "atomic")) {
        s.op = K_ATOMIC;
        s.sub = (uint8_t) operator(p);
        access(p, &s);
        values(p, ",", 1, s.in + 1);
    } else if (take(p, "all")) {
        s.op = K_ALL;
        values(p, "", 1, s.in);
    } else if (take(p, "shuffle")) {
        s.op = K_SHUFFLE;
        s.sub = take(p, "left") ? K_LEFT : take(p, "lane") ? K_LANE : take(p, "pair") ? K_PAIR : K_ROTATE;
        values(p, "", 2, s.in);
    } else if (take(p, "rank")) {
        s.op = K_RANK;
        values(p, "", 1, s.in);
    } else if (take(p, "count")) {
        s.op = K_COUNT;
        values(p, "", 1, s.in);
    } else {
        s.op = K_LET;
        s.sub = (uint8_t) operator(p);
        values(p, "", ir_ops[s.sub].arity, s.in);
    }
    put(p, s);
}

static void plain_statement(parser *p)
{
    k_stmt s = {0};
    bool relaxed = take(p, "relax"), mixed = !relaxed && take(p, "mix"), over = false, near = false;
    if (relaxed || mixed || take(p, "set")) {
        s.op = K_SET;
        s.sub = relaxed ? K_RELAX : mixed ? K_MIX : 0;
        s.dst = value(p);
        values(p, "=", 1, s.in);
    } else if (take(p, "store")) {
        s.op = K_STORE;
        access(p, &s);
        values(p, "=", 1, s.in + 1);
    } else if ((near = take(p, "fetch_near")) || take(p, "fetch")) {
        s.op = K_FETCH;
        access(p, &s);
        uint32_t rows = !near && take(p, "rows") ? small_integer(p) : 0;
        if (rows >= K_NEAR)
            fail(p, "at most %d rows", K_NEAR - 1);
        s.sub = near ? K_NEAR : (uint8_t)rows;
        values(p, rows ? "apart" : "step", 1, s.in + 1);
    } else if ((over = take(p, "compact_over")) || take(p, "compact")) {
        s.op = K_COMPACT;
        s.sub = over ? K_OVER : 0;
        access(p, &s);
        values(p, "=", 1, s.in + 1);
        values(p, "where", 1, s.in + 2);
    } else if (take(p, "note")) {
        s.op = K_CHECK;
        s.sub = K_NOTE;
        s.site = small_integer(p);
        values(p, ":", 4, s.in);
    } else if (take(p, "check")) {
        s.op = K_CHECK;
        s.site = small_integer(p);
        values(p, ":", 4, s.in);
    } else if (take(p, "break_if")) {
        s.op = K_BREAK_IF;
        values(p, "", 1, s.in);
    } else {
        fail(p, "a statement expected before `%.12s`", p->at);
    }
    put(p, s);
}

static void statement(parser *p)
{
    if (take(p, "if")) {
        k_stmt s = {.op = K_IF, .sub = take(p, "either") ? K_EITHER : 0};
        values(p, "", 1, s.in);
        put(p, s);
        open_list(p);
    } else if (take(p, "loop")) {
        put(p, (k_stmt){.op = K_LOOP});
        open_list(p);
    } else if (take(p, "for_all")) {
        for_statement(p, K_FOR_ALL);
    } else if (take(p, "for")) {
        for_statement(p, K_FOR);
    } else if (take(p, "chain")) {
        chain(p);
    } else if (*p->at == '%') {
        assignment(p);
    } else {
        plain_statement(p);
    }
}

/* Behind a "}" that closes a list of a statement. */
static void close_list(parser *p)
{
    const k_stmt *s = &p->k->stmt.at[p->b.parent];
    if (s->op == K_IF && !p->b.branch && take(p, "else")) {
        expect(p, "{");
        k_else(&p->b);
        return;
    }
    if (s->op == K_CHAIN) {
        values(p, "yield", s->chain->arity, s->chain->result);
        s->chain->body = s->body;
    }
    k_end(&p->b);
}

static void body(parser *p)
{
    while (!p->message) {
        if (!take(p, "}")) {
            statement(p);
        } else if (p->b.parent) {
            close_list(p);
        } else {
            skip_space(p);
            if (*p->at)
                fail(p, "text behind the kernel");
            return;
        }
    }
}

kernel *k_parse(arena *a, const char *source, const char **message)
{
    parser p = {.arena = a, .at = source, .line = 1};
    p.k = k_new(a, "", 1);
    k_begin(&p.b, p.k);
    expect(&p, "kernel");
    skip_space(&p);
    size_t n = word_length(p.at);
    char *name = arena_alloc(a, n + 1);
    memcpy(name, p.at, n);
    p.k->name = name;
    p.at += n;
    expect(&p, "lanes");
    uint32_t lanes = small_integer(&p);
    p.k->lanes = lanes > UINT16_MAX ? 0 : (uint16_t)lanes;
    if (take(&p, "threads"))
        p.k->threads = small_integer(&p);
    p.k->narrow = take(&p, "narrow");
    expect(&p, "{");
    declarations(&p);
    body(&p);
    *message = p.message;
    return p.message ? NULL : p.k;
}
