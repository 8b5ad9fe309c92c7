/* Folds that compute the stencils they read in their own loop: of how many elements, with which operators, on which
 * devices. */
#include <stdio.h>

#include "clusters_text.h"

static const char head[] = "extents n, m\n"
                           "x = input [n, m]f32\n";
static const char sum[] = "fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}";
static const char least[] = "fold commutes f {x: f32, y: f32 -> min(x, y)}";

/* A stencil `s` of rows x columns elements of an array, their sum. */
static const char *stencil(char *to, size_t room, const char *name, const char *of, unsigned rows, unsigned columns)
{
    int n = snprintf(to, room, "%s = stencil %s pattern %u x %u clamp {", name, of, rows, columns);
    for (unsigned i = 0; i < rows * columns; i++)
        n += snprintf(to + n, room - (size_t)n, "%sx%u: f32", i ? ", " : "", i);
    snprintf(to + n, room - (size_t)n, " -> sqrt(x0) + sqrt(x%u)}\n", rows * columns - 1);
    return to;
}

/* How many loops compute a program: a fold of all elements of a stencil's result, which is made by `made` beside `f`.
 */
static unsigned loops(l_options options, const char *made, const char *folds)
{
    char source[8192];
    snprintf(source, sizeof(source), "%s%s%s", head, made, folds);
    return count_clusters(options, source);
}

static unsigned loops_of_size(bool threads, unsigned rows, unsigned columns, const char *fold)
{
    char made[4096], folds[512];
    stencil(made, sizeof(made), "s", "x", rows, columns);
    snprintf(folds, sizeof(folds), "f = reshape [n * m] s\nt = %s\noutput t\n", fold);
    return loops((l_options){.rows = true, .threads = threads}, made, folds);
}

static void small_stencils_are_computed_by_the_fold(void **state)
{
    static const char ordered[] = "fold f {x: f32, y: f32 -> x * x + y}";
    (void)state;
    assert_int_equal(loops_of_size(false, 3, 3, sum), 1);
    assert_int_equal(loops_of_size(false, 5, 5, sum), 1);
    assert_int_equal(loops_of_size(false, 3, 9, sum), 1);
    assert_int_equal(loops_of_size(false, 5, 7, sum), 2);
    assert_int_equal(loops_of_size(false, 7, 7, least), 2);
    assert_int_equal(loops_of_size(false, 3, 3, ordered), 1);
    assert_int_equal(loops_of_size(true, 3, 3, sum), 1); /* threads have no rows of their own */
    assert_int_equal(loops_of_size(true, 3, 5, sum), 2);
    assert_int_equal(loops_of_size(true, 1, 9, least), 1);
    assert_int_equal(loops_of_size(true, 3, 3, ordered), 2);
}

/* Elements that several stencils read add up; those of one or two bytes count for more. */
static void all_that_is_read_counts(void **state)
{
    char two[4096], a[2048], b[2048];
    (void)state;
    for (unsigned columns = 5; columns <= 7; columns += 2) {
        snprintf(two, sizeof(two), "%s%sd = map p, q {x: f32, y: f32 -> sqrt(x) - sqrt(y)}\n",
                 stencil(a, sizeof(a), "p", "x", 3, columns), stencil(b, sizeof(b), "q", "x", 3, columns));
        assert_int_equal(loops((l_options){.rows = true}, two,
                               "f = reshape [n * m] d\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                               "output t\n"),
                         columns == 5 ? 1 : 2);
    }
    for (unsigned rows = 3; rows <= 5; rows += 2) { /* 3 x 7, 5 x 5 */
        unsigned columns = rows == 3 ? 7 : 5;
        int n = snprintf(two, sizeof(two), "b = input [n, m]u8\ns = stencil b pattern %u x %u clamp {", rows, columns);
        for (unsigned i = 0; i < rows * columns; i++)
            n += snprintf(two + n, sizeof(two) - (size_t)n, "%sx%u: u8", i ? ", " : "", i);
        snprintf(two + n, sizeof(two) - (size_t)n, " -> sqrt(f32(x0)) + sqrt(f32(x1))}\n");
        assert_int_equal(loops((l_options){.rows = true}, two,
                               "f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
                               "output t\n"),
                         rows == 3 ? 1 : 2);
    }
}

/* What anything else reads is stored, and so is what only a fold along rows reads, or two folds that share no loop. */
static void nothing_else_may_need_it(void **state)
{
    static const struct {
        const char *folds;
        unsigned loops;
    } cases[] = {
        {"f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput t\n", 1},
        {"f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput t, s\n", 2},
        {"f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput t, f\n", 2},
        {"g = map s {x: f32 -> x * x}\nf = reshape [n * m] g\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + "
         "y}\n"
         "output t\n",
         1},
        {"g = map s {x: f32 -> x * x}\nf = reshape [n * m] g\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + "
         "y}\n"
         "output t, g\n",
         2},
        {"t = fold commutes s seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput t\n", 2},
        {"f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
         "u = fold commutes f {x: f32, y: f32 -> max(x, y)}\noutput t, u\n",
         1},
        {"f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
         "u = fold f {x: f32, y: f32 -> x - y}\noutput t, u\n",
         3},
        {"f = reshape [n * m] s\nu = fold f {x: f32, y: f32 -> x - y}\n"
         "t = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput t, u\n",
         3},
        {"f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
         "g = map f {x: f32 -> x - t[]}\nu = fold commutes g {x: f32, y: f32 -> max(x, y)}\noutput u\n",
         3},
        {"f = reshape [n * m] s\nt = fold commutes f seed 0.0f32 {x: f32, y: f32 -> x + y}\n"
         "g = generate [5] {i: i64 -> f[i * i]}\noutput t, g\n",
         3},
    };
    char made[512];
    (void)state;
    stencil(made, sizeof(made), "s", "x", 3, 3);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (loops((l_options){.rows = true}, made, cases[i].folds) != cases[i].loops)
            fail_msg("case %u: %u loops", i, loops((l_options){.rows = true}, made, cases[i].folds));
}

/* Stencils that read each other's rows share a loop, up to a number of them. */
static void loops_have_so_many_stages(void **state)
{
    (void)state;
    for (unsigned stages = 1; stages <= 2 * L_MOST_STAGES + 1; stages++) {
        char source[4096];
        int n = snprintf(source, sizeof(source), "%ss0 = map x {x: f32 -> x + 1.0f32}\n", head);
        for (unsigned i = 1; i <= stages; i++)
            n += snprintf(source + n, sizeof(source) - (size_t)n,
                          "s%u = stencil s%u pattern 3 x 1 clamp {a: f32, b: f32, c: f32 -> a + b * c}\n", i, i - 1);
        snprintf(source + n, sizeof(source) - (size_t)n, "output s%u\n", stages);
        assert_int_equal(count_clusters((l_options){.rows = true}, source),
                         (stages + L_MOST_STAGES - 1) / L_MOST_STAGES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_stencils_are_computed_by_the_fold, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(all_that_is_read_counts, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(nothing_else_may_need_it, clusters_setup, clusters_teardown),
        cmocka_unit_test_setup_teardown(loops_have_so_many_stages, clusters_setup, clusters_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
