/* First calls of single operations, by operation, type and rank: each in a process of its own with nothing cached. */
#ifndef BENCH_FIRST_CALLS_H
#define BENCH_FIRST_CALLS_H

struct first_call {
    char name[64]; /* "rotate, [a,b]u8" */
    double ms;     /* processor time of opening, compiling and calling, the least of a few tries */
    int group;
};

enum { FIRST_SINGLE, FIRST_SCANS, FIRST_GROUPS };

/* Measures all cases whose name contains `only` (NULL: all), one after the other; the list is allocated with malloc.
 * Each is tried again up to four times where it takes longer than budget_ms. Returns how many, or -1 after a message.
 * To be called before the process has opened a context, so that each child loads the code generator itself. */
int first_calls(const char *only, double budget_ms, struct first_call **list);

#endif
