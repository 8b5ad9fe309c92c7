/* The benchmark's hand-written k-means and convex hulls against plain C, with one to three workers. */
#include "c/opponents.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

static float *numbers(int64_t n)
{
    float *p = malloc((size_t)(n + 1) * sizeof *p);
    assert_non_null(p);
    return p;
}

/* One round; points and centres of d coordinates. Returns the farthest that a centre is from the one given. */
static double plain_round(int64_t n, int d, const float *point, int64_t k, const float *centre, const float *found)
{
    double most = 0, *sum = calloc((size_t)(k * (d + 1)), sizeof *sum);
    assert_non_null(sum);
    for (int64_t i = 0; i < n; i++) {
        double least = INFINITY;
        int64_t at = 0;
        for (int64_t j = 0; j < k; j++) {
            double distance = 0;
            for (int t = 0; t < d; t++)
                distance += pow((double)(point[i * d + t] - centre[j * d + t]), 2);
            at = distance < least ? j : at;
            least = distance < least ? distance : least;
        }
        for (int t = 0; t < d; t++)
            sum[at * (d + 1) + t] += (double)point[i * d + t];
        sum[at * (d + 1) + d]++;
    }
    for (int64_t j = 0; j < k; j++)
        for (int t = 0; t < d; t++) {
            double count = sum[j * (d + 1) + d];
            double right = count > 0 ? sum[j * (d + 1) + t] / count : (double)centre[j * d + t];
            most = fmax(most, fabs(right - (double)found[j * d + t]));
        }
    free(sum);
    return most;
}

static void check_means(struct team *team, int64_t n, int64_t k, int d)
{
    float *point = numbers(n * d), *centre = numbers(k * d), *found = numbers(k * d);
    float *room = numbers(c_kmeans_room(team_workers(team), k));
    for (int64_t i = 0; i < n * d; i++)
        point[i] = (float)(rand() % 4096) / 1024;
    for (int64_t i = 0; i < k * d; i++)
        centre[i] = (float)(rand() % 4096) / 1024 + 0.0001f; /* no distances are equal */
    memcpy(found, centre, (size_t)(k * d) * sizeof *found);
    if (d == 2) {
        float *x = numbers(n), *y = numbers(n), *cx = numbers(k), *cy = numbers(k);
        for (int64_t i = 0; i < n; i++)
            x[i] = point[2 * i], y[i] = point[2 * i + 1];
        for (int64_t j = 0; j < k; j++)
            cx[j] = centre[2 * j], cy[j] = centre[2 * j + 1];
        c_kmeans_plane(team, 1, n, x, y, k, cx, cy, room);
        for (int64_t j = 0; j < k; j++)
            found[2 * j] = cx[j], found[2 * j + 1] = cy[j];
        free(x), free(y), free(cx), free(cy);
    } else {
        c_kmeans(team, 1, n, point, k, found, room);
    }
    double apart = plain_round(n, d, point, k, centre, found);
    if (apart > 1e-5)
        fail_msg("%lld points of %d coordinates, %lld centres: %g apart", (long long)n, d, (long long)k, apart);
    free(point), free(centre), free(found), free(room);
}

static void test_means(void **state)
{
    static const int64_t sizes[] = {0, 1, 15, 16, 17, 31, 32, 33, 1000, 5003}, centres[] = {1, 2, 3, 16, 33};
    (void)state;
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (size_t j = 0; j < sizeof centres / sizeof *centres; j++) {
                check_means(team, sizes[i], centres[j], 2);
                check_means(team, sizes[i], centres[j], KMEANS_DIMENSIONS);
            }
        team_free(team);
    }
}

struct point {
    double x, y;
};

static int by_place(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    return (p->y > q->y) - (p->y < q->y);
}

static int turns_right(struct point p, struct point q, struct point r)
{
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x) < 0;
}

/* Andrew's monotone chain over points that are sorted: from one end to the other, above. */
static int64_t chain(const struct point *p, int64_t n, int64_t step, struct point *hull)
{
    int64_t corners = 0;
    for (int64_t i = 0; i < n; i++, p += step) {
        if (corners && !by_place(p, &hull[corners - 1]))
            continue;
        while (corners > 1 && !turns_right(hull[corners - 2], hull[corners - 1], *p))
            corners--;
        hull[corners++] = *p;
    }
    return corners;
}

static void check_hull(struct team *team, int64_t n, double *x, double *y)
{
    struct point *p = malloc((size_t)n * sizeof *p), *hull = malloc(2 * (size_t)(n + 1) * sizeof *hull);
    double *found = malloc(2 * (size_t)n * sizeof *found), *room = malloc((size_t)(12 * n + 160) * sizeof *room);
    assert_true(p && hull && found && room);
    for (int64_t i = 0; i < n; i++)
        p[i] = (struct point){x[i], y[i]};
    qsort(p, (size_t)n, sizeof *p, by_place);
    int64_t corners = chain(p, n, 1, hull) - 1;
    corners += chain(p + n - 1, n, -1, hull + corners) - 1;
    corners += !corners; /* of one point */
    int64_t k = c_quickhull(team, n, x, y, found, found + n, room);
    if (k != corners)
        fail_msg("%lld corners of %lld points, not %lld", (long long)k, (long long)n, (long long)corners);
    for (int64_t i = 0; i < k; i++)
        if (found[i] != hull[i].x || found[n + i] != hull[i].y)
            fail_msg("corner %lld of %lld is %g, %g, not %g, %g", (long long)i, (long long)k, found[i], found[n + i],
                     hull[i].x, hull[i].y);
    free(p), free(hull), free(found), free(room);
}

static void test_hulls(void **state)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 8, 9, 33, 100, 2047, 5003, 70001};
    double *x = malloc(70001 * sizeof *x), *y = malloc(70001 * sizeof *y);
    (void)state;
    assert_true(x && y);
    for (int workers = 1; workers <= 3; workers++) {
        struct team *team = team_new(workers);
        assert_non_null(team);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int shape = 0; shape < 4; shape++) {
                for (int64_t k = 0; k < sizes[i]; k++) {
                    double turn = 6.283185307179586 * rand() / RAND_MAX, radius = sqrt((double)rand() / RAND_MAX);
                    x[k] = shape ? rand() % (shape == 3 ? 1 : 40) : radius * cos(turn);
                    y[k] = shape ? rand() % 25 + (shape == 2 ? 3 * x[k] : 0) : radius * sin(turn);
                }
                check_hull(team, sizes[i], x, y);
            }
        team_free(team);
    }
    free(x), free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_means), cmocka_unit_test(test_hulls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
