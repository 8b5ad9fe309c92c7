/* Sparse matrices in compressed rows: the elements of row r are those from row[r] to row[r + 1], in these columns. A
 * matrix times a vector is a fold of segments, and conjugate gradients are rounds of such products, as one program. */
#ifndef PROGRAMS_SPARSE_H
#define PROGRAMS_SPARSE_H

#include <sinter/sinter.h>

/* --- a matrix times a vector --- */

#define SPARSE_TIMES_SIGNATURE "[n1]i64, [e]i32, [e]f64, [m]f64 -> [n]f64"

typedef struct sparse_matrix {
    sn_acc row, column, value;
} sparse_matrix;

static sn_scalar sparse_product(void *env, sn_scalar column, sn_scalar value)
{
    return sn_mul(value, sn_index(*(const sn_acc *)env, column));
}

/* The products are computed where they are added up: one loop, nothing in between in memory. */
static sn_acc sparse_times_vector(const sparse_matrix *m, sn_acc x)
{
    sn_acc products = sn_zip_with(sn_closure(sparse_product, &x), m->column, m->value);
    return sn_sum_seg(sn_segments_from_offsets(m->row), products);
}

static sn_acc sparse_times(sn_acc row, sn_acc column, sn_acc value, sn_acc x)
{
    sparse_matrix m = {row, column, value};
    return sparse_times_vector(&m, x);
}

/* --- conjugate gradients: a symmetric, positive definite matrix, its diagonal, b -> x, and |b - matrix x|^2 --- */

#define SPARSE_SOLVE_SIGNATURE "[n1]i64, [e]i32, [e]f64, [n]f64, [n]f64, [r]bool -> [n]f64, f64"

typedef struct sparse_system {
    sparse_matrix matrix;
    sn_acc diagonal;
} sparse_system;

static sn_acc sparse_dot(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(sn_mul, x, y));
}

/* x + by y */
static sn_scalar sparse_along(void *env, sn_scalar x, sn_scalar y)
{
    return sn_add(x, sn_mul(*(const sn_scalar *)env, y));
}

static sn_acc sparse_moved(sn_acc x, sn_scalar by, sn_acc y)
{
    return sn_zip_with(sn_closure(sparse_along, &by), x, y);
}

/* The state: x, what is left of b, the direction, and the product of what is left with itself over the diagonal. */
static sn_acc sparse_round(void *env, int count, const sn_acc *state)
{
    const sparse_system *s = env;
    (void)count;
    sn_acc x = state[0], left = state[1], direction = state[2];
    sn_scalar before = sn_the(state[3]);
    sn_acc image = sparse_times_vector(&s->matrix, direction);
    sn_scalar step = sn_div(before, sn_the(sparse_dot(direction, image)));
    sn_acc still_left = sparse_moved(left, sn_neg(step), image);
    sn_acc scaled = sn_zip_with(sn_div, still_left, s->diagonal);
    sn_acc now = sparse_dot(still_left, scaled);
    return sn_results(sparse_moved(x, step, direction), still_left,
                      sparse_moved(scaled, sn_div(sn_the(now), before), direction), now);
}

/* As many rounds as `rounds` has elements. */
static sn_acc sparse_solve(sn_acc row, sn_acc column, sn_acc value, sn_acc diagonal, sn_acc b, sn_acc rounds)
{
    sparse_system s = {{row, column, value}, diagonal};
    sn_acc scaled = sn_zip_with(sn_div, b, diagonal);
    sn_acc begin = sn_results(sn_fill(sn_shape_of(b), sn_f64(0)), b, scaled, sparse_dot(b, scaled));
    sn_acc end = sn_aiterate(sn_extent(rounds, 0), sn_body_of(sparse_round, &s, 4), begin);
    sn_acc x = sn_result(end, 0), left = sn_zip_with(sn_sub, b, sparse_times_vector(&s.matrix, x));
    return sn_results(x, sparse_dot(left, left));
}

#endif
