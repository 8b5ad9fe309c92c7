#include "support/launch.h"

bool launch_now(device *d, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first, int64_t last,
                bool small, k_error *error)
{
    const char *why = NULL;
    device_queue *q = d->open_queue(d, error->trace, NULL);
    if (!q)
        return false;
    d->enqueue(d, q, k, mem, arg, first, last, small, NULL); /* finish says what failed */
    bool good = d->finish(d, q, error, NULL, &why) == DEVICE_FINE;
    d->close_queue(d, q);
    return good;
}
