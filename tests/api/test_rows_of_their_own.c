/* Loops in scalar code along rows whose lengths differ: rows of sparse matrices, triangles, rows that data cut. Their
 * values against plain loops, on the device and by the interpreter; their bits, which depend on the lengths alone; and
 * what is reported where a row reads what is not there. */
#include "both.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sparse {
    sn_acc begin, column, value, x;
    sn_scalar first;
} sparse;

static sn_scalar add_entry(void *env, sn_scalar k, sn_scalar sum)
{
    const sparse *s = env;
    sn_scalar at = sn_add(s->first, k);
    return sn_add(sum, sn_mul(sn_index(s->value, at), sn_index(s->x, sn_index(s->column, at))));
}

static sn_scalar add_and_compare(void *env, sn_scalar k, sn_scalar sum, sn_scalar most)
{
    const sparse *s = env;
    sn_scalar v = sn_index(s->value, sn_add(s->first, k));
    return sn_tuple(sn_add(v, sum), sn_max(most, v));
}

static sn_scalar length(const sparse *s, sn_scalar i)
{
    return sn_sub(sn_to_i64(sn_index(s->begin, sn_add(i, 1))), s->first);
}

static sn_scalar product(void *env, sn_scalar i)
{
    sparse s = *(const sparse *)env;
    s.first = sn_to_i64(sn_index(s.begin, i));
    return sn_loop(length(&s, i), sn_closure(add_entry, &s), sn_index(s.x, 0));
}

static sn_scalar sum_and_most(void *env, sn_scalar i)
{
    sparse s = *(const sparse *)env;
    s.first = sn_to_i64(sn_index(s.begin, i));
    sn_scalar zero = sn_index(s.value, 0),
              both_of = sn_loop(length(&s, i), sn_closure(add_and_compare, &s), sn_tuple(zero, zero));
    return sn_sub(sn_fst(both_of), sn_mul(sn_snd(both_of), sn_index(s.x, 1)));
}

static sn_acc rows(sn_acc begin, sn_acc column, sn_acc value, sn_acc x)
{
    sparse s = {begin, column, value, x, {0}};
    sn_scalar n = sn_sub(sn_size(begin), 1);
    return sn_results(sn_generate(n, sn_closure(product, &s)), sn_generate(n, sn_closure(sum_and_most, &s)));
}

/* The sum of such results: the loop over them is another one. */
static sn_acc all_rows(sn_acc begin, sn_acc column, sn_acc value, sn_acc x)
{
    sparse s = {begin, column, value, x, {0}};
    return sn_sum(sn_generate(sn_sub(sn_size(begin), 1), sn_closure(product, &s)));
}

enum { ROWS = 300, MOST = 200000, COLUMNS = 97 };

static int32_t begin[ROWS + 1], column[MOST];
static float value[MOST], x[COLUMNS];

/* Lengths of every kind: empty, short, those of a turn of lanes and of a piece, with one less and one more. */
static int64_t fill(bool exact)
{
    static const int32_t some[] = {0,   1,   7,   31,  32,  33,   63,   64,   65,   127, 128,
                                   129, 160, 255, 256, 257, 1000, 4095, 4096, 4097, 9000};
    int32_t at = 0;
    for (int i = 0; i < ROWS; i++) {
        begin[i] = at;
        int32_t n = i < 63 ? some[i % 21] : i % 50;
        at += at + n <= MOST ? n : 0;
    }
    begin[ROWS] = at;
    for (int i = 0; i < MOST; i++) {
        column[i] = (int32_t)((unsigned)i * 40503u % COLUMNS);
        value[i] = exact ? (float)(i % 9 - 4) : sinf((float)i) * 100;
    }
    for (int i = 0; i < COLUMNS; i++)
        x[i] = exact ? (float)(i % 5 - 2) : cosf((float)i);
    return at;
}

