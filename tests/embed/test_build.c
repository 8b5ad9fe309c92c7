/* Every operation of the embedding builds the terms it should: programs against their text. Places are left out of the
 * texts ("@3", site lines); test_errors.c looks at them. */
#include "embed_test.h"
#include <stdlib.h>

/* --- scalar functions --- */

static sn_scalar twice(sn_scalar x)
{
    return sn_mul(x, 2);
}
static sn_scalar swapped(sn_scalar i, sn_scalar j)
{
    return sn_tuple(j, i);
}
static sn_scalar distance(sn_scalar i, sn_scalar j)
{
    return sn_to_f32(sn_sub(i, j));
}
static sn_scalar three(sn_scalar x, sn_scalar y, sn_scalar z)
{
    return sn_fma(x, y, z);
}
static sn_scalar at_index(sn_scalar i, sn_scalar x)
{
    return sn_tuple(x, i);
}
static sn_scalar at_index_2(sn_scalar i, sn_scalar j, sn_scalar x)
{
    return sn_add(x, sn_to_f32(sn_add(i, j)));
}
static sn_scalar first_of_index(sn_scalar index)
{
    return sn_fst(index);
}
static sn_scalar sum_of_pairs(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_mul(sn_snd(a), sn_snd(b)));
}
static sn_scalar cross(sn_scalar s)
{
    return sn_add(sn_at(s, -1, 0), sn_at(s, 0, 1));
}
static sn_scalar blend(sn_scalar s, sn_scalar t)
{
    return sn_add(sn_at(s, 1), sn_at(t, 0));
}
static sn_scalar far_away(sn_scalar i, sn_scalar j)
{
    return sn_to_f32(sn_max(i, j));
}
static sn_scalar small(sn_scalar x)
{
    return sn_lt(x, 100);
}
static sn_scalar step(sn_scalar i, sn_scalar x)
{
    return sn_add(x, sn_to_f32(i));
}
typedef struct captured {
    sn_acc a;
    sn_scalar x;
} captured;
static sn_scalar plus_captured(void *env, sn_scalar x)
{
    const captured *c = env;
    return sn_add(x, sn_mul(c->x, sn_the(c->a)));
}
static sn_scalar row_sum(void *env, sn_scalar i)
{
    const captured *c = env;
    return sn_sfold(sn_add, 0, c->a, i);
}
static sn_scalar read_two(void *env, int n, const sn_scalar *x)
{
    const captured *c = env;
    return n == 1 ? sn_add(sn_index(c->a, x[0], 1), sn_linear_index(c->a, x[0])) : x[0];
}
static sn_scalar iterated(sn_scalar x)
{
    return sn_iterate(5, twice, sn_loop(3, step, sn_while(small, twice, x)));
}
static sn_scalar guarded(sn_scalar x, sn_scalar y)
{
    return sn_if(sn_and(sn_ne(y, 0), sn_or(sn_gt(x, 3), sn_lt(x, -3))), sn_div(x, y), 0);
}
static sn_scalar bits(sn_scalar x)
{
    return sn_bitcast(SN_F32, sn_shl(sn_bit_and(x, 255), 23));
}

/* --- programs --- */

static sn_acc build_map(sn_acc a)
{
    return sn_map(twice, a);
}

static sn_acc build_map_pairs(sn_acc a)
{
    return sn_map(sn_sub, a);
}

static sn_acc build_imap1(sn_acc a)
{
    return sn_imap(at_index, a);
}

static sn_acc build_imap2(sn_acc a)
{
    return sn_imap(at_index_2, a);
}

static sn_acc build_zip_with2(sn_acc a, sn_acc b)
{
    return sn_zip_with(sn_pow, a, b);
}

static sn_acc build_zip_with3(sn_acc a, sn_acc b)
{
    return sn_zip_with(three, a, b, a);
}

static sn_acc build_zip2(sn_acc a, sn_acc b)
{
    return sn_zip(a, b);
}

static sn_acc build_parts(sn_acc a)
{
    return sn_results(sn_fst(a), sn_snd(a), sn_get(sn_snd(a), 1));
}

