/* Devices whose blocks are many threads: each computes some neighbouring rows and columns of a stencil, loaded and
 * stored together where rows and memory allow it. Extents around those of tiles, and enough of them for threads with
 * several rows, against the interpreter. */
#include "counts.h"
#include "weigh.h"

static sn_scalar small(sn_scalar s)
{
    return weigh(s, 3, 3);
}

static sn_scalar square(sn_scalar s)
{
    return weigh(s, 5, 5);
}

static sn_scalar down(sn_scalar s)
{
    return weigh(s, 7, 1);
}

static sn_scalar across(sn_scalar s)
{
    return weigh(s, 1, 5);
}

static sn_acc clamped(sn_acc a)
{
    return sn_stencil(small, sn_pattern(3, 3), sn_clamp, a);
}

static sn_acc mirrored(sn_acc a)
{
    return sn_stencil(square, sn_pattern(5, 5), sn_mirror, a);
}

static sn_acc wrapped(sn_acc a)
{
    return sn_stencil(small, sn_pattern(3, 3), sn_wrap, a);
}

static sn_acc constant(sn_acc a)
{
    return sn_stencil(down, sn_pattern(7, 1), sn_constant(3), a);
}

static sn_scalar far_out(sn_scalar row, sn_scalar column)
{
    return sn_sub(sn_mul(row, 3), column);
}

static sn_acc outside(sn_acc a)
{
    return sn_stencil(across, sn_pattern(1, 5), sn_outside(far_out), a);
}

/* Rows of threads that hang over the edges, rows that are no multiple of what a thread has, and threads of all numbers
 * of rows. */
#define IMAGES                                                                                                         \
    0, 0, 3, 0, 1, 1, 2, 3, 5, 4, 9, 8, 8, 128, 33, 130, 64, 256, 65, 257, 100, 64, 16, 1024, 300, 20, 128, 400

static void boundaries(void **state)
{
    (void)state;
    if (on_cpu())
        skip();
    both("[h,w]T -> [h,w]T", clamped, "u8 i16 f32 f64", SMALL, IMAGES);
    both("[h,w]T -> [h,w]T", mirrored, "u8 f32", SMALL, IMAGES);
    both("[h,w]T -> [h,w]T", wrapped, "u16 f32", SMALL, IMAGES);
    both("[h,w]T -> [h,w]T", constant, "i8 i64", SMALL, IMAGES);
    both("[h,w]i64 -> [h,w]i64", outside, NULL, SMALL, IMAGES);
    both("[h,w]T -> [h,w]T", clamped, "u8 f32", SMALL, 256, 512);
}

static sn_scalar line(sn_scalar s)
{
    return sn_sub(sn_add(sn_at(s, -2), sn_at(s, 1)), sn_mul(sn_at(s, 0), 3));
}

static sn_acc lines(sn_acc a)
{
    return sn_stencil(line, sn_pattern(5), sn_mirror, a);
}

static sn_scalar star(sn_scalar s)
{
    sn_scalar sum = sn_add(sn_at(s, -1, 0, 0), sn_mul(sn_at(s, 1, 0, 0), 5));
    sum = sn_add(sum, sn_add(sn_at(s, 0, -1, 0), sn_mul(sn_at(s, 0, 1, 0), 3)));
    return sn_add(sum, sn_add(sn_at(s, 0, 0, -1), sn_mul(sn_at(s, 0, 0, 1), 7)));
}

static sn_acc stars(sn_acc a)
{
    return sn_stencil(star, sn_pattern(3, 3, 3), sn_clamp, a);
}

static sn_acc stars_wrapped(sn_acc a)
{
    return sn_stencil(star, sn_pattern(3, 3, 3), sn_wrap, a);
}

static void ranks(void **state)
{
    (void)state;
    if (on_cpu())
        skip();
    both("[n]T -> [n]T", lines, "u8 f32", SMALL, 0, 1, 2, 5, 64, 1023, 1024, 1025, 4096, 5001);
    both("[d,h,w]T -> [d,h,w]T", stars, "u8 f32", SMALL, 1, 1, 1, 3, 5, 9, 2, 33, 130, 5, 16, 128, 0, 3, 4);
    both("[d,h,w]T -> [d,h,w]T", stars_wrapped, "i32", SMALL, 2, 3, 4, 3, 20, 140);
}

static sn_scalar slope(sn_scalar s)
{
    return sn_sub(sn_at(s, 0, 1), sn_at(s, 0, -1));
}

static sn_scalar difference(sn_scalar a, sn_scalar b)
{
    return sn_sub(weigh(a, 3, 3), sn_mul(sn_at(b, 1, 0), sn_at(b, 0, 0)));
}

static sn_acc several_results(sn_acc a)
{
    sn_acc blurred = clamped(a);
    return sn_results(blurred, sn_zip_with(sn_add, blurred, a), sn_stencil(slope, sn_pattern(3, 3), sn_clamp, a));
}

