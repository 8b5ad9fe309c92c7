/* Scans and packs as terms: texts in and out, what the builders and the checker refuse, and the interpreter's results
 * against those worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/interpret.h"
#include "support/program_text.h"

/* --- texts --- */

static const char *const golden[] = {
    "extents n, m\n"
    "a1 = input [n, m](f32, i64)\n"
    "a2 = scan a1 {x1: f32, x2: i64, x3: f32, x4: i64 -> x1 + x3, max(x2, x4)}\n"
    "a3 = scan a1 seed 0.0f32, m {x1: f32, x2: i64, x3: f32, x4: i64 -> x1 + x3, max(x2, x4)}\n"
    "a4 = prescan: scan exclusive a1 seed 0.0f32, 3 {x1: f32, x2: i64, x3: f32, x4: i64 -> x1 * x3, x4}\n"
    "a5 = scan right a1 {x1: f32, x2: i64, x3: f32, x4: i64 -> x1 + x3, x2}\n"
    "a6 = scan exclusive right fused step a1 seed 0.0f32, 1 {x1: f32, x2: i64, x3: f32, x4: i64 -> x1, x4}\n"
    "a7 = scan exclusive right step behind 1 a1 seed 0.0f32, 1 {x1: f32, x2: i64, x3: f32, x4: i64 -> x1, x4}\n"
    "output a2, a3, a4, a5, a6, a7\n",
    /* two packs by the same share their extent */
    "site 1 \"pack.c\":7 \"filter\"\n"
    "extents n\n"
    "a1 = input [n]bool\n"
    "a2 = input [n](f32, u8)\n"
    "a3 = map step a1 {x1: bool -> i64(x1)}\n"
    "a4 = fold commutes step a3 seed 0 {x1: i64, x2: i64 -> x1 + x2}\n"
    "c1 = a4[safe]\n"
    "a5 = filter: pack@1 [c1] a1, a2\n"
    "a6 = pack [c1] a1, a1\n"
    "a7 = map a5, a6 {x1: f32, x2: u8, x3: bool -> x1}\n"
    "a8 = generate [c1 + 1] {x1: i64 -> x1 * c1}\n"
    "output a7, a8\n",
};

static void golden_texts(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(golden); k++) {
        arena a;
        arena_init(&a, NULL);
        assert_string_equal(print(&a, parse(&a, golden[k])), golden[k]);
        arena_free(&a);
    }
}

static void a_pack_makes_its_count(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    const char *source = "extents n k = input [n]bool x = input [n]f32 y = pack k, x z = pack k, k output y, z";
    assert_string_equal(print(&a, parse(&a, source)),
                        "extents n\n"
                        "a1 = input [n]bool\n"
                        "a2 = input [n]f32\n"
                        "a3 = map step a1 {x1: bool -> i64(x1)}\n"
                        "a4 = fold commutes step a3 seed 0 {x1: i64, x2: i64 -> x1 + x2}\n"
                        "c1 = a4[safe]\n"
                        "a5 = pack [c1] a1, a2\n"
                        "a6 = pack [c1] a1, a1\n"
                        "output a5, a6\n");
    arena_free(&a);
}

