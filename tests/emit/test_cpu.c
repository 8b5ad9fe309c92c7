/* Kernels on the CPU against the kernel interpreter: gangs and tails, alignments, divergent control, checks, tiles,
 * memory of blocks and threads, operations across lanes, chains. */
#include "cpu_case.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const uint16_t widths[] = {64, 16, 4, 1, 128};

static k_val add(k_builder *b, k_val x, k_val y)
{
    return k_let(b, OP_ADD, x, y, 0);
}

static k_val mul(k_builder *b, k_val x, k_val y)
{
    return k_let(b, OP_MUL, x, y, 0);
}

static k_val times(k_builder *b, k_val x, int64_t y)
{
    return mul(b, x, k_i64(b, y));
}

static k_val plus(k_builder *b, k_val x, int64_t y)
{
    return add(b, x, k_i64(b, y));
}

static k_val less(k_builder *b, k_val x, k_val y)
{
    return k_let(b, OP_LT, x, y, 0);
}

/* the argument that says how many elements there are, as the first one */
static k_val count_arg(cpu_case *c, int64_t n)
{
    c->arg[0] = (ir_bits)n;
    return k_arg(&c->b, T_I64, "n");
}

static void check_index(k_builder *b, uint32_t site, k_val index, k_val n)
{
    k_val inside = k_let(b, OP_AND, k_let(b, OP_LE, k_i64(b, 0), index, 0), less(b, index, n), 0);
    k_check(b, site, inside, index, index, n);
}

/* --- gangs, tails, alignments --- */

static void map_case(cpu_case *c, ir_type t, int64_t n, unsigned offset, bool stream, uint16_t lanes)
{
    kernel *k = case_kernel(c, lanes);
    k_builder *b = &c->b;
    k_mem x = case_global(c, t, false, n), y = case_global(c, t, true, n), z = case_global(c, T_BOOL, true, n);
    k->mem.at[y].stream = k->mem.at[z].stream = stream;
    c->offset = offset;
    k_val i = k_for_all(b, count_arg(c, n)), v = k_load(b, x, i);
    k_store(b, y, i, k_let(b, OP_MAX, v, k_let(b, OP_NEG, v, 0, 0), 0));
    k_store(b, z, i, less(b, v, k_literal(b, t, 0)));
    k_end(b);
    case_run(c, 1);
}

static void ragged_maps_of_every_alignment(void **state)
{
    static const int64_t size[] = {0, 1, 3, 15, 16, 17, 63, 64, 65, 128, 200, 257, 1000};
    cpu_case *c = *state;
    for (unsigned i = 0; i < ARRAY_LENGTH(size); i++) {
        map_case(c, T_F32, size[i], 0, false, 64);
        for (unsigned offset = 0; offset < 16; offset += 5) {
            map_case(c, T_F32, size[i], offset, true, 64);
            map_case(c, T_F64, size[i], offset, true, 16);
            map_case(c, T_I16, size[i], offset, true, 4);
        }
    }
    for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++)
        map_case(c, T_I64, 391, 3, true, widths[w]);
}

/* pieces that cover a range, the last one shorter; constants and arguments of several types */
static void pieces_cover_a_range(void **state)
{
    cpu_case *c = *state;
    for (int64_t n = 0; n < 1000; n += 333) {
        case_kernel(c, 32);
        k_builder *b = &c->b;
        k_mem x = case_global(c, T_I32, false, n), y = case_global(c, T_I32, true, n);
        k_val count = count_arg(c, n), flag = k_arg(b, T_BOOL, "flag"), small = k_arg(b, T_I16, "small");
        c->arg[1] = 1;
        c->arg[2] = ir_bits_i64(T_I16, -5);
        k_val from = times(b, k_piece(b), 100), left = k_let(b, OP_SUB, count, from, 0);
        k_val i = k_for_all(b, k_let(b, OP_MIN, left, k_i64(b, 100), 0)), e = add(b, from, i), v = k_load(b, x, e);
        k_store(b, y, e, k_select(b, flag, add(b, v, k_convert(b, OP_CONVERT, T_I32, small)), v));
        k_end(b);
        case_run(c, (n + 99) / 100);
    }
}

/* index = step * i + shift, for steps that shuffle and steps that gather */
static void steps(void **state)
{
    static const int64_t step[] = {-5, -2, -1, 0, 1, 2, 3, 4, 5};
    static const ir_type type[] = {T_F32, T_F64, T_U8, T_I16, T_BOOL};
    cpu_case *c = *state;
    for (unsigned s = 0; s < ARRAY_LENGTH(step); s++)
        for (unsigned t = 0; t < ARRAY_LENGTH(type); t++) {
            int64_t n = 150, shift = step[s] < 0 ? -step[s] * (n - 1) : 0,
                    size = n * (step[s] < 0 ? -step[s] : step[s]) + 1;
            case_kernel(c, t % 2 ? 16 : 64);
            k_builder *b = &c->b;
            k_mem x = case_global(c, type[t], false, size), y = case_global(c, type[t], true, n),
                  z = case_global(c, type[t], true, size);
            k_val i = k_for_all(b, k_i64(b, n)), at = plus(b, times(b, i, step[s]), shift), v = k_load(b, x, at);
            k_store(b, y, i, v);
            if (step[s])
                k_store(b, z, at, v);
            k_end(b);
            case_run(c, 1);
        }
}

/* --- divergence --- */

