/* Which loops in scalar code become folds of rows: texts in, texts out, and the results of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/interpret.h"
#include "opt/row_loops.h"
#include "support/program_text.h"

enum { N = 3, M = 9 };

/* Inputs: [n,m]i32, [m]i32, [n]i32. */
static ir_value results_of(const ir_program *p, arena *a)
{
    static int32_t x[N * M], y[M], z[N] = {2, 0, 1};
    for (int i = 0; i < N * M; i++)
        x[i] = i * i % 31 - 9;
    for (int i = 0; i < M; i++)
        y[i] = 5 - i;
    ir_value in[3] = {{.rank = 2, .components = 1, .extent = {N, M}, .type = {T_I32}, .data = {x}},
                      {.rank = 1, .components = 1, .extent = {M}, .type = {T_I32}, .data = {y}},
                      {.rank = 1, .components = 1, .extent = {N}, .type = {T_I32}, .data = {z}}};
    ir_value result = {0};
    ir_failure failure = {0};
    if (!ir_interpret(p, a, in, &result, &failure))
        fail_msg("%s\n%s", failure.message, print(a, p));
    return result;
}

#define INPUTS                                                                                                         \
    "extents n, m\n"                                                                                                   \
    "a1 = input [n, m]i32\n"                                                                                           \
    "a2 = input [m]i32\n"                                                                                              \
    "a3 = input [n]i32\n"

/* A generate over n of this function's text; and what it becomes. */
static const struct {
    const char *before, *after;
} folds[] = {
    {"r = generate [n] {i: i64 l = for (k < m; s = 7i32) { next s + a1[i, k] } -> l.0} output r",
     "a4 = generate step [n, m] {x1: i64, x2: i64 -> a1[x1, x2]}\n"
     "a5 = generate: fold commutes a4 seed 7i32 {x1: i32, x2: i32 -> x1 + x2}\noutput a5\n"},
    /* what a row begins with comes to what it has come to */
    {"r = generate [n] {i: i64 l = for (k < m; s = a3[i]) { next max(a1[i, k] * a2[k], s) } -> l.0 + 1i32} output r",
     "a4 = generate step [n, m] {x1: i64, x2: i64 -> a1[x1, x2] * a2[x2]}\n"
     "a5 = generate: fold commutes step a4 seed -2147483648i32 {x1: i32, x2: i32 -> max(x1, x2)}\n"
     "a6 = generate: map indexed a5 {x1: i64, x2: i32 -> max(a3[x1], x2) + 1i32}\noutput a6\n"},
    /* two states, of one loop; elements of the map's operand take part */
    {"q = map indexed a3 {i: i64, e: i32 l = for (k < m; s = 0i32, t = 1i32) { next s + a1[i, k], t * (a2[k] + e) } -> "
     "l.0 - "
     "l.1} "
     "output q",
     "a4 = map: backpermute safe step [n, m] a3 {x1: i64, x2: i64 -> x1}\n"
     "a5 = map indexed step a4 {x1: i64, x2: i64, x3: i32 -> a1[x1, x2], a2[x2] + x3}\n"
     "a6 = map: fold commutes step a5 seed 0i32, 1i32 {x1: i32, x2: i32, x3: i32, x4: i32 -> x1 + x3, x2 * x4}\n"
     "a7 = map indexed a3, a6 {x1: i64, x2: i32, x3: i32, x4: i32 -> x3 - x4}\noutput a7\n"},
    /* a loop that uses what another one has come to */
    {"r = generate [n] {i: i64 l = for (k < m; s = 5i32) { next max(s, a1[i, k]) } "
     "h = for (k < m; t = 0i32) { next t + (a1[i, k] - l.0) } -> h.0} output r",
     "a4 = generate step [n, m] {x1: i64, x2: i64 -> a1[x1, x2]}\n"
     "a5 = generate: fold commutes step a4 seed 5i32 {x1: i32, x2: i32 -> max(x1, x2)}\n"
     "a6 = generate: backpermute safe step [n, m] a5 {x1: i64, x2: i64 -> x1}\n"
     "a7 = generate: map indexed step a6 {x1: i64, x2: i64, x3: i32 -> a1[x1, x2] - x3}\n"
     "a8 = generate: fold commutes a7 seed 0i32 {x1: i32, x2: i32 -> x1 + x2}\noutput a8\n"},
    /* one sum of a whole array */
    {"r = generate [] {l = for (k < m; s = 0i32) { next s + a2[k] } -> l.0} output r",
     "a4 = generate step [m] {x1: i64 -> a2[x1]}\n"
     "a5 = generate: fold commutes a4 seed 0i32 {x1: i32, x2: i32 -> x1 + x2}\noutput a5\n"},
};

