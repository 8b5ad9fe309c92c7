/* Dead code: what goes, and what somebody may see after all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* Values that nobody uses, and those that only they use; loads, too. */
    {"for_all %9:i64 < 8 { %10:i64 = add %9, 1 %11:i64 = mul %10, %10 %12:f32 = load @1[%11] store @4[%9] = %10 }",
     "for_all %9:i64 < 8 { %10:i64 = add %9, 1 store @4[%9] = %10 }"},
    /* Conditions and loops around nothing, one in another. */
    {"for_all %9:i64 < 8 { if %4 { for %10:i64 = 0 to %1 { %11:i64 = add %9, %10 } } else { %12:i64 = neg %9 } } "
     "for_all %13:i64 < 8 { store @4[%13] = 1 }",
     "for_all %13:i64 < 8 { store @4[%13] = 1 }"},
    /* A loop with its ways out, if something in it is needed. */
    {"for_all %9:i64 < 8 { %10:i64 = var %9 %14:i64 = var 0 loop { %11:bool = gt %10, %1 break_if %11 "
     "%12:i64 = add %10, 1 set %10 = %12 set %14 = %12 } store @4[%9] = %10 }",
     "for_all %9:i64 < 8 { %10:i64 = var %9 loop { %11:bool = gt %10, %1 break_if %11 "
     "%12:i64 = add %10, 1 set %10 = %12 } store @4[%9] = %10 }"},
    {"for_all %9:i64 < 8 { %10:i64 = var %9 loop { %11:bool = gt %10, %1 break_if %11 "
     "%12:i64 = add %10, 1 set %10 = %12 } store @4[%9] = %9 }",
     "for_all %9:i64 < 8 { store @4[%9] = %9 }"},
    /* Shared and private memory that nobody reads; that somebody reads; that only what is dead reads. */
    {"for_all %9:i64 < 8 { store @6[%9] = %3 store @7[0] = %9 } for_all %10:i64 < 8 { %11:i64 = load @7[0] "
     "store @4[%10] = %11 }",
     "for_all %9:i64 < 8 { store @7[0] = %9 } for_all %10:i64 < 8 { %11:i64 = load @7[0] store @4[%10] = %11 }"},
    {"for_all %9:i64 < 8 { store @6[%9] = %3 } %10:f32 = load @6[0] store @6[1] = %10 store @4[0] = %1",
     "store @4[0] = %1"},
    /* Results that nobody reads; that the kernel reads itself. */
    {"for_all %9:i64 < 8 { %10:f32 = mul %3, %3 store @9[%9] = %10 store @4[%9] = %9 }",
     "for_all %9:i64 < 8 { store @4[%9] = %9 }"},
    {"for_all %9:i64 < 8 { store @9[%9] = %3 %10:f32 = load @9[%9] store @3[%9] = %10 }", NULL},
    /* An atomic: on a result always, on shared memory if that is read. */
    {"for_all %9:i64 < 8 { %10:i64 = atomic add @4[0], 1 %11:f32 = atomic add @6[0], %3 }",
     "for_all %9:i64 < 8 { %10:i64 = atomic add @4[0], 1 }"},
    {"for_all %9:i64 < 8 { %11:f32 = atomic add @6[0], %3 } %12:f32 = load @6[0] store @3[0] = %12", NULL},
    /* What fails or notes is seen. */
    {"for_all %9:i64 < 8 { %10:bool = lt %9, %1 %11:i64 = neg %9 check 1: %10, %9, %11, %1 note 2: false, %9, %11, 5 }",
     NULL},
    /* Hints and chains stay; exchanges whose results nobody uses go. */
    {"for_all %9:i64 < 8 { fetch @1[%9] step 8 %10:i64 = count %4 %11:i64 = shuffle %9, 1 %12:bool = all %4 }",
     "for_all %9:i64 < 8 { fetch @1[%9] step 8 }"},
    {"chain @5 before %10:i64 initial 0 aggregate %1 left %11:i64 right %12:i64 { %13:i64 = add %11, %12 "
     "%14:i64 = mul %11, %12 } yield %13",
     "chain @5 before %10:i64 initial 0 aggregate %1 left %11:i64 right %12:i64 { %13:i64 = add %11, %12 } yield %13"},
    /* A mix with its parts. */
    {"%10:i64 = var 0 for_all %9:i64 < 8 { %12:i64 = bitcast %10 %13:i64 = add %12, 1 mix %10 = %13 } "
     "store @4[0] = %10",
     NULL},
    {"for_all %9:i64 < 8 { compact @4[%1] = %9 where %4 }", NULL},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_dead, cases, ARRAY_LENGTH(cases));
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_dead, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
