/* NumPy's files: an array, or a message that begins with the path. */
#include "fuzz.h"

#include "api/npy.h"
#include "api/npy_header.h"

#include <stdio.h>

/* Every type, ranks 0 to 8, now and then in the other byte order or Fortran order, of every version. */
const char *fuzz_seed(arena *a, uint32_t number, size_t *n)
{
    char head[NPY_MOST_WRITTEN];
    const ir_type type = (ir_type)(T_BOOL + number % (T_CHAR - T_BOOL + 1));
    int64_t extent[IR_MAX_RANK];
    size_t bytes = ir_type_size(type);
    int rank = (int)(number % 9);
    for (int d = 0; d < rank; d++) {
        extent[d] = 1 + (int64_t)(number + (uint32_t)d) % 3;
        bytes *= (size_t)extent[d];
    }
    size_t header = npy_compose(type, rank, extent, head);
    char *file = arena_alloc(a, header + bytes + 1); /* a 0 behind it ends the searches below */
    memcpy(file, head, header);
    for (size_t i = 0; i < bytes; i++)
        file[header + i] = (char)(i * 7 + number);
    char *order = strchr(file + 10, '<'), *fortran = strstr(file + 10, "False,");
    if (order && number % 4 == 1)
        *order = '>';
    if (fortran && number % 4 == 2)
        memcpy(fortran, "True, ", 6);
    if (number % 5 > 2) { /* versions 2 and 3 have two bytes more of length: taken from the blanks */
        memmove(file + 12, file + 10, header - 13);
        file[6] = (char)(number % 5 - 1);
        file[8] = (char)(file[8] - 2);
        file[10] = file[11] = 0;
    }
    *n = header + bytes;
    return file;
}

static void check(sn_context *cx, const uint8_t *bytes, size_t n)
{
    FILE *f = fmemopen((void *)(uintptr_t)bytes, n, "rb");
    fuzz_promise(f != NULL, "memory opens as a file", NULL);
    sn_array *a = npy_load((sn_site){NULL, 0}, cx, f, "some/file");
    fuzz_promise(a || !strncmp(sn_message(cx), "some/file: ", 11), "a message begins with the path", NULL);
    fuzz_promise(!a || sn_bytes(a) <= n, "no array is larger than its file", NULL);
    sn_free(a);
    fclose(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0 || n > FUZZ_LONGEST)
        return 0;
    sn_context *cx = fuzz_context();
    check(cx, bytes, n);
    sn_close(cx);
    return 0;
}
