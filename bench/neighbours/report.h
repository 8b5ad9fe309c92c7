/* The list as text and as JSON. */
#ifndef NEIGHBOURS_REPORT_H
#define NEIGHBOURS_REPORT_H

#include "measure.h"

#include <stdio.h>

double nb_ratio(const struct nb_result *result); /* 0 where something was not measured */

/* Worst first; then the geometric mean and how many are above 1.3, 3 and 10, group by group and of all that stand
 * against C. Sorts the results. */
void nb_report(FILE *out, struct nb_result *results, size_t count);

/* A list of objects: program, group, n, sinter_ms, c_ms, ratio. False with a message on stderr. */
bool nb_write_json(const char *path, const struct nb_result *results, size_t count);

#endif
