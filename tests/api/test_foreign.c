/* Functions that are not ours: they get what is computed before, and write what is read afterwards; where they are not,
 * or refuse, the fallback computes the same; what goes wrong in them is a status with their message. */
#include "counts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef SN_TEST_CBLAS
#include <cblas.h>
#endif

enum { ROWS = 5, INNER = 7, COLUMNS = 6 };

typedef struct seen { /* by the function */
    int calls;
    sn_status gives; /* SN_OK: it computes */
    const char *says;
    int64_t columns_said; /* of the result; 0: as it is */
} seen;

static bool is(const sn_foreign_array *a, sn_type type, int rank, int64_t rows, int64_t columns)
{
    return a->type == type && a->rank == rank && a->data && (rank < 1 || a->extent[0] == rows) &&
           (rank < 2 || a->extent[1] == columns);
}

static sn_status sgemm(void *env, sn_foreign_call *call)
{
    seen *s = env;
    s->calls++;
    if (s->says)
        snprintf(call->message, sizeof call->message, "%s", s->says);
    if (s->gives != SN_OK)
        return s->gives;
    const sn_foreign_array *x = &call->input[0], *y = &call->input[1], *z = &call->output[0];
    const int64_t n = x->extent[0], k = x->extent[1], m = y->extent[1];
    if (call->inputs != 2 || call->outputs != 1 || !is(x, SN_F32, 2, n, k) || !is(y, SN_F32, 2, k, m) ||
        !is(z, SN_F32, 2, n, m)) {
        snprintf(call->message, sizeof call->message, "these are no matrices to be multiplied");
        return SN_BAD_ARGUMENT;
    }
    const float *a = x->data, *b = y->data;
    float *c = z->data;
    if (s->columns_said)
        call->output[0].extent[1] = s->columns_said;
#ifdef SN_TEST_CBLAS
    if (n && k && m) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)m, (int)k, 1, a, (int)k, b, (int)m, 0, c,
                    (int)m);
        return SN_OK;
    }
#endif
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            float sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += a[i * k + l] * b[l * m + j];
            c[i * m + j] = sum;
        }
    return SN_OK;
}

static sn_acc product(sn_acc a, sn_acc b)
{
    sn_scalar n = sn_extent(a, 0), m = sn_extent(b, 1);
    return sn_sum(
        sn_zip_with(sn_mul, sn_replicate(a, SN_ALL, m, SN_ALL), sn_replicate(sn_transpose(b), n, SN_ALL, SN_ALL)));
}

static seen watched;
static const sn_foreign_code multiply = {.size = sizeof(multiply), .name = "sgemm", .env = &watched, .cpu = sgemm};

static sn_scalar twice(sn_scalar x)
{
    return sn_add(x, x);
}

static sn_acc plain(sn_acc a, sn_acc b)
{
    return sn_foreign(&multiply, product, a, b);
}

/* What it is given is computed, and what it gives is used; only some of both. */
static sn_acc in_the_middle(sn_acc a, sn_acc b)
{
    sn_acc c = sn_foreign(&multiply, product, sn_map(twice, a), sn_transpose(b));
    return sn_results(sn_sum(sn_map(sn_neg, c)), sn_map(twice, a));
}

static void fill(float *x, int n, int seed)
{
    for (int i = 0; i < n; i++)
        x[i] = (float)((i * 7 + seed) % 11 - 5);
}

static void begin(sn_status gives, const char *says)
{
    watched = (seen){.gives = gives, .says = says};
}

/* Of contexts with functions for their device. */
static int calls_expected(const sn_context *cx)
{
    return cx == both_cpu() && on_cpu();
}

static void results_are_those_of_the_fallback(void **state)
{
    (void)state;
    float a[ROWS * INNER], b[INNER * COLUMNS], z[2][ROWS * COLUMNS], s[2][ROWS], t[ROWS * INNER], d[COLUMNS * INNER];
    fill(a, ROWS * INNER, 1);
    fill(b, INNER * COLUMNS, 2);
    fill(d, INNER * COLUMNS, 3);
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    for (int i = 0; i < 2; i++) {
        begin(SN_OK, NULL);
        sn_program *p = compiled_in(contexts[i], "[n,k]f32, [k,m]f32 -> [n,m]f32", SN_BODY(plain));
        assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_into(z[i], ROWS, COLUMNS)),
                         SN_OK);
        assert_int_equal(watched.calls, calls_expected(contexts[i]));
        sn_array *kept = NULL;
        assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_keep(&kept)), SN_OK);
        float again[ROWS * COLUMNS];
        assert_int_equal(sn_read(kept, again, sizeof again), SN_OK);
        assert_memory_equal(again, z[i], sizeof again);
        sn_free(kept);
        assert_int_equal(sn_call(p, sn_in(a, 0, INNER), sn_in(b, INNER, COLUMNS), sn_into(again, 0, COLUMNS)), SN_OK);
        sn_drop(p);
        p = compiled_in(contexts[i], "[n,k]f32, [m,k]f32 -> [n]f32, [n,k]f32", SN_BODY(in_the_middle));
        begin(SN_OK, NULL);
        assert_int_equal(
            sn_call(p, sn_in(a, ROWS, INNER), sn_in(d, COLUMNS, INNER), sn_into(s[i], ROWS), sn_into(t, ROWS, INNER)),
            SN_OK);
        assert_int_equal(watched.calls, calls_expected(contexts[i]));
        for (int k = 0; k < ROWS * INNER; k++)
            assert_true(t[k] == 2 * a[k]);
        sn_drop(p);
    }
    assert_memory_equal(z[0], z[1], sizeof z[0]); /* small whole numbers */
    assert_memory_equal(s[0], s[1], sizeof s[0]);
}

