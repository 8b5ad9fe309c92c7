/* Loops over arrays whose rounds are done many at a time, element by element: against the interpreter, bit for bit, and
 * that they are done so. */
#include "both.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the program do many rounds of a loop at once? */
static bool at_once(sn_program *p)
{
    return strstr(sn_explain(p, "plan"), "rounds at once") != NULL;
}

/* ... and how many launches does a call take? */
static uint64_t launches_of(const char *signature, sn_body body, int64_t n, int64_t m, bool expected)
{
    sn_context *cx = both_cpu();
    sn_program *p = sn_compile(cx, signature, body);
    assert_non_null(p);
    assert_int_equal(at_once(p), expected);
    int32_t *x = calloc((size_t)(n * m), sizeof *x), *y = calloc((size_t)(n * m), sizeof *y);
    assert_true(x && y);
    const bool matrix = strchr(signature, ',');
    const sn_arg in = matrix ? sn_in(x, n, m) : sn_in(x, n), out = matrix ? sn_into(y, n, m) : sn_into(y, n);
    const uint64_t before = sn_counts(cx).launches;
    assert_int_equal(sn_call_n(p, 2, (const sn_arg[]){in, out}), SN_OK);
    const uint64_t after = sn_counts(cx).launches;
    free(x);
    free(y);
    sn_drop(p);
    return after - before;
}

/* --- what all need --- */

typedef struct round_env {
    const sn_acc *a; /* the round's number, then the state */
    const void *more;
} round_env;

static sn_scalar number_of(const round_env *e)
{
    return sn_the(e->a[0]);
}

/* --- elements alone --- */

static sn_scalar logistic(void *env, sn_scalar x)
{
    (void)env;
    return sn_mul(sn_mul(x, 3), sn_sub(1, x));
}

static sn_acc logistic_round(sn_acc a)
{
    return sn_map(sn_closure(logistic, NULL), a);
}

static sn_acc logistic_100(sn_acc a)
{
    return sn_aiterate(100, logistic_round, a);
}

static sn_acc logistic_often(sn_acc n, sn_acc a)
{
    return sn_aiterate(sn_the(n), logistic_round, a);
}

static sn_scalar plus_times(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    return sn_add(sn_mul(x[1], sn_i32(3)), sn_to_i32(sn_add(number_of(e), x[0])));
}

static sn_acc numbered_round(sn_acc k, sn_acc a)
{
    const sn_acc all[] = {k, a};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(plus_times, &e, 2), a);
}

static sn_acc numbered(sn_acc a)
{
    return sn_aloop(70, numbered_round, a);
}

static sn_acc fibonacci_round(sn_acc k, sn_acc a, sn_acc b)
{
    (void)k;
    return sn_results(b, sn_zip_with(sn_add, a, b));
}

static sn_acc fibonacci(sn_acc a, sn_acc b)
{
    return sn_aloop(65, fibonacci_round, sn_results(a, b));
}

static sn_scalar square_plus(sn_scalar z, sn_scalar c)
{
    sn_scalar re = sn_get(z, 0), im = sn_get(z, 1);
    return sn_tuple(sn_add(sn_sub(sn_mul(re, re), sn_mul(im, im)), sn_get(c, 0)),
                    sn_add(sn_mul(sn_mul(re, im), 2), sn_get(c, 1)));
}

static sn_acc orbit_round(sn_acc k, sn_acc z, sn_acc c)
{
    (void)k;
    return sn_results(sn_zip_with(square_plus, z, c), c);
}

static sn_acc orbits(sn_acc re, sn_acc im)
{
    sn_acc c = sn_zip(re, im), part[2];
    sn_unzip(sn_result(sn_aloop(33, orbit_round, sn_results(c, c)), 0), 2, part);
    return part[0];
}

/* Elements of a scalar loop within the round. */
static sn_scalar inner_step(void *env, int count, const sn_scalar *x)
{
    (void)count;
    return sn_add(x[1], sn_mul(*(sn_scalar *)env, sn_to_i32(x[0])));
}

