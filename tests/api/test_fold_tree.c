/* The order in which folds combine elements is the one of docs/determinism.md, which is written down here once more in
 * plain C: bit for bit, for extents on both sides of everything that the page mentions, operators that commute and that
 * keep order, components of 1 to 8 bytes, rows and columns, several folds in one loop, arrays within and beyond the
 * caches. Operators on integers that do not associate show every exchange. The interpreter has the same order. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the page, in C --- */

typedef union number {
    float f32;
    double f64;
    uint64_t bits;
} number;

typedef struct tuple {
    number c[2];
} tuple;

typedef struct monoid {
    const char *name;
    tuple (*combine)(tuple x, tuple y);
    bool ordered;
} monoid;

static tuple left_to_right(const monoid *op, const tuple *x, int64_t m)
{
    tuple t = x[0];
    for (int64_t i = 1; i < m; i++)
        t = op->combine(t, x[i]);
    return t;
}

/* "Accumulator i mod 128 of a piece combines its elements in ascending order of i; then accumulator l with l + 64,
 * l + 32, l + 16, ... l + 1. Accumulators that received no element take no part." */
static tuple commuting_piece(const monoid *op, const tuple *x, int64_t m)
{
    tuple a[128];
    bool has[128] = {false};
    for (int64_t i = 0; i < m; i++) {
        a[i % 128] = has[i % 128] ? op->combine(a[i % 128], x[i]) : x[i];
        has[i % 128] = true;
    }
    for (int64_t half = 64; half; half /= 2)
        for (int64_t l = 0; l < half; l++)
            if (has[l + half])
                a[l] = op->combine(a[l], a[l + half]);
    return a[0];
}

/* "The balanced binary tree over positions: neighbours are combined, then pairs of pairs, and so on; where the right
 * one is missing, the left one passes unchanged." */
static tuple balanced(const monoid *op, const tuple *x, int64_t m)
{
    int64_t half = 1;
    if (m == 1)
        return x[0];
    while (2 * half < m)
        half *= 2;
    return op->combine(balanced(op, x, half), balanced(op, x + half, m - half));
}

/* Overwrites x. */
static tuple fold(const monoid *op, tuple *x, int64_t m, const tuple *seed)
{
    bool long_row = m > 32;
    while (m > 32 && !op->ordered) {
        int64_t pieces = (m + 4095) / 4096;
        for (int64_t p = 0; p < pieces; p++)
            x[p] = commuting_piece(op, x + p * 4096, m - p * 4096 < 4096 ? m - p * 4096 : 4096);
        m = pieces;
    }
    tuple t = long_row && op->ordered ? balanced(op, x, m) : left_to_right(op, x, m);
    return seed ? op->combine(*seed, t) : t;
}

/* --- operators --- */

static sn_scalar add(sn_scalar x, sn_scalar y)
{
    return sn_add(x, y);
}

static tuple add_f32(tuple x, tuple y)
{
    return (tuple){.c[0].f32 = x.c[0].f32 + y.c[0].f32};
}

static tuple add_f64(tuple x, tuple y)
{
    return (tuple){.c[0].f64 = x.c[0].f64 + y.c[0].f64};
}

static sn_scalar add_both(sn_scalar x, sn_scalar y)
{
    return sn_tuple(sn_add(sn_fst(x), sn_fst(y)), sn_add(sn_snd(x), sn_snd(y)));
}

static tuple add_f32_f64(tuple x, tuple y)
{
    tuple t = {.c[0].f32 = x.c[0].f32 + y.c[0].f32};
    t.c[1].f64 = x.c[1].f64 + y.c[1].f64;
    return t;
}

/* Exchanging the operands gives the same; associating otherwise does not. */
static sn_scalar mix(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(sn_add(x, y), 3), 1);
}

static uint64_t mixed(tuple x, tuple y)
{
    return (x.c[0].bits + y.c[0].bits) * 3 + 1;
}

