/* What calls cost besides the work of their kernels: launches, blocks of memory, allocations, copies, in exact numbers,
 * and nothing from the heap for a call that was made before. Whoever changes one of these numbers says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"

enum { N = 100000, H = 250, W = 400 };

static sn_context *cx;
static uint64_t from_heap; /* allocations that anything of the context has made */
static float *x, *y, *z;   /* N of each */

static void *counting_alloc(void *env, size_t bytes)
{
    (void)env;
    __atomic_fetch_add(&from_heap, 1, __ATOMIC_RELAXED);
    return malloc(bytes);
}

static void counting_release(void *env, void *block)
{
    (void)env;
    free(block);
}

static const base_heap counting_heap = {counting_alloc, counting_release, NULL};

static void be_quiet(void *env, const char *said)
{
    (void)env, (void)said;
}

static int open_all(void **state)
{
    (void)state;
    sn_options o = {.size = sizeof(o), .device = "cpu", .message = be_quiet};
    cx = api_open(&o, &counting_heap);
    x = calloc(N, sizeof(float));
    y = calloc(N, sizeof(float));
    z = calloc(N, sizeof(float));
    return x && y && z ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    sn_close(cx);
    free(x);
    free(y);
    free(z);
    return 0;
}

/* --- measuring --- */

typedef struct cost { /* of one call */
    uint64_t launches, blocks, block_bytes, copies, copied_bytes, conversions, heap;
} cost;

typedef sn_status (*caller)(sn_program *p);

static cost measure(caller call, sn_program *p, uint64_t *allocations)
{
    const sn_counters before = sn_counts(cx);
    const uint64_t heap = __atomic_load_n(&from_heap, __ATOMIC_RELAXED);
    sn_status status = call(p);
    if (status != SN_OK)
        fail_msg("%s: %s", sn_status_name(status), sn_message(cx));
    const sn_counters after = sn_counts(cx);
    assert_int_equal(after.calls, before.calls + 1);
    *allocations = after.allocations - before.allocations;
    return (cost){.launches = after.launches - before.launches,
                  .blocks = after.blocks - before.blocks,
                  .block_bytes = after.block_bytes - before.block_bytes,
                  .copies = after.copies - before.copies,
                  .copied_bytes = after.copied_bytes - before.copied_bytes,
                  .conversions = after.conversions - before.conversions,
                  .heap = __atomic_load_n(&from_heap, __ATOMIC_RELAXED) - heap};
}

/* The second call costs exactly this, and the third as much; none of the memory they take is new. */
static void expect(const char *signature, sn_body body, caller call, cost wanted)
{
    if (!cx)
        skip();
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, body);
    if (!p)
        fail_msg("%s", sn_message(cx));
    uint64_t allocations;
    measure(call, p, &allocations);
    for (int again = 0; again < 2; again++) {
        cost found = measure(call, p, &allocations);
        assert_int_equal(found.launches, wanted.launches);
        assert_int_equal(found.blocks, wanted.blocks);
        assert_int_equal(found.block_bytes, wanted.block_bytes);
        assert_int_equal(found.copies, wanted.copies);
        assert_int_equal(found.copied_bytes, wanted.copied_bytes);
        assert_int_equal(found.conversions, wanted.conversions);
        assert_int_equal(found.heap, wanted.heap);
        assert_int_equal(allocations, 0);
    }
    uint64_t compiled = sn_counts(cx).compiled, loaded = sn_counts(cx).loaded;
    measure(call, p, &allocations);
    assert_int_equal(sn_counts(cx).compiled + sn_counts(cx).loaded, compiled + loaded);
    sn_drop(p);
}

/* --- programs that need nothing but their launches --- */

static sn_scalar scaled(void *env, sn_scalar a, sn_scalar b)
{
    const sn_scalar *factor = env;
    return sn_add(sn_mul(*factor, a), b);
}

static sn_acc saxpy(sn_acc a, sn_acc xs, sn_acc ys)
{
    sn_scalar factor = sn_the(a);
    return sn_zip_with(sn_closure(scaled, &factor), xs, ys);
}

static sn_status call_saxpy(sn_program *p)
{
    float a = 2;
    return sn_call(p, sn_value(&a), sn_in(x, N), sn_in(y, N), sn_into(z, N));
}

