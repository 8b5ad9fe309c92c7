/* Smoke in a box: fluid [output.png [steps [side]]]. A jet blows from the left; writes the smoke after so many steps.
 */
#include "programs/fluid.h"

#include "common/arguments.h"
#include "common/clock.h"
#include "common/picture.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct fields { /* velocities and smoke, each n numbers, in one block */
    float *u, *v, *smoke;
} fields;

static bool make(fields *f, int64_t n)
{
    float *block = calloc((size_t)n * 3, sizeof(float));
    *f = (fields){block, block + n, block + 2 * n};
    return block != NULL;
}

/* The jet: a fifth of the left side, a little upwards. */
static void blow(const fields *f, int64_t side)
{
    for (int64_t y = side * 2 / 5; y < side * 3 / 5; y++)
        for (int64_t x = 0; x < side / 16 + 1; x++) {
            f->u[y * side + x] = 1.5f;
            f->v[y * side + x] = -0.4f;
            f->smoke[y * side + x] = 1;
        }
}

static bool run(sn_context *cx, sn_program *program, int steps, int64_t side, fields *now, fields *next)
{
    const float unit = 1;
    for (int i = 0; i < steps; i++) {
        blow(now, side);
        if (sn_call(program, sn_in(now->u, side, side), sn_in(now->v, side, side), sn_in(now->smoke, side, side),
                    sn_value(&unit), sn_into(next->u, side, side), sn_into(next->v, side, side),
                    sn_into(next->smoke, side, side)) != SN_OK) {
            fprintf(stderr, "%s\n", sn_message(cx));
            return false;
        }
        fields swap = *now;
        *now = *next;
        *next = swap;
    }
    return true;
}

static bool draw(const char *path, int64_t side, const float *smoke)
{
    char message[256] = "out of memory";
    uint8_t *grey = malloc((size_t)(side * side));
    for (int64_t i = 0; grey && i < side * side; i++)
        grey[i] = (uint8_t)(255 * (smoke[i] < 0 ? 0 : smoke[i] > 1 ? 1 : smoke[i]));
    bool good = grey && picture_write(path, side, side, 1, grey, message);
    free(grey);
    if (good)
        printf("written to %s\n", path);
    else
        fprintf(stderr, "%s\n", message);
    return good;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "fluid.png";
    long steps = 200, side = 256;
    if (argc > 4 || (argc > 2 && !argument_whole(argv[2], "steps", 1, 1000000, &steps)) ||
        (argc > 3 && !argument_whole(argv[3], "side", 1, 8192, &side))) {
        fprintf(stderr, "usage: fluid [output.png [steps [side]]]\n");
        return 2;
    }
    fields now, next;
    bool good = make(&now, side * side);
    good = make(&next, side * side) && good;
    float *block[2] = {now.u, next.u};
    sn_context *cx = good ? sn_open(NULL) : NULL;
    sn_program *program = cx ? sn_compile(cx, FLUID_SIGNATURE, fluid_step) : NULL;
    double start = clock_seconds();
    good = cx && run(cx, program, (int)steps, side, &now, &next);
    if (good)
        printf("%ld steps of %ld x %ld in %.1f ms\n", steps, side, side, (clock_seconds() - start) * 1e3);
    good = good && draw(path, side, now.smoke);
    sn_drop(program);
    sn_close(cx);
    free(block[0]);
    free(block[1]);
    return !good;
}
