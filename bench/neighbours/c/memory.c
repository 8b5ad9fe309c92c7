/* Memory for both sides, and the threads of the C side. Each thread touches its part first. */
#include "../arguments.h"

#include <omp.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20 };

static size_t whole_pages(size_t bytes)
{
    return (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

void *nb_alloc(size_t bytes)
{
    size_t size = whole_pages(bytes + !bytes);
    char *memory = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)memory % HUGE_PAGE;
    if (before > 0)
        munmap(memory, before);
    munmap(memory + before + size, HUGE_PAGE - before);
    memory += before;
    madvise(memory, size, MADV_HUGEPAGE);
#pragma omp parallel
    {
        size_t count = (size_t)omp_get_num_threads(), id = (size_t)omp_get_thread_num();
        size_t first = bytes * id / count, last = bytes * (id + 1) / count;
        memset(memory + first, 0x5A, last - first); /* what is not written shows */
    }
    return memory;
}

void nb_release(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, whole_pages(bytes + !bytes));
}

int nb_threads(int threads)
{
    omp_set_dynamic(0);
    if (threads > 0)
        omp_set_num_threads(threads);
    return omp_get_max_threads();
}
