/* The convex hull of points in the plane. What lies inside of the octagon of the points that are furthest in eight
 * directions is no corner (Akl and Toussaint, 1978): one pass finds these, eight points at a time, one keeps what is
 * not inside, a tenth of a disc. What is left is cut into the points above and below the line between the leftmost and
 * the rightmost one, and each half goes through QuickHull: the furthest point is found in one pass, and those outside
 * of the two new sides are packed in another. */
#include "opponents.h"
#include "simd64.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 2048 }; /* points whose extremes are looked at together */

struct half {
    int64_t n;
    double *x, *y;
};

struct job {
    int64_t n;
    const double *x, *y;
    int64_t furthest[TEAM_MOST_WORKERS][8]; /* of each worker's points */
    double corner_x[8], corner_y[8];
    double a[8], b[8], c[8]; /* a x + b y > c: perhaps not inside of this side */
    int sides;
    double *kept_x, *kept_y; /* each worker's in its own part */
    int64_t kept[TEAM_MOST_WORKERS];
    double ends[TEAM_MOST_WORKERS][2]; /* y of the lowest of each worker's leftmost points, of the highest rightmost */
    struct half half[2];
    double *room_x[2], *room_y[2];
    struct half found[2]; /* corners of each half, behind its first end */
    double left[2], right[2];
};

static const int direction[8][2] = {{-1, 0}, {-1, 1}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}};

/* --- the octagon --- */

static double along(const struct job *job, int d, int64_t i)
{
    return direction[d][0] * job->x[i] + direction[d][1] * job->y[i];
}

#if BENCH_AVX512

/* The greatest of each direction among points [i, end), a multiple of eight. */
static void extremes(const double *x, const double *y, int64_t n, double best[8])
{
    __m512d west = _mm512_set1_pd(1e300), east = _mm512_set1_pd(-1e300), north = east, south = west;
    __m512d sum_least = west, sum_most = east, less_least = west, less_most = east;
    for (int64_t i = 0; i < n; i += 8) {
        __m512d px = _mm512_loadu_pd(x + i), py = _mm512_loadu_pd(y + i);
        __m512d sum = _mm512_add_pd(px, py), less = _mm512_sub_pd(px, py);
        _mm_prefetch((const char *)(x + i + 512), _MM_HINT_T0);
        _mm_prefetch((const char *)(y + i + 512), _MM_HINT_T0);
        west = _mm512_min_pd(west, px);
        east = _mm512_max_pd(east, px);
        south = _mm512_min_pd(south, py);
        north = _mm512_max_pd(north, py);
        sum_least = _mm512_min_pd(sum_least, sum);
        sum_most = _mm512_max_pd(sum_most, sum);
        less_least = _mm512_min_pd(less_least, less);
        less_most = _mm512_max_pd(less_most, less);
    }
    best[0] = -_mm512_reduce_min_pd(west);
    best[1] = -_mm512_reduce_min_pd(less_least);
    best[2] = _mm512_reduce_max_pd(north);
    best[3] = _mm512_reduce_max_pd(sum_most);
    best[4] = _mm512_reduce_max_pd(east);
    best[5] = _mm512_reduce_max_pd(less_most);
    best[6] = -_mm512_reduce_min_pd(south);
    best[7] = -_mm512_reduce_min_pd(sum_least);
}

#else

static void extremes(const double *x, const double *y, int64_t n, double best[8])
{
    for (int d = 0; d < 8; d++) {
        best[d] = -1e300;
        for (int64_t i = 0; i < n; i++) {
            double at = direction[d][0] * x[i] + direction[d][1] * y[i];
            best[d] = at > best[d] ? at : best[d];
        }
    }
}

#endif

static void find_extremes(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->n, 8, id, workers);
    int64_t *furthest = job->furthest[id];
    double best[8], block[8];
    for (int d = 0; d < 8; d++) {
        furthest[d] = mine.first < mine.last ? mine.first : 0;
        best[d] = along(job, d, furthest[d]);
    }
    for (int64_t i = mine.first; i < mine.last; i += BLOCK) {
        int64_t n = mine.last - i < BLOCK ? mine.last - i : BLOCK, whole = n / 8 * 8;
        extremes(job->x + i, job->y + i, whole, block);
        for (int d = 0; d < 8; d++) {
            if (!(whole && block[d] > best[d]) && whole == n)
                continue;
            for (int64_t k = i; k < i + n; k++)
                if (along(job, d, k) > best[d]) {
                    best[d] = along(job, d, k);
                    furthest[d] = k;
                }
        }
    }
}

