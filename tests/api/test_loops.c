/* While loops of simple arithmetic, which the CPU runs several turns at a time, against the interpreter, bit for bit.
 */
#include "both.h"

#define LENGTHS 0, 1, 15, 16, 33, 64, 65, 200, 1027

static sn_scalar third(sn_scalar t)
{
    return sn_get(t, 2);
}

/* --- an orbit: states that differ from lane to lane, a counter that does not; everything is read afterwards --- */

static sn_scalar near_zero(void *env, sn_scalar r, sn_scalar i, sn_scalar count)
{
    (void)env;
    sn_scalar norm = sn_add(sn_mul(r, r), sn_mul(i, i));
    return sn_land(sn_lt(norm, sn_f32(4)), sn_lt(count, sn_i32(77)));
}

static sn_scalar orbit_step(void *env, sn_scalar r, sn_scalar i, sn_scalar count)
{
    const sn_scalar *c = env;
    sn_scalar next = sn_add(sn_sub(sn_mul(r, r), sn_mul(i, i)), c[0]);
    return sn_tuple(next, sn_add(sn_mul(sn_add(r, r), i), c[1]), sn_add(count, sn_i32(1)));
}

static sn_scalar orbit(sn_scalar re, sn_scalar im)
{
    sn_scalar c[2] = {sn_mul(re, sn_f32(0.25f)), sn_mul(im, sn_f32(0.25f))};
    return sn_while(sn_closure(near_zero, c), sn_closure(orbit_step, c), sn_tuple(c[0], c[1], sn_i32(0)));
}

static sn_acc orbits(sn_acc re, sn_acc im)
{
    sn_acc all = sn_zip_with(orbit, re, im);
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all), sn_map(third, all));
}

static sn_scalar pixel(sn_scalar row, sn_scalar column)
{
    sn_scalar re = sn_sub(sn_mul(sn_to_f32(column), sn_f32(0.04f)), sn_f32(2)),
              im = sn_mul(sn_to_f32(row), sn_f32(0.1f));
    return sn_get(orbit(sn_mul(re, sn_f32(4)), sn_mul(im, sn_f32(4))), 2);
}

static sn_acc picture(sn_acc like)
{
    return sn_generate(sn_shape_of(like), pixel);
}

static void orbits_of_points(void **state)
{
    (void)state;
    both("[n]f32, [n]f32 -> [n]f32, [n]f32, [n]i32", orbits, NULL, SMALL, LENGTHS);
    both("[n]f32, [n]f32 -> [n]f32, [n]f32, [n]i32", orbits, NULL, MIXED, LENGTHS);
    both("[n,m]u8 -> [n,m]i32", picture, NULL, SMALL, MATRICES);
}

/* --- bounds: x < limit, where x is seldom negative; limits of every kind, NaNs and -0 among them --- */

typedef sn_scalar unary(sn_scalar);

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_scalar some_sum(sn_scalar x)
{
    return sn_add(sn_abs(x), sn_add(sn_mul(x, x), sn_sqrt(x)));
}

static sn_scalar fused_sum(sn_scalar x)
{
    return sn_fma(x, x, sn_abs(x));
}

/* may be negative: a bound like all others, or none */
static sn_scalar signed_sum(sn_scalar x)
{
    return sn_add(sn_mul(x, x), x);
}

struct bounded {
    unary *measure;
    int form;
    sn_scalar limit;
};

static sn_scalar within(void *env, sn_scalar x, sn_scalar count)
{
    const struct bounded *b = env;
    sn_scalar m = b->measure(x);
    sn_scalar holds = b->form == 0   ? sn_lt(m, b->limit)
                      : b->form == 1 ? sn_le(m, b->limit)
                      : b->form == 2 ? sn_gt(b->limit, m)
                                     : sn_ge(b->limit, m);
    return sn_land(holds, sn_lt(count, sn_i32(50)));
}

static sn_scalar grow(void *env, sn_scalar x, sn_scalar count)
{
    (void)env;
    return sn_tuple(sn_add(sn_mul(x, 1.25f), 0.5f), sn_add(count, sn_i32(1)));
}