static sn_status call(sn_program *p, int64_t n, float *first, float *second)
{
    return sn_call(p, sn_in(begin, ROWS + 1), sn_in(column, n), sn_in(value, n), sn_in(x, COLUMNS),
                   sn_into(first, ROWS), sn_into(second, ROWS));
}

static const char *const signature = "[n]i32, [k]i32, [k]f32, [m]f32 -> [r]f32, [r]f32";

static void check_values(sn_context *cx, int64_t n)
{
    static float first[ROWS], second[ROWS];
    sn_program *p = sn_compile_at(SN_HERE, cx, signature, SN_BODY(rows));
    if (!p || call(p, n, first, second) != SN_OK)
        fail_msg("%s", sn_message(cx));
    for (int i = 0; i < ROWS; i++) {
        float sum = x[0], all = value[0], most = value[0];
        for (int k = begin[i]; k < begin[i + 1]; k++) {
            sum += value[k] * x[column[k]];
            all += value[k];
            most = value[k] > most ? value[k] : most;
        }
        if (first[i] != sum || second[i] != all - most * x[1])
            fail_msg("row %d of %d: %g and %g, not %g and %g", i, begin[i + 1] - begin[i], (double)first[i],
                     (double)second[i], (double)sum, (double)(all - most * x[1]));
    }
    sn_drop(p);
}

static void values(void **state)
{
    (void)state;
    int64_t n = fill(true);
    check_values(both_cpu(), n);
    check_values(both_interpreter(), n);
}

/* As docs/determinism.md says. */
static float tree(const float *v, int64_t n)
{
    float total = -0.0f, acc[128];
    if (n <= 32) {
        for (int64_t i = 0; i < n; i++)
            total += v[i];
        return total;
    }
    for (int64_t piece = 0; piece < n; piece += 4096) {
        for (int l = 0; l < 128; l++)
            acc[l] = -0.0f;
        for (int64_t i = piece; i < n && i < piece + 4096; i++)
            acc[(i - piece) % 128] += v[i];
        for (int half = 64; half > 0; half /= 2)
            for (int l = 0; l < half; l++)
                acc[l] += acc[l + half];
        total += acc[0];
    }
    return total;
}

static void bits(void **state)
{
    (void)state;
    static float found[ROWS], second[ROWS], products[MOST];
    int64_t n = fill(false);
    for (int64_t k = 0; k < n; k++)
        products[k] = value[k] * x[column[k]];
    const sn_options options[] = {
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 1},
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 2},
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 2, .fusion = SN_OFF},
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 2, .simplify = SN_OFF},
        {.size = sizeof(sn_options), .contract = SN_OFF, .threads = 2, .checks = SN_OFF},
    };
    for (unsigned o = 0; o < sizeof(options) / sizeof(*options); o++) {
        sn_context *cx = sn_open(&options[o]);
        sn_program *p = sn_compile_at(SN_HERE, cx, signature, SN_BODY(rows));
        if (!p || call(p, n, found, second) != SN_OK)
            fail_msg("%s", sn_message(cx));
        for (int i = 0; i < ROWS; i++) {
            float wanted = x[0] + tree(products + begin[i], begin[i + 1] - begin[i]);
            if (memcmp(&found[i], &wanted, sizeof(wanted)))
                fail_msg("options %u, row %d of %d: %.9g, not %.9g", o, i, begin[i + 1] - begin[i], (double)found[i],
                         (double)wanted);
        }
        sn_drop(p);
        p = sn_compile_at(SN_HERE, cx, "[n]i32, [k]i32, [k]f32, [m]f32 -> f32", SN_BODY(all_rows));
        float sum;
        if (!p || sn_call(p, sn_in(begin, ROWS + 1), sn_in(column, n), sn_in(value, n), sn_in(x, COLUMNS),
                          sn_value(&sum)) != SN_OK)
            fail_msg("%s", sn_message(cx));
        float wanted = tree(found, ROWS);
        assert_memory_equal(&sum, &wanted, sizeof(sum));
        sn_drop(p);
        sn_close(cx);
    }
}