/* The sides of the octagon that have a length, a little further inside, so that rounding keeps what is on them. */
static void make_sides(struct job *job, int workers)
{
    for (int d = 0; d < 8; d++) {
        int64_t best = job->furthest[0][d];
        for (int w = 1; w < workers; w++)
            if (along(job, d, job->furthest[w][d]) > along(job, d, best))
                best = job->furthest[w][d];
        job->corner_x[d] = job->x[best];
        job->corner_y[d] = job->y[best];
    }
    job->sides = 0;
    for (int d = 0; d < 8; d++) {
        double x = job->corner_x[d], y = job->corner_y[d];
        double dx = job->corner_x[(d + 1) % 8] - x, dy = job->corner_y[(d + 1) % 8] - y;
        if (dx == 0 && dy == 0)
            continue;
        double size = (dy < 0 ? -dy : dy) * (x < 0 ? -x : x) + (dx < 0 ? -dx : dx) * (y < 0 ? -y : y);
        int s = job->sides++;
        job->a[s] = -dy;
        job->b[s] = dx;
        job->c[s] = -dy * x + dx * y - 1e-13 * size;
    }
    for (int s = job->sides; s < 8; s++) { /* as the first one */
        job->a[s] = job->a[0];
        job->b[s] = job->b[0];
        job->c[s] = job->c[0];
    }
}

/* --- what is not inside --- */

static void keep_part(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    struct team_range mine = team_part(job->n, 8, id, workers);
    double *to_x = job->kept_x + mine.first, *to_y = job->kept_y + mine.first;
    int64_t kept = 0, i = mine.first;
#if BENCH_AVX512
    __m512d a[8], b[8], c[8];
    for (int s = 0; s < 8; s++) {
        a[s] = _mm512_set1_pd(job->a[s]);
        b[s] = _mm512_set1_pd(job->b[s]);
        c[s] = _mm512_set1_pd(-job->c[s]);
    }
    for (; i + 8 <= mine.last && job->sides; i += 8) {
        __m512d x = _mm512_loadu_pd(job->x + i), y = _mm512_loadu_pd(job->y + i), most = _mm512_set1_pd(-1e300);
        _mm_prefetch((const char *)(job->x + i + 512), _MM_HINT_T0);
        _mm_prefetch((const char *)(job->y + i + 512), _MM_HINT_T0);
#pragma GCC unroll 8
        for (int s = 0; s < 8; s++)
            most = _mm512_max_pd(most, _mm512_fmadd_pd(a[s], x, _mm512_fmadd_pd(b[s], y, c[s])));
        __mmask8 keep = _mm512_cmp_pd_mask(most, _mm512_setzero_pd(), _CMP_GE_OQ);
        _mm512_storeu_pd(to_x + kept, _mm512_maskz_compress_pd(keep, x));
        _mm512_storeu_pd(to_y + kept, _mm512_maskz_compress_pd(keep, y));
        kept += __builtin_popcount(keep);
    }
#endif
    for (; i < mine.last; i++) {
        int keep = !job->sides;
        for (int s = 0; s < job->sides; s++)
            keep |= job->a[s] * job->x[i] + job->b[s] * job->y[i] >= job->c[s];
        to_x[kept] = job->x[i];
        to_y[kept] = job->y[i];
        kept += keep;
    }
    job->kept[id] = kept;
    double *lowest = &job->ends[id][0], *highest = &job->ends[id][1];
    *lowest = 1e300;
    *highest = -1e300;
    for (i = 0; i < kept; i++) {
        if (to_x[i] == job->corner_x[0])
            *lowest = to_y[i] < *lowest ? to_y[i] : *lowest;
        if (to_x[i] == job->corner_x[4])
            *highest = to_y[i] > *highest ? to_y[i] : *highest;
    }
}

/* --- QuickHull of what is left --- */

