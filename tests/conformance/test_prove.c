/* The order of operations of folds, scans and filters, and divergent gathers with checks: on every device the bits of
 * the trees of docs/determinism.md, for every alignment, ragged size and number of threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "conformance/prove_run.h"

static prove_devices devices;

static int open_devices(void **state)
{
    (void)state;
    prove_open(&devices);
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    prove_close(&devices);
    return 0;
}

/* --- the tree in plain C, over tuples of bits --- */

typedef struct {
    ir_bits c[4];
} tuple;

typedef tuple (*reference)(tuple left, tuple right);

static tuple argmax(tuple l, tuple r)
{
    return ir_f32_bits(r.c[0]) > ir_f32_bits(l.c[0]) ? r : l;
}

static tuple matrix_u32(tuple l, tuple r)
{
    tuple t = {{0}};
    for (unsigned i = 0; i < 4; i++)
        t.c[i] = (uint32_t)(l.c[i & 2] * r.c[i & 1] + l.c[(i & 2) + 1] * r.c[2 + (i & 1)]);
    return t;
}

static tuple matrix_f32(tuple l, tuple r)
{
    tuple t = {{0}};
    for (unsigned i = 0; i < 4; i++) {
        float x = ir_f32_bits(l.c[i & 2]) * ir_f32_bits(r.c[i & 1]);
        float y = ir_f32_bits(l.c[(i & 2) + 1]) * ir_f32_bits(r.c[2 + (i & 1)]);
        t.c[i] = ir_bits_f32(x + y);
    }
    return t;
}

static tuple sum_f32(tuple l, tuple r)
{
    return (tuple){{ir_bits_f32(ir_f32_bits(l.c[0]) + ir_f32_bits(r.c[0]))}};
}

static tuple sum_f64(tuple l, tuple r)
{
    return (tuple){{ir_bits_f64(ir_f64_bits(l.c[0]) + ir_f64_bits(r.c[0]))}};
}

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static tuple left_to_right(reference op, const tuple *x, int64_t n)
{
    tuple t = x[0];
    for (int64_t i = 1; i < n; i++)
        t = op(t, x[i]);
    return t;
}

static tuple balanced(reference op, const tuple *x, int64_t n)
{
    int64_t half = 1;
    if (n == 1)
        return x[0];
    while (2 * half < n)
        half *= 2;
    return op(balanced(op, x, half), balanced(op, x + half, n - half));
}

static tuple commutative_piece(reference op, const tuple *x, int64_t m)
{
    tuple acc[128];
    bool has[128] = {0};
    for (int64_t i = 0; i < m; i++) {
        acc[i % 128] = has[i % 128] ? op(acc[i % 128], x[i]) : x[i];
        has[i % 128] = true;
    }
    for (int64_t d = 64; d; d /= 2)
        for (int64_t l = 0; l < d; l++)
            acc[l] = has[l + d] ? op(acc[l], acc[l + d]) : acc[l];
    return acc[0];
}

/* Destroys x. */
static tuple tree_fold(reference op, tuple *x, int64_t n, bool ordered, tuple seed)
{
    if (!n)
        return seed;
    if (ordered && n > 32)
        return op(seed, balanced(op, x, n));
    while (n > 32) {
        int64_t pieces = (n + 4095) / 4096;
        for (int64_t p = 0; p < pieces; p++)
            x[p] = commutative_piece(op, x + p * 4096, least(4096, n - p * 4096));
        n = pieces;
    }
    return op(seed, left_to_right(op, x, n));
}

/* --- data --- */

enum { MOST = 2 * 65536 + 100 };

static uint64_t random_at(uint64_t salt, int64_t i)
{
    return hash_mix(hash_mix(salt, (uint64_t)i), 0x1234567);
}

