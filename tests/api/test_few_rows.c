/* Loops that go over each row more than once give a row to one worker: where rows are few and long, a program runs
 * others. */
#include "counts.h"

#include <stdlib.h>
#include <string.h>

static sn_scalar power(sn_scalar x, sn_scalar top)
{
    return sn_exp(sn_sub(x, top));
}

static sn_acc along(sn_acc of_rows, sn_acc like)
{
    return sn_replicate(of_rows, SN_ALL, sn_extent(like, 1));
}

static sn_acc softmax(sn_acc x)
{
    sn_acc e = sn_zip_with(power, x, along(sn_maximum(x), x));
    return sn_zip_with(sn_div, e, along(sn_sum(e), e));
}

/* Extents are computed: half as many rows. */
static sn_acc softmax_of_some(sn_acc x)
{
    return softmax(sn_transpose(sn_take(sn_quot(sn_extent(x, 0), 2), sn_transpose(x))));
}

enum { MANY = 6, FEW = 2, LONG = 40000, SHORT = 30000 };

static float *numbers(void)
{
    float *x = malloc(MANY * LONG * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < MANY * LONG; i++)
        x[i] = (float)(i * 7919 % 1000) / 100;
    return x;
}

static void add_launches(const sn_program *p, uint64_t *first, uint64_t *few)
{
    *first += run_launches(p->run) + (p->large ? run_launches(p->large->run) : 0);
    for (unsigned k = 0; k < 2; k++)
        *few += p->once[k] ? run_launches(p->once[k]->run) : 0;
}

/* launches of the first version, and of those for few rows, also in programs where how few is a constant */
static void expect_launches(const sn_program *p, uint64_t first, uint64_t few)
{
    uint64_t of_first = 0, of_few = 0;
    add_launches(p, &of_first, &of_few);
    for (const small_extents *s = atomic_load(&p->small); s; s = s->next)
        add_launches(s->program, &of_first, &of_few);
    assert_int_equal(of_first, first);
    assert_int_equal(of_few > 0, few > 0);
}

static sn_context *workers(int n)
{
    sn_options options = {.size = sizeof options, .threads = n};
    sn_context *cx = sn_open(&options);
    assert_non_null(cx);
    cx->row_loops = true;
    return cx;
}

static void few_and_long_rows_have_loops_of_their_own(void **state)
{
    (void)state;
    if (!on_cpu())
        skip(); /* others have more workers */
    sn_context *cx = workers(2);
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", softmax);
    assert_non_null(p);
    float *x = numbers(), *many = malloc(MANY * LONG * sizeof *many), *few = malloc(FEW * LONG * sizeof *few);
    assert_true(many && few);
    says(p, "clusters", "row loop over [n, m], 3 sweeps");
    says(p, "clusters",
         "where rows are few and long, or have more than 32 elements and fewer than 400, or lie apart:\ncluster 0: "
         "fold loop over "
         "[n, m]");
    says(p, "plan", "rows are few and long, or");
    assert_int_equal(sn_call(p, sn_in(x, MANY, LONG), sn_into(many, MANY, LONG)), SN_OK);
    expect_launches(p, 1, 0);
    assert_int_equal(sn_call(p, sn_in(x, FEW, SHORT), sn_into(few, FEW, SHORT)), SN_OK);
    expect_launches(p, 2, 0);
    assert_int_equal(sn_call(p, sn_in(x, FEW, LONG), sn_into(few, FEW, LONG)), SN_OK);
    expect_launches(p, 2, 1);
    assert_memory_equal(few, many, FEW * LONG * sizeof *few); /* which loops it were changes no bit */
    sn_pending *started = sn_start(p, sn_in(x, FEW, LONG), sn_into(few, FEW, LONG));
    assert_int_equal(sn_wait(started), SN_OK);
    expect_launches(p, 2, 1);
    free(x), free(many), free(few);
    sn_drop(p);
    sn_close(cx);
}