static sn_scalar inner_loop(void *env, int count, const sn_scalar *x)
{
    (void)env, (void)count;
    sn_scalar own = x[0];
    return sn_loop(3, sn_closure_of(inner_step, &own, 2), sn_i32(1));
}

static sn_acc inner_round(sn_acc a)
{
    return sn_map(sn_closure_of(inner_loop, NULL, 1), a);
}

static sn_acc inner_loops(sn_acc a)
{
    return sn_aiterate(9, inner_round, a);
}

static void elements_alone(void **state)
{
    (void)state;
    both("[n]T -> [n]T", logistic_100, "f32 f64 i32", POSITIVE, 0, 1, 33, 5000);
    both("i64, [n]f32 -> [n]f32", logistic_often, NULL, POSITIVE, 0, 7, 1000);
    both("[n]i32 -> [n]i32", numbered, NULL, MIXED, 0, 1, 1000, 4099);
    both("[n]i64, [n]i64 -> [n]i64, [n]i64", fibonacci, NULL, MIXED, 0, 5, 1000);
    both("[n]f32, [n]f32 -> [n]f32", orbits, NULL, MIXED, 0, 17, 1000);
    both("[n]i32 -> [n]i32", inner_loops, NULL, SMALL, 0, 17, 1000);
    assert_int_equal(launches_of("[n]i32 -> [n]i32", SN_BODY(numbered), 1000, 1, true), 2); /* of 64 rounds and of 6 */
    assert_int_equal(launches_of("[n]i32 -> [n]i32", SN_BODY(inner_loops), 1000, 1, true), 1);
}

/* --- slices --- */

static sn_scalar by_way(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    sn_scalar k = number_of(e), i = sn_get(x[0], 0), j = sn_get(x[0], 1);
    return sn_min(x[1], sn_add(sn_index(e->a[1], i, k), sn_index(e->a[1], k, j)));
}

static sn_acc way_round(sn_acc k, sn_acc d)
{
    const sn_acc all[] = {k, d};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(by_way, &e, 2), d);
}

static sn_acc ways(sn_acc d)
{
    return sn_aloop(sn_extent(d, 0), way_round, d);
}

static sn_acc few_ways(sn_acc n, sn_acc d)
{
    return sn_aloop(sn_the(n), way_round, d);
}

/* The same with arrays between. */
static sn_acc way_round_in_steps(sn_acc k, sn_acc d)
{
    sn_acc to = sn_slice(d, SN_ALL, sn_the(k)), from = sn_slice(d, sn_the(k), SN_ALL);
    sn_acc through =
        sn_zip_with(sn_add, sn_replicate(to, SN_ALL, sn_extent(d, 1)), sn_replicate(from, sn_extent(d, 0), SN_ALL));
    return sn_zip_with(sn_min, d, through);
}

static sn_acc ways_in_steps(sn_acc d)
{
    return sn_aloop(sn_extent(d, 0), way_round_in_steps, d);
}

/* With the place that is gone by. */
static sn_scalar better_by_way(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    sn_scalar k = number_of(e), i = sn_get(x[0], 0), j = sn_get(x[0], 1);
    sn_scalar through = sn_add(sn_index(e->a[1], i, k), sn_index(e->a[1], k, j));
    sn_scalar better = sn_lt(through, x[1]);
    return sn_tuple(sn_min(x[1], through), sn_if(better, sn_index(e->a[2], i, k), sn_index(e->a[2], i, j)));
}

static sn_acc place_round(sn_acc k, sn_acc d, sn_acc first)
{
    const sn_acc all[] = {k, d, first};
    round_env e = {all, NULL};
    sn_acc part[2];
    sn_unzip(sn_imap(sn_closure_of(better_by_way, &e, 2), d), 2, part);
    return sn_results(part[0], part[1]);
}

