/* The .npy format of NumPy (its NEP 1): six bytes of magic, two of version, the length of a header, the header, the
 * elements. The header is a Python dictionary of three entries: {'descr': '<f4', 'fortran_order': False, 'shape': (3,
 * 4), }. */
#include "npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_HEADER = 1 << 16, MOST_TYPE = 16 };

typedef struct reader {
    const char *path;
    char *message;  /* 256 bytes */
    const char *at; /* in the header, which ends with a 0 */
    npy *out;
    bool descr, order, shape; /* entries seen */
    size_t bytes;
} reader;

static bool fail(const reader *r, const char *what)
{
    snprintf(r->message, 256, "%.120s: %.130s", r->path, what);
    return false;
}

static void blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t')
        r->at++;
}

static bool is_next(reader *r, const char *word)
{
    blanks(r);
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool quoted(reader *r, char out[MOST_TYPE])
{
    blanks(r);
    char quote = *r->at;
    if (quote != '\'' && quote != '"')
        return false;
    const char *end = strchr(++r->at, quote);
    if (!end || end - r->at >= MOST_TYPE)
        return false;
    memcpy(out, r->at, (size_t)(end - r->at));
    out[end - r->at] = 0;
    r->at = end + 1;
    return true;
}

static const struct {
    const char *name;
    sn_type type;
    size_t bytes;
} known[] = {{"<f4", SN_F32, 4}, {"<f8", SN_F64, 8}, {"<i4", SN_I32, 4}, {"<i8", SN_I64, 8}, {"|u1", SN_U8, 1}};
enum { KNOWN = sizeof(known) / sizeof(*known) };

static bool read_type(reader *r)
{
    char name[MOST_TYPE], what[128];
    if (!quoted(r, name))
        return fail(r, "elements must have one of the types <f4, <f8, <i4, <i8, |u1; this is a structure or damaged");
    for (size_t i = 0; i < KNOWN; i++)
        if (!strcmp(name, known[i].name)) {
            r->out->type = known[i].type;
            r->bytes = known[i].bytes;
            return true;
        }
    snprintf(what, sizeof(what), "elements have the type %s; only <f4, <f8, <i4, <i8 and |u1 are read", name);
    return fail(r, what);
}

static bool read_order(reader *r)
{
    if (is_next(r, "True"))
        return fail(r, "the array is in Fortran order; only C order is read (numpy.ascontiguousarray makes it)");
    return is_next(r, "False") || fail(r, "the header is damaged: fortran_order is neither True nor False");
}

static bool read_extent(reader *r, int64_t *extent)
{
    if (*r->at < '0' || *r->at > '9')
        return fail(r, "the header is damaged: an extent is no number");
    for (*extent = 0; *r->at >= '0' && *r->at <= '9'; r->at++)
        if (__builtin_mul_overflow(*extent, 10, extent) || __builtin_add_overflow(*extent, *r->at - '0', extent))
            return fail(r, "an extent does not fit into 63 bits");
    return true;
}

static bool read_shape(reader *r)
{
    if (!is_next(r, "("))
        return fail(r, "the header is damaged: the shape is no tuple");
    while (!is_next(r, ")")) {
        if (r->out->rank == NPY_MOST_RANK)
            return fail(r, "the array has more than 8 dimensions");
        if (!read_extent(r, &r->out->extent[r->out->rank++]))
            return false;
        if (is_next(r, ","))
            continue;
        if (!is_next(r, ")"))
            return fail(r, "the header is damaged: the shape does not end");
        break;
    }
    return true;
}

static bool read_entry(reader *r)
{
    char key[MOST_TYPE];
    if (!quoted(r, key) || !is_next(r, ":"))
        return fail(r, "the header is damaged: no key where one is expected");
    blanks(r);
    bool *seen = !strcmp(key, "descr")           ? &r->descr
                 : !strcmp(key, "fortran_order") ? &r->order
                 : !strcmp(key, "shape")         ? &r->shape
                                                 : NULL;
    if (!seen || *seen)
        return fail(r, "the header is damaged: an unknown key, or one twice");
    *seen = true;
    return seen == &r->descr ? read_type(r) : seen == &r->order ? read_order(r) : read_shape(r);
}

static bool read_header(reader *r)
{
    if (!is_next(r, "{"))
        return fail(r, "the header is damaged: no dictionary");
    while (!is_next(r, "}")) {
        if (!read_entry(r))
            return false;
        if (is_next(r, ","))
            continue;
        if (!is_next(r, "}"))
            return fail(r, "the header is damaged: the dictionary does not end");
        break;
    }
    if (!r->descr || !r->order || !r->shape)
        return fail(r, "the header is damaged: descr, fortran_order or shape is missing");
    return true;
}

/* The number of elements, if they can be there: a file may claim any shape. */
static bool count_elements(reader *r, FILE *f)
{
    struct stat info;
    long at = ftell(f);
    bool empty = false, large = false;
    size_t n = 1, bytes = 0;
    for (int d = 0; d < r->out->rank; d++) {
        empty |= r->out->extent[d] == 0;
        large |= __builtin_mul_overflow(n, (size_t)r->out->extent[d], &n);
    }
    large |= __builtin_mul_overflow(n, r->bytes, &bytes) || bytes > INT64_MAX;
    if (large && !empty)
        return fail(r, "the shape is larger than memory can be");
    r->out->elements = empty ? 0 : n;
    if (at < 0 || fstat(fileno(f), &info) || (S_ISREG(info.st_mode) && !empty && info.st_size - at < (int64_t)bytes))
        return fail(r, "the file is shorter than its shape says");
    return true;
}

static bool read_elements(reader *r, FILE *f)
{
    if (!count_elements(r, f))
        return false;
    r->out->data = malloc(r->out->elements ? r->out->elements * r->bytes : 1);
    if (!r->out->data)
        return fail(r, "out of memory");
    if (fread(r->out->data, r->bytes, r->out->elements, f) != r->out->elements)
        return fail(r, "the file is shorter than its shape says");
    return true;
}

static bool read_file(reader *r, FILE *f, char header[MOST_HEADER])
{
    unsigned char b[12] = {0};
    if (fread(b, 1, 10, f) != 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return fail(r, "not an .npy file");
    size_t length = b[8] + (size_t)b[9] * 256;
    if (b[6] == 2) {
        if (fread(b + 10, 1, 2, f) != 2)
            return fail(r, "the file ends within its header");
        length += (size_t)b[10] << 16 | (size_t)b[11] << 24;
    } else if (b[6] != 1) {
        return fail(r, "the format's version is neither 1 nor 2");
    }
    if (length >= MOST_HEADER)
        return fail(r, "the header is longer than 64 KiB");
    if (fread(header, 1, length, f) != length)
        return fail(r, "the file ends within its header");
    header[length] = 0;
    r->at = header;
    return read_header(r) && read_elements(r, f);
}

bool npy_read(const char *path, npy *out, char message[256])
{
    reader r = {.path = path, .message = message, .out = out};
    memset(out, 0, sizeof(*out));
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail(&r, "cannot be opened");
    char *header = malloc(MOST_HEADER);
    bool good = header ? read_file(&r, f, header) : fail(&r, "out of memory");
    free(header);
    fclose(f);
    if (!good)
        npy_free(out);
    return good;
}

void npy_free(npy *a)
{
    free(a->data);
    memset(a, 0, sizeof(*a));
}

/* The header with its blanks: whole, magic included, it has a multiple of 64 bytes. */
static size_t compose_header(const npy *a, size_t k, char out[512])
{
    size_t n = 10;
    memcpy(out, "\x93NUMPY\x01", 8);
    n += (size_t)snprintf(out + n, 512 - n, "{'descr': '%s', 'fortran_order': False, 'shape': (", known[k].name);
    for (int d = 0; d < a->rank; d++)
        n += (size_t)snprintf(out + n, 512 - n, "%lld,%s", (long long)a->extent[d], d + 1 < a->rank ? " " : "");
    n += (size_t)snprintf(out + n, 512 - n, "), }");
    while (n % 64 != 63)
        out[n++] = ' ';
    out[n++] = '\n';
    out[8] = (char)((n - 10) & 255);
    out[9] = (char)((n - 10) >> 8);
    return n;
}

bool npy_write(const char *path, const npy *a, char message[256])
{
    char header[512];
    reader r = {.path = path, .message = message};
    size_t k = 0;
    while (k < KNOWN && known[k].type != a->type)
        k++;
    if (k == KNOWN || a->rank < 0 || a->rank > NPY_MOST_RANK)
        return fail(&r, "cannot be written: only f4, f8, i4, i8 and u1 of up to 8 dimensions are");
    size_t n = compose_header(a, k, header);
    FILE *f = fopen(path, "wb");
    if (!f)
        return fail(&r, "cannot be opened for writing");
    bool good = fwrite(header, 1, n, f) == n && fwrite(a->data, known[k].bytes, a->elements, f) == a->elements;
    good = fclose(f) == 0 && good;
    return good || fail(&r, "not written whole: the disk is full, or it failed");
}
