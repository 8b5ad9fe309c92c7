/* State of the text emitter, shared by its files. */
#ifndef SN_EMIT_TEXT_EMITTER_H
#define SN_EMIT_TEXT_EMITTER_H

#include "emit/text/dialect.h"
#include "kernel/walk.h"

typedef struct emitter {
    const kernel *k;
    const dialect *d;
    arena *arena;
    text body;               /* the kernel function */
    text helpers;            /* functions it uses */
    VEC(const char *) known; /* names of the helpers written so far */
    const char **name;       /* per value; NULL: not defined yet */
    uint32_t names;
    bool *communicated; /* per memory: what one work item writes another may read or overwrite in the same piece */
    k_ref *level;       /* per statement: the FOR_ALL around it, 0: piece level */
    bool *checked;      /* per FOR_ALL, and at 0 for the piece: has a CHECK directly at its level */
    bool *communicates; /* per FOR_ALL: touches communicated memory; per loop at piece level: code of the piece in it
                           does */
    bool has_checks;
    k_walk walk;
    VEC(bool) other;     /* per open IF at piece level: `pending` before it, or behind its first branch */
    bool pending;        /* piece-level code has touched communicated memory since the last barrier */
    bool piece_accesses; /* ... somewhere in this kernel */
    bool uses_f64, uses_atomic64;
    const char *why; /* why it cannot be emitted; NULL: so far it can */
} emitter;

/* expression.c */
const char *emit_value(emitter *e, k_val v);  /* a C expression, an operand of anything */
const char *emit_define(emitter *e, k_val v); /* names a value */
const char *emit_memory(emitter *e, k_mem m);
const char *emit_let(emitter *e, const k_stmt *s);         /* the right side; NULL and e->why if there is none */
const char *emit_atomic(emitter *e, const k_stmt *s);      /* the right side */
const char *emit_memory_type(const emitter *e, ir_type t); /* bool as in memory */
const char *emit_type(emitter *e, ir_type t);              /* of a value; notes the use of f64 */

#endif