static tuple mix8(tuple x, tuple y)
{
    return (tuple){.c[0].bits = (uint8_t)mixed(x, y)};
}

static tuple mix16(tuple x, tuple y)
{
    return (tuple){.c[0].bits = (uint16_t)mixed(x, y)};
}

static tuple mix32(tuple x, tuple y)
{
    return (tuple){.c[0].bits = (uint32_t)mixed(x, y)};
}

static tuple mix64(tuple x, tuple y)
{
    return (tuple){.c[0].bits = mixed(x, y)};
}

static sn_scalar chain(sn_scalar x, sn_scalar y)
{
    return sn_add(sn_mul(x, 3), sn_mul(y, 5));
}

static tuple chain8(tuple x, tuple y)
{
    return (tuple){.c[0].bits = (uint8_t)(x.c[0].bits * 3 + y.c[0].bits * 5)};
}

static tuple chain16(tuple x, tuple y)
{
    return (tuple){.c[0].bits = (uint16_t)(x.c[0].bits * 3 + y.c[0].bits * 5)};
}

static tuple chain32(tuple x, tuple y)
{
    return (tuple){.c[0].bits = (uint32_t)(x.c[0].bits * 3 + y.c[0].bits * 5)};
}

static tuple chain64(tuple x, tuple y)
{
    return (tuple){.c[0].bits = x.c[0].bits * 3 + y.c[0].bits * 5};
}

/* --- programs: of a, of its columns, and of several folds in one loop --- */

static sn_acc sums(sn_acc a)
{
    return sn_fold1(add, a);
}

static sn_acc seeded(sn_acc a)
{
    return sn_fold(add, 1.25f, a);
}

static sn_acc mixes(sn_acc a)
{
    return sn_fold1(mix, a);
}

static sn_acc chains(sn_acc a)
{
    return sn_fold1(chain, a);
}

static sn_acc column_sums(sn_acc a)
{
    return sn_fold1(add, sn_transpose(a));
}

static sn_acc column_mixes(sn_acc a)
{
    return sn_fold1(mix, sn_transpose(a));
}

static sn_acc column_chains(sn_acc a)
{
    return sn_fold1(chain, sn_transpose(a));
}

/* Components of several widths have one tree. */
static sn_acc pairs(sn_acc a)
{
    return sn_get(sn_fold1(add_both, sn_zip(a, sn_map(sn_to_f64, a))), 0);
}

/* Folds of 4 and of 8 bytes beside each other share a loop. */
static sn_acc beside(sn_acc a)
{
    return sn_results(sn_fold1(add, a), sn_fold1(add, sn_map(sn_to_f64, a)));
}

typedef enum kind { F32, F64, U8, U16, U32, U64 } kind;
static const char *const name_of[] = {"f32", "f64", "u8", "u16", "u32", "u64"};
static const sn_type type_of[] = {SN_F32, SN_F64, SN_U8, SN_U16, SN_U32, SN_U64};

typedef struct wanted {
    const char *name;
    sn_body body;
    kind kind;
    bool columns, seeded;
    monoid op;
} wanted;

static tuple element(kind k, int64_t i)
{
    uint64_t h = hash_mix((uint64_t)i, 0x5eed);
    switch (k) {
    case F32:
        return (tuple){.c[0].f32 = (float)((double)(h >> 40) * 0x1p-20 - 3) * (h & 1 ? 1.0f : 1e-3f)};
    case F64:
        return (tuple){.c[0].f64 = ((double)(h >> 12) * 0x1p-50 - 1) * (h & 1 ? 1.0 : 1e-6)};
    case U8:
        return (tuple){.c[0].bits = (uint8_t)h};
    case U16:
        return (tuple){.c[0].bits = (uint16_t)h};
    case U32:
        return (tuple){.c[0].bits = (uint32_t)h};
    default:
        return (tuple){.c[0].bits = h};
    }
}

