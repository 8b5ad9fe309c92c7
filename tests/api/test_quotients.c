/* Quotients by what is the same for many, or for two of them, have the bits of the processor's division: random
 * numbers, those whose quotients lie closest to the middle between two numbers, and all that is no ordinary number. */
#include "both.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;
typedef float f32;
typedef double f64;

enum { ROWS = 300, COLUMNS = 96 };

static sn_acc by_row(sn_acc x, sn_acc y)
{
    return sn_zip_with(sn_div, x, sn_replicate(y, SN_ALL, sn_extent(x, 1)));
}

static uint64_t next(uint64_t *s)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *s >> 11 ^ *s << 29;
}

/* A significand of so many digits, its first digit 1. */
static uint64_t digits(uint64_t *s, unsigned p)
{
    const uint64_t least = UINT64_C(1) << (p - 1);
    switch (next(s) % 8) {
    case 0:
        return 2 * least - 1 - next(s) % 4;
    case 1:
        return least + next(s) % 4;
    default:
        return least + next(s) % least;
    }
}

static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (unsigned i = 0; i < 6; i++)
        x *= 2 - odd * x;
    return x;
}

/* x for which x / y is j / y away from the middle between two numbers of p digits; 0: there is none. */
static uint64_t close_to_middle(uint64_t y, unsigned p, int64_t j, bool below_1)
{
    const unsigned bits = p + below_1;
    const uint64_t m = (0 - (uint64_t)j) * inverse(y) & ((UINT64_C(1) << bits) - 1);
    wide sum = (wide)(m | (below_1 ? 0 : UINT64_C(1) << p)) * y;
    if (j < 0)
        sum -= (uint64_t)-j;
    else
        sum += (uint64_t)j;
    const uint64_t x = (uint64_t)(sum >> bits);
    return y % 2 && x >> (p - 1) == 1 ? x : 0;
}

static double special(uint64_t *s)
{
    static const double of[] = {0.0,      -0.0,        INFINITY, -INFINITY,      NAN,      0x1p-1074,
                                0x1p-149, 0x1.8p-1030, 0x1p1023, 0x1.fffffep127, 1,        -1,
                                3,        0x1p-60,     0x1p60,   0x1p500,        0x1p-500, 0x1.000002p60};
    return of[next(s) % (sizeof(of) / sizeof(*of))];
}

/* Gangs with a number that is far from 1 divide: wild ones are in some rows only. */
static double with_exponent(uint64_t *s, uint64_t significand, unsigned p, int most, bool wild)
{
    if (!wild || next(s) % 4)
        most = 25;
    int exponent = (int)(next(s) % (unsigned)(2 * most)) - most;
    double x = ldexp((double)significand, exponent - (int)p);
    return next(s) % 2 ? x : -x;
}

static double divisor(uint64_t *s, unsigned p, int most, uint64_t *y)
{
    *y = digits(s, p);
    return next(s) % 16 ? with_exponent(s, *y, p, most, next(s) % 4 == 0) : special(s);
}

static double dividend(uint64_t *s, unsigned p, int most, uint64_t y, bool wild)
{
    uint64_t x = 0;
    if (next(s) % 2)
        x = close_to_middle(y, p, (int64_t)(next(s) % 9) - 4, next(s) % 2);
    if (wild && next(s) % 8 == 0)
        return special(s);
    if (next(s) % 64 == 0)
        return next(s) % 2 ? 0.0 : -0.0;
    return with_exponent(s, x ? x : digits(s, p), p, most, wild);
}

static sn_scalar both_by(sn_scalar x, sn_scalar z, sn_scalar y)
{
    return sn_tuple(sn_div(x, y), sn_div(z, y));
}

/* Two quotients by a number of each element's own. */
static sn_acc by_each(sn_acc x, sn_acc z, sn_acc y)
{
    return sn_zip_with(both_by, x, z, y);
}

