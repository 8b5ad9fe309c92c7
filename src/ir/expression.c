/* Printing, second half: scalar terms as infix expressions, and the lines that give names to their shared parts. */
#include "ir/printer.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct infix {
    uint8_t op, level;
    const char *sign;
} infixes[] = {
    {OP_OR, LEVEL_OR, "||"},      {OP_AND, LEVEL_AND, "&&"},    {OP_EQ, LEVEL_COMPARE, "=="},
    {OP_NE, LEVEL_COMPARE, "!="}, {OP_LT, LEVEL_COMPARE, "<"},  {OP_LE, LEVEL_COMPARE, "<="},
    {OP_GT, LEVEL_COMPARE, ">"},  {OP_GE, LEVEL_COMPARE, ">="}, {OP_ADD, LEVEL_SUM, "+"},
    {OP_SUB, LEVEL_SUM, "-"},     {OP_MUL, LEVEL_PRODUCT, "*"}, {OP_DIV, LEVEL_PRODUCT, "/"},
};

/* --- words --- */

bool text_reserved(const char *word, size_t n)
{
    static const char *const words[] = {
        "if",       "then",    "else",    "while",     "for",         "test",     "next",    "true",      "false",
        "inf_f32",  "inf_f64", "nan_f32", "nan_f64",   "input",       "generate", "map",     "fold",      "reshape",
        "force",    "stencil", "safe",    "linear",    "backpermute", "seed",     "indexed", "clamp",     "commutes",
        "fused",    "mirror",  "wrap",    "constant",  "check",       "output",   "extents", "site",      "pattern",
        "function", "step",    "data",    "signature", "wide",        "scan",     "pack",    "exclusive", "right"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (strlen(words[i]) == n && memcmp(words[i], word, n) == 0)
            return true;
    return ir_type_named(word, n) || ir_op_named(word, n) || (n > 8 && memcmp(word, "bitcast_", 8) == 0);
}

/* A name of the kind the printer makes up: a letter and a number. */
static bool is_made_up(const char *s)
{
    if (!strchr("aclntvx", s[0]) || !s[1])
        return false;
    for (s++; *s; s++)
        if (!isdigit((unsigned char)*s))
            return false;
    return true;
}

static bool is_plain_word(const char *s)
{
    if (!isalpha((unsigned char)s[0]) && s[0] != '_')
        return false;
    for (const char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return !text_reserved(s, strlen(s)) && !is_made_up(s);
}

void print_string(text *out, const char *s)
{
    text_add(out, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < 32)
            text_printf(out, "\\x%02x", c);
        else
            text_add_n(out, s, 1);
    }
    text_add(out, "\"");
}

void print_dim(printer *pr, uint32_t dim)
{
    const char *name = dim < pr->p->dim.n ? pr->p->dim.at[dim] : "?";
    if (is_plain_word(name))
        text_add(pr->out, name);
    else
        print_string(pr->out, name);
}

void print_name(printer *pr, item *it)
{
    const ir_node *n = ir_at(pr->p, it->id);
    bool is_var = n->kind == IR_VAR, is_loop = n->kind == IR_LOOP, is_array = n->kind >= IR_INPUT;
    if (is_var && !it->block) { /* bound by nothing that is printed */
        text_printf(pr->out, "v%u", it->id);
        return;
    }
    bool closed = !is_array && !is_loop && !it->block && !pr->pretty;
    uint32_t *counter = is_array  ? &pr->arrays
                        : is_var  ? &pr->variables
                        : is_loop ? &pr->loops
                        : closed  ? &pr->closed
                                  : &pr->terms;
    if (!it->number)
        it->number = is_array && pr->pretty ? it->id : ++*counter;
    text_printf(pr->out, "%c%u", is_array ? 'a' : is_var ? 'x' : is_loop ? 'l' : closed ? 'c' : 't', it->number);
}

void print_site(printer *pr, uint32_t site)
{
    if (!pr->pretty && site < pr->site.n && pr->site.at[site])
        text_printf(pr->out, "@%u", pr->site.at[site]);
}

/* --- literals --- */

/* The shortest decimal that reads back as the same number; it has a point or an exponent. */
static void print_real(text *out, double v, bool single)
{
    size_t start = out->n;
    text_shortest(out, v, single, 1);
    if (!strpbrk(out->at + start, ".e"))
        text_add(out, ".0");
}

static void print_float(text *out, ir_type t, ir_bits bits)
{
    double v = t == T_F32 ? (double)ir_f32_bits(bits) : ir_f64_bits(bits);
    if (isnan(v)) {
        text_printf(out, "nan_%s(0x%llx)", ir_type_name(t), (unsigned long long)bits);
    } else if (isinf(v)) {
        text_printf(out, "%sinf_%s", v < 0 ? "-" : "", ir_type_name(t));
    } else {
        print_real(out, v, t == T_F32);
        text_add(out, ir_type_name(t));
    }
}

void print_literal(text *out, ir_type t, ir_bits bits)
{
    if (ir_type_float(t)) {
        print_float(out, t, bits);
        return;
    }
    if (t == T_BOOL) {
        text_add(out, bits ? "true" : "false");
        return;
    }
    if (ir_type_signed(t))
        text_printf(out, "%lld", (long long)ir_i64_bits(t, bits));
    else
        text_printf(out, "%llu", (unsigned long long)bits);
    if (t != T_I64)
        text_add(out, ir_type_name(t));
}

/* --- expressions --- */

static bool fails_itself(const ir_program *p, const ir_node *n)
{
    return n->kind == IR_READ ||
           (n->kind == IR_OP && ir_op_guarded((ir_op)n->op, (ir_type)ir_at(p, p->arg.at[n->args])->type));
}

static void print_infix(printer *pr, const ir_node *n, const struct infix *sign, level around)
{
    const ir_id *arg = pr->p->arg.at + n->args;
    const ir_node *right = ir_at(pr->p, arg[1]);
    bool parens = around > (level)sign->level, compare = sign->level == LEVEL_COMPARE;
    bool minus = pr->pretty && n->op == OP_ADD && right->kind == IR_CONST && ir_type_signed((ir_type)right->type) &&
                 ir_i64_bits((ir_type)right->type, right->u.literal) < 0;
    if (parens)
        text_add(pr->out, "(");
    print_term(pr, arg[0], (level)(sign->level + (compare ? 1 : 0)));
    text_printf(pr->out, " %s", minus ? "-" : sign->sign);
    if (fails_itself(pr->p, n))
        print_site(pr, n->site);
    text_add(pr->out, " ");
    if (minus)
        print_literal(pr->out, (ir_type)right->type,
                      ir_bits_i64((ir_type)right->type, (int64_t)(0 - right->u.literal)));
    else
        print_term(pr, arg[1], (level)(sign->level + 1));
    if (parens)
        text_add(pr->out, ")");
}

static void print_call(printer *pr, const ir_node *n)
{
    if (n->op == OP_BITCAST)
        text_add(pr->out, "bitcast_");
    text_add(pr->out,
             ir_ops[n->op].signature == SIGNATURE_CONVERT ? ir_type_name((ir_type)n->type) : ir_ops[n->op].name);
    if (fails_itself(pr->p, n))
        print_site(pr, n->site);
    text_add(pr->out, "(");
    print_terms(pr, n->n, pr->p->arg.at + n->args);
    text_add(pr->out, ")");
}

static void print_op(printer *pr, const ir_node *n, level around)
{
    for (size_t i = 0; i < ARRAY_LENGTH(infixes); i++)
        if (infixes[i].op == n->op) {
            print_infix(pr, n, &infixes[i], around);
            return;
        }
    bool is_const = ir_at(pr->p, pr->p->arg.at[n->args])->kind == IR_CONST; /* "-5" is the literal */
    if (n->op != OP_NOT && (n->op != OP_NEG || is_const)) {
        print_call(pr, n);
        return;
    }
    text_add(pr->out, n->op == OP_NOT ? "!" : "-");
    print_term(pr, pr->p->arg.at[n->args], LEVEL_UNARY);
}

static void print_cond(printer *pr, const ir_node *n, level around)
{
    const ir_id *arg = pr->p->arg.at + n->args;
    text_add(pr->out, around > LEVEL_ANY ? "(if " : "if ");
    print_term(pr, arg[0], LEVEL_ANY);
    text_add(pr->out, " then ");
    print_term(pr, arg[1], LEVEL_ANY);
    text_add(pr->out, " else ");
    print_term(pr, arg[2], LEVEL_ANY);
    if (around > LEVEL_ANY)
        text_add(pr->out, ")");
}

/* In a message: how many elements an operation keeps. */
static bool is_count(const printer *pr, const ir_node *n)
{
    const ir_node *array = ir_at(pr->p, n->array);
    return pr->pretty && !n->n && array->kind == IR_FOLD && array->flags & IR_STEP;
}

static void print_count(printer *pr, uint32_t site)
{
    const ir_site *place = &pr->p->site.at[site];
    text_printf(pr->out, "kept by %s", place->operation ? place->operation : ir_kind_name(IR_PACK));
    if (place->file)
        text_printf(pr->out, " in line %u", place->line);
}

static void print_read(printer *pr, const ir_node *n)
{
    if (is_count(pr, n)) {
        print_count(pr, ir_at(pr->p, n->array)->site);
        return;
    }
    print_name(pr, printer_item(pr, n->array));
    text_add(pr->out, "[");
    if (n->flags & IR_SAFE && !pr->pretty)
        text_add(pr->out, n->n || n->flags & IR_LINEAR ? "safe " : "safe");
    if (n->flags & IR_LINEAR)
        text_add(pr->out, "linear ");
    print_terms(pr, n->n, pr->p->arg.at + n->args);
    text_add(pr->out, "]");
    if (ir_info(pr->p, n->array)->components > 1)
        text_printf(pr->out, ".%u", (unsigned)n->u.literal);
    print_site(pr, n->site);
}

/* The right-hand side of a term's line, or the term itself where it has none. */
static void print_inside(printer *pr, ir_id id, level around)
{
    const ir_node *n = ir_at(pr->p, id);
    switch ((ir_kind)n->kind) {
    case IR_CONST:
        print_literal(pr->out, (ir_type)n->type, n->u.literal);
        return;
    case IR_DIM:
        print_dim(pr, (uint32_t)n->u.literal);
        return;
    case IR_OP:
        print_op(pr, n, around);
        return;
    case IR_COND:
        print_cond(pr, n, around);
        return;
    case IR_CALL:
        text_add(pr->out, "foreign \"");
        text_add(pr->out, n->u.code->name);
        text_add(pr->out, "\"(");
        print_terms(pr, n->n, pr->p->arg.at + n->args);
        text_add(pr->out, ")");
        return;
    case IR_PROJ:
        print_name(pr, printer_item(pr, pr->p->arg.at[n->args]));
        text_printf(pr->out, ".%u", (unsigned)n->u.literal);
        return;
    case IR_READ:
        print_read(pr, n);
        return;
    default:
        print_name(pr, printer_item(pr, id));
    }
}

void print_term(printer *pr, ir_id id, level around)
{
    item *it = printer_item(pr, id);
    if (it->line)
        print_name(pr, it);
    else
        print_inside(pr, id, around);
}

void print_terms(printer *pr, uint32_t n, const ir_id *id)
{
    for (uint32_t i = 0; i < n; i++) {
        text_add(pr->out, i ? ", " : "");
        print_term(pr, id[i], LEVEL_ANY);
    }
}

/* --- lines --- */

static void print_variable(printer *pr, ir_id var)
{
    item *it = printer_item(pr, var);
    print_name(pr, it);
}

static void print_loop(printer *pr, const ir_loop *l, unsigned indent)
{
    text_add(pr->out, l->count ? "for (" : "while (");
    if (l->count) {
        print_variable(pr, l->index);
        text_add(pr->out, " < ");
        print_term(pr, l->count, LEVEL_SUM);
        text_add(pr->out, "; ");
    }
    for (uint32_t i = 0; i < l->states; i++) {
        text_add(pr->out, i ? ", " : "");
        print_variable(pr, l->var[i]);
        text_add(pr->out, " = ");
        print_term(pr, l->init[i], LEVEL_ANY);
    }
    text_add(pr->out, ") {\n");
    print_lines(pr, map64_get(&pr->fn, (uint64_t)(uintptr_t)l) - 1, indent + 4);
    if (l->cond) {
        text_printf(pr->out, "%*stest ", (int)indent + 4, "");
        print_term(pr, l->cond, LEVEL_ANY);
        text_add(pr->out, "\n");
    }
    text_printf(pr->out, "%*snext ", (int)indent + 4, "");
    print_terms(pr, l->states, l->next);
    text_printf(pr->out, "\n%*s}", (int)indent, "");
}

void print_line(printer *pr, uint32_t place, unsigned indent)
{
    item *it = &pr->item.at[place];
    text_printf(pr->out, "%*s", (int)indent, "");
    print_name(pr, it);
    text_add(pr->out, " = ");
    if (ir_at(pr->p, it->id)->kind == IR_LOOP)
        print_loop(pr, ir_at(pr->p, it->id)->u.loop, indent);
    else
        print_inside(pr, it->id, LEVEL_ANY);
    text_add(pr->out, "\n");
}

void print_lines(printer *pr, uint32_t b, unsigned indent)
{
    for (uint32_t k = 0; k < pr->block.at[b].line.n; k++)
        print_line(pr, pr->block.at[b].line.at[k], indent);
}

/* Lines as a list: "t1 = n * m; t2 = t1 + 1". */
static void add_on_one_line(text *out, const char *lines)
{
    for (const char *at = lines; *at;) {
        const char *line = at;
        while (*at && *at != '\n')
            at++;
        text_add_n(out, line, (size_t)(at - line));
        bool opens = at > line && at[-1] == '{';
        while (*at == '\n' || *at == ' ')
            at++;
        text_add(out, !*at ? "" : opens || *at == '}' ? " " : "; ");
    }
}

void ir_print_scalar(const ir_program *p, ir_id term, text *out)
{
    printer pr;
    if (!term || term >= p->node.n) {
        text_add(out, "?");
        return;
    }
    printer_init(&pr, p, out);
    pr.pretty = true;
    printer_collect(&pr, 1, &term, false);
    if (printer_item(&pr, term)->line && !ir_is_array(p, term)) { /* the last line: the term needs no name */
        printer_item(&pr, term)->line = false;
        pr.block.at[0].line.n--;
    }
    print_term(&pr, term, LEVEL_ANY);
    if (!pr.block.at[0].line.n)
        return;
    text parts;
    text_init(&parts, out->arena);
    pr.out = &parts;
    print_lines(&pr, 0, 0);
    text_add(out, " where ");
    add_on_one_line(out, parts.at);
}
