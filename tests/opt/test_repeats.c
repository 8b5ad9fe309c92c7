/* What is computed once for all elements along a dimension: texts in, texts out, and the results of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "ir/interpret.h"
#include "opt/repeats.h"
#include "support/program_text.h"

enum { N = 4, M = 5 };

/* Inputs: [n,m]f32, [m]f32, [n]f32, [m]i32. */
static ir_value results_of(const ir_program *p, arena *a, int64_t n, int64_t m)
{
    static float x[N * M], y[M], z[N];
    static int32_t w[M] = {2, 0, -1, 3, 7};
    for (int i = 0; i < N * M; i++)
        x[i] = (float)(i * i % 31 - 9) / 4;
    for (int i = 0; i < M; i++)
        y[i] = (float)(5 - i) / 3;
    for (int i = 0; i < N; i++)
        z[i] = (float)(i * i + 1) / 7;
    ir_value in[4] = {{.rank = 2, .components = 1, .extent = {n, m}, .type = {T_F32}, .data = {x}},
                      {.rank = 1, .components = 1, .extent = {m}, .type = {T_F32}, .data = {y}},
                      {.rank = 1, .components = 1, .extent = {n}, .type = {T_F32}, .data = {z}},
                      {.rank = 1, .components = 1, .extent = {m}, .type = {T_I32}, .data = {w}}};
    ir_value result = {0};
    ir_failure failure = {0};
    if (!ir_interpret(p, a, in, &result, &failure))
        fail_msg("%s\n%s", failure.message, print(a, p));
    return result;
}

#define INPUTS                                                                                                         \
    "extents n, m\n"                                                                                                   \
    "a1 = input [n, m]f32\n"                                                                                           \
    "a2 = input [m]f32\n"                                                                                              \
    "a3 = input [n]f32\n"                                                                                              \
    "a4 = input [m]i32\n"
#define COLUMNS "c = replicate: backpermute safe [n, m] a2 {i: i64, j: i64 -> j} "
#define ROWS "d = replicate: backpermute safe [n, m] a3 {i: i64, j: i64 -> i} "
#define WHOLE "e = replicate: backpermute safe [n, m] a4 {i: i64, j: i64 -> j} "

