/* The convex hull of points in the plane: QuickHull, all lines of a level at once (Roldugin, LiveFusion, chapter 7).
 *
 * The state of the loop is a closed polygon, whose corners are on the hull, and for each of its sides the points
 * outside of it: a segment for each side, which ends at the next corner. A round takes for each side the point that is
 * furthest outside as a corner between its ends, and keeps of the other points those that are outside of one of the two
 * new sides. A side with no point outside stays as it is; when all sides are such the polygon is the hull. */
#ifndef PROGRAMS_QUICKHULL_H
#define PROGRAMS_QUICKHULL_H

#include <sinter/sinter.h>

/* coordinates of points -> coordinates of the corners, beginning with the leftmost one, the polygon to the right of its
 * sides. Points on a side between two corners are no corners. */
#define QUICKHULL_SIGNATURE "[n]f64, [n]f64 -> [corners]f64, [corners]f64"

/* How far (x, y) is to the left of the line from (x1, y1) to (x2, y2): twice the area of the triangle. */
static sn_scalar quickhull_outside(sn_scalar x, sn_scalar y, sn_scalar x1, sn_scalar y1, sn_scalar x2, sn_scalar y2)
{
    return sn_sub(sn_mul(sn_sub(x1, x), sn_sub(y2, y)), sn_mul(sn_sub(y1, y), sn_sub(x2, x)));
}

static sn_scalar quickhull_is_positive(sn_scalar x)
{
    return sn_gt(x, 0);
}

/* Of two points with a key the one with the greater key; of equals, which stand on a line, that at its end. */
static sn_scalar quickhull_further(sn_scalar p, sn_scalar q)
{
    sn_scalar pk = sn_get(p, 0), px = sn_get(p, 1), py = sn_get(p, 2);
    sn_scalar qk = sn_get(q, 0), qx = sn_get(q, 1), qy = sn_get(q, 2);
    sn_scalar before = sn_or(sn_lt(px, qx), sn_and(sn_eq(px, qx), sn_lt(py, qy)));
    return sn_if(sn_or(sn_gt(pk, qk), sn_and(sn_eq(pk, qk), before)), p, q);
}

static sn_scalar quickhull_leftmost(sn_scalar p, sn_scalar q)
{
    sn_scalar px = sn_get(p, 0), qx = sn_get(q, 0), py = sn_get(p, 1), qy = sn_get(q, 1);
    return sn_if(sn_or(sn_lt(px, qx), sn_and(sn_eq(px, qx), sn_le(py, qy))), p, q);
}

static sn_scalar quickhull_rightmost(sn_scalar p, sn_scalar q)
{
    sn_scalar px = sn_get(p, 0), qx = sn_get(q, 0), py = sn_get(p, 1), qy = sn_get(q, 1);
    return sn_if(sn_or(sn_gt(px, qx), sn_and(sn_eq(px, qx), sn_ge(py, qy))), p, q);
}

static sn_scalar quickhull_parts(sn_scalar points)
{
    return sn_if(sn_gt(points, 0), sn_i64(2), sn_i64(1));
}

/* The corner of a new side: that of the old side, or the point furthest from it. */
static sn_scalar quickhull_corner(sn_scalar part, sn_scalar corner, sn_scalar far)
{
    return sn_if(sn_eq(part, 0), corner, far);
}

/* state: x and y of the corners, points outside of each side, x and y of these */
static sn_acc quickhull_round(sn_acc cx, sn_acc cy, sn_acc outside, sn_acc x, sn_acc y)
{
    sn_scalar n = sn_size(x);
    /* each point's side */
    sn_acc x1 = sn_replicate_seg(n, outside, cx), y1 = sn_replicate_seg(n, outside, cy);
    sn_acc x2 = sn_replicate_seg(n, outside, sn_rotate(1, cx)), y2 = sn_replicate_seg(n, outside, sn_rotate(1, cy));
    sn_acc far = sn_fold_seg(quickhull_further, sn_tuple(0.0, 0.0, 0.0), outside,
                             sn_zip(sn_zip_with(quickhull_outside, x, y, x1, y1, x2, y2), x, y));
    sn_acc fx = sn_get(far, 1), fy = sn_get(far, 2);
    sn_acc px = sn_replicate_seg(n, outside, fx), py = sn_replicate_seg(n, outside, fy);
    sn_acc before = sn_map(quickhull_is_positive, sn_zip_with(quickhull_outside, x, y, x1, y1, px, py));
    sn_acc behind = sn_map(quickhull_is_positive, sn_zip_with(quickhull_outside, x, y, px, py, x2, y2));
    sn_acc many_before = sn_count_seg(outside, before), many_behind = sn_count_seg(outside, behind);
    sn_acc points = sn_zip(x, y);
    sn_acc kept = sn_append_seg(many_before, sn_pack(before, points), many_behind, sn_pack(behind, points));
    /* one side or two of each */
    sn_acc parts = sn_map(quickhull_parts, outside);
    sn_scalar sides = sn_the(sn_sum(parts));
    sn_acc part = sn_iota_seg(sides, parts);
    return sn_results(
        sn_zip_with(quickhull_corner, part, sn_replicate_seg(sides, parts, cx), sn_replicate_seg(sides, parts, fx)),
        sn_zip_with(quickhull_corner, part, sn_replicate_seg(sides, parts, cy), sn_replicate_seg(sides, parts, fy)),
        sn_zip_with(quickhull_corner, part, sn_replicate_seg(sides, parts, many_before),
                    sn_replicate_seg(sides, parts, many_behind)),
        sn_get(kept, 0), sn_get(kept, 1));
}

