/* What is made of contractions where their tiles are: elements, and folds of the last dimension. Against the
 * interpreter, which knows no tiles, where sums are exact, and bit by bit against the same with the contraction's
 * results in memory; drawn at random, too. And how many loops it is. */
#include "both.h"
#include "support/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- programs --- */

typedef enum { PRODUCTS, DISTANCES, LEAST_SUMS, PRODUCTS_AND_BOUNDS, INNERS } inner;
typedef enum { AS_IT_IS, BIASED, CUT, SCALED_BY_ROW, BETWEENS } between;
typedef enum {
    ELEMENTS,
    NEAREST,
    FURTHEST,
    TOTALS,
    SQUARES,
    GREATEST,
    FIRST_AND_LAST,
    AFFINE,
    NO_IDENTITY,
    SEVERAL,
    OUTERS
} outer;

typedef struct made {
    inner inner;
    between between;
    outer outer;
    bool batched, stored, in_memory; /* the results of the contraction: also stored; forced */
} made;

static sn_scalar square_apart(sn_scalar x, sn_scalar y)
{
    sn_scalar apart = sn_sub(x, y);
    return sn_mul(apart, apart);
}

static sn_scalar product_and_sum(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_mul(x, y), sn_add(x, y));
}

static sn_scalar sum_and_bound(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_max(sn_snd(a), sn_snd(b)));
}

static sn_scalar less_bound(sn_scalar both)
{
    return sn_sub(sn_fst(both), sn_snd(both));
}

static sn_acc contraction(const made *m, sn_acc x, sn_acc y)
{
    sn_acc rows = m->batched ? sn_replicate(x, SN_ALL, SN_ALL, sn_extent(y, 0), SN_ALL)
                             : sn_replicate(x, SN_ALL, sn_extent(y, 0), SN_ALL);
    sn_acc columns = m->batched ? sn_replicate(y, sn_extent(x, 0), sn_extent(x, 1), SN_ALL, SN_ALL)
                                : sn_replicate(y, sn_extent(x, 0), SN_ALL, SN_ALL);
    switch (m->inner) {
    case PRODUCTS:
        return sn_sum(sn_zip_with(sn_mul, rows, columns));
    case DISTANCES:
        return sn_sum(sn_zip_with(square_apart, rows, columns));
    case LEAST_SUMS:
        return sn_minimum(sn_zip_with(sn_add, rows, columns));
    default:
        return sn_map(less_bound, sn_fold1(sn_commutative(sum_and_bound), sn_zip_with(product_and_sum, rows, columns)));
    }
}

static sn_scalar cut(sn_scalar x)
{
    return sn_if(sn_gt(x, 1), x, 1);
}

static sn_scalar squared(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar first_and_last(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_fst(a), sn_snd(b));
}

static sn_scalar twice(sn_scalar x)
{
    return sn_tuple(x, x);
}

