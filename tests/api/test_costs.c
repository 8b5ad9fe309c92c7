/* What is kept and what is computed again: by size, by bytes; and how far loops of stencils go. */
#include "counts.h"

#include <stdlib.h>

static sn_scalar heated(sn_scalar s)
{
    sn_scalar around = sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
    return sn_add(sn_at(s, 0, 0), sn_mul(sn_sub(around, sn_mul(sn_at(s, 0, 0), 4)), 0.125f));
}

enum { HEAT_STEPS = 10 * L_MOST_STAGES };

static sn_acc heat(sn_acc a)
{
    for (int i = 0; i < HEAT_STEPS; i++)
        a = sn_stencil(heated, sn_pattern(3, 3), sn_clamp, a);
    return a;
}

/* Iterated stencils are loops of a few steps each, as many as fit the caches, and all of them run one kernel. */
static void iterated_stencils_share_a_kernel(void **state)
{
    (void)state;
    enum { H = 70, W = 90 };
    float *x = malloc(H * W * sizeof(float)), *y = malloc(H * W * sizeof(float)), *z = malloc(H * W * sizeof(float));
    assert_true(x && y && z);
    for (int i = 0; i < H * W; i++)
        x[i] = (float)(i % 11) - 5;
    sn_program *p = compiled_in(both_cpu(), "[n,m]f32 -> [n,m]f32", SN_BODY(heat));
    uint64_t before = sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded;
    assert_int_equal(sn_call(p, sn_in(x, H, W), sn_into(y, H, W)), SN_OK);
    expect_counts(p, .clusters = 10, .buffers = 9, .kernels = 10, .launches = 10);
    assert_int_equal(sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded - before, 1);
    says(p, "edges", "the kernel would be too large");
    for (int i = 0; i < HEAT_STEPS; i++) { /* the same, plainly */
        for (int r = 0; r < H; r++)
            for (int c = 0; c < W; c++) {
                int up = r ? r - 1 : 0, down = r < H - 1 ? r + 1 : r, left = c ? c - 1 : 0,
                    right = c < W - 1 ? c + 1 : c;
                float around = (x[up * W + c] + x[down * W + c]) + (x[r * W + left] + x[r * W + right]);
                z[r * W + c] = x[r * W + c] + (around - x[r * W + c] * 4) * 0.125f;
            }
        float *t = x;
        x = z, z = t;
    }
    assert_memory_equal(x, y, H * W * sizeof(float));
    free(x), free(y), free(z);
    sn_drop(p);
}

/* Twelve operations: dearer than memory in the caches, cheaper beyond. */
static sn_scalar twelve(sn_scalar x)
{
    sn_scalar r = x;
    for (int i = 0; i < 6; i++)
        r = sn_add(sn_mul(r, r), x);
    return r;
}

static sn_acc with_its_reverse(sn_acc x)
{
    sn_acc y = sn_map(twelve, x);
    return sn_zip_with(sn_sub, y, sn_reverse(y));
}

