/* Memory between inaccessible pages. */
#include "support/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

guarded guarded_new(size_t bytes, bool at_end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = (bytes + page - 1) / page * page;
    guarded g = {.mapped = inside + 2 * page};
    void *mapping = mmap(NULL, g.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return (guarded){0};
    g.mapping = mapping;
    char *first = (char *)mapping + page;
    if (inside && mprotect(first, inside, PROT_READ | PROT_WRITE)) {
        guarded_free(&g);
        return g;
    }
    g.at = at_end ? first + (inside - bytes) : first;
    return g;
}

void guarded_free(guarded *g)
{
    if (g->mapping)
        munmap(g->mapping, g->mapped);
    *g = (guarded){0};
}