static void wrong_texts(void **state)
{
    static const struct {
        const char *source, *message;
    } cases[] = {
        {"s = input []f32 t = scan s {x: f32, y: f32 -> x + y}", "an array of rank 0 has no dimension to scan"},
        {"t = scan behind 1 v {x: f32, y: f32 -> x + y}", "no dimension with 1 others behind it"},
        {"t = scan behind v {x: f32, y: f32 -> x + y}", "expected a number at `v`"},
        {"t = scan exclusive v {x: f32, y: f32 -> x + y}", "an exclusive scan begins with its initial value"},
        {"t = scan v seed 1 {x: f32, y: f32 -> x + y}",
         "the initial value is of type i64, but the elements of type f32"},
        {"t = scan v seed 1.0f32, 2.0f32 {x: f32, y: f32 -> x + y}", "2 initial values, but 1 components"},
        {"t = scan v {x: f32, y: f32 -> x < y}", "the function must give what it combines, f32, but gives bool"},
        {"t = scan v {x: f32 -> x}", "the function takes f32, but is given f32, f32"},
        {"t = scan v, v {x: f32, y: f32 -> x + y}", "scan takes one array"},
        {"t = scan commutes v {x: f32, y: f32 -> x + y}", "expected"},
        {"t = pack k", "expected two arrays, and at most one extent"},
        {"t = pack v, v", "what is kept is said by single values of type bool, not by f32"},
        {"t = pack k, w", "both have to be 1"},
        {"t = pack k, short", "the operands' extents differ in dimension 0: 5 and 3"},
        {"t = pack [5] k, v", "expected an extent that reads the sum of the first array"},
        {"t = pack [n] k, v", "expected an extent that reads the sum of the first array"},
        {"m = map v {x: f32 -> i64(x)} c = fold m seed 0 {x: i64, y: i64 -> x + y} t = pack [c[]] k, v",
         "expected an extent that reads the sum"},
        {"m = map k {x: bool -> i64(x)} c = fold m seed 1 {x: i64, y: i64 -> x + y} t = pack [c[]] k, v",
         "expected an extent that reads the sum"},
        {"m = map k {x: bool -> i64(x)} c = fold m {x: i64, y: i64 -> x + y} t = pack [c[]] k, v",
         "expected an extent that reads the sum"},
        {"m = map k {x: bool -> i64(x)} c = fold m seed 0 {x: i64, y: i64 -> max(x, y)} t = pack [c[]] k, v",
         "expected an extent that reads the sum"},
        {"m = map k {x: bool -> i64(!x)} c = fold m seed 0 {x: i64, y: i64 -> x + y} t = pack [c[]] k, v",
         "expected an extent that reads the sum"},
        {"m = map k {x: bool -> i64(x)} c = fold m seed 0 {x: i64, y: i64 -> x + y} t = pack [c[] + 1] k, v",
         "expected an extent that reads the sum"},
        {"m = map k {x: bool -> i64(x)} c = fold m seed 0 {x: i64, y: i64 -> x + y} t = pack [c[], 1] k, v",
         "expected two arrays, and at most one extent"},
    };
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(cases); k++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = NULL;
        const char *source = arena_printf(&a,
                                          "extents n v = input [5]f32 k = input [5]bool w = input [5, n]f32 "
                                          "short = input [3]f32 %s output t",
                                          cases[k].source);
        if (ir_parse(&a, source, &message))
            fail_msg("accepted: %s", source);
        if (!strstr(message, cases[k].message))
            fail_msg("%s\nsays: %s\nnot: %s", cases[k].source, message, cases[k].message);
        arena_free(&a);
    }
}

/* What the checker finds when a pass has gone wrong. */
static void damaged_programs(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    ir_program *p = parse(&a, "extents n v = input [n]i64 k = input [n]bool s = scan v {x: i64, y: i64 -> x + y} "
                              "t = pack k, v u = pack k, s output t, u");
    ir_id t = p->output.at[0], u = p->output.at[1], s = ir_info(p, u)->input[1];
    const char *why = NULL;
    p->node.at[s].flags |= IR_EXCLUSIVE;
    assert_false(ir_check_program(p, &a, &why));
    assert_non_null(strstr(why, "an exclusive scan without initial value"));
    p->node.at[s].flags = 0;
    ir_id extent = p->node.at[t].u.info->shape[0];
    p->node.at[t].u.info->shape[0] = ir_dim(p, "n");
    assert_false(ir_check_program(p, &a, &why));
    assert_non_null(strstr(why, "the extent does not count"));
    p->node.at[t].u.info->shape[0] = extent;
    ir_id keep = p->node.at[t].u.info->input[0];
    p->node.at[t].u.info->input[0] = p->node.at[t].u.info->input[1];
    assert_false(ir_check_program(p, &a, &why));
    assert_non_null(strstr(why, "packs other than one row by bools"));
    p->node.at[t].u.info->input[0] = keep;
    assert_true(ir_check_program(p, &a, &why));
    arena_free(&a);
}

