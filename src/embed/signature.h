/* Private to embed/: the signature of a program, "[n,m]f32, f32 -> [n](f32, i32)". */
#ifndef SN_EMBED_SIGNATURE_H
#define SN_EMBED_SIGNATURE_H

#include "embed/value.h"

typedef struct signature_port {
    unsigned rank;
    const char *name[IR_MAX_RANK]; /* of the extent; NULL: a constant */
    int64_t constant[IR_MAX_RANK];
    const tree *tree;
    VEC(ir_type) type;
    const char *text; /* "[n,m](f32, i32)" */
} signature_port;

typedef VEC(signature_port) signature_ports;
typedef struct signature {
    signature_ports param, result;
} signature;

/* signature = [ports] "->" ports;  ports = port {"," port};  port = ["[" extent {"," extent} "]"] element;
 * extent = name | number;  element = type | "(" element "," element {"," element} ")" |
 * "{" name ":" element {"," name ":" element} "}".
 * Spaces are free. False after a mistake, reported with a caret below the place. */
bool signature_parse(const op *o, const char *source, signature *out);

/* build.c: where the components of a port lie in a C struct. */
void embed_set_layout(const op *o, const signature_port *s, embed_port *port);
/* build.c: the program's results, checked against the signature: types are reported, extents become checks. */
void embed_describe_results(const op *o, uint32_t n, const value *const *part, const signature *s, embed_result *info);

#endif
