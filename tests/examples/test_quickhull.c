/* The convex hull of the example against an independent algorithm (Andrew's monotone chain), and against qhull. */
#include "programs/quickhull.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_QHULL
#include <libqhull_r/qhull_ra.h>
#endif

typedef struct point {
    double x, y;
} point;

typedef struct points {
    int64_t n;
    double *x, *y;
} points;

static points new_points(int64_t n)
{
    points p = {n, malloc((size_t)(n + 1) * sizeof(double)), malloc((size_t)(n + 1) * sizeof(double))};
    assert_non_null(p.x);
    assert_non_null(p.y);
    return p;
}

static void free_points(points p)
{
    free(p.x);
    free(p.y);
}

static int by_place(const void *a, const void *b)
{
    const point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

/* Does the way over p, q, r turn to the right? */
static bool turns_right(point p, point q, point r)
{
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x) < 0;
}

/* Corners clockwise from the leftmost one; returns how many. */
static int64_t monotone_chain(points p, point *hull)
{
    point *sorted = malloc((size_t)p.n * sizeof(*sorted));
    assert_non_null(sorted);
    for (int64_t i = 0; i < p.n; i++)
        sorted[i] = (point){p.x[i], p.y[i]};
    qsort(sorted, (size_t)p.n, sizeof(*sorted), by_place);
    int64_t n = 0;
    for (int64_t i = 0; i < p.n; i++) /* the upper side, from the left */
        if (!n || by_place(&sorted[i], &hull[n - 1])) {
            while (n > 1 && !turns_right(hull[n - 2], hull[n - 1], sorted[i]))
                n--;
            hull[n++] = sorted[i];
        }
    int64_t upper = n;
    for (int64_t i = p.n - 1; i-- > 0;) /* the lower side, from the right */
        if (by_place(&sorted[i], &hull[n - 1])) {
            while (n > upper && !turns_right(hull[n - 2], hull[n - 1], sorted[i]))
                n--;
            hull[n++] = sorted[i];
        }
    free(sorted);
    return n > 1 && !by_place(&hull[0], &hull[n - 1]) ? n - 1 : n;
}

static int64_t hull_of(sn_context *cx, points p, points corner)
{
    int64_t n = -1, m = -2;
    sn_program *program = sn_compile(cx, QUICKHULL_SIGNATURE, quickhull);
    sn_status status = sn_call(program, sn_in(p.x, p.n), sn_in(p.y, p.n), sn_upto(corner.x, corner.n, &n),
                               sn_upto(corner.y, corner.n, &m));
    if (status != SN_OK)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    assert_int_equal(n, m);
    sn_drop(program);
    return n;
}

static void compare(sn_context *cx, const char *what, points p)
{
    points found = new_points(p.n + 1);
    point *wanted = malloc(2 * (size_t)(p.n + 1) * sizeof(*wanted));
    assert_non_null(wanted);
    int64_t n = hull_of(cx, p, found), right = monotone_chain(p, wanted);
    if (n != right)
        fail_msg("%s: %lld corners, not %lld", what, (long long)n, (long long)right);
    for (int64_t i = 0; i < n; i++)
        if (found.x[i] != wanted[i].x || found.y[i] != wanted[i].y)
            fail_msg("%s: corner %lld is %g, %g, not %g, %g", what, (long long)i, found.x[i], found.y[i], wanted[i].x,
                     wanted[i].y);
    free(wanted);
    free_points(found);
}

static double uniform(void)
{
    return rand() / (RAND_MAX + 1.0);
}

static points in_disc(int64_t n)
{
    points p = new_points(n);
    for (int64_t i = 0; i < n; i++) {
        double angle = 6.283185307179586 * uniform(), radius = sqrt(uniform());
        p.x[i] = radius * cos(angle);
        p.y[i] = radius * sin(angle);
    }
    return p;
}

static void discs(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 7, 33, 100, 1000, 4097, 70001};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        points p = in_disc(sizes[i]);
        compare(*state, "a disc", p);
        free_points(p);
    }
}

