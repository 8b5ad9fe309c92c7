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

static void test_random(void **state)
{
    (void)state;
    pass_random(k_decide, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
