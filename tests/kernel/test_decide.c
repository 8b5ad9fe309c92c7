/* What is known where it stands: conditions that intervals decide, and those that an IF, a CHECK or a BREAK_IF has
 * decided before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* Indices of loops and pieces are not negative, and of literal ones the ends are known. */
    {"for_all %9:i64 < 8 { %10:i64 = max %9, 0 %11:i64 = min %9, 7 %12:bool = lt %9, 8 %13:bool = ge piece, 0 "
     "%14:bool = land %12, %13 if %14 { store @4[%10] = %11 } else { store @4[0] = 1 } }",
     "for_all %9:i64 < 8 { store @4[%9] = %9 }"},
    {"for_all %9:i64 < %1 { for %10:i64 = 1 to %2 { %11:i64 = abs %10 %12:i64 = max %9, 0 %13:bool = gt %10, 1 "
     "if %13 { store @4[%11] = %12 } } }",
     "for_all %9:i64 < %1 { for %10:i64 = 1 to %2 { %13:bool = gt %10, 1 if %13 { store @4[%10] = %9 } } }"},
    /* An argument may be anything, so a sum with it may wrap, and its maximum with a number is at least that. */
    {"for_all %9:i64 < 8 { %10:i64 = add %9, %1 %11:i64 = max %10, 0 %12:i64 = max %1, 3 %13:i64 = max %12, 2 "
     "store @4[%11] = %13 }",
     "for_all %9:i64 < 8 { %10:i64 = add %9, %1 %11:i64 = max %10, 0 %12:i64 = max %1, 3 store @4[%11] = %12 }"},
    /* Remainders and masks. */
    {"for_all %9:i64 < 8 { %10:i64 = bit_and %1, 63 %11:bool = lt %10, 64 check 1: %11, %9, %10, 64 "
     "%12:i64 = rem %10, 8 %13:i64 = min %12, 7 %14:i64 = rem %1, 8 %15:i64 = max %14, 0 store @4[%13] = %15 }",
     "for_all %9:i64 < 8 { %10:i64 = bit_and %1, 63 %12:i64 = rem %10, 8 %14:i64 = rem %1, 8 %15:i64 = max %14, 0 "
     "store @4[%12] = %15 }"},
    /* A check that may fail stays, and a second one on the same condition goes; notes stay. */
    {"for_all %9:i64 < 8 { %10:bool = lt %9, %1 check 1: %10, %9, %9, %1 check 2: %10, %9, %9, %1 "
     "note 3: false, %9, %9, 5 %11:i64 = select %10, %9, 0 store @4[%11] = 1 }",
     "for_all %9:i64 < 8 { %10:bool = lt %9, %1 check 1: %10, %9, %9, %1 note 3: false, %9, %9, 5 store @4[%9] = 1 }"},
    /* ... but not behind the list that the first stands in, which other lanes have passed by, */
    {"for_all %9:i64 < 8 { %10:bool = lt %9, %1 if %4 { check 1: %10, %9, %9, %1 } check 2: %10, %9, %9, %1 "
     "store @4[%9] = 1 }",
     NULL},
    /* nor at piece level, where a piece that fails may go on without storing, */
    {"%10:bool = lt %2, %1 check 1: %10, 0, %2, %1 check 2: %10, 0, %2, %1 store @4[piece] = 1", NULL},
    /* nor where others take values from a lane that has failed. */
    {"for_all %9:i64 < 8 { %10:bool = lt %9, %1 check 1: %10, %9, %9, %1 %11:i64 = select %10, %9, 0 "
     "%12:i64 = shuffle %11, 1 store @4[%9] = %12 }",
     NULL},
    /* A condition that surely fails: the check stays as it is. */
    {"for_all %9:i64 < 8 { %10:bool = lt %9, %1 if %10 { store @4[%9] = 1 } else { check 1: %10, %9, %9, %1 } }", NULL},
    /* In the branches of an if its condition is known, with its parts; behind it, it is not. */
    {"for_all %9:i64 < 8 { %10:bool = lt %9, %1 %11:bool = lt %9, %2 %12:bool = land %10, %11 %13:bool = not %11 "
     "if %12 { %14:i64 = select %10, 1, 2 %15:i64 = select %13, 3, 4 store @4[%14] = %15 } "
     "else { %16:i64 = select %10, 5, 6 store @4[%9] = %16 } %17:i64 = select %12, 7, 8 store @4[%9] = %17 }",
     "for_all %9:i64 < 8 { %10:bool = lt %9, %1 %11:bool = lt %9, %2 %12:bool = land %10, %11 %13:bool = not %11 "
     "if %12 { %15:i64 = select %13, 3, 4 store @4[1] = %15 } "
     "else { %16:i64 = select %10, 5, 6 store @4[%9] = %16 } %17:i64 = select %12, 7, 8 store @4[%9] = %17 }"},
    {"for_all %9:i64 < 8 { %10:bool = lt %9, %1 %11:bool = not %10 if %11 { if %10 { store @4[0] = 1 } "
     "store @4[1] = 1 } else { if %10 { store @4[2] = 1 } } }",
     "for_all %9:i64 < 8 { %10:bool = lt %9, %1 %11:bool = not %10 if %11 { store @4[1] = 1 } "
     "else { store @4[2] = 1 } }"},
    /* Behind a break_if its condition does not hold, in this turn. */
    {"for_all %9:i64 < 8 { %10:i64 = var %9 loop { %11:bool = gt %10, %1 %12:i64 = select %11, 1, 2 store @4[0] = %12 "
     "break_if %11 %13:i64 = select %11, 1, 2 set %10 = %13 } }",
     "for_all %9:i64 < 8 { %10:i64 = var %9 loop { %11:bool = gt %10, %1 %12:i64 = select %11, 1, 2 store @4[0] = %12 "
     "break_if %11 set %10 = 2 } }"},
    /* Ways out of loops, and checks, whose condition intervals decide. */
    {"for_all %9:i64 < 8 { loop { %10:bool = ge %9, 0 break_if %10 store @4[0] = 1 } %11:bool = lt %9, 0 "
     "check 1: %11, %9, %9, 0 }",
     "for_all %9:i64 < 8 { loop { break_if true store @4[0] = 1 } check 1: false, %9, %9, 0 }"},
    {"for_all %9:i64 < 8 { %10:i64 = var 0 loop { %12:bool = gt %10, %1 if %12 { store @4[0] = 1 } break_if %12 "
     "break_if %12 set %10 = 1 } }",
     NULL},
    /* A literal's negation is a literal. */
    {"for_all %9:i64 < 8 { %10:bool = not false %11:bool = not true if %10 { store @4[0] = 1 } if %11 { store @4[1] = "
     "1 } }",
     "for_all %9:i64 < 8 { store @4[0] = 1 }"},
    /* Floats, narrower integers and variables are not followed. */
    {"for_all %9:i64 < 8 { %10:f32 = max %3, 0.0:f32 %11:f32 = max %10, -1.0:f32 %12:i32 = convert %9 "
     "%13:i32 = max %12, 0:i32 %14:i64 = var %9 %15:i64 = max %14, 0 %16:i64 = convert %13 store @3[%15] = %11 "
     "store @4[0] = %16 }",
     NULL},
    /* One if in another, of which the outer or the inner one goes. */
    {"for_all %9:i64 < 8 { %10:bool = ge %9, 0 store @4[0] = 0 if %10 { store @4[1] = 0 if %10 { store @4[2] = 0 } } "
     "store @4[3] = 0 if %10 { if %4 { store @4[4] = 0 } if %10 { } } else { store @4[5] = 0 } }",
     "for_all %9:i64 < 8 { store @4[0] = 0 store @4[1] = 0 store @4[2] = 0 store @4[3] = 0 "
     "if %4 { store @4[4] = 0 } }"},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_decide, cases, ARRAY_LENGTH(cases));
}

