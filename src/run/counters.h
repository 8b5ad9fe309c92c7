/* What a context's calls have done so far. Thread-safe: relaxed atomic numbers. */
#ifndef SN_RUN_COUNTERS_H
#define SN_RUN_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct run_counters {
    atomic_uint_fast64_t calls, launches;
    atomic_uint_fast64_t copies, copied_bytes;         /* of arrays, from one place of memory to another */
    atomic_uint_fast64_t conversions, converted_bytes; /* of arrays of structs: those are copies, too */
} run_counters;

static inline void run_count(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* c NULL: nobody counts. Bytes are those written. */
static inline void run_count_copy(run_counters *c, uint64_t bytes)
{
    if (!c)
        return;
    run_count(&c->copies, 1);
    run_count(&c->copied_bytes, bytes);
}

static inline void run_count_conversion(run_counters *c, uint64_t bytes)
{
    if (!c)
        return;
    run_count_copy(c, bytes);
    run_count(&c->conversions, 1);
    run_count(&c->converted_bytes, bytes);
}

#endif
