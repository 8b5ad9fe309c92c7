/* What folds read is known in bytes, each counted once, however often it is read; and what is fetched ahead is what
 * they read most of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop/cluster.h"
#include "skeleton/element/spans.h"

enum { N = 3000, M = 5000 };

static const sk_options vectors = {.vector_bytes = 64, .workers = 2, .checks = true, .contract = true, .narrow = true};

static const struct {
    const char *source;
    double bytes;
    bool large;          /* over N x M elements, more than a cache of as many bytes as these elements have */
    uint32_t some, none; /* inputs of which something, and of which nothing, is fetched ahead; 0: neither */
} folds[] = {
    /* each element of a matrix once */
    {"extents n, m\na1 = input [n, m]f32\na2 = fold commutes a1 seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput a2\n",
     4.0 * N *M, true, 1, 0},
    /* a matrix by a vector, whose elements come again in each row */
    {"extents n, m\na1 = input [n, m]f32\na2 = input [m]f32\n"
     "a3 = backpermute safe [n, m] a2 {i: i64, k: i64 -> k}\n"
     "a4 = map a1, a3 {x: f32, y: f32 -> x * y}\n"
     "a5 = fold commutes a4 seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput a5\n",
     4.0 * N *M + 4.0 * M, true, 1, 2},
    /* pairs of elements */
    {"extents n, m\na1 = input [n]f32\na2 = input [m]f32\n"
     "a3 = backpermute safe [n, m] a1 {i: i64, k: i64 -> i}\na4 = backpermute safe [n, m] a2 {i: i64, k: i64 -> k}\n"
     "a5 = map a3, a4 {x: f32, y: f32 -> abs(x - y)}\n"
     "a6 = fold commutes a5 {x: f32, y: f32 -> min(x, y)}\noutput a6\n",
     4.0 * N + 4.0 * M, false, 0, 1},
    /* the same, all in one row */
    {"extents n, m\na1 = input [n]f32\na2 = input [m]f32\n"
     "a3 = backpermute safe [n, m] a1 {i: i64, k: i64 -> i}\na4 = backpermute safe [n, m] a2 {i: i64, k: i64 -> k}\n"
     "a5 = map a3, a4 {x: f32, y: f32 -> abs(x - y)}\na6 = reshape [n * m] a5\n"
     "a7 = fold commutes a6 {x: f32, y: f32 -> min(x, y)}\noutput a7\n",
     4.0 + 4.0, false, 0, 1},
    /* windows, which have most elements in common */
    {"extents n, m, k\na1 = input [k]f32\na2 = backpermute [n, m] a1 {i: i64, j: i64 -> i + j}\n"
     "a3 = fold commutes a2 seed 0.0f32 {x: f32, y: f32 -> x + y}\noutput a3\n",
     4.0 * (N + M), false, 0, 1},
    /* elements and those behind them */
    {"extents n, m\na1 = input [n, m]f64\na2 = backpermute [n, m] a1 {i: i64, j: i64 -> i, j + 1}\n"
     "a3 = map a1, a2 {x: f64, y: f64 -> abs(x - y)}\n"
     "a4 = fold commutes a3 {x: f64, y: f64 -> max(x, y)}\noutput a4\n",
     8.0 * N *M, true, 1, 0},
    /* operators that keep order */
    {"extents n, m\na1 = input [n, m]i32\na2 = fold a1 seed 1i32 {x: i32, y: i32 -> x * 3i32 - y}\noutput a2\n",
     4.0 * N *M, true, 1, 0},
};

static bool is_of(const sk_kernel *k, k_mem m, ir_id array)
{
    uint32_t number = 0;
    for (k_mem other = 0; other < m; other++)
        number += k->k->mem.at[other].space == K_GLOBAL && other > 0;
    const sk_binding *b = k->k->mem.at[m].space == K_GLOBAL ? &k->memory.at[number] : NULL;
    return b && b->role == SK_ARRAY && b->array == array;
}

static unsigned fetched(const sk_kernel *k, ir_id array)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < k->k->stmt.n; i++) {
        const k_stmt *s = &k->k->stmt.at[i];
        n += s->op == K_LOAD && s->sub == K_AHEAD && is_of(k, s->mem, array);
    }
    return n;
}

static void test_spans(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LENGTH(folds); i++) {
        arena a;
        const char *message = "";
        arena_init(&a, NULL);
        ir_program *p = ir_parse(&a, folds[i].source, &message);
        if (!p)
            fail_msg("%u: %s", i, message);
        l_program *l = l_clusters(p, &(l_options){.fuse = true, .cost_model = true});
        const sk_program *s = sk_prepare(l);
        assert_int_equal(l->cluster.n, 1);
        const sk_cluster *c = &s->cluster[0];
        const int64_t extent[2] = {c->loop->rank == 1 ? N * M : N, M};
        const double bytes = sk_spanned_bytes(c, extent);
        if (bytes != folds[i].bytes)
            fail_msg("%u: %.0f bytes", i, bytes);
        sk_geometry g;
        sk_reason why;
        sk_options o = vectors;
        assert_true(sk_plan_launch(c, &o, extent, (sk_round){.pass = SK_PASS_LOOP}, 3 * N * M, &g));
        if (g.ahead != folds[i].large)
            fail_msg("%u: fetches ahead: %d", i, g.ahead);
        o.ahead = true;
        o.row = g.row;
        const sk_kernel *k = sk_build(c, g.variant, SK_PASS_LOOP, &o, &a, &why);
        assert_non_null(k);
        if (folds[i].some && !fetched(k, p->input.at[folds[i].some - 1]))
            fail_msg("%u: input %u is not fetched by %s", i, folds[i].some, k->k->name);
        if (folds[i].none && folds[i].some && fetched(k, p->input.at[folds[i].none - 1]))
            fail_msg("%u: input %u is fetched", i, folds[i].none);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_spans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
