/* How tests steer the libraries that stand in for CUDA's: found with dlsym under these names. */
#ifndef SN_TESTS_FAKE_CUDA_CONTROL_H
#define SN_TESTS_FAKE_CUDA_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

enum { FAKE_CUDA_LAST = 64 }; /* launches that are remembered */

/* libfake_cuda.so: `fake_cuda`. Change it while nobody calls. */
typedef struct fake_cuda_control {
    long fail_at;   /* this many more calls succeed, then every one fails until `failures` have; -1: none */
    long failures;  /* ... -1: all of them */
    int error;      /* with which a call fails */
    bool backwards; /* threads of a block run from the last to the first */
    size_t memory;  /* of each device, bytes */
    int registers;  /* of a thread of every kernel; 0: 32 */
    /* counted: */
    long calls, launches, blocks, host_blocks, modules, streams, events,
        retained;                                                          /* the first two ever, the others now */
    long made, recorded, awaited, waited;                                          /* ever: streams, events, waits of streams, of the host */
    long launched_in[FAKE_CUDA_LAST]; /* of launch number n at n % FAKE_CUDA_LAST: the number of its stream, from 0 */
    long mistakes;                                                         /* of the caller: see `mistake` */
    char mistake[256];                                                     /* the first */
    char last_failed[64];                                                  /* the call that was made to fail */
    unsigned last_grid, last_group, last_shared;                           /* of the last launch */
} fake_cuda_control;

enum {
    FAKE_CUDA_LAUNCH_NS = 2500,   /* what a launch takes by the events of this driver */
    FAKE_CUDA_STACKS = 128 << 20, /* bytes: 1024 threads of FAKE_STACK (device.hpp) */
};

/* libfake_nvrtc.so: `fake_nvrtc`. */
typedef struct fake_nvrtc_control {
    bool reject;            /* every source */
    int major;              /* of its version; 0: 12 */
    long compiled, checked; /* sources; those that the real one took, too */
} fake_nvrtc_control;

/* What the compiler makes: bytes of a shared library behind this. */
typedef struct fake_image {
    char magic[8]; /* "FAKECUB" or "FAKEPTX" */
    unsigned arch;
    size_t size;
} fake_image;

#endif