static sn_arg array(kind k, sn_arg_kind how, void *data, int64_t rows, int64_t columns)
{
    sn_arg a = {.kind = how, .type = type_of[k], .rank = columns ? 2 : 1, .extent = {rows, columns}};
    if (how == SN_ARG_IN)
        a.u.from = data;
    else
        a.u.to = data;
    return a;
}

enum { MOST = 1 << 21 };
static char data[MOST * 8], results[70000 * 8];
static tuple row[MOST];

/* Calls with rows of m elements, and compares every row's result. */
static void compare(sn_program *p, const wanted *w, bool interpreted, int64_t rows, int64_t m)
{
    size_t size = ir_type_size((ir_type)type_of[w->kind]);
    for (int64_t i = 0; i < rows * m; i++) {
        tuple x = element(w->kind, i);
        memcpy(data + (size_t)i * size, &x, size);
    }
    sn_arg arg[] = {w->columns ? array(w->kind, SN_ARG_IN, data, m, rows) : array(w->kind, SN_ARG_IN, data, rows, m),
                    array(w->kind, SN_ARG_INTO, results, rows, 0)};
    if (sn_call_n(p, 2, arg) != SN_OK)
        fail_msg("%s: %s", w->name, sn_message(p->context));
    tuple seed = {.c[0].f32 = 1.25f};
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < m; i++) {
            row[i] = element(w->kind, w->columns ? i * rows + r : r * m + i);
            if (w->op.combine == add_f32_f64)
                row[i].c[1].f64 = (double)row[i].c[0].f32;
        }
        tuple t = fold(&w->op, row, m, w->seeded ? &seed : NULL);
        if (memcmp(&t, results + (size_t)r * size, size)) {
            uint64_t found = 0;
            memcpy(&found, results + (size_t)r * size, size);
            fail_msg("%s, %s%s, %lld rows of %lld: row %lld is %llx, not %llx", w->name, name_of[w->kind],
                     interpreted ? ", interpreted" : "", (long long)rows, (long long)m, (long long)r,
                     (unsigned long long)found, (unsigned long long)t.c[0].bits);
        }
    }
}

/* Rows, and elements of a row: around lanes, rounds and pieces, alone and enough for lanes that are rows. */
static const int64_t shapes[][2] = {
    {1, 1},     {1, 2},     {1, 31},      {1, 32},      {1, 33},     {1, 48},     {1, 63},     {1, 64},     {1, 65},
    {1, 96},    {1, 127},   {1, 128},     {1, 129},     {1, 160},    {1, 255},    {1, 520},    {1, 521},    {1, 1000},
    {1, 1041},  {1, 2081},  {1, 4095},    {1, 4096},    {1, 4097},   {1, 4161},   {1, 12293},  {1, 8321},   {1, 16641},
    {1, 32768}, {1, 32769}, {1, 65536},   {1, 65537},   {1, 200003}, {2, 70001},  {3, 4160},   {40, 16},    {40, 32},
    {40, 33},   {40, 48},   {33, 57},     {33, 500},    {33, 103},   {40, 64},    {40, 100},   {40, 128},   {40, 160},
    {40, 256},  {40, 512},  {40, 1041},   {65, 2081},   {100, 4161}, {20, 8321},  {17, 257},   {1000, 129}, {64, 16641},
    {33, 63},   {5, 16640}, {1, 1048577}, {1, 1048579}, {7, 4097},   {300, 5000}, {2, 131072}, {3, 131073},
};

static void same_as_the_page(sn_context *cx, const wanted *w, unsigned count, bool interpreted)
{
    if (!cx)
        skip();
    const char *sample = interpreted ? NULL : getenv("SINTER_TEST_SAMPLE"); /* drivers' compilers are slow */
    for (unsigned i = 0; i < count; i++) {
        if (sample && i % 2)
            continue;
        char signature[64];
        snprintf(signature, sizeof(signature), w[i].columns ? "[m,n]%s -> [n]%s" : "[n,m]%s -> [n]%s",
                 name_of[w[i].kind], name_of[w[i].kind]);
        sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, cx, signature, w[i].body);
        if (!p)
            fail_msg("%s: %s", w[i].name, sn_message(cx));
        for (unsigned k = 0; k < ARRAY_LENGTH(shapes); k++) {
            int64_t rows = shapes[k][0], m = shapes[k][1];
            if (sample && (k + 3 * i) % 13)
                continue;
            if ((interpreted || w[i].columns) && rows * m > (interpreted ? 40000 : 150000))
                continue;
            compare(p, &w[i], interpreted, rows, m);
        }
        sn_drop(p);
    }
}

