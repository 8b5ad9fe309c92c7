/* Private to ir/: the printer of terms. names.c decides what gets a name and a line of its own, expression.c writes
 * scalar terms, print.c writes programs. */
#ifndef SN_IR_PRINTER_H
#define SN_IR_PRINTER_H

#include "ir/intern.h"

/* A term reached by the printer. */
typedef struct item {
    ir_id id;
    uint32_t uses;
    uint32_t block;  /* of a line or a variable: where it stands or is bound */
    uint32_t number; /* of its name; 0: not named yet */
    uint8_t height;  /* of the expression as written: 0 for a name */
    bool line;       /* written as a line "t1 = ..." */
    bool small;      /* a short expression over dimensions, written out wherever it is used */
} item;

typedef VEC(item) items;

/* What stands between braces: a function or a loop; block 0 is the program. */
typedef struct block {
    const ir_fn *fn;
    const ir_loop *loop;
    VEC(uint32_t) line; /* items, in ascending order of ids */
} block;

typedef struct printer {
    const ir_program *p;
    arena *arena;
    text *out;
    items item;  /* ascending ids */
    map64 index; /* id -> place in item, plus 1 */
    map64 fn;    /* ir_fn * -> block, plus 1 */
    VEC(block) block;
    VEC(uint32_t) site;                               /* number of a site in the text, 0: not mentioned */
    uint32_t arrays, closed, loops, variables, terms; /* names given so far */
    bool pretty;                                      /* for messages: free variables, "n - 1" for "n + -1", no sites */
} printer;

enum { HIGHEST = 8 /* expressions nested deeper get names for their parts */ };

void printer_init(printer *pr, const ir_program *p, text *out);
/* Reaches from the given scalars and arrays; with `whole` from everything a program consists of. */
void printer_collect(printer *pr, uint32_t n, const ir_id *root, bool whole);
bool printer_has_shape(ir_kind kind);                    /* its text has the extents of its result */
item *printer_item(printer *pr, ir_id id);               /* NULL if it was not reached */
uint32_t printer_fn_block(printer *pr, const ir_fn *fn); /* the block of a function reached */

/* Precedence of what surrounds an expression; it is put in parentheses where its own is lower. */
typedef enum { LEVEL_ANY, LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_UNARY } level;
void print_term(printer *pr, ir_id id, level around);
void print_terms(printer *pr, uint32_t n, const ir_id *id);    /* separated by commas */
void print_line(printer *pr, uint32_t place, unsigned indent); /* of pr->item.at[place] */
void print_lines(printer *pr, uint32_t block, unsigned indent);
void print_site(printer *pr, uint32_t site); /* "@3", or nothing */
void print_name(printer *pr, item *it);
void print_string(text *out, const char *s); /* in quotes, escaped */
void print_dim(printer *pr, uint32_t dim);
void print_literal(text *out, ir_type t, ir_bits bits);

/* Is this word kept by the text form, so that nothing of the user's can be written like it? */
bool text_reserved(const char *word, size_t n);

#endif
