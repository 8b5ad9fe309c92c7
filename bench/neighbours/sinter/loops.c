/* Loops of the scalar language. */
#include "../program.h"

void nb_make_csr(const struct nb_call *call);
void nb_make_count(const struct nb_call *call);
void nb_make_table(const struct nb_call *call);
void nb_make_16(const struct nb_call *call);

/* What the scalar functions see of their program. */
struct place {
    sn_acc x, y, w;
    sn_scalar i, first;
};

static sn_scalar add_product(void *env, sn_scalar j, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_mul(sn_index(p->x, p->i, j), sn_index(p->y, j)));
}

static sn_scalar times_row(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_extent(p.x, 1), sn_closure(add_product, &p), 0);
}

static sn_acc matrix_vector(sn_acc x, sn_acc y)
{
    struct place p = {.x = x, .y = y};
    return sn_generate(sn_extent(x, 0), sn_closure(times_row, &p));
}

static sn_scalar fold_row(void *env, sn_scalar i)
{
    return sn_sfold(sn_add, 0, *(sn_acc *)env, i);
}

static sn_acc matrix_vector_sfold(sn_acc x, sn_acc y)
{
    sn_acc products = sn_zip_with(sn_mul, x, sn_replicate(y, sn_extent(x, 0), SN_ALL));
    return sn_generate(sn_extent(x, 0), sn_closure(fold_row, &products));
}

static sn_scalar add_element(void *env, sn_scalar j, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, p->i, j));
}

static sn_scalar sum_of_row(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_extent(p.x, 1), sn_closure(add_element, &p), 0);
}

static sn_acc row_sums(sn_acc x)
{
    struct place p = {.x = x};
    return sn_generate(sn_extent(x, 0), sn_closure(sum_of_row, &p));
}

static sn_scalar larger_element(void *env, sn_scalar j, sn_scalar most)
{
    const struct place *p = env;
    return sn_max(most, sn_index(p->x, p->i, j));
}

static sn_scalar largest_of_row(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_extent(p.x, 1), sn_closure(larger_element, &p), sn_index(p.x, i, 0));
}

static sn_acc row_maxima(sn_acc x)
{
    struct place p = {.x = x};
    return sn_generate(sn_extent(x, 0), sn_closure(largest_of_row, &p));
}

static sn_scalar add_of_column(void *env, sn_scalar i, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, i, p->i));
}

static sn_scalar sum_of_column(void *env, sn_scalar j)
{
    struct place p = *(const struct place *)env;
    p.i = j;
    return sn_loop(sn_extent(p.x, 0), sn_closure(add_of_column, &p), 0);
}

static sn_acc column_sums(sn_acc x)
{
    struct place p = {.x = x};
    return sn_generate(sn_extent(x, 1), sn_closure(sum_of_column, &p));
}

static sn_scalar times_part_of_row(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_add(i, 1), sn_closure(add_product, &p), 0);
}

static sn_acc triangle_vector(sn_acc x, sn_acc y)
{
    struct place p = {.x = x, .y = y};
    return sn_generate(sn_extent(x, 0), sn_closure(times_part_of_row, &p));
}

static sn_scalar sum_of_part(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_add(i, 1), sn_closure(add_element, &p), 0);
}

static sn_acc triangle_sums(sn_acc x)
{
    struct place p = {.x = x};
    return sn_generate(sn_extent(x, 0), sn_closure(sum_of_part, &p));
}

static sn_scalar add_one(void *env, sn_scalar j, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, j));
}

static sn_scalar sum_up_to(void *env, sn_scalar i)
{
    return sn_loop(sn_add(i, 1), sn_closure(add_one, env), 0);
}

static sn_acc prefix(sn_acc x)
{
    struct place p = {.x = x};
    return sn_generate(sn_size(x), sn_closure(sum_up_to, &p));
}

/* Rows of a sparse matrix: where they begin, columns, values. */
struct sparse {
    sn_acc begin, column, value, x;
    sn_scalar first;
};