static ir_bits random_value(ir_type t, uint64_t salt, int64_t i)
{
    uint64_t h = random_at(salt, i);
    if (t == T_F32)
        return ir_bits_f32((float)((double)(int64_t)(h >> 12) / 1e15 - 2.0));
    if (t == T_F64)
        return ir_bits_f64((double)(int64_t)h / 1e15);
    return ir_bits_i64(t, (int64_t)(h >> 20));
}

/* `n` elements behind `offset` elements of an aligned block; freed with free(*block). */
static void *place(void **block, ir_type t, int64_t n, unsigned offset, uint64_t salt)
{
    size_t size = ir_type_size(t);
    *block = aligned_alloc(64, ((size_t)n * size + 64 * size + 128) & ~(size_t)63);
    assert_non_null(*block);
    uint8_t *at = (uint8_t *)*block + offset * size;
    for (int64_t i = 0; i < n; i++) {
        ir_bits bits = random_value(t, salt, i);
        memcpy(at + (size_t)i * size, &bits, size);
    }
    return at;
}

static tuple element(const prove_operator *op, void *const *in, unsigned inputs, int64_t i)
{
    tuple t = {{0}};
    for (unsigned c = 0; c < op->arity; c++) {
        size_t size = ir_type_size(op->type[c]);
        if (c < inputs)
            memcpy(&t.c[c], (const uint8_t *)in[c] + (size_t)i * size, size);
        else
            t.c[c] = ir_bits_i64(op->type[c], i);
    }
    return t;
}

/* Ragged sizes around lanes, chunks and pieces. */
static unsigned sizes_of(prove_tree tree, int64_t *out)
{
    int64_t piece = tree.piece, inner = tree.chunk ? tree.chunk : tree.lanes * tree.streams;
    int64_t all[] = {0,
                     1,
                     2,
                     3,
                     15,
                     16,
                     17,
                     31,
                     32,
                     33,
                     2 * tree.lanes - 1,
                     2 * tree.lanes + 1,
                     inner - 1,
                     inner,
                     inner + 1,
                     2 * inner + 5,
                     3 * inner + tree.lanes,
                     piece - 1,
                     piece,
                     piece + 1,
                     2 * piece + 17};
    memcpy(out, all, sizeof(all));
    return (unsigned)ARRAY_LENGTH(all);
}

/* --- (a) folds --- */

typedef struct {
    const prove_operator *op;
    reference reference;
    bool ordered;
} fold_case;

static prove_tree tree_of(const fold_case *c)
{
    return prove_tree_of(c->op, c->ordered ? PROVE_ORDERED : PROVE_COMMUTATIVE);
}

static tuple expected_fold(const fold_case *c, void *const *in, unsigned inputs, int64_t n, tuple seed)
{
    tuple *x = malloc(((size_t)n + 1) * sizeof(*x));
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = element(c->op, in, inputs, i);
    tuple t = tree_fold(c->reference, x, n, c->ordered, seed);
    free(x);
    return t;
}

/* Which NaN an operation gives is the processor's choice. */
static bool same_bits(ir_type t, ir_bits x, ir_bits y)
{
    if (t == T_F32 && isnan(ir_f32_bits(x)) && isnan(ir_f32_bits(y)))
        return true;
    return x == y || (t == T_F64 && isnan(ir_f64_bits(x)) && isnan(ir_f64_bits(y)));
}

static void check_fold(const fold_case *c, const prove_fold *f, prove_device *d, int64_t n, unsigned offset)
{
    void *block[4], *in[4];
    tuple seed = {{0}}, got;
    for (unsigned i = 0; i < c->op->arity; i++) {
        seed.c[i] = random_value(c->op->type[i], 77, i);
        in[i] = place(&block[i], c->op->type[i], n, offset, i);
    }
    tuple expected = expected_fold(c, in, f->inputs, n, seed);
    prove_fold_run(f, in, n, seed.c, got.c);
    for (unsigned i = 0; i < c->op->arity; i++) {
        if (!same_bits(c->op->type[i], expected.c[i], got.c[i]))
            fail_msg("%s on %s, %lld elements, offset %u: component %u is %llx, not %llx", c->op->name, d->name,
                     (long long)n, offset, i, (unsigned long long)got.c[i], (unsigned long long)expected.c[i]);
        free(block[i]);
    }
}

