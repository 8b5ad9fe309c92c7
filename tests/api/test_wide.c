/* Launches whose indices fit in 32 bits and launches whose indices do not, of one program: other kernels on GPUs, the
 * same numbers everywhere. */
#include "both.h"

#include <stdlib.h>

/* x[i] + i n^3, and n^3 lies beyond 32 bits from n = 1291 on */
static sn_scalar far_index(void *env, sn_scalar i, sn_scalar x)
{
    const sn_scalar *n = env;
    return sn_add(x, sn_mul(i, sn_mul(*n, sn_mul(*n, *n))));
}

static sn_acc far_map(sn_acc x)
{
    sn_scalar n = sn_size(x);
    return sn_imap(sn_closure(far_index, &n), x);
}

static void indices_of_any_width(void **state)
{
    enum { MOST = 4000 };
    static const int64_t size[] = {5, 1290, 1291, MOST, 7, MOST, 100};
    static int64_t x[MOST], y[MOST];
    (void)state;
    sn_context *cx = sn_open(NULL);
    assert_non_null(cx);
    sn_program *p = sn_compile(cx, "[n]i64 -> [n]i64", far_map);
    if (!p)
        fail_msg("%s", sn_message(cx));
    for (size_t s = 0; s < sizeof(size) / sizeof(*size); s++) {
        int64_t n = size[s];
        for (int64_t i = 0; i < n; i++)
            x[i] = 3 * i - n;
        if (sn_call(p, sn_in(x, n), sn_into(y, n)) != SN_OK)
            fail_msg("%s", sn_message(cx));
        for (int64_t i = 0; i < n; i++)
            if (y[i] != x[i] + i * n * n * n)
                fail_msg("n = %ld: element %ld", (long)n, (long)i);
    }
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(indices_of_any_width)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
