/* Skeletons on the kernel interpreter against the reference interpreter of terms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"

static const l_options fused = {.fuse = true, .cost_model = true}, unfused = {.fuse = false};
static const sk_options vectors = {.vector_bytes = 64, .workers = 2, .checks = true},
                        scalars = {.workers = 2, .checks = true};
/* devices with blocks of many threads, real ones and small ones */
static const sk_options groups[] = {
    {.group = 1024, .gang = 32, .scratch = 48 << 10, .workers = 2, .checks = true},
    {.group = 256, .scratch = 32 << 10, .workers = 100, .checks = true},
    {.group = 32, .scratch = 16 << 10, .workers = 1, .checks = true},
};

static arena memory;  /* programs */
static arena scratch; /* values of one comparison */
static ir_program *p;

static int setup(void **state)
{
    (void)state;
    arena_init(&memory, NULL);
    arena_init(&scratch, NULL);
    p = ir_program_new(&memory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&scratch);
    arena_free(&memory);
    return 0;
}

static ir_value random_value(ir_id array, const int64_t *extent, unsigned seed)
{
    const ir_array *info = ir_info(p, array);
    ir_value v = {.rank = info->rank, .components = info->components};
    int64_t n = 1;
    for (unsigned d = 0; d < info->rank; d++)
        n *= v.extent[d] = extent[d];
    srand(seed);
    for (unsigned c = 0; c < info->components; c++) {
        v.type[c] = info->type[c];
        v.data[c] = arena_alloc(&scratch, (size_t)n * 8 + 8);
        for (int64_t i = 0; i < n; i++) {
            int r = rand() % 2000 - 1000;
            if (info->type[c] == T_F32)
                ((float *)v.data[c])[i] = (float)r / 8;
            else if (info->type[c] == T_I32)
                ((int32_t *)v.data[c])[i] = r;
            else
                ((int64_t *)v.data[c])[i] = r;
        }
    }
    return v;
}

static void same(const ir_value *x, const ir_value *y, double tolerance)
{
    assert_int_equal(x->rank, y->rank);
    int64_t n = 1;
    for (unsigned d = 0; d < x->rank; d++) {
        assert_int_equal(x->extent[d], y->extent[d]);
        n *= x->extent[d];
    }
    for (unsigned c = 0; c < x->components; c++) {
        size_t size = ir_type_size(x->type[c]);
        for (int64_t i = 0; i < n; i++) {
            if (!memcmp((char *)x->data[c] + (size_t)i * size, (char *)y->data[c] + (size_t)i * size, size))
                continue;
            if (x->type[c] == T_F32 && tolerance > 0) {
                double a = (double)((float *)x->data[c])[i], b = (double)((float *)y->data[c])[i];
                if (a - b <= tolerance && b - a <= tolerance)
                    continue;
            }
            fail_msg("component %u, element %ld differ", c, (long)i);
        }
    }
}

/* runs p fused and unfused on random inputs of the given extents and compares with the interpreter */
static run_result compare_with(const int64_t extent[][3], double tolerance, const l_options *options,
                               const sk_options *device)
{
    ir_value input[8];
    for (uint32_t i = 0; i < p->input.n; i++)
        input[i] = random_value(p->input.at[i], extent[i], i + 1);
    ir_value *expected = arena_array(&scratch, ir_value, 8);
    ir_failure failure = {0};
    bool ok = ir_interpret(p, &scratch, input, expected, &failure);
    run_result got = run_clusters(p, options, device, &scratch, input);
    if (got.why)
        fail_msg("%s", got.why);
    if (!ok) {
        assert_int_equal(got.error.site, k_place(failure.site, failure.component));
        assert_int_equal(got.error.element, failure.element);
        return got;
    }
    assert_int_equal(got.error.site, 0);
    for (uint32_t i = 0; i < p->output.n; i++)
        same(&got.output[i], &expected[i], tolerance);
    return got;
}

/* what it returns points to no values any more */
static run_result compare(const int64_t extent[][3], double tolerance)
{
    compare_with(extent, tolerance, &unfused, &vectors);
    compare_with(extent, tolerance, &fused, &scalars);
    run_result result = compare_with(extent, tolerance, &fused, &vectors);
    for (size_t g = 0; g < ARRAY_LENGTH(groups); g++) {
        run_result r = compare_with(extent, tolerance, &fused, &groups[g]);
        for (uint32_t i = 0; i < p->output.n && !r.error.site; i++) /* the same tree: the same bits */
            same(&r.output[i], &result.output[i], 0);
    }
    arena_free(&scratch);
    arena_init(&scratch, NULL);
    return result;
}

