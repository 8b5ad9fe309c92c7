/* The table of array operations, and the programs made of them. */
#include "support/array_ops.h"

#include <stdio.h>

#define BIT(t) (1u << (t))
#define INT                                                                                                            \
    (BIT(SN_I8) | BIT(SN_I16) | BIT(SN_I32) | BIT(SN_I64) | BIT(SN_U8) | BIT(SN_U16) | BIT(SN_U32) | BIT(SN_U64))
#define FLOAT (BIT(SN_F32) | BIT(SN_F64))
#define NUM (INT | FLOAT)
#define BOOL BIT(SN_BOOL)
#define ANY (NUM | BOOL | BIT(SN_CHAR))

static sn_scalar literal(sn_type t, int v)
{
    switch (t) {
    case SN_BOOL:
        return sn_bool(v != 0);
    case SN_F32:
        return sn_f32((float)v);
    case SN_F64:
        return sn_f64(v);
    case SN_CHAR:
        return sn_char((uint32_t)('k' + v));
    default:
        return sn_to(t, sn_i64(v));
    }
}

/* A function of one element, changing it, that is exact. */
static sn_scalar change(void *env, sn_scalar x)
{
    const op_case *c = env;
    if (c->type == SN_BOOL)
        return sn_not(x);
    return c->type == SN_CHAR ? sn_max(x, literal(SN_CHAR, 2)) : sn_neg(x);
}

static sn_acc changed(const op_case *c, sn_acc a)
{
    return sn_map(sn_closure(change, (void *)(uintptr_t)c), a);
}

#define CLOSED(f) sn_closure(f, (void *)(uintptr_t)c)

/* --- bring in --- */

/* The components of an index, which comes as one tuple. */
static void unpack(int rank, const sn_scalar *index, sn_scalar *i)
{
    for (int d = 0; d < rank; d++)
        i[d] = rank == 1 ? index[0] : sn_get(index[0], d);
}

static sn_scalar of_index(void *env, int n, const sn_scalar *index)
{
    const op_case *c = env;
    sn_scalar sum = sn_i64(3), i[4];
    unpack(n ? c->rank : 0, index, i);
    for (int d = 0; d < c->rank && n; d++)
        sum = sn_add(sn_mul(sum, 7), i[d]);
    return c->type == SN_CHAR ? sn_to_char(sn_bit_and(sn_to_u32(sum), 0xffff)) : sn_to(c->type, sum);
}

static sn_acc generate(const op_case *c, const sn_acc *a)
{
    return c->rank ? sn_generate(sn_shape_of(a[0]), CLOSED(of_index)) : sn_unit(literal(c->type, 3));
}

static sn_acc fill(const op_case *c, const sn_acc *a)
{
    return c->rank ? sn_fill(sn_shape_of(a[0]), literal(c->type, 5)) : sn_unit(literal(c->type, 5));
}

static sn_acc iota(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_iota(sn_size(a[0]));
}

/* Of 8 bits they wrap. */
static sn_acc enumerated(const op_case *c, const sn_acc *a)
{
    return sn_enum_from_n(sn_shape_of(a[0]), literal(c->type, 3));
}

static sn_acc enumerated_by_steps(const op_case *c, const sn_acc *a)
{
    return sn_enum_from_step_n(sn_shape_of(a[0]), literal(c->type, 3), literal(c->type, 5));
}

static sn_acc nothing(const op_case *c, const sn_acc *a)
{
    (void)a;
    return sn_empty(c->type);
}

static sn_acc unit_of_the(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_unit(sn_the(a[0]));
}

/* --- elementwise --- */

static sn_acc map(const op_case *c, const sn_acc *a)
{
    return changed(c, a[0]);
}

static sn_scalar with_index(void *env, int n, const sn_scalar *x)
{
    return sn_min(of_index(env, n - 1, x), x[n - 1]);
}

static sn_acc imap(const op_case *c, const sn_acc *a)
{
    return sn_imap(CLOSED(with_index), a[0]);
}

static sn_acc zip_with_2(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_zip_with(sn_min, a[0], a[1]);
}