/* How far (x, y) is to the left of the line from (x1, y1) to (x2, y2): twice the area of the triangle. */
static inline double outside(double x, double y, double x1, double y1, double x2, double y2)
{
    return __builtin_fma(x1 - x, y2 - y, -((y1 - y) * (x2 - x)));
}

/* Packs the points of `from` that are left of a line; `to` may be `from`. Room for seven more. */
static int64_t pack_left(const double *x, const double *y, int64_t n, double x1, double y1, double x2, double y2,
                         double *to_x, double *to_y)
{
    int64_t kept = 0, i = 0;
#if BENCH_AVX512
    __m512d vx1 = _mm512_set1_pd(x1), vy1 = _mm512_set1_pd(y1), vx2 = _mm512_set1_pd(x2), vy2 = _mm512_set1_pd(y2);
    for (; i + 8 <= n; i += 8) {
        __m512d px = _mm512_loadu_pd(x + i), py = _mm512_loadu_pd(y + i);
        __m512d other = _mm512_mul_pd(_mm512_sub_pd(vy1, py), _mm512_sub_pd(vx2, px));
        __m512d far = _mm512_fmsub_pd(_mm512_sub_pd(vx1, px), _mm512_sub_pd(vy2, py), other);
        __mmask8 keep = _mm512_cmp_pd_mask(far, _mm512_setzero_pd(), _CMP_GT_OQ);
        _mm512_storeu_pd(to_x + kept, _mm512_maskz_compress_pd(keep, px));
        _mm512_storeu_pd(to_y + kept, _mm512_maskz_compress_pd(keep, py));
        kept += __builtin_popcount(keep);
    }
#endif
    for (; i < n; i++) {
        double px = x[i], py = y[i];
        to_x[kept] = px;
        to_y[kept] = py;
        kept += outside(px, py, x1, y1, x2, y2) > 0;
    }
    return kept;
}

struct line {
    double x1, y1, x2, y2;
};

/* Of points [first, last) that with the greatest key, if it is greater than *most or as great as that of `best` and
 * further right, or above: its index, else `best`. */
static int64_t further(const double *x, const double *y, int64_t first, int64_t last, struct line l, double *most,
                       int64_t best)
{
    for (int64_t i = first; i < last; i++) {
        double far = outside(x[i], y[i], l.x1, l.y1, l.x2, l.y2);
        if (far > *most || (far == *most && (x[i] > x[best] || (x[i] == x[best] && y[i] > y[best])))) {
            *most = far;
            best = i;
        }
    }
    return best;
}

/* The point that is furthest left of a line; of equals that with the greatest x, then y. Blocks whose greatest key is
 * less than one before are not looked at again. */
static int64_t furthest_left(const double *x, const double *y, int64_t n, struct line l)
{
    double most = -1;
    int64_t best = 0, i = 0;
#if BENCH_AVX512
    enum { KEYS = 512 };
    __m512d x1 = _mm512_set1_pd(l.x1), y1 = _mm512_set1_pd(l.y1), x2 = _mm512_set1_pd(l.x2), y2 = _mm512_set1_pd(l.y2);
    for (; i + KEYS <= n; i += KEYS) {
        __m512d greatest[4] = {_mm512_set1_pd(-1), _mm512_set1_pd(-1), _mm512_set1_pd(-1), _mm512_set1_pd(-1)};
        for (int64_t k = i; k < i + KEYS; k += 32)
#pragma GCC unroll 4
            for (int g = 0; g < 4; g++) {
                __m512d px = _mm512_loadu_pd(x + k + 8 * g), py = _mm512_loadu_pd(y + k + 8 * g);
                __m512d other = _mm512_mul_pd(_mm512_sub_pd(y1, py), _mm512_sub_pd(x2, px));
                __m512d far = _mm512_fmsub_pd(_mm512_sub_pd(x1, px), _mm512_sub_pd(y2, py), other);
                greatest[g] = _mm512_max_pd(greatest[g], far);
            }
        __m512d all = _mm512_max_pd(_mm512_max_pd(greatest[0], greatest[1]), _mm512_max_pd(greatest[2], greatest[3]));
        if (_mm512_reduce_max_pd(all) >= most)
            best = further(x, y, i, i + KEYS, l, &most, best);
    }
#endif
    return further(x, y, i, n, l, &most, best);
}

