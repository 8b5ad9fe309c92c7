/* Floats made small integers, where clamps and arithmetic tell in which range they are, and where they do not, or
 * nearly. */
#include "both.h"

#define clamped(x, low, high) sn_min(sn_max(x, low), high)

static sn_acc plain_u8(sn_acc a)
{
    return sn_map(sn_to_u8, a);
}

static sn_acc plain_u16(sn_acc a)
{
    return sn_map(sn_to_u16, a);
}

static sn_acc plain_i8(sn_acc a)
{
    return sn_map(sn_to_i8, a);
}

#define FORM(name, type, ...)                                                                                          \
    static sn_scalar name##_of(sn_scalar x)                                                                            \
    {                                                                                                                  \
        return sn_to_##type(__VA_ARGS__);                                                                              \
    }                                                                                                                  \
    static sn_acc name(sn_acc a)                                                                                       \
    {                                                                                                                  \
        return sn_map(name##_of, a);                                                                                   \
    }

FORM(rounded, u8, sn_rint(clamped(x, 0, 255)))
FORM(scaled, u8, sn_add(sn_mul(clamped(x, 0, 1), 255), 0.5))
FORM(too_far, u8, sn_add(clamped(x, 0, 255), 1))
FORM(below, u8, sn_sub(clamped(x, 0, 255), 1))
FORM(almost_below, u8, sn_sub(clamped(x, 0, 255), 0.5))
FORM(only_low, u8, sn_max(x, 3))
FORM(only_high, u8, sn_min(x, 200))
FORM(other_way, u8, sn_max(sn_min(x, 300), -7))
FORM(words, u16, sn_floor(clamped(x, 0, 65535)))
FORM(words_above, u16, sn_ceil(clamped(x, 0, 65535.5)))
FORM(with_sign, i8, sn_round(clamped(x, -128, 127)))
FORM(with_sign_below, i8, sn_round(clamped(x, -129, 127)))
FORM(words_with_sign, i16, sn_trunc(clamped(x, -32768.5, 32767.5)))
FORM(words_with_sign_above, i16, clamped(x, -32768, 32768))
FORM(chosen, u8, sn_if(sn_lt(x, 10), clamped(x, 2, 8), sn_rint(clamped(x, 20, 255))))
FORM(chosen_far, u8, sn_if(sn_lt(x, 10), clamped(x, 2, 8), sn_rint(clamped(x, 20, 256))))
FORM(product, u8, sn_mul(clamped(x, -12, 3), clamped(sn_neg(x), -12, 21)))
FORM(product_above, u8, sn_mul(clamped(x, -16, 3), clamped(sn_neg(x), -12, 16)))
FORM(from_integers, u8, sn_sub(sn_to_f32(sn_to_u8(x)), 0.5))
FORM(overflows, i8, sn_mul(sn_mul(clamped(x, 0, 0x1p127), 16), 0x1p-126))
FORM(not_a_number, u8, sn_sub(sn_max(x, 5), sn_max(x, 7)))

static void bytes_and_words(void **state)
{
    (void)state;
    both("[n]T -> [n]u8", plain_u8, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u16", plain_u16, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]i8", plain_i8, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", plain_u8, FLOATS, SMALL, SIZES);
}

static void ranges_that_fit(void **state)
{
    (void)state;
    both("[n]T -> [n]u8", rounded, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", scaled, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", almost_below, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u16", words, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]i8", with_sign, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]i16", words_with_sign, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", chosen, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", product, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", from_integers, FLOATS, SIGNALS, SIZES);
}

static void ranges_that_do_not(void **state)
{
    (void)state;
    both("[n]T -> [n]u8", too_far, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", below, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", only_low, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", only_high, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", other_way, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u16", words_above, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]i8", with_sign_below, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]i16", words_with_sign_above, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", chosen_far, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", product_above, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]i8", overflows, FLOATS, SIGNALS, SIZES);
    both("[n]T -> [n]u8", not_a_number, FLOATS, SIGNALS, SIZES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_and_words), cmocka_unit_test(ranges_that_fit),
                                       cmocka_unit_test(ranges_that_do_not)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
