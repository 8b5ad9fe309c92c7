/* Common subexpressions: what is used again, and what is not the same although it looks so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* The same operation on the same operands, in either order where that does not matter. */
    {"for_all %9:i64 < 8 { %10:i64 = add %9, %1 %11:i64 = add %1, %9 %12:i64 = sub %9, %1 %13:i64 = sub %1, %9 "
     "%14:i64 = mul %10, %11 %15:i64 = mul %12, %13 store @4[%14] = %15 }",
     "for_all %9:i64 < 8 { %10:i64 = add %9, %1 %12:i64 = sub %9, %1 %13:i64 = sub %1, %9 "
     "%14:i64 = mul %10, %10 %15:i64 = mul %12, %13 store @4[%14] = %15 }"},
    /* A sum of integers less one of its summands is the other one, unless that may have changed; floats round. */
    {"for_all %9:i64 < 8 { %10:i64 = add %9, %1 %11:i64 = sub %10, %1 %12:i64 = add %1, 3 %13:i64 = sub %12, %1 "
     "%14:i64 = sub %1, %12 store @4[%11] = %13 store @4[%14] = %13 }",
     "for_all %9:i64 < 8 { %10:i64 = add %9, %1 %12:i64 = add %1, 3 %14:i64 = sub %1, %12 store @4[%9] = 3 "
     "store @4[%14] = 3 }"},
    {"for_all %9:i64 < 8 { %10:i64 = var %9 %11:i64 = add %10, %1 set %10 = 3 %12:i64 = sub %11, %1 "
     "store @4[%9] = %12 }",
     NULL},
    {"for_all %9:i64 < 8 { %10:f32 = load @1[%9] %11:f32 = load @1[0] %12:f32 = add %10, %11 %13:f32 = sub %12, %11 "
     "store @3[%9] = %13 }",
     NULL},
    /* Known in the lists inside, unknown behind the list it stands in. */
    {"for_all %9:i64 < 8 { %10:i64 = add %9, 1 if %4 { %11:i64 = add %9, 1 %12:i64 = add %9, 2 store @4[%11] = %12 } "
     "else { %13:i64 = add %9, 2 store @4[%10] = %13 } %14:i64 = add %9, 2 store @4[%9] = %14 }",
     "for_all %9:i64 < 8 { %10:i64 = add %9, 1 if %4 { %12:i64 = add %9, 2 store @4[%10] = %12 } "
     "else { %13:i64 = add %9, 2 store @4[%10] = %13 } %14:i64 = add %9, 2 store @4[%9] = %14 }"},
    /* Copies of values go; copies of a variable are the same until it is set. */
    {"for_all %9:i64 < 8 { %10:i64 = bitcast %9 %11:i64 = var %10 %12:i64 = bitcast %11 %13:i64 = bitcast %11 "
     "set %11 = %13 %14:i64 = bitcast %11 store @4[%12] = %14 }",
     "for_all %9:i64 < 8 { %11:i64 = var %9 %12:i64 = bitcast %11 set %11 = %12 %14:i64 = bitcast %11 "
     "store @4[%12] = %14 }"},
    /* A loop that sets a variable has it different from its first statement on. */
    {"%9:i64 = var 0 %10:i64 = add %9, 1 for %11:i64 = 0 to %1 { %12:i64 = add %9, 1 store @4[%11] = %12 "
     "set %9 = %12 } %13:i64 = add %9, 1 store @4[%10] = %13",
     NULL},
    /* ... and one that does not, does not. */
    {"%9:i64 = var 0 %10:i64 = add %9, 1 for %11:i64 = 0 to %1 { %12:i64 = add %9, 1 store @4[%11] = %12 } "
     "set %9 = %10",
     "%9:i64 = var 0 %10:i64 = add %9, 1 for %11:i64 = 0 to %1 { store @4[%11] = %10 } set %9 = %10"},
    /* Set in one branch: another value behind the condition. */
    {"for_all %9:i64 < 8 { %10:i64 = var %9 %11:i64 = neg %10 if %4 { set %10 = 3 } %12:i64 = neg %10 "
     "store @4[%11] = %12 }",
     NULL},
    /* Elements of inputs stay what they are, whatever is stored. */
    {"for_all %9:i64 < 8 { %10:f32 = load @1[%9] store @3[%9] = %10 %11:f32 = load @1[%9] %12:f32 = add %10, %11 "
     "store @3[%9] = %12 }",
     "for_all %9:i64 < 8 { %10:f32 = load @1[%9] store @3[%9] = %10 %12:f32 = add %10, %10 store @3[%9] = %12 }"},
    /* Outputs may be written by anybody: atomics of other pieces. */
    {"for_all %9:i64 < 8 { %10:i64 = load @4[%9] %11:i64 = load @4[%9] %12:i64 = add %10, %11 store @4[%9] = %12 }",
     NULL},
    /* Shared memory: until a store to it; the end of a for_all is a barrier that makes others' stores visible. */
    {"for_all %9:i64 < 8 { %10:f32 = load @6[0] %11:f32 = load @6[0] store @6[8] = %11 %12:f32 = load @6[0] "
     "%13:f32 = add %10, %12 store @3[%9] = %13 }",
     "for_all %9:i64 < 8 { %10:f32 = load @6[0] store @6[8] = %10 %12:f32 = load @6[0] "
     "%13:f32 = add %10, %12 store @3[%9] = %13 }"},
    {"%10:f32 = load @6[0] for_all %9:i64 < 8 { store @6[%9] = 1.0:f32 } %11:f32 = load @6[0] %12:f32 = sub %10, %11 "
     "store @3[0] = %12",
     NULL},
    {"%10:f32 = load @6[0] for_all %9:i64 < 8 { store @7[0] = %9 } %11:f32 = load @6[0] %12:f32 = sub %10, %11 "
     "store @3[0] = %12",
     "%10:f32 = load @6[0] for_all %9:i64 < 8 { store @7[0] = %9 } %12:f32 = sub %10, %10 store @3[0] = %12"},
    /* A store later in a loop comes before the load in the next turn. */
    {"for_all %9:i64 < 8 { %10:i64 = load @7[0] for %11:i64 = 0 to %1 { %12:i64 = load @7[0] %13:i64 = add %12, %10 "
     "store @7[0] = %13 } store @4[%9] = %10 }",
     NULL},
    /* Conversions to different types, and different hints of loads, are different. */
    {"for_all %9:i64 < 8 { %10:i32 = convert %9 %11:i16 = convert %9 %12:i32 = convert %9 %13:i64 = convert %11 "
     "%14:i64 = convert %10 %15:i64 = convert %12 %16:i64 = add %14, %15 store @4[%13] = %16 }",
     "for_all %9:i64 < 8 { %10:i32 = convert %9 %11:i16 = convert %9 %13:i64 = convert %11 "
     "%14:i64 = convert %10 %16:i64 = add %14, %14 store @4[%13] = %16 }"},
    {"for_all %9:i64 < 8 { %10:f32 = load @1[%9] %11:f32 = load ahead @1[%9] %12:f32 = add %10, %11 store @3[%9] = %12 "
     "}",
     NULL},
    /* Checks, notes, atomics and exchanges between lanes are never the same thing twice. */
    {"for_all %9:i64 < 8 { check 1: %4, %9, %1, %2 check 1: %4, %9, %1, %2 note 2: false, %9, %1, 5 "
     "note 2: false, %9, %1, 5 }",
     NULL},
    {"for_all %9:i64 < 8 { %10:i64 = atomic add @4[0], 1 %11:i64 = atomic add @4[0], 1 store @4[%10] = %11 }", NULL},
    {"for_all %9:i64 < 8 { %10:i64 = count %4 %11:i64 = count %4 %12:i64 = shuffle %9, 1 %13:i64 = shuffle %9, 1 "
     "%14:bool = all %4 %15:bool = all %4 store @4[%10] = %11 store @4[%12] = %13 if %14 { store @4[0] = 1 } "
     "if %15 { store @4[1] = 1 } }",
     NULL},
    /* What belongs to a mix stays as it is. */
    {"for_all %9:i64 < 8 { %10:i64 = var 0 %11:i64 = bitcast %10 %12:i64 = bitcast %10 %13:i64 = add %12, %9 "
     "mix %10 = %13 store @4[%9] = %11 }",
     NULL},
    /* In the code of a chain, too. */
    {"chain @5 before %10:i64 initial 0 aggregate %1 left %11:i64 right %12:i64 { %13:i64 = add %11, %12 "
     "%14:i64 = add %12, %11 %15:i64 = mul %13, %14 } yield %14 store @4[piece] = %10",
     "chain @5 before %10:i64 initial 0 aggregate %1 left %11:i64 right %12:i64 { %13:i64 = add %11, %12 "
     "%15:i64 = mul %13, %13 } yield %13 store @4[piece] = %10"},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_share, cases, ARRAY_LENGTH(cases));
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_share, 600);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
