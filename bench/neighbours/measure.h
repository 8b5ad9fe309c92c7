/* Runs the two sides of one line of the list in turn. */
#ifndef NEIGHBOURS_MEASURE_H
#define NEIGHBOURS_MEASURE_H

#include "arguments.h"

/* How long a line takes. */
struct nb_effort {
    double seconds; /* of running, both sides together; 0: one run of each side */
    double burst;   /* of running one side before the other's turn */
};

/* The opponent is the C function, else another program or the same in another context. */
struct nb_opponent {
    nb_c *c;
    sn_context *context;
    const struct nb_build *build;
};

struct nb_result {
    char name[96];
    const char *group;
    int64_t n;
    double sinter; /* seconds */
    double opponent;
    bool good;
    char text[200]; /* what is wrong */
};

/* Fills `sinter`, `opponent` and `good`. A failure to compile or to run, and results that differ, are not good. */
void nb_measure(sn_context *context, const struct nb_program *program, const struct nb_opponent *opponent,
                const struct nb_arguments *arguments, const struct nb_effort *effort, struct nb_result *result);

/* The compiled program, NULL with sn_message after an error. */
sn_program *nb_compile(sn_context *context, const struct nb_program *program, const struct nb_build *build,
                       const int64_t *extents);

#endif
