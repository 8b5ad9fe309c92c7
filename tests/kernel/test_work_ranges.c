/* What is known of indices and conditions when launches are counted (kernel/work.c), against enumeration: operators on
 * all pairs of small intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/work.h"

#include <inttypes.h>

typedef struct ends {
    int64_t low, high;
} ends;

static int64_t smaller_of(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static int64_t larger_of(int64_t x, int64_t y)
{
    return x > y ? x : y;
}

/* Ten threads; %4 and %6 are their numbers, cut at what makes the interval so long, from its begin on. */
static k_work counted(arena *a, ends x, ends y, const char *body)
{
    const char *message = "", *why = "";
    k_work w;
    const char *source =
        arena_printf(a,
                     "kernel k lanes 16 { global @1:i64 written global @2:i64 written for_all %%2:i64 < 10 { "
                     "%%3:i64 = min %%2, %" PRId64 " %%4:i64 = add %%3, %" PRId64 " %%5:i64 = min %%2, %" PRId64
                     " %%6:i64 = add %%5, %" PRId64 " %s } }",
                     x.high - x.low, x.low, y.high - y.low, y.low, body);
    kernel *k = k_parse(a, source, &message);
    if (!k)
        fail_msg("%s\n%s", message, source);
    if (!k_verify(k, a, &why))
        fail_msg("%s\n%s", why, source);
    k_find_work(k, a, NULL, 1, k->lanes, &w);
    return w;
}

typedef struct operator_case {
    const char *name;
    int64_t (*of)(int64_t x, int64_t y);
    bool natural, constant; /* known of numbers that are not negative, by positive ones; by constants */
    int64_t least, most;    /* of the second operand, where that is bounded */
} operator_case;

static int64_t add(int64_t x, int64_t y)
{
    return x + y;
}

static int64_t sub(int64_t x, int64_t y)
{
    return x - y;
}

static int64_t mul(int64_t x, int64_t y)
{
    return x * y;
}

static int64_t quot(int64_t x, int64_t y)
{
    return x / y;
}

static int64_t shl(int64_t x, int64_t y)
{
    return x * ((int64_t)1 << y);
}

static int64_t shr(int64_t x, int64_t y)
{
    return x / ((int64_t)1 << y);
}

static int64_t neg(int64_t x, int64_t y)
{
    (void)y;
    return -x;
}

static const operator_case operators[] = {
    {"add", add, .least = -5, .most = 5},
    {"sub", sub, .least = -5, .most = 5},
    {"mul", mul, .least = -5, .most = 5},
    {"min", smaller_of, .least = -5, .most = 5},
    {"max", larger_of, .least = -5, .most = 5},
    {"quot", quot, .natural = true, .least = 1, .most = 5},
    {"div", quot, .natural = true, .least = 1, .most = 5},
    {"shl", shl, .natural = true, .constant = true, .least = 0, .most = 5},
    {"shr", shr, .natural = true, .constant = true, .least = 0, .most = 5},
    {"neg", neg, .least = 0, .most = 0},
};

static void operators_of_intervals(void **state)
{
    (void)state;
    static const ends some[] = {{-4, -2}, {-3, -3}, {-2, 3}, {-1, 0}, {0, 0}, {0, 2},
                                {0, 5},   {1, 1},   {1, 4},  {2, 5},  {4, 4}};
    for (size_t o = 0; o < ARRAY_LENGTH(operators); o++)
        for (size_t i = 0; i < ARRAY_LENGTH(some); i++)
            for (size_t j = 0; j < ARRAY_LENGTH(some); j++) {
                const operator_case *op = &operators[o];
                const ends x = some[i], y = some[j];
                bool known = y.low >= op->least && y.high <= op->most && (!op->natural || x.low >= 0) &&
                             (!op->constant || y.low == y.high);
                if (op->of == neg && j)
                    continue;
                arena a;
                arena_init(&a, NULL);
                const char *second = op->of == neg     ? ""
                                     : y.low == y.high ? arena_printf(&a, ", %" PRId64, y.low)
                                                       : ", %6";
                k_work w =
                    counted(&a, x, y, arena_printf(&a, "%%7:i64 = %s %%4%s store @1[%%7] = 1", op->name, second));
                int64_t low = INT64_MAX, high = INT64_MIN;
                for (int64_t n = x.low; (known || op->of == neg) && n <= x.high; n++)
                    for (int64_t m = y.low; m <= y.high; m++) {
                        low = smaller_of(low, op->of(n, m));
                        high = larger_of(high, op->of(n, m));
                    }
                bool anywhere = !known && op->of != neg;
                if (w.memory[1].anywhere != anywhere ||
                    (!anywhere && (w.memory[1].low != low || w.memory[1].high != high)))
                    fail_msg("%s of %" PRId64 "..%" PRId64 " and %" PRId64 "..%" PRId64 ": %" PRId64 "..%" PRId64
                             "%s, not %" PRId64 "..%" PRId64,
                             op->name, x.low, x.high, y.low, y.high, w.memory[1].low, w.memory[1].high,
                             w.memory[1].anywhere ? " and anywhere" : "", low, high);
                arena_free(&a);
            }
}