/* --- meaning --- */

enum { MOST = 24, ANY = -1 };

typedef struct meaning {
    const char *source; /* of inputs x: i64 [rank 1 or 2] and k: bool, as many as it declares */
    int64_t extent[2];  /* of x */
    int64_t x[MOST];
    bool k[MOST];
    int64_t rank, out_extent[2]; /* of the first result */
    int64_t out[MOST];
} meaning;

#define ROWS "extents n, m x = input [n, m]i64 "
#define ROW "extents n x = input [n]i64 k = input [n]bool "
#define SUM "{a: i64, b: i64 -> a + b}"
/* Associative, and neither commutes nor has an identity on all pairs: the affine maps v -> a v + b, composed. */
#define AFFINE "{a: i64, b: i64, c: i64, d: i64 -> a * c, b * c + d}"

static const meaning meanings[] = {
    {ROW "s = scan x " SUM " output s", {5}, {1, 2, 3, 4, 5}, {0}, 1, {5}, {1, 3, 6, 10, 15}},
    {ROW "s = scan x seed 100 " SUM " output s", {5}, {1, 2, 3, 4, 5}, {0}, 1, {5}, {101, 103, 106, 110, 115}},
    /* the example of Accelerate's thesis, §2.4.2 */
    {ROW "s = scan exclusive x seed 0 " SUM " output s",
     {8},
     {13, 7, 16, 21, 8, 20, 13, 12},
     {0},
     1,
     {8},
     {0, 13, 20, 36, 57, 65, 85, 98}},
    {ROW "s = scan right x " SUM " output s", {5}, {1, 2, 3, 4, 5}, {0}, 1, {5}, {15, 14, 12, 9, 5}},
    {ROW "s = scan right x seed 100 " SUM " output s", {5}, {1, 2, 3, 4, 5}, {0}, 1, {5}, {115, 114, 112, 109, 105}},
    {ROW "s = scan exclusive right x seed 100 " SUM " output s",
     {5},
     {1, 2, 3, 4, 5},
     {0},
     1,
     {5},
     {114, 112, 109, 105, 100}},
    /* one element, none */
    {ROW "s = scan x " SUM " output s", {1}, {7}, {0}, 1, {1}, {7}},
    {ROW "s = scan exclusive x seed 3 " SUM " output s", {1}, {7}, {0}, 1, {1}, {3}},
    {ROW "s = scan exclusive right x seed 3 " SUM " output s", {1}, {7}, {0}, 1, {1}, {3}},
    {ROW "s = scan x " SUM " output s", {0}, {0}, {0}, 1, {0}, {0}},
    {ROW "s = scan right x seed 4 " SUM " output s", {0}, {0}, {0}, 1, {0}, {0}},
    /* each row by itself */
    {ROWS "s = scan x " SUM " output s", {2, 3}, {1, 2, 3, 10, 20, 30}, {0}, 2, {2, 3}, {1, 3, 6, 10, 30, 60}},
    {ROWS "s = scan behind 1 x " SUM " output s", {2, 3}, {1, 2, 3, 10, 20, 30}, {0}, 2, {2, 3}, {1, 2, 3, 11, 22, 33}},
    {ROWS "s = scan right behind 1 x seed 5 " SUM " output s",
     {2, 3},
     {1, 2, 3, 10, 20, 30},
     {0},
     2,
     {2, 3},
     {16, 27, 38, 15, 25, 35}},
    {ROWS "s = scan exclusive right x seed 5 " SUM " output s",
     {2, 3},
     {1, 2, 3, 10, 20, 30},
     {0},
     2,
     {2, 3},
     {10, 8, 5, 55, 35, 5}},
    {ROWS "s = scan x " SUM " output s", {3, 0}, {0}, {0}, 2, {3, 0}, {0}},
    {ROWS "s = scan x seed m " SUM " output s", {1, 2}, {1, 2}, {0}, 2, {1, 2}, {3, 5}},
    /* the left operand is the one further left, from either end: the second components of the affine maps so far */
    {ROW "p = map x {v: i64 -> v, v + 1} s = scan p " AFFINE " t = map s {a: i64, b: i64 -> b} output t",
     {3},
     {2, 3, 4},
     {0},
     1,
     {3},
     {3, 13, 57}},
    {ROW "p = map x {v: i64 -> v, v + 1} s = scan right p " AFFINE " t = map s {a: i64, b: i64 -> b} output t",
     {3},
     {2, 3, 4},
     {0},
     1,
     {3},
     {57, 21, 5}},
    {ROW "p = map x {v: i64 -> v, v + 1} s = scan exclusive p seed 2, 1 " AFFINE
         " t = map s {a: i64, b: i64 -> b} output t",
     {3},
     {2, 3, 4},
     {0},
     1,
     {3},
     {1, 5, 19}},
    {ROW "p = map x {v: i64 -> v, v + 1} s = scan right p seed 2, 1 " AFFINE
         " t = map s {a: i64, b: i64 -> b} output t",
     {3},
     {2, 3, 4},
     {0},
     1,
     {3},
     {115, 43, 11}},
    /* packs */
    {ROW "y = pack k, x output y", {5}, {1, 2, 3, 4, 5}, {1, 0, 0, 1, 1}, 1, {3}, {1, 4, 5}},
    {ROW "y = pack k, x output y", {3}, {1, 2, 3}, {0}, 1, {0}, {0}},
    {ROW "y = pack k, x output y", {2}, {1, 2}, {1, 1}, 1, {2}, {1, 2}},
    {ROW "y = pack k, x output y", {0}, {0}, {0}, 1, {0}, {0}},
    /* its extent in scalar code, and as an extent */
    {ROW "y = pack k, x c = map k {b: bool -> i64(b)} n1 = fold c seed 0 " SUM
         " g = generate [n1[] * 2] {i: i64 -> i + n1[]} output g",
     {5},
     {1, 2, 3, 4, 5},
     {1, 0, 0, 1, 0},
     1,
     {4},
     {2, 3, 4, 5}},
    /* a pack of a scan of a pack */
    {ROW "y = pack k, x s = scan y " SUM " big = map s {v: i64 -> v > 4} z = pack big, s output z",
     {6},
     {1, 2, 3, 4, 5, 6},
     {1, 1, 0, 1, 0, 1},
     1,
     {2},
     {7, 13}},
};