/* if (x > 0) { if (x > 100) r = 1; else r = table[x]; s += 3 } else s = -x, with reads that only the guard makes safe
 */
static void nested_conditions(void **state)
{
    cpu_case *c = *state;
    for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++) {
        int64_t n = 1111;
        case_kernel(c, widths[w]);
        k_builder *b = &c->b;
        k_mem x = case_global(c, T_I64, false, n), table = case_global(c, T_F32, false, 101),
              y = case_global(c, T_F32, true, n), z = case_global(c, T_I64, true, n);
        for (int64_t i = 0; i < n; i++)
            case_put(c, x, i, (ir_bits)((int64_t)(case_random(c) % 300) - 100));
        k_val zero = k_i64(b, 0), i = k_for_all(b, k_i64(b, n)), v = k_load(b, x, i);
        k_val r = k_decl(b, k_literal(b, T_F32, 0), "r"), s = k_decl(b, v, "s");
        k_if(b, k_let(b, OP_GT, v, zero, 0));
        k_if(b, k_let(b, OP_GT, v, k_i64(b, 100), 0));
        k_set(b, r, k_literal(b, T_F32, ir_bits_f32(1)));
        k_else(b);
        k_set(b, r, k_load(b, table, v));
        k_end(b);
        k_set(b, s, plus(b, s, 3));
        k_else(b);
        k_set(b, s, k_let(b, OP_NEG, v, 0, 0));
        k_if(b, less(b, v, k_i64(b, -90)));
        k_store(b, z, i, v); /* overwritten below, but only after it was written here */
        k_end(b);
        k_end(b);
        k_store(b, y, i, r);
        k_store(b, z, i, s);
        k_end(b);
        case_run(c, 1);
    }
}

/* Collatz steps with a gather in the loop, nested in a condition; a counter, and a second loop with two exits */
static void divergent_loops(void **state)
{
    cpu_case *c = *state;
    for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++) {
        int64_t n = 700;
        case_kernel(c, widths[w]);
        k_builder *b = &c->b;
        k_mem y = case_global(c, T_I32, true, n), z = case_global(c, T_I64, true, n),
              table = case_global(c, T_I32, false, 64);
        k_val one = k_i64(b, 1), i = k_for_all(b, k_i64(b, n));
        k_val v = k_decl(b, i, "v"), steps_taken = k_decl(b, k_literal(b, T_I32, 0), "steps");
        k_if(b, k_let(b, OP_NE, k_let(b, OP_MOD, i, k_i64(b, 3), 0), k_i64(b, 0), 0));
        k_loop(b);
        k_break_if(b, k_let(b, OP_LE, v, one, 0));
        k_val odd = k_let(b, OP_EQ, k_let(b, OP_BIT_AND, v, one, 0), one, 0);
        k_set(b, v, k_select(b, odd, plus(b, times(b, v, 3), 1), k_let(b, OP_SHR, v, one, 0)));
        k_val t = k_load(b, table, k_let(b, OP_BIT_AND, v, k_i64(b, 63), 0));
        k_set(b, steps_taken, k_let(b, OP_BIT_XOR, add(b, steps_taken, k_literal(b, T_I32, 1)), t, 0));
        k_end(b);
        k_end(b);
        k_val w2 = k_decl(b, k_i64(b, 0), "w");
        k_loop(b);
        k_break_if(b, k_let(b, OP_GE, w2, k_let(b, OP_MOD, i, k_i64(b, 7), 0), 0));
        k_set(b, w2, plus(b, w2, 2));
        k_break_if(b, k_let(b, OP_EQ, w2, k_i64(b, 4), 0));
        k_end(b);
        k_store(b, y, i, steps_taken);
        k_store(b, z, i, add(b, v, w2));
        k_end(b);
        case_run(c, 1);
    }
}

/* an outer uniform loop, an inner FOR of uniform length, an unrolled one, a uniform exit */
static void uniform_loops(void **state)
{
    cpu_case *c = *state;
    for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++) {
        int64_t n = 130;
        case_kernel(c, widths[w]);
        k_builder *b = &c->b;
        k_mem x = case_global(c, T_F32, false, n + 40), y = case_global(c, T_F32, true, n);
        k_val m = count_arg(c, 5), rounds = k_decl(b, k_i64(b, 0), "rounds"), i = k_for_all(b, k_i64(b, n));
        k_val acc = k_decl(b, k_literal(b, T_F32, 0), "acc"), r = k_decl(b, k_i64(b, 0), "r");
        k_loop(b);
        k_break_if(b, k_let(b, OP_GE, r, m, 0));
        k_val j = k_for(b, r, m, false);
        k_set(b, acc, add(b, acc, k_load(b, x, add(b, add(b, i, j), r))));
        k_end(b);
        k_set(b, r, plus(b, r, 1));
        k_end(b);
        j = k_for(b, k_i64(b, 2), k_i64(b, 6), true);
        k_set(b, acc, k_let(b, OP_MUL, acc, k_load(b, x, j), 0));
        k_set(b, acc, add(b, acc, k_load(b, x, add(b, i, j))));
        k_end(b);
        j = k_for(b, k_i64(b, 2), m, true); /* marked for it, but an end is known when it runs */
        k_set(b, acc, add(b, acc, k_load(b, x, add(b, i, j))));
        k_end(b);
        j = k_for(b, m, k_i64(b, 9), true);
        k_set(b, acc, add(b, acc, k_load(b, x, add(b, i, j))));
        k_end(b);
        k_store(b, y, i, acc);
        k_end(b);
        k_set(b, rounds, plus(b, rounds, 1));
        case_run(c, 1);
    }
}

