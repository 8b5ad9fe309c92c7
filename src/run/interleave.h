/* Arrays of structs taken apart into one array a field, and put together again. */
#ifndef SN_RUN_INTERLEAVE_H
#define SN_RUN_INTERLEAVE_H

#include "base/base.h"

typedef struct interleave_field {
    size_t offset, size; /* in the struct; 1, 2, 4 or 8 bytes */
    char *part;          /* n of them, one behind the other */
} interleave_field;

/* The fields do not overlap each other; parts and structs do not overlap in memory. Nothing needs to be aligned. */
typedef struct interleave {
    char *whole;  /* n structs */
    size_t bytes; /* of a struct */
    size_t n;
    unsigned fields;
    const interleave_field *field;
    bool together;    /* from the parts to the structs, whose other bytes stay as they are; else the other way */
    bool stream;      /* what is written is more than the caches hold */
    unsigned threads; /* of the process's pool, at most; 1: the calling thread alone */
} interleave;

/* Takes no memory. May be called by several threads at once. */
void interleave_run(const interleave *x);

/* The same, an element after the other: for tests. */
void interleave_plainly(const interleave *x);

#endif