static void scans_and_packs(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(meanings); k++) {
        const meaning *m = &meanings[k];
        arena a;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, m->source);
        unsigned rank = ir_info(p, p->input.at[0])->rank;
        ir_value in[2] = {{.rank = (uint8_t)rank,
                           .components = 1,
                           .type = {T_I64},
                           .extent = {m->extent[0], m->extent[1]},
                           .data = {(void *)(uintptr_t)m->x}},
                          {.rank = 1,
                           .components = 1,
                           .type = {T_BOOL},
                           .extent = {m->extent[0]},
                           .data = {(void *)(uintptr_t)m->k}}};
        ir_value out[2];
        ir_failure failure = {0};
        ir_faults faults;
        if (!ir_interpret(p, &a, in, out, &failure))
            fail_msg("%s\n%s", failure.message, m->source);
        int64_t size = 1;
        assert_int_equal(out[0].rank, m->rank);
        for (unsigned d = 0; d < out[0].rank; d++) {
            assert_int_equal(out[0].extent[d], m->out_extent[d]);
            size *= out[0].extent[d];
        }
        for (int64_t i = 0; i < size; i++)
            if (((int64_t *)out[0].data[0])[i] != m->out[i])
                fail_msg("element %d is %d, not %d\n%s", (int)i, (int)((int64_t *)out[0].data[0])[i], (int)m->out[i],
                         m->source);
        assert_true(ir_interpret_lazily(p, &a, in, out, &faults));
        assert_memory_equal(out[0].data[0], m->out, (size_t)size * sizeof(int64_t));
        arena_free(&a);
    }
}

