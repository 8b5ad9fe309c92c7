/* Maps along rows that divide what grows by one from column to column: tiles that lie one behind the other, elements
 * permuted within groups of a row. Gangs of the CPU have all positions of one quotient. Against the interpreter, with
 * many periods, rows that begin and end within one, numbers below 0, and indices that are outside. */
#include "both.h"

typedef struct tile {
    sn_acc x;
    int rows, columns;
} tile;

static sn_scalar in_tile(void *env, sn_scalar i, sn_scalar j)
{
    const tile *t = env;
    const int size = t->rows * t->columns;
    sn_scalar m = sn_extent(t->x, 1), linear = sn_add(sn_mul(i, m), j), across = sn_quot(m, t->columns);
    sn_scalar number = sn_quot(linear, size), within = sn_rem(linear, size);
    sn_scalar row = sn_add(sn_mul(sn_quot(number, across), t->rows), sn_quot(within, t->columns));
    return sn_index(t->x, row, sn_add(sn_mul(sn_rem(number, across), t->columns), sn_rem(within, t->columns)));
}

#define TILES(rows, columns)                                                                                           \
    static sn_acc tiles_##rows##_##columns(sn_acc x)                                                                   \
    {                                                                                                                  \
        tile t = {x, rows, columns};                                                                                   \
        return sn_generate(sn_shape_of(x), sn_closure(in_tile, &t));                                                   \
    }
TILES(8, 8)
TILES(4, 4)
TILES(5, 5)
TILES(7, 9)
TILES(2, 20)

/* Whole tiles, and some that are outside: rows are no multiple of theirs, or shorter. */
#define WHOLE(rows, columns)                                                                                           \
    0, 0, rows, columns, rows, 3 * columns, 2 * rows, 7 * columns, 3 * rows, 33 * columns, 5 * rows, 40 * columns
#define OTHERS 1, 100, 3, 130, 9, 257, 33, 300, 17, 1000, 64, 5, 5, 0

static void tiles(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T", tiles_8_8, "f32 u8 f64", SMALL, WHOLE(8, 8), OTHERS);
    both("[n,m]T -> [n,m]T", tiles_4_4, "f32 u8", SMALL, WHOLE(4, 4), OTHERS);
    both("[n,m]T -> [n,m]T", tiles_5_5, "f32 i16 f64", SMALL, WHOLE(5, 5), OTHERS);
    both("[n,m]T -> [n,m]T", tiles_7_9, "f32 u8", SMALL, WHOLE(7, 9), OTHERS);
    both("[n,m]T -> [n,m]T", tiles_2_20, "f32 i64", SMALL, WHOLE(2, 20), OTHERS);
}

/* --- within groups of a row --- */

typedef struct groups {
    sn_acc x;
    int size, from;
} groups;

/* The other way round in each group; what is before column `from` is in groups of negative numbers. */
static sn_scalar turned_index(void *env, sn_scalar i, sn_scalar j)
{
    const groups *g = env;
    sn_scalar at = sn_sub(j, g->from), m = sn_extent(g->x, 1);
    sn_scalar column = sn_add(sn_mul(sn_div(at, g->size), g->size), sn_sub(g->size - 1, sn_mod(at, g->size)));
    return sn_index(g->x, i, sn_max(sn_min(sn_add(column, g->from), sn_sub(m, 1)), 0));
}

static sn_scalar cut_index(void *env, sn_scalar i, sn_scalar j)
{
    const groups *g = env;
    sn_scalar at = sn_sub(j, g->from);
    sn_scalar column = sn_add(sn_mul(sn_quot(at, g->size), g->size), sn_sub(g->size - 1, sn_rem(at, g->size)));
    return sn_index(g->x, i, sn_add(column, g->from));
}

/* Halves of each group by turns. */
static sn_scalar dealt_index(void *env, sn_scalar i, sn_scalar j)
{
    const groups *g = env;
    sn_scalar rest = sn_rem(j, g->size);
    sn_scalar there = sn_add(sn_mul(sn_rem(rest, 2), g->size / 2), sn_quot(rest, 2));
    return sn_sub(sn_mul(sn_index(g->x, i, sn_add(sn_mul(sn_quot(j, g->size), g->size), there)), 2),
                  sn_index(g->x, i, j));
}

#define GROUPS(name, f, size, from)                                                                                    \
    static sn_acc name(sn_acc x)                                                                                       \
    {                                                                                                                  \
        groups g = {x, size, from};                                                                                    \
        return sn_generate(sn_shape_of(x), sn_closure(f, &g));                                                         \
    }
GROUPS(turned_16, turned_index, 16, 0)
GROUPS(turned_20, turned_index, 20, 3)
GROUPS(turned_64, turned_index, 64, 37)
GROUPS(turned_behind, turned_index, 32, -11)
GROUPS(cut_32, cut_index, 32, 0)
GROUPS(cut_48, cut_index, 48, 29)
GROUPS(cut_24, cut_index, 24, -5)
GROUPS(dealt_16, dealt_index, 16, 0)
GROUPS(dealt_40, dealt_index, 40, 0)
GROUPS(dealt_64, dealt_index, 64, 0)

#define ROWS 0, 100, 3, 0, 1, 1, 2, 64, 3, 80, 5, 128, 3, 240, 7, 257, 5, 320, 2, 960, 3, 1000, 2, 5000, 1, 70001

static void groups_of_rows(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T", turned_16, "f32 u8 f64", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", turned_20, "f32 u8", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", turned_64, "f32 i16", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", turned_behind, "f32 u8", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", cut_32, "f32 u8 f64", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", cut_48, "f32 i64", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", cut_24, "f32 u8", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", dealt_16, "f32 i8", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", dealt_40, "f32 u16", SMALL, ROWS);
    both("[n,m]T -> [n,m]T", dealt_64, "f32 u8 f64", SMALL, ROWS);
}

/* --- two periods, of which one does not divide the other; and one of what goes along several dimensions --- */

static sn_scalar two_index(void *env, sn_scalar i, sn_scalar j)
{
    const sn_acc x = *(sn_acc *)env;
    sn_scalar column = sn_add(sn_mul(sn_quot(j, 64), 64), sn_sub(63, sn_rem(j, 64)));
    return sn_add(sn_index(x, i, sn_min(column, sn_sub(sn_extent(x, 1), 1))), sn_index(x, i, sn_rem(j, 24)));
}

static sn_acc two(sn_acc x)
{
    return sn_generate(sn_shape_of(x), sn_closure(two_index, &x));
}

static sn_scalar of_table(void *env, sn_scalar i, sn_scalar j, sn_scalar k)
{
    const groups *g = env;
    sn_scalar m = sn_extent(g->x, 2);
    return sn_mul(sn_index(g->x, i, j, k), sn_add(sn_rem(sn_add(sn_mul(j, m), k), g->size), i));
}

static sn_acc tables(sn_acc x)
{
    groups g = {x, 32, 0};
    return sn_generate(sn_shape_of(x), sn_closure(of_table, &g));
}

static void others(void **state)
{
    (void)state;
    both("[n,m]T -> [n,m]T", two, "f32 u8", SMALL, ROWS);
    both("[l,n,m]i64 -> [l,n,m]i64", tables, NULL, SMALL, 0, 3, 100, 1, 1, 1, 2, 3, 100, 3, 2, 257, 2, 5, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),
        cmocka_unit_test(groups_of_rows),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