static void those_that_refuse_are_replaced(void **state)
{
    (void)state;
    float a[ROWS * INNER], b[INNER * COLUMNS], z[ROWS * COLUMNS], y[ROWS * COLUMNS];
    fill(a, ROWS * INNER, 1);
    fill(b, INNER * COLUMNS, 2);
    sn_program *p = compiled_in(both_cpu(), "[n,k]f32, [k,m]f32 -> [n,m]f32", SN_BODY(plain));
    begin(SN_OK, NULL);
    assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_into(z, ROWS, COLUMNS)), SN_OK);
    begin(SN_UNSUPPORTED, "not today");
    assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_into(y, ROWS, COLUMNS)), SN_OK);
    assert_int_equal(watched.calls, on_cpu());
    assert_memory_equal(y, z, sizeof y);
    says(p, "plan", "sgemm, else plan 0.0");
    sn_drop(p);
}

static void failures_are_statuses(void **state)
{
    (void)state;
    if (!on_cpu())
        skip();
    static const struct {
        sn_status gives, wanted;
        const char *message, *said;
    } cases[] = {
        {SN_OUT_OF_RANGE, SN_OUT_OF_RANGE, "no such row", "sgemm: no such row"},
        {SN_NO_MEMORY, SN_NO_MEMORY, "no memory", "sgemm: no memory"},
        {SN_BAD_ARGUMENT, SN_FOREIGN_FAILED, "wrong matrices", "sgemm: wrong matrices"},
        {(sn_status)-7, SN_FOREIGN_FAILED, NULL, "sgemm: the function fails, and does not say why"},
    };
    float a[ROWS * INNER] = {0}, b[INNER * COLUMNS] = {0}, z[ROWS * COLUMNS];
    sn_context *cx = both_cpu();
    sn_program *p = compiled_in(cx, "[n,k]f32, [k,m]f32 -> [n,m]f32", SN_BODY(plain));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sn_array *kept = NULL;
        begin(cases[i].gives, cases[i].message);
        assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_keep(&kept)), cases[i].wanted);
        assert_null(kept);
        assert_non_null(strstr(sn_message(cx), cases[i].said));
        assert_non_null(strstr(sn_message(cx), "test_foreign.c:"));
    }
    assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER - 1, COLUMNS), sn_into(z, ROWS, COLUMNS)),
                     SN_BAD_EXTENT);
    begin(SN_OK, NULL);
    watched.columns_said = 3;
    assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_into(z, ROWS, COLUMNS)),
                     SN_FOREIGN_FAILED);
    assert_non_null(
        strstr(sn_message(cx), "sgemm: it says that dimension 1 of its result has 3 elements; the fallback's has 6"));
    begin(SN_OK, NULL);
    assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_into(z, ROWS, COLUMNS)), SN_OK);
    sn_drop(p);
}

/* --- tuples, and what is around --- */

static sn_status halves(void *env, sn_foreign_call *call)
{
    const int64_t n = call->input[0].extent[0];
    ++*(int *)env;
    if (call->inputs != 3 || call->outputs != 2 || call->input[2].rank != 0 || call->output[1].type != SN_I32)
        return SN_INTERNAL;
    for (int64_t i = 0; i < n; i++) {
        ((double *)call->output[0].data)[i] = ((double *)call->input[0].data)[i] * *(double *)call->input[2].data;
        ((int32_t *)call->output[1].data)[i] = ((int32_t *)call->input[1].data)[i] + 1;
    }
    return SN_OK;
}

static sn_acc more(sn_acc pairs, sn_acc by)
{
    sn_scalar factor = sn_the(by);
    sn_acc first = sn_zip_with(sn_mul, sn_fst(pairs), sn_fill(sn_shape_of(pairs), factor));
    return sn_zip(first, sn_zip_with(sn_add, sn_snd(pairs), sn_fill(sn_shape_of(pairs), sn_i32(1))));
}

static int halved;
static const sn_foreign_code halve = {.size = sizeof(halve), .env = &halved, .cpu = halves};

static sn_acc of_pairs(sn_acc pairs, sn_acc by)
{
    return sn_foreign(&halve, more, pairs, by);
}

