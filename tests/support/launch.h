/* One launch on a device that reaches host memory, waited for. */
#ifndef SN_TESTS_LAUNCH_H
#define SN_TESTS_LAUNCH_H

#include "device/device.h"

/* `small`, *error: as of a queue; values that are noted go to error->trace. False: no memory. */
bool launch_now(device *d, device_kernel *k, void *const *mem, const ir_bits *arg, int64_t first, int64_t last,
                bool small, k_error *error);

#endif
