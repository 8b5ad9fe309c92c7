/* Intervals of index arithmetic against all numbers that they hold: none is left out, and no more is claimed than that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/kernel.h"
#include "kernel/ranges.h"

enum { FAR = 5 }; /* ends of intervals are -FAR ... FAR */

typedef struct fixture {
    arena a;
    kernel *k;
    const k_stmt *last; /* the one whose result is stored */
    k_val x, y;         /* the arguments */
    k_ranges r;
} fixture;

/* `body` defines %9 from %1 and %2. */
static void open_fixture(fixture *f, const char *body)
{
    char source[512];
    const char *message = "";
    snprintf(source, sizeof(source),
             "kernel k lanes 4 { global @1:i64 written global @2:%s arg %%1:i64 arg %%2:i64 %s store @1[0] = %%9 }",
             strstr(body, "bool") ? "bool" : "i64", body);
    arena_init(&f->a, NULL);
    f->k = k_parse(&f->a, source, &message);
    if (!f->k)
        fail_msg("%s: %s", source, message);
    f->r = (k_ranges){.k = f->k, .of = arena_array(&f->a, k_range, f->k->value.n)};
    f->x = f->y = 0;
    for (k_val v = 1; v < f->k->value.n; v++) {
        const k_value *value = &f->k->value.at[v];
        int64_t n = value->kind == KV_LITERAL ? ir_i64_bits(T_I64, value->bits) : 0;
        f->r.of[v] = (k_range){n, n};
        if (value->kind == KV_ARG)
            *(value->bits ? &f->y : &f->x) = v;
    }
    f->last = NULL;
    for (k_ref s = 1; s < f->k->stmt.n; s++)
        if (f->k->stmt.at[s].op == K_LET || f->k->stmt.at[s].op == K_SELECT)
            f->last = &f->k->stmt.at[s];
    assert_non_null(f->last);
}

static k_range range_of(fixture *f, k_range x, k_range y)
{
    f->r.of[f->x] = x;
    f->r.of[f->y] = y;
    for (k_ref i = 1; i < f->k->stmt.n; i++) {
        const k_stmt *s = &f->k->stmt.at[i]; /* index arithmetic is of i64 */
        if ((s->op == K_LET || s->op == K_SELECT) && f->k->value.at[s->dst].type == T_I64)
            f->r.of[s->dst] = k_range_of(&f->r, s);
    }
    return f->r.of[f->last->dst];
}

/* --- the operators --- */

static int64_t down(int64_t x, int64_t y)
{
    return x / y - (x % y && (x < 0) != (y < 0));
}

static int64_t modulo(int64_t x, int64_t y)
{
    return x - down(x, y) * y;
}

typedef enum shape { EXACT, TO_ONE, TO_DIVISOR, TO_DIVIDEND } shape;

static const struct operator
{
    const char *name;
    bool divides, unary;
    shape how; /* what the interval may hold beside the results */
}
operators[] = {
    {"add", false, false, EXACT},     {"sub", false, false, EXACT},      {"mul", false, false, EXACT},
    {"min", false, false, EXACT},     {"max", false, false, EXACT},      {"neg", false, true, EXACT},
    {"quot", true, false, TO_ONE},    {"div", true, false, TO_ONE},      {"rem", true, false, TO_DIVISOR},
    {"mod", true, false, TO_DIVISOR}, {"abs", false, true, TO_DIVIDEND},
};

static int64_t result_of(const char *name, int64_t x, int64_t y)
{
    switch (name[0] << 16 | name[1] << 8 | name[2]) {
    case 'a' << 16 | 'd' << 8 | 'd':
        return x + y;
    case 's' << 16 | 'u' << 8 | 'b':
        return x - y;
    case 'm' << 16 | 'u' << 8 | 'l':
        return x * y;
    case 'm' << 16 | 'i' << 8 | 'n':
        return x < y ? x : y;
    case 'm' << 16 | 'a' << 8 | 'x':
        return x > y ? x : y;
    case 'n' << 16 | 'e' << 8 | 'g':
        return -x;
    case 'a' << 16 | 'b' << 8 | 's':
        return x < 0 ? -x : x;
    case 'q' << 16 | 'u' << 8 | 'o':
        return x / y;
    case 'd' << 16 | 'i' << 8 | 'v':
        return down(x, y);
    case 'r' << 16 | 'e' << 8 | 'm':
        return x % y;
    default:
        return modulo(x, y);
    }
}

/* The least and the greatest result for numbers of the intervals. False: there is none. */
static bool all_results(const struct operator* o, k_range x, k_range y, k_range *out)
{
    *out = (k_range){INT64_MAX, INT64_MIN};
    for (int64_t i = x.low; i <= x.high; i++)
        for (int64_t j = y.low; j <= y.high; j++) {
            if (o->divides && j == 0)
                continue;
            int64_t z = result_of(o->name, i, j);
            out->low = z < out->low ? z : out->low;
            out->high = z > out->high ? z : out->high;
        }
    return out->low <= out->high;
}

