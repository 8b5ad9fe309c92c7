/* The header of NumPy's .npy files: a Python dictionary of three entries, {'descr': '<f4', 'fortran_order': False,
 * 'shape': (3, 4), }. */
#ifndef SN_API_NPY_HEADER_H
#define SN_API_NPY_HEADER_H

#include "ir/term.h"

enum { NPY_WHY = 160, NPY_MOST_WRITTEN = 512 };

typedef struct npy_header {
    ir_type type;
    bool swapped; /* the elements are in the other byte order than this machine's */
    bool fortran; /* the first dimension is the innermost one */
    int rank;
    int64_t extent[IR_MAX_RANK];
} npy_header;

/* Reads the n bytes of the dictionary, with blanks behind it; at[n] is 0. False, and why, for everything else. */
bool npy_parse(const char *at, size_t n, npy_header *out, char why[NPY_WHY]);

/* Writes what stands before the elements, magic and lengths included (format 1.0): a multiple of 64 bytes, whose number
 * is returned. */
size_t npy_compose(ir_type type, int rank, const int64_t *extent, char out[NPY_MOST_WRITTEN]);

#endif
