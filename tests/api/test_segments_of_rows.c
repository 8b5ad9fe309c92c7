/* Segments of rows, in arrays of one to three dimensions: folds, and results that go back to the elements of their own
 * segment. All rows are cut alike, so a gang of short segments goes from row to row. The device has the interpreter's
 * bits, and its own with fusion switched off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sinter/sinter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdbool.h>

enum { DEVICE, INTERPRETER, UNFUSED, CONTEXTS, MOST_RESULTS = 4, MOST = 60000, MOST_SEGMENTS = 20000 };

static sn_context *context[CONTEXTS];
static int rank; /* of what is compiled */

static bool on_cpu(void)
{
    const char *where = getenv("SINTER_DEVICE");
    return !where || strcmp(where, "cpu") == 0;
}

static sn_scalar length_of(sn_acc x)
{
    return sn_extent(x, rank - 1);
}

static sn_acc back(sn_acc lengths, sn_acc x, sn_acc a)
{
    return sn_replicate_seg(length_of(x), lengths, a);
}

/* Elements minus their segment's sum, and these beside the greatest of them: two sweeps, and a third. */
static sn_acc centred(sn_acc lengths, sn_acc x)
{
    sn_acc sum = sn_fold_seg(sn_add, 0, lengths, x);
    sn_acc y = sn_zip_with(sn_sub, x, back(lengths, x, sum));
    sn_acc most = sn_fold_seg(sn_max, 0, lengths, y);
    return sn_results(sum, sn_zip_with(sn_add, y, back(lengths, x, most)), most);
}

static sn_scalar exponential(sn_scalar x, sn_scalar most)
{
    return sn_exp(sn_sub(x, most));
}

static sn_acc softmax(sn_acc lengths, sn_acc x)
{
    sn_acc e = sn_zip_with(exponential, x, back(lengths, x, sn_fold_seg(sn_max, -1e9F, lengths, x)));
    return sn_zip_with(sn_div, e, back(lengths, x, sn_sum_seg(lengths, e)));
}

static sn_scalar halved(sn_scalar a, sn_scalar s)
{
    return sn_add(a, sn_mul(s, sn_f32(0.5F)));
}

/* What is made of results once a segment, and of what belongs to it, goes back, too. */
static sn_acc once(sn_acc lengths, sn_acc x)
{
    sn_acc sum = sn_sum_seg(lengths, x);
    sn_acc m = sn_zip_with(halved, sn_map(sn_sqrt, sn_map(sn_abs, sum)), sum);
    return sn_results(m, sn_zip_with(sn_mul, x, back(lengths, x, m)));
}

/* x -> a x + b, the left one applied first: order matters. */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

static sn_scalar as_map(sn_scalar x)
{
    return sn_tuple(sn_bit_or(x, sn_u32(1)), sn_add(x, sn_u32(7)));
}

static sn_scalar applied(sn_scalar x, sn_scalar f)
{
    return sn_add(sn_mul(sn_fst(f), x), sn_snd(f));
}

static sn_acc in_order(sn_acc lengths, sn_acc x)
{
    sn_acc f = sn_fold_seg(compose, sn_tuple(sn_u32(3), sn_u32(5)), lengths, sn_map(as_map, x));
    return sn_zip_with(applied, x, back(lengths, x, f));
}

static sn_scalar weight(sn_scalar place)
{
    return sn_to_f32(sn_rem(place, sn_i64(7)));
}

/* Weights by the place in the row, which all rows share: elements ask for their index. */
static sn_acc weights(sn_acc x)
{
    sn_acc w = sn_force(sn_map(weight, sn_iota(length_of(x))));
    sn_scalar n = sn_extent(x, 0);
    return rank == 1 ? w : rank == 2 ? sn_replicate(w, n, SN_ALL) : sn_replicate(w, n, sn_extent(x, 1), SN_ALL);
}

static sn_acc weighted(sn_acc lengths, sn_acc x)
{
    sn_acc y = sn_zip_with(sn_mul, x, weights(x)), sum = sn_sum_seg(lengths, y);
    return sn_results(sum, sn_zip_with(sn_sub, y, back(lengths, x, sum)));
}

