/* Which chains of maps become a loop: operations before and after, and the results of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "ir/interpret.h"
#include "opt/recover.h"

enum { N = 5 };

static unsigned maps_of(const ir_program *p, arena *a)
{
    text t;
    text_init(&t, a);
    ir_print(p, &t);
    unsigned n = 0;
    bool used[1000] = {false};
    ir_id left[1000];
    unsigned open = 0;
    for (uint32_t i = 0; i < p->output.n; i++)
        left[open++] = p->output.at[i];
    while (open > 0) {
        ir_id id = left[--open];
        if (used[id])
            continue;
        used[id] = true;
        n += ir_at(p, id)->kind == IR_MAP;
        for (uint32_t i = 0; i < ir_info(p, id)->inputs; i++)
            left[open++] = ir_info(p, id)->input[i];
    }
    return n;
}

static void results_of(const ir_program *p, arena *a, int64_t *out)
{
    static const int64_t x[N] = {1, -2, 3, 40, 500}, y[N] = {7, 8, -9, 10, 11}, z[N] = {2, 3, 5, 7, 11};
    static const int64_t *const data[] = {x, y, z};
    ir_value in[3], result = {0};
    ir_failure failure = {0};
    for (unsigned i = 0; i < 3; i++) {
        in[i] = (ir_value){.rank = 1, .components = 1};
        in[i].extent[0] = N;
        in[i].type[0] = T_I64;
        in[i].data[0] = (void *)(uintptr_t)data[i];
    }
    assert_true(ir_interpret(p, a, in, &result, &failure));
    memcpy(out, result.data[0], N * sizeof(*out));
}

/* The chain of `turns` maps, whose k-th has the text that step(k) writes with the predecessor's name; how many maps are
 * left. */
typedef void writer(unsigned k, char *out, size_t room);

static unsigned left_of(unsigned turns, writer *step)
{
    arena a;
    char source[8192];
    const char *message = "";
    int64_t before[N], after[N];
    arena_init(&a, NULL);
    size_t n = (size_t)snprintf(source, sizeof(source),
                                "extents n\na1 = input [n]i64\na2 = input [n]i64\na3 = input [n]i64\n");
    for (unsigned k = 0; k < turns; k++) {
        char line[200];
        step(k, line, sizeof(line));
        n += (size_t)snprintf(source + n, sizeof(source) - n, "a%u = %s\n", k + 4, line);
    }
    snprintf(source + n, sizeof(source) - n, "output a%u\n", turns + 3);
    ir_program *p = ir_parse(&a, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    results_of(p, &a, before);
    opt_recover_loops(p);
    results_of(p, &a, after);
    assert_memory_equal(before, after, sizeof(before));
    unsigned left = maps_of(p, &a);
    arena_free(&a);
    return left;
}

static unsigned predecessor(unsigned k)
{
    return k ? k + 3 : 1;
}

static void same_arrays(unsigned k, char *out, size_t room)
{
    snprintf(out, room, "map a%u, a2 {x1: i64, x2: i64 -> x1 * 3 + x2}", predecessor(k));
}

static void exchanged_arrays(unsigned k, char *out, size_t room)
{
    snprintf(out, room, "map a%u, a%u {x1: i64, x2: i64 -> x1 * 3 + x2}", predecessor(k), k % 2 ? 2u : 3u);
}

static void other_array_at_last(unsigned k, char *out, size_t room)
{
    snprintf(out, room, "map a%u, a%u {x1: i64, x2: i64 -> x1 * 3 + x2}", predecessor(k), k == 19 ? 3u : 2u);
}

static void exchanged_places(unsigned k, char *out, size_t room)
{
    if (k % 2)
        snprintf(out, room, "map a%u, a2 {x1: i64, x2: i64 -> x1 * 3 + x2}", predecessor(k));
    else
        snprintf(out, room, "map a2, a%u {x1: i64, x2: i64 -> x1 * 3 + x2}", predecessor(k));
}

static void other_functions(unsigned k, char *out, size_t room)
{
    snprintf(out, room, "map a%u, a2 {x1: i64, x2: i64 -> x1 * %u + x2}", predecessor(k), k % 2 + 2);
}

static void partial_functions(unsigned k, char *out, size_t room)
{
    snprintf(out, room, "map a%u, a3 {x1: i64, x2: i64 -> x1 + quot(x1, x2)}", predecessor(k));
}

static void chains_of_one_function_over_the_same_arrays_only(void **state)
{
    (void)state;
    assert_int_equal(left_of(20, same_arrays), 1);
    assert_int_equal(left_of(OPT_LEAST_TURNS, same_arrays), 1);
    assert_int_equal(left_of(OPT_LEAST_TURNS - 1, same_arrays), OPT_LEAST_TURNS - 1);
    assert_int_equal(left_of(20, exchanged_arrays), 20);
    assert_int_equal(left_of(20, other_array_at_last), 2);
    assert_int_equal(left_of(20, exchanged_places), 20);
    assert_int_equal(left_of(20, other_functions), 20);
    assert_int_equal(left_of(20, partial_functions), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains_of_one_function_over_the_same_arrays_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