#define EVERY(w)                                                                                                       \
    same_as_the_page(both_cpu(), w, ARRAY_LENGTH(w), false);                                                           \
    same_as_the_page(both_interpreter(), w, ARRAY_LENGTH(w), true)

static void sums_of_floats(void **state)
{
    (void)state;
    const wanted all[] = {
        {"sum", SN_BODY(sums), F32, false, false, {"+", add_f32, false}},
        {"sum", SN_BODY(sums), F64, false, false, {"+", add_f64, false}},
        {"sum with a seed", SN_BODY(seeded), F32, false, true, {"+", add_f32, false}},
        {"sum of columns", SN_BODY(column_sums), F32, true, false, {"+", add_f32, false}},
        {"sum of columns", SN_BODY(column_sums), F64, true, false, {"+", add_f64, false}},
    };
    EVERY(all);
}

static void commuting_operators_without_identity(void **state)
{
    (void)state;
    const wanted all[] = {
        {"mix", SN_BODY(mixes), U8, false, false, {"mix", mix8, false}},
        {"mix", SN_BODY(mixes), U16, false, false, {"mix", mix16, false}},
        {"mix", SN_BODY(mixes), U32, false, false, {"mix", mix32, false}},
        {"mix", SN_BODY(mixes), U64, false, false, {"mix", mix64, false}},
        {"mix of columns", SN_BODY(column_mixes), U8, true, false, {"mix", mix8, false}},
        {"mix of columns", SN_BODY(column_mixes), U64, true, false, {"mix", mix64, false}},
    };
    EVERY(all);
}

static void ordered_operators(void **state)
{
    (void)state;
    const wanted all[] = {
        {"chain", SN_BODY(chains), U8, false, false, {"chain", chain8, true}},
        {"chain", SN_BODY(chains), U16, false, false, {"chain", chain16, true}},
        {"chain", SN_BODY(chains), U32, false, false, {"chain", chain32, true}},
        {"chain", SN_BODY(chains), U64, false, false, {"chain", chain64, true}},
        {"chain of columns", SN_BODY(column_chains), U32, true, false, {"chain", chain32, true}},
    };
    EVERY(all);
}

static void folds_of_several_widths(void **state)
{
    (void)state;
    const wanted all[] = {
        {"pair of sums", SN_BODY(pairs), F32, false, false, {"+", add_f32_f64, false}},
    };
    EVERY(all);
    const monoid narrow = {"+", add_f32, false}, wide = {"+", add_f64, false};
    sn_program *p = sn_compile(both_cpu(), "[n]f32 -> f32, f64", beside);
    assert_non_null(p);
    for (unsigned k = 0; k < ARRAY_LENGTH(shapes); k++) {
        int64_t m = shapes[k][1];
        float *x = (float *)data, sum;
        double wide_sum;
        for (int64_t i = 0; i < m; i++)
            x[i] = element(F32, i).c[0].f32;
        assert_int_equal(sn_call(p, sn_in(x, m), sn_value(&sum), sn_value(&wide_sum)), SN_OK);
        for (int64_t i = 0; i < m; i++)
            row[i].c[0].f32 = x[i];
        assert_float_equal(sum, fold(&narrow, row, m, NULL).c[0].f32, 0);
        for (int64_t i = 0; i < m; i++)
            row[i].c[0].f64 = (double)x[i];
        assert_true(wide_sum == fold(&wide, row, m, NULL).c[0].f64);
    }
    sn_drop(p);
}