static sn_scalar with_index_2(void *env, int n, const sn_scalar *x)
{
    return sn_min(of_index(env, n - 2, x), sn_max(x[n - 2], x[n - 1]));
}

static sn_acc izip_with(const op_case *c, const sn_acc *a)
{
    return sn_izip_with(CLOSED(with_index_2), a[0], a[1]);
}

/* The second array lacks its last column, or has none to lack. */
static sn_acc zip_min_with(const op_case *c, const sn_acc *a)
{
    return sn_zip_min_with(sn_min, a[0], c->rank ? sn_init(a[1]) : a[1]);
}

static sn_acc zip_min(const op_case *c, const sn_acc *a)
{
    return c->rank ? sn_zip_min(sn_skip(2, a[1]), sn_take(5, a[0])) : sn_zip_min(a[0], a[1]);
}

static sn_scalar differ(sn_scalar x, sn_scalar y)
{
    return sn_ne(x, y);
}

static sn_acc zip_with_test(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_zip_with(differ, a[0], a[1]);
}

static sn_scalar middle(sn_scalar x, sn_scalar y, sn_scalar z)
{
    return sn_max(sn_min(x, y), sn_min(sn_max(x, y), z));
}

static sn_acc zip_with_3(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_zip_with(middle, a[0], a[1], a[2]);
}

static sn_scalar nine(sn_scalar a, sn_scalar b, sn_scalar c, sn_scalar d, sn_scalar e, sn_scalar f, sn_scalar g,
                      sn_scalar h, sn_scalar i)
{
    return middle(middle(a, b, c), middle(d, e, f), middle(g, h, i));
}

static sn_acc zip_with_9(const op_case *c, const sn_acc *a)
{
    sn_acc b = changed(c, a[0]);
    return sn_zip_with(nine, a[0], a[1], a[2], b, a[1], a[0], a[2], b, a[1]);
}

static sn_acc zip(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_zip(a[1], a[0]);
}

static sn_acc unzip(const op_case *c, const sn_acc *a)
{
    sn_acc part[3];
    (void)c;
    sn_unzip(sn_zip(a[0], a[1], sn_zip_with(sn_max, a[0], a[1])), 3, part);
    return sn_zip(part[2], part[0]);
}

static sn_acc component(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_get(sn_zip(a[0], sn_zip(a[1], a[0])), 1);
}

static sn_acc force(const op_case *c, const sn_acc *a)
{
    return sn_force(changed(c, a[0]));
}

/* --- index space --- */

static sn_acc reverse(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_reverse(a[0]);
}

static sn_acc take(const op_case *c, const sn_acc *a)
{
    return sn_take(sn_sub(sn_extent(a[0], c->rank - 1), 3), a[0]);
}

static sn_acc take_most(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_take(40, a[0]);
}

static sn_acc skip(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_skip(17, a[0]);
}

static sn_acc init_and_tail(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_zip_with(sn_min, sn_init(a[0]), sn_tail(a[1]));
}

static sn_acc rotate(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_rotate(7, a[0]);
}

static sn_acc rotate_back(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_rotate(-100, a[0]);
}

static sn_acc append(const op_case *c, const sn_acc *a)
{
    return sn_append(changed(c, a[0]), a[1]);
}

static sn_acc append_outermost(const op_case *c, const sn_acc *a)
{
    return sn_append_along(0, a[1], changed(c, a[0]));
}

static sn_acc concat(const op_case *c, const sn_acc *a)
{
    return sn_concat(sn_take(3, a[2]), a[0], changed(c, a[1]), sn_fill(sn_shape_of(a[0]), literal(c->type, 2)));
}

static sn_acc interleave_2(const op_case *c, const sn_acc *a)
{
    return sn_interleave(a[0], changed(c, a[1]));
}

static sn_acc interleave_3(const op_case *c, const sn_acc *a)
{
    return sn_interleave(a[2], changed(c, a[0]), a[1]);
}

static sn_acc split_and_swap(const op_case *c, const sn_acc *a)
{
    sn_acc rest, first = sn_split_along(0, 5, changed(c, a[0]), &rest);
    return sn_append_along(0, rest, first);
}