/* --- all pairs of small intervals --- */

enum { FIRST = -2, LAST = 2 };

typedef struct ends {
    int low, high;
} ends;

static bool holds(const char *op, int x, int y)
{
    return op[0] == 'l'   ? (op[1] == 't' ? x < y : x <= y)
           : op[0] == 'g' ? (op[1] == 't' ? x > y : x >= y)
                          : (op[0] == 'e') == (x == y);
}

static const char *decided_text(arena *a, const char *body)
{
    const char *message = "";
    kernel *k =
        k_parse(a, arena_printf(a, "kernel k lanes 8 { global @1:i64 written arg %%1:bool %s }", body), &message);
    if (!k)
        fail_msg("%s\n%s", message, body);
    k_decide(k, a);
    text t;
    text_init(&t, a);
    k_print(k, &t);
    return t.at;
}

static void compare_ends(arena *a, const char *op, ends x, ends y)
{
    bool some = false, all = true;
    for (int i = x.low; i <= x.high; i++)
        for (int j = y.low; j <= y.high; j++) {
            some |= holds(op, i, j);
            all &= holds(op, i, j);
        }
    const char *body = arena_printf(a,
                                    "for_all %%2:i64 < 8 { for %%3:i64 = %d to %d { for %%4:i64 = %d to %d { "
                                    "%%5:bool = %s %%3, %%4 if %%5 { store @1[0] = 1 } else { store @1[1] = 1 } "
                                    "} } }",
                                    x.low, x.high + 1, y.low, y.high + 1, op);
    const char *got = decided_text(a, body);
    if ((strstr(got, "if ") != NULL) != (some && !all) || (strstr(got, "@1[0]") != NULL) != some ||
        (strstr(got, "@1[1]") != NULL) == all)
        fail_msg("%s\nbecame\n%s", body, got);
}