/* --- checks --- */

static void checked_gather(cpu_case *c, int64_t n, int64_t bad, uint16_t lanes, bool guarded)
{
    case_kernel(c, lanes);
    k_builder *b = &c->b;
    k_mem x = case_global(c, T_I64, false, n), y = case_global(c, T_I64, true, n), z = case_global(c, T_I64, true, n);
    for (int64_t i = 0; i < n; i++)
        case_put(c, x, i, (ir_bits)((i * 7919) % n));
    if (bad >= 0 && bad < n) {
        case_put(c, x, bad, (ir_bits)n);
        case_put(c, x, n - 1, (ir_bits)-3);
    }
    k_val size = count_arg(c, n), i = k_for_all(b, size), v = k_load(b, x, i);
    if (guarded)
        k_if(b, k_let(b, OP_NE, i, k_i64(b, 3), 0));
    check_index(b, 9, v, size);
    k_store(b, y, i, k_load(b, x, v));
    if (guarded)
        k_end(b);
    k_val next = plus(b, i, 1);
    check_index(b, 7, k_let(b, OP_SUB, next, k_i64(b, 1), 0), size);
    k_check(b, 8, k_let(b, OP_NE, v, k_i64(b, -3), 0), i, v, size);
    k_store(b, z, i, v);
    k_end(b);
    case_run(c, 1);
}

static void checks_in_vectors(void **state)
{
    cpu_case *c = *state;
    for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++)
        for (int64_t n = 1; n < 400; n = n * 3 + 2)
            for (int64_t bad = -1; bad < n; bad += n / 3 + 1) {
                checked_gather(c, n, bad, widths[w], false);
                checked_gather(c, n, bad, widths[w], true);
            }
}

/* y[i] = x[i + shift], out of range for some i: affine, so the ends of a gang decide */
static void checks_of_affine_indices(void **state)
{
    cpu_case *c = *state;
    for (int64_t shift = -70; shift <= 70; shift += 35)
        for (int64_t n = 0; n <= 256; n += 64) {
            case_kernel(c, 32);
            k_builder *b = &c->b;
            k_mem x = case_global(c, T_F32, false, n), y = case_global(c, T_F32, true, n);
            k_val size = count_arg(c, n), i = k_for_all(b, size), at = plus(b, i, shift);
            check_index(b, 5, at, size);
            k_store(b, y, i, k_load(b, x, at));
            k_end(b);
            case_run(c, 1);
        }
}

/* an index that wraps around is outside although both ends may look well */
static void checks_of_wrapping_indices(void **state)
{
    cpu_case *c = *state;
    case_kernel(c, 16);
    k_builder *b = &c->b;
    k_mem y = case_global(c, T_I64, true, 64);
    k_val i = k_for_all(b, k_i64(b, 64)), at = plus(b, times(b, i, 1 << 20), INT64_MAX - (1 << 22));
    k_check(b, 3, less(b, at, k_i64(b, INT64_MAX - (1 << 20))), i, at, k_i64(b, 1));
    k_store(b, y, i, at);
    k_end(b);
    case_run(c, 1);
}

static void checks_in_loops(void **state)
{
    cpu_case *c = *state;
    for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++)
        for (int64_t limit = 5; limit <= 45; limit += 20) {
            int64_t n = 99;
            case_kernel(c, widths[w]);
            k_builder *b = &c->b;
            k_mem x = case_global(c, T_I32, false, 30), y = case_global(c, T_I32, true, n);
            k_val i = k_for_all(b, k_i64(b, n)), at = k_decl(b, k_let(b, OP_MOD, i, k_i64(b, 11), 0), "at");
            k_val sum = k_decl(b, k_literal(b, T_I32, 0), "sum");
            k_loop(b);
            k_break_if(b, k_let(b, OP_GT, at, k_i64(b, limit), 0));
            k_val now = k_get(b, at);
            check_index(b, 4, now, k_i64(b, 30));
            k_set(b, sum, add(b, sum, k_load(b, x, now)));
            k_set(b, at, plus(b, at, 6));
            k_end(b);
            k_val j = k_for(b, k_i64(b, 0), k_i64(b, 3), false);
            check_index(b, 6, k_let(b, OP_SUB, k_i64(b, limit * 2), j, 0), k_i64(b, 30));
            k_set(b, sum, add(b, sum, k_load(b, x, j)));
            k_end(b);
            k_store(b, y, i, sum);
            k_end(b);
            case_run(c, 1);
        }
}

/* in place: a gang must not run twice */
static void checks_with_updates(void **state)
{
    cpu_case *c = *state;
    for (int64_t bad = -1; bad < 200; bad += 67) {
        case_kernel(c, 64);
        k_builder *b = &c->b;
        k_mem y = case_global(c, T_I32, true, 200);
        c->k->mem.at[y].stream = true;
        k_val i = k_for_all(b, k_i64(b, 200)), v = k_load(b, y, i);
        k_store(b, y, i, add(b, v, k_literal(b, T_I32, 1)));
        k_check(b, 2, k_let(b, OP_NE, i, k_i64(b, bad), 0), i, i, i);
        k_store(b, y, i, add(b, k_load(b, y, i), v));
        k_end(b);
        case_run(c, 1);
    }
}

