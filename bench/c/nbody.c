/* One step of bodies under gravity: each against all. A worker takes groups of bodies, one a lane, and walks over all
 * bodies, whose position and mass are the same in all lanes; two vectors of them keep the divider busy, which is what
 * bounds this. */
#include "opponents.h"
#include "simd.h"

#include <math.h>

enum { VECTORS = 2, GROUP = VECTORS * LANES };

struct job {
    int64_t n;
    float step;
    const struct bodies *in;
    const struct bodies *out;
    atomic_int_fast64_t next;
};

#if BENCH_AVX512

static inline vf32 strength(vf32 mass, vf32 square)
{
    __mmask16 apart = _mm512_cmp_ps_mask(square, _mm512_setzero_ps(), _CMP_GT_OQ);
    return _mm512_maskz_div_ps(apart, mass, _mm512_mul_ps(square, _mm512_sqrt_ps(square)));
}

#else

static inline vf32 strength(vf32 mass, vf32 square)
{
    vf32 r;
    for (int i = 0; i < LANES; i++)
        r[i] = square[i] > 0 ? mass[i] / (square[i] * sqrtf(square[i])) : 0;
    return r;
}

#endif

/* sum[c][v]: what all bodies pull the vectors of bodies at `here`. */
static inline void pulls(const struct job *job, vf32 here[3][VECTORS], vf32 sum[3][VECTORS])
{
    const struct bodies *in = job->in;
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < VECTORS; v++)
            sum[c][v] = v_set(0);
    for (int64_t j = 0; j < job->n; j++) {
        vf32 mass = v_set(in->mass[j]);
        for (int v = 0; v < VECTORS; v++) {
            vf32 away[3];
            for (int c = 0; c < 3; c++)
                away[c] = v_add(v_set(in->position[c][j]), -here[c][v]);
            vf32 square = v_fma(away[2], away[2], v_fma(away[1], away[1], away[0] * away[0]));
            vf32 s = strength(mass, square);
            for (int c = 0; c < 3; c++)
                sum[c][v] = v_fma(away[c], s, sum[c][v]);
        }
    }
}

static void group(const struct job *job, int64_t first)
{
    vf32 here[3][VECTORS], sum[3][VECTORS];
    int count = (int)(job->n - first < GROUP ? job->n - first : GROUP);
    for (int c = 0; c < 3; c++) {
        float at[GROUP] = {0};
        memcpy(at, job->in->position[c] + first, (size_t)count * sizeof(float));
        memcpy(here[c], at, sizeof at);
    }
    pulls(job, here, sum);
    for (int c = 0; c < 3; c++) {
        float pull[GROUP];
        memcpy(pull, sum[c], sizeof pull);
        for (int i = 0; i < count; i++) {
            float velocity = job->in->velocity[c][first + i] + pull[i] * job->step;
            job->out->velocity[c][first + i] = velocity;
            job->out->position[c][first + i] = job->in->position[c][first + i] + velocity * job->step;
        }
    }
}

static void groups(void *ctx, int id, int workers)
{
    (void)id;
    (void)workers;
    struct job *job = ctx;
    int64_t task;
    while ((task = team_claim(&job->next, (job->n + GROUP - 1) / GROUP)) >= 0)
        group(job, task * GROUP);
}

void c_nbody(struct team *team, int64_t n, float step, const struct bodies *in, const struct bodies *out)
{
    struct job job = {.n = n, .step = step, .in = in, .out = out};
    team_run(team, groups, &job);
}
