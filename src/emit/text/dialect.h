/* What differs between the C-like languages of GPUs; everything else of the text emitter is common to them. The emitter
 * itself writes long, uint, ulong, uchar for 64, 32, 64 and 8 bits: a language that lacks one defines it in its
 * prelude. */
#ifndef SN_EMIT_TEXT_DIALECT_H
#define SN_EMIT_TEXT_DIALECT_H

#include "emit/emit.h"

typedef enum {
    ATOMIC_ADD,
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCHANGE,
    ATOMIC_SWAP, /* (place, expected, new) */
    ATOMIC_COUNT
} atomic_form;

struct dialect {
    const char *name;
    const char *type[T_COUNT];    /* of values; bool lies in memory as the type of u8 */
    const char *prelude;          /* first lines of every text */
    const char *prelude_f64;      /* further lines if f64 occurs */
    const char *prelude_atomic64; /* further lines if 64-bit atomics occur */
    const char *helper;           /* qualifiers of a helper function, */
    const char *rare;             /* and of one that is called when something has failed */
    const char *table;            /* qualifiers of a constant array outside functions */
    const char *kernel;           /* qualifiers and result of a kernel function */
    const char *global, *shared;  /* address spaces of pointers, with a space behind, or "" */
    const char *shared_block;     /* printf format of a count: all shared memory of the kernel, ulong sn_shared[] */
    const char *shared_word;      /* K_MOST_CARRIED words of shared memory, ulong sn_word[] */
    const char *alone;            /* qualifier of a pointer through which alone its memory is reached */
    const char *lane, *group, *groups; /* number of this work item in its group, of this group, count of groups; i64 */
    const char *barrier;               /* waits for the group; orders its accesses to shared and global memory */
    const char *unroll;                /* line before a loop to be unrolled */
    const char *bits[T_COUNT]; /* printf format: the bits of a value of the same width as this type, from float to
                                  integer or back; NULL: not such a type */
    /* printf formats: a f32, a f64 to the integer type, towards zero; too large and too small values saturate; NaN is
     * open. */
    const char *saturate[2][T_COUNT];
    const char *f32_suffix;  /* of the math functions of f32 */
    const char *popcount[2]; /* functions of uint, of ulong */
    const char *clz[2];
    const char *atomic[ATOMIC_COUNT][2]; /* functions, on 32 and on 64 bits; all give the old value */
    bool atomic64_unsigned;              /* of the 64-bit atomics only minimum and maximum take signed operands */
    const char *fence;                   /* orders this work item's accesses to global memory */
    /* Exchanges within a gang of `gang` threads in step; 0: none, the rest is NULL. printf formats, the first operand
     * being the uint of the threads that take part. */
    uint32_t gang;
    const char *gang_lane, *gang_number; /* number of this thread in its gang, of the gang in its group; int */
    const char *gang_barrier;            /* waits for the gang; orders its accesses to memory */
    const char *ballot;  /* of a bool: a uint */
    const char *every;   /* of a bool: an int */
    const char *shuffle; /* of a value of 32 or 64 bits and the number of the thread that gives it */
    const char *pack[T_COUNT]; /* vector of 4 elements, or of as many as 16 bytes hold; members x, y, z, w */
    const char *pack_load;     /* printf format: that type, a pointer to global memory, aligned */
    bool even_rounds; /* every thread goes round a FOR_ALL equally often, and how often is hidden: PoCL 3.1 lost stores
                         of loops whose length depends on the work item, and of bodies between barriers whose loop it
                         could remove. The same of when other loops are left: one that only counts had a turn too many
                         where AVX-512 was */
};

#endif