static void checks_of_pieces(void **state)
{
    cpu_case *c = *state;
    for (int64_t bad = 0; bad < 6; bad++) {
        case_kernel(c, 16);
        k_builder *b = &c->b;
        k_mem y = case_global(c, T_I64, true, 5);
        k_val p = k_piece(b);
        k_check(b, 11, k_let(b, OP_LT, p, k_i64(b, bad), 0), p, times(b, p, 3), k_i64(b, bad));
        k_store(b, y, p, p);
        case_run(c, 5);
    }
}

/* division: the check fails lanes whose divisor is zero, and nothing traps */
static void checked_division(void **state)
{
    static const ir_type type[] = {T_I32, T_I64, T_U8, T_U64, T_I16};
    cpu_case *c = *state;
    for (unsigned t = 0; t < ARRAY_LENGTH(type); t++)
        for (unsigned failing = 0; failing < 2; failing++) {
            int64_t n = 150;
            case_kernel(c, 64);
            k_builder *b = &c->b;
            k_mem x = case_global(c, type[t], false, n), d = case_global(c, type[t], false, n),
                  y = case_global(c, type[t], true, n);
            for (int64_t i = 0; i < n; i++)
                case_put(c, d, i, ir_bits_i64(type[t], failing && i % 50 == 49 ? 0 : i % 9 + 1));
            k_val i = k_for_all(b, k_i64(b, n)), v = k_load(b, x, i), w = k_load(b, d, i);
            k_check(b, 1, k_let(b, OP_NE, w, k_literal(b, type[t], 0), 0), i, k_i64(b, 0), k_i64(b, 0));
            k_store(b, y, i, add(b, k_let(b, OP_DIV, v, w, 0), k_let(b, OP_MOD, v, w, 0)));
            k_end(b);
            case_run(c, 1);
        }
}

/* --- rows walked by lanes --- */

typedef struct {
    ir_type type;
    int64_t rows, length, step; /* step: elements between rows */
    bool literal, guarded, stored;
    uint16_t lanes;
} rows_test;

static void rows_case(cpu_case *c, rows_test r)
{
    case_kernel(c, r.lanes);
    k_builder *b = &c->b;
    int64_t size = r.rows * r.step + r.length;
    k_mem x = case_global(c, r.type, false, size), w = case_global(c, T_F64, false, size),
          y = case_global(c, r.type, true, size), sum = case_global(c, r.type, true, r.rows);
    c->arg[0] = (ir_bits)r.length;
    c->arg[1] = (ir_bits)r.step;
    k_val n = k_arg(b, T_I64, "length"), s = k_arg(b, T_I64, "step");
    if (r.literal) {
        n = k_i64(b, r.length);
        s = k_i64(b, r.step);
    }
    k_val i = k_for_all(b, k_i64(b, r.rows)), start = mul(b, i, s), acc = k_decl(b, k_literal(b, r.type, 0), "acc");
    if (r.guarded)
        k_if(b, k_let(b, OP_NE, k_let(b, OP_MOD, i, k_i64(b, 5), 0), k_i64(b, 2), 0));
    k_val j = k_for(b, k_i64(b, 0), n, false), at = add(b, start, j);
    k_set(b, acc, add(b, acc, k_load(b, x, at)));
    if (r.stored)
        k_store(b, y, add(b, j, start), acc);
    k_set(b, acc, k_let(b, OP_MAX, acc, k_convert(b, OP_CONVERT, r.type, k_load(b, w, at)), 0));
    k_end(b);
    if (r.guarded)
        k_end(b);
    k_store(b, sum, i, k_let(b, OP_SUB, acc, k_convert(b, OP_CONVERT, r.type, i), 0));
    k_end(b);
    case_run(c, 1);
}

static void rows_of_lanes(void **state)
{
    static const int64_t length[] = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 40};
    cpu_case *c = *state;
    for (unsigned l = 0; l < ARRAY_LENGTH(length); l++)
        for (unsigned literal = 0; literal < 2; literal++) {
            int64_t n = length[l], less_one = n ? n - 1 : 0;
            rows_case(c, (rows_test){T_F32, 200, n, n, literal, false, true, 64});
            rows_case(c, (rows_test){T_F32, 200, n, n, literal, false, false, 32});
            rows_case(c, (rows_test){T_U8, 200, n, n, literal, false, false, 128});
            rows_case(c, (rows_test){T_I32, 70, n, n + 3, literal, l % 2, true, 16});
            rows_case(c, (rows_test){T_I64, 130, n, less_one, literal, false, false, 64});
        }
    rows_case(c, (rows_test){T_U8, 150, 50, 53, true, false, true, 64});
    rows_case(c, (rows_test){T_U8, 150, 4, 4, true, true, true, 64});
    rows_case(c, (rows_test){T_I16, 150, 37, 37, false, true, true, 32});
    rows_case(c, (rows_test){T_F64, 100, 20, 20, false, false, true, 4});
    rows_case(c, (rows_test){T_F64, 9, 20, 20, false, false, true, 1});
    rows_case(c, (rows_test){T_F32, 300, 33, 40, false, false, true, 128});
}

