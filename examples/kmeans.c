/* Clusters of points in the plane, by Lloyd's algorithm: kmeans [POINTS [CENTRES [ROUNDS]]]. Compares with a plain loop
 * in C. */
#include <math.h>

#include "programs/kmeans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct points {
    int64_t n;
    float *x, *y;
};

static struct points new_points(int64_t n)
{
    size_t bytes = ((size_t)n + 1) * sizeof(float);
    return (struct points){n, malloc(bytes), malloc(bytes)};
}

static void free_points(struct points p)
{
    free(p.x);
    free(p.y);
}

/* One round in C, sums in f64. */
static void plain_round(struct points p, struct points centres, double (*sum)[3])
{
    memset(sum, 0, (size_t)centres.n * sizeof *sum);
    for (int64_t i = 0; i < p.n; i++) {
        float least = INFINITY;
        int64_t at = 0;
        for (int64_t j = 0; j < centres.n; j++) {
            float dx = p.x[i] - centres.x[j], dy = p.y[i] - centres.y[j], distance = dx * dx + dy * dy;
            at = distance < least ? j : at;
            least = distance < least ? distance : least;
        }
        sum[at][0] += (double)p.x[i];
        sum[at][1] += (double)p.y[i];
        sum[at][2] += 1;
    }
    for (int64_t j = 0; j < centres.n; j++)
        if (sum[j][2] > 0) {
            centres.x[j] = (float)(sum[j][0] / sum[j][2]);
            centres.y[j] = (float)(sum[j][1] / sum[j][2]);
        }
}

/* Points around as many places as there are centres, which begin at some of the points. */
static void draw(struct points p, struct points centres)
{
    uint32_t state = 1;
    for (int64_t i = 0; i < p.n; i++) {
        float part[2];
        for (int d = 0; d < 2; d++) {
            state = state * 1664525U + 1013904223U;
            part[d] = (float)(state >> 8) / 16777216.0f;
        }
        float turn = 6.2831853f * (float)(i % centres.n) / (float)centres.n;
        p.x[i] = 10 * cosf(turn) + part[0];
        p.y[i] = 10 * sinf(turn) + part[1];
    }
    memcpy(centres.x, p.x, (size_t)centres.n * sizeof(float));
    memcpy(centres.y, p.y, (size_t)centres.n * sizeof(float));
}

static double farthest(struct points a, struct points b)
{
    double most = 0;
    for (int64_t j = 0; j < a.n; j++)
        most = fmax(most, hypot((double)(a.x[j] - b.x[j]), (double)(a.y[j] - b.y[j])));
    return most;
}

static int cluster(sn_context *cx, struct points p, struct points centres, struct points found, int64_t rounds)
{
    sn_program *program = sn_compile(cx, KMEANS_SIGNATURE, kmeans);
    double(*sum)[3] = malloc((size_t)centres.n * sizeof *sum), begin = 0;
    sn_status status = program && sum ? SN_OK : SN_NO_MEMORY;
    for (int turn = 0; turn < 2 && status == SN_OK; turn++) { /* the first one compiles */
        begin = now();
        status = sn_call(program, sn_value(&rounds), sn_in(p.x, p.n), sn_in(p.y, p.n), sn_in(centres.x, centres.n),
                         sn_in(centres.y, centres.n), sn_into(found.x, found.n), sn_into(found.y, found.n));
    }
    double middle = now();
    if (status != SN_OK) {
        fprintf(stderr, "%s\n", sn_message(cx));
    } else {
        for (int64_t k = 0; k < rounds; k++)
            plain_round(p, centres, sum);
        printf("%lld points, %lld centres, %lld rounds: %.1f ms, in C %.1f ms; centres differ by at most %.1e\n",
               (long long)p.n, (long long)centres.n, (long long)rounds, (middle - begin) * 1e3, (now() - middle) * 1e3,
               farthest(centres, found));
    }
    sn_drop(program);
    free(sum);
    return status != SN_OK;
}

int main(int argc, char **argv)
{
    int64_t number[3] = {1000000, 16, 10};
    char *end = "";
    for (int i = 1; i < argc && i <= 3 && !*end; i++)
        number[i - 1] = strtoll(argv[i], &end, 10);
    if (argc > 4 || *end || number[1] < 1 || number[0] < number[1] || number[2] < 0) {
        fprintf(stderr, "usage: kmeans [POINTS [CENTRES [ROUNDS]]], no more centres than points\n");
        return 2;
    }
    struct points p = new_points(number[0]), centres = new_points(number[1]), found = new_points(number[1]);
    sn_context *cx = sn_open(NULL);
    int failed = 1;
    if (cx && p.x && p.y && centres.x && centres.y && found.x && found.y) {
        draw(p, centres);
        failed = cluster(cx, p, centres, found, number[2]);
    }
    sn_close(cx);
    free_points(p);
    free_points(centres);
    free_points(found);
    return failed;
}
