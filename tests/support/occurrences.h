/* How often a text has a part; parts may overlap. */
#ifndef SUPPORT_OCCURRENCES_H
#define SUPPORT_OCCURRENCES_H

#include <string.h>

static inline unsigned occurrences(const char *in, const char *part)
{
    unsigned n = 0;
    for (const char *at = strstr(in, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

#endif
