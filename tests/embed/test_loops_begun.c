/* Loops begun with C numbers: their functions are run again to find the types, a number of times that stays small
 * however deep loops stand in loops; and what comes out is what typed numbers give. */
#include "embed_test.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 24 };

static int runs; /* of all functions of loops, in a build */

typedef struct nest { /* a loop of this depth, whose innermost function adds x */
    int depth;
    bool typed;
    sn_scalar x;
} nest;

static sn_scalar begin(bool typed)
{
    return typed ? sn_f32(0) : sn_lift_i32(0);
}

static sn_scalar inner(const nest *n, sn_scalar (*f)(void *, sn_scalar))
{
    nest in = {n->depth - 1, n->typed, n->x};
    return sn_iterate(2, sn_closure(f, &in), begin(n->typed));
}

/* --- states that meet a type behind the loops inside --- */

static sn_scalar after(void *env, sn_scalar s)
{
    const nest *n = env;
    runs++;
    return sn_add(s, n->depth ? inner(n, after) : n->x);
}

/* --- in front of them --- */

static sn_scalar before(void *env, sn_scalar s)
{
    const nest *n = env;
    runs++;
    sn_scalar t = sn_add(s, n->x);
    return n->depth ? sn_mul(t, inner(n, before)) : t;
}

/* --- inside of them: the innermost function adds all states --- */

static sn_scalar together(void *env, sn_scalar s)
{
    const nest *n = env;
    runs++;
    nest in = {n->depth - 1, n->typed, sn_add(s, n->x)};
    return n->depth ? sn_iterate(2, sn_closure(together, &in), begin(n->typed)) : sn_add(s, n->x);
}

/* --- tuples, each component of which meets its type at another place --- */

static sn_scalar pairs(void *env, sn_scalar s)
{
    const nest *n = env;
    runs++;
    nest in = {n->depth - 1, n->typed, n->x};
    sn_scalar zero = n->typed ? sn_f32(0) : sn_lift_i32(0), one = n->typed ? sn_f64(1) : sn_lift_i32(1);
    sn_scalar r =
        n->depth ? sn_iterate(2, sn_closure(pairs, &in), sn_tuple(zero, one)) : sn_tuple(n->x, sn_to_f64(n->x));
    return sn_tuple(sn_add(sn_fst(s), sn_fst(r)), sn_mul(sn_snd(s), sn_snd(r)));
}

typedef struct shape {
    sn_scalar (*f)(void *, sn_scalar);
    int depth;
    bool typed, pairs;
} shape;

static sn_acc nested(void *env, int count, const sn_acc *a)
{
    const shape *w = env;
    (void)count;
    nest n = {w->depth, w->typed, sn_the(*a)};
    if (!w->pairs)
        return sn_unit(sn_iterate(2, sn_closure(w->f, &n), begin(w->typed)));
    sn_scalar zero = w->typed ? sn_f32(0) : sn_lift_i32(0), one = w->typed ? sn_f64(1) : sn_lift_i32(1);
    return sn_unit(sn_fst(sn_iterate(2, sn_closure(w->f, &n), sn_tuple(zero, one))));
}

static void few_runs(void **state)
{
    sn_scalar (*const function[])(void *, sn_scalar) = {after, before, together, pairs};
    (void)state;
    for (size_t k = 0; k < ARRAY_LENGTH(function); k++)
        for (int depth = 0; depth <= MOST; depth++) {
            shape w = {function[k], depth, false, function[k] == pairs};
            runs = 0;
            built *b = build_at(SN_HERE, "f32 -> f32", sn_body_env(nested, &w));
            assert_string_equal(b->messages, "");
            int states = w.pairs ? 2 : 1, levels = depth + 1;
            if (runs > (states + 1) * levels * (levels + 1))
                fail_msg("function %zu, depth %d: %d runs", k, depth, runs);
            w.typed = true;
            built *typed = build_at(SN_HERE, "f32 -> f32", sn_body_env(nested, &w));
            assert_string_equal(b->text, typed->text);
            built_free(b);
            built_free(typed);
        }
}

/* --- what was found the last time does not hold --- */

/* The inner state meets the outer one: i64 at first, as the number that began it, then f32. */
static sn_scalar meets_outer(void *env, sn_scalar t)
{
    return sn_add(t, *(const sn_scalar *)env);
}

static sn_scalar turns(void *env, sn_scalar s)
{
    sn_scalar r = sn_iterate(2, sn_closure(meets_outer, &s), 0);
    return sn_add(sn_add(s, *(const sn_scalar *)env), r);
}

static sn_acc inner_follows(sn_acc a)
{
    sn_scalar x = sn_the(a);
    return sn_unit(sn_iterate(3, sn_closure(turns, &x), INT64_C(0)));
}

static sn_scalar turns_typed(void *env, sn_scalar s)
{
    sn_scalar r = sn_iterate(2, sn_closure(meets_outer, &s), sn_f32(0));
    return sn_add(sn_add(s, *(const sn_scalar *)env), r);
}

static sn_acc inner_follows_typed(sn_acc a)
{
    sn_scalar x = sn_the(a);
    return sn_unit(sn_iterate(3, sn_closure(turns_typed, &x), sn_f32(0)));
}

/* The terms; places differ. */
static void same_terms(built *b, built *typed)
{
    assert_string_equal(b->messages, "");
    assert_string_equal(strstr(b->text, "a1 = "), strstr(typed->text, "a1 = "));
    built_free(b);
    built_free(typed);
}

static void types_that_change(void **state)
{
    (void)state;
    same_terms(build("f32 -> f32", inner_follows), build("f32 -> f32", inner_follows_typed));
}

/* --- mistakes are told once, and cost no more --- */

static sn_scalar wrong_inside(void *env, sn_scalar s)
{
    const nest *n = env;
    runs++;
    sn_scalar r = n->depth ? inner(n, wrong_inside) : sn_add(n->x, sn_i8(1));
    return sn_add(sn_add(s, n->x), r);
}

static sn_scalar wrong_outside(void *env, sn_scalar s)
{
    const nest *n = env;
    runs++;
    sn_scalar r = n->depth ? inner(n, after) : n->x;
    return sn_add(sn_add(s, r), sn_i8(1));
}

static void mistakes(void **state)
{
    (void)state;
    for (int outside = 0; outside < 2; outside++) {
        shape w = {outside ? wrong_outside : wrong_inside, MOST, false, false};
        runs = 0;
        built *b = build_at(SN_HERE, "f32 -> f32", sn_body_env(nested, &w));
        const char *first = strchr(b->messages, '\n');
        assert_non_null(strstr(b->messages, "different types: f32 and i8"));
        assert_true(first && !first[1]);
        assert_true(runs <= 2 * (MOST + 1) * (MOST + 2));
        built_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_runs),
        cmocka_unit_test(types_that_change),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests_name("loops begun with numbers", tests, NULL, NULL);
}