/* Each lane adds up a row that begins anywhere, where not `guarded` out; two arrays of different types. */
static void rows_apart_case(cpu_case *c, const rows_test r)
{
    kernel *k = case_kernel(c, (uint16_t)r.lanes);
    k_builder *b = &c->b;
    int64_t most = 1000, size = most + r.length + 1;
    k_mem x = case_global(c, r.type, false, size), w = case_global(c, T_I32, false, size);
    k_mem begin = case_global(c, T_I64, false, r.rows), sum = case_global(c, r.type, true, r.rows);
    (void)k;
    for (int64_t i = 0; i < r.rows; i++)
        case_put(c, begin, i, (ir_bits)(r.step ? i * r.step + i % 2 : i * 7919 % most));
    c->arg[0] = (ir_bits)r.length;
    k_val n = k_arg(b, T_I64, "length");
    n = r.literal ? k_i64(b, r.length) : n;
    k_val i = k_for_all(b, k_i64(b, r.rows)), start = k_load(b, begin, i),
          acc = k_decl(b, k_literal(b, r.type, 0), "acc");
    if (r.guarded)
        k_if(b, k_let(b, OP_NE, k_let(b, OP_MOD, i, k_i64(b, 5), 0), k_i64(b, 2), 0));
    k_val j = k_for(b, k_i64(b, 0), n, false), at = add(b, start, j);
    k_set(b, acc, k_let(b, OP_SUB, k_load(b, x, at), acc, 0));
    k_set(b, acc, k_let(b, OP_MAX, acc, k_convert(b, OP_CONVERT, r.type, k_load(b, w, add(b, at, k_i64(b, 1)))), 0));
    k_end(b);
    if (r.guarded)
        k_end(b);
    k_store(b, sum, i, acc);
    k_end(b);
    case_run(c, 1);
}

static void rows_anywhere(void **state)
{
    static const int64_t length[] = {0, 1, 3, 4, 7, 8, 15, 16, 17, 33, 70};
    cpu_case *c = *state;
    for (unsigned l = 0; l < ARRAY_LENGTH(length); l++)
        for (unsigned guarded = 0; guarded < 2; guarded++) {
            int64_t n = length[l];
            rows_apart_case(c, (rows_test){T_F32, 200, n, 0, l % 2, guarded, false, 32});
            rows_apart_case(c, (rows_test){T_F64, 75, n, 5, false, guarded, false, 16});
            rows_apart_case(c, (rows_test){T_U8, 130, n, 0, false, guarded, false, 64});
            rows_apart_case(c, (rows_test){T_I16, 64, n, 3, false, guarded, false, 8});
            rows_apart_case(c, (rows_test){T_F64, 64, n, 0, l % 2, guarded, false, 4});
            rows_apart_case(c, (rows_test){T_U8, 96, n, 3, l % 2, guarded, false, 16});
            rows_apart_case(c, (rows_test){T_I64, 128, n, 7, false, guarded, false, 32});
        }
    rows_apart_case(c, (rows_test){T_I64, 41, 20, 0, false, true, false, 2});
    rows_apart_case(c, (rows_test){T_I64, 41, 20, 0, false, false, false, 1});
}

/* only bytes: rows of 16 in one tile, a scan along each */
static void byte_rows(void **state)
{
    cpu_case *c = *state;
    for (int64_t length = 2; length < 70; length += 13) {
        case_kernel(c, 64);
        k_builder *b = &c->b;
        k_mem x = case_global(c, T_BOOL, false, 130 * length), y = case_global(c, T_BOOL, true, 130 * length);
        k_val i = k_for_all(b, k_i64(b, 130)), acc = k_decl(b, k_literal(b, T_BOOL, 0), "acc");
        k_val j = k_for(b, k_i64(b, 0), k_i64(b, length), false), at = add(b, times(b, i, length), j);
        k_set(b, acc, k_let(b, OP_NE, acc, k_load(b, x, at), 0));
        k_store(b, y, at, acc);
        k_end(b);
        k_end(b);
        case_run(c, 1);
    }
}

/* --- bodies too large to exist twice --- */

static void large_case(cpu_case *c, int64_t n, unsigned offset, int64_t bad, bool in_place)
{
    kernel *k = case_kernel(c, 32);
    k_builder *b = &c->b;
    k_mem x = case_global(c, T_F32, false, 5 * n + 1), at = case_global(c, T_I64, false, n),
          y = case_global(c, T_F32, true, n);
    k->mem.at[y].stream = true;
    c->offset = offset;
    for (int64_t i = 0; i < n; i++)
        case_put(c, at, i, (ir_bits)(i == bad ? -1 : (i * 31) % n));
    k_val size = count_arg(c, n), i = k_for_all(b, size), acc = k_decl(b, k_load(b, x, i), "acc");
    for (int64_t j = 0; j < 60; j++) {
        k_set(b, acc, mul(b, acc, k_literal(b, T_F32, ir_bits_f32((float)j))));
        k_set(b, acc, add(b, acc, k_literal(b, T_F32, ir_bits_f32(0.5f))));
    }
    for (int64_t step = 2; step <= 5; step++)
        k_set(b, acc, add(b, acc, k_load(b, x, times(b, i, step))));
    check_index(b, 21, i, size);
    k_val other = k_load(b, at, k_let(b, OP_SUB, plus(b, size, -1), i, 0));
    check_index(b, 22, other, size);
    k_set(b, acc, add(b, acc, k_load(b, x, other)));
    k_val j = k_for(b, k_i64(b, 0), k_i64(b, 5), false);
    k_set(b, acc, k_let(b, OP_SUB, k_load(b, x, add(b, times(b, i, 5), j)), acc, 0));
    k_end(b);
    k_if(b, less(b, acc, k_literal(b, T_F32, 0)));
    k_set(b, acc, k_let(b, OP_NEG, acc, 0, 0));
    k_end(b);
    if (in_place)
        k_set(b, acc, add(b, acc, k_load(b, y, i)));
    k_store(b, y, i, acc);
    k_end(b);
    case_run(c, 1);
}