/* Folds alone, and what is stored beside them. */
static sn_acc folds(sn_acc lengths, sn_acc x)
{
    sn_acc y = sn_zip_with(sn_mul, x, weights(x));
    return sn_results(sn_sum_seg(lengths, x), sn_fold_seg(sn_max, 0, lengths, x), sn_sum_seg(lengths, y));
}

static sn_acc sums(sn_acc lengths, sn_acc x)
{
    return sn_results(sn_sum_seg(lengths, sn_map(sn_exp, x)), sn_fold_seg(sn_min, 9, lengths, x));
}

/* The element for which its segment asks: it may not be there. */
static sn_scalar looked_up(void *vector, sn_scalar x, sn_scalar place)
{
    return sn_mul(x, sn_index(*(const sn_acc *)vector, sn_to_i64(place)));
}

static sn_acc of_vector(sn_acc lengths, sn_acc x)
{
    sn_acc vector = sn_force(sn_map(weight, sn_iota(100)));
    sn_acc most = sn_fold_seg(sn_max, 0, lengths, x);
    return sn_zip_with(sn_closure(looked_up, &vector), x, back(lengths, x, most));
}

/* Nobody knows an identity of it, and there is no seed: no segment may be empty. */
static sn_scalar either(sn_scalar a, sn_scalar b)
{
    return sn_add(sn_add(a, b), 1);
}

static sn_acc without_seed(sn_acc lengths, sn_acc x)
{
    sn_acc f = sn_fold1_seg(sn_commutative(either), lengths, x);
    return sn_results(f, sn_zip_with(sn_sub, x, back(lengths, x, f)));
}

enum { S = 1, N = 2 }; /* a result for each segment, or for each element */

typedef struct program {
    sn_acc (*body)(sn_acc, sn_acc);
    sn_type type;
    int result[MOST_RESULTS + 1];
} program;

static const char *name_of(sn_type t)
{
    return t == SN_F32   ? "f32"
           : t == SN_F64 ? "f64"
           : t == SN_I32 ? "i32"
           : t == SN_I64 ? "i64"
           : t == SN_I16 ? "i16"
           : t == SN_U8  ? "u8"
                         : "u32";
}

static size_t bytes_of(sn_type t)
{
    return t == SN_F64 || t == SN_I64 ? 8 : t == SN_I16 ? 2 : t == SN_U8 ? 1 : 4;
}

static sn_program *compile(int which, int r, const program *p)
{
    static const char *const dimensions[] = {"", "r,", "q,r,"};
    const char *type = name_of(p->type);
    char text[256];
    int at = snprintf(text, sizeof text, "[s]i64, [%sn]%s -> ", dimensions[r - 1], type);
    for (int i = 0; p->result[i]; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s[%s%c]%s", i ? ", " : "", dimensions[r - 1],
                       p->result[i] == S ? 's' : 'n', type);
    rank = r;
    sn_program *compiled = sn_compile_at(SN_HERE, context[which], text, SN_BODY(p->body));
    if (!compiled)
        fail_msg("%s", sn_message(context[which]));
    return compiled;
}

static union {
    double any;
    char bytes[8 * MOST];
} given, found[CONTEXTS][MOST_RESULTS];
static int64_t lengths[MOST_SEGMENTS];

static void make_elements(sn_type t, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double d = (double)(i * 7919 % 509 - 254) / 63;
        float f =
            (float)(i * 7919 % 509 - 254) / 64; /* products that are added up are rounded once, where they can be */
        int64_t word = i * 7919 % 1013;
        memcpy(given.bytes + (size_t)i * bytes_of(t),
               t == SN_F32   ? (void *)&f
               : t == SN_F64 ? (void *)&d
                             : &word,
               bytes_of(t));
    }
}

