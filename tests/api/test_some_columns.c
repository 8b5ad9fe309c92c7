/* Some elements of short rows: gangs read the rows as stretches of memory, but nothing before the first element that is
 * wanted, or behind the last one. The arrays lie between pages that cannot be touched. */
#include "both.h"
#include "sinter/sinter.h"

#include <stdio.h>
#include <string.h>

#include "support/guarded.h"

enum { MOST_ROWS = 1000 };

/* Which columns of how many: bits. */
static unsigned columns, wanted;

static sn_scalar sum_of_wanted(void *env, sn_scalar i)
{
    sn_scalar sum = sn_lift_i64(0);
    bool any = false;
    for (unsigned c = 0; c < columns; c++) {
        if (!(wanted >> c & 1))
            continue;
        sn_scalar x = sn_index(*(sn_acc *)env, i, (int64_t)c);
        sum = any ? sn_add(sn_add(sum, sum), x) : x;
        any = true;
    }
    return sum;
}

static sn_acc sums(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0)), sn_closure(sum_of_wanted, &x));
}

static int32_t expected(const uint8_t *row)
{
    int32_t sum = 0;
    for (unsigned c = 0; c < columns; c++)
        sum = wanted >> c & 1 ? 2 * sum + row[c] : sum;
    return sum;
}

#define OF_TYPE(T, type)                                                                                               \
    static void sums_of_##T(int64_t rows, bool at_end)                                                                 \
    {                                                                                                                  \
        const int64_t all = rows * columns;                                                                            \
        guarded in = guarded_new((size_t)all * sizeof(T), at_end),                                                     \
                out = guarded_new((size_t)rows * sizeof(T), at_end);                                                   \
        char signature[60];                                                                                            \
        snprintf(signature, sizeof signature, "[n,%u]" type " -> [n]" type, columns);                                  \
        sn_program *p = sn_compile(both_cpu(), signature, sums);                                                       \
        assert_non_null(p);                                                                                            \
        for (int64_t i = 0; i < all; i++)                                                                              \
            ((T *)in.at)[i] = (T)(i * 7 % 3 + i % 2);                                                                  \
        assert_int_equal(sn_call(p, sn_in((T *)in.at, rows, columns), sn_into((T *)out.at, rows)), SN_OK);             \
        for (int64_t i = 0; i < rows; i++) {                                                                           \
            uint8_t row[16];                                                                                           \
            for (unsigned c = 0; c < columns; c++)                                                                     \
                row[c] = (uint8_t)((T *)in.at)[i * columns + c];                                                       \
            if (((T *)out.at)[i] != (T)expected(row))                                                                  \
                fail_msg("row %d of %d, columns %x of %u of " type, (int)i, (int)rows, wanted, columns);               \
        }                                                                                                              \
        sn_drop(p);                                                                                                    \
        guarded_free(&in);                                                                                             \
        guarded_free(&out);                                                                                            \
    }
OF_TYPE(float, "f32")
OF_TYPE(double, "f64")
OF_TYPE(uint8_t, "u8")
OF_TYPE(int16_t, "i16")
OF_TYPE(int64_t, "i64")

static void rows_are_read_as_far_as_they_are_wanted(void **state)
{
    static const unsigned sets[] = {0x3,  0x5,  0x6,  0xc,  0x12, 0x28, 0x34, 0x41,
                                    0x60, 0x65, 0x48, 0x90, 0xc1, 0x10, 0x40};
    static const int64_t rows[] = {1, 15, 16, 17, 63, 64, 65, 127, 128, 130, MOST_ROWS};
    (void)state;
    for (columns = 3; columns <= 9; columns++)
        for (unsigned s = 0; s < sizeof sets / sizeof *sets; s++)
            for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
                wanted = sets[s];
                if (wanted >> columns)
                    continue;
                sums_of_float(rows[k], k % 2);
                sums_of_uint8_t(rows[k], k % 2);
                if (s % 3 == columns % 3) {
                    sums_of_double(rows[k], k % 2);
                    sums_of_int16_t(rows[k], k % 2);
                    sums_of_int64_t(rows[k], k % 2);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_read_as_far_as_they_are_wanted)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
