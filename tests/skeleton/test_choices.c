/* Folds that choose an element by its key, along rows and along columns: every type of keys, extents around registers,
 * rounds and groups of lines, keys that are nothing but NaNs and the worst one, against the reference interpreter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "run_clusters.h"

static const l_options options = {.fuse = true, .cost_model = true};
static const sk_options devices[] = {
    {.vector_bytes = 16, .workers = 1},
    {.vector_bytes = 32, .workers = 5},
    {.vector_bytes = 64, .workers = 2},
    {.group = 64, .scratch = 16 << 10, .workers = 2},
    {.group = 1024, .gang = 32, .scratch = 48 << 10, .workers = 2},
};

typedef enum { FEW_KEYS, ANY_KEYS, WORST_KEYS, BEST_LAST, FEW_NANS, FILLS } filling;

/* Of keys a on the left and b on the right: is the right element taken? */
static const char *const taken[] = {"b > a", "b < a", "b >= a"};
static const char *const taken_of_floats[] = {
    "b > a || (a != a && b == b)",
    "b < a || (a != a && b == b)",
    "b >= a || (a != a && b == b)",
    /* a NaN on the left stays, or one on the right is taken */
    "b > a",
    "b <= a",
    "!(b <= a)",
    "!(b > a)",
};

static const ir_type types[] = {T_U8, T_I8, T_I16, T_U32, T_I64, T_F32, T_F64};

/* The best element of each row of x, or of each of its columns, and where it is. `indexed`: keys depend on where they
 * are. */
static ir_program *program_of(arena *a, ir_type t, size_t choice, bool columns, bool indexed)
{
    const char *message = "", *name = ir_type_name(t);
    const char *taken_if = (ir_type_float(t) ? taken_of_floats : taken)[choice];
    text source;
    text_init(&source, a);
    text_printf(&source, "extents n, m\nx = input [n, m]%s\n", name);
    if (columns)
        text_add(&source, "y = backpermute safe [m, n] x {i: i64, j: i64 -> j, i}\n");
    text_printf(&source, "p = map indexed %s {i: i64, j: i64, v: %s -> v", columns ? "y" : "x", name);
    if (indexed)
        text_printf(&source, " + %s(rem(j, 3))", name);
    text_printf(&source,
                ", j}\ns = fold p {a: %s, c: i64, b: %s, d: i64 -> if %s then b else a, if %s then d else c}\n", name,
                name, taken_if, taken_if);
    text_add(&source, "output s\n");
    ir_program *p = ir_parse(a, text_close(&source), &message);
    if (!p)
        fail_msg("%s", message);
    return p;
}

static double random_key(ir_type t, filling how, bool last)
{
    static const double worst[] = {NAN, -INFINITY, INFINITY};
    int r = rand() >> 5;
    switch (how) {
    case FEW_KEYS:
        return r % 3;
    case WORST_KEYS:
        return ir_type_float(t) ? worst[r % 100 ? r / 100 % 2 : 2 * (r / 100 % 2)] : 0;
    case BEST_LAST:
        return last ? 100 : 1 + r % 2;
    case FEW_NANS:
        return ir_type_float(t) && r % 1500 == 0 ? worst[0] : r % 97;
    default:
        return ir_type_float(t) && r % 50 == 0 ? worst[r / 50 % 3] : r % 97;
    }
}

static void put(ir_type t, void *data, int64_t i, double x)
{
    const int64_t whole = ir_type_float(t) ? 0 : (int64_t)x;
    if (t == T_F32)
        ((float *)data)[i] = (float)x;
    else if (t == T_F64)
        ((double *)data)[i] = x;
    else
        memcpy((char *)data + (size_t)i * ir_type_size(t), &whole, ir_type_size(t)); /* bytes: the lowest first */
}