static sn_acc quickhull_goes_on(sn_acc cx, sn_acc cy, sn_acc outside, sn_acc x, sn_acc y)
{
    (void)cx, (void)cy, (void)outside, (void)y;
    return sn_unit(sn_gt(sn_size(x), 0));
}

typedef struct quickhull_line {
    sn_scalar x1, y1, x2, y2;
} quickhull_line;

static sn_scalar quickhull_left_of(void *env, sn_scalar x, sn_scalar y)
{
    const quickhull_line *l = env;
    return sn_gt(quickhull_outside(x, y, l->x1, l->y1, l->x2, l->y2), 0);
}

static sn_scalar quickhull_differs(void *env, sn_scalar i, sn_scalar x, sn_scalar y)
{
    const quickhull_line *l = env;
    return sn_or(sn_eq(i, 0), sn_or(sn_ne(x, l->x1), sn_ne(y, l->y1)));
}

static sn_acc quickhull_pair(sn_acc first, sn_acc second)
{
    return sn_append(sn_reshape(sn_shape(1), first), sn_reshape(sn_shape(1), second));
}

/* The hull of points, of which some may be left out that are inside. */
static sn_acc quickhull_of(sn_acc x, sn_acc y)
{
    sn_acc points = sn_zip(x, y);
    sn_acc left = sn_fold1(quickhull_leftmost, points), right = sn_fold1(quickhull_rightmost, points);
    quickhull_line there = {sn_fst(sn_the(left)), sn_snd(sn_the(left)), sn_fst(sn_the(right)), sn_snd(sn_the(right))};
    quickhull_line back = {there.x2, there.y2, there.x1, there.y1};
    sn_acc above = sn_zip_with(sn_closure(quickhull_left_of, &there), x, y);
    sn_acc below = sn_zip_with(sn_closure(quickhull_left_of, &back), x, y);
    sn_acc corners = quickhull_pair(left, right), kept = sn_append(sn_pack(above, points), sn_pack(below, points));
    sn_acc hull =
        sn_awhile(quickhull_goes_on, quickhull_round,
                  sn_results(sn_get(corners, 0), sn_get(corners, 1), quickhull_pair(sn_count(above), sn_count(below)),
                             sn_get(kept, 0), sn_get(kept, 1)));
    sn_acc hx = sn_result(hull, 0), hy = sn_result(hull, 1); /* twice the same where all points are one */
    sn_acc once = sn_izip_with(sn_closure(quickhull_differs, &there), hx, hy);
    return sn_results(sn_pack(once, hx), sn_pack(once, hy));
}

static sn_scalar quickhull_along(void *env, sn_scalar x, sn_scalar y)
{
    const int *direction = env;
    sn_scalar along = direction[0] ? sn_mul(x, (double)direction[0]) : sn_f64(0);
    return direction[1] ? sn_add(along, sn_mul(y, (double)direction[1])) : along;
}

/* Points that a x + b y >= c are perhaps not inside of a side, which is a little further inside, so that rounding keeps
 * what is on it. */
typedef struct quickhull_octagon {
    sn_scalar a[8], b[8], c[8];
} quickhull_octagon;

/* The sides of the corners. One without a length has no points outside, unless all are such. */
static quickhull_octagon quickhull_sides(const sn_scalar *x, const sn_scalar *y)
{
    quickhull_octagon o;
    sn_scalar length[8], any = sn_bool(false);
    for (int i = 0; i < 8; i++) {
        o.a[i] = sn_sub(y[i], y[(i + 1) % 8]);
        o.b[i] = sn_sub(x[(i + 1) % 8], x[i]);
        length[i] = sn_or(sn_ne(o.a[i], 0), sn_ne(o.b[i], 0));
        any = sn_or(any, length[i]);
    }
    for (int i = 0; i < 8; i++) {
        sn_scalar of_x = sn_mul(o.a[i], x[i]), of_y = sn_mul(o.b[i], y[i]);
        sn_scalar inwards = sn_mul(1e-13, sn_add(sn_abs(of_x), sn_abs(of_y)));
        o.c[i] = sn_if(length[i], sn_sub(sn_add(of_x, of_y), inwards), sn_if(any, 1.0, 0.0));
    }
    return o;
}

static sn_scalar quickhull_not_inside(void *env, sn_scalar x, sn_scalar y)
{
    const quickhull_octagon *o = env;
    sn_scalar most = sn_f64(-1);
    for (int i = 0; i < 8; i++)
        most = sn_max(most, sn_fma(o->a[i], x, sn_fma(o->b[i], y, sn_neg(o->c[i]))));
    return sn_ge(most, 0);
}

static sn_acc quickhull(sn_acc x, sn_acc y)
{
    static const int direction[8][2] = {{-1, 0}, {-1, 1}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}};
    sn_scalar corner_x[8], corner_y[8];
    for (int i = 0; i < 8; i++) {
        int along[2] = {direction[i][0], direction[i][1]};
        sn_scalar furthest = sn_the(sn_argmax(sn_zip_with(sn_closure(quickhull_along, along), x, y)));
        corner_x[i] = sn_the(sn_force(sn_unit(sn_index(x, furthest))));
        corner_y[i] = sn_the(sn_force(sn_unit(sn_index(y, furthest))));
    }
    quickhull_octagon o = quickhull_sides(corner_x, corner_y);
    sn_acc may_be = sn_zip_with(sn_closure(quickhull_not_inside, &o), x, y);
    return quickhull_of(sn_force(sn_pack(may_be, x)), sn_force(sn_pack(may_be, y)));
}

#endif