static sn_scalar add_entry(void *env, sn_scalar k, sn_scalar sum)
{
    const struct sparse *s = env;
    sn_scalar at = sn_add(s->first, k);
    return sn_add(sum, sn_mul(sn_index(s->value, at), sn_index(s->x, sn_index(s->column, at))));
}

static sn_scalar add_value(void *env, sn_scalar k, sn_scalar sum)
{
    const struct sparse *s = env;
    return sn_add(sum, sn_index(s->value, sn_add(s->first, k)));
}

static sn_scalar sparse_row(void *env, sn_scalar i)
{
    struct sparse s = *(const struct sparse *)env;
    s.first = sn_to_i64(sn_index(s.begin, i));
    return sn_loop(sn_sub(sn_to_i64(sn_index(s.begin, sn_add(i, 1))), s.first), sn_closure(add_entry, &s), 0);
}

static sn_scalar sparse_row_sum(void *env, sn_scalar i)
{
    struct sparse s = *(const struct sparse *)env;
    s.first = sn_to_i64(sn_index(s.begin, i));
    return sn_loop(sn_sub(sn_to_i64(sn_index(s.begin, sn_add(i, 1))), s.first), sn_closure(add_value, &s), 0);
}

static sn_acc csr(sn_acc begin, sn_acc column, sn_acc value, sn_acc x)
{
    struct sparse s = {begin, column, value, x, {0}};
    return sn_generate(sn_sub(sn_size(begin), 1), sn_closure(sparse_row, &s));
}

static sn_acc csr_sums(sn_acc begin, sn_acc column, sn_acc value, sn_acc x)
{
    struct sparse s = {begin, column, value, x, {0}};
    return sn_generate(sn_sub(sn_size(begin), 1), sn_closure(sparse_row_sum, &s));
}

static sn_scalar add_of_band(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    sn_scalar j = sn_add(p->first, k);
    return sn_add(sum, sn_mul(sn_index(p->x, p->i, sn_sub(sn_add(j, 4), p->i)), sn_index(p->y, j)));
}

static sn_scalar times_band(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    p.first = sn_max(sn_sub(i, 4), 0);
    return sn_loop(sn_sub(sn_min(sn_add(i, 5), sn_size(p.y)), p.first), sn_closure(add_of_band, &p), 0);
}

static sn_acc banded(sn_acc x, sn_acc y)
{
    struct place p = {.x = x, .y = y};
    return sn_generate(sn_size(y), sn_closure(times_band, &p));
}

static sn_scalar newton_step(void *env, sn_scalar r)
{
    return sn_mul(sn_add(r, sn_div(*(sn_scalar *)env, r)), 0.5f);
}

static sn_scalar newton_root(sn_scalar x)
{
    return sn_iterate(10, sn_closure(newton_step, &x), x);
}

static sn_acc newton(sn_acc x)
{
    return sn_map(newton_root, x);
}

static sn_scalar logistic_step(sn_scalar x)
{
    return sn_mul(sn_mul(x, 3.5), sn_sub(sn_f64(1), x));
}

static sn_scalar logistic_50(sn_scalar x)
{
    return sn_iterate(50, logistic_step, x);
}

static sn_acc logistic(sn_acc x)
{
    return sn_map(logistic_50, x);
}

struct horner {
    sn_acc c;
    sn_scalar x;
};

static sn_scalar horner_step(void *env, sn_scalar k, sn_scalar sum)
{
    const struct horner *h = env;
    return sn_add(sn_mul(sum, h->x), sn_index(h->c, k));
}

static sn_scalar horner(void *env, sn_scalar x)
{
    struct horner h = {*(sn_acc *)env, x};
    return sn_loop(sn_size(h.c), sn_closure(horner_step, &h), 0);
}

static sn_acc coefficients(sn_acc x, sn_acc c)
{
    return sn_map(sn_closure(horner, &c), x);
}