/* Of remainders and bits in common the ends are known roughly. */
static void remainders_and_bits(void **state)
{
    (void)state;
    for (int64_t from = 0; from < 9; from++)
        for (int64_t by = 1; by < 6; by++)
            for (int bits = 0; bits < 3; bits++) {
                arena a;
                arena_init(&a, NULL);
                const ends x = {from, from + 2};
                static const char *const body[] = {"%%7:i64 = rem %%4, %" PRId64 " store @1[%%7] = 1",
                                                   "%%7:i64 = bit_and %%4, %" PRId64 " store @1[%%7] = 1",
                                                   "%%8:i64 = quot %%4, %" PRId64 " %%9:i64 = mul %%8, %" PRId64
                                                   " %%7:i64 = sub %%4, %%9 store @1[%%7] = 1"};
                k_work w = counted(&a, x, (ends){0, 0},
                                   bits == 0   ? arena_printf(&a, body[0], by)
                                   : bits == 1 ? arena_printf(&a, body[1], by)
                                               : arena_printf(&a, body[2], by, by));
                bool whole = x.low / by == x.high / by;
                int64_t low = whole && bits != 1 ? x.low % by : 0, high = bits == 1 ? smaller_of(x.high, by)
                                                                          : whole   ? x.high % by
                                                                                    : smaller_of(x.high, by - 1);
                assert_false(w.memory[1].anywhere);
                assert_int_equal(w.memory[1].low, low);
                assert_int_equal(w.memory[1].high, high);
                arena_free(&a);
            }
}

static bool compares(const char *op, int64_t x, int64_t y)
{
    return op[0] == 'l'   ? (op[1] == 't' ? x < y : x <= y)
           : op[0] == 'g' ? (op[1] == 't' ? x > y : x >= y)
                          : (op[0] == 'e') == (x == y);
}

