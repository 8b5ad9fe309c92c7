/* Runs a kernel on the CPU device and in the kernel interpreter and compares every global afterwards. */
#ifndef TESTS_EMIT_CPU_CASE_H
#define TESTS_EMIT_CPU_CASE_H

#include "device/device.h"

enum { CASE_MOST = 8 };

typedef struct cpu_case {
    arena arena;
    device *device; /* two threads, or what there is */
    uint64_t random;
    /* the case at hand */
    kernel *k;
    k_builder b;
    void *data[CASE_MOST];  /* per global; elements + 2 * `slack` of them */
    int64_t count[CASE_MOST];
    unsigned globals;
    unsigned offset; /* elements by which every global is moved off its alignment, below CASE_SLACK */
    ir_bits arg[CASE_MOST];
} cpu_case;

enum { CASE_SLACK = 16 };

void case_open(cpu_case *c); /* fails the test if there is no device */
void case_close(cpu_case *c);
/* The same for a group of tests: *state becomes a case. */
int case_setup(void **state);
int case_teardown(void **state);
kernel *case_kernel(cpu_case *c, uint16_t lanes); /* a new case; c->b is its builder */
/* A global with `count` elements: random ones if read, a pattern if only written. */
k_mem case_global(cpu_case *c, ir_type t, bool written, int64_t count);
void case_put(cpu_case *c, k_mem m, int64_t i, ir_bits v);
ir_bits case_get(const cpu_case *c, k_mem m, int64_t i);
uint64_t case_random(cpu_case *c);
ir_bits case_value(cpu_case *c, ir_type t); /* edge values and random ones */
enum { CASE_EDGES = 27 };
ir_bits case_edge(ir_type t, unsigned i); /* i < CASE_EDGES */
/* Verifies, compiles, runs pieces [0, pieces) and the interpreter; all globals and the error must agree. Floats: the same
 * bits, or both NaN. The device's result stays in the globals. */
void case_run(cpu_case *c, int64_t pieces);

#endif
