/* What the tests of the embedding share: build a function, look at the program's text or messages. */
#ifndef SN_TESTS_EMBED_TEST_H
#define SN_TESTS_EMBED_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "embed/build.h"

typedef struct built {
    arena arena;
    ir_program *program;
    embed_result info;
    const char *text;     /* printed, "" after an error */
    const char *messages; /* "" if there is none */
} built;

/* Builds; then everything is checked that must hold for every build: a correct program passes the checker and is the
 * same after printing and parsing, a wrong one has messages. Free with built_free. */
built *build_at(sn_site at, const char *signature, sn_body body);
#define build(signature, f) build_at(SN_HERE, signature, SN_BODY(f))
void built_free(built *b);

/* The message names this line of `file`, the operation and all the words; no other line has an error. NULL ends words.
 */
void expect_message(built *b, const char *file, int line, const char *operation, ...);
/* Inputs of a run: extents, and numbers in row-major order, the components of an element side by side; converted to the
 * types of the program. */
typedef struct numbers {
    int rank;
    int64_t extent[8];
    const double *at;
} numbers;
#define NUMBERS(...) ((const double[]){__VA_ARGS__})
/* Interprets a correct program; the elements of all results, one result after the other, are these. Frees b. */
void expect_values(built *b, const numbers *input, int count, const double *wanted);

#endif
