/* Values a million options and shows a few. */
#include "programs/blackscholes.h"

#include "common/clock.h"

#include <stdio.h>
#include <stdlib.h>

static float between(float low, float high)
{
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

int main(void)
{
    enum { N = 1000000 };
    float *memory = malloc(5 * N * sizeof(float));
    if (!memory)
        return 1;
    float *price = memory, *strike = price + N, *years = strike + N, *call = years + N, *put = call + N;
    srand(1);
    for (int i = 0; i < N; i++) {
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
        status = sn_call(program, sn_in(price, N), sn_in(strike, N), sn_in(years, N), sn_into(call, N), sn_into(put, N));
        double time = clock_seconds() - start;
        best = time < best ? time : best;
    }
    if (status == SN_OK) {
        printf("   price   strike    years     call      put\n");
        for (int i = 0; i < 5; i++)
            printf("%8.3f %8.3f %8.3f %8.3f %8.3f\n", (double)price[i], (double)strike[i], (double)years[i], (double)call[i],
                   (double)put[i]);
        printf("%d options in %.2f ms\n", N, best * 1e3);
    } else {
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
    }
    sn_drop(program);
    sn_close(cx);
    free(memory);
    return status != SN_OK;
}
