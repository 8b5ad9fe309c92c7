/* NumPy's files: what is read, and that everything else is an error with a message. */
#include "common/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[256]; /* of the one file that all tests write */

static int make_path(void **state)
{
    const char *folder = getenv("SINTER_TEST_DIR");
    (void)state;
    snprintf(path, sizeof(path), "%.200s/test_npy.%ld.npy", folder ? folder : "/tmp", (long)getpid());
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    remove(path);
    return 0;
}

static void write_file(const void *data, size_t n)
{
    remove(path); /* a new file: overwriting one waits for the disk */
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Makes a file of a header and elements; returns its bytes in `file`, their number. */
static size_t compose(uint8_t file[512], int version, const char *header, const void *data, size_t bytes)
{
    size_t length = strlen(header), at = 10;
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (uint8_t)version;
    file[7] = 0;
    file[8] = (uint8_t)length;
    file[9] = (uint8_t)(length >> 8);
    if (version != 1) {
        file[10] = file[11] = 0;
        at = 12;
    }
    memcpy(file + at, header, length);
    memcpy(file + at + length, data, bytes);
    return at + length + bytes;
}

static bool read_composed(int version, const char *header, const void *data, size_t bytes, npy *out, char message[256])
{
    uint8_t file[512];
    write_file(file, compose(file, version, header, data, bytes));
    return npy_read(path, out, message);
}

static void test_types(void **state)
{
    static const struct {
        const char *descr;
        sn_type type;
        size_t bytes;
    } known[] = {{"<f4", SN_F32, 4}, {"<f8", SN_F64, 8}, {"<i4", SN_I32, 4}, {"<i8", SN_I64, 8}, {"|u1", SN_U8, 1}};
    char header[128], message[256];
    uint8_t data[6 * 8];
    npy a;
    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i + 1);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        for (int version = 1; version <= 2; version++) {
            snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }      \n",
                     known[i].descr);
            if (!read_composed(version, header, data, 6 * known[i].bytes, &a, message))
                fail_msg("%s: %s", known[i].descr, message);
            assert_int_equal(a.type, known[i].type);
            assert_int_equal(a.rank, 2);
            assert_int_equal(a.extent[0], 2);
            assert_int_equal(a.extent[1], 3);
            assert_int_equal(a.elements, 6);
            assert_memory_equal(a.data, data, 6 * known[i].bytes);
            npy_free(&a);
        }
}

static void test_shapes(void **state)
{
    static const struct {
        const char *shape;
        int rank;
        size_t elements;
    } shapes[] = {{"()", 0, 1},
                  {"(5,)", 1, 5},
                  {"(0,)", 1, 0},
                  {"(2, 0, 3)", 3, 0},
                  {"(1,1,1,1,1,1,1,4)", 8, 4},
                  {"(0, 9223372036854775807, 4)", 3, 0}};
    char header[128], message[256];
    uint8_t data[8] = {0};
    npy a;
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        /* entries in another order, other quotes, no blanks: a dictionary all the same */
        snprintf(header, sizeof(header), "{\"shape\":%s,\"fortran_order\":False,\"descr\":\"|u1\"}", shapes[i].shape);
        if (!read_composed(1, header, data, shapes[i].elements, &a, message))
            fail_msg("%s: %s", shapes[i].shape, message);
        assert_int_equal(a.rank, shapes[i].rank);
        assert_int_equal(a.elements, shapes[i].elements);
        npy_free(&a);
    }
}

static void test_refused(void **state)
{
    static const char *const cases[][2] = {
        {"{'descr': '>f8', 'fortran_order': False, 'shape': (2,), }", "the type >f8"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }", "the type <c16"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "the type |O"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "structure"},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", "Fortran order"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }", "fortran_order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "8 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "no number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "63 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "larger than memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693951,), }", "larger than memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", "shorter than its shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "shorter than its shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "does not end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "no number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [2], }", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, }", "missing"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", "twice"},
        {"{'descr': '<f4', 'order': False, 'shape': (2,), }", "unknown key"},
        {"{'descr: <f4", "no key"},
        {"{}", "missing"},
        {"", "no dictionary"},
    };
    static const uint8_t data[8];
    char message[256];
    npy a;
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        message[0] = 0;
        if (read_composed(1, cases[i][0], data, sizeof(data), &a, message))
            fail_msg("%s was read", cases[i][0]);
        assert_null(a.data);
        if (!strstr(message, cases[i][1]) || !strstr(message, path))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i][0], message, cases[i][1]);
    }
}

static void test_damaged(void **state)
{
    const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    static const uint8_t data[24];
    uint8_t file[512];
    char message[256];
    npy a;
    (void)state;
    size_t n = compose(file, 1, header, data, sizeof(data));
    for (size_t part = 0; part < n; part++) {
        write_file(file, part);
        if (npy_read(path, &a, message))
            fail_msg("the first %zu of %zu bytes were taken for an array", part, n);
    }
    for (size_t i = 0; i < n - sizeof(data); i++) /* any byte of the header: an error or some array */
        for (int bit = 0; bit < 8; bit++) {
            file[i] ^= (uint8_t)(1 << bit);
            write_file(file, n);
            if (npy_read(path, &a, message))
                npy_free(&a);
            file[i] ^= (uint8_t)(1 << bit);
        }
    file[6] = 3;
    write_file(file, n);
    assert_false(npy_read(path, &a, message));
    assert_non_null(strstr(message, "version"));
    assert_false(npy_read("no/such/file.npy", &a, message));
    assert_non_null(strstr(message, "no/such/file.npy"));
}

static void test_round_trip(void **state)
{
    static const sn_type types[] = {SN_F32, SN_F64, SN_I32, SN_I64, SN_U8};
    static const size_t sizes[] = {4, 8, 4, 8, 1};
    char message[256];
    uint8_t data[6 * 8];
    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(200 - i);
    for (int i = 0; i < 5; i++)
        for (int rank = 0; rank <= NPY_MOST_RANK; rank++) {
            npy a = {.type = types[i], .rank = rank, .extent = {3, 2, 1, 1, 1, 1, 1, 1}, .data = data}, b;
            a.elements = rank == 0 ? 1 : rank == 1 ? 3 : 6;
            if (!npy_write(path, &a, message) || !npy_read(path, &b, message))
                fail_msg("%s", message);
            assert_int_equal(b.type, a.type);
            assert_int_equal(b.rank, rank);
            assert_memory_equal(b.extent, a.extent, (size_t)rank * sizeof(int64_t));
            assert_memory_equal(b.data, data, b.elements * sizes[i]);
            assert_int_equal(b.elements, a.elements);
            npy_free(&b);
        }
    npy wrong = {.type = SN_I8, .data = data};
    assert_false(npy_write(path, &wrong, message));
    wrong.type = SN_U8;
    assert_false(npy_write("/no/such/folder/x.npy", &wrong, message));
    assert_non_null(strstr(message, "/no/such/folder/x.npy"));
    wrong.elements = sizeof(data);
    if (access("/dev/full", W_OK) == 0)
        assert_false(npy_write("/dev/full", &wrong, message));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_damaged),
                                       cmocka_unit_test(test_round_trip)};
    return cmocka_run_group_tests_name("npy", tests, make_path, remove_file);
}
