/* Asks by mapping and unmapping; no page is touched, so this takes microseconds whatever the size. */
#include "base/address_space.h"

#include <sys/mman.h>

bool address_space_has(size_t bytes)
{
    if (!bytes)
        return true;
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return false;
    munmap(block, bytes);
    return true;
}
