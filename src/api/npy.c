/* NumPy's .npy files (its NEP 1, formats 1 to 3): six bytes of magic, two of version, the length of a header, the
 * header (npy_header.c), the elements. A file may claim anything: nothing is believed that its size does not bear out.
 */
#include "api/npy.h"
#include "api/api.h"
#include "api/npy_header.h"

#include <errno.h>
#include <stdio.h>

enum { MOST_HEADER = 1 << 16 };

typedef struct loading {
    sn_context *cx;
    FILE *file;
    const char *path;
    api_who who;
    npy_header header;
} loading;

/* Messages begin with the path; in front of it, the place and the function, if there is a place. */
static api_who who_is(sn_site at, const char *function)
{
    return at.file ? api_function_at(at, function) : (api_who){.what = NULL};
}

static bool fail(const loading *l, const char *why)
{
    api_fail_at(l->cx, l->who, SN_FILE, "%s: %s", l->path, why);
    return false;
}

static const char *system_says(int error, char room[128])
{
    return strerror_r(error, room, 128);
}

static bool fail_system(const loading *l, const char *what, int error)
{
    char room[128];
    api_fail_at(l->cx, l->who, SN_FILE, "%s: %s: %s", l->path, what, system_says(error, room));
    return false;
}

/* --- the header --- */