static sn_scalar small(void *env, sn_scalar x)
{
    return sn_lt(x, literal(((const op_case *)env)->type, 1));
}

/* Apart, and together again: of two arrays, each element of one of them. */
static sn_acc combine(const op_case *c, const sn_acc *a)
{
    sn_acc flags = sn_map(CLOSED(small), a[0]);
    return sn_combine(flags, sn_pack(flags, a[0]), sn_pack(sn_map(sn_not, flags), changed(c, a[1])));
}

static sn_acc transpose(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_transpose(a[0]);
}

static sn_acc flatten(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_flatten(a[0]);
}

/* The dimensions in the other order. */
static sn_scalar turned_shape(sn_acc a, int rank)
{
    sn_scalar extent[4];
    for (int d = 0; d < rank; d++)
        extent[d] = sn_extent(a, rank - 1 - d);
    return sn_shape_at(SN_HERE, rank, extent);
}

static sn_acc reshape(const op_case *c, const sn_acc *a)
{
    return sn_reshape(turned_shape(a[0], c->rank), a[0]);
}

static sn_acc reshape_thin(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_reshape(sn_shape(1, sn_size(a[0]), 1), a[0]);
}

static sn_scalar turned_index(void *env, int n, const sn_scalar *index)
{
    const op_case *c = env;
    sn_scalar at[4], i[4];
    (void)n;
    unpack(c->rank, index, i);
    for (int d = 0; d < c->rank; d++)
        at[d] = i[c->rank - 1 - d];
    return c->rank == 1 ? at[0] : sn_tuple_at(SN_HERE, c->rank, at);
}

static sn_acc backpermute(const op_case *c, const sn_acc *a)
{
    return sn_backpermute(turned_shape(a[0], c->rank), CLOSED(turned_index), a[0]);
}

typedef struct scattered {
    const op_case *c;
    sn_acc a;
} scattered;

static sn_scalar scattered_index(void *env, int n, const sn_scalar *index)
{
    const scattered *s = env;
    int rank = s->c->rank;
    sn_scalar at[4], i[4];
    (void)n;
    unpack(rank, index, i);
    for (int d = 0; d < rank; d++)
        at[d] = sn_mod(sn_mul(sn_add(i[d], 1), 7919), sn_extent(s->a, d));
    return rank == 1 ? at[0] : sn_tuple_at(SN_HERE, rank, at);
}

static sn_acc backpermute_scattered(const op_case *c, const sn_acc *a)
{
    scattered s = {c, a[0]};
    return sn_backpermute(sn_shape_of(a[0]), sn_closure(scattered_index, &s), a[0]);
}

static sn_acc gather(const op_case *c, const sn_acc *a)
{
    scattered s = {c, a[0]};
    return sn_gather(sn_generate(sn_shape_of(a[0]), sn_closure(scattered_index, &s)), a[0]);
}

static sn_scalar narrow_index(void *env, sn_scalar i)
{
    const scattered *s = env;
    return sn_to_i32(sn_sub(sn_sub(sn_size(s->a), 1), i));
}

static sn_acc gather_i32(const op_case *c, const sn_acc *a)
{
    scattered s = {c, a[0]};
    return sn_gather(sn_generate(sn_size(a[0]), sn_closure(narrow_index, &s)), sn_flatten(a[0]));
}

static sn_acc replicate_at(sn_acc a, int rank, int at)
{
    sn_scalar dimension[5];
    for (int d = 0; d <= rank; d++)
        dimension[d] = d == at ? sn_i64(3) : SN_ALL;
    return sn_replicate_at(SN_HERE, a, rank + 1, dimension);
}

static sn_acc replicate_rows(const op_case *c, const sn_acc *a)
{
    return replicate_at(a[0], c->rank, 0);
}

static sn_acc replicate_elements(const op_case *c, const sn_acc *a)
{
    return replicate_at(a[0], c->rank, c->rank);
}