static sn_acc places(sn_acc d, sn_acc first)
{
    return sn_aloop(sn_extent(d, 0), place_round, sn_results(d, first));
}

/* An elimination, without a search for pivots. */
static sn_scalar eliminated(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    sn_acc a = e->a[1];
    sn_scalar k = number_of(e), i = sn_get(x[0], 0), j = sn_get(x[0], 1);
    sn_scalar factor = sn_div(sn_index(a, i, k), sn_index(a, k, k));
    return sn_if(sn_land(sn_gt(i, k), sn_ge(j, k)), sn_sub(x[1], sn_mul(factor, sn_index(a, k, j))), x[1]);
}

static sn_acc elimination_round(sn_acc k, sn_acc a)
{
    const sn_acc all[] = {k, a};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(eliminated, &e, 2), a);
}

static sn_acc elimination(sn_acc a)
{
    return sn_aloop(sn_extent(a, 0), elimination_round, a);
}

/* The same from the last row on: the index is the extent less the number of the round. */
static sn_scalar eliminated_backwards(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    sn_acc a = e->a[1];
    sn_scalar k = sn_sub(sn_sub(sn_extent(a, 0), 1), number_of(e)), i = sn_get(x[0], 0), j = sn_get(x[0], 1);
    return sn_if(sn_lt(i, k), sn_sub(x[1], sn_mul(sn_index(a, i, k), sn_index(a, k, j))), x[1]);
}

static sn_acc backwards_round(sn_acc k, sn_acc a)
{
    const sn_acc all[] = {k, a};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(eliminated_backwards, &e, 2), a);
}

static sn_acc backwards(sn_acc a)
{
    return sn_aloop(sn_extent(a, 0), backwards_round, a);
}

/* Of one dimension: a triangular system is solved. */
static sn_scalar solved(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    const sn_acc *matrix = e->more;
    sn_scalar k = number_of(e), i = x[0];
    return sn_if(sn_gt(i, k), sn_sub(x[1], sn_mul(sn_index(*matrix, i, k), sn_index(e->a[1], k))), x[1]);
}

static sn_acc solving_round(void *env, int count, const sn_acc *a)
{
    (void)count;
    round_env e = {a, env};
    return sn_imap(sn_closure_of(solved, &e, 2), a[1]);
}

static sn_acc solve(sn_acc matrix, sn_acc x)
{
    return sn_aloop(sn_extent(x, 0), sn_body_of(solving_round, &matrix, 2), x);
}

/* A state that is one number, and an array beside it. */
static sn_scalar scaled(void *env, sn_scalar x)
{
    return sn_add(x, sn_the(((const round_env *)env)->a[1]));
}

static sn_scalar next_scale(sn_scalar s)
{
    return sn_add(sn_mul(s, sn_i32(5)), sn_i32(1));
}

static sn_acc scale_round(sn_acc k, sn_acc s, sn_acc x)
{
    const sn_acc all[] = {k, s, x};
    round_env e = {all, NULL};
    return sn_results(sn_map(next_scale, s), sn_map(sn_closure(scaled, &e), x));
}

static sn_acc scales(sn_acc s, sn_acc x)
{
    return sn_aloop(75, scale_round, sn_results(s, x));
}

/* Rows that lie beside: the round's number and one more. The last round has none. */
static sn_scalar next_row_too(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    sn_scalar k = number_of(e), j = sn_get(x[0], 1);
    return sn_add(x[1], sn_sub(sn_index(e->a[1], sn_add(k, 1), j), sn_index(e->a[1], 2, j)));
}

static sn_acc next_row_round(sn_acc k, sn_acc a)
{
    const sn_acc all[] = {k, a};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(next_row_too, &e, 2), a);
}

static sn_acc next_rows(sn_acc n, sn_acc a)
{
    return sn_aloop(sn_the(n), next_row_round, a);
}