static const struct {
    const char *before, *after;
} moved[] = {
    /* a root of columns; the quotient is an element's own */
    {COLUMNS "r = map a1, c {x: f32, y: f32 -> x / sqrt(y)} output r",
     "a5 = map step a2 {x1: f32 -> sqrt(x1)}\n"
     "a6 = map: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = map a1, a6 {x1: f32, x2: f32 -> x1 / x2}\n"
     "output a7\n"},
    /* of rows and of columns, each over its own dimension */
    {COLUMNS ROWS "r = map a1, c, d {x: f32, y: f32, z: f32 -> x * exp(y) * (1.0f32 / z)} output r",
     "a5 = map step a3 {x1: f32 -> 1.0f32 / x1}\n"
     "a6 = map: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x1}\n"
     "a7 = map step a2 {x1: f32 -> exp(x1)}\n"
     "a8 = map: backpermute safe step [n, m] a7 {x1: i64, x2: i64 -> x2}\n"
     "a9 = map a1, a6, a8 {x1: f32, x2: f32, x3: f32 -> x1 * x3 * x2}\n"
     "output a9\n"},
    /* two terms of one dimension; the operand itself is still read */
    {COLUMNS "r = map a1, c {x: f32, y: f32 -> (x - y) / sqrt(y) + log(y)} output r",
     "a5 = replicate: backpermute safe [n, m] a2 {x1: i64, x2: i64 -> x2}\n"
     "a6 = map step a2 {x1: f32 -> log(x1), sqrt(x1)}\n"
     "a7 = map: backpermute safe step [n, m] a6 {x1: i64, x2: i64 -> x2}\n"
     "a8 = map a1, a5, a7 {x1: f32, x2: f32, x3: f32, x4: f32 -> (x1 - x2) / x4 + x3}\n"
     "output a8\n"},
    /* two operands of one dimension, one of them of an array of another type */
    {COLUMNS WHOLE "r = map a1, c, e {x: f32, y: f32, w: i32 -> x * (y / f32(w))} output r",
     "a5 = map step a2, a4 {x1: f32, x2: i32 -> x1 / f32(x2)}\n"
     "a6 = map: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = map a1, a6 {x1: f32, x2: f32 -> x1 * x2}\n"
     "output a7\n"},
    /* through a transpose */
    {"c = backpermute safe [m, n] a2 {i: i64, j: i64 -> i} d = transpose: backpermute safe [n, m] c {i: i64, j: i64 -> "
     "j, i} r = map a1, d {x: f32, y: f32 -> x / sqrt(y)} output r",

     "a5 = map step a2 {x1: f32 -> sqrt(x1)}\n"
     "a6 = map: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = map a1, a6 {x1: f32, x2: f32 -> x1 / x2}\n"
     "output a7\n"},
    /* a map of replicated elements is one of fewer elements, cheap or not; what is made of it is found, too */
    {COLUMNS "s = map c {y: f32 -> y + 1.0f32} r = map a1, s {x: f32, y: f32 -> x / sqrt(y)} output r",
     "a5 = map step a2 {x1: f32 -> x1 + 1.0f32}\n"
     "a6 = map step a5 {x1: f32 -> sqrt(x1)}\n"
     "a7 = map: backpermute safe step [n, m] a6 {x1: i64, x2: i64 -> x2}\n"
     "a8 = map a1, a7 {x1: f32, x2: f32 -> x1 / x2}\n"
     "output a8\n"},
    /* indices */
    {"r = generate [n, m] {i: i64, j: i64 -> sin(f32(i)) * cos(f32(j))} output r",
     "a5 = generate step [m] {x1: i64 -> cos(f32(x1))}\n"
     "a6 = generate: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = generate step [n] {x1: i64 -> sin(f32(x1))}\n"
     "a8 = generate: backpermute safe step [n, m] a7 {x1: i64, x2: i64 -> x1}\n"
     "a9 = generate: map indexed a6, a8 {x1: i64, x2: i64, x3: f32, x4: f32 -> x4 * x3}\n"
     "output a9\n"},
    {"r = generate [n, m] {i: i64, j: i64 -> sin(f32(j))} output r",
     "a5 = generate step [m] {x1: i64 -> sin(f32(x1))}\n"
     "a6 = generate: backpermute safe [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "output a6\n"},
    {"r = map indexed a1 {i: i64, j: i64, x: f32 -> x * exp(a2[j])} output r",
     "a5 = map: generate step [m] {x1: i64 -> exp(a2[safe x1])}\n"
     "a6 = map: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = map indexed a1, a6 {x1: i64, x2: i64, x3: f32, x4: f32 -> x3 * x4}\n"
     "output a7\n"},
    /* quotients by an extent of the elements themselves, which is not 0 where there are any; those of rows are computed
     * before the loop along a row */
    {"r = generate [n, m] {i: i64, j: i64 -> f32(quot(i * 3, n) + quot(j * 3, m))} output r",
     "a5 = generate step [m] {x1: i64 -> quot(x1 * 3, max(m, 1))}\n"
     "a6 = generate: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = generate: map indexed a6 {x1: i64, x2: i64, x3: i64 -> f32(quot(x1 * 3, max(n, 1)) + x3)}\n"
     "output a7\n"},
    {"r = generate [n, m] {i: i64, j: i64 -> f32(i + max(rem((j * 2 + 1) * n, m * 2), 1))} output r",
     "a5 = generate step [m] {x1: i64 -> max(rem((x1 * 2 + 1) * n, max(m * 2, 1)), 1)}\n"
     "a6 = generate: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = generate: map indexed a6 {x1: i64, x2: i64, x3: i64 -> f32(x1 + x3)}\n"
     "output a7\n"},
    /* where elements are moved from */
    {"r = backpermute [n, m] a1 {i: i64, j: i64 -> i, rem(j * 3, m)} output r",
     "a5 = backpermute: generate step [m] {x1: i64 -> rem(x1 * 3, max(m, 1))}\n"
     "a6 = backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = backpermute: map indexed a6 {x1: i64, x2: i64, x3: i64 -> a1[x1, x3]}\n"
     "output a7\n"},
    {"r = backpermute safe [n, m, 3] a1 {i: i64, j: i64, k: i64 -> i, rem(j * 3, m)} output r",
     "a5 = backpermute: generate step [m] {x1: i64 -> rem(x1 * 3, max(m, 1))}\n"
     "a6 = backpermute safe step [n, m, 3] a5 {x1: i64, x2: i64, x3: i64 -> x2}\n"
     "a7 = backpermute: map indexed a6 {x1: i64, x2: i64, x3: i64, x4: i64 -> a1[safe x1, x4]}\n"
     "output a7\n"},
    /* loops that come to an end, and what is chosen, if it may be computed in any case */
    {COLUMNS "r = map a1, c {x: f32, y: f32 l = for (k < 3; s = y) { next s * y } -> x + l.0} output r",
     "a5 = map step a2 {x1: f32\n"
     "    l1 = for (x2 < 3; x3 = x1) {\n"
     "        next x3 * x1\n"
     "    }\n"
     "    -> l1.0}\n"
     "a6 = map: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = map a1, a6 {x1: f32, x2: f32 -> x1 + x2}\n"
     "output a7\n"},
    {COLUMNS "r = map a1, c {x: f32, y: f32 -> if x < 0.0f32 then x else sqrt(y)} output r",
     "a5 = map step a2 {x1: f32 -> sqrt(x1)}\n"
     "a6 = map: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x2}\n"
     "a7 = map a1, a6 {x1: f32, x2: f32 -> if x1 < 0.0f32 then x1 else x2}\n"
     "output a7\n"},
    /* as many elements as it takes */
    {"c = backpermute safe [16, m] a2 {i: i64, j: i64 -> j} g = generate [16, m] {i: i64, j: i64 -> f32(i)} "
     "r = map g, c {x: f32, y: f32 -> x / sqrt(y)} output r",

     "a5 = generate [16, m] {x1: i64, x2: i64 -> f32(x1)}\n"
     "a6 = map step a2 {x1: f32 -> sqrt(x1)}\n"
     "a7 = map: backpermute safe step [16, m] a6 {x1: i64, x2: i64 -> x2}\n"
     "a8 = map a5, a7 {x1: f32, x2: f32 -> x1 / x2}\n"
     "output a8\n"},
};

static const char *const kept[] = {
    /* what takes no time; what is an element's own */
    COLUMNS "r = map a1, c {x: f32, y: f32 -> x * (y + 1.0f32)} output r",
    COLUMNS "r = map a1, c {x: f32, y: f32 -> x / y} output r",
    COLUMNS ROWS "r = map c, d {y: f32, z: f32 -> y / z} output r",
    /* what may fail, tells that it was computed, or does not end */
    WHOLE "r = map a1, e {x: f32, w: i32 -> if x < 99.0f32 then x else x * f32(100i32 / w)} output r",
    COLUMNS "r = map a1, c {x: f32, y: f32 -> x + sqrt(trace(y))} output r",
    COLUMNS "r = map a1, c {x: f32, y: f32 l = while (s = y) { test s < 0.0f32 next s / y } -> x + l.0} output r",
    /* reads under a condition, which keeps them inside */
    "r = map indexed a1 {i: i64, j: i64, x: f32 -> if x < 99.0f32 && j + 1 < m then x * exp(a2[safe j + 1]) else x} "
    "output r",
    "r = map indexed a1 {i: i64, j: i64, x: f32 -> x * exp(a3[safe 0] + a2[j])} output r",
    /* quotients that go along with a loop, or that stand before it; a divisor that may be 0 */
    "r = generate [n, m] {i: i64, j: i64 -> i * quot(j + 1, m) + quot(j * 3, 5)} output r",
    "r = backpermute [n, m] a1 {i: i64, j: i64 -> i, mod(j - (rem(i, 3) + -1), m)} output r",
    "r = backpermute [n, m] a1 {i: i64, j: i64 -> rem(i * 3, n), j} output r",
    "r = generate [n, m] {i: i64, j: i64 -> i * quot(j * 3, n)} output r",
    "r = generate [n, m, n] {i: i64, j: i64, k: i64 -> i * k * quot(j * 3, m)} output r",
    /* arithmetic of indices; few elements along the other dimension; what the rest outweighs */
    "r = generate [n, m] {i: i64, j: i64 -> i * (j / 3)} output r",
    "c = backpermute safe [15, m] a2 {i: i64, j: i64 -> j} g = generate [15, m] {i: i64, j: i64 -> f32(i)} "
    "r = map g, c {x: f32, y: f32 -> x / sqrt(y)} output r",
    COLUMNS "r = map a1, c {x: f32, y: f32 -> exp(exp(exp(exp(exp(x))))) + sqrt(y)} output r",
    COLUMNS "r = map a1, c {x: f32, y: f32 l = for (k < 3; s = x) { next s + sqrt(y) } -> l.0} output r",
    /* an index that is not one of the operation's own */
    "c = backpermute safe [n, m] a2 {i: i64, j: i64 -> m - 1 - j} r = map a1, c {x: f32, y: f32 -> x / sqrt(y)} output "
    "r",
    /* what is to be computed at each use */
    COLUMNS "r = map fused a1, c {x: f32, y: f32 -> x / sqrt(y)} output r",
    /* one dimension, and none */
    "r = map a2 {y: f32 -> sqrt(y)} output r",
};

/* Same bits, NaNs too: nothing is computed otherwise. */
static void check_same(const ir_value *x, const ir_value *y)
{
    int64_t elements = 1;
    assert_int_equal(x->rank, y->rank);
    for (unsigned d = 0; d < x->rank; d++) {
        assert_int_equal(x->extent[d], y->extent[d]);
        elements *= x->extent[d];
    }
    assert_memory_equal(x->data[0], y->data[0], (size_t)elements * ir_type_size((ir_type)x->type[0]));
}

static void what_is_computed_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(moved) / sizeof(*moved); i++) {
        arena a;
        arena_init(&a, NULL);
        const char *before = arena_printf(&a, INPUTS "%s", moved[i].before), *why = NULL;
        ir_program *p = parse(&a, before), *old = parse(&a, before);
        opt_compute_once(p);
        if (!ir_check_program(p, &a, &why))
            fail_msg("%s\n%s", why, print(&a, p));
        ir_program *again = parse(&a, print(&a, p));
        assert_string_equal(print(&a, again), arena_printf(&a, INPUTS "%s", moved[i].after));
        for (unsigned size = 0; size < 3; size++) {
            int64_t n = size == 1 ? 0 : N, m = size == 2 ? 0 : M;
            ir_value wanted = results_of(old, &a, n, m), got = results_of(p, &a, n, m);
            check_same(&wanted, &got);
        }
        arena_free(&a);
    }
}