/* Rows of n elements: `outer` of them, as one dimension, or as two. */
static sn_arg argument(sn_arg_kind kind, sn_type type, void *data, int r, int64_t outer, int64_t last)
{
    sn_arg a = {.kind = kind, .type = type, .rank = r, .u = {.to = data}};
    a.extent[r - 1] = last;
    if (r == 2)
        a.extent[0] = outer;
    if (r == 3)
        a.extent[0] = outer % 3 ? 1 : 3, a.extent[1] = outer / a.extent[0];
    return a;
}

static sn_status call(sn_program *p, const program *of, int which, int r, int64_t rows, int64_t n, int64_t segments)
{
    sn_arg arg[2 + MOST_RESULTS] = {sn_in(lengths, segments), argument(SN_ARG_IN, of->type, given.bytes, r, rows, n)};
    int count = 2;
    for (int i = 0; of->result[i]; i++)
        arg[count++] =
            argument(SN_ARG_INTO, of->type, found[which][i].bytes, r, rows, of->result[i] == S ? segments : n);
    return sn_call_n(p, count, arg);
}

static const program programs[] = {
    {centred, SN_F32, {S, N, S}}, {centred, SN_F64, {S, N, S}},   {centred, SN_I32, {S, N, S}},
    {centred, SN_I64, {S, N, S}}, {centred, SN_I16, {S, N, S}},   {centred, SN_U8, {S, N, S}},
    {softmax, SN_F32, {N}},       {softmax, SN_F64, {N}},         {once, SN_F32, {S, N}},
    {in_order, SN_U32, {N}},      {weighted, SN_F32, {S, N}},     {folds, SN_F32, {S, S, S}},
    {sums, SN_F32, {S, S}},       {without_seed, SN_F32, {S, N}}, {of_vector, SN_F32, {N}},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static sn_program *compiled[PROGRAMS][3][CONTEXTS];

/* Lengths of a row: equal, few, uneven, with longer ones, with none at all. */
static int64_t make_lengths(int kind, int64_t *segments)
{
    static const int64_t number[] = {2, 1, 3, 8, 9, 40, 70, 150, 33, 64, 0, 1, 5, 7, 300};
    int64_t n = 0, s = number[kind];
    for (int64_t i = 0; i < s; i++) {
        const int64_t some[] = {4,
                                5,
                                3,
                                i == 7 ? 5 : 4,
                                rand() % 9,
                                rand() % 34,
                                1 + rand() % 8,
                                rand() % 6,
                                1,
                                32,
                                0,
                                5000,
                                i == 2 ? 4500 : rand() % 100,
                                0,
                                rand() % 80 ? rand() % 5 : 33 + rand() % 100};
        n += lengths[i] = some[kind];
    }
    *segments = s;
    return n;
}
enum { KINDS = 15 };

static void same(int k, int r, int64_t rows, int64_t n, int64_t segments, int kind)
{
    const program *p = &programs[k];
    bool empty = false; /* a segment is, and may not be */
    for (int which = 0; which < CONTEXTS; which++) {
        sn_status status = call(compiled[k][r - 1][which], p, which, r, rows, n, segments);
        if (status == SN_EMPTY_FOLD && p->body == without_seed && (!which || empty)) {
            empty = true;
            continue;
        }
        if (status != SN_OK || empty)
            fail_msg("program %d, rank %d, %d: %s", k, r, kind, sn_message(context[which]));
        for (int i = 0; p->result[i] && which; i++) {
            size_t each = bytes_of(p->type), all = (size_t)(rows * (p->result[i] == S ? segments : n));
            for (size_t at = 0; at < all; at++)
                if (memcmp(found[0][i].bytes + at * each, found[which][i].bytes + at * each, each) != 0)
                    fail_msg("program %d, rank %d, lengths %d, %lld rows: result %d, element %lld has other bits %s", k,
                             r, kind, (long long)rows, i, (long long)at, which == UNFUSED ? "unfused" : "interpreted");
        }
    }
}

static void any_rows(void **state)
{
    (void)state;
    srand(7);
    const bool all = getenv("SINTER_TEST_LONG") != NULL, sample = getenv("SINTER_TEST_SAMPLE") != NULL;
    const int share = all ? 1 : sample ? 25 : 3;
    static const int64_t rows[] = {64, 1, 3, 192, 1000, 0}; /* of some all gangs are whole */
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 6; i++) {
            int64_t segments, n = make_lengths(kind, &segments);
            if (rows[i] * (n > segments ? n : segments) > MOST || (sample && (kind + i) % 3))
                continue;
            for (int k = 0; k < PROGRAMS; k++)
                for (int r = 2; r <= 3; r++) {
                    if ((k + kind + i) % share || (!all && r != 2 + k % 2))
                        continue;
                    make_elements(programs[k].type, rows[i] * n);
                    same(k, r, rows[i], n, segments, kind);
                }
            for (int k = 0; k < PROGRAMS && rows[i] == 1; k += all ? 1 : 4) {
                make_elements(programs[k].type, n);
                same(k, 1, 1, n, segments, kind);
            }
        }
}