static void slices(void **state)
{
    (void)state;
    both("[n,n]T -> [n,n]T", ways, "i32 f32 u8", SMALL, 0, 1, 2, 33, 40, 71);
    both("[n,n]i32 -> [n,n]i32", ways_in_steps, NULL, SMALL, 0, 1, 33, 70);
    both("i64, [n,m]i32 -> [n,m]i32", few_ways, NULL, POSITIVE, 0, 7, 5, 4, 9, 9, 60, 80, 90, 70);
    both("[n,n]i32, [n,n]u8 -> [n,n]i32, [n,n]u8", places, NULL, SMALL, 0, 1, 33, 70);
    both("[n,n]T -> [n,n]T", elimination, FLOATS, POSITIVE, 0, 1, 33, 70);
    both("[n,n]T -> [n,n]T", backwards, "i32 f64", SMALL, 0, 1, 33, 70);
    both("[n,n]T, [n]T -> [n]T", solve, "i32 f32", SMALL, 0, 1, 33, 90);
    both("i32, [n]i32 -> i32, [n]i32", scales, NULL, SMALL, 0, 1, 33, 3000);
    both("i64, [n,m]i32 -> [n,m]i32", next_rows, NULL, POSITIVE, 3, 5, 12, 9, 50, 70);
    /* 64 rows: slices of all rounds are computed 8 at a time, a launch each, beside two for them all. */
    assert_int_equal(launches_of("[n,n]i32 -> [n,n]i32", SN_BODY(ways), 64, 64, true), 8 * (8 + 2));
    /* Too small to pay. */
    assert_int_equal(launches_of("[n,n]i32 -> [n,n]i32", SN_BODY(ways), 31, 31, true), 31);
}

/* Sums of floats over the rounds, of elements of a row: they are in the order of the rounds, unlike those of folds. */
static sn_scalar plus_element(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    const sn_acc *matrix = e->more;
    return sn_add(x[1], sn_index(*matrix, x[0], number_of(e)));
}

static sn_acc summing_round(void *env, int count, const sn_acc *a)
{
    (void)count;
    round_env e = {a, env};
    return sn_imap(sn_closure_of(plus_element, &e, 2), a[1]);
}

static sn_acc summed(sn_acc matrix, sn_acc x)
{
    return sn_aloop(sn_extent(matrix, 1), sn_body_of(summing_round, &matrix, 2), x);
}

static sn_scalar plus_place(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    return sn_add(x[1], sn_index(e->a[2], number_of(e)));
}

static sn_acc two_sums_round(sn_acc k, sn_acc x, sn_acc y)
{
    const sn_acc all[] = {k, x, y};
    round_env e = {all, NULL};
    return sn_results(sn_imap(sn_closure_of(plus_place, &e, 2), x), y);
}

static sn_acc two_sums(sn_acc x, sn_acc y)
{
    return sn_result(sn_aloop(sn_extent(y, 0), two_sums_round, sn_results(x, y)), 0);
}

static void in_order(void **state)
{
    (void)state;
    both("[n,m]f32, [n]f32 -> [n]f32", summed, NULL, MIXED, 0, 3, 70, 70, 130, 200, 5, 64);
    both("[n]f32, [m]f32 -> [n]f32", two_sums, NULL, MIXED, 0, 3, 70, 70, 130, 200, 5, 64);
}

/* --- what may not be done so --- */

static sn_scalar plus_transposed(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    return sn_add(x[1], sn_index(e->a[1], sn_get(x[0], 1), sn_get(x[0], 0)));
}

static sn_acc transposed_round(sn_acc k, sn_acc a)
{
    const sn_acc all[] = {k, a};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(plus_transposed, &e, 2), a);
}

static sn_acc transposed(sn_acc a)
{
    return sn_aloop(5, transposed_round, a);
}

static sn_scalar plus_found(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    sn_scalar k = number_of(e);
    sn_scalar where = sn_bit_and(sn_to_i64(sn_index(e->a[1], k)), 3);
    return sn_add(x[1], sn_index(e->a[1], where));
}

