/* Sums and other folds of rows, written as loops in scalar code: they are what sn_fold gives, bit for bit, whatever the
 * options are; loops that are none keep their order. */
#include "both.h"

#include <math.h>
#include <string.h>

typedef struct rows {
    sn_acc x, y;
    sn_scalar i;
} rows;

static sn_scalar add_product(void *env, sn_scalar k, sn_scalar sum)
{
    const rows *r = env;
    return sn_add(sum, sn_mul(sn_index(r->x, r->i, k), sn_index(r->y, k)));
}

static sn_scalar larger(void *env, sn_scalar k, sn_scalar most)
{
    const rows *r = env;
    return sn_max(sn_index(r->x, r->i, k), most);
}

static sn_scalar products(void *env, sn_scalar i)
{
    rows r = *(const rows *)env;
    r.i = i;
    return sn_loop(sn_extent(r.x, 1), sn_closure(add_product, &r), 3);
}

static sn_scalar spread(void *env, sn_scalar i)
{
    rows r = *(const rows *)env;
    r.i = i;
    sn_scalar most = sn_loop(sn_extent(r.x, 1), sn_closure(larger, &r), sn_linear_index(r.y, 0));
    return sn_mul(most, sn_sfold(sn_add, 0, r.x, i));
}

static sn_acc loops(sn_acc x, sn_acc y)
{
    rows r = {.x = x, .y = y};
    return sn_results(sn_generate(sn_extent(x, 0), sn_closure(products, &r)),
                      sn_generate(sn_extent(x, 0), sn_closure(spread, &r)));
}

static sn_scalar scaled(void *env, sn_scalar most, sn_scalar sum)
{
    return sn_mul(sn_max(most, sn_linear_index(((const rows *)env)->y, 0)), sum);
}

static sn_acc folds(sn_acc x, sn_acc y)
{
    rows r = {.x = x, .y = y};
    sn_acc rows_of_y = sn_replicate(y, sn_extent(x, 0), SN_ALL);
    return sn_results(sn_fold(sn_add, 3, sn_zip_with(sn_mul, x, rows_of_y)),
                      sn_zip_with(sn_closure(scaled, &r), sn_maximum(x), sn_fold(sn_add, 0, x)));
}

static void devices_agree(void **state)
{
    (void)state;
    both("[n,m]T, [m]T -> [n]T, [n]T", loops, "i32 i64 u32 u64 f32 f64", SMALL, 0, 5, 5, 8, 3, 31, 17, 33, 33, 100, 5,
         1000, 2, 9001);
    both("[n,m]T, [m]T -> [n]T, [n]T", loops, "i32 f32 f64", MIXED, 1, 32, 19, 65, 3, 5000);
}

/* --- the same bits as a fold's --- */

enum { N = 5, M = 5003 };

static float x[N * M], y[M];

static void fill(void)
{
    for (int i = 0; i < N * M; i++)
        x[i] = sinf((float)i) * 100;
    for (int i = 0; i < M; i++)
        y[i] = cosf((float)i);
}

static void call(const sn_options *o, const char *signature, sn_body body, float *out, float *more)
{
    sn_context *cx = sn_open(o);
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, body);
    if (!p || (more ? sn_call(p, sn_in(x, N, M), sn_in(y, M), sn_into(out, N), sn_into(more, N))
                    : sn_call(p, sn_in(x, N, M), sn_into(out, N))) != SN_OK)
        fail_msg("%s", sn_message(cx));
    sn_drop(p);
    sn_close(cx);
}

static void bits_are_those_of_folds(void **state)
{
    (void)state;
    const char *signature = "[n,m]f32, [m]f32 -> [n]f32, [n]f32";
    const sn_options options[] = {
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 1},
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 2, .fusion = SN_OFF},
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 1, .simplify = SN_OFF},
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 2, .cost_model = SN_OFF},
    };
    float wanted[2][N], found[2][N];
    fill();
    call(&options[0], signature, SN_BODY(folds), wanted[0], wanted[1]);
    for (unsigned i = 0; i < sizeof(options) / sizeof(*options); i++) {
        call(&options[i], signature, SN_BODY(loops), found[0], found[1]);
        if (memcmp(found, wanted, sizeof(wanted)))
            fail_msg("with options %u the loop's sum is %.9g, the fold's %.9g", i, (double)found[0][0],
                     (double)wanted[0][0]);
    }
}

/* --- loops that keep their order --- */

static sn_scalar left(void *env, sn_scalar k, sn_scalar sum)
{
    (void)sum;
    return sn_lt(k, sn_extent(((const rows *)env)->x, 1));
}

static sn_scalar next(void *env, sn_scalar k, sn_scalar sum)
{
    const rows *r = env;
    return sn_tuple(sn_add(k, 1), sn_add(sum, sn_index(r->x, r->i, k)));
}

static sn_scalar sum_in_order(void *env, sn_scalar i)
{
    rows r = *(const rows *)env;
    r.i = i;
    sn_scalar none = sn_tuple(sn_i64(0), sn_f32(0));
    return sn_snd(sn_while(sn_closure(left, &r), sn_closure(next, &r), none));
}

static sn_acc in_order(sn_acc a)
{
    rows r = {.x = a};
    return sn_generate(sn_extent(a, 0), sn_closure(sum_in_order, &r));
}

static void whiles_keep_their_order(void **state)
{
    (void)state;
    float found[N];
    fill();
    call(&(sn_options){.size = sizeof(sn_options), .contract = SN_OFF}, "[n,m]f32 -> [n]f32", SN_BODY(in_order), found,
         NULL);
    for (int i = 0; i < N; i++) {
        volatile float sum = 0;
        for (int k = 0; k < M; k++)
            sum = sum + x[i * M + k];
        assert_memory_equal(&found[i], (const float *)&sum, sizeof(float));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_agree),
        cmocka_unit_test(bits_are_those_of_folds),
        cmocka_unit_test(whiles_keep_their_order),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
