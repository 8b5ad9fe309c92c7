/* Reads in steps under guards: bits, sums and differences of neighbours of rows whose last result has some of them
 * only, guards before and behind, of all types and steps, in rows short and long, and in arrays of one dimension. */
#include "both.h"

#define ROWS 5, 0, 3, 7, 40, 33, 60, 64, 70, 100, 41, 777, 9, 1000, 3, 4100
#define LENGTHS 0, 1, 7, 8, 9, 64, 100, 1000, 4099, 30011

/* how many elements a result reads, how far apart they begin, and where the first one begins */
typedef struct step {
    sn_acc x;
    int64_t each, step, first;
    bool turned; /* guards say when not to read */
} step;

static sn_scalar below(const step *s, sn_scalar at, sn_scalar n)
{
    return s->turned ? sn_not(sn_gt(at, sn_sub(n, 1))) : sn_lt(at, n);
}

static sn_scalar from_0(const step *s, sn_scalar at)
{
    return s->turned ? sn_not(sn_lt(at, 0)) : sn_ge(at, 0);
}

static sn_scalar in_row(void *env, sn_scalar i, sn_scalar j)
{
    const step *s = env;
    sn_scalar m = sn_extent(s->x, 1), sum = sn_index(s->x, i, sn_min(j, sn_sub(m, 1)));
    for (int64_t k = 0; k < s->each; k++) {
        sn_scalar at = sn_add(sn_mul(j, s->step), s->first + k);
        sn_scalar inside = s->first ? sn_and(from_0(s, at), below(s, at, m)) : below(s, at, m);
        sum = sn_add(sn_mul(sum, 3), sn_if(inside, sn_index(s->x, i, at), 1));
    }
    return sum;
}

static sn_scalar in_line(void *env, sn_scalar j)
{
    const step *s = env;
    sn_scalar n = sn_size(s->x), sum = sn_index(s->x, sn_min(j, sn_sub(n, 1)));
    for (int64_t k = 0; k < s->each; k++) {
        sn_scalar at = sn_add(sn_mul(j, s->step), s->first + k);
        sn_scalar inside = s->first ? sn_and(from_0(s, at), below(s, at, n)) : below(s, at, n);
        sum = sn_add(sn_mul(sum, 3), sn_if(inside, sn_index(s->x, at), 1));
    }
    return sum;
}

/* the other way round */
static sn_scalar backwards(void *env, sn_scalar i, sn_scalar j)
{
    const step *s = env;
    sn_scalar m = sn_extent(s->x, 1), sum = sn_index(s->x, i, 0);
    for (int64_t k = 0; k < s->each; k++) {
        sn_scalar at = sn_sub(sn_sub(m, 1 + k), sn_mul(j, s->step));
        sum = sn_add(sum, sn_if(sn_ge(at, 0), sn_index(s->x, i, at), 1));
    }
    return sum;
}

/* the step of the body at hand */
static step now;

static sn_acc of_rows(sn_acc x)
{
    step *s = &(step){x, now.each, now.step, now.first, now.turned};
    sn_scalar columns = sn_quot(sn_add(sn_extent(x, 1), now.step - 1), now.step);
    sn_scalar shape = sn_shape(sn_extent(x, 0), columns);
    return sn_results(sn_generate(shape, sn_closure(in_row, s)), sn_generate(shape, sn_closure(backwards, s)));
}

static sn_acc of_line(sn_acc x)
{
    step *s = &(step){x, now.each, now.step, now.first, now.turned};
    return sn_generate(sn_shape(sn_quot(sn_add(sn_size(x), now.step - 1), now.step)), sn_closure(in_line, s));
}

/* guards that let too much through */
static sn_scalar too_far(void *env, sn_scalar i, sn_scalar j)
{
    sn_acc x = *(sn_acc *)env;
    sn_scalar at = sn_mul(j, 2), m = sn_extent(x, 1), sum = sn_index(x, i, j);
    for (int k = 0; k < 4; k++)
        sum = sn_add(sum, sn_if(sn_le(sn_add(at, k), m), sn_index(x, i, sn_add(at, k)), 1));
    return sum;
}

static sn_acc failing(sn_acc x)
{
    return sn_generate(sn_shape(sn_extent(x, 0), sn_extent(x, 1)), sn_closure(too_far, &x));
}

static void reads(void **state)
{
    (void)state;
    static const step steps[] = {{.each = 8, .step = 8},
                                 {.each = 2, .step = 2},
                                 {.each = 3, .step = 3, .turned = true},
                                 {.each = 4, .step = 4, .first = -1},
                                 {.each = 5, .step = 2, .first = -2, .turned = true},
                                 {.each = 7, .step = 7},
                                 {.each = 16, .step = 16},
                                 {.each = 3, .step = 1, .first = -1}};
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        now = steps[i];
        const char *types = i == 0 || i == 3 ? "i8 u8 i16 u16 i32 u32 i64 u64 f32 f64" : "u8 i16 f32 f64";
        both("[n,m]T -> [n,k]T, [n,k]T", of_rows, types, SMALL, ROWS);
        both("[n]T -> [k]T", of_line, types, SMALL, LENGTHS);
    }
    both("[n,m]T -> [n,m]T", failing, "u8 f32", SMALL, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads)};
    return cmocka_run_group_tests(tests, both_open, both_close);
}
