/* The benchmark harness: a row is one program at one size, run by two sides in turn, the compiled Sinter program and
 * the hand-written C. */
#ifndef SINTER_BENCH_HARNESS_H
#define SINTER_BENCH_HARNESS_H

#include "team.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Every row's data starts with this. Useful bytes of one run, counting each element of an input or output once. */
struct bench_data {
    int64_t n; /* elements, as shown in the table */
    int64_t read_bytes;
    int64_t written_bytes;
};

/* The Sinter side of a program, in bench/sinter/<program>.c. Its threads must be off the CPUs half a millisecond after
 * run returns. */
struct bench_side {
    /* Builds and compiles, outside the timed part. NULL on failure, with a message on stderr. `data` is the row's and
     * outlives the state. */
    void *(*open)(void *data);
    /* One run, timed, from the inputs in `data` to the side's own outputs there. Returns 0 on failure, with a message
     * on stderr. */
    int (*run)(void *state, void *data);
    void (*close)(void *state);
};

struct bench_row {
    const char *name;   /* no spaces; rows of one program share a prefix */
    int64_t extents[2]; /* rows and columns; {1, n} for a vector */
    int compute_bound;  /* the memory's roof says nothing about it */
    /* Allocates and fills inputs (same values every time) and makes room for both sides' outputs. NULL when memory ran
     * out. */
    void *(*setup)(struct team *team, int64_t rows, int64_t columns);
    void (*teardown)(void *data);
    void (*run_c)(struct team *team, void *data);
    const struct bench_side *sinter; /* NULL where there is none */
    /* Compares the outputs of both sides. Returns 1 when they agree within the row's tolerance, which the function
     * states; writes how far they are apart. */
    int (*agree)(const void *data, char *text, size_t size);
};

struct bench_options {
    int64_t shrink; /* sizes are divided by this */
    int least_runs;
    double seconds; /* for each side and row, once least_runs are done */
};

/* What came of a row. Times in seconds, bandwidth in bytes per second; 0 where not measured. */
struct bench_result {
    const struct bench_row *row;
    int64_t n;
    int64_t bytes;
    double sinter;
    double c;
    double roof; /* the least time the probed bandwidth allows; 0 for rows bound by arithmetic */
    double read_bandwidth;
    double copy_bandwidth;
    int agrees; /* 1 also where there is only one side */
    char text[120];
};

struct probe;

/* Runs one row. Returns 0 when memory ran out or the Sinter side failed. */
int bench_measure(struct team *team, struct probe *probe, const struct bench_row *row,
                  const struct bench_options *options, struct bench_result *result);

void bench_print_head(FILE *out);
void bench_print_row(FILE *out, const struct bench_result *result);

/* A list of objects: program, n, sinter_ms, c_ms, ratio, bytes, roof_share, c_roof_share; null where not measured. */
void bench_write_json(FILE *out, const struct bench_result *results, size_t count);

double bench_now(void);

/* Zeroed memory in huge pages where the system has them, already touched, aligned to 2 MiB. NULL when there is none. */
void *bench_alloc(size_t bytes);
void bench_free(void *memory, size_t bytes);

/* Fills x with uniform values from [low, high), the same for the same seed on any number of workers. */
void bench_fill(struct team *team, float *x, int64_t n, float low, float high, uint64_t seed);

/* A well-mixed 64-bit number for each i and seed. */
uint64_t bench_hash(uint64_t i, uint64_t seed);

#endif