static ir_id dims(const char *name)
{
    return ir_dim(p, name);
}

static ir_id input(ir_type t, unsigned rank, const char *a, const char *b, const char *c)
{
    const char *name[] = {a, b, c};
    ir_id shape[3];
    for (unsigned d = 0; d < rank; d++)
        shape[d] = dims(name[d]);
    return ir_input(p, 1, &t, rank, shape);
}

static ir_fn *binary(ir_op op, ir_type t)
{
    ir_type types[] = {t, t};
    ir_fn *f = ir_fn_new(p, 2, types);
    ir_id r = ir_op2(p, 0, op, f->param[0], f->param[1]);
    return ir_fn_close(p, f, 1, &r);
}

static ir_id zip2(ir_op op, ir_id a, ir_id b)
{
    return ir_map(p, 0, 2, (ir_id[]){a, b}, binary(op, ir_info(p, a)->type[0]), 0);
}

/* keeps the right operand: associative, does not commute; every mistake in order shows */
static ir_fn *last_nonzero(void)
{
    ir_type types[] = {T_I32, T_I32};
    ir_fn *f = ir_fn_new(p, 2, types);
    ir_id zero = ir_const(p, T_I32, 0);
    ir_id r = ir_cond(p, 0, ir_op2(p, 0, OP_EQ, f->param[1], zero), f->param[0], f->param[1]);
    return ir_fn_close(p, f, 1, &r);
}

static const int64_t sizes[] = {0, 1, 2, 31, 32, 33, 1000, 16640, 16641, 65535, 65536, 65537, 140000};

static void test_map(void **state)
{
    (void)state;
    ir_id a = input(T_F32, 1, "n", 0, 0), b = input(T_F32, 1, "n", 0, 0);
    ir_output(p, zip2(OP_ADD, zip2(OP_MUL, a, b), b));
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        compare((const int64_t[][3]){{sizes[i]}, {sizes[i]}}, 0);
}

static void test_fold_all_sizes(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 1, "n", 0, 0);
    ir_id seed = ir_const(p, T_I32, 5);
    ir_output(p, ir_fold(p, 0, binary(OP_ADD, T_I32), &seed, a, 0));
    ir_output(p, ir_fold(p, 0, last_nonzero(), &seed, a, 0));
    ir_output(p, ir_fold(p, 0, binary(OP_MAX, T_I32), &seed, zip2(OP_MUL, a, a), 0));
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        compare((const int64_t[][3]){{sizes[i]}}, 0);
}

static void test_fold_rows(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 2, "n", "m", 0);
    ir_id seed = ir_const(p, T_I32, 5);
    ir_output(p, ir_fold(p, 0, binary(OP_BIT_XOR, T_I32), &seed, a, 0));
    ir_output(p, ir_fold(p, 0, last_nonzero(), &seed, a, 0));
    static const int64_t shape[][2] = {{0, 5},  {5, 0},     {3, 1},  {70, 4},  {1000, 17},
                                       {9, 33}, {3, 70000}, {1, 40}, {130, 32}};
    for (size_t i = 0; i < ARRAY_LENGTH(shape); i++)
        compare((const int64_t[][3]){{shape[i][0], shape[i][1]}}, 0);
}

static void test_float_sum(void **state)
{
    (void)state;
    ir_id a = input(T_F32, 1, "n", 0, 0), b = input(T_F32, 1, "n", 0, 0);
    ir_id seed = ir_const(p, T_F32, ir_bits_f32(1));
    ir_output(p, ir_fold(p, 0, binary(OP_ADD, T_F32), &seed, zip2(OP_MUL, a, b), 0));
    run_result r = compare((const int64_t[][3]){{10000}, {10000}}, 20000.0);
    assert_int_equal(r.launches, 1);
    r = compare((const int64_t[][3]){{100000}, {100000}}, 200000.0);
    assert_int_equal(r.launches, 2);
}

