/* What fuzzed functions share, whoever runs them. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *fuzz_folder(void)
{
    static char own[512] = ".";
    const char *given = getenv("SINTER_TEST_DIR");
    if (given && *given)
        return given;
    ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
    while (n > 1 && own[n - 1] != '/')
        n--;
    if (n > 1)
        own[n - 1] = 0;
    return own;
}

void fuzz_promise(bool kept, const char *what, const char *source)
{
    if (kept)
        return;
    fprintf(stderr, "broken: %s%s%s\n", what, source ? ", of:\n" : "", source ? source : "");
    abort();
}

int fuzz_text(const uint8_t *bytes, size_t n, void (*check)(arena *a, const char *source))
{
    arena a;
    if (n > FUZZ_LONGEST)
        return 0;
    arena_init(&a, NULL);
    char *source = arena_alloc(&a, n + 1);
    if (n)
        memcpy(source, bytes, n);
    check(&a, source);
    arena_free(&a);
    return 0;
}

static void drop_message(void *env, const char *said)
{
    (void)env, (void)said;
}

sn_context *fuzz_context(void)
{
    const sn_options o = {.size = sizeof(o), .device = "interpreter", .message = drop_message};
    sn_context *cx = sn_open(&o);
    fuzz_promise(cx != NULL, "a context opens", NULL);
    return cx;
}
