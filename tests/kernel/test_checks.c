/* CHECKs before loads: which come first, with what, and which stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* What a check looks at comes along, and each check comes behind those before it. */
    {"for_all %9:i64 < 8 { %10:f32 = load @1[%9] %11:i64 = add %9, 1 %12:bool = lt %11, %1 check 1: %12, %9, %11, %1 "
     "%13:f32 = load @1[%11] %14:i64 = add %9, 2 %15:bool = lt %14, %1 check 2: %15, %9, %14, %1 "
     "%16:f32 = load @1[%14] %17:f32 = add %10, %13 %18:f32 = add %17, %16 store @3[%9] = %18 }",
     "for_all %9:i64 < 8 { %11:i64 = add %9, 1 %12:bool = lt %11, %1 check 1: %12, %9, %11, %1 "
     "%14:i64 = add %9, 2 %15:bool = lt %14, %1 check 2: %15, %9, %14, %1 %10:f32 = load @1[%9] "
     "%13:f32 = load @1[%11] %16:f32 = load @1[%14] %17:f32 = add %10, %13 %18:f32 = add %17, %16 "
     "store @3[%9] = %18 }"},
    /* What nobody checks stays between the loads. */
    {"for_all %9:i64 < 8 { %10:f32 = load @1[%9] %11:i64 = add %9, 1 %12:f32 = mul %10, %3 %13:bool = lt %9, %1 "
     "check 1: %13, %9, %9, %1 %14:f32 = load @1[%11] %15:f32 = add %12, %14 store @3[%9] = %15 }",
     "for_all %9:i64 < 8 { %13:bool = lt %9, %1 check 1: %13, %9, %9, %1 %10:f32 = load @1[%9] %11:i64 = add %9, 1 "
     "%12:f32 = mul %10, %3 %14:f32 = load @1[%11] %15:f32 = add %12, %14 store @3[%9] = %15 }"},
    /* A check of what has been loaded stays, and so does its order among others. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:bool = lt %10, %1 check 1: %11, %9, %10, %1 %12:f32 = load "
     "@1[%10] "
     "store @3[%9] = %12 }",
     NULL},
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:bool = lt %10, %1 check 1: %11, %9, %10, %1 "
     "%13:bool = lt %9, %2 check 2: %13, %9, %9, %2 %12:f32 = load @1[%10] store @3[%9] = %12 }",
     NULL},
    /* Nothing passes a store, a variable that is set, or a loop. */
    {"for_all %9:i64 < 8 { %10:f32 = load @1[%9] store @3[%9] = %10 %13:bool = lt %9, %1 check 1: %13, %9, %9, %1 "
     "%12:f32 = load @1[%9] store @3[%9] = %12 }",
     NULL},
    {"for_all %9:i64 < 8 { %20:i64 = var 0 %10:i64 = load @2[%9] set %20 = %10 %11:i64 = bitcast %20 "
     "%13:bool = lt %11, %1 check 1: %13, %9, %11, %1 store @4[%9] = %10 }",
     NULL},
    {"for_all %9:i64 < 8 { %20:i64 = var 3 %10:i64 = load @2[%9] %11:i64 = bitcast %20 "
     "%13:bool = lt %11, %1 check 1: %13, %9, %11, %1 store @4[%9] = %10 }",
     NULL},
    {"for_all %9:i64 < 8 { %10:f32 = load @1[%9] for %11:i64 = 0 to %1 { %13:bool = lt %11, %2 "
     "check 1: %13, %9, %11, %2 %12:f32 = load @1[%11] store @3[%11] = %12 } store @3[%9] = %10 }",
     NULL},
    /* What may have no value is not computed before it was. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:i64 = quot %1, %2 %13:bool = lt %11, %1 "
     "check 1: %13, %9, %11, %1 store @4[%9] = %10 }",
     NULL},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_checks, cases, ARRAY_LENGTH(cases));
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_checks, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
