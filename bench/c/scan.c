/* Running sums. A piece is added up, waits for the sum of all before it, and is gone over again in the second cache;
 * results go past it, while the next piece is fetched. */
#include "pieces.h"

static float f32_total(const float *x, int64_t n)
{
    wf acc[4] = {wf_set(0), wf_set(0), wf_set(0), wf_set(0)};
    int64_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; k++)
            acc[k] = wf_add(acc[k], wf_load(x + i + k * W));
    float sum = wf_sum(wf_add(wf_add(acc[0], acc[1]), wf_add(acc[2], acc[3])));
    for (; i < n; i++)
        sum += x[i];
    return sum;
}

/* Returns the sum after the last one; fetches what is read soon at `next`, if there is something. */
static float f32_prefixes(const float *x, float *z, int64_t n, float before, const float *next)
{
    int64_t i = 0;
    for (int64_t head = before_line(z, n); i < head; i++)
        z[i] = before += x[i];
    wf carry = wf_set(before);
    for (; i + 2 * W <= n; i += 2 * W) {
        wf a = wf_prefix(wf_load(x + i)), b = wf_prefix(wf_load(x + i + W)), middle = wf_add(carry, wf_last(a));
        if (next) {
            w_fetch(next + i);
            w_fetch(next + i + W);
        }
        wf_stream(z + i, wf_add(carry, a));
        wf_stream(z + i + W, wf_add(middle, b));
        carry = wf_add(middle, wf_last(b));
    }
    float last[W];
    wf_store(last, carry);
    before = last[0];
    for (; i < n; i++)
        z[i] = before += x[i];
    return before;
}

static int32_t plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t i32_total(const int32_t *x, int64_t n)
{
    wi acc[4] = {wi_set(0), wi_set(0), wi_set(0), wi_set(0)};
    int64_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; k++)
            acc[k] = wi_add(acc[k], wi_load(x + i + k * W));
    int32_t sum = wi_sum(wi_add(wi_add(acc[0], acc[1]), wi_add(acc[2], acc[3])));
    for (; i < n; i++)
        sum = plus(sum, x[i]);
    return sum;
}

static void i32_prefixes(const int32_t *x, int32_t *z, int64_t n, int32_t before, const int32_t *next)
{
    int64_t i = 0;
    for (int64_t head = before_line(z, n); i < head; i++)
        z[i] = before = plus(before, x[i]);
    wi carry = wi_set(before);
    for (; i + 2 * W <= n; i += 2 * W) {
        wi a = wi_prefix(wi_load(x + i)), b = wi_prefix(wi_load(x + i + W)), middle = wi_add(carry, wi_last(a));
        w_fetch(next + i);
        w_fetch(next + i + W);
        wi_stream(z + i, wi_add(carry, a));
        wi_stream(z + i + W, wi_add(middle, b));
        carry = wi_add(middle, wi_last(b));
    }
    if (i < n)
        before = i ? z[i - 1] : before;
    for (; i < n; i++)
        z[i] = before = plus(before, x[i]);
}

struct job {
    int64_t n;
    int64_t rows; /* of n elements each */
    const void *x;
    void *z;
    struct chain chain;
};

static void part_f32(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    (void)id, (void)workers;
    int64_t p = team_claim(&job->chain.next, pieces_of(job->n)), next;
    for (; p >= 0; p = next) {
        int64_t at = p * PIECE, count = job->n - at < PIECE ? job->n - at : PIECE;
        const float *x = (const float *)job->x + at;
        float sum = f32_total(x, count);
        chain_wait(&job->chain, p);
        float before = job->chain.sum;
        job->chain.sum = before + sum;
        chain_pass(&job->chain, p);
        next = team_claim(&job->chain.next, pieces_of(job->n));
        f32_prefixes(x, (float *)job->z + at, count, before, piece_after(job->x, next, p));
    }
    w_fence();
}

static void part_i32(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    (void)id, (void)workers;
    int64_t p = team_claim(&job->chain.next, pieces_of(job->n)), next;
    for (; p >= 0; p = next) {
        int64_t at = p * PIECE, count = job->n - at < PIECE ? job->n - at : PIECE;
        const int32_t *x = (const int32_t *)job->x + at;
        int32_t sum = i32_total(x, count);
        chain_wait(&job->chain, p);
        int32_t before = job->chain.count32;
        job->chain.count32 = plus(before, sum);
        chain_pass(&job->chain, p);
        next = team_claim(&job->chain.next, pieces_of(job->n));
        i32_prefixes(x, (int32_t *)job->z + at, count, before, piece_after(job->x, next, p));
    }
    w_fence();
}

static void part_rows(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->rows, 1, id, workers);
    for (int64_t r = mine.first; r < mine.last; r++)
        f32_prefixes((const float *)job->x + r * job->n, (float *)job->z + r * job->n, job->n, 0, NULL);
    w_fence();
}

void c_scan_f32(struct team *team, int64_t n, const float *x, float *z)
{
    struct job job = {.n = n, .x = x, .z = z};
    team_run(team, part_f32, &job);
}

void c_scan_i32(struct team *team, int64_t n, const int32_t *x, int32_t *z)
{
    struct job job = {.n = n, .x = x, .z = z};
    team_run(team, part_i32, &job);
}

void c_scan_rows(struct team *team, int64_t rows, int64_t columns, const float *x, float *z)
{
    struct job job = {.n = columns, .rows = rows, .x = x, .z = z};
    team_run(team, part_rows, &job);
}
