/* The loops of programs as those of each kind of device are, for tests that say what becomes of them. */
#ifndef SN_TESTS_CODE_LOOPS_H
#define SN_TESTS_CODE_LOOPS_H

#include "skeleton/skeleton.h"

typedef enum {
    LOOPS_PLAIN,   /* on any device */
    LOOPS_TILES,   /* devices with vectors: what is made of a contraction's results shares its loop */
    LOOPS_THREADS, /* devices whose blocks are many threads */
    LOOPS_KINDS
} loops_kind;

/* Those of a program, which is changed. */
const sk_program *code_loops(ir_program *p, loops_kind kind);

/* Those of a program's text, where they are others than the plain ones; NULL if they are not. */
const sk_program *code_other_loops(const char *source, loops_kind kind, arena *a);

#endif
