/* Files of the Matrix Market: sparse matrices of numbers, as lists of (row, column, value). */
#ifndef EXAMPLES_MATRIX_MARKET_H
#define EXAMPLES_MATRIX_MARKET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct matrix_market {
    int64_t rows, columns, elements;
    bool symmetric;  /* as the file says; the elements below and above the diagonal are here all the same */
    int64_t *row;    /* rows + 1: where the elements of each row begin, and where those of the last one end */
    int32_t *column; /* of each element; ascending in its row if they are in the file */
    double *value;   /* 1 where the file has none (pattern) */
} matrix_market;

/* Reads "coordinate" files of real, integer or pattern matrices, general or symmetric, of at most 2^31 - 1 columns.
 * False, and stderr says what is wrong and in which line, if there is anything else. To be freed in any case. */
bool matrix_market_read(const char *path, matrix_market *out);
void matrix_market_free(matrix_market *m);

#endif
