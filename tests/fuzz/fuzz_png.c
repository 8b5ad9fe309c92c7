/* PNG pictures as the examples read them: three planes, or a message. Checksums of chunks are put right first, or
 * nearly every input would end at one. */
#include "fuzz.h"

#include "common/picture.h"

#include <png.h>

enum { MAGIC = 8, FRAME = 12, MOST_PIXELS = 1 << 20 };

static uint32_t read32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t crc(const uint8_t *at, size_t n)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c ^= at[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ UINT32_C(0xedb88320) : c >> 1;
    }
    return ~c;
}

/* A chunk is a length, a name, so many bytes, and the checksum of the last two. */
static void mend_checksums(uint8_t *png, size_t n)
{
    for (size_t at = MAGIC; at + FRAME <= n;) {
        size_t length = read32(png + at);
        if (length > n - at - FRAME)
            return;
        uint32_t sum = crc(png + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            png[at + 8 + length + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + FRAME;
    }
}

/* Grey, RGB and palette, of a few sizes. */
const char *fuzz_seed(arena *a, uint32_t number, size_t *n)
{
    static const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_RGB,          PNG_FORMAT_RGBA,
                                          PNG_FORMAT_GA,   PNG_FORMAT_RGB_COLORMAP, PNG_FORMAT_LINEAR_RGB_ALPHA};
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 1 + number % 7, .height = 1 + number / 7 % 7};
    uint16_t pixel[49 * 4];
    uint8_t palette[16 * 3];
    image.format = formats[number % ARRAY_LENGTH(formats)];
    image.colormap_entries = 16;
    for (size_t i = 0; i < ARRAY_LENGTH(pixel); i++)
        pixel[i] = image.format == PNG_FORMAT_RGB_COLORMAP ? 0x0301 : (uint16_t)(i * 977 + number);
    memset(palette, (int)number, sizeof(palette));
    png_alloc_size_t bytes = 0;
    fuzz_promise(png_image_write_to_memory(&image, NULL, &bytes, 0, pixel, 0, palette), "a picture has a size", NULL);
    char *file = arena_alloc(a, bytes);
    fuzz_promise(png_image_write_to_memory(&image, file, &bytes, 0, pixel, 0, palette), "a picture is made", NULL);
    *n = bytes;
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char message[256] = "";
    picture p;
    uint8_t *png;
    arena a;
    if (n < MAGIC + FRAME + 13 || n > FUZZ_LONGEST)
        return 0;
    if ((uint64_t)read32(bytes + 16) * read32(bytes + 20) > MOST_PIXELS) /* only to be fast: larger ones are read */
        return 0;
    arena_init(&a, NULL);
    png = arena_copy(&a, bytes, n);
    mend_checksums(png, n);
    if (picture_decode("some/file", png, n, &p, message)) {
        unsigned sum = 0;
        for (int64_t i = 0; i < p.height * p.width; i++)
            sum += (unsigned)p.plane[0][i] + p.plane[1][i] + p.plane[2][i];
        fuzz_promise(p.height > 0 && p.width > 0 && sum <= 765u * MOST_PIXELS, "a picture has pixels", NULL);
        picture_free(&p);
    } else {
        fuzz_promise(!strncmp(message, "some/file: ", 11) && strlen(message) > 11, "an error has a message", NULL);
    }
    arena_free(&a);
    return 0;
}
