/* Loops over arrays. */
#include "../program.h"

void nb_make_lengths_i32(const struct nb_call *call);
void nb_make_edges(const struct nb_call *call);

static sn_scalar fifth_of_five(sn_scalar s)
{
    sn_scalar sum = sn_add(sn_add(sn_at(s, 0, 0), sn_at(s, -1, 0)), sn_at(s, 1, 0));
    return sn_div(sn_add(sn_add(sum, sn_at(s, 0, -1)), sn_at(s, 0, 1)), 5);
}

static sn_acc step(sn_acc x)
{
    return sn_stencil(fifth_of_five, sn_pattern(3, 3), sn_clamp, x);
}

static sn_acc steps_4(sn_acc x)
{
    return sn_aiterate(4, step, x);
}

static sn_acc steps_20(sn_acc x)
{
    return sn_aiterate(20, step, x);
}

static sn_scalar third_of_three(sn_scalar s)
{
    return sn_mul(sn_add(sn_add(sn_at(s, -1), sn_at(s, 0)), sn_at(s, 1)), 1 / 3.0f);
}

static sn_acc line_step(sn_acc x)
{
    return sn_stencil(third_of_three, sn_pattern(3), sn_clamp, x);
}

static sn_acc line_50(sn_acc x)
{
    return sn_aiterate(50, line_step, x);
}

static sn_scalar moved(sn_scalar x, sn_scalar y)
{
    return sn_abs(sn_sub(x, y));
}

static sn_acc is_moving(sn_acc x, sn_acc most)
{
    (void)x;
    return sn_unit(sn_gt(sn_the(most), 0.003f));
}

static sn_acc move(sn_acc x, sn_acc most)
{
    sn_acc next = step(x);
    (void)most;
    return sn_results(next, sn_fold_all(sn_max, 0, sn_zip_with(moved, next, x)));
}

static sn_acc until_still(sn_acc x)
{
    return sn_result(sn_awhile(is_moving, move, sn_results(x, sn_unit(sn_f32(1)))), 0);
}

typedef struct paths {
    sn_acc d;
    sn_scalar k;
} paths;

static sn_scalar by_way(void *env, int count, const sn_scalar *x)
{
    const paths *p = env;
    (void)count;
    return sn_min(x[1], sn_add(sn_index(p->d, sn_fst(x[0]), p->k), sn_index(p->d, p->k, sn_snd(x[0]))));
}

static sn_acc paths_round(sn_acc k, sn_acc d)
{
    paths p = {d, sn_the(k)};
    return sn_imap(sn_closure_of(by_way, &p, 2), d);
}

static sn_acc shortest(sn_acc d)
{
    return sn_aloop(sn_extent(d, 0), paths_round, d);
}

static sn_scalar widest_way(void *env, int count, const sn_scalar *x)
{
    const paths *p = env;
    (void)count;
    return sn_max(x[1], sn_min(sn_index(p->d, sn_fst(x[0]), p->k), sn_index(p->d, p->k, sn_snd(x[0]))));
}

static sn_acc widest_round(sn_acc k, sn_acc d)
{
    paths p = {d, sn_the(k)};
    return sn_imap(sn_closure_of(widest_way, &p, 2), d);
}

static sn_acc widest(sn_acc d)
{
    return sn_aloop(sn_extent(d, 0), widest_round, d);
}

static sn_scalar some_way(void *env, int count, const sn_scalar *x)
{
    const paths *p = env;
    (void)count;
    return sn_or(x[1], sn_and(sn_index(p->d, sn_fst(x[0]), p->k), sn_index(p->d, p->k, sn_snd(x[0]))));
}

static sn_acc closure_round(sn_acc k, sn_acc d)
{
    paths p = {d, sn_the(k)};
    return sn_imap(sn_closure_of(some_way, &p, 2), d);
}

static sn_acc closure(sn_acc d)
{
    return sn_aloop(sn_extent(d, 0), closure_round, d);
}

#define NB_GROUP rounds
#define NB_TABLE "rounds.def"
#include "../table.h"
