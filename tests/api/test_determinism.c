/* The same program on the same data gives the same bits: at every alignment of inputs and results, with one and two
 * threads, and every time. Float sums, whose order of additions shows in the bits, come first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinter/sinter.h"

enum { CONTEXTS = 2, REPEATS = 50, ALIGNMENT = 64, MOST = 150000 };
static sn_context *contexts[CONTEXTS]; /* one thread, two */

/* --- programs: [n,m]T -> a sum per row, one of all, and an array --- */

static sn_scalar weigh(sn_scalar x)
{
    return sn_add(sn_mul(x, x), x);
}

static sn_acc sums(sn_acc a)
{
    sn_acc b = sn_map(weigh, a);
    return sn_results(sn_fold(sn_add, 1, b), sn_fold_all(sn_add, 0, a), b);
}

/* composition of x -> p x + q: the order of combination shows, and may not be changed */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc composed(sn_acc a)
{
    sn_acc near_one = sn_map(sn_exp2, sn_map(sn_sin, a)), f = sn_zip(near_one, a);
    return sn_results(sn_get(sn_fold1(compose, f), 1), sn_get(sn_fold1_all(compose, f), 1), near_one);
}

static sn_scalar mean(sn_scalar s)
{
    return sn_mul(sn_add(sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)), sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0))), 0.25f);
}

static sn_acc smoothed(sn_acc a)
{
    sn_acc b = sn_stencil(mean, sn_pattern(3, 3), sn_mirror, sn_stencil(mean, sn_pattern(3, 3), sn_clamp, a));
    return sn_results(sn_fold(sn_add, 0, b), sn_fold_all(sn_max, -1, b), b);
}

typedef struct fixture { /* the same call, anywhere */
    sn_program *program[CONTEXTS];
    int64_t rows, columns;
    char *in, *out; /* room for any alignment */
    size_t size;    /* of the elements */
    sn_type type;
} fixture;

static char *aligned_to(char *memory, size_t offset)
{
    return (char *)(((uintptr_t)memory + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1)) + offset;
}

/* Bytes of the three results, one behind the other. */
static size_t bytes_of_results(const fixture *x)
{
    return x->size * (size_t)(x->rows + 1 + x->rows * x->columns);
}

static char *run(const fixture *x, int context, size_t offset)
{
    size_t rows = (size_t)x->rows * x->size;
    char *in = aligned_to(x->in, offset), *out = aligned_to(x->out, (offset * 7 + x->size) % ALIGNMENT);
    memmove(in, aligned_to(x->in, 0), (size_t)(x->rows * x->columns) * x->size);
    sn_arg arg[4] = {
        {.kind = SN_ARG_IN, .type = x->type, .rank = 2, .extent = {x->rows, x->columns}, .u = {.from = in}},
        {.kind = SN_ARG_INTO, .type = x->type, .rank = 1, .extent = {x->rows}, .u = {.to = out}},
        {.kind = SN_ARG_VALUE, .type = x->type, .u = {.to = out + rows}},
        {.kind = SN_ARG_INTO,
         .type = x->type,
         .rank = 2,
         .extent = {x->rows, x->columns},
         .u = {.to = out + rows + x->size}}};
    memset(out, 0xa5, bytes_of_results(x));
    sn_status status = sn_call_n(x->program[context], 4, arg);
    if (status != SN_OK)
        fail_msg("%s: %s", sn_status_name(status), sn_message(contexts[context]));
    memmove(aligned_to(x->in, 0), in, (size_t)(x->rows * x->columns) * x->size);
    return out;
}

static void check_shape(fixture *x, const char *name)
{
    size_t bytes = bytes_of_results(x);
    char *wanted = malloc(bytes);
    assert_non_null(wanted);
    memcpy(wanted, run(x, 0, 0), bytes);
    for (int context = 0; context < CONTEXTS; context++) {
        for (size_t offset = 0; offset < ALIGNMENT; offset += x->size)
            if (memcmp(run(x, context, offset), wanted, bytes))
                fail_msg("%s of %lld x %lld: other bits %zu bytes off, %d threads", name, (long long)x->rows,
                         (long long)x->columns, offset, context + 1);
        for (int again = 0; again < REPEATS; again++)
            if (memcmp(run(x, context, 0), wanted, bytes))
                fail_msg("%s of %lld x %lld: other bits the %d. time, %d threads", name, (long long)x->rows,
                         (long long)x->columns, again, context + 1);
    }
    free(wanted);
}

static void fill(const fixture *x)
{
    char *in = aligned_to(x->in, 0);
    for (size_t i = 0; i < MOST; i++) {
        double d = (double)(i * 2654435761u % 100003) / 7000 - 7;
        float f = (float)d;
        int32_t k = (int32_t)(i * 2654435761u);
        const void *from = x->type == SN_F64   ? (const void *)&d
                           : x->type == SN_F32 ? (const void *)&f
                                               : (const void *)&k;
        memcpy(in + i * x->size, from, x->size);
    }
}

static void check(const char *name, const char *type, sn_acc (*f)(sn_acc))
{
    static const int64_t shapes[][2] = {{1, 1}, {1, 70001}, {3, 4099}, {70001, 2}, {33, 65}, {1, 131072}, {300, 17}};
    char signature[64];
    if (!contexts[0])
        skip();
    fixture x = {.type = !strcmp(type, "f64") ? SN_F64 : !strcmp(type, "f32") ? SN_F32 : SN_I32};
    x.size = x.type == SN_F64 ? 8 : 4;
    x.in = malloc(MOST * x.size + 2 * ALIGNMENT);
    x.out = malloc(2 * MOST * x.size + 2 * ALIGNMENT);
    assert_true(x.in && x.out);
    snprintf(signature, sizeof(signature), "[n,m]%s -> [n]%s, %s, [n,m]%s", type, type, type, type);
    for (int context = 0; context < CONTEXTS; context++) {
        x.program[context] = sn_compile(contexts[context], signature, f);
        if (!x.program[context])
            fail_msg("%s: %s", name, sn_message(contexts[context]));
    }
    fill(&x);
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
        x.rows = shapes[k][0];
        x.columns = shapes[k][1];
        check_shape(&x, name);
    }
    for (int context = 0; context < CONTEXTS; context++)
        sn_drop(x.program[context]);
    free(x.in);
    free(x.out);
}

static void float_sums(void **state)
{
    (void)state;
    check("sums", "f32", sums);
}

static void double_sums(void **state)
{
    (void)state;
    check("sums", "f64", sums);
}

static void ordered_folds(void **state)
{
    (void)state;
    check("compositions", "f32", composed);
}

static void stencils(void **state)
{
    (void)state;
    check("stencils", "f32", smoothed);
}

static void whole_numbers(void **state)
{
    (void)state;
    check("sums of i32", "i32", sums);
}

static int open_all(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "cpu"};
    for (int k = 0; k < CONTEXTS; k++) {
        o.threads = k + 1;
        contexts[k] = sn_open(&o);
    }
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    for (int k = 0; k < CONTEXTS; k++)
        sn_close(contexts[k]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_sums), cmocka_unit_test(double_sums),   cmocka_unit_test(ordered_folds),
        cmocka_unit_test(stencils),   cmocka_unit_test(whole_numbers),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
