/* A radix sort written with scans and scatters, as one would without sn_sort: bit by bit from the least significant
 * one, the numbers whose bit is 0 go before those whose bit is 1, and otherwise stay in their order. */
#ifndef PROGRAMS_RADIXSORT_H
#define PROGRAMS_RADIXSORT_H

#include <sinter/sinter.h>

#define RADIXSORT_SIGNATURE "[n]u32 -> [n]u32"

struct radixsort_round {
    sn_acc bit;   /* its number, of rank 0 */
    sn_acc zeros; /* how many numbers have it 0, of rank 0 */
};

/* 1 if the bit is 0 */
static sn_scalar radixsort_is_zero(void *env, sn_scalar x)
{
    const struct radixsort_round *round = env;
    sn_scalar bit = sn_bit_and(sn_shr(x, sn_to_u32(sn_the(round->bit))), 1u);
    return sn_if(sn_eq(bit, 0u), 1, 0);
}

/* A number with a 0 goes behind the zeros before it; one with a 1 behind all of them, and the ones before it. */
static sn_scalar radixsort_place(void *env, sn_scalar i, sn_scalar zero, sn_scalar zeros_before)
{
    const struct radixsort_round *round = env;
    sn_scalar ones_before = sn_sub(i, sn_to_i64(zeros_before));
    return sn_if(sn_eq(zero, 1), sn_to_i64(zeros_before), sn_add(sn_to_i64(sn_the(round->zeros)), ones_before));
}

static sn_acc radixsort_bit(sn_acc bit, sn_acc x)
{
    struct radixsort_round round = {.bit = bit};
    sn_acc zero = sn_map(sn_closure(radixsort_is_zero, &round), x);
    sn_acc zeros_before = sn_scanl_x(sn_add, 0, zero, &round.zeros);
    sn_acc place = sn_izip_with(sn_closure(radixsort_place, &round), zero, zeros_before);
    return sn_scatter(place, x, x);
}

static sn_acc radixsort(sn_acc x)
{
    return sn_aloop(32, radixsort_bit, x);
}

static sn_acc radixsort_builtin(sn_acc x)
{
    return sn_sort(x);
}

#endif