static void fill(ir_value *v, ir_type t, int64_t n, int64_t m, bool columns, filling how, arena *a)
{
    *v = (ir_value){.rank = 2, .components = 1, .type = {t}, .extent = {n, m}};
    v->data[0] = arena_alloc(a, (size_t)(n * m) * ir_type_size(t) + 8);
    for (int64_t i = 0; i < n * m; i++)
        put(t, v->data[0], i, random_key(t, how, columns ? i / m == n - 1 : i % m == m - 1));
}

static void same(const ir_value *got, const ir_value *wanted, const char *what)
{
    for (uint32_t c = 0; c < wanted->components; c++) {
        const size_t size = ir_type_size(wanted->type[c]);
        for (int64_t i = 0; i < (wanted->rank ? wanted->extent[0] : 1); i++)
            if (memcmp((char *)got->data[c] + (size_t)i * size, (char *)wanted->data[c] + (size_t)i * size, size) != 0)
                fail_msg("%s: component %u of result %ld is another one", what, c, (long)i);
    }
}

static void check(ir_type t, size_t choice, bool columns, bool indexed, int64_t n, int64_t m)
{
    for (unsigned how = 0; how < FILLS; how++) {
        arena a;
        ir_value input, wanted;
        ir_failure failure = {0};
        arena_init(&a, NULL);
        ir_program *p = program_of(&a, t, choice, columns, indexed);
        fill(&input, t, n, m, columns, (filling)how, &a);
        assert_true(ir_interpret(p, &a, &input, &wanted, &failure));
        for (size_t d = 0; d < ARRAY_LENGTH(devices); d++) {
            run_result got = run_clusters(p, &options, &devices[d], &a, &input);
            if (got.why)
                fail_msg("%s", got.why);
            same(&got.output[0], &wanted,
                 arena_printf(&a, "%s of %s, %ld x %ld, keys %u, choice %zu, device %zu", columns ? "columns" : "rows",
                              ir_type_name(t), (long)n, (long)m, how, choice, d));
        }
        arena_free(&a);
    }
}

static void rows(void **state)
{
    static const int64_t extents[][2] = {{3, 33}, {2, 129}, {40, 300}, {2, 1025}, {1, 5000}};
    (void)state;
    srand(3);
    for (size_t t = 0; t < ARRAY_LENGTH(types); t++)
        for (size_t e = 0; e < ARRAY_LENGTH(extents); e++)
            check(types[t], (t + e) % ARRAY_LENGTH(taken), false, e % 2, extents[e][0], extents[e][1]);
    check(T_U8, 0, false, false, 1, 65536); /* more rounds than a byte counts */
    check(T_I16, 2, false, false, 1, 65000);
}

/* NaNs that the winner meets on its way through the tree: few of them, at the ends of the tree's nodes, and many. */
static void nans(void **state)
{
    static const int64_t extents[][2] = {{2, 1024}, {3, 4096}, {2, 9000}};
    (void)state;
    srand(6);
    for (size_t choice = ARRAY_LENGTH(taken); choice < ARRAY_LENGTH(taken_of_floats); choice++)
        for (size_t e = 0; e < ARRAY_LENGTH(extents); e++)
            check((choice + e) % 2 ? T_F32 : T_F64, choice, false, e % 2, extents[e][0], extents[e][1]);
}

static void columns(void **state)
{
    static const int64_t extents[][2] = {{33, 64}, {100, 40}, {300, 17}, {1000, 3}, {130, 200}, {1500, 16}, {40, 2100}};
    (void)state;
    srand(4);
    for (size_t t = 0; t < ARRAY_LENGTH(types); t++)
        for (size_t e = t % 2; e < ARRAY_LENGTH(extents); e += 2)
            check(types[t], (t + e) % ARRAY_LENGTH(taken), true, (t + e) % 4 == 0, extents[e][0], extents[e][1]);
}

/* The best element of a vector beside folds that commute, in one loop: a sum, a sum of products, a count, a greatest
 * element, an operator without identity, and elements that are stored. `which`: some of them. */
