/* Launches that do not depend on each other, which devices do at the same time: bits, which error is reported, what is
 * told of progress, and memory are those of launches one after the other. */
#include "both.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 20, ELEMENTS = 5000, THREADS = 4, CALLS = 50 };

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc moments(sn_acc a, sn_acc b, sn_acc c)
{
    return sn_results(sn_sum(a), sn_sum(sn_map(square, a)), sn_sum(b), sn_maximum(sn_map(square, b)), sn_sum(c));
}

static sn_acc various(sn_acc a, sn_acc b, sn_acc c, sn_acc d)
{
    sn_acc prefix = sn_scanl1(sn_add, d);
    return sn_results(sn_sum(a), sn_scanl1(sn_add, b), sn_sort(c), sn_sum(sn_filter(is_positive, c)), sn_sum(prefix),
                      sn_reverse(prefix));
}

/* Later launches read what several earlier ones wrote, each at its own distance from the parameters. */
static sn_acc tree(sn_acc a, sn_acc b, sn_acc c)
{
    sn_acc x = sn_scanl1(sn_add, a), y = sn_scanl1(sn_max, sn_force(sn_map(square, b))), z = sn_sort(c);
    sn_acc sums = sn_append(sn_reshape(sn_shape(1), sn_sum(x)), sn_reshape(sn_shape(1), sn_sum(y)));
    return sn_results(sn_scanl1(sn_add, sums), sn_reverse(z), sn_maximum(y), x);
}

static sn_acc twice(sn_acc a)
{
    return sn_force(sn_scanl1(sn_max, sn_map(square, a)));
}

static sn_acc in_rounds(sn_acc a, sn_acc b)
{
    return sn_results(sn_aiterate(3, twice, a), sn_aiterate(2, twice, b), sn_sum(b));
}

/* Loops that go over one large array by turns: of few pieces and of many, by rows, by columns and by elements, one that
 * stores as much, and some that read a second array besides. */
static sn_acc of_one_array(sn_acc a, sn_acc b)
{
    sn_acc all = sn_flatten(a);
    return sn_results(sn_argmax(all), sn_fold_all(sn_add, 0, a), sn_sum(a), sn_maximum(sn_transpose(a)),
                      sn_sum(sn_zip_with(sn_mul, a, b)), sn_scanl1(sn_max, a), sn_map(square, sn_maximum(b)));
}

static void have_the_bits_of_the_interpreter(void **state)
{
    (void)state;
    both("[n]T, [m]T, [k]T -> T, T, T, T, T", moments, "i32 f32 f64", SMALL, 1, 1, 1, 3, 1000, 33, 5000, 4099, 10007,
         70001, 100, 20011);
    both("[n]T, [m]T, [k]T, [l]T -> T, [m]T, [k]T, T, T, [l]T", various, "i32 f32", SMALL, 1, 1, 1, 1, 5000, 4099, 1000,
         3000, 33, 20000, 9000, 40009, 100, 0, 0, 3);
    both("[n]T, [m]T, [k]T -> [2]T, [k]T, T, [n]T", tree, "i32 f64", SMALL, 1, 1, 1, 4000, 9000, 700, 30011, 2, 50000);
    both("[n]T, [m]T -> [n]T, [m]T, T", in_rounds, "i64 f32", POSITIVE, 1, 1, 3000, 5000);
    both("[n,m]T, [n,m]T -> i64, T, [n]T, [m]T, [n]T, [n,m]T, [n]T", of_one_array, "i64 f64", SMALL, 1, 1, 131, 1033, 4201,
         33);
}

/* --- errors: that of the first launch, whatever the second one does --- */

static sn_acc first_fails_late(sn_acc a, sn_acc i, sn_acc b, sn_acc k)
{
    sn_acc first = sn_gather(i, sn_scanl1(sn_add, a)); /* waits for the sums */
    sn_acc second = sn_gather(k, b);
    return sn_results(sn_scanl1(sn_add, first), sn_scanl1(sn_add, second));
}

static void keep(void *env, const char *said)
{
    (void)env, (void)said;
}

static sn_context *opened(int threads)
{
    sn_context *cx =
        sn_open(&(sn_options){.size = sizeof(sn_options), .device = "cpu", .threads = threads, .message = keep});
    if (!cx)
        skip();
    return cx;
}