/* where 0 stays below -0, too, while turns are eager */
static sn_scalar grow_late(void *env, sn_scalar x, sn_scalar count)
{
    (void)env;
    return sn_tuple(sn_if(sn_lt(count, sn_i32(40)), x, sn_add(x, 1)), sn_add(count, sn_i32(1)));
}

/* so that all lanes stay for a while, and leave at a limit that none of the summands reaches */
static sn_scalar grow_slowly(void *env, sn_scalar x, sn_scalar count)
{
    (void)env;
    return sn_tuple(sn_mul(x, 1.02f), sn_add(count, sn_i32(1)));
}

static sn_scalar bounded_walk(struct bounded b, sn_scalar x)
{
    return sn_while(sn_closure(within, &b), sn_closure(grow, &b), sn_tuple(x, sn_i32(0)));
}

#define BOUND(name, measure, form)                                                                                     \
    static sn_scalar walk_##name(sn_scalar x, sn_scalar limit)                                                         \
    {                                                                                                                  \
        return bounded_walk((struct bounded){measure, form, limit}, x);                                                \
    }                                                                                                                  \
    static sn_acc name(sn_acc x, sn_acc limit)                                                                         \
    {                                                                                                                  \
        sn_acc all = sn_zip_with(walk_##name, x, limit);                                                               \
        return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));                                                   \
    }
BOUND(square_below, square, 0)
BOUND(sum_at_most, some_sum, 1)
BOUND(limit_above, fused_sum, 2)
BOUND(limit_at_least, square, 3)
BOUND(signed_below, signed_sum, 0)

struct fixed {
    float limit;
    int form;
    bool late;
};

static sn_scalar fixed_walk(void *env, sn_scalar x)
{
    const struct fixed *f = env;
    struct bounded b = {square, f->form, sn_f32(f->limit)};
    return sn_while(sn_closure(within, &b), f->late ? sn_closure(grow_late, &b) : sn_closure(grow, &b),
                    sn_tuple(x, sn_i32(0)));
}

