/* Neighbours in rows of shared memory, which the CPU code generator loads once and shifts together: against the kernel
 * interpreter, at every alignment, and where it does so. */
#include "cpu_case.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_NEAR = 6, ROW = 1100 };

typedef struct shape {
    ir_type type;
    uint16_t lanes;
    int64_t gangs, start; /* gangs of a piece; where in the row its first thread is */
    unsigned rows, near;  /* rows that are read; neighbours in each */
    int64_t at[MOST_NEAR];
} shape;

static ir_bits element(ir_type t, int64_t i)
{
    return t == T_F32 ? ir_bits_f32((float)i) : t == T_F64 ? ir_bits_f64((double)i) : (ir_bits)i;
}

/* Each thread's result is the sum of its neighbours in all rows, and of twice the last one. */
static void sums(cpu_case *c, const shape *s)
{
    int64_t n = s->gangs * s->lanes;
    case_kernel(c, s->lanes);
    k_builder *b = &c->b;
    k_mem x = case_global(c, s->type, false, ROW * s->rows), y = case_global(c, s->type, true, 2 * n + 1);
    k_mem rows = k_shared(b, s->type, ROW * s->rows, "rows");
    for (unsigned r = 0; r < s->rows; r++)
        for (int64_t i = 0; i < ROW; i++)
            case_put(c, x, r * ROW + i, element(s->type, i * 37 % 101 + r));
    k_val i = k_for_all(b, k_i64(b, ROW * s->rows));
    k_store(b, rows, i, k_load(b, x, i));
    k_end(b);
    k_val piece = k_piece(b), start = k_let(b, OP_MUL, piece, k_i64(b, n), 0), row[4];
    for (unsigned r = 0; r < s->rows; r++)
        row[r] = k_let(b, OP_ADD, k_let(b, OP_ADD, piece, k_i64(b, s->start), 0), k_i64(b, r * ROW), 0);
    i = k_for_whole(b, k_i64(b, n));
    k_val sum = 0, last = 0;
    for (unsigned r = 0; r < s->rows; r++)
        for (unsigned j = 0; j < s->near; j++) {
            k_val position = k_let(b, OP_ADD, k_let(b, OP_ADD, i, k_i64(b, s->at[j]), 0), row[r], 0);
            last = k_load(b, rows, position);
            sum = sum ? k_let(b, OP_ADD, sum, last, 0) : last;
        }
    k_store(b, y, k_let(b, OP_ADD, start, i, 0), k_let(b, OP_ADD, sum, last, 0));
    k_end(b);
    case_run(c, 2);
}

static void neighbours(void **state)
{
    static const ir_type types[] = {T_F32, T_F64, T_I32, T_U64, T_U8};
    static const shape near[] = {
        {.rows = 1, .near = 3, .at = {-1, 0, 1}},
        {.rows = 2, .near = 5, .at = {-2, -1, 0, 1, 2}},
        {.rows = 4, .near = 3, .at = {1, -1, 0}},
        {.rows = 1, .near = 4, .at = {0, 7, 3, 5}},
        {.rows = 1, .near = 3, .at = {0, 15, 14}},
        {.rows = 2, .near = 3, .at = {0, 40, 1}}, /* too far apart for one vector */
        {.rows = 1, .near = 6, .at = {3, 3, 0, 3, 2, 2}},
    };
    for (unsigned t = 0; t < sizeof(types) / sizeof(*types); t++)
        for (unsigned k = 0; k < sizeof(near) / sizeof(*near); k++)
            for (int64_t gangs = 0; gangs < 4; gangs++)
                for (uint16_t lanes = 8; lanes <= 16; lanes *= 2) {
                    shape s = near[k];
                    s.type = types[t];
                    s.lanes = lanes;
                    s.gangs = gangs;
                    s.start = 5 + (int64_t)k;
                    sums(*state, &s);
                }
}

/* The last gang's vectors end where the memory does. */
static void at_the_end_of_memory(void **state)
{
    for (int64_t before = 0; before < 18; before++) {
        shape s = {T_F32, 16, 3, ROW - 3 * 16 - 1 - before, 1, 3, {-1, 0, 0}};
        sums(*state, &s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(neighbours), cmocka_unit_test(at_the_end_of_memory)};
    return cmocka_run_group_tests_name("cpu_shifted", tests, case_setup, case_teardown);
}