static void large_bodies(void **state)
{
    static const int64_t size[] = {0, 1, 31, 32, 33, 128, 200};
    for (unsigned s = 0; s < ARRAY_LENGTH(size); s++)
        for (unsigned offset = 0; offset < 16; offset += 5) {
            large_case(*state, size[s], offset, -1, offset == 5);
            large_case(*state, size[s], offset, size[s] / 2, offset == 5);
        }
}

/* --- memory of a block and of a thread --- */

/* a tree over shared memory, twice, and a private array carried from one FOR_ALL to the next */
static void shared_and_private_memory(void **state)
{
    cpu_case *c = *state;
    for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++) {
        int64_t n = 128;
        case_kernel(c, widths[w]);
        k_builder *b = &c->b;
        k_mem x = case_global(c, T_F32, false, n * 3), y = case_global(c, T_F32, true, n * 3),
              s = k_shared(b, T_F32, n, "s");
        k_mem own = k_private(b, T_F64, 3, "own");
        k_val base = times(b, k_piece(b), n), i = k_for_all(b, k_i64(b, n));
        k_store(b, s, i, k_load(b, x, add(b, base, i)));
        k_store(b, own, k_i64(b, 0), k_convert(b, OP_CONVERT, T_F64, i));
        k_store(b, own, k_let(b, OP_MOD, i, k_i64(b, 3), 0), k_literal(b, T_F64, ir_bits_f64(0.5)));
        k_end(b);
        for (int64_t half = n / 2; half; half /= 2) {
            i = k_for_all(b, k_i64(b, half));
            k_store(b, s, i, k_let(b, OP_SUB, k_load(b, s, i), k_load(b, s, plus(b, i, half)), 0));
            k_end(b);
        }
        i = k_for_all(b, k_i64(b, n));
        k_if(b, k_let(b, OP_EQ, k_let(b, OP_MOD, i, k_i64(b, 3), 0), k_i64(b, 0), 0));
        k_store(b, own, k_i64(b, 0), k_literal(b, T_F64, ir_bits_f64(2)));
        k_end(b);
        k_val v = k_convert(b, OP_CONVERT, T_F32, k_load(b, own, k_i64(b, 0)));
        k_store(b, y, add(b, base, i), add(b, v, k_load(b, s, k_i64(b, 0))));
        k_end(b);
        case_run(c, 3);
    }
}

/* --- across lanes --- */

/* `over`: what is kept waits in shared memory, where what lies behind it may be anything. */
static void filter_case(cpu_case *c, ir_type t, int64_t n, uint16_t lanes, bool over)
{
    case_kernel(c, lanes);
    k_builder *b = &c->b;
    k_mem x = case_global(c, t, false, n), keep = case_global(c, T_BOOL, false, n), y = case_global(c, t, true, n),
          kept = case_global(c, T_I64, true, 1);
    k_mem tile = over ? k_shared(b, t, n + lanes, "tile") : 0;
    k_val total = k_decl(b, k_i64(b, 0), "total"), left = k_decl(b, k_i64(b, n), "left");
    k_loop(b);
    k_break_if(b, k_let(b, OP_LE, left, k_i64(b, 0), 0));
    k_val base = k_let(b, OP_SUB, k_i64(b, n), left, 0), before = k_get(b, total);
    k_val i = k_for_all(b, k_let(b, OP_MIN, left, k_i64(b, lanes), 0)), at = add(b, base, i),
          p = k_let(b, OP_NOT, k_load(b, keep, at), 0, 0);
    if (over)
        k_compact_over(b, tile, before, k_load(b, x, at), p);
    else
        k_compact(b, y, before, k_load(b, x, at), p);
    k_set(b, total, add(b, before, k_count(b, p)));
    k_end(b);
    k_set(b, left, k_let(b, OP_SUB, left, k_i64(b, lanes), 0));
    k_end(b);
    k_store(b, kept, k_i64(b, 0), total);
    if (over) {
        i = k_for_all(b, k_get(b, total));
        k_store(b, y, i, k_load(b, tile, i));
        k_end(b);
    }
    case_run(c, 1);
}

static void filters(void **state)
{
    static const ir_type type[] = {T_F32, T_F64, T_U8, T_I16, T_BOOL, T_I64};
    for (unsigned t = 0; t < ARRAY_LENGTH(type); t++)
        for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++) {
            filter_case(*state, type[t], 333, widths[w], false);
            filter_case(*state, type[t], 333, widths[w], true);
        }
    filter_case(*state, T_F32, 0, 64, false);
}

static void atomics(void **state)
{
    static const ir_op op[] = {OP_ADD, OP_MIN, OP_MAX, OP_BIT_AND, OP_BIT_OR, OP_BIT_XOR};
    cpu_case *c = *state;
    for (unsigned o = 0; o < ARRAY_LENGTH(op); o++)
        for (unsigned w = 0; w < ARRAY_LENGTH(widths); w++) {
            case_kernel(c, widths[w]);
            k_builder *b = &c->b;
            ir_type t = w % 2 ? T_I32 : T_U64;
            k_mem x = case_global(c, t, false, 500), y = case_global(c, t, true, 7), old = case_global(c, t, true, 500);
            k_val i = k_for_all(b, k_i64(b, 500)), v = k_load(b, x, i);
            k_if(b, k_let(b, OP_NE, k_let(b, OP_MOD, i, k_i64(b, 4), 0), k_i64(b, 1), 0));
            k_store(b, old, i, k_atomic(b, op[o], y, k_let(b, OP_MOD, i, k_i64(b, 7), 0), v));
            k_end(b);
            k_end(b);
            case_run(c, 1);
        }
}

