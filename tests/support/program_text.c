#include "support/program_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

const char *print(arena *a, const ir_program *p)
{
    text t;
    text_init(&t, a);
    ir_print(p, &t);
    return t.at;
}

ir_program *parse(arena *a, const char *source)
{
    const char *message = NULL, *why = NULL;
    ir_program *p = ir_parse(a, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    if (!ir_check_program(p, a, &why))
        fail_msg("%s\n%s", why, source);
    return p;
}

void becomes(void (*pass)(ir_program *p), const char *from, const char *wanted)
{
    arena a;
    const char *why = NULL;
    arena_init(&a, NULL);
    ir_program *p = parse(&a, from);
    pass(p);
    if (!ir_check_program(p, &a, &why))
        fail_msg("%s\n%s", why, print(&a, p));
    assert_string_equal(print(&a, p), wanted);
    pass(p); /* there is nothing left to do */
    assert_string_equal(print(&a, p), wanted);
    arena_free(&a);
}

void stay(void (*pass)(ir_program *p), uint32_t n, const char *const *source)
{
    for (uint32_t k = 0; k < n; k++) {
        arena a;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, source[k]);
        const char *before = print(&a, p);
        pass(p);
        assert_string_equal(print(&a, p), before);
        arena_free(&a);
    }
}
