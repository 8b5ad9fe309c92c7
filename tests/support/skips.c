/* Programs of which a test was skipped say so to CTest, by their exit status: cmocka ends with 0 whether tests passed
 * or were skipped, and with the number of those that failed, which could be any. Linked into every test, in between
 * (--wrap). SINTER_TEST_ONLY names the one test of a program that is run; `*` in it stands for anything. With
 * SINTER_TEST_LIST their names are printed, and none is run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SKIPPED = 77 }; /* SKIP_RETURN_CODE in tests/CMakeLists.txt */

static int skips;

void __real__skip(const char *file, const int line);
void __wrap__skip(const char *file, const int line);
int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, const size_t n,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, const size_t n,
                                   CMFixtureFunction setup, CMFixtureFunction teardown);

void __wrap__skip(const char *file, const int line)
{
    skips++;
    __real__skip(file, line);
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, const size_t n,
                                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
    if (getenv("SINTER_TEST_LIST")) {
        for (size_t i = 0; i < n; i++)
            printf("test: %s\n", tests[i].name);
        return 0;
    }
    const char *only = getenv("SINTER_TEST_ONLY");
    if (only)
        cmocka_set_test_filter(only);
    int failed = __real__cmocka_run_group_tests(name, tests, n, setup, teardown);
    return failed ? 1 : skips ? SKIPPED : 0;
}