/* An array used twice is kept where it fits the caches, and computed twice where it does not. */
static void what_is_kept_depends_on_the_caches(void **state)
{
    (void)state;
    enum { SMALL_N = 1000 };
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(with_its_reverse));
    if (!p->large) /* a device with memory of its own */
        skip();
    int64_t n = (int64_t)(api_large(p) / sizeof(float)) + 1;
    float *x = malloc((size_t)n * sizeof(float)), *y = malloc((size_t)n * sizeof(float));
    assert_true(x && y);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i % 1000) / 1024 - 0.5f;
    assert_int_equal(sn_call(p, sn_in(x, SMALL_N), sn_into(y, SMALL_N)), SN_OK);
    expect_counts(p, .clusters = 2, .buffers = 1, .kernels = 2, .launches = 2);
    assert_int_equal(p->large->clusters->cluster.n, 1);
    assert_int_equal(run_launches(p->large->run), 0);
    says(p, "edges", "not fused: read at computed indices, and too costly to recompute there");
    says(p, "plan", "where the parameters have more than");
    assert_int_equal(sn_call(p, sn_in(x, n - 1), sn_into(y, n - 1)), SN_OK); /* the largest that count as small */
    assert_int_equal(run_launches(p->large->run), 0);
    float *z = malloc((size_t)n * sizeof(float));
    assert_non_null(z);
    assert_int_equal(sn_call(p, sn_in(x, n), sn_into(z, n)), SN_OK);
    assert_int_equal(run_launches(p->large->run), 1);
    assert_int_equal(run_launches(p->run), 4);
    for (int64_t i = 0; i < n; i++) { /* both have the bits of the formula; nothing is contracted */
        float a = x[i], b = x[n - 1 - i];
        for (int k = 0; k < 6; k++) {
            volatile float aa = a * a, bb = b * b;
            a = aa + x[i];
            b = bb + x[n - 1 - i];
        }
        assert_true(z[i] == a - b);
    }
    sn_pending *started = sn_start(p, sn_in(x, n), sn_into(y, n));
    assert_int_equal(sn_wait(started), SN_OK);
    assert_memory_equal(y, z, (size_t)n * sizeof(float));
    assert_int_equal(run_launches(p->large->run), 2);
    free(x), free(y), free(z);
    sn_drop(p);
}

static sn_scalar clears(sn_scalar a, sn_scalar b)
{
    return sn_gt(sn_add(a, b), 0);
}

/* One byte is kept that would take two floats to compute again. */
static sn_acc narrow(sn_acc a, sn_acc b)
{
    sn_acc flags = sn_zip_with(clears, a, b);
    return sn_zip_with(sn_land, flags, sn_reverse(flags));
}

static sn_acc mirrored(sn_acc a, sn_acc b)
{
    sn_acc sum = sn_zip_with(sn_add, a, b);
    return sn_zip_with(sn_mul, sum, sn_reverse(sum));
}

static void what_is_kept_depends_on_its_bytes(void **state)
{
    (void)state;
    sn_program *p = compiled_in(both_cpu(), "[n]f32, [n]f32 -> [n]bool", SN_BODY(narrow));
    assert_int_equal(p->plan->cluster.n, 2);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32, [n]f32 -> [n]f32", SN_BODY(mirrored));
    assert_int_equal(p->plan->cluster.n, 1);
    assert_null(p->large);
    sn_drop(p);
}

/* --- literals --- */

typedef struct through {
    sn_acc distances;
    int64_t k;
} through;

static sn_scalar shorter(void *env, sn_scalar i, sn_scalar j)
{
    const through *t = env;
    sn_scalar detour = sn_add(sn_index(t->distances, i, t->k), sn_index(t->distances, t->k, j));
    return sn_min(sn_index(t->distances, i, j), detour);
}

enum { PLACES = 20 };

/* Floyd and Warshall's shortest paths: each step has another number in it. */
static sn_acc shortest(sn_acc d)
{
    for (int64_t k = 0; k < PLACES; k++) {
        through t = {d, k};
        d = sn_generate(sn_shape_of(d), sn_closure(shorter, &t));
    }
    return d;
}

static void iterated_operations_share_a_kernel(void **state)
{
    (void)state;
    int32_t d[PLACES * PLACES], right[PLACES * PLACES], got[PLACES * PLACES];
    for (int i = 0; i < PLACES * PLACES; i++)
        right[i] = d[i] = i * 7919 % 1009;
    for (int k = 0; k < PLACES; k++)
        for (int i = 0; i < PLACES; i++)
            for (int j = 0; j < PLACES; j++) {
                int32_t detour = right[i * PLACES + k] + right[k * PLACES + j];
                right[i * PLACES + j] = detour < right[i * PLACES + j] ? detour : right[i * PLACES + j];
            }
    sn_program *p = compiled_in(both_cpu(), "[n,n]i32 -> [n,n]i32", SN_BODY(shortest));
    uint64_t before = sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded;
    assert_int_equal(sn_call(p, sn_in(d, PLACES, PLACES), sn_into(got, PLACES, PLACES)), SN_OK);
    assert_memory_equal(got, right, sizeof(got));
    expect_counts(p, .clusters = PLACES, .buffers = PLACES - 1, .kernels = PLACES, .launches = PLACES);
    /* the first step's, whose number is known to be no less than 0, and that of all others */
    assert_in_range(sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded - before, 1, 2);
    assert_int_equal(p->ir->number.n, PLACES);
    sn_drop(p);
    both("[n,n]i32 -> [n,n]i32", shortest, NULL, SMALL, PLACES, PLACES + 13, PLACES - 1, 0); /* and what fails */
}