/* --- rows that are not there --- */

static void compare_failures(int64_t n, sn_status status)
{
    static float first[ROWS], second[ROWS];
    char message[2][400];
    for (int i = 0; i < 2; i++) {
        sn_context *cx = i ? both_interpreter() : both_cpu();
        sn_program *p = sn_compile_at(SN_HERE, cx, signature, SN_BODY(rows));
        if (!p)
            fail_msg("%s", sn_message(cx));
        assert_int_equal(call(p, n, first, second), status);
        snprintf(message[i], sizeof(message[i]), "%s", sn_message(cx));
        sn_drop(p);
    }
    assert_string_equal(message[0], message[1]);
}

static void failures(void **state)
{
    (void)state;
    int64_t n = fill(true);
    compare_failures(n - 40000, SN_OUT_OF_RANGE); /* the last rows are not there */
    compare_failures(begin[17], SN_OUT_OF_RANGE);
    int32_t kept = begin[5];
    begin[5] = -3; /* rows of any length begin before the first element */
    compare_failures(n, SN_OUT_OF_RANGE);
    begin[5] = INT32_MIN;
    compare_failures(n, SN_OUT_OF_RANGE);
    begin[5] = kept;
    column[begin[20] + 5000] = COLUMNS; /* in the middle of a long one */
    column[begin[20] + 5003] = -1;
    compare_failures(n, SN_OUT_OF_RANGE);
    column[begin[40] + 3] = -7;
    compare_failures(n, SN_OUT_OF_RANGE);
}

/* --- what is made of such loops --- */

static sn_scalar count_entry(void *env, sn_scalar k, sn_scalar sum)
{
    const sparse *s = env;
    return sn_add(sum, sn_index(s->column, sn_add(s->first, k)));
}

static sn_scalar take_half(void *env, sn_scalar rounds, sn_scalar left)
{
    (void)env;
    return sn_tuple(sn_add(rounds, 1), sn_quot(left, sn_i32(2)));
}

static sn_scalar something_left(void *env, sn_scalar rounds, sn_scalar left)
{
    (void)env;
    (void)rounds;
    return sn_gt(left, sn_i32(0));
}

/* A sum is an index, how often another loop runs, and a condition under which a loop runs; it is inside of another
 * loop. */
static sn_scalar used(void *env, sn_scalar i)
{
    sparse s = *(const sparse *)env;
    s.first = sn_to_i64(sn_index(s.begin, i));
    sn_scalar n = length(&s, i), sum = sn_loop(n, sn_closure(count_entry, &s), sn_i32(0));
    sn_scalar at = sn_if(sn_gt(n, 32), sn_sub(sn_min(sum, sn_i32(5)), sn_i32(1)), sn_i32(0));
    sn_scalar element = sn_index(s.column, at);
    sn_scalar divided = sn_quot(sn_i32(1000000), sn_add(sum, sn_i32(1)));
    sn_scalar halves =
        sn_fst(sn_while(sn_closure(something_left, &s), sn_closure(take_half, &s), sn_tuple(sn_i32(0), sum)));
    sn_scalar more = sn_if(sn_gt(sum, 40), sn_loop(n, sn_closure(count_entry, &s), sn_i32(1)), sn_i32(7));
    sn_scalar again = sn_loop(n, sn_closure(count_entry, &s), element);
    return sn_tuple(sn_add(element, divided), sn_add(halves, sn_add(more, again)));
}

static sn_acc uses(sn_acc row_begin, sn_acc columns)
{
    sparse s = {.begin = row_begin, .column = columns};
    sn_acc parts[2];
    sn_unzip(sn_generate(sn_sub(sn_size(row_begin), 1), sn_closure(used, &s)), 2, parts);
    return sn_results(parts[0], parts[1]);
}

