/* Tokens, names and messages of the parser of terms. */
#include "ir/parser.h"
#include <ctype.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blank(parser *ps, const char *s)
{
    for (; *s; s++) {
        if (*s == '#')
            while (s[1] && s[1] != '\n')
                s++;
        else if (*s == '\n') {
            ps->line++;
            ps->line_at = s + 1;
        } else if (*s != ' ' && *s != '\t' && *s != '\r')
            break;
    }
    return s;
}

static size_t number_length(const char *s)
{
    size_t n = 0;
    while (isdigit((unsigned char)s[n]))
        n++;
    if (s[n] == '.' && isdigit((unsigned char)s[n + 1]))
        for (n++; isdigit((unsigned char)s[n]); n++) {
        }
    if (s[n] == 'e' && (s[n + 1] == '-' || s[n + 1] == '+') && isdigit((unsigned char)s[n + 2]))
        n += 2;
    while (is_word(s[n])) /* an exponent, a type, or the digits of a hexadecimal number */
        n++;
    return n;
}

static size_t string_length(const char *s) /* 0 if it does not end */
{
    for (size_t n = 1; s[n] && s[n] != '\n'; n++) {
        if (s[n] == '"')
            return n + 1;
        if (s[n] == '\\' && s[n + 1])
            n++;
    }
    return 0;
}

static size_t sign_length(const char *s)
{
    static const char *const pairs[] = {"==", "!=", "<=", ">=", "&&", "||", "->"};
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++)
        if (s[0] == pairs[i][0] && s[1] == pairs[i][1])
            return 2;
    return s[0] && strchr("()[]{}<>=+-*/!.,:;@?", s[0]) ? 1 : 0;
}

void parser_next(parser *ps)
{
    const char *s = skip_blank(ps, ps->at);
    token t = {.at = s, .line = ps->line, .column = (uint32_t)(s - ps->line_at) + 1};
    if (!*s) {
        t.kind = TOKEN_END;
    } else if (isdigit((unsigned char)*s)) {
        t.kind = TOKEN_NUMBER;
        t.n = number_length(s);
    } else if (is_word(*s)) {
        t.kind = TOKEN_WORD;
        while (is_word(s[t.n]))
            t.n++;
    } else {
        t.n = *s == '"' ? string_length(s) : sign_length(s);
        t.kind = !t.n ? TOKEN_BAD : *s == '"' ? TOKEN_STRING : TOKEN_SIGN;
    }
    ps->before = ps->token;
    ps->token = t;
    ps->at = s + t.n;
}

bool parser_is(const parser *ps, const char *what)
{
    const token *t = &ps->token;
    return (t->kind == TOKEN_WORD || t->kind == TOKEN_SIGN) && strlen(what) == t->n && memcmp(t->at, what, t->n) == 0;
}

bool parser_accept(parser *ps, const char *what)
{
    if (ps->message || !parser_is(ps, what))
        return false;
    parser_next(ps);
    return true;
}

bool parser_expect(parser *ps, const char *what)
{
    return parser_accept(ps, what) || parser_fail(ps, "expected `%s`", what);
}

bool parser_before(const parser *ps, char c)
{
    const char *s = ps->at;
    while (*s == ' ' || *s == '\t')
        s++;
    return *s == c && (c != '=' || s[1] != '=');
}

/* The beginning of the current token, without what would steer a terminal. */
static void show_token(const parser *ps, text *t)
{
    enum { MOST = 40 };
    size_t n = ps->token.n == 0 ? 1 : ps->token.n < MOST ? ps->token.n : MOST;
    text_add(t, " at `");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)ps->token.at[i];
        text_add_n(t, c < ' ' || c == 0x7f ? "?" : ps->token.at + i, 1);
    }
    text_add(t, "`");
}

bool parser_fail(parser *ps, const char *format, ...)
{
    if (ps->message)
        return false;
    text t;
    text_init(&t, ps->arena);
    text_printf(&t, "line %u, column %u: ", ps->token.line, ps->token.column);
    va_list args;
    va_start(args, format);
    text_vprintf(&t, format, args);
    va_end(args);
    if (ps->token.kind == TOKEN_END)
        text_add(&t, " at the end");
    else
        show_token(ps, &t);
    ps->message = t.at;
    return false;
}

bool parser_built(parser *ps)
{
    if (!ps->message && ps->p->error.n)
        ps->message = arena_printf(ps->arena, "line %u, column %u: %s", ps->before.line, ps->before.column,
                                   ps->p->error.at[0].message);
    return !ps->message;
}

bool parser_number(parser *ps, uint64_t limit, uint64_t *out)
{
    uint64_t v = 0;
    if (ps->message || ps->token.kind != TOKEN_NUMBER)
        return parser_fail(ps, "expected a number");
    for (size_t i = 0; i < ps->token.n; i++) {
        unsigned digit = (unsigned)(ps->token.at[i] - '0');
        if (digit > 9)
            return parser_fail(ps, "expected a plain number");
        if (v > (limit - digit) / 10 || digit > limit)
            return parser_fail(ps, "expected a number up to %llu", (unsigned long long)limit);
        v = v * 10 + digit;
    }
    *out = v;
    parser_next(ps);
    return true;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *parser_string(parser *ps)
{
    if (ps->message || ps->token.kind != TOKEN_STRING) {
        parser_fail(ps, "expected a string");
        return NULL;
    }
    char *out = arena_alloc(ps->arena, ps->token.n);
    size_t n = 0;
    for (const char *s = ps->token.at + 1; s < ps->token.at + ps->token.n - 1; s++) {
        if (*s != '\\') {
            out[n++] = *s;
            continue;
        }
        s++;
        if (*s == 'x' && hex_digit(s[1]) >= 0 && hex_digit(s[2]) >= 0) {
            out[n++] = (char)(hex_digit(s[1]) * 16 + hex_digit(s[2]));
            s += 2;
        } else {
            out[n++] = *s;
        }
    }
    parser_next(ps);
    return out;
}

/* --- names --- */

void parser_declare(parser *ps, token name, ir_id id)
{
    if (!ps->symbol.n) {
        symbol none = {0};
        vec_push(ps->arena, &ps->symbol, none);
    }
    symbol s = {name.at, name.n, hash_bytes(name.at, name.n, 1), id, 0};
    uint32_t before = map64_get(&ps->newest, s.hash);
    s.shadows = before ? before - 1 : 0;
    map64_put(ps->arena, &ps->newest, s.hash, ps->symbol.n + 1);
    vec_push(ps->arena, &ps->symbol, s);
}

ir_id parser_find(const parser *ps, token name)
{
    uint32_t at = map64_get(&ps->newest, hash_bytes(name.at, name.n, 1));
    for (at = at ? at - 1 : 0; at; at = ps->symbol.at[at].shadows) {
        const symbol *s = &ps->symbol.at[at];
        if (s->n == name.n && memcmp(s->name, name.at, name.n) == 0)
            return s->id;
    }
    return 0;
}

uint32_t parser_open(const parser *ps)
{
    return ps->symbol.n;
}

void parser_close(parser *ps, uint32_t scope)
{
    while (ps->symbol.n > scope) {
        const symbol *s = &ps->symbol.at[--ps->symbol.n];
        if (s->name)
            map64_put(ps->arena, &ps->newest, s->hash, s->shadows + 1);
    }
}
