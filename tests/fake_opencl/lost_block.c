/* Loses blocks of a device behind a driver: lost_block BYTES... The sanitizer has to show them as a leak of ours,
 * though it passes over what drivers allocate (../lsan.supp). */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const char *why = NULL;
    arena a;
    setenv("SINTER_OPENCL", SN_TEST_FAKE_OPENCL, 1);
    setenv("SINTER_CACHE", "off", 1);
    arena_init(&a, NULL);
    device *d = device_opencl_open(NULL, 0, &a, &why);
    if (!d) {
        printf("%s\n", why);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        if (!d->alloc(d, strtoul(argv[i], NULL, 10)))
            return 3;
    d->close(d);
    arena_free(&a);
    return 0;
}
