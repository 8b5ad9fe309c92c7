#include "common/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* strtol and strtof pass over white space, and take an empty text for 0. */
static bool begins(const char *text)
{
    return (*text >= '0' && *text <= '9') || *text == '-' || *text == '+' || *text == '.';
}

bool argument_whole(const char *text, const char *name, long low, long high, long *out)
{
    char *end = NULL;
    errno = 0;
    long n = begins(text) ? strtol(text, &end, 10) : 0;
    if (!end || end == text || *end || errno || n < low || n > high) {
        fprintf(stderr, "%s: \"%s\" is no whole number from %ld to %ld\n", name, text, low, high);
        return false;
    }
    *out = n;
    return true;
}

bool argument_real(const char *text, const char *name, float low, float high, float *out)
{
    char *end = NULL;
    errno = 0;
    float x = begins(text) ? strtof(text, &end) : 0;
    if (!end || end == text || *end || errno || !(x >= low && x <= high)) {
        fprintf(stderr, "%s: \"%s\" is no number from %g to %g\n", name, text, (double)low, (double)high);
        return false;
    }
    *out = x;
    return true;
}
