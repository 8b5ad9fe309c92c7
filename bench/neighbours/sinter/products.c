/* Contractions. */
#include "../program.h"

void nb_make_sparse(const struct nb_call *call);

/* Rows of x against columns of y: [n, m, k] of which the last goes. */
static sn_acc row_of_each(sn_acc x, sn_acc y)
{
    return sn_replicate(x, SN_ALL, sn_extent(y, 1), SN_ALL);
}

static sn_acc column_of_each(sn_acc x, sn_acc y)
{
    return sn_replicate(sn_transpose(y), sn_extent(x, 0), SN_ALL, SN_ALL);
}

static sn_acc same_type(sn_acc x)
{
    return x;
}

static sn_acc in_i32(sn_acc x)
{
    return sn_map(sn_to_i32, x);
}

struct place {
    sn_acc x, y;
    sn_scalar i, j;
};

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

#define MATRICES(T, in)                                                                                                \
    static sn_acc matrices_##T(sn_acc x, sn_acc y)                                                                     \
    {                                                                                                                  \
        x = in(x);                                                                                                     \
        y = in(y);                                                                                                     \
        return sn_fold(sn_add, 0, sn_zip_with(sn_mul, row_of_each(x, y), column_of_each(x, y)));                       \
    }                                                                                                                  \
    static sn_acc matrices_loop_##T(sn_acc x, sn_acc y)                                                                \
    {                                                                                                                  \
        struct place p = {.x = in(x), .y = in(y)};                                                                     \
        return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(y, 1)), sn_closure(element_of_product, &p));            \
    }
MATRICES(f32, same_type)
MATRICES(f64, same_type)
MATRICES(i32, in_i32)
#undef MATRICES

static sn_acc times_transpose(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_extent(y, 0), SN_ALL);
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, rows, sn_replicate(y, sn_extent(x, 0), SN_ALL, SN_ALL)));
}

static sn_acc gram(sn_acc x)
{
    sn_acc t = sn_transpose(x);
    return times_transpose(t, t);
}

static sn_acc max_plus(sn_acc x, sn_acc y)
{
    return sn_maximum(sn_zip_with(sn_add, row_of_each(x, y), column_of_each(x, y)));
}

static sn_acc any_and(sn_acc x, sn_acc y)
{
    return sn_any(sn_zip_with(sn_land, row_of_each(x, y), column_of_each(x, y)));
}

static sn_scalar product_of_three(sn_scalar x, sn_scalar a, sn_scalar y)
{
    return sn_mul(sn_mul(x, a), y);
}

static sn_acc bilinear(sn_acc x, sn_acc a, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_size(y)), columns = sn_replicate(y, sn_size(x), SN_ALL);
    return sn_fold_all(sn_add, 0, sn_zip_with(product_of_three, rows, a, columns));
}

static sn_acc contract_inner(sn_acc x, sn_acc v)
{
    return sn_sum(sn_zip_with(sn_mul, x, sn_replicate(v, sn_extent(x, 0), sn_extent(x, 1), SN_ALL)));
}

static sn_scalar middle_last(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(i, k, j);
}

static sn_scalar outer_last(sn_scalar i, sn_scalar j, sn_scalar k)
{
    return sn_tuple(k, i, j);
}

static sn_acc contract_middle(sn_acc x, sn_acc v)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), k = sn_extent(x, 2);
    sn_acc turned = sn_backpermute(sn_shape(n, k, m), middle_last, x);
    return sn_sum(sn_zip_with(sn_mul, turned, sn_replicate(v, n, k, SN_ALL)));
}

static sn_acc contract_outer(sn_acc x, sn_acc v)
{
    sn_scalar n = sn_extent(x, 0), m = sn_extent(x, 1), k = sn_extent(x, 2);
    sn_acc turned = sn_backpermute(sn_shape(m, k, n), outer_last, x);
    return sn_sum(sn_zip_with(sn_mul, turned, sn_replicate(v, m, k, SN_ALL)));
}

static sn_acc batched(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, SN_ALL, sn_extent(y, 2), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, sn_replicate(sn_transpose(y), SN_ALL, sn_extent(x, 1), SN_ALL, SN_ALL)));
}

static sn_acc points_rows(sn_acc points, sn_acc m)
{
    sn_acc each = sn_replicate(points, SN_ALL, sn_extent(m, 0), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, each, sn_replicate(m, sn_extent(points, 0), SN_ALL, SN_ALL)));
}

static sn_scalar times_matrix(void *env, sn_scalar p)
{
    sn_acc m = *(sn_acc *)env;
    sn_scalar r[3];
    for (int i = 0; i < 3; i++) {
        sn_scalar sum = sn_mul(sn_index(m, i, 0), sn_get(p, 0));
        for (int k = 1; k < 3; k++)
            sum = sn_add(sum, sn_mul(sn_index(m, i, k), sn_get(p, k)));
        r[i] = sum;
    }
    return sn_tuple(r[0], r[1], r[2]);
}

static sn_acc points_tuples(sn_acc points, sn_acc m)
{
    return sn_map(sn_closure(times_matrix, &m), points);
}

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc norms(sn_acc x)
{
    return sn_map(sn_sqrt, sn_sum(sn_map(square, x)));
}

static sn_scalar squared_difference(sn_scalar x, sn_scalar y)
{
    return square(sn_sub(x, y));
}

static sn_acc distances(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, sn_extent(y, 0), SN_ALL);
    return sn_sum(sn_zip_with(squared_difference, rows, sn_replicate(y, sn_extent(x, 0), SN_ALL, SN_ALL)));
}

static sn_scalar distance(sn_scalar a, sn_scalar b)
{
    return sn_add(squared_difference(sn_fst(a), sn_fst(b)), squared_difference(sn_snd(a), sn_snd(b)));
}

static sn_acc all_distances(sn_acc x, sn_acc y)
{
    return sn_zip_with(distance, sn_replicate(x, SN_ALL, sn_size(y)), sn_replicate(y, sn_size(x), SN_ALL));
}

static sn_acc nearest(sn_acc x, sn_acc y)
{
    return sn_argmin(all_distances(x, y));
}

static sn_acc smallest_distance(sn_acc x, sn_acc y)
{
    return sn_minimum(all_distances(x, y));
}

#define NB_GROUP products
#define NB_TABLE "products.def"
#include "../table.h"
