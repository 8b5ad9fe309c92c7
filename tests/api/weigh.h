/* Functions of stencils for tests. */
#ifndef SN_TESTS_WEIGH_H
#define SN_TESTS_WEIGH_H

#include <sinter/sinter.h>

/* The sum of the rows x columns elements around the middle, each times a small number of its own. */
sn_scalar weigh(sn_scalar s, int rows, int columns);

#endif