static void saxpy_needs_one_launch(void **state)
{
    (void)state;
    expect("f32, [n]f32, [n]f32 -> [n]f32", SN_BODY(saxpy), call_saxpy, (cost){.launches = 1});
}

static sn_acc chain(sn_acc xs, sn_acc ys)
{
    for (int i = 0; i < 10; i++)
        xs = sn_reverse(sn_zip_with(sn_mul, sn_map(sn_neg, xs), sn_reverse(ys)));
    return xs;
}

static sn_status call_pair(sn_program *p)
{
    return sn_call(p, sn_in(x, N), sn_in(y, N), sn_into(z, N));
}

static sn_status call_vector(sn_program *p)
{
    return sn_call(p, sn_in(x, N), sn_into(z, N));
}

static void a_chain_needs_one_launch(void **state)
{
    (void)state;
    expect("[n]f32, [n]f32 -> [n]f32", SN_BODY(chain), call_pair, (cost){.launches = 1});
}

static sn_scalar cross(sn_scalar s)
{
    return sn_add(sn_add(sn_at(s, -1, 0), sn_at(s, 1, 0)), sn_add(sn_at(s, 0, -1), sn_at(s, 0, 1)));
}

static sn_acc smooth(sn_acc a)
{
    return sn_stencil(cross, sn_pattern(3, 3), sn_clamp, a);
}

static sn_acc smooth_twice(sn_acc a)
{
    return smooth(sn_map(sn_abs, smooth(a)));
}

static sn_status call_plane(sn_program *p)
{
    return sn_call(p, sn_in(x, H, W), sn_into(z, H, W));
}

static void stencils_need_one_launch(void **state)
{
    (void)state;
    expect("[n,m]f32 -> [n,m]f32", SN_BODY(smooth), call_plane, (cost){.launches = 1});
    expect("[n,m]f32 -> [n,m]f32", SN_BODY(smooth_twice), call_plane, (cost){.launches = 1});
}

static sn_acc several(sn_acc xs, sn_acc ys)
{
    sn_acc sums = sn_zip_with(sn_add, xs, ys);
    return sn_results(sums, sn_map(sn_sqrt, sums));
}

static sn_status call_several(sn_program *p)
{
    return sn_call(p, sn_in(x, N), sn_in(x, N), sn_into(y, N), sn_into(z, N));
}

static void results_of_one_loop_need_one_launch(void **state)
{
    (void)state;
    expect("[n]f32, [n]f32 -> [n]f32, [n]f32", SN_BODY(several), call_several, (cost){.launches = 1});
}

static sn_acc row_sums(sn_acc a)
{
    return sn_sum(a);
}

static sn_status call_rows(sn_program *p)
{
    return sn_call(p, sn_in(x, H, W / 2), sn_into(z, H));
}

static void short_rows_need_one_launch(void **state)
{
    (void)state;
    expect("[n,m]f32 -> [n]f32", SN_BODY(row_sums), call_rows, (cost){.launches = 1});
}

/* --- programs that need some memory --- */

static sn_acc dot(sn_acc xs, sn_acc ys)
{
    return sn_sum(sn_zip_with(sn_mul, xs, ys));
}

static sn_status call_dot(sn_program *p)
{
    float r;
    return sn_call(p, sn_in(x, N), sn_in(y, N), sn_value(&r));
}

/* A long fold has a partial result for each piece of 4096 elements (docs/determinism.md), and a launch for them. */
static void dot_needs_its_partial_results(void **state)
{
    (void)state;
    const uint64_t pieces = (N + 4095) / 4096;
    expect("[n]f32, [n]f32 -> f32", SN_BODY(dot), call_dot,
           (cost){.launches = 2, .blocks = 1, .block_bytes = pieces * sizeof(float)});
}

static sn_acc forced(sn_acc xs)
{
    return sn_map(sn_neg, sn_force(sn_map(sn_abs, xs)));
}

static void force_needs_one_block(void **state)
{
    (void)state;
    expect("[n]f32 -> [n]f32", SN_BODY(forced), call_vector,
           (cost){.launches = 2, .blocks = 1, .block_bytes = N * sizeof(float)});
}

static sn_acc negated(sn_acc xs)
{
    return sn_map(sn_neg, xs);
}

static sn_status call_kept(sn_program *p)
{
    sn_array *kept = NULL;
    sn_status status = sn_call(p, sn_in(x, N), sn_keep(&kept));
    sn_free(kept);
    return status;
}

