/* Pairs of ways to write the same. */
#include "../program.h"

struct place {
    sn_acc x, y;
    sn_scalar i, j;
};

/* --- sums --- */

static sn_scalar add_element(void *env, sn_scalar j, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, p->i, j));
}

static sn_scalar row_by_loop(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_extent(p.x, 1), sn_closure(add_element, &p), 0);
}

static sn_acc sums_by_loop(sn_acc x)
{
    struct place p = {.x = x};
    return sn_generate(sn_extent(x, 0), sn_closure(row_by_loop, &p));
}

static sn_scalar row_by_sfold(void *env, sn_scalar i)
{
    return sn_sfold(sn_add, 0, *(sn_acc *)env, i);
}

static sn_acc sums_by_sfold(sn_acc x)
{
    return sn_generate(sn_extent(x, 0), sn_closure(row_by_sfold, &x));
}

static sn_acc sums_by_fold(sn_acc x)
{
    return sn_fold(sn_add, 0, x);
}

static sn_scalar add_of_column(void *env, sn_scalar i, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, i, p->j));
}

static sn_scalar column_by_loop(void *env, sn_scalar j)
{
    struct place p = *(const struct place *)env;
    p.j = j;
    return sn_loop(sn_extent(p.x, 0), sn_closure(add_of_column, &p), 0);
}

static sn_acc column_sums_by_loop(sn_acc x)
{
    struct place p = {.x = x};
    return sn_generate(sn_extent(x, 1), sn_closure(column_by_loop, &p));
}

static sn_acc column_sums_by_fold(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_transpose(x));
}

static sn_scalar swapped(sn_scalar i, sn_scalar j)
{
    return sn_tuple(j, i);
}

static sn_acc transpose_by_permute(sn_acc x)
{
    return sn_backpermute(sn_shape(sn_extent(x, 1), sn_extent(x, 0)), swapped, x);
}

static sn_acc column_sums_by_permute(sn_acc x)
{
    return sn_fold(sn_add, 0, transpose_by_permute(x));
}

static sn_acc sum_of_sums(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_fold(sn_add, 0, x));
}

static sn_acc sum_of_flat(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_flatten(x));
}

static sn_acc sum_of_all(sn_acc x)
{
    return sn_fold_all(sn_add, 0, x);
}

/* --- folds --- */

static sn_scalar with_index(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, i);
}

static sn_scalar choose(sn_scalar right, sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_if(right, sn_fst(b), sn_fst(a)), sn_if(right, sn_snd(b), sn_snd(a)));
}

static sn_scalar greater(sn_scalar a, sn_scalar b)
{
    return choose(sn_gt(sn_fst(b), sn_fst(a)), a, b);
}

static sn_scalar greater_or_earlier(sn_scalar a, sn_scalar b)
{
    sn_scalar earlier = sn_and(sn_eq(sn_fst(b), sn_fst(a)), sn_lt(sn_snd(b), sn_snd(a)));
    return choose(sn_or(sn_gt(sn_fst(b), sn_fst(a)), earlier), a, b);
}

static sn_acc argmax_written(sn_acc x)
{
    return sn_snd(sn_fold1(greater, sn_imap(with_index, x)));
}

static sn_acc argmax_ties(sn_acc x)
{
    return sn_snd(sn_fold1(greater_or_earlier, sn_imap(with_index, x)));
}

static sn_acc argmax_builtin(sn_acc x)
{
    return sn_argmax(x);
}

static sn_scalar twice(sn_scalar x)
{
    return sn_tuple(x, x);
}

static sn_scalar sum_and_max(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_max(sn_snd(a), sn_snd(b)));
}

static sn_acc sum_max_tuple(sn_acc x)
{
    sn_acc both = sn_fold1(sn_associative(sum_and_max), sn_map(twice, x));
    return sn_results(sn_fst(both), sn_snd(both));
}

static sn_acc sum_max_apart(sn_acc x)
{
    return sn_results(sn_fold1(sn_add, x), sn_fold1(sn_max, x));
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar powers(sn_scalar x)
{
    return sn_tuple(x, square(x));
}

static sn_scalar add_both(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_add(sn_snd(a), sn_snd(b)));
}

static sn_acc moments_tuple(sn_acc x)
{
    sn_acc both = sn_fold(add_both, sn_tuple(0, 0), sn_map(powers, x));
    return sn_results(sn_fst(both), sn_snd(both));
}

static sn_acc moments_apart(sn_acc x)
{
    return sn_results(sn_sum(x), sn_sum(sn_map(square, x)));
}

static sn_scalar one_above(sn_scalar x)
{
    return sn_if(sn_gt(x, 1), sn_i64(1), sn_i64(0));
}

