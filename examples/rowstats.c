/* Statistics of the rows of a NumPy file: rowstats [FILE.npy [MEANS.npy]]; the means are also written to a file. */
#include "programs/rowstats.h"

#include "common/npy.h"

#include <stdio.h>
#include <stdlib.h>

static const char *type_name(sn_type type)
{
    return type == SN_F32 ? "f32" : type == SN_F64 ? "f64" : type == SN_I32 ? "i32" : type == SN_I64 ? "i64" : "u8";
}

/* an element as text, whatever its type */
static void print_element(sn_type type, const void *data, int64_t i)
{
    if (type == SN_F32)
        printf(" %14.6g", (double)((const float *)data)[i]);
    else if (type == SN_F64)
        printf(" %14.6g", ((const double *)data)[i]);
    else
        printf(" %14lld", type == SN_I32   ? (long long)((const int32_t *)data)[i]
                          : type == SN_I64 ? (long long)((const int64_t *)data)[i]
                                           : (long long)((const uint8_t *)data)[i]);
}

/* The element type is known only now: arguments that are no C type are filled in by hand. */
static sn_arg any_type(sn_arg_kind kind, const npy *a, int rank, const void *data)
{
    sn_arg arg = {.kind = kind, .type = a->type, .rank = rank, .extent = {a->extent[0], a->extent[1]}};
    arg.u.from = data;
    return arg;
}

static bool write_means(const char *path, int64_t n, double *mean)
{
    char message[256];
    npy out = {.type = SN_F64, .rank = 1, .extent = {n}, .elements = (size_t)n, .data = mean};
    bool good = npy_write(path, &out, message);
    if (!good)
        fprintf(stderr, "%s\n", message);
    return good;
}

static int show(sn_context *cx, const npy *a, const char *means)
{
    char signature[96];
    const char *t = type_name(a->type);
    snprintf(signature, sizeof(signature), ROWSTATS_SIGNATURE, t, t, t);
    int64_t n = a->extent[0];
    double *mean = calloc((size_t)n + 1, sizeof(double)), *least = calloc((size_t)n + 1, 8),
           *most = calloc((size_t)n + 1, 8);
    int64_t *where = calloc((size_t)n + 1, sizeof(int64_t));
    sn_program *program = sn_compile(cx, signature, rowstats);
    int failed = 1;
    if (!mean || !least || !most || !where) {
        fprintf(stderr, "out of memory\n");
    } else if (sn_call(program, any_type(SN_ARG_IN, a, 2, a->data), sn_into(mean, n),
                       any_type(SN_ARG_INTO, a, 1, least), any_type(SN_ARG_INTO, a, 1, most),
                       sn_into(where, n)) != SN_OK) {
        fprintf(stderr, "%s\n", sn_message(cx));
    } else {
        printf("%6s %14s %14s %14s %10s\n", "row", "mean", "least", "most", "where");
        for (int64_t i = 0; i < n; i++) {
            printf("%6lld %14.6g", (long long)i, mean[i]);
            print_element(a->type, least, i);
            print_element(a->type, most, i);
            printf(" %10lld\n", (long long)where[i]);
        }
        failed = means && !write_means(means, n, mean);
    }
    sn_drop(program);
    free(mean);
    free(least);
    free(most);
    free(where);
    return failed;
}

int main(int argc, char **argv)
{
    char message[256];
    npy a;
    if (argc > 3) {
        fprintf(stderr, "usage: rowstats [FILE.npy [MEANS.npy]]\n");
        return 2;
    }
    const char *path = argc > 1 ? argv[1] : "data/table.npy";
    if (!npy_read(path, &a, message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    int failed = 1;
    sn_context *cx = a.rank == 2 ? sn_open(NULL) : NULL;
    if (a.rank != 2)
        fprintf(stderr, "%s: has %d dimensions; rows need 2\n", path, a.rank);
    else if (cx)
        failed = show(cx, &a, argc > 2 ? argv[2] : NULL);
    sn_close(cx);
    npy_free(&a);
    return failed;
}
