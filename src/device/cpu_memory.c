/* Aligned memory from the heap, large blocks straight from the system. */
#include "device/cpu_memory.h"
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20, LARGE = 4 << 20 };

static void *map_huge(size_t bytes)
{
    size_t wanted = bytes + HUGE_PAGE;
    if (wanted < bytes)
        return NULL;
    char *map = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    size_t before = (HUGE_PAGE - (uintptr_t)map % HUGE_PAGE) % HUGE_PAGE, after = wanted - before - bytes;
    size_t page = 4096, kept = (bytes + page - 1) / page * page;
    if (before)
        munmap(map, before);
    if (after > kept - bytes)
        munmap(map + before + kept, wanted - before - kept);
    madvise(map + before, kept, MADV_HUGEPAGE); /* only speed depends on it */
    return map + before;
}

void *cpu_memory_alloc(const base_heap *heap, size_t bytes)
{
    if (bytes >= LARGE)
        return map_huge(bytes);
    /* The heap aligns to 16: a line more, and the distance to the start of the block in front. */
    char *block = heap->alloc(heap->env, bytes + 2 * LINE);
    if (!block)
        return NULL;
    char *at = block + LINE + (LINE - (uintptr_t)block % LINE) % LINE;
    memcpy(at - sizeof(block), &block, sizeof(block));
    return at;
}

void cpu_memory_release(const base_heap *heap, void *at, size_t bytes)
{
    if (!at)
        return;
    if (bytes >= LARGE) {
        munmap(at, (bytes + 4095) / 4096 * 4096);
        return;
    }
    char *block;
    memcpy(&block, (char *)at - sizeof(block), sizeof(block));
    heap->release(heap->env, block);
}
