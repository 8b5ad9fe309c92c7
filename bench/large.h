/* Large programs: what a first compilation and call of them take of the processor's time and of memory, and whether
 * that is linear in their size. Each is measured in a process of its own, which says so on its standard output. */
#ifndef BENCH_LARGE_H
#define BENCH_LARGE_H

enum { LARGE_SMALL = 200 /* operations of a program that takes no more memory than any */ };

typedef struct large_program {
    const char *name;
    int operations;    /* that the budgets are for */
    double budget_ms;  /* of processor time, for compiling and calling it once */
    double budget_kib; /* of memory, an operation; 0: so few that what any first call takes would be all of it */
} large_program;

extern const large_program large_programs[];
extern const int large_count;

/* Compiles and calls the program of this name with so many operations, and compares its results with plain C. Prints
 * the processor time of both in microseconds, and the process's largest memory in KiB. 0: as it should be. */
int large_child(const char *name, int operations);

#endif