static void choose_ends(arena *a, ends x, ends y)
{
    for (int most = 0; most < 2; most++) {
        const bool first = most ? x.low >= y.high : x.high <= y.low, second = most ? y.low >= x.high : y.high <= x.low;
        const char *body = arena_printf(a,
                                        "for_all %%2:i64 < 8 { for %%3:i64 = %d to %d { for %%4:i64 = %d to %d { "
                                        "%%5:i64 = %s %%3, %%4 store @1[%%5] = 1 } } }",
                                        x.low, x.high + 1, y.low, y.high + 1, most ? "max" : "min");
        const char *got = decided_text(a, body);
        if (!strstr(got, first    ? "@1[%3]"
                         : second ? "@1[%4]"
                                  : "@1[%5]") ||
            (strstr(got, "%5") != NULL) != (!first && !second))
            fail_msg("%s\nbecame\n%s", body, got);
    }
    const char *got = decided_text(a, arena_printf(a,
                                                   "for_all %%2:i64 < 8 { for %%3:i64 = %d to %d { "
                                                   "%%5:i64 = abs %%3 store @1[%%5] = 1 } }",
                                                   x.low, x.high + 1));
    assert_int_equal(strstr(got, "abs") == NULL, x.low >= 0);
}

/* Decided is what all numbers of the intervals agree on, and nothing else is. */
static void test_intervals(void **state)
{
    (void)state;
    static const char *const op[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    arena a;
    arena_init(&a, NULL);
    for (ends x = {FIRST, FIRST}; x.low <= LAST;
         x = x.high < LAST ? (ends){x.low, x.high + 1} : (ends){x.low + 1, x.low + 1})
        for (ends y = {FIRST, FIRST}; y.low <= LAST;
             y = y.high < LAST ? (ends){y.low, y.high + 1} : (ends){y.low + 1, y.low + 1}) {
            for (unsigned i = 0; i < ARRAY_LENGTH(op); i++)
                compare_ends(&a, op[i], x, y);
            choose_ends(&a, x, y);
        }
    arena_free(&a);
}

/* A literal among conditions decides, or leaves the other. */
static void test_conditions(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    for (unsigned i = 0; i < 8; i++) {
        const bool either = i & 1, literal = i & 2, first = i & 4;
        const char *word = literal ? "true" : "false";
        const char *got = decided_text(
            &a, arena_printf(&a, "%%2:bool = %s %s, %s if %%2 { store @1[0] = 1 } else { store @1[1] = 1 }",
                             either ? "lor" : "land", first ? word : "%1", first ? "%1" : word));
        if (literal == either)
            assert_true(!strstr(got, "if ") && strstr(got, literal ? "@1[0]" : "@1[1]") &&
                        !strstr(got, literal ? "@1[1]" : "@1[0]"));
        else
            assert_true(strstr(got, "if %1 ") && strstr(got, "@1[0]") && strstr(got, "@1[1]"));
    }
    arena_free(&a);
}

/* Of a condition made of many parts only some are taken into account: the outermost ones. */
static void test_many_parts(void **state)
{
    enum { PARTS = 40 };
    (void)state;
    arena a;
    arena_init(&a, NULL);
    for (unsigned right = 0; right < 2; right++) {
        const char *body = "%2:bool = not %1";
        for (unsigned i = 0; i < PARTS; i++) { /* %(3 i + 4) is the i-th part, %(3 i + 5) holds if the first i do */
            unsigned part = 3 * i + 4, before = i ? 3 * i + 2 : 2;
            body = arena_printf(&a, "%s %%%u:i64 = add piece, %u %%%u:bool = lt %%%u, 100 %%%u:bool = land %%%u, %%%u",
                                body, part - 1, i + 1, part, part - 1, part + 1, right ? part : before,
                                right ? before : part);
        }
        body = arena_printf(&a,
                            "%s if %%%u { %%200:i64 = select %%%u, 1, 2 %%201:i64 = select %%4, 3, 4 store @1[%%200] = "
                            "%%201 }",
                            body, 3 * PARTS + 2, 3 * PARTS + 1);
        const char *got = decided_text(&a, body);
        assert_null(strstr(got, ", 1, 2"));
        assert_int_equal(strstr(got, ", 3, 4") != NULL, right);
    }
    arena_free(&a);
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_decide, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_intervals),
                                       cmocka_unit_test(test_conditions), cmocka_unit_test(test_many_parts),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
