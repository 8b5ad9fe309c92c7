#include "common/file.h"

#include <stdio.h>
#include <stdlib.h>

unsigned char *file_read(const char *path, int64_t *size)
{
    FILE *f = fopen(path, "rb");
    unsigned char *text = NULL;
    long n = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    if (n >= 0 && !fseek(f, 0, SEEK_SET))
        text = malloc((size_t)n + 1);
    if (!text || fread(text, 1, (size_t)n, f) != (size_t)n) {
        fprintf(stderr, "%s: cannot be read\n", path);
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    *size = n;
    return text;
}