/* Of all ranks, on devices whose blocks are a thread. */
static void one_loop(void **state)
{
    (void)state;
    for (int k = 0; k < PROGRAMS && on_cpu(); k++)
        for (int r = 1; r <= 3; r++) {
            const char *loop = strstr(sn_explain(compiled[k][r - 1][DEVICE], "clusters"), "segment loop over");
            assert_non_null(loop);
            const char *large = strstr(loop, "where the parameters have more than"); /* these are other loops */
            const char *more = strstr(loop + 1, "segment loop over");
            if (more && (!large || more < large))
                fail_msg("program %d, rank %d: %s", k, r, loop);
        }
}

/* The same words, with the same line, wherever the mistake is. */
static void wrong_lengths(void **state)
{
    (void)state;
    enum { ROWS = 64 };
    static const struct {
        int64_t length[6], n, s;
        const char *said;
    } wrong[] = {
        {{3, 1, 2}, 7, 3, "up to number 2 have 6 elements, but there are 7"},
        {{3, 1, 2}, 5, 3, "up to number 2 have 6 elements, but there are 5"},
        {{3, -1, 2}, 4, 3, "segment 1 has the length -1"},
        {{4, 4}, 9, 2, "up to number 1 have 8 elements, but there are 9"},
        {{4, 4}, 7, 2, "up to number 1 have 8 elements, but there are 7"},
        {{4, 9, -5}, 8, 3, "segment 2 has the length -5"},
        {{0}, 3, 0, "there are no segments, but 3 elements"},
    };
    static const int some[] = {0, 9, 10, 11};
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 4; k++)
            for (int r = 2; r <= 3; r++) {
                if (!getenv("SINTER_TEST_LONG") && r != 2 + k % 2)
                    continue;
                memcpy(lengths, wrong[i].length, sizeof wrong[i].length);
                make_elements(programs[some[k]].type, ROWS * wrong[i].n);
                for (int which = 0; which < CONTEXTS; which++) {
                    sn_program *p = compiled[some[k]][r - 1][which];
                    assert_int_equal(call(p, &programs[some[k]], which, r, ROWS, wrong[i].n, wrong[i].s),
                                     SN_BAD_SEGMENTS);
                    const char *message = sn_message(context[which]);
                    if (!strstr(message, wrong[i].said) || !strstr(message, "test_segments_of_rows.c:"))
                        fail_msg("%s: %s", wrong[i].said, message);
                }
            }
}

/* The same of a segment that may not be empty, with the number that it has in its row. */
static void an_empty_segment(void **state)
{
    (void)state;
    static const program fold = {without_seed, SN_F32, {S, N}};
    const int64_t some[] = {3, 0, 2, 3};
    memcpy(lengths, some, sizeof some);
    make_elements(SN_F32, (int64_t)64 * 8);
    for (int which = 0; which < CONTEXTS; which++) {
        sn_program *p = compile(which, 2, &fold);
        assert_int_equal(call(p, &fold, which, 2, 64, 8, 4), SN_EMPTY_FOLD);
        assert_non_null(strstr(sn_message(context[which]), "segment 1 is empty"));
        sn_drop(p);
    }
}

