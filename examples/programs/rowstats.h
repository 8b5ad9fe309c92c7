/* Statistics of each row of a matrix: mean, smallest, largest, and where the largest is. Two passes over the data:
 * sum, least and largest may be combined in any order and share a loop, argmax keeps the order. */
#ifndef PROGRAMS_ROWSTATS_H
#define PROGRAMS_ROWSTATS_H

#include <sinter/sinter.h>

/* matrix -> mean, minimum, maximum, argmax; %s is the type of the elements, three times */
#define ROWSTATS_SIGNATURE "[n,m]%s -> [n]f64, [n]%s, [n]%s, [n]i64"

static sn_scalar rowstats_mean(void *env, sn_scalar sum)
{
    const sn_scalar *count = env;
    return sn_div(sum, sn_to_f64(*count));
}

static sn_acc rowstats(sn_acc matrix)
{
    sn_scalar columns = sn_extent(matrix, 1);
    sn_acc mean = sn_map(sn_closure(rowstats_mean, &columns), sn_sum(sn_map(sn_to_f64, matrix)));
    return sn_results(mean, sn_minimum(matrix), sn_maximum(matrix), sn_argmax(matrix));
}

#endif
