/* Planets: nbody [days [bodies]]. Follows the Sun and the outer planets day by day or, with `bodies`, a cloud of that
 * many; in both formulations. Prints how the energy drifts, how far apart the two come, and times. */
#include "programs/nbody.h"

#include "common/arguments.h"
#include "common/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bodies { /* seven arrays of n in one block: positions, velocities, masses */
    int64_t n;
    double *x, *y, *z, *u, *v, *w, *mass;
} bodies;

#define GRAVITY 2.95912208286e-4

/* The Sun (with the inner planets), Jupiter, Saturn, Uranus, Neptune and Pluto on 5 September 1994: astronomical units,
 * days, masses in suns. From Hairer, Lubich, Wanner, Geometric Numerical Integration, table I.2.2. */
static const double outer_planets[6][7] = {
    {0, 0, 0, 0, 0, 0, 1.00000597682},
    {-3.5023653, -3.8169847, -1.5507963, 0.00565429, -0.00412490, -0.00190589, 0.000954786104043},
    {9.0755314, -3.0458353, -1.6483708, 0.00168318, 0.00483525, 0.00192462, 0.000285583733151},
    {8.3101420, -16.2901086, -7.2521278, 0.00354178, 0.00137102, 0.00055029, 0.0000437273164546},
    {11.4707666, -25.7294829, -10.8169456, 0.00288930, 0.00114527, 0.00039677, 0.0000517759138449},
    {-15.5387357, -25.2225594, -3.1902382, 0.00276725, -0.00170702, -0.00136504, 1 / 1.3e8},
};

static bool make(bodies *b, int64_t n)
{
    double *block = calloc((size_t)n * 7, sizeof(double));
    *b = (bodies){n, block, block + n, block + 2 * n, block + 3 * n, block + 4 * n, block + 5 * n, block + 6 * n};
    return block != NULL;
}

static void planets(bodies *b)
{
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 7; k++)
            b->x[k * 6 + i] = outer_planets[i][k] * (k == 6 ? GRAVITY : 1);
}

/* One sun's mass at rest in a cube 100 units wide. */
static void cloud(bodies *b)
{
    srand(1);
    for (int64_t i = 0; i < 3 * b->n; i++)
        b->x[i] = 100.0 * rand() / RAND_MAX;
    for (int64_t i = 0; i < b->n; i++)
        b->mass[i] = GRAVITY / (double)b->n;
}

static double energy(const bodies *b)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++) {
        sum += b->mass[i] * (b->u[i] * b->u[i] + b->v[i] * b->v[i] + b->w[i] * b->w[i]) / 2;
        for (int64_t k = i + 1; k < b->n; k++) {
            double dx = b->x[i] - b->x[k], dy = b->y[i] - b->y[k], dz = b->z[i] - b->z[k];
            sum -= b->mass[i] * b->mass[k] / sqrt(dx * dx + dy * dy + dz * dz);
        }
    }
    return sum;
}

static sn_status step(sn_program *program, const bodies *from, const bodies *to, double days)
{
    int64_t n = from->n;
    return sn_call(program, sn_in(from->x, n), sn_in(from->y, n), sn_in(from->z, n), sn_in(from->u, n),
                   sn_in(from->v, n), sn_in(from->w, n), sn_in(from->mass, n), sn_value(&days), sn_into(to->x, n),
                   sn_into(to->y, n), sn_into(to->z, n), sn_into(to->u, n), sn_into(to->v, n), sn_into(to->w, n));
}

/* Days of `b`, which changes; `spare` has room for as many bodies. */
static bool follow(sn_context *cx, const char *name, sn_program *program, int days, bodies *b, bodies *spare)
{
    double before = energy(b), start = clock_seconds();
    memcpy(spare->mass, b->mass, (size_t)b->n * sizeof(double));
    for (int day = 0; day < days; day++) {
        if (step(program, b, spare, 1) != SN_OK) {
            fprintf(stderr, "%s\n", sn_message(cx));
            return false;
        }
        bodies swap = *b;
        *b = *spare;
        *spare = swap;
    }
    printf("%-16s %d days in %.1f ms, energy %.9e -> %.9e, drift %.1e\n", name, days, (clock_seconds() - start) * 1e3,
           before, energy(b), fabs(energy(b) / before - 1));
    return true;
}

static bool compare(sn_context *cx, int days, bodies set[3], void (*fill)(bodies *))
{
    sn_program *replicates = sn_compile(cx, NBODY_F64, nbody_replicates),
               *loops = sn_compile(cx, NBODY_F64, nbody_loops);
    fill(&set[0]);
    fill(&set[1]);
    bool good = follow(cx, "fold, replicates", replicates, days, &set[0], &set[2]) &&
                follow(cx, "map of loops", loops, days, &set[1], &set[2]);
    double apart = 0, fastest = 0;
    for (int64_t i = 0; good && i < 3 * set[0].n; i++) {
        apart = fmax(apart, fabs(set[0].u[i] - set[1].u[i]));
        fastest = fmax(fastest, fabs(set[0].u[i]));
    }
    if (good)
        printf("velocities differ by at most %.1e of the largest\n", apart / fastest);
    sn_drop(replicates);
    sn_drop(loops);
    return good;
}

int main(int argc, char **argv)
{
    long all_days = 10000, bodies_n = 6;
    if (argc > 3 || (argc > 1 && !argument_whole(argv[1], "days", 1, 100000000, &all_days)) ||
        (argc > 2 && !argument_whole(argv[2], "bodies", 2, 100000, &bodies_n))) {
        fprintf(stderr, "usage: nbody [days [bodies]]\n");
        return 2;
    }
    int days = (int)all_days, n = (int)bodies_n;
    bodies set[3] = {0};
    bool good = make(&set[0], n) && make(&set[1], n) && make(&set[2], n);
    double *block[3] = {set[0].x, set[1].x, set[2].x};
    sn_context *cx = good ? sn_open(NULL) : NULL;
    good = cx && compare(cx, days, set, argc > 2 ? cloud : planets);
    sn_close(cx);
    for (int i = 0; i < 3; i++)
        free(block[i]);
    return !good;
}
