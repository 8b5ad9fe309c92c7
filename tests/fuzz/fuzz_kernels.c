/* The text form of kernels: whatever parses can be verified, what is well-formed prints and parses back to the same
 * text, and is well-formed after each pass of the optimiser. */
#include "fuzz.h"
#include "kernel/passes.h"
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
    for (unsigned i = 0; i < k_passes_n; i++) {
        k_passes[i].run(k, a);
        bool fine = k_verify(k, a, &why);
        fuzz_promise(fine, why, source);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return fuzz_text(bytes, n, check);
}
