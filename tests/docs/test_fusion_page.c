/* docs/fusion.md explains every answer that explain gives about an edge, in the words that it uses. */
#include "loop/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

static char *read_page(void)
{
    FILE *f = fopen("docs/fusion.md", "rb");
    assert_non_null(f);
    char *page = calloc(1, 1 << 16);
    assert_non_null(page);
    size_t n = fread(page, 1, (1 << 16) - 1, f);
    assert_true(n > 0 && n < (1 << 16) - 1);
    fclose(f);
    return page;
}

static void test_every_reason(void **state)
{
    (void)state;
    char *page = read_page(), quoted[256];
    for (int why = L_FUSED_DELAYED; why <= L_NOT_ENABLED; why++) {
        snprintf(quoted, sizeof(quoted), "| %s |", l_why_text((l_why)why));
        if (!strstr(page, quoted))
            fail_msg("docs/fusion.md has no row \"%s\"", quoted);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_reason)};
    return cmocka_run_group_tests_name("fusion page", tests, NULL, NULL);
}
