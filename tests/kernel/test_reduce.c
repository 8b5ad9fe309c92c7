/* Strength reduction: which divisions go along with their loop, and which have to divide. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/launch.h"
#include "kernel/passes_text.h"

static const pass_case cases[] = {
    /* A remainder, and a quotient with it; rounded this way or that. */
    {"for %9:i64 = 0 to %1 { %10:i64 = rem %9, 7 store @4[%9] = %10 }",
     "%20:i64 = rem 0, 7 %21:i64 = var %20 for %9:i64 = 0 to %1 { %10:i64 = bitcast %21 store @4[%9] = %10 "
     "%22:i64 = add %21, 1 %23:bool = eq %22, 7 %24:i64 = select %23, 0, %22 set %21 = %24 }"},
    {"%8:i64 = max %2, 1 for %9:i64 = 3 to %1 { %10:i64 = div %9, %8 %11:i64 = mod %9, %8 store @4[%10] = %11 }",
     "%8:i64 = max %2, 1 %20:i64 = rem 3, %8 %21:i64 = var %20 %30:i64 = quot 3, %8 %31:i64 = var %30 "
     "for %9:i64 = 3 to %1 { %10:i64 = bitcast %31 %11:i64 = bitcast %21 store @4[%10] = %11 "
     "%22:i64 = add %21, 1 %23:bool = eq %22, %8 %24:i64 = select %23, 0, %22 set %21 = %24 "
     "%32:i64 = bitcast %31 %33:i64 = add %32, 1 %34:i64 = select %23, %33, %32 set %31 = %34 }"},
    /* The divisor may be 0, or negative; the index may be negative; the dividend may be something else. */
    {"for %9:i64 = 0 to %1 { %10:i64 = rem %9, %2 store @4[%9] = %10 }", NULL},
    {"for %9:i64 = %2 to %1 { %10:i64 = rem %9, 7 store @4[%9] = %10 }", NULL},
    {"for %9:i64 = 0 to %1 { %10:i64 = add %9, %2 %11:i64 = rem %10, 7 store @4[%9] = %11 }", NULL},
    /* The divisor changes in the loop. */
    {"for %9:i64 = 0 to %1 { %8:i64 = bit_and %9, 7 %7:i64 = max %8, 1 %10:i64 = rem %9, %7 store @4[%9] = %10 }",
     NULL},
    /* Behind a condition not every index comes by. */
    {"for_all %9:i64 < 8 { for %10:i64 = 0 to %1 { if %4 { %11:i64 = rem %10, 7 store @4[%9] = %11 } } }", NULL},
    /* In a loop over threads, in every turn of the loop that counts; and behind a condition there. */
    {"for %9:i64 = 0 to %1 { for_all %11:i64 < 8 { %10:i64 = rem %9, 7 store @4[%11] = %10 } }",
     "%20:i64 = rem 0, 7 %21:i64 = var %20 for %9:i64 = 0 to %1 { %12:i64 = bitcast %21 for_all %11:i64 < 8 { "
     "%10:i64 = bitcast %12 store @4[%11] = %10 } "
     "%22:i64 = add %21, 1 %23:bool = eq %22, 7 %24:i64 = select %23, 0, %22 set %21 = %24 }"},
    {"for %9:i64 = 0 to %1 { for_all %11:i64 < 8 { if %4 { %10:i64 = rem %9, 7 store @4[%11] = %10 } } }", NULL},
    /* The divisor is computed in a loop in it. */
    {"for %9:i64 = 0 to %1 { for_all %11:i64 < 8 { %8:i64 = max %11, 1 %10:i64 = rem %9, %8 store @4[%11] = %10 } }",
     NULL},
    /* The index of a loop around this one does not go along with it; that of threads has no turns. */
    {"for_all %9:i64 < 8 { %10:i64 = rem %9, 7 for %11:i64 = 0 to 3 unroll { %12:i64 = rem %11, 2 %13:i64 = rem %9, 2 "
     "store @4[%12] = %13 } store @4[%9] = %10 }",
     NULL},
};

static void test_cases(void **state)
{
    (void)state;
    pass_cases(k_reduce, cases, ARRAY_LENGTH(cases));
}

static void test_random(void **state)
{
    (void)state;
    pass_random(k_reduce, 600);
}

/* Against the interpreter: from every first index, by every divisor, with checks that take threads away. */
static void test_counts(void **state)
{
    (void)state;
    for (int64_t first = 0; first < 9; first++)
        for (int64_t by = 1; by < 8; by++) {
            arena a;
            arena_init(&a, NULL);
            const char *message = "";
            kernel *k = k_parse(&a,
                                arena_printf(&a,
                                             "kernel k lanes 4 { global @1:i64 written for_all %%1:i64 < 4 { "
                                             "for %%2:i64 = %d to 20 { %%3:i64 = rem %%2, %d %%4:i64 = quot %%2, %d "
                                             "%%5:bool = lt %%3, 6 check 1: %%5, %%2, %%3, 6 %%6:i64 = mul %%4, 100 "
                                             "%%7:i64 = add %%6, %%3 %%8:i64 = mul %%2, 4 %%9:i64 = add %%8, %%1 "
                                             "store @1[%%9] = %%7 } } }",
                                             (int)first, (int)by, (int)by),
                                &message);
            assert_non_null(k);
            kernel *changed = k_clone(k, &a);
            k_reduce(changed, &a);
            int64_t x[80] = {0}, y[80] = {0};
            void *in[] = {x}, *out[] = {y};
            k_error e = {0}, f = {0};
            assert_int_equal(k_interpret(k, &a, in, NULL, 0, 1, &e), k_interpret(changed, &a, out, NULL, 0, 1, &f));
            assert_memory_equal(x, y, sizeof(x));
            assert_memory_equal(&e, &f, sizeof(e));
            assert_true(e.site == (by == 7));
            arena_free(&a);
        }
}

/* A divisor that may be 0, but not negative, in a loop over threads: it is divided where there is a quotient. */
static void test_natural(void **state)
{
    (void)state;
    static const char source[] =
        "kernel k lanes 4 { global @1:i64 written arg %8:i64 natural for %2:i64 = 0 to 20 { for_all %1:i64 < 4 { "
        "%9:bool = ne %8, 0 check 1: %9, %2, %8, 6 %3:i64 = mod %2, %8 %4:i64 = div %2, %8 %6:i64 = mul %4, 100 "
        "%7:i64 = add %6, %3 %5:i64 = mul %2, 4 %10:i64 = add %5, %1 store @1[%10] = %7 } } }";
    for (ir_bits by = 0; by < 9; by++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = "";
        kernel *k = k_parse(&a, source, &message);
        assert_non_null(k);
        assert_true(k_verify(k, &a, &message));
        kernel *changed = k_clone(k, &a);
        uint32_t before = changed->stmt.n;
        k_reduce(changed, &a);
        assert_true(changed->stmt.n > before);
        assert_true(k_verify(changed, &a, &message));
        int64_t x[80] = {0}, y[80] = {0};
        void *in[] = {x}, *out[] = {y};
        k_error e = {0}, f = {0};
        assert_int_equal(k_interpret(k, &a, in, &by, 0, 1, &e), k_interpret(changed, &a, out, &by, 0, 1, &f));
        assert_memory_equal(x, y, sizeof(x));
        assert_memory_equal(&e, &f, sizeof(e));
        assert_true((e.site == 1) == (by == 0));
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_counts), cmocka_unit_test(test_natural)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