#define QUOTIENTS(T, p, most)                                                                                          \
    static void quotients_##T(void **state)                                                                            \
    {                                                                                                                  \
        static T x[ROWS * COLUMNS], y[ROWS], z[ROWS * COLUMNS];                                                        \
        uint64_t s = 1, close = 0;                                                                                     \
        (void)state;                                                                                                   \
        sn_program *program = sn_compile(both_cpu(), "[n,m]" #T ", [n]" #T " -> [n,m]" #T, by_row);                    \
        assert_non_null(program);                                                                                      \
        for (unsigned round = 0; round < 40; round++) {                                                                \
            for (unsigned i = 0; i < ROWS; i++) {                                                                      \
                uint64_t of_y;                                                                                         \
                y[i] = (T)divisor(&s, p, most, &of_y);                                                                 \
                for (unsigned k = 0; k < COLUMNS; k++)                                                                 \
                    x[i * COLUMNS + k] = (T)dividend(&s, p, most, of_y, i % 3 == 0);                                   \
                close += close_to_middle(of_y, p, 1, true) != 0;                                                       \
            }                                                                                                          \
            assert_int_equal(sn_call(program, sn_in(x, ROWS, COLUMNS), sn_in(y, ROWS), sn_into(z, ROWS, COLUMNS)),     \
                             SN_OK);                                                                                   \
            for (unsigned i = 0; i < ROWS * COLUMNS; i++) {                                                            \
                const volatile T a = x[i], b = y[i / COLUMNS];                                                         \
                const T wanted = a / b;                                                                                \
                if (memcmp(&wanted, &z[i], sizeof(T)) && (wanted == wanted || z[i] == z[i]))                           \
                    fail_msg("%a / %a is %a, not %a", (double)a, (double)b, (double)wanted, (double)z[i]);             \
            }                                                                                                          \
        }                                                                                                              \
        assert_true(close > 1000);                                                                                     \
        sn_drop(program);                                                                                              \
    }

#define QUOTIENTS_OF_TWO(T, p, most)                                                                                   \
    static void quotients_of_two_##T(void **state)                                                                     \
    {                                                                                                                  \
        enum { N = ROWS * COLUMNS };                                                                                   \
        static T x[2][N], y[N], z[2][N];                                                                               \
        uint64_t s = 2;                                                                                                \
        (void)state;                                                                                                   \
        sn_program *program =                                                                                          \
            sn_compile(both_cpu(), "[n]" #T ", [n]" #T ", [n]" #T " -> [n]{p: " #T ", q: " #T "}", by_each);           \
        assert_non_null(program);                                                                                      \
        for (unsigned round = 0; round < 40; round++) {                                                                \
            for (unsigned i = 0; i < N; i++) {                                                                         \
                const bool wild = i / 256 % 3 == 0;                                                                    \
                uint64_t of_y = digits(&s, p);                                                                         \
                y[i] = (T)(wild ? divisor(&s, p, most, &of_y) : with_exponent(&s, of_y, p, most, false));              \
                for (unsigned k = 0; k < 2; k++)                                                                       \
                    x[k][i] = (T)dividend(&s, p, most, of_y, wild);                                                    \
            }                                                                                                          \
            assert_int_equal(                                                                                          \
                sn_call(program, sn_in(x[0], N), sn_in(x[1], N), sn_in(y, N), sn_into(z[0], N), sn_into(z[1], N)),     \
                SN_OK);                                                                                                \
            for (unsigned i = 0; i < 2 * N; i++) {                                                                     \
                const volatile T a = x[i / N][i % N], b = y[i % N];                                                    \
                const T wanted = a / b, got = z[i / N][i % N];                                                         \
                if (memcmp(&wanted, &got, sizeof(T)) && (wanted == wanted || got == got))                              \
                    fail_msg("%a / %a is %a, not %a", (double)a, (double)b, (double)wanted, (double)got);              \
            }                                                                                                          \
        }                                                                                                              \
        sn_drop(program);                                                                                              \
    }
QUOTIENTS(f32, 24, 140)
QUOTIENTS(f64, 53, 1060)
QUOTIENTS_OF_TWO(f32, 24, 140)
QUOTIENTS_OF_TWO(f64, 53, 1060)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quotients_f32), cmocka_unit_test(quotients_f64),
                                       cmocka_unit_test(quotients_of_two_f32), cmocka_unit_test(quotients_of_two_f64)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
