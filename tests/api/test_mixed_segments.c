/* Many short segments of different lengths beside each other, which are taken a gang at a time: any operator, elements
 * that cost little or much, that know their segment, or are results themselves. The device has the interpreter's bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sinter/sinter.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS = 1500, MOST = SEGMENTS * 70, PLACES = 1000 };

static sn_context *device, *interpreter;

/* Nobody knows an identity of it. */
static sn_scalar either(sn_scalar a, sn_scalar b)
{
    return sn_add(sn_add(a, b), 1);
}

static sn_scalar both(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_max(sn_snd(a), sn_snd(b)));
}

static sn_scalar pair(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_to_f64(x), sn_mul(x, y));
}

static sn_acc plain(sn_acc lengths, sn_acc x, sn_acc y)
{
    return sn_results(sn_sum_seg(lengths, x), sn_maximum_seg(lengths, y));
}

static sn_acc dots(sn_acc lengths, sn_acc x, sn_acc y)
{
    return sn_results(sn_sum_seg(lengths, sn_zip_with(sn_mul, x, y)), sn_sum_seg(lengths, x));
}

static sn_acc without_identity(sn_acc lengths, sn_acc x)
{
    return sn_fold1_seg(sn_commutative(either), lengths, x);
}

static sn_acc pairs(sn_acc lengths, sn_acc x, sn_acc y)
{
    sn_acc p = sn_fold_seg(both, sn_tuple(sn_f64(1), sn_f32(-3)), lengths, sn_zip_with(pair, x, y));
    return sn_results(sn_fst(p), sn_snd(p));
}

static sn_scalar looked_up(void *vector, sn_scalar x, sn_scalar place)
{
    return sn_mul(x, sn_index(*(const sn_acc *)vector, place));
}

static sn_acc of_vector(sn_acc lengths, sn_acc x, sn_acc place, sn_acc vector)
{
    return sn_sum_seg(lengths, sn_zip_with(sn_closure(looked_up, &vector), x, place));
}

static sn_acc shifted(sn_acc lengths, sn_acc x, sn_acc shift)
{
    sn_acc e = sn_zip_with(sn_sub, x, sn_replicate_seg(sn_extent(x, 0), lengths, shift));
    return sn_results(sn_sum_seg(lengths, e), e);
}

static sn_acc small(sn_acc lengths, sn_acc x)
{
    return sn_results(sn_sum_seg(lengths, x), sn_fold_seg(sn_bit_xor, 0, lengths, x));
}

/* x -> a x + b, the left one applied first: order matters. */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_scalar as_map(sn_scalar x)
{
    sn_scalar word = sn_to_u32(sn_to_i32(x));
    return sn_tuple(sn_bit_or(word, sn_u32(1)), sn_add(word, sn_u32(7)));
}

static sn_scalar further(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_ge(sn_snd(a), sn_snd(b)), a, b);
}

/* Operators that keep order, beside a sum, which goes along. */
static sn_acc in_order(sn_acc lengths, sn_acc x, sn_acc y)
{
    sn_scalar n = sn_extent(x, 0);
    sn_acc maps = sn_fold_seg(compose, sn_tuple(sn_u32(3), sn_u32(5)), lengths, sn_map(as_map, x));
    sn_acc best =
        sn_fold_seg(further, sn_tuple(sn_i64(-1), sn_f32(-1e9F)), lengths, sn_zip(sn_iota_seg(n, lengths), y));
    return sn_results(sn_fst(maps), sn_snd(maps), sn_fst(best), sn_snd(best));
}

static sn_acc rows(sn_acc lengths, sn_acc x)
{
    return sn_sum_seg(lengths, x);
}

static int64_t lengths[SEGMENTS];
static int32_t place[MOST];
static float x[MOST], other[MOST], wild[MOST], y[MOST], both_rows[2 * MOST], shift[SEGMENTS], vector[PLACES];
static int16_t shorts[MOST];
static union {
    float f[2 * MOST];
    double d[MOST];
    int16_t i[MOST];
    int32_t w[MOST];
    uint32_t u[2][SEGMENTS];
    int64_t k[SEGMENTS];
} found[2][2];