static sn_acc fixed_limit(void *env, int count, const sn_acc *in)
{
    (void)count;
    sn_acc all = sn_map(sn_closure(fixed_walk, env), in[0]);
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static sn_scalar slow_walk(void *env, sn_scalar x)
{
    const struct fixed *f = env;
    struct bounded b = {f->form % 2 ? fused_sum : some_sum, f->form, sn_f32(f->limit)};
    return sn_while(sn_closure(within, &b), sn_closure(grow_slowly, &b),
                    sn_tuple(sn_add(sn_mul(x, 0.1f), 0.5f), sn_i32(0)));
}

static sn_acc slow_limit(void *env, int count, const sn_acc *in)
{
    (void)count;
    sn_acc all = sn_map(sn_closure(slow_walk, env), in[0]);
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static void bounds(void **state)
{
    (void)state;
    const contents what[] = {SMALL, MIXED, POSITIVE};
    for (int i = 0; i < 3; i++) {
        both("[n]T, [n]T -> [n]T, [n]i32", square_below, FLOATS, what[i], LENGTHS);
        both("[n]T, [n]T -> [n]T, [n]i32", sum_at_most, FLOATS, what[i], LENGTHS);
        both("[n]T, [n]T -> [n]T, [n]i32", limit_above, FLOATS, what[i], LENGTHS);
        both("[n]T, [n]T -> [n]T, [n]i32", limit_at_least, FLOATS, what[i], LENGTHS);
        both("[n]T, [n]T -> [n]T, [n]i32", signed_below, FLOATS, what[i], LENGTHS);
    }
    const float limit[] = {4, 0, -0.0f, -1, 1e9f, 3.4e38f, __builtin_inff(), -__builtin_inff(), __builtin_nanf("")};
    for (unsigned i = 0; i < sizeof limit / sizeof *limit; i++)
        for (int form = 0; form < 8; form++) {
            struct fixed f = {limit[i], form % 4, form >= 4};
            const int64_t lengths[] = {64, 200, -1};
            contents of = f.late ? SMALL : MIXED;
            both_at(__FILE__, __LINE__, "[n]f32 -> [n]f32, [n]i32", sn_body_env(fixed_limit, &f), NULL, of, lengths);
            /* squares that stay between 2 and 4 for a while: below the limit, but not by the bits of all of them */
            if (f.late)
                both_at(__FILE__, __LINE__, "[n]f32 -> [n]f32, [n]i32", sn_body_env(fixed_limit, &f), NULL, POSITIVE,
                        lengths);
        }
    const float small[] = {1, 1.5f, 2, 2.5f, 3, 4, 6.5f};
    for (unsigned i = 0; i < sizeof small / sizeof *small; i++)
        for (int form = 0; form < 4; form++) {
            struct fixed f = {.limit = small[i], .form = form};
            both_at(__FILE__, __LINE__, "[n]f32 -> [n]f32, [n]i32", sn_body_env(slow_limit, &f), NULL, POSITIVE,
                    (const int64_t[]){100, -1});
        }
}

/* whole numbers: limits at the ends of their types among others, on either side */
struct whole {
    sn_scalar limit;
    int form;
};

static sn_scalar whole_within(void *env, sn_scalar x, sn_scalar count)
{
    const struct whole *w = env;
    sn_scalar a = w->form & 4 ? w->limit : x, b = w->form & 4 ? x : w->limit;
    int op = w->form & 3;
    sn_scalar holds = op == 0 ? sn_lt(a, b) : op == 1 ? sn_le(a, b) : op == 2 ? sn_gt(a, b) : sn_ge(a, b);
    return sn_land(holds, sn_lt(count, sn_i32(45)));
}

static sn_scalar whole_step(void *env, sn_scalar x, sn_scalar count)
{
    (void)env;
    return sn_tuple(sn_bit_xor(sn_add(x, sn_shr(x, 3)), 1), sn_add(count, sn_i32(1)));
}

static sn_scalar whole_walk(void *env, sn_scalar x)
{
    return sn_while(sn_closure(whole_within, env), sn_closure(whole_step, NULL), sn_tuple(x, sn_i32(0)));
}

struct whole_limit {
    int64_t limit;
    int form, type; /* of the limit: 0 i32, 1 u32, 2 i64, 3 u8; 4: i32, given by an argument */
};

static sn_acc whole_walks(void *env, int count, const sn_acc *in)
{
    const struct whole_limit *l = env;
    struct whole w = {.form = l->form};
    w.limit = l->type == 0   ? sn_i32((int32_t)l->limit)
              : l->type == 1 ? sn_u32((uint32_t)l->limit)
              : l->type == 2 ? sn_i64(l->limit)
              : l->type == 3 ? sn_u8((uint8_t)l->limit)
                             : sn_the(in[count - 1]);
    sn_acc all = sn_map(sn_closure(whole_walk, &w), in[0]);
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static void whole_bounds(void **state)
{
    (void)state;
    static const char *const signature[] = {"[n]i32 -> [n]i32, [n]i32", "[n]u32 -> [n]u32, [n]i32",
                                            "[n]i64 -> [n]i64, [n]i32", "[n]u8 -> [n]u8, [n]i32",
                                            "[n]i32, i32 -> [n]i32, [n]i32"};
    const int64_t limit[][4] = {{INT32_MIN, INT32_MAX, -1, 1000},
                                {0, UINT32_MAX, 1, 7000},
                                {INT64_MIN, INT64_MAX, 0, -5000},
                                {0, 255, 100, 1},
                                {0}};
    const int64_t lengths[] = {64, 200, -1};
    for (int type = 0; type < 5; type++)
        for (int form = 0; form < 8; form++)
            for (int i = 0; i < (type == 4 ? 1 : 4); i++) {
                struct whole_limit l = {limit[type][i], form, type};
                both_at(__FILE__, __LINE__, signature[type], sn_body_env(whole_walks, &l), NULL, MIXED, lengths);
                both_at(__FILE__, __LINE__, signature[type], sn_body_env(whole_walks, &l), NULL, POSITIVE, lengths);
            }
}

/* --- counters --- */

static sn_scalar below_own(void *env, sn_scalar x, sn_scalar count, sn_scalar power)
{
    (void)power;
    (void)x;
    return sn_lt(count, *(const sn_scalar *)env);
}

/* three states that all lanes share as long as they run: one depends on another; and one they do not */
static sn_scalar count_up(void *env, sn_scalar x, sn_scalar count, sn_scalar power)
{
    (void)env;
    return sn_tuple(sn_add(sn_mul(x, 3), sn_bit_xor(power, count)), sn_add(count, sn_i32(1)),
                    sn_add(sn_mul(power, sn_i32(5)), count));
}

static sn_scalar own_turns(sn_scalar x)
{
    sn_scalar turns = sn_bit_and(x, sn_i32(31));
    return sn_while(sn_closure(below_own, &turns), sn_closure(count_up, &turns), sn_tuple(x, sn_i32(0), sn_i32(1)));
}

static sn_acc own_counts(sn_acc x)
{
    sn_acc all = sn_map(own_turns, x);
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all), sn_map(third, all));
}

/* the counter starts at a number of the lane's own */
static sn_scalar late_start(sn_scalar x)
{
    sn_scalar turns = sn_i32(40), from = sn_bit_and(x, sn_i32(63));
    return sn_while(sn_closure(below_own, &turns), sn_closure(count_up, &turns), sn_tuple(x, from, sn_i32(1)));
}

static sn_acc late_starts(sn_acc x)
{
    sn_acc all = sn_map(late_start, x);
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all), sn_map(third, all));
}

