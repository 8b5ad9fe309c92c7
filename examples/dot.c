/* The dot product: two operations, one loop. */
#include <sinter/sinter.h>

#include <stdio.h>
#include <stdlib.h>

static sn_acc dotp(sn_acc xs, sn_acc ys)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, xs, ys));
}

int main(int argc, char **argv)
{
    enum { N = 1000000 };
    if (argc > 1) {
        fprintf(stderr, "usage: dot; \"%s\" is one argument too many\n", argv[1]);
        return 2;
    }
    float *a = malloc(N * sizeof(float)), *b = malloc(N * sizeof(float)), r = 0;
    if (!a || !b)
        return 1;
    for (int i = 0; i < N; i++) {
        a[i] = (float)(i % 10);
        b[i] = 2;
    }
    sn_context *cx = sn_open(NULL);
    sn_program *dot = cx ? sn_compile(cx, "[n]f32, [n]f32 -> f32", dotp) : NULL;
    sn_status status = dot ? sn_call(dot, sn_in(a, N), sn_in(b, N), sn_value(&r)) : SN_NO_PROGRAM;
    if (status == SN_OK)
        printf("%.1f\n%s", (double)r, sn_explain(dot, NULL));
    else
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "no device");
    sn_drop(dot);
    sn_close(cx);
    free(a);
    free(b);
    return status != SN_OK;
}