#define ROW(...) "r = generate [n] {i: i64 l = for (k < m; s = 7i32) { next " __VA_ARGS__ " } -> l.0} output r"
/* These stay loops: */
static const char *const loops[] = {
    /* no operator of a fold; what is combined depends on a state */
    ROW("s - a1[i, k]"),
    ROW("s + s * a1[i, k]"),
    "r = generate [n] {i: i64 l = for (k < m; s = 7i32, t = 0i32) { next s + a1[i, k], t + s } -> l.0} output r",
    /* columns; what all elements read alike; backwards */
    "r = generate [m] {j: i64 l = for (k < n; s = 7i32) { next s + a1[k, j] } -> l.0} output r",
    ROW("s + a2[k] * a3[i]"),
    ROW("s + a1[i, m - 1 - k]"),
    /* few rounds; what tells that it was computed */
    "r = generate [n] {i: i64 l = for (k < 3; s = 7i32) { next s + a1[i, k] } -> l.0} output r",
    ROW("s + trace(a1[i, k])"),
    /* as few as folds take from left to right, where it may fail */
    "r = generate [n] {i: i64 l = for (k < 32; s = 7i32) { next s + a1[i64(a3[i]), k] } -> l.0} output r",
    /* under a condition; in another loop */
    "r = generate [n] {i: i64 l = for (k < m; s = 7i32) { next s + a1[i, k] } -> if i < 1 then l.0 else 3i32} output r",
    "r = generate [n] {i: i64 h = for (j < 2; t = 1i32) { l = for (k < m; s = t) { next s + a1[i, k] } next l.0 } -> "
    "h.0} output r",
};

/* These do, too, but go along rows: */
static const char *const along[] = {
    /* of their own lengths, or places */
    "generate [n] {i: i64 l = for (k < i; s = 7i32) { next s + a1[i, k] } -> l.0} output r",
    "generate [n] {i: i64 l = for (k < i64(a3[i]); s = 7i32) { next min(s, a2[i64(a3[i]) + k]) } -> l.0} output r",
    "map a3 {e: i32 l = for (k < i64(e); s = e) { next s + a1[i64(e), k] * a2[k] } -> l.0} output r",
    /* what may fail */
    "generate [n] {i: i64 l = for (k < m; s = 7i32) { next s + a1[i64(a3[i]), k] } -> l.0} output r",
    "generate [n] {i: i64 l = for (k < m; s = 7i32) { next s + a1[i, k] / a2[k] } -> l.0} output r",
    "generate [n] {i: i64 l = for (k < 33; s = 7i32) { next s + a1[i64(a3[i]), k] } -> l.0} output r",
};

static void test_folds(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(folds) / sizeof(*folds); i++) {
        arena a;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, arena_printf(&a, INPUTS "%s", folds[i].before));
        ir_value before = results_of(p, &a);
        opt_fold_row_loops(p);
        const char *why = NULL;
        if (!ir_check_program(p, &a, &why))
            fail_msg("%s\n%s", why, print(&a, p));
        ir_program *again = parse(&a, print(&a, p));
        const char *wanted = arena_printf(&a, INPUTS "%s", folds[i].after);
        assert_string_equal(print(&a, again), wanted);
        ir_value after = results_of(p, &a);
        assert_int_equal(before.rank, after.rank);
        assert_memory_equal(before.data[0], after.data[0], (before.rank ? N : 1) * sizeof(int32_t));
        arena_free(&a);
    }
}

static void test_loops_that_stay(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
        arena a;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, arena_printf(&a, INPUTS "%s", loops[i]));
        const char *before = print(&a, p);
        opt_fold_row_loops(p);
        assert_string_equal(print(&a, p), before);
        arena_free(&a);
    }
}

static void test_loops_along_rows(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(along) / sizeof(*along); i++) {
        arena a;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, arena_printf(&a, INPUTS "r = %s", along[i]));
        opt_fold_row_loops(p);
        char *word = strchr(along[i], ' ');
        const char *marked = arena_printf(&a, INPUTS "r = %.*s along%s", (int)(word - along[i]), along[i], word);
        assert_string_equal(print(&a, p), print(&a, parse(&a, marked)));
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_folds), cmocka_unit_test(test_loops_that_stay),
                                       cmocka_unit_test(test_loops_along_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
