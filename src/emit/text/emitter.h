/* State of the text emitter, shared by its files. */
#ifndef SN_EMIT_TEXT_EMITTER_H
#define SN_EMIT_TEXT_EMITTER_H

#include "emit/text/dialect.h"
#include "kernel/pack.h"
#include "kernel/walk.h"

enum {
    PENDING_READS = 1, /* some work items may still be reading */
    PENDING_WRITES = 2 /* not all see yet what one work item has stored */
};

typedef struct emitter {
    const kernel *k;
    const dialect *d;
    arena *arena;
    text body;               /* the kernel function */
    text helpers;            /* functions it uses */
    VEC(const char *) known; /* names of the helpers written so far */
    const char **name;       /* per value; NULL: not defined yet */
    const bool *narrow;      /* per value: index arithmetic in 32 bits; NULL: in 64 */
    uint32_t names;
    bool *communicated; /* per memory: what one work item writes another may read or overwrite in the same piece */
    k_ref *level;       /* per statement: the FOR_ALL around it, 0: piece level */
    bool *checked;      /* per FOR_ALL, and at 0 for the piece: has a CHECK directly at its level */
    bool *communicates; /* per FOR_ALL: touches communicated memory */
    uint8_t *leaves;    /* per loop at piece level: what code of the piece in it leaves pending */
    bool *exchanges;    /* per FOR_ALL: its threads are a gang that exchanges values */
    struct together *together; /* accesses to neighbouring elements that are done together: together.c */
    bool *packed;              /* per load and store: done for all rounds of its loop together */
    bool *apart;               /* per statement: lanes may arrive one by one */
    bool has_checks;
    k_walk walk;
    VEC(uint8_t) other;            /* per open IF at piece level: `pending` before it, or behind its first branch */
    const char *barrier, *threads; /* of a piece: waits for all; how many they are */
    uint8_t pending;     /* what piece-level code has done to communicated memory since the last barrier: PENDING_... */
    bool piece_accesses; /* ... somewhere in this kernel */
    bool uses_f64, uses_atomic64;
    const char *why; /* why it cannot be emitted; NULL: so far it can */
} emitter;

/* text.c */
void emit_line(emitter *e, const char *format, ...) SN_PRINTF(2, 3); /* of the function, indented */

/* gang.c: FOR_ALLs of one gang, and carries */
void emit_survey_gangs(emitter *e);
void emit_open_gang(emitter *e, const k_stmt *s);
void emit_exchange(emitter *e, const k_stmt *s); /* COMPACT, COUNT, SHUFFLE, ALL */
void emit_open_chain(emitter *e, const k_stmt *s);
void emit_close_chain(emitter *e, const k_stmt *s);

/* pack.c: loops whose rounds work on neighbouring elements; before the loop, behind it, and an element in it */
void emit_open_pack(emitter *e, k_ref loop);
void emit_close_pack(emitter *e, k_ref loop);
const char *emit_packed(emitter *e, k_ref id, k_ref loop);

/* together.c: loads and stores of neighbouring elements in a K_EITHER IF. */
void emit_survey_together(emitter *e);
const char *emit_either(emitter *e, k_ref id); /* what the condition needs besides: " && ..." */
bool emit_together(emitter *e, k_ref id);      /* the access, if it is such a one */

/* expression.c */
const char *emit_to_bits(emitter *e, ir_type t, const char *x);   /* a ulong */
const char *emit_from_bits(emitter *e, ir_type t, const char *x); /* of a ulong */
const char *emit_value(emitter *e, k_val v);                      /* a C expression, an operand of anything */
const char *emit_define(emitter *e, k_val v);                     /* names a value */
const char *emit_memory(emitter *e, k_mem m);
const char *emit_let(emitter *e, const k_stmt *s);         /* the right side; NULL and e->why if there is none */
const char *emit_atomic(emitter *e, const k_stmt *s);      /* the right side */
const char *emit_memory_type(const emitter *e, ir_type t); /* bool as in memory */
const char *emit_type_of(emitter *e, k_val v);             /* of a value */
bool emit_narrow(const emitter *e, k_val v);               /* a value of 32 bits that counts as one of 64? */
const char *emit_type(emitter *e, ir_type t);              /* of a value; notes the use of f64 */

#endif
