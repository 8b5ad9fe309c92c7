/* What OpenCL C and CUDA C++ say of kernels where results on most devices do not tell: barriers and fences that slow or
 * weakly ordered devices alone need, and extensions that are asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "emit/emit.h"
#include "emit/text/dialect.h"
#include "kernel/kernel.h"
#include "kernel/passes.h"
#include "support/occurrences.h"

static const dialect *const dialects[] = {&dialect_opencl, &dialect_cuda};

static const char *emitted(const dialect *d, const char *source, arena *a)
{
    const char *why = "";
    text t;
    kernel *k = k_parse(a, source, &why);
    if (!k || !k_verify(k, a, &why))
        fail_msg("%s\n%s", why, source);
    k_analyse(k);
    k_layout(k, 128);
    text_init(&t, a);
    if (!emit_text(k, d, "test", &t, &why))
        fail_msg("%s", why);
    return t.at;
}

static void doubles_are_asked_for_where_only_values_are_some(void **state)
{
    static const char *const
        with = "kernel k lanes 8 { global @1:f32 global @2:f32 written for_all %1:i64 < 8 { %2:f32 = load @1[%1] "
               "%3:f64 = convert %2 %4:f64 = mul %3, %3 %5:f32 = convert %4 store @2[%1] = %5 } }",
        *const without = "kernel k lanes 8 { global @1:f32 global @2:f32 written for_all %1:i64 < 8 { "
                         "%2:f32 = load @1[%1] %3:f32 = mul %2, %2 store @2[%1] = %3 } }";
    (void)state;
    arena a;
    arena_init(&a, NULL);
    assert_non_null(strstr(emitted(&dialect_opencl, with, &a), dialect_opencl.prelude_f64));
    assert_null(strstr(emitted(&dialect_opencl, without, &a), dialect_opencl.prelude_f64));
    arena_free(&a);
}

/* A piece's words are seen by others before it says that they are there. */
static void chains_fence_what_they_hand_on(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LENGTH(dialects); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *said =
            emitted(dialects[i],
                    "kernel k lanes 8 { global @1:i64 global @2:i64 written global @3:u64 written arg %1:i64 "
                    "%2:i64 = load @1[%1] chain @3 before %3:i64 initial 0 aggregate %2 left %4:i64 right %5:i64 { "
                    "%6:i64 = add %4, %5 } yield %6 store @2[%1] = %3 }",
                    &a);
        const char *told = strstr(said, dialects[i]->atomic[ATOMIC_EXCHANGE][0]), *fence = NULL, *word = NULL;
        for (const char *at = strstr(said, dialects[i]->fence); at && at < told;
             at = strstr(at + 1, dialects[i]->fence))
            fence = at;
        for (const char *at = strstr(said, "*(volatile "); at && at < told; at = strstr(at + 1, "*(volatile "))
            word = at;
        assert_non_null(told);
        assert_non_null(word);
        assert_true(fence > word);
        arena_free(&a);
    }
}

/* What all have read is overwritten by one of them after a barrier, whatever is stored elsewhere in between. */
static void stores_wait_for_reads(void **state)
{
    static const char before[] = "kernel k lanes 8 threads 8 { global @1:i64 global @2:i64 written shared @3:i64[4] "
                                 "arg %1:i64 store @3[0] = %1 %2:i64 = load @3[0] ";
    (void)state;
    for (unsigned i = 0; i < ARRAY_LENGTH(dialects); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *elsewhere = arena_printf(&a, "%s store @2[0] = %%2 store @3[0] = %%2 }", before),
                   *none = arena_printf(&a, "%s store @2[0] = %%2 }", before);
        const unsigned more = occurrences(emitted(dialects[i], elsewhere, &a), dialects[i]->barrier),
                       fewer = occurrences(emitted(dialects[i], none, &a), dialects[i]->barrier);
        assert_int_equal(fewer, 2); /* between the store and the load, and before the next piece's store */
        assert_int_equal(more, 3);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_asked_for_where_only_values_are_some),
        cmocka_unit_test(chains_fence_what_they_hand_on),
        cmocka_unit_test(stores_wait_for_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