static sn_acc slice_first(const op_case *c, const sn_acc *a)
{
    sn_scalar dimension[4] = {sn_i64(0), SN_ALL, SN_ALL, SN_ALL};
    return sn_slice_at(SN_HERE, a[0], c->rank, dimension);
}

static sn_acc slice_last(const op_case *c, const sn_acc *a)
{
    sn_scalar dimension[4] = {SN_ALL, SN_ALL, SN_ALL, SN_ALL};
    dimension[c->rank - 1] = sn_sub(sn_extent(a[0], c->rank - 1), 1);
    return sn_slice_at(SN_HERE, a[0], c->rank, dimension);
}

static sn_acc slice_and_replicate(const op_case *c, const sn_acc *a)
{
    sn_scalar dimension[4] = {SN_ALL, SN_ALL, SN_ALL, SN_ALL};
    dimension[c->rank - 1] = sn_extent(a[0], c->rank - 1);
    return sn_zip_with(sn_min, sn_replicate_at(SN_HERE, slice_last(c, a), c->rank, dimension), a[0]);
}

/* --- reduce --- */

static sn_scalar second(sn_scalar x, sn_scalar y)
{
    (void)x;
    return y;
}

/* x -> p x + q after x -> r x + s: associative on integers, and the order matters */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_acc fold_sum(const op_case *c, const sn_acc *a)
{
    return sn_fold(sn_add, literal(c->type, 2), a[0]);
}

static sn_acc fold_min(const op_case *c, const sn_acc *a)
{
    return sn_fold(sn_min, literal(c->type, 1), a[0]);
}

static sn_acc fold_second(const op_case *c, const sn_acc *a)
{
    return sn_fold(second, literal(c->type, 1), a[0]);
}

static sn_acc fold_pairs(const op_case *c, const sn_acc *a)
{
    return sn_fold(compose, sn_tuple(literal(c->type, 1), literal(c->type, 0)), sn_zip(a[0], a[1]));
}

static sn_acc fold_all_sum(const op_case *c, const sn_acc *a)
{
    return sn_fold_all(sn_add, literal(c->type, 2), a[0]);
}

static sn_acc fold_all_second(const op_case *c, const sn_acc *a)
{
    return sn_fold_all(second, literal(c->type, 1), a[0]);
}

static sn_acc fold1_second(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_fold1(second, a[0]);
}

static sn_acc fold1_all_max(const op_case *c, const sn_acc *a)
{
    (void)c;
    return sn_fold1_all(sn_max, a[0]);
}

#define NAMED(f)                                                                                                       \
    static sn_acc f(const op_case *c, const sn_acc *a)                                                                 \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        return sn_##f(a[0]);                                                                                           \
    }
NAMED(sum)
NAMED(product)
NAMED(minimum)
NAMED(maximum)
NAMED(argmin)
NAMED(argmax)
NAMED(all)
NAMED(any)
NAMED(count)

/* --- neighbourhood --- */

static sn_scalar neighbour(sn_scalar s, int rank, int dimension, int by)
{
    int offset[3] = {0, 0, 0};
    offset[dimension] = by;
    return sn_neighbour_at(SN_HERE, s, rank, offset);
}

static sn_scalar around(void *env, sn_scalar s)
{
    const op_case *c = env;
    sn_scalar sum = neighbour(s, c->rank, 0, 0);
    for (int d = 0; d < c->rank; d++)
        for (int by = -1; by <= 1; by += 2) {
            sn_scalar x = neighbour(s, c->rank, d, by);
            bool whole = BIT(c->type) & INT;
            sum = whole ? sn_add(sn_mul(sum, 3), x) : by < 0 ? sn_min(sum, x) : sn_max(sum, x);
        }
    return sum;
}

static sn_acc stencil(const op_case *c, sn_acc a, sn_boundary b)
{
    sn_pattern p = {c->rank, {3, 3, 3}};
    return sn_stencil(CLOSED(around), p, b, a);
}

static sn_acc stencil_clamp(const op_case *c, const sn_acc *a)
{
    return stencil(c, a[0], sn_clamp);
}

static sn_acc stencil_mirror(const op_case *c, const sn_acc *a)
{
    return stencil(c, a[0], sn_mirror);
}

