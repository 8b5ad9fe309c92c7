/* Many small matrices, blocks and records. */
#include "../program.h"

static sn_acc batch_products(sn_acc x, sn_acc y)
{
    sn_acc rows = sn_replicate(x, SN_ALL, SN_ALL, sn_extent(y, 2), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, rows, sn_replicate(sn_transpose(y), SN_ALL, sn_extent(x, 1), SN_ALL, SN_ALL)));
}

typedef struct two {
    sn_acc x, y;
} two;

typedef struct element {
    const two *of;
    sn_scalar i, row, column;
} element;

static sn_scalar one_more(void *env, sn_scalar k, sn_scalar sum)
{
    const element *e = env;
    return sn_add(sum, sn_mul(sn_index(e->of->x, e->i, e->row, k), sn_index(e->of->y, e->i, k, e->column)));
}

static sn_scalar row_times_column(void *env, sn_scalar i, sn_scalar row, sn_scalar column)
{
    element e = {env, i, row, column};
    return sn_loop(sn_extent(e.of->x, 2), sn_closure(one_more, &e), 0.0f);
}

static sn_acc batch_products_loop(sn_acc x, sn_acc y)
{
    two of = {x, y};
    return sn_generate(sn_shape_of(x), sn_closure(row_times_column, &of));
}

static sn_scalar of_vector(sn_scalar i, sn_scalar row, sn_scalar column)
{
    (void)row;
    return sn_tuple(i, column);
}

static sn_acc batch_vectors(sn_acc a, sn_acc x)
{
    return sn_sum(sn_zip_with(sn_mul, a, sn_backpermute(sn_shape_of(a), of_vector, x)));
}

static sn_acc batch_points(sn_acc points, sn_acc m)
{
    sn_acc each = sn_replicate(points, SN_ALL, sn_extent(m, 0), SN_ALL);
    return sn_sum(sn_zip_with(sn_mul, each, sn_replicate(m, sn_extent(points, 0), SN_ALL, SN_ALL)));
}

static sn_acc with_all(sn_acc x, sn_fn f)
{
    const sn_scalar k = sn_extent(x, 1);
    return sn_zip_with(f, sn_replicate(x, SN_ALL, SN_ALL, k), sn_replicate(x, SN_ALL, k, SN_ALL));
}

static sn_acc batch_outer(sn_acc x)
{
    return with_all(x, SN_FN(sn_mul));
}

static sn_acc batch_apart(sn_acc x)
{
    return with_all(x, SN_FN(sn_sub));
}

static sn_acc batch_turned(sn_acc x)
{
    return sn_transpose(x);
}

static sn_scalar diagonal(sn_scalar i, sn_scalar k)
{
    return sn_tuple(i, k, k);
}

static sn_acc batch_traces(sn_acc x)
{
    return sn_sum(sn_backpermute(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), diagonal, x));
}

static sn_scalar of_block(sn_scalar i, sn_scalar j, sn_scalar row, sn_scalar column)
{
    return sn_tuple(i, row, j, column);
}

static sn_acc batch_block_sums(sn_acc x)
{
    const sn_scalar n = sn_extent(x, 0), k = sn_extent(x, 1), m = sn_extent(x, 2);
    sn_acc blocks = sn_backpermute(sn_shape(n, m, k, k), of_block, x);
    return sn_sum(sn_reshape(sn_shape(n, m, sn_mul(k, k)), blocks));
}

static sn_scalar squared_distance(sn_scalar x, sn_scalar y)
{
    return sn_mul(sn_sub(x, y), sn_sub(x, y));
}

static sn_acc batch_nearest(sn_acc x, sn_acc centres)
{
    sn_acc points = sn_replicate(x, SN_ALL, sn_extent(centres, 0), SN_ALL);
    sn_acc all = sn_replicate(centres, sn_extent(x, 0), SN_ALL, SN_ALL);
    return sn_argmin(sn_sum(sn_zip_with(squared_distance, points, all)));
}

static sn_acc batch_differences(sn_acc x)
{
    return sn_zip_with(sn_sub, sn_tail(x), sn_init(x));
}

static sn_acc batch_planes(sn_acc x)
{
    return sn_transpose(x);
}

static sn_acc batch_median(sn_acc x)
{
    return sn_slice(sn_sort(x), SN_ALL, sn_div(sn_extent(x, 1), 2));
}

#define NB_GROUP batches
#define NB_TABLE "batches.def"
#include "../table.h"
