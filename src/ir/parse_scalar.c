/* Parsing of scalar terms, functions and loops. Terms are made exactly as written: nothing is simplified. */
#include "ir/inside.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include <stdio.h>
#include <stdlib.h>

enum { DEEPEST = 200 /* nesting of parentheses, conditions and loops; the printer names parts long before */ };

ir_type parse_type(parser *ps)
{
    ir_type t = ps->token.kind == TOKEN_WORD ? ir_type_named(ps->token.at, ps->token.n) : T_NONE;
    if (ps->message || t == T_NONE) {
        parser_fail(ps, "expected a type");
        return T_NONE;
    }
    parser_next(ps);
    return t;
}

uint32_t parse_site(parser *ps)
{
    uint64_t number;
    if (!parser_accept(ps, "@") || !parser_number(ps, UINT32_MAX, &number))
        return 0;
    if (number >= ps->site.n || !ps->site.at[number]) {
        parser_fail(ps, "site %u is not declared; expected one that is", (unsigned)number);
        return 0;
    }
    return ps->site.at[number];
}

/* --- literals --- */

static size_t digits_length(const token *t)
{
    size_t n = 0;
    while (n < t->n && strchr("0123456789.", t->at[n]))
        n++;
    if (n + 1 < t->n && t->at[n] == 'e')
        for (n += 2; n < t->n && t->at[n] >= '0' && t->at[n] <= '9'; n++) {
        }
    return n;
}

static ir_id parse_real(parser *ps, ir_type t, size_t n, bool negative)
{
    char digits[400];
    if (n + 2 > sizeof digits) {
        parser_fail(ps, "expected a number of fewer digits");
        return 0;
    }
    digits[0] = negative ? '-' : '+';
    memcpy(digits + 1, ps->token.at, n);
    digits[n + 1] = 0;
    parser_next(ps);
    ir_bits bits = t == T_F32 ? ir_bits_f32(text_read_f32(digits, NULL)) : ir_bits_f64(text_read_f64(digits, NULL));
    return ir_const(ps->p, t, bits);
}

static ir_id parse_whole(parser *ps, ir_type t, size_t n, bool negative)
{
    uint64_t v = 0, most = UINT64_MAX;
    unsigned bits = ir_type_bits(t);
    if (ir_type_signed(t))
        most = ((uint64_t)1 << (bits - 1)) - (negative ? 0 : 1);
    else if (bits < 64)
        most = ((uint64_t)1 << bits) - 1;
    for (size_t i = 0; i < n; i++) {
        uint64_t digit = (uint64_t)(ps->token.at[i] - '0');
        if (digit > 9 || digit > most || v > (most - digit) / 10 || (negative && !ir_type_signed(t))) {
            parser_fail(ps, "expected a number of type %s", ir_type_name(t));
            return 0;
        }
        v = v * 10 + digit;
    }
    parser_next(ps);
    return ir_const(ps->p, t, ir_bits_i64(t, (int64_t)(negative ? 0 - v : v)));
}

ir_id parse_literal(parser *ps, bool negative)
{
    const token *t = &ps->token;
    size_t n = digits_length(t);
    ir_type type = n == t->n ? T_I64 : ir_type_named(t->at + n, t->n - n);
    if (ir_type_float(type))
        return parse_real(ps, type, n, negative);
    if (type != T_NONE && type != T_BOOL)
        return parse_whole(ps, type, n, negative);
    parser_fail(ps, "expected a number");
    return 0;
}

/* inf_f32, nan_f32(0x7fc00000); the word stands before the current token */
static ir_id parse_special(parser *ps, token word, bool negative)
{
    ir_type t = ir_type_named(word.at + 4, word.n - 4);
    uint64_t sign = (uint64_t)negative << (ir_type_bits(t) - 1), bits = 0;
    if (word.at[0] == 'i')
        return ir_const(ps->p, t, (t == T_F32 ? 0x7f800000u : 0x7ff0000000000000u) | sign);
    if (!parser_expect(ps, "("))
        return 0;
    char *end = NULL;
    if (ps->token.kind == TOKEN_NUMBER)
        bits = strtoull(ps->token.at, &end, 16);
    if (negative || end != ps->token.at + ps->token.n) {
        parser_fail(ps, "expected the bits of a NaN");
        return 0;
    }
    parser_next(ps);
    return parser_expect(ps, ")") ? ir_const(ps->p, t, bits) : 0;
}

static bool is_special(token word)
{
    return word.kind == TOKEN_WORD && word.n == 7 &&
           (memcmp(word.at, "inf_f", 5) == 0 || memcmp(word.at, "nan_f", 5) == 0) &&
           ir_type_named(word.at + 4, 3) != T_NONE;
}

