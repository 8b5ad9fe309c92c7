/* What became of a program: how many loops, buffers, kernels and launches. */
#ifndef SN_TESTS_COUNTS_H
#define SN_TESTS_COUNTS_H

#include "both.h"

typedef struct counts {
    uint32_t clusters, buffers, kernels;
    uint64_t launches;
} counts;

counts count(sn_program *p);

#define expect_counts(program, ...)                                                                                    \
    do {                                                                                                               \
        counts found = count(program), wanted = {__VA_ARGS__};                                                         \
        assert_int_equal(found.clusters, wanted.clusters);                                                             \
        assert_int_equal(found.buffers, wanted.buffers);                                                               \
        assert_int_equal(found.kernels, wanted.kernels);                                                               \
        assert_int_equal(found.launches, wanted.launches);                                                             \
    } while (0)

/* Fails unless the form of sn_explain contains the part. */
void says(sn_program *p, const char *form, const char *part);

/* Skips the test if there is no context, fails if the program is wrong. */
sn_program *compiled_in(sn_context *cx, const char *signature, sn_body body);

/* Other devices' kernels, and counts of their calls, are different ones. */
bool on_cpu(void);

#endif