/* Programs of n steps have the terms, edges and steps of n steps, whatever is shared between these. */
static sn_acc many_steps(sn_acc d)
{
    for (int64_t k = 0; k < 32 * PLACES; k++) {
        through t = {d, k};
        d = sn_generate(sn_shape_of(d), sn_closure(shorter, &t));
    }
    return d;
}

static void long_programs_stay_linear(void **state)
{
    (void)state;
    sn_program *few = compiled_in(both_cpu(), "[n,n]i32 -> [n,n]i32", SN_BODY(shortest));
    sn_program *many = compiled_in(both_cpu(), "[n,n]i32 -> [n,n]i32", SN_BODY(many_steps));
    assert_true(many->ir->node.n <= 32 * few->ir->node.n);
    assert_true(many->clusters->edge.n <= 33 * few->clusters->edge.n);
    assert_true(many->plan->step.n <= 33 * few->plan->step.n);
    sn_drop(few);
    sn_drop(many);
}

/* --- shapes --- */

static sn_acc scaled_by_its_size(sn_acc x)
{
    sn_acc y = sn_map(twelve, x);
    return sn_map(twelve, sn_zip_with(sn_div, y, sn_replicate(sn_unit(sn_to_f32(sn_size(y))), sn_size(y))));
}

static sn_acc only_its_shape(sn_acc x)
{
    return sn_fill(sn_shape_of(sn_map(twelve, sn_map(twelve, x))), sn_f32(2));
}

/* An array that is used for its extents only is not computed for that. */
static void uses_of_a_shape_are_no_uses(void **state)
{
    (void)state;
    float x[50], y[50];
    for (int i = 0; i < 50; i++)
        x[i] = (float)i / 64;
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(scaled_by_its_size));
    assert_int_equal(sn_call(p, sn_in(x, 50), sn_into(y, 50)), SN_OK);
    expect_counts(p, .clusters = 1, .buffers = 0, .kernels = 1, .launches = 1);
    sn_drop(p);
    p = compiled_in(both_cpu(), "[n]f32 -> [n]f32", SN_BODY(only_its_shape));
    assert_int_equal(sn_call(p, sn_in(x, 50), sn_into(y, 50)), SN_OK);
    expect_counts(p, .clusters = 1, .buffers = 0, .kernels = 1, .launches = 1);
    assert_int_equal(p->clusters->cluster.at[0].reads.n, 0);
    assert_true(y[0] == 2 && y[49] == 2);
    sn_drop(p);
}

static sn_scalar blended(void *env, sn_scalar x)
{
    const double *weight = env;
    sn_scalar w = sn_f64(*weight);
    return sn_add(sn_mul(x, w), sn_mul(sn_sub(1, w), sn_mul(x, sn_add(w, 3))));
}

static sn_acc blends(sn_acc x)
{
    for (int i = 0; i < 6; i++) {
        double weight = 0.125 * i + 0.0625;
        x = sn_force(sn_map(sn_closure(blended, &weight), x));
    }
    return x;
}

