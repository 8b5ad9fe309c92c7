/* NumPy's files: every type, byte order, layout and version comes in, what goes out comes back, and everything else is
 * an error that names the file and says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sinter/sinter.h"

static sn_context *cx;
static char path[256]; /* of the one file that all tests write */

static int open_all(void **state)
{
    const char *folder = getenv("SINTER_TEST_DIR");
    (void)state;
    cx = sn_open(NULL);
    snprintf(path, sizeof(path), "%.200s/test_npy.%ld.npy", folder ? folder : "/tmp", (long)getpid());
    return cx ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    sn_close(cx);
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
static size_t compose(uint8_t file[1024], int version, const char *header, const void *data, size_t bytes)
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

static sn_array *load(int version, const char *header, const void *data, size_t bytes)
{
    uint8_t file[1024];
    write_file(file, compose(file, version, header, data, bytes));
    return (sn_load_npy)(cx, path);
}

static sn_array *load_good(int version, const char *header, const void *data, size_t bytes)
{
    sn_array *a = load(version, header, data, bytes);
    if (!a)
        fail_msg("%s: %s", header, sn_message(cx));
    return a;
}

typedef struct npy_type {
    const char *name; /* without the byte order */
    sn_type type;
    size_t bytes;
} npy_type;

static const npy_type types[] = {{"b1", SN_BOOL, 1}, {"i1", SN_I8, 1},  {"i2", SN_I16, 2}, {"i4", SN_I32, 4},
                                 {"i8", SN_I64, 8},  {"u1", SN_U8, 1},  {"u2", SN_U16, 2}, {"u4", SN_U32, 4},
                                 {"u8", SN_U64, 8},  {"f4", SN_F32, 4}, {"f8", SN_F64, 8}, {"U1", SN_CHAR, 4}};
enum { TYPES = sizeof(types) / sizeof(*types) };

/* The bytes of element i of a type, least first: those of bools are 0 and 1. */
static void element(const npy_type *t, int i, uint8_t *to)
{
    for (size_t b = 0; b < 8 && b < t->bytes; b++)
        to[b] = (uint8_t)(t->type == SN_BOOL ? i % 2 : 17 * i + 5 * (int)b + 1);
}

static void expect_elements(sn_array *a, const npy_type *t, int n)
{
    uint8_t found[64 * 8], wanted[8];
    assert_int_equal(sn_bytes(a), (size_t)n * t->bytes);
    assert_int_equal(sn_read(a, found, sn_bytes(a)), SN_OK);
    for (int i = 0; i < n; i++) {
        element(t, i, wanted);
        assert_memory_equal(found + (size_t)i * t->bytes, wanted, t->bytes); /* on a little-endian machine */
    }
}

static void loads_types(void **state)
{
    static const char orders[] = "<>=|";
    char header[128];
    uint8_t data[6 * 8], one[8];
    (void)state;
    for (const npy_type *t = types; t < types + TYPES; t++)
        for (int k = 0; k < 4; k++)
            for (int version = 1; version <= 3; version++) {
                for (int i = 0; i < 6; i++) {
                    element(t, i, one);
                    for (size_t b = 0; b < t->bytes; b++)
                        data[(size_t)i * t->bytes + b] = one[orders[k] == '>' ? t->bytes - 1 - b : b];
                }
                snprintf(header, sizeof(header), "{'descr': '%c%s', 'fortran_order': False, 'shape': (2, 3), }     \n",
                         orders[k], t->name);
                sn_array *a = load_good(version, header, data, 6 * t->bytes);
                assert_int_equal(sn_array_type(a), t->type);
                assert_int_equal(sn_array_rank(a), 2);
                assert_int_equal(sn_array_extent(a, 0), 2);
                assert_int_equal(sn_array_extent(a, 1), 3);
                expect_elements(a, t, 6);
                sn_free(a);
            }
    sn_array *a = load_good(1, "{'descr': '?', 'fortran_order': False, 'shape': (3,), }", "\x00\x01\xfe", 3);
    assert_int_equal(sn_read(a, data, 3), SN_OK);
    assert_memory_equal(data, "\x00\x01\x01", 3); /* what is not 0 is true, and true is 1 */
    sn_free(a);
}

/* [2, 3, 4] in Fortran order: element (i, j, k) stands at i + 2 j + 6 k. */
static void loads_fortran_order(void **state)
{
    uint8_t data[24 * 8];
    char header[128];
    (void)state;
    for (const npy_type *t = types; t < types + TYPES; t++) {
        for (int i = 0; i < 24; i++)
            element(t, i, data + (size_t)(i / 12 + 2 * (i / 4 % 3) + 6 * (i % 4)) * t->bytes);
        snprintf(header, sizeof(header), "{'descr': '<%s', 'fortran_order': True, 'shape': (2, 3, 4), }\n", t->name);
        uint64_t copies = sn_counts(cx).copies, bytes = sn_counts(cx).copied_bytes;
        sn_array *a = load_good(1, header, data, 24 * t->bytes);
        assert_int_equal(sn_counts(cx).copies, copies + 1);
        assert_int_equal(sn_counts(cx).copied_bytes, bytes + 24 * t->bytes);
        expect_elements(a, t, 24);
        sn_free(a);
    }
    for (const npy_type *t = types; t < types + TYPES; t++) { /* a matrix: element (i, j) stands at i + 2 j */
        for (int i = 0; i < 6; i++)
            element(t, i, data + (size_t)(i / 3 + 2 * (i % 3)) * t->bytes);
        snprintf(header, sizeof(header), "{'descr': '<%s', 'fortran_order': True, 'shape': (2, 3), }\n", t->name);
        sn_array *a = load_good(1, header, data, 6 * t->bytes);
        expect_elements(a, t, 6);
        sn_free(a);
    }
    uint64_t copies = sn_counts(cx).copies;
    sn_free(load_good(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (5,), }", data, 5));
    sn_free(load_good(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (), }", data, 1));
    sn_free(load_good(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (0, 7), }", data, 0));
    sn_free(load_good(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }", data, 6));
    assert_int_equal(sn_counts(cx).copies, copies); /* these are in row-major order already */
}

static void loads_shapes(void **state)
{
    static const struct {
        const char *shape;
        int rank;
        size_t elements;
    } shapes[] = {{"()", 0, 1},
                  {"(5,)", 1, 5},
                  {"(0,)", 1, 0},
                  {"( 2L , 2L )", 2, 4},
                  {"(2, 0, 3)", 3, 0},
                  {"(1,1,1,1,1,1,1,4)", 8, 4},
                  {"(0, 9223372036854775807, 4)", 3, 0}};
    char header[128];
    uint8_t data[8] = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        /* entries in another order, other quotes, no blanks: a dictionary all the same */
        snprintf(header, sizeof(header), "{\"shape\":%s,\"fortran_order\":False,\"descr\":\"|u1\"}", shapes[i].shape);
        sn_array *a = load_good(1, header, data, shapes[i].elements);
        assert_int_equal(sn_array_rank(a), shapes[i].rank);
        assert_int_equal(sn_bytes(a), shapes[i].elements);
        sn_free(a);
    }
}

static void says_what_is_wrong(void **state)
{
    static const char *const cases[][2] = {
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", "type <f2"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (2,), }", "type <c16"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "type |O"},
        {"{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }", "type <U2"},
        {"{'descr': '', 'fortran_order': False, 'shape': (2,), }", "elements of type"},
        {"{'descr': '\x01', 'fortran_order': False, 'shape': (2,), }", "descr is no type"},
        {"{'descr': 3, 'fortran_order': False, 'shape': (2,), }", "descr is no type"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", "structures"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 2), }", "fortran_order"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", "8 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "no number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "63 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "larger than memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693951,), }", "larger than memory"},
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (9223372036854775807, 2), }", "larger than memory"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }", "shorter than its shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "shorter than its shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "does not end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "no number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [2], }", "no tuple"},
        {"{'descr': '<f4', 'fortran_order': False, }", "missing"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", "behind the dictionary"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", "twice"},
        {"{'descr': '<f4', 'order': False, 'shape': (2,), }", "unknown key"},
        {"{'descr: <f4", "no key"},
        {"{}", "missing"},
        {"", "no dictionary"},
    };
    static const uint8_t data[8];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (load(1, cases[i][0], data, sizeof(data)))
            fail_msg("%s was read", cases[i][0]);
        if (!strstr(sn_message(cx), cases[i][1]) || strncmp(sn_message(cx), path, strlen(path)))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i][0], sn_message(cx), cases[i][1]);
    }
    char place[256];
    snprintf(place, sizeof(place), "%s:%d: sn_load_npy: no/such/file.npy: cannot be opened: No such file or directory",
             __FILE__, __LINE__ + 1);
    assert_null(sn_load_npy(cx, "no/such/file.npy"));
    assert_string_equal(sn_message(cx), place);
    assert_null((sn_load_npy)(cx, "no/such/file.npy"));
    assert_string_equal(sn_message(cx), "no/such/file.npy: cannot be opened: No such file or directory");
    assert_null((sn_load_npy)(cx, "tests"));
    assert_string_equal(sn_message(cx), "tests: cannot be read: Is a directory");
    assert_null((sn_load_npy)(cx, "README.md"));
    assert_string_equal(sn_message(cx), "README.md: not an .npy file; numpy.save writes them");
    assert_null(sn_load_npy(cx, NULL));
    assert_null(sn_load_npy(NULL, path));
    uint8_t v4[1024];
    write_file(v4, compose(v4, 4, cases[0][0], data, sizeof(data)));
    assert_null(sn_load_npy(cx, path));
    assert_non_null(strstr(sn_message(cx), "version"));
    write_file("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12);
    assert_null(sn_load_npy(cx, path));
    assert_non_null(strstr(sn_message(cx), "longer than 64 KiB"));
}

