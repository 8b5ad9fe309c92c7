/* Sorts random numbers with a radix sort that is written in the language, and with sn_sort: radixsort [N]. */
#include "programs/radixsort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The time of a second call, which compiles nothing, in milliseconds; below 0 after a failure. */
static double timed(sn_context *cx, sn_program *program, const uint32_t *x, uint32_t *sorted, int64_t n)
{
    double begin = 0;
    for (int round = 0; round < 2; round++) {
        begin = now();
        if (sn_call(program, sn_in(x, n), sn_into(sorted, n)) != SN_OK) {
            fprintf(stderr, "%s\n", sn_message(cx));
            return -1;
        }
    }
    return (now() - begin) * 1e3;
}

static int compare(sn_context *cx, int64_t n)
{
    uint32_t *x = malloc(((size_t)n + 1) * sizeof(*x)), state = 1;
    uint32_t *own = malloc(((size_t)n + 1) * sizeof(*x)), *builtin = malloc(((size_t)n + 1) * sizeof(*x));
    sn_program *p = sn_compile(cx, RADIXSORT_SIGNATURE, radixsort);
    sn_program *q = sn_compile(cx, RADIXSORT_SIGNATURE, radixsort_builtin);
    int failed = 1;
    if (!p || !q)
        fprintf(stderr, "%s\n", sn_message(cx));
    else if (!x || !own || !builtin)
        fprintf(stderr, "no memory for %lld numbers\n", (long long)n);
    for (int64_t i = 0; x && i < n; i++)
        x[i] = state = state * 1664525U + 1013904223U;
    if (p && q && x && own && builtin) {
        double first = timed(cx, p, x, own, n), second = timed(cx, q, x, builtin, n);
        bool same = first >= 0 && second >= 0 && memcmp(own, builtin, (size_t)n * sizeof(*x)) == 0;
        if (first >= 0 && second >= 0)
            printf("%lld numbers, %s: %.1f ms by scans and scatters, %.1f ms by sn_sort\n", (long long)n,
                   same ? "sorted alike" : "sorted differently", first, second);
        failed = !same;
    }
    sn_drop(p);
    sn_drop(q);
    free(x);
    free(own);
    free(builtin);
    return failed;
}

int main(int argc, char **argv)
{
    char *end = "";
    int64_t n = argc > 1 ? strtoll(argv[1], &end, 10) : 1000000;
    if (argc > 2 || *end || n < 0) {
        fprintf(stderr, "usage: radixsort [N]\n");
        return 2;
    }
    sn_context *cx = sn_open(NULL);
    int failed = 1;
    if (cx)
        failed = compare(cx, n);
    else
        fprintf(stderr, "no context\n");
    sn_close(cx);
    return failed;
}
