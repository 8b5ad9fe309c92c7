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
