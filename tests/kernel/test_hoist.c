/* Loop-invariant code: what moves out of which loops, and what has to stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* Out of as many loops as it does not change in. */
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { %11:i64 = mul %1, %2 %12:i64 = add %9, %11 %13:i64 = add %12, %10 "
     "store @4[%13] = %12 } }",
     "%11:i64 = mul %1, %2 for_all %9:i64 < 8 { %12:i64 = add %9, %11 for %10:i64 = 0 to %1 { %13:i64 = add %12, %10 "
     "store @4[%13] = %12 } }"},
    /* Also out of loops that go on until a condition holds, and above a check. */
    {"for_all %9:i64 < 8 { %10:i64 = var %9 loop { %11:bool = gt %10, %1 break_if %11 check 1: %4, %9, %9, %1 "
     "%12:i64 = mul %9, 3 %13:i64 = add %10, %12 set %10 = %13 } store @4[%9] = %10 }",
     "for_all %9:i64 < 8 { %10:i64 = var %9 %12:i64 = mul %9, 3 loop { %11:bool = gt %10, %1 break_if %11 "
     "check 1: %4, %9, %9, %1 %13:i64 = add %10, %12 set %10 = %13 } store @4[%9] = %10 }"},
    /* What may fail stays: the loop may have no turns. By a literal it cannot fail, of floats neither. */
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { %11:i64 = quot %9, %1 %12:i64 = rem %9, 3 %13:i64 = mod %9, -1 "
     "%14:f32 = div %3, %3 store @4[%10] = %11 store @4[%12] = %13 store @3[%10] = %14 } }",
     "%14:f32 = div %3, %3 for_all %9:i64 < 8 { %12:i64 = rem %9, 3 for %10:i64 = 0 to %1 { %11:i64 = quot %9, %1 "
     "%13:i64 = mod %9, -1 store @4[%10] = %11 store @4[%12] = %13 store @3[%10] = %14 } }"},
    /* By what is never negative it is moved, too, and divides by 1 where that is 0. */
    {"arg %5:i64 natural for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { %11:i64 = mod %9, %5 store @4[%10] = %11 } }",
     "arg %5:i64 natural for_all %9:i64 < 8 { %12:i64 = max %5, 1 %11:i64 = mod %9, %12 for %10:i64 = 0 to %1 { "
     "store @4[%10] = %11 } }"},
    /* What stands behind a condition stays behind it, but leaves loops in there. */
    {"for_all %9:i64 < 8 { if %4 { for %10:i64 = 0 to %1 { %11:i64 = mul %1, %2 store @4[%10] = %11 } } }",
     "for_all %9:i64 < 8 { if %4 { %11:i64 = mul %1, %2 for %10:i64 = 0 to %1 { store @4[%10] = %11 } } }"},
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { if %4 { %11:i64 = mul %1, %2 store @4[%10] = %11 } } }", NULL},
    /* A single value in memory and what is made of it come before conditions, too, as far as all of it is there before
     * them; what may fail stays, and so do other loads. */
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { if %4 { %11:f32 = load @8[0] %12:f32 = mul %11, %3 %13:i64 = load "
     "@2[%10] %14:i64 = convert %11 %15:i64 = quot %1, %14 %16:bool = lt %11, %3 if %16 { %17:f32 = convert %13 "
     "%18:f32 = add %12, %17 %19:f32 = neg %12 store @3[%10] = %18 store @3[%9] = %19 store @4[%9] = %15 } } } }",
     "%11:f32 = load @8[0] %12:f32 = mul %11, %3 %14:i64 = convert %11 %16:bool = lt %11, %3 %19:f32 = neg %12 "
     "for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { if %4 { %13:i64 = load @2[%10] %15:i64 = quot %1, %14 if %16 { "
     "%17:f32 = convert %13 %18:f32 = add %12, %17 store @3[%10] = %18 store @3[%9] = %19 store @4[%9] = %15 } } } }"},
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { if %4 { %11:f32 = load @8[1] %12:f32 = neg %11 %13:f32 = load "
     "@8[%10] %14:f32 = load @1[0] %15:f32 = neg %14 store @3[0] = %12 store @3[1] = %13 store @3[2] = %15 } } }",
     NULL},
    /* Not what holds a variable: the condition may change it. */
    {"for_all %9:i64 < 8 { %10:f32 = var %3 for %11:i64 = 0 to %1 { if %4 { %12:f32 = load @8[0] %13:f32 = add %12, "
     "%10 set %10 = %13 } } store @3[%9] = %10 }",
     "%12:f32 = load @8[0] for_all %9:i64 < 8 { %10:f32 = var %3 for %11:i64 = 0 to %1 { if %4 { %13:f32 = add %12, "
     "%10 set %10 = %13 } } store @3[%9] = %10 }"},
    /* A variable that the loop sets changes; another one does not. */
    {"for_all %9:i64 < 8 { %10:i64 = var 1 %11:i64 = var 2 for %12:i64 = 0 to %1 { %13:i64 = neg %10 %14:i64 = neg %11 "
     "set %10 = %14 store @4[%12] = %13 } set %11 = 5 }",
     "for_all %9:i64 < 8 { %10:i64 = var 1 %11:i64 = var 2 %14:i64 = neg %11 for %12:i64 = 0 to %1 { %13:i64 = neg %10 "
     "set %10 = %14 store @4[%12] = %13 } set %11 = 5 }"},
    /* Its own variable is new in every turn. */
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { %11:i64 = var 1 %12:i64 = neg %11 store @4[%10] = %12 } }", NULL},
    /* Loads, stores, atomics, checks, notes and exchanges stay. */
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { %11:f32 = load @1[%1] store @3[%1] = %11 %12:i64 = atomic add "
     "@4[%2], 1 "
     "check 1: %4, %1, %1, %1 note 2: false, %1, %1, 5 store @4[%2] = %12 } }",
     NULL},
    {"for_all %9:i64 < 8 { %10:i64 = count %4 %11:bool = all %4 %12:i64 = shuffle %1, 1 store @4[%10] = %12 "
     "if %11 { store @4[0] = 1 } }",
     NULL},
    /* Elementary functions of the same number, and selects, move. */
    {"for_all %9:i64 < 8 { %10:f32 = exp %3 %11:f32 = select %4, %10, %3 store @3[%9] = %11 }",
     "%10:f32 = exp %3 %11:f32 = select %4, %10, %3 for_all %9:i64 < 8 { store @3[%9] = %11 }"},
    /* The parts of a mix have their places. */
    {"%10:i64 = var 0 for_all %9:i64 < 8 { for %11:i64 = 0 to %1 { %12:i64 = bitcast %10 %13:i64 = add %12, %2 "
     "mix %10 = %13 } }",
     NULL},
    /* Out of loops in the code of a chain, but not out of the chain. */
    {"chain @5 before %10:i64 initial 0 aggregate %1 left %11:i64 right %12:i64 { %13:i64 = var %11 %16:i64 = mul %1, "
     "%2 "
     "for %14:i64 = 0 to 3 { %15:i64 = mul %12, %16 set %13 = %15 } } yield %13 store @4[piece] = %10",
     "chain @5 before %10:i64 initial 0 aggregate %1 left %11:i64 right %12:i64 { %13:i64 = var %11 %16:i64 = mul %1, "
     "%2 "
     "for %14:i64 = 0 to 3 { %15:i64 = mul %12, %16 set %13 = %15 } } yield %13 store @4[piece] = %10"},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_hoist, cases, ARRAY_LENGTH(cases));
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_hoist, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
