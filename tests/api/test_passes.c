/* The list of passes, and a program after each of them: the list that explain shows is the one that runs. */
#include <sinter/sinter.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernel/passes.h"
#include "support/occurrences.h"

#include <stdio.h>
#include <string.h>

static int open_context(void **state)
{
    *state = sn_open(NULL);
    return *state ? 0 : -1;
}

static int close_context(void **state)
{
    sn_close(*state);
    return 0;
}

static sn_scalar product_and_sum(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(x, y), y);
}

static sn_scalar rounds(sn_scalar x)
{
    return sn_add(sn_mul(x, x), sn_f32(0.5f));
}

/* Ten equal maps, then a product that becomes part of a sum. */
static sn_acc program(sn_acc xs, sn_acc ys)
{
    for (int i = 0; i < 10; i++)
        xs = sn_map(rounds, xs);
    return sn_zip_with(product_and_sum, xs, ys);
}

static sn_program *compiled(sn_context *cx)
{
    sn_program *p = sn_compile(cx, "[n]f32, [n]f32 -> [n]f32", program);
    assert_non_null(p);
    return p;
}

/* The names of the list, in order; returns how many. */
static unsigned names(const char *list, char name[][16], char on[][24], unsigned most)
{
    unsigned n = 0;
    for (const char *at = list; *at && n < most; at = strchr(at, '\n') + 1, n++)
        assert_int_equal(sscanf(at, "%15s %23[a-z ]", name[n], on[n]), 2);
    return n;
}

/* A pass that is not run has no function, and a function that is not listed is not run: both do not compile. What is
 * left to see is that the optimiser's part stands between what makes kernels and what devices want of them. */
static void test_order(void **state)
{
    sn_program *p = compiled(*state);
    const char *list = sn_explain(p, "passes"), *at = list;
    assert_non_null(list);
    static const char *const around[] = {"recover", "places", "row_loops", "contract", "packs", "literals", "cluster", "prepare", "lower"};
    for (size_t i = 0; i < ARRAY_LENGTH(around); i++) {
        assert_non_null(at = strstr(at, around[i]));
    }
    for (unsigned i = 0; i < k_passes_n; i++) {
        assert_non_null(at = strstr(at, k_passes[i].name));
        assert_non_null(strstr(at, k_passes[i].what));
    }
    assert_non_null(at = strstr(at, "split"));
    assert_non_null(at = strstr(at, "math"));
    assert_non_null(strstr(at, "emit"));
    sn_drop(p);
}

/* Every pass of the list can be looked at, in the form it works on. */
static void test_each(void **state)
{
    sn_program *p = compiled(*state);
    char name[40][16], on[40][24], form[800];
    unsigned n = names(sn_explain(p, "passes"), name, on, ARRAY_LENGTH(name));
    bool kernels = sn_explain(p, "kernels");
    assert_true(n > 10);
    for (unsigned i = 0; i < n; i++) {
        snprintf(form, sizeof(form), "after:%s", name[i]);
        const char *said = sn_explain(p, form);
        bool term = !strncmp(on[i], "term", 4), clusters = !strncmp(on[i], "clusters", 8);
        if (!term && !clusters && !kernels) {
            assert_null(said); /* the interpreter */
            continue;
        }
        assert_non_null(said);
        if (term)
            assert_non_null(strstr(said, "signature \"[n]f32, [n]f32 -> [n]f32\"\n"));
        else if (clusters)
            assert_string_equal(said, sn_explain(p, "clusters"));
        else if (!strncmp(on[i], "kernel ", 7) && strncmp(on[i], "kernel to", 9) != 0)
            assert_non_null(strstr(said, "\nkernel "));
    }
    sn_drop(p);
}

/* Terms are shown as they were then, whatever passes made of them later. */
static void test_terms(void **state)
{
    sn_program *p = compiled(*state);
    const char *recover = sn_explain(p, "after:recover"), *contract = sn_explain(p, "after:contract");
    assert_non_null(strstr(recover, "for ("));
    assert_int_equal(occurrences(recover, "fma("), 0);
    assert_int_equal(occurrences(contract, "fma("), 2); /* in the loop, and behind it */
    assert_string_equal(sn_explain(p, "after:literals"), sn_explain(p, "term"));
    sn_program *again = sn_parse_program(*state, recover);
    assert_non_null(again);
    float x[3] = {0.1f, 0.2f, 0.3f}, y[3] = {1, 2, 3}, z[3], w[3];
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_in(y, 3), sn_into(z, 3)), SN_OK);
    assert_int_equal(sn_call(again, sn_in(x, 3), sn_in(y, 3), sn_into(w, 3)), SN_OK);
    assert_memory_equal(z, w, sizeof(z));
    sn_drop(again);
    sn_drop(p);
}

static void test_unknown(void **state)
{
    sn_program *p = compiled(*state);
    assert_null(sn_explain(p, "after:midnight"));
    assert_non_null(strstr(sn_message(*state), "there is no pass \"midnight\"; sn_explain(program, \"passes\")"));
    sn_drop(p);
}

/* docs/text-forms.md shows the list as it is. */
static void test_page(void **state)
{
    static char page[100000];
    sn_program *p = compiled(*state);
    FILE *f = fopen("docs/text-forms.md", "r");
    assert_non_null(f);
    page[fread(page, 1, sizeof(page) - 1, f)] = '\0';
    fclose(f);
    assert_non_null(strstr(page, sn_explain(p, "passes")));
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_page),
                                       cmocka_unit_test(test_each), cmocka_unit_test(test_terms),
                                       cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, open_context, close_context);
}
