/* What all devices behind a driver have in common: memory that is counted, queues that are used again, kernels kept in
 * memory and on disk, and what is said when something is refused. Such a device begins with a driver_device, its
 * kernels and queues with a driver_kernel and a driver_queue; what it writes itself is listed in driver_functions. */
#ifndef SN_DEVICE_DRIVER_H
#define SN_DEVICE_DRIVER_H

#include "device/disk_cache.h"
#include "device/kernel_cache.h"
#include <stdatomic.h>

typedef struct driver_kernel {
    kernel_entry entry;
    uint32_t memories, arguments; /* pointers and scalars of a launch */
    bool checks;                  /* may report errors */
    char *source;                 /* for explain; NULL: not kept */
} driver_kernel;

/* DRIVER_AHEAD: how far the host may run ahead, to twice as many launches. Enough to hide what a launch costs the host;
 * a loop of many rounds neither fills the driver's memory nor goes on for long when it is cancelled. */
enum { DRIVER_WHY_BYTES = 200, DRIVER_ERROR_WORDS = 4, DRIVER_AHEAD = 16 };

typedef struct driver_queue {
    device_queue *next; /* among the idle ones */
    bool busy;          /* something was put in since it was last waited for */
    uint32_t used;      /* error records of launches that have not been looked at */
    k_error error;      /* the first that was found */
    device_state state;
    char why[DRIVER_WHY_BYTES]; /* unless DEVICE_FINE */
} driver_queue;

typedef struct driver_functions {
    /* kernel_text, open_queue, copy, clear, enqueue, finish and close_queue are set; driver_new sets the others. */
    device device;
    size_t device_bytes, kernel_bytes;
    const char *suffix;                     /* of kept sources: ".cl" */
    void *(*take)(device *d, size_t bytes); /* at least one; NULL: there are none */
    void (*give)(device *d, void *block);
    void (*free_queue)(device *d, device_queue *q);
    bool (*obtain)(device *d, const kernel *k, const text *key, kernel_entry *e, arena *a, const char **why);
    void (*discard)(device *d, kernel_entry *e); /* what driver_kernel holds is freed behind it */
    void (*end)(device *d);                      /* the last: gives up what opening it took */
} driver_functions;

typedef struct driver_device {
    device device;
    const driver_functions *functions;
    device_limits limits;
    base_heap heap;
    bool keep_text;
    size_t most_block; /* bytes of one block of memory; 0: as many as there are */
    disk_cache *disk;  /* NULL: nothing is kept on disk */
    arena names;       /* of identity */
    text identity;     /* what keys on disk begin with */
    /* private: */
    kernel_cache kernels;
    atomic_size_t used;   /* bytes of all blocks */
    pthread_mutex_t lock; /* of what follows */
    device_queue *idle;
} driver_device;

/* --- opening and closing --- */

/* A device of device_bytes, all zero behind the driver_device. NULL: no memory. Closed by its `close`, which copes with
 * what has not been opened yet. */
driver_device *driver_new(const driver_functions *f, const device_options *o);
/* Runs `name`, which writes into d->identity (whose arena fails by longjmp) everything that decides which code is made
 * of a kernel, and opens the cache on disk. False and *why in `a`. */
bool driver_identify(driver_device *d, bool (*name)(driver_device *d, arena *a, const char **why), arena *a,
                     const char **why);
/* Why none was opened: of those of a kind that were found `usable` can be used; the first, and what is said of it. */
const char *driver_none(const char *kind, unsigned number, unsigned usable, const char *first, const char *why,
                        arena *a);
size_t driver_smaller(size_t limit, size_t wanted); /* wanted 0: no wish */

/* --- kernels --- */

void driver_describe(driver_kernel *out, const kernel *k);
text driver_key(const driver_device *d, const text *kernel_key, arena *a); /* on disk; more may be added */
/* *why: who rejects the kernel, where its source is kept, what the log says. Returns false. */
bool driver_rejects(const driver_device *d, const char *who, const kernel *k, const char *source, const char *log,
                    arena *a, const char **why);
void driver_keep_source(const driver_device *d, driver_kernel *out, const text *source); /* for explain, if wanted */

/* --- queues --- */

device_queue *driver_idle_queue(driver_device *d); /* NULL: there is none */
bool driver_reusable(const driver_queue *q);       /* nothing of the last call is left in it */
void driver_keep_queue(driver_device *d, device_queue *q);
/* Notes a call's failure unless there has been one: the rest follows from the first. Returns true. */
bool driver_fails(driver_queue *q, device_state state, const char *call, const char *said);
void driver_notice(driver_queue *q,
                   const int64_t *record); /* a launch's error record, in order: the first that has one counts */
device_state driver_report(driver_queue *q, k_error *error, arena *a, const char **why); /* the end of `finish` */

#endif