/* A permute of so many elements has totals of its own in each block: places without a value stay so, whatever the
 * totals of others are. */
static void permutes_in_blocks(void **state)
{
    (void)state;
    enum { ELEMENTS = 70000, PLACES = 4 };
    for (int bad = 0; bad < 2; bad++) {
        arena a;
        arena_init(&a, NULL);
        const char *message = "";
        ir_program *p = ir_parse(&a,
                                 "extents n\nsite 1 \"f.c\":1 \"quot\"\nd = input [4]i64\nx = input [n]i64\n"
                                 "q = map d {v: i64 -> quot@1(12, v)}\nt = map x {v: i64 -> rem(v, 2)}\n"
                                 "p = permute q, t, x {new: i64, old: i64 -> old + new}\noutput p\n",
                                 &message);
        if (!p)
            fail_msg("%s", message);
        int64_t *x = arena_alloc(&a, ELEMENTS * 8), d[PLACES] = {3, 2, bad ? 0 : 6, 4}, sum[2] = {4, 6};
        for (int64_t i = 0; i < ELEMENTS; i++) {
            x[i] = i * i % 1000;
            sum[x[i] % 2] += x[i];
        }
        ir_value in[2] = {{.rank = 1, .components = 1, .type = {T_I64}, .extent = {PLACES}, .data = {d}},
                          {.rank = 1, .components = 1, .type = {T_I64}, .extent = {ELEMENTS}, .data = {x}}},
                 out[1];
        ir_faults faults;
        assert_true(ir_interpret_lazily(p, &a, in, out, &faults) == !bad);
        assert_int_equal(faults.all.n, bad);
        assert_true(faults.needed == (bool)bad);
        if (!bad)
            assert_memory_equal(out[0].data[0], ((int64_t[]){sum[0], sum[1], 2, 3}), PLACES * 8);
        arena_free(&a);
    }
}

/* --- errors --- */

typedef struct fault {
    const char *source;
    int64_t x[4];
    ir_mistake mistake;
    int64_t element, value;
    bool lazily; /* it fails lazily, too */
} fault;

/* quotients of 12 by x, which fail where it is 0 */
#define Q "site 1 \"f.c\":1 \"quot\" q = map x {v: i64 -> quot@1(12, v)} "

static const fault wrong[] = {
    {ROW Q "s = scan q " SUM " output s", {1, 2, 0, 3}, IR_WRONG_ARITHMETIC, 2, 0, true},
    /* behind the element that failed there is nothing; before it there is */
    {ROW Q "s = scan q " SUM " t = generate [] {-> s[1]} output t", {1, 2, 0, 3}, IR_WRONG_ARITHMETIC, 2, 0, false},
    {ROW Q "s = scan q " SUM " t = generate [] {-> s[3]} output t", {1, 2, 0, 3}, IR_WRONG_ARITHMETIC, 2, 0, true},
    {ROW Q "s = scan right q " SUM " t = generate [] {-> s[3]} output t",
     {1, 2, 0, 3},
     IR_WRONG_ARITHMETIC,
     2,
     0,
     false},
    /* the last element takes no part in an exclusive scan */
    {ROW Q "s = scan exclusive q seed 0 " SUM " output s", {1, 2, 3, 0}, IR_WRONG_ARITHMETIC, 3, 0, false},
    {ROW Q "s = scan exclusive right q seed 0 " SUM " output s", {0, 2, 3, 1}, IR_WRONG_ARITHMETIC, 0, 0, false},
    {ROW "s = scan x {a: i64, b: i64 -> quot@1(a, b)} output s", {1, 0, 3, 4}, IR_WRONG_ARITHMETIC, 0, 0, true},
    /* what is dropped may have failed */
    {ROW Q "j = map x {v: i64 -> v != 0} y = pack j, q output y", {1, 2, 0, 3}, IR_WRONG_ARITHMETIC, 2, 0, false},
    {ROW Q "j = map x {v: i64 -> v != 2} y = pack j, q output y", {1, 2, 0, 3}, IR_WRONG_ARITHMETIC, 2, 0, true},
    /* who does not know what is kept, knows nothing */
    {ROW Q "j = map q {v: i64 -> v > 5} y = pack j, x output y", {1, 2, 0, 3}, IR_WRONG_ARITHMETIC, 2, 0, true},
};