/* --- operands --- */

uint32_t parse_terms(parser *ps, ir_ids *out)
{
    do {
        ir_id id = parse_term(ps);
        if (!id)
            return 0;
        vec_push(ps->arena, out, id);
    } while (parser_accept(ps, ","));
    return ps->message ? 0 : out->n;
}

static ir_id parse_call(parser *ps, ir_op op, ir_type to)
{
    uint32_t site = parse_site(ps);
    ir_ids args = {0};
    if (!parser_expect(ps, "(") || !parse_terms(ps, &args) || !parser_expect(ps, ")"))
        return 0;
    return ir_op_plain(ps->p, site, op, to, args.n, args.at);
}

/* Is it seen that the read is safe, as the text says? */
static bool is_safe(const parser *ps, ir_id array, unsigned flags, const ir_ids *index)
{
    const ir_array *a = ir_info(ps->p, array);
    bool safe = !(flags & IR_LINEAR) && index->n == a->rank;
    for (uint32_t d = 0; d < index->n && safe; d++)
        safe = ir_surely_inside(ps->p, &ps->below, index->at[d], a->shape[d]);
    return safe;
}

static ir_id parse_read(parser *ps, ir_id array)
{
    ir_ids index = {0};
    uint64_t component = 0;
    unsigned flags = 0;
    if (!parser_expect(ps, "["))
        return 0;
    if (parser_accept(ps, "safe"))
        flags |= IR_SAFE;
    if (parser_accept(ps, "linear"))
        flags |= IR_LINEAR;
    if (!parser_is(ps, "]") && !parse_terms(ps, &index))
        return 0;
    if (!parser_expect(ps, "]"))
        return 0;
    if (parser_accept(ps, ".") && !parser_number(ps, UINT32_MAX, &component))
        return 0;
    uint32_t site = parse_site(ps);
    if (ps->doubtful && !ps->message && flags & IR_SAFE && !is_safe(ps, array, flags, &index))
        flags &= ~(unsigned)IR_SAFE;
    return ps->message ? 0 : ir_read(ps->p, site, array, (uint32_t)component, flags, index.n, index.at);
}

static ir_id parse_name(parser *ps, token name)
{
    ir_id id = parser_find(ps, name);
    uint64_t component;
    if (!id) {
        parser_fail(ps, "`%.*s` is not known; expected a name that is declared", (int)name.n, name.at);
        return 0;
    }
    if (ir_is_array(ps->p, id))
        return parse_read(ps, id);
    if (ir_at(ps->p, id)->kind != IR_LOOP)
        return id;
    if (!parser_expect(ps, ".") || !parser_number(ps, UINT32_MAX, &component))
        return 0;
    return ir_proj_plain(ps->p, id, (uint32_t)component);
}

/* foreign "name"(fallback, operand, ...): a text has no code. */
static ir_id parse_foreign(parser *ps)
{
    ir_ids args = {0};
    ir_code *code = arena_new(ps->p->arena, *code);
    const char *name = parser_string(ps);
    if (!name || !parser_expect(ps, "(") || !parse_terms(ps, &args) || !parser_expect(ps, ")"))
        return 0;
    code->name = arena_string(ps->p->arena, name);
    ir_id id = ir_call(ps->p, 0, code, args.n, args.at);
    return parser_built(ps) ? id : 0;
}

static ir_id parse_word(parser *ps)
{
    token word = ps->token;
    bool bits = word.n > 8 && memcmp(word.at, "bitcast_", 8) == 0;
    ir_op op = ir_op_named(word.at, word.n);
    ir_type to = bits ? ir_type_named(word.at + 8, word.n - 8) : ir_type_named(word.at, word.n);
    parser_next(ps);
    if (is_special(word))
        return parse_special(ps, word, false);
    if (word.n == 7 && !memcmp(word.at, "foreign", 7) && ps->token.kind == TOKEN_STRING)
        return parse_foreign(ps);
    if (to != T_NONE)
        return parse_call(ps, bits ? OP_BITCAST : OP_CONVERT, to);
    if (op != OP_NONE)
        return parse_call(ps, op, T_NONE);
    if (word.n == 4 && memcmp(word.at, "true", 4) == 0)
        return ir_bool(ps->p, true);
    if (word.n == 5 && memcmp(word.at, "false", 5) == 0)
        return ir_bool(ps->p, false);
    return parse_name(ps, word);
}

static ir_id parse_quoted_dim(parser *ps)
{
    const char *name = parser_string(ps);
    for (uint32_t k = 0; name && k < ps->p->dim.n; k++)
        if (strcmp(ps->p->dim.at[k], name) == 0)
            return ir_dim(ps->p, name);
    parser_fail(ps, "expected an extent that is declared");
    return 0;
}

