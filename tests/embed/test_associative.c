/* Folds of operators that visibly do not associate are warned about, once a place, with what to write instead; others
 * are not. */
#include "embed_test.h"
#include <stdio.h>
#include <string.h>

/* --- functions that do not associate --- */

static sn_scalar subtract(sn_scalar a, sn_scalar b)
{
    return sn_sub(a, b);
}

static sn_scalar subtract_from(sn_scalar a, sn_scalar b)
{
    return sn_sub(b, a);
}

static sn_scalar add_negated(sn_scalar a, sn_scalar b)
{
    return sn_add(a, sn_neg(b));
}

static sn_scalar halfway(sn_scalar a, sn_scalar b)
{
    return sn_mul(sn_add(a, b), 0.5f);
}

static sn_scalar between(sn_scalar a, sn_scalar b)
{
    return sn_div(sn_add(a, b), 2);
}

static sn_scalar horner(sn_scalar a, sn_scalar b)
{
    return sn_add(sn_mul(a, 10), b);
}

static sn_scalar next(sn_scalar a, sn_scalar b)
{
    (void)b;
    return sn_add(a, 1);
}

static sn_scalar narrow_difference(sn_scalar a, sn_scalar b)
{
    return sn_to_i8(sn_sub(sn_to_i32(a), sn_to_i32(b)));
}

static sn_scalar fused(sn_scalar a, sn_scalar b)
{
    return sn_fma(a, sn_f32(2), b);
}

/* Of pairs: their sums, and what is left of the first. */
static sn_scalar sum_and_rest(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_add(sn_fst(a), sn_fst(b)), sn_sub(sn_snd(a), sn_snd(b)));
}

/* --- functions that do, or may --- */

static sn_scalar twice_the_product(sn_scalar a, sn_scalar b)
{
    return sn_mul(sn_mul(a, b), 2);
}

static sn_scalar shifted_sum(sn_scalar a, sn_scalar b)
{
    return sn_sub(sn_add(a, b), 7);
}

static sn_scalar last(sn_scalar a, sn_scalar b)
{
    (void)a;
    return b;
}

static sn_scalar constant(sn_scalar a, sn_scalar b)
{
    (void)a, (void)b;
    return sn_f32(3);
}

/* Composition of x -> a x + b. */
static sn_scalar compose(sn_scalar f, sn_scalar g)
{
    return sn_tuple(sn_mul(sn_fst(f), sn_fst(g)), sn_add(sn_mul(sn_snd(f), sn_fst(g)), sn_snd(g)));
}

/* Of (first, last, span): f(f(a, b), c) == f(a, f(b, c)), although a difference of components. */
static sn_scalar ends(sn_scalar a, sn_scalar b)
{
    return sn_tuple(sn_fst(a), sn_snd(b), sn_sub(sn_fst(a), sn_snd(b)));
}

static sn_scalar flip(sn_scalar a, sn_scalar b)
{
    return sn_ne(a, b);
}

static sn_scalar signed_like(sn_scalar a, sn_scalar b)
{
    return sn_copy_sign(a, b);
}

/* --- programs --- */

static sn_fn operator_;
static float seed;

static sn_acc fold_it(sn_acc a)
{
    return sn_fold(operator_, sn_lift_f32(seed), a);
}

static sn_acc fold1_it(sn_acc a)
{
    return sn_fold1(operator_, a);
}

static sn_acc fold_all_it(sn_acc a)
{
    return sn_fold_all(operator_, sn_lift_f32(seed), a);
}

static sn_acc fold1_all_it(sn_acc a)
{
    return sn_fold1_all(operator_, a);
}

static sn_acc one_after_the_other(sn_acc a)
{
    return sn_unit(sn_sfold(operator_, sn_lift_f32(seed), a));
}

static sn_acc three_times(sn_acc a)
{
    sn_acc sum = sn_unit(0.0f);
    for (int i = 0; i < 3; i++)
        sum = sn_zip_with(sn_add, sum, sn_fold1(operator_, a));
    return sum;
}

/* `what` NULL: no warning. */
static void expect_warning_at(int line, const char *signature, sn_body body, sn_fn f, const char *operation,
                              const char *what)
{
    operator_ = f;
    built *b = build_at((sn_site){__FILE__, line}, signature, body);
    if (b->messages[0])
        fail_msg("line %d: %s", line, b->messages);
    if (b->program->warning.n != (what != NULL))
        fail_msg("line %d: %u warnings", line, b->program->warning.n);
    if (what) {
        text t;
        text_init(&t, &b->arena);
        embed_warning(b->program, 0, &t);
        char begin[128];
        snprintf(begin, sizeof begin, ": %s: %s, which is not associative: elements are combined in groups", operation,
                 what);
        if (strncmp(t.at, __FILE__ ":", sizeof __FILE__) || !strstr(t.at, begin) || !strstr(t.at, "sn_sfold") ||
            !strstr(t.at, "sn_associative(f)"))
            fail_msg("line %d: wanted \"%s\", got \"%s\"", line, begin, t.at);
    }
    built_free(b);
}
#define WARNS(signature, body, f, operation, what)                                                                     \
    expect_warning_at(__LINE__, signature, SN_BODY(body), SN_FN(f), operation, what)
