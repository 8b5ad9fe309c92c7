/* PNG pictures in and out, through libpng. */
#ifndef EXAMPLES_PICTURE_H
#define EXAMPLES_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct picture { /* three planes of height x width bytes */
    int64_t height, width;
    uint8_t *plane[3]; /* red, green, blue; in one block that picture_free frees */
} picture;

/* Reads any PNG (grey, palette, 16-bit, with alpha: converted to 8-bit RGB, alpha dropped). Returns false and a message
 * that names the file for files that cannot be read, are damaged, or have more than 2^28 pixels; nothing is held then.
 */
bool picture_read(const char *path, picture *out, char message[256]);
/* The same for a file that is in memory; `path` is for messages. */
bool picture_decode(const char *path, const void *png, size_t bytes, picture *out, char message[256]);
void picture_free(picture *p);
/* Writes an 8-bit grey or (channels == 3) interleaved RGB picture. */
bool picture_write(const char *path, int64_t height, int64_t width, int channels, const uint8_t *pixel,
                   char message[256]);

#endif
