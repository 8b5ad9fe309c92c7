/* The weights of the weighted stencils: multiples of 1/16, so that sums are exact. */
#ifndef NEIGHBOURS_WEIGHTS_H
#define NEIGHBOURS_WEIGHTS_H

enum { NB_WEIGHT_ONE = 16 };

static inline int nb_weight(int row, int column)
{
    return (row * 7 + column * 3 + 1) % 11 - 5;
}

#endif