/* What comes from memory has kernels of its own; a device with next to no cache needs no large arrays. */
static void arrays_beyond_the_caches(void **state)
{
    (void)state;
    if (!both_cpu())
        skip();
    device *d = both_cpu()->engine.device;
    const device_limits *limits = d->limits;
    if (limits->own_memory) /* which has no caches to speak of */
        skip();
    device_limits uncached = *limits;
    uncached.cache_bytes = 64;
    const wanted all[] = {
        {"sum", SN_BODY(sums), F32, false, false, {"+", add_f32, false}},
        {"sum", SN_BODY(sums), F64, false, false, {"+", add_f64, false}},
    };
    d->limits = &uncached;
    for (unsigned i = 0; i < ARRAY_LENGTH(all); i++) {
        sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, both_cpu(),
                                      i ? "[n,m]f64 -> [n]f64" : "[n,m]f32 -> [n]f32", all[i].body);
        assert_non_null(p);
        static const int64_t shape[][2] = {{1, 2000003}, {101, 513}, {97, 600}, {3, 600000}, {1000, 777}};
        for (unsigned k = 0; k < ARRAY_LENGTH(shape); k++)
            compare(p, &all[i], false, shape[k][0], shape[k][1]);
        sn_drop(p);
    }
    d->limits = limits;
}

/* --- rows of nothing but the operator's identity: what lanes without elements hold must not show --- */

static sn_acc added(sn_acc a)
{
    return sn_results(sn_fold1(add, a), sn_fold1(add, sn_transpose(a)));
}

static sn_acc multiplied(sn_acc a)
{
    return sn_results(sn_fold1(sn_mul, a), sn_fold1(sn_mul, sn_transpose(a)));
}

static sn_acc least(sn_acc a)
{
    return sn_results(sn_fold1(sn_min, a), sn_fold1(sn_min, sn_transpose(a)));
}

static sn_acc greatest(sn_acc a)
{
    return sn_results(sn_fold1(sn_max, a), sn_fold1(sn_max, sn_transpose(a)));
}

static sn_acc conjunction(sn_acc a)
{
    return sn_results(sn_fold1(sn_bit_and, a), sn_fold1(sn_bit_and, sn_transpose(a)));
}

static sn_acc disjunction(sn_acc a)
{
    return sn_results(sn_fold1(sn_bit_or, a), sn_fold1(sn_bit_or, sn_transpose(a)));
}

static sn_acc difference(sn_acc a)
{
    return sn_results(sn_fold1(sn_bit_xor, a), sn_fold1(sn_bit_xor, sn_transpose(a)));
}

static sn_acc all_true(sn_acc a)
{
    return sn_results(sn_fold1(sn_land, a), sn_fold1(sn_land, sn_transpose(a)));
}

static sn_acc any_true(sn_acc a)
{
    return sn_results(sn_fold1(sn_lor, a), sn_fold1(sn_lor, sn_transpose(a)));
}

typedef struct neutral {
    sn_body body;
    const char *type;
    size_t size;
    uint64_t bits;
} neutral;