static sn_acc nothing_known;

static sn_scalar is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

static sn_acc with_outer(sn_acc a)
{
    (void)a;
    return sn_zip_with(sn_add, a, nothing_known);
}

static sn_status one_operand(void *env, sn_foreign_call *call)
{
    ++*(int *)env;
    return call->inputs == 1 ? SN_UNSUPPORTED : SN_INTERNAL;
}

static const sn_foreign_code outer_code = {
    .size = sizeof(outer_code), .name = "outer", .env = &halved, .cpu = one_operand};

/* The fallback reads an array that is around it, and no operand. */
static sn_acc around(sn_acc a, sn_acc b)
{
    nothing_known = sn_map(twice, b);
    return sn_foreign(&outer_code, with_outer, a);
}

static void tuples_and_arrays_around(void **state)
{
    (void)state;
    const double x[4] = {1, 2, 3, 4}, by = 0.5;
    const int32_t k[4] = {5, 6, 7, 8};
    double y[4];
    int32_t l[4];
    sn_context *contexts[2] = {both_cpu(), both_interpreter()};
    for (int i = 0; i < 2; i++) {
        halved = 0;
        sn_program *p = compiled_in(contexts[i], "[n](f64, i32), f64 -> [n](f64, i32)", SN_BODY(of_pairs));
        assert_int_equal(sn_call(p, sn_in(x, 4), sn_in(k, 4), sn_value(&by), sn_into(y, 4), sn_into(l, 4)), SN_OK);
        assert_int_equal(halved, calls_expected(contexts[i]));
        for (int j = 0; j < 4; j++)
            assert_true(y[j] == x[j] / 2 && l[j] == k[j] + 1);
        sn_drop(p);
        p = compiled_in(contexts[i], "[n]f64, [n]f64 -> [n]f64", SN_BODY(around));
        assert_int_equal(sn_call(p, sn_in(x, 4), sn_in(x, 4), sn_into(y, 4)), SN_OK);
        for (int j = 0; j < 4; j++)
            assert_true(y[j] == 3 * x[j]);
        sn_drop(p);
    }
}

/* A text has the fallback, and no function. */
static void texts_have_the_fallback(void **state)
{
    (void)state;
    float a[ROWS * INNER], b[INNER * COLUMNS], z[ROWS * COLUMNS], y[ROWS * COLUMNS];
    fill(a, ROWS * INNER, 1);
    fill(b, INNER * COLUMNS, 2);
    begin(SN_OK, NULL);
    sn_context *cx = both_cpu();
    sn_program *p = compiled_in(cx, "[n,k]f32, [k,m]f32 -> [n,m]f32", SN_BODY(plain));
    sn_program *q = sn_parse_program(cx, sn_explain(p, "term"));
    if (!q)
        fail_msg("%s", sn_message(cx));
    assert_int_equal(sn_call(p, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_into(z, ROWS, COLUMNS)), SN_OK);
    assert_int_equal(sn_call(q, sn_in(a, ROWS, INNER), sn_in(b, INNER, COLUMNS), sn_into(y, ROWS, COLUMNS)), SN_OK);
    assert_int_equal(watched.calls, on_cpu());
    assert_memory_equal(y, z, sizeof y);
    sn_drop(p);
    sn_drop(q);
}

/* --- mistakes --- */

static sn_acc some(sn_acc a)
{
    return sn_filter(is_positive, a);
}

static sn_acc two(sn_acc a)
{
    return sn_results(a, a);
}

static sn_acc not_sized(sn_acc a, sn_acc b)
{
    (void)b;
    const sn_foreign_code none = {0};
    return sn_foreign(&none, with_outer, a);
}

static sn_acc not_known(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_foreign(&outer_code, some, a);
}

static sn_acc several(sn_acc a, sn_acc b)
{
    (void)b;
    return sn_foreign(&outer_code, two, a);
}

static void mistakes_are_explained(void **state)
{
    static const struct {
        sn_acc (*body)(sn_acc, sn_acc);
        const char *says;
    } cases[] = {
        {not_sized, "foreign: the size of sn_foreign_code is not set"},
        {not_known, "foreign: dimension 0 of the result is known only when it has been computed"},
        {several, "foreign: the fallback returns 2 arrays; it returns one"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        sn_program *p = sn_compile_at(SN_HERE, both_interpreter(), "[n]f32, [n]f32 -> [m]f32", SN_BODY(cases[i].body));
        assert_null(p);
        if (!strstr(sn_message(both_interpreter()), cases[i].says))
            fail_msg("not \"%s\":\n%s", cases[i].says, sn_message(both_interpreter()));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_those_of_the_fallback),
        cmocka_unit_test(those_that_refuse_are_replaced),
        cmocka_unit_test(failures_are_statuses),
        cmocka_unit_test(tuples_and_arrays_around),
        cmocka_unit_test(texts_have_the_fallback),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