static ir_id stencil(ir_boundary boundary, uint8_t ey, uint8_t ex, ir_id a, const int *weight)
{
    unsigned n = (unsigned)ey * ex, rank = ir_info(p, a)->rank;
    ir_type types[81] = {T_NONE};
    for (unsigned i = 0; i < n; i++)
        types[i] = T_I32;
    ir_fn *f = ir_fn_new(p, n, types);
    ir_id sum = ir_const(p, T_I32, 0), nine = ir_const(p, T_I32, ir_bits_i64(T_I32, -99));
    for (unsigned i = 0; i < n; i++)
        if (weight[i])
            sum = ir_op2(p, 0, OP_ADD, sum,
                         ir_op2(p, 0, OP_MUL, ir_const(p, T_I32, ir_bits_i64(T_I32, weight[i])), f->param[i]));
    ir_fn_close(p, f, 1, &sum);
    ir_type index[] = {T_I64, T_I64};
    ir_fn *outside = ir_fn_new(p, rank, index);
    ir_id r = ir_convert(p, 0, OP_CONVERT, T_I32,
                         rank > 1 ? ir_op2(p, 0, OP_SUB, outside->param[0], outside->param[1]) : outside->param[0]);
    ir_fn_close(p, outside, 1, &r);
    ir_stencil s = {.boundary = boundary,
                    .constant = boundary == IR_CONSTANT ? arena_copy(&memory, &nine, sizeof nine) : NULL,
                    .function = boundary == IR_FUNCTION ? outside : NULL};
    s.extent[0] = rank > 1 ? ey : ex;
    s.extent[1] = ex;
    return ir_stencil_new(p, 0, f, 1, &a, &s);
}

static const int blur_x[] = {1, 4, 6, 4, 1}, blur_y[] = {1, 4, 6, 4, 1}, sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};

static void test_stencil_chain(void **state)
{
    (void)state;
    static const ir_boundary kinds[] = {IR_CLAMP, IR_MIRROR, IR_WRAP, IR_CONSTANT, IR_FUNCTION};
    static const int64_t shape[][2] = {{1, 1}, {2, 3}, {5, 5}, {40, 70}, {3, 1100}, {300, 9}, {0, 4}, {4, 0}};
    for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
        p = ir_program_new(&memory);
        ir_id a = input(T_I32, 2, "h", "w", 0);
        ir_id gray = zip2(OP_ADD, zip2(OP_MUL, a, a), a);
        ir_id gx = stencil(kinds[k], 1, 5, gray, blur_x);
        ir_id gy = stencil(kinds[k], 5, 1, gx, blur_y);
        ir_id edge = stencil(kinds[k], 3, 3, gy, sobel);
        ir_output(p, zip2(OP_ADD, edge, gy));
        if (kinds[k] == IR_MIRROR)
            ir_output(p, gx);
        for (size_t i = 0; i < ARRAY_LENGTH(shape); i++) {
            run_result r = compare((const int64_t[][3]){{shape[i][0], shape[i][1]}}, 0);
            if (kinds[k] != IR_WRAP && shape[i][0] && shape[i][1])
                assert_int_equal(r.launches, 1);
        }
    }
}

/* several rows at once: every height up to some blocks, whole gangs and what is left over beside them */
static void test_stencil_blocks(void **state)
{
    (void)state;
    static const int tall[] = {3, 0, -1, 0, 2};
    for (int64_t h = 1; h <= 20; h++) {
        p = ir_program_new(&memory); /* kernels add terms to programs */
        ir_id a = input(T_I32, 2, "h", "w", 0);
        ir_id smooth = stencil(IR_CLAMP, 5, 1, a, blur_y);
        ir_output(p, stencil(IR_CONSTANT, 5, 1, stencil(IR_MIRROR, 3, 3, smooth, sobel), tall));
        for (int64_t w = 15; w <= 49; w += 17)
            compare((const int64_t[][3]){{h, w}}, 0);
    }
    compare((const int64_t[][3]){{150, 35}}, 0);
}

/* Tiles are as wide as shared memory allows, columns beside them included: with more of it, kernels never stop fitting.
 */
static void test_stencil_tiles_fit(void **state)
{
    (void)state;
    p = ir_program_new(&memory);
    ir_id a = input(T_I32, 2, "h", "w", 0);
    ir_output(p, stencil(IR_MIRROR, 3, 3, stencil(IR_CLAMP, 3, 3, stencil(IR_MIRROR, 3, 3, a, sobel), sobel), sobel));
    const int64_t extent[] = {3, 200};
    ir_value in = random_value(a, extent, 1), expected;
    ir_failure failure = {0};
    assert_true(ir_interpret(p, &scratch, &in, &expected, &failure));
    size_t first = 0;
    for (size_t bytes = 256; bytes <= 6144; bytes += 128) {
        const sk_options small = {.group = 64, .gang = 32, .scratch = bytes, .workers = 2, .checks = true};
        run_result got = run_clusters(p, &fused, &small, &scratch, &in);
        if (got.why && !first)
            continue;
        if (got.why)
            fail_msg("%zu bytes do, and %zu do not: %s", first, bytes, got.why);
        first = first ? first : bytes;
        same(&got.output[0], &expected, 0);
    }
    assert_true(first > 0);
}

