/* Which components of arrays anybody reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loop/wanted.h"
#include "support/program_text.h"

#define PAIRS "extents n\nx = input [n](f32, i32)\n"
#define SCAN "s = scan x {a: f32, b: i32, c: f32, d: i32 -> a + c, if a > c then b else d}\n"

/* Of the one scan of pairs in the program. */
static void expect_of_scan(const char *source, uint64_t components)
{
    arena a;
    arena_init(&a, NULL);
    ir_program *p = parse(&a, source);
    const l_options options = {.fuse = true, .cost_model = true, .rows = true};
    const l_program *l = l_clusters(p, &options);
    uint64_t found = 0;
    for (ir_id id = 1; id < l->nodes; id++)
        if (ir_at(p, id)->kind == IR_SCAN && l->wanted[id])
            found = l->wanted[id] & 3;
    if (found != components)
        fail_msg("%llx\n%s", (unsigned long long)found, source);
    arena_free(&a);
}

static void what_maps_mention(void **state)
{
    (void)state;
    expect_of_scan(PAIRS SCAN "y = map s {a: f32, b: i32 -> b} output y", 2);
    expect_of_scan(PAIRS SCAN "y = map s {a: f32, b: i32 -> a * 2.0f32} output y", 1);
    expect_of_scan(PAIRS SCAN "y = map s {a: f32, b: i32 -> a * f32(b)} output y", 3);
    expect_of_scan(PAIRS SCAN "y = map indexed s {i: i64, a: f32, b: i32 -> i32(i) + b} output y", 2);
    expect_of_scan(PAIRS SCAN "y = map x, s {a: f32, b: i32, c: f32, d: i32 -> a * c} output y", 1);
    /* two that take one each */
    expect_of_scan(PAIRS SCAN "y = map s {a: f32, b: i32 -> b} z = map s {a: f32, b: i32 -> a} output y, z", 3);
}

static void what_is_read(void **state)
{
    (void)state;
    expect_of_scan(PAIRS SCAN "y = generate [n] {i: i64 -> s[safe i].1} output y", 2);
    expect_of_scan(PAIRS SCAN "f = fold s seed 0.0f32, 0i32 {a: f32, b: i32, c: f32, d: i32 -> a + c, b} "
                              "y = map f {a: f32, b: i32 -> b} output y",
                   3);
    expect_of_scan(PAIRS SCAN "t = backpermute safe [n] s {i: i64 -> i} y = map t {a: f32, b: i32 -> b} output y", 3);
    /* all of a result; and what only a dead operation reads */
    expect_of_scan(PAIRS SCAN "output s", 3);
    expect_of_scan(PAIRS SCAN "y = map s {a: f32, b: i32 -> b} z = map s {a: f32, b: i32 -> a} output y", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_maps_mention), cmocka_unit_test(what_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
