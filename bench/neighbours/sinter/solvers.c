/* Small systems, matrices, recurrences, steps of simulations, random numbers, bits. */
#include "solvers_bits.h"
#include "solvers_steps.h"
#include "vectors.h"

void nb_make_solvers_offsets(const struct nb_call *call);
void nb_make_solvers_rows(const struct nb_call *call);
void nb_make_solvers_table(const struct nb_call *call);
void nb_make_solvers_cells(const struct nb_call *call);
void nb_make_solvers_words(const struct nb_call *call);

/* --- small systems --- */

static sn_scalar solved_2(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar u, sn_scalar v)
{
    a = sn_add(a, 3);
    d = sn_add(d, 3);
    sn_scalar det = sn_sub(sn_mul(a, d), sn_mul(b, c));
    return sn_tuple(sn_div(sn_sub(sn_mul(d, u), sn_mul(b, v)), det), sn_div(sn_sub(sn_mul(a, v), sn_mul(c, u)), det));
}

static sn_acc solve_2(sn_acc x)
{
    return sn_map(solved_2, x);
}

static sn_scalar solved_3(void *env, sn_scalar i)
{
    sn_acc *p = env;
    sn_scalar row[3][3], b[3], product[3][3];
    row3(p[1], i, b);
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            row[k][l] = k == l ? sn_add(sn_index(p[0], i, k, l), 4) : sn_index(p[0], i, k, l);
    for (int k = 0; k < 3; k++)
        cross3(row[(k + 1) % 3], row[(k + 2) % 3], product[k]);
    sn_scalar det = dot3(row[0], product[0]), x[3];
    for (int k = 0; k < 3; k++)
        x[k] = sn_div(add3(sn_mul(b[0], product[0][k]), sn_mul(b[1], product[1][k]), sn_mul(b[2], product[2][k])), det);
    return sn_tuple(x[0], x[1], x[2]);
}

static sn_scalar component_at(void *env, sn_scalar i, sn_scalar k)
{
    sn_scalar t = sn_index(*(sn_acc *)env, i);
    return sn_if(sn_eq(k, 0), sn_get(t, 0), sn_if(sn_eq(k, 1), sn_get(t, 1), sn_get(t, 2)));
}

static sn_acc solve_3(sn_acc a, sn_acc b)
{
    sn_acc p[2] = {a, b}, x = sn_generate(sn_extent(a, 0), sn_closure(solved_3, p));
    return sn_generate(sn_shape_of(b), sn_closure(component_at, &x));
}

static sn_scalar solved_6(void *env, sn_scalar i)
{
    sn_acc *p = env;
    sn_scalar a[6][7];
    for (int k = 0; k < 6; k++) {
        for (int l = 0; l < 6; l++)
            a[k][l] = k == l ? sn_add(sn_index(p[0], i, k, l), 12) : sn_index(p[0], i, k, l);
        a[k][6] = sn_index(p[1], i, k);
    }
    for (int k = 0; k < 6; k++)
        for (int r = k + 1; r < 6; r++) {
            sn_scalar factor = sn_div(a[r][k], a[k][k]);
            for (int l = k + 1; l < 7; l++)
                a[r][l] = sn_sub(a[r][l], sn_mul(factor, a[k][l]));
        }
    sn_scalar x[6];
    for (int k = 5; k >= 0; k--) {
        x[k] = a[k][6];
        for (int l = k + 1; l < 6; l++)
            x[k] = sn_sub(x[k], sn_mul(a[k][l], x[l]));
        x[k] = sn_div(x[k], a[k][k]);
    }
    return sn_tuple(x[0], x[1], x[2], x[3], x[4], x[5]);
}

static sn_acc solve_6(sn_acc a, sn_acc b)
{
    sn_acc p[2] = {a, b};
    return sn_generate(sn_extent(a, 0), sn_closure(solved_6, p));
}

static sn_scalar cholesky_of_4(void *env, sn_scalar i)
{
    sn_acc a = *(sn_acc *)env;
    sn_scalar l[4][4];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c <= r; c++) {
            sn_scalar s = r == c ? sn_add(sn_index(a, i, r, c), 8) : sn_index(a, i, r, c);
            for (int k = 0; k < c; k++)
                s = sn_sub(s, sn_mul(l[r][k], l[c][k]));
            l[r][c] = r == c ? sn_sqrt(s) : sn_div(s, l[c][c]);
        }
    return sn_tuple(l[0][0], l[1][0], l[1][1], l[2][0], l[2][1], l[2][2], l[3][0], l[3][1], l[3][2], l[3][3]);
}

