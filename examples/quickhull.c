/* The convex hull of random points: quickhull [POINTS [SEED]], in a disc. Prints how many corners it has and what area.
 */
#include "programs/quickhull.h"
#include "common/arguments.h"
#include "common/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A number from 0 to 1 (xorshift). */
static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53;
}

static void fill_disc(double *x, double *y, int64_t n, uint64_t seed)
{
    const double turn = 6.283185307179586;
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (int64_t i = 0; i < n; i++) {
        double angle = turn * uniform(&state), radius = sqrt(uniform(&state));
        x[i] = radius * cos(angle);
        y[i] = radius * sin(angle);
    }
}

/* Of a polygon that lies to the right of its sides. */
static double area(const double *x, const double *y, int64_t n)
{
    double twice = 0;
    for (int64_t i = 0, next = 1; i < n; i++, next = i + 1 < n ? i + 1 : 0)
        twice += x[next] * y[i] - x[i] * y[next];
    return twice / 2;
}

int main(int argc, char **argv)
{
    long n = 1000000, seed = 1;
    if (argc > 3 || (argc > 1 && !argument_whole(argv[1], "points", 1, 200000000, &n)) ||
        (argc > 2 && !argument_whole(argv[2], "seed", 0, 1000000000, &seed))) {
        fprintf(stderr, "usage: quickhull [points [seed]]\n");
        return 2;
    }
    double *x = malloc((size_t)n * sizeof(*x)), *y = malloc((size_t)n * sizeof(*y));
    double *corner = malloc(2 * (size_t)n * sizeof(*corner));
    if (!x || !y || !corner) {
        fprintf(stderr, "no memory for %ld points\n", n);
        free(x), free(y), free(corner);
        return 1;
    }
    fill_disc(x, y, n, (uint64_t)seed);
    int64_t corners = 0, as_many = 0;
    double best = 1e9;
    sn_context *cx = sn_open(NULL);
    sn_program *program = cx ? sn_compile(cx, QUICKHULL_SIGNATURE, quickhull) : NULL;
    sn_status status = program ? SN_OK : SN_NO_PROGRAM;
    for (int round = 0; round < 5 && status == SN_OK; round++) {
        double start = clock_seconds();
        status =
            sn_call(program, sn_in(x, n), sn_in(y, n), sn_upto(corner, n, &corners), sn_upto(corner + n, n, &as_many));
        double time = clock_seconds() - start;
        best = time < best ? time : best;
    }
    if (status == SN_OK)
        printf("%ld points, %lld corners, area %.6f, %.2f ms\n", n, (long long)corners,
               area(corner, corner + n, corners), best * 1e3);
    else
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
    sn_drop(program);
    sn_close(cx);
    free(x), free(y), free(corner);
    return status != SN_OK;
}