/* What is behind a pipe cannot be measured: the shape is found to be wrong when the pipe ends. */
static void loads_from_a_pipe(void **state)
{
    uint8_t file[1024];
    const uint8_t data[6] = {1, 2, 3, 4, 5, 6};
    char name[64];
    (void)state;
    for (int extent = 6; extent <= 7; extent++) {
        char header[128];
        int end[2];
        snprintf(header, sizeof(header), "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }", extent);
        size_t n = compose(file, 1, header, data, sizeof(data));
        assert_int_equal(pipe(end), 0);
        assert_int_equal(write(end[1], file, n), n);
        close(end[1]);
        snprintf(name, sizeof(name), "/dev/fd/%d", end[0]);
        sn_array *a = sn_load_npy(cx, name);
        close(end[0]);
        if (extent == 7) {
            assert_null(a);
            assert_non_null(strstr(sn_message(cx), "shorter than its shape"));
            continue;
        }
        if (!a)
            fail_msg("%s", sn_message(cx));
        sn_free(a);
    }
}

static void survives_damage(void **state)
{
    const char *header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    static const uint8_t data[24];
    uint8_t file[1024];
    (void)state;
    size_t n = compose(file, 1, header, data, sizeof(data));
    for (size_t part = 0; part < n; part++) {
        write_file(file, part);
        if (sn_load_npy(cx, path))
            fail_msg("the first %zu of %zu bytes were taken for an array", part, n);
        assert_true(strlen(sn_message(cx)) > strlen(path) + 2);
    }
    for (size_t i = 0; i < n - sizeof(data); i++) /* any byte of the header: an error or some array */
        for (int bit = 0; bit < 8; bit++) {
            file[i] ^= (uint8_t)(1 << bit);
            write_file(file, n);
            sn_free(sn_load_npy(cx, path));
            file[i] ^= (uint8_t)(1 << bit);
        }
}

