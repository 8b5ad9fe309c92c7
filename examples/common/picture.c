/* PNG pictures through libpng's simplified interface, which checks what it reads. */
#include "picture.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 1 << 28 };

static bool fail(png_image *image, const char *path, const char *what, char message[256])
{
    snprintf(message, 256, "%.150s: %.90s", path, image && image->message[0] ? image->message : what);
    if (image)
        png_image_free(image);
    return false;
}

/* The pixels of an image whose header has been read. */
static bool finish(png_image *image, const char *path, picture *out, char message[256])
{
    size_t pixels = (size_t)image->width * image->height;
    if (pixels == 0 || pixels > MOST_PIXELS)
        return fail(image, path, "no pixels, or more than 2^28", message);
    image->format = PNG_FORMAT_RGB;
    uint8_t *rgb = malloc(pixels * 3), *planes = malloc(pixels * 3);
    const png_color black = {0, 0, 0};
    if (!rgb || !planes || !png_image_finish_read(image, &black, rgb, 0, NULL)) {
        free(rgb);
        free(planes);
        return fail(image, path, "out of memory", message);
    }
    *out = (picture){image->height, image->width, {planes, planes + pixels, planes + 2 * pixels}};
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++)
            out->plane[c][i] = rgb[3 * i + (size_t)c];
    free(rgb);
    return true;
}

bool picture_read(const char *path, picture *out, char message[256])
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    memset(out, 0, sizeof(*out));
    if (!png_image_begin_read_from_file(&image, path))
        return fail(&image, path, "cannot be read", message);
    return finish(&image, path, out, message);
}

bool picture_decode(const char *path, const void *png, size_t bytes, picture *out, char message[256])
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    memset(out, 0, sizeof(*out));
    if (!png_image_begin_read_from_memory(&image, png, bytes))
        return fail(&image, path, "cannot be read", message);
    return finish(&image, path, out, message);
}

void picture_free(picture *p)
{
    free(p->plane[0]);
    memset(p, 0, sizeof(*p));
}

bool picture_write(const char *path, int64_t height, int64_t width, int channels, const uint8_t *pixel,
                   char message[256])
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX)
        return fail(NULL, path, "a picture needs 1 to 2^31 rows and columns", message);
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    image.format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    if (!png_image_write_to_file(&image, path, 0, pixel, 0, NULL))
        return fail(&image, path, "cannot be written", message);
    return true;
}
