/* Operators that choose an operand by a comparison, written in many ways, and such that only seem to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opt/choice.h"

typedef struct example {
    const char *type;     /* of x, the key; y is an i32 whose left one is less than the right one if it `ascends` */
    const char *operator; /* over x1, y1 and x2, y2 */
    opt_order order;
    bool chooses;
    opt_choice is;
} example;

#define LEAST_FIRST                                                                                                    \
    {                                                                                                                  \
        .nan = OPT_NAN_LOSES                                                                                           \
    }
#define LEAST_LAST                                                                                                     \
    {                                                                                                                  \
        .last = true                                                                                                   \
    }
#define GREATEST_FIRST                                                                                                 \
    {                                                                                                                  \
        .greatest = true                                                                                               \
    }
#define GREATEST_LAST                                                                                                  \
    {                                                                                                                  \
        .greatest = true, .last = true                                                                                 \
    }
#define BY(type, test, order, ...)                                                                                     \
    {                                                                                                                  \
        type, "if " test " then x2 else x1, if " test " then y2 else y1", order, true, __VA_ARGS__                     \
    }
#define NOT_BY(type, test, order)                                                                                      \
    {                                                                                                                  \
        type, "if " test " then x2 else x1, if " test " then y2 else y1", order, false,                                \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

static const example examples[] = {
    /* one comparison, from both sides */
    BY("i32", "x2 > x1", OPT_UNORDERED, GREATEST_FIRST),
    BY("i32", "x1 < x2", OPT_UNORDERED, GREATEST_FIRST),
    BY("u8", "x2 >= x1", OPT_UNORDERED, GREATEST_LAST),
    BY("u8", "not(x1 > x2)", OPT_UNORDERED, GREATEST_LAST),
    BY("i64", "x2 < x1", OPT_UNORDERED, LEAST_FIRST),
    BY("i64", "x2 <= x1", OPT_UNORDERED, LEAST_LAST),
    NOT_BY("i32", "x2 == x1", OPT_UNORDERED),
    NOT_BY("i32", "x2 > 3i32", OPT_UNORDERED),
    NOT_BY("i32", "x2 > -x1", OPT_UNORDERED),
    NOT_BY("bool", "x2 > x1", OPT_UNORDERED),
    /* ties */
    BY("i32", "lor(x2 > x1, land(x2 == x1, y2 < y1))", OPT_ASCENDS, GREATEST_FIRST),
    BY("i32", "lor(x2 > x1, land(x2 == x1, y2 < y1))", OPT_DESCENDS, GREATEST_LAST),
    BY("i32", "if x2 == x1 then y2 >= y1 else x2 < x1", OPT_ASCENDS, LEAST_LAST),
    BY("i32", "if x2 < x1 then false else if x2 > x1 then true else y1 > y2", OPT_ASCENDS, GREATEST_FIRST),
    NOT_BY("i32", "lor(x2 > x1, land(x2 == x1, y2 < y1))", OPT_UNORDERED),
    NOT_BY("i32", "y2 < y1", OPT_ASCENDS),
    /* each component for itself */
    {"i32", "max(x1, x2), if x1 == x2 then min(y1, y2) else if x1 > x2 then y1 else y2", OPT_ASCENDS, true,
     GREATEST_FIRST},
    {"i32", "min(x2, x1), if x1 == x2 then max(y1, y2) else if x1 < x2 then y1 else y2", OPT_ASCENDS, true, LEAST_LAST},
    {"i32", "max(x1, x2), if x1 >= x2 then y1 else y2", OPT_UNORDERED, true, GREATEST_FIRST},
    {"i32", "max(x1, x2), if x1 <= x2 then y1 else y2", OPT_UNORDERED, false, {0}},
    {"i32", "if x1 > x2 then x1 else x2, if x1 >= x2 then y1 else y2", OPT_UNORDERED, false, {0}},
    {"i32", "if x1 > x2 then x1 else x2, y1", OPT_UNORDERED, false, {0}},
    {"i32", "if x1 > x2 then x1 else x2, if x1 > x2 then y2 else y1", OPT_UNORDERED, false, {0}},
    {"i32", "if x1 > x2 then x1 else x2, y1 + y2", OPT_UNORDERED, false, {0}},
    /* of two zeros max takes +0, wherever it stands */
    {"f32", "max(x1, x2), if x1 >= x2 then y1 else y2", OPT_UNORDERED, false, {0}},
    /* NaNs */
    BY("f32", "x2 > x1", OPT_UNORDERED, {.greatest = true, .nan = OPT_NAN_STAYS}),
    BY("f64", "x2 >= x1", OPT_UNORDERED, {.greatest = true, .last = true, .nan = OPT_NAN_STAYS}),
    BY("f32", "not(x1 >= x2)", OPT_UNORDERED, {.greatest = true, .nan = OPT_NAN_TAKES, .last_nan = true}),
    BY("f32", "not(x1 > x2)", OPT_UNORDERED, {.greatest = true, .last = true, .nan = OPT_NAN_TAKES, .last_nan = true}),
    BY("f32", "lor(x2 > x1, land(x1 != x1, x2 == x2))", OPT_UNORDERED, {.greatest = true, .nan = OPT_NAN_LOSES}),
    BY("f64", "lor(x2 < x1, land(is_nan(x1), not(is_nan(x2))))", OPT_UNORDERED, {.nan = OPT_NAN_LOSES}),
    BY("f32", "lor(x2 >= x1, is_nan(x1))", OPT_UNORDERED,
       {.greatest = true, .last = true, .nan = OPT_NAN_LOSES, .last_nan = true}),
    BY("f32", "lor(x2 > x1, land(x2 == x1, y2 < y1))", OPT_ASCENDS, {.greatest = true, .nan = OPT_NAN_STAYS}),
    BY("f32", "not(lor(x1 > x2, land(x2 == x1, y1 < y2)))", OPT_ASCENDS,
       {.greatest = true, .nan = OPT_NAN_TAKES, .last_nan = true}),
    NOT_BY("f32", "lor(x2 > x1, x2 != x2)", OPT_UNORDERED),
    NOT_BY("f32", "lor(x2 > x1, land(x1 != x1, x2 != x2))", OPT_UNORDERED),
};

static const ir_fn *operator_of(arena *a, const example *e, ir_program **p)
{
    const char *message = NULL;
    const char *source =
        arena_printf(a,
                     "extents n x = input [n]%s y = input [n]i32 z = zip: map x, y {x: %s, y: i32 -> x, y} "
                     "s = fold z {x1: %s, y1: i32, x2: %s, y2: i32 -> %s} output s",
                     e->type, e->type, e->type, e->type, e->operator);
    *p = ir_parse(a, source, &message);
    if (!*p)
        fail_msg("%s\n%s", message, source);
    return ir_info(*p, (*p)->output.at[0])->fn;
}

static void finds_choices(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        const opt_order order[] = {OPT_UNORDERED, e->order};
        arena a;
        arena_init(&a, NULL);
        ir_program *p;
        const ir_fn *fn = operator_of(&a, e, &p);
        opt_choice got;
        bool found = opt_find_choice(p, &a, fn, order, &got);
        if (found != e->chooses)
            fail_msg("%s: %s", e->operator, found ? "seems to choose" : "is not found");
        if (found && (got.key != e->is.key || got.greatest != e->is.greatest || got.last != e->is.last ||
                      got.nan != e->is.nan || got.last_nan != e->is.last_nan))
            fail_msg("%s: key %u, %s, %s of equals, NaNs %d, %s of them", e->operator,(unsigned) got.key,
                     got.greatest ? "greatest" : "least", got.last ? "last" : "first", (int)got.nan,
                     got.last_nan ? "last" : "first");
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_choices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
