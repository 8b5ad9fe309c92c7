/* How many lanes elements are computed in: registers by what they cost and by their loops, of the widest value. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "skeleton/element/lower.h"

static arena memory;

static int setup(void **state)
{
    (void)state;
    arena_init(&memory, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&memory);
    return 0;
}

/* So many multiplications one after the other, from `v` on; the last one's name. */
static const char *chain(text *out, const char *v, unsigned n)
{
    const char *last = v;
    for (unsigned i = 0; i < n; i++) {
        const char *next = arena_printf(&memory, "t%u", i);
        text_printf(out, "%s = %s * %s\n", next, last, v);
        last = next;
    }
    return last;
}

/* The lanes of the elements of a map of so many values. */
static unsigned lanes_of(const char *source, uint32_t results, uint32_t vector_bytes)
{
    const char *message = "";
    ir_program *p = ir_parse(&memory, source, &message);
    if (!p)
        fail_msg("%s\n%s", message, source);
    const l_program l = {.ir = p};
    ir_id map = 0;
    for (ir_id id = 1; id < p->node.n; id++)
        map = ir_at(p, id)->kind == IR_MAP ? id : map;
    const ir_fn *fn = ir_info(p, map)->fn;
    assert_int_equal(fn->results, results);
    return sk_lanes_for(&l, &memory, results, fn->result, vector_bytes);
}

static unsigned expected(unsigned vector_bytes, unsigned bytes, unsigned registers)
{
    const unsigned lanes = vector_bytes / bytes * registers;
    return lanes > 256 ? 256 : lanes < 4 ? 4 : lanes;
}

static const struct {
    const char *name, *one;
    unsigned bytes;
} types[] = {{"u8", "1u8", 1}, {"i16", "1i16", 2}, {"f32", "1.0f32", 4}, {"f64", "1.0f64", 8}, {"i64", "1", 8}};

static void registers_by_cost(void **state)
{
    static const unsigned cost[] = {0, 1, 2, 64, 65, 249, 250, 251, 252, 599, 600, 601, 602, 900};
    (void)state;
    for (size_t t = 0; t < ARRAY_LENGTH(types); t++)
        for (size_t i = 0; i < ARRAY_LENGTH(cost); i++)
            for (unsigned bytes = 16; bytes <= 64; bytes *= 2) {
                const unsigned registers = cost[i] <= 250 ? 4 : cost[i] <= 600 ? 2 : 1;
                const char *type = types[t].name;
                text source;
                text_init(&source, &memory);
                text_printf(&source, "extents n\nx = input [n]%s\ny = map x {v: %s\n", type, type);
                const char *last = chain(&source, "v", cost[i]);
                text_printf(&source, "-> %s}\noutput y\n", last);
                const unsigned lanes = lanes_of(text_close(&source), 1, bytes);
                if (lanes != expected(bytes, types[t].bytes, registers))
                    fail_msg("%u operations on %s, %u bytes: %u lanes", cost[i], type, bytes, lanes);
            }
}

/* Functions that are computed from others count as twenty. */
static void registers_of_functions(void **state)
{
    (void)state;
    for (unsigned functions = 1; functions <= 32; functions++) {
        text source;
        text_init(&source, &memory);
        text_add(&source, "extents n\nx = input [n]f32\ny = map x {v: f32\n");
        for (unsigned i = 0; i < functions; i++)
            text_printf(&source, "e%u = exp(%s)\n", i, i ? arena_printf(&memory, "e%u", i - 1) : "v");
        text_printf(&source, "-> e%u}\noutput y\n", functions - 1);
        const char *s = text_close(&source);
        const unsigned cost = 20 * functions;
        if (lanes_of(s, 1, 64) != expected(64, 4, cost <= 250 ? 4 : cost <= 600 ? 2 : 1))
            fail_msg("%u functions\n%s", functions, s);
    }
}

/* The widest value counts, whether it is read, computed or a result; not so indices, which are scalars. */
static void widest_values(void **state)
{
    static const struct {
        const char *function;
        unsigned results, bytes;
    } row[] = {
        {"{i: i64, v: u8 -> v}", 1, 1},
        {"{i: i64, v: u8 -> v + u8(i)}", 1, 1},
        {"{i: i64, v: u8 -> v, i16(v)}", 2, 2},
        {"{i: i64, v: u8 -> i64(v)}", 1, 8},
        {"{i: i64, v: u8 -> v, i}", 2, 8},
        {"{i: i64, v: u8 -> u8(f32(v) * 0.5f32)}", 1, 4},
        {"{i: i64, v: u8 -> u8(f64(v) * 0.5f64)}", 1, 8},
        {"{i: i64, v: u8 -> u8(w[safe i])}", 1, 8},
        {"{i: i64, v: u8 -> v > 3u8}", 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(row); i++) {
        const char *s = arena_printf(
            &memory, "extents n\nx = input [n]u8\nw = input [n]i64\ny = map indexed x %s\noutput y\n", row[i].function);
        for (unsigned bytes = 16; bytes <= 64; bytes *= 2)
            if (lanes_of(s, row[i].results, bytes) != expected(bytes, row[i].bytes, 4))
                fail_msg("%s", s);
    }
}

/* Loops of more states than there are registers for, or of much work, have half as many. */
static void registers_of_loops(void **state)
{
    (void)state;
    for (unsigned counted = 0; counted < 2; counted++)
        for (unsigned states = 1; states <= 6; states++)
            for (unsigned work = 1; work <= 80; work++) {
                unsigned cost = 0;
                text source;
                text_init(&source, &memory);
                text_printf(&source, "extents n\nx = input [n]f32\ny = map x {v: f32\nl = %s",
                            counted ? "for (k < 9; " : "while (");
                for (unsigned s = 0; s < states; s++)
                    text_printf(&source, "%ss%u = v", s ? ", " : "", s);
                text_add(&source, ") {\n");
                const char *last = chain(&source, "s0", work);
                cost += work;
                if (!counted)
                    text_printf(&source, "test %s < 100.0f32\n", last), cost++;
                text_printf(&source, "next %s", last);
                for (unsigned s = 1; s < states; s++)
                    text_printf(&source, ", s%u * s%u", s, s - 1), cost++;
                text_printf(&source, "\n}\n-> l.%u}\noutput y\n", states - 1);
                const char *whole = text_close(&source);
                const bool heavy = states > (counted ? 1 : 4);
                if (lanes_of(whole, 1, 32) != expected(32, 4, heavy || cost > 64 ? 2 : 4))
                    fail_msg("%u operations\n%s", cost, whole);
            }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {TEST(registers_by_cost), TEST(registers_of_functions), TEST(widest_values),
                                       TEST(registers_of_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
