/* A private folder for compiled kernels, and a kernel to keep in it. */
#ifndef TESTS_DEVICE_CACHE_KERNEL_H
#define TESTS_DEVICE_CACHE_KERNEL_H

#include "device/device.h"

enum { KERNEL_ELEMENTS = 256 };

/* An empty folder below the tests' own, and SINTER_CACHE_DIR set to it; the other variables of the cache are unset. The result is
 * static text, valid until the next call. */
const char *private_folder(void);
void remove_folder(const char *path); /* with all that is in it */
unsigned files_in(const char *folder, const char *ending); /* how many files end so */
/* The path of the only file in the folder that ends in ".kernel". */
const char *only_entry(const char *folder, char path[4096]);

kernel *numbered_kernel(arena *a, int number); /* y = x * number + 1, on i32 */
/* Compiles it and runs it. False and *why if it does not compile; a wrong result fails the test. */
bool run_numbered(device *d, int number, const char **why, arena *a);
device *open_device(const char *codegen, arena *a); /* NULL: the usual one */

#endif
