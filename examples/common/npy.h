/* NumPy's .npy files, in and out. */
#ifndef EXAMPLES_NPY_H
#define EXAMPLES_NPY_H

#include <sinter/sinter.h>

enum { NPY_MOST_RANK = 8 };

typedef struct npy { /* a whole array */
    sn_type type;    /* SN_F32, SN_F64, SN_I32, SN_I64 or SN_U8 */
    int rank;
    int64_t extent[NPY_MOST_RANK]; /* outermost first */
    size_t elements;
    void *data; /* row-major; freed by npy_free */
} npy;

/* Reads an array of '<f4', '<f8', '<i4', '<i8' or '|u1' in C order, of at most 8 dimensions, from a file of format 1
 * or 2. Returns false and a message that names the file and says what is wrong with it for everything else; nothing is
 * held then. */
bool npy_read(const char *path, npy *out, char message[256]);
void npy_free(npy *a);
/* Writes such an array (format 1). False and a message if that fails; the file is then not to be used. */
bool npy_write(const char *path, const npy *a, char message[256]);

#endif