static void also_where_the_rows_are_counted_first(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    sn_context *cx = workers(2);
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [k,m]f32", softmax_of_some);
    if (!p)
        fail_msg("%s", sn_message(cx));
    float *x = numbers(), *y = malloc(MANY * LONG * sizeof *y);
    assert_non_null(y);
    assert_int_equal(sn_call(p, sn_in(x, MANY, LONG), sn_into(y, MANY / 2, LONG)), SN_OK);
    expect_launches(p, 0, 1);
    free(x), free(y);
    sn_drop(p);
    sn_close(cx);
}

static void one_worker_takes_rows_as_they_come(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    sn_context *cx = workers(1);
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", softmax);
    float *x = numbers(), *y = malloc(FEW * LONG * sizeof *y);
    assert_true(p && y);
    assert_int_equal(sn_call(p, sn_in(x, FEW, LONG), sn_into(y, FEW, LONG)), SN_OK);
    expect_launches(p, 1, 0);
    free(x), free(y);
    sn_drop(p);
    sn_close(cx);
}

/* Calls a program compiled in `cx` with an array of these extents, and the same without loops of several sweeps: the
 * same bits. The program is the caller's. */
static sn_program *as_without_row_loops(sn_context *cx, const char *signature, sn_body body, const int64_t in[2],
                                        const int64_t out[2])
{
    sn_context *apart = workers(2);
    apart->row_loops = false;
    size_t bytes = (size_t)(out[0] * out[1]) * sizeof(float);
    float *x = numbers(), *y = malloc(bytes), *z = malloc(bytes);
    sn_program *p = compiled_in(cx, signature, body), *q = compiled_in(apart, signature, body);
    assert_true(p && q && y && z);
    assert_int_equal(sn_call(p, sn_in(x, in[0], in[1]), sn_into(y, out[0], out[1])), SN_OK);
    assert_int_equal(sn_call(q, sn_in(x, in[0], in[1]), sn_into(z, out[0], out[1])), SN_OK);
    assert_memory_equal(y, z, bytes);
    free(x), free(y), free(z);
    sn_drop(q);
    sn_close(apart);
    return p;
}

/* The end of a sweep takes the time of some hundred elements, but not where rows are folded from left to right. */
static void short_rows_are_gone_over_once(void **state)
{
    static const struct {
        int64_t length;
        bool once;
    } cases[] = {{7, false}, {32, false}, {33, true}, {100, true}, {399, true}, {400, false}, {1001, false}};
    (void)state;
    if (!on_cpu())
        skip();
    sn_context *cx = workers(2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t shape[2] = {40, cases[i].length};
        sn_program *p = as_without_row_loops(cx, "[n,m]f32 -> [n,m]f32", SN_BODY(softmax), shape, shape);
        expect_launches(p, !cases[i].once, cases[i].once);
        sn_drop(p);
    }
    sn_close(cx);
}

/* Rows that are columns of an array in memory are read line by line where all of them are folded together. */
static sn_acc softmax_of_columns(sn_acc x)
{
    return softmax(sn_transpose(x));
}

static void rows_that_lie_apart_are_gone_over_once(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    sn_context *cx = workers(2);
    for (int turn = 0; turn < 2; turn++) {
        int64_t m = turn ? 1001 : 20, in[2] = {m, 40}, out[2] = {40, m};
        sn_program *p = as_without_row_loops(cx, "[m,n]f32 -> [n,m]f32", SN_BODY(softmax_of_columns), in, out);
        expect_launches(p, turn == 0, turn == 1);
        sn_drop(p);
    }
    sn_close(cx);
}

