/* Numbers on the command line. */
#ifndef EXAMPLES_ARGUMENTS_H
#define EXAMPLES_ARGUMENTS_H

#include <stdbool.h>

/* Reads a number that is all of `text` and lies from `low` to `high`. Otherwise false, *out stays, and stderr says
 * which argument is wrong, what it was, and what would be right. */
bool argument_whole(const char *text, const char *name, long low, long high, long *out);
bool argument_real(const char *text, const char *name, float low, float high, float *out);

#endif