static sn_scalar not_one(sn_scalar x, sn_scalar steps)
{
    (void)steps;
    return sn_ne(x, 1);
}

static sn_scalar collatz_step(sn_scalar x, sn_scalar steps)
{
    sn_scalar odd = sn_eq(sn_bit_and(x, 1), 1);
    return sn_tuple(sn_if(odd, sn_add(sn_mul(x, 3), 1), sn_shr(x, sn_i64(1))), sn_add(steps, 1));
}

static sn_scalar collatz_steps(sn_scalar x)
{
    return sn_snd(sn_while(not_one, collatz_step, sn_tuple(x, sn_i32(0))));
}

static sn_acc collatz(sn_acc x)
{
    return sn_map(collatz_steps, x);
}

static sn_scalar gcd_left(sn_scalar a, sn_scalar b)
{
    (void)a;
    return sn_ne(b, 0);
}

static sn_scalar gcd_step(sn_scalar a, sn_scalar b)
{
    return sn_tuple(b, sn_rem(a, b));
}

static sn_scalar gcd_of(sn_scalar a, sn_scalar b)
{
    return sn_fst(sn_while(gcd_left, gcd_step, sn_tuple(a, b)));
}

static sn_acc gcd(sn_acc a, sn_acc b)
{
    return sn_zip_with(gcd_of, a, b);
}

/* How many of the 2^16 sorted entries are not above x. */
struct sorted {
    sn_acc table;
    sn_scalar x;
};

static sn_scalar halve(void *env, sn_scalar k, sn_scalar low)
{
    const struct sorted *s = env;
    sn_scalar middle = sn_add(low, sn_shr(sn_i32(32768), sn_to_i32(k)));
    return sn_if(sn_le(sn_index(s->table, sn_sub(middle, 1)), s->x), middle, low);
}

static sn_scalar place_of(void *env, sn_scalar x)
{
    struct sorted s = {*(sn_acc *)env, x};
    return sn_loop(16, sn_closure(halve, &s), sn_i32(0));
}

static sn_acc search(sn_acc x, sn_acc table)
{
    return sn_map(sn_closure(place_of, &table), x);
}

static sn_scalar between(void *env, sn_scalar x)
{
    sn_acc table = *(sn_acc *)env;
    sn_scalar at = sn_mul(x, sn_to_f32(sn_sub(sn_size(table), 1))), i = sn_to_i32(at);
    sn_scalar share = sn_sub(at, sn_to_f32(i)), a = sn_index(table, i), b = sn_index(table, sn_add(i, 1));
    return sn_add(a, sn_mul(share, sn_sub(b, a)));
}

static sn_acc interpolate(sn_acc x, sn_acc table)
{
    return sn_map(sn_closure(between, &table), x);
}

static sn_scalar count_below(void *env, sn_scalar sum, sn_scalar other)
{
    return sn_add(sum, sn_if(sn_lt(other, *(sn_scalar *)env), sn_i64(1), sn_i64(0)));
}

static sn_scalar rank_of(void *env, sn_scalar x)
{
    return sn_sfold(sn_closure(count_below, &x), sn_i64(0), *(sn_acc *)env);
}

static sn_acc rank_loop(sn_acc x)
{
    return sn_map(sn_closure(rank_of, &x), x);
}

static sn_acc rank_fold(sn_acc x)
{
    sn_acc here = sn_replicate(x, SN_ALL, sn_size(x)), other = sn_replicate(x, sn_size(x), SN_ALL);
    return sn_count(sn_zip_with(sn_lt, other, here));
}

static sn_acc histogram(sn_acc x)
{
    sn_acc bins = sn_map(sn_to_u8, sn_iota(16));
    return sn_count(sn_zip_with(sn_eq, sn_replicate(x, 16, SN_ALL), sn_replicate(bins, SN_ALL, sn_size(x))));
}

#define NB_GROUP loops
#define NB_TABLE "loops.def"
#include "../table.h"