/* nothing differs from lane to lane but what the body does with it */
static sn_scalar same_turns(sn_scalar x)
{
    sn_scalar turns = sn_i32(29);
    return sn_while(sn_closure(below_own, &turns), sn_closure(count_up, &turns), sn_tuple(x, sn_i32(0), sn_i32(1)));
}

static sn_acc same_counts(sn_acc x)
{
    sn_acc all = sn_map(same_turns, x);
    return sn_results(sn_map(sn_fst, all), sn_map(third, all));
}

/* the limit changes from turn to turn: no bound */
static sn_scalar closing(sn_scalar x, sn_scalar limit)
{
    return sn_lt(sn_mul(x, x), limit);
}

static sn_scalar close_in(sn_scalar x, sn_scalar limit)
{
    return sn_tuple(sn_add(x, 0.5f), sn_sub(limit, sn_abs(x)));
}

static sn_scalar closed_in(sn_scalar x)
{
    return sn_while(closing, close_in, sn_tuple(x, sn_add(sn_mul(x, x), 100)));
}

static sn_acc closing_limits(sn_acc x)
{
    sn_acc all = sn_map(closed_in, x);
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

static void counters(void **state)
{
    (void)state;
    both("[n]i32 -> [n]i32, [n]i32, [n]i32", own_counts, NULL, MIXED, LENGTHS);
    both("[n]i32 -> [n]i32, [n]i32, [n]i32", late_starts, NULL, MIXED, LENGTHS);
    both("[n]i32 -> [n]i32, [n]i32", same_counts, NULL, MIXED, LENGTHS);
    both("[n]T -> [n]T, [n]T", closing_limits, FLOATS, SMALL, LENGTHS);
}

/* --- where loops stand --- */

static sn_scalar in_branch(sn_scalar x)
{
    return sn_if(sn_gt(x, 0), sn_snd(own_turns(x)), sn_fst(own_turns(sn_sub(sn_i32(0), x))));
}

static sn_acc in_branches(sn_acc x)
{
    return sn_map(in_branch, x);
}

static sn_scalar loop_of_loop(sn_scalar x)
{
    sn_scalar first = sn_fst(own_turns(x));
    return sn_add(sn_fst(own_turns(first)), sn_snd(own_turns(sn_add(first, 1))));
}

static sn_acc one_after_another(sn_acc x)
{
    return sn_map(loop_of_loop, x);
}

static sn_scalar few(sn_scalar x, sn_scalar n)
{
    (void)x;
    return sn_lt(n, sn_i32(3));
}

static sn_scalar inner(sn_scalar x, sn_scalar n)
{
    return sn_tuple(sn_fst(own_turns(x)), sn_add(n, sn_i32(1)));
}

static sn_scalar nest(sn_scalar x)
{
    return sn_fst(sn_while(few, inner, sn_tuple(x, sn_bit_and(x, 3))));
}

static sn_acc nested(sn_acc x)
{
    return sn_map(nest, x);
}

static sn_scalar turns_of(sn_scalar x)
{
    return sn_snd(own_turns(x));
}

static sn_acc folded(sn_acc x)
{
    return sn_results(sn_fold_all(sn_add, sn_i32(7), sn_map(turns_of, x)),
                      sn_fold_all(sn_bit_xor, sn_i32(0), sn_map(nest, x)));
}

static void places(void **state)
{
    (void)state;
    both("[n]i32 -> [n]i32", in_branches, NULL, MIXED, LENGTHS);
    both("[n]i32 -> [n]i32", one_after_another, NULL, MIXED, LENGTHS);
    both("[n]i32 -> [n]i32", nested, NULL, MIXED, LENGTHS);
    both("[n]i32 -> i32, i32", folded, NULL, MIXED, LENGTHS);
}

/* --- tiles: elements of two dimensions that loop --- */

static sn_scalar halve(void *env, sn_scalar x, sn_scalar count)
{
    (void)env;
    return sn_tuple(sn_mul(x, 0.75f), sn_add(count, sn_i32(1)));
}

static sn_scalar large(void *env, sn_scalar x, sn_scalar count)
{
    return sn_land(sn_gt(x, *(const sn_scalar *)env), sn_lt(count, sn_i32(60)));
}

/* two results of different types; the limit is read */
static sn_scalar halvings(void *env, sn_scalar row, sn_scalar column)
{
    sn_scalar from = sn_add(sn_mul(sn_to_f64(row), sn_f64(100)), sn_to_f64(column));
    return sn_while(sn_closure(large, env), sn_closure(halve, NULL), sn_tuple(from, sn_i32(0)));
}

static sn_acc limited_halvings(sn_acc like, sn_acc limit)
{
    sn_scalar least = sn_abs(sn_the(limit));
    sn_acc all = sn_generate(sn_shape_of(like), sn_closure(halvings, &least));
    return sn_results(sn_map(sn_fst, all), sn_map(sn_snd, all));
}

/* each loops as often as it lies far from the diagonal; the element of an array is read, too */
static sn_scalar farther(void *env, sn_scalar x, sn_scalar count)
{
    (void)x;
    return sn_lt(count, *(const sn_scalar *)env);
}

static sn_scalar from_diagonal(sn_scalar row, sn_scalar column, sn_scalar x)
{
    sn_scalar distance = sn_to_i32(sn_abs(sn_sub(row, column)));
    return sn_fst(sn_while(sn_closure(farther, &distance), sn_closure(halve, NULL), sn_tuple(x, sn_i32(0))));
}

static sn_acc faded(sn_acc x)
{
    return sn_imap(from_diagonal, x);
}

#define TILES 4, 64, 5, 64, 7, 67, 8, 127, 3, 200, 4, 63, 9, 129, 66, 191

static void tiles(void **state)
{
    (void)state;
    both("[n,m]u8 -> [n,m]i32", picture, NULL, SMALL, TILES);
    both("[n,m]u8, f64 -> [n,m]f64, [n,m]i32", limited_halvings, NULL, POSITIVE, TILES);
    both("[n,m]f32 -> [n,m]f32", faded, NULL, POSITIVE, TILES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orbits_of_points), cmocka_unit_test(bounds), cmocka_unit_test(whole_bounds),
        cmocka_unit_test(counters),         cmocka_unit_test(places), cmocka_unit_test(tiles),
    };
    return cmocka_run_group_tests(tests, both_open, both_close);
}
