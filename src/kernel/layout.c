/* Places shared and private memory in a block's scratch: lifetimes over the statements at piece level, then first fit
 * (Obsidian §5.1.2). An array touched inside a loop lives from the loop's start on, so all that one loop touches lives
 * at the same time, and what an array carries from one round to the next survives. */
#include "kernel/kernel.h"
#include "kernel/walk.h"

#include <inttypes.h>

typedef struct {
    uint32_t first, last; /* positions of piece-level statements; first 0: never touched */
} lifetime;

static void touch(lifetime *l, uint32_t position, uint32_t from)
{
    l->first = l->first && l->first < from ? l->first : from;
    l->last = position;
}

/* Loops inside a FOR_ALL do not count: memory lives from one FOR_ALL to another, and a FOR_ALL is one position. */
static void find_lifetimes(const kernel *k, arena *a, lifetime *life)
{
    uint32_t position = 1, start = 0; /* of the outermost loop around a statement, or of itself */
    uint32_t inside = 0;              /* open statements in that loop, with itself; 0: there is none */
    k_walk w;
    k_walk_begin(&w, k, a);
    while (k_walk_next(&w)) {
        const k_stmt *s = &k->stmt.at[w.at];
        if (w.event != K_WALK_AT)
            continue;
        position += !w.for_all;
        if (w.open.n < inside)
            inside = 0;
        if (!inside)
            start = position;
        if (!inside && !w.for_all && (s->op == K_LOOP || s->op == K_FOR))
            inside = w.open.n + 1;
        if (s->mem)
            touch(&life[s->mem], position, start);
    }
}

static uint64_t memory_bytes(const kernel *k, const k_memory *m)
{
    uint64_t each = (uint64_t)m->count * ir_type_size((ir_type)m->type);
    return m->space == K_PRIVATE ? each * k->threads : each;
}

typedef struct {
    k_mem mem;
    uint64_t offset, end; /* bytes */
} placed;

/* Behind large memory there is a line that nobody uses, so that what is read by whole vectors may end there. */
enum { LARGE = 4096, LINE = 64 };

static uint64_t round_up(uint64_t n, uint64_t align)
{
    return (n + align - 1) / align * align;
}

/* The lowest offset that overlaps nothing that lives at the same time. A block in the way stays in the way until its
 * end, so stepping to that end misses no gap. */
static uint64_t first_fit(const placed *done, uint32_t n, const lifetime *life, k_mem m, uint64_t bytes, uint32_t align)
{
    uint64_t offset = 0;
    for (uint32_t i = 0; i < n;) {
        const lifetime *other = &life[done[i].mem];
        bool together = other->first <= life[m].last && life[m].first <= other->last;
        if (together && offset < done[i].end && done[i].offset < offset + bytes) {
            offset = round_up(done[i].end, align);
            i = 0;
        } else {
            i++;
        }
    }
    return offset;
}

static void place_all(kernel *k, const lifetime *life, const k_mem *order, uint32_t n, uint32_t align, placed *done)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        k_memory *m = &k->mem.at[order[i]];
        uint64_t bytes = memory_bytes(k, m);
        uint64_t offset = first_fit(done, i, life, order[i], bytes, align);
        done[i] = (placed){order[i], offset, offset + bytes};
        most = done[i].end > most ? done[i].end : most;
        m->offset = offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset;
    }
    most = round_up(most, align) + (most >= LARGE ? round_up(LINE, align) : 0);
    /* Too large for any device, which refuses by its limit. */
    k->scratch = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

/* Shared memory first, so that devices which keep private memory elsewhere have it in one range; by start of life. */
static bool comes_before(const kernel *k, const lifetime *life, k_mem x, k_mem y)
{
    if (k->mem.at[x].space != k->mem.at[y].space)
        return k->mem.at[x].space == K_SHARED;
    return life[x].first < life[y].first;
}

void k_layout(kernel *k, uint32_t align)
{
    arena *a = arena_beside(k->arena);
    lifetime *life = arena_array(a, *life, k->mem.n);
    k_mem *order = arena_array(a, *order, k->mem.n);
    uint32_t n = 0;
    find_lifetimes(k, a, life);
    for (k_mem m = 1; m < k->mem.n; m++) {
        k->mem.at[m].offset = 0;
        if (k->mem.at[m].space == K_GLOBAL || !life[m].first)
            continue;
        uint32_t at = n++; /* insertion: kernels have few arrays */
        for (; at > 0 && comes_before(k, life, m, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = m;
    }
    place_all(k, life, order, n, align ? align : 1, arena_array(a, placed, n + 1));
    arena_free(a);
}

uint32_t k_shared_bytes(const kernel *k)
{
    uint64_t most = 0;
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        uint64_t end = memory->offset + (uint64_t)memory->count * ir_type_size((ir_type)memory->type);
        if (memory->space == K_SHARED && end > most)
            most = end;
    }
    return most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
}

static const char *shared_name(const k_memory *m)
{
    return m->name && *m->name ? m->name : "an array";
}

bool k_fits(const kernel *k, size_t there, arena *a, const char **why)
{
    uint32_t wanted = k_shared_bytes(k);
    if (wanted <= there)
        return true;
    const k_memory *largest = NULL;
    uint64_t bytes = 0;
    for (k_mem m = 1; m < k->mem.n; m++) {
        const k_memory *memory = &k->mem.at[m];
        if (memory->space != K_SHARED || (largest && memory_bytes(k, memory) <= bytes))
            continue;
        largest = memory;
        bytes = memory_bytes(k, memory);
    }
    *why = arena_printf(a, "kernel %s needs %" PRIu32 " bytes of shared memory, and there are %zu; %s takes %" PRIu64,
                        k->name, wanted, there, shared_name(largest), bytes);
    return false;
}