static ir_program *beside_of(arena *a, ir_type t, size_t choice, unsigned which)
{
    const char *message = "", *name = ir_type_name(t);
    text source;
    text_init(&source, a);
    text_printf(&source, "extents n\nx = input [n]%s\np = map indexed x {i: i64, v: %s -> v, i}\n", name, name);
    for (size_t k = 0; k < (which & 1 ? 2 : 1); k++) { /* a second choice, of the other end */
        const size_t other = (choice + k) % ARRAY_LENGTH(taken);
        text_printf(&source,
                    "s%zu = fold p {a: %s, c: i64, b: %s, d: i64 -> if %s then b else a, if %s then d else c}\n", k,
                    name, name, (ir_type_float(t) ? taken_of_floats : taken)[other],
                    (ir_type_float(t) ? taken_of_floats : taken)[other]);
    }
    text_printf(&source, "t = fold commutes x seed %s(3) {a: %s, b: %s -> a + b}\n", name, name, name);
    text_printf(&source, "q = map x {v: %s -> v * v}\nu = fold commutes q {a: %s, b: %s -> a + b}\n", name, name, name);
    text_printf(&source, "r = map x {v: %s -> if v > %s(1) then 1 else 0}\n", name, name);
    text_add(&source, "w = fold commutes r seed 0 {a: i64, b: i64 -> a + b}\n");
    text_printf(&source, "e = fold commutes x {a: %s, b: %s -> max(a, b)}\n", name, name);
    text_printf(&source, "h = fold commutes x {a: %s, b: %s -> if a > b then a - b else b - a}\n", name, name);
    text_printf(&source, "z = map x {v: %s -> v + %s(1)}\noutput s0\n%s%s%s%s%s", name, name,
                which & 1 ? "output s1\n" : "", which & 2 ? "output t\n" : "", which & 4 ? "output u\noutput w\n" : "",
                which & 8 ? "output e\n" : "", which & 16 ? "output h\noutput z\n" : "");
    ir_program *p = ir_parse(a, text_close(&source), &message);
    if (!p)
        fail_msg("%s in\n%s", message, text_close(&source));
    return p;
}

static void check_beside(ir_type t, size_t choice, unsigned which, int64_t n)
{
    for (unsigned how = 0; how < FILLS; how++) {
        arena a;
        ir_value input = {.rank = 1, .components = 1, .type = {t}, .extent = {n}}, wanted[8];
        ir_failure failure = {0};
        arena_init(&a, NULL);
        ir_program *p = beside_of(&a, t, choice, which);
        input.data[0] = arena_alloc(&a, (size_t)n * ir_type_size(t) + 8);
        for (int64_t i = 0; i < n; i++)
            put(t, input.data[0], i, random_key(t, (filling)how, i == n - 1));
        assert_true(ir_interpret(p, &a, &input, wanted, &failure));
        for (size_t d = 0; d < ARRAY_LENGTH(devices); d++) {
            l_options loops = options;
            loops.threads = devices[d].group > 0;
            run_result got = run_clusters(p, &loops, &devices[d], &a, &input);
            if (got.why)
                fail_msg("%s", got.why);
            for (uint32_t k = 0; k < p->output.n; k++)
                same(&got.output[k], &wanted[k],
                     arena_printf(&a,
                                  "result %u beside a choice of %s, %ld, keys %u, choice %zu, results %u, device %zu",
                                  k, ir_type_name(t), (long)n, how, choice, which, d));
        }
        arena_free(&a);
    }
}

static void beside(void **state)
{
    static const int64_t extents[] = {1, 31, 33, 127, 128, 131, 399, 400, 513, 4096, 4097, 8500, 65536, 70001, 150000};
    (void)state;
    srand(5);
    for (size_t t = 0; t < ARRAY_LENGTH(types); t++)
        for (size_t e = 0; e < ARRAY_LENGTH(extents); e++)
            if (extents[e] < 10000 || t % 3 == e % 3)
                check_beside(types[t], (t + e) % ARRAY_LENGTH(taken), (unsigned)(5 * t + 3 * e + 2) % 30 + 2,
                             extents[e]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside),
        cmocka_unit_test(rows),
        cmocka_unit_test(nans),
        cmocka_unit_test(columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
