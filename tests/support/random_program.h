/* Random well-typed programs with inputs, for comparing ways to run them; and smaller ones that still fail. */
#ifndef SN_TESTS_RANDOM_PROGRAM_H
#define SN_TESTS_RANDOM_PROGRAM_H

#include "ir/interpret.h"
#include "support/choices.h"

typedef struct random_options {
    uint32_t operations; /* at most so many array operations */
    uint32_t types;      /* set of 1u << ir_type: of array components; scalar code uses bool and i64 besides */
    uint32_t kinds;      /* set of 1u << ir_kind: array operations and, of scalar terms, COND, LOOP and READ */
    unsigned rank;       /* 0 to 3 */
    uint32_t extent;     /* largest extent of an input */
    uint32_t terms;      /* scalar terms of a function, about */
    bool math;           /* elementary functions */
    bool inexact_folds;  /* + and * as operators of folds of floats */
    bool plain;          /* terms are not simplified */
    bool chains; /* programs of random_chain.h; of the above, only the number of operations counts, and failures */
    bool rows;   /* scans, packs, sorts, permutes, segments and joins, too */
    unsigned controls; /* loops and choices of arrays: so many within each other at most */
    bool failures;     /* partial operators and reads that may fail, extents that may differ */
} random_options;

/* Everything but elementary functions, inexact folds and failures. */
random_options random_everything(void);

typedef struct random_case {
    ir_program *program;
    ir_value *input; /* one per input of the program */
    choices choices; /* from which it was made */
} random_case;

/* The program of a seed; always the same for the same options. */
random_case random_program(arena *a, const random_options *o, uint64_t seed);
random_case random_program_again(arena *a, const random_options *o, uint32_t n, const uint32_t *made);

/* A smaller case for which `fails` still returns true, starting from `found`, for which it must. The arena given to
 * `fails` is freed after each attempt; a case that crashes is not survived. */
typedef bool (*random_predicate)(void *env, arena *a, const random_case *c);
random_case random_shrink(arena *a, const random_options *o, const random_case *found, random_predicate fails,
                          void *env);

/* Prints the program and the values of its inputs. */
void random_print(const random_case *c, text *out);

#endif
