/* A whole file in memory. */
#ifndef EXAMPLES_FILE_H
#define EXAMPLES_FILE_H

#include <stdint.h>

/* The file's bytes, to be freed, and how many there are. NULL if it cannot be read, which stderr says. */
unsigned char *file_read(const char *path, int64_t *size);

#endif