static sn_acc build_unzip(sn_acc a)
{
    sn_acc part[2];
    sn_unzip(a, 2, part);
    return sn_results(part[1], part[0]);
}
static sn_acc build_generate2(sn_acc a)
{
    return sn_generate(sn_shape(sn_extent(a, 0), 4), distance);
}

static sn_acc build_generate_tuple(sn_acc a)
{
    return sn_generate(sn_shape_of(a), first_of_index);
}

static sn_acc build_makers(void)
{
    return sn_results(sn_fill(sn_shape(2, 3), 1.5f), sn_iota(10), sn_unit(sn_u8(7)), sn_generate(5, twice));
}
static sn_acc build_backpermute(sn_acc a)
{
    return sn_backpermute(sn_shape(sn_extent(a, 1), sn_extent(a, 0)), swapped, a);
}

static sn_acc build_gather1(sn_acc a, sn_acc b)
{
    return sn_gather(b, a);
}

static sn_acc build_gather2(sn_acc a, sn_acc b)
{
    return sn_gather(b, a);
}

static sn_acc build_replicate(sn_acc a)
{
    return sn_replicate(a, 3, SN_ALL, sn_i32(2));
}

static sn_acc build_slice(sn_acc a)
{
    return sn_slice(a, 1, SN_ALL);
}

static sn_acc build_slice_safe(sn_acc a)
{
    return sn_slice(a, SN_ALL, 1);
}

static sn_acc build_reshapes(sn_acc a)
{
    return sn_results(sn_reshape(sn_shape(sn_extent(a, 1), sn_extent(a, 0)), a), sn_flatten(a),
                      sn_flatten(sn_flatten(a)));
}

static sn_acc build_turns(sn_acc a)
{
    return sn_results(sn_transpose(a), sn_reverse(a));
}

static sn_acc build_folds(sn_acc a)
{
    return sn_results(sn_fold(sn_add, 0, a), sn_fold1(sn_max, a), sn_fold_all(sn_sub, 1, a),
                      sn_fold1_all(sn_commutative(sn_sub), a));
}

static sn_acc build_fold_pairs(sn_acc a)
{
    return sn_fold(sum_of_pairs, sn_tuple(0, 1), a);
}

static sn_acc build_sums(sn_acc a)
{
    return sn_results(sn_sum(a), sn_product(a), sn_minimum(a), sn_maximum(a));
}

static sn_acc build_bools(sn_acc a)
{
    return sn_results(sn_all(a), sn_any(a), sn_count(a), sn_sum(a));
}

static sn_acc build_args(sn_acc a)
{
    return sn_results(sn_argmax(a), sn_argmin(a));
}

static sn_acc build_stencil(sn_acc a)
{
    return sn_stencil(cross, sn_pattern(3, 3), sn_clamp, a);
}

static sn_acc build_stencil_constant(sn_acc a)
{
    return sn_stencil(cross, sn_pattern(3, 3), sn_constant(-1), a);
}

static sn_acc build_stencil_outside(sn_acc a)
{
    return sn_stencil(cross, sn_pattern(3, 3), sn_outside(far_away), a);
}

static sn_acc build_stencil2(sn_acc a, sn_acc b)
{
    return sn_stencil2(blend, sn_pattern(3), sn_wrap, a, sn_pattern(1), sn_mirror, b);
}

static sn_acc build_fuse(sn_acc a)
{
    return sn_fuse(sn_map(twice, a));
}

static sn_acc build_force(sn_acc a)
{
    return sn_map(twice, sn_force(sn_map(twice, a)));
}

static sn_acc build_shared(sn_acc a)
{
    return sn_zip_with(sn_add, a, a);
}

static sn_acc build_closures(sn_acc a, sn_acc b)
{
    captured c = {b, sn_size(b)};
    c.x = sn_to_f32(c.x);
    return sn_map(sn_closure(plus_captured, &c), a);
}
static sn_acc build_rows(sn_acc a)
{
    captured c = {.a = a};
    return sn_generate(sn_extent(a, 0), sn_closure(row_sum, &c));
}
static sn_acc build_reads(sn_acc a)
{
    captured c = {.a = a};
    return sn_generate(sn_extent(a, 0), sn_closure(read_two, &c));
}
static sn_acc build_loops(sn_acc a)
{
    return sn_map(iterated, a);
}

