/* What only the public functions can show of the language: data that belong to a program, arrays recomputed on request,
 * on the CPU and by the interpreter. */
#include "both.h"

/* --- use --- */

static const float table[4] = {0.5f, -2, 8, 1e30f};
static const int32_t weights[2][3] = {{1, 2, 3}, {4, 5, 6}};

static sn_acc looked_up(sn_acc index)
{
    return sn_gather(index, sn_use(table, 4));
}

static sn_acc weighted(sn_acc m)
{
    return sn_fold(sn_add, 0, sn_zip_with(sn_mul, m, sn_use(&weights[0][0], 2, 3)));
}

static sn_acc only_data(void)
{
    const double one = 7;
    sn_acc none = sn_use(table, 0), value = sn_use_at(SN_HERE, sn_value(&one));
    return sn_results(sn_use(table, 4), sn_sum(none), value);
}

static void data_of_the_program(void **state)
{
    (void)state;
    both("[n]T -> [n]f32", looked_up, "i8 i64 u32", INDICES, 1, 3, 4);
    both("[2,3]i32 -> [2]i32", weighted, NULL, MIXED, 0);
    both("-> [k]f32, f32, f64", only_data, NULL, SMALL, 0);
    if (!both_cpu())
        skip();
    /* an index outside the data is found, and data of another size are not */
    sn_program *p = sn_compile(both_cpu(), "[n]i32 -> [n]f32", looked_up);
    assert_non_null(p);
    int32_t good[] = {3, 0, 2}, bad[] = {0, 4};
    float out[3];
    assert_int_equal(sn_call(p, sn_in(good, 3), sn_into(out, 3)), SN_OK);
    assert_true(out[0] == 1e30f && out[1] == 0.5f && out[2] == 8);
    assert_int_equal(sn_call(p, sn_in(bad, 2), sn_into(out, 2)), SN_OUT_OF_RANGE);
    assert_int_equal(sn_call(p, sn_in(good, 3)), SN_BAD_ARGUMENT); /* the data are no argument */
    sn_drop(p);
    p = sn_compile(both_cpu(), "[n,m]i32 -> [n]i32", weighted);
    assert_non_null(p);
    int32_t m[9] = {0}, sums[3];
    assert_int_equal(sn_call(p, sn_in(m, 2, 3), sn_into(sums, 2)), SN_OK);
    assert_int_equal(sn_call(p, sn_in(m, 3, 3), sn_into(sums, 3)), SN_SHAPE_MISMATCH);
    sn_drop(p);
}

typedef struct data {
    float at[3];
    bool twice;
} data;

static sn_acc times_data(void *env, int count, const sn_acc *in)
{
    const data *d = env;
    (void)count;
    sn_acc a = sn_use(d->at, 3);
    return sn_zip_with(sn_add, sn_zip_with(sn_mul, in[0], a), d->twice ? sn_use(d->at, 3) : a);
}

/* The data are copied when the program is built; other data need no other kernel; the same data are one input. */
static void data_are_copied_and_not_compiled_in(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    data d = {{1, 2, 3}, true};
    const float x[] = {10, 20, 30};
    float out[3];
    sn_program *p = sn_compile_env(both_cpu(), "[3]f32 -> [3]f32", times_data, &d);
    assert_non_null(p);
    assert_int_equal(p->ports.constant.n, 1);
    d.at[1] = 100;
    assert_int_equal(sn_call(p, sn_in(x, 3), sn_into(out, 3)), SN_OK);
    assert_true(out[0] == 11 && out[1] == 42 && out[2] == 93);
    sn_program *q = sn_compile_env(both_cpu(), "[3]f32 -> [3]f32", times_data, &d);
    assert_non_null(q);
    assert_int_equal(sn_call(q, sn_in(x, 3), sn_into(out, 3)), SN_OK);
    assert_true(out[0] == 11 && out[1] == 2100 && out[2] == 93);
    assert_string_equal(sn_explain(p, "kernels"), sn_explain(q, "kernels"));
    sn_drop(p);
    sn_drop(q);
}

