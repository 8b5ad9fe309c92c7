/* Canny's detector up to suppression in one pass over the picture, for any machine: bands of rows, and in each band
 * every stage one row at a time into a ring of line buffers. Where there is AVX-512 and the picture is wide enough,
 * canny_avx512.c does the work instead. */
#include "canny.h"

#include <math.h>
#include <stdlib.h>

enum {
    BAND = 64,
    PAD = 16, /* room for the clamped neighbours on both sides of a line */
};

/* Line buffers of one worker; row r of a stage is in slot r modulo the ring's size. */
struct lines {
    float *grey;
    float *across[5];
    float *blurred[3];
    float *magnitude[3];
    uint8_t *direction[3];
    float *memory;
};

enum { LINES = 1 + 5 + 3 + 3 + 3 };

static int lines_open(struct lines *lines, int64_t width)
{
    size_t stride = ((size_t)width + 2 * PAD + 15) / 16 * 16;
    lines->memory = aligned_alloc(64, LINES * stride * sizeof(float));
    if (!lines->memory)
        return 0;
    float *at = lines->memory + PAD;
    lines->grey = at;
    for (int i = 0; i < 5; i++)
        lines->across[i] = at += stride;
    for (int i = 0; i < 3; i++)
        lines->blurred[i] = at += stride;
    for (int i = 0; i < 3; i++)
        lines->magnitude[i] = at += stride;
    for (int i = 0; i < 3; i++)
        lines->direction[i] = (uint8_t *)(at += stride);
    return 1;
}

static int64_t clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static void pad(float *line, int64_t width, int by)
{
    for (int i = 1; i <= by; i++) {
        line[-i] = line[0];
        line[width - 1 + i] = line[width - 1];
    }
}

static void blur_across(const struct canny *job, struct lines *lines, int64_t row)
{
    const uint8_t *red = job->red + row * job->width;
    const uint8_t *green = job->green + row * job->width;
    const uint8_t *blue = job->blue + row * job->width;
    float *grey = lines->grey;
    float *out = lines->across[row % 5];
    for (int64_t x = 0; x < job->width; x++)
        grey[x] = GREY_RED * (float)red[x] + GREY_GREEN * (float)green[x] + GREY_BLUE * (float)blue[x];
    pad(grey, job->width, 2);
    for (int64_t x = 0; x < job->width; x++)
        out[x] = (grey[x - 2] + grey[x + 2]) + 4 * (grey[x - 1] + grey[x + 1]) + 6 * grey[x];
}

static void blur_down(const struct canny *job, struct lines *lines, int64_t row)
{
    const float *in[5];
    for (int i = 0; i < 5; i++)
        in[i] = lines->across[clamp(row - 2 + i, job->height) % 5];
    float *out = lines->blurred[row % 3];
    for (int64_t x = 0; x < job->width; x++)
        out[x] = (in[0][x] + in[4][x]) + 4 * (in[1][x] + in[3][x]) + 6 * in[2][x];
    pad(out, job->width, 1);
}

static uint8_t direction_of(float dx, float dy, float low)
{
    float ax = fabsf(dx);
    float ay = fabsf(dy);
    if (ax <= low && ay <= low)
        return FLAT;
    if (ay < TAN_PI_8 * ax)
        return ACROSS;
    if (ax <= TAN_PI_8 * ay)
        return DOWN;
    return (dx < 0) == (dy < 0) ? RISING : FALLING;
}

static void gradient(const struct canny *job, struct lines *lines, int64_t row)
{
    const float *above = lines->blurred[clamp(row - 1, job->height) % 3];
    const float *here = lines->blurred[row % 3];
    const float *below = lines->blurred[clamp(row + 1, job->height) % 3];
    float *magnitude = lines->magnitude[row % 3];
    uint8_t *direction = lines->direction[row % 3];
    for (int64_t x = 0; x < job->width; x++) {
        float right = (above[x + 1] + below[x + 1]) + 2 * here[x + 1];
        float left = (above[x - 1] + below[x - 1]) + 2 * here[x - 1];
        float up = (above[x - 1] + above[x + 1]) + 2 * above[x];
        float down = (below[x - 1] + below[x + 1]) + 2 * below[x];
        float dx = right - left;
        float dy = up - down;
        magnitude[x] = sqrtf(dx * dx + dy * dy);
        direction[x] = direction_of(dx, dy, job->low);
    }
    pad(magnitude, job->width, 1);
}

static void suppress(const struct canny *job, struct lines *lines, int64_t row)
{
    const float *rows[3] = {lines->magnitude[clamp(row - 1, job->height) % 3], lines->magnitude[row % 3],
                            lines->magnitude[clamp(row + 1, job->height) % 3]};
    static const int8_t across[] = {[FLAT] = 0, [RISING] = 1, [DOWN] = 0, [FALLING] = -1, [ACROSS] = -1};
    static const int8_t down[] = {[FLAT] = 0, [RISING] = -1, [DOWN] = -1, [FALLING] = -1, [ACROSS] = 0};
    const uint8_t *direction = lines->direction[row % 3];
    float *out = job->edges + row * job->width;
    for (int64_t x = 0; x < job->width; x++) {
        int dx = across[direction[x]];
        int dy = down[direction[x]];
        float here = rows[1][x];
        int edge =
            direction[x] != FLAT && here >= job->low && here >= rows[1 + dy][x + dx] && here >= rows[1 - dy][x - dx];
        out[x] = !edge ? 0.0F : here >= job->high ? 1.0F : 0.5F;
    }
}

/* Each stage runs as far ahead of the next one as that one's neighbours ask. */
static void band(const struct canny *job, struct lines *lines, int64_t first, int64_t last)
{
    int64_t height = job->height;
    int64_t across = clamp(first - 4, height);
    int64_t blurred = clamp(first - 2, height);
    int64_t magnitude = clamp(first - 1, height);
    for (int64_t row = first; row < last; row++) {
        for (; magnitude <= clamp(row + 1, height); magnitude++) {
            for (; blurred <= clamp(magnitude + 1, height); blurred++) {
                for (; across <= clamp(blurred + 2, height); across++)
                    blur_across(job, lines, across);
                blur_down(job, lines, blurred);
            }
            gradient(job, lines, magnitude);
        }
        suppress(job, lines, row);
    }
}

static void bands(void *ctx, int id, int workers)
{
    (void)id;
    (void)workers;
    struct canny *job = ctx;
    struct lines lines;
    if (!lines_open(&lines, job->width)) {
        job->out_of_memory = 1;
        return;
    }
    int64_t next;
    while ((next = team_claim(&job->next, (job->height + BAND - 1) / BAND)) >= 0) {
        int64_t first = next * BAND;
        band(job, &lines, first, first + BAND < job->height ? first + BAND : job->height);
    }
    free(lines.memory);
}

int c_canny(struct team *team, int64_t height, int64_t width, const uint8_t *red, const uint8_t *green,
            const uint8_t *blue, float low, float high, float *edges)
{
    struct canny job = {height, width, red, green, blue, low, high, edges, 0, 0};
    if (height == 0 || width == 0)
        return 1;
    team_run(team, canny_has_avx512(&job) ? canny_strips : bands, &job);
    return !job.out_of_memory;
}