/* x * a + b, one behind the other: associative where arithmetic wraps */
static sn_scalar behind(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_scalar either_bits(sn_scalar a, sn_scalar b)
{
    return sn_max(a, sn_max(b, 1));
}

static sn_acc between_the_folds(const made *m, sn_acc all, sn_acc x, sn_acc y)
{
    sn_acc column = sn_slice(y, SN_ALL, 0);
    switch (m->between) {
    case BIASED:
        return sn_zip_with(sn_add, all,
                           m->batched ? sn_replicate(column, sn_extent(x, 0), sn_extent(x, 1), SN_ALL)
                                      : sn_replicate(column, sn_extent(x, 0), SN_ALL));
    case CUT:
        return sn_map(cut, all);
    case SCALED_BY_ROW:
        return sn_zip_with(sn_mul, all,
                           m->batched ? sn_replicate(sn_slice(x, SN_ALL, SN_ALL, 0), SN_ALL, SN_ALL, sn_extent(y, 0))
                                      : sn_replicate(sn_slice(x, SN_ALL, 0), SN_ALL, sn_extent(y, 0)));
    default:
        return all;
    }
}

static sn_acc made_of(void *env, int count, const sn_acc *a)
{
    const made *m = env;
    (void)count;
    sn_acc all = contraction(m, a[0], a[1]);
    if (m->in_memory)
        all = sn_force(all);
    sn_acc x = between_the_folds(m, all, a[0], a[1]), pairs = sn_map(twice, x), y;
    switch (m->outer) {
    case ELEMENTS:
        return m->stored ? sn_results(all, x, sn_map(squared, x)) : x;
    case NEAREST:
        y = sn_argmin(x);
        break;
    case FURTHEST:
        y = sn_argmax(x);
        break;
    case TOTALS:
        y = sn_sum(x);
        break;
    case SQUARES:
        y = sn_fold(sn_add, 3, sn_map(squared, x));
        break;
    case GREATEST:
        y = sn_maximum(x);
        break;
    case FIRST_AND_LAST:
        y = sn_fold1(first_and_last, pairs);
        break;
    case AFFINE:
        y = sn_fold1(behind, pairs);
        break;
    case NO_IDENTITY:
        y = sn_fold1(sn_commutative(either_bits), x);
        break;
    default:
        return sn_results(sn_sum(x), sn_maximum(x), sn_argmin(x), sn_minimum(sn_map(cut, x)));
    }
    return m->stored ? sn_results(y, all) : y;
}

/* The same twice, of equal arguments: in tiles, and with the contraction's results in memory. */
static sn_acc made_twice(void *env, int count, const sn_acc *a)
{
    made m = *(const made *)env;
    sn_acc tiles = made_of(&m, count, a);
    m.in_memory = true;
    return sn_results(tiles, made_of(&m, count, a + 2));
}

static const char *signature_of(const made *m, bool twice)
{
    static char said[300];
    const char *rank = m->batched ? "b,n" : "n", *type = m->outer == NEAREST || m->outer == FURTHEST ? "i64" : "T";
    char in[40], out[80];
    snprintf(in, sizeof in, "[%s,k]T, [m,k]T", rank);
    if (m->outer == ELEMENTS)
        snprintf(out, sizeof out, m->stored ? "[%s,m]T, [%s,m]T, [%s,m]T" : "[%s,m]T", rank, rank, rank);
    else if (m->outer == SEVERAL)
        snprintf(out, sizeof out, "[%s]T, [%s]T, [%s]i64, [%s]T", rank, rank, rank, rank);
    else if (m->outer == FIRST_AND_LAST || m->outer == AFFINE)
        snprintf(out, sizeof out, m->stored ? "[%s](T,T), [%s,m]T" : "[%s](T,T)", rank, rank);
    else
        snprintf(out, sizeof out, m->stored ? "[%s]%s, [%s,m]T" : "[%s]%s", rank, type, rank);
    if (twice)
        snprintf(said, sizeof said, "%s, %s -> %s, %s", in, in, out, out);
    else
        snprintf(said, sizeof said, "%s -> %s", in, out);
    return said;
}

static void check(made m, const char *types, contents what, const int64_t *extents)
{
    if (what == SMALL) /* squares of sums are not exact in floats */
        both_at(__FILE__, __LINE__, signature_of(&m, false), sn_body_env(made_of, &m),
                m.outer == SQUARES ? "i32" : types, what, extents);
    both_halves_at(__FILE__, __LINE__, signature_of(&m, true), sn_body_env(made_twice, &m), types, what, extents);
}

/* --- cases --- */

/* extents in the order of names: rows, folded, columns */
static const int64_t extents_of_all[] = {
    12,  40, 40, 33, 16, 64, 100, 2,  70,  40, 3,  33, 64, 16,   5,  40, 33,   8, 65, 7,  31, 50, 32, 4,  48, 17, 9, 16,
    200, 16, 3,  50, 3,  33, 300, 17, 130, 4,  64, 40, 7,  4097, 17, 2,  5000, 0, 4,  40, 40, 0,  40, 40, 4,  0,  -1};

static void all_folds(void **state)
{
    (void)state;
    const unsigned share = test_share();
    for (outer o = 0; o < OUTERS; o++) {
        made m = {.inner = DISTANCES, .outer = o, .between = (between)(o % BETWEENS)};
        int64_t some[sizeof extents_of_all / sizeof *extents_of_all];
        int n = 0;
        for (unsigned i = 0; extents_of_all[3 * i] >= 0; i++)
            for (unsigned d = 0; d < 3 && i % share == (unsigned)o % share; d++)
                some[n++] = extents_of_all[3 * i + d];
        some[n] = -1;
        check(m, o == AFFINE ? "i32" : "f32", SMALL, some);
        check(m, o == AFFINE ? "i32" : "f32", o % 2 ? MIXED : POSITIVE, some);
    }
}

static void several_types(void **state)
{
    (void)state;
    const int64_t some[] = {40, 16, 64, 70, 33, 40, 33, 5, 7, 64, 40, 130, -1};
    made m = {.inner = PRODUCTS, .outer = SEVERAL};
    check(m, "f64 i32 u32 i64", MIXED, some);
    m = (made){.inner = PRODUCTS_AND_BOUNDS, .outer = TOTALS, .between = CUT};
    check(m, "f32 u32", SMALL, some);
}

static void batched(void **state)
{
    (void)state;
    const int64_t some[] = {3, 40, 16, 64, 2, 33, 40, 7, 1, 70, 3, 33, 0, 40, 3, 20, -1};
    for (outer o = ELEMENTS; o <= TOTALS; o++) {
        made m = {.inner = PRODUCTS, .outer = o, .between = SCALED_BY_ROW, .batched = true};
        check(m, "f32", POSITIVE, some);
    }
}

/* More rows than fit into shared memory at once, and more columns than go on at the same time. */
static void groups_of_rows(void **state)
{
    (void)state;
    const int64_t large[] = {70, 4096, 600, 3000, 2, 40, -1};
    made m = {.inner = LEAST_SUMS, .outer = SEVERAL};
    check(m, "f32", POSITIVE, large);
}

static void drawn(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 33, 37, 64, 65, 97, 127, 129, 140};
    static const char *const types[] = {"f32", "f64", "i32", "u32", "i64"};
    const int cases = getenv("SINTER_TEST_LONG") ? 400 : getenv("SINTER_TEST_SAMPLE") ? 3 : 25 / (int)test_share();
    srand(7);
    for (int i = 0; i < cases; i++) {
        made m = {.inner = (inner)(rand() % INNERS),
                  .between = (between)(rand() % BETWEENS),
                  .outer = (outer)(rand() % OUTERS),
                  .batched = rand() % 4 == 0,
                  .stored = rand() % 4 == 0};
        const char *type = m.outer == AFFINE ? "i32" : types[(size_t)rand() % 5];
        int64_t extents[4 * 4 + 1];
        int n = 0;
        for (int k = 0; k < 3; k++) {
            if (m.batched)
                extents[n++] = rand() % 4;
            for (int d = 0; d < 3; d++)
                extents[n++] = sizes[(size_t)rand() % (d == 1 || m.batched ? 15 : sizeof sizes / sizeof *sizes)];
        }
        extents[n] = -1;
        check(m, type, (contents)(rand() % 3), extents);
    }
}