/* On a device with memory of its own they go there once, and stay. */
static void data_on_another_device(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "opencl"};
    sn_context *cx = sn_open(&o);
    if (!cx)
        skip();
    data d = {{1, 2, 3}, true};
    const float x[] = {10, 20, 30};
    float out[3];
    sn_program *p = sn_compile_env(cx, "[3]f32 -> [3]f32", times_data, &d);
    assert_non_null(p);
    assert_non_null(p->constant);
    assert_null(p->constant[0]->block);
    const void *block = NULL;
    for (int i = 0; i < 3; i++) {
        memset(out, 0, sizeof(out));
        assert_int_equal(sn_call(p, sn_in(x, 3), sn_into(out, 3)), SN_OK);
        assert_true(out[0] == 11 && out[1] == 42 && out[2] == 93);
        assert_true(i == 0 || block == p->constant[0]->block);
        block = p->constant[0]->block;
        assert_non_null(block);
    }
    sn_drop(p);
    sn_close(cx);
}

/* --- fuse --- */

static sn_scalar dear(sn_scalar x)
{
    return sn_add(sn_mul(sn_sqrt(sn_abs(x)), x), sn_div(x, sn_add(sn_mul(x, x), 1)));
}

static sn_scalar difference(sn_scalar s)
{
    return sn_sub(sn_at(s, 1), sn_at(s, -1));
}

typedef struct reading {
    sn_acc from;
} reading;

static sn_scalar read_back(void *env, sn_scalar i)
{
    const reading *r = env;
    return sn_index(r->from, sn_sub(sn_sub(sn_size(r->from), 1), i));
}

/* Used elementwise, at another index, by a stencil and by a fold. */
static sn_acc several_uses(sn_acc a)
{
    reading r = {a};
    sn_acc back = sn_generate(sn_shape_of(a), sn_closure(read_back, &r));
    return sn_results(sn_zip_with(sn_mul, a, back), sn_stencil(difference, sn_pattern(3), sn_clamp, a), sn_maximum(a));
}

static sn_acc computed_once(sn_acc xs)
{
    return several_uses(sn_map(dear, xs));
}

static sn_acc recomputed(sn_acc xs)
{
    return several_uses(sn_fuse(sn_map(dear, xs)));
}

static sn_acc stencil_at_each_use(sn_acc xs)
{
    return several_uses(sn_fuse(sn_stencil(difference, sn_pattern(3), sn_clamp, sn_fuse(sn_map(dear, xs)))));
}

static uint32_t temporaries(const sn_program *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->plan->buffer.n; i++)
        n += p->plan->buffer.at[i].place == PLAN_TEMPORARY;
    return n;
}

static void recomputing_at_each_use(void **state)
{
    (void)state;
    both("[n]T -> [n]T, [n]T, T", recomputed, FLOATS, MIXED, 1, 2, 3, 31, 32, 33, 100, 1000, 4099);
    both("[n]T -> [n]T, [n]T, T", stencil_at_each_use, FLOATS, MIXED, 1, 2, 3, 31, 32, 33, 100, 1000, 4099);
    if (!both_cpu())
        skip();
    sn_program *once = sn_compile(both_cpu(), "[n]f32 -> [n]f32, [n]f32, f32", computed_once);
    sn_program *anew = sn_compile(both_cpu(), "[n]f32 -> [n]f32, [n]f32, f32", recomputed);
    assert_non_null(once);
    assert_non_null(anew);
    assert_int_equal(temporaries(once), 1);
    assert_int_equal(temporaries(anew), 0);
    sn_drop(once);
    sn_drop(anew);
}

/* --- nested tuples and structs through every operation that takes functions --- */

static sn_scalar nest(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_tuple(x, sn_ne(x, y)), y, sn_record("least most", sn_min(x, y), sn_max(x, y)));
}

static sn_scalar turn(sn_scalar n)
{
    sn_scalar range = sn_get(n, 2);
    return sn_tuple(sn_tuple(sn_get(n, 1), sn_not(sn_snd(sn_fst(n)))), sn_fst(sn_fst(n)),
                    sn_with(range, most, sn_field(range, least)));
}

/* Associative, and does not commute. */
static sn_scalar join(sn_scalar a, sn_scalar b)
{
    sn_scalar r = sn_get(a, 2), s = sn_get(b, 2);
    return sn_tuple(sn_tuple(sn_fst(sn_fst(a)), sn_or(sn_snd(sn_fst(a)), sn_snd(sn_fst(b)))), sn_get(b, 1),
                    sn_record("least most", sn_min(sn_field(r, least), sn_field(s, least)),
                              sn_max(sn_field(r, most), sn_field(s, most))));
}