static bool read_length(const loading *l, size_t *length)
{
    unsigned char b[12] = {0};
    errno = 0;
    if (fread(b, 1, 10, l->file) != 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return errno ? fail_system(l, "cannot be read", errno) : fail(l, "not an .npy file; numpy.save writes them");
    *length = b[8] + (size_t)b[9] * 256;
    if (b[6] < 1 || b[6] > 3 || b[7] != 0)
        return fail(l, "the version of the format is not 1.0, 2.0 or 3.0; numpy.save writes these");
    if (b[6] > 1 && fread(b + 10, 1, 2, l->file) != 2)
        return fail(l, "the file ends within its header; copy or save it again");
    *length += (size_t)b[10] << 16 | (size_t)b[11] << 24;
    return *length < MOST_HEADER || fail(l, "the header is longer than 64 KiB; numpy.save writes shorter ones");
}

static bool read_header(loading *l)
{
    size_t length = 0;
    char why[NPY_WHY];
    if (!read_length(l, &length))
        return false;
    char *dictionary = l->cx->heap.alloc(l->cx->heap.env, length + 1);
    if (!dictionary) {
        api_fail_at(l->cx, l->who, SN_NO_MEMORY, "%s: no memory for the header", l->path);
        return false;
    }
    bool good = fread(dictionary, 1, length, l->file) == length;
    dictionary[good ? length : 0] = 0;
    good = good ? npy_parse(dictionary, length, &l->header, why) || fail(l, why)
                : fail(l, "the file ends within its header; copy or save it again");
    l->cx->heap.release(l->cx->heap.env, dictionary);
    return good;
}

/* --- the elements --- */

/* Whether so many bytes can follow. A pipe does not tell: reading it will. */
static bool can_follow(const loading *l, size_t bytes)
{
    off_t at = ftello(l->file);
    if (at < 0 || fseeko(l->file, 0, SEEK_END))
        return true;
    off_t end = ftello(l->file);
    return end >= at && (uint64_t)(end - at) >= bytes && !fseeko(l->file, at, SEEK_SET);
}

static bool read_bytes(const loading *l, void *to, size_t bytes)
{
    if (fread(to, 1, bytes, l->file) == bytes)
        return true;
    return ferror(l->file) ? fail_system(l, "cannot be read", errno)
                           : fail(l, "the file is shorter than its shape says; copy or save it again");
}

/* The first dimension is the innermost one: read aside, then copied. */
static bool read_fortran(const loading *l, sn_array *a)
{
    int64_t stride[IR_MAX_RANK], turned[IR_MAX_RANK], other[IR_MAX_RANK];
    size_t granted = 0;
    for (int d = 0; d < a->rank; d++)
        turned[d] = a->extent[a->rank - 1 - d];
    size_strides(ir_type_size(a->type), a->rank, turned, other);
    for (int d = 0; d < a->rank; d++)
        stride[d] = other[a->rank - 1 - d];
    void *aside = api_take(l->cx, a->bytes, &granted);
    if (!aside) {
        api_fail_at(l->cx, l->who, SN_NO_MEMORY, "%s: no memory to bring %zu bytes to row-major order", l->path,
                    a->bytes);
        return false;
    }
    bool good = read_bytes(l, aside, a->bytes);
    if (good) {
        api_gather(a->data, aside, a->type, a->rank, a->extent, stride);
        run_count_copy(&l->cx->counters, a->bytes);
    }
    api_give(l->cx, aside, granted);
    return good;
}

static void swap_bytes(char *at, size_t bytes, size_t size)
{
    for (; bytes; at += size, bytes -= size)
        for (size_t i = 0; i < size / 2; i++) {
            char keep = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = keep;
        }
}

static bool read_elements(const loading *l, sn_array *a)
{
    bool turned = l->header.fortran && a->rank > 1 && a->bytes;
    if (turned ? !read_fortran(l, a) : !read_bytes(l, a->data, a->bytes))
        return false;
    if (l->header.swapped)
        swap_bytes(a->data, a->bytes, ir_type_size(a->type));
    if (a->type == T_BOOL) /* any byte may stand there, but kernels rely on 0 and 1 */
        for (size_t i = 0; i < a->bytes; i++)
            ((unsigned char *)a->data)[i] = ((unsigned char *)a->data)[i] != 0;
    return true;
}

sn_array *npy_load(sn_site at, sn_context *cx, FILE *file, const char *path)
{
    loading l = {.cx = cx, .file = file, .path = path, .who = who_is(at, "sn_load_npy")};
    size_t bytes = 0;
    if (!read_header(&l))
        return NULL;
    const npy_header *h = &l.header;
    if (!api_size(h->type, h->rank, h->extent, &bytes))
        return fail(&l, "the shape is larger than memory can be; no array has it"), NULL;
    if (!can_follow(&l, bytes))
        return fail(&l, "the file is shorter than its shape says; copy or save it again"), NULL;
    sn_array *a = api_new_array(cx, h->type, h->rank, h->extent, api_function_at(at, path));
    if (a && !read_elements(&l, a)) {
        sn_free(a);
        return NULL;
    }
    return a;
}

sn_array *sn_load_npy_at(sn_site at, sn_context *cx, const char *path)
{
    if (!api_is_open(cx, api_function_at(at, "sn_load_npy")))
        return NULL;
    if (!path) {
        api_fail_at(cx, api_function_at(at, "sn_load_npy"), SN_BAD_ARGUMENT, "the path is NULL; it names a file");
        return NULL;
    }
    FILE *f = fopen(path, "rbe");
    if (!f) {
        fail_system(&(loading){.cx = cx, .path = path, .who = who_is(at, "sn_load_npy")}, "cannot be opened", errno);
        return NULL;
    }
    sn_array *a = npy_load(at, cx, f, path);
    fclose(f);
    return a;
}

sn_array *(sn_load_npy)(sn_context *cx, const char *path)
{
    return sn_load_npy_at((sn_site){NULL, 0}, cx, path);
}

sn_status sn_save_npy_at(sn_site at, const sn_array *a, const char *path)
{
    const api_who who = who_is(at, "sn_save_npy");
    char header[NPY_MOST_WRITTEN], room[128];
    if (!a)
        return SN_BAD_ARGUMENT;
    if (handle_stale(a, HANDLE_ARRAY, "sn_save_npy"))
        return SN_BAD_HANDLE;
    sn_context *cx = a->context;
    if (!path)
        return api_fail_at(cx, api_function_at(at, "sn_save_npy"), SN_BAD_ARGUMENT,
                           "the path is NULL; it names a file");
    sn_status status;
    const void *elements = api_look(a, api_function_at(at, "sn_save_npy"), &status);
    if (!elements)
        return status;
    FILE *f = fopen(path, "wbe");
    if (!f)
        return api_fail_at(cx, who, SN_FILE, "%s: cannot be opened for writing: %s", path, system_says(errno, room));
    size_t n = npy_compose(a->type, a->rank, a->extent, header);
    bool good = fwrite(header, 1, n, f) == n && fwrite(elements, 1, a->bytes, f) == a->bytes && fflush(f) == 0;
    int error = errno;
    if (fclose(f) && good) {
        good = false;
        error = errno;
    }
    return good ? SN_OK : api_fail_at(cx, who, SN_FILE, "%s: not written whole: %s", path, system_says(error, room));
}

sn_status(sn_save_npy)(const sn_array *a, const char *path)
{
    return sn_save_npy_at((sn_site){NULL, 0}, a, path);
}