static sn_acc build_conditions(sn_acc a, sn_acc b)
{
    return sn_zip_with(guarded, a, b);
}

static sn_acc build_bitcasts(sn_acc a)
{
    return sn_map(bits, a);
}

/* --- texts --- */

/* The text without places. */
static char *without_places(arena *a, const char *from)
{
    text t;
    text_init(&t, a);
    while (*from) {
        size_t n = strcspn(from, "\n") + 1;
        for (size_t i = 0; strncmp(from, "site ", 5) != 0 && i < n; i++) {
            if (from[i] == '@')
                i += 1 + strspn(from + i + 1, "0123456789");
            text_add_n(&t, from + i, 1);
        }
        from += n;
    }
    while (t.n && t.at[0] == '\n') { /* an empty line behind the sites */
        t.at++;
        t.n--;
    }
    return t.at;
}

typedef struct expectation {
    const char *name, *signature;
    sn_body body;
    const char *text;
} expectation;

static void builds(void **state)
{
    const expectation *e = *state;
    built *b = build_at(SN_HERE, e->signature, e->body);
    if (b->messages[0])
        fail_msg("%s", b->messages);
    assert_string_equal(without_places(&b->arena, b->text), e->text);
    built_free(b);
}

int main(void)
{
    const expectation cases[] = {
        {"map", "[n]f32 -> [n]f32", SN_BODY(build_map),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = map a1 {x1: f32 -> x1 * 2.0f32}\n"
         "output a2\n"},
        {"map_pairs", "[n](f32, f32) -> [n]f32", SN_BODY(build_map_pairs),
         "extents n\n"
         "a1 = input [n](f32, f32)\n"
         "a2 = map a1 {x1: f32, x2: f32 -> x1 - x2}\n"
         "output a2\n"},
        {"imap1", "[n]f32 -> [n](f32, i64)", SN_BODY(build_imap1),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = imap: map indexed a1 {x1: i64, x2: f32 -> x2, x1}\n"
         "output a2\n"},
        {"imap2", "[n,m]f32 -> [n,m]f32", SN_BODY(build_imap2),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = imap: map indexed a1 {x1: i64, x2: i64, x3: f32 -> x3 + f32(x1 + x2)}\n"
         "output a2\n"},
        {"zip_with2", "[n]f32, [n]f32 -> [n]f32", SN_BODY(build_zip_with2),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = input [n]f32\n"
         "a3 = zip_with: map a1, a2 {x1: f32, x2: f32 -> pow(x1, x2)}\n"
         "output a3\n"},
        {"zip_with3", "[n]f32, [n]f32 -> [n]f32", SN_BODY(build_zip_with3),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = input [n]f32\n"
         "a3 = zip_with: map a1, a2, a1 {x1: f32, x2: f32, x3: f32 -> fma(x1, x2, x3)}\n"
         "output a3\n"},
        {"zip2", "[n]f32, [n](i32, u8) -> [n](f32, (i32, u8))", SN_BODY(build_zip2),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = input [n](i32, u8)\n"
         "a3 = zip: map a1, a2 {x1: f32, x2: i32, x3: u8 -> x1, x2, x3}\n"
         "output a3\n"},
        {"parts", "[n](f32, (i32, u8)) -> [n]f32, [n](i32,u8), [n]u8", SN_BODY(build_parts),
         "extents n\n"
         "a1 = input [n](f32, i32, u8)\n"
         "a2 = get: map a1 {x1: f32, x2: i32, x3: u8 -> x1}\n"
         "a3 = get: map a1 {x1: f32, x2: i32, x3: u8 -> x2, x3}\n"
         "a4 = get: map a1 {x1: f32, x2: i32, x3: u8 -> x2, x3}\n"
         "a5 = get: map a4 {x1: i32, x2: u8 -> x2}\n"
         "output a2, a3, a5\n"},
        {"unzip", "[n](f32, (i32, u8)) -> [n](i32,u8), [n]f32", SN_BODY(build_unzip),
         "extents n\n"
         "a1 = input [n](f32, i32, u8)\n"
         "a2 = unzip: map a1 {x1: f32, x2: i32, x3: u8 -> x1}\n"
         "a3 = unzip: map a1 {x1: f32, x2: i32, x3: u8 -> x2, x3}\n"
         "output a3, a2\n"},
        {"generate2", "[n]f32 -> [n,4]f32", SN_BODY(build_generate2),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = generate [n, 4] {x1: i64, x2: i64 -> f32(x1 - x2)}\n"
         "output a2\n"},
        {"generate_tuple", "[n,m]f32 -> [n,m]i64", SN_BODY(build_generate_tuple),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = generate [n, m] {x1: i64, x2: i64 -> x1}\n"
         "output a2\n"},
        {"makers", "-> [2,3]f32, [10]i64, u8, [5]i64", SN_BODY(build_makers),
         "a1 = fill: generate [2, 3] {x1: i64, x2: i64 -> 1.5f32}\n"
         "a2 = iota: generate [10] {x1: i64 -> x1}\n"
         "a3 = unit: generate [] {-> 7u8}\n"
         "a4 = generate [5] {x1: i64 -> x1 * 2}\n"
         "output a1, a2, a3, a4\n"},
        {"backpermute", "[n,m]f32 -> [m,n]f32", SN_BODY(build_backpermute),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = backpermute [m, n] a1 {x1: i64, x2: i64 -> x2, x1}\n"
         "output a2\n"},
        {"gather1", "[n]f32, [k]i32 -> [k]f32", SN_BODY(build_gather1),
         "extents n, k\n"
         "a1 = input [n]f32\n"
         "a2 = input [k]i32\n"
         "a3 = gather: map a2 {x1: i32 -> a1[i64(x1)]}\n"
         "output a3\n"},
        {"gather2", "[n,m]f32, [k](i64, u16) -> [k]f32", SN_BODY(build_gather2),
         "extents n, m, k\n"
         "a1 = input [n, m]f32\n"
         "a2 = input [k](i64, u16)\n"
         "a3 = gather: map a2 {x1: i64, x2: u16 -> a1[x1, i64(x2)]}\n"
         "output a3\n"},
        {"replicate", "[n]f32 -> [3,n,2]f32", SN_BODY(build_replicate),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = replicate: backpermute safe [3, n, 2] a1 {x1: i64, x2: i64, x3: i64 -> x2}\n"
         "output a2\n"},
        {"slice", "[n,m]f32 -> [m]f32", SN_BODY(build_slice),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = slice: backpermute [m] a1 {x1: i64 -> 1, x1}\n"
         "output a2\n"},
        {"slice_safe", "[n,2]f32 -> [n]f32", SN_BODY(build_slice_safe),
         "extents n\n"
         "a1 = input [n, 2]f32\n"
         "a2 = slice: backpermute safe [n] a1 {x1: i64 -> x1, 1}\n"
         "output a2\n"},
        {"reshapes", "[n,m]f32 -> [m,n]f32, [k]f32, [k]f32", SN_BODY(build_reshapes),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = reshape [m, n] a1\n"
         "a3 = flatten: reshape [n * m] a1\n"
         "a4 = flatten: reshape [n * m] a1\n"
         "output a2, a3, a4\n"},
        {"turns", "[n,m]f32 -> [m,n]f32, [n,m]f32", SN_BODY(build_turns),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = transpose: backpermute safe [m, n] a1 {x1: i64, x2: i64 -> x2, x1}\n"
         "a3 = reverse: backpermute safe [n, m] a1 {x1: i64, x2: i64 -> x1, m + -1 - x2}\n"
         "output a2, a3\n"},
        {"folds", "[n,m]f32 -> [n]f32, [n]f32, f32, f32", SN_BODY(build_folds),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = fold commutes a1 seed 0.0f32 {x1: f32, x2: f32 -> x1 + x2}\n"
         "a3 = fold1: fold commutes a1 {x1: f32, x2: f32 -> max(x1, x2)}\n"
         "a4 = fold_all: reshape step [n * m] a1\n"
         "a5 = fold_all: fold a4 seed 1.0f32 {x1: f32, x2: f32 -> x1 - x2}\n"
         "a6 = fold1_all: reshape step [n * m] a1\n"
         "a7 = fold1_all: fold commutes a6 {x1: f32, x2: f32 -> x1 - x2}\n"
         "output a2, a3, a5, a7\n"},
        {"fold_pairs", "[n](f32, i64) -> (f32, i64)", SN_BODY(build_fold_pairs),
         "extents n\n"
         "a1 = input [n](f32, i64)\n"
         "a2 = fold commutes a1 seed 0.0f32, 1 {x1: f32, x2: i64, x3: f32, x4: i64 -> x1 + x3, x2 * x4}\n"
         "output a2\n"},
        {"sums", "[n]u8 -> u32, u32, u8, u8", SN_BODY(build_sums),
         "extents n\n"
         "a1 = input [n]u8\n"
         "a2 = sum: map step a1 {x1: u8 -> u32(x1)}\n"
         "a3 = sum: fold commutes a2 seed 0u32 {x1: u32, x2: u32 -> x1 + x2}\n"
         "a4 = product: map step a1 {x1: u8 -> u32(x1)}\n"
         "a5 = product: fold commutes a4 seed 1u32 {x1: u32, x2: u32 -> x1 * x2}\n"
         "a6 = minimum: fold commutes a1 {x1: u8, x2: u8 -> min(x1, x2)}\n"
         "a7 = maximum: fold commutes a1 {x1: u8, x2: u8 -> max(x1, x2)}\n"
         "output a3, a5, a6, a7\n"},
        {"bools", "[n]bool -> bool, bool, i64, i64", SN_BODY(build_bools),
         "extents n\n"
         "a1 = input [n]bool\n"
         "a2 = all: fold commutes a1 seed true {x1: bool, x2: bool -> x1 && x2}\n"
         "a3 = any: fold commutes a1 seed false {x1: bool, x2: bool -> x1 || x2}\n"
         "a4 = count: map step a1 {x1: bool -> i64(x1)}\n"
         "a5 = count: fold commutes a4 seed 0 {x1: i64, x2: i64 -> x1 + x2}\n"
         "a6 = sum: map step a1 {x1: bool -> i64(x1)}\n"
         "a7 = sum: fold commutes a6 seed 0 {x1: i64, x2: i64 -> x1 + x2}\n"
         "output a2, a3, a5, a7\n"},
        {"args", "[n,m]f64 -> [n]i64, [n]i64", SN_BODY(build_args),
         "extents n, m\n"
         "a1 = input [n, m]f64\n"
         "a2 = argmax: map indexed step a1 {x1: i64, x2: i64, x3: f64 -> x3, x2}\n"
         "a3 = argmax: fold step a2 {x1: f64, x2: i64, x3: f64, x4: i64\n"
         "    t1 = x3 == x3 && !(x1 >= x3)\n"
         "    -> if t1 then x3 else x1, if t1 then x4 else x2}\n"
         "a4 = argmax: map a3 {x1: f64, x2: i64 -> x2}\n"
         "a5 = argmin: map indexed step a1 {x1: i64, x2: i64, x3: f64 -> x3, x2}\n"
         "a6 = argmin: fold step a5 {x1: f64, x2: i64, x3: f64, x4: i64\n"
         "    t1 = x3 == x3 && !(x1 <= x3)\n"
         "    -> if t1 then x3 else x1, if t1 then x4 else x2}\n"
         "a7 = argmin: map a6 {x1: f64, x2: i64 -> x2}\n"
         "output a4, a7\n"},
        {"stencil", "[n,m]f32 -> [n,m]f32", SN_BODY(build_stencil),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = stencil a1 pattern 3 x 3 clamp {x1: f32, x2: f32, x3: f32, x4: f32, x5: f32, x6: f32, x7: f32, x8: f32, "
         "x9: f32 -> x2 + x6}\n"
         "output a2\n"},
        {"stencil_constant", "[n,m]f32 -> [n,m]f32", SN_BODY(build_stencil_constant),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = stencil a1 pattern 3 x 3 constant (-1.0f32) {x1: f32, x2: f32, x3: f32, x4: f32, x5: f32, x6: f32, x7: "
         "f32, x8: f32, x9: f32 -> x2 + x6}\n"
         "output a2\n"},
        {"stencil_outside", "[n,m]f32 -> [n,m]f32", SN_BODY(build_stencil_outside),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = stencil a1 pattern 3 x 3 function {x1: i64, x2: i64 -> f32(max(x1, x2))} {x3: f32, x4: f32, x5: f32, "
         "x6: f32, x7: f32, x8: f32, x9: f32, x10: f32, x11: f32 -> x4 + x8}\n"
         "output a2\n"},
        {"stencil2", "[n]f32, [n]f32 -> [n]f32", SN_BODY(build_stencil2),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = input [n]f32\n"
         "a3 = stencil2: stencil a1 pattern 3 wrap, a2 pattern 1 mirror {x1: f32, x2: f32, x3: f32, x4: f32 -> x3 + "
         "x4}\n"
         "output a3\n"},
        {"force", "[n]f32 -> [n]f32", SN_BODY(build_force),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = map a1 {x1: f32 -> x1 * 2.0f32}\n"
         "a3 = force a2\n"
         "a4 = map a3 {x1: f32 -> x1 * 2.0f32}\n"
         "output a4\n"},
        {"fuse", "[n]f32 -> [n]f32", SN_BODY(build_fuse),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = map fused a1 {x1: f32 -> x1 * 2.0f32}\n"
         "output a2\n"},
        {"shared", "[n]f32 -> [n]f32", SN_BODY(build_shared),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = zip_with: map a1, a1 {x1: f32, x2: f32 -> x1 + x2}\n"
         "output a2\n"},
        {"closures", "[n]f32, f32 -> [n]f32", SN_BODY(build_closures),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = input []f32\n"
         "a3 = map a1 {x1: f32 -> x1 + a2[safe]}\n"
         "output a3\n"},
        {"rows", "[n,m]f32 -> [n]f32", SN_BODY(build_rows),
         "extents n, m\n"
         "a1 = input [n, m]f32\n"
         "a2 = generate [n] {x1: i64\n"
         "    l1 = for (x2 < m; x3 = 0.0f32) {\n"
         "        next x3 + a1[x1, x2]\n"
         "    }\n"
         "    -> l1.0}\n"
         "output a2\n"},
        {"reads", "[n,2]f32 -> [n]f32", SN_BODY(build_reads),
         "extents n\n"
         "a1 = input [n, 2]f32\n"
         "a2 = generate [n] {x1: i64 -> a1[x1, 1] + a1[linear x1]}\n"
         "output a2\n"},
        {"loops", "[n]f32 -> [n]f32", SN_BODY(build_loops),
         "extents n\n"
         "a1 = input [n]f32\n"
         "a2 = map a1 {x1: f32\n"
         "    l1 = while (x2 = x1) {\n"
         "        test x2 < 1e+02f32\n"
         "        next x2 * 2.0f32\n"
         "    }\n"
         "    l2 = for (x3 < 3; x4 = l1.0) {\n"
         "        next x4 + f32(x3)\n"
         "    }\n"
         "    l3 = for (x5 < 5; x6 = l2.0) {\n"
         "        next x6 * 2.0f32\n"
         "    }\n"
         "    -> l3.0}\n"
         "output a2\n"},
        {"conditions", "[n]i32, [n]i32 -> [n]i32", SN_BODY(build_conditions),
         "extents n\n"
         "a1 = input [n]i32\n"
         "a2 = input [n]i32\n"
         "a3 = zip_with: map a1, a2 {x1: i32, x2: i32 -> if if x2 != 0i32 then if x1 > 3i32 then true else x1 < -3i32 "
         "else false then x1 / x2 else 0i32}\n"
         "output a3\n"},
        {"bitcasts", "[n]u32 -> [n]f32", SN_BODY(build_bitcasts),
         "extents n\n"
         "a1 = input [n]u32\n"
         "a2 = map a1 {x1: u32 -> bitcast_f32(shl(bit_and(x1, 255u32), 23u32))}\n"
         "output a2\n"},
    };
    struct CMUnitTest tests[ARRAY_LENGTH(cases)];
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        expectation *e = malloc(sizeof *e);
        assert_non_null(e);
        *e = cases[i];
        tests[i] = (struct CMUnitTest){e->name, builds, NULL, NULL, e};
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        free(tests[i].initial_state);
    return failed;
}