static void what_stays(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        arena a;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, arena_printf(&a, INPUTS "%s", kept[i]));
        const char *before = print(&a, p);
        opt_compute_once(p);
        assert_string_equal(print(&a, p), before);
        arena_free(&a);
    }
}

/* --- random functions --- */

static uint32_t next(uint64_t *s, uint32_t n)
{
    *s = *s * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*s >> 33) % n;
}

/* A term over x, y, z, i and j. */
static const char *random_term(arena *a, uint64_t *s, unsigned deep)
{
    static const char *const leaf[] = {"x", "y", "z", "f32(i)", "f32(j)", "2.5f32", "a2[j]", "a3[i]"};
    static const char *const form[] = {"(%s + %s)",
                                       "(%s * %s)",
                                       "(%s / %s)",
                                       "(sqrt(%s) - %s)",
                                       "(exp(%s) * %s)",
                                       "min(%s, %s)",
                                       "(if y < %s then %s else z)",
                                       "(if x < %s then %s else y)"};
    if (!deep || !next(s, 6))
        return leaf[next(s, sizeof(leaf) / sizeof(*leaf))];
    const char *f = form[next(s, sizeof(form) / sizeof(*form))];
    const char *left = random_term(a, s, deep - 1), *right = random_term(a, s, deep - 1);
    char *out = arena_alloc(a, strlen(f) + strlen(left) + strlen(right) + 1);
    const char *at = strstr(f, "%s"), *then = strstr(at + 2, "%s");
    snprintf(out, strlen(f) + strlen(left) + strlen(right), "%.*s%s%.*s%s%s", (int)(at - f), f, left,
             (int)(then - at - 2), at + 2, right, then + 2);
    return out;
}