static void check_folds(const fold_case *c)
{
    int64_t sizes[32];
    unsigned n = sizes_of(tree_of(c), sizes);
    for (unsigned i = 0; i < devices.n; i++) {
        prove_device *d = &devices.at[i];
        arena a;
        arena_init(&a, NULL);
        prove_fold f = prove_fold_ready(d, &a, c->op, c->ordered);
        unsigned offsets = d->slow ? 1 : 64 / (unsigned)ir_type_size(c->op->type[0]);
        for (unsigned s = 0; s < n; s++)
            for (unsigned offset = 0; offset < offsets; offset++)
                check_fold(c, &f, d, sizes[s], d->slow ? s % 3 : offset);
        prove_fold_forget(&f);
        arena_free(&a);
    }
}

static void argmax_keeps_the_left_one(void **state)
{
    (void)state;
    check_folds(&(fold_case){&prove_argmax, argmax, true});
}

static void matrix_products_keep_order(void **state)
{
    (void)state;
    check_folds(&(fold_case){&prove_matrix_u32, matrix_u32, true});
    check_folds(&(fold_case){&prove_matrix_f32, matrix_f32, true});
}

static void ordered_sums_have_one_tree(void **state)
{
    (void)state;
    check_folds(&(fold_case){&prove_sum_f32, sum_f32, true});
    check_folds(&(fold_case){&prove_sum_f64, sum_f64, true});
}

static void commutative_sums_have_one_tree(void **state)
{
    (void)state;
    check_folds(&(fold_case){&prove_sum_f32, sum_f32, false});
    check_folds(&(fold_case){&prove_sum_f64, sum_f64, false});
}

/* --- (b) scans --- */

static void expected_scan(reference op, const ir_bits *x, ir_bits *out, int64_t n, prove_tree tree, ir_bits seed)
{
    tuple carry = {{seed}};
    for (int64_t start = 0; start < n; start += tree.piece) {
        int64_t m = least(tree.piece, n - start);
        tuple run = {{0}};
        for (int64_t lane = 0; lane * tree.chunk < m; lane++) {
            int64_t first = start + lane * tree.chunk, end = first + least(tree.chunk, m - lane * tree.chunk);
            tuple acc = lane ? op(carry, run) : carry, sum = {{x[first]}};
            for (int64_t i = first; i < end; i++) {
                acc = op(acc, (tuple){{x[i]}});
                out[i] = acc.c[0];
                sum = i > first ? op(sum, (tuple){{x[i]}}) : sum;
            }
            run = lane ? op(run, sum) : sum;
        }
        carry = op(carry, run);
    }
}

static void check_scan(const prove_scan *s, reference op, prove_device *d, int64_t n, unsigned offset)
{
    ir_type t = s->op->type[0];
    size_t size = ir_type_size(t);
    void *in_block, *out_block, *in = place(&in_block, t, n, offset, 5);
    uint8_t *out = place(&out_block, t, n, (offset * 3 + 1) % 16, 6);
    ir_bits *x = calloc((size_t)n + 1, sizeof(*x)), *expected = calloc((size_t)n + 1, sizeof(*x)),
            seed = random_value(t, 8, 8);
    assert_non_null(x);
    assert_non_null(expected);
    for (int64_t i = 0; i < n; i++)
        memcpy(&x[i], (uint8_t *)in + (size_t)i * size, size);
    expected_scan(op, x, expected, n, prove_tree_of(s->op, PROVE_SCAN), seed);
    prove_scan_run(s, in, out, n, seed);
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&expected[i], out + (size_t)i * size, size) != 0)
            fail_msg("scan on %s, %lld elements, offset %u: element %lld", d->name, (long long)n, offset, (long long)i);
    free(x);
    free(expected);
    free(in_block);
    free(out_block);
}