static void numbers_of_any_type_are_shared(void **state)
{
    (void)state;
    sn_program *p = compiled_in(both_cpu(), "[n]f64 -> [n]f64", SN_BODY(blends));
    double x[40], y[40];
    for (int i = 0; i < 40; i++)
        x[i] = i;
    uint64_t before = sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded;
    assert_int_equal(sn_call(p, sn_in(x, 40), sn_into(y, 40)), SN_OK);
    assert_int_equal(sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded - before, 1);
    assert_int_equal(p->ir->number.n, 3 * 6); /* the weight, and what was computed from it while building */
    sn_drop(p);
    both("[n]f64 -> [n]f64", blends, NULL, MIXED, 0, 1, 33, 1000);
}

/* Literals stay what they are within a loop, and where there are few of them. */
static sn_scalar shifted(void *env, sn_scalar i)
{
    return sn_add(i, *(const int64_t *)env);
}

static sn_acc shifts(sn_acc x)
{
    sn_acc sum = x;
    for (int64_t k = 1; k < 7; k++)
        sum = sn_zip_min_with(sn_add, sum, sn_backpermute(sn_sub(sn_extent(x, 0), k), sn_closure(shifted, &k), x));
    return sum;
}

static void other_literals_stay(void **state)
{
    (void)state;
    sn_program *p = compiled_in(both_cpu(), "[n]f32 -> [m]f32", SN_BODY(shifts));
    assert_int_equal(p->ir->number.n, 0);
    sn_drop(p);
}

/* --- counters of C loops --- */

enum { TURNS = 12, ROOM = 40 };

typedef sn_acc turn(sn_acc x, int64_t k);

static sn_scalar scaled_by(void *env, sn_scalar x)
{
    return sn_add(sn_mul(x, 3), *(const sn_scalar *)env);
}

static sn_acc plus(sn_acc x, sn_scalar k)
{
    return sn_force(sn_map(sn_closure(scaled_by, &k), x));
}

static sn_acc in_scalar_code(sn_acc x, int64_t k)
{
    return plus(x, sn_i64(k));
}

static sn_acc in_a_unit(sn_acc x, int64_t k)
{
    return plus(x, sn_the(sn_unit(sn_i64(k))));
}

static sn_acc in_an_index_of_fill(sn_acc x, int64_t k)
{
    return plus(x, sn_index(sn_fill(sn_shape(4), sn_i64(k)), 2));
}

static sn_acc in_a_unit_replicated(sn_acc x, int64_t k)
{
    return sn_force(sn_zip_with(sn_sub, sn_replicate(sn_unit(sn_i64(k)), sn_extent(x, 0)), x));
}

static sn_acc in_a_conversion(sn_acc x, int64_t k)
{
    return plus(x, sn_to_i64(sn_u8((uint8_t)k)));
}

static sn_scalar one_of(void *env, sn_scalar x)
{
    return sn_if(sn_gt(x, 100), *(const sn_scalar *)env, x);
}

static sn_acc in_a_condition(sn_acc x, int64_t k)
{
    sn_scalar number = sn_i64(k);
    return sn_force(sn_map(sn_closure(one_of, &number), x));
}

static sn_scalar doubled_plus(sn_scalar x)
{
    return sn_add(sn_mul(x, 2), 1);
}

static sn_scalar often(void *env, sn_scalar x)
{
    return sn_iterate(*(const sn_scalar *)env, doubled_plus, x);
}

static sn_acc in_a_count(sn_acc x, int64_t k)
{
    sn_scalar number = sn_i64(k);
    return sn_force(sn_map(sn_closure(often, &number), x));
}

static sn_scalar from_here(void *env, sn_scalar x)
{
    return sn_add(x, sn_iterate(3, doubled_plus, *(const sn_scalar *)env));
}

static sn_acc in_a_first_state(sn_acc x, int64_t k)
{
    sn_scalar number = sn_i64(k);
    return sn_force(sn_map(sn_closure(from_here, &number), x));
}

static sn_scalar divided(void *env, sn_scalar x)
{
    return sn_add(sn_div(sn_mul(x, 100), *(const sn_scalar *)env), x);
}

static sn_acc in_a_divisor(sn_acc x, int64_t k)
{
    sn_scalar number = sn_i64(k + 2);
    return sn_force(sn_map(sn_closure(divided, &number), x));
}