static sn_scalar factor_at(void *env, sn_scalar i, sn_scalar r, sn_scalar c)
{
    sn_scalar t = sn_index(*(sn_acc *)env, i), at = sn_f32(0);
    for (int k = 0, row = 0; row < 4; row++)
        for (int column = 0; column <= row; column++, k++)
            at = sn_if(sn_land(sn_eq(r, row), sn_eq(c, column)), sn_get(t, k), at);
    return at;
}

static sn_acc cholesky_4(sn_acc a)
{
    sn_acc factors = sn_generate(sn_extent(a, 0), sn_closure(cholesky_of_4, &a));
    return sn_generate(sn_shape_of(a), sn_closure(factor_at, &factors));
}

/* exp of a 2 x 2 matrix by 12 terms of its series. */
static sn_scalar next_term(void *env, sn_scalar k, sn_scalar state)
{
    sn_scalar *m = env, t[4], s[4], by = sn_div(sn_f64(1), sn_to_f64(sn_add(k, 1)));
    for (int c = 0; c < 4; c++) {
        int r = c / 2 * 2, l = c % 2;
        t[c] = sn_mul(sn_add(sn_mul(sn_get(state, r), m[l]), sn_mul(sn_get(state, r + 1), m[l + 2])), by);
        s[c] = sn_add(sn_get(state, 4 + c), t[c]);
    }
    return sn_tuple(t[0], t[1], t[2], t[3], s[0], s[1], s[2], s[3]);
}

static sn_scalar exponential(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d)
{
    sn_scalar m[4] = {a, b, c, d}, one = sn_f64(1), none = sn_f64(0);
    sn_scalar s = sn_loop(12, sn_closure(next_term, m), sn_tuple(one, none, none, one, one, none, none, one));
    return sn_tuple(sn_get(s, 4), sn_get(s, 5), sn_get(s, 6), sn_get(s, 7));
}

static sn_acc exponentials(sn_acc x)
{
    return sn_map(exponential, x);
}

static sn_scalar givens_of(sn_scalar a, sn_scalar b)
{
    sn_scalar one = sn_f32(1);
    sn_scalar t = sn_div(a, b), s = sn_div(one, sn_sqrt(sn_add(1, sn_mul(t, t))));
    sn_scalar u = sn_div(b, a), c = sn_div(one, sn_sqrt(sn_add(1, sn_mul(u, u))));
    sn_scalar by_b = sn_tuple(sn_mul(s, t), s, sn_div(b, s)), by_a = sn_tuple(c, sn_mul(c, u), sn_div(a, c));
    return sn_if(sn_eq(b, 0), sn_tuple(one, sn_f32(0), a), sn_if(sn_gt(sn_abs(b), sn_abs(a)), by_b, by_a));
}

static sn_acc givens(sn_acc a, sn_acc b)
{
    return sn_zip_with(givens_of, a, b);
}

/* --- steps on matrices --- */

struct step {
    sn_acc a, b, c, d;
    sn_scalar k, l, s, t;
};

static sn_scalar with_turned_rows(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    struct step *p = env;
    sn_scalar u = sn_index(p->a, p->k, j), v = sn_index(p->a, p->l, j);
    return sn_if(sn_eq(i, p->k), sn_add(sn_mul(p->s, u), sn_mul(p->t, v)),
                 sn_if(sn_eq(i, p->l), sn_sub(sn_mul(p->s, v), sn_mul(p->t, u)), x));
}

static sn_acc turned_rows(sn_acc a, sn_acc k, sn_acc l, sn_acc angle)
{
    struct step p = {.a = a, .k = sn_to_i64(sn_the(k)), .l = sn_add(sn_to_i64(sn_the(l)), 16)};
    p.s = sn_cos(sn_the(angle));
    p.t = sn_sin(sn_the(angle));
    return sn_imap(sn_closure(with_turned_rows, &p), a);
}

F1(square_of, sn_mul(x, x))

static sn_acc along_rows(sn_acc v, sn_acc a) /* an element of v a column */
{
    return sn_replicate(v, sn_extent(a, 0), SN_ALL);
}

