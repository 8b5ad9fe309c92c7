/* Draws the Mandelbrot set: mandelbrot [output.png [width [height]]]. */
#include "programs/mandelbrot.h"

#include "common/arguments.h"
#include "common/clock.h"
#include "common/picture.h"

#include <stdio.h>
#include <stdlib.h>

/* steps to a colour: black inside, bands of blue and gold outside */
static void colour(int32_t steps, int32_t limit, uint8_t *rgb)
{
    int t = steps >= limit ? 0 : 255 - abs(255 - steps * 9 % 511);
    rgb[0] = (uint8_t)(t * t / 255);
    rgb[1] = (uint8_t)(t * 3 / 4);
    rgb[2] = (uint8_t)(steps >= limit ? 0 : 64 + t * 3 / 4);
}

static int draw(sn_context *cx, const char *path, int64_t height, int64_t width)
{
    char signature[80], message[256];
    struct mandelbrot_pixel view = {.height = height, .width = width};
    snprintf(signature, sizeof signature, MANDELBROT_SIGNATURE, (long long)height, (long long)width);
    sn_program *program = sn_compile_env(cx, signature, mandelbrot, &view);
    int32_t *count = malloc((size_t)(height * width) * sizeof(int32_t)), limit = 255;
    uint8_t *pixel = malloc((size_t)(height * width) * 3);
    float step = 3.2f / (float)width, left = -2.1f, top = -step * (float)height / 2;
    int failed = 1;
    double start = clock_seconds();
    if (!count || !pixel) {
        fprintf(stderr, "out of memory\n");
    } else if (sn_call(program, sn_value(&left), sn_value(&top), sn_value(&step), sn_value(&limit),
                       sn_into(count, height, width)) != SN_OK) {
        fprintf(stderr, "%s\n", sn_message(cx));
    } else {
        printf("%lld x %lld pixels in %.1f ms, compilation included\n", (long long)width, (long long)height,
               (clock_seconds() - start) * 1e3);
        for (int64_t i = 0; i < height * width; i++)
            colour(count[i], limit, pixel + 3 * i);
        failed = !picture_write(path, height, width, 3, pixel, message);
        if (failed)
            fprintf(stderr, "%s\n", message);
        else
            printf("written to %s\n", path);
    }
    sn_drop(program);
    free(count);
    free(pixel);
    return failed;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "mandelbrot.png";
    long width = 1600, height = 0;
    if (argc > 4 || (argc > 2 && !argument_whole(argv[2], "width", 1, 65536, &width)) ||
        (argc > 3 && !argument_whole(argv[3], "height", 1, 65536, &height))) {
        fprintf(stderr, "usage: mandelbrot [output.png [width [height]]]\n");
        return 2;
    }
    if (!height)
        height = (width * 3 + 3) / 4;
    sn_context *cx = sn_open(NULL);
    int failed = cx ? draw(cx, path, height, width) : 1;
    sn_close(cx);
    return failed;
}