/* blocks of rows end where planes do */
static void test_stencil_planes(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 3, "d", "h", "w");
    ir_type types[27];
    for (unsigned i = 0; i < 27; i++)
        types[i] = T_I32;
    ir_fn *f = ir_fn_new(p, 27, types);
    ir_id sum = f->param[13];
    for (unsigned i = 0; i < 27; i++)
        if (i % 9 == 4 || i == 10 || i == 16 || i == 12 || i == 14)
            sum = ir_op2(p, 0, OP_ADD, ir_op2(p, 0, OP_MUL, sum, ir_const(p, T_I32, 3)), f->param[i]);
    ir_fn_close(p, f, 1, &sum);
    ir_stencil s = {.extent = {3, 3, 3}, .boundary = IR_CLAMP};
    ir_output(p, ir_stencil_new(p, 0, f, 1, &a, &s));
    for (int64_t h = 1; h <= 11; h++)
        compare((const int64_t[][3]){{3, h, 37}}, 0);
    compare((const int64_t[][3]){{30, 13, 16}}, 0);
}

/* The kernel of the one cluster. */
static const sk_kernel *stencil_kernel(const sk_options *device)
{
    sk_reason why;
    l_program *l = l_clusters(p, &fused);
    const sk_program *code = sk_prepare(l);
    assert_int_equal(l->cluster.n, 1);
    const sk_kernel *k = sk_build(&code->cluster[0], SK_STENCIL, SK_PASS_LOOP, device, &memory, &why);
    assert_non_null(k);
    return k;
}

/* Stencils that read their operands often, beside operands that are read once. */
static void test_stencil_operands(void **state)
{
    (void)state;
    static const ir_boundary kinds[] = {IR_CLAMP, IR_MIRROR, IR_CONSTANT, IR_FUNCTION, IR_WRAP};
    static const int64_t shape[][2] = {{1, 1}, {2, 3}, {5, 5}, {37, 70}, {3, 600}, {150, 9}, {0, 4}, {4, 0}};
    static const int weights[25] = {1,  -2,  3,  4,  5,  6,  7,  -8, 9,  10, 11, 12, 13,
                                    14, -15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25};
    for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
        p = ir_program_new(&memory);
        ir_id a = input(T_I32, 2, "h", "w", 0);
        ir_output(p, stencil(kinds[k], 3, 3, a, sobel));
        for (size_t i = 0; i < ARRAY_LENGTH(shape); i++)
            compare((const int64_t[][3]){{shape[i][0], shape[i][1]}}, 0);
        p = ir_program_new(&memory);
        a = input(T_I32, 2, "h", "w", 0);
        ir_id b = input(T_I32, 2, "h", "w", 0);
        ir_output(
            p, zip2(OP_ADD, zip2(OP_ADD, stencil(kinds[k], 5, 5, a, weights), a), stencil(kinds[k], 3, 3, b, sobel)));
        for (size_t i = 0; i < ARRAY_LENGTH(shape); i++)
            compare((const int64_t[][3]){{shape[i][0], shape[i][1]}, {shape[i][0], shape[i][1]}}, 0);
    }
}

/* Stores in the kernel of the one cluster: one for each row that is computed at once, for each part of the picture. */
static unsigned stores(const sk_options *device)
{
    const sk_kernel *k = stencil_kernel(device);
    unsigned n = 0;
    for (k_ref r = 1; r < k->k->stmt.n; r++)
        n += k->k->stmt.at[r].op == K_STORE;
    return n;
}

static ir_id applied(ir_op op, ir_id array)
{
    ir_type t = T_I32, real = T_F32;
    ir_fn *f = ir_fn_new(p, 1, &t);
    ir_id x = f->param[0];
    if (op == OP_SQRT || op == OP_EXP)
        x = ir_convert(p, 0, OP_CONVERT, T_I32, ir_op1(p, 0, op, ir_convert(p, 0, OP_CONVERT, real, x)));
    else
        x = ir_op1(p, 0, op, x);
    ir_fn_close(p, f, 1, &x);
    return ir_map(p, 0, 1, &array, f, 0);
}