static sn_acc along_columns(sn_acc v, sn_acc a) /* an element of v a row */
{
    return sn_replicate(v, SN_ALL, sn_extent(a, 1));
}

static sn_acc times(sn_acc a, sn_acc v)
{
    return sn_sum(sn_zip_with(sn_mul, a, along_rows(v, a)));
}

static sn_scalar reflect(void *env, sn_scalar x, sn_scalar v, sn_scalar w)
{
    return sn_sub(x, sn_mul(*(sn_scalar *)env, sn_mul(v, w)));
}

static sn_acc householder(sn_acc a, sn_acc v)
{
    sn_acc w = sn_sum(sn_transpose(sn_zip_with(sn_mul, a, along_columns(v, a))));
    sn_scalar factor = sn_div(2, sn_the(sn_sum(sn_map(square_of, v))));
    return sn_zip_with(sn_closure(reflect, &factor), a, along_columns(v, a), along_rows(w, a));
}

static sn_scalar over_norm(void *norm, sn_scalar x)
{
    return sn_div(x, *(sn_scalar *)norm);
}

static sn_acc normalised(sn_acc v)
{
    sn_scalar norm = sn_sqrt(sn_the(sn_sum(sn_map(square_of, v))));
    return sn_map(sn_closure(over_norm, &norm), v);
}

static sn_acc power_step(sn_acc a, sn_acc v)
{
    sn_acc w = times(a, v);
    return sn_results(normalised(w), sn_sum(sn_zip_with(sn_mul, v, w)));
}

static sn_acc power_round(void *env, int count, const sn_acc *v)
{
    (void)count;
    return normalised(times(*(sn_acc *)env, *v));
}

static sn_acc power_10(sn_acc a, sn_acc v)
{
    return sn_aiterate(10, sn_body_of(power_round, &a, 1), v);
}

static sn_acc gram_schmidt(sn_acc q, sn_acc v)
{
    sn_acc parts = sn_zip_with(sn_mul, q, along_columns(times(q, v), q));
    return normalised(sn_zip_with(sn_sub, v, sn_sum(sn_transpose(parts))));
}

static sn_scalar with_diagonal(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_if(sn_eq(i, j), sn_add(x, *(sn_scalar *)env), x);
}

static sn_acc dominant(sn_acc a)
{
    sn_scalar n = sn_to_f64(sn_extent(a, 0));
    return sn_imap(sn_closure(with_diagonal, &n), a);
}

static sn_scalar without_column(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    struct step *p = env;
    sn_scalar root = sn_sqrt(sn_index(p->a, p->k, p->k)), left = sn_div(sn_index(p->a, i, p->k), root);
    sn_scalar rest = sn_sub(x, sn_mul(left, sn_div(sn_index(p->a, j, p->k), root)));
    return sn_if(sn_lor(sn_lt(i, j), sn_lt(j, p->k)), x, sn_if(sn_eq(j, p->k), left, rest));
}

static sn_acc cholesky_round(sn_acc k, sn_acc a)
{
    struct step p = {.a = a, .k = sn_the(k)};
    return sn_imap(sn_closure(without_column, &p), a);
}

F3(lower, sn_if(sn_lt(x, y), sn_f64(0), z))

static sn_acc cholesky_rounds(sn_acc a)
{
    return sn_imap(lower, sn_aloop(sn_extent(a, 0), cholesky_round, dominant(a)));
}

static sn_scalar pivot_size(void *env, sn_scalar i)
{
    struct step *p = env;
    return sn_if(sn_lt(i, p->k), sn_f64(-1), sn_abs(sn_index(p->a, i, p->k)));
}

static sn_scalar swapped_at(void *env, sn_scalar i, sn_scalar j)
{
    struct step *p = env;
    return sn_index(p->a, sn_if(sn_eq(i, p->k), p->l, sn_if(sn_eq(i, p->l), p->k, i)), j);
}

static sn_scalar eliminated(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    struct step *p = env;
    sn_scalar factor = sn_div(sn_index(p->b, i, p->k), sn_index(p->b, p->k, p->k));
    sn_scalar rest = sn_sub(x, sn_mul(factor, sn_index(p->b, p->k, j)));
    return sn_if(sn_lor(sn_le(i, p->k), sn_lt(j, p->k)), x, sn_if(sn_eq(j, p->k), factor, rest));
}

