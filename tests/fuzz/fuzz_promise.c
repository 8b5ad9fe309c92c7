/* A broken promise ends the program: that is how a fuzzer sees it. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_promise(bool kept, const char *what, const char *source)
{
    if (kept)
        return;
    fprintf(stderr, "broken: %s%s%s\n", what, source ? ", of:\n" : "", source ? source : "");
    abort();
}