static sn_acc in_a_slice(sn_acc x, int64_t k)
{
    sn_acc one = sn_slice(x, k);
    return sn_force(sn_zip_with(sn_add, x, sn_replicate(one, sn_extent(x, 0))));
}

static sn_acc in_an_index(sn_acc x, int64_t k)
{
    return plus(x, sn_index(x, k));
}

static sn_acc in_a_linear_index(sn_acc x, int64_t k)
{
    return plus(x, sn_linear_index(x, k));
}

static sn_acc in_a_rotation(sn_acc x, int64_t k)
{
    return sn_force(sn_zip_with(sn_sub, x, sn_rotate(k, x)));
}

static sn_acc in_take(sn_acc x, int64_t k)
{
    return plus(x, sn_the(sn_sum(sn_take(k + 1, x))));
}

static sn_acc in_skip(sn_acc x, int64_t k)
{
    return plus(x, sn_the(sn_sum(sn_skip(k + 1, x))));
}

static sn_acc in_a_seed(sn_acc x, int64_t k)
{
    return plus(x, sn_the(sn_fold(sn_add, k, x)));
}

static sn_acc in_a_shape(sn_acc x, int64_t k)
{
    sn_acc square = sn_force(sn_replicate(sn_take(k + 3, x), sn_i64(k + 2), SN_ALL));
    return plus(x, sn_the(sn_sum(sn_flatten(sn_transpose(square)))));
}

static sn_scalar left_and_right(sn_scalar s)
{
    return sn_sub(sn_at(s, 1), sn_at(s, -1));
}

static sn_acc in_a_boundary(sn_acc x, int64_t k)
{
    return sn_force(sn_stencil(left_and_right, sn_pattern(3), sn_constant(k), x));
}

static sn_acc taking_turns(void *env, int count, const sn_acc *in)
{
    sn_acc x = in[0];
    (void)count;
    for (int64_t k = 0; k < TURNS; k++)
        x = (*(turn *const *)env)(x, k);
    return x;
}

/* Wherever a C loop puts its counter, its turns share kernels: as many as a turn of its own has, and one more where
 * the first turns are simpler. */
static void counters_are_shared(void **state)
{
    static const struct {
        const char *what;
        turn *one;
        unsigned kernels;
    } ways[] = {
        {"scalar code", in_scalar_code, 2},
        {"a unit", in_a_unit, 1},
        {"an index of fill", in_an_index_of_fill, 1},
        {"a unit, replicated", in_a_unit_replicated, 1},
        {"a conversion", in_a_conversion, 1},
        {"a condition", in_a_condition, 1},
        {"a count", in_a_count, 2},
        {"a first state", in_a_first_state, 1},
        {"a divisor", in_a_divisor, 1},
        {"a slice", in_a_slice, 1},
        {"an index", in_an_index, 1},
        {"a linear index", in_a_linear_index, 1},
        {"a rotation", in_a_rotation, 2},
        {"take", in_take, 2},
        {"skip", in_skip, 2},
        {"a seed", in_a_seed, 2},
        {"a shape", in_a_shape, 4},
        {"a boundary", in_a_boundary, 1},
    };
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        int64_t x[ROOM], got[ROOM], wanted[ROOM];
        for (int64_t k = 0; k < ROOM; k++)
            x[k] = k * 37 % 11;
        turn *one = ways[i].one;
        sn_program *p = compiled_in(both_cpu(), "[n]i64 -> [n]i64", sn_body_env(taking_turns, &one));
        sn_context *slow = sn_open(&(sn_options){.size = sizeof(sn_options), .device = "interpreter"});
        sn_program *q = compiled_in(slow, "[n]i64 -> [n]i64", sn_body_env(taking_turns, &one));
        uint64_t before = sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded;
        assert_int_equal(sn_call(p, sn_in(x, ROOM), sn_into(got, ROOM)), SN_OK);
        uint64_t kernels = sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded - before;
        assert_int_equal(sn_call(q, sn_in(x, ROOM), sn_into(wanted, ROOM)), SN_OK);
        assert_memory_equal(got, wanted, sizeof(got));
        if (kernels > ways[i].kernels) {
            print_error("the counter in %s: %d kernels instead of %u\n", ways[i].what, (int)kernels, ways[i].kernels);
            failed = true;
        }
        sn_drop(p);
        sn_drop(q);
        sn_close(slow);
    }
    assert_false(failed);
}

