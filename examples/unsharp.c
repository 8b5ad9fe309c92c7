/* Sharpens a photograph: unsharp INPUT.png OUTPUT.png [amount]. */
#include "programs/unsharp.h"

#include "common/arguments.h"
#include "common/clock.h"
#include "common/picture.h"

#include <stdio.h>
#include <stdlib.h>

/* Three planes to pixels, then to the file. */
static int write_planes(const char *path, int64_t height, int64_t width, const uint8_t *plane)
{
    char message[256];
    size_t pixels = (size_t)(height * width);
    uint8_t *rgb = malloc(pixels * 3);
    if (!rgb) {
        fprintf(stderr, "out of memory\n");
        return 1;
    }
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = plane[c * pixels + i];
    bool good = picture_write(path, height, width, 3, rgb, message);
    if (!good)
        fprintf(stderr, "%s\n", message);
    free(rgb);
    return !good;
}

static int sharpen(sn_context *cx, const picture *p, const char *path, float amount)
{
    int64_t h = p->height, w = p->width;
    uint8_t *out = malloc((size_t)(h * w) * 3);
    sn_program *program = sn_compile(cx, UNSHARP_SIGNATURE, unsharp);
    double start = clock_seconds();
    int failed = 1;
    if (!out) {
        fprintf(stderr, "out of memory\n");
    } else if (sn_call(program, sn_in(p->plane[0], h, w), sn_in(p->plane[1], h, w), sn_in(p->plane[2], h, w),
                       sn_value(&amount), sn_into(out, h, w), sn_into(out + h * w, h, w),
                       sn_into(out + 2 * h * w, h, w)) != SN_OK) {
        fprintf(stderr, "%s\n", sn_message(cx));
    } else {
        printf("%lld x %lld pixels in %.1f ms, compilation included\n%s", (long long)w, (long long)h,
               (clock_seconds() - start) * 1e3, sn_explain(program, "clusters"));
        failed = write_planes(path, h, w, out);
    }
    sn_drop(program);
    free(out);
    return failed;
}

int main(int argc, char **argv)
{
    char message[256];
    picture p;
    float amount = 1;
    if ((argc != 3 && argc != 4) || (argc == 4 && !argument_real(argv[3], "amount", -1000, 1000, &amount))) {
        fprintf(stderr, "usage: unsharp INPUT.png OUTPUT.png [amount]\n");
        return 2;
    }
    if (!picture_read(argv[1], &p, message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    sn_context *cx = sn_open(NULL);
    int failed = cx ? sharpen(cx, &p, argv[2], amount) : 1;
    sn_close(cx);
    picture_free(&p);
    return failed;
}
