/* A program of the list: a row of a group's table (<group>.def), written X-macro style and read by table.h. */
#ifndef NEIGHBOURS_PROGRAM_H
#define NEIGHBOURS_PROGRAM_H

#include "call.h"

#include <sinter/sinter.h>

enum { NB_SIZES = 8 };

/* The groups, each with <group>.def, sinter/<group>.c and c/<group>.c (some have C sides in c/<group>_<part>.c, too;
 * `equal` compares two Sinter programs and has no C side). */
#define NB_GROUPS(X)                                                                                                   \
    X(maps)                                                                                                            \
    X(folds)                                                                                                           \
    X(argmax)                                                                                                          \
    X(rows)                                                                                                            \
    X(columns)                                                                                                         \
    X(axes)                                                                                                            \
    X(indices)                                                                                                         \
    X(stencils)                                                                                                        \
    X(windows)                                                                                                         \
    X(loops)                                                                                                           \
    X(products)                                                                                                        \
    X(segments)                                                                                                        \
    X(scans)                                                                                                           \
    X(filters)                                                                                                         \
    X(sorts)                                                                                                           \
    X(joins)                                                                                                           \
    X(rounds)                                                                                                          \
    X(permutes)                                                                                                        \
    X(programs)                                                                                                        \
    X(structs)                                                                                                         \
    X(mixed)                                                                                                           \
    X(practice)                                                                                                        \
    X(sources)                                                                                                         \
    X(records)                                                                                                         \
    X(channels)                                                                                                        \
    X(batches)                                                                                                         \
    X(tables)                                                                                                          \
    X(series)                                                                                                          \
    X(text)                                                                                                            \
    X(bodies)                                                                                                          \
    X(fields)                                                                                                          \
    X(imaging)                                                                                                         \
    X(solvers)                                                                                                         \
    X(learning)                                                                                                        \
    X(independent)                                                                                                     \
    X(compute)                                                                                                         \
    X(equal)

typedef void nb_any(void);

/* A function of arrays with as many parameters as the signature has, or of the extents and a list of them. */
struct nb_build {
    nb_any *call;
    int parameters; /* NB_LISTED: f(const int64_t *extent, const sn_acc *parameter) */
};
enum { NB_LISTED = -1 };

#define NB_BUILD(f)                                                                                                    \
    {                                                                                                                  \
        (nb_any *)(f),                                                                                                 \
            _Generic((f), sn_acc(*)(void) : 0, sn_acc(*)(sn_acc) : 1, sn_acc(*)(sn_acc, sn_acc) : 2,                   \
                     sn_acc(*)(sn_acc, sn_acc, sn_acc) : 3, sn_acc(*)(sn_acc, sn_acc, sn_acc, sn_acc) : 4,             \
                     sn_acc(*)(sn_acc, sn_acc, sn_acc, sn_acc, sn_acc) : 5, sn_acc(*)(const int64_t *, const sn_acc *) \
                     : NB_LISTED)                                                                                      \
    }

struct nb_program {
    const char *name; /* "sum/f32" */
    const char *signature;
    struct nb_build build;
    nb_c *c;                               /* NULL where `other` is the opponent */
    struct nb_build other;                 /* the plain way to write the same, in group "equal" */
    int64_t extents[NB_SIZES][NB_EXTENTS]; /* one line of the list for each of these; they end where the first is 0 */
    /* How each component of the parameters is drawn, a letter each, the last for all that follow (arguments.c); NULL:
     * as type says. */
    const char *draw;
    void (*make)(const struct nb_call *call); /* changes what was drawn: row pointers and the like; may be NULL */
    double tolerance;                         /* of floats, relative to the array's largest; 0: what rounding may do */
    double differ;                            /* the share of a result's integers that may: of chaotic programs */
    bool structs;                             /* tuples are passed as arrays of C structs */
    bool kept;                                /* results of rank 1 may have fewer elements than the signature says */
    bool fusion;                              /* also a line of group "fusion": against itself unfused */
};

#define NB_DECLARE(group) extern const struct nb_program nb_##group[];
NB_GROUPS(NB_DECLARE)

#endif
