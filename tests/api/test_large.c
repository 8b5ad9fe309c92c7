/* Functions so large that they are compiled as several, with little effort: the same results as the interpreter's,
 * wherever they stand; and time and memory grow no faster than the program does. */
#include <stdlib.h>
#include <sys/resource.h>

#include "both.h"

enum { LARGE = 7000, LITTLE = 2500, BRIEF = 150, ALIVE = 37, ATTEMPTS = 4 };

/* Many values alive, some of them for long; what is done depends on the place. */
static sn_scalar mixed(sn_scalar x, int operations)
{
    sn_scalar row[ALIVE];
    for (int i = 0; i < ALIVE; i++)
        row[i] = sn_add(x, i % 5);
    for (int i = 0; i < operations; i++) {
        sn_scalar *to = &row[i % ALIVE], other = row[(i * 7 + 3) % ALIVE];
        switch (i % 4) {
        case 0:
            *to = sn_add(*to, other);
            break;
        case 1:
            *to = sn_min(*to, other);
            break;
        case 2:
            *to = sn_sub(other, *to);
            break;
        default:
            *to = sn_mul(*to, i % 3);
        }
    }
    for (int i = 1; i < ALIVE; i++)
        row[0] = sn_max(row[0], row[i]);
    return row[0];
}

static sn_scalar plain(sn_scalar x)
{
    return mixed(x, LARGE);
}

static sn_scalar brief(sn_scalar x)
{
    return mixed(x, BRIEF);
}

static sn_scalar chosen(sn_scalar x)
{
    return sn_if(sn_lt(x, 1), mixed(x, LITTLE), sn_if(sn_lt(x, 3), mixed(sn_add(x, 2), LITTLE), x));
}

static sn_scalar turn(sn_scalar i, sn_scalar x)
{
    return sn_if(sn_lt(i, 2), mixed(sn_min(x, 9), LARGE), sn_add(x, 1));
}

static sn_scalar looped(sn_scalar x)
{
    return sn_loop(3, turn, x);
}

static sn_acc map_plain(sn_acc xs)
{
    return sn_map(plain, xs);
}

static sn_acc map_brief(sn_acc xs)
{
    return sn_map(brief, xs);
}

static sn_acc sum_brief(sn_acc xs)
{
    return sn_fold(sn_max, 0, sn_map(brief, xs));
}

static sn_acc map_chosen(sn_acc xs)
{
    return sn_map(chosen, xs);
}

static sn_acc map_looped(sn_acc xs)
{
    return sn_map(looped, xs);
}

static sn_acc sum_plain(sn_acc xs)
{
    return sn_fold(sn_max, 0, sn_map(plain, xs));
}

static void straight(void **state)
{
    (void)state;
    both("[n]T -> [n]T", map_plain, "f32 i64 u8", SMALL, 1, 100);
}

/* Not large, but of more values at once than fit into registers several times over. */
static void of_many_values(void **state)
{
    (void)state;
    both("[n]T -> [n]T", map_brief, "f32 f64 i64 u8", SMALL, 1, 100, 1000);
    both("[n]T -> T", sum_brief, "i16 f32", SMALL, 3000);
}

static void in_branches_and_loops(void **state)
{
    (void)state;
    both("[n]T -> [n]T", map_chosen, "i32", SMALL, 3, 70);
    both("[n]T -> [n]T", map_looped, "i32", SMALL, 70);
    both("[n]T -> T", sum_plain, "i32", SMALL, 3000);
}

/* --- reads that may fail, in every part --- */

typedef struct follow {
    sn_acc table;
    int n;
} follow;

static sn_scalar follow_reads(void *env, sn_scalar x)
{
    const follow *f = env;
    for (int i = 0; i < f->n; i++)
        x = sn_linear_index(f->table, x);
    return x;
}

static sn_acc reads(sn_acc at, sn_acc table)
{
    follow f = {table, 700};
    return sn_map(sn_closure(follow_reads, &f), at);
}

static void reads_that_depend_on_reads(void **state)
{
    (void)state;
    both("[n]i64, [n]i64 -> [n]i64", reads, NULL, INDICES, 1, 20, 100);
}

static void reads_that_fail(void **state)
{
    enum { N = 40, TABLE = 700 };
    int64_t at[N], table[TABLE], out[N];
    (void)state;
    sn_context *const contexts[] = {both_cpu(), both_interpreter()};
    for (int k = 0; k < TABLE; k++)
        table[k] = k + 1; /* leads out of the table after TABLE - k reads */
    for (int k = 0; k < N; k++)
        at[k] = 0;
    for (unsigned i = 0; i < 2; i++) {
        sn_program *p = sn_compile(contexts[i], "[n]i64, [m]i64 -> [n]i64", reads);
        assert_non_null(p);
        assert_int_equal(sn_call(p, sn_in(at, N), sn_in(table, TABLE), sn_into(out, N)), SN_OK);
        for (int k = 0; k < N; k++)
            assert_int_equal(out[k], TABLE);
        at[17] = 350;
        assert_int_equal(sn_call(p, sn_in(at, N), sn_in(table, TABLE), sn_into(out, N)), SN_OUT_OF_RANGE);
        at[17] = 0;
        sn_drop(p);
    }
}

/* --- growth --- */

static sn_scalar next(void *env, sn_scalar x)
{
    return *(int *)env % 2 ? sn_mul(x, 0.5f) : sn_add(x, 1);
}

static sn_acc chain_of_maps(void *env, int count, const sn_acc *in)
{
    sn_acc x = in[0];
    (void)count;
    for (int i = 0; i < *(int *)env; i++)
        x = sn_map(sn_closure(next, &i), x);
    return x;
}

static sn_scalar sized(void *env, sn_scalar x)
{
    return mixed(x, *(int *)env);
}

static sn_acc one_function(void *env, int count, const sn_acc *in)
{
    (void)count;
    return sn_map(sn_closure(sized, env), in[0]);
}

static double processor_time(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

static double first_call(sn_acc (*body)(void *, int, const sn_acc *), int operations)
{
    float in[4] = {1, 2, 3, 4}, out[4];
    double start = processor_time();
    sn_program *p = sn_compile_env(both_cpu(), "[n]f32 -> [n]f32", body, &operations);
    assert_non_null(p);
    assert_int_equal(sn_call(p, sn_in(in, 4), sn_into(out, 4)), SN_OK);
    sn_drop(p);
    return processor_time() - start;
}

/* Twice the operations take less than three times the time, in the best of some attempts: other work only adds. */
static void assert_linear(sn_acc (*body)(void *, int, const sn_acc *), int operations)
{
    double least = 1e9;
    for (int i = 0; i < ATTEMPTS && least >= 3; i++) {
        double one = first_call(body, operations + i), two = first_call(body, 2 * operations + i);
        least = two / one < least ? two / one : least;
    }
    if (least >= 3)
        fail_msg("twice %d operations take %.1f times the time", operations, least);
}

static void time_is_linear(void **state)
{
    (void)state;
    assert_linear(chain_of_maps, 10000);
    assert_linear(one_function, 12000);
}

static int open(void **state)
{
    setenv("SINTER_CACHE", "off", 1); /* compiled anew each time */
    return both_open(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight),
        cmocka_unit_test(of_many_values),
        cmocka_unit_test(in_branches_and_loops),
        cmocka_unit_test(reads_that_depend_on_reads),
        cmocka_unit_test(reads_that_fail),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, open, both_close);
}