static int64_t farthest(k_range x)
{
    return -x.low > x.high ? -x.low : x.high;
}

static k_range widest(const struct operator* o, k_range x, k_range y, k_range results)
{
    int64_t most = farthest(y) - 1;
    switch (o->how) {
    case TO_ONE: /* a divisor of either sign says nothing but that the quotient is no farther than the dividend */
        return y.low <= 0 ? (k_range){-farthest(x), farthest(x)}
                          : (k_range){results.low - (x.low < 0), results.high + (x.low < 0 && o->name[0] == 'd')};
    case TO_DIVISOR:
        if (x.low >= 0 && y.low > 0)
            return (k_range){0, x.high < most ? x.high : most};
        if (o->name[0] == 'r' && x.low < 0)
            return (k_range){x.low, x.high > 0 ? x.high : 0};
        return (k_range){-most, most};
    case TO_DIVIDEND:
        return (k_range){0, results.high};
    default:
        return results;
    }
}

static void operators_hold_their_results(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(operators) / sizeof(*operators); i++) {
        const struct operator* o = & operators[i];
        char body[64];
        fixture f;
        snprintf(body, sizeof(body), o->unary ? "%%9:i64 = %s %%1" : "%%9:i64 = %s %%1, %%2", o->name);
        open_fixture(&f, body);
        for (int64_t n = 0; n < (2 * FAR + 1) * (2 * FAR + 1) * (2 * FAR + 1) * (2 * FAR + 1); n++) {
            int64_t d = n, end[4];
            for (int e = 0; e < 4; e++, d /= 2 * FAR + 1)
                end[e] = d % (2 * FAR + 1) - FAR;
            const k_range x = {end[0], end[1]}, y = {end[2], end[3]};
            k_range wanted;
            if (x.low > x.high || y.low > y.high || !all_results(o, x, y, &wanted))
                continue;
            k_range got = range_of(&f, x, y), most = widest(o, x, y, wanted);
            if (got.low > wanted.low || got.high < wanted.high || got.low < most.low || got.high > most.high)
                fail_msg("%s of %d...%d and %d...%d: %d...%d, is %d...%d", o->name, (int)x.low, (int)x.high, (int)y.low,
                         (int)y.high, (int)got.low, (int)got.high, (int)wanted.low, (int)wanted.high);
        }
        arena_free(&f.a);
    }
}

/* x - (x quot y) * y, either way round, where neither is negative; anything else is a difference. */
static void remainders_are_recognised(void **state)
{
    static const struct {
        const char *body;
        k_range x, y, wanted;
    } cases[] = {
        {"%7:i64 = quot %1, %2 %8:i64 = mul %7, %2 %9:i64 = sub %1, %8", {0, 100}, {3, 7}, {0, 6}},
        {"%7:i64 = quot %1, %2 %8:i64 = mul %2, %7 %9:i64 = sub %1, %8", {0, 100}, {3, 7}, {0, 6}},
        {"%7:i64 = quot %1, %2 %8:i64 = mul %2, %7 %9:i64 = sub %1, %8", {0, 4}, {1, 7}, {0, 4}},
        {"%7:i64 = quot %1, %2 %8:i64 = mul %2, %7 %9:i64 = sub %1, %8", {-1, 4}, {1, 7}, {-29, 18}},
        {"%7:i64 = quot %1, %2 %8:i64 = mul %2, %7 %9:i64 = sub %1, %8", {0, 4}, {0, 2}, {-8, 12}},
        {"%7:i64 = quot %1, %2 %8:i64 = mul %1, %7 %9:i64 = sub %1, %8", {0, 4}, {1, 2}, {-16, 4}},
        {"%7:i64 = quot %2, %1 %8:i64 = mul %1, %7 %9:i64 = sub %1, %8", {1, 4}, {1, 2}, {-7, 4}},
        {"%7:i64 = div %1, %2 %8:i64 = mul %2, %7 %9:i64 = sub %1, %8", {0, 4}, {1, 2}, {-8, 4}},
        {"%7:i64 = quot %1, %2 %8:i64 = add %2, %7 %9:i64 = sub %1, %8", {0, 4}, {1, 2}, {-6, 3}},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fixture f;
        open_fixture(&f, cases[i].body);
        k_range got = range_of(&f, cases[i].x, cases[i].y);
        if (got.low != cases[i].wanted.low || got.high != cases[i].wanted.high)
            fail_msg("case %u: %d...%d", i, (int)got.low, (int)got.high);
        arena_free(&f.a);
    }
}

static void expect(const char *body, k_range x, k_range y, int64_t low, int64_t high)
{
    fixture f;
    open_fixture(&f, body);
    k_range got = range_of(&f, x, y);
    if (got.low != low || got.high != high)
        fail_msg("%s: %lld...%lld", body, (long long)got.low, (long long)got.high);
    arena_free(&f.a);
}