/* The heap gives the handle. */
static void a_kept_result_needs_one_block_and_a_handle(void **state)
{
    (void)state;
    expect("[n]f32 -> [n]f32", SN_BODY(negated), call_kept,
           (cost){.launches = 1, .blocks = 1, .block_bytes = N * sizeof(float), .heap = 1});
}

static sn_array *held;

static sn_status call_held(sn_program *p)
{
    return sn_call(p, sn_held(held), sn_into(z, N));
}

static sn_status call_step(sn_program *p)
{
    sn_array *next = NULL;
    sn_status status = sn_call(p, sn_give(held), sn_keep(&next));
    held = next;
    return status;
}

static void a_held_array_needs_nothing(void **state)
{
    (void)state;
    if (!cx)
        skip();
    held = sn_upload(cx, sn_in(x, N));
    expect("[n]f32 -> [n]f32", SN_BODY(negated), call_held, (cost){.launches = 1});
    expect("[n]f32 -> [n]f32", SN_BODY(negated), call_step, (cost){.launches = 1, .heap = 1}); /* in its place */
    sn_free(held);
}

/* --- copies --- */

static sn_acc itself(sn_acc xs)
{
    return xs;
}

/* A parameter that is a result: somebody has to copy it. Twice the same result: computed once. */
static void a_parameter_as_result_needs_one_copy(void **state)
{
    (void)state;
    expect("[n]f32 -> [n]f32", SN_BODY(itself), call_vector, (cost){.copies = 1, .copied_bytes = N * sizeof(float)});
}

static sn_acc twice(sn_acc xs, sn_acc ys)
{
    sn_acc sums = sn_zip_with(sn_add, xs, ys);
    return sn_results(sums, sums);
}

static void one_result_twice_needs_one_copy(void **state)
{
    (void)state;
    expect("[n]f32, [n]f32 -> [n]f32, [n]f32", SN_BODY(twice), call_several,
           (cost){.launches = 1, .copies = 1, .copied_bytes = N * sizeof(float)});
}

static sn_scalar middle(sn_scalar around)
{
    return sn_mul(sn_add(sn_at(around, -1), sn_at(around, 1)), 0.5);
}

static sn_acc smoothed(sn_acc xs)
{
    return sn_stencil(middle, sn_pattern(3), sn_clamp, xs);
}

static sn_acc smoothed_often(sn_acc xs)
{
    return sn_aiterate(40, smoothed, xs);
}

/* Every second round, the last one too, writes where the caller wants the result. */
static void a_loop_needs_no_copy(void **state)
{
    (void)state;
    expect("[n]f32 -> [n]f32", SN_BODY(smoothed_often), call_vector,
           (cost){.launches = 7, .blocks = 3, .block_bytes = 3 * N * sizeof(float), .heap = 1});
}

static sn_status call_column(sn_program *p)
{
    int64_t rows = H, apart = W * sizeof(float);
    return sn_call(p, sn_strided(x, 1, &rows, &apart), sn_into(z, H));
}

static sn_status call_row(sn_program *p)
{
    int64_t columns = W, apart = sizeof(float);
    return sn_call(p, sn_strided(x, 1, &columns, &apart), sn_into(z, W));
}

static void a_column_needs_one_copy_and_a_row_none(void **state)
{
    (void)state;
    expect("[n]f32 -> [n]f32", SN_BODY(negated), call_column,
           (cost){.launches = 1,
                  .blocks = 1,
                  .block_bytes = H * sizeof(float),
                  .copies = 1,
                  .copied_bytes = H * sizeof(float)});
    expect("[n]f32 -> [n]f32", SN_BODY(negated), call_row, (cost){.launches = 1});
}

typedef struct point {
    float x, y;
    int32_t id;
} point;

static point *points; /* N of them */

static sn_scalar turned(sn_scalar p)
{
    sn_scalar px = sn_field(p, x);
    return sn_with(sn_with(p, x, sn_neg(sn_field(p, y))), y, px);
}

static sn_acc turn(sn_acc ps)
{
    return sn_map(turned, ps);
}

static sn_status call_structs(sn_program *p)
{
    return sn_call(p, sn_structs(points, N), sn_structs(points + N, N));
}