/* Corners left of a line, in order from (x1, y1), of points that are all left of it. The points behind the new corner
 * wait in the room, behind those of the sides that are under way. */
static void quickhull(struct half points, double x1, double y1, double x2, double y2, struct half room,
                      struct half *found)
{
    if (points.n == 0)
        return;
    int64_t best = furthest_left(points.x, points.y, points.n, (struct line){x1, y1, x2, y2});
    double fx = points.x[best], fy = points.y[best];
    struct half behind = {0, room.x, room.y};
    behind.n = pack_left(points.x, points.y, points.n, fx, fy, x2, y2, behind.x, behind.y);
    points.n = pack_left(points.x, points.y, points.n, x1, y1, fx, fy, points.x, points.y);
    struct half rest = {0, room.x + behind.n, room.y + behind.n};
    quickhull(points, x1, y1, fx, fy, rest, found);
    found->x[found->n] = fx;
    found->y[found->n++] = fy;
    quickhull(behind, fx, fy, x2, y2, rest, found);
}

static void half_of(void *ctx, int id, int workers)
{
    struct job *job = ctx;
    for (int h = id; h < 2; h += workers) {
        const double *from = h ? job->right : job->left, *to = h ? job->left : job->right;
        struct half *points = &job->half[h];
        points->n = 0;
        for (int w = 0; w < workers; w++) {
            int64_t first = team_part(job->n, 8, w, workers).first;
            points->n += pack_left(job->kept_x + first, job->kept_y + first, job->kept[w], from[0], from[1], to[0],
                                   to[1], points->x + points->n, points->y + points->n);
        }
        struct half room = {0, job->room_x[h], job->room_y[h]};
        quickhull(*points, from[0], from[1], to[0], to[1], room, &job->found[h]);
    }
}

/* The lowest of the leftmost points, and the highest of the rightmost ones. */
static void find_ends(struct job *job, int workers)
{
    const double x[2] = {job->corner_x[0], job->corner_x[4]};
    job->left[0] = x[0];
    job->left[1] = job->corner_y[0];
    job->right[0] = x[1];
    job->right[1] = job->corner_y[4];
    for (int w = 0; w < workers; w++) {
        job->left[1] = job->ends[w][0] < job->left[1] ? job->ends[w][0] : job->left[1];
        job->right[1] = job->ends[w][1] > job->right[1] ? job->ends[w][1] : job->right[1];
    }
}

int64_t c_quickhull(struct team *team, int64_t n, const double *x, const double *y, double *corner_x, double *corner_y,
                    double *room)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job || n == 0) {
        free(job);
        return -1;
    }
    int workers = team_workers(team);
    job->n = n;
    job->x = x;
    job->y = y;
    job->kept_x = room;
    job->kept_y = room + n;
    team_run(team, find_extremes, job);
    make_sides(job, workers);
    team_run(team, keep_part, job);
    find_ends(job, workers);
    int64_t part = 16;
    for (int w = 0; w < workers; w++)
        part += job->kept[w];
    double *rest = room + 2 * n;
    for (int h = 0; h < 2; h++) {
        job->half[h] = (struct half){0, rest + 4 * h * part, rest + (4 * h + 1) * part};
        job->room_x[h] = rest + (4 * h + 2) * part;
        job->room_y[h] = rest + (4 * h + 3) * part;
    }
    /* the upper corners behind the leftmost point, the lower ones where there is room until their number is known */
    job->found[0] = (struct half){0, corner_x + 1, corner_y + 1};
    job->found[1] = (struct half){0, rest + 8 * part, rest + 9 * part};
    team_run(team, half_of, job);
    corner_x[0] = job->left[0];
    corner_y[0] = job->left[1];
    int64_t corners = job->found[0].n + 1;
    if (job->left[0] != job->right[0] || job->left[1] != job->right[1]) {
        corner_x[corners] = job->right[0];
        corner_y[corners++] = job->right[1];
    }
    memcpy(corner_x + corners, job->found[1].x, (size_t)job->found[1].n * sizeof *corner_x);
    memcpy(corner_y + corners, job->found[1].y, (size_t)job->found[1].n * sizeof *corner_y);
    corners += job->found[1].n;
    free(job);
    return corners;
}