static void random_functions(void **state)
{
    enum { FUNCTIONS = 400 };
    uint32_t made = 0;
    uint64_t s = 7;
    (void)state;
    for (unsigned k = 0; k < FUNCTIONS; k++) {
        arena a;
        arena_init(&a, NULL);
        const char *first = random_term(&a, &s, 3), *second = random_term(&a, &s, 4), *why = NULL;
        const char *source = arena_printf(
            &a,
            INPUTS COLUMNS ROWS "q = map indexed a1, c, d {i: i64, j: i64, x: f32, y: f32, z: f32 -> %s} "
                                "r = map indexed q, c, d {i: i64, j: i64, x: f32, y: f32, z: f32 -> %s} output r",
            first, second);
        ir_program *p = parse(&a, source), *old = parse(&a, source);
        opt_compute_once(p);
        if (!ir_check_program(p, &a, &why))
            fail_msg("%s\n%s", why, source);
        made += strstr(print(&a, p), "step") != NULL;
        ir_value wanted = results_of(old, &a, N, M), got = results_of(p, &a, N, M);
        check_same(&wanted, &got);
        arena_free(&a);
    }
    assert_true(made > FUNCTIONS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_computed_once), cmocka_unit_test(what_stays),
                                       cmocka_unit_test(random_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