static sn_acc count_by_if(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_map(one_above, x));
}

static sn_scalar above_1(sn_scalar x)
{
    return sn_gt(x, 1);
}

static sn_acc count_by_count(sn_acc x)
{
    return sn_count(sn_map(above_1, x));
}

static sn_scalar larger_by_if(sn_scalar a, sn_scalar b)
{
    return sn_if(sn_gt(b, a), b, a);
}

static sn_acc max_by_if(sn_acc x)
{
    return sn_fold1(sn_associative(larger_by_if), x);
}

static sn_acc max_by_max(sn_acc x)
{
    return sn_fold1(sn_max, x);
}

/* --- maps --- */

static sn_scalar clamped_by_if(sn_scalar x)
{
    return sn_if(sn_lt(x, -1), -1, sn_if(sn_gt(x, 1), 1, x));
}

static sn_acc clamp_by_if(sn_acc x)
{
    return sn_map(clamped_by_if, x);
}

static sn_scalar clamped(sn_scalar x)
{
    return sn_max(sn_min(x, 1), -1);
}

static sn_acc clamp_by_minmax(sn_acc x)
{
    return sn_map(clamped, x);
}

static sn_scalar absolute(sn_scalar x)
{
    return sn_if(sn_lt(x, 0), sn_neg(x), x);
}

static sn_acc abs_by_if(sn_acc x)
{
    return sn_map(absolute, x);
}

static sn_acc abs_by_abs(sn_acc x)
{
    return sn_map(sn_abs, x);
}

static sn_scalar cube_pow(sn_scalar x)
{
    return sn_pow(x, 3);
}

static sn_acc cube_by_pow(sn_acc x)
{
    return sn_map(cube_pow, x);
}

static sn_scalar cube(sn_scalar x)
{
    return sn_mul(sn_mul(x, x), x);
}

static sn_acc cube_by_product(sn_acc x)
{
    return sn_map(cube, x);
}

static sn_scalar step(sn_scalar x)
{
    return sn_sub(sn_mul(x, 0.5f), square(x));
}

static sn_scalar thrice(sn_scalar x)
{
    return sn_iterate(3, step, x);
}

static sn_acc thrice_by_iterate(sn_acc x)
{
    return sn_map(thrice, x);
}

static sn_scalar three_steps(sn_scalar x)
{
    return step(step(step(x)));
}

static sn_acc thrice_by_hand(sn_acc x)
{
    return sn_map(three_steps, x);
}

static sn_scalar numbered_step(void *env, sn_scalar k, sn_scalar sum)
{
    return sn_add(sum, sn_mul(*(sn_scalar *)env, sn_to_f32(k)));
}

static sn_scalar eight_in_loop(sn_scalar x)
{
    return sn_loop(8, sn_closure(numbered_step, &x), x);
}

static sn_acc eight_by_loop(sn_acc x)
{
    return sn_map(eight_in_loop, x);
}

static sn_scalar eight_steps(sn_scalar x)
{
    sn_scalar sum = x;
    for (int k = 0; k < 8; k++)
        sum = sn_add(sum, sn_mul(x, (float)k));
    return sum;
}

static sn_acc eight_by_hand(sn_acc x)
{
    return sn_map(eight_steps, x);
}

/* --- indices --- */

static sn_acc transpose_plain(sn_acc x)
{
    return sn_transpose(x);
}

static sn_scalar read_swapped(void *env, sn_scalar i, sn_scalar j)
{
    return sn_index(*(sn_acc *)env, j, i);
}

static sn_acc transpose_by_generate(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 1), sn_extent(x, 0)), sn_closure(read_swapped, &x));
}

static sn_scalar plus_read(void *env, sn_scalar i, sn_scalar j, sn_scalar x)
{
    (void)i;
    return sn_add(x, sn_index(*(sn_acc *)env, j));
}

static sn_acc add_row_by_index(sn_acc x, sn_acc row)
{
    return sn_imap(sn_closure(plus_read, &row), x);
}

static sn_acc add_row_by_replicate(sn_acc x, sn_acc row)
{
    return sn_zip_with(sn_add, x, sn_replicate(row, sn_extent(x, 0), SN_ALL));
}

static sn_acc rotate_plain(sn_acc x)
{
    return sn_rotate(5, x);
}

static sn_scalar five_on(void *env, sn_scalar i)
{
    return sn_mod(sn_add(i, 5), *(sn_scalar *)env);
}

static sn_acc rotate_by_mod(sn_acc x)
{
    sn_scalar n = sn_size(x);
    return sn_backpermute(n, sn_closure(five_on, &n), x);
}

