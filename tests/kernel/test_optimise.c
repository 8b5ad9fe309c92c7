/* The optimiser as a whole: random kernels, and what its passes do for each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* A value that is shared with one that was hoisted; a store whose only reader goes. */
    {"for_all %9:i64 < 8 { %10:i64 = mul %1, %2 store @7[0] = %10 for %11:i64 = 0 to %1 { %12:i64 = mul %2, %1 "
     "%13:i64 = load @7[0] %14:i64 = add %12, %11 store @4[%14] = %12 } }",
     "%10:i64 = mul %1, %2 for_all %9:i64 < 8 { for %11:i64 = 0 to %1 { %14:i64 = add %10, %11 "
     "store @4[%14] = %10 } }"},
    /* The second check of an index, which is another value until values are shared. */
    {"for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:bool = lt %10, %1 check 1: %11, %9, %10, %1 %12:f32 = load "
     "@1[%10] "
     "%13:i64 = load @2[%9] %14:bool = lt %13, %1 check 2: %14, %9, %13, %1 %15:f32 = load @1[%13] "
     "%16:f32 = add %12, %15 store @3[%9] = %16 }",
     "for_all %9:i64 < 8 { %10:i64 = load @2[%9] %11:bool = lt %10, %1 check 1: %11, %9, %10, %1 %12:f32 = load "
     "@1[%10] "
     "%16:f32 = add %12, %12 store @3[%9] = %16 }"},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_optimise, cases, ARRAY_LENGTH(cases));
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_optimise, 2000);
}

static void test_list(void **state)
{
    (void)state;
    for (unsigned i = 0; i < k_passes_n; i++) {
        assert_true(k_passes[i].name[0] && k_passes[i].what[0] && k_passes[i].run);
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(k_passes[i].name, k_passes[j].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
