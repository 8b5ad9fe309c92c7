/* What differs between the C-like languages of GPUs; everything else of the text emitter is common to them. */
#ifndef SN_EMIT_TEXT_DIALECT_H
#define SN_EMIT_TEXT_DIALECT_H

#include "emit/emit.h"

struct dialect {
    const char *name;
    const char *type[T_COUNT];         /* of values; bool lies in memory as the type of u8 */
    const char *prelude;               /* first lines of every text */
    const char *prelude_f64;           /* further lines if f64 occurs */
    const char *prelude_atomic64;      /* further lines if 64-bit atomics occur */
    const char *helper;                /* qualifiers of a helper function */
    const char *kernel;                /* qualifiers and result of a kernel function */
    const char *global, *shared;       /* address spaces, with a space behind, or "" */
    const char *lane, *group, *groups; /* number of this work item in its group, of this group, count of groups; i64 */
    const char *barrier;               /* waits for the group; orders its accesses to shared and global memory */
    const char *unroll;                /* line before a loop to be unrolled */
    const char *bitcast;               /* printf format: type, value */
    const char *saturate;       /* printf format: integer type, float value: truncation that saturates; NaN open */
    const char *popcount, *clz; /* functions of an unsigned integer, the latter within its own width */
    /* Forms of atomics, printf formats of function name suffix: "add", "min", ... 32 and 64 bits wide; compare and
     * swap. */
    const char *atomic32, *atomic64;
    const char *swap32, *swap64;
    const char *fence; /* orders this work item's accesses to global memory */
};

#endif
