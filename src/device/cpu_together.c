/* Items of several launches. */
#include "device/cpu_together.h"

enum {
    BLOCKS_PER_THREAD = 8,
    ITEMS_PER_THREAD = 8,
    LEAST_TURNS = 4,        /* a thread */
    TURN_BYTES = 128 << 10, /* of what launches share */
    LEAST_ITEM_WORK = 20000
};

uint32_t cpu_pieces_together(int64_t pieces, unsigned threads)
{
    const int64_t together = pieces / ((int64_t)threads * BLOCKS_PER_THREAD);
    return together < 1 ? 1 : together < K_TOGETHER ? (uint32_t)together : K_TOGETHER;
}

static void add_part(cpu_together *t, const cpu_put_off *l, k_launch common, int64_t items)
{
    cpu_part *p = &t->part[t->parts++];
    p->common = common;
    p->entry = l->entry;
    p->chained = l->chained;
    p->items = items;
    p->next = l->first;
    if (!p->chained)
        return;
    p->common.next = &p->next;
    p->common.together = cpu_pieces_together(l->last - l->first, (unsigned)items);
}

/* How many items a launch is cut into where one is worth about `each` operations. */
static int64_t items_of(const cpu_put_off *l, double each, unsigned threads)
{
    const int64_t pieces = l->last - l->first;
    int64_t most = l->chained ? threads : (int64_t)(l->work / each) + 1;
    return pieces < most ? pieces : most;
}

void cpu_together_begin(cpu_together *t, cpu_put_off **l, uint32_t n, unsigned threads)
{
    double work = 0;
    for (uint32_t i = 0; i < n; i++)
        work += l[i]->work;
    double each = work / ((double)threads * ITEMS_PER_THREAD);
    each = each < LEAST_ITEM_WORK ? LEAST_ITEM_WORK : each;
    t->parts = 0;
    t->items = 0;
    t->by_turns = false;
    for (uint32_t i = 0; i < n; i++) {
        add_part(t, l[i], cpu_launch_of(l[i]), items_of(l[i], each, threads));
        t->items += t->part[i].items;
    }
}

bool cpu_together_by_turns(cpu_together *t, cpu_put_off **l, uint32_t n, unsigned threads, size_t bytes)
{
    const int64_t least = threads > 1 ? (int64_t)threads * LEAST_TURNS : 2;
    int64_t turns = (int64_t)(bytes / TURN_BYTES);
    for (uint32_t i = 0; i < n; i++)
        turns = l[i]->last - l[i]->first < turns ? l[i]->last - l[i]->first : turns;
    if (turns < least)
        return false;
    t->parts = 0;
    t->items = turns;
    t->by_turns = true;
    for (uint32_t i = 0; i < n; i++)
        add_part(t, l[i], cpu_launch_of(l[i]), turns);
    return true;
}

static void run_item(const cpu_together *t, const cpu_part *p, unsigned worker, int64_t item)
{
    k_launch own = p->common;
    const int64_t pieces = own.last - own.first;
    own.scratch = t->block[worker];
    if (!p->chained) {
        own.last = own.first + pieces * (item + 1) / p->items;
        own.first += pieces * item / p->items;
    }
    p->entry(&own);
}

void cpu_together_run(void *env, unsigned worker, int64_t first, int64_t last)
{
    const cpu_together *t = env;
    for (int64_t i = first; i < last && t->by_turns; i++)
        for (uint32_t k = 0; k < t->parts; k++)
            run_item(t, &t->part[k], worker, i);
    if (t->by_turns)
        return;
    const cpu_part *p = t->part;
    int64_t before = 0; /* items of the launches before p */
    for (int64_t i = first; i < last; i++) {
        while (i - before >= p->items)
            before += p++->items;
        run_item(t, p, worker, i - before);
    }
}
