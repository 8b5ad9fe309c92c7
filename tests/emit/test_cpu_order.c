/* Long sums of products over neighbours, whose statements the CPU code generator puts into another order, and stores
 * past the caches that stand together: against the kernel interpreter, at every alignment. */
#include "cpu_case.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static k_val factor(k_builder *b, int64_t i)
{
    return k_literal(b, T_F32, ir_bits_f32((float)(i * 7 % 23 + 1) / 8));
}

typedef struct shape {
    int64_t n, pitch, terms;
    unsigned rows, offset; /* rows of the result; elements by which all memory is off its alignment */
    uint16_t lanes;
    bool in_place, stream, gathered;
} shape;

/* Row u of the result is the sum of `terms` neighbours from element u on. All loads stand first, as far as they do not
 * follow from what was loaded; one row in between is stored as it was read. */
static void sums(cpu_case *c, shape s)
{
    kernel *k = case_kernel(c, s.lanes);
    k_builder *b = &c->b;
    assert_int_equal(factor(b, 0), 1); /* the first value of all is a factor, too */
    k_mem x = case_global(c, T_F32, false, s.n + s.terms + 8);
    k_mem y = case_global(c, T_F32, true, s.pitch * s.rows);
    k_mem at = case_global(c, T_F32, false, s.n);
    k->mem.at[y].stream = s.stream;
    c->offset = s.offset;
    for (int64_t i = 0; i < s.n; i++)
        case_put(c, at, i, ir_bits_f32((float)(i * 31 % s.n)));
    k_val value[80], position[8], row[8], i = k_for_whole(b, k_i64(b, s.n));
    for (int64_t j = 0; j < s.terms + 8; j++)
        value[j] = k_load(b, x, k_let(b, OP_ADD, i, k_i64(b, j), 0));
    if (s.gathered)
        value[3] = k_load(b, x, k_convert(b, OP_CONVERT, T_I64, k_load(b, at, i)));
    for (unsigned u = 0; u < s.rows; u++) {
        row[u] = k_let(b, OP_MUL, value[u], factor(b, 0), 0);
        for (int64_t j = 1; j < s.terms && u != 1; j++)
            row[u] = k_let(b, OP_FMA, value[u + j], factor(b, j), row[u]);
        if (u == 1)
            row[u] = value[s.terms + 7];
        position[u] = k_let(b, OP_ADD, i, k_i64(b, (int64_t)u * s.pitch), 0);
    }
    if (s.in_place)
        row[0] = k_let(b, OP_ADD, row[0], k_load(b, y, position[0]), 0);
    for (unsigned u = 0; u < s.rows; u++)
        k_store(b, y, position[u], row[u]);
    k_end(b);
    case_run(c, 1);
}

static void long_sums(void **state)
{
    static const uint16_t lanes[] = {16, 32, 64, 4};
    for (unsigned w = 0; w < sizeof(lanes) / sizeof(*lanes); w++)
        for (int64_t gangs = 0; gangs < 4; gangs += 1 + (gangs == 1)) {
            int64_t n = gangs * lanes[w];
            sums(*state, (shape){.n = n, .pitch = n, .terms = 60, .rows = 4, .lanes = lanes[w]});
            sums(*state, (shape){.n = n, .pitch = n, .terms = 60, .rows = 4, .lanes = lanes[w], .in_place = true});
            sums(*state, (shape){.n = n, .pitch = n, .terms = 25, .rows = 1, .lanes = lanes[w], .offset = 3});
        }
}

static void loads_that_follow_from_loads(void **state)
{
    sums(*state, (shape){.n = 96, .pitch = 96, .terms = 40, .rows = 3, .lanes = 32, .gathered = true});
    sums(*state, (shape){.n = 64, .pitch = 70, .terms = 40, .rows = 4, .lanes = 16, .gathered = true, .stream = true});
}

/* few terms keep their order, many do not; all rows aligned, some, or none */
static void stores_past_the_caches(void **state)
{
    for (int64_t terms = 5; terms < 60; terms += 50)
        for (unsigned offset = 0; offset < 16; offset += 5)
            for (unsigned rows = 1; rows <= 7; rows += 2)
                for (int64_t gap = 0; gap < 20; gap += 8)
                    sums(*state, (shape){.n = 64,
                                         .pitch = 64 + gap,
                                         .terms = terms,
                                         .rows = rows,
                                         .lanes = 32,
                                         .offset = offset,
                                         .stream = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_sums),
        cmocka_unit_test(loads_that_follow_from_loads),
        cmocka_unit_test(stores_past_the_caches),
    };
    return cmocka_run_group_tests_name("cpu_order", tests, case_setup, case_teardown);
}