static void others_hold_their_results(void **state)
{
    const k_range any = {-9, 20}, above = {12, 14};
    (void)state;
    expect("%9:i64 = bit_and %1, 6", any, any, 0, 6);
    expect("%9:i64 = bitcast %1", any, any, -9, 20);
    expect("%8:bool = load @2[0] %9:i64 = select %8, %1, %2", any, above, -9, 20);
    expect("%8:bool = load @2[0] %9:i64 = select %8, %2, %1", (k_range){-1, 1}, above, -1, 14);
    expect("%8:bool = load @2[0] %9:i64 = convert %8", any, any, 0, 1);
    expect("%8:u8 = convert %1 %9:i64 = convert %8", any, any, 0, 255);
    expect("%8:i8 = convert %1 %9:i64 = convert %8", any, any, -128, 127);
    expect("%8:u16 = convert %1 %9:i64 = convert %8", any, any, 0, 65535);
    expect("%8:i16 = convert %1 %9:i64 = convert %8", any, any, -32768, 32767);
    assert_int_equal(k_range_magnitude((k_range){-7, 3}), 7);
    assert_int_equal(k_range_magnitude((k_range){-7, 8}), 8);
    assert_int_equal(k_range_counted(3, 5).low, 3);
    assert_int_equal(k_range_counted(3, 5).high, 5);
    assert_int_equal(k_range_counted(3, 2).low, 3);
    assert_int_equal(k_range_counted(3, 1).high, 3);
}

/* --- in any launch --- */

static void expect_anywhere(const char *head, const char *body, int64_t low, int64_t high)
{
    char source[512];
    const char *message = "";
    arena a;
    arena_init(&a, NULL);
    snprintf(source, sizeof(source),
             "kernel k lanes 4 %s { global @1:i64 written arg %%1:i64 arg %%2:i64 %s store @1[0] = %%9 }", head, body);
    kernel *k = k_parse(&a, source, &message);
    if (!k)
        fail_msg("%s: %s", source, message);
    k_ranges r = k_ranges_start(k, &a);
    k_val last = 0;
    for (k_ref s = 1; s < k->stmt.n; s++) {
        k_ranges_meet(&r, &k->stmt.at[s]);
        if (k->stmt.at[s].op == K_STORE)
            last = k->stmt.at[s].in[1];
    }
    if (r.of[last].low != low || r.of[last].high != high)
        fail_msg("%s: %lld...%lld", body, (long long)r.of[last].low, (long long)r.of[last].high);
    arena_free(&a);
}

/* What is beyond is computed with nowhere, but for operators that give a number of their own or one of their operands.
 */
static void ends_stand_for_all_beyond(void **state)
{
    const int64_t most = K_MOST_INDEX;
    (void)state;
    expect_anywhere("", "%9:i64 = bitcast %1", -most - 1, most + 1);
    expect_anywhere("narrow", "%9:i64 = min %1, 10", -most, 10);
    expect_anywhere("narrow", "%9:i64 = max %1, 10", 10, most);
    expect_anywhere("narrow", "%9:i64 = add %1, 1", 1 - most, most);
    expect_anywhere("", "%9:i64 = add %1, 1", -most - 1, most + 1);
    expect_anywhere("", "%9:i64 = neg %1", -most - 1, most + 1);
    expect_anywhere("", "%9:i64 = min %1, 10", -most - 1, 10);
    expect_anywhere("", "%9:i64 = max %1, 10", 10, most + 1);
    expect_anywhere("", "%9:i64 = bit_and %1, 7", 0, 7);
    expect_anywhere("", "%9:i64 = max piece, -5", 0, most + 1);
    expect_anywhere("", "%8:i64 = min %1, 10 %7:i64 = max %8, 4 %9:i64 = mul %7, %7", 16, 100);
    expect_anywhere("", "%8:i64 = min %1, 10 %9:i64 = add %8, 1", -most - 1, most + 1);
    expect_anywhere("", "%8:i64 = max %1, 5 %7:bool = lt %2, 0 %9:i64 = select %7, %8, 3", 3, most + 1);
    expect_anywhere("", "%9:i64 = add 2147418111, 0", most, most); /* the farthest */
    expect_anywhere("", "%9:i64 = add 2147418112, 0", -most - 1, most + 1);
    expect_anywhere("", "%9:i64 = add 2147418111, 1", most, most + 1); /* ends are cut off, and stay in order */
    expect_anywhere("", "%9:i64 = sub -2147418111, 2", -most - 1, -most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_hold_their_results),
        cmocka_unit_test(remainders_are_recognised),
        cmocka_unit_test(others_hold_their_results),
        cmocka_unit_test(ends_stand_for_all_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
