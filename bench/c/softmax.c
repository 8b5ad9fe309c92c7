/* Softmax of rows: the maximum; exponentials into a buffer that stays in the cache, and their sum; quotients past the
 * caches. */
#include "pieces.h"
#include "vmath.h"

#include <stdlib.h>

#if PIECES_AVX512

static inline wf w_exp(wf x)
{
    return v_exp(x);
}

#elif PIECES_AVX2

/* e^x for x <= 0, 2 ulp; results below the normal numbers become 0. The polynomial is that of Moshier's Cephes. */
static inline wf w_exp(wf x)
{
    const wf shift = wf_set(0x1.8p23F);
    wf shifted = wf_fma(x, wf_set(0x1.715476p0F), shift), k = _mm256_sub_ps(shifted, shift);
    wf r = wf_fma(k, wf_set(-0x1.62e4p-1F), x);
    r = wf_fma(k, wf_set(-0x1.7f7d1cp-20F), r);
    wf p = wf_fma(wf_set(1.9875691500e-4F), r, wf_set(1.3981999507e-3F));
    p = wf_fma(p, r, wf_set(8.3334519073e-3F));
    p = wf_fma(p, r, wf_set(4.1665795894e-2F));
    p = wf_fma(p, r, wf_set(1.6666665459e-1F));
    p = wf_fma(p, r, wf_set(5.0000001201e-1F));
    p = wf_add(wf_fma(p, _mm256_mul_ps(r, r), r), wf_set(1));
    __m256i power = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    wf y = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), power));
    return _mm256_and_ps(y, _mm256_cmp_ps(x, wf_set(-87.33F), _CMP_NLT_UQ));
}

#else

static inline wf w_exp(wf x)
{
    return expf(x);
}

#endif

struct job {
    int64_t rows;
    int64_t columns;
    const float *x;
    float *z;
    _Atomic int failed;
};

static float greatest(const float *x, int64_t n)
{
    wf best[4] = {wf_set(-INFINITY), wf_set(-INFINITY), wf_set(-INFINITY), wf_set(-INFINITY)};
    int64_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; k++)
            best[k] = wf_max(wf_load(x + i + k * W), best[k]);
    float most = wf_most(wf_max(wf_max(best[0], best[1]), wf_max(best[2], best[3])));
    for (; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

static float exponentials(const float *x, float *e, int64_t n, float most)
{
    wf sum[4] = {wf_set(0), wf_set(0), wf_set(0), wf_set(0)}, less = wf_set(-most);
    int64_t i = 0;
    for (; i + 4 * W <= n; i += 4 * W)
        for (int k = 0; k < 4; k++) {
            wf v = w_exp(wf_add(wf_load(x + i + k * W), less));
            wf_store(e + i + k * W, v);
            sum[k] = wf_add(sum[k], v);
        }
    float total = wf_sum(wf_add(wf_add(sum[0], sum[1]), wf_add(sum[2], sum[3])));
    for (; i < n; i++)
        total += e[i] = expf(x[i] - most);
    return total;
}

static void quotients(const float *e, float *z, int64_t n, float sum)
{
    int64_t i = 0;
    for (int64_t head = before_line(z, n); i < head; i++)
        z[i] = e[i] / sum;
    for (wf by = wf_set(sum); i + W <= n; i += W)
        wf_stream(z + i, wf_div(wf_load(e + i), by));
    for (; i < n; i++)
        z[i] = e[i] / sum;
}

static void part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->rows, 1, id, workers);
    float *e = malloc((size_t)job->columns * sizeof *e + 1);
    if (!e)
        job->failed = 1;
    for (int64_t r = mine.first; e && r < mine.last; r++) {
        const float *x = job->x + r * job->columns;
        float sum = exponentials(x, e, job->columns, greatest(x, job->columns));
        quotients(e, job->z + r * job->columns, job->columns, sum);
    }
    w_fence();
    free(e);
}

int c_softmax(struct team *team, int64_t rows, int64_t columns, const float *x, float *z)
{
    struct job job = {.rows = rows, .columns = columns, .x = x, .z = z};
    team_run(team, part, &job);
    return !job.failed;
}