static ir_id parse_cond(parser *ps)
{
    ir_id c = parse_term(ps), then = 0, otherwise = 0;
    if (c && parser_expect(ps, "then"))
        then = parse_term(ps);
    if (then && parser_expect(ps, "else"))
        otherwise = parse_term(ps);
    return otherwise ? ir_cond_plain(ps->p, 0, c, then, otherwise) : 0;
}

static ir_id parse_unary(parser *ps);

static ir_id parse_minus(parser *ps)
{
    token word = ps->token;
    if (ps->token.kind == TOKEN_NUMBER)
        return parse_literal(ps, true);
    if (is_special(word)) {
        parser_next(ps);
        return parse_special(ps, word, true);
    }
    ir_id id = parse_unary(ps);
    return id ? ir_op_plain(ps->p, 0, OP_NEG, T_NONE, 1, &id) : 0;
}

static ir_id parse_operand(parser *ps)
{
    if (parser_accept(ps, "-"))
        return parse_minus(ps);
    if (parser_accept(ps, "!")) {
        ir_id id = parse_unary(ps);
        return id ? ir_op_plain(ps->p, 0, OP_NOT, T_NONE, 1, &id) : 0;
    }
    if (parser_accept(ps, "(")) {
        ir_id id = parse_term(ps);
        return id && parser_expect(ps, ")") ? id : 0;
    }
    if (ps->token.kind == TOKEN_NUMBER)
        return parse_literal(ps, false);
    if (ps->token.kind == TOKEN_STRING)
        return parse_quoted_dim(ps);
    if (ps->token.kind == TOKEN_WORD)
        return parse_word(ps);
    parser_fail(ps, "expected a term");
    return 0;
}

static ir_id parse_unary(parser *ps)
{
    if (ps->message)
        return 0;
    if (ps->depth == DEEPEST) {
        parser_fail(ps, "terms are nested too deep; name some of them");
        return 0;
    }
    ps->depth++;
    ir_id id = parse_operand(ps);
    ps->depth--;
    return id && parser_built(ps) ? id : 0;
}

/* --- infix operators --- */

static ir_op infix_here(const parser *ps, level *at)
{
    static const struct {
        const char *sign;
        uint8_t op, level;
    } signs[] = {{"||", OP_OR, LEVEL_OR},      {"&&", OP_AND, LEVEL_AND},    {"==", OP_EQ, LEVEL_COMPARE},
                 {"!=", OP_NE, LEVEL_COMPARE}, {"<", OP_LT, LEVEL_COMPARE},  {"<=", OP_LE, LEVEL_COMPARE},
                 {">", OP_GT, LEVEL_COMPARE},  {">=", OP_GE, LEVEL_COMPARE}, {"+", OP_ADD, LEVEL_SUM},
                 {"-", OP_SUB, LEVEL_SUM},     {"*", OP_MUL, LEVEL_PRODUCT}, {"/", OP_DIV, LEVEL_PRODUCT}};
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (parser_is(ps, signs[i].sign)) {
            *at = (level)signs[i].level;
            return (ir_op)signs[i].op;
        }
    return OP_NONE;
}

/* Operators of level `least` and above. */
static ir_id parse_infix(parser *ps, level least)
{
    ir_id left = parse_unary(ps);
    level at;
    for (ir_op op = infix_here(ps, &at); left && op != OP_NONE && at >= least; op = infix_here(ps, &at)) {
        parser_next(ps);
        uint32_t site = parse_site(ps);
        ir_id args[2] = {left, parse_infix(ps, (level)(at + 1))};
        left = args[1] ? ir_op_plain(ps->p, site, op, T_NONE, 2, args) : 0;
        if (!parser_built(ps))
            return 0;
    }
    return left;
}

ir_id parse_sum(parser *ps)
{
    return parse_infix(ps, LEVEL_SUM);
}

ir_id parse_term(parser *ps)
{
    if (ps->message)
        return 0;
    if (!parser_accept(ps, "if"))
        return parse_infix(ps, LEVEL_OR);
    if (ps->depth == DEEPEST) {
        parser_fail(ps, "terms are nested too deep; name some of them");
        return 0;
    }
    ps->depth++;
    ir_id id = parse_cond(ps);
    ps->depth--;
    return id && parser_built(ps) ? id : 0;
}

typedef VEC(token) tokens;
typedef VEC(ir_type) type_list;

/* --- lines, loops, functions --- */

static bool is_line(const parser *ps)
{
    return ps->token.kind == TOKEN_WORD && parser_before(ps, '=');
}

static bool parse_lines(parser *ps)
{
    while (!ps->message && is_line(ps))
        if (!parse_let(ps))
            return false;
    return !ps->message;
}