/* --- structure --- */

static int times(const char *in, const char *word)
{
    int n = 0;
    for (in = strstr(in, word); in; in = strstr(in + 1, word))
        n++;
    return n;
}

/* Clusters of the version for large extents, which is printed first, and tile loops among them. */
static void expect(made m, int clusters, int tiles)
{
    sn_program *p = sn_compile_env(both_cpu(), "[n,k]f32, [m,k]f32 -> [n]i64", made_of, &m);
    if (!p)
        fail_msg("%s", sn_message(both_cpu()));
    const char *all = sn_explain(p, "clusters"), *end = strstr(all, "\nwhere ");
    char first[4000];
    snprintf(first, sizeof first, "%.*s", end ? (int)(end - all) : (int)strlen(all), all);
    if (times(first, "cluster ") != clusters || times(first, "tile loop") != tiles)
        fail_msg("%s", first);
    sn_drop(p);
}

static void one_loop(void **state)
{
    (void)state;
    if (getenv("SINTER_DEVICE"))
        skip(); /* tiles are the CPU's */
    expect((made){.inner = DISTANCES, .outer = NEAREST}, 1, 1);
    expect((made){.inner = PRODUCTS, .outer = FURTHEST, .between = BIASED}, 1, 1);
    expect((made){.inner = DISTANCES, .outer = NEAREST, .in_memory = true}, 3, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_loop), cmocka_unit_test(all_folds), cmocka_unit_test(several_types),
        cmocka_unit_test(batched),  cmocka_unit_test(drawn),     cmocka_unit_test(groups_of_rows),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