/* --- chains --- */

/* 2x2 matrices over i64, which do not commute: prefix products of the pieces */
static void chain_of_matrices(void **state)
{
    cpu_case *c = *state;
    for (int64_t pieces = 1; pieces < 60; pieces += 29) {
        case_kernel(c, 4);
        k_builder *b = &c->b;
        k_mem x = case_global(c, T_I64, false, 4 * pieces), y = case_global(c, T_I64, true, 4 * pieces),
              words = case_global(c, T_U64, true, 5 * pieces);
        for (int64_t i = 0; i < 5 * pieces; i++)
            case_put(c, words, i, 0);
        k_val p4 = times(b, k_piece(b), 4), own[4], initial[4], result[4];
        for (int64_t j = 0; j < 4; j++) {
            own[j] = k_load(b, x, plus(b, p4, j));
            initial[j] = k_i64(b, j == 0 || j == 3);
        }
        k_chain *chain = k_chain_begin(b, 4, own, initial, words);
        for (unsigned j = 0; j < 4; j++)
            result[j] = add(b, mul(b, chain->left[j & 2], chain->right[j & 1]),
                            mul(b, chain->left[(j & 2) + 1], chain->right[(j & 1) + 2]));
        k_chain_end(b, chain, result);
        for (int64_t j = 0; j < 4; j++)
            k_store(b, y, plus(b, p4, j), chain->before[j]);
        case_run(c, pieces);
    }
}

/* a piece that fails before its chain must not stop the others */
static void chain_with_errors(void **state)
{
    cpu_case *c = *state;
    case_kernel(c, 4);
    k_builder *b = &c->b;
    int64_t pieces = 200;
    k_mem y = case_global(c, T_F32, true, pieces), words = case_global(c, T_U64, true, 2 * pieces);
    for (int64_t i = 0; i < 2 * pieces; i++)
        case_put(c, words, i, 0);
    k_val p = k_piece(b), own = k_convert(b, OP_CONVERT, T_F32, p), initial = k_literal(b, T_F32, 0), result;
    k_check(b, 3, k_let(b, OP_NE, p, k_i64(b, 77), 0), p, p, p);
    k_chain *chain = k_chain_begin(b, 1, &own, &initial, words);
    result = add(b, chain->left[0], chain->right[0]);
    k_chain_end(b, chain, &result);
    k_store(b, y, p, chain->before[0]);
    case_run(c, pieces);
}

/* What is known before a chain is used behind it and behind the next one: values, a variable, shared memory. Pieces
 * give up before the first chain, between the two and behind them. */
static void chains_in_stages(void **state)
{
    cpu_case *c = *state;
    for (int64_t gives_up = 0; gives_up < 4; gives_up++) {
        case_kernel(c, 8);
        k_builder *b = &c->b;
        int64_t pieces = 150;
        k_mem x = case_global(c, T_I64, false, 8 * pieces), y = case_global(c, T_I64, true, 8 * pieces),
              first_words = case_global(c, T_U64, true, 2 * pieces), words = case_global(c, T_U64, true, 2 * pieces);
        k_mem s = k_shared(b, T_I64, 8, "s"), sum = k_shared(b, T_I64, 1, "sum");
        for (int64_t i = 0; i < 2 * pieces; i++) {
            case_put(c, first_words, i, 0);
            case_put(c, words, i, 0);
        }
        k_val p = k_piece(b), base = times(b, p, 8),
              odd = k_let(b, OP_NE, k_let(b, OP_REM, p, k_i64(b, 2), 0), k_i64(b, 0), 0);
        k_val v = k_decl(b, times(b, p, 3), "v"), zero = k_i64(b, 0);
        k_val at = k_for_all(b, k_i64(b, 8)), total = k_load(b, x, add(b, base, at));
        k_store(b, s, at, total);
        for (int64_t n = 1; n < 8; n *= 2)
            total = add(b, k_take_pair(b, total, 0), k_take_pair(b, total, 1));
        k_if(b, k_let(b, OP_EQ, at, k_i64(b, 5), 0));
        k_store(b, sum, zero, total);
        k_end(b);
        k_end(b);
        k_val own = k_load(b, sum, zero);
        if (gives_up == 1)
            k_check(b, 3, k_let(b, OP_NE, p, k_i64(b, 77), 0), p, p, p);
        k_chain *chain = k_chain_begin(b, 1, &own, &zero, first_words);
        k_val result = add(b, chain->left[0], chain->right[0]);
        k_chain_end(b, chain, &result);
        k_set(b, v, add(b, k_get(b, v), chain->before[0]));
        if (gives_up == 2)
            k_check(b, 4, k_let(b, OP_NE, p, k_i64(b, 78), 0), p, p, p);
        k_val other = k_select(b, odd, k_get(b, v), own), one = k_i64(b, 1);
        k_chain *next = k_chain_begin(b, 1, &other, &one, words);
        result = add(b, times(b, next->left[0], 3), next->right[0]);
        k_chain_end(b, next, &result);
        if (gives_up == 3)
            k_check(b, 5, k_let(b, OP_NE, p, k_i64(b, 79), 0), p, p, p);
        at = k_for_all(b, k_i64(b, 8));
        k_fetch(b, x, add(b, base, at), k_i64(b, 8));
        k_val z = add(b, add(b, k_load(b, s, at), k_get(b, v)), add(b, own, next->before[0]));
        k_store(b, y, add(b, base, at), k_select(b, odd, z, add(b, z, chain->before[0])));
        k_end(b);
        case_run(c, pieces);
    }
}