static bool free_name(parser *ps, token name)
{
    if (name.kind == TOKEN_WORD && !text_reserved(name.at, name.n))
        return true;
    return parser_fail(ps, "expected a name");
}

/* x = initial, ... */
static bool parse_states(parser *ps, ir_ids *init, tokens *names)
{
    do {
        token name = ps->token;
        if (!free_name(ps, name))
            return false;
        parser_next(ps);
        ir_id id = parser_expect(ps, "=") ? parse_term(ps) : 0;
        if (!id)
            return false;
        vec_push(ps->arena, init, id);
        vec_push(ps->arena, names, name);
    } while (parser_accept(ps, ","));
    return parser_expect(ps, ")") && parser_expect(ps, "{");
}

static bool parse_loop_inside(parser *ps, ir_loop *l)
{
    ir_ids next = {0};
    if (!parse_lines(ps))
        return false;
    if (!l->count) {
        l->cond = parser_expect(ps, "test") ? parse_term(ps) : 0;
        if (!l->cond)
            return false;
    }
    if (!parser_expect(ps, "next") || !parse_terms(ps, &next) || !parser_expect(ps, "}"))
        return false;
    if (next.n != l->states)
        return parser_fail(ps, "%u next values, but %u states", next.n, l->states);
    l->next = next.at;
    return true;
}

static ir_id parse_loop(parser *ps, bool counted)
{
    ir_loop l = {0};
    ir_ids init = {0}, var = {0};
    tokens names = {0};
    token index = {0};
    if (!parser_expect(ps, "("))
        return 0;
    if (counted) {
        index = ps->token;
        if (!free_name(ps, index))
            return 0;
        parser_next(ps);
        l.count = parser_expect(ps, "<") ? parse_sum(ps) : 0;
        if (!l.count || !parser_expect(ps, ";"))
            return 0;
    }
    if (!parse_states(ps, &init, &names))
        return 0;
    uint32_t scope = parser_open(ps);
    if (counted) {
        l.index = ir_var(ps->p, T_I64);
        if (ps->doubtful && ir_at(ps->p, l.count)->type == T_I64)
            map64_put(ps->arena, &ps->below, l.index, l.count);
        parser_declare(ps, index, l.index);
    }
    for (uint32_t i = 0; i < init.n; i++) {
        vec_push(ps->arena, &var, ir_var(ps->p, (ir_type)ir_at(ps->p, init.at[i])->type));
        parser_declare(ps, names.at[i], var.at[i]);
    }
    l.states = init.n;
    l.init = init.at;
    l.var = var.at;
    bool good = parse_loop_inside(ps, &l);
    parser_close(ps, scope);
    return good ? ir_loop_new(ps->p, 0, &l) : 0;
}

bool parse_let(parser *ps)
{
    token name = ps->token;
    if (!free_name(ps, name))
        return false;
    parser_next(ps);
    if (!parser_expect(ps, "="))
        return false;
    if (ps->depth == DEEPEST)
        return parser_fail(ps, "loops are nested too deep; up to %d are possible", DEEPEST);
    ps->depth++;
    bool counted = parser_is(ps, "for");
    ir_id id = parser_accept(ps, "while") || parser_accept(ps, "for") ? parse_loop(ps, counted) : parse_term(ps);
    ps->depth--;
    if (!parser_built(ps) || !id)
        return false;
    parser_declare(ps, name, id);
    return true;
}

static bool parse_params(parser *ps, tokens *names, type_list *types)
{
    if (parser_is(ps, "->") || is_line(ps))
        return true;
    do {
        token name = ps->token;
        if (!free_name(ps, name))
            return false;
        parser_next(ps);
        ir_type t = parser_expect(ps, ":") ? parse_type(ps) : T_NONE;
        if (t == T_NONE)
            return false;
        vec_push(ps->arena, names, name);
        vec_push(ps->arena, types, t);
    } while (parser_accept(ps, ","));
    return true;
}

ir_fn *parse_fn(parser *ps)
{
    tokens names = {0};
    type_list types = {0};
    ir_ids result = {0};
    if (!parser_expect(ps, "{") || !parse_params(ps, &names, &types))
        return NULL;
    uint32_t scope = parser_open(ps);
    ir_fn *fn = ir_fn_new(ps->p, names.n, types.at);
    for (uint32_t i = 0; i < names.n; i++)
        parser_declare(ps, names.at[i], fn->param[i]);
    bool good = parse_lines(ps) && parser_expect(ps, "->") && (parser_is(ps, "}") || parse_terms(ps, &result)) &&
                parser_expect(ps, "}");
    parser_close(ps, scope);
    return good ? ir_fn_close(ps->p, fn, result.n, result.at) : NULL;
}
