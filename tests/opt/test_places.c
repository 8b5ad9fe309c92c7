/* Which permutes become maps: texts in, texts out; and they mean the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "ir/interpret.h"
#include "opt/places.h"
#include "support/program_text.h"

enum { N = 3, M = 5 };

#define INPUTS "extents n, m\nx = input [n, m]i64\n"
#define LAST_OF(d, place) INPUTS "d = " d "\nt = generate [n, m] {i: i64, k: i64 -> " place "}\n"
#define PERMUTE(d, place, f) LAST_OF(d, place) "y = permute d, t, x {a: i64, b: i64 -> " f "}\noutput y\n"
#define ZEROS "generate [m, n] {k: i64, i: i64 -> 10 * k + i}"
#define SAME "generate [n, m] {i: i64, k: i64 -> 10 * k + i}"

static const struct {
    const char *before;
    unsigned maps, permutes; /* afterwards */
} programs[] = {
    {PERMUTE(ZEROS, "k, i", "a + b"), 1, 0}, /* transposed, */
    {PERMUTE(ZEROS, "k, i", "a"), 1, 0},     /* whatever was there, */
    {LAST_OF(ZEROS, "k, i") "y = permute last d, t, x\noutput y\n", 0, 0},
    {PERMUTE(SAME, "i, k", "a + b"), 1, 0},         /* where it is, */
    {PERMUTE(SAME, "n - 1 - i, k", "a + b"), 1, 0}, /* turned round, */
    {PERMUTE(ZEROS, "m - k - 1, n - 1 - i", "max(a, b)"), 1, 0},
    {PERMUTE(ZEROS, "k, i", "a + b") "z = map y {a: i64 -> a + y[1, 2]}\noutput z\n", 2, 0}, /* read elsewhere; */
    {PERMUTE(SAME, "i, i", "a + b"), 0, 1}, /* some places have several, */
    {PERMUTE(SAME, "i, 0", "a + b"), 0, 1},
    {PERMUTE("generate [n + 1, m] {i: i64, k: i64 -> i}", "i, k", "a + b"), 0, 1},   /* or none, */
    {PERMUTE(ZEROS, "k, if i < 1 then -9223372036854775808 else i", "a + b"), 0, 1}, /* or some are dropped */
    {PERMUTE(ZEROS, "k, i", "quot(a, b)"), 0, 1},                                    /* may fail */
};

static unsigned kinds(const ir_program *p, arena *a, ir_kind kind)
{
    unsigned n = 0;
    bool *used = arena_array(a, *used, p->node.n);
    for (uint32_t i = 0; i < p->output.n; i++)
        used[p->output.at[i]] = true;
    for (ir_id id = p->node.n; id-- > 1;) {
        if (!used[id] || !ir_is_array(p, id))
            continue;
        n += ir_at(p, id)->kind == kind;
        for (uint32_t i = 0; i < ir_info(p, id)->inputs; i++)
            used[ir_info(p, id)->input[i]] = true;
    }
    return n;
}

static ir_value run(const ir_program *p, arena *a)
{
    static int64_t x[N * M];
    ir_value in = {.rank = 2, .components = 1, .extent = {N, M}}, out[2] = {{0}};
    ir_failure failure = {0};
    for (unsigned i = 0; i < N * M; i++)
        x[i] = (int64_t)(i * i) - 40;
    in.type[0] = T_I64;
    in.data[0] = x;
    if (!ir_interpret(p, a, &in, out, &failure))
        return (ir_value){0};
    return out[p->output.n - 1];
}

static void permutes_become_maps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ARRAY_LENGTH(programs); i++) {
        arena a;
        const char *why = NULL;
        arena_init(&a, NULL);
        ir_program *p = parse(&a, programs[i].before);
        const ir_value before = run(p, &a);
        opt_invert_places(p);
        if (!ir_check_program(p, &a, &why))
            fail_msg("%u: %s\n%s", i, why, print(&a, p));
        if (kinds(p, &a, IR_MAP) != programs[i].maps || (kinds(p, &a, IR_PERMUTE) > 0) != (programs[i].permutes > 0))
            fail_msg("%u:\n%s", i, print(&a, p));
        const ir_value after = run(p, &a);
        assert_int_equal(after.rank, before.rank);
        assert_memory_equal(after.extent, before.extent, sizeof(after.extent));
        if (before.rank)
            assert_memory_equal(after.data[0], before.data[0], (size_t)before.extent[0] * (size_t)before.extent[1] * 8);
        arena_free(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(permutes_become_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
