/* Parts that do not depend on each other. */
#include "../program.h"

enum { MOST = 12 };

static sn_scalar square(sn_scalar x)
{
    return sn_mul(x, x);
}

static sn_acc sums(const int64_t *extent, const sn_acc *p)
{
    sn_acc all[MOST];
    (void)extent;
    for (int k = 0; k < 12; k++)
        all[k] = sn_sum(p[k]);
    return sn_results_at(SN_HERE, 12, all);
}

static sn_acc moments(const int64_t *extent, const sn_acc *p)
{
    sn_acc all[MOST];
    (void)extent;
    for (int k = 0; k < 6; k++) {
        all[2 * k] = sn_sum(p[k]);
        all[2 * k + 1] = sn_sum(sn_map(square, p[k]));
    }
    return sn_results_at(SN_HERE, 12, all);
}

static sn_acc running_sums(const int64_t *extent, const sn_acc *p)
{
    sn_acc all[MOST];
    (void)extent;
    for (int k = 0; k < 6; k++)
        all[k] = sn_scanl1(sn_add, p[k]);
    return sn_results_at(SN_HERE, 6, all);
}

#define NB_GROUP independent
#define NB_TABLE "independent.def"
#include "../table.h"
