/* Arrays of structs in the caller's memory, whose fields are components of parameters and results.
 *
 * Where kernels reach the caller's memory they read and write fields where they are: a call has a *layout*, which says
 * of each buffer whether it is a field, and kernels are made for a layout. Which buffers that is good for is decided
 * twice. The plan says how often a field is read, and whether results are read again. The kernel says, when it is
 * built, whether it takes elements in the order in which they lie. All others are taken apart into one array a field
 * when a launch first reads them, or put together from such arrays when the call is over. */
#ifndef SN_RUN_FIELDS_H
#define SN_RUN_FIELDS_H

#include "run/program.h"

/* What each buffer of a program is good for; made with the program, immutable. */
typedef struct run_uses {
    uint32_t readers; /* clusters that read it */
    bool alone;       /* an output that one launch writes and nothing reads */
} run_uses;
run_uses *run_find_uses(const run_program *r, arena *a);

/* The layout of a call, for as long as the program; NULL: no field is used where it is, and nothing is written over. */
const run_layout *run_find_layout(run *c);
/* over.c: sets `over` of the results that take the memory of parameters in this call; false: none does. */
bool run_write_over(run *c, run_field *at);
/* The call has succeeded: a result that has done so gets what its memory was granted, which is the parameter's no
 * more. */
void run_take_over(run *c, uint32_t buffer, size_t *granted);
/* Which arrays of a new kernel, by number of its binding, are used where they are: these become fields in it. */
bool *run_lay_out(const run_program *r, uint32_t cluster, const run_layout *layout, sk_kernel *built, arena *t);

/* Is the buffer an array of fields in the caller's memory? */
static inline bool run_is_field(const run *c, uint32_t buffer)
{
    return c->field && c->field[buffer].data;
}

/* Makes an array of the buffer, which is an input, and of all others of the same structs that are not used where they
 * are, by kernels or by this one. `v`: NULL if it is none. */
bool run_take_apart(run *c, uint32_t buffer, const run_variant *v);
/* The same of inputs that results are written over. */
bool run_take_overlapping(run *c);
/* The memory that a result in fields is put together from when the call is over, of this buffer. */
bool run_put_aside(run *c, uint32_t result, uint32_t buffer);
void run_put_together(run *c); /* the call succeeded */
void run_free_fields(run *c);

/* The same for calls that are interpreted: arguments and results as arrays; gives memory back. */
typedef struct run_arrays {
    run_argument *in;
    run_result *out;
    void **memory;
    uint32_t n;
} run_arrays;
bool run_fields_as_arrays(run_program *r, const run_argument *in, run_result *out, arena *a, run_arrays *arrays);
void run_arrays_end(run_program *r, run_result *out, run_arrays *arrays, bool good);

#endif