static void saves_what_it_loads(void **state)
{
    int64_t extents[8] = {3, 2, 1, 1, 1, 1, 1, 1};
    uint8_t data[6 * 8];
    (void)state;
    for (const npy_type *t = types; t < types + TYPES; t++) {
        for (int i = 0; i < 6; i++)
            element(t, i, data + (size_t)i * t->bytes);
        for (int rank = 0; rank <= 8; rank++) {
            sn_arg arg = {.kind = SN_ARG_IN, .type = t->type, .rank = rank, .u = {.from = data}};
            memcpy(arg.extent, extents, sizeof(extents));
            sn_array *a = sn_upload(cx, arg);
            assert_non_null(a);
            assert_int_equal(sn_save_npy(a, path), SN_OK);
            sn_array *b = sn_load_npy(cx, path);
            if (!b)
                fail_msg("%s", sn_message(cx));
            assert_int_equal(sn_array_type(b), t->type);
            assert_int_equal(sn_array_rank(b), rank);
            for (int d = 0; d < rank; d++)
                assert_int_equal(sn_array_extent(b, d), extents[d]);
            expect_elements(b, t, rank == 0 ? 1 : rank == 1 ? 3 : 6);
            sn_free(a);
            sn_free(b);
        }
    }
}

/* The bytes are those that NumPy writes itself. */
static void saves_as_numpy_does(void **state)
{
    static const char wanted[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    const float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
    uint8_t found[256];
    (void)state;
    sn_array *a = sn_upload(cx, sn_in(&x[0][0], 2, 3));
    assert_int_equal(sn_save_npy(a, path), SN_OK);
    FILE *f = fopen(path, "rb");
    size_t n = fread(found, 1, sizeof(found), f);
    fclose(f);
    assert_int_equal(n, 128 + sizeof(x));
    assert_memory_equal(found, wanted, sizeof(wanted) - 1);
    for (size_t i = sizeof(wanted) - 1; i < 127; i++)
        assert_int_equal(found[i], ' ');
    assert_int_equal(found[127], '\n');
    assert_memory_equal(found + 128, x, sizeof(x));
    sn_free(a);
}

static void says_why_it_does_not_save(void **state)
{
    const float x[1000] = {0};
    (void)state;
    sn_array *a = sn_upload(cx, sn_in(x, 1000));
    char place[256];
    snprintf(place, sizeof(place),
             "%s:%d: sn_save_npy: /no/such/folder/x.npy: cannot be opened for writing: No such file or directory",
             __FILE__, __LINE__ + 1);
    assert_int_equal(sn_save_npy(a, "/no/such/folder/x.npy"), SN_FILE);
    assert_string_equal(sn_message(cx), place);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal((sn_save_npy)(a, "/dev/full"), SN_FILE);
        assert_string_equal(sn_message(cx), "/dev/full: not written whole: No space left on device");
    }
    assert_int_equal(sn_save_npy(a, NULL), SN_BAD_ARGUMENT);
    assert_int_equal(sn_save_npy(NULL, path), SN_BAD_ARGUMENT);
    assert_string_equal(sn_status_name(SN_FILE), "SN_FILE");
    sn_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_types),
        cmocka_unit_test(loads_fortran_order),
        cmocka_unit_test(loads_shapes),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(loads_from_a_pipe),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(saves_what_it_loads),
        cmocka_unit_test(saves_as_numpy_does),
        cmocka_unit_test(says_why_it_does_not_save),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
