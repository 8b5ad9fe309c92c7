/* What a device can do at best, measured: bytes from caches and memory, arithmetic, launches. */
#ifndef SN_RUN_ROOF_H
#define SN_RUN_ROOF_H

#include "run/pool.h"

typedef struct run_level { /* of memory: arrays of up to so many bytes together lie there */
    double bytes;
    double read, copy; /* bytes a second: of reading alone; read and written ones together, of copying */
} run_level;

enum { RUN_LEVELS = 3 };

typedef struct run_roof {
    bool known;
    char *why; /* it is not; NULL: for want of memory */
    uint32_t levels;
    run_level level[RUN_LEVELS]; /* the last has no end */
    double f32, f64;             /* operations a second, fma counted as two; without f64, as of f32 */
    double launch;               /* seconds, of one that does next to nothing */
} run_roof;

/* Takes some ten to a hundred milliseconds, and the memory for it from the device. out->why is of the heap: the
 * caller's. */
void run_measure_roof(device *d, const base_heap *heap, run_roof *out);

/* Seconds that a launch cannot do without, given the bytes that it has to load and store, and its operations, some of
 * them on types of 8 bytes. */
double run_roof_seconds(const run_roof *roof, double loaded, double stored, double operations, double wide);
/* A launch that took so long was faster than that: the machine can do more than it could while it was measured. */
void run_raise_roof(run_roof *roof, double loaded, double stored, double operations, double wide, double seconds);

#endif