static sn_scalar five_on_by_if(void *env, sn_scalar i)
{
    sn_scalar n = *(sn_scalar *)env, at = sn_add(i, 5);
    return sn_if(sn_lt(at, n), at, sn_sub(at, n));
}

static sn_acc rotate_by_if(sn_acc x)
{
    sn_scalar n = sn_size(x);
    return sn_backpermute(n, sn_closure(five_on_by_if, &n), x);
}

static sn_scalar half(sn_scalar i)
{
    return sn_quot(i, 2);
}

static sn_acc twice_by_divide(sn_acc x, sn_acc shape)
{
    return sn_backpermute(sn_size(shape), half, x);
}

static sn_acc twice_by_replicate(sn_acc x, sn_acc shape)
{
    return sn_reshape(sn_size(shape), sn_replicate(x, SN_ALL, 2));
}

static sn_scalar modulo(void *env, sn_scalar i)
{
    return sn_mod(i, *(sn_scalar *)env);
}

static sn_acc tile_by_mod(sn_acc x, sn_acc shape)
{
    sn_scalar n = sn_size(x);
    return sn_backpermute(sn_size(shape), sn_closure(modulo, &n), x);
}

static sn_acc tile_by_replicate(sn_acc x, sn_acc shape)
{
    return sn_reshape(sn_size(shape), sn_replicate(x, 2, SN_ALL));
}

static sn_scalar wide_read(void *env, sn_scalar i)
{
    return sn_index(*(sn_acc *)env, sn_to_i64(i));
}

static sn_scalar narrow_read(void *env, sn_scalar i)
{
    return sn_index(*(sn_acc *)env, i);
}

static sn_acc gather_wide(sn_acc x, sn_acc index)
{
    return sn_map(sn_closure(wide_read, &x), index);
}

static sn_acc gather_narrow(sn_acc x, sn_acc index)
{
    return sn_map(sn_closure(narrow_read, &x), index);
}

/* --- neighbours --- */

static sn_acc without_ends(int64_t ends, sn_acc x)
{
    return sn_skip(ends, sn_take(sn_sub(sn_size(x), ends), x));
}

static sn_scalar three(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1), sn_at(s, 0)), sn_at(s, 1));
}

static sn_acc three_by_stencil(sn_acc x)
{
    return without_ends(1, sn_stencil(three, sn_pattern(3), sn_clamp, x));
}

static sn_scalar sum_of_three(sn_scalar a, sn_scalar b, sn_scalar c)
{
    return sn_add(sn_add(a, b), c);
}

static sn_acc three_by_shifts(sn_acc x)
{
    return sn_zip_with(sum_of_three, sn_init(sn_init(x)), sn_tail(sn_init(x)), sn_tail(sn_tail(x)));
}

static sn_scalar three_reads(void *env, sn_scalar i)
{
    sn_acc x = *(sn_acc *)env;
    return sum_of_three(sn_index(x, i), sn_index(x, sn_add(i, 1)), sn_index(x, sn_add(i, 2)));
}

static sn_acc three_by_reads(sn_acc x)
{
    return sn_generate(sn_sub(sn_size(x), 2), sn_closure(three_reads, &x));
}

static sn_scalar nine(sn_scalar s)
{
    sn_scalar sum = sn_at(s, -4);
    for (int d = -3; d <= 4; d++)
        sum = sn_add(sum, sn_at(s, d));
    return sum;
}

static sn_acc nine_by_stencil(sn_acc x)
{
    return without_ends(4, sn_stencil(nine, sn_pattern(9), sn_clamp, x));
}

static sn_acc nine_by_fold(sn_acc x)
{
    return sn_fold(sn_add, 0, sn_backpermute(sn_shape(sn_sub(sn_size(x), 8), 9), sn_add, x));
}

static sn_scalar add_next(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_index(p->x, sn_add(p->i, k)));
}

static sn_scalar nine_from(void *env, sn_scalar i)
{
    struct place p = {.x = *(sn_acc *)env, .i = i};
    return sn_loop(9, sn_closure(add_next, &p), 0);
}

static sn_acc nine_by_loop(sn_acc x)
{
    return sn_generate(sn_sub(sn_size(x), 8), sn_closure(nine_from, &x));
}

static sn_scalar five(sn_scalar s)
{
    sn_scalar sides = sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
    return sn_sub(sides, sn_mul(sn_at(s, 0, 0), 4));
}

static sn_acc five_by_stencil(sn_acc x)
{
    return sn_stencil(five, sn_pattern(3, 3), sn_clamp, x);
}

