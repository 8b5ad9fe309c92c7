/* Where the process has limits, what it takes up is compared with them: a trial mapping would take the memory that
 * another thread asks for at that moment. */
#include "base/address_space.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* No page is touched, so this takes microseconds whatever the size. */
static bool maps(size_t bytes)
{
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return false;
    munmap(block, bytes);
    return true;
}

/* Bytes: all that is mapped; of that, what is private and may be written to. */
static bool read_taken(uint64_t *all, uint64_t *data)
{
    unsigned long pages, private_pages;
    FILE *f = fopen("/proc/self/statm", "re");
    bool good = f && fscanf(f, "%lu %*u %*u %*u %*u %lu", &pages, &private_pages) == 2;
    if (f)
        fclose(f);
    if (!good)
        return false;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    *all = pages * page;
    *data = private_pages * page;
    return true;
}

static uint64_t limit_of(__rlimit_resource_t resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

static bool is_below(uint64_t taken, size_t bytes, uint64_t limit)
{
    return taken <= limit && bytes <= limit - taken;
}

bool address_space_has(size_t bytes)
{
    uint64_t all = 0, data = 0, most = limit_of(RLIMIT_AS), most_data = limit_of(RLIMIT_DATA);
    if (!bytes)
        return true;
    if ((most == UINT64_MAX && most_data == UINT64_MAX) || !read_taken(&all, &data))
        return maps(bytes);
    return is_below(all, bytes, most) && is_below(data, bytes, most_data);
}