enum { PLAIN, ALONE, PAIRS, VECTOR, SHIFTED, SMALL, ROWS, DOTS, ORDER, PROGRAMS };
static const char *const signature[PROGRAMS] = {
    "[s]i64, [n]f32, [n]f32 -> [s]f32, [s]f32",
    "[s]i64, [n]f32 -> [s]f32",
    "[s]i64, [n]f32, [n]f32 -> [s]f64, [s]f32",
    "[s]i64, [n]f32, [n]i32, [m]f32 -> [s]f32",
    "[s]i64, [n]f32, [s]f32 -> [s]f32, [n]f32",
    "[s]i64, [n]i16 -> [s]i32, [s]i16",
    "[s]i64, [r,n]f32 -> [r,s]f32",
    "[s]i64, [n]f32, [n]f32 -> [s]f32, [s]f32",
    "[s]i64, [n]f32, [n]f32 -> [s]u32, [s]u32, [s]i64, [s]f32",
};
static sn_program *program[2][PROGRAMS];

#define CALL(...)                                                                                                      \
    do {                                                                                                               \
        if (sn_call(__VA_ARGS__) != SN_OK)                                                                             \
            fail_msg("%s", sn_message(which ? interpreter : device));                                                  \
    } while (0)

static void same(int program_, int64_t results, int result, size_t bytes)
{
    const char *a = (const char *)&found[0][result], *b = (const char *)&found[1][result];
    for (int64_t i = 0; i < results; i++)
        if (memcmp(a + (size_t)i * bytes, b + (size_t)i * bytes, bytes) != 0)
            fail_msg("program %d, result %d, number %lld: other bits", program_, result, (long long)i);
}

static void check(int64_t n, int empty)
{
    const int64_t s = SEGMENTS;
    for (int which = 0; which < 2; which++) {
        sn_program **p = program[which];
        float *a = found[which][0].f, *b = found[which][1].f;
        if (empty)
            continue; /* maxima have no seed */
        CALL(p[PLAIN], sn_in(lengths, s), sn_in(x, n), sn_in(y, n), sn_into(a, s), sn_into(b, s));
    }
    for (int k = 0; k < 2 && !empty; k++)
        same(PLAIN, s, k, 4);
    for (int which = 0; which < 2 && !empty; which++)
        CALL(program[which][ALONE], sn_in(lengths, s), sn_in(x, n), sn_into(found[which][0].f, s));
    if (!empty)
        same(ALONE, s, 0, 4);
    for (int which = 0; which < 2; which++)
        CALL(program[which][PAIRS], sn_in(lengths, s), sn_in(x, n), sn_in(y, n), sn_into(found[which][0].d, s),
             sn_into(found[which][1].f, s));
    same(PAIRS, s, 0, 8);
    same(PAIRS, s, 1, 4);
    for (int which = 0; which < 2; which++)
        CALL(program[which][SHIFTED], sn_in(lengths, s), sn_in(x, n), sn_in(shift, s), sn_into(found[which][0].f, s),
             sn_into(found[which][1].f, n));
    same(SHIFTED, s, 0, 4);
    same(SHIFTED, n, 1, 4);
    for (int which = 0; which < 2; which++)
        CALL(program[which][SMALL], sn_in(lengths, s), sn_in(shorts, n), sn_into(found[which][0].w, s),
             sn_into(found[which][1].i, s));
    same(SMALL, s, 0, 4);
    same(SMALL, s, 1, 2);
    for (int which = 0; which < 2; which++)
        CALL(program[which][ROWS], sn_in(lengths, s), sn_in(both_rows, 2, n), sn_into(found[which][0].f, 2, s));
    same(ROWS, 2 * s, 0, 4);
    for (int which = 0; which < 2; which++)
        CALL(program[which][ORDER], sn_in(lengths, s), sn_in(x, n), sn_in(y, n), sn_into(found[which][0].u[0], s),
             sn_into(found[which][0].u[1], s), sn_into(found[which][1].k, s),
             sn_into(found[which][0].f + 2 * SEGMENTS, s));
    same(ORDER, 3 * s, 0, 4);
    same(ORDER, s, 1, 8);
}

static void equal(const char *what, int64_t segment, float found_, float alone)
{
    if (memcmp(&found_, &alone, sizeof alone) != 0)
        fail_msg("%s of segment %lld, of %lld elements: %.9g, not %.9g", what, (long long)segment,
                 (long long)lengths[segment], (double)found_, (double)alone);
}