/* Pairs of lanes, pairs of pairs ... up to all lanes, with operators of which some show what was left and what right;
 * a level's result that is used by others too, a level that is made otherwise, and fewer lanes. */
static void totals_of_gangs(void **state)
{
    cpu_case *c = *state;
    const ir_type type[] = {T_F32, T_F64, T_I32, T_I64, T_U16};
    for (unsigned n = 0; n < 5 * 3 * 4; n++) {
        ir_type t = type[n % 5];
        ir_op op[] = {OP_ADD, OP_SUB, ir_type_float(t) ? OP_COPY_SIGN : OP_BIT_OR};
        unsigned variant = n / 15, lanes = variant == 3 ? 32 : 64;
        case_kernel(c, (uint16_t)lanes);
        k_builder *b = &c->b;
        k_mem x = case_global(c, t, false, 3 * lanes), y = case_global(c, t, true, 3 * lanes);
        for (int64_t i = 0; i < 3 * lanes; i++) /* sums are rounded: order matters */
            case_put(c, x, i,
                     t == T_F32   ? ir_bits_f32((float)(int64_t)case_random(c) * 0x1p-40F)
                     : t == T_F64 ? ir_bits_f64((double)(int64_t)case_random(c) * 0x1p-40)
                                  : ir_bits_i64(t, (int64_t)case_random(c)));
        k_val at = k_for_all(b, k_i64(b, lanes)), index = add(b, times(b, k_piece(b), lanes), at);
        k_val total = k_load(b, x, index), early = total;
        for (unsigned level = 1; level < lanes; level *= 2) {
            k_val even = k_take_pair(b, total, 0), odd = k_take_pair(b, total, 1);
            bool turned = variant == 2 && level == 4;
            total = k_let(b, op[n / 5 % 3], turned ? odd : even, turned ? even : odd, 0);
            early = level == 8 ? total : early;
        }
        k_store(b, y, index, variant == 1 ? k_let(b, OP_SUB, total, early, 0) : total);
        k_end(b);
        case_run(c, 3);
    }
}

/* Rows and lines that are fetched for later show nowhere, whatever part of a line a gang has, and wherever they lie. */
static void fetched_rows(void **state)
{
    cpu_case *c = *state;
    const ir_type type[] = {T_U8, T_U16, T_F32, T_F64};
    for (unsigned n = 0; n < 4 * 3; n++) {
        enum { COUNT = 150 };
        case_kernel(c, 16);
        k_builder *b = &c->b;
        k_mem x = case_global(c, type[n % 4], false, 3 * COUNT), y = case_global(c, type[n % 4], true, 3 * COUNT);
        for (int64_t i = 0; i < 3 * COUNT; i++)
            case_put(c, x, i,
                     type[n % 4] == T_F32   ? ir_bits_f32((float)i)
                     : type[n % 4] == T_F64 ? ir_bits_f64((double)i)
                                            : ir_bits_i64(type[n % 4], i));
        k_fetch_near(b, x, times(b, k_piece(b), n < 6 ? COUNT : INT32_MAX));
        k_val at = k_for_all(b, k_i64(b, COUNT)), index = add(b, times(b, k_piece(b), COUNT), at);
        k_fetch_rows(b, x, index, k_i64(b, n < 4 ? COUNT : n < 8 ? -1000 : INT32_MAX), n % 3 * 4 + 1);
        k_store(b, y, index, k_load(b, x, index));
        k_end(b);
        case_run(c, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ragged_maps_of_every_alignment),
        cmocka_unit_test(pieces_cover_a_range),
        cmocka_unit_test(steps),
        cmocka_unit_test(nested_conditions),
        cmocka_unit_test(divergent_loops),
        cmocka_unit_test(uniform_loops),
        cmocka_unit_test(checks_in_vectors),
        cmocka_unit_test(checks_of_affine_indices),
        cmocka_unit_test(checks_of_wrapping_indices),
        cmocka_unit_test(checks_in_loops),
        cmocka_unit_test(checks_with_updates),
        cmocka_unit_test(checks_of_pieces),
        cmocka_unit_test(checked_division),
        cmocka_unit_test(rows_of_lanes),
        cmocka_unit_test(rows_anywhere),
        cmocka_unit_test(byte_rows),
        cmocka_unit_test(large_bodies),
        cmocka_unit_test(shared_and_private_memory),
        cmocka_unit_test(filters),
        cmocka_unit_test(fetched_rows),
        cmocka_unit_test(atomics),
        cmocka_unit_test(totals_of_gangs),
        cmocka_unit_test(chain_of_matrices),
        cmocka_unit_test(chain_with_errors),
        cmocka_unit_test(chains_in_stages),
    };
    return cmocka_run_group_tests_name("cpu", tests, case_setup, case_teardown);
}