static sn_acc from_offsets(sn_acc offsets, sn_acc x)
{
    return softmax(sn_segments_from_offsets(offsets), x);
}

static sn_acc sums_from_offsets(sn_acc offsets, sn_acc x)
{
    sn_acc f = sn_sum_seg(sn_segments_from_offsets(offsets), x);
    return sn_zip_with(sn_add, x, back(sn_segments_from_offsets(offsets), x, sn_map(sn_abs, f)));
}

/* Offsets that begin too late, end too early, or leave the row on their way, are an error, and change nothing behind
 * the result. */
static void wrong_offsets(void **state)
{
    (void)state;
    enum { ROWS = 64, COLUMNS = 100, SEGMENTS = 256 };
    static const program wrong[] = {{from_offsets, SN_F32, {N}}, {sums_from_offsets, SN_F32, {N}}};
    for (int i = 0; i < 8; i++) {
        const bool few = i < 6;
        int64_t s = few ? i % 3 + 2 : SEGMENTS, n = few ? 4 * s : COLUMNS;
        for (int64_t k = 0; k <= s; k++)
            lengths[k] = few ? 4 * k : k < 164 ? k : COLUMNS;
        lengths[0] = few && i % 2;
        lengths[s] -= few && !(i % 2);
        make_elements(SN_F32, ROWS * n);
        for (int which = 0; which < CONTEXTS; which++)
            for (int k = 0; k < 2; k++) {
                sn_program *p = compile(which, 2, &wrong[k]);
                memset(found[which][0].bytes, 77, sizeof found[which][0].bytes);
                assert_int_equal(call(p, &wrong[k], which, 2, ROWS, n, s + 1), SN_BAD_SEGMENTS);
                for (int64_t at = ROWS * n * 4; at < ROWS * n * 4 + 16384; at++)
                    assert_int_equal(found[which][0].bytes[at], 77);
                sn_drop(p);
            }
    }
}

/* What cannot be had is said to be so by the program's own numbers. */
static void a_place_that_is_not_there(void **state)
{
    (void)state;
    enum { ROWS = 100, COLUMNS = 33, SEGMENTS = 8 };
    for (int i = 0; i < SEGMENTS; i++)
        lengths[i] = i == SEGMENTS - 1 ? 5 : 4;
    make_elements(SN_F32, ROWS * COLUMNS);
    float far = 12345;
    memcpy(given.bytes + (size_t)4 * (COLUMNS * 57 + 11), &far, sizeof far);
    for (int which = 0; which < CONTEXTS; which++) {
        assert_int_equal(
            call(compiled[PROGRAMS - 1][1][which], &programs[PROGRAMS - 1], which, 2, ROWS, COLUMNS, SEGMENTS),
            SN_OUT_OF_RANGE);
        if (!strstr(sn_message(context[which]), " 12345"))
            fail_msg("%s", sn_message(context[which]));
    }
}

int main(void)
{
    sn_options interpreted = {.size = sizeof interpreted, .device = "interpreter"};
    sn_options unfused = {.size = sizeof unfused, .fusion = SN_OFF};
    context[DEVICE] = sn_open(NULL);
    context[INTERPRETER] = sn_open(&interpreted);
    context[UNFUSED] = sn_open(&unfused);
    for (int k = 0; k < PROGRAMS; k++)
        for (int r = 1; r <= 3; r++)
            for (int which = 0; which < CONTEXTS; which++)
                compiled[k][r - 1][which] = compile(which, r, &programs[k]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_rows),      cmocka_unit_test(one_loop),
                                       cmocka_unit_test(wrong_lengths), cmocka_unit_test(an_empty_segment),
                                       cmocka_unit_test(wrong_offsets), cmocka_unit_test(a_place_that_is_not_there)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int k = 0; k < PROGRAMS; k++)
        for (int r = 1; r <= 3; r++)
            for (int which = 0; which < CONTEXTS; which++)
                sn_drop(compiled[k][r - 1][which]);
    for (int which = 0; which < CONTEXTS; which++)
        sn_close(context[which]);
    return failed;
}