/* Products that are added up are rounded once, as in rows. */
static void check_bits(int64_t n)
{
    const int64_t s = SEGMENTS;
    const int which = 0;
    float *sums = found[0][0].f, *products = found[0][1].f, *plain_sums = found[1][0].f, alone, alone_too;
    sn_program **p = program[0];
    CALL(p[VECTOR], sn_in(lengths, s), sn_in(wild, n), sn_in(place, n), sn_in(vector, PLACES), sn_into(sums, s));
    CALL(p[DOTS], sn_in(lengths, s), sn_in(wild, n), sn_in(other, n), sn_into(products, s), sn_into(plain_sums, s));
    for (int64_t i = 0, at = 0; i < s; at += lengths[i++]) {
        int64_t m = lengths[i];
        if (getenv("SINTER_TEST_SAMPLE") && i % 97)
            continue;
        CALL(p[VECTOR], sn_in(&m, 1), sn_in(wild + at, m), sn_in(place + at, m), sn_in(vector, PLACES),
             sn_into(&alone, 1));
        equal("products with what is looked up", i, sums[i], alone);
        CALL(p[DOTS], sn_in(&m, 1), sn_in(wild + at, m), sn_in(other + at, m), sn_into(&alone, 1),
             sn_into(&alone_too, 1));
        equal("products", i, products[i], alone);
        equal("sum", i, plain_sums[i], alone_too);
    }
}

static void any_mixture(void **state)
{
    (void)state;
    srand(5);
    for (int kind = 0; kind < 7; kind++) {
        int64_t n = 0;
        if (getenv("SINTER_TEST_SAMPLE") && kind % 3)
            continue;
        for (int64_t i = 0; i < SEGMENTS; i++) {
            const int64_t some[] = {rand() % 65,
                                    1 + rand() % 64,
                                    rand() % 9,
                                    1 + rand() % 32,
                                    33 + rand() % 32,
                                    i % 2 ? 65 : 64,
                                    rand() % 40 ? 1 + rand() % 20 : 30 + rand() % 60};
            lengths[i] = some[kind];
            n += lengths[i];
        }
        check(n, kind == 0 || kind == 2);
        check_bits(n);
    }
}

/* Elements that cannot be had are said to be so, by the program's own numbers. */
static void a_place_that_is_not_there(void **state)
{
    (void)state;
    int64_t n = 0;
    for (int64_t i = 0; i < SEGMENTS; i++)
        n += lengths[i] = 1 + i % 37;
    static const int32_t wrong[] = {PLACES, -1, INT32_MAX, INT32_MIN};
    for (int k = 0; k < 8; k++) {
        sn_context *cx = k % 2 ? interpreter : device;
        char wanted[64];
        place[n / 2] = wrong[k / 2];
        assert_int_equal(sn_call(program[k % 2][VECTOR], sn_in(lengths, SEGMENTS), sn_in(x, n), sn_in(place, n),
                                 sn_in(vector, PLACES), sn_into(found[0][0].f, SEGMENTS)),
                         SN_OUT_OF_RANGE);
        snprintf(wanted, sizeof wanted, " %d", wrong[k / 2]);
        assert_non_null(strstr(sn_message(cx), wanted));
    }
    place[n / 2] = 0;
}

int main(void)
{
    sn_options o = {.size = sizeof(o), .device = "interpreter"};
    device = sn_open(NULL);
    interpreter = sn_open(&o);
    const sn_body body[PROGRAMS] = {SN_BODY(plain),   SN_BODY(without_identity),
                                    SN_BODY(pairs),   SN_BODY(of_vector),
                                    SN_BODY(shifted), SN_BODY(small),
                                    SN_BODY(rows),    SN_BODY(dots),
                                    SN_BODY(in_order)};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < PROGRAMS; k++) {
            program[i][k] = sn_compile_at(SN_HERE, i ? interpreter : device, signature[k], body[k]);
            if (!program[i][k])
                return fprintf(stderr, "%s\n", sn_message(i ? interpreter : device)), 1;
        }
    for (int64_t i = 0; i < MOST; i++) {
        x[i] = (float)(i * 7919 % 509 - 254) / 16;
        other[i] = (float)cos((double)i * 3.7);
        wild[i] = (float)sin((double)i * 12.9898) * (float)(1 + i % 97);
        y[i] = (float)(i * 104729 % 61 - 30) / 8;
        both_rows[i] = x[i];
        both_rows[MOST + i] = y[i];
        place[i] = (int32_t)(i * 7919 % PLACES);
        shorts[i] = (int16_t)(i * 40503);
    }
    for (int64_t i = 0; i < SEGMENTS; i++)
        shift[i] = (float)(i % 19) - 9.5F;
    for (int64_t i = 0; i < PLACES; i++)
        vector[i] = (float)cos((double)i * 78.233);
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_mixture), cmocka_unit_test(a_place_that_is_not_there)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < PROGRAMS; k++)
            sn_drop(program[i][k]);
    sn_close(device);
    sn_close(interpreter);
    return failed;
}
