/* Pictures: every kind of PNG is read, and hostile files are errors with a message, whatever is wrong with them. */
#include "common/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <png.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct bytes {
    uint8_t *at;
    size_t n;
} bytes;

static char path[256]; /* of the one file that all tests write */

static int make_path(void **state)
{
    const char *folder = getenv("SINTER_TEST_DIR");
    (void)state;
    snprintf(path, sizeof(path), "%.200s/test_picture.%ld.png", folder ? folder : "/tmp", (long)getpid());
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

static bytes read_file(const char *name)
{
    FILE *f = fopen(name, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    bytes b = {.n = (size_t)ftell(f)};
    rewind(f);
    b.at = malloc(b.n);
    assert_non_null(b.at);
    assert_int_equal(fread(b.at, 1, b.n, f), b.n);
    fclose(f);
    return b;
}

/* What is in the file now: a picture, which is looked at whole, or an error, which names the file. */
static bool readable(void)
{
    char message[256] = "";
    picture p;
    if (!picture_read(path, &p, message)) {
        assert_null(p.plane[0]);
        assert_non_null(strstr(message, path));
        assert_true(strlen(message) > strlen(path) + 2);
        return false;
    }
    unsigned sum = 0;
    assert_true(p.height > 0 && p.width > 0);
    for (int64_t i = 0; i < p.height * p.width; i++)
        sum += (unsigned)p.plane[0][i] + p.plane[1][i] + p.plane[2][i];
    (void)sum;
    picture_free(&p);
    return true;
}

/* --- every kind of PNG --- */

typedef struct kind {
    int depth, colour, interlace;
} kind;

enum { H = 13, W = 21 };

/* Row y of a picture whose grey, or red, rises by 12 per column; green is 100, blue 200, alpha full. */
static void make_row(const kind *k, uint8_t *row)
{
    int channels = k->colour == PNG_COLOR_TYPE_GRAY || k->colour == PNG_COLOR_TYPE_PALETTE ? 1
                   : k->colour == PNG_COLOR_TYPE_GRAY_ALPHA                                ? 2
                   : k->colour == PNG_COLOR_TYPE_RGB                                       ? 3
                                                                                           : 4;
    int sample = k->depth == 16 ? 2 : 1;
    for (int x = 0; x < W; x++) {
        int value[4] = {12 * x, channels == 2 ? 255 : 100, 200, 255};
        for (int c = 0; c < channels; c++)
            for (int b = 0; b < sample; b++) /* v * 257 is v in 16 bits */
                row[(x * channels + c) * sample + b] = (uint8_t)(k->colour == PNG_COLOR_TYPE_PALETTE ? x : value[c]);
    }
}

static void write_kind(const kind *k)
{
    remove(path); /* a new file: overwriting one waits for the disk */
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    uint8_t row[W * 8], *rows[H];
    png_color palette[W];
    make_row(k, row);
    for (int y = 0; y < H; y++)
        rows[y] = row;
    for (int x = 0; x < W; x++)
        palette[x] = (png_color){(uint8_t)(12 * x), 100, 200};
    png_init_io(png, f);
    png_set_IHDR(png, info, W, H, k->depth, k->colour, k->interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_gAMA_fixed(png, info, 45455); /* 16-bit pictures count as linear if nothing is said */
    if (k->colour == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, W);
    png_set_rows(png, info, rows);
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

static void test_kinds(void **state)
{
    static const kind kinds[] = {
        {8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE},       {16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE},
        {8, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_INTERLACE_NONE}, {16, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_INTERLACE_NONE},
        {8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE},    {8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_ADAM7},
        {8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE},        {8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7},
        {16, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE},       {8, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_ADAM7},
        {16, PNG_COLOR_TYPE_RGB_ALPHA, PNG_INTERLACE_ADAM7}};
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        char message[256];
        picture p;
        bool grey = kinds[i].colour == PNG_COLOR_TYPE_GRAY || kinds[i].colour == PNG_COLOR_TYPE_GRAY_ALPHA;
        write_kind(&kinds[i]);
        if (!picture_read(path, &p, message))
            fail_msg("kind %zu: %s", i, message);
        assert_int_equal(p.height, H);
        assert_int_equal(p.width, W);
        for (int at = 0; at < H * W; at++) {
            int red = 12 * (at % W);
            assert_int_equal(p.plane[0][at], red);
            assert_int_equal(p.plane[1][at], grey ? red : 100);
            assert_int_equal(p.plane[2][at], grey ? red : 200);
        }
        picture_free(&p);
    }
}

static void test_round_trip(void **state)
{
    char message[256];
    uint8_t rgb[5 * 4 * 3];
    picture p;
    (void)state;
    for (size_t i = 0; i < sizeof(rgb); i++)
        rgb[i] = (uint8_t)(i * 37);
    assert_true(picture_write(path, 5, 4, 3, rgb, message));
    assert_true(picture_read(path, &p, message));
    for (size_t i = 0; i < sizeof(rgb); i++)
        assert_int_equal(p.plane[i % 3][i / 3], rgb[i]);
    picture_free(&p);
    assert_false(picture_write(path, 0, 4, 3, rgb, message));
    assert_non_null(strstr(message, path));
    assert_false(picture_write("/no/such/folder/x.png", 5, 4, 3, rgb, message));
    assert_non_null(strstr(message, "/no/such/folder/x.png"));
}

/* --- hostile files --- */

static uint32_t crc(const uint8_t *at, size_t n)
{
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c ^= at[i];
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ UINT32_C(0xedb88320) : c >> 1;
    }
    return ~c;
}

static void put32(uint8_t *at, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(x >> (24 - 8 * i));
}

/* The header follows 8 bytes of magic: length, IHDR, width, height, depth, colour, 3 methods, checksum. */
static void set_size(uint8_t *png, uint32_t width, uint32_t height)
{
    put32(png + 16, width);
    put32(png + 20, height);
    put32(png + 29, crc(png + 12, 17));
}

static bytes small_picture(void)
{
    write_kind(&(kind){8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE});
    return read_file(path);
}

static void test_truncated(void **state)
{
    (void)state;
    bytes whole = small_picture();
    for (size_t n = 0; n < whole.n - 12; n++) { /* the last 12 bytes say only that the file ends */
        write_file(whole.at, n);
        if (readable())
            fail_msg("the first %zu of %zu bytes were taken for a picture", n, whole.n);
    }
    free(whole.at);
}

static void test_truncated_photograph(void **state)
{
    (void)state;
    bytes whole = read_file("data/coins.png");
    for (size_t part = 0; part < 16; part++) {
        write_file(whole.at, whole.n * part / 16);
        assert_false(readable());
    }
    free(whole.at);
}

static void test_sizes(void **state)
{
    static const uint32_t sizes[][2] = {{0, H},         {W, 0},          {0, 0},         {UINT32_MAX, 1},
                                        {INT32_MAX, 1}, {1, INT32_MAX},  {65536, 65536}, {INT32_MAX, INT32_MAX},
                                        {30000, 30000}, {1000000, 1000}, {W, 1000},      {2 * W, H}};
    (void)state;
    bytes png = small_picture();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        set_size(png.at, sizes[i][0], sizes[i][1]);
        write_file(png.at, png.n);
        if (readable())
            fail_msg("%u x %u pixels were found in %zu bytes", (unsigned)sizes[i][0], (unsigned)sizes[i][1], png.n);
    }
    set_size(png.at, W, H); /* the test's own checksum is right */
    write_file(png.at, png.n);
    assert_true(readable());
    free(png.at);
}

static void test_no_pictures(void **state)
{
    static const char *const texts[] = {"",       "\x89",         "\x89PNG\r\n\x1a\n", "P6\n2 2\n255\nxxxxxxxxxxxx",
                                        "GIF89a", "not a picture"};
    char message[256];
    picture p;
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        write_file(texts[i], strlen(texts[i]));
        assert_false(readable());
    }
    assert_false(picture_read("no/such/file.png", &p, message));
    assert_non_null(strstr(message, "no/such/file.png"));
    assert_false(picture_read("tests", &p, message)); /* a folder */
}

/* Every byte damaged, in a few ways: an error or some picture, and no more harm (the sanitizers watch). */
static void test_damaged(void **state)
{
    static const uint8_t damage[] = {0x01, 0x80, 0xff};
    (void)state;
    bytes png = small_picture();
    unsigned errors = 0;
    for (size_t i = 0; i < png.n; i++)
        for (size_t k = 0; k < sizeof(damage); k++) {
            png.at[i] ^= damage[k];
            write_file(png.at, png.n);
            errors += !readable();
            png.at[i] ^= damage[k];
        }
    assert_true(errors > png.n); /* checksums find most of it */
    free(png.at);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),     cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_truncated_photograph),
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_no_pictures),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests_name("pictures", tests, make_path, remove_file);
}
