/* The embedding: runs a C function that computes with sn_acc and sn_scalar handles, and gives the program it built.
 *
 * This is what the api layer uses; the functions that the user's code calls are declared in sinter/sinter.h. */
#ifndef SN_EMBED_BUILD_H
#define SN_EMBED_BUILD_H

#include "ir/term.h"
#include "sinter/sinter.h"

/* A parameter or result: one array, `components` arguments of a call. */
typedef struct embed_port {
    uint8_t rank;
    uint8_t components;
    bool tuple;           /* may be passed as an array of C structs: */
    size_t bytes;         /* of one such struct */
    const size_t *offset; /* per component: where it lies in it, in bytes */
    const ir_type *type; /* per component */
    const ir_id *shape;  /* per dimension: parameters: an IR_DIM or a constant; results: the extent computed */
    const char *text;    /* as the signature has it: "[n,m](f32, i32)" */
} embed_port;

/* Data that the program brings along (sn_use): one more input each, behind those of the parameters. */
typedef struct embed_constant {
    ir_type type;
    uint8_t rank;
    int64_t extent[IR_MAX_RANK];
    const void *data; /* contiguous, row-major */
    size_t bytes;
    const void *from; /* the user's memory: only to recognise it */
    ir_id array;
} embed_constant;

typedef VEC(embed_constant) embed_constants;

typedef struct embed_result {
    uint32_t params, results;
    embed_port *param, *result;
    embed_constants constant;
    bool bad_signature; /* the signature did not parse: the program is empty but for the error */
} embed_result;

/* Parses the signature, calls body on its parameters, checks what it returns, and gives the program, with inputs and
 * outputs in the order of the signature. `at` is the place of the call, for errors. The program and *info live in the
 * arena. If program->error.n > 0 the program is wrong and must not be used but for its messages. NULL: out of memory
 * (the arena's failure handler is not called, and left as it was).
 * Thread-safe: everything hangs off the arena and the calling thread; builds may be nested. */
ir_program *embed_build(arena *a, sn_site at, const char *signature, sn_body body, embed_result *info);
/* What becomes of a build whose body never returns, because it was left by longjmp or an exception: found by a later
 * operation, build, or embed_drop_left on its thread. `abandon` frees the arena, in which this struct may lie. */
typedef struct embed_owner {
    void (*abandon)(void *env);
    void *env;
} embed_owner;

/* The same; plain: without simplification of scalar terms, then and later (ir_program.plain). `owner` may be NULL. */
ir_program *embed_build_as(arena *a, sn_site at, const char *signature, sn_body body, bool plain,
                           const embed_owner *owner, embed_result *info);
void embed_drop_left(void); /* ends builds of this thread whose bodies were left */

/* The same from a text of terms (docs/text-forms.md) that anybody may have written, in place of a function: its line
 * "signature" if there is one, else what its inputs and outputs are. Extents of calls must be at most
 * IR_LARGEST_EXTENT (ir/inside.h). NULL: out of memory, or *message (in the arena) says what is wrong with the text. */
ir_program *embed_parse(arena *a, sn_site at, const char *source, bool plain, embed_result *info, const char **message);
/* The line "signature" of a program's text. */
void embed_print_signature(const embed_result *info, text *out);

/* All errors of a program, one a line: "file:line: operation: what is wrong". */
void embed_messages(const ir_program *p, text *out);
/* One of its warnings, in the same form, without an end of line. */
void embed_warning(const ir_program *p, uint32_t which, text *out);

#endif