static void check_scans(prove_device *d, const prove_operator *op, reference reference_op, bool chained)
{
    int64_t sizes[32];
    unsigned n = sizes_of(prove_tree_of(op, PROVE_SCAN), sizes);
    arena a;
    arena_init(&a, NULL);
    prove_scan s = prove_scan_ready(d, &a, op, chained);
    unsigned offsets = d->slow ? 1 : 64 / (unsigned)ir_type_size(op->type[0]);
    for (unsigned i = 1; i < n; i++)
        for (unsigned offset = 0; offset < offsets; offset++)
            check_scan(&s, reference_op, d, sizes[i], d->slow ? i % 3 : offset);
    check_scan(&s, reference_op, d, 7 * prove_tree_of(op, PROVE_SCAN).piece + 11, 1); /* more pieces than threads */
    prove_scan_forget(&s);
    arena_free(&a);
}

/* With a chain and in two passes: the same bits. */
static void scans_have_one_tree(void **state)
{
    (void)state;
    for (unsigned i = 0; i < devices.n; i++)
        for (unsigned chained = 0; chained <= devices.at[i].chains; chained++) {
            check_scans(&devices.at[i], &prove_sum_f32, sum_f32, chained);
            check_scans(&devices.at[i], &prove_sum_f64, sum_f64, chained);
        }
}

/* --- (c) filters --- */

static void check_filter(const prove_filter *f, prove_device *d, int64_t n, unsigned offset, float limit)
{
    void *in_block, *out_block;
    float *in = place(&in_block, T_F32, n, offset, 9), *out = place(&out_block, T_F32, n, (offset + 5) % 16, 10);
    int64_t kept = 0, got = n ? prove_filter_run(f, in, out, n, limit) : 0;
    for (int64_t i = 0; i < n; i++) {
        if (!(in[i] > limit))
            continue;
        if (kept < got && memcmp(&in[i], &out[kept], sizeof(float)) != 0)
            fail_msg("filter on %s, %lld elements, offset %u: result %lld", d->name, (long long)n, offset,
                     (long long)kept);
        kept++;
    }
    assert_int_equal(got, kept);
    for (int64_t i = kept; i < n; i++) { /* nothing behind the kept ones is touched */
        float before = ir_f32_bits(random_value(T_F32, 10, i));
        assert_memory_equal(&before, &out[i], sizeof(float));
    }
    free(in_block);
    free(out_block);
}

static void filters_are_stable(void **state)
{
    int64_t sizes[32];
    unsigned n = sizes_of(prove_tree_of(&prove_sum_f32, PROVE_SCAN), sizes);
    (void)state;
    for (unsigned i = 0; i < devices.n; i++)
        for (unsigned chained = 0; chained <= devices.at[i].chains; chained++) {
            prove_device *d = &devices.at[i];
            arena a;
            arena_init(&a, NULL);
            prove_filter f = prove_filter_ready(d, &a, chained);
            for (unsigned s = 0; s < n; s++)
                for (unsigned offset = 0; offset < (d->slow ? 1 : 16); offset++)
                    check_filter(&f, d, sizes[s], d->slow ? s % 3 : offset, 0.0f);
            check_filter(&f, d, sizes[n - 1], 1, -INFINITY); /* all */
            check_filter(&f, d, sizes[n - 1], 2, INFINITY);  /* none */
            prove_filter_forget(&f);
            arena_free(&a);
        }
}

/* --- (d) divergent gathers --- */

enum { TABLE = 5000 };

typedef struct {
    int32_t *start, *next;
    float *value, *out, *expected;
    int64_t n, limit;
    k_error error;
} chase;