static void errors(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(wrong); k++) {
        const fault *f = &wrong[k];
        arena a;
        arena_init(&a, NULL);
        const char *at = strstr(f->source, "site 1");
        ir_program *p = parse(&a, at ? f->source : arena_printf(&a, "site 1 \"f.c\":1 %s", f->source));
        bool keep[4] = {true, true, true, true};
        ir_value in[2] = {
            {.rank = 1, .components = 1, .type = {T_I64}, .extent = {4}, .data = {(void *)(uintptr_t)f->x}},
            {.rank = 1, .components = 1, .type = {T_BOOL}, .extent = {4}, .data = {keep}}};
        ir_value out[2];
        ir_failure failure = {0};
        ir_faults faults;
        assert_false(ir_interpret(p, &a, in, out, &failure));
        assert_int_equal(failure.mistake, f->mistake);
        assert_int_equal(failure.element, f->element);
        assert_int_equal(failure.value, f->value);
        if (ir_interpret_lazily(p, &a, in, out, &faults) == f->lazily)
            fail_msg("lazily it %s\n%s", f->lazily ? "does not fail" : "fails", f->source);
        assert_true(faults.all.n >= 1);
        arena_free(&a);
    }
}

/* Extents that only the run tells are compared then. */
static void different_extents(void **state)
{
    (void)state;
    arena a;
    arena_init(&a, NULL);
    ir_program *p = parse(&a, "extents n, m k = input [n]bool j = input [n]bool x = input [m]i64 "
                              "y = pack k, x z = pack k, k w = pack j, x "
                              "v = map y, z {a: i64, b: bool -> a} u = map y, w {a: i64, b: i64 -> a + b} output v, u");
    assert_int_equal(p->check.n, 2); /* n == m; and what two packs keep, but not of one mask */
    bool k[4] = {true, false, true, true}, j[4] = {false, true, true, true}, i[4] = {true, true, true, true};
    int64_t x[4] = {1, 2, 3, 4};
    ir_value in[3] = {{.rank = 1, .components = 1, .type = {T_BOOL}, .extent = {4}, .data = {k}},
                      {.rank = 1, .components = 1, .type = {T_BOOL}, .extent = {4}, .data = {j}},
                      {.rank = 1, .components = 1, .type = {T_I64}, .extent = {4}, .data = {x}}};
    ir_value out[2];
    ir_failure failure = {0};
    assert_true(ir_interpret(p, &a, in, out, &failure));
    const int64_t sums[3] = {1 + 2, 3 + 3, 4 + 4};
    assert_memory_equal(out[1].data[0], sums, sizeof(sums));
    in[1].data[0] = i;
    assert_false(ir_interpret(p, &a, in, out, &failure));
    assert_int_equal(failure.mistake, IR_WRONG_SHAPES);
    assert_non_null(strstr(failure.message, "3 and 4"));
    in[2].extent[0] = 3;
    assert_false(ir_interpret(p, &a, in, out, &failure));
    assert_non_null(strstr(failure.message, "pack: the operands' extents differ in dimension 0: 4 and 3"));
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_texts),       cmocka_unit_test(a_pack_makes_its_count),
                                       cmocka_unit_test(wrong_texts),        cmocka_unit_test(damaged_programs),
                                       cmocka_unit_test(scans_and_packs),    cmocka_unit_test(errors),
                                       cmocka_unit_test(permutes_in_blocks), cmocka_unit_test(different_extents)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