/* A condition is known where all numbers agree; of what depends on one that is not, both values count. */
static void conditions(void **state)
{
    (void)state;
    static const char *const op[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    static const ends some[] = {{-3, -1}, {0, 0}, {0, 2}, {1, 1}, {2, 2}, {2, 3}, {3, 5}};
    for (size_t o = 0; o < ARRAY_LENGTH(op); o++)
        for (size_t i = 0; i < ARRAY_LENGTH(some); i++)
            for (size_t j = 0; j < ARRAY_LENGTH(some); j++) {
                const ends x = some[i], y = some[j];
                bool can[2] = {0};
                for (int64_t n = x.low; n <= x.high; n++)
                    for (int64_t m = y.low; m <= y.high; m++)
                        can[compares(op[o], n, m)] = true;
                arena a;
                arena_init(&a, NULL);
                /* of its value, and of what follows of that and of what surely holds, or does not */
                k_work w = counted(&a, x, y,
                                   arena_printf(&a,
                                                "%%7:bool = %s %%4, %%6 %%8:i64 = select %%7, 7, 3 "
                                                "store @1[%%8] = 1 %%9:bool = lt %%2, 20 "
                                                "%%10:bool = land %%7, %%9 %%11:bool = lor %%10, false "
                                                "%%12:bool = not %%11 %%13:i64 = select %%12, 3, 7 "
                                                "store @2[%%13] = 1",
                                                op[o]));
                for (int k = 1; k <= 2; k++) {
                    assert_int_equal(w.memory[k].low, can[0] ? 3 : 7);
                    assert_int_equal(w.memory[k].high, can[1] ? 7 : 3);
                }
                w = counted(&a, x, y,
                            arena_printf(&a,
                                         "%%7:bool = %s %%4, %%6 %%8:bool = land %%7, false %%9:bool = "
                                         "lor %%7, true %%10:i64 = select %%8, 1, 2 store @1[%%10] = 1 "
                                         "%%11:i64 = select %%9, 5, 6 store @2[%%11] = 1",
                                         op[o]));
                assert_int_equal(w.memory[1].low, 2);
                assert_int_equal(w.memory[1].high, 2);
                assert_int_equal(w.memory[2].low, 5);
                assert_int_equal(w.memory[2].high, 5);
                arena_free(&a);
            }
}

static void stored(k_work w, double there, double else_where)
{
    assert_true(w.memory[1].stores > there - 1e-6 && w.memory[1].stores < there + 1e-6);
    assert_true(w.memory[2].stores > else_where - 1e-6 && w.memory[2].stores < else_where + 1e-6);
}

/* The threads that a condition turns on are counted where it compares their numbers with a constant. */
static void threads_are_counted(void **state)
{
    (void)state;
    static const char *const op[] = {"lt", "le", "gt", "ge"};
    static const char branches[] = "if %9 { store @1[%2] = 1 } else { store @2[%2] = 1 }";
    arena a;
    arena_init(&a, NULL);
    for (int64_t by = -1; by <= 11; by++)
        for (size_t o = 0; o < ARRAY_LENGTH(op); o++) {
            int on = 0, of_other = 0;
            for (int64_t i = 0; i < 10; i++) {
                on += compares(op[o], i, by);
                of_other += compares(op[o], by, i);
            }
            stored(counted(&a, (ends){0, 0}, (ends){0, 0},
                           arena_printf(&a, "%%9:bool = %s %%2, %" PRId64 " %s", op[o], by, branches)),
                   on, 10 - on);
            stored(counted(&a, (ends){0, 0}, (ends){0, 0},
                           arena_printf(&a, "%%9:bool = %s %" PRId64 ", %%2 %s", op[o], by, branches)),
                   of_other, 10 - of_other);
        }
    /* both ends of a row; within, and outside */
    for (int64_t from = 1; from < 9; from++)
        for (int64_t end = from + 1; end < 10; end++) {
            stored(counted(&a, (ends){0, 0}, (ends){0, 0},
                           arena_printf(&a,
                                        "%%7:bool = ge %%2, %" PRId64 " %%8:bool = lt %%2, %" PRId64
                                        " %%9:bool = land %%7, %%8 %s",
                                        from, end, branches)),
                   (double)(end - from), (double)(10 - (end - from)));
            stored(counted(&a, (ends){0, 0}, (ends){0, 0},
                           arena_printf(&a,
                                        "%%7:bool = lt %%2, %" PRId64 " %%8:bool = ge %%2, %" PRId64
                                        " %%9:bool = lor %%7, %%8 %s",
                                        from, end, branches)),
                   (double)(10 - (end - from)), (double)(end - from));
        }
    /* of conditions of other kinds all threads count */
    stored(counted(&a, (ends){0, 0}, (ends){0, 0}, arena_printf(&a, "%%9:bool = eq %%2, 3 %s", branches)), 10, 10);
    arena_free(&a);
}

/* Rounds of loops, of which the first and the last ones are looked at where there are many. */
static void rounds(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    for (int64_t n = 0; n < 3000; n = n < 20 ? n + 1 : 3 * n) {
        k_work w = counted(&a, (ends){0, 0}, (ends){0, 0},
                           arena_printf(&a, "for %%9:i64 = 5 to %" PRId64 " { store @1[%%9] = 1 }", 5 + n));
        assert_true(w.memory[1].stores > 10 * (double)n - 1e-6 && w.memory[1].stores < 10 * (double)n + 1e-6);
        if (n) {
            assert_int_equal(w.memory[1].low, 5);
            assert_int_equal(w.memory[1].high, 4 + n);
        }
        assert_false(w.open_ended);
    }
    k_work w = counted(&a, (ends){0, 0}, (ends){0, 0}, "%8:i64 = load @2[0] store @1[%8] = 1");
    assert_true(w.memory[1].anywhere && !w.memory[2].anywhere);
    assert_true(w.memory[1].low > w.memory[1].high);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_of_intervals),
        cmocka_unit_test(remainders_and_bits),
        cmocka_unit_test(conditions),
        cmocka_unit_test(threads_are_counted),
        cmocka_unit_test(rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