/* By vectors, several rows at once where they share what they read and are cheap; one where they are dear. */
static void test_stencil_rows_at_once(void **state)
{
    (void)state;
    const sk_options *const device[] = {&vectors, &scalars, &groups[0]};
    for (size_t i = 0; i < ARRAY_LENGTH(device); i++) {
        static const ir_op op[] = {OP_NEG, OP_BIT_NOT, OP_SQRT, OP_EXP};
        unsigned n[ARRAY_LENGTH(op)];
        for (size_t k = 0; k < ARRAY_LENGTH(op); k++) {
            p = ir_program_new(&memory);
            ir_output(p, applied(op[k], stencil(IR_CLAMP, 3, 3, input(T_I32, 2, "h", "w", 0), sobel)));
            n[k] = stores(device[i]);
        }
        /* vectors: four rows at once, in gangs that overlap at their end and in those at the two ends, and rows one by
         * one */
        unsigned once = 2, many = device[i] == &vectors ? 10 * once : once;
        assert_int_equal(n[0], many);
        assert_int_equal(n[1], many);
        assert_int_equal(n[2], many);
        assert_int_equal(n[3], device[i] == &vectors ? 2 * once : once); /* rows, and their ends */
    }
}

static void test_stencil_line(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 1, "n", 0, 0);
    ir_output(p, stencil(IR_CLAMP, 1, 5, stencil(IR_MIRROR, 1, 5, a, blur_x), blur_x));
    for (size_t i = 0; i < 9; i++)
        compare((const int64_t[][3]){{sizes[i]}}, 0);
}

static void test_views(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 2, "n", "m", 0);
    ir_id doubled = zip2(OP_ADD, a, a);
    ir_type types[] = {T_I64, T_I64};
    ir_fn *f = ir_fn_new(p, 2, types);
    ir_fn_close(p, f, 2, (ir_id[]){f->param[1], f->param[0]});
    ir_id transposed = ir_backpermute(p, 0, 2, (ir_id[]){dims("m"), dims("n")}, f, doubled, IR_SAFE);
    ir_id flat = ir_reshape(p, 0, 1, (ir_id[]){ir_size(p, transposed)}, transposed);
    ir_output(p, transposed);
    ir_output(p, flat);
    ir_id seed = ir_const(p, T_I32, 0);
    ir_output(p, ir_fold(p, 0, last_nonzero(), &seed, flat, 0));
    static const int64_t shape[][2] = {{3, 4}, {100, 37}, {1, 50}, {50, 1}, {0, 3}};
    for (size_t i = 0; i < ARRAY_LENGTH(shape); i++)
        compare((const int64_t[][3]){{shape[i][0], shape[i][1]}}, 0);
}

/* a read at a computed index, checked; inside a loop of varying length; errors are the smallest element's */
static void test_reads(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 1, "n", 0, 0), b = input(T_I32, 1, "m", 0, 0);
    uint32_t site = ir_site_at(p, "user.c", 7, "index");
    ir_type t = T_I32;
    ir_fn *f = ir_fn_new(p, 1, &t);
    ir_id at = ir_convert(p, 0, OP_CONVERT, T_I64, ir_op1(p, 0, OP_ABS, f->param[0]));
    ir_id r = ir_read(p, site, b, 0, 0, 1, &at);
    ir_fn_close(p, f, 1, &r);
    ir_output(p, ir_map(p, site, 1, &a, f, 0));
    compare((const int64_t[][3]){{500}, {1001}}, 0);
    compare((const int64_t[][3]){{500}, {900}}, 0);
    compare((const int64_t[][3]){{500}, {0}}, 0);
}

static void test_loop(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 1, "n", 0, 0);
    ir_type t = T_I32;
    ir_fn *f = ir_fn_new(p, 1, &t);
    ir_id x = ir_var(p, T_I32), y = ir_var(p, T_I32);
    ir_id init[] = {ir_op1(p, 0, OP_ABS, f->param[0]), ir_const(p, T_I32, 0)}, var[] = {x, y};
    ir_id next[] = {ir_op2(p, 0, OP_SUB, x, ir_const(p, T_I32, 7)), ir_op2(p, 0, OP_ADD, y, x)};
    ir_loop loop = {
        .states = 2, .init = init, .var = var, .next = next, .cond = ir_op2(p, 0, OP_GT, x, ir_const(p, T_I32, 0))};
    ir_id l = ir_loop_new(p, 0, &loop);
    ir_id r = ir_op2(p, 0, OP_ADD, ir_proj(p, l, 1), ir_proj(p, l, 0));
    ir_fn_close(p, f, 1, &r);
    ir_output(p, ir_map(p, 0, 1, &a, f, 0));
    compare((const int64_t[][3]){{1000}}, 0);
}

