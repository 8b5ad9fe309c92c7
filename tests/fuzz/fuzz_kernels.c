/* The text form of kernels: whatever parses can be verified, and what is well-formed prints and parses back to the same
 * text. */
#include "fuzz.h"
#include "support/random_kernel.h"

const char *fuzz_seed(arena *a, uint32_t number, size_t *n)
{
    text t;
    text_init(&t, a);
    k_print(random_kernel(a, number, (uint16_t)(16u << number % 3), number % 2), &t);
    *n = t.n;
    return t.at;
}

static void check(arena *a, const char *source)
{
    const char *message = NULL, *why = NULL;
    kernel *k = k_parse(a, source, &message);
    fuzz_promise(k || (message && *message), "an error has a message", source);
    if (!k)
        return;
    bool good = k_verify(k, a, &why);
    fuzz_promise(good || (why && *why), "a kernel that is not well-formed has a reason", source);
    if (!good)
        return;
    text first, second;
    text_init(&first, a);
    text_init(&second, a);
    k_print(k, &first);
    kernel *again = k_parse(a, first.at, &message);
    fuzz_promise(again != NULL, message, first.at);
    k_print(again, &second);
    fuzz_promise(!strcmp(first.at, second.at), "what is printed parses to the same", source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return fuzz_text(bytes, n, check);
}