static sn_acc found_round(sn_acc k, sn_acc a)
{
    const sn_acc all[] = {k, a};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(plus_found, &e, 2), a);
}

static sn_acc found(sn_acc a)
{
    return sn_aloop(5, found_round, a);
}

static sn_scalar divided(void *env, int count, const sn_scalar *x)
{
    (void)count;
    const round_env *e = env;
    return sn_div(x[1], sn_sub(sn_to_i32(number_of(e)), sn_i32(40)));
}

static sn_acc division_round(sn_acc k, sn_acc a)
{
    const sn_acc all[] = {k, a};
    round_env e = {all, NULL};
    return sn_imap(sn_closure_of(divided, &e, 2), a);
}

static sn_acc divisions(sn_acc n, sn_acc a)
{
    return sn_aloop(sn_the(n), division_round, a);
}

static void otherwise(void **state)
{
    (void)state;
    both("[n,n]i32 -> [n,n]i32", transposed, NULL, SMALL, 0, 1, 33, 130);
    both("[n]i32 -> [n]i32", found, NULL, SMALL, 4, 5, 33, 3000);
    both("i64, [n]i32 -> [n]i32", divisions, NULL, POSITIVE, 0, 1, 33);
    launches_of("[n,n]i32 -> [n,n]i32", SN_BODY(transposed), 9, 9, false);
    launches_of("[n]i32 -> [n]i32", SN_BODY(found), 60, 1, false);
}

/* --- failures --- */

static sn_status status_with(sn_context *cx, sn_body body, int64_t rounds, char *message, size_t room)
{
    static int32_t x[70 * 60], y[70 * 60];
    sn_program *p = sn_compile(cx, "i64, [n,m]i32 -> [n,m]i32", body);
    assert_non_null(p);
    const sn_status status = sn_call_n(p, 3, (const sn_arg[]){sn_value(&rounds), sn_in(x, 70, 60), sn_into(y, 70, 60)});
    snprintf(message, room, "%s", status == SN_OK ? "" : sn_message(cx));
    sn_drop(p);
    return status;
}

/* More rounds than rows: those that have one are done many at a time, the next one fails as it would by itself. */
static void failures(void **state)
{
    (void)state;
    char fast[512], slow[512];
    for (int64_t rounds = 57; rounds < 64; rounds++) {
        const sn_status a = status_with(both_cpu(), SN_BODY(few_ways), rounds, fast, sizeof(fast)),
                        b = status_with(both_interpreter(), SN_BODY(few_ways), rounds, slow, sizeof(slow));
        assert_int_equal(a, rounds > 60 ? SN_OUT_OF_RANGE : SN_OK);
        assert_int_equal(a, b);
        assert_string_equal(fast, slow);
    }
    for (int64_t rounds = 67; rounds < 73; rounds++) {
        const sn_status a = status_with(both_cpu(), SN_BODY(next_rows), rounds, fast, sizeof(fast)),
                        b = status_with(both_interpreter(), SN_BODY(next_rows), rounds, slow, sizeof(slow));
        assert_int_equal(a, rounds > 69 ? SN_OUT_OF_RANGE : SN_OK);
        assert_int_equal(a, b);
        assert_string_equal(fast, slow);
    }
    for (int64_t rounds = 40; rounds < 42; rounds++) {
        const sn_status a = status_with(both_cpu(), SN_BODY(divisions), rounds, fast, sizeof(fast)),
                        b = status_with(both_interpreter(), SN_BODY(divisions), rounds, slow, sizeof(slow));
        assert_int_equal(a, rounds > 40 ? SN_DIVISION : SN_OK);
        assert_int_equal(a, b);
        assert_string_equal(fast, slow);
    }
}

/* --- contraction --- */