static void report_the_first_error(void **state)
{
    enum { N = 3000 };
    static float a[N], b[N], out[2][N];
    static int64_t i[N], k[N];
    char said[1000] = "";
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        i[1700] = wrong & 1 ? N : 0;
        k[20] = wrong & 2 ? -1 : 0;
        for (int threads = 1; threads < 3; threads++) {
            sn_context *cx = opened(threads == 1 ? 1 : 0);
            sn_program *p = sn_compile(cx, "[n]f32, [m]i64, [n]f32, [m]i64 -> [m]f32, [m]f32", first_fails_late);
            assert_non_null(p);
            for (int turn = 0; turn < 5; turn++) {
                sn_status status = sn_call(p, sn_in(a, N), sn_in(i, N), sn_in(b, N), sn_in(k, N), sn_into(out[0], N),
                                           sn_into(out[1], N));
                assert_int_equal(status, wrong ? SN_OUT_OF_RANGE : SN_OK);
                if (threads == 1 && wrong)
                    strncpy(said, sn_message(cx), sizeof(said) - 1);
                else if (wrong)
                    assert_string_equal(said, sn_message(cx));
            }
            sn_drop(p);
            sn_close(cx);
        }
    }
}

/* Large launches that read the same array are put off on one thread, too. */
static sn_acc gathers_of_one(sn_acc a, sn_acc i, sn_acc k)
{
    return sn_results(sn_sum(a), sn_maximum(a), sn_scanl1(sn_add, sn_gather(i, a)), sn_argmax(a),
                      sn_scanl1(sn_max, sn_gather(k, a)));
}

static void share_reads_on_any_number_of_threads(void **state)
{
    enum { N = 400003 };
    static float a[N], out[2][N];
    static int64_t i[N], k[N];
    char said[1000] = "";
    (void)state;
    for (int j = 0; j < N; j++)
        a[j] = (float)(j % 1000);
    for (int wrong = 0; wrong < 4; wrong++) {
        i[N - 1] = wrong & 1 ? N : 0;
        k[20] = wrong & 2 ? -1 : 0;
        for (int threads = 1; threads < 4; threads++) {
            sn_context *cx = opened(threads < 3 ? threads : 0);
            sn_program *p = sn_compile(cx, "[n]f32, [m]i64, [m]i64 -> f32, f32, [m]f32, i64, [m]f32", gathers_of_one);
            float sum = 0, largest = 0;
            int64_t at = 0;
            assert_non_null(p);
            sn_status status = sn_call(p, sn_in(a, N), sn_in(i, N), sn_in(k, N), sn_value(&sum), sn_value(&largest),
                                       sn_into(out[0], N), sn_value(&at), sn_into(out[1], N));
            assert_int_equal(status, wrong ? SN_OUT_OF_RANGE : SN_OK);
            assert_true(wrong || (sum > 199e6f && largest == 999 && at == 999));
            if (threads == 1 && wrong)
                strncpy(said, sn_message(cx), sizeof(said) - 1);
            else if (wrong)
                assert_string_equal(said, sn_message(cx));
            sn_drop(p);
            sn_close(cx);
        }
    }
}

/* --- progress and cancelling --- */

typedef struct watch {
    sn_context *cx;
    int64_t told, end_at;
} watch;

static void count_launch(void *env, int64_t done, int64_t known)
{
    watch *w = env;
    assert_int_equal(done, w->told + 1);
    assert_true(known >= done);
    w->told = done;
    if (done == w->end_at)
        sn_cancel_calls(w->cx);
}

static sn_acc sums(void *env, int count, const sn_acc *x)
{
    sn_acc all[PARTS];
    (void)env;
    for (int k = 0; k < count; k++)
        all[k] = sn_sum(x[k]);
    return sn_results_at(SN_HERE, count, all);
}

static sn_program *program_of_sums(sn_context *cx)
{
    char signature[PARTS * 40] = "";
    for (int k = 0; k < PARTS; k++)
        sprintf(signature + strlen(signature), "%s[n%d]f32", k ? ", " : "", k);
    for (int k = 0; k < PARTS; k++)
        strcat(signature, k ? ", f32" : " -> f32");
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, sn_body_env(sums, NULL));
    assert_non_null(p);
    return p;
}

typedef struct numbers {
    float in[PARTS][ELEMENTS], out[PARTS];
    sn_arg arg[2 * PARTS];
} numbers;

