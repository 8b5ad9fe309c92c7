/* The device's side of a call: what is copied between it and the host, and when a call waits for it.
 *
 * Where the device does not reach host memory, inputs go to it when a launch first reads them, results come back at the
 * end, single elements when the plan reads them on the host. Nothing else waits: launches queue up behind each other.
 */
#ifndef SN_RUN_TRANSFER_H
#define SN_RUN_TRANSFER_H

#include "run/program.h"

bool run_open_queue(run *c);
void run_close_queue(run *c); /* waits; gives blocks set aside to the pool */

/* How kernels reach host memory where it is; NULL: they do not. */
static inline void *run_reach(const run *c, const void *host)
{
    device *d = c->r->engine.device;
    return d->wrap(d, host);
}
/* Is something that was put into the queue still to be waited for? */
static inline bool run_busy(const run *c)
{
    device *d = c->r->engine.device;
    return c->queue && d->busy(d, c->queue);
}
/* A block for `bytes`: one set aside by this call, else of the pool, for which the call waits if it must. NULL and a
 * failure in c->status if there is none, of the operation at this site. */
void *run_take(run *c, size_t bytes, uint32_t site, size_t *granted);
/* Nobody uses the block behind what is queued so far: it goes to the pool, or, until the queue is empty, only this call
 * may have it. `granted` 0: it is not ours. */
void run_let_go(run *c, void *block, size_t granted);

bool run_copy(run *c, void *to, const void *from, size_t bytes);   /* from block to block */
bool run_fetch(run *c, void *to, const void *block, size_t bytes); /* to the host, and waits for it */
bool run_clear(run *c, void *block, size_t bytes);                 /* to zeros */
/* Unless it is there. Fields of structs become an array, which this kernel wants. */
bool run_upload(run *c, uint32_t buffer, const run_variant *v);
bool run_read_host(run *c, uint32_t buffer, int64_t position,
                   ir_bits *out); /* one element; waits unless it is in host memory */
/* Words of 64 bits of a buffer, from number `first` on; waits unless they are in host memory. */
bool run_read_words(run *c, uint32_t buffer, int64_t first, int64_t n, uint64_t *out);
/* The elements of one buffer, which may be an argument, to another of the device's. */
bool run_copy_between(run *c, uint32_t to, uint32_t from, size_t bytes);
bool run_copy_out(run *c, uint32_t result, size_t bytes); /* a result that is an input or another result */
/* Results to the caller's memory that were computed elsewhere. */
bool run_hand_out_results(run *c);

/* Queues a kernel's pieces, of an operation at this site; waits for what it must not run behind. */
bool run_enqueue(run *c, const run_variant *v, void *const *mem, const ir_bits *arg, const sk_geometry *g,
                 uint32_t site, const device_reach *reach);
/* Waits for all that is queued; false if a launch failed. Its error takes the place of what failed on the host
 * meanwhile, which would not have come to pass on a device that does one launch after the other. */
bool run_settle(run *c);
bool run_caught_up(run *c);  /* the same before the host looks at memory where it is */
bool run_settle_now(run *c); /* the same of a call that is recorded: times are of single launches and copies */

#endif