static sn_acc lu_at(sn_acc a, sn_scalar k)
{
    struct step p = {.a = a, .k = k};
    p.l = sn_the(sn_argmax(sn_generate(sn_extent(a, 0), sn_closure(pivot_size, &p))));
    p.b = sn_generate(sn_shape_of(a), sn_closure(swapped_at, &p));
    return sn_imap(sn_closure(eliminated, &p), p.b);
}

static sn_acc lu_step(sn_acc a, sn_acc k)
{
    return lu_at(a, sn_the(k));
}

static sn_acc lu_round(sn_acc k, sn_acc a)
{
    return lu_at(a, sn_the(k));
}

static sn_acc lu_rounds(sn_acc a)
{
    return sn_aloop(sn_sub(sn_extent(a, 0), 1), lu_round, a);
}

static sn_scalar row_solved(void *env, sn_scalar i, sn_scalar x)
{
    struct step *p = env;
    sn_scalar pivot = sn_add(sn_index(p->a, p->k, p->k), 4), found = sn_div(sn_index(p->b, p->k), pivot);
    return sn_if(sn_eq(i, p->k), found, sn_if(sn_gt(i, p->k), sn_sub(x, sn_mul(sn_index(p->a, i, p->k), found)), x));
}

static sn_acc forward_round(void *env, int count, const sn_acc *state)
{
    struct step p = {.a = *(sn_acc *)env, .b = state[1], .k = sn_the(state[0])};
    (void)count;
    return sn_imap(sn_closure(row_solved, &p), p.b);
}

static sn_acc forward_substitution(sn_acc a, sn_acc b)
{
    return sn_aloop(sn_size(b), sn_body_of(forward_round, &a, 2), b);
}

/* --- tridiagonal systems --- */

F2(affine, sn_tuple(sn_neg(x), sn_mul(x, y)))
F2(affine_back, sn_tuple(sn_neg(x), y))
F2(affine_after, sn_tuple(sn_mul(sn_fst(x), sn_fst(y)), sn_add(sn_mul(sn_fst(y), sn_snd(x)), sn_snd(y))))
F2(affine_before, sn_tuple(sn_mul(sn_fst(x), sn_fst(y)), sn_add(sn_mul(sn_fst(x), sn_snd(y)), sn_snd(x))))

static sn_acc thomas_rows(sn_acc w, sn_acc d)
{
    sn_acc factors = along_rows(w, d);
    sn_acc y = sn_snd(sn_scanl1(affine_after, sn_zip_with(affine, factors, d)));
    return sn_snd(sn_scanr1(affine_before, sn_zip_with(affine_back, factors, y)));
}

static sn_acc thomas_columns(sn_acc w, sn_acc d)
{
    return sn_transpose(thomas_rows(w, sn_transpose(d)));
}