static void test_after_fold(void **state)
{
    (void)state;
    ir_id a = input(T_I32, 1, "n", 0, 0);
    ir_id seed = ir_const(p, T_I32, 0);
    ir_id sum = ir_fold(p, 0, binary(OP_ADD, T_I32), &seed, a, 0);
    ir_type t = T_I32;
    ir_fn *f = ir_fn_new(p, 1, &t);
    ir_id total = ir_read(p, 0, sum, 0, 0, 0, NULL);
    ir_id r = ir_op2(p, 0, OP_SUB, f->param[0], total);
    ir_fn_close(p, f, 1, &r);
    ir_output(p, ir_map(p, 0, 1, &a, f, 0));
    compare((const int64_t[][3]){{777}}, 0);
}

/* a map of `terms` products and sums, over more elements than the cache holds */
static bool goes_past_the_caches(unsigned terms)
{
    p = ir_program_new(&memory);
    ir_id a = input(T_F32, 1, "n", 0, 0), sum = a;
    for (unsigned i = 0; i < terms; i++)
        sum = zip2(OP_ADD, zip2(OP_MUL, sum, a), a);
    ir_output(p, sum);
    l_program *l = l_clusters(p, &fused);
    const sk_program *code = sk_prepare(l);
    assert_int_equal(l->cluster.n, 1);
    const int64_t extent[] = {1 << 24};
    sk_geometry g, small;
    sk_plan_launch(&code->cluster[0], &vectors, extent, (sk_round){.pass = SK_PASS_LOOP}, 1 << 20, &g);
    sk_plan_launch(&code->cluster[0], &vectors, extent, (sk_round){.pass = SK_PASS_LOOP}, 1 << 28, &small);
    assert_false(small.stream);
    return g.stream;
}

static void test_stream(void **state)
{
    (void)state;
    assert_true(goes_past_the_caches(1));
    assert_false(goes_past_the_caches(100)); /* arithmetic takes longer than memory */
}

/* Rows that come from memory: numbers of them that leave blocks of several sizes. */
static void test_far_ahead(void **state)
{
    (void)state;
    ir_id shape[2] = {ir_dim(p, "n"), ir_dim(p, "m")};
    ir_type type = T_I32, pair[2] = {T_I32, T_I32};
    ir_id a = ir_input(p, 1, &type, 2, shape);
    ir_fn *fn = ir_fn_new(p, 2, pair);
    ir_id sum = ir_op2(p, 0, OP_ADD, fn->param[0], fn->param[1]);
    ir_output(p, ir_fold(p, 0, ir_fn_close(p, fn, 1, &sum), NULL, a, 0));
    for (int64_t rows = 64; rows <= 72; rows++) {
        const int64_t extent[] = {rows, 531};
        ir_value input = random_value(a, extent, (unsigned)rows), expected;
        ir_failure failure = {0};
        assert_true(ir_interpret(p, &scratch, &input, &expected, &failure));
        run_result got = run_clusters_uncached(p, &fused, &vectors, &scratch, &input);
        if (got.why)
            fail_msg("%ld rows: %s", (long)rows, got.why);
        same(&got.output[0], &expected, 0);
    }
}

/* A variant that there is none of is a mistake of whoever asks, not a limit of the compiler. */
static void test_no_variant(void **state)
{
    (void)state;
    sk_reason why = {.unsupported = true};
    ir_output(p, input(T_F32, 1, "n", 0, 0));
    l_program *l = l_clusters(p, &fused);
    const sk_program *code = sk_prepare(l);
    assert_null(sk_build(&code->cluster[0], SK_VARIANTS, SK_PASS_LOOP, &vectors, &memory, &why));
    assert_string_equal(why.text, "unknown variant");
    assert_false(why.unsupported);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_map),
        TEST(test_fold_all_sizes),
        TEST(test_fold_rows),
        TEST(test_float_sum),
        TEST(test_stencil_chain),
        TEST(test_stencil_line),
        TEST(test_stencil_blocks),
        TEST(test_stencil_tiles_fit),
        TEST(test_stencil_planes),
        TEST(test_stencil_operands),
        TEST(test_views),
        TEST(test_reads),
        TEST(test_loop),
        TEST(test_after_fold),
        TEST(test_stream),
        TEST(test_far_ahead),
        TEST(test_stencil_rows_at_once),
        TEST(test_no_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