static sn_acc stencil_wrap(const op_case *c, const sn_acc *a)
{
    return stencil(c, a[0], sn_wrap);
}

static sn_acc stencil_constant(const op_case *c, const sn_acc *a)
{
    return stencil(c, a[0], sn_constant(literal(c->type, 1)));
}

static sn_acc stencil_function(const op_case *c, const sn_acc *a)
{
    return stencil(c, a[0], sn_outside(CLOSED(of_index)));
}

static sn_acc stencil_twice(const op_case *c, const sn_acc *a)
{
    return stencil(c, stencil(c, a[0], sn_clamp), sn_wrap);
}

static sn_scalar far(void *env, sn_scalar s)
{
    const op_case *c = env;
    return sn_max(neighbour(s, c->rank, c->rank - 1, -4), neighbour(s, c->rank, c->rank - 1, 3));
}

static sn_acc stencil_wide(const op_case *c, const sn_acc *a)
{
    sn_pattern p = {c->rank, {1, 1, 1}};
    p.extent[c->rank - 1] = 9;
    return sn_stencil(CLOSED(far), p, sn_mirror, a[0]);
}

/* No neighbours along the last dimension. */
static sn_scalar before_last(void *env, sn_scalar s)
{
    const op_case *c = env;
    sn_scalar least = neighbour(s, c->rank, 0, 0);
    for (int d = 0; d + 1 < c->rank; d++)
        least = sn_min(least, sn_max(neighbour(s, c->rank, d, -1), neighbour(s, c->rank, d, 1)));
    return least;
}

static sn_acc stencil_before_last(const op_case *c, const sn_acc *a)
{
    sn_pattern p = {c->rank, {3, 3, 3}};
    p.extent[c->rank - 1] = 1;
    return sn_stencil(CLOSED(before_last), p, sn_wrap, a[0]);
}

static sn_scalar around_two(void *env, sn_scalar s, sn_scalar t)
{
    return sn_min(around(env, s), far(env, t));
}

static sn_acc stencil2(const op_case *c, const sn_acc *a)
{
    sn_pattern near = {c->rank, {3, 3, 3}}, wide = {c->rank, {1, 1, 1}};
    wide.extent[c->rank - 1] = 9;
    return sn_stencil2(CLOSED(around_two), near, sn_wrap, a[0], wide, sn_constant(literal(c->type, 1)), a[1]);
}

/* --- scalar code that reads arrays, and control --- */

static sn_scalar read_backwards(void *env, int n, const sn_scalar *index)
{
    const scattered *s = env;
    sn_scalar at[4], i[4];
    (void)n;
    unpack(s->c->rank, index, i);
    for (int d = 0; d < s->c->rank; d++)
        at[d] = sn_sub(sn_sub(sn_extent(s->a, d), 1), i[d]);
    return sn_index_at(SN_HERE, s->a, s->c->rank, at);
}

static sn_acc indexed(const op_case *c, const sn_acc *a)
{
    scattered s = {c, a[0]};
    return sn_generate(sn_shape_of(a[0]), sn_closure(read_backwards, &s));
}

static sn_scalar read_linear(void *env, sn_scalar i)
{
    const scattered *s = env;
    return sn_linear_index(s->a, sn_mod(sn_mul(i, 31), sn_size(s->a)));
}

static sn_acc linear_indexed(const op_case *c, const sn_acc *a)
{
    scattered s = {c, a[0]};
    return sn_generate(sn_size(a[0]), sn_closure(read_linear, &s));
}

static sn_scalar read_across(void *env, int n, const sn_scalar *index)
{
    const scattered *s = env;
    sn_scalar i[4], shape = sn_shape_of(s->a);
    (void)n;
    unpack(s->c->rank, index, i);
    sn_scalar here = s->c->rank == 1 ? i[0] : sn_tuple_at(SN_HERE, s->c->rank, i);
    sn_scalar there = sn_sub(sn_sub(sn_size(s->a), 1), sn_to_index(shape, here));
    return sn_index(s->a, sn_from_index(sn_intersect(shape, shape), there));
}

