/* How tests steer the library that stands in for OpenCL's loader, and see what it was asked for: found with dlsym as
 * `fake_opencl`. Change it while nobody calls. Set all of it to zero but for what follows: a platform with one device
 * that can do everything. */
#ifndef SN_TESTS_FAKE_OPENCL_CONTROL_H
#define SN_TESTS_FAKE_OPENCL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_OPENCL_WAITS = 8, FAKE_OPENCL_PUTS = 1024 };
enum { FAKE_OPENCL_LAUNCH_NS = 1234 }; /* what a launch takes by the events of this driver */

typedef struct fake_launch {
    size_t groups, group;
    unsigned arguments;
    const void *const *value; /* per argument: the scalar's bytes, or what fake_block turns into a block's memory */
} fake_launch;

/* What was put into a queue; clFinish, too. */
typedef struct fake_put {
    const char *call;
    long queue, event; /* numbers of the queue, from 1; of the event that it makes, from 1; 0: it makes none */
    bool flushed;      /* the queue was told to begin with it */
    unsigned waits;    /* for events, which had been flushed when it was put in */
    long wait[FAKE_OPENCL_WAITS];
    bool early; /* it waits for one that had not been */
} fake_put;

typedef struct fake_opencl_control {
    long fail_at;  /* number of the call that fails, from 1; 0: none. Releasing and asking never fail */
    int32_t error; /* with which it fails */
    bool stays;    /* all later calls fail, too */

    bool no_platform, no_device;
    bool broken_platform; /* a first platform whose devices cannot be listed */
    bool no_subnormals, no_f64, gpu, named_pocl, renamed;
    bool reject; /* every source */
    bool reject_binaries;
    size_t most_items; /* of a group, for built kernels; 0: 1024, SIZE_MAX: none */
    size_t memory;     /* bytes of the device; 0: 1 GiB */

    /* Runs a launch, with the host's pointers; NULL: launches do nothing. */
    void (*run)(void *env, const fake_launch *l);
    void *env;

    /* counted: */
    long calls, built, loaded, launches, uploads, downloads, copies, waited; /* waited: for events */
    long objects;         /* that exist: contexts, queues, blocks, programs, kernels, events */
    size_t group;         /* of the last launch */
    char source[1 << 16]; /* of the last program, cut */
    char options[256];    /* of the last build */
    long queues, events;  /* ever made; both are numbered */
    unsigned puts;        /* set it to 0 to begin anew; what is too many is left out */
    fake_put put[FAKE_OPENCL_PUTS];
    char failed[64]; /* the first call that was made to fail; set it to "" before */
} fake_opencl_control;

#endif