/* What takes long waits in shared memory for the next sweep, where the block has room for the row. */
static void long_elements_wait_for_the_next_sweep(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    sn_context *cx = workers(2);
    for (int turn = 0; turn < 2; turn++) {
        int64_t shape[2] = {MANY, turn ? 38000 : 2000}; /* room is for 32768 */
        sn_program *p = as_without_row_loops(cx, "[n,m]f32 -> [n,m]f32", SN_BODY(softmax), shape, shape);
        assert_int_equal(strstr(sn_explain(p, "kernels"), "shared @waiting") != NULL, turn == 0);
        says(p, "plan", "1 clusters, 0 buffers");
        sn_drop(p);
    }
    sn_close(cx);
}

/* Of rows of three: their lengths, and what is made of them, are in no memory. */
static sn_scalar squared(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar twice(sn_scalar x, sn_scalar length)
{
    sn_scalar y = sn_exp(sn_exp(sn_div(x, length)));
    return sn_add(y, y);
}

static sn_scalar back(sn_scalar x, sn_scalar y)
{
    return sn_sub(x, y);
}

static sn_acc directions(sn_acc x)
{
    sn_acc y = sn_zip_with(twice, x, along(sn_map(sn_sqrt, sn_sum(sn_map(squared, x))), x));
    return sn_zip_with(back, sn_map(squared, y), y);
}

static void short_rows_leave_nothing_in_memory(void **state)
{
    (void)state;
    sn_context *cx = workers(2);
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", directions);
    sn_program *q = sn_compile(both_interpreter(), "[n,m]f32 -> [n,m]f32", directions);
    assert_true(p && q);
    float x[5][3], y[5][3], z[5][3];
    for (int i = 0; i < 15; i++)
        x[i / 3][i % 3] = (float)(i % 7) + 0.5f;
    assert_int_equal(sn_call(p, sn_in(x[0], 5, 3), sn_into(y[0], 5, 3)), SN_OK);
    assert_int_equal(sn_call(q, sn_in(x[0], 5, 3), sn_into(z[0], 5, 3)), SN_OK);
    for (int i = 0; i < 15; i++)
        assert_true(y[i / 3][i % 3] - z[i / 3][i % 3] <= 1e-4f * z[i / 3][i % 3] &&
                    z[i / 3][i % 3] - y[i / 3][i % 3] <= 1e-4f * z[i / 3][i % 3]);
    says(p, "plan", "1 clusters, 0 buffers");
    sn_drop(p), sn_drop(q);
    sn_close(cx);
}

/* Their launches are told with those of the first version, and forgotten with them. */
static void they_are_in_the_profile(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    sn_context *cx = workers(2);
    sn_program *p = sn_compile(cx, "[n,m]f32 -> [n,m]f32", softmax);
    float *x = numbers(), *y = malloc(FEW * LONG * sizeof *y);
    assert_true(p && y);
    sn_profile(p, true);
    assert_int_equal(sn_call(p, sn_in(x, FEW, LONG), sn_into(y, FEW, LONG)), SN_OK);
    says(p, "profile", "rows gone over once: cluster 0");
    says(p, "profile-json", "\"one_sweep\": true");
    sn_profile(p, true);
    assert_null(strstr(sn_explain(p, "profile-json"), "\"one_sweep\": true"));
    assert_int_equal(sn_call(p, sn_in(x, FEW, SHORT), sn_into(y, FEW, SHORT)), SN_OK);
    assert_null(strstr(sn_explain(p, "profile-json"), "\"one_sweep\": true"));
    sn_drop(p);
    sn_close(cx);
    free(x), free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_and_long_rows_have_loops_of_their_own),
        cmocka_unit_test(they_are_in_the_profile),
        cmocka_unit_test(also_where_the_rows_are_counted_first),
        cmocka_unit_test(short_rows_leave_nothing_in_memory),
        cmocka_unit_test(one_worker_takes_rows_as_they_come),
        cmocka_unit_test(short_rows_are_gone_over_once),
        cmocka_unit_test(rows_that_lie_apart_are_gone_over_once),
        cmocka_unit_test(long_elements_wait_for_the_next_sweep),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