/* Products become part of sums in many rounds at once where they do in one. */
static void contracted(void **state)
{
    (void)state;
    static float x[70 * 70], y[2][70 * 70];
    sn_body bodies[] = {SN_BODY(elimination), SN_BODY(ways), SN_BODY(ways_in_steps)};
    for (size_t i = 0; i < ARRAY_LENGTH(x); i++)
        x[i] = (float)((i * 7919 + 13) % 1009) / 211.0f + (i % 71 == 0 ? 40.0f : 0.0f);
    for (size_t k = 0; k < ARRAY_LENGTH(bodies); k++) {
        for (unsigned fused = 0; fused < 2; fused++) {
            sn_options o = {.size = sizeof(o), .fusion = fused ? SN_ON : SN_OFF};
            sn_context *cx = sn_open(&o);
            sn_program *p = sn_compile(cx, "[n,n]f32 -> [n,n]f32", bodies[k]);
            assert_non_null(p);
            if (cx->engine.device && at_once(p) != (fused == 1))
                fail_msg("program %zu, fusion %u", k, fused);
            assert_int_equal(sn_call(p, sn_in(x, 70, 70), sn_into(y[fused], 70, 70)), SN_OK);
            sn_drop(p);
            sn_close(cx);
        }
        for (size_t i = 0; i < ARRAY_LENGTH(x); i++)
            assert_true(y[0][i] == y[1][i]); /* and none is a NaN */
    }
}

/* --- at random --- */

typedef struct made_up {
    uint64_t seed;
    unsigned rank, parts;
} made_up;

static unsigned draw(made_up *m, unsigned n)
{
    m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(m->seed >> 33) % n;
}

typedef struct made_round {
    made_up *m;
    const sn_acc *a; /* the round's number, the state, then a captured array */
} made_round;

static sn_scalar some_index(made_round *r, sn_scalar k)
{
    switch (draw(r->m, 4)) {
    case 0:
        return sn_i64((int64_t)draw(r->m, 3));
    case 1:
        return sn_sub(sn_i64(19 + (int64_t)draw(r->m, 3)), k);
    case 2:
        return sn_add(k, (int64_t)draw(r->m, 3));
    default:
        return k;
    }
}

static sn_scalar some_term(made_round *r, const sn_scalar *x, unsigned depth)
{
    made_up *m = r->m;
    sn_scalar k = sn_the(r->a[0]), i = m->rank > 1 ? sn_get(x[0], 0) : x[0], j = m->rank > 1 ? sn_get(x[0], 1) : i;
    const unsigned part = 1 + draw(m, m->parts);
    if (depth == 0)
        switch (draw(m, 7)) {
        case 0:
            return sn_to_i32(sn_add(k, j));
        case 1:
            return m->rank > 1 ? sn_index(r->a[m->parts + 1], i, j) : sn_index(r->a[m->parts + 1], i);
        case 2:
        case 3:
            return m->rank > 1 ? sn_index(r->a[part], i, j) : sn_index(r->a[part], i);
        case 4:
            return m->rank > 1 ? sn_index(r->a[part], some_index(r, k), j) : sn_index(r->a[part], some_index(r, k));
        case 5:
            return m->rank > 1 ? sn_index(r->a[part], i, some_index(r, k)) : sn_index(r->a[part], some_index(r, k));
        default:
            return m->rank > 1 ? sn_index(r->a[part], some_index(r, k), some_index(r, k)) : x[1];
        }
    sn_scalar left = some_term(r, x, depth - 1), right = some_term(r, x, draw(m, depth));
    switch (draw(m, 5)) {
    case 0:
        return sn_min(left, right);
    case 1:
        return sn_if(sn_lt(i, k), left, right);
    case 2:
        return sn_sub(left, right);
    case 3:
        return sn_mul(left, right);
    default:
        return sn_add(left, right);
    }
}

static sn_scalar some_element(void *env, int count, const sn_scalar *x)
{
    (void)count;
    return some_term(env, x, 2);
}