static sn_scalar five_reads(void *env, sn_scalar i, sn_scalar j, sn_scalar here)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar up = sn_max(sn_sub(i, 1), 0), left = sn_max(sn_sub(j, 1), 0);
    sn_scalar below = sn_min(sn_add(i, 1), sn_sub(sn_extent(x, 0), 1));
    sn_scalar right = sn_min(sn_add(j, 1), sn_sub(sn_extent(x, 1), 1));
    sn_scalar sides =
        sn_add(sn_add(sn_index(x, up, j), sn_index(x, below, j)), sn_add(sn_index(x, i, left), sn_index(x, i, right)));
    return sn_sub(sides, sn_mul(here, 4));
}

static sn_acc five_by_reads(sn_acc x)
{
    return sn_imap(sn_closure(five_reads, &x), x);
}

static sn_scalar in_square_of_2(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(sn_add(sn_mul(i, 2), sn_quot(k, 2)), sn_add(sn_mul(j, 2), sn_rem(k, 2)));
}

static sn_acc pool_by_fold(sn_acc x, sn_acc rows, sn_acc columns)
{
    return sn_fold1(sn_max, sn_backpermute(sn_shape(sn_size(rows), sn_size(columns), 4), in_square_of_2, x));
}

static sn_scalar largest_of_4(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar r = sn_mul(i, 2), c = sn_mul(j, 2), r1 = sn_add(r, 1), c1 = sn_add(c, 1);
    return sn_max(sn_max(sn_index(x, r, c), sn_index(x, r, c1)), sn_max(sn_index(x, r1, c), sn_index(x, r1, c1)));
}

static sn_acc pool_by_reads(sn_acc x, sn_acc rows, sn_acc columns)
{
    return sn_generate(sn_shape(sn_size(rows), sn_size(columns)), sn_closure(largest_of_4, &x));
}

/* --- products --- */

static sn_scalar add_product(void *env, sn_scalar k, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_mul(sn_index(p->x, p->i, k), sn_index(p->y, k, p->j)));
}

static sn_scalar element_of_product(void *env, sn_scalar i, sn_scalar j)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    p.j = j;
    return sn_loop(sn_extent(p.x, 1), sn_closure(add_product, &p), 0);
}

static sn_acc matrices_by_loop(sn_acc x, sn_acc y)
{
    struct place p = {.x = x, .y = y};
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(y, 1)), sn_closure(element_of_product, &p));
}

static sn_acc matrices_by_fold(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_extent(y, 1), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, sn_replicate(sn_transpose(y), sn_extent(x, 0), SN_ALL, SN_ALL)));
}

static sn_scalar add_vector_product(void *env, sn_scalar j, sn_scalar sum)
{
    const struct place *p = env;
    return sn_add(sum, sn_mul(sn_index(p->x, p->i, j), sn_index(p->y, j)));
}

static sn_scalar times_row(void *env, sn_scalar i)
{
    struct place p = *(const struct place *)env;
    p.i = i;
    return sn_loop(sn_extent(p.x, 1), sn_closure(add_vector_product, &p), 0);
}

static sn_acc vector_by_loop(sn_acc x, sn_acc y)
{
    struct place p = {.x = x, .y = y};
    return sn_generate(sn_extent(x, 0), sn_closure(times_row, &p));
}

static sn_acc vector_by_fold(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(sn_mul, x, sn_replicate(y, sn_extent(x, 0), SN_ALL)));
}

static sn_scalar count_below(void *env, sn_scalar sum, sn_scalar other)
{
    return sn_add(sum, sn_if(sn_lt(other, *(sn_scalar *)env), sn_i64(1), sn_i64(0)));
}

static sn_scalar rank_of(void *env, sn_scalar x)
{
    return sn_sfold(sn_closure(count_below, &x), sn_i64(0), *(sn_acc *)env);
}

static sn_acc rank_by_sfold(sn_acc x)
{
    return sn_map(sn_closure(rank_of, &x), x);
}

static sn_acc rank_by_fold(sn_acc x)
{
    sn_acc here = sn_replicate(x, SN_ALL, sn_size(x)), other = sn_replicate(x, sn_size(x), SN_ALL);
    return sn_count(sn_zip_with(sn_lt, other, here));
}

static sn_scalar negated(sn_scalar x)
{
    return sn_neg(x);
}

static sn_acc dot_by_three(sn_acc x, sn_acc y)
{
    return sn_sum(sn_map(negated, sn_zip_with(sn_mul, sn_map(sn_abs, x), y)));
}

static sn_scalar all_at_once(sn_scalar x, sn_scalar y)
{
    return sn_neg(sn_mul(sn_abs(x), y));
}

static sn_acc dot_by_one(sn_acc x, sn_acc y)
{
    return sn_sum(sn_zip_with(all_at_once, x, y));
}

#define NB_GROUP equal
#define NB_TABLE "equal.def"
#include "../table.h"