/* Structs are read and written where they are. */
static void structs_cost_nothing(void **state)
{
    (void)state;
    points = calloc(2 * N, sizeof(point));
    assert_non_null(points);
    expect("[n]{x: f32, y: f32, id: i32} -> [n]{x: f32, y: f32, id: i32}", SN_BODY(turn), call_structs,
           (cost){.launches = 1});
    free(points);
}

static const int32_t table[256] = {3, 1, 2};

static sn_acc looked_up(sn_acc xs)
{
    return sn_gather(xs, sn_use(table, 256));
}

static sn_status call_table(sn_program *p)
{
    static int32_t index[1000], out[1000];
    return sn_call(p, sn_in(index, 1000), sn_into(out, 1000));
}

static void data_of_a_program_are_there_already(void **state)
{
    (void)state;
    expect("[n]i32 -> [n]i32", SN_BODY(looked_up), call_table, (cost){.launches = 1});
}

static sn_status call_started(sn_program *p)
{
    return sn_wait(sn_start(p, sn_in(x, N), sn_into(z, N)));
}

/* The heap gives the handle and what the call needs while its caller is elsewhere. */
static void a_started_call_needs_a_handle(void **state)
{
    (void)state;
    expect("[n]f32 -> [n]f32", SN_BODY(negated), call_started, (cost){.launches = 1, .heap = 2});
}

static void reading_and_uploading_are_copies(void **state)
{
    (void)state;
    if (!cx)
        skip();
    const sn_counters before = sn_counts(cx);
    sn_array *a = sn_upload(cx, sn_in(x, N));
    assert_int_equal(sn_read(a, z, N * sizeof(float)), SN_OK);
    sn_free(a);
    const sn_counters after = sn_counts(cx);
    assert_int_equal(after.copies - before.copies, 2);
    assert_int_equal(after.copied_bytes - before.copied_bytes, 2 * N * sizeof(float));
    assert_int_equal(after.calls, before.calls);
    assert_int_equal(after.launches, before.launches);
}

/* --- the first call --- */

static void the_first_call_compiles_and_allocates_once(void **state)
{
    (void)state;
    if (!cx)
        skip();
    const sn_options o = {.size = sizeof(o), .device = "cpu"};
    sn_context *own = sn_open(&o);
    sn_program *p = sn_compile(own, "[n]f32 -> [n]f32", forced);
    assert_int_equal(sn_counts(own).compiled + sn_counts(own).loaded, 0);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(sn_call(p, sn_in(x, N), sn_into(z, N)), SN_OK);
        assert_int_equal(sn_counts(own).compiled + sn_counts(own).loaded, 2);
        assert_int_equal(sn_counts(own).allocations, 1);
        assert_in_range(sn_counts(own).allocated_bytes, N * sizeof(float), N * sizeof(float) * 9 / 8);
    }
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(z, 100)), SN_OK); /* other extents: the same kernels */
    assert_int_equal(sn_counts(own).compiled + sn_counts(own).loaded, 2);
    assert_int_equal(sn_call(p, sn_in(x, 100), sn_into(z, 99)), SN_BAD_EXTENT);
    sn_drop(p);
    sn_close(own);
    assert_int_equal(sn_counts(NULL).calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saxpy_needs_one_launch),
        cmocka_unit_test(a_chain_needs_one_launch),
        cmocka_unit_test(stencils_need_one_launch),
        cmocka_unit_test(results_of_one_loop_need_one_launch),
        cmocka_unit_test(short_rows_need_one_launch),
        cmocka_unit_test(dot_needs_its_partial_results),
        cmocka_unit_test(force_needs_one_block),
        cmocka_unit_test(a_kept_result_needs_one_block_and_a_handle),
        cmocka_unit_test(a_held_array_needs_nothing),
        cmocka_unit_test(a_parameter_as_result_needs_one_copy),
        cmocka_unit_test(one_result_twice_needs_one_copy),
        cmocka_unit_test(a_loop_needs_no_copy),
        cmocka_unit_test(a_column_needs_one_copy_and_a_row_none),
        cmocka_unit_test(structs_cost_nothing),
        cmocka_unit_test(data_of_a_program_are_there_already),
        cmocka_unit_test(a_started_call_needs_a_handle),
        cmocka_unit_test(reading_and_uploading_are_copies),
        cmocka_unit_test(the_first_call_compiles_and_allocates_once),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
