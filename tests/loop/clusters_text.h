/* The clusters of a program that is given as a text, compared with a text. */
#ifndef SN_TEST_CLUSTERS_TEXT_H
#define SN_TEST_CLUSTERS_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "loop/cluster.h"

int clusters_setup(void **state);
int clusters_teardown(void **state);

/* Clusters, made with fusion and the cost model besides these options. */
void expect_with(l_options options, const char *source, const char *clusters);
void expect(const char *source, const char *clusters); /* with row loops */
unsigned count_clusters(l_options options, const char *source);
void expect_edges(const char *source, const char *edges);

#endif
