/* Filters, and what is made of what they keep. A piece is packed into a buffer in the second cache while the next one
 * is fetched, waits for the number of elements that all before it keep, and is copied to its place past the caches. */
#include "pieces.h"

#if PIECES_AVX2 && !PIECES_AVX512
uint64_t compress_table[256];

/* The numbers of the bits that are set in 0 ... 255, a byte each, ascending. */
__attribute__((constructor)) static void make_table(void)
{
    for (unsigned mask = 0; mask < 256; mask++)
        for (unsigned bit = 0, at = 0; bit < 8; bit++)
            if (mask >> bit & 1)
                compress_table[mask] |= (uint64_t)bit << 8 * at++;
}
#endif

struct job {
    int64_t n;
    const float *x;
    float *z;
    float limit, factor, summand;
    struct chain chain;
    float most; /* in turn, as the chain says */
};

/* To `to`, which has room for W more than n. Returns how many. */
static int64_t pack_above(const struct job *job, const float *x, int64_t n, float *to, const float *next)
{
    int64_t kept = 0, i = 0;
    wf limit = wf_set(job->limit);
    for (; i + W <= n; i += W) {
        wf v = wf_load(x + i);
        w_fetch(next + i);
        kept += wf_compress(to + kept, wf_where_above(v, limit), v);
    }
    for (; i < n; i++) {
        to[kept] = x[i];
        kept += x[i] > job->limit;
    }
    return kept;
}

static int64_t pack_share(const struct job *job, const float *x, int64_t n, float *to, const float *next)
{
    int64_t kept = 0, i = 0;
    wf limit = wf_set(job->limit), factor = wf_set(job->factor);
    for (; i + W <= n; i += W) {
        wf v = wf_load(x + i);
        w_fetch(next + i);
        kept += wf_compress(to + kept, wf_where_not_below(v, limit), wf_mul(v, factor));
    }
    for (; i < n; i++) {
        to[kept] = x[i] * job->factor;
        kept += x[i] >= job->limit;
    }
    return kept;
}

/* a x + b where it is positive; the greatest of these and of *most */
static int64_t pack_positive(const struct job *job, const float *x, int64_t n, float *to, const float *next,
                             float *most)
{
    int64_t kept = 0, i = 0;
    wf factor = wf_set(job->factor), summand = wf_set(job->summand), best = wf_set(*most);
    for (; i + W <= n; i += W) {
        wf v = wf_fma(wf_load(x + i), factor, summand);
        best = wf_max(v, best);
        w_fetch(next + i);
        kept += wf_compress(to + kept, wf_where_above(v, wf_set(0)), v);
    }
    *most = wf_most(best);
    for (; i < n; i++) {
        float v = fmaf(x[i], job->factor, job->summand);
        *most = v > *most ? v : *most;
        to[kept] = v;
        kept += v > 0;
    }
    return kept;
}

static int64_t pack_not_zero(const float *x, int64_t n, float *to, const float *next)
{
    int64_t kept = 0, i = 0;
    for (; i + W <= n; i += W) {
        wf v = wf_load(x + i);
        w_fetch(next + i);
        kept += wf_compress(to + kept, wf_where_not_zero(v), v);
    }
    for (; i < n; i++) {
        to[kept] = x[i];
        kept += x[i] != 0;
    }
    return kept;
}

static float total(const float *x, int64_t n)
{
    wf acc[2] = {wf_set(0), wf_set(0)};
    int64_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W)
        for (int k = 0; k < 2; k++)
            acc[k] = wf_add(acc[k], wf_load(x + i + k * W));
    float sum = wf_sum(wf_add(acc[0], acc[1]));
    for (; i < n; i++)
        sum += x[i];
    return sum;
}

/* (sum of all before) / x, in place; the buffer has whole vectors. */
static void to_ratios(float *x, int64_t n, float before)
{
    wf carry = wf_set(before);
    for (int64_t i = 0; i < n; i += W) {
        wf v = wf_load(x + i), sums = wf_prefix(v);
        wf_store(x + i, wf_div(wf_after(carry, wf_add(carry, sums)), v));
        carry = wf_add(carry, wf_last(sums));
    }
}