static sn_scalar thomas_of_8(void *env, sn_scalar i)
{
    sn_acc *p = env;
    sn_scalar c[8], d[8];
    for (int k = 0; k < 8; k++) {
        sn_scalar b = sn_add(sn_index(p[1], i, k), 4), e = sn_index(p[3], i, k);
        if (k > 0) {
            sn_scalar a = sn_index(p[0], i, k);
            b = sn_sub(b, sn_mul(a, c[k - 1]));
            e = sn_sub(e, sn_mul(a, d[k - 1]));
        }
        c[k] = sn_div(sn_index(p[2], i, k), b);
        d[k] = sn_div(e, b);
    }
    for (int k = 6; k >= 0; k--)
        d[k] = sn_sub(d[k], sn_mul(c[k], d[k + 1]));
    return sn_tuple(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
}

static sn_acc thomas_8(sn_acc a, sn_acc b, sn_acc c, sn_acc d)
{
    sn_acc p[4] = {a, b, c, d};
    return sn_generate(sn_extent(a, 0), sn_closure(thomas_of_8, p));
}

/* --- sparse and structured matrices --- */

static sn_scalar add_diagonal(void *env, sn_scalar d, sn_scalar sum)
{
    struct step *p = env;
    sn_scalar j = sn_add(p->k, sn_index(p->a, d));
    sn_scalar inside = sn_land(sn_ge(j, 0), sn_lt(j, sn_size(p->c)));
    return sn_if(inside, sn_add(sum, sn_mul(sn_index(p->b, d, p->k), sn_index(p->c, j))), sum);
}

static sn_scalar of_diagonals(void *env, sn_scalar i)
{
    struct step p = *(struct step *)env;
    p.k = i;
    return sn_loop(sn_size(p.a), sn_closure(add_diagonal, &p), sn_f64(0));
}

static sn_acc diagonals(sn_acc offsets, sn_acc a, sn_acc x)
{
    struct step p = {.a = offsets, .b = a, .c = x};
    return sn_generate(sn_size(x), sn_closure(of_diagonals, &p));
}

static sn_acc ell(sn_acc x, sn_acc columns, sn_acc values)
{
    return sn_sum(sn_zip_with(sn_mul, values, sn_gather(columns, x)));
}

static sn_acc ell_columns(sn_acc x, sn_acc columns, sn_acc values)
{
    return sn_sum(sn_transpose(sn_zip_with(sn_mul, values, sn_gather(columns, x))));
}

static sn_acc zeros(sn_acc like)
{
    return sn_fill(sn_shape_of(like), sn_f64(0));
}

static sn_scalar target(void *env, sn_scalar i)
{
    return sn_to_i64(sn_index(*(sn_acc *)env, i));
}

static sn_acc coo(sn_acc x, sn_acc rows, sn_acc columns, sn_acc values)
{
    sn_acc products = sn_zip_with(sn_mul, values, sn_gather(columns, x));
    return sn_permute(sn_add, zeros(x), sn_closure(target, &rows), products);
}

static sn_acc csr_transposed(sn_acc x, sn_acc offsets, sn_acc columns, sn_acc values)
{
    sn_acc spread = sn_replicate_seg(sn_size(values), sn_segments_from_offsets(offsets), x);
    return sn_permute(sn_add, zeros(x), sn_closure(target, &columns), sn_zip_with(sn_mul, spread, values));
}

static sn_scalar toeplitz_product(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc *p = env;
    sn_scalar at = sn_sub(sn_add(sn_sub(i, j), sn_size(p[1])), 1);
    return sn_mul(sn_index(p[0], at), sn_index(p[1], j));
}

static sn_acc toeplitz(sn_acc t, sn_acc x)
{
    sn_acc p[2] = {t, x};
    return sn_sum(sn_generate(sn_shape(sn_size(x), sn_size(x)), sn_closure(toeplitz_product, p)));
}

static sn_scalar local_force(void *env, sn_scalar e, sn_scalar k)
{
    static const double stiffness[4][4] = {{4, -1, -2, -1}, {-1, 4, -1, -2}, {-2, -1, 4, -1}, {-1, -2, -1, 4}};
    struct step *p = env;
    sn_scalar result = sn_f64(0), u[4];
    for (int c = 0; c < 4; c++)
        u[c] = sn_index(p->a, sn_to_i64(sn_index(p->b, e, c)));
    for (int r = 3; r >= 0; r--) {
        sn_scalar sum = sn_mul(stiffness[r][0], u[0]);
        for (int c = 1; c < 4; c++)
            sum = sn_add(sum, sn_mul(stiffness[r][c], u[c]));
        result = sn_if(sn_eq(k, r), sum, result);
    }
    return sn_mul(sn_index(p->c, e), result);
}

static sn_scalar node_of(void *env, sn_scalar e, sn_scalar k)
{
    return sn_to_i64(sn_index(((struct step *)env)->b, e, k));
}

static sn_acc fem(sn_acc u, sn_acc nodes, sn_acc factor)
{
    struct step p = {.a = u, .b = nodes, .c = factor};
    sn_acc forces = sn_generate(sn_shape_of(nodes), sn_closure(local_force, &p));
    return sn_permute(sn_add, zeros(u), sn_closure(node_of, &p), forces);
}

/* --- polynomials and quadrature --- */

static sn_acc vandermonde(sn_acc x, sn_acc m)
{
    return sn_prescan(sn_mul, sn_f64(1), sn_replicate(x, SN_ALL, sn_size(m)));
}

static sn_scalar horner_step(void *x, sn_scalar value, sn_scalar c)
{
    return sn_add(sn_mul(value, *(sn_scalar *)x), c);
}

static sn_scalar horner(void *env, sn_scalar x)
{
    return sn_sfold(sn_closure(horner_step, &x), sn_f64(0), *(sn_acc *)env);
}

static sn_acc long_polynomial(sn_acc c, sn_acc x)
{
    return sn_map(sn_closure(horner, &c), x);
}

static sn_scalar clenshaw_step(void *x, sn_scalar s, sn_scalar c)
{
    return sn_tuple(sn_add(c, sn_sub(sn_mul(sn_mul(2, *(sn_scalar *)x), sn_fst(s)), sn_snd(s))), sn_fst(s));
}

static sn_scalar clenshaw(void *env, sn_scalar x)
{
    sn_scalar s = sn_sfold(sn_closure(clenshaw_step, &x), sn_tuple(sn_f64(0), sn_f64(0)), *(sn_acc *)env);
    return sn_sub(sn_fst(s), sn_mul(x, sn_snd(s)));
}

static sn_acc chebyshev(sn_acc c, sn_acc x)
{
    sn_acc last_first = sn_reverse(c);
    return sn_map(sn_closure(clenshaw, &last_first), x);
}

static sn_scalar legendre_step(void *env, sn_scalar k, sn_scalar s)
{
    struct step *p = env;
    sn_scalar n = sn_to_f64(k), now = sn_get(s, 0), before = sn_get(s, 1), by = sn_div(sn_f64(1), sn_add(n, 1));
    sn_scalar next = sn_mul(sn_sub(sn_mul(sn_mul(sn_add(sn_mul(2, n), 1), p->s), now), sn_mul(n, before)), by);
    return sn_tuple(next, now, sn_add(sn_get(s, 2), sn_mul(sn_index(p->a, k), now)));
}

static sn_scalar legendre_sum(void *env, sn_scalar x)
{
    struct step p = {.a = *(sn_acc *)env, .s = x};
    sn_scalar init = sn_tuple(sn_f64(1), sn_f64(0), sn_f64(0));
    return sn_get(sn_loop(sn_size(p.a), sn_closure(legendre_step, &p), init), 2);
}

static sn_acc legendre(sn_acc c, sn_acc x)
{
    return sn_map(sn_closure(legendre_sum, &c), x);
}

F1(bell, sn_exp(sn_neg(sn_mul(x, x))))

static sn_scalar simpson_term(void *env, sn_scalar k, sn_scalar sum)
{
    sn_scalar *p = env, n = sn_add(k, 1);
    sn_scalar weight = sn_if(sn_eq(sn_bit_and(n, 1), 1), sn_f64(4), sn_f64(2));
    return sn_add(sum, sn_mul(weight, bell(sn_add(p[0], sn_mul(p[1], sn_to_f64(n))))));
}

static sn_scalar simpson_of(sn_scalar a, sn_scalar b)
{
    sn_scalar p[2] = {a, sn_div(sn_sub(b, a), 32)};
    sn_scalar sum = sn_loop(31, sn_closure(simpson_term, p), sn_add(bell(a), bell(b)));
    return sn_div(sn_mul(p[1], sum), 3);
}

static sn_acc simpson(sn_acc a, sn_acc b)
{
    return sn_zip_with(simpson_of, a, b);
}

static sn_scalar gauss_term(void *env, sn_scalar sum, sn_scalar node)
{
    sn_scalar *p = env, x = sn_add(p[0], sn_mul(p[1], sn_fst(node)));
    return sn_add(sum, sn_mul(sn_snd(node), sn_div(sn_f64(1), sn_add(1, sn_mul(x, x)))));
}

static sn_scalar gauss_of(void *env, sn_scalar a, sn_scalar b)
{
    sn_scalar p[2] = {sn_mul(0.5, sn_add(a, b)), sn_mul(0.5, sn_sub(b, a))};
    return sn_mul(p[1], sn_sfold(sn_closure(gauss_term, p), sn_f64(0), *(sn_acc *)env));
}

static sn_acc gauss(sn_acc a, sn_acc b)
{
    static const double node[] = {0, 0.5384693101056831, -0.5384693101056831, 0.9061798459386640, -0.9061798459386640};
    static const double weight[] = {0.5688888888888889, 0.4786286704993665, 0.4786286704993665, 0.2369268850561891,
                                    0.2369268850561891};
    sn_acc nodes = sn_zip(sn_use(node, 5), sn_use(weight, 5));
    return sn_zip_with(sn_closure(gauss_of, &nodes), a, b);
}

#define NB_GROUP solvers
#define NB_TABLE "solvers.def"
#include "../table.h"