/* Links end (negative) after some steps, differently for each; with `faulty`, some lead outside. */
static void make_chase(chase *c, int64_t n, bool faulty)
{
    *c = (chase){.n = n, .limit = 50};
    c->start = malloc(((size_t)n + 1) * 4);
    c->out = malloc(((size_t)n + 1) * 4);
    c->expected = malloc(((size_t)n + 1) * 4);
    c->next = malloc(TABLE * 4);
    c->value = malloc(TABLE * 4);
    assert_true(c->start && c->out && c->expected && c->next && c->value);
    for (int64_t i = 0; i < TABLE; i++) {
        uint64_t h = random_at(21, i);
        c->next[i] = h % 9 == 0 ? -1 : (int32_t)((h >> 8) % TABLE);
        if (faulty && h % 1000 == 1)
            c->next[i] = TABLE + (int32_t)(h >> 40 & 1000);
        c->value[i] = ir_f32_bits(random_value(T_F32, 22, i));
    }
    for (int64_t i = 0; i < n; i++) {
        c->start[i] = (int32_t)(random_at(23, i) % (TABLE + 50)) - 50;
        c->out[i] = c->expected[i] = -7.0f;
    }
}

static void free_chase(chase *c)
{
    free(c->start);
    free(c->next);
    free(c->value);
    free(c->out);
    free(c->expected);
}

/* What must come out: failing elements keep their old value, the first of them is reported. */
static void expect_chase(chase *c)
{
    for (int64_t i = 0; i < c->n; i++) {
        int64_t link = c->start[i], steps = 0;
        float sum = 0;
        for (; link >= 0 && link < TABLE && steps < c->limit; steps++) {
            sum += c->value[link];
            link = c->next[link];
        }
        bool fails = link >= TABLE && steps < c->limit;
        if (!fails)
            c->expected[i] = sum;
        else if (!c->error.site)
            c->error = (k_error){.site = PROVE_SITE, .element = i, .value = link, .bound = TABLE};
    }
}

static void check_chase(const prove_program *p, int64_t n, bool faulty)
{
    chase c;
    prove_memory m = {0};
    k_error error = {0};
    make_chase(&c, n, faulty);
    expect_chase(&c);
    prove_add(&m, c.start, (size_t)n * 4);
    prove_add(&m, c.next, TABLE * 4);
    prove_add(&m, c.value, TABLE * 4);
    prove_add(&m, c.out, (size_t)n * 4);
    prove_launch(p, &m, (ir_bits[]){(ir_bits)n, TABLE, (ir_bits)c.limit},
                 (n + PROVE_CHASE_PIECE - 1) / PROVE_CHASE_PIECE, &error);
    for (int64_t i = 0; i < n; i++)
        if (memcmp(&c.out[i], &c.expected[i], 4) != 0)
            fail_msg("chase on %s, %lld elements: element %lld is %a, not %a", p->device->name, (long long)n,
                     (long long)i, (double)c.out[i], (double)c.expected[i]);
    assert_int_equal(error.site, c.error.site);
    assert_int_equal(error.element, c.error.element);
    assert_int_equal(error.value, c.error.value);
    assert_int_equal(error.bound, c.error.bound);
    free_chase(&c);
}

static void divergent_gathers_are_checked(void **state)
{
    static const int64_t sizes[] = {1, 15, 16, 17, 31, 32, 33, 100, 4095, 4096, 4097, 20000};
    (void)state;
    for (unsigned i = 0; i < devices.n; i++) {
        arena a;
        arena_init(&a, NULL);
        prove_program p = prove_ready(&devices.at[i], &a, prove_chase(&a));
        for (size_t s = 0; s < ARRAY_LENGTH(sizes); s++) {
            check_chase(&p, sizes[s], false);
            check_chase(&p, sizes[s], true);
        }
        prove_forget(&p);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argmax_keeps_the_left_one),     cmocka_unit_test(matrix_products_keep_order),
        cmocka_unit_test(ordered_sums_have_one_tree),    cmocka_unit_test(commutative_sums_have_one_tree),
        cmocka_unit_test(scans_have_one_tree),           cmocka_unit_test(filters_are_stable),
        cmocka_unit_test(divergent_gathers_are_checked),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
