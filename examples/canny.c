/* Edges of a photograph: canny INPUT.png OUTPUT.png [low high]. Suppression and everything before it are array operations;
 * weak edges that touch strong ones are then linked in plain C. Prints what was fused, and times fused against unfused. */
#include "programs/canny.h"

#include "common/arguments.h"
#include "common/clock.h"
#include "common/picture.h"

#include <stdio.h>
#include <stdlib.h>

/* Grows strong edges (1) into the weak ones (0.5) that touch them; what stays weak is no edge. */
static bool link_edges(int64_t height, int64_t width, const float *edge, uint8_t *out)
{
    int64_t *stack = malloc((size_t)(height * width) * sizeof(int64_t)), n = 0;
    if (!stack)
        return false;
    for (int64_t i = 0; i < height * width; i++) {
        out[i] = edge[i] >= 1 ? 255 : 0;
        if (out[i])
            stack[n++] = i;
    }
    while (n) {
        int64_t at = stack[--n], row = at / width, column = at % width;
        for (int64_t y = row > 0 ? row - 1 : 0; y <= row + 1 && y < height; y++)
            for (int64_t x = column > 0 ? column - 1 : 0; x <= column + 1 && x < width; x++)
                if (edge[y * width + x] > 0 && !out[y * width + x]) {
                    out[y * width + x] = 255;
                    stack[n++] = y * width + x;
                }
    }
    free(stack);
    return true;
}

static sn_status run(sn_program *program, const picture *p, float low, float high, float *edge)
{
    return sn_call(program, sn_in(p->plane[0], p->height, p->width), sn_in(p->plane[1], p->height, p->width),
                   sn_in(p->plane[2], p->height, p->width), sn_value(&low), sn_value(&high),
                   sn_into(edge, p->height, p->width));
}

/* Best of several calls in seconds, negative after an error (which is printed). */
static double best_time(sn_context *cx, sn_program *program, const picture *p, float low, float high, float *edge)
{
    double best = 1e9, end = clock_seconds() + 0.5;
    for (int round = 0; round < 3 || clock_seconds() < end; round++) {
        double start = clock_seconds();
        if (run(program, p, low, high, edge) != SN_OK) {
            fprintf(stderr, "%s\n", sn_message(cx));
            return -1;
        }
        double time = clock_seconds() - start;
        best = time < best ? time : best;
    }
    return best;
}

/* -1 after an error */
static double detect(bool fusion, bool explain, const picture *p, float low, float high, float *edge)
{
    sn_options options = {.size = sizeof options, .fusion = fusion ? SN_ON : SN_OFF};
    sn_context *cx = sn_open(&options);
    if (!cx) {
        fprintf(stderr, "no device\n");
        return -1;
    }
    sn_program *program = sn_compile(cx, CANNY_SIGNATURE, canny);
    double time = best_time(cx, program, p, low, high, edge);
    if (time >= 0 && explain)
        printf("%s\n", sn_explain(program, NULL));
    sn_drop(program);
    sn_close(cx);
    return time;
}

/* The same picture side by side and on top of itself, times x times; false if there is no memory for it. */
static bool repeat(const picture *p, int64_t times, picture *out)
{
    size_t pixels = (size_t)(p->height * times) * (size_t)(p->width * times);
    uint8_t *planes = malloc(3 * pixels);
    if (!planes)
        return false;
    *out = (picture){p->height * times, p->width * times, {planes, planes + pixels, planes + 2 * pixels}};
    for (int c = 0; c < 3; c++)
        for (int64_t y = 0; y < out->height; y++)
            for (int64_t x = 0; x < out->width; x++)
                out->plane[c][y * out->width + x] = p->plane[c][y % p->height * p->width + x % p->width];
    return true;
}

/* A photograph fits into the caches, where fusion gains little; so it is also timed repeated to some 16 million pixels. */
static int time_large(const picture *p, float low, float high)
{
    int64_t times = 1;
    while (p->height * p->width * (times + 1) * (times + 1) <= (int64_t)1 << 24)
        times++;
    picture large;
    if (times < 2 || !repeat(p, times, &large))
        return 0;
    float *edge = malloc((size_t)(large.height * large.width) * sizeof(float));
    double unfused = edge ? detect(false, false, &large, low, high, edge) : -1;
    double fused = unfused < 0 ? -1 : detect(true, false, &large, low, high, edge);
    if (fused >= 0)
        printf("%lld x %lld pixels (repeated): %.3f ms fused, %.3f ms unfused (%.1f times)\n", (long long)large.width,
               (long long)large.height, fused * 1e3, unfused * 1e3, unfused / fused);
    free(edge);
    picture_free(&large);
    return fused < 0;
}

static int edges(const picture *p, const char *output, float low, float high)
{
    char message[256];
    size_t pixels = (size_t)(p->height * p->width);
    float *edge = malloc(pixels * sizeof(float));
    uint8_t *out = malloc(pixels);
    int failed = 1;
    if (!edge || !out) {
        fprintf(stderr, "out of memory\n");
    } else {
        printf("timing without fusion ...\n");
        fflush(stdout);
        double unfused = detect(false, false, p, low, high, edge);
        printf("timing with fusion ...\n\n");
        fflush(stdout);
        double fused = unfused < 0 ? -1 : detect(true, true, p, low, high, edge);
        if (fused >= 0 && !link_edges(p->height, p->width, edge, out))
            fprintf(stderr, "out of memory\n");
        else if (fused >= 0 && !picture_write(output, p->height, p->width, 1, out, message))
            fprintf(stderr, "%s\n", message);
        else if (fused >= 0)
            failed = 0;
        if (!failed)
            printf("%lld x %lld pixels: %.3f ms fused, %.3f ms unfused (%.1f times)\n", (long long)p->width,
                   (long long)p->height, fused * 1e3, unfused * 1e3, unfused / fused);
        failed = failed || time_large(p, low, high);
        if (!failed)
            printf("edges in %s\n", output);
    }
    free(edge);
    free(out);
    return failed;
}

int main(int argc, char **argv)
{
    char message[256];
    picture p;
    float low = 40, high = 80;
    if ((argc != 3 && argc != 5) || (argc == 5 && (!argument_real(argv[3], "low", 0, 1e6f, &low) ||
                                                   !argument_real(argv[4], "high", low, 1e6f, &high)))) {
        fprintf(stderr, "usage: canny INPUT.png OUTPUT.png [low high]\n");
        return 2;
    }
    if (!picture_read(argv[1], &p, message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    int failed = edges(&p, argv[2], low, high);
    picture_free(&p);
    return failed;
}
