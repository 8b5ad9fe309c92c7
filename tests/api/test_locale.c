/* A program that uses the library may have set a locale that writes 0,5: no text of ours changes, nor how it is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "sinter/sinter.h"
#include "support/random_kernel.h"
#include "support/random_program.h"

enum { CASES = 30 };

/* A locale with a comma: one that is installed, or one that is made of what the C library's package has. */
static bool set_comma(void)
{
    const char *folder = getenv("SINTER_TEST_DIR");
    char path[1024], command[4096], half[16];
    bool set = setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8");
    if (!set) {
        snprintf(path, sizeof(path), "%s/locales", folder ? folder : "/tmp");
        snprintf(command, sizeof(command),
                 "mkdir -p '%s' && localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", path, path);
        setenv("LOCPATH", path, 1);
        set = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
    }
    snprintf(half, sizeof(half), "%.1f", 0.5);
    return set && !strcmp(half, "0,5"); /* else nothing here would be tested */
}

static const double numbers[] = {0.5, -1.25, 0.1, 3, -0.0, 1e300, 5e-324, 123456.789, 1e16, 1.0 / 3};

/* Everything that writes numbers, one after the other. */
static char *write_all(arena *a)
{
    text t;
    text_init(&t, a);
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
        text_f64(&t, numbers[i]);
        text_add(&t, " ");
        text_f32(&t, (float)numbers[i]);
        text_add(&t, " ");
        text_shortest(&t, numbers[i], false, 1);
        text_add(&t, "\n");
    }
    for (uint32_t seed = 0; seed < CASES; seed++) {
        const char *why = NULL;
        kernel *k = random_kernel(a, seed, 8, false);
        k_print(k, &t);
        k_analyse(k);
        k_layout(k, 64);
        emit_text(k, &dialect_opencl, "entry", &t, &why);
        random_options o = random_everything();
        o.math = true;
        ir_print(random_program(a, &o, seed).program, &t);
    }
    return t.at;
}

static void texts_stay_as_they_are(void **state)
{
    arena *a = *state;
    setlocale(LC_ALL, "C");
    const char *wanted = write_all(a);
    assert_non_null(strstr(wanted, "0.1"));
    if (!set_comma()) {
        print_message("there is no locale with a comma, and localedef cannot make one\n");
        skip();
    }
    const char *found = write_all(a);
    if (strcmp(found, wanted)) {
        size_t at = 0;
        while (found[at] == wanted[at])
            at++;
        fail_msg("\"%.40s\", not \"%.40s\"", found + (at > 20 ? at - 20 : 0), wanted + (at > 20 ? at - 20 : 0));
    }
}

static void what_was_written_is_read(void **state)
{
    arena *a = *state;
    if (!set_comma())
        skip();
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) {
        text t;
        text_init(&t, a);
        text_f64(&t, numbers[i]);
        double v = text_read_f64(t.at, NULL);
        assert_memory_equal(&v, &numbers[i], sizeof(v));
        text_init(&t, a);
        text_shortest(&t, (double)(float)numbers[i], true, 1);
        float f = text_read_f32(t.at, NULL), wanted = (float)numbers[i];
        assert_memory_equal(&f, &wanted, sizeof(f));
    }
    char *end;
    assert_true(text_read_f64("1.5,5", &end) == 1.5 && *end == ',');
    for (uint32_t seed = 0; seed < CASES; seed++) {
        const char *message = NULL;
        text first, second;
        text_init(&first, a);
        k_print(random_kernel(a, seed, 8, false), &first);
        kernel *k = k_parse(a, first.at, &message);
        if (!k)
            fail_msg("%s", message);
        text_init(&second, a);
        k_print(k, &second);
        assert_string_equal(first.at, second.at);
        random_options o = random_everything();
        text_init(&first, a);
        ir_print(random_program(a, &o, seed).program, &first);
        ir_program *p = ir_parse(a, first.at, &message);
        if (!p)
            fail_msg("%s", message);
        text_init(&second, a);
        ir_print(p, &second);
        assert_string_equal(first.at, second.at);
    }
}

static sn_scalar tenth(sn_scalar x)
{
    return sn_mul(x, 0.1);
}

static sn_acc tenths(sn_acc x)
{
    return sn_map(tenth, x);
}

static void messages_have_points(void **state)
{
    (void)state;
    if (!set_comma())
        skip();
    sn_context *cx = sn_open(NULL);
    assert_null(sn_compile(cx, "[n]f32 -> [n]f32", tenths)); /* 0.1 is no f32 */
    if (!strstr(sn_message(cx), "0.1") || strstr(sn_message(cx), "0,1"))
        fail_msg("%s", sn_message(cx));
    double x[] = {5, 15}, y[2];
    sn_program *p = sn_compile(cx, "[n]f64 -> [n]f64", tenths);
    assert_int_equal(sn_call(p, sn_in(x, 2), sn_into(y, 2)), SN_OK);
    assert_true(y[0] == 5 * 0.1 && y[1] == 15 * 0.1);
    assert_non_null(strstr(sn_explain(p, "term"), "0.1"));
    sn_drop(p);
    sn_close(cx);
}

static int new_arena(void **state)
{
    static arena a;
    arena_init(&a, NULL);
    *state = &a;
    return 0;
}

static int free_arena(void **state)
{
    arena_free(*state);
    setlocale(LC_ALL, "C");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_stay_as_they_are, new_arena, free_arena),
        cmocka_unit_test_setup_teardown(what_was_written_is_read, new_arena, free_arena),
        cmocka_unit_test_setup_teardown(messages_have_points, new_arena, free_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