static numbers *new_numbers(void)
{
    numbers *n = malloc(sizeof(*n));
    assert_non_null(n);
    for (int k = 0; k < PARTS; k++) {
        for (int i = 0; i < ELEMENTS; i++)
            n->in[k][i] = (float)(i % 7 + k);
        n->arg[k] = sn_in(n->in[k], ELEMENTS - k);
        n->arg[PARTS + k] = sn_value(&n->out[k]);
    }
    return n;
}

static bool are_right(const numbers *n)
{
    bool right = true;
    for (int k = 0; k < PARTS; k++) {
        float sum = 0;
        for (int i = 0; i < ELEMENTS - k; i++)
            sum += n->in[k][i];
        right &= sum == n->out[k];
    }
    return right;
}

static void are_told_and_ended(void **state)
{
    watch w = {0};
    numbers *n = new_numbers();
    (void)state;
    w.cx = sn_open(&(sn_options){
        .size = sizeof(sn_options), .device = "cpu", .env = &w, .message = keep, .progress = count_launch});
    if (!w.cx)
        skip();
    sn_program *p = program_of_sums(w.cx);
    assert_int_equal(sn_call_n(p, 2 * PARTS, n->arg), SN_OK);
    const int64_t all = w.told;
    assert_true(all >= PARTS && are_right(n));
    for (int64_t end = 1; end <= all; end += 3) {
        w = (watch){.cx = w.cx, .end_at = end};
        assert_int_equal(sn_call_n(p, 2 * PARTS, n->arg), end < all ? SN_CANCELLED : SN_OK);
        assert_int_equal(w.told, end < all ? end : all);
    }
    w = (watch){.cx = w.cx};
    memset(n->out, 0, sizeof(n->out));
    assert_int_equal(sn_call_n(p, 2 * PARTS, n->arg), SN_OK);
    assert_true(are_right(n));
    sn_drop(p);
    sn_close(w.cx);
    free(n);
}

/* --- many threads, and memory --- */

static void *call_often(void *env)
{
    sn_program *p = env;
    numbers *n = new_numbers();
    bool right = true;
    for (int i = 0; i < CALLS; i++) {
        memset(n->out, 0, sizeof(n->out));
        right &= sn_call_n(p, 2 * PARTS, n->arg) == SN_OK && are_right(n);
    }
    free(n);
    return right ? p : NULL;
}

static void are_called_by_many_threads(void **state)
{
    pthread_t thread[THREADS];
    sn_context *cx = opened(0);
    sn_program *p = program_of_sums(cx);
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, call_often, p), 0);
    for (int i = 0; i < THREADS; i++) {
        void *right = NULL;
        pthread_join(thread[i], &right);
        assert_non_null(right);
    }
    sn_drop(p);
    sn_close(cx);
}

static sn_acc chains(sn_acc a, sn_acc b)
{
    for (int i = 0; i < 40; i++) {
        a = sn_scanl1(sn_max, sn_reverse(sn_force(sn_map(square, a))));
        b = sn_scanl1(sn_max, sn_reverse(sn_force(sn_map(square, b))));
    }
    return sn_results(a, b);
}

/* What is set aside while launches are put off is bounded, and the same in each call. */
static void take_no_more_memory(void **state)
{
    enum { N = 20000 };
    static int32_t a[N], b[N + 1], x[N], y[N + 1];
    sn_context *cx = opened(0);
    sn_program *p = sn_compile(cx, "[n]i32, [m]i32 -> [n]i32, [m]i32", chains);
    (void)state;
    assert_non_null(p);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sn_call(p, sn_in(a, N), sn_in(b, N + 1), sn_into(x, N), sn_into(y, N + 1)), SN_OK);
    const sn_counters before = sn_counts(cx);
    assert_true(before.allocated_bytes < (uint64_t)4 << 20);
    for (int i = 0; i < 50; i++)
        assert_int_equal(sn_call(p, sn_in(a, N), sn_in(b, N + 1), sn_into(x, N), sn_into(y, N + 1)), SN_OK);
    assert_int_equal(sn_counts(cx).allocated_bytes, before.allocated_bytes);
    sn_drop(p);
    sn_close(cx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(have_the_bits_of_the_interpreter), cmocka_unit_test(share_reads_on_any_number_of_threads),
        cmocka_unit_test(report_the_first_error),           cmocka_unit_test(are_told_and_ended),
        cmocka_unit_test(are_called_by_many_threads),       cmocka_unit_test(take_no_more_memory),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