/* --- Floyd and Warshall by whole rows and columns, as one would write it --- */

enum { TOWNS = 60 };

static sn_acc past(sn_acc d, sn_acc to, sn_acc from)
{
    sn_scalar n = sn_extent(d, 0);
    sn_acc detour = sn_zip_with(sn_add, sn_replicate(to, SN_ALL, n), sn_replicate(from, n, SN_ALL));
    return sn_zip_with(sn_min, d, detour);
}

static sn_acc through_c_int(sn_acc d)
{
    for (int k = 0; k < TOWNS; k++)
        d = past(d, sn_slice(d, SN_ALL, k), sn_slice(d, k, SN_ALL));
    return d;
}

static sn_acc through_i64(sn_acc d)
{
    for (int k = 0; k < TOWNS; k++)
        d = past(d, sn_slice(d, SN_ALL, sn_i64(k)), sn_slice(d, sn_i64(k), SN_ALL));
    return d;
}

static sn_acc through_unit(sn_acc d)
{
    for (int k = 0; k < TOWNS; k++) {
        sn_scalar number = sn_the(sn_unit(k));
        d = past(d, sn_slice(d, SN_ALL, number), sn_slice(d, number, SN_ALL));
    }
    return d;
}

static sn_acc through_variable_of_index(sn_acc d)
{
    for (int64_t k = 0; k < TOWNS; k++) {
        through t = {d, k};
        d = sn_generate(sn_shape_of(d), sn_closure(shorter, &t));
    }
    return d;
}

static void floyd_and_warshall_compile_one_kernel(void **state)
{
    sn_acc (*const ways[])(sn_acc) = {through_c_int, through_i64, through_unit, through_variable_of_index};
    static float d[TOWNS * TOWNS], right[TOWNS * TOWNS], got[TOWNS * TOWNS];
    (void)state;
    for (int i = 0; i < TOWNS * TOWNS; i++)
        right[i] = d[i] = (float)(i * 7919 % 1009);
    for (int k = 0; k < TOWNS; k++)
        for (int i = 0; i < TOWNS; i++)
            for (int j = 0; j < TOWNS; j++) {
                float detour = right[i * TOWNS + k] + right[k * TOWNS + j];
                right[i * TOWNS + j] = detour < right[i * TOWNS + j] ? detour : right[i * TOWNS + j];
            }
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
        sn_program *p = compiled_in(both_cpu(), "[n,n]f32 -> [n,n]f32", SN_BODY(ways[w]));
        uint64_t before = sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded;
        assert_int_equal(sn_call(p, sn_in(d, TOWNS, TOWNS), sn_into(got, TOWNS, TOWNS)), SN_OK);
        assert_memory_equal(got, right, sizeof(got));
        assert_in_range(sn_counts(both_cpu()).compiled + sn_counts(both_cpu()).loaded - before, 0,
                        ways[w] == through_variable_of_index ? 2 : 1);
        sn_drop(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterated_stencils_share_a_kernel),
        cmocka_unit_test(what_is_kept_depends_on_the_caches),
        cmocka_unit_test(what_is_kept_depends_on_its_bytes),
        cmocka_unit_test(iterated_operations_share_a_kernel),
        cmocka_unit_test(long_programs_stay_linear),
        cmocka_unit_test(uses_of_a_shape_are_no_uses),
        cmocka_unit_test(numbers_of_any_type_are_shared),
        cmocka_unit_test(other_literals_stay),
        cmocka_unit_test(counters_are_shared),
        cmocka_unit_test(floyd_and_warshall_compile_one_kernel),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
