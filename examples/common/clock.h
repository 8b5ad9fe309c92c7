/* Seconds since some fixed time. */
#ifndef EXAMPLES_CLOCK_H
#define EXAMPLES_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