typedef int64_t pack_fn(const struct job *job, const float *x, int64_t n, float *to, const float *next);

static inline void each_piece(struct job *job, pack_fn *pack)
{
    alignas(LINE) float kept[PIECE + W];
    int64_t p = team_claim(&job->chain.next, pieces_of(job->n)), following;
    for (; p >= 0; p = following) {
        int64_t at = p * PIECE, n = job->n - at < PIECE ? job->n - at : PIECE;
        following = team_claim(&job->chain.next, pieces_of(job->n));
        const float *next = piece_after(job->x, following, p);
        int64_t count = pack(job, job->x + at, n, kept, next);
        chain_wait(&job->chain, p);
        int64_t before = job->chain.count;
        job->chain.count = before + count;
        chain_pass(&job->chain, p);
        copy_past(job->z + before, kept, count);
    }
    w_fence();
}

static void filter_part(void *ctx, int id, int workers)
{
    (void)id, (void)workers;
    each_piece(ctx, pack_above);
}

static void percentages_part(void *ctx, int id, int workers)
{
    (void)id, (void)workers;
    each_piece(ctx, pack_share);
}

static void filtermax_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    alignas(LINE) float kept[PIECE + W];
    (void)id, (void)workers;
    int64_t p = team_claim(&job->chain.next, pieces_of(job->n)), following;
    for (; p >= 0; p = following) {
        int64_t at = p * PIECE, n = job->n - at < PIECE ? job->n - at : PIECE;
        following = team_claim(&job->chain.next, pieces_of(job->n));
        const float *next = piece_after(job->x, following, p);
        float most = 0;
        int64_t count = pack_positive(job, job->x + at, n, kept, next, &most);
        chain_wait(&job->chain, p);
        int64_t before = job->chain.count;
        job->chain.count = before + count;
        job->most = most > job->most ? most : job->most;
        chain_pass(&job->chain, p);
        copy_past(job->z + before, kept, count);
    }
    w_fence();
}

static void ratios_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    alignas(LINE) float kept[PIECE + W];
    (void)id, (void)workers;
    int64_t p = team_claim(&job->chain.next, pieces_of(job->n)), following;
    for (; p >= 0; p = following) {
        int64_t at = p * PIECE, n = job->n - at < PIECE ? job->n - at : PIECE;
        following = team_claim(&job->chain.next, pieces_of(job->n));
        const float *next = piece_after(job->x, following, p);
        int64_t count = pack_not_zero(job->x + at, n, kept, next);
        float sum = total(kept, count);
        chain_wait(&job->chain, p);
        int64_t before = job->chain.count;
        float sum_before = job->chain.sum;
        job->chain.count = before + count;
        job->chain.sum = sum_before + sum;
        chain_pass(&job->chain, p);
        to_ratios(kept, count, sum_before);
        copy_past(job->z + before, kept, count);
    }
    w_fence();
}

int64_t c_filter(struct team *team, int64_t n, float limit, const float *x, float *z)
{
    struct job job = {.n = n, .x = x, .z = z, .limit = limit};
    team_run(team, filter_part, &job);
    return job.chain.count;
}

int64_t c_percentages(struct team *team, int64_t n, float limit, const float *x, float *z)
{
    struct job job = {.n = n, .x = x, .z = z, .limit = limit, .factor = 100};
    team_run(team, percentages_part, &job);
    return job.chain.count;
}

int64_t c_filtermax(struct team *team, int64_t n, float factor, float summand, const float *x, float *z, float *most)
{
    struct job job = {.n = n, .x = x, .z = z, .factor = factor, .summand = summand};
    team_run(team, filtermax_part, &job);
    *most = job.most;
    return job.chain.count;
}

int64_t c_ratios(struct team *team, int64_t n, const float *x, float *z)
{
    struct job job = {.n = n, .x = x, .z = z};
    team_run(team, ratios_part, &job);
    return job.chain.count;
}