static sn_scalar before(sn_scalar s)
{
    return sn_if(sn_snd(sn_fst(sn_at(s, -1))), sn_at(s, 0), sn_at(s, -1));
}

static sn_scalar folded_row(void *env, sn_scalar i)
{
    sn_acc m = *(const sn_acc *)env;
    return sn_sfold(join, sn_index(m, i, 0), m, i);
}

static sn_scalar has_time(sn_scalar i, sn_scalar n)
{
    (void)n;
    return sn_lt(i, 3);
}

static sn_scalar next_turn(sn_scalar i, sn_scalar n)
{
    return sn_tuple(sn_add(i, 1), turn(n));
}

static sn_scalar turned_thrice(sn_scalar n)
{
    return sn_snd(sn_while(has_time, next_turn, sn_tuple(0, n)));
}

static sn_acc nested(sn_acc xs, sn_acc ys)
{
    sn_acc n = sn_map(turn, sn_zip_with(nest, xs, ys)), row = sn_slice(n, 0, SN_ALL);
    sn_acc rows = sn_generate(sn_extent(n, 0), sn_closure(folded_row, &n));
    sn_acc stencil = sn_stencil(before, sn_pattern(3), sn_clamp, row);
    return sn_results(sn_results(sn_fold1(join, n), sn_get(sn_get(rows, 2), 1)),
                      sn_results(sn_map(turned_thrice, sn_transpose(n)), sn_field(sn_get(stencil, 2), most)));
}

static void nested_tuples(void **state)
{
    (void)state;
    both("[a,b]T, [a,b]T -> [a]((T, bool), T, {least: T, most: T}), [a]T, [b,a]((T, bool), T, (T, T)), [b]T", nested,
         "i32 f32 u8 f64 char", MIXED, 1, 1, 3, 17, 17, 3, 5, 300);
}

/* --- eight dimensions --- */

static sn_scalar digits(void *env, int n, const sn_scalar *index)
{
    const reading *r = env;
    sn_scalar sum = sn_i64(0), back[8];
    (void)n;
    for (int d = 0; d < 8; d++) {
        sum = sn_add(sn_mul(sum, 10), sn_get(index[0], d));
        back[d] = sn_sub(sn_sub(sn_extent(r->from, d), 1), sn_get(index[0], d));
    }
    return sn_add(sum, sn_to_i64(sn_index_at(SN_HERE, r->from, 8, back)));
}

static sn_acc eight_dimensions(sn_acc a)
{
    reading r = {a};
    sn_acc made = sn_generate(sn_shape_of(a), sn_closure(digits, &r));
    sn_acc wide = sn_replicate(sn_slice(a, SN_ALL, 0, SN_ALL, SN_ALL, SN_ALL, 0, SN_ALL, SN_ALL), SN_ALL, 2, SN_ALL,
                               SN_ALL, SN_ALL, SN_ALL, SN_ALL, 1);
    return sn_results(made, sn_fold(sn_max, 0, sn_transpose(sn_rotate(1, a))), sn_reshape(sn_size(a), sn_reverse(a)),
                      wide);
}

static void ranks_up_to_8(void **state)
{
    (void)state;
    both("[a,b,c,d,e,f,g,h]T -> [a,b,c,d,e,f,g,h]i64, [a,b,c,d,e,f,h]T, [k]T, [a,l,c,d,e,g,h,m]T", eight_dimensions,
         "i32 f32 u8", SMALL, 1, 1, 1, 1, 1, 1, 1, 1, 3, 1, 2, 3, 1, 2, 5, 7, 2, 3, 1, 2, 2, 1, 3, 40, 2, 1, 2, 1, 2, 1,
         0, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_on_another_device),
        cmocka_unit_test(data_of_the_program),
        cmocka_unit_test(data_are_copied_and_not_compiled_in),
        cmocka_unit_test(recomputing_at_each_use),
        cmocka_unit_test(nested_tuples),
        cmocka_unit_test(ranks_up_to_8),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
