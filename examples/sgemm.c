/* A function of somebody else's within a program: BLAS's sgemm, between loops that Sinter makes. Where there is no
 * BLAS, or the program runs on another device, the fallback computes the same. */
#include <sinter/sinter.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef HAS_CBLAS
#include <cblas.h>
#endif

static sn_status sgemm(void *env, sn_foreign_call *call)
{
    const sn_foreign_array *x = &call->input[0], *y = &call->input[1], *z = &call->output[0];
    ++*(int *)env;
#ifdef HAS_CBLAS
    const int64_t n = x->extent[0], k = x->extent[1], m = y->extent[1], most = 1 << 30;
    if (!n || !k || !m || n > most || k > most || m > most)
        return SN_UNSUPPORTED; /* the fallback does it */
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)m, (int)k, 1, x->data, (int)k, y->data, (int)m,
                0, z->data, (int)m);
    return SN_OK;
#else
    (void)x, (void)y, (void)z;
    return SN_UNSUPPORTED;
#endif
}

static sn_acc product(sn_acc a, sn_acc b)
{
    sn_scalar n = sn_extent(a, 0), m = sn_extent(b, 1);
    return sn_sum(
        sn_zip_with(sn_mul, sn_replicate(a, SN_ALL, m, SN_ALL), sn_replicate(sn_transpose(b), n, SN_ALL, SN_ALL)));
}

static sn_scalar activated(sn_scalar x)
{
    return sn_max(x, 0);
}

static int called;
static const sn_foreign_code blas = {.size = sizeof(blas), .name = "sgemm", .env = &called, .cpu = sgemm};

/* A layer of a network, and how large its values are. */
static sn_acc layer(sn_acc a, sn_acc b)
{
    sn_acc values = sn_map(activated, sn_foreign(&blas, product, a, b));
    return sn_results(values, sn_maximum(sn_flatten(values)));
}

static sn_acc plain_layer(sn_acc a, sn_acc b)
{
    sn_acc values = sn_map(activated, product(a, b));
    return sn_results(values, sn_maximum(sn_flatten(values)));
}

int main(int argc, char **argv)
{
    const int64_t n = 300, k = 200, m = 100;
    if (argc > 1) {
        fprintf(stderr, "usage: sgemm; \"%s\" is one argument too many\n", argv[1]);
        return 2;
    }
    sn_context *cx = sn_open(NULL);
    const char *signature = "[n,k]f32, [k,m]f32 -> [n,m]f32, f32";
    sn_program *with = cx ? sn_compile(cx, signature, layer) : NULL,
               *without = cx ? sn_compile(cx, signature, plain_layer) : NULL;
    if (!with || !without) {
        fprintf(stderr, "%s\n", cx ? sn_message(cx) : "there is no device");
        return 1;
    }
    float *a = malloc((size_t)(n * k) * sizeof *a), *b = malloc((size_t)(k * m) * sizeof *b);
    float *z = malloc((size_t)(n * m) * sizeof *z), *y = malloc((size_t)(n * m) * sizeof *y), most = 0, other = 0,
          differ = 0;
    for (int64_t i = 0; a && i < n * k; i++)
        a[i] = sinf((float)i);
    for (int64_t i = 0; b && i < k * m; i++)
        b[i] = cosf((float)i);
    if (!a || !b || !z || !y ||
        sn_call(with, sn_in(a, n, k), sn_in(b, k, m), sn_into(z, n, m), sn_value(&most)) != SN_OK ||
        sn_call(without, sn_in(a, n, k), sn_in(b, k, m), sn_into(y, n, m), sn_value(&other)) != SN_OK) {
        fprintf(stderr, "%s\n", sn_message(cx));
        return 1;
    }
    for (int64_t i = 0; i < n * m; i++)
        differ = fmaxf(differ, fabsf(z[i] - y[i]));
    printf("%lld x %lld values up to %g, by %s; without it they differ by at most %.1e\n", (long long)n, (long long)m,
           (double)most, called ? "a foreign function" : "the fallback", (double)differ);
    free(a);
    free(b);
    free(z);
    free(y);
    sn_drop(with);
    sn_drop(without);
    sn_close(cx);
    return 0;
}
