/* A broken promise ends the program: that is how a fuzzer sees it. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_promise(bool kept, const char *what, const char *source)
{
    if (kept)
        return;
    fprintf(stderr, "%s, of:\n%s\n", what, source);
    abort();
}