static sn_acc positions(const op_case *c, const sn_acc *a)
{
    scattered s = {c, a[0]};
    return sn_generate(sn_shape_of(a[0]), sn_closure(read_across, &s));
}

static sn_scalar read_row(void *env, int n, const sn_scalar *index)
{
    const scattered *s = env;
    sn_scalar i[4];
    (void)n;
    unpack(s->c->rank - 1, index, i);
    return sn_sfold_at(SN_HERE, SN_FN(second), literal(s->c->type, 1), s->a, s->c->rank - 1, i);
}

static sn_acc sequential_fold(const op_case *c, const sn_acc *a)
{
    scattered s = {c, a[0]};
    sn_scalar extent[4];
    if (c->rank == 1)
        return sn_unit(read_row(&s, 0, NULL));
    for (int d = 0; d + 1 < c->rank; d++)
        extent[d] = sn_extent(a[0], d);
    return sn_generate(sn_shape_at(SN_HERE, c->rank - 1, extent), sn_closure(read_row, &s));
}

static sn_scalar chosen(void *env, sn_scalar x)
{
    const op_case *c = env;
    return sn_if(sn_lt(x, literal(c->type, 1)), change(env, x), x);
}

static sn_acc conditions(const op_case *c, const sn_acc *a)
{
    return sn_map(CLOSED(chosen), a[0]);
}

static sn_scalar goes_on(sn_scalar i, sn_scalar x)
{
    (void)x;
    return sn_gt(i, 0);
}

static sn_scalar swaps(void *env, sn_scalar i, sn_scalar x)
{
    return sn_tuple(sn_sub(i, 1), change(env, x));
}

/* As many rounds as the element's bits say: lanes leave one by one. */
static sn_scalar looped(void *env, sn_scalar x)
{
    const op_case *c = env;
    sn_scalar rounds = c->type == SN_BOOL || c->type == SN_CHAR
                           ? sn_if(sn_lt(x, literal(c->type, 1)), sn_i64(2), sn_i64(3))
                           : sn_bit_and(sn_to_i64(x), 7);
    sn_fn next = sn_closure(swaps, env);
    return sn_snd(sn_while(goes_on, next, sn_tuple(rounds, x)));
}

static sn_acc loops(const op_case *c, const sn_acc *a)
{
    return sn_map(CLOSED(looped), a[0]);
}

static sn_scalar iterated(void *env, sn_scalar x)
{
    return sn_iterate(5, sn_closure(change, env), x);
}

static sn_acc iterations(const op_case *c, const sn_acc *a)
{
    return sn_map(CLOSED(iterated), a[0]);
}

/* --- the table --- */

