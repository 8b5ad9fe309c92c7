/* Statistics of the rows of a NumPy file: rowstats [FILE.npy [MEANS.npy]]; the means are also written to a file. */
#include "programs/rowstats.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEAN, LEAST, MOST, WHERE, RESULTS };

static const char *const type_names[] = {
    [SN_I8] = "i8",   [SN_I16] = "i16", [SN_I32] = "i32", [SN_I64] = "i64", [SN_U8] = "u8",
    [SN_U16] = "u16", [SN_U32] = "u32", [SN_U64] = "u64", [SN_F32] = "f32", [SN_F64] = "f64"};

static const char *type_name(sn_type type)
{
    return type < sizeof(type_names) / sizeof(*type_names) ? type_names[type] : NULL;
}

/* an element as text, whatever its type */
static void print_element(sn_type type, const void *data, int64_t i)
{
    switch (type) {
    case SN_F32:
        printf(" %14.6g", (double)((const float *)data)[i]);
        break;
    case SN_F64:
        printf(" %14.6g", ((const double *)data)[i]);
        break;
    case SN_I8:
        printf(" %14d", ((const int8_t *)data)[i]);
        break;
    case SN_I16:
        printf(" %14d", ((const int16_t *)data)[i]);
        break;
    case SN_I32:
        printf(" %14d", ((const int32_t *)data)[i]);
        break;
    case SN_U8:
        printf(" %14d", ((const uint8_t *)data)[i]);
        break;
    case SN_U16:
        printf(" %14d", ((const uint16_t *)data)[i]);
        break;
    case SN_U32:
        printf(" %14lld", (long long)((const uint32_t *)data)[i]);
        break;
    case SN_U64:
        printf(" %14llu", (unsigned long long)((const uint64_t *)data)[i]);
        break;
    default:
        printf(" %14lld", (long long)((const int64_t *)data)[i]);
    }
}

static int print_results(sn_array *const result[RESULTS])
{
    void *data[RESULTS];
    bool good = true;
    for (int k = 0; k < RESULTS; k++) {
        data[k] = malloc(sn_bytes(result[k]) + 1);
        good = good && data[k] && sn_read(result[k], data[k], sn_bytes(result[k])) == SN_OK;
    }
    if (good)
        printf("%6s %14s %14s %14s %10s\n", "row", "mean", "least", "most", "where");
    for (int64_t i = 0; good && i < sn_array_extent(result[MEAN], 0); i++) {
        printf("%6lld", (long long)i);
        for (int k = 0; k < WHERE; k++)
            print_element(sn_array_type(result[k]), data[k], i);
        printf(" %10lld\n", (long long)((const int64_t *)data[WHERE])[i]);
    }
    for (int k = 0; k < RESULTS; k++)
        free(data[k]);
    return !good;
}

static int show(sn_context *cx, sn_array *table, const char *means)
{
    char signature[96];
    sn_array *result[RESULTS] = {0};
    const char *t = type_name(sn_array_type(table));
    snprintf(signature, sizeof(signature), ROWSTATS_SIGNATURE, t, t, t);
    sn_program *program = sn_compile(cx, signature, rowstats);
    sn_status status = sn_call(program, sn_held(table), sn_keep(&result[MEAN]), sn_keep(&result[LEAST]),
                               sn_keep(&result[MOST]), sn_keep(&result[WHERE]));
    if (status == SN_OK && means)
        status = sn_save_npy(result[MEAN], means);
    if (status != SN_OK)
        fprintf(stderr, "%s\n", sn_message(cx));
    int failed = status != SN_OK || print_results(result);
    for (int k = 0; k < RESULTS; k++)
        sn_free(result[k]);
    sn_drop(program);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc > 3) {
        fprintf(stderr, "usage: rowstats [FILE.npy [MEANS.npy]]\n");
        return 2;
    }
    const char *path = argc > 1 ? argv[1] : "data/table.npy";
    sn_context *cx = sn_open(NULL);
    sn_array *table = sn_load_npy(cx, path);
    int failed = 1;
    if (!table)
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no context");
    else if (sn_array_rank(table) != 2 || !type_name(sn_array_type(table)))
        fprintf(stderr, "%s: this is no matrix of numbers\n", path);
    else
        failed = show(cx, table, argc > 2 ? argv[2] : NULL);
    sn_free(table);
    sn_close(cx);
    return failed;
}
