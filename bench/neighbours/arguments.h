/* The arguments of a program at one choice of its extents, for both sides. */
#ifndef NEIGHBOURS_ARGUMENTS_H
#define NEIGHBOURS_ARGUMENTS_H

#include "program.h"

#include <stddef.h>

enum { NB_RANK = 4, NB_PORTS = 12, NB_COMPONENTS = 8 };

/* A parameter or a result. */
struct nb_port {
    int rank; /* -1: not there */
    int64_t extent[NB_RANK];
    int components;
    sn_type type[NB_COMPONENTS];
    bool tuple;
};

struct nb_signature {
    int parameters;
    int results;
    struct nb_port port[2 * NB_PORTS]; /* parameters, then results */
};

/* Reads a signature, where names stand for the extents in turn. False with a message on stderr if it does not parse
 * here, which knows no more than the list needs. */
bool nb_parse(const char *signature, const int64_t *extents, struct nb_signature *to);

/* A piece of memory: one component of a port, or all of them as structs. */
struct nb_memory {
    const struct nb_port *port;
    int component;  /* -1: structs */
    int64_t count;  /* elements */
    size_t size;    /* bytes of one */
    size_t bytes;   /* of all */
    void *at;       /* of a parameter: read by both sides; of a result: written by Sinter */
    void *opponent; /* of a result: written by the opponent */
    int64_t found, opponent_found; /* how many elements each has written, where that may be fewer */
};

struct nb_arguments {
    struct nb_signature signature;
    struct nb_memory memory[2 * NB_MEMORY];
    int ins;
    int outs;
    int64_t n; /* elements of the largest */
    struct nb_call call;
    sn_arg sinter[2 * NB_MEMORY];   /* with results to `at` */
    sn_arg opponent[2 * NB_MEMORY]; /* with results to `opponent` */
};

/* Makes arguments and draws the inputs, the same every time. False with a message on stderr; to be freed in any case.
 */
bool nb_arguments_make(const struct nb_program *program, const int64_t *extents, struct nb_arguments *to);
void nb_arguments_free(struct nb_arguments *arguments);

/* Whether both sides' results agree; else the text says where they differ. */
bool nb_arguments_agree(const struct nb_program *program, const struct nb_arguments *arguments, char *text,
                        size_t size);

/* c/memory.c: memory in huge pages, first touched by the threads that will use it; NULL when there is none. */
void *nb_alloc(size_t bytes);
void nb_release(void *memory, size_t bytes);
/* How many threads the C sides take; 0: one for each processor. Returns their number. */
int nb_threads(int threads);

#endif
