/* Sorts of 32-bit keys, alone and with values of 32 bits: first by the most significant digit, into buckets that fit in
 * the second cache, past the first one: lines of each bucket are gathered and written as wholes (Wassenberg, Sanders
 * 2011). Then each bucket by the other bits in two rounds within the cache, digits of both counted in one walk. */
#include "opponents.h"

#include "../team.h"
#include "simd.h"

#include <stdlib.h>
#include <string.h>

enum { TOP_BITS = 9, TOP = 1 << TOP_BITS, LOW_BITS = 12, LOW = 1 << LOW_BITS, LINE = 16, HIGH_SHIFT = 32 - TOP_BITS };
enum { HIGH = 1 << (HIGH_SHIFT - LOW_BITS) };

struct sort {
    int64_t n;
    const uint32_t *key, *value; /* value NULL: none */
    uint32_t *to_key, *to_value;
    uint32_t *other_key, *other_value; /* room for n each */
    uint32_t *count;                   /* per worker and bucket; then where its elements go */
    uint32_t bucket[TOP + 1];
    atomic_int_fast64_t next;
    atomic_int failed;
};

static void count_top(void *ctx, int id, int workers)
{
    struct sort *s = ctx;
    struct team_range mine = team_part(s->n, LINE, id, workers);
    static _Thread_local uint32_t count[4][TOP];
    memset(count, 0, sizeof count);
    int64_t i = mine.first;
    for (; i + 4 <= mine.last; i += 4)
        for (int k = 0; k < 4; k++)
            count[k][s->key[i + k] >> HIGH_SHIFT]++;
    for (; i < mine.last; i++)
        count[0][s->key[i] >> HIGH_SHIFT]++;
    for (int d = 0; d < TOP; d++)
        s->count[id * TOP + d] = count[0][d] + count[1][d] + count[2][d] + count[3][d];
}

/* Lines of the other arrays lie at multiples of 64 bytes. */
static inline void write_line(uint32_t *to, const uint32_t *from)
{
#if BENCH_AVX512
    _mm512_stream_si512((__m512i *)to, _mm512_load_si512(from));
#else
    memcpy(to, from, LINE * sizeof *to);
#endif
}

static inline void gathered(const struct sort *s, uint32_t from, uint32_t to, const uint32_t *key,
                            const uint32_t *value)
{
    for (uint32_t i = from; i < to; i++) {
        s->other_key[i] = key[i % LINE];
        if (value)
            s->other_value[i] = value[i % LINE];
    }
}

static inline void move_part(const struct sort *s, int64_t first, int64_t last, uint32_t *place, int values)
{
    static _Thread_local _Alignas(64) uint32_t keys[TOP * LINE], others[TOP * LINE];
    uint32_t start[TOP];
    memcpy(start, place, sizeof start);
    for (int64_t i = first; i < last; i++) {
        uint32_t key = s->key[i], d = key >> HIGH_SHIFT, at = place[d]++;
        uint32_t *line = keys + d * LINE, *beside = others + d * LINE;
        line[at % LINE] = key;
        if (values)
            beside[at % LINE] = s->value[i];
        if (at % LINE != LINE - 1)
            continue;
        uint32_t begin = at - (LINE - 1);
        if (begin >= start[d] && at >= LINE - 1) {
            write_line(s->other_key + begin, line);
            if (values)
                write_line(s->other_value + begin, beside);
        } else {
            gathered(s, start[d], at + 1, line, values ? beside : NULL);
        }
    }
    for (int d = 0; d < TOP; d++) {
        uint32_t begin = place[d] & ~(uint32_t)(LINE - 1);
        gathered(s, begin > start[d] ? begin : start[d], place[d], keys + d * LINE, values ? others + d * LINE : NULL);
    }
#if BENCH_AVX512
    _mm_sfence();
#endif
}

static void move_top(void *ctx, int id, int workers)
{
    struct sort *s = ctx;
    struct team_range mine = team_part(s->n, LINE, id, workers);
    uint32_t *place = s->count + id * TOP;
    if (s->value)
        move_part(s, mine.first, mine.last, place, 1);
    else
        move_part(s, mine.first, mine.last, place, 0);
}

static inline void sort_bucket(const struct sort *s, uint32_t first, uint32_t n, uint32_t *key, uint32_t *value,
                               int values)
{
    static _Thread_local uint32_t low[LOW], high[HIGH];
    const uint32_t *from = s->other_key + first, *beside = s->other_value ? s->other_value + first : NULL;
    uint32_t *to = s->to_key + first, sum = 0;
    memset(low, 0, sizeof low);
    memset(high, 0, sizeof high);
    for (uint32_t i = 0; i < n; i++) {
        low[from[i] % LOW]++;
        high[from[i] / LOW % HIGH]++;
    }
    for (int d = 0; d < LOW; d++) {
        uint32_t count = low[d];
        low[d] = sum;
        sum += count;
    }
    sum = 0;
    for (int d = 0; d < HIGH; d++) {
        uint32_t count = high[d];
        high[d] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = low[from[i] % LOW]++;
        key[at] = from[i];
        if (values)
            value[at] = beside[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = high[key[i] / LOW % HIGH]++;
        to[at] = key[i];
        if (values)
            s->to_value[first + at] = value[i];
    }
}

/* Buckets that are larger than expected take memory of their own. */
static void sort_buckets(void *ctx, int id, int workers)
{
    enum { ROOM = 1 << 17 };
    static _Thread_local uint32_t room_key[ROOM], room_value[ROOM];
    struct sort *s = ctx;
    (void)id;
    (void)workers;
    for (int64_t d; (d = team_claim(&s->next, TOP)) >= 0;) {
        uint32_t first = s->bucket[d], n = s->bucket[d + 1] - first;
        uint32_t *more = n > ROOM ? malloc(2 * (size_t)n * sizeof *more) : NULL;
        uint32_t *key = more ? more : room_key, *value = more ? more + n : room_value;
        if (n > ROOM && !more)
            atomic_store(&s->failed, 1);
        else if (s->value)
            sort_bucket(s, first, n, key, value, 1);
        else
            sort_bucket(s, first, n, key, value, 0);
        free(more);
    }
}

static int sort(struct team *team, struct sort *s)
{
    uint32_t sum = 0;
    s->count = malloc((size_t)team_workers(team) * TOP * sizeof *s->count);
    if (!s->count)
        return 0;
    team_run(team, count_top, s);
    for (int d = 0; d < TOP; d++) {
        s->bucket[d] = sum;
        for (int id = 0; id < team_workers(team); id++) {
            uint32_t count = s->count[id * TOP + d];
            s->count[id * TOP + d] = sum;
            sum += count;
        }
    }
    s->bucket[TOP] = sum;
    team_run(team, move_top, s);
    team_run(team, sort_buckets, s);
    free(s->count);
    return !atomic_load(&s->failed);
}

int c_sort_keys(struct team *team, int64_t n, const uint32_t *key, uint32_t *to, uint32_t *room)
{
    struct sort s = {.n = n, .key = key, .to_key = to, .other_key = room};
    return sort(team, &s);
}

int c_sort_pairs(struct team *team, int64_t n, const uint32_t *key, const uint32_t *value, uint32_t *to_key,
                 uint32_t *to_value, uint32_t *room_key, uint32_t *room_value)
{
    struct sort s = {.n = n,
                     .key = key,
                     .value = value,
                     .to_key = to_key,
                     .to_value = to_value,
                     .other_key = room_key,
                     .other_value = room_value};
    return sort(team, &s);
}
