/* The process's pool of worker threads: one pinned thread per core but one, shared by all devices and contexts.
 *
 * Workers spin for about 100 us after work and then sleep in the kernel, so that a region of work right after another costs a fraction
 * of a microsecond and an idle program costs nothing. The caller of pool_run always takes part. */
#ifndef SN_DEVICE_POOL_H
#define SN_DEVICE_POOL_H

#include "base/base.h"

typedef struct pool pool;

/* Starts the pool, or counts one more user of it. NULL when threads cannot be started. Thread-safe. */
pool *pool_acquire(void);
/* The last user stops and joins the workers. Not while one of this user's pool_run calls is running. Thread-safe. */
void pool_release(pool *p);
unsigned pool_threads(const pool *p); /* most that can work on one region, the caller included */

/* Runs items first .. last - 1 of [first, last), several at a time. `worker` tells the participants of this call
 * apart: 0 .. threads - 1. */
typedef void (*pool_body)(void *env, unsigned worker, int64_t first, int64_t last);
/* Hands out [first, last) in ascending batches of `batch` items to at most `threads` threads and waits until all are done; what
 * they wrote is visible then. May be called by several threads at once and from inside a body. */
void pool_run(pool *p, unsigned threads, int64_t first, int64_t last, int64_t batch, pool_body body, void *env);
/* The same in any order: each thread has a part of them, neighbours of each other, and the same part in every call for
 * as many items on all threads, so that it finds in its core's caches what it had there before. A thread that has done
 * its own takes what is left of others. */
void pool_run_parts(pool *p, unsigned threads, int64_t first, int64_t last, int64_t batch, pool_body body, void *env);

#endif