static sn_acc some_round(void *env, int count, const sn_acc *a)
{
    made_up *m = ((void **)env)[0];
    sn_acc all[6], next[3];
    for (int i = 0; i < count; i++)
        all[i] = a[i];
    all[count] = *(sn_acc *)((void **)env)[1];
    for (unsigned k = 0; k < m->parts; k++) {
        made_round r = {m, all};
        const unsigned what = draw(m, 8);
        next[k] = what == 0   ? a[1 + draw(m, m->parts)]
                  : what == 1 ? sn_zip_with(sn_sub, a[1 + draw(m, m->parts)], a[1 + k])
                              : sn_imap(sn_closure_of(some_element, &r, 2), a[1 + k]);
    }
    return m->parts == 1 ? next[0] : sn_results_at(SN_HERE, (int)m->parts, next);
}

static made_up this_one;

static sn_acc made_up_loop(sn_acc n, sn_acc x, sn_acc y)
{
    made_up m = this_one; /* the same one, how often it is built */
    void *env[] = {&m, &y};
    sn_acc state[3] = {x, y, sn_zip_with(sn_add, x, y)};
    sn_acc all = m.parts == 1 ? x : sn_results_at(SN_HERE, (int)m.parts, state);
    sn_acc end = sn_aloop(sn_the(n), sn_body_of(some_round, env, 1 + (int)m.parts), all);
    return m.parts == 1 ? end : sn_result(end, (int)m.parts - 1);
}

static void at_random(void **state)
{
    (void)state;
    unsigned cases = getenv("SINTER_TEST_LONG") ? 2000 : getenv("SINTER_TEST_SAMPLE") ? 6 : 40, swept = 0;
    const char *seed = getenv("SINTER_TEST_SEED");
    cases = seed ? 1 : cases;
    for (unsigned i = 0; i < cases; i++) {
        this_one = (made_up){.seed = seed ? strtoull(seed, NULL, 10) : 1000 + i};
        made_up *m = &this_one;
        m->rank = 1 + draw(m, 2);
        m->parts = 1 + draw(m, 3);
        const char *signature = m->rank > 1 ? "i64, [n,m]i32, [n,m]i32 -> [n,m]i32" : "i64, [n]i32, [n]i32 -> [n]i32";
        sn_program *p[2] = {sn_compile(both_cpu(), signature, made_up_loop),
                            sn_compile(both_interpreter(), signature, made_up_loop)};
        if (!p[0] || !p[1])
            fail_msg("%s", sn_message(both_cpu()));
        swept += at_once(p[0]);
        const int64_t n = m->rank > 1 ? 60 : 200, width = m->rank > 1 ? 80 : 1, rounds = draw(m, 40);
        static int32_t x[60 * 80], y[60 * 80], out[2][60 * 80];
        for (int64_t k = 0; k < n * width; k++) {
            x[k] = (int32_t)draw(m, 1000) - 500;
            y[k] = (int32_t)draw(m, 7) - 3;
        }
        sn_status status[2];
        for (unsigned k = 0; k < 2; k++)
            status[k] = m->rank > 1 ? sn_call(p[k], sn_value(&rounds), sn_in(x, n, width), sn_in(y, n, width),
                                              sn_into(out[k], n, width))
                                    : sn_call(p[k], sn_value(&rounds), sn_in(x, n), sn_in(y, n), sn_into(out[k], n));
        if (status[0] != status[1] ||
            (status[0] == SN_OK && memcmp(out[0], out[1], (size_t)(n * width) * sizeof(int32_t))))
            fail_msg("SINTER_TEST_SEED=%u: status %s and %s of %lld rounds", 1000 + i, sn_status_name(status[0]),
                     sn_status_name(status[1]), (long long)rounds);
        sn_drop(p[0]);
        sn_drop(p[1]);
    }
    assert_true(seed || swept > cases / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_alone), cmocka_unit_test(slices),   cmocka_unit_test(in_order),
        cmocka_unit_test(otherwise),      cmocka_unit_test(failures), cmocka_unit_test(contracted),
        cmocka_unit_test(at_random),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