/* Whole numbers, whose areas are exact: many points on one line, and many that are one. */
static void grids(void **state)
{
    static const int sides[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 3}, {10, 7}, {40, 40}};
    for (size_t k = 0; k < sizeof(sides) / sizeof(*sides); k++) {
        points p = new_points(2000);
        for (int64_t i = 0; i < p.n; i++) {
            p.x[i] = rand() % sides[k][0];
            p.y[i] = rand() % sides[k][1];
        }
        compare(*state, "a grid", p);
        for (int64_t i = 0; i < p.n; i++)
            p.x[i] += 3 * p.y[i]; /* lines that are neither upright nor level */
        compare(*state, "a grid on the slant", p);
        free_points(p);
    }
}

/* Three points as far from a side as any, of which the middle one, which comes first, is no corner. */
static void equally_far(void **state)
{
    static const double x[] = {0, 6, 3, 2, 4, 3, 4, 2}, y[] = {0, 0, 3, 3, 3, -3, -3, -3};
    for (int turned = 0; turned < 2; turned++) {
        points p = new_points(8);
        memcpy(turned ? p.y : p.x, x, sizeof(x));
        memcpy(turned ? p.x : p.y, y, sizeof(y));
        compare(*state, "equally far points", p);
        free_points(p);
    }
}

/* Each point is a corner: a side is cut in two as often as possible. */
static void all_are_corners(void **state)
{
    points p = new_points(3000);
    for (int64_t i = 0; i < p.n; i++) {
        p.x[i] = (double)(i - 1500);
        p.y[i] = (double)((i - 1500) * (i - 1500));
    }
    compare(*state, "a parabola", p);
    free_points(p);
}

static void of_no_points(void **state)
{
    double none[2] = {0}, x[1], y[1];
    int64_t n = -1, m = -1;
    sn_program *program = sn_compile(*state, QUICKHULL_SIGNATURE, quickhull);
    assert_int_equal(sn_call(program, sn_in(none, 0), sn_in(none + 1, 0), sn_upto(x, 1, &n), sn_upto(y, 1, &m)),
                     SN_EMPTY_FOLD);
    sn_drop(program);
}

static void qhull_has_as_many(void **state)
{
#ifdef HAVE_QHULL
    points p = in_disc(20000), found = new_points(p.n);
    coordT *coordinates = malloc(2 * (size_t)p.n * sizeof(*coordinates));
    char command[] = "qhull";
    qhT memory = {0}, *qh = &memory;
    assert_non_null(coordinates);
    for (int64_t i = 0; i < p.n; i++) {
        coordinates[2 * i] = p.x[i];
        coordinates[2 * i + 1] = p.y[i];
    }
    qh_zero(qh, stderr);
    assert_int_equal(qh_new_qhull(qh, 2, (int)p.n, coordinates, False, command, NULL, stderr), 0);
    int64_t n = hull_of(*state, p, found), seen = 0;
    assert_int_equal(n, qh->num_vertices);
    vertexT *vertex;
    FORALLvertices for (int64_t i = 0; i < n; i++) seen +=
        found.x[i] == vertex->point[0] && found.y[i] == vertex->point[1];
    assert_int_equal(seen, n);
    int left, blocks;
    qh_freeqhull(qh, qh_ALL);
    qh_memfreeshort(qh, &left, &blocks);
    free(coordinates);
    free_points(p);
    free_points(found);
#else
    (void)state;
    skip();
#endif
}

static int open_context(void **state)
{
    sn_options options = {.size = sizeof(options), .contract = SN_OFF};
    *state = sn_open(&options);
    return *state ? 0 : -1;
}

static int close_context(void **state)
{
    sn_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(discs),        cmocka_unit_test(grids),
                                       cmocka_unit_test(equally_far),  cmocka_unit_test(all_are_corners),
                                       cmocka_unit_test(of_no_points), cmocka_unit_test(qhull_has_as_many)};
    srand(7);
    return cmocka_run_group_tests(tests, open_context, close_context);
}
