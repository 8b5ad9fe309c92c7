/* CHECKs in loops that are answered before them, against the kernel interpreter: the same sums where all turns of all
 * threads read inside, the same error where one does not. */
#include "cpu_case.h"
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { COUNT = 77, ELEMENTS = 4096, INSIDE = 1500, FORMS = 10 };

static const uint16_t widths[] = {1, 4, 16, 64};

/* An index of thread i in turn k (and, in the last forms, turn l of a loop inside). */
static k_val index_of(k_builder *b, unsigned form, k_val i, k_val k, k_val l, k_val base)
{
    k_val two = k_i64(b, 2), five = k_i64(b, 5), i3 = k_let(b, OP_MUL, i, k_i64(b, 3), 0);
    k_val at = k_let(b, OP_ADD, i, base, 0);
    switch (form) {
    case 0:
        return k_let(b, OP_ADD, at, k, 0);
    case 1:
        return k_let(b, OP_SUB, at, k_let(b, OP_MUL, k, two, 0), 0);
    case 2:
        return k_let(b, OP_ADD, k_let(b, OP_SUB, base, i3, 0), k_let(b, OP_ADD, k, two, 0), 0);
    case 3:
        return k_let(b, OP_ADD, at, k_let(b, OP_REM, k, five, 0), 0);
    case 4:
        return k_let(b, OP_ADD, at, k_let(b, OP_MUL, k_let(b, OP_QUOT, k, five, 0), k_i64(b, 40), 0), 0);
    case 5: /* both parts move with the counter */
        return k_let(b, OP_ADD, k_let(b, OP_ADD, at, k, 0), k, 0);
    case 6: /* beyond the ends of what has 64 bits */
        return k_let(b, OP_ADD, k_let(b, OP_ADD, at, k_i64(b, INT64_MAX - INSIDE - 20), 0), k, 0);
    case 7:
        return k_let(b, OP_SUB, k_let(b, OP_ADD, at, k_i64(b, INT64_MIN + 20), 0), k, 0);
    case 8:
        return k_let(b, OP_ADD, k_let(b, OP_ADD, at, k_let(b, OP_MUL, k, k_i64(b, 9), 0), 0), l, 0);
    default:
        return k_let(b, OP_SUB, k_let(b, OP_ADD, at, k_let(b, OP_MOD, k, two, 0), 0), l, 0);
    }
}

static void take(cpu_case *c, unsigned form, k_mem in, k_val i, k_val k, k_val l, k_val base, k_val n, k_val sum)
{
    k_builder *b = &c->b;
    k_val at = index_of(b, form, i, k, l, base), below = k_let(b, OP_LT, at, n, 0);
    k_val inside = k_let(b, OP_AND, k_let(b, OP_GE, at, k_i64(b, 0), 0), below, 0);
    k_check(b, 7 + form, inside, i, at, n);
    k_set(b, sum, k_let(b, OP_ADD, k_get(b, sum), k_load(b, in, at), 0));
}

/* `from` to `to` turns; a second loop of three turns in it, where the form has one. */
static void run(cpu_case *c, unsigned form, uint16_t lanes, int64_t from, int64_t to, int64_t base, int64_t n)
{
    case_kernel(c, lanes);
    k_builder *b = &c->b;
    k_mem in = case_global(c, T_I32, false, ELEMENTS), out = case_global(c, T_I32, true, COUNT);
    c->arg[0] = (ir_bits)from;
    c->arg[1] = (ir_bits)to;
    c->arg[2] = (ir_bits)base;
    c->arg[3] = (ir_bits)n;
    k_val first = k_arg(b, T_I64, "from"), last = k_arg(b, T_I64, "to"), start = k_arg(b, T_I64, "base");
    k_val bound = k_arg(b, T_I64, "n"), i = k_for_all(b, k_i64(b, COUNT));
    k_val sum = k_decl(b, k_literal(b, T_I32, 0), "sum"), k = k_for(b, first, last, false), l = 0;
    if (form >= 8)
        l = k_for(b, k_i64(b, 0), k_i64(b, 3), false);
    take(c, form, in, i, k, l, start, bound, sum);
    if (form >= 8)
        k_end(b);
    k_end(b);
    k_store(b, out, i, k_get(b, sum));
    k_end(b);
    case_run(c, 1);
}

/* Bounds around the first and the last index that is read; loops without a turn; one that begins later. */
static void sums_and_errors(void **state)
{
    static const int64_t turns[] = {0, 1, 7, 33, 200}, bases[] = {-1, 0, 1, 300, INSIDE - COUNT, INSIDE},
                         froms[] = {0, 3, -2};
    for (unsigned form = 0; form < FORMS; form++)
        for (size_t t = 0; t < ARRAY_LENGTH(turns); t++)
            for (size_t at = 0; at < ARRAY_LENGTH(bases); at++)
                for (size_t f = 0; f < ARRAY_LENGTH(froms); f++) {
                    int64_t from = froms[f], to = from + turns[t], most = bases[at] + COUNT - 1 + to - 1;
                    uint16_t lanes = widths[(t + at + f) % ARRAY_LENGTH(widths)];
                    run(*state, form, lanes, from, to, bases[at], INSIDE);
                    if (form == 0 && most > 0 && most < ELEMENTS) {
                        run(*state, form, lanes, from, to, bases[at], most);
                        run(*state, form, lanes, from, to, bases[at], most + 1);
                    }
                }
}

/* The bound of the inner loop is empty, or depends on the outer one; a variable that the loop sets is an index. */
static void what_moves_otherwise(void **state)
{
    cpu_case *c = *state;
    for (unsigned turn = 0; turn < 24; turn++) {
        case_kernel(c, widths[turn % ARRAY_LENGTH(widths)]);
        k_builder *b = &c->b;
        k_mem in = case_global(c, T_I32, false, ELEMENTS), out = case_global(c, T_I32, true, COUNT);
        c->arg[0] = turn < 12 ? 60 : 200;
        c->arg[1] = turn % 3 ? 9 : 0;
        k_val n = k_arg(b, T_I64, "n"), few = k_arg(b, T_I64, "few"), i = k_for_all(b, k_i64(b, COUNT));
        k_val sum = k_decl(b, k_literal(b, T_I32, 0), "sum"), walk = k_decl(b, k_i64(b, 0), "walk");
        k_val k = k_for(b, k_i64(b, 0), k_i64(b, 5), false), l = k_for(b, k_i64(b, 0), turn % 2 ? k : few, false);
        k_val about = turn % 4 < 2 ? k_get(b, walk) : l;
        k_val at = k_let(b, OP_ADD, i, about, 0), holds = k_let(b, OP_LT, at, n, 0);
        k_check(b, 5, holds, i, at, n);
        k_set(b, sum, k_let(b, OP_ADD, k_get(b, sum), k_load(b, in, at), 0));
        k_set(b, walk, k_let(b, OP_ADD, k_get(b, walk), k_i64(b, 3), 0));
        k_end(b);
        k_end(b);
        k_store(b, out, i, k_get(b, sum));
        k_end(b);
        case_run(c, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_and_errors), cmocka_unit_test(what_moves_otherwise)};
    return cmocka_run_group_tests(tests, case_setup, case_teardown);
}