#define SILENT(signature, body, f) expect_warning_at(__LINE__, signature, SN_BODY(body), SN_FN(f), "", NULL)

static void primitives(void **state)
{
    (void)state;
    WARNS("[n]f32 -> f32", fold_it, sn_sub, "fold", "the function is sub");
    WARNS("[n]i32 -> i32", fold_it, sn_div, "fold", "the function is div");
    WARNS("[n,m]f32 -> [n]f32", fold1_it, sn_div, "fold1", "the function is div");
    WARNS("[n,m]f32 -> f32", fold_all_it, sn_pow, "fold_all", "the function is pow");
    WARNS("[n,m]f32 -> f32", fold1_all_it, sn_atan2, "fold1_all", "the function is atan2");
    WARNS("[n]i8 -> i8", fold1_it, sn_mod, "fold1", "the function is mod");
    WARNS("[n]u8 -> u8", fold1_it, sn_rem, "fold1", "the function is rem");
    WARNS("[n]i64 -> i64", fold1_it, sn_quot, "fold1", "the function is quot");
    WARNS("[n]u64 -> u64", fold1_it, sn_shl, "fold1", "the function is shl");
    WARNS("[n]u32 -> u32", fold1_it, sn_shr, "fold1", "the function is shr");
    WARNS("[n]u16 -> u16", fold1_it, sn_rotl, "fold1", "the function is rotl");
    WARNS("[n]u16 -> u16", fold1_it, sn_rotr, "fold1", "the function is rotr");
    WARNS("[n]bool -> bool", fold1_it, sn_lt, "fold1", "the function is lt");
    WARNS("[n]bool -> bool", fold1_it, sn_ge, "fold1", "the function is ge");
}

static void functions(void **state)
{
    (void)state;
    WARNS("[n]f32 -> f32", fold_it, subtract, "fold", "the function is sub");
    WARNS("[n]u8 -> u8", fold1_it, subtract_from, "fold1", "the function is sub");
    WARNS("[n]f64 -> f64", fold1_it, add_negated, "fold1", "the function is sub");
    WARNS("[n]f32 -> f32", fold1_it, halfway, "fold1", "the function is a weighted sum");
    WARNS("[n]i32 -> i32", fold1_it, between, "fold1", "the function is a weighted sum");
    WARNS("[n]i64 -> i64", fold_it, horner, "fold", "the function is a weighted sum");
    WARNS("[n]f32 -> f32", fold1_it, fused, "fold1", "the function is a weighted sum");
    WARNS("[n]i32 -> i32", fold_it, next, "fold", "the function is a function of one parameter");
    WARNS("[n]i8 -> i8", fold1_it, narrow_difference, "fold1", "the function is sub");
    WARNS("[n](f32, i32) -> (f32, i32)", fold1_it, sum_and_rest, "fold1", "component 1 of the function is sub");
    WARNS("[n]f32 -> f32", three_times, subtract, "fold1", "the function is sub");
    WARNS("[n]f32 -> f32", fold_it, sn_commutative(sn_sub), "fold", "the function is sub");
}

static void nothing_to_say(void **state)
{
    (void)state;
    SILENT("[n]f32 -> f32", fold_it, sn_add);
    SILENT("[n]f32 -> f32", fold1_it, sn_mul);
    SILENT("[n]f32 -> f32", fold1_it, sn_min);
    SILENT("[n]f32 -> f32", fold1_it, sn_hypot);
    SILENT("[n]u8 -> u8", fold1_it, sn_bit_xor);
    SILENT("[n]bool -> bool", fold1_it, flip);
    SILENT("[n]f32 -> f32", fold1_it, signed_like);
    SILENT("[n]f32 -> f32", fold1_it, twice_the_product);
    SILENT("[n]f32 -> f32", fold1_it, shifted_sum);
    SILENT("[n]f32 -> f32", fold1_it, last);
    SILENT("[n]f32 -> f32", fold1_it, constant);
    SILENT("[n](f32, f32) -> (f32, f32)", fold1_it, compose);
    SILENT("[n](f32, f32, f32) -> (f32, f32, f32)", fold1_it, ends);
    SILENT("[n]f32 -> f32", one_after_the_other, sn_sub);
}

static void declared(void **state)
{
    (void)state;
    SILENT("[n]f32 -> f32", fold_it, sn_associative(sn_sub));
    SILENT("[n]i64 -> i64", fold1_all_it, sn_associative(horner));
    SILENT("[n]f32 -> f32", fold_all_it, sn_associative(sn_commutative(halfway)));
    SILENT("[n]f32 -> f32", fold_all_it, sn_commutative(sn_associative(halfway)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives),
        cmocka_unit_test(functions),
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(declared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