/* In memory between the two, as no block waits for rows of its own. */
static sn_acc chained(sn_acc a)
{
    return mirrored(clamped(clamped(a)));
}

static sn_scalar grey(sn_scalar a, sn_scalar b)
{
    return sn_add(sn_mul(a, 3), b);
}

/* What the stencil reads is computed by each thread for all of its elements, from memory of two types. */
static sn_acc of_sums(sn_acc a, sn_acc b)
{
    return clamped(sn_zip_with(grey, a, sn_map(sn_to_i32, b)));
}

static sn_acc of_two(sn_acc a, sn_acc b)
{
    return sn_stencil2(difference, sn_pattern(3, 3), sn_clamp, a, sn_pattern(3, 3), sn_constant(2), b);
}

static sn_scalar some(sn_scalar s)
{
    return sn_if(sn_gt(sn_at(s, 0, 0), 1), sn_at(s, -1, 1),
                 sn_if(sn_lt(sn_at(s, 0, 0), 0), sn_at(s, 1, 0), sn_at(s, 0, -1)));
}

/* What may fail is a thread's only element. */
static sn_scalar may_fail(sn_scalar s)
{
    return sn_quot(sn_at(s, 0, 1), sn_add(sn_abs(sn_at(s, -1, 0)), 1));
}

/* Far from the edges and near them, in some elements of a thread and in others. */
static sn_scalar fails(sn_scalar s)
{
    return sn_quot(sn_at(s, 0, 1), sn_at(s, -1, 0));
}

static sn_acc failing_somewhere(sn_acc a)
{
    return sn_stencil(fails, sn_pattern(3, 3), sn_clamp, a);
}

static sn_scalar turn(void *env, sn_scalar x)
{
    return sn_add(sn_mul(x, 2), sn_at(*(sn_scalar *)env, 0, -1));
}

static sn_scalar rounds(sn_scalar s)
{
    return sn_iterate(3, sn_closure(turn, &s), sn_at(s, 1, 0));
}

static sn_acc looping(sn_acc a)
{
    return sn_stencil(rounds, sn_pattern(3, 3), sn_wrap, a);
}

static sn_acc chosen(sn_acc a)
{
    return sn_stencil(some, sn_pattern(3, 3), sn_clamp, a);
}

static sn_acc failing(sn_acc a)
{
    return sn_stencil(may_fail, sn_pattern(3, 3), sn_mirror, a);
}

static sn_acc iterated(sn_acc a)
{
    return sn_aiterate(7, chosen, a);
}

static void what_is_computed(void **state)
{
    (void)state;
    if (on_cpu())
        skip();
    both("[h,w]T -> [h,w]T, [h,w]T, [h,w]T", several_results, "f32 u8", SMALL, 5, 4, 33, 130, 100, 64, 256, 400);
    both("[h,w]T -> [h,w]T", chained, "f32", SMALL, 5, 4, 33, 130, 64, 256);
    both("[h,w]i32, [h,w]u8 -> [h,w]i32", of_sums, NULL, SMALL, 5, 4, 33, 130, 64, 256, 256, 400);
    both("[h,w]T, [h,w]T -> [h,w]T", of_two, "f32 i16", SMALL, 5, 4, 33, 130, 64, 256);
    both("[h,w]T -> [h,w]T", chosen, "f32 u8", MIXED, 5, 4, 33, 130, 64, 256);
    both("[h,w]T -> [h,w]T", failing, "i32", SMALL, 5, 4, 33, 130);
    both("[h,w]T -> [h,w]T", failing_somewhere, "i32 u8", SMALL, 1, 1, 2, 3, 33, 130, 64, 256);
    both("[h,w]T -> [h,w]T", looping, "i32 f32", SMALL, 5, 4, 33, 130, 64, 256);
    both("[h,w]T -> [h,w]T", iterated, "f32", SMALL, 5, 4, 33, 130);
}

static void which_loop_it_is(void **state)
{
    (void)state;
    if (on_cpu())
        skip();
    sn_program *p = compiled_in(both_cpu(), "[h,w]u8 -> [h,w]u8", SN_BODY(clamped));
    uint8_t x[40 * 50] = {0}, y[40 * 50];
    assert_int_equal(sn_call(p, sn_in(x, 40, 50), sn_into(y, 40, 50)), SN_OK);
    says(p, "kernels", "if either");
    sn_drop(p);
    p = compiled_in(both_cpu(), "[h,w]u8 -> [h,w]u8", SN_BODY(chained));
    says(p, "edges", "memory costs less than rows kept for neighbours");
    sn_drop(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(boundaries), cmocka_unit_test(ranks),
                                       cmocka_unit_test(what_is_computed), cmocka_unit_test(which_loop_it_is)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