static void what_is_made_of_them(void **state)
{
    (void)state;
    static int32_t first[2][ROWS], second[2][ROWS];
    int64_t n = fill(true);
    for (int i = 0; i < 2; i++) {
        sn_context *cx = i ? both_interpreter() : both_cpu();
        sn_program *p = sn_compile_at(SN_HERE, cx, "[n]i32, [k]i32 -> [r]i32, [r]i32", SN_BODY(uses));
        if (!p || sn_call(p, sn_in(begin, ROWS + 1), sn_in(column, n), sn_into(first[i], ROWS),
                          sn_into(second[i], ROWS)) != SN_OK)
            fail_msg("%s", sn_message(cx));
        sn_drop(p);
    }
    assert_memory_equal(first[0], first[1], sizeof(first[0]));
    assert_memory_equal(second[0], second[1], sizeof(second[0]));
}

/* The index that a sum is lies outside, in long rows only. */
static sn_scalar element_number_sum(void *env, sn_scalar i)
{
    sparse s = *(const sparse *)env;
    s.first = sn_to_i64(sn_index(s.begin, i));
    return sn_index(s.column, sn_loop(length(&s, i), sn_closure(count_entry, &s), sn_i32(0)));
}

static sn_acc numbered(sn_acc row_begin, sn_acc columns)
{
    sparse s = {.begin = row_begin, .column = columns};
    return sn_generate(sn_sub(sn_size(row_begin), 1), sn_closure(element_number_sum, &s));
}

static void sums_that_lie_outside(void **state)
{
    (void)state;
    static int32_t found[ROWS];
    char message[2][400];
    int64_t n = fill(true);
    for (int i = 0; i < 2; i++) {
        sn_context *cx = i ? both_interpreter() : both_cpu();
        sn_program *p = sn_compile_at(SN_HERE, cx, "[n]i32, [k]i32 -> [r]i32", SN_BODY(numbered));
        assert_int_equal(sn_call(p, sn_in(begin, ROWS + 1), sn_in(column, n), sn_into(found, ROWS)), SN_OUT_OF_RANGE);
        snprintf(message[i], sizeof(message[i]), "%s", sn_message(cx));
        sn_drop(p);
    }
    assert_string_equal(message[0], message[1]);
}

/* --- triangles, and other shapes --- */

typedef struct triangle {
    sn_acc a;
    sn_scalar i, j;
} triangle;

static sn_scalar add_to_diagonal(void *env, sn_scalar k, sn_scalar sum)
{
    const triangle *t = env;
    return sn_add(sum, sn_index(t->a, t->i, k));
}

static sn_scalar to_diagonal(void *env, sn_scalar i)
{
    triangle t = *(const triangle *)env;
    t.i = i;
    return sn_loop(sn_add(i, 1), sn_closure(add_to_diagonal, &t), 0);
}

static sn_scalar least_behind(void *env, sn_scalar k, sn_scalar least)
{
    const triangle *t = env;
    return sn_min(least, sn_index(t->a, t->j, sn_add(t->i, k)));
}

static sn_scalar pair(void *env, sn_scalar i, sn_scalar j)
{
    triangle t = *(const triangle *)env;
    t.i = i;
    t.j = j;
    return sn_loop(sn_sub(sn_extent(t.a, 1), i), sn_closure(least_behind, &t), sn_index(t.a, i, j));
}

static sn_acc triangles(sn_acc a)
{
    triangle t = {.a = a};
    return sn_results(sn_generate(sn_extent(a, 0), sn_closure(to_diagonal, &t)),
                      sn_generate(sn_shape_of(a), sn_closure(pair, &t)));
}

static void shapes(void **state)
{
    (void)state;
    both("[n,n]T -> [n]T, [n,n]T", triangles, "i8 u16 i32 u64 f32 f64", SMALL, 0, 1, 2, 33, 70, 150);
    both("[n,n]T -> [n]T, [n,n]T", triangles, "i16 i64 u8", MIXED, 40, 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(bits),
        cmocka_unit_test(failures),
        cmocka_unit_test(what_is_made_of_them),
        cmocka_unit_test(sums_that_lie_outside),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