static void rows_of_identities(void **state)
{
    (void)state;
    const neutral all[] = {
        {SN_BODY(added), "f32", 4, 0x80000000u},
        {SN_BODY(added), "f64", 8, UINT64_C(1) << 63},
        {SN_BODY(added), "u8", 1, 0},
        {SN_BODY(added), "i64", 8, 0},
        {SN_BODY(multiplied), "f32", 4, 0x3f800000u},
        {SN_BODY(multiplied), "f64", 8, UINT64_C(0x3ff) << 52},
        {SN_BODY(multiplied), "i8", 1, 1},
        {SN_BODY(multiplied), "u32", 4, 1},
        {SN_BODY(least), "i8", 1, 0x7f},
        {SN_BODY(least), "u8", 1, 0xff},
        {SN_BODY(least), "i16", 2, 0x7fff},
        {SN_BODY(least), "i32", 4, 0x7fffffff},
        {SN_BODY(least), "u32", 4, 0xffffffffu},
        {SN_BODY(least), "i64", 8, UINT64_MAX >> 1},
        {SN_BODY(least), "u64", 8, UINT64_MAX},
        {SN_BODY(least), "f32", 4, 0x7f800000u},
        {SN_BODY(least), "f64", 8, UINT64_C(0x7ff) << 52},
        {SN_BODY(greatest), "i8", 1, 0x80},
        {SN_BODY(greatest), "u16", 2, 0},
        {SN_BODY(greatest), "i16", 2, 0x8000},
        {SN_BODY(greatest), "i32", 4, 0x80000000u},
        {SN_BODY(greatest), "i64", 8, UINT64_C(1) << 63},
        {SN_BODY(greatest), "f32", 4, 0xff800000u},
        {SN_BODY(greatest), "f64", 8, UINT64_C(0xfff) << 52},
        {SN_BODY(conjunction), "u8", 1, 0xff},
        {SN_BODY(conjunction), "i16", 2, 0xffff},
        {SN_BODY(conjunction), "u32", 4, 0xffffffffu},
        {SN_BODY(conjunction), "i64", 8, UINT64_MAX},
        {SN_BODY(disjunction), "u16", 2, 0},
        {SN_BODY(disjunction), "i64", 8, 0},
        {SN_BODY(difference), "i8", 1, 0},
        {SN_BODY(difference), "u64", 8, 0},
        {SN_BODY(all_true), "bool", 1, 1},
        {SN_BODY(any_true), "bool", 1, 0},
    };
    static const int64_t shape[][2] = {{20, 33}, {33, 20}, {17, 65}, {1, 1000}, {40, 3}};
    sn_context *cx[] = {both_cpu(), both_interpreter()};
    if (!cx[0])
        skip();
    for (unsigned i = 0; i < ARRAY_LENGTH(all); i++)
        for (unsigned d = 0; d < 2; d++) {
            const neutral *n = &all[i];
            if (d == 0 && getenv("SINTER_TEST_SAMPLE") && i % 12) /* drivers' compilers are slow */
                continue;
            char signature[64];
            snprintf(signature, sizeof(signature), "[n,m]%s -> [n]%s, [m]%s", n->type, n->type, n->type);
            sn_program *p = sn_compile_at((sn_site){__FILE__, __LINE__}, cx[d], signature, n->body);
            if (!p)
                fail_msg("%s", sn_message(cx[d]));
            for (unsigned k = 0; k < ARRAY_LENGTH(shape); k++) {
                sn_array *out[2] = {NULL};
                int64_t rows = shape[k][0], m = shape[k][1];
                for (int64_t at = 0; at < rows * m; at++)
                    memcpy(data + (size_t)at * n->size, &n->bits, n->size);
                sn_arg a = {
                    .kind = SN_ARG_IN, .type = (sn_type)p->type[0], .rank = 2, .extent = {rows, m}, .u.from = data};
                assert_int_equal(sn_call(p, a, sn_keep(&out[0]), sn_keep(&out[1])), SN_OK);
                for (unsigned r = 0; r < 2; r++) {
                    assert_int_equal(sn_read(out[r], results, sn_bytes(out[r])), SN_OK);
                    for (size_t at = 0; at < sn_bytes(out[r]); at += n->size)
                        if (memcmp(results + at, &n->bits, n->size))
                            fail_msg("%s, line %u of the table: %lld rows of %lld give another number", n->type, i,
                                     (long long)rows, (long long)m);
                    sn_free(out[r]);
                }
            }
            sn_drop(p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_floats),           cmocka_unit_test(commuting_operators_without_identity),
        cmocka_unit_test(ordered_operators),        cmocka_unit_test(folds_of_several_widths),
        cmocka_unit_test(arrays_beyond_the_caches), cmocka_unit_test(rows_of_identities),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
