/* sn_format and sn_print: what is written and how much of it, of arrays that came from a call too. How elements look is
 * compared with NumPy in exchange_numpy.py. */
#include <sinter/sinter.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static sn_acc doubled(sn_acc xs)
{
    return sn_zip_with(sn_add, xs, xs);
}

static void test_format(void **state)
{
    (void)state;
    sn_context *cx = sn_open(NULL);
    const float x[] = {1, 2.5f, -3};
    sn_array *a = sn_upload(cx, sn_in(x, 3));
    char to[32];
    const char *whole = "[ 1.   2.5 -3. ]";
    assert_int_equal(sn_format(a, to, sizeof(to)), (int)strlen(whole));
    assert_string_equal(to, whole);
    assert_int_equal(sn_format(a, NULL, 0), (int)strlen(whole)); /* how much room it needs */
    assert_int_equal(sn_format(a, to, 6), (int)strlen(whole));
    assert_string_equal(to, "[ 1. ");
    assert_int_equal(sn_format(a, to, 1), (int)strlen(whole));
    assert_string_equal(to, "");
    assert_int_equal(sn_format(a, NULL, 3), -1);
    assert_non_null(strstr(sn_message(cx), "test_print.c:"));
    assert_non_null(strstr(sn_message(cx), ": sn_format: there is no memory for 3 bytes"));
    assert_int_equal(sn_format(NULL, to, sizeof(to)), -1);
    assert_int_equal(sn_print(NULL), SN_BAD_ARGUMENT);
    assert_int_equal(sn_print(a), SN_OK);
    sn_free(a);
    sn_close(cx);
}

/* Results that stay on the device, large enough to be shortened: only the edges come back. */
static void test_of_a_call(void **state)
{
    (void)state;
    enum { ROWS = 50, COLUMNS = 3000 };
    static int32_t x[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = i;
    sn_context *cx = sn_open(NULL);
    sn_program *p = sn_compile(cx, "[n,m]i32 -> [n,m]i32", doubled);
    sn_array *a = NULL;
    assert_int_equal(sn_call(p, sn_in(x, ROWS, COLUMNS), sn_keep(&a)), SN_OK);
    char to[512];
    uint64_t copied = sn_counts(cx).copied_bytes;
    assert_true(sn_format(a, to, sizeof(to)) > 0);
    assert_int_equal(sn_counts(cx).copied_bytes, copied);
    assert_string_equal(to, "[[     0      2      4 ...   5994   5996   5998]\n"
                            " [  6000   6002   6004 ...  11994  11996  11998]\n"
                            " [ 12000  12002  12004 ...  17994  17996  17998]\n"
                            " ...\n"
                            " [282000 282002 282004 ... 287994 287996 287998]\n"
                            " [288000 288002 288004 ... 293994 293996 293998]\n"
                            " [294000 294002 294004 ... 299994 299996 299998]]");
    sn_free(a);
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_format), cmocka_unit_test(test_of_a_call)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
