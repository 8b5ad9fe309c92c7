/* Values options, a million if not said otherwise, and shows a few. */
#include "programs/blackscholes.h"

#include "common/arguments.h"
#include "common/clock.h"

#include <stdio.h>
#include <stdlib.h>

static float between(float low, float high)
{
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

int main(int argc, char **argv)
{
    long n = 1000000;
    if (argc > 2 || (argc > 1 && !argument_whole(argv[1], "options", 1, 100000000, &n))) {
        fprintf(stderr, "usage: blackscholes [options]\n");
        return 2;
    }
    float *memory = malloc(5 * (size_t)n * sizeof(float));
    if (!memory) {
        fprintf(stderr, "no memory for %ld options\n", n);
        return 1;
    }
    float *price = memory, *strike = price + n, *years = strike + n, *call = years + n, *put = call + n;
    srand(1);
    for (long i = 0; i < n; i++) {
        price[i] = between(5, 30);
        strike[i] = between(1, 100);
        years[i] = between(0.25f, 10);
    }
    sn_context *cx = sn_open(NULL);
    sn_program *program = cx ? sn_compile(cx, BLACKSCHOLES_SIGNATURE, blackscholes) : NULL;
    sn_status status = program ? SN_OK : SN_NO_PROGRAM;
    double best = 1e9;
    for (int round = 0; round < 5 && status == SN_OK; round++) {
        double start = clock_seconds();
        status =
            sn_call(program, sn_in(price, n), sn_in(strike, n), sn_in(years, n), sn_into(call, n), sn_into(put, n));
        double time = clock_seconds() - start;
        best = time < best ? time : best;
    }
    if (status == SN_OK) {
        printf("   price   strike    years     call      put\n");
        for (int i = 0; i < 5 && i < n; i++)
            printf("%8.3f %8.3f %8.3f %8.3f %8.3f\n", (double)price[i], (double)strike[i], (double)years[i], (double)call[i],
                   (double)put[i]);
        printf("%ld options in %.2f ms\n", n, best * 1e3);
    } else {
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
    }
    sn_drop(program);
    sn_close(cx);
    free(memory);
    return status != SN_OK;
}
