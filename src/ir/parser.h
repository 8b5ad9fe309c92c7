/* Private to ir/: the parser of terms. lexer.c finds tokens and names, parse_scalar.c reads expressions, functions and
 * loops, parse.c statements. After the first error every function returns 0 or false and `message` says why. */
#ifndef SN_IR_PARSER_H
#define SN_IR_PARSER_H

#include "ir/intern.h"

typedef enum { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN, TOKEN_BAD } token_kind;

typedef struct token {
    token_kind kind;
    const char *at;
    size_t n;
    uint32_t line, column; /* from 1; columns count bytes */
} token;

typedef struct symbol {
    const char *name;
    size_t n;
    uint64_t hash;
    ir_id id;
    uint32_t shadows; /* the symbol of the same hash declared before, 0: none */
} symbol;

typedef struct parser {
    ir_program *p;
    arena *arena;
    const char *at; /* behind the current token */
    const char *line_at; /* where its line begins */
    uint32_t line;
    token token, before; /* the current one; the last one stepped over */
    bool doubtful;       /* what the text says to be safe is believed only if it can be seen; then also: */
    map64 below;         /* variable -> the extent that it is inside of */
    const char *message;
    unsigned depth;
    VEC(symbol) symbol;
    map64 newest;       /* hash of a name -> newest symbol; symbol 0 stands for "none" */
    VEC(uint32_t) site; /* by their numbers in the text */
    VEC(ir_check) check;
} parser;

/* tokens */
void parser_next(parser *ps);
bool parser_is(const parser *ps, const char *sign_or_word);
bool parser_accept(parser *ps, const char *sign_or_word); /* steps over it if it stands here */
bool parser_expect(parser *ps, const char *sign_or_word);
bool parser_before(const parser *ps, char c);                          /* is c what follows the current token? */
bool parser_fail(parser *ps, const char *format, ...) SN_PRINTF(2, 3); /* always false; the first one counts */
bool parser_built(parser *ps); /* false, with a message, if a builder has reported an error */
bool parser_number(parser *ps, uint64_t limit, uint64_t *out); /* a plain whole number */
const char *parser_string(parser *ps);                         /* NULL after an error */

/* names */
void parser_declare(parser *ps, token name, ir_id id);
ir_id parser_find(const parser *ps, token name); /* 0: unknown */
uint32_t parser_open(const parser *ps);          /* a scope; names declared since are forgotten by close */
void parser_close(parser *ps, uint32_t scope);

/* scalars */
ir_id parse_term(parser *ps);
ir_id parse_sum(parser *ps);                   /* no comparison, no condition on the outside */
uint32_t parse_terms(parser *ps, ir_ids *out); /* one or more, separated by commas; 0 after an error */
ir_type parse_type(parser *ps);
uint32_t parse_site(parser *ps); /* "@3", or nothing: 0 */
ir_fn *parse_fn(parser *ps);
bool parse_let(parser *ps); /* name = term or loop */
ir_id parse_literal(parser *ps, bool negative);

#endif