const array_op array_ops[] = {
    {"generate", generate, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
    {"fill", fill, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
    {"iota", iota, ANY, 0, 4, 1, TO_RANK(1), OF_I64, false, false},
    {"enum_from_n", enumerated, NUM, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"enum_from_step_n", enumerated_by_steps, NUM, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"empty", nothing, ANY, 0, 1, 1, TO_RANK(1), OF_OPERANDS, false, false},
    {"unit of the", unit_of_the, ANY, 0, 0, 1, 0, OF_OPERANDS, false, false},
    {"map", map, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
    {"imap", imap, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
    {"zip_with 2", zip_with_2, ANY, 0, 4, 2, 0, OF_OPERANDS, false, false},
    {"zip_with 2 test", zip_with_test, ANY, 0, 4, 2, 0, OF_BOOL, false, false},
    {"zip_with 3", zip_with_3, ANY, 0, 4, 3, 0, OF_OPERANDS, false, false},
    {"zip_with 9", zip_with_9, ANY, 0, 4, 3, 0, OF_OPERANDS, false, false},
    {"izip_with", izip_with, ANY, 1, 4, 2, 0, OF_OPERANDS, false, false},
    {"zip_min_with", zip_min_with, ANY, 0, 4, 2, 0, OF_OPERANDS, false, false},
    {"zip_min", zip_min, ANY, 0, 4, 2, 0, OF_PAIRS, false, false},
    {"zip", zip, ANY, 0, 4, 2, 0, OF_PAIRS, false, false},
    {"unzip", unzip, ANY, 0, 4, 2, 0, OF_PAIRS, false, false},
    {"component", component, ANY, 0, 4, 2, 0, OF_PAIRS, false, false},
    {"force", force, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
    {"reverse", reverse, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"take", take, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"take most", take_most, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"skip", skip, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"init, tail", init_and_tail, ANY, 1, 4, 2, 0, OF_OPERANDS, false, false},
    {"rotate", rotate, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"rotate back", rotate_back, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"append", append, ANY, 1, 4, 2, 0, OF_OPERANDS, false, false},
    {"append outermost", append_outermost, ANY, 1, 4, 2, 0, OF_OPERANDS, false, false},
    {"concat", concat, ANY, 1, 4, 3, 0, OF_OPERANDS, false, false},
    {"interleave 2", interleave_2, ANY, 1, 4, 2, 0, OF_OPERANDS, false, false},
    {"interleave 3", interleave_3, ANY, 1, 4, 3, 0, OF_OPERANDS, false, false},
    {"split, append", split_and_swap, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"combine", combine, ANY, 0, 4, 2, 0, OF_OPERANDS, false, false},
    {"transpose", transpose, ANY, 2, 4, 1, 0, OF_OPERANDS, false, false},
    {"flatten", flatten, ANY, 0, 4, 1, TO_RANK(1), OF_OPERANDS, false, false},
    {"reshape", reshape, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"reshape thin", reshape_thin, ANY, 0, 4, 1, TO_RANK(3), OF_OPERANDS, false, false},
    {"backpermute", backpermute, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"backpermute scattered", backpermute_scattered, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"gather", gather, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"gather i32", gather_i32, ANY, 0, 4, 1, TO_RANK(1), OF_OPERANDS, false, false},
    {"replicate rows", replicate_rows, ANY, 0, 4, 1, 1, OF_OPERANDS, false, false},
    {"replicate elements", replicate_elements, ANY, 0, 4, 1, 1, OF_OPERANDS, false, false},
    {"slice first", slice_first, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"slice last", slice_last, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"slice and replicate", slice_and_replicate, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"fold sum", fold_sum, NUM, 1, 4, 1, -1, OF_OPERANDS, true, false},
    {"fold min", fold_min, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"fold second", fold_second, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"fold pairs", fold_pairs, INT, 1, 4, 2, -1, OF_PAIRS, false, false},
    {"fold_all sum", fold_all_sum, NUM, 0, 4, 1, TO_RANK(0), OF_OPERANDS, true, false},
    {"fold_all second", fold_all_second, ANY, 0, 4, 1, TO_RANK(0), OF_OPERANDS, false, false},
    {"fold1 second", fold1_second, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"fold1_all max", fold1_all_max, ANY, 0, 4, 1, TO_RANK(0), OF_OPERANDS, false, false},
    {"sum", sum, NUM | BOOL, 1, 4, 1, -1, OF_SUM, true, false},
    {"product", product, NUM, 1, 4, 1, -1, OF_SUM, false, true},
    {"minimum", minimum, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"maximum", maximum, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"argmin", argmin, ANY, 1, 4, 1, -1, OF_I64, false, false},
    {"argmax", argmax, ANY, 1, 4, 1, -1, OF_I64, false, false},
    {"all", all, BOOL, 1, 4, 1, -1, OF_BOOL, false, false},
    {"any", any, BOOL, 1, 4, 1, -1, OF_BOOL, false, false},
    {"count", count, BOOL, 1, 4, 1, -1, OF_I64, false, false},
    {"stencil clamp", stencil_clamp, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil mirror", stencil_mirror, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil wrap", stencil_wrap, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil constant", stencil_constant, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil function", stencil_function, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil of a stencil", stencil_twice, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil 9 wide", stencil_wide, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil before the last dimension", stencil_before_last, ANY, 1, 3, 1, 0, OF_OPERANDS, false, false},
    {"stencil2", stencil2, ANY, 1, 3, 2, 0, OF_OPERANDS, false, false},
    {"index", indexed, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"to_index, from_index", positions, ANY, 1, 4, 1, 0, OF_OPERANDS, false, false},
    {"linear_index", linear_indexed, ANY, 0, 4, 1, TO_RANK(1), OF_OPERANDS, false, false},
    {"sfold", sequential_fold, ANY, 1, 4, 1, -1, OF_OPERANDS, false, false},
    {"if", conditions, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
    {"while", loops, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
    {"iterate", iterations, ANY, 0, 4, 1, 0, OF_OPERANDS, false, false},
};
const int array_ops_count = sizeof(array_ops) / sizeof(array_ops[0]);

/* --- programs --- */

const char *op_type_name(sn_type type)
{
    static const char *const name[] = {"",    "bool", "i8",  "i16", "i32", "i64", "u8",
                                       "u16", "u32",  "u64", "f32", "f64", "char"};
    return name[type];
}

static sn_type result_type(const op_case *c)
{
    switch (c->op->result) {
    case OF_BOOL:
        return SN_BOOL;
    case OF_I64:
        return SN_I64;
    case OF_SUM:
        if (c->type == SN_BOOL)
            return SN_I64;
        return c->type == SN_I8 || c->type == SN_I16   ? SN_I32
               : c->type == SN_U8 || c->type == SN_U16 ? SN_U32
                                                       : c->type;
    default:
        return c->type;
    }
}

static int result_rank(const op_case *c)
{
    return c->op->rank >= TO_RANK(0) ? c->op->rank - TO_RANK(0) : c->rank + c->op->rank;
}

static void add_array(char *out, size_t room, size_t *at, const char *names, int rank, const char *type, bool pair)
{
    for (int d = 0; d < rank; d++)
        *at += (size_t)snprintf(out + *at, room - *at, "%s%c", d ? "," : "[", names[d]);
    *at += (size_t)snprintf(out + *at, room - *at, pair ? "%s(%s, %s)" : "%s%s", rank ? "]" : "", type, type);
}

void op_signature(const op_case *c, char *out, size_t room)
{
    static const char *const names[2] = {"pqrst", "vwxyz"};
    size_t at = 0;
    int results = c->use == CONSUMED ? 3 : 1;
    for (int k = 0; k < c->op->operands; k++) {
        at += (size_t)snprintf(out + at, room - at, "%s", k ? ", " : "");
        add_array(out, room, &at, "abcd", c->rank, op_type_name(c->type), false);
    }
    for (int k = 0; k < results; k++) {
        at += (size_t)snprintf(out + at, room - at, "%s", k ? ", " : " -> ");
        add_array(out, room, &at, names[k % 2], k < 2 ? result_rank(c) : 0, op_type_name(result_type(c)),
                  c->op->result == OF_PAIRS);
    }
}

static sn_scalar swap(sn_scalar pair)
{
    return sn_tuple(sn_snd(pair), sn_fst(pair));
}

static sn_scalar smaller_pair(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_min(sn_fst(x), sn_fst(y)), sn_max(sn_snd(x), sn_snd(y)));
}

static sn_acc consumer(const op_case *c, sn_acc a)
{
    op_case result = {c->op, result_type(c), 0, c->use};
    return c->op->result == OF_PAIRS ? sn_map(swap, a) : changed(&result, a);
}

static sn_acc smallest(const op_case *c, sn_acc a)
{
    sn_scalar one = literal(result_type(c), 1);
    return c->op->result == OF_PAIRS ? sn_fold_all(smaller_pair, sn_tuple(one, one), a) : sn_fold_all(sn_min, one, a);
}

sn_acc op_body(void *env, int count, const sn_acc *parameter)
{
    const op_case *c = env;
    sn_acc operand[3];
    for (int k = 0; k < count; k++)
        operand[k] = c->use == ALONE ? parameter[k] : changed(c, parameter[k]);
    sn_acc result = c->op->build(c, operand);
    if (c->use == ALONE)
        return result;
    sn_acc after = consumer(c, result);
    return c->use == BETWEEN ? after : sn_results(after, result, smallest(c, result));
}
